//! `--baseline`: the findings of an earlier report, which are not reported again.

use std::path::Path;

use chatmill_engine::check::Known;
use serde::Deserialize;

use crate::exit::{CommandError, Outcome, small_file};

/// The size limit of a baseline, in bytes: about half a million findings.
const MAX_BASELINE_BYTES: u64 = 256 << 20;

/// The object of `--format json`, or a line of `--format jsonl`.
#[derive(Deserialize)]
struct BaselinePiece {
    findings: Option<Vec<Old>>,
    key: Option<String>,
    count: Option<u64>,
}

#[derive(Deserialize)]
struct Old {
    key: String,
    count: u64,
}

/// Reads the findings of an earlier report.
pub(super) fn read(path: &Path) -> Outcome<Known> {
    let name = path.display();
    let text = small_file(path, MAX_BASELINE_BYTES, |error| {
        refusal(format!("cannot read the baseline {name}: {error}"))
    })?;
    parse(&text).map_err(|error| refusal(format!("the baseline {name} is not a report of `check`: {error}")))
}

fn refusal(message: String) -> CommandError {
    CommandError::request(message).then("write one with `chatmill check PATH --write jsonl=FILE`")
}

fn parse(text: &str) -> Result<Known, String> {
    let mut known = Known::default();
    let mut add = |key: &str, count| {
        if is_key(key) {
            known.add(key, count);
            return Ok(());
        }
        let shown: String = key.chars().take(40).collect();
        Err(format!(
            "its key `{shown}` is from another version and would match no finding"
        ))
    };
    for piece in serde_json::Deserializer::from_str(text).into_iter::<BaselinePiece>() {
        match piece.map_err(|error| error.to_string())? {
            BaselinePiece {
                findings: Some(findings),
                ..
            } => {
                for old in findings {
                    add(&old.key, old.count)?;
                }
            }
            BaselinePiece {
                key: Some(key),
                count: Some(count),
                ..
            } => add(&key, count)?,
            _ => return Err("a finding without `key` and `count`".to_owned()),
        }
    }
    Ok(known)
}

/// Whether a key has the form of [`Checked::key`](chatmill_engine::check::Checked::key).
fn is_key(key: &str) -> bool {
    key.len() == 16 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_and_a_jsonl_report_are_baselines() {
        let lines = "{\"key\":\"0123456789abcdef\",\"count\":1}\n\
                     {\"key\":\"0123456789abcde0\",\"count\":2,\"more\":null}\n";
        assert!(!parse(lines).unwrap().is_empty());
        let whole = r#"{"files": [], "findings": [{"key": "0123456789abcdef", "count": 1}], "summary": {}}"#;
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
    fn json_without_keys_and_counts_and_csv_are_no_baseline() {
        for text in [
            "{}",
            "[1]",
            "{\"key\":\"0123456789abcdef\"}",
            "{\"findings\":[{}]}",
            "path,source\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_of_another_version_are_refused() {
        for key in [
            "0123456789abcde",
            "0123456789abcdef0",
            "0123456789ABCDEF",
            "v2-0123456789abc",
        ] {
            let line = format!("{{\"key\":\"{key}\",\"count\":1}}\n");
            let refused = parse(&line).unwrap_err();
            assert!(refused.contains(key) && refused.contains("version"), "{refused}");
        }
    }
}
