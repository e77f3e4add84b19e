//! Real vocabularies, which this repository does not hold, counted here and by Python: `just vocabularies` fetches them.
#![allow(clippy::disallowed_methods, reason = "a test reads what was fetched for it")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Encoding, TokenCounter};

#[test]
#[ignore = "needs CHATMILL_VOCABULARIES, the folder that .ci/vocabularies/vocabularies.py writes"]
fn real_vocabularies_count_as_python_does() {
    let folder = PathBuf::from(std::env::var_os("CHATMILL_VOCABULARIES").unwrap());
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".cases.jsonl").map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        check(&folder, &name);
    }
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
        Err(_) => Encoding::from_tokenizer(name, &read("tokenizer.json").unwrap()),
    };
    let encoding = encoding.unwrap();
    let counter = encoding.counter();
    let mut tallier = TokenCounter::new(std::slice::from_ref(&encoding));
    let (mut texts, mut tokens) = (0, 0);
    for case in cases {
        let text = case["text"].as_str().unwrap();
        let expected = case["tokens"].as_u64().unwrap();
        assert_eq!(counter.count(text), expected, "{name} on {text:?}");
        assert_eq!(
            tallier.count(text),
            [expected],
            "{name} on {text:?} by the tallier"
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
