//! Repository chores: `cargo xtask CHORE`. One file each; a chore that finds something wrong names it and exits 1.
#![expect(
    clippy::disallowed_methods,
    reason = "chores read and write the repository itself"
)]

mod floors;
mod generated;
mod readme;
mod rules;
mod schemas;
mod sizes;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use generated::Mode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  floors                    imports go strictly downward; who may name files and decompressors
  sizes                     no file over 600 lines without its tests
  rules   --check|--write   docs/rules, from the diagnostic codes
  readme  --check|--write   the tables of README.md, from the registries
  schemas --check|--write   schemas/pipeline.schema.json, from the types";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments, &root()) {
        Ok(said) => {
            println!("{said}");
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
        ["sizes"] => sizes::run(root),
        ["rules", mode] => rules::run(root, Mode::parse(mode)?),
        ["readme", mode] => readme::run(root, Mode::parse(mode)?),
        ["schemas", mode] => schemas::run(root, Mode::parse(mode)?),
        _ => bail!("{USAGE}"),
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}
