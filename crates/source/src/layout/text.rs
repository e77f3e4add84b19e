//! A record that is one text: a file that is not JSON, a JSON string, or an object with `text`. Messages have
//! their places in the bytes of the text.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Places, Value};
use chatmill_model::{Conversation, MediaKind, Message, MessageKind, Role, Timestamp};

use crate::frame::{FrameView, Reading};
use crate::layout::{Turns, list};

/// Reads the pieces of one text as messages, from the beginning to the end.
pub(crate) struct TextReader<'d, 'r> {
    pub turns: Turns<'d, 'r>,
    /// The start of the string's content in the frame.
    start: usize,
    /// Maps places in the text to places in its JSON string.
    places: Places<'d>,
}

impl<'d, 'r> TextReader<'d, 'r> {
    /// A reader without messages, its string, and the text of the string.
    pub(crate) fn open(
        frame: FrameView<'d>,
        limits: &'r Limits,
    ) -> Result<(Self, Value<'d>, Cow<'d, str>), Box<Finding>> {
        let value = if frame.root().kind() == Kind::String {
            frame.root()
        } else {
            list::single(frame, "text")?
        };
        let Some(text) = value.as_str() else {
            return Err(frame.error(&codes::WRONG_TYPE, "text is not a string", "$.text", value));
        };
        let raw = value.raw();
        let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        let reader = Self {
            turns: Turns::new(frame, limits),
            start: value.span().start + 1,
            places: Places::new(inside.as_bytes()),
        };
        Ok((reader, value, text))
    }

    /// Finishes the conversation.
    pub(crate) fn finish(self, conversation: Conversation) -> Reading {
        self.turns.finish(conversation)
    }

    /// The bytes of the frame for a range of the text. Ranges must be requested in ascending order.
    pub(crate) fn written(&mut self, range: Range<usize>) -> Range<usize> {
        let start = self.start + self.places.written(range.start);
        start..self.start + self.places.written(range.end)
    }

    /// Counts and rejects a range of the text that belongs to no turn.
    pub(crate) fn outside(&mut self, range: Range<usize>, why: &str) {
        let span = self.written(range);
        self.turns.list.rows.rows += 1;
        let finding = Finding::new(&codes::TEXT_OUTSIDE_TURNS, why);
        self.turns.list.reject(span, finding.at_path("$.text"));
    }

    /// Counts the element at a place, and begins its message.
    pub(crate) fn begin(&mut self, role: Role, span: Range<usize>) -> Message {
        self.turns.list.rows.rows += 1;
        let position = self.turns.list.messages.len() as u32;
        self.turns.list.message(role, span, position)
    }

    /// Adds the message as a notice.
    pub(crate) fn notice(&mut self, message: Message) {
        let kind = MessageKind::Notice;
        self.turns.list.push(Message { kind, ..message });
    }

    /// The time of the next message, without an offset: in ISO 8601, and as written. An impossible date is reported.
    pub(crate) fn time(&mut self, iso: Option<&str>, raw: &str, span: Range<usize>) -> Option<Timestamp> {
        let position = self.turns.list.messages.len() as u32;
        let place = self.turns.list.frame.span(span);
        let export_path = |finding: Finding| {
            let finding = finding.at_message(position, None, "");
            finding.at_span(place.start, place.end)
        };
        if let Some(iso) = iso {
            return Some(self.turns.times.naive(iso, raw.to_owned(), export_path));
        }
        let text = "the date or the time is impossible in the order of this chat's dates";
        let finding = Finding::new(&codes::TIMESTAMP_UNUSABLE, text).quoting(raw);
        self.turns.list.notes.findings.push(export_path(finding));
        None
    }
}

/// The kind of a file by the extension of its name.
pub(crate) fn kind_of_name(name: &str) -> MediaKind {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "jpg" | "jpeg" | "png" | "gif" | "webp" | "heic" => MediaKind::Image,
        "opus" | "ogg" | "mp3" | "m4a" | "aac" | "wav" => MediaKind::Audio,
        "mp4" | "mov" | "3gp" | "webm" => MediaKind::Video,
        _ => MediaKind::File,
    }
}
