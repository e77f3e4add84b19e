//! Requests to vendors' APIs: an object with a list of turns, the system text, tool definitions and settings.
//!
//! Each vendor has its own turns: a [`RequestForm`] names the fields and reads one turn. Everything else is here: when the
//! frame or a turn is rejected, who speaks, and what becomes of fields without a place. Lists of messages in `OpenAI`'s shape
//! have a reader of their own.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, Path, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Extra, Message, MessageKind, Part, Role};

use crate::frame::{FrameView, Reading, Row};
use crate::reader::fields::present;
use crate::reader::kept::{Keep, Kept};
use crate::reader::list::{self, Element, ListReader};
use crate::reader::message_object::text_of;
use crate::reader::notes::Site;
use crate::reader::recognise::strongest;
use crate::reader::request_fields::{Names, RequestFields, tools_of_vendor};
use crate::reader::roster::Roster;
use crate::reader::thoughts::reading;
use crate::reader::vendor::{self, Vendor};
use crate::reader::{logged, placed_media, preference, weight};
use crate::source::{About, Source};

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
        reading(self.about.customs, self.conversation(*frame, limits))
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
        preference::refuse(&frame)?;
        let mut reader = Reader {
            form,
            list: ListReader::new(frame, limits),
            roster: Roster::default(),
            is_led: false,
            is_bare: root.kind() == Kind::Array,
        };
        preference::compare(root, &mut reader.list.notes);
        let names = Names {
            turns: &[form.list],
            system: form.system,
            tools: &[form.tools],
            define: tools_of_vendor,
        };
        let mut beside = RequestFields::read(names, root, limits, &mut reader.list.notes);
        let system = form.system.and_then(|field| root.get(field));
        if let Some(system) = system.filter(|value| !value.is_null()) {
            reader.system(system);
        }
        if list.kind() == Kind::String {
            reader.list.rows.rows += 1;
            reader.add(0, list);
        }
        for (index, turn) in (0..).zip(list.items()) {
            reader.read(index, turn);
        }
        if let Some(field) = form.answer
            && let Some(answer) = present(root, field)
            && reader.answer(answer)
        {
            beside.extra.0.retain(|(key, _)| key != field);
        }
        let Reader { mut list, roster, .. } = reader;
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

/// What a turn says.
#[derive(Debug, Default)]
pub struct Turn {
    /// The role; a user where it is unknown.
    pub role: Option<Role>,
    /// The vendor's word for the role, where it differs from ours.
    pub word: Option<String>,
    /// Id of the message.
    pub id: Option<String>,
    /// The pieces.
    pub parts: Vec<Part>,
    /// Fields without a place, by path.
    pub rest: Kept,
    /// Whether it continues an assistant's turn directly before it.
    pub continues: bool,
    /// Whether an assistant's turn directly after it continues it.
    pub leads: bool,
    /// Whether it is an event and not a turn.
    pub is_notice: bool,
}

impl Keep for Turn {
    fn kept(&mut self) -> &mut Kept {
        &mut self.rest
    }
}

impl Turn {
    /// Reads the role of a turn by its word.
    pub fn take_role(
        &mut self,
        field: &str,
        turn: Value<'_>,
        site: &mut Site<'_>,
        of: fn(&str) -> Option<Role>,
    ) {
        let Some(value) = present(turn, field) else {
            site.missing(field, Severity::Error);
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

    /// Keeps a part of unknown form as it is, with a finding.
    pub fn unknown(&mut self, path: &str, value: Value<'_>, site: &mut Site<'_>) {
        let text = "the part has no form that is known here and is kept as it is";
        site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, suffix(path), value);
        self.keep(path, value);
    }

    /// Reads content of another form than the vendor's as text: JSON as it is written.
    pub fn odd_content(&mut self, path: &str, text: &str, value: Value<'_>, site: &mut Site<'_>) {
        let finding = Finding::new(&codes::WRONG_TYPE, text)
            .with_severity(Severity::Error)
            .quoting(value.raw());
        site.push(finding, suffix(path), value);
        self.parts.push(Part::Text(text_of(value)));
    }

    /// Whether it holds results and nothing else.
    fn only_answers(&self) -> bool {
        let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
        let mut others = self.parts.iter().filter(|part| !matches!(part, Part::CacheMark));
        self.parts.iter().any(is_result) && others.all(is_result)
    }
}

/// The suffix that a path inside a turn adds to the turn's own path; inside system text it may begin with an index.
fn suffix(path: &str) -> String {
    if path.is_empty() || path.starts_with('[') {
        path.to_owned()
    } else {
        format!(".{path}")
    }
}

/// Reads the turns of one request, in order.
struct Reader<'d, 'r> {
    form: &'static RequestForm,
    list: ListReader<'d, 'r>,
    roster: Roster,
    /// Whether the assistant's next turn continues the last message.
    is_led: bool,
    /// Whether the record is the list itself.
    is_bare: bool,
}

impl<'d> Reader<'d, '_> {
    fn system(&mut self, value: Value<'d>) {
        self.list.rows.rows += 1;
        let mut turn = if value.kind() == Kind::Object {
            let mut turn = Turn::default();
            let text = "the system text is an object and is read as its JSON text";
            turn.odd_content("", text, value, &mut self.list.site(None, value));
            turn
        } else {
            self.turn(value)
        };
        turn.role = Some(Role::System);
        self.push(u32::MAX, value, turn);
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
            self.list.rows.rows += 1;
            let mut turn = self.turn(value);
            turn.role = Some(Role::Assistant);
            self.push(ANSWER, value, turn);
        } else {
            let text = "the answer has no form that is known here and is kept as it is";
            let finding = Finding::new(&codes::WRONG_TYPE, text).with_severity(Severity::Warning);
            let finding = finding.at_path(self.form.path(ANSWER));
            self.list.notes.push(finding, Some(value));
            return false;
        }
        true
    }

    fn add(&mut self, index: u32, value: Value<'d>) {
        let known = self.list.notes.findings.len();
        let turn = self.turn(value);
        let is_led = std::mem::replace(&mut self.is_led, turn.leads)
            && turn.role == Some(Role::Assistant)
            && !turn.is_notice;
        let is_assistants =
            |last: &Message| last.role == Role::Assistant && last.kind == MessageKind::Message;
        if (turn.continues || is_led) && self.list.messages.last().is_some_and(is_assistants) {
            self.replace(known, index);
            self.join(value, turn);
        } else {
            self.push(index, value, turn);
        }
    }

    fn turn(&mut self, value: Value<'d>) -> Turn {
        let (form, limits) = (self.form, self.list.limits);
        let mut site = self.list.site(None, value);
        let turn = (form.turn)(value, &mut site, limits);
        site.repeated_keys(value, |_| false);
        turn
    }

    /// Moves the findings from `known` on, which are about the item with this index, to the message that it became part of.
    fn replace(&mut self, known: usize, index: u32) {
        let last = self.list.messages.len().saturating_sub(1) as u32;
        for finding in self.list.notes.findings.iter_mut().skip(known) {
            finding.position = finding.position.map(|_| last);
            if let Path::InMessage(suffix) = &finding.path {
                let own = self.form.place(index, self.is_bare);
                finding.path = Path::Absolute(format!("{own}{suffix}"));
            }
        }
    }

    /// Adds a piece to the assistant's turn before it.
    fn join(&mut self, value: Value<'d>, turn: Turn) {
        let Some(last) = self.list.messages.last_mut() else {
            return;
        };
        // Paths are those of one item; the second one's would meet the first one's.
        let number = self.list.rows.merged + 1;
        let rest = turn.rest.into_iter();
        let rest = rest.map(|(path, raw)| (format!("item{number}.{path}"), raw));
        last.extra.0.extend(rest);
        if last.id.is_none() {
            last.id = turn.id;
        }
        if let Some(sender) = last.sender {
            self.roster.calls(sender, &turn.parts);
        }
        last.parts.extend(turn.parts);
        last.origin.end = self.list.frame.span(value.span()).end;
        self.list.rows.merged += 1;
    }

    fn push(&mut self, index: u32, value: Value<'d>, mut turn: Turn) {
        let role = match turn.role.unwrap_or(Role::User) {
            Role::User if turn.only_answers() => Role::Tool,
            role => role,
        };
        let sender = if role == Role::Tool {
            self.roster.answering(&turn.parts)
        } else {
            self.roster.named(role, None)
        };
        self.roster.calls(sender, &turn.parts);
        self.list.push(Message {
            id: turn.id,
            sender: Some(sender),
            kind: if turn.is_notice {
                MessageKind::Notice
            } else {
                MessageKind::Message
            },
            source_type: turn.word,
            parts: turn.parts,
            weight: weight::take(value, &mut turn.rest),
            extra: Extra(turn.rest),
            ..self.list.message(role, value.span(), index)
        });
    }
}
