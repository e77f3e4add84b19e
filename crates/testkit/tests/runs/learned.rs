//! The turns of a dataset that are trained on: each turn of the perspective once, in every dialect and with any budget.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use chatmill_dialect::TemplateDialect;
use chatmill_dialect::template::Blueprint;
use chatmill_workshop::{TestDir, rows};
use serde_json::{Value, json};

const DIALECTS: &str = "[render]\ndialects = [\"openai-chat\", \"openai-responses\", \"anthropic-messages\", \"gemini-contents\", \
    \"bedrock-converse\", \"mistral-chat\", \"hf-messages\", \"sharegpt\", \"chatml\", \"gryag-compact\", \"gryag-gemini\", \
    \"suna-llm\", \"said\", \"marked\"]\n\
    [templates.said]\ntemplate = \"said.jinja\"\nspecial_tokens = [\"<end>\"]\n\
    [templates.marked]\ntemplate = \"marked.jinja\"\nspecial_tokens = [\"<end>\"]\n";

/// A template that does not mark generated text, and one that does.
const SAID: &str = "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}<end>\n{% endfor %}";
const MARKED: &str = "{% for m in messages %}[{{ m.role }}] {% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}<end>{% endgeneration %}{% else %}{{ m.content }}<end>{% endif %}\n{% endfor %}";

/// A word that occurs nowhere else.
fn word(conversation: usize, number: usize) -> String {
    format!("w{conversation}x{number}w")
}

/// A chat in which a bot writes at irregular times, is silent for nights, and sometimes calls a tool; and its texts
/// that are to be trained on: those after a message of another participant.
fn room(conversation: usize) -> (Value, Vec<String>) {
    let mut state = (conversation as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = move |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % sides
    };
    let (mut messages, mut taught) = (Vec::new(), Vec::new());
    let (mut hour, mut asked) = (0, false);
    // The words of a turn that ends with a call wait for the next turn that ends with words.
    let mut waiting: Vec<String> = Vec::new();
    for number in 0..roll(30) as usize {
        let sender = ["u1", "u2", "bot", "bot", "u1"][roll(5) as usize];
        let text = format!(
            "{} {}",
            word(conversation, number),
            "and more words ".repeat(roll(12) as usize)
        );
        hour += [0, 0, 0, 9][roll(4) as usize];
        let mut message = json!({
            "message_id": format!("m{number}"), "sender": sender, "type": "text", "content": text,
            "create_time": format!("2026-03-{:02}T{:02}:00:00Z", 1 + hour / 24, hour % 24), "refer_list": [],
        });
        let calls = sender == "bot" && roll(3) == 0;
        if sender != "bot" {
            asked = true;
        } else if asked {
            waiting.push(word(conversation, number));
            if !calls {
                taught.append(&mut waiting);
            }
        }
        if calls {
            let id = format!("c{number}");
            let time = message["create_time"].clone();
            message["extra"] = json!({"tool_calls": [{"id": id, "type": "function",
                "function": {"name": "look", "arguments": "{}"}}]});
            messages.push(message);
            messages.push(json!({
                "message_id": format!("r{number}"), "sender": "bot", "type": "text", "content": "found",
                "create_time": time, "refer_list": [], "role": "tool",
                "extra": {"tool_call_id": id, "name": "look"},
            }));
            continue;
        }
        messages.push(message);
    }
    let room = json!({"version": "1.0.0", "conversation_meta": {"conversation_id": format!("r{conversation}"), "name": "Kitchen",
        "scene": "group_chat", "user_details": {"u1": {"full_name": "Ann", "role": "user"}, "u2": {"full_name": "Ben", "role": "user"},
            "bot": {"full_name": "Kettle", "role": "assistant"}}}, "conversation_list": messages});
    (room, taught)
}

struct Learned {
    /// For each dialect, how often each word is trained on.
    words: BTreeMap<String, BTreeMap<String, u32>>,
    skipped_targets: BTreeMap<String, u64>,
}

fn learned(shop: &TestDir, window: &str) -> Learned {
    std::fs::remove_dir_all(shop.path("out")).ok();
    let more = format!("{DIALECTS}[perspective]\nas = [\"bot\"]\n[window]\n{window}\n");
    let summary = shop.run("out", &more, 2).unwrap();
    assert_eq!(summary.totals.rejected, 0);
    let root = shop.path("out");
    let spans = rows::spans(&root, "renderings", "learned_spans");
    let own = rows::spans(&root, "renderings", "assistant_spans");
    let texts = |column| {
        rows::texts(&root, "renderings", column)
            .into_iter()
            .map(Option::unwrap_or_default)
    };
    let mut found = Learned {
        words: BTreeMap::new(),
        skipped_targets: summary.totals.skipped_targets,
    };
    for (((dialect, content), learned), own) in texts("dialect").zip(texts("content")).zip(spans).zip(own) {
        let words = found.words.entry(dialect.clone()).or_default();
        for span in &learned {
            let inside = own
                .iter()
                .any(|own| own.start <= span.start && span.end <= own.end);
            assert!(inside, "{dialect}: {span:?} is learned and not said");
            let said = &content[span.clone()];
            for word in said.split(|sign: char| !sign.is_ascii_alphanumeric()) {
                let word = word.trim_start_matches('n');
                if word.starts_with('w') && word.ends_with('w') && word.contains('x') {
                    *words.entry(word.to_owned()).or_default() += 1;
                }
            }
        }
    }
    found
}

/// A test folder with `rooms` rooms, and the words in them that are to be trained on.
fn corpus(rooms: u32) -> (TestDir, Vec<String>) {
    let shop = TestDir::new();
    let (mut lines, mut taught) = (String::new(), Vec::new());
    for conversation in 0..rooms as usize {
        let (room, words) = room(conversation);
        writeln!(lines, "{room}").unwrap();
        taught.extend(words);
    }
    shop.write("in/rooms.jsonl", lines);
    shop.write("said.jinja", SAID);
    shop.write("marked.jinja", MARKED);
    taught.sort();
    assert!(taught.len() > 3 * rooms as usize, "{}", taught.len());
    (shop, taught)
}

/// Checks that each word that can be trained on is trained on once, in every dialect.
fn once(found: &Learned, taught: &[String], window: &str) {
    assert_eq!(found.words.len(), 14, "{window}");
    for (dialect, words) in &found.words {
        let twice: Vec<_> = words.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "{window}: {dialect} learns {twice:?}");
        let learned: Vec<&String> = words.keys().collect();
        let missing: Vec<_> = taught.iter().filter(|word| !words.contains_key(*word)).collect();
        assert!(
            missing.is_empty(),
            "{window}: {dialect} does not learn {missing:?}"
        );
        assert_eq!(learned, taught.iter().collect::<Vec<_>>(), "{window}: {dialect}");
    }
}

#[test]
fn consecutive_windows_train_each_turn_once_with_any_budget_and_overlap() {
    let (shop, taught) = corpus(chatmill_drawn::cases(12));
    for window in ["", "tokens = 300", "tokens = 700", "overlap = 6, tokens = 300"] {
        let window = consecutive(window);
        let found = learned(&shop, &window);
        once(&found, &taught, &window);
        let reasons: Vec<&String> = found.skipped_targets.keys().collect();
        assert_eq!(
            reasons,
            ["nobody speaks before the turn", "the turn ends with a call"],
            "{window}"
        );
    }
}

/// A window section with these keys; some of them concern the budget.
fn consecutive(keys: &str) -> String {
    let mut section = "mode = \"consecutive\"\n".to_owned();
    for key in keys.split(", ").filter(|key| !key.is_empty()) {
        match key.strip_prefix("tokens") {
            Some(tokens) => writeln!(
                section,
                "max_tokens = {{ encoding = \"o200k_base\", tokens{tokens} }}"
            ),
            None => writeln!(section, "{key}"),
        }
        .unwrap();
    }
    section
}

#[test]
fn turns_are_trained_at_most_once_and_skipped_ends_of_sessions_are_counted() {
    let (shop, taught) = corpus(chatmill_drawn::cases(20));
    let gap = "session_gap = \"6h\"\n";
    for window in [
        "mode = \"per_turn\"\n".to_owned(),
        "per_turn = true\n".to_owned(),
        format!("mode = \"per_turn\"\n{gap}"),
        "mode = \"per_turn\"\ntargets = \"steps\"\n".to_owned(),
        format!("{}{gap}", consecutive("overlap = 6, tokens = 700")),
        format!("{}{gap}", consecutive("targets = \"steps\"")),
    ] {
        let found = learned(&shop, &window);
        for (dialect, words) in &found.words {
            let twice: Vec<_> = words.iter().filter(|(_, times)| **times != 1).collect();
            assert!(twice.is_empty(), "{window}: {dialect} learns {twice:?}");
            let missing = taught.iter().filter(|word| !words.contains_key(*word)).count();
            let skipped_targets: u64 = found.skipped_targets.values().sum();
            // ShareGPT joins the words of several steps, of which only one is trained on.
            if dialect == "sharegpt" && window.contains("steps") {
                continue;
            }
            assert!(missing == 0 || skipped_targets > 0, "{window}: {dialect}");
            assert!(
                words.len() * 10 > taught.len() * 8,
                "{window}: {dialect} {}",
                words.len()
            );
        }
    }
}

#[test]
fn a_templates_generation_marks_cover_the_assistants_text() {
    let (shop, _) = corpus(60);
    shop.run("out", &format!("{DIALECTS}[perspective]\nas = [\"bot\"]\n"), 2)
        .unwrap();
    let root = shop.path("out");
    let marked = TemplateDialect::new(Blueprint {
        id: "marked".to_owned(),
        source: MARKED.to_owned(),
        special_tokens: Some(vec!["<end>".to_owned()]),
        ..Blueprint::default()
    });
    let marked = marked.unwrap();
    let texts = |column| {
        rows::texts(&root, "renderings", column)
            .into_iter()
            .map(Option::unwrap_or_default)
    };
    let spans = rows::spans(&root, "renderings", "assistant_spans");
    let all: Vec<_> = texts("conversation_id")
        .zip(texts("dialect"))
        .zip(texts("content"))
        .zip(spans)
        .collect();
    let mut compared = 0;
    for (((conversation, dialect), content), _) in &all {
        if dialect != "hf-messages" {
            continue;
        }
        let request: Value = serde_json::from_str(content).unwrap();
        let printed = marked.print(&request["messages"].to_string(), None).unwrap();
        let of_template = all
            .iter()
            .find(|(((other, dialect), _), _)| other == conversation && dialect == "marked");
        let ((_, text), spans) = of_template.unwrap();
        assert_eq!(*text, printed.text);
        let mut generated: Vec<Range<usize>> = Vec::new();
        for range in printed.generated {
            match generated.last_mut().filter(|last| last.end == range.start) {
                Some(last) => last.end = range.end,
                None => generated.push(range),
            }
        }
        assert_eq!(*spans, generated, "{text}");
        compared += usize::from(text.contains("\"look\"") && text.contains("<end>"));
    }
    assert!(compared > 20, "{compared}");
}
