//! The registry of encodings: one file and one line each.

use crate::encoding::Encoding;

mod cl100k_base;
mod o200k_base;
mod o200k_harmony;
mod p50k_base;
mod r50k_base;

/// Every encoding, newest first.
pub static ENCODINGS: &[Encoding] = &[
    Encoding::registered(&o200k_base::ENCODING),
    Encoding::registered(&o200k_harmony::ENCODING),
    Encoding::registered(&cl100k_base::ENCODING),
    Encoding::registered(&p50k_base::ENCODING),
    Encoding::registered(&r50k_base::ENCODING),
];

/// The encoding of that name.
pub fn find(name: &str) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|encoding| encoding.name() == name)
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
