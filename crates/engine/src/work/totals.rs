//! Token totals per source, dialect, profile, encoding and coverage, with exact percentiles.

use std::collections::BTreeMap;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::RenderingCount;
use chatmill_dataset::rows::TotalRow;
use chatmill_token::TokenCounts;
use serde::{Deserialize, Serialize};

/// What totals are grouped by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Group {
    /// Source id.
    pub source: String,
    /// Rank of the dialect in the registry: rows are in that order.
    pub rank: usize,
    /// Dialect id.
    pub dialect: String,
    /// Profile.
    pub profile: String,
    /// Encoding; empty when nothing is counted.
    pub encoding: String,
    /// Coverage.
    pub coverage: String,
}

/// Sums and distribution of a group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Sums {
    conversations: u64,
    messages_rendered: u64,
    bytes: u64,
    /// Tokens, content, names, framing, tools, replies, meta, assistant content, tokens sent.
    tokens: [u64; 9],
    requests: u64,
    invalid: u64,
    losses: u64,
    /// Renderings by their number of tokens.
    distribution: Spread,
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.conversations += more.conversations;
        self.messages_rendered += more.messages_rendered;
        self.bytes += more.bytes;
        for (sum, part) in self.tokens.iter_mut().zip(more.tokens) {
            *sum += part;
        }
        self.requests += more.requests;
        self.invalid += more.invalid;
        self.losses += more.losses;
        self.distribution.merge(&more.distribution);
    }
}

/// Totals of a slice or of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(Group, Sums)>", into = "Vec<(Group, Sums)>")]
pub struct Totals(BTreeMap<Group, Sums>);

impl From<Vec<(Group, Sums)>> for Totals {
    fn from(groups: Vec<(Group, Sums)>) -> Self {
        Self(groups.into_iter().collect())
    }
}

impl From<Totals> for Vec<(Group, Sums)> {
    fn from(totals: Totals) -> Self {
        totals.0.into_iter().collect()
    }
}

/// One rendering, as far as totals care.
pub struct Counted<'a> {
    /// Whether it is the first rendering of its conversation in this group.
    pub first_of_conversation: bool,
    /// Messages it shows.
    pub messages_rendered: u64,
    /// Bytes of its text.
    pub bytes: u64,
    /// Tokens and their parts.
    pub tally: &'a TokenCounts,
    /// How often it is sent.
    pub requests: u64,
    /// Whether the dialect's rules hold.
    pub valid: bool,
    /// What they lost, in occurrences.
    pub losses: u64,
}

impl Totals {
    /// Adds one rendering.
    pub fn add(&mut self, group: &Group, counted: &Counted<'_>) {
        let sums = self.sums(group);
        sums.conversations += u64::from(counted.first_of_conversation);
        sums.messages_rendered += counted.messages_rendered;
        sums.bytes += counted.bytes;
        let tally = counted.tally;
        let parts = [
            tally.tokens,
            tally.content,
            tally.names,
            tally.framing,
            tally.tools,
            tally.replies,
            tally.meta,
            tally.assistant_content,
            tally.sent,
        ];
        for (sum, part) in sums.tokens.iter_mut().zip(parts) {
            *sum += part;
        }
        sums.requests += counted.requests;
        sums.invalid += u64::from(!counted.valid);
        sums.losses += counted.losses;
        sums.distribution.add(tally.tokens);
    }

    /// Adds other totals.
    pub fn merge(&mut self, other: &Self) {
        for (group, more) in &other.0 {
            self.sums(group).add(more);
        }
    }

    fn sums(&mut self, group: &Group) -> &mut Sums {
        self.0.entry(group.clone()).or_default()
    }

    /// The renderings of each dialect, profile, coverage and encoding over all sources, in the order of the dialects.
    pub fn renderings(&self) -> Vec<RenderingCount> {
        let mut whole: BTreeMap<Group, Sums> = BTreeMap::new();
        for (group, sums) in &self.0 {
            let group = Group {
                source: String::new(),
                ..group.clone()
            };
            whole.entry(group).or_default().add(sums);
        }
        whole
            .iter()
            .map(|(group, sums)| rendering_count(group, sums))
            .collect()
    }

    /// The rows of the totals table, sorted by group.
    pub fn rows(&self) -> Vec<TotalRow> {
        self.0.iter().map(|(group, sums)| row(group, sums)).collect()
    }
}

fn row(group: &Group, sums: &Sums) -> TotalRow {
    let [
        tokens,
        content,
        names,
        framing,
        tools,
        replies,
        meta,
        assistant_content,
        tokens_sent,
    ] = sums.tokens;
    TotalRow {
        source: group.source.clone(),
        dialect: group.dialect.clone(),
        profile: group.profile.clone(),
        encoding: group.encoding.clone(),
        coverage: group.coverage.clone(),
        conversations: sums.conversations,
        messages_rendered: sums.messages_rendered,
        bytes: sums.bytes,
        tokens,
        content,
        names,
        framing,
        tools,
        replies,
        meta,
        assistant_content,
        requests: sums.requests,
        tokens_sent,
        p50: sums.distribution.percentile(50),
        p95: sums.distribution.percentile(95),
        p99: sums.distribution.percentile(99),
        invalid: sums.invalid,
        losses: sums.losses,
    }
}

fn rendering_count(group: &Group, sums: &Sums) -> RenderingCount {
    let total = row(group, sums);
    RenderingCount {
        dialect: total.dialect,
        profile: total.profile,
        coverage: total.coverage,
        encoding: total.encoding,
        renderings: sums.distribution.count(),
        messages_rendered: total.messages_rendered,
        bytes: total.bytes,
        tokens: total.tokens,
        content: total.content,
        names: total.names,
        framing: total.framing,
        tools: total.tools,
        replies: total.replies,
        meta: total.meta,
        assistant_content: total.assistant_content,
        requests: total.requests,
        tokens_sent: total.tokens_sent,
        p50: total.p50,
        p95: total.p95,
        p99: total.p99,
        invalid: total.invalid,
        losses: total.losses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_two_halves_equals_the_whole() {
        let group = Group {
            source: "s".into(),
            rank: 0,
            dialect: "d".into(),
            profile: "document".into(),
            encoding: "e".into(),
            coverage: "whole".into(),
        };
        let add = |totals: &mut Totals, tokens: u64| {
            let tally = TokenCounts {
                tokens,
                content: tokens,
                sent: 2 * tokens,
                ..TokenCounts::default()
            };
            totals.add(
                &group,
                &Counted {
                    first_of_conversation: true,
                    messages_rendered: 1,
                    bytes: 2,
                    tally: &tally,
                    requests: 2,
                    valid: true,
                    losses: 0,
                },
            );
        };
        let (mut whole, mut left, mut right) = (Totals::default(), Totals::default(), Totals::default());
        for tokens in [5, 9, 1] {
            add(&mut whole, tokens);
        }
        add(&mut left, 5);
        add(&mut right, 9);
        add(&mut right, 1);
        left.merge(&right);
        assert_eq!(format!("{:?}", left.rows()), format!("{:?}", whole.rows()));
    }

    #[test]
    fn renderings_of_all_sources_are_one_row_with_its_own_percentiles() {
        let mut totals = Totals::default();
        for (source, tokens) in [("a", 1), ("a", 2), ("b", 8), ("b", 9), ("b", 10)] {
            let group = Group {
                source: source.into(),
                rank: 0,
                dialect: "d".into(),
                profile: "document".into(),
                encoding: "e".into(),
                coverage: "whole".into(),
            };
            let tally = TokenCounts {
                tokens,
                ..TokenCounts::default()
            };
            let counted = Counted {
                first_of_conversation: true,
                messages_rendered: 2,
                bytes: 3,
                tally: &tally,
                requests: 1,
                valid: tokens > 1,
                losses: 4,
            };
            totals.add(&group, &counted);
        }
        assert_eq!(totals.rows().len(), 2);
        let [whole] = &totals.renderings()[..] else {
            panic!("{:?}", totals.renderings())
        };
        assert_eq!(
            (whole.renderings, whole.tokens, whole.p50, whole.p99),
            (5, 30, 8, 10)
        );
        assert_eq!((whole.messages_rendered, whole.bytes, whole.losses), (10, 15, 20));
        assert_eq!((whole.requests, whole.invalid), (5, 1));
    }
}
