//! Ids that link calls and results where a dialect writes them separately: the source's, else counted ones.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chatmill_model::{Message, Part, PartPlace, ToolCall, ToolResult};

use crate::loss::{LossCode, Losses, reasons};
use crate::text::arena::TextArena;
use crate::view::View;
use crate::view::facts::{self, Ids};

/// What giving calls their ids may cost.
pub(crate) const LOSES: &[LossCode] = &[LossCode::ToolIdRewritten];

/// The ids of the calls that are shown.
pub(crate) struct ToolIds<'a> {
    calls: BTreeMap<PartPlace, (&'a str, &'a ToolCall)>,
    /// The call of each result.
    paired: Rc<BTreeMap<PartPlace, PartPlace>>,
    counted: IdCounter<'a>,
    /// An id that nothing has, once somebody has asked.
    unused: OnceCell<&'a str>,
}

/// Counts ids that nothing in the conversation has.
struct IdCounter<'a> {
    view: View<'a>,
    arena: &'a TextArena,
    known: OnceCell<Rc<Ids>>,
    count: u64,
}

impl<'a> IdCounter<'a> {
    fn new(view: &View<'a>, arena: &'a TextArena) -> Self {
        Self {
            view: view.clone(),
            arena,
            known: OnceCell::new(),
            count: 0,
        }
    }

    fn next(&mut self) -> &'a str {
        let (count, id) = self.peek();
        self.count = count + 1;
        id
    }

    /// The next id, and its number.
    fn peek(&self) -> (u64, &'a str) {
        let tool_ids = || self.view.shared(|shared| &shared.tool_ids, facts::tool_ids);
        let known = self.known.get_or_init(tool_ids);
        let mut count = self.count;
        loop {
            let id = format!("call_{count}");
            if !known.contains(id.as_str()) {
                return (count, self.arena.keep(id));
            }
            count += 1;
        }
    }
}

impl<'a> ToolIds<'a> {
    /// Ids for what is shown. A call without an id goes by the one in its metadata; where that is missing, or another call's
    /// and `may_repeat` does not allow it, by a counted one.
    pub(crate) fn new(
        view: &View<'a>,
        arena: &'a TextArena,
        shown: &[&'a Message],
        may_repeat: bool,
        losses: &mut Losses,
    ) -> Self {
        let mut counted = IdCounter::new(view, arena);
        let mut calls = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for message in shown {
            for (index, part) in message.parts.iter().enumerate() {
                let Part::ToolCall(call) = part else {
                    continue;
                };
                let wanted = call.known_id();
                let free = wanted.filter(|id| taken.insert(*id) || may_repeat);
                let id = free.unwrap_or_else(|| {
                    let reason = match wanted {
                        Some(_) => reasons::ID_WAS_ANOTHERS,
                        None => reasons::CALL_HAD_NO_ID,
                    };
                    losses.at(reason, message.position);
                    counted.next()
                });
                calls.insert(View::place(message, index), (id, call));
            }
        }
        let paired = view.shared(|shared| &shared.answered_calls, facts::answered_calls);
        Self {
            calls,
            paired,
            counted,
            unused: OnceCell::new(),
        }
    }

    /// The id of a call.
    #[expect(clippy::indexing_slicing, reason = "all calls that are shown have one")]
    pub(crate) fn of_call(&self, message: &Message, index: usize) -> &'a str {
        self.calls[&View::place(message, index)].0
    }

    /// The id of the call that a result answers, else the id in the result.
    pub(crate) fn of_result(
        &self,
        message: &Message,
        index: usize,
        result: &'a ToolResult,
    ) -> Option<&'a str> {
        let answered = self.answered(message, index);
        answered.map(|(id, _)| *id).or(result.known_id())
    }

    /// An id that nothing has, for a result that names no call.
    pub(crate) fn unused(&self) -> &'a str {
        self.unused.get_or_init(|| self.counted.peek().1)
    }

    /// The name of the tool that a result answers for.
    pub(crate) fn tool_of(&self, message: &Message, index: usize) -> Option<&'a str> {
        self.answered(message, index)?.1.name.as_deref()
    }

    fn answered(&self, message: &Message, index: usize) -> Option<&(&'a str, &'a ToolCall)> {
        self.calls.get(self.paired.get(&View::place(message, index))?)
    }
}
