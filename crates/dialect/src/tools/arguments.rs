//! Arguments of calls in the form that a dialect wants: text, or an object.

use std::borrow::Cow;

use chatmill_model::{ArgumentForm, Arguments, ToolCall, json::push_string};

use crate::loss::rule::DialectRule;
use crate::loss::{LossCode, Losses, reasons};
use crate::text::json::{compact, is_portable};

/// How arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentsAs {
    /// As text.
    Text,
    /// As text; free text is the input of a custom call.
    TextOrInput,
    /// As an object, by this rule.
    Object(&'static DialectRule),
}

/// The losses that writing arguments as text may declare.
pub(crate) const LOSES_AS_TEXT: &[LossCode] = &[LossCode::ArgsReserialised];

/// The losses that writing arguments as an object may declare.
pub(crate) const LOSES_AS_OBJECT: &[LossCode] = &[
    LossCode::ArgsReserialised,
    LossCode::ArgsNotObject,
    LossCode::ArgsMalformed,
];

/// The key that wraps arguments that are not an object, if the dialect wants an object.
pub(crate) const WRAPPER: &str = "arguments";

/// Returns arguments as text: text of the source stays unchanged, JSON of the source loses its white space.
pub(crate) fn as_text<'a>(call: &'a ToolCall, position: u32, losses: &mut Losses) -> Cow<'a, str> {
    match (&call.arguments, call.form) {
        (Arguments::Object(raw) | Arguments::NotObject(raw), ArgumentForm::Embedded) => {
            losses.at(reasons::ARGUMENTS_BECAME_TEXT, position);
            compact(raw.as_str())
        }
        (arguments, ArgumentForm::FreeText) => {
            losses.at(reasons::INPUT_BECAME_ARGUMENTS, position);
            Cow::Borrowed(arguments.source_text())
        }
        (arguments, ArgumentForm::Text | ArgumentForm::Embedded) => Cow::Borrowed(arguments.source_text()),
    }
}

/// Returns arguments as a JSON object without white space, which `rule` demands.
pub(crate) fn as_object<'a>(
    call: &'a ToolCall,
    position: u32,
    rule: &'static DialectRule,
    losses: &mut Losses,
) -> Cow<'a, str> {
    match &call.arguments {
        Arguments::Object(raw) if is_portable(raw.as_str()) => {
            if call.form == ArgumentForm::Text {
                losses.at(reasons::ARGUMENTS_BECAME_AN_OBJECT, position);
            }
            compact(raw.as_str())
        }
        Arguments::NotObject(raw) if is_portable(raw.as_str()) => {
            losses.at(reasons::ARGUMENTS_UNDER_A_KEY.by(rule), position);
            Cow::Owned(format!("{{\"{WRAPPER}\":{}}}", compact(raw.as_str())))
        }
        other => {
            let text = other.source_text();
            if text.trim().is_empty() {
                losses.at(reasons::NO_ARGUMENTS.by(rule), position);
                return Cow::Borrowed("{}");
            }
            losses.at(reasons::ARGUMENTS_NOT_PORTABLE.by(rule), position);
            let mut object = format!("{{\"{WRAPPER}\":");
            push_string(&mut object, text);
            object.push('}');
            Cow::Owned(object)
        }
    }
}

/// Counts the whole numbers in a JSON text that a double cannot represent exactly.
pub(crate) fn inexact_integers(raw: &str) -> u64 {
    const EXACT: u64 = 1 << 53;
    let mut count = 0;
    let mut digits: Option<String> = None;
    let mut in_string = false;
    let mut escaped = false;
    for character in raw.chars().chain([' ']) {
        if in_string {
            (in_string, escaped) = match character {
                '\\' if !escaped => (true, true),
                '"' if !escaped => (false, false),
                _ => (true, false),
            };
        } else if character.is_ascii_digit() || matches!(character, '.' | 'e' | 'E' | '+') && digits.is_some()
        {
            digits.get_or_insert_default().push(character);
        } else {
            if let Some(number) = digits.take()
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && number.parse::<u64>().map_or(true, |number| number > EXACT)
            {
                count += 1;
            }
            in_string = character == '"';
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use chatmill_model::RawJson;

    fn call(arguments: Arguments, form: ArgumentForm) -> ToolCall {
        ToolCall {
            id: None,
            name: None,
            arguments,
            form,
            metadata_id: None,
            own: None,
        }
    }

    fn object(arguments: Arguments, form: ArgumentForm) -> (String, Vec<&'static str>) {
        let mut losses = Losses::default();
        let call = call(arguments, form);
        let object = as_object(&call, 0, ABC_01, &mut losses).into_owned();
        let codes = losses.finish().iter().map(|loss| loss.code.as_str()).collect();
        (object, codes)
    }

    #[test]
    fn an_object_is_always_an_object_and_every_change_is_declared() {
        let raw = |text: &str| RawJson(text.to_owned());
        let text = ArgumentForm::Text;
        let embedded = ArgumentForm::Embedded;
        assert_eq!(
            object(Arguments::Object(raw("{ \"a\" : 1.0 }")), embedded),
            ("{\"a\":1.0}".to_owned(), vec![])
        );
        assert_eq!(
            object(Arguments::Object(raw("{}")), text),
            ("{}".to_owned(), vec!["args-reserialised"])
        );
        assert_eq!(
            object(Arguments::NotObject(raw("[1, 2]")), text),
            ("{\"arguments\":[1,2]}".to_owned(), vec!["args-not-object"])
        );
        assert_eq!(
            object(Arguments::Malformed("{\"a".to_owned()), text),
            ("{\"arguments\":\"{\\\"a\"}".to_owned(), vec!["args-malformed"])
        );
        assert_eq!(
            object(Arguments::Malformed(" ".to_owned()), text),
            ("{}".to_owned(), vec!["args-malformed"])
        );
        assert_eq!(
            object(Arguments::Object(raw("{\"a\":1e999}")), text).0,
            "{\"arguments\":\"{\\\"a\\\":1e999}\"}"
        );
    }

    #[test]
    fn text_stays_and_free_input_is_arguments_from_now_on() {
        let text = |form| {
            let mut losses = Losses::default();
            let call = call(Arguments::Malformed("ls -l".to_owned()), form);
            let text = as_text(&call, 0, &mut losses).into_owned();
            (text, losses.finish().len())
        };
        assert_eq!(text(ArgumentForm::Text), ("ls -l".to_owned(), 0));
        assert_eq!(text(ArgumentForm::FreeText), ("ls -l".to_owned(), 1));
    }

    #[test]
    fn numbers_beyond_a_double_are_counted() {
        assert_eq!(
            inexact_integers("{\"a\":9007199254740993,\"b\":9007199254740992}"),
            1
        );
        assert_eq!(inexact_integers("[-123456789012345678901234567890,1e30,2.5]"), 1);
        assert_eq!(
            inexact_integers("{\"a\":\"9007199254740993 \\\" 9007199254740993\"}"),
            0
        );
    }
}
