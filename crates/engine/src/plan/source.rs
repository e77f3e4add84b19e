//! Finds the source of an input: by its id, or by the path of a format file.

use std::path::Path;

use chatmill_diag::suggest::nearest;
use chatmill_source::Source;

use super::small_file::read_text;
use crate::error::PlanError;

/// The longest format file, in bytes.
const MAX_FORMAT_FILE: u64 = 1 << 20;

/// Finds a source by id or by the path of a format file, which starts at `base`; `None` for `auto`.
pub fn source(word: &str, base: &Path) -> Result<Option<&'static dyn Source>, PlanError> {
    let path = Path::new(word);
    match path.extension() {
        _ if word == "auto" => Ok(None),
        Some(ending) if ending == "toml" => format_file(word, &base.join(path)).map(Some),
        _ => built_in(word).map(Some),
    }
}

/// Finds a built-in source by its id.
pub(super) fn built_in(id: &str) -> Result<&'static dyn Source, PlanError> {
    chatmill_source::find(id).ok_or_else(|| PlanError::UnknownWord {
        key: "input.source",
        what: "source",
        word: id.to_owned(),
        suggestion: if chatmill_source::is_unsupported(id) {
            Some("mapped".to_owned())
        } else {
            nearest(id, chatmill_source::SOURCES.iter().map(|source| source.id())).map(str::to_owned)
        },
    })
}

/// Loads a format file as a source; its id is the file name without the extension.
fn format_file(word: &str, path: &Path) -> Result<&'static dyn Source, PlanError> {
    let wrong = |message: String| PlanError::value("input.source", format!("`{word}`: {message}"));
    let text = read_text(path, MAX_FORMAT_FILE, |error| wrong(error.to_string()))?;
    let id = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    let file = chatmill_source::load(id, &text).map_err(|error| wrong(error.message))?;
    Ok(file)
}
