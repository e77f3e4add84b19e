//! The version of the dataset format.
//!
//! Why: docs/decisions/2026-11-22-dataset-format-version.md, for the sixth docs/decisions/2026-11-23-input-shards.md, for the
//! seventh docs/decisions/2026-11-23-manifest-part-lists.md, and for the eighth docs/decisions/2026-11-26-manifest-without-table-rows.md.

/// The version of the dataset format. It increases when a column changes its name or meaning, and when the manifest
/// gets fields that its readers need. A dataset without the number has version 1.
pub const FORMAT: u32 = 8;
