//! The trait of all counters, and the division of a count among the parts of a rendering.

use chatmill_model::span::{Component, ComponentCounts, ComponentSpan, Speaker};
use serde::{Deserialize, Serialize};

use crate::split::parts::{TextOrControl, each_part};

/// Counts the tokens of a text as ordinary text.
pub trait Counter: Send + Sync {
    /// The name of the encoding, for example `o200k_base`.
    fn name(&self) -> &str;

    /// The number of tokens of `text`.
    fn count(&self, text: &str) -> u64 {
        self.count_spans(text, &[]).iter().sum()
    }

    /// The number of tokens of `text`, divided by the components of `spans`.
    ///
    /// Spans are adjacent and in order, and their ends are byte offsets in `text`; bytes after the last span are framing. A token that
    /// crosses a span's end belongs to the span of its first byte. A control span is one token, and the parts before and after it are
    /// counted as separate texts.
    fn token_counts(&self, text: &str, spans: &[ComponentSpan]) -> TokenCounts {
        TokenCounts::of_spans(spans, &self.count_spans(text, spans))
    }

    /// The tokens of each span, and of the bytes after the last one, divided as in [`token_counts`](Self::token_counts).
    fn count_spans(&self, text: &str, spans: &[ComponentSpan]) -> Vec<u64>;
}

/// A token count, divided by component.
///
/// `parts` add up to `tokens`; `assistant_content` is a share of the content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// All tokens.
    pub tokens: u64,
    /// The tokens of each component.
    pub parts: ComponentCounts,
    /// Content tokens of the perspective's messages.
    pub assistant_content: u64,
    /// Tokens of all requests together: each token counts once for every request that contains its span.
    pub sent: u64,
    /// Tokens of the answers that are billed here: the perspective's texts and its tool calls.
    pub written: u64,
}

impl TokenCounts {
    /// Sums the tokens of each span, and of the bytes after the last one, by component.
    pub(crate) fn of_spans(spans: &[ComponentSpan], tokens: &[u64]) -> Self {
        let mut counts = Self::default();
        for (span, tokens) in spans.iter().chain([&AFTER_LAST_SPAN]).zip(tokens) {
            counts.book_many(span, *tokens);
        }
        counts
    }

    /// Adds the tokens of a span to the totals.
    pub fn book_many(&mut self, span: &ComponentSpan, tokens: u64) {
        self.tokens += tokens;
        self.sent += tokens * u64::from(span.requests);
        if span.written {
            self.written += tokens;
        }
        *self.parts.get_mut(span.component) += tokens;
        if span.component == Component::Content && span.speaker.is_own() {
            self.assistant_content += tokens;
        }
    }
}

impl std::ops::AddAssign for TokenCounts {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.parts += other.parts;
        self.assistant_content += other.assistant_content;
        self.sent += other.sent;
        self.written += other.written;
    }
}

/// The span of all bytes after the last one.
pub(crate) const AFTER_LAST_SPAN: ComponentSpan = ComponentSpan {
    end: usize::MAX,
    component: Component::Framing,
    speaker: Speaker::Other,
    control: false,
    requests: 0,
    written: false,
    answer: None,
};

/// Adds tokens, given in order with their length in bytes, to the span in which each begins.
pub(crate) struct SpanCounter<'s> {
    spans: std::slice::Iter<'s, ComponentSpan>,
    here: Option<&'s ComponentSpan>,
    at: usize,
    /// The index of the current span.
    number: usize,
    /// The tokens of each span, and of the bytes after the last one.
    each: Vec<u64>,
}

impl<'s> SpanCounter<'s> {
    /// The tokens of each span of a text, and of the bytes after the last one. `count` is called with each stretch of text between control
    /// tokens and the byte at which it begins.
    pub(crate) fn of_parts(
        text: &str,
        spans: &'s [ComponentSpan],
        mut count: impl FnMut(&mut Self, &str, usize),
    ) -> Vec<u64> {
        let mut counter = Self::new(spans);
        each_part(text, spans, |begins, part| {
            counter.at = begins;
            match part {
                TextOrControl::Text(text) => count(&mut counter, text, begins),
                TextOrControl::Control(bytes) => counter.token(bytes),
            }
        });
        counter.each
    }

    fn new(spans: &'s [ComponentSpan]) -> Self {
        let each = vec![0; spans.len() + 1];
        let mut spans = spans.iter();
        Self {
            here: spans.next(),
            spans,
            at: 0,
            number: 0,
            each,
        }
    }

    pub(crate) fn token(&mut self, bytes: usize) {
        while self.here.is_some_and(|span| span.end <= self.at) {
            self.here = self.spans.next();
            self.number += 1;
        }
        #[expect(
            clippy::indexing_slicing,
            reason = "there is a place for each span, and one for the bytes after the last"
        )]
        let tokens = &mut self.each[self.number];
        *tokens += 1;
        self.at += bytes;
    }

    /// Counts a token that begins at `byte`; the bytes of successive calls never decrease.
    pub(crate) fn token_at(&mut self, byte: usize) {
        self.at = byte;
        self.token(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(end: usize, component: Component, speaker: Speaker) -> ComponentSpan {
        ComponentSpan {
            end,
            component,
            speaker,
            control: false,
            requests: u32::try_from(end).unwrap(),
            written: false,
            answer: None,
        }
    }

    #[test]
    fn a_token_over_two_spans_belongs_to_the_one_of_its_first_byte() {
        let spans = [
            span(3, Component::Names, Speaker::Other),
            span(3, Component::Meta, Speaker::Other),
            span(5, Component::Content, Speaker::Perspective),
            span(9, Component::Content, Speaker::Other),
        ];
        let mut accumulator = SpanCounter::new(&spans);
        for bytes in [2, 2, 3, 1, 4, 1] {
            accumulator.token(bytes);
        }
        let each = accumulator.each;
        assert_eq!(each, [2, 0, 1, 2, 1]);
        let token_counts = TokenCounts::of_spans(&spans, &each);
        assert_eq!(
            token_counts,
            TokenCounts {
                tokens: 6,
                parts: ComponentCounts {
                    names: 2,
                    content: 3,
                    framing: 1,
                    ..ComponentCounts::default()
                },
                assistant_content: 1,
                sent: 3 + 3 + 5 + 9 + 9,
                ..TokenCounts::default()
            }
        );
        assert_eq!(token_counts.parts.total(), token_counts.tokens);
    }
}
