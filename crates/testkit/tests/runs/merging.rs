//! `merge = true`: in every source, files with the same conversation become one, or the request is refused before
//! anything is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chatmill_diag::{Class, Classed as _};
use chatmill_engine::{Plan, PlanError, ReadError, RunError, RunOptions, Silent, WalkEvent, walk};
use chatmill_source::SOURCES;
use chatmill_workshop::TestDir;

/// A plan over the files in a folder, with these `lines` in their section.
fn plan(test_dir: &TestDir, folder: &str, lines: &str) -> Result<Plan, PlanError> {
    let out = test_dir.path("out");
    let out = out.display();
    let pipeline = format!(
        "name = \"test\"\n[[input]]\npath = \"{folder}/*\"\n{lines}\n[output]\npath = \"{out}\"\n\
         [render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n"
    );
    Plan::load(&test_dir.write("pipeline.toml", pipeline), &[], None, &[])
}

/// The number of conversations that a plan reads.
fn conversations(plan: &Plan) -> Result<u64, ReadError> {
    let (mut count, stop) = (0, AtomicBool::new(false));
    walk(&plan.inputs, plan.reading(), &Silent, &stop, &mut |event| {
        count += u64::from(matches!(event, WalkEvent::Conversation { .. }));
        true
    })?;
    Ok(count)
}

/// The example of a source.
fn example(id: &str) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let mut entries = fs::read_dir(samples.join(id).join("example")).unwrap();
    entries.next().unwrap().unwrap().path()
}

/// Sources in which each answer is a conversation, because an identical request may be answered twice.
const BATCHES: [&str; 2] = ["openai-batch", "anthropic-batch"];

#[test]
fn in_every_source_equal_files_are_the_same_conversations_or_the_request_is_refused() {
    let (mut merged, mut refused) = (Vec::new(), Vec::new());
    for source in SOURCES.iter().filter(|source| !source.needs_map()) {
        let id = source.id();
        let example = example(id);
        let name = example.file_name().unwrap().to_str().unwrap();
        let bytes = fs::read(&example).unwrap();
        let test_dir = TestDir::new();
        for place in ["in/a", "in/b", "alone/a"] {
            test_dir.write(&format!("{place}-{name}"), &bytes);
        }
        let before = entries(&test_dir);
        for named in [id, "auto"] {
            let asked = plan(&test_dir, "in", &format!("source = \"{named}\"\nmerge = true"));
            let read = asked.as_ref().ok().and_then(|asked| conversations(asked).ok());
            if let Some(together) = read {
                let alone = conversations(&plan(&test_dir, "alone", "").unwrap()).unwrap();
                let answers = 1 + u64::from(BATCHES.contains(&id));
                assert_eq!(together, answers * alone, "{id}, read as {named}");
                assert!(alone > 0, "{id}");
                merged.push(id);
                continue;
            }
            let stop = AtomicBool::new(false);
            let run = |asked| chatmill_engine::run(asked, RunOptions::default(), &Silent, &stop);
            let refusal = asked.map_err(RunError::from).and_then(run).err().unwrap();
            assert_eq!(refusal.class(), Class::Request, "{id}: {refusal}");
            let message = refusal.to_string();
            assert!(message.starts_with("input.merge: records of "), "{message}");
            assert!(
                message.contains(id) && message.contains("leave `merge` out of [[input]] 1 (`in/*`)"),
                "{message}"
            );
            assert_eq!(entries(&test_dir), before, "{id}");
            refused.push(id);
        }
    }
    // A named source and a recognised one must have the same outcome.
    for outcome in [&merged, &refused] {
        assert!(outcome.len() > 20, "{merged:?}, {refused:?}");
        assert!(
            outcome.chunks(2).all(|ids| ids[0] == ids[1]),
            "{merged:?}, {refused:?}"
        );
    }
}

/// The files of a test folder, except the pipeline file.
fn entries(test_dir: &TestDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(test_dir.path("")).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let mut entries: Vec<PathBuf> = entries.filter(|path| !path.ends_with("pipeline.toml")).collect();
    entries.sort();
    entries
}
