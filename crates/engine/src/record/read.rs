//! Reads the bytes of one record to a linked conversation with
//! located findings. The result depends only on its arguments.

use chatmill_diag::{Finding, Limits, Reject, RejectLevel, Span, codes, fold};
use chatmill_intake::json::{self, Document, Note};
use chatmill_intake::{Form, Frame};
use chatmill_model::Linked;
use chatmill_source::{FrameView, Reading, Source, Unread};

use super::locate::{Located, Locator};
use super::unread::unread_field;
use super::{RecordOutcome, Settings, UnreadAt, redact, written};

/// Reads, links and checks one record. A record that no source reads is rejected, with the
/// error in its bytes if there is one, else with the reason given instead of the source.
pub fn read(
    source: Result<&dyn Source, &str>,
    frame: &Frame,
    bytes: &[u8],
    settings: Settings<'_>,
) -> RecordOutcome {
    if !matches!(frame.form, Form::Text | Form::Copied) {
        return scanned(source, frame, bytes, Rows::Alone, settings);
    }
    let written = Frame {
        end: frame.start + bytes.len() as u64,
        ..frame.clone()
    };
    let mut outcome = scanned(source, &written, bytes, Rows::Alone, settings);
    let head = usize::try_from(settings.limits.reject_head).unwrap_or(usize::MAX);
    let mut also = std::mem::take(&mut outcome.also);
    let all: Vec<&mut RecordOutcome> = std::iter::once(&mut outcome).chain(&mut also).collect();
    written::map_to_source(all, frame, bytes, head);
    outcome.also = also;
    outcome
}

/// Reads, links and checks the rows of a conversation: an array of rows that were grouped under a key.
///
/// A result without a conversation and without a reject means
/// that the rows contain nothing that belongs to a conversation.
pub(crate) fn read_rows(
    source: &dyn Source,
    frame: &Frame,
    bytes: &[u8],
    key: Option<&str>,
    settings: Settings<'_>,
) -> RecordOutcome {
    scanned(Ok(source), frame, bytes, Rows::Grouped(key), settings)
}

/// The rows of a frame.
#[derive(Clone, Copy)]
enum Rows<'k> {
    /// A frame that is one record.
    Alone,
    /// Rows that were grouped under this key.
    Grouped(Option<&'k str>),
}

fn scanned(
    source: Result<&dyn Source, &str>,
    frame: &Frame,
    bytes: &[u8],
    rows: Rows<'_>,
    settings: Settings<'_>,
) -> RecordOutcome {
    let limits = settings.limits;
    let locator = Locator::new(frame.clone(), bytes);
    let mut outcome = match (json::scan(bytes, limits.depth), source) {
        (Err(error), _) => {
            let at = frame.start + error.at as u64;
            // If the record ends too early, the error is after the last byte.
            let finding = Finding::new(error.code, error.message).at_span(at, (at + 1).min(frame.end));
            rejected(&locator, frame, bytes, limits, finding, Vec::new())
        }
        (Ok(_), Err(refusal)) => {
            let finding = Finding::new(&codes::UNKNOWN_FORMAT, refusal);
            rejected(&locator, frame, bytes, limits, finding, Vec::new())
        }
        (Ok(document), Ok(source)) => Scanned {
            source,
            frame,
            bytes,
            document: &document,
            rows,
            settings,
            locator: &locator,
        }
        .read(),
    };
    if let Some(redactor) = settings.redactor.filter(|redactor| redactor.replaces()) {
        outcome.each(&mut |outcome| redact::clean(redactor, outcome));
    }
    outcome
}

/// A scanned frame, and all that is needed to read its conversations.
#[derive(Clone, Copy)]
struct Scanned<'s> {
    source: &'s dyn Source,
    frame: &'s Frame,
    bytes: &'s [u8],
    document: &'s Document<'s>,
    rows: Rows<'s>,
    settings: Settings<'s>,
    locator: &'s Locator<'s>,
}

impl Scanned<'_> {
    /// Reads the conversations of the frame, usually one.
    fn read(self) -> RecordOutcome {
        let view = FrameView {
            document: self.document,
            bytes: self.bytes,
            start: self.frame.start,
            key: match self.rows {
                Rows::Alone => None,
                Rows::Grouped(key) => key,
            },
            options: self.settings.options,
        };
        let (mut reading, unread_report) = chatmill_source::read(self.source, &view, self.settings.limits);
        let also = std::mem::take(&mut reading.also).into_iter();
        let mut outcome = self.outcome_of(reading, notes(self.document, self.frame));
        outcome.unread = self.place_unread(&unread_report.fields);
        outcome.words = (unread_report.read_words, unread_report.unread_words);
        outcome.also = also.map(|reading| self.outcome_of(reading, Vec::new())).collect();
        outcome
    }

    /// Locates the unread fields, in the order of their bytes.
    fn place_unread(self, unread: &[Unread]) -> Vec<UnreadAt> {
        if unread.is_empty() {
            return Vec::new();
        }
        let start = self.frame.start;
        let findings = unread.iter().map(|unread| {
            let finding = Finding::new(unread_field(unread.has_words), "");
            let finding = finding.at_path(unread.path.clone());
            let (first, end) = (start + unread.first.start as u64, start + unread.first.end as u64);
            Finding {
                count: unread.count,
                ..finding.at_span(first, end)
            }
        });
        let located = self
            .locator
            .locate_all(findings.collect(), None, self.source, None);
        let pairs = located.into_iter().zip(unread);
        pairs
            .map(|(located, unread)| UnreadAt {
                located,
                bytes: unread.bytes,
            })
            .collect()
    }

    /// Links and checks the conversations, and locates findings.
    fn outcome_of(self, mut reading: Reading, mut findings: Vec<Finding>) -> RecordOutcome {
        let Self {
            source,
            document,
            locator,
            settings,
            ..
        } = self;
        let limits = settings.limits;
        let folded = |findings| fold(findings, limits.findings_per_code, |finding| finding);
        let Some(mut conversation) = reading.conversation else {
            findings.extend(reading.findings);
            let findings = locator.locate_all(folded(findings), Some(document), source, None);
            if matches!(self.rows, Rows::Grouped(_)) && reading.error.is_none() {
                return RecordOutcome {
                    findings,
                    rejects: located(reading.rejects, locator, document, source, None),
                    rows: reading.rows,
                    ..RecordOutcome::default()
                };
            }
            let reason = reading
                .error
                .unwrap_or_else(|| Finding::new(&codes::WRONG_TYPE, "the record does not fit its format"));
            return rejected(locator, self.frame, self.bytes, limits, reason, findings);
        };
        for message in &mut conversation.messages {
            // A growing list starts with a capacity of four, and most messages have one part of 128 bytes.
            message.parts.shrink_to_fit();
        }
        let (mut linked, link_findings, repeats) = chatmill_link::link(conversation, limits);
        for finding in &mut reading.findings {
            finding.position = finding.position.map(|before| repeats.position(before));
        }
        findings.extend(reading.findings);
        findings.extend(link_findings);
        chatmill_rule::check(&linked, limits, &mut findings);
        if let Some(evaluations) = settings.evaluations {
            findings.extend(evaluations.findings(&linked.conversation));
        }
        let redaction = settings
            .redactor
            .and_then(|redactor| redact::redact(redactor, &mut linked, &mut findings));
        let mut counts = reading.rows;
        counts.repeated += repeats.dropped;
        counts.messages -= repeats.dropped - repeats.dropped_notices;
        counts.notices -= repeats.dropped_notices;
        findings
            .sort_by(|left, right| (left.position, left.code.code).cmp(&(right.position, right.code.code)));
        let findings = locator.locate_all(folded(findings), Some(document), source, Some(&linked));
        let rejects = located(reading.rejects, locator, document, source, Some(&linked));
        RecordOutcome {
            linked: Some(linked),
            findings,
            rejects,
            rows: counts,
            redaction,
            ..RecordOutcome::default()
        }
    }
}

/// Returns the rejects of messages, each with its place.
fn located(
    rejects: Vec<Reject>,
    locator: &Locator<'_>,
    document: &Document<'_>,
    source: &dyn Source,
    linked: Option<&Linked>,
) -> Vec<(Reject, Located)> {
    rejects
        .into_iter()
        .map(|mut reject| {
            reject.finding.span = Some(reject.span);
            let place = locator.locate(reject.finding.clone(), Some(document), source, linked);
            (reject, place)
        })
        .collect()
}

/// Returns the findings of the scan: repairs and notes.
fn notes(document: &Document<'_>, frame: &Frame) -> Vec<Finding> {
    let finding = |note: &Note| {
        let (at, end) = (frame.start + note.at as u64, frame.start + note.end as u64);
        Finding::new(note.code, note.message).at_span(at, end)
    };
    document.notes().iter().map(finding).collect()
}

fn rejected(
    locator: &Locator<'_>,
    frame: &Frame,
    bytes: &[u8],
    limits: &Limits,
    reason: Finding,
    findings: Vec<Located>,
) -> RecordOutcome {
    let reject = Reject {
        level: RejectLevel::Frame,
        span: Span::new(frame.start, frame.end),
        hash: blake3::hash(bytes).to_hex().to_string(),
        head: bytes.iter().copied().take(limits.reject_head as usize).collect(),
        finding: reason.clone(),
    };
    let place = locator.locate_plain(reason);
    RecordOutcome {
        findings,
        rejects: vec![(reject, place)],
        ..RecordOutcome::default()
    }
}
