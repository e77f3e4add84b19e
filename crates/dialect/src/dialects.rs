//! The registry of dialects: one line each, in the order in which they are listed everywhere.
//!
//! To add a dialect: 1. its file or folder here, which implements [`Dialect`](crate::Dialect); 2. its line below; 3. its folder
//! in `data-samples/dialects/`. Everything that treats all dialects takes its list from [`DIALECTS`].

mod gryag;
mod jaibber;

/// Declares the modules, and lists the dialects in them: those with several profiles by the value of the first.
macro_rules! dialects {
    ($($module:ident: $($dialect:ident),+;)+) => {
        $(pub(crate) mod $module;)+

        /// Every dialect that is known without a file of the user's.
        pub static DIALECTS: &[&dyn crate::Dialect] = &[$($(&$module::$dialect),+),+];
    };
}

dialects! {
    group_chat: GroupChat;
    tzurot: TZUROT;
    gryag_gemini: GRYAG_GEMINI;
    gryag_compact: GRYAG_COMPACT;
    suna: SUNA_LLM, SUNA_LIST, SUNA_CACHED, SUNA_BEDROCK, SunaRows;
    jaibber_context: JaibberContext;
    jaibber_events: JaibberEvents;
    openai_chat: OpenaiChat;
    openai_responses: OpenaiResponses;
    anthropic_messages: AnthropicMessages;
    gemini_contents: GEMINI_CONTENTS;
    bedrock_converse: BedrockConverse;
    mistral_chat: MISTRAL_CHAT;
    hf_messages: HF_MESSAGES;
    sharegpt: Sharegpt;
    chatml: Chatml;
}
