//! Cached blocks: a user message that contains the earlier conversation, written out for a prompt cache.
//!
//! The block reads `User: …`, a blank line, `Assistant: …` and so on, and carries a cache mark. It stays one
//! user message: text that looks like a tool's result inside it is text. It is compared with the messages
//! before it, because a list with both sends the same text twice.

use std::borrow::Cow;
use std::collections::HashMap;

use chatmill_model::{Message, Part, Role};

/// Labels at the beginning of a block.
const LABELS: [&str; 4] = ["User: ", "Assistant: ", "Tool: ", "System: "];

/// The most messages from which a repetition is compared in full: a bound on the work for lists of equal
/// messages.
const MAX_BLOCK_STARTS: usize = 16;

/// The most messages with the same first paragraph that are examined for that.
const MAX_ALIKE: usize = 256;

/// The text of a message that is a cached block.
pub(super) fn block(message: &Message) -> Option<&str> {
    if message.role != Role::User {
        return None;
    }
    message.parts.windows(2).find_map(|pair| match pair {
        [Part::Text(text), Part::CacheMark] if LABELS.iter().any(|label| text.starts_with(label)) => {
            Some(text.as_str())
        }
        _ => None,
    })
}

/// The messages before a block, in the form of blocks.
#[derive(Default)]
pub(super) struct Earlier {
    turns: Vec<(&'static str, String)>,
    /// Positions of turns by their first paragraph, with the label.
    starts: HashMap<String, Vec<usize>>,
    /// The number of messages that were searched.
    looked: usize,
}

impl Earlier {
    /// The number of earlier messages that the block repeats: the longest run that begins with the block's
    /// first turn.
    pub(super) fn repeated(&mut self, block: &str, earlier: &[Message]) -> u64 {
        let new = earlier.get(self.looked..).unwrap_or_default();
        self.looked = earlier.len();
        for message in new {
            let text = text_of(message);
            if message.role != Role::System && self::block(message).is_none() && !text.is_empty() {
                let label = label(message.role);
                let start = self.starts.entry(format!("{label}: {}", paragraph(&text)));
                start.or_default().push(self.turns.len());
                self.turns.push((label, text.into_owned()));
            }
        }
        let alike = self.starts.get(paragraph(block)).into_iter().flatten();
        let turns = alike.take(MAX_ALIKE).filter_map(|start| self.turns.get(*start..));
        let starts = turns.filter(|turns| {
            turns
                .first()
                .is_some_and(|turn| after_turn(block, turn).is_some())
        });
        let runs = starts.take(MAX_BLOCK_STARTS).map(|turns| run(block, turns));
        runs.max().unwrap_or(0)
    }
}

/// A text up to its first blank line.
fn paragraph(text: &str) -> &str {
    text.split_once("\n\n").map_or(text, |(first, _)| first)
}

fn run(block: &str, turns: &[(&str, String)]) -> u64 {
    let mut rest = block;
    let mut count = 0;
    for turn in turns {
        let Some(after) = after_turn(rest, turn) else {
            break;
        };
        count += 1;
        match after.strip_prefix("\n\n") {
            Some(next) => rest = next,
            None => break,
        }
    }
    count
}

/// The text after a turn at the start of the text, if the turn is followed by the end or a blank line.
fn after_turn<'t>(text: &'t str, (label, turn_text): &(&str, String)) -> Option<&'t str> {
    let after = text
        .strip_prefix(label)?
        .strip_prefix(": ")?
        .strip_prefix(turn_text.as_str())?;
    (after.is_empty() || after.starts_with("\n\n")).then_some(after)
}

const fn label(role: Role) -> &'static str {
    match role {
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
    }
}

/// The text of a message as a block has it: texts joined without a separator, trimmed.
fn text_of(message: &Message) -> Cow<'_, str> {
    let mut words = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::ToolResult(result) => Some(result.content.as_str()),
        _ => None,
    });
    match (words.next(), words.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only.trim()),
        (Some(first), Some(second)) => {
            let mut joined = format!("{first}{second}");
            joined.extend(words);
            Cow::Owned(joined.trim().to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::MessageOrigin;

    use super::*;

    fn message_with(role: Role, words: &str) -> Message {
        Message {
            parts: vec![Part::Text(words.to_owned())],
            ..Message::new(role, 0, MessageOrigin::default())
        }
    }

    #[test]
    fn a_block_repeats_the_longest_run_with_the_same_beginning() {
        let mut earlier = Earlier::default();
        let mut messages = vec![
            message_with(Role::System, "Be brief."),
            message_with(Role::User, "high\n\nor low?"),
            message_with(Role::Assistant, "low"),
            message_with(Role::User, "high"),
            message_with(Role::User, "high\n\nor low?"),
        ];
        let mut count = |block: &str, messages: &[Message]| earlier.repeated(block, messages);
        let block = "User: high\n\nor low?\n\nAssistant: low";
        assert_eq!(count(block, &messages), 2);
        assert_eq!(count("User: high", &messages), 1);
        assert_eq!(count("User: high\n\nAssistant: low", &messages), 1);
        assert_eq!(count("User: hig", &messages), 0);
        assert_eq!(count("User: low", &messages), 0);
        // The next block can repeat messages added since.
        messages.push(message_with(Role::Assistant, "low"));
        messages.push(message_with(Role::User, "thanks"));
        let longer = format!("{block}\n\nUser: thanks");
        assert_eq!(count(&longer, &messages), 3);
    }
}
