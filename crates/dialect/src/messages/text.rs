//! The text of a message after the policies that apply to every dialect.

use std::borrow::Cow;

use chatmill_model::{Media, Message, Part, ParticipantKind, Role};

use crate::loss::{LossCode, Losses, reasons};
use crate::messages::pairing::FoundResult;
use crate::text::edit::{change, without_metadata};
use crate::text::json;
use crate::text::media::{add_line, document_text, placeholder};
use crate::view::View;
use crate::view::policy::{Compressed, LeakedMetadata, MediaPolicy};

/// The losses that reading a text may declare.
pub(crate) const LOSES: &[LossCode] = &[
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
    LossCode::PartFlattened,
];

/// Returns a text of a message by policy: for a compressed message the text that the model saw, and for a bot's message the text without
/// leaked metadata.
pub(crate) fn message_text<'a>(view: &View<'a>, message: &Message, text: &'a str) -> Cow<'a, str> {
    clean(view, message, shown(view, message, text))
}

fn clean<'a>(view: &View<'a>, message: &Message, text: Cow<'a, str>) -> Cow<'a, str> {
    if view.policy.leaked_metadata == LeakedMetadata::Clean && is_from_agent(view, message) {
        change(text, without_metadata)
    } else {
        text
    }
}

/// Returns what the model saw instead of a text of the message: the first text is replaced, further texts are empty.
fn shown<'a>(view: &View<'a>, message: &Message, text: &'a str) -> Cow<'a, str> {
    let Some(sent) = sent_text(view, message) else {
        return Cow::Borrowed(text);
    };
    let is_first = message
        .texts()
        .next()
        .is_some_and(|first| std::ptr::eq(first, text));
    match is_first {
        true if sent == text => Cow::Borrowed(text),
        true => Cow::Owned(sent),
        false => Cow::Borrowed(""),
    }
}

/// Returns the text that the model saw for a compressed message, if policy asks for it.
fn sent_text(view: &View<'_>, message: &Message) -> Option<String> {
    let field = view.conversation().traits.sent_field;
    let field = field.filter(|_| view.policy.compressed == Compressed::AsSent)?;
    json::decode_string(message.extra.get(field)?.as_str()).filter(|sent| !sent.is_empty())
}

/// Returns the result of a tool; for a compressed message what the model saw of it, if policy asks for that.
pub(crate) fn answered<'a>(view: &View<'a>, answer: FoundResult<'a>, losses: &mut Losses) -> Cow<'a, str> {
    let FoundResult { message, result, .. } = answer;
    match sent_text(view, message) {
        Some(sent) if sent != result.content => {
            declare_sent(message, losses);
            Cow::Owned(sent)
        }
        _ => Cow::Borrowed(&result.content),
    }
}

/// Returns the result of a tool as text, with a line for each of its media.
pub(crate) fn answered_in_words<'a>(
    view: &View<'a>,
    answer: FoundResult<'a>,
    losses: &mut Losses,
) -> Cow<'a, str> {
    let mut content = answered(view, answer, losses);
    for media in answer.message.media_of(answer.part as usize) {
        let is_dropped = view.policy.media == MediaPolicy::Drop && document_text(media).is_none();
        let cause = if is_dropped {
            reasons::POLICY_DROPS_MEDIA
        } else {
            add_line(content.to_mut(), &placeholder(media));
            (loss_of_words(media), reasons::RESULT_IS_WRITTEN_AS_TEXT).into()
        };
        losses.at(cause, answer.message.position);
    }
    content
}

/// Returns the words of a plain-text document, which is written like a text of its message, and declares the change.
pub(crate) fn declared_document(media: &Media, position: u32, losses: &mut Losses) -> Option<String> {
    document_text(media)?;
    losses.at((LossCode::PartFlattened, reasons::DOCUMENT_IS_TEXT), position);
    Some(placeholder(media))
}

/// Returns the loss of writing a media item as words. A plain-text document only loses that it is a document.
pub(crate) fn loss_of_words(media: &Media) -> LossCode {
    match document_text(media) {
        Some(_) => LossCode::PartFlattened,
        None => LossCode::MediaPlaceholder,
    }
}

fn declare_sent(message: &Message, losses: &mut Losses) {
    losses.at(reasons::MESSAGE_IS_COMPRESSED, message.position);
}

/// Returns the same as [`message_text`] and declares the changes.
pub(crate) fn declared_text<'a>(
    view: &View<'a>,
    message: &Message,
    text: &'a str,
    losses: &mut Losses,
) -> Cow<'a, str> {
    let shown = shown(view, message, text);
    let is_same = |shown: &str| std::ptr::eq(shown, text) || shown == text;
    if !is_same(&shown) {
        declare_sent(message, losses);
    }
    cleaned(view, message, shown, losses)
}

/// Returns the words of a part that is a text or a plain-text document, and declares the changes.
pub(crate) fn declared_words<'a>(
    view: &View<'a>,
    message: &Message,
    part: &'a Part,
    losses: &mut Losses,
) -> Option<Cow<'a, str>> {
    match part {
        Part::Text(text) => Some(declared_text(view, message, text, losses)),
        Part::Media(media) => declared_document(media, message.position, losses).map(Cow::Owned),
        _ => None,
    }
}

/// Removes leaked metadata from a text and declares the change. The text of a compressed message stays as in the archive, for dialects that
/// have a place for both texts.
pub(crate) fn cleaned<'a>(
    view: &View<'a>,
    message: &Message,
    text: Cow<'a, str>,
    losses: &mut Losses,
) -> Cow<'a, str> {
    let length = text.len();
    let clean = clean(view, message, text);
    if clean.len() != length {
        losses.at(reasons::METADATA_HAD_LEAKED, message.position);
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
