//! Paths into a JSON document: `$.list[3]['odd key'].name`.

use std::fmt::Write as _;

use super::value::{Kind, Value};

/// Appends a step into a field: `.key`, or `['odd key']` where the name is not a plain word.
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
                // Writing into a String cannot fail.
                let _ = write!(path, "\\u{:04x}", u32::from(character));
            }
            _ => path.push(character),
        }
    }
    path.push_str("']");
}

/// Whether a field name can stand after a dot: ASCII letters, digits and `_`, no digit first.
fn is_word(key: &str) -> bool {
    !key.starts_with(|first: char| first.is_ascii_digit())
        && !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The path from `root` to the innermost value around a byte.
pub(super) fn to(root: Value<'_>, at: usize) -> String {
    let mut path = String::from("$");
    let mut here = root;
    loop {
        let next = match here.kind() {
            Kind::Array => {
                let found = here
                    .items()
                    .enumerate()
                    .find(|(_, item)| item.span().contains(&at));
                found.map(|(index, item)| {
                    let _ = write!(path, "[{index}]");
                    item
                })
            }
            Kind::Object => {
                let holds = |(name, value): &(Value<'_>, Value<'_>)| {
                    name.span().contains(&at) || value.span().contains(&at)
                };
                let found = here.pairs().find(holds);
                found.map(|(name, value)| {
                    append_key(&mut path, &name.string().unwrap_or_default());
                    value
                })
            }
            _ => None,
        };
        match next {
            Some(value) if value.span().contains(&at) => here = value,
            _ => return path,
        }
    }
}

/// The value that `path` leads to from `root`. Of fields with equal names the last is meant.
pub(super) fn follow<'d>(root: Value<'d>, path: &str) -> Option<Value<'d>> {
    let mut here = root;
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
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            if here.kind() != Kind::Array {
                return None;
            }
            (here.items().nth(index.parse().ok()?)?, after)
        };
        here = next;
        rest = after;
    }
    Some(here)
}

/// Reads a quoted name up to its `']`; gives the name and what follows.
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
    fn odd_names_are_quoted_and_lead_back_to_their_value() {
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
    fn a_path_that_leads_nowhere_gives_nothing() {
        let document = scan(br#"{"a":[1]}"#, 128).unwrap();
        for path in [
            "", "a", "$.b", "$.a[1]", "$.a[x]", "$[0]", "$.a[0", "$['a", "$['a'", "$.a.a", "$.a[0].b", "$a",
        ] {
            assert_eq!(document.locate(path), None, "{path}");
        }
    }
}
