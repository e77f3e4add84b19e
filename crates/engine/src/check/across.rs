//! Checks that need all files: duplicate conversation ids, messages with two
//! bodies, references into another file, rosters that contradict each other.
//!
//! A trace of each conversation is spilled, to disk once there are many. Eight bytes for
//! each stay in memory, as in a run, and show which ids repeat; only the traces of these
//! are read back, one partition at a time. The first conversation of an id in the order
//! of the inputs is valid, as in a run; every later one is compared with all before it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::RandomState;
use std::io;
use std::sync::LazyLock;

use chatmill_dataset::{DatasetError, Spill};
use chatmill_diag::limits::MIB;
use chatmill_diag::{Code, Finding, ShownId, Span, codes, fold};
use chatmill_model::fingerprint::body_hashes;
use chatmill_model::{Link, LinkStatus, Linked, Message, Participant, ParticipantKind};
use serde::{Deserialize, Serialize};

use crate::commit::collisions;
use crate::record::locate::{Located, Locator};
use crate::slice::records::{Record, RecordForm};

/// Bytes of traces that stay in memory.
const MEMORY_BYTES: u64 = 32 * MIB;

/// The number of partitions for traces; one of them is in memory at a time.
const PARTITIONS: usize = 64;

/// The part of a conversation that is compared after all files were read.
#[derive(Serialize, Deserialize)]
pub(super) struct Trace {
    pub(super) input: usize,
    pub(super) entry: String,
    pub(super) table: String,
    pub(super) record: u64,
    pub(super) id: String,
    place: Location,
    roster: Vec<Listed>,
    messages: Vec<TracedMessage>,
    open: Vec<Open>,
}

/// A place in an entry.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Location(Option<(u64, u64)>, Option<(u64, u64)>);

impl Location {
    /// Locates a finding at this place.
    fn found(self, path: Option<String>, finding: Finding) -> Located {
        let Self(span, line_column) = self;
        Located {
            json_path: path,
            span: span.map(|(start, end)| Span { start, end }),
            line_column,
            ..Located::nowhere(finding)
        }
    }
}

/// The keys of the hash of message bodies: traces are only compared within one process.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A listed participant: id, name and kind.
#[derive(Serialize, Deserialize)]
struct Listed(String, Option<String>, String);

/// A message with an id: the id, a hash of its body, its position, its path, its place.
#[derive(Serialize, Deserialize)]
struct TracedMessage(String, u32, u32, String, Location);

/// A reference to a message outside the conversation: the target, the referring message's id and position, path and place.
#[derive(Serialize, Deserialize)]
struct Open(String, Option<String>, u32, String, Location);

impl Trace {
    /// Traces a conversation; `locator` finds the places of its messages. If
    /// the conversation has no id in the source, only the made id is compared.
    pub(super) fn of(record: &Record<'_>, linked: &Linked, id: String, locator: &Locator<'_>) -> Self {
        let row = record.row(None);
        let (span, line_column) = record.written();
        let mut trace = Self {
            input: row.entry.input,
            entry: row.entry.entry.clone(),
            table: row.entry.table.clone(),
            record: row.record,
            id,
            place: Location(span.map(|span| (span.start, span.end)), line_column),
            roster: Vec::new(),
            messages: Vec::new(),
            open: Vec::new(),
        };
        let conversation = &linked.conversation;
        if conversation.source_id.as_ref().is_none_or(String::is_empty) {
            return trace;
        }
        let listed = conversation.participants.iter();
        let listed = listed.filter(|participant| participant.listed && !participant.is_id_made);
        trace.roster = listed.map(Listed::of).collect();
        let place = trace.place;
        let location_of = |message: &Message| match record.form {
            RecordForm::Frame(_) => {
                let (start, end) = (message.origin.start, message.origin.end);
                Location(Some((start, end)), Some(locator.line_column(start)))
            }
            RecordForm::Group(_) => place,
        };
        let list = conversation.traits.reference_list;
        let bodies = body_hashes(conversation, &KEYS).into_iter();
        for ((message, body), links) in conversation.messages.iter().zip(bodies).zip(&linked.links) {
            let open = || message.references.iter().zip(links).enumerate();
            let open = || open().filter(|(_, (_, link))| is_open(link));
            if message.id.is_none() && open().next().is_none() {
                continue;
            }
            let (path, location) = (record.path_of(message.origin), location_of(message));
            for (ordinal, (reference, _)) in open() {
                let Some(target) = reference.target.clone() else {
                    continue;
                };
                let path = match list {
                    Some(list) => format!("{path}.{list}[{ordinal}]"),
                    None => path.clone(),
                };
                let opened = Open(target, message.id.clone(), message.position, path, location);
                trace.open.push(opened);
            }
            if let Some(id) = &message.id {
                // Half of the hash is enough to see that two bodies differ.
                let traced = TracedMessage(id.clone(), (body >> 32) as u32, message.position, path, location);
                trace.messages.push(traced);
            }
        }
        trace
    }

    /// Returns a finding at the conversation; its message contains an id.
    fn finding(&self, code: &'static Code, id: &str, message: String) -> Located {
        self.place.found(None, Finding::new(code, message).naming(id))
    }
}

fn is_open(link: &Link) -> bool {
    link.target.is_none() && matches!(link.status, LinkStatus::Dangling | LinkStatus::Preview)
}

impl Listed {
    fn of(participant: &Participant) -> Self {
        Self(
            participant.id.clone(),
            participant.own_name().map(str::to_owned),
            participant.kind.as_str().to_owned(),
        )
    }

    /// Returns the property that differs between two entries;
    /// a property that only one entry has is no contradiction.
    fn contradicts(&self, other: &Self) -> Option<&'static str> {
        let Self(_, name, kind) = self;
        if name
            .as_ref()
            .zip(other.1.as_ref())
            .is_some_and(|(one, other)| one != other)
        {
            return Some("name");
        }
        let unknown = ParticipantKind::Unknown.as_str();
        let is_known = kind != unknown && other.2 != unknown;
        (is_known && *kind != other.2).then_some("kind")
    }
}

/// The traces of all conversations.
pub(super) struct Across {
    spill: Spill,
    /// The hash of each id.
    hashes: Vec<u64>,
    failure: Option<DatasetError>,
}

/// The callback for a finding in the record of a trace.
pub(super) type Deliver<'d> = dyn FnMut(&Trace, Located) + 'd;

impl Across {
    /// Starts an empty collection.
    pub(super) fn new() -> Self {
        Self {
            spill: Spill::new(Spill::temporary_folder(), PARTITIONS, MEMORY_BYTES),
            hashes: Vec::new(),
            failure: None,
        }
    }

    /// Spills a trace. Calls must be in the order of the inputs.
    pub(super) fn add(&mut self, trace: &Trace) {
        if self.failure.is_some() {
            return;
        }
        let hash = collisions::hash_of(&trace.id);
        self.hashes.push(hash);
        let body = serde_json::to_vec(trace).map_err(|error| lost("spill a trace in", error));
        let pushed = body.and_then(|body| self.spill.push(partition(hash), &hash.to_le_bytes(), &body));
        self.failure = pushed.err();
    }

    /// Compares the conversations, with at most `most` findings
    /// of a code for each; `name` returns the name of an input.
    ///
    /// # Errors
    ///
    /// If traces could not be spilled or read back.
    pub(super) fn finish(
        mut self,
        name: &dyn Fn(usize) -> String,
        most: u64,
        deliver: &mut Deliver<'_>,
    ) -> Result<(), DatasetError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let repeated = collisions::repeated(&mut self.hashes);
        let touched: BTreeSet<usize> = repeated.iter().map(|hash| partition(*hash)).collect();
        for part in touched {
            let mut groups: BTreeMap<String, IdGroup> = BTreeMap::new();
            self.spill.drain(part, &mut |head, body| {
                let hash = head.try_into().map(u64::from_le_bytes);
                let hash =
                    hash.map_err(|_| lost("read the head of a trace in", io::ErrorKind::InvalidData))?;
                if repeated.binary_search(&hash).is_err() {
                    return Ok(());
                }
                let trace: Trace =
                    serde_json::from_slice(body).map_err(|error| lost("read a trace again in", error))?;
                let group = groups.entry(trace.id.clone()).or_default();
                for located in fold(group.meet(&trace, name), most, |located| &mut located.finding) {
                    deliver(&trace, located);
                }
                group.remember(trace);
                Ok(())
            })?;
            for group in groups.values() {
                group.resolve(name, most, deliver);
            }
        }
        Ok(())
    }
}

/// Returns the error for a trace that cannot be spilled or read
/// back: a failure of the system, not a defect of the files.
fn lost(action: &'static str, error: impl Into<io::Error>) -> DatasetError {
    DatasetError::Io {
        action,
        path: Spill::temporary_folder(),
        source: error.into(),
    }
}

fn partition(hash: u64) -> usize {
    (hash % PARTITIONS as u64) as usize
}

/// The facts about the conversations of one id.
#[derive(Default)]
struct IdGroup {
    /// The input of the first conversation.
    first: Option<usize>,
    /// The hash of each message body, and its input.
    messages: HashMap<String, (u32, usize)>,
    roster: HashMap<String, (Listed, usize)>,
    /// Conversations with references to messages outside them.
    open: Vec<Trace>,
}

impl IdGroup {
    /// Compares a conversation with those before it.
    fn meet(&self, trace: &Trace, name: &dyn Fn(usize) -> String) -> Vec<Located> {
        let mut found = Vec::new();
        let Some(first) = self.first else { return found };
        let taken = format!(
            "the id {} is taken by an earlier conversation, in {}",
            ShownId(&trace.id),
            name(first)
        );
        found.push(trace.finding(&codes::DUPLICATE_CONVERSATION_ID, &trace.id, taken));
        let mut conflict: Option<Located> = None;
        for TracedMessage(id, body, position, path, location) in &trace.messages {
            let Some((known, input)) = self.messages.get(id) else {
                continue;
            };
            match &mut conflict {
                _ if known == body => {}
                Some(conflict) => conflict.finding.count += 1,
                none => {
                    let text = format!(
                        "message {} has another sender or body in {}",
                        ShownId(id),
                        name(*input)
                    );
                    let mut located = trace.finding(&codes::CONFLICTING_MESSAGE, id, text);
                    located.finding.position = Some(*position);
                    located.finding.message_id = Some(id.clone());
                    *none = Some(location.found(Some(path.clone()), located.finding));
                }
            }
        }
        found.extend(conflict);
        for listed in &trace.roster {
            let known = self.roster.get(&listed.0);
            let contradiction = known.and_then(|(known, input)| Some((listed.contradicts(known)?, *input)));
            if let Some((what, input)) = contradiction {
                let text = format!(
                    "participant {} has another {what} in {}",
                    ShownId(&listed.0),
                    name(input)
                );
                found.push(trace.finding(&codes::CONTRADICTING_ROSTER, &listed.0, text));
            }
        }
        found
    }

    fn remember(&mut self, mut trace: Trace) {
        let input = trace.input;
        self.first.get_or_insert(input);
        for TracedMessage(id, body, ..) in std::mem::take(&mut trace.messages) {
            self.messages.entry(id).or_insert((body, input));
        }
        for listed in std::mem::take(&mut trace.roster) {
            self.roster.entry(listed.0.clone()).or_insert((listed, input));
        }
        if !trace.open.is_empty() {
            self.open.push(trace);
        }
    }

    /// Finds the targets of references that lead to another conversation.
    fn resolve(&self, name: &dyn Fn(usize) -> String, most: u64, deliver: &mut Deliver<'_>) {
        for trace in &self.open {
            let mut found = Vec::new();
            for Open(target, message, position, path, location) in &trace.open {
                if let Some((_, input)) = self.messages.get(target) {
                    let text = format!(
                        "message {} is in another conversation of this id, in {}",
                        ShownId(target),
                        name(*input)
                    );
                    let mut located = trace.finding(&codes::REFERENCE_ELSEWHERE, target, text);
                    located.finding.position = Some(*position);
                    located.finding.message_id.clone_from(message);
                    found.push(location.found(Some(path.clone()), located.finding));
                }
            }
            for located in fold(found, most, |located| &mut located.finding) {
                deliver(trace, located);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(code: &'static Code, number: usize) -> Vec<Located> {
        let one = || Located::nowhere(Finding::new(code, "x"));
        (0..number).map(|_| one()).collect()
    }

    fn counts(found: Vec<Located>, most: u64) -> Vec<(&'static str, u64)> {
        let shown = fold(found, most, |located| &mut located.finding).into_iter();
        shown
            .map(|located| (located.finding.code.code, located.finding.count))
            .collect()
    }

    #[test]
    fn findings_beyond_the_limit_of_a_code_become_one_with_a_count() {
        let (rosters, references) = (&codes::CONTRADICTING_ROSTER, &codes::REFERENCE_ELSEWHERE);
        assert_eq!(counts(located(rosters, 2), 2), [("PT006", 1), ("PT006", 1)]);
        let both = [located(rosters, 4), located(references, 1)]
            .into_iter()
            .flatten();
        assert_eq!(
            counts(both.collect(), 2),
            [("PT006", 1), ("PT006", 1), ("RF010", 1), ("PT006", 2)]
        );
    }

    #[test]
    fn rosters_contradict_each_other_only_in_what_both_state() {
        let listed =
            |name: Option<&str>, kind: &str| Listed("u".to_owned(), name.map(str::to_owned), kind.to_owned());
        let ann = listed(Some("Ann"), "human");
        let contradiction = |other: &Listed| other.contradicts(&ann);
        assert_eq!(contradiction(&ann), None);
        assert_eq!(contradiction(&listed(None, "unknown")), None);
        assert_eq!(contradiction(&listed(Some("Bo"), "human")), Some("name"));
        assert_eq!(contradiction(&listed(Some("Ann"), "agent")), Some("kind"));
    }

    #[test]
    fn a_trace_that_does_not_come_back_is_an_error() {
        let finish = |head: &[u8], body: &[u8]| {
            let mut across = Across::new();
            across.hashes = vec![7, 7];
            for _ in 0..2 {
                across.spill.push(partition(7), head, body).unwrap();
            }
            across.finish(&|input| input.to_string(), 9, &mut |_, _| {})
        };
        let cut = finish(&7_u64.to_le_bytes(), b"{\"input\":1")
            .unwrap_err()
            .to_string();
        assert!(cut.starts_with("cannot read a trace again in "), "{cut}");
        let headless = finish(b"7", b"{}").unwrap_err().to_string();
        assert!(
            headless.starts_with("cannot read the head of a trace in "),
            "{headless}"
        );
    }

    #[test]
    fn traces_come_back_from_memory_and_from_disk_alike() {
        let findings = |memory: u64| {
            let mut across = Across::new();
            across.spill = Spill::new(Spill::temporary_folder(), PARTITIONS, memory);
            for number in 0..300_usize {
                across.add(&Trace {
                    input: number,
                    entry: String::new(),
                    table: String::new(),
                    record: 0,
                    id: format!("r{}", number % 200),
                    place: Location::default(),
                    roster: Vec::new(),
                    messages: vec![TracedMessage(
                        "m".to_owned(),
                        number as u32,
                        0,
                        "$".to_owned(),
                        Location::default(),
                    )],
                    open: Vec::new(),
                });
            }
            let mut found = Vec::new();
            let name = |input: usize| input.to_string();
            across
                .finish(&name, 9, &mut |trace, located| {
                    found.push((trace.input, located.finding.message));
                })
                .unwrap();
            found
        };
        let in_memory = findings(MEMORY_BYTES);
        assert_eq!(in_memory.len(), 200);
        assert!(in_memory.contains(&(
            207,
            "the id `r7` is taken by an earlier conversation, in 7".to_owned()
        )));
        assert_eq!(in_memory, findings(0));
    }
}
