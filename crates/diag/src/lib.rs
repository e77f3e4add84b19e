//! The ground floor: diagnostic codes and their pages, findings, limits, the ledger of records and bytes, and the display of untrusted
//! text.
//!
//! Every other crate reports through these types, and this crate knows nothing of chats, files or formats. `codes` lists all codes,
//! `finding` is one diagnostic with its place, `limits` has every limit with its default, `ledger` checks that no record and no byte is
//! lost, and the modules in `shown` make text safe for terminals, pages and Markdown.

pub mod caught;
mod class;
pub mod code;
pub mod codes;
pub mod cut;
pub mod day;
pub mod faults;
pub mod fields;
pub mod finding;
#[cfg(test)]
mod fixtures;
pub mod ledger;
pub mod limits;
pub mod page;
pub mod reason;
mod shown;
pub mod steps;
pub mod suggest;

pub use class::{Advice, Class, Classed};
pub use code::{Code, Page, Severity};
pub use day::Day;
pub use finding::{Finding, Meant, Path, Reject, RejectLevel, ShownId, Span, fold};
pub use ledger::{Ledger, RowLedger, is_zero};
pub use limits::Limits;
pub use reason::Reason;
pub use shown::{has_settings, markdown, numbers, settings_error, visible};
