//! The most expensive conversations, rooms and participants, by the tokens of their messages, and by money if prices are known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conversations, rooms and participants with the most tokens of text. Tool calls and their results are not included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Dearest")]
pub struct MostExpensive {
    /// The encoding in which tokens are counted, the first of the run.
    pub encoding: String,
    /// Tokens of all messages together.
    pub tokens: u64,
    /// Conversations.
    pub conversations: Vec<Costly>,
    /// Groups of conversations with the same title; empty if all titles differ, if content is left out, or if there are too many.
    pub rooms: Vec<Costly>,
    /// Senders; empty if there are too many to rank.
    pub participants: Vec<Costly>,
}

/// An expensive conversation, room or participant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costly {
    /// The id; for a room, its title.
    pub id: String,
    /// The name that belongs to the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Tokens of their text.
    pub tokens: u64,
    /// The part of these tokens that assistants wrote.
    pub written: u64,
    /// The cost of sending everything once: written text at the price of answers, all other at the price of
    /// input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub money: Vec<Amount>,
}

/// Money.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// The name of the priced product.
    pub model: String,
    /// Currency.
    pub currency: String,
    /// The amount of money.
    pub amount: f64,
}

/// The cost of a dialect's renderings at one price.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoneyCell {
    /// The cost of sending them once.
    #[serde(flatten)]
    pub figure: MoneyFigure,
    /// The estimated cost as requests, answers included; null if nothing is ever sent.
    #[serde(rename = "as_served")]
    pub as_requested: Option<f64>,
}

/// The cost of sending one dialect's renderings once, at one price.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MoneyFigure {
    /// Id of the dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// The coverage of its renderings.
    pub coverage: String,
    /// The name of the priced product.
    pub model: String,
    /// Currency.
    pub currency: String,
    /// The tokens to which the cost applies.
    #[serde(default, skip_serializing_if = "MoneyBasis::is_each")]
    pub basis: MoneyBasis,
    /// The cost of sending all renderings once, or of what was logged.
    pub amount: f64,
}

/// The tokens that a figure of money is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MoneyBasis {
    /// Tokens without a known model, at this price.
    #[default]
    Each,
    /// Tokens of this model, as they are counted here.
    Model,
    /// Tokens of this model, as the provider logged them: its price names no encoding.
    Logged,
}

impl MoneyBasis {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_each(&self) -> bool {
        *self == Self::Each
    }
}

impl MoneyFigure {
    /// Whether figures of two runs can be compared: the same tokens, priced as the same model, in one currency.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Whether both are money of one model, or of tokens without a model at one price, for any tokens.
    pub(crate) fn is_of_model(&self, other: &Self) -> bool {
        let is_each = |of: &Self| of.basis == MoneyBasis::Each;
        self.key() == other.key() && self.currency == other.currency && is_each(self) == is_each(other)
    }

    /// The properties that two figures must share to be compared.
    pub(crate) fn identity(&self) -> ([&str; 4], MoneyBasis, &str) {
        (self.key(), self.basis, &self.currency)
    }

    /// Replaces the name of a model that comes from the input.
    pub(crate) fn mask_model(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        if self.basis != MoneyBasis::Each {
            self.model = mask(&self.model);
        }
    }

    /// Dialect, profile, coverage and model.
    pub(crate) fn key(&self) -> [&str; 4] {
        [&self.dialect, &self.profile, &self.coverage, &self.model]
    }
}

impl MostExpensive {
    /// All ranked entries.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Costly> {
        let rooms = self.rooms.iter_mut();
        self.conversations
            .iter_mut()
            .chain(rooms)
            .chain(&mut self.participants)
    }

    /// Removes names and titles, and replaces ids.
    pub(super) fn mask_ids(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        self.rooms.clear();
        for costly in self.all() {
            costly.name = None;
            costly.id = mask(&costly.id);
        }
    }
}
