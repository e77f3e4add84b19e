//! Limits on a conversation: its content, references and grouped rows.

use std::fmt::Write as _;

use chatmill_diag::{Class, Classed as _};
use chatmill_engine::RunError;
use chatmill_workshop::TestDir;

use super::{Milled, chat, lines, message, mill, plain};

#[test]
fn references_per_message_bounds_the_references_of_a_message() {
    let referring = |count: usize| {
        let list: Vec<String> = (0..count).map(|_| "\"m1\"".to_owned()).collect();
        let more = format!(r#","refer_list":[{}]"#, list.join(","));
        lines(&[chat(
            "x",
            &[
                message(1, ""),
                message(2, &more),
                message(3, r#","refer_list":["m2"]"#),
            ],
        )])
    };
    let at = mill(&[("x.jsonl", &referring(5))], "references_per_message = 5");
    assert_eq!(at.found("too-many-references"), 0);
    assert_eq!(at.texts("message_references", "conversation_id").len(), 6);
    let beyond = mill(&[("x.jsonl", &referring(7))], "references_per_message = 5");
    assert_eq!((beyond.found("too-many-references"), beyond.rejected()), (2, 0));
    assert_eq!(
        beyond.texts("message_references", "conversation_id").len(),
        6,
        "the first five and the neighbour's"
    );
}

#[test]
fn preview_depth_bounds_previews_inside_previews() {
    let previews = |levels: usize| {
        let mut list = "[]".to_owned();
        for level in 0..levels {
            let mut outer = String::new();
            write!(
                outer,
                r#"[{{"message_id":"p{level}","sender":"u1","type":"text","content":"old","create_time":"2025-01-01T00:00:00Z","refer_list":{list}}}]"#
            )
            .unwrap();
            list = outer;
        }
        lines(&[chat(
            "x",
            &[
                message(1, &format!(r#","refer_list":{list}"#)),
                message(2, r#","refer_list":["m1"]"#),
            ],
        )])
    };
    // The outermost preview is not inside another.
    for limit in [0, 2, 16] {
        let at = mill(
            &[("x.jsonl", &previews(limit + 1))],
            &format!("preview_depth = {limit}"),
        );
        assert_eq!((at.found("preview-too-deep"), at.rejected()), (0, 0), "{limit}");
        let beyond = mill(
            &[("x.jsonl", &previews(limit + 2))],
            &format!("preview_depth = {limit}"),
        );
        assert_eq!(
            (beyond.found("preview-too-deep"), beyond.rejected()),
            (1, 0),
            "{limit}"
        );
        let outer = beyond.texts("message_references", "path");
        let outer = outer.iter().filter(|path| !path.contains('.'));
        assert_eq!(outer.count(), 2);
    }
}

#[test]
fn reference_depth_bounds_how_deep_references_are_resolved() {
    let deep = (0..6).fold("[]".to_owned(), |list, level| {
        format!(
            r#"[{{"message_id":"p{level}","sender":"u1","type":"text","content":"old","refer_list":{list}}}]"#
        )
    });
    let chat = lines(&[chat("x", &[message(1, &format!(r#","refer_list":{deep}"#))])]);
    for limit in [1, 2, 4] {
        let at = mill(&[("x.jsonl", &chat)], &format!("reference_depth = {limit}"));
        let paths = at.texts("message_references", "path");
        let levels = paths.iter().map(|path| path.split('.').count());
        assert_eq!(levels.max(), Some(limit), "{paths:?}");
    }
}

#[test]
fn messages_per_conversation_bounds_a_conversation() {
    let of = |count: usize| {
        chat(
            "many",
            &(0..count).map(|number| message(number, "")).collect::<Vec<_>>(),
        )
    };
    let file = |count| lines(&[plain("a"), of(count), plain("b")]);
    let at = mill(&[("x.jsonl", &file(9))], "messages_per_conversation = 9");
    assert_eq!((at.found("conversation-too-large"), at.rejected()), (0, 0));
    assert_eq!(at.ids(), ["a", "many", "b"]);
    let beyond = mill(&[("x.jsonl", &file(10))], "messages_per_conversation = 9");
    assert_eq!(
        (beyond.found("conversation-too-large"), beyond.rejected()),
        (1, 1)
    );
    assert_eq!(beyond.ids(), ["a", "b"]);
}

#[test]
fn response_depth_bounds_a_chain_of_agents() {
    let answer = |depth: usize| {
        format!(
            r#"{{"from":"u1","fromUsername":"A{depth}","projectId":"p","text":"on, @A{}","messageId":"r{depth}","type":"response","isAgentMessage":true,"responseDepth":{depth},"respondingChain":["a{depth}"]}}"#,
            depth + 1
        )
    };
    let question = r#"{"from":"u1","fromUsername":"ines","projectId":"p","text":"@A1 begin","messageId":"m1","type":"message"}"#;
    let file = lines(&[question.to_owned(), answer(1), answer(2)]);
    let at = mill(&[("x.jsonl", &file)], "response_depth = 2");
    assert_eq!((at.found("loop-depth-exceeded"), at.rejected()), (0, 0));
    let beyond = mill(&[("x.jsonl", &file)], "response_depth = 1");
    assert_eq!((beyond.found("loop-depth-exceeded"), beyond.rejected()), (1, 0));
}

#[test]
fn partition_bounds_the_rows_grouped_at_a_time() {
    let row = |thread: usize, number: usize| {
        format!(
            r#"{{"message_id":"m{number}","thread_id":"t{thread}","type":"user","is_llm_message":true,"content":{{"role":"user","content":"{}"}},"created_at":"2026-01-01T00:00:{number:02}Z"}}"#,
            "word ".repeat(40)
        )
    };
    let file = lines(&(0..60).map(|number| row(number % 20, number)).collect::<Vec<_>>());
    let parts = |milled: &Milled| milled.summary.manifest.tables[0].files.len();
    let one = mill(&[("x.jsonl", &file)], "partition = 1_000_000");
    let many = mill(&[("x.jsonl", &file)], "partition = 4_000");
    assert_eq!((parts(&one), one.ids().len(), many.ids().len()), (1, 20, 20));
    assert!(parts(&many) > 3, "{}", parts(&many));
}

#[test]
fn shared_rows_bound_the_rows_read_with_every_conversation() {
    let present = r#"{"userId":"u2","username":"bob","isAgent":true,"agentName":"Coder"}"#.to_owned();
    let said = r#"{"from":"u1","fromUsername":"ines","projectId":"p","text":"hi","messageId":"m1","type":"message"}"#;
    let bytes = present.len();
    let file = lines(&[present, said.to_owned()]);
    let at = mill(&[("x.jsonl", &file)], &format!("shared_rows = {bytes}"));
    assert_eq!((at.found("empty-conversation"), at.rejected()), (0, 0));
    let beyond = mill(&[("x.jsonl", &file)], &format!("shared_rows = {}", bytes - 1));
    assert_eq!((beyond.found("empty-conversation"), beyond.rejected()), (1, 0));
    assert_eq!((at.ids().len(), beyond.ids().len()), (1, 1));
}

#[test]
fn conversations_are_compared_up_to_the_limit_and_none_is_beyond_it() {
    let shop = TestDir::new();
    let line = |id: &str| {
        format!(
            r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","user_details":{{}}}},"conversation_list":[]}}"#
        ) + "\n"
    };
    shop.write("in/a.jsonl", ["a", "b", "c"].map(line).concat());
    let more = |limit: u64| {
        format!(
            "[render]\ndialects = [\"group-chat\"]\n[dedup]\nexact = \"mark\"\n[limits]\ncompared = {limit}\n"
        )
    };
    assert_eq!(shop.run("enough", &more(3), 1).unwrap().totals.conversations, 3);
    let error = shop.run("short", &more(2), 1).err().unwrap();
    assert!(
        matches!(error, RunError::TooManyToCompare { found: 3, limit: 2 }),
        "{error}"
    );
    assert_eq!(error.class(), Class::Request, "only another request helps");
    assert!(!shop.path("short").exists());
}

#[test]
fn calls_of_an_input_define_tools_up_to_the_limit_and_no_rendering_gets_more() {
    let shop = TestDir::new();
    let more =
        "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n[tools]\ninfer = \"input\"\n";
    let around = r#"{"name":"","parameters":{"type":"object","properties":{}}}"#.len();
    let run = |out: &str, bytes: usize| {
        let name = "t".repeat(bytes - around);
        let call = format!(
            r#"{{"id":"c","messages":[{{"role":"user","content":"?"}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"c","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}]}}"#
        );
        shop.write("in/a.jsonl", call + "\n");
        shop.run(out, more, 1)
    };
    assert_eq!(run("enough", 256 << 10).unwrap().totals.conversations, 1);
    let error = run("short", (256 << 10) + 1).err().unwrap();
    assert!(matches!(error, RunError::TooManyTools { .. }), "{error}");
    assert!(!shop.path("short").exists());
}
