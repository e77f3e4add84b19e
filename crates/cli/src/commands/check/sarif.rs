//! `--format sarif`: a log in the Static Analysis Results Interchange Format, version 2.1.0.
//!
//! Code hosts bound the size of a log, so each rule has its first results only, and a notification says how many were left
//! out. Results stream out; the rules that they point to, in the order in which they were met, follow.

use std::collections::BTreeMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::codes;
use chatmill_engine::check::{Checked, Files};
use serde::Serialize;
use serde_json::{Value, json};

use super::report::{Report, Totals};
use crate::output::{self, Output};

/// Results of a rule that are written: with every rule at its bound, a log stays below the 25,000 results that code hosts
/// take.
const PER_RULE: u64 = 250;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The report.
pub(super) struct Sarif {
    out: Output,
    results: u64,
    rules: BTreeMap<&'static str, Rule>,
}

/// A rule that was met.
struct Rule {
    index: usize,
    written: u64,
    left: u64,
}

impl Sarif {
    /// A report into a sink.
    pub(super) fn new(out: Output) -> Self {
        Self {
            out,
            results: 0,
            rules: BTreeMap::new(),
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        write!(
            self.out,
            "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"columnKind\":\"unicodeCodePoints\",\"results\":["
        )
    }

    /// Codes in the order in which they were met.
    fn met(&self) -> Vec<(&'static str, &Rule)> {
        let mut met: Vec<_> = self.rules.iter().map(|(code, rule)| (*code, rule)).collect();
        met.sort_by_key(|(_, rule)| rule.index);
        met
    }
}

impl Report for Sarif {
    fn finding(&mut self, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let next = self.rules.len();
        let rule = self
            .rules
            .entry(checked.located.finding.code.code)
            .or_insert(Rule {
                index: next,
                written: 0,
                left: 0,
            });
        if rule.written >= PER_RULE {
            rule.left += row.count;
            return Ok(());
        }
        rule.written += 1;
        let outcome = Outcome::new(checked, row, rule.index);
        if self.results == 0 {
            self.begin()?;
        }
        self.out
            .write_all(if self.results == 0 { b"\n" } else { b",\n" })?;
        self.results += 1;
        self.out.write_all(output::json_line(&outcome)?.as_bytes())
    }

    fn end(&mut self, _files: &Files, _totals: &Totals) -> io::Result<()> {
        if self.results == 0 {
            self.begin()?;
        }
        let met = self.met();
        let rules: Vec<Value> = met.iter().filter_map(|(code, _)| descriptor(code)).collect();
        let notifications: Vec<Value> = met
            .iter()
            .filter(|(_, rule)| rule.left > 0)
            .map(|(code, rule)| left_out(code, rule))
            .collect();
        let tool = json!({"driver": {
            "name": "chatmill",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        }});
        let invocations = json!([{"executionSuccessful": true, "toolExecutionNotifications": notifications}]);
        write!(
            self.out,
            "\n],\n\"invocations\":{invocations},\n\"tool\":{tool}}}]}}\n"
        )?;
        self.out.flush()
    }
}

/// A finding.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'r> {
    rule_id: &'r str,
    rule_index: usize,
    level: &'r str,
    message: Message<'r>,
    locations: [Location<'r>; 1],
    partial_fingerprints: Fingerprints<'r>,
    occurrence_count: u64,
    properties: Properties<'r>,
}

#[derive(Serialize)]
struct Message<'r> {
    text: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'r> {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_locations: Option<[LogicalLocation<'r>; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Region::is_nowhere")]
    region: Region,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_length: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'r> {
    fully_qualified_name: &'r str,
}

#[derive(Serialize)]
struct Fingerprints<'r> {
    #[serde(rename = "chatmill/v1")]
    key: &'r str,
}

/// What the format has no place for.
#[derive(Serialize)]
struct Properties<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'r str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    table: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<&'r str>,
}

impl Region {
    fn is_nowhere(&self) -> bool {
        self.start_line.is_none() && self.byte_offset.is_none()
    }
}

impl<'r> Outcome<'r> {
    fn new(checked: &'r Checked, row: &'r FindingRow, rule_index: usize) -> Self {
        let uri = uri(row.input, row.entry);
        let region = Region {
            start_line: row.line_number,
            start_column: row.column_number,
            byte_offset: row.byte_start,
            byte_length: row
                .byte_start
                .zip(row.byte_end)
                .map(|(start, end)| end.saturating_sub(start)),
        };
        let path = row.json_path;
        Self {
            rule_id: row.code,
            rule_index,
            level: row.severity,
            message: Message { text: row.message },
            locations: [Location {
                physical_location: PhysicalLocation {
                    artifact_location: ArtifactLocation { uri },
                    region,
                },
                logical_locations: path.map(|path| {
                    [LogicalLocation {
                        fully_qualified_name: path,
                    }]
                }),
            }],
            partial_fingerprints: Fingerprints { key: row.key },
            occurrence_count: row.count,
            properties: Properties {
                conversation_id: row.conversation_id,
                message_id: row.message_id,
                table: &checked.table,
                record: row.record,
                dialect: checked.target.as_deref(),
            },
        }
    }
}

/// A rule with its page.
fn descriptor(code: &str) -> Option<Value> {
    let code = codes::find(code)?;
    Some(json!({
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": code.page.what},
        "fullDescription": {"text": code.page.why},
        "help": {"text": code.page.fix, "markdown": code.text},
        "defaultConfiguration": {"level": code.severity.as_str()},
    }))
}

fn left_out(code: &str, rule: &Rule) -> Value {
    json!({
        "level": "note",
        "message": {"text": format!("{code}: {} more were found; this log holds the first of each rule", rule.left)},
        "associatedRule": {"id": code, "index": rule.index},
    })
}

/// A path, and a member of an archive after `!/`, as a URI reference.
fn uri(path: &str, entry: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    } else if path.split('/').next().is_some_and(|first| first.contains(':')) {
        // A colon in the first segment would read as a scheme.
        out.push_str("./");
    }
    push_encoded(&mut out, path);
    if !entry.is_empty() {
        out.push_str("!/");
        push_encoded(&mut out, entry);
    }
    out
}

fn push_encoded(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:@+,=()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri("exports/a b#1.json", ""), "exports/a%20b%231.json");
        assert_eq!(
            uri("/srv/é.zip", "in/x.json"),
            "file:///srv/%C3%A9.zip!/in/x.json"
        );
        assert_eq!(uri("c:x/y.json", ""), "./c:x/y.json");
    }
}
