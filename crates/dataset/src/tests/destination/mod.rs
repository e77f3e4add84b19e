//! Destinations: the entries that are accepted at and next to a destination, and those that are never touched.

mod edited;
mod forged;
mod guarded;
mod lock;
mod places;
mod planted;
mod replacing;
mod reports;
