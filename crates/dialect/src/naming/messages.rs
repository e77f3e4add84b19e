//! Ids of messages: those of the source, otherwise generated ones.

use std::cell::OnceCell;
use std::rc::Rc;

use chatmill_model::Message;

use crate::naming::unique::free_id;
use crate::text::arena::TextArena;
use crate::view::View;
use crate::view::facts::{self, Ids};

/// Generates ids for messages without one. They differ from the ids of all messages and from all ids that messages refer to.
pub(crate) struct MessageIds<'a> {
    view: View<'a>,
    arena: &'a TextArena,
    taken: OnceCell<[Rc<Ids>; 2]>,
}

impl<'a> MessageIds<'a> {
    /// Creates the generator for the messages of a view.
    pub(crate) fn new(view: &View<'a>, arena: &'a TextArena) -> Self {
        Self {
            view: view.clone(),
            arena,
            taken: OnceCell::new(),
        }
    }

    /// Returns the id of a message.
    pub(crate) fn of(&self, message: &'a Message) -> &'a str {
        let own = message.id.as_deref();
        own.unwrap_or_else(|| self.of_position(message.position))
    }

    /// Returns `m<position>`, for a message without an id, or a free id near it.
    pub(crate) fn of_position(&self, position: u32) -> &'a str {
        self.free(&format!("m{position}"))
    }

    /// Returns the id unchanged, or with a number if it is taken.
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
