//! Findings: one line per code, which opens to what it means, how to mend it, and where it was seen first.

use chatmill_diag::{Code, codes};

use super::end;
use super::found::{filters, found};
use super::markup::{Html, counted};
use crate::report::{FindingCode, Report, Sample};

pub(super) fn findings(html: &mut Html, report: &Report) {
    if report.findings.rows.is_empty() {
        html.raw("<p>Nothing was found.</p>");
        end(html, &report.findings);
        return;
    }
    html.raw("<p>Errors are what a format’s own consumer would refuse or what loses data; warnings are suspicious or ")
        .raw("repaired; notes are worth knowing. Open a line for its page and the first places.</p>\n");
    let known: Vec<&Code> = report
        .findings
        .rows
        .iter()
        .filter_map(|row| codes::find(&row.code))
        .collect();
    filters(html, &known);
    html.raw("<h3>By code</h3>");
    for finding in &report.findings.rows {
        code(html, finding);
    }
    if !report.found.is_empty() {
        html.raw("<h3>By input</h3>");
        found(html, &report.found);
    }
    end(html, &report.findings);
}

fn code(html: &mut Html, finding: &FindingCode) {
    html.raw("<details class=\"finding code\" data-code=\"")
        .text(&finding.code)
        .raw("\" id=\"code-")
        .text(&finding.code)
        .raw("\"><summary><code>")
        .text(&finding.code)
        .raw("</code><span>")
        .text(&finding.name)
        .raw("</span><span class=\"tally\">");
    for (number, noun, class) in [
        (finding.errors, "error", "<span class=\"error\">"),
        (finding.warnings, "warning", "<span class=\"warning\">"),
        (finding.notes, "note", "<span class=\"note\">"),
    ] {
        if number > 0 {
            html.raw(class).text(&counted(number, noun)).raw("</span>");
        }
    }
    html.raw("</span></summary>\n<div class=\"inside\">");
    let why = codes::find(&finding.code).map_or("", |code| code.page.why);
    for (lead, text) in [
        ("", finding.what.as_str()),
        ("", why),
        ("How to mend it: ", &finding.fix),
    ] {
        if !text.is_empty() {
            html.raw("<p>").raw(lead).prose(text).raw("</p>");
        }
    }
    html.raw("<ul class=\"samples\">");
    for sample in &finding.samples {
        html.raw("<li>").text(&sample.message);
        html.raw("<span class=\"place\">")
            .text(&place(sample))
            .raw("</span></li>");
    }
    html.raw("</ul><p><a href=\"#?code=")
        .text(&finding.code)
        .raw("\">Show it input by input</a></p></div></details>\n");
}

/// Where a finding was seen, as far as is known.
fn place(sample: &Sample) -> String {
    let member = Some(&sample.entry).filter(|entry| !entry.is_empty());
    let pieces = [
        Some(sample.input.clone()),
        member.map(|entry| format!(", {entry}")),
        sample.line_number.map(|line| format!(":{line}")),
        sample.column_number.map(|column| format!(":{column}")),
        sample.json_path.as_ref().map(|path| format!("  {path}")),
        sample.conversation_id.as_ref().map(|id| format!("  in {id}")),
    ];
    pieces.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_as_exact_as_the_finding() {
        let mut sample = Sample {
            input: "a.zip".to_owned(),
            entry: "b.json".to_owned(),
            ..Sample::default()
        };
        assert_eq!(place(&sample), "a.zip, b.json");
        sample.line_number = Some(3);
        sample.column_number = Some(9);
        sample.json_path = Some("$.x".to_owned());
        assert_eq!(place(&sample), "a.zip, b.json:3:9  $.x");
    }
}
