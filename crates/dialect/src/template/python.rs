//! Prints values as Python does: `str`, `repr` and `json.dumps`, byte for byte, because templates rely on them.

use std::fmt::{self, Write as _};

use chatmill_diag::limits::TEMPLATE_DEPTH;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::{marked_value, measured, meter};

/// Whether `str.splitlines` breaks a line at a character.
pub(super) fn breaks_line(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Implements `str(value)`; an undefined value prints nothing.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    if value.is_undefined() {
        return Ok(String::new());
    }
    meter::can_hold(measured::measure(value)?.printed())?;
    let mut out = String::new();
    repr(&mut out, value, 0)?;
    Ok(out)
}

fn too_deep() -> Error {
    Error::new(ErrorKind::InvalidOperation, "the value is nested too deeply")
}

/// Implements `repr(value)`.
fn repr(out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
    if depth > TEMPLATE_DEPTH {
        return Err(too_deep());
    }
    match value.kind() {
        ValueKind::String => quoted(out, value.as_str().unwrap_or_default()),
        ValueKind::Number if !value.is_integer() => match f64::try_from(value.clone()) {
            Ok(number) => out.push_str(&float(number)),
            Err(_) => out.push_str(&value.to_string()),
        },
        ValueKind::Map => {
            out.push('{');
            for (index, key) in value.try_iter()?.enumerate() {
                separate(out, index, ", ");
                repr(out, &key, depth + 1)?;
                out.push_str(": ");
                repr(out, &value.get_item(&key)?, depth + 1)?;
            }
            out.push('}');
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let (opening, closing) = if value.is_tuple() { ('(', ')') } else { ('[', ']') };
            out.push(opening);
            let mut count = 0;
            for (index, member) in value.try_iter()?.enumerate() {
                separate(out, index, ", ");
                repr(out, &member, depth + 1)?;
                count = index + 1;
            }
            if count == 1 && value.is_tuple() {
                out.push(',');
            }
            out.push(closing);
        }
        ValueKind::Undefined => out.push_str("Undefined"),
        _ => out.push_str(&value.to_string()),
    }
    Ok(())
}

fn separate(out: &mut String, index: usize, separator: &str) {
    if index > 0 {
        out.push_str(separator);
    }
}

/// Implements `repr` of a string: in single quotes, unless the text has a single quote and no double quote.
fn quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            character if character == quote => out.extend(['\\', character]),
            character if is_printable(character) => out.push(character),
            character if u32::from(character) <= 0xff => {
                push(out, format_args!("\\x{:02x}", u32::from(character)));
            }
            character if u32::from(character) <= 0xffff => {
                push(out, format_args!("\\u{:04x}", u32::from(character)));
            }
            character => push(out, format_args!("\\U{:08x}", u32::from(character))),
        }
    }
    out.push(quote);
}

/// Appends formatted text, which cannot fail.
fn push(out: &mut String, formatted: fmt::Arguments<'_>) {
    let _ = out.write_fmt(formatted);
}

/// Implements `str.isprintable`, except for unassigned code points.
fn is_printable(character: char) -> bool {
    let is_format = matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0001}'..='\u{e007f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}');
    character == ' ' || !(character.is_control() || character.is_whitespace() || is_format)
}

/// Implements `repr` of a float: the shortest digits that read back, with an exponent below 1e-4 and from 1e16 on.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = number.to_string();
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// The options of `json.dumps` that templates can set.
struct DumpOptions {
    ensure_ascii: bool,
    sort_keys: bool,
    indent: Option<String>,
    between_members: String,
    behind_key: String,
}

/// Implements the filter `tojson` of transformers: `json.dumps` without escapes for HTML and non-ASCII characters.
pub(super) fn tojson(value: &Value, options: &Kwargs) -> Result<String, Error> {
    let indent = match options.get::<Option<Value>>("indent")? {
        None => None,
        Some(value) if value.is_none() => None,
        Some(value) => Some(match value.as_str() {
            Some(text) => text.to_owned(),
            None => " ".repeat(value.as_usize().unwrap_or_default().min(64)),
        }),
    };
    let default = if indent.is_some() { "," } else { ", " };
    let mut dump = DumpOptions {
        ensure_ascii: options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
        sort_keys: options.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        indent,
        between_members: default.to_owned(),
        behind_key: ": ".to_owned(),
    };
    if let Some(separators) = options.get::<Option<Value>>("separators")?
        && !separators.is_none()
    {
        dump.between_members = text(&separators.get_item_by_index(0)?)?;
        dump.behind_key = text(&separators.get_item_by_index(1)?)?;
    }
    options.assert_all_used()?;
    let indents = dump
        .indent
        .as_ref()
        .map_or(0, |indent| indent.len().saturating_add(1));
    let around = indents
        .saturating_mul(TEMPLATE_DEPTH)
        .saturating_add(dump.between_members.len())
        .saturating_add(dump.behind_key.len());
    let most = measured::measure(value)?.spread(around as u64);
    meter::can_hold(most)?;
    meter::handles(most)?;
    let mut out = String::new();
    dump.value(&mut out, value, 0)?;
    Ok(out)
}

impl DumpOptions {
    fn value(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > TEMPLATE_DEPTH {
            return Err(too_deep());
        }
        match value.kind() {
            ValueKind::String => self.string(out, value.as_str().unwrap_or_default()),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::None => out.push_str("null"),
            ValueKind::Number => out.push_str(&number(value)),
            ValueKind::Map => self.map(out, value, depth)?,
            ValueKind::Seq | ValueKind::Iterable => {
                out.push('[');
                let mut is_empty = true;
                for (index, member) in value.try_iter()?.enumerate() {
                    self.member(out, index, depth);
                    self.value(out, &member, depth + 1)?;
                    is_empty = false;
                }
                self.end(out, is_empty, depth);
                out.push(']');
            }
            ValueKind::Plain if marked_value::is_digits(value) => out.push_str(&value.to_string()),
            other => {
                let message = format!("Object of type {other} is not JSON serializable");
                return Err(Error::new(ErrorKind::BadSerialization, message));
            }
        }
        Ok(())
    }

    fn map(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        if self.sort_keys {
            keys.sort();
        }
        out.push('{');
        for (index, key) in keys.iter().enumerate() {
            self.member(out, index, depth);
            match (key.kind(), key.as_str()) {
                (_, Some(text)) => self.string(out, text),
                (ValueKind::Bool, _) => self.string(out, if key.is_true() { "true" } else { "false" }),
                (ValueKind::None, _) => self.string(out, "null"),
                _ => self.string(out, &number(key)),
            }
            out.push_str(&self.behind_key);
            self.value(out, &value.get_item(key)?, depth + 1)?;
        }
        self.end(out, keys.is_empty(), depth);
        out.push('}');
        Ok(())
    }

    fn member(&self, out: &mut String, index: usize, depth: usize) {
        separate(out, index, &self.between_members);
        self.line(out, depth + 1);
    }

    fn end(&self, out: &mut String, is_empty: bool, depth: usize) {
        if !is_empty {
            self.line(out, depth);
        }
    }

    fn line(&self, out: &mut String, depth: usize) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            for _ in 0..depth {
                out.push_str(indent);
            }
        }
    }

    fn string(&self, out: &mut String, text: &str) {
        if !self.ensure_ascii {
            chatmill_model::json::push_string(out, text);
            return;
        }
        let mut escaped = String::new();
        chatmill_model::json::push_string(&mut escaped, text);
        for character in escaped.chars() {
            let is_marked = meter::is_of_mark(character) && meter::is_marking();
            if character.is_ascii() && character != '\u{7f}' || is_marked {
                out.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    push(out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
}

/// Returns a number as JSON; infinite and undefined numbers have Python's names.
fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    match f64::try_from(value.clone()) {
        Ok(number) if number.is_nan() => "NaN".to_owned(),
        Ok(number) if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Ok(number) => float(number),
        Err(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_python() {
        let cases = [
            (1e-7, "1e-07"),
            (1.5e300, "1.5e+300"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (2.0, "2.0"),
            (-0.0, "-0.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::INFINITY, "inf"),
        ];
        for (number, expected) in cases {
            assert_eq!(float(number), expected);
        }
    }

    #[test]
    fn values_print_as_python_prints_them() {
        let list = Value::from(vec![
            Value::from("it's"),
            Value::from("a\"b'\n\u{7}\u{200b}é"),
            Value::from(true),
            Value::from(()),
            Value::from(1e-7),
        ]);
        assert_eq!(
            text(&list).unwrap(),
            r#"["it's", 'a"b\'\n\x07\u200bé', True, None, 1e-07]"#
        );
        let map = Value::from_pairs([("k", Value::from(1)), ("a", Value::from(vec![2.0]))]);
        assert_eq!(text(&map).unwrap(), "{'k': 1, 'a': [2.0]}");
        assert_eq!(text(&Value::UNDEFINED).unwrap(), "");
    }

    #[test]
    fn json_is_spaced_and_escaped_as_python_does_it() {
        let value = Value::from_pairs([
            ("b", Value::from("<é\u{1f600}\u{7f}\n>")),
            ("a", Value::from(vec![1, 2])),
            ("c", Value::from(Vec::<i32>::new())),
        ]);
        let dumped =
            |options: Vec<(&'static str, Value)>| tojson(&value, &Kwargs::from_iter(options)).unwrap();
        assert_eq!(
            dumped(vec![]),
            "{\"b\": \"<é\u{1f600}\u{7f}\\n>\", \"a\": [1, 2], \"c\": []}"
        );
        assert_eq!(
            dumped(vec![("ensure_ascii", true.into()), ("sort_keys", true.into())]),
            r#"{"a": [1, 2], "b": "<\u00e9\ud83d\ude00\u007f\n>", "c": []}"#
        );
        assert_eq!(
            dumped(vec![("indent", 2.into())]),
            "{\n  \"b\": \"<é\u{1f600}\u{7f}\\n>\",\n  \"a\": [\n    1,\n    2\n  ],\n  \"c\": []\n}"
        );
        assert_eq!(
            dumped(vec![("separators", Value::from(vec![",", ":"]))]),
            "{\"b\":\"<é\u{1f600}\u{7f}\\n>\",\"a\":[1,2],\"c\":[]}"
        );
    }

    #[test]
    fn values_without_a_bottom_are_refused() {
        let mut value = Value::from(1);
        for _ in 0..=TEMPLATE_DEPTH + 1 {
            value = Value::from(vec![value]);
        }
        assert!(text(&value).is_err());
        assert!(tojson(&value, &Kwargs::from_iter(Vec::<(&str, Value)>::new())).is_err());
    }
}
