//! Tzurot message format 2.0 (2025-05-22): one request for each message to a personality.
//!
//! ```json
//! [{"role":"user","content":[{"type":"text","text":"And you?\nAlice said:\n\"Rust.\""}]}]
//! ```
//!
//! The format has no history: a conversation has one rendering per user message, which shows other turns only as far as the message quotes
//! them. Each rendering declares what it does not show, with one entry for each kind. A field `currentPersonality` in the record names the
//! active personality; without it the perspective is active.
//!
//! A message with words like those of a quote cannot be distinguished from a quoting message; where a request has a place for quotes, such
//! words are declared.
//!
//! Profile `v2-final` words quotes like the last release of version 2, recognises quotes of the perspective's messages by account id, writes the
//! name of a proxy (`isProxyMessage`) before its text, and sends lists without quotes unchanged.

mod active;
mod request;

use crate::loss::{LossCode, reasons, united};
use crate::messages::unsupported::Unsupported;
use crate::messages::wording::{DOCUMENT, V2_FINAL, Wording};
use crate::messages::{text, unsupported};
use crate::passes::dialect::{Dialect, DialectAbout, RenderMessage, Rules, Shows};
use crate::tools::forms;
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::view::extent::{Coverage, Extent};

use request::RequestWriter;

/// Requests to Tzurot, in profile `document`.
pub(crate) static TZUROT: Dialect = Dialect::each_message(
    &ABOUT,
    || loses(&DOCUMENT),
    |transcript| requests(&DOCUMENT, transcript),
);

/// The same requests in the words of the last release of version 2.
static FINAL: Dialect = Dialect::each_message(
    &ABOUT,
    || loses(&V2_FINAL),
    |transcript| requests(&V2_FINAL, transcript),
)
.called("v2-final");

static ABOUT: DialectAbout = DialectAbout {
    id: "tzurot",
    title: "Tzurot request",
    family: "tzurot",
    media_type: "application/json",
    specification: "Tzurot Message Format Specification, version 2.0",
    dated: "2025-05-22",
    carries: "text, pictures and sounds with a web address, quoted replies",
    profiles: &[&TZUROT, &FINAL],
    shows: Shows::Conversation,
    rules: Rules::Validated(&[]),
};

/// The losses of parts and messages that have no place.
const LOSES: &[LossCode] = &[
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::NoticeDropped,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
    LossCode::WeightDropped,
    LossCode::MediaPlaceholder,
];

/// Returns the losses that requests in a version may declare.
fn loses(wording: &Wording) -> Vec<LossCode> {
    let of_proxies: &[LossCode] = if wording.names_proxies {
        &[LossCode::NameInlined]
    } else {
        &[]
    };
    united(&[
        unsupported::LOSES_FACTS,
        &unsupported::loses(Unsupported::BESIDE_WORDS),
        forms::LOSES_ALL,
        text::LOSES,
        reasons::QUOTES,
        reasons::TZUROT,
        LOSES,
        of_proxies,
    ])
}

/// Renders each message to the personality.
fn requests<'t, 'a>(wording: &'static Wording, transcript: &'t Transcript<'a>) -> RenderMessage<'t, 'a> {
    let requests = RequestWriter::new(transcript, wording);
    Box::new(move |message, sink| {
        let losses = requests.request(message, sink)?;
        let mut progress = Progress::default();
        progress.rendered(message.position, "user");
        let extent = Extent {
            coverage: Coverage::SingleTurn,
            first: message.position,
        };
        Some(progress.finish(extent, losses, Vec::new()))
    })
}
