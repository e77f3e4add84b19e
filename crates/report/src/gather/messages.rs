//! Messages and conversations: roles, lengths, and which conversations are the largest.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_dataset::{Dataset, DatasetError, InputEntry, Manifest};
use serde_json::Value;

use super::{cut, scan};
use crate::queries;
use crate::report::{Clusters, Largest, RoleTotals};
use crate::spread::Spread;

/// Conversations that are named as the largest.
const MAX_LARGEST: usize = 10;
/// Shapes and versions that are named for an input.
const MAX_SHAPES: usize = 8;

/// What the table of messages says.
#[derive(Default)]
pub(super) struct Talk {
    /// Messages, notices not counted.
    pub(super) messages: u64,
    /// Characters per message.
    pub(super) lengths: Spread,
    pub(super) roles: Vec<RoleTotals>,
    /// Characters and id of the conversations with the most text, the largest first.
    largest: Vec<(u64, String)>,
}

impl Talk {
    fn offer(&mut self, id: &str, characters: u64) {
        let place = self.largest.partition_point(|(more, other)| {
            *more > characters || (*more == characters && other.as_str() < id)
        });
        if place < MAX_LARGEST {
            self.largest.insert(place, (characters, id.to_owned()));
            self.largest.truncate(MAX_LARGEST);
        }
    }
}

pub(super) fn messages(dataset: &Dataset) -> Result<Talk, DatasetError> {
    let mut talk = Talk::default();
    let mut roles: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    let mut here: Option<(String, u64)> = None;
    let columns = ["conversation_id", "role", "kind", "text"];
    scan(dataset, "messages", &columns, &mut |batch| {
        let (ids, role) = (batch.texts("conversation_id")?, batch.texts("role")?);
        let (kind, text) = (batch.texts("kind")?, batch.texts("text")?);
        for row in 0..batch.rows() {
            let characters = text.at(row).chars().count() as u64;
            let counts = roles
                .entry((role.at(row).to_owned(), kind.at(row).to_owned()))
                .or_default();
            counts.0 += 1;
            counts.1 += characters;
            if kind.at(row) == "message" {
                talk.messages += 1;
                talk.lengths.add(characters);
            }
            // The rows of one conversation are adjacent.
            match &mut here {
                Some((id, sum)) if id == ids.at(row) => *sum += characters,
                _ => {
                    if let Some((id, sum)) = here.replace((ids.at(row).to_owned(), characters)) {
                        talk.offer(&id, sum);
                    }
                }
            }
        }
        Ok(())
    })?;
    if let Some((id, sum)) = here {
        talk.offer(&id, sum);
    }
    talk.roles = roles
        .into_iter()
        .map(|((role, kind), (messages, characters))| RoleTotals {
            role,
            kind,
            messages,
            characters,
        })
        .collect();
    talk.roles.sort_by_key(|row| std::cmp::Reverse(row.messages));
    Ok(talk)
}

/// What the table of conversations says.
#[derive(Default)]
pub(super) struct Rooms {
    pub(super) count: u64,
    /// Messages per conversation.
    pub(super) turns: Spread,
    /// Participants per conversation.
    pub(super) participants: Spread,
    /// Tool calls per conversation, those without any included.
    pub(super) calls: Spread,
    /// Earliest usable time, microseconds since 1970 in UTC.
    pub(super) first: Option<i64>,
    /// Latest usable time.
    pub(super) last: Option<i64>,
    /// Shapes and versions of the inputs that are listed.
    pub(super) shapes: BTreeMap<String, Vec<String>>,
    pub(super) largest: Vec<Largest>,
    pub(super) clusters: Clusters,
}

/// Whether the run compared its conversations with one another.
pub(super) fn is_compared(manifest: &Manifest) -> bool {
    let treatments = ["/dedup/exact", "/dedup/near"].map(|key| manifest.plan.pointer(key));
    let mut words = treatments.into_iter().flatten().filter_map(Value::as_str);
    words.any(|word| word != "off")
}

pub(super) fn conversations(
    dataset: &Dataset,
    talk: &Talk,
    calls: &Spread,
    listed: &[InputEntry],
) -> Result<Rooms, DatasetError> {
    const COLUMNS: [&str; 11] = [
        "conversation_id",
        "source",
        "format_version",
        "format_shape",
        "input",
        "message_count",
        "participant_count",
        "started_at",
        "ended_at",
        "cluster",
        "duplicate",
    ];
    let mut rooms = Rooms::default();
    let mut shapes: BTreeMap<&str, BTreeSet<String>> = listed
        .iter()
        .map(|input| (input.path.as_str(), BTreeSet::new()))
        .collect();
    let mut largest: BTreeMap<&str, Largest> = BTreeMap::new();
    let mut clusters: BTreeMap<String, u64> = BTreeMap::new();
    let wanted: BTreeMap<&str, u64> = talk
        .largest
        .iter()
        .map(|(characters, id)| (id.as_str(), *characters))
        .collect();
    scan(dataset, "conversations", &COLUMNS, &mut |batch| {
        let (ids, sources) = (batch.texts("conversation_id")?, batch.texts("source")?);
        let (versions, forms) = (batch.texts("format_version")?, batch.texts("format_shape")?);
        let inputs = batch.texts("input")?;
        let (messages, people) = (
            batch.numbers("message_count")?,
            batch.numbers("participant_count")?,
        );
        let (started, ended) = (batch.times("started_at")?, batch.times("ended_at")?);
        let (cluster, duplicate) = (batch.texts("cluster")?, batch.texts("duplicate")?);
        for row in 0..batch.rows() {
            rooms.count += 1;
            if let Some(cluster) = cluster.get(row) {
                *clusters.entry(cluster.to_owned()).or_default() += 1;
                rooms.clusters.exact += u64::from(duplicate.at(row) == "exact");
                rooms.clusters.near += u64::from(duplicate.at(row) == "near");
            }
            rooms.turns.add(messages.at(row));
            rooms.participants.add(people.at(row));
            rooms.first = [rooms.first, started.get(row)].into_iter().flatten().min();
            rooms.last = [rooms.last, ended.get(row)].into_iter().flatten().max();
            if let Some(known) = shapes.get_mut(inputs.at(row))
                && known.len() < MAX_SHAPES
            {
                known.extend(forms.get(row).map(cut));
                known.extend(
                    versions
                        .get(row)
                        .map(|version| cut(&format!("version {version}"))),
                );
            }
            if let Some((id, characters)) = wanted.get_key_value(ids.at(row)) {
                let found = Largest {
                    conversation_id: (*id).to_owned(),
                    source: sources.at(row).to_owned(),
                    input: cut(inputs.at(row)),
                    messages: messages.at(row),
                    participants: people.at(row),
                    characters: *characters,
                };
                largest.insert(id, found);
            }
        }
        Ok(())
    })?;
    rooms.clusters = Clusters {
        query: queries::CLUSTERS.to_owned(),
        clusters: clusters.len() as u64,
        conversations: clusters.values().sum(),
        largest: clusters.into_values().max().unwrap_or_default(),
        ..rooms.clusters
    };
    rooms.calls = calls.clone();
    rooms
        .calls
        .add_times(0, rooms.count.saturating_sub(calls.count()));
    rooms.shapes = shapes
        .into_iter()
        .map(|(input, shapes)| (input.to_owned(), shapes.into_iter().take(MAX_SHAPES).collect()))
        .collect();
    rooms.largest = talk
        .largest
        .iter()
        .filter_map(|(_, id)| largest.remove(id.as_str()))
        .map(|found| Largest {
            conversation_id: cut(&found.conversation_id),
            ..found
        })
        .collect();
    Ok(rooms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_in_order_and_ties_go_by_id() {
        let mut talk = Talk::default();
        for (id, characters) in [("b", 5), ("a", 5), ("z", 9)] {
            talk.offer(id, characters);
        }
        for number in 0..20 {
            talk.offer(&format!("small-{number}"), 1);
        }
        assert_eq!(talk.largest.len(), MAX_LARGEST);
        let ids: Vec<&str> = talk.largest.iter().take(3).map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids, ["z", "a", "b"]);
    }
}
