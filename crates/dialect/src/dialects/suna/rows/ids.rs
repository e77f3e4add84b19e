//! Ids of rows: the source's, else made up so that nothing meets by chance.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use chatmill_model::Message;

use crate::loss::{LossCode, Losses, reasons};
use crate::message_ids::free_id;
use crate::shared::{self, Ids};
use crate::view::View;

/// The ids of a rendering's rows.
pub(super) struct RowIds<'a> {
    view: View<'a>,
    taken: OnceCell<Rc<Ids>>,
}

impl<'a> RowIds<'a> {
    /// Ids beside those of a conversation's messages.
    pub(super) fn new(view: &View<'a>) -> Self {
        Self {
            view: view.clone(),
            taken: OnceCell::new(),
        }
    }

    /// The id of a row: the message's for its first, else one made from it.
    pub(super) fn of(&self, message: &'a Message, number: u64, losses: &mut Losses) -> Cow<'a, str> {
        let made = match (message.id.as_deref(), number) {
            (Some(id), 0) => return Cow::Borrowed(id),
            (Some(id), number) => format!("{id}/{number}"),
            (None, 0) => format!("m{}", message.position),
            (None, number) => format!("m{}/{number}", message.position),
        };
        losses.at(
            LossCode::MessageIdSynthesised,
            message.position,
            reasons::EVERY_ROW_HAS_AN_ID,
        );
        let taken = self.taken.get_or_init(|| {
            let look_up = || shared::message_ids(self.view.linked);
            self.view.shared(|shared| &shared.message_ids, look_up)
        });
        Cow::Owned(free_id(&made, |id| taken.contains(id)))
    }
}
