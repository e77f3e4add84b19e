//! File lists of datasets for tests, as a run writes them and as an attacker would.

use std::fs;
use std::path::Path;

use crate::{DatasetError, Manifest, PartFile, Sealed, ShardEntry, SliceId, Staging, TableOptions};

/// Seals files of the first shard with a manifest.
pub(crate) fn seal_files(
    staging: Staging,
    manifest: Manifest,
    files: &[PartFile],
    options: &TableOptions,
) -> Result<Sealed, DatasetError> {
    let slice = |file: &PartFile| slice_of(&file.path);
    let slices = files.iter().map(slice).max().map_or(0, |last| last.slice + 1);
    let mut shards = staging.list_shards(vec![slices])?;
    for slice in 0..slices {
        let own = files.iter().filter(|file| slice_of(&file.path).slice == slice);
        shards.add(slice.into(), own.cloned().collect())?;
    }
    staging.seal(manifest, shards, Vec::new(), options)
}

fn slice_of(path: &str) -> SliceId {
    let number = path
        .rsplit_once("part-")
        .unwrap()
        .1
        .strip_suffix(".parquet")
        .unwrap();
    let (shard, slice) = number.split_once('-').unwrap();
    SliceId {
        shard: shard.parse().unwrap(),
        slice: slice.parse().unwrap(),
    }
}

/// Writes a manifest and its marker, and the shard manifests with the files that it lists, as an attacker would.
pub(crate) fn forge(out: &Path, mut manifest: Manifest) {
    let last = manifest.shards.len() - 1;
    let mut lines = vec![Vec::new(); last + 1];
    for table in &mut manifest.tables {
        table.parts = table.files.len() as u64;
        table.rows = table.files.iter().map(|file| file.rows).sum();
        table.bytes = table.files.iter().map(|file| file.bytes).sum();
        for file in &table.files {
            let shard = usize::from(file.rows == 0 || table.name == "totals") * last;
            lines[shard].push(PartFile {
                table: table.name.clone(),
                path: file.path.clone(),
                rows: file.rows,
                bytes: file.bytes,
                hash: file.hash.clone(),
            });
        }
    }
    for (shard, mut files) in manifest.shards.iter_mut().zip(lines) {
        files.sort_by_key(|file| file.path.rsplit_once("part-").map(|(_, slice)| slice.to_owned()));
        relist(out, shard, &files);
    }
    forge_manifest(out, &manifest);
}

/// Rewrites the manifest of a shard.
pub(crate) fn relist(out: &Path, shard: &mut ShardEntry, files: &[PartFile]) {
    let lines = files
        .iter()
        .map(|file| serde_json::to_string(file).unwrap() + "\n");
    let text: String = lines.collect();
    shard.files = files.len() as u64;
    shard.bytes = text.len() as u64;
    shard.hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    fs::write(out.join(&shard.path), text).unwrap();
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
