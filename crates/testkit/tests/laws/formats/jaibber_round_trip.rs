//! A capture of Jaibber's payloads reads back as the same conversation, except for the declared losses: compared field
//! by field, with the names of people and agents of one account. The completeness test covers conversations of other
//! systems.

use std::collections::BTreeSet;

use chatmill_diag::Limits;
use chatmill_dialect::{Loss, LossCode, Policy, View};
use chatmill_intake::json;
use chatmill_model::{Linked, Message, MessageKind, Role};
use chatmill_source::{FrameView, ReadOptions};
use chatmill_testkit::chats::text;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

const PROJECT: &str = "p1";

/// Reads rows as those of one project; `None` if they make no conversation.
fn read(rows: &str) -> Option<Linked> {
    let limits = Limits::default();
    let document = json::scan(rows.as_bytes(), limits.depth).unwrap();
    let source = chatmill_source::find("jaibber-events").unwrap();
    let frame = FrameView {
        document: &document,
        bytes: rows.as_bytes(),
        start: 0,
        key: Some(PROJECT),
        options: ReadOptions::default(),
    };
    let reading = source.read(&frame, &limits);
    assert!(reading.rows.balances(), "{:?} {rows}", reading.rows);
    assert!(reading.error.is_none(), "{rows}");
    Some(chatmill_link::link(reading.conversation?, &limits).0)
}

fn written(linked: &Linked) -> (String, Vec<Loss>) {
    let dialect = chatmill_dialect::find("jaibber-events").unwrap();
    let policy = Policy::default();
    let view = View::whole(linked, None, &policy);
    let mut renderings = Vec::new();
    dialect.render_each(&view, &mut |sink, rendering| {
        assert!(rendering.is_valid());
        renderings.push((sink.text().to_owned(), rendering.losses));
    });
    assert_eq!(renderings.len(), 1);
    renderings.remove(0)
}

/// The conversation without the declared losses: the content of every message, with the ids of participants instead of numbers.
fn forget(linked: &Linked, losses: &[Loss]) -> Vec<Value> {
    let dropped = |code: LossCode, position: u32| {
        losses
            .iter()
            .any(|loss| loss.code == code && loss.position == Some(position))
    };
    let drops_fields = losses
        .iter()
        .any(|loss| loss.code == LossCode::ExtraDropped && loss.position.is_none());
    let conversation = &linked.conversation;
    let mut messages = Vec::new();
    for message in &conversation.messages {
        if dropped(LossCode::NoticeDropped, message.position) {
            continue;
        }
        let sender = message.sender.map(|sender| {
            let sender = &conversation.participants[sender];
            json!([sender.id, sender.name])
        });
        let extra: Vec<Value> = message
            .extra
            .0
            .iter()
            .filter(|(key, _)| {
                !drops_fields
                    || !(key.starts_with("envelope.")
                        || ["sender", "status", "partialText"].contains(&key.as_str()))
            })
            .map(|(key, value)| json!([key, serde_json::from_str::<Value>(value.as_str()).unwrap()]))
            .collect();
        let mut extra: Vec<String> = extra.iter().map(Value::to_string).collect();
        extra.sort();
        let targets: Vec<_> = message
            .references
            .iter()
            .filter_map(|reference| reference.target.clone())
            .collect();
        // The desktop client does not store the type of an entry; a payload does.
        let by_role = match message.role {
            Role::Assistant => "response",
            _ => "message",
        };
        let word = message
            .source_type
            .as_deref()
            .or((message.kind == MessageKind::Message).then_some(by_role));
        let parts: Vec<String> = message.parts.iter().map(|part| format!("{part:?}")).collect();
        // The order of mentions has no meaning.
        let mentions = message.mentions.iter();
        let mut mentions: Vec<String> = mentions.filter_map(|id| mentioned(linked, message, id)).collect();
        mentions.sort_unstable();
        messages.push(json!({
            "id": message.id, "sender": sender, "sender_name": message.sender_name, "role": message.role.as_str(),
            "kind": message.kind.as_str(), "type": word, "parts": parts, "targets": targets,
            "mentions": mentions, "extra": extra,
        }));
    }
    messages
}

/// The form of a mention in payloads: for participants without messages it is the name, if that is unique and no field
/// is kept unchanged.
fn mentioned(linked: &Linked, message: &Message, id: &str) -> Option<String> {
    let people = &linked.conversation.participants;
    let place = people.iter().position(|person| person.id == id);
    let is_heard = |place: usize| spoken(linked).any(|message| message.sender == Some(place));
    let Some(place) = place.filter(|place| !is_heard(*place)) else {
        return Some(id.to_owned());
    };
    let called = |place: usize| people[place].name.as_ref().map(|name| name.to_lowercase());
    let is_only = (0..people.len()).all(|other| other == place || called(other) != called(place));
    let is_kept = message.extra.get("mentions").is_some();
    people[place].name.clone().filter(|_| is_only && !is_kept)
}

/// The messages and notices that payloads contain.
fn spoken(linked: &Linked) -> impl Iterator<Item = &Message> {
    let messages = linked.conversation.messages.iter();
    messages.filter(|message| message.source_type.as_deref() != Some("attachment"))
}

/// The participants who speak, with their accounts: the part of the roster that remains.
fn speaking(linked: &Linked) -> BTreeSet<String> {
    spoken(linked)
        .filter_map(|message| Some(&linked.conversation.participants[message.sender?]))
        .map(|person| {
            let account = person.extra.get("userId").map(|raw| raw.as_str().to_owned());
            format!("{} {:?} {account:?}", person.id, person.name)
        })
        .collect()
}

#[test]
fn the_context_of_a_capture_holds_whole_answers_and_no_notices() {
    let event = |name: &str, kind: &str, id: &str, text: &str| json!({"from": "u1", "fromUsername": name, "projectId": PROJECT, "text": text, "messageId": id, "type": kind});
    let mut typing = event("Coder", "typing", "t1", "");
    typing["responseId"] = json!("r1");
    let mut pickup = event("Coder", "message", "n1", "Picking up task: T");
    pickup["isTaskNotification"] = json!(true);
    let rows = json!([
        event("ann", "message", "m1", "@Coder?"),
        typing,
        event("Coder", "chunk", "r1", "Hel"),
        event("Coder", "response", "r1", "Hello!"),
        event("Coder", "chunk", "r1", "late"),
        pickup,
        event("QA", "error", "r2", "Agent error: boom"),
        event("QA", "chunk", "r3", "half an "),
        event("QA", "chunk", "r3", "answer"),
    ]);
    let linked = read(&rows.to_string()).unwrap();
    let dialect = chatmill_dialect::find("jaibber-context").unwrap();
    let policy = Policy::default();
    let view = View::whole(&linked, None, &policy);
    let mut texts = Vec::new();
    dialect.render_each(&view, &mut |sink, _| texts.push(sink.text().to_owned()));
    assert_eq!(
        texts,
        [
            "Respond ONLY to the final user message. Previous messages are for context.\n\nUser: @Coder?\n\n\
             Assistant (Coder): Hello!\n\nAssistant (QA): Agent error: boom\n\nAssistant (QA): half an answer"
        ]
    );
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("Coder"),
        Just("QA"),
        Just("Zoé"),
        Just("coder"),
        Just("Testing Agent")
    ]
}

fn said() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => text(),
        1 => Just("@Coder and @ann, please".to_owned()),
        1 => Just("@testing agent: [HANDOFF: @QA \"look\"]".to_owned()),
        1 => Just(String::new()),
    ]
}

fn id() -> impl Strategy<Value = String> {
    (0_u32..12).prop_map(|number| format!("m{number}"))
}

/// A payload without a type.
fn payload() -> impl Strategy<Value = Value> {
    let account = prop_oneof![Just("u1"), Just("u2")];
    (account, said(), id()).prop_map(|(account, text, id)| {
        let name = if account == "u1" { "ann" } else { "bo" };
        json!({"from": account, "fromUsername": name, "projectId": PROJECT, "text": text, "messageId": id})
    })
}

fn message() -> impl Strategy<Value = Value> {
    let file = json!({"id": "f1", "filename": "a.png", "mimeType": "image/png", "fileSize": 12, "blobUrl": "https://e.com/a.png"});
    let plain = json!({"filename": "notes"});
    let files = prop_oneof![Just(json!([])), Just(json!([file])), Just(json!([plain, file]))];
    (
        payload(),
        option::of(id()),
        option::of(files),
        option::of(any::<bool>()),
    )
        .prop_map(|(mut row, parent, files, plan)| {
            row["type"] = json!("message");
            if let Some(parent) = parent {
                row["parentMessageId"] = json!(parent);
            }
            if let Some(files) = files {
                row["attachments"] = files;
            }
            if plan == Some(true) {
                row["executionMode"] = json!("plan");
                row["mentions"] = json!(["Coder", "Nobody"]);
            }
            row
        })
}

fn answer() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        Just("typing"),
        Just("chunk"),
        Just("response"),
        Just("done"),
        Just("error"),
        Just("message"),
        Just("wave"),
        Just("deregister"),
    ];
    let chain = option::of(vec(prop_oneof![Just("coder"), Just("qa")], 0..4));
    (payload(), kind, name(), id(), chain, any::<bool>()).prop_map(
        |(mut row, kind, name, stream, chain, flag)| {
            row["type"] = json!(kind);
            row["fromUsername"] = json!(name);
            if flag || matches!(kind, "message" | "wave" | "deregister") {
                row["agentName"] = json!(name);
            }
            if kind == "typing" || (flag && kind == "chunk") {
                row["responseId"] = json!(stream);
            }
            if kind == "message" && flag {
                row["isTaskNotification"] = json!(true);
            }
            if let Some(chain) = chain {
                row["isAgentMessage"] = json!(true);
                row["responseDepth"] = json!(chain.len());
                row["respondingChain"] = json!(chain);
            }
            row
        },
    )
}

fn other() -> impl Strategy<Value = Value> {
    let stored = (id(), said(), 0_u32..60, prop_oneof![Just("user"), Just("agent"), Just("api")]).prop_map(
        |(id, text, second, kind)| {
            let name = if kind == "user" { "ann" } else { "Coder" };
            let word = if kind == "agent" { "response" } else { "message" };
            json!({"id": id, "projectId": PROJECT, "senderId": "u1", "senderType": kind, "senderName": name, "type": word,
                "text": text, "parentMessageId": null, "metadata": {"k": 1}, "createdAt": format!("2026-01-01T00:00:{second:02}Z")})
        },
    );
    let entry = (
        id(),
        said(),
        name(),
        prop_oneof![Just("sent"), Just("done"), Just("error")],
    )
        .prop_map(|(id, text, name, status)| {
            let who = if status == "sent" { "me" } else { "them" };
            json!({"id": id, "conversationId": PROJECT, "sender": who, "senderName": name, "text": text,
                "timestamp": "2026-01-01T00:00:30Z", "status": status})
        });
    let presence = Just(
        json!({"userId": "u3", "username": "kim", "isAgent": true, "agentName": "QA",
        "agentInstructions": "test", "projectIds": [PROJECT]}),
    );
    let task = Just(
        json!({"type": "task-created", "projectId": PROJECT, "task": {"title": "Paint", "createdBy": "u1",
        "createdByName": "ann", "createdByType": "user", "assignedAgentName": "Coder"}}),
    );
    let upload = option::of(id()).prop_map(|message| {
        json!({"id": "f9", "projectId": PROJECT, "messageId": message, "uploadedBy": "u2", "uploaderName": "bo",
            "filename": "b.ogg", "mimeType": "audio/ogg", "blobUrl": "https://e.com/b"})
    });
    prop_oneof![3 => stored, 2 => entry, 1 => presence, 1 => task, 1 => upload]
}

fn row() -> impl Strategy<Value = Value> {
    let bare = prop_oneof![3 => message(), 4 => answer()];
    let event = (bare, option::of((0_u32..8, any::<bool>()))).prop_map(|(row, envelope)| match envelope {
        None => row,
        Some((number, as_text)) => {
            let data = if as_text { json!(row.to_string()) } else { row };
            json!({"id": format!("e{number}"), "clientId": "c", "timestamp": 1_767_225_600_000_u64, "name": "message", "data": data})
        }
    });
    prop_oneof![3 => event, 1 => other()]
}

fn check(linked: &Linked) -> Result<(), TestCaseError> {
    let (text, losses) = written(linked);
    let parsed: Value = serde_json::from_str(&text).unwrap();
    prop_assert_eq!(parsed.to_string().len(), text.len(), "compact");
    let again = read(&text);
    let expected = forget(linked, &losses);
    let Some(again) = again else {
        prop_assert!(expected.is_empty(), "{}", text);
        return Ok(());
    };
    prop_assert_eq!(expected, forget(&again, &[]), "{}", text);
    prop_assert_eq!(speaking(linked), speaking(&again), "{}", text);
    let (twice, _) = written(&again);
    // Without a silent participant of the same name, a name may become unique, and then it is a mention.
    if losses
        .iter()
        .all(|loss| loss.code != LossCode::ParticipantDropped)
    {
        prop_assert_eq!(&text, &twice);
    }
    let (thrice, _) = written(&read(&twice).unwrap());
    prop_assert_eq!(twice, thrice);
    Ok(())
}

proptest! {
    #![proptest_config(chatmill_drawn::law(30))]

    #[test]
    fn a_capture_that_is_written_as_payloads_reads_back(rows in vec(row(), 0..24)) {
        let text = json!(rows).to_string();
        if let Some(linked) = read(&text) {
            check(&linked)?;
        }
    }
}
