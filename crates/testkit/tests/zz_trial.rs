//! Scratch.
#![allow(missing_docs, clippy::unwrap_used)]
use chatmill_dialect::Policy;
use chatmill_testkit::histories::history;
use chatmill_testkit::law::{SYSTEMS, Trial, cases, policy, read};
use chatmill_testkit::random::Random;
#[test]
fn trial() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let all: Vec<_> = SYSTEMS
        .iter()
        .copied()
        .filter(|told| told.dialect.starts_with(&only))
        .collect();
    let mut random = Random::new(7);
    let mut cases = cases();
    for number in 0..200 {
        let list = history(&mut random).to_string();
        cases.push((format!("list-{number}"), read("openai-messages", &list)));
    }
    let mut trial = Trial::default();
    for (name, linked) in &cases {
        trial.all(name, linked, &Policy::default(), &all);
        trial.all(name, linked, &policy(&mut random), &all);
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for number in 0..150 {
        use proptest::strategy::{Strategy, ValueTree};
        let chat = chatmill_testkit::chats::group_chat()
            .new_tree(&mut runner)
            .unwrap()
            .current();
        let linked = read("group-chat", &chat.to_string());
        let name = format!("chat-{number}");
        trial.all(&name, &linked, &Policy::default(), &all);
        trial.all(&name, &linked, &policy(&mut random), &all);
    }
    for (dialect, breaches) in &trial.breaches {
        println!("=== {dialect}: {} of {}", breaches.len(), trial.tried);
        let mut kinds = std::collections::BTreeMap::new();
        for breach in breaches {
            let name = breach.split(' ').next().unwrap().to_owned();
            kinds.entry(name).or_insert(breach);
        }
        let mut all: Vec<_> = kinds.values().collect();
        all.sort_by_key(|breach| breach.len());
        for breach in all.iter().take(25) {
            println!("--- {}", breach.chars().take(6000).collect::<String>());
        }
    }
    assert!(trial.breaches.is_empty());
}
