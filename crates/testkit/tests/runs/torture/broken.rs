//! Requests that break one rule each, all of which the validator must reject.

use std::collections::BTreeSet;

use chatmill_testkit::validator;
use serde_json::Value;

const BROKEN: &str = include_str!("broken.txt");

/// Whether the validator names a rule for a request.
fn names(dialect: &str, profile: &str, rule: &str, text: &str) -> bool {
    let breaches = validator::breaches(dialect, profile, text);
    breaches.iter().any(|breach| breach.rule == rule)
}

/// The lines of the list: dialect, profile, rule and text.
fn broken() -> impl Iterator<Item = (&'static str, &'static str, &'static str, String)> {
    let lines = BROKEN.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let [target, rule, request] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("`DIALECT@PROFILE RULE REQUEST` is wanted: {line}");
        };
        let (dialect, profile) = target.split_once('@').unwrap();
        let text = match serde_json::from_str(request).unwrap() {
            Value::String(text) => text,
            _ => request.to_owned(),
        };
        (dialect, profile, rule, text)
    })
}

#[test]
fn the_validator_names_the_rule_that_a_request_breaks() {
    let passed: Vec<String> = broken()
        .filter(|(dialect, profile, rule, text)| !names(dialect, profile, rule, text))
        .map(|(dialect, profile, rule, text)| format!("{rule} {dialect}@{profile}: {text}"))
        .collect();
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}

#[test]
fn the_validator_counts_messages_and_characters() {
    let said = r#"{"role":"user","content":[{"type":"text","text":"x"}]}"#;
    let answer = said.replace("user", "assistant");
    let many = vec![format!("{said},{answer}"); 50_001].join(",");
    let request = format!("{{\"messages\":[{many}]}}");
    assert!(names("anthropic-messages", "document", "ANT-13", &request));
    let output = "x".repeat(10_485_761);
    let request = format!(
        r#"{{"input":[{{"type":"function_call","call_id":"c","name":"f","arguments":"{{}}"}},{{"type":"function_call_output","call_id":"c","output":"{output}"}}]}}"#
    );
    assert!(names("openai-responses", "document", "OAR-03", &request));
}

#[test]
fn every_validated_dialect_has_a_broken_request() {
    let tried: BTreeSet<&str> = broken().map(|(dialect, ..)| dialect).collect();
    for dialect in chatmill_dialect::DIALECTS.iter().map(|dialect| dialect.id()) {
        assert!(
            !validator::knows(dialect) || tried.contains(dialect),
            "{dialect} has a judge and no request that it has to refuse: add `{dialect}@document RULE REQUEST` to \
             crates/testkit/tests/runs/torture/broken.txt"
        );
    }
}
