//! A row of the renderings table without its text and its tokens, which are in the sink.

use std::ops::Range;

use crate::loss::Loss;
use crate::loss::violation::Violation;
use crate::view::extent::Coverage;

/// Facts about the rendering of a conversation, or of one message of it, in a dialect. The text is in the sink.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// Number of this rendering among those of one view, from 0.
    pub ordinal: u32,
    /// Whether it shows the whole conversation or a window.
    pub coverage: Coverage,
    /// Lowest position among the rendered messages, without system text before a window.
    pub first_position: Option<u32>,
    /// Highest position among the rendered messages.
    pub last_position: Option<u32>,
    /// Number of messages of the conversation that it shows.
    pub messages_rendered: u32,
    /// Role of the first message that it shows, ignoring system text and synthetic turns.
    pub first_role: Option<&'static str>,
    /// Role of its last turn in the canonical model: `system`, `user`, `assistant` or `tool`.
    pub last_role: Option<&'static str>,
    /// Number of messages that it shows as the assistant's.
    pub assistant_messages: u32,
    /// The losses, in order of position.
    pub losses: Vec<Loss>,
    /// Rules of the dialect that it breaks. The rendering is valid if there are none.
    pub violations: Vec<Violation>,
    /// Range of positions whose requests are billed with this rendering, and with no other rendering of the view.
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
