//! Who is there, who speaks, who is mentioned.

use chatmill_diag::Severity;
use chatmill_model::{Message, ParticipantKind, Role};
use serde_json::{Value, json};

use super::{answer, conversation, gather, names, payload, read, turns};

#[test]
fn presence_alone_makes_a_roster_but_no_conversation() {
    let row = json!([{"userId": "u1", "username": "ann", "isAgent": true, "projectIds": ["p"],
        "agentName": "Coder", "agentInstructions": "Be brief.", "machineName": "box"}]);
    let reading = read(&row);
    assert!(reading.conversation.is_none() && reading.fault.is_none());
    assert_eq!((reading.rows.rows, reading.rows.merged), (1, 1));
    assert_eq!(names(&reading.findings), ["empty-conversation"]);
    assert_eq!(reading.findings[0].severity, Severity::Note);

    let mut rows = row.as_array().unwrap().clone();
    rows.push(payload("ann", "message", "m1", "hi"));
    rows.push(answer("message", "m2", "ho"));
    let reading = read(&json!(rows));
    let people = &conversation(&reading).participants;
    let seen: Vec<_> = people
        .iter()
        .map(|person| (person.id.as_str(), person.name.as_deref().unwrap(), person.kind))
        .collect();
    assert_eq!(
        seen,
        [
            ("u1", "ann", ParticipantKind::Human),
            ("u1/Coder", "Coder", ParticipantKind::Agent)
        ]
    );
    let facts: Vec<&str> = people[1].extra.0.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(facts, ["userId", "agentInstructions", "machineName"]);
    let roles: Vec<Role> = conversation(&reading)
        .messages
        .iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
}

#[test]
fn a_person_and_his_agents_are_kept_apart_and_names_lead_to_one_participant() {
    let rows = json!([
        payload("ann", "message", "m1", "hi"),
        answer("response", "r1", "ho"),
        {"id": "m2", "sender": "me", "senderName": "ann", "text": "x", "status": "done"},
        {"id": "m3", "sender": "them", "senderName": "Coder", "text": "y", "status": "done"},
        {"id": "m4", "sender": "them", "senderName": "Zed", "text": "z @Robo", "status": "done"},
        {"id": "m5", "sender": "them", "senderName": "Robo", "text": "beep", "status": "done"},
        {"id": "m6", "sender": "me", "senderName": "Robo", "text": "boop", "status": "done"},
        {"id": "m7", "projectId": "p", "senderId": "u1", "senderType": "agent", "senderName": "CODER", "type": "response", "text": "!"},
    ]);
    let reading = read(&rows);
    let conversation = conversation(&reading);
    let said = |message: &Message| {
        let sender = &conversation.participants[message.sender.unwrap()];
        (
            sender.id.clone(),
            message.role.as_str(),
            message.sender_name.clone(),
        )
    };
    let seen: Vec<_> = conversation.messages.iter().map(said).collect();
    let own = |id: &str, role| (id.to_owned(), role, None);
    assert_eq!(
        seen,
        [
            own("u1", "user"),
            own("u1/Coder", "assistant"),
            own("u1", "user"),
            own("u1/Coder", "assistant"),
            own("Zed", "user"),
            own("Robo", "assistant"),
            own("Robo", "assistant"),
            ("u1/Coder".to_owned(), "assistant", Some("CODER".to_owned())),
        ]
    );
    let zed = &conversation.participants[2];
    assert_eq!((zed.id.as_str(), zed.kind), ("Zed", ParticipantKind::Unknown));
}

#[test]
fn mentions_come_from_the_field_and_from_the_text() {
    let mut asked = payload("ann", "message", "m1", "@coder and @QA, mail me@bob.example");
    asked["mentions"] = json!(["qa", "Nobody", "u1/Coder"]);
    let mut other = answer("message", "m2", "x");
    other["fromUsername"] = json!("QA");
    other["agentName"] = json!("QA");
    let reading = read(&json!([asked, answer("message", "m3", "@Coder says"), other]));
    let mentions: Vec<_> = conversation(&reading)
        .messages
        .iter()
        .map(|message| message.mentions.clone())
        .collect();
    assert_eq!(
        mentions,
        [
            vec!["u1/QA".to_owned(), "Nobody".to_owned(), "u1/Coder".to_owned()],
            vec!["u1/Coder".to_owned()],
            vec![]
        ]
    );
}

/// Presence as a channel of a project tells it, without the channel.
fn present() -> Value {
    json!({"userId": "u2", "username": "bob", "isAgent": true, "agentName": "Coder", "agentInstructions": "You code",
        "machineName": "dev-server"})
}

#[test]
fn presence_without_a_project_fills_the_roster_of_every_conversation() {
    let mut elsewhere = payload("ann", "message", "m2", "hi");
    elsewhere["projectId"] = json!("q");
    let mut nowhere = payload("ann", "message", "m3", "hi");
    nowhere.as_object_mut().unwrap().remove("projectId");
    let rows = [
        present(),
        payload("ann", "message", "m1", "@Coder x"),
        elsewhere,
        nowhere,
    ];
    let readings = gather(&rows);
    assert_eq!(readings.keys().collect::<Vec<_>>(), ["", "p", "q"]);
    for (key, reading) in &readings {
        let people = &conversation(reading).participants;
        let coder = people
            .iter()
            .find(|person| person.id == "u2/Coder")
            .expect("the agent");
        let facts: Vec<_> = coder
            .extra
            .0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            facts,
            [
                ("userId", "\"u2\""),
                ("agentInstructions", "\"You code\""),
                ("machineName", "\"dev-server\"")
            ],
            "{key}"
        );
        assert_eq!(turns(reading).len(), 1);
        assert_eq!((reading.rows.rows, reading.rows.merged), (2, 1));
    }
}

#[test]
fn presence_that_names_no_project_and_stands_alone_is_found() {
    let readings = gather(&[present(), present()]);
    let reading = &readings[""];
    assert!(reading.conversation.is_none() && reading.fault.is_none());
    assert_eq!(names(&reading.findings), ["empty-conversation"]);
    assert_eq!(reading.findings[0].severity, Severity::Warning);
    // Who says that he is in no project is in none.
    let mut away = present();
    away["projectIds"] = json!([]);
    let readings = gather(&[away, payload("ann", "message", "m1", "x")]);
    assert_eq!(conversation(&readings["p"]).participants.len(), 1);
    assert_eq!(names(&readings[""].findings), ["empty-conversation"]);
}

#[test]
fn an_agent_without_a_name_is_called_agent() {
    let row = json!({"id": "1", "projectId": "p", "senderId": "agent-1", "senderType": "agent", "senderName": "",
        "type": "response", "text": "x", "createdAt": "2026-01-01T00:00:00Z"});
    let mut live = payload("", "response", "r2", "y");
    live["from"] = json!("agent-1");
    let mut called = live.clone();
    called["messageId"] = json!("r3");
    called["agentName"] = json!("agent");
    let reading = read(&json!([row, live, called]));
    let people = &conversation(&reading).participants;
    assert_eq!(people.len(), 1);
    assert_eq!(
        (people[0].id.as_str(), people[0].name.as_deref()),
        ("agent-1/Agent", Some("Agent"))
    );
    let missing = reading.findings.iter();
    let missing = missing.filter(|finding| finding.code.name == "missing-field");
    assert_eq!(missing.count(), 3);
}

#[test]
fn a_row_that_shows_no_name_is_found_and_one_of_the_desktop_client_is_not() {
    let mut row = payload("ann", "message", "m1", "x");
    row.as_object_mut().unwrap().remove("fromUsername");
    let reading = read(&json!([row]));
    assert_eq!(names(&reading.findings), ["missing-field"]);
    assert!(reading.findings[0].message.contains("name"));
    assert_eq!(conversation(&reading).participants[0].name, None);
    let stored = json!({"id": "m2", "conversationId": "p", "sender": "me", "text": "x", "status": "sent"});
    assert_eq!(names(&read(&json!([stored])).findings), [""; 0]);
}

#[test]
fn a_field_whose_names_several_people_share_is_kept_as_it_was_written() {
    let mut asked = payload("ann", "message", "m1", "look");
    asked["mentions"] = json!(["Alice", "bob"]);
    let spoken = payload("ann", "message", "m2", "@alice look");
    let mut agent = payload("alice", "response", "r1", "x");
    agent["agentName"] = json!("alice");
    let mut person = payload("alice", "message", "m3", "y");
    person["from"] = json!("u2");
    let reading = read(&json!([asked, spoken, agent, person]));
    let messages = &conversation(&reading).messages;
    let both = ["u1/alice".to_owned(), "u2".to_owned()];
    assert_eq!(
        messages[0].mentions.iter().filter(|id| both.contains(id)).count(),
        2
    );
    assert_eq!(
        messages[0].extra.get("mentions").unwrap().as_str(),
        r#"["Alice","bob"]"#
    );
    assert_eq!(
        messages[1].mentions.iter().filter(|id| both.contains(id)).count(),
        2
    );
    assert_eq!(messages[1].extra.get("mentions"), None);
}
