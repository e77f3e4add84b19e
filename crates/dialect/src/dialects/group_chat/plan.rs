//! What planning entries goes by, and what it has cost so far.

use chatmill_model::Message;

use super::is_native;
use crate::loss::Losses;
use crate::loss::violation::Violation;
use crate::naming::messages::MessageIds;
use crate::naming::record_calls::ToolIds;
use crate::transcript::Transcript;

/// Plans entries, and knows what they cost.
pub(super) struct Planner<'t, 'a> {
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) is_native: bool,
    pub(super) ids: MessageIds<'a>,
    pub(super) tools: ToolIds<'a>,
    /// The sender of what nobody sent.
    pub(super) nobody: &'a str,
    pub(super) losses: Losses,
    /// Rules that entries break.
    pub(super) violations: Vec<Violation>,
}

impl<'t, 'a> Planner<'t, 'a> {
    /// For these messages.
    pub(super) fn new(
        transcript: &'t Transcript<'a>,
        shown: &[&'a Message],
        nobody: &'a str,
        mut losses: Losses,
    ) -> Self {
        let (view, made) = (transcript.view(), transcript.made());
        let is_native = is_native(view.conversation());
        Self {
            transcript,
            is_native,
            ids: MessageIds::new(view, made),
            tools: ToolIds::new(view, made, shown, is_native, &mut losses),
            nobody,
            losses,
            violations: Vec::new(),
        }
    }
}
