//! The source that a plan names.

use chatmill_diag::suggest::nearest;
use chatmill_source::Source;

use crate::error::PlanError;

/// A source by id, or none for `auto`.
pub fn source(id: &str) -> Result<Option<&'static dyn Source>, PlanError> {
    if id == "auto" {
        return Ok(None);
    }
    chatmill_source::find(id)
        .map(Some)
        .ok_or_else(|| PlanError::UnknownWord {
            key: "input.source",
            what: "source",
            word: id.to_owned(),
            suggestion: if chatmill_source::is_known_look(id) {
                Some("mapped".to_owned())
            } else {
                nearest(id, chatmill_source::SOURCES.iter().map(|source| source.id())).map(str::to_owned)
            },
        })
}
