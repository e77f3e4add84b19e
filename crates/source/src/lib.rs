//! Input formats: one frame of bytes becomes one canonical conversation, with findings about everything malformed or unusual.
//!
//! The engine asks [`considered`] and [`decided`] for the source of an entry, and passes its frames, cut and scanned by intake, to
//! [`read`]. A source opens no file, links no messages, and never rejects a conversation because of one message.
//!
//! | Folder | Holds |
//! |---|---|
//! | `formats/` | one file or folder for each format, and nothing else |
//! | `format/` | the language of format files, and the reader that follows them |
//! | `layout/` | where a record has its messages: lists, lines, rows, trees, columns, requests and their answers |
//! | `grammar/` | how each vendor writes one message: roles, parts, calls, results, usage, definitions of tools |
//! | `base/` | tools that all readers share: fields, findings with their places, extra fields, times, participants |
//! | `unread/` | values that no reader took: kept in `extra` and reported, except keys without meaning |
//! | `unsupported/`, `propose.rs` | detection: the source for an entry; formats that are recognised but not read; proposals of field and table maps |
//!
//! # To add a source
//!
//! A format with a list of messages in JSON is a format file, `formats/<id>.toml` (docs/formats.md). A format beyond that language is Rust:
//!
//! 1. Write `formats/<name>.rs`, named after the id with underscores: page, wire structs (`wire!`), the source as a
//!    value ([`RustFormat`]), private functions in calling order, tests.
//! 2. Put small files that you wrote yourself into `data-samples/sources/<id>/`, at least one for each shape, and a valid one into its folder
//!    `example/`.
//! 3. Add its line to `sources!` below: it declares the module, makes the value public and puts it into [`SOURCES`].

mod base;
mod format;
mod frame;
mod grammar;
mod layout;
mod options;
mod propose;
mod rust_format;
mod source;
mod unread;
mod unsupported;

use chatmill_diag::Limits;
pub use chatmill_diag::RowLedger;
pub use chatmill_intake::table::{TableFilter, TableMap};

pub use base::conversations::may_name_conversation;
pub use base::times::zone::{is_zone, time_zone};
pub use format::{
    FieldMap, FormatError, FormatFile, MapPath, load, mapped, recorded, schema as format_schema,
};
pub use formats::table_rows::content::is_text_of_parts;
pub use frame::{ExportPath, FrameView, Reading, Row};
pub use grammar::own_words;
pub use options::{Branches, Division, ReadOptions};
pub use propose::{Guess, Proposal, SampleCell, TableSample, guess, guess_tables, propose};
pub use rust_format::RustFormat;
pub use source::{About, Evidence, Source};
pub use unread::{Unread, UnreadReport};
pub use unsupported::recognised::{considered, decided, detect};
pub use unsupported::{
    UnsupportedFormat, is_known as is_unsupported, unsupported_format, unsupported_formats,
    unsupported_tables,
};

/// Declares the formats, each once: a module of `formats/` with the source in it, or the name of a format file.
///
/// rustfmt does not format inside of macros: `just fmt` passes it all files, not only those that cargo finds.
macro_rules! sources {
    ($($entry:tt $(:: $source:ident)?),+ $(,)?) => {
        sources!(@modules [] $($entry $(:: $source)?,)+);

        /// Every source, in the order of the documentation. If two are equally sure of a file, the first reads it.
        pub static SOURCES: &[&dyn Source] = &[$(sources!(@one $entry $(:: $source)?)),+];
    };
    (@modules [$($module:ident::$source:ident,)*]) => {
        mod formats {
            $(pub(crate) mod $module;)*
        }

        $(pub use formats::$module::$source;)*
    };
    (@modules [$($done:tt)*] $file:literal, $($rest:tt)*) => {
        sources!(@modules [$($done)*] $($rest)*);
    };
    (@modules [$($done:tt)*] $module:ident::$source:ident, $($rest:tt)*) => {
        sources!(@modules [$($done)* $module::$source,] $($rest)*);
    };
    (@one $module:ident::$source:ident) => { &$source };
    (@one $file:literal) => {{
        static FILE: FormatFile =
            FormatFile::built_in($file, include_str!(concat!("formats/", $file, ".toml")));
        &FILE
    }};
}

sources! {
    group_chat::GROUP_CHAT,
    suna_rows::SUNA_ROWS,
    gryag_db::GRYAG_DB,
    gemini_contents::GEMINI_CONTENTS,
    jaibber_events::JAIBBER_EVENTS,
    tzurot_requests::TZUROT_REQUESTS,
    openai_messages::OPENAI_MESSAGES,
    "anthropic-messages",
    "openai-responses",
    "bedrock-converse",
    "mistral-chat",
    "ai-sdk",
    "langchain-messages",
    "pydantic-ai",
    hf_messages::HF_MESSAGES,
    "sharegpt",
    "ultrafeedback",
    "nectar",
    "shp",
    "arena-battles",
    "helpsteer3",
    "xlam",
    "parlai-chat",
    chatml::CHATML,
    chatgpt_export::CHATGPT_EXPORT,
    "claude-export",
    "deepseek-export",
    "grok-export",
    "open-webui",
    "librechat",
    "chatbot-ui",
    "lm-studio",
    "llama-cpp",
    "hub-traces",
    "openai-threads",
    "silly-tavern",
    slack_export::SLACK_EXPORT,
    "discord-export",
    "gemini-cli",
    "copilot-cli",
    "atif",
    telegram_export::TELEGRAM_EXPORT,
    "messenger",
    "messenger-e2ee",
    "matrix",
    "mattermost",
    "rocket-chat",
    "google-chat",
    whatsapp_text::WHATSAPP_TEXT,
    signal_text::SIGNAL_TEXT,
    kakaotalk_text::KAKAOTALK_TEXT,
    line_text::LINE_TEXT,
    irc_log::IRC_LOG,
    claude_code::CLAUDE_CODE,
    codex::CODEX,
    "qwen-code",
    "pi-agent",
    "factory-droid",
    "grok-cli",
    "kimi-cli",
    "hermes-agent",
    "cursor-agent",
    aider_history::AIDER_HISTORY,
    "swe-agent",
    "openhands",
    "inspect-log",
    "tau-bench",
    "tau2-bench",
    "opencode",
    "cline",
    "goose",
    "amp",
    "antigravity",
    "letta",
    request_log::REQUEST_LOG,
    openai_batch::OPENAI_BATCH,
    anthropic_batch::ANTHROPIC_BATCH,
    oasst::OASST,
    langfuse::LANGFUSE,
    otel_genai::OTEL_GENAI,
    table_rows::TABLE_ROWS,
    "mapped",
}

/// Finds a source by its id.
pub fn find(id: &str) -> Option<&'static dyn Source> {
    SOURCES.iter().copied().find(|source| source.id() == id)
}

/// Reads a frame, and reports the values that the reading left unread.
pub fn read(source: &dyn Source, frame: &FrameView<'_>, limits: &Limits) -> (Reading, UnreadReport) {
    let mut reading = source.read(frame, limits);
    layout::exchange::logged::bound(&mut reading);
    let unread_report = unread::unread_report(source.meaningless_keys(), frame, &mut reading);
    (reading, unread_report)
}

/// The keys of a source's format that mean nothing for a conversation: they are not reported as unread unless they contain text, times or JSON. Each
/// key has a description of what else happens to its values, if the list has one.
pub fn without_meaning(source: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    find(source)
        .into_iter()
        .flat_map(|source| source.meaningless_keys().keys())
}

#[cfg(test)]
mod tests;
