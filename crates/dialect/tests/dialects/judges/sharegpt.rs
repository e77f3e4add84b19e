//! `ShareGPT` as LLaMA-Factory reads it.

use chatmill_dialect::policy::Orphans;
use serde_json::Value;

use super::{Fault, fault, has_keys};
use crate::laws::each_of;

#[test]
fn the_judge_of_sharegpt_agrees() {
    let mut seen = [0, 0];
    each_of(&["sharegpt"], |_, seed, policy, _, out| {
        let fault = judge(&serde_json::from_str(&out.text).unwrap());
        // Without ids nobody sees that a call and a result behind it do not belong together.
        if policy.orphans == Orphans::Reject {
            assert!(
                fault.is_none() || !out.violations.is_empty(),
                "{seed} {}",
                out.text
            );
        } else {
            assert_eq!(fault.is_none(), out.violations.is_empty(), "{seed} {}", out.text);
            let is_end = out
                .violations
                .iter()
                .all(|violation| violation.starts_with("SGP-03"));
            assert!(is_end, "{seed} {:?}", out.violations);
        }
        seen[usize::from(fault.is_some())] += 1;
    });
    assert!(seen[0] > 500 && seen[1] > 500, "{seen:?}");
}

fn judge(record: &Value) -> Fault {
    if !has_keys(record, &["conversations", "system?", "tools?"]) {
        return fault("keys");
    }
    let turns = record["conversations"].as_array().unwrap();
    let mut before = "gpt";
    for (index, turn) in turns.iter().enumerate() {
        let from = turn["from"].as_str().unwrap();
        let value = turn["value"].as_str().unwrap();
        let odd = matches!(from, "human" | "observation");
        if !has_keys(turn, &["from", "value"]) || odd != (index % 2 == 0) {
            return fault("SGP-01");
        }
        if (before == "function_call") != (from == "observation") {
            return fault("SGP-02");
        }
        if from == "function_call" {
            let call: Value = serde_json::from_str(value).unwrap();
            let is_named = call["name"].as_str().is_some_and(|name| !name.is_empty());
            if !has_keys(&call, &["name", "arguments"]) || !call["arguments"].is_object() || !is_named {
                return fault("SGP-04");
            }
        } else if value.is_empty() && from != "observation" {
            return fault("empty");
        }
        before = from;
    }
    (turns.is_empty() || before != "gpt").then(|| "SGP-03".to_owned())
}
