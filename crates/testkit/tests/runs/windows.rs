//! Windows in whole runs: sessions, turns, budgets, spans of the assistant, and the bill as served.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use chatmill_engine::{Plan, RunOptions, Silent};
use chatmill_testkit::samples::samples;
use chatmill_workshop::test_dir::padded;
use chatmill_workshop::{TestDir, rows};
use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

const VENDORS: &str = r#"[render]
dialects = ["openai-chat", "openai-responses", "anthropic-messages", "gemini-contents", "bedrock-converse", "mistral-chat",
    "hf-messages", "sharegpt", "chatml"]
"#;

/// A thread of an agent with tools: each exchange is a question, a call, its result and an answer.
fn thread(exchanges: usize) -> Value {
    let tool = json!({"type": "function", "function": {"name": "look", "description": "Looks a word up in the harbour's book.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}}});
    let mut messages = vec![json!({"role": "system", "content": "You keep the harbour's book."})];
    for number in 0..exchanges {
        let word = format!("berth {number}");
        let call = json!({"id": format!("c{number}"), "type": "function",
            "function": {"name": "look", "arguments": json!({"word": word}).to_string()}});
        messages.extend([
            json!({"role": "user", "content": format!("Who lies at {word}? {}", "Look well. ".repeat(number % 4))}),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": format!("The good ship no. {number}")}),
            json!({"role": "assistant", "content": format!("At {word} lies the good ship no. {number}. {}", "Her crew is ashore. ".repeat(number % 5))}),
        ]);
    }
    json!({"messages": messages, "tools": [tool]})
}

/// A room in which a bot takes part on several evenings.
fn room(id: &str, evenings: usize) -> Value {
    let mut messages = Vec::new();
    for evening in 0..evenings {
        let senders = ["u1", "u2", "bot_1", "u1", "bot_1", "bot_1", "u2"];
        for (minute, sender) in senders.into_iter().enumerate() {
            messages.push(json!({
                "message_id": format!("m{evening}_{minute}"),
                "create_time": format!("2026-03-{:02}T19:{minute:02}:00Z", evening + 1),
                "sender": sender,
                "type": "text",
                "content": format!("Evening {evening}, minute {minute}: the kettle is \"on\"."),
                "refer_list": [],
            }));
        }
    }
    json!({"version": "1.0.0", "conversation_meta": {"conversation_id": id, "name": "Kitchen", "scene": "group_chat",
        "user_details": {"u1": {"full_name": "Ann", "role": "user"}, "u2": {"full_name": "Ben", "role": "user"},
            "bot_1": {"full_name": "Kettle", "role": "assistant"}}}, "conversation_list": messages})
}

/// A dataset of one run.
struct Dataset {
    root: PathBuf,
    _shop: TestDir,
}

impl Dataset {
    fn new(files: &[(&str, Value)], more: &str) -> Self {
        let shop = TestDir::new();
        for (name, value) in files {
            shop.write(&format!("in/{name}"), value.to_string());
        }
        let summary = shop.run("out", more, 2).unwrap();
        assert_eq!(summary.totals.rejected, 0);
        let root = shop.path("out");
        let certificate = chatmill_dataset::certify(&root).unwrap();
        assert!(certificate.holds(), "{:?}", certificate.problems);
        Self { root, _shop: shop }
    }

    fn texts(&self, column: &str) -> Vec<String> {
        let texts = rows::texts(&self.root, "renderings", column);
        texts.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn numbers(&self, column: &str) -> Vec<i64> {
        let numbers = rows::numbers(&self.root, "renderings", column);
        numbers.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn valid(&self) -> Vec<bool> {
        let flags = rows::flags(&self.root, "renderings", "valid");
        flags.into_iter().map(|flag| flag.unwrap()).collect()
    }

    /// The sum of the losses with a reason.
    fn lost(&self, dialect: &str, reason: &str) -> i64 {
        let of = |column| {
            rows::texts(&self.root, "losses", column)
                .into_iter()
                .map(Option::unwrap)
        };
        let amounts = rows::numbers(&self.root, "losses", "amount")
            .into_iter()
            .map(Option::unwrap);
        let all = of("dialect").zip(of("reason")).zip(amounts);
        let wanted = all.filter(|((of, why), _)| of == dialect && why == reason);
        wanted.map(|(_, amount)| amount).sum()
    }
}

/// The length of each token in bytes, by the reference.
fn tokens(judge: &CoreBPE, text: &str) -> Vec<usize> {
    let tokens = judge.encode_ordinary(text).into_iter();
    tokens
        .map(|token| judge.decode_bytes(&[token]).unwrap().len())
        .collect()
}

#[test]
fn a_budget_is_exact_to_the_token_and_cuts_no_more_than_necessary() {
    let judge = tiktoken_rs::o200k_base().unwrap();
    let files = [("a.json", thread(12)), ("b.json", room("kitchen", 4))];
    let dialects = "[render]\ndialects = [\"openai-chat\", \"anthropic-messages\", \"gryag-compact\", \"suna-llm\", \"group-chat\"]\n";
    let whole = Dataset::new(&files, dialects);
    let counts = |text: &str| judge.encode_ordinary(text).len();
    let (mut cut, mut kept) = (0, 0);
    for budget in [250, 400, 900] {
        let more =
            format!("{dialects}[window]\nmax_tokens = {{ encoding = \"o200k_base\", tokens = {budget} }}\n");
        let dataset = Dataset::new(&files, &more);
        let contents = dataset.texts("content");
        assert_eq!(contents.len(), whole.texts("content").len());
        let all = contents
            .iter()
            .zip(whole.texts("content"))
            .zip(dataset.valid())
            .zip(dataset.texts("dialect"));
        for (((content, whole), valid), dialect) in all {
            assert!(valid, "{budget} {dialect} {content}");
            assert!(counts(content) <= budget, "{budget} {dialect} {content}");
            if counts(&whole) <= budget {
                assert_eq!(*content, whole);
                kept += 1;
            } else {
                cut += 1;
                // Another exchange of the longest kind would not fit.
                assert!(
                    counts(content) + 220 > budget,
                    "{budget} {dialect} {}",
                    counts(content)
                );
            }
        }
        assert!(
            dataset
                .texts("coverage")
                .iter()
                .all(|coverage| coverage == "window")
        );
        assert!(dataset.texts("content")[0].contains("You keep the harbour's book."));
    }
    assert!(cut > 10 && kept > 0, "{cut} {kept}");
}

#[test]
fn a_message_that_exceeds_the_budget_alone_is_retained_with_the_reason() {
    let more = format!(
        "{VENDORS}[window]\nmax_tokens = {{ encoding = \"o200k_base\", tokens = 5 }}\nper_turn = true\n"
    );
    let dataset = Dataset::new(&[("a.json", thread(2))], &more);
    assert_eq!(dataset.valid(), vec![false; 18]);
    for violations in rows::lists(&dataset.root, "renderings", "violations") {
        assert!(
            violations.iter().any(|rule| rule
                .starts_with("window.max_tokens: the turn that ends with message ")
                && rule.contains(": more than 5 tokens of o200k_base")),
            "{violations:?}"
        );
    }
    assert!(dataset.lost("openai-chat", "older messages were cut to fit the token budget") > 0);
}

#[test]
fn a_rendering_per_turn_ends_with_its_answer_and_is_billed_once() {
    let files = [("a.json", thread(5)), ("b.json", room("kitchen", 3))];
    let turns = Dataset::new(&files, &format!("{VENDORS}[window]\nper_turn = true\n"));
    let roles = turns.texts("last_role");
    // Nine dialects, with five answers in the thread and six turns of the bot: each evening two, one of one message and
    // one of two.
    assert_eq!(roles.len(), 9 * (5 + 6));
    assert!(roles.iter().all(|role| role == "assistant"));
    let ordinals: Vec<i64> = turns.numbers("ordinal");
    assert_eq!(ordinals[..5], [0, 1, 2, 3, 4]);
    assert!(turns.valid().iter().all(|valid| *valid));
    assert_eq!(
        turns.lost("openai-chat", "later messages are outside the window"),
        (1..5).map(|left| left * 4).sum::<i64>() + [18, 15, 11, 8, 4, 1].iter().sum::<i64>()
    );
    let whole = Dataset::new(&files, VENDORS);
    let sum = |dataset: &Dataset, column: &str| {
        let mut sums: BTreeMap<(String, String), i64> = BTreeMap::new();
        let keys = dataset
            .texts("dialect")
            .into_iter()
            .zip(dataset.texts("conversation_id"));
        for (key, number) in keys.zip(dataset.numbers(column)) {
            *sums.entry(key).or_default() += number;
        }
        sums
    };
    // The requests of the turns are those of the whole, and so is the text in front of each answer.
    assert_eq!(sum(&turns, "requests"), sum(&whole, "requests"));
    let (parts, all) = (
        sum(&turns, "sent_tokens_o200k_base"),
        sum(&whole, "sent_tokens_o200k_base"),
    );
    for (key, sent) in all {
        if key.0 == "openai-chat" {
            assert_eq!(parts[&key], sent, "{key:?}");
        }
    }
}

#[test]
fn the_bill_as_served_is_each_answers_prefix_and_the_definitions_of_tools() {
    let judge = tiktoken_rs::o200k_base().unwrap();
    let dataset = Dataset::new(
        &[("a.json", thread(3))],
        "[render]\ndialects = [\"openai-chat\", \"tzurot\", \"group-chat\"]\n",
    );
    let all = dataset.texts("dialect").into_iter().zip(dataset.texts("content"));
    let figures = dataset
        .numbers("requests")
        .into_iter()
        .zip(dataset.numbers("sent_tokens_o200k_base"));
    for ((dialect, content), (requests, sent)) in all.zip(figures) {
        let lengths = tokens(&judge, &content);
        let begins_before = |end: usize| {
            let mut at = 0;
            let starts = lengths.iter().map(|length| {
                at += length;
                at - length
            });
            starts.filter(|start| *start < end).count() as i64
        };
        let (expected, bill) = match dialect.as_str() {
            // An archive is not sent, and a single message is sent once.
            "group-chat" => (0, 0),
            "tzurot" => (1, lengths.len() as i64),
            _ => {
                const TURN: &str = "{\"role\":\"assistant\"";
                let turns: Vec<usize> = content
                    .match_indices(TURN)
                    .map(|(at, _)| at + TURN.len())
                    .collect();
                let tools = content.find(",\"tools\":[").unwrap();
                let definitions = begins_before(content.len() - 1) - begins_before(tools);
                let prefixes: i64 = turns.iter().map(|at| begins_before(*at) + definitions).sum();
                (turns.len() as i64, prefixes)
            }
        };
        assert_eq!((requests, sent), (expected, bill), "{dialect}: {content}");
    }
    let totals = |column: &str| {
        rows::numbers(&dataset.root, "totals", column)
            .into_iter()
            .flatten()
            .sum::<i64>()
    };
    assert_eq!(
        totals("requests"),
        dataset.numbers("requests").iter().sum::<i64>()
    );
    assert_eq!(
        totals("tokens_sent"),
        dataset.numbers("sent_tokens_o200k_base").iter().sum::<i64>()
    );
}

#[test]
fn the_tokens_that_begin_in_the_assistants_spans_are_the_assistants_content() {
    let judge = tiktoken_rs::o200k_base().unwrap();
    let files = [("a.json", thread(4)), ("b.json", room("kitchen", 3))];
    // ChatML counts its control tokens as one each, which this reference does not know.
    let dataset = Dataset::new(&files, "[render]\ndialects = [\"all\"]\n");
    let spans = rows::spans(&dataset.root, "renderings", "assistant_spans");
    let counts = rows::numbers(&dataset.root, "token_counts", "assistant_content");
    let all = dataset.texts("dialect").into_iter().zip(dataset.texts("content"));
    let mut spoken = 0;
    for (((dialect, content), spans), counted) in all.zip(spans).zip(counts) {
        assert!(
            spans.is_sorted_by(|one, next| one.end < next.start),
            "{dialect} {spans:?}"
        );
        if dialect == "chatml" {
            continue;
        }
        let mut at = 0;
        let mut begun = 0;
        for length in tokens(&judge, &content) {
            begun += i64::from(spans.iter().any(|span| span.contains(&at)));
            at += length;
        }
        // The spans include calls, which are not content.
        let said = spans.iter().map(|span| &content[span.clone()]);
        let calls = said.filter(|said| !said.contains("good ship") && !said.contains("Evening"));
        let calls: Vec<&str> = calls.collect();
        if calls.is_empty() {
            assert_eq!(Some(begun), counted, "{dialect} {content}");
        } else {
            assert!(Some(begun) > counted, "{dialect} {content}");
        }
        for call in calls {
            assert!(
                call.contains("look") || call.contains("berth"),
                "{dialect} {call}"
            );
        }
        spoken += spans.len();
    }
    assert!(spoken > 100, "{spoken}");
}

#[test]
fn any_number_of_threads_gives_the_same_windows() {
    let shop = TestDir::new();
    let mut lines = String::new();
    for number in 0..90 {
        let chat = room(&format!("r{number}"), 1 + number % 4);
        // White space makes the input long enough for several slices.
        writeln!(lines, "{}", padded(&chat.to_string(), 120_000)).unwrap();
    }
    shop.write("in/rooms.jsonl", lines);
    let more = "[window]\nsession_gap = \"6h\"\nper_turn = true\nmax_tokens = { encoding = \"o200k_base\", tokens = 120 }\n\
                [render]\ndialects = [\"openai-chat\", \"gryag-compact\"]\n";
    let summary = shop.run("one", more, 1).unwrap();
    assert!(summary.manifest.tables[0].files.len() > 2);
    shop.run("three", more, 3).unwrap();
    assert_eq!(shop.hashes("one"), shop.hashes("three"));
}

#[test]
fn the_training_pipeline_gives_samples_that_end_with_their_answer_and_fit() {
    let shop = TestDir::new();
    let path = samples().join("../pipelines/training.toml");
    let plan = Plan::load(&path, &[], Some(&shop.path("out")), &[]).unwrap();
    let never = AtomicBool::new(false);
    let summary = chatmill_engine::run(plan, RunOptions::default(), &Silent, &never).unwrap();
    assert_eq!(
        summary.totals.filtered_by.keys().collect::<Vec<_>>(),
        ["min_turns"]
    );
    let numbers = |column| {
        rows::numbers(&shop.path("out"), "renderings", column)
            .into_iter()
            .flatten()
    };
    assert!(numbers("tokens_o200k_base").all(|tokens| tokens <= 4_000));
    assert!(numbers("requests").all(|requests| requests >= 1));
    let roles = rows::texts(&shop.path("out"), "renderings", "last_role");
    assert!(roles.len() > 30 && roles.iter().flatten().all(|role| role == "assistant"));
    let valid = rows::flags(&shop.path("out"), "renderings", "valid");
    assert!(valid.iter().all(|valid| *valid == Some(true)));
    for spans in rows::spans(&shop.path("out"), "renderings", "assistant_spans") {
        assert!(!spans.is_empty());
    }
}
