//! One rule at a time, over all vendor dialects that have it and those that have not.

use chatmill_dialect::policy::Names;
use chatmill_dialect::{LossCode, Policy};
use chatmill_model::{ArgumentForm, Arguments, CallStatus, Media, MediaKind, MediaSource, Part, RawJson};

use crate::room::{Out, Room, media, text};

fn valid(out: &Out) -> &str {
    assert_eq!(out.violations, Vec::<String>::new());
    &out.text
}

const BLOCKS: [&str; 3] = ["anthropic-messages", "gemini-contents", "bedrock-converse"];

#[test]
fn a_user_is_put_first_and_later_system_text_is_a_marked_user_turn() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(bot, "Hi");
    room.say(ann, "Ho");
    room.system("Be brief.");
    for dialect in BLOCKS.into_iter().chain(["mistral-chat", "sharegpt"]) {
        let out = room.only(dialect);
        assert_eq!(out.lost(LossCode::EmptyFilled), [(None, 1)], "{dialect}");
        assert_eq!(out.lost(LossCode::SystemInlined), [(Some(2), 1)], "{dialect}");
        assert!(
            out.text.contains("[start]") && out.text.contains("[system] Be brief."),
            "{dialect}"
        );
    }
}

#[test]
fn blank_texts_are_left_out_where_blocks_must_not_be_empty() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, " \n");
    room.post(Some(ann), vec![text("\u{a0}"), text("x")]);
    for dialect in BLOCKS {
        let out = room.only(dialect);
        assert!(
            !valid(&out).contains('\u{a0}') && out.text.contains("\"x\""),
            "{dialect}"
        );
        assert_eq!(
            out.codes_at(0),
            ["empty-dropped", "whitespace-trimmed"],
            "{dialect}"
        );
        assert_eq!(out.codes_at(1), ["whitespace-trimmed"], "{dialect}");
    }
}

#[test]
fn names_stand_in_front_where_several_people_speak() {
    let mut room = Room::new();
    let (ann, zoe) = (room.human("u1", "Ann"), room.human("u2", "Zoë"));
    room.say(ann, "a");
    room.say(zoe, "b");
    for dialect in BLOCKS
        .into_iter()
        .chain(["openai-responses", "mistral-chat", "hf-messages"])
    {
        let out = room.only(dialect);
        assert!(
            out.text.contains("Ann: a") && out.text.contains("Zoë: b"),
            "{dialect}"
        );
        assert_eq!(out.lost(LossCode::NameInlined), [(Some(0), 1), (Some(1), 1)]);
        let policy = Policy {
            names: Names::Field,
            ..Policy::default()
        };
        let out = room.only_with(dialect, &policy);
        assert!(!out.text.contains("Ann"), "{dialect}");
        assert_eq!(out.lost(LossCode::NameDropped), [(None, 2)], "{dialect}");
    }
    assert!(room.only("sharegpt").text.contains(r"Ann: a\n\nZoë: b"));
}

#[test]
fn only_those_who_share_their_name_have_an_id_behind_it() {
    let mut room = Room::new();
    let people = [
        room.human("u1", "Ann"),
        room.human("u2", "Ann"),
        room.human("u3", "Ben"),
        room.human("u4", ""),
        room.human("u5", "Ben"),
        room.agent("b1", "Scribe"),
        room.agent("b2", "Bot"),
    ];
    for sender in [people[0], people[1], people[2], people[3], people[5]] {
        room.say(sender, "x");
    }
    let answer = room.say(people[6], "y");
    room.say(people[6], "z");
    let quoting = room.say(people[2], "w");
    room.reply(quoting, 4);
    let out = room.only("hf-messages");
    let said = out.text.split(": x").map(|text| text.rsplit('"').next().unwrap());
    let said: Vec<&str> = said.take(5).collect();
    assert_eq!(
        said,
        ["Ann (u1)", "Ann (u2)", "Ben", "u4", "Scribe"],
        "{}",
        out.text
    );
    assert!(
        out.text.contains("[in reply to Scribe]") || out.text.contains("Scribe said"),
        "{}",
        out.text
    );
    assert!(
        !out.text.contains("(b1)") && !out.text.contains("(u3)"),
        "{}",
        out.text
    );
    // Who is quoted appears, too.
    let other = room.say(people[4], "v");
    room.reply(other, answer);
    assert!(room.only("hf-messages").text.contains("Ben (u3): x"));
}

#[test]
fn failures_are_marked_where_there_is_a_mark() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "", &[("1", "f", "{}")]);
    room.result("1", "no");
    room.pair(Some((0, 0)), Some((1, 0)), CallStatus::Paired);
    if let Part::ToolResult(result) = &mut room.message(1).parts[0] {
        result.is_error = true;
    }
    for (dialect, mark) in [
        ("anthropic-messages", r#""content":"no","is_error":true}"#),
        ("gemini-contents", r#""response":{"error":"no"}"#),
        (
            "bedrock-converse",
            r#""content":[{"text":"no"}],"status":"error""#,
        ),
    ] {
        let out = room.only(dialect);
        assert!(valid(&out).contains(mark), "{}", out.text);
        assert_eq!(out.lost(LossCode::ErrorFlagDropped), [], "{dialect}");
    }
    for dialect in [
        "openai-chat",
        "openai-responses",
        "mistral-chat",
        "hf-messages",
        "suna-llm",
        "sharegpt",
    ] {
        let out = room.only(dialect);
        assert_eq!(out.lost(LossCode::ErrorFlagDropped), [(Some(1), 1)], "{dialect}");
    }
}

#[test]
fn four_cache_marks_stay_and_they_are_the_newest() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    for count in 0..6 {
        room.post(Some(ann), vec![text(&format!("t{count}")), Part::CacheMark]);
    }
    for (dialect, mark) in [
        ("anthropic-messages", "cache_control"),
        ("bedrock-converse", "cachePoint"),
        ("suna-list", "cache_control"),
    ] {
        let out = room.only(dialect);
        assert_eq!(valid(&out).matches(mark).count(), 4, "{dialect}");
        assert_eq!(out.lost(LossCode::CacheMarkCapped), [(Some(0), 1), (Some(1), 1)]);
    }
    let out = room.only("openai-chat");
    assert_eq!(out.lost(LossCode::CacheMarkDropped).len(), 6);
}

#[test]
fn marks_of_system_text_outside_the_turns_count_too() {
    let mut room = Room::new();
    room.system("Be kind.");
    room.message(0).parts.push(Part::CacheMark);
    let ann = room.human("u1", "Ann");
    for count in 0..4 {
        room.post(Some(ann), vec![text(&format!("t{count}")), Part::CacheMark]);
    }
    for (dialect, mark) in [
        ("anthropic-messages", "cache_control"),
        ("bedrock-converse", "cachePoint"),
    ] {
        let out = room.only(dialect);
        assert_eq!(valid(&out).matches(mark).count(), 4, "{dialect}");
        assert_eq!(out.lost(LossCode::CacheMarkCapped), [(Some(0), 1)], "{dialect}");
    }
}

#[test]
fn arguments_that_are_no_object_stand_under_a_key() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "", &[("1", "a", "{}"), ("2", "b", "{}"), ("3", "c", "{}")]);
    let written = [
        Arguments::NotObject(RawJson("[ 1 ]".to_owned())),
        Arguments::Malformed("{oops".to_owned()),
        Arguments::Object(RawJson("{\"n\":9007199254740993}".to_owned())),
    ];
    for (part, arguments) in room.message(0).parts.iter_mut().zip(written) {
        if let Part::ToolCall(call) = part {
            call.arguments = arguments;
            call.form = ArgumentForm::Embedded;
        }
    }
    for dialect in BLOCKS.into_iter().chain(["hf-messages"]) {
        let out = room.only(dialect);
        for object in [
            r#"{"arguments":[1]}"#,
            r#"{"arguments":"{oops"}"#,
            r#"{"n":9007199254740993}"#,
        ] {
            assert!(valid(&out).contains(object), "{dialect} {object}");
        }
        assert_eq!(out.lost(LossCode::ArgsNotObject), [(Some(0), 1)]);
        assert_eq!(out.lost(LossCode::ArgsMalformed), [(Some(0), 1)]);
        let is_lossy = dialect == "gemini-contents";
        assert_eq!(out.lost(LossCode::NumberPrecision).len(), usize::from(is_lossy));
    }
}

#[test]
fn media_go_where_a_vendor_takes_them() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let inline = |kind, media_type: &str| {
        Part::Media(Media {
            kind,
            source: MediaSource::Inline("aGkh".to_owned()),
            media_type: Some(media_type.to_owned()),
            name: None,
        })
    };
    let bucket = Part::Media(Media {
        kind: MediaKind::Image,
        source: MediaSource::Url("s3://bucket/i.png".to_owned()),
        media_type: Some("image/png".to_owned()),
        name: None,
    });
    room.post(
        Some(ann),
        vec![
            media(MediaKind::Image, Some("https://e.com/i.png"), None),
            inline(MediaKind::Image, "image/jpg"),
            inline(MediaKind::Audio, "audio/wav"),
            bucket,
            media(MediaKind::File, Some("https://e.com/f.pdf"), None),
        ],
    );
    for (dialect, carried, named) in [
        ("openai-chat", 2, 3),
        ("openai-responses", 3, 2),
        ("anthropic-messages", 3, 2),
        ("gemini-contents", 4, 1),
        ("bedrock-converse", 2, 3),
        ("mistral-chat", 2, 3),
        ("hf-messages", 0, 5),
        ("sharegpt", 0, 5),
        ("suna-llm", 0, 5),
    ] {
        let out = room.only(dialect);
        let placeholders: u64 = out
            .lost(LossCode::MediaPlaceholder)
            .iter()
            .map(|(_, amount)| amount)
            .sum();
        assert_eq!(placeholders, named, "{dialect} {}", out.text);
        let marks = [
            "image_url\":{",
            "input_image",
            "input_file",
            "\"source\":{",
            "fileData",
            "inlineData",
        ];
        let found: usize = marks.iter().map(|mark| out.text.matches(mark).count()).sum();
        assert_eq!(found, carried, "{dialect} {}", out.text);
    }
    for (dialect, written) in [
        (
            "openai-chat",
            r#"{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,aGkh"}}"#,
        ),
        (
            "openai-responses",
            r#"{"type":"input_image","detail":"auto","image_url":"data:image/jpeg;base64,aGkh"}"#,
        ),
    ] {
        let out = room.only(dialect);
        assert!(out.text.contains(written), "{}", out.text);
    }
    let out = room.only("bedrock-converse");
    assert!(
        out.text
            .contains(r#"{"image":{"format":"jpeg","source":{"bytes":"aGkh"}}}"#)
    );
    assert!(out.text.contains(r#""s3Location":{"uri":"s3://bucket/i.png"}"#));
    let out = room.only("gemini-contents");
    assert_eq!(out.lost(LossCode::MediaNeedsFetch), [(Some(0), 2)]);
}

#[test]
fn a_tool_is_defined_once_and_takes_an_object() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "hi");
    for tool in [
        r#"{"name":"f","description":"","parameters":{"type":"OBJECT","properties":{"n":{"type":"INTEGER"}}}}"#,
        r#"{"name":"g","parameters":{"type":"string"}}"#,
        r#"{"name":"f","parameters":{"type":"object"}}"#,
    ] {
        room.linked.conversation.tools.push(RawJson(tool.to_owned()));
    }
    let takes_a_number = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let takes_nothing = r#"{"type":"object","properties":{}}"#;
    for (dialect, wanted) in [
        (
            "openai-chat",
            format!(
                r#""tools":[{{"type":"function","function":{{"name":"f","description":"","parameters":{takes_a_number}}}}},{{"type":"function","function":{{"name":"g","parameters":{takes_nothing}}}}}]}}"#
            ),
        ),
        (
            "bedrock-converse",
            format!(
                r#""toolConfig":{{"tools":[{{"toolSpec":{{"name":"f","inputSchema":{{"json":{takes_a_number}}}}}}},{{"toolSpec":{{"name":"g","inputSchema":{{"json":{takes_nothing}}}}}}}]}}}}"#
            ),
        ),
    ] {
        let out = room.only(dialect);
        assert!(valid(&out).ends_with(&wanted), "{}", out.text);
        assert_eq!(
            out.lost(LossCode::ToolDefinitionDropped),
            [(None, 1)],
            "{dialect}"
        );
    }
    // What takes no object, and the description that Converse refuses.
    let out = room.only("bedrock-converse");
    let dropped: u64 = out.lost(LossCode::ExtraDropped).iter().map(|(_, n)| n).sum();
    assert_eq!(dropped, 2);
}

#[test]
fn definitions_of_tools_take_the_form_of_each_vendor() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "hi");
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    for tool in [
        format!(
            r#"{{"type":"function","function":{{"name":"a.b","description":"Adds.","parameters":{schema}}}}}"#
        ),
        format!(r#"{{"name":"a_b","input_schema":{schema}}}"#),
        r#"{"type":"web_search"}"#.to_owned(),
    ] {
        room.linked.conversation.tools.push(RawJson(tool));
    }
    let tail = |dialect: &str| {
        let out = room.only(dialect);
        assert_eq!(
            out.lost(LossCode::ToolDefinitionDropped),
            [(None, 1)],
            "{dialect}"
        );
        out.text.split_once("\"tool").unwrap().1.to_owned()
    };
    assert_eq!(
        tail("anthropic-messages"),
        format!(
            r#"s":[{{"name":"a_b_2","description":"Adds.","input_schema":{schema}}},{{"name":"a_b","input_schema":{schema}}}]}}"#
        )
    );
    assert!(
        tail("gemini-contents").starts_with(
            r#"s":[{"functionDeclarations":[{"name":"a_b_2","description":"Adds.","parameters":{"#
        )
    );
    assert!(tail("bedrock-converse").starts_with(
        r#"Config":{"tools":[{"toolSpec":{"name":"a_b_2","description":"Adds.","inputSchema":{"json":{"#
    ));
    assert!(
        tail("openai-responses")
            .starts_with(r#"s":[{"type":"function","name":"a_b_2","description":"Adds.","parameters":{"#)
    );
    assert!(tail("openai-responses").ends_with(r#","strict":false}]}"#));
    assert!(tail("hf-messages").starts_with(r#"s":[{"type":"function","function":{"name":"a.b","#));
    assert!(tail("sharegpt").starts_with(r#"s":"[{\"name\":\"a.b\","#));
}

#[test]
fn text_behind_a_call_moves_in_front_of_it() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "x");
    room.call(bot, "", &[("1", "f", "{}")]);
    room.message(1).parts.push(text("on it"));
    room.result("1", "done");
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    for dialect in ["anthropic-messages", "bedrock-converse", "gemini-contents"] {
        let out = room.only(dialect);
        let said = valid(&out).find("on it").unwrap();
        let called = out.text.find("\"f\"").unwrap();
        assert!(said < called, "{dialect}: {}", out.text);
        assert_eq!(out.lost(LossCode::PartMoved), [(Some(1), 1)], "{dialect}");
    }
}

#[test]
fn an_empty_result_is_filled_where_it_is_refused() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "x");
    room.call(bot, "", &[("1", "f", "{}")]);
    room.result("1", " \n");
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    let out = room.only("bedrock-converse");
    assert!(
        valid(&out).contains(r#""content":[{"text":"(empty)"}]"#),
        "{}",
        out.text
    );
    assert_eq!(out.lost(LossCode::EmptyFilled), [(Some(2), 1)]);
    assert_eq!(
        room.only("anthropic-messages").lost(LossCode::EmptyFilled),
        Vec::<(Option<u32>, u64)>::new()
    );
}
