//! The most expensive conversations, chats and participants, by the tokens of their messages, and by money
//! where prices are known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conversations, rooms and participants with the most tokens of text. Calls and their results are not in them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Dearest")]
pub struct MostExpensive {
    /// The encoding that the tokens are counted in: the first of the run.
    pub encoding: String,
    /// Tokens of all messages together.
    pub tokens: u64,
    /// Conversations.
    pub conversations: Vec<Costly>,
    /// Conversations of one title; none where each has its own, where content is left out, or where there are too many.
    pub rooms: Vec<Costly>,
    /// Senders; none where there are too many to be ranked.
    pub participants: Vec<Costly>,
}

/// One expensive conversation, chat or participant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costly {
    /// The id; of a chat, its title.
    pub id: String,
    /// The name beside the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Tokens of their text.
    pub tokens: u64,
    /// Tokens of these that assistants wrote.
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
    /// Estimate: as they are served, answers included; none where nothing is ever sent.
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
    /// The tokens that it is the cost of.
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
    /// Whether two runs have both: the same tokens, priced as the same model, in one currency.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Whether both are money of one model, or of what has none at one price, whichever tokens it was counted of.
    pub(crate) fn is_of_model(&self, other: &Self) -> bool {
        let is_each = |of: &Self| of.basis == MoneyBasis::Each;
        self.key() == other.key() && self.currency == other.currency && is_each(self) == is_each(other)
    }

    /// What figures of two runs have in common where they are compared.
    pub(crate) fn identity(&self) -> ([&str; 4], MoneyBasis, &str) {
        (self.key(), self.basis, &self.currency)
    }

    /// Puts something else in the place of a model that the input names.
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
    /// All ranked elements.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Costly> {
        let rooms = self.rooms.iter_mut();
        self.conversations
            .iter_mut()
            .chain(rooms)
            .chain(&mut self.participants)
    }

    /// Takes out names and titles, and puts something else in the place of ids.
    pub(super) fn mask_ids(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        self.rooms.clear();
        for costly in self.all() {
            costly.name = None;
            costly.id = mask(&costly.id);
        }
    }
}
