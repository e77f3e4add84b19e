//! Messages as a field map finds them.

use chatmill_diag::{Finding, Limits, Reject, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    Conversation, Extra, Message, MessageKind, MessageOrigin, Part, RawJson, Reference, ReferenceForm, Role,
    Unstated,
};

use super::map::FieldMap;
use super::path::MapPath;
use super::rest;
use crate::notes::{Notes, Site};
use crate::openai_messages::tools;
use crate::reject::reject_message;
use crate::roster::Roster;
use crate::table_rows::{role as known_role, text};
use crate::times::Times;
use crate::weight;
use crate::{FrameView, Reading, RowLedger, parts, turn};

/// Reads the messages of one record, in order.
pub struct Reader<'d, 'r> {
    map: &'r FieldMap,
    frame: FrameView<'d>,
    limits: &'r Limits,
    roster: Roster,
    times: Times,
    notes: Notes,
    rejects: Vec<Reject>,
    messages: Vec<Message>,
    rows: RowLedger,
}

impl<'d, 'r> Reader<'d, 'r> {
    /// A reader of the messages of a frame.
    pub fn new(map: &'r FieldMap, frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            map,
            frame,
            limits,
            roster: Roster::default(),
            times: Times::default(),
            notes: Notes::new(frame.start),
            rejects: Vec::new(),
            messages: Vec::new(),
            rows: RowLedger::default(),
        }
    }

    /// Reads a message: an object, or whatever `text = "$"` says is one.
    pub fn read(&mut self, index: u32, value: Value<'d>) {
        self.rows.rows += 1;
        let is_text = self.map.text.as_ref().is_some_and(MapPath::is_root);
        if value.kind() != Kind::Object && !is_text {
            self.rows.rejected += 1;
            let finding = Finding::new(&codes::WRONG_TYPE, "the message is no object and is rejected");
            let reject = reject_message(self.frame, &self.notes, value, finding, self.limits);
            self.rejects.push(reject);
            return;
        }
        self.accept(index, value);
    }

    fn accept(&mut self, index: u32, value: Value<'d>) {
        let map = self.map;
        let first = |path: &Option<MapPath>| path.as_ref().and_then(|path| path.first(value));
        let word = |path: &Option<MapPath>| first(path).and_then(text);
        let id = word(&map.message_id);
        let mut site = Site {
            notes: &mut self.notes,
            position: self.messages.len() as u32,
            id: id.as_deref(),
            message: value,
        };
        let sender = word(&map.sender);
        let sender_name = word(&map.sender_name);
        let call_id = word(&map.tool_call_id);
        let (role, role_word) = role(map, value, sender.as_deref(), call_id.is_some(), &mut site);
        let mut kept: Vec<(String, RawJson)> = Vec::new();
        let said = said(map, value, &mut kept, &mut site);
        let mut parts = if role == Role::Tool {
            parts::answer(said, call_id.clone(), sender_name.clone())
        } else {
            said
        };
        if let Some(list) = first(&map.tool_calls) {
            match tools::calls(list, &mut kept, &mut site, self.limits) {
                Some(calls) => parts.extend(calls.into_iter().map(Part::ToolCall)),
                None => kept.push(("tool_calls".to_owned(), RawJson(list.raw().to_owned()))),
            }
        }
        if parts.is_empty() {
            site.missing("text", Severity::Warning);
        }
        let field = map.time.as_ref().map_or_else(String::new, MapPath::name);
        let timestamp = self.times.read(first(&map.time), &field, &mut site);
        let references = word(&map.reply_to).map(|target| Reference {
            target: Some(target),
            preview: None,
            form: ReferenceForm::Id,
            is_pseudo: false,
            nested: Vec::new(),
        });
        let paths: Vec<&MapPath> = map.of_message().map(|(_, path)| path).collect();
        let of_rows = map.conversation.as_ref().filter(|_| map.messages.is_root());
        let paths: Vec<&MapPath> = paths.into_iter().chain(of_rows).collect();
        if value.kind() == Kind::Object {
            rest::keep(value, &paths, &mut kept);
        }

        let speaker = if role == Role::Tool {
            let caller = self.roster.answered(call_id.as_deref().into_iter());
            caller.unwrap_or_else(|| self.roster.of(Role::Assistant, "assistant", None))
        } else {
            let own = sender.as_deref().or(sender_name.as_deref());
            self.roster
                .of(role, own.unwrap_or(role.as_str()), sender_name.as_deref())
        };
        let calls = parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.id.as_deref()),
            _ => None,
        });
        let calls: Vec<Option<&str>> = calls.collect();
        if !calls.is_empty() {
            self.roster.calls(speaker, calls.into_iter().flatten());
        }
        let span = value.span();
        self.rows.messages += 1;
        self.messages.push(Message {
            id,
            external_id: None,
            position: self.messages.len() as u32,
            sender: Some(speaker),
            sender_name: sender_name.filter(|_| role != Role::Tool),
            role,
            kind: MessageKind::Message,
            source_type: role_word.filter(|word| word != role.as_str()),
            timestamp,
            parts,
            references: references.into_iter().collect(),
            mentions: Vec::new(),
            weight: weight::take(value, &mut kept),
            unstated: Unstated::default(),
            extra: Extra(kept),
            origin: MessageOrigin {
                start: self.frame.start + span.start as u64,
                end: self.frame.start + span.end as u64,
                index,
            },
        });
    }

    /// Everything that was read, in this conversation.
    pub fn finish(self, conversation: Conversation) -> Reading {
        let mut notes = self.notes;
        self.times.finish(&mut notes);
        Reading {
            conversation: Some(Conversation {
                participants: self.roster.participants,
                messages: self.messages,
                ..conversation
            }),
            fault: None,
            findings: notes.findings,
            rejects: self.rejects,
            rows: self.rows,
        }
    }
}

/// The role of a message, and the word that says it.
fn role(
    map: &FieldMap,
    value: Value<'_>,
    sender: Option<&str>,
    answers: bool,
    site: &mut Site<'_>,
) -> (Role, Option<String>) {
    let of_word = |word: &str| map.roles.get(word).copied().or_else(|| known_role(word));
    let found = map.role.as_ref().and_then(|path| path.first(value));
    let word = found.and_then(|found| match found.kind() {
        Kind::Bool(is) => Some(is.to_string()),
        _ => text(found),
    });
    if answers {
        return (Role::Tool, word);
    }
    if let Some(role) = word.as_deref().and_then(of_word) {
        return (role, word);
    }
    if let Some(role) = sender.and_then(of_word) {
        return (role, word);
    }
    if let (Some(path), Some(found)) = (&map.role, found) {
        let text = "the role is none of the known words, and roles of the field map does not name it: the message is \
                    read as a user's";
        site.wrong(&path.name(), text, Severity::Warning, found);
    } else if map.role.is_some() {
        site.missing("role", Severity::Warning);
    }
    (Role::User, word)
}

/// What a message says.
fn said(
    map: &FieldMap,
    value: Value<'_>,
    kept: &mut Vec<(String, RawJson)>,
    site: &mut Site<'_>,
) -> Vec<Part> {
    let Some(path) = &map.text else {
        return Vec::new();
    };
    let found = path.find(value);
    found
        .into_iter()
        .flat_map(|words| match words.kind() {
            Kind::Number => vec![Part::Text(words.raw().to_owned())],
            Kind::Array if words.items().all(|text| text.kind() == Kind::String) => words
                .items()
                .map(|text| Part::Text(turn::text_of(text)))
                .collect(),
            _ => turn::said(words, &path.name(), kept, site),
        })
        .collect()
}
