//! What was detected below a path, by source.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_engine::Proposal;
use chatmill_engine::inspect::EntryReport;

use crate::figures::{count, counted, instant};
use crate::output::harmless;

/// The number of files that are named; the others are counted.
const MAX_NAMED: usize = 5;

/// What was detected below a path.
#[derive(Debug, Default)]
pub(super) struct Seen {
    sources: BTreeMap<String, Found>,
    /// Files and members of archives that no source recognises.
    strangers: Vec<String>,
    /// What the first of these files looks like.
    resembles: Option<String>,
    /// A proposed map for the first of these files.
    pub proposal: Option<Proposal>,
    /// Tables that no source reads.
    pub tables: BTreeSet<String>,
    /// Records framed.
    pub records: u64,
    /// Records that cannot be read.
    pub rejected: u64,
    /// The records of each input.
    inputs: BTreeMap<String, Records>,
}

/// The records of an input.
#[derive(Debug, Default)]
struct Records {
    framed: u64,
    rejected: u64,
    /// Whether some source reads a part of it.
    is_read: bool,
    conversations: u64,
    /// Conversations with an id that is a whole number.
    numbered: u64,
}

/// What was detected of a source.
#[derive(Debug, Default)]
struct Found {
    entries: u64,
    conversations: u64,
    messages: u64,
    shapes: BTreeSet<String>,
    span: Option<(i64, i64)>,
}

impl Seen {
    /// Sums up the reports on files.
    pub(super) fn new(entries: &[EntryReport]) -> Self {
        let mut seen = Self::default();
        for entry in entries {
            seen.records += entry.records;
            seen.rejected += entry.rejected;
            let input = seen.inputs.entry(entry.path.clone()).or_default();
            input.framed += entry.records;
            input.rejected += entry.rejected;
            input.is_read |= entry.source.is_some();
            input.conversations += entry.conversations;
            input.numbered += entry.numbered;
            let Some(source) = &entry.source else {
                let member = if entry.entry.is_empty() {
                    entry.path.clone()
                } else {
                    format!("{}!{}", entry.path, entry.entry)
                };
                seen.strangers.push(member);
                seen.resembles = seen.resembles.take().or_else(|| entry.looks_like.clone());
                seen.proposal = seen.proposal.take().or_else(|| entry.proposal.clone());
                seen.tables.extend(entry.unread_tables.iter().cloned());
                continue;
            };
            let found = seen.sources.entry(source.clone()).or_default();
            found.entries += 1;
            found.conversations += entry.conversations;
            found.messages += entry.messages;
            found.shapes.extend(entry.shapes.iter().cloned());
            if let (Some(first), Some(last)) = (entry.started_at, entry.ended_at) {
                let (earliest, latest) = found.span.unwrap_or((first, last));
                found.span = Some((earliest.min(first), latest.max(last)));
            }
        }
        seen
    }

    /// The ids of the sources.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        self.sources.keys().map(String::as_str)
    }

    /// The number of records in inputs that some source reads, and of those among them that cannot be read.
    pub(super) fn read(&self) -> (u64, u64) {
        let read = self.inputs.values().filter(|input| input.is_read);
        read.fold((0, 0), |(framed, rejected), input| {
            (framed + input.framed, rejected + input.rejected)
        })
    }

    /// The number of inputs that are refused as a whole because no source reads anything in them.
    pub(super) fn refused(&self) -> u64 {
        let inputs = self.inputs.values();
        inputs
            .filter(|input| !input.is_read && input.rejected > 0)
            .count() as u64
    }

    /// The number of inputs that number their conversations; the same number in another input is another conversation.
    pub(super) fn numbered(&self) -> usize {
        let is_numbered = |input: &&Records| input.conversations > 0 && input.numbered == input.conversations;
        self.inputs.values().filter(is_numbered).count()
    }

    /// Whether the proposed pipeline would read something, without being edited.
    pub(super) fn fits(&self) -> bool {
        let is_map = |proposal: &Proposal| !matches!(proposal, Proposal::Rivals(_));
        !self.sources.is_empty() || self.proposal.as_ref().is_some_and(is_map)
    }

    /// A description of the files that do not fit.
    pub(super) fn misfits(&self) -> impl Iterator<Item = String> {
        let listed = |what: &str, names: Vec<&str>| {
            (!names.is_empty()).then(|| format!("{what} {}", harmless(&names.join(", "))))
        };
        let lists = match &self.proposal {
            Some(Proposal::Rivals(lists)) => lists.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let tables = self.tables.iter().map(String::as_str).take(MAX_NAMED).collect();
        let further = [
            listed("its tables are", tables),
            listed("each of these lists could hold the messages:", lists),
        ];
        self.lines().into_iter().chain(further.into_iter().flatten())
    }

    /// Whether some file was not recognised.
    pub(super) fn has_strangers(&self) -> bool {
        !self.strangers.is_empty()
    }

    /// The first and the last instant, in microseconds UTC.
    pub(super) fn span(&self) -> Option<(i64, i64)> {
        let spans = self.sources.values().filter_map(|found| found.span);
        spans.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)))
    }

    /// A line for each source, and one for files that were not recognised.
    pub(super) fn lines(&self) -> Vec<String> {
        let sources = self.sources.iter();
        let sources = sources.map(|(source, found)| format!("{source}: {}", found.describe()));
        let mut lines: Vec<String> = sources.collect();
        if self.rejected > 0 {
            lines.push(format!(
                "{} of {} cannot be read; `chatmill check` reports why",
                count(self.rejected),
                counted(self.records, "record")
            ));
        }
        if !self.strangers.is_empty() {
            let named = self.strangers.iter().take(MAX_NAMED);
            let mut named: Vec<String> = named.map(|name| harmless(name)).collect();
            let more = self.strangers.len().saturating_sub(MAX_NAMED);
            if more > 0 {
                named.push(format!("and {} more", count(more as u64)));
            }
            lines.push(format!("not recognised: {}", named.join(", ")));
            let resembles = self.resembles.as_deref().map(harmless);
            lines.extend(resembles.map(|resembles| format!("looks like {resembles}")));
        }
        lines
    }
}

impl Found {
    fn describe(&self) -> String {
        let mut clauses = vec![
            counted(self.entries, "file"),
            counted(self.conversations, "conversation"),
            counted(self.messages, "message"),
        ];
        if let Some((first, last)) = self.span {
            clauses.push(format!("{} to {}", day(first), day(last)));
        }
        if !self.shapes.is_empty() {
            let shapes: Vec<&str> = self.shapes.iter().map(String::as_str).collect();
            clauses.push(format!("shapes {}", shapes.join(", ")));
        }
        clauses.join(", ")
    }
}

/// The day of an instant.
pub(super) fn day(microseconds: i64) -> String {
    instant(microseconds, "%Y-%m-%d")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, source: Option<&str>, days: Option<(i64, i64)>) -> EntryReport {
        const DAY: i64 = 86_400_000_000;
        EntryReport {
            path: path.to_owned(),
            source: source.map(str::to_owned),
            records: 2,
            conversations: 1,
            messages: 3,
            started_at: days.map(|(first, _)| first * DAY),
            ended_at: days.map(|(_, last)| last * DAY),
            ..EntryReport::default()
        }
    }

    #[test]
    fn entries_of_a_source_are_summed_and_their_span_covers_all() {
        let seen = Seen::new(&[
            entry("a", Some("group-chat"), Some((5, 6))),
            entry("b", Some("group-chat"), Some((1, 2))),
            entry("c", Some("chatml"), None),
        ]);
        assert_eq!(
            seen.lines(),
            [
                "chatml: 1 file, 1 conversation, 3 messages",
                "group-chat: 2 files, 2 conversations, 6 messages, 1970-01-02 to 1970-01-07"
            ]
        );
        assert_eq!(
            seen.span().map(|(first, last)| (day(first), day(last))),
            Some(("1970-01-02".into(), "1970-01-07".into()))
        );
    }

    #[test]
    fn of_unrecognised_files_five_are_named_and_the_rest_counted() {
        let names = ["a", "b", "c", "d", "e", "f\u{1b}", "g"];
        let entries: Vec<_> = names.map(|name| entry(name, None, None)).to_vec();
        let seen = Seen::new(&entries);
        assert_eq!(seen.lines(), ["not recognised: a, b, c, d, e, and 2 more"]);
        assert!(seen.has_strangers());
    }
}
