//! The data that a row stores next to the text: the column `media` with parts and metadata, and the columns that repeat the
//! metadata.

use std::borrow::Cow;

use chatmill_intake::json::{Kind, Mark, Value};

use super::cells::{cell, is_of_2026, is_queried, is_yes, scalar};
use super::column::Column;
use crate::base::{ExtraFields, Keep as _, below, repeats};
use crate::formats::gemini_contents::meta::Meta;

/// The columns with JSON, taken apart.
///
/// `media` is a list of parts in the oldest rows, else an object with parts and metadata. A few databases have a separate
/// column for metadata, which is used if `media` has none.
#[derive(Default)]
pub(super) struct Stored<'d> {
    /// Parts as Gemini takes them, with their paths.
    pub parts: Vec<(String, Value<'d>)>,
    /// Telegram's metadata of the message, and its path.
    pub meta: Option<(Value<'d>, &'static str)>,
    /// `media`, if it is neither a list nor an object.
    pub unread: Option<Value<'d>>,
    /// All values without a place, with their paths.
    pub rest: Vec<(String, Value<'d>)>,
}

impl<'d> Stored<'d> {
    /// Takes both columns apart.
    pub(super) fn read(media: Column<'d>, metadata: Column<'d>) -> Self {
        let mut stored = Self::default();
        let whole = |cell: Option<Value<'d>>, name: &str| cell.map(|cell| (name.to_owned(), cell));
        match media.json.map(|json| (json, json.kind())) {
            Some((list, Kind::Array)) => stored.add_parts("media", list),
            Some((object, Kind::Object)) => stored.add_object(object),
            _ => {
                stored.unread = media.cell;
                stored.rest.extend(whole(media.cell, "media"));
            }
        }
        match metadata.json.filter(|json| json.kind() == Kind::Object) {
            None => stored.rest.extend(whole(metadata.cell, "metadata")),
            Some(object) if stored.meta.is_none() => stored.meta = Some((object, "metadata")),
            // The other fields repeat facts that are read already.
            Some(object) => {
                stored.meta.inspect(|(meta, _)| repeats(object, *meta));
                let others = object.fields().filter(|(_, field)| field.marked() != Mark::Taken);
                let others = others.map(|(key, field)| (below("metadata", &key), field));
                stored.rest.extend(others);
            }
        }
        stored
    }

    fn add_object(&mut self, media: Value<'d>) {
        for (key, value) in media.fields() {
            match (&*key, value.kind()) {
                ("media", Kind::Array) => self.add_parts("media.media", value),
                ("meta", Kind::Object) => self.meta = Some((value, "media.meta")),
                ("media" | "meta", Kind::Null) => {}
                _ => self.rest.push((below("media", &key), value)),
            }
        }
    }

    fn add_parts(&mut self, path: &str, list: Value<'d>) {
        let parts = list.items().enumerate();
        self.parts
            .extend(parts.map(|(index, part)| (format!("{path}[{index}]"), part)));
    }
}

/// Facts by their keys in the metadata, with the column that is read before the metadata and the one that is read after it.
const FACTS: [(&str, Option<&str>, Option<&str>); 9] = [
    ("message_id", Some("external_message_id"), None),
    ("user_id", Some("external_user_id"), Some("user_id")),
    ("name", Some("sender_name"), Some("first_name")),
    ("username", Some("sender_username"), Some("username")),
    (
        "reply_to_message_id",
        Some("reply_to_external_message_id"),
        Some("reply_to_message_id"),
    ),
    ("reply_to_user_id", Some("reply_to_external_user_id"), None),
    ("reply_to_name", None, None),
    ("reply_to_username", None, None),
    ("reply_excerpt", None, None),
];

/// The facts about a message, each once.
#[derive(Default)]
pub(super) struct Facts {
    /// The facts, under the keys that gryag's metadata has for them.
    pub meta: Meta,
    /// Whether the sender is marked as a bot.
    pub is_machine: bool,
    /// Values that contradict the facts, and metadata of unknown meaning, by path.
    pub extra: ExtraFields,
}

impl Facts {
    /// Collects the facts in the columns and in the stored metadata. The columns have precedence, because they contain ids
    /// exactly.
    pub(super) fn of(row: Value<'_>, columns: &Stored<'_>) -> Self {
        let meta = columns.meta;
        let column = |name: &str| Some((name.to_owned(), cell(row, name)?));
        let stored = |name: &str| {
            let (meta, path) = meta?;
            Some((format!("{path}.{name}"), scalar(meta.get(name)?)?))
        };
        let mut extra = ExtraFields::new();
        let mut pairs = Vec::new();
        for (key, first, last) in FACTS {
            let first = match key {
                "message_id" if is_of_2026(row) => Some("message_id"),
                _ => first,
            };
            let candidates = [first.and_then(column), stored(key), last.and_then(column)];
            if let Some(fact) = first_fact(key, candidates, &mut extra) {
                pairs.push((key.to_owned(), fact));
            }
        }
        if let Some((meta, path)) = meta {
            keep_rest(row, meta, path, &mut extra);
        }
        let is_machine = column("sender_is_bot").or(stored("is_bot"));
        Self {
            meta: Meta::of(pairs),
            is_machine: is_machine.is_some_and(|(_, cell)| is_yes(&cell)),
            extra,
        }
    }
}

/// The first of the candidates; candidates that contradict it are kept. The bot treats a reply to 0 as none.
fn first_fact(
    key: &str,
    candidates: [Option<(String, Cow<'_, str>)>; 3],
    extra: &mut ExtraFields,
) -> Option<String> {
    let is_id_of_reply = matches!(key, "reply_to_message_id" | "reply_to_user_id");
    let mut fact: Option<String> = None;
    for (path, text) in candidates.into_iter().flatten() {
        if is_id_of_reply && text == "0" {
            continue;
        }
        match &fact {
            None => fact = Some(text.into_owned()),
            Some(fact) if fact.trim_start_matches('@') == text.trim_start_matches('@') => {}
            Some(_) => extra.keep_text(path, &text),
        }
    }
    fact
}

/// Keeps metadata of unknown meaning, values that are not scalars, and a chat or thread other than the row's.
fn keep_rest(row: Value<'_>, meta: Value<'_>, path: &str, extra: &mut ExtraFields) {
    for (key, value) in meta.fields() {
        let is_read = match &*key {
            "chat_id" | "thread_id" => {
                let text = scalar(value).filter(|text| text != "0");
                text.is_none() || is_queried(row) || text == cell(row, &key)
            }
            key => key == "is_bot" || FACTS.iter().any(|(known, ..)| *known == key),
        };
        let is_scalar = !matches!(value.kind(), Kind::Array | Kind::Object);
        if !value.is_null() && (!is_read || !is_scalar) {
            extra.keep(below(path, &key), value);
        }
    }
}
