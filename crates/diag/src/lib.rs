//! The ground floor: diagnostic codes and their pages, findings, limits and the arithmetic of the ledger.
//!
//! It knows nothing of chats, files or formats; every other crate speaks through it.

pub mod code;
pub mod codes;
pub mod finding;
pub mod ledger;
pub mod limits;

pub use code::{Code, Page, Severity};
pub use finding::{Finding, Path, Reject, RejectLevel, Span};
pub use ledger::{Ledger, RowLedger};
pub use limits::Limits;
