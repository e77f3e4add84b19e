//! Field maps: the short form of a format file, in the pipeline file. A map is converted into a format file
//! for a record with the map's own field names, which is then read as any format file.

use std::collections::BTreeMap;

use chatmill_diag::{Finding, codes};
use chatmill_intake::Sketch;
use chatmill_model::Role;

use super::language::condition::{Choice, Word};
use super::language::path::{MapPath, Paths};
use super::language::several::OneOrMany;
use super::language::template::{Filled, Template};
use super::language::{Answer, Language, MessageMap, Piece, ReplyMap, SenderMap, Speaks, Unknown};

/// The source that reads by field maps.
pub(super) const ID: &str = "mapped";

/// The format file that maps change.
pub(super) const DEFAULT: &str = include_str!("../formats/mapped.toml");

/// The most names that a finding shows about a path without a match.
const MAX_NAMES_SHOWN: usize = 8;

/// The paths of the parts of a conversation. Paths of the record start at the record, paths of a message at
/// the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMap {
    /// Id of the conversation, in the record.
    pub conversation: Option<MapPath>,
    /// Title of the conversation, in the record.
    pub title: Option<MapPath>,
    /// The messages, in the record; `$` where each record is a message.
    pub messages: MapPath,
    /// The role of a message.
    pub role: Option<MapPath>,
    /// The id of the speaker.
    pub sender: Option<MapPath>,
    /// The name of the speaker.
    pub sender_name: Option<MapPath>,
    /// The text of a message.
    pub text: Option<MapPath>,
    /// The time of a message.
    pub time: Option<MapPath>,
    /// Id of the message that it answers.
    pub reply_to: Option<MapPath>,
    /// Calls of tools, as `OpenAI` writes them.
    pub tool_calls: Option<MapPath>,
    /// Id of the call that the message is the result of.
    pub tool_call_id: Option<MapPath>,
    /// Id of the message.
    pub message_id: Option<MapPath>,
    /// Words for roles, in addition to the usual ones.
    pub roles: BTreeMap<String, Role>,
}

impl FieldMap {
    /// The format file of the map: `format` with the paths of the map.
    pub(super) fn over(&self, mut format: Language) -> Language {
        let first_of = |paths: &[&Option<MapPath>]| -> Paths {
            let paths = paths.iter().copied().flatten();
            OneOrMany(paths.cloned().collect())
        };
        let one = |path: &Option<MapPath>| first_of(&[path]);
        let are_rows = self.messages.is_root();
        format.conversation.id = one(&self.conversation);
        format.conversation.title = if are_rows {
            Paths::default()
        } else {
            one(&self.title)
        };
        format.conversation.messages = OneOrMany(vec![self.messages.clone()]);
        let of_row = self.conversation.iter().filter(|_| are_rows).cloned();
        let who = first_of(&[&self.role, &self.sender]).0.into_iter().map(Word::At);
        // Without a path for the role, no role is looked up.
        let nobody = self
            .role
            .is_none()
            .then(|| Word::Fixed(Role::User.as_str().to_owned()));
        let roles = self.roles.iter();
        format.message = MessageMap {
            id: one(&self.message_id),
            conversation: OneOrMany(of_row.map(|path| Template::Words(Filled::At(path))).collect()),
            time: one(&self.time),
            role: OneOrMany(who.chain(nobody).map(Choice::Always).collect()),
            roles: roles
                .map(|(word, role)| (word.clone(), Speaks::from(*role)))
                .collect(),
            unknown: Unknown::User,
            kind: one(&self.role),
            sender: Some(SenderMap {
                id: first_of(&[&self.sender, &self.sender_name]),
                name: one(&self.sender_name),
                shown: one(&self.sender_name),
                ..SenderMap::default()
            }),
            reply: Some(ReplyMap {
                to: one(&self.reply_to),
                ..ReplyMap::default()
            }),
            result: Some(Answer {
                call: one(&self.tool_call_id),
                name: one(&self.sender_name),
            }),
            say: vec![Piece {
                content: self.text.clone(),
                calls: self.tool_calls.clone(),
                ..Piece::default()
            }],
            ..MessageMap::default()
        };
        format
    }

    /// Findings about the paths that match nothing in the first records.
    pub(super) fn unmatched(&self, sketch: &Sketch) -> Vec<Finding> {
        let list = self.messages.name().trim_end_matches("[]");
        let inside = if self.messages.is_root() {
            String::new()
        } else {
            format!("{list}[].")
        };
        let has = |name: &str| {
            let name = name.trim_end_matches("[]");
            let mut names = sketch.records.iter().flat_map(|record| record.names.keys());
            sketch.records.is_empty()
                || names.any(|known| known == name || known.strip_prefix("[].") == Some(name))
        };
        let has_list = self.messages.is_root() || has(list);
        let messages = Some(self.messages.clone());
        let all = [
            ("conversation", &self.conversation, ""),
            ("title", &self.title, ""),
            ("messages", &messages, ""),
            ("role", &self.role, &inside),
            ("sender", &self.sender, &inside),
            ("sender_name", &self.sender_name, &inside),
            ("text", &self.text, &inside),
            ("time", &self.time, &inside),
            ("reply_to", &self.reply_to, &inside),
            ("tool_calls", &self.tool_calls, &inside),
            ("tool_call_id", &self.tool_call_id, &inside),
            ("message_id", &self.message_id, &inside),
        ];
        let nowhere = all.into_iter().filter_map(|(key, path, level)| {
            let path = path
                .as_ref()
                .filter(|path| !path.is_root() && (has_list || level.is_empty()))?;
            let is_somewhere = has(&format!("{level}{}", path.name()));
            let text = format!(
                "{key} = \"{}\" of the field map matches nothing in the first records; there are {}",
                path.as_str(),
                there(sketch, level)
            );
            (!is_somewhere).then(|| Finding::new(&codes::UNMATCHED_PATH, text))
        });
        nowhere.collect()
    }
}

/// The names at a level of the first records, as paths.
fn there(sketch: &Sketch, level: &str) -> String {
    let all = sketch.records.iter().flat_map(|record| record.names.keys());
    let own = all.filter_map(|name| name.strip_prefix(level).filter(|own| !own.contains("[]")));
    let mut names: Vec<String> = Vec::new();
    for name in own.map(|own| format!("$.{own}")) {
        if names.contains(&name) {
            continue;
        }
        if names.len() == MAX_NAMES_SHOWN {
            names.push("…".to_owned());
            break;
        }
        names.push(name);
    }
    if names.is_empty() {
        return "no names at all".to_owned();
    }
    names.join(", ")
}
