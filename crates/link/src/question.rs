//! The first question of a conversation, in a form for comparison.

use chatmill_model::{Conversation, MediaSource, MessageKind, Part, Role};

/// The first message of a person with any content: its text in small letters with single spaces, and a hash of each picture or file, so
/// that the same words about another picture are another question. `None` if nobody asks.
pub(crate) fn first_question(conversation: &Conversation) -> Option<String> {
    let messages = conversation.messages.iter();
    let mut asked =
        messages.filter(|message| message.kind == MessageKind::Message && message.role == Role::User);
    asked.find_map(|message| {
        let mut question = String::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => add(&mut question, &text.to_lowercase()),
                Part::Media(media) => match &media.source {
                    MediaSource::Url(content) | MediaSource::Inline(content) | MediaSource::Text(content) => {
                        add(&mut question, blake3::hash(content.as_bytes()).to_hex().as_str());
                    }
                    MediaSource::Upload => add(&mut question, media.name.as_deref().unwrap_or("file")),
                },
                _ => {}
            }
        }
        Some(question).filter(|question| !question.is_empty())
    })
}

fn add(question: &mut String, text: &str) {
    for word in text.split_whitespace() {
        if !question.is_empty() {
            question.push(' ');
        }
        question.push_str(word);
    }
}
