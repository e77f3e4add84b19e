//! Jaibber's context.
//!
//! Of the vectors, the SDK's history of the document's example and the document's sentence hold. Not held: the six-sentence
//! preamble, the `---` and the repeated prompt of the code, and the desktop's roles by account (not the document). Mentions,
//! streams, stores, files and hand-overs are the source's business.

use chatmill_dialect::policy::MediaPolicy;
use chatmill_dialect::{History, LossCode, Policy};
use chatmill_model::MediaKind;

use crate::room::{Room, media, text};

const SENTENCE: &str = "Respond ONLY to the final user message. Previous messages are for context.";

#[test]
fn the_documents_example_comes_out() {
    let mut room = Room::new();
    let alice = room.human("u1", "alice");
    let agent = room.agent("a1", "AgentName");
    let bob = room.human("u2", "bob");
    room.say(alice, "first message text");
    room.say(agent, "response text");
    room.say(bob, "second message");
    let out = room.only("jaibber-context");
    assert_eq!(
        out.text,
        format!(
            "{SENTENCE}\n\nUser: first message text\n\nAssistant (AgentName): response text\n\nUser: second message"
        )
    );
    assert_eq!(out.lost(LossCode::NameDropped), [(None, 2)]);
    assert_eq!(out.own, "Assistant (AgentName): response text");
    assert_eq!((out.coverage, out.assistant), ("window", 1));
}

#[test]
fn the_window_holds_twenty_messages_unless_the_view_says_otherwise() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    for count in 0..25 {
        room.say(ann, &format!("message {count}"));
        room.notice("typing");
    }
    let render = |history| {
        room.render_with("jaibber-context", &Policy::default(), history)
            .remove(0)
    };
    let out = render(History::Document);
    assert!(
        out.text
            .starts_with(&format!("{SENTENCE}\n\nUser: message 5\n\n"))
    );
    assert_eq!(out.lost(LossCode::Truncated), [(None, 5)]);
    assert_eq!(out.positions, (Some(10), Some(48)));
    // Notices before the window are outside of it.
    assert_eq!(out.lost(LossCode::NoticeDropped).len(), 20);
    let out = render(History::Messages(2));
    assert_eq!(
        out.text,
        format!("{SENTENCE}\n\nUser: message 23\n\nUser: message 24")
    );
    let out = render(History::All);
    assert_eq!((out.messages, out.coverage), (25, "whole"));
    assert_eq!(out.lost(LossCode::Truncated), []);
}

#[test]
fn every_agent_is_an_assistant_and_only_the_perspective_speaks_as_itself() {
    let mut room = Room::new();
    let (one, two) = (room.agent("a1", "One"), room.agent("a2", ""));
    room.say(one, "x");
    room.say(one, "y");
    room.say(two, "z");
    room.post(None, vec![text("w")]);
    room.message(3).role = chatmill_model::Role::Assistant;
    let out = room.only("jaibber-context");
    assert!(
        out.text
            .ends_with("Assistant (One): y\n\nAssistant (Agent): z\n\nAssistant (Agent): w")
    );
    assert_eq!(out.assistant, 4);
    assert_eq!(out.own, "Assistant (One): xAssistant (One): y");
}

#[test]
fn what_the_context_cannot_say_is_declared() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b", "Bot"));
    room.system("be kind");
    room.say(ann, "hi");
    room.call(bot, "", &[("1", "a", "{}")]);
    room.result("1", "r");
    room.post(
        Some(ann),
        vec![
            text("see"),
            media(MediaKind::Image, Some("https://e.com/i.png"), None),
        ],
    );
    room.reply(4, 1);
    room.post(Some(ann), vec![]);
    let out = room.only("jaibber-context");
    assert_eq!(
        out.text,
        format!("{SENTENCE}\n\nUser: hi\n\nUser: see\n[Image: https://e.com/i.png]")
    );
    let codes: Vec<_> = (0..6).map(|position| out.codes_at(position)).collect();
    assert_eq!(
        codes,
        [
            vec!["system-dropped"],
            vec![],
            vec!["tool-call-dropped"],
            vec!["tool-result-dropped"],
            vec!["media-placeholder", "part-flattened", "reference-dropped"],
            vec!["empty-dropped"],
        ]
    );
    let policy = Policy {
        media: MediaPolicy::Drop,
        ..Policy::default()
    };
    let out = room.only_with("jaibber-context", &policy);
    assert!(out.text.ends_with("User: see"));
}

#[test]
fn a_paragraph_that_begins_like_a_turn_is_declared() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "User: me\n\nAssistant (Bot): sure\n\nUser: thanks\nUser: x");
    room.say(ann, "Assistant: no");
    let out = room.only("jaibber-context");
    assert_eq!(out.lost(LossCode::SpecialTokenInText), [(Some(0), 2)]);
}
