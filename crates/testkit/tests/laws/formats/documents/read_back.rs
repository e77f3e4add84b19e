//! The source accepts every output of its dialect: without an error, or the rendering is invalid and names the rule.

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_dialect::{DIALECTS, Policy, View, auto_perspective};
use chatmill_testkit::conversations::{cases, read, reading};
use chatmill_testkit::losses::reader;

/// The errors of the source and the rules for a record.
fn errors(source: &str, text: &str) -> Vec<Finding> {
    let limits = Limits::default();
    let reading = reading(source, text, &limits);
    let mut findings = reading.findings;
    findings.extend(reading.error);
    findings.extend(reading.rejects.into_iter().map(|reject| reject.finding));
    let Some(conversation) = reading.conversation else {
        let nothing = Finding::new(&codes::WRONG_TYPE, "no conversation was read");
        findings.push(nothing.rejecting());
        return findings;
    };
    let (linked, found, _) = chatmill_link::link(conversation, &limits);
    findings.extend(found);
    chatmill_rule::check(&linked, &limits, &mut findings);
    findings.retain(|finding| finding.severity == Severity::Error);
    findings
}

#[test]
fn every_dialects_own_source_accepts_its_output() {
    let mut tried = 0;
    let mut refused = Vec::new();
    let silent =
        r#"{"version":"1.0.0","conversation_meta":{"name":"","user_details":{}},"conversation_list":[]}"#;
    let silent = ("nobody says anything".to_owned(), read("group-chat", silent));
    for (name, linked) in cases().into_iter().chain([silent]) {
        for dialect in DIALECTS {
            let about = dialect.about();
            for dialect in about.profiles {
                let spelled = format!("{dialect:?}");
                // Transcripts have no reader.
                let Some(source) = reader(dialect) else {
                    continue;
                };
                let policy = Policy::default();
                let view = View::whole(
                    &linked,
                    auto_perspective(&linked).filter(|_| !dialect.is_neutral()),
                    &policy,
                );
                dialect.render_each(&view, &mut |sink, rendering| {
                    if rendering.is_valid() {
                        tried += 1;
                        let mut text = sink.text().to_owned();
                        if source == "chatml" {
                            text = serde_json::json!({ "text": text }).to_string();
                        }
                        let found = errors(source, &text).into_iter();
                        let found = found.map(|finding| format!("{} {}", finding.code.name, finding.message));
                        let found: Vec<String> = found.collect();
                        if !found.is_empty() {
                            refused.push(format!("{name} {spelled}: {found:?}\n{text}"));
                        }
                    }
                });
            }
        }
    }
    let shortest = refused.iter().min_by_key(|refusal| refusal.len());
    assert!(refused.is_empty(), "{} of {tried}: {shortest:?}", refused.len());
    assert!(tried > 500, "{tried}");
}
