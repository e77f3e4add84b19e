//! Runs the commands of README.md and of the pages in `docs` and `examples` in order, and compares the output with that on the page.
//!
//! A page starts in a folder with `data-samples`, `docs`, `examples` and `pipelines`, like a clone. A block of `console` is a transcript,
//! as in a case; the commands in a block of `sh` must succeed. A named block is added at the end of the file of that name. `<!-- not run:
//! WHY -->` before a block skips it, and the programs of [`NOT_RUN`] do nothing.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;

use chatmill_golden::{check, entries, with_blocks};
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::{shell, transcript};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const MARK: &str = "<!-- not run: ";

/// Programs on the pages that a test cannot run, and the reasons.
const NOT_RUN: &[(&str, &str)] = &[
    ("duckdb", "not every machine has it"),
    ("just", "its chores need the network, or take minutes"),
    ("man", "not every machine has it"),
    ("pip", "the tests of the wheel install it"),
];

/// Makes `cargo run --release -- ARGUMENTS` run the tested program; other calls of `cargo` do nothing, since this test is part of them.
const CARGO: &str = r#"cargo() { [ "$1 $2 $3" = "run --release --" ] || return 0; shift 3; chatmill "$@"; }"#;

/// A test for each page that shows a command.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    let root = Path::new(ROOT);
    let examples = entries(&root.join("examples")).into_iter();
    let examples = examples.filter(|path| path.is_dir());
    let pages = entries(&root.join("docs"))
        .into_iter()
        .chain(examples.flat_map(|folder| entries(&folder)))
        .chain([root.join("README.md")]);
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.map(move |path| {
        let name = path.strip_prefix(root).unwrap().with_extension("");
        Trial::test(format!("manual/{}", name.display()), move || Ok(replay(&path)?))
    })
}

fn replay(path: &Path) -> Result<(), String> {
    let page = fs::read_to_string(path).unwrap();
    let folder = TempDir::new().unwrap();
    let work = folder.path().canonicalize().unwrap().join("work");
    fs::create_dir(&work).unwrap();
    for read in ["data-samples", "docs"] {
        symlink(Path::new(ROOT).join(read), work.join(read)).unwrap();
    }
    // Copies, because pipelines write next to their folder.
    shell(&work, &format!("cp -R '{ROOT}/pipelines' '{ROOT}/examples' ."));
    let functions = NOT_RUN
        .iter()
        .map(|(program, _)| format!("{program}() {{ :; }}\n"));
    let functions = functions.collect::<String>() + CARGO;
    let run = |commands: &str| {
        // The home of the reader is the folder of the test.
        shell(&work, &format!("HOME=$PWD\n{functions}\n{commands}"))
    };
    let mut marks = marks(&page).into_iter();
    let happened = with_blocks(&page, |fence, block| {
        let text: String = block.iter().map(|line| format!("{line}\n")).collect();
        if marks.next().unwrap() {
            return Ok(text);
        }
        match fence.split_once(' ').unwrap_or((fence, "")) {
            ("console", _) => return Ok(transcript(block, run)),
            ("sh", _) => succeeds(&text, &run(&format!("set -e\n{text}")))?,
            ("bash" | "shell" | "shell-session", _) => {
                return Err("a block of commands is `sh`, or `console` with their output".to_owned());
            }
            (_, "") => {}
            (_, file) => {
                let mut options = OpenOptions::new();
                let opened = options.create(true).append(true).open(work.join(file));
                opened.unwrap().write_all(text.as_bytes()).unwrap();
            }
        }
        Ok(text)
    })?;
    check(path, &happened)
}

fn succeeds(commands: &str, printed: &[String]) -> Result<(), String> {
    if printed.first().is_some_and(|line| line.starts_with("? ")) {
        return Err(format!("{commands}{}", printed.join("\n")));
    }
    Ok(())
}

/// Whether each block of a page is marked as not run.
fn marks(page: &str) -> Vec<bool> {
    let mut lines = page.lines();
    let mut marks = Vec::new();
    let mut above = "";
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            marks.push(above.starts_with(MARK));
            lines.by_ref().find(|line| *line == "```");
        }
        above = line;
    }
    marks
}
