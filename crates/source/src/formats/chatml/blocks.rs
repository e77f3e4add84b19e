//! Cuts a transcript into turns, and the text between them.

use std::ops::Range;

/// Opens a turn.
pub(super) const OPENING: &str = "<|im_start|>";

/// Closes a turn.
const CLOSING: &str = "<|im_end|>";

/// Ends a text for a model; between turns it means nothing.
const END_OF_TEXT: &str = "<|endoftext|>";

/// A piece of a transcript: a turn, or text between turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// A turn.
    Turn(Opened),
    /// Text outside of all turns.
    Outside(Range<usize>),
}

/// The ranges of a turn in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    /// The range between the block's control tokens.
    pub inside: Range<usize>,
    /// The range that includes the control tokens.
    pub span: Range<usize>,
    /// Whether the turn has its closing token.
    pub is_closed: bool,
}

/// The blocks of a transcript, in order. A turn without its closing token ends where the next one begins.
pub(super) fn cut(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let found = find(text, at, OPENING);
        outside(text, at..found.unwrap_or(text.len()), &mut blocks);
        let Some(start) = found else { break };
        let inside = start + OPENING.len();
        let next = find(text, inside, OPENING).unwrap_or(text.len());
        // The search ends at the next opening token; without this limit, each unclosed turn would search the
        // whole rest.
        let closing = find(text.get(..next).unwrap_or_default(), inside, CLOSING);
        let end = closing.unwrap_or(next);
        at = closing.map_or(next, |closing| closing + CLOSING.len());
        blocks.push(Block::Turn(Opened {
            inside: inside..end,
            span: start..at,
            is_closed: closing.is_some(),
        }));
    }
    blocks
}

fn find(text: &str, from: usize, token: &str) -> Option<usize> {
    Some(from + text.get(from..)?.find(token)?)
}

/// Adds the text between two turns, without surrounding white space, unless it is empty.
fn outside(text: &str, range: Range<usize>, blocks: &mut Vec<Block>) {
    let is_nothing = |piece: &str| piece.trim().is_empty();
    let between = text.get(range.clone()).unwrap_or_default();
    if between.split(END_OF_TEXT).all(is_nothing) {
        return;
    }
    let start = range.start + (between.len() - between.trim_start().len());
    blocks.push(Block::Outside(start..start + between.trim().len()));
}

/// Divides the inside of a turn into the line of the role and everything after it.
pub(super) fn role_line(inside: &str) -> (&str, &str) {
    let (line, body) = inside.split_once('\n').unwrap_or((inside, ""));
    (line.strip_suffix('\r').unwrap_or(line), body)
}

/// Whether an unfinished turn is a prompt for the assistant, or for any speaker.
pub(super) fn asks(inside: &str) -> bool {
    matches!(inside.trim(), "" | "assistant")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(&str, bool)> {
        let blocks = cut(text).into_iter().map(|block| match block {
            Block::Turn(turn) => (text.get(turn.inside).unwrap(), turn.is_closed),
            Block::Outside(span) => (text.get(span).unwrap(), false),
        });
        blocks.collect()
    }

    #[test]
    fn turns_are_cut_at_their_tokens_and_white_space_between_them_is_nothing() {
        let text = "<|im_start|>user\nHi<|im_end|>\n\n<|im_start|>assistant\n<|im_end|><|endoftext|>\n";
        assert_eq!(shown(text), [("user\nHi", true), ("assistant\n", true)]);
        assert_eq!(shown(""), []);
        assert_eq!(shown(" \n "), []);
    }

    #[test]
    fn a_turn_that_does_not_end_goes_to_the_next_or_to_the_end() {
        let text = "<|im_start|>user\nHi\n<|im_start|>assistant\nHello";
        assert_eq!(shown(text), [("user\nHi\n", false), ("assistant\nHello", false)]);
        let text = "a<|im_end|> <|im_start|>";
        assert_eq!(shown(text), [("a<|im_end|>", false), ("", false)]);
    }
}
