//! A store of nights: a folder with a dataset and a record for each scheduled run, and files that are derived from the records.
//!
//! ```text
//! .chatmill-nights                   the mark
//! .lock                              exists while a process uses the store
//! records/2026-11-22T021500Z.json    the record of a night, from which the rest is derived
//! 2026-11-22T021500Z/                the files of the night
//!     dataset/                       the dataset; its unfinished work is next to it
//!     night.json   night.md          its summary
//! history.parquet   metrics.prom     derived from the records
//! latest                             a link to the last good night
//! ```
//!
//! A record is replaced by one rename. A night without a record is ignored; derived files are rewritten from the
//! records whenever they change. Files with other names are not touched, and the folder of a night is not removed while
//! it contains files of the user. What a record contains and which nights are kept is the caller's decision.

mod name;
mod remove;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::name::NightName;

use crate::disk::{self, Dir, EntryKind, Lock};
use crate::error::{DatasetError, or_corruption};
use crate::parquet::compression::Compression;
use crate::publish::destination::wrong_when_refused;
use crate::publish::folder::FolderFile;
use crate::publish::free_table::{FreeCell, FreeKind, FreeTable};
use crate::publish::guard::{self, STORE_MARK as MARK};
use crate::publish::work::staging::{DATASET_NAME, DatasetParent};

/// The text of the mark file, for people who open it.
const MARK_TEXT: &[u8] =
    b"chatmill night keeps a folder for each run here, and a record of each run in records/.\n";
const LOCK: &str = ".lock";
const RECORDS: &str = "records";
const LATEST: &str = "latest";
/// The name of the history, a table with one row per night.
pub(crate) const HISTORY: &str = "history.parquet";
/// The name of the file with the figures of the last night for Prometheus.
pub const METRICS: &str = "metrics.prom";
/// The name of the page about all nights.
pub const NIGHTS_PAGE: &str = "nights.html";
/// The summary of a night, for people.
pub const NIGHT_NOTE: &str = "night.md";
/// The summary of a night, for programs.
pub const NIGHT_JSON: &str = "night.json";

/// The maximum length of a record, in bytes.
const RECORD_BYTES: u64 = 4 << 20;
/// The maximum number of nights in a store: one per day for 27 years.
const MAX_NIGHTS: usize = 10_000;

/// An open store.
#[derive(Debug)]
pub struct NightStore {
    folder: Arc<Dir>,
    /// The folder of records; `None` where nothing was recorded and nothing may be created.
    records: Option<Dir>,
    /// Held but never read; `None` in a store that is open only for reading.
    _lock: Option<Lock>,
}

/// A record as it is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordBytes {
    /// The bytes of the record.
    Whole(Vec<u8>),
    /// The entry is not a file, or is larger than a record can be.
    Corrupt(String),
}

/// The result of updating the link to the last good night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatestLink {
    /// The link leads to the last good night.
    Set,
    /// Another kind of entry has this name; it is not changed.
    Foreign,
}

impl NightStore {
    /// Opens a store to add to it, and creates it where there is nothing or an empty folder. One process at a time can
    /// hold a store.
    ///
    /// A folder without the mark that is not empty, and one inside another output of chatmill, are [`DatasetError::WrongPath`]; nothing is touched then.
    pub fn open(shown: &Path) -> Result<Self, DatasetError> {
        disk::create_folders(shown, &|above| guard::refuse_inside(shown, above))
            .map_err(wrong_when_refused)?;
        let folder = folder_of(shown)?;
        guard::refuse_below(shown, &folder).map_err(wrong_when_refused)?;
        refuse_others(&folder)?;
        let lock = Lock::take(&folder, LOCK.as_ref())?;
        if folder.stat(MARK)?.is_none() {
            folder.replace(MARK, MARK_TEXT, &folder)?;
        }
        let records = folder.make(RECORDS, disk::USUAL_FOLDER)?;
        let store = Self {
            folder,
            records: Some(records),
            _lock: Some(lock),
        };
        store.remove_temp_files()?;
        Ok(store)
    }

    /// Opens a store for reading; `None` where there is no folder or an empty one in which a store could be created.
    pub fn find(shown: &Path) -> Result<Option<Self>, DatasetError> {
        if disk::stat_target(shown)?.is_none() {
            return guard::refuse_absent(shown).map(|()| None);
        }
        let folder = folder_of(shown)?;
        refuse_others(&folder)?;
        if folder.stat(MARK)?.is_none() {
            return guard::refuse_below(shown, &folder).map(|()| None);
        }
        let records = folder.find(RECORDS)?;
        Ok(Some(Self {
            folder,
            records,
            _lock: None,
        }))
    }

    /// The path of the store, without links.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a night's folder.
    pub fn night(&self, name: &NightName) -> PathBuf {
        self.folder.at(name.as_str())
    }

    /// The path of a night's dataset.
    pub fn dataset(&self, name: &NightName) -> PathBuf {
        self.night(name).join(DATASET_NAME)
    }

    /// Whether an entry of any kind in the store has the name of a night.
    pub fn is_taken(&self, name: &NightName) -> Result<bool, DatasetError> {
        Ok(self.folder.stat(name.as_str())?.is_some())
    }

    /// Creates the folder of a night, or opens the one of a night that has already begun. Files are created in this
    /// open folder even if another one takes its name meanwhile. Any other entry of that name, such as a link to a
    /// folder, is [`DatasetError::WrongPath`].
    pub fn begin(&self, name: &NightName) -> Result<DatasetParent, DatasetError> {
        let folder = self.folder.make(name.as_str(), disk::USUAL_FOLDER);
        folder
            .map(|folder| DatasetParent(Arc::new(folder)))
            .map_err(wrong_when_refused)
    }

    /// The nights that have a record, the earliest first.
    pub fn nights(&self) -> Result<Vec<NightName>, DatasetError> {
        let Some(records) = &self.records else {
            return Ok(Vec::new());
        };
        let entries = records.list()?;
        let names = entries
            .iter()
            .filter_map(|entry| entry.name.strip_suffix(".json"));
        let nights: Vec<NightName> = names.filter_map(NightName::parse).collect();
        if nights.len() > MAX_NIGHTS {
            let reason = format!(
                "it holds {} runs, and a store holds at most {MAX_NIGHTS}; start another store",
                nights.len()
            );
            return Err(DatasetError::wrong_path(self.path(), reason));
        }
        Ok(nights)
    }

    /// Reads the record of a night; `None` where it does not exist.
    pub fn record(&self, name: &NightName) -> Result<Option<RecordBytes>, DatasetError> {
        let Some(records) = &self.records else {
            return Ok(None);
        };
        Ok(
            match or_corruption(records.read_small(&record_file(name), RECORD_BYTES))? {
                Ok(bytes) => bytes.map(RecordBytes::Whole),
                Err(corruption) => Some(RecordBytes::Corrupt(corruption.to_string())),
            },
        )
    }

    /// Writes the record of a night, or replaces it by one rename.
    pub fn write_record(&self, name: &NightName, bytes: &[u8]) -> Result<(), DatasetError> {
        let records = self.folder.enter(RECORDS)?;
        let file = record_file(name);
        if bytes.len() as u64 > RECORD_BYTES {
            let reason = format!("the record would have more than {RECORD_BYTES} bytes");
            return Err(DatasetError::corrupt(&records.at(&file), reason));
        }
        records.replace(&file, bytes, &records)
    }

    /// Writes a summary of a night into its folder: [`NIGHT_NOTE`] or [`NIGHT_JSON`]. A night whose folder cannot be
    /// used has only its record.
    pub fn write_summary(&self, name: &NightName, file: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        match self.begin(name) {
            Ok(DatasetParent(folder)) => folder.replace(file, bytes, &folder),
            Err(DatasetError::WrongPath { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Writes the figures of the last night for Prometheus.
    pub fn write_metrics(&self, bytes: &[u8]) -> Result<(), DatasetError> {
        self.folder.replace(METRICS, bytes, &self.folder)
    }

    /// Writes the page about all nights.
    pub fn write_page(&self, bytes: &[u8]) -> Result<(), DatasetError> {
        self.folder.replace(NIGHTS_PAGE, bytes, &self.folder)
    }

    /// Rewrites the history from one row per night.
    pub fn write_history(
        &self,
        columns: &[(String, FreeKind)],
        rows: &[Vec<FreeCell<'_>>],
    ) -> Result<(), DatasetError> {
        let (temp, file) = self.folder.create_temp(HISTORY, disk::USUAL_FILE)?;
        let file = FolderFile::of(self.folder.at(HISTORY), file);
        let written = FreeTable::create(file, columns, Compression::None)
            .and_then(|mut table| {
                rows.iter().try_for_each(|row| table.push(row))?;
                table.finish()
            })
            .and_then(|_| self.folder.rename(&temp, &self.folder, HISTORY));
        if written.is_err() {
            self.folder.clear_away(&temp);
        }
        written
    }

    /// Points the link `latest` to a night. An entry of this name that is not a link is not changed.
    pub fn set_latest(&self, name: &NightName) -> Result<LatestLink, DatasetError> {
        match self.folder.stat(LATEST)? {
            Some(found) if !found.is_link() => return Ok(LatestLink::Foreign),
            _ => self.folder.link(LATEST, name.as_str())?,
        }
        Ok(LatestLink::Set)
    }

    /// Removes the files of a night, but not its record. Where the user keeps files among them, or edited a report,
    /// nothing is removed and the error is [`DatasetError::WrongPath`].
    pub fn remove(&self, name: &NightName) -> Result<(), DatasetError> {
        remove::night(&self.folder, name)
    }

    /// Removes the temporary files of a killed process.
    fn remove_temp_files(&self) -> Result<(), DatasetError> {
        let stems = [MARK, HISTORY, METRICS, NIGHTS_PAGE, LATEST];
        self.folder.remove_temp_files(|stem| stems.contains(&stem))?;
        let is_record = |stem: &str| stem.strip_suffix(".json").and_then(NightName::parse).is_some();
        self.records
            .iter()
            .try_for_each(|records| records.remove_temp_files(is_record))
    }
}

fn folder_of(shown: &Path) -> Result<Arc<Dir>, DatasetError> {
    let opened = disk::resolve(shown).and_then(|whole| Dir::open(&whole));
    opened.map(Arc::new).map_err(wrong_when_refused)
}

fn record_file(name: &NightName) -> String {
    format!("{}.json", name.as_str())
}

/// Refuses a folder that is not empty and has no mark.
fn refuse_others(folder: &Dir) -> Result<(), DatasetError> {
    match folder.stat(MARK)?.map(|found| found.kind()) {
        Some(EntryKind::File) => return Ok(()),
        Some(_) => {
            let reason = format!("{MARK} in it is not a regular file");
            return Err(DatasetError::wrong_path(folder.path(), reason));
        }
        None => {}
    }
    // A process that was killed before it wrote the mark leaves the lock and a temporary file.
    let stranger = folder
        .list()?
        .into_iter()
        .find(|entry| entry.name != LOCK && !disk::is_temp_file_of(&entry.name, |stem| stem == MARK));
    stranger.map_or(Ok(()), |stranger| {
        let reason = format!(
            "it holds {} and is not a store of `chatmill night`; name a folder that is empty or does not exist",
            stranger.name
        );
        Err(DatasetError::wrong_path(folder.path(), reason))
    })
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests;
