//! Reading a message by a format file: role, time, content, and the extra fields. `read.rs` and `rows.rs` pass the messages of one
//! conversation in order to [`Reader::message`], which adds them to the list of the conversation; `finish` in `read.rs` completes it.

mod amended;
mod others;
mod paid;
mod speaker;

use std::borrow::Cow;
use std::collections::HashMap;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Message, MessageKind, Part, Reference, Role, Usage, Weight};

use self::amended::Amended;
use self::speaker::{SpeakerRole, UnknownWord, role_word, speaker_of};
pub(super) use self::speaker::{belongs, is_of_user};
use super::language::budget::{Budget, bytes_of_names};
use super::language::path::{MapPath, Paths};
use super::language::template::Read;
use super::language::{
    AmendMap, MessageMap, Repeated, ReplyMap, SceneWord, SenderMap, Speaks, Unknown, UsageCounts, UsageMap,
};
use super::loaded::Loaded;
use super::piece::{MessageDraft, PieceReader};
use crate::base::{Keep as _, Site, Turn, holds_something, id, media, message_kind, reply_to, word};
use crate::frame::FrameView;
use crate::grammar::usage::{self, CountedTokens};
use crate::layout::{
    Element, ListReader, Turns, preference::thumbs::Thumb, tree::Node, tree::branch::NodeReader,
    turns::weight,
};
use chatmill_diag::Limits;

/// Reads the messages of one conversation, in order.
pub(super) struct Reader<'d, 'r> {
    pub(super) format: &'static Loaded,
    pub(super) turns: Turns<'d, 'r>,
    pub(super) read: Read<'r>,
    /// The id of the conversation, if it has one.
    pub(super) conversation: Option<String>,
    /// The id of the message that contains the next one, which answers it.
    pub(super) above: Option<String>,
    /// The ids of the first messages of threads.
    threads: HashMap<String, String>,
    amended: Amended,
    /// Ratings of answers.
    pub(super) thumbs: Vec<Thumb<'d>>,
    /// The number of messages that were copied from an earlier conversation.
    pub(super) copied: u64,
}

impl<'d, 'r> Reader<'d, 'r> {
    /// A reader that has read nothing yet.
    pub(super) fn new(
        format: &'static Loaded,
        frame: FrameView<'d>,
        limits: &'r Limits,
        budget: &'r Budget,
    ) -> Self {
        budget.begin();
        let mut turns = Turns::new(frame, limits);
        turns.list.answers.in_pieces = format.language.conversation.in_pieces;
        Self {
            format,
            turns,
            read: Read {
                mojibake: format.language.mojibake,
                budget,
            },
            conversation: frame.key.map(str::to_owned),
            above: None,
            threads: HashMap::new(),
            amended: Amended::default(),
            thumbs: Vec::new(),
            copied: 0,
        }
    }

    /// Reads the message at a path of the record; `index` is its index in its list.
    pub(super) fn message(&mut self, index: u32, value: Value<'d>, path: impl Fn() -> String) {
        if self.read.budget.is_spent() {
            return;
        }
        let keys = &self.format.keys;
        let single = |value: Value<'d>| repeated(keys, value).map_or(Ok(()), Err);
        let list = &mut self.turns.list;
        if self.format.allows_text && value.kind() != Kind::Object {
            list.rows.rows += 1;
        } else if list.element(Element::Message, &path, value, single).is_none() {
            return;
        }
        let map = self.format.message(value);
        let speaker = speaker_of(map, value);
        if speaker.meaning == Speaks::Nothing {
            self.turns.list.rows.merged += 1;
            return;
        }
        if let (Some(UnknownWord(found)), Unknown::Reject) = (speaker.unknown, map.unknown) {
            self.reject(map, value, found, &path());
            return;
        }
        self.accept(index, value, map, &speaker, &path);
        let frame = self.turns.list.frame;
        self.read.budget.reject_beyond(frame, path, value);
    }

    /// Rejects a message with an unknown speaker.
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
        speaker: &SpeakerRole<'d>,
        path: impl Fn() -> String,
    ) {
        let known = self.turns.list.notes.findings.len();
        let limits = self.turns.list.limits;
        let own = map.id.id(value);
        // The id cannot be the position of findings about the id itself.
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
        let timestamp = timestamp.and_then(|(time, name)| self.turns.times.read(Some(time), name, &mut site));
        let format = self.format;
        // For a field map, findings on the time of a message come last.
        let of_time = format.is_map.then(|| site.notes.findings.split_off(known));
        let mut kinds = map.kind.0.iter().filter_map(|path| path.first(value));
        let kind = kinds.find_map(role_word);
        let stated = match speaker.meaning {
            Speaks::Assistant => Role::Assistant,
            Speaks::System => Role::System,
            Speaks::Tool => Role::Tool,
            _ => Role::User,
        };
        let pieces = PieceReader {
            format,
            limits,
            read: self.read,
            grammar: None,
            is_answer: stated == Role::Assistant,
        };
        let (mut draft, is_notice) = read_content(pieces, map, value, (speaker, kind.as_ref()), &mut site);
        let role = draft.role.filter(|_| map.role.0.is_empty()).unwrap_or(stated);
        site.notes.findings.extend(of_time.into_iter().flatten());
        self.turns.list.tools.append(&mut draft.tools);
        let mentions = map.mentions.iter().flat_map(|path| path.find(value));
        let mentions = mentions.filter_map(id).collect();
        let references = self.references(map, value, own.as_ref(), &mut draft);
        if role == Role::Assistant {
            self.rate(map, value, own.as_ref(), &path);
        }
        keep(map, value, self.read, &mut draft);
        if let Some(amends) = &map.amends
            && self.amends(amends, value, &mut draft)
        {
            return;
        }
        let is_copied = map.copied.hold(value);
        self.copied += u64::from(is_copied);
        let usage = map.usage.as_ref().and_then(|usage| usage.of(value));
        let model = map.model.id(value).map(Into::into);
        let answer_id = (role == Role::Assistant).then_some(&map.answer_id);
        let mut answer = answer_id.and_then(|paths| paths.id(value));
        if answer.is_some() {
            draft.end_answer();
            answer.take_if(|_| draft.ended.0 > 1);
        }
        if let Some(last) = self.continued(map, own.as_ref(), answer.as_deref()) {
            let turn = Turn {
                id: own,
                parts: draft.parts,
                rest: draft.extra,
                ..Turn::default()
            };
            self.turns.join(last, value, turn, known, path);
            if let Some(message) = self.turns.list.messages.get_mut(last) {
                message.usage = usage.filter(|_| !is_copied).or(message.usage);
                message.model = model.or(message.model.take());
            }
            return;
        }
        let name = draft.name.take();
        let shown = map.sender.as_ref().and_then(|sender| sender.shown.id(value));
        let mut whole = Message {
            id: own.or(draft.id.take()),
            kind: message_kind(is_notice),
            source_type: kind.filter(|kind| {
                Some(kind) != map.usual_type.as_ref() && !(format.is_map && kind == role.as_str())
            }),
            sender_name: shown.filter(|_| role != Role::Tool),
            timestamp,
            references,
            mentions,
            usage,
            model,
            answer: answer.map(Into::into),
            weight: Weight::new(0.0).filter(|_| map.context.hold(value) && role == Role::Assistant),
            ..self.turns.list.message(role, value.span(), index)
        };
        if is_copied {
            whole.leave_elsewhere();
        }
        let start = self.turns.list.messages.len();
        let others = map.others.as_ref().map(|others| (others, whole.clone()));
        self.push(value, whole, draft, map.sender.as_ref(), name.as_deref());
        if let Some((others, whole)) = others {
            self.others(others, value, &whole, start, map.sender.as_ref());
        }
    }

    /// Notes the ratings of the message.
    fn rate(&mut self, map: &MessageMap, value: Value<'d>, own: Option<&String>, path: impl Fn() -> String) {
        for (when, is_good) in [(&map.good, true), (&map.bad, false)] {
            if let Some(own) = own
                && when.would_hold(value)
            {
                when.read(value);
                self.thumbs.push(Thumb {
                    message: own.clone(),
                    is_good,
                    path: path(),
                    value,
                });
            }
        }
    }

    /// The position of the assistant's message before, if this one continues it.
    fn continued(&self, map: &MessageMap, own: Option<&String>, answer: Option<&str>) -> Option<usize> {
        let messages = &self.turns.list.messages;
        if map.joins && map.say.is_empty() {
            // The cost of an answer comes after it, and after the results of its calls.
            let is_turn =
                |message: &Message| message.kind == MessageKind::Message && message.role != Role::Tool;
            let last = messages.iter().rposition(is_turn)?;
            let answer = messages.get(last)?;
            return (answer.role == Role::Assistant && answer.usage.is_none()).then_some(last);
        }
        let is_other = |last: &Message| matches!((last.answer.as_deref(), answer), (Some(last), Some(own)) if last != own);
        let last = messages
            .last()
            .filter(|last| last.role == Role::Assistant && !is_other(last))?;
        let is_same = map.repeated == Some(Repeated::Joins) && own.is_some() && last.id.as_ref() == own;
        (map.joins || is_same).then(|| messages.len() - 1)
    }

    /// Adds a record's data to an earlier message: text that replaces the message's own, which is kept, and extra fields. `false` without
    /// such a message.
    fn amends(&mut self, map: &AmendMap, value: Value<'d>, draft: &mut MessageDraft) -> bool {
        let list = &mut self.turns.list;
        let target = map.of.first(value).and_then(id);
        let place = target
            .as_ref()
            .and_then(|target| self.amended.place(target, &list.messages));
        let earlier = place.and_then(|place| Some((place, list.messages.get_mut(place)?)));
        let Some((place, earlier)) = earlier.filter(|(_, earlier)| earlier.id == target) else {
            return false;
        };
        let key = format!("{}[{}]", map.name, self.amended.number(place, &map.name));
        if draft.parts.iter().any(|part| matches!(part, Part::Text(_))) {
            let own = std::mem::replace(&mut earlier.parts, std::mem::take(&mut draft.parts));
            for part in own {
                match part {
                    Part::Text(text) => earlier.extra.keep_text(format!("{key}.before"), &text),
                    other => earlier.parts.push(other),
                }
            }
        }
        earlier.extra.0.append(&mut draft.extra);
        if let Some(retained) = map.keep.as_ref().and_then(|path| path.first(value)) {
            earlier.extra.keep(key, retained);
        }
        list.rows.merged += 1;
        true
    }

    /// Adds a message, split where the speaker changes.
    pub(super) fn push(
        &mut self,
        value: Value<'d>,
        whole: Message,
        mut draft: MessageDraft,
        sender: Option<&SenderMap>,
        name: Option<&str>,
    ) {
        let role = whole.role;
        let weight = weight::take(value, &mut draft.extra);
        let context = whole.weight;
        let only_answers = role == Role::User && draft.only_answers();
        let role = if only_answers { Role::Tool } else { role };
        if whole.kind == MessageKind::Message {
            media::hold_place(role, &mut draft.parts, &draft.extra);
        }
        let pieces = draft.turns(role);
        let last = pieces.len().saturating_sub(1);
        let (mut extra, mut whole) = (Some(draft.extra), Some(whole));
        for (number, (role, parts)) in pieces.into_iter().enumerate() {
            let own = if number == last {
                whole.take()
            } else {
                whole.clone()
            };
            let Some(own) = own else { return };
            if !self.read.budget.take(bytes_of_names(&own)) {
                return;
            }
            // A further piece counts as a separate row.
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
                id: own.id.filter(|_| is_first),
                position: place,
                sender,
                role,
                parts,
                weight: context.filter(|_| role == Role::Assistant).or(weight),
                usage: own.usage.filter(|_| is_first),
                extra: Extra(extra.take().unwrap_or_default()),
                ..own
            });
        }
    }

    /// The sender: found by id, else by name, else by the role. `None` if a format names its senders and this message has none.
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
        let read = self.read;
        let words = |paths: &Paths| paths.id(value).map(|word| read.decoded(word));
        let (own, alias) = (map.id.id(value), words(&map.alias));
        let name = words(&map.name).or_else(|| alias.clone());
        let place = match (&own, &name) {
            (Some(own), name) => roster.of(role, own, name.as_deref()),
            (None, Some(name)) => roster.named(role, Some(name)),
            (None, None) if role == Role::User && self.format.language.scene != SceneWord::Unknown => {
                return None;
            }
            (None, None) => roster.named(role, None),
        };
        if let Some(person) = roster.participants.get_mut(place)
            && person.alias.is_none()
            && person.name != alias
        {
            person.alias = alias;
        }
        Some(place)
    }

    /// The message that this one answers: the one that it names, the one that contains it, or the first of its thread.
    fn references(
        &mut self,
        map: &MessageMap,
        value: Value<'d>,
        own: Option<&String>,
        draft: &mut MessageDraft,
    ) -> Vec<Reference> {
        let reply = map.reply.as_ref();
        let named = reply.and_then(|reply| self.reference(reply, value, draft));
        let above = self.above.take();
        let first = map.thread.id(value).and_then(|thread| {
            let first = self.threads.get(&thread).cloned();
            if first.is_none() {
                self.threads.extend(own.map(|own| (thread, own.clone())));
            }
            first
        });
        // A thread's first message may name itself.
        let first = first.filter(|first| Some(first) != own);
        let other = above.or(first).map(reply_to);
        named.or(other).into_iter().collect()
    }

    /// The message that this one answers; a message of another conversation is only kept.
    fn reference(&self, reply: &ReplyMap, value: Value<'_>, draft: &mut MessageDraft) -> Option<Reference> {
        let other = reply.conversation.as_ref().and_then(|path| path.first(value));
        let is_here = other
            .and_then(id)
            .is_none_or(|other| Some(other) == self.conversation);
        let target = reply.to.id(value).filter(|_| is_here);
        if target.is_none()
            && let Some((path, whole)) = reply
                .keep
                .as_ref()
                .and_then(|path| Some((path, path.first(value)?)))
        {
            draft.extra.keep(path.name(), whole);
        }
        target.map(reply_to)
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

/// The first of these keys that an object has twice.
fn repeated<'d>(keys: &[String], object: Value<'d>) -> Option<Cow<'d, str>> {
    let mut seen = 0_u128;
    let mut names = object.fields().map(|(key, _)| key);
    names.find(|key| {
        // Comparing the lengths first is fast, because most of them differ.
        let place = keys.iter().position(|known| *known == **key);
        let bit = place
            .and_then(|place| 1_u128.checked_shl(place as u32))
            .unwrap_or_default();
        let is_again = seen & bit != 0;
        seen |= bit;
        is_again
    })
}

/// Reads the content of a message. The text of an event is the one that the format gives, else the event's
/// name.
fn read_content(
    pieces: PieceReader<'_>,
    map: &MessageMap,
    value: Value<'_>,
    (speaker, kind): (&SpeakerRole<'_>, Option<&String>),
    site: &mut Site<'_>,
) -> (MessageDraft, bool) {
    let mut draft = MessageDraft::default();
    let is_map = pieces.format.is_map;
    if is_map {
        speaker.report_for_map(map, value, site);
    }
    pieces.read(&map.say, value, &mut draft, site);
    if let Some(answer) = map.result.as_ref().filter(|_| speaker.meaning == Speaks::Tool) {
        // The sender of a tool's message is the caller, so its id is marked as read but not used.
        map.sender.iter().for_each(|sender| _ = sender.id.id(value));
        let parts = std::mem::take(&mut draft.parts);
        draft.parts = media::answer(parts, answer.call.id(value), answer.name.id(value));
    }
    if let Some(again) = &map.again
        && map.notice.0.is_empty()
    {
        pieces.again(again, value, &mut draft, site);
    }
    let is_event = map.unknown_type && is_unknown_event(map, value, &draft, site);
    let is_notice = is_event || !map.notice.0.is_empty() || speaker.meaning == Speaks::Notice;
    if is_notice {
        let words = map.notice.render(value, pieces.read);
        pieces.read.budget.take(words.len());
        let own_kind = kind.filter(|kind| Some(*kind) != map.usual_type.as_ref());
        notice(map, words, own_kind.or(speaker.word.as_ref()), &mut draft);
    }
    if !is_map {
        speaker.report(map, site);
    } else if draft.parts.is_empty() {
        site.empty("text");
    }
    (draft, is_notice)
}

/// Reports a kind that the format does not know. It is an event unless it has both text and a sender.
fn is_unknown_event(map: &MessageMap, value: Value<'_>, draft: &MessageDraft, site: &mut Site<'_>) -> bool {
    let Some((kind, field)) = map.kind.found(value) else {
        return false;
    };
    let has_sender = map
        .sender
        .as_ref()
        .is_some_and(|sender| sender.id.id(value).or_else(|| sender.name.id(value)).is_some());
    let is_event = draft.parts.is_empty() || !has_sender;
    let text = if is_event {
        format!("{field} is none of the known words: the entry is kept as a notice")
    } else {
        format!("{field} is none of the known words, but it has words and a sender: it is read as a message")
    };
    site.note(&codes::UNKNOWN_MESSAGE_TYPE, &text, format!(".{field}"), kind);
    is_event
}

/// Keeps the fields that a format file lists, and the time of an edit.
fn keep(map: &MessageMap, value: Value<'_>, read: Read<'_>, draft: &mut MessageDraft) {
    // Some programs write 0 for messages that were not edited.
    if let Some((edited, name)) = map.edited.found(value)
        && edited.written() != "0"
        && map
            .time
            .first(value)
            .is_none_or(|time| time.written() != edited.written())
    {
        draft.extra.keep(name, edited);
    }
    for path in &map.keep {
        let found = path.find(value).into_iter();
        for found in found.filter(|found| holds_something(*found)) {
            if !read.budget.take(found.span().len()) {
                return;
            }
            draft.extra.push((path.name().to_owned(), read.raw(found)));
        }
    }
}

/// Puts the text of an event first: that of its format file, else the event's own text, else its name.
fn notice(map: &MessageMap, words: String, kind: Option<&String>, draft: &mut MessageDraft) {
    let words = if map.notice.0.is_empty() {
        own_words(draft)
    } else {
        words
    };
    let words = Some(words).filter(|words| !words.is_empty());
    let words = words.or_else(|| kind.cloned());
    draft
        .parts
        .insert(0, Part::Notice(words.unwrap_or_else(|| "event".to_owned())));
}

/// Takes the text of an event out of its content.
fn own_words(draft: &mut MessageDraft) -> String {
    let mut texts = Vec::new();
    draft.parts.retain(|part| match part {
        Part::Text(text) => {
            texts.push(text.clone());
            false
        }
        _ => true,
    });
    texts.join("\n")
}

impl UsageMap {
    pub(in crate::format) fn of(&self, value: Value<'_>) -> Option<Usage> {
        match self {
            Self::Object(path) => path.first(value).and_then(usage::usage),
            Self::UsageCounts(counts) => counts.of(value),
        }
    }
}

impl UsageCounts {
    fn of(&self, value: Value<'_>) -> Option<Usage> {
        let count = |found: Option<Value<'_>>| found?.number_text().and_then(usage::tokens);
        let one = |paths: &Paths| count(paths.first(value));
        let with = |count_of: Option<u64>, beside: &[MapPath]| {
            let beside = beside.iter().filter_map(|path| count(path.first(value)));
            count_of.map(|own| beside.fold(own, u64::saturating_add))
        };
        let counted = CountedTokens {
            input: with(one(&self.input), &self.input_beside),
            cached: one(&self.cached),
            written: one(&self.written),
            written_1h: one(&self.written_1h),
            cost: self.cost.first(value).and_then(usage::amount),
            contains_cache: true,
            output: with(one(&self.output), &self.output_beside),
            total: one(&self.total),
            ..CountedTokens::default()
        };
        counted.usage()
    }
}
