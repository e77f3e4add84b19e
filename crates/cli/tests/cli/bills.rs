//! Bills: what belongs to which day, person and tool, what a request is, and what it costs.

use serde_json::{Value, json};

use super::desk::{Desk, end};

/// A room over two days: two questions with an answer each, the second a day later.
fn room() -> Value {
    let message = |id: &str, sender: &str, text: &str, time: &str| json!({"message_id": id, "sender": sender, "type": "text", "content": text, "create_time": time});
    json!({
        "version": "1.0.0",
        "conversation_meta": {
            "name": "yard", "conversation_id": "room1", "scene": "group", "created_at": "2026-01-30T20:00:00+00:00",
            "user_details": {
                "ann": {"full_name": "Ann", "role": "user"},
                "bot": {"full_name": "Bot", "role": "assistant"},
            },
        },
        "conversation_list": [
            message("1", "ann", "Is it open?", "2026-01-30T22:30:00+00:00"),
            message("2", "bot", "It is.", "2026-01-30T22:31:00+00:00"),
            message("3", "ann", "And today?", "2026-01-31T08:00:00+00:00"),
            message("4", "bot", "From nine on.", "2026-01-31T08:01:00+00:00"),
        ],
    })
}

/// A captured request with a history of two turns, its answer, and what was logged.
fn request(id: &str, model: &str, created: i64) -> Value {
    json!({
        "id": id,
        "model": model,
        "messages": [
            {"role": "user", "content": "One?"},
            {"role": "assistant", "content": "One."},
            {"role": "user", "content": "Two?"},
        ],
        "response": {
            "created": created,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "Two."}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}},
        },
    })
}

const PRICES: &str = "[[price]]\nmodel = \"large\"\nencoding = \"o200k_base\"\ncurrency = \"USD\"\nper_million = 1000000\n\
                      per_million_output = 10000000\nper_million_cached_input = 500000\nper_request = 1000\n\
                      date = \"2026-01-31\"\nsource = \"made up\"\n";

fn bill(desk: &Desk, arguments: &[&str]) -> Value {
    let mut all = vec!["tokens", "--format", "json"];
    all.extend(arguments);
    let bill = end(desk.chatmill(&all));
    assert_eq!(bill.code, 0, "{arguments:?}: {}", bill.stderr);
    serde_json::from_str(&bill.stdout).unwrap()
}

fn column(bill: &Value, name: &str) -> Vec<(String, u64)> {
    let rows = bill["rows"].as_array().unwrap().iter();
    let group = |row: &Value| row["group"].as_str().unwrap_or_default().to_owned();
    rows.map(|row| (group(row), row[name].as_u64().unwrap()))
        .collect()
}

fn sum(bill: &Value, name: &str) -> u64 {
    column(bill, name).iter().map(|(_, count)| count).sum()
}

#[test]
fn messages_and_requests_belong_to_their_own_day_by_the_clocks_of_the_zone() {
    let desk = Desk::new();
    desk.write("room.json", &room().to_string());
    let requests = |zone: &str| {
        let bill = bill(
            &desk,
            &[
                "room.json",
                "--dialect",
                "openai-chat",
                "--by",
                "day",
                "--zone",
                zone,
            ],
        );
        column(&bill, "requests")
    };
    let days = |counts: &[(&str, u64)]| -> Vec<(String, u64)> {
        counts
            .iter()
            .map(|(day, count)| ((*day).to_owned(), *count))
            .collect()
    };
    assert_eq!(requests("UTC"), days(&[("2026-01-30", 1), ("2026-01-31", 1)]));
    assert_eq!(requests("Europe/Kyiv"), days(&[("2026-01-31", 2)]));
    assert_eq!(requests("-08:30"), days(&[("2026-01-30", 2)]));
    let said = bill(&desk, &["room.json", "--dialect", "text", "--by", "day"]);
    assert_eq!(
        column(&said, "messages_rendered"),
        days(&[("2026-01-30", 2), ("2026-01-31", 2)])
    );
    let wrong = end(desk.chatmill(&["tokens", "room.json", "--zone", "Mars/Base"]));
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("Mars/Base"), "{}", wrong.stderr);
}

#[test]
fn the_shares_of_a_day_add_up_to_the_whole() {
    let desk = Desk::new();
    desk.write("room.json", &room().to_string());
    for dialect in [
        "openai-chat",
        "gryag-compact",
        "anthropic-messages",
        "chatml",
        "gemini-contents",
        "sharegpt",
    ] {
        let whole = bill(&desk, &["room.json", "--dialect", dialect]);
        let days = bill(&desk, &["room.json", "--dialect", dialect, "--by", "day"]);
        assert_eq!(days["rows"].as_array().unwrap().len(), 2, "{dialect}");
        for name in [
            "tokens",
            "content",
            "framing",
            "names",
            "written",
            "requests",
            "tokens_sent",
            "bytes",
            "renderings",
            "messages_rendered",
            "losses",
        ] {
            assert_eq!(sum(&days, name), sum(&whole, name), "{dialect}: {name}");
        }
        // The second request repeats what the first has sent.
        let sent = column(&days, "tokens_sent");
        assert!(sent[1].1 > sent[0].1, "{dialect}: {sent:?}");
    }
}

#[test]
fn two_things_at_once_the_rest_and_the_total_add_up() {
    let desk = Desk::new();
    desk.write("room.json", &room().to_string());
    let both = bill(&desk, &["room.json", "--by", "day,participant"]);
    let rows = both["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(both["by"], "day,participant");
    assert!(
        rows.iter()
            .any(|row| row["second"] == "ann" && row["second_name"] == "Ann"),
        "{both}"
    );
    let top = bill(&desk, &["room.json", "--by", "day,participant", "--top", "1"]);
    let rest: Vec<&Value> = top["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["group"] == "(the rest)")
        .collect();
    assert_eq!((top["rows"].as_array().unwrap().len(), rest.len()), (2, 1));
    for name in ["tokens", "written", "messages_rendered", "bytes"] {
        assert_eq!(sum(&top, name), sum(&both, name), "{name}");
        assert_eq!(both["total"][0][name], sum(&both, name), "{name}");
    }
    for wrong in [
        &["--by", "day,role,tool"][..],
        &["--by", "day,day"],
        &["--by", "role", "--dialect", "openai-chat"],
        &["--dialect", "text", "--dialect", "openai-chat"],
    ] {
        let mut all = vec!["tokens", "room.json"];
        all.extend(wrong);
        assert_eq!(end(desk.chatmill(&all)).code, 2, "{wrong:?}");
    }
}

#[test]
fn a_captured_request_is_one_request_with_what_was_logged_of_it() {
    let desk = Desk::new();
    let lines = [
        request("a", "large", 1_769_817_600),
        request("b", "large-2026-01-01", 1_769_817_600),
        request("c", "small", 1_769_904_000),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    desk.write("log.jsonl", &(lines.join("\n") + "\n"));
    desk.write("prices.toml", PRICES);
    let bill = bill(
        &desk,
        &[
            "log.jsonl",
            "--dialect",
            "openai-chat",
            "--by",
            "model",
            "--prices",
            "prices.toml",
        ],
    );
    assert_eq!(sum(&bill, "requests"), 3);
    assert_eq!(sum(&bill, "logged_input"), 300);
    for flattened in ["suna-cached", "jaibber-context"] {
        // Its one request beside the many of a chat would look cheap.
        let bill = self::bill(&desk, &["log.jsonl", "--dialect", flattened]);
        assert_eq!(sum(&bill, "requests"), 0, "{flattened}");
    }
    for row in bill["rows"].as_array().unwrap() {
        let number = |name: &str| row[name].as_u64().unwrap();
        assert_eq!((number("requests"), number("logged_requests")), (1, 1));
        assert_eq!((number("logged_cached_input"), number("logged_output")), (60, 7));
        // One answer is written; the history was sent, and was not asked again.
        assert_eq!(number("written"), 2, "{row}");
        assert!(number("tokens_sent") < number("tokens"), "{row}");
        if row["group"] == "small" {
            assert_eq!(row["unpriced"][0]["why"], "another model wrote it");
            assert_eq!(row["money"], json!([]));
        } else {
            // 40 at 1, 60 at 0.5, 7 at 10, and 1,000 for the request.
            assert_eq!(row["money"][0]["as_logged"], 1140.0);
            let served = number("tokens_sent") as f64 + 20.0 + 1000.0;
            assert_eq!(row["money"][0]["as_served_estimate"], served);
        }
    }
}

#[test]
fn a_windowed_bot_is_priced_as_its_requests_are_and_each_answer_once() {
    let desk = Desk::new();
    desk.write("room.json", &room().to_string());
    let pipeline = "name = \"bots\"\n[[input]]\npath = \"room.json\"\n[window]\nhistory = 2\nper_turn = true\n[render]\n\
                    dialects = [\"openai-chat\", \"suna-cached\"]\n[count]\nencodings = [\"o200k_base\"]\n[output]\npath = \"out\"\n";
    desk.write("bots.toml", pipeline);
    let whole = bill(&desk, &["room.json", "--dialect", "openai-chat"]);
    let windowed = bill(&desk, &["room.json", "--pipeline", "bots.toml"]);
    let rows = windowed["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(
            (row["requests"].as_u64(), row["coverage"].as_str()),
            (Some(2), Some("window")),
            "{row}"
        );
    }
    assert_eq!(rows[0]["written"], whole["rows"][0]["written"]);
    assert!(rows[0]["tokens_sent"].as_u64() < whole["rows"][0]["tokens_sent"].as_u64());
    assert_eq!(end(desk.chatmill(&["run", "bots.toml"])).code, 0);
    assert_eq!(bill(&desk, &["out"])["rows"], windowed["rows"]);
    assert_eq!(
        bill(&desk, &["out", "--by", "day"])["rows"],
        bill(&desk, &["room.json", "--pipeline", "bots.toml", "--by", "day"])["rows"]
    );
    // Without a turn each, no requests can be read off a text that holds them all.
    let cached = bill(&desk, &["room.json", "--dialect", "suna-cached"]);
    assert_eq!(sum(&cached, "requests"), 0);
    for (section, word) in [
        ("[dedup]\nexact = \"filter\"\n", "[dedup]"),
        ("[select]\nlimit = 1\n", "select.limit"),
    ] {
        desk.write("bots.toml", &format!("{pipeline}{section}"));
        let refused = end(desk.chatmill(&["tokens", "room.json", "--pipeline", "bots.toml"]));
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
    desk.write(
        "bots.toml",
        &format!("{pipeline}[select]\nparticipants = [\"nobody\"]\n"),
    );
    assert_eq!(
        bill(&desk, &["room.json", "--pipeline", "bots.toml"])["rows"],
        json!([])
    );
}

#[test]
fn a_bill_is_the_same_on_one_thread_and_on_several() {
    let desk = Desk::new();
    for number in 0..300 {
        let mut room = room();
        room["conversation_meta"]["conversation_id"] = json!(format!("room{number}"));
        desk.write(&format!("in/{number}.json"), &room.to_string());
    }
    let bills: Vec<Value> = ["1", "4"]
        .map(|threads| {
            bill(
                &desk,
                &[
                    "in",
                    "--by",
                    "conversation",
                    "--dialect",
                    "openai-chat",
                    "--threads",
                    threads,
                ],
            )
        })
        .into();
    assert_eq!(bills[0]["rows"].as_array().unwrap().len(), 300);
    assert_eq!(bills[0], bills[1]);
}

#[test]
fn tables_fit_into_eighty_columns_and_are_whole_where_that_is_asked_for() {
    let desk = Desk::new();
    desk.write("room.json", &room().to_string());
    desk.write("prices.toml", PRICES);
    let shown = |arguments: &[&str]| {
        let mut all = vec![
            "tokens",
            "room.json",
            "--by",
            "day,participant",
            "--prices",
            "prices.toml",
        ];
        all.extend(arguments);
        let mut command = desk.chatmill(&all);
        command.env("COLUMNS", "80");
        end(command).stdout
    };
    let is_table = |line: &&str| line.contains("  ") && !line.contains("USD for a million");
    let narrow = shown(&[]);
    let longest = narrow
        .lines()
        .filter(is_table)
        .map(|line| line.chars().count())
        .max();
    assert!(longest.unwrap() <= 80, "{narrow}");
    assert!(narrow.contains("--wide"), "{narrow}");
    let wide = shown(&["--wide"]);
    assert!(wide.contains("p99") && !wide.contains("--wide"), "{wide}");
}

#[test]
fn a_pipelines_prompt_and_tools_are_counted_as_a_run_counts_them() {
    let desk = Desk::new();
    desk.write("room.json", &room().to_string());
    let pipeline = "name = \"bots\"\n[[input]]\npath = \"room.json\"\n[render]\ndialects = [\"openai-chat\"]\n[count]\n\
                    encodings = [\"o200k_base\"]\n[output]\npath = \"out\"\n";
    desk.write("bare.toml", pipeline);
    let added =
        "[prompt]\nsystem = \"You are {agent.name} in {room.title}.\"\n[tools]\nfile = \"tools.json\"\n";
    desk.write("bots.toml", &format!("{pipeline}{added}"));
    desk.write(
        "tools.json",
        r#"[{"type":"function","function":{"name":"opening_hours","parameters":{"type":"object","properties":{}}}}]"#,
    );
    let bare = bill(&desk, &["room.json", "--pipeline", "bare.toml"]);
    let files = bill(&desk, &["room.json", "--pipeline", "bots.toml"]);
    assert!(sum(&files, "tools") > sum(&bare, "tools"), "{files}");
    assert!(sum(&files, "content") > sum(&bare, "content"), "{files}");
    assert_eq!(end(desk.chatmill(&["run", "bots.toml"])).code, 0);
    assert_eq!(bill(&desk, &["out"])["rows"], files["rows"]);
}

/// A session in which the first answer was taken back, the last one is a thought, and one piece of an answer has no words.
fn session() -> String {
    let line = |kind: &str, uuid: &str, parent: Option<&str>, content: Value, output: Option<u32>| {
        let usage = output.map(|output| json!({"input_tokens": 10, "output_tokens": output}));
        let message =
            json!({"id": format!("m-{uuid}"), "model": "large", "content": content, "usage": usage});
        let time = "2026-01-31T08:00:00Z";
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": time, "message": message})
    };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let lines = [
        line("user", "u1", None, json!("Delete it."), None),
        line("assistant", "a1", Some("u1"), text("No."), Some(1)),
        line("user", "u2", None, json!("Rename it."), None),
        line("assistant", "a2", Some("u2"), text("Done."), Some(2)),
        line("assistant", "a3", Some("a2"), json!([]), Some(4)),
        line("user", "u3", Some("a3"), json!("And again."), None),
        line("assistant", "a4", Some("u3"), text("Yes."), Some(8)),
        line("user", "u4", Some("a4"), json!("Thanks."), None),
        line(
            "assistant",
            "a5",
            Some("u4"),
            json!([{"type": "thinking", "thinking": "Bye."}]),
            Some(16),
        ),
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

#[test]
fn what_was_paid_is_billed_once_whether_it_is_shown_or_not_and_however_it_is_cut() {
    let desk = Desk::new();
    desk.write("s.jsonl", &session());
    desk.write("prices.toml", PRICES);
    let window = |keys: &str| {
        format!(
            "name = \"bots\"\n[[input]]\npath = \"s.jsonl\"\n[window]\n{keys}\n[render]\ndialects = [\"openai-chat\", \"anthropic-messages\"]\n\
             [count]\nencodings = [\"o200k_base\"]\n[output]\npath = \"out\"\n"
        )
    };
    desk.write("whole.toml", &window(""));
    desk.write("turns.toml", &window("per_turn = true"));
    desk.write("steps.toml", &window("mode = \"per_turn\"\ntargets = \"steps\""));
    desk.write("row.toml", &window("mode = \"consecutive\""));
    for name in ["whole.toml", "turns.toml", "steps.toml", "row.toml"] {
        for by in ["day", "conversation"] {
            let bill = bill(&desk, &["s.jsonl", "--pipeline", name, "--by", by]);
            for column in ["requests", "logged_requests"] {
                assert_eq!(sum(&bill, column), 2 * 5, "{name} {column}");
            }
            assert_eq!(sum(&bill, "logged_output"), 2 * 31, "{name}");
        }
    }
    let priced = [
        "s.jsonl",
        "--dialect",
        "openai-chat",
        "--prices",
        "prices.toml",
        "--by",
        "model",
    ];
    // Of every request it is known what was paid: 50 at 1, 31 at 10, and 1,000 for each.
    assert_eq!(bill(&desk, &priced)["rows"][0]["money"][0]["as_logged"], 5360.0);
    assert_eq!(end(desk.chatmill(&["run", "turns.toml"])).code, 0);
    let of_files = bill(&desk, &["s.jsonl", "--pipeline", "turns.toml", "--by", "day"]);
    assert_eq!(bill(&desk, &["out", "--by", "day"])["rows"], of_files["rows"]);
}

#[test]
fn what_was_logged_stands_beside_text_and_what_has_no_day_is_a_row() {
    let desk = Desk::new();
    let mut room = room();
    room["conversation_list"][3]
        .as_object_mut()
        .unwrap()
        .remove("create_time");
    desk.write("in/room.json", &room.to_string());
    // 2026-01-31, 12:00 in UTC.
    desk.write("in/log.jsonl", &request("r1", "large", 1_769_860_800).to_string());
    desk.write(
        "p.toml",
        "[[input]]\npath = \"in/*\"\n[render]\ndialects = [\"openai-chat\"]\n[output]\npath = \"out\"\n",
    );
    let run = end(desk.chatmill(&["run", "p.toml"]));
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    for dialect in ["text", "openai-chat"] {
        let of_files = bill(&desk, &["in", "--dialect", dialect, "--by", "day"]);
        let of_dataset = bill(&desk, &["out", "--dialect", dialect, "--by", "day"]);
        for (key, logged) in [
            ("logged_requests", 1),
            ("logged_input", 100),
            ("logged_cached_input", 60),
            ("logged_output", 7),
        ] {
            for bill in [&of_files, &of_dataset] {
                assert_eq!(
                    (sum(bill, key), bill["total"][0][key].as_u64()),
                    (logged, Some(logged)),
                    "{dialect} {key}"
                );
                let of_day = column(bill, key).into_iter().find(|(day, _)| day == "2026-01-31");
                assert_eq!(of_day.map(|(_, count)| count), Some(logged), "{dialect} {key}");
            }
        }
        for bill in [&of_files, &of_dataset] {
            let undated = column(bill, "tokens")
                .into_iter()
                .find(|(day, _)| day == "undated");
            assert!(undated.is_some_and(|(_, tokens)| tokens > 0), "{dialect}: {bill}");
            assert_eq!(Some(sum(bill, "tokens")), bill["total"][0]["tokens"].as_u64());
        }
        let table = end(desk.chatmill(&["tokens", "in", "--dialect", dialect, "--by", "day", "--wide"]));
        assert!(
            table.stdout.contains("logged sent") && table.stdout.contains(" undated "),
            "{}",
            table.stdout
        );
    }
    let sums = |by: &str| {
        sum(
            &bill(&desk, &["in", "--dialect", "text", "--by", by]),
            "logged_output",
        )
    };
    assert!(
        ["role", "model", "participant", "tool", "room"]
            .into_iter()
            .all(|by| sums(by) == 7)
    );
}
