//! Messages as a field map finds them.

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Conversation, Extra, Message, Part, Reference, Role};

use super::map::FieldMap;
use super::rest;
use crate::format::MapPath;
use crate::frame::{FrameView, Reading};
use crate::reader::{
    Keep as _, Kept, ListReader, Roster, Site, Times, id, message_object, parts, role_words, tool_calls,
    weight,
};

/// Reads the messages of one record, in order.
pub(super) struct Reader<'d, 'r> {
    map: &'r FieldMap,
    list: ListReader<'d, 'r>,
    roster: Roster,
    times: Times,
}

impl<'d, 'r> Reader<'d, 'r> {
    /// A reader of the messages of a frame.
    pub(super) fn new(map: &'r FieldMap, frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            map,
            list: ListReader::new(frame, limits),
            roster: Roster::default(),
            times: Times::new(frame.options),
        }
    }

    /// Reads a message: an object, or whatever `text = "$"` says is one.
    pub(super) fn read(&mut self, index: u32, value: Value<'d>) {
        self.list.rows.rows += 1;
        let is_text = self.map.text.as_ref().is_some_and(MapPath::is_root);
        if value.kind() == Kind::Object || is_text {
            self.accept(index, value);
        } else {
            let finding = Finding::new(&codes::WRONG_TYPE, "the message is not an object and is rejected");
            self.list.reject(value.span(), finding);
        }
    }

    fn accept(&mut self, index: u32, value: Value<'d>) {
        let (map, limits) = (self.map, self.list.limits);
        let first = |path: &Option<MapPath>| path.as_ref().and_then(|path| path.first(value));
        let word = |path: &Option<MapPath>| first(path).and_then(id);
        let own_id = word(&map.message_id);
        let mut site = self.list.site(own_id.as_deref(), value);
        let sender = word(&map.sender);
        let sender_name = word(&map.sender_name);
        let call_id = word(&map.tool_call_id);
        let (role, role_word) = role(map, value, sender.as_deref(), call_id.is_some(), &mut site);
        let mut kept = Kept::new();
        let said = said(map, value, &mut kept, &mut site);
        let mut parts = if role == Role::Tool {
            parts::answer(said, call_id.clone(), sender_name.clone())
        } else {
            said
        };
        if let Some(list) = first(&map.tool_calls) {
            match tool_calls::calls(list, &mut kept, &mut site, limits) {
                Some(calls) => parts.extend(calls.into_iter().map(Part::ToolCall)),
                None => kept.keep("tool_calls", list),
            }
        }
        if parts.is_empty() {
            site.missing("text", Severity::Warning);
        }
        let field = map.time.as_ref().map_or("", MapPath::name);
        let timestamp = self.times.read(first(&map.time), field, &mut site);
        let references = word(&map.reply_to).map(|target| Reference {
            target: Some(target),
            ..Reference::default()
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
        self.roster.calls(speaker, &parts);
        self.list.push(Message {
            id: own_id,
            sender: Some(speaker),
            sender_name: sender_name.filter(|_| role != Role::Tool),
            source_type: role_word.filter(|word| word != role.as_str()),
            timestamp,
            parts,
            references: references.into_iter().collect(),
            weight: weight::take(value, &mut kept),
            extra: Extra(kept),
            ..self.list.message(role, value.span(), index)
        });
    }

    /// Everything that was read, in this conversation.
    pub(super) fn finish(mut self, conversation: Conversation) -> Reading {
        self.times.finish(&mut self.list.notes);
        self.list.finish(Conversation {
            participants: self.roster.participants,
            ..conversation
        })
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
    let of_word = |word: &str| map.roles.get(word).copied().or_else(|| role_words::role(word));
    let found = map.role.as_ref().and_then(|path| path.first(value));
    let word = found.and_then(|found| match found.kind() {
        Kind::Bool(is) => Some(is.to_string()),
        _ => id(found),
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
        site.warn(path.name(), text, found);
    } else if map.role.is_some() {
        site.missing("role", Severity::Warning);
    }
    (Role::User, word)
}

/// What a message says.
fn said(map: &FieldMap, value: Value<'_>, kept: &mut Kept, site: &mut Site<'_>) -> Vec<Part> {
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
                .map(|text| Part::Text(message_object::text_of(text)))
                .collect(),
            _ => message_object::said(words, path.name(), kept, site),
        })
        .collect()
}
