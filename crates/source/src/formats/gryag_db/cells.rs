//! Cells of a row as text, for every container of the table: a dump has only texts, a database file and JSON have numbers
//! too.

use std::borrow::Cow;

use chatmill_diag::Limits;
use chatmill_intake::json::{Document, Kind, Value};

use crate::base::{texts::quoted_json, words};

/// Why a row without a chat is rejected.
pub(super) const NO_CHAT: &str = "the row has no chat_id: it belongs to no conversation";

/// Columns that have a place in the model.
pub(super) const KNOWN: [&str; 25] = words!(
    id chat_id thread_id user_id role text media metadata ts created_at external_message_id
    external_user_id reply_to_external_message_id reply_to_external_user_id sender_role sender_name
    sender_username sender_is_bot message_id username first_name media_type file_id is_bot_reply
    reply_to_message_id
);

/// Columns that the database computes from others.
pub(super) const DERIVED: [&str; 3] = ["embedding", "text_search_vector", "search_vector"];

/// A cell as text; `None` if it is absent, null, empty, or not a scalar.
pub(super) fn cell<'d>(row: Value<'d>, column: &str) -> Option<Cow<'d, str>> {
    scalar(row.get(column)?)
}

/// A value as text; `None` if it is null, empty, a list or an object.
pub(super) fn scalar(value: Value<'_>) -> Option<Cow<'_, str>> {
    let text = match value.kind() {
        Kind::String => value.as_str()?,
        Kind::Number => Cow::Borrowed(value.raw()),
        Kind::Bool(true) => Cow::Borrowed("true"),
        Kind::Bool(false) => Cow::Borrowed("false"),
        Kind::Null | Kind::Array | Kind::Object => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Whether a cell is true: SQLite writes 1, PostgreSQL `t`, JSON `true`.
pub(super) fn is_yes(cell: &str) -> bool {
    matches!(cell, "1" | "t" | "true")
}

/// The key of the conversation that a row belongs to: its chat, and its thread if it is in one. A row that was queried
/// without its chat may have it in the metadata.
pub(super) fn place(row: Value<'_>) -> Option<String> {
    if is_queried(row) {
        with_meta(row, place_in)
    } else {
        place_in(row)
    }
}

/// Telegram's id of a row that was queried without its own.
pub(super) fn message_id(row: Value<'_>) -> Option<i64> {
    with_meta(row, |meta| cell(meta, "message_id")?.parse().ok())
}

/// Looks something up in the metadata of the column `media`.
fn with_meta<T>(row: Value<'_>, ask: impl Fn(Value<'_>) -> Option<T>) -> Option<T> {
    let media = row.get("media")?;
    let document = quoted_json::open(media, &Limits::default());
    let media = document.as_deref().map_or(media, Document::root);
    ask(media.get("meta")?)
}

fn place_in(holder: Value<'_>) -> Option<String> {
    let chat = cell(holder, "chat_id")?;
    Some(match cell(holder, "thread_id") {
        Some(thread) => format!("{chat}/{thread}"),
        None => chat.into_owned(),
    })
}

/// Whether a row comes from the query in gryag's document, `SELECT role, text, media`: it has neither id nor chat.
pub(super) fn is_queried(row: Value<'_>) -> bool {
    let has = |column: &str| row.get(column).is_some();
    has("role") && has("text") && has("media") && !has("chat_id") && !has("id")
}

/// Whether the row has the schema of 2026.
pub(super) fn is_of_2026(row: Value<'_>) -> bool {
    row.get("is_bot_reply").is_some()
}

/// The name of the column with the row's own id. The unused migrations of 2025 call it `message_id`.
pub(super) fn row_id(row: Value<'_>) -> &'static str {
    if row.get("id").is_none() && row.get("message_id").is_some() && !is_of_2026(row) {
        "message_id"
    } else {
        "id"
    }
}

/// The schema of a row, by its columns.
pub(super) fn shape(row: Value<'_>) -> &'static str {
    let has = |column: &str| row.get(column).is_some();
    if is_of_2026(row) {
        "2026"
    } else if has("sender_role") {
        "senders"
    } else if has("external_message_id") {
        "external-ids"
    } else if has("created_at") || has("metadata") {
        "normalized"
    } else {
        "nine-columns"
    }
}
