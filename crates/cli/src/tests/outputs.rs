//! The arguments of each command that are written to, and a test that none of them writes into a folder that chatmill made.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_engine::Silent;
use chatmill_workshop::TestDir;
use clap::builder::ValueParser;
use clap::{Command, CommandFactory};

use crate::commands::Cli;
use crate::{Answer, Exit, answer};

/// What a command writes at the path of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Writes {
    /// Creates a folder.
    Folder,
    /// Creates a file.
    File,
    /// Creates a file or folder; the path follows a word: `json=FILE`.
    Report(&'static str),
    /// Replaces derived files in a folder, which must be of this kind.
    Within(&'static str),
}
use Writes::{File, Folder, Report, Within};

/// A command, the arguments with paths that it reads, and those with paths that it writes.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, Writes)],
);

/// All commands. A new argument that names a file or a folder is added here.
const TABLE: &[Row] = &[
    (
        "run",
        &["PIPELINE.toml", "--input"],
        &[("--out", Folder), ("--dropped", File)],
    ),
    ("plan", &["PIPELINE.toml", "--input"], &[("--out", Folder)]),
    ("work", &[], &[("DIR", Within("staging"))]),
    ("status", &["DIR"], &[]),
    ("finish", &[], &[("DIR", Within("staging"))]),
    (
        "convert",
        &[
            "IN",
            "--source",
            "--pipeline",
            "--valid-for",
            "--split-like",
            "--split-against",
        ],
        &[("--out", Folder), ("--dropped", File)],
    ),
    ("night", &["PIPELINE.toml", "--input"], &[("--store", Folder)]),
    ("night status", &["--store"], &[]),
    ("night accept", &[], &[("--store", Within("nights"))]),
    (
        "check",
        &["PATH", "--source", "--pipeline", "--config", "--baseline"],
        &[("--write", Report("json")), ("--write", Report("letters"))],
    ),
    ("render", &["PATH", "--template", "--source", "--pipeline"], &[]),
    ("tokens", &["PATH", "--source", "--pipeline", "--prices"], &[]),
    ("inspect", &["PATH", "--source", "--pipeline"], &[]),
    ("show", &["PATH", "--source", "--pipeline"], &[("--out", File)]),
    ("init", &["PATH"], &[]),
    ("example", &[], &[]),
    (
        "report",
        &["--against", "--prices"],
        &[("RUN", Within("out")), ("--store", Within("nights"))],
    ),
    (
        "export",
        &["RUN", "--valid-for", "--split-like", "--split-against"],
        &[("--out", Folder), ("--dropped", File)],
    ),
    ("diff", &["RUN_A", "RUN_B", "--prices"], &[]),
    ("certify", &["RUN"], &[]),
    ("sources", &[], &[]),
    ("dialects", &[], &[]),
    ("rules", &[], &[]),
    ("encodings", &["--pipeline"], &[]),
    ("explain", &[], &[]),
    ("schema", &[], &[]),
    ("completions", &[], &[]),
    ("man", &[], &[]),
];

/// Value names in the help that mean a path.
const PATHS: [&str; 10] = [
    "FILE", "DIR", "PATH", "IN", "RUN", "OLD", "EXPORT", "TEMPLATE", "toml", "STORE",
];

/// The arguments of a command that name files or folders, as its help shows them.
fn arguments_with_paths(command: &Command) -> Vec<String> {
    let path = ValueParser::path_buf().type_id();
    let arguments = command.get_arguments().filter(|argument| {
        let names = argument.get_value_names().unwrap_or_default();
        let mut words = names
            .iter()
            .flat_map(|name| name.split(|sign: char| !sign.is_ascii_alphabetic()));
        let is_path =
            argument.get_value_parser().type_id() == path || words.any(|word| PATHS.contains(&word));
        is_path && argument.get_action().takes_values() && !argument.is_global_set()
    });
    let shown = arguments.map(|argument| match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => argument.get_value_names().unwrap()[0].to_string(),
    });
    shown.collect()
}

fn commands(above: &str, command: &Command, found: &mut Vec<(String, Vec<String>)>) {
    for command in command.get_subcommands() {
        let name = format!("{above}{}", command.get_name());
        found.push((name.clone(), arguments_with_paths(command)));
        commands(&format!("{name} "), command, found);
    }
}

#[test]
fn every_argument_with_a_path_is_known_to_be_read_or_written() {
    let mut found = Vec::new();
    commands("", &Cli::command(), &mut found);
    let mut rows = Vec::new();
    for (command, reads, writes) in TABLE {
        let mut arguments: Vec<&str> = writes.iter().map(|(argument, _)| *argument).collect();
        arguments.dedup();
        arguments.extend(*reads);
        arguments.sort_unstable();
        rows.push((
            (*command).to_owned(),
            arguments.into_iter().map(str::to_owned).collect(),
        ));
    }
    rows.sort();
    for (_, arguments) in &mut found {
        arguments.sort_unstable();
    }
    found.sort();
    assert_eq!(found, rows);
}

/// A folder of each kind that chatmill makes: `out`, `export`, `nights`, and `staging` of a planned run.
fn place_with_each() -> TestDir {
    let place = TestDir::new();
    let chat =
        r#"{"id":"c1","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]}"#;
    place.write("in/a.jsonl", format!("{chat}\n"));
    let at = |name: &str| place.path(name).to_str().unwrap().to_owned();
    place.write(
        "p.toml",
        "name = \"p\"\n[[input]]\npath = \"in\"\n[output]\npath = \"free/usual\"\n[render]\ndialects = [\"hf-messages\"]\n",
    );
    for words in [
        &[
            "run",
            &at("p.toml"),
            "--set",
            "name=\"another\"",
            "--out",
            &at("out"),
        ][..],
        &[
            "export",
            &at("out"),
            "--dialect",
            "hf-messages",
            "--format",
            "jsonl",
            "--out",
            &at("export"),
        ],
        &["night", &at("p.toml"), "--store", &at("nights")],
        &["plan", &at("p.toml"), "--out", &at("planned")],
    ] {
        let made = ask(words);
        assert_eq!(made.exit, Exit::Complete, "{words:?}: {:?}", made.error);
    }
    symlink(".planned.staging", place.path("staging")).unwrap();
    fs::create_dir(place.path("free")).unwrap();
    place
}

const OWN: [&str; 4] = ["out", "export", "nights", "staging"];

fn ask(words: &[impl AsRef<str>]) -> Answer {
    let words = words.iter().map(|word| OsString::from(word.as_ref())).collect();
    answer(words, Arc::new(Silent), Arc::default())
}

/// A call of a command that writes to this path by one argument, and to free paths by all others.
fn call(place: &TestDir, command: &str, argument: &str, writes: Writes, path: &Path) -> Vec<String> {
    let at = |name: &str| place.path(name).to_str().unwrap().to_owned();
    let rest = match command {
        "run" | "plan" | "night" => vec![at("p.toml")],
        "work" => vec!["--shard".to_owned(), "1/1".to_owned()],
        "convert" => vec![at("in/a.jsonl"), "--to".to_owned(), "trl-messages".to_owned()],
        "night accept" => vec!["2026-11-22T021500Z".to_owned()],
        "check" | "show" => vec![at("in")],
        "export" => ["--dialect", "hf-messages", "--format", "jsonl"]
            .map(str::to_owned)
            .into_iter()
            .chain([at("out")])
            .collect(),
        _ => Vec::new(),
    };
    let shown = path.to_str().unwrap().to_owned();
    let value = match writes {
        Report(word) => format!("{word}={shown}"),
        _ => shown,
    };
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    words.extend(rest);
    if argument.starts_with("--") {
        words.push(argument.to_owned());
    }
    words.push(value);
    if ["convert", "export"].contains(&command) && argument != "--out" {
        words.extend(["--out".to_owned(), at("free/files")]);
    }
    words
}

/// Every file and folder below a folder, with its bytes; links are not followed.
fn listing(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            listing(&path, found);
            found.insert(path, Vec::new());
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.insert(path, bytes);
        }
    }
}

fn all(place: &TestDir) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    listing(&place.path(""), &mut found);
    found
}

/// Paths inside a folder that chatmill made, and in its first folder: new paths, existing files, the folder itself, and the same through
/// links.
fn targets(place: &TestDir, own: &str) -> Vec<PathBuf> {
    let root = place.path(own);
    let entries = |folder: &Path, is_wanted: fn(&PathBuf) -> bool| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(is_wanted).min()
    };
    let link = place.path(&format!("link-{own}"));
    symlink(&root, &link).unwrap();
    let mut targets = vec![
        root.clone(),
        link.clone(),
        root.join("new"),
        root.join("new/deeper"),
        link.join("new"),
    ];
    targets.extend(entries(&root, |path| path.is_file()));
    if let Some(below) = entries(&root, |path| path.is_dir()) {
        let link = place.path(&format!("link-below-{own}"));
        symlink(&below, &link).unwrap();
        targets.extend([below.join("new"), link.join("new"), link.join("../new")]);
        targets.extend(entries(&below, |path| path.is_file()));
    }
    targets
}

/// The arguments that are written to, and the key of the pipeline file.
fn written() -> impl Iterator<Item = (&'static str, &'static str, Writes)> {
    TABLE.iter().flat_map(|(command, _, writes)| {
        let writes = writes.iter();
        writes.map(|(argument, writes)| (*command, *argument, *writes))
    })
}

#[test]
fn every_output_is_written_at_a_free_place() {
    let place = place_with_each();
    for (number, (command, argument, writes)) in written().enumerate() {
        if matches!(writes, Within(_)) {
            continue;
        }
        let path = place.path(&format!("free/{number}"));
        let words = call(&place, command, argument, writes, &path);
        let done = ask(&words);
        assert_eq!(done.exit, Exit::Complete, "{words:?}: {:?}", done.error);
        // A plan is next to its dataset.
        assert!(path.exists() || command == "plan", "{words:?}");
        drop(fs::remove_dir_all(place.path("free/files")));
    }
}

#[test]
fn no_output_is_written_into_a_folder_that_chatmill_made() {
    let place = place_with_each();
    let targets: Vec<(&str, PathBuf)> = OWN
        .into_iter()
        .flat_map(|own| targets(&place, own).into_iter().map(move |path| (own, path)))
        .collect();
    let before = all(&place);
    let mut tried = 0;
    for (command, argument, writes) in written() {
        for (own, path) in &targets {
            let is_root = [place.path(own), place.path(&format!("link-{own}"))].contains(path);
            // A store may already exist.
            let is_open_to = writes == Within(own) || (command, *own) == ("night", "nights");
            // No folder is created for a file.
            let is_nowhere = matches!(writes, File | Report("json")) && !path.parent().unwrap().exists();
            if is_root && is_open_to || is_nowhere {
                continue;
            }
            let words = call(&place, command, argument, writes, path);
            let refused = ask(&words);
            assert_eq!(refused.exit, Exit::WrongRequest, "{words:?}: {:?}", refused.error);
            tried += 1;
        }
        assert!(all(&place) == before, "{command} {argument}");
    }
    for (_, path) in &targets {
        for command in ["run", "plan"] {
            let key = format!("output.path={:?}", path.to_str().unwrap());
            let words = [command, place.path("p.toml").to_str().unwrap(), "--set", &key].map(str::to_owned);
            assert_eq!(ask(&words).exit, Exit::WrongRequest, "{words:?}");
        }
    }
    assert!(all(&place) == before);
    assert!(tried > 300, "{tried}");
}
