use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::codes::CODES;
use chatmill_drawn::{cases, random};
use chatmill_engine::Silent;
use chatmill_source::SOURCES;
use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;
use serde_json::Value;

use crate::test_dir::{RunChatmill, end};

/// Sources with a finding in every file, because the format lacks something.
const OF_THEIR_OWN: [(&str, &str); 22] = [
    ("aider-history", "timestamp-naive"),
    ("antigravity", "missing-call-id"),
    ("irc-log", "timestamp-naive"),
    ("kakaotalk-text", "timestamp-naive"),
    ("line-text", "timestamp-naive"),
    ("opencode", "invalid-media-url"),
    ("openhands", "timestamp-naive"),
    ("gemini-cli", "unread-field"),
    ("helpsteer3", "unread-field"),
    ("inspect-log", "unread-field"),
    ("letta", "unread-field"),
    ("matrix", "unread-field"),
    ("opencode", "unread-field"),
    ("openhands", "unread-field"),
    ("otel-genai", "unread-field"),
    ("signal-text", "timestamp-naive"),
    ("swe-agent", "unread-field"),
    ("tau2-bench", "timestamp-naive"),
    ("ultrafeedback", "unread-field"),
    ("whatsapp-text", "timestamp-naive"),
    ("xlam", "missing-call-id"),
    ("xlam", "unanswered-call"),
];

/// Sources that are read only if a plan names them, and never detected.
const UNRECOGNISED: &[&str] = &["mapped"];

/// Findings that occur only together with another one.
const COMPANIONS: &[(&str, &str)] = &[
    // Only a cached block can repeat the messages before it.
    ("history-repeated", "cached-block"),
    // A stream without its beginning has no response either.
    ("orphan-chunk", "unfinished-stream"),
    // Two conversations contradict each other only under the same id.
    ("conflicting-message", "duplicate-conversation-id"),
    ("contradicting-roster", "duplicate-conversation-id"),
    ("reference-elsewhere", "duplicate-conversation-id"),
    // A reference to another conversation is not found in this one.
    ("reference-elsewhere", "dangling-reference"),
];

/// Writes the output of `example` into a file, since some of it is not text, and archives are read from files.
fn example(test_dir: &TestDir, arguments: &[&str]) -> PathBuf {
    let mut command = test_dir.chatmill(&["example"]);
    let output = command.args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    let path = test_dir.path("example");
    fs::write(&path, output.stdout).unwrap();
    path
}

fn checked(test_dir: &TestDir, arguments: &[&str]) -> Value {
    let mut command = test_dir.chatmill(&["check", "--format", "json"]);
    command.args(arguments);
    serde_json::from_str(&end(command).stdout).unwrap()
}

/// The report of a check on a file, made in this process.
fn looked_at(path: &Path) -> Value {
    let words = ["check".into(), "--format".into(), "json".into(), path.into()];
    let answer = chatmill_cli::answer(words.to_vec(), Arc::new(Silent), Arc::default());
    serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{:?}", answer.error))
}

fn names(report: &Value) -> BTreeSet<&str> {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["name"].as_str().unwrap())
        .collect()
}

/// The first file of a rule's folder with this stem.
fn sample(rule: &str, stem: &str) -> Option<PathBuf> {
    let folder = fs::read_dir(samples().join("rules").join(rule)).unwrap();
    folder
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_stem().unwrap().to_string_lossy().starts_with(stem))
}

/// Whether all that a source did not read are notes: information on how a program ran, which is kept and reported.
fn is_kept_and_told_as_a_note(report: &Value) -> bool {
    let findings = report["findings"].as_array().unwrap().iter();
    let mut unread = findings.filter(|finding| finding["name"] == "unread-field");
    unread.all(|finding| finding["severity"] == "note")
}

#[test]
fn the_example_of_every_source_is_valid_and_recognised() {
    let test_dir = TestDir::new();
    for source in SOURCES.iter().map(|source| source.id()) {
        let path = example(&test_dir, &[source]);
        let mut command = test_dir.chatmill(&["check", "-", "--format", "json"]);
        command.write_stdin(fs::read(&path).unwrap());
        let report: Value = serde_json::from_str(&end(command).stdout).unwrap();
        let file = &report["files"][0];
        if UNRECOGNISED.contains(&source) {
            assert_eq!(names(&report), BTreeSet::from(["unknown-format"]), "{report}");
            let named = checked(&test_dir, &["example", "--source", source]);
            assert_eq!(named["files"][0]["source"], source);
            assert_eq!(named["files"][0]["verdict"], "valid", "{named}");
            assert!(names(&named).is_empty(), "{named}");
        } else {
            assert!(file["conversations"].as_u64() > Some(0), "{source}: {report}");
            assert_eq!(file["source"], source, "{report}");
            let of_its_own = OF_THEIR_OWN.iter().filter(|(id, _)| *id == source);
            let expected: BTreeSet<&str> = of_its_own.map(|(_, code)| *code).collect();
            let verdict = if expected.is_empty() { "valid" } else { "warnings" };
            assert_eq!(file["verdict"], verdict, "{source}: {report}");
            let mut found = names(&report);
            if is_kept_and_told_as_a_note(&report) && !expected.contains("unread-field") {
                found.remove("unread-field");
            }
            assert_eq!(found, expected, "{source}: {report}");
        }
    }
}

/// The code or the name, with which the example is asked for, is drawn; `CHATMILL_DRAWS=2` takes both.
#[test]
fn every_rule_with_a_sample_has_an_example_that_raises_it_and_nothing_else() {
    let test_dir = TestDir::new();
    let mut random = random(3);
    let mut shown = 0;
    for code in CODES {
        let Some(good) = sample(code.name, "good") else {
            continue;
        };
        let good = looked_at(&good);
        let source = good["files"][0]["source"].as_str().unwrap().to_owned();
        let mut words = vec![code.code, code.name];
        for _ in 0..cases(1).min(2) {
            let word = words.swap_remove(random.below(words.len()));
            let path = example(&test_dir, &[&source, "--broken", word]);
            let report = looked_at(&path);
            let mut expected = BTreeSet::from([code.name]);
            let companions = COMPANIONS.iter().filter(|(name, _)| *name == code.name);
            expected.extend(companions.map(|(_, companion)| *companion));
            let mut found = names(&report);
            if is_kept_and_told_as_a_note(&report) && !expected.contains("unread-field") {
                found.remove("unread-field");
            }
            assert_eq!(found, expected, "{source} --broken {word}: {report}");
        }
        shown += 1;
    }
    assert!(shown > 60, "only {shown} rules have a sample");
}

#[test]
fn what_cannot_be_shown_is_refused_with_the_way_out() {
    let test_dir = TestDir::new();
    for (arguments, said) in [
        (vec!["group-chats"], "did you mean `group-chat`?"),
        (
            vec!["group-chat", "--broken", "dangling-refrence"],
            "did you mean `dangling-reference`?",
        ),
        (
            vec!["sharegpt", "--broken", "RF001"],
            "there is one of group-chat",
        ),
        (vec!["group-chat", "--broken", "RF"], "name one of RF001"),
        (
            vec!["group-chat", "--broken", "not-a-regular-file"],
            "chatmill explain IN013",
        ),
    ] {
        let mut command = test_dir.chatmill(&["example"]);
        command.args(&arguments);
        let ended = end(command);
        assert_eq!(ended.code, 2, "{arguments:?}");
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
    }
}
