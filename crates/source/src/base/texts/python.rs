//! Values and calls in Python's notation, which datasets of function calls have in places meant for JSON.

use chatmill_diag::Limits;
use chatmill_intake::json;
use chatmill_model::json::push_string;
use chatmill_model::{ArgumentForm, Arguments, RawJson, ToolCall};

/// A text of JSON, or of a Python value, as JSON; `None` if it is neither.
pub(crate) fn json_of(text: &str, limits: &Limits) -> Option<String> {
    let is_json = |text: &str| json::scan(text.as_bytes(), limits.depth).is_ok();
    if is_json(text) {
        return Some(text.to_owned());
    }
    translated(text).filter(|json| is_json(json))
}

/// A Python value with the quotes and words of JSON; `None` if a string does not end.
fn translated(text: &str) -> Option<String> {
    let mut json = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if matches!(first, '\'' | '"') {
            let (decoded, after) = string(rest)?;
            push_string(&mut json, &decoded);
            rest = after;
            continue;
        }
        let length = rest
            .find(|sign: char| !sign.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(length.max(first.len_utf8()))?;
        json.push_str(match word {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            other => other,
        });
        rest = after;
    }
    Some(json)
}

/// The value of a string literal at the beginning of a text, and the rest of the text.
fn string(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let mut decoded = String::new();
    let mut signs = text.char_indices().skip(1);
    while let Some((at, sign)) = signs.next() {
        match sign {
            _ if sign == quote => return Some((decoded, text.get(at + 1..)?)),
            '\\' => match signs.next()?.1 {
                'n' => decoded.push('\n'),
                't' => decoded.push('\t'),
                'r' => decoded.push('\r'),
                'u' => {
                    let digits: String = signs.by_ref().take(4).map(|(_, digit)| digit).collect();
                    decoded.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other @ ('\\' | '\'' | '"' | '/') => decoded.push(other),
                other => decoded.extend(['\\', other]),
            },
            _ => decoded.push(sign),
        }
    }
    None
}

/// The calls of a text that is a list of them and nothing else: `[tide(port="Porto"), moon()]`.
pub(crate) fn calls(text: &str, limits: &Limits) -> Option<Vec<ToolCall>> {
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let calls: Option<Vec<ToolCall>> = pieces(inside)?
        .into_iter()
        .map(|text| call(text, limits))
        .collect();
    calls.filter(|calls| !calls.is_empty())
}

fn call(text: &str, limits: &Limits) -> Option<ToolCall> {
    let (name, given) = text.trim().strip_suffix(')')?.split_once('(')?;
    let is_name = |name: &str| {
        let plain = |sign: char| sign.is_alphanumeric() || " _-./:".contains(sign);
        name.starts_with(char::is_alphabetic) && name.chars().all(plain)
    };
    let mut json = String::from("{");
    for argument in pieces(given)? {
        let (key, value) = argument.split_once('=')?;
        if json.len() > 1 {
            json.push(',');
        }
        push_string(&mut json, key.trim());
        json.push(':');
        json.push_str(&json_of(value.trim(), limits)?);
    }
    json.push('}');
    json::scan(json.as_bytes(), limits.depth).ok()?;
    let given = (Arguments::Object(RawJson(json)), ArgumentForm::Embedded);
    let name = name.trim();
    is_name(name).then(|| ToolCall::new(None, Some(name.to_owned()), given))
}

/// The pieces of a text between commas outside of strings and brackets; `None` if these do not match.
fn pieces(text: &str) -> Option<Vec<&str>> {
    let (mut pieces, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let at = text.len() - rest.len();
        rest = match sign {
            '\'' | '"' => string(rest)?.1,
            _ => rest.get(sign.len_utf8()..)?,
        };
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                pieces.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text.get(start..)?;
    if !last.trim().is_empty() {
        pieces.push(last);
    }
    (depth == 0).then_some(pieces)
}

/// The list or object at the beginning of a text.
pub(crate) fn value_at(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        rest = match sign {
            '"' => string(rest)?.1,
            _ => rest.get(sign.len_utf8()..)?,
        };
        match sign {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return text.get(..text.len() - rest.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits::default()
    }

    #[test]
    fn a_python_value_becomes_json_and_json_stays() {
        for (text, expected) in [
            (
                "{'port': 'Porto', 'ok': True, 'n': None, 'l': [1, 2.5]}",
                r#"{"port": "Porto", "ok": true, "n": null, "l": [1, 2.5]}"#,
            ),
            (
                r#"{'a': "it's", "b": 'say "x"\n'}"#,
                r#"{"a": "it's", "b": "say \"x\"\n"}"#,
            ),
            (r#"{"True": true}"#, r#"{"True": true}"#),
        ] {
            assert_eq!(json_of(text, &limits()).as_deref(), Some(expected));
        }
        for text in ["{'a': 'b", "Trueish", "{'a'}", ""] {
            assert_eq!(json_of(text, &limits()), None, "{text}");
        }
    }

    #[test]
    fn a_list_of_calls_is_read_and_prose_in_brackets_is_not() {
        let found = calls(
            r#"[Tide Table(port="Porto, north", days=[1, 2], deep=True), moon()]"#,
            &limits(),
        )
        .unwrap();
        let shown: Vec<(&str, &str)> = found
            .iter()
            .map(|call| match &call.arguments {
                Arguments::Object(given) => (call.name.as_deref().unwrap(), given.as_str()),
                other => panic!("{other:?}"),
            })
            .collect();
        let first = r#"{"port":"Porto, north","days":[1, 2],"deep":true}"#;
        assert_eq!(shown, [("Tide Table", first), ("moon", "{}")]);
        for text in [
            "[see above]",
            "[1, 2]",
            "[f(x)]",
            "f(x=1)",
            "[f(x=1)] and more",
            "[]",
            "[f(x=y)]",
        ] {
            assert_eq!(calls(text, &limits()), None, "{text}");
        }
    }
}
