//! Writes messages as rows, column by column in the order of the document, and declares the losses.

use chatmill_model::{Component, Message, MessageKind, Part, Role, Sink};

use super::columns::Value;
use super::{RowContent, RowWriter};
use crate::loss::{LossCode, reasons};
use crate::naming::unique::free_id;
use crate::text::times;
use crate::view::facts;
use crate::write::object::{Object, key};

impl<'a> RowWriter<'_, 'a> {
    /// Returns the rows of a message: one for its texts and calls, then one for each result; a notice has a status row.
    pub(super) fn of(&mut self, message: &'a Message) -> Vec<RowContent<'a>> {
        self.created = self.created(message);
        if message.kind == MessageKind::Notice {
            return vec![RowContent::Notice];
        }
        let position = message.position;
        let parts = message.parts.iter().enumerate();
        let mut rows: Vec<RowContent<'a>> = parts
            .filter_map(|(index, part)| match part {
                Part::ToolResult(result) => Some(RowContent::Result(index, result)),
                _ => None,
            })
            .collect();
        let results = rows.len() as u64;
        let has_content = results == 0 || message.own_parts().any(|(_, part)| self.has_place(message, part));
        if has_content {
            rows.insert(0, RowContent::Message);
        }
        if message.role != Role::Tool {
            self.losses
                .several(reasons::RESULT_IS_A_TOOLS_ROW, position, results);
        }
        let further = rows.len() as u64 - 1;
        self.losses.several(reasons::RESULT_IS_A_ROW, position, further);
        let references = message.references.len() as u64;
        self.losses
            .several(reasons::ROWS_HAVE_NO_REPLIES, position, references);
        self.declare_parts_left_out(message, has_content);
        rows
    }

    /// Returns the time for the rows of a message. Readers sort rows by time, so a text that not all of them accept as a time is left out:
    /// it would move its row.
    fn created(&mut self, message: &'a Message) -> Option<&'a str> {
        let time = message.timestamp.as_ref()?;
        if self.is_native || times::is_plain(time) {
            return Some(self.transcript.arena().keep(times::iso(time)));
        }
        self.losses.at(reasons::TIMES_ORDER_ROWS, message.position);
        None
    }

    /// Whether a part has a place in a row of a message.
    fn has_place(&self, message: &Message, part: &Part) -> bool {
        match part {
            Part::Text(_) | Part::ToolCall(_) => true,
            Part::Media(_) => message.role != Role::Tool,
            Part::Reasoning(_) => self.keeps_thoughts,
            Part::ToolResult(_) | Part::Notice(_) | Part::CacheMark | Part::Item(_) => false,
        }
    }

    /// Declares the parts that have no row.
    fn declare_parts_left_out(&mut self, message: &Message, has_content: bool) {
        let is_medium = |part: &&Part| matches!(part, Part::Media(_));
        let own = message.own_parts().filter(|(_, part)| is_medium(part));
        let shown = if has_content { own.count() } else { 0 };
        let lost = message.parts.iter().filter(is_medium).count() - shown;
        self.losses
            .several(reasons::ROW_OF_A_RESULT_IS_TEXT, message.position, lost as u64);
        let marks = message
            .parts_without_results()
            .filter(|(_, part)| matches!(part, Part::CacheMark));
        let marks = if has_content { 0 } else { marks.count() as u64 };
        self.losses
            .several(reasons::NO_TEXT_BEFORE_THE_MARK, message.position, marks);
        for part in &message.parts {
            let cause = match part {
                Part::Reasoning(_) if self.keeps_thoughts => continue,
                Part::Reasoning(_) => (LossCode::ReasoningDropped, reasons::POLICY_DROPS_REASONING).into(),
                Part::Item(_) => reasons::ITEM_OF_ONE_VENDOR,
                Part::Notice(_) => reasons::ROW_IS_MESSAGE_OR_NOTICE,
                Part::ToolResult(result) if result.is_error => reasons::RESULT_HAS_NO_ERROR_FLAG,
                _ => continue,
            };
            self.losses.at(cause, message.position);
        }
    }

    /// Writes a row; `number` counts the rows of the message.
    pub(super) fn write(
        &mut self,
        message: &'a Message,
        (row_content, number): (RowContent<'a>, u64),
        thoughts: &[&'a str],
        sink: &mut Sink<'a>,
    ) {
        let (kind, is_llm_message) = match row_content {
            RowContent::Message => (message.role.as_str(), "true"),
            RowContent::Result(..) => ("tool", "true"),
            RowContent::Notice => ("status", "false"),
        };
        let own_kind = message.source_type.as_deref().filter(|_| self.is_native);
        let mut row = Object::open(sink);
        row.string(
            key!("message_id"),
            Some(self.id(message, number)),
            Component::Meta,
        );
        let thread = self.stored_column(message, "thread_id");
        let thread = thread.unwrap_or(Value::Text(self.thread));
        thread.write(row.key(key!("thread_id")), Component::Meta);
        row.string(key!("type"), Some(own_kind.unwrap_or(kind)), Component::Meta);
        let content = row.key(key!("content"));
        match row_content {
            RowContent::Message => self.message(message, content),
            RowContent::Result(place, result) => self.result(message, place, result, content),
            RowContent::Notice => self.notice(message, content),
        }
        let is_llm_message = self
            .stored_column(message, "is_llm_message")
            .unwrap_or(Value::Word(is_llm_message));
        is_llm_message.write(row.key(key!("is_llm_message")), Component::Meta);
        self.metadata(message, row_content, thoughts, row.key(key!("metadata")));
        let keys = [
            key!("agent_id"),
            key!("agent_version_id"),
            key!("created_by_user_id"),
        ];
        for (key, id) in keys.into_iter().zip(self.sender_ids(message, row_content)) {
            if let Some(id) = id {
                id.write(row.key(key), Component::Names);
            }
        }
        row.string(key!("created_at"), self.created, Component::Meta);
        if let Some(updated) = self.stored_column(message, "updated_at") {
            updated.write(row.key(key!("updated_at")), Component::Meta);
        }
        row.fields(self.other_columns(message));
        row.close();
    }

    /// Returns the id of a row: the first row of a message has the message's id, the others have ids derived from it that no message has.
    fn id(&mut self, message: &'a Message, number: u64) -> &'a str {
        let generated = match (message.id.as_deref(), number) {
            (Some(id), 0) => return id,
            (Some(id), number) => format!("{id}/{number}"),
            (None, 0) => format!("m{}", message.position),
            (None, number) => format!("m{}/{number}", message.position),
        };
        self.losses.at(reasons::EVERY_ROW_HAS_AN_ID, message.position);
        let view = self.transcript.view();
        let taken_ids = || view.shared(|shared| &shared.message_ids, facts::message_ids);
        let taken = self.taken.get_or_init(taken_ids);
        self.transcript
            .arena()
            .keep(free_id(&generated, |id| taken.contains(id)))
    }
}
