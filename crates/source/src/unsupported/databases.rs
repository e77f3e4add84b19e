//! Databases of programs, recognised by the names of their tables.

use super::UnsupportedFormat;

/// A word, a name with an article, and the tables of which it has all, in each of its versions.
type Database = (&'static str, &'static str, &'static [&'static [&'static str]]);

static DATABASES: &[Database] = &[
    (
        "cursor",
        "a Cursor database",
        &[&["cursorDiskKV"], &["blobs", "meta"]],
    ),
    (
        "vs-code",
        "a database of VS Code or of a relative, as Cursor is",
        &[&["ItemTable"]],
    ),
    (
        "imessage",
        "an iMessage database",
        &[&["message", "handle", "chat_message_join"]],
    ),
    (
        "slackdump",
        "a slackdump database",
        &[&["CHUNK", "S_USER"], &["goose_db_version", "TYPES"]],
    ),
];

/// The unsupported database that these tables belong to, if known.
pub fn unsupported_tables(tables: &[String]) -> Option<UnsupportedFormat> {
    let has = |names: &[&str]| names.iter().all(|name| tables.iter().any(|table| table == name));
    let (id, name, versions) = DATABASES
        .iter()
        .find(|(_, _, versions)| versions.iter().any(|names| has(names)))?;
    let names = versions.iter().find(|names| has(names))?;
    Some(UnsupportedFormat {
        id,
        name,
        why: format!("it has {}", names.join(", ")),
        confidence: 50,
    })
}

/// A word for each database, and its name.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    DATABASES.iter().map(|(id, name, _)| (*id, *name))
}

#[cfg(test)]
mod tests {
    use super::unsupported_tables;

    #[test]
    fn databases_are_recognised_by_their_tables() {
        let named = |tables: &[&str]| {
            let tables: Vec<String> = tables.iter().map(|table| (*table).to_owned()).collect();
            unsupported_tables(&tables).map(|format| format.name)
        };
        assert_eq!(named(&["meta", "blobs"]), Some("a Cursor database"));
        assert_eq!(named(&["ItemTable", "cursorDiskKV"]), Some("a Cursor database"));
        let phone = ["chat", "handle", "message", "chat_message_join"];
        assert_eq!(named(&phone), Some("an iMessage database"));
        assert_eq!(named(&["meta"]), None);
    }
}
