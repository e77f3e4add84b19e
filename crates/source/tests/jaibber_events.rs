//! Jaibber's captures, from the files that hold them to conversations.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod dump;

use std::collections::BTreeMap;

use chatmill_diag::{Finding, Limits, Path};
use chatmill_intake::{Framing, Head, json};
use chatmill_model::{Conversation, MediaSource, Message, MessageKind, Part, ParticipantKind, Role};
use chatmill_source::{FrameView, JaibberEvents, Reading, Source};
use serde_json::{Value, json};

/// Cuts frames into rows and reads them by project, as the engine does.
fn gather(frames: &[Value]) -> BTreeMap<String, Reading> {
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for frame in frames {
        let text = frame.to_string();
        let document = json::scan(text.as_bytes(), 128).unwrap();
        for row in JaibberEvents.rows(&document).expect("a frame that can be cut") {
            for key in row.keys {
                rows.entry(key)
                    .or_default()
                    .push(text.get(row.span.clone()).unwrap().to_owned());
            }
        }
    }
    rows.into_iter()
        .map(|(key, rows)| {
            let reading = read_as(&format!("[{}]", rows.join(",")), Some(&key), &Limits::default());
            (key, reading)
        })
        .collect()
}

fn read_as(text: &str, key: Option<&str>, limits: &Limits) -> Reading {
    let document = json::scan(text.as_bytes(), 128).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: 0,
        key: key.filter(|key| !key.is_empty()),
    };
    let reading = JaibberEvents.read(&frame, limits);
    assert!(reading.rows.balances(), "{:?}", reading.rows);
    reading
}

/// Reads rows of one project.
fn read(rows: &Value) -> Reading {
    read_as(&rows.to_string(), None, &Limits::default())
}

fn conversation(reading: &Reading) -> &Conversation {
    reading.conversation.as_ref().unwrap()
}

fn names(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code.name).collect()
}

fn turns(reading: &Reading) -> Vec<String> {
    let messages = &conversation(reading).messages;
    let said = messages
        .iter()
        .filter(|message| message.kind == MessageKind::Message);
    said.map(|message| message.text().into_owned()).collect()
}

/// A live payload.
fn payload(name: &str, kind: &str, id: &str, text: &str) -> Value {
    json!({"from": "u1", "fromUsername": name, "projectId": "p", "text": text, "messageId": id, "type": kind})
}

fn answer(kind: &str, id: &str, text: &str) -> Value {
    let mut event = payload("Coder", kind, id, text);
    event["agentName"] = json!("Coder");
    event
}

fn begin(id: &str, stream: &str) -> Value {
    let mut event = answer("typing", id, "");
    event["responseId"] = json!(stream);
    event
}

fn rest(id: &str, text: &str, at: &str) -> Value {
    json!({"id": id, "projectId": "p", "senderId": "u1", "senderType": "user", "senderName": "ann", "type": "message",
        "text": text, "parentMessageId": null, "metadata": null, "createdAt": at})
}

#[test]
fn frames_of_every_kind_are_cut_into_rows_by_project() {
    let frames = [
        payload("ann", "message", "m1", "bare"),
        json!({"id": "e", "clientId": "u", "data": payload("ann", "message", "m2", "in an envelope")}),
        json!({"id": "e", "name": "message", "data": payload("ann", "message", "m3", "as text").to_string()}),
        json!({"data": [rest("m5", "newer", "2026-01-01T00:00:02Z"), rest("m4", "older", "2026-01-01T00:00:01Z")],
            "pagination": {"cursor": null, "hasMore": false}}),
        json!({"data": [{"id": "m6", "text": "page's project"}, 7], "projectId": "p", "meta": {"cursor": null}}),
        json!({"chat_messages": {
            "p": [{"id": "m7", "sender": "me", "senderName": "ann", "text": "stored", "status": "sent"}],
            "q": [{"id": "n1", "sender": "me", "senderName": "ann", "text": "elsewhere", "status": "sent"}],
            "empty": [], "none": null, "odd": 3}}),
        json!({"p": [{"id": "m8", "sender": "me", "senderName": "ann", "text": "bare store", "status": "sent"}]}),
        json!({"event": "message.created", "data": {"message": rest("m9", "hooked", "2026-01-01T00:00:03Z")}}),
        json!({"clientId": "u9", "data": {"userId": "u9", "username": "zoe", "isAgent": false, "projectIds": ["p", "q"]}}),
        json!({"channel": "jaibber:project:q", "data": {"from": "u1", "text": "by channel", "messageId": "n2", "type": "message"}}),
        json!({"id": "f", "projectId": "q", "messageId": "n1", "filename": "a.png", "mimeType": "image/png", "blobUrl": "https://e.com/a"}),
        json!({"from": "u1", "text": "nowhere", "messageId": "x", "type": "message"}),
    ];
    let readings = gather(&frames);
    let keys: Vec<&str> = readings.keys().map(String::as_str).collect();
    assert_eq!(keys, ["", "odd", "p", "q"]);
    let p = &readings["p"];
    assert_eq!(
        (p.rows.rows, p.rows.messages, p.rows.merged, p.rows.rejected),
        (11, 9, 1, 1)
    );
    assert_eq!(conversation(p).source_id.as_deref(), Some("p"));
    assert_eq!(turns(&readings["q"]), ["elsewhere", "by channel"]);
    let files = conversation(&readings["q"]).messages[0].parts.len();
    assert_eq!(files, 2);
    for key in ["p", "q"] {
        let zoe = conversation(&readings[key]).participants[0].clone();
        assert_eq!((zoe.id.as_str(), zoe.name.as_deref()), ("u9", Some("zoe")));
    }
    assert_eq!(conversation(&readings[""]).source_id, None);
    assert!(names(&readings[""].findings).contains(&"missing-field"));
    assert!(readings["odd"].conversation.is_none() && readings["odd"].rejects.len() == 1);
}

/// How sure the source is of a record.
fn confidence(record: &str) -> Option<u8> {
    let head = Head {
        framing: Framing::Documents,
        complete: true,
        bytes: record.as_bytes().to_vec(),
    };
    JaibberEvents
        .detect(&head.sketch())
        .map(|evidence| evidence.confidence)
}

#[test]
fn every_kind_of_record_is_recognised_and_others_are_not() {
    for (record, least) in [
        (payload("ann", "message", "m1", "hi"), 90),
        (
            json!({"clientId": "c", "data": payload("ann", "message", "m1", "hi")}),
            90,
        ),
        (
            json!({"id": "e", "clientId": "c", "connectionId": "d", "name": "message", "data": "{}"}),
            60,
        ),
        (
            json!({"clientId": "c", "data": {"userId": "u", "username": "ann", "isAgent": false}}),
            80,
        ),
        (json!({"userId": "u", "isAgent": true, "projectIds": []}), 80),
        (rest("1", "x", "2026-01-01T00:00:00Z"), 85),
        (
            json!({"data": [rest("1", "x", "2026-01-01T00:00:00Z")], "pagination": {"cursor": null}}),
            90,
        ),
        (
            json!({"event": "message.created", "data": {"message": {"id": "1"}}}),
            80,
        ),
        (
            json!({"type": "task-updated", "task": {"id": "t"}, "projectId": "p"}),
            80,
        ),
        (
            json!({"id": "f", "uploadedBy": "u", "filename": "a", "blobUrl": "https://e.com/a"}),
            80,
        ),
        (
            json!({"data": [{"id": "f", "filename": "a", "blobUrl": "https://e.com/a"}]}),
            80,
        ),
        (
            json!({"p": [{"id": "1", "conversationId": "p", "sender": "me", "status": "sent"}]}),
            80,
        ),
        (json!({"chat_messages": {"p": [{"id": "1"}]}}), 60),
        (
            json!({"id": "1", "conversationId": "p", "sender": "me", "text": "x", "status": "sent"}),
            70,
        ),
        (json!({"type": "chunk", "responseId": "r", "text": "x"}), 60),
        (json!({"type": "poke", "messageId": "m", "projectId": "p"}), 70),
    ] {
        let found = confidence(&record.to_string());
        assert!(
            found.is_some_and(|found| found >= least),
            "{found:?} for {record}"
        );
    }
    for record in [
        r#"{"role":"user","content":"x","message_id":"1"}"#,
        r#"{"data":[{"id":"1","object":"model"}],"meta":{}}"#,
        r#"{"message_id":"m","thread_id":"t","type":"user","content":"{}","created_at":"x"}"#,
        r#"{"event":"payment.created","data":{"id":"1"}}"#,
        r#"{"conversation_list":[{"message_id":"m","sender":"u"}]}"#,
        "[]",
    ] {
        assert_eq!(confidence(record), None, "{record}");
    }
}

#[test]
fn what_is_not_of_this_system_is_not_cut_and_is_a_fault_when_read() {
    for text in [
        r#"{"a":1}"#,
        "[]",
        "3",
        r#"{"p":[{"no":"sender"}]}"#,
        r#"{"data":[],"data":[{"id":"1","text":"x"}]}"#,
        "{}",
    ] {
        let document = json::scan(text.as_bytes(), 128).unwrap();
        assert_eq!(JaibberEvents.rows(&document), None, "{text}");
        if text != "[]" {
            let reading = read_as(text, None, &Limits::default());
            assert!(
                reading.fault.is_some() && reading.conversation.is_none(),
                "{text}"
            );
        }
    }
    let small = Limits {
        messages_per_conversation: 1,
        ..Limits::default()
    };
    let rows = json!([rest("1", "a", "x"), rest("2", "b", "x")]).to_string();
    assert_eq!(
        read_as(&rows, None, &small).fault.unwrap().code.name,
        "conversation-too-large"
    );
}

#[test]
fn presence_alone_makes_a_roster_but_no_conversation() {
    let row = json!([{"userId": "u1", "username": "ann", "isAgent": true, "projectIds": ["p"],
        "agentName": "Coder", "agentInstructions": "Be brief.", "machineName": "box"}]);
    let reading = read(&row);
    assert!(reading.conversation.is_none() && reading.fault.is_none());
    assert_eq!((reading.rows.rows, reading.rows.merged), (1, 1));

    let mut rows = row.as_array().unwrap().clone();
    rows.push(payload("ann", "message", "m1", "hi"));
    rows.push(answer("message", "m2", "ho"));
    let reading = read(&json!(rows));
    let people = &conversation(&reading).participants;
    let seen: Vec<_> = people
        .iter()
        .map(|person| (person.id.as_str(), person.name.as_deref().unwrap(), person.kind))
        .collect();
    assert_eq!(
        seen,
        [
            ("u1", "ann", ParticipantKind::Human),
            ("u1/Coder", "Coder", ParticipantKind::Agent)
        ]
    );
    let facts: Vec<&str> = people[1].extra.0.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(facts, ["userId", "agentInstructions", "machineName"]);
    let roles: Vec<Role> = conversation(&reading)
        .messages
        .iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
}

#[test]
fn the_whole_answer_takes_the_place_of_its_pieces() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("chunk", "r1", "Hel"),
        payload("ann", "message", "m1", "meanwhile"),
        answer("chunk", "r1", "lo"),
        answer("response", "r1", "Hello!"),
    ]));
    assert_eq!(turns(&reading), ["meanwhile", "Hello!"]);
    let messages = &conversation(&reading).messages;
    assert_eq!(messages[0].kind, MessageKind::Notice);
    assert_eq!(
        (messages[2].id.as_deref(), messages[2].origin.index),
        (Some("r1"), 4)
    );
    assert_eq!(names(&reading.findings), [""; 0]);
    assert_eq!(
        (reading.rows.messages, reading.rows.notices, reading.rows.merged),
        (2, 1, 2)
    );
}

#[test]
fn pieces_of_an_answer_may_have_ids_of_their_own() {
    let mut rows = vec![begin("t1", "r1")];
    for (id, kind, text) in [
        ("c1", "chunk", "a"),
        ("c2", "chunk", "b"),
        ("e1", "response", "ab."),
    ] {
        let mut row = answer(kind, id, text);
        row["responseId"] = json!("r1");
        rows.push(row);
    }
    let reading = read(&json!(rows));
    assert_eq!(turns(&reading), ["ab."]);
    assert_eq!(conversation(&reading).messages[1].id.as_deref(), Some("e1"));
    assert_eq!(reading.findings, []);
}

#[test]
fn an_answer_without_its_end_keeps_its_pieces_and_a_mark() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("chunk", "r1", "Hel"),
        payload("ann", "message", "m1", "meanwhile"),
        answer("chunk", "r1", "lo"),
        begin("t2", "r2"),
    ]));
    assert_eq!(turns(&reading), ["meanwhile", "Hello"]);
    let message = &conversation(&reading).messages[2];
    assert_eq!(message.source_type.as_deref(), Some("chunk"));
    assert_eq!(message.id.as_deref(), Some("r1"));
    let found: Vec<_> = reading
        .findings
        .iter()
        .map(|finding| (finding.code.name, finding.position))
        .collect();
    assert_eq!(
        found,
        [("unfinished-stream", Some(2)), ("unfinished-stream", Some(3))],
        "the second was only begun"
    );
}

#[test]
fn an_answer_without_its_beginning_is_kept_as_far_as_it_goes() {
    let reading = read(&json!([
        answer("chunk", "r1", "lo"),
        answer("chunk", "r1", "!"),
        begin("t1", "r1")
    ]));
    assert_eq!(turns(&reading), ["lo!"]);
    assert_eq!(names(&reading.findings), ["unfinished-stream", "orphan-chunk"]);
    assert_eq!(reading.findings[1].count, 2);
    assert_eq!(reading.findings[1].path, Path::Absolute("$[0]".to_owned()));

    let reading = read(&json!([
        answer("chunk", "r1", "lo"),
        answer("response", "r1", "Hello")
    ]));
    assert_eq!(turns(&reading), ["Hello"]);
    assert_eq!(names(&reading.findings), ["orphan-chunk"]);
    assert_eq!(reading.findings[0].severity, chatmill_diag::Severity::Note);

    let mut lost = answer("chunk", "r1", "alone");
    lost.as_object_mut().unwrap().remove("messageId");
    let reading = read(&json!([lost.clone(), lost]));
    assert_eq!(turns(&reading), ["alone", "alone"]);
    let orphans = names(&reading.findings);
    assert_eq!(orphans.iter().filter(|name| **name == "orphan-chunk").count(), 2);
}

#[test]
fn late_pieces_leave_the_answer_as_it_is() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("response", "r1", "Hello"),
        answer("chunk", "r1", "lo"),
        answer("chunk", "r1", "lo"),
    ]));
    assert_eq!(turns(&reading), ["Hello"]);
    assert_eq!(names(&reading.findings), ["late-chunk"]);
    assert_eq!(
        (reading.findings[0].count, reading.findings[0].position),
        (2, Some(1))
    );
    assert_eq!(reading.rows.merged, 2);
}

#[test]
fn an_error_ends_an_answer_and_what_was_said_before_stays_with_it() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("chunk", "r1", "Hel"),
        answer("error", "r1", "Agent error: boom")
    ]));
    let message = &conversation(&reading).messages[1];
    assert_eq!(message.text(), "Agent error: boom");
    assert_eq!(message.source_type.as_deref(), Some("error"));
    assert_eq!(message.role, Role::Assistant);
    assert_eq!(message.extra.get("partialText").unwrap().as_str(), "\"Hel\"");
    assert_eq!(reading.findings, []);
}

#[test]
fn a_rewound_channel_repeats_nothing() {
    let rows = [
        payload("ann", "message", "m1", "@Coder?"),
        begin("t1", "r1"),
        answer("chunk", "r1", "ha "),
        answer("chunk", "r1", "ha "),
    ];
    let mut twice = rows.to_vec();
    twice.extend(rows.clone());
    twice.push(answer("chunk", "r1", "ho"));
    let reading = read(&json!(twice));
    assert_eq!(turns(&reading), ["@Coder?", "ha ha ho"]);
    assert_eq!(reading.rows.repeated, 4);
    twice.push(answer("response", "r1", "ha ha ho"));
    twice.push(answer("response", "r1", "ha ha ho"));
    let reading = read(&json!(twice));
    assert_eq!(turns(&reading), ["@Coder?", "ha ha ho"]);
    assert_eq!(names(&reading.findings), ["repeated-row"; 5]);

    // With an envelope the event itself is known again.
    let event = json!({"id": "e1:0", "clientId": "u", "data": answer("chunk", "r1", "ha ")});
    let reading = read(&json!([event.clone(), event]));
    assert_eq!(turns(&reading), ["ha "]);
    assert_eq!(reading.rows.repeated, 1);
}

#[test]
fn two_texts_under_one_id_are_two_messages_unless_they_were_captured_differently() {
    let reading = read(&json!([
        payload("ann", "message", "m1", "one"),
        payload("ann", "message", "m1", "two")
    ]));
    assert_eq!(turns(&reading), ["one", "two"]);
    let mut stored = answer("response", "r1", "server copy");
    stored = json!({"id": "r1", "projectId": "p", "senderId": "u1", "senderType": "agent", "senderName": "Coder",
        "type": "response", "text": stored["text"], "parentMessageId": "m1", "createdAt": "2026-01-01T00:00:00Z"});
    for rows in [
        [stored.clone(), answer("response", "r1", "live copy")],
        [answer("response", "r1", "live copy"), stored],
    ] {
        let reading = read(&json!(rows));
        assert_eq!(turns(&reading), ["live copy"]);
        let message = &conversation(&reading).messages[0];
        assert_eq!(message.timestamp.as_ref().unwrap().raw, "2026-01-01T00:00:00Z");
        assert_eq!(message.references[0].target.as_deref(), Some("m1"));
        assert_eq!(names(&reading.findings), ["repeated-row"]);
    }
}

#[test]
fn a_page_puts_its_messages_in_order_of_time_and_the_others_between_them() {
    let mut untimed = payload("ann", "message", "x", "live, no time");
    let timed = json!({"id": "e", "timestamp": 1_767_225_602_500_i64, "data": payload("ann", "message", "y", "live")});
    let pages = [
        rest("3", "third", "2026-01-01T00:00:03Z"),
        rest("2", "second", "2026-01-01T00:00:02Z"),
        rest("1b", "same time", "2026-01-01T00:00:01Z"),
        rest("1a", "first", "2026-01-01T00:00:01Z"),
    ];
    let mut rows = vec![timed.clone(), untimed.clone()];
    assert_eq!(
        turns(&read(&json!(rows.iter().rev().collect::<Vec<_>>()))),
        ["live, no time", "live"]
    );
    rows.extend(pages);
    let reading = read(&json!(rows));
    assert_eq!(
        turns(&reading),
        ["same time", "first", "second", "live", "live, no time", "third"]
    );
    let naive = [
        rest("2", "later", "2026-01-01T00:00:02"),
        rest("1", "earlier", "2026-01-01 00:00:01"),
    ];
    assert_eq!(turns(&read(&json!(naive))), ["earlier", "later"]);
    untimed["timestamp"] = json!("whenever");
    assert_eq!(names(&read(&json!([untimed])).findings), ["timestamp-unusable"]);
}

#[test]
fn a_person_and_his_agents_are_kept_apart_and_names_lead_to_one_participant() {
    let rows = json!([
        payload("ann", "message", "m1", "hi"),
        answer("response", "r1", "ho"),
        {"id": "m2", "sender": "me", "senderName": "ann", "text": "x", "status": "done"},
        {"id": "m3", "sender": "them", "senderName": "Coder", "text": "y", "status": "done"},
        {"id": "m4", "sender": "them", "senderName": "Zed", "text": "z @Robo", "status": "done"},
        {"id": "m5", "sender": "them", "senderName": "Robo", "text": "beep", "status": "done"},
        {"id": "m6", "sender": "me", "senderName": "Robo", "text": "boop", "status": "done"},
        {"id": "m7", "projectId": "p", "senderId": "u1", "senderType": "agent", "senderName": "CODER", "type": "response", "text": "!"},
    ]);
    let reading = read(&rows);
    let conversation = conversation(&reading);
    let said = |message: &Message| {
        let sender = &conversation.participants[message.sender.unwrap()];
        (
            sender.id.clone(),
            message.role.as_str(),
            message.sender_name.clone(),
        )
    };
    let seen: Vec<_> = conversation.messages.iter().map(said).collect();
    let own = |id: &str, role| (id.to_owned(), role, None);
    assert_eq!(
        seen,
        [
            own("u1", "user"),
            own("u1/Coder", "assistant"),
            own("u1", "user"),
            own("u1/Coder", "assistant"),
            own("Zed", "user"),
            own("Robo", "assistant"),
            own("Robo", "assistant"),
            ("u1/Coder".to_owned(), "assistant", Some("CODER".to_owned())),
        ]
    );
    let zed = &conversation.participants[2];
    assert_eq!((zed.id.as_str(), zed.kind), ("Zed", ParticipantKind::Unknown));
}

#[test]
fn mentions_come_from_the_field_and_from_the_text() {
    let mut asked = payload("ann", "message", "m1", "@coder and @QA, mail me@bob.example");
    asked["mentions"] = json!(["qa", "Nobody", "u1/Coder"]);
    let mut other = answer("message", "m2", "x");
    other["fromUsername"] = json!("QA");
    other["agentName"] = json!("QA");
    let reading = read(&json!([asked, answer("message", "m3", "@Coder says"), other]));
    let mentions: Vec<_> = conversation(&reading)
        .messages
        .iter()
        .map(|message| message.mentions.clone())
        .collect();
    assert_eq!(
        mentions,
        [
            vec!["u1/QA".to_owned(), "Nobody".to_owned(), "u1/Coder".to_owned()],
            vec!["u1/Coder".to_owned()],
            vec![]
        ]
    );
}

#[test]
fn chains_are_checked_against_the_limit() {
    let at = |depth: u64, chain: &[&str]| {
        let mut row = answer("response", "r1", "x");
        row["responseDepth"] = json!(depth);
        row["respondingChain"] = json!(chain);
        json!([payload("ann", "message", "m", "@Coder"), row]).to_string()
    };
    let found = |text: &str, response_depth| {
        let limits = Limits {
            response_depth,
            ..Limits::default()
        };
        names(&read_as(text, None, &limits).findings)
    };
    let none: [&str; 0] = [];
    assert_eq!(found(&at(3, &["a", "b", "coder"]), 3), none);
    assert_eq!(found(&at(3, &["a", "b", "coder"]), 2), ["loop-depth-exceeded"]);
    assert_eq!(found(&at(1, &["a", "b", "coder"]), 2), ["loop-depth-exceeded"]);
    assert_eq!(found(&at(2, &["coder", "Coder"]), 3), ["loop-depth-exceeded"]);
    assert_eq!(found(&at(u64::MAX, &[]), 3), ["loop-depth-exceeded"]);
}

#[test]
fn an_answer_needs_a_mention_a_task_or_no_depth() {
    let mut reply = answer("response", "r1", "x");
    reply["responseDepth"] = json!(1);
    let mut second = reply.clone();
    second["messageId"] = json!("r2");
    let asked = payload("ann", "message", "m", "@Coder");
    let found = |rows: Value| names(&read(&rows).findings);
    let none: [&str; 0] = [];
    assert_eq!(found(json!([asked, reply])), none);
    assert_eq!(found(json!([reply, asked])), ["unmentioned-response"]);
    assert_eq!(found(json!([asked, reply, second])), ["unmentioned-response"]);
    assert_eq!(found(json!([answer("response", "r9", "from a task")])), none);
    let task = json!({"type": "task-created", "projectId": "p",
        "task": {"title": "t", "assignedAgentName": "coder", "createdBy": "u1", "createdByName": "ann", "createdByType": "user"}});
    assert_eq!(found(json!([task, reply])), none);
}

#[test]
fn tasks_joins_and_unknown_types_are_notices() {
    let mut pickup = answer("message", "n1", "Picking up task: T");
    pickup["isTaskNotification"] = json!(true);
    let joined = json!({"id": "s", "projectId": "p", "senderId": "u1", "senderType": "user", "senderName": "ann",
        "type": "system", "text": "ann joined", "createdAt": "2026-01-01T00:00:00Z"});
    let reading = read(&json!([
        pickup,
        joined,
        payload("ann", "wave", "w", "o/"),
        answer("deregister", "d", "")
    ]));
    let messages = &conversation(&reading).messages;
    assert!(messages.iter().all(|message| message.kind == MessageKind::Notice));
    assert_eq!(messages[2].parts, [Part::Notice("o/".to_owned())]);
    assert_eq!(names(&reading.findings), ["unknown-message-type"]);
    assert_eq!((reading.rows.notices, reading.rows.messages), (4, 0));
}

#[test]
fn files_go_to_their_messages_or_stand_alone() {
    let file = |id: &str, message: Value| {
        json!({"id": id, "projectId": "p", "messageId": message, "uploadedBy": "u2", "uploaderName": "bo",
            "filename": "a.mp4", "mimeType": "video/mp4", "fileSize": 9, "blobUrl": format!("https://e.com/{id}")})
    };
    let mut shown = payload("ann", "message", "m1", "see");
    shown["attachments"] =
        json!([{"id": "f1", "filename": "a.mp4", "mimeType": "video/mp4", "blobUrl": "https://e.com/f1"}]);
    let rows = [
        file("f1", json!("m1")),
        file("f2", json!("m1")),
        file("f3", Value::Null),
        file("f4", json!("gone")),
        shown,
    ];
    let reading = read(&json!(rows));
    let conversation = conversation(&reading);
    let addresses = |message: &Message| -> Vec<String> {
        let media = message.parts.iter().filter_map(|part| match part {
            Part::Media(media) => match &media.source {
                MediaSource::Url(url) => Some(url.clone()),
                _ => None,
            },
            _ => None,
        });
        media.collect()
    };
    let all: Vec<_> = conversation.messages.iter().map(addresses).collect();
    assert_eq!(
        all,
        [
            vec!["https://e.com/f3"],
            vec!["https://e.com/f4"],
            vec!["https://e.com/f1", "https://e.com/f2"]
        ]
    );
    assert_eq!(
        conversation.messages[1].references[0].target.as_deref(),
        Some("gone")
    );
    assert_eq!(
        conversation.messages[2]
            .extra
            .get("attachments[1].fileSize")
            .unwrap()
            .as_str(),
        "9"
    );
    assert_eq!((reading.rows.merged, reading.rows.notices), (2, 2));
}

#[test]
fn every_prefix_of_a_capture_reads_without_a_fault_and_balances() {
    for file in ["live", "payloads", "stored", "store"] {
        let path = format!(
            "{}/../../data-samples/sources/jaibber-events/{file}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        #[expect(clippy::disallowed_methods, reason = "a test may look into the repository")]
        let text = std::fs::read_to_string(path).unwrap();
        // The repeated key of one row has to stay: rows are cut from the text.
        let document = json::scan(text.as_bytes(), 128).unwrap();
        let rows: Vec<&str> = document
            .root()
            .items()
            .map(|row| text.get(row.span()).unwrap())
            .collect();
        for length in 0..=rows.len() {
            for rows in [&rows[..length], &rows[length..]] {
                let reading = read_as(&format!("[{}]", rows.join(",")), None, &Limits::default());
                assert!(reading.fault.is_none());
                assert_eq!(reading.rows.rows, rows.len() as u64);
            }
        }
    }
}
