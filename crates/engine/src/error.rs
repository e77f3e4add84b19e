//! Errors of the engine: a wrong request, an interrupted reading, an unfinished slice or run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{DatasetError, OwnOutput, SliceId};
use chatmill_diag::suggest::nearest;
use chatmill_diag::{Advice, Class, Classed};
use chatmill_intake::Failure;
use chatmill_intake::discover::DiscoverError;
use thiserror::Error;

/// The error of a wrong request, which repeating cannot help.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The pipeline file cannot be read.
    #[error("cannot read the pipeline file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The pipeline file has keys or values unknown to chatmill.
    #[error("{}: {message}", path.display())]
    Pipeline {
        /// The file.
        path: PathBuf,
        /// The error, with its place.
        message: String,
    },
    /// The file given as settings is something else, most likely a chat.
    #[error("{}: {message}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The error, with its place.
        message: String,
    },
    /// A `--set` that is not an assignment, or with a key deeper than any setting.
    #[error("`{text}` is not of the form section.key=value")]
    Override {
        /// The beginning of the given text.
        text: String,
    },
    /// An unknown source, dialect, encoding or similar.
    #[error("{key}: there is no {what} named `{word}`{}", suggestion.as_deref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    UnknownWord {
        /// The key of the setting.
        key: &'static str,
        /// The kind of name: source, dialect or encoding.
        what: &'static str,
        /// The unknown word.
        word: String,
        /// The nearest known word.
        suggestion: Option<String>,
    },
    /// A key that must not be empty, or has a value out of range.
    #[error("{key}: {message}")]
    Value {
        /// The key.
        key: &'static str,
        /// The error in its value.
        message: String,
    },
    /// The vocabulary file of a user-defined encoding cannot be read.
    #[error("count.encodings: cannot read {}, the vocabulary of `{name}`", path.display())]
    UnreadableVocabulary {
        /// The encoding.
        name: String,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A user-defined encoding that cannot be used for counting.
    #[error("count.encodings: `{name}` from {}", path.display())]
    Encoding {
        /// The encoding.
        name: String,
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: chatmill_token::EncodingError,
    },
    /// An input path that matches nothing readable.
    #[error(transparent)]
    Input(#[from] DiscoverError),
    /// An input that contains only outputs of the run itself, or its pipeline file.
    #[error(
        "input.path: `{path}` names only this pipeline file or outputs of chatmill, which are not read as chats"
    )]
    OnlyOwn {
        /// The path as written.
        path: String,
    },
    /// The folder of an input is an output of this program, which is not read as chats.
    #[error("`{path}` is {kind} of chatmill, and no chats are read from it")]
    OwnOutput {
        /// The folder as typed.
        path: String,
        /// The kind of output.
        kind: OwnOutput,
    },
    /// The system failed while a file of the request was read; a retry may help.
    #[error(transparent)]
    System(#[from] Failure),
}

impl Classed for PlanError {
    fn class(&self) -> Class {
        match self {
            Self::System(_) => Class::System,
            _ => Class::Request,
        }
    }

    fn advice(&self) -> Advice {
        let next_step = match self {
            Self::Unreadable { .. } => {
                Some("give the path of a pipeline file, for example pipelines/demo.toml")
            }
            Self::Foreign { .. } => Some(
                "`chatmill inspect FILE` shows what it is; `chatmill init FILE` writes a pipeline for chats, and `chatmill convert FILE --to trl-messages --out DIR` needs none",
            ),
            Self::Pipeline { .. } => {
                Some("`chatmill schema pipeline` prints every key that a pipeline file may have")
            }
            Self::Override { .. } => Some("write for example --set limits.max_reject_ratio=0.01"),
            Self::UnknownWord { what: "dialect", .. } => Some("`chatmill dialects` lists them"),
            Self::UnknownWord { what: "source", .. } => Some("`chatmill sources` lists them"),
            Self::UnknownWord { what: "encoding", .. } => Some("`chatmill encodings` lists them"),
            Self::UnreadableVocabulary { .. } => {
                Some("paths start at the pipeline file's folder; limits.vocabulary bounds the file")
            }
            Self::Encoding { .. } => Some(
                "a rank file has a token in base64, a space and a rank on each line; `chatmill encodings` lists the tokenizer file of \
                 each model",
            ),
            Self::OnlyOwn { .. } => Some("name other files, or write the dataset elsewhere with --out"),
            Self::OwnOutput { .. }
            | Self::UnknownWord { .. }
            | Self::Value { .. }
            | Self::Input(_)
            | Self::System(_) => None,
        };
        let next_step = match self {
            Self::OwnOutput { path, kind } => Some(readers_of(path, *kind)),
            _ => next_step.map(str::to_owned),
        };
        Advice {
            next_step,
            code: Some(self.code()),
            place: self.place(),
        }
    }
}

impl PlanError {
    /// Returns the error for a key with an invalid value.
    pub(crate) fn value(key: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Value { key, message }
    }

    /// Returns the error for an unknown word, with the nearest known one.
    pub(crate) fn unknown<'k>(
        key: &'static str,
        what: &'static str,
        word: &str,
        known: impl Iterator<Item = &'k str>,
    ) -> Self {
        Self::UnknownWord {
            key,
            what,
            word: word.to_owned(),
            suggestion: nearest(word, known).map(str::to_owned),
        }
    }

    /// Returns a stable word for the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "unreadable-pipeline",
            Self::Pipeline { .. } | Self::Foreign { .. } => "pipeline",
            Self::Override { .. } => "assignment",
            Self::UnknownWord { .. } => "unknown-word",
            Self::Value { .. } => "value",
            Self::UnreadableVocabulary { .. } | Self::Encoding { .. } => "vocabulary",
            Self::Input(_) => "input",
            Self::OnlyOwn { .. } | Self::OwnOutput { .. } => "own-files",
            Self::System(_) => "system",
        }
    }

    /// Returns the key, the file or the pattern that is wrong, if there is one.
    pub fn place(&self) -> Option<String> {
        match self {
            Self::Unreadable { path, .. } | Self::Pipeline { path, .. } | Self::Foreign { path, .. } => {
                Some(path.display().to_string())
            }
            Self::Override { text } => Some(text.clone()),
            Self::UnknownWord { key, .. } | Self::Value { key, .. } => Some((*key).to_owned()),
            Self::UnreadableVocabulary { .. } | Self::Encoding { .. } => Some("count.encodings".to_owned()),
            Self::Input(
                DiscoverError::NothingMatches { pattern, .. }
                | DiscoverError::Empty { pattern }
                | DiscoverError::Address { pattern }
                | DiscoverError::Pattern { pattern, .. }
                | DiscoverError::TooNested { pattern },
            ) => Some(pattern.clone()),
            Self::OnlyOwn { path } | Self::OwnOutput { path, .. } => Some(path.clone()),
            Self::System(failure) => Some(failure.path.display().to_string()),
        }
    }
}

/// Returns the commands that read this kind of output.
fn readers_of(path: &str, kind: OwnOutput) -> String {
    match kind {
        OwnOutput::Dataset => format!(
            "`chatmill export {path} --dialect ID --out DIR` writes rows of it, `chatmill tokens {path}` its bill, `chatmill certify {path}` checks it"
        ),
        OwnOutput::Export => format!(
            "`chatmill check {path}` and `chatmill inspect {path}` read its rows; to convert them again, name a file of it"
        ),
        OwnOutput::Store => "name the dataset of a night, `nights/latest/dataset` in the store".to_owned(),
        OwnOutput::Unfinished => "rerun the command that began it, and name its output".to_owned(),
    }
}

/// The reason why reading ended before the end of the inputs.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The request is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The run was interrupted.
    #[error("stopped")]
    Stopped,
    /// Rows could not be spilled to disk.
    #[error(transparent)]
    Spill(#[from] DatasetError),
    /// The threads could not be started.
    #[error("cannot start {0} threads")]
    Threads(usize),
}

impl Classed for ReadError {
    fn class(&self) -> Class {
        match self {
            Self::Plan(error) => error.class(),
            Self::Stopped => Class::Stopped,
            Self::Spill(error) => error.class(),
            Self::Threads(_) => Class::System,
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Self::Plan(error) => error.advice(),
            _ => Advice::default(),
        }
    }
}

/// The reason why a run did not end with a dataset.
#[derive(Debug, Error)]
pub enum RunError {
    /// The request is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The dataset could not be opened, written or published.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The run was interrupted; the same command resumes it.
    #[error("stopped; {done} finished slices are kept, run the same command again to resume")]
    Stopped {
        /// Number of slices with a receipt.
        done: usize,
    },
    /// Inputs changed between hashing and reading.
    #[error("inputs changed while they were read: {}; run again", .0.join(", "))]
    InputChanged(Vec<String>),
    /// Inputs could not be read because the system failed, or changed after they were hashed.
    #[error(
        "{}; nothing was published, and finished work is kept: fix this and run the same command again",
        listed(.0)
    )]
    InputsFailed(Vec<Failure>),
    /// Results of slices are missing, or were changed after they were written.
    #[error("the staging folder is not complete: {0}; nothing was published, run the same command again")]
    Incomplete(String),
    /// Records, bytes or rows are unaccounted for, so that the dataset would not be certified: a bug in chatmill.
    #[error("{}; this is a bug in chatmill, nothing was published", .0.join("; "))]
    Unbalanced(Vec<String>),
    /// No configured participant is in any conversation.
    #[error("perspective.as: none of the named participants is in any conversation{0}")]
    PerspectiveAbsent(String),
    /// tiktoken-rs counts a rendering differently: a bug in chatmill.
    #[error(
        "tiktoken-rs counts the {dialect} rendering of {conversation} differently in {encoding}; this is a bug in chatmill, \
         nothing was published"
    )]
    Miscounted {
        /// Dialect of the rendering.
        dialect: String,
        /// Id of its conversation.
        conversation: String,
        /// Encoding.
        encoding: String,
    },
    /// A worker panicked or vanished: a bug in chatmill.
    #[error("a worker failed on slice {0}; this is a bug in chatmill, nothing was published")]
    WorkerFailed(SliceId),
    /// There are more conversations than `limits.compared` allows.
    #[error(
        "{found} conversations are more than limits.compared ({limit}) allows, since all are compared before the first is rendered; \
         raise it (each takes about 600 bytes), or select fewer"
    )]
    TooManyToCompare {
        /// Number of conversations.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The calls of an input make larger tool definitions than a rendering may have.
    #[error(
        "tools.infer: the calls of the [[input]] with {first} make {bytes} bytes of definitions, and every rendering has them; at most \
         {limit} are allowed: set infer = true, or define the tools with tools.file"
    )]
    TooManyTools {
        /// The first input of the section.
        first: String,
        /// Bytes of definitions.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// There is no plan for this destination.
    #[error("there is no plan for {}; `chatmill plan PIPELINE.toml --out DIR` makes one", .0.display())]
    NotPlanned(PathBuf),
    /// The planned run and the present one differ.
    #[error("the plan does not match: {0}; run `chatmill plan` again")]
    OtherPlan(String),
    /// There is no part or shard of this number.
    #[error("{0}")]
    NoSuchShard(String),
    /// Some shards are not done.
    #[error(
        "not complete: {count} shards are not done; `chatmill work DIR --shards {shards}` processes them"
    )]
    ShardsMissing {
        /// The number of shards.
        count: usize,
        /// The numbers of the shards.
        shards: String,
    },
    /// Another command took over the work directory.
    #[error(
        "another `chatmill plan`, `run` or `finish` took over {} in the meantime; finished work is kept",
        .0.display()
    )]
    TakenAway(PathBuf),
    /// The threads could not be started.
    #[error("cannot start {0} threads")]
    Threads(usize),
}

impl Classed for RunError {
    fn class(&self) -> Class {
        match self {
            Self::Plan(error) => error.class(),
            Self::Dataset(error) => error.class(),
            Self::PerspectiveAbsent { .. }
            | Self::NotPlanned { .. }
            | Self::OtherPlan { .. }
            | Self::TooManyTools { .. }
            | Self::TooManyToCompare { .. }
            | Self::NoSuchShard { .. } => Class::Request,
            Self::Stopped { .. } => Class::Stopped,
            Self::Unbalanced { .. } | Self::Miscounted { .. } | Self::WorkerFailed { .. } => Class::Bug,
            Self::InputChanged { .. }
            | Self::InputsFailed { .. }
            | Self::Incomplete { .. }
            | Self::ShardsMissing { .. }
            | Self::TakenAway { .. }
            | Self::Threads { .. } => Class::System,
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Self::Plan(error) => error.advice(),
            _ => Advice::default(),
        }
    }
}

impl From<ReadError> for RunError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Plan(error) => error.into(),
            ReadError::Stopped => Self::Stopped { done: 0 },
            ReadError::Spill(error) => error.into(),
            ReadError::Threads(threads) => Self::Threads(threads),
        }
    }
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        Self::InputsFailed(vec![failure])
    }
}

/// Returns the error for a value that cannot be written as JSON: a bug in chatmill.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
pub(crate) fn unwritable(error: serde_json::Error) -> RunError {
    let mismatches = vec![format!("the data cannot be written as JSON: {error}")];
    RunError::Unbalanced(mismatches)
}

/// Lists the first failures and the number of the others.
fn listed(failures: &[Failure]) -> String {
    const MAX_LISTED: usize = 3;
    let mut list: Vec<String> = failures.iter().take(MAX_LISTED).map(Failure::to_string).collect();
    if failures.len() > MAX_LISTED {
        list.push(format!("and {} more", failures.len() - MAX_LISTED));
    }
    list.join("; ")
}

/// Returns an error if the run is to stop.
pub(crate) fn go_on(stop: &AtomicBool, done: usize) -> Result<(), RunError> {
    if stop.load(Ordering::Relaxed) {
        Err(RunError::Stopped { done })
    } else {
        Ok(())
    }
}
