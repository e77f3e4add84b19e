//! The reference as a counter: tiktoken-rs for every text, to measure the cost of counting without the shortcuts of this crate.

use std::sync::Arc;

use chatmill_model::span::ComponentSpan;

use crate::counter::{Counter, SpanCounter};
use crate::encoding::reference::ReferenceTokenizer;

/// Counts with the reference, or with the encoding's counter if the reference cannot take the text (endless white space).
pub(crate) struct ReferenceCounter {
    pub(crate) reference: ReferenceTokenizer,
    pub(crate) own: Arc<dyn Counter>,
}

impl Counter for ReferenceCounter {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn count(&self, text: &str) -> u64 {
        self.reference.count(text).unwrap_or_else(|| self.own.count(text))
    }

    fn count_spans(&self, text: &str, spans: &[ComponentSpan]) -> Vec<u64> {
        let mut is_asked = true;
        let counts = SpanCounter::of_parts(text, spans, |counter, text, begins| {
            let add = |start| counter.token_at(begins + start);
            is_asked &= self.reference.each_token(text, begins, add);
        });
        if is_asked {
            counts
        } else {
            self.own.count_spans(text, spans)
        }
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::span::{Component, Speaker};

    use crate::ENCODINGS;

    #[test]
    fn the_referee_divides_tokens_as_every_counter_does() {
        let text = format!("It's 12345 o'clock.<|x|>\n\n  Привіт, 世界!{}", "a b ".repeat(40));
        let span = |end, component, control| chatmill_model::ComponentSpan {
            end,
            component,
            speaker: Speaker::Perspective,
            control,
            requests: 1,
            written: false,
            answer: None,
        };
        let spans = [
            span(6, Component::Names, false),
            span(19, Component::Content, false),
            span(24, Component::Framing, true),
            span(text.len(), Component::Tools, false),
        ];
        for encoding in ENCODINGS {
            let blank = " ".repeat(200_000);
            for text in [text.as_str(), &blank] {
                let (one, other) = (encoding.reference_counter(), encoding.counter());
                assert_eq!(one.token_counts(text, &spans), other.token_counts(text, &spans));
                assert_eq!(one.count(text), other.count(text));
            }
        }
    }
}
