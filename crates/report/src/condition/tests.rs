//! Conditions on two small runs, and on a first run.

use std::path::Path;

use super::*;
use crate::figures::{Earlier, MissingInputs, RunFigures, TokenFigure};
use crate::report::{MoneyBasis, MoneyFigure, TokenChange, TokenCount};

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
        ..MoneyFigure::default()
    }
}

/// Money of the tokens of a model.
fn own(model: &str, amount: f64) -> MoneyFigure {
    MoneyFigure {
        basis: MoneyBasis::Model,
        ..money("gryag-compact", model, amount)
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
        money: vec![money("openai-chat", "m", 2.5), own("a", 1.0), own("b", 1.0)],
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
            money: vec![
                money("openai-chat", "m", 5.0),
                money("openai-chat", "n", 0.25),
                own("a", 2.0),
                own("b", 0.5),
            ],
        },
        before: Some(Earlier {
            figures,
            missing: MissingInputs {
                count: 1,
                names: vec!["b.zip".to_owned()],
            },
            tokens: vec![common("openai-chat", 900, 900), common("gryag-compact", 400, 404)],
            repriced: vec![money("openai-chat", "m", 2.5), own("a", 1.0), own("b", 0.5)],
        }),
    }
}

#[test]
fn conditions_come_out_as_their_cases_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/condition/cases/conditions.txt");
    let checked = chatmill_golden::check_cases(&path, comes_of);
    checked.unwrap_or_else(|message| panic!("{message}"));
}

/// The result of a condition for both runs, or for those that are named before a colon.
fn comes_of(line: &str) -> String {
    let (runs, text) = line.split_once(": ").unwrap_or(("both", line));
    let Case { after, before } = case();
    let case = match runs {
        "both" => case(),
        "first" => Case { after, before: None },
        "none" => Case::default(),
        "empty" => Case {
            after: RunFigures::default(),
            before: before.map(|before| Earlier {
                tokens: Vec::new(),
                ..before
            }),
        },
        _ => panic!("{line}"),
    };
    let condition = match text.parse::<Condition>() {
        Ok(condition) => condition,
        Err(error) => return format!("refused: {error}"),
    };
    match condition.evaluate(&case) {
        Ok(ConditionOutcome::NotEvaluated) => {
            assert!(condition.needs_earlier(), "{line}");
            "not evaluated".to_owned()
        }
        Ok(ConditionOutcome::Evaluated(failures)) if failures.is_empty() => "no failure".to_owned(),
        Ok(ConditionOutcome::Evaluated(failures)) => {
            let failures: Vec<String> = failures.iter().map(ToString::to_string).collect();
            failures.join("\n")
        }
        Err(error) => format!("refused: {error}"),
    }
}

#[test]
fn a_condition_has_a_length_at_most() {
    let blank = |bytes: usize| format!("rejects >{}0", " ".repeat(bytes - "rejects >0".len()));
    assert!(blank(1024).parse::<Condition>().is_ok());
    assert!("".parse::<Condition>().is_err());
    let error = blank(1025).parse::<Condition>().unwrap_err().to_string();
    assert!(error.contains("more than 1024 bytes"), "{error}");
}
