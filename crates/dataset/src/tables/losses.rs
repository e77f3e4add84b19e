//! The table `losses`: what a dialect could not carry, and why; one row for all that a rendering lost of one kind for one
//! reason.

use std::borrow::Cow;
use std::sync::Arc;

use crate::column::Column;
use crate::table::Table;

/// A row of `losses`. There are several for each rendering, so what they have in common is shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct LossRow {
    pub conversation_id: Arc<str>,
    pub dialect: Arc<str>,
    pub profile: Arc<str>,
    pub perspective: Arc<str>,
    pub ordinal: u32,
    pub code: Cow<'static, str>,
    pub reason: Cow<'static, str>,
    pub amount: u64,
    pub positions: Vec<u32>,
}

impl Table for LossRow {
    const NAME: &'static str = "losses";
    const ABOUT: &'static str = "One row per rendering, kind of loss and reason.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("conversation_id", "its conversation", |row| &row.conversation_id),
        Column::key("dialect", "id of the dialect", |row| &row.dialect),
        Column::key("profile", "profile of the dialect", |row| &row.profile),
        Column::key(
            "perspective",
            "participant who is the assistant, empty for none",
            |row| &row.perspective,
        ),
        Column::number(
            "ordinal",
            "place among the renderings of this key, from 0",
            |row| row.ordinal.into(),
        ),
        Column::key("code", "kind of loss", |row| &row.code),
        Column::key("reason", "why the dialect could not carry it", |row| &row.reason),
        Column::number("amount", "occurrences", |row| row.amount),
        Column::positions(
            "positions",
            "places of the messages, ascending; empty where the whole rendering is meant",
            |row| &row.positions,
        ),
    ];
}
