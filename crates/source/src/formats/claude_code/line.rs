//! A line of a session: what kind of event it is, and where it stands in the tree of lines.

use chatmill_intake::json::{Kind, Value};

use crate::reader::{id, text, wire};

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

/// One line.
pub(super) struct Line<'d> {
    /// Its index in the record.
    pub index: u32,
    /// The line.
    pub value: Value<'d>,
    /// Its fields.
    pub fields: Wires<'d>,
    /// What kind of event it is.
    pub kind: String,
    /// Its id.
    pub uuid: Option<String>,
    /// The id of the line before it.
    pub parent: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// Whether a subagent's work is told.
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
            // What was summed up stands before the line that begins the rest.
            parent: fields.parent.or(fields.logical_parent).and_then(id),
            session: fields.session.and_then(id).filter(|id| !id.is_empty()),
            is_sidechain: is_true(fields.is_sidechain),
            answer: answer.filter(|id| kind == "assistant" && !id.is_empty()),
            kind,
            fields,
        }
    }

    /// Its id and what stands in it, as a place for findings.
    pub(super) fn place(&self) -> (Option<&str>, Value<'d>) {
        (self.uuid.as_deref(), self.value)
    }

    /// Whether somebody says something, or a tool answers.
    pub(super) fn is_turn(&self) -> bool {
        matches!(self.kind.as_str(), "user" | "assistant")
    }

    /// Blocks of the content of a type, by their id in a field.
    pub(super) fn ids(&self, block: &str, field: &str) -> Vec<String> {
        let content = self.fields.message.and_then(|message| message.get("content"));
        let blocks = content.into_iter().flat_map(Value::items);
        blocks
            .filter(|value| text(value.get("type")).as_deref() == Some(block))
            .filter_map(|value| text(value.get(field)))
            .collect()
    }

    /// Whether it says the same as another line, whatever session they name.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let body = |line: &Self| line.fields.message.map(|message| message.written().to_owned());
        self.kind == other.kind && body(self) == body(other)
    }
}

/// Whether a field says yes.
pub(super) fn is_true(value: Option<Value<'_>>) -> bool {
    value.and_then(Value::as_bool) == Some(true)
}
