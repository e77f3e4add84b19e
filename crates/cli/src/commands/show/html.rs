//! A conversation as data for its page, which `chatmill-report` writes.

use chatmill_model::{Alternative, Conversation, Link, Linked, Message, MessageKind, Part};
use chatmill_report::conversation::{
    RenderingFigures, ShownChat, ShownFinding, ShownLoss, ShownMessage, ShownPart, ShownPiece, ShownRendering,
};

use super::ShownConversation;
use super::page::folded;
use super::rendering::Rendered;
use super::text::{
    alternatives_by_place, call_line, facts, label, media_line, other_lead, quoted, result_line, sender_name,
    time, words_of,
};

/// Colours of speakers on the page.
const COLOURS: usize = 6;

/// Characters of a quote and of a field.
const QUOTED: usize = 160;

/// Bytes of a rendering that the page shows.
const RENDERING_BYTES: usize = 2 << 20;

/// Positions that a loss names.
const POSITIONS: usize = 12;

/// The conversation with what a model gets of it.
pub(super) fn chat(
    found: &ShownConversation,
    assistant: Option<usize>,
    renderings: &[Rendered],
    figures: Vec<RenderingFigures>,
    notes: Vec<String>,
) -> ShownChat {
    let (linked, conversation) = (&found.linked, &found.linked.conversation);
    let mut alternatives = alternatives_by_place(conversation);
    let mut day = String::new();
    let messages = conversation.messages.iter().zip(&linked.links);
    let mut messages: Vec<ShownMessage> = messages
        .map(|(message, links)| ShownMessage {
            // Other answers at the place of a message are shown with it.
            others: others(alternatives.remove(&(message.position + 1))),
            replies: replies(linked, message, links),
            findings: found.findings_at(Some(message.position)),
            ..shown_message(conversation, message, assistant, &mut day)
        })
        .collect();
    if let Some(first) = messages.first_mut() {
        first.others.extend(others(alternatives.remove(&0)));
    }
    let encoding = renderings.iter().find_map(Rendered::encoding);
    ShownChat {
        title: conversation.title.clone().unwrap_or_else(|| found.id.clone()),
        facts: facts(found),
        findings: found.findings_at(None),
        messages,
        renderings: renderings
            .iter()
            .map(|rendered| shown_rendering(rendered, linked))
            .collect(),
        figures,
        encoding: encoding.unwrap_or_default().to_owned(),
        notes,
    }
}

impl ShownConversation {
    fn findings_at(&self, position: Option<u32>) -> Vec<ShownFinding> {
        let found = self.findings.get(&position).into_iter().flatten();
        found.cloned().collect()
    }
}

fn shown_message(
    conversation: &Conversation,
    message: &Message,
    assistant: Option<usize>,
    day: &mut String,
) -> ShownMessage {
    let name = sender_name(conversation, message);
    let notes = label(message, assistant).map(str::to_owned);
    let notes = notes.into_iter().chain(time(message, day));
    let notes = notes.chain(message.model.as_deref().map(str::to_owned));
    let fields = message.extra.0.iter();
    ShownMessage {
        position: message.position,
        is_notice: message.kind == MessageKind::Notice,
        initial: name
            .chars()
            .find(|sign| sign.is_alphanumeric())
            .into_iter()
            .collect(),
        name: name.to_owned(),
        colour: message.sender.unwrap_or(message.role as usize) % COLOURS,
        notes: notes.collect(),
        parts: message.parts.iter().map(shown_part).collect(),
        fields: fields
            .map(|(key, value)| (key.clone(), folded([value.as_str()], QUOTED)))
            .collect(),
        ..ShownMessage::default()
    }
}

fn shown_part(part: &Part) -> ShownPart {
    let (kind, label, text) = match part {
        Part::Text(text) | Part::Notice(text) => ("text", "", text.clone()),
        Part::Reasoning(text) => ("thought", "", text.clone()),
        Part::ToolCall(call) => (
            "call",
            call.name.as_deref().unwrap_or_default(),
            call.arguments.source_text().to_owned(),
        ),
        Part::ToolResult(result) => (
            "result",
            result.name.as_deref().unwrap_or_default(),
            result.content.clone(),
        ),
        Part::Media(media) => ("media", "", media_line(media)),
        Part::Item(item) => ("item", item.vendor.as_str(), item.raw.as_str().to_owned()),
        Part::CacheMark => ("mark", "", "cache mark".to_owned()),
    };
    ShownPart {
        kind,
        label: label.to_owned(),
        text: on_page(&text),
    }
}

/// A text for the page, where white space is as it was written.
fn on_page(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\t', "    ")
}

fn replies(linked: &Linked, message: &Message, links: &[Link]) -> Vec<(Option<u32>, String)> {
    let replies = message.references.iter().zip(links);
    let replies =
        replies.filter_map(|(reference, link)| Some((link.target, quoted(linked, reference, link)?)));
    replies
        .map(|(target, words)| (target, folded(words.iter().map(AsRef::as_ref), QUOTED)))
        .collect()
}

fn others(at_place: Option<Vec<(&Alternative, &[Message])>>) -> Vec<(String, String)> {
    let at_place = at_place.into_iter().flatten();
    let other = |(alternative, messages): (&Alternative, &[Message])| {
        let parts = messages.iter().flat_map(|message| &message.parts);
        let texts = parts.map(|part| match part {
            Part::ToolCall(call) => call_line(call),
            Part::ToolResult(result) => result_line(result),
            Part::Media(media) => media_line(media),
            part => words_of(part).unwrap_or_default().to_owned(),
        });
        let texts: Vec<String> = texts.collect();
        (other_lead(alternative), on_page(&texts.join("\n\n")))
    };
    at_place.map(other).collect()
}

fn shown_rendering(rendered: &Rendered, linked: &Linked) -> ShownRendering {
    let pieces = pieces(rendered);
    let shown: usize = pieces.iter().map(|piece| piece.text.len()).sum();
    let losses = rendered
        .losses
        .iter()
        .map(|(code, positions, amount, reason)| ShownLoss {
            code,
            amount: *amount,
            reason: reason.to_string(),
            positions: positions.iter().copied().take(POSITIONS).collect(),
        });
    ShownRendering {
        title: rendered.title(Some(linked)),
        figures: rendered.figures(),
        components: rendered.components.clone(),
        left_out: (rendered.content.len() - shown) as u64,
        pieces,
        losses: losses.collect(),
        violations: rendered.violations.clone(),
    }
}

/// The text of a rendering, cut where turns of messages and what is trained on begin and end.
fn pieces(rendered: &Rendered) -> Vec<ShownPiece> {
    let text = &rendered.content;
    let most = text.len().min(RENDERING_BYTES);
    // A character has four bytes at most.
    let end = (most.saturating_sub(3)..=most)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let end = end.unwrap_or(0);
    let trained = rendered.trained();
    let mut cuts: Vec<usize> = vec![0, end];
    cuts.extend(rendered.turn_starts.iter().map(|(at, _)| *at));
    cuts.extend(trained.iter().flat_map(|range| [range.start, range.end]));
    cuts.retain(|at| *at <= end);
    cuts.sort_unstable();
    cuts.dedup();
    let mut turns = rendered.turn_starts.iter().peekable();
    let mut trained = trained.iter().peekable();
    let mut message = None;
    let mut pieces = Vec::new();
    for (at, next) in cuts.iter().zip(cuts.iter().skip(1)) {
        while let Some((_, position)) = turns.next_if(|(start, _)| start <= at) {
            message = *position;
        }
        while trained.next_if(|range| range.end <= *at).is_some() {}
        let (_, piece) = text.split_at(*next).0.split_at(*at);
        pieces.push(ShownPiece {
            text: piece.to_owned(),
            message,
            is_trained: trained.peek().is_some_and(|range| range.start <= *at),
        });
    }
    pieces
}
