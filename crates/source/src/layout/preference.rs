//! Preference data: records that compare two answers, or judge one.
//!
//! A conversation has one answer, and a bad one must not become a training target like any other. The better answer of a pair is part of
//! the conversation and the other is an alternative; an answer with a bad label is an alternative to a conversation that ends with the
//! question.

pub(crate) mod thumbs;

use std::collections::HashSet;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{AlternativeOrigin, Judgement, Message, RawJson, Role, Score};

use crate::base::fields::present;
use crate::layout::columns::{self, ColumnMeaning};
use crate::layout::{ListReader, list::ReaderState};

/// Fields that rate an answer as good or bad.
const LABELS: [&str; 2] = ["label", "kto_tag"];

/// Fields with the scores of both answers.
const SCORES: [[&str; 2]; 4] = [
    ["score_chosen", "score_rejected"],
    ["chosen_score", "rejected_score"],
    ["chosen_rating", "rejected_rating"],
    ["chosen-rating", "rejected-rating"],
];

/// Adds the rejected answer as an alternative to the one in the conversation from `start` on. It was read since `before_answer`, and may
/// begin with the same messages as the conversation. Returns `false` if it has no other messages.
pub(crate) fn compare(
    list: &mut ListReader<'_, '_>,
    before_answer: ReaderState,
    root: Value<'_>,
    start: usize,
) -> bool {
    let mut other = list.end_alternative(before_answer);
    let common = leave_common(list, 0, &mut other);
    let start = if common > 0 { common } else { start };
    let is_left = !other.is_empty();
    let ranked = |index: usize| Judgement {
        score: SCORES.iter().find_map(|keys| score(root, keys.get(index)?)),
        ..Judgement::default()
    };
    let rejected = (AlternativeOrigin::Rejected, ranked(1), other);
    list.alternatives(
        start..list.messages.len(),
        is_left.then(|| (AlternativeOrigin::Chosen, ranked(0))),
        is_left.then_some(rejected),
    );
    if let Some((key, value)) = columns::first(root, ColumnMeaning::Worse) {
        let text = if is_left {
            format!(
                "the record compares two answers: the better one is read, and {key} is an alternative to it"
            )
        } else {
            format!("the record compares two answers, but {key} holds none that differs: it is kept as it is")
        };
        let finding = Finding::new(&codes::PREFERENCE_PAIR, text);
        list.notes.push(finding.at_path(format!("$.{key}")), Some(value));
    }
    is_left
}

/// Removes the first messages of an answer that the conversation has from `start` on, too; returns their number.
pub(crate) fn leave_common(list: &mut ListReader<'_, '_>, start: usize, other: &mut Vec<Message>) -> usize {
    let own = list.messages.iter().skip(start);
    let same = own
        .zip(&*other)
        .take_while(|(own, other)| is_same_text(own, other));
    let common = same.count();
    let own = list.messages.iter_mut().skip(start);
    for (own, same) in own.zip(other.drain(..common)) {
        let known: HashSet<&(String, RawJson)> = own.extra.0.iter().collect();
        let beside = same.extra.0.into_iter();
        let more: Vec<_> = beside.filter(|field| !known.contains(field)).collect();
        own.extra.0.extend(more);
    }
    list.rows.alternatives -= common as u64;
    list.rows.merged += common as u64;
    for (position, message) in (0..).zip(other) {
        message.position = position;
    }
    common
}

fn is_same_text(one: &Message, other: &Message) -> bool {
    one.role == other.role && one.parts == other.parts
}

fn score(root: Value<'_>, key: &str) -> Option<Score> {
    Score::new(present(root, key)?.number_text()?.parse().ok()?)
}

/// Reads the label of a record's answer. A bad answer is removed from the conversation, which then ends with the question.
pub(crate) fn label(list: &mut ListReader<'_, '_>, root: Value<'_>) {
    let labelled = LABELS.into_iter().find_map(|key| {
        let value = present(root, key)?;
        Some((key, value, value.as_bool()?))
    });
    let Some((key, value, is_good)) = labelled else {
        return;
    };
    let start = answer(&list.messages);
    let judgement = Judgement {
        label: Some(is_good),
        ..Judgement::default()
    };
    let text = if is_good {
        format!("{key} rates the answer good: it is the conversation's, and labelled among the alternatives")
    } else {
        format!("{key} rates the answer bad: it is among the alternatives and not in the conversation")
    };
    let finding = Finding::new(&codes::LABELLED_ANSWER, text);
    list.notes.push(finding.at_path(format!("$.{key}")), Some(value));
    let bad = (!is_good).then(|| list.split_off(start));
    list.alternatives(
        start..list.messages.len(),
        Some((AlternativeOrigin::Chosen, judgement)),
        bad.map(|messages| (AlternativeOrigin::Rejected, judgement, messages)),
    );
}

/// The position of the last answer, which follows the last message of a person, or of the system.
pub(crate) fn answer(messages: &[Message]) -> usize {
    let asks = |message: &Message| matches!(message.role, Role::User | Role::System);
    messages.iter().rposition(asks).map_or(0, |last| last + 1)
}

/// Whether a value may be an answer: a text, a message or a list of them.
pub(crate) fn may_be_answer(value: Value<'_>) -> bool {
    matches!(value.kind(), Kind::String | Kind::Object | Kind::Array)
}
