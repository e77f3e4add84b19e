//! A field map: where in a record the messages are, and where in a message its words.

use std::collections::BTreeMap;

use chatmill_diag::{Finding, codes};
use chatmill_intake::Sketch;
use chatmill_model::Role;

use crate::format::MapPath;

/// Names that are shown beside a path that leads nowhere.
const MAX_NAMES_SHOWN: usize = 8;

/// Where the parts of a conversation stand. Paths of the record start at the record, those of a message at the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMap {
    /// Id of the conversation, in the record.
    pub conversation: Option<MapPath>,
    /// Title of the conversation, in the record.
    pub title: Option<MapPath>,
    /// The messages, in the record; `$` where each record is a message.
    pub messages: MapPath,
    /// Who a message speaks as.
    pub role: Option<MapPath>,
    /// Id of who speaks.
    pub sender: Option<MapPath>,
    /// Name of who speaks.
    pub sender_name: Option<MapPath>,
    /// What is said.
    pub text: Option<MapPath>,
    /// When.
    pub time: Option<MapPath>,
    /// Id of the message that is answered.
    pub reply_to: Option<MapPath>,
    /// Calls of tools, as `OpenAI` writes them.
    pub tool_calls: Option<MapPath>,
    /// Id of the call that the message is the result of.
    pub tool_call_id: Option<MapPath>,
    /// Id of the message.
    pub message_id: Option<MapPath>,
    /// Words for roles, beyond those that everybody uses.
    pub roles: BTreeMap<String, Role>,
}

impl Default for FieldMap {
    /// The map of a record that has the names of the map itself.
    fn default() -> Self {
        let path = |text: &str| MapPath::parse(text).ok();
        Self {
            conversation: path("$.id"),
            title: path("$.title"),
            messages: path("$.messages").unwrap_or_else(MapPath::root),
            role: path("$.role"),
            sender: path("$.sender"),
            sender_name: path("$.sender_name"),
            text: path("$.text"),
            time: path("$.time"),
            reply_to: path("$.reply_to"),
            tool_calls: path("$.tool_calls"),
            tool_call_id: path("$.tool_call_id"),
            message_id: path("$.id"),
            roles: BTreeMap::new(),
        }
    }
}

impl FieldMap {
    /// The paths of a message, by their keys in the map.
    pub fn of_message(&self) -> impl Iterator<Item = (&'static str, &MapPath)> {
        [
            ("role", &self.role),
            ("sender", &self.sender),
            ("sender_name", &self.sender_name),
            ("text", &self.text),
            ("time", &self.time),
            ("reply_to", &self.reply_to),
            ("tool_calls", &self.tool_calls),
            ("tool_call_id", &self.tool_call_id),
            ("message_id", &self.message_id),
        ]
        .into_iter()
        .filter_map(|(key, path)| Some((key, path.as_ref()?)))
    }

    /// The paths of the record but for its messages.
    pub fn of_record(&self) -> impl Iterator<Item = (&'static str, &MapPath)> {
        [("conversation", &self.conversation), ("title", &self.title)]
            .into_iter()
            .filter_map(|(key, path)| Some((key, path.as_ref()?)))
    }

    /// The paths that lead nowhere in any of the first records.
    pub fn unmatched(&self, sketch: &Sketch) -> Vec<Finding> {
        if sketch.records.is_empty() {
            return Vec::new();
        }
        let list = self.messages.name();
        let bare = list.trim_end_matches("[]");
        let inside = if self.messages.is_root() {
            String::new()
        } else {
            format!("{bare}[].")
        };
        let has = |name: &str| {
            let name = name.trim_end_matches("[]");
            let mut names = sketch.records.iter().flat_map(|record| record.names.keys());
            names.any(|known| known == name || known.strip_prefix("[].") == Some(name))
        };
        let has_list = self.messages.is_root() || has(bare);
        let of_record = self
            .of_record()
            .map(|(key, path)| (key, path, path.name().to_owned()));
        let list = (!has_list).then_some(("messages", &self.messages, bare.to_owned()));
        let of_message = self
            .of_message()
            .filter(|(_, path)| has_list && !path.is_root())
            .map(|(key, path)| (key, path, format!("{inside}{}", path.name())));
        of_record
            .chain(list)
            .chain(of_message)
            .filter(|(_, _, name)| !has(name))
            .map(|(key, path, name)| {
                let level = if name.starts_with(&inside) {
                    inside.as_str()
                } else {
                    ""
                };
                let text = format!(
                    "{key} = \"{}\" of the field map matches nothing in the first records; there are {}",
                    path.as_str(),
                    there(sketch, level)
                );
                Finding::new(&codes::UNMATCHED_PATH, text)
            })
            .collect()
    }
}

/// The names that stand at a level, as paths.
fn there(sketch: &Sketch, level: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in sketch.records.iter().flat_map(|record| record.names.keys()) {
        let Some(own) = name.strip_prefix(level).filter(|own| !own.contains("[]")) else {
            continue;
        };
        let own = format!("$.{own}");
        if !names.contains(&own) {
            names.push(own);
        }
        if names.len() > MAX_NAMES_SHOWN {
            break;
        }
    }
    if names.len() > MAX_NAMES_SHOWN {
        names.truncate(MAX_NAMES_SHOWN);
        names.push("…".to_owned());
    }
    if names.is_empty() {
        return "no names at all".to_owned();
    }
    names.join(", ")
}
