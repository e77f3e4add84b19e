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
//! People are `User` and have no names here; agents have theirs, whoever's perspective it is. Nothing is escaped, so a text
//! of several paragraphs cannot be told from several turns; where a paragraph begins like a turn, that is declared.

use std::borrow::Cow;

use chatmill_model::{Component, Level, Message, Part, Participant, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::loss::{LossCode, Losses, reasons};
use crate::media::placeholder;
use crate::message_text::declared_text;
use crate::names::AGENT;
use crate::policy::MediaPolicy;
use crate::progress::Progress;
use crate::select_messages::SelectedMessages;
use crate::text::paragraphs_like;
use crate::transcript::Transcript;
use crate::unsupported::{Unsupported, declare_conversation, declare_messages};
use crate::view::View;
use crate::{Dialect, Emit};

/// The dialect of Jaibber's prompts.
pub(crate) struct JaibberContext;

const SENTENCE: &str = "Respond ONLY to the final user message. Previous messages are for context.";

/// Messages in the window.
const WINDOW_MESSAGES: u32 = 20;

static ABOUT: DialectAbout = DialectAbout {
    title: "Jaibber context",
    family: "transcript",
    media_type: "text/plain",
    specification: "Jaibber Message Format, conversation context format",
    dated: "2026-02-28",
    carries: "text and the names of agents, of the newest 20 messages",
    profiles: &[&JaibberContext],
    neutral: false,
    rules: Rules::Judged(&[]),
};

/// What a rendering may lose.
const LOSES: &[LossCode] = &[
    LossCode::NameDropped,
    LossCode::SystemDropped,
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::ToolDefinitionDropped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::PartFlattened,
    LossCode::EmptyDropped,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
    LossCode::TimestampDropped,
    LossCode::MessageIdDropped,
    LossCode::WeightDropped,
    LossCode::MentionDropped,
    LossCode::NoticeDropped,
    LossCode::ParticipantDropped,
    LossCode::MetadataDropped,
    LossCode::ExtraDropped,
    LossCode::ReferenceDropped,
    LossCode::ReferenceNested,
    LossCode::SpecialTokenInText,
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
];

impl Dialect for JaibberContext {
    fn id(&self) -> &'static str {
        "jaibber-context"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn loses(&self) -> Vec<LossCode> {
        LOSES.to_vec()
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let view = transcript.view();
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, Some(WINDOW_MESSAGES), &mut losses, |message| {
            View::is_turn(message)
                && matches!(message.role, Role::User | Role::Assistant)
                && message
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::Text(_) | Part::Media(_)))
        });
        declare_unspoken(view, &shown.stretch, &mut losses);
        declare_silent(&shown.stretch, &mut losses);
        declare_conversation(view, &mut losses);
        declare_messages(
            view,
            &shown.messages,
            &[
                Unsupported::MessageIds,
                Unsupported::Times,
                Unsupported::Mentions,
                Unsupported::Extra,
            ],
            &mut losses,
        );
        let mut progress = Progress::default();
        sink.framing(SENTENCE);
        let mut nameless = 0;
        for message in &shown.messages {
            let Some(texts) = texts(view, message, &mut losses) else {
                continue;
            };
            sink.speak(Speaker::Other);
            sink.framing("\n\n");
            if view.is_own(message) {
                sink.speak(Speaker::Perspective);
            }
            let references = message.references.len() as u64;
            losses.several(
                LossCode::ReferenceDropped,
                message.position,
                references,
                reasons::CONTEXT_HAS_NO_REPLIES,
            );
            let said_as = if message.role == Role::Assistant {
                sink.framing("Assistant (");
                sink.content(agent_name(view, message), Level::Raw, Component::Names);
                sink.framing("): ");
                "assistant"
            } else {
                nameless += u64::from(message.sender.is_some());
                sink.framing("User: ");
                "user"
            };
            for (index, text) in texts.into_iter().enumerate() {
                if index > 0 {
                    sink.framing("\n");
                }
                sink.content(text, Level::Raw, Component::Content);
            }
            progress.said(message.position, said_as);
        }
        losses.whole_rendering(LossCode::NameDropped, nameless, reasons::CONTEXT_HAS_NO_NAMES);
        emit(sink, progress.finish(shown.extent, losses, Vec::new()));
    }
}

/// The name of an agent; an id says nothing to those who read the context.
fn agent_name<'a>(view: &View<'a>, message: &'a Message) -> &'a str {
    let own = view.sender(message).and_then(Participant::own_name);
    own.or(message.sender_name.as_deref().filter(|name| !name.is_empty()))
        .unwrap_or(AGENT)
}

/// Declares the messages inside the window that say nothing.
fn declare_silent(stretch: &[&Message], losses: &mut Losses) {
    for message in stretch {
        if View::is_turn(message)
            && matches!(message.role, Role::User | Role::Assistant)
            && message.parts.is_empty()
        {
            losses.at(
                LossCode::EmptyDropped,
                message.position,
                reasons::MESSAGE_SAYS_NOTHING,
            );
        }
    }
}

/// Declares what no part of Jaibber has a place for, in a stretch: system text, tools, thoughts.
pub(crate) fn declare_unspoken(view: &View<'_>, stretch: &[&Message], losses: &mut Losses) {
    for message in stretch {
        if !View::is_turn(message) {
            continue;
        }
        if message.role == Role::System {
            losses.at(
                LossCode::SystemDropped,
                message.position,
                reasons::FORMAT_HAS_NO_SYSTEM_TEXT,
            );
        }
        for part in &message.parts {
            let (code, reason) = match part {
                Part::ToolCall(_) => (LossCode::ToolCallDropped, reasons::FORMAT_HAS_NO_TOOLS),
                Part::ToolResult(_) => (LossCode::ToolResultDropped, reasons::FORMAT_HAS_NO_TOOLS),
                Part::Reasoning(_) => (LossCode::ReasoningDropped, reasons::FORMAT_HAS_NO_REASONING),
                Part::CacheMark => (LossCode::CacheMarkDropped, reasons::FORMAT_HAS_NO_CACHE_MARKS),
                Part::Notice(_) => (LossCode::NoticeDropped, reasons::MESSAGE_HAS_NO_NOTICES),
                Part::Text(_) if message.role == Role::Tool => {
                    (LossCode::ToolResultDropped, reasons::FORMAT_HAS_NO_TOOLS)
                }
                Part::Media(_) if message.role == Role::Tool => {
                    (LossCode::MediaDropped, reasons::FORMAT_HAS_NO_TOOLS)
                }
                Part::Text(_) | Part::Media(_) => continue,
            };
            losses.at(code, message.position, reason);
        }
    }
    losses.whole_rendering(
        LossCode::ToolDefinitionDropped,
        view.conversation().tools.len() as u64,
        reasons::FORMAT_HAS_NO_TOOLS,
    );
}

/// The texts of a turn, media by name; none when nothing is left to say.
fn texts<'a>(view: &View<'a>, message: &'a Message, losses: &mut Losses) -> Option<Vec<Cow<'a, str>>> {
    let position = message.position;
    let mut texts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => {
                let text = declared_text(view, message, text, losses);
                losses.several(
                    LossCode::SpecialTokenInText,
                    position,
                    paragraphs_like(&text, &["User: ", "Assistant ("]),
                    reasons::TURN_SPELLED_WITHOUT_ESCAPE,
                );
                texts.push(text);
            }
            Part::Media(_) if view.policy.media == MediaPolicy::Drop => {
                losses.at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
            }
            Part::Media(media) => {
                losses.at(LossCode::MediaPlaceholder, position, reasons::CONTEXT_NAMES_MEDIA);
                texts.push(Cow::Owned(placeholder(media)));
            }
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    if texts.is_empty() {
        losses.at(LossCode::EmptyDropped, position, reasons::MESSAGE_SAYS_NOTHING);
        return None;
    }
    losses.several(
        LossCode::PartFlattened,
        position,
        texts.len() as u64 - 1,
        reasons::JOINED_INTO_ONE_TURN,
    );
    Some(texts)
}
