//! Links small conversations: the cases in `cases/`.
//!
//! A message is a line of text followed by its attributes, each after `; `: ids, the sender if it is not `ann`, parts and references. A
//! part `call` or `result` has the form `id:name#metadata_id@caller` with optional pieces. Below is the result: changed ids, dropped
//! messages, links of references, pairs by the positions of message and part, and findings. `BLESS=1` writes the results anew.

use std::fmt::Write as _;
use std::path::Path;

use chatmill_diag::{Finding, Limits};
use chatmill_link::{Repeats, link};
use chatmill_model::{
    Linked, Message, MessageKind, PairedBy, Part, PartPlace, Preview, Reference, ReferenceForm, Role,
};
use serde_json::Value;

use crate::build::{by_id, call_part, conversation, result_part, text_message};

#[test]
fn cases_come_out_as_they_are_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/link/cases");
    for name in [
        "pairs_by_ids",
        "pairs_by_metadata",
        "pairs_by_order",
        "references",
        "repeats",
    ] {
        let path = folder.join(format!("{name}.txt"));
        let checked = chatmill_golden::check_cases(&path, comes_of);
        checked.unwrap_or_else(|message| panic!("{message}"));
    }
}

fn comes_of(case: &str) -> String {
    let mut limits = Limits::default();
    let mut messages = Vec::new();
    for line in case.lines() {
        match line
            .strip_prefix("at most ")
            .and_then(|rest| rest.split(' ').next())
        {
            Some(most) => limits.references_per_message = most.parse().unwrap(),
            None => messages.push(message(line)),
        }
    }
    let count = messages.len();
    let (linked, findings, repeats) = link(conversation(messages), &limits);
    describe(count, &linked, &findings, &repeats)
}

/// A message in the form of a case.
pub(crate) fn message(line: &str) -> Message {
    let mut message = Message {
        parts: Vec::new(),
        ..text_message("")
    };
    for clause in line.split("; ") {
        let (word, rest) = clause.split_once(' ').unwrap_or((clause, ""));
        let text = || Some(rest.to_owned());
        match word {
            "id" => message.id = text(),
            "external" => message.external_id = text(),
            "by" => message.sender = (rest == "bob").then_some(1),
            "name" => message.sender_name = text(),
            "type" => message.source_type = text(),
            "mentions" => message.mentions.extend(text()),
            "role" => message.role = Role::Assistant,
            "say" => message.parts.push(Part::Text(rest.replace("\\n", "\n"))),
            "mark" => message.parts.push(Part::CacheMark),
            "call" => {
                message.role = Role::Assistant;
                message.parts.push(call_part(rest));
            }
            "result" => {
                message.role = Role::Tool;
                message.parts.push(result_part(rest));
            }
            "notice" => {
                message.kind = MessageKind::Notice;
                message.parts.push(Part::Notice("joined".to_owned()));
            }
            "unspoken" => message.kind = MessageKind::Notice,
            "to" => message.references.push(reference(rest)),
            _ => panic!("{clause}"),
        }
    }
    message
}

/// A reference by the id of its target, or by a JSON object.
fn reference(description: &str) -> Reference {
    let Ok(Value::Object(description)) = serde_json::from_str(description) else {
        return by_id(description);
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let form = match description.get("excerpt") {
        Some(_) => ReferenceForm::Excerpt,
        None => ReferenceForm::Id,
    };
    Reference {
        target: text(description.get("to")),
        preview: description.get("shows").map(|shown| Preview {
            content: text(shown.get("content")),
            sender: text(shown.get("sender")),
            ..Preview::default()
        }),
        form,
        is_pseudo: description.contains_key("pseudo"),
        nested: Vec::new(),
    }
}

/// The result of linking `count` messages, as text.
fn describe(count: usize, linked: &Linked, findings: &[Finding], repeats: &Repeats) -> String {
    let mut out = String::new();
    let messages = &linked.conversation.messages;
    if repeats.dropped > 0 {
        let positions: Vec<String> = (0..count as u32)
            .map(|before| repeats.position(before).to_string())
            .collect();
        let (dropped, notices) = (repeats.dropped, repeats.dropped_notices);
        writeln!(
            out,
            "dropped {dropped}, notices {notices}: {}",
            positions.join(" ")
        )
        .unwrap();
    }
    for (message, links) in messages.iter().zip(&linked.links) {
        if repeats.dropped > 0 || message.id.as_deref().is_some_and(|id| id.contains('~')) {
            let (id, index) = (message.id.as_deref().unwrap_or("-"), message.origin.index);
            writeln!(out, "{}: {id}, read as {index}", message.position).unwrap();
        }
        for link in links {
            let target = link.target.map_or(String::new(), |target| format!(" {target}"));
            let same = if link.same_sender { ", same sender" } else { "" };
            writeln!(
                out,
                "{}: {}{target}{same}",
                message.position,
                link.status.as_str()
            )
            .unwrap();
        }
    }
    let place = |place: Option<PartPlace>| {
        place.map_or("-".to_owned(), |place| {
            format!("{}.{}", place.position, place.part)
        })
    };
    for pairing in &linked.pairings {
        let (call, result) = (place(pairing.call), place(pairing.result));
        let rule = pairing.paired_by.map_or("-", PairedBy::as_str);
        writeln!(out, "{call} -> {result} {} {rule}", pairing.status.as_str()).unwrap();
    }
    for finding in findings {
        let (code, count, span) = (finding.code.name, finding.count, finding.span);
        let (position, id) = (
            finding.position.unwrap(),
            finding.message_id.as_deref().unwrap_or("-"),
        );
        writeln!(
            out,
            "{code} ×{count} at {position} {id} {:?} {span:?}: {}",
            finding.path, finding.message
        )
        .unwrap();
    }
    if out.is_empty() { "nothing".to_owned() } else { out }
}
