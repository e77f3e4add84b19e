//! The registry of encodings: a file and a line for each.

pub(crate) mod model_families;

use crate::encoding::Encoding;
use crate::encoding::custom_encoding::CustomEncoding;
use crate::error::EncodingError;

/// Declares the modules, and lists their encodings.
macro_rules! encodings {
    ($($module:ident;)+) => {
        $(mod $module;)+

        /// Every encoding, newest first.
        pub static ENCODINGS: &[Encoding] = &[$(Encoding::registered(&$module::ENCODING)),+];
    };
}

encodings! {
    o200k_base;
    o200k_harmony;
    cl100k_base;
    p50k_base;
    r50k_base;
}

/// The encoding with this name.
pub fn find(name: &str) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|encoding| encoding.name() == name)
}

/// The encoding that a model reads. The name is as vendors write it (`gpt-4o`, `GPT-4o`), without a date or a size.
pub fn of_model(model: &str) -> Option<&'static Encoding> {
    let plain = |name: &str| -> String {
        let signs = name
            .chars()
            .filter(|sign| sign.is_ascii_alphanumeric() || *sign == '.');
        signs.map(|sign| sign.to_ascii_lowercase()).collect()
    };
    let model = plain(model);
    ENCODINGS.iter().find(|encoding| {
        let mut models = encoding.about().models.split(", ");
        models.any(|name| plain(name) == model)
    })
}

impl Encoding {
    /// Makes an encoding from the text of a rank file, and a pattern or the name of a known family.
    ///
    /// # Errors
    ///
    /// Fails if the name is not allowed, the file is not a vocabulary, or the pattern cannot be computed exactly.
    pub fn from_ranks(name: &str, ranks: &str, pattern: &str) -> Result<Self, EncodingError> {
        check_name(name)?;
        Ok(Self::own(CustomEncoding::from_ranks(name, ranks, pattern)?))
    }

    /// Makes an encoding from the bytes of a Hugging Face tokenizer file, a `SentencePiece` model or a `tekken.json`.
    ///
    /// # Errors
    ///
    /// Fails if the name is not allowed, the file is none of these, or it needs the `tokenizers` crate and this build does not have it.
    pub fn from_tokenizer(name: &str, file: impl AsRef<[u8]>) -> Result<Self, EncodingError> {
        check_name(name)?;
        Ok(Self::own(CustomEncoding::from_tokenizer(name, file.as_ref())?))
    }
}

/// Refuses a name that is not allowed, or that an encoding of the registry has.
fn check_name(name: &str) -> Result<(), EncodingError> {
    let is_plain = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '_');
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(EncodingError::Name(name.to_owned()));
    }
    match find(name) {
        Some(_) => Err(EncodingError::Taken(name.to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read their fixtures")]
mod tests {
    use std::path::Path;

    use super::*;

    #[derive(Debug)]
    struct Fixture {
        text: String,
        tokens: u64,
    }

    fn folder() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/encodings")
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn fixtures_of(encoding: &str) -> Vec<(String, Fixture)> {
        let folder = folder().join(encoding);
        let read = |name: String| {
            let json = std::fs::read_to_string(folder.join(&name)).unwrap();
            let json: serde_json::Value = serde_json::from_str(&json).unwrap();
            let text = json["text"].as_str().unwrap().to_owned();
            let tokens = json["tokens"].as_u64().unwrap();
            (name, Fixture { text, tokens })
        };
        names_in(&folder).into_iter().map(read).collect()
    }

    #[test]
    fn every_encoding_has_a_fixture_folder_and_every_folder_an_encoding() {
        let mut registered: Vec<_> = ENCODINGS
            .iter()
            .map(|encoding| encoding.name().to_owned())
            .collect();
        registered.sort();
        assert_eq!(names_in(&folder()), registered);
    }

    #[test]
    fn every_fixture_has_as_many_tokens_as_it_says() {
        for encoding in ENCODINGS {
            let fixtures = fixtures_of(encoding.name());
            assert!(fixtures.len() >= 8, "{} has few fixtures", encoding.name());
            for (name, fixture) in fixtures {
                let counted = encoding.counter().count(&fixture.text);
                assert_eq!(counted, fixture.tokens, "{} {name}", encoding.name());
            }
        }
    }

    #[test]
    fn an_encoding_has_as_many_tokens_as_its_description_says() {
        for encoding in ENCODINGS {
            let loaded = encoding.tables().unwrap().vocabulary.len();
            assert_eq!(
                loaded,
                encoding.about().vocabulary as usize,
                "{}",
                encoding.name()
            );
        }
    }

    #[test]
    fn an_encoding_is_found_by_its_name_and_loaded_once() {
        let encoding = find("cl100k_base").unwrap();
        assert_eq!(encoding.counter().name(), "cl100k_base");
        assert!(std::sync::Arc::ptr_eq(
            encoding.tables().unwrap(),
            encoding.tables().unwrap()
        ));
        assert!(find("cl100k").is_none());
    }
}
