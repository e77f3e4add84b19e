//! Answers that stood at one place: what the table holds of them, and what else a run does with them.

use std::path::Path;

use chatmill_workshop::{Workshop, rows};

const BARE: &str =
    "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n[limits]\nmax_error_findings = 100\n";

/// Position, ordinal and step of each row, its origin, whether the conversation holds it, and what it says.
fn table(out: &Path) -> Vec<String> {
    let numbers = |column| rows::numbers(out, "alternatives", column).into_iter().flatten();
    let origins = rows::texts(out, "alternatives", "origin").into_iter().flatten();
    let held = rows::flags(out, "alternatives", "in_conversation")
        .into_iter()
        .flatten();
    let said = rows::texts(out, "alternatives", "text").into_iter().flatten();
    let places = numbers("position").zip(numbers("ordinal")).zip(numbers("step"));
    let all = places.zip(origins).zip(held).zip(said);
    all.map(|(((((position, ordinal), step), origin), held), said)| {
        let held = if held { "*" } else { "" };
        format!("{position}.{ordinal}.{step} {origin}{held} {said}")
    })
    .collect()
}

fn run(workshop: &Workshop, more: &str) -> std::path::PathBuf {
    workshop.run("out", more, 2).unwrap();
    let out = workshop.path("out");
    let certificate = chatmill_dataset::certify(&out).unwrap();
    assert!(certificate.faults.is_empty(), "{:?}", certificate.faults);
    out
}

const PAIRS: &str = concat!(
    r#"{"prompt": "Is it open?", "chosen": "Until four.", "rejected": "Perhaps.", "score_chosen": 9, "score_rejected": 2.5}"#,
    "\n",
    r#"{"prompt": "Is it open?", "chosen": "Until four.", "rejected": "No idea."}"#,
    "\n",
);

#[test]
fn a_place_can_be_read_whole_with_what_was_said_of_each_answer() {
    let workshop = Workshop::new();
    workshop.write("in/pairs.jsonl", PAIRS);
    let out = run(&workshop, BARE);
    assert_eq!(
        table(&out),
        [
            "1.0.0 chosen* Until four.",
            "1.1.0 rejected Perhaps.",
            "1.0.0 chosen* Until four.",
            "1.1.0 rejected No idea.",
        ]
    );
    let said = rows::texts(&out, "messages", "text");
    assert!(
        said.iter()
            .flatten()
            .all(|said| said != "Perhaps." && said != "No idea.")
    );
}

#[test]
fn a_bad_answer_is_in_no_rendering_and_a_good_one_bears_its_label() {
    let workshop = Workshop::new();
    workshop.write(
        "in/labels.jsonl",
        concat!(
            r#"{"prompt": "Is it open?", "completion": "Perhaps so.", "label": false}"#,
            "\n",
            r#"{"prompt": "Is it far?", "completion": "A mile.", "label": true}"#,
            "\n",
        ),
    );
    let out = run(&workshop, BARE);
    assert_eq!(
        table(&out),
        ["1.0.0 rejected Perhaps so.", "1.0.0 chosen* A mile."]
    );
    assert_eq!(
        rows::flags(&out, "alternatives", "label"),
        [Some(false), Some(true)]
    );
    let rendered = rows::texts(&out, "renderings", "content");
    assert!(
        rendered
            .iter()
            .flatten()
            .all(|text| !text.contains("Perhaps so.")),
        "{rendered:?}"
    );
}

#[test]
fn comparisons_of_one_answer_with_several_are_no_duplicates() {
    let workshop = Workshop::new();
    workshop.write("in/pairs.jsonl", format!("{PAIRS}{PAIRS}"));
    let out = run(&workshop, &format!("{BARE}[dedup]\nexact = \"filter\"\n"));
    let left = rows::texts(&out, "conversations", "conversation_id");
    assert_eq!(left.len(), 2, "each pair is there twice");
    assert_eq!(table(&out).len(), 4);
}

#[test]
fn the_table_can_be_left_out() {
    let workshop = Workshop::new();
    workshop.write("in/pairs.jsonl", PAIRS);
    let out = run(&workshop, &format!("tables = [\"messages\"]\n{BARE}"));
    assert!(!out.join("alternatives").exists());
}
