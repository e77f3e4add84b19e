//! Reads the few JSON texts that a dialect has to understand: extra fields of messages, and results of tools.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_model::json::push_compact;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Returns the text of a JSON string; `None` if the JSON is something else.
pub(crate) fn decode_string(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

/// Returns a field of a JSON object as text: a string, or a number as written.
pub(crate) fn text_field(raw: &str, field: &str) -> Option<String> {
    let fields = fields(raw);
    let value = fields.get(field)?.get();
    let is_number = value.starts_with(|character: char| character.is_ascii_digit() || character == '-');
    if is_number {
        Some(value.to_owned())
    } else {
        decode_string(value)
    }
}

/// Returns the fields of a JSON object as raw JSON.
pub(crate) fn fields(raw: &str) -> BTreeMap<String, Box<RawValue>> {
    // A text that is not an object, or has a key with half a surrogate pair, has no fields that any reader would see.
    serde_json::from_str(raw).unwrap_or_default()
}

/// Returns the rest of a JSON object after its opening brace.
pub(crate) fn behind_brace(object: &str) -> &str {
    object.trim_start().split_at(1).1
}

/// Whether a text is a JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{') && is_json(text)
}

/// Whether a text is JSON of any kind.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns JSON without insignificant white space.
pub(crate) fn compact(raw: &str) -> Cow<'_, str> {
    if !raw
        .bytes()
        .any(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    push_compact(&mut out, raw);
    if out.len() == raw.len() {
        Cow::Borrowed(raw)
    } else {
        Cow::Owned(out)
    }
}

/// Whether every decoder reads a text as JSON: it has no half of a surrogate pair, no number beyond the range of a float, and is not nested
/// deeper than decoders allow.
pub(crate) fn is_portable(raw: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(raw).is_ok()
}

/// Whether a text is a JSON object that every decoder reads.
pub(crate) fn is_portable_object(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{') && is_portable(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strings_are_decoded_and_only_objects_are_objects() {
        assert_eq!(decode_string("\"a\\n\""), Some("a\n".to_owned()));
        assert_eq!(decode_string("1"), None);
        assert!(is_object(" {\"a\":1e999}"));
        assert!(!is_object("[{}]"));
        assert!(!is_object("{\"a\":}"));
        assert!(is_json("17"));
        assert!(!is_json("345."));
    }

    #[test]
    fn compaction_borrows_where_nothing_changes() {
        assert!(matches!(compact("{\"a b\":1}"), Cow::Borrowed(_)));
        assert_eq!(compact("{ \"a b\" : 1 }"), "{\"a b\":1}");
    }

    #[test]
    fn half_a_surrogate_pair_and_numbers_without_end_are_not_portable() {
        assert!(is_portable("{\"a\":\"\\ud83d\\ude00\"}"));
        assert!(!is_portable("{\"a\":\"\\ud83d\"}"));
        assert!(!is_portable("{\"a\":1e999}"));
        assert!(!is_portable(&("[".repeat(300) + &"]".repeat(300))));
    }
}
