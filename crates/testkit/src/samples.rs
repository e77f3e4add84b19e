//! The paths of the checked-in samples.

use std::path::{Path, PathBuf};

/// The files directly in a folder of the samples, in order.
pub fn sample_files(folder: &str) -> Vec<PathBuf> {
    let folder = samples().join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

/// The folder of the checked-in samples.
pub fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples")
}
