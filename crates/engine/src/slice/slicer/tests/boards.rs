//! Tests all properties that a source can report about the entries of an
//! export and about a record, with a source that reports all of them.

use std::path::Path;

use chatmill_diag::RowLedger;
use chatmill_intake::Sketch;
use chatmill_intake::json::{Document, Kind};
use chatmill_model::{Conversation, FormatTraits, Message, MessageOrigin, Role};
use chatmill_source::{About, ExportPath, FrameView, Reading, Row, Source};

use super::*;
use crate::record::Settings;
use crate::slice::records::Item;

/// Boards: `[{"said": …}]` in a folder for each, `[{"person": …}]` next
/// to the folders, `[{"log": …}]` anywhere, and `{"boards": [[…], …]}`.
struct Boards;

static ABOUT: About = About {
    id: "boards",
    title: "Boards",
    specification: "this test",
    verified: "2026-11",
    shapes: &[],
    carries: "what was said",
    traits: FormatTraits::USUAL,
};

impl Source for Boards {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, _: &Sketch) -> Option<(u8, Vec<String>)> {
        None
    }

    fn groups_rows(&self, sketch: &Sketch) -> bool {
        !sketch.records.iter().any(|record| record.names("boards"))
    }

    fn merges(&self) -> bool {
        true
    }

    fn export_path(&self, sketch: &Sketch, path: &str) -> Option<ExportPath> {
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        let (export, board) = folder.rsplit_once('/').unwrap_or(("", folder));
        let is_list = sketch.records.iter().any(|record| record.names("person"));
        Some(ExportPath {
            export: if is_list { folder } else { export }.to_owned(),
            conversation: board.to_owned(),
        })
    }

    fn ignored_kind(&self, sketch: &Sketch) -> Option<&'static str> {
        let mut records = sketch.records.iter();
        records
            .any(|record| record.names("log"))
            .then_some("log of boards")
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let person = root.get("person").and_then(chatmill_intake::json::Value::as_str);
        Some(vec![Row {
            keys: if person.is_some() {
                Vec::new()
            } else {
                vec![String::new()]
            },
            about: person.map(std::borrow::Cow::into_owned),
            begins: None,
            is_alone: false,
            span: root.span(),
        }])
    }

    fn has_scattered_messages(&self) -> bool {
        true
    }

    fn read(&self, frame: &FrameView<'_>, _: &Limits) -> Reading {
        let root = frame.document.root();
        let boards: Vec<_> = match root.get("boards") {
            Some(boards) => boards.items().collect(),
            None => vec![root],
        };
        let read = |(number, board): (usize, chatmill_intake::json::Value<'_>)| {
            let texts: Vec<_> = board
                .items()
                .filter(|row| row.get("said").is_some_and(|text| text.kind() == Kind::String))
                .collect();
            let messages = (0..).zip(&texts).map(|(position, text)| {
                let origin = MessageOrigin {
                    start: frame.start + text.span().start as u64,
                    end: frame.start + text.span().end as u64,
                    index: position,
                };
                Message::new(Role::User, position, origin)
            });
            let rows = board.len() as u64;
            Reading {
                conversation: (!texts.is_empty()).then(|| Conversation {
                    source_id: frame.key.map(str::to_owned).or_else(|| Some(number.to_string())),
                    messages: messages.collect(),
                    ..Conversation::default()
                }),
                rows: RowLedger {
                    rows,
                    messages: texts.len() as u64,
                    merged: rows - texts.len() as u64,
                    ..RowLedger::default()
                },
                ..Reading::default()
            }
        };
        let mut all = boards.into_iter().enumerate().map(read);
        let mut first = all.next().unwrap_or_default();
        first.also = all.collect();
        first
    }
}

/// Id, number of messages, and number of accounted rows.
type Found = (String, usize, usize);

/// Reads a folder of boards; returns id, messages and accounted rows of
/// each conversation, the skipped entries, and the number of records.
fn read(files: &[(&str, &str)], limits: &Limits) -> (Vec<Found>, Vec<(&'static str, u64)>, u64) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut inputs = typed_in_tests(&[folder.path().to_string_lossy().into_owned()]);
    for input in &mut inputs {
        input.settings = Arc::new(crate::plan::InputSettings {
            source: Some(&Boards),
            ..Default::default()
        });
    }
    let stop = AtomicBool::new(false);
    let mut slicer = slicer(&inputs, limits, 1 << 20, &stop);
    let (mut found, mut passed) = (Vec::new(), Vec::new());
    let (mut accounted, mut bytes) = (0, 0);
    while let Some(slice) = slicer.next_slice() {
        for (_, item) in slice.items() {
            match item {
                Item::Record(record) => {
                    for read in record.read(Settings::plain(limits)) {
                        let rows = read.rows().count();
                        accounted += rows;
                        bytes += read.rows().map(|(row, _)| row.bytes).sum::<u64>();
                        let linked = read.outcome.linked.as_ref();
                        let id = linked.and_then(|linked| linked.conversation.source_id.clone());
                        let messages = linked.map_or(0, |linked| linked.conversation.messages.len());
                        found.push((id.unwrap_or_default(), messages, rows));
                    }
                }
                Item::Step(Step::SkippedEntry { kind, bytes: over }) => {
                    passed.push((*kind, *over));
                    bytes += *over;
                }
                Item::Step(Step::Separator(between)) => bytes += between,
                _ => {}
            }
        }
    }
    let written: usize = files.iter().map(|(_, text)| text.len()).sum();
    assert_eq!(bytes, written as u64, "every byte is accounted for once");
    let cut: u64 = slicer.cut_totals.inputs.iter().map(|cut| cut.records).sum();
    assert_eq!(cut, accounted as u64, "and every record");
    found.sort();
    (found, passed, cut)
}

fn conversation(id: &str, messages: usize, rows: usize) -> Found {
    (id.to_owned(), messages, rows)
}

const MESSAGE: &str = r#"[{"said":"U1 hello"}]"#;

#[test]
fn the_path_of_an_entry_names_the_conversation_of_its_rows() {
    let files = [
        ("a/x/1", MESSAGE),
        ("a/x/2", MESSAGE),
        ("a/y/1", MESSAGE),
        ("b/x/1", MESSAGE),
    ];
    let (found, passed, _) = read(&files, &Limits::default());
    assert_eq!(
        found,
        [
            conversation("x", 1, 1),
            conversation("x", 2, 2),
            conversation("y", 1, 1)
        ]
    );
    assert!(passed.is_empty());
}

#[test]
fn a_row_about_a_person_joins_conversations_that_name_them_and_counts_once() {
    let files = [
        ("a/people", r#"[{"person":"U1"},{"person":"U2"},{"person":"U3"}]"#),
        ("a/x/1", r#"[{"said":"U1 and U2"}]"#),
        ("a/y/1", r#"[{"said":"to U1"},{"said":"not to XU2"}]"#),
        ("b/people", r#"[{"person":"U1"}]"#),
    ];
    let (found, _, cut) = read(&files, &Limits::default());
    // Persons who are never mentioned are read alone, export by export.
    assert_eq!(cut, 7);
    assert_eq!(
        found.iter().map(|(_, _, rows)| rows).sum::<usize>(),
        7,
        "{found:?}"
    );
    let ids: Vec<(&str, usize)> = found
        .iter()
        .map(|(id, messages, _)| (id.as_str(), *messages))
        .collect();
    assert_eq!(ids, [("", 0), ("", 0), ("x", 1), ("y", 2)]);
}

#[test]
fn rows_about_persons_beyond_the_limit_are_a_conversation_of_their_own() {
    let members = r#"[{"person":"U1"},{"person":"U2"}]"#;
    let files = [("a/people", members), ("a/x/1", r#"[{"said":"U1 and U2"}]"#)];
    let row = r#"{"person":"U1"}"#.len() as u64;
    for (partition, in_x, separate) in [(2 * row, 3, 0), (2 * row - 1, 2, 1)] {
        let limits = Limits {
            partition,
            ..Limits::default()
        };
        let (found, _, _) = read(&files, &limits);
        let rows = |wanted: &str| -> usize {
            let of = found.iter().filter(|(id, _, _)| id == wanted);
            of.map(|(_, _, rows)| rows).sum()
        };
        assert_eq!((rows("x"), rows("")), (in_x, separate), "{partition}");
    }
}

#[test]
fn an_entry_without_conversations_is_passed_over_and_counted() {
    let log = r#"[{"log":"started"}]"#;
    let (found, passed, _) = read(&[("a/log", log), ("a/x/1", MESSAGE)], &Limits::default());
    assert_eq!(found, [conversation("x", 1, 1)]);
    assert_eq!(passed, [("log of boards", log.len() as u64)]);
}

#[test]
fn a_record_of_several_conversations_is_accounted_for_once() {
    let boards = r#"{"boards":[[{"said":"one"}],[{"said":"two"},{"said":"three"}]]}"#;
    let (found, _, cut) = read(&[("a", boards)], &Limits::default());
    assert_eq!(cut, 1);
    assert_eq!(found, [conversation("0", 1, 1), conversation("1", 2, 0)]);
}

#[test]
fn messages_of_separate_lists_have_the_paths_of_their_bytes() {
    let boards = r#"{"boards":[[{"said":"one"}],[{"said":"two"},
  {"said":"three"}]]}"#;
    let limits = Limits::default();
    let frame = Frame {
        record: 0,
        start: 0,
        end: boards.len() as u64,
        line: 1,
        column: 1,
        buffer: 0..boards.len(),
        form: Form::Original,
    };
    let outcome = crate::record::read(Ok(&Boards), &frame, boards.as_bytes(), Settings::plain(&limits));
    // Findings of rules identify the message only by its position.
    let mut places: Vec<_> = outcome.also[0]
        .findings
        .iter()
        .map(|located| (located.json_path.as_deref(), located.line_column))
        .collect();
    places.dedup();
    let expected = [
        (Some("$.boards[1][0]"), Some((1, 30))),
        (Some("$.boards[1][1]"), Some((2, 3))),
    ];
    assert_eq!(places, expected);
}
