//! The bill as served: how often a chat is sent, and with how much before each answer.
//!
//! A chat is billed once per answer, each time with all that stands before it. A rendering shows the chat as it was in the end, so
//! the requests are read off it: one per answer, each with the tokens before the answer, and definitions of tools wherever
//! they stand. That is an estimate: what the server kept in a cache, sent in other words or cut is not known. Answers are counted
//! where somebody or a tool spoke in between; several turns in a row are one answer.

use std::ops::Range;

use chatmill_dialect::Dialect;
use chatmill_model::span::{Component, ComponentSpan, Speaker};

/// How a dialect's renderings are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BillingMode {
    /// Never: an archive has no assistant who would be asked.
    Never,
    /// Once: it is one message to the assistant.
    Once,
    /// Once per answer.
    EachAnswer,
    /// Once per answer of its last turn: the turns before are billed by their own renderings.
    LastTurn,
}

impl BillingMode {
    /// How renderings of a dialect are sent, where each turn has a rendering of its own or not.
    pub fn of(dialect: &dyn Dialect, per_turn: bool) -> Self {
        if dialect.about().neutral {
            Self::Never
        } else if dialect.is_single_turn() {
            Self::Once
        } else if per_turn {
            Self::LastTurn
        } else {
            Self::EachAnswer
        }
    }
}

/// Says in the spans of a rendering how many requests carry each, and gives the number of all requests.
pub fn requests(spans: &mut [ComponentSpan], serving: BillingMode) -> u32 {
    let mut answers = match serving {
        BillingMode::Never => Vec::new(),
        BillingMode::Once => {
            for span in spans {
                span.requests = 1;
            }
            return 1;
        }
        BillingMode::EachAnswer | BillingMode::LastTurn => answers(spans),
    };
    if serving == BillingMode::LastTurn {
        let last = answers.iter().rposition(|answer| answer.opens_turn);
        answers.drain(..last.unwrap_or_default());
    }
    let all = u32::try_from(answers.len()).unwrap_or(u32::MAX);
    let mut left = all;
    let mut next = answers.iter().map(|answer| answer.first_span).peekable();
    for (index, span) in spans.iter_mut().enumerate() {
        if next.next_if_eq(&index).is_some() {
            left -= 1;
        }
        span.requests = if span.voice == Speaker::Preamble {
            all
        } else {
            left
        };
    }
    all
}

/// Where the assistant is asked.
struct Answer {
    /// Index of the span with which it begins.
    first_span: usize,
    /// Whether more than tool results stands between it and the answer before it.
    opens_turn: bool,
}

/// What stands between two answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heard {
    Nothing,
    Tool,
    Speech,
}

fn answers(spans: &[ComponentSpan]) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut heard = Heard::Speech;
    for (first_span, span) in spans.iter().enumerate() {
        if span.voice == Speaker::Perspective {
            if heard != Heard::Nothing {
                answers.push(Answer {
                    first_span,
                    opens_turn: heard == Heard::Speech,
                });
            }
            heard = Heard::Nothing;
        } else if span.voice == Speaker::Other {
            heard = heard.max(match span.component {
                Component::Framing | Component::Meta => Heard::Nothing,
                Component::Tools => Heard::Tool,
                Component::Content | Component::Names | Component::Replies => Heard::Speech,
            });
        }
    }
    answers
}

/// Finds the bytes of what the perspective says: its content, neighbours joined.
pub fn assistant_spans(spans: &[ComponentSpan], found: &mut Vec<Range<u64>>) {
    found.clear();
    let mut start = 0;
    for span in spans {
        let end = span.end as u64;
        if span.voice == Speaker::Perspective && span.component == Component::Content && end > start {
            match found.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => found.push(start..end),
            }
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Component::{Content, Framing, Names, Tools};
    use Speaker::{Other, Perspective, Preamble};

    /// Spans of one byte each.
    fn spans(kinds: &[(Component, Speaker)]) -> Vec<ComponentSpan> {
        let spans = kinds
            .iter()
            .enumerate()
            .map(|(index, (component, voice))| ComponentSpan {
                end: index + 1,
                component: *component,
                voice: *voice,
                control: false,
                requests: 9,
            });
        spans.collect()
    }

    fn carried(spans: &[ComponentSpan]) -> Vec<u32> {
        spans.iter().map(|span| span.requests).collect()
    }

    const CHAT: [(Component, Speaker); 12] = [
        (Framing, Other),
        (Content, Other),
        (Framing, Other),
        (Content, Perspective),
        (Framing, Other),
        (Content, Other),
        (Framing, Perspective),
        (Tools, Perspective),
        (Tools, Other),
        (Content, Perspective),
        (Framing, Other),
        (Tools, Preamble),
    ];

    #[test]
    fn each_answer_is_sent_what_stands_before_it_and_all_definitions() {
        let mut spans = spans(&CHAT);
        assert_eq!(requests(&mut spans, BillingMode::EachAnswer), 3);
        assert_eq!(carried(&spans), [3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 3]);
    }

    #[test]
    fn the_last_turn_is_its_calls_and_its_answer() {
        let mut spans = spans(&CHAT);
        assert_eq!(requests(&mut spans, BillingMode::LastTurn), 2);
        assert_eq!(carried(&spans), [2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0, 2]);
    }

    #[test]
    fn single_messages_are_sent_once_and_archives_never() {
        let mut spans = spans(&CHAT);
        assert_eq!(requests(&mut spans, BillingMode::Never), 0);
        assert_eq!(carried(&spans), [0; 12]);
        assert_eq!(requests(&mut spans, BillingMode::Once), 1);
        assert_eq!(carried(&spans), [1; 12]);
        assert_eq!(requests(&mut [], BillingMode::EachAnswer), 0);
    }

    #[test]
    fn turns_in_a_row_are_one_answer_and_a_chat_without_answers_is_never_sent() {
        let mut twice = spans(&[(Content, Perspective), (Framing, Other), (Content, Perspective)]);
        assert_eq!(requests(&mut twice, BillingMode::EachAnswer), 1);
        assert_eq!(carried(&twice), [0; 3]);
        let mut unanswered = spans(&[(Content, Other), (Framing, Other)]);
        assert_eq!(requests(&mut unanswered, BillingMode::LastTurn), 0);
        assert_eq!(carried(&unanswered), [0; 2]);
    }

    #[test]
    fn what_the_assistant_says_is_its_content_with_neighbours_joined() {
        let mut found = Vec::new();
        assistant_spans(&spans(&CHAT), &mut found);
        assert_eq!(found, [3..4, 9..10]);
        let own = (Content, Perspective);
        let next_to_it = spans(&[own, own, (Names, Perspective), own]);
        assistant_spans(&next_to_it, &mut found);
        assert_eq!(found, [0..2, 3..4]);
    }
}
