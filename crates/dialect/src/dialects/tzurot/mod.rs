//! Tzurot message format 2.0 (2025-05-22): one request for each thing that somebody says to a personality.
//!
//! ```json
//! [{"role":"user","content":[{"type":"text","text":"And you?\nAlice said:\n\"Rust.\""}]}]
//! ```
//!
//! The format knows no history: a conversation gives one rendering per user message, and all that is left of other
//! turns is what the message quotes. What a rendering does not show is declared in it, one entry for each kind. A field `currentPersonality` in the record names the active personality; without it
//! the perspective is active.
//!
//! Nothing tells a message that is itself worded as a quote from one that quotes; where a request has a place for quotes,
//! such words are declared.
//!
//! Profile `v2-final` words quotes as the last release of version 2 did, tells by the ids of accounts who quotes himself, puts
//! the name of a proxy (`isProxyMessage`) before its text, and passes lists on that quote nothing.

mod active;
mod request;
mod write;

use chatmill_model::DEFAULT_PROFILE;

use crate::loss::{LossCode, united};
use crate::messages::wording::{DOCUMENT, V2_FINAL, Wording};
use crate::messages::{quote, text, unsupported};
use crate::passes::dialect::{Dialect, DialectAbout, RenderMessage, Renderer, Rules, Shows};
use crate::tools::forms;
use crate::transcript::Transcript;
use crate::transcript::rendering::Rendering;
use crate::view::extent::Coverage;

use request::Planner;

/// Requests to Tzurot, in profile `document`.
pub(crate) static TZUROT: Dialect = Dialect {
    profile: DEFAULT_PROFILE,
    about: &ABOUT,
    renderer: Renderer::EachMessage {
        loses: || loses(&DOCUMENT),
        messages: |transcript| requests(&DOCUMENT, transcript),
    },
};

/// As the last release of version 2 words them.
static FINAL: Dialect = Dialect {
    profile: "v2-final",
    about: &ABOUT,
    renderer: Renderer::EachMessage {
        loses: || loses(&V2_FINAL),
        messages: |transcript| requests(&V2_FINAL, transcript),
    },
};

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
    rules: Rules::Judged(&[]),
};

/// What requests in a version may cost.
fn loses(wording: &Wording) -> Vec<LossCode> {
    let of_proxies: &[LossCode] = if wording.names_proxies {
        &[LossCode::NameInlined]
    } else {
        &[]
    };
    united(&[
        unsupported::LOSES_FACTS,
        &unsupported::loses(request::LACKS),
        forms::LOSES_ALL,
        text::LOSES,
        quote::LOSES,
        request::LOSES,
        of_proxies,
    ])
}

/// Renders each message that somebody says to the personality.
fn requests<'t, 'a>(wording: &'static Wording, transcript: &'t Transcript<'a>) -> RenderMessage<'t, 'a> {
    let planner = Planner::new(transcript, wording);
    Box::new(move |message, sink| {
        let (request, losses) = planner.request(message)?;
        request.write(sink);
        Some(Rendering {
            ordinal: 0,
            coverage: Coverage::SingleTurn,
            first_position: Some(message.position),
            last_position: Some(message.position),
            messages_rendered: 1,
            first_role: Some("user"),
            last_role: Some("user"),
            assistant_messages: 0,
            losses: losses.finish(),
            violations: Vec::new(),
            paid: 0..0,
        })
    })
}
