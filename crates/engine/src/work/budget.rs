//! Counts renderings against the budget of a window.

use chatmill_dialect::Rendering;
use chatmill_model::ComponentSpan;
use chatmill_token::TokenCounter;

use crate::plan::Budget;

/// Counts renderings against a budget; belongs to one thread.
pub struct BudgetMeter {
    budget: Budget,
    counter: TokenCounter,
    text: String,
    spans: Vec<ComponentSpan>,
}

impl BudgetMeter {
    /// A meter for a budget.
    pub fn new(budget: &Budget) -> Self {
        Self {
            counter: TokenCounter::new(std::slice::from_ref(&budget.encoding)),
            budget: budget.clone(),
            text: String::new(),
            spans: Vec::new(),
        }
    }

    /// Whether a rendering fits.
    pub fn fits(&mut self, rendering: &Rendering<'_>) -> bool {
        let segments = rendering.rope.segments().iter();
        if segments.map(|segment| segment.text.len() as u64).sum::<u64>() > self.budget.bytes {
            return false;
        }
        self.text.clear();
        self.spans.clear();
        rendering.rope.write(&mut self.text, &mut self.spans);
        let tallies = self.counter.tally(&self.text, &self.spans);
        tallies.iter().all(|tally| tally.tokens <= self.budget.tokens)
    }

    /// Why a rendering that does not fit is not valid.
    pub fn refusal(&self) -> String {
        let Budget { encoding, tokens, .. } = &self.budget;
        format!(
            "window.max_tokens: more than {tokens} tokens of {}, and nothing left to cut",
            encoding.name()
        )
    }
}
