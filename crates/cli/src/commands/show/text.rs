//! A conversation as it was written: speakers, times and quoted replies, with a line for each call and result.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_model::{
    Alternative, Conversation, Judgement, Link, LinkStatus, Linked, Media, MediaSource, Message, MessageKind,
    Part, Participant, Reference, Role, ToolCall, ToolResult,
};

use super::ShownConversation;
use super::page::{Rendition, TextPage};
use crate::figures::{bytes, counted, instant};

/// The indentation of the text of a message.
const INDENTATION: usize = 2;

/// Writes a conversation with its findings; `assistant` is the participant that is the assistant.
pub(super) fn write(page: &mut TextPage, found: &ShownConversation, assistant: Option<usize>) {
    let (linked, conversation) = (&found.linked, &found.linked.conversation);
    let alternatives = alternatives_by_place(conversation);
    write_head(page, found);
    found.write_findings(page, None);
    let mut day = String::new();
    for (message, links) in conversation.messages.iter().zip(&linked.links) {
        write_alternatives(page, alternatives.get(&message.position));
        page.end_line();
        if message.kind == MessageKind::Notice {
            write_notice(page, linked, message, &mut day);
        } else {
            write_message_head(page, linked, message, assistant, &mut day);
            for (reference, link) in message.references.iter().zip(links) {
                write_reply(page, linked, reference, link);
            }
            for part in &message.parts {
                write_part(page, part);
            }
        }
        found.write_findings(page, Some(message.position));
    }
    let end = u32::try_from(conversation.messages.len()).unwrap_or(u32::MAX);
    write_alternatives(page, alternatives.get(&end));
}

/// Other answers by the position of the message before which their place ends.
fn alternatives_by_place(conversation: &Conversation) -> BTreeMap<u32, Vec<(&Alternative, &[Message])>> {
    let mut by_place: BTreeMap<u32, Vec<(&Alternative, &[Message])>> = BTreeMap::new();
    for alternative in &conversation.alternatives {
        if let Some(messages) = &alternative.messages {
            let place = by_place.entry(alternative.place.end).or_default();
            place.push((alternative, messages));
        }
    }
    by_place
}

fn write_head(page: &mut TextPage, found: &ShownConversation) {
    let conversation = &found.linked.conversation;
    page.words(
        Rendition::Bold,
        conversation.title.as_deref().unwrap_or(&found.id),
    );
    page.end_line();
    for fact in facts(found) {
        page.line(Rendition::Dim, &fact, 0);
    }
}

/// Lines about a conversation: its place, its size and time, its description.
pub(super) fn facts(found: &ShownConversation) -> Vec<String> {
    let conversation = &found.linked.conversation;
    let place = format!(
        "conversation {} of {} ({})",
        found.id, found.place, conversation.source
    );
    let mut figures = vec![size(conversation)];
    if let (Some(first), Some(last)) = conversation.span() {
        let [first, last] = [first, last].map(|time| instant(time, "%Y-%m-%d %H:%M:%S UTC"));
        figures.push(format!("{first} to {last}"));
    }
    figures.extend(conversation.model.as_ref().map(|model| format!("model {model}")));
    let description = conversation.description.clone().filter(|text| !text.is_empty());
    [place, figures.join(", ")]
        .into_iter()
        .chain(description)
        .collect()
}

/// The size of a conversation in words.
pub(super) fn size(conversation: &Conversation) -> String {
    let messages = conversation.messages.len() as u64;
    let is_notice = |message: &&Message| message.kind == MessageKind::Notice;
    let notices = conversation.messages.iter().filter(is_notice).count() as u64;
    let mut text = counted(messages - notices, "message");
    text += &format!(
        " by {}",
        counted(conversation.participants.len() as u64, "participant")
    );
    for (number, noun) in [
        (notices, "notice"),
        (conversation.tools.len() as u64, "tool definition"),
    ] {
        if number > 0 {
            text += &format!(", {}", counted(number, noun));
        }
    }
    text
}

fn write_message_head(
    page: &mut TextPage,
    linked: &Linked,
    message: &Message,
    assistant: Option<usize>,
    day: &mut String,
) {
    let name = sender_name(&linked.conversation, message);
    // A sender that is not a participant is identified by its role.
    let number = message.sender.unwrap_or(message.role as usize);
    page.words(Rendition::Dim, &format!("#{} ", message.position));
    page.words(Rendition::Speaker(number), name);
    let mut notes = notes(message, assistant, day);
    notes.retain(|note| note != name);
    if !notes.is_empty() {
        page.words(Rendition::Dim, &format!("  {}", notes.join(" · ")));
    }
    page.end_line();
}

/// The notes after the name of a sender: the role, the time, the model, and whether the message is only context.
pub(super) fn notes(message: &Message, assistant: Option<usize>, day: &mut String) -> Vec<String> {
    let is_context = message.weight.is_some_and(|weight| weight.value() == 0.0);
    let label = label(message, assistant).map(str::to_owned);
    let notes = label.into_iter().chain(time(message, day));
    let notes = notes.chain(message.model.as_deref().map(str::to_owned));
    notes
        .chain(is_context.then(|| "context, not trained on".to_owned()))
        .collect()
}

/// The role of a sender, unless it is a user.
pub(super) fn label(message: &Message, assistant: Option<usize>) -> Option<&'static str> {
    match message.role {
        _ if message.sender.is_some() && message.sender == assistant => Some("assistant"),
        Role::User => None,
        // An agent other than the perspective.
        Role::Assistant if assistant.is_some() && message.sender.is_some() => Some("agent"),
        role => Some(role.as_str()),
    }
}

pub(super) fn sender_name<'m>(conversation: &'m Conversation, message: &'m Message) -> &'m str {
    let own = message.sender_name.as_deref().filter(|name| !name.is_empty());
    let sender = conversation.sender(message);
    own.or(sender.map(Participant::display_name))
        .unwrap_or(message.role.as_str())
}

/// The time of a message; with its day if that differs from the day before.
fn time(message: &Message, day: &mut String) -> Option<String> {
    let timestamp = message.timestamp.as_ref()?;
    let Some(time) = timestamp.instant else {
        return Some(timestamp.raw.clone());
    };
    let date = instant(time, "%Y-%m-%d ");
    let clock = instant(time, "%H:%M:%S");
    if *day == date {
        return Some(clock);
    }
    day.clone_from(&date);
    Some(date + &clock)
}

fn write_notice(page: &mut TextPage, linked: &Linked, message: &Message, day: &mut String) {
    let mut lead = format!("#{} · ", message.position);
    lead.extend(time(message, day).map(|time| time + " "));
    let named = message.sender.map(|_| sender_name(&linked.conversation, message));
    let words = named.into_iter().chain(message.source_type.as_deref());
    page.folded(
        Rendition::Dim,
        &lead,
        words.chain(message.parts.iter().filter_map(words_of)),
    );
}

fn words_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) | Part::Notice(text) | Part::Reasoning(text) => Some(text),
        _ => None,
    }
}

fn write_reply(page: &mut TextPage, linked: &Linked, reference: &Reference, link: &Link) {
    if let Some(words) = quoted(linked, reference, link) {
        let target = link.target.map(|target| format!("#{target}"));
        let words = words.iter().map(AsRef::as_ref);
        page.folded(Rendition::Dim, "  ↳ ", target.as_deref().into_iter().chain(words));
    }
}

/// The beginning of the message to which a reply refers, with the name of its sender; `None` if the reference is not a reply.
pub(super) fn quoted<'m>(
    linked: &'m Linked,
    reference: &'m Reference,
    link: &Link,
) -> Option<Vec<Cow<'m, str>>> {
    let conversation = &linked.conversation;
    let target = link.target.and_then(|at| conversation.messages.get(at as usize));
    let named = |name: &str| Cow::Owned(format!("{name}:"));
    match (link.status, target, &reference.preview) {
        (LinkStatus::Pseudo, ..) => None,
        (LinkStatus::Itself, ..) => Some(vec!["itself".into()]),
        (_, Some(target), _) => {
            let words = target.parts.iter().filter_map(words_of).map(Cow::Borrowed);
            Some(
                [named(sender_name(conversation, target))]
                    .into_iter()
                    .chain(words)
                    .collect(),
            )
        }
        (_, None, Some(preview)) if preview.content.is_some() => {
            let name = preview.sender_name.as_deref().map(named);
            Some(
                name.into_iter()
                    .chain(preview.content.as_deref().map(Cow::Borrowed))
                    .collect(),
            )
        }
        (_, None, _) => Some(vec!["a message that is missing".into()]),
    }
}

/// The kind of a part, the name of its tool or its vendor, and its text.
pub(super) fn described(part: &Part) -> (&'static str, &str, Cow<'_, str>) {
    match part {
        Part::Text(text) => ("text", "", text.into()),
        Part::Notice(text) => ("notice", "", text.into()),
        Part::Reasoning(text) => ("reasoning", "", text.into()),
        Part::ToolCall(call) => {
            let name = call.name.as_deref().unwrap_or_default();
            ("call", name, call.arguments.source_text().into())
        }
        Part::ToolResult(result) => {
            let name = result.name.as_deref().unwrap_or_default();
            ("result", name, result.content.as_str().into())
        }
        Part::Media(media) => ("media", "", media_line(media).into()),
        Part::Item(item) => ("item", item.vendor.as_str(), item.raw.as_str().into()),
        Part::CacheMark => ("mark", "", "cache mark".into()),
    }
}

fn write_part(page: &mut TextPage, part: &Part) {
    match part {
        Part::Text(text) => page.lines(Rendition::Plain, text, INDENTATION),
        Part::Reasoning(text) => page.lines(Rendition::Dim, &format!("thinks: {text}"), INDENTATION),
        Part::ToolCall(call) => page.folded(Rendition::Plain, "  → ", [call_line(call).as_str()]),
        Part::ToolResult(result) => page.folded(Rendition::Plain, "  ← ", [result_line(result).as_str()]),
        Part::Notice(text) => page.folded(Rendition::Dim, "  · ", [text.as_str()]),
        Part::Item(item) => page.folded(Rendition::Dim, "  ", [item.raw.as_str()]),
        Part::Media(_) | Part::CacheMark => {
            let line = format!("[{}]", described(part).2);
            page.folded(Rendition::Dim, "  ", [line.as_str()]);
        }
    }
}

fn call_line(call: &ToolCall) -> String {
    let name = call.name.as_deref().unwrap_or("a tool without a name");
    format!("{name}({})", call.arguments.source_text())
}

fn result_line(result: &ToolResult) -> String {
    let name = result.name.as_deref().unwrap_or_default();
    let failed = if result.is_error { "failed" } else { "" };
    let lead = [name, failed].into_iter().filter(|word| !word.is_empty());
    let lead = lead.collect::<Vec<_>>().join(" ");
    let between = if lead.is_empty() { "" } else { ": " };
    format!("{lead}{between}{}", result.content)
}

fn media_line(media: &Media) -> String {
    let (address, size) = match &media.source {
        MediaSource::Url(url) => (Some(url.as_str()), None),
        MediaSource::Inline(text) => (None, Some(bytes(text.len() as u64 / 4 * 3))),
        MediaSource::Text(text) => (None, Some(bytes(text.len() as u64))),
        MediaSource::Upload => (None, None),
    };
    let facts = [
        Some(media.kind.as_str()),
        media.media_type.as_deref(),
        media.name.as_deref(),
        address,
        size.as_deref(),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Writes the other answers at a place.
fn write_alternatives(page: &mut TextPage, at_place: Option<&Vec<(&Alternative, &[Message])>>) {
    for (alternative, messages) in at_place.into_iter().flatten() {
        let parts = messages.iter().flat_map(|message| &message.parts);
        let words = parts.map(|part| match part {
            Part::ToolCall(call) => call_line(call),
            Part::ToolResult(result) => result_line(result),
            part => words_of(part).unwrap_or_default().to_owned(),
        });
        let words: Vec<String> = words.collect();
        page.folded(
            Rendition::Dim,
            &format!("  or ({}): ", other_lead(alternative)),
            words.iter().map(String::as_str),
        );
    }
}

/// The origin of another answer, and its rating.
pub(super) fn other_lead(alternative: &Alternative) -> String {
    rated(alternative.origin.as_str(), alternative.judgement)
}

/// The origin of an answer, and its rating.
pub(super) fn rated(what: &str, judgement: Judgement) -> String {
    let label = judgement
        .label
        .map(|is_good| if is_good { "good" } else { "bad" });
    let facts = [
        Some(what.to_owned()),
        label.map(str::to_owned),
        judgement.rank.map(|rank| format!("rank {rank}")),
        judgement.score.map(|score| format!("score {}", score.value())),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    facts.join(", ")
}
