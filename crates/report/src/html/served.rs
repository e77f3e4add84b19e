//! The bill as served: what the renderings would have cost while the chats were going on. It is an estimate and says so.

use super::markup::Html;
use super::table::{numbers, table, words};
use crate::bill::quotient;
use crate::report::TokenCell;
use crate::token_table::heading;

/// The table of one encoding; nothing where no rendering is ever sent.
pub(super) fn served(html: &mut Html, stretches: &[Vec<&TokenCell>]) {
    let cells: Vec<&TokenCell> = stretches
        .iter()
        .flat_map(|stretch| stretch.iter().copied())
        .filter(|cell| cell.requests > 0)
        .collect();
    if cells.is_empty() {
        return;
    }
    html.raw("<h3>As served</h3><p class=\"quiet\">An estimate: a chat is sent once per answer, each time with everything before it. ")
        .raw("Caches, texts cut on the way and system text sent elsewhere are not known. What the assistant says and ")
        .raw("calls in answer is written, and paid for beside what is sent.</p>\n");
    let heads = [
        words("Dialect"),
        numbers("Requests"),
        numbers("Tokens sent"),
        numbers("Per request"),
        numbers("× held"),
        numbers("Written"),
    ];
    table(html, "Estimate of what is sent", &heads, |html| {
        let mut coverage = "";
        for cell in &cells {
            if cell.coverage != coverage {
                coverage = &cell.coverage;
                html.group(heads.len(), heading(coverage));
            }
            html.row(&cell.target())
                .figure(cell.requests)
                .figure(cell.tokens_sent)
                .rate(quotient(cell.tokens_sent, cell.requests), 1)
                .rate(quotient(cell.tokens_sent, cell.tokens), 2)
                .figure(cell.written)
                .end_row();
        }
    });
}
