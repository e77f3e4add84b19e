use std::fs;

use serde_json::Value;

use crate::desk::{Desk, dangling_chat, end};

/// A desk with one chat, milled into `out`.
fn milled() -> Desk {
    let desk = Desk::new();
    desk.write("in/chat.json", &dangling_chat("one").to_string());
    desk.pipeline();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 0);
    desk
}

#[test]
fn a_report_is_written_into_the_dataset_which_stays_certified() {
    let desk = milled();
    let report = end(desk.chatmill(&["report", "out"]));
    assert_eq!(report.code, 0, "{}", report.stderr);
    for name in ["report.html", "report.json", "README.md"] {
        assert!(desk.path("out").join(name).is_file(), "{name}");
        assert!(report.stdout.contains(name), "{}", report.stdout);
    }
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
    let against = end(desk.chatmill(&["report", "out", "--against", "out"]));
    assert_eq!(against.code, 0, "{}", against.stderr);
    let json: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("out/report.json")).unwrap()).unwrap();
    assert_eq!(json["comparison"]["conversations"]["same"], 1);
}

#[test]
fn prices_of_many_models_stand_in_tables_that_a_printed_page_holds() {
    let desk = milled();
    let price = |model: usize| {
        format!(
            "[[price]]\nmodel = \"model-{model}\"\nencoding = \"r50k_base\"\ncurrency = \"USD\"\nper_million = 1\n\
             date = \"2026-11-23\"\nsource = \"made up\"\n"
        )
    };
    let page = |models: usize| {
        desk.write("prices.toml", &(1..=models).map(price).collect::<String>());
        let report = end(desk.chatmill(&["report", "out", "--prices", "prices.toml"]));
        assert_eq!(report.code, 0, "{}", report.stderr);
        fs::read_to_string(desk.path("out/report.html")).unwrap()
    };
    assert!(page(3).contains("<caption>Money by dialect and model</caption>"));
    let many = page(7);
    for part in 1..=3 {
        assert!(
            many.contains(&format!("Money by dialect and model, {part} of 3")),
            "{part}"
        );
    }
    for model in 1..=7 {
        assert_eq!(
            many.matches(&format!("model-{model}, once (USD)")).count(),
            1,
            "{model}"
        );
    }
    assert!(many.contains("What they cost at 1 more price stands in"));
}

#[test]
fn a_dataset_of_an_older_format_is_refused_with_the_next_step_by_whoever_reads_it() {
    let desk = milled();
    let path = desk.path("out/manifest.json");
    let newer = fs::read_to_string(&path).unwrap();
    let line = format!("  \"format\": {},\n", chatmill_dataset::FORMAT);
    let older = newer
        .replacen(&line, "", 1)
        .replacen("\"fingerprint\": \"", "\"fingerprint\": \"old", 1);
    assert_eq!(older.len() + line.len(), newer.len() + "old".len());
    desk.write("out/manifest.json", &older);
    let marker = format!("{}\n", blake3::hash(older.as_bytes()).to_hex());
    desk.write("out/_SUCCESS", &marker);
    for command in [
        &["report", "out"][..],
        &["certify", "out"],
        &["diff", "out", "out"],
        &["tokens", "out"],
        &[
            "export",
            "out",
            "--dialect",
            "openai-chat",
            "--format",
            "jsonl",
            "--out",
            "files",
        ],
    ] {
        let refused = end(desk.chatmill(command));
        assert_eq!(refused.code, 2, "{command:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("is a dataset of format 1"),
            "{command:?}: {}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains("--replace"),
            "{command:?}: {}",
            refused.stderr
        );
    }
    let again = end(desk.chatmill(&["run", "pipeline.toml"]));
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml", "--replace"])).code, 0);
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
}

#[test]
fn times_stand_in_the_file_of_the_run_and_in_a_report_that_asks_for_them() {
    let desk = milled();
    let read = |name: &str| fs::read_to_string(desk.path("out").join(name)).unwrap();
    let run: Value = serde_json::from_str(&read("run.json")).unwrap();
    let slowest = run["slowest"].as_array().unwrap();
    assert_eq!(slowest.len(), 1);
    assert!(slowest[0]["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(slowest[0]["input"], "chat.json");
    let first = read("report.html");
    let plain: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert!(plain["slowest"].is_null());
    assert_eq!(end(desk.chatmill(&["report", "out", "--times"])).code, 0);
    let timed: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(timed["slowest"]["rows"][0], slowest[0]);
    assert!(!first.contains("<h3>Slowest</h3>") && read("report.html").contains("<h3>Slowest</h3>"));
    assert_eq!(end(desk.chatmill(&["report", "out"])).code, 0);
    assert_eq!(read("report.html"), first);
    for broken in ["{\"slowest\": 3}", "nothing"] {
        desk.write("out/run.json", broken);
        let refused = end(desk.chatmill(&["report", "out", "--times"]));
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("run.json"), "{}", refused.stderr);
    }
}

#[test]
fn what_is_no_dataset_is_refused_with_the_next_step() {
    let desk = milled();
    let refused: [&[&str]; 4] = [
        &["report", "in"],
        &["report", "out", "--against", "nowhere"],
        &["diff", "out", "in"],
        &["diff", "nowhere", "out"],
    ];
    for arguments in refused {
        let refused = end(desk.chatmill(arguments));
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("not a dataset"), "{}", refused.stderr);
        assert!(refused.stderr.contains("help:"), "{}", refused.stderr);
    }
}

#[test]
fn a_diff_fails_on_its_conditions_only() {
    let desk = milled();
    desk.write("in/other.json", &dangling_chat("two").to_string());
    let run = end(desk.chatmill(&["run", "pipeline.toml", "--out", "later"]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let diff = |conditions: &[&str]| {
        let mut arguments = vec!["diff", "out", "later"];
        for condition in conditions {
            arguments.extend(["--fail-if", condition]);
        }
        end(desk.chatmill(&arguments))
    };
    let plain = diff(&[]);
    assert_eq!(plain.code, 0, "{}", plain.stderr);
    assert!(plain.stdout.contains("1 added"), "{}", plain.stdout);
    assert_eq!(diff(&["conversations < 2", "tokens_common != 0%"]).code, 0);
    let failed = diff(&["tokens{dialect=openai-chat} > 5%", "conversations < 1"]);
    assert_eq!(failed.code, 1);
    assert!(
        failed.stdout.contains("FAILED  tokens{dialect=openai-chat} > 5%"),
        "{}",
        failed.stdout
    );
    for (wrong, reason) in [
        ("mood > 1", "no metric"),
        ("money > 1", "without prices"),
        ("conversations < -1", "-1%"),
        ("tokens{encoding=o200k_base} > 1", "r50k_base"),
    ] {
        let refused = diff(&[wrong]);
        assert_eq!(refused.code, 2, "{wrong}");
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

#[test]
fn a_diff_has_forms_for_programs_and_for_job_summaries() {
    let desk = milled();
    let json = end(desk.chatmill(&[
        "diff",
        "out",
        "out",
        "--format",
        "json",
        "--fail-if",
        "conversations == 1",
    ]));
    assert_eq!(json.code, 1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["comparison"]["conversations"]["same"], 1);
    assert_eq!(json["objections"][0]["condition"], "conversations == 1");
    let markdown = end(desk.chatmill(&["diff", "out", "out", "--format", "markdown"]));
    assert_eq!(markdown.stdout.lines().count(), 1, "{}", markdown.stdout);
}

#[test]
fn a_bill_is_the_same_from_files_and_from_their_dataset() {
    let desk = milled();
    let rows = |arguments: &[&str]| -> Value {
        let mut all = vec!["tokens", "--format", "json"];
        all.extend(arguments);
        let bill = end(desk.chatmill(&all));
        assert_eq!(bill.code, 0, "{}", bill.stderr);
        let bill: Value = serde_json::from_str(&bill.stdout).unwrap();
        bill["rows"].clone()
    };
    let once = ["--dialect", "openai-chat", "--dialect", "gryag-compact"];
    // A dialect that is named twice is billed once.
    let dialects = [once.as_slice(), &["--dialect", "openai-chat@document"]].concat();
    for by in ["source", "conversation", "day"] {
        let mut files = vec!["in", "--encoding", "r50k_base", "--by", by];
        let mut dataset = vec!["out", "--by", by];
        files.extend(&dialects);
        dataset.extend(&dialects);
        let rows_of_files = rows(&files);
        assert_eq!(rows_of_files, rows(&dataset), "{by}");
        assert_eq!(rows_of_files[0]["requests"], 1, "one answer");
        assert!(rows_of_files[0]["tokens_sent"].as_u64().unwrap() > 0);
    }
    for by in ["participant", "role"] {
        let files = rows(&["in", "--encoding", "r50k_base", "--by", by]);
        assert_eq!(files, rows(&["out", "--by", by]), "{by}");
        assert!(!files.as_array().unwrap().is_empty());
    }
}

#[test]
fn a_bill_has_money_and_says_where_the_price_is_from() {
    let desk = milled();
    let price = |per_million: &str| {
        format!(
            "[[price]]\nmodel = \"m\"\nencoding = \"r50k_base\"\ncurrency = \"USD\"\nper_million = {per_million}\n\
             per_million_output = 3000000\n\
             date = \"2026-01-31\"\nsource = \"our contract\"\n"
        )
    };
    desk.write("prices.toml", &price("1000000"));
    let bill = end(desk.chatmill(&["tokens", "out", "--prices", "prices.toml"]));
    assert_eq!(bill.code, 0, "{}", bill.stderr);
    let heads = bill
        .stdout
        .lines()
        .take(2)
        .map(|line| line.split_whitespace().next_back());
    assert!(heads.eq([Some("m"), Some("USD")]), "{}", bill.stdout);
    assert!(bill.stdout.contains("our contract"), "{}", bill.stdout);
    let csv = end(desk.chatmill(&["tokens", "out", "--prices", "prices.toml", "--format", "csv"]));
    let mut lines = csv.stdout.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let row: Vec<&str> = lines.next().unwrap().split(',').collect();
    let number = |name: &str| row[place(name)].parse::<u64>().unwrap();
    assert!(bill.stdout.contains("As served, an estimate"), "{}", bill.stdout);
    assert!(number("assistant_content") > 0);
    assert_eq!(
        format!("{}.000000", number("tokens_sent") + 3 * number("written")),
        row[place("m USD as served (estimate)")]
    );
    assert_eq!(format!("{}.000000", row[place("tokens")]), row[place("m USD")]);
    desk.write("prices.toml", &price("-1"));
    let refused = end(desk.chatmill(&["tokens", "out", "--prices", "prices.toml"]));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("per_million"), "{}", refused.stderr);
}

#[test]
fn a_pipeline_gives_its_templates_and_encodings_names() {
    let desk = milled();
    desk.write(
        "model.jinja",
        "{% for message in messages %}- {{ message.content }}\n{% endfor %}",
    );
    let ranks: Vec<String> = (0..=255_u8)
        .map(|byte| format!("{} {byte}", base64(byte)))
        .collect();
    desk.write("bytes.tiktoken", &ranks.join("\n"));
    desk.write(
        "own.toml",
        "name = \"own\"\n[[input]]\npath = \"in/*\"\n[templates.own-model]\ntemplate = \"model.jinja\"\n[render]\n\
         dialects = [\"own-model\"]\n[count]\n\
         encodings = [{ name = \"own_bytes\", ranks = \"bytes.tiktoken\", pattern = \"gpt2\" }]\n[output]\npath = \"own\"\n",
    );
    let run = end(desk.chatmill(&["run", "own.toml"]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let rows = |arguments: &[&str]| -> Value {
        let mut all = vec!["tokens", "--format", "json", "--pipeline", "own.toml"];
        all.extend(arguments);
        let bill = end(desk.chatmill(&all));
        assert_eq!(bill.code, 0, "{arguments:?}: {}", bill.stderr);
        serde_json::from_str::<Value>(&bill.stdout).unwrap()["rows"].clone()
    };
    let files = rows(&["in"]);
    assert_eq!(files[0]["dialect"], "own-model");
    assert_eq!(
        (&files[0]["encoding"], files[0]["bytes"].as_u64()),
        (&"own_bytes".into(), files[0]["tokens"].as_u64())
    );
    assert_eq!(files, rows(&["own"]));
    assert_eq!(
        files,
        rows(&["own", "--dialect", "own-model", "--encoding", "own_bytes"])
    );
    let unknown = end(desk.chatmill(&["tokens", "in", "--dialect", "own-model"]));
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
    let tools = end(desk.chatmill(&["tokens", "own", "--by", "tool"]));
    assert_eq!(tools.code, 2, "{}", tools.stdout);
    assert!(tools.stderr.contains("--pipeline"), "{}", tools.stderr);
    assert_eq!(rows(&["own", "--by", "tool"])[0]["group"], "(no tool)");
    desk.write("refusing.jinja", "{{ raise_exception('only in pairs') }}");
    let text = fs::read_to_string(desk.path("own.toml")).unwrap();
    desk.write("own.toml", &text.replace("model.jinja", "refusing.jinja"));
    let judged = end(desk.chatmill(&["check", "in", "--for", "own-model", "--pipeline", "own.toml"]));
    assert!(
        judged.stdout.contains("only in pairs"),
        "{}{}",
        judged.stdout,
        judged.stderr
    );
}

/// One byte in Base64.
fn base64(byte: u8) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let character = |index: u8| char::from(SIGNS[usize::from(index)]);
    format!("{}{}==", character(byte >> 2), character((byte & 3) << 4))
}

#[test]
fn a_promise_stands_beside_what_was_counted() {
    let desk = milled();
    let dialects = ["--dialect", "gryag-gemini", "--dialect", "gryag-compact"];
    let mut arguments = vec!["tokens", "in", "--encoding", "r50k_base"];
    arguments.extend(dialects);
    let bill = end(desk.chatmill(&arguments));
    assert!(bill.stdout.contains("promised are 73.7 %"), "{}", bill.stdout);
}

#[test]
fn bills_that_make_no_sense_are_refused() {
    let desk = milled();
    let refused: [(&[&str], &str); 5] = [
        (
            &["tokens", "in", "--by", "role", "--dialect", "openai-chat"],
            "leave out --dialect",
        ),
        (&["tokens", "out", "in"], "not priced together"),
        (&["tokens", "out", "--encoding", "o200k_base"], "r50k_base"),
        (
            &["tokens", "out", "--dialect", "tzurot"],
            "no rendering in tzurot",
        ),
        (&["tokens", "in", "--encoding", "o200k_bass"], "did you mean"),
    ];
    for (arguments, reason) in refused {
        let refused = end(desk.chatmill(arguments));
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(reason),
            "{arguments:?}: {}",
            refused.stderr
        );
    }
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_counted() {
    let desk = milled();
    desk.write("in/broken.json", "{\"conversation_meta\": ");
    let bill = end(desk.chatmill(&["tokens", "in", "--dialect", "openai-chat"]));
    assert_eq!(bill.code, 1, "a bill in which something is missing");
    assert!(
        bill.stderr.contains("not counted: in/broken.json:1: "),
        "{}",
        bill.stderr
    );
    assert!(bill.stdout.contains("openai-chat"));
    let nothing = end(desk.chatmill(&["tokens", "in/broken.json"]));
    assert_eq!(nothing.code, 1);
}
