//! Finds answers that several conversations contain: a session that continues in a new file repeats its last answer, and a subagent repeats
//! the answers of its parent. The provider was paid for each answer once.
//!
//! An answer is identified by the id of its provider, its model and its figures. Ids with fewer than 16 letters and digits (`chatcmpl-1`,
//! `msg_1`) are not unique among conversations and identify nothing.

use std::collections::{BTreeMap, HashSet};

use chatmill_dataset::{Dataset, DatasetError, Numbers, Reals, Texts, Times, columns};
use chatmill_model::{BilledUsage, Cost, Linked, Usage};
use jiff::tz::TimeZone;

use super::message_text::day;

/// The number of letters and digits from which an id is unique among all answers.
const UNIQUE: usize = 16;
/// The greatest number of answers that are compared; at 32 bytes each they take half a gibibyte.
const MOST: usize = 1 << 24;

/// A hash of texts and their lengths.
pub(super) fn key(parts: &[&str]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

/// The answers so far.
#[derive(Debug)]
pub struct PaidAnswers {
    known: HashSet<[u8; 16]>,
    most: usize,
    /// Number of answers that were repeated.
    pub repeated: u64,
    /// Number of answers that were not compared because there are too many.
    pub uncompared: u64,
}

impl Default for PaidAnswers {
    fn default() -> Self {
        Self {
            known: HashSet::new(),
            most: MOST,
            repeated: 0,
            uncompared: 0,
        }
    }
}

impl PaidAnswers {
    /// Whether the same answer came before; if not, it is added.
    pub fn is_repeated(&mut self, id: &str, model: &str, usage: &Usage) -> bool {
        if id.chars().filter(char::is_ascii_alphanumeric).count() < UNIQUE {
            return false;
        }
        let figures = [
            usage.input,
            usage.cached_input,
            usage.cache_write,
            usage.cache_write_1h,
            usage.output,
        ];
        let hash = key(&[id, model, &format!("{figures:?}")]);
        let Some(hash) = hash.as_bytes().first_chunk().copied() else {
            return false;
        };
        if self.known.len() >= self.most && !self.known.contains(&hash) {
            self.uncompared += 1;
            return false;
        }
        let is_repeated = !self.known.insert(hash);
        self.repeated += u64::from(is_repeated);
        is_repeated
    }

    /// Removes the usage of repeated answers, so that it is counted for the first conversation that contains them.
    pub fn leave_repeated(&mut self, linked: &mut Linked) {
        let asked = linked.conversation.model.clone();
        for message in &mut linked.conversation.messages {
            let (Some(id), Some(usage)) = (&message.answer, &message.usage) else {
                continue;
            };
            let model = message.model.as_deref().or(asked.as_deref());
            if self.is_repeated(id, model.unwrap_or_default(), usage) {
                message.move_to_earlier_copy();
            }
        }
    }
}

columns! {
    pub(super) struct UsageColumns {
        usage_input: Numbers,
        usage_cached_input: Numbers,
        usage_cache_write: Option<Numbers>,
        usage_cache_write_1h: Option<Numbers>,
        usage_output: Numbers,
        usage_searches: Option<Numbers>,
        usage_requests: Option<Numbers>,
        logged_cost: Option<Reals>,
        answer_id: Option<Texts>,
    }

    struct AnswerColumns with usage: UsageColumns {
        conversation_id: Texts,
        created_at: Times,
        model: Texts,
    }

    struct AskedColumns {
        conversation_id: Texts,
        source: Texts,
        model: Texts,
    }
}

impl UsageColumns {
    /// The usage that the provider logged with a message.
    pub(super) fn at(&self, row: usize) -> Usage {
        let added = |column: &Option<Numbers>| column.as_ref().and_then(|column| column.get(row));
        let cost = self.logged_cost.as_ref().and_then(|column| column.get(row));
        Usage {
            input: self.usage_input.get(row),
            cached_input: self.usage_cached_input.get(row),
            cache_write: added(&self.usage_cache_write),
            cache_write_1h: added(&self.usage_cache_write_1h),
            output: self.usage_output.get(row),
            searches: added(&self.usage_searches),
            requests: added(&self.usage_requests).and_then(|number| number.try_into().ok()),
            cost: cost.and_then(Cost::new),
            ..Usage::default()
        }
    }

    /// The provider's id of the answer.
    pub(super) fn answer(&self, row: usize) -> Option<&str> {
        self.answer_id.as_ref()?.get(row)
    }
}

/// The source, the day in UTC and the model of answers.
type AnswersOf = (String, Option<String>, String);

/// An answer that is repeated.
struct Repetition {
    day: Option<String>,
    model: Option<String>,
    usage: BilledUsage,
}

/// The usage that a dataset contains more than once.
pub(super) fn repeated_in(dataset: &Dataset) -> Result<BTreeMap<AnswersOf, BilledUsage>, DatasetError> {
    let mut sums = BTreeMap::new();
    let counts = dataset.overview()?.renderings;
    if !dataset.has("messages") || counts.iter().all(|count| count.logged_requests == 0) {
        return Ok(sums);
    }
    let mut answers = PaidAnswers::default();
    let mut found: BTreeMap<String, Vec<Repetition>> = BTreeMap::new();
    dataset.each_row("messages", &mut |messages: &AnswerColumns, row| {
        let usage = messages.usage.at(row);
        let (Some(id), false) = (messages.usage.answer(row), usage.is_empty()) else {
            return;
        };
        let model = messages.model.get(row);
        if answers.is_repeated(id, model.unwrap_or_default(), &usage) {
            let instant = messages.created_at.get(row);
            let day = instant.map(|instant| day(Some(instant), &TimeZone::UTC));
            let of = found
                .entry(messages.conversation_id.at(row).to_owned())
                .or_default();
            of.push(Repetition {
                day,
                model: model.map(str::to_owned),
                usage: BilledUsage::of(Some(usage)),
            });
        }
    })?;
    if found.is_empty() {
        return Ok(sums);
    }
    dataset.each_row("conversations", &mut |conversations: &AskedColumns, row| {
        let copies = found.remove(conversations.conversation_id.at(row));
        for Repetition { day, model, usage } in copies.into_iter().flatten() {
            let model = model.as_deref().or(conversations.model.get(row));
            let of = (
                conversations.source.at(row).to_owned(),
                day,
                model.unwrap_or_default().to_owned(),
            );
            *sums.entry(of).or_default() += usage;
        }
    })?;
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(output: u64) -> Usage {
        Usage {
            input: Some(100),
            output: Some(output),
            ..Usage::default()
        }
    }

    #[test]
    fn an_answer_is_known_by_a_long_id_with_model_and_figures() {
        let mut answers = PaidAnswers::default();
        let id = "msg_01ABCDEFGHJKLM";
        assert!(!answers.is_repeated(id, "m", &usage(7)));
        assert!(answers.is_repeated(id, "m", &usage(7)));
        assert!(!answers.is_repeated(id, "n", &usage(7)));
        assert!(!answers.is_repeated(id, "m", &usage(8)));
        // One character fewer than a unique id; only letters and digits count.
        for id in ["msg_01ABCDEFGHJK--", "chatcmpl-1", ""] {
            assert!(!answers.is_repeated(id, "m", &usage(7)));
            assert!(!answers.is_repeated(id, "m", &usage(7)), "{id}");
        }
        assert!(!answers.is_repeated("msg_01ABCDEFGHJKLx", "m", &usage(7)));
        assert_eq!(answers.repeated, 1);
    }

    #[test]
    fn answers_beyond_the_most_are_counted_as_not_compared() {
        let mut answers = PaidAnswers {
            most: 2,
            ..PaidAnswers::default()
        };
        let id = |number: u32| format!("answer-of-one-model-{number}");
        for number in [0, 1, 2, 1] {
            answers.is_repeated(&id(number), "", &usage(7));
        }
        assert_eq!((answers.repeated, answers.uncompared), (1, 1));
    }
}
