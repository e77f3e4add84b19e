//! Finds personal data and secrets in a conversation, counts them and, on request, replaces them by stable pseudonyms.
//!
//! The input is a conversation; the output is the same conversation with other texts in the same places, and an account of the matches.
//! `engine` calls it, and nothing here reads files. `find` has the detectors, `roster` the names, `pseudonym` and `mask` the replacements,
//! `walk` visits every text. Detection uses rules that can be read and tested; there is no model and no dictionary of names. The limits of
//! the rules are listed in `docs/redaction.md`.

mod account;
mod find;
mod fixed;
mod fold;
mod kind;
mod mask;
mod pseudonym;
mod redactor;
mod roster;
mod spelling;
mod stop_words;
mod walk;

pub use account::{Account, Counts};
pub use kind::PersonalKind;
pub use mask::Mask;
pub use pseudonym::{KeyError, PseudonymKey, SHORTEST_KEY};
pub use redactor::Redactor;
pub use roster::Roster;
