//! Golden files: what a test expects byte for byte, written anew by `BLESS=1`.
//!
//! It depends on nothing, so that the tests of every crate can have it without building the others.
#![allow(
    clippy::panic,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    reason = "an assertion for tests"
)]

use std::fs;
use std::path::Path;

/// Characters of a differing line that are shown from the difference on.
const SHOWN: usize = 200;

/// Whether golden files are to be written instead of compared.
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Asserts that a file holds exactly this text; with `BLESS=1`, writes the file. The message of a failure shows the first
/// difference alone: the whole of both would fill the screen.
#[track_caller]
pub fn assert_golden(path: &Path, actual: &str) {
    let settled = if is_blessing() {
        fs::write(path, actual).map_err(|error| error.to_string())
    } else {
        compare(path, actual)
    };
    if let Err(message) = settled {
        panic!("{}: {message}", path.display());
    }
}

fn compare(path: &Path, actual: &str) -> Result<(), String> {
    let expected = fs::read_to_string(path).map_err(|error| format!("{error}; BLESS=1 writes it"))?;
    if expected == actual {
        return Ok(());
    }
    Err(format!(
        "{}; BLESS=1 writes it again",
        difference(&expected, actual)
    ))
}

/// The number of the first line that differs, and both lines from the difference on.
fn difference(expected: &str, actual: &str) -> String {
    let same = expected
        .chars()
        .zip(actual.chars())
        .take_while(|(one, other)| one == other);
    let (mut line, mut column, mut bytes) = (1, 1, 0);
    for (character, _) in same {
        bytes += character.len_utf8();
        column += 1;
        if character == '\n' {
            (line, column) = (line + 1, 1);
        }
    }
    let rest = |text: &str| -> String {
        let rest = text.get(bytes..).unwrap_or_default();
        let shown: String = rest
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(SHOWN)
            .collect();
        format!("{shown:?}")
    };
    format!(
        "{line}:{column}: expected {}, found {}",
        rest(expected),
        rest(actual)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_with_its_place() {
        assert_eq!(
            difference("one\nzwei\nthree", "one\nzwölf\nthree"),
            r#"2:3: expected "ei", found "ölf""#
        );
        assert_eq!(difference("a", "a\n"), r#"1:2: expected "", found """#);
        assert_eq!(difference("", "a"), r#"1:1: expected "", found "a""#);
    }

    #[test]
    fn only_the_very_bytes_are_the_golden_ones() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
        assert_eq!(compare(&path, include_str!("lib.rs")), Ok(()));
        let fault = compare(&path, "//! Golden\n").unwrap_err();
        assert!(fault.starts_with("1:11: expected \" files:"), "{fault}");
        assert!(fault.ends_with("found \"\"; BLESS=1 writes it again"), "{fault}");
        let fault = compare(&path.with_extension("missing"), "").unwrap_err();
        assert!(fault.ends_with("; BLESS=1 writes it"), "{fault}");
    }
}
