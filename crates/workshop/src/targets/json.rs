//! The JSON scan: it agrees with another parser, and the spans, texts and paths of its tape are consistent.

use chatmill_intake::json::{Document, Kind, Value, append_key, scan};
use serde::de::IgnoredAny;

/// The most values of a document with a path that is looked up again.
const PATHS_CHECKED: usize = 64;

pub(super) fn check(bytes: &[u8]) {
    let other = serde_json::from_slice::<IgnoredAny>(bytes);
    match scan(bytes, 128) {
        Err(error) => {
            assert!(
                error.at <= bytes.len(),
                "the fault is at {} of {}",
                error.at,
                bytes.len()
            );
            assert!(!error.message.is_empty());
            match error.code.name {
                // The other parser skips strings without decoding them.
                "depth-exceeded" | "invalid-utf8" => {}
                _ => assert!(other.is_err(), "{error:?}, but the other parser reads it"),
            }
        }
        Ok(document) => {
            assert!(other.is_ok(), "the other parser returns {other:?}");
            assert_eq!(document.text().len(), bytes.len(), "repairs keep the length");
            for note in document.notes() {
                assert!(note.at < note.end && note.end <= bytes.len(), "{note:?}");
            }
            let mut left = PATHS_CHECKED;
            walk(&document, document.root(), &mut "$".to_owned(), true, &mut left);
        }
    }
}

/// Visits a value; the depth of an accepted document is bounded.
fn walk(document: &Document<'_>, value: Value<'_>, path: &mut String, is_unique: bool, left: &mut usize) {
    let span = value.span();
    assert_eq!(document.text().get(span.clone()), Some(value.raw()));
    if is_unique && *left > 0 {
        *left -= 1;
        assert_eq!(document.locate(path), Some(span.clone()), "{path}");
    }
    let inside = |child: &Value<'_>| {
        let own = child.span();
        assert!(
            own.start > span.start && own.end < span.end,
            "{own:?} is not inside {span:?}"
        );
    };
    match value.kind() {
        Kind::Null | Kind::Bool(_) => {}
        Kind::Number => assert_eq!(value.number_text(), Some(value.raw())),
        Kind::String => {
            let other: String = serde_json::from_str(value.raw()).expect("a string that both can read");
            assert_eq!(value.as_str().as_deref(), Some(other.as_str()));
        }
        Kind::Array => {
            assert_eq!(value.items().count(), value.len());
            for (index, item) in value.items().enumerate() {
                inside(&item);
                let before = path.len();
                path.extend(["[", &index.to_string(), "]"]);
                walk(document, item, path, is_unique, left);
                path.truncate(before);
            }
        }
        Kind::Object => {
            assert_eq!(value.fields().count(), value.len());
            let repeated = value.duplicate_keys();
            for (key, field) in value.fields() {
                inside(&field);
                let is_repeated = repeated.iter().any(|name| *name == key);
                if !is_repeated {
                    assert_eq!(value.get(&key).map(Value::span), Some(field.span()));
                }
                let before = path.len();
                append_key(path, &key);
                walk(document, field, path, is_unique && !is_repeated, left);
                path.truncate(before);
            }
        }
    }
}
