//! Ids that link calls and results in dialects that write records: those of the source, otherwise counted ones.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chatmill_model::{Message, Part, PartPlace, ToolCall, ToolResult};

use crate::loss::{LossCode, Losses, reasons};
use crate::text::arena::TextArena;
use crate::view::View;
use crate::view::facts::{self, Ids};

/// The losses that choosing ids may declare.
pub(crate) const LOSES: &[LossCode] = &[LossCode::ToolIdRewritten];

/// The ids of the shown calls.
pub(crate) struct ToolIds<'a> {
    calls: BTreeMap<PartPlace, (&'a str, &'a ToolCall)>,
    /// The call of each result.
    paired: Rc<BTreeMap<PartPlace, PartPlace>>,
    counted: IdCounter<'a>,
    /// An unused id, chosen on first use.
    unused: OnceCell<&'a str>,
}

/// Generates ids that do not occur in the conversation, by counting.
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

    /// Returns the next id and its number.
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
    /// Chooses the ids of the shown calls. A call without an id gets the one in its metadata. If there is none either, or another call has
    /// it and `may_repeat` is false, the call gets a counted id.
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

    /// Returns the id of a call.
    #[expect(clippy::indexing_slicing, reason = "all calls that are shown have one")]
    pub(crate) fn of_call(&self, message: &Message, index: usize) -> &'a str {
        self.calls[&View::place(message, index)].0
    }

    /// Returns the id of the call that a result answers, otherwise the id in the result.
    pub(crate) fn of_result(
        &self,
        message: &Message,
        index: usize,
        result: &'a ToolResult,
    ) -> Option<&'a str> {
        let answered = self.answered(message, index);
        answered.map(|(id, _)| *id).or(result.known_id())
    }

    /// Returns an unused id, for a result without the id of a call.
    pub(crate) fn unused(&self) -> &'a str {
        self.unused.get_or_init(|| self.counted.peek().1)
    }

    /// Returns the name of the tool whose call a result answers.
    pub(crate) fn tool_of(&self, message: &Message, index: usize) -> Option<&'a str> {
        self.answered(message, index)?.1.name.as_deref()
    }

    fn answered(&self, message: &Message, index: usize) -> Option<&(&'a str, &'a ToolCall)> {
        self.calls.get(self.paired.get(&View::place(message, index))?)
    }
}
