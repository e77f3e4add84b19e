//! Cases of dialects: each `<subject>/<what happens>.md` beside this file is a test of its own.
//!
//! A case says in a block of `json` what a conversation holds, as `conversation.rs` reads it, and in a block of `console` below it
//! commands, each after `$ `, and what they give: `DIALECT`, and what is done otherwise than by default, keys of the policy,
//! `as=PARTICIPANT` (`as=-`, nobody), `history=MESSAGES|all`, `window=START..END/LEARNED`. A rendering is its text and lines after `> `; what
//! several conversations show has several pairs of blocks. `BLESS=1` writes anew what commands give otherwise.
//!
//! What draws its inputs, holds for everything of a registry or looks at something else than renderings is a test in `../dialects/`.
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

use chatmill_golden::check;
use chatmill_model::Linked;
use libtest_mimic::{Arguments, Trial};

const FENCE: &str = "```";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut trials = Vec::new();
    for subject in entries(&root).iter().filter(|path| path.is_dir()) {
        for path in entries(subject) {
            let name = path.strip_prefix(&root).unwrap().with_extension("");
            let name = name.display().to_string();
            trials.push(Trial::test(name, move || {
                let written = fs::read_to_string(&path).unwrap();
                Ok(check(&path, &replayed(&written)?)?)
            }));
        }
    }
    assert!(!trials.is_empty());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The text of a case with what its commands give now.
fn replayed(written: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut linked: Option<Linked> = None;
    let mut lines = written.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(kind) = line.strip_prefix(FENCE) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != FENCE).collect();
        match kind {
            "json" => {
                linked = Some(conversation::read(&block.join("\n"))?);
                out.push_str(&block.join("\n"));
                out.push('\n');
            }
            "console" => {
                let linked = linked
                    .as_ref()
                    .ok_or("a conversation stands before its renderings")?;
                for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                    out.push_str(&format!("$ {command}\n"));
                    out.push_str(&rendering::render(command, linked)?);
                }
            }
            _ => return Err(format!("no block is called {kind}")),
        }
        out.push_str(FENCE);
        out.push('\n');
    }
    Ok(out)
}
