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

use chatmill_model::Sink;

use crate::about::{DialectAbout, Rules};
use crate::loss::{LossCode, united};
use crate::rendering::{Coverage, Rendering};
use crate::transcript::Transcript;
use crate::wording::{DOCUMENT, V2_FINAL, Wording};
use crate::{Dialect, Emit, definitions, message_text, quote, unsupported};

use request::Planner;

/// The dialect of Tzurot's requests.
pub(crate) struct Tzurot {
    profile: &'static str,
    wording: &'static Wording,
}

/// In profile `document`.
pub(crate) static TZUROT: Tzurot = Tzurot {
    profile: "document",
    wording: &DOCUMENT,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "Tzurot request",
    family: "tzurot",
    media_type: "application/json",
    specification: "Tzurot Message Format Specification, version 2.0",
    dated: "2025-05-22",
    carries: "text, pictures and sounds with a web address, quoted replies",
    profiles: &[
        &TZUROT,
        &Tzurot {
            profile: "v2-final",
            wording: &V2_FINAL,
        },
    ],
    neutral: false,
    own_system: true,
    rules: Rules::Judged(&[]),
};

impl Dialect for Tzurot {
    fn id(&self) -> &'static str {
        "tzurot"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn loses(&self) -> Vec<LossCode> {
        let of_proxies: &[LossCode] = if self.wording.names_proxies {
            &[LossCode::NameInlined]
        } else {
            &[]
        };
        united(&[
            unsupported::LOSES_FACTS,
            &unsupported::loses(request::LACKS),
            definitions::LOSES_ALL,
            message_text::LOSES,
            quote::LOSES,
            request::LOSES,
            of_proxies,
        ])
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let planner = Planner::new(transcript, self.wording);
        let mut ordinal = 0;
        for message in &transcript.view().conversation().messages {
            if let Some((request, losses)) = planner.request(message) {
                request.write(sink);
                let rendering = Rendering {
                    ordinal,
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
                };
                emit(sink, rendering);
                ordinal += 1;
            }
        }
    }

    fn is_single_turn(&self) -> bool {
        true
    }
}
