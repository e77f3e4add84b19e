//! Repository chores: `cargo xtask CHORE`. One file each; a chore that finds something wrong names it and exits 1.
#![expect(
    clippy::disallowed_methods,
    reason = "chores read and write the repository itself"
)]

mod allowances;
mod chaos;
mod counts;
mod dialect_rules;
mod floors;
mod format_groups;
mod fuzz;
mod generated;
mod idioms;
mod judged;
mod links;
mod modules;
mod picture;
mod prose;
mod ranks;
mod readme;
mod rules;
mod schemas;
mod settings;
mod sizes;
mod sources;
mod tables;
mod templates;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use generated::Mode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  floors                    imports go strictly downward; who may name files and decompressors
  sizes                     no file over 600 lines without its tests; code of a crate within xtask/allowances.txt
  counts  --check|--write   neighbours, names of types, public items and silent defaults within xtask/counts.txt
  words   [--check|--write] private words and idioms within xtask/words-allowed.txt; the idioms by place, and counted by crate
  links                     links of pages lead to files and headings; docs/SUMMARY.md lists every page
  rules   --check|--write   docs/rules, from the diagnostic codes
  readme  --check|--write   the tables of README.md and of the pages in docs, from the registries; the picture, from the demo
  schemas --check|--write   schemas/*.schema.json and docs/settings.md, from the types
  judged  CONVERSATIONS     what the judges of `just oracles` look at: samples and generated conversations, rendered
  templates FOLDER CONVERSATIONS
                            each Jinja file of a folder with each conversation of a JSON file, as JSON lines
  ranks   FOLDER            the embedded vocabularies as rank files, for the peers of `just bench-whole`
  chaos   KILLS [SEED]      kills runs at random moments and compares what they leave
  fuzz    SECONDS [SEED]    mutations of corpus and samples against every fuzz target";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments, &root()) {
        Ok(output) => {
            println!("{output}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str], root: &Path) -> Result<String> {
    match arguments {
        ["floors"] => floors::run(root),
        ["floors", "--modules"] => modules::run(root),
        ["sizes"] => sizes::run(root),
        ["counts", mode] => counts::run(root, Mode::parse(mode)?),
        ["words"] => words::run(root, None),
        ["words", mode] => words::run(root, Some(Mode::parse(mode)?)),
        ["links"] => links::run(root),
        ["rules", mode] => rules::run(root, Mode::parse(mode)?),
        ["readme", mode] => readme::run(root, Mode::parse(mode)?),
        ["schemas", mode] => schemas::run(root, Mode::parse(mode)?),
        ["judged", conversations] => judged::run(root, conversations),
        ["templates", folder, conversations] => templates::run(folder, conversations),
        ["ranks", folder] => ranks::run(folder),
        ["chaos", kills] => chaos::run(root, kills, None),
        ["chaos", kills, seed] => chaos::run(root, kills, Some(seed)),
        ["fuzz", seconds] => fuzz::run(root, seconds, None),
        ["fuzz", seconds, seed] => fuzz::run(root, seconds, Some(seed)),
        _ => bail!("{USAGE}"),
    }
}

/// Returns the given seed, else one from the process id. A campaign prints it, so that it can be repeated.
fn seed(given: Option<&str>) -> Result<u64> {
    match given {
        Some(text) => text.parse().context("SEED must be a whole number"),
        None => Ok(u64::from(std::process::id())),
    }
}

/// Returns a command of the cargo that runs this program, in the folder of the workspace.
fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// Returns the folder of the workspace.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}
