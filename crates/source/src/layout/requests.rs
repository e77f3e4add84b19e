//! Requests to vendors' APIs, lists of messages, and rows with columns that together are one conversation.
//!
//! Each vendor has its own turns: a [`RequestForm`] names the fields, and the grammar reads one turn. Everything else is
//! here: which columns hold turns, rejection of frames and turns, participants, answers, and fields without a place.

mod branching;
mod cached;
mod reader;
mod row;
pub(crate) mod spelled_list;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Part, Records, Role};

use crate::base::conversations::conversation_of;
use crate::base::{present, words};
use crate::frame::{FrameView, Reading, Row as FrameRow};
use crate::grammar::{Grammar, OPENAI, signs};
use crate::layout::columns::{self, ColumnMeaning};
use crate::layout::{Names, OUTSIDE_LISTS, RequestFields, list, reading, recognise::strongest};
use crate::source::About;
use reader::TurnReader;
use row::{Row, RowTurns};

/// Fields of requests that were sent; chats in files for fine-tuning have none of them.
const SENT: [&str; 9] = words!(
    model modelId max_tokens max_completion_tokens max_output_tokens temperature stream inferenceConfig
    usage
);

/// Whether a record has such fields.
fn was_sent(root: Value<'_>) -> bool {
    SENT.iter().any(|field| present(root, field).is_some())
}

/// Marks the reading of a record without such fields as a chat, as in files for fine-tuning, and not as a request.
fn of_request(about: &About, root: Value<'_>, read: Result<Reading, Box<Finding>>) -> Reading {
    let mut reading = reading(about, read);
    let has_answer = columns::first(root, ColumnMeaning::Answer).is_some();
    let conversation = reading.conversation.as_mut();
    if let Some(conversation) = conversation.filter(|_| !was_sent(root) && !has_answer) {
        conversation.traits.records = Records::Conversations;
    }
    reading
}

/// The structure of a vendor's request.
#[derive(Debug)]
pub(crate) struct RequestForm {
    /// The field with the turns.
    pub list: &'static str,
    /// Whether the list may be a string, which is then the only turn.
    pub may_be_text: bool,
    /// The field with the system text, if there is one.
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
    /// Recognises the format by its vendor's blocks, and by `own`, a check of one record.
    pub(crate) fn recognise_by(
        &self,
        sketch: &Sketch,
        own: impl Fn(&RecordSketch) -> Option<(u8, String)>,
    ) -> Option<(u8, Vec<String>)> {
        let list = format!("{}[]", self.form.list);
        let of = signs::in_entry(sketch, &list);
        let by_blocks = |record: &RecordSketch| {
            if !self.has_signs {
                return None;
            }
            // The only list of messages may have any name.
            let alone = columns::name_alone(record, &["role", "content"]).map(|name| format!("{name}[]"));
            let lists = [list.as_str(), "[]"].into_iter().chain(alone.as_deref());
            let mut found = lists.filter_map(|list| of(record, list));
            found.find(|(found, _, _)| found.is(self.form.grammar))
        };
        let records = sketch.records.iter();
        let blocks = records.filter_map(|record| by_blocks(record).map(|(_, sure, why)| (sure, why)));
        let alone = self.bare_list(sketch);
        let are_tagged = self.form.grammar.fields.contains(&"from");
        let spelled = sketch
            .records
            .iter()
            .filter(|record| are_tagged && spelled_list::is_of_turns(record, self.form.list))
            .map(|_| {
                (
                    90,
                    format!("the text of {} is a list of from and value", self.form.list),
                )
            });
        // Calls and results in OpenAI's form decide before settings and definitions of tools do.
        let is_other = self.form.list == "messages" && !self.form.grammar.is_openais();
        let is_openai = |record: &&RecordSketch| is_other && signs::is_openai(record);
        let known = sketch
            .records
            .iter()
            .filter(|record| !is_openai(record))
            .filter_map(own);
        strongest(blocks.chain(alone).chain(spelled).chain(known))
    }

    /// Requests in `OpenAI`'s form, and rows of several columns.
    pub(crate) const fn of_openai(about: &'static About) -> Self {
        Self {
            about,
            form: RequestForm {
                list: "messages",
                may_be_text: false,
                system: None,
                tools: "tools",
                grammar: &OPENAI,
            },
            has_signs: false,
        }
    }

    /// Reads one request.
    pub(crate) fn reading(&self, frame: FrameView<'_>, limits: &Limits) -> Reading {
        let row = self.form.row(frame, limits);
        let read = row.map(|row| self.conversation(row, frame, limits));
        of_request(self.about, frame.root(), read)
    }

    /// Reads one request, or a training row with turns that are the JSON text of a list.
    pub(crate) fn reading_spelled(&self, frame: FrameView<'_>, limits: &Limits) -> Reading {
        if self.form.may_be_text {
            return self.reading(frame, limits);
        }
        spelled_list::of_column(frame, limits, self.form.list, |frame| self.reading(frame, limits))
    }

    /// Reads a row with turns in columns of several names; `None` if it has no such column.
    pub(crate) fn of_columns(&self, frame: FrameView<'_>, limits: &Limits) -> Option<Reading> {
        let row = Row::of_columns(frame, limits);
        if row.as_ref().is_ok_and(|row| row.turns.is_empty()) {
            return None;
        }
        let read = row.map(|row| self.conversation(row, frame, limits));
        Some(reading(self.about, read))
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

    /// Cuts a bare list into rows, one for each element. A whole request, or an array in a list, is a record by itself.
    pub(crate) fn turn_rows(&self, document: &Document<'_>) -> Option<Vec<FrameRow>> {
        let root = document.root();
        let is_whole_record = root.kind() == Kind::Array || root.get(self.form.list).is_some();
        let key = conversation_of(root);
        (!is_whole_record && !self.form.grammar.is_openais()).then(|| vec![FrameRow::of(key, root)])
    }

    /// Reads the turns of a row, and its other fields.
    fn conversation(&self, row: Row<'_>, frame: FrameView<'_>, limits: &Limits) -> Reading {
        let root = frame.root();
        if let Some(tree) = branching::read(self, &row, frame, limits) {
            return tree;
        }
        let mut reader = self.begin(&row, frame, limits);
        let mut start = None;
        for (index, turns) in row.turns.into_iter().enumerate() {
            if row.answer == Some(index) {
                start = Some(reader.count());
            }
            reader.turns(turns);
        }
        for (name, value) in
            columns::all(root, ColumnMeaning::Question).chain(columns::all(root, ColumnMeaning::Answer))
        {
            if reader.exchange.turns.repeats(value) && !columns::is_graded(root, name) {
                reader.exchange.beside.take(name);
            }
        }
        for name in columns::empty(root) {
            reader.exchange.beside.take(name);
        }
        let count = reader.count();
        reader.compare(root, start.filter(|start| *start < count));
        reader.generations(root);
        self.end(reader, root)
    }

    /// A reader of a row that has read the fields around its turns.
    fn begin<'d, 'r>(&self, row: &Row<'d>, frame: FrameView<'d>, limits: &'r Limits) -> TurnReader<'d, 'r> {
        let (root, form) = (frame.root(), &self.form);
        let tagged = form
            .grammar
            .described
            .filter(|described| root.written().contains(described.mark));
        let grammar = tagged.map_or(form.grammar, |described| described.grammar);
        let mut reader = TurnReader::new(grammar, frame, limits);
        let columns = row.columns.iter().map(|name| &**name);
        let columns: Vec<&str> = columns.filter(|name| !columns::is_graded(root, name)).collect();
        let names = Names {
            turns: &columns,
            system: row.system,
            tools: &form.tools_in(),
        };
        reader.exchange.turns.list.answers.in_pieces |= was_sent(root);
        let notes = &mut reader.exchange.turns.list.notes;
        reader.exchange.beside = RequestFields::read(names, root, limits, notes);
        reader
    }

    /// Finishes the conversation of a row.
    fn end<'d>(&self, reader: TurnReader<'d, '_>, root: Value<'d>) -> Reading {
        let mut exchange = reader.exchange;
        let limits = exchange.turns.list.limits;
        exchange.apply_record_fields(root);
        let described = self.form.grammar.described;
        if let (Some(described), true) = (described, exchange.beside.tools.is_empty()) {
            let messages = exchange.turns.list.messages.iter();
            let system_messages = messages.filter(|message| message.role == Role::System);
            let texts = system_messages
                .flat_map(|message| &message.parts)
                .filter_map(|part| match part {
                    Part::Text(text) => Some(text),
                    _ => None,
                });
            exchange.beside.tools = texts.flat_map(|text| (described.tools)(text, limits)).collect();
        }
        exchange.finish(self.about.shapes.first().copied().unwrap_or_default())
    }
}

impl RequestForm {
    /// The fields that define tools.
    const fn tools_in(&self) -> [&'static str; 2] {
        [self.tools, "functions"]
    }

    /// The turns of a record; an error if the whole frame is rejected.
    fn row<'d>(&self, frame: FrameView<'d>, limits: &Limits) -> Result<Row<'d>, Box<Finding>> {
        let root = frame.root();
        if self.grammar.is_openais() && self.list == "messages" {
            let list = openai_list(frame, limits)?;
            return match root.kind() {
                Kind::Array => Ok(Row::list(list)),
                _ => Row::of_columns(frame, limits),
            };
        }
        let mut row = Row::default();
        let own = self.system.and_then(|field| Some((field, present(root, field)?)));
        let system = own.or_else(|| columns::first(root, ColumnMeaning::System));
        row.system = system.map(|(field, _)| field).or(self.system);
        row.turns
            .extend(system.map(|(_, text)| RowTurns::Content(Role::System, u32::MAX, text)));
        // If it is the only list, it may have any name.
        let named = present(root, self.list);
        let is_named = root.kind() != Kind::Object || named.is_some_and(|list| !columns::is_empty_list(list));
        let is_answer = |name: &str| columns::answer(root, None).is_some_and(|(field, _)| field == name);
        let other = columns::alone(root, |turn| self.grammar.is_like_message(turn)).filter(|(name, _)| {
            !is_named && !self.tools_in().contains(&&**name) && (named.is_none() || !is_answer(name))
        });
        let list = if let Some((name, _)) = other {
            let list = list::named(frame, &name, "messages", limits)?;
            row.columns.push(name);
            row.turns.push(RowTurns::Column(list));
            list
        } else {
            let list = self.turns(frame, limits)?;
            row.columns.push(self.list.into());
            row.turns.push(match list.kind() {
                Kind::String => RowTurns::Content(Role::User, 0, list),
                _ => RowTurns::List(list),
            });
            list
        };
        let answer = columns::answer(root, Some(list));
        if let Some((field, answer)) =
            answer.filter(|(field, _)| row.columns.iter().all(|name| name != field))
        {
            row.answer = Some(row.turns.len());
            row.turns.push(RowTurns::Answer(field, answer));
        }
        Ok(row)
    }

    /// The list of turns; an error if the whole frame is rejected.
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

    /// The JSON path of a turn. The system text has the last index, and an answer has no path, only its bytes.
    pub(crate) fn path(&self, index: u32) -> Option<String> {
        match self.system {
            Some(system) if index == u32::MAX => Some(format!("$.{system}")),
            _ => (index != OUTSIDE_LISTS).then(|| format!("$.{}[{index}]", self.list)),
        }
    }
}

/// The list of messages in a record of `OpenAI`'s form; an error if the whole frame is rejected.
fn openai_list<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Value<'d>, Box<Finding>> {
    let root = frame.root();
    let (code, text, path) = match root.kind() {
        Kind::Array if root.is_empty() || root.items().any(|turn| turn.kind() == Kind::Object) => {
            return list::bare(frame, "messages", limits);
        }
        Kind::Object if root.get("messages").is_some() || root.get("role").is_none() => {
            return list::named(frame, "messages", "messages", limits);
        }
        Kind::Object => {
            let text =
                "the record is a single message: wrap the list that it comes from in an object as messages";
            (&codes::MISSING_FIELD, text, "$.messages")
        }
        Kind::Array => (&codes::WRONG_TYPE, "the record is a list without a message", "$"),
        _ => {
            let text = "the record is neither an object nor a list of messages";
            (&codes::WRONG_TYPE, text, "$")
        }
    };
    Err(frame.error(code, text, path, root))
}
