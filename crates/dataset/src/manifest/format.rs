//! The number of a dataset's form.
//!
//! Why: docs/decisions/2026-11-22-dataset-format-version.md, for the sixth docs/decisions/2026-11-23-input-shards.md, for the
//! seventh docs/decisions/2026-11-23-manifest-part-lists.md, and for the eighth docs/decisions/2026-11-26-manifest-without-table-rows.md.

/// The version of a dataset's format: it grows where a column changes its name or meaning, and where the
/// manifest gets fields that its readers need. Datasets without a number have the first version.
pub const FORMAT: u32 = 8;
