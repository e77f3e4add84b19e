//! Plans: requests that are resolved, and those that are refused before any input is read.

use std::path::Path;

use crate::Plan;
use crate::pipeline::{Config, parse};
use crate::plan::CheckSettings;

use crate::tests::test_dir::{TestDir, request};

/// Resolves a plan over `a.jsonl` and `b.jsonl` of a desk, with further lines in its pipeline.
fn plan(test_dir: &TestDir, more: &str) -> Result<Plan, String> {
    let unless = |section, text| if more.contains(section) { "" } else { text };
    let inputs = unless("[[input]]", "[[input]]\npath = \"*.jsonl\"\n");
    let output = unless("[output]", "[output]\npath = \"out\"\n");
    let text = format!("name = \"n\"\n{inputs}{output}{more}");
    let pipeline = parse(&text, &[], Path::new("p.toml")).map_err(|error| error.to_string())?;
    let folder = test_dir.path("");
    Plan::resolve(pipeline, Path::new(&folder), None, None).map_err(|error| error.to_string())
}

fn test_dir() -> TestDir {
    let tools = r#"[{"name":"berth","input_schema":{"type":"object"}},
        {"type":"function","function":{"name":"tide","parameters":{"type":"object"}}}]"#;
    let wrong = r#"{"tools":[{"name":"berth","input_schema":{"type":"object"}},{"berth":1}]}"#;
    TestDir::new(&[
        ("a.jsonl", &request("a")),
        ("b.jsonl", &request("b")),
        ("empty.json", "[]"),
        ("wrong.json", wrong),
        ("list.json", tools),
        ("object.json", &format!("{{\"tools\":{tools}}}")),
        (
            "t.jinja",
            "{% for m in messages %}[{{ m.role }}] {{ m.content }}<|end|>{% endfor %}",
        ),
        (
            "endless.jinja",
            "{% for i in range(100000) %}{% for j in range(100000) %}{{ j }}{% endfor %}{% endfor %}",
        ),
        ("other.json", &tokenizer("<|eot|>")),
        ("own.json", &tokenizer("<|end|>")),
        (
            "unlisted.json",
            &tokenizer("<|end|>").replace("added_tokens", "tokens_added"),
        ),
        (
            "misread.json",
            &tokenizer("<|end|>").replace("\"content\"", "\"contents\""),
        ),
    ])
}

/// Returns a tokenizer of single bytes, with one special token.
fn tokenizer(special: &str) -> String {
    let printable = (33_u32..=126).chain(161..=172).chain(174..=255);
    let mut signs: Vec<char> = printable.filter_map(char::from_u32).collect();
    signs.extend((256..256 + 68).filter_map(char::from_u32));
    let vocabulary: serde_json::Map<String, serde_json::Value> = (0..)
        .zip(&signs)
        .map(|(id, sign): (u32, _)| (sign.to_string(), id.into()))
        .collect();
    serde_json::json!({
        "added_tokens": [{"id": 256, "content": special, "special": true}],
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []}
    })
    .to_string()
}

#[test]
fn a_file_of_tools_is_a_list_or_an_object_that_holds_one() {
    let test_dir = test_dir();
    for file in ["list.json", "object.json"] {
        let plan = plan(&test_dir, &format!("[tools]\nfile = {file:?}\n")).unwrap();
        let normalised = plan.normalised();
        assert_eq!(plan.additions(&[]).tools.len(), 2, "{file}");
        assert_eq!(normalised["tools"]["definitions"].as_array().unwrap().len(), 2);
        assert!(normalised["tools"].get("file").is_none(), "{normalised}");
    }
}

#[test]
fn a_budget_by_template_depends_on_the_contents_of_its_files() {
    let test_dir = test_dir();
    let budget = |template: &str, tokenizer: &str| {
        let more = format!(
            "[window]\nmode = \"per_turn\"\nmax_tokens = {{ template = {template:?}, tokenizer = {tokenizer:?}, tokens = 9 }}\n"
        );
        plan(&test_dir, &more).unwrap()
    };
    let own = budget("t.jinja", "own.json");
    assert_eq!(own.windows.planners.len(), 1);
    let normalised = own.normalised().to_string();
    assert!(
        !normalised.contains("t.jinja") && !normalised.contains("own.json"),
        "{normalised}"
    );
    assert_ne!(own.normalised(), budget("t.jinja", "o200k_base").normalised());
    // A template of the pipeline file by its name.
    let named = "[templates.said]\ntemplate = \"t.jinja\"\n[window]\nmode = \"per_turn\"\n\
                 max_tokens = { template = \"said\", tokenizer = \"own.json\", tokens = 9 }\n";
    assert_eq!(plan(&test_dir, named).unwrap().windows.planners.len(), 1);
}

fn names(plan: &Plan) -> Vec<String> {
    plan.inputs
        .iter()
        .map(|planned| planned.name().into_owned())
        .collect()
}

#[test]
fn a_request_that_cannot_be_met_is_refused_as_its_case_says() {
    let test_dir = test_dir();
    let refusal = |case: &str| {
        let refused = if case.starts_with("[che") {
            let config = Config::parse(case, Path::new("chatmill.toml"));
            config.map_err(|error| error.to_string()).and_then(|config| {
                let settings = CheckSettings::new(&config.check);
                settings
                    .err()
                    .map_or_else(|| Ok(()), |error| Err(error.to_string()))
            })
        } else {
            plan(&test_dir, case).map(drop)
        };
        let message = refused.err().unwrap_or_else(|| panic!("{case} is not refused"));
        message.replace(&test_dir.path(""), "")
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/cases/refused.txt");
    let checked = chatmill_golden::check_cases(&path, refusal);
    checked.unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn tables_that_are_not_wanted_are_absent_and_those_that_are_always_written_never() {
    let test_dir = test_dir();
    let absent = |tables: &str| plan(&test_dir, tables).unwrap().absent_tables();
    assert_eq!(absent(""), Vec::<&str>::new());
    assert_eq!(
        absent("tables = [\"renderings\", \"findings\", \"messages\"]"),
        [
            "conversations",
            "alternatives",
            "message_references",
            "tool_calls",
            "token_counts",
            "losses"
        ]
    );
    assert_eq!(absent("tables = [\"totals\"]").len(), 8);
}

#[test]
fn lists_of_tables_that_mean_the_same_have_one_fingerprint() {
    let test_dir = test_dir();
    let fingerprint = |tables: &str| plan(&test_dir, tables).unwrap().fingerprint();
    let all = format!("tables = {:?}", chatmill_dataset::TABLES);
    assert_eq!(fingerprint(&all), fingerprint(""));
    let few = fingerprint("tables = [\"messages\", \"renderings\"]");
    assert_ne!(few, fingerprint(""));
    assert_eq!(
        fingerprint("tables = [\"renderings\", \"rejects\", \"messages\", \"renderings\"]"),
        few
    );
}

#[test]
fn inputs_stand_in_the_order_of_their_names_and_excluded_ones_are_left_out() {
    let test_dir = test_dir();
    let both = "[[input]]\npath = \"b.jsonl\"\n[[input]]\npath = \"a.jsonl\"\n";
    assert_eq!(names(&plan(&test_dir, both).unwrap()), ["a.jsonl", "b.jsonl"]);
    let one = "[[input]]\npath = \"*.jsonl\"\nexclude = [\"a*\"]\n";
    assert_eq!(names(&plan(&test_dir, one).unwrap()), ["b.jsonl"]);
}

#[test]
fn an_input_in_two_sections_is_read_twice_under_their_numbers() {
    let test_dir = test_dir();
    let twice = "[[input]]\npath = \"a.jsonl\"\nid_prefix = \"x-\"\n[[input]]\npath = \"a.jsonl\"\n";
    let plan = plan(&test_dir, twice).unwrap();
    assert_eq!(names(&plan), ["1/a.jsonl", "2/a.jsonl"]);
    assert_eq!(plan.inputs[0].settings.written.id_prefix, "x-");
}

#[test]
fn dialects_are_rendered_once_and_in_the_order_of_the_registry() {
    let test_dir = test_dir();
    let order = |words: &str| -> Vec<String> {
        let plan = plan(&test_dir, &format!("[render]\ndialects = {words}\n")).unwrap();
        plan.targets.iter().map(|target| target.id().to_owned()).collect()
    };
    assert_eq!(
        order("[\"chatml\", \"openai-chat\", \"chatml\"]"),
        order("[\"openai-chat\", \"chatml\"]")
    );
    assert_eq!(
        order("[\"all\", \"chatml\"]").len(),
        chatmill_dialect::DIALECTS.len()
    );
}

#[test]
fn output_path_and_threads_do_not_change_the_fingerprint() {
    let test_dir = test_dir();
    let fingerprint = |more: &str| plan(&test_dir, more).unwrap().fingerprint();
    let plain = fingerprint("");
    assert_eq!(fingerprint("[resources]\nthreads = 3\n"), plain);
    assert_ne!(fingerprint("[limits]\ndepth = 9\n"), plain);
    assert_ne!(
        fingerprint("[[input]]\npath = \"*.jsonl\"\nid_prefix = \"x\"\n"),
        plain
    );
    let text = "name = \"n\"\n[[input]]\npath = \"./*.jsonl\"\n[output]\npath = \"elsewhere\"\n";
    let pipeline = parse(text, &[], Path::new("p.toml")).unwrap();
    let folder = test_dir.path("");
    let elsewhere = Plan::resolve(pipeline, Path::new(&folder), None, None).unwrap();
    assert_eq!(elsewhere.fingerprint(), plain);
}

#[test]
fn the_slices_of_small_and_of_large_inputs_stay_within_bounds() {
    let mut plan = plan(&test_dir(), "").unwrap();
    assert_eq!(plan.slice_bytes(), 4 << 20);
    plan.inputs[0].input.bytes = 96 << 20;
    plan.inputs[1].input.bytes = 0;
    assert_eq!(plan.slice_bytes(), 6 << 20);
    plan.inputs[0].input.bytes = 1 << 40;
    assert_eq!(plan.slice_bytes(), 12 << 20);
}
