//! Tzurot's requests beyond the document's own scenarios.

use chatmill_dialect::policy::{MediaPolicy, References};
use chatmill_dialect::{History, LossCode, Policy};
use chatmill_model::{LinkStatus, MediaKind, RawJson};

use crate::room::{Room, media, preview, text};

#[test]
fn each_user_message_is_one_request_and_the_personality_makes_none() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "one");
    room.say(bot, "two");
    room.say(ann, "three");
    room.notice("Ann left");
    room.system("be kind");
    let requests = room.render("tzurot");
    let texts: Vec<_> = requests.iter().map(|out| out.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            r#"[{"role":"user","content":"one"}]"#,
            r#"[{"role":"user","content":"three"}]"#
        ]
    );
    assert_eq!(requests[1].positions, (Some(2), Some(2)));
    assert_eq!(requests[1].coverage, "single-turn");
    assert_eq!(
        (requests[1].messages, requests[1].assistant, requests[1].last_role),
        (1, 0, Some("user"))
    );
}

#[test]
fn a_request_has_no_place_for_how_much_a_message_counts_in_training() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let said = room.say(ann, "one");
    room.say(ann, "two");
    room.linked.conversation.messages[said as usize].weight = chatmill_model::Weight::new(0.0);
    let dropped = |out: &crate::room::Out| out.losses.iter().any(|loss| loss.code == LossCode::WeightDropped);
    let requests = room.render("tzurot");
    assert_eq!(requests.iter().map(dropped).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn the_records_personality_wins_over_the_perspective() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let einstein = room.agent("albert-einstein", "Albert Einstein");
    let freud = room.agent("sigmund-freud", "Sigmund Freud");
    room.say(einstein, "Time is relative.");
    room.say(einstein, "To the observer.");
    room.say(freud, "Tell me more.");
    let question = room.say(ann, "Really?");
    room.reply(question, 0);
    let perspective = room.render("tzurot").pop().unwrap();
    assert!(perspective.text.contains("You said earlier: \\\"Time"));
    for named in ["\"sigmund-freud\"", "\"Sigmund Freud\""] {
        let raw = RawJson(named.to_owned());
        room.linked.conversation.envelope.0 = vec![("currentPersonality".to_owned(), raw)];
        let requests = room.render("tzurot");
        // Einstein's two turns are now somebody else's.
        assert_eq!(requests.len(), 3);
        assert!(
            requests[2]
                .text
                .contains("Albert Einstein (albert-einstein) said: \\\"Time")
        );
    }
}

#[test]
fn several_references_are_quoted_in_order_with_one_medium_each() {
    let mut room = Room::new();
    let (ann, ben) = (room.human("u1", "Ann"), room.human("u2", "Ben"));
    room.say(
        ann,
        "see [Image: https://e.com/1.png] [Image: https://e.com/2.png]",
    );
    room.post(
        Some(ben),
        vec![
            media(MediaKind::Image, Some("https://e.com/3.png"), None),
            media(MediaKind::Audio, Some("https://e.com/4.mp3"), None),
        ],
    );
    let answer = room.say(ben, "both");
    room.reply(answer, 0);
    room.reply(answer, 1);
    let out = room.render("tzurot").pop().unwrap();
    assert_eq!(
        out.text,
        concat!(
            r#"[{"role":"user","content":[{"type":"text","text":"both\n"#,
            r#"This is a message referencing a message with an image from Ann. Ann said:\n\"see\"\n"#,
            r#"This is a message referencing a message with audio from me. I said:\n\"[Audio Message]\""},"#,
            r#"{"type":"image_url","image_url":{"url":"https://e.com/1.png"}},"#,
            r#"{"type":"audio_url","audio_url":{"url":"https://e.com/4.mp3"}}]}]"#
        )
    );
    assert_eq!(out.lost(LossCode::MediaDropped), [(Some(2), 2)]);
    assert_eq!(out.lost(LossCode::ReferenceInlined), [(Some(2), 2)]);
}

#[test]
fn an_author_nobody_knows_is_someone_and_missing_text_is_empty() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.post(None, vec![]);
    let answer = room.say(ann, "?");
    room.reply(answer, 0);
    let out = room.render("tzurot").pop().unwrap();
    assert!(out.text.contains(r#""?\nSomeone said:\n\"\""#), "{}", out.text);
}

#[test]
fn without_own_text_the_context_has_no_leading_line_break() {
    let mut room = Room::new();
    let (ann, ben) = (room.human("u1", "Ann"), room.human("u2", "Ben"));
    room.say(ann, "hi");
    let answer = room.post(
        Some(ben),
        vec![media(MediaKind::Image, Some("https://e.com/i.png"), None)],
    );
    room.reply(answer, 0);
    let out = room.render("tzurot").pop().unwrap();
    assert!(
        out.text
            .starts_with(r#"[{"role":"user","content":[{"type":"text","text":"Ann said:\n"#)
    );
}

#[test]
fn previews_are_quoted_and_what_leads_nowhere_is_not() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let answer = room.say(ann, "and?");
    let quoted = preview("old news", None, Some("Zoe"));
    room.refer(
        answer,
        Some("x".to_owned()),
        Some(quoted),
        None,
        LinkStatus::Preview,
    );
    for status in [
        LinkStatus::Dangling,
        LinkStatus::Pseudo,
        LinkStatus::Itself,
        LinkStatus::Cyclic,
    ] {
        room.refer(answer, Some("y".to_owned()), None, Some(0), status);
    }
    let out = room.render("tzurot").pop().unwrap();
    assert!(
        out.text.contains(r#"and?\nZoe said:\n\"old news\""}]"#),
        "{}",
        out.text
    );
    let lost: u64 = out
        .lost(LossCode::ReferenceUnresolved)
        .iter()
        .map(|(_, amount)| amount)
        .sum();
    assert_eq!(lost, 4);
}

#[test]
fn media_without_an_element_are_named_in_the_text() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.post(
        Some(ann),
        vec![
            text("look"),
            media(MediaKind::Video, Some("https://e.com/v.mp4"), Some("v.mp4")),
            media(MediaKind::Image, None, Some("lost.png")),
            media(MediaKind::Audio, Some("https://e.com/a.mp3"), Some("a.mp3")),
        ],
    );
    let out = room.render("tzurot").pop().unwrap();
    assert_eq!(
        out.text,
        concat!(
            r#"[{"role":"user","content":[{"type":"text","text":"look [Video: v.mp4] [Image: lost.png]"},"#,
            r#"{"type":"audio_url","audio_url":{"url":"https://e.com/a.mp3"}}]}]"#
        )
    );
    assert_eq!(out.lost(LossCode::MediaPlaceholder), [(Some(0), 2)]);
    assert_eq!(out.lost(LossCode::MediaDescriptionDropped), [(Some(0), 1)]);
}

#[test]
fn cleaning_is_declared() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, " \u{1}quiet\u{feff}");
    let answer = room.say(ann, "b\u{0}el\u{7}l");
    room.reply(answer, 0);
    room.time(answer, "2025-01-01T00:00:00Z");
    let out = room.render("tzurot").pop().unwrap();
    assert!(out.text.contains(r#"bell\nI said:\n\"quiet\""#), "{}", out.text);
    assert_eq!(
        out.codes_at(answer),
        [
            "name-dropped",
            "reference-inlined",
            "control-character-removed",
            "control-character-removed",
            "whitespace-trimmed"
        ]
    );
    assert_eq!(out.lost(LossCode::TimestampDropped), [(None, 1)]);
    assert_eq!(out.lost(LossCode::MessageIdDropped), [(None, 1)]);
}

#[test]
fn policy_drops_replies_and_media() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "hi");
    let answer = room.post(
        Some(ann),
        vec![
            text("ho"),
            media(MediaKind::Image, Some("https://e.com/i.png"), None),
        ],
    );
    room.reply(answer, 0);
    let policy = Policy {
        references: References::Drop,
        media: MediaPolicy::Drop,
        ..Policy::default()
    };
    let out = room
        .render_with("tzurot", &policy, History::Document)
        .pop()
        .unwrap();
    assert_eq!(out.text, r#"[{"role":"user","content":"ho"}]"#);
    assert_eq!(out.lost(LossCode::ReferenceDropped), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::MediaDropped), [(Some(1), 1)]);
}

#[test]
fn tools_of_another_agent_make_no_request() {
    let mut room = Room::new();
    room.human("u1", "Ann");
    let (first, second) = (room.agent("b1", "One"), room.agent("b2", "Two"));
    room.say(first, "a");
    room.say(first, "b");
    room.call(second, "", &[("c1", "search", "{}")]);
    room.result("c1", "nothing");
    room.say(second, "done");
    let requests = room.render("tzurot");
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].text, r#"[{"role":"user","content":"done"}]"#);
    assert_eq!(requests[0].lost(LossCode::RoleMapped), [(Some(4), 1)]);
}

#[test]
fn own_words_that_are_worded_as_a_quote_are_declared_where_a_quote_may_stand() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "Ben said:\n\"Rust.\"");
    let alone = &room.render("tzurot")[0];
    assert_eq!(alone.lost(LossCode::SpecialTokenInText), []);
    let picture = media(MediaKind::Image, Some("https://example.org/a.png"), None);
    room.message(0).parts.push(picture);
    let beside = &room.render("tzurot")[0];
    assert!(
        beside.text.contains(r#""text":"Ben said:\n\"Rust.\"""#),
        "{}",
        beside.text
    );
    assert_eq!(beside.lost(LossCode::SpecialTokenInText), [(Some(0), 1)]);
}

#[test]
fn own_texts_are_joined_by_a_space_and_text_in_front_of_which_media_stood_moved() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let picture = || media(MediaKind::Image, Some("https://e.com/a.png"), None);
    room.post(Some(ann), vec![picture(), text("one"), text("two")]);
    let out = room.render("tzurot").pop().unwrap();
    assert_eq!(
        out.text,
        concat!(
            r#"[{"role":"user","content":[{"type":"text","text":"one two"},"#,
            r#"{"type":"image_url","image_url":{"url":"https://e.com/a.png"}}]}]"#
        )
    );
    assert_eq!(out.lost(LossCode::PartMoved), [(Some(0), 2)]);
    assert_eq!(out.lost(LossCode::PartFlattened), [(Some(0), 1)]);
    let passed = room.render("tzurot@v2-final").pop().unwrap();
    assert_eq!(
        passed.text,
        concat!(
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://e.com/a.png"}},"#,
            r#"{"type":"text","text":"one"},{"type":"text","text":"two"}]}]"#
        )
    );
    assert_eq!(passed.lost(LossCode::PartMoved), []);
}

#[test]
fn what_a_request_does_not_show_is_declared_once_for_each_kind() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.system("Be kind.");
    room.say(ann, "one");
    room.call(bot, "", &[("c1", "f", "{}")]);
    room.result("c1", "r");
    room.say(bot, "two");
    room.notice("Ann left");
    room.say(ann, "three");
    let requests = room.render("tzurot");
    assert_eq!(requests.len(), 2);
    for out in requests {
        assert_eq!(out.lost(LossCode::Truncated), [(None, 3)]);
        assert_eq!(out.lost(LossCode::SystemDropped), [(None, 1)]);
        assert_eq!(out.lost(LossCode::ToolCallDropped), [(None, 1)]);
        assert_eq!(out.lost(LossCode::ToolResultDropped), [(None, 1)]);
        assert_eq!(out.lost(LossCode::NoticeDropped), [(None, 1)]);
    }
}

#[test]
fn a_control_character_in_the_name_of_who_is_quoted_goes_and_is_declared() {
    let mut room = Room::new();
    let (ann, odd) = (room.human("u1", "Ann"), room.human("u2", "A\u{1}B"));
    room.say(odd, "c");
    let answer = room.say(ann, "?");
    room.reply(answer, 0);
    let out = room.render("tzurot").pop().unwrap();
    assert!(out.text.contains("AB said:"), "{}", out.text);
    assert_eq!(out.lost(LossCode::ControlCharacterRemoved), [(Some(1), 1)]);
}
