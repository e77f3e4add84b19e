//! Facts about Jaibber's own code, found by running it: 27 of our 56 vectors. Two more are about the context, and are tested with its
//! dialect.
//!
//! | Not here | Why |
//! |---|---|
//! | `parseMentions` (3) | It guesses names that no participant has; here names are those of the room. |
//! | `chunk`, `error`, `oversized` in the SDK's history (3) | Events that an agent leaves out of its memory; an archive keeps them. |
//! | a chunk before typing, a chunk after the response (2) | The client loses the first and appends the second to the finished answer; here the first is kept and the second is not appended. |
//! | desktop's context, full prompt (2) | The code's requests to a model; the dialect follows the document instead. |
//! | sizes, MIME types and extensions of files (11) | They decide how much of a file goes into a prompt. |
//! | hand-overs (3) | They start tasks, which the archive records by itself. |
//! | the adapter's `shouldRespond` (3) | Its rule contradicts the document's. |

use chatmill_diag::Limits;
use chatmill_model::{Message, MessageKind, Role};
use serde_json::{Value, json};

use crate::tests::frame;
use crate::{JAIBBER_EVENTS, Reading};

/// The cases of a kind.
fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("sources/jaibber-events", kind)
}

fn read_within(rows: &Value, limits: &Limits) -> Reading {
    let reading = frame::read(&JAIBBER_EVENTS, rows.to_string().as_bytes(), limits);
    assert!(reading.rows.balances());
    reading
}

fn read(rows: &Value) -> Reading {
    read_within(rows, &Limits::default())
}

fn turns(reading: &Reading) -> Vec<Message> {
    let conversation = reading.conversation.as_ref().unwrap();
    let messages = conversation.messages.iter();
    messages
        .filter(|message| message.kind == MessageKind::Message)
        .cloned()
        .collect()
}

fn sender(reading: &Reading, message: &Message) -> String {
    let participants = &reading.conversation.as_ref().unwrap().participants;
    participants[message.sender.unwrap()].name.clone().unwrap()
}

#[test]
fn every_kind_of_case_is_tried() {
    let count = |kind| cases(kind).len();
    assert_eq!(
        [
            "mention",
            "answer",
            "history",
            "answer published",
            "store",
            "server"
        ]
        .map(count),
        [10, 4, 4, 4, 3, 2]
    );
}

#[test]
fn an_agent_is_mentioned_where_the_clients_think_so() {
    for case in cases("mention") {
        let name = &case["input"]["agentName"];
        let reading = read(&json!([
            {"from": "u", "fromUsername": "zz", "text": case["input"]["text"], "messageId": "1", "type": "message"},
            {"from": "a", "fromUsername": name, "agentName": name, "text": "", "messageId": "2", "type": "message"},
        ]));
        let is_mentioned = !turns(&reading)[0].mentions.is_empty();
        assert_eq!(json!(is_mentioned), case["expected"], "{}", case["name"]);
    }
}

#[test]
fn an_answer_that_the_agent_would_not_give_is_found() {
    for case in cases("answer") {
        let input = &case["input"];
        let name = input["agentName"].as_str().unwrap();
        let mut chain = input["chain"].as_array().unwrap().clone();
        chain.push(json!(name.to_lowercase()));
        let limits = Limits {
            response_depth: u32::try_from(input["maxResponseDepth"].as_u64().unwrap()).unwrap(),
            ..Limits::default()
        };
        let rows = json!([
            {"from": "u", "fromUsername": "zz", "projectId": "p", "text": input["text"], "messageId": "1", "type": "message"},
            {"from": "a", "fromUsername": name, "agentName": name, "text": "x", "messageId": "2", "type": "response",
                "responseDepth": input["depth"].as_u64().unwrap() + 1, "respondingChain": chain},
        ]);
        let reading = read_within(&rows, &limits);
        assert_eq!(
            json!(reading.findings.is_empty()),
            case["expected"],
            "{}: {:?}",
            case["name"],
            reading.findings
        );
    }
}

#[test]
fn messages_of_an_agents_history_are_turns() {
    for case in cases("history") {
        let reading = read(&json!([case["input"]]));
        let found: Vec<Value> = turns(&reading)
            .iter()
            .map(|message| {
                let role = if message.role == Role::Assistant {
                    "agent"
                } else {
                    "user"
                };
                json!({"sender": role, "senderName": sender(&reading, message), "text": message.text()})
            })
            .collect();
        assert_eq!(json!(found), case["expected"], "{}", case["name"]);
    }
}

#[test]
fn published_and_stored_messages_read_the_same() {
    for case in cases("answer published") {
        let live = read(&case["expected"]["published"]);
        let stored = read(&json!([case["expected"]["persisted"]]));
        for reading in [&live, &stored] {
            let turns = turns(reading);
            assert_eq!(turns.len(), 1, "{}", case["name"]);
            let body = &case["expected"]["persisted"];
            assert_eq!(json!(turns[0].id), body["id"]);
            assert_eq!(json!(turns[0].source_type), body["type"]);
            assert_eq!(json!(turns[0].text()), body["text"]);
            assert_eq!(json!(sender(reading, &turns[0])), body["senderName"]);
            assert_eq!(turns[0].role, Role::Assistant);
        }
    }
}

/// The events that the client's steps represent.
fn events(steps: &Value) -> Vec<Value> {
    let mut events = Vec::new();
    let live = |kind: &str, id: &Value, text: &Value| {
        let typed = if kind == "typing" {
            "t"
        } else {
            id.as_str().unwrap()
        };
        let mut event = json!({"from": "u", "fromUsername": "Coder", "agentName": "Coder", "text": text, "messageId": typed,
            "type": kind});
        if kind == "typing" {
            event["responseId"] = id.clone();
        }
        event
    };
    let is_merge = steps
        .as_array()
        .unwrap()
        .iter()
        .any(|step| step[0] == "mergeServerMessages");
    for step in steps.as_array().unwrap() {
        match step[0].as_str().unwrap() {
            "addMessage" if is_merge => events.push(step[1].clone()),
            "addMessage" if step[1]["status"] == "streaming" => {
                events.push(live("typing", &step[1]["id"], &json!("")));
            }
            "addMessage" => events.push(live("response", &step[1]["id"], &step[1]["text"])),
            "appendChunk" => events.push(live("chunk", &step[2], &step[3])),
            "replaceMessage" => events.push(live("response", &step[2], &step[3])),
            "mergeServerMessages" => events.extend(step[2].as_array().unwrap().iter().map(|message| {
                json!({"id": message["id"], "senderId": "u", "senderType": "agent", "senderName": message["senderName"],
                    "type": "response", "text": message["text"], "createdAt": message["timestamp"]})
            })),
            other => panic!("{other}"),
        }
    }
    events
}

#[test]
fn the_clients_store_holds_the_same_messages() {
    for case in cases("store") {
        let reading = read(&json!(events(&case["input"])));
        let found: Vec<Value> = turns(&reading)
            .iter()
            .map(|message| json!([message.id, message.text()]))
            .collect();
        let expected: Vec<Value> = case["expected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| json!([message["id"], message["text"]]))
            .collect();
        assert_eq!(found, expected, "{}", case["name"]);
    }
}

#[test]
fn a_stored_message_has_the_text_that_the_client_shows() {
    for case in cases("server") {
        let reading = read(&json!([case["input"]]));
        let message = &turns(&reading)[0];
        let expected = &case["expected"];
        assert_eq!(
            reading.conversation.as_ref().unwrap().source_id.as_deref(),
            expected["conversationId"].as_str()
        );
        assert_eq!(json!(message.id), expected["id"]);
        assert_eq!(json!(sender(&reading, message)), expected["senderName"]);
        assert_eq!(json!(message.text()), expected["text"]);
        assert_eq!(
            json!(message.timestamp.as_ref().unwrap().raw),
            expected["timestamp"]
        );
        let is_error = message.source_type.as_deref() == Some("error");
        assert_eq!(is_error, expected["status"] == "error");
        let parent = message
            .references
            .first()
            .and_then(|reference| reference.target.as_deref());
        assert_eq!(parent, expected["parentMessageId"].as_str());
    }
}
