//! Rejecting one message of an accepted frame.

use chatmill_diag::{Finding, Limits, Reject, RejectLevel, Severity, Span};
use chatmill_intake::json::Value;

use crate::FrameView;
use crate::notes::Notes;

/// A reject of this message with its bytes; the finding becomes an error.
pub fn reject_message(
    frame: FrameView<'_>,
    notes: &Notes,
    message: Value<'_>,
    finding: Finding,
    limits: &Limits,
) -> Reject {
    let span = message.span();
    let bytes = frame.bytes.get(span.clone()).unwrap_or_default();
    let head = usize::try_from(limits.reject_head).unwrap_or(usize::MAX);
    Reject {
        level: RejectLevel::Message,
        span: Span {
            start: frame.start + span.start as u64,
            end: frame.start + span.end as u64,
        },
        hash: blake3::hash(bytes).to_hex().to_string(),
        head: bytes.get(..head).unwrap_or(bytes).to_vec(),
        finding: notes.spanned(finding.with_severity(Severity::Error), span),
    }
}
