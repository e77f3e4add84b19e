//! The figures for the report on the conversations and renderings of a slice or a run.
//! They are summed while rows are written, so that a report reads no large table.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign as _;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::{
    CallCount, ClusterCount, EvaluationCount, LARGEST, LargeConversation, LossCount, Overview,
    ReferenceCount, RoleCount, TOOLS, ToolCount, cut,
};
use chatmill_diag::cut::at;
use chatmill_dialect::{Dialect, LossCode};
use chatmill_link::{ClusterMembership, Duplicate};
use chatmill_model::{CallStatus, Conversation, Linked, Message, MessageKind};
use serde::{Deserialize, Serialize};

use crate::record::evaluation::Evaluations;
use crate::work::tables::{call_and_result, tool_name};

/// The sums of an overview.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OverviewSums {
    first: Option<i64>,
    last: Option<i64>,
    lengths: Spread,
    turns: Spread,
    participants: Spread,
    calls: Spread,
    /// Messages and characters, by role and kind.
    roles: BTreeMap<Word, BTreeMap<Word, Pair>>,
    /// References and those to the same sender, by status.
    references: BTreeMap<Word, Pair>,
    /// Calls by status and by the rule that paired them; the rule is empty for unpaired calls.
    statuses: BTreeMap<Word, BTreeMap<Word, u64>>,
    /// Tools by their names, shortened as in a report.
    tools: BTreeMap<String, ToolCount>,
    /// Calls of tools without a name.
    nameless: ToolCount,
    largest: Vec<LargeConversation>,
    /// Conversations by their cluster.
    clusters: BTreeMap<String, u64>,
    exact: u64,
    near: u64,
    /// Renderings and occurrences by the index of a kind of loss, for each dialect of the plan.
    losses: BTreeMap<usize, BTreeMap<usize, Pair>>,
    /// For each evaluation, by its number: its rows that occur in conversations,
    /// and the number of conversations that were excluded for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    evaluations: BTreeMap<usize, (BTreeSet<u32>, u64)>,
}

/// A word of the tables, which is only copied if a receipt is read.
type Word = Cow<'static, str>;

/// Two sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Pair(u64, u64);

impl Pair {
    fn add(&mut self, other: Self) {
        self.0 += other.0;
        self.1 += other.1;
    }
}

/// The losses of a rendering by kind; the memory is reused for the next rendering.
#[derive(Default)]
pub(crate) struct LossAmounts(Vec<(LossCode, u64)>);

impl LossAmounts {
    /// Starts the next rendering.
    pub(crate) fn begin(&mut self) {
        self.0.clear();
    }

    /// Adds the losses of one kind, for one of its reasons.
    pub(crate) fn add(&mut self, kind: LossCode, more: u64) {
        match self.0.iter_mut().find(|(code, _)| *code == kind) {
            Some((_, amount)) => *amount += more,
            None => self.0.push((kind, more)),
        }
    }

    /// Ends a rendering: sorts its kinds by their words.
    pub(crate) fn finish(&mut self) {
        self.0.sort_unstable_by_key(|(code, _)| code.as_str());
    }

    /// Returns the kinds in the order of their words, without duplicates.
    pub(crate) fn codes(&self) -> impl Iterator<Item = LossCode> {
        self.0.iter().map(|(code, _)| *code)
    }
}

/// Adds sums by their keys.
pub(crate) fn merge<K: Ord, V: Default>(
    sums: &mut BTreeMap<K, V>,
    more: BTreeMap<K, V>,
    add: impl Fn(&mut V, V),
) {
    for (key, more) in more {
        add(sums.entry(key).or_default(), more);
    }
}

impl OverviewSums {
    /// Adds a message or a notice with this number of characters.
    pub(crate) fn add_message(&mut self, linked: &Linked, message: &Message, characters: u64) {
        if message.kind == MessageKind::Message {
            self.lengths.add(characters);
        }
        let kinds = self.roles.entry(message.role.as_str().into()).or_default();
        let sums = kinds.entry(message.kind.as_str().into()).or_default();
        sums.add(Pair(1, characters));
        let links = linked.links.get(message.position as usize).into_iter().flatten();
        for (_, link) in message.references.iter().zip(links) {
            let sums = self.references.entry(link.status.as_str().into()).or_default();
            sums.add(Pair(1, u64::from(link.same_sender)));
        }
    }

    /// Adds a conversation with this number of characters; its messages must have been added.
    pub(crate) fn add_conversation(
        &mut self,
        id: &str,
        input: &str,
        linked: &Linked,
        membership: &ClusterMembership,
        characters: u64,
    ) {
        let conversation = &linked.conversation;
        let messages = conversation.messages.iter();
        let messages = messages.filter(|message| message.kind == MessageKind::Message);
        let messages = messages.count() as u64;
        let participants = conversation.participants.len() as u64;
        let (first, last) = conversation.span();
        self.first = [self.first, first].into_iter().flatten().min();
        self.last = [self.last, last].into_iter().flatten().max();
        self.turns.add(messages);
        self.participants.add(participants);
        self.calls.add(linked.pairings.len() as u64);
        self.add_calls(linked);
        if let Some(cluster) = membership.cluster {
            *self.clusters.entry(cluster.to_string()).or_default() += 1;
            self.exact += u64::from(membership.duplicate == Some(Duplicate::Exact));
            self.near += u64::from(membership.duplicate == Some(Duplicate::Near));
        }
        if !conversation.messages.is_empty() {
            self.offer(characters, id, || LargeConversation {
                conversation_id: id.to_owned(),
                source: conversation.source.to_owned(),
                input: input.to_owned(),
                messages,
                participants,
                characters,
            });
        }
    }

    fn add_calls(&mut self, linked: &Linked) {
        for pairing in &linked.pairings {
            let rules = self.statuses.entry(pairing.status.as_str().into()).or_default();
            let rule = pairing.paired_by.map_or("", |rule| rule.as_str());
            *rules.entry(rule.into()).or_default() += 1;
            let (call, result) = call_and_result(linked, pairing);
            let tool = match tool_name(call, result) {
                Some(name) => self.tools.entry(cut(name)).or_default(),
                None => &mut self.nameless,
            };
            tool.calls += 1;
            tool.unanswered += u64::from(pairing.status == CallStatus::Unanswered);
            tool.failed += u64::from(result.is_some_and(|result| result.is_error));
        }
    }

    /// Keeps a conversation if it is among the largest; of equally large ones the first by id is kept.
    fn offer(&mut self, characters: u64, id: &str, conversation: impl FnOnce() -> LargeConversation) {
        let place = self.largest.partition_point(|known| {
            known.characters > characters
                || (known.characters == characters && known.conversation_id.as_str() < id)
        });
        if place < LARGEST {
            self.largest.insert(place, conversation());
            self.largest.truncate(LARGEST);
        }
    }

    /// Adds the losses of a rendering in the dialect of this rank.
    pub(crate) fn add_losses(&mut self, rank: usize, losses: &LossAmounts) {
        let sums = self.losses.entry(rank).or_default();
        for (code, amount) in &losses.0 {
            sums.entry(*code as usize).or_default().add(Pair(1, *amount));
        }
    }

    /// Adds a conversation that is excluded because it contains text of evaluations.
    pub(crate) fn add_contaminated(&mut self, evaluations: &Evaluations, conversation: &Conversation) {
        let mut files = BTreeSet::new();
        for met in evaluations.met(conversation) {
            let file = evaluations.file_of(met.row);
            let (rows, conversations) = self.evaluations.entry(file).or_default();
            rows.insert(met.row);
            *conversations += u64::from(files.insert(file));
        }
    }

    /// Adds the sums of another slice.
    pub(crate) fn merge(&mut self, other: Self) {
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = [self.last, other.last].into_iter().flatten().max();
        self.lengths.merge(&other.lengths);
        self.turns.merge(&other.turns);
        self.participants.merge(&other.participants);
        self.calls.merge(&other.calls);
        merge(&mut self.roles, other.roles, |known, kinds| {
            merge(known, kinds, Pair::add);
        });
        merge(&mut self.references, other.references, Pair::add);
        merge(&mut self.statuses, other.statuses, |known, rules| {
            merge(known, rules, u64::add_assign);
        });
        merge(&mut self.tools, other.tools, |known, tool| add_tool(known, &tool));
        add_tool(&mut self.nameless, &other.nameless);
        for large in other.largest {
            let (characters, id) = (large.characters, large.conversation_id.clone());
            self.offer(characters, &id, || large);
        }
        merge(&mut self.clusters, other.clusters, u64::add_assign);
        self.exact += other.exact;
        self.near += other.near;
        merge(&mut self.losses, other.losses, |known, losses| {
            merge(known, losses, Pair::add);
        });
        merge(
            &mut self.evaluations,
            other.evaluations,
            |known, (rows, conversations)| {
                known.0.extend(rows);
                known.1 += conversations;
            },
        );
    }

    /// Returns the figures of the evaluations that conversations were compared with.
    pub(crate) fn evaluations(&self, evaluations: &Evaluations) -> Vec<EvaluationCount> {
        let counted = evaluations.files().iter().enumerate().map(|(number, file)| {
            let met = self.evaluations.get(&number);
            EvaluationCount {
                name: cut(&file.name),
                rows: file.rows,
                rows_met: met.map_or(0, |(rows, _)| rows.len() as u64),
                conversations: met.map_or(0, |(_, conversations)| *conversations),
                note: file.note(),
            }
        });
        counted.collect()
    }

    /// Returns the overview of a run with these dialects; names of tools and ids are
    /// included only if `quote` is set. Figures that are not among these sums are empty.
    pub(crate) fn overview(self, targets: &[Dialect], quote: bool) -> Overview {
        let mut overview = Overview {
            first_message: self.first,
            last_message: self.last,
            message_lengths: self.lengths.totals(),
            turns: self.turns.totals(),
            participants: self.participants.totals(),
            calls: self.calls.totals(),
            roles: roles(self.roles),
            references: references(self.references),
            tool_calls: tool_calls(self.statuses),
            largest: self.largest,
            clusters: ClusterCount {
                clusters: self.clusters.len() as u64,
                conversations: self.clusters.values().sum(),
                largest: self.clusters.into_values().max().unwrap_or_default(),
                exact: self.exact,
                near: self.near,
            },
            losses: losses(self.losses, targets),
            ..Overview::default()
        };
        for (number, large) in (1..).zip(&mut overview.largest) {
            large.conversation_id = if quote {
                cut(&large.conversation_id)
            } else {
                format!("id-{number}")
            };
            large.input = cut(&large.input);
        }
        if quote {
            overview.tools = tools(self.nameless, self.tools);
            overview.tools_left_out = overview.tools.len().saturating_sub(TOOLS) as u64;
            overview.tools.truncate(TOOLS);
        }
        overview
    }
}

fn add_tool(sum: &mut ToolCount, tool: &ToolCount) {
    sum.calls += tool.calls;
    sum.unanswered += tool.unanswered;
    sum.failed += tool.failed;
}

fn roles(roles: BTreeMap<Word, BTreeMap<Word, Pair>>) -> Vec<RoleCount> {
    let mut rows = Vec::new();
    for (role, kinds) in roles {
        rows.extend(kinds.into_iter().map(|(kind, sums)| RoleCount {
            role: role.to_string(),
            kind: kind.into_owned(),
            messages: sums.0,
            characters: sums.1,
        }));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.messages));
    rows
}

fn references(references: BTreeMap<Word, Pair>) -> Vec<ReferenceCount> {
    let rows = references.into_iter().map(|(status, sums)| ReferenceCount {
        status: status.into_owned(),
        count: sums.0,
        same_sender: sums.1,
    });
    let mut rows: Vec<ReferenceCount> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

fn tool_calls(statuses: BTreeMap<Word, BTreeMap<Word, u64>>) -> Vec<CallCount> {
    let mut rows = Vec::new();
    for (status, rules) in statuses {
        rows.extend(rules.into_iter().map(|(rule, count)| CallCount {
            status: status.to_string(),
            paired_by: Some(rule.into_owned()).filter(|rule| !rule.is_empty()),
            count,
        }));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

fn tools(nameless: ToolCount, tools: BTreeMap<String, ToolCount>) -> Vec<ToolCount> {
    let named = tools.into_iter().map(|(name, tool)| ToolCount {
        name: Some(name),
        ..tool
    });
    let mut rows: Vec<ToolCount> = std::iter::once(nameless).chain(named).collect();
    rows.retain(|tool| tool.calls > 0);
    rows.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
    rows
}

fn losses(mut losses: BTreeMap<usize, BTreeMap<usize, Pair>>, targets: &[Dialect]) -> Vec<LossCount> {
    let mut rows = Vec::new();
    for (rank, target) in targets.iter().enumerate() {
        let losses = losses.remove(&rank).into_iter().flatten();
        let mut of_target: Vec<LossCount> = losses
            .map(|(code, sums)| LossCount {
                dialect: target.id().to_owned(),
                profile: target.profile().to_owned(),
                code: at(LossCode::ALL, code).as_str().to_owned(),
                renderings: sums.0,
                amount: sums.1,
            })
            .collect();
        of_target.sort_unstable_by(|one, other| one.code.cmp(&other.code));
        rows.append(&mut of_target);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sums of a slice with a conversation of this id and size.
    fn slice(id: &str, characters: u64) -> OverviewSums {
        let mut sums = OverviewSums {
            first: Some(i64::try_from(characters).unwrap()),
            nameless: ToolCount {
                calls: 1,
                ..ToolCount::default()
            },
            clusters: BTreeMap::from([(format!("cluster {}", characters % 2), 1)]),
            losses: BTreeMap::from([(1, BTreeMap::from([(0, Pair(1, characters))]))]),
            ..OverviewSums::default()
        };
        sums.lengths.add(characters);
        sums.offer(characters, id, || LargeConversation {
            conversation_id: id.to_owned(),
            characters,
            ..LargeConversation::default()
        });
        sums
    }

    #[test]
    fn slices_in_any_order_give_the_same_sums() {
        let slices = || [slice("b", 5), slice("a", 5), slice("z", 9), slice("y", 2)];
        let mut forwards = OverviewSums::default();
        for slice in slices() {
            forwards.merge(slice);
        }
        let mut backwards = OverviewSums::default();
        for slice in slices().into_iter().rev() {
            backwards.merge(slice);
        }
        let (one, other) = (forwards.overview(&[], true), backwards.overview(&[], true));
        assert_eq!(one, other);
        assert_eq!(one.first_message, Some(2));
        assert_eq!((one.message_lengths.count, one.message_lengths.sum), (4, 21));
        assert_eq!((one.clusters.clusters, one.clusters.largest), (2, 3));
        assert_eq!(one.tools[0].calls, 4);
        let ids: Vec<&str> = one
            .largest
            .iter()
            .map(|large| large.conversation_id.as_str())
            .collect();
        assert_eq!(ids, ["z", "a", "b", "y"]);
    }

    #[test]
    fn the_largest_conversations_and_the_most_called_tools_are_retained() {
        let mut sums = OverviewSums::default();
        for number in 0..40_u64 {
            sums.merge(slice(&format!("small-{number:02}"), 1));
            let tool = ToolCount {
                calls: number + 1,
                ..ToolCount::default()
            };
            sums.tools.insert(format!("tool-{number:02}"), tool);
        }
        sums.merge(slice("large", 7));
        let quiet = sums.clone().overview(&[], false);
        assert_eq!((quiet.tools.len(), quiet.tools_left_out), (0, 0));
        let ids = quiet.largest.iter().map(|large| large.conversation_id.as_str());
        assert_eq!(ids.take(2).collect::<Vec<_>>(), ["id-1", "id-2"]);
        let overview = sums.overview(&[], true);
        assert_eq!(overview.largest.len(), LARGEST);
        assert_eq!(overview.largest[0].conversation_id, "large");
        assert_eq!(overview.largest[1].conversation_id, "small-00");
        assert_eq!((overview.tools.len(), overview.tools_left_out), (TOOLS, 21));
        // Tools without a name come first among equals.
        assert_eq!((overview.tools[0].calls, &overview.tools[0].name), (41, &None));
    }

    #[test]
    fn sums_are_read_from_a_receipt_as_they_were_written() {
        let text = serde_json::to_string(&slice("a", 5)).unwrap();
        let read: OverviewSums = serde_json::from_str(&text).unwrap();
        assert_eq!(read.overview(&[], true), slice("a", 5).overview(&[], true));
    }
}
