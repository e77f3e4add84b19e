//! Unfinished work: a folder beside the destination, held under a lock, where slices are finished one by one.
//!
//! ```text
//! .<name>.lock                       held for the whole run
//! .<name>.staging/<fingerprint>/
//!     data/<table>/part-<slice>.parquet    becomes the destination
//!     receipts/<slice>.json                what is done
//!     temp/                                what is being written
//! ```
//!
//! A file comes into `data` or `receipts` only by a rename of a synced file. What no receipt names is removed when
//! the work is taken up again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::destination::{Destination, Found};
use crate::durable::{self, EntryKind};
use crate::error::DatasetError;
use crate::manifest::Manifest;
use crate::options::TableOptions;
use crate::parts::{self, PartFile, PartSet, Place};
use crate::receipt::{self, Receipt};
use crate::seal::{self, Sealed};
use crate::tables;

/// What opening a destination leads to.
pub enum Opening {
    /// The dataset of this fingerprint is already there, and nothing was changed.
    Finished(Manifest),
    /// There is work to do, perhaps with some of it done.
    Work(Staging),
}

/// The unfinished work of one run. It may be shared between threads; dropping it frees the lock and keeps the work.
#[derive(Debug)]
pub struct Staging {
    pub(crate) destination: Destination,
    /// The folder of this fingerprint.
    pub(crate) root: PathBuf,
    pub(crate) replace: bool,
    /// Held, never read.
    pub(crate) lock: File,
    notices: Vec<String>,
}

/// Opens a destination for the run of a fingerprint.
///
/// The lock is taken before anything is looked at. A dataset of this fingerprint is [`Opening::Finished`]; one of
/// another is [`DatasetError::Occupied`] unless `replace` is set, and anything else in the folder is
/// [`DatasetError::WrongPath`] in both cases. Unfinished work of another fingerprint is removed, with a notice.
pub fn open(out: &Path, fingerprint: &str, replace: bool) -> Result<Opening, DatasetError> {
    if !names_a_folder(fingerprint) {
        return Err(DatasetError::corrupt(
            out,
            format!("the fingerprint `{fingerprint}` cannot name a folder"),
        ));
    }
    let destination = Destination::locate(out)?;
    let lock = destination.lock()?;
    let root = destination.staging().join(fingerprint);
    let replace = match destination.inspect()? {
        Found::Nothing => false,
        Found::Foreign(names) => return Err(destination.foreign(&names)),
        Found::Dataset { manifest, faults } if manifest.fingerprint == fingerprint && faults.is_empty() => {
            // A run that was killed between publishing and tidying left this, and after `replace` the old dataset.
            seal::tidy(&destination, &root)?;
            return Ok(Opening::Finished(*manifest));
        }
        Found::Dataset { manifest, .. } if replace => {
            destination.refuse_strangers(&manifest)?;
            true
        }
        Found::Dataset { manifest, faults } => {
            return Err(DatasetError::Occupied {
                path: destination.out,
                reason: occupied(&manifest, fingerprint, &faults),
            });
        }
    };
    let mut staging = Staging {
        destination,
        root,
        replace,
        lock,
        notices: Vec::new(),
    };
    staging.prepare()?;
    staging.keep_what_is_done()?;
    Ok(Opening::Work(staging))
}

fn names_a_folder(fingerprint: &str) -> bool {
    (1..=128).contains(&fingerprint.len())
        && fingerprint
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn occupied(manifest: &Manifest, fingerprint: &str, faults: &[String]) -> String {
    match faults.first() {
        Some(fault) if manifest.fingerprint == fingerprint => {
            format!("it is damaged ({fault}); write it again with --replace or choose another destination")
        }
        _ => "it is that of another plan, other inputs or another version; replace it with --replace or choose \
              another destination"
            .to_owned(),
    }
}

impl Staging {
    /// Brings the folder into its initial state, finished slices kept.
    fn prepare(&mut self) -> Result<(), DatasetError> {
        let home = self.destination.staging();
        durable::create_folder(&self.root)?;
        for entry in durable::list(&home)? {
            if entry.path != self.root {
                durable::remove_all(&entry.path)?;
                self.notices.push(format!(
                    "removed the unfinished staging of another plan: {}",
                    entry.path.display()
                ));
            }
        }
        if self.replace {
            self.destination.probe_exchange(&self.root)?;
        }
        durable::create_folder(&self.receipts_folder())?;
        durable::remove_all(&self.temp())?;
        durable::create_folder(&self.temp())?;
        for table in tables::TABLES {
            durable::create_folder(&self.data().join(table))?;
        }
        Ok(())
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub(crate) fn temp(&self) -> PathBuf {
        self.root.join("temp")
    }

    fn receipts_folder(&self) -> PathBuf {
        self.root.join("receipts")
    }

    fn receipt_path(&self, slice: u32) -> PathBuf {
        self.receipts_folder().join(receipt::file_name(slice))
    }

    pub(crate) fn place(&self, slice: u32) -> Place {
        Place {
            data: self.data(),
            temp: self.temp(),
            slice,
        }
    }

    /// What was removed or discarded when the work was opened, for the user.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// A folder for rows that wait for the rest of their conversation; it is cleared when the work is taken up again.
    pub fn spill_folder(&self) -> PathBuf {
        self.temp().join("spill")
    }

    /// Opens the files of a slice, after removing what an earlier attempt at it left.
    pub fn parts(&self, slice: u32, options: &TableOptions) -> Result<PartSet, DatasetError> {
        self.discard(slice)?;
        Ok(PartSet::new(self.place(slice), options.clone()))
    }

    /// Writes the receipt of a slice whose files are closed. From here on the slice is done.
    pub fn commit<B: Serialize>(&self, slice: u32, files: &[PartFile], body: &B) -> Result<(), DatasetError> {
        let path = self.receipt_path(slice);
        let text = receipt::encode(slice, files, body).map_err(|error| {
            DatasetError::corrupt(&path, format!("it cannot be written as JSON: {error}"))
        })?;
        durable::write(
            &self.temp().join(receipt::file_name(slice)),
            &path,
            text.as_bytes(),
        )
    }

    /// Reads the receipts of the finished slices, in order of the slices, one after the other.
    ///
    /// Opening the work has hashed the files of earlier runs, closing a set those of this one, and sealing hashes all
    /// again; here lengths are compared. A slice that was damaged meanwhile is an error, for whoever counts on it must
    /// not go on without it; the next run does it again. A receipt whose body is none of `B` counts as not done.
    pub fn receipts<B: DeserializeOwned>(
        &self,
    ) -> Result<impl Iterator<Item = Result<Receipt<B>, DatasetError>>, DatasetError> {
        let slices = self.slices()?.into_iter();
        Ok(slices.filter_map(|slice| self.receipt(slice).transpose()))
    }

    /// Reads the receipt of a slice; none where its body is another one, which also undoes the slice.
    fn receipt<B: DeserializeOwned>(&self, slice: u32) -> Result<Option<Receipt<B>>, DatasetError> {
        let path = self.receipt_path(slice);
        let bytes = durable::read(&path)?;
        if let Some(receipt) = receipt::decode(slice, &bytes)
            && self.lengths_match(&receipt)
        {
            return Ok(Some(receipt));
        }
        let known = receipt::decode::<IgnoredAny>(slice, &bytes);
        if !known.is_some_and(|receipt| self.lengths_match(&receipt)) {
            let reason = "its slice changed since it was done; run again";
            return Err(DatasetError::corrupt(&path, reason));
        }
        self.discard(slice)?;
        Ok(None)
    }

    /// The slices that have a receipt, in order.
    fn slices(&self) -> Result<Vec<u32>, DatasetError> {
        let mut slices: Vec<u32> = durable::list(&self.receipts_folder())?
            .iter()
            .filter_map(|entry| receipt::slice_of(&entry.name))
            .collect();
        slices.sort_unstable();
        Ok(slices)
    }

    /// Measures every file of every receipt, discards what does not match and removes what no receipt names.
    fn keep_what_is_done(&mut self) -> Result<(), DatasetError> {
        for entry in durable::list(&self.receipts_folder())? {
            if entry.kind != EntryKind::File || receipt::slice_of(&entry.name).is_none() {
                durable::remove_all(&entry.path)?;
            }
        }
        let mut named = BTreeSet::new();
        for slice in self.slices()? {
            match receipt::decode::<IgnoredAny>(slice, &durable::read(&self.receipt_path(slice))?) {
                Some(receipt) if self.lengths_match(&receipt) && self.hashes_match(&receipt)? => {
                    named.extend(receipt.files.into_iter().map(|file| file.path));
                }
                _ => {
                    self.discard(slice)?;
                    self.notices.push(format!(
                        "slice {slice} does not match its receipt and is done again"
                    ));
                }
            }
        }
        for entry in durable::walk(&self.data())? {
            let is_home = entry.kind == EntryKind::Folder
                && (tables::find(&entry.name).is_some()
                    || named
                        .iter()
                        .filter_map(|path| path.rsplit_once('/'))
                        .any(|(folder, _)| folder == entry.name));
            if !is_home && !named.contains(&entry.name) {
                durable::remove_all(&entry.path)?;
            }
        }
        Ok(())
    }

    fn lengths_match<B>(&self, receipt: &Receipt<B>) -> bool {
        receipt.files.iter().all(|file| {
            let found = fs::symlink_metadata(self.data().join(&file.path));
            found.is_ok_and(|found| found.is_file() && found.len() == file.bytes)
        })
    }

    fn hashes_match<B>(&self, receipt: &Receipt<B>) -> Result<bool, DatasetError> {
        for file in &receipt.files {
            if durable::measure(&self.data().join(&file.path))?.hash != file.hash {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Forgets a slice: its receipt, then the files that it names, and what is unfinished.
    pub fn discard(&self, slice: u32) -> Result<(), DatasetError> {
        let path = self.receipt_path(slice);
        if let Some(bytes) = durable::read_if_there(&path)? {
            durable::remove_file(&path)?;
            durable::sync_folder(&self.receipts_folder())?;
            // What an unreadable receipt named is removed when the work is taken up again.
            let named =
                receipt::decode::<IgnoredAny>(slice, &bytes).map_or_else(Vec::new, |receipt| receipt.files);
            for file in named {
                durable::remove_file(&self.data().join(&file.path))?;
            }
        }
        let unfinished = parts::temp_end(slice);
        for entry in durable::list(&self.temp())? {
            if entry.name.ends_with(&unfinished) {
                durable::remove_file(&entry.path)?;
            }
        }
        Ok(())
    }

    /// Turns the finished slices into a dataset that is ready to be published.
    ///
    /// The manifest names the files of all receipts; tables without files get an empty one here and are added to
    /// it. Folder and manifest must then agree in every name, length, hash and row count.
    pub fn seal(self, manifest: &Manifest, options: &TableOptions) -> Result<Sealed, DatasetError> {
        seal::seal(self, manifest, options)
    }
}
