//! Findings of rules: each `cases/<rule>.txt` is a test.
//!
//! The first line of a file names the tested codes; without it, the findings of all rules are shown. A case is a conversation with one JSON
//! value on each line: the differences from a conversation of the listed `u1` and `u2`; messages in their order, with ids `m0`, `m1`, … and
//! with references as linked; pairs of a call and its result, by the positions of their messages. The findings follow: severity, code,
//! position, id of the message and path in it, count, message, quote, and the marked part of the quote. `BLESS=1` writes them anew.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::format_push_string,
    clippy::disallowed_methods,
    missing_docs
)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use chatmill_diag::{Finding, Limits, Path as Place};
use chatmill_golden::check_cases;
use chatmill_model::{
    ArgumentForm, Arguments, CallStatus, Conversation, Extra, Link, LinkStatus, Linked, Media, MediaKind,
    MediaSource, Message, MessageKind, MessageOrigin, OffsetOrigin, OwnItem, Pairing, Part, PartPlace,
    Participant, Preview, RawJson, Reference, Role, TextArguments, Timestamp, ToolCall, ToolResult, Usage,
    Vendor, VendorItem,
};
use libtest_mimic::Trial;
use serde_json::Value;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let trials = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let first = fs::read_to_string(&path).unwrap();
        let codes = first
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# codes: "));
        let codes = codes.map(str::to_owned);
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        Trial::test(name, move || {
            Ok(check_cases(&path, |case| found(case, codes.as_deref()))?)
        })
    });
    let trials: Vec<Trial> = trials.collect();
    assert!(!trials.is_empty());
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code()
}

fn found(case: &str, codes: Option<&str>) -> String {
    let mut limits = Limits::default();
    let mut linked = Linked {
        conversation: Conversation {
            participants: ["u1", "u2"].map(|id| participant(id, true)).to_vec(),
            ..Conversation::default()
        },
        links: Vec::new(),
        pairings: Vec::new(),
    };
    for line in case.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["conversation"].is_object() {
            set_conversation(&line["conversation"], &mut linked.conversation, &mut limits);
        } else if line["pair"].is_array() {
            let place = |position: &Value| {
                let position = number(position)?;
                Some(PartPlace { position, part: 0 })
            };
            linked.pairings.push(Pairing {
                call: place(&line["pair"][0]),
                result: place(&line["pair"][1]),
                status: call_status(&line["status"]),
                paired_by: None,
            });
        } else {
            let message = message(&line, &mut linked.conversation);
            linked.conversation.messages.push(message);
            linked.links.push(list(&line["references"]).map(link).collect());
        }
    }
    let mut findings = Vec::new();
    chatmill_rule::check(&linked, &limits, &mut findings);
    let is_asked =
        |finding: &&Finding| codes.is_none_or(|codes| codes.split(' ').any(|code| code == finding.code.name));
    let out: String = findings.iter().filter(is_asked).map(describe).collect();
    if out.is_empty() { "nothing".to_owned() } else { out }
}

fn describe(finding: &Finding) -> String {
    let mut text = format!("{} {}", finding.severity.as_str(), finding.code.name);
    if let Some(position) = finding.position {
        text += &format!(" at {position}");
    }
    if let Some(id) = &finding.message_id {
        text += &format!(" {id}");
    }
    if let Place::Absolute(path) | Place::InMessage(path) = &finding.path {
        text += path;
    }
    if finding.count > 1 {
        text += &format!(" ×{}", finding.count);
    }
    text += &format!(": {}", finding.message);
    if let Some(detail) = &finding.detail {
        text += &format!(" | {}", detail.escape_debug());
    }
    if let Some(mark) = &finding.mark {
        text += &format!(" | {mark:?}");
    }
    text + "\n"
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().map(|number| u32::try_from(number).unwrap())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The one of these with this word.
fn one_of<T: Copy>(known: &[T], word: &Value, as_str: fn(T) -> &'static str) -> Option<T> {
    known
        .iter()
        .copied()
        .find(|known| Some(as_str(*known)) == word.as_str())
}

fn call_status(word: &Value) -> CallStatus {
    use CallStatus::{Duplicate, Early, Late, Orphaned, Paired, Unanswered};
    let known = [Paired, Late, Early, Unanswered, Orphaned, Duplicate];
    one_of(&known, word, CallStatus::as_str).unwrap()
}

fn participant(id: &str, listed: bool) -> Participant {
    Participant {
        id: id.to_owned(),
        listed,
        ..Participant::default()
    }
}

fn set_conversation(value: &Value, conversation: &mut Conversation, limits: &mut Limits) {
    conversation.title = text(&value["title"]);
    conversation.tools = list(&value["tools"])
        .map(|tool| RawJson(tool.to_string()))
        .collect();
    for known in &mut conversation.participants {
        known.name = text(&value["names"][&known.id]);
    }
    limits.now = value["now"].as_str().map(|day| day.parse().unwrap());
    let traits = &value["traits"];
    let is_so = |custom: &str| traits[custom] == true;
    conversation.traits.reference_list = text(&traits["reference_list"]).map(|field| &*field.leak());
    conversation.traits.senders_everywhere = is_so("senders_everywhere");
    conversation.traits.previews_rename = is_so("previews_rename");
    conversation.traits.pairs_by_place = is_so("pairs_by_place");
    conversation.traits.text_arguments = match traits["text_arguments"].as_str() {
        Some("with id") => TextArguments::WithId,
        Some("none") => TextArguments::None,
        _ => TextArguments::All,
    };
}

fn message(value: &Value, conversation: &mut Conversation) -> Message {
    let position = conversation.messages.len() as u32;
    let sender = value["from"].as_str().map(|id| {
        let participants = &mut conversation.participants;
        let known = participants.iter().position(|known| known.id == id);
        known.unwrap_or_else(|| {
            participants.push(participant(id, false));
            participants.len() - 1
        })
    });
    let roles = [Role::User, Role::Assistant, Role::System, Role::Tool];
    let role = one_of(&roles, &value["role"], Role::as_str).unwrap_or(Role::User);
    let extra = value["extra"].as_object().into_iter().flatten();
    Message {
        id: Some(format!("m{position}")),
        sender,
        sender_name: text(&value["name"]),
        kind: if value["kind"] == "notice" {
            MessageKind::Notice
        } else {
            MessageKind::Message
        },
        source_type: text(&value["type"]),
        usage: value["output"].as_u64().map(|output| Usage {
            output: Some(output),
            input: value["input"].as_u64(),
            requests: value["requests"]
                .as_u64()
                .and_then(|number| number.try_into().ok()),
            ..Usage::default()
        }),
        timestamp: time(&value["time"]),
        parts: list(&value["parts"]).map(part).collect(),
        references: list(&value["references"]).map(reference).collect(),
        extra: Extra(
            extra
                .map(|(key, value)| (key.clone(), RawJson(value.to_string())))
                .collect(),
        ),
        ..Message::new(role, position, MessageOrigin::default())
    }
}

/// A time by its seconds, or as written with its microseconds.
fn time(value: &Value) -> Option<Timestamp> {
    let instant = value
        .as_i64()
        .map(|seconds| seconds * 1_000_000)
        .or_else(|| value["instant"].as_i64());
    (!value.is_null()).then(|| Timestamp {
        instant,
        raw: text(&value["raw"]).unwrap_or_else(|| format!("second {value}")),
        offset: if instant.is_some() {
            OffsetOrigin::Explicit
        } else {
            OffsetOrigin::Missing
        },
    })
}

fn part(value: &Value) -> Part {
    let written = |key: &str| text(&value[key]);
    if let Some(text) = text(value) {
        Part::Text(text)
    } else if let Some(word) = value.get("media") {
        let inline = written("inline").map(MediaSource::Inline);
        Part::Media(Media {
            kind: one_of(&[MediaKind::Image, MediaKind::Audio], word, MediaKind::as_str).unwrap(),
            source: written("url")
                .map(MediaSource::Url)
                .or(inline)
                .unwrap_or(MediaSource::Upload),
            media_type: None,
            name: None,
        })
    } else if let Some(id) = value.get("call") {
        let other = written("value").map(|raw| Arguments::NotObject(RawJson(raw)));
        let other = other.or_else(|| written("malformed").map(Arguments::Malformed));
        let object = || Arguments::Object(RawJson(written("object").unwrap_or_else(|| "{}".to_owned())));
        Part::ToolCall(ToolCall {
            id: text(id),
            name: written("name"),
            arguments: other.unwrap_or_else(object),
            form: match value["form"].as_str() {
                Some("embedded") => ArgumentForm::Embedded,
                Some("free text") => ArgumentForm::FreeText,
                _ => ArgumentForm::Text,
            },
            metadata_id: written("metadata_id"),
            own: written("item").map(|raw| {
                Box::new(OwnItem::Client(VendorItem {
                    vendor: Vendor::Responses,
                    raw: RawJson(raw),
                }))
            }),
        })
    } else {
        Part::ToolResult(ToolResult {
            call_id: written("answers"),
            name: written("name"),
            content: "12 °C".to_owned(),
            metadata_id: written("metadata_id"),
            caller: written("caller"),
            ..ToolResult::default()
        })
    }
}

fn reference(value: &Value) -> Reference {
    let shown = &value["shows"];
    let preview = shown.is_object().then(|| Preview {
        content: text(&shown["content"]),
        sender: text(&shown["sender"]),
        sender_name: text(&shown["sender_name"]),
        timestamp: time(&shown["time"]),
        source_type: text(&shown["type"]),
        ..Preview::default()
    });
    Reference {
        target: text(&value["to"]),
        preview,
        ..Reference::default()
    }
}

fn link(value: &Value) -> Link {
    use LinkStatus::{Cyclic, Dangling, Itself, Preview, Pseudo, Resolved};
    let known = [Resolved, Preview, Dangling, Itself, Cyclic, Pseudo];
    Link {
        target: number(&value["position"]),
        status: one_of(&known, &value["status"], LinkStatus::as_str).unwrap(),
        same_sender: false,
        nested: Vec::new(),
    }
}
