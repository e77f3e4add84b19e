//! Finds conversations that several datasets contain, like the nights of a growing store: each is billed once.
//!
//! A conversation is identified by its source, its id and its first message, so that `1` of two tenants is two conversations. Of several
//! versions the one with the most messages is counted, and of equal ones that of the last dataset, separately for each dialect and encoding
//! that the datasets have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chatmill_dataset::{Dataset, DatasetError, Numbers, Texts, columns};

use super::answers::key;
use super::{BillRequest, TEXT, totals};

/// A dialect, a profile and an encoding.
pub(super) type Counting = [String; 3];

/// The part of a dataset that is counted, if other datasets contain some of it.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The dialects and encodings; `None` for all.
    pub(super) of: Option<BTreeSet<Counting>>,
    /// The ids of conversations that are counted in another dataset.
    pub(super) left_out: BTreeSet<String>,
}

/// The overlap of several datasets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Number of datasets that are copies of another one.
    pub datasets: u64,
    /// Number of conversations in more than one dataset.
    pub conversations: u64,
    /// The first dataset of which only some conversations are counted, if the requested table does not separate them.
    pub undivided: Option<usize>,
}

/// A scanned dataset: its place in the list, its fingerprint, and the dialects and encodings that it counted.
pub(super) struct Scan {
    pub(super) place: usize,
    pub(super) fingerprint: String,
    countings: BTreeSet<Counting>,
    conversations: u64,
    /// A hash of the source and the id of each conversation.
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

/// Scans a dataset; ids are read only if there are several datasets.
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

/// The conversations of a dataset that are among `candidates`, with their keys.
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

/// The part of each dataset that is counted, with its place in `folders`. Copies of a dataset are left out.
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
    // Dialects and encodings that are in the same datasets are counted for the same conversations.
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
