//! The requests of a chat for its bill: their number, the
//! tokens before each answer, and the tokens of each answer.
//!
//! A chat is billed once per answer, each time with everything before it. A rendering shows the final chat, so
//! its requests are derived from it: one per answer, each with the tokens before the answer and all tool
//! definitions. That is an estimate: caching, rewording and cutting by the server are unknown. Answers are
//! separate if another participant or a tool spoke in between; consecutive turns are one answer. The tokens of
//! an answer are counted once, in the rendering that is billed for the answer, however many others repeat it.

use std::ops::Range;

use chatmill_dialect::{Cuts, Dialect, Targets, WindowMode};
use chatmill_model::Conversation;
use chatmill_model::span::{Component, ComponentSpan, Speaker};

/// The way in which a dialect's renderings are sent to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BillingMode {
    /// Never: an archive has no assistant, and for some texts the requests cannot be derived.
    Never,
    /// Once: the rendering is one message to the assistant.
    Once,
    /// Once per answer.
    EachAnswer,
    /// Once per answer of its last turn: earlier turns are billed with their renderings.
    LastTurn,
    /// Once, with everything before its last answer: the record was one
    /// request, and the answers that it repeats were not requested again.
    Captured,
    /// Once per answer that the previous rendering does not show.
    NewTurns,
}

impl BillingMode {
    /// Returns the billing mode of a dialect's renderings with these
    /// cuts. `one_request` is true for records that are one request each.
    pub fn of(dialect: &Dialect, cuts: Cuts, one_request: bool) -> Self {
        if dialect.is_neutral() {
            Self::Never
        } else if dialect.is_single_turn() {
            Self::Once
        } else {
            match (cuts.mode, cuts.targets) {
                // Of a flattened history, captured or not, only the last request could be derived.
                // Next to dialects with all requests counted, such a bill would look cheap.
                (WindowMode::Document | WindowMode::Consecutive, _) if dialect.is_one_request() => {
                    Self::Never
                }
                (WindowMode::Document, _) if one_request => Self::Captured,
                (WindowMode::Document, _) => Self::EachAnswer,
                (WindowMode::PerTurn, Targets::Answers) => Self::LastTurn,
                (WindowMode::PerTurn, Targets::Steps) | (WindowMode::Consecutive, _) => Self::NewTurns,
            }
        }
    }
}

impl BillingMode {
    /// Returns the positions that a rendering is billed for and that may have cost more than its requests
    /// show. A single message has no answer, and a captured request is billed only for its answer.
    pub fn paid(self, positions: Range<u32>, requests: &[Request]) -> Range<u32> {
        match self {
            Self::Never | Self::Once => 0..0,
            Self::Captured => {
                // Without an answer, or if the dialect does not record its message, no message is billed.
                let answer = requests.first().and_then(|request| request.position);
                answer.unwrap_or(positions.end)..positions.end
            }
            Self::EachAnswer | Self::LastTurn | Self::NewTurns => positions,
        }
    }
}

/// A request that is derived from a rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Index of the span at which its answer starts; all spans before it are sent.
    pub answer: usize,
    /// The end of the answer's last span, exclusive.
    pub end: usize,
    /// Position of the message that starts the answer, if the dialect records it.
    pub position: Option<u32>,
}

/// Returns whether the message at a position is a copy; the
/// request of the original is billed in another conversation.
pub fn is_copy(conversation: &Conversation, position: u32) -> bool {
    let message = conversation.messages.get(position as usize);
    message.is_some_and(|message| message.earlier_copy.is_some())
}

/// Sets the number of requests of each span of a rendering, and whether the span is written as an answer;
/// returns the requests. Answers at positions that are copies were requested in another conversation.
pub fn requests(
    spans: &mut [ComponentSpan],
    serving: BillingMode,
    is_copy: impl Fn(u32) -> bool,
) -> Vec<Request> {
    let whole = Request {
        answer: spans.len(),
        end: spans.len(),
        position: None,
    };
    let mut answers = match serving {
        BillingMode::Never => Vec::new(),
        BillingMode::Once => {
            for span in spans {
                span.requests = 1;
            }
            return vec![whole];
        }
        BillingMode::EachAnswer | BillingMode::LastTurn | BillingMode::Captured | BillingMode::NewTurns => {
            answers(spans)
        }
    };
    match serving {
        BillingMode::LastTurn => {
            let turn = answers.iter().rposition(|answer| answer.opens_turn);
            // If no answer opens a turn, all belong to the turn that was started before.
            answers.drain(..turn.unwrap_or_default());
        }
        BillingMode::NewTurns => {
            let is_new = |answer: &Answer| {
                let span = spans.get(answer.request.answer);
                span.is_some_and(|span| span.speaker == Speaker::Perspective)
            };
            // A window without a new answer was not sent.
            let first = answers.iter().position(is_new);
            answers.drain(..first.unwrap_or(answers.len()));
        }
        BillingMode::Captured => {
            let is_answered = |answer: &Answer| !answer.is_followed;
            answers = answers.pop().filter(is_answered).into_iter().collect();
        }
        BillingMode::Never | BillingMode::Once | BillingMode::EachAnswer => {}
    }
    if serving != BillingMode::Captured {
        answers.retain(|answer| !answer.request.position.is_some_and(&is_copy));
    }
    let mut requests: Vec<Request> = answers.iter().map(|answer| answer.request).collect();
    if serving == BillingMode::Captured && requests.is_empty() {
        requests.push(whole);
    }
    let all = u32::try_from(requests.len()).unwrap_or(u32::MAX);
    let written_from = requests.first().map_or(usize::MAX, |first| first.answer);
    let mut left = all;
    let mut next = requests.iter().map(|request| request.answer).peekable();
    for (index, span) in spans.iter_mut().enumerate() {
        if next.next_if_eq(&index).is_some() {
            left -= 1;
        }
        span.requests = if span.speaker == Speaker::Preamble {
            all
        } else {
            left
        };
        span.written = index >= written_from
            && span.speaker == Speaker::Perspective
            && matches!(span.component, Component::Content | Component::Tools);
    }
    requests
}

/// An answer of the assistant.
struct Answer {
    request: Request,
    /// Whether more than tool results is between it and the previous answer.
    opens_turn: bool,
    /// Whether speech or a tool result follows it.
    is_followed: bool,
}

/// The content between two answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Between {
    Nothing,
    Tool,
    Speech,
}

fn answers(spans: &[ComponentSpan]) -> Vec<Answer> {
    let mut answers: Vec<Answer> = Vec::new();
    let mut between = Between::Speech;
    for (number, span) in spans.iter().enumerate() {
        if span.speaker.is_own() {
            if between != Between::Nothing {
                answers.push(Answer {
                    request: Request {
                        answer: number,
                        end: number,
                        position: None,
                    },
                    opens_turn: between == Between::Speech,
                    is_followed: false,
                });
            }
            if let Some(answer) = answers.last_mut() {
                answer.request.end = number + 1;
                answer.request.position = answer.request.position.or(span.answer);
            }
            between = Between::Nothing;
        } else if span.speaker == Speaker::Other {
            between = between.max(match span.component {
                Component::Framing | Component::Meta => Between::Nothing,
                Component::Tools => Between::Tool,
                Component::Content | Component::Names | Component::Replies => Between::Speech,
            });
            if let Some(answer) = answers.last_mut() {
                answer.is_followed |= between != Between::Nothing;
            }
        }
    }
    answers
}

/// The byte ranges of the perspective's text, with neighbours joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnSpans {
    /// All spans of the assistant.
    pub assistant: Vec<Range<u64>>,
    /// The spans that are trained on.
    pub trained: Vec<Range<u64>>,
}

impl OwnSpans {
    /// Finds the byte ranges of words and calls. If control tokens separate turns, the glue between
    /// them and the token that ends the turn are included, since the model has to write both.
    pub fn find(&mut self, spans: &[ComponentSpan], has_control_tokens: bool) {
        self.assistant.clear();
        self.trained.clear();
        let mut start = 0;
        for span in spans {
            let end = span.end as u64;
            let is_written =
                has_control_tokens || matches!(span.component, Component::Content | Component::Tools);
            if span.speaker.is_own() && is_written && end > start {
                join(&mut self.assistant, start..end);
                if span.speaker == Speaker::Perspective {
                    join(&mut self.trained, start..end);
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
    use Speaker::{Context, Other, Perspective, Preamble};

    /// Returns spans of one byte each.
    fn spans(kinds: &[(Component, Speaker)]) -> Vec<ComponentSpan> {
        let spans = kinds
            .iter()
            .enumerate()
            .map(|(index, (component, speaker))| ComponentSpan {
                end: index + 1,
                component: *component,
                speaker: *speaker,
                control: false,
                requests: 9,
                written: false,
                answer: None,
            });
        spans.collect()
    }

    fn carried(spans: &[ComponentSpan]) -> Vec<u32> {
        spans.iter().map(|span| span.requests).collect()
    }

    fn written(spans: &[ComponentSpan]) -> Vec<usize> {
        let numbers = (0..).zip(spans).filter(|(_, span)| span.written);
        numbers.map(|(number, _)| number).collect()
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
    fn each_answer_is_billed_with_all_text_before_it_and_all_definitions() {
        let mut spans = spans(&CHAT);
        assert_eq!(requests(&mut spans, BillingMode::EachAnswer, |_| false).len(), 3);
        assert_eq!(carried(&spans), [3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 3]);
    }

    #[test]
    fn the_last_turn_is_its_calls_and_its_answer() {
        let mut spans = spans(&CHAT);
        assert_eq!(requests(&mut spans, BillingMode::LastTurn, |_| false).len(), 2);
        assert_eq!(carried(&spans), [2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0, 2]);
    }

    #[test]
    fn a_captured_request_is_one_with_its_answer_or_without() {
        let mut answered = spans(&CHAT);
        assert_eq!(requests(&mut answered, BillingMode::Captured, |_| false).len(), 1);
        assert_eq!(carried(&answered), [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1]);
        assert_eq!(written(&answered), [9]);
        let mut asked = spans(&[(Content, Other), (Content, Perspective), (Content, Other)]);
        assert_eq!(requests(&mut asked, BillingMode::Captured, |_| false).len(), 1);
        assert_eq!(carried(&asked), [1; 3]);
        assert!(written(&asked).is_empty());
    }

    #[test]
    fn text_and_calls_of_an_answer_are_written_in_the_rendering_that_is_billed_for_it() {
        let mut each = spans(&CHAT);
        requests(&mut each, BillingMode::EachAnswer, |_| false);
        assert_eq!(written(&each), [3, 7, 9]);
        let mut last = spans(&CHAT);
        requests(&mut last, BillingMode::LastTurn, |_| false);
        assert_eq!(written(&last), [7, 9]);
    }

    #[test]
    fn single_messages_are_sent_once_and_archives_never() {
        let mut spans = spans(&CHAT);
        assert_eq!(requests(&mut spans, BillingMode::Never, |_| false).len(), 0);
        assert_eq!(carried(&spans), [0; 12]);
        assert_eq!(requests(&mut spans, BillingMode::Once, |_| false).len(), 1);
        assert_eq!(carried(&spans), [1; 12]);
        assert_eq!(requests(&mut [], BillingMode::EachAnswer, |_| false).len(), 0);
    }

    #[test]
    fn turns_in_a_row_are_one_answer_and_a_chat_without_answers_is_never_sent() {
        let mut twice = spans(&[(Content, Perspective), (Framing, Other), (Content, Perspective)]);
        assert_eq!(requests(&mut twice, BillingMode::EachAnswer, |_| false).len(), 1);
        assert_eq!(carried(&twice), [0; 3]);
        let mut unanswered = spans(&[(Content, Other), (Framing, Other)]);
        assert_eq!(
            requests(&mut unanswered, BillingMode::LastTurn, |_| false).len(),
            0
        );
        assert_eq!(carried(&unanswered), [0; 2]);
    }

    #[test]
    fn assistant_spans_are_text_and_calls_with_neighbours_joined() {
        let mut found = OwnSpans::default();
        found.find(&spans(&CHAT), false);
        assert_eq!(found.assistant, [3..4, 7..8, 9..10]);
        assert_eq!(found.trained, found.assistant);
        found.find(&spans(&CHAT), true);
        assert_eq!(found.assistant, [3..4, 6..8, 9..10]);
        let own = (Content, Perspective);
        let next_to_it = spans(&[own, own, (Names, Perspective), own]);
        found.find(&next_to_it, false);
        assert_eq!(found.assistant, [0..2, 3..4]);
    }

    #[test]
    fn context_is_assistant_text_but_not_trained_and_only_new_answers_are_sent() {
        let chat = [
            (Content, Other),
            (Content, Context),
            (Content, Other),
            (Content, Perspective),
        ];
        let mut found = OwnSpans::default();
        found.find(&spans(&chat), false);
        assert_eq!(found.assistant, [1..2, 3..4]);
        assert_eq!(found.trained.first(), Some(&(3..4)));
        assert_eq!(found.trained.len(), 1);
        let mut spans = spans(&chat);
        assert_eq!(requests(&mut spans, BillingMode::NewTurns, |_| false).len(), 1);
        assert_eq!(carried(&spans), [1, 1, 1, 0]);
        assert_eq!(requests(&mut spans, BillingMode::EachAnswer, |_| false).len(), 2);
    }

    #[test]
    fn a_window_without_a_new_answer_is_sent_for_none() {
        let mut overlap = spans(&[(Content, Other), (Content, Context), (Content, Other)]);
        assert!(requests(&mut overlap, BillingMode::NewTurns, |_| false).is_empty());
        assert_eq!(carried(&overlap), [0; 3]);
        assert!(written(&overlap).is_empty());
    }
}
