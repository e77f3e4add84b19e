//! Groups of related conversations, which a split never separates.
//!
//! Two conversations are related if they have one id of the source (a thread that was exported twice, or continues in another file), if one is the
//! repeat `~2` of the other, if their content is the same, if the run that compared them found one to repeat, fork or continue the other, or if they
//! have a property of `[split] group_by` in common. The oldest member of a group decides for all; of equally old members, the first in the dataset.
//! Conversations that are added later are newer, so they join their group and move no other.
//!
//! An id that is only a small number counts the records of its input, and row 7 of one input is not row 7 of another: such ids relate
//! conversations of one input only.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use chatmill_dataset::{Columns, Dataset, Numbers, Texts, Times, columns};
use chatmill_diag::cut;
use chatmill_link::Forest;
use chatmill_model::Extra;

use crate::error::ExportError;
use crate::fields::of_conversations::extra_value;
use crate::split::texts::{ConversationTexts, Corpus};
use crate::split::units::{self, Session, Units};
use crate::split::{Split, SplitBy};

/// The most digits of an id that may be a record number; ids that a system assigns have more.
const RUNNING_DIGITS: usize = 7;

/// The word of `group_by` for the first question.
const PROMPT: &str = "prompt";

/// The units of a dataset in groups.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The name of each unit in `split.assigned`: the id of a conversation, for a session with its time.
    pub(crate) ids: Vec<String>,
    /// The units of the dataset itself; those of earlier datasets follow.
    pub(crate) own: usize,
    /// When each unit began and ended.
    pub(crate) sessions: Vec<Session>,
    /// The stratum of each unit, if the division has strata; empty for a unit without the property.
    pub(crate) strata: Vec<String>,
    /// The number of each unit's group.
    pub(crate) of: Vec<usize>,
    /// The deciding values of each group, at the index of the group. Other indices have the values of one conversation.
    deciding: Vec<Group>,
}

/// The values that decide the part of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Hash of the oldest member's thread or room.
    pub(crate) hash: u64,
    /// When the oldest member began, in microseconds since 1970 in UTC.
    pub(crate) began: Option<i64>,
}

impl Group {
    /// The sort key for age, oldest first; an unknown time comes last.
    fn age(&self) -> i64 {
        self.began.unwrap_or(i64::MAX)
    }
}

impl Groups {
    /// The deciding values of a group.
    pub(crate) fn deciding(&self, group: usize) -> &Group {
        cut::at(&self.deciding, group)
    }

    /// The deciding values for each unit of the dataset itself, in their order.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Group> {
        self.of
            .iter()
            .take(self.own)
            .filter_map(|group| self.deciding.get(*group))
    }
}

columns! {
    /// Columns that are read from `conversations`.
    struct ConversationColumns {
        conversation_id: Texts,
        source_conversation_id: Texts,
        source: Texts,
        input: Texts,
        title: Texts,
        extra: Texts,
        message_count: Numbers,
        started_at: Times,
        content_hash: Texts,
        cluster: Texts,
    }
}

impl ConversationColumns {
    /// A property of a conversation, by its word in the pipeline; `None` if the conversation lacks it.
    fn property(&self, word: &str, row: usize) -> Result<Option<String>, ExportError> {
        let text = match word {
            "input" => self.input.get(row),
            "source" => self.source.get(row),
            "title" => self.title.get(row),
            word => {
                let key = Extra::selected(word).ok_or_else(|| unknown(word))?;
                let json = self.extra.get(row).and_then(|extra| extra_value(extra, key));
                let json = json.filter(|json| json != "null");
                return Ok(json.map(|json| serde_json::from_str(&json).unwrap_or(json)));
            }
        };
        Ok(text.filter(|text| !text.is_empty()).map(str::to_owned))
    }
}

fn unknown(word: &str) -> ExportError {
    ExportError::request(
        format!("the dataset's plan names `{word}` in [split], which is not a property of conversations"),
        "name `prompt`, `input`, `source`, `title` or `extra.KEY`, and run the pipeline again",
    )
}

/// Reads the conversations of a dataset, and of earlier ones, and groups related ones.
pub(crate) fn groups<'d>(
    datasets: &[&'d Dataset],
    split: &Split,
    stop: &AtomicBool,
) -> Result<(Groups, Vec<Corpus<'d>>), ExportError> {
    let mut reader = GroupReader {
        split,
        forest: Forest::default(),
        groups: Groups::default(),
        unmet: split
            .group_by
            .iter()
            .chain(&split.stratify)
            .map(String::as_str)
            .collect(),
    };
    reader.unmet.retain(|word| word.starts_with("extra."));
    let mut corpora = Vec::new();
    for dataset in datasets {
        let corpus = reader.read(dataset, stop)?;
        if corpora.is_empty() {
            reader.groups.own = reader.groups.ids.len();
        }
        corpora.push(corpus);
    }
    let GroupReader {
        mut forest,
        mut groups,
        unmet,
        ..
    } = reader;
    if let Some(word) = unmet.first().filter(|_| !groups.ids.is_empty()) {
        return Err(ExportError::request(
            format!("no conversation has the field `{word}`, which [split] names"),
            "name a field of the records in the pipeline, and run it again",
        ));
    }
    if split.group_by.iter().any(|word| word == PROMPT) {
        let texts = ConversationTexts {
            corpora: &corpora,
            stop,
        };
        texts.each_prompt(&mut |member, question| forest.connect(member, key(PROMPT, question)))?;
    }
    groups.of = (0..groups.ids.len()).map(|member| forest.root(member)).collect();
    for (member, root) in groups.of.iter().enumerate() {
        let own = *cut::at(&groups.deciding, member);
        let decided = cut::at_mut(&mut groups.deciding, *root);
        if own.age() < decided.age() {
            *decided = own;
        }
    }
    Ok((groups, corpora))
}

/// Reads conversations into groups.
struct GroupReader<'s> {
    split: &'s Split,
    forest: Forest,
    groups: Groups,
    /// Fields of `[split]` that no conversation has had yet.
    unmet: BTreeSet<&'s str>,
}

impl GroupReader<'_> {
    fn read<'d>(&mut self, dataset: &'d Dataset, stop: &AtomicBool) -> Result<Corpus<'d>, ExportError> {
        let mut units = Units::from(self.groups.ids.len());
        let sessions = match (self.split.by, self.split.session_gap) {
            (SplitBy::Session, Some(gap)) => Some(units::sessions(dataset, gap, stop)?),
            _ => None,
        };
        for batch in dataset.batches("conversations", &ConversationColumns::names()) {
            let batch = batch?;
            let cells = ConversationColumns::of(&batch)?;
            for row in 0..batch.rows() {
                let id = cells.conversation_id.at(row);
                let whole = [Session {
                    began: cells.started_at.get(row),
                    ..Session::default()
                }];
                let own = sessions.as_ref().and_then(|sessions| sessions.get(id));
                let own = own.map_or(&whole[..], Vec::as_slice);
                units.add(id, own);
                for session in own {
                    self.unit(&cells, row, *session)?;
                }
            }
        }
        Ok(Corpus { dataset, units })
    }

    /// Adds a unit: a conversation, or a session of one.
    fn unit(&mut self, cells: &ConversationColumns, row: usize, session: Session) -> Result<(), ExportError> {
        let Self {
            split,
            forest,
            groups,
            unmet,
        } = self;
        let by_chat = split.by == SplitBy::Room;
        let id = cells.conversation_id.at(row);
        let input = cells.input.at(row);
        // In a source without ids, each conversation is a separate thread.
        let thread = cells.source_conversation_id.get(row);
        let thread = thread.unwrap_or_else(|| without_repeat(id));
        let named = if by_chat { room(thread) } else { thread };
        let named = scoped(named, thread, input);
        let member = forest.add();
        // Sessions are related like their conversations, if they began at the same time.
        let is_session = split.by == SplitBy::Session;
        let unit_of = |name: &str| {
            if is_session {
                in_session(name, session.began)
            } else {
                name.to_owned()
            }
        };
        let mut connect = |kind: &str, value: &str| forest.connect(member, key(kind, &unit_of(value)));
        let whole = prefixed(id, thread);
        connect("thread", &scoped(whole, thread, input));
        if cells.message_count.at(row) > 0 {
            connect("content", cells.content_hash.at(row));
        }
        if let Some(cluster) = cells.cluster.get(row) {
            connect("cluster", cluster);
        }
        if by_chat {
            connect("room", &scoped(&room_of(whole, thread), thread, input));
        }
        for word in split.group_by.iter().filter(|word| *word != PROMPT) {
            if let Some(value) = cells.property(word, row)? {
                unmet.remove(word.as_str());
                connect(&format!("group by {word}"), &value);
            }
        }
        if let Some(word) = &split.stratify {
            let value = cells.property(word, row)?;
            if value.is_some() {
                unmet.remove(word.as_str());
            }
            groups.strata.push(value.unwrap_or_else(String::new));
        }
        groups.ids.push(unit_of(id));
        groups.sessions.push(session);
        groups.deciding.push(Group {
            // A split by room and one by hash must not be the same division.
            hash: place(if by_chat { "room" } else { "thread" }, &named, split.seed),
            began: session.began,
        });
        Ok(())
    }
}

/// The name of a session: the name of the conversation, and the time when the session began.
fn in_session(name: &str, began: Option<i64>) -> String {
    began.map_or_else(|| format!("{name}\n"), |began| format!("{name}\n{began}"))
}

/// The name by which a thread relates conversations: a record number gets the name of its input.
fn scoped<'n>(name: &'n str, thread: &str, input: &str) -> Cow<'n, str> {
    let digits = thread.len() <= RUNNING_DIGITS && thread.bytes().all(|byte| byte.is_ascii_digit());
    if digits && !thread.is_empty() {
        format!("{input} {name}").into()
    } else {
        name.into()
    }
}

/// The id of a thread with the prefix of its inputs, from a conversation's id without the suffixes that make it unique.
fn prefixed<'i>(id: &'i str, thread: &'i str) -> &'i str {
    let repeated = without_repeat(id);
    let elsewhere = repeated.rsplit_once('~').map_or(repeated, |(id, _)| id);
    let mut ids = [elsewhere, repeated, id].into_iter();
    ids.find(|id| id.ends_with(thread)).unwrap_or(thread)
}

/// A conversation's id without the `~2` of a repeat.
fn without_repeat(id: &str) -> &str {
    match id.rsplit_once('~') {
        Some((id, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => id,
        _ => id,
    }
}

/// The room of a thread: sources write `ROOM/THREAD` if a room has threads.
fn room(thread: &str) -> &str {
    thread.split('/').next().unwrap_or(thread)
}

/// The room of a thread with the prefix of its id: rooms with the same name in two tables are different.
fn room_of(whole: &str, thread: &str) -> String {
    let prefix = whole.strip_suffix(thread).unwrap_or_default();
    format!("{prefix}{}", room(thread))
}

/// The hash that places a text in a division; a seed other than 0 changes the hash.
fn place(kind: &str, text: &str, seed: u64) -> u64 {
    let fingerprint = match seed {
        0 => key(kind, text),
        seed => key(&format!("{kind} {seed}"), text),
    };
    (fingerprint >> 64) as u64
}

/// A fingerprint of a text together with its kind.
fn key(kind: &str, text: &str) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes());
    hasher.update(&[0]);
    hasher.update(text.as_bytes());
    let hash = hasher.finalize();
    hash.as_bytes()
        .iter()
        .take(16)
        .fold(0, |key, byte| key << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_after_a_tilde_is_a_repeat() {
        assert_eq!(without_repeat("c~2"), "c");
        assert_eq!(without_repeat("a~b~13"), "a~b");
        for whole in ["c", "c~", "c~x", "~target", "c~2b"] {
            assert_eq!(without_repeat(whole), whole);
        }
    }

    #[test]
    fn a_small_number_is_an_id_of_its_input_only() {
        for id in ["0", "7", "9999999"] {
            assert_eq!(scoped(id, id, "a.jsonl"), format!("a.jsonl {id}"));
            assert_eq!(scoped("p-7", id, "a.jsonl"), "a.jsonl p-7");
        }
        for id in ["10000000", "-7", "c7", "7/1", ""] {
            assert_eq!(scoped(id, id, "a.jsonl"), id);
        }
    }

    #[test]
    fn rooms_of_one_name_in_two_tables_are_two() {
        assert_eq!(room_of("acme.messages/hall/7", "hall/7"), "acme.messages/hall");
        assert_eq!(
            room_of("globex.messages/hall/7", "hall/7"),
            "globex.messages/hall"
        );
        assert_eq!(room_of("hall/7", "hall/7"), "hall");
    }

    #[test]
    fn a_thread_keeps_the_prefix_of_its_inputs_and_nothing_that_made_its_ids_unique() {
        let cases = [
            ("c", "c", "c"),
            ("c~2", "c", "c"),
            ("c~1c8619", "c", "c"),
            ("eu-c~1c8619~3", "c", "eu-c"),
            ("19~1c8619", "19", "19"),
            ("a~b", "a~b", "a~b"),
            ("a~2", "a~2", "a~2"),
            ("replaced", "c", "c"),
        ];
        for (id, thread, name) in cases {
            assert_eq!(prefixed(id, thread), name, "{id}");
        }
    }

    #[test]
    fn the_chat_of_a_thread_is_the_text_before_the_slash() {
        assert_eq!(room("-100/7"), "-100");
        assert_eq!(room("harbour"), "harbour");
    }
}
