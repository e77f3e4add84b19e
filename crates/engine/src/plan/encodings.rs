//! The encodings of a plan.

use chatmill_token::Encoding;

use super::PlanError;
use crate::pipeline::nearest;

/// The encodings of `count.encodings` in the order of the file, each once.
pub(super) fn encodings(names: &[String]) -> Result<Vec<&'static Encoding>, PlanError> {
    let mut encodings: Vec<&'static Encoding> = Vec::new();
    for name in names {
        let encoding = chatmill_token::find(name).ok_or_else(|| PlanError::UnknownWord {
            key: "count.encodings",
            what: "encoding",
            word: name.clone(),
            suggestion: nearest(
                name,
                chatmill_token::ENCODINGS.iter().map(|encoding| encoding.name()),
            )
            .map(str::to_owned),
        })?;
        if !encodings.iter().any(|known| known.name() == encoding.name()) {
            encodings.push(encoding);
        }
    }
    Ok(encodings)
}
