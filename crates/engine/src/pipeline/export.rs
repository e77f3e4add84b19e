//! What an export takes from the pipeline of its dataset: a run hands these sections on in the manifest.

mod card;
mod split;

pub use card::CardSection;
pub use split::{LeakTreatment, SplitSection};
