//! The file names in a work directory, which also identify the entries that are ours.

use crate::disk::{self, DirEntry, EntryKind, WorkDirLocation};
use crate::manifest::{DERIVED, MANIFEST, RECORD, SHARD_MANIFESTS, SUCCESS, shard_of};
use crate::publish::destination::{Destination, PROBES};
use crate::publish::work::receipt;
use crate::tables::part_file;

/// The folder that becomes the dataset.
pub(crate) const DATA: &str = "data";
/// The lock of that folder while the reports are written.
const DATA_LOCK: &str = ".data.lock";
pub(crate) const RECEIPTS: &str = "receipts";
pub(crate) const TEMP: &str = "temp";

/// The file with the plan.
pub(crate) const PLAN: &str = "plan.json";
/// The folder with the outcomes of the shards.
pub(crate) const OUTCOMES: &str = "lots";

/// The file with the cluster of each conversation.
pub(crate) const CLUSTERS: &str = "clusters";

pub(crate) const WORKER: &str = "worker-";
pub(crate) const DONE: &str = ".json";
pub(crate) const FAILED: &str = ".failed.json";
pub(crate) const LIKENESSES: &str = ".likenesses";

pub(crate) fn names_a_folder(fingerprint: &str) -> bool {
    (1..=128).contains(&fingerprint.len())
        && fingerprint
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// The location of the folder for the unfinished work of a destination.
pub(crate) fn work_dir_location(destination: &Destination) -> WorkDirLocation {
    destination.work_dir_location("staging", is_ours)
}

/// Whether an entry of the folder for unfinished work is one that a run creates there.
fn is_ours(entry: &DirEntry) -> bool {
    let steps: Vec<&str> = entry.name.split('/').collect();
    match (entry.kind, steps.as_slice()) {
        (EntryKind::Folder, [fingerprint]) => names_a_folder(fingerprint),
        (EntryKind::Folder, [_, folder]) => [DATA, RECEIPTS, TEMP, OUTCOMES].contains(folder),
        (EntryKind::Folder, [_, TEMP, folder]) => PROBES.contains(folder) || is_worker(folder),
        (EntryKind::File, [_, name]) => {
            [PLAN, CLUSTERS, DATA_LOCK].contains(name) || disk::is_temp_file(name)
        }
        (EntryKind::File, [_, OUTCOMES, name]) => is_outcome(name),
        (EntryKind::File, [_, TEMP, worker, name]) if is_worker(worker) => {
            disk::is_temp_file(name) || part_file::is_unfinished(name)
        }
        (EntryKind::File, [_, RECEIPTS, name]) => receipt::is_receipt(name),
        (EntryKind::File, [_, TEMP, name]) => disk::is_temp_file(name) || part_file::is_unfinished(name),
        (kind, [_, DATA, below @ ..]) => is_of_a_dataset(kind, below),
        _ => false,
    }
}

/// Whether a dataset of this or another version has such a name below its root.
pub(crate) fn is_of_a_dataset(kind: EntryKind, below: &[&str]) -> bool {
    match (kind, below) {
        (EntryKind::File, [name]) => [MANIFEST, SUCCESS, RECORD].contains(name) || DERIVED.contains(name),
        (EntryKind::File, [SHARD_MANIFESTS, name]) => shard_of(name).is_some(),
        (EntryKind::File, [folders @ .., part]) => {
            part_file::is_folder(&folders.join("/")) && part_file::is_part(part)
        }
        (EntryKind::Folder, folders) => part_file::is_folder(&folders.join("/")),
        _ => false,
    }
}

/// Whether a folder below `temp` is one that a worker creates there.
pub(crate) fn is_worker(name: &str) -> bool {
    name.strip_prefix(WORKER)
        .is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a file below `lots` is one that a worker creates there.
fn is_outcome(name: &str) -> bool {
    let ends = [FAILED, DONE, LIKENESSES];
    let shard = ends.iter().find_map(|end| name.strip_suffix(end));
    shard.is_some_and(|shard| {
        shard
            .parse()
            .is_ok_and(|number: u32| outcome_name(number, "") == shard)
    })
}

/// The file name of a shard's outcome.
pub(crate) fn outcome_name(shard: u32, end: &str) -> String {
    format!("{shard:05}{end}")
}
