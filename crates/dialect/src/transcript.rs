//! A transcript: everything that dialects share of a conversation for one perspective, policy and window, computed once.
//!
//! A [`View`] comes in. `messages` selects the messages, removes leaked metadata from their texts, pairs and orders calls, and words the
//! quotes; this folder makes turns of them and counts what is rendered. Out goes a [`TurnPlan`] that is not fitted to a dialect yet, which
//! passes then change. Dialects that write records take the view and its messages from here.

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

/// The input of a dialect: a view of a conversation, and everything that is derived from it on first use.
pub struct Transcript<'a> {
    view: View<'a>,
    arena: &'a TextArena,
    shown: OnceCell<Shown<'a>>,
    paired: OnceCell<TurnPlan<'a>>,
    roster: OnceCell<Roster<'a>>,
    aliases: OnceCell<Aliases<'a>>,
    namesakes: OnceCell<Namesakes<'a>>,
    definitions: OnceCell<Definitions<'a>>,
    has_several_others: OnceCell<bool>,
    one_agent: OnceCell<Option<Box<Transcript<'a>>>>,
}

/// A list of definitions for each value of the source, and for each value that is added.
type Definitions<'a> = Vec<Vec<Definition<'a>>>;

/// The shown messages, and the losses of showing them in turns.
struct Shown<'a> {
    messages: Vec<&'a Message>,
    has_tool_use: bool,
    extent: Extent,
    losses: Losses,
}

/// The properties of messages that turns have no place for.
const LACKS: &[Unsupported] = &[
    Unsupported::Times,
    Unsupported::Mentions,
    Unsupported::Extra,
    Unsupported::SenderNames,
];

/// Returns the losses that a transcript may declare for any dialect: what has no place in turns, and what policy leaves out.
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

    /// Returns the names of participants who share a name with another one in the same rendering.
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

    /// Returns the definitions of tools: a list for each value of the source, and for each value that is added.
    pub(crate) fn definitions(&self) -> &Definitions<'a> {
        self.definitions
            .get_or_init(|| definition::definitions(&self.view, self.arena))
    }

    /// Whether the shown messages have calls or results.
    pub(crate) fn has_tool_use(&self) -> bool {
        self.shown().has_tool_use
    }

    /// Returns the turns in an order, not fitted to a dialect yet.
    pub(crate) fn draft(&self, order: Order) -> TurnPlan<'a> {
        let is_paired = match order {
            Order::Paired => true,
            // Without calls and results there is nothing to leave out, so the shared draft is the same.
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

    /// Returns the transcript in which messages of all agents count as the perspective's.
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
