//! Puts a word into every field of every source, and looks for it in all output of every command under `--no-content`.
//!
//! The samples of the sources are taken apart: in each copy, every fifth text, or every third key, contains the word. A few of the copies
//! of a source are drawn; `CHATMILL_DRAWS=100` takes all.

use std::fs;
use std::path::{Path, PathBuf};

use chatmill_drawn::{cases, random};
use chatmill_workshop::TestDir;
use serde_json::{Map, Value};

use crate::test_dir::{RunChatmill, end};

const CANARY: &str = "Xanthoria";

/// The number of copies of a sample with the word in texts.
const TEXTS: usize = 5;

/// The number of copies with the word in keys.
const KEYS: usize = 3;

/// The texts or keys with the word in a copy.
#[derive(Clone, Copy)]
enum Marked {
    Texts(usize),
    Keys(usize),
}

fn marked(value: &Value, what: Marked, met: &mut usize) -> Value {
    let mut turn = |number: usize, of: usize| {
        *met += 1;
        *met % of == number
    };
    match value {
        Value::String(text) => match what {
            // The word alone replaces a value that a field allows; as a suffix it keeps different ids different.
            Marked::Texts(number) if turn(number, TEXTS) => {
                let is_alone = number % 2 == 0;
                Value::String(if is_alone {
                    CANARY.to_owned()
                } else {
                    format!("{text}{CANARY}")
                })
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| marked(item, what, met)).collect(),
        Value::Object(fields) => {
            let mut copy = Map::new();
            for (key, value) in fields {
                *met += 1;
                let key = match what {
                    Marked::Keys(number) if *met % KEYS == number => format!("{key}{CANARY}"),
                    _ => key.clone(),
                };
                copy.insert(key, marked(value, what, met));
            }
            Value::Object(copy)
        }
        _ => value.clone(),
    }
}

/// Samples of every source, with the word in them.
fn test_dir() -> TestDir {
    let test_dir = TestDir::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let mut random = random(1);
    let mut written = 0;
    let mut sources = 0;
    let folders = fs::read_dir(samples).unwrap();
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for source in folders {
        let mut copies = Vec::new();
        for path in json_files(&source) {
            let text = fs::read_to_string(&path).unwrap();
            if let Ok(sample) = serde_json::from_str::<Value>(&text) {
                let texts = (0..TEXTS).map(Marked::Texts);
                let marks = texts.chain((0..KEYS).map(Marked::Keys));
                copies.extend(marks.map(|mark| (sample.clone(), mark)));
            }
        }
        let mut left = cases(2);
        while left > 0 && !copies.is_empty() {
            let (sample, mark) = copies.swap_remove(random.below(copies.len()));
            let copy = marked(&sample, mark, &mut 0).to_string();
            if copy.contains(CANARY) {
                left -= 1;
                written += 1;
                test_dir.write(&format!("in/{written}.json"), copy);
            }
        }
        sources += 1;
        assert!(left < cases(2), "nothing of {}", source.display());
    }
    assert!(written > sources, "only {written} copies of {sources} sources");
    test_dir.pipeline();
    test_dir
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = files_below(folder);
    files.retain(|path| {
        let name = path.to_string_lossy();
        path.extension().is_some_and(|ending| ending == "json") && !name.contains(".expected.")
    });
    files.sort();
    files
}

fn assert_silent(what: &str, text: &str) {
    let told = text.lines().find(|line| line.contains(CANARY));
    assert!(told.is_none(), "{what} tells:\n{}", told.unwrap_or_default());
}

fn assert_folder_silent(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert_silent(&path.display().to_string(), &text);
        files += 1;
    }
    files
}

#[test]
fn no_report_of_a_check_tells_a_field_of_any_source() {
    let test_dir = test_dir();
    let formats = [
        "full", "concise", "grouped", "json", "jsonl", "csv", "junit", "sarif", "github", "gitlab",
        "manifest", "html",
    ];
    let mut arguments: Vec<String> = ["check", "in", "--no-content", "--no-paths", "-vv"]
        .map(str::to_owned)
        .to_vec();
    for target in ["openai-chat", "group-chat", "gemini-contents"] {
        arguments.extend(["--for".to_owned(), target.to_owned()]);
    }
    fs::create_dir(test_dir.path("reports")).unwrap();
    for format in formats {
        arguments.extend(["--write".to_owned(), format!("{format}=reports/{format}")]);
    }
    arguments.extend(["--write".to_owned(), "letters=letters".to_owned()]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let check = end(test_dir.chatmill(&arguments));
    assert_eq!(check.code, 1, "{}", check.stderr);
    assert_silent("stdout", &check.stdout);
    assert_silent("stderr", &check.stderr);
    assert_eq!(assert_folder_silent(&test_dir.path("reports")), formats.len());
    assert!(assert_folder_silent(&test_dir.path("letters")) > 1);
    let loud = end(test_dir.chatmill(&["check", "in", "--format", "jsonl"]));
    let told = loud.stdout.lines().filter(|line| line.contains(CANARY));
    let (told, copies) = (told.count(), fs::read_dir(test_dir.path("in")).unwrap().count());
    assert!(
        3 * told > copies,
        "{told} in {copies}: the samples must be worth hiding"
    );
}

#[test]
fn no_other_command_tells_a_field_of_any_source() {
    let test_dir = test_dir();
    let run = end(test_dir.chatmill(&["run", "pipeline.toml", "--no-content", "-vv"]));
    assert!(run.code < 2, "{}", run.stderr);
    assert_silent("run", &run.stdout);
    assert_silent("run", &run.stderr);
    let out = test_dir.path("out");
    let derived = [
        "report.html",
        "report.json",
        "README.md",
        "run.json",
        "manifest.json",
    ];
    for file in derived {
        assert_silent(file, &fs::read_to_string(out.join(file)).unwrap());
    }
    let loud = ["run", "pipeline.toml", "--out", "loud", "--limit", "200"];
    assert!(end(test_dir.chatmill(&loud)).code < 2);
    let told = fs::read_to_string(test_dir.path("loud/report.json")).unwrap();
    assert!(told.contains(CANARY), "the samples must be worth hiding");
    assert_eq!(
        end(test_dir.chatmill(&["report", "loud", "--against", "out", "--times", "--no-content"])).code,
        0
    );
    for file in ["report.html", "report.json", "README.md"] {
        assert_silent(
            file,
            &fs::read_to_string(test_dir.path("loud").join(file)).unwrap(),
        );
    }
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["init", "in"],
        vec!["inspect", "in"],
        vec!["inspect", "in", "--format", "json"],
        vec!["certify", "out"],
        vec![
            "export",
            "out",
            "--dialect",
            "openai-chat",
            "--format",
            "jsonl",
            "--out",
            "files",
        ],
    ];
    for by in ["conversation", "participant", "tool"] {
        commands.push(vec!["tokens", "out", "--by", by, "--format", "json"]);
    }
    commands.push(vec!["tokens", "in", "--by", "participant", "--format", "csv"]);
    for format in ["text", "json", "markdown"] {
        commands.push(vec!["diff", "loud", "out", "--format", format]);
    }
    for command in commands {
        let arguments = [
            command.as_slice(),
            &["--no-content", "-vv", "--log-format", "json"],
        ]
        .concat();
        let ended = end(test_dir.chatmill(&arguments));
        assert!(ended.code < 2, "{arguments:?}: {}", ended.stderr);
        assert_silent(&arguments.join(" "), &ended.stdout);
        assert_silent(&arguments.join(" "), &ended.stderr);
    }
}

#[test]
fn no_note_of_a_night_tells_a_field_of_any_source() {
    let test_dir = test_dir();
    let whole = fs::read_to_string(test_dir.path("pipeline.toml")).unwrap();
    let part = whole.replace("in/*", "in/1*");
    assert_ne!(part, whole);
    for (store, switch) in [
        ("masked", "--no-content"),
        ("numbered", "--set=output.quote=false"),
    ] {
        for (instant, pipeline) in [("2026-11-01T02:15:00Z", &part), ("2026-11-02T02:15:00Z", &whole)] {
            test_dir.write("pipeline.toml", pipeline);
            let night = [
                "night",
                "pipeline.toml",
                "--store",
                store,
                "--at",
                instant,
                switch,
                "-vv",
            ];
            let night = end(test_dir.chatmill(&night));
            assert!(night.code < 2, "{}", night.stderr);
            assert_silent("stdout", &night.stdout);
            assert_silent("stderr", &night.stderr);
            // All rejects are allowed, so that a night is good: a night is compared with good ones only.
            let name = instant.replace(':', "");
            let accept = ["night", "accept", &name, "--store", store];
            assert_eq!(end(test_dir.chatmill(&accept)).code, 0);
        }
        let mut told = String::new();
        for path in files_below(&test_dir.path(store)) {
            // Tables contain the chats themselves.
            if path.extension().is_none_or(|ending| ending != "parquet") {
                let text = fs::read_to_string(&path).unwrap();
                assert_silent(&path.display().to_string(), &text);
                told.push_str(&text);
            }
        }
        assert!(told.contains("\"grown\": [\n    {"), "{store}: nothing grew");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}
