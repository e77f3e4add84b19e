//! Redaction in a run: what is reported, what is replaced, and that nothing of it is left anywhere in a dataset.

mod canaries;

use std::collections::BTreeSet;

use chatmill_engine::Plan;
use chatmill_workshop::Workshop;
use chatmill_workshop::rows::{numbers, positions, texts};
use serde_json::{Value, json};

use crate::redaction::canaries::{CANARIES, canaries_in, mutated};

const KEY: &str = "a key of our own making, long enough";

/// Every dialect, no counting.
fn replacing() -> &'static str {
    "[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\n[tools]\ninfer = true\n[prompt]\nexisting = \"precede\"\n\
        system = \"{agent.name|x} {agent.id|x} {agent.alias|x} {agent.custom_role|x} {agent.department|x} {agent.instructions|x} \
        {room.title|x} {room.description|x} {room.id|x} {room.people|x}\"\n[redact]\nmode = \"replace\"\nkey_file = \"key.txt\"\n"
}

/// Where it does not matter which dialects there are.
const TWO: &str = "[render]\ndialects = [\"group-chat\", \"openai-chat\"]\n";

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("key.txt", KEY);
    workshop
}

fn run(workshop: &Workshop, out: &str, more: &str) {
    workshop.run(out, more, 2).unwrap();
    chatmill_report::write(&workshop.path(out), None).unwrap();
    let certificate = chatmill_dataset::certify(&workshop.path(out)).unwrap();
    assert!(certificate.faults.is_empty(), "{:?}", certificate.faults);
}

/// A room of three in which everything is personal.
fn room(id: &str) -> Value {
    json!({
        "version": "1.0.0",
        "conversation_meta": {
            "conversation_id": id,
            "name": "Room of Mirela Quint", "description": "Ask zephq77",
            "scene": "group_chat", "scene_desc": {"host": "Mirela Quint"},
            "user_details": {
                "mirela": {"full_name": "Mirela Quint", "nickname": "zephq77", "role": "user", "email": "mirela at post",
                           "extra": {"zephq77": "MIRELA QUINT", "seen": [{"by": "mirela_quint"}]}},
                "u2": {"full_name": "Tavish Okoye", "role": "user"},
                "bot": {"full_name": "Quillbot", "role": "assistant"}
            }
        },
        "conversation_list": [
            {"message_id": "m-mirela", "create_time": "2026-01-01T00:00:00Z", "sender": "mirela", "sender_name": "Mirela Quint",
             "type": "text", "content": "Hello Quillbot, Tavish!", "refer_list": []},
            {"message_id": "m2", "create_time": "2026-01-01T00:01:00Z", "sender": "u2", "type": "text",
             "content": "Hi Mirela, or @zephq77; \u{674e} Mirela-Quint.",
             "refer_list": [{"message_id": "m-mirela", "content": "Hello Quillbot, Tavish!", "sender_name": "Mirela Quint"}],
             "extra": {"mentions": ["mirela", "Mirela Quint"], "seen_by": {"Tavish Okoye": true}}},
            {"message_id": "m3", "create_time": "2026-01-01T00:02:00Z", "sender": "bot", "role": "assistant", "type": "text",
             "content": "Dear Okoye, dear Quint", "refer_list": ["m2"],
             "extra": {"tool_calls": [{"id": "c-mirela", "type": "function", "function": {"name": "call_home",
                       "arguments": "{\"who\":\"Mirela Quint\",\"say\":\"\\u004direla, hi\",\"deep\":\"{\\\"w\\\":\\\"zephq77\\\"}\"}"}}]}},
            {"message_id": "m4", "create_time": "2026-01-01T00:03:00Z", "sender": "bot", "role": "tool", "type": "text",
             "content": "zephq77 is in", "refer_list": [], "extra": {"tool_call_id": "c-mirela", "name": "call_home"}}
        ]
    })
}

fn certified(workshop: &Workshop, out: &str) -> std::collections::BTreeMap<String, String> {
    workshop.hashes(out)
}

#[test]
fn findings_say_what_is_where_and_quote_nothing() {
    let workshop = workshop();
    let mut room = room("c1");
    let text =
        "mail zaphira@canary-post.example and 4929 7171 2345 6781, https://files.example/?token=7f3a9c";
    room["conversation_list"][1]["content"] = text.into();
    room["conversation_meta"]["description"] = "from 10.77.88.99".into();
    workshop.write("in/room.json", room.to_string());
    let more = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n[redact]\n";
    run(&workshop, "out", more);
    let out = workshop.path("out");
    let rows: Vec<_> = texts(&out, "findings", "code")
        .into_iter()
        .zip(numbers(&out, "findings", "position"))
        .zip(texts(&out, "findings", "message"))
        .map(|((code, position), message)| (code.unwrap(), position, message.unwrap()))
        .filter(|(code, ..)| code == "PT004" || code == "PT005")
        .collect();
    let row = |code: &str, position, message: &str| (code.to_owned(), position, message.to_owned());
    assert_eq!(
        rows,
        [
            row(
                "PT004",
                None,
                "an e-mail address in the facts about the conversation"
            ),
            row("PT004", None, "an IP address in the facts about the conversation"),
            row("PT004", None, "a name of the roster in the conversation"),
            row("PT004", Some(1), "an e-mail address in the message"),
            row("PT004", Some(1), "a card number in the message"),
            row("PT005", Some(1), "a secret in the message"),
        ]
    );
    let lines = numbers(&out, "findings", "line_number");
    assert!(lines.iter().all(Option::is_some));
    let said = texts(&out, "messages", "text");
    assert_eq!(said[1].as_deref(), Some(text), "a report changes nothing");
    assert!(!texts(&out, "losses", "code").contains(&Some("redacted".to_owned())));
}

/// A chat whose call, result and rejected answer hold every canary: few samples have such places, and a round has few samples.
fn with_tools() -> String {
    let text = |(kind, canary): (&str, &str)| match kind {
        // A secret by where it stands.
        "token" => format!("https://files.example/a?token={canary}"),
        _ => canary.to_owned(),
    };
    let all = CANARIES.map(text).join(" and ");
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "look", "arguments": json!({"for": all}).to_string()}});
    json!({"messages": [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": all},
        {"role": "assistant", "content": all},
    ]})
    .to_string()
}

#[test]
fn no_canary_survives_in_any_table_report_or_manifest() {
    let mut seeded = 0;
    let mut visible = BTreeSet::new();
    for round in 0..chatmill_drawn::cases(1) {
        let workshop = workshop();
        for (name, text, canaries) in mutated(round.into()) {
            workshop.write(&format!("in/{name}"), text);
            seeded += canaries;
        }
        workshop.write("in/tools.jsonl", with_tools());
        workshop.write(
            "in/broken.jsonl",
            format!(
                "{{\"messages\": [\"{}\n",
                CANARIES.map(|canary| canary.1).join(" ")
            ),
        );
        run(&workshop, "out", replacing());
        let found = canaries_in(&workshop.path("out"));
        assert!(found.is_empty(), "round {round}: {found:#?}");
        let plain = replacing().split("[redact]").next().unwrap();
        run(&workshop, "plain", &format!("{TWO}{plain}"));
        visible.extend(
            canaries_in(&workshop.path("plain"))
                .into_iter()
                .map(|(canary, file)| (canary, table(&file))),
        );
    }
    assert!(seeded > 300, "only {seeded} canaries were seeded");
    for (kind, _) in CANARIES {
        for table in [
            "conversations",
            "messages",
            "alternatives",
            "renderings",
            "tool_calls",
            "rejects",
        ] {
            let there = visible.contains(&(kind, table.to_owned()));
            assert!(
                there,
                "no {kind} reached {table} without redaction: the test shows nothing"
            );
        }
    }
}

/// The table of a part file, or the name of another file.
fn table(file: &str) -> String {
    file.trim_start_matches("tables/")
        .split('/')
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn names_are_gone_everywhere_and_still_agree() {
    let workshop = workshop();
    for n in 0..2 {
        workshop.write(
            &format!("in/{n}.json"),
            room(&format!("of mirela {n}")).to_string(),
        );
    }
    run(&workshop, "out", replacing());
    let out = workshop.path("out");
    for name in ["mirela", "quint", "zephq77", "tavish", "okoye", "quillbot"] {
        let found = canaries::files_with(&out, name);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    let said = texts(&out, "messages", "text");
    let senders = texts(&out, "messages", "sender_name");
    let (mirela, bot) = (senders[0].as_deref().unwrap(), senders[2].as_deref().unwrap());
    assert!(
        mirela.starts_with("Person-") && bot.starts_with("Agent-"),
        "{mirela} {bot}"
    );
    let tavish = senders[1].as_deref().unwrap();
    assert_eq!(said[0].as_deref().unwrap(), format!("Hello {bot}, {tavish}!"));
    assert_eq!(
        said[1].as_deref().unwrap(),
        format!("Hi {mirela}, or @{mirela}; 李 {mirela}.")
    );
    assert_eq!(said[..4], said[4..], "two conversations, the same pseudonyms");
    let statuses = texts(&out, "message_references", "status");
    assert!(
        statuses
            .iter()
            .all(|status| status.as_deref() == Some("resolved")),
        "{statuses:?}"
    );
    let paired = texts(&out, "tool_calls", "status");
    assert!(
        paired.iter().all(|status| status.as_deref() == Some("paired")),
        "{paired:?}"
    );
    let arguments = texts(&out, "tool_calls", "arguments")[0].clone().unwrap();
    let arguments: Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!(arguments["who"], mirela);
    assert_eq!(arguments["say"], format!("{mirela}, hi"));
    let deep: Value = serde_json::from_str(arguments["deep"].as_str().unwrap()).unwrap();
    assert_eq!(deep["w"], mirela);
}

#[test]
fn a_person_who_is_called_like_a_tool_or_a_key_renames_neither() {
    let workshop = workshop();
    let room = json!({
        "version": "1.0.0",
        "conversation_meta": {
            "conversation_id": "c", "name": "n", "scene": "assistant",
            "user_details": {"u1": {"full_name": "Skylark", "role": "user"}, "bot": {"full_name": "Quillbot", "role": "assistant"}}
        },
        "conversation_list": [
            {"message_id": "m1", "create_time": "2026-01-01T00:00:00Z", "sender": "u1", "type": "text",
             "content": "Skylark asks for the weather", "refer_list": []},
            {"message_id": "m2", "create_time": "2026-01-01T00:01:00Z", "sender": "bot", "role": "assistant", "type": "text",
             "content": "", "refer_list": [],
             "extra": {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "skylark",
                       "arguments": "{\"skylark\":\"Skylark\",\"of\":\"weather\"}"}}]}},
            {"message_id": "m3", "create_time": "2026-01-01T00:02:00Z", "sender": "bot", "sender_name": "weather", "role": "tool",
             "type": "text", "content": "{\"skylark\":{\"weather\":\"rain\"}}", "refer_list": [],
             "extra": {"tool_call_id": "c1", "name": "skylark"}}
        ]
    });
    workshop.write("in/room.json", room.to_string());
    run(&workshop, "out", replacing());
    let out = workshop.path("out");
    let said = texts(&out, "messages", "text");
    let of = said[0]
        .as_deref()
        .unwrap()
        .strip_suffix(" asks for the weather")
        .unwrap();
    assert!(of.starts_with("Person-"), "{said:?}");
    assert_eq!(texts(&out, "tool_calls", "name"), [Some("skylark".to_owned())]);
    assert_eq!(
        texts(&out, "tool_calls", "arguments"),
        [Some(format!("{{\"skylark\":\"{of}\",\"of\":\"weather\"}}"))]
    );
    assert_eq!(
        texts(&out, "tool_calls", "result"),
        [Some("{\"skylark\":{\"weather\":\"rain\"}}".to_owned())]
    );
}

#[test]
fn each_replacement_is_a_loss_of_the_renderings_that_show_it() {
    let workshop = workshop();
    workshop.write(
        "in/a.json",
        r#"[{"role":"user","content":"a@post.example b@post.example"},{"role":"assistant","content":"From 10.77.88.99"},{"role":"user","content":"So?"}]"#,
    );
    let more = format!(
        "[render]\ndialects = [\"openai-chat\", \"tzurot\"]\n{}",
        replacing()
    );
    run(&workshop, "out", &more);
    let out = workshop.path("out");
    let losses: Vec<_> = texts(&out, "losses", "code")
        .into_iter()
        .zip(texts(&out, "losses", "dialect"))
        .zip(
            positions(&out, "losses", "positions")
                .into_iter()
                .zip(numbers(&out, "losses", "amount")),
        )
        .filter(|((code, _), _)| code.as_deref() == Some("redacted"))
        .map(|((_, dialect), (positions, amount))| (dialect.unwrap(), positions, amount.unwrap()))
        .collect();
    let of = |dialect: &str| -> Vec<_> {
        losses
            .iter()
            .filter(|loss| loss.0 == dialect)
            .map(|loss| (loss.1.clone(), loss.2))
            .collect()
    };
    assert_eq!(of("openai-chat"), [(vec![0], 2), (vec![1], 1)]);
    // One rendering shows the first turn alone, the other the last.
    assert_eq!(of("tzurot"), [(vec![0], 2)]);
}

#[test]
fn what_is_replaced_in_system_text_in_front_of_a_window_is_a_loss_too() {
    let workshop = workshop();
    workshop.write(
        "in/a.json",
        r#"[{"role":"system","content":"Write to a@post.example"},{"role":"user","content":"From 10.77.88.99"},{"role":"assistant","content":"Yes"},{"role":"user","content":"So?"}]"#,
    );
    let more = format!(
        "[render]\ndialects = [\"openai-chat\"]\n[window]\nhistory = 1\n{}",
        replacing()
    );
    run(&workshop, "out", &more);
    let out = workshop.path("out");
    let rendered = texts(&out, "renderings", "content");
    assert!(
        rendered[0].as_deref().unwrap().contains("@example.invalid"),
        "{rendered:?}"
    );
    let losses = texts(&out, "losses", "code")
        .into_iter()
        .zip(positions(&out, "losses", "positions"));
    let redacted: Vec<_> = losses
        .filter(|(code, _)| code.as_deref() == Some("redacted"))
        .map(|(_, positions)| positions)
        .collect();
    assert_eq!(redacted, [vec![0]]);
}

#[test]
fn the_same_key_gives_the_same_files_with_any_threads_and_another_key_others() {
    let workshop = workshop();
    for (name, text, _) in mutated(7) {
        workshop.write(&format!("in/{name}"), text);
    }
    let replacing = format!("{TWO}{}", replacing());
    for (out, threads) in [("one", 1), ("three", 3)] {
        workshop.run(out, &replacing, threads).unwrap();
    }
    assert_eq!(certified(&workshop, "one"), certified(&workshop, "three"));
    workshop.write("key.txt", format!("{KEY}!"));
    workshop.run("other", &replacing, 2).unwrap();
    let (one, other) = (certified(&workshop, "one"), certified(&workshop, "other"));
    assert_ne!(one["manifest.json"], other["manifest.json"]);
    let said = |out: &str| texts(&workshop.path(out), "messages", "text");
    assert_ne!(said("one"), said("other"));
}

#[test]
fn the_manifest_names_the_key_and_does_not_hold_it() {
    let workshop = workshop();
    workshop.write("in/a.json", room("c").to_string());
    run(&workshop, "out", replacing());
    let out = workshop.path("out");
    assert_eq!(canaries::files_with(&out, KEY), BTreeSet::new());
    assert_eq!(canaries::files_with(&out, "key.txt"), BTreeSet::new());
    let plan = chatmill_dataset::read_manifest(&out).unwrap().plan;
    assert_eq!(plan["redact"]["key"].as_str().unwrap().len(), 32);
    assert_eq!(plan["output"]["quote"], false);
}

#[test]
fn a_key_that_is_missing_short_or_no_text_is_refused() {
    let refusal = |write: &dyn Fn(&Workshop), section: &str| {
        let workshop = Workshop::new();
        workshop.write("in/a.json", room("c").to_string());
        write(&workshop);
        let text = format!(
            "name = \"n\"\n[[input]]\npath = \"in/*\"\n[output]\npath = \"out\"\n[redact]\n{section}"
        );
        let path = workshop.write("p.toml", text);
        Plan::load(&path, &[], None).err().map(|error| error.to_string())
    };
    let file = "mode = \"replace\"\nkey_file = \"key.txt\"\n";
    let is_refused = |write: &dyn Fn(&Workshop), section: &str, why: &str| {
        let error = refusal(write, section).unwrap();
        assert!(error.starts_with("redact.") && error.contains(why), "{error}");
    };
    is_refused(&|_| (), "mode = \"replace\"\n", "needs a file");
    is_refused(&|_| (), file, "cannot read");
    is_refused(
        &|workshop| drop(workshop.write("key.txt", "a".repeat(31))),
        file,
        "shorter than 32",
    );
    is_refused(
        &|workshop| drop(workshop.write("key.txt", "a".repeat(64))),
        file,
        "one sign",
    );
    is_refused(
        &|workshop| drop(workshop.write("key.txt", [0xff; 64])),
        file,
        "cannot read",
    );
    is_refused(&|_| (), "kinds = []\n", "empty");
    assert_eq!(
        refusal(&|workshop| drop(workshop.write("key.txt", "ab".repeat(16))), file),
        None
    );
    assert_eq!(refusal(&|_| (), ""), None);
}

#[test]
fn what_the_pipeline_says_about_people_is_about_those_who_were_read() {
    let workshop = workshop();
    workshop.write("in/a.json", room("c-mirela").to_string());
    workshop.write("in/b.json", room("other").to_string());
    let more = format!(
        "[render]\ndialects = [\"openai-chat\"]\n[select]\nconversations = [\"c-mirela\"]\n[perspective]\nas = [\"Mirela Quint\"]\n{}",
        replacing()
    );
    workshop.run("out", &more, 1).unwrap();
    let out = workshop.path("out");
    assert_eq!(texts(&out, "conversations", "title").len(), 1);
    let perspectives = texts(&out, "renderings", "perspective");
    assert!(
        perspectives[0].as_deref().unwrap().starts_with("Person-"),
        "{perspectives:?}"
    );
}

#[test]
fn names_to_keep_stay() {
    let workshop = workshop();
    workshop.write("in/a.json", room("c").to_string());
    run(
        &workshop,
        "out",
        &format!("{}keep = [\"quillbot\"]\n", replacing()),
    );
    let said = texts(&workshop.path("out"), "messages", "text");
    assert!(
        said[0].as_deref().unwrap().starts_with("Hello Quillbot, Person-"),
        "{said:?}"
    );
}
