//! Requests to vendors' APIs: an object with a list of turns, the system text, tool definitions and settings.
//!
//! Each vendor has its own turns: a [`RequestForm`] names the fields and reads one turn. Everything else is here: when the
//! frame or a turn is rejected, who speaks, and what becomes of fields without a place. Lists of messages in `OpenAI`'s shape
//! have a reader of their own.

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Customs, Extra, Records, Role};

use crate::frame::{FrameView, Reading, Row};
use crate::reader::fields::present;
use crate::reader::list::{self, Element};
use crate::reader::notes::Site;
use crate::reader::recognise::strongest;
use crate::reader::request_fields::{Names, RequestFields, tools_of_vendor};
use crate::reader::thoughts::reading;
use crate::reader::turns::{Turn, Turns};
use crate::reader::vendor::{self, Vendor};
use crate::reader::{logged, placed_media, preference};
use crate::source::{About, Source};

/// Fields that a record has which was sent, and that files of chats for tuning do without.
const SENT: [&str; 9] = [
    "model",
    "modelId",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "temperature",
    "stream",
    "inferenceConfig",
    "usage",
];

/// What a record of a format of requests is like: one that was sent, or a chat as files for tuning have them. What was answered
/// stands in the field `answer`.
pub(crate) fn customs(about: &About, root: Value<'_>, answer: Option<&str>) -> Customs {
    let was_sent = SENT
        .into_iter()
        .chain(answer)
        .any(|field| present(root, field).is_some());
    Customs {
        records: if was_sent {
            about.customs.records
        } else {
            Records::Conversations
        },
        ..about.customs
    }
}

/// What a vendor's request looks like.
#[derive(Debug)]
pub struct RequestForm {
    /// The field that holds the turns.
    pub list: &'static str,
    /// Whether the list may be a string, which is then the only turn.
    pub may_be_text: bool,
    /// The field that holds system text, if there is one.
    pub system: Option<&'static str>,
    /// The field that defines tools.
    pub tools: &'static str,
    /// The field with the answer, where a record holds one beside its turns.
    pub answer: Option<&'static str>,
    /// Fields that a turn must not have twice.
    pub known: &'static [&'static str],
    /// Reads one turn, or the system text.
    pub turn: fn(Value<'_>, &mut Site<'_>, &Limits) -> Turn,
}

/// A source that reads the requests of one vendor.
#[derive(Debug)]
pub struct Requests {
    /// What it is.
    pub about: &'static About,
    /// What its requests look like.
    pub form: &'static RequestForm,
    /// Recognises the format in one record: the confidence and the reason.
    pub recognise: fn(&RecordSketch) -> Option<(u8, String)>,
    /// The vendor, where its blocks identify the format; then the list of turns may also be the whole record.
    pub vendor: Option<Vendor>,
}

impl Source for Requests {
    fn about(&self) -> &'static About {
        self.about
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        let list = format!("{}[]", self.form.list);
        let by_blocks = |record: &RecordSketch| {
            let lists = [list.as_str(), "[]"].into_iter();
            let mut found = lists.filter_map(|list| vendor::of(record, list));
            found.find(|(vendor, _, _)| Some(*vendor) == self.vendor)
        };
        let records = sketch.records.iter();
        let blocks = records.filter_map(|record| by_blocks(record).map(|(_, sure, why)| (sure, why)));
        let alone = self.vendor.and_then(|vendor| vendor::is_list(sketch, vendor));
        let known = sketch.records.iter().filter_map(self.recognise);
        strongest(blocks.chain(alone).chain(known))
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let customs = customs(self.about, frame.root(), self.form.answer);
        reading(customs, self.conversation(*frame, limits))
    }

    fn message_path(&self, index: u32) -> String {
        self.form.path(index)
    }

    /// A file that is a bare list of turns is one conversation.
    fn gathers(&self, sketch: &Sketch) -> bool {
        self.vendor
            .is_some_and(|vendor| vendor::is_list(sketch, vendor).is_some())
    }

    /// Every element of a bare list is a row of it; a whole request, or another list, is read on its own.
    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let stands_alone = root.kind() == Kind::Array || root.get(self.form.list).is_some();
        (!stands_alone).then(|| vec![Row::of(None, root)])
    }
}

impl Requests {
    fn conversation(&self, frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
        let (root, form) = (frame.root(), self.form);
        let list = form.turns(frame, limits)?;
        let mut reader = Reader {
            form,
            turns: Turns::new(frame, limits),
            is_bare: root.kind() == Kind::Array,
        };
        let names = Names {
            turns: &[form.list],
            system: form.system,
            tools: &[form.tools],
            define: tools_of_vendor,
        };
        let mut beside = RequestFields::read(names, root, limits, &mut reader.turns.list.notes);
        let system = form.system.and_then(|field| root.get(field));
        if let Some(system) = system.filter(|value| !value.is_null()) {
            reader.system(system);
        }
        if list.kind() == Kind::String {
            reader.turns.list.rows.rows += 1;
            reader.add(0, list);
        }
        for (index, turn) in (0..).zip(list.items()) {
            reader.read(index, turn);
        }
        let start = reader.turns.list.messages.len();
        let mut is_compared = false;
        if let Some(field) = form.answer
            && let Some(answer) = present(root, field)
            && reader.answer(answer)
        {
            beside.extra.0.retain(|(key, _)| key != field);
            is_compared = true;
        }
        reader.compare(root, is_compared.then_some(start), &mut beside.extra);
        preference::label(&mut reader.turns.list, root);
        let Turns { mut list, roster, .. } = reader.turns;
        placed_media::place(root, &mut list.messages, &mut beside.extra, &mut list.notes);
        logged::answer(root, &mut list.messages);
        let shape = self.about.shapes.first().copied().unwrap_or_default();
        Ok(list.finish(beside.conversation((self.about.id, shape), frame, roster.participants)))
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
            return Err(frame.fault(&codes::WRONG_TYPE, "the record is not an object", "$", root));
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
    fn place(&self, index: u32, is_bare: bool) -> String {
        if is_bare {
            format!("$[{index}]")
        } else {
            self.path(index)
        }
    }

    /// The JSON path of a turn; the system text has the last index, and the answer the one before it.
    fn path(&self, index: u32) -> String {
        match self.system {
            Some(system) if index == u32::MAX => format!("$.{system}"),
            _ if index == ANSWER => format!("$.{}", self.answer.unwrap_or_default()),
            _ => format!("$.{}[{index}]", self.list),
        }
    }
}

/// Index of the answer that stands beside the turns.
const ANSWER: u32 = u32::MAX - 1;

/// Reads the turns of one request, in order.
struct Reader<'d, 'r> {
    form: &'static RequestForm,
    turns: Turns<'d, 'r>,
    /// Whether the record is the list itself.
    is_bare: bool,
}

impl<'d> Reader<'d, '_> {
    fn system(&mut self, value: Value<'d>) {
        self.turns.list.rows.rows += 1;
        let mut turn = if value.kind() == Kind::Object {
            let mut turn = Turn::default();
            let text = "the system text is an object and is read as its JSON text";
            turn.odd_content("", text, value, &mut self.turns.list.site(None, value));
            turn
        } else {
            self.turn(value)
        };
        turn.role = Some(Role::System);
        self.turns.push(u32::MAX, value, turn);
    }

    fn read(&mut self, index: u32, value: Value<'d>) {
        let (form, is_bare) = (self.form, self.is_bare);
        let read = |value: Value<'d>| {
            let mut keys = value.duplicate_keys().into_iter();
            match keys.find(|key| form.known.contains(&key.as_str())) {
                None => Ok(()),
                Some(key) => Err(key.into()),
            }
        };
        if self
            .turns
            .list
            .element(Element::Message, || form.place(index, is_bare), value, read)
            .is_some()
        {
            self.add(index, value);
        }
    }

    /// Reads the answer beside the turns; false where its form is unknown.
    fn answer(&mut self, value: Value<'d>) -> bool {
        let is_turn =
            value.kind() == Kind::Object && self.form.known.iter().any(|key| value.get(key).is_some());
        if is_turn {
            self.read(ANSWER, value);
        } else if value.kind() == Kind::String {
            self.turns.list.rows.rows += 1;
            let mut turn = self.turn(value);
            turn.role = Some(Role::Assistant);
            self.turns.push(ANSWER, value, turn);
        } else {
            let text = "the answer has no form that is known here and is kept as it is";
            let finding = Finding::new(&codes::WRONG_TYPE, text).with_severity(Severity::Warning);
            let finding = finding.at_path(self.form.path(ANSWER));
            self.turns.list.notes.push(finding, Some(value));
            return false;
        }
        true
    }

    /// Reads the answer that was not preferred: to the one that begins here, else to the last.
    fn compare(&mut self, root: Value<'d>, start: Option<usize>, extra: &mut Extra) {
        let Some((field, other)) =
            preference::rejected(root).filter(|(_, other)| preference::may_be_answer(*other))
        else {
            return;
        };
        let start = start.unwrap_or_else(|| preference::answer(&self.turns.list.messages));
        let aside = self.turns.list.begin_aside();
        if other.kind() == Kind::Array {
            for turn in other.items() {
                self.read(0, turn);
            }
        } else if !self.answer(other) {
            self.turns.list.notes.findings.pop();
        }
        if preference::compare(&mut self.turns.list, aside, root, start) {
            extra.0.retain(|(key, _)| key != field);
        }
    }

    fn add(&mut self, index: u32, value: Value<'d>) {
        let known = self.turns.list.notes.findings.len();
        let turn = self.turn(value);
        let (form, is_bare) = (self.form, self.is_bare);
        let place = || form.place(index, is_bare);
        self.turns.add(index, value, turn, known, place);
    }

    fn turn(&mut self, value: Value<'d>) -> Turn {
        self.turns.read(value, "", self.form.turn)
    }
}
