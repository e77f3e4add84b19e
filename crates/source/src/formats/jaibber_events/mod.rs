//! Jaibber's rooms: live events, pages of the REST API, the desktop client's store, presence and files.
//!
//! Live events are payloads, bare or in Ably's envelope:
//!
//! ```json
//! {"from":"u1","fromUsername":"ann","projectId":"p1","text":"@Coder why?","messageId":"m1","type":"message"}
//! {"from":"u1","fromUsername":"Coder","projectId":"p1","text":"Be","messageId":"r1","type":"chunk","agentName":"Coder"}
//! ```
//!
//! A conversation is a project: rows of all kinds are grouped by the project's id and read together. Answers
//! are assembled from their pieces ([`streams`]), people and agents of one account are distinguished
//! ([`roster`]). Messages stay in input order; where the REST API, whose pages begin with the newest, gave
//! some of them, they are ordered by time, and a message without a time stays with the row before it
//! ([`messages`]).

mod attachments;
mod checks;
mod cut;
mod detect;
mod event;
mod fields;
mod mentions;
mod messages;
mod open;
mod roster;
mod streams;
mod times;

use chatmill_diag::{Finding, Limits, Path, codes};
use chatmill_intake::json::{Kind, Note, Value};
use chatmill_model::{Conversation, FormatTraits, Scene};
use event::{Capture, Event};
use fields::KNOWN;
use open::{Opened, is_attachment, is_event, is_presence};
use roster::Roster;
use streams::{Assembler, RowOutcome};

use crate::base::times::zone::{READ_IN_ZONE, Zone};
use crate::base::{Times, drop_extra, present};
use crate::frame::{FrameView, Reading};
use crate::layout::{ListReader, list};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;

const ID: &str = "jaibber-events";

static ABOUT: About = About {
    id: ID,
    title: "Jaibber events",
    specification: "Jaibber Message Format (2026-02-28)",
    verified: "2026-11",
    shapes: &["rest", "events", "store"],
    carries: "people and agents, text, files, replies, mentions, chains of agents, ids, times, streams, tasks, presence",
    traits: FormatTraits {
        extra_format: Some(ID),
        ..FormatTraits::USUAL
    },
};

/// The source `jaibber-events`.
pub static JAIBBER_EVENTS: RustFormat = RustFormat {
    message_path: Some(|index| Some(format!("$[{index}]"))),
    rows: Some(cut::rows),
    merges: true,
    ..RustFormat::of(&ABOUT, detect::recognise, Read::Stored(read))
};

/// Reads the rows of one conversation.
struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    clock: Times,
    roster: Roster,
    assembler: Assembler,
    uploads: Vec<Event>,
    /// Kinds of captures that were seen.
    newest: Option<Capture>,
    has_live: bool,
    key: Option<String>,
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let no_row = "the record is neither a message nor an event, presence, file, page or store of this system";
    let no_row = (!cut::is_row(frame.root())).then_some(no_row);
    let neither = "the record is not an object";
    let rows = list::rows(frame, "the conversation", no_row, neither, limits)?;
    let mut reader = Reader {
        list: ListReader::new(frame, limits),
        clock: Times::within(Zone::of_check(frame.options), [READ_IN_ZONE, times::NAIVE]),
        roster: Roster::default(),
        assembler: Assembler::default(),
        uploads: Vec::new(),
        newest: None,
        has_live: false,
        key: frame.key.map(str::to_owned),
    };
    for (index, row) in (0..).zip(rows) {
        reader.read(index, row);
    }
    Ok(reader.finish())
}

impl<'d> Reader<'d, '_> {
    fn read(&mut self, index: u32, row: Value<'d>) {
        self.list.rows.rows += 1;
        let result = if row.kind() == Kind::Object {
            let depth = self.list.limits.depth;
            let opened = open::open(row, depth, |opened, notes| self.opened(index, row, opened, notes));
            opened.unwrap_or_else(|error| {
                let text = format!("data is text, but no JSON: {}", error.message);
                Err(Box::new(Finding::new(error.code, text)))
            })
        } else {
            let text = "the row is not an object and is rejected";
            Err(Box::new(Finding::new(&codes::WRONG_TYPE, text)))
        };
        if let Err(finding) = result {
            self.assembler.outcomes.push(RowOutcome::Rejected);
            let finding = finding.at_path(format!("$[{index}]"));
            self.list.reject(row.span(), finding);
        }
    }

    /// Reads the payload of a row; a finding if it is rejected.
    fn opened(
        &mut self,
        index: u32,
        row: Value<'_>,
        opened: Opened<'_>,
        scanned: &[Note],
    ) -> Result<(), Box<Finding>> {
        let body = opened.body;
        if !is_event(body) && !is_presence(body) && !is_attachment(body) {
            let text = "the row is not a message, event, presence or file of this system and is rejected";
            return Err(Box::new(Finding::new(&codes::MISSING_FIELD, text)));
        }
        let repeated = body.duplicate_keys();
        if let Some(key) = repeated.iter().find(|key| KNOWN.contains(&key.as_str())) {
            let text = "duplicate key of the format: the row is rejected";
            return Err(Box::new(Finding::new(&codes::DUPLICATE_KEY, text).quoting(key)));
        }
        if self.key.is_none() {
            self.key = open::projects(opened).into_iter().next();
        }
        let mut site = self.list.site(None, row);
        site.position = index;
        let outside = opened
            .envelope
            .and_then(|envelope| present(envelope, "timestamp"))
            .and_then(|time| times::read(&mut self.clock, time, "timestamp", &mut site));
        let before = site.notes.findings.len();
        site.message = body;
        if !repeated.is_empty() {
            site.repeated_keys(body, |_| false);
        }
        let place = (index, row.span());
        if is_presence(body) {
            self.roster.join(body);
            self.assembler.outcomes.push(RowOutcome::Merged(None));
        } else if is_attachment(body) {
            let upload = attachments::upload(body, place, &mut self.clock, &mut site);
            self.uploads.push(upload);
            self.assembler.outcomes.push(RowOutcome::Merged(None));
        } else {
            let key = self.key.as_deref();
            let event = fields::read(opened, place, key, outside, &mut self.clock, &mut site);
            self.newest = self.newest.max(Some(event.capture));
            self.has_live |= event.capture == Capture::Live;
            self.assembler.take(event);
        }
        self.relocate(before, opened, scanned, index);
        Ok(())
    }

    /// Moves findings about the inside of an envelope to their place in the frame.
    fn relocate(&mut self, before: usize, opened: Opened<'_>, scanned: &[Note], index: u32) {
        let findings = &mut self.list.notes.findings;
        for finding in findings.iter_mut().skip(before) {
            if let Path::InMessage(suffix) = &mut finding.path {
                suffix.insert_str(0, opened.prefix);
            }
        }
        let Some(text) = opened.text else { return };
        findings.extend(scanned.iter().map(|note| {
            let finding = Finding::new(note.code, "it is inside the text of data");
            finding.at_message(index, None, opened.prefix)
        }));
        let place = Some(self.list.frame.span(text.span()));
        for finding in findings.iter_mut().skip(before) {
            finding.span = place;
        }
    }

    fn finish(mut self) -> Reading {
        let list = &mut self.list;
        self.clock.finish(&mut list.notes);
        let outcomes = messages::finish_messages(self.assembler, self.uploads, &mut self.roster, list);
        let is_silent = list.messages.is_empty();
        if self.key.is_none() && !is_silent {
            let finding = Finding::new(&codes::SPARED_FIELD, "no row names its project");
            list.notes.push(finding, None);
        }
        // An empty list is a conversation without messages, as for every source.
        let is_nothing = is_silent && list.rows.rows > 0;
        if is_nothing && list.rejects.is_empty() {
            let finding = only_present(self.key.as_deref());
            list.notes.push(finding, Some(list.frame.root()));
        }
        let is_merged = |outcome: &&RowOutcome| matches!(outcome, RowOutcome::Merged(_));
        let is_repeated = |outcome: &&RowOutcome| matches!(outcome, RowOutcome::Repeats(_));
        list.rows.merged = outcomes.iter().filter(is_merged).count() as u64;
        list.rows.repeated = outcomes.iter().filter(is_repeated).count() as u64;
        // Fields that pieces and copies do not share with their message are not kept in any message.
        for (row, outcome) in list.frame.root().items().zip(&outcomes) {
            if matches!(outcome, RowOutcome::Merged(Some(_)) | RowOutcome::Repeats(_)) {
                drop_extra(row);
            }
        }
        let mut reading = self.list.finish(Conversation {
            shape: match self.newest {
                _ if self.has_live => "events",
                Some(Capture::Store) => "store",
                Some(Capture::Live | Capture::Api) | None => "rest",
            },
            source_id: self.key,
            scene: Scene::GroupChat,
            participants: self.roster.participants,
            ..Conversation::default()
        });
        reading.conversation = reading.conversation.filter(|_| !is_nothing);
        reading
    }
}

/// Reports a project with presence only, which is no conversation. Most captures contain nothing else of a project.
fn only_present(key: Option<&str>) -> Finding {
    let (place, code) = match key {
        Some(_) => (" in the project", &codes::SILENT_CONVERSATION),
        None => (", and no project is named", &codes::EMPTY_CONVERSATION),
    };
    let text = format!("only presence: nobody says anything{place}");
    Finding::new(code, text).at_path("$")
}
