//! `chatmill night status`: the nights of a store.

use std::path::PathBuf;

use chatmill_report::night::NightRecord;
use clap::Args;
use serde_json::json;

use super::books::{BookedNight, Books};
use crate::args::ListFormat;
use crate::exit::{Exit, WrongRequest};
use crate::figures::{count, counted};
use crate::output::{self, harmless};
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
    Ok(if is_good && books.damaged.is_empty() {
        Exit::Complete
    } else {
        Exit::Objection
    })
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
    let header = [
        "Night",
        "state",
        "exit",
        "conversations",
        "rejects",
        "errors",
        "dataset",
    ];
    let earlier = books.nights.len().saturating_sub(SHOWN);
    let rows = books.nights.iter().skip(earlier).map(row).collect();
    let mut text = output::fitted(
        header.map(str::to_owned).to_vec(),
        rows,
        2,
        &["exit", "errors"],
        terminal::table_columns(),
    );
    text.push('\n');
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

fn row(night: &BookedNight) -> Vec<String> {
    let record = &night.record;
    let figure = |figure: Option<u64>| figure.map_or_else(|| "–".to_owned(), count);
    let figures = record.figures.as_ref();
    vec![
        night.name.to_string(),
        record.state.word().to_owned(),
        figure(record.exit_code.map(u64::from)),
        figure(figures.map(|figures| figures.conversations)),
        figure(figures.map(|figures| figures.rejects)),
        figure(figures.map(|figures| figures.errors)),
        match (figures, record.is_removed) {
            (_, true) => "removed",
            (Some(_), false) => "kept",
            // A night that failed, or is broken or not done: whatever lies there is no dataset to work with.
            (None, false) => "–",
        }
        .to_owned(),
    ]
}
