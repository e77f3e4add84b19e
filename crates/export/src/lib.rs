//! Training and evaluation files from a finished dataset: selected renderings of one dialect, as JSON lines or Parquet.
//!
//! A line is the rendering itself, or the record that an [`Envelope`] makes of it. Everything is read from the tables of the dataset, and nothing is
//! rendered or counted here; a [`Maker`] supplies renderings in a dialect that the run did not write. A row that is left out is counted under its
//! reason, and related conversations are never on both sides of a split. The commands `export` and `convert` call this crate.

mod candidate;
mod card;
mod convert;
pub mod envelope;
mod error;
mod fields;
mod filter;
mod format;
mod request;
mod split;
mod summary;
mod writer;

pub use candidate::{Maker, RenderingFacts};
pub use convert::preview::{RowPreview, preview};
pub use convert::row_counts::remedies::not_set_yet;
pub use convert::{begin, check_request, export, export_into, publish};
pub use envelope::{ENVELOPES, Envelope, Preferences};
pub use error::ExportError;
pub use filter::{Filters, TokenLimit};
pub use format::Format;
pub use request::{ExportRequest, holds};
pub use split::{LeakRule, PartQuota, Share, Split, SplitBy, SplitPart, StrataSummary};
pub use summary::left_out::{LeftOut, LeftOutRow};
pub use summary::losses::LossFigures;
pub use summary::split_summary::{PartLeak, SplitSummary};
pub use summary::turn_counts::TurnCounts;
pub use summary::{ExportSummary, FileSummary};
pub use writer::nested::NestedAs;

/// Name of the summary in the folder of an export.
pub const SUMMARY: &str = chatmill_dataset::EXPORT_SUMMARY;

/// Name of the card in the folder of an export.
const CARD: &str = "README.md";

/// The reasons for which rows are left out under any envelope.
pub const REASONS: &[chatmill_diag::Reason] = filter::reasons::REASONS;
