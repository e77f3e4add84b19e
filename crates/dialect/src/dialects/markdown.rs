//! Markdown: a conversation as a page for people, in constructs that every viewer of Markdown shows.
//!
//! ~~~text
//! # Desk
//!
//! **Ines** · 2026-03-02T09:00:00Z
//!
//! Is the reading room open on Saturday?
//!
//! **Desk** · assistant · 2026-03-02T09:01:00Z
//!
//! > **Ines:** Is the reading room open on Saturday?
//!
//! Yes, from ten to four.
//!
//! <details><summary>Call of opening_hours</summary>
//!
//! ```json
//! {"day":"saturday"}
//! ```
//!
//! </details>
//! ~~~
//!
//! It shows the record, without a perspective. The tags of `details` are the only HTML; texts of the chat are never read as markup
//! ([`markdown`](crate::text::markdown)). It is rendered only where it is named explicitly, because it is not for training.

use chatmill_diag::cut;
use chatmill_model::{Component, LinkStatus, Media, Message, Part, Role, Sink, Speaker, ToolResult};

use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::pairing::FoundResult;
use crate::messages::select::{self, SelectedMessages};
use crate::messages::system;
use crate::messages::text::{self, answered_in_words, declared_words, loss_of_words};
use crate::messages::unsupported::{
    self, NoPlace, Unsupported, declare_conversation_except, declare_messages,
};
use crate::naming::participants::speaker;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::text::edit::excerpt;
use crate::text::markdown::{fenced, has_blanks, has_hidden, html, line, paragraphs};
use crate::text::media::placeholder;
use crate::text::times::iso;
use crate::tools::forms;
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::view::View;
use crate::view::policy::{MediaPolicy, Reasoning, References};

/// Maximum number of characters in a quote.
const QUOTED: usize = 160;

/// Maximum number of characters of a text that are examined for a quote.
const LOOKED_AT: usize = 2_000;

/// Pages of Markdown.
pub(crate) static MARKDOWN: Dialect = Dialect::system(&ABOUT, loses, render);

static ABOUT: DialectAbout = DialectAbout {
    id: "markdown",
    title: "Markdown page",
    family: "transcript",
    media_type: "text/markdown",
    specification: "CommonMark, version 0.31.2",
    dated: "2024-01-28",
    carries: "title, text, names, times, quoted replies, notices, calls and results; thoughts if policy keeps them; media by name. For people, and never in [\"all\"]",
    profiles: &[&MARKDOWN],
    shows: Shows::Record,
    rules: Rules::None("every text is Markdown"),
};

/// The properties of messages that a page has no place for.
const LACKS: &[Unsupported] = &[
    Unsupported::MessageIds,
    Unsupported::Mentions,
    Unsupported::Extra,
    Unsupported::SenderNames,
];

/// Why a page has no place for parts of some kinds.
const NO_PLACE: NoPlace = NoPlace {
    tools: None,
    reasoning: Some(reasons::POLICY_DROPS_REASONING),
    notices: None,
    cache_marks: Some(reasons::FORMAT_HAS_NO_CACHE_MARKS),
};

fn loses() -> Vec<LossCode> {
    united(&[
        select::LOSES,
        forms::LOSES_ALL,
        unsupported::LOSES_FACTS,
        &unsupported::loses(LACKS),
        text::LOSES,
        reasons::MARKDOWN,
        &[
            LossCode::SystemDropped,
            LossCode::ReasoningDropped,
            LossCode::CacheMarkDropped,
            LossCode::MediaDropped,
            LossCode::MediaPlaceholder,
            LossCode::ReferenceDropped,
            LossCode::ReferenceUnresolved,
        ],
    ])
}

fn render<'a>(transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
    let view = transcript.view();
    let mut losses = Losses::default();
    let shown = SelectedMessages::choose(view, None, &mut losses, |_| true);
    forms::declare_dropped(view, &mut losses);
    system::declare_unplaced(view, &mut losses);
    declare_messages(view, &shown.messages, LACKS, &mut losses);
    let conversation = view.conversation();
    let facts = conversation.title.iter().chain(&conversation.description);
    declare_conversation_except(view, facts.count() as u64, &mut losses);
    let mut page = MarkdownWriter {
        transcript,
        losses,
        is_empty: true,
        sink,
    };
    if let Some(title) = conversation
        .title
        .as_deref()
        .map(line)
        .filter(|title| !title.is_empty())
    {
        page.block(format!("# {title}"), Component::Meta);
    }
    if let Some(description) = &conversation.description {
        page.block(paragraphs(description), Component::Meta);
    }
    let mut progress = Progress::default();
    for message in shown.messages {
        if message.role == Role::System && !system::keeps(view.policy.system, message, &mut page.losses) {
            continue;
        }
        page.message(message);
        progress.rendered(message.position, message.role.as_str());
    }
    let losses = page.losses;
    sink.set_speaker(Speaker::Other);
    sink.framing("\n");
    progress.finish(shown.extent, losses, Vec::new())
}

/// The page that is being written.
struct MarkdownWriter<'p, 'a> {
    transcript: &'p Transcript<'a>,
    losses: Losses,
    is_empty: bool,
    sink: &'p mut Sink<'a>,
}

impl<'a> MarkdownWriter<'_, 'a> {
    /// Writes a block after an empty line.
    fn block(&mut self, text: String, component: Component) {
        self.separate();
        self.sink.literal(text, component);
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_empty) {
            self.sink.framing("\n\n");
        }
    }

    fn message(&mut self, message: &'a Message) {
        let view = self.transcript.view();
        self.sink.answer(Speaker::Other, Some(message.position));
        self.head(message);
        self.replies(message);
        self.sink.answer(view.speaker(message), Some(message.position));
        for (index, part) in message.own_parts() {
            self.part(message, index, part);
        }
    }

    /// Writes who speaks, in which role, and when.
    fn head(&mut self, message: &'a Message) {
        let view = self.transcript.view();
        let name = speaker(view, message).map(line).filter(|name| !name.is_empty());
        self.separate();
        self.sink.framing("**");
        match &name {
            Some(name) => self.sink.literal(name.clone(), Component::Names),
            None => self.sink.framing(message.role.as_str()),
        }
        self.sink.framing("**");
        let is_plain = name.is_none() || message.role == Role::User;
        for (word, is_new) in [
            (message.role.as_str(), !is_plain),
            ("notice", !View::is_turn(message)),
        ] {
            if is_new {
                self.sink.framing(" · ");
                self.sink.framing(word);
            }
        }
        if let Some(time) = &message.timestamp {
            self.sink.framing(" · ");
            self.sink.literal(line(&iso(time)), Component::Meta);
        }
    }

    /// Writes the messages that a message answers, one on each line.
    fn replies(&mut self, message: &'a Message) {
        let (view, position) = (self.transcript.view(), message.position);
        for (reference, link) in view.references(message) {
            let target = link.target.and_then(|target| view.message(target));
            let preview = reference.preview.as_ref();
            let (name, words) = match (link.status, target, preview) {
                (LinkStatus::Pseudo, ..) => {
                    self.losses.at(reasons::NOBODY_REPLIED, position);
                    continue;
                }
                _ if view.policy.references == References::Drop => {
                    self.losses.at(reasons::POLICY_DROPS_REPLIES, position);
                    continue;
                }
                (_, Some(target), _) => (speaker(view, target), target.texts().next()),
                (_, None, Some(preview)) => (
                    preview.sender_name.as_deref().or(preview.sender.as_deref()),
                    preview.content.as_deref(),
                ),
                (_, None, None) => (None, None),
            };
            if name.is_none() && words.is_none() {
                self.losses.at(reasons::REFERENCE_IS_NOT_THERE, position);
                continue;
            }
            self.losses.at(reasons::REPLY_IS_QUOTED_ON_A_LINE, position);
            let words = words.unwrap_or_default();
            let (words, is_cut) = excerpt(&cut::beginning(words, LOOKED_AT), QUOTED);
            let name = line(name.unwrap_or_default());
            let name = if name.is_empty() {
                name
            } else {
                format!("**{name}:** ")
            };
            let more = if is_cut { "…" } else { "" };
            self.block(format!("> {name}{}{more}", line(&words)), Component::Replies);
        }
    }

    fn part(&mut self, message: &'a Message, index: usize, part: &'a Part) {
        let (view, position) = (self.transcript.view(), message.position);
        match part {
            Part::ToolCall(call) => {
                let name = call.name.as_deref().unwrap_or("a tool without a name");
                self.losses.several(
                    reasons::CALL_IDS_ARE_FOR_PROGRAMS,
                    position,
                    u64::from(call.known_id().is_some()),
                );
                let words = fenced(call.arguments.source_text(), "json");
                self.folded(&format!("Call of {}", html(name)), words, Component::Tools);
                self.declare(call.arguments.source_text(), false, position);
            }
            Part::ToolResult(result) => self.result(message, index, result),
            Part::Reasoning(thought) if view.policy.reasoning == Reasoning::Keep => {
                if !thought.is_empty() {
                    self.folded("Thought", paragraphs(thought), Component::Content);
                    self.declare(thought, true, position);
                }
            }
            Part::Notice(text) => self.text(text, position),
            Part::Media(media) => self.media(message, part, media),
            part => match declared_words(view, message, part, &mut self.losses) {
                Some(words) => self.text(&words, position),
                None => NO_PLACE.declare(part, position, &mut self.losses),
            },
        }
    }

    fn text(&mut self, text: &str, position: u32) {
        if !text.is_empty() {
            self.block(paragraphs(text), Component::Content);
            self.declare(text, true, position);
        }
    }

    fn media(&mut self, message: &'a Message, part: &'a Part, media: &'a Media) {
        let (view, position) = (self.transcript.view(), message.position);
        if let Some(words) = declared_words(view, message, part, &mut self.losses) {
            self.text(&words, position);
        } else if view.policy.media == MediaPolicy::Drop {
            self.losses.at(reasons::POLICY_DROPS_MEDIA, position);
        } else {
            self.losses
                .at((loss_of_words(media), reasons::MEDIUM_IS_NAMED), position);
            self.block(line(&placeholder(media)), Component::Content);
        }
    }

    fn result(&mut self, message: &'a Message, index: usize, result: &'a ToolResult) {
        let answer = FoundResult {
            message,
            result,
            part: index as u32,
        };
        let words = answered_in_words(self.transcript.view(), answer, &mut self.losses);
        let name = result.name.as_deref().map(html).filter(|name| !name.is_empty());
        let name = name.map_or_else(String::new, |name| format!(" of {name}"));
        let failed = if result.is_error { ", failed" } else { "" };
        self.losses.several(
            reasons::CALL_IDS_ARE_FOR_PROGRAMS,
            message.position,
            u64::from(result.known_id().is_some()),
        );
        self.folded(
            &format!("Result{name}{failed}"),
            fenced(&words, ""),
            Component::Tools,
        );
        self.declare(&words, false, message.position);
    }

    /// Writes a block that is closed until a reader opens it.
    fn folded(&mut self, title: &str, words: String, component: Component) {
        self.separate();
        self.sink.framing("<details><summary>");
        self.sink.literal(title.to_owned(), Component::Tools);
        self.sink.framing("</summary>\n\n");
        self.sink.literal(words, component);
        self.sink.framing("\n\n</details>");
    }

    /// Declares the characters of a text that Markdown shows differently.
    fn declare(&mut self, text: &str, has_lines: bool, position: u32) {
        if has_hidden(text) {
            self.losses.at(reasons::HIDDEN_SIGNS_ARE_ESCAPES, position);
        }
        if text.contains("\r\n") || has_lines && has_blanks(text) {
            self.losses.at(reasons::BLANKS_ARE_WRITTEN_OUT, position);
        }
    }
}
