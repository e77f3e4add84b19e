//! The columns beside the content: metadata, who wrote it, and those that only rows of Suna have.
//!
//! Readers keep what a row says beyond its message as further fields: a column under its name, a field of the metadata as
//! `metadata.KEY`, what stands in the content by its path in there.

use std::borrow::Cow;

use chatmill_model::{Component, Message, Part, ParticipantKind, RawJson, Role};

use super::{RowContent, Writer, is_native};
use crate::loss::{LossCode, reasons};
use crate::policy::Reasoning;
use crate::view::View;

/// Columns that stand in a place of their own.
const PLACED: [&str; 7] = [
    "agent_id",
    "agent_version_id",
    "compressed_content",
    "created_by_user_id",
    "is_llm_message",
    "thread_id",
    "updated_at",
];

/// Words that readers put where a row does not say who spoke.
const NOBODY: [&str; 4] = ["user", "assistant", "agent", "suna"];

/// Where a further field belongs.
enum Place<'e> {
    /// In a column of this name.
    Column(&'e str),
    /// In the metadata, under this key.
    Metadata(Cow<'e, str>),
    /// In the metadata's stead.
    WholeMetadata,
    /// In the content.
    Content,
}

fn place(field: &str) -> Place<'_> {
    if field == "metadata" {
        return Place::WholeMetadata;
    }
    if let Some(key) = field.strip_prefix("metadata").and_then(key_of) {
        return Place::Metadata(key);
    }
    let inside = field.strip_prefix("content");
    if inside.is_some_and(|path| path.is_empty() || path.starts_with(['.', '['])) {
        return Place::Content;
    }
    Place::Column(field)
}

/// The key at the end of a path: `.key`, or `['odd key']` with escapes.
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

/// Further fields of a message that no column holds.
pub(super) fn unwritten(view: &View<'_>, message: &Message) -> u64 {
    if !is_native(view) {
        return 0;
    }
    let fields = message.extra.0.iter();
    fields
        .filter(|(field, _)| matches!(place(field), Place::Content))
        .count() as u64
}

fn thought(part: &Part) -> Option<&str> {
    match part {
        Part::Reasoning(thought) if !thought.is_empty() => Some(thought),
        _ => None,
    }
}

/// A value of the metadata.
enum Field<'a> {
    Raw(&'a str),
    Text(Cow<'a, str>),
}

impl<'a> Writer<'_, 'a> {
    /// The metadata: what the row had, and the ids that a result has in them.
    pub(super) fn metadata(&mut self, message: &'a Message, held: RowContent<'a>) {
        let mut fields: Vec<(Cow<'a, str>, Field<'a>)> = Vec::new();
        let stored: &'a [(String, RawJson)] = if is_native(self.view) {
            &message.extra.0
        } else {
            &[]
        };
        let has_thoughts = message.parts.iter().any(|part| thought(part).is_some());
        for (field, raw) in stored {
            match place(field) {
                Place::WholeMetadata => {
                    self.sink.framing(",\"metadata\":");
                    self.sink.raw_json(raw.as_str(), Component::Meta);
                    let thoughts = message.parts.iter().filter_map(thought).count() as u64;
                    self.losses.several(
                        LossCode::ReasoningDropped,
                        message.position,
                        thoughts * u64::from(self.view.policy.reasoning == Reasoning::Keep),
                        reasons::METADATA_HOLD_NO_REASONING,
                    );
                    return;
                }
                // The thoughts of the message stand there, where policy keeps them.
                Place::Metadata(key) if key == "reasoning_content" && has_thoughts => {
                    self.losses.at(
                        LossCode::ExtraDropped,
                        message.position,
                        reasons::METADATA_HOLD_REASONING_ONCE,
                    );
                }
                Place::Metadata(key) => fields.push((key, Field::Raw(raw.as_str()))),
                Place::Column("compressed_content") => {
                    fields.push(("compressed".into(), Field::Raw("true")));
                    fields.push(("compressed_content".into(), Field::Raw(raw.as_str())));
                }
                Place::Column(_) | Place::Content => {}
            }
        }
        if let RowContent::Result(place, result) = held {
            let id = result.metadata_id.as_deref().map(Cow::Borrowed);
            let id = id.or_else(|| self.tools.of_result(message, place, result));
            let caller = result.caller.as_deref().map(Cow::Borrowed);
            for (key, value) in [("tool_call_id", id), ("assistant_message_id", caller)] {
                if !fields.iter().any(|(known, _)| known == key) {
                    fields.extend(value.map(|value| (key.into(), Field::Text(value))));
                }
            }
        }
        if matches!(held, RowContent::Said) && self.view.policy.reasoning == Reasoning::Keep {
            let thoughts: Vec<&str> = message.parts.iter().filter_map(thought).collect();
            if !thoughts.is_empty() {
                self.losses.several(
                    LossCode::PartFlattened,
                    message.position,
                    thoughts.len() as u64 - 1,
                    reasons::METADATA_HOLD_ONE_THOUGHT,
                );
                let said = message.parts.iter().skip_while(|part| thought(part).is_some());
                let after = said.filter(|part| thought(part).is_some()).count() as u64;
                self.losses.several(
                    LossCode::PartMoved,
                    message.position,
                    after,
                    reasons::REASONING_STANDS_IN_FRONT,
                );
                let text = match thoughts.as_slice() {
                    [only] => Cow::Borrowed(*only),
                    several => Cow::Owned(several.join("\n\n")),
                };
                fields.push(("reasoning_content".into(), Field::Text(text)));
            }
        }
        let mut separator = ",\"metadata\":{";
        for (key, field) in fields {
            self.sink.framing(separator);
            separator = ",";
            self.sink.json_string(key, Component::Meta);
            self.sink.framing(":");
            match field {
                Field::Raw(raw) => self.sink.raw_json(raw, Component::Meta),
                Field::Text(text) => self.sink.json_string(text, Component::Meta),
            }
        }
        self.sink
            .framing(if separator == "," { "}" } else { ",\"metadata\":{}" });
    }

    /// The ids of agent and user.
    pub(super) fn who(&mut self, message: &'a Message, held: RowContent<'a>) {
        let sender = self.view.sender(message);
        let is_agents = match held {
            RowContent::Notice => sender.is_some_and(|sender| sender.kind == ParticipantKind::Agent),
            RowContent::Result(..) => true,
            RowContent::Said => matches!(message.role, Role::Assistant | Role::Tool),
        };
        let id = sender
            .map(|sender| sender.id.as_str())
            .filter(|id| !NOBODY.contains(id));
        let id = id.filter(|_| message.role != Role::System || matches!(held, RowContent::Notice));
        let (agent, user) = if is_agents { (id, None) } else { (None, id) };
        for (key, column, id) in [
            (",\"agent_id\":", "agent_id", agent),
            (",\"agent_version_id\":", "agent_version_id", None),
            (",\"created_by_user_id\":", "created_by_user_id", user),
        ] {
            if let Some(stored) = self.stored(message, column) {
                self.sink.framing(key);
                self.sink.raw_json(stored.as_str(), Component::Names);
            } else if let Some(id) = id {
                self.sink.framing(key);
                self.sink.json_string(id, Component::Names);
            }
        }
    }

    /// A column that the reader kept.
    pub(super) fn stored(&self, message: &'a Message, column: &str) -> Option<&'a RawJson> {
        message.extra.get(column).filter(|_| is_native(self.view))
    }

    /// The other columns of a row that was one.
    pub(super) fn others(&mut self, message: &'a Message) {
        if let Some(updated) = self.stored(message, "updated_at") {
            self.sink.framing(",\"updated_at\":");
            self.sink.raw_json(updated.as_str(), Component::Meta);
        }
        if !is_native(self.view) {
            return;
        }
        for (field, value) in &message.extra.0 {
            if let Place::Column(column) = place(field)
                && !PLACED.contains(&column)
            {
                self.sink.framing(",");
                self.sink.json_string(column, Component::Meta);
                self.sink.framing(":");
                self.sink.raw_json(value.as_str(), Component::Meta);
            }
        }
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
