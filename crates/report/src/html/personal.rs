//! Personal data and secrets, where the run looked for them: how often they were found, and in how many renderings replaced.

use chatmill_diag::codes;

use super::labels::name;
use super::markup::Html;
use super::query;
use super::table::{numbers, table, words};
use crate::report::Report;

/// The kind of loss that a replaced value is.
const REDACTED: &str = "redacted";

pub(super) fn personal(html: &mut Html, report: &Report) {
    html.raw(if report.run.redaction == "replace" {
        "<p>Pseudonyms took the place of what was found. Only what has a form is found: people may still be \
         known by what they say.</p>\n"
    } else {
        "<p>The run says where personal data and secrets are, and left them there.</p>\n"
    });
    let found = [&codes::PERSONAL_DATA, &codes::SECRET];
    html.raw("<div class=\"pair\"><div>");
    table(
        html,
        "Places by kind",
        &[words("Found"), numbers("Occurrences")],
        |html| {
            for code in found {
                let rows = report.findings.rows.iter();
                let occurrences = rows
                    .filter(|row| row.code == code.code)
                    .map(|row| row.errors + row.warnings + row.notes)
                    .sum();
                html.row(&format!("{} {}", code.code, code.name))
                    .figure(occurrences)
                    .end_row();
            }
        },
    );
    query(html, &report.findings.query);
    html.raw("</div><div>");
    let heads = [words("Dialect"), numbers("Renderings"), numbers("Replaced")];
    table(html, "Renderings with pseudonyms", &heads, |html| {
        for loss in report.losses.rows.iter().filter(|loss| loss.code == REDACTED) {
            html.row(&name(&loss.dialect, &loss.profile))
                .figure(loss.renderings)
                .figure(loss.amount)
                .end_row();
        }
    });
    query(html, &report.losses.query);
    html.raw("</div></div>\n");
}
