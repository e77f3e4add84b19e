//! OpenTelemetry's messages of generative AI: parts with a type, and their text in `content`.

use chatmill_intake::json::Value;

use super::{answered, media, of_parts};
use crate::base::{Site, Turn};
use crate::grammar::{BlockForm, Grammar, Read, Sign, When, only, typed};

/// Messages of OpenTelemetry's conventions.
pub(crate) static OTEL: Grammar = Grammar {
    verified: "2026-11",
    lists: &["parts", "content"],
    signs: &[Sign::Words("parts", "content"), Sign::Words("content", "content")],
    blocks: &[
        typed("text", Read::Text(&["content"])),
        typed("reasoning", Read::Reasoning(&["content"])),
        typed("tool_call", Read::Call(["id", "name"], GIVEN)),
        typed("server_tool_call", Read::Call(["id", "name"], GIVEN)),
        only(typed("tool_call_response", Read::Own(result))),
        only(typed("server_tool_call_response", Read::Own(result))),
        typed("compaction", Read::Text(&["content", "summary"])),
        BlockForm::of(When::OneOf(&["uri", "blob", "file"]), Read::Own(media)),
    ],
    ..Grammar::own("otel", &["role", "parts"], turn)
};

/// The fields that may hold the arguments of a call.
const GIVEN: &[&str] = &["arguments", "args", "input", "server_tool_call"];

/// Reads a message, or the parts of a system text.
fn turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    of_parts(&OTEL, value, OTEL.list_in(value).unwrap_or_default(), site)
}

/// The result of a call.
fn result(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>) -> bool {
    answered(
        turn,
        path,
        part,
        [
            &["id"],
            &["name"],
            &[
                "response",
                "result",
                "output",
                "content",
                "server_tool_call_response",
            ],
        ],
        site,
    );
    true
}
