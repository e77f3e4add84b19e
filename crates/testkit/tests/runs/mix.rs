//! `[[input]] weight`, `limit` and `sample`: how much of each section goes into a dataset, and what the ledger says of the rest.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use chatmill_dataset::Dataset;
use chatmill_engine::{Plan, PlanError, RunOptions, RunSummary, Silent};
use chatmill_workshop::Workshop;
use serde_json::{Value, json};

fn chats(prefix: &str, number: usize) -> String {
    let chat = |index: usize| {
        json!({"messages": [
            {"role": "user", "content": format!("{prefix} {index:04}?")},
            {"role": "assistant", "content": format!("{index:04} of {prefix}.")},
        ], "id": format!("{prefix}{index:04}")})
        .to_string()
    };
    (0..number).map(chat).collect::<Vec<_>>().join("\n")
}

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("in/a.jsonl", chats("ash", 100));
    workshop.write("in/b.jsonl", chats("oak", 300));
    workshop
}

fn plan(workshop: &Workshop, sections: [&str; 2], more: &str) -> Result<Plan, PlanError> {
    let [one, other] = sections;
    let text = format!(
        "name = \"mix\"\n[[input]]\npath = \"in/a.jsonl\"\n{one}\n[[input]]\npath = \"in/b.jsonl\"\n{other}\n\
         [render]\ndialects = [\"hf-messages\"]\n[count]\nencodings = []\n[output]\npath = \"out\"\n{more}"
    );
    Plan::load(
        &workshop.write("mix.toml", text),
        &[],
        Some(&workshop.path("out")),
    )
}

/// Conversations of each section, and the rest by reason.
fn milled(sections: [&str; 2], more: &str) -> (BTreeMap<char, u64>, RunSummary, Value) {
    let workshop = workshop();
    let plan = plan(&workshop, sections, more).unwrap();
    let stop = AtomicBool::new(false);
    let summary = chatmill_engine::run(plan, RunOptions::default(), &Silent, &stop).unwrap();
    let totals = &summary.totals;
    assert_eq!(totals.framed, totals.accepted + totals.rejected + totals.filtered);
    assert_eq!(totals.filtered, totals.filtered_by.values().sum::<u64>());
    let dataset = Dataset::open(&workshop.path("out")).unwrap();
    let mut kept = BTreeMap::new();
    for batch in dataset.batches("messages", &["text", "role"]) {
        let batch = batch.unwrap();
        let (texts, roles) = (batch.texts("text").unwrap(), batch.texts("role").unwrap());
        for row in (0..batch.rows()).filter(|row| roles.at(*row) == "user") {
            *kept.entry(texts.at(row).chars().next().unwrap()).or_default() += 1;
        }
    }
    let plan = dataset.manifest().plan.clone();
    (kept, summary, plan)
}

#[test]
fn weights_keep_the_scarcest_section_whole_and_the_others_in_proportion() {
    // b has three times the bytes of a, and is to have as many.
    let (kept, summary, plan) = milled(["weight = 1", "weight = 1.0"], "");
    assert_eq!(kept[&'a'], 100);
    assert!((70..130).contains(&kept[&'o']), "{kept:?}");
    assert_eq!(summary.totals.filtered_by["input.weight"], 300 - kept[&'o']);
    assert_eq!(plan["inputs"][0]["weight"], json!(1.0));
    // A section without a weight has 1.
    let (kept, ..) = milled(["weight = 0.5", ""], "");
    assert_eq!(kept[&'a'], 100);
    assert!((170..230).contains(&kept[&'o']), "{kept:?}");
    let (kept, ..) = milled(["weight = 0", ""], "");
    assert_eq!((kept.get(&'a'), kept[&'o']), (None, 300));
}

#[test]
fn a_sample_is_drawn_by_the_seed_in_the_manifest_and_the_same_each_time() {
    let (kept, summary, _) = milled(["sample = 0.25", ""], "");
    assert!((5..45).contains(&kept[&'a']), "{kept:?}");
    assert_eq!(kept[&'o'], 300);
    assert_eq!(summary.totals.filtered_by["input.sample"], 100 - kept[&'a']);
    let (again, same, _) = milled(["sample = 0.25", ""], "");
    assert_eq!(again, kept);
    assert_eq!(same.manifest.fingerprint, summary.manifest.fingerprint);
    let (_, other, plan) = milled(["sample = 0.25", ""], "[select]\nseed = 7\n");
    assert_eq!(plan["select"]["seed"], 7);
    assert_ne!(other.manifest.fingerprint, summary.manifest.fingerprint);
    // A sample of a section and one of all are drawn apart.
    let (kept, ..) = milled(["sample = 0.5", "sample = 0.5"], "[select]\nsample = 0.5\n");
    assert!((60..140).contains(&(kept[&'a'] + kept[&'o'])), "{kept:?}");
}

#[test]
fn a_limit_is_one_of_its_section_alone() {
    let (kept, summary, _) = milled(["limit = 10", ""], "");
    assert_eq!((kept[&'a'], kept[&'o']), (10, 300));
    assert_eq!(summary.totals.filtered_by["input.limit"], 90);
    let (kept, ..) = milled(["limit = 100", "limit = 0"], "");
    assert_eq!((kept[&'a'], kept.get(&'o')), (100, None));
}

#[test]
fn what_is_no_mix_is_refused_before_anything_is_read() {
    let workshop = workshop();
    for (sections, said) in [
        (
            ["weight = 0", "weight = 0"],
            "input.weight: the weights add up to nothing",
        ),
        (["weight = -1", ""], "input.weight: it must be a number from 0 on"),
        (
            ["weight = inf", ""],
            "input.weight: it must be a number from 0 on",
        ),
        (
            ["weight = nan", ""],
            "input.weight: it must be a number from 0 on",
        ),
        (["sample = 1.5", ""], "input.sample: it must lie between 0 and 1"),
    ] {
        let error = plan(&workshop, sections, "").err().unwrap().to_string();
        assert!(error.contains(said), "{sections:?}: {error}");
    }
}
