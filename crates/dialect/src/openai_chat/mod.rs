//! OpenAI Chat Completions: the messages and tools of a request (rules OAC-01 to OAC-09 of research/dialects.md).
//!
//! ```json
//! {"messages":[{"role":"user","name":"Alice","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! The perspective is the assistant and everybody else a user. Results stand directly behind their call; calls and results
//! of other agents are text of a user turn. Replies are quoted in user turns only, or the assistant would learn to print
//! quotes.

mod assistant;
mod ids;
mod names;
mod user;

use std::borrow::Cow;

use chatmill_model::{Component, Level, Message, Part, RawJson, Role, Rope, ToolResult, Voice};

use crate::about::About;
use crate::loss::{LossCode, Losses};
use crate::media::placeholder;
use crate::names::Aliases;
use crate::nature::{Lack, Shown, declare_conversation, declare_messages};
use crate::policy::MediaPolicy;
use crate::progress::Progress;
use crate::rendering::Rendering;
use crate::said::said_declared;
use crate::tools::{MISSING_RESULT, result_as_text};
use crate::turns::{Step, arrange};
use crate::view::View;
use crate::{Dialect, system};

use ids::CallIds;

/// The dialect of Chat Completions requests.
pub struct OpenaiChat;

static ABOUT: About = About {
    title: "OpenAI Chat Completions",
    family: "openai-chat",
    media_type: "application/json",
    specification: "research/dialects.md section 3.1, OpenAPI document 2.3.0",
    dated: "2026-08-01",
    carries: "text, names of users, tools, pictures with a web address, quoted replies",
    loses: "ids, times, notices, reasoning, other media, facts about people and rooms",
    profiles: &["document"],
    neutral: false,
};

impl Dialect for OpenaiChat {
    fn id(&self) -> &'static str {
        "openai-chat"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        let mut losses = Losses::default();
        let shown = Shown::choose(view, None, &mut losses, View::is_turn);
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
        let turns = arrange(view, &shown.messages, &mut losses);
        let conversation = view.conversation();
        let mut writer = Writer {
            view,
            active: view
                .perspective
                .and_then(|index| conversation.participants.get(index))
                .map(|participant| participant.id.as_str()),
            ids: CallIds::new(view, &shown.messages, &mut losses),
            aliases: Aliases::new(&conversation.participants),
            named: vec![0; conversation.participants.len()],
            unnamed_own: 0,
            rope: Rope::new(),
            losses,
            progress: Progress::default(),
        };
        writer.rope.framing("{\"messages\":[");
        writer.instructions();
        for step in turns.steps {
            writer.step(step);
        }
        writer.rope.framing("]");
        writer.tools(&conversation.tools);
        writer.rope.framing("}");
        writer.declare_names();

        let mut violations: Vec<String> = turns
            .faults
            .iter()
            .map(|fault| format!("OAC-06: {fault}"))
            .collect();
        if writer.progress.is_silent() {
            violations.push("OAC-02: no message is left".to_owned());
        }
        emit(
            writer
                .progress
                .finish(writer.rope, shown.coverage, writer.losses, violations),
        );
    }
}

struct Writer<'v, 'a> {
    view: &'v View<'a>,
    active: Option<&'a str>,
    ids: CallIds<'a>,
    aliases: Aliases<'a>,
    /// Messages of each participant whose alias was written.
    named: Vec<u64>,
    /// Messages of the perspective whose name was not written.
    unnamed_own: u64,
    rope: Rope<'a>,
    losses: Losses,
    progress: Progress,
}

impl<'a> Writer<'_, 'a> {
    fn open(&mut self, role: &'static str) {
        self.rope.speak(Voice::Other);
        if !self.progress.is_silent() {
            self.rope.framing(",");
        }
        self.rope.framing(role);
    }

    fn close(&mut self, end: &'static str) {
        self.rope.framing(end);
        self.rope.speak(Voice::Other);
    }

    fn instructions(&mut self) {
        if let Some(text) = system::instructions(self.view, &mut self.losses) {
            self.open("{\"role\":\"system\",\"content\":");
            self.rope.json_string(text, Component::Content);
            self.close("}");
            self.progress.added("system");
        }
    }

    fn step(&mut self, step: Step<'a>) {
        match step {
            Step::Say { message, calls } => match message.role {
                Role::System => self.system(message),
                _ if self.view.is_own(message) => self.assistant(message, &calls),
                _ => self.user(message),
            },
            Step::Answer {
                call,
                message,
                result,
            } => {
                self.tool(self.ids.of(call.place), result);
                self.progress.said(message.position, "tool");
            }
            Step::Loose { message, result } => {
                let id = result.call_id.as_deref().unwrap_or_default();
                self.tool(Cow::Borrowed(id), result);
                self.progress.said(message.position, "tool");
            }
            Step::Missing { call } => {
                self.open("{\"role\":\"tool\",\"tool_call_id\":");
                self.rope.json_string(self.ids.of(call.place), Component::Meta);
                self.rope.framing(",\"content\":");
                self.rope.json_string(MISSING_RESULT, Component::Tools);
                self.close("}");
                self.progress.added("tool");
            }
            Step::Inline {
                message,
                result,
                caller,
            } => self.inline(message, result, caller),
        }
    }

    fn system(&mut self, message: &'a Message) {
        if !system::keeps(self.view, message, &mut self.losses) {
            return;
        }
        if let Some(texts) = self.plain_texts(message) {
            self.open("{\"role\":\"system\",\"content\":\"");
            self.write_texts(texts);
            self.close("\"}");
            self.progress.said(message.position, "system");
        }
    }

    fn tool(&mut self, id: Cow<'a, str>, result: &'a ToolResult) {
        self.open("{\"role\":\"tool\",\"tool_call_id\":");
        self.rope.json_string(id, Component::Meta);
        self.rope.framing(",\"content\":");
        self.rope.json_string(result.content.as_str(), Component::Tools);
        self.close("}");
    }

    /// A result as text of a user turn of its own.
    fn inline(&mut self, message: &'a Message, result: &'a ToolResult, caller: Option<usize>) {
        // A user turn must not go by the assistant's name.
        let speaker = caller.or(message.sender.filter(|_| !self.view.is_own(message)));
        self.open("{\"role\":\"user\"");
        self.name_field(speaker);
        self.rope.framing(",\"content\":\"");
        self.name_prefix(speaker, message);
        result_as_text(&mut self.rope, result, Level::JsonString);
        self.close("\"}");
        self.progress.said(message.position, "user");
    }

    /// The texts of a turn that may hold nothing but text; none when nothing is left to say, which is declared.
    fn plain_texts(&mut self, message: &'a Message) -> Option<Vec<Cow<'a, str>>> {
        self.texts_beside(message, false)
    }

    fn texts_beside(&mut self, message: &'a Message, says_more: bool) -> Option<Vec<Cow<'a, str>>> {
        let position = message.position;
        let mut texts = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    texts.push(said_declared(self.view, message, text, &mut self.losses));
                }
                Part::Media(media) => {
                    if self.view.policy.media == MediaPolicy::Drop {
                        self.losses
                            .at(LossCode::MediaDropped, position, "policy drops media");
                        continue;
                    }
                    self.losses.at(
                        LossCode::MediaPlaceholder,
                        position,
                        "OAC-03: this role holds text only",
                    );
                    texts.push(Cow::Owned(placeholder(media)));
                }
                other => self.declare_unsaid(other, position),
            }
        }
        texts.retain(|text| !text.is_empty());
        if texts.is_empty() {
            if !says_more {
                self.losses
                    .at(LossCode::EmptyDropped, position, "the message says nothing");
            }
            return None;
        }
        self.losses.several(
            LossCode::PartFlattened,
            position,
            texts.len() as u64 - 1,
            "texts are joined into one",
        );
        Some(texts)
    }

    fn write_texts(&mut self, texts: Vec<Cow<'a, str>>) {
        for (index, text) in texts.into_iter().enumerate() {
            if index > 0 {
                self.rope.content("\n", Level::JsonString, Component::Framing);
            }
            self.rope.content(text, Level::JsonString, Component::Content);
        }
    }

    /// Declares a part that no turn here holds; calls and results are said elsewhere.
    fn declare_unsaid(&mut self, part: &Part, position: u32) {
        let (code, reason) = match part {
            Part::Reasoning(_) => (
                LossCode::ReasoningDropped,
                "the messages have no place for reasoning",
            ),
            Part::Notice(_) => (LossCode::NoticeDropped, "the messages have no notices"),
            Part::CacheMark => (LossCode::CacheMarkDropped, "the messages have no cache marks"),
            Part::Text(_) | Part::Media(_) | Part::ToolCall(_) | Part::ToolResult(_) => return,
        };
        self.losses.at(code, position, reason);
    }

    fn tools(&mut self, tools: &'a [RawJson]) {
        if tools.is_empty() {
            return;
        }
        self.rope.framing(",\"tools\":[");
        for (index, tool) in tools.iter().enumerate() {
            if index > 0 {
                self.rope.framing(",");
            }
            self.rope.raw_json(tool.as_str(), Component::Tools);
        }
        self.rope.framing("]");
    }
}
