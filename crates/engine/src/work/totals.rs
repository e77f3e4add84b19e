//! Token totals per source, day, model, dialect, profile, encoding and coverage, with exact percentiles.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::RenderingCount;
use chatmill_dataset::rows::TotalRow;
use chatmill_diag::{Day, cut};
use chatmill_token::{Encoding, TokenCounts};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::work::overview::merge;
use crate::work::shares::Logged;

/// The answers that a total is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct AnswerGroup {
    /// The day of the answers in UTC; none where it is unknown.
    pub(crate) day: Option<Day>,
    /// The model that wrote them; empty where it is unknown.
    pub(crate) model: String,
    /// Source id.
    pub(crate) source: Cow<'static, str>,
}

/// The renderings that a total is of. Names are indices into the plan, so that counting copies none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RenderingGroup {
    /// Place of the dialect with its profile in the plan.
    pub(crate) target: usize,
    /// Place of the encoding in the plan; 0 when nothing is counted.
    pub(crate) encoding: usize,
    /// Coverage.
    pub(crate) coverage: Cow<'static, str>,
}

/// The names that the indices of a group stand for.
pub(crate) struct TotalNames<'p> {
    /// Dialects with their profiles.
    pub(crate) targets: Vec<(&'p str, &'p str)>,
    /// Encodings; one without a name when nothing is counted.
    pub(crate) encodings: Vec<&'p str>,
}

impl<'p> TotalNames<'p> {
    /// The names of a plan.
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

    fn encoding(&self, group: &RenderingGroup) -> &'p str {
        cut::at::<&str>(&self.encodings, group.encoding)
    }
}

/// The sums and the distribution of a group, or the share of a rendering in them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    /// Conversations that have a rendering in it.
    pub(crate) conversations: u64,
    /// Messages that its renderings show.
    pub(crate) messages_rendered: u64,
    /// Bytes of their texts.
    pub(crate) bytes: u64,
    /// Tokens and their parts.
    pub(crate) token_counts: TokenCounts,
    /// The usage that the provider logged for its requests.
    pub(crate) logged: Logged,
    /// The number of requests.
    pub(crate) requests: u64,
    /// Renderings that break a rule of the dialect.
    pub(crate) invalid: u64,
    /// The losses, in occurrences.
    pub(crate) losses: u64,
    /// Renderings by their number of tokens.
    pub(crate) distribution: Spread,
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.conversations += more.conversations;
        self.messages_rendered += more.messages_rendered;
        self.bytes += more.bytes;
        self.token_counts += more.token_counts;
        self.requests += more.requests;
        self.logged += more.logged;
        self.invalid += more.invalid;
        self.losses += more.losses;
        self.distribution.merge(&more.distribution);
    }
}

/// Totals of a slice or of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Totals(#[serde(with = "pairs")] BTreeMap<AnswerGroup, RenderingTotals>);

/// Totals of the renderings with the answers of one group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RenderingTotals(#[serde(with = "pairs")] BTreeMap<RenderingGroup, Sums>);

/// Maps whose keys are no texts, as lists of keys and values.
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

impl RenderingTotals {
    /// Adds one share of a rendering; the rendering itself has so many tokens and is counted once, with its last share.
    pub(crate) fn add(&mut self, group: RenderingGroup, share: &Sums, tokens: Option<u64>) {
        let sums = self.0.entry(group).or_default();
        sums.add(share);
        if let Some(tokens) = tokens {
            sums.distribution.add(tokens);
        }
    }

    fn merge(&mut self, other: Self) {
        merge(&mut self.0, other.0, |sums, more| sums.add(&more));
    }
}

impl Totals {
    /// The totals of a group.
    pub(crate) fn of(&mut self, answers: AnswerGroup) -> &mut RenderingTotals {
        self.0.entry(answers).or_default()
    }

    /// Adds other totals.
    pub(crate) fn merge(&mut self, other: Self) {
        merge(&mut self.0, other.0, RenderingTotals::merge);
    }

    /// The renderings of each dialect, profile, coverage and encoding over all answers, in the order of the dialects.
    pub(crate) fn renderings(&self, names: &TotalNames<'_>) -> Vec<RenderingCount> {
        let mut whole = RenderingTotals::default();
        for (group, sums) in self.0.values().flat_map(|renderings| &renderings.0) {
            whole.0.entry(group.clone()).or_default().add(sums);
        }
        let mut sorted: Vec<_> = whole.0.iter().collect();
        sorted.sort_by_key(|(group, _)| (group.target, names.encoding(group), &group.coverage));
        let sorted = sorted.into_iter();
        sorted
            .map(|(group, sums)| {
                rendering_count(&row(&AnswerGroup::default(), None, group, sums, names), sums)
            })
            .collect()
    }

    /// Gives each row of the totals table, sorted by source, day, model, place of the dialect, encoding and coverage.
    pub(crate) fn each_row<E>(
        &self,
        names: &TotalNames<'_>,
        mut give: impl FnMut(TotalRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let groups = self.0.iter().flat_map(|(answers, renderings)| {
            let groups = renderings.0.iter();
            groups.map(move |(group, sums)| (answers, group, sums))
        });
        let mut sorted: Vec<_> = groups.collect();
        sorted.sort_by_key(|(answers, group, _)| {
            let encoding = names.encoding(group);
            let AnswerGroup { day, model, source } = answers;
            (source, day, model, group.target, encoding, &group.coverage)
        });
        sorted.into_iter().try_for_each(|(answers, group, sums)| {
            let day = answers.day.map(|day| day.to_string());
            give(row(answers, day.as_deref(), group, sums, names))
        })
    }
}

fn row<'n>(
    answers: &'n AnswerGroup,
    day: Option<&'n str>,
    group: &'n RenderingGroup,
    sums: &Sums,
    of: &TotalNames<'n>,
) -> TotalRow<'n> {
    let (dialect, profile) = *cut::at(&of.targets, group.target);
    let token_counts = &sums.token_counts;
    TotalRow {
        source: &answers.source,
        day,
        model: Some(answers.model.as_str()).filter(|model| !model.is_empty()),
        dialect,
        profile,
        encoding: of.encoding(group),
        coverage: &group.coverage,
        conversations: sums.conversations,
        renderings: sums.distribution.count(),
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
        logged_output: sums.logged.output,
        p50: sums.distribution.percentile(50),
        p95: sums.distribution.percentile(95),
        p99: sums.distribution.percentile(99),
        invalid: sums.invalid,
        losses: sums.losses,
    }
}

fn rendering_count(total: &TotalRow<'_>, sums: &Sums) -> RenderingCount {
    RenderingCount {
        dialect: total.dialect.to_owned(),
        profile: total.profile.to_owned(),
        coverage: total.coverage.to_owned(),
        encoding: total.encoding.to_owned(),
        renderings: sums.distribution.count(),
        messages_rendered: total.messages_rendered,
        bytes: total.bytes,
        tokens: total.tokens,
        parts: sums.token_counts.parts,
        assistant_content: total.assistant_content,
        requests: total.requests,
        tokens_sent: total.tokens_sent,
        written: total.written,
        logged_requests: total.logged_requests,
        logged_input: total.logged_input,
        logged_cached_input: total.logged_cached_input,
        logged_output: total.logged_output,
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

    fn add(
        totals: &mut Totals,
        source: &'static str,
        (target, encoding): (usize, usize),
        share: &Sums,
        tokens: Option<u64>,
    ) {
        let answers = AnswerGroup {
            source: source.into(),
            ..AnswerGroup::default()
        };
        let group = RenderingGroup {
            target,
            encoding,
            coverage: "whole".into(),
        };
        totals.of(answers).add(group, share, tokens);
    }

    #[test]
    fn rows_come_in_the_order_of_sources_dialects_and_encodings_by_their_names() {
        let mut totals = Totals::default();
        for (source, target, encoding) in [("b", 0, 0), ("a", 1, 0), ("a", 0, 1), ("a", 0, 0)] {
            add(&mut totals, source, (target, encoding), &Sums::default(), None);
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
            let share = Sums {
                conversations: 1,
                messages_rendered: 1,
                bytes: 2,
                token_counts,
                requests: 2,
                ..Sums::default()
            };
            add(totals, "s", (0, 0), &share, Some(tokens));
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
            let token_counts = TokenCounts {
                tokens,
                ..TokenCounts::default()
            };
            let share = Sums {
                conversations: 1,
                messages_rendered: 2,
                bytes: 3,
                token_counts,
                requests: 1,
                invalid: u64::from(tokens == 1),
                losses: 4,
                ..Sums::default()
            };
            add(&mut totals, source, (0, 0), &share, Some(tokens));
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
