//! Ids of rows: the source's, else made up so that nothing meets by chance.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_model::Message;

use crate::loss::{LossCode, Losses};

/// The ids of a rendering's rows.
pub(super) struct RowIds<'a>(BTreeSet<&'a str>);

impl<'a> RowIds<'a> {
    /// Ids beside those of a conversation's messages.
    pub(super) fn new(messages: &'a [Message]) -> Self {
        Self(
            messages
                .iter()
                .filter_map(|message| message.id.as_deref())
                .collect(),
        )
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
            "every row has an id",
        );
        let mut id = made.clone();
        let mut count = 2_u64;
        while self.0.contains(id.as_str()) {
            id = format!("{made}~{count}");
            count += 1;
        }
        Cow::Owned(id)
    }
}
