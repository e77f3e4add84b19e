//! The bill as served: how often a chat is sent, and with how much before each answer.
//!
//! A chat is billed once per answer, each time with all that stands before it. A rendering shows the chat as it was in the end, so
//! the requests are read off it: one per answer, each with the tokens before the answer, and definitions of tools wherever
//! they stand. That is an estimate: what the server kept in a cache, sent in other words or cut is not known. Answers are counted
//! where somebody or a tool spoke in between; several turns in a row are one answer.

use std::ops::Range;

use chatmill_dialect::{Cuts, Dialect, Targets, WindowMode};
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
    /// Once per answer that the rendering before does not show.
    NewTurns,
}

impl BillingMode {
    /// How renderings of a dialect are sent that are cut so.
    pub fn of(dialect: &dyn Dialect, cuts: Cuts) -> Self {
        if dialect.about().neutral {
            Self::Never
        } else if dialect.is_single_turn() {
            Self::Once
        } else {
            match (cuts.mode, cuts.targets) {
                (WindowMode::Document, _) => Self::EachAnswer,
                (WindowMode::PerTurn, Targets::Answers) => Self::LastTurn,
                (WindowMode::PerTurn, Targets::Steps) | (WindowMode::Consecutive, _) => Self::NewTurns,
            }
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
        BillingMode::EachAnswer | BillingMode::LastTurn | BillingMode::NewTurns => answers(spans),
    };
    if serving == BillingMode::NewTurns {
        let is_new = |answer: &Answer| {
            let span = spans.get(answer.first_span);
            span.is_some_and(|span| span.voice == Speaker::Perspective)
        };
        answers.drain(..answers.iter().position(is_new).unwrap_or_default());
    }
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
        if span.voice.is_own() {
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

/// The bytes of a rendering that the perspective says, neighbours joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnSpans {
    /// All of them.
    pub said: Vec<Range<u64>>,
    /// Those that are learned.
    pub learned: Vec<Range<u64>>,
}

impl OwnSpans {
    /// Finds them: words and calls; and in the text of a chat template also the glue between them and the token that ends
    /// the turn, as the model has to write both.
    pub fn find(&mut self, spans: &[ComponentSpan], is_template: bool) {
        self.said.clear();
        self.learned.clear();
        let mut start = 0;
        for span in spans {
            let end = span.end as u64;
            let is_said = is_template || matches!(span.component, Component::Content | Component::Tools);
            if span.voice.is_own() && is_said && end > start {
                join(&mut self.said, start..end);
                if span.voice == Speaker::Perspective {
                    join(&mut self.learned, start..end);
                }
            }
            start = end;
        }
    }
}

fn join(found: &mut Vec<Range<u64>>, more: Range<u64>) {
    match found.last_mut() {
        Some(last) if last.end == more.start => last.end = more.end,
        _ => found.push(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Component::{Content, Framing, Names, Tools};
    use Speaker::{Other, Perspective, Preamble, Recalled};

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
    fn what_the_assistant_says_is_its_words_and_calls_with_neighbours_joined() {
        let mut found = OwnSpans::default();
        found.find(&spans(&CHAT), false);
        assert_eq!(found.said, [3..4, 7..8, 9..10]);
        assert_eq!(found.learned, found.said);
        found.find(&spans(&CHAT), true);
        assert_eq!(found.said, [3..4, 6..8, 9..10]);
        let own = (Content, Perspective);
        let next_to_it = spans(&[own, own, (Names, Perspective), own]);
        found.find(&next_to_it, false);
        assert_eq!(found.said, [0..2, 3..4]);
    }

    #[test]
    fn context_is_said_and_not_learned_and_only_new_answers_are_sent() {
        let chat = [
            (Content, Other),
            (Content, Recalled),
            (Content, Other),
            (Content, Perspective),
        ];
        let mut found = OwnSpans::default();
        found.find(&spans(&chat), false);
        assert_eq!(found.said, [1..2, 3..4]);
        assert_eq!(found.learned.first(), Some(&(3..4)));
        assert_eq!(found.learned.len(), 1);
        let mut spans = spans(&chat);
        assert_eq!(requests(&mut spans, BillingMode::NewTurns), 1);
        assert_eq!(carried(&spans), [1, 1, 1, 0]);
        assert_eq!(requests(&mut spans, BillingMode::EachAnswer), 2);
    }
}
