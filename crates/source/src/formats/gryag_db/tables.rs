//! The tables `messages` of gryag's three schemas.

use chatmill_intake::table::TableMap;

use crate::base::words;
use crate::rust_format::table_map;

/// The schema of 2025, that of its unused migrations with other names for two columns, that of 2026, and the result of
/// the query in gryag's document.
pub(super) fn presets() -> Vec<TableMap> {
    let map = |name: &str, requires: &[&str], json: &[&str]| {
        table_map([name, super::ID, "messages"], requires, json)
    };
    let json = ["media", "metadata"];
    let first = map("gryag", &words!(id chat_id user_id role text media ts), &json);
    let columns = words!(message_id chat_id user_id role text media created_at);
    let mut normalized = map("gryag-normalized", &columns, &json);
    let renamed = [("id", "message_id"), ("ts", "created_at")];
    let renamed = renamed.map(|(name, column)| (name.to_owned(), column.to_owned()));
    normalized.columns = renamed.to_vec();
    let columns = words!(id chat_id user_id text message_id is_bot_reply created_at);
    let newest = map("gryag-2026", &columns, &[]);
    // A map without a table name reads only CSV.
    let mut queried = map("gryag-query", &words!(role text media), &["media"]);
    queried.table.clear();
    vec![first, normalized, newest, queried]
}
