//! Records and transcripts of trainers: `sharegpt` as LLaMA-Factory reads it, and `chatml`.

use serde_json::Value;

use super::{RuleBreaches, Written, array, has_keys, string};

pub(super) fn sharegpt(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let body = &written.body;
    let keys = [
        "conversations",
        "system?",
        "tools?",
        "images?",
        "videos?",
        "audios?",
    ];
    breaches.when(!has_keys(body, &keys), "SGP-01");
    let mut before = "";
    let turns = array(&body["conversations"]);
    for (index, turn) in turns.iter().enumerate() {
        breaches.check_at(index);
        let (from, value) = (string(&turn["from"]), string(&turn["value"]));
        let is_placed = match index % 2 {
            0 => matches!(from, "human" | "observation"),
            _ => matches!(from, "gpt" | "function_call"),
        };
        let is_turn = has_keys(turn, &["from", "value"]) && is_placed;
        breaches.when(!is_turn, "SGP-01");
        let is_answered = (before == "function_call") == (from == "observation");
        breaches.when(!is_answered, "SGP-02");
        if from == "function_call" {
            let thought = value
                .strip_prefix("<think>")
                .and_then(|rest| rest.split_once("</think>"));
            let beside = thought.map_or(value, |(_, called)| called);
            let tagged = beside
                .strip_suffix("</tool_call>")
                .and_then(|rest| rest.split_once("<tool_call>"));
            let called = tagged.map_or(beside, |(_, called)| called);
            let content: Value = serde_json::from_str(called).unwrap_or_default();
            let is_call = |call: &Value| {
                has_keys(call, &["name", "arguments"])
                    && call["arguments"].is_object()
                    && !string(&call["name"]).is_empty()
            };
            let several = array(&content);
            let are_calls = several.len() > 1 && several.iter().all(is_call);
            breaches.when(!is_call(&content) && !are_calls, "SGP-04");
        } else {
            let is_empty = value.is_empty() && from != "observation";
            breaches.when(is_empty, "SGP-01");
        }
        before = from;
    }
    breaches.check_the_whole();
    breaches.when(!matches!(before, "gpt" | "function_call"), "SGP-03");
    for (list, mark) in [
        ("images", "<image>"),
        ("videos", "<video>"),
        ("audios", "<audio>"),
    ] {
        let media = array(&body[list]);
        let marks = |turn: &Value| string(&turn["value"]).matches(mark).count();
        let marks: usize = turns.iter().map(marks).sum();
        let is_listed = media.iter().all(|address| !string(address).is_empty()) && marks == media.len();
        breaches.when(
            body.get(list).is_some() && (media.is_empty() || !is_listed),
            "SGP-06",
        );
    }
}

pub(super) fn chatml(written: &Written<'_>, breaches: &mut RuleBreaches) {
    breaches.when(written.text.is_empty(), "CML-03");
    for (index, turn) in written.text.split_inclusive("<|im_end|>\n").enumerate() {
        breaches.check_at(index);
        let inside = turn
            .strip_prefix("<|im_start|>")
            .and_then(|turn| turn.strip_suffix("<|im_end|>\n"))
            .and_then(|turn| turn.split_once('\n'));
        let Some((role, content)) = inside else {
            breaches.when(true, "CML-01");
            continue;
        };
        let is_role = matches!(role, "system" | "user" | "assistant");
        breaches.when(!is_role, "CML-02");
        let tag = match role {
            "user" => "<tool_response>",
            _ => "<tool_call>",
        };
        let is_forged = content.contains("<|im_") || role != "system" && content.contains(tag);
        breaches.when(is_forged, "CML-01");
    }
}
