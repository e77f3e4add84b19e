//! Tool calls that were streamed and stored in pieces.
//!
//! A stream sends a call's id and name once and its arguments a few characters at a time. If the pieces were not joined,
//! a list of calls contains one call with empty arguments, followed by entries without id and name that each contain a
//! piece of the text. The pieces belong to the call before them.

use chatmill_diag::codes;
use chatmill_intake::json::Value;
use chatmill_model::{ArgumentForm, ToolCall};

use crate::base::{Site, arguments::classify};

/// A call, with the number of pieces that were joined to it.
struct Whole<'d> {
    call: ToolCall,
    text: String,
    pieces: u64,
    place: String,
    value: Value<'d>,
}

/// Joins pieces to the calls before them. `calls` are those of `list`, in the same order; `field` is the list's place
/// below the message, without a leading dot.
pub(super) fn join<'d>(
    calls: Vec<ToolCall>,
    list: Value<'d>,
    field: &str,
    site: &mut Site<'_>,
) -> Vec<ToolCall> {
    if !calls.iter().skip(1).any(is_piece) {
        return calls;
    }
    let mut wholes: Vec<Whole<'d>> = Vec::new();
    for ((index, call), value) in calls.into_iter().enumerate().zip(list.items()) {
        match wholes.last_mut() {
            Some(whole)
                if is_piece(&call)
                    && whole.call.form == ArgumentForm::Text
                    && index_of(value).is_none_or(|index| index_of(whole.value) == Some(index)) =>
            {
                whole.text.push_str(call.arguments.source_text());
                whole.pieces += 1;
            }
            _ => wholes.push(Whole {
                text: call.arguments.source_text().to_owned(),
                call,
                pieces: 0,
                place: format!(".{field}[{index}]"),
                value,
            }),
        }
    }
    let mut joined = Vec::with_capacity(wholes.len());
    for whole in wholes {
        let mut call = whole.call;
        if whole.pieces > 0 {
            let text = format!(
                "{} entries after the call are pieces of its arguments and are joined to it",
                whole.pieces
            );
            site.note(&codes::SPLIT_TOOL_CALL, &text, whole.place.clone(), whole.value);
            call.arguments = classify(whole.text.into(), &whole.place, whole.value, site);
        }
        joined.push(call);
    }
    joined
}

/// The number that a stream gives to a call and its pieces.
fn index_of(value: Value<'_>) -> Option<&str> {
    value.get("index").and_then(Value::number_text)
}

fn is_piece(call: &ToolCall) -> bool {
    call.id.is_none() && call.name.is_none() && call.form == ArgumentForm::Text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Notes;
    use chatmill_diag::Limits;
    use chatmill_intake::json;
    use chatmill_model::Arguments;

    fn calls(list: &str) -> (Vec<ToolCall>, Vec<String>) {
        let document = json::scan(list.as_bytes(), 64).unwrap();
        let mut notes = Notes::new(0);
        let limits = Limits::default();
        let mut site = Site {
            notes: &mut notes,
            position: 0,
            id: None,
            message: document.root(),
            limits: &limits,
            is_strict: false,
        };
        let calls = super::super::calls(document.root(), &mut Vec::new(), &mut site);
        let names = notes.findings.iter().map(|finding| finding.code.name.to_owned());
        (calls.unwrap(), names.collect())
    }

    fn call(id: &str, name: &str, arguments: &str) -> String {
        format!(r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#)
    }

    #[test]
    fn pieces_belong_to_the_call_before_them() {
        let piece = |text: &str| call("null", "null", text);
        let list = [
            call(r#""a""#, r#""read""#, r#""""#),
            piece(r#""{\"pa""#),
            piece(r#""th\":""#),
            piece(r#""1}""#),
            call(r#""b""#, r#""list""#, r#""{}""#),
            call(r#""c""#, r#""find""#, r#""{\"q\":""#),
        ];
        let (joined, findings) = calls(&format!("[{}]", list.join(",")));
        let read: Vec<_> = joined
            .iter()
            .map(|call| (call.id.as_deref().unwrap(), call.arguments.source_text()))
            .collect();
        assert_eq!(read, [("a", "{\"path\":1}"), ("b", "{}"), ("c", "{\"q\":")]);
        assert!(matches!(joined[0].arguments, Arguments::Object(_)));
        assert_eq!(findings, ["split-tool-call"]);
    }

    #[test]
    fn a_piece_without_a_call_before_it_stays_a_call() {
        let list = [
            call("null", "null", r#""{\"a\"""#),
            call("null", "null", r#"":1}""#),
        ];
        let (joined, findings) = calls(&format!("[{}]", list.join(",")));
        assert_eq!(joined.len(), 1);
        assert_eq!(joined[0].arguments.source_text(), "{\"a\":1}");
        assert_eq!(findings, ["split-tool-call"]);
        let (alone, findings) = calls(&format!("[{}]", call("null", "null", "\"{}\"")));
        assert_eq!((alone.len(), findings.len()), (1, 0));
    }

    #[test]
    fn pieces_that_make_no_object_are_joined_all_the_same() {
        let list = [call(r#""a""#, "null", r#""x""#), call("null", "null", r#""y""#)];
        let (joined, _) = calls(&format!("[{}]", list.join(",")));
        assert_eq!(joined[0].arguments, Arguments::Malformed("xy".to_owned()));
    }
}
