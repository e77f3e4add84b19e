PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE notes(id INTEGER PRIMARY KEY, [text] TEXT, n AS (id));
INSERT INTO notes VALUES(1,replace(replace('a\nb\rc','\n',char(10)),'\r',char(13)));
INSERT INTO notes VALUES(2,X'00ff');
INSERT INTO notes VALUES(1e999,unistr('\u00e9'));
CREATE TRIGGER t AFTER INSERT ON notes BEGIN INSERT INTO notes VALUES(1,2); END;
COMMIT;
