use serde_json::Value;

use crate::desk::{Desk, dangling_chat, end, good_chat, json_lines};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("one.json", &good_chat("one").to_string());
    desk.write(
        "two.jsonl",
        &format!("{}\n{}\n", good_chat("bean-talk"), dangling_chat("pea-talk")),
    );
    desk
}

fn dialects(desk: &Desk) -> Vec<(String, bool)> {
    let listed: Value =
        serde_json::from_str(&end(desk.chatmill(&["dialects", "--format", "json"])).stdout).unwrap();
    let dialects = listed.as_array().unwrap();
    assert!(!dialects.is_empty());
    dialects
        .iter()
        .map(|dialect| {
            (
                dialect["id"].as_str().unwrap().to_owned(),
                dialect["media_type"] == "application/json",
            )
        })
        .collect()
}

#[test]
fn every_dialect_renders() {
    let desk = desk();
    for (dialect, is_json) in dialects(&desk) {
        let render = end(desk.chatmill(&["render", "one.json", "--dialect", &dialect]));
        assert_eq!(render.code, 0, "{dialect}: {}", render.stderr);
        assert!(
            render.stdout.contains("When do we water the beans?"),
            "{dialect}: {}",
            render.stdout
        );
        if is_json {
            assert!(!json_lines(&render.stdout).is_empty(), "{dialect}");
        } else {
            assert!(
                serde_json::from_str::<Value>(&render.stdout).is_err(),
                "{dialect} is text"
            );
        }
    }
}

#[test]
fn several_texts_are_json_lines_with_their_ids() {
    let desk = desk();
    let render = end(desk.chatmill(&["render", "two.jsonl", "--dialect", "gryag-compact"]));
    let lines = json_lines(&render.stdout);
    assert_eq!(lines.len(), 2);
    let keys: Vec<&str> = lines[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["conversation_id", "perspective", "text"]);
    let single = end(desk.chatmill(&["render", "one.json", "--dialect", "gryag-compact"]));
    assert_eq!(
        lines[0]["text"].as_str().unwrap().trim_end(),
        single.stdout.trim_end()
    );
}

#[test]
fn ids_and_losses_wrap_the_rendering() {
    let desk = desk();
    let plain = end(desk.chatmill(&["render", "one.json", "--dialect", "openai-chat"]));
    let with_ids = json_lines(
        &end(desk.chatmill(&["render", "one.json", "--dialect", "openai-chat", "--with-ids"])).stdout,
    );
    assert_eq!(
        with_ids[0]["rendering"],
        serde_json::from_str::<Value>(&plain.stdout).unwrap()
    );
    assert_eq!(with_ids[0]["perspective"], "bot_1");
    assert_eq!(with_ids[0]["ordinal"], 0);
    assert!(with_ids[0].get("losses").is_none());
    let losses = json_lines(
        &end(desk.chatmill(&["render", "one.json", "--dialect", "openai-chat", "--losses"])).stdout,
    );
    let codes: Vec<&str> = losses[0]["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| loss["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"timestamp-dropped"), "{codes:?}");
    assert_eq!(losses[0]["violations"], Value::Array(Vec::new()));
}

#[test]
fn one_conversation_and_one_perspective_can_be_chosen() {
    let desk = desk();
    let choose = |more: &[&str]| {
        let arguments = [
            &["render", "two.jsonl", "--dialect", "openai-chat", "--with-ids"],
            more,
        ]
        .concat();
        end(desk.chatmill(&arguments))
    };
    let all = json_lines(&choose(&[]).stdout);
    assert_eq!(all.len(), 2);
    let second = all[1]["conversation_id"].as_str().unwrap();
    let chosen = json_lines(&choose(&["--conversation", second]).stdout);
    assert_eq!(chosen, all[1..]);
    for spelling in ["user_2", "Ben"] {
        let as_ben = json_lines(&choose(&["--as", spelling]).stdout);
        assert!(
            as_ben.iter().all(|line| line["perspective"] == "user_2"),
            "{spelling}"
        );
    }
    assert!(
        json_lines(&choose(&["--as", "none"]).stdout)
            .iter()
            .all(|line| line["perspective"] == "")
    );
}

#[test]
fn unknown_ids_are_refused_with_the_nearest() {
    let desk = desk();
    let render = |more: &[&str]| {
        end(desk.chatmill(&[&["render", "two.jsonl", "--dialect", "openai-chat"], more].concat()))
    };
    let all = json_lines(&render(&["--with-ids"]).stdout);
    let known = all[0]["conversation_id"].as_str().unwrap();
    let misspelt = format!("{known}x");
    let conversation = render(&["--conversation", &misspelt]);
    assert_eq!(conversation.code, 2);
    assert!(
        conversation.stderr.contains(&format!("did you mean `{known}`?")),
        "{}",
        conversation.stderr
    );
    let participant = render(&["--as", "user_3"]);
    assert_eq!(participant.code, 2);
    assert!(
        participant.stderr.contains("did you mean `user_"),
        "{}",
        participant.stderr
    );
    assert!(participant.stdout.is_empty());
}

#[test]
fn the_policy_can_be_set_for_one_rendering() {
    let desk = desk();
    let render =
        |set: &str| end(desk.chatmill(&["render", "one.json", "--dialect", "openai-chat", "--set", set]));
    let prefixed = render("policy.names=prefix");
    assert_eq!(prefixed.code, 0, "{}", prefixed.stderr);
    assert_ne!(prefixed.stdout, render("policy.names=drop").stdout);
    let unknown = render("policy.nmaes=drop");
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("did you mean `names`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn unread_records_are_named_and_fail_when_nothing_else_is_there() {
    let desk = desk();
    desk.write("mixed.jsonl", &format!("{}\n{{broken\n", good_chat("one")));
    let mixed = end(desk.chatmill(&["render", "mixed.jsonl", "--dialect", "openai-chat"]));
    assert_eq!((mixed.code, json_lines(&mixed.stdout).len()), (0, 1));
    assert!(
        mixed
            .stderr
            .contains("warning: not rendered: mixed.jsonl:2: IN001"),
        "{}",
        mixed.stderr
    );
    desk.write("broken.json", "{\"conversation_meta\": ");
    let broken = end(desk.chatmill(&["render", "broken.json", "--dialect", "openai-chat"]));
    assert_eq!(broken.code, 1, "{}", broken.stderr);
    assert!(broken.stdout.is_empty());
}

#[test]
fn no_content_and_a_rendering_contradict_each_other() {
    let render = end(desk().chatmill(&["render", "one.json", "--dialect", "openai-chat", "--no-content"]));
    assert_eq!(render.code, 2);
    assert!(
        render.stdout.is_empty() && render.stderr.contains("--no-content"),
        "{}",
        render.stderr
    );
}

#[test]
fn a_template_file_is_a_dialect_of_the_command_line() {
    let desk = desk();
    desk.write(
        "model.jinja",
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if sign %}{{ sign }} {{ strftime_now('%Y') }}{% endif %}",
    );
    let render = |more: &[&str]| {
        let words = ["render", "one.json", "--template", "model.jinja"];
        end(desk.chatmill(&[&words, more].concat()))
    };
    let refused = render(&[]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("set `now`"), "{}", refused.stderr);
    let told = render(&[
        "--set",
        "template.now=2024-07-26",
        "--set",
        "template.variables.sign=Kai",
    ]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.contains("When do we water the beans?"),
        "{}",
        told.stdout
    );
    assert!(told.stdout.trim_end().ends_with("Kai 2024"), "{}", told.stdout);
    let both = render(&["--dialect", "chatml"]);
    assert_eq!(both.code, 2);
    let neither = end(desk.chatmill(&["render", "one.json"]));
    assert_eq!(neither.code, 2);
}

#[test]
fn a_template_that_fails_says_so_and_prints_nothing() {
    let desk = desk();
    for (source, reason) in [
        ("{{ messages[0].nothing.at.all }}", "TPL-03: undefined value"),
        ("{{ raise_exception('not today') }}", "TPL-02: not today"),
        ("{{ 'a' * 99999999 }}", "limits.template_memory"),
    ] {
        desk.write("model.jinja", source);
        let render = end(desk.chatmill(&["render", "one.json", "--template", "model.jinja"]));
        assert_eq!((render.code, render.stdout.as_str()), (1, ""), "{source}");
        assert!(
            render.stderr.contains("not rendered") && render.stderr.contains(reason),
            "{}",
            render.stderr
        );
    }
}

#[test]
fn a_prompt_and_tools_are_set_as_a_pipeline_says_them() {
    let desk = desk();
    desk.write(
        "tools.json",
        r#"[{"type":"function","function":{"name":"water","parameters":{"type":"object","properties":{}}}}]"#,
    );
    let file = format!("tools.file={}", desk.path("tools.json").display());
    let words = ["render", "one.json", "--dialect", "openai-chat", "--set"];
    let with = |assignments: &[&str]| {
        let mut all = words.to_vec();
        all.extend(assignments);
        end(desk.chatmill(&all))
    };
    let said = with(&["prompt.system=You are {agent.name}.", "--set", &file]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let request = json_lines(&said.stdout).remove(0);
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("You are ") && !system.contains('{'),
        "{request}"
    );
    assert_eq!(request["tools"][0]["function"]["name"], "water");
    let unknown = with(&["window.per_turn=true"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("[prompt], [tools]"), "{}", unknown.stderr);
}
