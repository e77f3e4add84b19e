//! Compares patterns with what Python's tokenizers make of them, as recorded by `.ci/vocabularies/oniguruma.py`.
//!
//! With `CHATMILL_PATTERNS`, a different recording is read.
#![allow(clippy::disallowed_methods, reason = "tests read their fixtures")]

use std::path::{Path, PathBuf};

use regex_syntax::hir::Class;

use super::*;
use crate::split::patterns::{DEEPSEEK, FAMILIES, TEKKEN, finder};

fn recorded(name: &str) -> String {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/oniguruma");
    let folder = std::env::var_os("CHATMILL_PATTERNS").map_or(sample, PathBuf::from);
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn json_lines<T: serde::de::DeserializeOwned>(name: &str) -> Vec<T> {
    let read = |line| serde_json::from_str(line).unwrap();
    recorded(name).lines().map(read).collect()
}

/// The bytes of the pieces of each text.
fn pieces(pattern: &str, texts: &[String]) -> Result<Vec<String>, PatternError> {
    let finder = finder(&translated(pattern)?)?;
    let cut = |text: &String| {
        let mut bytes = Vec::new();
        finder.each(text, &mut |range, _| bytes.push(range.len().to_string()));
        bytes.join(" ")
    };
    Ok(texts.iter().map(cut).collect())
}

#[test]
fn a_pattern_that_is_read_cuts_texts_as_python_does() {
    let texts: Vec<String> = json_lines("texts.jsonl");
    let (mut read, mut wrong) = (0, Vec::new());
    for (pattern, expected) in json_lines::<(String, Option<Vec<String>>)>("patterns.jsonl") {
        // A pattern that Python refuses has no count that could be wrong.
        let (Ok(found), Some(expected)) = (pieces(&pattern, &texts), expected) else {
            continue;
        };
        read += 1;
        for (text, (found, expected)) in texts.iter().zip(found.iter().zip(&expected)) {
            if found != expected {
                wrong.push(format!("{pattern:?} on {text:?}: {found}, in Python {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read >= 250, "{read} patterns are read");
}

/// The size of a set of characters, and FNV-1a of their numbers.
fn size_and_hash(pattern: &str) -> (usize, u64) {
    let parsed = regex_syntax::parse(pattern).unwrap();
    let characters: Vec<char> = match parsed.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.iter().flat_map(|range| range.start()..=range.end());
            ranges.collect()
        }
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).unwrap().chars().collect(),
        other => panic!("{pattern} is no set: {other:?}"),
    };
    let hash = characters
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, character| {
            (hash ^ u64::from(*character)).wrapping_mul(0x0100_0000_01b3)
        });
    (characters.len(), hash)
}

#[test]
fn a_set_that_is_read_has_the_characters_that_it_has_in_python() {
    let mut read = 0;
    for line in recorded("sets.tsv").lines() {
        let [pattern, size, hash] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let Some(translation) = translated(pattern).ok().filter(|text| finder(text).is_ok()) else {
            continue;
        };
        let (found, sum) = size_and_hash(&translation);
        assert_eq!(
            (found.to_string().as_str(), format!("{sum:016x}").as_str()),
            (size, hash),
            "{pattern}"
        );
        read += 1;
    }
    assert!(read >= 140, "{read} sets are read");
}

#[test]
fn a_published_pattern_stays_byte_for_byte() {
    let spellings = FAMILIES.iter().flat_map(|family| family.spellings);
    let published = spellings
        .copied()
        .filter(|spelling| *spelling != CL100K.published());
    let others = [
        TEKKEN,
        r" ?[^(\s|[.,!?…。，、।۔،])]+",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        r"\s+|\d{1,3}|.|\D|\S|\n\t\r",
        r"\p{L}|\P{Lu}|\p{Uppercase Letter}|\p{Han}|[\p{N}\p{P}]",
        r"[a-z&&[^aeiou]]|[-a]|[a-]|[]a]|[^]a]|[a-b-c]|[\-\]\\]",
        r"(?i:'s|'t|’s)|(?-i:é)|(?:a)|(b)|(?=a)|(?!a)|(?<=a)|(?<!a)|(?>a)",
        r"x{2}|x{2,}|x{2,3}|x{2,3}?|x*?|x+?|x??|x++",
        r"\x41|\x{e9}|\u00e9|\'|\-| |]|}|-|&|~|#",
    ];
    for pattern in published.chain(DEEPSEEK).chain(others) {
        assert_eq!(translated(pattern).as_deref(), Ok(pattern));
    }
}

#[test]
fn what_has_an_exact_equivalent_is_written_as_that() {
    for (pattern, expected) in [
        (r"\w", r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾]"),
        (r"[^\w]", r"[^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]]"),
        (r"\H", r"[^0-9A-Fa-f]"),
        (r"[[:punct:]]", r"[[\p{P}\p{S}]]"),
        (r"[[:^upper:]x]", r"[[^\p{Uppercase}]x]"),
        (r"(?m:.)", r"(?s:.)"),
        (r"(?m-i)a|b", r"(?s-i)a|b"),
        (r"[!~~a]", r"[!~\~a]"),
        (r"(ab){2}?c", r"(?:(ab){2})?c"),
        (r"a[bc]{1,3}+", r"a(?:[bc]{1,3})+"),
        (r"\p{N}{,2}x", r"\p{N}{0,2}x"),
        (r"\<\>\…", r"<>…"),
    ] {
        assert_eq!(translated(pattern).as_deref(), Ok(expected), "{pattern}");
    }
}

#[test]
fn what_only_oniguruma_computes_is_refused_by_name() {
    for (pattern, named) in [
        (CL100K.published(), "`$` at byte 93"),
        (r"a\Rb", r"`\R` at byte 1"),
        (r"\X", r"`\X`"),
        (r"a\Kb", r"`\K`"),
        (r"\bx", r"`\b`"),
        (r"x\B", r"`\B`"),
        (r"^x", "`^`"),
        (r"x\Z", r"`\Z`"),
        (r"(x)\1", r"`\1`"),
        (r"\k<n>", r"`\k`"),
        (r"\N\O", r"`\N`"),
        (r"[\b]", r"`\b`"),
        (r"\pL", r"`\pL`"),
        (r"\p{^L}", r"`\p{`"),
        (r"\p{gc=Lu}", r"`\p{gc`"),
        (r"\p{isLu}", r"`\p{isLu}`"),
        (r"\xe9", r"`\xe9`"),
        (r"\u{e9}", r"`\u`"),
        (r"(?~x)", "`(?~`"),
        (r"(?(x)y)", "`(?(`"),
        (r"(?<n>x)", "`(?<`"),
        (r"(?P<n>x)", "`(?P`"),
        (r"(?#x)", "`(?#`"),
        (r"(?x:x)", "`(?x`"),
        (r"(?s:x)", "`(?s`"),
        (r"(?W:\w)", "`(?W`"),
        (r"(*FAIL)", "`(*`"),
        (r"a(?m).", "`(?m)` at byte 1"),
        (r"(?:(?i)a|b)", "`(?i)`"),
        (r"[a--b]", "`-` at byte 2"),
        (r"[--a]", "`-` at byte 1"),
        (r"[!-&&a]", "`-`"),
        (r"[a-[b]]", "`-`"),
        (r"[[:alfa:]]", "`[:alfa"),
        (r"[a", "`[a`"),
        (r"x{", "`{`"),
        (r"x{,}", "`{,}`"),
        (r"(?i:ss)", "`ss` under the flag `i` at byte 4"),
        (r"(?i:S(?:t))", "`S(?:t` under the flag `i`"),
        (r"(?i)é", "`é` under"),
        (r"(?i:[ß])", "`ß` under"),
        (r"(?i:\w)", r"`\w` under"),
        (r"(?i:\p{Lu})", r"`\p{Lu}` under"),
        (r"(?i:[^a])", "`[^` under"),
        (r"(?i:[[:upper:]])", "`[:upper:]` under"),
        (r"(?i:[a&&b])", "`&` under"),
        (r"(x?)*y", "repeats a part that may be empty"),
        (r"(?:x|[^\s\S]){2}", "repeats a part that may be empty"),
    ] {
        let refused = translated(pattern).unwrap_err().to_string();
        assert!(refused.contains(named), "{pattern}: {refused}");
    }
    // Case matters again after the end of a group.
    assert!(translated(r"(?i:a(?-i:ß)b)ss|(?i:s)\p{L}s").is_ok());
}

/// Brackets are read in a loop, and groups are kept in a list.
#[test]
fn openings_without_an_end_need_no_stack() {
    for opening in ["[", "(", "(?i:", "[^", r"\p{"] {
        let _ = translated(&opening.repeat(16 * 1024 / opening.len()));
    }
}
