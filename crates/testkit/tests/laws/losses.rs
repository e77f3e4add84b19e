//! Completeness of losses for every known dialect: everything in a conversation is read back, or a loss declares it.
//!
//! The inputs are the edge cases, every fixture of every source, and generated lists and chats, with the default policy
//! and with random ones, from the perspective of every participant.

use std::collections::BTreeSet;

use chatmill_dialect::policy::{ControlTokens, Reasoning, System};
use chatmill_dialect::{Additions, Existing, LossCode, Policy, Prompt, View, known};
use chatmill_drawn::Random;
use chatmill_model::RawJson;
use chatmill_testkit::chats::group_chat;
use chatmill_testkit::conversations::{cases, policy, read};
use chatmill_testkit::histories::history;
use chatmill_testkit::losses::LossCoverage;
use proptest::prelude::*;

/// Codes of which the law does not detect the absence, and the reason.
const BLIND: &[(LossCode, &str)] = &[
    (
        LossCode::NumberPrecision,
        "the number stands there as it was written",
    ),
    (LossCode::MediaNeedsFetch, "the address reads back as it was"),
    (
        LossCode::ParticipantSynthesised,
        "of whom a place is made up for, nothing is told that was not known",
    ),
    (
        LossCode::ReferenceNested,
        "the references of messages are atoms, not those inside others",
    ),
];

/// Losses of a dialect, or of any (`""`), that no case here has: names with control characters in quotes of deleted
/// messages, losses that only windows have, and losses that only one profile has.
const UNSEEN: [(&str, LossCode); 8] = [
    ("", LossCode::ControlCharacterRemoved),
    ("", LossCode::Truncated),
    ("tzurot", LossCode::NameInlined),
    ("tzurot", LossCode::PartMoved),
    ("group-chat", LossCode::ToolCallDropped),
    ("suna-bedrock", LossCode::DuplicateResult),
    ("sharegpt", LossCode::ReservedTextEscaped),
    ("bedrock-converse", LossCode::MediaDescriptionDropped),
];

/// Every case from one perspective and with one policy; `just laws` draws many.
#[test]
fn cases_samples_and_lists_are_read_back_or_declared() {
    let mut coverage = LossCoverage::default();
    let mut random = chatmill_drawn::random(1);
    for _ in 0..chatmill_drawn::cases(1) {
        let lists = (0..10).map(|number| {
            let list = history(&mut random).to_string();
            (format!("list-{number}"), read("openai-messages", &list))
        });
        let lists: Vec<_> = lists.collect();
        for (name, linked) in cases().iter().chain(&lists) {
            let policy = if random.once_in(3) {
                Policy::default()
            } else {
                policy(&mut random)
            };
            let perspective = random
                .below(linked.conversation.participants.len() + 1)
                .checked_sub(1);
            coverage.check_view(name, &View::whole(linked, perspective, &policy));
        }
    }
    assert!(coverage.breaches.is_empty(), "{}", coverage.verdict().unwrap());
    assert!(coverage.checked > 2_000, "{}", coverage.checked);
}

/// Tests every case from every perspective; then the lists of losses and the sensitivity of the test itself.
#[test]
#[ignore = "takes minutes: `just laws`"]
fn every_possible_loss_occurs_in_a_case_and_its_absence_is_detected() {
    let mut coverage = LossCoverage::default();
    let mut random = Random::new(7);
    // Two system messages become one. The absence of a code is tried for few cases of a dialect, and this case shows
    // the absence of `system-hoisted`: it comes first.
    let systems = r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"system","content":"Say please."},
        {"role":"user","content":"Which berth?"}]}"#;
    let mut all = vec![("two-systems".to_owned(), read("openai-messages", systems))];
    all.extend(cases());
    assert!(all.len() > 90, "{}", all.len());
    for number in 0..200 {
        let list = history(&mut random).to_string();
        all.push((format!("list-{number}"), read("openai-messages", &list)));
    }
    let instructed = Policy {
        system: System::Agent,
        ..Policy::default()
    };
    let prompts = [Existing::Keep, Existing::Replace, Existing::Precede].map(|existing| {
        Prompt::parse("You are {agent.name}, among {room.people|others}.", existing).unwrap()
    });
    let tools = [RawJson(
        r#"{"name":"moor","description":"Ties up","input_schema":{"type":"object"}}"#.to_owned(),
    )];
    let called = [RawJson(
        r#"{"name":"tide","parameters":{"type":"object","properties":{}}}"#.to_owned(),
    )];
    for (name, linked) in &all {
        coverage.check_all(name, linked, &Policy::default());
        let additions = Additions {
            prompt: random.pick(&prompts),
            tools: &tools,
            called_tools: &called,
            infers_tools: true,
        };
        coverage.check_added(name, linked, &policy(&mut random), additions);
        let mut people = linked.conversation.participants.iter();
        if people.any(|person| person.extra.get("agentInstructions").is_some()) {
            coverage.check_all(name, linked, &instructed);
        }
        for _ in 0..3 {
            coverage.check_all(name, linked, &policy(&mut random));
        }
    }
    let kept = Policy {
        control_tokens: ControlTokens::Keep,
        ..Policy::default()
    };
    let list = r#"{"messages":[{"role":"user","content":"What is <|endoftext|>?"}]}"#;
    coverage.check_all("kept", &read("openai-messages", list), &kept);
    let thinking = Policy {
        reasoning: Reasoning::Keep,
        ..Policy::default()
    };
    let list = r#"{"messages":[{"role":"user","content":"Which berth?"},{"role":"assistant","content":[
        {"type":"thinking","thinking":"The long one.","signature":"a"},{"type":"thinking","thinking":"Or four.","signature":"b"},
        {"type":"text","text":"Four."},{"type":"thinking","thinking":"Yes.","signature":"c"}]}]}"#;
    coverage.check_all("thoughts", &read("anthropic-messages", list), &thinking);
    assert!(coverage.breaches.is_empty(), "{}", coverage.verdict().unwrap());
    assert!(coverage.checked > 100_000, "{}", coverage.checked);
    assert!(coverage.rejected > 3_000, "{}", coverage.rejected);

    // Every registered dialect is tested.
    let registered = known().flat_map(|dialect| {
        let profiles = dialect.about().profiles.iter();
        profiles.map(|dialect| format!("{dialect:?}"))
    });
    assert!(
        coverage
            .dialects
            .keys()
            .cloned()
            .eq(registered.collect::<BTreeSet<String>>())
    );
    // Every loss that a dialect may have occurs in some case, with few exceptions.
    for dialect in known().flat_map(|dialect| dialect.about().profiles) {
        let declared = &coverage.dialects[&format!("{dialect:?}")];
        let unseen = dialect
            .loses()
            .into_iter()
            .filter(|code| !declared.contains(code));
        let unexpected: Vec<LossCode> = unseen
            .filter(|code| !UNSEEN.contains(&("", *code)) && !UNSEEN.contains(&(dialect.id(), *code)))
            .collect();
        assert_eq!(unexpected, [], "{dialect:?} lists what no case loses");
    }

    let unused: Vec<LossCode> = LossCode::ALL
        .iter()
        .copied()
        .filter(|code| !coverage.codes.contains(code))
        .collect();
    // Redaction declares the first of them, templates the other, and no dialect declares either.
    let elsewhere = [LossCode::Redacted, LossCode::DatePinned];
    assert_eq!(unused, elsewhere, "codes that no case declares");

    // The absence of any code that a dialect forgets to declare is detected.
    let blind: Vec<LossCode> = coverage.codes.difference(&coverage.missed).copied().collect();
    let known: Vec<LossCode> = BLIND.iter().map(|(code, _)| *code).collect();
    assert_eq!(
        blind, known,
        "codes that may be forgotten without anybody noticing"
    );
}

proptest! {
    #![proptest_config(chatmill_drawn::law(8))]

    #[test]
    fn generated_chats_are_read_back_or_declared(chat in group_chat(), seed in any::<u64>()) {
        let linked = read("group-chat", &chat.to_string());
        let mut coverage = LossCoverage::default();
        coverage.check_all("chat", &linked, &Policy::default());
        coverage.check_all("chat", &linked, &policy(&mut Random::new(seed)));
        prop_assert!(coverage.breaches.is_empty(), "{}", coverage.verdict().unwrap());
    }
}
