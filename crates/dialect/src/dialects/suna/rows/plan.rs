//! What planning rows goes by, and what it has cost so far.

use std::cell::OnceCell;
use std::rc::Rc;

use chatmill_model::{Message, ToolResult};

use super::is_native;
use crate::loss::Losses;
use crate::naming::record_calls::ToolIds;
use crate::transcript::Transcript;
use crate::view::facts::Ids;
use crate::view::policy::Reasoning;

/// What a row holds.
#[derive(Clone, Copy)]
pub(super) enum RowContent<'a> {
    /// Texts and calls of a message.
    Said,
    /// The result at this place among the parts.
    Result(usize, &'a ToolResult),
    /// A status row.
    Notice,
}

/// Plans rows, and knows what they cost.
pub(super) struct Planner<'t, 'a> {
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) is_native: bool,
    pub(super) keeps_thoughts: bool,
    /// Id of the thread.
    pub(super) thread: &'a str,
    /// Ids of messages.
    pub(super) taken: OnceCell<Rc<Ids>>,
    pub(super) tools: ToolIds<'a>,
    pub(super) losses: Losses,
}

impl<'t, 'a> Planner<'t, 'a> {
    /// For these messages.
    pub(super) fn new(transcript: &'t Transcript<'a>, shown: &[&'a Message], mut losses: Losses) -> Self {
        let view = transcript.view();
        let made_up = || transcript.made().keep(view.made_id("thread"));
        Self {
            transcript,
            is_native: is_native(view),
            keeps_thoughts: view.policy.reasoning == Reasoning::Keep,
            thread: view.own_id().unwrap_or_else(made_up),
            taken: OnceCell::new(),
            tools: ToolIds::new(view, transcript.made(), shown, false, &mut losses),
            losses,
        }
    }
}
