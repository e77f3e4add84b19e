//! Conditions over two small runs, and over a first one.

use super::*;
use crate::figures::{Earlier, MissingInputs, RunFigures, TokenFigure};
use crate::report::{MoneyFigure, TokenChange, TokenCount};

fn token(dialect: &str, tokens: u64, messages_rendered: u64) -> TokenFigure {
    TokenFigure {
        dialect: dialect.to_owned(),
        profile: "document".to_owned(),
        coverage: "whole".to_owned(),
        encoding: "o200k_base".to_owned(),
        tokens,
        messages_rendered,
    }
}

fn money(dialect: &str, model: &str, amount: f64) -> MoneyFigure {
    MoneyFigure {
        dialect: dialect.to_owned(),
        profile: "document".to_owned(),
        coverage: "whole".to_owned(),
        model: model.to_owned(),
        currency: "USD".to_owned(),
        amount,
    }
}

fn common(dialect: &str, before: u64, after: u64) -> TokenChange {
    let count = |tokens_common| {
        Some(TokenCount {
            tokens_common,
            ..TokenCount::default()
        })
    };
    TokenChange {
        dialect: dialect.to_owned(),
        profile: "document".to_owned(),
        coverage: "whole".to_owned(),
        encoding: "o200k_base".to_owned(),
        before: count(before),
        after: count(after),
    }
}

fn case() -> Case {
    let figures = RunFigures {
        inputs: 3,
        conversations: 100,
        messages: 1000,
        framed: 100,
        rejected: 0,
        rejects: 0,
        errors: 1,
        warnings: 4,
        tokens: vec![
            token("openai-chat", 1000, 100),
            token("gryag-compact", 500, 100),
            token("tzurot", 7, 1),
        ],
        money: vec![money("openai-chat", "m", 2.5)],
    };
    Case {
        after: RunFigures {
            inputs: 2,
            conversations: 90,
            messages: 900,
            framed: 92,
            rejected: 2,
            rejects: 2,
            errors: 3,
            warnings: 4,
            tokens: vec![
                token("openai-chat", 1100, 100),
                token("gryag-compact", 500, 125),
                token("sharegpt", 7, 0),
            ],
            money: vec![money("openai-chat", "m", 5.0), money("openai-chat", "n", 0.25)],
        },
        before: Some(Earlier {
            figures,
            missing: MissingInputs {
                count: 1,
                names: vec!["b.zip".to_owned()],
            },
            tokens: vec![common("openai-chat", 900, 900), common("gryag-compact", 400, 404)],
        }),
    }
}

fn failures(text: &str, case: &Case) -> Vec<ConditionFailure> {
    let condition: Condition = text.parse().unwrap();
    match condition.evaluate(case).unwrap() {
        ConditionOutcome::Evaluated(failures) => failures,
        ConditionOutcome::NotEvaluated => panic!("{text} is not evaluated"),
    }
}

#[test]
fn a_percentage_is_a_change_and_a_plain_number_a_value_of_the_run() {
    let cases = [
        ("conversations < -5%", true),
        ("conversations < -10%", false),
        ("conversations <= -10 %", true),
        ("conversations == 90", true),
        ("conversations != 90", false),
        ("conversations < 90", false),
        ("conversations < 91", true),
        ("messages <= 900", true),
        ("inputs < 3", true),
        ("inputs_missing > 0", true),
        ("inputs_missing > 1", false),
        ("rejects > 0", true),
        ("rejects > 2", false),
        ("rejects>=2", true),
        ("rejects > 1000%", true),
        ("reject_ratio > 0.02", true),
        ("reject_ratio > 0.022", false),
        ("findings.error > 2", true),
        ("findings.error > 3", false),
        ("findings.error > 199%", true),
        ("findings.error > 200%", false),
        ("findings.warning >= 4", true),
        ("findings.warning > 0%", false),
        ("tokens > 1099", true),
        ("tokens > 1100", false),
        ("tokens > 5%", true),
        ("tokens > +5%", true),
        ("tokens > 10%", false),
        ("tokens{dialect=openai-chat} > 5%", true),
        ("tokens{dialect=openai-chat@document} > 1099", true),
        ("tokens{dialect=gryag-compact} > 0%", false),
        (
            "tokens{ dialect = gryag-compact , encoding = o200k_base } > 500",
            false,
        ),
        ("tokens{dialect=sharegpt} >= 7", true),
        ("tokens_common{dialect=openai-chat} != 0%", false),
        ("tokens_common{dialect=gryag-compact} >= 1%", true),
        ("tokens_common{dialect=gryag-compact} > 403", true),
        ("tokens_per_message{dialect=gryag-compact} < 4.1", true),
        ("tokens_per_message{dialect=gryag-compact} < -20.1%", false),
        ("tokens_per_message > 10.99", true),
        ("money > 4.99", true),
        ("money{dialect=openai-chat,model=n} > 0.3", false),
        ("money{model=m} > 99%", true),
        ("money{model=m} > 100%", false),
    ];
    for (text, expected) in cases {
        let found = failures(text, &case());
        assert_eq!(!found.is_empty(), expected, "{text}: {found:?}");
    }
}

#[test]
fn a_condition_on_a_change_is_not_evaluated_on_a_first_night() {
    let first = Case {
        before: None,
        ..case()
    };
    for text in [
        "conversations < -10%",
        "tokens_common > 2%",
        "tokens_common > 2",
        "inputs_missing > 0",
    ] {
        let condition: Condition = text.parse().unwrap();
        assert!(condition.needs_earlier(), "{text}");
        assert_eq!(
            condition.evaluate(&first).unwrap(),
            ConditionOutcome::NotEvaluated,
            "{text}"
        );
    }
    assert_eq!(failures("rejects > 0", &first).len(), 1);
    assert_eq!(failures("conversations < 1", &first), []);
}

#[test]
fn a_failure_has_the_value_of_both_runs() {
    let message = |text: &str| failures(text, &case())[0].to_string();
    assert_eq!(
        message("tokens{encoding=o200k_base} > 5%"),
        "tokens{encoding=o200k_base} > 5%: tokens of openai-chat in o200k_base: 1100, was 1000 (+10.0 %)"
    );
    assert_eq!(
        message("reject_ratio > 0.02"),
        "reject_ratio > 0.02: reject_ratio: 0.0217, was 0"
    );
    assert_eq!(
        message("money{model=n} > 0"),
        "money{model=n} > 0: money of openai-chat in n: 0.2500"
    );
}

#[test]
fn a_condition_without_a_value_to_compare_fails() {
    let empty = Case {
        after: RunFigures::default(),
        before: case().before.map(|before| Earlier {
            tokens: Vec::new(),
            ..before
        }),
    };
    assert_eq!(
        failures("tokens_common > 2%", &empty)[0].to_string(),
        "tokens_common > 2%: tokens_common: there is nothing to compare it with"
    );
    assert_eq!(
        failures("tokens{dialect=tzurot} > 9", &empty)[0].to_string(),
        "tokens{dialect=tzurot} > 9: tokens of tzurot in o200k_base: gone, was 7"
    );
    assert_eq!(failures("tokens > 5%", &empty).len(), 1);
    // One dialect that is gone is no failure while another has values.
    assert_eq!(failures("tokens > 5000", &case()), []);
    // Without rendered messages there are no tokens per message.
    assert_eq!(
        failures("tokens_per_message{dialect=sharegpt} > 1", &case()).len(),
        1
    );
}

#[test]
fn a_malformed_condition_is_refused_with_the_reason() {
    let cases = [
        ("tokens", "no operator"),
        ("tokens > many", "not a number"),
        ("tokens > inf", "not a number"),
        ("conversations < -10", "-10%"),
        ("mood > 3", "no metric `mood`"),
        ("tokens{dialect=a > 3", "does not end with }"),
        ("tokens{model=a} > 3", "neither dialect=ID nor encoding=NAME"),
        ("money{encoding=a} > 3", "neither dialect=ID nor model=NAME"),
        ("tokens{dialect=} > 3", "neither dialect"),
        ("tokens{dialect=a,dialect=b} > 3", "is given twice"),
        ("rejects{dialect=a} > 3", "no dialects"),
        ("inputs_missing > 5%", "a change itself"),
        ("", "no operator"),
    ];
    for (text, reason) in cases {
        let error = text.parse::<Condition>().unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_condition_has_a_length_at_most() {
    let blank = |bytes: usize| format!("rejects >{}0", " ".repeat(bytes - "rejects >0".len()));
    assert!(blank(1024).parse::<Condition>().is_ok());
    let error = blank(1025).parse::<Condition>().unwrap_err().to_string();
    assert!(error.contains("more than 1024 bytes"), "{error}");
}

#[test]
fn a_selector_that_matches_neither_run_is_an_error() {
    for text in ["tokens{dialect=chatml} > 0", "tokens{encoding=r50k_base} > 5%"] {
        let condition: Condition = text.parse().unwrap();
        let error = condition.evaluate(&case()).unwrap_err().to_string();
        assert!(error.contains("openai-chat in o200k_base"), "{error}");
    }
    let condition: Condition = "money > 3".parse().unwrap();
    let error = condition.evaluate(&Case::default()).unwrap_err().to_string();
    assert!(error.contains("without prices"), "{error}");
}
