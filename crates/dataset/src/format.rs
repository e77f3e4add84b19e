//! The number of the tables' form.
//!
//! Why: docs/decisions/2026-11-22-datasets-have-a-format-number.md.

/// The number of the tables' form: it grows where a column changes its name or meaning. Datasets without a number are of
/// the first.
pub const FORMAT: u32 = 2;
