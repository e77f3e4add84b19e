//! Records that belong together: which entries are grouped, by which key, and how the rows come back.

use crate::{Reading, Source, find};
use chatmill_diag::Limits;
use chatmill_intake::{Framing, Head, json};

use crate::tests::frame::read_at;

fn groups_rows(source: &str, framing: Framing, text: &str) -> bool {
    let head = Head {
        framing,
        complete: true,
        bytes: text.as_bytes().to_vec(),
    };
    find(source).unwrap().groups_rows(&head.sketch())
}

/// Keys and texts of the rows that a source cuts a frame into.
fn rows(source: &str, text: &str) -> Option<Vec<(String, String)>> {
    let document = json::scan(text.as_bytes(), 128).unwrap();
    let rows = find(source).unwrap().rows(&document)?;
    Some(
        rows.into_iter()
            .map(|row| (row.keys.join("+"), text.get(row.span).unwrap().to_owned()))
            .collect(),
    )
}

fn one(key: &str, text: &str) -> Vec<(String, String)> {
    vec![(key.to_owned(), text.to_owned())]
}

fn read(source: &dyn Source, text: &str, key: Option<&str>, limits: &Limits) -> Reading {
    read_at(source, text.as_bytes(), 1_000, key, limits)
}

#[test]
fn a_file_of_one_list_of_messages_is_grouped_and_other_lists_are_not() {
    let list = r#"[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[]}, 7]"#;
    assert!(groups_rows("openai-messages", Framing::Array, list));
    for other in [
        r#"[{"messages":[{"role":"user","content":"x"}]}]"#,
        r#"[[{"role":"user","content":"x"}],[{"role":"user","content":"y"}]]"#,
        r#"[{"role":"user","content":"x"},{"messages":[]}]"#,
        "[]",
        "[1,2]",
    ] {
        assert!(!groups_rows("openai-messages", Framing::Array, other), "{other}");
    }
    let line = r#"{"role":"user","content":"x"}"#;
    assert!(!groups_rows("openai-messages", Framing::Lines, line));
}

#[test]
fn every_element_of_a_list_of_messages_is_a_row_of_one_conversation() {
    for text in [r#" {"role":"user"}"#, "7", "null", r#""x""#] {
        assert_eq!(rows("openai-messages", text), Some(one("", text.trim())));
    }
    assert_eq!(rows("openai-messages", r#"{"messages":[]}"#), None);
    assert_eq!(
        rows("openai-messages", r#"[{"role":"user","content":"x"}]"#),
        None
    );
}

#[test]
fn a_rejected_message_of_a_list_has_its_place_in_it() {
    let text = r#"[{"role":"user","content":"x"},7]"#;
    let reading = read(
        find("openai-messages").unwrap(),
        text,
        Some("k"),
        &Limits::default(),
    );
    let conversation = reading.conversation.unwrap();
    assert_eq!(conversation.source_id.as_deref(), Some("k"));
    assert_eq!(conversation.messages.len(), 1);
    let span = reading.rejects[0].span;
    assert_eq!((span.start, span.end), (1_031, 1_032));
    assert_eq!(
        reading.rejects[0].finding.path,
        chatmill_diag::Path::Absolute("$[1]".to_owned())
    );
}

#[test]
fn a_list_beyond_the_limit_is_rejected_whole_and_one_at_the_limit_is_not() {
    let limits = Limits {
        messages_per_conversation: 2,
        ..Limits::default()
    };
    for (source, row) in [
        ("openai-messages", r#"{"role":"user","content":"x"}"#),
        ("tzurot-requests", r#"{"messageContent":"x","channelId":"1"}"#),
        (
            "tzurot-requests",
            r#"{"id":"1","role":"user","content":"x","channelId":"1","personalityId":"p"}"#,
        ),
    ] {
        let source = find(source).unwrap();
        let list = |count: usize| format!("[{}]", vec![row; count].join(","));
        assert!(read(source, &list(2), None, &limits).conversation.is_some());
        let reading = read(source, &list(3), None, &limits);
        assert_eq!(reading.error.unwrap().code.name, "conversation-too-large");
    }
}

#[test]
fn requests_with_a_conversation_id_are_grouped() {
    for text in [
        r#"{"messageContent":"x","channelId":"1"}"#,
        r#"{"messageContent":"x","conversation_id":1}"#,
        r#"{"content":{"messageContent":"x","channel_id":"1"},"currentPersonality":"p"}"#,
        r#"{"id":"1","role":"user","content":"x","channelId":"1","personalityId":"p"}"#,
    ] {
        assert!(groups_rows("tzurot-requests", Framing::Lines, text), "{text}");
    }
    for text in [
        r#"{"messageContent":"x"}"#,
        r#"{"messageContent":"x","referencedMessage":{"channelId":"1"}}"#,
        r#"{"role":"user","content":"x"}"#,
    ] {
        assert!(!groups_rows("tzurot-requests", Framing::Lines, text), "{text}");
    }
    let list = r#"[{"role":"assistant","content":"x"},{"role":"user","content":"y"}]"#;
    assert!(groups_rows("tzurot-requests", Framing::Array, list));
    assert!(!groups_rows(
        "tzurot-requests",
        Framing::Array,
        r#"[{"role":"user","content":"x"}]"#
    ));
}

#[test]
fn the_conversation_is_the_one_named_else_the_channel_and_the_personality() {
    let table = [
        (
            r#"{"messageContent":"x","channelId":"1","currentPersonality":"ada"}"#,
            "1/ada",
        ),
        (r#"{"messageContent":"x","channelId":1}"#, "1"),
        (
            r#"{"messageContent":"x","channelId":"1","conversationId":"c","currentPersonality":"ada"}"#,
            "c",
        ),
        (
            r#"{"content":{"messageContent":"x","channelId":"1"},"currentPersonality":"ada"}"#,
            "1/ada",
        ),
        (r#"{"role":"user","content":"x"}"#, ""),
        (
            r#"{"role":"user","content":"x","channel_id":"7","personality_id":"p"}"#,
            "7/p",
        ),
    ];
    for (text, key) in table {
        assert_eq!(rows("tzurot-requests", text), Some(one(key, text)), "{text}");
    }
    for text in [
        r#"{"messageContent":"x"}"#,
        r#"{"messageContent":"x","channelId":null}"#,
        r#"{"role":"user","content":"x","channel_id":null,"personality_id":"p"}"#,
        "7",
        r#"[{"messageContent":"x","channelId":"1"},7]"#,
    ] {
        assert_eq!(rows("tzurot-requests", text), None, "{text}");
    }
    let both = r#"[{"messageContent":"x","channelId":"1"},{"messageContent":"y","channelId":"2"}]"#;
    let keys: Vec<String> = rows("tzurot-requests", both)
        .unwrap()
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(keys, ["1", "2"]);
}

#[test]
fn rows_of_the_history_have_a_map_for_their_table() {
    let maps = find("tzurot-requests").unwrap().tables();
    let columns = [
        "id",
        "channel_id",
        "guild_id",
        "personality_id",
        "persona_id",
        "role",
        "content",
        "message_metadata",
    ]
    .map(str::to_owned);
    assert!(maps[0].reads(Some("public.conversation_history"), &columns));
    assert!(!maps[0].reads(Some("public.personas"), &columns));
    assert!(!maps[0].reads(Some("conversation_history"), &columns[..3]));
}

#[test]
fn a_thousand_equal_names_get_ids_in_linear_time() {
    let requests: Vec<String> = (0..20_000)
        .map(|number| {
            format!(r#"{{"messageContent":"x","userName":"Ann","userId":"{number}","channelId":"1"}}"#)
        })
        .collect();
    let text = format!("[{}]", requests.join(","));
    let reading = read(
        find("tzurot-requests").unwrap(),
        &text,
        Some("1"),
        &Limits::default(),
    );
    let participants = reading.conversation.unwrap().participants;
    assert_eq!(participants.len(), 20_000);
    assert_eq!(
        (participants[0].id.as_str(), participants[19_999].id.as_str()),
        ("Ann", "Ann~20000")
    );
}
