//! `chatmill report`: writes the reports of a finished dataset again, from its tables.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chatmill_dataset::{Dataset, MANIFEST, is_dataset};
use chatmill_diag::limits::MIB;
use chatmill_report::report::SlowConversation;
use chatmill_report::{CARD, HTML, JSON};
use clap::Args;
use serde::Deserialize;

use super::night::write_page;
use crate::context::Context;
use crate::exit::{self, CommandError, Exit, Outcome, refuse};
use crate::mask::mask;
use crate::output::{self, shown};
use crate::prices::price_file;

/// The summary of a run, in the folder of the dataset.
const RUN_FILE: &str = "run.json";

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/report.txt").trim_end())]
pub(crate) struct Arguments {
    /// Folder of the dataset
    #[arg(value_name = "RUN", required_unless_present = "store")]
    run: Option<PathBuf>,
    /// Store of `chatmill night`: writes the page of all its runs, nights.html, instead of a dataset's reports
    #[arg(long, value_name = "DIR", conflicts_with_all = ["run", "against", "times", "prices"])]
    store: Option<PathBuf>,
    /// An earlier dataset; the reports add what changed since
    #[arg(long, value_name = "OLD")]
    against: Option<PathBuf>,
    /// Adds the conversations that took longest, from run.json; the reports then differ from run to run
    #[arg(long)]
    times: bool,
    /// Prices, to add money: a price file (TOML), or the unchanged list of `LiteLLM` or of models.dev
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Opens the page in the browser
    #[arg(long)]
    open: bool,
}

/// Writes the reports and prints their names.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    if let Some(store) = &arguments.store {
        let page = write_page(store, context)?;
        output::print(&format!("wrote {}\n", shown(&page)))?;
        return finish(arguments, &page);
    }
    let Some(run) = &arguments.run else {
        return Err(CommandError::request("a report needs a dataset or --store"));
    };
    for folder in std::iter::once(run).chain(&arguments.against) {
        refuse_other_folders(folder)?;
    }
    let mut report = chatmill_report::build_report(run, arguments.against.as_deref())?;
    if arguments.times {
        report.add_slowest(slowest(run)?);
    }
    let prices = price_file(arguments.prices.as_deref(), &[], context)?;
    report.add_money(&Dataset::open(run)?, &prices)?;
    if let Some(mask) = mask(context.global)? {
        report.leave_out_content(&mut |id| mask.id(id));
    }
    chatmill_report::save(run, &report)?;
    let page = run.join(HTML);
    output::print(&format!("{}: wrote {HTML}, {JSON} and {CARD}\n", shown(run)))?;
    finish(arguments, &page)
}

fn finish(arguments: &Arguments, page: &Path) -> Outcome<Exit> {
    if arguments.open {
        open(page)?;
    }
    Ok(Exit::Complete)
}

/// The times in the summary of a run.
#[derive(Deserialize)]
struct RunFile {
    slowest: Vec<SlowConversation>,
}

fn slowest(run: &Path) -> Outcome<Vec<SlowConversation>> {
    let path = run.join(RUN_FILE);
    let refused = |reason: String| {
        CommandError::request(format!("--times: {}: {reason}", path.display()))
            .then("a run writes the file; leave out --times where it is gone")
    };
    let text = exit::small_file(&path, MIB, |error| refused(error.to_string()))?;
    let file: RunFile = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    Ok(file.slowest)
}

/// Refuses a folder that is not a finished dataset, with the next step.
pub(crate) fn refuse_other_folders(folder: &Path) -> Outcome<()> {
    if is_dataset(folder)? {
        return Ok(());
    }
    let message = format!("{} is not a dataset: it has no {MANIFEST}", folder.display());
    refuse(
        message,
        "give the folder that `chatmill run` named as its dataset",
    )
}

/// Passes a page to the viewer of the system, without waiting for it.
pub(super) fn open(page: &Path) -> Outcome<()> {
    let viewer = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    Command::new(viewer)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            let doing = format!("cannot start {viewer}; open {} yourself", page.display());
            CommandError::from(error).context(doing)
        })?;
    Ok(())
}
