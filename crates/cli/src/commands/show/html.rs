//! A conversation as data for its page, which `chatmill-report` renders.

use std::collections::BTreeMap;

use chatmill_dialect::LossCode;
use chatmill_model::{
    Alternative, AlternativeOrigin, Conversation, Link, Linked, Media, MediaSource, Message, MessageKind,
    Part,
};
use chatmill_report::conversation::{
    MessageLoss, RenderingFigures, ShownChat, ShownFinding, ShownLoss, ShownMessage, ShownPart, ShownPiece,
    ShownRendering, Version,
};

use super::page::folded;
use super::rendering::Rendered;
use super::text::{described, facts, notes, other_lead, quoted, rated, sender_name};
use super::{MOST_COUNTED, ShownConversation};

/// The number of colours for speakers.
const COLOURS: usize = 6;

/// The length of a quote and of a field, in characters.
const QUOTED: usize = 160;

/// The number of bytes of a rendering that the page shows.
const RENDERING_BYTES: usize = 2 << 20;

/// The number of bytes of all renderings of a conversation that the page shows.
const RENDERINGS_BYTES: usize = 8 << 20;

/// The number of renderings that are listed at messages, with their tokens and losses.
const LISTED_RENDERINGS: usize = 24;

/// The number of positions that are listed for a loss.
const POSITIONS: usize = 12;

/// The number of base64 digits of all pictures on a page.
const PICTURE_DIGITS: usize = 4 << 20;

/// The types of pictures that a page shows; none of them can run code.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The number of base64 digits that a page may still contain.
pub(super) struct PictureBudget(usize);

impl PictureBudget {
    /// The budget of a page; empty unless pictures are requested.
    pub(super) fn new(is_asked: bool) -> Self {
        Self(if is_asked { PICTURE_DIGITS } else { 0 })
    }

    /// The data address of a picture, if the page shows it.
    fn source(&mut self, media: &Media) -> Option<String> {
        let MediaSource::Inline(digits) = &media.source else {
            return None;
        };
        let kind = PICTURES
            .iter()
            .find(|kind| media.media_type.as_deref() == Some(kind))?;
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        self.0 = self.0.checked_sub(digits.len())?;
        let source = format!("data:{kind};base64,{digits}");
        digits.bytes().all(is_base64).then_some(source)
    }
}

/// The conversation, with what a model gets of it.
pub(super) fn chat(
    found: &ShownConversation,
    assistant: Option<usize>,
    renderings: &[Rendered],
    figures: Vec<RenderingFigures>,
    notes: Vec<String>,
    budget: &mut PictureBudget,
) -> ShownChat {
    let (linked, conversation) = (&found.linked, &found.linked.conversation);
    let mut day = String::new();
    let messages = conversation.messages.iter().zip(&linked.links);
    let mut messages: Vec<ShownMessage> = messages
        .map(|(message, links)| ShownMessage {
            replies: replies(linked, message, links),
            findings: found.findings_at(Some(message.position)),
            ..shown_message(conversation, message, assistant, (&mut day, &mut *budget))
        })
        .collect();
    for alternative in &conversation.alternatives {
        add_version(&mut messages, conversation, alternative, budget);
    }
    let mut shown = Vec::new();
    let mut left = RENDERINGS_BYTES;
    for rendered in renderings {
        let pieces = pieces(rendered, left.min(RENDERING_BYTES));
        let bytes: usize = pieces.shown.iter().map(|piece| piece.text.len()).sum();
        left = left.saturating_sub(bytes);
        if messages.len() <= MOST_COUNTED && shown.len() < LISTED_RENDERINGS {
            add_costs(&mut messages, rendered, &pieces);
        }
        shown.push(shown_rendering(rendered, pieces, bytes));
    }
    let encoding = renderings.iter().find_map(Rendered::encoding);
    ShownChat {
        title: conversation.title.clone().unwrap_or_else(|| found.id.clone()),
        facts: facts(found),
        findings: found.findings_at(None),
        messages,
        renderings: shown,
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
    (day, budget): (&mut String, &mut PictureBudget),
) -> ShownMessage {
    let name = sender_name(conversation, message);
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
        notes: notes(message, assistant, day),
        parts: message
            .parts
            .iter()
            .map(|part| shown_part(part, budget))
            .collect(),
        fields: fields
            .map(|(key, value)| (key.clone(), folded([value.as_str()], QUOTED)))
            .collect(),
        ..ShownMessage::default()
    }
}

fn shown_part(part: &Part, budget: &mut PictureBudget) -> ShownPart {
    let source = match part {
        Part::Media(media) => budget.source(media),
        _ => None,
    };
    let (kind, label, text) = described(part);
    let kind = match kind {
        "notice" => "text",
        "media" if source.is_some() => "picture",
        kind => kind,
    };
    ShownPart {
        kind,
        label: label.to_owned(),
        text: on_page(&text),
        source: source.unwrap_or_default(),
    }
}

/// A text for the page, which keeps its white space.
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

/// Adds a version of a place to the message with which the place begins, or to the previous message if the conversation has nothing at this
/// place.
fn add_version(
    messages: &mut [ShownMessage],
    conversation: &Conversation,
    alternative: &Alternative,
    budget: &mut PictureBudget,
) {
    let place = &alternative.place;
    let at = if place.is_empty() {
        place.start.saturating_sub(1)
    } else {
        place.start
    };
    let Some(message) = messages.get_mut(at as usize) else {
        return;
    };
    let others = if place.is_empty() {
        &mut message.others
    } else {
        let own = message.own_place.get_or_insert_default();
        own.last = own.last.max(place.end - 1);
        if alternative.messages.is_none() {
            let is_rated = matches!(
                alternative.origin,
                AlternativeOrigin::Chosen | AlternativeOrigin::Rejected
            );
            own.rating = if is_rated {
                format!("in the chat, {}", other_lead(alternative))
            } else {
                rated("in the chat", alternative.judgement)
            };
        }
        &mut own.others
    };
    if let Some(written) = &alternative.messages {
        let mut day = String::new();
        others.push(Version {
            title: other_lead(alternative),
            messages: written
                .iter()
                .map(|message| shown_message(conversation, message, None, (&mut day, &mut *budget)))
                .collect(),
        });
    }
}

/// Adds the tokens and losses of a rendering to the messages.
fn add_costs(messages: &mut [ShownMessage], rendered: &Rendered, pieces: &Pieces) {
    let title = rendered.title.to_string();
    for (position, tokens) in &pieces.tokens {
        if let Some(message) = messages.get_mut(*position as usize) {
            message.tokens.push((title.clone(), *tokens));
        }
    }
    for (code, positions, _, reason) in &rendered.losses {
        for position in positions {
            let Some(message) = messages.get_mut(*position as usize) else {
                continue;
            };
            let mut known = message.losses.iter_mut();
            match known.find(|loss| loss.code == *code && loss.reason == *reason) {
                Some(loss) => loss.renderings.push(title.clone()),
                None => message.losses.push(MessageLoss {
                    code,
                    reason: reason.to_string(),
                    meaning: LossCode::find(code).map_or("", LossCode::meaning),
                    key: key_of(code),
                    renderings: vec![title.clone()],
                }),
            }
        }
    }
}

/// The key of the pipeline that decides on a kind of loss; empty if there is none.
fn key_of(code: &str) -> &'static str {
    match code {
        "name-dropped" | "name-inlined" => "policy.names",
        "media-dropped" | "media-placeholder" | "media-needs-fetch" => "policy.media",
        "reasoning-dropped" => "policy.reasoning",
        "leaked-metadata-removed" => "policy.leaked_metadata",
        "special-token-in-text" => "policy.control_tokens",
        "turn-merged" => "policy.turns",
        "missing-result-synthesised" => "policy.orphans",
        _ if code.starts_with("orphan-") => "policy.orphans",
        _ if code.starts_with("reference-") => "policy.references",
        _ if code.starts_with("system-") => "policy.system",
        _ => "",
    }
}

fn shown_rendering(rendered: &Rendered, pieces: Pieces, bytes: usize) -> ShownRendering {
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
        title: rendered.title.clone(),
        figures: rendered.figures(),
        components: rendered.components.clone(),
        left_out: (rendered.content.len() - bytes) as u64,
        pieces: pieces.shown,
        losses: losses.collect(),
        violations: rendered.violations.clone(),
    }
}

/// A rendering in pieces, and the tokens of each message's turn.
#[derive(Default)]
struct Pieces {
    shown: Vec<ShownPiece>,
    tokens: BTreeMap<u32, u64>,
}

/// The first `most` bytes of a rendering, cut where turns of messages and trained ranges begin and end.
fn pieces(rendered: &Rendered, most: usize) -> Pieces {
    let text = &rendered.content;
    let most = text.len().min(most);
    // A character has up to four bytes.
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
    let starts = rendered.token_starts();
    let mut starts = starts.iter().peekable();
    let mut pieces = Pieces::default();
    for (at, next) in cuts.iter().zip(cuts.iter().skip(1)) {
        while let Some((_, position)) = turns.next_if(|(start, _)| start <= at) {
            message = *position;
        }
        while trained.next_if(|range| range.end <= *at).is_some() {}
        let (_, piece) = text.split_at(*next).0.split_at(*at);
        let mut token_starts = Vec::new();
        while let Some((start, tokens)) = starts.next_if(|(start, _)| start < next) {
            token_starts.push(start - at);
            if let Some(message) = message {
                *pieces.tokens.entry(message).or_default() += tokens;
            }
        }
        pieces.shown.push(ShownPiece {
            text: piece.to_owned(),
            token_starts,
            message,
            is_trained: trained.peek().is_some_and(|range| range.start <= *at),
        });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use chatmill_testkit::conversations::read;
    use chatmill_testkit::samples::samples;

    use super::*;
    use crate::commands::render::settings;
    use crate::commands::show::rendering::{counter, rendered};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads a sample")]
    fn tokens_of_messages_and_components_add_up_to_those_of_the_tables() {
        let plan = settings(None, &[]).unwrap();
        let mut counter = counter();
        let path = samples().join("canonical/workroom.json");
        let linked = read("group-chat", &std::fs::read_to_string(path).unwrap());
        let everybody: Vec<Option<usize>> = (0..linked.conversation.participants.len()).map(Some).collect();
        let mut seen = 0;
        for id in [
            "openai-chat",
            "anthropic-messages",
            "gemini-contents",
            "chatml",
            "markdown",
            "group-chat",
        ] {
            let dialect = chatmill_dialect::find(id).unwrap();
            for rendered in rendered(&linked, &plan, dialect, &everybody, &mut counter) {
                let row = rendered.row();
                let starts = rendered.token_starts();
                assert_eq!(
                    starts.iter().map(|(_, tokens)| tokens).sum::<u64>(),
                    row.tokens,
                    "{id}"
                );
                let parts = rendered.components.iter().map(|(_, tokens)| tokens);
                assert_eq!(parts.sum::<u64>(), row.tokens, "{id}");
                let pieces = pieces(&rendered, RENDERING_BYTES);
                let text: String = pieces.shown.iter().map(|piece| piece.text.as_str()).collect();
                assert_eq!(text, rendered.content, "{id}");
                let of_messages: u64 = pieces.tokens.values().sum();
                assert!(
                    of_messages > 0 && of_messages <= row.tokens,
                    "{id}: {of_messages}"
                );
                seen += 1;
            }
        }
        assert!(seen > 10, "{seen}");
    }
}
