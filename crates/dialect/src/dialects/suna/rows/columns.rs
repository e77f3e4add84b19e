//! Writes the columns other than the content: metadata, senders, and columns that only rows of Suna have.
//!
//! Readers keep facts of a row that are not part of a message as further fields: a column under its name, a field of the metadata as
//! `metadata.KEY`, and a field of the content under its path.

use std::borrow::Cow;

use chatmill_model::{Component, Message, Part, ParticipantKind, RawJson, Role, Sink};

use super::{RowContent, RowWriter, is_native};
use crate::loss::reasons;
use crate::view::View;
use crate::write::object::Object;

/// Columns that have a fixed place in the row.
const OWN_COLUMNS: [&str; 7] = [
    "agent_id",
    "agent_version_id",
    "compressed_content",
    "created_by_user_id",
    "is_llm_message",
    "thread_id",
    "updated_at",
];

/// Ids that readers assign if a row does not state its sender.
const NOBODY: [&str; 4] = ["user", "assistant", "agent", "suna"];

/// Where a further field belongs.
enum FieldPlace<'e> {
    /// In a column of this name.
    Column(&'e str),
    /// In the metadata, under this key.
    Metadata(Cow<'e, str>),
    /// Instead of the metadata.
    WholeMetadata,
    /// In the content.
    Content,
}

fn place(field: &str) -> FieldPlace<'_> {
    if field == "metadata" {
        return FieldPlace::WholeMetadata;
    }
    if let Some(key) = field.strip_prefix("metadata").and_then(key_of) {
        return FieldPlace::Metadata(key);
    }
    let inside = field.strip_prefix("content");
    if inside.is_some_and(|path| path.is_empty() || path.starts_with(['.', '['])) {
        return FieldPlace::Content;
    }
    FieldPlace::Column(field)
}

/// Returns the key at the end of a path: `.key`, or `['a key']` with escapes.
fn key_of(path: &str) -> Option<Cow<'_, str>> {
    if let Some(key) = path.strip_prefix('.') {
        return Some(Cow::Borrowed(key));
    }
    let quoted = path.strip_prefix("['")?.strip_suffix("']")?;
    if !quoted.contains('\\') {
        return Some(Cow::Borrowed(quoted));
    }
    let mut key = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            key.push(character);
            continue;
        }
        match characters.next()? {
            'u' => {
                let digits: String = characters.by_ref().take(4).collect();
                key.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            character => key.push(character),
        }
    }
    Some(Cow::Owned(key))
}

/// Counts the further fields of a message that have no column.
pub(super) fn unwritten(view: &View<'_>, message: &Message) -> u64 {
    if !is_native(view) {
        return 0;
    }
    let fields = message.extra.0.iter();
    fields
        .filter(|(field, _)| matches!(place(field), FieldPlace::Content))
        .count() as u64
}

/// Returns the thought, if the part is one and not empty.
pub(super) fn thought(part: &Part) -> Option<&str> {
    match part {
        Part::Reasoning(thought) if !thought.is_empty() => Some(thought),
        _ => None,
    }
}

/// A value of a column or of a field of the metadata.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    /// JSON of the source.
    Raw(&'a str),
    /// A text.
    Text(&'a str),
    /// JSON of the dialect.
    Word(&'static str),
}

impl<'a> Value<'a> {
    /// Writes the value.
    pub(super) fn write(self, sink: &mut Sink<'a>, component: Component) {
        match self {
            Self::Raw(raw) => sink.raw_json(raw, component),
            Self::Text(text) => sink.json_string(text, component),
            Self::Word(word) => sink.framing(word),
        }
    }
}

impl<'a> RowWriter<'_, 'a> {
    /// Writes the metadata: the fields that the row had, the ids of a result, and the thoughts of the message.
    pub(super) fn metadata(
        &mut self,
        message: &'a Message,
        content: RowContent<'a>,
        thoughts: &[&'a str],
        sink: &mut Sink<'a>,
    ) {
        let position = message.position;
        let mut fields: Vec<(&'a str, Value<'a>)> = Vec::new();
        for (field, raw) in self.extra_fields(message) {
            match place(field) {
                FieldPlace::WholeMetadata => {
                    let lost = thoughts.len() as u64 * u64::from(self.keeps_thoughts);
                    self.losses
                        .several(reasons::METADATA_HOLD_NO_REASONING, position, lost);
                    return sink.raw_json(raw.as_str(), Component::Meta);
                }
                // The thoughts of the message are written to this field if policy keeps them.
                FieldPlace::Metadata(key) if key == "reasoning_content" && !thoughts.is_empty() => {
                    self.losses.at(reasons::METADATA_HOLD_REASONING_ONCE, position);
                }
                FieldPlace::Metadata(key) => {
                    let key = self.transcript.arena().keep(key);
                    fields.push((key, Value::Raw(raw.as_str())));
                }
                FieldPlace::Column("compressed_content") => {
                    fields.push(("compressed", Value::Raw("true")));
                    fields.push(("compressed_content", Value::Raw(raw.as_str())));
                }
                FieldPlace::Column(_) | FieldPlace::Content => {}
            }
        }
        if let RowContent::Result(place, result) = content {
            let id = result.metadata_id.as_deref();
            let id = id.or_else(|| self.tools.of_result(message, place, result));
            let caller = result.caller.as_deref();
            for (key, value) in [("tool_call_id", id), ("assistant_message_id", caller)] {
                if !fields.iter().any(|(known, _)| *known == key) {
                    fields.extend(value.map(|value| (key, Value::Text(value))));
                }
            }
        }
        if matches!(content, RowContent::Message) && self.keeps_thoughts && !thoughts.is_empty() {
            let reasoning = Value::Text(self.reasoning(message, thoughts));
            fields.push(("reasoning_content", reasoning));
        }
        let mut metadata = Object::open(sink);
        for (key, value) in fields {
            value.write(metadata.named(key), Component::Meta);
        }
        metadata.close();
    }

    /// Returns the thoughts of a message as one text.
    fn reasoning(&mut self, message: &'a Message, thoughts: &[&'a str]) -> &'a str {
        let position = message.position;
        let joined = thoughts.len() as u64 - 1;
        self.losses
            .several(reasons::METADATA_HOLD_ONE_THOUGHT, position, joined);
        let behind_first = message.parts.iter().skip_while(|part| thought(part).is_some());
        let after = behind_first.filter(|part| thought(part).is_some()).count() as u64;
        self.losses
            .several(reasons::REASONING_STANDS_IN_FRONT, position, after);
        match thoughts {
            [only] => only,
            several => self.transcript.arena().keep(several.join("\n\n")),
        }
    }

    /// Returns the ids of the agent, of its version and of the user.
    pub(super) fn sender_ids(&self, message: &'a Message, content: RowContent<'a>) -> [Option<Value<'a>>; 3] {
        let sender = self.transcript.view().sender(message);
        let is_agents = match content {
            RowContent::Notice => sender.is_some_and(|sender| sender.kind == ParticipantKind::Agent),
            RowContent::Result(..) => true,
            RowContent::Message => matches!(message.role, Role::Assistant | Role::Tool),
        };
        let id = sender
            .map(|sender| sender.id.as_str())
            .filter(|id| !NOBODY.contains(id));
        let id = id.filter(|_| message.role != Role::System || matches!(content, RowContent::Notice));
        let (agent, user) = if is_agents { (id, None) } else { (None, id) };
        [
            ("agent_id", agent),
            ("agent_version_id", None),
            ("created_by_user_id", user),
        ]
        .map(|(column, id)| self.stored_column(message, column).or(id.map(Value::Text)))
    }

    /// Returns a column that the reader kept as a further field.
    pub(super) fn stored_column(&self, message: &'a Message, column: &str) -> Option<Value<'a>> {
        let stored_column = message.extra.get(column).filter(|_| self.is_native);
        stored_column.map(|raw| Value::Raw(raw.as_str()))
    }

    /// Returns the other columns of a message that was a row of Suna.
    pub(super) fn other_columns(
        &self,
        message: &'a Message,
    ) -> impl Iterator<Item = (&'a str, &'a RawJson)> + use<'a> {
        let fields = self.extra_fields(message).iter();
        fields.filter_map(|(field, value)| match place(field) {
            FieldPlace::Column(column) if !OWN_COLUMNS.contains(&column) => Some((column, value)),
            _ => None,
        })
    }

    /// Returns the further fields of a message that was a row of Suna.
    fn extra_fields(&self, message: &'a Message) -> &'a [(String, RawJson)] {
        if self.is_native { &message.extra.0 } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_out_of_their_paths() {
        for (path, key) in [
            (".thread_run_id", Some("thread_run_id")),
            ("['odd key']", Some("odd key")),
            (r"['it\'s \\ \u000a']", Some("it's \\ \n")),
            ("_of", None),
            ("['open", None),
        ] {
            assert_eq!(key_of(path).as_deref(), key, "{path}");
        }
    }
}
