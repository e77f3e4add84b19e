//! Destinations: what may stand there and beside it, and what is never touched.

mod edited;
mod forged;
mod lock;
mod places;
mod planted;
mod replacing;
