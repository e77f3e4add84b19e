//! Requests to vendors' APIs: an object with one list of turns, and system text, tools and settings beside it.
//!
//! What a turn looks like is each vendor's own: a [`Form`] names the fields and reads one turn. Everything around that is
//! here: what decides over the frame, which turns are rejected, who speaks, and what becomes of fields without a place.
//! A list of messages in `OpenAI`'s shape has a reader of its own.

mod beside;

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, Path, Reject, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value, append_key};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Extra, Message, MessageKind, MessageOrigin, Part, RawJson, Role, Unstated};

use crate::notes::{Notes, Site, repeated_key};
use crate::openai_messages::{self, speakers::Speakers};
use crate::reject::reject_message;
use crate::vendor::{self, Vendor};
use crate::{About, Evidence, FrameView, Reading, Row, RowLedger, Source, judged, shown, turn, weight};
pub use beside::Beside;

/// What a vendor's request looks like.
#[derive(Debug)]
pub struct Form {
    /// Id of the source.
    pub source: &'static str,
    /// Name of the structure.
    pub shape: &'static str,
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
    /// Fields of a turn that may not stand there twice.
    pub known: &'static [&'static str],
    /// Reads one turn, or the system text.
    pub turn: fn(Value<'_>, &mut Site<'_>, &Limits) -> Said,
}

/// A source that reads the requests of one vendor.
#[derive(Debug)]
pub struct Requests {
    /// What it is.
    pub about: &'static About,
    /// What its requests look like.
    pub form: &'static Form,
    /// What speaks for it in one record, and how sure that is.
    pub recognise: fn(&RecordSketch) -> Option<(u8, String)>,
    /// Whose blocks its turns have, where these tell it from others; then the list of turns may stand alone, too.
    pub vendor: Option<Vendor>,
}

impl Source for Requests {
    fn id(&self) -> &'static str {
        self.form.source
    }

    fn about(&self) -> &'static About {
        self.about
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
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
        strongest(self.form.source, blocks.chain(alone).chain(known))
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::of(self.about, read(self.form, *frame, limits))
    }

    fn message_path(&self, index: u32) -> String {
        path(self.form, index)
    }

    /// A file that is a bare list of turns is one conversation.
    fn gathers(&self, sketch: &Sketch) -> bool {
        self.vendor
            .is_some_and(|vendor| vendor::is_list(sketch, vendor).is_some())
    }

    /// Whatever stands in a bare list belongs to it; a whole request, or another list, is read on its own.
    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let stands_alone = root.kind() == Kind::Array || root.get(self.form.list).is_some();
        (!stands_alone).then(|| vec![Row::of_list(root)])
    }
}

/// What a turn says.
#[derive(Debug, Default)]
pub struct Said {
    /// Who it speaks as; nobody known: a user.
    pub role: Option<Role>,
    /// The vendor's word for that, where it is not the model's.
    pub word: Option<String>,
    /// Id of the message.
    pub id: Option<String>,
    /// The pieces.
    pub parts: Vec<Part>,
    /// Fields without a place, by path.
    pub rest: Vec<(String, RawJson)>,
    /// Whether it is a piece of the assistant's turn that stands directly before it, where one does.
    pub continues: bool,
    /// Whether the assistant's turn that stands directly behind it goes on with it.
    pub leads: bool,
    /// Whether it is no turn, but tells what happened.
    pub is_notice: bool,
}

impl Said {
    /// Keeps a value under its path.
    pub fn keep(&mut self, path: &str, value: Value<'_>) {
        self.rest.push((path.to_owned(), RawJson(value.raw().to_owned())));
    }

    /// Keeps the fields of an object that are not among `known` and not null.
    pub fn keep_rest(&mut self, object: Value<'_>, path: &str, known: &[&str]) {
        for (key, value) in object.fields() {
            if !known.contains(&&*key) && !value.is_null() {
                let mut place = path.to_owned();
                if path.is_empty() {
                    place.push_str(&key);
                } else {
                    append_key(&mut place, &key);
                }
                self.keep(&place, value);
            }
        }
    }

    /// Reads the role of a turn by its word.
    pub fn take_role(
        &mut self,
        field: &str,
        turn: Value<'_>,
        site: &mut Site<'_>,
        of: fn(&str) -> Option<Role>,
    ) {
        let Some(value) = turn.get(field).filter(|value| !value.is_null()) else {
            site.missing(field, Severity::Error);
            return;
        };
        let word = value.as_str();
        self.role = word.as_deref().and_then(of);
        if self.role.is_none() {
            let text = format!("the {field} is none of the known words: the turn is read as a user's");
            site.wrong(field, &text, Severity::Error, value);
        }
        let plain = self.role.unwrap_or(Role::User).as_str();
        self.word = word.filter(|word| word != plain).map(Cow::into_owned);
    }

    /// A part that has no form that is known here.
    pub fn unknown(&mut self, path: &str, value: Value<'_>, site: &mut Site<'_>) {
        let text = "the part has no form that is known here and is kept as it is";
        site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, below(path), value);
        self.keep(path, value);
    }

    /// Content that has another form than the vendor's: its text is kept, JSON as it is.
    pub fn odd_content(&mut self, path: &str, text: &str, value: Value<'_>, site: &mut Site<'_>) {
        let finding = Finding::new(&codes::WRONG_TYPE, text)
            .with_severity(Severity::Error)
            .quoting(value.raw());
        let finding = site.place(finding, below(path), value);
        site.notes.findings.push(finding);
        self.parts.push(Part::Text(turn::text_of(value)));
    }

    /// Whether it holds results and nothing else that is said.
    fn only_answers(&self) -> bool {
        let mut others = self.parts.iter().filter(|part| !matches!(part, Part::CacheMark));
        self.answers() && others.all(|part| matches!(part, Part::ToolResult(_)))
    }

    fn answers(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::ToolResult(_)))
    }
}

/// A path inside a turn as it follows the turn's own path; inside system text it may begin with an index.
fn below(path: &str) -> String {
    if path.is_empty() || path.starts_with('[') {
        path.to_owned()
    } else {
        format!(".{path}")
    }
}

/// Index of the answer that stands beside the turns.
const ANSWER: u32 = u32::MAX - 1;

/// The JSON path of a turn; the system text has the last index, and the answer the one before it.
fn path(form: &Form, index: u32) -> String {
    match form.system {
        Some(system) if index == u32::MAX => format!("$.{system}"),
        _ if index == ANSWER => format!("$.{}", form.answer.unwrap_or_default()),
        _ => format!("$.{}[{index}]", form.list),
    }
}

/// Whether a record has a field.
pub fn has(record: &RecordSketch, wanted: &str) -> bool {
    record.keys.iter().any(|key| key == wanted)
}

/// Whether the first object of a field has a field.
pub fn holds(record: &RecordSketch, field: &str, wanted: &str) -> bool {
    let mut inside = record.nested.iter();
    inside.any(|(key, inner)| key == field && inner == wanted)
}

/// The best evidence for a source among the records of an entry.
pub fn best(
    source: &'static str,
    sketch: &Sketch,
    recognise: fn(&RecordSketch) -> Option<(u8, String)>,
) -> Option<Evidence> {
    strongest(source, sketch.records.iter().filter_map(recognise))
}

/// The strongest of what speaks for a source; of equals the first.
fn strongest(source: &'static str, found: impl Iterator<Item = (u8, String)>) -> Option<Evidence> {
    let (confidence, why) = found.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some(Evidence {
        source,
        confidence,
        why: vec![why],
    })
}

fn read(form: &'static Form, frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let mut notes = Notes::new(frame.start);
    let root = frame.document.root();
    let list = top_level(form, root, limits, &notes)?;
    judged::refuse(root, &notes)?;
    judged::compare(root, &mut notes);
    let mut beside = Beside::read(form, root, limits, &mut notes);
    let mut reader = Reader {
        form,
        frame,
        limits,
        speakers: Speakers::default(),
        notes,
        rejects: Vec::new(),
        messages: Vec::new(),
        is_led: false,
        is_bare: root.kind() == Kind::Array,
        rows: RowLedger::default(),
    };
    let system = form.system.and_then(|field| root.get(field));
    if let Some(system) = system.filter(|value| !value.is_null()) {
        reader.system(system);
    }
    if list.kind() == Kind::String {
        reader.rows.rows += 1;
        reader.add(0, list);
    }
    for (index, turn) in (0..).zip(list.items()) {
        reader.read(index, turn);
    }
    if let Some(field) = form.answer
        && let Some(answer) = root.get(field).filter(|value| !value.is_null())
        && reader.answer(answer)
    {
        beside.extra.0.retain(|(key, _)| key != field);
    }
    shown::place(root, &mut reader.messages, &mut beside.extra, &mut reader.notes);
    Ok(Reading {
        conversation: Some(beside.conversation(
            form,
            frame.key,
            reader.speakers.participants,
            reader.messages,
        )),
        fault: None,
        findings: reader.notes.findings,
        rejects: reader.rejects,
        rows: reader.rows,
    })
}

/// Checks what decides over the whole frame; gives the list of turns.
fn top_level<'d>(
    form: &Form,
    root: Value<'d>,
    limits: &Limits,
    notes: &Notes,
) -> Result<Value<'d>, Box<Finding>> {
    let fault = |finding: Finding, path: &str, value: Value<'_>| {
        Box::new(notes.spanned(finding.with_severity(Severity::Error).at_path(path), value.span()))
    };
    if root.kind() == Kind::Array && root.items().any(|turn| turn.kind() == Kind::Object) {
        return match openai_messages::too_many(root, limits) {
            Some(finding) => Err(fault(finding, "$", root)),
            None => Ok(root),
        };
    }
    if root.kind() != Kind::Object {
        let finding = Finding::new(&codes::WRONG_TYPE, "the record is no object");
        return Err(fault(finding, "$", root));
    }
    let name = form.list;
    let path = format!("$.{name}");
    let mut lists = root.fields().filter(|(key, _)| key == name);
    let Some((_, list)) = lists.next() else {
        let finding = Finding::new(&codes::MISSING_FIELD, format!("the record has no {name}"));
        return Err(fault(finding, &path, root));
    };
    if lists.next().is_some() {
        let text = format!("{name} stands more than once in the record");
        return Err(fault(Finding::new(&codes::DUPLICATE_KEY, text), &path, root));
    }
    let is_text = form.may_be_text && list.kind() == Kind::String;
    if list.kind() != Kind::Array && !is_text {
        let finding = Finding::new(&codes::WRONG_TYPE, format!("{name} is no list"));
        return Err(fault(finding, &path, list));
    }
    let (count, limit) = (list.len() as u64, limits.messages_per_conversation);
    if count > limit && !is_text {
        let text = format!("the conversation has {count} messages, the limit is {limit}");
        let finding = Finding::new(&codes::CONVERSATION_TOO_LARGE, text);
        return Err(fault(finding, &path, list));
    }
    Ok(list)
}

/// Reads the turns of one request, in order.
struct Reader<'d, 'r> {
    form: &'static Form,
    frame: FrameView<'d>,
    limits: &'r Limits,
    speakers: Speakers,
    notes: Notes,
    rejects: Vec<Reject>,
    messages: Vec<Message>,
    /// Whether what the assistant says next belongs to the last message.
    is_led: bool,
    /// Whether the record is the list itself.
    is_bare: bool,
    rows: RowLedger,
}

impl<'d> Reader<'d, '_> {
    fn path(&self, index: u32) -> String {
        if self.is_bare {
            format!("$[{index}]")
        } else {
            path(self.form, index)
        }
    }

    fn system(&mut self, value: Value<'d>) {
        self.rows.rows += 1;
        let mut said = if value.kind() == Kind::Object {
            let mut said = Said::default();
            let text = "the system text is an object and is read as its JSON text";
            said.odd_content("", text, value, &mut self.site(value));
            said
        } else {
            self.said(value)
        };
        said.role = Some(Role::System);
        self.push(u32::MAX, value, said);
    }

    fn read(&mut self, index: u32, value: Value<'d>) {
        self.rows.rows += 1;
        let fault = if value.kind() == Kind::Object {
            let mut keys = value.duplicate_keys().into_iter();
            match keys.find(|key| self.form.known.contains(&key.as_str())) {
                None => return self.add(index, value),
                Some(key) => {
                    let text = "a known key stands more than once: the message is rejected";
                    Finding::new(&codes::DUPLICATE_KEY, text).quoting(&key)
                }
            }
        } else {
            Finding::new(&codes::WRONG_TYPE, "the message is no object and is rejected")
        };
        self.rows.rejected += 1;
        let finding = fault.at_path(self.path(index));
        let reject = reject_message(self.frame, &self.notes, value, finding, self.limits);
        self.rejects.push(reject);
    }

    /// Reads the answer beside the turns; false where it has no form that is known.
    fn answer(&mut self, value: Value<'d>) -> bool {
        let is_turn =
            value.kind() == Kind::Object && self.form.known.iter().any(|key| value.get(key).is_some());
        if is_turn {
            self.read(ANSWER, value);
        } else if value.kind() == Kind::String {
            self.rows.rows += 1;
            let mut said = self.said(value);
            said.role = Some(Role::Assistant);
            self.push(ANSWER, value, said);
        } else {
            let text = "the answer has no form that is known here and is kept as it is";
            let finding = Finding::new(&codes::WRONG_TYPE, text).with_severity(Severity::Warning);
            self.notes
                .push(finding.at_path(path(self.form, ANSWER)), Some(value));
            return false;
        }
        true
    }

    fn add(&mut self, index: u32, value: Value<'d>) {
        let known = self.notes.findings.len();
        let said = self.said(value);
        let is_led = std::mem::replace(&mut self.is_led, said.leads)
            && said.role == Some(Role::Assistant)
            && !said.is_notice;
        let is_continued = (said.continues || is_led)
            && self
                .messages
                .last()
                .is_some_and(|last| last.role == Role::Assistant && last.kind == MessageKind::Message);
        if is_continued {
            self.replace(known, index);
            self.join(value, said);
        } else {
            self.push(index, value, said);
        }
    }

    fn site<'s>(&'s mut self, message: Value<'s>) -> Site<'s> {
        Site {
            notes: &mut self.notes,
            position: self.messages.len() as u32,
            id: None,
            message,
        }
    }

    fn said(&mut self, value: Value<'d>) -> Said {
        let (form, limits) = (self.form, self.limits);
        let mut site = self.site(value);
        let said = (form.turn)(value, &mut site, limits);
        for key in value.duplicate_keys() {
            let mut suffix = String::new();
            append_key(&mut suffix, &key);
            let finding = site.place(repeated_key(false), suffix, value.get(&key).unwrap_or(value));
            site.notes.findings.push(finding);
        }
        said
    }

    /// Places the findings from `known` on, which are about the item with this index, at the message that it belongs to.
    fn replace(&mut self, known: usize, index: u32) {
        let last = self.messages.len().saturating_sub(1) as u32;
        for finding in self.notes.findings.iter_mut().skip(known) {
            finding.position = finding.position.map(|_| last);
            if let Path::InMessage(suffix) = &finding.path {
                let own = if self.is_bare {
                    format!("$[{index}]")
                } else {
                    path(self.form, index)
                };
                finding.path = Path::Absolute(format!("{own}{suffix}"));
            }
        }
    }

    /// Adds a piece to the assistant's turn before it.
    fn join(&mut self, value: Value<'d>, said: Said) {
        let Some(last) = self.messages.last_mut() else {
            return;
        };
        // Paths are those of one item; the second one's would meet the first one's.
        let number = self.rows.merged + 1;
        last.extra.0.extend(
            said.rest
                .into_iter()
                .map(|(path, raw)| (format!("item{number}.{path}"), raw)),
        );
        if last.id.is_none() {
            last.id = said.id;
        }
        if let Some(sender) = last.sender {
            remember_calls(&mut self.speakers, sender, &said.parts);
        }
        last.parts.extend(said.parts);
        last.origin.end = self.frame.start + value.span().end as u64;
        self.rows.merged += 1;
    }

    fn push(&mut self, index: u32, value: Value<'d>, mut said: Said) {
        let stated = said.role.unwrap_or(Role::User);
        let role = match stated {
            Role::User if said.only_answers() => Role::Tool,
            role => role,
        };
        let sender = if role == Role::Tool {
            let call_id = said.parts.iter().find_map(|part| match part {
                Part::ToolResult(result) => result.call_id.as_deref(),
                _ => None,
            });
            self.speakers.answered(call_id)
        } else {
            self.speakers.of(role, None)
        };
        remember_calls(&mut self.speakers, sender, &said.parts);
        let kind = if said.is_notice {
            self.rows.notices += 1;
            MessageKind::Notice
        } else {
            self.rows.messages += 1;
            MessageKind::Message
        };
        let span = value.span();
        self.messages.push(Message {
            id: said.id,
            unstated: Unstated::default(),
            external_id: None,
            position: self.messages.len() as u32,
            sender: Some(sender),
            sender_name: None,
            role,
            kind,
            source_type: said.word,
            timestamp: None,
            parts: said.parts,
            references: Vec::new(),
            mentions: Vec::new(),
            weight: weight::take(value, &mut said.rest),
            extra: Extra(said.rest),
            origin: MessageOrigin {
                start: self.frame.start + span.start as u64,
                end: self.frame.start + span.end as u64,
                index,
            },
        });
    }
}

fn remember_calls(speakers: &mut Speakers, sender: usize, parts: &[Part]) {
    for part in parts {
        if let Part::ToolCall(call) = part {
            speakers.calls(sender, call.id.as_deref());
        }
    }
}
