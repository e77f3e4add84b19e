//! Looking into the few JSON texts that a dialect has to understand: strings of extra fields, results of tools.

use serde::de::IgnoredAny;

/// The text of a JSON string; none when the JSON is something else.
pub(crate) fn decode_string(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

/// Whether a text is a JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{') && is_json(text)
}

/// Whether a text is JSON of any kind.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
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
}
