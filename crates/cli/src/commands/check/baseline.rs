//! `--baseline`: the findings of an earlier report, which are not reported again.

use std::path::Path;

use chatmill_engine::check::Known;
use serde::Deserialize;

use crate::exit::{WrongRequest, small_file};

/// The longest baseline, in bytes: about half a million findings.
const MAX_BASELINE_BYTES: u64 = 256 << 20;

/// A report of `--format json`, or one line of `--format jsonl`.
#[derive(Deserialize)]
struct Piece {
    findings: Option<Vec<Old>>,
    key: Option<String>,
    count: Option<u64>,
}

#[derive(Deserialize)]
struct Old {
    key: String,
    count: u64,
}

/// Reads a baseline.
pub(super) fn read(path: &Path) -> anyhow::Result<Known> {
    let name = path.display();
    let text = small_file(path, MAX_BASELINE_BYTES, |error| {
        refusal(format!("cannot read the baseline {name}: {error}"))
    })?;
    parse(&text)
        .map_err(|fault| refusal(format!("the baseline {name} is not a report of `check`: {fault}")).into())
}

fn refusal(message: String) -> WrongRequest {
    WrongRequest::new(message).then("write one with `chatmill check PATH --write jsonl=FILE`")
}

fn parse(text: &str) -> Result<Known, String> {
    let mut known = Known::default();
    for piece in serde_json::Deserializer::from_str(text).into_iter::<Piece>() {
        match piece.map_err(|error| error.to_string())? {
            Piece {
                findings: Some(findings),
                ..
            } => {
                for old in findings {
                    known.add(&old.key, old.count);
                }
            }
            Piece {
                key: Some(key),
                count: Some(count),
                ..
            } => known.add(&key, count),
            _ => return Err("a finding without `key` and `count`".to_owned()),
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let lines = "{\"key\":\"a\",\"count\":1}\n{\"key\":\"b\",\"count\":2,\"more\":null}\n";
        assert!(!parse(lines).unwrap().is_empty());
        let whole = r#"{"files": [], "findings": [{"key": "a", "count": 1}], "summary": {}}"#;
        assert!(!parse(whole).unwrap().is_empty());
    }

    #[test]
    fn a_check_without_findings_is_a_baseline_too() {
        assert!(parse("").unwrap().is_empty());
        assert!(
            parse(r#"{"findings":[],"files":[],"summary":{}}"#)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "{}",
            "[1]",
            "{\"key\":\"a\"}",
            "{\"findings\":[{}]}",
            "path,source\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
