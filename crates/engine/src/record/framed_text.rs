//! Places in a transcript: it is read as JSON, and what is found has its place in the text.

use std::ops::Range;

use chatmill_diag::{Reject, Span};
use chatmill_intake::{Frame, FramedText};

use crate::record::RecordOutcome;
use crate::record::locate::{Located, advance};

/// Leads every place in what became of a frame, whose bytes these are, back to the text of its entry.
pub(super) fn lead_back(outcome: &mut RecordOutcome, frame: &Frame, bytes: &[u8], reject_head: usize) {
    let transcript = FramedText::new(bytes);
    let mut places: Vec<&mut u64> = Vec::new();
    for located in &mut outcome.findings {
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
    places.sort_unstable();
    let mut offset = transcript.offsets();
    for place in places {
        *place = frame.start + offset(place.saturating_sub(frame.start));
    }
    if outcome.findings.is_empty() && outcome.rejects.is_empty() {
        return;
    }
    let text = transcript.text();
    for (reject, located) in &mut outcome.rejects {
        reject.finding.span = located.span;
        cut(reject, frame, &text, reject_head);
    }
    let rejected = outcome.rejects.iter_mut().map(|(_, located)| located);
    number_lines(
        outcome.findings.iter_mut().chain(rejected).collect(),
        frame,
        &text,
    );
}

fn ends(located: &mut Located) -> impl Iterator<Item = &mut u64> {
    // A text has no fields that a path could name.
    located.json_path = None;
    let spans = [&mut located.span, &mut located.finding.span];
    spans.into_iter().flatten().flat_map(both)
}

fn both(span: &mut Span) -> [&mut u64; 2] {
    [&mut span.start, &mut span.end]
}

/// Gives a reject the bytes of the text.
fn cut(reject: &mut Reject, frame: &Frame, text: &[u8], head: usize) {
    let bytes = text.get(inside(reject.span, frame)).unwrap_or_default();
    reject.hash = blake3::hash(bytes).to_hex().to_string();
    reject.head = bytes.get(..head).unwrap_or(bytes).to_vec();
}

fn inside(span: Span, frame: &Frame) -> Range<usize> {
    let offset = |at: u64| usize::try_from(at.saturating_sub(frame.start)).unwrap_or(usize::MAX);
    offset(span.start)..offset(span.end)
}

fn number_lines(mut located: Vec<&mut Located>, frame: &Frame, text: &[u8]) {
    located.sort_by_key(|located| located.span.map(|span| span.start));
    let (mut line, mut column, mut at) = (frame.line, frame.column, 0);
    for place in located {
        let Some(span) = place.span else { continue };
        let target = inside(span, frame).start.min(text.len());
        (line, column) = advance(line, column, text.get(at..target).unwrap_or_default());
        at = target.max(at);
        place.line_column = Some((line, column));
    }
}
