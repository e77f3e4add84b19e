//! What a message says, after the policies that hold for every dialect.

use std::borrow::Cow;

use chatmill_model::{Message, ParticipantKind, Role};

use crate::loss::{LossCode, Losses};
use crate::policy::LeakedMetadata;
use crate::text::without_metadata;
use crate::view::View;

/// One of a message's texts: a bot's is freed of leaked metadata where policy wants it.
pub(crate) fn said<'a>(view: &View<'a>, message: &Message, text: &'a str) -> Cow<'a, str> {
    if view.policy.leaked_metadata == LeakedMetadata::Clean && is_from_agent(view, message) {
        without_metadata(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// As [`said`], with the change declared.
pub(crate) fn said_declared<'a>(
    view: &View<'a>,
    message: &Message,
    text: &'a str,
    losses: &mut Losses,
) -> Cow<'a, str> {
    let clean = said(view, message, text);
    if clean.len() != text.len() {
        losses.at(
            LossCode::LeakedMetadataRemoved,
            message.position,
            "metadata had leaked into a bot's text",
        );
    }
    clean
}

/// Whether a bot wrote a message.
pub(crate) fn is_from_agent(view: &View<'_>, message: &Message) -> bool {
    message.role == Role::Assistant
        || view
            .sender(message)
            .is_some_and(|sender| sender.kind == ParticipantKind::Agent)
}
