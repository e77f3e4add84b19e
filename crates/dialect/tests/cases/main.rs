//! Cases of dialects: each `<subject>/<what happens>.md` next to this file is a test.
//!
//! A case has a conversation in a block of `json`, which `conversation.rs` reads, followed by a block of `console` with commands, each
//! after `$ `, and their output; a case may have several pairs of blocks. A command is `DIALECT` and the settings that differ from the
//! default: keys of the policy, `as=PARTICIPANT` (`as=-` for no perspective), `history=MESSAGES|all`, `window=START..END/LEARNED`. Its
//! output is the text of each rendering, and lines after `> `. `ranges` shows the windows of a conversation (`gap=HOURS`,
//! `mode=turns|exchanges`, `targets=steps`), and `starts` where they may begin. `BLESS=1` writes the output of all commands anew.
//!
//! Tests with generated inputs, tests of a whole registry and tests of something other than renderings are in `../dialects/`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::format_push_string,
    clippy::single_match_else,
    missing_docs
)]

mod conversation;
mod rendering;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chatmill_golden::{check, pages, with_blocks};
use chatmill_model::Linked;
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let trial = |(name, path): (String, PathBuf)| {
        Trial::test(name, move || {
            let written = fs::read_to_string(&path).unwrap();
            Ok(check(&path, &replayed(&written)?)?)
        })
    };
    let trials: Vec<Trial> = pages(&root).into_iter().map(trial).collect();
    assert!(!trials.is_empty());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Returns the text of a case with the current output of its commands.
fn replayed(written: &str) -> Result<String, String> {
    let mut linked: Option<Linked> = None;
    with_blocks(written, |kind, block| match kind {
        "json" => {
            let json = block.join("\n");
            linked = Some(conversation::read(&json)?);
            Ok(json + "\n")
        }
        "console" => {
            let linked = linked
                .as_ref()
                .ok_or("a conversation stands before its renderings")?;
            let commands = block.iter().filter_map(|line| line.strip_prefix("$ "));
            let reports = commands.map(|command| {
                let is_cut = command.starts_with("ranges") || command.starts_with("starts");
                let comes_of = if is_cut {
                    rendering::ranges
                } else {
                    rendering::render
                };
                let rendered = comes_of(command, linked)?;
                Ok(format!("$ {command}\n{rendered}"))
            });
            reports.collect()
        }
        _ => Err(format!("no block is called {kind}")),
    })
}
