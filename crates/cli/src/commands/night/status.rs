//! `chatmill night status`: the nights of a store.

use std::path::PathBuf;

use chatmill_report::RunFigures;
use chatmill_report::night::NightRecord;
use clap::Args;
use serde_json::json;

use super::books::{BookedNight, Books};
use crate::args::ListFormat;
use crate::exit::{Exit, WrongRequest};
use crate::figures::{count, counted};
use crate::output::{self, harmless};
use crate::table::{Column, column, table};
use crate::terminal;

/// Nights that people are shown: the last ones.
const SHOWN: usize = 40;

/// Arguments of `night status`.
#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    /// Folder of the nights
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Form of the listing
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Lists the nights; ends with 1 where the last one that ended is not good, or a record is damaged.
pub(super) fn execute(arguments: &StatusArguments) -> anyhow::Result<Exit> {
    let books = Books::find(&arguments.store)?.ok_or_else(|| {
        WrongRequest::new(format!("{} holds no nights", arguments.store.display()))
            .then("`chatmill night PIPELINE.toml --store DIR` makes a store and its first night")
    })?;
    match arguments.format {
        ListFormat::Text => output::print(&text(&books))?,
        ListFormat::Json => output::print_json(&listing(&books))?,
    }
    let ended = books
        .nights
        .iter()
        .rev()
        .find(|night| night.record.ended_at.is_some());
    let is_good = ended.is_none_or(|night| night.record.state.is_good());
    Ok(Exit::complete_if(is_good && books.damaged.is_empty()))
}

fn listing(books: &Books) -> serde_json::Value {
    let nights: Vec<&NightRecord> = books.nights.iter().map(|night| &night.record).collect();
    let damaged: Vec<_> = books
        .damaged
        .iter()
        .map(|(name, reason)| json!({"night": name.as_str(), "reason": reason}))
        .collect();
    let last_good = books.good().next().map(|night| night.name.as_str());
    json!({"last_good": last_good, "nights": nights, "damaged": damaged})
}

fn text(books: &Books) -> String {
    let earlier = books.nights.len().saturating_sub(SHOWN);
    let spare = ["exit", "errors"];
    let rows = books.nights.iter().skip(earlier);
    let mut text = table(&columns(), rows, 2, &spare, terminal::table_columns());
    if earlier > 0 {
        text.push_str(&format!(
            "and {} before; --format json has all\n",
            counted(earlier as u64, "night")
        ));
    }
    for (name, reason) in &books.damaged {
        text.push_str(&format!(
            "the record of {name} is damaged: {}\n",
            harmless(reason)
        ));
    }
    match books.good().next() {
        Some(good) => text.push_str(&format!("last good night: {}\n", good.name)),
        None => text.push_str("there is no good night\n"),
    }
    text
}

fn columns() -> [Column<'static, BookedNight>; 7] {
    let known = |figure: Option<u64>| figure.map_or_else(|| "–".to_owned(), count);
    let figure = |figure: fn(&RunFigures) -> u64| {
        move |night: &BookedNight| known(night.record.figures.as_ref().map(figure))
    };
    [
        column("Night", |night: &BookedNight| night.name.to_string()),
        column("state", |night: &BookedNight| {
            night.record.state.word().to_owned()
        }),
        column("exit", move |night: &BookedNight| {
            known(night.record.exit_code.map(u64::from))
        }),
        column("conversations", figure(|figures| figures.conversations)),
        column("rejects", figure(|figures| figures.rejects)),
        column("errors", figure(|figures| figures.errors)),
        column("dataset", |night: &BookedNight| {
            let dataset = match (&night.record.figures, night.record.is_removed) {
                (_, true) => "removed",
                (Some(_), false) => "kept",
                // A night that failed, or is broken or not done: whatever lies there is no dataset to work with.
                (None, false) => "–",
            };
            dataset.to_owned()
        }),
    ]
}
