//! Measures renderings against the token budget of a window.

use chatmill_model::Sink;
use chatmill_token::{TokenCounter, TokenCounts};

use crate::plan::Budget;

/// Measures renderings against a budget. A meter belongs to one thread.
pub struct BudgetMeter {
    budget: Budget,
    counter: TokenCounter,
    counts_by_encoding: Vec<TokenCounts>,
}

impl BudgetMeter {
    /// Creates a meter for a budget.
    pub fn new(budget: &Budget) -> Self {
        Self {
            counter: TokenCounter::new(std::slice::from_ref(&budget.encoding)),
            budget: budget.clone(),
            counts_by_encoding: Vec::new(),
        }
    }

    /// Returns whether the rendering in a sink fits.
    pub fn fits(&mut self, sink: &Sink<'_>) -> bool {
        // Escapes that lengthen a text are tokens, too.
        if sink.is_oversize() || sink.text().len() as u64 > self.budget.bytes {
            return false;
        }
        self.counter.count_sink(sink, &mut self.counts_by_encoding);
        self.counts_by_encoding
            .iter()
            .all(|token_counts| token_counts.tokens <= self.budget.tokens)
    }

    /// Returns the reason why a rendering does not fit; `last` is the position of its last message.
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
