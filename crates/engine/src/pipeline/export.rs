//! Sections that exports read: a run copies them into the manifest of its dataset and does not use them itself.

mod card;
mod split;

pub use card::CardSection;
pub use split::{LeakTreatment, SplitSection};
