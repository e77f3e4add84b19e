//! How typed inputs, that is, paths on a command line, are read: with the options of the command, and with the maps
//! and settings of a pipeline file if one is named.
//!
//! A command makes an [`InputReading`] of both, and passes it with the paths to [`typed_inputs`], or asks it for a plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;
use chatmill_intake::discover::{self, Links};

use super::inputs::own_outputs::OwnOutputs;
use super::inputs::{InputSettings, PlannedInput, settings, typed_sections};
use super::small_file::read_text;
use super::{Plan, read_pipeline};
use crate::error::PlanError;
use crate::pipeline::{self, InputSection, Pipeline, TableMapSection};
use crate::record::Settings;

/// The options of a command that affect how its inputs are read.
#[derive(Clone, Debug)]
pub struct ReadingOptions {
    /// The id of a source, the path of a format file or of a file of table maps, or `auto`.
    pub source: String,
    /// The zone of times without an offset.
    pub zone: Option<String>,
    /// A table map, in words `KEY=COLUMN`.
    pub map: Vec<String>,
    /// The senders that are agents, by id or name.
    pub assistants: Vec<String>,
    /// Whether messages may quote names and values of the inputs.
    pub quotes: bool,
}

/// The way in which typed inputs are read.
#[derive(Clone, Debug, Default)]
pub struct InputReading {
    /// The pipeline file with the options applied, or the default pipeline.
    pipeline: Pipeline,
    /// The section for all typed inputs, without a path.
    section: InputSection,
    /// The folder that relative paths of the pipeline start at.
    base: PathBuf,
}

/// The longest file of table maps, in bytes.
const MAX_MAPS: u64 = MIB;

impl InputReading {
    /// Combines these options with a pipeline file; options have priority.
    pub fn new(options: &ReadingOptions, file: Option<&Path>) -> Result<Self, PlanError> {
        let (mut pipeline, base) = match file {
            Some(path) => read_pipeline(path, &[])?,
            None => (Pipeline::default(), PathBuf::from(".")),
        };
        let mut section = match pipeline.input.as_slice() {
            [only] => only.clone(),
            _ => InputSection::default(),
        };
        section.path = String::new();
        section.guesses = true;
        pipeline.output.quote &= options.quotes;
        if let Some(maps) = table_maps(&options.source)? {
            pipeline.table_map = maps;
        } else if options.source != "auto" {
            section.source.clone_from(&options.source);
        } else if is_toml(Path::new(&section.source)) {
            section.source = base.join(&section.source).to_string_lossy().into_owned();
        }
        section.zone = options.zone.clone().or(section.zone);
        if !options.map.is_empty() {
            let map = TableMapSection::of_words(&options.map)?;
            pipeline.table_map = [("--map".to_owned(), map)].into();
            section.tables = None;
        }
        if !options.assistants.is_empty() {
            section.assistants.clone_from(&options.assistants);
        }
        Ok(Self {
            pipeline,
            section,
            base,
        })
    }

    /// Returns the plan of the pipeline file, without inputs.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        Plan::checked(self.pipeline.clone(), &self.base, None)
    }

    /// Returns the plan of the pipeline file, but with typed inputs.
    pub fn plan_over(&self, typed: &[String], file: &Path) -> Result<Plan, PlanError> {
        let mut pipeline = self.pipeline.clone();
        pipeline.input = typed_sections(std::slice::from_ref(&self.section), typed)?;
        Plan::resolve(pipeline, &self.base, None, Some(file))
    }

    /// Replaces the inputs of another pipeline by typed ones, with these settings for reading them.
    pub fn hand_to(&self, pipeline: &mut Pipeline, typed: &[String]) {
        let Self { pipeline: own, .. } = self;
        pipeline.input = typed
            .iter()
            .map(|path| InputSection {
                path: path.clone(),
                ..self.section()
            })
            .collect();
        if !own.table_map.is_empty() {
            pipeline.table_map.clone_from(&own.table_map);
        }
        pipeline.field_map = own.field_map.clone().or(pipeline.field_map.take());
        pipeline.sources = own.sources.clone();
        pipeline.output.quote &= own.output.quote;
    }

    /// Returns the settings for reading records.
    pub fn records<'s>(&'s self, limits: &'s Limits) -> Settings<'s> {
        let settings = Settings {
            options: self.pipeline.sources.options(),
            ..Settings::plain(limits)
        };
        settings.in_zone(self.section.zone.as_deref())
    }

    /// Returns the settings for reading inputs.
    pub(super) fn settings(&self) -> Result<InputSettings, PlanError> {
        settings(&self.section(), 0, &self.pipeline, &self.base)
    }

    /// Returns the section's settings for reading. Limits, weights
    /// and samples are removed, since only a run selects records.
    fn section(&self) -> InputSection {
        InputSection {
            guesses: true,
            limit: None,
            weight: None,
            sample: None,
            id_prefix: String::new(),
            ..self.section.clone()
        }
    }
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
}

/// Returns the table maps in a file that is given as a source, if it has any.
fn table_maps(word: &str) -> Result<Option<BTreeMap<String, TableMapSection>>, PlanError> {
    let path = Path::new(word);
    if !is_toml(path) {
        return Ok(None);
    }
    let wrong = |message: String| PlanError::value("--source", format!("`{word}`: {message}"));
    let text = read_text(path, MAX_MAPS, |error| wrong(error.to_string()))?;
    pipeline::table_maps(&text, path)
}

/// Finds the inputs of a command line, in the order and spelling in which they were typed, and notes for the user about
/// outputs of chatmill, which are left out. If `reads_exports` is set, the files of rows in exports are not left out.
pub fn typed_inputs(
    paths: &[String],
    reading: &InputReading,
    links: Links,
    reads_exports: bool,
) -> Result<(Vec<PlannedInput>, Vec<String>), PlanError> {
    let settings = Arc::new(reading.settings()?);
    let mut inputs = Vec::new();
    let mut outputs = OwnOutputs::new(reads_exports);
    for path in paths {
        let found = discover::discover_through(path, Path::new("."), links)?;
        let others = outputs.leave_out(found)?.into_iter();
        let wanted = others.filter(|input| !settings.exclude.matches(&input.name()));
        inputs.extend(wanted.map(|input| {
            // All paths form one section, since a shell may have expanded them from one pattern.
            let mut planned = PlannedInput::typed(input, Arc::clone(&settings));
            // For the same reason, only a single path counts as named by the user.
            planned.is_named &= paths.len() == 1;
            planned
        }));
    }
    super::inputs::schemas::read(&mut inputs, &reading.pipeline.limits)?;
    super::inputs::senders::read(&inputs, &reading.pipeline.limits)?;
    let notes = outputs.notes();
    if let (true, Some(path), false) = (inputs.is_empty(), paths.first(), notes.is_empty()) {
        return Err(PlanError::OnlyOwn { path: path.clone() });
    }
    Ok((inputs, notes))
}

/// Returns the inputs at these paths, with default settings.
#[cfg(test)]
pub(crate) fn typed_in_tests(paths: &[String]) -> Vec<PlannedInput> {
    typed_inputs(paths, &InputReading::default(), Links::Refused, true)
        .unwrap()
        .0
}
