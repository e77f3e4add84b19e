//! Jaibber's conversation context (document of 2026-02-28): a sentence, then the newest twenty messages.
//!
//! ```text
//! Respond ONLY to the final user message. Previous messages are for context.
//!
//! User: first message text
//!
//! Assistant (AgentName): response text
//! ```
//!
//! Users are `User` and have no names; agents have their names, for every perspective. Nothing is escaped, so a text of several paragraphs
//! reads as several turns; a paragraph that begins like a turn is declared.

use chatmill_model::{Component, Level, Message, Part, Participant, Role, Sink, Speaker};

use crate::dialects::jaibber::{self, declare_no_place};
use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::select::{self, SelectedMessages};
use crate::messages::system;
use crate::messages::text::{self, declared_words};
use crate::messages::unsupported::{self, Unsupported, declare_conversation, declare_messages};
use crate::naming::participants::AGENT;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::text::edit::paragraphs_like;
use crate::text::media::placeholder;
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::view::View;
use crate::view::policy::MediaPolicy;

const SENTENCE: &str = "Respond ONLY to the final user message. Previous messages are for context.";

/// Number of messages in the window.
const WINDOW_MESSAGES: u32 = 20;

/// Jaibber's prompts.
pub(crate) static JAIBBER_CONTEXT: Dialect = Dialect::system(&ABOUT, loses, render);

static ABOUT: DialectAbout = DialectAbout {
    id: "jaibber-context",
    title: "Jaibber context",
    family: "transcript",
    media_type: "text/plain",
    specification: "Jaibber Message Format, conversation context format",
    dated: "2026-02-28",
    carries: "text and the names of agents, of the newest 20 messages",
    profiles: &[&JAIBBER_CONTEXT],
    shows: Shows::Flattened,
    rules: Rules::Validated(&[]),
};

fn loses() -> Vec<LossCode> {
    united(&[
        select::LOSES,
        select::LOSES_NOTICES,
        jaibber::LOSES,
        unsupported::LOSES_FACTS,
        &unsupported::loses(Unsupported::BESIDE_WORDS),
        text::LOSES,
        reasons::JAIBBER_CONTEXT,
        &[LossCode::EmptyDropped],
    ])
}

fn render<'a>(transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
    let view = transcript.view();
    let mut losses = Losses::default();
    let shown = SelectedMessages::choose(view, Some(WINDOW_MESSAGES), &mut losses, has_text_or_media);
    declare_no_place(view, &shown.covered, &mut losses);
    declare_silent(&shown.covered, &mut losses);
    system::declare_unplaced(view, &mut losses);
    declare_conversation(view, &mut losses);
    declare_messages(view, &shown.messages, Unsupported::BESIDE_WORDS, &mut losses);
    let mut progress = Progress::default();
    sink.framing(SENTENCE);
    for message in &shown.messages {
        if write(transcript, message, &mut losses, sink) {
            progress.rendered(message.position, message.role.as_str());
        }
    }
    progress.finish(shown.extent, losses, Vec::new())
}

fn is_chat_message(message: &Message) -> bool {
    View::is_turn(message) && matches!(message.role, Role::User | Role::Assistant)
}

fn has_text_or_media(message: &Message) -> bool {
    let is_content = |part: &Part| matches!(part, Part::Text(_) | Part::Media(_));
    is_chat_message(message) && message.parts.iter().any(is_content)
}

/// Declares the empty messages inside the window.
fn declare_silent(covered: &[&Message], losses: &mut Losses) {
    for message in covered {
        if is_chat_message(message) && message.parts.is_empty() {
            losses.at(reasons::MESSAGE_IS_EMPTY, message.position);
        }
    }
}

/// Writes the turn of a message; returns `false`, and writes nothing, if no content is left.
fn write<'a>(
    transcript: &Transcript<'a>,
    message: &'a Message,
    losses: &mut Losses,
    sink: &mut Sink<'a>,
) -> bool {
    let (view, position) = (transcript.view(), message.position);
    let texts = texts(transcript, message, losses);
    if texts.is_empty() {
        losses.at(reasons::MESSAGE_IS_EMPTY, position);
        return false;
    }
    losses.several(reasons::JOINED_INTO_ONE_TURN, position, texts.len() as u64 - 1);
    let references = message.references.len() as u64;
    losses.several(reasons::CONTEXT_HAS_NO_REPLIES, position, references);
    sink.set_speaker(Speaker::Other);
    sink.framing("\n\n");
    sink.answer(view.speaker(message), Some(position));
    if message.role == Role::Assistant {
        sink.framing("Assistant (");
        sink.content(agent_name(view, message), Level::Raw, Component::Names);
        sink.framing("): ");
    } else {
        losses.whole_rendering(reasons::CONTEXT_HAS_NO_NAMES, u64::from(message.sender.is_some()));
        sink.framing("User: ");
    }
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            sink.framing("\n");
        }
        sink.content(text, Level::Raw, Component::Content);
    }
    true
}

/// Returns the name of an agent. An id is not a substitute, because readers of the context do not know ids.
fn agent_name<'a>(view: &View<'a>, message: &'a Message) -> &'a str {
    let own = view.sender(message).and_then(Participant::own_name);
    own.or(message.sender_name.as_deref().filter(|name| !name.is_empty()))
        .unwrap_or(AGENT)
}

/// Returns the texts of a turn, with media by name.
fn texts<'a>(transcript: &Transcript<'a>, message: &'a Message, losses: &mut Losses) -> Vec<&'a str> {
    let (view, position) = (transcript.view(), message.position);
    let mut texts = Vec::new();
    for (_, part) in message.own_parts() {
        let text = declared_words(view, message, part, losses);
        match (part, text) {
            (_, Some(text)) => {
                let spelled = paragraphs_like(&text, &["User: ", "Assistant ("]);
                losses.several(reasons::TURN_SPELLED_WITHOUT_ESCAPE, position, spelled);
                texts.push(transcript.arena().keep(text));
            }
            (Part::Media(_), None) if view.policy.media == MediaPolicy::Drop => {
                losses.at(reasons::POLICY_DROPS_MEDIA, position);
            }
            (Part::Media(media), None) => {
                losses.at(reasons::CONTEXT_NAMES_MEDIA, position);
                texts.push(transcript.arena().keep(placeholder(media)));
            }
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}
