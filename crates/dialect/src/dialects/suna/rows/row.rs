//! Rows: what becomes of a message, and what that costs.

use chatmill_model::{Message, MessageKind, Part, Role};

use super::columns::{Metadata, Value, thought};
use super::content::Content;
use super::plan::{Planner, RowContent};
use crate::loss::{LossCode, reasons};
use crate::naming::unique::free_id;
use crate::text::times;
use crate::view::facts;

/// What making rows of messages may cost.
pub(super) const LOSES: &[LossCode] = &[
    LossCode::RoleMapped,
    LossCode::TurnSplit,
    LossCode::ReferenceDropped,
    LossCode::MediaDropped,
    LossCode::ReasoningDropped,
    LossCode::NoticeDropped,
    LossCode::ErrorFlagDropped,
    LossCode::MessageIdSynthesised,
];

/// A row, column by column.
pub(super) struct Row<'a> {
    /// The role in which it says its message; none where it is a status row.
    pub(super) role: Option<&'static str>,
    pub(super) id: &'a str,
    pub(super) thread: Value<'a>,
    /// The column `type`.
    pub(super) kind: &'a str,
    pub(super) content: Content<'a>,
    pub(super) is_llm_message: Value<'a>,
    pub(super) metadata: Metadata<'a>,
    pub(super) agent: Option<Value<'a>>,
    pub(super) agent_version: Option<Value<'a>>,
    pub(super) user: Option<Value<'a>>,
    pub(super) created: Option<&'a str>,
    pub(super) updated: Option<Value<'a>>,
    /// Columns that only rows of Suna have.
    pub(super) others: Vec<(&'a str, &'a str)>,
}

impl<'a> Planner<'_, 'a> {
    /// The rows of a message: what it says, then each result; or a status row.
    pub(super) fn rows(&mut self, message: &'a Message) -> Vec<Row<'a>> {
        if message.kind == MessageKind::Notice {
            return vec![self.row(message, RowContent::Notice, 0, &[])];
        }
        let position = message.position;
        let parts = message.parts.iter().enumerate();
        let mut held: Vec<RowContent<'a>> = parts
            .filter_map(|(index, part)| match part {
                Part::ToolResult(result) => Some(RowContent::Result(index, result)),
                _ => None,
            })
            .collect();
        let results = held.len() as u64;
        let says_more = results == 0 || message.parts.iter().any(|part| self.is_said(message, part));
        if says_more {
            held.insert(0, RowContent::Said);
        }
        if message.role != Role::Tool {
            self.losses
                .several(reasons::RESULT_IS_A_TOOLS_ROW, position, results);
        }
        let further = held.len() as u64 - 1;
        self.losses.several(reasons::RESULT_IS_A_ROW, position, further);
        let references = message.references.len() as u64;
        self.losses
            .several(reasons::ROWS_HAVE_NO_REPLIES, position, references);
        self.declare_unsaid(message, says_more);
        let thoughts: Vec<&str> = message.parts.iter().filter_map(thought).collect();
        let rows = held.into_iter().zip(0..);
        rows.map(|(held, number)| self.row(message, held, number, &thoughts))
            .collect()
    }

    /// Whether a part stands in a row that is no result's.
    fn is_said(&self, message: &Message, part: &Part) -> bool {
        match part {
            Part::Text(_) | Part::ToolCall(_) => true,
            Part::Media(_) => message.role != Role::Tool,
            Part::Reasoning(_) => self.keeps_thoughts,
            Part::ToolResult(_) | Part::Notice(_) | Part::CacheMark => false,
        }
    }

    /// Declares the parts that no row holds.
    fn declare_unsaid(&mut self, message: &Message, says_more: bool) {
        for part in &message.parts {
            let cause = match part {
                Part::Media(_) if !says_more => reasons::ROW_OF_A_RESULT_IS_TEXT,
                Part::Reasoning(_) if self.keeps_thoughts => continue,
                Part::Reasoning(_) => (LossCode::ReasoningDropped, reasons::POLICY_DROPS_REASONING).into(),
                Part::Notice(_) => reasons::ROW_IS_MESSAGE_OR_NOTICE,
                Part::ToolResult(result) if result.is_error => reasons::RESULT_SAYS_NO_FAILURE,
                _ => continue,
            };
            self.losses.at(cause, message.position);
        }
    }

    fn row(
        &mut self,
        message: &'a Message,
        held: RowContent<'a>,
        number: u64,
        thoughts: &[&'a str],
    ) -> Row<'a> {
        let (role, kind, is_llm_message) = match held {
            RowContent::Said => (Some(message.role.as_str()), message.role.as_str(), "true"),
            RowContent::Result(..) => (Some("tool"), "tool", "true"),
            RowContent::Notice => (None, "status", "false"),
        };
        let own_kind = message.source_type.as_deref().filter(|_| self.is_native);
        let [agent, agent_version, user] = self.who(message, held);
        let created = message.timestamp.as_ref().map(times::iso);
        Row {
            role,
            id: self.id(message, number),
            thread: self
                .stored(message, "thread_id")
                .unwrap_or(Value::Text(self.thread)),
            kind: own_kind.unwrap_or(kind),
            content: match held {
                RowContent::Said => self.said(message),
                RowContent::Result(place, result) => self.result(message, place, result),
                RowContent::Notice => self.notice(message),
            },
            is_llm_message: self
                .stored(message, "is_llm_message")
                .unwrap_or(Value::Word(is_llm_message)),
            metadata: self.metadata(message, held, thoughts),
            agent,
            agent_version,
            user,
            created: created.map(|time| self.transcript.made().keep(time)),
            updated: self.stored(message, "updated_at"),
            others: self.others(message),
        }
    }

    /// The id of a row: the message's for its first, else one made from it, so that nothing meets by chance.
    fn id(&mut self, message: &'a Message, number: u64) -> &'a str {
        let made_up = match (message.id.as_deref(), number) {
            (Some(id), 0) => return id,
            (Some(id), number) => format!("{id}/{number}"),
            (None, 0) => format!("m{}", message.position),
            (None, number) => format!("m{}/{number}", message.position),
        };
        self.losses.at(reasons::EVERY_ROW_HAS_AN_ID, message.position);
        let view = self.transcript.view();
        let look_up = || facts::message_ids(view.linked);
        let taken = self
            .taken
            .get_or_init(|| view.shared(|shared| &shared.message_ids, look_up));
        self.transcript
            .made()
            .keep(free_id(&made_up, |id| taken.contains(id)))
    }
}
