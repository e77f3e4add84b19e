//! Jaibber's message payloads (document of 2026-02-28): an array of all payloads that were published in the channel of a project.
//!
//! ```json
//! [{"from":"u1","fromUsername":"ann","projectId":"p1","text":"@Coder why?","messageId":"m1","type":"message"},
//!  {"from":"u1","fromUsername":"Coder","projectId":"p1","text":"Because.","messageId":"r1","type":"response",
//!   "agentName":"Coder","isAgentMessage":true}]
//! ```
//!
//! The format has no perspective: the dialect renders a conversation once. Answers are written whole, not in chunks; an answer without an
//! end is one `chunk`. Fields of the document are in its order, followed by `parentMessageId` and further fields of messages of this
//! system. Presence, and files that belong to no message, have no payload.

mod known;
mod payload;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use chatmill_model::{Message, MessageKind, Part, Participant, ParticipantKind, Role, Sink};

use crate::dialects::jaibber::{self, declare_no_place};
use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::select::{self, SelectedMessages};
use crate::messages::unsupported::{self, Unsupported, declare_messages, facts_about};
use crate::naming::messages::MessageIds;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::view::View;
use crate::write::object::list;

use known::KnownParticipants;
use payload::PayloadWriter;

/// Jaibber's message payloads.
pub(crate) static JAIBBER_EVENTS: Dialect = Dialect::system(&ABOUT, loses, render);

static ABOUT: DialectAbout = DialectAbout {
    id: "jaibber-events",
    title: "Jaibber events",
    family: "jaibber",
    media_type: "application/json",
    specification: "Jaibber Message Format, message payloads",
    dated: "2026-02-28",
    carries: "people and agents, text, files by address, replies, mentions, chains of agents, ids, Jaibber's own notices",
    profiles: &[&JAIBBER_EVENTS],
    shows: Shows::Record,
    rules: Rules::Validated(&[]),
};

/// The properties of messages that payloads have no place for.
const LACKS: &[Unsupported] = &[Unsupported::Times];

fn loses() -> Vec<LossCode> {
    united(&[
        select::LOSES,
        select::LOSES_NOTICES,
        jaibber::LOSES,
        &unsupported::loses(LACKS),
        reasons::JAIBBER_EVENTS,
        &[LossCode::PartFlattened],
    ])
}

fn render<'a>(transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
    let view = transcript.view();
    let is_native = view.conversation().keeps_fields_of(ABOUT.id);
    let mut losses = Losses::default();
    let shown = SelectedMessages::choose(view, None, &mut losses, |message| renders(message, is_native));
    declare_no_place(view, &shown.covered, &mut losses);
    declare_messages(view, &shown.messages, LACKS, &mut losses);
    declare_chat_facts(view, &shown.messages, is_native, &mut losses);
    let known = KnownParticipants::of(transcript, &shown.messages, is_native);
    losses.whole_rendering(reasons::FIRST_SHOWS_ANOTHER_NAME, known.renamed);
    let generated = || transcript.arena().keep(view.generated_id("project"));
    let mut payloads = PayloadWriter {
        transcript,
        is_native,
        ids: MessageIds::new(view, transcript.arena()),
        project: view.own_id().unwrap_or_else(generated),
        known,
        unnamed_accounts: [OnceCell::new(), OnceCell::new()],
        losses,
    };
    let mut progress = Progress::default();
    list(sink, &shown.messages, |message, sink| {
        payloads.write(message, sink);
        match message.kind {
            MessageKind::Message => progress.rendered(message.position, message.role.as_str()),
            MessageKind::Notice => progress.noted(message.position),
        }
    });
    progress.finish(shown.extent, payloads.losses, Vec::new())
}

/// Whether a message or notice is published. An empty message is published, unless it has parts that payloads have no place for.
fn renders(message: &Message, is_native: bool) -> bool {
    match message.kind {
        MessageKind::Notice => is_native && message.source_type.as_deref() != Some("attachment"),
        MessageKind::Message => {
            let is_content = |part: &Part| match part {
                Part::Text(text) => !text.is_empty(),
                part => matches!(part, Part::Media(_)),
            };
            let is_mute = |part: &Part| match part {
                Part::Reasoning(thought) => !thought.is_empty(),
                part => !matches!(part, Part::Text(_)),
            };
            matches!(message.role, Role::User | Role::Assistant)
                && (message.parts.iter().any(is_content) || !message.parts.iter().any(is_mute))
        }
    }
}

/// Declares facts about the chat and its participants that payloads have no place for.
fn declare_chat_facts(view: &View<'_>, shown: &[&Message], is_native: bool, losses: &mut Losses) {
    let conversation = view.conversation();
    let speaking: BTreeSet<usize> = shown.iter().filter_map(|message| message.sender).collect();
    let has_no_id = u64::from(view.own_id().is_none() && !shown.is_empty());
    losses.whole_rendering(reasons::PAYLOAD_NAMES_ITS_PROJECT, has_no_id);
    losses.whole_rendering(reasons::PAYLOADS_HOLD_NO_CHAT_FACTS, facts_about(conversation));
    let is_dropped = |(place, person): &(usize, &Participant)| {
        !speaking.contains(place)
            || person.kind == ParticipantKind::Unknown
            || person.custom_role.is_some()
            || person.department.is_some()
            || person.email.is_some()
            || person
                .extra
                .0
                .iter()
                .any(|(key, _)| !is_native || key != "userId")
    };
    let participants = conversation.participants.iter().enumerate();
    losses.whole_rendering(
        reasons::PAYLOADS_HOLD_NO_PARTICIPANT_FACTS,
        participants.filter(is_dropped).count() as u64,
    );
    let aliases = conversation
        .participants
        .iter()
        .filter(|person| person.alias.is_some());
    losses.whole_rendering(reasons::PAYLOADS_HAVE_NO_SECOND_NAMES, aliases.count() as u64);
}
