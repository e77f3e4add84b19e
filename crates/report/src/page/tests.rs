//! Hostile texts in the page of a report: content of chats remains text.

use chatmill_diag::{Severity, codes};
use serde_json::Value;

use super::page;
use crate::checked::{CheckedFile, ShownFinding};
use crate::report::{Report, RunTime};

/// A text that closes every open element and context of the page, and tries to run a script.
const ATTACK: &str = "</title></style></script></td><script>alert(1)</script><img src=x onerror=alert(2)>\" \
                      onmouseover=\"alert(3)' autofocus='<!--]]>&amp;\u{202e}javascript:alert(4)\0`<b>`";

/// Adds the data that only the page shows: findings of an input, and the time.
fn beside(report: &mut Report, text: &str) {
    let found = |key: &str| ShownFinding {
        code: &codes::INVALID_JSON,
        severity: Severity::Error,
        count: 1,
        key: key.to_owned(),
        place: text.to_owned(),
        json_path: Some(text.to_owned()),
        conversation: Some(text.to_owned()),
        message: text.to_owned(),
        excerpt: None,
    };
    report.found = vec![CheckedFile {
        path: text.to_owned(),
        errors: 2,
        codes: vec![(&codes::INVALID_JSON, 9)],
        findings: vec![found("1"), found("2")],
        ..CheckedFile::default()
    }];
    report.time = Some(RunTime {
        began_at: text.to_owned(),
        seconds: 65.0,
        resumed_slices: 1,
    });
}

/// A report with content in every part.
const FULL: &str = include_str!("full.json");

/// Replaces every text, and returns the number of texts.
fn fill(value: &mut Value, text: &str) -> usize {
    match value {
        Value::String(old) => {
            text.clone_into(old);
            1
        }
        Value::Array(values) => values.iter_mut().map(|value| fill(value, text)).sum(),
        Value::Object(fields) => fields.values_mut().map(|value| fill(value, text)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn filled(text: &str) -> (Report, usize) {
    let full: Report = serde_json::from_str(FULL).unwrap();
    let mut value = serde_json::to_value(full).unwrap();
    let fields = fill(&mut value, text);
    let mut report = serde_json::from_value(value).unwrap();
    beside(&mut report, text);
    (report, fields)
}

/// The tags of a page with their attributes, without text.
fn tags(html: &str) -> Vec<&str> {
    html.split('<')
        .skip(1)
        .map(|piece| piece.split_once('>').unwrap().0)
        .collect()
}

#[test]
fn text_in_any_field_is_escaped() {
    let (attacked, fields) = filled(ATTACK);
    let (harmless, _) = filled("x");
    assert!(fields > 60, "only {fields} fields are tried");
    let (attacked, harmless) = (page(&attacked, "n").unwrap(), page(&harmless, "n").unwrap());
    assert!(attacked.contains("&lt;img src=x onerror=alert(2)&gt;"));
    assert!(!attacked.contains('\u{202e}') && !attacked.contains('\0'));
    // Attributes contain texts, too, so only their names are compared.
    let names = |html: &str| -> Vec<String> {
        let without_values = |tag: &&str| tag.split('"').step_by(2).collect::<String>();
        tags(html).iter().map(without_values).collect()
    };
    // Backticks on the page of a rule become code elements, and two fields contain such pages.
    let spans = 2 * 2;
    let code = |names: &[String]| names.iter().filter(|name| name.ends_with("code")).count();
    let (attacked, harmless) = (names(&attacked), names(&harmless));
    assert_eq!(code(&attacked), code(&harmless) + spans);
    let rest = |names: Vec<String>| -> Vec<String> {
        names.into_iter().filter(|name| !name.ends_with("code")).collect()
    };
    assert_eq!(rest(attacked), rest(harmless));
}

#[test]
fn the_page_needs_nothing_from_anywhere() {
    let (report, _) = filled("x");
    let html = page(&report, "n").unwrap();
    for foreign in [
        "http://", "https://", "src=", "@import", "url(", "<link", "<iframe",
    ] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    assert!(html.contains("default-src 'none'"));
    assert_eq!(html.matches("<script nonce=\"n\">").count(), 1);
    assert_eq!(html.matches("<script").count(), 1);
}

#[test]
fn every_section_is_reached_by_its_link_and_every_id_is_there_once() {
    let (report, _) = filled("x");
    let html = page(&report, "n").unwrap();
    let (navigation, _) = html.split_once("</nav>").unwrap();
    let links = navigation.split("<li><a href=\"#").skip(1);
    let sections: Vec<&str> = links.map(|link| link.split('"').next().unwrap()).collect();
    assert_eq!(sections.len(), 16);
    for section in sections {
        assert_eq!(html.matches(&format!("<section id=\"{section}\"")).count(), 1);
        assert_eq!(html.matches(&format!(" id=\"{section}\"")).count(), 1);
        assert_eq!(html.matches(&format!("href=\"#{section}\"")).count(), 1);
    }
    assert!(html.contains("href=\"#main\"") && html.contains("id=\"main\""));
}

#[test]
fn an_input_leads_to_its_findings_and_a_finding_to_its_page() {
    let (mut report, _) = filled("x");
    report.findings.rows[0].code = "IN001".to_owned();
    let html = page(&report, "n").unwrap();
    for (link, target) in [
        ("<a href=\"#file-1\">x</a>", "id=\"file-1\""),
        ("<a href=\"#code-IN001\">", "id=\"code-IN001\""),
        ("<a href=\"#?code=IN001\">", "data-code=\"IN001\""),
    ] {
        assert!(html.contains(link) && html.contains(target), "{link}");
    }
    assert!(html.contains("in 1 min 5 s after earlier attempts"));
    assert!(
        html.contains("Nothing in such a record can be trusted"),
        "why it matters"
    );
}

#[test]
fn equal_runs_have_one_line_that_differs() {
    let (report, _) = filled("x");
    let mut later = report.clone();
    later.time = Some(RunTime {
        began_at: "2026-11-23T02:15:00Z".to_owned(),
        ..RunTime::default()
    });
    let lines = |report: &Report| -> Vec<String> {
        let html = page(report, "n").unwrap();
        html.lines().map(str::to_owned).collect()
    };
    let (one, other) = (lines(&report), lines(&later));
    let different: Vec<_> = one
        .iter()
        .zip(&other)
        .filter(|(one, other)| one != other)
        .collect();
    assert_eq!((one.len(), different.len()), (other.len(), 1));
    assert_eq!(
        different[0].1,
        "<p class=\"when\">Run on 2026-11-23 at 02:15 UTC, in 0.0 s.</p>"
    );
}

#[test]
fn without_counts_the_largest_conversations_are_those_of_the_most_characters() {
    let (mut report, _) = filled(ATTACK);
    report.dearest = None;
    report.money.clear();
    let html = page(&report, "n").unwrap();
    assert!(html.contains("Conversations by characters of text") && !html.contains("id=\"money\""));
    assert!(!html.contains("<img"));
}

#[test]
fn an_empty_report_is_a_page_too() {
    let html = page(&Report::default(), "n").unwrap();
    // The script, which contains such words, follows it.
    let (shown, _) = html.split_once("<script").unwrap();
    assert!(!shown.contains("NaN") && !shown.contains(">inf<"));
    assert!(!html.contains("id=\"comparison\""));
    assert!(html.ends_with("</html>\n"));
}

#[test]
fn days_without_a_message_are_a_gap_in_the_plot() {
    let mut report: Report = serde_json::from_str(FULL).unwrap();
    let html = page(&report, "n").unwrap();
    for shown in [
        "Messages a day, in UTC<small>none on 2 of 4 days",
        "<title>2026-03-02: 3</title>",
        "<title>2026-03-03: 0</title>",
        ">03-05</text>",
    ] {
        assert!(html.contains(shown), "{shown}");
    }
    report.days.rows[0].day = "2021-03-02".to_owned();
    let html = page(&report, "n").unwrap();
    assert!(
        html.contains("Messages in 10 days") && html.contains("<title>2021-03-02 to 2021-03-11: 3</title>")
    );
    report.days.rows.truncate(1);
    assert!(!page(&report, "n").unwrap().contains("Messages by day"));
}

#[test]
fn every_row_has_a_cell_for_every_column() {
    let (report, _) = filled("x");
    let html = page(&report, "n").unwrap();
    let tables: Vec<&str> = html.split("<table>").skip(1).collect();
    assert!(tables.len() > 12);
    for table in tables {
        let (head, body) = table.split_once("</thead>").unwrap();
        let columns = head.matches("<th ").count();
        let body = body.split("</table>").next().unwrap();
        let rows = body
            .split("<tr")
            .skip(1)
            .filter(|row| !row.starts_with(" class=\"group\""));
        for row in rows {
            let cells = row.matches("<th ").count() + row.matches("<td").count();
            assert_eq!(cells, columns, "{row}");
        }
    }
}
