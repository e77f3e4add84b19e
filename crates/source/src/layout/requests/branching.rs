//! Lists of messages that are trees: each branch that is read is a conversation, and other answers are its alternatives.

use chatmill_diag::Limits;
use chatmill_intake::json::Value;
use chatmill_model::Role;

use super::Requests;
use super::reader::TurnReader;
use super::row::{Row, RowTurns};
use crate::base::{Notes, text};
use crate::frame::{FrameView, Reading};
use crate::layout::tree::branch::{NodeReader, REGENERATED};
use crate::layout::tree::{Node, Nodes, Tree, listed};
use crate::layout::{ListReader, OUTSIDE_LISTS};

/// Reads a row with a list that is a tree, possibly after a system prompt; `None` if it is a plain list.
pub(super) fn read(
    requests: &Requests,
    row: &Row<'_>,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Option<Reading> {
    let (turns, prompts) = row.turns.split_last()?;
    let (RowTurns::List(list) | RowTurns::Column(list)) = turns else {
        return None;
    };
    let is_prompt = |turns: &RowTurns<'_>| {
        matches!(
            turns,
            RowTurns::Text(Role::System, _) | RowTurns::Content(Role::System, ..)
        )
    };
    if row.answer.is_some() || !prompts.iter().all(is_prompt) {
        return None;
    }
    let entries = listed::nodes(*list, &frame.document.path_at(list.span().start))?;
    let mut notes = Notes::new(frame.start);
    let tree = Tree::of(&entries, &mut notes);
    let values: Vec<Value<'_>> = list.items().collect();
    let record = Nodes {
        values: &values,
        entries: &entries,
        tree: &tree,
        visible: listed::seen(frame.root(), &entries),
    };
    Some(record.conversations(
        notes,
        (frame.options.branches, limits),
        REGENERATED,
        |message| text(message.get("role")).as_deref() == Some("user"),
        |is_first| {
            let mut reader = requests.begin(row, frame, limits);
            reader.is_column = matches!(turns, RowTurns::Column(_));
            for prompt in prompts {
                reader.turns(prompt.clone());
            }
            if !is_first {
                reader.exchange.turns.list.notes.findings.clear();
            }
            reader
        },
        |reader, _| requests.end(reader, frame.root()),
    ))
}

impl<'d, 'r> NodeReader<'d, 'r> for TurnReader<'d, 'r> {
    fn list(&mut self) -> &mut ListReader<'d, 'r> {
        &mut self.exchange.turns.list
    }

    fn node(&mut self, value: Value<'d>, _node: &Node, at: usize) {
        let index = if self.is_column { OUTSIDE_LISTS } else { at as u32 };
        self.read(index, value);
    }
}
