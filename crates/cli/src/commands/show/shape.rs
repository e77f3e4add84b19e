//! The shape of a conversation, for `--no-content`: roles, kinds of parts and their sizes, codes, and masked ids.

use chatmill_engine::check::Mask;
use chatmill_model::{Linked, Media, MediaSource, Message, MessageKind, Part};

use super::ShownConversation;
use super::page::{Rendition, TextPage};
use super::text::{described, label, size};
use crate::figures::{bytes, counted};

/// Writes the shape of a conversation, with the codes of its findings.
pub(super) fn write(page: &mut TextPage, found: &ShownConversation, assistant: Option<usize>, mask: &Mask) {
    let conversation = &found.linked.conversation;
    let id = mask.id(&found.id);
    page.line(
        Rendition::Dim,
        &format!("conversation {id} of {} ({})", found.place, conversation.source),
        0,
    );
    page.line(Rendition::Dim, &size(conversation), 0);
    found.write_findings(page, None);
    page.end_line();
    for message in &conversation.messages {
        let line = message_line(&found.linked, message, assistant, mask);
        page.line(Rendition::Plain, &line, 0);
        found.write_findings(page, Some(message.position));
    }
    let others = conversation
        .alternatives
        .iter()
        .filter(|other| other.messages.is_some());
    let others = others.count() as u64;
    if others > 0 {
        page.line(Rendition::Dim, &counted(others, "other answer"), 0);
    }
}

fn message_line(linked: &Linked, message: &Message, assistant: Option<usize>, mask: &Mask) -> String {
    let sender = linked.conversation.sender(message);
    let sender = sender.map(|sender| mask.id(&sender.id));
    let role = label(message, assistant).unwrap_or(message.role.as_str());
    let mut facts = vec![match message.kind {
        MessageKind::Message => role.to_owned(),
        MessageKind::Notice => "notice".to_owned(),
    }];
    facts.extend(sender);
    let links = linked.links.get(message.position as usize).into_iter().flatten();
    facts.extend(links.map(|link| match link.target {
        Some(target) => format!("reply to #{target}"),
        None => format!("reply, {}", link.status.as_str()),
    }));
    facts.extend(message.parts.iter().map(part_size));
    format!("#{} {}", message.position, facts.join(" · "))
}

fn part_size(part: &Part) -> String {
    match part {
        Part::Media(media) => media_size(media),
        Part::CacheMark => described(part).2.into_owned(),
        part => {
            let (kind, _, text) = described(part);
            format!("{kind} {}", bytes(text.len() as u64))
        }
    }
}

fn media_size(media: &Media) -> String {
    let kind = media.kind.as_str();
    match &media.source {
        MediaSource::Inline(text) => format!("{kind} {}", bytes(text.len() as u64 / 4 * 3)),
        MediaSource::Text(text) => format!("{kind} {}", bytes(text.len() as u64)),
        MediaSource::Url(_) | MediaSource::Upload => kind.to_owned(),
    }
}
