//! Every rule of every envelope: a record that keeps the rule, and one that breaks it.

use super::*;

const ROW: ExportRow<'static> = ExportRow {
    conversation: "c1",
    dialect: "",
    perspective: "bot",
    ordinal: 0,
    content: "",
    assistant_spans: &[],
    learned_spans: &[],
    rejected: None,
    label: None,
    extra: None,
};

#[test]
fn every_envelope_has_a_name_of_its_own_and_takes_dialects_that_exist() {
    let ids: std::collections::BTreeSet<_> = ENVELOPES.iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), ENVELOPES.len());
    for envelope in ENVELOPES {
        assert!(
            !envelope.dialects.is_empty() && !envelope.keys.is_empty(),
            "{}",
            envelope.id
        );
        for dialect in envelope.dialects {
            assert!(
                chatmill_dialect::find(dialect).is_some(),
                "{}: {dialect}",
                envelope.id
            );
        }
        assert_eq!(find(envelope.id).unwrap().id, envelope.id);
    }
    assert!(find("openai").is_none());
}

#[test]
fn every_envelope_refuses_a_rendering_that_is_no_object() {
    for envelope in ENVELOPES {
        for content in [
            "",
            "[]",
            "null",
            "\"text\"",
            "{\"messages\":1}",
            "{}",
            "{\"surprise\":[]}",
        ] {
            let row = ExportRow {
                dialect: envelope.dialects[0],
                content,
                ..ROW
            };
            assert!((envelope.wrap)(&row).is_err(), "{}: {content}", envelope.id);
        }
    }
}

/// The record that an envelope makes of a rendering, or the name of the rule that forbids it.
fn outcome(id: &str, content: &str) -> String {
    let envelope = find(id).expect(id);
    let row = ExportRow {
        dialect: envelope.dialects[0],
        content,
        ..ROW
    };
    match (envelope.wrap)(&row) {
        Ok(wrapped) => fields::object(&wrapped.fields),
        Err(rule) => {
            let mut reasons = envelope.reasons.iter();
            let reason = reasons.find(|reason| reason.words == rule);
            reason.expect("a rule is listed").code.to_owned()
        }
    }
}

const USER: &str = r#"{"role":"user","content":"Hi"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"Hello"}"#;
const CALL: &str = r#"{"role":"assistant","content":"","tool_calls":[{"id":"k","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"k","content":"4"}"#;

fn messages(messages: &[&str]) -> String {
    format!("{{\"messages\":[{}]}}", messages.join(","))
}

#[test]
fn a_record_may_end_with_a_call() {
    let list = messages(&[USER, CALL]);
    for id in ["openai-sft", "trl-messages", "trl-prompt-completion", "axolotl"] {
        assert!(
            outcome(id, &list).contains("tool_calls"),
            "{id}: {}",
            outcome(id, &list)
        );
    }
    let record = r#"{"conversations":[{"from":"human","value":"Hi"},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"}]}"#;
    assert_eq!(outcome("llama-factory", record), record);
    let contents = r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}]}"#;
    assert_eq!(outcome("vertex-tuning", contents), contents);
}

#[test]
fn a_message_list_that_breaks_a_rule_is_left_out_under_its_name() {
    let picture = r#"{"type":"image_url","image_url":{"url":"https://a.example/p.png"}}"#;
    let pictures = |role: &str, number: usize| {
        format!(
            "{{\"role\":\"{role}\",\"content\":[{}]}}",
            vec![picture; number].join(",")
        )
    };
    let parts = r#"{"role":"tool","tool_call_id":"k","content":[{"type":"text","text":"4"}]}"#;
    let array = CALL.replace("\"{}\"", "\"[1]\"");
    let silent = r#"{"role":"user"}"#;
    let system = r#"{"role":"system","content":"Be kind"}"#;
    let audio = r#"{"role":"user","content":[{"type":"input_audio"}]}"#;
    let cases: &[(&str, &[&str], &str)] = &[
        ("openai-sft", &[USER, ANSWER, USER], "SFT-02"),
        ("openai-sft", &[], "SFT-02"),
        ("openai-sft", &[USER, CALL, parts, ANSWER], "SFT-03"),
        ("openai-sft", &[&pictures("user", 11), ANSWER], "SFT-04"),
        ("openai-sft", &[USER, &pictures("assistant", 1)], "SFT-04"),
        ("openai-evals", &[USER], "EVL-01"),
        ("openai-evals", &[ANSWER], "EVL-01"),
        ("openai-evals", &[USER, CALL], "EVL-02"),
        ("inspect", &[ANSWER, USER], "INS-01"),
        ("inspect", &[USER, CALL, RESULT], "INS-02"),
        ("inspect", &[USER, &array, RESULT, ANSWER], "INS-03"),
        ("inspect", &[audio, ANSWER], "INS-04"),
        ("trl-messages", &[silent, ANSWER], "TRL-02"),
        ("trl-messages", &[USER], "TRL-03"),
        ("trl-prompt-completion", &[ANSWER, USER], "TPC-01"),
        ("trl-prompt-completion", &[system, ANSWER], "TPC-02"),
        ("trl-prompt-completion", &[silent, USER, ANSWER], "TPC-03"),
        ("axolotl", &[CALL, RESULT, ANSWER], "AXO-02"),
        ("axolotl", &[silent, ANSWER], "AXO-02"),
        ("axolotl", &[USER], "AXO-03"),
    ];
    for (id, list, rule) in cases {
        assert_eq!(outcome(id, &messages(list)), *rule, "{id} {list:?}");
    }
    for (id, rule) in [
        ("openai-sft", "SFT-01"),
        ("trl-messages", "TRL-01"),
        ("axolotl", "AXO-01"),
    ] {
        let strange = format!("{{\"messages\":[{USER},{ANSWER}],\"mood\":1}}");
        assert_eq!(outcome(id, &strange), rule);
    }
}

#[test]
fn messages_that_break_no_rule_are_exported_byte_for_byte() {
    let ten = [r#"{"type":"image_url","image_url":{"url":"https://a.example/p.png"}}"#; 10].join(",");
    let pictures = format!("{{\"role\":\"user\",\"content\":[{ten}]}}");
    for id in ["openai-sft", "trl-messages", "axolotl"] {
        for list in [&[USER, CALL, RESULT, ANSWER][..], &[&pictures, ANSWER]] {
            let rendering = messages(list);
            assert_eq!(outcome(id, &rendering), rendering, "{id}");
        }
    }
    let tools =
        format!("{{\"messages\":[{USER},{ANSWER}],\"tools\":[{{\"a\":1}}],\"parallel_tool_calls\":false}}");
    assert_eq!(outcome("openai-sft", &tools), tools);
}

#[test]
fn conversations_are_cut_at_the_last_answer() {
    let rendering = messages(&[USER, CALL, RESULT, ANSWER, USER]);
    let before = [USER, CALL, RESULT].join(",");
    assert_eq!(
        outcome("openai-evals", &rendering),
        format!("{{\"input\":[{before}],\"ideal\":\"Hello\"}}")
    );
    assert_eq!(
        outcome("trl-prompt-completion", &rendering),
        format!("{{\"prompt\":[{before}],\"completion\":[{ANSWER}]}}")
    );
    let row = ExportRow {
        dialect: "hf-messages",
        content: &rendering,
        ..ROW
    };
    for id in ["openai-evals", "trl-prompt-completion", "inspect"] {
        assert_eq!((find(id).unwrap().wrap)(&row).unwrap().turns_cut, 1, "{id}");
    }
}

#[test]
fn inspect_gets_flat_calls_named_results_and_names_in_metadata() {
    let named = r#"{"role":"user","name":"Ann","content":[{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]}"#;
    let spread = CALL.replace("\"{}\"", "\"{\\n  \\\"a\\\": [1,\\n 2]\\n}\"");
    let thought = r#"{"role":"assistant","reasoning_content":"Hm","content":"Well"}"#;
    let expected = concat!(
        r#"{"id":"c1@bot","input":["#,
        r#"{"role":"user","content":[{"type":"text","text":"See"},{"type":"image","image":"https://a.example/p.png"}],"metadata":{"name":"Ann"}},"#,
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"k","function":"f","arguments":{   "a": [1,  2] },"type":"function"}]},"#,
        r#"{"role":"tool","content":"4","tool_call_id":"k","function":"f"},"#,
        r#"{"role":"assistant","content":[{"type":"reasoning","reasoning":"Hm"},{"type":"text","text":"Well"}]}],"#,
        r#""target":"Hello","metadata":{"conversation_id":"c1","perspective":"bot","ordinal":0,"dialect":"openai-chat"}}"#,
    );
    let rendering = messages(&[named, &spread, RESULT, thought, ANSWER]);
    assert_eq!(outcome("inspect", &rendering), expected);
    let empty = CALL.replace("\"{}\"", "\"\"");
    assert!(outcome("inspect", &messages(&[USER, &empty, RESULT, ANSWER])).contains("\"arguments\":{}"));
}

#[test]
fn gemini_records_begin_with_a_user_and_end_with_the_model() {
    let content = |role: &str| format!("{{\"role\":\"{role}\",\"parts\":[{{\"text\":\"x\"}}]}}");
    let record = |roles: &[&str]| {
        let contents: Vec<String> = roles.iter().map(|role| content(role)).collect();
        format!("{{\"contents\":[{}]}}", contents.join(","))
    };
    let good = record(&["user", "model"]);
    assert_eq!(outcome("vertex-tuning", &good), good);
    for roles in [&["user"][..], &["model"], &["model", "user", "model"], &[]] {
        assert_eq!(outcome("vertex-tuning", &record(roles)), "VTX-02", "{roles:?}");
    }
    assert_eq!(
        outcome("vertex-tuning", "{\"contents\":[],\"safety\":[]}"),
        "VTX-01"
    );
}

#[test]
fn bedrock_records_obey_their_rules() {
    let turn = |role: &str, block: &str| format!("{{\"role\":\"{role}\",\"content\":[{block}]}}");
    let record = |asked: &str, answered: &str| {
        format!(
            "{{\"messages\":[{},{}]}}",
            turn("user", asked),
            turn("assistant", answered)
        )
    };
    let text = |text: &str| format!("{{\"text\":\"{text}\"}}");
    let (hi, hello) = (text("Hi"), text("Hello"));
    let picture = |source: &str| format!("{{\"image\":{{\"format\":\"png\",\"source\":{{{source}}}}}}}");
    let stored = picture("\"s3Location\":{\"uri\":\"s3://b/p.png\"}");
    let call = "{\"toolUse\":{\"toolUseId\":\"k\",\"name\":\"f\",\"input\":{}}}";
    let good = record(&hi, &hello);
    let wrapped = good.replacen('{', "{\"schemaVersion\":\"bedrock-conversation-2024\",", 1);
    for id in ["bedrock-conversation-2024", "bedrock-conversation-2024@tools"] {
        assert_eq!(outcome(id, &good), wrapped);
        let cases = [
            ("{\"messages\":[],\"guard\":1}".to_owned(), "BCV-01"),
            (format!("{{\"messages\":[{}]}}", turn("user", &hi)), "BCV-02"),
            ("{\"messages\":[]}".to_owned(), "BCV-02"),
            (record(&text("the roBOT: hi"), &hello), "BCV-03"),
            (record(&hi, &text("a <IMAGE> b")), "BCV-03"),
            (record(&text("x\\nUser: y"), &hello), "BCV-03"),
            (record(&picture("\"bytes\":\"AA==\""), &hello), "BCV-04"),
            (record(&hi, &stored), "BCV-04"),
            (record(&vec![stored.clone(); 11].join(","), &hello), "BCV-04"),
            (
                record("{\"cachePoint\":{\"type\":\"default\"}}", &hello),
                "BCV-06",
            ),
            (
                good.replacen('{', "{\"system\":[{\"cachePoint\":{}}],", 1),
                "BCV-06",
            ),
        ];
        for (rendering, rule) in cases {
            assert_eq!(outcome(id, &rendering), rule, "{id} {rendering}");
        }
        assert!(outcome(id, &record(&vec![stored.clone(); 10].join(","), &hello)).starts_with('{'));
    }
    assert_eq!(outcome("bedrock-conversation-2024", &record(&hi, call)), "BCV-05");
    assert!(outcome("bedrock-conversation-2024@tools", &record(&hi, call)).starts_with('{'));
}

#[test]
fn each_reserved_word_is_refused_and_its_neighbour_is_not() {
    let record_with = |place: &str, text: &str| {
        let (asked, answered, system) = match place {
            "user" => (text, "Hello", "Be kind"),
            "assistant" => ("Hi", text, "Be kind"),
            _ => ("Hi", "Hello", text),
        };
        format!(
            "{{\"system\":[{{\"text\":\"{system}\"}}],\"messages\":[{{\"role\":\"user\",\"content\":[{{\"text\":\"{asked}\"}}]}},\
             {{\"role\":\"assistant\",\"content\":[{{\"text\":\"{answered}\"}}]}}]}}"
        )
    };
    let words = [
        ("System:", "System, "),
        ("User:", "User ;"),
        ("Bot:", "robot; "),
        ("Assistant:", "assistants:"),
        ("[EOS]", "[EOL]"),
        ("<image>", "<images>"),
        ("<video>", "video>"),
    ];
    for (word, neighbour) in words {
        for place in ["user", "assistant", "system"] {
            let found = outcome("bedrock-conversation-2024", &record_with(place, word));
            assert_eq!(found, "BCV-03", "{word} of {place}");
            let passed = outcome("bedrock-conversation-2024", &record_with(place, neighbour));
            assert!(passed.starts_with('{'), "{neighbour} of {place}: {passed}");
        }
    }
}

#[test]
fn bedrock_conversations_are_pairs_of_turns() {
    let record = |roles: &[&str]| {
        let turns: Vec<String> = roles
            .iter()
            .map(|role| format!("{{\"role\":\"{role}\",\"content\":[{{\"text\":\"x\"}}]}}"))
            .collect();
        outcome(
            "bedrock-conversation-2024",
            &format!("{{\"messages\":[{}]}}", turns.join(",")),
        )
    };
    let (user, answer) = ("user", "assistant");
    for roles in [&[user, answer][..], &[user, answer, user, answer]] {
        assert!(record(roles).starts_with('{'), "{roles:?}");
    }
    for roles in [
        &[answer, user][..],
        &[user, user],
        &[user, answer, user],
        &[user, answer, answer, user],
    ] {
        assert_eq!(record(roles), "BCV-02", "{roles:?}");
    }
}

/// The record of a prompt whose conversation's record has these further fields.
fn prompt_of(id: &str, list: &[&str], extra: Option<&str>) -> Result<(String, u64), &'static str> {
    let envelope = find(id).expect(id);
    let content = messages(list);
    let row = ExportRow {
        dialect: envelope.dialects[0],
        content: &content,
        extra,
        ..ROW
    };
    let wrapped = (envelope.wrap)(&row)?;
    Ok((fields::object(&wrapped.fields), wrapped.turns_cut))
}

#[test]
fn a_prompt_ends_with_its_last_question_and_the_answer_is_its_reference() {
    let system = r#"{"role":"system","content":"Be kind"}"#;
    let list = [system, USER, ANSWER, USER, CALL, RESULT, ANSWER];
    let before = [system, USER, ANSWER, USER].join(",");
    let wanted = format!("{{\"prompt\":[{before}],\"ground_truth\":\"Hello\"}}");
    assert_eq!(prompt_of("trl-prompts", &list, None), Ok((wanted, 3)));
    let wanted = before.replace("\"system\"", "\"developer\"");
    let wanted = format!("{{\"messages\":[{wanted}],\"reference_answer\":\"Hello\"}}");
    assert_eq!(prompt_of("openai-rft", &list, None), Ok((wanted, 3)));
}

#[test]
fn a_field_of_the_record_is_the_reference_before_the_answer() {
    let ask = |extra| prompt_of("trl-prompts", &[USER, ANSWER], Some(extra)).unwrap().0;
    for (extra, reference) in [
        (r#"{"solution":"6","ground_truth":"42"}"#, "42"),
        (r#"{"ground_truth":null,"solution":42}"#, "42"),
        (r#"{"reward_model":{"style":"rule","ground_truth":"42"}}"#, "42"),
        (r#"{"ground_truth":" ","quality":"42"}"#, "Hello"),
    ] {
        let wanted = format!("{{\"prompt\":[{USER}],\"ground_truth\":\"{reference}\"}}");
        assert_eq!(ask(extra), wanted, "{extra}");
    }
}

#[test]
fn a_prompt_without_a_reference_is_one_for_trl_and_none_for_a_grader() {
    for list in [&[USER][..], &[USER, ANSWER, USER], &[USER, CALL]] {
        let record = prompt_of("trl-prompts", list, None).unwrap().0;
        assert!(!record.contains("ground_truth"), "{record}");
        let refused = prompt_of("openai-rft", list, None).unwrap_err();
        assert!(refused.starts_with("RFT-03"), "{refused}");
    }
    let audio = r#"{"role":"user","content":[{"type":"input_audio"}]}"#;
    let picture =
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]}"#;
    assert!(prompt_of("openai-rft", &[picture, ANSWER], None).is_ok());
    for (id, list, rule) in [
        ("trl-prompts", &[ANSWER][..], "PRO-01"),
        (
            "trl-prompts",
            &[USER, r#"{"role":"system","content":"Be kind"}"#, ANSWER],
            "PRO-01",
        ),
        ("trl-prompts", &[r#"{"role":"user"}"#, ANSWER], "PRO-02"),
        ("openai-rft", &[ANSWER], "RFT-01"),
        ("openai-rft", &[audio, ANSWER], "RFT-02"),
    ] {
        let refused = prompt_of(id, list, None).unwrap_err();
        assert!(refused.starts_with(rule), "{id} {list:?}: {refused}");
    }
}

#[test]
fn an_answer_that_is_context_is_no_reference() {
    assert!(
        wrapped("trl-prompts", TWO, &["new"])
            .unwrap()
            .0
            .contains("\"ground_truth\":\"new\"")
    );
    assert!(
        !wrapped("trl-prompts", TWO, &["old"])
            .unwrap()
            .0
            .contains("ground_truth")
    );
}

#[test]
fn a_prompt_may_end_with_a_user_a_result_or_the_assistant() {
    let system = r#"{"role":"system","content":"Be kind"}"#;
    for before in [
        &[USER][..],
        &[system, USER],
        &[USER, CALL, RESULT],
        &[USER, ANSWER],
    ] {
        let list = [before, &[ANSWER]].concat();
        let wanted = format!("{{\"prompt\":[{}],\"completion\":[{ANSWER}]}}", before.join(","));
        assert_eq!(outcome("trl-prompt-completion", &messages(&list)), wanted);
    }
}

#[test]
fn llama_factory_refuses_records_that_its_converter_would_drop() {
    let record = |tags: &[&str], value: &str| {
        let turns: Vec<String> = tags
            .iter()
            .map(|tag| format!("{{\"from\":\"{tag}\",\"value\":\"{value}\"}}"))
            .collect();
        format!("{{\"conversations\":[{}]}}", turns.join(","))
    };
    let good = record(&["human", "function_call", "observation", "gpt"], "x");
    assert_eq!(outcome("llama-factory", &good), good);
    for tags in [
        &["human"][..],
        &["human", "human"],
        &["gpt", "human"],
        &["human", "function_call", "observation", "observation"],
        &["system", "gpt"],
        &[],
    ] {
        assert_eq!(outcome("llama-factory", &record(tags, "x")), "LLF-02", "{tags:?}");
    }
    for mark in ["<image>", "<video>", "<audio>"] {
        let pair = |value: &str| record(&["human", "gpt"], value);
        assert_eq!(outcome("llama-factory", &pair(&format!("a {mark}"))), "LLF-03");
        let neighbour = pair(&mark.replace('>', " >"));
        assert_eq!(outcome("llama-factory", &neighbour), neighbour);
    }
    assert_eq!(
        outcome("llama-factory", "{\"conversations\":[],\"id\":1}"),
        "LLF-01"
    );
}

#[test]
fn dataset_info_names_only_the_columns_that_a_file_has() {
    let file = |part: &str, keys: &[&str]| FileSummary {
        name: format!("{part}.jsonl"),
        part: part.to_owned(),
        begins: None,
        rows: 1,
        conversations: 1,
        bytes: 1,
        hash: String::new(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    let files = [
        file("train", &["conversations", "system"]),
        file("test", &["conversations"]),
    ];
    let (name, text) = (find("llama-factory").unwrap().companion)(&files).unwrap();
    assert_eq!(name, "dataset_info.json");
    let info: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        info["train"]["columns"],
        serde_json::json!({"messages": "conversations", "system": "system"})
    );
    assert_eq!(
        info["test"]["columns"],
        serde_json::json!({"messages": "conversations"})
    );
    assert_eq!(info["test"]["file_name"], "test.jsonl");
    assert_eq!(info["train"]["tags"]["function_tag"], "function_call");
}

/// Two exchanges, of which the answers stand at these bytes.
const TWO: &str = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"old"},{"role":"user","content":"b"},{"role":"assistant","content":"new"}]}"#;

/// The record that an envelope makes of `content` where these answers are trained on, and the counts of its turns.
fn wrapped(id: &str, content: &str, learned: &[&str]) -> Result<(String, TurnCounts), &'static str> {
    let envelope = find(id).expect(id);
    let span = |word: &str| {
        let start = content.find(word).unwrap() as u64;
        start..start + word.len() as u64
    };
    let row = ExportRow {
        dialect: envelope.dialects[0],
        content,
        assistant_spans: &["old", "new"].map(span),
        learned_spans: &learned.iter().map(|word| span(word)).collect::<Vec<_>>(),
        ..ROW
    };
    let wrapped = (envelope.wrap)(&row)?;
    Ok((fields::object(&wrapped.fields), wrapped.turn_counts))
}

fn counts(learned: u64, context: u64, missed: u64) -> TurnCounts {
    TurnCounts {
        learned,
        context,
        missed,
    }
}

#[test]
fn each_envelope_marks_context_in_its_own_way_or_refuses_it() {
    let marked = |mark: &str| TWO.replace("\"old\"}", &format!("\"old\",{mark}}}"));
    let (line, turns) = wrapped("openai-sft", TWO, &["new"]).unwrap();
    assert_eq!((line, turns), (marked("\"weight\":0"), counts(1, 1, 0)));
    let (line, turns) = wrapped("axolotl", TWO, &["new"]).unwrap();
    assert_eq!((line, turns), (marked("\"train\":false"), counts(1, 1, 0)));
    for id in ["openai-sft", "axolotl", "trl-messages"] {
        let all = wrapped(id, TWO, &["old", "new"]).unwrap();
        assert_eq!(all, (TWO.to_owned(), counts(2, 0, 0)), "{id}");
    }
    assert!(
        wrapped("trl-messages", TWO, &["new"])
            .unwrap_err()
            .starts_with("TRL-04")
    );
    assert!(wrapped("openai-sft", TWO, &[]).unwrap_err().starts_with("SFT-05"));
    assert!(wrapped("axolotl", TWO, &[]).unwrap_err().starts_with("AXO-04"));
}

#[test]
fn earlier_trained_turns_of_a_completion_are_counted_as_missed() {
    let id = "trl-prompt-completion";
    assert_eq!(wrapped(id, TWO, &["new"]).unwrap().1, counts(1, 1, 0));
    assert_eq!(wrapped(id, TWO, &["old", "new"]).unwrap().1, counts(1, 0, 1));
    assert!(wrapped(id, TWO, &["old"]).unwrap_err().starts_with("TPC-04"));
}

#[test]
fn llama_factory_trains_on_all_turns_or_the_last() {
    let talk = r#"{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"old"},{"from":"human","value":"b"},{"from":"gpt","value":"new"}]}"#;
    assert_eq!(
        wrapped("llama-factory", talk, &["old", "new"]).unwrap().1,
        counts(2, 0, 0)
    );
    let (line, turns) = wrapped("llama-factory", talk, &["new"]).unwrap();
    assert_eq!((line.as_str(), turns), (talk, counts(1, 1, 0)));
    assert!(
        wrapped("llama-factory", talk, &["old"])
            .unwrap_err()
            .starts_with("LLF-04")
    );
}

#[test]
fn a_note_names_the_setting_that_a_trainer_needs() {
    let notes = |id: &str, turn_counts| notes(Some(find(id).unwrap()), turn_counts);
    assert_eq!(
        notes("llama-factory", counts(1, 2, 0)),
        ["2 turns of the assistant are context: set `mask_history: true`"]
    );
    assert_eq!(
        notes("vertex-tuning", counts(1, 2, 0)),
        ["2 turns of the assistant are context, which vertex-tuning cannot express"]
    );
    assert_eq!(notes("openai-sft", counts(1, 2, 0)), Vec::<String>::new());
    assert_eq!(
        notes("trl-prompt-completion", counts(1, 0, 3)),
        [
            "3 trained turns of the dataset are context here: trl-prompt-completion trains on the last turn only"
        ]
    );
}
