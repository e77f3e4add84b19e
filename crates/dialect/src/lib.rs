//! Output formats: a linked conversation in, renderings and declared losses out.
//!
//! A dialect writes into a [`Rope`](chatmill_model::Rope) and knows nothing of files, tables or tokens. Adding one
//! costs a file, a line in [`DIALECTS`] and a folder in `data-samples/dialects/`.

pub mod about;
mod anthropic_messages;
mod arguments;
mod bedrock_converse;
mod chatml;
mod controls;
mod definitions;
mod filter;
mod gemini_contents;
mod gemini_schema;
mod group_chat;
mod gryag;
mod gryag_compact;
mod gryag_gemini;
mod hf_messages;
mod jaibber_context;
mod jaibber_events;
mod json;
mod json_schema;
mod list;
pub mod loss;
mod media;
mod mistral_chat;
mod names;
mod nature;
mod openai_chat;
mod openai_responses;
pub mod perspective;
pub mod policy;
mod progress;
mod quote;
pub mod rendering;
mod said;
mod script;
mod shared;
mod sharegpt;
mod suna;
mod system;
pub mod template;
mod text;
mod times;
mod tool_ids;
mod tools;
mod turns;
mod tzurot;
pub mod view;
mod violation;
pub mod window;
mod wording;
mod words;

pub use about::About;
pub use loss::{FoldedLoss, Loss, LossCode, folded};
pub use perspective::auto_perspective;
pub use policy::Policy;
pub use rendering::{Coverage, Rendering};
pub use shared::Shared;
pub use template::TemplateDialect;
pub use view::{Answered, History, View, Window};
pub use violation::Violation;
pub use window::{Borders, Cuts, Stretch};

/// An output format.
pub trait Dialect: Send + Sync {
    /// Its name in pipeline files and tables, kebab case.
    fn id(&self) -> &str;

    /// What it is, what it carries and what it loses.
    fn about(&self) -> &'static About;

    /// Says a conversation in this dialect. Calls `emit` once per rendering, in order of the ordinals.
    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>));

    /// Whether each rendering is one message, so that no window changes what it shows.
    fn is_single_turn(&self) -> bool {
        false
    }
}

/// Every dialect that is known without a file of the user's, in the order of the contract.
pub static DIALECTS: &[&dyn Dialect] = &[
    &group_chat::GroupChat,
    &tzurot::Tzurot,
    &gryag_gemini::GryagGemini,
    &gryag_compact::GryagCompact,
    &suna::SunaLlm,
    &suna::SunaList,
    &suna::SunaCached,
    &suna::SunaBedrock,
    &suna::SunaRows,
    &jaibber_context::JaibberContext,
    &jaibber_events::JaibberEvents,
    &openai_chat::OpenaiChat,
    &openai_responses::OpenaiResponses,
    &anthropic_messages::AnthropicMessages,
    &gemini_contents::GeminiContents,
    &bedrock_converse::BedrockConverse,
    &mistral_chat::MistralChat,
    &hf_messages::HfMessages,
    &sharegpt::Sharegpt,
    &chatml::Chatml,
];

/// Finds a dialect and one of its profiles by `ID` (first profile) or `ID@PROFILE`.
pub fn find(spec: &str) -> Option<(&'static dyn Dialect, &'static str)> {
    let (id, wanted) = match spec.split_once('@') {
        Some((id, profile)) => (id, Some(profile)),
        None => (spec, None),
    };
    let dialect = DIALECTS.iter().copied().find(|dialect| dialect.id() == id)?;
    let mut profiles = dialect.about().profiles.iter().copied();
    let profile = match wanted {
        None => profiles.next(),
        Some(name) => profiles.find(|profile| *profile == name),
    }?;
    Some((dialect, profile))
}
