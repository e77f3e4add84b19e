//! The text of a message, after the policies that hold for every dialect.

use std::borrow::Cow;

use chatmill_model::{Media, Message, Part, ParticipantKind, Role};

use crate::loss::{LossCode, Losses, reasons};
use crate::messages::pairing::FoundResult;
use crate::text::edit::{change, without_metadata};
use crate::text::json;
use crate::text::media::{add_line, document_text, placeholder};
use crate::view::View;
use crate::view::policy::{Compressed, LeakedMetadata, MediaPolicy};

/// What saying a text may cost.
pub(crate) const LOSES: &[LossCode] = &[
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
    LossCode::PartFlattened,
];

/// One of a message's texts: of a compressed message what the model saw, and a bot's freed of leaked metadata, where
/// policy wants it.
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

/// What the model saw in the place of one of a message's texts.
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

/// What the model saw of a compressed message, where policy asks for it.
fn sent_text(view: &View<'_>, message: &Message) -> Option<String> {
    let field = view.conversation().traits.sent_field;
    let field = field.filter(|_| view.policy.compressed == Compressed::AsSent)?;
    json::decode_string(message.extra.get(field)?.as_str()).filter(|sent| !sent.is_empty())
}

/// What a tool answered: of a compressed message what the model saw of it, where policy asks for it.
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

/// A tool's answer where it is written as text: its media are lines of it.
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

/// The words of a document of text, which are as good as a text of its message.
pub(crate) fn declared_document(media: &Media, position: u32, losses: &mut Losses) -> Option<String> {
    document_text(media)?;
    losses.at((LossCode::PartFlattened, reasons::DOCUMENT_IS_TEXT), position);
    Some(placeholder(media))
}

/// What is lost where words stand for a media item: of a document, only that it is one.
pub(crate) fn loss_of_words(media: &Media) -> LossCode {
    match document_text(media) {
        Some(_) => LossCode::PartFlattened,
        None => LossCode::MediaPlaceholder,
    }
}

fn declare_sent(message: &Message, losses: &mut Losses) {
    losses.at(reasons::MESSAGE_IS_COMPRESSED, message.position);
}

/// As [`message_text`], with the change declared.
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

/// The words of a part that is a text or a document of text, with the changes declared.
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

/// A text freed of what leaked into it, with the change declared: of a compressed message what the archive holds, for dialects that
/// have a place for both.
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
