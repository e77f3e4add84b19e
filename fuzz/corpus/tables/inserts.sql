SET standard_conforming_strings = off;
CREATE TABLE notes (id integer, text text DEFAULT 'a,b', CHECK (id > 0));
INSERT INTO notes VALUES (1, 'it''s'), (2, E'a\\n\'' || 'b'), (3, NULL);
INSERT INTO notes (id, "text") VALUES (-1.5e3, $x$a$$b$x$), (2, 'x'::varchar(10)) ON CONFLICT DO NOTHING;
INSERT INTO notes (id, text) SELECT 1, 'x';
CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ SELECT ';' $$; /* a /* b */ c */
