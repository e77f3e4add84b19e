//! Destinations: the entries that are accepted there and beside it, and those that are never touched.

mod edited;
mod forged;
mod guarded;
mod lock;
mod places;
mod planted;
mod replacing;
mod reports;
