//! A view: which conversation to render, for which perspective, by which policy, and how much of it.
//!
//! This folder holds the choices of a request, with windows and prompts, and facts about a conversation that need no rendering. It knows
//! neither dialects nor losses.

pub(crate) mod additions;
pub(crate) mod cut_points;
pub(crate) mod extent;
pub(crate) mod facts;
pub(crate) mod perspective;
pub mod policy;
pub(crate) mod prompt;
pub(crate) mod prompt_fields;
pub(crate) mod targets;
pub(crate) mod trained;
pub mod window;

use std::rc::Rc;

use chatmill_diag::cut;
use chatmill_model::{
    Conversation, Link, LinkStatus, Linked, Message, MessageKind, PartPlace, Participant, ParticipantKind,
    Reference,
};

use crate::text::placeholders::Placeholders;
use crate::view::additions::Additions;
use crate::view::facts::{Fact, Shared};
use crate::view::policy::Policy;
use crate::view::window::WindowRange;

/// How much of a conversation to render.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// As much as the dialect's document shows.
    #[default]
    Document,
    /// All of it.
    All,
    /// The newest messages, that many, and more where the boundary would part a call from its result. System text does not count.
    Messages(u32),
}

/// A range of a conversation, and what all of its windows share.
#[derive(Clone, Debug)]
pub struct Window {
    /// What to show.
    pub range: WindowRange,
    /// One for all windows of a conversation, dialect, profile and perspective.
    pub shared: Rc<Shared>,
}

/// Somebody whom a message answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered<'a> {
    /// The participant's id, who need not be in the roster.
    pub id: Option<&'a str>,
    /// The name.
    pub name: Option<&'a str>,
}

/// A conversation as one rendering sees it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The conversation.
    pub linked: &'a Linked,
    /// Index of the participant who speaks as the assistant; none: everybody is a user.
    pub perspective: Option<usize>,
    /// The choices.
    pub policy: &'a Policy,
    /// Prompt and tools that a pipeline adds.
    pub additions: Additions<'a>,
    /// How much to render.
    pub history: History,
    /// What to render of it; none: the whole conversation.
    pub window: Option<Window>,
    /// What becomes of the words that stand for media in the perspective's own turns.
    pub placeholders: Placeholders,
    /// Whether messages of any agent count as the perspective's, where the perspective is an agent.
    pub agents_are_one: bool,
}

impl<'a> View<'a> {
    /// A whole conversation, with as much history as the dialect's document shows.
    pub fn whole(linked: &'a Linked, perspective: Option<usize>, policy: &'a Policy) -> Self {
        Self {
            linked,
            perspective,
            policy,
            additions: Additions::default(),
            history: History::Document,
            window: None,
            placeholders: Placeholders::default(),
            agents_are_one: false,
        }
    }

    /// The conversation.
    pub fn conversation(&self) -> &'a Conversation {
        &self.linked.conversation
    }

    /// The conversation's own id, where it has one that is not empty.
    pub fn own_id(&self) -> Option<&'a str> {
        self.conversation()
            .source_id
            .as_deref()
            .filter(|id| !id.is_empty())
    }

    /// An id for a conversation without one: a word and a hash, so that equal conversations have equal ones.
    pub(crate) fn generated_id(&self, word: &str) -> String {
        let hash = self.shared(|shared| &shared.content_hash, facts::hash);
        format!("{word}-{}", hash.split_at(12).0)
    }

    /// A fact about the whole conversation: looked up once for all of its windows.
    pub(crate) fn shared<T>(
        &self,
        fact: impl FnOnce(&Shared) -> &Fact<T>,
        find_fact: impl FnOnce(&Linked) -> T,
    ) -> Rc<T> {
        match &self.window {
            None => Rc::new(find_fact(self.linked)),
            Some(window) => Rc::clone(fact(&window.shared).get_or_init(|| Rc::new(find_fact(self.linked)))),
        }
    }

    /// The message at a position.
    pub fn message(&self, position: u32) -> Option<&'a Message> {
        self.conversation().messages.get(position as usize)
    }

    /// The sender of a message, where it is known.
    pub fn sender(&self, message: &Message) -> Option<&'a Participant> {
        let index = if self.is_own(message) {
            self.perspective
        } else {
            message.sender
        };
        self.conversation().participants.get(index?)
    }

    /// Whether a message is the perspective's own.
    pub fn is_own(&self, message: &Message) -> bool {
        let is_agent = |index: Option<usize>| {
            let participant = index.and_then(|index| self.conversation().participants.get(index));
            participant.is_some_and(|participant| participant.kind == ParticipantKind::Agent)
        };
        self.perspective.is_some()
            && (message.sender == self.perspective
                || self.agents_are_one && is_agent(self.perspective) && is_agent(message.sender))
    }

    /// The references of a message with what became of them.
    pub fn references(
        &self,
        message: &'a Message,
    ) -> impl Iterator<Item = (&'a Reference, &'a Link)> + use<'a> {
        let links = cut::at(&self.linked.links, message.position as usize);
        message.references.iter().zip(links)
    }

    /// Whom a reference answers, be the target there or not; nobody where the source made the reference up.
    pub fn answered(&self, reference: &'a Reference, link: &Link) -> Option<Answered<'a>> {
        if link.status == LinkStatus::Pseudo {
            return None;
        }
        if let Some(target) = link.target.and_then(|target| self.message(target)) {
            let sender = self.sender(target);
            let answered = Answered {
                id: sender.map(|sender| sender.id.as_str()),
                name: sender
                    .and_then(Participant::own_name)
                    .or(target.sender_name.as_deref()),
            };
            return (answered != Answered::default()).then_some(answered);
        }
        let preview = reference.preview.as_ref()?;
        let known = |text: &'a Option<String>| text.as_deref().filter(|text| !text.is_empty());
        let id = known(&preview.sender);
        let mut participants = self.conversation().participants.iter();
        let listed = participants.find(|person| Some(person.id.as_str()) == id);
        let answered = Answered {
            id,
            name: known(&preview.sender_name).or(listed.and_then(Participant::own_name)),
        };
        (answered != Answered::default()).then_some(answered)
    }

    /// The place of a part of a message.
    pub(crate) fn place(message: &Message, index: usize) -> PartPlace {
        PartPlace {
            position: message.position,
            part: index as u32,
        }
    }

    /// Whether a message is a turn rather than a notice.
    pub fn is_turn(message: &Message) -> bool {
        message.kind == MessageKind::Message
    }
}
