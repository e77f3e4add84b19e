//! The registry of dialects: one line each, in the order in which they are listed everywhere.
//!
//! To add a dialect: 1. its file or folder here, with a [`Dialect`] in it; 2. its line below; 3. its folder
//! in `data-samples/dialects/`. Everything that treats all dialects takes its list from [`DIALECTS`]. One for people instead of programs is
//! in `NAMED_ONLY`: `["all"]` does not contain it.
//!
//! Here stands what one dialect has, or several of one system. What others need, too, is a pass, or a writer in `write`.

use crate::passes::dialect::Dialect;

mod gryag;
mod jaibber;
pub(crate) mod markdown;

/// Declares the modules, and lists the dialects in them: those with several profiles by the value of the first.
macro_rules! dialects {
    ($($module:ident: $($dialect:ident),+;)+) => {
        $(pub(crate) mod $module;)+

        /// Every dialect that is known without a file of the user's.
        pub static DIALECTS: &[&Dialect] = &[$($(&$module::$dialect),+),+];
    };
}

dialects! {
    group_chat: GROUP_CHAT;
    tzurot: TZUROT;
    gryag_gemini: GRYAG_GEMINI;
    gryag_compact: GRYAG_COMPACT;
    suna: SUNA_LLM, SUNA_LIST, SUNA_CACHED, SUNA_BEDROCK, SUNA_ROWS;
    jaibber_context: JAIBBER_CONTEXT;
    jaibber_events: JAIBBER_EVENTS;
    openai_chat: OPENAI_CHAT;
    openai_responses: OPENAI_RESPONSES;
    anthropic_messages: ANTHROPIC_MESSAGES;
    gemini_contents: GEMINI_CONTENTS;
    bedrock_converse: BEDROCK_CONVERSE;
    mistral_chat: MISTRAL_CHAT;
    hf_messages: HF_MESSAGES;
    sharegpt: SHAREGPT;
    chatml: CHATML;
}

/// Dialects that are rendered only where they are named.
static NAMED_ONLY: &[&Dialect] = &[&markdown::MARKDOWN];

/// Every dialect, those that have to be named at the end.
pub fn known() -> impl Iterator<Item = &'static Dialect> {
    DIALECTS.iter().chain(NAMED_ONLY).copied()
}

/// Finds a dialect in one of its profiles by `ID` (first profile) or `ID@PROFILE`.
pub fn find(spec: &str) -> Option<&'static Dialect> {
    let (id, wanted) = match spec.split_once('@') {
        Some((id, profile)) => (id, Some(profile)),
        None => (spec, None),
    };
    let dialect = known().find(|dialect| dialect.id() == id)?;
    let Some(name) = wanted else {
        return Some(dialect);
    };
    let mut profiles = dialect.about().profiles.iter().copied();
    profiles.find(|dialect| dialect.profile() == name)
}
