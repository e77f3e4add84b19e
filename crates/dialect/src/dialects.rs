//! The registry of dialects: one line each, in the order in which they are listed everywhere.
//!
//! To add a dialect: 1. its file or folder here, with a [`Dialect`] in it; 2. its line below; 3. its folder
//! in `data-samples/dialects/`. Everything that handles all dialects takes its list from [`DIALECTS`]. A dialect for people instead of
//! programs is in `NAMED_ONLY`: `["all"]` does not contain it.
//!
//! A file here has what one dialect needs, or several dialects of one system. What other dialects need, too, is a pass or a writer in
//! `write`.

use crate::passes::dialect::Dialect;

mod gryag;
mod jaibber;
pub(crate) mod markdown;

/// Declares the modules and lists the dialects in them; a dialect with several profiles is listed with its default profile.
macro_rules! dialects {
    (house { $($own:ident: $($ours:ident),+;)+ } field { $($module:ident: $($dialect:ident),+;)+ }) => {
        $(pub(crate) mod $own;)+
        $(pub(crate) mod $module;)+

        /// All dialects that need no file of the user, in the order of a dataset's rows.
        pub static DIALECTS: &[&Dialect] = &[$($(&$own::$ours),+),+, $($(&$module::$dialect),+),+];

        /// Dialects of the systems that chatmill was first written for.
        static HOUSE: &[&Dialect] = &[$($(&$own::$ours),+),+];
    };
}

dialects! {
    house {
    group_chat: GROUP_CHAT;
    tzurot: TZUROT;
    gryag_gemini: GRYAG_GEMINI;
    gryag_compact: GRYAG_COMPACT;
    suna: SUNA_LLM, SUNA_LIST, SUNA_CACHED, SUNA_BEDROCK, SUNA_ROWS;
    jaibber_context: JAIBBER_CONTEXT;
    jaibber_events: JAIBBER_EVENTS;
    }
    field {
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
}

/// Dialects that are rendered only where they are named explicitly.
static NAMED_ONLY: &[&Dialect] = &[&markdown::MARKDOWN];

/// Returns all dialects in the order of listings: those of vendors and trainers, those that have to be named, and those of the systems that
/// chatmill was first written for.
pub fn known() -> impl Iterator<Item = &'static Dialect> {
    let field = DIALECTS.iter().filter(|dialect| !is_house(dialect.id()));
    field.chain(NAMED_ONLY).chain(HOUSE).copied()
}

/// Whether a dialect belongs to one of the systems that chatmill was first written for; tables list these last.
pub fn is_house(id: &str) -> bool {
    HOUSE.iter().any(|dialect| dialect.id() == id)
}

/// Finds a dialect by `ID`, in its default profile, or by `ID@PROFILE`.
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
