//! A turn that a grammar has read, before a layout makes a message of it.

use std::borrow::Cow;
use std::collections::HashSet;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::Value;
use chatmill_model::{Part, RawJson, Role, own_parts};

use crate::base::{ExtraFields, Keep, Site, present, text_of};

/// The content of a turn.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is about a different neighbour, or none"
)]
pub(crate) struct Turn {
    /// The role; `None` if it is unknown, which is read as a user.
    pub role: Option<Role>,
    /// The vendor's word for the role, if it differs from ours.
    pub word: Option<String>,
    /// Id of the message.
    pub id: Option<String>,
    /// The name of the speaker, if the turn has one.
    pub name: Option<String>,
    /// The pieces.
    pub parts: Vec<Part>,
    /// Definitions of tools that the turn brings.
    pub tools: Vec<RawJson>,
    /// Fields without a place, by path.
    pub rest: ExtraFields,
    /// Whether the turn continues an assistant's turn directly before it.
    pub continues: bool,
    /// Whether it continues it wherever a stream was cut, in the middle of a text too.
    pub is_cut: bool,
    /// Whether an assistant's turn directly after it continues it.
    pub continued_by_next: bool,
    /// Whether the turn is an item; an answer may have several.
    pub is_item: bool,
    /// Whether the turn is an event.
    pub is_notice: bool,
    /// The handling of unknown fields of blocks.
    pub unknown_fields: UnknownFields,
    /// Whether neighbouring texts of an answer are one text that arrived in pieces.
    pub joins_texts: bool,
    /// The positions among the parts at which a block was not read: texts on both sides of such a position are not neighbours.
    pub gaps: Vec<usize>,
    /// The position of the first part of the current step, if steps are marked.
    pub step: Option<usize>,
}

/// The handling of unknown fields of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UnknownFields {
    /// They are retained as extra fields.
    #[default]
    Retained,
    /// They are left unread: the lists of silent keys of a format file decide about them.
    Unread,
}

impl Keep for Turn {
    fn extra_fields(&mut self) -> &mut ExtraFields {
        &mut self.rest
    }

    fn keeps_rest(&self) -> bool {
        self.unknown_fields == UnknownFields::Retained
    }
}

impl Turn {
    /// A turn with this role and part, and nothing else.
    pub(crate) fn of(role: Role, part: Part) -> Self {
        Self {
            role: Some(role),
            parts: vec![part],
            ..Self::default()
        }
    }

    /// A turn for the content of a block of this one.
    pub(crate) fn inside(&self) -> Self {
        Self {
            unknown_fields: self.unknown_fields,
            ..Self::default()
        }
    }

    /// Begins a step, which is one answer, and moves the results of the step before after its other parts.
    pub(crate) fn begin_step(&mut self) {
        self.end_step();
        self.step = Some(self.parts.len());
    }

    /// Ends the last step, if steps are marked. If the only mark is the first part and text follows a result, the marks of later steps were not
    /// recorded, and the order of the parts is unchanged.
    pub(crate) fn end_steps(&mut self) {
        if self.step == Some(0) {
            let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
            let is_words = |part: &Part| matches!(part, Part::Text(_) | Part::Reasoning(_));
            let mut behind = self.parts.iter().skip_while(|part| !is_result(part));
            self.step = self.step.filter(|_| !behind.any(is_words));
        }
        self.end_step();
    }

    fn end_step(&mut self) {
        if let Some(from) = self.step.take() {
            results_last(&mut self.parts, from);
        }
    }

    /// Reads the role of a turn from its word.
    pub(crate) fn take_role(
        &mut self,
        field: &str,
        turn: Value<'_>,
        site: &mut Site<'_>,
        of: fn(&str) -> Option<Role>,
    ) {
        let Some(value) = present(turn, field) else {
            site.missing(field);
            return;
        };
        let word = value.as_str();
        self.role = word.as_deref().and_then(of);
        if self.role.is_none() {
            let text = format!("the {field} is none of the known words: the turn is read as a user's");
            site.error(field, &text, value);
        }
        let plain = self.role.unwrap_or(Role::User).as_str();
        self.word = word.filter(|word| word != plain).map(Cow::into_owned);
    }

    /// Keeps a part of unknown form unchanged, with a finding.
    pub(crate) fn unknown(&mut self, path: &str, value: Value<'_>, site: &mut Site<'_>) {
        let text = "the part has no form that is known here and is kept as it is";
        site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, suffix(path), value);
        self.keep_unread(path, value);
    }

    /// Retains a block that is not read, and its position between others.
    pub(crate) fn keep_unread(&mut self, path: &str, value: Value<'_>) {
        self.gaps.push(self.parts.len());
        self.keep_reported(path, value);
    }

    /// Joins the neighbouring texts of an answer if its vendor writes one text in pieces.
    pub(crate) fn join_texts(&mut self) {
        if self.joins_texts && self.role == Some(Role::Assistant) && !self.is_notice {
            join_texts(&mut self.parts, 0, &self.gaps);
        }
    }

    /// Reads content of an unexpected form as text: JSON unchanged.
    pub(crate) fn malformed_content(
        &mut self,
        path: &str,
        text: &str,
        value: Value<'_>,
        site: &mut Site<'_>,
    ) {
        let finding = Finding::new(&codes::WRONG_TYPE, text).quoting(value.raw());
        site.push(finding, suffix(path), value);
        self.parts.push(Part::Text(text_of(value)));
    }
}

/// Whether parts are results of calls and nothing else, apart from cache marks.
pub(crate) fn only_answers(parts: &[Part]) -> bool {
    let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
    let own = own_parts(parts).map(|(_, part)| part);
    let mut others = own.filter(|part| !matches!(part, Part::CacheMark));
    parts.iter().any(is_result) && others.all(is_result)
}

/// For each part of an answer, whether it belongs to a tool: a result, or a media item of a result.
pub(crate) fn are_of_tools(parts: &[Part]) -> Vec<bool> {
    // Whether the last part that is no media item is a result with media.
    let mut shows = false;
    let is_of_tool = |part: &Part| match part {
        Part::ToolResult(result) => {
            shows = result.media > 0;
            true
        }
        Part::Media(_) => shows,
        _ => {
            shows = false;
            false
        }
    };
    parts.iter().map(is_of_tool).collect()
}

/// Joins neighbouring texts among parts from a position on. Texts at these gaps have something unread between them.
pub(crate) fn join_texts(parts: &mut Vec<Part>, from: usize, gaps: &[usize]) {
    let gaps: HashSet<usize> = gaps.iter().copied().collect();
    let pieces = parts.split_off(from.min(parts.len()));
    for (position, part) in (from..).zip(pieces) {
        let is_neighbour = position > from && !gaps.contains(&position);
        match (parts.last_mut().filter(|_| is_neighbour), part) {
            (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
            (_, part) => parts.push(part),
        }
    }
}

/// Moves the results of one answer after its other parts; the answer begins at `from`.
pub(crate) fn results_last(parts: &mut Vec<Part>, from: usize) {
    let answer = parts.split_off(from.min(parts.len()));
    let mut results = Vec::new();
    for (is_of_tool, part) in are_of_tools(&answer).into_iter().zip(answer) {
        if is_of_tool { &mut results } else { &mut *parts }.push(part);
    }
    parts.append(&mut results);
}

/// The suffix that a path inside a turn adds to the path of the turn; inside a system text it may begin with an index.
fn suffix(path: &str) -> String {
    if path.is_empty() || path.starts_with('[') {
        path.to_owned()
    } else {
        format!(".{path}")
    }
}
