//! Training and evaluation files out of a finished dataset: chosen renderings of one dialect, as JSON lines or Parquet.
//!
//! A line is the rendering itself, or what an [`Envelope`] makes of it. Everything is read from the tables of the dataset, and
//! nothing is rendered or counted here; a [`Maker`] brings renderings that the dataset does not hold. A row that is left out is counted under its reason, and conversations that belong
//! together never stand on both sides of a split.

mod candidate;
mod convert;
pub mod envelope;
mod error;
mod fields;
mod filter;
mod format;
mod judge;
mod request;
mod split;
mod summary;
mod writer;

pub use candidate::{MadeRendering, Maker};
pub use convert::{check_destination, check_request, export, export_until};
pub use envelope::{ENVELOPES, Envelope, Preferences};
pub use error::ExportError;
pub use filter::{Filters, TokenLimit};
pub use format::Format;
pub use request::{ExportRequest, holds};
pub use split::{Share, Split, SplitBy, SplitPart};
pub use summary::teaching::Taught;
pub use summary::{ExportSummary, FileSummary, LeftOut};
pub use writer::nested::NestedAs;

/// Name of the summary in the folder of an export.
pub const SUMMARY: &str = "export.json";

/// Why rows are left out, whatever their envelope.
pub const REASONS: &[chatmill_diag::Reason] = filter::reasons::REASONS;
