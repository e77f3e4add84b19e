//! Arguments that several commands share. The arguments of a single command are in its file.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use chatmill_engine::{InputReading, Plan, PlanError, ReadingOptions};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};
use strum::{ParseError, VariantNames};

/// The options of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Global {
    /// How progress is shown on stderr
    #[arg(
        long,
        global = true,
        default_value = "auto",
        value_name = "STYLE",
        display_order = 100
    )]
    pub progress: ProgressStyle,
    /// Logs more; twice for details
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet", display_order = 100)]
    pub verbose: u8,
    /// Shows no progress and no notes, logs errors only
    #[arg(short, long, global = true, display_order = 100)]
    pub quiet: bool,
    /// Format of log lines on stderr
    #[arg(
        long,
        global = true,
        default_value = "text",
        value_name = "FORMAT",
        display_order = 100
    )]
    pub log_format: LogFormat,
    /// When output has colours; by default on a terminal, if the environment (`NO_COLOR`) allows it
    #[arg(
        long,
        global = true,
        default_value = "auto",
        value_name = "WHEN",
        display_order = 100
    )]
    pub color: ColorWhen,
    /// Shows all columns of tables, however wide the terminal is, and all inputs of a run
    #[arg(long, global = true, display_order = 100)]
    pub wide: bool,
    /// Prints no chat text, name, address or id, only locations, codes, counts and masked ids
    #[arg(long, global = true, display_order = 100)]
    pub no_content: bool,
    /// Key file for the masks of --no-content, so that reports can be compared [default: a new key each time]
    #[arg(
        long,
        global = true,
        requires = "no_content",
        value_name = "FILE",
        display_order = 100
    )]
    pub mask_key: Option<PathBuf>,
}

/// The options by which a command reads its inputs.
#[derive(Debug, Args)]
pub(crate) struct Inputs {
    /// Source id, or the path of a format file or of table maps (`mine.toml`); `auto` detects by content
    #[arg(long, default_value = "auto", value_name = "ID|FILE")]
    pub source: String,
    /// Time zone of times without an offset, if a conversation names none: an IANA name or an offset such as `+02:00`
    #[arg(long, allow_hyphen_values = true, value_parser = zone, value_name = "ZONE")]
    pub input_zone: Option<String>,
    /// Columns of your own table or rows, for example `sender=user,content=text`; `table=NAME` names the table
    #[arg(long, value_delimiter = ',', value_name = "KEY=COLUMN,…")]
    pub map: Vec<String>,
    /// Senders that are agents, by id or name, where rows have no roles; `--as` chooses whose answers are shown or learned
    #[arg(long = "assistant", value_delimiter = ',', value_name = "NAME,…")]
    pub assistants: Vec<String>,
}

impl Inputs {
    /// The settings for reading that follow from these options and a pipeline file.
    pub(crate) fn reading(
        &self,
        pipeline: Option<&Path>,
        global: &Global,
    ) -> Result<InputReading, PlanError> {
        let options = ReadingOptions {
            source: self.source.clone(),
            zone: self.input_zone.clone(),
            map: self.map.clone(),
            assistants: self.assistants.clone(),
            quotes: !global.no_content,
        };
        InputReading::new(&options, pipeline)
    }
}

/// The options of a command that reads inputs, and takes only the settings for reading from a pipeline file.
#[derive(Debug, Args)]
pub(crate) struct MappedInputs {
    #[command(flatten)]
    inputs: Inputs,
    /// Pipeline file with maps and other settings for reading; its own inputs are not read
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
}

impl MappedInputs {
    /// The files that may decide how inputs are read: a format file or table maps, and the pipeline file.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let source = Some(Path::new(&self.inputs.source));
        self.pipeline.as_deref().into_iter().chain(source)
    }

    /// The options that differ from their defaults, without folders and names of people.
    pub(crate) fn options(&self) -> Vec<(&'static str, String)> {
        let Inputs {
            source,
            input_zone,
            map,
            assistants,
        } = &self.inputs;
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let options = [
            ("source", name(Path::new(source)).filter(|name| name != "auto")),
            ("input-zone", input_zone.clone()),
            ("map", (!map.is_empty()).then(|| map.join(","))),
            ("assistant", (!assistants.is_empty()).then(|| "NAME".to_owned())),
            ("pipeline", self.pipeline.as_deref().and_then(name)),
        ];
        options
            .into_iter()
            .filter_map(|(option, value)| Some((option, value?)))
            .collect()
    }

    /// The settings for reading that follow from these options.
    pub(crate) fn reading(&self, global: &Global) -> Result<InputReading, PlanError> {
        self.inputs.reading(self.pipeline.as_deref(), global)
    }
}

/// Parses the name of a time zone; an unknown zone is refused.
fn zone(word: &str) -> Result<String, String> {
    if chatmill_source::is_zone(word) {
        Ok(word.to_owned())
    } else {
        Err("a time zone is an IANA name (`Europe/Kyiv`) or an offset (`+02:00`)".to_owned())
    }
}

/// The arguments that `plan` and `run` share: the pipeline file, and what replaces its keys.
#[derive(Debug, Args)]
pub(crate) struct PipelineArguments {
    /// Pipeline file
    #[arg(value_name = "PIPELINE.toml")]
    pub pipeline: PathBuf,
    /// Reads these inputs instead of the file's: a path or glob relative to the current folder; repeatable
    #[arg(long = "input", value_name = "PATH")]
    pub inputs: Vec<String>,
    /// Folder of the dataset, instead of the file's `output.path`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Reads only the first N records
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Sets a key of the pipeline file
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    overrides: Vec<String>,
}

impl PipelineArguments {
    /// The overridden keys of the pipeline file: those of `--set`, and those of options that set a key.
    pub(crate) fn overrides(&self, global: &Global) -> Vec<String> {
        let limit = self.limit.map(|limit| format!("select.limit={limit}"));
        let quote = global.no_content.then(|| "output.quote=false".to_owned());
        self.overrides.iter().cloned().chain(limit).chain(quote).collect()
    }

    /// The plan of the pipeline file, with these keys overridden.
    pub(crate) fn plan(&self, overrides: &[String]) -> Result<Plan, PlanError> {
        Plan::load(&self.pipeline, overrides, self.out.as_deref(), &self.inputs)
    }
}

/// The form in which progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressStyle {
    /// A bar on a terminal, else plain lines
    Auto,
    /// A bar
    Bar,
    /// A line every few seconds
    Plain,
    /// One JSON object per line
    Json,
    /// Nothing
    None,
}

/// When output has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal
    Auto,
    /// Also in a file or a pipe
    Always,
    /// Not at all
    Never,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Human-readable text
    Text,
    /// One JSON object per line
    Json,
}

/// The format of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// Human-readable text
    #[default]
    Text,
    /// Machine-readable JSON
    Json,
}

/// The arguments of every listing.
#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub format: ListFormat,
}

/// A parser of the words of a `ValueEnum`.
pub(crate) fn words<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = ParseError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse())
}

/// Words with the values that they select: word, help, value.
pub(crate) type Choices<T> = &'static [(&'static str, &'static str, T)];

/// A parser of the words of a list of choices.
pub(crate) fn choice<T: Copy + Send + Sync>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    let words = choices
        .iter()
        .map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).try_map(|chosen| {
        let choice = choices.iter().find(|(word, ..)| *word == chosen);
        choice.map(|(_, _, value)| *value).ok_or("unknown value")
    })
}
