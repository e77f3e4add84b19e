//! Selects the messages that a rendering shows: those of the window, up to the number in the dialect's document. Messages outside are
//! declared as losses.

use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::{Message, MessageKind};

use crate::loss::{LossCode, Losses, reasons};
use crate::messages::unsupported::declare_weights;
use crate::view::extent::{Coverage, Extent};
use crate::view::window::{CutPoints, Rendered, WindowRange, is_system_text};
use crate::view::{History, View};

/// The losses that a window may declare.
pub(crate) const LOSES: &[LossCode] = &[LossCode::Truncated, LossCode::WeightDropped];

/// Further losses of a window, for dialects without notices.
pub(crate) const LOSES_NOTICES: &[LossCode] = &[LossCode::NoticeDropped];

/// The messages that a rendering shows.
pub(crate) struct SelectedMessages<'a> {
    /// The rendered messages, in order of position.
    pub(crate) messages: Vec<&'a Message>,
    /// All messages and notices in the range, rendered or not.
    pub(crate) covered: Vec<&'a Message>,
    /// How much of the conversation is shown.
    pub(crate) extent: Extent,
}

impl<'a> SelectedMessages<'a> {
    /// Selects the messages of the view's range: system text, and the newest messages, up to the number `document` unless the view asks for
    /// another number. Declares the messages outside, and notices that the dialect does not render.
    pub(crate) fn choose(
        view: &View<'a>,
        document: Option<u32>,
        losses: &mut Losses,
        renders: impl Fn(&Message) -> bool,
    ) -> Self {
        let all = view.conversation().messages.as_slice();
        let whole = WindowRange::session(0, u32::MAX);
        let range = view.window.as_ref().map_or(whole, |window| window.range);
        let end = all.len().min(range.end as usize);
        let session = end.min(range.session_start as usize)..all.len().min(range.session_end as usize);
        let limit = match view.history {
            History::Document => document,
            History::All => None,
            History::Messages(count) => Some(count),
        };
        let mut history = match limit {
            None | Some(0) => limit.map_or(session.start, |_| end),
            Some(limit) => {
                let newest = cut::slice(all, session.start..end).iter().rev();
                let mut newest = newest.filter(|message| renders(message) && !is_system_text(message));
                let oldest = newest.nth(limit as usize - 1);
                let is_cut = newest.next().is_some();
                oldest
                    .filter(|_| is_cut)
                    .map_or(session.start, |message| message.position as usize)
            }
        };
        if let History::Messages(_) = view.history {
            let cut_points = view.shared(|shared| &shared.cut_points, CutPoints::of);
            history = cut_points.at_or_before(history).max(session.start);
        }
        let first = history.max(range.start as usize).min(end);
        let mut covered: Vec<&Message> = Vec::with_capacity(end - first);
        if first > 0 || end < all.len() {
            let rendered = view.shared(|shared| &shared.rendered, |_| Rendered::of(all, &renders));
            let ahead = rendered.system(0..first).iter();
            covered.extend(ahead.filter_map(|position| view.message(*position)));
            let after = session.end..all.len();
            let later = end..session.end;
            let all_of = |range: &Range<usize>| {
                rendered.turns(range.clone()) + rendered.system(range.clone()).len() as u64
            };
            for (outside, cause) in [
                (
                    rendered.turns(0..session.start) + all_of(&after),
                    reasons::OTHER_SESSIONS_LIE_OUTSIDE,
                ),
                (all_of(&later), reasons::LATER_LIE_OUTSIDE),
                (rendered.turns(session.start..history), reasons::OLDER_LIE_OUTSIDE),
                (rendered.turns(history..first), reasons::OLDER_WERE_CUT),
            ] {
                losses.whole_rendering(cause, outside);
            }
        }
        covered.extend(cut::slice(all, first..end));
        declare_weights(&covered, losses);
        for message in &covered {
            if message.kind == MessageKind::Notice && !renders(message) {
                losses.at(reasons::DIALECT_HAS_NO_NOTICES, message.position);
            }
        }
        Self {
            messages: covered
                .iter()
                .copied()
                .filter(|message| renders(message))
                .collect(),
            covered,
            extent: Extent {
                coverage: if limit.is_some() || view.window.is_some() {
                    Coverage::Window
                } else {
                    Coverage::Whole
                },
                first: first as u32,
            },
        }
    }
}
