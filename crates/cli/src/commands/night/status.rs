//! `chatmill night status`: lists the nights of a store.

use std::path::PathBuf;

use chatmill_report::RunFigures;
use chatmill_report::night::NightRecord;
use clap::Args;
use serde_json::json;

use super::records::{Night, Records, no_store};
use crate::args::ListFormat;
use crate::exit::{Exit, Outcome};
use crate::figures::{count, counted};
use crate::output::{self, harmless};
use crate::table::{Column, column, table};
use crate::terminal;

/// The number of nights in the table, which are the last ones.
const SHOWN: usize = 40;

/// Arguments of `night status`.
#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    /// Store of `chatmill night`
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Lists the nights. The exit code is 1 if the last night that ended is not good, or if a record is damaged.
pub(super) fn execute(arguments: &StatusArguments) -> Outcome<Exit> {
    let records = Records::find(&arguments.store)?.ok_or_else(|| {
        no_store(&arguments.store)
            .then("`chatmill night PIPELINE.toml --store DIR` creates a store and makes its first run")
    })?;
    match arguments.format {
        ListFormat::Text => output::print(&text(&records))?,
        ListFormat::Json => output::print_json(&listing(&records))?,
    }
    let ended = records
        .nights
        .iter()
        .rev()
        .find(|night| night.record.ended_at.is_some());
    let is_good = ended.is_none_or(|night| night.record.state.is_good());
    Ok(Exit::complete_if(is_good && records.unreadable.is_empty()))
}

fn listing(records: &Records) -> serde_json::Value {
    let nights: Vec<&NightRecord> = records.nights.iter().map(|night| &night.record).collect();
    let unreadable: Vec<_> = records
        .unreadable
        .iter()
        .map(|(name, reason)| json!({"night": name.as_str(), "reason": reason}))
        .collect();
    let last_good = records.good().next().map(|night| night.name.as_str());
    json!({"last_good": last_good, "nights": nights, "damaged": unreadable})
}

fn text(records: &Records) -> String {
    let earlier = records.nights.len().saturating_sub(SHOWN);
    let spare = ["exit", "errors"];
    let rows = records.nights.iter().skip(earlier);
    let mut text = table(&columns(), rows, 2, &spare, terminal::table_columns());
    if earlier > 0 {
        text.push_str(&format!(
            "and {}; --format json lists all\n",
            counted(earlier as u64, "earlier run")
        ));
    }
    for (name, reason) in &records.unreadable {
        text.push_str(&format!(
            "the record of {name} is damaged: {}\n",
            harmless(reason)
        ));
    }
    match records.good().next() {
        Some(good) => text.push_str(&format!("last good run: {}\n", good.name)),
        None => text.push_str("there is no good run\n"),
    }
    text
}

fn columns() -> [Column<'static, Night>; 7] {
    let known = |figure: Option<u64>| figure.map_or_else(|| "–".to_owned(), count);
    let figure = |figure: fn(&RunFigures) -> u64| {
        move |night: &Night| known(night.record.figures.as_ref().map(figure))
    };
    [
        column("Night", |night: &Night| night.name.to_string()),
        column("state", |night: &Night| night.record.state.word().to_owned()),
        column("exit", move |night: &Night| {
            known(night.record.exit_code.map(u64::from))
        }),
        column("conversations", figure(|figures| figures.conversations)),
        column("rejects", figure(|figures| figures.rejects)),
        column("errors", figure(|figures| figures.errors)),
        column("dataset", |night: &Night| {
            let dataset = match (&night.record.figures, night.record.is_removed) {
                (_, true) => "removed",
                (Some(_), false) => "kept",
                // The night failed, is damaged or is not done: it has no usable dataset.
                (None, false) => "–",
            };
            dataset.to_owned()
        }),
    ]
}
