//! What changed since an earlier run.

use super::markup::{Html, count};
use super::table::{numbers, table, words};
use crate::bill::quotient;
use crate::report::{Comparison, Report, TokenChange};

/// Rows of a table of changes; the rest is told by `chatmill diff`.
const MAX_ROWS: usize = 60;
/// Ids of conversations that are named for each kind of change.
const MAX_IDS: usize = 8;

pub(super) fn comparison(html: &mut Html, report: &Report) {
    let Some(comparison) = &report.comparison else {
        return;
    };
    html.raw("<p>Compared with the run <strong>")
        .text(&comparison.before)
        .raw("</strong>, fingerprint <code>")
        .text(&comparison.before_fingerprint)
        .raw("</code>.</p>\n");
    conversations(html, comparison);
    findings(html, comparison);
    tokens(html, comparison);
    losses(html, comparison);
}

fn conversations(html: &mut Html, comparison: &Comparison) {
    let changes = &comparison.conversations;
    let heads = [words("Conversations"), numbers("Count"), words("Some of them")];
    table(html, "Conversations by what happened to them", &heads, |html| {
        let rows = [
            ("added", changes.added, &changes.added_ids),
            ("removed", changes.removed, &changes.removed_ids),
            ("changed", changes.changed, &changes.changed_ids),
            ("the same", changes.same, &Vec::new()),
        ];
        for (name, number, ids) in rows {
            let ids: Vec<&str> = ids.iter().take(MAX_IDS).map(String::as_str).collect();
            html.row(name).figure(number).word(&ids.join(", ")).end_row();
        }
    });
    if changes.grown.is_empty() {
        return;
    }
    let heads = [
        words("Grew most"),
        numbers("Messages before"),
        numbers("Now"),
        numbers("Change"),
    ];
    table(html, "Conversations with the most new messages", &heads, |html| {
        for grown in &changes.grown {
            html.row(&grown.conversation_id)
                .figure(grown.before)
                .figure(grown.after)
                .change(grown.before, grown.after)
                .end_row();
        }
    });
}

fn findings(html: &mut Html, comparison: &Comparison) {
    let changed: Vec<_> = comparison
        .findings
        .iter()
        .filter(|change| change.count.before != change.count.after)
        .collect();
    let rejects = comparison.rejects;
    if changed.is_empty() && rejects.before == rejects.after {
        html.raw("<p>The same findings, code by code.</p>");
        return;
    }
    let heads = [
        words("Finding"),
        words("Severity"),
        numbers("Before"),
        numbers("Now"),
        numbers("Change"),
    ];
    table(html, "Findings and rejects that differ", &heads, |html| {
        if rejects.before != rejects.after {
            html.row("rejects")
                .word("")
                .figure(rejects.before)
                .figure(rejects.after)
                .change(rejects.before, rejects.after)
                .end_row();
        }
        for change in changed.iter().take(MAX_ROWS) {
            html.row(&format!("{} {}", change.code, change.name))
                .word(&change.severity)
                .figure(change.count.before)
                .figure(change.count.after)
                .change(change.count.before, change.count.after)
                .end_row();
        }
    });
    more(html, changed.len());
}

fn tokens(html: &mut Html, comparison: &Comparison) {
    let both: Vec<&TokenChange> = comparison
        .tokens
        .iter()
        .filter(|change| change.before.is_some() && change.after.is_some())
        .collect();
    let heads = [
        words("Dialect"),
        words("Encoding"),
        numbers("Before"),
        numbers("Now"),
        numbers("Change"),
        numbers("Per message before"),
        numbers("Now"),
        numbers("Change in common"),
    ];
    table(
        html,
        "Tokens; in common are the conversations that both runs have",
        &heads,
        |html| {
            for change in both.iter().take(MAX_ROWS) {
                token_row(html, change);
            }
        },
    );
    more(html, both.len());
    alone(html, "the earlier run", &comparison.only_before());
    alone(html, "this run", &comparison.only_after());
}

/// Names what only one of the runs counted.
fn alone(html: &mut Html, run: &str, dialects: &[String]) {
    if !dialects.is_empty() {
        html.raw("<p class=\"quiet\">Only ")
            .text(run)
            .raw(" counted ")
            .text(&dialects.join(", "))
            .raw(".</p>");
    }
}

fn token_row(html: &mut Html, change: &TokenChange) {
    html.row(&change.target()).word(&change.encoding);
    let per_message = |html: &mut Html, count: Option<crate::report::TokenCount>| match count {
        Some(count) => {
            html.rate(quotient(count.tokens, count.messages_rendered), 1);
        }
        None => {
            html.raw("<td class=\"number\">–</td>");
        }
    };
    for side in [change.before, change.after] {
        match side {
            Some(count) => html.figure(count.tokens),
            None => html.raw("<td class=\"number\">–</td>"),
        };
    }
    match (change.before, change.after) {
        (Some(before), Some(after)) => html.change(before.tokens, after.tokens),
        _ => html.raw("<td class=\"number\">–</td>"),
    };
    per_message(html, change.before);
    per_message(html, change.after);
    match (change.before, change.after) {
        (Some(before), Some(after)) => html.change(before.tokens_common, after.tokens_common),
        _ => html.raw("<td class=\"number\">–</td>"),
    };
    html.end_row();
}

fn losses(html: &mut Html, comparison: &Comparison) {
    let both: Vec<_> = comparison
        .losses
        .iter()
        .filter(|change| comparison.shares(&change.dialect, &change.profile))
        .collect();
    if both.is_empty() {
        return;
    }
    let heads = [
        words("Dialect"),
        words("Loss"),
        numbers("Before"),
        numbers("Now"),
        numbers("Change"),
    ];
    html.raw("<details><summary>Losses that differ</summary>");
    table(html, "Losses that differ", &heads, |html| {
        for change in both.iter().take(MAX_ROWS) {
            html.row(&change.dialect)
                .word(&change.code)
                .figure(change.amount.before)
                .figure(change.amount.after)
                .change(change.amount.before, change.amount.after)
                .end_row();
        }
    });
    more(html, both.len());
    html.raw("</details>\n");
}

fn more(html: &mut Html, rows: usize) {
    let left_out = rows.saturating_sub(MAX_ROWS);
    if left_out > 0 {
        html.raw("<p class=\"quiet\">and ")
            .text(&count(left_out as u64))
            .raw(" more; <code>chatmill diff --format json</code> has them.</p>");
    }
}
