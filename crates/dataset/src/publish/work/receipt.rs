//! The receipt of a slice: a slice with a valid receipt is done. The receipt names the files of the slice and contains its hash.
//!
//! A receipt file is one line with the BLAKE3 of the rest, followed by JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::tables::part_file::{PartFile, is_folder_of, part_name};
use crate::tables::slice_id::SliceId;

/// A finished slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt<B> {
    /// The slice.
    pub slice: SliceId,
    /// The files, in the order of the tables.
    pub files: Vec<PartFile>,
    /// Further data that the engine needs at the end of the run.
    pub body: B,
}

/// Encodes a receipt as text.
pub(crate) fn encode<B: Serialize>(
    slice: SliceId,
    files: &[PartFile],
    body: &B,
) -> serde_json::Result<String> {
    let files = files.to_vec();
    let json = serde_json::to_string(&Receipt { slice, files, body })?;
    Ok(format!("{}\n{json}", blake3::hash(json.as_bytes()).to_hex()))
}

/// Decodes the receipt of a slice; `None` where any byte of it has changed.
pub(crate) fn decode<B: DeserializeOwned>(slice: SliceId, bytes: &[u8]) -> Option<Receipt<B>> {
    let (hash, json) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
    if hash != blake3::hash(json.as_bytes()).to_hex().as_str() {
        return None;
    }
    let receipt: Receipt<B> = serde_json::from_str(json).ok()?;
    let is_its_own = receipt.slice == slice
        && receipt.files.iter().all(|file| {
            file.path.rsplit_once('/').is_some_and(|(folder, _)| {
                is_folder_of(&file.table, folder) && file.path == part_name(folder, slice)
            })
        });
    is_its_own.then_some(receipt)
}

/// The file name of a slice's receipt.
pub(crate) fn file_name(slice: SliceId) -> String {
    format!("{slice}.json")
}

/// The slice that the file name of a receipt names.
pub(crate) fn slice_of(name: &str) -> Option<SliceId> {
    name.strip_suffix(".json").and_then(SliceId::parse)
}

/// Whether a file has the name of a receipt, of this format or an older one.
pub(crate) fn is_receipt(name: &str) -> bool {
    let slice = name.strip_suffix(".json");
    slice.is_some_and(|slice| SliceId::parse(slice).is_some() || SliceId::is_of_old(slice))
}
