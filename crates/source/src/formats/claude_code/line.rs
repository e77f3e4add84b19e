//! A line of a session: the kind of event, and its position in the tree of lines.

use chatmill_intake::json::{Kind, Value};

use crate::base::{id, text, wire};

wire! {
    /// The known fields of a line.
    Wires {
        kind: "type",
        uuid: "uuid",
        parent: "parentUuid",
        logical_parent: "logicalParentUuid",
        session: "sessionId",
        is_sidechain: "isSidechain",
        agent: "agentId",
        is_meta: "isMeta",
        is_summary: "isCompactSummary",
        is_fault: "isApiErrorMessage",
        timestamp: "timestamp",
        message: "message",
        summary: "summary",
        leaf: "leafUuid",
        title: "customTitle",
        content: "content",
        cwd: "cwd",
        version: "version",
        branch: "gitBranch",
        user_type: "userType",
    }
}

/// One line of a session.
pub(super) struct Line<'d> {
    /// The index of the line in the record.
    pub index: u32,
    /// The whole line.
    pub value: Value<'d>,
    /// The fields of the line.
    pub fields: Wires<'d>,
    /// The kind of event.
    pub kind: String,
    /// The id of the line.
    pub uuid: Option<String>,
    /// The id of the line before it.
    pub parent: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// Whether the line belongs to the work of a subagent.
    pub is_sidechain: bool,
    /// The id that the lines of one answer share.
    pub answer: Option<String>,
}

impl<'d> Line<'d> {
    /// A line of these fields.
    pub(super) fn of(index: u32, value: Value<'d>, fields: Wires<'d>) -> Self {
        let message = fields.message.filter(|message| message.kind() == Kind::Object);
        let role = || text(message?.get("role")).filter(|role| role == "user" || role == "assistant");
        let kind = text(fields.kind).or_else(role).unwrap_or_default();
        let answer = message.and_then(|message| text(message.get("id")));
        Self {
            index,
            value,
            uuid: fields.uuid.and_then(id),
            // The parent of the line after a summary is the summarised part.
            parent: fields.parent.or(fields.logical_parent).and_then(id),
            session: fields.session.and_then(id).filter(|id| !id.is_empty()),
            is_sidechain: is_true(fields.is_sidechain),
            answer: answer.filter(|id| kind == "assistant" && !id.is_empty()),
            kind,
            fields,
        }
    }

    /// The id and the value of the line, as a place for findings.
    pub(super) fn place(&self) -> (Option<&str>, Value<'d>) {
        (self.uuid.as_deref(), self.value)
    }

    /// Whether the line is a turn of a participant, or a tool's result.
    pub(super) fn is_turn(&self) -> bool {
        matches!(self.kind.as_str(), "user" | "assistant")
    }

    /// The content of the message.
    pub(super) fn content(&self) -> Option<Value<'d>> {
        self.fields.message.and_then(|message| message.get("content"))
    }

    /// Whether the line is equal to another, apart from the session that each names.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let body = |line: &Self| line.fields.message.map(|message| message.written().to_owned());
        self.kind == other.kind && body(self) == body(other)
    }
}

/// Whether a field is `true`.
pub(super) fn is_true(value: Option<Value<'_>>) -> bool {
    value.and_then(Value::as_bool) == Some(true)
}
