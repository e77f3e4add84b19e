//! Assembles answers: rows that become messages, and rows that are pieces or repeats of others.
//!
//! Typing is a notice. The whole answer takes the place of its pieces; if it never came, the joined pieces are the
//! text and the message keeps the type `chunk`. An answer has the place of its last row. An id is one message: rows
//! with the id of an earlier one are repeats, as from rewinding a channel, with any text; of copies captured in
//! different ways the desktop client's wins over Ably's, and Ably's over the REST API's, and takes over fields that
//! only the other one has.

use std::collections::{HashMap, HashSet};

use chatmill_diag::{Code, Finding, codes};

use super::event::{Capture, Event, EventKind, finding_at};
use crate::base::{ExtraFields, Keep as _};

/// The result of reading a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowOutcome {
    /// The row is rejected.
    Rejected,
    /// The row was merged into this event, or into the roster.
    Merged(Option<usize>),
    /// The row repeats a row of this event, if that is known so far.
    Repeats(Option<usize>),
    /// The row gives this event its place.
    Anchors(usize),
}

impl RowOutcome {
    /// The event that the row is, or is part of.
    pub(super) const fn event(self) -> Option<usize> {
        match self {
            Self::Anchors(at) => Some(at),
            Self::Merged(at) | Self::Repeats(at) => at,
            Self::Rejected => None,
        }
    }
}

/// An answer while its rows are read.
#[derive(Debug, Default)]
struct Stream {
    /// The event that begins the stream.
    begun: Option<usize>,
    /// The whole answer.
    whole: Option<usize>,
    /// The rows and texts of the pieces.
    pieces: Vec<(u32, String)>,
    /// The last piece.
    last: Option<Event>,
    /// Whether the first piece came before the beginning.
    is_orphan: bool,
    /// The piece that is expected next while the channel is rewound.
    replay: Option<usize>,
    /// The first piece after the end, and their number.
    late: Option<(Event, u64)>,
}

/// Takes events in input order.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    /// Events that become messages or notices.
    pub accepted: Vec<Event>,
    /// The outcome of each row, by index.
    pub outcomes: Vec<RowOutcome>,
    /// Findings; their positions are rows until the order of messages is known.
    pub findings: Vec<Finding>,
    /// Whether rows of the REST API are among them.
    pub has_rest: bool,
    /// Messages by their ids, and notices by theirs.
    by_id: HashMap<(bool, String), usize>,
    /// Whole answers by the ids of message and stream.
    ends: HashMap<String, usize>,
    beginnings: HashMap<String, usize>,
    envelopes: HashMap<(String, [u8; 32]), usize>,
    streams: HashMap<String, Stream>,
    /// Names of the extra fields of events that have copies.
    fields: HashMap<usize, HashSet<String>>,
    /// Ids of the streams, in order of appearance.
    order: Vec<String>,
}

impl Stream {
    /// The joined text of all pieces.
    fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl Assembler {
    /// Takes the event of the next row.
    pub(super) fn take(&mut self, event: Event) {
        self.has_rest |= event.capture == Capture::Api;
        if let Some(id) = &event.envelope_id {
            let seen = (id.clone(), *blake3::hash(event.text.as_bytes()).as_bytes());
            let row = self.outcomes.len();
            let earlier = *self.envelopes.entry(seen).or_insert(row);
            if let Some(outcome) = self.outcomes.get(earlier) {
                return self.repeat(&event, outcome.event());
            }
        }
        match event.kind {
            EventKind::Start => self.begin(event),
            EventKind::Chunk => self.add(event),
            EventKind::Message | EventKind::Final | EventKind::Notice => self.add_message(event),
        }
    }

    fn keep(&mut self, event: Event) -> usize {
        let at = self.accepted.len();
        self.outcomes.push(RowOutcome::Anchors(at));
        self.accepted.push(event);
        at
    }

    fn note(&mut self, event: &Event, code: &'static Code, text: &str) {
        self.findings.push(finding_at(event, code, text, ""));
    }

    /// Notes that a row repeats an earlier one; `of` is the event of both, if it exists yet.
    fn repeat(&mut self, event: &Event, of: Option<usize>) {
        let text = "the row repeats an earlier one and is left out";
        self.note(event, &codes::REPEATED_ROW, text);
        self.outcomes.push(RowOutcome::Repeats(of));
    }

    fn stream(&mut self, id: &str) -> &mut Stream {
        if !self.streams.contains_key(id) {
            self.order.push(id.to_owned());
        }
        let whole = self.ends.get(id).copied();
        self.streams.entry(id.to_owned()).or_insert_with(|| Stream {
            whole,
            ..Stream::default()
        })
    }

    fn begin(&mut self, event: Event) {
        let earlier = event.id.as_ref().and_then(|id| self.beginnings.get(id).copied());
        let id = event.stream.clone();
        if let Some(earlier) = earlier {
            if let Some(id) = id {
                self.stream(&id).replay = Some(0);
            }
            return self.repeat(&event, Some(earlier));
        }
        let own = event.id.clone();
        let at = self.keep(event);
        if let Some(own) = own {
            self.beginnings.insert(own, at);
        }
        if let Some(id) = id {
            self.stream(&id).begun.get_or_insert(at);
        }
    }

    fn add(&mut self, event: Event) {
        let Some(id) = event.stream.clone() else {
            let text = "the piece belongs to no known answer: it is a message";
            self.note(&event, &codes::ORPHAN_CHUNK, text);
            self.keep(event);
            return;
        };
        let stream = self.stream(&id);
        if let Some(next) = stream.replay {
            let piece = stream.pieces.get(next);
            let is_same = piece.is_some_and(|(_, text)| *text == event.text);
            stream.replay = is_same.then_some(next + 1);
            if is_same {
                let whole = stream.whole;
                return self.repeat(&event, whole);
            }
        }
        if let Some(whole) = stream.whole {
            match &mut stream.late {
                Some((_, count)) => *count += 1,
                late => *late = Some((event, 1)),
            }
            self.outcomes.push(RowOutcome::Merged(Some(whole)));
            return;
        }
        // The desktop client's copy of an answer adds nothing if the answer was captured live as well.
        let last = stream.last.as_ref();
        if last.is_none_or(|last| last.capture == event.capture) {
            if stream.pieces.is_empty() {
                stream.is_orphan = stream.begun.is_none() && event.capture == Capture::Live;
            }
            stream.pieces.push((event.row, event.text.clone()));
            stream.last = Some(event);
        }
        self.outcomes.push(RowOutcome::Merged(None));
    }

    fn add_message(&mut self, mut event: Event) {
        let is_notice = event.kind == EventKind::Notice;
        let key = event.id.clone().map(|id| (is_notice, id));
        if let Some(at) = key.and_then(|key| self.by_id.get(&key).copied())
            && let Some(earlier) = self.accepted.get_mut(at)
        {
            if !is_copy(earlier, &event) {
                let text = "the row has the id of an earlier one but another content, and is left out";
                self.note(&event, &codes::DUPLICATE_MESSAGE_ID, text);
                self.outcomes.push(RowOutcome::Repeats(Some(at)));
            } else if event.capture > earlier.capture {
                std::mem::swap(earlier, &mut event);
                self.fields.remove(&at);
                complete(earlier, &mut event, self.fields.entry(at).or_default());
                becomes(&mut self.outcomes, event.row, RowOutcome::Repeats(Some(at)));
                self.outcomes.push(RowOutcome::Anchors(at));
                let text = "the row repeats a later one, which another client captured, and is left out";
                self.note(&event, &codes::REPEATED_ROW, text);
            } else {
                complete(earlier, &mut event, self.fields.entry(at).or_default());
                self.repeat(&event, Some(at));
            }
            return;
        }
        let (id, stream) = (event.id.clone(), event.stream.clone());
        let at = self.keep(event);
        if let Some(id) = &id {
            self.by_id.insert((is_notice, id.clone()), at);
        }
        if !is_notice {
            for id in stream.iter().chain(&id) {
                self.ends.entry(id.clone()).or_insert(at);
                self.end(id, at);
            }
        }
    }

    /// Ends an answer, if it was begun.
    fn end(&mut self, id: &str, at: usize) {
        let Some(stream) = self.streams.get_mut(id).filter(|stream| stream.whole.is_none()) else {
            return;
        };
        stream.whole = Some(at);
        for (row, _) in &stream.pieces {
            becomes(&mut self.outcomes, *row, RowOutcome::Merged(Some(at)));
        }
        // The text that an agent wrote before it failed is in no other row.
        if let Some(event) = self.accepted.get_mut(at).filter(|event| event.is_error()) {
            let partial = stream.text();
            if !partial.is_empty() && !event.text.contains(&partial) {
                event.extra.keep_text("partialText", &partial);
            }
        }
    }

    /// Turns the answers that never ended into messages, and reports anomalies of the others.
    pub(super) fn finish(&mut self) {
        for id in std::mem::take(&mut self.order) {
            let Some(mut stream) = self.streams.remove(&id) else {
                continue;
            };
            let first = stream.pieces.first().map(|(row, _)| *row);
            if let Some(mut event) = stream.last.take() {
                if stream.whole.is_none() {
                    event.text = stream.text();
                    event.id.clone_from(&event.stream);
                    let text = "the end of the answer is missing: its pieces are the text";
                    self.note(&event, &codes::UNFINISHED_STREAM, text);
                }
                if let (true, Some(row)) = (stream.is_orphan, first) {
                    let (code, text) = match stream.whole {
                        None => (&codes::ORPHAN_CHUNK, ": its text is kept as far as it goes"),
                        Some(_) => (&codes::ANSWERED_CHUNK, ", but the whole answer follows"),
                    };
                    let text = format!("the beginning of the answer is missing{text}");
                    let mut finding = finding_at(&event, code, text, "");
                    finding.position = Some(row);
                    finding.count = stream.pieces.len() as u64;
                    self.findings.push(finding);
                }
                if stream.whole.is_none() {
                    self.finish_pieces(&stream.pieces, event);
                }
            } else if let (Some(at), None) = (stream.begun, stream.whole)
                && let Some(event) = self
                    .accepted
                    .get(at)
                    .filter(|event| event.capture == Capture::Live)
            {
                let text = "the answer was begun, and nothing of it follows";
                self.findings
                    .push(finding_at(event, &codes::UNFINISHED_STREAM, text, ""));
            }
            if let (Some((event, count)), Some(whole)) = (stream.late, stream.whole) {
                // The whole answer may come from a page of stored messages before the capture: then no piece is late.
                let whole = self.accepted.get(whole);
                if whole.is_some_and(|whole| whole.capture == event.capture) {
                    let text = "a piece of the answer follows its end";
                    let mut finding = finding_at(&event, &codes::LATE_CHUNK, text, "");
                    finding.count = count;
                    self.findings.push(finding);
                }
            }
        }
    }

    fn finish_pieces(&mut self, pieces: &[(u32, String)], event: Event) {
        let at = self.accepted.len();
        for (row, _) in pieces {
            becomes(&mut self.outcomes, *row, RowOutcome::Merged(Some(at)));
        }
        becomes(&mut self.outcomes, event.row, RowOutcome::Anchors(at));
        self.accepted.push(event);
    }
}

/// Sets the outcome of a row that was read before.
pub(super) fn becomes(outcomes: &mut [RowOutcome], row: u32, outcome: RowOutcome) {
    if let Some(known) = outcomes.get_mut(row as usize) {
        *known = outcome;
    }
}

/// Whether two events with one id are copies. Copies that were captured in different ways may differ in their text,
/// because clients add notices.
fn is_copy(one: &Event, other: &Event) -> bool {
    fn agrees<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
        one.zip(other).is_none_or(|(one, other)| one == other)
    }
    // One account may be one person, who may change names, and many agents.
    let is_one_person = one.speaker.account.is_some()
        && one.speaker.account == other.speaker.account
        && one.speaker.is_agent != Some(true);
    // Changing the case of a letter changes its length in bytes by at most a factor of three: a name that is much
    // longer is another name.
    let is_called_so = |own: &String, name: &String| {
        own == name || own.len() / 4 <= name.len() && own.to_lowercase() == name.to_lowercase()
    };
    let names = one.speaker.name.as_ref().zip(other.speaker.name.as_ref());
    let is_named_alike = is_one_person || names.is_none_or(|(own, name)| is_called_so(own, name));
    let media = [one, other].map(|event| event.attachments.iter().map(|file| &file.media));
    let shows_others = media.iter().all(|media| media.len() > 0) && {
        let [own, media] = media;
        !own.eq(media)
    };
    one.is_error() == other.is_error()
        && agrees(one.speaker.is_agent.as_ref(), other.speaker.is_agent.as_ref())
        && agrees(one.speaker.account.as_ref(), other.speaker.account.as_ref())
        && is_named_alike
        && !shows_others
        && (one.capture != other.capture || (one.text == other.text && one.word == other.word))
}

/// Adds to an event the fields that only another copy of it has; `known` are the names of its extra fields, filled at
/// the first copy.
fn complete(event: &mut Event, other: &mut Event, known: &mut HashSet<String>) {
    event.time = event.time.take().or(other.time.take());
    event.reference = event.reference.take().or(other.reference.take());
    event.depth = event.depth.or(other.depth);
    event.word = event.word.take().or(other.word.take());
    let (speaker, known_speaker) = (&mut event.speaker, &mut other.speaker);
    speaker.account = speaker.account.take().or(known_speaker.account.take());
    speaker.is_agent = speaker.is_agent.or(known_speaker.is_agent);
    if event.chain.is_empty() {
        event.chain = std::mem::take(&mut other.chain);
    }
    if event.attachments.is_empty() {
        event.attachments = std::mem::take(&mut other.attachments);
    }
    if event.mentions.is_empty() {
        event.mentions = std::mem::take(&mut other.mentions);
    }
    if known.is_empty() {
        known.extend(event.extra.iter().map(|(key, _)| key.clone()));
    }
    let further = std::mem::take(&mut other.extra).into_iter();
    let further: ExtraFields = further.filter(|(key, _)| !known.contains(key)).collect();
    known.extend(further.iter().map(|(key, _)| key.clone()));
    event.extra.extend(further);
}
