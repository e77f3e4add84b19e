//! Token totals per source, day, model, dialect, profile, encoding and coverage, with exact percentiles.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::RenderingCount;
use chatmill_dataset::rows::TotalRow;
use chatmill_diag::cut;
use chatmill_token::{Encoding, TokenCounts};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::work::shares::Logged;

/// The key by which totals are grouped. Names are indices into the plan, so that counting copies none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Group {
    /// Source id.
    pub source: Cow<'static, str>,
    /// The day of the answers in UTC; empty where it is unknown.
    pub day: String,
    /// The model that wrote them; empty where it is unknown.
    pub model: String,
    /// Place of the dialect with its profile in the plan.
    pub target: usize,
    /// Place of the encoding in the plan; 0 when nothing is counted.
    pub encoding: usize,
    /// Coverage.
    pub coverage: Cow<'static, str>,
}

/// The names that the indices of a group stand for.
pub struct TotalNames<'p> {
    /// Dialects with their profiles.
    pub targets: Vec<(&'p str, &'p str)>,
    /// Encodings; one without a name when nothing is counted.
    pub encodings: Vec<&'p str>,
}

impl<'p> TotalNames<'p> {
    /// The names of a plan.
    pub fn of(plan: &'p Plan) -> Self {
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

    fn encoding(&self, group: &Group) -> &'p str {
        cut::at::<&str>(&self.encodings, group.encoding)
    }
}

/// The sums and the distribution of a group, or the share of a rendering in them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sums {
    /// Conversations that have a rendering in it.
    pub conversations: u64,
    /// Messages that its renderings show.
    pub messages_rendered: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// Tokens and their parts.
    pub token_counts: TokenCounts,
    /// The usage that the provider logged for its requests.
    pub logged: Logged,
    /// The number of requests.
    pub requests: u64,
    /// Renderings that break a rule of the dialect.
    pub invalid: u64,
    /// The losses, in occurrences.
    pub losses: u64,
    /// Renderings by their number of tokens.
    pub distribution: Spread,
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

impl Totals {
    /// Adds one share of a rendering; the rendering itself has so many tokens and is counted once, with its last share.
    pub fn add(&mut self, group: &Group, share: &Sums, tokens: Option<u64>) {
        self.change(group, |sums| {
            sums.add(share);
            if let Some(tokens) = tokens {
                sums.distribution.add(tokens);
            }
        });
    }

    /// Adds other totals.
    pub fn merge(&mut self, other: &Self) {
        for (group, more) in &other.0 {
            self.change(group, |sums| sums.add(more));
        }
    }

    /// Changes the sums of a group. A known key is not copied.
    fn change(&mut self, group: &Group, change: impl FnOnce(&mut Sums)) {
        match self.0.get_mut(group) {
            Some(sums) => change(sums),
            None => change(self.0.entry(group.clone()).or_default()),
        }
    }

    /// The renderings of each dialect, profile, coverage and encoding over all sources, in the order of the dialects.
    pub fn renderings(&self, names: &TotalNames<'_>) -> Vec<RenderingCount> {
        let mut whole = Self::default();
        for (group, sums) in &self.0 {
            let group = Group {
                source: Cow::Borrowed(""),
                day: String::new(),
                model: String::new(),
                ..group.clone()
            };
            whole.change(&group, |whole| whole.add(sums));
        }
        let sorted = whole.sorted(names).into_iter();
        sorted
            .map(|(group, sums)| rendering_count(&row(group, sums, names), sums))
            .collect()
    }

    /// The rows of the totals table, sorted by source, day, model, place of the dialect, encoding and coverage.
    pub fn rows<'n>(&'n self, names: &TotalNames<'n>) -> Vec<TotalRow<'n>> {
        let sorted = self.sorted(names).into_iter();
        sorted.map(|(group, sums)| row(group, sums, names)).collect()
    }

    fn sorted(&self, names: &TotalNames<'_>) -> Vec<(&Group, &Sums)> {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by_key(|(group, _)| {
            (
                &group.source,
                &group.day,
                &group.model,
                group.target,
                names.encoding(group),
                &group.coverage,
            )
        });
        sorted
    }
}

fn row<'n>(group: &'n Group, sums: &Sums, of: &TotalNames<'n>) -> TotalRow<'n> {
    let (dialect, profile) = *cut::at(&of.targets, group.target);
    let token_counts = &sums.token_counts;
    TotalRow {
        source: &group.source,
        day: Some(group.day.as_str()).filter(|day| !day.is_empty()),
        model: Some(group.model.as_str()).filter(|model| !model.is_empty()),
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

    #[test]
    fn rows_come_in_the_order_of_sources_dialects_and_encodings_by_their_names() {
        let mut totals = Totals::default();
        for (source, target, encoding) in [("b", 0, 0), ("a", 1, 0), ("a", 0, 1), ("a", 0, 0)] {
            let group = Group {
                source: source.into(),
                day: String::new(),
                model: String::new(),
                target,
                encoding,
                coverage: "whole".into(),
            };
            totals.change(&group, |_| ());
        }
        let text = serde_json::to_string(&totals).unwrap();
        let read: Totals = serde_json::from_str(&text).unwrap();
        let names = names();
        let rows = read.rows(&names).into_iter();
        let rows: Vec<_> = rows.map(|row| (row.source, row.dialect, row.encoding)).collect();
        assert_eq!(
            rows,
            [("a", "d", "e"), ("a", "d", "f"), ("a", "c", "f"), ("b", "d", "f")]
        );
    }

    #[test]
    fn merging_two_halves_equals_the_whole() {
        let group = Group {
            source: "s".into(),
            day: String::new(),
            model: String::new(),
            target: 0,
            encoding: 0,
            coverage: "whole".into(),
        };
        let add = |totals: &mut Totals, tokens: u64| {
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
            totals.add(&group, &share, Some(tokens));
        };
        let (mut whole, mut left, mut right) = (Totals::default(), Totals::default(), Totals::default());
        for tokens in [5, 9, 1] {
            add(&mut whole, tokens);
        }
        add(&mut left, 5);
        add(&mut right, 9);
        add(&mut right, 1);
        left.merge(&right);
        assert_eq!(
            format!("{:?}", left.rows(&names())),
            format!("{:?}", whole.rows(&names()))
        );
    }

    #[test]
    fn renderings_of_all_sources_are_one_row_with_its_own_percentiles() {
        let mut totals = Totals::default();
        for (source, tokens) in [("a", 1), ("a", 2), ("b", 8), ("b", 9), ("b", 10)] {
            let group = Group {
                source: source.into(),
                day: String::new(),
                model: String::new(),
                target: 0,
                encoding: 0,
                coverage: "whole".into(),
            };
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
            totals.add(&group, &share, Some(tokens));
        }
        assert_eq!(totals.rows(&names()).len(), 2);
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
