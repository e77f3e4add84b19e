//! The turns of a conversation as a vendor's family writes them: who speaks, in which order, in which blocks.
//!
//! A family says what its conversations allow (a [`DialectProfile`]) and gets turns that keep to it; every change on the way is
//! declared. The perspective is the assistant and everybody else a user. How a turn looks in bytes is the family's own.

pub(crate) mod ids;
mod merge;
mod names;
mod profile;
mod replies;
pub(crate) mod say;
mod thoughts;
pub(crate) mod tool_names;

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_model::{Component, Media, Message, Part, Role, ToolCall, ToolResult};

use crate::loss::{LossCode, Losses, reasons};
use crate::message_text::answered;
use crate::names::{Aliases, Roster};
use crate::progress::Progress;
use crate::rendering::{Extent, Rendering};
use crate::select_messages::SelectedMessages;
use crate::system;
use crate::text_run::TextRun;
use crate::tools::MISSING_RESULT;
use crate::turns::{Call, Step, arrange, without_tools};
use crate::unsupported::{Unsupported, declare_conversation, declare_messages};
use crate::view::View;
use crate::violation::Violation;

use ids::CallIds;
pub(crate) use merge::START;
pub(crate) use profile::{Carried, DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, nothing};
use tool_names::ToolNames;

/// A call as it is written.
#[derive(Clone, Debug)]
pub(crate) struct CallBlock<'a> {
    /// Its id.
    pub(crate) id: Cow<'a, str>,
    /// Its tool, in the spelling that the dialect allows.
    pub(crate) name: Cow<'a, str>,
    /// What it asks.
    pub(crate) call: &'a ToolCall,
}

/// A result as it is written.
#[derive(Clone, Debug)]
pub(crate) struct ResultBlock<'a> {
    /// Id of its call.
    pub(crate) id: Cow<'a, str>,
    /// Tool of its call.
    pub(crate) name: Cow<'a, str>,
    /// What the tool answered; none where the result is made up.
    pub(crate) result: Option<&'a ToolResult>,
    content: Cow<'a, str>,
}

impl<'a> ResultBlock<'a> {
    /// The answer as text.
    pub(crate) fn content(&self) -> Cow<'a, str> {
        self.content.clone()
    }

    /// Whether it is a failure.
    pub(crate) fn is_error(&self) -> bool {
        self.result.is_some_and(|result| result.is_error)
    }
}

/// What a block holds.
#[derive(Clone, Debug)]
pub(crate) enum BlockContent<'a> {
    /// Text; never empty.
    Text(Vec<TextRun<'a>>),
    /// A media item.
    Media(&'a Media),
    /// A call.
    Call(CallBlock<'a>),
    /// A result.
    Result(ResultBlock<'a>),
}

/// A piece of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    /// What it holds.
    pub(crate) held: BlockContent<'a>,
    /// Whether it is the first of its message in this turn.
    pub(crate) opens: bool,
    /// Whether a cache mark stands on it.
    pub(crate) is_cached: bool,
    /// Position of its message; none where it is made up.
    pub(crate) position: Option<u32>,
}

impl Block<'_> {
    /// What is said and what is called, each in its order.
    pub(crate) fn apart(blocks: Vec<Self>) -> (Vec<Self>, Vec<Self>) {
        let says = |block: &Self| !matches!(block.held, BlockContent::Call(_));
        // Most turns call nothing.
        if blocks.iter().all(says) {
            return (blocks, Vec::new());
        }
        blocks.into_iter().partition(says)
    }
}

/// A turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn<'a> {
    /// Whose it is; [`Role::Tool`] where it holds nothing but results.
    pub(crate) role: Role,
    /// Index of the participant whose name it has.
    pub(crate) speaker: Option<usize>,
    /// Its pieces.
    pub(crate) blocks: Vec<Block<'a>>,
    /// What the assistant thought, where the dialect has a field for it.
    pub(crate) thoughts: Vec<TextRun<'a>>,
    /// The messages in it, with the role in which each is said.
    pub(crate) said: Vec<(Option<u32>, Role)>,
}

impl<'a> Turn<'a> {
    fn new(role: Role, position: Option<u32>, blocks: Vec<Block<'a>>) -> Self {
        Self {
            role,
            speaker: None,
            blocks,
            thoughts: Vec::new(),
            said: vec![(position, role)],
        }
    }

    /// Whether one of its blocks is a call.
    pub(crate) fn calls(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block.held, BlockContent::Call(_)))
    }

    /// Whether one of its blocks is a media item.
    pub(crate) fn has_media(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block.held, BlockContent::Media(_)))
    }
}

/// The turns of a rendering, and what it cost to get them.
pub(crate) struct TurnPlan<'a> {
    /// System text that stands outside the turns.
    pub(crate) system: Vec<Block<'a>>,
    /// The turns in order.
    pub(crate) turns: Vec<Turn<'a>>,
    /// The spelling of tools.
    pub(crate) tool_names: ToolNames<'a>,
    /// Aliases of participants, where the dialect has a field for names.
    pub(crate) aliases: Aliases<'a>,
    /// Positions of the messages whose ids were written.
    pub(crate) identified: BTreeSet<u32>,
    /// Losses so far.
    pub(crate) losses: Losses,
    /// Rules that cannot be kept.
    pub(crate) violations: Vec<Violation>,
    said: Vec<(Option<u32>, Role)>,
    extent: Extent,
}

impl<'a> TurnPlan<'a> {
    /// Arranges what a rendering shows.
    pub(crate) fn new(view: &View<'a>, manner: &DialectProfile) -> Self {
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, None, &mut losses, View::is_turn);
        declare_conversation(view, &mut losses);
        let mut lacks = vec![
            Unsupported::Times,
            Unsupported::Mentions,
            Unsupported::Extra,
            Unsupported::SenderNames,
        ];
        if !manner.keeps_message_ids {
            lacks.push(Unsupported::MessageIds);
        }
        declare_messages(view, &shown.messages, &lacks, &mut losses);
        let turns = match manner.order {
            Order::Paired => arrange(view, &shown.messages, &mut losses),
            Order::Filtered(filter) => filter.arrange(view, &shown.messages, &mut losses),
            Order::Toolless(reason) => without_tools(view, &shown.messages, reason, &mut losses),
        };
        let mut writer = Writer::new(view, manner, &shown.messages, losses);
        writer.instructions();
        for step in turns.steps {
            writer.step(step);
        }
        writer.declare_names();
        let mut violations: Vec<Violation> = turns
            .faults
            .iter()
            .map(|fault| Violation::of(manner.pairing, fault.position, fault))
            .collect();
        let is_silent = match manner.system {
            SystemPlace::Anywhere => writer.turns.is_empty(),
            SystemPlace::Start | SystemPlace::Outside => !writer.has_begun,
        };
        if is_silent {
            violations.push(Violation::of(manner.silent.0, None, manner.silent.1));
        }
        let turns = merge::tidy(&mut writer.system, writer.turns, manner, &mut writer.losses);
        violations.extend(merge::misplaced(&turns, manner));
        let said = writer
            .system_said
            .into_iter()
            .chain(turns.iter().flat_map(|turn| turn.said.iter().copied()))
            .collect();
        Self {
            system: writer.system,
            turns,
            tool_names: writer.tool_names,
            aliases: writer.aliases,
            identified: BTreeSet::new(),
            losses: writer.losses,
            violations,
            said,
            extent: shown.extent,
        }
    }

    /// Position of the last message that is said.
    pub(crate) fn last_said(&self) -> Option<u32> {
        self.said.iter().filter_map(|(position, _)| *position).max()
    }

    /// Says whose the last turn is, where a family orders turns itself.
    pub(crate) fn ends(&mut self, role: Role) {
        self.said.push((None, role));
    }

    /// The rendering that a family has written.
    pub(crate) fn finish(self) -> Rendering {
        let mut progress = Progress::default();
        for (position, role) in self.said {
            match position {
                Some(position) => progress.said(position, role.as_str()),
                None => progress.added(role.as_str()),
            }
        }
        progress.finish(self.extent, self.losses, self.violations)
    }
}

/// Makes turns of steps.
struct Writer<'v, 'a> {
    view: &'v View<'a>,
    roster: Roster<'a>,
    manner: &'v DialectProfile,
    active: Option<&'a str>,
    ids: CallIds<'a>,
    tool_names: ToolNames<'a>,
    aliases: Aliases<'a>,
    naming: names::Naming,
    /// Messages of each participant whose alias was written.
    named: Vec<u64>,
    /// Messages of the perspective whose name was not written.
    unnamed_own: u64,
    /// Messages of others whose name was not written.
    unnamed_others: u64,
    system: Vec<Block<'a>>,
    system_said: Vec<(Option<u32>, Role)>,
    turns: Vec<Turn<'a>>,
    /// Whether a turn is anything but system text.
    has_begun: bool,
    losses: Losses,
}

impl<'v, 'a> Writer<'v, 'a> {
    fn new(
        view: &'v View<'a>,
        manner: &'v DialectProfile,
        shown: &[&'a Message],
        mut losses: Losses,
    ) -> Self {
        let participants = &view.conversation().participants;
        let active = view.perspective.and_then(|index| participants.get(index));
        let callers = match manner.order {
            Order::Toolless(_) => &[],
            Order::Paired | Order::Filtered(_) => shown,
        };
        Self {
            view,
            roster: Roster::of(view),
            manner,
            active: active.map(|participant| participant.id.as_str()),
            ids: CallIds::new(view, callers, &manner.ids, &mut losses),
            tool_names: ToolNames::new(view, callers, &manner.tool_names),
            aliases: Aliases::new(participants),
            naming: names::Naming::choose(view, manner),
            named: vec![0; participants.len()],
            unnamed_own: 0,
            unnamed_others: 0,
            system: Vec::new(),
            system_said: Vec::new(),
            turns: Vec::new(),
            has_begun: false,
            losses,
        }
    }

    fn push(&mut self, turn: Turn<'a>) {
        self.has_begun |= turn.role != Role::System;
        self.turns.push(turn);
    }

    fn instructions(&mut self) {
        if let Some(text) = system::instructions(self.view, &mut self.losses) {
            let block = Block {
                held: BlockContent::Text(vec![TextRun::new(text, Component::Content)]),
                opens: true,
                is_cached: false,
                position: None,
            };
            if self.manner.system == SystemPlace::Outside {
                self.system.push(block);
                self.system_said.push((None, Role::System));
            } else {
                self.push(Turn::new(Role::System, None, vec![block]));
            }
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
                part,
            } => {
                let next = message.parts.get(part as usize + 1);
                let is_marked = matches!(next, Some(Part::CacheMark));
                if result.name.is_some() && result.name != call.call.name {
                    let reason = reasons::RESULT_NAMES_ANOTHER_TOOL;
                    self.losses
                        .at(LossCode::ToolNameRewritten, message.position, reason);
                }
                let (id, name) = self.called(call);
                self.result(id, name, Some((message, result)), is_marked);
            }
            Step::Loose { message, result } => {
                let given = result.known_id().unwrap_or_default();
                let id = self.ids.loose(given);
                if id != given {
                    let reason = reasons::ID_WITHOUT_A_CALL;
                    self.losses
                        .at(LossCode::ToolIdRewritten, message.position, reason);
                }
                let name = self.tool_names.of(result.name.as_deref());
                self.result(id, name, Some((message, result)), false);
            }
            Step::Missing { call } => {
                let (id, name) = self.called(call);
                self.result(id, name, None, false);
            }
            Step::Inline {
                message,
                result,
                caller,
            } => self.inline(message, result, caller),
        }
    }

    fn called(&self, call: Call<'a>) -> (Cow<'a, str>, Cow<'a, str>) {
        let name = self.tool_names.of(call.call.name.as_deref());
        (self.ids.of(call.place), name)
    }

    fn result(
        &mut self,
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        found: Option<(&'a Message, &'a ToolResult)>,
        is_marked: bool,
    ) {
        let (message, result) = found.unzip();
        let position = message.map(|message| message.position);
        let content = match found {
            Some((message, result)) => answered(self.view, message, result, &mut self.losses),
            None => Cow::Borrowed(MISSING_RESULT),
        };
        if let Some(message) = message
            && message
                .sender
                .is_some_and(|sender| !self.view.is_own(message) && !self.is_nobody(sender))
        {
            let reason = reasons::RESULT_BEARS_NO_NAME;
            self.losses.at(LossCode::NameDropped, message.position, reason);
        }
        if let Some(position) = position {
            if result.is_some_and(|result| result.is_error) && !self.manner.marks_errors {
                self.losses.at(
                    LossCode::ErrorFlagDropped,
                    position,
                    reasons::RESULT_SAYS_NO_FAILURE,
                );
            }
            if is_marked && self.manner.cache_marks.is_none() {
                self.losses.at(
                    LossCode::CacheMarkDropped,
                    position,
                    reasons::MESSAGES_HAVE_NO_CACHE_MARKS,
                );
            }
        }
        let block = Block {
            held: BlockContent::Result(ResultBlock {
                id,
                name,
                result,
                content,
            }),
            opens: true,
            is_cached: is_marked && self.manner.cache_marks.is_some(),
            position,
        };
        self.push(Turn::new(Role::Tool, position, vec![block]));
    }
}
