//! The registry of dialects: one line each, in the order in which they are listed everywhere.
//!
//! To add a dialect: 1. its file or folder here, which implements [`Dialect`](crate::Dialect); 2. its line below; 3. its folder
//! in `data-samples/dialects/`. Everything that treats all dialects takes its list from [`DIALECTS`].

mod gryag;

/// Declares the modules, and lists the dialects in them.
macro_rules! dialects {
    ($($module:ident: $($dialect:ident),+;)+) => {
        $(pub(crate) mod $module;)+

        /// Every dialect that is known without a file of the user's.
        pub static DIALECTS: &[&dyn crate::Dialect] = &[$($(&$module::$dialect),+),+];
    };
}

dialects! {
    group_chat: GroupChat;
    tzurot: Tzurot;
    gryag_gemini: GryagGemini;
    gryag_compact: GryagCompact;
    suna: SunaLlm, SunaList, SunaCached, SunaBedrock, SunaRows;
    jaibber_context: JaibberContext;
    jaibber_events: JaibberEvents;
    openai_chat: OpenaiChat;
    openai_responses: OpenaiResponses;
    anthropic_messages: AnthropicMessages;
    gemini_contents: GeminiContents;
    bedrock_converse: BedrockConverse;
    mistral_chat: MistralChat;
    hf_messages: HfMessages;
    sharegpt: Sharegpt;
    chatml: Chatml;
}
