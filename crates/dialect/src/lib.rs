//! Output formats: a linked conversation in, renderings and declared losses out.
//!
//! A dialect writes into a [`Sink`](chatmill_model::Sink) and knows nothing of files, tables or tokens. Adding one
//! costs a file, a line in [`DIALECTS`] and a folder in `data-samples/dialects/`.

use std::fmt;

pub mod about;
mod additions;
mod arguments;
mod controls;
mod cut_points;
mod definitions;
mod dialects;
mod filter;
mod gemini_schema;
mod image_url;
mod inferred_schema;
mod json;
mod json_object;
mod json_schema;
mod learned;
mod list;
pub mod loss;
mod made_texts;
mod media;
mod message_ids;
mod message_text;
mod names;
mod order;
mod passes;
pub mod perspective;
mod placeholders;
pub mod policy;
mod profile;
mod progress;
mod prompt;
mod prompt_fields;
mod quote;
pub mod rendering;
mod rules;
mod select_messages;
mod shared;
mod steps;
mod system;
mod targets;
pub mod template;
mod text;
mod text_run;
mod times;
mod tool_call_ids;
mod tool_definition;
mod tool_ids;
mod tool_names;
mod tools;
mod transcript;
mod turns;
mod unsupported;
pub mod view;
mod violation;
pub mod window;
mod wording;

use chatmill_model::Sink;

pub use about::DialectAbout;
pub use additions::Additions;
pub use dialects::DIALECTS;
pub use loss::{FoldedLoss, FoldedLosses, Loss, LossCode, LossReason};
pub use made_texts::MadeTexts;
pub use passes::MADE_QUESTION;
pub use perspective::auto_perspective;
pub use placeholders::Placeholders;
pub use policy::Policy;
pub use prompt::{Existing, Prompt, PromptError};
pub use rendering::{Coverage, Rendering};
pub use rules::DialectRule;
pub use shared::Shared;
pub use targets::{Targets, Untaught};
pub use template::TemplateDialect;
pub use tool_definition::defines_tools;
pub use transcript::Transcript;
pub use view::{Answered, History, View, Window};
pub use violation::Violation;
pub use window::{CutPoints, Cuts, Stretches, WindowMode, WindowRange};

/// Takes a rendering, whose text is in the sink, and begins the next one there.
pub type Emit<'e, 'a> = dyn FnMut(&mut Sink<'a>, Rendering) + 'e;

/// An output format in one of its profiles.
///
/// Why: docs/decisions/2026-11-22-a-profile-is-a-value-of-its-dialect.md.
pub trait Dialect: Send + Sync {
    /// Its name in pipeline files and tables, kebab case.
    fn id(&self) -> &str;

    /// What it is, what it carries and what it loses.
    fn about(&self) -> &'static DialectAbout;

    /// The profile in which this value writes, by its name in pipeline files and tables.
    fn profile(&self) -> &'static str {
        chatmill_model::DEFAULT_PROFILE
    }

    /// What a rendering in it may lose: every kind that it may declare, in order.
    fn loses(&self) -> Vec<LossCode>;

    /// Says a conversation in this dialect and profile: writes each rendering into the sink, which is empty, and calls `emit` for it, in order
    /// of the ordinals.
    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>);

    /// Says a conversation into a sink of its own, for whoever renders but once.
    fn render_each(&self, view: &View<'_>, take: &mut dyn FnMut(&Sink<'_>, Rendering)) {
        let made = MadeTexts::default();
        let transcript = Transcript::new(view.clone(), &made);
        self.render(&transcript, &mut Sink::default(), &mut |sink, rendering| {
            take(sink, rendering);
            sink.begin();
        });
    }

    /// Whether each rendering is one message, so that no window changes what it shows.
    fn is_single_turn(&self) -> bool {
        false
    }

    /// Whether a rendering is one request whose history is no list of turns any more: the requests before it cannot be read off.
    fn is_one_request(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn Dialect + '_ {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.id(), self.profile())
    }
}

/// Finds a dialect in one of its profiles by `ID` (first profile) or `ID@PROFILE`.
pub fn find(spec: &str) -> Option<&'static dyn Dialect> {
    let (id, wanted) = match spec.split_once('@') {
        Some((id, profile)) => (id, Some(profile)),
        None => (spec, None),
    };
    let dialect = DIALECTS.iter().copied().find(|dialect| dialect.id() == id)?;
    let Some(name) = wanted else {
        return Some(dialect);
    };
    let mut profiles = dialect.about().profiles.iter().copied();
    profiles.find(|dialect| dialect.profile() == name)
}
