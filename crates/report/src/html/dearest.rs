//! What costs: the renderings at the prices that are known, and those who cost most.

use std::collections::BTreeMap;

use chatmill_model::target_name;

use super::markup::{Html, counted};
use super::table::{numbers, numbers_of, table, words};
use crate::bill::quotient;
use crate::report::{Amount, Costly, Dearest, MoneyCell, Report};
use crate::token_table::{coverage_rank, heading};

/// Models of a table: two columns each, which A4 holds upright beside the dialects.
const MODELS: usize = 3;
/// Models beside the figures of conversations, rooms and participants.
const RANKED_MODELS: usize = 6;

/// Coverage, dialect and profile, and what they cost by the place of the model.
type MoneyRow<'r> = ((&'r str, &'r str, &'r str), BTreeMap<usize, &'r MoneyCell>);

/// The renderings of each dialect at each price.
pub(super) fn money(html: &mut Html, report: &Report) {
    html.raw("<p>All renderings sent once, and an estimate of what they would have cost while the chats went on, answers included. ")
        .raw("Where no price is known for an encoding, nothing is said.</p>\n");
    let mut models: Vec<(&str, &str)> = Vec::new();
    let mut rows: Vec<MoneyRow<'_>> = Vec::new();
    for cell in &report.money {
        let model = (cell.model.as_str(), cell.currency.as_str());
        let column = place(&mut models, model);
        let key = (
            cell.coverage.as_str(),
            cell.dialect.as_str(),
            cell.profile.as_str(),
        );
        match rows.iter_mut().find(|(known, _)| *known == key) {
            Some((_, cells)) => drop(cells.insert(column, cell)),
            None => rows.push((key, BTreeMap::from([(column, cell)]))),
        }
    }
    rows.sort_by_key(|((coverage, ..), _)| coverage_rank(coverage));
    for (part, some) in models.chunks(MODELS).enumerate() {
        let caption = match models.len().div_ceil(MODELS) {
            1 => "Money by dialect and model".to_owned(),
            parts => format!("Money by dialect and model, {} of {parts}", part + 1),
        };
        money_table(html, &caption, some, part * MODELS, &rows);
    }
}

/// The columns of some models, of which the first is the one at `first` among all.
fn money_table(html: &mut Html, caption: &str, models: &[(&str, &str)], first: usize, rows: &[MoneyRow<'_>]) {
    let mut heads = vec![words("Dialect")];
    for (model, currency) in models {
        heads.push(numbers_of(format!("{model}, once ({currency})")));
        heads.push(numbers_of(format!("{model}, as served ({currency})")));
    }
    table(html, caption, &heads, |html| {
        let mut shown = "";
        for ((coverage, dialect, profile), cells) in rows {
            if *coverage != shown {
                shown = coverage;
                html.group(heads.len(), heading(coverage));
            }
            html.row(&target_name(dialect, profile));
            for column in first..first + models.len() {
                let cell = cells.get(&column);
                amount(html, cell.map(|cell| cell.amount));
                amount(html, cell.and_then(|cell| cell.as_served));
            }
            html.end_row();
        }
    });
}

/// What the renderings cost at the first price, from the cheapest dialect to the dearest, and which price that is.
pub(super) fn range(report: &Report) -> Option<(String, String)> {
    let first = report.money.first()?;
    let cells = report.money.iter().filter(|cell| {
        (&cell.model, &cell.currency, &cell.coverage) == (&first.model, &first.currency, &first.coverage)
    });
    let amounts: Vec<f64> = cells.map(|cell| cell.amount).collect();
    let least = amounts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = amounts.iter().copied().fold(0.0, f64::max);
    let digits = decimals(least);
    let money = if amounts.len() > 1 {
        format!("{least:.digits$} – {most:.digits$}")
    } else {
        format!("{most:.digits$}")
    };
    let under = if amounts.len() > 1 {
        format!("{}, {}, by dialect", first.currency, first.model)
    } else {
        format!("{}, {}", first.currency, first.model)
    };
    Some((money, under))
}

/// The place of a value in a list, to which it is added where it is new.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// Conversations, rooms and participants with the most tokens.
pub(super) fn dearest(html: &mut Html, dearest: &Dearest) {
    html.raw("<p>Who and what the most tokens of text belong to, counted in <code>")
        .text(&dearest.encoding)
        .raw("</code>. Calls of tools and their results are not in it; <code>chatmill tokens --by participant</code> has them.</p>\n");
    let lists = [
        ("Conversation", "Conversations by tokens", &dearest.conversations),
        ("Room", "Rooms by tokens", &dearest.rooms),
        ("Participant", "Participants by tokens", &dearest.participants),
    ];
    let prices = lists.iter().find_map(|(_, _, list)| list.first());
    let more = prices.map_or(0, |first| first.money.len().saturating_sub(RANKED_MODELS));
    if more > 0 {
        html.raw("<p class=\"quiet\">What they cost at ")
            .text(&counted(more as u64, "more price"))
            .raw(" stands in <code>report.json</code>.</p>\n");
    }
    for (noun, caption, list) in lists {
        if !list.is_empty() {
            ranked(html, noun, caption, list, dearest.tokens);
        }
    }
}

fn ranked(html: &mut Html, noun: &'static str, caption: &str, list: &[Costly], all: u64) {
    let models: &[Amount] = list.first().map_or(&[], |first| &first.money);
    let mut heads = vec![
        words(noun),
        numbers("Messages"),
        numbers("Tokens"),
        numbers("Share"),
        numbers("Written by agents"),
    ];
    let money = models.iter().take(RANKED_MODELS);
    heads.extend(money.map(|money| numbers_of(format!("{} ({})", money.model, money.currency))));
    table(html, caption, &heads, |html| {
        for costly in list {
            html.raw("<tr><th scope=\"row\">")
                .text(costly.name.as_deref().unwrap_or(&costly.id));
            if costly.name.is_some() {
                html.raw("<small>").text(&costly.id).raw("</small>");
            }
            html.raw("</th>")
                .figure(costly.messages)
                .figure(costly.tokens)
                .raw("<td class=\"number\">")
                .fixed(100.0 * quotient(costly.tokens, all), 1)
                .raw(" %</td>")
                .figure(costly.written);
            for money in costly.money.iter().take(RANKED_MODELS) {
                amount(html, Some(money.amount));
            }
            html.end_row();
        }
    });
}

fn amount(html: &mut Html, amount: Option<f64>) {
    match amount {
        Some(amount) => html
            .raw("<td class=\"number\">")
            .fixed(amount, decimals(amount))
            .raw("</td>"),
        None => html.raw("<td class=\"number zero\">–</td>"),
    };
}

/// Decimals that an amount needs: small ones would be nothing.
pub(super) const fn decimals(amount: f64) -> usize {
    if amount < 1.0 { 4 } else { 2 }
}
