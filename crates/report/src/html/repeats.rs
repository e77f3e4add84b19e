//! Conversations that repeat, fork or continue others, where the run compared them.

use super::markup::Html;
use super::query;
use super::table::{numbers, table, words};
use crate::report::Report;

pub(super) fn repeats(html: &mut Html, report: &Report) {
    let Some(clusters) = &report.clusters else {
        return;
    };
    if clusters.conversations == 0 {
        html.raw("<p>The run compared its conversations: none that is here repeats, forks or continues another.</p>\n");
        query(html, &clusters.query);
        return;
    }
    html.raw("<p>A cluster holds what repeats, forks or continues one another: ")
        .count(clusters.clusters)
        .raw(" of them, ")
        .count(clusters.conversations)
        .raw(" conversations in all, ")
        .count(clusters.largest)
        .raw(" in the largest. What the plan left out for it is filtered and no longer here.</p>\n");
    let heads = [words("Conversations that"), numbers("Kept")];
    table(html, "Conversations of clusters by kind", &heads, |html| {
        let repeated = clusters.exact + clusters.near;
        for (name, conversations) in [
            ("say the same as an earlier one", clusters.exact),
            ("say nearly the same as an earlier one", clusters.near),
            (
                "come first, fork or continue",
                clusters.conversations.saturating_sub(repeated),
            ),
        ] {
            html.row(name).figure(conversations).end_row();
        }
    });
    query(html, &clusters.query);
}
