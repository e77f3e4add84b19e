//! A format file that was read: what it says, checked, and what follows from that.

use chatmill_diag::cut;
use chatmill_intake::json::Value;
use chatmill_model::Customs;

use super::language::condition::applies;
use super::language::path::MapPath;
use super::language::template::Read;
use super::language::{Case, Language, MessageMap};
use super::request;
use crate::frame::Row;
use crate::silence::Silence;
use crate::source::{About, NO_TEXT_ARGUMENTS};

/// Bytes of the longest format file.
const MAX_BYTES: usize = 256 << 10;

/// A format file, as it is used.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) about: &'static About,
    /// How it is read, where its records are requests to a vendor's API.
    pub(super) request: Option<request::RequestReader>,
    pub(super) language: &'static Language,
    /// First keys of the paths of a message: none may stand there twice.
    pub(super) keys: Vec<String>,
    pub(super) read: Read,
    pub(super) silence: Silence,
    /// Messages of each case.
    cases: Vec<MessageMap>,
}

/// Why a format file is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatFault {
    /// What is wrong, with line, column and the line itself where it has a place.
    pub message: String,
}

impl std::fmt::Display for FormatFault {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for FormatFault {}

impl Loaded {
    /// Reads a format file.
    pub(super) fn parse(id: &'static str, text: &str) -> Result<Self, FormatFault> {
        let fault = |message: String| FormatFault { message };
        if text.len() > MAX_BYTES {
            return Err(fault(format!("a format file has at most {MAX_BYTES} bytes")));
        }
        let language: Language = toml::from_str(text).map_err(|error| fault(error.to_string()))?;
        super::check::check(&language).map_err(fault)?;
        let language: &'static Language = Box::leak(Box::new(language));
        let shapes = super::check::shapes(language);
        let customs = if language.text_arguments {
            Customs::USUAL
        } else {
            NO_TEXT_ARGUMENTS
        };
        let is_sent = language.request.as_ref().is_some_and(|request| request.sent);
        let about: &'static About = Box::leak(Box::new(About {
            id,
            title: &language.title,
            specification: &language.specification,
            shapes: Vec::leak(shapes),
            carries: &language.carries,
            customs: if is_sent {
                customs.of_one_request()
            } else {
                customs
            },
        }));
        let silence = Silence::listed(id, &language.silent, &language.silent_words, &language.maps)
            .with_whole(&language.kept_whole);
        let cases = language.case.iter().map(|case| case.over(&language.message));
        let cases: Vec<MessageMap> = cases.collect();
        Ok(Self {
            about,
            request: language
                .request
                .as_ref()
                .map(|map| request::RequestReader::of(map, about)),
            keys: super::check::first_keys(cases.iter().chain([&language.message])),
            read: Read {
                mojibake: language.mojibake,
            },
            silence,
            cases,
            language,
        })
    }

    /// What a message is like: the first case that holds.
    pub(super) fn message(&self, value: Value<'_>) -> &MessageMap {
        let holds = |case: &Case| applies(&case.when, &case.unless, value);
        let case = self.language.case.iter().position(holds);
        case.map_or(&self.language.message, |at| cut::at(&self.cases, at))
    }

    /// Whether a row says something of the conversation, and is no message.
    pub(super) fn is_header(&self, row: Value<'_>) -> bool {
        self.language.conversation.header.would_hold(row)
    }

    /// Whether each record is a message, or may be one.
    pub(super) fn has_rows(&self) -> bool {
        let map = &self.language.conversation;
        !map.alone && map.messages.0.iter().any(MapPath::is_root)
    }

    /// Whether a record is a message, or a list of such that were gathered: none of it is a list of messages.
    pub(super) fn is_row(&self, record: Value<'_>) -> bool {
        let lists = &self.language.conversation.messages.0;
        let mut lists = lists.iter().filter(|path| !path.is_root());
        self.has_rows() && !lists.any(|path| path.list_in(record).is_some())
    }

    /// Whose a row is. One that says something of conversations, and names none, is of all of them, or of those that name whom it is
    /// about.
    pub(super) fn row(&self, row: Value<'_>) -> Row {
        let language = &self.language;
        let key = language.message.conversation.id(row);
        if key.is_some() || language.message.conversation.0.is_empty() || !self.is_header(row) {
            return Row::of(key, row);
        }
        // Rows are found by whole words: of a name like `ann.lee` the longest has to do.
        let about = language.conversation.about.id(row).and_then(|name| {
            let words = name.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
            words.max_by_key(|word| word.len()).map(str::to_owned)
        });
        Row::shared(about.filter(|word| !word.is_empty()), row)
    }
}
