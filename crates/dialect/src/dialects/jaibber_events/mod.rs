//! Jaibber's message payloads (document of 2026-02-28): one array of what was published in a project's channel.
//!
//! ```json
//! [{"from":"u1","fromUsername":"ann","projectId":"p1","text":"@Coder why?","messageId":"m1","type":"message"},
//!  {"from":"u1","fromUsername":"Coder","projectId":"p1","text":"Because.","messageId":"r1","type":"response",
//!   "agentName":"Coder","isAgentMessage":true}]
//! ```
//!
//! Nobody is the assistant here: the dialect renders once. Answers are written whole, not in pieces; an answer whose end is
//! missing is one `chunk`. Fields of the document stand in its order, `parentMessageId` and what else a project's own
//! messages hold after them. Presence and files that belong to no message are not a message payloads.

mod known;
mod payload;

use std::collections::BTreeSet;

use chatmill_model::{Conversation, Message, MessageKind, Part, Participant, ParticipantKind, Role, Sink};

use crate::about::{DialectAbout, Rules};
use crate::dialects::jaibber::declare_unspoken;
use crate::loss::{LossCode, Losses, reasons};
use crate::select_messages::SelectedMessages;
use crate::transcript::Transcript;
use crate::unsupported::{Unsupported, declare_messages};
use crate::{Dialect, Emit};

use known::Known;
use payload::Writer;

/// The dialect of Jaibber's message payloads.
pub(crate) struct JaibberEvents;

static ABOUT: DialectAbout = DialectAbout {
    title: "Jaibber events",
    family: "jaibber",
    media_type: "application/json",
    specification: "Jaibber Message Format, message payloads",
    dated: "2026-02-28",
    carries: "people and agents, text, files by address, replies, mentions, chains of agents, ids, Jaibber's own notices",
    loses: "times, tools, system text, reasoning, files in the record, facts about people and rooms, other systems' notices",
    profiles: &[&JaibberEvents],
    neutral: true,
    rules: Rules::Judged(&[]),
};

/// What a rendering may lose.
const LOSES: &[LossCode] = &[
    LossCode::NameDropped,
    LossCode::NameSynthesised,
    LossCode::ToolIdRewritten,
    LossCode::ArgsMalformed,
    LossCode::ArgsNotObject,
    LossCode::ArgsReserialised,
    LossCode::MediaDropped,
    LossCode::MediaDescriptionDropped,
    LossCode::PartFlattened,
    LossCode::PartMoved,
    LossCode::TimestampDropped,
    LossCode::MessageIdDropped,
    LossCode::MessageIdSynthesised,
    LossCode::ConversationIdSynthesised,
    LossCode::SenderMissing,
    LossCode::WeightDropped,
    LossCode::MentionDropped,
    LossCode::NoticeDropped,
    LossCode::ParticipantDropped,
    LossCode::MetadataDropped,
    LossCode::ExtraDropped,
    LossCode::ReferenceDropped,
    LossCode::ReferenceUnresolved,
    LossCode::ReferenceNested,
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
];

impl Dialect for JaibberEvents {
    fn id(&self) -> &'static str {
        "jaibber-events"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn loses(&self) -> Vec<LossCode> {
        LOSES.to_vec()
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let view = transcript.view();
        let is_native = view.conversation().keeps_form(self.id());
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, None, &mut losses, |message| renders(message, is_native));
        declare_unspoken(view, &shown.stretch, &mut losses);
        declare_messages(view, &shown.messages, &[Unsupported::Times], &mut losses);
        let speaking: BTreeSet<usize> = shown
            .messages
            .iter()
            .filter_map(|message| message.sender)
            .collect();
        declare_room(view.conversation(), &speaking, is_native, &mut losses);
        let known = Known::of(view, &shown.messages, is_native);
        losses.whole_rendering(
            LossCode::NameDropped,
            known.renamed,
            reasons::FIRST_SHOWS_ANOTHER_NAME,
        );
        losses.whole_rendering(
            LossCode::ConversationIdSynthesised,
            u64::from(view.own_id().is_none() && !shown.messages.is_empty()),
            reasons::PAYLOAD_NAMES_ITS_PROJECT,
        );
        let mut writer = Writer::new(view, is_native, known, losses);
        sink.framing("[");
        for (index, message) in shown.messages.iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            writer.write(sink, message);
        }
        sink.framing("]");
        emit(sink, writer.finish(shown.extent));
    }
}

/// Whether a message or notice is published. A message that says nothing is, unless it holds what a payload has no place for.
fn renders(message: &Message, is_native: bool) -> bool {
    match message.kind {
        MessageKind::Notice => is_native && message.source_type.as_deref() != Some("attachment"),
        MessageKind::Message => {
            let says = |part: &Part| match part {
                Part::Text(text) => !text.is_empty(),
                part => matches!(part, Part::Media(_)),
            };
            let is_mute = |part: &Part| match part {
                Part::Reasoning(thought) => !thought.is_empty(),
                part => !matches!(part, Part::Text(_)),
            };
            matches!(message.role, Role::User | Role::Assistant)
                && (message.parts.iter().any(says) || !message.parts.iter().any(is_mute))
        }
    }
}

/// Declares facts about the room and its people that no payload holds.
fn declare_room(
    conversation: &Conversation,
    speaking: &BTreeSet<usize>,
    is_native: bool,
    losses: &mut Losses,
) {
    let facts = usize::from(conversation.title.is_some())
        + usize::from(conversation.description.is_some())
        + conversation.extra.0.len()
        + conversation.envelope.0.len();
    losses.whole_rendering(
        LossCode::MetadataDropped,
        facts as u64,
        reasons::PAYLOADS_HOLD_NO_ROOM,
    );
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
    let people = conversation.participants.iter().enumerate();
    losses.whole_rendering(
        LossCode::ParticipantDropped,
        people.filter(is_dropped).count() as u64,
        reasons::PAYLOADS_HOLD_NO_PEOPLE,
    );
    let aliases = conversation
        .participants
        .iter()
        .filter(|person| person.alias.is_some());
    losses.whole_rendering(
        LossCode::NameDropped,
        aliases.count() as u64,
        reasons::PAYLOADS_HAVE_NO_SECOND_NAMES,
    );
}
