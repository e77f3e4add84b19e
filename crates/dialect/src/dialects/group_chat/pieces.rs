//! The parts of a message that have a place in the format.

use chatmill_model::{Media, MediaSource, Message, MessageKind, Part, Role, ToolCall, ToolResult};

use crate::loss::{LossCode, Losses, reasons};
use crate::messages::unsupported::NoPlace;
use crate::text::json;
use crate::text::media::{document_text, is_web_address};

/// Fields of `extra` in which archives keep an address.
pub(super) const ADDRESSES: [&str; 6] = ["url", "file_url", "image_url", "audio_url", "video_url", "link"];

/// The parts of a message that have a place in the format.
pub(super) struct Pieces<'a> {
    kind: MessageKind,
    /// The role that is written.
    pub(super) role: Role,
    pub(super) texts: Vec<&'a str>,
    pub(super) medium: Option<&'a Media>,
    /// Calls, each with its index among the parts.
    pub(super) calls: Vec<(usize, &'a ToolCall)>,
    /// The result with its index among the parts.
    pub(super) result: Option<(usize, &'a ToolResult)>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(message: &'a Message, losses: &mut Losses) -> Self {
        let position = message.position;
        let answers = |part: &Part| matches!(part, Part::ToolResult(_));
        let is_event = message.kind == MessageKind::Notice
            || message.role == Role::System && !message.parts.iter().any(answers);
        let mut pieces = Self {
            kind: message.kind,
            role: message.role,
            texts: Vec::new(),
            medium: None,
            calls: Vec::new(),
            result: None,
        };
        // Number of media that follow a dropped result and belong to it.
        let mut media_of_dropped = 0;
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                Part::Text(text) | Part::Notice(text) => {
                    if pieces.medium.is_some() || !pieces.calls.is_empty() {
                        losses.at(reasons::TEXT_BEFORE_MEDIA_AND_CALLS, position);
                    }
                    pieces.texts.push(text);
                }
                Part::Media(_) | Part::ToolCall(_) | Part::ToolResult(_) if is_event => {
                    let code = match part {
                        Part::ToolCall(_) => LossCode::ToolCallDropped,
                        Part::ToolResult(_) => LossCode::ToolResultDropped,
                        _ => LossCode::MediaDropped,
                    };
                    losses.at((code, reasons::EVENTS_ARE_TEXT_ONLY), position);
                }
                Part::Media(_) if media_of_dropped > 0 => {
                    media_of_dropped -= 1;
                    losses.at(reasons::MEDIUM_OF_A_DROPPED_RESULT, position);
                }
                Part::Media(media) if document_text(media).is_some() => {
                    losses.at((LossCode::PartFlattened, reasons::DOCUMENT_IS_TEXT), position);
                    pieces.texts.extend(media.name.as_deref());
                    pieces.texts.extend(document_text(media));
                }
                Part::Media(media) if pieces.medium.is_none() => {
                    let moved = u64::from(!pieces.calls.is_empty());
                    losses.several(reasons::MEDIUM_BEFORE_CALLS, position, moved);
                    pieces.medium = Some(media);
                }
                Part::Media(_) => {
                    losses.at(reasons::ONE_MEDIUM, position);
                }
                Part::ToolCall(call) => pieces.calls.push((index, call)),
                Part::ToolResult(result) if pieces.result.is_none() => {
                    let moved = u64::from(pieces.medium.is_some());
                    losses.several(reasons::TEXT_BEFORE_MEDIA_AND_CALLS, position, moved);
                    pieces.result = Some((index, result));
                    pieces.role = Role::Tool;
                    pieces.texts.push(&result.content);
                    if result.is_error {
                        losses.at(reasons::FORMAT_HAS_NO_FAILURES, position);
                    }
                }
                Part::ToolResult(result) => {
                    media_of_dropped = result.media;
                    losses.at(reasons::ONE_RESULT, position);
                }
                Part::Reasoning(_) | Part::CacheMark | Part::Item(_) => {
                    NoPlace::FORMAT.declare(part, position, losses);
                }
            }
        }
        if pieces.result.is_some() {
            let calls = std::mem::take(&mut pieces.calls).len() as u64;
            losses.several(reasons::RESULT_BESIDE_THE_CALL, position, calls);
        }
        let joined = (pieces.texts.len() as u64).saturating_sub(1);
        losses.several(reasons::JOINED_INTO_THE_CONTENT, position, joined);
        let is_inline = |media: &Media| matches!(media.source, MediaSource::Inline(_));
        if pieces.medium.is_some_and(is_inline) {
            losses.at(reasons::NO_BYTES_OF_MEDIA, position);
        }
        pieces
    }

    /// Whether the message is system text for an assistant, rather than an event in a chat.
    pub(super) fn is_system_text(&self) -> bool {
        self.kind == MessageKind::Message && self.role == Role::System
    }

    /// Returns the address of the media item, if it has one.
    pub(super) fn address(&self) -> Option<&'a str> {
        match &self.medium?.source {
            MediaSource::Url(url) => Some(url),
            MediaSource::Inline(_) | MediaSource::Text(_) | MediaSource::Upload => None,
        }
    }

    /// Whether the address is the content: there is no text, and `extra` does not have the address.
    pub(super) fn content_is_address(&self, message: &Message) -> bool {
        self.texts.is_empty()
            && self.address().is_some_and(|url| {
                is_web_address(url) && !url.contains(char::is_whitespace) && !holds_address(message, url)
            })
    }
}

/// Whether `extra` has this address.
pub(super) fn holds_address(message: &Message, url: &str) -> bool {
    ADDRESSES
        .iter()
        .filter_map(|key| message.extra.get(key))
        .any(|raw| json::decode_string(raw.as_str()).as_deref() == Some(url))
}
