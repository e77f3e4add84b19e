//! The type of a dialect: a value with its description, and how it gets from a transcript to text.

use std::fmt;
use std::slice;
use std::sync::Arc;

use chatmill_model::{DEFAULT_PROFILE, Message, Sink};

use crate::loss::LossCode;
use crate::loss::rule::DialectRule;
use crate::passes::profile::DialectProfile;
use crate::passes::{arrange, loses};
use crate::text::arena::TextArena;
use crate::transcript::Transcript;
use crate::transcript::rendering::Rendering;
use crate::transcript::turns::TurnPlan;
use crate::view::View;

/// An output format in one of its profiles.
///
/// Why: docs/decisions/2026-11-22-dialect-profiles-as-values.md.
#[derive(Clone)]
pub struct Dialect {
    /// The profile in which this value writes.
    pub(crate) profile: &'static str,
    /// Its description, the same in all of its profiles.
    pub(crate) about: &'static DialectAbout,
    /// How it gets from a transcript to text.
    pub(crate) renderer: Renderer,
}

/// How a dialect gets from a transcript to text.
#[derive(Clone)]
pub(crate) enum Renderer {
    /// Passes fit turns to a profile, and a writer writes them.
    Turns(&'static DialectProfile, WriteTurns),
    /// It writes what only a record of its own system holds.
    System { loses: Losses, render: Render },
    /// The same, each message by itself.
    EachMessage { loses: Losses, messages: RenderMessages },
    /// By a file of the user's.
    Template(Arc<dyn Template>),
}

/// Writes turns, and returns the rules that they break and no pass knows.
pub(crate) type WriteTurns = for<'a> fn(&mut TurnPlan<'a>, &mut Sink<'a>);

/// What a rendering may lose.
type Losses = fn() -> Vec<LossCode>;

/// Renders a transcript into an empty sink.
type Render = for<'a> fn(&Transcript<'a>, &mut Sink<'a>) -> Rendering;

/// What renders the messages of a transcript.
type RenderMessages = for<'t, 'a> fn(&'t Transcript<'a>) -> RenderMessage<'t, 'a>;

/// Renders a message into an empty sink, where it is one that is shown.
pub(crate) type RenderMessage<'t, 'a> = Box<dyn FnMut(&'a Message, &mut Sink<'a>) -> Option<Rendering> + 't>;

/// What is made of a file of the user's.
pub(crate) trait Template: Send + Sync {
    /// Its name.
    fn id(&self) -> &str;

    /// What a rendering may lose.
    fn loses(&self) -> Vec<LossCode>;

    /// Renders a transcript into an empty sink.
    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering;
}

impl Dialect {
    /// A dialect whose turns passes fit to its profile, and a writer writes.
    pub(crate) const fn turns(
        about: &'static DialectAbout,
        fit: &'static DialectProfile,
        write: WriteTurns,
    ) -> Self {
        Self::of(about, Renderer::Turns(fit, write))
    }

    /// A dialect that writes what only a record of its own system holds.
    pub(crate) const fn system(about: &'static DialectAbout, loses: Losses, render: Render) -> Self {
        Self::of(about, Renderer::System { loses, render })
    }

    /// The same, each message by itself.
    pub(crate) const fn each_message(
        about: &'static DialectAbout,
        loses: Losses,
        messages: RenderMessages,
    ) -> Self {
        Self::of(about, Renderer::EachMessage { loses, messages })
    }

    /// A dialect in its first profile.
    const fn of(about: &'static DialectAbout, renderer: Renderer) -> Self {
        Self {
            profile: DEFAULT_PROFILE,
            about,
            renderer,
        }
    }

    /// The same in another profile.
    pub(crate) const fn called(mut self, profile: &'static str) -> Self {
        self.profile = profile;
        self
    }

    /// Its name in pipeline files and tables, kebab case.
    pub fn id(&self) -> &str {
        match &self.renderer {
            Renderer::Template(template) => template.id(),
            _ => self.about.id,
        }
    }

    /// What it is and what it carries.
    pub fn about(&self) -> &'static DialectAbout {
        self.about
    }

    /// The profile in which this value writes, by its name in pipeline files and tables.
    pub fn profile(&self) -> &'static str {
        self.profile
    }

    /// What a rendering in it may lose: every kind that it may declare, in order.
    pub fn loses(&self) -> Vec<LossCode> {
        match &self.renderer {
            Renderer::Turns(profile, _) => loses(profile),
            Renderer::System { loses, .. } | Renderer::EachMessage { loses, .. } => loses(),
            Renderer::Template(template) => template.loses(),
        }
    }

    /// The renderings of a transcript in this dialect and profile.
    pub fn renderings<'t, 'a>(&'t self, transcript: &'t Transcript<'a>) -> Renderings<'t, 'a> {
        Renderings {
            dialect: self,
            transcript,
            each: match self.renderer {
                Renderer::EachMessage { messages, .. } => Some(messages(transcript)),
                _ => None,
            },
            messages: transcript.view().conversation().messages.iter(),
            ordinal: 0,
        }
    }

    /// Renders a conversation into a sink of its own, for whoever renders but once.
    pub fn render_each(&self, view: &View<'_>, take: &mut dyn FnMut(&Sink<'_>, Rendering)) {
        let arena = TextArena::default();
        let transcript = Transcript::new(view.clone(), &arena);
        let mut sink = Sink::default();
        let mut renderings = self.renderings(&transcript);
        while let Some(rendering) = renderings.next(&mut sink) {
            take(&sink, rendering);
        }
    }

    /// Whether it knows no perspective: it renders once, with perspective `""`.
    pub fn is_neutral(&self) -> bool {
        self.about.shows == Shows::Record
    }

    /// Whether each rendering is one message, so that no window changes what it shows.
    pub fn is_single_turn(&self) -> bool {
        matches!(self.renderer, Renderer::EachMessage { .. })
    }

    /// Whether a rendering is one request whose history is no list of turns any more: the requests before it cannot be read off.
    pub fn is_one_request(&self) -> bool {
        self.about.shows == Shows::Flattened
    }

    /// Whether it writes what only a record of its own system holds: it cannot be made of the tables of a dataset.
    pub fn is_of_one_system(&self) -> bool {
        matches!(
            self.renderer,
            Renderer::System { .. } | Renderer::EachMessage { .. }
        )
    }

    /// Whether control tokens set off its turns, so that what stands between a turn's words is the model's to write, too.
    pub fn has_control_tokens(&self) -> bool {
        match &self.renderer {
            Renderer::Turns(profile, _) => profile.control_tokens.is_some(),
            Renderer::System { .. } | Renderer::EachMessage { .. } => false,
            Renderer::Template(_) => true,
        }
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.id(), self.profile)
    }
}

/// The renderings of a transcript in a dialect, one after the other.
pub struct Renderings<'t, 'a> {
    dialect: &'t Dialect,
    transcript: &'t Transcript<'a>,
    /// What renders a message, where each is a rendering.
    each: Option<RenderMessage<'t, 'a>>,
    /// The messages that come next.
    messages: slice::Iter<'a, Message>,
    ordinal: u32,
}

impl<'a> Renderings<'_, 'a> {
    /// Writes the next one into the sink, in place of what that holds; none where there is no other.
    pub fn next(&mut self, sink: &mut Sink<'a>) -> Option<Rendering> {
        sink.begin();
        let mut rendering = match &self.dialect.renderer {
            Renderer::EachMessage { .. } => {
                let render = self.each.as_mut()?;
                self.messages.find_map(|message| render(message, sink))?
            }
            _ if self.ordinal > 0 => return None,
            Renderer::Turns(profile, write) => {
                let mut plan = arrange(self.transcript, profile);
                write(&mut plan, sink);
                plan.finish()
            }
            Renderer::System { render, .. } => render(self.transcript, sink),
            Renderer::Template(template) => template.render(self.transcript, sink),
        };
        rendering.ordinal = self.ordinal;
        self.ordinal += 1;
        Some(rendering)
    }
}

/// The description of a dialect, the same in all of its profiles: a row of `chatmill dialects` and of the README table.
#[derive(Debug)]
pub struct DialectAbout {
    /// Its name in pipeline files and tables; a template has its own.
    pub(crate) id: &'static str,
    /// A short title for readers.
    pub title: &'static str,
    /// The family that shapes its turns, for example `openai-chat`.
    pub family: &'static str,
    /// `application/json` or `text/plain`.
    pub media_type: &'static str,
    /// Where it is specified.
    pub specification: &'static str,
    /// Date of that specification, `YYYY-MM-DD`.
    pub dated: &'static str,
    /// What of a conversation it carries.
    pub carries: &'static str,
    /// Itself in each of its profiles; the first is the default. Of a template, there are none beside the one at hand.
    pub profiles: &'static [&'static Dialect],
    /// What a rendering shows.
    pub(crate) shows: Shows,
    /// Whether rules are written down that its renderings have to keep.
    pub rules: Rules,
}

/// What a rendering shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// A conversation for a perspective, or a message of it.
    Conversation,
    /// The same, with a history that is no list of turns any more.
    Flattened,
    /// The record, without a perspective.
    Record,
}

impl DialectAbout {
    /// Names of its profiles; the first is the default.
    pub fn profile_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.profiles.iter().map(|dialect| dialect.profile())
    }
}

/// Rules of a format by which a rendering can be validated independently of the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The validator of the testkit checks them in every test of dialects. Rules that have a code are listed; a variant of another dialect
    /// lists only its own.
    Validated(&'static [&'static DialectRule]),
    /// There are none, or none that the text of a rendering can break; the reason.
    None(&'static str),
}
