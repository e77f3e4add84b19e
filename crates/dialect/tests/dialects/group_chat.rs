//! Group Chat Format: what conversations of other systems become. That a group chat comes back equal is tested where the
//! source is at hand, in `testkit`.

use chatmill_dialect::{History, LossCode, Policy};
use chatmill_model::{
    ArgumentForm, Arguments, CallStatus, LinkStatus, Media, MediaKind, MediaSource, Part, RawJson,
    ReferenceForm, Role, Scene,
};

use crate::room::{Room, media, preview, text};

fn raw(key: &str, value: &str) -> (String, RawJson) {
    (key.to_owned(), RawJson(value.to_owned()))
}

#[test]
fn people_rooms_and_messages_of_another_system() {
    let mut room = Room::new();
    let conversation = &mut room.linked.conversation;
    conversation.title = Some("Room".to_owned());
    conversation.description = Some("About rooms".to_owned());
    let ann = room.human("u1", "Ann");
    let participant = room.participant(ann);
    participant.custom_role = Some("Lead".to_owned());
    participant.email = Some("ann@example.org".to_owned());
    participant.extra.0.push(raw("age", "4.0e1"));
    let bot = room.agent("b1", "Bot");
    let guest = room.human("u2", "Guest");
    room.participant(guest).listed = false;
    room.say(ann, "Hi");
    room.time(0, "2025-01-01T00:00:00Z");
    room.say(bot, "Ho");
    room.reply(1, 0);
    room.message(1).sender_name = Some("bot".to_owned());
    room.notice("Guest joined");
    room.say(guest, "Hey");
    let out = room.only("group-chat");
    assert_eq!(
        out.text,
        concat!(
            r#"{"version":"1.0.0","conversation_meta":{"conversation_id":"room-1","scene":"group_chat","#,
            r#""scene_desc":{"description":"About rooms"},"name":"Room","user_details":{"#,
            r#""u1":{"full_name":"Ann","role":"user","custom_role":"Lead","email":"ann@example.org","age":4.0e1},"#,
            r#""b1":{"full_name":"Bot","role":"assistant"},"u2":{"full_name":"Guest","role":"user"},"system":{}}},"#,
            r#""conversation_list":["#,
            r#"{"message_id":"msg0","create_time":"2025-01-01T00:00:00Z","sender":"u1","role":"user","#,
            r#""type":"text","content":"Hi","refer_list":[]},"#,
            r#"{"message_id":"msg1","sender":"b1","sender_name":"bot","role":"assistant","type":"text","#,
            r#""content":"Ho","refer_list":["msg0"]},"#,
            r#"{"message_id":"msg2","sender":"system","role":"user","type":"system","content":"Guest joined","refer_list":[]},"#,
            r#"{"message_id":"msg3","sender":"u2","role":"user","type":"text","content":"Hey","refer_list":[]}]}"#
        )
    );
    assert_eq!((out.messages, out.assistant, out.last_role), (3, 1, Some("user")));
    assert_eq!(out.positions, (Some(0), Some(3)));
    assert_eq!(out.own, "");
    assert_eq!(out.lost(LossCode::SenderMissing), [(Some(2), 1)]);
    assert_eq!(out.lost(LossCode::ParticipantSynthesised), [(None, 1)]);
    assert_eq!(out.lost(LossCode::TitleSynthesised), []);
}

#[test]
fn what_the_validators_demand_and_the_source_lacks_is_made() {
    let mut room = Room::new();
    let somebody = room.human("system", "Sys");
    room.participant(somebody).name = None;
    room.participant(somebody).alias = Some("sys".to_owned());
    room.participant(somebody).listed = false;
    let said = room.say(somebody, "x");
    room.message(said).source_type = Some("response".to_owned());
    let quote = preview("old", Some("u9"), Some("Zoe"));
    room.refer(said, None, Some(quote.clone()), None, LinkStatus::Preview);
    room.refer(said, None, Some(quote), None, LinkStatus::Pseudo);
    room.message(said).references[1].is_pseudo = true;
    room.post(None, vec![text("y")]);
    let out = room.only("group-chat");
    assert!(
        out.text
            .contains(r#""name":"room-1","user_details":{"system":{"role":"user"},"u9":{},"system~2":{}}"#),
        "{}",
        out.text
    );
    assert!(out.text.contains(concat!(
        r#""type":"text","content":"x","refer_list":[{"message_id":"q0.0","sender":"u9","sender_name":"Zoe","#,
        r#""content":"old"}]}"#
    )));
    assert!(out.text.contains(r#"{"message_id":"msg1","sender":"system~2","#));
    assert_eq!(out.lost(LossCode::TitleSynthesised), [(None, 1)]);
    assert_eq!(out.lost(LossCode::ParticipantSynthesised), [(None, 3)]);
    assert_eq!(out.lost(LossCode::MessageIdSynthesised), [(Some(0), 1)]);
    assert_eq!(out.lost(LossCode::ReferenceUnresolved), [(Some(0), 1)]);
    assert_eq!(out.lost(LossCode::SenderMissing), [(Some(1), 1)]);
    room.linked.conversation.source_id = None;
    assert!(room.only("group-chat").text.contains(r#""name":"","#));
}

#[test]
fn a_missing_id_is_made_up_beside_the_ids_that_are_there() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    for _ in 0..3 {
        room.say(ann, "x");
    }
    room.message(0).id = Some("m1".to_owned());
    room.message(1).id = None;
    room.message(2).id = None;
    let out = room.only("group-chat");
    assert!(out.text.contains(r#""message_id":"m1~2""#) && out.text.contains(r#""message_id":"m2""#));
    let made_up = [(Some(1), 1), (Some(2), 1)];
    assert_eq!(out.lost(LossCode::MessageIdSynthesised), made_up);
}

#[test]
fn fields_of_a_group_chat_keep_their_place_and_their_spelling() {
    let mut room = Room::new();
    let conversation = &mut room.linked.conversation;
    conversation.customs.kept_form = Some("group-chat");
    conversation.scene = Scene::Unknown;
    conversation.format_version = Some("1.0.1".to_owned());
    conversation.extra.0 = vec![
        raw("scene_desc", "{}"),
        raw("tags", "[ 1.0, \"a b\" ]"),
        raw("scene", "\"party\""),
        raw("group_id", "\"g\""),
    ];
    conversation.envelope.0 = vec![raw("exported by", "null")];
    let ann = room.human("u1", "");
    room.participant(ann).extra.0.push(raw("role", "null"));
    let whole = room.human("u2", "");
    room.participant(whole).extra.0.push(raw("/", "\"Ben\""));
    room.say(ann, "a");
    room.message(0).extra.0 = vec![raw("/avatar", "1"), raw("k", "{ }")];
    room.post(Some(ann), vec![]);
    room.message(1).source_type = Some("text".to_owned());
    room.message(1).extra.0 = vec![raw("/extra", "[3]")];
    let out = room.only("group-chat");
    assert_eq!(
        out.text,
        concat!(
            r#"{"version":"1.0.1","conversation_meta":{"scene_desc":{},"name":"room-1","tags":[1.0,"a b"],"scene":"party","#,
            r#""group_id":"g","user_details":{"u1":{"role":null},"u2":"Ben"}},"conversation_list":["#,
            r#"{"message_id":"msg0","sender":"u1","role":"user","type":"text","content":"a","refer_list":[],"avatar":1,"extra":{"k":{}}},"#,
            r#"{"message_id":"msg1","sender":"u1","role":"user","type":"text","content":null,"refer_list":[],"extra":[3]}],"#,
            r#""exported by":null}"#
        )
    );
    assert_eq!(out.lost(LossCode::TitleSynthesised), [(None, 1)]);
    assert_eq!(out.losses.len(), 1);
}

#[test]
fn media_are_an_address_or_fields_of_extra() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.post(
        Some(ann),
        vec![media(
            MediaKind::Image,
            Some("https://e.com/i.png"),
            Some("i.png"),
        )],
    );
    room.post(
        Some(ann),
        vec![
            text("look"),
            media(MediaKind::File, Some("https://e.com/a.pdf"), None),
            media(MediaKind::Audio, None, None),
        ],
    );
    room.post(
        Some(ann),
        vec![media(MediaKind::Video, Some("s3://bucket/v.mp4"), None)],
    );
    room.post(
        Some(ann),
        vec![Part::Media(Media {
            kind: MediaKind::Image,
            source: MediaSource::Inline("AAAA".to_owned()),
            media_type: Some("image/png".to_owned()),
            name: None,
        })],
    );
    let out = room.only("group-chat");
    for message in [
        r#""type":"image","content":"https://e.com/i.png","refer_list":[],"extra":{"file_name":"i.png"}}"#,
        r#""type":"file","content":"look","refer_list":[],"extra":{"url":"https://e.com/a.pdf"}}"#,
        r#""type":"video","content":null,"refer_list":[],"extra":{"url":"s3://bucket/v.mp4"}}"#,
        r#""type":"image","content":null,"refer_list":[],"extra":{"file_type":"image/png"}}"#,
    ] {
        assert!(out.text.contains(message), "{message} in {}", out.text);
    }
    let dropped = [(Some(1), 1), (Some(3), 1)];
    assert_eq!(out.lost(LossCode::MediaDropped), dropped);
}

#[test]
fn tools_are_our_extension() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(
        bot,
        "",
        &[("c1", "search", "{ \"q\": 1 }"), ("", "", "{ \"q\": 1 }")],
    );
    if let Part::ToolCall(call) = &mut room.message(0).parts[1] {
        call.form = ArgumentForm::Embedded;
    }
    room.result("c1", "hit");
    if let Part::ToolResult(result) = &mut room.message(1).parts[0] {
        result.name = Some("search".to_owned());
        result.is_error = true;
    }
    room.pair(Some((0, 0)), Some((1, 0)), CallStatus::Paired);
    let tool = RawJson("{}".to_owned());
    room.linked.conversation.tools.push(tool);
    let out = room.only("group-chat");
    assert!(out.text.ends_with(concat!(
        r#""type":"text","content":null,"refer_list":[],"extra":{"tool_calls":[{"id":"c1","type":"function","#,
        r#""function":{"name":"search","arguments":"{ \"q\": 1 }"}},{"id":"call_0","type":"function","#,
        r#""function":{"arguments":"{\"q\":1}"}}]}},"#,
        r#"{"message_id":"msg1","sender":"system","role":"tool","type":"text","content":"hit","refer_list":[],"#,
        r#""extra":{"tool_call_id":"c1","name":"search"}}]}"#
    )));
    assert_eq!(out.lost(LossCode::ToolDefinitionDropped), [(None, 1)]);
    assert_eq!(out.lost(LossCode::ErrorFlagDropped), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::ToolIdRewritten), [(Some(0), 1)]);
}

#[test]
fn results_bear_the_ids_of_their_calls_and_others_one_that_nobody_has() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "", &[("c", "a", "{}"), ("c", "b", "{}"), ("", "d", "{}")]);
    for id in ["c", "c", "", "", "z"] {
        room.result(id, "hit");
    }
    room.pair(Some((0, 0)), Some((2, 0)), CallStatus::Paired);
    room.pair(Some((0, 1)), Some((1, 0)), CallStatus::Paired);
    room.pair(Some((0, 2)), Some((3, 0)), CallStatus::Paired);
    room.pair(None, Some((4, 0)), CallStatus::Orphaned);
    room.pair(None, Some((5, 0)), CallStatus::Orphaned);
    let out = room.only("group-chat");
    let ids = |key: &str| {
        let start = format!("\"{key}\":\"");
        let parts = out.text.split(&start).skip(1);
        let ids = parts.filter_map(|part| part.split('"').next());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids("id"), ["c", "call_0", "call_1"]);
    assert_eq!(ids("tool_call_id"), ["call_0", "c", "call_1", "call_2", "z"]);
    let rewritten = [(Some(0), 2), (Some(1), 1), (Some(3), 1), (Some(4), 1)];
    let lost = out.lost(LossCode::ToolIdRewritten);
    let positions = |position| {
        lost.iter()
            .filter(move |loss| loss.0 == position)
            .map(|loss| loss.1)
            .sum::<u64>()
    };
    assert_eq!(
        rewritten.map(|(position, _)| (position, positions(position))),
        rewritten
    );
}

#[test]
fn references_keep_their_form_and_previews_of_other_systems_become_objects() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let answer = room.say(ann, "x");
    let shown = preview("old", Some("u9"), Some("Zoe"));
    room.refer(
        answer,
        Some("gone".to_owned()),
        Some(shown),
        None,
        LinkStatus::Preview,
    );
    room.refer(answer, None, None, None, LinkStatus::Dangling);
    room.refer(answer, Some("d".to_owned()), None, None, LinkStatus::Dangling);
    let out = room.only("group-chat");
    assert!(out.text.contains(
        r#""refer_list":[{"message_id":"gone","sender":"u9","sender_name":"Zoe","content":"old"},"d"]"#
    ));
    assert_eq!(out.lost(LossCode::ReferenceUnresolved), [(Some(0), 1)]);
    room.linked.conversation.customs.kept_form = Some("group-chat");
    room.linked.conversation.messages[0].references[0].form = ReferenceForm::Object(RawJson(
        "{\"content\": \"o  ld\", \"message_id\": \"gone\"}".to_owned(),
    ));
    let out = room.only("group-chat");
    assert!(
        out.text
            .contains(r#""refer_list":[{"content":"o  ld","message_id":"gone"},"d"]"#)
    );
    let first = &mut room.linked.conversation.messages[0].references[0];
    first.target = None;
    first.form = ReferenceForm::Object(RawJson("{ \"sender\": null, \"content\": \"old\"}".to_owned()));
    let out = room.only("group-chat");
    assert!(
        out.text
            .contains(r#""refer_list":[{"message_id":"q0.0","sender":null,"content":"old"},"d"]"#)
    );
    assert_eq!(
        out.violations,
        ["GRP-01: the author of a quoted message is not text"]
    );
}

#[test]
fn the_id_of_a_target_is_the_one_that_is_written() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "x");
    room.message(0).id = None;
    room.say(ann, "y");
    room.refer(1, Some("outer".to_owned()), None, Some(0), LinkStatus::Resolved);
    assert!(
        room.only("group-chat")
            .text
            .contains(r#""content":"y","refer_list":["m0"]}"#)
    );
}

#[test]
fn what_the_format_has_no_place_for_is_declared() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.participant(ann).alias = Some("@ann".to_owned());
    room.participant(ann).role = Some("Boss".to_owned());
    room.post(
        Some(ann),
        vec![
            Part::Reasoning("hm".to_owned()),
            media(MediaKind::Image, None, None),
            text("one"),
            text("two"),
            Part::CacheMark,
        ],
    );
    let message = room.message(0);
    message.mentions.push("u1".to_owned());
    message.source_type = Some("response".to_owned());
    let out = room.only("group-chat");
    assert!(out.text.contains(r#""type":"image","content":"one\ntwo""#));
    assert_eq!(
        out.codes_at(0),
        [
            "part-flattened",
            "part-moved",
            "reasoning-dropped",
            "cache-mark-dropped",
            "mention-dropped",
            "extra-dropped"
        ]
    );
    assert_eq!(out.lost(LossCode::NameDropped), [(None, 1)]);
    assert_eq!(out.lost(LossCode::ParticipantDropped), [(None, 1)]);
}

#[test]
fn malformed_arguments_and_system_text_are_written() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.system("be kind");
    room.call(bot, "so", &[("c1", "f", "{}")]);
    if let Part::ToolCall(call) = &mut room.message(1).parts[1] {
        call.arguments = Arguments::Malformed("{oops".to_owned());
    }
    let out = room.only("group-chat");
    assert!(out.text.contains(
        r#""sender":"system","type":"system","content":"be kind","refer_list":[],"extra":{"role":"system"}}"#
    ));
    assert!(
        out.text
            .contains(r#""function":{"name":"f","arguments":"{oops"}"#)
    );
    assert_eq!(room.linked.conversation.messages[0].role, Role::System);
}

#[test]
fn a_window_holds_messages_and_notices() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "a");
    room.notice("n");
    room.say(ann, "b");
    let outs = room.render_with("group-chat", &Policy::default(), History::Messages(2));
    assert_eq!((outs[0].messages, outs[0].positions), (1, (Some(1), Some(2))));
    assert_eq!(outs[0].lost(LossCode::Truncated), [(None, 1)]);
}
