//! A conversation written back as a group chat reads back as the same conversation.

use chatmill_dialect::{Policy, View};
use chatmill_model::Linked;
use chatmill_model::fingerprint::content_hash;
use chatmill_testkit::archived::completed;
use chatmill_testkit::chats::group_chat;
use chatmill_testkit::conversations::{read, rendering};
use proptest::prelude::*;

fn written(linked: &Linked) -> String {
    rendering("group-chat", linked).0
}

proptest! {
    #![proptest_config(chatmill_drawn::law(30))]

    #[test]
    fn a_group_chat_survives_its_own_dialect(chat in group_chat()) {
        let first = read("group-chat", &chat.to_string());
        let text = written(&first);
        let second = read("group-chat", &text);
        let completed = completed(&first.conversation, &second.conversation);
        prop_assert_eq!(content_hash(&completed), content_hash(&second.conversation), "{}", text);
        prop_assert_eq!(&first.links, &second.links);
        prop_assert_eq!(&first.pairings, &second.pairings);
        prop_assert_eq!(written(&second), text);
    }

    #[test]
    fn every_dialect_writes_its_media_type_and_declares_its_losses(chat in group_chat()) {
        let linked = read("group-chat", &chat.to_string());
        let policy = Policy::default();
        for dialect in chatmill_dialect::DIALECTS {
            let view = View::whole(&linked, chatmill_dialect::auto_perspective(&linked), &policy);
            dialect.render_each(&view, &mut |sink, rendering| {
                let text = sink.text().to_owned();
                if dialect.about().media_type == "application/json" {
                    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&text);
                    assert!(parsed.is_ok(), "{}: {text}", dialect.id());
                }
                assert!(rendering.losses.iter().all(|loss| loss.amount > 0));
                let own = sink.pushes().all(|(text, _)| !text.is_empty());
                assert!(own);
            });
        }
    }
}
