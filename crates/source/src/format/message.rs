//! Reading a message as a format file says: who speaks, when, what it says, and what becomes of everything else.

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Message, MessageKind, Part, Reference, Role, Usage};

use super::condition::{Chosen, chosen};
use super::language::{Counts, MessageMap, Paths, ReplyMap, SenderMap, Speaks, Unknown, UsageMap};
use super::loaded::Loaded;
use super::piece::{Pieces, Said};
use crate::frame::FrameView;
use crate::reader::branch::NodeReader;
use crate::reader::tree::Node;
use crate::reader::{
    Element, Keep as _, ListReader, Site, Times, Turn, Turns, id, logged, parts, role_words, turns, weight,
    word,
};
use chatmill_diag::Limits;

/// Reads the messages of one conversation, in order.
pub(super) struct Reader<'d, 'r> {
    pub(super) format: &'static Loaded,
    pub(super) turns: Turns<'d, 'r>,
    pub(super) times: Times,
    /// The id of the conversation, where it has one.
    pub(super) conversation: Option<String>,
}

impl Paths {
    /// The first thing that a path leads to.
    pub(super) fn first<'d>(&self, value: Value<'d>) -> Option<Value<'d>> {
        self.found(value).map(|(found, _)| found)
    }

    /// The same, with the path that leads there as findings name it.
    pub(super) fn found<'d>(&self, value: Value<'d>) -> Option<(Value<'d>, String)> {
        let mut paths = self.0.iter();
        paths.find_map(|path| path.first(value).map(|found| (found, path.name())))
    }

    /// The first id or name that stands at a path.
    pub(super) fn id(&self, value: Value<'_>) -> Option<String> {
        let mut found = self.0.iter().filter_map(|path| path.first(value));
        found.find_map(id)
    }
}

/// Who speaks, and the word that says it.
struct Voice<'d> {
    speaks: Speaks,
    word: Option<String>,
    /// Where nothing known says it: what does, if anything.
    unknown: Option<Option<Value<'d>>>,
}

impl<'d, 'r> Reader<'d, 'r> {
    /// A reader that has read nothing yet.
    pub(super) fn new(format: &'static Loaded, frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            format,
            turns: Turns::new(frame, limits),
            times: Times::new(frame.options),
            conversation: frame.key.map(str::to_owned),
        }
    }

    /// Reads the message at a path of the record, the one with this index in its list.
    pub(super) fn message(&mut self, index: u32, value: Value<'d>, path: impl Fn() -> String) {
        let keys = &self.format.keys;
        let single =
            |value: Value<'d>| match value.duplicate_keys().into_iter().find(|key| keys.contains(key)) {
                Some(key) => Err(key.into()),
                None => Ok(()),
            };
        let list = &mut self.turns.list;
        if list.element(Element::Message, &path, value, single).is_none() {
            return;
        }
        let map = self.format.message(value);
        let voice = voice(map, value);
        if voice.speaks == Speaks::Nothing {
            self.turns.list.rows.merged += 1;
            super::read::pass_over(value);
            return;
        }
        if let (Some(found), Unknown::Reject) = (voice.unknown, map.unknown) {
            self.reject(map, value, found, &path());
            return;
        }
        self.accept(index, value, map, voice, path);
    }

    /// Rejects a message of which nobody knows who speaks.
    fn reject(&mut self, map: &MessageMap, value: Value<'d>, found: Option<Value<'d>>, path: &str) {
        let (field, words) = (map.role_field(), map.role_words());
        let text = format!("{field} is {words}: the message is rejected");
        let code = if found.is_some() {
            &codes::WRONG_TYPE
        } else {
            &codes::MISSING_FIELD
        };
        let finding = Finding::new(code, text).at_path(format!("{path}.{field}"));
        self.turns.list.reject(value.span(), finding);
    }

    fn accept(
        &mut self,
        index: u32,
        value: Value<'d>,
        map: &MessageMap,
        voice: Voice<'d>,
        path: impl Fn() -> String,
    ) {
        let known = self.turns.list.notes.findings.len();
        let limits = self.turns.list.limits;
        let own = map.id.id(value);
        // An id that is judged itself names no place.
        let mut site = self
            .turns
            .list
            .site(own.as_deref().filter(|_| !map.text_ids), value);
        if map.text_ids {
            word(
                map.id.first(value),
                map.id.0.first().map_or("", |path| path.last_key()),
                &mut site,
            );
        }
        let timestamp = map.time.found(value);
        let timestamp = timestamp.and_then(|(time, name)| self.times.read(Some(time), &name, &mut site));
        let mut said = Said::default();
        let pieces = Pieces {
            format: self.format,
            limits,
        };
        pieces.read(&map.say, value, &mut said, &mut site);
        if let Some(again) = &map.again {
            pieces.again(again, value, &mut said, &mut site);
        }
        let kind = map.kind.id(value);
        let mut is_notice = voice.speaks == Speaks::Notice;
        if !map.notice.0.is_empty() {
            is_notice = true;
            let words = map.notice.says(value, self.format.read);
            let words = if words.is_empty() {
                kind.clone()
            } else {
                Some(words)
            };
            said.parts
                .insert(0, Part::Notice(words.unwrap_or_else(|| "event".to_owned())));
        } else if is_notice {
            event(&mut said, kind.as_ref().or(voice.word.as_ref()));
        }
        let role = match (said.role, voice.speaks) {
            (Some(role), _) if map.role.0.is_empty() => role,
            (_, Speaks::Assistant) => Role::Assistant,
            (_, Speaks::System) => Role::System,
            (_, Speaks::Tool) => Role::Tool,
            _ => Role::User,
        };
        if let Some(found) = voice.unknown {
            unknown(map, found, &mut site);
        }
        let mentions = map.mentions.iter().flat_map(|path| path.find(value));
        let mentions = mentions.filter_map(id).collect();
        let reply = map.reply.as_ref();
        let reference = reply.and_then(|reply| self.reference(reply, value, &mut said));
        let references = reference.into_iter().collect();
        if let Some((path, edited)) = map
            .edited
            .as_ref()
            .and_then(|path| Some((path, path.first(value)?)))
            && map
                .time
                .first(value)
                .is_none_or(|time| time.written() != edited.written())
        {
            said.extra.keep(path.name(), edited);
        }
        for path in &map.keep {
            for found in path
                .find(value)
                .into_iter()
                .filter(|found| holds_something(*found))
            {
                said.extra.keep(path.name(), found);
            }
        }
        let usage = map.usage.as_ref().and_then(|usage| usage.of(value));
        let model = map.model.id(value).map(Into::into);
        if map.joins
            && let Some(last) = self.turns.list.messages.len().checked_sub(1)
            && self
                .turns
                .list
                .messages
                .last()
                .is_some_and(|last| last.role == Role::Assistant)
        {
            let turn = Turn {
                id: own,
                parts: said.parts,
                rest: said.extra,
                ..Turn::default()
            };
            self.turns.join(last, value, turn, known, path);
            if let Some(message) = self.turns.list.messages.last_mut() {
                message.usage = usage.or(message.usage);
                message.model = model.or(message.model.take());
            }
            return;
        }
        let name = said.name.take();
        let whole = Message {
            id: own.or(said.id.take()),
            kind: if is_notice {
                MessageKind::Notice
            } else {
                MessageKind::Message
            },
            source_type: kind.filter(|kind| Some(kind) != map.usual_type.as_ref()),
            timestamp,
            references,
            mentions,
            usage,
            model,
            ..self.turns.list.message(role, value.span(), index)
        };
        self.push(value, whole, said, map.sender.as_ref(), name.as_deref());
    }

    /// Adds a message, divided at the results of its own calls, which are the tool's.
    fn push(
        &mut self,
        value: Value<'d>,
        whole: Message,
        mut said: Said,
        sender: Option<&SenderMap>,
        name: Option<&str>,
    ) {
        let role = whole.role;
        let weight = weight::take(value, &mut said.extra);
        let only_answers = role == Role::User && said.only_answers();
        let role = if only_answers { Role::Tool } else { role };
        if whole.kind == MessageKind::Message {
            parts::hold_place(role, &mut said.parts, &said.extra);
        }
        let pieces = if role == Role::Assistant {
            turns::divided(role, said.parts)
        } else {
            vec![(role, said.parts)]
        };
        let mut extra = Some(said.extra);
        for (number, (role, parts)) in pieces.into_iter().enumerate() {
            // A further piece counts as a row of its own.
            self.turns.list.rows.rows += u64::from(number > 0);
            let sender = if role == Role::Tool {
                Some(self.turns.roster.answering(&parts))
            } else {
                self.sender(role, value, sender, name)
            };
            if let Some(sender) = sender {
                self.turns.roster.calls(sender, &parts);
            }
            let place = self.turns.list.messages.len() as u32;
            let is_first = number == 0;
            self.turns.list.push(Message {
                id: whole.id.clone().filter(|_| is_first),
                position: place,
                sender,
                role,
                parts,
                weight,
                usage: whole.usage.filter(|_| is_first),
                extra: Extra(extra.take().unwrap_or_default()),
                ..whole.clone()
            });
        }
    }

    /// Who speaks: by an id, else by name, else by the role alone. Nobody, where a format names its people and this message none.
    fn sender(
        &mut self,
        role: Role,
        value: Value<'_>,
        map: Option<&SenderMap>,
        name: Option<&str>,
    ) -> Option<usize> {
        let roster = &mut self.turns.roster;
        let Some(map) = map else {
            return Some(roster.named(role, name));
        };
        let read = self.format.read;
        let words = |paths: &Paths| paths.id(value).map(|word| read.led_back(word));
        let (own, alias) = (map.id.id(value), words(&map.alias));
        let name = words(&map.name).or_else(|| alias.clone());
        let place = match (&own, &name) {
            (Some(own), name) => roster.of(role, own, name.as_deref()),
            (None, Some(name)) => roster.named(role, Some(name)),
            (None, None) if role == Role::Assistant || role == Role::System => roster.named(role, None),
            (None, None) => return None,
        };
        if let Some(person) = roster.participants.get_mut(place)
            && person.alias.is_none()
            && person.name != alias
        {
            person.alias = alias;
        }
        Some(place)
    }

    /// The message that this one answers; one of another conversation is only kept.
    fn reference(&self, reply: &ReplyMap, value: Value<'_>, said: &mut Said) -> Option<Reference> {
        let other = reply.conversation.as_ref().and_then(|path| path.first(value));
        let is_here = other
            .and_then(id)
            .is_none_or(|other| Some(other) == self.conversation);
        let target = reply.to.first(value).and_then(id).filter(|_| is_here);
        if target.is_none()
            && let Some((path, whole)) = reply
                .keep
                .as_ref()
                .and_then(|path| Some((path, path.first(value)?)))
        {
            said.extra.keep(path.name(), whole);
        }
        Some(Reference {
            target: Some(target?),
            ..Reference::default()
        })
    }
}

impl<'d, 'r> NodeReader<'d, 'r> for Reader<'d, 'r> {
    fn list(&mut self) -> &mut ListReader<'d, 'r> {
        &mut self.turns.list
    }

    fn node(&mut self, value: Value<'d>, node: &Node, at: usize) {
        self.message(at as u32, value, || node.path.clone());
    }
}

/// Who speaks in a message.
fn voice<'d>(map: &MessageMap, value: Value<'d>) -> Voice<'d> {
    let of_word = |word: &str| {
        let begins = |(pattern, _): &(&String, &Speaks)| {
            pattern.strip_suffix('*').is_some_and(|start| word.starts_with(start))
        };
        let known = map.roles.get(word).copied();
        let known = known.or_else(|| map.roles.iter().find(begins).map(|(_, speaks)| *speaks));
        known.or_else(|| role_words::role(word).map(Speaks::from))
    };
    let (word, found) = match chosen(&map.role.0, value) {
        None => (None, None),
        Some(Chosen::Said(word)) => (Some(word.to_owned()), None),
        Some(Chosen::Found(found)) => (
            match found.as_bool() {
                Some(is) => Some(is.to_string()),
                None => id(found),
            },
            Some(found),
        ),
    };
    let speaks = word.as_deref().and_then(of_word);
    for choice in &map.role.0 {
        choice.read(value);
    }
    let asks_record = map.role.0.iter().any(|choice| choice.path().is_some());
    let is_known = speaks.is_some() || !asks_record;
    let otherwise = match map.unknown {
        Unknown::Notice if asks_record => Speaks::Notice,
        _ => Speaks::User,
    };
    Voice {
        speaks: speaks.unwrap_or(otherwise),
        word,
        unknown: (!is_known).then_some(found),
    }
}

impl From<Role> for Speaks {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::System => Self::System,
            Role::Tool => Self::Tool,
        }
    }
}

/// Says that nobody knows who speaks.
fn unknown(map: &MessageMap, found: Option<Value<'_>>, site: &mut Site<'_>) {
    let field = map.role_field();
    match (found, map.unknown) {
        (Some(found), Unknown::Notice) => {
            let text = format!("{field} is none of the known words: the entry is kept as a notice");
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, &text, format!(".{field}"), found);
        }
        (Some(found), _) => {
            let text = format!("{field} is none of the known words: the message is read as a user's");
            site.warn(&field, &text, found);
        }
        (None, _) => site.missing(&field, Severity::Warning),
    }
}

impl MessageMap {
    /// The field that says the role, as findings name it.
    fn role_field(&self) -> String {
        let mut paths = self.role.0.iter().filter_map(|choice| choice.path());
        paths
            .next()
            .map_or_else(|| "role".to_owned(), super::path::MapPath::name)
    }

    /// What the role is not, where it is unknown.
    fn role_words(&self) -> String {
        let mut roles: Vec<(&Speaks, &str)> = self
            .roles
            .iter()
            .map(|(word, role)| (role, word.as_str()))
            .collect();
        roles.sort();
        let words: Vec<&str> = roles.into_iter().map(|(_, word)| word).collect();
        match words.as_slice() {
            [one, other] => format!("neither {one} nor {other}"),
            _ => "none of the known words".to_owned(),
        }
    }
}

/// What an event says: its words, or what it is called.
fn event(said: &mut Said, kind: Option<&String>) {
    let mut texts = Vec::new();
    said.parts.retain(|part| match part {
        Part::Text(text) => {
            texts.push(text.clone());
            false
        }
        _ => true,
    });
    let words = texts.join("\n");
    let words = if words.is_empty() {
        kind.cloned().unwrap_or_else(|| "event".to_owned())
    } else {
        words
    };
    said.parts.insert(0, Part::Notice(words));
}

/// Whether a value says anything: null, `false`, and what is empty do not.
pub(super) fn holds_something(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::Bool(false) => false,
        Kind::String => value.written() != "\"\"",
        Kind::Array | Kind::Object => !value.is_empty(),
        Kind::Bool(true) | Kind::Number => true,
    }
}

impl UsageMap {
    fn of(&self, value: Value<'_>) -> Option<Usage> {
        match self {
            Self::Object(path) => path.first(value).and_then(logged::usage),
            Self::Counts(counts) => counts.of(value),
        }
    }
}

impl Counts {
    fn of(&self, value: Value<'_>) -> Option<Usage> {
        let count = |path: &super::path::MapPath| path.first(value)?.number_text().and_then(logged::tokens);
        let one = |path: &Option<super::path::MapPath>| path.as_ref().and_then(count);
        let with = |count_of: Option<u64>, beside: &[super::path::MapPath]| {
            count_of.map(|own| beside.iter().filter_map(count).fold(own, u64::saturating_add))
        };
        let usage = Usage {
            input: with(one(&self.input), &self.input_beside),
            cached_input: one(&self.cached),
            output: with(one(&self.output), &self.output_beside),
        };
        (!usage.is_empty()).then_some(usage)
    }
}

/// Whether a person says a message.
pub(super) fn is_of_user(map: &MessageMap, value: Value<'_>) -> bool {
    voice(map, value).speaks == Speaks::User
}
