//! Encodings that a pipeline defines: they are counted, validated, named in the tables, and part of the fingerprint
//! with their contents.

use std::error::Error;
use std::sync::atomic::AtomicBool;

use chatmill_engine::{Plan, PlanError, RunOptions, Silent};
use chatmill_workshop::TestDir;

const SMALL: &str = include_str!("../../../../data-samples/patterns/small.tiktoken");

fn shop() -> TestDir {
    let shop = TestDir::new();
    shop.write(
        "in/launch-week.json",
        include_str!("../../../../data-samples/demo/launch-week.json"),
    );
    shop.write("small.tiktoken", SMALL);
    shop
}

fn load(shop: &TestDir, count: &str) -> Result<Plan, PlanError> {
    let text = format!(
        "name = \"test\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n\
         [render]\ndialects = [\"all\"]\n[count]\nencodings = [{count}]\n"
    );
    Plan::load(&shop.write("pipeline.toml", text), &[], None, &[])
}

fn own(name: &str, ranks: &str, pattern: &str) -> String {
    format!("{{ name = \"{name}\", ranks = \"{ranks}\", pattern = {pattern} }}")
}

/// The text of an error with its causes.
fn said(error: &PlanError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn refused(shop: &TestDir, count: &str) -> String {
    said(&load(shop, count).err().expect("the plan is refused"))
}

#[test]
fn own_encodings_are_counted_beside_registered_ones_and_judged() {
    let shop = shop();
    let count = [
        "\"r50k_base\"".to_owned(),
        own("small_llama", "small.tiktoken", "\"llama3\""),
        own("small_qwen", "small.tiktoken", "\"qwen\""),
        own("small_own", "small.tiktoken", r"'\w+|\s+|[^\w\s]'"),
    ]
    .join(", ");
    let plan = load(&shop, &count).unwrap();
    let options = RunOptions {
        threads: 2,
        verify_every: 1,
        ..RunOptions::default()
    };
    let summary = chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false)).unwrap();
    let names = ["r50k_base", "small_llama", "small_qwen", "small_own"];
    let plan = &summary.manifest.plan["count"]["encodings"];
    assert_eq!(plan[0], "r50k_base");
    assert_eq!(plan[1]["counting"], "repeated text once");
    assert_eq!(plan[3]["counting"], "every text whole");
    let dataset = chatmill_dataset::Dataset::open(&shop.path("out")).unwrap();
    assert_eq!(dataset.encodings(), names);
    let renderings = chatmill_workshop::test_dir::renderings(&shop.path("out"), &names);
    assert!(
        renderings
            .iter()
            .all(|(_, counts)| counts.iter().all(|count| *count > 0))
    );
    // The encodings differ for digits.
    let tokens = |index: usize| renderings.iter().map(|(_, counts)| counts[index]).sum::<u64>();
    assert!(tokens(1) < tokens(2), "{} {}", tokens(1), tokens(2));
}

#[test]
fn the_fingerprint_covers_the_content_of_a_rank_file_and_not_its_path() {
    let shop = shop();
    shop.write("elsewhere/other.tiktoken", SMALL);
    shop.write("changed.tiktoken", SMALL.replace(" 855\n", " 9855\n"));
    let fingerprint =
        |ranks: &str, pattern: &str| load(&shop, &own("small", ranks, pattern)).unwrap().fingerprint();
    let here = fingerprint("small.tiktoken", "\"gpt2\"");
    assert_eq!(here, fingerprint("elsewhere/other.tiktoken", "\"gpt2\""));
    assert_ne!(here, fingerprint("changed.tiktoken", "\"gpt2\""));
    assert_ne!(here, fingerprint("small.tiktoken", "\"qwen\""));
}

#[test]
fn an_error_has_file_and_line() {
    let shop = shop();
    shop.write("broken.tiktoken", SMALL.replace("IQ== 33\n", "I!== 33\n"));
    shop.write("short.tiktoken", SMALL.replace("fw== 127\n", ""));
    shop.write("twice.tiktoken", format!("{SMALL}YQ== 9000\n"));
    for (file, expected) in [
        ("broken.tiktoken", "line 34: the token is not base64"),
        ("short.tiktoken", "the byte 0x7f is not a token"),
        ("twice.tiktoken", "duplicate token: line 98 has it already"),
        ("absent.tiktoken", "cannot read"),
        ("in", "cannot read"),
    ] {
        let message = refused(&shop, &own("small", file, "\"gpt2\""));
        assert!(message.contains(expected) && message.contains(file), "{message}");
    }
    shop.write("tokenizer.json", "{\n  \"model\": []\n}");
    let message = refused(&shop, "{ name = \"small\", tokenizer = \"tokenizer.json\" }");
    assert!(
        message.contains("tokenizer.json: line 2: it is not a tokenizer file"),
        "{message}"
    );
}

#[test]
fn an_incomplete_section_is_refused_by_its_key() {
    let shop = shop();
    for (section, expected) in [
        (
            "{ name = \"small\", ranks = \"small.tiktoken\" }",
            "has `ranks` and no `pattern`",
        ),
        ("{ name = \"small\" }", "needs either `ranks`"),
        (
            "{ name = \"small\", ranks = \"small.tiktoken\", tokenizer = \"x\", pattern = \"qwen\" }",
            "needs either `ranks`",
        ),
        (
            "{ name = \"small\", rank = \"small.tiktoken\" }",
            "did you mean `ranks`",
        ),
        ("7", "the name of an encoding, or a table"),
        ("\"o200k_bass\"", "did you mean `o200k_base`"),
    ] {
        let message = refused(&shop, section);
        assert!(message.contains(expected), "{section}: {message}");
    }
    for (name, expected) in [
        ("o200k_base", "choose another name"),
        ("Acme", "cannot name an encoding"),
    ] {
        let message = refused(&shop, &own(name, "small.tiktoken", "\"qwen\""));
        assert!(message.contains(expected), "{message}");
    }
    let section = own("small", "small.tiktoken", "\"qwen\"");
    let message = refused(&shop, &format!("{section}, {section}"));
    assert!(message.contains("is defined twice"), "{message}");
    let message = refused(&shop, &own("small", "small.tiktoken", r"'\w+(?=x)|.'"));
    assert!(message.contains("look-around"), "{message}");
}
