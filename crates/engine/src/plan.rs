//! A plan: a pipeline whose words are resolved, whose inputs are found, and which has a fingerprint.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::limits::DEPTH_CEILING;
use chatmill_diag::{Finding, Limits, codes};
use chatmill_dialect::policy::Policy;
use chatmill_dialect::{Dialect, History};
use chatmill_intake::discover::{self, Input, InputKind};
use chatmill_source::{Source, TableMap};
use chatmill_token::Encoding;
use thiserror::Error;

use crate::pipeline::{self, Content, HistoryRule, Pipeline, Speaker, nearest};
use crate::progress::Progress;
use crate::select::Selection;
use crate::slices::EntryStep;
use crate::table_map;

/// Why a request is wrong; repeating it cannot help.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The pipeline file cannot be read.
    #[error("cannot read the pipeline file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The pipeline file says something that chatmill does not understand.
    #[error("{}: {message}", path.display())]
    Pipeline {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its place.
        message: String,
    },
    /// A `--set` that is no assignment.
    #[error("`{text}` is not of the form section.key=value")]
    Override {
        /// What was given.
        text: String,
    },
    /// A word that names nothing.
    #[error("{key}: there is no {what} named `{word}`{}", suggestion.as_deref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    UnknownWord {
        /// Where it stands.
        key: &'static str,
        /// Source, dialect or encoding.
        what: &'static str,
        /// The word.
        word: String,
        /// The nearest known word.
        suggestion: Option<String>,
    },
    /// A key that must not be empty, or has a value out of range.
    #[error("{key}: {message}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong.
        message: String,
    },
    /// An input that names nothing that can be read.
    #[error(transparent)]
    Input(#[from] discover::DiscoverError),
}

/// A dialect with its profile.
#[derive(Clone, Copy)]
pub struct Target {
    /// The dialect.
    pub dialect: &'static dyn Dialect,
    /// Its profile.
    pub profile: &'static str,
}

impl Target {
    /// `ID` or `ID@PROFILE` to a target.
    pub fn find(word: &str) -> Result<Self, PlanError> {
        let (dialect, profile) = chatmill_dialect::find(word).ok_or_else(|| PlanError::UnknownWord {
            key: "render.dialects",
            what: "dialect",
            word: word.to_owned(),
            suggestion: nearest(
                word,
                chatmill_dialect::DIALECTS.iter().map(|dialect| dialect.id()),
            )
            .map(str::to_owned),
        })?;
        Ok(Self { dialect, profile })
    }
}

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

/// Everything a run needs to know.
pub struct Plan {
    /// The pipeline as written.
    pub pipeline: Pipeline,
    /// Inputs in the order of their names.
    pub inputs: Vec<PlannedInput>,
    /// Dialects in registry order.
    pub targets: Vec<Target>,
    /// Encodings in the order of the file.
    pub encodings: Vec<&'static Encoding>,
    /// What to leave out.
    pub selection: Selection,
    /// Where the dataset will stand.
    pub out: PathBuf,
    /// The folder at which relative paths of the pipeline start.
    pub base: PathBuf,
}

impl Plan {
    /// Reads and resolves a pipeline file. `out` replaces its output path.
    pub fn load(path: &Path, overrides: &[String], out: Option<&Path>) -> Result<Self, PlanError> {
        let text = discover::read_small(path, chatmill_diag::limits::MIB).map_err(|source| {
            PlanError::Unreadable {
                path: path.to_path_buf(),
                source,
            }
        })?;
        let pipeline = pipeline::parse(&text, overrides, path)?;
        let base = path.parent().unwrap_or(Path::new("."));
        Self::resolve(pipeline, base, out)
    }

    /// Resolves a pipeline whose relative paths start at `base`.
    pub fn resolve(mut pipeline: Pipeline, base: &Path, out: Option<&Path>) -> Result<Self, PlanError> {
        if let Some(depth) = pipeline.sources.jaibber_events.max_response_depth {
            pipeline.limits.response_depth = depth;
        }
        let targets = targets(&pipeline.render.dialects)?;
        let encodings = encodings(&pipeline.count.encodings)?;
        let selection = Selection::new(&pipeline.select)?;
        check_values(&pipeline)?;
        let inputs = inputs(&pipeline, base)?;
        let out = out.map_or_else(|| base.join(&pipeline.output.path), Path::to_path_buf);
        Ok(Self {
            pipeline,
            inputs,
            targets,
            encodings,
            selection,
            out,
            base: base.to_path_buf(),
        })
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.pipeline.limits
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.pipeline.policy
    }

    /// How much history renderings show.
    pub fn history(&self) -> History {
        match self.pipeline.window.history {
            pipeline::History::Rule(HistoryRule::Document) => History::Document,
            pipeline::History::Rule(HistoryRule::All) => History::All,
            pipeline::History::Messages(messages) => History::Messages(messages),
        }
    }

    /// Bytes of all inputs as they lie on disk.
    pub fn input_bytes(&self) -> u64 {
        self.inputs.iter().map(|planned| planned.input.bytes).sum()
    }

    /// Bytes of input that a slice should hold: a function of the inputs alone.
    pub fn slice_bytes(&self) -> usize {
        use chatmill_diag::limits::MIB;
        (self.input_bytes() / 16).clamp(4 * MIB, 12 * MIB) as usize
    }

    /// Hashes every input; what cannot be read becomes a refused input. Ends early when `stop` is set.
    pub fn hash_inputs(&mut self, progress: &dyn Progress, stop: &AtomicBool) {
        progress.stage("hash", self.input_bytes());
        let mut go_on = |bytes| {
            progress.advance(bytes);
            !stop.load(Ordering::Relaxed)
        };
        for planned in &mut self.inputs {
            if !matches!(planned.input.kind, InputKind::File | InputKind::Folder) {
                continue;
            }
            match discover::content_hash(&planned.input.path, &mut go_on) {
                Ok(Some((bytes, hash))) => {
                    planned.input.bytes = bytes;
                    planned.hash = hash;
                }
                Ok(None) => return,
                Err(error) => {
                    let finding = Finding::new(&codes::UNREADABLE_INPUT, "the input cannot be read")
                        .quoting(&error.to_string());
                    planned.input.kind = InputKind::Refused(finding);
                }
            }
        }
    }

    /// The plan without what must not change a certified byte: output path, resources, spelling of inputs.
    pub fn normalised(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(&self.pipeline).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.remove("resources");
            object.remove("input");
            if let Some(output) = object
                .get_mut("output")
                .and_then(serde_json::Value::as_object_mut)
            {
                output.remove("path");
            }
            let inputs: Vec<serde_json::Value> = self
                .inputs
                .iter()
                .map(|planned| {
                    serde_json::json!({
                        "name": planned.name,
                        "source": planned.source.map_or("auto", Source::id),
                        "id_prefix": planned.id_prefix,
                        "section": planned.section,
                        "merge": planned.merge,
                        "tables": planned.tables.iter().map(|map| map.name.as_str()).collect::<Vec<_>>(),
                    })
                })
                .collect();
            object.insert("inputs".to_owned(), inputs.into());
            let targets: Vec<String> = self
                .targets
                .iter()
                .map(|target| format!("{}@{}", target.dialect.id(), target.profile))
                .collect();
            object.insert("targets".to_owned(), targets.into());
        }
        value
    }

    /// What makes two runs the same: program version, plan, limits, and each input's name, length and content.
    pub fn fingerprint(&self) -> String {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|planned| (&planned.name, planned.input.bytes, &planned.hash))
            .collect();
        let identity = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "plan": self.normalised(),
            "inputs": inputs,
        });
        blake3::hash(identity.to_string().as_bytes())
            .to_hex()
            .chars()
            .take(32)
            .collect()
    }
}

fn targets(words: &[String]) -> Result<Vec<Target>, PlanError> {
    if words.is_empty() {
        return Err(PlanError::Value {
            key: "render.dialects",
            message: "the list is empty; name dialects or write [\"all\"]".to_owned(),
        });
    }
    let all = words.iter().any(|word| word == "all");
    let mut targets = Vec::new();
    if all {
        for dialect in chatmill_dialect::DIALECTS {
            targets.push(Target::find(dialect.id())?);
        }
    }
    for word in words.iter().filter(|word| *word != "all") {
        let target = Target::find(word)?;
        let known =
            |other: &Target| other.dialect.id() == target.dialect.id() && other.profile == target.profile;
        if !targets.iter().any(known) {
            targets.push(target);
        }
    }
    let rank = |target: &Target| {
        chatmill_dialect::DIALECTS
            .iter()
            .position(|dialect| dialect.id() == target.dialect.id())
    };
    targets.sort_by_key(rank);
    Ok(targets)
}

fn encodings(names: &[String]) -> Result<Vec<&'static Encoding>, PlanError> {
    let mut encodings: Vec<&'static Encoding> = Vec::new();
    for name in names {
        let encoding = chatmill_token::find(name).ok_or_else(|| PlanError::UnknownWord {
            key: "count.encodings",
            what: "encoding",
            word: name.clone(),
            suggestion: nearest(
                name,
                chatmill_token::ENCODINGS.iter().map(|encoding| encoding.name()),
            )
            .map(str::to_owned),
        })?;
        if !encodings.iter().any(|known| known.name() == encoding.name()) {
            encodings.push(encoding);
        }
    }
    Ok(encodings)
}

fn check_values(pipeline: &Pipeline) -> Result<(), PlanError> {
    if pipeline.input.is_empty() {
        return Err(PlanError::Value {
            key: "input",
            message: "there is no [[input]]".to_owned(),
        });
    }
    if !(0.0..=1.0).contains(&pipeline.limits.max_reject_ratio) {
        return Err(PlanError::Value {
            key: "limits.max_reject_ratio",
            message: "it must lie between 0 and 1".to_owned(),
        });
    }
    if pipeline.limits.depth > DEPTH_CEILING {
        return Err(PlanError::Value {
            key: "limits.depth",
            message: format!("it must be {DEPTH_CEILING} at most"),
        });
    }
    if let Content::Dialects(ids) = &pipeline.output.content {
        for id in ids {
            Target::find(id)?;
        }
    }
    if let Speaker::Participants(names) = &pipeline.perspective.speaker
        && names.is_empty()
    {
        return Err(PlanError::Value {
            key: "perspective.as",
            message: "the list is empty; name participants or write \"auto\"".to_owned(),
        });
    }
    chatmill_dataset::Compression::parse(&pipeline.output.compression)
        .map(|_| ())
        .ok_or_else(|| PlanError::Value {
            key: "output.compression",
            message: format!(
                "`{}` is neither zstd(1..22) nor none",
                pipeline.output.compression
            ),
        })
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

fn inputs(pipeline: &Pipeline, base: &Path) -> Result<Vec<PlannedInput>, PlanError> {
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
