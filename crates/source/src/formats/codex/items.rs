//! Turns lines into messages: items of the Responses API, events that no item repeats, and texts of the program itself.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Message, MessageKind, Part, RawJson, Role, Timestamp, Usage};

use super::twins::{Twins, event_text};
use crate::base::{Keep as _, Turn, id, present, raw, text, times, words};
use crate::frame::FrameView;
use crate::grammar::{RESPONSES, responses::is_item, usage};
use crate::layout::Turns;

/// Prefixes of texts that the program writes in the person's name, with a word for each.
const INJECTED: [(&str, &str); 8] = [
    ("<environment_context>", "environment"),
    ("<user_instructions>", "instructions"),
    ("# AGENTS.md instructions", "instructions"),
    ("<INSTRUCTIONS>", "instructions"),
    ("<subagent_notification>", "subagent"),
    ("<turn_aborted>", "interruption"),
    ("<user_shell_command>", "shell"),
    ("<skill>", "skill"),
];

/// Events that only mark a beginning, a continuation or an end.
const SILENT: [&str; 14] = words!(
    task_started turn_started exec_command_begin exec_command_output_delta patch_apply_begin
    mcp_tool_call_begin web_search_begin agent_message_delta agent_reasoning_delta
    agent_reasoning_section_break thread_name_updated turn_diff task_complete turn_complete
);

/// Fields of the usage of the whole session, and of its last request.
const TOTAL: &str = "total_token_usage";
const LAST: &str = "last_token_usage";

/// The facts of a session other than its messages.
#[derive(Default)]
pub(super) struct Session {
    /// The id of the session.
    pub id: Option<String>,
    /// Version of the program.
    pub version: Option<String>,
    /// Whether its lines have payloads.
    pub has_payloads: bool,
    /// Definitions of the tools that a client brought.
    pub tools: Vec<RawJson>,
    /// All other fields of the session's head.
    pub beside: Extra,
}

/// Adds tool definitions, which may be nested in a namespace.
fn defined(tools: Value<'_>, all: &mut Vec<RawJson>) {
    match present(tools, "tools").filter(|inner| inner.kind() == Kind::Array) {
        Some(inner) => all.extend(inner.items().map(raw)),
        None if tools.kind() == Kind::Array => tools.items().for_each(|tool| defined(tool, all)),
        None => all.push(raw(tools)),
    }
}

/// The token usage of a session so far.
#[derive(Default)]
struct Spent {
    /// The total, where the program states it.
    total: Option<Usage>,
    /// The token usage of the last request.
    last: Option<Usage>,
    /// The number of messages that were searched for an answer.
    looked: usize,
    /// The first message of the last answer since the last count.
    answer: Option<usize>,
    /// Whether another speaker followed the answer.
    is_over: bool,
}

impl Spent {
    /// The position of the first message of the last answer since the last count; `None` if no answer followed it.
    fn answer(&mut self, messages: &[Message]) -> Option<usize> {
        let new = messages.iter().enumerate().skip(self.looked);
        for (position, message) in new.filter(|(_, message)| message.kind == MessageKind::Message) {
            if message.role == Role::Assistant && (self.is_over || self.answer.is_none()) {
                (self.answer, self.is_over) = (Some(position), false);
            }
            self.is_over |= matches!(message.role, Role::User | Role::System);
        }
        self.looked = messages.len();
        self.answer
    }

    /// The usage since the last count, if there was any. Without a total, an equal count is new only if an answer came since.
    fn usage_since(&mut self, info: Value<'_>, is_answered: bool) -> Option<Usage> {
        let trimmed = |key| present(info, key).and_then(usage::usage);
        let (total, last) = (trimmed(TOTAL), trimmed(LAST));
        let before = self.total;
        self.total = total.or(before);
        let more = |count: fn(Usage) -> Option<u64>| {
            let before = before.and_then(count).unwrap_or_default();
            total.and_then(count).map(|count| count.saturating_sub(before))
        };
        let usage = last.unwrap_or(Usage {
            input: more(|usage| usage.input),
            cached_input: more(|usage| usage.cached_input),
            cache_write: more(|usage| usage.cache_write),
            output: more(|usage| usage.output),
            ..Usage::default()
        });
        let is_same = if total.is_some() {
            total == before
        } else {
            !is_answered
        };
        let is_again = is_same && Some(usage) == self.last;
        let mut counts = [usage.input, usage.output].into_iter().flatten();
        if is_again || counts.all(|count| count == 0) {
            return None;
        }
        self.last = Some(usage);
        self.last
    }
}

/// Reads the lines of one session.
pub(super) struct Reader<'d, 'r> {
    /// The turns that the lines become.
    pub turns: Turns<'d, 'r>,
    twins: Twins,
    session: Session,
    model: Option<Value<'d>>,
    spent: Spent,
    /// Whether the session is one object.
    is_object: bool,
    /// Whether a line with a context was read.
    has_context: bool,
    /// The time until which lines are copies from the session that this one was forked from.
    copied_until: Option<i64>,
    /// The number of encrypted reasoning items, and the first of them with its path.
    encrypted: (u64, Option<(String, Value<'d>)>),
}

impl<'d, 'r> Reader<'d, 'r> {
    /// A reader without lines.
    pub(super) fn new(frame: FrameView<'d>, limits: &'r Limits, is_object: bool) -> Self {
        let mut turns = Turns::new(frame, limits);
        turns.list.answers.in_pieces = true;
        Self {
            turns,
            twins: Twins::default(),
            session: Session::default(),
            model: None,
            spent: Spent::default(),
            is_object,
            has_context: false,
            copied_until: None,
            encrypted: (0, None),
        }
    }

    /// Reads all lines, and returns the facts of the session.
    pub(super) fn read(&mut self, lines: &[Value<'d>]) -> Session {
        for (number, line) in lines.iter().enumerate() {
            match payload(*line) {
                Some((event, _)) if text(line.get("type")).as_deref() == Some("event_msg") => {
                    self.twins.event(number, event);
                }
                Some((item, _)) => self.twins.item(number, item),
                None => self.twins.item(number, *line),
            }
        }
        for (index, line) in (0..).zip(lines) {
            self.line(index, *line);
        }
        self.note_encrypted();
        self.leave_out_copies();
        std::mem::take(&mut self.session)
    }

    /// Marks the messages that a fork or subagent repeats of its parent as context: the parent's file has them and their cost.
    fn leave_out_copies(&mut self) {
        let Some(until) = self.copied_until else { return };
        let is_copy = |message: &&mut Message| {
            let instant = message.timestamp.as_ref().and_then(|time| time.instant);
            instant.is_none_or(|instant| instant <= until)
        };
        let mut copied = 0;
        for message in self.turns.list.messages.iter_mut().take_while(is_copy) {
            let is_answer = message.role == Role::Assistant && message.kind == MessageKind::Message;
            copied += u64::from(is_answer || message.usage.is_some());
            message.leave_elsewhere();
        }
        self.turns.list.note_copies(copied);
    }

    fn path(&self, index: u32) -> String {
        let is_list = self.turns.list.frame.root().kind() == Kind::Array;
        match (self.is_object, is_list) {
            (true, _) => format!("$.items[{index}]"),
            (false, true) => format!("$[{index}]"),
            (false, false) => "$".to_owned(),
        }
    }

    fn line(&mut self, index: u32, line: Value<'d>) {
        self.turns.list.rows.rows += 1;
        if line.kind() != Kind::Object {
            let finding = Finding::new(&codes::WRONG_TYPE, "the line is not an object and is rejected");
            let finding = finding.at_path(self.path(index));
            self.turns.list.reject(line.span(), finding);
            return;
        }
        let kind = text(line.get("type")).unwrap_or_default();
        let Some((item, prefix)) = payload(line) else {
            if present(line, "record_type").is_some() {
                self.turns.list.rows.merged += 1;
            } else if kind.is_empty() && present(line, "timestamp").is_some() {
                self.meta(line);
                self.turns.list.rows.merged += 1;
            } else {
                self.item(index, line, line, "");
            }
            return;
        };
        self.session.has_payloads = true;
        match kind.as_str() {
            "session_meta" if self.session.id.is_none() => {
                self.meta(item);
                if is_forked(item) {
                    let begun = present(line, "timestamp").and_then(times::known);
                    let begun = begun.and_then(|begun| begun.instant);
                    self.copied_until = begun.map(|begun| begun.saturating_add(REPLAY));
                }
                self.instructions(index, line, item);
            }
            "turn_context" => {
                self.model = present(item, "model").or(self.model);
                self.keep_context(item);
                self.turns.list.rows.merged += 1;
            }
            "response_item" => self.item(index, line, item, prefix),
            "event_msg" => self.event(index, line, item),
            "compacted" => {
                let words = text(item.get("message")).filter(|words| !words.is_empty());
                self.notice(index, line, "compacted", words);
            }
            // A further head in a forked session is that of the session it came from.
            "session_meta" => self.notice(index, line, &kind, None),
            _ => self.unknown(index, line, &kind),
        }
    }

    /// The head of the session.
    pub(super) fn meta(&mut self, head: Value<'d>) {
        self.session.id = head.get("id").and_then(id);
        self.session.version = text(head.get("cli_version"));
        if let Some(tools) = present(head, "dynamic_tools") {
            defined(tools, &mut self.session.tools);
        }
        let known = ["id", "cli_version", "instructions", "base_instructions"];
        self.session.beside.keep_rest(head, "", &known);
    }

    /// Reads the instructions given to the model before the first turn.
    fn instructions(&mut self, index: u32, line: Value<'d>, head: Value<'d>) {
        let base = present(head, "base_instructions");
        let words = base
            .and_then(|base| text(base.get("text")).or_else(|| text(Some(base))))
            .or_else(|| text(head.get("instructions")))
            .filter(|words| !words.trim().is_empty());
        let Some(words) = words else {
            self.turns.list.rows.merged += 1;
            return;
        };
        let before = self.turns.list.messages.len();
        let timestamp = self.time(line, line);
        let turn = Turn::of(Role::System, Part::Text(words));
        self.turns.push(index, line, turn);
        self.complete(before, timestamp);
    }

    /// Keeps the first context that a line of the session has, unless its head has one.
    fn keep_context(&mut self, value: Value<'d>) {
        let key = "turn_context";
        let is_first = !std::mem::replace(&mut self.has_context, true);
        if is_first && self.session.beside.0.iter().all(|(known, _)| known != key) {
            self.session.beside.keep(key, value);
        }
    }

    /// An item of the conversation between the program and the model.
    fn item(&mut self, index: u32, line: Value<'d>, item: Value<'d>, prefix: &str) {
        let is_message = || present(item, "role").and(present(item, "content"));
        let untyped = || is_message().map(|_| "message".to_owned());
        let kind = text(item.get("type")).or_else(untyped).unwrap_or_default();
        let known = self.turns.list.notes.findings.len();
        let mut turn = match kind.as_str() {
            "token_count" => {
                self.turns.list.rows.merged += 1;
                return;
            }
            "ghost_snapshot" | "compaction" | "compaction_summary" => {
                self.notice(index, line, &kind, None);
                return;
            }
            _ if kind == "message" || is_item(item) => self
                .turns
                .read(item, prefix, |item, site| RESPONSES.turn(item, site)),
            _ => {
                self.unknown(index, line, &kind);
                return;
            }
        };
        if kind == "reasoning"
            && let Some(blob) = present(item, "encrypted_content")
        {
            self.encrypted.0 += 1;
            let path = format!("{}{prefix}.encrypted_content", self.path(index));
            self.encrypted.1.get_or_insert((path, blob));
        }
        unframe(&mut turn);
        if let Some(word) = injected(&turn) {
            let words = turn.parts.iter().find_map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                _ => None,
            });
            self.notice(index, line, word, words);
            if let Some(notice) = self.turns.list.messages.last_mut() {
                notice.extra.0.extend(turn.rest);
            }
            return;
        }
        self.add((index, line), item, turn, known);
    }

    fn time(&mut self, line: Value<'d>, item: Value<'d>) -> Option<Timestamp> {
        let field = present(line, "timestamp").or_else(|| present(item, "timestamp"));
        self.turns.time((None, line), ("timestamp", field))
    }

    /// Adds the turn of a line, or of an item in it; its findings are those from index `known` on.
    fn add(&mut self, (index, line): (u32, Value<'d>), item: Value<'d>, turn: Turn, known: usize) {
        let before = self.turns.list.messages.len();
        let place = self.path(index);
        let timestamp = self.time(line, item);
        self.turns.add(index, line, turn, known, || place);
        self.complete(before, timestamp);
    }

    /// Completes an added message with the other fields of its line.
    fn complete(&mut self, before: usize, timestamp: Option<Timestamp>) {
        let model = self.model;
        let Some(message) = self.turns.list.messages.get_mut(before) else {
            return;
        };
        message.timestamp = timestamp;
        message.extra.0.retain(|(key, _)| key != "timestamp");
        if message.role == Role::Assistant {
            message.model = model.and_then(|model| text(Some(model))).map(Into::into);
        }
    }

    /// Reads an event, unless an item records it as well.
    fn event(&mut self, index: u32, line: Value<'d>, event: Value<'d>) {
        let kind = text(event.get("type")).unwrap_or_default();
        let Some((speaker, field)) = event_text(&kind) else {
            self.happened(index, line, event, &kind);
            return;
        };
        if self.twins.has(index as usize) {
            self.turns.list.rows.repeated += 1;
            return;
        }
        let words = text(event.get(field)).unwrap_or_default();
        let trimmed = words.trim_start();
        if INJECTED.iter().any(|(start, _)| trimmed.starts_with(start)) {
            self.notice(index, line, &kind, Some(words));
            return;
        }
        let known = self.turns.list.notes.findings.len();
        let mut turn = match speaker {
            "user" => Turn::of(Role::User, Part::Text(words)),
            "thought" => Turn::of(Role::Assistant, Part::Reasoning(words)),
            _ => Turn::of(Role::Assistant, Part::Text(words)),
        };
        turn.continued_by_next = speaker == "thought";
        turn.keep_rest(event, "payload", &["type", field]);
        self.add((index, line), event, turn, known);
    }

    /// Adds an event without text.
    fn happened(&mut self, index: u32, line: Value<'d>, event: Value<'d>, kind: &str) {
        if kind == "token_count" {
            self.spent(index, line, event);
        } else if SILENT.contains(&kind) {
            self.turns.list.rows.merged += 1;
        } else if self.twins.answers(text(event.get("call_id")).as_deref()) {
            self.turns.list.rows.repeated += 1;
        } else {
            let inner = present(event, "error").and_then(|error| error.get("message"));
            let words = text(event.get("message")).or_else(|| text(inner));
            self.notice(index, line, kind, words);
        }
    }

    /// Reads the token usage of the last request. A request without an answer was charged as well: its usage becomes a notice. If
    /// nothing was used since, the event repeats the last one.
    fn spent(&mut self, index: u32, line: Value<'d>, event: Value<'d>) {
        let info = present(event, "info");
        let mut named = [info, Some(event)].into_iter().flatten();
        let model = named.find_map(|object| present(object, "model"));
        self.model = model.or(self.model);
        let answer = self.spent.answer(&self.turns.list.messages);
        let Some(usage) = info.and_then(|info| self.spent.usage_since(info, answer.is_some())) else {
            self.turns.list.rows.merged += 1;
            return;
        };
        if answer.is_none() {
            self.notice(index, line, "token_count", None);
        } else {
            self.turns.list.rows.merged += 1;
        }
        let model = self.model.and_then(|model| text(Some(model)));
        let messages = &mut self.turns.list.messages;
        self.spent.answer = None;
        self.turns.list.answers.ends.push(messages.len());
        let place = answer.unwrap_or(messages.len().saturating_sub(1));
        if let Some(message) = messages.get_mut(place) {
            message.usage = Some(usage);
            // Codex names no answer. An archived session is in two folders, and its answers are recognised by the session's id and
            // their times.
            let counted_at = text(present(line, "timestamp"));
            message.answer = self
                .session
                .id
                .as_ref()
                .zip(counted_at)
                .map(|(session, time)| format!("{session}@{time}").into());
            message.model = message.model.take().or(model.map(Into::into));
            if let Some(last) = info
                .and_then(|info| present(info, LAST))
                .filter(|_| answer.is_some())
            {
                message.extra.keep("usage", last);
            }
        }
    }

    fn unknown(&mut self, index: u32, line: Value<'d>, kind: &str) {
        self.turns.unknown_line((None, line), line.get("type"));
        self.notice(index, line, kind, None);
    }

    /// Keeps a line as a notice with this text, else with its kind as text.
    fn notice(&mut self, index: u32, line: Value<'d>, kind: &str, words: Option<String>) {
        let timestamp = self.time(line, line);
        let kind = if kind.is_empty() { "event" } else { kind };
        let mut extra = Extra::default();
        if words.is_none() {
            extra.keep_rest(line, "", &["timestamp", "type"]);
        }
        self.turns.list.push(Message {
            kind: MessageKind::Notice,
            source_type: Some(kind.to_owned()),
            timestamp,
            parts: vec![Part::Notice(words.unwrap_or_else(|| kind.to_owned()))],
            extra,
            ..self.turns.list.message(Role::System, line.span(), index)
        });
    }

    fn note_encrypted(&mut self) {
        let (count, Some((path, first))) = std::mem::take(&mut self.encrypted) else {
            return;
        };
        let text = "reasoning is encrypted: only its maker can read it; it is kept as it is and never shown";
        let mut finding = Finding::new(&codes::ENCRYPTED_REASONING, text);
        finding.count = count;
        self.turns.list.notes.push(finding.at_path(path), Some(first));
    }
}

/// The time that the program takes to copy the parent's lines into a new session, in microseconds. The lines have the time of the copy,
/// and no model answers that fast.
const REPLAY: i64 = 1_000_000;

/// Whether the head names a session that this one was forked from or started by.
fn is_forked(head: Value<'_>) -> bool {
    let spawned = ["source", "subagent", "thread_spawn"]
        .iter()
        .try_fold(head, |value, key| present(value, key));
    let of = |head: Value<'_>| {
        ["forked_from_id", "parent_thread_id"]
            .iter()
            .any(|key| present(head, key).is_some())
    };
    of(head) || spawned.is_some_and(of)
}

/// The payload of a line, and its path in the line.
fn payload(line: Value<'_>) -> Option<(Value<'_>, &'static str)> {
    let payload = present(line, "payload").filter(|value| value.kind() == Kind::Object)?;
    Some((payload, ".payload"))
}

/// The kind of a text that the program wrote in the person's name.
fn injected(turn: &Turn) -> Option<&'static str> {
    if turn.role != Some(Role::User) {
        return None;
    }
    let first = turn.parts.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.trim_start()),
        _ => None,
    })?;
    INJECTED
        .into_iter()
        .find_map(|(start, word)| first.starts_with(start).then_some(word))
}

/// Removes the text marks around pictures.
fn unframe(turn: &mut Turn) {
    if !turn.parts.iter().any(|part| matches!(part, Part::Media(_))) {
        return;
    }
    let is_mark = |part: &Part| match part {
        Part::Text(text) => text == "</image>" || text.starts_with("<image") && text.ends_with('>'),
        _ => false,
    };
    let (marks, parts) = std::mem::take(&mut turn.parts).into_iter().partition(is_mark);
    turn.parts = parts;
    for (number, mark) in marks.into_iter().enumerate() {
        if let Part::Text(mark) = mark {
            turn.keep_text(format!("mark[{number}]"), &mark);
        }
    }
}
