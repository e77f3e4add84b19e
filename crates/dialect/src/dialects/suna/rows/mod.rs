//! Rows of Suna's `messages` table, columns in the order of its document.
//!
//! ```json
//! [{"message_id":"m1","thread_id":"t1","type":"user","content":"{\"role\":\"user\",\"content\":\"Hi\"}",
//!   "is_llm_message":true,"metadata":{},"created_at":"2025-11-07T10:00:00+00:00"}]
//! ```
//!
//! A message stands as JSON in the string `content`. Rows hold what happened: nobody is the assistant, nothing is moved,
//! paired or repaired. Every row names its thread and has metadata, times are ISO 8601. Status rows of Suna's own threads come back as the objects that they were; notices of other systems
//! have no row. Agents and users are named by their ids only.

mod columns;
mod content;
mod ids;

use std::borrow::Cow;

use chatmill_model::{Component, Message, MessageKind, Part, Role, Sink, ToolResult};

use super::{DATED, SPECIFICATION};
use crate::about::{DialectAbout, Rules};
use crate::definitions;
use crate::json;
use crate::loss::{LossCode, Losses, reasons};
use crate::policy::Reasoning;
use crate::progress::Progress;
use crate::select_messages::SelectedMessages;
use crate::times;
use crate::tool_ids::ToolIds;
use crate::transcript::Transcript;
use crate::unsupported::{Unsupported, declare_conversation, declare_messages};
use crate::view::View;
use crate::{Dialect, Emit};

use ids::RowIds;

/// The dialect of Suna's database rows.
pub(crate) struct SunaRows;

static ABOUT: DialectAbout = DialectAbout {
    title: "Suna database rows",
    family: "suna-rows",
    media_type: "application/json",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, tools, ids, times, cache marks, reasoning if policy keeps it, Suna's own status rows and further columns",
    profiles: &[&SunaRows],
    neutral: true,
    rules: Rules::Judged(&[]),
};

/// What a rendering may lose.
const LOSES: &[LossCode] = &[
    LossCode::NameDropped,
    LossCode::RoleMapped,
    LossCode::TurnSplit,
    LossCode::ToolIdRewritten,
    LossCode::ToolNameRewritten,
    LossCode::ToolDefinitionDropped,
    LossCode::ErrorFlagDropped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::PartFlattened,
    LossCode::PartMoved,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
    LossCode::TimestampDropped,
    LossCode::MessageIdDropped,
    LossCode::MessageIdSynthesised,
    LossCode::ConversationIdSynthesised,
    LossCode::WeightDropped,
    LossCode::MentionDropped,
    LossCode::NoticeDropped,
    LossCode::ParticipantDropped,
    LossCode::MetadataDropped,
    LossCode::ExtraDropped,
    LossCode::ReferenceDropped,
    LossCode::ReferenceNested,
    LossCode::ReservedTextEscaped,
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
];

impl Dialect for SunaRows {
    fn id(&self) -> &'static str {
        "suna-rows"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn loses(&self) -> Vec<LossCode> {
        LOSES.to_vec()
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let view = transcript.view();
        let is_native = is_native(view);
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, None, &mut losses, |message| {
            is_native || View::is_turn(message)
        });
        declare_conversation(view, &mut losses);
        let lacks: &[Unsupported] = if is_native {
            &[Unsupported::Mentions]
        } else {
            &[Unsupported::Mentions, Unsupported::Extra]
        };
        declare_messages(view, &shown.messages, lacks, &mut losses);
        let spelled = shown
            .messages
            .iter()
            .map(|message| columns::unwritten(view, message));
        losses.whole_rendering(
            LossCode::ExtraDropped,
            spelled.sum(),
            reasons::CONTENT_IS_WRITTEN_ANEW,
        );
        let named = shown.messages.iter().filter(|message| has_name(view, message));
        losses.whole_rendering(
            LossCode::NameDropped,
            named.count() as u64,
            reasons::ROWS_KNOW_IDS,
        );
        definitions::lose(&view.conversation().tools, &mut losses);
        let own_id = view.own_id();
        losses.whole_rendering(
            LossCode::ConversationIdSynthesised,
            u64::from(own_id.is_none() && !shown.messages.is_empty()),
            reasons::ROW_NAMES_ITS_THREAD,
        );
        let mut writer = Writer {
            view,
            thread: own_id.map_or_else(|| Cow::Owned(view.made_id("thread")), Cow::Borrowed),
            ids: RowIds::new(view),
            tools: ToolIds::new(view, &shown.messages, false, &mut losses),
            sink: &mut *sink,
            losses,
            progress: Progress::default(),
            separator: "[",
        };
        for message in &shown.messages {
            writer.message(message);
        }
        let is_empty = writer.separator == "[";
        writer.sink.framing(if is_empty { "[]" } else { "]" });
        let Writer { progress, losses, .. } = writer;
        emit(sink, progress.finish(shown.extent, losses, Vec::new()));
    }
}

/// Whether a conversation was read from such rows.
pub(crate) fn is_native(view: &View<'_>) -> bool {
    view.conversation().keeps_form("suna-rows")
}

fn has_name(view: &View<'_>, message: &Message) -> bool {
    let sender = view.sender(message);
    message.sender_name.is_some()
        || sender.is_some_and(|sender| sender.name.is_some() || sender.alias.is_some())
}

struct Writer<'v, 'a> {
    view: &'v View<'a>,
    /// Id of the thread.
    thread: Cow<'a, str>,
    ids: RowIds<'a>,
    tools: ToolIds<'a>,
    sink: &'v mut Sink<'a>,
    losses: Losses,
    progress: Progress,
    separator: &'static str,
}

/// What a row holds.
#[derive(Clone, Copy)]
enum RowContent<'a> {
    /// Texts and calls of a message.
    Said,
    /// The result at this place among the parts.
    Result(usize, &'a ToolResult),
    /// A status row.
    Notice,
}

impl<'a> Writer<'_, 'a> {
    fn message(&mut self, message: &'a Message) {
        if message.kind == MessageKind::Notice {
            self.row(message, RowContent::Notice, 0);
            self.progress.noted(message.position);
            return;
        }
        let position = message.position;
        let results: Vec<(usize, &ToolResult)> = message
            .parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match part {
                Part::ToolResult(result) => Some((index, result)),
                _ => None,
            })
            .collect();
        let keeps_thoughts = self.view.policy.reasoning == Reasoning::Keep;
        let says_more = results.is_empty()
            || message.parts.iter().any(|part| match part {
                Part::Text(_) | Part::ToolCall(_) => true,
                Part::Media(_) => message.role != Role::Tool,
                Part::Reasoning(_) => keeps_thoughts,
                Part::ToolResult(_) | Part::Notice(_) | Part::CacheMark => false,
            });
        let mut rows = 0;
        if says_more {
            self.row(message, RowContent::Said, rows);
            self.progress.said(position, message.role.as_str());
            rows += 1;
        }
        for (place, result) in results {
            if message.role != Role::Tool {
                self.losses
                    .at(LossCode::RoleMapped, position, reasons::RESULT_IS_A_TOOLS_ROW);
            }
            self.row(message, RowContent::Result(place, result), rows);
            self.progress.said(position, "tool");
            rows += 1;
        }
        self.losses.several(
            LossCode::TurnSplit,
            position,
            rows.saturating_sub(1),
            reasons::RESULT_IS_A_ROW,
        );
        self.losses.several(
            LossCode::ReferenceDropped,
            position,
            message.references.len() as u64,
            reasons::ROWS_HAVE_NO_REPLIES,
        );
        self.unsaid(message, says_more);
    }

    /// Declares the parts that no row holds.
    fn unsaid(&mut self, message: &Message, says_more: bool) {
        for part in &message.parts {
            let (code, reason) = match part {
                Part::Media(_) if !says_more => (LossCode::MediaDropped, reasons::ROW_OF_A_RESULT_IS_TEXT),
                Part::Reasoning(_) if self.view.policy.reasoning == Reasoning::Keep => continue,
                Part::Reasoning(_) => (LossCode::ReasoningDropped, reasons::POLICY_DROPS_REASONING),
                Part::Notice(_) => (LossCode::NoticeDropped, reasons::ROW_IS_MESSAGE_OR_NOTICE),
                Part::ToolResult(result) if result.is_error => {
                    (LossCode::ErrorFlagDropped, reasons::RESULT_SAYS_NO_FAILURE)
                }
                _ => continue,
            };
            self.losses.at(code, message.position, reason);
        }
    }

    fn row(&mut self, message: &'a Message, held: RowContent<'a>, number: u64) {
        self.sink.framing(self.separator);
        self.separator = ",";
        let id = self.ids.of(message, number, &mut self.losses);
        self.sink.framing("{\"message_id\":");
        self.sink.json_string(id, Component::Meta);
        if let Some(thread) = self.stored(message, "thread_id") {
            self.sink.framing(",\"thread_id\":");
            self.sink.raw_json(thread.as_str(), Component::Meta);
        } else {
            self.sink.framing(",\"thread_id\":");
            self.sink.json_string(self.thread.clone(), Component::Meta);
        }
        self.sink.framing(",\"type\":");
        self.sink.json_string(self.kind(message, held), Component::Meta);
        self.sink.framing(",\"content\":");
        match held {
            RowContent::Said => self.said(message),
            RowContent::Result(place, result) => self.result(message, place, result),
            RowContent::Notice => self.notice(message),
        }
        self.sink.framing(",\"is_llm_message\":");
        match (self.stored(message, "is_llm_message"), held) {
            (Some(stored), _) => self.sink.raw_json(stored.as_str(), Component::Meta),
            (None, RowContent::Said | RowContent::Result(..)) => self.sink.framing("true"),
            (None, RowContent::Notice) => self.sink.framing("false"),
        }
        self.metadata(message, held);
        self.who(message, held);
        if let Some(time) = &message.timestamp {
            self.sink.framing(",\"created_at\":");
            self.sink.json_string(times::iso(time), Component::Meta);
        }
        self.others(message);
        self.sink.framing("}");
    }

    /// The type: the row's own word, else the role.
    fn kind(&self, message: &'a Message, held: RowContent<'a>) -> &'a str {
        let own = message.source_type.as_deref().filter(|_| is_native(self.view));
        own.unwrap_or(match held {
            RowContent::Said => message.role.as_str(),
            RowContent::Result(..) => "tool",
            RowContent::Notice => "status",
        })
    }

    /// The content of a status row: an object where it was one.
    fn notice(&mut self, message: &'a Message) {
        let mut texts = message.parts.iter().filter_map(|part| match part {
            Part::Notice(text) | Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default();
        self.losses.several(
            LossCode::NoticeDropped,
            message.position,
            texts.count() as u64,
            reasons::STATUS_ROW_HOLDS_ONE_TEXT,
        );
        if first.starts_with(['{', '[']) && json::is_portable(first) {
            self.sink.raw_json(first, Component::Content);
        } else {
            self.sink.json_string(first, Component::Content);
        }
    }
}
