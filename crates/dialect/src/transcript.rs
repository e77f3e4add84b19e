//! A transcript: what all dialects need of one conversation, from one perspective, under one policy and in one window.
//!
//! The engine creates a [`Transcript`] of a [`View`] and asks dialects for its renderings; what several dialects use is computed once. For
//! a dialect with turns, `passes` takes a [draft](Transcript::draft), in which each message is a turn and each part a block, and fits it to
//! the dialect; the writer of the dialect then writes it. Dialects that write the records of one system, not turns, use only the view, the
//! roster and the arena. `draft` builds turns of the messages that the crate's folder `messages` has selected, ordered and worded; `turns` has the
//! types of a [`TurnPlan`]; `progress` counts what is rendered; `rendering` has the facts that the engine gets next to the written text.

mod draft;
pub(crate) mod progress;
pub(crate) mod rendering;
pub(crate) mod turns;

use std::cell::OnceCell;

use chatmill_model::{Linked, Message, Part, Role};

use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::order::Order;
use crate::messages::select::SelectedMessages;
use crate::messages::unsupported::{Unsupported, declare_conversation, declare_messages};
use crate::messages::{select, system, text, unsupported};
use crate::naming::participants::{Aliases, Namesakes, Roster};
use crate::text::arena::TextArena;
use crate::tools::definition;
use crate::tools::definition::Definition;
use crate::transcript::turns::TurnPlan;
use crate::view::View;
use crate::view::extent::Extent;

/// The input of a dialect: a view of a conversation, and values that are derived from it, each on first use.
pub struct Transcript<'a> {
    view: View<'a>,
    arena: &'a TextArena,
    shown: OnceCell<Shown<'a>>,
    /// The draft in the order [`Order::Paired`], which most dialects have.
    paired: OnceCell<TurnPlan<'a>>,
    roster: OnceCell<Roster<'a>>,
    aliases: OnceCell<Aliases<'a>>,
    namesakes: OnceCell<Namesakes<'a>>,
    definitions: OnceCell<Definitions<'a>>,
    has_several_others: OnceCell<bool>,
    /// The result of [`Transcript::as_one_agent`]; `None` if it is this transcript.
    one_agent: OnceCell<Option<Box<Transcript<'a>>>>,
}

/// Definitions of tools: a list for each value among the conversation's tools, and a list for each definition that is added to them. Some
/// vendors define several tools in one value; the list of a value that defines no function is empty.
type Definitions<'a> = Vec<Vec<Definition<'a>>>;

/// The messages that turns show, and the losses that this selection declares, whatever their order and the dialect.
struct Shown<'a> {
    messages: Vec<&'a Message>,
    has_tool_use: bool,
    extent: Extent,
    losses: Losses,
}

/// The properties of messages that turns have no place for: each is declared as a loss.
const LACKS: &[Unsupported] = &[
    Unsupported::Times,
    Unsupported::Mentions,
    Unsupported::Extra,
    Unsupported::SenderNames,
];

/// Returns the codes of the losses that a draft in this order may declare: what has no place in turns, and what policy leaves out.
pub(crate) fn loses(order: Order) -> Vec<LossCode> {
    united(&[
        select::LOSES,
        select::LOSES_NOTICES,
        unsupported::LOSES_FACTS,
        &unsupported::loses(LACKS),
        reasons::DRAFT,
        &[LossCode::MediaPlaceholder, LossCode::PartFlattened],
        order.loses(),
        system::LOSES,
        text::LOSES,
        reasons::QUOTES,
    ])
}

impl<'a> Transcript<'a> {
    /// Creates the transcript of a view. Texts that are not in the source are stored in `arena`.
    pub fn new(view: View<'a>, arena: &'a TextArena) -> Self {
        Self {
            view,
            arena,
            shown: OnceCell::new(),
            paired: OnceCell::new(),
            roster: OnceCell::new(),
            aliases: OnceCell::new(),
            namesakes: OnceCell::new(),
            definitions: OnceCell::new(),
            has_several_others: OnceCell::new(),
            one_agent: OnceCell::new(),
        }
    }

    /// Returns the view of this transcript.
    pub fn view(&self) -> &View<'a> {
        &self.view
    }

    /// Returns the arena for texts that are not in the source.
    pub(crate) fn arena(&self) -> &'a TextArena {
        self.arena
    }

    /// Returns the messages that turns show, in order of position.
    pub(crate) fn messages(&self) -> &[&'a Message] {
        &self.shown().messages
    }

    /// Returns the participants by id.
    pub(crate) fn roster(&self) -> &Roster<'a> {
        self.roster.get_or_init(|| Roster::of(&self.view))
    }

    /// Returns the names of participants in a spelling that vendors accept.
    pub(crate) fn aliases(&self) -> &Aliases<'a> {
        let listed = &self.view.conversation().participants;
        self.aliases.get_or_init(|| Aliases::new(listed, self.arena))
    }

    /// Returns the participants who share a name with another one in the same rendering, each as `name (id)`.
    pub(crate) fn namesakes(&self) -> &Namesakes<'a> {
        self.namesakes
            .get_or_init(|| Namesakes::of(&self.view, self.roster(), self.messages(), self.arena))
    }

    /// Returns the alias of a participant.
    pub(crate) fn alias(&self, participant: usize) -> &'a str {
        self.aliases().of(participant)
    }

    /// Whether more than one participant other than the perspective speaks in the whole conversation.
    pub(crate) fn has_several_others(&self) -> bool {
        let view = &self.view;
        let find = |_: &Linked| has_several_others(view);
        let known = || *view.shared(|shared| &shared.has_several_others, find);
        *self.has_several_others.get_or_init(known)
    }

    /// Returns the definitions of tools, those of the conversation before those that are added.
    pub(crate) fn definitions(&self) -> &Definitions<'a> {
        self.definitions
            .get_or_init(|| definition::definitions(&self.view, self.arena))
    }

    /// Whether the shown messages have calls or results.
    pub(crate) fn has_tool_use(&self) -> bool {
        self.shown().has_tool_use
    }

    /// Returns the turns with calls, results and messages in this order, before passes fit them to a dialect.
    pub(crate) fn draft(&self, order: Order) -> TurnPlan<'a> {
        let is_paired = match order {
            Order::Paired => true,
            // This order leaves out calls and results. If there are none, it equals the paired order, and the shared draft serves.
            Order::Toolless(_) => !self.has_tool_use(),
            Order::Filtered(_) => false,
        };
        if is_paired {
            self.paired
                .get_or_init(|| draft::draft(self, Order::Paired))
                .clone()
        } else {
            draft::draft(self, order)
        }
    }

    /// Returns the transcript in which messages of all agents count as the perspective's, for dialects with a single assistant. It is this
    /// transcript if no other agent has a message.
    pub(crate) fn as_one_agent(&self) -> &Self {
        let changed = self.one_agent.get_or_init(|| {
            let view = View {
                agents_are_one: true,
                ..self.view.clone()
            };
            let is_others = |message: &Message| view.is_own(message) && !self.view.is_own(message);
            let has_others = |_: &Linked| view.conversation().messages.iter().any(is_others);
            let differs = *view.shared(|shared| &shared.has_other_agents, has_others);
            differs.then(|| Box::new(Self::new(view, self.arena)))
        });
        changed.as_deref().unwrap_or(self)
    }

    fn shown(&self) -> &Shown<'a> {
        self.shown.get_or_init(|| {
            let view = &self.view;
            let mut losses = Losses::default();
            let selected = SelectedMessages::choose(view, None, &mut losses, View::is_turn);
            declare_conversation(view, &mut losses);
            declare_messages(view, &selected.messages, LACKS, &mut losses);
            let is_tool_use = |part: &Part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_));
            Shown {
                has_tool_use: selected
                    .messages
                    .iter()
                    .any(|message| message.parts.iter().any(is_tool_use)),
                messages: selected.messages,
                extent: selected.extent,
                losses,
            }
        })
    }
}

/// Whether more than one participant other than the perspective speaks.
fn has_several_others(view: &View<'_>) -> bool {
    let messages = view.conversation().messages.iter();
    let others = messages.filter(|message| {
        View::is_turn(message) && !view.is_own(message) && !matches!(message.role, Role::System | Role::Tool)
    });
    let mut speakers = others.map(|message| {
        let name = message.sender.is_none().then_some(&message.sender_name);
        (message.sender, name)
    });
    let first = speakers.next();
    speakers.any(|speaker| Some(speaker) != first)
}
