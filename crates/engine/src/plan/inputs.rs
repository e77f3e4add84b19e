//! The inputs of a plan: found on disk, named, and each with
//! its source, tables and other settings of its section.
//!
//! [`inputs()`] lists them in the order of their names, without this run's pipeline file and output, and without
//! other folders that chatmill wrote ([`own_outputs`]). Before rows are read, [`schemas`] and [`senders`] read inputs
//! that describe other inputs of their section: definitions of tables, and names of senders. A plan calls all three;
//! `reading` calls the same parts for paths on a command line (*typed paths*), which form one section with number 0.

pub(super) mod own_outputs;
pub(super) mod schemas;
pub(crate) mod senders;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use self::own_outputs::OwnOutputs;
use chatmill_intake::Failure;
use chatmill_intake::discover::{self, DiscoverError, Input, InputKind, Own, Patterns};
use chatmill_source::{ExportPath, SOURCES, Source, TableMap};

use super::maps::{field_map, table_map};
use super::require;
use super::source::source;
use crate::error::PlanError;

use crate::entry::EntryRef;
use crate::pipeline::{InputSection, Pipeline};

/// An input of a plan. There may be millions of them: inputs of one section share its settings.
#[derive(Clone)]
pub struct PlannedInput {
    /// The input.
    pub input: Input,
    /// The settings for reading it.
    pub settings: Arc<InputSettings>,
    /// BLAKE3 of its bytes; `None` before the plan hashes its inputs, and for inputs that are refused.
    pub hash: Option<blake3::Hash>,
    /// Number of its `[[input]]` section in the dataset, from 0: sections have the order of their first
    /// inputs, so that moving a section in the file changes nothing. 0 for typed paths.
    pub section: usize,
    /// Whether the user named exactly this path, and not a folder or pattern that
    /// contains it: such a file must be read, while others of no use are skipped.
    pub is_named: bool,
    naming: NameStyle,
}

/// The style of an input's name in the dataset and in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameStyle {
    /// The name of the input, which does not depend on the spelling of the path.
    Own,
    /// That name after the number of the section, if another section has an input of this name: `2/chats.json`.
    Numbered,
    /// The path as the user typed it.
    Typed,
}

/// The settings for reading the inputs of a section.
#[derive(Default)]
pub struct InputSettings {
    /// Number of the `[[input]]` section in the file, from 1, for names and messages; 0 for typed paths.
    pub number: usize,
    /// The source that the section names; `None`: it is detected for each entry.
    pub source: Option<&'static dyn Source>,
    /// The maps that tables of databases and dumps are read with, in the order in which they are tried.
    pub tables: Arc<[TableMap]>,
    /// Patterns of files, and of members of archives, that are not read.
    pub exclude: Patterns,
    /// Whether the meaning of columns is guessed if no map names them; only for typed paths, since
    /// a run must not read differently depending on its data.
    pub guesses: bool,
    /// Whether messages may quote names and values of the input.
    pub quotes: bool,
    /// The section as written.
    pub written: InputSection,
}

impl InputSettings {
    /// Returns the error for a section with `merge = true` and records that
    /// cannot be merged; `source` is a clause that names their source in the message.
    pub(crate) fn cannot_merge(&self, source: &str) -> PlanError {
        let sources = SOURCES.iter().filter(|source| source.can_merge());
        let ids: Vec<&str> = sources.map(|source| source.id()).collect();
        PlanError::value(
            "input.merge",
            format!(
                "records of {source} are whole conversations, or rows without a conversation id, and cannot be merged with \
                 those of other files: leave `merge` out of [[input]] {} (`{}`), or move files that can be merged to a \
                 separate [[input]]. Rows of these sources can be merged: {}; and rows of a field map that names their `conversation`",
                self.number,
                self.written.path,
                ids.join(", ")
            ),
        )
    }
}

impl PlannedInput {
    fn new(input: Input, settings: Arc<InputSettings>, naming: NameStyle) -> Self {
        Self {
            section: settings.number,
            settings,
            hash: None,
            is_named: input.is_named(),
            naming,
            input,
        }
    }

    /// Returns an input of a command line, named as typed.
    pub(super) fn typed(input: Input, settings: Arc<InputSettings>) -> Self {
        Self::new(input, settings, NameStyle::Typed)
    }

    /// Returns the zone for its times without an offset, if its section names one.
    pub(crate) fn zone(&self) -> Option<&str> {
        self.settings.written.zone.as_deref()
    }

    /// Returns the name in the dataset; for a typed path the path as typed, since there is no dataset.
    pub fn name(&self) -> Cow<'_, str> {
        match self.naming {
            NameStyle::Own => self.input.name(),
            NameStyle::Numbered => format!("{}/{}", self.settings.number, self.input.name()).into(),
            NameStyle::Typed => self.input.shown().into(),
        }
    }

    /// Returns the code of the finding for which it is refused, if it is.
    pub fn refused(&self) -> Option<&'static str> {
        match &self.input.kind {
            InputKind::Refused(finding) => Some(finding.code.code),
            _ => None,
        }
    }

    /// Returns a text that identifies the rows among which those with the same conversation
    /// id are one conversation: the rows of the whole section if its files are merged, else
    /// those of the entry (a file, or a member of an archive). If files are merged and the source derives
    /// the folder of an export from the path, it is the rows of that folder, in the section or in one archive.
    ///
    /// The text contains no NUL, which ends it in the files that rows are grouped with.
    pub fn scope(&self, entry: &EntryRef, export_path: Option<&ExportPath>) -> String {
        let merges = self.settings.written.merge;
        let merges = merges.unwrap_or_else(|| entry.source.is_some_and(Source::merges));
        // An export with a companion file, such as ratings: its rows join the conversations of other files.
        let merges = merges || entry.source.is_some_and(|source| source.companion().is_some());
        let source = entry.source.map_or("", Source::id);
        let scope = match export_path {
            Some(export_path) if merges && entry.entry.is_empty() => {
                format!("section {} {source} {}", self.section, export_path.export)
            }
            Some(export_path) if merges => format!("input {} {source} {}", entry.input, export_path.export),
            None if merges => format!("section {} {source}", self.section),
            // In an archive with a dump, each table is an entry. The scope is the dump; grouping adds the table.
            _ => {
                let whole = entry.entry.strip_suffix(&entry.table).unwrap_or(&entry.entry);
                format!("input {} {source} {whole}", entry.input)
            }
        };
        scope.replace('\0', "\u{fffd}")
    }

    /// Returns a text that identifies the entries in which a conversation may continue under another id, as a
    /// resumed session does: those of the section with this source, or of this input if `merge = false`.
    pub fn family(&self, entry: &EntryRef) -> String {
        let source = entry.source.map_or("", Source::id);
        match self.settings.written.merge {
            Some(false) => format!("input {} {source}", entry.input),
            _ => format!("section {} {source}", self.section),
        }
    }
}

/// Refuses a text that is not a time zone.
pub(super) fn require_zone(zone: Option<&str>, key: &'static str) -> Result<(), PlanError> {
    let problem = "a time zone is an IANA name (`Europe/Kyiv`) or an offset (`+02:00`)";
    require(zone.is_none_or(chatmill_source::is_zone), key, problem)
}

/// Returns the settings of a section; its relative paths start at `base`.
pub(super) fn settings(
    section: &InputSection,
    number: usize,
    pipeline: &Pipeline,
    base: &Path,
) -> Result<InputSettings, PlanError> {
    let named = source(&section.source, base)?;
    let needs_map = named.is_some_and(Source::needs_map);
    let has_map = section.field_map.is_some() || pipeline.field_map.is_some();
    // In a pipeline file, `mapped` requires a field map. For typed paths it has a
    // built-in one, with the field names of the smallest example of that source.
    let source = if needs_map && (has_map || number > 0) {
        Some(field_map::choose(section, pipeline)?)
    } else {
        named
    };
    let problem = "a field map is for `source = \"mapped\"`";
    require(
        needs_map || section.field_map.is_none(),
        "input.field_map",
        problem,
    )?;
    require_zone(section.zone.as_deref(), "input.zone")?;
    Ok(InputSettings {
        number,
        source,
        tables: table_map::choose(
            section.tables.as_deref(),
            &section.assistants,
            &pipeline.table_map,
        )?,
        exclude: Patterns::new(&section.exclude)?,
        guesses: section.guesses,
        quotes: pipeline.output.quote,
        written: section.clone(),
    })
}

/// Lists the inputs of a pipeline in the order of their names, and notes for the user about files that were left out:
/// `own` recognises the pipeline file and the output of the run. The input `in_memory`, if given, is read instead of
/// the path of the section.
pub(super) fn inputs(
    pipeline: &Pipeline,
    base: &Path,
    mut own: Option<&mut Own>,
    in_memory: Option<&Input>,
) -> Result<(Vec<PlannedInput>, Vec<String>), PlanError> {
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let mut outputs = OwnOutputs::new(false);
    for (number, section) in pipeline.input.iter().enumerate() {
        let settings = Arc::new(settings(section, number + 1, pipeline, base)?);
        if let (Some(true), Some(source)) = (section.merge, settings.source)
            && !source.can_merge()
        {
            return Err(settings.cannot_merge(source.id()));
        }
        let all = match in_memory {
            Some(input) => vec![input.clone()],
            None => discover::discover(&section.path, base)?,
        };
        let count = all.len();
        let foreign = |mut input: Input| {
            let Some(own) = own.as_deref_mut() else {
                return Some(input);
            };
            let path = input.path();
            match own.holds(&path) {
                Ok(is_own) => (!is_own).then_some(input),
                Err(error) => {
                    input.kind = InputKind::Failed(Box::new(Failure::new("find", &path, &error)));
                    Some(input)
                }
            }
        };
        let inputs: Vec<Input> = all.into_iter().filter_map(foreign).collect();
        let foreign_count = inputs.len();
        let inputs = outputs.leave_out(inputs)?;
        if inputs.is_empty() {
            return Err(PlanError::OnlyOwn {
                path: section.path.clone(),
            });
        }
        if foreign_count < count {
            notes.push(format!(
                "{} of the {count} files that `{}` names are left out: they are this pipeline file, or belong to the output",
                count - foreign_count,
                section.path
            ));
        }
        found.extend(
            inputs
                .into_iter()
                .filter(|input| !settings.exclude.matches(&input.name()))
                .map(|input| PlannedInput::new(input, Arc::clone(&settings), NameStyle::Own)),
        );
    }
    notes.extend(outputs.notes());
    put_in_order(&mut found);
    number_sections(&mut found);
    Ok((found, notes))
}

/// Sorts inputs by name and makes the names unique.
fn put_in_order(inputs: &mut [PlannedInput]) {
    inputs.sort_by(|left, right| left.name().cmp(&right.name()));
    if number_names(inputs) {
        inputs.sort_by(|left, right| left.name().cmp(&right.name()));
    }
}

/// Puts the number of the section before names that occur several
/// times in the sorted inputs; returns whether there are any.
fn number_names(inputs: &mut [PlannedInput]) -> bool {
    let mut is_numbered = false;
    for equal in inputs.chunk_by_mut(|one, other| one.name() == other.name()) {
        if equal.len() > 1 {
            is_numbered = true;
            for planned in equal {
                planned.naming = NameStyle::Numbered;
            }
        }
    }
    is_numbered
}

/// Numbers sections by their first input, so that the order of the sections in the file does not matter.
fn number_sections(inputs: &mut [PlannedInput]) {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for planned in inputs {
        let next = numbers.len();
        planned.section = *numbers.entry(planned.section).or_insert(next);
    }
}

/// Returns the first input of each section, in the order of the section numbers.
pub(super) fn firsts(inputs: &[PlannedInput]) -> impl Iterator<Item = &PlannedInput> {
    let mut next = 0;
    inputs.iter().filter(move |planned| {
        let is_first = planned.section == next;
        next += usize::from(is_first);
        is_first
    })
}

/// Returns a section for each typed path, which replace the sections of the file.
/// They have the settings of the only section of the file, or default settings.
pub(super) fn typed_sections(
    sections: &[InputSection],
    typed: &[String],
) -> Result<Vec<InputSection>, PlanError> {
    let like = match sections {
        [only] => only.clone(),
        _ => InputSection::default(),
    };
    let section = |path: &String| {
        let path = if path == "-" || discover::is_address(path) {
            path.clone()
        } else {
            // Paths in the file start at its folder, typed ones at the current folder.
            let absolute = std::path::absolute(path).ok();
            let absolute = absolute.and_then(|path| path.into_os_string().into_string().ok());
            absolute.ok_or_else(|| PlanError::value("--input", format!("`{path}` is not a path")))?
        };
        Ok(InputSection { path, ..like.clone() })
    };
    typed.iter().map(section).collect()
}

/// Returns the files of evaluations in the order of their names;
/// paths start at `base`. A file with several paths is listed once.
pub(super) fn evaluations(
    paths: &[String],
    base: &Path,
    tables: &Arc<[TableMap]>,
) -> Result<Vec<PlannedInput>, DiscoverError> {
    let mut found: Vec<PlannedInput> = Vec::new();
    let mut places = BTreeMap::new();
    for (number, path) in paths.iter().enumerate() {
        let settings = Arc::new(InputSettings {
            number: number + 1,
            tables: Arc::clone(tables),
            ..InputSettings::default()
        });
        for input in discover::discover(path, base)? {
            // A file without accessible metadata is refused later, when it is read.
            let place = discover::device_and_inode(&input.path()).ok();
            let known = place.map(|place| *places.entry(place).or_insert(found.len()));
            let planned = PlannedInput::new(input, Arc::clone(&settings), NameStyle::Own);
            match known.and_then(|known| found.get_mut(known)) {
                Some(known) => known.is_named |= planned.is_named,
                None => found.push(planned),
            }
        }
    }
    put_in_order(&mut found);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl PlannedInput {
        pub(crate) fn of(name: &str, kind: InputKind) -> Self {
            let input = Input::named(Path::new(name), name, name, kind, 0);
            Self::new(input, Arc::default(), NameStyle::Own)
        }
    }
}
