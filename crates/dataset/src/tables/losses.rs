//! The table `losses`: what a dialect could not carry, and why.

use std::borrow::Cow;
use std::sync::Arc;

use super::Table;
use crate::column::Column;

/// A row of `losses`. There are many for each rendering, so what they have in common is shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct LossRow {
    pub conversation_id: Arc<str>,
    pub dialect: Arc<str>,
    pub profile: Arc<str>,
    pub perspective: Arc<str>,
    pub ordinal: u32,
    pub position: Option<u32>,
    pub message_id: Option<Arc<str>>,
    pub code: Cow<'static, str>,
    pub amount: u64,
    pub reason: Cow<'static, str>,
}

impl Table for LossRow {
    const NAME: &'static str = "losses";
    const ABOUT: &'static str = "One row per loss of a rendering, by message where it depends on the message.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("conversation_id", "its conversation", |row| &row.conversation_id),
        Column::key("dialect", "id of the dialect", |row| &row.dialect),
        Column::key("profile", "profile of the dialect", |row| &row.profile),
        Column::key("perspective", "participant who is the assistant, empty for none", |row| {
            &row.perspective
        }),
        Column::number("ordinal", "place among the renderings of this key, from 0", |row| row.ordinal.into()),
        Column::optional_number("position", "place of the message; null for the whole rendering", |row| {
            row.position.map(u64::from)
        }),
        Column::optional_key("message_id", "id of the message", |row| row.message_id.as_deref()),
        Column::key("code", "kind of loss", |row| &row.code),
        Column::number("amount", "occurrences", |row| row.amount),
        Column::key("reason", "why the dialect could not carry it", |row| &row.reason),
    ];
}
