//! Builds the first draft of the turns: each message becomes a turn, each part a block, and each result a separate turn.
//!
//! [`Transcript::draft`] calls it. Ids, names and arguments of blocks are empty until passes set them.

use std::collections::BTreeSet;

use chatmill_model::{Component, Media, MediaKind, MediaSource, Message, Part, Role};

use super::Transcript;
use crate::loss::reasons;
use crate::messages::order::Order;
use crate::messages::pairing::{Call, FoundResult, Step};
use crate::messages::quote::{Brevity, Quoted, Style, Wordless, quotes};
use crate::messages::system::SystemText;
use crate::messages::text::{answered, answered_in_words, declared_text};
use crate::messages::wording::DOCUMENT;
use crate::naming::participants::is_nobody;
use crate::text::media::placeholder;
use crate::text::run::{TextRun, is_blank_character};
use crate::tools::as_text::{MISSING_RESULT, call_words, result_words};
use crate::transcript::turns::{
    Block, BlockContent, CallBlock, Kinds, QuotedName, ResultBlock, Turn, TurnPlan, Wording,
};
use crate::view::View;
use crate::view::policy::References;
use crate::view::trained::TrainedMessages;

/// Builds the turns of a transcript's messages in an order.
pub(super) fn draft<'a>(transcript: &Transcript<'a>, order: Order) -> TurnPlan<'a> {
    let shown = transcript.shown();
    let mut plan = TurnPlan {
        losses: shown.losses.clone(),
        extent: shown.extent,
        trained: TrainedMessages::of(transcript.view(), &shown.messages),
        separator: transcript.view().policy.separator.as_str(),
        ..TurnPlan::default()
    };
    let arranged = order.arrange(transcript.view(), &shown.messages, &mut plan.losses);
    plan.rejected = arranged.rejected;
    plan.turns.reserve(arranged.steps.len());
    plan.blocks.reserve(arranged.steps.len());
    plan.words.reserve(arranged.steps.len());
    let system = SystemText::of(transcript.view(), &shown.messages, &mut plan.losses);
    let shown_at = arranged.steps.iter().filter_map(Step::message_position);
    let mut builder = PlanBuilder {
        transcript,
        plan,
        system,
        shown_at: shown_at.collect(),
        quoted: Quoted::new(&DOCUMENT, transcript.arena()),
    };
    builder.add_system_text();
    for step in arranged.steps {
        builder.step(step);
    }
    builder.plan
}

/// Returns the address of a link without a name. In a dialect without links, the address is written instead of a placeholder.
fn address(media: &Media) -> Option<&str> {
    match (&media.source, media.name.as_deref()) {
        (MediaSource::Url(url), None | Some("")) if media.kind == MediaKind::Link => Some(url),
        _ => None,
    }
}

struct PlanBuilder<'t, 'a> {
    transcript: &'t Transcript<'a>,
    plan: TurnPlan<'a>,
    system: SystemText,
    /// Positions of the messages of users and agents that have a turn: where policy wants that, quotes of them are shorter.
    shown_at: BTreeSet<u32>,
    quoted: Quoted<'a>,
}

impl<'a> PlanBuilder<'_, 'a> {
    /// Adds a turn for each system text that is not a message of the source, such as the prompt of the pipeline.
    fn add_system_text(&mut self) {
        for text in std::mem::take(&mut self.system.added) {
            let start = self.plan.blocks.len();
            let text = self.transcript.arena().keep(text);
            self.words(
                Wording::Text,
                [TextRun::new(text, Component::Content)],
                None,
                Role::System,
            );
            self.plan.close(Turn::new(Role::System, None), start);
        }
    }

    /// Adds the turn of a message or of a result.
    fn step(&mut self, step: Step<'a>) {
        match step {
            Step::Message { message, calls } => self.message(message, &calls),
            Step::Answer(call, answer) => {
                let FoundResult { message, result, .. } = answer;
                if result.name.is_some() && result.name != call.call.name {
                    let losses = &mut self.plan.losses;
                    losses.at(reasons::RESULT_NAMES_ANOTHER_TOOL, message.position);
                }
                self.result(Some(call), Some(answer));
            }
            Step::Loose(answer) => self.result(None, Some(answer)),
            Step::Missing(call) => self.result(Some(call), None),
            Step::Inline(answer, caller) => self.inline(answer, caller),
        }
    }

    fn message(&mut self, message: &'a Message, calls: &[Call<'a>]) {
        let view = self.transcript.view();
        let position = message.position;
        let losses = &mut self.plan.losses;
        let mut turn = Turn::new(Role::System, Some(position));
        if message.role == Role::System {
            if !self.system.keeps(message, losses) {
                return;
            }
        } else if view.is_own(message) {
            turn.role = Role::Assistant;
            if message.role != Role::Assistant {
                losses.at(reasons::PERSPECTIVE_IS_THE_ASSISTANT, position);
            }
            let references = message.references.len() as u64;
            losses.several(reasons::ASSISTANT_WOULD_PRINT_QUOTES, position, references);
        } else {
            turn.role = Role::User;
            turn.sender = message.sender;
            if message.role != Role::User {
                losses.at(reasons::OTHERS_ARE_USERS, position);
            }
        }
        let start = self.plan.blocks.len();
        self.parts(message, turn.role, calls);
        if turn.role == Role::User {
            self.quotes(message);
        }
        self.plan.close(turn, start);
    }

    fn parts(&mut self, message: &'a Message, role: Role, calls: &[Call<'a>]) {
        let position = message.position;
        let mut calls = calls.iter().peekable();
        for (index, part) in message.parts_without_results() {
            let content = match part {
                Part::Text(text) => {
                    self.text(message, text, role);
                    continue;
                }
                Part::ToolCall(call) if role == Role::User => {
                    self.plan.losses.at(reasons::FOREIGN_CALL_AS_TEXT, position);
                    self.words(Wording::ToolUse, call_words(call), Some(position), role);
                    continue;
                }
                Part::ToolCall(_) => {
                    let place = View::place(message, index);
                    let Some(call) = calls.next_if(|call| call.place == place) else {
                        continue;
                    };
                    self.plan.kinds.add(Kinds::CALLS);
                    BlockContent::Call(CallBlock {
                        place,
                        call: call.call,
                        id: "",
                        name: "",
                        arguments: "",
                        item: None,
                    })
                }
                Part::ToolResult(_) => continue,
                Part::Media(media) => self.medium(media),
                Part::Reasoning(thought) => {
                    self.plan.kinds.add(Kinds::REASONING);
                    BlockContent::Reasoning(thought)
                }
                Part::Notice(_) => {
                    self.plan.kinds.add(Kinds::NOTICES);
                    BlockContent::Notice
                }
                Part::Item(item) => {
                    self.plan.kinds.add(Kinds::ITEMS);
                    BlockContent::Item(item)
                }
                Part::CacheMark => {
                    self.plan.kinds.add(Kinds::CACHE_MARKS);
                    BlockContent::CacheMark
                }
            };
            self.plan.blocks.push(Block::new(content, Some(position), role));
        }
    }

    /// Returns the block of a medium, with the words for dialects that cannot carry it.
    fn medium(&mut self, media: &'a Media) -> BlockContent<'a> {
        self.plan.kinds.add(Kinds::MEDIA);
        let name = match address(media) {
            Some(address) => address,
            None => self.transcript.arena().keep(placeholder(media)),
        };
        let name = self.plan.wording([TextRun::new(name, Component::Content)]);
        BlockContent::Media(media, name)
    }

    fn text(&mut self, message: &'a Message, text: &'a str, role: Role) {
        let text = declared_text(self.transcript.view(), message, text, &mut self.plan.losses);
        let text = self.transcript.arena().keep(text);
        if text.is_empty() {
            return;
        }
        if text.chars().all(is_blank_character) {
            self.plan.kinds.add(Kinds::BLANK);
        }
        let words = [TextRun::new(text, Component::Content)];
        self.words(Wording::Text, words, Some(message.position), role);
    }

    /// Adds the quotes of a message's references.
    fn quotes(&mut self, message: &'a Message) {
        if message.references.is_empty() {
            return;
        }
        let (transcript, position) = (self.transcript, message.position);
        let view = transcript.view();
        let losses = &mut self.plan.losses;
        if view.policy.references == References::Drop {
            let references = message.references.len() as u64;
            return losses.several(reasons::POLICY_DROPS_REPLIES, position, references);
        }
        let brevity = match view.policy.references {
            References::Excerpt => Some(Brevity::Excerpt),
            References::Mark => Some(Brevity::Mark),
            References::Quote | References::Drop => None,
        };
        let shown_at = &self.shown_at;
        let is_shown = |position: u32| shown_at.contains(&position);
        let style = Style {
            shown: brevity.map(|brevity| (brevity, &is_shown as _)),
            quoted: &self.quoted,
            wordless: Wordless::LeftOut,
            aliases: Some(transcript.aliases()),
            namesakes: Some(transcript.namesakes()),
            is_own: None,
        };
        let participants = &view.conversation().participants;
        let active = view.perspective.and_then(|index| participants.get(index));
        let active = active.map(|participant| participant.id.as_str());
        for mut quote in quotes(style, view, transcript.roster(), message, active, losses) {
            if quote.is_preview {
                let losses = &mut self.plan.losses;
                quote.declare_losses(position, losses);
                losses.several(
                    reasons::QUOTED_MEDIA_ARE_NOT_REPEATED,
                    position,
                    u64::from(quote.medium.is_some()),
                );
            }
            let arena = transcript.arena();
            let number = self.plan.quotes.len();
            self.plan.quotes.push(QuotedName {
                is_cleaned: quote.is_preview && quote.is_head_cleaned,
                aliased: quote.aliased.take().map(|(head, at)| (arena.keep(head), at)),
            });
            let words = quote
                .words()
                .map(|text| TextRun::new(arena.keep(text), Component::Replies));
            self.words(Wording::Quote(number), words, Some(position), Role::User);
        }
    }

    /// Adds the turn of a result, with its media. `call` is `None` for a result without a call, and `answer` for a call without a result,
    /// which gets a synthetic one.
    fn result(&mut self, call: Option<Call<'a>>, answer: Option<FoundResult<'a>>) {
        let view = self.transcript.view();
        let position = answer.map(|answer| answer.message.position);
        let content = match answer {
            Some(answer) => {
                let content = answered(view, answer, &mut self.plan.losses);
                self.transcript.arena().keep(content)
            }
            None => MISSING_RESULT,
        };
        if let Some(FoundResult { message, .. }) = answer
            && !view.is_own(message)
            && view.sender(message).is_some_and(|sender| !is_nobody(sender))
        {
            self.plan
                .losses
                .at(reasons::RESULT_BEARS_NO_NAME, message.position);
        }
        let result = answer.map(|answer| answer.result);
        if let Some((result, position)) = result.zip(position) {
            let joined = u64::from(result.joined);
            self.plan
                .losses
                .several(reasons::TEXTS_OF_A_RESULT, position, joined);
        }
        let start = self.plan.blocks.len();
        self.plan.kinds.add(Kinds::RESULTS);
        let block = BlockContent::Result(ResultBlock {
            call: call.map(|call| call.place),
            result,
            tool: match call {
                Some(call) => call.call.name.as_deref(),
                None => result.and_then(|result| result.name.as_deref()),
            },
            id: "",
            name: "",
            content,
            is_object: false,
            item: None,
        });
        self.plan.blocks.push(Block::new(block, position, Role::Tool));
        self.marks(answer, Role::Tool);
        let media = |answer: FoundResult<'a>| answer.message.media_of(answer.part as usize);
        for media in answer.into_iter().flat_map(media) {
            let content = self.medium(media);
            self.plan.blocks.push(Block::new(content, position, Role::Tool));
        }
        self.plan.close(Turn::new(Role::Tool, position), start);
    }

    /// Adds the cache marks that follow a result.
    fn marks(&mut self, answer: Option<FoundResult<'a>>, role: Role) {
        let position = answer.map(|answer| answer.message.position);
        for _ in 0..answer.map_or(0, FoundResult::marks) {
            self.plan.kinds.add(Kinds::CACHE_MARKS);
            let mark = Block::new(BlockContent::CacheMark, position, role);
            self.plan.blocks.push(mark);
        }
    }

    /// Adds a result as the text of a separate user turn, because its call is missing or not the perspective's. `caller` is the index of the
    /// participant who called.
    fn inline(&mut self, answer: FoundResult<'a>, caller: Option<usize>) {
        let (view, message) = (self.transcript.view(), answer.message);
        let content = answered_in_words(view, answer, &mut self.plan.losses);
        let content = self.transcript.arena().keep(content);
        let start = self.plan.blocks.len();
        let position = Some(message.position);
        self.words(Wording::ToolUse, result_words(content), position, Role::User);
        self.marks(Some(answer), Role::User);
        let turn = Turn {
            // A result that the perspective sent has no sender here: a user turn must not have the name of the assistant.
            sender: caller.or(message.sender.filter(|_| !view.is_own(message))),
            ..Turn::new(Role::User, position)
        };
        self.plan.close(turn, start);
    }

    fn words(
        &mut self,
        wording: Wording,
        words: impl IntoIterator<Item = TextRun<'a>>,
        position: Option<u32>,
        role: Role,
    ) {
        let words = self.plan.wording(words);
        let content = BlockContent::Words(wording, words);
        self.plan.blocks.push(Block::new(content, position, role));
    }
}
