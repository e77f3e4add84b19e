//! Findings file by file, with filters by code, file and severity. Every finding has an address of its own.

use std::collections::BTreeMap;

use chatmill_diag::{Code, Severity};

use super::markup::{Html, counted};
use crate::judged::{JudgedFile, ShownFinding};

/// Files with findings that are open when the page is.
const OPEN: usize = 50;

/// What filters and findings look like.
pub(crate) const FOUND_STYLE: &str = include_str!("found.css");
/// What filters do.
pub(crate) const FOUND_SCRIPT: &str = include_str!("found.js");

/// A form that picks findings by severity, code and file; what it picks stands in the address.
pub(crate) fn filters(html: &mut Html, codes: &[&Code]) {
    html.raw("<form class=\"filters\" aria-label=\"Filters\"><label>Severity<select name=\"severity\">")
        .raw("<option value=\"\">all</option><option value=\"error\">errors</option>")
        .raw("<option value=\"warning\">warnings</option><option value=\"note\">notes</option></select></label>")
        .raw("<label>Code<select name=\"code\"><option value=\"\">all</option>");
    for code in codes {
        html.raw("<option value=\"").text(code.code).raw("\">");
        html.text(code.code).raw(" ").text(code.name).raw("</option>");
    }
    html.raw("</select></label><label>File<input name=\"file\" type=\"search\" placeholder=\"part of a path\"></label>")
        .raw("<output aria-live=\"polite\"></output></form>\n");
}

/// The findings, file by file.
pub(crate) fn found(html: &mut Html, files: &[JudgedFile]) {
    let found = files
        .iter()
        .zip(1_u64..)
        .filter(|(file, _)| !file.codes.is_empty());
    let mut keys = BTreeMap::new();
    for (place, (file, number)) in found.enumerate() {
        html.raw("<details class=\"finding file\" data-path=\"")
            .text(&file.path);
        html.raw("\" id=\"file-").text(&number.to_string());
        html.raw(if place < OPEN { "\" open>" } else { "\">" });
        html.raw("<summary><span>").text(&file.path).raw("</span>");
        tally(html, file);
        html.raw("</summary>\n<ul class=\"samples\">");
        for finding in &file.findings {
            one(html, finding, &mut keys);
        }
        for (code, _) in &file.codes {
            let left = file.left_out(code);
            if left > 0 {
                html.raw("<li class=\"quiet\">and ")
                    .count(left)
                    .raw(" more of ")
                    .text(code.code)
                    .raw("</li>");
            }
        }
        html.raw("</ul></details>\n");
    }
}

fn tally(html: &mut Html, file: &JudgedFile) {
    html.raw("<span class=\"tally\">");
    for (number, noun, class) in [
        (file.errors, "error", "<span class=\"error\">"),
        (file.warnings, "warning", "<span class=\"warning\">"),
        (file.notes, "note", "<span class=\"note\">"),
    ] {
        if number > 0 {
            html.raw(class).text(&counted(number, noun)).raw("</span>");
        }
    }
    html.raw("</span>");
}

/// A finding; `keys` counts those that bear the same key.
fn one(html: &mut Html, finding: &ShownFinding, keys: &mut BTreeMap<String, u64>) {
    let number = keys.entry(finding.key.clone()).or_default();
    *number += 1;
    let id = match *number {
        1 => format!("at-{}", finding.key),
        number => format!("at-{}-{number}", finding.key),
    };
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    html.raw("<li id=\"")
        .text(&id)
        .raw("\" data-code=\"")
        .text(finding.code.code);
    html.raw("\" data-severity=\"")
        .raw(severity)
        .raw("\"><a class=\"link\" href=\"#")
        .text(&id);
    html.raw("\" aria-label=\"Link to this finding\">#</a> <span class=\"")
        .raw(severity)
        .raw("\">");
    html.raw(severity)
        .raw("</span> <a href=\"#code-")
        .text(finding.code.code)
        .raw("\"><code>")
        .text(finding.code.code)
        .raw("</code></a> ");
    html.text(&finding.message);
    if finding.count > 1 {
        html.raw(" (").count(finding.count).raw(" times)");
    }
    let path = finding.json_path.as_deref().filter(|path| *path != "$");
    let within = finding.conversation.as_ref().map(|id| format!("in {id}"));
    let pieces = [Some(finding.place.as_str()), path, within.as_deref()];
    let pieces: Vec<&str> = pieces
        .into_iter()
        .flatten()
        .filter(|piece| !piece.is_empty())
        .collect();
    html.raw("<span class=\"place\">")
        .text(&pieces.join("  "))
        .raw("</span></li>\n");
}
