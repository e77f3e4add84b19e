//! Lines of coding agents: the key of the session that a line begins.

use chatmill_intake::json;

use crate::{CLAUDE_CODE, Source};

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
