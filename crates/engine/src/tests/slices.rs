//! Cutting: every byte is in one slice, and records do not depend on the size of slices.

use crate::progress::Progress;
use crate::record::Settings;
use crate::slice::records::Item;
use crate::slice::{Slice, Step};
use chatmill_diag::Limits;

use crate::tests::test_dir::{Cut, TestDir, records, request, row};

/// Returns the bytes of an entry that a step accounts for.
fn accounted(step: &Step) -> u64 {
    match step {
        Step::Frame(frame) | Step::Filtered(frame) => frame.end - frame.start,
        Step::FramingError(error) => error.end - error.start,
        Step::Separator(bytes) | Step::SkippedEntry { bytes, .. } | Step::Skipped { bytes, .. } => *bytes,
        Step::Group(group) | Step::FilteredGroup(group) => {
            let own = group.rows.iter().filter(|row| row.place.counts);
            own.map(|row| row.place.end - row.place.start).sum()
        }
        Step::Entry(_) | Step::Note(_) | Step::EntryEnd(_) | Step::RangeEnd(_) => 0,
    }
}

fn texts(slices: &[Slice]) -> Vec<String> {
    let all = slices.iter().flat_map(records);
    all.map(|record| String::from_utf8(record.bytes.to_vec()).unwrap())
        .collect()
}

#[test]
fn slices_of_any_size_hold_the_same_records_and_every_byte_once() {
    let lines: String = (0..40).map(|line| request(&"x".repeat(line))).collect();
    let broken = format!("{}\n{{broken\n\n{}", request("one").trim(), request("two"));
    let test_dir = TestDir::new(&[("a.jsonl", &lines), ("b.jsonl", &broken), ("c.txt", "a note")]);
    let limits = Limits::default();
    let whole = test_dir.cut(1 << 20, None, &limits);
    assert_eq!(whole.slices.len(), 1);
    let counts = whole.totals.inputs.clone();
    assert_eq!(counts[0].bytes, lines.len() as u64);
    assert_eq!((counts[0].records, counts[1].records), (40, 3));
    for bytes in [1, 100, 1_000] {
        let cut = test_dir.cut(bytes, None, &limits);
        assert_eq!(cut.totals.inputs, counts, "{bytes}");
        assert_eq!(cut.totals.each().count(), cut.slices.len());
        assert!(cut.slices.len() > 1);
        assert_eq!(texts(&cut.slices), texts(&whole.slices), "{bytes}");
        let steps = || cut.slices.iter().flat_map(|slice| &slice.steps);
        let bytes: u64 = counts.iter().map(|input| input.bytes).sum();
        assert_eq!(steps().map(accounted).sum::<u64>(), bytes);
        let ended = steps().filter_map(|step| match step {
            Step::EntryEnd(bytes) => Some(*bytes),
            _ => None,
        });
        assert_eq!(ended.sum::<u64>(), bytes);
    }
}

#[test]
fn a_slice_that_begins_inside_an_entry_names_it_first() {
    let lines: String = (0..5).map(|line| request(&line.to_string())).collect();
    let cut = TestDir::new(&[("a.jsonl", &lines)]).cut(1, None, &Limits::default());
    for (index, slice) in cut.slices.iter().enumerate() {
        assert_eq!((slice.id.shard, slice.id.slice as usize), (0, index));
        let Some(Step::Entry(entry)) = slice.steps.first() else {
            panic!("slice {index} does not begin with its entry")
        };
        assert_eq!(entry.source.unwrap().id(), "openai-messages");
    }
}

#[test]
fn records_beyond_the_limit_are_filtered_and_still_counted() {
    let lines: String = (0..5).map(|line| request(&line.to_string())).collect();
    let test_dir = TestDir::new(&[("a.jsonl", &lines), ("b.jsonl", &request("b"))]);
    let cut = test_dir.cut(1 << 20, Some(3), &Limits::default());
    let filtered = |slice: &Slice| {
        slice
            .items()
            .filter(|(_, item)| matches!(item, Item::Filtered(_)))
            .count()
    };
    assert_eq!(records(&cut.slices[0]).len(), 3);
    assert_eq!(filtered(&cut.slices[0]), 3);
    let counts: Vec<u64> = cut.totals.inputs.iter().map(|input| input.records).collect();
    assert_eq!(counts, [5, 1]);
}

#[test]
fn grouped_rows_come_after_all_other_records() {
    let rows = [row("t1", "a", "1"), row("t2", "b", "2"), row("t1", "c", "3")].concat();
    let test_dir = TestDir::new(&[("a.jsonl", &rows), ("b.jsonl", &request("hi"))]);
    let cut = test_dir.cut(1 << 20, None, &Limits::default());
    let [frames, groups] = &cut.slices[..] else {
        panic!("{} slices", cut.slices.len())
    };
    assert_eq!(
        records(frames).len(),
        1,
        "only the request is a record of its own"
    );
    let keys: Vec<&str> = groups
        .steps
        .iter()
        .map(|step| match step {
            Step::Group(group) => group.key.as_deref().unwrap(),
            _ => panic!("something beside the groups"),
        })
        .collect();
    assert_eq!(keys, ["t1", "t2"]);
    assert_eq!(cut.totals.inputs[0].records, 3, "rows are what is counted");
    let bytes: u64 = cut
        .slices
        .iter()
        .flat_map(|slice| &slice.steps)
        .map(accounted)
        .sum();
    assert_eq!(
        bytes,
        cut.totals.inputs.iter().map(|input| input.bytes).sum::<u64>()
    );
}

#[test]
fn limit_counts_conversations_of_grouped_rows() {
    let rows = [row("t1", "a", "1"), row("t2", "b", "2"), row("t1", "c", "3")].concat();
    let cut = TestDir::new(&[("a.jsonl", &rows)]).cut(1 << 20, Some(1), &Limits::default());
    let [Step::Group(accepted), Step::FilteredGroup(rest)] = &cut.slices.last().unwrap().steps[..] else {
        panic!("one group is accepted and one is filtered")
    };
    assert_eq!((accepted.rows.len(), rest.rows.len()), (2, 1));
}

/// Returns the rejects of a folder in order: codes of framing errors and of records that were read.
fn rejected(cut: &Cut) -> Vec<&'static str> {
    let limits = Limits::default();
    let items = cut.slices.iter().flat_map(Slice::items);
    items
        .flat_map(|(_, item)| match item {
            Item::Step(Step::FramingError(error)) => vec![error.code.name],
            Item::Record(record) => {
                let read = record.read(Settings::plain(&limits));
                let rejects = read.iter().flat_map(|read| read.rejects(&limits));
                rejects.map(|(_, reject, _)| reject.finding.code.name).collect()
            }
            _ => Vec::new(),
        })
        .collect()
}

#[test]
fn an_unread_file_counts_one_record_for_each_frame() {
    let rows: Vec<String> = (0..3).map(|n| format!("{{\"numbers\": [{n}, 2]}}")).collect();
    let unknown = "unknown-format";
    let broken = format!("{}\n{{\"broken\n{}", rows[0], rows[1]);
    let documents = rows.join("").replace(": ", ":\n");
    for (name, text, expected) in [
        ("a.jsonl", rows.join("\n"), &[unknown; 3][..]),
        ("a.jsonl", broken, &[unknown, "invalid-json", unknown]),
        ("a.json", format!("[\n{}]", rows.join(",\n")), &[unknown; 3]),
        ("a.json", documents.clone(), &[unknown; 3]),
        ("a.json", rows[0].replace(": ", ":\n"), &[unknown]),
        (
            "a.txt",
            "Nobody said a word.\nNot one.\n".to_owned(),
            &["invalid-json"],
        ),
    ] {
        let test_dir = TestDir::new(&[(name, &text)]);
        for bytes in [1, 1 << 20] {
            let cut = test_dir.cut(bytes, None, &Limits::default());
            assert_eq!(rejected(&cut), expected, "{text}");
            let counts = cut.totals.inputs[0];
            assert_eq!(
                (counts.records, counts.bytes),
                (expected.len() as u64, text.len() as u64)
            );
            let steps = cut.slices.iter().flat_map(|slice| &slice.steps);
            assert_eq!(steps.map(accounted).sum::<u64>(), counts.bytes, "{text}");
        }
        // Records that no source reads do not count toward the limit.
        assert_eq!(rejected(&test_dir.cut(1, Some(1), &Limits::default())), expected);
    }
}

#[test]
fn unread_rows_fill_slices_like_records() {
    let rows = format!("sepal,petal\n{}", "1,2\n".repeat(1_000));
    let cut = TestDir::new(&[("a.csv", &rows)]).cut(1 << 16, None, &Limits::default());
    assert_eq!(rejected(&cut).len(), 1_000);
    assert!(cut.slices.len() > 2, "{}", cut.slices.len());
}

#[test]
fn an_unread_input_does_not_change_its_neighbour() {
    let test_dir = TestDir::new(&[("a.json", "{\"numbers\": [1, 2]}"), ("b.jsonl", &request("x"))]);
    let cut = test_dir.cut(1 << 20, None, &Limits::default());
    assert_eq!(rejected(&cut), ["unknown-format"]);
    assert_eq!(records(&cut.slices[0]).len(), 2);
}

#[test]
fn a_run_that_is_stopped_cuts_nothing_more() {
    let test_dir = TestDir::new(&[("a.jsonl", &request("x"))]);
    let inputs = crate::plan::typed_in_tests(&[test_dir.path("")]);
    let (stop, limits) = (std::sync::atomic::AtomicBool::new(true), Limits::default());
    let spill = std::env::temp_dir();
    let progress = crate::Silent;
    let mut slicer = crate::slice::Slicer::new(&inputs, &limits, 1, None, spill, &stop, &progress);
    assert!(slicer.next_slice().is_none());
}

#[test]
fn bytes_between_the_rows_of_a_page_are_accounted_for() {
    let rows = [row("t", "a", "1"), row("t", "b", "2")];
    let page = format!(
        "{{\"messages\": [\n  {},\n  {}\n]}}",
        rows[0].trim(),
        rows[1].trim()
    );
    let cut = TestDir::new(&[("a.json", &page)]).cut(1 << 20, None, &Limits::default());
    let steps = || cut.slices.iter().flat_map(|slice| &slice.steps);
    assert_eq!(steps().map(accounted).sum::<u64>(), page.len() as u64);
    let groups = steps().filter_map(|step| match step {
        Step::Group(group) => Some(group.rows.len()),
        _ => None,
    });
    assert_eq!(groups.collect::<Vec<_>>(), [2]);
}

#[test]
fn a_framing_error_has_a_number_among_the_records() {
    let limits = Limits {
        record: 80,
        ..Limits::default()
    };
    let lines = [request("one"), request(&"x".repeat(99)), request("three")].concat();
    let cut = TestDir::new(&[("a.jsonl", &lines)]).cut(1 << 20, None, &limits);
    let numbers: Vec<(bool, u64)> = cut.slices[0]
        .items()
        .filter_map(|(_, item)| match item {
            Item::Record(record) => Some((true, record.row(None).record)),
            Item::Step(Step::FramingError(error)) => Some((false, error.record)),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [(true, 0), (false, 1), (true, 2)]);
    assert_eq!(cut.totals.inputs[0].records, 3);
}

/// The reported steps of progress.
#[derive(Default)]
struct Steps(std::sync::Mutex<Vec<u64>>);

impl Progress for Steps {
    fn stage(&self, _name: &str, _bytes: u64) {}
    fn advance(&self, bytes: u64) {
        self.0.lock().unwrap().push(bytes);
    }
    fn note(&self, _text: &str) {}
}

#[test]
fn progress_moves_with_each_conversation_and_ends_when_all_bytes_are_done() {
    let text = "x".repeat(100_000);
    let lines: String = (0..40).map(|_| request(&text)).collect();
    let rows: String = (0..40)
        .map(|number| row(&number.to_string(), "a", &text))
        .collect();
    for text in [&lines, &rows] {
        let steps = Steps::default();
        let test_dir = TestDir::new(&[("a.jsonl", text)]);
        let cut = test_dir.cut_with(1 << 20, None, &Limits::default(), &steps);
        let read: u64 = steps.0.lock().unwrap().iter().sum();
        assert!(read <= text.len() as u64 / 4, "to read is a small part: {read}");
        for slice in &cut.slices {
            slice.work(&steps).for_each(drop);
        }
        let steps = steps.0.into_inner().unwrap();
        assert_eq!(steps.iter().sum::<u64>(), text.len() as u64);
        assert!(
            steps.iter().all(|step| *step <= 1 << 20),
            "a window of the reader at most: {steps:?}"
        );
        assert!(steps.len() >= 40, "{steps:?}");
    }
}
