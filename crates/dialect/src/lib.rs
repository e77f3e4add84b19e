//! Output formats: a linked conversation becomes renderings and declared losses.
//!
//! The engine makes a [`View`] of a conversation and a [`Transcript`] of the view, and asks each [`Dialect`] for its renderings. A dialect
//! writes into a [`Sink`](chatmill_model::Sink) and knows nothing of files, tables or tokens. A new dialect is a file, a line in
//! [`DIALECTS`] and a folder in `data-samples/dialects/`.
//!
//! | floor | folders |
//! |---|---|
//! | 7 | `dialects`, `template`: the formats themselves |
//! | 6 | `passes`, which fit turns to a dialect; `write`, which writes them |
//! | 5 | `transcript`: a conversation in turns |
//! | 4 | `messages`, `tools`: the content of turns |
//! | 3 | `naming`: ids and names as they may be spelled |
//! | 2 | `view`: the request |
//! | 1 | `text`, `loss` |
//!
//! A folder imports folders on lower floors only.

mod dialects;
mod loss;
mod messages;
mod naming;
mod passes;
pub mod template;
mod text;
mod tools;
mod transcript;
mod view;
mod write;

pub use dialects::{DIALECTS, find, is_house, known};
pub use loss::rule::DialectRule;
pub use loss::schema_path::Problem;
pub use loss::violation::{RefusedDefinition, Violation};
pub use loss::{Changed, FoldedLosses, Loss, LossAmounts, LossCode, LossReason, pseudonyms};
pub use passes::SYNTHETIC_QUESTION;
pub use passes::dialect::{Dialect, Rules};
pub use template::TemplateDialect;
pub use text::arena::TextArena;
pub use text::media::MEDIA_FILES;
pub use text::placeholders::{Placeholders, stands_for_media};
pub use tools::called::CalledTools;
pub use tools::definition::defines_tools;
pub use transcript::Transcript;
pub use transcript::rendering::Rendering;
pub use view::additions::Additions;
pub use view::extent::Coverage;
pub use view::facts::Shared;
pub use view::perspective::auto_perspective;
pub use view::policy::Policy;
pub use view::prompt::{Existing, Prompt, PromptError};
pub use view::targets::{SkippedTargets, Targets};
pub use view::window::{CutPoints, Cuts, WindowMode, WindowRange, WindowRanges};
pub use view::{Answered, History, View, Window, policy, window};
