//! gryag's compact transcript (document of 2025-10-17), one line per message.
//!
//! ```text
//! Alice#654321: Як справи, гряг?
//! gryag: Не набридай.
//! Bob#222333 → gryag: А що тут відбувається?
//! [RESPOND]
//! ```
//!
//! A label is the name and the last six digits of the id; the bot has its name alone. An arrow names whom a line answers.
//! A line break in a text would forge a line, so it becomes a space. Two people whose labels are equal get a letter.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{
    Component, Level, LinkStatus, Media, MediaKind, Message, Part, Participant, Role, Rope, Voice,
};

use crate::Dialect;
use crate::about::About;
use crate::loss::{LossCode, Losses};
use crate::media::{placeholder, word};
use crate::names::{Roster, own_name};
use crate::nature::{Lack, Shown, declare_conversation, declare_messages};
use crate::policy::MediaPolicy;
use crate::progress::Progress;
use crate::rendering::Rendering;
use crate::said::said_declared;
use crate::text::{change, on_one_line};
use crate::view::View;

/// The dialect of gryag's compact prompts.
pub struct GryagCompact;

static ABOUT: About = About {
    title: "gryag compact transcript",
    family: "transcript",
    media_type: "text/plain",
    specification: "gryag, CURRENT_CONVERSATION_PATTERN, compact plain text format",
    dated: "2025-10-17",
    carries: "text, names with short ids, whom a line answers, kinds of media",
    loses: "line breaks, ids, times, tools, system text, media",
    profiles: &["document"],
    neutral: false,
};

impl Dialect for GryagCompact {
    fn id(&self) -> &'static str {
        "gryag-compact"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        let mut losses = Losses::default();
        let shown = Shown::choose(view, None, &mut losses, |message| {
            View::is_turn(message) && matches!(message.role, Role::User | Role::Assistant)
        });
        declare_unspoken(view, shown.first, &mut losses);
        declare_conversation(view, &mut losses);
        declare_messages(
            view,
            &shown.messages,
            &[
                Lack::MessageIds,
                Lack::Times,
                Lack::Mentions,
                Lack::Extra,
                Lack::SenderNames,
            ],
            &mut losses,
        );
        let mut writer = Writer {
            view,
            labels: Labels::new(view, &mut losses),
            rope: Rope::new(),
            losses,
            progress: Progress::default(),
        };
        for message in &shown.messages {
            writer.line(message);
        }
        writer.rope.speak(Voice::Other);
        writer.rope.framing("[RESPOND]");
        emit(
            writer
                .progress
                .finish(writer.rope, shown.coverage, writer.losses, Vec::new()),
        );
    }
}

/// Declares the messages that a transcript of speech has no line for.
fn declare_unspoken(view: &View<'_>, first: u32, losses: &mut Losses) {
    for message in view.conversation().messages.iter().skip(first as usize) {
        if !View::is_turn(message) {
            continue;
        }
        let (code, reason) = match message.role {
            Role::System => (LossCode::SystemDropped, "the transcript has no system text"),
            Role::Tool => (LossCode::ToolResultDropped, "the transcript has no tools"),
            Role::User | Role::Assistant => continue,
        };
        losses.at(code, message.position, reason);
    }
    losses.everywhere(
        LossCode::ToolDefinitionDropped,
        view.conversation().tools.len() as u64,
        "the transcript has no tools",
    );
}

/// What stands for each participant.
struct Labels<'a> {
    /// By index.
    labels: Vec<String>,
    roster: Roster<'a>,
}

impl<'a> Labels<'a> {
    fn new(view: &View<'a>, losses: &mut Losses) -> Self {
        let roster = &view.conversation().participants;
        let mut labels: Vec<String> = Vec::with_capacity(roster.len());
        let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut cleaned = 0;
        for (index, participant) in roster.iter().enumerate() {
            let name = own_name(participant).unwrap_or("User");
            let mut label = clean(name);
            cleaned += u64::from(label != name);
            if label.is_empty() {
                "User".clone_into(&mut label);
            }
            if view.perspective != Some(index) {
                label.push('#');
                label.push_str(&short_id(&participant.id));
                alike.entry(label.clone()).or_default().push(index);
            }
            labels.push(label);
        }
        losses.everywhere(
            LossCode::NameCleaned,
            cleaned,
            "names lose the signs that the transcript reads as its own",
        );
        let mut taken: BTreeSet<String> = labels.iter().cloned().collect();
        for mut people in alike.into_values().filter(|people| people.len() > 1) {
            people.sort_by_key(|index| roster.get(*index).map(order));
            let mut letters = 0;
            for index in people {
                let Some(label) = labels.get_mut(index) else {
                    continue;
                };
                let mut suffixed;
                loop {
                    suffixed = format!("{label}{}", letter(letters));
                    letters += 1;
                    if taken.insert(suffixed.clone()) {
                        break;
                    }
                }
                *label = suffixed;
            }
        }
        Self {
            labels,
            roster: Roster::of(view),
        }
    }

    /// The label of the participant with an id.
    fn of_id(&self, id: &str) -> Option<&str> {
        self.labels.get(self.roster.find(id)?).map(String::as_str)
    }

    /// The label of a message's sender.
    fn of(&self, message: &Message) -> String {
        if let Some(label) = message.sender.and_then(|sender| self.labels.get(sender)) {
            return label.clone();
        }
        let name = clean(message.sender_name.as_deref().unwrap_or_default());
        let name = if name.is_empty() { "Unknown" } else { &name };
        format!("{name}#")
    }
}

/// A name without the signs that have a meaning in a line.
fn clean(name: &str) -> String {
    on_one_line(name)
        .replace([':', '→', '[', ']'], "")
        .trim()
        .to_owned()
}

/// The last six digits of a number; another id as it is.
fn short_id(id: &str) -> String {
    let digits = id.strip_prefix('-').unwrap_or(id);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return clean(id);
    }
    let start = digits.len().saturating_sub(6);
    digits.get(start..).unwrap_or(digits).to_owned()
}

/// Ascending ids: numbers by value, before everything else.
fn order(participant: &Participant) -> (bool, i128, String) {
    match participant.id.parse::<i128>() {
        Ok(number) => (false, number, String::new()),
        Err(_) => (true, 0, participant.id.clone()),
    }
}

/// a, b, …, z, aa, ab, …
fn letter(mut index: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (index % 26) as u8));
        if index < 26 {
            break;
        }
        index = index / 26 - 1;
    }
    letters.iter().rev().collect()
}

struct Writer<'v, 'a> {
    view: &'v View<'a>,
    labels: Labels<'a>,
    rope: Rope<'a>,
    losses: Losses,
    progress: Progress,
}

impl<'a> Writer<'_, 'a> {
    fn line(&mut self, message: &'a Message) {
        let content = self.content(message);
        let Some(content) = content else {
            return;
        };
        let is_own = self.view.is_own(message);
        let role = if is_own { "assistant" } else { "user" };
        if role != message.role.as_str() {
            self.losses.at(
                LossCode::RoleMapped,
                message.position,
                "only the perspective is the bot",
            );
        }
        self.rope
            .speak(if is_own { Voice::Perspective } else { Voice::Other });
        self.rope.literal(self.labels.of(message), Component::Names);
        self.arrow(message, is_own);
        self.rope.framing(": ");
        for (index, text) in content.into_iter().enumerate() {
            if index > 0 {
                self.rope.framing(" ");
            }
            self.rope.content(text, Level::Raw, Component::Content);
        }
        self.rope.framing("\n");
        self.progress.said(message.position, role);
    }

    /// The texts and media words of a line; none when the message only uses tools.
    fn content(&mut self, message: &'a Message) -> Option<Vec<Cow<'a, str>>> {
        let position = message.position;
        let mut content = Vec::new();
        let mut used_tools = false;
        let mut texts = 0_u64;
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    let text = said_declared(self.view, message, text, &mut self.losses);
                    let line = change(text, on_one_line);
                    if matches!(&line, Cow::Owned(_)) {
                        self.declare_breaks(message);
                    }
                    if !line.is_empty() {
                        texts += 1;
                        content.push(line);
                    }
                }
                Part::Media(media) => content.extend(self.media(media, position)),
                Part::ToolCall(_) => {
                    used_tools = true;
                    self.losses
                        .at(LossCode::ToolCallDropped, position, "the transcript has no tools");
                }
                Part::ToolResult(_) => {
                    used_tools = true;
                    self.losses.at(
                        LossCode::ToolResultDropped,
                        position,
                        "the transcript has no tools",
                    );
                }
                Part::Reasoning(_) => self.losses.at(
                    LossCode::ReasoningDropped,
                    position,
                    "the transcript has no reasoning",
                ),
                Part::Notice(_) => {
                    self.losses
                        .at(LossCode::NoticeDropped, position, "the transcript has no notices");
                }
                Part::CacheMark => self.losses.at(
                    LossCode::CacheMarkDropped,
                    position,
                    "the transcript has no cache marks",
                ),
            }
        }
        self.losses.several(
            LossCode::PartFlattened,
            position,
            texts.saturating_sub(1),
            "texts are joined into one line",
        );
        if content.is_empty() {
            if used_tools {
                return None;
            }
            self.losses
                .at(LossCode::EmptyFilled, position, "a line without content says so");
            content.push(Cow::Borrowed("(no content)"));
        }
        Some(content)
    }

    fn declare_breaks(&mut self, message: &Message) {
        let has_breaks = message
            .texts()
            .any(|text| matches!(on_one_line(text), Cow::Owned(_)));
        if has_breaks {
            self.losses.at(
                LossCode::NewlineReplaced,
                message.position,
                "a line break would forge a line",
            );
        }
    }

    fn media(&mut self, media: &'a Media, position: u32) -> Option<Cow<'a, str>> {
        if self.view.policy.media == MediaPolicy::Drop {
            self.losses
                .at(LossCode::MediaDropped, position, "policy drops media");
            return None;
        }
        self.losses.at(
            LossCode::MediaPlaceholder,
            position,
            "the transcript names the kind of a medium",
        );
        Some(match media.kind {
            MediaKind::File | MediaKind::Link => Cow::Owned(on_one_line(&placeholder(media)).into_owned()),
            kind => Cow::Owned(format!("[{}]", word(kind))),
        })
    }

    /// Whom the line answers.
    fn arrow(&mut self, message: &'a Message, is_own: bool) {
        let mut has_arrow = false;
        for (reference, link) in self.view.references(message) {
            let label = match link.status {
                LinkStatus::Resolved => link
                    .target
                    .and_then(|target| self.view.message(target))
                    .filter(|target| target.sender.is_some() || target.sender_name.is_some())
                    .map(|target| self.labels.of(target)),
                LinkStatus::Preview => {
                    let sender = reference
                        .preview
                        .as_ref()
                        .and_then(|preview| preview.sender.as_deref());
                    sender.and_then(|id| self.labels.of_id(id)).map(str::to_owned)
                }
                _ => None,
            };
            let (code, reason) = match label {
                None => (
                    LossCode::ReferenceUnresolved,
                    "nobody is known to have been answered",
                ),
                Some(_) if is_own => (LossCode::ReferenceDropped, "the bot's own lines have no arrow"),
                Some(_) if has_arrow => (LossCode::ReferenceDropped, "a line has one arrow"),
                Some(label) => {
                    has_arrow = true;
                    self.rope.literal(" → ", Component::Replies);
                    self.rope.literal(label, Component::Replies);
                    continue;
                }
            };
            self.losses.at(code, message.position, reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_the_last_six_digits_or_the_id_itself() {
        for (id, short) in [
            ("123456789", "456789"),
            ("1000000", "000000"),
            ("-1001234567", "234567"),
            ("123", "123"),
            ("user_101", "user_101"),
            ("a:b [c]", "ab c"),
        ] {
            assert_eq!(short_id(id), short);
        }
    }

    #[test]
    fn names_lose_the_signs_of_a_line() {
        for (name, label) in [
            ("Alice\nBob", "Alice Bob"),
            ("[]", ""),
            ("  x  ", "x"),
            ("a#b", "a#b"),
            ("A→B: [x]", "AB x"),
        ] {
            assert_eq!(clean(name), label);
        }
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!(letter(0), "a");
        assert_eq!(letter(25), "z");
        assert_eq!(letter(26), "aa");
        assert_eq!(letter(52), "ba");
    }
}
