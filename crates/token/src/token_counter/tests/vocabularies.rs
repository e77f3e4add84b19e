//! Counts with real vocabularies, which are not in this repository, and compares with Python: `just vocabularies` fetches them.
#![allow(clippy::disallowed_methods, reason = "a test reads what was fetched for it")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Encoding, TokenCounter};

#[test]
#[ignore = "needs CHATMILL_VOCABULARIES, the folder that .ci/vocabularies/vocabularies.py writes"]
fn real_vocabularies_count_as_python_does() {
    let folder = PathBuf::from(std::env::var_os("CHATMILL_VOCABULARIES").unwrap());
    let names = names_before(&folder, ".cases.jsonl");
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        check(&folder, &name);
    }
}

/// The files of a folder with this ending, without it.
pub(super) fn names_before(folder: &Path, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter_map(|name| name.strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn check(folder: &Path, name: &str) {
    let read = |ending: &str| std::fs::read_to_string(folder.join(format!("{name}.{ending}")));
    let cases = read("cases.jsonl").unwrap();
    let mut cases = cases
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = cases.next().unwrap();
    let encoding = match read("tiktoken") {
        Ok(ranks) => Encoding::from_ranks(name, &ranks, head["pattern"].as_str().unwrap()),
        Err(_) => Encoding::from_tokenizer(name, read("tokenizer.json").unwrap()),
    };
    let encoding = encoding.unwrap();
    let counter = encoding.counter();
    let mut batched = TokenCounter::new(std::slice::from_ref(&encoding));
    let (mut texts, mut tokens) = (0, 0);
    for case in cases {
        let text = case["text"].as_str().unwrap();
        let expected = case["tokens"].as_u64().unwrap();
        assert_eq!(counter.count(text), expected, "{name} on {text:?}");
        assert_eq!(
            batched.count(text),
            [expected],
            "{name} on {text:?} by the token counter"
        );
        texts += 1;
        tokens += expected;
    }
    let about = encoding.about();
    println!(
        "{name} ({}; {}): {texts} texts, {tokens} tokens, 0 differences",
        about.source,
        about.counting.as_str()
    );
}

#[test]
#[ignore = "needs CHATMILL_FAMILIES, the folder that .ci/vocabularies/families.py writes"]
fn configurations_of_families_count_as_python_does() {
    let folder = PathBuf::from(std::env::var_os("CHATMILL_FAMILIES").unwrap());
    let texts = std::fs::read_to_string(folder.join("texts.jsonl")).unwrap();
    let texts: Vec<String> = texts
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names = names_before(&folder, ".counts");
    assert!(names.len() >= 25, "{names:?}");
    let differing: usize = names.iter().map(|name| differences(&folder, name, &texts)).sum();
    assert_eq!(differing, 0);
}

/// The number of texts with another count than in Python, by the counter, the token counter or the reference.
pub(super) fn differences(folder: &Path, name: &str, texts: &[String]) -> usize {
    let read = |ending: &str| std::fs::read(folder.join(format!("{name}.{ending}")));
    let file = read("tokenizer.json").or_else(|_| read("model")).unwrap();
    let counts = String::from_utf8(read("counts").unwrap()).unwrap();
    let encoding = Encoding::from_tokenizer("family", &file).unwrap();
    let (counter, reference) = (encoding.counter(), encoding.reference());
    let mut batched = TokenCounter::new(std::slice::from_ref(&encoding));
    let mut differing = 0;
    assert_eq!(texts.len(), counts.lines().count(), "{name}");
    for (number, (text, expected)) in texts.iter().zip(counts.lines()).enumerate() {
        let expected: u64 = expected.parse().unwrap();
        let found = [counter.count(text), batched.count(text)[0]];
        let judged = (number % 10 == 0).then(|| reference.count(text)).flatten();
        if found != [expected; 2] || judged.is_some_and(|judged| judged != expected) {
            differing += 1;
            if differing < 4 {
                println!("{name}: {found:?}, judged {judged:?}, in Python {expected}: {text:?}");
            }
        }
    }
    let about = encoding.about();
    println!(
        "{name} ({}; {}): {} texts, {differing} differences",
        about.source,
        about.counting.as_str(),
        texts.len()
    );
    differing
}
