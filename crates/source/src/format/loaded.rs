//! A parsed format file: its settings, checked, and the values derived from them.

use chatmill_diag::{cut, settings_error};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::FormatTraits;

use super::language::condition::applies;
use super::language::path::MapPath;
use super::language::{Case, Language, MessageMap, Piece};
use crate::frame::Row;
use crate::layout::Requests;
use crate::source::{About, NO_TEXT_ARGUMENTS};
use crate::unread::meaningless_keys::MeaninglessKeys;

/// Bytes of the longest format file.
const MAX_BYTES: usize = 256 << 10;

/// A format file that is ready for use.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) about: &'static About,
    /// The reader of records that are requests to a vendor's API.
    pub(super) request: Option<Requests>,
    pub(super) language: &'static Language,
    /// Whether the format file is a field map: then errors use the words of the pipeline file, and one value of a repeated key is
    /// used.
    pub(super) is_map: bool,
    /// Whether a message may be a plain text.
    pub(super) allows_text: bool,
    /// First keys of the paths of a message: none may occur twice in it.
    pub(super) keys: Vec<String>,
    pub(super) meaningless_keys: MeaninglessKeys,
    /// The message maps of the cases, in order.
    cases: Vec<MessageMap>,
}

/// The error for an invalid format file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The error, with line, column and the line itself where the position is known.
    pub message: String,
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for FormatError {}

impl Loaded {
    /// Reads a format file.
    pub(super) fn parse(id: &'static str, text: &str) -> Result<Self, FormatError> {
        let format_error = |message: String| FormatError { message };
        if text.len() > MAX_BYTES {
            return Err(format_error(format!(
                "a format file has at most {MAX_BYTES} bytes"
            )));
        }
        super::check::counted(text).map_err(format_error)?;
        let language: Language =
            toml::from_str(text).map_err(|error| format_error(settings_error(text, &error.to_string())))?;
        super::check::check(&language).map_err(format_error)?;
        Ok(Self::of(id, language))
    }

    /// The values derived from a valid format file.
    pub(super) fn of(id: &'static str, language: Language) -> Self {
        let language: &'static Language = Box::leak(Box::new(language));
        let shapes = super::check::shapes(language);
        let traits = if language.text_arguments {
            FormatTraits::USUAL
        } else {
            NO_TEXT_ARGUMENTS
        };
        let is_sent = language.request.as_ref().is_some_and(|request| request.sent);
        let about: &'static About = Box::leak(Box::new(About {
            id,
            title: &language.title,
            specification: &language.specification,
            verified: &language.verified,
            shapes: Vec::leak(shapes),
            carries: &language.carries,
            traits: if is_sent { traits.of_one_request() } else { traits },
        }));
        let meaningless_keys =
            MeaninglessKeys::listed(id, &language.silent, &language.maps).with_whole(&language.kept_whole);
        let cases = language.case.iter().map(|case| case.over(&language.message));
        let cases: Vec<MessageMap> = cases.collect();
        let messages = || cases.iter().chain([&language.message]);
        let is_map = id == super::field_map::ID;
        let keys = super::check::first_keys(messages().filter(|_| !is_map));
        let allows_text = messages().any(|message| message.say.iter().any(Piece::is_whole));
        Self {
            about,
            request: language.request.as_ref().map(|map| map.reader(about)),
            keys,
            allows_text,
            is_map,
            meaningless_keys,
            cases,
            language,
        }
    }

    /// The map for this message: that of the first case that applies.
    pub(super) fn message(&self, value: Value<'_>) -> &MessageMap {
        let holds = |case: &Case| applies(&case.when, &case.unless, value);
        let case = self.language.case.iter().position(holds);
        case.map_or(&self.language.message, |at| cut::at(&self.cases, at))
    }

    /// Whether a row describes the conversation and is not a message.
    pub(super) fn is_header(&self, row: Value<'_>) -> bool {
        self.language.conversation.header.would_hold(row)
    }

    /// Whether each record is a message, or may be one.
    pub(super) fn has_rows(&self) -> bool {
        let map = &self.language.conversation;
        !map.alone && map.messages.0.iter().any(MapPath::is_root)
    }

    /// Whether a record is a message, or a list of grouped messages, and not a record with a list of messages.
    pub(super) fn is_row(&self, record: Value<'_>) -> bool {
        let lists = &self.language.conversation.messages.0;
        let mut lists = lists.iter().filter(|path| !path.is_root()).peekable();
        // If a record may also have the list of its messages, and messages name their conversation, a record with an id is a message.
        let is_mixed = lists.peek().is_some() && !self.language.message.conversation.0.is_empty();
        let first = if record.kind() == Kind::Array {
            record.items().next()
        } else {
            Some(record)
        };
        let is_message = !is_mixed || first.is_some_and(|row| self.language.message.id.id(row).is_some());
        self.has_rows() && is_message && !lists.any(|path| path.list_in(record).is_some())
    }

    /// The conversations of a row. A row about conversations that names none belongs to all of them, or to those that mention the person it is
    /// about.
    pub(super) fn row(&self, row: Value<'_>) -> Row {
        let language = &self.language;
        let key = language.message.conversation.id(row);
        if key.is_some() || language.message.conversation.0.is_empty() || !self.is_header(row) {
            return Row::of(key, row);
        }
        // Rows are found by whole words: for a name like `ann.lee` the longest word must do.
        let about = language.conversation.about.id(row).and_then(|name| {
            let words = name.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
            words.max_by_key(|word| word.len()).map(str::to_owned)
        });
        Row::shared(about.filter(|word| !word.is_empty()), row)
    }
}
