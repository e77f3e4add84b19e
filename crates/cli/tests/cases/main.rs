//! Transcripts of the command line: each `<room>/<what happens>.md` next to this file is a test.
//!
//! A case starts in a folder with the content of `files/`, here and in its room. A named block is a file that is added. A block of
//! `console` contains commands for `sh`, each after `$ `, and below each its output on both streams, beginning with `? CODE` if the exit
//! code is not 0. In the output, `[..]` matches any text in a line, `...` any lines, and `[CWD]` the folder; `$SAMPLES` is `data-samples/`,
//! and `rows DATASET TABLE COLUMN…` prints cells of a table. `BLESS=1` rewrites output that has changed; lines that still match keep their
//! `[..]`. Numbers of seconds always match. The pages for readers are cases, too (`manual.rs`).
//!
//! Tests that draw their inputs, cover a whole registry or send signals are in `../cli/`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::format_push_string,
    clippy::format_collect,
    clippy::disallowed_methods,
    missing_docs
)]

mod manual;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use chatmill_golden::{check, entries, pages, with_blocks};
use libtest_mimic::{Arguments, Trial};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;
use tempfile::TempDir;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [program, dataset, table, columns @ ..] = words.as_slice()
        && program.ends_with("rows")
    {
        for part in entries(&Path::new(dataset).join(table)) {
            print_rows(&part, columns);
        }
        return ExitCode::SUCCESS;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = root.join("files");
    let trial = |(name, path): (String, PathBuf)| {
        let files = files.clone();
        Trial::test(name, move || Ok(replay(&path, &files)?))
    };
    let trials = pages(&root).into_iter().map(trial).chain(manual::trials());
    let trials: Vec<Trial> = trials.collect();
    assert!(!trials.is_empty());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Prints cells of a part of a table, with a line for each row.
fn print_rows(part: &Path, columns: &[String]) {
    let reader = SerializedFileReader::new(fs::File::open(part).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema();
    let column = |name: &String| {
        let mut fields = schema.get_fields().iter();
        fields.find(|field| field.name() == name).unwrap().clone()
    };
    let fields = columns.iter().map(column).collect();
    let wanted = Type::group_type_builder(schema.name())
        .with_fields(fields)
        .build();
    for row in reader.get_row_iter(Some(wanted.unwrap())).unwrap() {
        let row = row.unwrap();
        let cells = row.get_column_iter();
        let cells: Vec<String> = cells
            .map(|(_, cell)| cell.to_string().replace('\n', "\\n"))
            .collect();
        println!("{}", cells.join("  "));
    }
}

/// Runs a case, and compares the output with the expected one.
fn replay(path: &Path, files: &Path) -> Result<(), String> {
    let folder = TempDir::new().unwrap();
    let work = folder.path().canonicalize().unwrap().join("work");
    fs::create_dir(&work).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), folder.path().join("rows")).unwrap();
    for files in [files, &path.with_file_name("files")] {
        if files.is_dir() {
            let copied = shell(&work, &format!("cp -R '{}/.' .", files.display()));
            assert_eq!(copied, [""; 0]);
        }
    }
    let expected = fs::read_to_string(path).unwrap();
    let happened = with_blocks(&expected, |fence, block| {
        let text = if fence == "console" {
            transcript(block, |command| shell(&work, command))
        } else {
            block.iter().map(|line| format!("{line}\n")).collect()
        };
        if let Some((_, name)) = fence.split_once(' ') {
            let file = work.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, &text).unwrap();
        }
        Ok(text)
    })?;
    check(path, &happened)
}

/// A block of commands with their present output.
fn transcript(block: &[&str], printed_by: impl Fn(&str) -> Vec<String>) -> String {
    let commands = block.split(|line| line.starts_with("$ ")).skip(1);
    let typed = block.iter().filter(|line| line.starts_with("$ "));
    let replayed = typed.zip(commands).map(|(typed, printed)| {
        let found = printed_by(&typed[2..]);
        [vec![(*typed).to_owned()], kept(printed, found)].concat()
    });
    replayed.flatten().map(|line| line + "\n").collect()
}

/// The lines that a command prints on both streams, after its exit code if that is not 0.
fn shell(work: &Path, command: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_chatmill")).parent().unwrap();
    let rows = work.parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(work)
        .env("PATH", format!("{}:{}:{path}", program.display(), rows.display()))
        .env(
            "SAMPLES",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../data-samples"),
        )
        .envs([("LC_ALL", "C"), ("HOME", "/nowhere")])
        .env_remove("COLUMNS")
        .env_remove("SLURM_ARRAY_TASK_ID")
        .env_remove("JOB_COMPLETION_INDEX")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace(work.to_str().unwrap(), "[CWD]");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match output.status.code() {
        Some(0) => {}
        Some(code) => lines.insert(0, format!("? {code}")),
        None => lines.insert(0, "? killed".to_owned()),
    }
    lines
}

/// The expected lines if they match the output, and otherwise the output.
fn kept(expected: &[&str], printed: Vec<String>) -> Vec<String> {
    if fits(expected, &printed) {
        return expected.iter().map(|line| (*line).to_owned()).collect();
    }
    let kept = printed.into_iter().map(|line| {
        let same = expected.iter().find(|expected| line_fits(expected, &line));
        same.map_or(line.clone(), |expected| (*expected).to_owned())
    });
    kept.collect()
}

fn fits(expected: &[&str], printed: &[String]) -> bool {
    match expected {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        [line, rest @ ..] => {
            let first = printed.first();
            first.is_some_and(|first| line_fits(line, first)) && fits(rest, &printed[1..])
        }
    }
}

fn line_fits(expected: &str, line: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == line || untimed(expected) == untimed(line),
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            let mut starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.any(|at| line_fits(after, &rest[at..]))
        }),
    }
}

/// A line without the numbers before units of time.
fn untimed(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let units = words[1..]
        .iter()
        .map(|word| matches!(*word, "s" | "ms"))
        .chain([false]);
    let untimed = words
        .iter()
        .zip(units)
        .map(|(word, is_time)| if is_time { "#" } else { word });
    untimed.collect::<Vec<_>>().join(" ")
}
