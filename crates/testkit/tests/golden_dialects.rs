//! Golden renderings: every `*.input.json` in `data-samples/dialects/<id>/`, read, linked and said in that dialect.
//!
//! `BLESS=1` writes the files again. JSON dialects have one rendering a line, text dialects the text as it is; losses stand
//! beside both.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use chatmill_diag::Limits;
use chatmill_dialect::{DIALECTS, Dialect, History, Policy, View, auto_perspective};
use chatmill_intake::json;
use chatmill_link::link;
use chatmill_model::Linked;
use chatmill_model::fingerprint::content_hash;
use chatmill_source::FrameView;
use chatmill_testkit::archived::completed;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/dialects")
}

/// Reads and links one group chat.
fn read(text: &str) -> Linked {
    let limits = Limits::default();
    let document = json::scan(text.as_bytes(), limits.depth).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: 0,
        key: None,
    };
    let source = chatmill_source::find("group-chat").unwrap();
    let reading = source.read(&frame, &limits);
    link(reading.conversation.unwrap(), &limits).0
}

/// The renderings of a conversation, one a line for JSON, and its losses.
fn render(dialect: &dyn Dialect, linked: &Linked) -> (String, String) {
    let about = dialect.about();
    let policy = Policy::default();
    let view = View {
        linked,
        perspective: auto_perspective(linked).filter(|_| !about.neutral),
        policy: &policy,
        profile: about.profiles[0],
        history: History::Document,
        window: None,
    };
    let mut content = String::new();
    let mut losses = String::new();
    dialect.render(&view, &mut |rendering| {
        content.push_str(&rendering.rope.text());
        if about.media_type == "application/json" {
            content.push('\n');
        }
        for violation in &rendering.violations {
            writeln!(losses, "{}\tinvalid\t{violation}", rendering.ordinal).unwrap();
        }
        for loss in &rendering.losses {
            let position = loss
                .position
                .map_or("-".to_owned(), |position| position.to_string());
            writeln!(
                losses,
                "{}\t{position}\t{}\t{}\t{}",
                rendering.ordinal,
                loss.code.as_str(),
                loss.amount,
                loss.reason
            )
            .unwrap();
        }
    });
    (content, losses)
}

/// The conversations of a folder: name and text.
fn inputs(folder: &Path) -> Vec<(String, String)> {
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if let Some(name) = name.strip_suffix(".input.json") {
            inputs.push((name.to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
    inputs.sort();
    inputs
}

fn compare(path: &Path, actual: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}; BLESS=1 writes it", path.display()));
    assert_eq!(actual, expected, "{}", path.display());
}

#[test]
fn renderings_and_losses_equal_their_golden_files() {
    for dialect in DIALECTS {
        let folder = root().join(dialect.id());
        let inputs = inputs(&folder);
        assert!(!inputs.is_empty(), "{} has no conversation", dialect.id());
        let mut known: BTreeSet<String> = BTreeSet::new();
        for (name, text) in inputs {
            let (content, losses) = render(*dialect, &read(&text));
            let extension = match dialect.about().media_type {
                "application/json" => "jsonl",
                _ => "txt",
            };
            let expected = format!("{name}.expected.{extension}");
            let declared = format!("{name}.losses.txt");
            compare(&folder.join(&expected), &content);
            compare(&folder.join(&declared), &losses);
            known.extend([format!("{name}.input.json"), expected, declared]);
        }
        for entry in fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_golden = [".expected.", ".losses."].iter().any(|part| name.contains(part));
            assert!(!is_golden || known.contains(&name), "nothing gives {name}");
        }
    }
}

#[test]
fn a_group_chat_that_is_written_reads_back_as_the_same_conversation() {
    let dialect = chatmill_dialect::find("group-chat").unwrap().0;
    let mut seen = 0;
    for folder in DIALECTS {
        for (name, text) in inputs(&root().join(folder.id())) {
            let linked = read(&text);
            let (written, _) = render(dialect, &linked);
            let again = read(&written);
            // The one change: what the format demands is made, and declared.
            let before = completed(&linked.conversation, &again.conversation);
            assert_eq!(
                content_hash(&before),
                content_hash(&again.conversation),
                "{}/{name}",
                folder.id()
            );
            assert_eq!(linked.links, again.links, "{}/{name}", folder.id());
            assert_eq!(linked.pairings, again.pairings, "{}/{name}", folder.id());
            seen += 1;
        }
    }
    assert!(seen >= 12);
}

#[test]
fn every_dialect_says_every_sample() {
    for folder in DIALECTS {
        for (name, text) in inputs(&root().join(folder.id())) {
            let linked = read(&text);
            for dialect in DIALECTS {
                let (content, losses) = render(*dialect, &linked);
                assert!(!content.is_empty(), "{} {name}", dialect.id());
                // A record that does not end with the assistant is honestly invalid there.
                let losses = losses.replace("\tinvalid\tSGP-03", "");
                assert!(
                    !losses.contains("\tinvalid\t"),
                    "{} {name}: {losses}",
                    dialect.id()
                );
            }
        }
    }
}
