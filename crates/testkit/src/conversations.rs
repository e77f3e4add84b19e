//! Conversations for tests of dialects: every torture case, every fixture of every source, and any record that a source reads.

use std::fs;

use chatmill_diag::Limits;
use chatmill_dialect::policy::{
    Compressed, ControlTokens, LeakedMetadata, MediaPolicy, Names, Orphans, Reasoning, References, System,
    TurnsInARow,
};
use chatmill_dialect::{Loss, Policy, View, auto_perspective};
use chatmill_intake::json;
use chatmill_model::Linked;
use chatmill_source::{FrameView, Reading};

use crate::samples::sample_files;
use chatmill_drawn::Random;

/// The reading of a record by a source.
pub fn reading(source: &str, text: &str, limits: &Limits) -> Reading {
    let document =
        json::scan(text.as_bytes(), limits.depth).unwrap_or_else(|breach| panic!("{breach:?}: {text}"));
    let frame = FrameView::alone(&document, text.as_bytes());
    let reading = chatmill_source::find(source)
        .expect("a source")
        .read(&frame, limits);
    assert!(reading.rows.balances(), "{:?} {text}", reading.rows);
    reading
}

/// Reads and links a record; `None` if it contains no conversation.
pub fn try_read(source: &str, text: &str) -> Option<Linked> {
    let limits = Limits::default();
    let conversation = reading(source, text, &limits).conversation?;
    Some(chatmill_link::link(conversation, &limits).0)
}

/// Reads and links a record, which must contain a conversation.
pub fn read(source: &str, text: &str) -> Linked {
    try_read(source, text).unwrap_or_else(|| panic!("{source} does not read {text}"))
}

/// The renderings of a whole conversation in a dialect or one of its profiles, with their declared losses. The policy
/// is the default one, and the perspective, if the dialect has perspectives, is that of the agent with the most
/// messages.
pub fn renderings(target: &str, linked: &Linked) -> Vec<(String, Vec<Loss>)> {
    let dialect = chatmill_dialect::find(target).expect("a dialect");
    let policy = Policy::default();
    let view = View::whole(
        linked,
        auto_perspective(linked).filter(|_| !dialect.is_neutral()),
        &policy,
    );
    let mut renderings = Vec::new();
    dialect.render_each(&view, &mut |sink, rendering| {
        renderings.push((sink.text().to_owned(), rendering.losses));
    });
    renderings
}

/// The only rendering of a conversation, with its declared losses.
pub fn rendering(target: &str, linked: &Linked) -> (String, Vec<Loss>) {
    let mut renderings = renderings(target, linked);
    assert_eq!(renderings.len(), 1, "{target}");
    renderings.remove(0)
}

/// The JSON files in a folder of samples, in order.
fn files(folder: &str) -> Vec<(String, String)> {
    let texts = sample_files(folder).into_iter().filter_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let is_case = is_json && !name.contains(".expected.") && name != "vectors.json";
        is_case.then(|| (name, fs::read_to_string(&path).unwrap()))
    });
    texts.collect()
}

/// Reads and links a list of messages, or any other record as a group chat.
pub fn read_list_or_chat(text: &str) -> Linked {
    let record: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let is_list = record.get("messages").is_some();
    read(if is_list { "openai-messages" } else { "group-chat" }, text)
}

/// The torture cases with their names, in the order of their files.
pub fn torture_cases() -> Vec<(String, Linked)> {
    let files = files("torture").into_iter();
    files
        .map(|(name, text)| {
            (
                name.trim_end_matches(".json").to_owned(),
                read_list_or_chat(&text),
            )
        })
        .collect()
}

/// The torture cases, and every fixture of every source that contains a conversation.
pub fn cases() -> Vec<(String, Linked)> {
    let mut cases = torture_cases();
    for source in chatmill_source::SOURCES {
        for (name, text) in files(&format!("sources/{}", source.id())) {
            cases.extend(
                try_read(source.id(), &text).map(|linked| (format!("{}-{name}", source.id()), linked)),
            );
        }
    }
    cases
}

/// A random policy.
pub fn policy(random: &mut Random) -> Policy {
    fn one<T: Copy>(random: &mut Random, of: &[T]) -> T {
        *random.pick(of).unwrap()
    }
    Policy {
        names: one(random, &[Names::Auto, Names::Field, Names::Prefix, Names::Drop]),
        references: one(
            random,
            &[
                References::Quote,
                References::Excerpt,
                References::Mark,
                References::Drop,
            ],
        ),
        media: one(
            random,
            &[MediaPolicy::Keep, MediaPolicy::Placeholder, MediaPolicy::Drop],
        ),
        reasoning: one(random, &[Reasoning::Drop, Reasoning::Keep]),
        orphans: one(random, &[Orphans::Repair, Orphans::Drop, Orphans::Reject]),
        control_tokens: one(random, &[ControlTokens::Escape, ControlTokens::Keep]),
        system: one(random, &[System::Source, System::Agent, System::None]),
        compressed: one(random, &[Compressed::AsSent, Compressed::Stored]),
        leaked_metadata: one(random, &[LeakedMetadata::Clean, LeakedMetadata::Keep]),
        turns: one(random, &[TurnsInARow::Keep, TurnsInARow::Merge]),
        ..Policy::default()
    }
}
