//! `[window]`: settings that are resolved or refused.

use std::path::Path;

use crate::pipeline::{PerspectiveChoice, PerspectiveRule, WindowSection};
use crate::plan::{BudgetSources, Templates, WindowPlan};
use chatmill_diag::Limits;
use chatmill_dialect::{History, Targets, WindowMode};

fn window(text: &str, rule: PerspectiveRule) -> Result<WindowPlan, String> {
    let section: WindowSection = toml::from_str(text).unwrap();
    let encodings = [chatmill_token::find("o200k_base").unwrap().clone()];
    let speaker = PerspectiveChoice::Rule(rule);
    let sources = BudgetSources {
        encodings: &encodings,
        templates: &Templates::default(),
        targets: &[],
        base: Path::new(""),
    };
    WindowPlan::new(&section, &speaker, &sources, &Limits::default()).map_err(|error| error.to_string())
}

#[test]
fn a_window_section_without_keys_has_the_history_of_the_document() {
    let plan = window("", PerspectiveRule::Auto).unwrap();
    assert_eq!(plan.history, History::Document);
    let cuts = chatmill_dialect::Cuts {
        placeholders: chatmill_dialect::Placeholders::Alone,
        ..chatmill_dialect::Cuts::default()
    };
    assert_eq!(plan.cuts, cuts);
    assert!(plan.budget.is_none());
    assert_eq!(plan.most, Limits::default().windows);
}

#[test]
fn keys_of_the_window_section_are_the_cuts() {
    let text = "history = 3\nsession_gap = \"90m\"\nper_turn = true\nmax_tokens = { encoding = \"o200k_base\", tokens = 9 }\n";
    let plan = window(text, PerspectiveRule::Auto).unwrap();
    assert_eq!(plan.history, History::Messages(3));
    assert_eq!(plan.cuts.session_gap, Some(90 * 60 * 1_000_000), "microseconds");
    assert_eq!(plan.cuts.mode, WindowMode::PerTurn);
    let budget = plan.budget.unwrap();
    assert_eq!((budget.encoding.name(), budget.tokens), ("o200k_base", 9));
    assert_eq!(budget.bytes, Limits::default().rendering);
}

#[test]
fn a_mode_has_its_own_keys() {
    let plan = window("mode = \"consecutive\"\noverlap = 4\n", PerspectiveRule::Auto).unwrap();
    assert_eq!((plan.cuts.mode, plan.overlap), (WindowMode::Consecutive, 4));
    assert_eq!(plan.history, History::All);
    let plan = window(
        "mode = \"per_turn\"\ntargets = \"steps\"\n",
        PerspectiveRule::Auto,
    )
    .unwrap();
    assert_eq!(
        (plan.cuts.mode, plan.cuts.targets),
        (WindowMode::PerTurn, Targets::Steps)
    );
}
