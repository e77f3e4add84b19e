//! The mask of ids under `--no-content`, which commands pass to reports, and the file of `--dropped`, which is masked, too.

pub(crate) mod dropped;

use chatmill_diag::limits::MIB;
use chatmill_engine::check::{KeyError, Mask, SHORTEST_KEY};

use crate::args::Global;
use crate::exit::{CommandError, Outcome, small_file};

/// The mask of ids, if content must not be shown.
///
/// # Errors
///
/// When the key file cannot be read, or does not contain a usable key.
pub(crate) fn mask(global: &Global) -> Outcome<Option<Mask>> {
    if !global.no_content {
        return Ok(None);
    }
    let Some(path) = &global.mask_key else {
        return Ok(Some(Mask::random()));
    };
    let wrong = |reason: String| {
        CommandError::request(format!("--mask-key {}: {reason}", path.display()))
            .then("`openssl rand -hex 32` writes a key")
    };
    let content = small_file(path, MIB, |error| wrong(error.to_string()))?;
    let mask = Mask::new(&content).map_err(|error| {
        wrong(match error {
            KeyError::TooShort => format!("the key is shorter than {SHORTEST_KEY} bytes"),
            KeyError::Uniform => "the key repeats a single character".to_owned(),
        })
    })?;
    Ok(Some(mask))
}

/// The masked reason for which an export leaves out a row. The message of a template is masked because it may quote the message that the
/// template refuses.
pub(crate) fn masked_reason(reason: &str, mask: &Mask) -> String {
    let message = reason.strip_prefix("template: ");
    message.map_or_else(
        || reason.to_owned(),
        |message| format!("template: {}", mask.id(message)),
    )
}
