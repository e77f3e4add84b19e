//! The inputs of a plan: found, named, and told which source and tables they have.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chatmill_intake::discover::{self, Input};
use chatmill_source::{Source, TableMap};

use super::PlanError;
use crate::pipeline::{Pipeline, nearest};
use crate::slices::EntryStep;
use crate::table_map;

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
    /// BLAKE3 of its bytes, once they have been hashed.
    pub hash: String,
    /// Number of its `[[input]]` section, by first input; 0 for paths that were typed.
    pub section: usize,
    /// Whether files of the section that hold the same conversation are one; `None` leaves it to the source.
    pub merge: Option<bool>,
    /// Tables that are read where it is a database or a dump of one.
    pub tables: Arc<[TableMap]>,
}

impl PlannedInput {
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
            suggestion: nearest(id, chatmill_source::SOURCES.iter().map(|source| source.id()))
                .map(str::to_owned),
        })
}

/// The inputs of a pipeline in the order of their names.
pub(super) fn inputs(pipeline: &Pipeline, base: &Path) -> Result<Vec<PlannedInput>, PlanError> {
    let mut found = Vec::new();
    for (number, section) in pipeline.input.iter().enumerate() {
        let source = source(&section.source)?;
        let tables = table_map::choose(section.tables.as_deref(), &pipeline.table_map)?;
        for input in discover::discover(&section.path, base)? {
            found.push((number + 1, section, source, Arc::clone(&tables), input));
        }
    }
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (_, _, _, _, input) in &found {
        *uses.entry(input.name.clone()).or_default() += 1;
    }
    let mut inputs: Vec<PlannedInput> = found
        .into_iter()
        .map(|(number, section, source, tables, input)| PlannedInput {
            name: if uses.get(&input.name).is_some_and(|count| *count > 1) {
                format!("{number}/{}", input.name)
            } else {
                input.name.clone()
            },
            source,
            id_prefix: section.id_prefix.clone(),
            hash: String::new(),
            section: number,
            merge: section.merge,
            tables,
            input,
        })
        .collect();
    inputs.sort_by(|left, right| left.name.cmp(&right.name));
    number_sections(&mut inputs);
    Ok(inputs)
}

/// Numbers sections by their first input, so that the order of the sections in the file changes nothing.
fn number_sections(inputs: &mut [PlannedInput]) {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for planned in inputs {
        let next = numbers.len();
        planned.section = *numbers.entry(planned.section).or_insert(next);
    }
}

/// Inputs given on a command line, in the order and spelling in which they were typed.
pub fn typed_inputs(paths: &[String], source_id: &str) -> Result<Vec<PlannedInput>, PlanError> {
    let named = source(source_id)?;
    let tables = table_map::choose(None, &BTreeMap::new())?;
    let mut inputs = Vec::new();
    for path in paths {
        for input in discover::discover(path, Path::new("."))? {
            inputs.push(PlannedInput {
                name: input.shown.clone(),
                source: named,
                id_prefix: String::new(),
                hash: String::new(),
                // Paths typed side by side are one input, as a pattern that a shell took apart would be.
                section: 0,
                merge: None,
                tables: Arc::clone(&tables),
                input,
            });
        }
    }
    Ok(inputs)
}
