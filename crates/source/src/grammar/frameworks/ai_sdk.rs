//! Messages of the AI SDK: those of its user interface, versions 4 and 5, and those for a model.

use std::collections::{HashMap, HashSet};

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Part, Role, ToolCall, ToolResult};

use super::{Words, answered, begun, media, of_parts};
use crate::base::{
    ExtraFields, Keep as _, RepeatedText, Site, Turn, arguments, filled, first_present, first_text, items,
    present, repeats, text, text_of, words,
};
use crate::grammar::{ANTHROPIC, BlockForm, Grammar, Read, Sign, UsageForm, When, only, typed};

/// Messages of the AI SDK.
pub(crate) static AI_SDK: Grammar = Grammar {
    verified: "ai 6, 2026-11",
    lists: &["parts", "content"],
    signs: &[
        Sign::Field("toolInvocations"),
        Sign::Field("experimental_attachments"),
        Sign::Own(is_call),
        Sign::Words("parts", "text"),
    ],
    blocks: &[
        typed("text", Read::Text(&["text"])),
        typed("reasoning", Read::Own(reasoning)),
        only(typed("tool-call", CALL)),
        only(typed("tool-result", Read::Own(result))),
        typed("file", Read::Own(media)),
        typed("image", Read::Own(media)),
        typed("source", Read::Extra),
        only(typed("step-start", Read::Own(step))),
        only(typed("dynamic-tool", Read::Own(invocation))),
        only(typed("tool-invocation", Read::Own(nested_invocation))),
        only(typed("tool-approval-request", Read::Extra)),
        only(typed("tool-approval-response", Read::Extra)),
        only(BlockForm::of(When::Begins("source-"), Read::Extra)),
        only(BlockForm::of(When::Begins("data-"), Read::Extra)),
        only(BlockForm::of(When::Begins("tool-"), Read::Own(invocation))),
    ],
    usage: Some(UsageForm {
        // The models of the SDK count in objects.
        input: &["inputTokens", "inputTokens.total"],
        output: &["outputTokens", "outputTokens.total"],
        thoughts: &[
            "reasoningTokens",
            "outputTokenDetails.reasoningTokens",
            "outputTokens.reasoning",
        ],
        cached: &[
            "cachedInputTokens",
            "inputTokenDetails.cacheReadTokens",
            "inputTokens.cacheRead",
        ],
        written: &["inputTokenDetails.cacheWriteTokens", "inputTokens.cacheWrite"],
        total: Some("totalTokens"),
        ..UsageForm::NOTHING
    }),
    ..Grammar::own("ai-sdk", &["role", "content", "parts", "toolInvocations"], turn)
};

/// A call; its arguments had another name in version 4.
const CALL: Read = Read::Call(["toolCallId", "toolName"], &["input", "args"]);

/// Fields of a message that are read next to its list of parts.
pub(super) const KNOWN: [&str; 4] = words!(role id toolInvocations experimental_attachments);

/// Whether a message is a bare call.
fn is_call(value: Value<'_>) -> bool {
    present(value, "toolName").is_some() && present(value, "role").is_none()
}

/// Reads a message, or a system text.
fn turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    if value.kind() != Kind::Object {
        let mut turn = Turn::default();
        ANTHROPIC.content(&mut turn, "", value, site);
        return turn;
    }
    if is_call(value) {
        return bare_call(value, site);
    }
    if present(value, "role").is_none() {
        site.missing("role");
    }
    match AI_SDK.list_in(value) {
        Some(field) => of_parts(&AI_SDK, value, field, site),
        None => without_parts(value, site),
    }
}

/// Reads a message of the user interface, version 4, without parts.
fn without_parts(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let mut turn = begun(value);
    let thought = text(value.get("reasoning")).map(Part::Reasoning);
    turn.parts.extend(thought);
    invocations(&mut turn, value, site);
    turn.end_steps();
    let words = filled(value.get("content")).map(Part::Text);
    turn.parts.extend(words);
    attachments(&mut turn, value, site);
    turn.keep_rest(value, "", &[&KNOWN[..], &["content", "reasoning"]].concat());
    turn
}

/// Reads the fields next to the parts of a message.
pub(super) fn beside(turn: &mut Turn, value: Value<'_>, site: &mut Site<'_>) {
    invocations(turn, value, site);
    attachments(turn, value, site);
}

/// Reads calls with their results in a field next to the parts; calls that are also parts are read there.
fn invocations<'v>(turn: &mut Turn, value: Value<'v>, site: &mut Site<'_>) {
    let calls = turn.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call.id.clone()),
        _ => None,
    });
    let known_ids: HashSet<Option<String>> = calls.collect();
    let id = |call: Value<'v>| call.get("toolCallId").map(Value::written);
    let mut originals = HashMap::new();
    for own in items(value, "parts").filter_map(|part| present(part, "toolInvocation")) {
        originals.entry(id(own)).or_insert(own);
    }
    let mut step: Option<String> = None;
    for (index, part) in items(value, "toolInvocations").enumerate() {
        let own = present(part, "step")
            .and_then(Value::number_text)
            .map(str::to_owned);
        if own.is_some() && own != step {
            turn.begin_step();
            step = own;
        }
        if !known_ids.contains(&text(part.get("toolCallId"))) {
            invocation(turn, &format!("toolInvocations[{index}]"), part, site);
        } else if let Some(own) = originals.get(&id(part)) {
            repeats(part, *own);
        }
    }
}

/// Reads files in a field next to the parts.
fn attachments(turn: &mut Turn, value: Value<'_>, site: &mut Site<'_>) {
    for (index, file) in items(value, "experimental_attachments").enumerate() {
        let path = format!("experimental_attachments[{index}]");
        if !media(turn, &path, file, site) {
            turn.unknown(&path, file, site);
        }
    }
}

/// Reads a thought. Version 4 wrote it under another name, and its details repeat it piece by piece.
fn reasoning(turn: &mut Turn, _: &str, part: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(thought) = text(first_present(part, &["text", "reasoning"])) else {
        return false;
    };
    let mut again = RepeatedText::of(&thought);
    for detail in items(part, "details").filter_map(|detail| detail.get("text")) {
        if detail.string().is_some_and(|piece| again.holds(&piece)) {
            detail.as_str();
        }
    }
    turn.parts.push(Part::Reasoning(thought));
    true
}

/// The beginning of a step, which is one answer of the model with the results of its calls.
fn step(turn: &mut Turn, _: &str, _: Value<'_>, _: &mut Site<'_>) -> bool {
    turn.begin_step();
    true
}

/// The result of a call.
fn result(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>) -> bool {
    answered(
        turn,
        path,
        part,
        [&["toolCallId"], &["toolName"], &["output", "result"]],
        site,
    );
    true
}

/// Reads a call with its result inside one part, in the form of version 4 of the user interface.
fn nested_invocation(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>) -> bool {
    let inside = present(part, "toolInvocation");
    inside.is_some_and(|inside| invocation(turn, &format!("{path}.toolInvocation"), inside, site))
}

/// A call with its result in one part. The type of the part may contain the name of the tool.
fn invocation(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>) -> bool {
    let kind = text(part.get("type"));
    let in_type = kind.as_deref().and_then(|kind| kind.strip_prefix("tool-"));
    let name = text(present(part, "toolName")).or_else(|| in_type.map(str::to_owned));
    // Arguments that do not match the tool's schema are in the last of these.
    let given = arguments(first_present(part, &["input", "args", "rawInput"]), path, site);
    let id = text(part.get("toolCallId"));
    if id.is_none() && in_type.is_some() {
        return false;
    }
    let call = ToolCall::new(id.clone(), name.clone(), given);
    turn.parts.push(Part::ToolCall(call));
    let failed = present(part, "errorText");
    let is_denied = text(part.get("state")).as_deref() == Some("output-denied");
    let reason = present(part, "approval").filter(|_| is_denied);
    let reason = reason.and_then(|approval| present(approval, "reason"));
    let result = first_present(part, &["output", "result"]).or(failed).or(reason);
    if result.is_some() || is_denied {
        turn.parts.push(Part::ToolResult(ToolResult {
            call_id: id,
            name,
            content: result.map(text_of).unwrap_or_default(),
            is_error: failed.is_some() || is_denied,
            ..ToolResult::default()
        }));
    }
    if part.get("providerExecuted").and_then(Value::as_bool) == Some(true) && turn.step.is_some() {
        // The model read this result before it wrote what follows.
        turn.step = Some(turn.parts.len());
    }
    // These fields are retained in every container, because they name the reason of a missing result.
    let mut rest = ExtraFields::new();
    let known = words!(type toolCallId toolName state step input args rawInput output result errorText);
    rest.keep_rest(part, path, &known);
    turn.rest.extend(rest);
    true
}

/// Reads a bare call.
fn bare_call(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let mut turn = Turn {
        role: Some(Role::Assistant),
        ..Turn::default()
    };
    let given = arguments(first_present(value, &["input", "args"]), "", site);
    let call = ToolCall::new(text(value.get("toolCallId")), text(value.get("toolName")), given);
    turn.parts.push(Part::ToolCall(call));
    turn
}

/// Reads the SDK's result of one request: text, thoughts and calls next to each other; `None` if it has neither.
pub(crate) fn answer(value: Value<'_>, site: &mut Site<'_>) -> Option<Turn> {
    let mut turn = Turn {
        role: Some(Role::Assistant),
        ..Turn::default()
    };
    let field = |keys: &[&str]| first_text(value, keys).filter(|own_text| !own_text.is_empty());
    let thought = field(&["reasoningText", "reasoning"]).map(Part::Reasoning);
    let own_text = field(&["text", "generation", "output_text"]).map(Part::Text);
    turn.parts.extend(thought.into_iter().chain(own_text));
    for (index, call) in items(value, "toolCalls").enumerate() {
        invocation(&mut turn, &format!("toolCalls[{index}]"), call, site);
    }
    let known = words!(reasoningText reasoning text generation output_text toolCalls usage);
    turn.keep_rest(value, "", &known);
    // Each step of the request repeats its texts, and the last step those of the whole.
    let words = Words::of(&turn.parts);
    for step in items(value, "steps") {
        for holder in std::iter::once(step).chain(items(step, "content")) {
            words.have(holder.get("text"));
        }
    }
    (!turn.parts.is_empty()).then_some(turn)
}
