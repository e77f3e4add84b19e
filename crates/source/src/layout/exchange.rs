//! A request and its answer, at any place of a record and of any vendor.

pub(crate) mod logged;
mod media_marks;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Document, Kind, Mark, Value};
use chatmill_model::{AlternativeOrigin, Extra, Judgement, Message, MessageKind, Part, Role};

use crate::base::{Keep as _, Turn, below, first_present, present, raw, text, words};
use crate::frame::Reading;
use crate::frame::exceeds;
use crate::grammar::frameworks::{ai_sdk, contain_text};
use crate::grammar::usage::CountedTokens;
use crate::grammar::{Grammar, OPENAI, any, list_of_tools, stream, tools_of_vendor, usage, vendor_in};
use crate::layout::{OUTSIDE_LISTS, RequestFields, Turns, preference};

/// Fields of a request with its messages; the first one present is used.
pub(crate) const LISTS: [&str; 4] = words!(messages input contents prompt);

/// Fields of a request with the system prompt.
const SYSTEM: [&str; 4] = words!(system instructions systemInstruction system_instruction);

/// Fields of an answer with a list of alternative answers, and the fields of each that contain its text.
const CHOICES: [(&str, &[&str]); 2] = [("choices", &["message", "text"]), ("candidates", &["content"])];

/// Reads requests and answers.
pub(crate) struct Exchange<'d, 'r> {
    /// The turns that the messages become.
    pub turns: Turns<'d, 'r>,
    /// The fields of the request other than its messages.
    pub beside: RequestFields,
    /// The vendor of messages that several vendors could have written.
    vendor: &'static Grammar,
}

/// Whether an object is a request: it has messages.
pub(crate) fn is_request(value: Value<'_>) -> bool {
    first_present(value, &LISTS).is_some()
}

impl<'d, 'r> Exchange<'d, 'r> {
    /// An exchange without messages.
    pub(crate) fn new(turns: Turns<'d, 'r>) -> Self {
        Self {
            turns,
            beside: RequestFields::default(),
            vendor: &OPENAI,
        }
    }

    /// Looks for the vendor in a value with messages of the conversation; must be called before any of them is read.
    pub(crate) fn identify(&mut self, value: Value<'_>) {
        if self.vendor.is_openais() {
            self.vendor = vendor_in(value).unwrap_or(self.vendor);
        }
    }

    /// Applies the record's fields about its answer, and about media, to the messages.
    pub(crate) fn apply_record_fields(&mut self, root: Value<'_>) {
        let list = &mut self.turns.list;
        preference::label(list, root);
        media_marks::place(root, &mut list.messages, &mut self.beside.extra, &mut list.notes);
        logged::answer(root, &mut list.messages);
    }

    /// Finishes the conversation, of this source and structure.
    pub(crate) fn finish(self, shape: &'static str) -> Reading {
        let frame = self.turns.list.frame;
        self.turns.finish(self.beside.conversation(shape, frame))
    }

    /// Reads a request. Fields without a place are kept below `name`, the field of the request in its record.
    pub(crate) fn request(&mut self, request: Value<'_>, name: &str) {
        self.turns.list.answers.in_pieces = true;
        let mut known = vec!["model"];
        self.beside.model = usage::model(request).or(self.beside.model.take());
        for key in SYSTEM {
            if let Some(system) = present(request, key) {
                known.push(key);
                self.system(system);
            }
        }
        if let Some(instructions) = present(request, "config").and_then(instruction) {
            self.system(instructions);
        }
        let list = LISTS
            .into_iter()
            .find_map(|key| Some((key, present(request, key)?)));
        if let Some((key, list)) = list {
            known.push(key);
            self.messages(list);
        }
        for key in ["tools", "functions", "toolConfig"] {
            let given = present(request, key);
            let read = given.and_then(|given| tools_of_vendor(key, given, self.turns.list.limits));
            if let Some((tools, rest)) = read {
                known.push(key);
                self.beside.tools.extend(tools);
                let rest = rest.into_iter().map(|(path, raw)| (below(name, &path), raw));
                self.beside.extra.0.extend(rest);
            }
        }
        self.beside.extra.keep_rest(request, name, &known);
    }

    /// Reads the input of a trace's step: a request, messages, a message, or a text.
    pub(crate) fn input(&mut self, input: Value<'_>) {
        if input.kind() == Kind::Array {
            self.messages(input);
        } else if let Some(words) = input.as_str() {
            self.written_out(input, &words);
        } else if is_request(input) {
            self.request(input, "input");
        } else if let Some(inner) = first_present(input, &["new_message", "kwargs", "args"]) {
            self.input(inner);
        } else if !input.is_null() {
            self.message(input, Role::User);
        }
    }

    /// Reads a text, or turns that are written out with the role before each.
    fn written_out(&mut self, input: Value<'_>, words: &str) {
        let roles = [
            ("system: ", Role::System),
            ("user: ", Role::User),
            ("assistant: ", Role::Assistant),
        ];
        let role_of = |line: &str| roles.iter().find(|(start, _)| line.starts_with(start)).copied();
        if role_of(words).is_none() {
            self.message(input, Role::User);
            return;
        }
        let mut turns: Vec<(Role, String)> = Vec::new();
        for line in words.split('\n') {
            match (role_of(line), turns.last_mut()) {
                (Some((start, role)), _) => {
                    turns.push((role, line.strip_prefix(start).unwrap_or(line).to_owned()));
                }
                (None, Some((_, text))) => {
                    text.push('\n');
                    text.push_str(line);
                }
                (None, None) => {}
            }
        }
        for (role, text) in turns {
            self.turns.list.rows.rows += 1;
            self.turns.push(0, input, Turn::of(role, Part::Text(text)));
        }
    }

    /// Reads only the system prompt of an agent's request.
    pub(crate) fn instructions_before(&mut self, request: Value<'_>) {
        let config = present(request, "config").unwrap_or(request);
        if let Some(instructions) = instruction(config).or_else(|| present(request, "system")) {
            self.system(instructions);
        }
    }

    /// Reads definitions of tools, unless there are some already.
    pub(crate) fn tools(&mut self, tools: Value<'_>) {
        if self.beside.tools.is_empty()
            && let Some(tools) = list_of_tools(tools, self.turns.list.limits)
        {
            self.beside.tools.extend(tools);
        }
    }

    /// Reads the system prompt.
    pub(crate) fn system(&mut self, system: Value<'_>) {
        self.turns.list.rows.rows += 1;
        let vendor = self.vendor;
        let mut turn = self
            .turns
            .read(system, "", |value, site| any(value, vendor, site));
        turn.role = Some(Role::System);
        turn.word = None;
        self.turns.push(0, system, turn);
    }

    /// Reads a list of messages, or a text of one message.
    pub(crate) fn messages(&mut self, list: Value<'_>) {
        if list.kind() != Kind::Array {
            self.message(list, Role::User);
            return;
        }
        let count = list.len() as u64;
        if let Some(text) = exceeds(count, "the request", "messages", self.turns.list.limits) {
            let finding = Finding::new(&codes::CONVERSATION_TOO_LARGE, text);
            self.turns.list.rows.rows += 1;
            self.turns.list.reject(self.turns.span(list), finding);
            return;
        }
        for message in list.items().flat_map(elements) {
            self.message(message, Role::User);
        }
    }

    /// Reads a message; one without a role gets `role`.
    fn message(&mut self, message: Value<'_>, role: Role) {
        self.turns.list.rows.rows += 1;
        if !matches!(message.kind(), Kind::Object | Kind::String) {
            let finding = Finding::new(&codes::WRONG_TYPE, "the message is not an object and is rejected");
            let span = self.turns.span(message);
            let path = self.turns.list.frame.document.path_at(span.start);
            self.turns.list.reject(span, finding.at_path(path));
            message.mark(Mark::Reported);
            return;
        }
        if let Some(tool) = definition(message) {
            self.turns.list.rows.merged += 1;
            self.beside.tools.push(raw(tool));
            message.get("role").inspect(|role| role.mark(Mark::Taken));
            return;
        }
        let known = self.turns.list.notes.findings.len();
        let vendor = self.vendor;
        let mut turn = self
            .turns
            .read(message, "", |value, site| any(value, vendor, site));
        turn.role = turn.role.or(Some(role));
        let at = self.turns.span(message).start;
        let document = self.turns.list.frame.document;
        self.turns.add(0, message, turn, known, || document.path_at(at));
    }

    /// Reads an answer, and returns the object with its model and usage. Fields without a place are kept
    /// below `name`.
    pub(crate) fn answer<'v>(&mut self, answer: Value<'v>, name: &str) -> Option<Value<'v>> {
        let before = self.turns.list.messages.len();
        self.turns.answered_from = before;
        let mut known = vec!["model", "usage"];
        let limits = self.turns.list.limits;
        if let Some(events) = stream::open(answer, limits) {
            return self.inside(answer, &events, name);
        }
        if stream::is_one(answer) {
            if let Some(whole) = stream::whole(answer) {
                return self.answer(whole, name);
            }
            let assembled =
                stream::assembled(answer, limits).and_then(|whole| answer.open(&whole, limits.depth).ok());
            if let Some(whole) = assembled {
                return self.inside(answer, &whole, name);
            }
        }
        if let Some(error) = error_of(answer) {
            known.push("error");
            self.failed(error);
        } else if is_choices(answer) {
            self.choices(answer, name, &["message"]);
        } else if let Some((field, fields, choices)) = choices_of(answer) {
            known.push(field);
            self.choices(choices, &format!("{name}.{field}"), fields);
        } else if let Some(items) = present(answer, "output").filter(|list| list.kind() == Kind::Array) {
            known.push("output");
            for item in items.items() {
                self.message(item, Role::Assistant);
            }
        } else if let Some(output) = present(answer, "output").filter(|output| message_of(*output).is_some())
        {
            known.push("output");
            self.beside
                .extra
                .keep_rest(output, &format!("{name}.output"), &["message"]);
            self.message(output, Role::Assistant);
        } else if let Some(list) = answers(answer) {
            known.extend(["messages", "generations", "responseMessages"]);
            for message in list {
                self.message(message, Role::Assistant);
            }
        } else if answer.kind() == Kind::String || present(answer, "content").is_some() || is_calling(answer)
        {
            self.message(answer, Role::Assistant);
            return Some(answer);
        } else if let Some(turn) = ai_sdk::answer(answer, &mut self.turns.list.site(None, answer)) {
            self.turns.list.rows.rows += 1;
            self.turns.push(0, answer, turn);
            return Some(answer);
        } else {
            self.unread(answer);
            self.beside.extra.keep_reported(name, answer);
            return None;
        }
        if self.turns.list.messages.len() == before && !is_nothing(answer) {
            self.unread(answer);
        }
        self.beside.extra.keep_rest(answer, name, &known);
        // The AI SDK repeats the text of its messages next to them.
        if let Some(last) = self
            .turns
            .list
            .messages
            .get_mut(before..)
            .and_then(<[Message]>::last_mut)
        {
            contain_text(&last.parts, answer.get("text"));
            last.answer = usage::answer_id(answer).or(last.answer.take());
        }
        (self.turns.list.messages.len() > before).then_some(answer)
    }

    /// Reads an answer that was found inside a value, with its usage. Returns the value if there is an answer in it.
    fn inside<'v>(&mut self, value: Value<'v>, found: &Document<'_>, name: &str) -> Option<Value<'v>> {
        let outer = self.turns.within.clone();
        self.turns.within.get_or_insert_with(|| value.span());
        self.identify(found.root());
        let answer = self.answer(found.root(), name);
        self.spent(answer.as_slice());
        self.turns.within = outer;
        answer.map(|_| value)
    }

    /// Reads several answers to one request: the first is the answer; the others are alternatives to it.
    pub(crate) fn several<'v>(&mut self, answers: impl IntoIterator<Item = Option<Value<'v>>>) {
        self.each(answers, |exchange, answer| {
            exchange.message(answer, Role::Assistant);
        });
    }

    /// Reads several answers to one request; returns whether the first exists.
    fn each<A>(
        &mut self,
        answers: impl IntoIterator<Item = Option<A>>,
        mut read: impl FnMut(&mut Self, A),
    ) -> bool {
        let mut answers = answers.into_iter();
        let start = self.turns.list.messages.len();
        if let Some(first) = answers.next().flatten() {
            read(self, first);
        }
        let place = start..self.turns.list.messages.len();
        let mut others = Vec::new();
        for other in answers.flatten() {
            let before_answer = self.turns.list.begin_alternative();
            read(self, other);
            let messages = self.turns.list.end_alternative(before_answer);
            if !messages.is_empty() {
                others.push((AlternativeOrigin::Choice, Judgement::default(), messages));
            }
        }
        let is_there = !place.is_empty();
        if !others.is_empty() {
            let own = Some((AlternativeOrigin::Choice, Judgement::default()));
            self.turns.list.alternatives(place, own, others);
        }
        is_there
    }

    /// Reports an answer that was not read.
    fn unread(&mut self, answer: Value<'_>) {
        let text = "the record has an answer that was not read: it has no form that is known here and is kept as it is";
        let finding = Finding::new(&codes::WRONG_TYPE, text);
        let span = self.turns.span(answer);
        let path = self.turns.list.frame.document.path_at(span.start);
        let finding = self.turns.list.notes.spanned(finding, span);
        self.turns.list.notes.push(finding.at_path(path), None);
    }

    /// Reads the answer that a record has in this field, next to its turns.
    pub(crate) fn answered(&mut self, answer: Value<'_>, field: &str) {
        let start = self.turns.list.messages.len();
        if let Some(usage) = self.answer(answer, field) {
            self.spent(&[usage]);
        }
        for message in self.turns.list.messages.iter_mut().skip(start) {
            message.origin.index = OUTSIDE_LISTS;
        }
    }

    /// Reads the answers to one request, each with its content in the first of these fields. Their other fields are kept
    /// below `name`.
    fn choices(&mut self, choices: Value<'_>, name: &str, fields: &[&str]) {
        let mut answers = Vec::new();
        for (index, choice) in choices.items().enumerate() {
            let path = format!("{name}[{index}]");
            let answer = fields.iter().find_map(|field| present(choice, field));
            answers.push(answer);
            if answer.is_none() {
                self.beside.extra.keep(path, choice);
                continue;
            }
            let known: Vec<&str> = fields.iter().copied().chain(["index"]).collect();
            self.beside.extra.keep_rest(choice, &path, &known);
        }
        self.several(answers);
    }

    /// Reads a request without an answer: the reason is a notice.
    pub(crate) fn failed(&mut self, error: Value<'_>) {
        self.turns.list.rows.rows += 1;
        let mut extra = Extra::default();
        extra.keep("error", error);
        let inner = present(error, "error").unwrap_or(error);
        let why = text(inner.get("message")).or_else(|| text(inner.get("code")));
        let why = why
            .or_else(|| text(Some(inner)))
            .unwrap_or_else(|| inner.raw().to_owned());
        let span = self.turns.span(error);
        self.turns.list.push(Message {
            kind: MessageKind::Notice,
            source_type: Some("error".to_owned()),
            parts: vec![Part::Notice(why)],
            extra,
            ..self.turns.list.message(Role::System, span, 0)
        });
    }

    /// Sets the usage of the answers to zero, because they were free. The logged usage stays among the extra fields.
    pub(crate) fn unpaid(&mut self) {
        let usages = self
            .turns
            .list
            .messages
            .iter_mut()
            .filter_map(|message| message.usage.as_mut());
        usages.for_each(|usage| *usage = logged::unpaid(*usage));
    }

    /// Sets the model and usage of the last answer, from the first of these objects that has them.
    pub(crate) fn spent(&mut self, holders: &[Value<'_>]) {
        let is_answer =
            |message: &&mut Message| message.role == Role::Assistant && message.kind == MessageKind::Message;
        let Some(message) = self.turns.list.messages.iter_mut().rev().find(is_answer) else {
            return;
        };
        message.model = holders
            .iter()
            .find_map(|value| usage::model(*value))
            .or(message.model.take());
        let objects: Vec<Value<'_>> = holders
            .iter()
            .filter_map(|holder| usage::object(*holder))
            .collect();
        if let Some(last) = objects.first() {
            let all = objects.iter().filter_map(|usage| usage::counted(*usage));
            message.usage = all.reduce(CountedTokens::or).and_then(CountedTokens::usage);
            message.extra.0.retain(|(known, _)| known != "usage");
            message.extra.keep("usage", *last);
        }
        let flat = || holders.iter().find_map(|holder| usage::flat(*holder)?.usage());
        message.usage = usage::within(message.usage.or_else(flat), holders);
        message.extra.0.retain(|(known, _)| known != "model");
    }
}

/// The messages of an answer that is a list of them, or of lists.
fn answers(answer: Value<'_>) -> Option<Vec<Value<'_>>> {
    let own = first_present(answer, &["messages", "generations", "responseMessages"]);
    let inside = present(answer, "response").and_then(|response| present(response, "messages"));
    let list = own.or(inside).unwrap_or(answer);
    (list.kind() == Kind::Array).then(|| list.items().flat_map(elements).collect())
}

fn elements(value: Value<'_>) -> Vec<Value<'_>> {
    match value.kind() {
        Kind::Array => value.items().collect(),
        _ => vec![value],
    }
}

/// The list of alternative answers, with its field and the fields that contain the text of each.
fn choices_of(answer: Value<'_>) -> Option<(&'static str, &'static [&'static str], Value<'_>)> {
    CHOICES.into_iter().find_map(|(field, fields)| {
        let list = present(answer, field).filter(|list| list.kind() == Kind::Array)?;
        Some((field, fields, list))
    })
}

/// Whether a list consists of alternative answers, without the object around them.
fn is_choices(list: Value<'_>) -> bool {
    let is_choice =
        |choice: Value<'_>| present(choice, "message").is_some_and(|message| message.kind() == Kind::Object);
    list.kind() == Kind::Array && !list.is_empty() && list.items().all(is_choice)
}

/// The system instruction of a Gemini request.
fn instruction(request: Value<'_>) -> Option<Value<'_>> {
    first_present(request, &["system_instruction", "systemInstruction"])
}

/// The error of a failed request.
fn error_of(answer: Value<'_>) -> Option<Value<'_>> {
    let error = present(answer, "error")?;
    let is_answered = choices_of(answer).is_some() || present(answer, "output").is_some();
    (!is_answered).then_some(error)
}

/// The tool that some frameworks define in a separate message.
fn definition(message: Value<'_>) -> Option<Value<'_>> {
    let content = present(message, "content").filter(|content| content.kind() == Kind::Object)?;
    present(content, "function").filter(|_| text(content.get("type")).as_deref() == Some("function"))?;
    Some(content)
}

/// The message in an answer of Bedrock.
fn message_of(output: Value<'_>) -> Option<Value<'_>> {
    present(output, "message").filter(|message| message.kind() == Kind::Object)
}

/// Whether an answer is an empty list, or a list of such.
fn is_nothing(answer: Value<'_>) -> bool {
    let list = first_present(answer, &["output", "messages", "choices", "candidates"]);
    list.unwrap_or(answer).is_empty()
}

/// Whether a message without content calls tools, or has its content elsewhere.
fn is_calling(answer: Value<'_>) -> bool {
    let keys = words!(tool_calls function_call refusal parts message kwargs toolName);
    first_present(answer, &keys).is_some()
}
