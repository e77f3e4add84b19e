//! gryag, conversation pattern of 2025-10-17.

use chatmill_dialect::LossCode;
use chatmill_model::Role;
use chatmill_testkit::conversations::read;

use super::{path, recognised, render, sample};

/// The sample without white space between its values.
fn compact(name: &str) -> String {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value.to_string()
}

#[test]
fn all_turns_of_the_model_are_one_bots() {
    let linked = sample("gemini-contents", "gryag/one-bot.json");
    assert_eq!(
        render(&linked, "gryag-gemini").text,
        compact("gryag/one-bot.json")
    );
    let transcript = render(&linked, "gryag-compact").text;
    assert_eq!(transcript, "Olena#5: hi\ngryag: one\ngryag: two\n[RESPOND]");
}

#[test]
fn a_history_without_lines_comes_back_without_lines_and_its_bot_is_gryag() {
    let linked = sample("gemini-contents", "gryag/tools.json");
    assert_eq!(render(&linked, "gryag-gemini").text, compact("gryag/tools.json"));
    let transcript = render(&linked, "gryag-compact").text;
    assert!(transcript.ends_with("\ngryag: 345.\n[RESPOND]"), "{transcript}");
}

#[test]
fn a_line_holds_the_text_of_its_own_message() {
    let linked = sample("gemini-contents", "gryag/topic.json");
    let rendered = render(&linked, "gryag-gemini").text;
    assert_eq!(rendered.matches("thread_id=12").count(), 1, "{rendered}");
    assert_eq!(
        rendered.matches(r#" username=\"olena_k\""#).count(),
        1,
        "{rendered}"
    );
}

#[test]
fn a_reply_keeps_its_target_user_when_the_message_is_missing() {
    let linked = sample("gemini-contents", "gryag/gone-target.json");
    let rendered = render(&linked, "gryag-gemini");
    assert_eq!(rendered.text, compact("gryag/gone-target.json"));
    assert_eq!(rendered.losses, []);
    assert_eq!(
        render(&linked, "gryag-compact").text,
        "Olena#654321: a\nPetro#222333 → Olena#654321: x\n[RESPOND]"
    );
}

#[test]
fn the_bots_account_is_in_the_line_of_the_user_who_replies() {
    let linked = sample("gemini-contents", "gryag/bot-answered.json");
    for dialect in ["gryag-gemini", "gryag-gemini@2025-10-17"] {
        let rendered = render(&linked, dialect);
        assert!(
            rendered.text.contains("reply_to_user_id=7001"),
            "{}",
            rendered.text
        );
        assert_eq!(rendered.lost(LossCode::ExtraDropped), 0);
    }
}

#[test]
fn technical_ids_in_the_bots_text_are_found_and_left_out() {
    let (_, _, codes) = recognised("gryag/leaked.json");
    assert!(codes.contains(&"leaked-metadata"), "{codes:?}");
    let linked = sample("gemini-contents", "gryag/leaked.json");
    let rendered = render(&linked, "suna-llm");
    assert!(
        rendered.text.ends_with(r#"{"role":"assistant","content":"ok"}]"#),
        "{}",
        rendered.text
    );
    assert_eq!(rendered.lost(LossCode::LeakedMetadataRemoved), 1);
}

#[test]
fn a_line_with_an_unknown_pair_is_one_still() {
    let (_, _, codes) = recognised("gryag/unknown-key.json");
    assert!(codes.contains(&"unknown-meta-key"), "{codes:?}");
    let linked = sample("gemini-contents", "gryag/unknown-key.json");
    let message = &linked.conversation.messages[0];
    assert_eq!(message.text(), "hi");
    assert_eq!(message.extra.get("Foo").unwrap().as_str(), "\"1\"");
}

#[test]
fn a_prompt_in_front_of_the_lines_is_system_text() {
    let linked = sample("gemini-contents", "gryag/prompt-in-front.json");
    assert_eq!(linked.conversation.messages[0].role, Role::System);
    let rendered = render(&linked, "gryag-gemini").text;
    assert_eq!(rendered, compact("gryag/prompt-in-front.json"));
    let again = read("gemini-contents", &rendered);
    assert_eq!(again.conversation.messages[0].role, Role::System);
}

#[test]
fn the_answer_to_the_documents_query_is_read_oldest_first() {
    let (source, conversations, codes) = recognised("gryag/query.csv");
    assert_eq!((source.as_str(), conversations, codes), ("gryag-db", 1, vec![]));
    let rows = r#"[
        {"role": "model", "text": "Hm.", "media": "{\"media\": [], \"meta\": {\"chat_id\": -1, \"message_id\": 9}}"},
        {"role": "user", "text": "Morning", "media": "{\"media\": [], \"meta\": {\"chat_id\": -1, \"message_id\": 8}}"}
    ]"#;
    let linked = read("gryag-db", rows);
    assert_eq!(linked.conversation.source_id.as_deref(), Some("-1"));
    assert_eq!(linked.conversation.messages[0].text(), "Morning");
}

#[test]
fn a_single_gemini_message_is_recognised_as_gemini_contents() {
    let (source, conversations, _) = recognised("gryag/message.json");
    assert_eq!((source.as_str(), conversations), ("gemini-contents", 1));
}

#[test]
fn the_code_counts_bare_files_and_overlooks_those_in_file_data() {
    let linked = sample("gemini-contents", "gryag/files.json");
    let rendered = render(&linked, "gryag-compact@2025-10-17");
    assert_eq!(
        rendered.text,
        "A#5: film\nB#6: [Media] file\ngryag: Hm.\n[RESPOND]"
    );
    assert_eq!(rendered.lost(LossCode::MediaDropped), 1);
}
