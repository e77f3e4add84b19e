//! Arguments of tool calls, as all formats with OpenAI's shape write them.

use std::borrow::Cow;

use chatmill_diag::codes;
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{ArgumentForm, Arguments, RawJson};

use crate::base::notes::{Site, has_repeats};

/// Reads arguments: a string that should contain JSON, or a JSON value. Missing arguments are treated as an empty string.
pub(crate) fn arguments(
    value: Option<Value<'_>>,
    suffix: &str,
    site: &mut Site<'_>,
) -> (Arguments, ArgumentForm) {
    let Some(field) = value else {
        return (Arguments::Malformed(String::new()), ArgumentForm::Text);
    };
    match field.as_str() {
        Some(text) => (
            classify(text, &format!(".{suffix}"), field, site),
            ArgumentForm::Text,
        ),
        None => (embedded(field), ArgumentForm::Embedded),
    }
}

/// Arguments that are a JSON value in the record.
pub(crate) fn embedded(value: Value<'_>) -> Arguments {
    let raw = RawJson(value.raw().to_owned());
    if value.kind() == Kind::Object {
        Arguments::Object(raw)
    } else {
        Arguments::NotObject(raw)
    }
}

/// Classifies arguments in a string: an object, other JSON, or malformed. Lone surrogates are repaired as in the record.
pub(crate) fn classify(text: Cow<'_, str>, place: &str, value: Value<'_>, site: &mut Site<'_>) -> Arguments {
    let (is_object, repaired) = match json::scan(text.as_bytes(), site.limits.depth) {
        Err(_) => return Arguments::Malformed(text.into_owned()),
        Ok(document) => {
            let is_noted = |code| document.notes().iter().any(|note| note.code == code);
            let is_repaired = is_noted(&codes::LONE_SURROGATE);
            if is_repaired {
                let message = "an escape in the arguments is half a surrogate pair and is read as U+FFFD";
                site.note(&codes::LONE_SURROGATE, message, place, value);
            }
            if is_noted(&codes::NUMBER_OUT_OF_RANGE) {
                let message =
                    "a number in the arguments is beyond what common parsers hold exactly; its text is kept";
                site.note(&codes::NUMBER_OUT_OF_RANGE, message, place, value);
            }
            if has_repeats(document.root()) {
                let message =
                    "a key of the arguments is repeated: all values are kept, and most parsers read the last";
                site.note(&codes::REPEATED_PARAMETER, message, place, value);
            }
            let repaired = is_repaired.then(|| document.text().to_owned());
            (document.root().kind() == Kind::Object, repaired)
        }
    };
    let raw = RawJson(repaired.unwrap_or_else(|| text.into_owned()));
    if is_object {
        Arguments::Object(raw)
    } else {
        Arguments::NotObject(raw)
    }
}
