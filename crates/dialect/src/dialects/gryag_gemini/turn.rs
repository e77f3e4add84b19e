//! Makes turns of messages, system text and media, and declares the losses.

use std::borrow::Cow;

use chatmill_model::{Component, Media, MediaKind, MediaSource, Message, Part, Participant, Role};

use super::edition::Edition;
use super::meta::{Excerpts, Meta};
use crate::loss::{LossCode, Losses, reasons};
use crate::messages::pairing::{FoundResult, Step};
use crate::messages::system::SystemText;
use crate::messages::text::{answered_in_words, declared_document, declared_text};
use crate::messages::unsupported::NoPlace;
use crate::naming::participants::is_nobody;
use crate::text::control_tokens::escape_line;
use crate::text::media::{document_text, kind_of_type, placeholder};
use crate::text::run::TextRun;
use crate::tools::as_text::{call_words, result_words};
use crate::transcript::Transcript;
use crate::view::policy::MediaPolicy;

const NO_PLACE: NoPlace = NoPlace {
    tools: None,
    reasoning: Some(reasons::PATTERN_HAS_NO_REASONING),
    notices: Some(reasons::PATTERN_HAS_NO_NOTICES),
    cache_marks: Some(reasons::PATTERN_HAS_NO_CACHE_MARKS),
};

/// The first turn has only text.
const NO_PLACE_IN_SYSTEM_TEXT: NoPlace = NoPlace {
    tools: None,
    reasoning: Some(reasons::SYSTEM_TEXT_IS_TEXT_ONLY),
    notices: None,
    cache_marks: Some(reasons::SYSTEM_TEXT_IS_TEXT_ONLY),
};

/// A turn of calls has no line and no text.
const NO_PLACE_BESIDE_CALLS: NoPlace = NoPlace {
    tools: None,
    reasoning: Some(reasons::TURN_OF_CALLS_ONLY),
    notices: None,
    cache_marks: Some(reasons::TURN_OF_CALLS_ONLY),
};

/// A turn.
pub(super) struct Turn<'a> {
    /// The role; the assistant is written as `model`.
    pub(super) role: Role,
    /// Positions of its messages; empty for a synthetic turn.
    pub(super) positions: Vec<u32>,
    /// The parts, at least one.
    pub(super) parts: Vec<TurnPart<'a>>,
}

/// A part of a turn.
pub(super) enum TurnPart<'a> {
    /// A line of ids, a text, or tool use as text.
    Text(Vec<TextRun<'a>>),
    /// The type, if known, and bytes.
    Inline(Option<&'a str>, &'a str),
    /// An address, and the JSON before and after it.
    Linked(&'a str, [&'static str; 2]),
    /// A call.
    Call(&'a str, Wrapped<'a>),
    /// A response.
    Response(&'a str, Wrapped<'a>),
}

/// A text that is wrapped in an object, or is an object.
pub(super) struct Wrapped<'a> {
    /// The beginning of the object; empty if the text is an object.
    pub(super) opening: &'static str,
    pub(super) text: &'a str,
    /// Whether the text is JSON rather than a string.
    pub(super) is_json: bool,
}

/// Makes turns and collects their losses.
pub(super) struct Turns<'t, 'a> {
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) edition: &'static Edition,
    pub(super) excerpts: Excerpts<'a>,
    pub(super) losses: Losses,
    /// Number of messages with their id in a line.
    pub(super) lined: u64,
    /// Number of further fields of messages that are in their lines.
    pub(super) fields: u64,
}

impl<'a> Turns<'_, 'a> {
    /// Returns all system text as the first turn.
    pub(super) fn system(&mut self, shown: &[&'a Message]) -> Option<Turn<'a>> {
        let (view, arena) = (self.transcript.view(), self.transcript.arena());
        let mut system = SystemText::of(view, shown, &mut self.losses);
        let added = std::mem::take(&mut system.added).into_iter();
        let mut texts: Vec<&'a str> = added.map(|text| arena.keep(text)).collect();
        let mut positions = Vec::new();
        let mut is_front = true;
        for message in shown {
            let position = message.position;
            is_front &= message.role == Role::System;
            if message.role != Role::System || !system.keeps(message, &mut self.losses) {
                continue;
            }
            for part in &message.parts {
                NO_PLACE_IN_SYSTEM_TEXT.declare(part, position, &mut self.losses);
                let media = u64::from(matches!(part, Part::Media(_)));
                let reason = reasons::SYSTEM_TEXT_IS_TEXT_ONLY;
                self.losses
                    .several((LossCode::MediaDropped, reason), position, media);
            }
            let before = texts.len();
            texts.extend(message.texts().filter(|text| !text.is_empty()));
            if before == 0
                && let Some(first) = texts.first_mut()
            {
                *first = self.without_line(Cow::Borrowed(first), position);
            }
            if texts.len() == before {
                self.losses.at(reasons::SYSTEM_TEXT_IS_EMPTY, position);
                continue;
            }
            self.losses.at(reasons::SYSTEM_TEXT_IS_THE_FIRST_TURN, position);
            let moved = u64::from(!is_front);
            self.losses
                .several(reasons::SYSTEM_TEXT_STANDS_IN_FRONT, position, moved);
            positions.push(position);
        }
        let separator = TextRun::new("\n\n", Component::Framing);
        let texts = texts
            .into_iter()
            .map(|text| TextRun::new(text, Component::Content));
        let words: Vec<_> = texts.flat_map(|text| [separator, text]).skip(1).collect();
        (!words.is_empty()).then(|| Turn {
            role: Role::User,
            positions,
            parts: vec![TurnPart::Text(words)],
        })
    }

    /// Returns the turns of a step: a message and its calls, or a result.
    pub(super) fn step(&mut self, step: Step<'a>) -> [Option<Turn<'a>>; 2] {
        let turn = match step {
            Step::Message { message, .. } if message.role == Role::System => return [None, None],
            Step::Message { message, calls } => {
                let turn = self.message(message, !calls.is_empty());
                let called = (!calls.is_empty()).then(|| self.calls(message, &calls));
                return [turn, called];
            }
            Step::Answer(call, answer) => self.answer(call.call, answer),
            Step::Loose(answer) => self.result(answer.result.name.as_deref(), answer),
            Step::Missing(call) => Self::missing_result(call.call),
            Step::Inline(answer, _) => {
                let view = self.transcript.view();
                self.unmarked(answer);
                let content = answered_in_words(view, answer, &mut self.losses);
                let words = result_words(self.transcript.arena().keep(content));
                Turn {
                    role: Role::User,
                    positions: vec![answer.message.position],
                    parts: vec![TurnPart::Text(words.to_vec())],
                }
            }
        };
        [Some(turn), None]
    }

    /// Declares the cache marks on a result.
    pub(super) fn unmarked(&mut self, answer: FoundResult<'a>) {
        let cause = (LossCode::CacheMarkDropped, reasons::PATTERN_HAS_NO_CACHE_MARKS);
        self.losses
            .several(cause, answer.message.position, answer.marks());
    }

    /// Returns the turn with the content of a message other than calls; `None` if it has no such content.
    fn message(&mut self, message: &'a Message, is_calling: bool) -> Option<Turn<'a>> {
        let position = message.position;
        let has_content = message.own_parts().any(|(_, part)| match part {
            Part::Text(text) => !text.is_empty(),
            Part::Media(media) => !self.is_dropped(media),
            _ => false,
        });
        let is_call = |part: &Part| matches!(part, Part::ToolCall(_));
        if !has_content && self.transcript.view().is_own(message) && message.parts.iter().any(is_call) {
            for (_, part) in message.parts_without_results() {
                if matches!(part, Part::Media(_)) {
                    self.losses.at(reasons::POLICY_DROPS_MEDIA, position);
                }
                NO_PLACE_BESIDE_CALLS.declare(part, position, &mut self.losses);
            }
            let references = message.references.len() as u64;
            self.losses
                .several(reasons::NO_LINE_FOR_A_REPLY, position, references);
            if message.role != Role::Assistant {
                self.losses
                    .at(reasons::ONLY_THE_PERSPECTIVE_IS_THE_MODEL, position);
            }
            return None;
        }
        let turn = self.turn(message);
        match (&turn, is_calling) {
            (Some(_), true) => self.losses.at(reasons::CALLS_ARE_A_TURN, position),
            (None, false) => self.losses.at(reasons::TURN_WITHOUT_PARTS, position),
            _ => {}
        }
        turn
    }

    /// Returns the turn of a message: its line, its texts and its media; `None` if it would be empty.
    fn turn(&mut self, message: &'a Message) -> Option<Turn<'a>> {
        let (view, position) = (self.transcript.view(), message.position);
        let is_own = view.is_own(message);
        let role = if is_own { Role::Assistant } else { Role::User };
        if role != message.role {
            self.losses
                .at(reasons::ONLY_THE_PERSPECTIVE_IS_THE_MODEL, position);
        }
        let is_known_by_id = |sender: &Participant| sender.own_name().is_none() && !is_nobody(sender);
        if is_own && view.sender(message).is_some_and(is_known_by_id) {
            self.losses.at(reasons::BOT_HAS_NO_NAME, position);
        }
        let mut parts = Vec::new();
        let meta = Meta::of(self.transcript, message, &mut self.excerpts, &mut self.losses);
        let (line, fields) = meta.line(self.edition, self.transcript.arena(), position, &mut self.losses);
        if !line.is_empty() {
            self.fields += fields;
            self.lined += u64::from(message.id.is_some());
            parts.push(TurnPart::Text(line));
        }
        let mut media = Vec::new();
        for (_, part) in message.parts_without_results() {
            match part {
                Part::Text(text) => {
                    let text = declared_text(view, message, text, &mut self.losses);
                    let text = self.text(text, parts.is_empty(), position);
                    parts.extend(text);
                }
                Part::Media(medium) => media.push(medium),
                Part::ToolCall(call) if !is_own => {
                    self.losses.at(reasons::FOREIGN_CALL_AS_TEXT, position);
                    parts.push(TurnPart::Text(call_words(call).collect()));
                }
                part => NO_PLACE.declare(part, position, &mut self.losses),
            }
            let is_text = matches!(part, Part::Text(_)) || matches!(part, Part::ToolCall(_)) && !is_own;
            let moved = u64::from(is_text && !media.is_empty());
            self.losses
                .several(reasons::MEDIA_BEHIND_THE_TEXT, position, moved);
        }
        for medium in media {
            let medium = self.medium(medium, parts.is_empty(), position);
            parts.extend(medium);
        }
        (!parts.is_empty()).then(|| Turn {
            role,
            positions: vec![position],
            parts,
        })
    }

    fn text(&mut self, text: Cow<'a, str>, is_first: bool, position: u32) -> Option<TurnPart<'a>> {
        let text = if is_first {
            self.without_line(text, position)
        } else {
            self.transcript.arena().keep(text)
        };
        let words = vec![TextRun::new(text, Component::Content)];
        (!text.is_empty()).then_some(TurnPart::Text(words))
    }

    /// Escapes the first text of a turn if it begins like a line of ids, because it would be read as one.
    fn without_line(&mut self, text: Cow<'a, str>, position: u32) -> &'a str {
        let (text, is_escaped) = escape_line(text);
        if is_escaped {
            self.losses.at(reasons::TEXT_LIKE_META_LINE, position);
        }
        self.transcript.arena().keep(text)
    }

    /// Whether policy drops a media item; a plain-text document is never dropped.
    fn is_dropped(&self, media: &Media) -> bool {
        self.transcript.view().policy.media == MediaPolicy::Drop && document_text(media).is_none()
    }

    /// Returns a media item in the form of the edition, or its name as text.
    fn medium(&mut self, media: &'a Media, is_first: bool, position: u32) -> Option<TurnPart<'a>> {
        if let Some(words) = declared_document(media, position, &mut self.losses) {
            return self.text(words.into(), is_first, position);
        }
        let policy = self.transcript.view().policy.media;
        if self.is_dropped(media) {
            self.losses.at(reasons::POLICY_DROPS_MEDIA, position);
            return None;
        }
        let is_carried = policy == MediaPolicy::Keep && media.kind != MediaKind::Link;
        let media_type = media.media_type.as_deref();
        let (states_kind, part) = match &media.source {
            MediaSource::Inline(bytes) if is_carried => (
                kind_of_type(media_type) == media.kind,
                TurnPart::Inline(media_type, bytes),
            ),
            MediaSource::Url(url) if is_carried => {
                let states_kind = media_type.is_none() && media.kind == MediaKind::File;
                (states_kind, TurnPart::Linked(url, self.edition.linked_medium))
            }
            _ => {
                self.losses
                    .at((LossCode::MediaPlaceholder, reasons::MEDIUM_IS_NAMED), position);
                return self.text(placeholder(media).into(), is_first, position);
            }
        };
        let described = u64::from(media.name.is_some()) + u64::from(!states_kind);
        self.losses
            .several(reasons::MEDIUM_IS_ITS_TYPE, position, described);
        Some(part)
    }
}
