//! Every policy on at least two systems: what it changes, and what it declares.

use chatmill_dialect::policy::{
    Compressed, LeakedMetadata, MediaPolicy, Names, Orphans, Reasoning, References, System,
};
use chatmill_dialect::{LossCode, Policy};
use chatmill_model::{CallStatus, LinkStatus, MediaKind, Part, RawJson};

use crate::room::{Out, Room, media, text};

/// A person asks, the bot answers.
fn pair() -> (Room, usize, usize) {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann Lee"), room.agent("b1", "Bot"));
    room.say(ann, "question");
    (room, ann, bot)
}

fn with(change: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = Policy::default();
    change(&mut policy);
    policy
}

fn has(out: &Out, part: &str) -> bool {
    out.text.contains(part)
}

#[test]
fn names_go_into_the_field_in_front_of_the_text_or_nowhere() {
    let (mut room, _, bot) = pair();
    let bob = room.human("u2", "Bob");
    room.say(bob, "me too");
    room.say(bot, "answer");
    for (names, field, prefix) in [
        (Names::Auto, true, false),
        (Names::Field, true, false),
        (Names::Prefix, false, true),
        (Names::Drop, false, false),
    ] {
        let policy = with(|policy| policy.names = names);
        let out = room.only_with("openai-chat", &policy);
        assert_eq!(has(&out, "\"name\":\"Ann_Lee\""), field, "{names:?}");
        assert_eq!(has(&out, "Ann Lee: question"), prefix, "{names:?}");
        let lost = !out
            .lost(LossCode::NameDropped)
            .iter()
            .all(|(place, _)| place.is_none());
        assert_eq!(lost, names == Names::Drop, "{names:?}");
    }
    for (names, prefix) in [
        (Names::Auto, true),
        (Names::Field, false),
        (Names::Prefix, true),
        (Names::Drop, false),
    ] {
        let policy = with(|policy| policy.names = names);
        for dialect in ["anthropic-messages", "hf-messages", "chatml"] {
            let out = room.only_with(dialect, &policy);
            assert_eq!(has(&out, "Ann Lee: question"), prefix, "{dialect} {names:?}");
            assert_eq!(
                !out.lost(LossCode::NameInlined).is_empty(),
                prefix,
                "{dialect} {names:?}"
            );
        }
        let out = room.only_with("suna-llm", &policy);
        assert!(!has(&out, "Ann Lee"), "Suna knows no names: {names:?}");
    }
}

#[test]
fn a_participant_who_is_only_a_role_has_no_name() {
    let mut room = Room::new();
    let (user, bot) = (room.human("user", ""), room.agent("assistant", ""));
    room.say(user, "question");
    room.say(bot, "answer");
    let out = room.only("openai-chat");
    assert_eq!(
        out.text,
        r#"{"messages":[{"role":"user","content":"question"},{"role":"assistant","content":"answer"}]}"#
    );
    let out = room.only("suna-llm");
    assert!(!has(&out, "user:"));
    let named = out
        .lost(LossCode::NameDropped)
        .iter()
        .map(|(_, amount)| amount)
        .sum::<u64>();
    assert_eq!(named, 1, "only the assistant's own turn counts");
}

#[test]
fn replies_are_quoted_or_dropped_and_never_quoted_where_nobody_replied() {
    let (mut room, ann, bot) = pair();
    room.say(bot, "answer");
    let position = room.say(ann, "why?");
    room.reply(position, 1);
    for dialect in ["openai-chat", "anthropic-messages", "tzurot", "suna-list"] {
        let last = |policy: &Policy| {
            let outs = room.render_with(dialect, policy, chatmill_dialect::History::Document);
            outs.into_iter().last().unwrap()
        };
        let quoting = last(&Policy::default());
        assert!(has(&quoting, "You said earlier: \\\"answer\\\""), "{dialect}");
        assert_eq!(
            quoting.lost(LossCode::ReferenceInlined),
            [(Some(2), 1)],
            "{dialect}"
        );
        let dropping = last(&with(|policy| policy.references = References::Drop));
        assert!(!has(&dropping, "You said"), "{dialect}");
        assert_eq!(
            dropping.lost(LossCode::ReferenceDropped),
            [(Some(2), 1)],
            "{dialect}"
        );
    }
    let (mut room, ann, bot) = pair();
    room.say(bot, "answer");
    let position = room.say(ann, "why?");
    let shown = crate::room::preview("answer", Some("b1"), None);
    room.refer(
        position,
        Some("msg1".to_owned()),
        Some(shown),
        Some(1),
        LinkStatus::Pseudo,
    );
    for dialect in [
        "openai-chat",
        "gemini-contents",
        "tzurot",
        "gryag-compact",
        "gryag-gemini",
        "chatml",
    ] {
        let outs = room.render(dialect);
        let out = outs.last().unwrap();
        for mark in ["said", "→", "reply_"] {
            assert!(!has(out, mark), "{dialect}: {}", out.text);
        }
        assert_eq!(
            out.lost(LossCode::ReferenceUnresolved),
            [(Some(2), 1)],
            "{dialect}"
        );
    }
}

#[test]
fn a_quote_is_as_long_as_policy_says_and_whole_where_its_message_is_not_shown() {
    let long = format!("answer {}", "and more of it ".repeat(20));
    let long = long.trim_end();
    let (mut room, ann, bot) = pair();
    room.say(bot, long);
    let position = room.say(ann, "why?");
    room.reply(position, 1);
    let cut = "You said earlier: \\\"answer and more of it and more of it and more of it and more of it and more of…\\\"";
    for (references, words, is_short) in [
        (
            References::Quote,
            format!("You said earlier: \\\"{long}\\\""),
            false,
        ),
        (References::Excerpt, cut.to_owned(), true),
        (References::Mark, "why?\\n[in reply to you]".to_owned(), true),
    ] {
        let policy = with(|policy| policy.references = references);
        let out = room.only_with("openai-chat", &policy);
        assert!(has(&out, &words), "{references:?} {}", out.text);
        let shortened: &[(Option<u32>, u64)] = if is_short { &[(Some(2), 1)] } else { &[] };
        assert_eq!(
            out.lost(LossCode::ReferenceShortened),
            shortened,
            "{references:?}"
        );
        // The newest message alone: what it answers is known from nowhere else.
        let mut newest = room.render_with("openai-chat", &policy, chatmill_dialect::History::Messages(1));
        let newest = newest.remove(0);
        assert!(
            has(&newest, &format!("You said earlier: \\\"{long}\\\"")),
            "{references:?} {}",
            newest.text
        );
        assert!(newest.lost(LossCode::ReferenceShortened).is_empty());
    }
    // Whose message it is, in everybody's words; the tzurot document knows only whole quotes.
    let mut room = Room::new();
    let people = [
        room.human("u1", "Zoë"),
        room.human("u2", "Bo"),
        room.agent("b1", "Bot"),
        room.agent("b2", "Gull"),
    ];
    for sender in people {
        room.say(sender, long);
    }
    for target in [0, 2, 3, 1] {
        let position = room.say(people[1], "why?");
        room.reply(position, target);
    }
    let policy = with(|policy| {
        policy.references = References::Mark;
        policy.names = Names::Prefix;
    });
    let out = room.only_with("openai-chat", &policy);
    for mark in [
        "[in reply to Zoë]",
        "[in reply to you]",
        "[in reply to Gull]",
        "[in reply to my own message]",
    ] {
        assert!(has(&out, mark), "{mark} {}", out.text);
    }
    let policy = with(|policy| policy.references = References::Mark);
    let out = room.only_with("openai-chat", &policy);
    assert!(
        has(&out, "[in reply to u1]"),
        "the name that the turns give her: {}",
        out.text
    );
    let outs = room.render_with("tzurot", &policy, chatmill_dialect::History::Document);
    assert!(outs.iter().any(|out| has(out, long) && has(out, "said")));
}

#[test]
fn media_are_carried_named_or_dropped() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let picture = media(MediaKind::Image, Some("https://e.com/i.png"), Some("cat.png"));
    room.post(Some(ann), vec![text("look"), picture]);
    for dialect in [
        "openai-chat",
        "gemini-contents",
        "anthropic-messages",
        "tzurot",
        "gryag-gemini",
    ] {
        let kept = room.only(dialect);
        assert!(has(&kept, "\"https://e.com/i.png\""), "{dialect}: {}", kept.text);
        let named = room.only_with(dialect, &with(|policy| policy.media = MediaPolicy::Placeholder));
        assert!(has(&named, "[Image: cat.png]"), "{dialect}");
        assert_eq!(
            named.lost(LossCode::MediaPlaceholder),
            [(Some(0), 1)],
            "{dialect}"
        );
    }
    for dialect in [
        "openai-chat",
        "gemini-contents",
        "gryag-compact",
        "suna-rows",
        "chatml",
        "jaibber-context",
    ] {
        let dropped = room.only_with(dialect, &with(|policy| policy.media = MediaPolicy::Drop));
        assert!(!has(&dropped, "cat.png") && !has(&dropped, "[Image"), "{dialect}");
        assert_eq!(dropped.lost(LossCode::MediaDropped), [(Some(0), 1)], "{dialect}");
    }
}

#[test]
fn reasoning_is_kept_where_there_is_a_place_and_policy_wants_it() {
    let (mut room, ann, bot) = pair();
    room.post(Some(bot), vec![Part::Reasoning("hm".to_owned()), text("answer")]);
    room.post(
        Some(ann),
        vec![Part::Reasoning("not mine".to_owned()), text("ok")],
    );
    let keeping = with(|policy| policy.reasoning = Reasoning::Keep);
    for (dialect, written) in [
        (
            "hf-messages",
            r#"{"role":"assistant","content":"answer","reasoning_content":"hm"}"#,
        ),
        ("sharegpt", r#""value":"<think>\nhm\n</think>\n\nanswer""#),
        (
            "chatml",
            "<|im_start|>assistant\n<think>\nhm\n</think>\n\nanswer<|im_end|>",
        ),
    ] {
        let kept = room.only_with(dialect, &keeping);
        assert!(has(&kept, written), "{dialect}: {}", kept.text);
        assert_eq!(kept.lost(LossCode::ReasoningDropped), [(Some(2), 1)], "{dialect}");
        assert!(!has(&kept, "not mine"));
        let dropped = room.only(dialect);
        assert!(!has(&dropped, "hm"), "{dialect}");
        assert_eq!(
            dropped.lost(LossCode::ReasoningDropped),
            [(Some(1), 1), (Some(2), 1)],
            "{dialect}"
        );
    }
    for dialect in ["openai-chat", "anthropic-messages", "gemini-contents"] {
        let out = room.only_with(dialect, &keeping);
        assert_eq!(
            out.lost(LossCode::ReasoningDropped),
            [(Some(1), 1), (Some(2), 1)],
            "{dialect}"
        );
    }
    let rows = room.only_with("suna-rows", &keeping);
    assert!(has(&rows, r#""metadata":{"reasoning_content":"hm"}"#));
    assert_eq!(rows.lost(LossCode::ReasoningDropped), []);
    assert_eq!(
        room.only("suna-rows").lost(LossCode::ReasoningDropped),
        [(Some(1), 1), (Some(2), 1)]
    );
}

#[test]
fn orphans_are_repaired_dropped_or_make_the_row_invalid() {
    let (mut room, _, bot) = pair();
    room.call(bot, "looking", &[("c1", "search", "{}")]);
    room.result("c9", "for nobody");
    room.say(bot, "answer");
    room.pair(Some((1, 1)), None, CallStatus::Unanswered);
    room.pair(None, Some((2, 0)), CallStatus::Orphaned);
    for dialect in [
        "openai-chat",
        "anthropic-messages",
        "gemini-contents",
        "suna-llm",
        "gryag-gemini",
    ] {
        let repaired = room.only(dialect);
        assert!(has(&repaired, "no result was recorded"), "{dialect}");
        assert!(has(&repaired, "[result for nobody]"), "{dialect}");
        assert_eq!(repaired.lost(LossCode::MissingResultSynthesised), [(Some(1), 1)]);
        assert_eq!(repaired.lost(LossCode::OrphanResultInlined), [(Some(2), 1)]);
        assert_eq!(repaired.violations, Vec::<String>::new());
        let dropped = room.only_with(dialect, &with(|policy| policy.orphans = Orphans::Drop));
        assert!(!has(&dropped, "search") && !has(&dropped, "nobody"), "{dialect}");
        assert_eq!(dropped.lost(LossCode::ToolCallDropped), [(Some(1), 1)]);
        assert_eq!(dropped.lost(LossCode::OrphanResultDropped), [(Some(2), 1)]);
        assert_eq!(dropped.violations, Vec::<String>::new());
        let rejected = room.only_with(dialect, &with(|policy| policy.orphans = Orphans::Reject));
        assert!(
            has(&rejected, "search") && has(&rejected, "for nobody"),
            "{dialect}"
        );
        let pairing = rejected.violations.iter();
        let pairing = pairing.filter(|violation| violation.contains(" in message "));
        assert_eq!(pairing.count(), 2, "{dialect}: {:?}", rejected.violations);
    }
}

#[test]
fn system_text_comes_from_the_source_from_the_agent_or_not_at_all() {
    let mut room = Room::new();
    room.system("of the source");
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    let raw = RawJson("\"of the agent\"".to_owned());
    room.participant(bot)
        .extra
        .0
        .push(("agentInstructions".to_owned(), raw));
    room.say(ann, "question");
    room.say(bot, "answer");
    for dialect in [
        "openai-chat",
        "anthropic-messages",
        "gryag-gemini",
        "hf-messages",
        "chatml",
    ] {
        for (system, source, agent) in [
            (System::Source, true, false),
            (System::Agent, false, true),
            (System::None, false, false),
        ] {
            let out = room.only_with(dialect, &with(|policy| policy.system = system));
            assert_eq!(has(&out, "of the source"), source, "{dialect} {system:?}");
            assert_eq!(has(&out, "of the agent"), agent, "{dialect} {system:?}");
            assert_eq!(out.lost(LossCode::SystemDropped).is_empty(), source, "{dialect}");
            assert_eq!(!out.lost(LossCode::SystemAdded).is_empty(), agent, "{dialect}");
        }
    }
}

#[test]
fn a_compressed_message_is_what_the_model_saw_or_what_the_row_holds() {
    let mut room = Room::new();
    room.linked.conversation.customs.kept_form = Some("suna-rows");
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "the whole question");
    room.call(bot, "", &[("c1", "search", "{}")]);
    room.result("c1", "the whole result");
    room.say(bot, "answer");
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    for (position, sent) in [(0, "\"the q…\""), (2, "\"[removed]\""), (3, "\"\"")] {
        let raw = RawJson(sent.to_owned());
        room.message(position)
            .extra
            .0
            .push(("compressed_content".to_owned(), raw));
    }
    for dialect in [
        "suna-llm",
        "openai-chat",
        "anthropic-messages",
        "gryag-gemini",
        "suna-cached",
    ] {
        let sent = room.only(dialect);
        assert!(
            has(&sent, "the q…") && has(&sent, "[removed]"),
            "{dialect}: {}",
            sent.text
        );
        assert!(!has(&sent, "whole") && has(&sent, "answer"), "{dialect}");
        assert_eq!(
            sent.lost(LossCode::Truncated),
            [(Some(0), 1), (Some(2), 1)],
            "{dialect}"
        );
        let stored = room.only_with(dialect, &with(|policy| policy.compressed = Compressed::Stored));
        assert!(
            has(&stored, "the whole question") && has(&stored, "the whole result"),
            "{dialect}"
        );
        assert_eq!(stored.lost(LossCode::Truncated), [], "{dialect}");
    }
    // Rows have a place for both.
    let rows = room.only("suna-rows");
    assert!(has(&rows, "the whole question") && has(&rows, r#""compressed_content":"the q…""#));
}

#[test]
fn leaked_metadata_are_cleaned_from_a_bots_text_only() {
    let (mut room, ann, bot) = pair();
    let leak = "[meta] user_id=1 name=\"x\" sure";
    room.say(bot, leak);
    room.say(ann, leak);
    for dialect in ["gryag-gemini", "gryag-compact", "openai-chat", "suna-rows"] {
        let clean = room.only(dialect);
        assert_eq!(
            clean.text.matches("user_id=1 ").count(),
            1,
            "{dialect}: {}",
            clean.text
        );
        assert_eq!(
            clean.lost(LossCode::LeakedMetadataRemoved),
            [(Some(1), 1)],
            "{dialect}"
        );
        let policy = with(|policy| policy.leaked_metadata = LeakedMetadata::Keep);
        let kept = room.only_with(dialect, &policy);
        assert_eq!(kept.text.matches("user_id=1 ").count(), 2, "{dialect}");
        assert_eq!(kept.lost(LossCode::LeakedMetadataRemoved), [], "{dialect}");
    }
}
