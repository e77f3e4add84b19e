//! Recognises the format of an entry: finds the source that reads it, or the reason why none does.
//!
//! The head of an entry comes from the intake, with the settings of its input;
//! [`Recognition`] goes to the slicer, which reads, rejects or skips the entry
//! accordingly. [`guesses`] proposes maps for tables that no map reads.

pub(super) mod guesses;

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_diag::{Code, Finding, Limits, codes, cut};
use chatmill_intake::table::extended;
use chatmill_intake::{Form, Frame, Framing, Head, Sketch, foreign, json};
use chatmill_source::{Evidence, ExportPath, Guess, Proposal, Source, TableMap, UnsupportedFormat};
use memchr::memmem;

use self::guesses::{Guesses, NAME, note, refusal};
use super::Recognised;
use crate::plan::PlannedInput;
use crate::plan::inputs::senders;

/// The format recognised in the head of an entry.
#[derive(Default)]
pub(super) struct Recognition {
    /// The source that reads it.
    pub source: Option<&'static dyn Source>,
    /// The reason why that source reads it, or other formats that it may have.
    pub recognised: Recognised,
    /// The map for the field names of its JSON rows.
    pub map: Option<TableMap>,
    /// The action for the entry.
    pub action: EntryAction,
    /// The findings about the entry.
    pub notes: Vec<Finding>,
    /// Whether its rows are grouped by conversation.
    pub groups_rows: bool,
    /// Facts about its rows from its path.
    pub export_path: Option<ExportPath>,
}

/// What happens with an entry.
#[derive(Default)]
pub(super) enum EntryAction {
    /// The records are read, or rejected one by one.
    #[default]
    Read,
    /// No source reads its records: each is rejected, with its own error or else with this reason.
    Reject(String),
    /// The entry is a table with an unknown header: each row is one framing error.
    RefuseRows(String),
    /// The entry is a table that this map reads.
    ReadTable(Box<TableMap>),
    /// The entry is skipped because it is of this kind.
    Skip(&'static str),
    /// The entry is one framing error; the last field is the offending byte of the head.
    Refuse(&'static Code, String, Option<u64>),
}

impl EntryAction {
    /// Returns the reason why no source reads the entry, if its format is unknown.
    fn unknown(&self) -> Option<&String> {
        match self {
            Self::Refuse(code, message, _) if *code == &codes::UNKNOWN_FORMAT => Some(message),
            Self::Reject(message) | Self::RefuseRows(message) => Some(message),
            Self::Skip(_) | Self::Refuse(..) | Self::Read | Self::ReadTable(_) => None,
        }
    }
}

/// Recognises an entry by itself, without other files of its export and without earlier guesses for tables.
pub(super) fn recognise_alone(
    planned: &PlannedInput,
    entry: &str,
    head: &Head,
    limits: &Limits,
) -> Recognition {
    recognise(planned, entry, head, limits, &|_| false, &mut Guesses::default())
}

/// Recognises an entry of an input by its head. `has_companion`
/// returns whether its export contains the file with a name.
pub(super) fn recognise(
    planned: &PlannedInput,
    entry: &str,
    head: &Head,
    limits: &Limits,
    has_companion: &dyn Fn(&str) -> bool,
    guesses: &mut Guesses,
) -> Recognition {
    let sketch = head.sketch();
    let considered = chatmill_source::considered(&sketch);
    let detected = chatmill_source::decided(&considered, head, &sketch, limits);
    let by_content = detected
        .as_ref()
        .and_then(|evidence| chatmill_source::find(evidence.source));
    let is_of_rows = planned
        .settings
        .source
        .or(by_content)
        .is_some_and(|source| source.id() == TABLE_ROWS);
    let mut map = map_of_rows(planned, &sketch, is_of_rows);
    if let Some(map) = &mut map {
        map.sample(head);
    }
    let is_unread = map.is_none() && by_content.is_none() && planned.settings.source.is_none();
    let found = is_unread
        .then(|| guessed(planned, entry, head, &sketch, guesses))
        .flatten();
    let sure = found
        .as_ref()
        .filter(|guess| guess.is_sure && planned.settings.guesses);
    let is_table = sure.is_some() && head.framing == Framing::Documents;
    map = map.or_else(|| sure.filter(|_| !is_table).map(|guess| guess.map(NAME)));
    let mapped = map.as_ref().and_then(|map| chatmill_source::find(&map.source));
    let evidence = match (&map, mapped) {
        (Some(map), Some(source)) => Some(Evidence {
            source: source.id(),
            confidence: 100,
            why: vec![format!(
                "records have the fields that the table map {} names",
                map.name
            )],
        }),
        _ => detected,
    };
    let mut seen = Recognition {
        source: planned.settings.source.or(mapped).or(by_content),
        recognised: Recognised {
            entry: entry.to_owned(),
            evidence,
            considered,
            ..Recognised::default()
        },
        map,
        ..Recognition::default()
    };
    if let Some(source) = planned.settings.source {
        seen.notes.extend(source.warnings(&sketch));
    }
    seen.groups_rows = seen
        .source
        .is_some_and(|source| source.groups_rows(&sketch) || source.companion().is_some_and(has_companion));
    if let Some(source) = seen.source.filter(|_| seen.groups_rows) {
        seen.export_path = source.export_path(&sketch, &name_of(planned, entry));
    }
    if let (Some(named), Some(detected), None) = (planned.settings.source, by_content, mapped)
        && named.id() != detected.id()
    {
        let (named, detected) = (named.id(), detected.id());
        let message = format!("the content looks like {detected}, but is read as {named}");
        seen.notes.push(Finding::new(&codes::SOURCE_MISMATCH, message));
    }
    let of_senders = || senders::is_table(planned, entry, head).then_some("table of senders");
    let ignored_kind = seen
        .source
        .and_then(|source| source.ignored_kind(&sketch))
        .or_else(of_senders);
    let refused = refused_agents(planned, head, &seen).or_else(|| unnamed_conversation(planned, head));
    if let Some(guess) = sure {
        seen.notes.push(note(guess, planned));
    }
    seen.action = match (ignored_kind, refused) {
        (None, None) if is_table => sure.map_or(EntryAction::Read, |guess| {
            EntryAction::ReadTable(Box::new(guess.map(NAME)))
        }),
        (Some(kind), _) => EntryAction::Skip(kind),
        (None, Some(message)) => EntryAction::Refuse(&codes::UNKNOWN_FORMAT, message, None),
        (None, None) => action(
            planned,
            entry,
            head,
            &sketch,
            by_content.or(mapped).is_some(),
            limits,
            found.as_ref(),
        ),
    };
    if let EntryAction::Skip(kind) = &seen.action {
        seen.recognised.looks_like = Some((*kind).to_owned());
    }
    if let Some(message) = seen.action.unknown() {
        let format = chatmill_source::unsupported_format(head, &sketch);
        let of_message = || (message.starts_with("this is ") && found.is_none()).then(|| message.clone());
        let of_format = format.map(|format| format!("{}: {}", format.name, format.why));
        seen.recognised.looks_like = of_format.or_else(of_message);
        let proposed = || chatmill_source::propose(head, &sketch);
        seen.recognised.proposal = found.map(Proposal::Columns).or_else(proposed);
    }
    seen
}

fn action(
    planned: &PlannedInput,
    entry: &str,
    head: &Head,
    sketch: &Sketch,
    is_known: bool,
    limits: &Limits,
    guessed: Option<&Guess>,
) -> EntryAction {
    if !entry.is_empty() && planned.settings.exclude.matches(entry) {
        return EntryAction::Skip("excluded");
    }
    if is_known {
        return EntryAction::Read;
    }
    if let Some(kind) = foreign(&name_of(planned, entry), head) {
        if !entry.is_empty() || !planned.is_named {
            return EntryAction::Skip(kind);
        }
        if planned.settings.source.is_none() {
            let message = format!("this is a {kind} and no chat");
            return EntryAction::Refuse(&codes::UNKNOWN_FORMAT, message, None);
        }
    }
    let lines = planned
        .settings
        .source
        .and_then(|source| Some((source.id(), source.lines()?)));
    let first = head.bytes.trim_ascii_start().first();
    if let (Some((id, lines)), Framing::Documents) = (lines, head.framing)
        && !matches!(first, Some(b'{' | b'[' | b'"'))
    {
        let message = format!("no line begins like those of {id}: {lines}");
        return EntryAction::Refuse(&codes::UNKNOWN_FORMAT, message, None);
    }
    if planned.settings.source.is_some() || matches!(head.framing, Framing::Empty | Framing::Tables) {
        return EntryAction::Read;
    }
    match guessed.map(|guess| refusal(guess, planned)) {
        Some(message) if head.framing == Framing::Documents => EntryAction::RefuseRows(message),
        Some(message) => EntryAction::Reject(message),
        None => why_unrecognised(head, sketch, limits),
    }
}

/// Guesses the meaning of columns in an entry that no source reads, unless it has another known format.
fn guessed(
    planned: &PlannedInput,
    entry: &str,
    head: &Head,
    sketch: &Sketch,
    guesses: &mut Guesses,
) -> Option<Guess> {
    let may_be = |format: UnsupportedFormat| format.is_table() || format.is_of_rows();
    let is_other = chatmill_source::unsupported_format(head, sketch).is_some_and(|format| !may_be(format));
    let is_foreign = foreign(&name_of(planned, entry), head).is_some();
    // Rows of real tables have a map.
    let has_map = matches!(head.framing, Framing::Tables | Framing::Text | Framing::Empty);
    (!is_other && !is_foreign && !has_map)
        .then(|| guesses.of(head))
        .flatten()
}

/// Returns the name of an entry: its name in an archive, else that of its input.
fn name_of<'n>(planned: &'n PlannedInput, entry: &'n str) -> Cow<'n, str> {
    if entry.is_empty() {
        planned.input.name()
    } else {
        entry.into()
    }
}

/// Returns the user's map for the field names of JSON records;
/// for recognised rows, the built-in map that knows their names.
fn map_of_rows(planned: &PlannedInput, sketch: &Sketch, is_of_rows: bool) -> Option<TableMap> {
    let own = planned
        .settings
        .tables
        .iter()
        .filter(|map| map.is_own && (map.requires.len() > 1 || map.source != TABLE_ROWS));
    let of_source = |map: &&TableMap| {
        planned
            .settings
            .source
            .is_none_or(|source| source.id() == map.source)
    };
    let reads = |map: &TableMap| {
        let mut records = sketch.records.iter().filter(|record| record.is_object);
        let record = records.find(|record| map.reads(None, &record.keys))?;
        Some(map.spelled_as(&record.keys).into_owned())
    };
    let found = own.filter(of_source).find_map(reads);
    let by_names = || {
        let presets = planned
            .settings
            .tables
            .iter()
            .filter(|map| !map.columns.is_empty() || map.refusal.is_some());
        presets
            .filter(|map| !map.is_own && map.source == TABLE_ROWS)
            .find_map(reads)
    };
    // Rows with a field `conversation` need no other map.
    let has_own_name = || sketch.records.iter().any(|record| record.names("conversation"));
    found
        .or_else(|| is_of_rows.then(by_names).flatten())
        .filter(|map| map.is_own || map.refusal.is_some() || !map.roles.is_empty() || !has_own_name())
}

/// The id of the source for rows from any system.
const TABLE_ROWS: &str = "table-rows";

/// Returns the reason for refusing a table without a known
/// conversation column, if a column with repeating values may be one.
fn unnamed_conversation(planned: &PlannedInput, head: &Head) -> Option<String> {
    let (columns, rows) = head.table()?;
    let map = TableMap::find(&planned.settings.tables, None, &columns)?;
    if map.is_own || map.source != TABLE_ROWS || !map.columns.is_empty() {
        return None;
    }
    let repeats = |(at, name): &(usize, &String)| {
        let cells = rows.iter().filter_map(|row| row.get(*at)?.as_deref());
        let mut seen = BTreeSet::new();
        chatmill_source::may_name_conversation(name)
            && cells
                .filter(|cell| !cell.is_empty())
                .any(|cell| !seen.insert(cell))
    };
    let (_, name) = columns.iter().enumerate().find(repeats)?;
    Some(format!(
        "no column is known to name the conversation, but `{name}` repeats: if it does, set `conversation = \"{name}\"` in a \
         [table_map]; without that key, all rows are one conversation"
    ))
}

/// Returns the error if `--assistant` is given for an entry with roles in its rows.
fn refused_agents(planned: &PlannedInput, head: &Head, seen: &Recognition) -> Option<String> {
    let of_table = || {
        let (columns, _) = head.table()?;
        TableMap::find(&planned.settings.tables, None, &columns)
    };
    if let Some(refusal) = seen
        .map
        .as_ref()
        .or_else(of_table)
        .and_then(|map| map.refusal.clone())
    {
        return Some(refusal);
    }
    let source = seen.source.filter(|source| source.id() != TABLE_ROWS)?;
    let is_asked = !planned.settings.written.assistants.is_empty();
    is_asked.then(|| {
        format!(
            "--assistant is for rows of senders without roles, and this is read by {}, which knows the agents: leave it out, or \
             choose the perspective with --as",
            source.id()
        )
    })
}

/// Rewrites the extended JSON that `MongoDB` programs write (ids, times, numbers) as plain values.
pub(super) fn fold(frame: &mut Frame, buffer: &mut Vec<u8>, limits: &Limits) {
    let bytes = cut::slice(buffer, frame.buffer.clone());
    if [&b"\"$oid\""[..], b"\"$date\""]
        .iter()
        .all(|sign| memmem::find(bytes, sign).is_none())
    {
        return;
    }
    let mut folded = Vec::new();
    if json::scan(bytes, limits.depth).is_ok_and(|document| extended::fold(document.root(), &mut folded)) {
        buffer.truncate(frame.buffer.start);
        buffer.extend_from_slice(&folded);
        frame.buffer = frame.buffer.start..buffer.len();
        frame.form = Form::Row;
    }
}

/// Rewrites a row with the names of its map; returns false if a filter skips the row. A value that is not an
/// object is unchanged.
pub(super) fn rename(map: &TableMap, frame: &mut Frame, buffer: &mut Vec<u8>, limits: &Limits) -> bool {
    let mut row = Vec::new();
    let bytes = cut::slice(buffer, frame.buffer.clone());
    let is_wanted = match json::scan(bytes, limits.depth) {
        Ok(document) if document.root().kind() == json::Kind::Object => {
            map.rewrite(document.root(), &mut row)
        }
        _ => return true,
    };
    buffer.truncate(frame.buffer.start);
    if is_wanted {
        buffer.extend_from_slice(&row);
        frame.buffer = frame.buffer.start..buffer.len();
        frame.form = Form::Row;
    }
    is_wanted
}

/// Returns the action for an entry that no source recognised. The reason is the format that it looks like, else
/// an error of the document in any format, else that no source knows it. Several records are rejected one by
/// one; a single document is refused as a whole.
fn why_unrecognised(head: &Head, sketch: &Sketch, limits: &Limits) -> EntryAction {
    let is_whole = match head.framing {
        Framing::Lines | Framing::Array => false,
        Framing::Documents => sketch.records.len() < 2,
        Framing::Tables | Framing::Text | Framing::Empty => true,
    };
    let unknown = |message| {
        if is_whole {
            EntryAction::Refuse(&codes::UNKNOWN_FORMAT, message, None)
        } else {
            EntryAction::Reject(message)
        }
    };
    if let Some(format) = chatmill_source::unsupported_format(head, sketch) {
        let message = format!(
            "this looks like {}, which is not read: {}",
            format.name, format.why
        );
        if format.is_table() && head.framing == Framing::Documents {
            return EntryAction::RefuseRows(message);
        }
        if format.is_text() {
            return EntryAction::Refuse(&codes::UNKNOWN_FORMAT, message, None);
        }
        return unknown(message);
    }
    if sketch.records.is_empty() {
        return EntryAction::Read;
    }
    let first = head.bytes.as_slice();
    if is_whole && let Err(error) = json::scan(first, limits.depth) {
        // A head that was cut may end inside a character.
        let is_cut = !head.complete && error.at + 4 >= first.len();
        let ends_inside = error.code == &codes::INVALID_JSON && error.at >= first.len();
        let at = Some(error.at as u64);
        if ends_inside && !is_cut {
            let message = "the entry ends inside a JSON document".to_owned();
            return EntryAction::Refuse(&codes::TRUNCATED_STREAM, message, at);
        }
        if !is_cut {
            return EntryAction::Refuse(error.code, error.message, at);
        }
    }
    unknown(NO_SOURCE.to_owned())
}

/// The reason for rejecting a record of an unknown format.
pub(crate) const NO_SOURCE: &str = "no known source writes records like this";
