//! Counts the messages that a rendering shows, and their roles, for the facts in its [`Rendering`].
//!
//! For a dialect with turns, a pass counts the plan before it is written; dialects that write records count while they write.

use crate::loss::Losses;
use crate::loss::violation::Violation;
use crate::transcript::rendering::Rendering;
use crate::view::extent::Extent;

/// The messages that were rendered so far, and their roles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    positions: Vec<u32>,
    noted: Option<(u32, u32)>,
    assistant_messages: u32,
    first_role: Option<&'static str>,
    last_role: Option<&'static str>,
}

impl Progress {
    /// Reserves capacity for so many messages.
    pub(crate) fn reserve(&mut self, messages: usize) {
        self.positions.reserve(messages);
    }

    /// Counts a message that was rendered in a role. A message in several turns counts once.
    pub(crate) fn rendered(&mut self, position: u32, role: &'static str) {
        if role != "system" {
            self.first_role = self.first_role.or(Some(role));
        }
        self.last_role = Some(role);
        if self.positions.last() != Some(&position) {
            self.positions.push(position);
            self.assistant_messages += u32::from(role == "assistant");
        }
    }

    /// Counts a message that has no turn because it was rendered inside another one: the result of a tool that the vendor runs.
    pub(crate) fn inside(&mut self, position: u32) {
        self.positions.push(position);
    }

    /// Records the position of a notice that was written: it extends the range of rendered positions, but is not counted as a message.
    pub(crate) fn noted(&mut self, position: u32) {
        let (first, last) = self.noted.unwrap_or((position, position));
        self.noted = Some((first.min(position), last.max(position)));
    }

    /// Records a turn that is not a message of the conversation, such as an added prompt.
    pub(crate) fn added(&mut self, role: &'static str) {
        self.last_role = Some(role);
    }

    /// Counts the messages of one turn; a synthetic turn has none.
    pub(crate) fn rendered_all(&mut self, positions: &[u32], role: &'static str) {
        self.added(role);
        for position in positions {
            self.rendered(*position, role);
        }
    }

    /// Returns the position of the last rendered message.
    pub(crate) fn last_position(&self) -> Option<u32> {
        self.positions.iter().copied().max()
    }

    /// Whether no turn was recorded yet.
    pub(crate) fn has_no_turn(&self) -> bool {
        self.last_role.is_none()
    }

    /// Returns the rendering with these counts. Its `ordinal` and `paid` are set later.
    pub(crate) fn finish(mut self, extent: Extent, losses: Losses, violations: Vec<Violation>) -> Rendering {
        self.positions.sort_unstable();
        self.positions.dedup();
        let (first_noted, last_noted) = self.noted.unzip();
        let mut positions = self.positions.iter();
        let inside = positions.find(|position| **position >= extent.first);
        let first_position = inside.or(self.positions.first()).copied();
        let first_position = first_position.into_iter().chain(first_noted).min();
        let last_position = self.positions.last().copied().into_iter().chain(last_noted).max();
        Rendering {
            ordinal: 0,
            coverage: extent.coverage,
            first_position,
            last_position,
            messages_rendered: self.positions.len() as u32,
            first_role: self.first_role,
            last_role: self.last_role,
            assistant_messages: self.assistant_messages,
            losses: losses.finish(),
            violations,
            paid: 0..0,
        }
    }
}
