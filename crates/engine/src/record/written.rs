//! Places in the original text if the parsed bytes differ from it: a transcript, which is read
//! as JSON, and a line with the escapes of `COPY`. Findings are located in the original text.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_diag::{Reject, Span, cut};
use chatmill_intake::{CopiedLine, Form, Frame, FramedText};

use crate::record::RecordOutcome;
use crate::record::locate::{Located, Sweep};

/// Returns the bytes in the entry that a frame of this form was made from.
pub(crate) fn written(form: Form, bytes: &[u8]) -> Cow<'_, [u8]> {
    match form {
        Form::Text => Cow::Owned(FramedText::new(bytes).text()),
        Form::Copied => Cow::Owned(CopiedLine::new(bytes).text()),
        Form::Original | Form::Row => Cow::Borrowed(bytes),
    }
}

/// Converts offsets in the bytes of a frame to offsets in the original text. Calls must be in ascending order.
pub(crate) fn offsets<'f>(form: Form, bytes: &'f [u8]) -> Box<dyn FnMut(u64) -> u64 + 'f> {
    match form {
        Form::Text => Box::new(FramedText::new(bytes).offsets()),
        Form::Copied => Box::new(CopiedLine::new(bytes).offsets()),
        Form::Original | Form::Row => Box::new(|at| at),
    }
}

/// Converts the borders of ranges to offsets in the original
/// text. The ranges may overlap or contain each other.
pub(crate) fn offsets_of(form: Form, bytes: &[u8], ranges: &[Range<usize>]) -> impl Fn(usize) -> u64 + use<> {
    let mut known = Vec::new();
    if matches!(form, Form::Copied | Form::Text) {
        let mut offset = offsets(form, bytes);
        let ends = ranges.iter().flat_map(|range| [range.start, range.end]);
        known.extend(ends.map(|at| (at, 0)));
        known.sort_unstable();
        for (at, written) in &mut known {
            *written = offset(*at as u64);
        }
    }
    move |at| {
        let found = known.binary_search_by_key(&at, |(end, _)| *end);
        found.map_or(at as u64, |index| cut::at(&known, index).1)
    }
}

/// Maps every place in the outcomes of a frame's conversations back to the text in its entry. `bytes` are those
/// of the frame. All places are mapped in one pass, since the mapping is computed from the start of the frame.
pub(super) fn map_to_source(
    mut all: Vec<&mut RecordOutcome>,
    frame: &Frame,
    bytes: &[u8],
    reject_head: usize,
) {
    let mut places: Vec<&mut u64> = Vec::new();
    for outcome in &mut all {
        for located in found(outcome) {
            if frame.form == Form::Text {
                // Text has no fields that a path could name.
                located.json_path = None;
            }
        }
        let unread = outcome.unread.iter_mut().map(|unread| &mut unread.located);
        for located in outcome.findings.iter_mut().chain(unread) {
            places.extend(ends(located));
        }
        for (reject, located) in &mut outcome.rejects {
            places.extend(ends(located));
            places.extend(both(&mut reject.span));
        }
        let messages = outcome
            .linked
            .iter_mut()
            .flat_map(|linked| &mut linked.conversation.messages);
        for message in messages {
            places.extend([&mut message.origin.start, &mut message.origin.end]);
        }
    }
    places.sort_unstable();
    let mut offset = offsets(frame.form, bytes);
    for place in places {
        *place = frame.start + offset(place.saturating_sub(frame.start));
    }
    if all.iter_mut().all(|outcome| found(outcome).next().is_none()) {
        return;
    }
    let text = written(frame.form, bytes);
    let lines = Sweep::lines(&text, frame.line, frame.column);
    for outcome in all {
        for (reject, located) in &mut outcome.rejects {
            reject.finding.span = located.span;
            own_bytes(reject, frame, &text, reject_head);
        }
        for located in found(outcome) {
            let start = located.span.map(|span| span.start.saturating_sub(frame.start));
            located.line_column = start.map(|start| lines.at(start)).or(located.line_column);
        }
    }
}

/// Returns all findings and rejects with a place.
fn found(outcome: &mut RecordOutcome) -> impl Iterator<Item = &mut Located> {
    let rejected = outcome.rejects.iter_mut().map(|(_, located)| located);
    let unread = outcome.unread.iter_mut().map(|unread| &mut unread.located);
    outcome.findings.iter_mut().chain(rejected).chain(unread)
}

fn ends(located: &mut Located) -> impl Iterator<Item = &mut u64> {
    let spans = [&mut located.span, &mut located.finding.span];
    spans.into_iter().flatten().flat_map(both)
}

fn both(span: &mut Span) -> [&mut u64; 2] {
    [&mut span.start, &mut span.end]
}

/// Replaces the bytes of a reject with those of the original text.
fn own_bytes(reject: &mut Reject, frame: &Frame, text: &[u8], head: usize) {
    let offset = |at: u64| at.saturating_sub(frame.start) as usize;
    let bytes = cut::slice(text, offset(reject.span.start)..offset(reject.span.end));
    reject.hash = blake3::hash(bytes).to_hex().to_string();
    reject.head = bytes.iter().copied().take(head).collect();
}
