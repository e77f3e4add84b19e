//! The inputs of a plan: found, named, and told which source and tables they have.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chatmill_intake::discover::{self, Input, InputKind, Own, Patterns};
use chatmill_source::{Source, TableMap};

use super::PlanError;
use crate::field_map::FieldMapSection;
use crate::pipeline::{InputSection, Pipeline, nearest};
use crate::slices::EntryStep;
use crate::{field_map, table_map};

/// An input of a plan.
pub struct PlannedInput {
    /// Where it is.
    pub input: Input,
    /// Its name in the dataset: independent of how it was spelled.
    pub name: String,
    /// The source that the plan names, unless it is detected.
    pub source: Option<&'static dyn Source>,
    /// Text in front of its conversation ids.
    pub id_prefix: String,
    /// BLAKE3 of its bytes, once they have been hashed; nothing for what is refused.
    pub hash: Option<String>,
    /// Number of its `[[input]]` section, by first input; 0 for paths that were typed.
    pub section: usize,
    /// Whether files of the section that hold the same conversation are one; `None` leaves it to the source.
    pub merge: Option<bool>,
    /// Tables that are read where it is a database or a dump of one.
    pub tables: Arc<[TableMap]>,
    /// Names of members that are left out.
    pub exclude: Arc<Patterns>,
    /// The same, as written.
    pub exclude_globs: Vec<String>,
    /// The field map of its section, where it has one of its own.
    pub field_map: Option<FieldMapSection>,
}

impl PlannedInput {
    /// The code for which it is refused, if it is.
    pub fn refused(&self) -> Option<&'static str> {
        match &self.input.kind {
            InputKind::Refused(finding) => Some(finding.code.code),
            _ => None,
        }
    }

    /// What tells gathered conversations of the same id apart: the section where files are merged, else the entry.
    ///
    /// `index` is that of the input. The text holds no NUL.
    pub fn scope(&self, index: usize, entry: &EntryStep) -> String {
        let merges = self
            .merge
            .unwrap_or_else(|| entry.source.is_some_and(Source::merges));
        let source = entry.source.map_or("", Source::id);
        if merges {
            format!("section {} {source}", self.section)
        } else {
            format!("input {index} {source} {}", entry.entry.replace('\0', "\u{fffd}"))
        }
    }
}

/// A source by id, or none for `auto`.
pub fn source(id: &str) -> Result<Option<&'static dyn Source>, PlanError> {
    if id == "auto" {
        return Ok(None);
    }
    chatmill_source::find(id)
        .map(Some)
        .ok_or_else(|| PlanError::UnknownWord {
            key: "input.source",
            what: "source",
            word: id.to_owned(),
            suggestion: if chatmill_source::is_known_look(id) {
                Some("mapped".to_owned())
            } else {
                nearest(id, chatmill_source::SOURCES.iter().map(|source| source.id())).map(str::to_owned)
            },
        })
}

/// The inputs of a pipeline in the order of their names, without the run's own files, and notes on what was left out.
pub(super) fn inputs(
    pipeline: &Pipeline,
    base: &Path,
    own: &mut Own,
) -> Result<(Vec<PlannedInput>, Vec<String>), PlanError> {
    let mut found = Vec::new();
    let mut notes = Vec::new();
    for (number, section) in pipeline.input.iter().enumerate() {
        let named = source(&section.source)?;
        let needs_map = named.is_some_and(Source::needs_map);
        let source = if needs_map {
            Some(field_map::choose(section, pipeline)?)
        } else {
            named
        };
        if section.field_map.is_some() && !needs_map {
            return Err(PlanError::Value {
                key: "input.field_map",
                message: "a field map is for `source = \"mapped\"`".to_owned(),
            });
        }
        let tables = table_map::choose(section.tables.as_deref(), &pipeline.table_map)?;
        if let (Some(true), Some(source)) = (section.merge, source)
            && !source.can_merge()
        {
            let id = source.id();
            return Err(PlanError::Value {
                key: "input.merge",
                message: format!(
                    "each record of {id} is a whole conversation, and records of the same id are not joined: leave \
                     merge out, or make one record of them"
                ),
            });
        }
        let exclude = Arc::new(Patterns::new(&section.exclude)?);
        let all = discover::discover(&section.path, base)?;
        let count = all.len();
        let inputs: Vec<Input> = all.into_iter().filter(|input| !own.holds(&input.path)).collect();
        if inputs.is_empty() {
            return Err(PlanError::OnlyOwn {
                path: section.path.clone(),
            });
        }
        if inputs.len() < count {
            notes.push(format!(
                "{} of the {count} files that `{}` names are left out: they are this pipeline file, or belong to the output",
                count - inputs.len(),
                section.path
            ));
        }
        for input in inputs {
            if !exclude.matches(&input.name) {
                let shared = (source, Arc::clone(&tables), Arc::clone(&exclude));
                found.push((number + 1, section, shared, input));
            }
        }
    }
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (_, _, _, input) in &found {
        *uses.entry(input.name.clone()).or_default() += 1;
    }
    let mut inputs: Vec<PlannedInput> = found
        .into_iter()
        .map(
            |(number, section, (source, tables, exclude), input)| PlannedInput {
                name: if uses.get(&input.name).is_some_and(|count| *count > 1) {
                    format!("{number}/{}", input.name)
                } else {
                    input.name.clone()
                },
                source,
                id_prefix: section.id_prefix.clone(),
                hash: None,
                section: number,
                merge: section.merge,
                tables,
                exclude,
                exclude_globs: section.exclude.clone(),
                field_map: section.field_map.clone(),
                input,
            },
        )
        .collect();
    inputs.sort_by(|left, right| left.name.cmp(&right.name));
    number_sections(&mut inputs);
    Ok((inputs, notes))
}

/// Numbers sections by their first input, so that the order of the sections in the file changes nothing.
fn number_sections(inputs: &mut [PlannedInput]) {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for planned in inputs {
        let next = numbers.len();
        planned.section = *numbers.entry(planned.section).or_insert(next);
    }
}

/// Sections for paths that are typed in place of those of the file.
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
            // The file's own paths start at its folder, these where somebody stands.
            let absolute = std::path::absolute(path).ok();
            let absolute = absolute.and_then(|path| path.into_os_string().into_string().ok());
            absolute.ok_or_else(|| PlanError::Value {
                key: "--input",
                message: format!("`{path}` is no path"),
            })?
        };
        Ok(InputSection { path, ..like.clone() })
    };
    typed.iter().map(section).collect()
}

/// Inputs given on a command line, in the order and spelling in which they were typed.
pub fn typed_inputs(paths: &[String], source_id: &str) -> Result<Vec<PlannedInput>, PlanError> {
    let named = source(source_id)?;
    let tables = table_map::choose(None, &BTreeMap::new())?;
    let mut inputs = Vec::new();
    for path in paths {
        for mut input in discover::discover(path, Path::new("."))? {
            // A pattern that a shell took apart names none of its files.
            input.is_named &= paths.len() == 1;
            inputs.push(PlannedInput {
                name: input.shown.clone(),
                source: named,
                id_prefix: String::new(),
                hash: None,
                // Paths typed side by side are one input, as a pattern that a shell took apart would be.
                section: 0,
                merge: None,
                tables: Arc::clone(&tables),
                exclude: Arc::default(),
                exclude_globs: Vec::new(),
                field_map: None,
                input,
            });
        }
    }
    Ok(inputs)
}
