//! Cached blocks: a user message whose text is the earlier conversation, written out for a prompt cache.
//!
//! The block reads `User: …`, a blank line, `Assistant: …` and so on, and carries a cache mark. It stays one user message:
//! what looks like a tool's answer inside it is text. It is compared with the messages before it, because a list that holds
//! both sends the same words twice.

use std::borrow::Cow;

use chatmill_model::{Message, Part, Role};

/// Words that may open a block's first turn.
const LABELS: [&str; 4] = ["User: ", "Assistant: ", "Tool: ", "System: "];

/// The most messages at which a block is tried to start: a bound on the work for lists of equal messages.
const MAX_BLOCK_STARTS: usize = 16;

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

/// How many of the earlier messages the block repeats: the longest run that starts where the block does.
pub(super) fn repeated(block: &str, earlier: &[Message]) -> u64 {
    let turns: Vec<(&str, Cow<'_, str>)> = earlier
        .iter()
        .filter(|message| message.role != Role::System && self::block(message).is_none())
        .map(|message| (label(message.role), said(message)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let starts = (0..turns.len()).filter(|start| {
        turns
            .get(*start)
            .is_some_and(|turn| after_turn(block, turn).is_some())
    });
    starts
        .take(MAX_BLOCK_STARTS)
        .map(|start| run(block, turns.get(start..).unwrap_or_default()))
        .max()
        .unwrap_or(0)
}

fn run(block: &str, turns: &[(&str, Cow<'_, str>)]) -> u64 {
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

/// What follows a turn at the start of the text, where that is the end or a blank line.
fn after_turn<'t>(text: &'t str, (label, said): &(&str, Cow<'_, str>)) -> Option<&'t str> {
    let after = text
        .strip_prefix(label)?
        .strip_prefix(": ")?
        .strip_prefix(said.as_ref())?;
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

/// A message's words as a block has them: texts joined without a separator, trimmed.
fn said(message: &Message) -> Cow<'_, str> {
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
