//! Groups of related conversations, which a split never separates.
//!
//! Two conversations are related where they have one id of the source (a thread that was exported twice, or
//! continues in another file), where one is the repeat `~2` of the other, where their content is the same, or
//! where the run that compared them found one to repeat, fork or continue the other. The oldest member of a
//! group decides for all, or the first in the dataset where several are equally old: conversations added
//! later are newer, so they join their group and move no other.

use chatmill_dataset::{Dataset, Numbers, Texts, Times, columns};
use chatmill_diag::cut;
use chatmill_link::Forest;

use crate::error::ExportError;
use crate::split::SplitBy;

/// The conversations of a dataset in groups.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Ids in the order of the dataset.
    pub(crate) ids: Vec<String>,
    /// The number of each conversation's group.
    of: Vec<usize>,
    /// The deciding values of each group, by the number of the group. Other numbers hold the values of one conversation.
    deciding: Vec<Group>,
}

/// The values that decide where a group goes.
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
    /// The number of each conversation's group, in their order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.of.iter().copied()
    }

    /// The deciding values for each conversation, in their order.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Group> {
        self.of.iter().filter_map(|group| self.deciding.get(*group))
    }
}

columns! {
    /// Columns that are read from `conversations`.
    struct ConversationColumns {
        conversation_id: Texts,
        source_conversation_id: Texts,
        message_count: Numbers,
        started_at: Times,
        content_hash: Texts,
        cluster: Texts,
    }
}

/// Reads the conversations of a dataset and finds those that belong together.
pub(crate) fn groups(dataset: &Dataset, by: SplitBy, seed: u64) -> Result<Groups, ExportError> {
    let mut forest = Forest::default();
    let mut ids = Vec::new();
    let mut deciding: Vec<Group> = Vec::new();
    dataset.each_row("conversations", &mut |cells: &ConversationColumns, row| {
        let id = cells.conversation_id.at(row);
        let own = without_repeat(id);
        // A source without ids of its own has threads of one conversation.
        let thread = cells.source_conversation_id.get(row).unwrap_or(own);
        let member = forest.add();
        forest.connect(member, key("thread", own));
        forest.connect(member, key("thread", thread));
        if cells.message_count.at(row) > 0 {
            forest.connect(member, key("content", cells.content_hash.at(row)));
        }
        if let Some(cluster) = cells.cluster.get(row) {
            forest.connect(member, key("cluster", cluster));
        }
        if by == SplitBy::Room {
            forest.connect(member, key("room", room(thread)));
        }
        let named = if by == SplitBy::Room { room(thread) } else { thread };
        ids.push(id.to_owned());
        deciding.push(Group {
            // A split by room and one by hash must not be the same division.
            hash: place(if by == SplitBy::Room { "room" } else { "thread" }, named, seed),
            began: cells.started_at.get(row),
        });
    })?;
    let of: Vec<usize> = (0..ids.len()).map(|member| forest.root(member)).collect();
    for (member, root) in of.iter().enumerate() {
        let own = *cut::at(&deciding, member);
        let decided = cut::at_mut(&mut deciding, *root);
        if own.age() < decided.age() {
            *decided = own;
        }
    }
    Ok(Groups { ids, of, deciding })
}

/// A conversation's id without the `~2` of a repeat.
fn without_repeat(id: &str) -> &str {
    match id.rsplit_once('~') {
        Some((id, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => id,
        _ => id,
    }
}

/// The room of a thread: sources write `ROOM/THREAD` where a room has threads.
fn room(thread: &str) -> &str {
    thread.split('/').next().unwrap_or(thread)
}

/// The hash that places a text in a division; a seed other than 0 changes the hash.
fn place(kind: &str, text: &str, seed: u64) -> u64 {
    let fingerprint = match seed {
        0 => key(kind, text),
        seed => key(&format!("{kind} {seed}"), text),
    };
    (fingerprint >> 64) as u64
}

/// A fingerprint that stands for a text; kinds do not mix.
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
        for whole in ["c", "c~", "c~x", "~home", "c~2b"] {
            assert_eq!(without_repeat(whole), whole);
        }
    }

    #[test]
    fn the_chat_of_a_thread_is_the_text_before_the_slash() {
        assert_eq!(room("-100/7"), "-100");
        assert_eq!(room("harbour"), "harbour");
    }
}
