//! Rows with columns of messages that are the JSON text of a list, or a list of such texts, as in files of training data. Each list is
//! read as if it were in the row itself.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Mark, Value};

use crate::base::present;
use crate::frame::{FrameView, Reading};

/// The columns that may contain such texts.
const COLUMNS: [&str; 8] = [
    HISTORY,
    "messages",
    "conversations",
    "conversation",
    "prompt",
    "completion",
    "chosen",
    "rejected",
];

/// The column that may contain a list of questions with their answers, too.
const HISTORY: &str = "history";

/// Whether the text of a column looks like a list of messages, as far as a sketch shows it.
pub(crate) fn is_one(record: &RecordSketch) -> bool {
    let is_of_messages = |start: &str| start.contains("\"role\"") || start.contains("\"content\"");
    starts(record).any(|(key, start)| COLUMNS.contains(&key) && is_of_messages(start))
}

/// Whether the text of a column looks like a list of turns with `from` and `value`, as far as a sketch shows it.
pub(super) fn is_of_turns(record: &RecordSketch, column: &str) -> bool {
    let are_turns = |start: &str| start.contains("\"from\"") && start.contains("\"value\"");
    starts(record).any(|(key, start)| key == column && are_turns(start))
}

/// The beginnings of a record's texts that look like a list of objects, each from its first brace on.
fn starts(record: &RecordSketch) -> impl Iterator<Item = (&str, &str)> {
    let texts = record.strings.iter().chain(&record.starts);
    texts.filter_map(|(key, text)| {
        let list = text.trim_start().strip_prefix('[')?;
        Some((&**key, list.trim_start().strip_prefix('{')?))
    })
}

/// Reads a row with `read`, after replacing the texts of such lists by the lists. Places are those of each text as a whole.
pub(crate) fn reading(
    frame: FrameView<'_>,
    limits: &Limits,
    read: impl Fn(FrameView<'_>) -> Reading,
) -> Reading {
    of_columns(frame, limits, &COLUMNS, &read)
}

/// Reads a row in the same way for one column.
pub(super) fn of_column(
    frame: FrameView<'_>,
    limits: &Limits,
    column: &str,
    read: impl Fn(FrameView<'_>) -> Reading,
) -> Reading {
    of_columns(frame, limits, &[column], &read)
}

fn of_columns(
    frame: FrameView<'_>,
    limits: &Limits,
    columns: &[&str],
    read: &dyn Fn(FrameView<'_>) -> Reading,
) -> Reading {
    let Some((column, others)) = columns.split_first() else {
        return read(frame);
    };
    let read = &|frame: FrameView<'_>| of_columns(frame, limits, others, read);
    let root = frame.root();
    let Some((value, list)) = present(root, column).and_then(|value| Some((value, spelled(value)?))) else {
        return read(frame);
    };
    let (row, span) = (root.raw(), value.span());
    let first = root.span().start;
    let (from, to) = (span.start - first, span.end - first);
    let (Some(before), Some(after)) = (row.get(..from), row.get(to..)) else {
        return read(frame);
    };
    let whole = [before, &list, after].concat();
    let Ok(document) = root.open(&whole, limits.depth) else {
        root.mark(Mark::Left);
        return read(frame);
    };
    if !present(document.root(), column).is_some_and(|list| is_list_of_messages(column, list)) {
        root.mark(Mark::Left);
        return read(frame);
    }
    let mut reading = read(FrameView {
        document: &document,
        bytes: whole.as_bytes(),
        start: frame.start,
        ..frame
    });
    let start = frame.start;
    let places = Places {
        shift: first as u64,
        from: start + from as u64,
        to: start + (from + list.len()) as u64,
        text: (start + span.start as u64, start + span.end as u64),
    };
    places.map_to_source(&mut reading);
    reading
}

/// The list that a text, or each of several texts, spells.
fn spelled(value: Value<'_>) -> Option<Cow<'_, str>> {
    if value.kind() == Kind::String {
        return value.string().filter(|list| list.trim_start().starts_with('['));
    }
    let texts = value
        .items()
        .map(|text| text.string().filter(|text| text.trim_start().starts_with('{')));
    let texts = texts.collect::<Option<Vec<_>>>()?;
    (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")).into())
}

fn is_list_of_messages(column: &str, list: Value<'_>) -> bool {
    let is_message = |message: Value<'_>| message.get("role").or_else(|| message.get("from")).is_some();
    let is_text = |text: Value<'_>| text.kind() == Kind::String;
    let is_pair = |pair: Value<'_>| pair.kind() == Kind::Array && pair.items().all(is_text);
    list.kind() == Kind::Array
        && (list.items().any(is_message) || column == HISTORY && list.items().all(is_pair))
}

/// The place of the list's text in a row, and the place of the list in the row that was read instead.
struct Places {
    /// The number of bytes in the frame before the row.
    shift: u64,
    /// The bytes of the list in the row that was read.
    from: u64,
    to: u64,
    /// The bytes of the text in the frame.
    text: (u64, u64),
}

impl Places {
    fn map_to_source(&self, reading: &mut Reading) {
        let conversation = reading.conversation.iter_mut();
        for conversation in conversation {
            let others = conversation
                .alternatives
                .iter_mut()
                .flat_map(|other| &mut other.messages)
                .flatten();
            for message in conversation.messages.iter_mut().chain(others) {
                let origin = &mut message.origin;
                (origin.start, origin.end) = self.of(origin.start, origin.end);
            }
        }
        let findings = reading.findings.iter_mut().chain(&mut reading.error);
        findings.for_each(|finding| self.finding(finding));
        for reject in &mut reading.rejects {
            (reject.span.start, reject.span.end) = self.of(reject.span.start, reject.span.end);
            self.finding(&mut reject.finding);
        }
        reading
            .also
            .iter_mut()
            .for_each(|reading| self.map_to_source(reading));
    }

    fn finding(&self, finding: &mut Finding) {
        if let Some(span) = &mut finding.span {
            (span.start, span.end) = self.of(span.start, span.end);
        }
    }

    /// Maps bytes of the row that was read to bytes of the frame.
    fn of(&self, start: u64, end: u64) -> (u64, u64) {
        let (first, last) = self.text;
        let behind = |at: u64| last + (at - self.to);
        let start = match start {
            before if before <= self.from => before + self.shift,
            inside if inside < self.to => first,
            after => behind(after),
        };
        let end = match end {
            before if before <= self.from => before + self.shift,
            inside if inside <= self.to => last,
            after => behind(after),
        };
        (start, end)
    }
}
