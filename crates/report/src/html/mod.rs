//! `report.html`: one self-contained page. No network, no third-party script, no style from anywhere else.
//!
//! The page is written from a [`Report`] alone. Every text in it is hostile until it is escaped, which
//! [`markup::Html`] does; a policy in the page's head forbids whatever might slip through all the same.

pub(crate) mod charts;
mod comparison;
mod dearest;
pub(crate) mod document;
mod findings;
pub(crate) mod found;
pub(crate) mod markup;
mod personal;
mod repeats;
mod sections;
mod served;
pub(crate) mod table;
mod tokens;

use document::{Dress, document, tile};
use found::{FOUND_SCRIPT, FOUND_STYLE};
use markup::{Html, count, counted, whole};

use crate::report::{Queried, Report, RunTime};

/// Tables that are sorted by their headers.
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// A part of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    write: fn(&mut Html, &Report),
    /// Whether a report has anything to say there.
    is_there: fn(&Report) -> bool,
}

const fn section(id: &'static str, title: &'static str, write: fn(&mut Html, &Report)) -> Section {
    Section {
        id,
        title,
        write,
        is_there: |_| true,
    }
}

/// The sections in order.
const SECTIONS: &[Section] = &[
    Section {
        is_there: |report| report.comparison.is_some(),
        ..section("comparison", "What changed", comparison::comparison)
    },
    section("balance", "Balance", sections::balance),
    section("inputs", "Inputs", sections::inputs),
    section("findings", "Findings", findings::findings),
    section("tokens", "Tokens", tokens::tokens),
    Section {
        is_there: |report| !report.money.is_empty(),
        ..section("money", "Money", dearest::money)
    },
    section("largest", "Largest", sections::largest),
    section("losses", "Price and loss", tokens::losses),
    section("lengths", "Lengths", sections::distributions),
    section("people", "Roles and replies", sections::roles),
    section("calls", "Tool calls", sections::calls),
    Section {
        is_there: |report| report.clusters.is_some(),
        ..section("repeats", "Repeats", repeats::repeats)
    },
    Section {
        is_there: |report| !report.run.redaction.is_empty(),
        ..section("personal", "Personal data", personal::personal)
    },
    section("run", "This run", sections::identity),
];

/// Writes the page. `nonce` is a word that no author of a chat can know; the policy runs only scripts that carry it.
pub fn page(report: &Report, nonce: &str) -> String {
    let title = format!("{} – chatmill report", report.run.name);
    let dress = Dress {
        style: FOUND_STYLE,
        scripts: &[SCRIPT, FOUND_SCRIPT],
    };
    document(&title, nonce, &dress, |html| body(html, report))
}

fn body(html: &mut Html, report: &Report) {
    header(html, report);
    let shown = || SECTIONS.iter().filter(|section| (section.is_there)(report));
    html.raw("<div class=\"columns\">\n<nav aria-label=\"Sections\"><ul>");
    for section in shown() {
        html.raw("<li><a href=\"#")
            .raw(section.id)
            .raw("\">")
            .raw(section.title)
            .raw("</a></li>");
    }
    html.raw("</ul></nav>\n<main id=\"main\">\n");
    for section in shown() {
        html.raw("<section id=\"")
            .raw(section.id)
            .raw("\" aria-labelledby=\"")
            .raw(section.id)
            .raw("-title\">\n<h2 id=\"")
            .raw(section.id)
            .raw("-title\">")
            .raw(section.title)
            .raw("</h2>\n");
        (section.write)(html, report);
        html.raw("</section>\n");
    }
    html.raw("<footer>The same figures stand in <code>report.json</code>. Every query runs in DuckDB, in the ")
        .raw("dataset’s folder. Reports are derived from the tables; <code>chatmill certify</code> covers the tables.")
        .raw("</footer>\n</main>\n</div>\n");
}

fn header(html: &mut Html, report: &Report) {
    let (run, balance) = (&report.run, &report.balance);
    html.raw("<header>\n<p class=\"overline\">chatmill report</p>\n<h1>")
        .text(&run.name);
    if run.verdict == "complete" {
        html.raw("<span class=\"verdict good\">complete</span>");
    } else {
        html.raw("<span class=\"verdict error\">")
            .text(&run.verdict.replace('-', " "))
            .raw("</span>");
    }
    html.raw("</h1>\n<p>")
        .text(&counted(
            report.inputs.rows.len() as u64 + report.inputs.left_out,
            "input",
        ))
        .raw(" with ")
        .text(&counted(balance.framed, "record"));
    if let (Some(first), Some(last)) = (&run.first_message, &run.last_message) {
        html.raw(", talk from ")
            .text(day(first))
            .raw(" to ")
            .text(day(last));
    }
    html.raw(".</p>\n");
    if let Some(time) = &report.time {
        when(html, time);
    }
    if !run.absent_tables.is_empty() {
        html.raw("<p class=\"quiet\">The pipeline leaves out ")
            .text(&counted(run.absent_tables.len() as u64, "table"))
            .raw(" (<code>tables</code> in <code>[output]</code>): ")
            .text(&run.absent_tables.join(", "))
            .raw(".</p>\n");
    }
    html.raw("<dl class=\"tiles\">");
    tile(html, "Conversations", &count(run.conversations), "");
    tile(html, "Messages", &count(run.messages), "");
    let dialects = counted(run.dialects.len() as u64, "dialect");
    if run.renderings > 0 {
        tile(html, "Renderings", &count(run.renderings), &dialects);
    }
    let share = format!("of {} records", count(balance.framed));
    tile(html, "Rejected", &count(balance.rejected), &share);
    let errors = report.findings.rows.iter().map(|row| row.errors).sum();
    let warnings = report.findings.rows.iter().map(|row| row.warnings).sum();
    tile(html, "Errors", &count(errors), &counted(warnings, "warning"));
    if let Some((money, under)) = dearest::range(report) {
        tile(html, "Money", &money, &under);
    }
    if let Some((cheap, dear, ratio)) = tokens::range(report).filter(|(cheap, dear, _)| cheap != dear) {
        let names = format!("{dear} against {cheap}");
        tile(html, "Dearest to cheapest", &format!("{ratio:.1} ×"), &names);
    }
    html.raw("</dl>\n</header>\n");
}

/// When the run was: one line of its own, the only one that equal runs do not share.
fn when(html: &mut Html, time: &RunTime) {
    let (day, clock) = time.began_at.split_once('T').unwrap_or((&time.began_at, ""));
    html.raw("<p class=\"when\">Milled on ").text(day);
    if let Some(clock) = clock.get(..5) {
        html.raw(" at ").text(clock).raw(" UTC");
    }
    html.raw(", in ").text(&duration(time.seconds));
    if time.resumed_slices > 0 {
        html.raw(" after earlier attempts");
    }
    html.raw(".</p>\n");
}

/// A duration in its two largest units.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{seconds:.1} s");
    }
    let whole = whole(seconds);
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// The day of a time in RFC 3339.
fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

/// The query behind the figures above it, where the dataset has the tables for one.
fn query(html: &mut Html, query: &str) {
    if query.is_empty() {
        return;
    }
    html.raw("<details class=\"query\"><summary>Query</summary><pre><code>")
        .text(query)
        .raw("</code></pre></details>\n");
}

/// The query of a part, and how many rows it has more.
fn end<T>(html: &mut Html, part: &Queried<T>) {
    if part.left_out > 0 {
        html.raw("<p class=\"quiet\">and ")
            .count(part.left_out)
            .raw(if part.query.is_empty() {
                " more.</p>\n"
            } else {
                " more; the query gives all of them.</p>\n"
            });
    }
    query(html, &part.query);
}

#[cfg(test)]
mod tests;
