//! Golden renderings: one test per dialect and conversation. The conversations are those of `data-samples/canonical/`
//! and the `*.input.json` files of the dialect in `data-samples/dialects/<id>/`.
//!
//! `BLESS=1` writes the files again. JSON dialects have one rendering per line, text dialects the plain text; the
//! losses are in separate files in the same folders.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chatmill_dialect::{Dialect, Policy, View, auto_perspective, known};
use chatmill_golden::check;
use chatmill_model::Linked;
use chatmill_model::fingerprint::content_hash;
use chatmill_testkit::archived::completed;
use chatmill_testkit::conversations::read;
use chatmill_testkit::samples::samples;
use libtest_mimic::{Arguments, Failed, Trial};

/// The conversations with their names.
type Inputs = BTreeMap<String, Linked>;

fn main() -> ExitCode {
    let canonical = inputs(&samples().join("canonical"), ".json");
    assert!(!canonical.is_empty());
    let mut trials = Vec::new();
    let mut all = canonical.clone();
    for dialect in known() {
        let id = dialect.id();
        let folder = samples().join("dialects").join(id);
        let own = inputs(&folder, ".input.json");
        for (name, linked) in canonical.iter().chain(&own) {
            let (name, linked, folder) = (name.clone(), linked.clone(), folder.clone());
            trials.push(Trial::test(format!("{id}/{name}"), move || {
                is_golden(dialect, &folder, &name, &linked)
            }));
        }
        let known: BTreeSet<String> = canonical.keys().chain(own.keys()).cloned().collect();
        trials.push(Trial::test(format!("{id}/nothing_is_left_over"), move || {
            Ok(nothing_is_left_over(&folder, &known)?)
        }));
        all.extend(
            own.into_iter()
                .map(|(name, linked)| (format!("{id}-{name}"), linked)),
        );
    }
    for (name, linked) in all {
        let again = linked.clone();
        trials.push(Trial::test(format!("group-chat-again/{name}"), move || {
            reads_back(&again)
        }));
        trials.push(Trial::test(format!("valid-everywhere/{name}"), move || {
            Ok(every_dialect_says(&linked)?)
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The conversations in the files of a folder with this suffix.
fn inputs(folder: &Path, ending: &str) -> Inputs {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; a dialect's golden renderings stand there",
            folder.display()
        )
    });
    let paths = entries.map(|entry| entry.unwrap().path());
    let read = paths.filter_map(|path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(ending)?;
        Some((
            name.to_owned(),
            read("group-chat", &fs::read_to_string(&path).unwrap()),
        ))
    });
    read.collect()
}

/// The renderings of a conversation, one per line for JSON, and its losses.
fn render(dialect: &Dialect, linked: &Linked) -> (String, String) {
    let about = dialect.about();
    let policy = Policy::default();
    let view = View::whole(
        linked,
        auto_perspective(linked).filter(|_| !dialect.is_neutral()),
        &policy,
    );
    let mut content = String::new();
    let mut losses = String::new();
    dialect.render_each(&view, &mut |sink, rendering| {
        content.push_str(sink.text());
        if about.media_type == "application/json" {
            content.push('\n');
        }
        let ordinal = rendering.ordinal;
        for violation in &rendering.violations {
            writeln!(losses, "{ordinal}\tinvalid\t{violation}").unwrap();
        }
        for loss in &rendering.losses {
            let position = loss
                .position
                .map_or("-".to_owned(), |position| position.to_string());
            let (code, amount, reason) = (loss.code.as_str(), loss.amount, loss.reason);
            writeln!(losses, "{ordinal}\t{position}\t{code}\t{amount}\t{reason}").unwrap();
        }
    });
    (content, losses)
}

fn is_golden(dialect: &Dialect, folder: &Path, name: &str, linked: &Linked) -> Result<(), Failed> {
    let (content, losses) = render(dialect, linked);
    let extension = match dialect.about().media_type {
        "application/json" => "jsonl",
        _ => "txt",
    };
    check(&folder.join(format!("{name}.expected.{extension}")), &content)?;
    check(&folder.join(format!("{name}.losses.txt")), &losses)?;
    Ok(())
}

fn nothing_is_left_over(folder: &Path, known: &BTreeSet<String>) -> Result<(), String> {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = [".expected.", ".losses."]
            .iter()
            .find_map(|part| file.split_once(part));
        if name.is_some_and(|(name, _)| !known.contains(name)) {
            return Err(format!("nothing gives {file}"));
        }
    }
    Ok(())
}

/// Checks that a conversation written as a group chat reads back as the same conversation.
fn reads_back(linked: &Linked) -> Result<(), Failed> {
    let dialect = chatmill_dialect::find("group-chat").unwrap();
    let again = read("group-chat", &render(dialect, linked).0);
    // The only change is what the format requires; it is added and declared.
    let before = completed(&linked.conversation, &again.conversation);
    let is_same = content_hash(&before) == content_hash(&again.conversation)
        && linked.links == again.links
        && linked.pairings == again.pairings;
    let differs = || Failed::from(format!("{before:#?}\nreads back as\n{:#?}", again.conversation));
    is_same.then_some(()).ok_or_else(differs)
}

/// Checks that every dialect has a valid rendering of a conversation that is not empty.
fn every_dialect_says(linked: &Linked) -> Result<(), String> {
    for dialect in known() {
        let (content, losses) = render(dialect, linked);
        // SGP-03 is allowed: a record that does not end with the assistant is invalid in that dialect.
        let losses = losses.replace("\tinvalid\tSGP-03", "");
        if content.is_empty() || losses.contains("\tinvalid\t") {
            return Err(format!("{}: {losses}", dialect.id()));
        }
    }
    Ok(())
}
