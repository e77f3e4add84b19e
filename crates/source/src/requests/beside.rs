//! What stands beside the turns of a request: its id, definitions of tools, and everything else.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{self, Kind, Value, append_key};
use chatmill_model::{Conversation, Extra, Message, Participant, RawJson};

use super::Form;
use crate::notes::{Notes, repeated_key};

/// Fields that name the conversation; the first that holds an id does.
const IDS: [&str; 3] = ["conversation_id", "thread_id", "id"];

/// The fields of a request that are no turns.
#[derive(Debug, Default)]
pub struct Beside {
    /// Id of the conversation.
    pub id: Option<String>,
    /// Definitions of tools, as written.
    pub tools: Vec<RawJson>,
    /// Fields without a place.
    pub extra: Extra,
}

impl Beside {
    /// The conversation that these turns are, with what stands beside them. `key` is its id where the record has none.
    pub fn conversation(
        self,
        form: &Form,
        key: Option<&str>,
        participants: Vec<Participant>,
        messages: Vec<Message>,
    ) -> Conversation {
        Conversation {
            source: form.source,
            source_id: self.id.or_else(|| key.map(str::to_owned)),
            shape: form.shape,
            participants,
            tools: self.tools,
            messages,
            extra: self.extra,
            ..Conversation::default()
        }
    }

    /// Reads the fields around the turns.
    pub fn read(form: &Form, root: Value<'_>, limits: &Limits, notes: &mut Notes) -> Self {
        let mut beside = Self::default();
        let id_key = IDS
            .into_iter()
            .find(|key| root.get(key).and_then(id_text).is_some());
        beside.id = id_key.and_then(|key| root.get(key)).and_then(id_text);
        for (key, value) in root.fields() {
            let is_read = &*key == form.list || Some(&*key) == form.system || Some(&*key) == id_key;
            if is_read || &*key == form.tools && beside.define(&key, value, limits) {
                continue;
            }
            if *key == *form.tools {
                let text = "the tool definitions are no list and are kept as they are";
                let finding = Finding::new(&codes::WRONG_TYPE, text);
                notes.push(finding.at_path(format!("$.{key}")), Some(value));
            }
            beside.keep(&key, value);
        }
        for key in root.duplicate_keys() {
            let mut path = "$".to_owned();
            append_key(&mut path, &key);
            let loses = Some(key.as_str()) == id_key || Some(key.as_str()) == form.system;
            notes.push(repeated_key(loses).at_path(path), root.get(&key));
        }
        beside
    }

    fn keep(&mut self, path: &str, value: Value<'_>) {
        self.extra
            .0
            .push((path.to_owned(), RawJson(value.raw().to_owned())));
    }

    /// Reads definitions: a list, an object whose `tools` are one, or a string that holds one; false for anything else.
    fn define(&mut self, key: &str, value: Value<'_>, limits: &Limits) -> bool {
        let list = |value: Value<'_>| -> Vec<RawJson> {
            let items = value.items();
            items.map(|tool| RawJson(tool.raw().to_owned())).collect()
        };
        match value.kind() {
            Kind::Null => true,
            Kind::Array => {
                self.tools.extend(list(value));
                true
            }
            Kind::Object => {
                let Some(tools) = value.get("tools").filter(|tools| tools.kind() == Kind::Array) else {
                    return false;
                };
                self.tools.extend(list(tools));
                for (inner, field) in value.fields().filter(|(inner, _)| inner != "tools") {
                    let mut path = key.to_owned();
                    append_key(&mut path, &inner);
                    self.keep(&path, field);
                }
                true
            }
            Kind::String => {
                let text = value.as_str().unwrap_or_default();
                if text.trim().is_empty() {
                    return true;
                }
                let Ok(document) = json::scan(text.as_bytes(), limits.depth) else {
                    return false;
                };
                let is_list = document.root().kind() == Kind::Array;
                if is_list {
                    self.tools.extend(list(document.root()));
                }
                is_list
            }
            Kind::Bool(_) | Kind::Number => false,
        }
    }
}

fn id_text(value: Value<'_>) -> Option<String> {
    let id = value
        .as_str()
        .or_else(|| value.number_text().map(Cow::Borrowed))?;
    (!id.is_empty()).then(|| id.into_owned())
}
