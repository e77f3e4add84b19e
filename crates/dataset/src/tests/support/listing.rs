//! What a dataset says of its files: written as a run does, and as somebody would who wants to hide something.

use std::fs;
use std::path::Path;

use crate::{DatasetError, LotEntry, Manifest, PartFile, Sealed, SliceId, Staging, TableOptions};

/// Seals files of the first lot with a manifest.
pub(crate) fn seal_files(
    staging: Staging,
    manifest: Manifest,
    files: &[PartFile],
    options: &TableOptions,
) -> Result<Sealed, DatasetError> {
    let slice = |file: &PartFile| slice_of(&file.path);
    let slices = files.iter().map(slice).max().map_or(0, |last| last.slice + 1);
    let mut lots = staging.list_lots(vec![slices])?;
    for slice in 0..slices {
        let own = files.iter().filter(|file| slice_of(&file.path).slice == slice);
        lots.add(slice.into(), own.cloned().collect())?;
    }
    staging.seal(manifest, lots, Vec::new(), options)
}

fn slice_of(path: &str) -> SliceId {
    let number = path
        .rsplit_once("part-")
        .unwrap()
        .1
        .strip_suffix(".parquet")
        .unwrap();
    let (lot, slice) = number.split_once('-').unwrap();
    SliceId {
        lot: lot.parse().unwrap(),
        slice: slice.parse().unwrap(),
    }
}

/// Writes a manifest and its marker, and the manifests of its lots with the files that it lists, as somebody would who wants to
/// hide something.
pub(crate) fn forge(out: &Path, mut manifest: Manifest) {
    let last = manifest.lots.len() - 1;
    let mut lines = vec![Vec::new(); last + 1];
    for table in &mut manifest.tables {
        table.parts = table.files.len() as u64;
        table.rows = table.files.iter().map(|file| file.rows).sum();
        table.bytes = table.files.iter().map(|file| file.bytes).sum();
        for file in &table.files {
            let lot = usize::from(file.rows == 0 || table.name == "totals") * last;
            lines[lot].push(PartFile {
                table: table.name.clone(),
                path: file.path.clone(),
                rows: file.rows,
                bytes: file.bytes,
                hash: file.hash.clone(),
            });
        }
    }
    for (lot, mut files) in manifest.lots.iter_mut().zip(lines) {
        files.sort_by_key(|file| file.path.rsplit_once("part-").map(|(_, slice)| slice.to_owned()));
        relist(out, lot, &files);
    }
    forge_manifest(out, &manifest);
}

/// Writes the manifest of a lot anew.
pub(crate) fn relist(out: &Path, lot: &mut LotEntry, files: &[PartFile]) {
    let lines = files
        .iter()
        .map(|file| serde_json::to_string(file).unwrap() + "\n");
    let text: String = lines.collect();
    lot.files = files.len() as u64;
    lot.bytes = text.len() as u64;
    lot.hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    fs::write(out.join(&lot.path), text).unwrap();
}

/// Writes a manifest and its marker.
pub(crate) fn forge_manifest(out: &Path, manifest: &Manifest) {
    let bytes = serde_json::to_vec_pretty(manifest).unwrap();
    fs::write(out.join("manifest.json"), &bytes).unwrap();
    fs::write(
        out.join("_SUCCESS"),
        format!("{}\n", blake3::hash(&bytes).to_hex()),
    )
    .unwrap();
}
