//! Every rule of every envelope: a record that obeys the rule, and one that breaks it, as cases.

use super::*;

const ROW: ExportRow<'static> = ExportRow {
    conversation: "c1",
    dialect: "",
    perspective: "bot",
    ordinal: 0,
    content: "",
    assistant_spans: &[],
    learned_spans: &[],
    rejected: None,
    label: None,
    extra: None,
};

#[test]
fn every_envelope_has_a_name_of_its_own_and_takes_dialects_that_exist() {
    let ids: std::collections::BTreeSet<_> = ENVELOPES.iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), ENVELOPES.len());
    for envelope in ENVELOPES {
        assert!(
            !envelope.dialects.is_empty() && !envelope.keys.is_empty(),
            "{}",
            envelope.id
        );
        for dialect in envelope.dialects {
            assert!(
                chatmill_dialect::find(dialect).is_some(),
                "{}: {dialect}",
                envelope.id
            );
        }
        assert_eq!(find(envelope.id).unwrap().id, envelope.id);
    }
    assert!(find("openai").is_none());
}

#[test]
fn every_envelope_refuses_a_rendering_that_is_no_object() {
    for envelope in ENVELOPES {
        for content in [
            "",
            "[]",
            "null",
            "\"text\"",
            "{\"messages\":1}",
            "{}",
            "{\"surprise\":[]}",
        ] {
            let row = ExportRow {
                dialect: envelope.dialects[0],
                content,
                ..ROW
            };
            assert!((envelope.wrap)(&row).is_err(), "{}: {content}", envelope.id);
        }
    }
}

#[test]
fn records_are_those_of_their_cases() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/envelope/cases/records.txt");
    let checked = chatmill_golden::check_cases(&path, outcome);
    checked.unwrap_or_else(|message| panic!("{message}"));
}

/// The record of a case, with the counts of its turns, or the code of the rule that forbids it.
fn outcome(case: &str) -> String {
    let mut lines = case.lines();
    let (id, content) = lines.next().unwrap().split_once(' ').unwrap();
    let envelope = find(id).expect(id);
    let (mut extra, mut trained) = (None, None);
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        *if word == "extra" { &mut extra } else { &mut trained } = Some(rest);
    }
    let span = |word: &str| {
        let start = content.find(word)? as u64;
        Some(start..start + word.len() as u64)
    };
    let spans = |words: &str| words.split_whitespace().filter_map(span).collect::<Vec<_>>();
    let row = ExportRow {
        dialect: envelope.dialects[0],
        content,
        assistant_spans: &trained.map_or_else(Vec::new, |_| spans("old new")),
        learned_spans: &trained.map_or_else(Vec::new, spans),
        extra,
        ..ROW
    };
    let wrapped = match (envelope.wrap)(&row) {
        Ok(wrapped) => wrapped,
        Err(rule) => {
            let reason = envelope.reasons.iter().find(|reason| reason.words == rule);
            return reason.expect("a rule is listed").code.to_owned();
        }
    };
    let mut lines = vec![fields::object(&wrapped.fields)];
    if wrapped.turns_cut > 0 {
        lines.push(format!("turns cut: {}", wrapped.turns_cut));
    }
    if trained.is_some() {
        let counts = wrapped.turn_counts;
        lines.push(format!(
            "learned {}, context {}, missed {}, wordless {}",
            counts.learned, counts.context, counts.missed, counts.placeholders
        ));
    }
    lines.join("\n")
}

#[test]
fn dataset_info_names_only_the_columns_that_a_file_has() {
    let file = |part: &str, keys: &[&str]| FileSummary {
        name: format!("{part}.jsonl"),
        part: part.to_owned(),
        begins: None,
        rows: 1,
        conversations: 1,
        bytes: 1,
        hash: String::new(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        pages: Vec::new(),
    };
    let files = [
        file("train", &["conversations", "system"]),
        file("test", &["conversations"]),
    ];
    let (name, text) = (find("llama-factory").unwrap().companion)(&files).unwrap();
    assert_eq!(name, "dataset_info.json");
    let info: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        info["train"]["columns"],
        serde_json::json!({"messages": "conversations", "system": "system"})
    );
    assert_eq!(
        info["test"]["columns"],
        serde_json::json!({"messages": "conversations"})
    );
    assert_eq!(info["test"]["file_name"], "test.jsonl");
    assert_eq!(info["train"]["tags"]["function_tag"], "function_call");
}

fn counts(learned: u64, context: u64, missed: u64) -> TurnCounts {
    TurnCounts {
        learned,
        context,
        missed,
        placeholders: 0,
    }
}

#[test]
fn a_note_names_the_setting_that_a_trainer_needs() {
    let notes = |id: &str, turn_counts| notes(Some(find(id).unwrap()), turn_counts);
    assert_eq!(
        notes("llama-factory", counts(1, 2, 0)),
        ["2 turns of the assistant are context: set `mask_history: true`"]
    );
    assert_eq!(
        notes("vertex-tuning", counts(1, 2, 0)),
        ["2 turns of the assistant are context, which vertex-tuning cannot express"]
    );
    assert_eq!(notes("openai-sft", counts(1, 2, 0)), Vec::<String>::new());
    assert_eq!(
        notes("trl-prompt-completion", counts(1, 0, 3)),
        [
            "3 trained turns of the dataset are context here: trl-prompt-completion trains on the last turn only"
        ]
    );
}
