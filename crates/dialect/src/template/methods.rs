//! Methods, filters and tests that differ between minijinja and Python's Jinja: in white space, in what is a sequence, and for undefined
//! values. All others are those of minijinja and of its shim for Python's methods.

use std::borrow::Cow;

use minijinja::value::{Kwargs, Tuple, ValueKind, from_args};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};
use minijinja_contrib::pycompat;

use super::marked_value::is_digits;
use super::{attributes, costs, measured, python};

/// Registers the methods, filters and tests in an environment.
pub(super) fn register(environment: &mut Environment<'_>) {
    costs::register(environment);
    environment.set_unknown_method_callback(method);
    for (name, filter) in [
        ("trim", Value::from_function(trim)),
        ("string", Value::from_function(python::text)),
        ("length", Value::from_function(length)),
        ("count", Value::from_function(length)),
        ("items", Value::from_function(items)),
        ("attr", Value::from_function(attributes::attr)),
        ("default", Value::from_function(default)),
        ("d", Value::from_function(default)),
        ("escape", Value::from_function(escape)),
        ("e", Value::from_function(escape)),
        ("indent", Value::from_function(indent)),
    ] {
        costs::add_filter(environment, name, filter);
    }
    environment.add_test("callable", |value: &Value| {
        value.is_undefined() || (value.kind() == ValueKind::Plain && !is_digits(value))
    });
    environment.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::String | ValueKind::Map | ValueKind::Undefined
        )
    });
    environment.add_test("iterable", |value: &Value| {
        !value.is_none() && value.try_iter().is_ok()
    });
}

/// Implements `str.isspace` for one character.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

fn trim(value: &Value, characters: Option<&str>) -> Result<String, Error> {
    Ok(strip(&python::text(value)?, characters, true, true).to_owned())
}

fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    value.len().ok_or_else(|| {
        let message = format!("a value of type {} has no length", value.kind());
        Error::new(ErrorKind::InvalidOperation, message)
    })
}

fn items(value: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Ok(Value::from(Vec::<Value>::new()));
    }
    filters::items(value)
}

#[expect(clippy::needless_pass_by_value, reason = "minijinja passes it by value")]
fn default(
    value: &Value,
    other: Option<Value>,
    is_lax: Option<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let other = other.or(named.get("default_value")?);
    let is_lax = is_lax
        .or(named.get("boolean")?)
        .is_some_and(|is_lax| is_lax.is_true());
    named.assert_all_used()?;
    if value.is_undefined() || (is_lax && !value.is_true()) {
        return Ok(other.unwrap_or_else(|| "".into()));
    }
    Ok(value.clone())
}

fn escape(value: &Value) -> Result<Value, Error> {
    if value.is_safe() {
        return Ok(value.clone());
    }
    let mut text = python::text(value)?.replace('&', "&amp;");
    for (sign, name) in [('>', "&gt;"), ('<', "&lt;"), ('\'', "&#39;"), ('"', "&#34;")] {
        text = text.replace(sign, name);
    }
    Ok(Value::from_safe_string(text))
}

#[expect(clippy::needless_pass_by_value, reason = "minijinja passes it by value")]
fn indent(
    text: &str,
    width: Option<Value>,
    first: Option<Value>,
    blank: Option<Value>,
    named: Kwargs,
) -> Result<String, Error> {
    let width = width.or(named.get("width")?);
    let is_true = |value: Option<Value>| value.is_some_and(|value| value.is_true());
    let first = is_true(first.or(named.get("first")?));
    let blank = is_true(blank.or(named.get("blank")?));
    named.assert_all_used()?;
    let indention = match &width {
        None => " ".repeat(4),
        Some(width) => match width.as_str() {
            Some(text) => text.to_owned(),
            None => " ".repeat(usize::try_from(i64::try_from(width.clone())?).unwrap_or_default()),
        },
    };
    // Python appends a line break before it splits the lines, so a last line break is kept.
    let lines = lines(&format!("{text}\n"), false);
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let line = line.as_str().unwrap_or_default();
        if number > 0 {
            out.push('\n');
        }
        let is_indented = if number == 0 {
            first
        } else {
            blank || !line.is_empty()
        };
        if is_indented {
            out.push_str(&indention);
        }
        out.push_str(line);
    }
    Ok(out)
}

fn strip<'t>(text: &'t str, characters: Option<&str>, left: bool, right: bool) -> &'t str {
    let goes = |character: char| {
        characters.map_or_else(
            || is_space(character),
            |characters| characters.contains(character),
        )
    };
    let text = if left { text.trim_start_matches(goes) } else { text };
    if right { text.trim_end_matches(goes) } else { text }
}

fn method(state: &mut State<'_, '_>, value: &Value, name: &str, arguments: &[Value]) -> Result<Value, Error> {
    let all: Vec<Value> = std::iter::once(value).chain(arguments).cloned().collect();
    costs::take(name, &all)?;
    let answer = match value.as_str() {
        Some(text) => string_method(text, name, arguments)?,
        None => None,
    };
    measured::keep(match answer {
        Some(answer) => answer,
        None => pycompat::unknown_method_callback(state, value, name, arguments)?,
    })
}

/// Implements the methods of strings that the shim does not have, or that have Rust's definition of white space there.
fn string_method(text: &str, name: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match name {
        "strip" | "lstrip" | "rstrip" => {
            let (characters,): (Option<&str>,) = from_args(arguments)?;
            Value::from(strip(text, characters, name != "rstrip", name != "lstrip"))
        }
        "split" | "rsplit" => {
            let (separator, most, named): (Option<Value>, Option<i64>, Kwargs) = from_args(arguments)?;
            let separator = separator.or(named.get("sep")?).filter(|value| !value.is_none());
            let most = most.or(named.get("maxsplit")?).unwrap_or(-1);
            named.assert_all_used()?;
            let separator = separator.as_ref().map(wanted_text).transpose()?;
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            Value::from(split(text, separator.as_deref(), most, name == "rsplit")?)
        }
        "splitlines" => {
            let (keeps, named): (Option<bool>, Kwargs) = from_args(arguments)?;
            let keeps = keeps.or(named.get("keepends")?).unwrap_or(false);
            named.assert_all_used()?;
            Value::from(lines(text, keeps))
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(arguments)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(arguments)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(arguments)?;
            let parts = match name {
                "partition" => text.split_once(separator).map(|(a, b)| [a, separator, b]),
                _ => text.rsplit_once(separator).map(|(a, b)| [a, separator, b]),
            };
            let missing = if name == "partition" {
                [text, "", ""]
            } else {
                ["", "", text]
            };
            Value::from(Tuple::from(parts.unwrap_or(missing).map(Value::from)))
        }
        "title" => {
            let () = from_args(arguments)?;
            Value::from(title(text))
        }
        "zfill" => {
            let (width,): (i64,) = from_args(arguments)?;
            Value::from(zfill(text, usize::try_from(width).unwrap_or_default()))
        }
        "index" | "rindex" => {
            let (what,): (&str,) = from_args(arguments)?;
            let at = if name == "index" {
                text.find(what)
            } else {
                text.rfind(what)
            };
            let before = at
                .and_then(|at| text.get(..at))
                .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "substring not found"))?;
            Value::from(before.chars().count())
        }
        "isspace" => {
            let () = from_args(arguments)?;
            Value::from(!text.is_empty() && text.chars().all(is_space))
        }
        _ => return Ok(None),
    }))
}

fn wanted_text(value: &Value) -> Result<Cow<'_, str>, Error> {
    value.as_str().map(Cow::Borrowed).ok_or_else(|| {
        let message = format!("must be a string and not of type {}", value.kind());
        Error::new(ErrorKind::InvalidOperation, message)
    })
}

/// Implements `str.split` and `str.rsplit`.
fn split(text: &str, separator: Option<&str>, most: usize, from_right: bool) -> Result<Vec<Value>, Error> {
    let parts: Vec<&str> = match (separator, from_right) {
        (Some(""), _) => return Err(Error::new(ErrorKind::InvalidOperation, "empty separator")),
        (Some(separator), false) => text.splitn(most.saturating_add(1), separator).collect(),
        (Some(separator), true) => {
            let mut parts: Vec<&str> = text.rsplitn(most.saturating_add(1), separator).collect();
            parts.reverse();
            parts
        }
        (None, _) => {
            let (mut parts, mut rest) = (Vec::new(), text);
            loop {
                let next = if from_right {
                    rest = rest.trim_end_matches(is_space);
                    rest.rsplit_once(is_space)
                } else {
                    rest = rest.trim_start_matches(is_space);
                    rest.split_once(is_space).map(|(word, tail)| (tail, word))
                };
                let Some((others, word)) = next.filter(|_| parts.len() < most) else {
                    break;
                };
                parts.push(word);
                rest = others;
            }
            parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
            if from_right {
                parts.reverse();
            }
            parts
        }
    };
    Ok(parts.into_iter().map(Value::from).collect())
}

/// Implements `str.splitlines`.
fn lines(text: &str, keeps: bool) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, ending) = match rest.find(python::breaks_line).map(|at| rest.split_at(at)) {
            None => (rest, ""),
            Some((line, tail)) if tail.starts_with("\r\n") => (line, "\r\n"),
            Some((line, tail)) => {
                let length = tail.chars().next().map_or(0, char::len_utf8);
                (line, tail.split_at(length).0)
            }
        };
        let taken = line.len() + ending.len();
        let shown = if keeps { taken } else { line.len() };
        lines.push(Value::from(rest.split_at(shown).0));
        rest = rest.split_at(taken).1;
    }
    lines
}

/// Implements `str.zfill`: zeros after the sign, up to a width in characters.
fn zfill(text: &str, width: usize) -> String {
    let sign = text.len() - text.strip_prefix(['+', '-']).unwrap_or(text).len();
    let (sign, digits) = text.split_at(sign);
    let zeros = width.saturating_sub(text.chars().count());
    format!("{sign}{}{digits}", "0".repeat(zeros))
}

/// Implements `str.title`: the first of a run of cased letters becomes title case, the others lower case.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // A sigma at the end of a word has another lower case.
    let lowered = text.to_lowercase();
    let mut lowered = lowered.chars();
    let mut inside = false;
    for character in text.chars() {
        let small = lowered.by_ref().take(character.to_lowercase().count());
        if inside {
            out.extend(small);
        } else {
            small.for_each(drop);
            push_titled(&mut out, character);
        }
        inside = character.is_lowercase() || character.is_uppercase() || titled(character) == Some(character);
    }
    out
}

/// Returns the title case of a letter if it is one letter and differs from the upper case. Georgian has no title case: its letters stay.
fn titled(character: char) -> Option<char> {
    let code = u32::from(character);
    let title = match code {
        // The digraphs of Serbo-Croatian.
        0x1c4..=0x1cc => 0x1c5 + (code - 0x1c4) / 3 * 3,
        0x1f1..=0x1f3 => 0x1f2,
        // Greek letters with an iota below.
        0x1f80..=0x1faf => code | 8,
        0x1fb3 | 0x1fc3 | 0x1ff3 => code + 9,
        0x1fbc | 0x1fcc | 0x1ffc | 0x10d0..=0x10fa | 0x10fd..=0x10ff => code,
        _ => return None,
    };
    char::from_u32(title)
}

fn push_titled(out: &mut String, character: char) {
    if let Some(title) = titled(character) {
        out.push(title);
        return;
    }
    let mut upper = character.to_uppercase();
    let follows_case = upper.len() > 1 && character != '\u{149}';
    out.extend(upper.next());
    for further in upper {
        match further {
            // An iota below the letter stays below it.
            '\u{399}' => out.push('\u{345}'),
            further if follows_case => out.extend(further.to_lowercase()),
            further => out.push(further),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(expression: &str) -> String {
        let mut environment = Environment::new();
        register(&mut environment);
        let source = format!("{{{{ {expression} }}}}");
        environment
            .render_str(&source, ())
            .unwrap_or_else(|error| format!("{error}"))
    }

    #[test]
    fn strings_are_stripped_and_split_as_python_does_it() {
        for (expression, expected) in [
            (r#"("\x1f a ".strip())"#, "a"),
            (r#""xxaxx".lstrip("x")"#, "axx"),
            (r#"" a  b c ".split()"#, "['a', 'b', 'c']"),
            (r#""a  b c".split(none, 1)"#, "['a', 'b c']"),
            (r#"" a b  c ".rsplit(none, 1)"#, "[' a b', 'c']"),
            (r#""a,b,c".split(",", maxsplit=1)"#, "['a', 'b,c']"),
            (r#""a,b,c".rsplit(",", 1)"#, "['a,b', 'c']"),
            (r#""".split(",")"#, "['']"),
            (r#""".split()"#, "[]"),
            (r#""a\r\nb\u2028c\n".splitlines()"#, "['a', 'b', 'c']"),
            (r#""a-b".partition("-")[2]"#, "b"),
            (r#""a".rpartition("-")[2]"#, "a"),
            (r#""they're bill's".title()"#, "They'Re Bill'S"),
            (r#""ǆ ǅ ǉa aǄ".title()"#, "ǅ ǅ ǈa Aǆ"),
            (r#""ß ﬁn ŉ ᾳ ᾲ ᾀ აბ".title()"#, "Ss Fin ʼN ᾼ Ὰ\u{345} ᾈ აბ"),
            (r#""中a ΟΔΟΣ İi".title()"#, "中A Οδος İi"),
            (
                r#""7".zfill(3) ~ "-7".zfill(3) ~ "+".zfill(2) ~ "ä".zfill(2) ~ "123".zfill(2) ~ "".zfill(1)"#,
                "007-07+00ä1230",
            ),
            (r#""7".zfill(-1)"#, "7"),
            (r#""abc".removeprefix("a").removesuffix("c")"#, "b"),
            (r#""äb".index("b")"#, "1"),
            (r#"{"items": 1, "b": 2}.items()|list|length"#, "2"),
            (r#"{"get": 1}.get("get")"#, "1"),
        ] {
            assert_eq!(run(expression), expected, "{expression}");
        }
        assert!(run(r#""a".split("")"#).contains("empty separator"));
        assert!(run(r#""a".split(1)"#).contains("must be a string"));
    }

    #[test]
    fn filters_do_what_those_of_python_do() {
        for (expression, expected) in [
            (r#""{\n"|indent(4, first=True)"#, "    {\n"),
            (r#""a\n\nb\n"|indent"#, "a\n\n    b\n"),
            (r#""a\n\nb\n"|indent(2, true, true)"#, "  a\n  \n  b\n  "),
            (r#""a\r\nb\u2028c"|indent(width="> ")"#, "a\n> b\n> c"),
            (r#"""|indent(1, true)"#, " "),
            (r#""<a b='c'>\"&"|e|escape"#, "&lt;a b=&#39;c&#39;&gt;&#34;&amp;"),
            (r#"missing|default(default_value="a")"#, "a"),
            (r#"""|default("a", boolean=true)"#, "a"),
            ("[missing]|string", "[Undefined]"),
            ("range is callable and 1 is not callable", "True"),
        ] {
            assert_eq!(run(expression), expected, "{expression}");
        }
        for unknown in ["pprint", "split", "lines", "bool", "zip"] {
            assert!(
                run(&format!("'a'|{unknown}")).contains("unknown filter"),
                "{unknown}"
            );
        }
        assert!(run("1|indent").contains("not a string"), "{}", run("1|indent"));
    }

    #[test]
    fn sequences_and_undefined_values_are_what_they_are_in_python() {
        for (expression, expected) in [
            (r#""text" is sequence"#, "True"),
            (r#"{"a": 1} is sequence"#, "True"),
            (r#"{"a": 1}.items() is sequence"#, "False"),
            ("1 is sequence", "False"),
            ("none is iterable", "False"),
            (r#""" is iterable"#, "True"),
            ("missing|length", "0"),
            ("missing|trim", ""),
            ("missing|items|list|length", "0"),
            ("1e-7|string", "1e-07"),
        ] {
            assert_eq!(run(expression), expected, "{expression}");
        }
    }
}
