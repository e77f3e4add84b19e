//! Columns of `conversation_history`, in either spelling.

use std::borrow::Cow;

use chatmill_intake::json::Value;

/// Columns that are read, as the export and as the table call them.
const COLUMNS: [(&str, &str); 11] = [
    ("id", "id"),
    ("channelId", "channel_id"),
    ("personalityId", "personality_id"),
    ("personaId", "persona_id"),
    ("role", "role"),
    ("content", "content"),
    ("thinkingContent", "thinking_content"),
    ("createdAt", "created_at"),
    ("discordMessageId", "discord_message_id"),
    ("deletedAt", "deleted_at"),
    (METADATA, "message_metadata"),
];

/// The column with the references of a message.
pub(super) const METADATA: &str = "messageMetadata";

/// The spelling of a column in this row.
pub(super) fn spelling(row: Value<'_>, camel: &'static str) -> &'static str {
    let snake = COLUMNS.iter().find(|(name, _)| *name == camel);
    match snake {
        Some((_, snake)) if row.get(snake).is_some() => snake,
        _ => camel,
    }
}

/// A column that is not null, in either spelling.
pub(super) fn column<'d>(row: Value<'d>, camel: &'static str) -> Option<Value<'d>> {
    row.get(spelling(row, camel)).filter(|value| !value.is_null())
}

/// A column as text that is not empty.
pub(super) fn cell<'d>(row: Value<'d>, camel: &'static str) -> Option<Cow<'d, str>> {
    scalar(column(row, camel)?).filter(|text| !text.is_empty())
}

/// Whether a column is among those that are read.
pub(super) fn is_read(name: &str) -> bool {
    COLUMNS
        .iter()
        .any(|(camel, snake)| name == *camel || name == *snake)
}

/// A column that is read and occurs twice in a row, in any spelling.
pub(super) fn repeated(row: Value<'_>) -> Option<String> {
    COLUMNS.iter().find_map(|(camel, snake)| {
        let count = row
            .fields()
            .filter(|(key, _)| key == camel || key == snake)
            .count();
        (count > 1).then(|| (*camel).to_owned())
    })
}

/// The Discord messages that a row was sent as: a list, or the text of an array of PostgreSQL.
pub(super) fn chunks(row: Value<'_>) -> Vec<String> {
    let Some(value) = column(row, "discordMessageId") else {
        return Vec::new();
    };
    if let Some(text) = value.as_str() {
        let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let ids = inner
            .unwrap_or(&text)
            .split(',')
            .map(|id| id.trim().trim_matches('"'));
        return ids.filter(|id| !id.is_empty()).map(str::to_owned).collect();
    }
    let ids = value.items().filter_map(scalar);
    ids.map(Cow::into_owned).collect()
}

/// A string, or a number as written.
fn scalar(value: Value<'_>) -> Option<Cow<'_, str>> {
    value.as_str().or_else(|| value.number_text().map(Cow::Borrowed))
}
