//! The overview of many files: a table with a row for each format, then the files that no source reads.

use std::collections::BTreeMap;

use chatmill_engine::ReadProblem;
use chatmill_engine::inspect::EntryReport;

use super::{is_closed, name};
use crate::figures::{count, counted, instant};
use crate::output::{fitted, harmless};
use crate::terminal;

/// The number of files that are described individually; with more, an overview is printed unless all are asked for.
pub(super) const MOST_DESCRIBED: usize = 10;

/// The number of files of each kind that an overview names.
const MOST_NAMED: usize = 5;

/// The sums of the files of a format.
#[derive(Default)]
struct Sum {
    files: u64,
    conversations: u64,
    messages: u64,
    from: Option<i64>,
    to: Option<i64>,
}

impl Sum {
    fn add(&mut self, entry: &EntryReport) {
        self.files += 1;
        self.conversations += entry.conversations;
        self.messages += entry.messages;
        self.from = self.from.into_iter().chain(entry.started_at).min();
        self.to = self.to.max(entry.ended_at);
    }

    fn row(&self, source: &str) -> Vec<String> {
        let day = |at: Option<i64>| at.map_or_else(String::new, |at| instant(at, "%Y-%m-%d"));
        let [files, conversations, messages] = [self.files, self.conversations, self.messages].map(count);
        let (from, to) = (day(self.from), day(self.to));
        vec![source.to_owned(), from, to, files, conversations, messages]
    }
}

/// The overview: a table of formats, the files that no source reads, and the files with problems.
pub(super) fn overview(entries: &[EntryReport]) -> String {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    let mut total = Sum::default();
    for entry in entries {
        let source = entry.source.as_deref().filter(|_| !is_closed(entry));
        sums.entry(source.unwrap_or("not recognised"))
            .or_default()
            .add(entry);
        total.add(entry);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(source, sum)| (*source == "not recognised", std::cmp::Reverse(sum.messages)));
    let rows = sums.iter().map(|(source, sum)| sum.row(source));
    let rows = rows.chain([total.row("all")]);
    let header = ["Source", "from", "to", "files", "conversations", "messages"];
    let mut text = fitted(header, rows, 3, &["to", "from"], terminal::table_columns());
    let is_unknown = |entry: &&EntryReport| entry.source.is_none() || is_closed(entry);
    let (unknown, known): (Vec<&EntryReport>, Vec<&EntryReport>) = entries.iter().partition(is_unknown);
    let doubtful: Vec<&EntryReport> = known
        .into_iter()
        .filter(|entry| !entry.problems.is_empty())
        .collect();
    list(&mut text, "Not recognised", &unknown, &|entry| {
        let is_of_input = |problem: &&ReadProblem| problem.is_of_input();
        let problem = entry
            .problems
            .iter()
            .find(is_of_input)
            .map(|problem| &problem.message);
        problem.or(entry.looks_like.as_ref()).cloned()
    });
    list(&mut text, "With problems", &doubtful, &|entry| {
        entry
            .problems
            .first()
            .map(|problem| format!("{} ({})", problem.message, problem.code))
    });
    text + "\n-v describes each file\n"
}

/// Adds the first files of a kind, each with a remark.
fn list(
    text: &mut String,
    kind: &str,
    entries: &[&EntryReport],
    about: &dyn Fn(&EntryReport) -> Option<String>,
) {
    if entries.is_empty() {
        return;
    }
    text.push_str(&format!("\n{kind}: {}\n", counted(entries.len() as u64, "file")));
    for entry in entries.iter().take(MOST_NAMED) {
        let about = about(entry).map(|about| format!(": {}", harmless(&about)));
        let line = format!("    {}{}", name(entry), about.unwrap_or_default());
        text.push_str(&(terminal::clipped(&line) + "\n"));
    }
    let more = entries.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        text.push_str(&format!("    and {} more\n", count(more as u64)));
    }
}
