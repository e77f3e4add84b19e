//! Participants who wrote no message.

use chatmill_diag::Severity;
use serde_json::{Value, json};

use super::{conversation, names, payload, read_gathered, turns};

/// Presence as a project's channel reports it, without the channel.
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
    let readings = read_gathered(&rows);
    assert_eq!(readings.keys().collect::<Vec<_>>(), ["", "p", "q"]);
    for (key, reading) in &readings {
        let participants = &conversation(reading).participants;
        let coder = participants
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
fn presence_alone_without_a_project_is_recognised() {
    let readings = read_gathered(&[present(), present()]);
    let reading = &readings[""];
    assert!(reading.conversation.is_none() && reading.error.is_none());
    assert_eq!(names(&reading.findings), ["empty-conversation"]);
    assert_eq!(reading.findings[0].severity, Severity::Warning);
    // A participant who states no project belongs to none.
    let mut away = present();
    away["projectIds"] = json!([]);
    let readings = read_gathered(&[away, payload("ann", "message", "m1", "x")]);
    assert_eq!(conversation(&readings["p"]).participants.len(), 1);
    assert_eq!(names(&readings[""].findings), ["empty-conversation"]);
}
