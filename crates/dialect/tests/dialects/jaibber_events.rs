//! Jaibber's payloads. That a capture reads back equal is tested where the source is at hand, in `testkit`.

use chatmill_dialect::LossCode;
use chatmill_model::{
    CallStatus, LinkStatus, Media, MediaKind, MediaSource, MessageKind, Part, RawJson, Role,
};

use serde_json::Value;

use crate::room::{Room, media, preview, text};

fn raw(key: &str, value: &str) -> (String, RawJson) {
    (key.to_owned(), RawJson(value.to_owned()))
}

#[test]
fn people_and_agents_of_another_system_are_published() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "\"Hi\"\n@Bot");
    room.message(0).mentions = vec!["b1".to_owned(), "gone".to_owned()];
    room.say(bot, "Ho");
    room.reply(1, 0);
    room.time(1, "2026-01-01T00:00:00Z");
    room.message(1).sender_name = Some("bot".to_owned());
    room.post(Some(ann), vec![]);
    let out = room.only("jaibber-events");
    assert_eq!(
        out.text,
        concat!(
            r#"[{"from":"u1","fromUsername":"Ann","projectId":"room-1","text":"\"Hi\"\n@Bot","messageId":"msg0","#,
            r#""type":"message","mentions":["Bot","gone"]},"#,
            r#"{"from":"b1","fromUsername":"bot","projectId":"room-1","text":"Ho","messageId":"msg1","#,
            r#""type":"response","agentName":"Bot","isAgentMessage":true,"parentMessageId":"msg0"},"#,
            r#"{"from":"u1","fromUsername":"Ann","projectId":"room-1","text":"","messageId":"msg2","type":"message"}]"#
        )
    );
    assert_eq!((out.messages, out.assistant, out.last_role), (3, 1, Some("user")));
    assert_eq!(out.coverage, "whole");
    assert_eq!(out.lost(LossCode::TimestampDropped), [(None, 1)]);
    assert_eq!(out.losses.len(), 1);
}

#[test]
fn a_capture_of_the_system_gets_its_own_fields_and_types_back() {
    let mut room = Room::new();
    room.linked.conversation.customs.kept_form = Some("jaibber-events");
    let coder = room.agent("u1/Coder", "Coder");
    room.participant(coder).extra.0 = vec![raw("userId", "\"u1\""), raw("machineName", "\"box\"")];
    room.notice("");
    let typing = room.message(0);
    typing.sender = Some(coder);
    typing.role = Role::Assistant;
    typing.source_type = Some("typing".to_owned());
    typing.parts.clear();
    typing.extra.0 = vec![raw("responseId", "\"r1\"")];
    room.say(coder, "x");
    let answer = room.message(1);
    answer.source_type = Some("response".to_owned());
    answer.extra.0 = vec![
        raw("executionMode", "\"plan\""),
        raw("respondingChain", "[ \"coder\" ]"),
        raw("responseDepth", "1"),
        raw("envelope.connectionId", "\"c\""),
    ];
    room.notice("Paint");
    let task = room.message(2);
    task.id = None;
    task.source_type = Some("task-created".to_owned());
    task.extra.0 = vec![raw("task", r#"{"title":"Paint","createdBy":"u1"}"#)];
    let out = room.only("jaibber-events");
    assert_eq!(
        out.text,
        concat!(
            r#"[{"from":"u1","fromUsername":"Coder","projectId":"room-1","text":"","messageId":"msg0","type":"typing","#,
            r#""responseId":"r1","agentName":"Coder"},"#,
            r#"{"from":"u1","fromUsername":"Coder","projectId":"room-1","text":"x","messageId":"msg1","type":"response","#,
            r#""agentName":"Coder","isAgentMessage":true,"responseDepth":1,"respondingChain":["coder"],"executionMode":"plan"},"#,
            r#"{"projectId":"room-1","type":"task-created","task":{"title":"Paint","createdBy":"u1"}}]"#
        )
    );
    assert_eq!(out.positions, (Some(0), Some(2)));
    assert_eq!(out.lost(LossCode::ExtraDropped), [(None, 1)]);
    assert_eq!(out.lost(LossCode::ParticipantDropped), [(None, 1)]);
    assert_eq!(out.losses.len(), 2);
}

#[test]
fn an_api_sender_and_an_unfinished_answer_keep_their_types() {
    let mut room = Room::new();
    room.linked.conversation.customs.kept_form = Some("jaibber-events");
    let ci = room.agent("u1/ci", "ci");
    room.say(ci, "built");
    room.message(0).source_type = Some("api".to_owned());
    room.message(0).extra.0 = vec![raw("senderType", "\"api\""), raw("type", "\"response\"")];
    room.say(ci, "half a");
    room.message(1).source_type = Some("chunk".to_owned());
    let out = room.only("jaibber-events");
    assert!(
        out.text
            .contains(r#""type":"response","agentName":"ci","isAgentMessage":true,"senderType":"api"}"#),
        "{}",
        out.text
    );
    assert!(out.text.contains(r#""type":"chunk","agentName":"ci"}"#));
}

#[test]
fn files_have_addresses_and_keep_what_the_system_knows_of_them() {
    let mut room = Room::new();
    room.linked.conversation.customs.kept_form = Some("jaibber-events");
    let ann = room.human("u1", "Ann");
    let picture = Media {
        kind: MediaKind::Image,
        source: MediaSource::Url("https://e.com/i".to_owned()),
        media_type: Some("image/png".to_owned()),
        name: Some("i.png".to_owned()),
    };
    let inline = Media {
        source: MediaSource::Inline("AAAA".to_owned()),
        ..picture.clone()
    };
    room.post(
        Some(ann),
        vec![
            media(MediaKind::Video, None, Some("v")),
            text("look"),
            Part::Media(inline),
            Part::Media(picture),
        ],
    );
    room.message(0).extra.0 = vec![
        raw("attachments[1].fileSize", "7"),
        raw("attachments[1].id", "\"f\""),
        raw("attachments[1].hash", "\"h\""),
    ];
    let out = room.only("jaibber-events");
    assert!(out.text.contains(concat!(
        r#""text":"look","messageId":"msg0","type":"message","attachments":[{"filename":"v"},"#,
        r#"{"id":"f","filename":"i.png","mimeType":"image/png","fileSize":7,"blobUrl":"https://e.com/i","hash":"h"}]}"#
    )));
    assert_eq!(
        out.codes_at(0),
        ["media-dropped", "media-description-dropped", "part-moved"]
    );
}

#[test]
fn what_a_payload_has_no_place_for_is_declared() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b", "Bot"));
    room.human("u2", "silent");
    room.participant(ann).alias = Some("@ann".to_owned());
    room.system("be kind");
    room.call(bot, "", &[("1", "a", "{}")]);
    room.result("1", "r");
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    room.notice("joined");
    room.post(
        Some(ann),
        vec![
            text("a"),
            text("b"),
            Part::Reasoning("hm".to_owned()),
            Part::CacheMark,
        ],
    );
    let message = room.message(4);
    message.id = None;
    message.source_type = Some("sticker".to_owned());
    message.extra.0 = vec![raw("k", "1")];
    let shown = preview("old", None, None);
    room.refer(4, Some("gone".to_owned()), Some(shown), None, LinkStatus::Preview);
    room.reply(4, 0);
    room.refer(4, None, None, None, LinkStatus::Dangling);
    room.post(None, vec![text("x")]);
    room.linked.conversation.title = Some("Room".to_owned());
    let out = room.only("jaibber-events");
    assert!(out.text.starts_with(
        r#"[{"from":"u1","fromUsername":"Ann","projectId":"room-1","text":"a\nb","messageId":"m4","type":"message","parentMessageId":"gone"},"#
    ));
    let codes: Vec<_> = (0..6).map(|position| out.codes_at(position)).collect();
    assert_eq!(
        codes,
        [
            vec!["system-dropped"],
            vec!["tool-call-dropped"],
            vec!["tool-result-dropped"],
            vec!["notice-dropped"],
            vec![
                "part-flattened",
                "reasoning-dropped",
                "cache-mark-dropped",
                "message-id-synthesised",
                "extra-dropped",
                "extra-dropped",
                "reference-dropped",
                "reference-unresolved"
            ],
            vec!["sender-missing"],
        ]
    );
    assert_eq!(
        out.lost(LossCode::ExtraDropped),
        [(None, 1), (Some(4), 1), (Some(4), 1)]
    );
    assert_eq!(out.lost(LossCode::NameDropped), [(None, 1)]);
    assert_eq!(
        out.lost(LossCode::ParticipantDropped),
        [(None, 2)],
        "the bot's call is not said"
    );
    assert_eq!(out.lost(LossCode::MetadataDropped), [(None, 1)]);
    assert_eq!(room.message(3).kind, MessageKind::Notice);
}

#[test]
fn a_mention_that_could_mean_two_is_written_as_the_id_that_readers_give() {
    let mut room = Room::new();
    let (one, two) = (room.agent("b1", "Bot"), room.agent("b2", "BOT"));
    let ann = room.human("u1", "b1/Bot");
    for speaker in [one, two, ann] {
        room.say(speaker, "x");
    }
    room.message(2).mentions = vec!["b1".to_owned(), "b2".to_owned(), "u1".to_owned()];
    let out = room.only("jaibber-events");
    assert!(
        out.text.contains(r#""mentions":["b1/Bot","b2/BOT","u1"]"#),
        "{}",
        out.text
    );
}

#[test]
fn a_reply_finds_a_message_whose_id_is_made_up_and_a_bare_call_is_not_said() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "one");
    room.call(bot, "", &[("c1", "search", "{}")]);
    room.say(ann, "two");
    room.reply(2, 0);
    room.message(0).id = None;
    room.message(2).references[0].target = None;
    let out = room.only("jaibber-events");
    let payloads: Vec<Value> = serde_json::from_str(&out.text).unwrap();
    assert_eq!(payloads.len(), 2, "{}", out.text);
    assert_eq!(payloads[0]["messageId"], payloads[1]["parentMessageId"]);
    assert_eq!(out.lost(LossCode::ToolCallDropped), [(Some(1), 1)]);
}

#[test]
fn a_person_whose_first_message_shows_another_name_has_that_name() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "one");
    room.say(ann, "two");
    room.message(0).sender_name = Some("Annie".to_owned());
    let out = room.only("jaibber-events");
    assert!(out.text.contains("\"fromUsername\":\"Annie\"") && out.text.contains("\"fromUsername\":\"Ann\""));
    assert_eq!(out.lost(LossCode::NameDropped), [(None, 1)]);
}

#[test]
fn what_every_payload_names_is_made_where_the_conversation_has_none() {
    let mut room = Room::new();
    room.linked.conversation.source_id = None;
    let (ann, bot) = (room.human("u1", ""), room.agent("b1", ""));
    room.say(ann, "one");
    room.say(bot, "two");
    room.post(None, vec![text("three")]);
    room.post(None, vec![text("four")]);
    room.message(3).role = Role::Assistant;
    room.post(None, vec![text("five")]);
    room.message(4).sender_name = Some("Zed".to_owned());
    let out = room.only("jaibber-events");
    let payloads: Vec<Value> = serde_json::from_str(&out.text).unwrap();
    let names: Vec<[&str; 2]> = payloads
        .iter()
        .map(|payload| ["from", "fromUsername"].map(|key| payload[key].as_str().unwrap()))
        .collect();
    assert_eq!(
        names,
        [
            ["u1", "u1"],
            ["b1", "Agent"],
            ["User", "User"],
            ["Agent", "Agent"],
            ["Zed", "Zed"]
        ]
    );
    let project = payloads[0]["projectId"].as_str().unwrap();
    assert!(project.starts_with("project-"), "{project}");
    assert!(payloads.iter().all(|payload| payload["projectId"] == project));
    assert_eq!(out.lost(LossCode::ConversationIdSynthesised), [(None, 1)]);
    assert_eq!(out.lost(LossCode::NameSynthesised), [(Some(0), 1), (Some(1), 1)]);
    assert_eq!(
        out.lost(LossCode::SenderMissing),
        [(Some(2), 1), (Some(3), 1), (Some(4), 1)]
    );
}

#[test]
fn a_made_account_is_nobodys_and_a_name_that_one_message_shows_is_not_made() {
    let mut room = Room::new();
    let user = room.human("User", "");
    room.say(user, "one");
    room.say(user, "two");
    room.message(1).sender_name = Some("Kim".to_owned());
    room.post(None, vec![text("three")]);
    let out = room.only("jaibber-events");
    let payloads: Vec<Value> = serde_json::from_str(&out.text).unwrap();
    assert_eq!(payloads[0]["fromUsername"], "Kim");
    assert_eq!(payloads[2]["from"], "User~2");
    assert_eq!(payloads[2]["fromUsername"], "User");
    assert_eq!(out.lost(LossCode::NameSynthesised), []);
}

#[test]
fn in_a_room_of_the_system_only_the_text_mentions_several_of_one_name() {
    let mut room = Room::new();
    room.linked.conversation.customs.kept_form = Some("jaibber-events");
    let (ann, agent) = (room.human("u1", "alice"), room.agent("u1/alice", "Alice"));
    room.participant(agent).extra.0 = vec![raw("userId", "\"u1\"")];
    let silent = room.agent("u2/QA", "QA");
    room.participant(silent).extra.0 = vec![raw("userId", "\"u2\"")];
    room.say(ann, "@alice and @QA");
    room.say(agent, "x");
    room.message(0).mentions = vec!["u1".to_owned(), "u1/alice".to_owned(), "u2/QA".to_owned()];
    room.message(1).mentions = vec!["u1".to_owned(), "u1/alice".to_owned()];
    let out = room.only("jaibber-events");
    let payloads: Vec<Value> = serde_json::from_str(&out.text).unwrap();
    assert_eq!(payloads[0]["mentions"], serde_json::json!(["QA"]));
    assert_eq!(payloads[1].get("mentions"), None);
    // The names that the source wrote are written as they were.
    room.message(0).extra.0 = vec![raw("mentions", r#"["alice"]"#)];
    let out = room.only("jaibber-events");
    assert!(out.text.contains(r#""mentions":["alice"]"#), "{}", out.text);
    assert!(!out.text.contains("u1/alice"), "{}", out.text);
}

#[test]
fn a_task_has_no_sender_of_its_own() {
    let mut room = Room::new();
    room.linked.conversation.customs.kept_form = Some("jaibber-events");
    room.notice("Paint");
    let task = room.message(0);
    task.id = None;
    task.source_type = Some("task-created".to_owned());
    task.extra.0 = vec![raw("task", r#"{"title":"Paint"}"#)];
    let out = room.only("jaibber-events");
    assert_eq!(
        out.text,
        r#"[{"projectId":"room-1","type":"task-created","task":{"title":"Paint"}}]"#
    );
    assert_eq!(out.losses.len(), 0);
}

#[test]
fn files_that_are_no_list_are_left_out_and_declared() {
    let mut room = Room::new();
    room.linked.conversation.customs.kept_form = Some("jaibber-events");
    let ann = room.human("u1", "Ann");
    room.post(
        Some(ann),
        vec![
            text("look"),
            media(MediaKind::File, Some("https://e.com/f"), None),
        ],
    );
    room.message(0).extra.0 = vec![raw("attachments", "7")];
    let out = room.only("jaibber-events");
    assert!(
        out.text
            .contains(r#""attachments":[{"blobUrl":"https://e.com/f"}]"#),
        "{}",
        out.text
    );
    assert_eq!(out.lost(LossCode::ExtraDropped), [(None, 1)]);
}
