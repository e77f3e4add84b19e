//! A plan: a pipeline with its names resolved, its inputs found, and a fingerprint of the dataset that it makes.
//!
//! The commands, nights, shards and the Python package call [`Plan::load`] or [`Plan::resolve`], which check and resolve
//! all settings and then find the inputs. A run calls [`Plan::hash_inputs`] next, and takes everything else from the plan.
//! Most modules resolve one section of the file. The others: `inputs` finds and names the files, with `source` and `maps`
//! for how they are read; `reading` does the same for paths typed on a command line; `certified` makes the part of the plan
//! that the fingerprint and the manifest contain; `check_settings` are those of a check; `small_file` opens named files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::Compression;
use chatmill_diag::limits::DEPTH_CEILING;
use chatmill_diag::{Finding, Limits, codes, cut};
use chatmill_dialect::policy::Policy;
use chatmill_dialect::{Additions, Dialect, Prompt};
use chatmill_intake::discover::{self, Input, InputKind, Own};
use chatmill_intake::{Failure, LineRange, divide};
use chatmill_model::{Linked, RawJson};
use chatmill_redact::Redactor;
use chatmill_token::Encoding;
use serde_json::{Map, Value};

use crate::error::PlanError;
use crate::pipeline::{
    self, CardSection, ContentSetting, Inference, NightSection, PerspectiveChoice, Pipeline, SplitSection,
};
use crate::progress::Progress;
use crate::record::evaluation::Evaluations;
use crate::record::{self, RecordHash, Settings};

mod budget;
mod certified;
mod check_settings;
mod encodings;
pub(crate) mod inputs;
mod maps;
mod mix;
mod prompt;
mod reading;
mod redactor;
mod selection;
mod small_file;
mod source;
mod tables;
mod targets;
mod templates;
mod tools;
mod windows;

pub(crate) use budget::{Budget, BudgetSources};
pub use check_settings::CheckSettings;
pub(crate) use check_settings::CodeSettings;
use encodings::Encodings;
#[cfg(test)]
pub(crate) use inputs::InputSettings;
pub use inputs::PlannedInput;
pub(crate) use mix::Balance;
use mix::Mix;
#[cfg(test)]
pub(crate) use reading::typed_in_tests;
pub use reading::{InputReading, ReadingOptions, typed_inputs};
pub use selection::position_in_sample;
pub(crate) use selection::{EarlierDataset, Selection};
use small_file::{add_named, read_text};
pub use source::source;
pub use templates::Templates;
pub use windows::WindowPlan;

/// The key of `[select]` that excludes conversations with text of an evaluation.
pub(crate) const DECONTAMINATE: &str = "decontaminate";

/// The smallest size of a shard in bytes: the data kept about each shard must be small in comparison.
const MIN_SHARD_BYTES: u64 = 1024;

/// The resolved plan of a run.
#[derive(Clone)]
pub struct Plan {
    /// The pipeline as written; values derived from it are in the other fields.
    pub pipeline: Pipeline,
    /// The limits, including those from `[sources]`.
    limits: Limits,
    /// The tables that are written; `None` means all.
    tables: Option<Vec<String>>,
    /// Compression of the tables.
    pub compression: Compression,
    /// Whether findings, rejects and reports may quote chat text.
    pub quotes: bool,
    /// The settings that change the bytes of the dataset, without those of inputs and dialects ([`certified`]).
    certified: Map<String, Value>,
    /// Inputs in the order of their names.
    pub inputs: Vec<PlannedInput>,
    /// The byte ranges of inputs that are divided, by the index of the input; known after hashing.
    pub ranges: BTreeMap<usize, Vec<LineRange>>,
    /// Dialects in registry order, then templates by name.
    pub targets: Vec<Dialect>,
    /// Chat templates that are dialects.
    pub templates: Templates,
    /// Encodings in the order of the file.
    pub encodings: Vec<Encoding>,
    /// Which conversations of each section are kept.
    pub(crate) mix: Mix,
    /// The filters for records and conversations.
    pub selection: Selection,
    /// Earlier datasets; their conversations are not repeated.
    pub(crate) earlier: Vec<EarlierDataset>,
    /// The evaluations for decontamination, and their entry in the normalised plan.
    evaluations: Option<selection::LoadedEvaluations>,
    /// The part of a conversation that renderings show.
    pub windows: WindowPlan,
    /// The system prompt that the plan adds.
    pub prompt: Option<Prompt>,
    /// Tool definitions that the plan adds to those of the records.
    pub tools: Vec<RawJson>,
    /// Finds personal data and secrets, if requested.
    pub redactor: Option<Redactor>,
    /// The destination of the dataset.
    pub out: PathBuf,
    /// The folder that relative paths of the pipeline start at.
    pub base: PathBuf,
    /// Notes for the user before the run.
    pub notes: Vec<String>,
}

/// Reads a pipeline file; returns it with the folder that its relative paths start at.
fn read_pipeline(path: &Path, overrides: &[String]) -> Result<(Pipeline, PathBuf), PlanError> {
    let text = read_text(path, chatmill_diag::limits::MIB, |source| PlanError::Unreadable {
        path: path.to_path_buf(),
        source,
    })?;
    let pipeline = pipeline::parse(&text, overrides, path)?;
    // A bare file name has an empty parent, and an empty path is not a folder.
    let base = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok((pipeline, base.unwrap_or(Path::new(".")).to_path_buf()))
}

impl Plan {
    /// Reads and resolves a pipeline file. `out` replaces its output path. The inputs `typed`,
    /// relative to the current folder, replace those of the file. They are read with the settings
    /// of the only `[[input]]`; if the file has several sections, with default settings.
    pub fn load(
        path: &Path,
        overrides: &[String],
        out: Option<&Path>,
        typed: &[String],
    ) -> Result<Self, PlanError> {
        let (mut pipeline, base) = read_pipeline(path, overrides)?;
        if !typed.is_empty() {
            pipeline.input = inputs::typed_sections(&pipeline.input, typed)?;
        }
        Self::resolve(pipeline, &base, out, Some(path))
    }

    /// Resolves a pipeline with relative paths that start at
    /// `base`. The pipeline file itself, `file`, is never an input.
    pub fn resolve(
        pipeline: Pipeline,
        base: &Path,
        out: Option<&Path>,
        file: Option<&Path>,
    ) -> Result<Self, PlanError> {
        let plan = Self::checked(pipeline, base, out)?;
        let own = &mut Own::new(file, &plan.out);
        plan.over(Some(own), None)
    }

    /// Resolves a pipeline for reading its tables without writing a dataset: no output is excluded
    /// from the inputs. The input `in_memory`, if given, replaces the inputs of the only section.
    pub fn for_tables(pipeline: Pipeline, base: &Path, in_memory: Option<&Input>) -> Result<Self, PlanError> {
        refuse_survey(pipeline.surveys())?;
        Self::checked(pipeline, base, None)?.over(None, in_memory)
    }

    /// Resolves only the settings of renderings, and reads nothing.
    pub fn without_inputs(pipeline: Pipeline) -> Result<Self, PlanError> {
        refuse_survey(pipeline.infers_by_input().then_some("tools.infer"))?;
        Self::checked(pipeline, Path::new("."), None)
    }

    /// Adds the inputs to a plan.
    fn over(self, own: Option<&mut Own>, in_memory: Option<&Input>) -> Result<Self, PlanError> {
        let (mut inputs, mut notes) = inputs::inputs(&self.pipeline, &self.base, own, in_memory)?;
        inputs::schemas::read(&mut inputs, &self.limits)?;
        inputs::senders::read(&inputs, &self.limits)?;
        notes.extend(
            self.evaluations
                .iter()
                .flat_map(|loaded| loaded.notes.iter().cloned()),
        );
        if self.pipeline.lots.is_some() {
            notes
                .push("[lots] is called [shards] now, and the next version refuses the old name; rename the section".to_owned());
        }
        Ok(Self {
            mix: Mix::new(&self.pipeline, &inputs, &self.encodings)?,
            inputs,
            notes,
            ..self
        })
    }

    /// Checks and resolves everything but the inputs.
    fn checked(pipeline: Pipeline, base: &Path, out: Option<&Path>) -> Result<Self, PlanError> {
        let mut limits = pipeline.limits.clone();
        if let Some(depth) = pipeline.sources.jaibber_events.max_response_depth {
            limits.response_depth = depth;
        }
        let templates = Templates::load(&pipeline.templates, base, &limits)?;
        let targets = targets::targets(&pipeline.render.dialects, &templates)?;
        let loaded = Encodings::load(&pipeline.count, base, limits.vocabulary)?;
        let selection = Selection::new(&pipeline.select, &loaded.encodings)?;
        let evaluations = selection::load_evaluations(&pipeline, base, &limits)?;
        let windows = WindowPlan::new(
            &pipeline.window,
            &pipeline.perspective.speaker,
            &BudgetSources {
                encodings: &loaded.encodings,
                templates: &templates,
                targets: &targets,
                base,
            },
            &limits,
        )?;
        let prompt = pipeline.prompt.as_ref().map(prompt::prompt).transpose()?;
        let tools = pipeline.tools.as_ref().map(|section| tools::tools(section, base));
        let tools = tools.transpose()?.unwrap_or_default();
        check_values(&pipeline)?;
        let compression = compression(&pipeline.output.compression)?;
        pipeline.check.as_ref().map(CheckSettings::new).transpose()?;
        pipeline.split.as_ref().map(SplitSection::check).transpose()?;
        pipeline.card.as_ref().map(CardSection::check).transpose()?;
        check_content(&pipeline.output.content, &targets)?;
        let tables = tables::tables(pipeline.output.tables.as_deref())?;
        let section = pipeline.redact.as_ref();
        let redactor = section
            .map(|section| redactor::redactor(section, base))
            .transpose()?;
        check_out(out.and_then(Path::to_str).unwrap_or(&pipeline.output.path))?;
        let out = out.map_or_else(|| base.join(&pipeline.output.path), Path::to_path_buf);
        let mut plan = Self {
            certified: Map::new(),
            earlier: selection::earlier(&pipeline.dedup, base, &out)?,
            // With replacement, quotes would show the original text.
            quotes: pipeline.output.quote && !redactor.as_ref().is_some_and(Redactor::replaces),
            pipeline,
            limits,
            tables,
            compression,
            inputs: Vec::new(),
            ranges: BTreeMap::new(),
            mix: Mix::default(),
            targets,
            templates,
            encodings: loaded.encodings,
            selection,
            evaluations,
            windows,
            prompt,
            tools,
            redactor,
            out,
            base: base.to_path_buf(),
            notes: Vec::new(),
        };
        plan.certified = certified::settings(&plan, loaded.identities)?;
        Ok(plan)
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the settings for reading records without rules or redaction.
    pub fn reading(&self) -> Settings<'_> {
        Settings {
            options: self.pipeline.sources.options(),
            ..Settings::plain(&self.limits)
        }
    }

    /// Returns the settings for reading records, with redaction if the plan has it.
    pub fn reading_redacted(&self) -> Settings<'_> {
        Settings {
            redactor: self.redactor.as_ref(),
            ..self.reading()
        }
    }

    /// Returns the settings for reading the records of an input.
    pub(crate) fn settings(&self, input: usize) -> Settings<'_> {
        let settings = self.reading_redacted();
        settings.in_zone(self.inputs.get(input).and_then(PlannedInput::zone))
    }

    /// Returns the number of an input's section.
    pub(crate) fn section(&self, input: usize) -> usize {
        cut::at(&self.inputs, input).section
    }

    /// Returns the names of the first inputs of all sections, in order.
    pub(crate) fn first_inputs(&self) -> Vec<String> {
        let firsts = inputs::firsts(&self.inputs);
        firsts.map(|planned| planned.name().into_owned()).collect()
    }

    /// Returns the name of an input.
    pub(crate) fn input_name(&self, input: usize) -> Cow<'_, str> {
        cut::at(&self.inputs, input).name()
    }

    /// Returns the id of a conversation before equal ids are made unique: its id with the prefix of its section.
    pub(crate) fn base_id(&self, input: usize, linked: &Linked, record: &RecordHash<'_>) -> String {
        let prefix = &cut::at(&self.inputs, input).settings.written.id_prefix;
        format!("{prefix}{}", record::id(linked, record))
    }

    /// Returns the key of `[select]` or of its section that excludes a conversation, if
    /// any. `read` is the conversation before redaction, `found` the codes of its findings.
    pub fn excluded_by<'f>(
        &self,
        input: usize,
        read: &Linked,
        record: &RecordHash<'_>,
        found: impl Iterator<Item = &'f str>,
    ) -> Option<&str> {
        let id = self.base_id(input, read, record);
        let section = cut::at(&self.inputs, input).section;
        if let Some(reason) = self.mix.excluded_by(section, &id) {
            return Some(reason);
        }
        let by_key = self.selection.excluded_by(&id, &read.conversation, found);
        by_key.or_else(|| {
            let evaluations = self.evaluations()?;
            evaluations.meet(&read.conversation).then_some(DECONTAMINATE)
        })
    }

    /// Returns the evaluations for decontamination, if the plan has any.
    pub(crate) fn evaluations(&self) -> Option<&Evaluations> {
        let loaded = self.evaluations.as_ref()?;
        Some(&loaded.evaluations)
    }

    /// Returns whether personal data and secrets are replaced, not only reported.
    pub fn replaces(&self) -> bool {
        self.redactor.as_ref().is_some_and(Redactor::replaces)
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Policy {
        &self.pipeline.policy
    }

    /// Returns the prompt and tools that are added to every
    /// conversation; `called_tools` are those inferred from its input.
    pub fn additions<'a>(&'a self, called_tools: &'a [RawJson]) -> Additions<'a> {
        let section = self.pipeline.tools.as_ref();
        Additions {
            prompt: self.prompt.as_ref(),
            tools: &self.tools,
            called_tools,
            infers_tools: section.is_some_and(|section| section.infer == Inference::Conversation(true)),
        }
    }

    /// Returns the files and folders that a run reads in addition to its inputs, which no report
    /// may overwrite: evaluations, earlier datasets, and each file that the pipeline names.
    pub fn read_beside(&self) -> Vec<PathBuf> {
        let evaluations = self
            .evaluations
            .iter()
            .flat_map(|loaded| loaded.files.iter().cloned());
        let earlier = self.earlier.iter().map(|earlier| earlier.folder.clone());
        let mut paths: Vec<PathBuf> = evaluations.chain(earlier).collect();
        if let Ok(settings) = serde_json::to_value(&self.pipeline) {
            add_named(&settings, &self.base, &mut paths);
        }
        paths
    }

    /// Returns the tables that are not written.
    pub fn absent_tables(&self) -> Vec<&'static str> {
        let wanted = self.tables.as_deref();
        wanted.map(chatmill_dataset::absent_tables).unwrap_or_default()
    }

    /// Returns the size of all inputs on disk, in bytes.
    pub fn input_bytes(&self) -> u64 {
        self.inputs.iter().map(|planned| planned.input.bytes).sum()
    }

    /// Returns the bytes of input per slice. It depends only on the
    /// inputs, not on threads: slices are the same on every machine.
    pub(crate) fn slice_bytes(&self) -> usize {
        use chatmill_diag::limits::MIB;
        (self.input_bytes() / 16).clamp(4 * MIB, 12 * MIB) as usize
    }

    /// Returns the system failures during the search for inputs.
    pub fn failures(&self) -> Vec<Failure> {
        let failures = self
            .inputs
            .iter()
            .filter_map(|planned| match &planned.input.kind {
                InputKind::Failed(failure) => Some((**failure).clone()),
                _ => None,
            });
        failures.collect()
    }

    /// Returns the names of the encodings, which are part of column names.
    pub fn encoding_names(&self) -> Vec<String> {
        let names = self.encodings.iter().map(|encoding| encoding.name().to_owned());
        names.collect()
    }

    /// Hashes every input; one that cannot be read becomes a refused input. Inputs larger
    /// than a shard are divided if `divides` returns true. Ends early if `stop` is set.
    ///
    /// # Errors
    ///
    /// If the system fails, or an input no longer exists.
    pub fn hash_inputs(
        &mut self,
        divides: &dyn Fn(&PlannedInput, &Limits) -> Result<bool, Failure>,
        progress: &dyn Progress,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        progress.stage("hash", self.input_bytes());
        let mut go_on = |bytes| {
            progress.advance(bytes);
            !stop.load(Ordering::Relaxed)
        };
        let limits = &self.limits;
        let most = self.pipeline.shards.bytes;
        let is_one_shard = self.pipeline.select.limit.is_some();
        for (index, planned) in self.inputs.iter_mut().enumerate() {
            if !matches!(planned.input.kind, InputKind::File | InputKind::Folder) {
                continue;
            }
            let path = planned.input.path();
            let hashed = if !is_one_shard && planned.input.bytes > most && divides(planned, limits)? {
                divide(&path, most, &mut go_on).map(|division| {
                    division.map(|division| {
                        if division.ranges.len() > 1 {
                            self.ranges.insert(index, division.ranges);
                        }
                        (division.bytes, division.hash)
                    })
                })
            } else {
                discover::content_hash(&path, &mut go_on)
            };
            match hashed {
                Ok(Some((bytes, hash))) => {
                    planned.input.bytes = bytes;
                    planned.hash = Some(hash);
                }
                Ok(None) => return Ok(()),
                Err(failure) if failure.is_of_the_system || failure.is_absence => return Err(failure),
                Err(failure) => {
                    let finding = Finding::new(&codes::UNREADABLE_INPUT, "the input cannot be read")
                        .quoting(&failure.reason);
                    planned.input.kind = InputKind::Refused(Box::new(finding));
                }
            }
            if !go_on(0) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the normalised plan: the plan without settings that never change a byte
    /// of the dataset's tables, such as output path, resources, and spelling of inputs.
    pub fn normalised(&self) -> Value {
        let targets = self.targets.iter();
        let targets = targets.map(|target| format!("{}@{}", target.id(), target.profile()));
        let mut plan = self.certified.clone();
        plan.insert("inputs".to_owned(), certified::sections(&self.inputs).into());
        plan.insert("targets".to_owned(), targets.collect());
        plan.into()
    }

    /// Returns a fingerprint that is equal for two runs with the same dataset: a hash of program version,
    /// plan, limits, and the name, length and content of each input (or the reason of its refusal).
    pub fn fingerprint(&self) -> String {
        // Inputs are hashed one at a time instead of as one JSON value, since there may be millions.
        let mut hasher = blake3::Hasher::new();
        let plan = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "format": chatmill_dataset::FORMAT,
            "plan": self.normalised(),
        });
        hasher.update(plan.to_string().as_bytes());
        for planned in &self.inputs {
            let line = serde_json::json!({
                "name": planned.name(),
                "section": planned.section,
                "bytes": planned.input.bytes,
                "hash": planned.hash.map(|hash| hash.to_hex().to_string()),
                "refused": planned.refused(),
            });
            hasher.update(b"\n").update(line.to_string().as_bytes());
        }
        hasher.finalize().to_hex().chars().take(32).collect()
    }
}

/// Refuses the value of a key if the condition does not hold.
fn require(holds: bool, key: &'static str, problem: impl Into<String>) -> Result<(), PlanError> {
    if holds {
        Ok(())
    } else {
        Err(PlanError::value(key, problem))
    }
}

/// Refuses a number outside 0 to 1.
fn require_fraction(number: Option<f64>, key: &'static str) -> Result<(), PlanError> {
    let is_fraction = |number| (0.0..=1.0).contains(&number);
    require(number.is_none_or(is_fraction), key, "it must be between 0 and 1")
}

/// Refuses an empty list of dialects with stored text, and one with a dialect that is not rendered.
fn check_content(content: &ContentSetting, targets: &[Dialect]) -> Result<(), PlanError> {
    let ContentSetting::Dialects(ids) = content else {
        return Ok(());
    };
    let problem = "the list is empty; name dialects or write \"none\"";
    require(!ids.is_empty(), "output.content", problem)?;
    let rendered = || targets.iter().map(Dialect::id);
    let is_rendered = |id: &&String| rendered().any(|rendered| rendered == id.as_str());
    let unknown = |id| PlanError::unknown("output.content", "dialect in render.dialects", id, rendered());
    let mut foreign = ids.iter().filter(|id| !is_rendered(id));
    foreign.next().map_or(Ok(()), |id| Err(unknown(id)))
}

/// Refuses a key that requires a survey of all conversations.
fn refuse_survey(key: Option<&'static str>) -> Result<(), PlanError> {
    let problem = "only a run looks at all conversations first: write a pipeline file and use `chatmill run`";
    key.map_or(Ok(()), |key| Err(PlanError::value(key, problem)))
}

/// Refuses a destination that is not a local folder.
fn check_out(out: &str) -> Result<(), PlanError> {
    let problem = "a dataset is a folder and cannot be written to stdout; `chatmill render` prints to stdout";
    require(out != "-", "output.path", problem)?;
    let problem = format!(
        "`{out}` is a URL, and chatmill writes local folders only; upload the dataset when it is finished"
    );
    require(!discover::is_address(out), "output.path", problem)
}

/// Checks the ranges of values; the error is about the first wrong one.
fn check_values(pipeline: &Pipeline) -> Result<(), PlanError> {
    const STREAM: &str =
        "a run reads its inputs more than once, which stdin does not allow; write the input to a file first";
    let (inputs, limits) = (&pipeline.input, &pipeline.limits);
    require(!inputs.is_empty(), "input", "there is no [[input]]")?;
    require(
        inputs.iter().all(|section| section.path != "-"),
        "input.path",
        STREAM,
    )?;
    require_fraction(Some(limits.max_reject_ratio), "limits.max_reject_ratio")?;
    let keeps_some = pipeline.night.as_ref().is_none_or(NightSection::keeps_some);
    require(
        keeps_some,
        "night.keep",
        "it must be a number of runs from 1 to 3650",
    )?;
    let problem = format!("it must be {MIN_SHARD_BYTES} at least");
    require(pipeline.shards.bytes >= MIN_SHARD_BYTES, "shards.bytes", problem)?;
    let is_threshold = (0.5..=1.0).contains(&pipeline.dedup.threshold);
    require(is_threshold, "dedup.threshold", "it must be between 0.5 and 1")?;
    let problem = format!("it must be {DEPTH_CEILING} at most");
    require(limits.depth <= DEPTH_CEILING, "limits.depth", problem)?;
    let speaker = &pipeline.perspective.speaker;
    let is_nobody = matches!(speaker, PerspectiveChoice::Participants(names) if names.is_empty());
    let problem = "the list is empty; name participants or write \"auto\"";
    require(!is_nobody, "perspective.as", problem)
}

fn compression(word: &str) -> Result<Compression, PlanError> {
    Compression::parse(word).ok_or_else(|| {
        let message = format!("`{word}` is neither zstd(LEVEL) with a level from 1 to 22 nor none");
        PlanError::value("output.compression", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_that_keep_their_text_are_those_that_are_rendered() {
        let rendered = ["openai-chat".to_owned(), "gryag-gemini@2025-10-17".to_owned()];
        let targets = targets::targets(&rendered, &Templates::default()).unwrap();
        let check = |ids: &[&str]| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            check_content(&ContentSetting::Dialects(ids), &targets).map_err(|error| error.to_string())
        };
        assert_eq!(check(&["openai-chat", "gryag-gemini"]), Ok(()));
        for (ids, expected) in [
            (&[][..], "output.content: the list is empty"),
            (&["openai-chat@document"], "did you mean `openai-chat`"),
            (
                &["openai-chat", "tzurot"],
                "no dialect in render.dialects named `tzurot`",
            ),
        ] {
            let message = check(ids).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
