//! The options of commands that write rows for a trainer: the selection of rows, the files, and their format.

use std::path::{Path, PathBuf};

use chatmill_diag::suggest::nearest;
use chatmill_dialect::LossCode;
use chatmill_export::{Envelope, ExportRequest, Filters, Format, NestedAs, Split, SplitBy, TokenLimit};
use clap::Args;

use crate::args::{Choices, choice};
use crate::exit::{CommandError, Outcome};

/// The selection of rows, and how they are written.
#[derive(Debug, Args)]
pub(crate) struct RowOptions {
    /// File format; without it, the one that the reader of the rows prefers
    #[arg(long, value_parser = choice(FORMATS), value_name = "FORMAT")]
    format: Option<Format>,
    /// How Parquet files hold lists and objects: as text of the Arrow JSON type, or as Arrow structures for readers without that type
    #[arg(long, value_parser = choice(NESTED), default_value = "json", value_name = "FORM")]
    nested: NestedAs,
    /// Leaves out renderings that this chat template refuses: a Jinja file or a tokenizer configuration
    #[arg(long, value_name = "TEMPLATE")]
    valid_for: Option<PathBuf>,
    /// Leaves out renderings whose last turn has another role
    #[arg(long, value_name = "ROLE")]
    last_role: Option<String>,
    /// Leaves out renderings of more than N tokens in an encoding
    #[arg(long, value_name = "N@ENCODING", value_parser = |text: &str| text.parse::<TokenLimit>())]
    max_tokens: Option<TokenLimit>,
    /// Leaves out renderings with this loss; repeatable
    #[arg(long, value_name = "LOSS_CODE")]
    without: Vec<String>,
    /// Keeps answers that no message precedes; envelopes of conversations leave them out otherwise
    #[arg(long)]
    keep_unasked: bool,
    /// Leaves out rows that are equal to an earlier one
    #[arg(long)]
    distinct: bool,
    /// Divides the rows into files, for example train=95,test=5
    #[arg(long, value_name = "PART=SHARE,…")]
    split: Option<String>,
    /// What decides which file a conversation belongs to
    #[arg(long, value_parser = choice(SPLITS), default_value = "hash", requires = "split", value_name = "WHAT")]
    split_by: SplitBy,
    /// Seed of the split, if a hash decides
    #[arg(long, requires = "split", default_value_t = 0, value_name = "N")]
    split_seed: u64,
    /// An earlier export of the same data; conversations keep the file that it assigned
    #[arg(long, requires = "split", value_name = "EXPORT")]
    split_like: Option<PathBuf>,
    /// A dataset of the earlier export; its prompts and passages count as those of its parts; repeatable
    #[arg(long, requires = "split_like", value_name = "RUN")]
    split_against: Vec<PathBuf>,
    /// Columns that are added to each record, for example `source,input,tokens_o200k_base,extra.language`: columns of the tables
    /// `conversations` and `renderings`, and fields of the record
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,…")]
    columns: Vec<String>,
    /// Largest file: a part with more bytes becomes several files, train-00000-of-00003.parquet; 500MB if not given
    #[arg(long, value_parser = shard_size, value_name = "SIZE")]
    shard_size: Option<u64>,
    /// Folder before relative paths of pictures, videos and sounds in records; nothing is opened there
    #[arg(long, value_name = "PREFIX")]
    media_root: Option<String>,
    /// Lists the rows that are left out in this file, with their reasons
    #[arg(long, value_name = "FILE")]
    pub(in crate::commands) dropped: Option<PathBuf>,
    /// Shuffles the rows of each file with this seed; without it, rows keep the order of the dataset
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Folder of the files
    #[arg(long, value_name = "DIR")]
    pub(in crate::commands) out: PathBuf,
    /// Replaces the files of an earlier call in DIR
    #[arg(long)]
    pub(in crate::commands) replace: bool,
}

/// The formats of the files.
const FORMATS: Choices<Format> = &[
    ("jsonl", "One JSON value per line", Format::Jsonl),
    ("parquet", "Columns", Format::Parquet),
];

/// The forms of lists and objects in a table.
const NESTED: Choices<NestedAs> = &[
    ("json", "JSON text", NestedAs::Json),
    ("struct", "Arrow lists and structures", NestedAs::Struct),
];

/// The ways to assign a conversation to a file.
const SPLITS: Choices<SplitBy> = &[
    ("hash", "A hash of its id", SplitBy::Hash),
    ("time", "When it began", SplitBy::Time),
    ("room", "A hash of its room", SplitBy::Room),
    (
        "session",
        "When one of its sessions began, as divided by `window.session_gap`",
        SplitBy::Session,
    ),
];

impl RowOptions {
    /// The request for rows of a dialect, in an envelope. `valid` leaves out rows that break a rule of the dialect; `quotes` allows reasons
    /// to quote content.
    pub(in crate::commands) fn request(
        &self,
        dialect: String,
        envelope: Option<&'static Envelope>,
        [valid, quotes]: [bool; 2],
    ) -> Outcome<ExportRequest> {
        for code in &self.without {
            known_loss(code)?;
        }
        let parsed = self.split.as_deref();
        let parsed = parsed.map(|text| Split::parse(text, self.split_by));
        let split = parsed.transpose()?.map(|split| Split {
            like: self.split_like.clone(),
            against: self.split_against.clone(),
            seed: self.split_seed,
            ..split
        });
        Ok(ExportRequest {
            format: self.format.unwrap_or(preferred_format(&dialect, envelope)),
            nested: self.nested,
            envelope,
            filters: Filters {
                valid,
                last_role: self.last_role.clone(),
                max_tokens: self.max_tokens.clone(),
                without: self.without.clone(),
                keep_unasked: self.keep_unasked,
                distinct: self.distinct,
            },
            valid_for: self.valid_for.clone(),
            split,
            columns: self.columns.clone(),
            shard_bytes: self.shard_size,
            lists_left_out: self.dropped.is_some(),
            quotes,
            shuffle: self.shuffle,
            media_root: self.media_root.clone(),
            replace: self.replace,
            convert: None,
            dialect,
        })
    }

    /// Files and folders that the command writes, or reads in addition to its inputs; the list of omitted rows must not replace them.
    pub(in crate::commands) fn spared(&self) -> impl Iterator<Item = &Path> {
        let earlier = self.split_like.iter().chain(&self.split_against);
        let others = self.valid_for.iter().chain(earlier);
        std::iter::once(&self.out).chain(others).map(PathBuf::as_path)
    }
}

/// Parquet if the envelope's reader makes one table of all rows, so that each row keeps its own keys; Markdown pages for `markdown`; else
/// JSON lines.
fn preferred_format(dialect: &str, envelope: Option<&Envelope>) -> Format {
    if dialect == "markdown" {
        Format::Markdown
    } else if envelope.is_some_and(|envelope| envelope.is_one_table) {
        Format::Parquet
    } else {
        Format::Jsonl
    }
}

/// The number of bytes of a size such as `500MB`.
fn shard_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|sign: char| !sign.is_ascii_digit());
    let factor = match text.strip_prefix(digits) {
        Some("" | "B") => Some(1),
        Some("kB" | "KB") => Some(1_000),
        Some("MB") => Some(1_000_000),
        Some("GB") => Some(1_000_000_000),
        _ => None,
    };
    let bytes = factor.and_then(|factor| digits.parse::<u64>().ok()?.checked_mul(factor));
    let bytes = bytes.filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("`{text}` is not a size, for example 500MB"))
}

fn known_loss(code: &str) -> Outcome<()> {
    if LossCode::find(code).is_some() {
        return Ok(());
    }
    let codes = LossCode::ALL.iter().map(|code| code.as_str());
    Err(CommandError::unknown("loss code", code, nearest(code, codes)))
}
