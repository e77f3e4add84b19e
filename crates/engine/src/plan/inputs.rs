//! The inputs of a plan: found on disk, named, and each with
//! its source, tables and other settings of its section.
//!
//! [`inputs()`] lists them in the order of their names, without files that the run
//! itself writes ([`own_outputs`]); [`schemas`] and [`senders`] read table definitions and names of
//! senders that other inputs contain. The plan of a run and the commands that read typed paths call it.

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
    /// BLAKE3 of its bytes, after hashing; `None` for refused inputs.
    pub hash: Option<blake3::Hash>,
    /// Number of its `[[input]]` section, in the order of first inputs; 0 for typed paths.
    pub section: usize,
    /// Whether its path was named explicitly. Such a file is meant to be read; others may be skipped silently.
    pub is_named: bool,
    naming: NameStyle,
}

/// The style of an input's name in the dataset and in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameStyle {
    /// The name of the input, independent of how the path was spelled.
    Own,
    /// The same with the number of the section before it, if another section has an input of this name.
    Numbered,
    /// The path as typed.
    Typed,
}

/// The settings for reading the inputs of a section.
#[derive(Default)]
pub struct InputSettings {
    /// Number of the `[[input]]` section in the file, from 1; 0 for typed paths.
    pub number: usize,
    /// The source that the plan names; `None` detects it.
    pub source: Option<&'static dyn Source>,
    /// Table maps for a database or a dump.
    pub tables: Arc<[TableMap]>,
    /// Patterns of members that are excluded.
    pub exclude: Patterns,
    /// Whether unmapped columns are guessed; only for typed paths.
    pub guesses: bool,
    /// Whether names and values of the input may be shown.
    pub quotes: bool,
    /// The section as written.
    pub written: InputSection,
}

impl InputSettings {
    /// Returns the error for `merge = true` over records that do
    /// not merge; `source` is a clause that names their source.
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

    /// Returns the name in the dataset, or the path as typed if there is no dataset.
    pub fn name(&self) -> Cow<'_, str> {
        match self.naming {
            NameStyle::Own => self.input.name(),
            NameStyle::Numbered => format!("{}/{}", self.settings.number, self.input.name()).into(),
            NameStyle::Typed => self.input.shown().into(),
        }
    }

    /// Returns the code with which it is refused, if it is.
    pub fn refused(&self) -> Option<&'static str> {
        match &self.input.kind {
            InputKind::Refused(finding) => Some(finding.code.code),
            _ => None,
        }
    }

    /// Returns the scope in which grouped rows with one id are one conversation: the
    /// section if files are merged, else the entry. If the source derives it from
    /// the path, it is the folder of the export, in the section or in its archive.
    ///
    /// The text contains no NUL.
    pub fn scope(&self, entry: &EntryRef, export_path: Option<&ExportPath>) -> String {
        let merges = self.settings.written.merge;
        let merges = merges.unwrap_or_else(|| entry.source.is_some_and(Source::merges));
        // Rows about the conversations of other files in an export are part of these.
        let merges = merges || entry.source.is_some_and(|source| source.companion().is_some());
        let source = entry.source.map_or("", Source::id);
        let scope = match export_path {
            Some(export_path) if merges && entry.entry.is_empty() => {
                format!("section {} {source} {}", self.section, export_path.export)
            }
            Some(export_path) if merges => format!("input {} {source} {}", entry.input, export_path.export),
            None if merges => format!("section {} {source}", self.section),
            // In an archive of a dump, each table is an entry.
            _ => {
                let whole = entry.entry.strip_suffix(&entry.table).unwrap_or(&entry.entry);
                format!("input {} {source} {whole}", entry.input)
            }
        };
        scope.replace('\0', "\u{fffd}")
    }

    /// Returns the scope in which a conversation may continue in another entry:
    /// the section and source; only the input itself if files are not merged.
    pub fn family(&self, entry: &EntryRef) -> String {
        let source = entry.source.map_or("", Source::id);
        match self.settings.written.merge {
            Some(false) => format!("input {} {source}", entry.input),
            _ => format!("section {} {source}", self.section),
        }
    }
}

/// Refuses a word that is no time zone.
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
    // Typed paths are read without a user's map: records of
    // the smallest example have the names of the built-in map.
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

/// Lists the inputs of a pipeline in the order of their names, without the run's `own` files, and notes
/// about files that were left out. The input `in_memory`, if given, replaces those that the section names.
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

/// Returns sections for typed paths, which replace those of the file.
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
