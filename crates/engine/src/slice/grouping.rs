//! Groups rows by conversation: the rows of a conversation may be far apart in the inputs, so rows
//! are spilled and read back together (docs/decisions/2026-11-21-grouped-rows-as-json-array.md).
//!
//! Memory stays within `limits.partition` for any input: rows are spread over partitions by
//! the hash of their conversation, and one partition at a time becomes a slice (or several, if
//! rows that belong to every conversation make it too large). A partition that is too large is
//! spread again. Partitions and their order depend only on the inputs and the limits.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use chatmill_dataset::{DatasetError, Spill, SpillFolder};
use chatmill_diag::{Limits, cut};
use chatmill_intake::Form;
use chatmill_intake::TableName;
use chatmill_source::Source;

use crate::entry::EntryRef;
use crate::record::group::{Group, GroupRow, RowPlace};

mod lineage;
mod shared;

use lineage::Lineage;
use shared::Shared;

/// Partitions that are open at a time, each with a file.
const OPEN_PARTITIONS: u64 = 256;

/// The maximum number of times that a partition is spread
/// again: conversations with six equal hashes stay together.
const MAX_SPREADS: usize = 6;

/// Groups rows by conversation. Rows are spilled until all inputs have been read.
pub(crate) struct RowGrouper {
    /// The largest partition, in bytes, that becomes a slice without spreading.
    target: u64,
    folder: SpillFolder,
    /// The spill that rows go to while inputs are read; then the spills that are being emptied, deepest last.
    levels: VecDeque<Level>,
    /// The entries that rows came from, by [`RowPlace::entry`].
    pub entries: Vec<EntryRef>,
    /// For each entry, the scope in which equal keys are one conversation.
    scopes: Vec<String>,
    /// For each entry the table of its rows, if it is a table.
    tables: Vec<Option<ReadTable>>,
    /// The prefix for ids of each of these tables; known after
    /// all rows were read, and empty for a single table.
    prefixes: Option<BTreeMap<ReadTable, Arc<str>>>,
    /// Conversations with several keys.
    lineage: Lineage,
    /// Rows that belong to every conversation of their scope.
    shared: Shared,
    /// The partition that groups are currently taken from.
    partition: Partition,
    /// Rows that were not yet returned in a group.
    pub waiting_rows: u64,
}

/// A table with rows that are read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReadTable {
    /// The known system with these tables; `None` if a map of the user names the table.
    pub system: Option<&'static str>,
    /// Its name.
    pub name: TableName,
}

struct Level {
    spill: Spill,
    next: usize,
    /// Whether its partitions are not spread any further.
    is_last: bool,
}

/// A partition that was read back from its spill.
#[derive(Default)]
struct Partition {
    /// The rows of the partition, concatenated; the memory is reused for the next partition.
    bytes: Vec<u8>,
    /// Group number, place and bytes of each row: group by group, in input order within a group.
    rows: Vec<(usize, RowPlace, Range<usize>)>,
    /// Keys of the groups, by group number.
    keys: Vec<Option<String>>,
    /// Number of rows that were returned in groups.
    done: usize,
}

/// Groups of a partition, conversation by conversation.
pub(crate) struct GroupBatch {
    /// Arrays of rows, concatenated.
    pub buffer: Vec<u8>,
    /// The conversations in the order of their first rows.
    pub groups: Vec<Group>,
}

impl RowGrouper {
    /// Creates a grouper for inputs with this many bytes. Rows beyond
    /// the memory limit are spilled to unnamed files in `folder`.
    pub(crate) fn new(input_bytes: u64, limits: &Limits, folder: impl Into<SpillFolder>) -> Self {
        let target = limits.partition.max(1);
        let mut grouper = Self {
            target,
            folder: folder.into(),
            levels: VecDeque::new(),
            entries: Vec::new(),
            scopes: Vec::new(),
            tables: Vec::new(),
            prefixes: None,
            lineage: Lineage::default(),
            shared: Shared::within(limits.shared_rows, target),
            partition: Partition::default(),
            waiting_rows: 0,
        };
        grouper.open(input_bytes.div_ceil(target).clamp(1, OPEN_PARTITIONS) as usize);
        grouper
    }

    /// Announces an entry; its rows refer to it by the returned number. Rows with
    /// equal keys are one conversation if the scopes of their entries are equal.
    pub(crate) fn entry(&mut self, entry: EntryRef, scope: String) -> usize {
        self.entries.push(entry);
        self.scopes.push(scope);
        self.tables.push(None);
        self.entries.len() - 1
    }

    /// Announces an entry with rows of a table: equal keys in two tables are two conversations.
    pub(crate) fn table(&mut self, entry: EntryRef, scope: &str, table: ReadTable) -> usize {
        let number = self.entry(entry, format!("{scope}\n{}", table.name.full()));
        if let Some(last) = self.tables.last_mut() {
            *last = Some(table);
        }
        number
    }

    /// Returns the scopes of rows without a table that are merged with rows of exactly one table,
    /// mapped to the scope of that table: for example a CSV file and a dump of the same rows.
    fn scopes_of_one_table(&self) -> HashMap<String, String> {
        let mut tables: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
        for (scope, table) in self.scopes.iter().zip(&self.tables) {
            if let Some((base, _)) = scope.rsplit_once('\n').filter(|_| table.is_some()) {
                tables.entry(base).or_default().insert(scope);
            }
        }
        let nameless = self.scopes.iter().zip(&self.tables);
        let nameless = nameless.filter_map(|(scope, table)| table.is_none().then_some(scope));
        let joined = nameless.filter_map(|scope| {
            let mut of = tables.get(scope.as_str())?.iter();
            let one = of.next().filter(|_| of.next().is_none());
            Some((scope.clone(), (*one?).clone()))
        });
        joined.collect()
    }

    /// Returns the prefix for the ids of each table's conversations, after all rows were read.
    fn table_prefixes(&self) -> BTreeMap<ReadTable, Arc<str>> {
        let tables: BTreeSet<&ReadTable> = self.tables.iter().flatten().collect();
        let tables: Vec<&ReadTable> = tables.into_iter().collect();
        let systems = tables.chunk_by(|left, right| left.system == right.system);
        let several = systems.filter(|tables| tables.len() > 1);
        let prefixes = several.flat_map(|tables| {
            let mut pairs = tables.windows(2);
            let is_one = pairs.all(|pair| cut::at(pair, 0).name.database == cut::at(pair, 1).name.database);
            tables.iter().map(move |table| {
                let name = if is_one {
                    table.name.table.clone()
                } else {
                    table.name.full()
                };
                ((*table).clone(), name.into())
            })
        });
        prefixes.collect()
    }

    /// Spills a row.
    pub(crate) fn push(&mut self, key: &str, place: &RowPlace, bytes: &[u8]) -> Result<(), DatasetError> {
        let head = Head::of(cut::at::<String>(&self.scopes, place.entry), key, place);
        let Some(level) = self.levels.front_mut() else {
            return Ok(());
        };
        self.waiting_rows += 1;
        let partition = partition_of(head.group(), 0, level.spill.partitions());
        level.spill.push(partition, &head.0, bytes)
    }

    /// Spills a row that is a conversation by itself.
    pub(crate) fn push_alone(&mut self, place: &RowPlace, bytes: &[u8]) -> Result<(), DatasetError> {
        // No id starts with this character, which ends scopes.
        self.push(&format!("\0{} {}", place.entry, place.record), place, bytes)
    }

    /// Records that the conversation of a key starts with a row, identified by its id and its
    /// words. Conversations of entries of the same `family` that start with the same row are one.
    pub(crate) fn begins(&mut self, key: &str, place: &RowPlace, family: &str, row: &str) {
        let head = Head::of(cut::at::<String>(&self.scopes, place.entry), key, place);
        self.lineage.begins(family, row, head.group());
    }

    /// Spills a row that belongs to every conversation of its scope, or to those that mention the
    /// person it is about. Rows beyond the limit for shared rows go to the conversation without a key.
    pub(crate) fn push_shared(
        &mut self,
        about: Option<String>,
        place: &RowPlace,
        bytes: &[u8],
    ) -> Result<(), DatasetError> {
        if self
            .shared
            .add(cut::at::<String>(&self.scopes, place.entry), about, *place, bytes)
        {
            return Ok(());
        }
        self.push("", place, bytes)
    }

    /// Returns the next groups, written into `buffer`; `None` after the last.
    pub(crate) fn next_groups(&mut self, buffer: Vec<u8>) -> Result<Option<GroupBatch>, DatasetError> {
        if self.prefixes.is_none() {
            self.prefixes = Some(self.table_prefixes());
            self.lineage.join(self.scopes_of_one_table());
        }
        if self.lineage.has_any() {
            self.merge_continued()?;
        }
        if self.partition.done == self.partition.rows.len() && !self.next_partition()? {
            return Ok(self.alone(buffer));
        }
        Ok(Some(self.groups(buffer)))
    }

    /// Reads the next partition back; returns false after the last.
    fn next_partition(&mut self) -> Result<bool, DatasetError> {
        loop {
            let depth = self.levels.len();
            let Some(level) = self.levels.back_mut() else {
                return Ok(false);
            };
            let partition = level.next;
            if partition >= level.spill.partitions() {
                self.levels.pop_back();
                continue;
            }
            level.next += 1;
            let bytes = level.spill.bytes(partition);
            if bytes == 0 {
                continue;
            }
            if bytes <= self.target.saturating_mul(2) || level.is_last || depth > MAX_SPREADS {
                return self.collect(partition).map(|()| true);
            }
            self.spread(partition, bytes, depth)?;
        }
    }

    fn open(&mut self, partitions: usize) {
        self.levels.push_back(Level {
            spill: Spill::new(self.folder.clone(), partitions, self.target),
            next: 0,
            is_last: false,
        });
    }

    /// Spreads a partition that is too large over further ones, which are emptied before the next partition.
    fn spread(&mut self, partition: usize, bytes: u64, depth: usize) -> Result<(), DatasetError> {
        self.open(bytes.div_ceil(self.target).clamp(2, OPEN_PARTITIONS) as usize);
        let mut deepest = self.levels.iter_mut().rev();
        let (Some(deeper), Some(level)) = (deepest.next(), deepest.next()) else {
            return Ok(());
        };
        let count = deeper.spill.partitions();
        level.spill.drain(partition, &mut |head, body| {
            let place = partition_of(Head::group_of(head), depth, count);
            deeper.spill.push(place, head, body)
        })?;
        // All rows are in one place: one conversation, or several with
        // equal hashes. Spreading again would not make it smaller.
        deeper.is_last = (0..count).filter(|place| deeper.spill.bytes(*place) > 0).count() == 1;
        Ok(())
    }

    /// Renames the rows of conversations with several keys to one key, after all were spilled.
    fn merge_continued(&mut self) -> Result<(), DatasetError> {
        let lineage = std::mem::take(&mut self.lineage);
        let Some(mut level) = self.levels.pop_front() else {
            return Ok(());
        };
        let count = level.spill.partitions();
        self.open(count);
        let Some(named) = self.levels.front_mut() else {
            return Ok(());
        };
        for partition in 0..count {
            level.spill.drain(partition, &mut |head, body| {
                let numbers = cut::slice(head, 0..NUMBERS * 8);
                let group = lineage.name_of(Head::group_of(head));
                let place = partition_of(&group, 0, count);
                named.spill.push(place, &[numbers, &*group].concat(), body)
            })?;
        }
        Ok(())
    }

    fn collect(&mut self, partition: usize) -> Result<(), DatasetError> {
        let into = &mut self.partition;
        into.bytes.clear();
        into.rows.clear();
        into.keys.clear();
        into.done = 0;
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        if let Some(level) = self.levels.back_mut() {
            level.spill.drain(partition, &mut |head, body| {
                let group = Head::group_of(head);
                let number = numbers.get(group).copied().unwrap_or_else(|| {
                    numbers.insert(group.to_vec(), into.keys.len());
                    into.keys.push(Head::key_of(group));
                    into.keys.len() - 1
                });
                let start = into.bytes.len();
                into.bytes.extend_from_slice(body);
                into.rows
                    .push((number, Head::place_of(head), start..into.bytes.len()));
                Ok(())
            })?;
        }
        // In input order, wherever the rows of a group came from.
        into.rows
            .sort_by_key(|(number, place, _)| (*number, place.entry, place.record));
        Ok(())
    }

    /// Returns groups of the partition: all that are left, or as many as fill the buffer.
    fn groups(&mut self, mut buffer: Vec<u8>) -> GroupBatch {
        let target = usize::try_from(self.target).unwrap_or(usize::MAX);
        let from = &mut self.partition;
        buffer.clear();
        buffer.reserve((from.bytes.len() + 2 * from.rows.len()).min(target));
        let mut groups: Vec<Group> = Vec::new();
        let left = cut::slice(&from.rows, from.done..from.rows.len());
        for group in left.chunk_by(|left, right| left.0 == right.0) {
            if buffer.len() > target.saturating_mul(2) {
                break;
            }
            from.done += group.len();
            self.waiting_rows = self.waiting_rows.saturating_sub(group.len() as u64);
            let (number, first, _) = cut::at(group, 0);
            let Some(source) = cut::at(&self.entries, first.entry).source else {
                continue;
            };
            let key = cut::at_mut(&mut from.keys, *number).take();
            let own = group
                .iter()
                .map(|(_, place, range)| (*place, cut::slice(&from.bytes, range.clone())));
            let scopes = group
                .iter()
                .map(|(_, place, _)| cut::at(&self.scopes, place.entry));
            let mut scopes: Vec<&String> = scopes.collect();
            scopes.dedup();
            let mut shared = Vec::new();
            for scope in scopes {
                let rows = self.shared.of(scope, own.clone().map(|(_, words)| words));
                shared.extend(rows.map(|(place, bytes)| (place, bytes.to_vec())));
            }
            let shared = shared.iter().map(|(place, bytes)| (*place, bytes.as_slice()));
            let mut group = array(source, key, own.chain(shared), &mut buffer);
            let mut tables = group
                .rows
                .iter()
                .map(|row| cut::at(&self.tables, row.place.entry));
            let table = tables.find_map(Option::as_ref);
            group.table = table.and_then(|table| self.prefixes.as_ref()?.get(table).cloned());
            groups.push(group);
        }
        GroupBatch { buffer, groups }
    }

    /// Returns shared rows that were read with no conversation.
    fn alone(&mut self, mut buffer: Vec<u8>) -> Option<GroupBatch> {
        buffer.clear();
        let mut groups = Vec::new();
        for rows in self.shared.unread() {
            let (first, _) = cut::at(&rows, 0);
            if let Some(source) = cut::at(&self.entries, first.entry).source {
                groups.push(array(source, None, rows.into_iter(), &mut buffer));
            }
        }
        (!groups.is_empty()).then_some(GroupBatch { buffer, groups })
    }
}

/// Writes the rows of a group as an array.
fn array<'r>(
    source: &'static dyn Source,
    key: Option<String>,
    rows: impl Iterator<Item = (RowPlace, &'r [u8])>,
    buffer: &mut Vec<u8>,
) -> Group {
    let begin = buffer.len();
    let mut inside = Vec::new();
    for (place, bytes) in rows {
        buffer.push(if buffer.len() == begin { b'[' } else { b',' });
        let start = buffer.len() - begin;
        buffer.extend_from_slice(bytes);
        inside.push(GroupRow {
            inside: start..buffer.len() - begin,
            place,
        });
    }
    buffer.push(b']');
    Group {
        source,
        key,
        table: None,
        rows: inside,
        buffer: begin..buffer.len(),
    }
}

/// The head of a row in a spill file: eight numbers, then scope and key.
struct Head(Vec<u8>);

/// The number of numbers in a head.
const NUMBERS: usize = 8;

/// The forms of rows; the index is written in the head.
const FORMS: [Form; 4] = [Form::Original, Form::Row, Form::Copied, Form::Text];

impl Head {
    fn of(scope: &str, key: &str, place: &RowPlace) -> Self {
        let numbers: [u64; NUMBERS] = [
            place.entry as u64,
            place.record,
            place.start,
            place.end,
            place.bytes,
            place.line,
            place.column,
            (place.form as u64) << 1 | u64::from(place.counts),
        ];
        let mut head = Vec::with_capacity(NUMBERS * 8 + scope.len() + key.len() + 1);
        for number in numbers {
            head.extend_from_slice(&number.to_le_bytes());
        }
        head.extend_from_slice(scope.as_bytes());
        // No scope contains a NUL.
        head.push(0);
        head.extend_from_slice(key.as_bytes());
        Self(head)
    }

    fn group(&self) -> &[u8] {
        Self::group_of(&self.0)
    }

    /// Returns scope and key.
    fn group_of(head: &[u8]) -> &[u8] {
        cut::slice(head, NUMBERS * 8..head.len())
    }

    fn key_of(group: &[u8]) -> Option<String> {
        let at = group.iter().position(|byte| *byte == 0)?;
        let key = String::from_utf8_lossy(group.get(at + 1..)?).into_owned();
        (!key.is_empty() && !key.starts_with('\0')).then_some(key)
    }

    fn place_of(head: &[u8]) -> RowPlace {
        let (numbers, _) = head.as_chunks();
        let number = |index: usize| u64::from_le_bytes(*cut::at(numbers, index));
        RowPlace {
            entry: number(0) as usize,
            record: number(1),
            start: number(2),
            end: number(3),
            bytes: number(4),
            line: number(5),
            column: number(6),
            form: *cut::at(&FORMS, (number(7) >> 1) as usize),
            counts: number(7) & 1 == 1,
        }
    }
}

/// Returns the partition of a group; each depth has a different hash.
fn partition_of(group: &[u8], depth: usize, count: usize) -> usize {
    let hash = blake3::Hasher::new()
        .update(&(depth as u64).to_le_bytes())
        .update(group)
        .finalize();
    let number = hash
        .as_bytes()
        .first_chunk()
        .copied()
        .map_or(0, u64::from_le_bytes);
    (number % count.max(1) as u64) as usize
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests need folders of their own")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn place(record: u64, counts: bool) -> RowPlace {
        RowPlace {
            entry: 0,
            record,
            start: record * 10,
            end: record * 10 + 9,
            bytes: record * 7,
            line: record + 1,
            column: 3,
            form: FORMS[record as usize % 4],
            counts,
        }
    }

    fn entry() -> EntryRef {
        EntryRef {
            source: chatmill_source::SOURCES.first().copied(),
            ..EntryRef::of_input(0)
        }
    }

    fn limits(partition: u64) -> Limits {
        Limits {
            partition,
            shared_rows: 200,
            ..Limits::default()
        }
    }

    /// Groups rows that alternate between `conversations`; returns the rows of each conversation as text.
    fn grouped(rows: u64, conversations: u64, partition: u64) -> (usize, Vec<(String, Vec<u64>)>) {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(rows * 100, &limits(partition), folder.path().join("spill"));
        let entry = grouper.entry(entry(), "scope".to_owned());
        assert_eq!(entry, 0);
        for row in 0..rows {
            let key = format!("room {}", row % conversations);
            let body = format!("{{\"row\":{row},\"fill\":\"{}\"}}", "x".repeat(80));
            grouper.push(&key, &place(row, true), body.as_bytes()).unwrap();
        }
        let mut partitions = 0;
        let mut found = Vec::new();
        while let Some(batch) = grouper.next_groups(Vec::new()).unwrap() {
            partitions += 1;
            for group in batch.groups {
                let bytes = &batch.buffer[group.buffer.clone()];
                let array: Vec<serde_json::Value> = serde_json::from_slice(bytes).unwrap();
                let numbers: Vec<u64> = array.iter().map(|row| row["row"].as_u64().unwrap()).collect();
                for (row, number) in group.rows.iter().zip(&numbers) {
                    assert_eq!(row.place, place(*number, true));
                    let inside: serde_json::Value =
                        serde_json::from_slice(&bytes[row.inside.clone()]).unwrap();
                    assert_eq!(inside["row"].as_u64(), Some(*number));
                }
                found.push((group.key.unwrap(), numbers));
            }
        }
        (partitions, found)
    }

    #[test]
    fn rows_of_a_conversation_come_back_together_and_in_order() {
        for partition in [1, 500, 5_000, 1 << 20] {
            let (partitions, found) = grouped(400, 7, partition);
            let by_key: BTreeMap<_, _> = found.iter().cloned().collect();
            assert_eq!(by_key.len(), 7, "{partition}");
            for (key, rows) in by_key {
                let chat: u64 = key.strip_prefix("room ").unwrap().parse().unwrap();
                let expected: Vec<u64> = (0..400).filter(|row| row % 7 == chat).collect();
                assert_eq!(rows, expected);
            }
            assert!(partition < 1 << 20 || partitions == 1, "{partitions}");
        }
    }

    #[test]
    fn a_small_partition_limit_makes_many_partitions_and_the_same_limit_the_same_order() {
        let (many, order) = grouped(2_000, 300, 2_000);
        assert!(many > 50, "{many}");
        assert_eq!(grouped(2_000, 300, 2_000), (many, order));
    }

    #[test]
    fn a_conversation_larger_than_a_partition_stays_whole() {
        let (partitions, found) = grouped(300, 1, 1_000);
        assert_eq!((partitions, found.len()), (1, 1));
        assert_eq!(found[0].1.len(), 300);
    }

    #[test]
    fn equal_keys_of_two_scopes_are_two_conversations_and_an_empty_key_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(1, &limits(1 << 20), folder.path().join("spill"));
        for scope in ["a", "b"] {
            grouper.entry(entry(), scope.to_owned());
        }
        for (entry, key) in [(0, "k"), (1, "k"), (0, "k"), (0, "")] {
            let place = RowPlace {
                entry,
                ..place(0, false)
            };
            grouper.push(key, &place, b"1").unwrap();
        }
        let groups = grouper.next_groups(Vec::new()).unwrap().unwrap().groups;
        let seen: Vec<_> = groups
            .iter()
            .map(|group| (group.key.as_deref(), group.rows.len()))
            .collect();
        assert_eq!(seen, [(Some("k"), 2), (Some("k"), 1), (None, 1)]);
        assert!(grouper.next_groups(Vec::new()).unwrap().is_none());
    }

    /// Returns keys, rows and counted rows of all groups, slice by slice.
    fn slices(grouper: &mut RowGrouper) -> Vec<Vec<(String, Vec<u64>, u64)>> {
        let mut slices = Vec::new();
        while let Some(batch) = grouper.next_groups(Vec::new()).unwrap() {
            let groups = batch.groups.iter().map(|group| {
                let rows: Vec<u64> = serde_json::from_slice(&batch.buffer[group.buffer.clone()]).unwrap();
                let counted = group.rows.iter().filter(|row| row.place.counts).count() as u64;
                (group.key.clone().unwrap_or_default(), rows, counted)
            });
            slices.push(groups.collect());
        }
        slices
    }

    /// Returns tables and numbers of rows of the groups with key `k`.
    /// Each entry has one row, of a table with this name or of a file.
    fn tables_of(entries: &[Option<&str>]) -> Vec<(Option<String>, usize)> {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(1, &limits(1 << 20), folder.path().join("spill"));
        for (record, table) in (0..).zip(entries) {
            let entry = match table {
                Some(table) => {
                    let name = TableName {
                        database: None,
                        table: (*table).to_owned(),
                    };
                    grouper.table(entry(), "section", ReadTable { system: None, name })
                }
                None => grouper.entry(entry(), "section".to_owned()),
            };
            let place = RowPlace {
                entry,
                ..place(record, true)
            };
            grouper.push("k", &place, b"1").unwrap();
        }
        let groups = grouper.next_groups(Vec::new()).unwrap().unwrap().groups;
        let table = |group: &Group| group.table.as_deref().map(str::to_owned);
        groups
            .iter()
            .map(|group| (table(group), group.rows.len()))
            .collect()
    }

    #[test]
    fn two_tables_are_never_one_and_a_file_is_of_the_only_table_that_it_is_merged_with() {
        let named = |table: &str| Some(table.to_owned());
        assert_eq!(tables_of(&[Some("a.t"), Some("a.t")]), [(None, 2)]);
        assert_eq!(
            tables_of(&[Some("a.t"), Some("b.t")]),
            [(named("a.t"), 1), (named("b.t"), 1)]
        );
        assert_eq!(tables_of(&[None, Some("a.t"), None]), [(None, 3)]);
        assert_eq!(
            tables_of(&[None, Some("a.t"), Some("b.t")]),
            [(None, 1), (named("a.t"), 1), (named("b.t"), 1)]
        );
    }

    #[test]
    fn alone_rows_are_groups_without_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(1, &limits(1 << 20), folder.path().join("spill"));
        grouper.entry(entry(), "a".to_owned());
        for record in 0..2 {
            grouper.push_alone(&place(record, true), b"1").unwrap();
        }
        let groups = grouper.next_groups(Vec::new()).unwrap().unwrap().groups;
        let seen: Vec<_> = groups
            .iter()
            .map(|group| (&group.key, group.rows.len()))
            .collect();
        assert_eq!(seen, [(&None, 1), (&None, 1)]);
    }

    #[test]
    fn a_shared_row_comes_with_every_conversation_of_its_scope_and_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(1, &limits(1 << 20), folder.path().join("spill"));
        for scope in ["a", "b", "c"] {
            grouper.entry(entry(), scope.to_owned());
        }
        let row = |entry, record| RowPlace {
            entry,
            ..place(record, true)
        };
        grouper.push_shared(None, &row(0, 0), b"7").unwrap();
        grouper.push("k", &row(0, 1), b"1").unwrap();
        grouper.push("l", &row(0, 2), b"2").unwrap();
        grouper.push("k", &row(1, 3), b"3").unwrap();
        grouper.push_shared(None, &row(0, 4), b"8").unwrap();
        grouper.push_shared(None, &row(2, 5), b"9").unwrap();
        let mut found: Vec<_> = slices(&mut grouper).into_iter().flatten().collect();
        found.sort();
        let counted: u64 = found.iter().map(|(_, _, counted)| counted).sum();
        assert_eq!(counted, 6);
        let rows: Vec<(&str, &[u64])> = found
            .iter()
            .map(|(key, rows, _)| (key.as_str(), rows.as_slice()))
            .collect();
        assert_eq!(
            rows,
            [
                ("", [9].as_slice()),
                ("k", &[1, 7, 8]),
                ("k", &[3]),
                ("l", &[2, 7, 8])
            ]
        );
    }

    #[test]
    fn conversations_that_begin_with_the_same_row_come_back_as_one_in_input_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(1 << 20, &limits(50), folder.path().join("spill"));
        for scope in ["a", "b", "c"] {
            grouper.entry(entry(), scope.to_owned());
        }
        let row = |entry, record| RowPlace {
            entry,
            ..place(record, true)
        };
        for (at, key, bytes) in [
            (row(0, 0), "k", "1"),
            (row(0, 1), "other", "2"),
            (row(1, 2), "l", "3"),
            (row(1, 3), "l", "4"),
            (row(2, 4), "m", "5"),
        ] {
            grouper.push(key, &at, bytes.as_bytes()).unwrap();
        }
        grouper.push_shared(None, &row(1, 5), b"9").unwrap();
        grouper.begins("k", &row(0, 0), "family", "first");
        grouper.begins("l", &row(1, 3), "family", "first");
        grouper.begins("m", &row(2, 4), "another family", "first");
        let mut found: Vec<_> = slices(&mut grouper).into_iter().flatten().collect();
        found.sort();
        let rows: Vec<(&str, &[u64])> = found
            .iter()
            .map(|(key, rows, _)| (key.as_str(), rows.as_slice()))
            .collect();
        assert_eq!(
            rows,
            [("k", [1, 3, 4, 9].as_slice()), ("m", &[5]), ("other", &[2])]
        );
    }

    #[test]
    fn shared_rows_beyond_the_limit_are_a_group_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(1, &limits(1 << 20), folder.path().join("spill"));
        grouper.entry(entry(), "a".to_owned());
        grouper.push("k", &place(0, true), b"1").unwrap();
        for record in 1..=250 {
            grouper.push_shared(None, &place(record, true), b"2").unwrap();
        }
        let mut found: Vec<_> = slices(&mut grouper).into_iter().flatten().collect();
        found.sort();
        let seen: Vec<_> = found
            .iter()
            .map(|(key, rows, _)| (key.as_str(), rows.len()))
            .collect();
        assert_eq!(seen, [("", 50 + 200), ("k", 1 + 200)]);
        let counted: u64 = found.iter().map(|(_, _, counted)| counted).sum();
        assert_eq!(counted, 251);
    }

    #[test]
    fn shared_rows_of_many_conversations_do_not_fill_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut grouper = RowGrouper::new(1, &limits(1_000), folder.path().join("spill"));
        grouper.entry(entry(), "a".to_owned());
        grouper
            .push_shared(None, &place(0, true), "1".repeat(150).as_bytes())
            .unwrap();
        for record in 1..=200 {
            grouper
                .push(&format!("room {record}"), &place(record, true), b"1")
                .unwrap();
        }
        let mut groups = 0;
        while let Some(batch) = grouper.next_groups(Vec::new()).unwrap() {
            assert!(batch.buffer.len() < 2_500, "{}", batch.buffer.len());
            groups += batch.groups.len();
        }
        assert_eq!(groups, 200);
    }
}
