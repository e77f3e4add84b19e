//! Suna, message structures of 2025-11-07.

use chatmill_dialect::LossCode;

use super::{recognised, render, sample};

#[test]
fn a_row_without_an_agent_belongs_to_the_threads_only_agent_and_has_no_name() {
    let linked = sample("suna-rows", "suna/agent-comes-late.json");
    assert_eq!(linked.conversation.participants.len(), 2);
    let list = r#"[{"role":"user","content":"Is the kiln warm?","message_id":"m1"},{"role":"assistant","content":"Not yet.","message_id":"m2"},{"role":"user","content":"And now?","message_id":"m3"},{"role":"assistant","content":"Now it is.","message_id":"m4"}]"#;
    assert_eq!(render(&linked, "suna-llm").text, list);
    let cached = render(&linked, "suna-cached").text;
    assert!(
        cached.contains(r#""text":"User: Is the kiln warm?\n\nAssistant: Not yet.""#),
        "{cached}"
    );
}

#[test]
fn with_several_agents_all_stay_the_assistant() {
    let linked = sample("suna-rows", "suna/two-agents.json");
    for dialect in ["suna-llm", "suna-list", "suna-bedrock"] {
        let rendered = render(&linked, dialect);
        assert_eq!(
            rendered.text.matches(r#""role":"assistant""#).count(),
            2,
            "{dialect} {}",
            rendered.text
        );
        assert!(
            !rendered.text.contains("firer") && !rendered.text.contains("user: "),
            "{}",
            rendered.text
        );
    }
}

#[test]
fn a_row_of_any_type_that_is_sent_to_the_model_is_a_message() {
    let linked = sample("suna-rows", "suna/sent-rows.json");
    let rendered = render(&linked, "suna-llm");
    for text in ["Here is the picture", "So far: a kiln."] {
        let turn = format!(r#"{{"role":"user","content":"{text}"#);
        assert!(rendered.text.contains(&turn), "{}", rendered.text);
    }
    assert_eq!(rendered.lost(LossCode::NoticeDropped), 1);
}

#[test]
fn a_cached_block_is_written_unchanged() {
    let linked = sample("openai-messages", "suna/cached-list.json");
    assert_eq!(
        render(&linked, "suna-cached").text,
        r#"[{"role":"system","content":"You fire pots."},{"role":"user","content":[{"type":"text","text":"User: Hello\n\nAssistant: Good day.\n\nTool: {\"heat\": 900}","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"How hot?"}]"#
    );
    let linked = sample("openai-messages", "suna/cached-message.json");
    let rendered = render(&linked, "suna-cached");
    assert_eq!(
        rendered.text,
        r#"[{"role":"user","content":[{"type":"text","text":"User: Hello\n\nAssistant: Good day.","cache_control":{"type":"ephemeral"}}]}]"#
    );
    assert_eq!(rendered.losses, []);
}

#[test]
fn rows_of_any_source_get_times_threads_and_metadata() {
    let linked = sample("gryag-db", "gryag/row.json");
    let rendered = render(&linked, "suna-rows").text;
    for column in [
        r#""created_at":"2025-10-09T08:53:20Z""#,
        r#""thread_id":"-100""#,
        r#""metadata":{}"#,
    ] {
        assert!(rendered.contains(column), "{rendered}");
    }
    let linked = sample("openai-messages", "suna/cached-list.json");
    let rendered = render(&linked, "suna-rows");
    assert_eq!(
        rendered.text.matches(r#""thread_id":"thread-"#).count(),
        3,
        "{}",
        rendered.text
    );
    assert_eq!(rendered.lost(LossCode::ConversationIdSynthesised), 1);
}

#[test]
fn the_snippets_of_the_document_are_rows_by_themselves() {
    for name in ["quoted", "shortened", "status", "result"] {
        let (source, conversations, _) = recognised(&format!("suna/snippet-{name}.json"));
        assert_eq!((source.as_str(), conversations), ("suna-rows", 1), "{name}");
    }
}

#[test]
fn lists_of_rows_a_line_apart_are_threads() {
    let (source, conversations, _) = recognised("suna/threads.jsonl");
    assert_eq!((source.as_str(), conversations), ("suna-rows", 2));
}
