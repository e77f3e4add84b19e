//! The lowest crate: diagnostic codes and their pages, findings, limits, the arithmetic of the ledger, and
//! the display of untrusted text.
//!
//! It knows nothing of chats, files or formats; every other crate reports through its types.

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
pub use shown::{markdown, numbers, visible};
