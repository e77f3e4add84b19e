//! Unfinished work: a folder next to the destination, under a lock, in which slices are finished one by one.
//!
//! ```text
//! .<name>.lock                       exists while a process holds it
//! .<name>.staging/                   private, with our mark
//!     <fingerprint>/
//!         data/<table>/part-<shard>-<slice>.parquet   the files that become the dataset
//!         receipts/<shard>-<slice>.json               the receipt of a finished slice
//!         temp/                                       unfinished files
//! ```
//!
//! A file reaches `data` or `receipts` only by a rename of a synced file, and the receipt of a slice is written after
//! its files. A kill therefore leaves either a finished slice or files without a receipt. When the work is resumed,
//! files that no receipt names are removed; if there are foreign files, nothing is touched.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::disk::SpillFolder;
use crate::disk::{self, Dir, EntryKind, Lock, WorkDir};
use crate::error::{DatasetError, or_corruption};
use crate::manifest::Manifest;
use crate::publish::destination::{Destination, Occupant};
use crate::publish::work::names::{
    CLUSTERS, DATA, OUTCOMES, PLAN, RECEIPTS, TEMP, names_a_folder, work_dir_location,
};
use crate::publish::work::receipt::{self, Receipt};
use crate::tables::listed::ListedParts;
use crate::tables::options::TableOptions;
use crate::tables::part::Medium;
use crate::tables::part_file::{self, PartFile, SlicePlace};
use crate::tables::slice_id::SliceId;
use crate::tables::{self, PartSet};

/// The maximum length of a receipt, in bytes.
const RECEIPT_BYTES: u64 = 256 << 20;

/// The result of opening a destination.
pub enum Opening {
    /// The dataset of this fingerprint already exists, and nothing was changed.
    Finished(Manifest),
    /// There is work to do; some of it may be done already.
    Work(Staging),
}

/// The unfinished work of one run. It may be shared between threads. Dropping it frees the lock and keeps the work.
#[derive(Debug)]
pub struct Staging {
    pub(crate) destination: Destination,
    /// The folder of all unfinished work.
    pub(crate) work_dir: WorkDir,
    /// The folder of this fingerprint.
    pub(crate) root: Dir,
    pub(crate) fingerprint: String,
    pub(crate) data: Arc<Dir>,
    pub(crate) temp: Arc<Dir>,
    pub(crate) receipts: Dir,
    pub(crate) replace: bool,
    pub(crate) notices: Vec<String>,
    /// Held but never read; freed after everything else. `None` for a worker of shared work.
    pub(crate) lock: Option<Lock>,
}

/// The name of a dataset in a folder that is created for it.
pub(crate) const DATASET_NAME: &str = "dataset";

/// An open folder that is created for one dataset: that of a night, or a temporary one.
#[derive(Debug)]
pub struct DatasetParent(pub(crate) Arc<Dir>);

impl DatasetParent {
    /// Takes the lock of the dataset; a link of its name is refused.
    pub fn claim(&self) -> Result<Claim, DatasetError> {
        Claim::of(Destination::within(Arc::clone(&self.0), DATASET_NAME.as_ref())?)
    }
}

/// A destination under its lock, where nothing has been changed yet.
#[derive(Debug)]
pub struct Claim {
    destination: Destination,
    lock: Lock,
}

/// Takes the lock of a destination before any work is done for it.
pub fn claim(out: &Path) -> Result<Claim, DatasetError> {
    Claim::of(Destination::locate(out)?)
}

impl Claim {
    fn of(destination: Destination) -> Result<Self, DatasetError> {
        Ok(Self {
            lock: destination.lock()?,
            destination,
        })
    }

    /// Opens the destination for the run with this fingerprint.
    ///
    /// A dataset of this fingerprint is [`Opening::Finished`]; a dataset of another one is [`DatasetError::Occupied`]
    /// unless `replace` is set. Anything else in the folder, or in the folder of unfinished work next to it, is always
    /// [`DatasetError::WrongPath`]. Unfinished work of another fingerprint is removed, with a notice.
    pub fn open(self, fingerprint: &str, replace: bool) -> Result<Opening, DatasetError> {
        let Self { destination, lock } = self;
        if !names_a_folder(fingerprint) {
            return Err(DatasetError::corrupt(
                &destination.out,
                format!("the fingerprint `{fingerprint}` cannot name a folder"),
            ));
        }
        let mut found = destination.inspect()?;
        if let Occupant::Dataset { manifest, problems } = &mut found
            && manifest.fingerprint == fingerprint
            && problems.is_empty()
        {
            // Only a certified dataset is finished. Certifying takes about as long as hashing the inputs did.
            *problems = destination.read_back(manifest)?;
        }
        let replace = match found {
            Occupant::Nothing => false,
            Occupant::Foreign(names) => return Err(destination.foreign(&names)),
            Occupant::Dataset { manifest, problems }
                if manifest.fingerprint == fingerprint && problems.is_empty() =>
            {
                // A run that was killed between publishing and tidying leaves its work and, after `replace`, the old dataset.
                if let Some(work_dir) = work_dir_location(&destination).find()? {
                    work_dir.tidy(fingerprint)?;
                }
                return Ok(Opening::Finished(*manifest));
            }
            Occupant::Dataset { manifest, .. } if replace => {
                destination.refuse_strangers(&manifest)?;
                true
            }
            Occupant::Dataset { manifest, problems } => {
                return Err(DatasetError::Occupied {
                    path: destination.out,
                    reason: occupied(&manifest, fingerprint, &problems),
                });
            }
        };
        let work_dir = work_dir_location(&destination).take()?;
        let mut notices = Vec::new();
        for entry in work_dir.dir().list()? {
            if entry.name != fingerprint && entry.name != disk::MARK {
                work_dir.remove(&entry.name)?;
                notices.push(format!(
                    "removed the unfinished work of another plan: {}",
                    work_dir.dir().at(&entry.name).display()
                ));
            }
        }
        let root = work_dir.dir().make(fingerprint, disk::PRIVATE_FOLDER)?;
        for entry in root.list()? {
            if ![DATA, RECEIPTS, PLAN, OUTCOMES, CLUSTERS].contains(&entry.name.as_str()) {
                root.remove_all(&entry.name)?;
            }
        }
        let temp = root.make(TEMP, disk::PRIVATE_FOLDER)?;
        let mut staging = Staging::within(destination, work_dir, root, temp, fingerprint)?;
        staging.lock = Some(lock);
        staging.notices = notices;
        staging.replace = replace;
        if staging.replace {
            staging.destination.probe_exchange(&staging.temp)?;
        }
        staging.keep_what_is_done()?;
        Ok(Opening::Work(staging))
    }
}

/// Removes all unfinished work of a destination.
pub(crate) fn give_up(destination: &Destination) -> Result<(), DatasetError> {
    let Some(work_dir) = work_dir_location(destination).find()? else {
        return Ok(());
    };
    for entry in work_dir.dir().list()? {
        if entry.name != disk::MARK {
            work_dir.remove(&entry.name)?;
        }
    }
    work_dir.leave()
}

fn occupied(manifest: &Manifest, fingerprint: &str, problems: &[String]) -> String {
    match problems.first() {
        Some(problem) if manifest.fingerprint == fingerprint => {
            format!("it is damaged ({problem}); write it again with --replace or choose another destination")
        }
        _ => "it is that of another plan, other inputs or another version; replace it with --replace or choose \
              another destination"
            .to_owned(),
    }
}

impl Staging {
    /// The work in the folder of a fingerprint; `temp` holds unfinished files. It replaces nothing, and no lock is held.
    pub(crate) fn within(
        destination: Destination,
        work_dir: WorkDir,
        root: Dir,
        temp: Dir,
        fingerprint: &str,
    ) -> Result<Self, DatasetError> {
        Ok(Self {
            data: Arc::new(root.make(DATA, disk::USUAL_FOLDER)?),
            temp: Arc::new(temp),
            receipts: root.make(RECEIPTS, disk::PRIVATE_FOLDER)?,
            destination,
            work_dir,
            root,
            fingerprint: fingerprint.to_owned(),
            replace: false,
            notices: Vec::new(),
            lock: None,
        })
    }

    pub(crate) fn place(&self, slice: SliceId) -> SlicePlace {
        SlicePlace {
            data: Arc::clone(&self.data),
            temp: Arc::clone(&self.temp),
            slice,
        }
    }

    /// Messages for the user about what was removed or discarded when the work was opened.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// A folder for rows that wait for the rest of their conversation.
    pub fn spill_folder(&self) -> SpillFolder {
        SpillFolder::of(&self.temp)
    }

    /// Opens the files of a slice, after removing those of an earlier attempt.
    pub fn parts(&self, slice: impl Into<SliceId>, options: &TableOptions) -> Result<PartSet, DatasetError> {
        let slice = slice.into();
        // In shared work, another worker may be writing the same files for this slice.
        if self.lock.is_some() {
            self.discard(slice)?;
        }
        Ok(PartSet::new(Medium::Staging(self.place(slice)), options.clone()))
    }

    /// Writes the receipt of a slice after its files are closed. From then on the slice is done.
    pub fn commit<B: Serialize>(
        &self,
        slice: impl Into<SliceId>,
        files: &[PartFile],
        body: &B,
    ) -> Result<(), DatasetError> {
        let slice = slice.into();
        let name = receipt::file_name(slice);
        let text = receipt::encode(slice, files, body).map_err(|error| {
            DatasetError::corrupt(
                &self.receipts.at(&name),
                format!("it cannot be written as JSON: {error}"),
            )
        })?;
        self.receipts.replace(&name, text.as_bytes(), &self.temp)
    }

    /// Reads the receipts of the finished slices one by one, in the order of the slices.
    ///
    /// Only lengths are compared here: the files of earlier runs were hashed when the work was opened, those of this
    /// run when their set was closed, and sealing hashes all of them again. A slice that was corrupted in between is an
    /// error, because a caller that has counted it must not continue without it; the next run processes it again. A
    /// receipt whose body is not a `B` counts as missing.
    pub fn receipts<B: DeserializeOwned>(
        &self,
    ) -> Result<impl Iterator<Item = Result<Receipt<B>, DatasetError>>, DatasetError> {
        let slices = self.slices()?.into_iter();
        Ok(slices.filter_map(|slice| self.receipt(slice).transpose()))
    }

    /// Reads the receipt of a slice; `None` where its body is not a `B`, in which case the slice is discarded.
    fn receipt<B: DeserializeOwned>(&self, slice: SliceId) -> Result<Option<Receipt<B>>, DatasetError> {
        let bytes = self.read_receipt(slice)?.unwrap_or_default();
        let receipt = receipt::decode(slice, &bytes);
        let is_as_it_was = match &receipt {
            Some(receipt) => self.lengths_match(receipt)?,
            None => receipt::decode::<IgnoredAny>(slice, &bytes)
                .map_or(Ok(false), |known| self.lengths_match(&known))?,
        };
        if !is_as_it_was {
            let path = self.receipts.at(receipt::file_name(slice));
            let reason = "its slice changed since it was done; run again";
            return Err(DatasetError::corrupt(&path, reason));
        }
        if receipt.is_none() {
            self.discard(slice)?;
        }
        Ok(receipt)
    }

    fn read_receipt(&self, slice: SliceId) -> Result<Option<Vec<u8>>, DatasetError> {
        let name = receipt::file_name(slice);
        // An entry that cannot be a receipt is ignored.
        Ok(or_corruption(self.receipts.read_small(&name, RECEIPT_BYTES))?.unwrap_or(Some(Vec::new())))
    }

    /// The slices that have a receipt, in their order.
    fn slices(&self) -> Result<Vec<SliceId>, DatasetError> {
        let mut slices = Vec::new();
        self.receipts.each(&mut |entry| {
            slices.extend(receipt::slice_of(&entry.name));
            Ok(())
        })?;
        slices.sort_unstable();
        Ok(slices)
    }

    /// Measures every file of every receipt, discards slices with files that do not match, and removes files that no
    /// receipt names.
    fn keep_what_is_done(&mut self) -> Result<(), DatasetError> {
        let mut named = ListedParts::default();
        for slice in self.slices()? {
            let bytes = self.read_receipt(slice)?.unwrap_or_default();
            match receipt::decode::<IgnoredAny>(slice, &bytes) {
                Some(receipt) if self.lengths_match(&receipt)? && self.hashes_match(&receipt)? => {
                    receipt.files.iter().for_each(|file| named.add(&file.path));
                }
                _ => {
                    self.discard(slice)?;
                    self.notices.push(format!(
                        "slice {slice} does not match its receipt and is processed again"
                    ));
                }
            }
        }
        named.close();
        let left = self.data.find_below(&mut |entry| match entry.kind {
            EntryKind::Folder => tables::find(&entry.name).is_none() && !named.has_below(&entry.name),
            EntryKind::File | EntryKind::Other => !named.has(&entry.name),
        })?;
        // In reverse order, the content of a folder comes before the folder.
        for entry in left.iter().rev() {
            match entry.kind {
                EntryKind::Folder => self.data.remove_empty_below(&entry.name)?,
                EntryKind::File | EntryKind::Other => self.data.remove_below(&entry.name)?,
            }
        }
        Ok(())
    }

    fn lengths_match<B>(&self, receipt: &Receipt<B>) -> Result<bool, DatasetError> {
        for file in &receipt.files {
            if !self.data.has_file(&file.path, file.bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn hashes_match<B>(&self, receipt: &Receipt<B>) -> Result<bool, DatasetError> {
        for file in &receipt.files {
            let found = self.data.read_part(&file.path, file.bytes)?;
            if found.measure(&self.data.at(&file.path))?.hash != file.hash {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Discards a slice: first its receipt, then the files that the receipt names, then unfinished files.
    pub fn discard(&self, slice: impl Into<SliceId>) -> Result<(), DatasetError> {
        let slice = slice.into();
        if let Some(bytes) = self.read_receipt(slice)? {
            self.receipts.remove_file(receipt::file_name(slice))?;
            self.receipts.sync()?;
            // If the receipt cannot be read, its files are removed when the work is resumed.
            let named =
                receipt::decode::<IgnoredAny>(slice, &bytes).map_or_else(Vec::new, |receipt| receipt.files);
            for file in named {
                self.data.remove_below(&file.path)?;
            }
        }
        let unfinished = part_file::temp_end(slice);
        for entry in self.temp.list()? {
            if entry.name.ends_with(&unfinished) {
                self.temp.remove_file(&entry.name)?;
            }
        }
        Ok(())
    }
}
