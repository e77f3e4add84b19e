//! Datasets that hold the same conversations, as the nights of a growing store do: each is billed once.
//!
//! A conversation is known by its source, its id and its first message, so that `1` of two tenants is two. Of several versions the one
//! with more messages counts, and of equal ones that of the dataset that is named last, for each dialect and encoding that they have in
//! common.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chatmill_dataset::{Dataset, DatasetError, Numbers, Texts, columns};

use super::answers::key;
use super::{BillRequest, TEXT, totals};

/// Dialect, profile and encoding.
pub(super) type Counting = [String; 3];

/// What is counted of a dataset, where others hold some of it.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The dialects and encodings; none for all.
    pub(super) of: Option<BTreeSet<Counting>>,
    /// Ids of conversations that another dataset counts.
    pub(super) left_out: BTreeSet<String>,
}

/// What several datasets have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Datasets that are another one once more.
    pub datasets: u64,
    /// Conversations that more than one of them holds.
    pub conversations: u64,
    /// The first dataset of which some conversations count and some do not, where the table that is asked does not divide them.
    pub undivided: Option<usize>,
}

/// A dataset as it was scanned: its place, what decides its bytes, and what it has counted.
pub(super) struct Scan {
    pub(super) place: usize,
    pub(super) fingerprint: String,
    countings: BTreeSet<Counting>,
    conversations: u64,
    /// A hash of source and id of each conversation.
    ids: Vec<u64>,
}

columns! {
    struct Ids {
        conversation_id: Texts,
        source: Texts,
        message_count: Numbers,
    }

    struct FirstMessages {
        conversation_id: Texts,
        position: Numbers,
        role: Texts,
        text: Texts,
    }
}

/// Scans a dataset; ids are read where it is not alone.
pub(super) fn scan(
    dataset: &Dataset,
    place: usize,
    request: &BillRequest,
    is_alone: bool,
) -> Result<Scan, DatasetError> {
    let countings = if request.is_of_text() {
        let encodings = dataset
            .encodings()
            .iter()
            .filter(|encoding| request.wants_encoding(encoding));
        encodings
            .map(|encoding| [TEXT.to_owned(), String::new(), encoding.clone()])
            .collect()
    } else {
        let counts = dataset.overview()?.renderings.into_iter();
        let wanted = counts.filter(|count| request.wants(&count.dialect, &count.profile, &count.encoding));
        wanted
            .map(|count| [count.dialect, count.profile, count.encoding])
            .collect()
    };
    let mut ids = Vec::new();
    if !is_alone {
        dataset.each_row("conversations", &mut |columns: &Ids, row| {
            ids.push(short(columns.source.at(row), columns.conversation_id.at(row)));
        })?;
    }
    Ok(Scan {
        place,
        fingerprint: dataset.manifest().fingerprint.clone(),
        countings,
        conversations: dataset.rows("conversations"),
        ids,
    })
}

fn short(source: &str, id: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(chatmill_diag::cut::slice(key(&[source, id]).as_bytes(), 0..8));
    u64::from_le_bytes(bytes)
}

/// A conversation that may be in several datasets.
struct KnownConversation {
    id: String,
    key: [u8; 32],
    messages: u64,
}

/// The conversations of a dataset among `candidates`, with what they are known by.
fn known(folder: &Path, candidates: &BTreeSet<u64>) -> Result<Vec<KnownConversation>, DatasetError> {
    let dataset = Dataset::open(folder)?;
    let mut found: BTreeMap<String, (String, u64)> = BTreeMap::new();
    dataset.each_row("conversations", &mut |columns: &Ids, row| {
        let (source, id) = (columns.source.at(row), columns.conversation_id.at(row));
        if candidates.contains(&short(source, id)) {
            found.insert(id.to_owned(), (source.to_owned(), columns.message_count.at(row)));
        }
    })?;
    let mut firsts: BTreeMap<String, [u8; 32]> = BTreeMap::new();
    dataset.each_row("messages", &mut |messages: &FirstMessages, row| {
        let id = messages.conversation_id.at(row);
        if messages.position.at(row) == 0 && found.contains_key(id) {
            firsts.insert(
                id.to_owned(),
                *key(&[messages.role.at(row), messages.text.at(row)]).as_bytes(),
            );
        }
    })?;
    let known = found.into_iter().map(|(id, (source, messages))| {
        let first = firsts
            .get(&id)
            .map_or_else(String::new, |first| blake3::Hash::from(*first).to_string());
        KnownConversation {
            key: *key(&[&source, &id, &first]).as_bytes(),
            id,
            messages,
        }
    });
    Ok(known.collect())
}

/// What is counted of each dataset: its place in `folders`, and the part of it. Of one that is given again, nothing is.
pub(super) fn divide(
    folders: &[&Path],
    mut scans: Vec<Scan>,
    request: &BillRequest,
) -> Result<(Vec<(usize, Counted)>, Repeated), DatasetError> {
    let mut repeated = Repeated::default();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    scans.reverse();
    scans.retain(|scan| seen.insert(scan.fingerprint.clone()));
    scans.reverse();
    repeated.datasets = (folders.len() - scans.len()) as u64;
    // Dialects and encodings that the same datasets have are counted of the same conversations.
    let mut having: BTreeMap<&Counting, Vec<usize>> = BTreeMap::new();
    for (number, scan) in scans.iter().enumerate() {
        for counting in &scan.countings {
            having.entry(counting).or_default().push(number);
        }
    }
    let mut classes: BTreeMap<Vec<usize>, BTreeSet<Counting>> = BTreeMap::new();
    for (counting, numbers) in having {
        classes.entry(numbers).or_default().insert(counting.clone());
    }
    let mut ids: Vec<u64> = scans.iter().flat_map(|scan| scan.ids.iter().copied()).collect();
    ids.sort_unstable();
    let twice = ids.windows(2).filter_map(|two| match two {
        [one, other] if one == other => Some(*one),
        _ => None,
    });
    let candidates: BTreeSet<u64> = twice.collect();
    if candidates.is_empty() {
        let all = scans.iter().map(|scan| (scan.place, Counted::default()));
        return Ok((all.collect(), repeated));
    }
    let mut all_known = Vec::new();
    for scan in &scans {
        let has_some = scan.ids.iter().any(|id| candidates.contains(id));
        let folder = folders.get(scan.place).filter(|_| has_some);
        all_known.push(folder.map_or(Ok(Vec::new()), |folder| known(folder, &candidates))?);
    }
    let needs_totals = !request.is_of_text() && totals::are_asked(&request.by);
    let mut shared: BTreeSet<[u8; 32]> = BTreeSet::new();
    let mut counted = Vec::new();
    for (numbers, countings) in classes {
        let mut best: BTreeMap<[u8; 32], (u64, usize)> = BTreeMap::new();
        for number in &numbers {
            for known in all_known.get(*number).into_iter().flatten() {
                let this = (known.messages, *number);
                let best = best.entry(known.key).or_insert(this);
                if best.1 != this.1 {
                    shared.insert(known.key);
                }
                *best = this.max(*best);
            }
        }
        for number in numbers {
            let known = all_known.get(number).into_iter().flatten();
            let lost =
                known.filter(|known| best.get(&known.key).is_some_and(|(_, winner)| *winner != number));
            let left_out: BTreeSet<String> = lost.map(|known| known.id.clone()).collect();
            let Some(scan) = scans
                .get(number)
                .filter(|scan| left_out.len() as u64 != scan.conversations)
            else {
                continue;
            };
            if !left_out.is_empty() && needs_totals {
                repeated.undivided.get_or_insert(scan.place);
            }
            let of = Some(countings.clone());
            counted.push((scan.place, Counted { of, left_out }));
        }
    }
    repeated.conversations = shared.len() as u64;
    Ok((counted, repeated))
}
