//! Rows that are invalid, each by the rule of its dialect.

use chatmill_dialect::Policy;
use chatmill_dialect::policy::Orphans;
use chatmill_model::{CallStatus, Part};

use crate::room::Room;

fn orphans(orphans: Orphans) -> Policy {
    Policy {
        orphans,
        ..Policy::default()
    }
}

#[test]
fn rejected_orphans_name_the_rule_of_each_dialect() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "x");
    room.call(bot, "", &[("1", "f", "{}")]);
    room.say(ann, "and?");
    room.say(bot, "y");
    room.pair(Some((1, 0)), None, CallStatus::Unanswered);
    for (dialect, rule) in [
        ("openai-chat", "OAC-06"),
        ("openai-responses", "OAR-04"),
        ("anthropic-messages", "ANT-07"),
        ("gemini-contents", "GEM-06"),
        ("bedrock-converse", "BED-04"),
        ("mistral-chat", "MIS-04"),
        ("hf-messages", "HFM-05"),
        ("suna-llm", "SUN-02"),
        ("sharegpt", "SGP-02"),
    ] {
        let out = room.only_with(dialect, &orphans(Orphans::Reject));
        assert_eq!(
            out.violations[0],
            format!("{rule}: the call in message 1 has no result")
        );
        assert_eq!(room.only(dialect).violations, Vec::<String>::new(), "{dialect}");
    }
}

#[test]
fn too_many_messages_are_a_violation() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    for _ in 0..50_000 {
        room.say(ann, "a");
        room.say(bot, "b");
    }
    assert_eq!(room.only("anthropic-messages").violations, Vec::<String>::new());
    room.say(ann, "c");
    let out = room.only("anthropic-messages");
    assert_eq!(out.violations, ["ANT-13: there are more than 100,000 messages"]);
}

#[test]
fn rejected_orphans_leave_turns_of_one_role_in_a_row() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "x");
    room.result("lost", "for nobody");
    room.call(bot, "", &[("1", "f", "{}")]);
    room.say(bot, "never mind");
    room.pair(None, Some((1, 0)), CallStatus::Orphaned);
    room.pair(Some((2, 0)), None, CallStatus::Unanswered);
    for (dialect, rule) in [
        ("anthropic-messages", "ANT-04"),
        ("bedrock-converse", "BED-02"),
        ("sharegpt", "SGP-01"),
    ] {
        let out = room.only_with(dialect, &orphans(Orphans::Reject));
        let broken = out
            .violations
            .iter()
            .filter(|violation| violation.starts_with(rule));
        assert_eq!(broken.count(), 1, "{dialect}: {:?}", out.violations);
        assert_eq!(room.only(dialect).violations, Vec::<String>::new(), "{dialect}");
    }
}

#[test]
fn a_room_without_words_is_invalid_by_the_rule_of_each_dialect() {
    let mut silent = Room::new();
    silent.human("u1", "Ann");
    let mut instructed = Room::new();
    instructed.system("Be kind.");
    for (dialect, nothing, system_only) in [
        ("openai-chat", &["OAC-02"][..], &[][..]),
        ("openai-responses", &["OAR-01"], &[]),
        ("anthropic-messages", &["ANT-03"], &["ANT-03"]),
        ("gemini-contents", &["GEM-08"], &["GEM-08"]),
        ("bedrock-converse", &["BED-02"], &["BED-02"]),
        ("mistral-chat", &["MIS-03"], &["MIS-03", "MIS-05"]),
        ("hf-messages", &["HFM-06"], &[]),
        ("sharegpt", &["SGP-03"], &["SGP-03"]),
        ("chatml", &["CML-03"], &[]),
        ("suna-llm", &["SUN-01"], &[]),
    ] {
        for (room, rules) in [(&silent, nothing), (&instructed, system_only)] {
            let violations = room.only(dialect).violations;
            let rule = |violation: &String| violation.split_once(':').unwrap().0.to_owned();
            let broken: Vec<String> = violations.iter().map(rule).collect();
            assert_eq!(broken, rules, "{dialect}");
        }
    }
}

#[test]
fn an_output_beyond_the_limit_is_a_violation() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "x");
    room.call(bot, "", &[("1", "f", "{}")]);
    // Two bytes a letter: the limit is one of letters.
    room.result("1", &"é".repeat(10_485_760));
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    assert_eq!(room.only("openai-responses").violations, Vec::<String>::new());
    if let Part::ToolResult(result) = &mut room.message(2).parts[0] {
        result.content.push('é');
    }
    let out = room.only("openai-responses");
    assert_eq!(
        out.violations,
        ["OAR-03: an output is longer than 10,485,760 characters"]
    );
}

#[test]
fn a_rejected_result_in_front_of_everything_is_a_violation_of_its_own() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.result("lost", "for nobody");
    room.say(ann, "x");
    room.pair(None, Some((0, 0)), CallStatus::Orphaned);
    let out = room.only_with("mistral-chat", &orphans(Orphans::Reject));
    assert_eq!(
        out.violations,
        [
            "MIS-04: the result in message 0 has no call",
            "MIS-03: a result stands first"
        ]
    );
}

#[test]
fn rejected_calls_and_results_leave_contents_out_of_order() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "x");
    room.call(bot, "", &[("1", "f", "{}")]);
    room.result("lost", "for nobody");
    room.call(bot, "", &[("2", "g", "{}")]);
    room.call(bot, "", &[("3", "h", "{}")]);
    room.pair(Some((1, 0)), None, CallStatus::Unanswered);
    room.pair(None, Some((2, 0)), CallStatus::Orphaned);
    room.pair(Some((3, 0)), None, CallStatus::Unanswered);
    room.pair(Some((4, 0)), None, CallStatus::Unanswered);
    let out = room.only_with("gemini-contents", &orphans(Orphans::Reject));
    for rule in ["GEM-05", "GEM-06", "GEM-07"] {
        let is_named = out.violations.iter().any(|violation| violation.starts_with(rule));
        assert!(is_named, "{rule}: {:?}", out.violations);
    }
    assert_eq!(room.only("gemini-contents").violations, Vec::<String>::new());
}
