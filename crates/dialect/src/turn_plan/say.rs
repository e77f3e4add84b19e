//! What a message says, in blocks: system text, the perspective's own turns, everybody else's.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_model::{Component, Message, Part, Role, ToolResult};

use super::{Block, BlockContent, CallBlock, SystemPlace, Texts, Thoughts, Turn, Writer, names::Naming};
use crate::loss::{LossCode, reasons};
use crate::media::placeholder;
use crate::message_text::{answered, declared_text};
use crate::policy::{MediaPolicy, Reasoning};
use crate::text_run::{TextRun, is_blank_character};
use crate::tools::{call_words, result_words};
use crate::turns::Call;

/// What stands before system text that became a user turn.
pub(crate) const SYSTEM_MARK: &str = "[system] ";

impl<'a> Writer<'_, 'a> {
    pub(super) fn system(&mut self, message: &'a Message) {
        if !crate::system::keeps(self.view, message, &mut self.losses) {
            return;
        }
        let position = message.position;
        let mut blocks = self.plain(message, &[]);
        if blocks.is_empty() {
            self.nothing(position);
            return;
        }
        if message.sender.is_some_and(|sender| !self.is_nobody(sender)) {
            self.losses.at(
                LossCode::NameDropped,
                position,
                reasons::SYSTEM_TEXT_BEARS_NO_NAME,
            );
        }
        let is_start = !self.has_begun;
        match self.manner.system {
            SystemPlace::Outside if is_start => {
                self.losses.at(
                    LossCode::SystemHoisted,
                    position,
                    reasons::SYSTEM_TEXT_STANDS_OUTSIDE,
                );
                self.system.append(&mut blocks);
                self.system_said.push((Some(position), Role::System));
            }
            SystemPlace::Anywhere | SystemPlace::Start
                if is_start || self.manner.system == SystemPlace::Anywhere =>
            {
                self.push(Turn::new(Role::System, Some(position), blocks));
            }
            _ => {
                self.losses
                    .at(LossCode::SystemInlined, position, reasons::LATER_SYSTEM_TEXT);
                if let Some(Block {
                    held: BlockContent::Text(words),
                    ..
                }) = blocks.first_mut()
                {
                    words.insert(0, TextRun::new(SYSTEM_MARK, Component::Framing));
                }
                self.push(Turn::new(Role::User, Some(position), blocks));
            }
        }
    }

    /// A turn of the perspective: its text and its calls.
    pub(super) fn assistant(&mut self, message: &'a Message, calls: &[Call<'a>]) {
        let position = message.position;
        if message.role != Role::Assistant {
            self.losses.at(
                LossCode::RoleMapped,
                position,
                reasons::PERSPECTIVE_IS_THE_ASSISTANT,
            );
        }
        self.losses.several(
            LossCode::ReferenceDropped,
            position,
            message.references.len() as u64,
            reasons::ASSISTANT_WOULD_PRINT_QUOTES,
        );
        let mut blocks = self.plain(message, calls);
        let mut thoughts = self.thoughts(message);
        if self.manner.thoughts == Thoughts::Tagged && !thoughts.is_empty() {
            thoughts.insert(0, TextRun::new("<think>\n", Component::Framing));
            thoughts.push(TextRun::new("\n</think>\n", Component::Framing));
            let block = Self::block(position, BlockContent::Text(std::mem::take(&mut thoughts)));
            if let Some(first) = blocks.first_mut() {
                first.opens = false;
            }
            blocks.insert(0, block);
            blocks = open(blocks);
        }
        if blocks.is_empty() && thoughts.is_empty() {
            self.nothing(position);
            return;
        }
        let (said, called) = Block::apart(blocks);
        if !said.is_empty()
            && !called.is_empty()
            && let Some(rule) = self.manner.splits_calls
        {
            let reason = reasons::TEXT_OR_CALLS.by(rule);
            self.losses.at(LossCode::TurnSplit, position, reason);
            self.push(Turn::new(Role::Assistant, Some(position), said));
            self.push(Turn::new(Role::Assistant, Some(position), called));
        } else {
            let blocks = said.into_iter().chain(called).collect();
            let mut turn = Turn::new(Role::Assistant, Some(position), blocks);
            turn.thoughts = thoughts;
            self.push(turn);
        }
        self.unnamed_own += 1;
    }

    /// The turn of a message that is not the perspective's.
    pub(super) fn user(&mut self, message: &'a Message) {
        let position = message.position;
        if message.role != Role::User {
            self.losses
                .at(LossCode::RoleMapped, position, reasons::OTHERS_ARE_USERS);
        }
        let mut blocks = Vec::new();
        let mut texts = 0;
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    if let Some(words) = self.text(message, text) {
                        texts += 1;
                        blocks.push(words);
                    }
                }
                Part::Media(media) => {
                    let carried = (self.view.policy.media == MediaPolicy::Keep)
                        .then(|| (self.manner.carries)(media))
                        .flatten();
                    if self.view.policy.media == MediaPolicy::Drop {
                        self.losses
                            .at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
                    } else if let Some(carried) = carried {
                        self.losses.several(
                            LossCode::MediaDescriptionDropped,
                            position,
                            carried.facts_lost,
                            self.manner.media_rule,
                        );
                        self.losses.several(
                            LossCode::MediaNeedsFetch,
                            position,
                            u64::from(carried.needs_fetch),
                            reasons::ADDRESS_HAS_TO_BE_FETCHED,
                        );
                        blocks.push(Self::block(position, BlockContent::Media(media)));
                    } else {
                        self.losses
                            .at(LossCode::MediaPlaceholder, position, reasons::MEDIUM_IS_NAMED);
                        texts += 1;
                        let words = TextRun::new(placeholder(media), Component::Content);
                        blocks.push(Self::block(position, BlockContent::Text(vec![words])));
                    }
                }
                Part::ToolCall(call) => {
                    self.losses
                        .at(LossCode::RoleMapped, position, reasons::FOREIGN_CALL_AS_TEXT);
                    blocks.push(Self::block(position, BlockContent::Text(call_words(call))));
                }
                Part::CacheMark => self.mark(blocks.last_mut(), position),
                other => self.unsaid(other, message),
            }
        }
        self.quotes(message, &mut blocks);
        if blocks.is_empty() {
            self.nothing(position);
            return;
        }
        if self.naming == Naming::Dropped && message.sender.is_some() {
            self.losses
                .at(LossCode::NameDropped, position, reasons::POLICY_DROPS_NAMES);
        }
        self.declare_joined(&blocks, texts, position);
        self.push_user(message.sender, message, blocks);
    }

    /// A result as text of a user turn of its own.
    pub(super) fn inline(&mut self, message: &'a Message, result: &'a ToolResult, caller: Option<usize>) {
        // A user turn must not go by the assistant's name.
        let speaker = caller.or(message.sender.filter(|_| !self.view.is_own(message)));
        if self.naming == Naming::Dropped && speaker.is_some() {
            self.losses.at(
                LossCode::NameDropped,
                message.position,
                reasons::POLICY_DROPS_NAMES,
            );
        }
        let content = answered(self.view, message, result, &mut self.losses);
        let words = BlockContent::Text(result_words(content));
        self.push_user(speaker, message, vec![Self::block(message.position, words)]);
    }

    fn push_user(&mut self, speaker: Option<usize>, message: &'a Message, mut blocks: Vec<Block<'a>>) {
        if let Some(prefix) = self.name_prefix(speaker, message) {
            match blocks.first_mut() {
                Some(Block {
                    held: BlockContent::Text(words),
                    ..
                }) => {
                    words.splice(0..0, prefix);
                }
                _ => blocks.insert(
                    0,
                    Self::block(message.position, BlockContent::Text(prefix.into())),
                ),
            }
        }
        let mut turn = Turn::new(Role::User, Some(message.position), open(blocks));
        turn.speaker = self.name_field(speaker);
        self.push(turn);
    }

    /// Text, and calls where there are some: what a turn may hold that may hold no media.
    fn plain(&mut self, message: &'a Message, calls: &[Call<'a>]) -> Vec<Block<'a>> {
        let position = message.position;
        let mut blocks: Vec<Block<'a>> = Vec::new();
        let mut texts = 0_u64;
        let mut moved = 0_u64;
        let mut is_behind_call = false;
        let calls: BTreeMap<usize, &Call<'a>> = calls
            .iter()
            .map(|call| (call.place.part as usize, call))
            .rev()
            .collect();
        for (index, part) in message.parts.iter().enumerate() {
            let block = match part {
                Part::Text(text) => self.text(message, text),
                Part::Media(media) => {
                    if self.view.policy.media == MediaPolicy::Drop {
                        self.losses
                            .at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
                        continue;
                    }
                    self.losses
                        .at(LossCode::MediaPlaceholder, position, self.manner.media_rule_plain);
                    let words = TextRun::new(placeholder(media), Component::Content);
                    Some(Self::block(position, BlockContent::Text(vec![words])))
                }
                Part::ToolCall(_) => {
                    if let Some(call) = calls.get(&index) {
                        blocks.push(self.call(call));
                        is_behind_call = true;
                    }
                    continue;
                }
                Part::CacheMark => {
                    self.mark(blocks.last_mut(), position);
                    continue;
                }
                other => {
                    self.unsaid(other, message);
                    continue;
                }
            };
            if let Some(block) = block {
                texts += 1;
                moved += u64::from(is_behind_call);
                blocks.push(block);
            }
        }
        self.losses.several(
            LossCode::PartMoved,
            position,
            moved,
            reasons::TEXT_BEFORE_CALLS_OF_THE_TURN,
        );
        self.declare_joined(&blocks, texts, position);
        open(blocks)
    }

    fn call(&mut self, call: &Call<'a>) -> Block<'a> {
        let name = call.call.name.as_deref();
        if let Some(reason) = self.tool_names.change(name.unwrap_or_default()) {
            self.losses
                .at(LossCode::ToolNameRewritten, call.place.position, reason);
        }
        let said = CallBlock {
            id: self.ids.of(call.place),
            name: self.tool_names.of(name),
            call: call.call,
        };
        Self::block(call.place.position, BlockContent::Call(said))
    }

    fn text(&mut self, message: &'a Message, text: &'a str) -> Option<Block<'a>> {
        let text = declared_text(self.view, message, text, &mut self.losses);
        if text.is_empty() {
            return None;
        }
        if self.manner.blank_is_empty && text.chars().all(is_blank_character) {
            self.losses.at(
                LossCode::WhitespaceTrimmed,
                message.position,
                reasons::WHITE_SPACE_IS_EMPTY,
            );
            return None;
        }
        let words = TextRun::new(text, Component::Content).alone();
        Some(Self::block(message.position, BlockContent::Text(words)))
    }

    pub(super) fn block(position: u32, held: BlockContent<'a>) -> Block<'a> {
        Block {
            held,
            opens: false,
            is_cached: false,
            position: Some(position),
        }
    }

    /// Puts a cache mark on what stands before it.
    fn mark(&mut self, block: Option<&mut Block<'a>>, position: u32) {
        let reason = match (self.manner.cache_marks, block) {
            (Some(_), Some(block)) => {
                block.is_cached = true;
                return;
            }
            (Some(_), None) => reasons::NOTHING_BEFORE_THE_MARK,
            (None, _) => reasons::MESSAGES_HAVE_NO_CACHE_MARKS,
        };
        self.losses.at(LossCode::CacheMarkDropped, position, reason);
    }

    fn nothing(&mut self, position: u32) {
        self.losses
            .at(LossCode::EmptyDropped, position, reasons::MESSAGE_SAYS_NOTHING);
    }

    /// Declares texts that are joined into one.
    fn declare_joined(&mut self, blocks: &[Block<'a>], texts: u64, position: u32) {
        let joins = match self.manner.texts {
            Texts::Joined => true,
            Texts::JoinedWithoutMedia => !blocks
                .iter()
                .any(|block| matches!(block.held, BlockContent::Media(_))),
            Texts::JoinedWithoutMarks => !blocks.iter().any(|block| block.is_cached),
            Texts::Blocks => false,
        };
        if !joins {
            return;
        }
        self.losses.several(
            LossCode::PartFlattened,
            position,
            texts.saturating_sub(1),
            reasons::TEXTS_ARE_JOINED,
        );
    }

    /// Declares a part that no turn here holds; calls and results are said elsewhere.
    fn unsaid(&mut self, part: &Part, message: &Message) {
        let (code, reason) = match part {
            Part::Reasoning(_) if self.keeps_thoughts(message) => return,
            Part::Reasoning(_) => (
                LossCode::ReasoningDropped,
                match self.manner.thoughts {
                    Thoughts::Nowhere(reason) => reason,
                    _ if self.view.policy.reasoning == Reasoning::Drop => reasons::POLICY_DROPS_REASONING,
                    _ => reasons::ONLY_OWN_TURNS_HOLD_REASONING,
                },
            ),
            Part::Notice(_) => (LossCode::NoticeDropped, reasons::MESSAGES_HAVE_NO_NOTICES),
            _ => return,
        };
        self.losses.at(code, message.position, reason);
    }
}

/// Marks where a message begins.
fn open(mut blocks: Vec<Block<'_>>) -> Vec<Block<'_>> {
    if let Some(first) = blocks.first_mut() {
        first.opens = true;
    }
    blocks
}

/// The words of a turn's texts as one text: a message's on lines of their own, messages a blank line apart.
pub(crate) fn joined(blocks: Vec<Block<'_>>) -> Vec<TextRun<'_>> {
    let mut all: Vec<TextRun<'_>> = Vec::new();
    for block in blocks {
        let BlockContent::Text(words) = block.held else {
            continue;
        };
        if all.is_empty() {
            all = words;
        } else {
            let component = match words.first() {
                Some(first) if first.component == Component::Replies => Component::Replies,
                _ => Component::Framing,
            };
            let between = if block.opens { "\n\n" } else { "\n" };
            all.push(TextRun {
                text: Cow::Borrowed(between),
                component,
            });
            all.extend(words);
        }
    }
    all
}
