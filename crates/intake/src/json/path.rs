//! Paths into a JSON document: `$.list[3]['irregular key'].name`.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::Document;
use super::value::{Kind, Value};

/// Appends a step into a field: `.key`, or `['irregular key']` where the name is not a plain word.
pub fn append_key(path: &mut String, key: &str) {
    if is_word(key) {
        path.push('.');
        path.push_str(key);
        return;
    }
    path.push_str("['");
    for character in key.chars() {
        match character {
            '\'' | '\\' => path.extend(['\\', character]),
            '\0'..' ' => {
                // Writing to a String cannot fail.
                let _ = write!(path, "\\u{:04x}", u32::from(character));
            }
            _ => path.push(character),
        }
    }
    path.push_str("']");
}

/// Whether a field name can be written after a dot: ASCII letters, digits and `_`, not starting with a digit.
pub fn is_word(key: &str) -> bool {
    !key.starts_with(|first: char| first.is_ascii_digit())
        && !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The position of a value in its container.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathStep {
    /// The tape index of the container, which is less than that of the value. The root has no container and is its own.
    container: u32,
    /// In an array, the number of the element from 0; in an object, the tape index of the field's name.
    at: u32,
}

/// The steps to all values of a document, from one sweep, so that each path can then be built from its end.
pub(super) fn steps(document: &Document<'_>) -> Vec<PathStep> {
    let mut steps = Vec::with_capacity(document.nodes.len());
    // The open containers, each with the number of names and values seen in it.
    let mut around: Vec<(Value<'_>, u32)> = Vec::new();
    for index in 0..document.nodes.len() as u32 {
        let value = Value::new(document, index);
        while around.last().is_some_and(|last| last.0.after() <= index) {
            around.pop();
        }
        let step = match around.last_mut() {
            None => PathStep::default(),
            Some((container, before)) => {
                // The value of a field follows its name.
                let own = index - *before % 2;
                let at = if container.kind() == Kind::Array {
                    *before
                } else {
                    own
                };
                *before += 1;
                PathStep {
                    container: container.index,
                    at,
                }
            }
        };
        steps.push(step);
        if value.after() > index + 1 {
            around.push((value, 0));
        }
    }
    steps
}

/// The path from the root of a document to the innermost value around a byte.
pub(super) fn to(document: &Document<'_>, at: usize) -> String {
    let before = document.nodes.partition_point(|node| node.start as usize <= at);
    let mut here = before.saturating_sub(1) as u32;
    // A container that closed before the byte does not enclose it, but the containers around it may.
    let mut around = Vec::new();
    while here > 0 {
        let step = document.step(here);
        if !around.is_empty() || Value::new(document, here).span().contains(&at) {
            around.push(step);
        }
        here = step.container;
    }
    let mut path = String::from("$");
    for step in around.into_iter().rev() {
        if Value::new(document, step.container).kind() == Kind::Array {
            // Writing to a String cannot fail.
            let _ = write!(path, "[{}]", step.at);
        } else {
            append_key(
                &mut path,
                &Value::new(document, step.at).string().unwrap_or_default(),
            );
        }
    }
    path
}

/// The value at `path`, from the root of a document. If a name is repeated, the last field counts.
pub(super) fn follow<'d>(document: &'d Document<'d>, path: &str) -> Option<Value<'d>> {
    let mut here = document.root();
    let mut rest = path.strip_prefix('$')?;
    while !rest.is_empty() {
        let (next, after) = if let Some(step) = rest.strip_prefix('.') {
            let end = step.find(['.', '[']).unwrap_or(step.len());
            let (key, after) = step.split_at_checked(end)?;
            (here.get(key)?, after)
        } else if let Some(step) = rest.strip_prefix("['") {
            let (key, after) = quoted(step)?;
            (here.get(&key)?, after)
        } else {
            let (number, after) = rest.strip_prefix('[')?.split_once(']')?;
            (element(document, here, number.parse().ok()?)?, after)
        };
        here = next;
        rest = after;
    }
    Some(here)
}

/// The element of an array with this number, from 0, found by binary search.
fn element<'d>(document: &'d Document<'d>, array: Value<'d>, number: u32) -> Option<Value<'d>> {
    if array.kind() != Kind::Array {
        return None;
    }
    let (mut first, mut end) = (array.index + 1, array.after());
    while first < end {
        let mut here = Value::new(document, first + (end - first) / 2);
        let mut step = document.step(here.index);
        while step.container > array.index {
            here = Value::new(document, step.container);
            step = document.step(here.index);
        }
        match step.at.cmp(&number) {
            Ordering::Equal => return Some(here),
            Ordering::Less => first = here.after(),
            Ordering::Greater => end = here.index,
        }
    }
    None
}

/// Reads a quoted name up to its `']`; returns the name and the rest.
fn quoted(step: &str) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut characters = step.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\'' => return Some((key, step.get(at..)?.strip_prefix("']")?)),
            '\\' => match characters.next()? {
                (at, 'u') => {
                    let digits = step.get(at + 1..at + 5)?;
                    key.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    characters.nth(3);
                }
                (_, escaped) => key.push(escaped),
            },
            _ => key.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::append_key;
    use crate::json::scan;

    #[test]
    fn unusual_names_are_quoted_and_lead_back_to_their_value() {
        let text = r#"{"a":{"it's":[1,{"x.y":[[7]],"":8,"\\":9,"line\nbreak":10,"中":11,"u0041":12}]}}"#;
        let document = scan(text.as_bytes(), 128).unwrap();
        let mut base = "$".to_owned();
        append_key(&mut base, "a");
        append_key(&mut base, "it's");
        assert_eq!(base, r"$.a['it\'s']");
        base.push_str("[1]");
        for (key, expected) in [
            ("x.y", "[[7]]"),
            ("", "8"),
            ("\\", "9"),
            ("line\nbreak", "10"),
            ("中", "11"),
            ("u0041", "12"),
        ] {
            let mut path = base.clone();
            append_key(&mut path, key);
            let span = document.locate(&path).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(text.get(span), Some(expected), "{path}");
        }
        assert_eq!(document.locate("$"), Some(0..text.len()));
        assert_eq!(document.locate(r"$.a['it\'s'][0]"), Some(14..15));
    }

    #[test]
    fn every_element_of_nested_lists_is_found_and_leads_back() {
        let text = r#"[[],[0,[1,{"a":[2,3]},[]],4],{"b":[[5]]},6,[7,[8,[9]]]]"#;
        let document = scan(text.as_bytes(), 128).unwrap();
        for (at, digit) in text.char_indices().filter(|(_, sign)| sign.is_ascii_digit()) {
            let path = document.path_at(at);
            assert_eq!(document.locate(&path), Some(at..at + 1), "{path} of {digit}");
        }
        for (index, item) in document.root().items().enumerate() {
            assert_eq!(document.locate(&format!("$[{index}]")), Some(item.span()));
        }
        assert_eq!(document.locate("$[5]"), None);
        assert_eq!(document.locate("$[0][0]"), None);
    }

    #[test]
    fn a_path_that_leads_nowhere_gives_nothing() {
        let document = scan(br#"{"a":[1]}"#, 128).unwrap();
        for path in [
            "", "a", "$.b", "$.a[1]", "$.a[x]", "$[0]", "$.a[0", "$['a", "$['a'", "$.a.a", "$.a[0].b", "$a",
        ] {
            assert_eq!(document.locate(path), None, "{path}");
        }
    }
}
