//! Counts renderings against the budget of a window.

use chatmill_model::Sink;
use chatmill_token::{TokenCounter, TokenCounts};

use crate::plan::Budget;

/// Counts renderings against a budget; belongs to one thread.
pub struct BudgetMeter {
    budget: Budget,
    counter: TokenCounter,
    counts_by_encoding: Vec<TokenCounts>,
}

impl BudgetMeter {
    /// A meter for a budget.
    pub fn new(budget: &Budget) -> Self {
        Self {
            counter: TokenCounter::new(std::slice::from_ref(&budget.encoding)),
            budget: budget.clone(),
            counts_by_encoding: Vec::new(),
        }
    }

    /// Whether the rendering that a sink holds fits.
    pub fn fits(&mut self, sink: &Sink<'_>) -> bool {
        // Escapes that make a text longer are tokens, too.
        if sink.is_oversize() || sink.text().len() as u64 > self.budget.bytes {
            return false;
        }
        self.counter.count_sink(sink, &mut self.counts_by_encoding);
        self.counts_by_encoding
            .iter()
            .all(|token_counts| token_counts.tokens <= self.budget.tokens)
    }

    /// Why a rendering whose last message has this position does not fit, and is not valid.
    pub fn refusal(&self, last: Option<u32>) -> String {
        let turn = last.map(|position| format!("the turn that ends with message {position}: "));
        let turn = turn.unwrap_or_default();
        let Budget {
            encoding,
            tokens,
            template,
            ..
        } = &self.budget;
        match template {
            None => format!(
                "window.max_tokens: {turn}more than {tokens} tokens of {}, and nothing is left to cut",
                encoding.name()
            ),
            Some(template) => format!(
                "window.max_tokens: {turn}{template} refuses it or makes more than {tokens} tokens of it, and nothing is left to cut"
            ),
        }
    }
}
