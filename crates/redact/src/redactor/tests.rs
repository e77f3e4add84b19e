use chatmill_model::{
    ArgumentForm, Arguments, Message, MessageOrigin, Part, Participant, ParticipantKind, Role, ToolCall,
};
use proptest::prelude::*;

use super::*;

fn chat() -> Conversation {
    Conversation {
        participants: vec![Participant {
            id: "u1".to_owned(),
            name: Some("Mirela Quint".to_owned()),
            kind: ParticipantKind::Human,
            ..Participant::default()
        }],
        ..Conversation::default()
    }
}

fn redactor() -> Redactor {
    let key = PseudonymKey::new("a key of our own making, long enough").unwrap();
    Redactor::new(&PersonalKind::ALL, Some(key), &[])
}

fn replaced(text: &str) -> String {
    let redactor = redactor();
    let roster = redactor.roster(&chat());
    let mut counts = Counts::default();
    redactor
        .text(text, &roster, &mut counts)
        .unwrap_or_else(|| text.to_owned())
}

#[test]
fn matches_are_replaced_and_all_other_bytes_stay() {
    let out = replaced("Hi Mirela,\u{a0}mail ann@mail.example – or +1 555 123 4567!");
    assert!(out.starts_with("Hi Person-"), "{out}");
    assert!(
        out.contains(",\u{a0}mail email-") && out.contains("@example.invalid – or +999"),
        "{out}"
    );
    assert!(
        out.ends_with('!') && !out.contains("ann@") && !out.contains("4567"),
        "{out}"
    );
}

#[test]
fn every_spelling_of_a_value_gets_the_same_pseudonym() {
    let plain = replaced("ann@mail.example");
    for spelling in [
        r"ann\u0040mail.example",
        r"ann\\u0040mail.example",
        "Ann@Mail.Example",
        "ann%40mail.example",
        "ann&#64;mail.example",
        "ａｎｎ＠mail．example",
        "a\u{200b}nn@mail.exa\u{ad}mple",
        "ann\u{1}@mail.example",
    ] {
        assert_eq!(replaced(spelling), plain, "{spelling}");
    }
    assert_eq!(replaced("+1 555 123 4567"), replaced("+1-555-123-4567"));
    assert_eq!(replaced("4111 1111 1111 1111"), replaced("4111-1111-1111-1111"));
}

#[test]
fn json_stays_json_at_every_depth() {
    let out = replaced(
        r#"{"to":"ann\u0040mail.example","card":4111111111111111,"note":"{\"card\":4111111111111111,\"t\":\"a\\nann@mail.example\"}"}"#,
    );
    let number = replaced("[4111111111111111]");
    let number = number.trim_matches(['[', ']']);
    let email = replaced("ann@mail.example");
    assert_eq!(
        out,
        format!(r#"{{"to":"{email}","card":{number},"note":"{{\"card\":{number},\"t\":\"a\\n{email}\"}}"}}"#)
    );
}

#[test]
fn without_a_key_things_are_counted_only() {
    let redactor = Redactor::new(&PersonalKind::ALL, None, &[]);
    let mut conversation = chat();
    conversation.title = Some("ann@mail.example and Mirela".to_owned());
    let before = conversation.clone();
    let roster = redactor.roster(&conversation);
    let account = redactor.redact(&mut conversation, &roster);
    assert_eq!(conversation, before);
    assert_eq!(account.conversation.of(PersonalKind::Email), 1);
    // One of them is an id.
    assert_eq!(account.conversation.of(PersonalKind::Name), 3);
}

#[test]
fn only_wanted_kinds_are_found() {
    let redactor = Redactor::new(&[PersonalKind::Ip], None, &[]);
    let mut counts = Counts::default();
    let roster = redactor.roster(&chat());
    redactor.text(
        "Mirela ann@mail.example 203.0.113.7 +15551234567",
        &roster,
        &mut counts,
    );
    assert_eq!(counts.kinds().collect::<Vec<_>>(), [(PersonalKind::Ip, 1)]);
}

#[test]
fn participants_whose_ids_become_equal_get_numbers() {
    let mut conversation = Conversation {
        participants: ["Ann@mail.example", "ann@mail.example"]
            .map(|id| Participant {
                id: id.to_owned(),
                ..Participant::default()
            })
            .to_vec(),
        ..Conversation::default()
    };
    let redactor = redactor();
    let roster = redactor.roster(&conversation);
    redactor.redact(&mut conversation, &roster);
    let ids: Vec<&str> = conversation
        .participants
        .iter()
        .map(|each| each.id.as_str())
        .collect();
    assert_eq!(ids[1], format!("{}~2", ids[0]));
}

#[test]
fn a_call_id_derived_from_a_message_id_keeps_nothing_of_it() {
    let id = "4111 1111 1111 1111";
    let arguments = Arguments::Malformed(String::new());
    let call = ToolCall {
        metadata_id: Some(format!("xml_tool_index0_{id}")),
        ..ToolCall::new(None, None, (arguments, ArgumentForm::Embedded))
    };
    let message = Message {
        id: Some(id.to_owned()),
        parts: vec![Part::ToolCall(call)],
        ..Message::new(Role::Assistant, 0, MessageOrigin::default())
    };
    let mut conversation = Conversation {
        messages: vec![message],
        ..Conversation::default()
    };
    redactor().redact(&mut conversation, &Roster::default());
    let message = &conversation.messages[0];
    let Part::ToolCall(call) = &message.parts[0] else {
        panic!("{message:?}");
    };
    assert_eq!(
        call.metadata_id,
        Some(format!("xml_tool_index0_{}", replaced(id)))
    );
    assert_eq!(message.id, Some(replaced(id)));
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn any_text_is_redacted_without_a_panic(text in any::<String>()) {
        replaced(&text);
    }

    #[test]
    fn an_address_among_any_pieces_is_replaced(pieces in proptest::collection::vec(prop_oneof![
        Just("ann@mail.example"), Just("\\u0040"), Just("\\"), Just("\\n"), Just("%4"), Just("&#64;"), Just("://a:b@c?key="),
        Just("+1 555 123 4567"), Just("(555) "), Just("4111111111111111"), Just("DE89 3704 "), Just("::1"), Just("Mirela"),
        Just("李"), Just("é"), Just("\u{200b}"), Just("-----BEGIN PRIVATE KEY-----"), Just("eyJ."), Just(" "), Just("\""),
    ], 0..24)) {
        let text = pieces.concat();
        let out = replaced(&text);
        prop_assert!(!out.contains("ann@mail.example"), "{out}");
    }
}
