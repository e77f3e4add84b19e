//! A format file as a source: one of chatmill's own, or one that was read from outside.

use std::sync::{Mutex, OnceLock, PoisonError};

use chatmill_diag::{Finding, Limits};
use chatmill_intake::json::{Document, Kind};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::FormatTraits;
use serde::de::DeserializeOwned;

use super::field_map::{self, FieldMap};
use super::language::path::MapPath;
use super::language::{RecordMark, Signs, TableForm, WordList};
use super::loaded::{FormatError, Loaded};
use super::read;
use crate::TableMap;
use crate::frame::{FrameView, Reading, Row};
use crate::layout::{OUTSIDE_LISTS, best, columns, has, reading};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};
use crate::unread::meaningless_keys::MeaninglessKeys;

/// A source that is a format file.
#[derive(Debug)]
pub struct FormatFile {
    id: &'static str,
    text: &'static str,
    is_outside: bool,
    /// The field map of a pipeline file, if the source is one.
    map: Option<FieldMap>,
    signs: OnceLock<&'static Signs>,
    loaded: OnceLock<&'static Loaded>,
}

/// Format files from outside, and field maps of plans. Each lives as long as the program, and equal ones share an entry.
static OUTSIDE: Mutex<Vec<&'static FormatFile>> = Mutex::new(Vec::new());

/// Ids of format files that datasets name; each lives as long as the program.
static RECORDED: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The most ids of outside formats that are remembered for datasets.
const MOST_RECORDED: usize = 1_000;

/// Reads a format file from outside; `id` becomes the id of its source.
///
/// # Errors
///
/// When the file is invalid, with the place of the mistake.
pub fn load(id: &str, text: &str) -> Result<&'static FormatFile, FormatError> {
    let error = |message: String| FormatError { message };
    if !is_id(id) {
        return Err(error(format!(
            "a source has the name of its file, and `{id}` is no name for one: up to 64 small letters, digits and hyphens"
        )));
    }
    if crate::find(id).is_some() {
        return Err(error(format!(
            "chatmill has a source {id}: give the file another name"
        )));
    }
    let mut outside = OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = outside.iter().find(|file| file.id == id && file.text == text);
    if let Some(known) = known {
        return Ok(known);
    }
    let loaded: &'static Loaded = Box::leak(Box::new(Loaded::parse(leaked(id), text)?));
    if !loaded.language.table.is_empty() {
        return Err(error(
            "only built-in formats have `table`: a [table_map] in the pipeline file reads other tables"
                .to_owned(),
        ));
    }
    let file: &'static FormatFile = Box::leak(Box::new(FormatFile {
        id: loaded.about.id,
        text: leaked(text),
        is_outside: true,
        map: None,
        signs: OnceLock::new(),
        loaded: OnceLock::from(loaded),
    }));
    outside.push(file);
    Ok(file)
}

/// The source that reads by a field map.
pub fn mapped(map: FieldMap) -> &'static dyn Source {
    let mut outside = OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = outside.iter().find(|file| file.map.as_ref() == Some(&map)) {
        return *known;
    }
    let file = FormatFile::built_in(field_map::ID, field_map::DEFAULT);
    let language = map.over(embedded(file.id, file.text));
    let loaded: &'static Loaded = Box::leak(Box::new(Loaded::of(file.id, language)));
    let file: &'static FormatFile = Box::leak(Box::new(FormatFile {
        map: Some(map),
        loaded: OnceLock::from(loaded),
        ..file
    }));
    outside.push(file);
    file
}

/// The id and the format traits of a source that a dataset names: a built-in one, or a format file from
/// outside that may be gone. `None` for a name that can belong to neither.
pub fn recorded(id: &str) -> Option<(&'static str, FormatTraits)> {
    if let Some(source) = crate::find(id) {
        return Some((source.id(), source.about().traits));
    }
    if !is_id(id) {
        return None;
    }
    let mut recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = recorded.iter().copied().find(|known| *known == id);
    let id = match known {
        Some(known) => known,
        None if recorded.len() < MOST_RECORDED => {
            let id = leaked(id);
            recorded.push(id);
            id
        }
        None => return None,
    };
    // Arguments of a rendering that is read again are unchanged.
    Some((id, NO_TEXT_ARGUMENTS))
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Whether a name may be that of a source.
fn is_id(id: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
    !id.is_empty() && id.len() <= 64 && id.bytes().all(is_allowed)
}

impl FormatFile {
    /// A format file that is part of the program.
    pub(crate) const fn built_in(id: &'static str, text: &'static str) -> Self {
        Self {
            id,
            text,
            is_outside: false,
            map: None,
            signs: OnceLock::new(),
            loaded: OnceLock::new(),
        }
    }

    fn signs(&self) -> &'static Signs {
        self.signs
            .get_or_init(|| Box::leak(Box::new(embedded(self.id, self.text))))
    }

    fn loaded(&self) -> &'static Loaded {
        self.loaded
            .get_or_init(|| Box::leak(Box::new(right(self.id, Loaded::parse(self.id, self.text)))))
    }
}

/// Parses a file that is part of the program.
pub(crate) fn embedded<T: DeserializeOwned>(name: &str, text: &str) -> T {
    right(name, toml::from_str(text))
}

/// Unwraps the result of reading an embedded file; a format file from outside was checked before it became a
/// source.
fn right<T, E: std::fmt::Display>(name: &str, read: Result<T, E>) -> T {
    match read {
        Ok(read) => read,
        #[expect(clippy::panic, reason = "a test reads every file of the program")]
        Err(error) => panic!("the format file of {name} is wrong: {error}"),
    }
}

impl Source for FormatFile {
    fn about(&self) -> &'static About {
        self.loaded().about
    }

    // A search for a source by its id parses no file.
    fn id(&self) -> &'static str {
        self.id
    }

    fn written_outside(&self) -> Option<&'static str> {
        self.is_outside.then_some(self.text)
    }

    fn meaningless_keys(&self) -> &'static MeaninglessKeys {
        &self.loaded().meaningless_keys
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        let signs = self.signs();
        let own = |record: &RecordSketch| {
            let marks = signs.recognise.iter().filter(|mark| mark.is_met_by(record));
            let surest = marks.reduce(|best, mark| if mark.sure > best.sure { mark } else { best })?;
            Some((surest.sure, surest.why.clone()))
        };
        let request = signs.request.and_then(|_| self.loaded().request.as_ref());
        let known = match request {
            Some(request) => request.recognise_by(sketch, own),
            None => best(sketch, own),
        };
        known.or_else(|| {
            let beside = self.ignored_kind(sketch)?;
            Some((
                98,
                vec![format!(
                    "records are those of another file of the export: {beside}"
                )],
            ))
        })
    }

    fn ignored_kind(&self, sketch: &Sketch) -> Option<&'static str> {
        let beside = &self.signs().beside;
        let has_all =
            |names: &[String], record: &RecordSketch| names.iter().all(|name| names_it(record, name));
        let found = beside
            .iter()
            .find(|beside| sketch.records.iter().any(|record| has_all(&beside.has, record)));
        found.map(|beside| beside.title.as_str())
    }

    fn tables(&self) -> Vec<TableMap> {
        let tables = self.signs().table.iter();
        let map = |table: &TableForm| TableMap {
            name: self.id.to_owned(),
            source: self.id.to_owned(),
            table: table.name.clone(),
            requires: table.has.clone(),
            json: table.json.clone(),
            ..TableMap::default()
        };
        tables.map(map).collect()
    }

    fn needs_map(&self) -> bool {
        self.id == field_map::ID
    }

    fn warnings(&self, sketch: &Sketch) -> Vec<Finding> {
        let messages = self.loaded().language.conversation.messages.0.first();
        let Some(messages) = messages.filter(|_| self.needs_map()) else {
            return Vec::new();
        };
        // The default's other paths were not written by the user and need not match.
        let default = FieldMap {
            messages: messages.clone(),
            ..FieldMap::default()
        };
        self.map.as_ref().unwrap_or(&default).unmatched(sketch)
    }

    fn groups_rows(&self, sketch: &Sketch) -> bool {
        let loaded = self.loaded();
        if let Some(request) = &loaded.request {
            return request.are_turns(sketch);
        }
        let map = &loaded.language.conversation;
        let names: Vec<&str> = map.messages.0.iter().map(MapPath::name).collect();
        let is_list = |record: &RecordSketch| {
            let mut names = names.iter().filter(|name| !name.is_empty());
            names.any(|name| names_it(record, name) || names_it(record, name.trim_end_matches("[]")))
        };
        map.join || loaded.has_rows() && !sketch.records.iter().any(is_list)
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let (loaded, root) = (self.loaded(), document.root());
        if let Some(request) = &loaded.request {
            return request.turn_rows(document);
        }
        if loaded.has_rows() {
            if !loaded.is_row(root) {
                return None;
            }
            return match root.kind() {
                Kind::Array => Some(root.items().map(|row| loaded.row(row)).collect()),
                Kind::Object => Some(vec![loaded.row(root)]),
                _ => None,
            };
        }
        let map = &loaded.language.conversation;
        if map.alone {
            return None;
        }
        map.messages.first(root)?;
        Some(vec![Row::of(Some(map.id.id(root)?), root)])
    }

    fn merges(&self) -> bool {
        self.loaded().language.conversation.join
    }

    fn can_merge(&self) -> bool {
        let loaded = self.loaded();
        let names_it = !loaded.language.message.conversation.0.is_empty();
        loaded.language.conversation.join || loaded.has_rows() && names_it
    }

    fn has_scattered_messages(&self) -> bool {
        let loaded = self.loaded();
        let map = &loaded.language.conversation;
        // A row may be several messages: text, a call, its result.
        map.join || !map.each.0.is_empty() || !map.inside.0.is_empty() || loaded.has_rows() && !loaded.is_map
    }

    fn message_path(&self, index: u32) -> Option<String> {
        let loaded = self.loaded();
        if let Some(request) = &loaded.request {
            return request.form.path(index);
        }
        let list = loaded.language.conversation.messages.0.first();
        if list.is_some_and(MapPath::is_root) {
            return Some("$".to_owned());
        }
        let list = list.filter(|_| !self.has_scattered_messages() && index != OUTSIDE_LISTS)?;
        Some(format!("{}[{index}]", list.list()))
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let loaded = self.loaded();
        if let Some(request) = &loaded.request {
            return request.reading_spelled(*frame, limits);
        }
        let read = read::read(loaded, *frame, limits);
        if loaded.language.thoughts_in_text {
            reading(loaded.about, read)
        } else {
            loaded.about.stored(read)
        }
    }
}

impl RecordMark {
    /// Whether a record meets the conditions.
    fn is_met_by(&self, record: &RecordSketch) -> bool {
        let has_words = |(name, wanted): (&String, &WordList)| {
            let named = record.names.get(name);
            let mut words = named.into_iter().flat_map(|name| &name.words);
            words.any(|word| wanted.all().iter().any(|pattern| is_like(word, pattern)))
        };
        let is_text = |name: &String| {
            let mut texts = record.strings.iter().chain(&record.starts);
            texts.any(|(key, _)| key == name)
        };
        self.has.iter().all(|name| names_it(record, name))
            && (self.any.is_empty() || self.any.iter().any(|name| names_it(record, name)))
            && !self.lacks.iter().any(|name| names_it(record, name))
            && (self.only_list.is_empty() || {
                let wanted: Vec<&str> = self.only_list.iter().map(String::as_str).collect();
                columns::name_alone(record, &wanted).is_some()
            })
            && self.text.iter().all(is_text)
            && self.says.iter().all(has_words)
            && !self.denies.iter().any(has_words)
    }
}

/// Whether a word matches a pattern, which may begin or end in `*`.
fn is_like(word: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(inner), Some(_)) => word.contains(inner.trim_end_matches('*')),
        (Some(end), None) => word.ends_with(end),
        (None, Some(start)) => word.starts_with(start),
        (None, None) => word == pattern,
    }
}

/// Whether a record has a name.
fn names_it(record: &RecordSketch, name: &str) -> bool {
    record.names(name) || has(record, name)
}
