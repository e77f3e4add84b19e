//! The order in which a dialect writes calls, results and all other messages.

use chatmill_model::Message;

use crate::loss::{LossCode, LossReason, Losses, reasons};
use crate::messages::filter::{self, Filter};
use crate::messages::pairing::{self, Arrangement, arrange, without_tools};
use crate::view::View;

/// The order of calls, results and all other messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Every result directly follows its call; to achieve that, whole turns are moved.
    Paired,
    /// The order of the source, without what a filter leaves out.
    Filtered(&'static Filter),
    /// The dialect has no tools, for this reason: calls and results are left out.
    Toolless(LossReason),
}

impl Order {
    /// Puts messages into this order.
    pub(crate) fn arrange<'a>(
        self,
        view: &View<'a>,
        shown: &[&'a Message],
        losses: &mut Losses,
    ) -> Arrangement<'a> {
        match self {
            Self::Paired => arrange(view, shown, losses),
            Self::Filtered(filter) => filter.arrange(view, shown, losses),
            Self::Toolless(reason) => without_tools(view, shown, reason, losses),
        }
    }

    /// Whether the dialect has tools.
    pub(crate) const fn has_tools(self) -> bool {
        !matches!(self, Self::Toolless(_))
    }

    /// Returns the losses that the order may declare.
    pub(crate) fn loses(self) -> &'static [LossCode] {
        match self {
            Self::Paired => reasons::PAIRING,
            Self::Filtered(_) => filter::LOSES,
            Self::Toolless(_) => pairing::LOSES_TOOLS,
        }
    }
}
