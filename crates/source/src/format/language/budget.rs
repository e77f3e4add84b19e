//! A bound on the bytes that a format file makes of a record. A format file may read a value in many places, and add text around each; a
//! record that becomes more than [`FORMAT_FLOOR`] and [`FORMAT_RATIO`] allow is rejected. The bounds on the size of a format file do not
//! suffice, because nested lines multiply: 25 lines of 25 lines with one path make 625 copies of its text.

use std::cell::{Cell, RefCell};

use chatmill_diag::limits::{FORMAT_FLOOR, FORMAT_RATIO};
use chatmill_diag::{Finding, codes};
use chatmill_intake::json::Value;
use chatmill_model::{MediaSource, Message, OwnItem, Part, RawJson};

use crate::frame::{FrameView, Reading};

/// The bytes that may still be made of a record.
#[derive(Debug)]
pub(in crate::format) struct Budget {
    most: usize,
    /// `None` after a request for more than was left.
    left: Cell<Option<usize>>,
    /// The error, at the message that asked for more.
    error: RefCell<Option<Box<Finding>>>,
}

impl Budget {
    /// The budget of a record, or of a row.
    pub(in crate::format) fn of(record: Value<'_>) -> Self {
        let most = FORMAT_FLOOR.saturating_add(record.span().len().saturating_mul(FORMAT_RATIO));
        Self {
            most,
            left: Cell::new(Some(most)),
            error: RefCell::new(None),
        }
    }

    /// Takes so many bytes; `false` if fewer are left, and then the budget is spent.
    pub(in crate::format) fn take(&self, bytes: usize) -> bool {
        let left = self.left.get().and_then(|left| left.checked_sub(bytes));
        self.left.set(left);
        left.is_some()
    }

    /// Whether so many bytes are left, without taking them; if not, the budget is spent.
    pub(in crate::format) fn allows(&self, bytes: usize) -> bool {
        self.left.set(self.left.get().filter(|left| *left >= bytes));
        !self.is_spent()
    }

    /// Whether more was requested than was left.
    pub(in crate::format) fn is_spent(&self) -> bool {
        self.left.get().is_none()
    }

    /// Refills the budget for another branch of a tree, which has messages in common with those before.
    pub(in crate::format) fn begin(&self) {
        self.left.set(self.left.get().and(Some(self.most)));
    }

    /// Names the message that spent the budget, if it is spent and no message was named.
    pub(in crate::format) fn reject_beyond(
        &self,
        frame: FrameView<'_>,
        path: impl FnOnce() -> String,
        value: Value<'_>,
    ) {
        let mut error = self.error.borrow_mut();
        if self.is_spent() && error.is_none() {
            let text = format!(
                "the format file makes more than {} bytes of the record; the limit is {FORMAT_FLOOR} and {FORMAT_RATIO} for each byte of it: \
                 let fewer pieces, lines and paths read the same value",
                self.most
            );
            *error = Some(frame.error(&codes::CONVERSATION_TOO_LARGE, text, path(), value));
        }
    }

    /// The reading of a record, or the error if the budget is spent.
    pub(in crate::format) fn bounded(
        &self,
        frame: FrameView<'_>,
        record: Value<'_>,
        reading: Reading,
    ) -> Result<Reading, Box<Finding>> {
        self.reject_beyond(frame, || "$".to_owned(), record);
        self.error.take().map_or(Ok(reading), Err)
    }
}

/// The bytes of pieces and of extra fields.
pub(in crate::format) fn bytes_of<'p>(
    parts: impl Iterator<Item = &'p Part>,
    extra: impl Iterator<Item = &'p (String, RawJson)>,
) -> usize {
    let parts = parts.map(|part| match part {
        Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => text.len(),
        Part::Media(media) => match &media.source {
            MediaSource::Url(text) | MediaSource::Inline(text) | MediaSource::Text(text) => text.len(),
            MediaSource::Upload => len(media.name.as_ref()),
        },
        Part::ToolCall(call) => {
            let own = call.own.as_deref().map_or(0, own_bytes);
            len(call.id.as_ref()) + len(call.name.as_ref()) + call.arguments.source_text().len() + own
        }
        Part::ToolResult(result) => {
            let own = result.own.as_deref().map_or(0, own_bytes);
            len(result.call_id.as_ref()) + len(result.name.as_ref()) + result.content.len() + own
        }
        Part::Item(item) => item.raw.as_str().len(),
        Part::CacheMark => 0,
    });
    let extra = extra.map(|(path, value)| path.len() + value.as_str().len());
    parts.chain(extra).sum()
}

fn own_bytes(own: &OwnItem) -> usize {
    own.item().map_or(0, |item| item.raw.as_str().len())
}

/// The bytes of the names in a message: if one record becomes several messages, each has them.
pub(in crate::format) fn bytes_of_names(message: &Message) -> usize {
    let targets = message
        .references
        .iter()
        .filter_map(|reference| reference.target.as_ref());
    let names = [&message.id, &message.sender_name, &message.source_type]
        .into_iter()
        .flatten();
    let all = targets.chain(&message.mentions).chain(names);
    all.map(|name| size_of::<String>() + name.len()).sum()
}

fn len(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}
