//! Reading the pieces of a message: text, thoughts, files, calls and results. [`PieceReader`] follows a list of pieces in a format file,
//! and collects the content of a message in a [`MessageDraft`].

mod details;
mod draft;

use std::path::Path;

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{ArgumentForm, Arguments, Media, MediaKind, MediaSource, Part, ToolCall, ToolResult};

use super::language::budget::bytes_of;
use super::language::condition::{Chosen, applies, chosen};
use super::language::path::{MapPath, Paths};
use super::language::template::{Read, Texts};
use super::language::{Again, CallMap, FileMap, Piece, ResultMap};
use super::loaded::Loaded;
use super::request::GrammarWord;
use crate::base::texts::quoted_json;
use crate::base::{
    Keep as _, Notes, Site, Turn, UnknownFields, arguments, holds_something, join_texts, kind_of, media,
    text_of,
};
use crate::grammar::openai::{self, calls, parts};
use crate::grammar::{self, Grammar, OPENAI};

pub(super) use draft::MessageDraft;

/// Reads the pieces of a message.
#[derive(Clone, Copy)]
pub(super) struct PieceReader<'r> {
    pub(super) format: &'static Loaded,
    pub(super) limits: &'r Limits,
    pub(super) read: Read<'r>,
    /// The grammar for elements that the format's own parts do not read, if the format names one.
    pub(super) grammar: Option<&'static Grammar>,
    /// Whether the message is from a model.
    pub(super) is_answer: bool,
}

impl PieceReader<'_> {
    /// The reader with the grammar of another vendor.
    fn with(self, GrammarWord(grammar): GrammarWord) -> Self {
        Self {
            grammar: Some(grammar),
            ..self
        }
    }

    /// Reads the pieces of a value, in order.
    pub(super) fn read(self, say: &[Piece], value: Value<'_>, draft: &mut MessageDraft, site: &mut Site<'_>) {
        for piece in say {
            let Some(path) = &piece.within else {
                self.one_or_each(piece, value, draft, site);
                continue;
            };
            let Some(text) = path.first(value) else { continue };
            let Some(document) = quoted_json::open(text, self.limits) else {
                draft.words(self.read.text(text));
                continue;
            };
            // Positions inside the text mean nothing outside of it.
            let mut notes = Notes::new(0);
            self.one_or_each(piece, document.root(), draft, &mut site.inside(&mut notes, text));
            for finding in notes.findings {
                let export_path = site.notes.spanned(finding, text.span());
                site.notes.findings.push(export_path);
            }
        }
    }

    /// Reads a piece once, or for each of its elements.
    fn one_or_each(self, piece: &Piece, value: Value<'_>, draft: &mut MessageDraft, site: &mut Site<'_>) {
        if applies_here(piece, value) {
            let Some(each) = &piece.each else {
                self.piece(piece, value, "", draft, site);
                return;
            };
            let list = each.name();
            let list = list.trim_end_matches("[]");
            for (index, element) in each.find(value).into_iter().enumerate() {
                if element.kind() != Kind::Object && !piece.is_of_scalars() {
                    let one = list.strip_suffix('s').unwrap_or(list);
                    let place = format!("{list}[{index}]");
                    site.warn(
                        &place,
                        &format!("the {one} is not an object and is kept as it is"),
                        element,
                    );
                    draft.extra.keep(place, element);
                } else if applies(&piece.when, &piece.unless, element) {
                    self.piece(piece, element, &format!("{list}[{index}]"), draft, site);
                }
            }
        }
    }

    /// Reads a piece at `place` in the message; a piece of the message itself has an empty place.
    fn piece(
        self,
        piece: &Piece,
        value: Value<'_>,
        place: &str,
        draft: &mut MessageDraft,
        site: &mut Site<'_>,
    ) {
        if self.read.budget.is_spent() {
            return;
        }
        if piece.step {
            draft.end_answer();
        }
        let (start, extras) = (draft.parts.len(), draft.extra.len());
        let thought = piece.reasoning.render(value, self.read);
        if !thought.is_empty() {
            draft.parts.push(Part::Reasoning(thought));
        }
        if let Some((map, media)) = piece
            .file
            .as_ref()
            .and_then(|map| Some((map, self.file(map, value)?)))
        {
            let caption = map.caption.first(value).map(|words| self.read.text(words));
            let caption = caption.filter(|words| !words.is_empty() && media.name.as_ref() != Some(words));
            draft.parts.push(Part::Media(media));
            draft.parts.extend(caption.map(Part::Text));
        }
        let before = draft.parts.len();
        self.text(&piece.text, value, place, draft, site);
        if piece.details {
            self.details(before, value, draft, site);
        }
        if piece.unquoted {
            for part in draft.parts.iter_mut().skip(before) {
                if let Part::Text(text) = part {
                    unquote(text);
                }
            }
        }
        if let Some(path) = &piece.content {
            path.each(value, |found| {
                content(found, &joined(place, path.name()), draft, site);
            });
        }
        if let Some(text) = piece.turns.as_ref().and_then(|path| path.first(value)?.as_str()) {
            draft.written_out(&text);
        }
        if let Some(list) = piece.parts.as_ref().and_then(|path| path.first(value)) {
            let name = piece.parts.as_ref().map(MapPath::name).unwrap_or_default();
            let reader = piece.grammar.map_or(self, |grammar| self.with(grammar));
            reader.parts(list, &joined(place, name), draft, site);
        }
        if let Some((path, message)) = piece
            .message
            .as_ref()
            .and_then(|path| Some((path, path.first(value)?)))
        {
            let from = draft.extra.len();
            let turn = match piece.grammar {
                Some(GrammarWord(grammar)) => grammar.turn_of_known_fields(message, site),
                None => grammar::any(message, &OPENAI, site),
            };
            draft.extra.extend(turn.rest);
            draft.tools.extend(turn.tools);
            let name = joined(place, path.name());
            for (key, _) in draft.extra.iter_mut().skip(from).filter(|_| !name.is_empty()) {
                *key = format!("{name}.{key}");
            }
            let begin = draft.parts.len();
            draft.parts.extend(turn.parts);
            // If there are several messages, each has a separate speaker.
            let inner_role = turn.role.filter(|_| piece.each.is_some());
            draft
                .other_roles
                .extend(inner_role.map(|role| (begin..draft.parts.len(), role)));
            draft.role = draft.role.or(turn.role);
            draft.name = draft.name.take().or(turn.name);
            draft.id = draft.id.take().or(turn.id);
        }
        if let Some(call) = &piece.call {
            draft
                .parts
                .push(Part::ToolCall(Self::call(call, value, place, site)));
        }
        if let Some(list) = piece.calls.as_ref().and_then(|path| path.first(value)) {
            match calls::calls(list, &mut draft.extra, site) {
                Some(calls) => draft.parts.extend(calls.into_iter().map(Part::ToolCall)),
                None => draft.extra.keep("tool_calls", list),
            }
        }
        if let Some(result) = &piece.result {
            self.result(result, value, place, draft, site);
        }
        for path in &piece.keep {
            path.each(value, |found| {
                if holds_something(found) {
                    draft.extra.keep(joined(place, path.name()), found);
                }
            });
        }
        let inner_role = piece.role.map(|role| (start..draft.parts.len(), role));
        draft.other_roles.extend(inner_role);
        for key in &piece.ignore {
            value.get(key).inspect(|value| value.mark(Mark::Taken));
        }
        let bytes = bytes_of(draft.parts.iter().skip(start), draft.extra.iter().skip(extras));
        self.read.budget.take(bytes);
    }

    /// Reads text: from the first of several places that has some.
    fn text(
        self,
        texts: &Texts,
        value: Value<'_>,
        place: &str,
        draft: &mut MessageDraft,
        site: &mut Site<'_>,
    ) {
        for text in &texts.0 {
            let before = draft.parts.len();
            if let Some(path) = text.path() {
                path.each(value, |found| {
                    self.words(found, || joined(place, path.name()), draft, site);
                });
            } else {
                draft.words(text.render(value, self.read));
            }
            if draft.parts.len() > before {
                return;
            }
        }
    }

    /// Reads a value as text: a string, or a list of parts.
    fn words(
        self,
        value: Value<'_>,
        field: impl Fn() -> String,
        draft: &mut MessageDraft,
        site: &mut Site<'_>,
    ) {
        match value.kind() {
            Kind::String => {
                draft.words(self.read.text(value));
            }
            Kind::Array if value.is_empty() => {}
            Kind::Array if parts::is_parts(value) || self.are_parts(value) => {
                self.parts(value, &field(), draft, site);
            }
            _ => {
                let field = field();
                let text = format!("{field} is not a string and is kept as it is");
                site.error(&field, &text, value);
                draft.extra.keep(field, value);
            }
        }
    }

    /// Whether all elements of a list are texts or parts that the format can read.
    fn are_parts(self, list: Value<'_>) -> bool {
        let is_part =
            |rule: &Piece, value: Value<'_>| rule.when.would_hold(value) && !rule.unless.would_hold(value);
        let rules = &self.format.language.part;
        let mut all = list.items();
        all.all(|value| value.kind() == Kind::String || rules.iter().any(|rule| is_part(rule, value)))
    }

    /// Reads the elements of a list of parts.
    fn parts(self, list: Value<'_>, field: &str, draft: &mut MessageDraft, site: &mut Site<'_>) {
        if list.kind() == Kind::String && self.grammar.is_some_and(Grammar::may_be_text) {
            draft.words(self.read.text(list));
            return;
        }
        if list.kind() != Kind::Array {
            let text = format!("{field} is not a list of blocks and is read as its text");
            match self.grammar {
                Some(_) => site.error(field, &text, list),
                None => site.warn(field, &text, list),
            }
            draft.words(self.read.text(list));
            return;
        }
        let from = draft.parts.len();
        for (index, element) in list.items().enumerate() {
            let place = format!("{field}[{index}]");
            if self.part(element, &place, draft, site) {
                continue;
            }
            if element.kind() == Kind::String {
                draft.parts.push(Part::Text(self.read.text(element)));
                continue;
            }
            let text = "the block has no form that is known here and is kept as it is";
            let kind = element.get("type").unwrap_or(element);
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, format!(".{place}"), kind);
            draft.gaps.push(draft.parts.len());
            draft.extra.keep_reported(place, element);
        }
        if self.is_answer && self.grammar.is_some_and(|grammar| grammar.joins_texts) {
            join_texts(&mut draft.parts, from, &std::mem::take(&mut draft.gaps));
        }
    }

    /// Reads an element of a list of parts by the format's rules, else as vendors' APIs write parts. `false` if neither reads it.
    fn part(self, element: Value<'_>, place: &str, draft: &mut MessageDraft, site: &mut Site<'_>) -> bool {
        let mut rules = self.format.language.part.iter();
        if let Some(rule) = rules.find(|rule| applies(&rule.when, &rule.unless, element)) {
            self.piece(rule, element, place, draft, site);
            return true;
        }
        let mut turn = Turn {
            unknown_fields: self
                .grammar
                .map_or(UnknownFields::Retained, |_| UnknownFields::Unread),
            ..Turn::default()
        };
        let grammars = self.grammar.into_iter().chain([&OPENAI]);
        let is_read = grammars
            .into_iter()
            .any(|grammar| grammar.block(&mut turn, place, element, site));
        let before = draft.parts.len();
        draft.gaps.extend(turn.gaps.iter().map(|gap| before + gap));
        draft.parts.extend(turn.parts);
        draft.extra.extend(turn.rest);
        is_read
    }

    fn call(map: &CallMap, value: Value<'_>, place: &str, site: &mut Site<'_>) -> ToolCall {
        let given = map.arguments.found(value);
        let given = given.map_or_else(
            || (Arguments::Malformed(String::new()), ArgumentForm::Text),
            |(given, name)| arguments(Some(given), &joined(place, name), site),
        );
        ToolCall::new(map.id.id(value), map.name.id(value), given)
    }

    fn result(
        self,
        map: &ResultMap,
        value: Value<'_>,
        place: &str,
        draft: &mut MessageDraft,
        site: &mut Site<'_>,
    ) {
        let at = map.content.0.iter().find_map(|text| {
            let path = text.path()?;
            Some((path.first(value)?, path.name()))
        });
        let is_there = at.is_some();
        let (content, others) = match at {
            Some((found, name)) if is_shown(found) => self.shown(found, &joined(place, name), draft, site),
            Some((found, name)) if found.kind() != Kind::String => {
                openai::answered(found, &joined(place, name), &mut draft.extra, site)
            }
            _ => (map.content.render(value, self.read).into(), Vec::new()),
        };
        if !is_there && content.text.is_empty() && map.optional {
            return;
        }
        let result = ToolResult {
            call_id: map.call.id(value),
            name: map.name.id(value),
            is_error: map.error.hold(value),
            ..ToolResult::default()
        };
        draft.parts.extend(media::result_of(result, (content, others)));
    }

    /// The content shown by a list of parts: its texts, and the parts that are no text.
    fn shown(
        self,
        list: Value<'_>,
        field: &str,
        draft: &mut MessageDraft,
        site: &mut Site<'_>,
    ) -> (media::ResultText, Vec<Part>) {
        let mut inside = MessageDraft::default();
        for (index, element) in list.items().enumerate() {
            let place = format!("{field}[{index}]");
            if !self.part(element, &place, &mut inside, site) {
                inside.extra.keep(place, element);
            }
        }
        draft.extra.extend(inside.extra);
        media::divided(inside.parts)
    }

    /// A file; `None` without any fact about it.
    fn file(self, map: &FileMap, value: Value<'_>) -> Option<Media> {
        let read = self.read;
        let word = |paths: &Paths| paths.id(value).map(|word| read.decoded(word));
        let (name, url, data) = (word(&map.name), word(&map.url), word(&map.data));
        if name.is_none() && url.is_none() && data.is_none() {
            return None;
        }
        let media_type = word(&map.media_type).filter(|word| word.contains('/'));
        let draft = chosen(&map.kind.0, value).and_then(|chosen| match chosen {
            Chosen::Fixed(word) => kind_of_word(word),
            Chosen::Found(word) => kind_of_word(&word.as_str()?),
        });
        let by_name = || name.as_deref().or(url.as_deref()).and_then(kind_of_name);
        let kind = draft.or_else(|| kind_of(media_type.as_deref())).or_else(by_name);
        let kind = kind.unwrap_or(MediaKind::File);
        if let Some(bytes) = data {
            return Some(Media {
                media_type,
                ..media::located(kind, bytes.clone(), name.clone())
            })
            .map(|media| match media.source {
                MediaSource::Url(_) => Media {
                    source: MediaSource::Inline(bytes),
                    ..media
                },
                _ => media,
            });
        }
        let path_name = || {
            url.as_deref()
                .and_then(|path| path.rsplit('/').next())
                .map(str::to_owned)
        };
        let address = url
            .as_ref()
            .filter(|url| url.contains("://") || url.starts_with("data:"));
        Some(match address {
            Some(address) => {
                let located = media::located(kind, address.clone(), name);
                let media_type = media_type.or(located.media_type);
                Media {
                    media_type,
                    ..located
                }
            }
            None => Media {
                kind,
                source: MediaSource::Upload,
                media_type,
                name: name.clone().or_else(path_name),
            },
        })
    }

    /// Reads a second copy of the content: if its text differs, it is kept as an extra field, or becomes the content of an empty
    /// message.
    pub(super) fn again(
        self,
        again: &Again,
        value: Value<'_>,
        draft: &mut MessageDraft,
        site: &mut Site<'_>,
    ) {
        let Some(beside) = again.text.first(value) else {
            return;
        };
        let name = again.text.name();
        let Some(text) = beside.as_str() else {
            site.warn(name, &format!("{name} is not a string and is left out"), beside);
            return;
        };
        let words = |text: &str| -> String { text.split_whitespace().collect() };
        let own = draft.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(words(text)),
            _ => None,
        });
        let own: String = own.collect();
        let has_words = draft.parts.iter().any(|part| !matches!(part, Part::Media(_)));
        let is_placeholder = again
            .placeholder
            .as_ref()
            .is_some_and(|sentence| text.contains(sentence.as_str()));
        let is_repeated = if again.say {
            own.contains(&words(&text))
        } else {
            own.ends_with(&words(&text))
        };
        if text.is_empty() || is_placeholder && has_words || is_repeated {
            return;
        }
        if has_words && !own.is_empty() && !again.say {
            draft.extra.keep(name, beside);
        } else {
            draft.parts.push(Part::Text(self.read.decoded(text.into_owned())));
        }
    }
}

/// Reads text in any of the usual forms.
fn content(value: Value<'_>, field: &str, draft: &mut MessageDraft, site: &mut Site<'_>) {
    let is_text = |text: Value<'_>| text.kind() == Kind::String;
    match value.kind() {
        Kind::Number => draft.parts.push(Part::Text(value.raw().to_owned())),
        Kind::Array if value.items().all(is_text) => {
            let texts = value.items().map(text_of);
            draft.parts.extend(texts.map(Part::Text));
        }
        _ => {
            let parts = openai::content_parts(value, field, &mut draft.extra, site);
            draft.parts.extend(parts);
        }
    }
}

/// Whether a piece applies; if it has elements, each of them is tested separately.
fn applies_here(piece: &Piece, value: Value<'_>) -> bool {
    piece.each.is_some() || applies(&piece.when, &piece.unless, value)
}

/// Whether a value is a list of parts with at least one text.
fn is_shown(list: Value<'_>) -> bool {
    let mut items = list.items();
    items.any(|part| part.get("text").is_some_and(|text| text.kind() == Kind::String))
}

/// Removes the leading lines of a text that quote another message, if text follows them.
fn unquote(text: &mut String) {
    let quotes = text
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('>'));
    let end = quotes.map(str::len).sum();
    let own = text.get(end..).unwrap_or_default();
    let own = own.strip_prefix('\n').unwrap_or(own);
    if end > 0 && !own.is_empty() {
        *text = own.to_owned();
    }
}

/// Joins a place of a message and a path in it.
fn joined(place: &str, name: &str) -> String {
    match (place, name) {
        (place, "") => place.to_owned(),
        ("", name) => name.to_owned(),
        (place, name) => format!("{place}.{name}"),
    }
}

fn kind_of_word(word: &str) -> Option<MediaKind> {
    let begins = |start: &str| word.starts_with(start);
    Some(match word {
        _ if begins("image") || begins("photo") || begins("picture") || begins("gif") => MediaKind::Image,
        _ if begins("audio") || begins("sound") || begins("voice") => MediaKind::Audio,
        _ if begins("video") => MediaKind::Video,
        _ if begins("file") || begins("document") => MediaKind::File,
        _ => return None,
    })
}

/// The kind of media for the extension of a file name.
fn kind_of_name(name: &str) -> Option<MediaKind> {
    let ending = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => MediaKind::Image,
        "mp3" | "ogg" | "wav" | "m4a" | "flac" => MediaKind::Audio,
        "mp4" | "webm" | "mov" => MediaKind::Video,
        _ => return None,
    })
}
