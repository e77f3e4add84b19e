//! The tables `messages` of gryag's three schemas.

use crate::reader::words;
use chatmill_intake::table::TableMap;

/// The schema of 2025, the one of its unused migrations with other names for two columns, that of 2026, and the answer to
/// the query that the document shows.
pub(super) fn presets() -> Vec<TableMap> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let map = |name: &str, requires: &[&str], json: &[&str]| TableMap {
        name: name.to_owned(),
        source: super::ID.to_owned(),
        table: "messages".to_owned(),
        requires: names(requires),
        json: names(json),
        ..TableMap::default()
    };
    let renamed = [("id", "message_id"), ("ts", "created_at")];
    vec![
        map(
            "gryag",
            &["id", "chat_id", "user_id", "role", "text", "media", "ts"],
            &["media", "metadata"],
        ),
        TableMap {
            columns: renamed
                .map(|(name, column)| (name.to_owned(), column.to_owned()))
                .to_vec(),
            ..map(
                "gryag-normalized",
                &words!(message_id chat_id user_id role text media created_at),
                &["media", "metadata"],
            )
        },
        map(
            "gryag-2026",
            &words!(id chat_id user_id text message_id is_bot_reply created_at),
            &[],
        ),
        // Without a name of a table it reads CSV only.
        TableMap {
            table: String::new(),
            ..map("gryag-query", &["role", "text", "media"], &["media"])
        },
    ]
}
