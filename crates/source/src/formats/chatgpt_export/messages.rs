//! The messages of a branch, in order: who speaks, and which messages are calls and results.
//!
//! The reader of trees passes the nodes of a branch to [`Reader`]. A node becomes a message, is joined to the result before it, or is dropped
//! because it is empty. Fields without a place in the model are kept as extra fields of the message.

use chatmill_diag::{Finding, Limits, Path, codes};
use chatmill_intake::json::{self, Kind, Mark, Value};
use chatmill_model::{
    ArgumentForm, Arguments, Extra, MessageKind, Part, RawJson, Role, ToolCall, ToolResult, Weight,
};

use super::citations::References;
use super::content::{self, Attachments, Nature};
use crate::base::media::{as_notice, result_of};
use crate::base::{
    Keep as _, RepeatedText, Turn, divided, drop_extra, id, present, quoted, roles::api_role, text, words,
};
use crate::frame::FrameView;
use crate::layout::{ListReader, Turns, tree::Node, tree::branch::NodeReader};

/// Fields of a message that the reader uses; all others are extra fields. A message with two of the same is rejected.
const READ: [&str; 7] = words!(id author create_time content recipient weight metadata);

/// Reads the messages of one branch.
pub(super) struct Reader<'d, 'r> {
    pub turns: Turns<'d, 'r>,
    /// The last call: the id of its message, and the name of the called tool. Results of that tool belong to it.
    called: Option<(String, String)>,
    /// Whether the last message is a result, to which a further answer of the called tool is joined.
    is_answered: bool,
}

impl<'d, 'r> NodeReader<'d, 'r> for Reader<'d, 'r> {
    fn list(&mut self) -> &mut ListReader<'d, 'r> {
        &mut self.turns.list
    }

    fn node(&mut self, value: Value<'d>, node: &Node, _at: usize) {
        let findings = self.turns.list.notes.findings.len();
        let position = self.turns.list.messages.len();
        self.turns.list.rows.rows += 1;
        if let Err(finding) = self.try_node(value, node) {
            self.turns.list.reject(value.span(), *finding);
        }
        if self.turns.list.messages.len() == position {
            // The node added no message that its findings could refer to, so they get its path in the record.
            for finding in self.turns.list.notes.findings.iter_mut().skip(findings) {
                if let Path::InMessage(suffix) = &finding.path {
                    finding.path = Path::Absolute(format!("{}.message{suffix}", node.path));
                    finding.position = None;
                }
            }
        }
    }

    fn reset(&mut self) {
        self.called = None;
        self.is_answered = false;
    }
}

impl<'d, 'r> Reader<'d, 'r> {
    pub(super) fn new(frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            turns: Turns::new(frame, limits),
            called: None,
            is_answered: false,
        }
    }

    fn try_node(&mut self, value: Value<'d>, node: &Node) -> Result<(), Box<Finding>> {
        let reject = |code, text: &str, field: &str| {
            Box::new(Finding::new(code, text).at_path(format!("{}{field}", node.path)))
        };
        if value.kind() != Kind::Object {
            let text = "a node of the tree is not an object and is rejected";
            return Err(reject(&codes::WRONG_TYPE, text, ""));
        }
        let Some(message) = present(value, "message") else {
            self.turns.list.rows.merged += 1;
            return Ok(());
        };
        if message.kind() != Kind::Object {
            let text = "the message is not an object and is rejected";
            return Err(reject(&codes::WRONG_TYPE, text, ".message"));
        }
        let known = |key: &&str| READ.contains(key);
        let twice = message.duplicate_keys();
        if let Some(key) = twice.iter().find(|key| known(&key.as_str())) {
            let text = "duplicate key of the format: the message is rejected";
            let finding = reject(&codes::DUPLICATE_KEY, text, ".message");
            return Err(Box::new(finding.quoting(key)));
        }
        let author = present(message, "author");
        let word = author.and_then(|author| text(author.get("role")));
        let Some(word) = word else {
            let text = "the message has no author with a role and is rejected";
            return Err(reject(&codes::MISSING_FIELD, text, ".message.author"));
        };
        let Some(role) = api_role(&word) else {
            let text = "the role of the author is none of the known words: the message is rejected";
            let finding = reject(&codes::WRONG_TYPE, text, ".message.author.role");
            return Err(Box::new(finding.quoting(&word)));
        };
        let name = author.and_then(|author| text(author.get("name")));
        self.message(message, node, role, name.as_deref());
        Ok(())
    }

    fn message(&mut self, message: Value<'d>, node: &Node, role: Role, name: Option<&str>) {
        let id = present(message, "id")
            .and_then(id)
            .unwrap_or_else(|| node.id.clone());
        let metadata = present(message, "metadata");
        let hidden = metadata.and_then(|metadata| metadata.get("is_visually_hidden_from_conversation"));
        let is_hidden = hidden.and_then(Value::as_bool) == Some(true);
        let weight = present(message, "weight").and_then(Value::number_text);
        let weight: Option<f64> = weight.and_then(|weight| weight.parse().ok());
        let recipient =
            text(message.get("recipient")).filter(|to| !["all", "assistant", "user"].contains(&to.as_str()));
        let mut site = self.turns.list.site(Some(&id), message);
        let timestamp = self
            .turns
            .times
            .read(message.get("create_time"), "create_time", &mut site);
        let (nature, mut read) = match present(message, "content") {
            Some(content) if content.kind() == Kind::Object => {
                let attachments = metadata.and_then(|metadata| metadata.get("attachments"));
                content::read(content, &Attachments::of(attachments), &mut site)
            }
            Some(content) => {
                site.warn("content", "content is not an object: its text is read", content);
                let mut read = Turn::default();
                read.parts.extend(text(Some(content)).map(Part::Text));
                (Nature::Text, read)
            }
            None => (Nature::Text, Turn::default()),
        };
        let references = References::of(metadata);
        let mut has_marks = false;
        for part in &mut read.parts {
            if let Part::Text(words) | Part::Reasoning(words) = part
                && let Some(resolved) = references.resolved(words).filter(|_| role != Role::User)
            {
                *words = resolved;
                has_marks = true;
            }
        }
        if has_marks {
            let text = "the words hold marks of citations: they are replaced by what the program shows there, or left out";
            let place = present(message, "content").unwrap_or(message);
            site.note(&codes::CITATION_MARK, text, ".content", place);
        }
        read.parts
            .retain(|part| !matches!(part, Part::Text(words) if words.is_empty()));
        if role == Role::Tool && self.joins(name, &mut read) {
            self.turns.list.rows.merged += 1;
            return;
        }
        // Every conversation of an export begins with an empty system message, and before many calls there are drafts without text: they
        // are dropped and counted as merged.
        if read.parts.is_empty() && (is_hidden || role == Role::System || weight == Some(0.0)) {
            self.turns.list.rows.merged += 1;
            drop_extra(message);
            return;
        }
        let role = match nature {
            Nature::Instruction => Role::System,
            _ => role,
        };
        let kind = match role {
            _ if nature == Nature::Remark => MessageKind::Notice,
            Role::User | Role::Assistant if is_hidden && recipient.is_none() => MessageKind::Notice,
            _ => MessageKind::Message,
        };
        keep(message, metadata, author_metadata(message), &mut read);
        let parts = std::mem::take(&mut read.parts);
        let parts = self.parts((role, name), recipient, nature, &id, parts);
        if kind == MessageKind::Message {
            self.is_answered = role == Role::Tool;
        }
        let roster = &mut self.turns.roster;
        let sender = match role {
            Role::Tool => Some(roster.answering(&parts)),
            Role::System => None,
            _ => Some(roster.named(role, name.filter(|name| !name.is_empty()))),
        };
        if let Some(sender) = sender.filter(|_| role == Role::Assistant) {
            roster.calls(sender, &parts);
        }
        let parts = if kind == MessageKind::Notice {
            parts.into_iter().map(as_notice).collect()
        } else {
            parts
        };
        let weight = weight.filter(|weight| *weight == 0.0 && role == Role::Assistant);
        let weight = weight.and_then(Weight::new);
        self.turns.list.push(chatmill_model::Message {
            id: Some(id),
            sender,
            kind,
            timestamp,
            parts,
            weight,
            extra: Extra(read.rest),
            ..self.turns.list.message(role, message.span(), 0)
        });
    }

    /// Appends the answer of a tool to the result before it, if both answer the last call: a call has one result. Returns whether that was
    /// the case.
    fn joins(&mut self, name: Option<&str>, read: &mut Turn) -> bool {
        let is_same = |(_, tool): &(String, String)| name.is_none_or(|name| is_tool(tool, name));
        if !self.is_answered || !self.called.as_ref().is_some_and(is_same) {
            return false;
        }
        let last = self.turns.list.messages.last_mut();
        let Some(last) = last.filter(|last| last.role == Role::Tool) else {
            return false;
        };
        let (own_text, others) = divided(std::mem::take(&mut read.parts));
        if let Some(Part::ToolResult(result)) = last.parts.first_mut() {
            if !result.content.is_empty() && !own_text.text.is_empty() {
                result.content.push('\n');
            }
            result.content.push_str(&own_text.text);
        }
        last.parts.extend(others);
        last.extra.0.append(&mut read.rest);
        true
    }

    /// Returns the parts of a message: an assistant's message to a tool becomes a call, and a message of a tool becomes a result.
    fn parts(
        &mut self,
        (role, name): (Role, Option<&str>),
        recipient: Option<String>,
        nature: Nature,
        id: &str,
        parts: Vec<Part>,
    ) -> Vec<Part> {
        match (role, recipient) {
            (Role::Assistant, Some(tool)) => {
                let (own_text, mut others) = divided(parts);
                let arguments = arguments(&own_text.text, self.turns.list.limits);
                self.called = Some((id.to_owned(), tool.clone()));
                others.push(Part::ToolCall(ToolCall::new(None, Some(tool), arguments)));
                others
            }
            (Role::Tool, _) => {
                let caller = self.called.as_ref();
                let caller = caller.filter(|(_, tool)| name.is_none_or(|name| is_tool(tool, name)));
                let own = || name.map(str::to_owned);
                let result = ToolResult {
                    name: caller.map(|(_, tool)| tool.clone()).or_else(own),
                    is_error: nature == Nature::Failure,
                    caller: caller.map(|(id, _)| id.clone()),
                    ..ToolResult::default()
                };
                result_of(result, divided(parts))
            }
            _ => parts,
        }
    }
}

/// Keeps the fields that have no place in the model as extra fields, unless they are empty or usual.
fn keep(message: Value<'_>, metadata: Option<Value<'_>>, author: Option<Value<'_>>, read: &mut Turn) {
    for (key, value) in message.fields() {
        let is_empty_value = value.is_null()
            || key == "status" && text(Some(value)).as_deref() == Some("finished_successfully")
            || key == "end_turn";
        if !READ.contains(&&*key) && !is_empty_value {
            read.keep(key.into_owned(), value);
        }
    }
    if let Some(weight) = present(message, "weight").filter(|weight| !["1", "1.0"].contains(&weight.raw())) {
        read.keep("weight", weight);
    }
    let is_empty = |value: Value<'_>| {
        value.is_null() || matches!(value.kind(), Kind::Array | Kind::Object) && value.is_empty()
    };
    for (path, object) in [("metadata", metadata), ("author.metadata", author)] {
        for (key, value) in object.into_iter().flat_map(Value::fields) {
            if !is_empty(value) {
                read.keep(crate::base::below(path, &key), value);
            }
        }
    }
    // The metadata has copies of the user's custom instructions, which the content has after a sentence that the program adds. A copy that
    // is also in the text is not reported as unread.
    let copies = metadata.and_then(|metadata| present(metadata, "user_context_message_data"));
    let texts = read.parts.iter().filter_map(|part| match part {
        Part::Text(text) if copies.is_some() => Some(text.as_str()),
        _ => None,
    });
    let texts = texts.collect::<Vec<&str>>().join("\n");
    let mut shown = RepeatedText::of(&texts);
    for (_, copy) in copies.into_iter().flat_map(Value::fields) {
        if copy.string().is_some_and(|words| shown.holds(words.trim())) {
            copy.mark(Mark::Taken);
        }
    }
}

/// Whether a node has a message of a user: a branch that begins with one is another question, not another answer.
pub(super) fn is_of_person(value: Value<'_>) -> bool {
    let author = present(value, "message").and_then(|message| present(message, "author"));
    author.and_then(|author| text(author.get("role"))).as_deref() == Some("user")
}

fn author_metadata(message: Value<'_>) -> Option<Value<'_>> {
    present(message, "author").and_then(|author| present(author, "metadata"))
}

/// Whether the author of an answer is the called tool. A call of `dalle.text2im` may be answered by `dalle`.
fn is_tool(called: &str, author: &str) -> bool {
    let family = |name: &str| name.split('.').next().map(str::to_owned);
    called == author || family(called) == family(author)
}

/// Returns the arguments of a call: its text if that is a JSON object, otherwise an object with the text as `input`, which is the usual
/// name for the argument of a tool that takes plain text.
fn arguments(own_text: &str, limits: &Limits) -> (Arguments, ArgumentForm) {
    let is_object = json::scan(own_text.as_bytes(), limits.depth)
        .is_ok_and(|document| document.root().kind() == Kind::Object && document.notes().is_empty());
    let raw = if is_object {
        RawJson(own_text.to_owned())
    } else {
        RawJson(format!("{{\"input\":{}}}", quoted(own_text).as_str()))
    };
    (Arguments::Object(raw), ArgumentForm::Embedded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_tool_become_an_object_and_an_object_stays() {
        let of = |own_text: &str| arguments(own_text, &Limits::default()).0.source_text().to_owned();
        assert_eq!(of("print(\"a\")"), "{\"input\":\"print(\\\"a\\\")\"}");
        assert_eq!(of("{\"q\": [1]}"), "{\"q\": [1]}");
        assert_eq!(of("[1]"), "{\"input\":\"[1]\"}");
        assert_eq!(of(""), "{\"input\":\"\"}");
    }

    #[test]
    fn a_tool_answers_for_its_family() {
        assert!(is_tool("dalle.text2im", "dalle.text2im") && is_tool("dalle.text2im", "dalle"));
        assert!(!is_tool("python", "browser"));
    }
}
