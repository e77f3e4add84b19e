//! The law of losses: what a rendering tells when it is read back is what the conversation tells, less what is declared.
//!
//! It holds for the families of JSON requests and for systems' own formats, over generated conversations and the torture
//! cases, through the eyes of every participant.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

use std::collections::BTreeSet;

use chatmill_dialect::policy::{ControlTokens, System};
use chatmill_dialect::{LossCode, Policy};
use chatmill_testkit::chats::group_chat;
use chatmill_testkit::forget::{ELSEWHERE, FORGET};
use chatmill_testkit::histories::history;
use chatmill_testkit::law::{REQUESTS, SYSTEMS, Told, Trial, cases, policy, read};
use chatmill_testkit::random::Random;
use proptest::prelude::*;

#[test]
fn every_code_is_forgotten_by_one_function_or_is_no_business_of_these_families() {
    let mut known: Vec<LossCode> = FORGET.iter().map(|(code, _)| *code).collect();
    let own = SYSTEMS.iter().flat_map(|told| told.family.own);
    let own: BTreeSet<LossCode> = own.map(|(code, _)| *code).collect();
    known.extend(
        own.iter()
            .filter(|code| !FORGET.iter().any(|(known, _)| known == *code)),
    );
    known.extend(ELSEWHERE.iter().map(|(code, _)| *code));
    known.sort();
    assert_eq!(known, LossCode::ALL);
}

#[test]
fn cases_samples_and_lists_read_back_as_what_is_left_of_them() {
    let all = [REQUESTS, SYSTEMS].concat();
    let mut trial = Trial::default();
    let mut random = Random::new(7);
    let mut cases = cases();
    assert!(cases.len() > 90, "{}", cases.len());
    for number in 0..200 {
        let list = history(&mut random).to_string();
        cases.push((format!("list-{number}"), read("openai-messages", &list)));
    }
    let instructed = Policy {
        system: System::Agent,
        ..Policy::default()
    };
    for (name, linked) in &cases {
        trial.all(name, linked, &Policy::default(), &all);
        let mut people = linked.conversation.participants.iter();
        if people.any(|person| person.extra.get("agentInstructions").is_some()) {
            trial.all(name, linked, &instructed, &all);
        }
        for _ in 0..3 {
            trial.all(name, linked, &policy(&mut random), &all);
        }
    }
    let kept = Policy {
        control_tokens: ControlTokens::Keep,
        ..Policy::default()
    };
    let told: Vec<Told> = REQUESTS
        .iter()
        .copied()
        .filter(|told| told.dialect == "chatml")
        .collect();
    let list = r#"{"messages":[{"role":"user","content":"What is <|endoftext|>?"}]}"#;
    trial.all("kept", &read("openai-messages", list), &kept, &told);
    assert!(trial.breaches.is_empty(), "{}", trial.verdict().unwrap());
    let own = SYSTEMS.iter().flat_map(|told| told.family.own);
    let codes = FORGET.iter().chain(own).map(|(code, _)| *code);
    let unused: Vec<LossCode> = codes.filter(|code| !trial.codes.contains(code)).collect();
    assert_eq!(unused, [], "codes that no case declares");
    assert!(trial.tried > 50_000, "{}", trial.tried);
    assert!(trial.rejected > 5_000, "{}", trial.rejected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn generated_chats_read_back_as_what_is_left_of_them(chat in group_chat(), seed in any::<u64>()) {
        let linked = read("group-chat", &chat.to_string());
        let all = [REQUESTS, SYSTEMS].concat();
        let mut trial = Trial::default();
        trial.all("chat", &linked, &Policy::default(), &all);
        trial.all("chat", &linked, &policy(&mut Random::new(seed)), &all);
        prop_assert!(trial.breaches.is_empty(), "{}", trial.verdict().unwrap());
    }
}
