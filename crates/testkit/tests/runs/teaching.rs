//! What stands in a sample: calls as targets, prompts, names, media that are only named, and windows that all dialects share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use chatmill_workshop::Workshop;
use chatmill_workshop::rows::{self, flags, numbers, texts};
use serde_json::{Value, json};

fn all(workshop: &Workshop, table: &str, column: &str) -> Vec<String> {
    let found = texts(&workshop.path("out"), table, column).into_iter();
    found.map(Option::unwrap_or_default).collect()
}

/// What is learned in each rendering of a dialect.
fn learned(workshop: &Workshop, dialect: &str) -> Vec<String> {
    let spans = rows::spans(&workshop.path("out"), "renderings", "learned_spans");
    let contents = all(workshop, "renderings", "content");
    let dialects = all(workshop, "renderings", "dialect");
    let renderings = spans.into_iter().zip(contents).zip(dialects);
    let own = renderings.filter(|(_, of)| of == dialect);
    own.map(|((spans, content), _)| spans.into_iter().map(|span| &content[span]).collect())
        .collect()
}

#[test]
fn a_thread_that_ends_with_a_question_to_its_user_gives_samples_of_its_steps() {
    let workshop = Workshop::new();
    workshop.write("in/thread.json", ASKING);
    let run = |targets: &str| {
        fs::remove_dir_all(workshop.path("out")).ok();
        let more = format!(
            "[count]\nencodings = []\n[render]\ndialects = [\"openai-chat\", \"hf-messages\"]\n[tools]\ninfer = true\n\
             [window]\nmode = \"per_turn\"\ntargets = {targets:?}\n"
        );
        workshop.run("out", &more, 1).unwrap().totals
    };
    let answers = run("answers");
    assert_eq!(answers.renderings, 0);
    assert_eq!(
        answers.untaught,
        BTreeMap::from([("the turn ends with a call".to_owned(), 1)])
    );
    let steps = run("steps");
    assert_eq!((steps.renderings, steps.untaught.len()), (4, 0));
    assert!(
        flags(&workshop.path("out"), "renderings", "valid")
            .iter()
            .all(|valid| *valid == Some(true))
    );
    let taught = learned(&workshop, "openai-chat");
    assert!(
        taught[0].contains("web_search{") && !taught[0].contains("ask{"),
        "{taught:?}"
    );
    assert!(
        taught[1].starts_with("Here is what I found") && taught[1].contains("ask{"),
        "{taught:?}"
    );
    // The tools that it calls are defined by their calls, alike in both samples, and the rows say so.
    for content in all(&workshop, "renderings", "content") {
        let row: Value = serde_json::from_str(&content).unwrap();
        let tools = row["tools"].as_array().unwrap();
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(names, ["ask", "web_search"]);
        assert_eq!(
            tools[1]["function"]["parameters"]["required"],
            json!(["query", "num_results"])
        );
    }
    let codes = all(&workshop, "losses", "code");
    let made = codes
        .iter()
        .filter(|code| *code == "tool-definition-synthesised")
        .count();
    assert_eq!(made, 4);
}

/// A thread of our own in the shape that Suna gives: each run ends with a question to its user.
const ASKING: &str = r#"{"thread_id":"t1","message_count":5,"messages":[
{"message_id":"r1","type":"user","is_llm_message":true,"content":{"role":"user","content":"Which ferries go on Sunday?"},"metadata":{},"created_at":"2026-02-01 08:00:00+00:00","agent_id":null},
{"message_id":"r2","type":"assistant","is_llm_message":true,"content":{"role":"assistant","content":"I will look it up.","message_id":"r2","tool_calls":[{"id":"tooluse_1","type":"function","function":{"name":"web_search","arguments":"{\"query\": \"ferries on Sunday\", \"num_results\": 5}"}}]},"metadata":{},"created_at":"2026-02-01 08:00:02+00:00","agent_id":"a1"},
{"message_id":"r3","type":"tool","is_llm_message":true,"content":{"role":"tool","name":"web_search","content":"{\"answer\": \"two ferries\"}","message_id":"r3","tool_call_id":"tooluse_1"},"metadata":{},"created_at":"2026-02-01 08:00:04+00:00","agent_id":"a1"},
{"message_id":"r4","type":"assistant","is_llm_message":true,"content":{"role":"assistant","content":"Here is what I found: two ferries.","message_id":"r4","tool_calls":[{"id":"tooluse_2","type":"function","function":{"name":"ask","arguments":"{\"text\": \"Shall I book one?\"}"}}]},"metadata":{},"created_at":"2026-02-01 08:00:09+00:00","agent_id":"a1"},
{"message_id":"r5","type":"tool","is_llm_message":true,"content":{"role":"tool","name":"ask","content":"{\"status\": \"Awaiting user response...\"}","message_id":"r5","tool_call_id":"tooluse_2"},"metadata":{},"created_at":"2026-02-01 08:00:09+00:00","agent_id":"a1"}]}"#;

/// A room in which two people speak at different times, so that no window holds both.
fn room() -> Value {
    let mut messages = Vec::new();
    for turn in 0..8 {
        let person = if turn < 4 { "u1" } else { "u2" };
        for (sender, words) in [(person, "lol"), ("bot", "indeed")] {
            let number = messages.len();
            messages.push(json!({
                "message_id": format!("m{number}"), "sender": sender, "type": "text", "content": format!("{words} {number}"),
                "create_time": format!("2026-03-01T00:{number:02}:00Z"), "refer_list": [],
            }));
        }
    }
    json!({"version": "1.0.0", "conversation_meta": {"name": "Pier", "scene": "group_chat", "conversation_id": "pier", "user_details": {
        "u1": {"full_name": "Zoë", "role": "user"}, "u2": {"full_name": "Ann", "role": "user"},
        "bot": {"full_name": "Gull", "role": "assistant"}}}, "conversation_list": messages})
}

#[test]
fn all_windows_of_a_conversation_name_people_and_agent_alike() {
    let workshop = Workshop::new();
    workshop.write("in/room.json", room().to_string());
    let more = "[count]\nencodings = [\"o200k_base\"]\n[render]\ndialects = [\"hf-messages\"]\n\
                [prompt]\nsystem = \"You are {agent.name} in {room.title}, with {room.people}.\"\n\
                [window]\nmode = \"consecutive\"\nmax_tokens = { encoding = \"o200k_base\", tokens = 90 }\n";
    let totals = workshop.run("out", more, 1).unwrap().totals;
    assert!(totals.renderings > 2 && totals.unprompted.is_empty());
    for content in all(&workshop, "renderings", "content") {
        let row: Value = serde_json::from_str(&content).unwrap();
        let messages = row["messages"].as_array().unwrap();
        assert_eq!(messages[0]["role"], "system");
        assert_eq!(messages[0]["content"], "You are Gull in Pier, with Zoë, Ann.");
        for message in messages.iter().filter(|message| message["role"] == "user") {
            let words = message["content"].as_str().unwrap();
            assert!(
                words.starts_with("Zoë: lol") || words.starts_with("Ann: lol"),
                "{words}"
            );
        }
    }
}

#[test]
fn a_conversation_without_a_field_of_the_prompt_is_counted() {
    let workshop = Workshop::new();
    workshop.write(
        "in/a.json",
        r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#,
    );
    let more = "[count]\nencodings = []\n[render]\ndialects = [\"openai-chat\", \"chatml\"]\n\
                [prompt]\nsystem = \"You are in {room.title}.\"\n";
    let totals = workshop.run("out", more, 1).unwrap().totals;
    assert_eq!(totals.unprompted, BTreeMap::from([("room.title".to_owned(), 1)]));
    assert!(
        all(&workshop, "renderings", "content")
            .iter()
            .all(|content| !content.contains("You are in"))
    );
}

#[test]
fn words_that_stand_for_media_are_not_learned_unless_somebody_asks() {
    let post = |sender: &str, kind: &str, content: &str, extra: Value| json!({"sender": sender, "type": kind, "content": content, "extra": extra, "refer_list": []});
    let messages = [
        post("u1", "text", "Show me the pier.", json!({})),
        post(
            "bot",
            "video",
            "https://example.org/tour.mp4",
            json!({"file_name": "tour.mp4"}),
        ),
        post("u1", "text", "And the tide?", json!({})),
        post(
            "bot",
            "image",
            "Low at nine.",
            json!({"image_url": "https://example.org/tide.png"}),
        ),
        post("u1", "link", "https://example.org/berths", json!({})),
        post("bot", "text", "Thank you.", json!({})),
    ];
    let mut lines = Vec::new();
    for (number, mut message) in messages.into_iter().enumerate() {
        message["message_id"] = format!("m{number}").into();
        message["create_time"] = format!("2026-03-01T00:{number:02}:00Z").into();
        lines.push(message);
    }
    let room = json!({"version": "1.0.0", "conversation_meta": {"name": "Pier", "scene": "group_chat", "user_details": {
        "u1": {"full_name": "Zoë", "role": "user"}, "bot": {"full_name": "Gull", "role": "assistant"}}}, "conversation_list": lines});
    let workshop = Workshop::new();
    workshop.write("in/room.json", room.to_string());
    let run = |more: &str| {
        fs::remove_dir_all(workshop.path("out")).ok();
        let more = format!(
            "[count]\nencodings = []\n[render]\ndialects = [\"chatml\"]\n[window]\nmode = \"consecutive\"\n{more}"
        );
        let totals = workshop.run("out", &more, 1).unwrap().totals;
        (
            totals.untaught,
            learned(&workshop, "chatml").concat(),
            all(&workshop, "renderings", "content").concat(),
        )
    };
    let (untaught, taught, content) = run("");
    let reason = "the turn is a medium that is only named".to_owned();
    assert_eq!(untaught, BTreeMap::from([(reason, 1)]));
    assert!(!taught.contains('['), "{taught}");
    assert!(
        taught.contains("Low at nine.") && taught.contains("Thank you."),
        "{taught}"
    );
    assert!(content.contains("[Video: tour.mp4]"), "it is context: {content}");
    assert!(!content.contains("[Image"), "{content}");
    assert!(
        content.contains("https://example.org/berths") && !content.contains("[Link"),
        "{content}"
    );
    let (untaught, taught, _) = run("learn_placeholders = true\n");
    assert!(untaught.is_empty());
    assert!(
        taught.contains("[Video: tour.mp4]") && taught.contains("[Image: "),
        "{taught}"
    );
    // Without windows it is the same.
    let whole = "[count]\nencodings = []\n[render]\ndialects = [\"chatml\"]\n";
    fs::remove_dir_all(workshop.path("out")).ok();
    workshop.run("out", whole, 1).unwrap();
    let taught = learned(&workshop, "chatml").concat();
    assert!(
        taught.contains("Low at nine.") && !taught.contains('['),
        "{taught}"
    );
}

/// Rooms in which every text has its own length.
fn rooms(count: usize) -> String {
    let mut lines = String::new();
    for room in 0..count {
        let mut messages = Vec::new();
        for number in 0..40 {
            let sender = ["u1", "u2", "bot"][(number * 7 + room) % 3];
            let words = "words and \"signs\" ".repeat((number * 5 + room * 3) % 17);
            messages.push(json!({
                "message_id": format!("m{number}"), "sender": sender, "type": "text", "content": format!("{number} {words}"),
                "create_time": format!("2026-03-01T{:02}:{:02}:00Z", number / 60, number % 60), "refer_list": [],
            }));
        }
        let record = json!({"version": "1.0.0", "conversation_meta": {"name": format!("R{room}"), "scene": "group_chat",
            "conversation_id": format!("r{room}"), "user_details": {"u1": {"full_name": "Zoë", "role": "user"},
            "u2": {"full_name": "Ann", "role": "user"}, "bot": {"full_name": "Gull", "role": "assistant"}}},
            "conversation_list": messages});
        writeln!(lines, "{record}").unwrap();
    }
    lines
}

const TEMPLATE: &str =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";

#[test]
fn windows_are_the_same_for_all_dialects_where_somebody_asks_for_it() {
    let workshop = Workshop::new();
    workshop.write("in/rooms.jsonl", rooms(3));
    workshop.write("t.jinja", TEMPLATE);
    let dialects = ["openai-chat", "bedrock-converse", "sharegpt", "chatml", "said"];
    let run = |budget: &str, mode: &str| {
        fs::remove_dir_all(workshop.path("out")).ok();
        let more = format!(
            "[render]\ndialects = {dialects:?}\n[templates.said]\ntemplate = \"t.jinja\"\n[window]\nmode = {mode:?}\n{budget}\n"
        );
        workshop.run("out", &more, 2).unwrap();
        let out = workshop.path("out");
        let mut windows: BTreeMap<String, Vec<_>> = BTreeMap::new();
        let places = numbers(&out, "renderings", "first_position")
            .into_iter()
            .zip(numbers(&out, "renderings", "last_position"));
        let tokens = numbers(&out, "renderings", "tokens_o200k_base");
        let conversations = all(&workshop, "renderings", "conversation_id");
        let mut most: BTreeMap<String, i64> = BTreeMap::new();
        for (((dialect, place), tokens), conversation) in all(&workshop, "renderings", "dialect")
            .into_iter()
            .zip(places)
            .zip(tokens)
            .zip(conversations)
        {
            let most = most.entry(dialect.clone()).or_default();
            *most = (*most).max(tokens.unwrap());
            windows.entry(dialect).or_default().push((conversation, place));
        }
        let differ: BTreeSet<_> = windows.values().collect();
        (differ.len(), most, windows["said"].len())
    };
    for mode in ["consecutive", "per_turn"] {
        let (differ, ..) = run("max_tokens = { encoding = \"o200k_base\", tokens = 600 }", mode);
        assert!(
            differ > 1,
            "{mode}: the dialects need different windows by themselves"
        );
        let same = "same_for_all = true\nmax_tokens = { encoding = \"o200k_base\", tokens = 600 }";
        let (differ, most, _) = run(same, mode);
        assert_eq!(differ, 1, "{mode}");
        assert!(most.values().all(|tokens| *tokens <= 600), "{mode} {most:?}");
        assert!(most.values().any(|tokens| *tokens > 500), "{mode} {most:?}");
        // By what a model reads.
        let seen = "max_tokens = { template = \"t.jinja\", tokenizer = \"o200k_base\", tokens = 600 }";
        let (differ, most, _) = run(seen, mode);
        assert_eq!(differ, 1, "{mode}");
        assert!(most["said"] <= 600 && most["said"] > 500, "{mode} {most:?}");
        assert!(most["bedrock-converse"] > 600, "{mode} {most:?}");
    }
}

#[test]
fn what_the_template_of_a_budget_refuses_is_a_row_that_says_so() {
    let workshop = Workshop::new();
    workshop.write("in/rooms.jsonl", rooms(12));
    let refusing = "{% for m in messages %}{% if '12 ' in m.content %}{{ raise_exception('no dozens') }}{% endif %}\
                    {{ m.content }}<|im_end|>{% endfor %}";
    workshop.write("t.jinja", refusing);
    let more = "[render]\ndialects = [\"openai-chat\"]\n[window]\nmode = \"consecutive\"\n\
                max_tokens = { template = \"t.jinja\", tokenizer = \"o200k_base\", tokens = 600 }\n";
    workshop.run("out", more, 2).unwrap();
    let out = workshop.path("out");
    let contents = all(&workshop, "renderings", "content");
    let valid = flags(&out, "renderings", "valid");
    assert!(valid.iter().filter(|valid| **valid == Some(true)).count() > 20);
    for (content, valid) in contents.iter().zip(valid) {
        assert_eq!(
            valid == Some(true),
            !content.contains("12 words") && !content.contains("12 \""),
            "{content}"
        );
    }
}
