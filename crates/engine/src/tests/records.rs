//! The iteration over records: the rows that account for a record, and the places of its findings.

use crate::record::Settings;
use crate::slice::records::Item;
use crate::slice::{Slice, Step};
use chatmill_diag::{Limits, RejectLevel};
use serde_json::json;

use crate::tests::test_dir::{TestDir, chat, message, read, records, request, row};

#[test]
fn a_frame_is_a_record_of_one_row() {
    let line = request("hi");
    let slice = TestDir::only("a.jsonl", &line);
    let limits = Limits::default();
    let read = read(&slice, &limits);
    let rows: Vec<_> = read.rows().collect();
    let [(row, false)] = rows[..] else {
        panic!("{} rows", rows.len())
    };
    assert_eq!((row.record, row.bytes), (0, line.trim().len() as u64));
    assert_eq!(read.record.bytes, line.trim().as_bytes());
    assert!(read.outcome.linked.is_some() && read.rejects(&limits).is_empty());
    let (span, line_column) = read.record.written();
    assert_eq!((span.unwrap().start, line_column), (0, Some((1, 1))));
}

#[test]
fn a_frame_that_is_no_json_is_rejected_whole_at_the_byte_that_is_wrong() {
    let text = format!("{}{{\"messages\": oops}}\n", request("hi"));
    let slice = TestDir::only("a.jsonl", &text);
    let limits = Limits {
        reject_head: 4,
        ..Limits::default()
    };
    let read = records(&slice)[1].read(Settings::plain(&limits)).remove(0);
    assert!(read.outcome.linked.is_none());
    assert!(
        read.rows()
            .all(|(row, is_rejected)| is_rejected && row.record == 1)
    );
    let rejects = read.rejects(&limits);
    let [(row, reject, located)] = &rejects[..] else {
        panic!("{} rejects", rejects.len())
    };
    assert_eq!((row.record, reject.level), (1, RejectLevel::Frame));
    assert_eq!(reject.head, b"{\"me");
    assert_eq!(
        reject.hash,
        blake3::hash(b"{\"messages\": oops}").to_hex().to_string()
    );
    assert_eq!(located.line_column, Some((2, 14)));
    assert_eq!(read.codes().collect::<Vec<_>>(), [reject.finding.code.code]);
}

#[test]
fn a_broken_message_is_rejected_and_its_record_accepted() {
    let text = chat(&[message("a", &[]), json!(17), message("c", &[])]);
    let slice = TestDir::only("a.json", &text);
    let limits = Limits::default();
    let read = read(&slice, &limits);
    assert_eq!(
        read.outcome.linked.as_ref().unwrap().conversation.messages.len(),
        2
    );
    assert!(read.rows().all(|(_, is_rejected)| !is_rejected));
    let rejects = read.rejects(&limits);
    assert_eq!(rejects[0].1.level, RejectLevel::Message);
    assert_eq!(rejects[0].2.line_column, Some((4, 1)));
}

#[test]
fn grouped_rows_are_one_record_and_each_is_accounted_for_in_its_entry() {
    let lines = [row("t1", "a", "1"), row("t2", "b", "2"), row("t1", "c", "три")];
    let slice = TestDir::only("a.jsonl", &lines.concat());
    let limits = Limits::default();
    let [first, second] = records(&slice)[..] else {
        panic!("two threads")
    };
    let array = format!("[{},{}]", lines[0].trim(), lines[2].trim());
    assert_eq!(first.bytes, array.as_bytes());
    let read = first.read(Settings::plain(&limits)).remove(0);
    let rows: Vec<(u64, u64, bool)> = read
        .rows()
        .map(|(row, is_rejected)| (row.record, row.bytes, is_rejected))
        .collect();
    let length = |line: usize| lines[line].trim().len() as u64;
    assert_eq!(rows, [(0, length(0), false), (2, length(2), false)]);
    assert_eq!(read.outcome.linked.unwrap().conversation.messages.len(), 2);
    let (span, line_column) = second.written();
    assert_eq!(span.unwrap().start, lines[0].len() as u64);
    assert_eq!(line_column, Some((2, 1)));
}

#[test]
fn a_row_that_cannot_be_read_is_rejected_alone() {
    let twice = row("t1", "b", "2").replace("\"type\"", "\"message_id\":\"z\",\"type\"");
    let slice = TestDir::only(
        "a.jsonl",
        &[row("t1", "a", "1"), twice, row("t1", "c", "3")].concat(),
    );
    let limits = Limits::default();
    let read = read(&slice, &limits);
    let rows: Vec<bool> = read.rows().map(|(_, is_rejected)| is_rejected).collect();
    assert_eq!(rows, [false, true, false]);
    let rejects = read.rejects(&limits);
    let [(row, reject, located)] = &rejects[..] else {
        panic!("{} rejects", rejects.len())
    };
    assert_eq!((row.record, reject.level), (1, RejectLevel::Frame));
    assert_eq!(located.line_column, Some((2, 1)));
    assert_eq!(read.outcome.linked.unwrap().conversation.messages.len(), 2);
}

#[test]
fn a_finding_about_a_row_is_accounted_for_with_that_row() {
    let malformed = row("t1", "b", "2").replace("{\"role\":\"user\",\"content\":\"2\"}", "7");
    let slice = TestDir::only("a.jsonl", &[row("t1", "a", "1"), malformed].concat());
    let limits = Limits::default();
    let read = read(&slice, &limits);
    let found: Vec<_> = read
        .findings()
        .map(|(row, located)| {
            (
                row.record,
                located.finding.code.name,
                located.line_column.unwrap().0,
            )
        })
        .collect();
    assert_eq!(found, [(1, "wrong-type", 2)]);
}

#[test]
fn rows_that_form_no_conversation_are_one_reject_each() {
    let limits = Limits {
        messages_per_conversation: 1,
        ..Limits::default()
    };
    let lines = [row("t1", "a", "1"), row("t1", "b", "2")];
    let slice = TestDir::only("a.jsonl", &lines.concat());
    let read = read(&slice, &limits);
    assert!(read.outcome.linked.is_none());
    assert!(read.rows().all(|(_, is_rejected)| is_rejected));
    let rejects = read.rejects(&limits);
    let seen: Vec<_> = rejects
        .iter()
        .map(|(row, reject, located)| (row.record, reject.finding.code.name, located.line_column))
        .collect();
    let name = "conversation-too-large";
    assert_eq!(seen, [(0, name, Some((1, 1))), (1, name, Some((2, 1)))]);
    for ((_, reject, _), line) in rejects.iter().zip(&lines) {
        assert_eq!(
            reject.hash,
            blake3::hash(line.trim().as_bytes()).to_hex().to_string()
        );
    }
}

#[test]
fn a_row_that_belongs_to_several_records_is_accounted_for_in_the_first() {
    let event = |project: &str| json!({"from": "u1", "fromUsername": "ann", "projectId": project, "text": "hi", "messageId": project, "type": "message"});
    let present =
        json!({"userId": "u2", "username": "bob", "isAgent": true, "agentName": "Coder", "machineName": "m"});
    let lines = [event("p"), present, event("q")].map(|line| line.to_string() + "\n");
    let slice = TestDir::only("a.jsonl", &lines.concat());
    let read = |record: crate::slice::records::Record<'_>| -> (usize, Vec<u64>) {
        let elements: Vec<serde_json::Value> = serde_json::from_slice(record.bytes).unwrap();
        (elements.len(), record.rows().map(|(_, row)| row.record).collect())
    };
    let found: Vec<(usize, Vec<u64>)> = records(&slice).into_iter().map(read).collect();
    assert_eq!(found, [(2, vec![0, 1]), (2, vec![2])]);
}

#[test]
fn items_have_their_entry_and_frames_before_any_entry_are_left_out() {
    let mut slice = TestDir::only("a.jsonl", &request("hi"));
    assert!(matches!(
        slice.items().next(),
        Some((Some(_), Item::Step(Step::Entry(_))))
    ));
    let counted = |slice: &Slice| slice.items().count();
    let all = counted(&slice);
    // The entry, and with it the record that no source would read.
    slice.steps.remove(0);
    assert_eq!(counted(&slice), all - 2);
    assert!(records(&slice).is_empty());
}
