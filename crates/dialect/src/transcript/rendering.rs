//! The facts about a rendering: a row of the table `renderings` without the text, which a dialect writes into the sink, and without the
//! tokens, which the engine counts in the sink.

use std::ops::Range;

use crate::loss::Loss;
use crate::loss::violation::Violation;
use crate::view::extent::Coverage;

/// Facts about the rendering of a conversation, or of one message of it, in a dialect. The text is in the sink.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// Number of this rendering among those of one conversation, dialect and perspective, from 0. There are several if the conversation is
    /// divided into windows, or if each message is a rendering.
    pub ordinal: u32,
    /// Whether it shows the whole conversation, a window, or one message.
    pub coverage: Coverage,
    /// Lowest position among the rendered messages; system text before the window is not counted if it has other messages.
    pub first_position: Option<u32>,
    /// Highest position among the rendered messages.
    pub last_position: Option<u32>,
    /// Number of messages of the conversation that it shows.
    pub messages_rendered: u32,
    /// Role of the first message that it shows, ignoring system text and synthetic turns.
    pub first_role: Option<&'static str>,
    /// Role of its last turn, in the words of the canonical model: `system`, `user`, `assistant` or `tool`.
    pub last_role: Option<&'static str>,
    /// Number of messages that it shows as the assistant's.
    pub assistant_messages: u32,
    /// The losses, in order of position.
    pub losses: Vec<Loss>,
    /// Rules of the dialect that it breaks. The rendering is valid if there are none.
    pub violations: Vec<Violation>,
    /// Positions of the messages for which requests are billed with this rendering. Several windows may show a message, but its position is
    /// in the range of one of them only, so that no request is billed twice. The engine sets the range; a dialect leaves it empty.
    pub paid: Range<u32>,
}

impl Rendering {
    /// Returns the codes of its losses, sorted and without duplicates.
    pub fn loss_codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&str> = self.losses.iter().map(|loss| loss.code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// Whether it keeps all rules of the dialect.
    pub fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }

    /// Returns the sum of the amounts of all losses.
    pub fn loss_count(&self) -> u64 {
        self.losses.iter().map(|loss| loss.amount).sum()
    }
}
