//! The bill: an overview of all encodings, a table per encoding with its parts, and what each dialect lost for its price.

use super::charts::{PARTS, bar, legend, parts, stacked};
use super::markup::{Html, count, counted};
use super::served::served;
use super::table::{bars, numbers, table, words};
use super::{end, query};
use crate::bill::quotient;
use crate::cells::GroupKey;
use crate::report::{LossCount, Report, TokenCell};
use crate::token_table::{TokenRow, TokenTable, heading};

/// Kinds of loss that are shown without opening anything.
const MAX_OPEN_KINDS: usize = 4;

/// Cheapest and dearest dialect of the first encoding, among those that show whole histories.
pub(super) fn range(report: &Report) -> Option<(String, String, f64)> {
    let first = report.tokens.rows.first()?;
    let cells = || {
        report.tokens.rows.iter().filter(|cell| {
            (&cell.encoding, &cell.coverage) == (&first.encoding, &first.coverage) && cell.ratio > 0.0
        })
    };
    let cheap = cells().min_by(|one, other| one.ratio.total_cmp(&other.ratio))?;
    let dear = cells().max_by(|one, other| one.ratio.total_cmp(&other.ratio))?;
    Some((cheap.target(), dear.target(), dear.ratio))
}

/// The cells of the report as a table.
fn price_tables(report: &Report) -> TokenTable<&TokenCell> {
    let mut table = TokenTable::new(&report.run.encodings);
    for cell in &report.tokens.rows {
        let key = GroupKey {
            group: "",
            second: "",
            dialect: &cell.dialect,
            profile: &cell.profile,
            coverage: &cell.coverage,
            encoding: &cell.encoding,
        };
        *table.cell(key) = Some(cell);
    }
    table
}

pub(super) fn tokens(html: &mut Html, report: &Report) {
    let prices = price_tables(report);
    if prices.coverages.is_empty() {
        html.raw("<p>Nothing was rendered.</p>");
        end(html, &report.tokens);
        return;
    }
    html.raw("<p>Tokens of the rendered bytes, counted exactly in the encoding that stands beside each figure. Dialects ")
        .raw("are compared within what they show of a history, per message shown.</p>\n");
    if report.run.encodings.len() > 1 {
        overview(html, &prices);
    }
    for (index, encoding) in prices.encodings.iter().enumerate() {
        let of_encoding = stretches(&prices, index);
        // The first encoding is shown; the others say much the same and wait to be opened.
        html.raw(if index == 0 {
            "<details open><summary>"
        } else {
            "<details><summary>"
        });
        html.raw("Tokens in ")
            .text(if encoding.is_empty() {
                "no encoding"
            } else {
                encoding
            })
            .raw("</summary>");
        legend(html, &PARTS);
        price_table(html, &of_encoding);
        served(html, &of_encoding);
        html.raw("</details>\n");
    }
    end(html, &report.tokens);
}

/// What a dialect is sorted by.
fn per_message(row: &TokenRow<&TokenCell>, encoding: usize) -> f64 {
    row.cell(encoding).map_or(f64::INFINITY, |cell| cell.per_message)
}

/// The cells of one encoding by coverage, the cheapest first in each.
fn stretches<'r>(prices: &TokenTable<&'r TokenCell>, encoding: usize) -> Vec<Vec<&'r TokenCell>> {
    let groups = prices.coverages.iter().map(|group| -> Vec<&TokenCell> {
        let rows = group.by_price(|row| per_message(row, encoding));
        rows.into_iter()
            .filter_map(|row| row.cell(encoding).copied())
            .collect()
    });
    groups.filter(|cells| !cells.is_empty()).collect()
}

/// Tokens per message of every dialect in every encoding, the dearer the darker.
fn overview(html: &mut Html, prices: &TokenTable<&TokenCell>) {
    html.raw("<h3>Tokens per message, all encodings</h3>");
    html.raw("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Tokens per message\"><table><caption>")
        .raw("The stronger the colour, the dearer against the cheapest of its coverage and encoding</caption><thead><tr>")
        .raw("<th scope=\"col\">Dialect</th>");
    for encoding in &prices.encodings {
        html.raw("<th scope=\"col\" class=\"number\">")
            .text(encoding)
            .raw("</th>");
    }
    html.raw("</tr></thead><tbody>");
    for group in &prices.coverages {
        html.group(prices.encodings.len() + 1, heading(&group.coverage));
        for row in group.by_price(|row| per_message(row, 0)) {
            html.row(&row.target);
            for encoding in 0..prices.encodings.len() {
                match row.cell(encoding) {
                    None => html.raw("<td class=\"number\">–</td>"),
                    Some(cell) => heat(html, cell),
                };
            }
            html.end_row();
        }
    }
    html.raw("</tbody></table></div>\n");
}

fn heat<'h>(html: &'h mut Html, cell: &TokenCell) -> &'h mut Html {
    // Four times the cheapest is as dark as it gets: beyond, the text would be hard to read.
    let heat = ((cell.ratio - 1.0) / 3.0).clamp(0.0, 1.0) * 45.0;
    html.raw("<td class=\"number heat\" style=\"--heat:")
        .fixed(heat, 1)
        .raw("%\">")
        .fixed(cell.per_message, 1)
        .raw("</td>")
}

/// One encoding: a group of rows for each coverage, since only within one may prices be compared.
fn price_table(html: &mut Html, stretches: &[Vec<&TokenCell>]) {
    let heads = [
        words("Dialect"),
        bars("Made of"),
        numbers("Per message"),
        numbers("× cheapest"),
        numbers("Tokens"),
        numbers("Mean"),
        numbers("p50"),
        numbers("p95"),
        numbers("p99"),
        numbers("Bytes"),
        numbers("Invalid"),
    ];
    table(
        html,
        "Tokens per rendering, the cheapest dialect first",
        &heads,
        |html| {
            for stretch in stretches {
                if let Some(first) = stretch.first() {
                    html.group(heads.len(), heading(&first.coverage));
                }
                let dearest = stretch.iter().map(|cell| cell.per_message).fold(0.0, f64::max);
                for cell in stretch {
                    price_row(html, cell, share(cell.per_message, dearest));
                }
            }
        },
    );
}

fn price_row(html: &mut Html, cell: &TokenCell, share: f64) {
    let sizes: Vec<(u64, &'static str)> = parts(cell)
        .into_iter()
        .zip(PARTS)
        .map(|(size, (_, class))| (size, class))
        .collect();
    html.row(&cell.target());
    stacked(html, share, &sizes);
    html.rate(cell.per_message, 1)
        .rate(cell.ratio, 2)
        .figure(cell.tokens)
        .rate(cell.mean, 1)
        .figure(cell.p50)
        .figure(cell.p95)
        .figure(cell.p99)
        .size(cell.bytes)
        .fault(cell.invalid, "warning")
        .end_row();
}

pub(super) fn losses(html: &mut Html, report: &Report) {
    if report.tokens.rows.is_empty() {
        html.raw("<p>Nothing was rendered.</p>");
        query(html, &report.losses.query);
        return;
    }
    html.raw("<p>What each dialect costs, and what it could not carry for that price: occurrences of a loss per message ")
        .raw("shown. Ids and times count as much as words, so read the kinds.</p>\n");
    legend(
        html,
        &[
            ("tokens per message", "part-content"),
            ("losses per message", "part-loss"),
        ],
    );
    let first = report.run.encodings.first().map_or("", String::as_str);
    let cells: Vec<&TokenCell> = report
        .tokens
        .rows
        .iter()
        .filter(|cell| cell.encoding == first)
        .collect();
    let lost = |cell: &TokenCell| -> Vec<&LossCount> {
        let kinds = report.losses.rows.iter();
        kinds
            .filter(|kind| (&kind.dialect, &kind.profile) == (&cell.dialect, &cell.profile))
            .collect()
    };
    let rate = |cell: &TokenCell| {
        let amount = lost(cell).iter().map(|kind| kind.amount).sum();
        quotient(amount, cell.messages_rendered)
    };
    let dearest = cells.iter().map(|cell| cell.per_message).fold(0.0, f64::max);
    let most = cells.iter().map(|cell| rate(cell)).fold(0.0, f64::max);
    let heads = [
        words("Dialect"),
        bars("Price and loss"),
        numbers("Tokens"),
        numbers("Losses"),
        words("Kinds of loss"),
    ];
    table(
        html,
        "Tokens and losses per message of each dialect",
        &heads,
        |html| {
            for cell in &cells {
                html.row(&cell.target()).raw("<td class=\"bar\">");
                bar(html, share(cell.per_message, dearest), &[(1, "part-content")]);
                bar(html, share(rate(cell), most), &[(1, "part-loss")]);
                html.raw("</td>")
                    .rate(cell.per_message, 1)
                    .rate(rate(cell), 2)
                    .raw("<td class=\"wide\">");
                let kinds = lost(cell);
                let (first, more) = kinds.split_at(kinds.len().min(MAX_OPEN_KINDS));
                chips(html, first);
                if !more.is_empty() {
                    html.raw("<details><summary>and ")
                        .text(&counted(more.len() as u64, "more kind"))
                        .raw("</summary>");
                    chips(html, more);
                    html.raw("</details>");
                }
                html.raw("</td>").end_row();
            }
        },
    );
    end(html, &report.losses);
}

/// Kinds of loss with their occurrences.
fn chips(html: &mut Html, kinds: &[&LossCount]) {
    html.raw("<ul class=\"chips\">");
    for kind in kinds {
        html.raw("<li>")
            .text(&kind.code)
            .raw(" <b>")
            .text(&count(kind.amount))
            .raw("</b></li>");
    }
    html.raw("</ul>");
}

fn share(value: f64, most: f64) -> f64 {
    if most > 0.0 { value / most } else { 0.0 }
}
