//! Sums tokens by source, day, model, dialect, profile, encoding and coverage, with exact percentiles.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::RenderingCount;
use chatmill_dataset::rows::TotalRow;
use chatmill_diag::{Day, cut, is_zero};
use chatmill_model::BilledUsage;
use chatmill_token::{Encoding, TokenCounts};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::work::overview::merge;

/// The key of a group of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct AnswerGroup {
    /// The day of the answers in UTC; `None` if it is unknown.
    pub(crate) day: Option<Day>,
    /// The model that wrote them; empty if it is unknown.
    pub(crate) model: String,
    /// Source id.
    pub(crate) source: Cow<'static, str>,
}

/// The key of a group of renderings. Names are indices into the plan, so that counting does not copy text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RenderingGroup {
    /// Index of the dialect with its profile in the plan.
    pub(crate) target: usize,
    /// Coverage.
    pub(crate) coverage: Cow<'static, str>,
}

/// The names for the indices of a group.
pub(crate) struct TotalNames<'p> {
    /// Dialects with their profiles.
    pub(crate) targets: Vec<(&'p str, &'p str)>,
    /// Encodings; one without a name if nothing is counted.
    pub(crate) encodings: Vec<&'p str>,
}

impl<'p> TotalNames<'p> {
    /// Returns the names of a plan.
    pub(crate) fn of(plan: &'p Plan) -> Self {
        let targets = plan.targets.iter();
        let uncounted = plan.encodings.is_empty().then_some("");
        Self {
            targets: targets.map(|target| (target.id(), target.profile())).collect(),
            encodings: plan
                .encodings
                .iter()
                .map(Encoding::name)
                .chain(uncounted)
                .collect(),
        }
    }

    fn encoding(&self, place: usize) -> &'p str {
        cut::at::<&str>(&self.encodings, place)
    }
}

/// The sums of a group, or the share of a rendering in them. A receipt contains thousands, with mostly zeros.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    /// Conversations with a rendering in the group.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) conversations: u64,
    /// Messages that its renderings show.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) messages_rendered: u64,
    /// Bytes of their texts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) bytes: u64,
    /// The usage that the provider logged for its requests.
    #[serde(default, skip_serializing_if = "BilledUsage::is_none")]
    pub(crate) logged: BilledUsage,
    /// The number of requests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) requests: u64,
    /// Renderings that break a rule of the dialect.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) invalid: u64,
    /// The losses, in occurrences.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) losses: u64,
    /// The tokens in each encoding; one entry without tokens if nothing is counted.
    by_encoding: Vec<EncodingSums>,
}

/// The tokens of a group in an encoding.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EncodingSums {
    /// Tokens and their parts.
    #[serde(with = "numbers")]
    pub(crate) token_counts: TokenCounts,
    /// The distribution of renderings by number of tokens.
    pub(crate) distribution: Spread,
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.conversations += more.conversations;
        self.messages_rendered += more.messages_rendered;
        self.bytes += more.bytes;
        self.requests += more.requests;
        self.logged += more.logged;
        self.invalid += more.invalid;
        self.losses += more.losses;
        for (place, more) in more.by_encoding.iter().enumerate() {
            let sums = self.encoding(place);
            sums.token_counts += more.token_counts;
            sums.distribution.merge(&more.distribution);
        }
    }

    /// Returns the sums of the encoding with this index in the plan; index 0 if nothing is counted.
    pub(crate) fn encoding(&mut self, place: usize) -> &mut EncodingSums {
        let places = self.by_encoding.len().max(place + 1);
        self.by_encoding.resize_with(places, EncodingSums::default);
        cut::at_mut(&mut self.by_encoding, place)
    }
}

/// Totals of a slice or of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Totals(#[serde(with = "pairs")] BTreeMap<AnswerGroup, RenderingTotals>);

/// Totals of the renderings with the answers of one group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RenderingTotals(#[serde(with = "pairs")] BTreeMap<RenderingGroup, Sums>);

/// Serializes maps with keys that are not text as lists of pairs.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

/// Serializes token counts as a list of numbers.
mod numbers {
    use chatmill_model::Component;
    use chatmill_token::TokenCounts;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(counts: &TokenCounts, serializer: S) -> Result<S::Ok, S::Error> {
        let TokenCounts {
            tokens,
            parts,
            assistant_content,
            sent,
            written,
        } = *counts;
        ([tokens, assistant_content, sent, written], parts.to_array()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TokenCounts, D::Error> {
        let (whole, parts): (_, [u64; Component::COUNT]) = Deserialize::deserialize(deserializer)?;
        let [tokens, assistant_content, sent, written] = whole;
        Ok(TokenCounts {
            tokens,
            parts: parts.into(),
            assistant_content,
            sent,
            written,
        })
    }
}

impl RenderingTotals {
    fn merge(&mut self, other: Self) {
        merge(&mut self.0, other.0, |sums, more| sums.add(&more));
    }
}

impl Totals {
    /// Returns the sums of a group.
    pub(crate) fn of(&mut self, answers: AnswerGroup, renderings: RenderingGroup) -> &mut Sums {
        let totals = self.0.entry(answers).or_default();
        totals.0.entry(renderings).or_default()
    }

    /// Adds other totals.
    pub(crate) fn merge(&mut self, other: Self) {
        merge(&mut self.0, other.0, RenderingTotals::merge);
    }

    /// Returns the renderings of each dialect, profile, coverage
    /// and encoding over all answers, in the order of the dialects.
    pub(crate) fn renderings(&self, names: &TotalNames<'_>) -> Vec<RenderingCount> {
        let mut whole = Self::default();
        for (group, sums) in self.0.values().flat_map(|renderings| &renderings.0) {
            whole.of(AnswerGroup::default(), group.clone()).add(sums);
        }
        let mut sorted: Vec<_> = whole.rows().collect();
        sorted.sort_by_key(|row| {
            (
                row.group.target,
                names.encoding(row.encoding),
                &row.group.coverage,
            )
        });
        let sorted = sorted.into_iter();
        sorted
            .map(|row| rendering_count(&row.named(None, names), row.of_encoding))
            .collect()
    }

    /// Passes each row of the totals table to `give`, sorted by source,
    /// day, model, index of the dialect, encoding and coverage.
    pub(crate) fn each_row<E>(
        &self,
        names: &TotalNames<'_>,
        mut give: impl FnMut(TotalRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sorted: Vec<_> = self.rows().collect();
        sorted.sort_by_key(|row| {
            let AnswerGroup { day, model, source } = row.answers;
            let encoding = names.encoding(row.encoding);
            (
                source,
                day,
                model,
                row.group.target,
                encoding,
                &row.group.coverage,
            )
        });
        sorted.into_iter().try_for_each(|row| {
            let day = row.answers.day.map(|day| day.to_string());
            give(row.named(day.as_deref(), names))
        })
    }

    fn rows(&self) -> impl Iterator<Item = GroupedTotal<'_>> {
        self.0.iter().flat_map(|(answers, renderings)| {
            renderings.0.iter().flat_map(move |(group, sums)| {
                let encodings = sums.by_encoding.iter().enumerate();
                encodings.map(move |(encoding, of_encoding)| GroupedTotal {
                    answers,
                    group,
                    sums,
                    encoding,
                    of_encoding,
                })
            })
        })
    }
}

/// A group in one encoding.
struct GroupedTotal<'t> {
    answers: &'t AnswerGroup,
    group: &'t RenderingGroup,
    sums: &'t Sums,
    encoding: usize,
    of_encoding: &'t EncodingSums,
}

impl<'t> GroupedTotal<'t> {
    fn named<'n>(&self, day: Option<&'n str>, of: &TotalNames<'n>) -> TotalRow<'n>
    where
        't: 'n,
    {
        let (dialect, profile) = *cut::at(&of.targets, self.group.target);
        let (sums, answers) = (self.sums, self.answers);
        let EncodingSums {
            token_counts,
            distribution,
        } = self.of_encoding;
        TotalRow {
            source: &answers.source,
            day,
            model: Some(answers.model.as_str()).filter(|model| !model.is_empty()),
            dialect,
            profile,
            encoding: of.encoding(self.encoding),
            coverage: &self.group.coverage,
            conversations: sums.conversations,
            renderings: distribution.count(),
            messages_rendered: sums.messages_rendered,
            bytes: sums.bytes,
            tokens: token_counts.tokens,
            content: token_counts.parts.content,
            names: token_counts.parts.names,
            framing: token_counts.parts.framing,
            tools: token_counts.parts.tools,
            replies: token_counts.parts.replies,
            meta: token_counts.parts.meta,
            assistant_content: token_counts.assistant_content,
            requests: sums.requests,
            tokens_sent: token_counts.sent,
            written: token_counts.written,
            logged_requests: sums.logged.requests,
            logged_input: sums.logged.input,
            logged_cached_input: sums.logged.cached_input,
            logged_cache_write: sums.logged.cache_write,
            logged_cache_write_1h: sums.logged.cache_write_1h,
            logged_output: sums.logged.output,
            logged_searches: sums.logged.searches,
            logged_cost_requests: sums.logged.cost_requests,
            logged_cost: sums.logged.logged_cost(),
            p50: distribution.percentile(50),
            p95: distribution.percentile(95),
            p99: distribution.percentile(99),
            invalid: sums.invalid,
            losses: sums.losses,
        }
    }
}

fn rendering_count(total: &TotalRow<'_>, of_encoding: &EncodingSums) -> RenderingCount {
    RenderingCount {
        dialect: total.dialect.to_owned(),
        profile: total.profile.to_owned(),
        coverage: total.coverage.to_owned(),
        encoding: total.encoding.to_owned(),
        renderings: total.renderings,
        messages_rendered: total.messages_rendered,
        bytes: total.bytes,
        tokens: total.tokens,
        parts: of_encoding.token_counts.parts,
        assistant_content: total.assistant_content,
        requests: total.requests,
        tokens_sent: total.tokens_sent,
        written: total.written,
        logged_requests: total.logged_requests,
        logged_input: total.logged_input,
        logged_cached_input: total.logged_cached_input,
        logged_cache_write: total.logged_cache_write,
        logged_cache_write_1h: total.logged_cache_write_1h,
        logged_output: total.logged_output,
        logged_searches: total.logged_searches,
        logged_cost_requests: total.logged_cost_requests,
        logged_cost: total.logged_cost,
        p50: total.p50,
        p95: total.p95,
        p99: total.p99,
        invalid: total.invalid,
        losses: total.losses,
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::ComponentCounts;

    use super::*;

    fn names() -> TotalNames<'static> {
        TotalNames {
            targets: vec![("d", "document"), ("c", "document")],
            encodings: vec!["f", "e"],
        }
    }

    fn of<'t>(totals: &'t mut Totals, source: &'static str, target: usize) -> &'t mut Sums {
        let answers = AnswerGroup {
            source: source.into(),
            ..AnswerGroup::default()
        };
        let group = RenderingGroup {
            target,
            coverage: "whole".into(),
        };
        totals.of(answers, group)
    }

    #[test]
    fn rows_come_in_the_order_of_sources_dialects_and_encodings_by_their_names() {
        let mut totals = Totals::default();
        for (source, target, encoding) in [("b", 0, 0), ("a", 1, 0), ("a", 0, 1), ("a", 0, 0)] {
            of(&mut totals, source, target).encoding(encoding);
        }
        let text = serde_json::to_string(&totals).unwrap();
        let read: Totals = serde_json::from_str(&text).unwrap();
        let names = names();
        let mut rows = Vec::new();
        let mut give = |row: TotalRow<'_>| {
            rows.push([row.source, row.dialect, row.encoding].map(str::to_owned));
            Ok::<(), ()>(())
        };
        read.each_row(&names, &mut give).unwrap();
        assert_eq!(
            rows,
            [["a", "d", "e"], ["a", "d", "f"], ["a", "c", "f"], ["b", "d", "f"]]
        );
    }

    #[test]
    fn merging_two_halves_equals_the_whole() {
        let add_tokens = |totals: &mut Totals, tokens: u64| {
            let token_counts = TokenCounts {
                tokens,
                parts: ComponentCounts {
                    content: tokens,
                    ..ComponentCounts::default()
                },
                sent: 2 * tokens,
                ..TokenCounts::default()
            };
            let sums = of(totals, "s", 0);
            sums.conversations += 1;
            sums.messages_rendered += 1;
            sums.bytes += 2;
            sums.requests += 2;
            let sums = sums.encoding(0);
            sums.token_counts += token_counts;
            sums.distribution.add(tokens);
        };
        let (mut whole, mut left, mut right) = (Totals::default(), Totals::default(), Totals::default());
        for tokens in [5, 9, 1] {
            add_tokens(&mut whole, tokens);
        }
        add_tokens(&mut left, 5);
        add_tokens(&mut right, 9);
        add_tokens(&mut right, 1);
        left.merge(right);
        assert_eq!(
            serde_json::to_value(&left).unwrap(),
            serde_json::to_value(&whole).unwrap()
        );
    }

    #[test]
    fn renderings_of_all_sources_are_one_row_with_its_own_percentiles() {
        let mut totals = Totals::default();
        for (source, tokens) in [("a", 1), ("a", 2), ("b", 8), ("b", 9), ("b", 10)] {
            let sums = of(&mut totals, source, 0);
            sums.conversations += 1;
            sums.messages_rendered += 2;
            sums.bytes += 3;
            sums.requests += 1;
            sums.invalid += u64::from(tokens == 1);
            sums.losses += 4;
            let sums = sums.encoding(0);
            sums.token_counts.tokens += tokens;
            sums.distribution.add(tokens);
        }
        assert_eq!(totals.0.len(), 2);
        let [whole] = &totals.renderings(&names())[..] else {
            panic!("{:?}", totals.renderings(&names()))
        };
        assert_eq!(
            (whole.renderings, whole.tokens, whole.p50, whole.p99),
            (5, 30, 8, 10)
        );
        assert_eq!((whole.messages_rendered, whole.bytes, whole.losses), (10, 15, 20));
        assert_eq!((whole.requests, whole.invalid), (5, 1));
    }
}
