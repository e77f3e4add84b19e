//! From lines to messages: pieces of an answer are joined, texts of the program separated from the user's, and branches
//! separated.

use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Conversation, Extra, Message, MessageKind, Part, RawJson, Role};

use super::injected;
use super::line::{Line, is_true};
use super::path;
use crate::base::{ExtraFields, Keep as _, Site, Turn, divided, present, quoted_list, repeats, text};
use crate::frame::{FrameView, Reading};
use crate::grammar::{ANTHROPIC, usage};
use crate::layout::Turns;

/// Kinds of lines that contain the program's own bookkeeping.
const BOOKKEEPING: [&str; 9] = [
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "attachment",
    "last-prompt",
    "permission-mode",
    "agent-name",
    "pr-link",
    "system",
];

/// The model name of answers that the program wrote itself.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The name of the notice for a turn that was undone.
const REWOUND: &str = "rewound";

/// Reads the lines of one session.
pub(super) struct Reader<'d, 'r> {
    /// The turns that the lines become.
    pub turns: Turns<'d, 'r>,
    /// The position of the answer with each id that may have further pieces.
    answers: HashMap<String, usize>,
    /// The token usage of each answer, as stated by its last piece, by position.
    usages: HashMap<usize, Value<'d>>,
    /// The fields around the content in the first piece of an answer of several pieces, by position.
    firsts: HashMap<usize, HashSet<(String, RawJson)>>,
    title: Option<String>,
    /// Fields of the session that every line repeats.
    beside: Extra,
    /// The first version of the program that a line names.
    version: Option<String>,
}

impl<'d, 'r> Reader<'d, 'r> {
    /// A reader without lines.
    pub(super) fn new(frame: FrameView<'d>, limits: &'r Limits) -> Self {
        let mut turns = Turns::new(frame, limits);
        turns.list.answers.in_pieces = true;
        Self {
            turns,
            answers: HashMap::new(),
            usages: HashMap::new(),
            firsts: HashMap::new(),
            title: None,
            beside: Extra::default(),
            version: None,
        }
    }

    /// Reads all lines. For a subagent's lines, data that belongs to every conversation of the file is not reported
    /// again.
    pub(super) fn read(mut self, lines: &[Line<'d>], is_sent: bool) -> Reading {
        let (lines, repeated) = unique(lines);
        self.turns.list.rows.repeated += repeated.len() as u64;
        if let Some(first) = repeated.first() {
            let text = "lines with the id and the words of an earlier one are left out, as resumed sessions have them";
            let mut finding = Finding::new(&codes::REPEATED_ROW, text);
            finding.count = repeated.len() as u64;
            let finding = finding.at_path(format!("$[{}]", first.index));
            self.turns.list.notes.push(finding, Some(first.value));
        }
        let (seen, is_circle) = path::visible(&lines);
        if is_circle && let Some(line) = lines.last() {
            let text = "parentUuid leads in a circle: the lines are read in the order of the file";
            let place = format!("$[{}].parentUuid", line.index);
            let finding = Finding::new(&codes::REFERENCE_CYCLE, text);
            let value = line.fields.parent.unwrap_or(line.value);
            self.turns.list.notes.push(finding.at_path(place), Some(value));
        }
        let (forks, further) = if is_circle || is_sent {
            (Vec::new(), Vec::new())
        } else {
            path::forks(&lines, &seen)
        };
        if let Some(line) = further.first().and_then(|end| lines.get(*end)) {
            let text = "the session has too many forks for separate conversations: turns of the remaining forks are kept as taken back";
            let mut finding = Finding::new(&codes::LOST_BRANCHES, text);
            finding.count = further.len() as u64;
            let finding = finding.at_path(format!("$[{}]", line.index));
            self.turns.list.notes.push(finding, Some(line.value));
        }
        let (frame, limits) = (self.turns.list.frame, self.turns.list.limits);
        // Lines that several forks share are reported and billed in the first.
        let mut covered = seen.clone();
        let mut also = Vec::new();
        for (end, path) in forks {
            let on_path = lines.iter().zip(&path).zip(&covered);
            let on_path = on_path
                .filter_map(|((line, is_on_path), is_covered)| is_on_path.then_some((*line, *is_covered)));
            also.push(Self::new(frame, limits).fork(on_path, lines.get(end).copied()));
            for (covered, is_on_path) in covered.iter_mut().zip(path) {
                *covered |= is_on_path;
            }
        }
        let ids: HashSet<&str> = lines.iter().filter_map(|line| line.uuid.as_deref()).collect();
        for (line, (is_seen, is_covered)) in lines.iter().zip(seen.into_iter().zip(covered)) {
            self.beside(line);
            match line.kind.as_str() {
                _ if line.is_turn() && !is_seen && is_covered => self.turns.list.rows.merged += 1,
                "user" | "assistant" if !self.has_message(line) => {}
                _ if line.is_turn() && !is_seen => self.rewound(line),
                "user" => self.user(line),
                "assistant" => self.assistant(line),
                _ if line.session.is_none() && is_sent => self.turns.list.rows.merged += 1,
                "summary" => self.summary(line, &ids),
                _ if line.fields.title.is_some() => {
                    self.title = text(line.fields.title).or(self.title.take());
                    self.turns.list.rows.merged += 1;
                }
                _ => self.event(line),
            }
        }
        let all = self.turns.list.messages.iter();
        let rewound = all.filter(|message| message.source_type.as_deref() == Some(REWOUND));
        let rewound = rewound.count() as u64;
        if rewound > 0 {
            let text = "turns that were taken back: each is kept as a notice with its message";
            let mut finding = Finding::new(&codes::OTHER_BRANCHES, text);
            finding.count = rewound;
            self.turns.list.notes.findings.push(finding);
        }
        let summaries = lines.iter().filter(|line| line.kind == "summary");
        let foreign = summaries.filter(|line| !is_own(line, &ids));
        let foreign: Vec<String> = foreign.filter_map(|line| text(line.fields.summary)).collect();
        if !foreign.is_empty() {
            let summaries = ("summaries".to_owned(), quoted_list(&foreign));
            self.beside.0.push(summaries);
        }
        let mut sessions: Vec<&str> = lines.iter().filter_map(|line| line.session.as_deref()).collect();
        sessions.sort_unstable();
        sessions.dedup();
        if sessions.len() > 1 {
            let sessions = ("sessions".to_owned(), quoted_list(&sessions));
            self.beside.0.push(sessions);
        }
        let last = lines.iter().rfind(|line| line.is_turn());
        let mut reading = self.finish(last.copied());
        reading.also = also;
        reading
    }

    /// Reads the path to the last turn of a fork. Turns shared with the session that it left, and with earlier forks, are
    /// reported there: here they are context, neither billed nor trained again.
    fn fork<'l>(mut self, path: impl Iterator<Item = (&'l Line<'d>, bool)>, end: Option<&Line<'d>>) -> Reading
    where
        'd: 'l,
    {
        for (line, is_covered) in path.filter(|(line, _)| line.is_turn()) {
            self.beside(line);
            let checkpoint = self.turns.list.checkpoint();
            self.turns.list.rows.rows += 1;
            if self.has_message(line) {
                match line.kind.as_str() {
                    "user" => self.user(line),
                    _ => self.assistant(line),
                }
            }
            if is_covered {
                self.turns.list.drop_repeated(checkpoint);
            }
        }
        let shared = self.turns.list.shared.len();
        let last = end.and_then(|line| line.uuid.as_deref()).unwrap_or_default();
        self.beside.keep_text("branch.last", last);
        self.beside
            .0
            .push(("branch.shared".to_owned(), RawJson(shared.to_string())));
        self.finish(end)
    }

    /// The finished conversation, in the session of its last turn.
    fn finish(mut self, end: Option<&Line<'_>>) -> Reading {
        for (at, message) in self.turns.list.messages.iter_mut().enumerate() {
            message.extra.keep_some("usage", self.usages.get(&at).copied());
        }
        self.turns.finish(Conversation {
            source_id: end.and_then(|line| line.session.clone()),
            title: self.title,
            format_version: self.version,
            extra: self.beside,
            ..Conversation::default()
        })
    }

    /// Keeps the fields that are equal in every line once, on the conversation.
    fn beside(&mut self, line: &Line<'_>) {
        let fields = &line.fields;
        self.version = self
            .version
            .take()
            .or_else(|| fields.version.and_then(|version| text(Some(version))));
        for (key, value) in [
            ("cwd", fields.cwd),
            ("version", fields.version),
            ("gitBranch", fields.branch),
            ("userType", fields.user_type),
            ("agentId", fields.agent),
        ] {
            let is_new = self.beside.0.iter().all(|(known, _)| known != key);
            self.beside
                .keep_some(key, value.filter(|value| is_new && !value.is_null()));
        }
    }

    /// Adds a turn that was undone. Its answer was charged all the same: the first of its pieces gets the
    /// usage that the last one states.
    fn rewound(&mut self, line: &Line<'d>) {
        self.notice(line, REWOUND, None);
        line.fields
            .message
            .inspect(|message| message.mark(Mark::Reported));
        let last = self.turns.list.messages.len().saturating_sub(1);
        let Some(answer) = line.fields.message.filter(|_| line.kind == "assistant") else {
            return;
        };
        let id = line.answer.as_ref();
        let first = id.map_or(last, |id| *self.answers.entry(id.clone()).or_insert(last));
        let model = usage::model(answer);
        let is_of_program = model.as_deref() == Some(SYNTHETIC_MODEL);
        if let Some(message) = self.turns.list.messages.get_mut(first).filter(|_| !is_of_program) {
            message.model = model.or(message.model.take());
            let usage = present(answer, "usage").and_then(usage::usage);
            message.usage = usage::within(usage, &[line.value]).or(message.usage);
        }
    }

    /// Whether a turn has a message; rejects the line if it has none.
    fn has_message(&mut self, line: &Line<'d>) -> bool {
        let message = line.fields.message;
        if message.is_some_and(|message| message.kind() == Kind::Object) {
            return true;
        }
        let text = "message is not an object: the line is rejected";
        let finding = Finding::new(&codes::WRONG_TYPE, text);
        let finding = finding.at_path(format!("$[{}].message", line.index));
        self.turns.list.reject(line.value.span(), finding);
        false
    }

    fn user(&mut self, line: &Line<'d>) {
        let mut turn = self.turn(line);
        turn.role = Some(Role::User);
        let is_answer = turn.parts.iter().any(|part| matches!(part, Part::ToolResult(_)));
        if !is_answer && (is_true(line.fields.is_meta) || is_true(line.fields.is_summary)) {
            let is_summary = is_true(line.fields.is_summary);
            let word = if is_summary { "summary" } else { "meta" };
            self.notice(line, word, Some(turn));
            return;
        }
        let mut added = Vec::new();
        let mut parts = Vec::new();
        for part in std::mem::take(&mut turn.parts) {
            match part {
                Part::Text(own_text) => {
                    if let Some(word) = injected::word(&own_text) {
                        added.push((word, own_text));
                    } else if let Some((words, reminders)) = injected::divided(&own_text) {
                        added.extend(reminders.into_iter().map(|text| ("reminder", text)));
                        parts.extend((!words.is_empty()).then_some(Part::Text(words)));
                    } else {
                        parts.push(Part::Text(own_text));
                    }
                }
                other => parts.push(other),
            }
        }
        if parts.is_empty()
            && let Some((word, _)) = added.first()
        {
            let word = *word;
            turn.parts = added.into_iter().map(|(_, text)| Part::Text(text)).collect();
            self.notice(line, word, Some(turn));
            return;
        }
        turn.parts = parts;
        for (number, (word, text)) in added.into_iter().enumerate() {
            turn.keep_text(format!("{word}[{number}]"), &text);
        }
        self.push(line, turn);
    }

    fn assistant(&mut self, line: &Line<'d>) {
        let known = self.turns.list.notes.findings.len();
        let mut turn = self.turn(line);
        turn.role = Some(Role::Assistant);
        let model = line.fields.message.and_then(|message| text(message.get("model")));
        if is_true(line.fields.is_fault) || model.as_deref() == Some(SYNTHETIC_MODEL) {
            let is_error = is_true(line.fields.is_fault);
            let word = if is_error { "api-error" } else { "synthetic" };
            self.notice(line, word, Some(turn));
            return;
        }
        let begun = line.answer.as_ref().and_then(|id| self.answers.get(id).copied());
        let position = match begun {
            Some(position) => {
                // The message already has the other fields of the first piece; only fields that differ from them are kept
                // here.
                let first = self.turns.list.messages.get(position);
                let fields = || first.into_iter().flat_map(|first| &first.extra.0);
                let first_fields = self.firsts.entry(position);
                let first_fields = first_fields.or_insert_with(|| fields().cloned().collect());
                turn.rest
                    .retain(|field| field.0.starts_with("message.content") || !first_fields.contains(field));
                let place = || format!("$[{}]", line.index);
                self.turns.join(position, line.value, turn, known, place);
                position
            }
            None => self.push(line, turn),
        };
        if let Some(id) = &line.answer {
            self.answers.insert(id.clone(), position);
        }
        self.spent(position, line);
    }

    /// The content of a turn, and the fields around it.
    fn turn(&mut self, line: &Line<'d>) -> Turn {
        let mut turn = self.turns.read(line.value, "", read_turn);
        turn.id.clone_from(&line.uuid);
        if let Some(message) = line.fields.message {
            let known = ["id", "type", "role", "content", "model", "usage"];
            turn.keep_rest(message, "message", &known);
        }
        rest(line, &mut turn.rest);
        turn
    }

    /// Adds a message; returns its position.
    fn push(&mut self, line: &Line<'d>, turn: Turn) -> usize {
        let timestamp = self
            .turns
            .time(line.place(), ("timestamp", line.fields.timestamp));
        self.turns.push(line.index, line.value, turn);
        let position = self.turns.list.messages.len().saturating_sub(1);
        if let Some(message) = self.turns.list.messages.last_mut() {
            message.timestamp = timestamp;
            message.external_id.clone_from(&line.answer);
            message.answer = line.answer.clone().map(Into::into);
        }
        position
    }

    /// Reads the model and the usage of an answer. Every piece of an answer states them, and the last one
    /// completely.
    fn spent(&mut self, position: usize, line: &Line<'d>) {
        let (Some(answer), Some(message)) = (line.fields.message, self.turns.list.messages.get_mut(position))
        else {
            return;
        };
        message.model = usage::model(answer).or(message.model.take());
        let Some(usage) = present(answer, "usage") else {
            return;
        };
        message.usage = usage::within(usage::usage(usage), &[line.value]).or(message.usage);
        if let Some(earlier) = self.usages.insert(position, usage) {
            repeats(earlier, usage);
        }
    }

    /// Reads the summary of a session: it is the title if it is about one of these lines.
    fn summary(&mut self, line: &Line<'d>, ids: &HashSet<&str>) {
        match text(line.fields.summary) {
            Some(title) if is_own(line, ids) => {
                self.title = Some(title);
                self.turns.list.rows.merged += 1;
            }
            Some(_) => self.turns.list.rows.merged += 1,
            None => self.notice(line, "summary", None),
        }
    }

    /// Adds a line without a turn.
    fn event(&mut self, line: &Line<'d>) {
        let word = if line.kind.is_empty() { "event" } else { &line.kind };
        if !BOOKKEEPING.contains(&word) {
            self.turns.unknown_line(line.place(), line.fields.kind);
        }
        self.notice(line, word, None);
    }

    /// Keeps a line as a notice, with its read fields; unread fields are kept as they are.
    fn notice(&mut self, line: &Line<'d>, word: &str, turn: Option<Turn>) {
        let timestamp = self
            .turns
            .time(line.place(), ("timestamp", line.fields.timestamp));
        let role = match line.kind.as_str() {
            "assistant" => Role::Assistant,
            "user" => Role::User,
            _ => Role::System,
        };
        let (happened, beside) = if let Some(turn) = turn {
            let (words, _) = divided(turn.parts);
            (words.text, turn.rest)
        } else {
            let mut extra_fields = ExtraFields::new();
            rest(line, &mut extra_fields);
            extra_fields.keep_some("message", line.fields.message);
            extra_fields.keep_some("summary", line.fields.summary);
            let of_message = line.fields.message.filter(|_| word != REWOUND);
            let of_message = of_message.and_then(|message| message.get("content"));
            let own_text = [line.fields.content, line.fields.summary, of_message];
            let own_text = own_text.into_iter().find_map(text);
            (own_text.unwrap_or_else(|| word.to_owned()), extra_fields)
        };
        self.turns.list.push(Message {
            id: line.uuid.clone(),
            kind: MessageKind::Notice,
            source_type: Some(word.to_owned()),
            timestamp,
            parts: vec![Part::Notice(happened)],
            extra: Extra(beside),
            ..self.turns.list.message(role, line.value.span(), line.index)
        });
    }
}

/// Whether a summary belongs to its session. A file may begin with summaries of other sessions.
fn is_own(line: &Line<'_>, ids: &HashSet<&str>) -> bool {
    text(line.fields.leaf).is_none_or(|leaf| ids.contains(leaf.as_str()))
}

/// Keeps the fields of a line that have no place in the model.
fn rest(line: &Line<'_>, rest: &mut ExtraFields) {
    for (key, value) in line.fields.others.iter().filter(|(_, value)| !value.is_null()) {
        rest.keep(&**key, *value);
    }
}

/// Reads the content of a line's message.
fn read_turn(line: Value<'_>, site: &mut Site<'_>) -> Turn {
    let mut turn = Turn::default();
    match line
        .get("message")
        .and_then(|message| present(message, "content"))
    {
        None => site.missing("message.content"),
        Some(content) => ANTHROPIC.content(&mut turn, "message.content", content, site),
    }
    turn
}

/// Separates the lines from those that repeat an earlier line.
fn unique<'l, 'd>(lines: &'l [Line<'d>]) -> (Vec<&'l Line<'d>>, Vec<&'l Line<'d>>) {
    let mut known: HashMap<&str, &Line<'d>> = HashMap::new();
    lines.iter().partition(|line| {
        let Some(uuid) = line.uuid.as_deref() else {
            return true;
        };
        if let Some(first) = known.get(uuid) {
            let is_copy = line.repeats(first);
            if is_copy {
                repeats(line.value, first.value);
            }
            return !is_copy;
        }
        known.insert(uuid, line);
        true
    })
}
