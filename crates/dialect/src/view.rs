//! A view: the conversation to render, its perspective, its policy, and how much of it is rendered.
//!
//! The engine makes views of a linked conversation and the choices of a pipeline; transcripts read them. This folder has these choices,
//! with windows, targets and prompts, and facts about a conversation that need no rendering. It knows neither dialects nor losses.

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
    /// The newest messages, so many, and more if the boundary would separate a call from its result. System text is not counted.
    Messages(u32),
}

/// A range of a conversation, and the facts that all of its windows share.
#[derive(Clone, Debug)]
pub struct Window {
    /// The range to render.
    pub range: WindowRange,
    /// The facts that all windows of a conversation, dialect, profile and perspective share.
    pub shared: Rc<Shared>,
}

/// The author whom a message answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered<'a> {
    /// The id of the author, who need not be in the roster.
    pub id: Option<&'a str>,
    /// The name of the author.
    pub name: Option<&'a str>,
}

/// The input of one rendering: a conversation and the choices for it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The conversation.
    pub linked: &'a Linked,
    /// Index of the participant who is the assistant; `None`: all participants are users.
    pub perspective: Option<usize>,
    /// The choices of the pipeline.
    pub policy: &'a Policy,
    /// Prompt and tools that a pipeline adds.
    pub additions: Additions<'a>,
    /// How much to render.
    pub history: History,
    /// The range to render; `None`: the whole conversation.
    pub window: Option<Window>,
    /// How placeholders for media in the perspective's turns are treated.
    pub placeholders: Placeholders,
    /// Whether messages of all agents count as the perspective's, if the perspective is an agent.
    pub agents_are_one: bool,
}

impl<'a> View<'a> {
    /// Creates the view of a whole conversation, with as much history as the dialect's document shows.
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

    /// Returns the conversation.
    pub fn conversation(&self) -> &'a Conversation {
        &self.linked.conversation
    }

    /// Returns the id of the conversation in the source, unless it is empty.
    pub fn own_id(&self) -> Option<&'a str> {
        self.conversation()
            .source_id
            .as_deref()
            .filter(|id| !id.is_empty())
    }

    /// Makes an id for a conversation without one: a word and a hash of the content, so that equal conversations have equal ids.
    pub(crate) fn generated_id(&self, word: &str) -> String {
        let hash = self.shared(|shared| &shared.content_hash, facts::hash);
        format!("{word}-{}", hash.split_at(12).0)
    }

    /// Returns a fact about the whole conversation, which is computed once for all of its windows.
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

    /// Returns the message at a position.
    pub fn message(&self, position: u32) -> Option<&'a Message> {
        self.conversation().messages.get(position as usize)
    }

    /// Returns the sender of a message, if known.
    pub fn sender(&self, message: &Message) -> Option<&'a Participant> {
        let index = if self.is_own(message) {
            self.perspective
        } else {
            message.sender
        };
        self.conversation().participants.get(index?)
    }

    /// Whether a message is the perspective's.
    pub fn is_own(&self, message: &Message) -> bool {
        let is_agent = |index: Option<usize>| {
            let participant = index.and_then(|index| self.conversation().participants.get(index));
            participant.is_some_and(|participant| participant.kind == ParticipantKind::Agent)
        };
        self.perspective.is_some()
            && (message.sender == self.perspective
                || self.agents_are_one && is_agent(self.perspective) && is_agent(message.sender))
    }

    /// Returns the references of a message with their links.
    pub fn references(
        &self,
        message: &'a Message,
    ) -> impl Iterator<Item = (&'a Reference, &'a Link)> + use<'a> {
        let links = cut::at(&self.linked.links, message.position as usize);
        message.references.iter().zip(links)
    }

    /// Returns the author whom a reference answers, even if the target is missing; `None` if the source made the reference up.
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

    /// Returns the place of a part of a message.
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
