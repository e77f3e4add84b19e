//! Requests to vendors' APIs: an object with a list of turns, the system text, tool definitions and settings.
//!
//! Each vendor has its own turns: a [`RequestForm`] names the fields and reads one turn. Everything else is
//! here: rejection of frames and turns, participants, and fields without a place. Lists of messages in
//! `OpenAI`'s shape have a reader of their own.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Part, Records, Role};

use crate::base::{Turn, id, present, words};
use crate::frame::{FrameView, Reading, Row};
use crate::grammar::{self, Grammar, is_foreign, signs, tools_of_vendor};
use crate::layout::columns::{self, Holds};
use crate::layout::{
    Element, Names, OUTSIDE_LISTS, RequestFields, Turns, exchange::Exchange, list, preference, reading,
    recognise::strongest,
};
use crate::source::About;

/// Fields that a record has which was sent, and that files of chats for tuning do without.
const SENT: [&str; 9] = words!(
    model modelId max_tokens max_completion_tokens max_output_tokens temperature stream inferenceConfig
    usage
);

/// The reading of a record of requests: of a request that was sent, or of a chat as in fine-tuning files.
pub(crate) fn of_request(about: &About, root: Value<'_>, read: Result<Reading, Box<Finding>>) -> Reading {
    let mut reading = reading(about, read);
    let was_sent = SENT.iter().any(|field| present(root, field).is_some())
        || columns::first(root, Holds::Answer).is_some();
    if let Some(conversation) = reading.conversation.as_mut().filter(|_| !was_sent) {
        conversation.traits.records = Records::Conversations;
    }
    reading
}

/// Fields by which messages of a bare list name their conversation.
const WHOSE: [&str; 8] =
    words!(chatId chat_id conversationId conversation_id threadId thread_id sessionId session_id);

/// The structure of a vendor's request.
#[derive(Debug)]
pub(crate) struct RequestForm {
    /// The field that holds the turns.
    pub list: &'static str,
    /// Whether the list may be a string, which is then the only turn.
    pub may_be_text: bool,
    /// The field that holds system text, if there is one.
    pub system: Option<&'static str>,
    /// The field that defines tools.
    pub tools: &'static str,
    /// The grammar of the turns, and of the system text.
    pub grammar: &'static Grammar,
}

/// Reads the requests of one vendor.
#[derive(Debug)]
pub(crate) struct Requests {
    /// Title, shape and traits of the format.
    pub about: &'static About,
    /// The structure of its requests.
    pub form: RequestForm,
    /// Whether blocks of the vendor identify the format; then the list of turns may also be the whole record.
    pub has_signs: bool,
}

impl Requests {
    /// Recognises the format by its vendor's blocks, and by what `own` sees in a record.
    pub(crate) fn recognise_by(
        &self,
        sketch: &Sketch,
        own: impl Fn(&RecordSketch) -> Option<(u8, String)>,
    ) -> Option<(u8, Vec<String>)> {
        let list = format!("{}[]", self.form.list);
        let by_blocks = |record: &RecordSketch| {
            // The only list of messages may be called anything.
            let alone = columns::name_alone(record, &["role", "content"]).map(|name| format!("{name}[]"));
            let lists = [list.as_str(), "[]"].into_iter().chain(alone.as_deref());
            let mut found = lists.filter_map(|list| signs::of(record, list));
            found.find(|(found, _, _)| self.has_signs && found.is(self.form.grammar))
        };
        let records = sketch.records.iter();
        let blocks = records.filter_map(|record| by_blocks(record).map(|(_, sure, why)| (sure, why)));
        let alone = self.bare_list(sketch);
        // Calls and results as OpenAI has them decide before settings and definitions of tools do.
        let is_openai = |record: &&RecordSketch| self.form.list == "messages" && signs::is_openai(record);
        let known = sketch
            .records
            .iter()
            .filter(|record| !is_openai(record))
            .filter_map(own);
        strongest(blocks.chain(alone).chain(known))
    }

    /// Reads one request.
    pub(crate) fn reading(&self, frame: FrameView<'_>, limits: &Limits) -> Reading {
        of_request(self.about, frame.root(), self.conversation(frame, limits))
    }

    /// Whether a file is a bare list of turns: it is one conversation.
    pub(crate) fn are_turns(&self, sketch: &Sketch) -> bool {
        self.bare_list(sketch).is_some()
    }

    fn bare_list(&self, sketch: &Sketch) -> Option<(u8, String)> {
        self.has_signs
            .then(|| signs::is_list(sketch, self.form.grammar))
            .flatten()
    }

    /// Every element of a bare list is a row of it; a whole request, or another list, is read on its own.
    pub(crate) fn turn_rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let stands_alone = root.kind() == Kind::Array || root.get(self.form.list).is_some();
        let key = WHOSE.iter().find_map(|key| present(root, key).and_then(id));
        (!stands_alone).then(|| vec![Row::of(key, root)])
    }

    fn conversation(&self, frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
        let (root, form) = (frame.root(), &self.form);
        // A list that is the only one may be called anything.
        let is_turn = |turn: Value<'_>| {
            form.grammar
                .fields
                .first()
                .is_some_and(|key| turn.get(key).is_some())
        };
        let is_named = root.kind() != Kind::Object || root.get(form.list).is_some();
        let other = columns::alone(root, is_turn).filter(|_| !is_named);
        let list = match &other {
            Some((name, _)) => list::named(frame, name, "messages", limits)?,
            None => form.turns(frame, limits)?,
        };
        let tagged = form
            .grammar
            .described
            .filter(|described| root.written().contains(described.mark));
        let mut reader = Reader {
            form,
            exchange: Exchange::new(Turns::new(frame, limits)),
            is_bare: root.kind() == Kind::Array,
            grammar: tagged.map_or(form.grammar, |described| described.grammar),
        };
        let own = form.system.and_then(|field| Some((field, present(root, field)?)));
        let system = own.or_else(|| columns::first(root, Holds::System));
        let names = Names {
            turns: &[other.as_ref().map_or(form.list, |(name, _)| name)],
            system: system.map(|(field, _)| field).or(form.system),
            tools: &[form.tools],
            define: tools_of_vendor,
        };
        reader.exchange.beside =
            RequestFields::read(names, root, limits, &mut reader.exchange.turns.list.notes);
        if let Some((_, system)) = system {
            reader.system(system);
        }
        if list.kind() == Kind::String {
            reader.exchange.turns.list.rows.rows += 1;
            reader.add(0, list);
        }
        for (index, turn) in (0..).zip(list.items()) {
            reader.read(if other.is_some() { OUTSIDE_LISTS } else { index }, turn);
        }
        let answer = columns::answer(root, Some(list));
        let start = reader.exchange.turns.list.messages.len();
        if let Some((field, answer)) = answer {
            reader.exchange.beside.take(field);
            reader.answer(field, answer);
        }
        let is_answered = reader.exchange.turns.list.messages.len() > start;
        for (field, other) in columns::all(root, Holds::Answer) {
            if reader.exchange.turns.repeats(other) {
                reader.exchange.beside.take(field);
            }
        }
        reader.compare(root, is_answered.then_some(start));
        let mut exchange = reader.exchange;
        exchange.apply_record_fields(root);
        let Exchange { turns, beside, .. } = &mut exchange;
        if let (Some(described), true) = (form.grammar.described, beside.tools.is_empty()) {
            let messages = turns.list.messages.iter();
            let system_messages = messages.filter(|message| message.role == Role::System);
            let texts = system_messages
                .flat_map(|message| &message.parts)
                .filter_map(|part| match part {
                    Part::Text(text) => Some(text),
                    _ => None,
                });
            beside.tools = texts.flat_map(|text| (described.tools)(text, limits)).collect();
        }
        let shape = self.about.shapes.first().copied().unwrap_or_default();
        Ok(exchange.finish(shape))
    }
}

impl RequestForm {
    /// The list of turns, or why the whole frame is rejected.
    fn turns<'d>(&self, frame: FrameView<'d>, limits: &Limits) -> Result<Value<'d>, Box<Finding>> {
        let root = frame.root();
        if root.kind() == Kind::Array && root.items().any(|turn| turn.kind() == Kind::Object) {
            return list::bare(frame, "messages", limits);
        }
        if root.kind() != Kind::Object {
            return Err(frame.error(&codes::WRONG_TYPE, "the record is not an object", "$", root));
        }
        if self.may_be_text {
            let text = list::single(frame, self.list)?;
            if text.kind() == Kind::String {
                return Ok(text);
            }
        }
        list::named(frame, self.list, "messages", limits)
    }

    /// The JSON path of a turn, in a request or in a bare list.
    fn place(&self, index: u32, is_bare: bool) -> Option<String> {
        if is_bare && index != OUTSIDE_LISTS {
            Some(format!("$[{index}]"))
        } else {
            self.path(index)
        }
    }

    /// The JSON path of a turn; the system text has the last index, and the bytes say where an answer is.
    pub(crate) fn path(&self, index: u32) -> Option<String> {
        match self.system {
            Some(system) if index == u32::MAX => Some(format!("$.{system}")),
            _ => (index != OUTSIDE_LISTS).then(|| format!("$.{}[{index}]", self.list)),
        }
    }
}

/// Reads the turns of one request, in order.
struct Reader<'d, 'r> {
    form: &'r RequestForm,
    exchange: Exchange<'d, 'r>,
    /// Whether the record is the list itself.
    is_bare: bool,
    /// The grammar of this record.
    grammar: &'static Grammar,
}

impl<'d, 'r> Reader<'d, 'r> {
    fn system(&mut self, value: Value<'d>) {
        self.exchange.turns.list.rows.rows += 1;
        let mut turn = if value.kind() == Kind::Object {
            let mut turn = Turn::default();
            let text = "the system text is an object and is read as its JSON text";
            turn.malformed_content("", text, value, &mut self.exchange.turns.list.site(None, value));
            turn
        } else {
            self.turn(value)
        };
        turn.role = Some(Role::System);
        self.exchange.turns.push(u32::MAX, value, turn);
    }

    fn read(&mut self, index: u32, value: Value<'d>) {
        let (form, path) = (self.form, self.path(index, value));
        let single = |value: Value<'d>| {
            let mut keys = value.duplicate_keys().into_iter();
            match keys.find(|key| form.grammar.fields.contains(&key.as_str())) {
                None => Ok(()),
                Some(key) => Err(key.into()),
            }
        };
        let list = &mut self.exchange.turns.list;
        if list.element(Element::Message, path, value, single).is_some() {
            self.add(index, value);
        }
    }

    /// Finds the JSON path of a turn.
    fn path(&self, index: u32, value: Value<'d>) -> impl FnOnce() -> String + use<'d, 'r> {
        let (form, is_bare) = (self.form, self.is_bare);
        let document = self.exchange.turns.list.frame.document;
        move || {
            let own = form.place(index, is_bare);
            own.unwrap_or_else(|| document.path_at(value.span().start))
        }
    }

    /// Reads the answer beside the turns: turns of the same form, or what any vendor answers.
    fn answer(&mut self, field: &str, value: Value<'d>) {
        let is_own = |turn: Value<'_>| {
            self.form
                .grammar
                .fields
                .first()
                .is_some_and(|key| turn.get(key).is_some())
        };
        if is_own(value) {
            self.read(OUTSIDE_LISTS, value);
        } else if value.kind() == Kind::Array && !value.is_empty() && value.items().all(is_own) {
            for turn in value.items() {
                self.read(OUTSIDE_LISTS, turn);
            }
        } else {
            self.exchange.answered(value, field);
        }
    }

    /// Reads the answer that was not preferred: to the one that begins here, else to the last.
    fn compare(&mut self, root: Value<'d>, start: Option<usize>) {
        let Some((field, other)) =
            columns::first(root, Holds::Worse).filter(|(_, other)| preference::may_be_answer(*other))
        else {
            return;
        };
        let start = start.unwrap_or_else(|| preference::answer(&self.exchange.turns.list.messages));
        let before_answer = self.exchange.turns.list.begin_alternative();
        self.answer(field, other);
        if preference::compare(&mut self.exchange.turns.list, before_answer, root, start) {
            self.exchange.beside.take(field);
        }
    }

    fn add(&mut self, index: u32, value: Value<'d>) {
        let known = self.exchange.turns.list.notes.findings.len();
        let turn = self.turn(value);
        let place = self.path(index, value);
        self.exchange.turns.add(index, value, turn, known, place);
    }

    fn turn(&mut self, value: Value<'d>) -> Turn {
        let is_openai = ["tool_calls", "tool_call_id"]
            .iter()
            .any(|key| present(value, key).is_some())
            || matches!(value.get("role").and_then(Value::string).as_deref(), Some("tool"));
        let is_foreign = self.form.list == "input" && is_foreign(value, self.grammar);
        let grammar = self.grammar;
        self.exchange.turns.read(value, "", |value, site| {
            if is_openai || is_foreign {
                grammar::any(value, grammar, site)
            } else {
                grammar.turn(value, site)
            }
        })
    }
}
