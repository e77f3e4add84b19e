//! One row of the renderings table but for its text and its tokens, which the sink has.

use std::ops::Range;

use crate::loss::Loss;
use crate::loss::violation::Violation;
use crate::view::extent::Coverage;

/// Facts about a rendering beside its text: of a conversation, or one turn of it, in a dialect.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// Number of this rendering among those of one view, from 0.
    pub ordinal: u32,
    /// How much of the conversation it shows.
    pub coverage: Coverage,
    /// Lowest position among the rendered messages, system text before a window aside.
    pub first_position: Option<u32>,
    /// Highest position among the rendered messages.
    pub last_position: Option<u32>,
    /// Messages of the conversation that it shows.
    pub messages_rendered: u32,
    /// Role of the first message that it shows, without system text and synthetic turns.
    pub first_role: Option<&'static str>,
    /// Role of its last turn in the words of the canonical model: `system`, `user`, `assistant` or `tool`.
    pub last_role: Option<&'static str>,
    /// Messages that it shows as an assistant's.
    pub assistant_messages: u32,
    /// What it could not carry, in order of position.
    pub losses: Vec<Loss>,
    /// Rules of the dialect that it breaks. It is valid when there are none.
    pub violations: Vec<Violation>,
    /// Positions whose requests are billed with it, and with no other rendering of the view.
    pub paid: Range<u32>,
}

impl Rendering {
    /// The codes of its losses, sorted, each once.
    pub fn loss_codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&str> = self.losses.iter().map(|loss| loss.code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// Whether the dialect's own rules accept it.
    pub fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }

    /// How much it could not carry: occurrences over all losses.
    pub fn loss_count(&self) -> u64 {
        self.losses.iter().map(|loss| loss.amount).sum()
    }
}
