//! The reference of pipeline files, in `docs/settings.md`: every key of the schema, with what `xtask/settings.toml` adds to it.
//!
//! The schema has the type, the default and the sentence of a key. The table has an example, a limit where there is one, the version
//! that brought the key, and the commands that read it. A key without a line there is an error, as are a line without a key and an
//! example that no pipeline file may hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use chatmill_engine::pipeline;
use chatmill_report::numbers::count;
use serde::Deserialize;
use serde_json::Value;

/// The facts about a section and its keys that the schema does not have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    since: String,
    commands: Vec<String>,
    #[serde(default)]
    keys: BTreeMap<String, KeyLine>,
}

/// The facts about a key that the schema does not have; version and commands only where they differ from those of the section.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyLine {
    example: toml::Value,
    limit: Option<String>,
    /// The default, where the schema has none because the program decides at run time.
    default: Option<String>,
    since: Option<String>,
    commands: Option<Vec<String>>,
}

/// Renders the keys of all sections as Markdown.
pub(crate) fn reference(schema: &Value, table: &str) -> Result<String> {
    let sections: BTreeMap<String, Section> = toml::from_str(table)?;
    let mut page = SettingsPage {
        schema,
        sections: &sections,
        written: BTreeSet::new(),
        text: "## Top level\n\n".to_owned(),
    };
    page.section("", schema)?;
    for (path, section) in &sections {
        for key in section.keys.keys().map(|key| join(path, key)) {
            if !page.written.contains(&key) {
                bail!("`{key}` has a line, and is no key of the schema");
            }
        }
    }
    Ok(page.text)
}

/// The page while it is written.
struct SettingsPage<'s> {
    schema: &'s Value,
    sections: &'s BTreeMap<String, Section>,
    written: BTreeSet<String>,
    text: String,
}

impl<'s> SettingsPage<'s> {
    /// Writes the keys of an object, then those of the objects in it.
    fn section(&mut self, path: &str, object: &'s Value) -> Result<()> {
        let missing = || format!("`{}` has no section", heading(path));
        let section = self.sections.get(path).with_context(missing)?;
        let mut inner = Vec::new();
        for (key, value) in entries(object, "properties") {
            let found = self.inner(value);
            if found.is_none_or(|(suffix, _)| suffix == FORMS) {
                let line = section.keys.get(key);
                let line = line.with_context(|| format!("`{}` has no line", join(path, key)))?;
                self.key(path, section, object, (key, line, value))?;
            }
            inner.extend(found.map(|(suffix, object)| (key, value, suffix, object)));
        }
        for (key, value, suffix, object) in inner {
            let path = join(path, key) + suffix.trim_end_matches('?');
            write!(self.text, "## `{}`\n\n{}\n\n", heading(&path), about(value)?)?;
            let of_file = self.schema.pointer(&format!("/properties/{key}"));
            if path != *key && of_file.is_some_and(|same| std::ptr::eq(self.resolved(same), object)) {
                write!(self.text, "The keys are those of [`[{key}]`](#{key}).\n\n")?;
            } else {
                self.section(&path, object)?;
            }
        }
        Ok(())
    }

    fn key(
        &mut self,
        path: &str,
        section: &Section,
        object: &Value,
        (key, line, value): (&str, &KeyLine, &'s Value),
    ) -> Result<()> {
        let full = join(path, key);
        let required: Vec<&str> = elements(object, "required").filter_map(Value::as_str).collect();
        let default = if required.contains(&key) {
            "none, the key is required".to_owned()
        } else {
            line.default.clone().map_or_else(|| default(value), Ok)?
        };
        let limit = line.limit.as_deref().or_else(|| {
            let is_count = self.resolved(value).get("minimum").is_some();
            is_count.then_some("0 or more")
        });
        let limit = limit.map_or_else(String::new, |limit| format!(" · **Limit**: {limit}"));
        let since = line.since.as_ref().unwrap_or(&section.since);
        let commands = line.commands.as_ref().unwrap_or(&section.commands);
        let commands: Vec<String> = commands.iter().map(|command| linked(command)).collect();
        writeln!(self.text, "### `{}`\n\n{}\n", shown(&full), about(value)?)?;
        let mut words = Vec::new();
        self.words(value, &mut words);
        for word in &words {
            writeln!(self.text, "- {word}")?;
        }
        let gap = if words.is_empty() { "" } else { "\n" };
        writeln!(
            self.text,
            "{gap}**Type**: {} · **Default**: {default}{limit} · **Since**: {since} · **Read by**: {}\n",
            self.kind(value),
            commands.join(", "),
        )?;
        let mut example = String::new();
        if !path.is_empty() {
            writeln!(example, "{}", heading(path))?;
        }
        for needed in required
            .into_iter()
            .filter(|needed| *needed != key && !path.is_empty())
        {
            if let Some(line) = section.keys.get(needed) {
                writeln!(example, "{needed} = {}", line.example)?;
            }
        }
        writeln!(example, "{key} = {}", line.example)?;
        is_valid(path, &example).with_context(|| format!("in the example of `{full}`"))?;
        writeln!(self.text, "```toml\n{example}```\n")?;
        self.written.insert(full);
        Ok(())
    }

    /// Returns the object of a key, and the path to its keys.
    fn inner(&self, value: &'s Value) -> Option<(&'static str, &'s Value)> {
        let value = self.resolved(value);
        let element = value.get("items").map(|element| self.resolved(element));
        let forms = element.into_iter().flat_map(|element| elements(element, "anyOf"));
        let named = value.get("additionalProperties");
        let objects = [("", Some(value)), (".NAME", named), ("[]", element)].into_iter();
        objects
            .filter_map(|(suffix, object)| Some((suffix, self.resolved(object?))))
            .chain(forms.map(|form| (FORMS, self.resolved(form))))
            .find(|(_, object)| object.get("properties").is_some())
    }

    /// Follows a reference to its definition, and an optional value to the value.
    fn resolved(&self, value: &'s Value) -> &'s Value {
        let definition = value.get("$ref").and_then(Value::as_str);
        if let Some(definition) =
            definition.and_then(|name| self.schema.pointer(name.trim_start_matches('#')))
        {
            return self.resolved(definition);
        }
        let mut forms = elements(value, "anyOf").filter(|form| !is_null(form));
        match (forms.next(), forms.next()) {
            (Some(form), None) => self.resolved(form),
            _ => value,
        }
    }

    fn kind(&self, value: &'s Value) -> String {
        let value = self.resolved(value);
        if value.get("oneOf").is_some() {
            return "string".to_owned();
        }
        let forms: Vec<String> = elements(value, "anyOf")
            .filter(|form| !is_null(form))
            .map(|form| self.kind(form))
            .collect();
        if !forms.is_empty() {
            return forms.join(" or ");
        }
        let named = value.get("type").and_then(|kind| match kind {
            Value::Array(kinds) => kinds.first(),
            kind => Some(kind),
        });
        let of = |key| value.get(key).filter(|inner| inner.is_object());
        match named.and_then(Value::as_str) {
            Some("array") => of("items").map_or_else(
                || "list".to_owned(),
                |element| format!("list of {}s", self.kind(element).replace(" or ", "s or ")),
            ),
            Some("object") => of("additionalProperties").map_or_else(
                || "table".to_owned(),
                |value| format!("table with a {} for each name", self.kind(value)),
            ),
            Some(kind) => kind.to_owned(),
            None => "any value".to_owned(),
        }
    }

    /// Describes the words that a key allows.
    fn words(&self, value: &'s Value, words: &mut Vec<String>) {
        let value = self.resolved(value);
        for word in elements(value, "oneOf") {
            if let (Some(name), Ok(about)) = (word.get("const"), about(word)) {
                words.push(format!("`{name}`: {about}"));
            }
        }
        for form in elements(value, "anyOf").filter(|form| !is_null(form)) {
            let before = words.len();
            self.words(form, words);
            if let (true, Ok(about)) = (words.len() == before, about(form)) {
                words.push(format!("{}: {about}", self.kind(form)));
            }
        }
        for inner in ["items", "additionalProperties"] {
            value
                .get(inner)
                .into_iter()
                .for_each(|inner| self.words(inner, words));
        }
    }
}

/// The path from a list to those of its elements that are tables, where others are words.
const FORMS: &str = "[]?";

fn elements<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn entries<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> + use<'v> {
    value.get(key).and_then(Value::as_object).into_iter().flatten()
}

fn is_null(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("null")
}

fn about(value: &Value) -> Result<String> {
    let about = value.get("description").and_then(Value::as_str);
    Ok(about
        .with_context(|| format!("no description: {value}"))?
        .replace('\n', " "))
}

fn default(value: &Value) -> Result<String> {
    let default = value.get("default").filter(|default| !default.is_null());
    Ok(match default {
        None => "none".to_owned(),
        Some(default) if default.is_u64() => {
            let number = default.as_u64().map_or_else(String::new, count);
            format!("`{}`", number.replace(',', "_"))
        }
        Some(default) => format!("`{}`", toml::Value::try_from(default)?),
    })
}

/// Returns the name of a command on the page; all commands that make a dataset share one.
fn linked(command: &str) -> String {
    if command == "runs" {
        "[runs](#commands)".to_owned()
    } else {
        format!("`{command}`")
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// Returns a path in the form that messages have.
fn shown(path: &str) -> String {
    path.replace("[]", "")
}

/// Returns the heading of a section in the file.
fn heading(path: &str) -> String {
    match path.strip_suffix("[]") {
        Some(list) => format!("[[{}]]", shown(list)),
        None => format!("[{}]", shown(path)),
    }
}

/// Reads an example as part of the smallest pipeline file.
fn is_valid(path: &str, example: &str) -> Result<()> {
    let mut text = example.to_owned();
    for (section, least) in [
        ("input[]", "[[input]]\npath = \"a\"\n"),
        ("output", "[output]\npath = \"b\"\n"),
        ("table_map.NAME", "[table_map.NAME]\ntable = \"c\"\n"),
    ] {
        if path != section {
            text.push_str(least);
        }
    }
    pipeline::parse(&text, &[], Path::new("example.toml"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "properties": {
                "name": {"type": "string", "description": "The name.", "default": ""},
                "window": {"$ref": "#/$defs/Window", "description": "Windows."},
            },
            "$defs": {"Window": {"properties": {
                "overlap": {"type": "integer", "minimum": 0, "description": "The\noverlap.", "default": 20_000},
            }}},
        })
    }

    const TABLE: &str = "[\"\"]\nsince = \"0.1.0\"\ncommands = [\"runs\"]\nkeys.name = { example = \"a\" }\n\
                         [window]\nsince = \"0.2.0\"\ncommands = [\"runs\", \"tokens\"]\n";

    fn page(line: &str) -> Result<String> {
        reference(&schema(), &format!("{TABLE}{line}\n"))
    }

    #[test]
    fn a_key_has_sentence_type_default_limit_version_commands_and_example() {
        let page = page("keys.overlap = { example = 4 }").unwrap();
        let expected = "## `[window]`\n\nWindows.\n\n### `window.overlap`\n\nThe overlap.\n\n\
                        **Type**: integer · **Default**: `20_000` · **Limit**: 0 or more · **Since**: 0.2.0 · \
                        **Read by**: [runs](#commands), `tokens`\n\n```toml\n[window]\noverlap = 4\n```\n";
        assert!(page.contains(expected), "{page}");
    }

    #[test]
    fn a_key_without_a_line_and_a_line_without_a_key_are_errors() {
        let error = page("").unwrap_err().to_string();
        assert_eq!(error, "`window.overlap` has no line");
        let error = page("keys.overlap = { example = 4 }\nkeys.gap = { example = 4 }").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`window.gap` has a line, and is no key of the schema"
        );
    }

    #[test]
    fn an_example_that_is_not_valid_is_an_error() {
        let error = page("keys.overlap = { example = \"four\" }").unwrap_err();
        assert_eq!(error.to_string(), "in the example of `window.overlap`");
    }
}
