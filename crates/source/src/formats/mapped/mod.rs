//! Any JSON, by a field map of the pipeline file that says where messages are and where in them the words, the speaker, the
//! time.
//!
//! The smallest record that the default map reads:
//!
//! ```json
//! {"id": "desk-1", "messages": [{"role": "user", "text": "Is it open?"}, {"role": "assistant", "text": "Until four."}]}
//! ```
//!
//! A record holds a conversation; where `messages` is `$`, each record is a message, and those of one conversation are gathered.
//! What no path leads to is kept among the extra fields. Such a format is never recognised: the map must be named.

mod map;
mod rest;
mod turns;

use std::sync::{LazyLock, Mutex, PoisonError};

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::Sketch;
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_model::{Conversation, Customs, Extra};

use crate::format::MapPath;
use crate::frame::{FrameView, Reading, Row};
use crate::reader::{id, reading, too_many};
use crate::source::{About, Source};
pub use map::FieldMap;
use turns::Reader;

const ID: &str = "mapped";

/// The source `mapped`, with a map of the pipeline file; without one, that of a record with the map's own names.
#[derive(Debug, Default)]
pub struct Mapped {
    /// The map; none for the default.
    map: Option<FieldMap>,
}

static ABOUT: About = About {
    id: ID,
    title: "Any JSON, by a field map",
    specification: "the paths that [field_map] of the pipeline file names",
    shapes: &["mapped"],
    carries: "roles, speakers, times, replies, text, pictures, sound and files, tool calls and results",
    customs: Customs::USUAL,
};

/// The source `mapped` with the default map.
pub static MAPPED: Mapped = Mapped { map: None };

static DEFAULT: LazyLock<FieldMap> = LazyLock::new(FieldMap::default);

/// Every map that a plan named so far; a map lives as long as the program, and equal maps are one.
static NAMED: Mutex<Vec<&'static Mapped>> = Mutex::new(Vec::new());

/// The source that reads by this map.
pub fn mapped(map: FieldMap) -> &'static dyn Source {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = named
        .iter()
        .copied()
        .find(|source| source.map.as_ref() == Some(&map));
    known.unwrap_or_else(|| {
        let source: &'static Mapped = Box::leak(Box::new(Mapped { map: Some(map) }));
        named.push(source);
        source
    })
}

impl Mapped {
    fn map(&self) -> &FieldMap {
        self.map.as_ref().unwrap_or(&DEFAULT)
    }

    fn key(&self, record: Value<'_>) -> String {
        let path = self.map().conversation.as_ref();
        path.and_then(|path| path.first(record))
            .and_then(id)
            .unwrap_or_default()
    }
}

impl Source for Mapped {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, _sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        None
    }

    fn needs_map(&self) -> bool {
        true
    }

    fn doubts(&self, sketch: &Sketch) -> Vec<Finding> {
        let mut doubts = self.map().unmatched(sketch);
        // Nobody wrote down that every path of the default leads somewhere.
        if *self.map() == FieldMap::default() {
            doubts.retain(|doubt| doubt.message.starts_with("messages "));
        }
        doubts
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        reading(ABOUT.customs, self.conversation(*frame, limits))
    }

    fn message_path(&self, index: u32) -> Option<String> {
        let list = &self.map().messages;
        if list.is_root() {
            return Some("$".to_owned());
        }
        let path = list.as_str();
        Some(format!("{}[{index}]", path.strip_suffix("[*]").unwrap_or(path)))
    }

    fn can_merge(&self) -> bool {
        self.map().messages.is_root()
    }

    fn gathers(&self, _sketch: &Sketch) -> bool {
        self.map().messages.is_root()
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        Row::cut(document.root(), |row| Some(self.key(row)))
    }
}

impl Mapped {
    fn conversation(&self, frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
        let map = self.map();
        let root = frame.root();
        let found = map.messages.find(root);
        if found.is_empty() {
            let path = map.messages.as_str();
            let text = format!("messages = \"{path}\" of the field map matches nothing in the record");
            return Err(frame.fault(&codes::MISSING_FIELD, text, "$", root));
        }
        let mut lists = found.iter();
        if let Some(text) = lists.find_map(|list| too_many(*list, "the conversation", "messages", limits)) {
            return Err(frame.fault(&codes::CONVERSATION_TOO_LARGE, text, "$", root));
        }
        let messages = found.into_iter().flat_map(|value| match value.kind() {
            Kind::Array => value.items().collect(),
            _ => vec![value],
        });
        let mut reader = Reader::new(map, frame, limits);
        for (index, message) in (0..).zip(messages) {
            reader.read(index, message);
        }
        let is_row = map.messages.is_root();
        let source_id = frame.key.map(str::to_owned).or_else(|| {
            let key = self.key(root);
            (!key.is_empty()).then_some(key)
        });
        let mut extra = Extra::default();
        if !is_row {
            let paths = map.of_record().map(|(_, path)| path);
            let paths: Vec<&MapPath> = paths.chain([&map.messages]).collect();
            rest::keep(root, &paths, &mut extra.0);
        }
        let title = map.title.as_ref().filter(|_| !is_row);
        Ok(reader.finish(Conversation {
            source: ID,
            source_id,
            shape: "mapped",
            title: title.and_then(|path| path.first(root)).and_then(id),
            extra,
            ..Conversation::default()
        }))
    }
}
