//! The type of a dialect: its description, and the way it renders a transcript.

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
    /// The name of the profile that this value writes.
    pub(crate) profile: &'static str,
    /// The description, the same for all profiles of the dialect.
    pub(crate) about: &'static DialectAbout,
    /// How it renders a transcript.
    pub(crate) renderer: Renderer,
}

/// How a dialect renders a transcript.
#[derive(Clone)]
pub(crate) enum Renderer {
    /// Passes fit the turns to a profile, and a writer writes them.
    Turns(&'static DialectProfile, WriteTurns),
    /// Renders data that only a record of the dialect's system contains.
    System { loses: Losses, render: Render },
    /// The same, where each message is a rendering.
    EachMessage { loses: Losses, messages: RenderMessages },
    /// Renders with a chat template that the user supplies as a file.
    Template(Arc<dyn Template>),
}

/// Writes the turns into the sink, and adds the rules that they break and no pass checks to the violations of the plan.
pub(crate) type WriteTurns = for<'a> fn(&mut TurnPlan<'a>, &mut Sink<'a>);

/// Returns the codes of all losses that a rendering may declare.
type Losses = fn() -> Vec<LossCode>;

/// Renders a transcript into an empty sink.
type Render = for<'a> fn(&Transcript<'a>, &mut Sink<'a>) -> Rendering;

/// Prepares the rendering of the messages of a transcript, one by one.
type RenderMessages = for<'t, 'a> fn(&'t Transcript<'a>) -> RenderMessage<'t, 'a>;

/// Renders a message into an empty sink; `None` where the message is not shown.
pub(crate) type RenderMessage<'t, 'a> = Box<dyn FnMut(&'a Message, &mut Sink<'a>) -> Option<Rendering> + 't>;

/// A chat template of the user, compiled.
pub(crate) trait Template: Send + Sync {
    /// The name of the dialect that the template makes.
    fn id(&self) -> &str;

    /// Returns the codes of all losses that a rendering may declare.
    fn loses(&self) -> Vec<LossCode>;

    /// Renders a transcript into an empty sink.
    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering;
}

impl Dialect {
    /// A dialect that is written from turns: passes fit them to the profile `fit`.
    pub(crate) const fn turns(
        about: &'static DialectAbout,
        fit: &'static DialectProfile,
        write: WriteTurns,
    ) -> Self {
        Self::of(about, Renderer::Turns(fit, write))
    }

    /// A dialect that renders data that only a record of its system contains.
    pub(crate) const fn system(about: &'static DialectAbout, loses: Losses, render: Render) -> Self {
        Self::of(about, Renderer::System { loses, render })
    }

    /// The same, where each message is a rendering.
    pub(crate) const fn each_message(
        about: &'static DialectAbout,
        loses: Losses,
        messages: RenderMessages,
    ) -> Self {
        Self::of(about, Renderer::EachMessage { loses, messages })
    }

    /// A dialect in its default profile.
    const fn of(about: &'static DialectAbout, renderer: Renderer) -> Self {
        Self {
            profile: DEFAULT_PROFILE,
            about,
            renderer,
        }
    }

    /// The same dialect in the profile of this name.
    pub(crate) const fn called(mut self, profile: &'static str) -> Self {
        self.profile = profile;
        self
    }

    /// Returns the name in pipeline files and tables, in kebab case.
    pub fn id(&self) -> &str {
        match &self.renderer {
            Renderer::Template(template) => template.id(),
            _ => self.about.id,
        }
    }

    /// Returns the description: what the dialect is and what it carries.
    pub fn about(&self) -> &'static DialectAbout {
        self.about
    }

    /// Returns the name of the profile that this value writes, as in pipeline files and tables.
    pub fn profile(&self) -> &'static str {
        self.profile
    }

    /// Returns the codes of all losses that a rendering in this dialect may declare, in the order of the codes.
    pub fn loses(&self) -> Vec<LossCode> {
        match &self.renderer {
            Renderer::Turns(profile, _) => loses(profile),
            Renderer::System { loses, .. } | Renderer::EachMessage { loses, .. } => loses(),
            Renderer::Template(template) => template.loses(),
        }
    }

    /// Returns the renderings of a transcript in this dialect and profile.
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

    /// Renders a view into a new sink and calls `take` for each rendering; for callers that render a conversation only once.
    pub fn render_each(&self, view: &View<'_>, take: &mut dyn FnMut(&Sink<'_>, Rendering)) {
        let arena = TextArena::default();
        let transcript = Transcript::new(view.clone(), &arena);
        let mut sink = Sink::default();
        let mut renderings = self.renderings(&transcript);
        while let Some(rendering) = renderings.next(&mut sink) {
            take(&sink, rendering);
        }
    }

    /// Whether it ignores perspectives: it renders a conversation once, with perspective `""`.
    pub fn is_neutral(&self) -> bool {
        self.about.shows == Shows::Record
    }

    /// Whether each rendering is one message, so that a window does not change what it shows.
    pub fn is_single_turn(&self) -> bool {
        matches!(self.renderer, Renderer::EachMessage { .. })
    }

    /// Whether a rendering is one request with its history flattened into text: the requests before it cannot be derived from it.
    pub fn is_one_request(&self) -> bool {
        self.about.shows == Shows::Flattened
    }

    /// Whether it renders data that only a record of its system contains, so that it cannot be rendered from the tables of a dataset.
    pub fn is_of_one_system(&self) -> bool {
        matches!(
            self.renderer,
            Renderer::System { .. } | Renderer::EachMessage { .. }
        )
    }

    /// Whether control tokens delimit its turns, so that the model also has to write the framing between the words of a turn.
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

/// The renderings of a transcript in a dialect, in order.
pub struct Renderings<'t, 'a> {
    dialect: &'t Dialect,
    transcript: &'t Transcript<'a>,
    /// Renders a message, for dialects where each message is a rendering.
    each: Option<RenderMessage<'t, 'a>>,
    /// The messages that are not rendered yet.
    messages: slice::Iter<'a, Message>,
    ordinal: u32,
}

impl<'a> Renderings<'_, 'a> {
    /// Replaces the content of the sink by the next rendering; `None` after the last one.
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
    /// The name in pipeline files and tables; the name of a template comes from its file instead.
    pub(crate) id: &'static str,
    /// A short title for readers.
    pub title: &'static str,
    /// The family that shapes its turns, for example `openai-chat`.
    pub family: &'static str,
    /// `application/json` or `text/plain`.
    pub media_type: &'static str,
    /// Where the format is specified.
    pub specification: &'static str,
    /// The date of that specification, `YYYY-MM-DD`.
    pub dated: &'static str,
    /// The parts of a conversation that it carries.
    pub carries: &'static str,
    /// The dialect in each of its profiles, the default first. Empty for a template, which has only one.
    pub profiles: &'static [&'static Dialect],
    /// What a rendering shows.
    pub(crate) shows: Shows,
    /// The rules that its renderings have to keep, where the format has any.
    pub rules: Rules,
}

/// What a rendering shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// A conversation for a perspective, or a message of it.
    Conversation,
    /// The same, with a history that is flattened into text.
    Flattened,
    /// The record, without a perspective.
    Record,
}

impl DialectAbout {
    /// Returns the names of its profiles, the default first.
    pub fn profile_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.profiles.iter().map(|dialect| dialect.profile())
    }
}

/// The rules of a format, with which a rendering can be validated independently of the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The validator of the testkit checks them in every test of dialects. Rules that have a code are listed; a variant of another dialect
    /// lists only the rules that it adds.
    Validated(&'static [&'static DialectRule]),
    /// There are no rules, or none that the text of a rendering can break, for this reason.
    None(&'static str),
}
