//! The law of losses: what a rendering tells when it is read back is what the conversation tells, less what is declared.
//!
//! It holds for the families of JSON requests, over generated conversations and the torture cases, through the eyes of
//! every participant.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

use std::fs;

use chatmill_dialect::policy::{
    Compressed, ControlTokens, LeakedMetadata, MediaPolicy, Names, Orphans, Policy, Reasoning, References,
    System,
};
use chatmill_dialect::LossCode;
use chatmill_model::Linked;
use chatmill_testkit::chats::group_chat;
use chatmill_testkit::forget::{ELSEWHERE, FORGET};
use chatmill_testkit::histories::history;
use chatmill_testkit::law::{REQUESTS, Trial, read, try_read};
use chatmill_testkit::random::Random;
use chatmill_testkit::workshop::samples;
use proptest::prelude::*;

#[test]
fn every_code_is_forgotten_by_one_function_or_is_no_business_of_these_families() {
    let mut known: Vec<LossCode> = FORGET.iter().map(|(code, _)| *code).collect();
    known.extend(ELSEWHERE.iter().map(|(code, _)| *code));
    known.sort();
    assert_eq!(known, LossCode::ALL);
}

/// The JSON files of a folder of samples, in order.
fn files(folder: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(samples().join(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.into_iter().filter_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let is_case = is_json && !name.contains(".expected.") && name != "vectors.json";
        is_case.then(|| (name, fs::read_to_string(&path).unwrap()))
    });
    texts.collect()
}

/// The torture cases, and every fixture of every source that holds a conversation.
fn cases() -> Vec<(String, Linked)> {
    let mut cases: Vec<(String, Linked)> = Vec::new();
    for (name, text) in files("torture") {
        let is_list = text.contains("\"messages\"");
        let source = if is_list { "openai-messages" } else { "group-chat" };
        cases.push((name, try_read(source, &text).unwrap()));
    }
    for source in chatmill_source::SOURCES {
        for (name, text) in files(&format!("sources/{}", source.id())) {
            cases.extend(
                try_read(source.id(), &text).map(|linked| (format!("{}-{name}", source.id()), linked)),
            );
        }
    }
    cases
}

/// Any policy but one that keeps what the dialect must reject.
fn policy(random: &mut Random) -> Policy {
    fn one<T: Copy>(random: &mut Random, of: &[T]) -> T {
        *random.pick(of).unwrap()
    }
    Policy {
        names: one(
            random,
            &[Names::Auto, Names::Field, Names::Prefix, Names::Drop],
        ),
        references: one(random, &[References::Quote, References::Drop]),
        media: one(
            random,
            &[MediaPolicy::Keep, MediaPolicy::Placeholder, MediaPolicy::Drop],
        ),
        reasoning: one(random, &[Reasoning::Drop, Reasoning::Keep]),
        orphans: one(random, &[Orphans::Repair, Orphans::Drop]),
        control_tokens: one(random, &[ControlTokens::Escape, ControlTokens::Keep]),
        system: one(random, &[System::Source, System::Agent, System::None]),
        compressed: one(random, &[Compressed::AsSent, Compressed::Stored]),
        leaked_metadata: one(random, &[LeakedMetadata::Clean, LeakedMetadata::Keep]),
    }
}

#[test]
fn cases_and_samples_read_back_as_what_is_left_of_them() {
    let mut trial = Trial::default();
    let mut random = Random::new(3);
    let cases = cases();
    for (name, linked) in &cases {
        trial.all(name, linked, &Policy::default(), REQUESTS);
        for _ in 0..3 {
            trial.all(name, linked, &policy(&mut random), REQUESTS);
        }
    }
    assert!(trial.breaches.is_empty(), "{}", trial.verdict().unwrap());
    let all = FORGET.iter().map(|(code, _)| *code);
    let unused: Vec<LossCode> = all.filter(|code| !trial.codes.contains(code)).collect();
    assert_eq!(unused, [], "codes that no case declares");
    assert!(cases.len() > 90 && trial.tried > 10_000, "{} {}", cases.len(), trial.tried);
    println!("{} renderings were read back", trial.tried);
}

#[test]
fn generated_lists_read_back_as_what_is_left_of_them() {
    let mut random = Random::new(7);
    let mut trial = Trial::default();
    for number in 0..200 {
        let linked = read("openai-messages", &history(&mut random).to_string());
        let name = format!("list-{number}");
        trial.all(&name, &linked, &Policy::default(), REQUESTS);
        trial.all(&name, &linked, &policy(&mut random), REQUESTS);
    }
    assert!(trial.breaches.is_empty(), "{}", trial.verdict().unwrap());
    println!("{} renderings were read back", trial.tried);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn generated_chats_read_back_as_what_is_left_of_them(chat in group_chat(), seed in any::<u64>()) {
        let linked = read("group-chat", &chat.to_string());
        let mut trial = Trial::default();
        trial.all("chat", &linked, &Policy::default(), REQUESTS);
        trial.all("chat", &linked, &policy(&mut Random::new(seed)), REQUESTS);
        prop_assert!(trial.breaches.is_empty(), "{}", trial.verdict().unwrap());
    }
}
