//! What costs most: conversations, rooms and participants by the tokens of what they say, and money where prices are known.

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

/// Something that costs much.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costly {
    /// Its id; of a room, its title.
    pub id: String,
    /// What it is called beside its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Tokens of their text.
    pub tokens: u64,
    /// Tokens of these that assistants wrote.
    pub written: u64,
    /// What they cost, once: what is written at the price of answers, all else at that of what is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub money: Vec<Amount>,
}

/// Money.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// What is paid for.
    pub model: String,
    /// Currency.
    pub currency: String,
    /// How much.
    pub amount: f64,
}

/// What the renderings of a dialect cost at one price.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoneyCell {
    /// What they cost, sent once.
    #[serde(flatten)]
    pub figure: MoneyFigure,
    /// Estimate: as they are served, answers included; none where nothing is ever sent.
    pub as_served: Option<f64>,
}

/// What the renderings of one dialect cost at one price, sent once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MoneyFigure {
    /// Id of the dialect.
    pub dialect: String,
    /// Its profile.
    pub profile: String,
    /// What its renderings show.
    pub coverage: String,
    /// What is paid for.
    pub model: String,
    /// Currency.
    pub currency: String,
    /// All renderings, sent once.
    pub amount: f64,
}

impl MoneyFigure {
    /// Dialect, profile, coverage and model.
    pub(crate) fn key(&self) -> [&str; 4] {
        [&self.dialect, &self.profile, &self.coverage, &self.model]
    }
}

impl MostExpensive {
    /// All that is ranked.
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
