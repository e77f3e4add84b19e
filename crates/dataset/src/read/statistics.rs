//! Statistics on the conversations of a dataset or an export: the lengths of conversations, answers and turns, who
//! wrote them, which tools are called, how much of them is trained on, their sources, and the most frequent first and
//! last turns.
//!
//! The caller passes the conversations to [`StatisticsSums`] message by message; nothing is read here. Memory is
//! bounded: lengths are counted by value, and only `COMPARED_TURNS` different first and last turns are distinguished.

use std::collections::BTreeMap;

use chatmill_diag::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manifest::overview::{RoleCount, ToolCount};
use crate::manifest::{Spread, SpreadTotals};

/// The number of different first turns, and of different last turns, that are distinguished: about 20 MB each.
const COMPARED_TURNS: usize = 200_000;
/// The unit of lengths where there is no encoding.
pub const CHARACTERS: &str = "characters";
/// The number of frequent turns that are listed.
const LISTED_TURNS: usize = 10;
/// The maximum length of a turn that is shown, in characters.
const SHOWN_CHARACTERS: usize = 100;
/// The number of sources that are listed; the conversations of further ones are counted under the name `…`.
const LISTED_SOURCES: usize = 200;

/// Statistics on conversations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Conversations.
    pub conversations: u64,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Messages of the assistant.
    pub answers: u64,
    /// Lengths of conversations, answers and turns, in each unit.
    pub lengths: Vec<Length>,
    /// Messages and notices by role and kind.
    pub roles: Vec<RoleCount>,
    /// The tools that are called most.
    pub tools: Vec<ToolCount>,
    /// The number of tools that are not in this list.
    pub tools_left_out: u64,
    /// The share of each dialect's renderings that is trained on.
    #[serde(rename = "learned")]
    pub trained: Vec<TrainedPart>,
    /// Conversations by source.
    pub sources: Vec<SourceCount>,
    /// The most frequent first and last turns; `None` where nothing may be quoted or no texts were read.
    pub frequent: Option<FrequentTurns>,
}

/// The lengths of conversations, answers or turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Length {
    /// `conversation`, `answer` or `turn`; `conversation` in the unit `turns` is the number of its turns.
    pub of: &'static str,
    /// `characters`, `turns`, or the name of an encoding, in which case the lengths are tokens.
    pub unit: String,
    /// The figures.
    #[serde(flatten)]
    pub totals: SpreadTotals,
}

/// How much of the renderings is trained on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainedPart {
    /// Id of the dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// The unit of the figures: `bytes` of the renderings, or `turns` of the assistant.
    pub unit: String,
    /// The total.
    pub whole: u64,
    /// The share of the assistant.
    pub assistant: u64,
    /// The share of the assistant that is trained on; the rest is context.
    #[serde(rename = "learned")]
    pub trained: u64,
}

/// The conversations of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SourceStatistics")]
pub struct SourceCount {
    /// Id of the source; for an export the column `source`, or else the name of the file.
    pub source: String,
    /// Conversations.
    pub conversations: u64,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Messages of the assistant.
    pub answers: u64,
    /// Length of the conversations, in the first unit.
    pub length: u64,
}

/// The first and the last turns that occur most often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrequentTurns {
    /// The most frequent first texts of a person or the assistant.
    pub first: TurnRanking,
    /// The most frequent last texts.
    pub last: TurnRanking,
}

/// Texts by how often they occur.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnRanking {
    /// The number of turns that were compared.
    pub compared: u64,
    /// The number of different texts among them.
    pub different: u64,
    /// Turns with a new text that were not compared, because too many different texts came before them.
    pub beyond: u64,
    /// The texts that occur more than once, the most frequent first.
    pub most: Vec<FrequentTurn>,
}

/// A text that begins or ends several conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrequentTurn {
    /// The text; a long one is cut.
    pub text: String,
    /// How often it occurs.
    pub times: u64,
}

/// The facts about a message that are summed up.
#[derive(Clone, Copy, Debug)]
pub struct CountedMessage<'m> {
    /// Whether the assistant wrote it.
    pub is_answer: bool,
    /// The text, if a person or the assistant wrote it and texts are compared.
    pub turn: Option<&'m str>,
    /// Its length in each unit.
    pub lengths: &'m [u64],
}

/// Statistics, summed up conversation by conversation.
#[derive(Debug)]
pub struct StatisticsSums {
    units: Vec<String>,
    /// Lengths of conversations, answers and turns in each unit.
    spreads: Vec<[Spread; 3]>,
    turns: Spread,
    sources: BTreeMap<String, SourceCount>,
    frequent: Option<[Comparison; 2]>,
    /// The conversation that is being read, and its length in each unit.
    current: SourceCount,
    sums: Vec<u64>,
    /// The last turn of the conversation so far; `None` before the first.
    last: Option<String>,
}

impl StatisticsSums {
    /// Empty sums in these units; first and last turns are compared if they may be quoted.
    pub fn new(units: Vec<String>, quotes: bool) -> Self {
        Self {
            spreads: units.iter().map(|_| <[Spread; 3]>::default()).collect(),
            sums: vec![0; units.len()],
            units,
            turns: Spread::default(),
            sources: BTreeMap::new(),
            frequent: quotes.then(|| [Comparison::of(COMPARED_TURNS), Comparison::of(COMPARED_TURNS)]),
            current: SourceCount::default(),
            last: None,
        }
    }

    /// Adds a message of the current conversation; notices must not be added.
    pub fn add(&mut self, message: CountedMessage<'_>) {
        self.current.messages += 1;
        self.current.answers += u64::from(message.is_answer);
        self.current.length += message.lengths.iter().take(1).sum::<u64>();
        for ((length, sum), [_, answers, turns]) in
            message.lengths.iter().zip(&mut self.sums).zip(&mut self.spreads)
        {
            *sum += length;
            turns.add(*length);
            if message.is_answer {
                answers.add(*length);
            }
        }
        let text = message.turn.map(str::trim).filter(|text| !text.is_empty());
        if let (Some([first, _]), Some(text)) = (&mut self.frequent, text) {
            match &mut self.last {
                None => {
                    first.add(text);
                    self.last = Some(text.to_owned());
                }
                Some(last) => text.clone_into(last),
            }
        }
    }

    /// Ends the current conversation.
    pub fn finish(&mut self, source: &str) {
        let done = std::mem::take(&mut self.current);
        self.turns.add(done.messages);
        for (sum, [conversations, ..]) in self.sums.iter_mut().zip(&mut self.spreads) {
            conversations.add(std::mem::take(sum));
        }
        if let (Some([_, ends]), Some(last)) = (&mut self.frequent, self.last.take()) {
            ends.add(&last);
        }
        let is_listed = self.sources.contains_key(source) || self.sources.len() < LISTED_SOURCES;
        let source = if is_listed { source } else { "…" };
        if !self.sources.contains_key(source) {
            self.sources.insert(source.to_owned(), SourceCount::default());
        }
        if let Some(sum) = self.sources.get_mut(source) {
            sum.conversations += 1;
            sum.messages += done.messages;
            sum.answers += done.answers;
            sum.length += done.length;
        }
    }

    /// The statistics; the caller adds roles, tools and how much is trained on.
    pub fn statistics(self) -> Statistics {
        let sources: Vec<SourceCount> = self
            .sources
            .into_iter()
            .map(|(source, count)| SourceCount { source, ..count })
            .collect();
        let turns = Length {
            of: "conversation",
            unit: "turns".to_owned(),
            totals: self.turns.totals(),
        };
        let mut lengths = vec![turns];
        for (unit, spreads) in self.units.into_iter().zip(&self.spreads) {
            let named = ["conversation", "answer", "turn"].into_iter().zip(spreads);
            lengths.extend(named.map(|(of, spread)| Length {
                of,
                unit: unit.clone(),
                totals: spread.totals(),
            }));
        }
        Statistics {
            conversations: sources.iter().map(|count| count.conversations).sum(),
            messages: sources.iter().map(|count| count.messages).sum(),
            answers: sources.iter().map(|count| count.answers).sum(),
            lengths,
            sources,
            frequent: self.frequent.map(|[first, last]| FrequentTurns {
                first: first.ranking(),
                last: last.ranking(),
            }),
            ..Statistics::default()
        }
    }
}

/// Texts that are compared by their hashes; a text is kept from its second occurrence on.
#[derive(Debug, Default)]
struct Comparison {
    known: BTreeMap<[u8; 32], (u64, Option<String>)>,
    most: usize,
    beyond: u64,
}

impl Comparison {
    fn of(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    fn add(&mut self, text: &str) {
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        if let Some((times, shown)) = self.known.get_mut(&hash) {
            *times += 1;
            shown.get_or_insert_with(|| cut::beginning(text, SHOWN_CHARACTERS));
        } else if self.known.len() < self.most {
            self.known.insert(hash, (1, None));
        } else {
            self.beyond += 1;
        }
    }

    fn ranking(self) -> TurnRanking {
        let different = self.known.len() as u64;
        let compared = self.known.values().map(|(times, _)| times).sum();
        let several = self
            .known
            .into_values()
            .filter_map(|(times, shown)| Some(FrequentTurn { text: shown?, times }));
        let mut most: Vec<FrequentTurn> = several.collect();
        most.sort_by(|one, other| (other.times, &one.text).cmp(&(one.times, &other.text)));
        most.truncate(LISTED_TURNS);
        TurnRanking {
            compared,
            different,
            beyond: self.beyond,
            most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(sums: &mut StatisticsSums, turns: &[(&str, bool, u64)]) {
        for (text, is_answer, length) in turns {
            sums.add(CountedMessage {
                is_answer: *is_answer,
                turn: Some(text),
                lengths: &[*length],
            });
        }
        sums.finish("chats");
    }

    #[test]
    fn lengths_are_of_conversations_answers_and_turns() {
        let mut sums = StatisticsSums::new(vec!["characters".to_owned()], false);
        conversation(&mut sums, &[("Hi", false, 2), ("Hello", true, 5)]);
        conversation(&mut sums, &[("Hi", false, 2)]);
        conversation(&mut sums, &[]);
        let found = sums.statistics();
        assert_eq!((found.conversations, found.messages, found.answers), (3, 3, 1));
        let lengths: Vec<_> = found
            .lengths
            .iter()
            .map(|length| {
                (
                    length.of,
                    length.unit.as_str(),
                    length.totals.count,
                    length.totals.sum,
                    length.totals.max,
                )
            })
            .collect();
        assert_eq!(
            lengths,
            [
                ("conversation", "turns", 3, 3, 2),
                ("conversation", "characters", 3, 9, 7),
                ("answer", "characters", 1, 5, 5),
                ("turn", "characters", 3, 9, 5),
            ]
        );
        assert_eq!(found.sources[0].length, 9);
        assert_eq!(found.frequent, None);
    }

    #[test]
    fn first_and_last_turns_that_occur_more_than_once_are_ranked() {
        let mut sums = StatisticsSums::new(Vec::new(), true);
        for (first, last) in [
            ("Hi", "Sorry."),
            ("Hi ", "Sorry."),
            ("Ahoy", "Sorry."),
            ("Ho", "Aye"),
        ] {
            conversation(
                &mut sums,
                &[(first, false, 0), ("", true, 0), (last, true, 0), (" ", false, 0)],
            );
        }
        // The only turn of a conversation is both the first and the last.
        conversation(&mut sums, &[("Ahoy", false, 0)]);
        let found = sums.statistics().frequent.unwrap();
        let most = |ranking: &TurnRanking| -> Vec<(String, u64)> {
            ranking
                .most
                .iter()
                .map(|turn| (turn.text.clone(), turn.times))
                .collect()
        };
        assert_eq!(most(&found.first), [("Ahoy".to_owned(), 2), ("Hi".to_owned(), 2)]);
        assert_eq!(most(&found.last), [("Sorry.".to_owned(), 3)]);
        assert_eq!(
            (found.first.compared, found.first.different, found.last.different),
            (5, 3, 3)
        );
    }

    #[test]
    fn beyond_the_limit_known_texts_are_counted_and_new_ones_are_not_compared() {
        let mut texts = Comparison::of(2);
        for text in ["a", "b", "c", "a", "c", "b"] {
            texts.add(text);
        }
        let ranking = texts.ranking();
        assert_eq!((ranking.compared, ranking.different, ranking.beyond), (4, 2, 2));
        assert_eq!(ranking.most.len(), 2);
    }

    #[test]
    fn a_long_turn_is_cut_between_characters() {
        let mut texts = Comparison::of(9);
        for _ in 0..2 {
            texts.add(&"і".repeat(SHOWN_CHARACTERS + 1));
        }
        assert_eq!(texts.ranking().most[0].text.chars().count(), SHOWN_CHARACTERS + 1);
    }

    #[test]
    fn conversations_of_too_many_sources_are_counted_together() {
        let mut sums = StatisticsSums::new(Vec::new(), false);
        for number in 0..LISTED_SOURCES + 3 {
            sums.finish(&format!("{number:04}"));
        }
        let found = sums.statistics();
        assert_eq!(found.sources.len(), LISTED_SOURCES + 1);
        assert_eq!(
            found
                .sources
                .last()
                .map(|rest| (rest.source.as_str(), rest.conversations)),
            Some(("…", 3))
        );
    }
}
