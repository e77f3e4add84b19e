//! Jaibber's rooms: live events, pages of the REST API, the desktop client's store, presence and files.
//!
//! Live events are payloads, bare or in Ably's envelope:
//!
//! ```json
//! {"from":"u1","fromUsername":"ann","projectId":"p1","text":"@Coder why?","messageId":"m1","type":"message"}
//! {"from":"u1","fromUsername":"Coder","projectId":"p1","text":"Be","messageId":"r1","type":"chunk","agentName":"Coder"}
//! ```
//!
//! A conversation is a project: rows of all kinds are gathered by the project's id and read together. Answers are put
//! together from their pieces ([`streams`]), people and agents of one account are told apart ([`roster`]). Messages stay in
//! input order; where the REST API, whose pages begin with the newest, gave some of them, they are ordered by time, and
//! what has no time stays with the row before it ([`messages`]).

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

use chatmill_diag::{Finding, Limits, Path, RowLedger, Severity, codes};
use chatmill_intake::Sketch;
use chatmill_intake::json::{Document, Kind, Note, Value};
use chatmill_model::{Conversation, Customs, Message, MessageKind, Scene};

use crate::frame::{FrameView, Reading, Row};
use crate::reader::{ListReader, Notes, Site, drop_kept, list, present};
use crate::source::{About, Source};
use attachments::Upload;
use event::Capture;
use fields::KNOWN;
use messages::Settled;
use open::{Opened, is_attachment, is_event, is_presence};
use roster::Roster;
use streams::{Assembler, RowOutcome};
use times::Clock;

const ID: &str = "jaibber-events";

/// The source `jaibber-events`.
#[derive(Debug)]
pub struct JaibberEvents;

static ABOUT: About = About {
    id: ID,
    title: "Jaibber events",
    specification: "Jaibber Message Format (2026-02-28)",
    shapes: &["rest", "events", "store"],
    carries: "people and agents, text, files, replies, mentions, chains of agents, ids, times, streams, tasks, presence",
    customs: Customs {
        kept_form: Some(ID),
        ..Customs::USUAL
    },
};

impl Source for JaibberEvents {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        detect::recognise(sketch)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::stored(ABOUT.customs, read(*frame, limits))
    }

    fn message_path(&self, index: u32) -> Option<String> {
        Some(format!("$[{index}]"))
    }

    fn gathers(&self, _sketch: &Sketch) -> bool {
        true
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        cut::rows(document)
    }

    fn merges(&self) -> bool {
        true
    }
}

/// Reads the rows of one conversation.
struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    clock: Clock,
    roster: Roster,
    assembler: Assembler,
    uploads: Vec<Upload>,
    /// Kinds of captures that were seen.
    newest: Option<Capture>,
    has_live: bool,
    key: Option<String>,
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let no_row = "the record is neither a message nor an event, presence, file, page or store of this system";
    let no_row = (!cut::is_row(frame.root())).then_some(no_row);
    let rows = list::rows(
        frame,
        "the conversation",
        no_row,
        "the record is not an object",
        limits,
    )?;
    let mut reader = Reader {
        list: ListReader::new(frame, limits),
        clock: Clock::new(frame.options),
        roster: Roster::default(),
        assembler: Assembler::default(),
        uploads: Vec::new(),
        newest: None,
        has_live: false,
        key: frame.key.map(str::to_owned),
    };
    let count = rows.len() as u64;
    for (index, row) in (0..).zip(rows) {
        reader.read(index, row);
    }
    Ok(reader.finish(count))
}

impl<'d> Reader<'d, '_> {
    fn read(&mut self, index: u32, row: Value<'d>) {
        let result = if row.kind() == Kind::Object {
            let depth = self.list.limits.depth;
            let opened = open::open(row, depth, |opened, notes| self.opened(index, row, opened, notes));
            opened.unwrap_or_else(|fault| {
                let text = format!("data is text, but no JSON: {}", fault.message);
                Err(Box::new(Finding::new(fault.code, text)))
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

    /// Reads what a row holds; a finding when it is rejected.
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
            let text = "a known key stands more than once: the row is rejected";
            return Err(Box::new(Finding::new(&codes::DUPLICATE_KEY, text).quoting(key)));
        }
        if self.key.is_none() {
            self.key = open::projects(opened).into_iter().next();
        }
        let mut site = Site {
            notes: &mut self.list.notes,
            position: index,
            id: None,
            message: row,
        };
        let outside = opened
            .envelope
            .and_then(|envelope| present(envelope, "timestamp"))
            .and_then(|time| self.clock.read(time, "timestamp", &mut site));
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
            self.uploads
                .push(attachments::upload(opened, place, &mut self.clock, &mut site));
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
        for finding in self.list.notes.findings.iter_mut().skip(before) {
            if let Path::InMessage(suffix) = &mut finding.path {
                suffix.insert_str(0, opened.prefix);
            }
        }
        let Some(text) = opened.text else { return };
        let span = text.span();
        for note in scanned {
            let finding = Finding::new(note.code, "it stands inside the text of data").at_message(
                index,
                None,
                opened.prefix,
            );
            self.list.notes.findings.push(finding);
        }
        let place = Some(self.list.frame.span(span));
        for finding in self.list.notes.findings.iter_mut().skip(before) {
            finding.span = place;
        }
    }

    fn finish(mut self, rows: u64) -> Reading {
        self.clock.finish(&mut self.list.notes);
        let Settled {
            messages,
            outcomes,
            mut findings,
        } = messages::settle(
            self.assembler,
            self.uploads,
            &mut self.roster,
            self.list.notes.findings,
            self.list.frame.start,
            self.list.limits.response_depth,
        );
        let shape = match self.newest {
            _ if self.has_live => "events",
            Some(Capture::Store) => "store",
            Some(Capture::Live | Capture::Api) | None => "rest",
        };
        if self.key.is_none() && !messages.is_empty() {
            let text = "no row names its project";
            findings.push(Finding::new(&codes::MISSING_FIELD, text).with_severity(Severity::Warning));
        }
        if rows > 0 && messages.is_empty() && self.list.rejects.is_empty() {
            let finding = only_present(self.key.as_deref());
            let span = self.list.frame.root().span();
            findings.push(Notes::new(self.list.frame.start).spanned(finding, span));
        }
        let is_notice = |message: &&Message| message.kind == MessageKind::Notice;
        let notices = messages.iter().filter(is_notice).count() as u64;
        let ledger = ledger(rows, &outcomes, notices);
        // What pieces and copies hold beyond what they share with their message stands in no message.
        for (row, outcome) in self.list.frame.root().items().zip(&outcomes) {
            if matches!(outcome, RowOutcome::Merged(Some(_)) | RowOutcome::Repeats(_)) {
                drop_kept(row);
            }
        }
        // An empty list is a conversation in which nobody said anything, as it is for every source.
        let conversation = (rows == 0 || !messages.is_empty()).then(|| Conversation {
            source: ID,
            shape,
            source_id: self.key,
            scene: Scene::GroupChat,
            participants: self.roster.participants,
            messages,
            ..Conversation::default()
        });
        Reading {
            conversation,
            fault: None,
            findings,
            rejects: self.list.rejects,
            rows: ledger,
            also: Vec::new(),
        }
    }
}

/// Presence alone is not a conversation: mostly it is all that a capture holds of a project.
fn only_present(key: Option<&str>) -> Finding {
    let (text, severity) = if key.is_some() {
        (
            "only presence: nobody says anything in the project",
            Severity::Note,
        )
    } else {
        (
            "only presence: nobody says anything, and no project is named",
            Severity::Warning,
        )
    };
    Finding::new(&codes::EMPTY_CONVERSATION, text)
        .with_severity(severity)
        .at_path("$")
}

/// Counts what became of the rows.
fn ledger(rows: u64, outcomes: &[RowOutcome], notices: u64) -> RowLedger {
    let mut ledger = RowLedger {
        rows,
        notices,
        ..RowLedger::default()
    };
    let mut kept = 0;
    for outcome in outcomes {
        match outcome {
            RowOutcome::Rejected => ledger.rejected += 1,
            RowOutcome::Merged(_) => ledger.merged += 1,
            RowOutcome::Repeats(_) => ledger.repeated += 1,
            RowOutcome::Anchors(_) => kept += 1,
        }
    }
    ledger.messages = kept - notices;
    ledger
}
