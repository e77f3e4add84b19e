//! Chat Completions: people, names, quotes, media.

use chatmill_dialect::policy::{MediaPolicy, Names, References, System};
use chatmill_dialect::{History, LossCode, Policy};
use chatmill_model::{LinkStatus, MediaKind, Part, RawJson, Role};

use crate::room::{Room, media, preview, text};

fn names(names: Names) -> Policy {
    Policy {
        names,
        ..Policy::default()
    }
}

#[test]
fn the_perspective_is_the_assistant_and_everybody_else_a_user() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann Lee");
    let wang = room.human("user_2", "小王");
    let bot = room.agent("b1", "Helfer");
    let other = room.agent("b2", "Scribe");
    room.system("Be kind.");
    room.say(ann, "Hi \"all\"");
    room.say(bot, "Hallo.");
    room.say(wang, "你好");
    room.say(other, "noted");
    room.say(bot, "Ja?");
    let out = room.only("openai-chat");
    assert_eq!(
        out.text,
        concat!(
            r#"{"messages":[{"role":"system","content":"Be kind."},"#,
            r#"{"role":"user","name":"Ann_Lee","content":"Hi \"all\""},"#,
            r#"{"role":"assistant","content":"Hallo."},"#,
            r#"{"role":"user","name":"user_2","content":"你好"},"#,
            r#"{"role":"user","name":"Scribe","content":"noted"},"#,
            r#"{"role":"assistant","content":"Ja?"}]}"#
        )
    );
    assert_eq!(out.own, r#","content":"Hallo."},"content":"Ja?"}"#);
    assert_eq!((out.messages, out.assistant), (6, 2));
    assert_eq!((out.last_role, out.coverage), (Some("assistant"), "whole"));
    assert_eq!(out.positions, (Some(0), Some(5)));
    assert_eq!(out.lost(LossCode::NameAliased), [(None, 2)]);
    assert_eq!(out.lost(LossCode::RoleMapped), [(Some(4), 1)]);
    assert_eq!(out.lost(LossCode::NameDropped), [(None, 2)]);
    assert_eq!(out.violations, Vec::<String>::new());
}

#[test]
fn any_participant_can_be_the_assistant() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "hi");
    room.say(bot, "ho");
    let render = |perspective| {
        room.render_as("openai-chat", &Policy::default(), History::Document, perspective)
            .remove(0)
    };
    let out = render(Some(ann));
    assert_eq!(
        out.text,
        r#"{"messages":[{"role":"assistant","content":"hi"},{"role":"user","name":"Bot","content":"ho"}]}"#
    );
    let mapped = [(Some(0), 1), (Some(1), 1)];
    assert_eq!(out.lost(LossCode::RoleMapped), mapped);
    let out = render(None);
    assert_eq!((out.assistant, out.last_role), (0, Some("user")));
}

#[test]
fn names_go_where_policy_wants_them() {
    let mut room = Room::new();
    let ann = room.human("u1", "Änn");
    room.say(ann, "hi");
    room.post(
        Some(ann),
        vec![media(MediaKind::Image, Some("https://e.com/i.png"), None)],
    );
    let out = room.only_with("openai-chat", &names(Names::Prefix));
    assert_eq!(
        out.text,
        concat!(
            r#"{"messages":[{"role":"user","content":"Änn: hi"},{"role":"user","content":[{"type":"text","text":"Änn: "},"#,
            r#"{"type":"image_url","image_url":{"url":"https://e.com/i.png"}}]}]}"#
        )
    );
    let inlined = [(Some(0), 1), (Some(1), 1)];
    assert_eq!(out.lost(LossCode::NameInlined), inlined);
    assert_eq!(out.lost(LossCode::NameAliased), []);
    let out = room.only_with("openai-chat", &names(Names::Drop));
    assert!(!out.text.contains("nn"));
    assert_eq!(out.lost(LossCode::NameDropped), inlined);
    let out = room.only_with("openai-chat", &names(Names::Field));
    assert!(out.text.contains(r#""name":"u1","content":"hi""#));
}

#[test]
fn replies_are_quoted_in_user_turns_only() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    let other = room.agent("b2", "Scribe");
    room.say(ann, "Which one?");
    room.say(bot, "The red one.");
    room.reply(1, 0);
    room.say(ann, "Sure?");
    room.reply(2, 1);
    room.say(ann, "Hm.");
    room.reply(3, 0);
    room.say(bot, "Yes.");
    room.say(other, "Logged.");
    room.reply(5, 2);
    room.say(ann, "Ok");
    room.reply(6, 5);
    let out = room.only("openai-chat");
    for turn in [
        r#"{"role":"assistant","content":"The red one."}"#,
        r#""content":"Sure?\nYou said earlier: \"The red one.\"""#,
        r#""content":"Hm.\nI said:\n\"Which one?\"""#,
        r#""content":"Logged.\nAnn said:\n\"Sure?\"""#,
        r#""content":"Ok\nScribe said: \"Logged.\"""#,
    ] {
        assert!(out.text.contains(turn), "{turn} in {}", out.text);
    }
    assert_eq!(out.lost(LossCode::ReferenceDropped), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::ReferenceInlined).len(), 4);
    let policy = Policy {
        references: References::Drop,
        ..Policy::default()
    };
    let out = room.only_with("openai-chat", &policy);
    assert!(!out.text.contains("said"));
    assert_eq!(out.lost(LossCode::ReferenceDropped).len(), 5);
}

#[test]
fn a_preview_is_quoted_and_its_media_are_declared() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let answer = room.say(ann, "this");
    let shown = preview("[Image: https://e.com/i.png] ", None, Some("Zoe"));
    room.refer(answer, None, Some(shown), None, LinkStatus::Preview);
    room.refer(answer, Some("gone".to_owned()), None, None, LinkStatus::Dangling);
    let out = room.only("openai-chat");
    assert!(out.text.contains(
        r#"this\nThis is a message referencing a message with an image from Zoe. Zoe said:\n\"[Image]\"""#
    ));
    assert_eq!(
        out.codes_at(answer),
        [
            "media-dropped",
            "empty-filled",
            "reference-inlined",
            "reference-unresolved",
            "whitespace-trimmed"
        ]
    );
}

#[test]
fn pictures_with_an_address_are_parts_and_other_media_are_named() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.post(
        Some(ann),
        vec![
            text("before"),
            media(MediaKind::Image, Some("https://e.com/i.png"), Some("i.png")),
            media(MediaKind::Audio, Some("https://e.com/a.mp3"), None),
        ],
    );
    room.post(
        Some(bot),
        vec![
            text("mine"),
            media(MediaKind::Image, Some("https://e.com/b.png"), None),
        ],
    );
    room.post(
        Some(ann),
        vec![text("x"), media(MediaKind::Image, Some("s3://b/i.png"), None)],
    );
    let out = room.only("openai-chat");
    assert_eq!(
        out.text,
        concat!(
            r#"{"messages":[{"role":"user","name":"Ann","content":[{"type":"text","text":"before"},"#,
            r#"{"type":"image_url","image_url":{"url":"https://e.com/i.png"}},"#,
            r#"{"type":"text","text":"[Audio: https://e.com/a.mp3]"}]},"#,
            r#"{"role":"assistant","content":"mine\n[Image: https://e.com/b.png]"},"#,
            r#"{"role":"user","name":"Ann","content":"x\n[Image: s3://b/i.png]"}]}"#
        )
    );
    assert_eq!(
        out.codes_at(0),
        ["media-placeholder", "media-description-dropped"]
    );
    assert_eq!(out.codes_at(1), ["media-placeholder", "part-flattened"]);
    let policy = |media| Policy {
        media,
        ..Policy::default()
    };
    let out = room.only_with("openai-chat", &policy(MediaPolicy::Placeholder));
    assert!(
        out.text
            .contains(r#""content":"before\n[Image: i.png]\n[Audio: https://e.com/a.mp3]""#)
    );
    let out = room.only_with("openai-chat", &policy(MediaPolicy::Drop));
    assert!(out.text.contains(r#""content":"before"}"#) && out.text.contains(r#""content":"mine"}"#));
    assert_eq!(
        out.lost(LossCode::MediaDropped),
        [(Some(0), 2), (Some(1), 1), (Some(2), 1)]
    );
}

#[test]
fn what_says_nothing_is_left_out_and_declared() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "");
    room.post(Some(ann), vec![]);
    room.post(Some(bot), vec![Part::Reasoning("hm".to_owned())]);
    room.notice("Ann left");
    room.say(bot, "bye");
    let out = room.only("openai-chat");
    assert_eq!(out.text, r#"{"messages":[{"role":"assistant","content":"bye"}]}"#);
    assert_eq!(
        out.lost(LossCode::EmptyDropped),
        [(Some(0), 1), (Some(1), 1), (Some(2), 1)]
    );
    assert_eq!(out.lost(LossCode::ReasoningDropped), [(Some(2), 1)]);
    assert_eq!(out.lost(LossCode::NoticeDropped), [(Some(3), 1)]);
    assert_eq!((out.messages, out.positions), (1, (Some(4), Some(4))));
}

#[test]
fn a_conversation_without_turns_is_invalid() {
    let mut room = Room::new();
    room.notice("created");
    let out = room.only("openai-chat");
    assert_eq!(out.text, r#"{"messages":[]}"#);
    assert_eq!(out.violations, ["OAC-02: no message is left"]);
}

#[test]
fn a_window_shows_the_newest_messages() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    for count in 0..4 {
        room.say(ann, &count.to_string());
    }
    let outs = room.render_with("openai-chat", &Policy::default(), History::Messages(2));
    assert_eq!(
        outs[0].text,
        r#"{"messages":[{"role":"user","name":"Ann","content":"2"},{"role":"user","name":"Ann","content":"3"}]}"#
    );
    assert_eq!(outs[0].lost(LossCode::Truncated), [(None, 2)]);
    assert_eq!(
        (outs[0].coverage, outs[0].positions),
        ("window", (Some(2), Some(3)))
    );
}

#[test]
fn what_every_message_loses_is_declared_once() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.participant(ann).email = Some("ann@example.org".to_owned());
    room.linked.conversation.title = Some("Room".to_owned());
    for _ in 0..3 {
        let position = room.say(ann, "x");
        room.time(position, "2025-01-01");
        let message = room.message(position);
        message.mentions = vec!["u1".to_owned()];
        message.sender_name = Some("ann".to_owned());
        message.extra.0.push(("k".to_owned(), RawJson("1".to_owned())));
    }
    let out = room.only("openai-chat");
    let whole_rendering: Vec<_> = out
        .losses
        .iter()
        .map(|loss| (loss.code.as_str(), loss.position, loss.amount))
        .collect();
    assert_eq!(
        whole_rendering,
        [
            ("name-dropped", None, 3),
            ("timestamp-dropped", None, 3),
            ("message-id-dropped", None, 3),
            ("mention-dropped", None, 3),
            ("participant-dropped", None, 1),
            ("metadata-dropped", None, 1),
            ("extra-dropped", None, 3),
        ]
    );
}

#[test]
fn system_text_by_policy() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    let raw = RawJson("\"Be Bot.\"".to_owned());
    room.participant(bot)
        .extra
        .0
        .push(("instructions".to_owned(), raw));
    room.say(ann, "hi");
    let position = room.system("Be kind.");
    assert_eq!(room.message(position).role, Role::System);
    let policy = |system| Policy {
        system,
        ..Policy::default()
    };
    let out = room.only_with("openai-chat", &policy(System::Agent));
    assert_eq!(
        out.text,
        r#"{"messages":[{"role":"system","content":"Be Bot."},{"role":"user","name":"Ann","content":"hi"}]}"#
    );
    let out = room.only_with("openai-chat", &policy(System::None));
    assert_eq!(
        out.text,
        r#"{"messages":[{"role":"user","name":"Ann","content":"hi"}]}"#
    );
    assert_eq!(out.lost(LossCode::SystemDropped), [(Some(1), 1)]);
    let out = room.only("openai-chat");
    assert!(out.text.ends_with(r#",{"role":"system","content":"Be kind."}]}"#));
}

#[test]
fn tool_definitions_come_from_the_source() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "hi");
    let tool = r#"{"type": "function", "function": {"name": "f", "parameters": {"n": 1.0}}}"#;
    room.linked.conversation.tools.push(RawJson(tool.to_owned()));
    let out = room.only("openai-chat");
    assert!(out.text.ends_with(
        r#"],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","n":1.0}}}]}"#
    ));
}
