//! The tables of `docs/dialect-rules.md`: codes and sentences from the dialects, how each rule is held and tested by hand.
//!
//! The table of a family is between `<!-- OAC -->` and `<!-- /OAC -->`. Its last two columns are written by hand and kept; a new
//! rule gets them empty, and a test of the dialects fails until they are filled in.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};
use chatmill_dialect::{DIALECTS, DialectRule, Rules, TemplateDialect};

use crate::tables::{cell, replaced};

/// The page with the rules of all dialects and of templates.
pub(crate) fn with_rules(page: &str) -> Result<String> {
    filled(page, declared())
}

/// Returns the rules of all dialects, each once.
fn declared() -> impl Iterator<Item = &'static DialectRule> {
    let listed = DIALECTS.iter().map(|dialect| match dialect.about().rules {
        Rules::Validated(rules) => rules,
        Rules::None(_) => &[],
    });
    let all = listed.chain([TemplateDialect::rules()]).flatten().copied();
    let by_id: BTreeMap<&str, &DialectRule> = all.map(|rule| (rule.id(), rule)).collect();
    by_id.into_values()
}

fn filled(page: &str, rules: impl Iterator<Item = &'static DialectRule>) -> Result<String> {
    let mut families: BTreeMap<&str, String> = BTreeMap::new();
    for rule in rules {
        let (family, _) = rule.id().split_once('-').context("a code has a family")?;
        let table = families
            .entry(family)
            .or_insert_with(|| "| Rule | Wants | Held | Test |\n|---|---|---|---|\n".to_owned());
        let (policy_text, test) = by_hand(page, rule).unwrap_or_default();
        writeln!(
            table,
            "| {rule} | {} | {policy_text} | {test} |",
            cell(rule.sentence())
        )?;
    }
    let mut filled = page.to_owned();
    for (family, table) in families {
        filled = replaced(&filled, family, &table)?;
    }
    Ok(filled)
}

/// Returns the last two columns of a rule's row.
fn by_hand<'p>(page: &'p str, rule: &DialectRule) -> Option<(&'p str, &'p str)> {
    let start = format!("| {rule} |");
    let row = page.lines().find_map(|line| line.strip_prefix(&start))?;
    let (before, test) = row.strip_suffix('|')?.rsplit_once('|')?;
    let (_, policy_text) = before.rsplit_once('|')?;
    Some((policy_text.trim(), test.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_come_from_the_rules_and_what_is_written_by_hand_stays() {
        let rules = TemplateDialect::rules();
        let (first, second) = (rules[0], rules[1]);
        let page = format!(
            "a\n<!-- TPL -->\n| {first} | old \\| words | repaired | `x.rs::y` |\n<!-- /TPL -->\nb\n"
        );
        let once = filled(&page, [first, second].into_iter()).unwrap();
        let rows: Vec<&str> = once.lines().filter(|line| line.starts_with("| TPL")).collect();
        assert_eq!(
            rows,
            [
                format!("| {first} | {} | repaired | `x.rs::y` |", first.sentence()),
                format!("| {second} | {} |  |  |", second.sentence()),
            ]
        );
        assert_eq!(filled(&once, [first, second].into_iter()).unwrap(), once);
        let complaint = filled("a", [first].into_iter()).unwrap_err().to_string();
        assert_eq!(complaint, "there is no <!-- TPL -->");
    }
}
