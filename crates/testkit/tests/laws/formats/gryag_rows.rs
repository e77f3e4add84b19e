//! The path of gryag's rows: read from the table, linked, written as the bot's prompt, and read back from a capture of
//! the prompt.

use chatmill_model::{LinkStatus, Linked, Message};
use chatmill_testkit::conversations::{read, rendering};
use chatmill_testkit::samples::samples;

fn rows(name: &str) -> Linked {
    let path = samples().join("sources/gryag-db").join(name);
    read("gryag-db", &std::fs::read_to_string(path).unwrap())
}

fn said(dialect: &str, linked: &Linked) -> String {
    rendering(dialect, linked).0
}

fn speaker<'l>(linked: &'l Linked, message: &Message) -> &'l str {
    &linked.conversation.participants[message.sender.unwrap()].id
}

#[test]
fn replies_find_their_messages_by_id_and_by_excerpt() {
    let linked = rows("senders-every-row-twice.json");
    let links: Vec<(u32, Option<u32>, LinkStatus)> = (0..)
        .zip(&linked.links)
        .flat_map(|(position, links)| links.iter().map(move |link| (position, link.target, link.status)))
        .collect();
    assert_eq!(
        links,
        [
            (1, Some(0), LinkStatus::Resolved),
            (2, Some(1), LinkStatus::Pseudo),
            (4, Some(2), LinkStatus::Resolved),
            (5, Some(4), LinkStatus::Resolved),
        ]
    );
}

#[test]
fn the_bot_is_the_perspective_and_an_invented_reply_is_no_reference() {
    let linked = rows("senders-every-row-twice.json");
    let perspective = chatmill_dialect::auto_perspective(&linked).unwrap();
    assert_eq!(linked.conversation.participants[perspective].id, "gryag_bot");
    let compact = said("gryag-compact", &linked);
    assert!(compact.contains("Юрко#502 → Марта#501: Не я\n"), "{compact}");
    assert!(compact.contains("Олена#503: Гряг, а ти не бачив?\n"), "{compact}");
    assert!(compact.contains("Погодник#900: Завтра дощ.\n"), "{compact}");
}

#[test]
fn a_capture_of_the_prompt_reads_as_the_rows_that_it_was_made_of() {
    for name in ["senders-every-row-twice.json", "cells-are-texts.json"] {
        let before = rows(name);
        let after = read("gemini-contents", &said("gryag-gemini", &before));
        assert_eq!(
            before.conversation.source_id, after.conversation.source_id,
            "{name}"
        );
        assert_eq!(
            before.conversation.messages.len(),
            after.conversation.messages.len()
        );
        for (row, turn) in before
            .conversation
            .messages
            .iter()
            .zip(&after.conversation.messages)
        {
            let known = |linked: &Linked, message: &Message| {
                (
                    message.id.clone(),
                    speaker(linked, message).to_owned(),
                    message.role,
                )
            };
            assert_eq!(known(&before, row), known(&after, turn));
            // The renderings omit leaked metadata.
            let text = row.text();
            let kept = text.split(" [meta] ").next().unwrap();
            assert!(turn.text().starts_with(kept), "{turn:?}");
            let replies = |message: &Message| {
                let real = message.references.iter().filter(|reference| !reference.is_pseudo);
                real.map(|reference| reference.target.clone()).collect::<Vec<_>>()
            };
            // A target that was known only by its excerpt has an id once it is found.
            if row.references.iter().all(|reference| reference.target.is_some()) {
                assert_eq!(replies(row), replies(turn));
            }
        }
    }
}
