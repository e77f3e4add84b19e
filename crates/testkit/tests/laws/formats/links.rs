//! Correct pairs, references and columns for the conversations in `data-samples/links/`, from their bytes to
//! renderings, findings and rows.

use chatmill_diag::{Finding, Limits};
use chatmill_dialect::{Answered, LossCode, Policy, View, auto_perspective};
use chatmill_link::link;
use chatmill_model::{CallStatus, LinkStatus, Linked, Part};
use chatmill_testkit::conversations::reading;
use chatmill_testkit::samples::samples;
use chatmill_workshop::{TestDir, rows};
use serde_json::Value;

fn text_of(name: &str) -> String {
    std::fs::read_to_string(samples().join("links").join(name)).unwrap()
}

/// Reads, links and checks a conversation.
fn read(source: &str, name: &str) -> (Linked, Vec<Finding>) {
    let text = text_of(name);
    let limits = Limits::default();
    let mut reading = reading(source, &text, &limits);
    let (linked, more, _) = link(reading.conversation.unwrap(), &limits);
    reading.findings.extend(more);
    chatmill_rule::check(&linked, &limits, &mut reading.findings);
    (linked, reading.findings)
}

/// The findings with a code: their positions and messages.
fn found(findings: &[Finding], code: &str) -> Vec<(Option<u32>, String)> {
    let of_code = findings.iter().filter(|finding| finding.code.name == code);
    of_code
        .map(|finding| (finding.position, finding.message.clone()))
        .collect()
}

/// The text and the losses of a rendering.
fn said(dialect: &str, linked: &Linked, policy: &Policy) -> (String, Vec<(LossCode, u64)>) {
    let dialect = chatmill_dialect::find(dialect).unwrap();
    let perspective = auto_perspective(linked).filter(|_| !dialect.is_neutral());
    let view = View::whole(linked, perspective, policy);
    let (mut text, mut losses) = (String::new(), Vec::new());
    dialect.render_each(&view, &mut |sink, rendering| {
        text.push_str(sink.text());
        losses.extend(rendering.losses.iter().map(|loss| (loss.code, loss.amount)));
    });
    (text, losses)
}

/// The turns of a rendering in the form of `messages`.
fn turns(dialect: &str, linked: &Linked) -> Vec<Value> {
    let text = said(dialect, linked, &Policy::default()).0;
    let value: Value = serde_json::from_str(&text).unwrap();
    let messages = value.get("messages").unwrap_or(&value);
    messages.as_array().unwrap().clone()
}

/// For each call its name and arguments, and the content of its result.
fn answers(turns: &[Value]) -> Vec<(String, String)> {
    let calls = turns
        .iter()
        .flat_map(|turn| turn["tool_calls"].as_array().into_iter().flatten());
    let answer = |call: &Value| {
        let answer = turns
            .iter()
            .find(|turn| turn["tool_call_id"] == call["id"])
            .unwrap();
        let content = &answer["content"];
        (
            format!(
                "{}{}",
                call["function"]["name"].as_str().unwrap(),
                call["function"]["arguments"].as_str().unwrap()
            ),
            content
                .as_str()
                .map_or_else(|| content[0]["text"].to_string(), str::to_owned),
        )
    };
    calls.map(answer).collect()
}

fn pair(asked: &str, answered: &str) -> (String, String) {
    (asked.to_owned(), answered.to_owned())
}

#[test]
fn parallel_calls_that_share_an_id_are_answered_by_the_tool_that_each_names() {
    let (linked, findings) = read("openai-messages", "shared-id-in-one-turn.json");
    let expected = [
        pair("opening_hours{}", "from seven"),
        pair("distance{}", "two streets"),
    ];
    assert_eq!(answers(&turns("openai-chat", &linked)), expected);
    assert_eq!(found(&findings, "name-mismatch"), []);
    let text = "2 open calls have the id `call_0`; the result is paired with the one at position 1";
    assert_eq!(
        found(&findings, "ambiguous-call-id"),
        [(Some(2), text.to_owned())]
    );
}

#[test]
fn rows_that_share_an_id_are_answered_by_the_row_that_each_result_names() {
    let (linked, findings) = read("suna-rows", "shared-id-in-two-rows.json");
    let expected = [
        pair("weigh{\"sack\":1}", "first: 4 kg"),
        pair("weigh{\"sack\":2}", "second: 9 kg"),
    ];
    assert_eq!(answers(&turns("suna-llm", &linked)), expected);
    assert_eq!(found(&findings, "ambiguous-call-id").len(), 1);
}

#[test]
fn agents_that_share_an_id_are_answered_each_by_its_own_result() {
    let (linked, findings) = read("group-chat", "shared-id-of-two-agents.json");
    let expected = [pair("read{\"of\":\"oven\"}", "220 degrees")];
    assert_eq!(answers(&turns("openai-chat", &linked)), expected);
    assert_eq!(found(&findings, "ambiguous-call-id").len(), 1);
    let statuses: Vec<CallStatus> = linked.pairings.iter().map(|pairing| pairing.status).collect();
    assert_eq!(
        statuses,
        [CallStatus::Late, CallStatus::Paired],
        "another agent's call stands between"
    );
}

#[test]
fn ids_that_stand_in_metadata_only_are_the_ids_of_calls() {
    let (linked, _) = read("suna-rows", "ids-in-metadata.json");
    for dialect in ["suna-llm", "openai-chat", "suna-list"] {
        let turns = turns(dialect, &linked);
        let ids: Vec<&Value> = turns
            .iter()
            .flat_map(|turn| turn["tool_calls"].as_array().into_iter().flatten())
            .map(|call| &call["id"])
            .collect();
        assert_eq!(ids, ["weigh-a", "weigh-b"], "{dialect}");
    }
    let losses = said("suna-llm", &linked, &Policy::default()).1;
    assert!(
        !losses.iter().any(|(code, _)| *code == LossCode::ToolIdRewritten),
        "{losses:?}"
    );

    let test_dir = TestDir::new();
    test_dir.write("in/a.json", text_of("ids-in-metadata.json"));
    test_dir.run("out", "", 1).unwrap();
    let ids = rows::texts(&test_dir.path("out"), "tool_calls", "call_id");
    assert_eq!(ids, [Some("weigh-a".to_owned()), Some("weigh-b".to_owned())]);
}

#[test]
fn a_reply_to_a_notice_quotes_its_words_and_a_quote_of_nothing_is_not_written() {
    let (linked, _) = read("group-chat", "reply-to-a-notice.json");
    for dialect in ["openai-chat", "anthropic-messages", "suna-llm", "tzurot"] {
        let text = said(dialect, &linked, &Policy::default()).0;
        assert!(
            text.contains(r#"\"Bo moved the delivery to Friday\""#),
            "{dialect}: {text}"
        );
    }
    let text = said("gryag-gemini", &linked, &Policy::default()).0;
    assert!(
        text.contains(r#"reply_excerpt=\"Bo moved the delivery to Friday\""#),
        "{text}"
    );
    let (text, losses) = said("openai-chat", &linked, &Policy::default());
    assert!(!text.contains(r#"\"\""#), "{text}");
    assert!(losses.contains(&(LossCode::ReferenceUnresolved, 1)), "{losses:?}");
}

#[test]
fn references_inside_references_are_rows_and_a_declared_loss() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.json", text_of("replies-in-replies.json"));
    test_dir.run("out", "", 1).unwrap();
    let out = test_dir.path("out");
    let texts = |column| {
        rows::texts(&out, "message_references", column)
            .into_iter()
            .map(Option::unwrap)
    };
    let rows: Vec<String> = texts("path")
        .zip(rows::texts(&out, "message_references", "target_id"))
        .zip(texts("status"))
        .map(|((path, target), status)| format!("{path} {} {status}", target.unwrap()))
        .collect();
    assert_eq!(
        rows,
        [
            "0 gone preview",
            "0.0 m1 resolved",
            "0.1 older preview",
            "0.1.0 m1 resolved",
            "0.1.1 7 resolved",
            "0.1.2 m1 resolved",
            "0.1.2.0 deep preview",
            "0 gone preview",
            "0.0 older preview",
            "0 7 resolved",
            "0 m1 resolved",
            "1 m1 resolved",
            "2 m1 resolved",
        ]
    );
    let (linked, _) = read("group-chat", "replies-in-replies.json");
    for dialect in [
        "openai-chat",
        "gryag-gemini",
        "gryag-compact",
        "jaibber-context",
        "suna-rows",
    ] {
        let losses = said(dialect, &linked, &Policy::default()).1;
        assert!(
            losses.contains(&(LossCode::ReferenceNested, 7)),
            "{dialect}: {losses:?}"
        );
    }
    let losses = said("group-chat", &linked, &Policy::default()).1;
    assert!(!losses.iter().any(|(code, _)| *code == LossCode::ReferenceNested));
}

#[test]
fn references_lie_as_deep_as_the_limit_and_no_deeper() {
    let text = text_of("replies-in-replies.json");
    let deepest = |levels: u32| {
        let limits = Limits {
            reference_depth: levels,
            ..Limits::default()
        };
        let reading = reading("group-chat", &text, &limits);
        let (linked, ..) = link(reading.conversation.unwrap(), &limits);
        let mut level: Vec<_> = linked.links[1].clone();
        let mut depth = 0;
        while !level.is_empty() {
            depth += 1;
            level = level.into_iter().flat_map(|link| link.nested).collect();
        }
        depth
    };
    assert_eq!([1, 3, 4, 9].map(deepest), [1, 3, 4, 4]);
}

#[test]
fn a_number_in_a_refer_list_is_an_id_and_a_repeated_id_is_quoted_once() {
    let (linked, _) = read("group-chat", "replies-in-replies.json");
    assert_eq!(linked.links[4][0].target, Some(3));
    let (text, losses) = said("openai-chat", &linked, &Policy::default());
    assert!(text.contains(r#"\"Seven.\""#), "{text}");
    assert_eq!(text.matches(r#"\"Rye is out.\""#).count(), 1, "{text}");
    let dropped = losses
        .iter()
        .filter(|(code, _)| *code == LossCode::ReferenceDropped);
    // One is on the agent's turn, two repeat another.
    assert_eq!(dropped.map(|(_, amount)| amount).sum::<u64>(), 3, "{losses:?}");
}

#[test]
fn previews_that_name_another_author_time_or_type_disagree() {
    let (_, findings) = read("group-chat", "previews-that-disagree.json");
    let text = |what: &str| format!("preview shows another {what} than its target at position 0");
    assert_eq!(
        found(&findings, "preview-mismatch"),
        [(Some(1), text("author")), (Some(2), text("time and type"))]
    );
}

#[test]
fn a_marker_without_an_address_is_found_in_a_quote_and_nothing_behind_it_is_repeated() {
    let (_, findings) = read("tzurot-requests", "marker-in-a-quote.json");
    let broken: Vec<_> = findings
        .iter()
        .filter(|finding| finding.code.name == "invalid-media-url")
        .collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(
        broken[0].detail.as_deref(),
        Some("[Image: ftp://cakes.example/1.jpg]")
    );
}

#[test]
fn valid_times_are_retained_and_unusual_ones_noted() {
    let (linked, findings) = read("group-chat", "times.json");
    let instants: Vec<i64> = linked
        .conversation
        .messages
        .iter()
        .map(|message| message.timestamp.as_ref().unwrap().instant.unwrap())
        .collect();
    assert_eq!(
        instants,
        [
            -62_135_596_800_000_000,
            1_483_228_800_000_000,
            1_772_442_000_000_000,
            1_772_442_001_000_000,
            1_772_442_002_123_456,
            1_772_496_000_000_000,
            1_774_747_800_000_000,
            1_792_888_200_000_000,
            253_402_300_799_000_000,
        ]
    );
    let mut positions: Vec<_> = found(&findings, "timestamp-unusual")
        .into_iter()
        .map(|(at, _)| at)
        .collect();
    positions.sort_unstable();
    assert_eq!(positions, (1..8).map(Some).collect::<Vec<_>>());
    assert_eq!(found(&findings, "timestamp-unusable"), []);
    assert_eq!(found(&findings, "time-goes-backwards"), []);
}

#[test]
fn a_stated_role_against_the_roster_and_a_result_without_the_role_tool_are_conflicts() {
    let (linked, findings) = read("group-chat", "roles.json");
    let roster = "the message states another role than user_details does for its sender";
    let answer = "the message answers a call and states another role than tool";
    assert_eq!(
        found(&findings, "role-conflict"),
        [(Some(0), roster), (Some(2), roster), (Some(2), answer)].map(|(at, text)| (at, text.to_owned()))
    );
    assert_eq!(linked.pairings[0].status, CallStatus::Paired);
}

#[test]
fn a_reply_keeps_its_target_when_the_message_is_removed() {
    let (linked, _) = read("gemini-contents", "lost-reply.json");
    let policy = Policy::default();
    let view = View::whole(&linked, None, &policy);
    let message = &linked.conversation.messages[1];
    let (reference, link) = view.references(message).next().unwrap();
    assert_eq!(link.status, LinkStatus::Dangling);
    let answered = Answered {
        id: Some("7001"),
        name: Some("Ines"),
    };
    assert_eq!(view.answered(reference, link), Some(answered));
}

#[test]
fn thoughts_at_the_head_of_a_text_are_reasoning_in_every_source() {
    let plain = text_of("thoughts.json");
    let turns: Value = serde_json::from_str(&plain).unwrap();
    let shared: Vec<Value> = turns
        .as_array()
        .unwrap()
        .iter()
        .zip(["human", "gpt"])
        .map(|(turn, from)| serde_json::json!({"from": from, "value": turn["content"]}))
        .collect();
    let files = [
        ("openai-messages", plain.clone()),
        ("hf-messages", serde_json::json!({"messages": turns}).to_string()),
        ("mistral-chat", serde_json::json!({"messages": turns}).to_string()),
        (
            "anthropic-messages",
            serde_json::json!({"messages": turns}).to_string(),
        ),
        (
            "sharegpt",
            serde_json::json!({"conversations": shared}).to_string(),
        ),
    ];
    for (source, text) in files {
        let linked = chatmill_testkit::conversations::read(source, &text);
        let parts = &linked.conversation.messages[1].parts;
        let expected = [
            Part::Reasoning("Two trays of six.".to_owned()),
            Part::Text("Twelve.".to_owned()),
        ];
        assert_eq!(parts[..], expected, "{source}");
        let (text, losses) = said("openai-chat", &linked, &Policy::default());
        assert!(!text.contains("trays"), "{source}: {text}");
        assert!(losses.contains(&(LossCode::ReasoningDropped, 1)), "{source}");
    }
}

#[test]
fn a_run_reports_the_number_of_renderings_without_reasoning() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.json", text_of("thoughts.json"));
    let dialects = "[render]\ndialects = [\"openai-chat\", \"chatml\"]\n";
    let dropped = test_dir.run("dropped", dialects, 1).unwrap();
    assert_eq!(dropped.totals.without_reasoning, 2);
    let kept = format!("{dialects}[policy]\nreasoning = \"keep\"\n");
    assert_eq!(
        test_dir.run("kept", &kept, 1).unwrap().totals.without_reasoning,
        0
    );
}

#[test]
fn all_windows_of_a_conversation_show_names_or_none_does() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.json", text_of("names.json"));
    let more = "[window]\nhistory = 2\nper_turn = true\n[render]\ndialects = [\"anthropic-messages\"]\n";
    test_dir.run("out", more, 1).unwrap();
    let contents = rows::texts(&test_dir.path("out"), "renderings", "content");
    assert_eq!(contents.len(), 3);
    for content in contents {
        let content = content.unwrap();
        assert!(
            content.contains("Søren: ") || content.contains("Ines: "),
            "{content}"
        );
    }
}

#[test]
fn a_name_that_the_field_cannot_spell_is_the_same_in_quotes() {
    let (linked, _) = read("group-chat", "names.json");
    let text = said("openai-chat", &linked, &Policy::default()).0;
    assert!(text.contains(r#""name":"u1""#), "{text}");
    assert!(text.contains("u1 said:"), "{text}");
    assert!(!text.contains("Søren said:"), "{text}");
    let prefixed = said("anthropic-messages", &linked, &Policy::default()).0;
    assert!(
        prefixed.contains("Søren: ") && prefixed.contains("Søren said:"),
        "{prefixed}"
    );
}

#[test]
fn parts_are_null_where_the_text_is_complete() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.json", text_of("thoughts.json"));
    test_dir.run("out", "", 1).unwrap();
    let parts = rows::texts(&test_dir.path("out"), "messages", "parts");
    assert_eq!(parts[0], None);
    assert!(
        parts[1]
            .as_deref()
            .unwrap()
            .starts_with(r#"[{"type":"reasoning""#)
    );
}

#[test]
fn losses_are_one_row_for_each_kind_and_reason_and_add_up() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.json", text_of("replies-in-replies.json"));
    test_dir
        .run(
            "out",
            "[render]\ndialects = [\"gemini-contents\", \"group-chat\"]\n",
            1,
        )
        .unwrap();
    let out = test_dir.path("out");
    let column = |name| rows::texts(&out, "losses", name).into_iter().map(Option::unwrap);
    let mut keys: Vec<_> = column("dialect")
        .zip(column("code"))
        .zip(column("reason"))
        .collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all);
    let sum = |table, name| {
        rows::numbers(&out, table, name)
            .into_iter()
            .flatten()
            .sum::<i64>()
    };
    assert_eq!(sum("losses", "amount"), sum("renderings", "loss_count"));
    let inlined = column("code").zip(rows::positions(&out, "losses", "positions"));
    let inlined: Vec<_> = inlined
        .filter(|(code, _)| code == "reference-inlined")
        .map(|(_, at)| at)
        .collect();
    assert_eq!(inlined, [vec![2, 4, 5]]);
}
