//! Resolves `[redact]`: the redactor, which finds personal data and, with a key from a file, replaces it by pseudonyms.

use std::path::Path;

use chatmill_diag::limits::MIB;
use chatmill_redact::{KeyError, PseudonymKey, Redactor, SHORTEST_KEY};

use super::require;
use super::small_file::read_text;
use crate::error::PlanError;
use crate::pipeline::{RedactMode, RedactSection};

/// Builds the redactor of a section, with the key from its file.
pub(super) fn redactor(section: &RedactSection, base: &Path) -> Result<Redactor, PlanError> {
    let problem = "the list is empty; name kinds or leave the section out";
    require(!section.kinds.0.is_empty(), "redact.kinds", problem)?;
    let key = match section.mode {
        RedactMode::Report => None,
        RedactMode::Replace => Some(key(section, base)?),
    };
    Ok(Redactor::new(&section.kinds.0, key, &section.keep))
}

fn key(section: &RedactSection, base: &Path) -> Result<PseudonymKey, PlanError> {
    let wrong = |message: String| PlanError::value("redact.key_file", message);
    let Some(file) = &section.key_file else {
        return Err(wrong(format!(
            "mode = \"replace\" needs a file of at least {SHORTEST_KEY} bytes to make pseudonyms with; `openssl rand -hex 32` writes one"
        )));
    };
    let path = base.join(file);
    let content = read_text(&path, MIB, |error| {
        wrong(format!("cannot read {}: {error}", path.display()))
    })?;
    PseudonymKey::new(&content).map_err(|error| {
        wrong(match error {
            KeyError::TooShort => format!(
                "the key in {} is shorter than {SHORTEST_KEY} bytes",
                path.display()
            ),
            KeyError::Uniform => format!("the key in {} repeats a single character", path.display()),
        })
    })
}
