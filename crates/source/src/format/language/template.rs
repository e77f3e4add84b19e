//! Texts that a format file composes: a path, a text with placeholders, or lines of such.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::RawJson;
use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::Budget;
use super::condition::{Conditions, applies};
use super::path::MapPath;
use super::several::{OneOrMany, string_or_table};
use crate::base::{id, left, quoted};

/// Texts; the first one that is not empty is used.
pub(in crate::format) type Texts = OneOrMany<Template>;

/// A text: a path like `$.text`, a text with placeholders like `{name}: {value}`, or lines.
#[derive(Clone, Debug, JsonSchema)]
#[serde(untagged)]
pub(in crate::format) enum Template {
    /// A path, or a text with placeholders, which is empty if all its placeholders are empty.
    Words(Filled),
    /// Several texts, one below the other.
    Lines(Lines),
}

string_or_table!(Template: Words, Lines);

/// A path, or a text with placeholders: `{a.b}` is the value at `$.a.b`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub(in crate::format) enum Filled {
    /// The text at a path.
    At(MapPath),
    /// Pieces of text, each followed by a placeholder except perhaps the last.
    Placeholders(Vec<(String, Option<MapPath>)>),
}

/// Texts on separate lines; an empty text has no line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Lines {
    /// The condition under which the texts are used.
    #[serde(default)]
    pub when: Conditions,
    /// The condition under which the texts are not used.
    #[serde(default)]
    pub unless: Conditions,
    /// The elements with such lines; paths below start at each.
    pub each: Option<MapPath>,
    /// The texts.
    #[serde(rename = "lines")]
    pub texts: Vec<Template>,
    /// The separator between the texts, and between elements; a line break if absent.
    #[serde(default = "line_break")]
    pub join: String,
}

fn line_break() -> String {
    "\n".to_owned()
}

impl TryFrom<String> for Filled {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.starts_with('$') {
            return MapPath::parse(&text).map(Self::At);
        }
        let mut placeholders = Vec::new();
        let mut rest = text.as_str();
        while let Some((words, after)) = rest.split_once('{') {
            let (name, after) = after
                .split_once('}')
                .ok_or_else(|| format!("`{text}` has a placeholder that does not end with }}"))?;
            let path = match name {
                "$" => MapPath::default(),
                name if name.starts_with('[') => MapPath::parse(&format!("${name}"))?,
                name => MapPath::parse(&format!("$.{name}"))?,
            };
            placeholders.push((words.to_owned(), Some(path)));
            rest = after;
        }
        if placeholders.is_empty() {
            return Err(format!(
                "`{text}` is neither a path, which begins with $, nor has a placeholder like {{name}}"
            ));
        }
        placeholders.push((rest.to_owned(), None));
        Ok(Self::Placeholders(placeholders))
    }
}

impl Template {
    /// The path, if the template is nothing else.
    pub(in crate::format) fn path(&self) -> Option<&MapPath> {
        match self {
            Self::Words(Filled::At(path)) => Some(path),
            _ => None,
        }
    }

    /// The text that the template gives for a value.
    pub(in crate::format) fn render(&self, value: Value<'_>, read: Read<'_>) -> String {
        match self {
            Self::Words(Filled::At(path)) => {
                let texts = path.find(value).into_iter().map(|value| read.text(value));
                read.joined(texts, "\n")
            }
            Self::Words(Filled::Placeholders(placeholders)) => {
                let (mut filled, mut is_filled) = (String::new(), false);
                for (words, placeholder) in placeholders {
                    let filling = placeholder.as_ref().and_then(|path| path.first(value));
                    let filling = filling.map(|value| read.text(value)).unwrap_or_default();
                    if !read.budget.allows(filled.len() + words.len() + filling.len()) {
                        return String::new();
                    }
                    is_filled |= !filling.is_empty();
                    filled.push_str(words);
                    filled.push_str(&filling);
                }
                if is_filled { filled } else { String::new() }
            }
            Self::Lines(lines) => lines.render(value, read),
        }
    }
}

impl Lines {
    fn render(&self, value: Value<'_>, read: Read<'_>) -> String {
        let of = |value: Value<'_>| {
            if !applies(&self.when, &self.unless, value) {
                return String::new();
            }
            read.joined(self.texts.iter().map(|line| line.render(value, read)), &self.join)
        };
        match &self.each {
            Some(path) => read.joined(path.find(value).into_iter().map(of), &self.join),
            None => of(value),
        }
    }
}

impl Texts {
    /// The id given by the first template that matches.
    pub(in crate::format) fn id(&self, value: Value<'_>) -> Option<String> {
        let budget = Budget::of(value);
        let read = Read {
            mojibake: false,
            budget: &budget,
        };
        let mut texts = self.0.iter().filter_map(|text| match text.path() {
            Some(path) => path.first(value).and_then(id),
            None => Some(text.render(value, read)).filter(|text| !text.is_empty()),
        });
        texts.next()
    }

    /// The text of the first template that gives one; empty if none does.
    pub(in crate::format) fn render(&self, value: Value<'_>, read: Read<'_>) -> String {
        let mut texts = self.0.iter().map(|text| text.render(value, read));
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }
}

/// How the strings of a format are decoded, and the bytes that may be made of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct Read<'r> {
    /// Whether the strings were decoded as Latin-1, though they are UTF-8.
    pub mojibake: bool,
    /// The bytes that may still be made of the record.
    pub budget: &'r Budget,
}

impl Read<'_> {
    /// Joins the texts that are not empty, as far as the budget allows.
    fn joined(self, texts: impl Iterator<Item = String>, join: &str) -> String {
        let mut all = String::new();
        for text in texts.filter(|text| !text.is_empty()) {
            let join = if all.is_empty() { "" } else { join };
            if !self.budget.allows(all.len() + join.len() + text.len()) {
                return String::new();
            }
            all.push_str(join);
            all.push_str(&text);
        }
        all
    }

    /// A value as text: a string unquoted, null as the empty text, any other value as JSON.
    pub(in crate::format) fn text(self, value: Value<'_>) -> String {
        match value.as_str() {
            Some(text) => self.decoded(text.into_owned()),
            None if value.kind() == Kind::Null => String::new(),
            None => crate::base::text_of(value),
        }
    }

    /// A value that is kept, with its texts decoded.
    pub(in crate::format) fn raw(self, value: Value<'_>) -> RawJson {
        let raw = left(value);
        if !self.mojibake || raw.0.is_ascii() && !raw.0.contains("\\u") {
            return raw;
        }
        let mut own = String::new();
        self.write(value, &mut own);
        RawJson(own)
    }

    /// Writes a value as JSON, with its texts decoded. The scanner bounds the depth of this recursion.
    fn write(self, value: Value<'_>, to: &mut String) {
        match value.kind() {
            // The copy reads nothing: what is in it stays unread.
            Kind::String => {
                let text = value.string().unwrap_or_default();
                to.push_str(&quoted(&self.decoded(text.into_owned())).0);
            }
            Kind::Array => {
                to.push('[');
                for (at, item) in value.items().enumerate() {
                    to.push_str(if at > 0 { "," } else { "" });
                    self.write(item, to);
                }
                to.push(']');
            }
            Kind::Object => {
                to.push('{');
                for (at, (key, field)) in value.fields().enumerate() {
                    to.push_str(if at > 0 { "," } else { "" });
                    to.push_str(&quoted(&key).0);
                    to.push(':');
                    self.write(field, to);
                }
                to.push('}');
            }
            Kind::Null | Kind::Bool(_) | Kind::Number => to.push_str(value.raw()),
        }
    }

    /// The original text, if it was UTF-8 decoded as Latin-1.
    pub(in crate::format) fn decoded(self, text: String) -> String {
        if !self.mojibake || text.is_ascii() {
            return text;
        }
        let bytes: Option<Vec<u8>> = text
            .chars()
            .map(|sign| u8::try_from(u32::from(sign)).ok())
            .collect();
        bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .unwrap_or(text)
    }
}
