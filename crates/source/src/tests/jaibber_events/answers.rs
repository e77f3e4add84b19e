//! The conditions under which an agent may answer.

use chatmill_diag::{Limits, codes};
use serde_json::{Value, json};

use super::{answer, names, payload, read, read_as};

#[test]
fn chains_are_checked_against_the_limit() {
    let at = |depth: u64, chain: &[&str]| {
        let mut row = answer("response", "r1", "x");
        row["responseDepth"] = json!(depth);
        row["respondingChain"] = json!(chain);
        json!([payload("ann", "message", "m", "@Coder"), row]).to_string()
    };
    let found = |text: &str, response_depth| {
        let limits = Limits {
            response_depth,
            ..Limits::default()
        };
        names(&read_as(text, None, &limits).findings)
    };
    let none: [&str; 0] = [];
    assert_eq!(found(&at(3, &["a", "b", "coder"]), 3), none);
    assert_eq!(found(&at(3, &["a", "b", "coder"]), 2), ["loop-depth-exceeded"]);
    assert_eq!(found(&at(1, &["a", "b", "coder"]), 2), ["loop-depth-exceeded"]);
    assert_eq!(found(&at(2, &["coder", "Coder"]), 3), ["loop-depth-exceeded"]);
    assert_eq!(found(&at(u64::MAX, &[]), 3), ["loop-depth-exceeded"]);
}

#[test]
fn the_example_of_the_code_raises_it() {
    let page = &codes::UNMENTIONED_RESPONSE.page;
    let lines = page.example.lines().filter(|line| line.starts_with('{'));
    let rows: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert!(names(&read(&json!(rows)).findings).contains(&"unmentioned-response"));
}
