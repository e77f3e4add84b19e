//! `--format sarif`: a log in the Static Analysis Results Interchange Format, version 2.1.0.
//!
//! Code hosts limit the size of a log, so only the first results of each rule are written, and a notification has the number of the others.
//! Results are written as they come; the rules, to which they point by index, follow in the order of their first result.

use std::collections::BTreeMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Code;
use chatmill_engine::check::{Checked, Files};
use serde_json::{Value, json};

use super::report::{Report, Totals};
use crate::output::json_line;

/// The number of results of a rule that are written: even if every rule reaches it, the log has fewer than the 25,000 results that code
/// hosts accept.
const PER_RULE: u64 = 250;

/// The text before the results.
const BEGIN: &str = "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\
                     \"version\":\"2.1.0\",\"runs\":[{\"columnKind\":\"unicodeCodePoints\",\"results\":[";

/// The report of `--format sarif`, with the rules so far.
#[derive(Default)]
pub(super) struct Sarif(BTreeMap<&'static str, Rule>);

/// A rule that has results.
struct Rule {
    code: &'static Code,
    index: usize,
    written: u64,
    left: u64,
}

impl Report for Sarif {
    fn finding(&mut self, out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let begin = if self.0.is_empty() { BEGIN } else { "," };
        let code = checked.located.finding.code;
        let index = self.0.len();
        let rule = self.0.entry(code.code).or_insert(Rule {
            code,
            index,
            written: 0,
            left: 0,
        });
        if rule.written >= PER_RULE {
            rule.left += row.count;
            return Ok(());
        }
        rule.written += 1;
        write!(out, "{begin}\n{}", json_line(&result(checked, row, rule.index))?)
    }

    fn end(&mut self, out: &mut dyn Write, _files: &Files, _totals: &Totals) -> io::Result<()> {
        let begin = if self.0.is_empty() { BEGIN } else { "" };
        let mut met: Vec<&Rule> = self.0.values().collect();
        met.sort_by_key(|rule| rule.index);
        let left = met.iter().filter(|rule| rule.left > 0);
        let notifications: Vec<Value> = left.map(|rule| rule.left_out()).collect();
        let tool = json!({"driver": {
            "name": "chatmill",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": met.iter().map(|rule| rule.descriptor()).collect::<Vec<_>>(),
        }});
        let invocations = json!([{"executionSuccessful": true, "toolExecutionNotifications": notifications}]);
        writeln!(
            out,
            "{begin}\n],\n\"invocations\":{invocations},\n\"tool\":{tool}}}]}}"
        )
    }
}

impl Rule {
    /// The rule, with its page, as the format describes it.
    fn descriptor(&self) -> Value {
        let code = self.code;
        json!({
            "id": code.code,
            "name": code.name,
            "shortDescription": {"text": code.page.what},
            "fullDescription": {"text": code.page.why},
            "help": {"text": code.page.fix, "markdown": code.text},
            "defaultConfiguration": {"level": code.severity.as_str()},
        })
    }

    fn left_out(&self) -> Value {
        let (code, left) = (self.code.code, self.left);
        json!({
            "level": "note",
            "message": {"text": format!("{code}: {left} more were found; this log holds the first of each rule")},
            "associatedRule": {"id": code, "index": self.index},
        })
    }
}

/// A finding; fields that the format does not have are in `properties`.
fn result(checked: &Checked, row: &FindingRow, rule: usize) -> Value {
    let bytes = row.byte_start.zip(row.byte_end);
    let region = json!({
        "startLine": row.line_number,
        "startColumn": row.column_number,
        "byteOffset": row.byte_start,
        "byteLength": bytes.map(|(start, end)| end.saturating_sub(start)),
    });
    let is_somewhere = row.line_number.is_some() || row.byte_start.is_some();
    let location = json!({
        "physicalLocation": known(json!({
            "artifactLocation": {"uri": uri(row.input, row.entry)},
            "region": is_somewhere.then(|| known(region)),
        })),
        "logicalLocations": row.json_path.map(|path| json!([{"fullyQualifiedName": path}])),
    });
    let properties = json!({
        "conversation_id": row.conversation_id,
        "message_id": row.message_id,
        "table": Some(&checked.table).filter(|table| !table.is_empty()),
        "record": row.record,
        "dialect": checked.target,
    });
    json!({
        "ruleId": row.code,
        "ruleIndex": rule,
        "level": row.severity,
        "message": {"text": row.message},
        "locations": [known(location)],
        "partialFingerprints": {"chatmill/v1": row.key},
        "occurrenceCount": row.count,
        "properties": known(properties),
    })
}

/// An object without its null fields.
fn known(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// A path, and the member of an archive after `!/`, as a URI reference.
fn uri(path: &str, entry: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    } else if path.split('/').next().is_some_and(|first| first.contains(':')) {
        // A colon in the first segment would end a scheme.
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
