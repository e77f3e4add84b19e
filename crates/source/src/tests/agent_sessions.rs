//! Lines of coding agents: whose a line is, and which session one begins.

use crate::{CLAUDE_CODE, CODEX, OTEL_GENAI, Source};
use chatmill_intake::json;

fn keys(source: &dyn Source, line: &str) -> Option<Vec<Vec<String>>> {
    let document = json::scan(line.as_bytes(), 64).unwrap();
    let rows = source.rows(&document)?;
    Some(rows.into_iter().map(|row| row.keys).collect())
}

#[test]
fn a_line_is_its_sessions_or_its_agents_or_everybodys() {
    let key = |line: &str| keys(&CLAUDE_CODE, line).map(|rows| rows.concat());
    let owned = |key: &str| Some(vec![key.to_owned()]);
    assert_eq!(key(r#"{"type":"user","sessionId":"s","message":{}}"#), owned("s"));
    assert_eq!(
        key(r#"{"type":"user","sessionId":"s","isSidechain":true,"agentId":"a"}"#),
        owned("s/a")
    );
    assert_eq!(
        key(r#"{"type":"user","sessionId":"s","isSidechain":true}"#),
        owned("s/sidechain")
    );
    assert_eq!(key(r#"{"type":"user","message":{}}"#), owned(""));
    assert_eq!(key(r#"{"type":"summary","leafUuid":"u"}"#), Some(Vec::new()));
    for line in ["42", "\"massive error\"", "[1]", "null"] {
        assert_eq!(keys(&CLAUDE_CODE, line), None, "{line}");
        assert_eq!(keys(&CODEX, line), None, "{line}");
    }
    let span = r#"{"traceId":"t","spanId":"s","name":"GET /","attributes":[{"key":"http.method","value":{"stringValue":"GET"}}]}"#;
    assert_eq!(keys(&OTEL_GENAI, span), Some(vec![vec!["t".to_owned()]]));
}

#[test]
fn lines_without_a_type_or_a_session_are_recognised() {
    let detected = |text: &str| {
        let head = chatmill_intake::Head {
            framing: chatmill_intake::Framing::Lines,
            complete: true,
            bytes: text.as_bytes().to_vec(),
        };
        crate::detect(&head.sketch()).map(|evidence| evidence.source)
    };
    let lines = [
        r#"{"sessionId":"s","message":{"role":"user","content":"one"}}"#,
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"two"}]}}"#,
        r#"{"sessionId":"s","message":{"role":"assistant","id":"m2","usage":{"input_tokens":1,"output_tokens":2}}}"#,
    ];
    for line in lines {
        assert_eq!(detected(&format!("{line}\n")), Some("claude-code"), "{line}");
    }
    let qwen = r#"{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"one"}]}}"#;
    assert_eq!(detected(&format!("{qwen}\n")), Some("qwen-code"));
}

#[test]
fn a_turn_that_lost_its_message_begins_a_session_as_others_do() {
    let begins = |line: &str| {
        let document = json::scan(line.as_bytes(), 64).unwrap();
        CLAUDE_CODE.rows(&document).unwrap()[0].begins.clone()
    };
    let turn = |message: &str| {
        begins(&format!(
            r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s"{message}}}"#
        ))
    };
    let lost = turn("");
    assert!(lost.is_some());
    assert_eq!(turn(r#","message":null"#), lost);
    assert_ne!(turn(r#","message":{"content":"one"}"#), lost);
    let event = r#"{"type":"system","uuid":"u1","parentUuid":null,"sessionId":"s"}"#;
    assert_eq!(begins(event), None);
}
