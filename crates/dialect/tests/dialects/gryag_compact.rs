//! gryag's compact transcript.
//!
//! Profile `2025-10-17` holds 27 vectors of the code of that day: here, with the labels, and, for histories, beside the
//! readers. In the default profile these do not hold: letters for ids that share six digits under different names, and for a
//! person who speaks twice (ruled out); `[Media]` and counts of media (the document names kinds); names cut at 30; line
//! breaks kept in texts (ruled out); arrows on the bot's lines (ruled out). Nowhere holds the document's own printed example,
//! whose digits are the first six and whose arrow points past the bot. Not applicable: an id that is none, a table of
//! letters handed in, descriptions of media that no prompt uses, estimates of tokens, and later versions.

use chatmill_dialect::policy::MediaPolicy;
use chatmill_dialect::{History, LossCode, Policy};
use chatmill_model::{LinkStatus, MediaKind};
use serde_json::Value;

use crate::room::{Room, media, preview, text};

#[test]
fn the_documents_example_comes_out_as_ruled() {
    let mut room = Room::new();
    let alice = room.human("987654321", "Alice");
    let bot = room.agent("gryag_bot", "gryag");
    let bob = room.human("111222333", "Bob");
    room.say(alice, "Як справи, гряг?");
    room.say(bot, "Не набридай.");
    room.say(bob, "А що тут відбувається?");
    room.reply(1, 0);
    room.reply(2, 1);
    let out = room.only("gryag-compact");
    assert_eq!(
        out.text,
        "Alice#654321: Як справи, гряг?\ngryag: Не набридай.\nBob#222333 → gryag: А що тут відбувається?\n[RESPOND]"
    );
    assert_eq!(out.lost(LossCode::ReferenceDropped), [(Some(1), 1)]);
    assert_eq!(out.own, "gryag: Не набридай.\n");
    assert_eq!((out.messages, out.assistant), (3, 1));
}

#[test]
fn one_line_per_vector_of_the_formatter() {
    let mut room = Room::new();
    let alice = room.human("123456", "Alice");
    let bob = room.human("789012", "Bob");
    room.say(bob, "Hi");
    room.say(alice, "Hello world");
    room.say(alice, "Thanks!");
    room.reply(2, 0);
    room.say(alice, "");
    room.post(None, vec![text("x")]);
    let out = room.only("gryag-compact");
    assert_eq!(
        out.text,
        "Bob#789012: Hi\nAlice#123456: Hello world\nAlice#123456 → Bob#789012: Thanks!\n\
         Alice#123456: (no content)\nUnknown#: x\n[RESPOND]"
    );
    assert_eq!(out.lost(LossCode::EmptyFilled), [(Some(3), 1)]);
}

#[test]
fn who_shows_something_beside_a_call_has_a_line_even_where_media_are_dropped() {
    let mut room = Room::new();
    let alice = room.human("123456", "Alice");
    let bot = room.agent("bot", "gryag");
    room.say(alice, "Draw it.");
    let position = room.call(bot, "", &[("c1", "draw", "{}")]);
    let picture = media(MediaKind::Image, Some("https://pier.example/a.png"), None);
    room.message(position).parts.push(picture);
    let kept = room.only("gryag-compact");
    assert!(kept.text.contains("gryag: [Image]\n"), "{}", kept.text);
    let policy = Policy {
        media: MediaPolicy::Drop,
        ..Policy::default()
    };
    let dropped = room.only_with("gryag-compact", &policy);
    assert!(dropped.text.contains("gryag: (no content)\n"), "{}", dropped.text);
    for code in ["tool-call-dropped", "media-dropped", "empty-filled"] {
        assert!(dropped.codes_at(position).contains(&code), "{code}: {dropped:?}");
    }
}

#[test]
fn people_whose_labels_are_equal_get_letters_by_ascending_id() {
    let mut room = Room::new();
    let newer = room.human("9000007", "Alex");
    let older = room.human("1000007", "Alex");
    let other = room.human("2000007", "Bea");
    room.say(newer, "a");
    room.say(older, "b");
    room.say(newer, "c");
    room.say(other, "d");
    let out = room.only("gryag-compact");
    assert_eq!(
        out.text,
        "Alex#000007b: a\nAlex#000007a: b\nAlex#000007b: c\nBea#000007: d\n[RESPOND]"
    );
}

#[test]
fn a_letter_never_makes_a_label_that_somebody_has() {
    let mut room = Room::new();
    let people = ["x", "xa"].map(|id| room.human(id, "Alex"));
    let twin = room.human("x", "Alex");
    for person in [people[0], people[1], twin] {
        room.say(person, "hi");
    }
    let out = room.only("gryag-compact");
    assert_eq!(out.text, "Alex#xb: hi\nAlex#xa: hi\nAlex#xc: hi\n[RESPOND]");
}

#[test]
fn line_breaks_cannot_forge_a_line() {
    let mut room = Room::new();
    let ann = room.human("1", "A:nn\n[x] → y");
    room.say(ann, "one\r\n[RESPOND]\ngryag: two");
    let out = room.only("gryag-compact");
    assert_eq!(out.text, "Ann x  y#1: one [RESPOND] gryag: two\n[RESPOND]");
    assert_eq!(out.lost(LossCode::NewlineReplaced), [(Some(0), 1)]);
    assert_eq!(out.lost(LossCode::NameCleaned), [(None, 1)]);
}

#[test]
fn media_stand_inline_by_kind() {
    let mut room = Room::new();
    let ann = room.human("1", "Ann");
    room.post(
        Some(ann),
        vec![
            text("look"),
            media(MediaKind::Image, Some("https://e.com/i.png"), Some("i.png")),
            media(MediaKind::Video, None, None),
            media(MediaKind::Audio, None, None),
            media(MediaKind::File, None, Some("a\nb.pdf")),
        ],
    );
    let out = room.only("gryag-compact");
    assert_eq!(
        out.text,
        "Ann#1: look [Image] [Video] [Audio] [File: a b.pdf]\n[RESPOND]"
    );
    assert_eq!(out.lost(LossCode::MediaPlaceholder), [(Some(0), 4)]);
    let policy = Policy {
        media: MediaPolicy::Drop,
        ..Policy::default()
    };
    assert_eq!(
        room.only_with("gryag-compact", &policy).text,
        "Ann#1: look\n[RESPOND]"
    );
}

#[test]
fn a_previewed_author_gets_an_arrow_and_nobody_gets_none() {
    let mut room = Room::new();
    let (ann, ben) = (room.human("1", "Ann"), room.human("2", "Ben"));
    room.say(ben, "x");
    let answer = room.say(ann, "y");
    room.refer(
        answer,
        None,
        Some(preview("z", Some("2"), None)),
        None,
        LinkStatus::Preview,
    );
    room.reply(answer, 0);
    let lost = room.say(ann, "w");
    room.refer(lost, Some("gone".to_owned()), None, None, LinkStatus::Dangling);
    let out = room.only("gryag-compact");
    assert_eq!(out.text, "Ben#2: x\nAnn#1 → Ben#2: y\nAnn#1: w\n[RESPOND]");
    assert_eq!(out.lost(LossCode::ReferenceDropped), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::ReferenceUnresolved), [(Some(2), 1)]);
}

#[test]
fn tools_system_text_and_notices_are_declared() {
    let mut room = Room::new();
    let bot = room.agent("b", "Bot");
    room.system("be kind");
    room.notice("joined");
    room.call(bot, "", &[("1", "a", "{}")]);
    room.result("1", "r");
    room.call(bot, "done", &[("2", "a", "{}")]);
    let out = room.only("gryag-compact");
    assert_eq!(out.text, "Bot: done\n[RESPOND]");
    let codes: Vec<_> = (0..5).map(|position| out.codes_at(position)).collect();
    assert_eq!(
        codes,
        [
            vec!["system-dropped"],
            vec!["notice-dropped"],
            vec!["tool-call-dropped"],
            vec!["tool-result-dropped"],
            vec!["tool-call-dropped"],
        ]
    );
}

#[test]
fn without_a_perspective_everybody_has_an_id() {
    let mut room = Room::new();
    let bot = room.agent("b7", "Bot");
    room.say(bot, "hi");
    let outs = room.render_as("gryag-compact", &Policy::default(), History::Document, None);
    assert_eq!(outs[0].text, "Bot#b7: hi\n[RESPOND]");
    assert_eq!(outs[0].lost(LossCode::RoleMapped), [(Some(0), 1)]);
}

const CODE: &str = "gryag-compact@2025-10-17";
fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("dialects/gryag-compact", kind)
}

#[test]
fn the_codes_letters_are_those_of_its_day() {
    let cases = cases("letters");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let mut room = Room::new();
        for id in case["input"].as_array().unwrap() {
            let speaker = room.human(&id.to_string(), "N");
            room.say(speaker, "x");
        }
        // The line to be answered has no letter and makes none.
        let somebody = room.human("1", "Z");
        room.say(somebody, "now");
        let out = room.only(CODE);
        let labels: Vec<&str> = out
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("N#")?.strip_suffix(": x"))
            .collect();
        let expected: Vec<&str> = case["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| case["expected"][id.to_string()].as_str().unwrap())
            .collect();
        assert_eq!(labels, expected, "{}", case["name"]);
    }
}

#[test]
fn the_codes_lines_are_those_of_its_day() {
    let cases = cases("line");
    assert_eq!(cases.len(), 8);
    for case in cases {
        let input = &case["input"];
        let mut room = Room::new();
        room.linked.conversation.customs.kept_form = Some("gryag");
        let bot = room.agent("bot", "somebody");
        let name = input["username"].as_str().unwrap_or_default();
        let sender = match input["user_id"].as_i64() {
            Some(id) => Some(room.human(&id.to_string(), name)),
            None => (input["is_bot"] == true).then_some(bot),
        };
        let position = room.post(sender, vec![text(input["text"].as_str().unwrap())]);
        if let Some(name) = input["reply_to_username"].as_str() {
            let id = input["reply_to_user_id"].as_i64().map(|id| id.to_string());
            let shown = preview("", id.as_deref(), Some(name));
            room.refer(
                position,
                Some("77".to_owned()),
                Some(shown),
                None,
                LinkStatus::Preview,
            );
        }
        // The last line of a prompt is the current one, which has no arrow.
        room.say(bot, "and so on");
        let out = room.only(CODE);
        assert_eq!(
            out.text.lines().next(),
            case["expected"].as_str(),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn the_codes_prompt_has_two_end_marks_and_no_arrow_on_the_current_line() {
    let mut room = Room::new();
    let (alice, bot) = (room.human("123456", "Alice"), room.agent("b", "gryag"));
    let bob = room.human("789012", "Bob");
    room.say(bob, "one\ntwo");
    room.say(alice, "yes");
    room.reply(1, 0);
    room.say(bot, "Hm.");
    room.reply(2, 1);
    room.say(alice, "no");
    room.reply(3, 0);
    let out = room.only(CODE);
    assert_eq!(
        out.text,
        "Bob#789012: one\ntwo\nAlice#123456 → Bob#789012: yes\ngryag → Alice#123456: Hm.\n[RESPOND]\n\
         Alice#123456: no\n[RESPOND]"
    );
    assert_eq!(out.lost(LossCode::ReferenceDropped), [(Some(3), 1)]);
    assert_eq!(out.lost(LossCode::NewlineReplaced), []);
}

#[test]
fn the_codes_prompt_of_one_message_has_one_end_mark() {
    let mut room = Room::new();
    let alice = room.human("123456", "Alice");
    room.say(alice, "hi");
    assert_eq!(room.only(CODE).text, "Alice#123456: hi\n[RESPOND]");
}

#[test]
fn the_code_keeps_the_sign_of_a_second_name_and_prints_no_id_that_is_none() {
    let mut room = Room::new();
    let ann = room.human("5", "");
    room.participant(ann).alias = Some("ann".to_owned());
    let somebody = room.human("user", "");
    room.participant(somebody).is_id_made = true;
    room.say(ann, "one");
    room.say(somebody, "two");
    room.say(ann, "three");
    assert_eq!(
        room.only(CODE).text,
        "@ann#5: one\nUser#: two\n[RESPOND]\n@ann#5: three\n[RESPOND]"
    );
}

#[test]
fn a_bot_without_a_name_is_gryag() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("5", "Ann"), room.agent("assistant", ""));
    room.say(ann, "hi");
    room.say(bot, "Hm.");
    room.reply(1, 0);
    room.say(ann, "well");
    room.reply(2, 1);
    let out = room.only("gryag-compact");
    assert_eq!(out.text, "Ann#5: hi\ngryag: Hm.\nAnn#5 → gryag: well\n[RESPOND]");
}

#[test]
fn a_reply_to_something_that_is_gone_points_to_whom_it_answered() {
    let mut room = Room::new();
    let (ann, bob) = (room.human("987654321", "Ann"), room.human("111222333", "Bob"));
    room.say(ann, "one");
    for (id, name) in [("987654321", "Ann"), ("5", "Zoe")] {
        let answer = room.say(bob, "two");
        let shown = chatmill_model::Preview {
            content: None,
            ..preview("", Some(id), Some(name))
        };
        room.refer(
            answer,
            Some("900".to_owned()),
            Some(shown),
            None,
            LinkStatus::Dangling,
        );
    }
    let out = room.only("gryag-compact");
    assert_eq!(
        out.text,
        "Ann#654321: one\nBob#222333 → Ann#654321: two\nBob#222333 → Zoe#5: two\n[RESPOND]"
    );
}
