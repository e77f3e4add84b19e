//! Ids of messages: the source's, else generated.

use std::cell::OnceCell;
use std::rc::Rc;

use chatmill_model::Message;

use crate::naming::unique::free_id;
use crate::text::arena::TextArena;
use crate::view::View;
use crate::view::facts::{self, Ids};

/// Makes up ids for messages that have none: others than those of messages, and those to which messages refer.
pub(crate) struct MessageIds<'a> {
    view: View<'a>,
    arena: &'a TextArena,
    taken: OnceCell<[Rc<Ids>; 2]>,
}

impl<'a> MessageIds<'a> {
    /// For the messages of a view.
    pub(crate) fn new(view: &View<'a>, arena: &'a TextArena) -> Self {
        Self {
            view: view.clone(),
            arena,
            taken: OnceCell::new(),
        }
    }

    /// The id of a message.
    pub(crate) fn of(&self, message: &'a Message) -> &'a str {
        let own = message.id.as_deref();
        own.unwrap_or_else(|| self.of_position(message.position))
    }

    /// `m<position>`, for a message without an id.
    pub(crate) fn of_position(&self, position: u32) -> &'a str {
        self.free(&format!("m{position}"))
    }

    /// An id as it is, or qualified where somebody has it.
    pub(crate) fn free(&self, plain: &str) -> &'a str {
        let view = &self.view;
        let taken = self.taken.get_or_init(|| {
            [
                view.shared(|shared| &shared.message_ids, facts::message_ids),
                view.shared(|shared| &shared.referenced_ids, facts::referenced_ids),
            ]
        });
        self.arena
            .keep(free_id(plain, |id| taken.iter().any(|ids| ids.contains(id))))
    }
}
