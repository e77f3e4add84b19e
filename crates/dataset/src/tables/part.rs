//! The file of one table in one slice: rows are written to columns, and columns to row groups.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use bytes::Bytes;
use chatmill_diag::faults::carried;

use crate::disk::{self, DiskFile};
use crate::error::DatasetError;
use crate::parquet::chunk::{Context, Nesting};
use crate::parquet::column::{EndGroup, EndRow};
use crate::parquet::key::Key;
use crate::parquet::row_group::{RowGroupFile, check_row};
use crate::tables::memory::MemoryTable;
use crate::tables::options::{Partition, TableOptions};
use crate::tables::part_file::{self, PartFile, SlicePlace};
use crate::tables::table::{self, Table};

/// The medium to which the files of a set are written.
pub(crate) enum Medium {
    /// Files in the staging of a run.
    Staging(SlicePlace),
    /// Memory only, to be read from there.
    Memory,
}

/// The output of one file of a table.
enum Sink {
    Disk(DiskFile),
    Memory(Vec<u8>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Disk(file) => file.write(bytes),
            Self::Memory(buffer) => buffer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Disk(file) => file.flush(),
            Self::Memory(_) => Ok(()),
        }
    }
}

/// The place of one table in a set.
pub(crate) struct Slot<T> {
    /// The open files, each with the dialect of its rows if the files are partitioned by dialect; empty before the first row.
    open: Vec<(Key, OpenPart<T>)>,
    is_written: bool,
}

impl<T: Table> Slot<T> {
    pub(crate) fn new(options: &TableOptions) -> Self {
        Self {
            open: Vec::new(),
            is_written: !options.absent.contains(&T::NAME),
        }
    }

    /// Whether the rows of this table are written to a file.
    pub(crate) fn is_written(&self) -> bool {
        self.is_written
    }

    /// The file for rows of a dialect, which is created where it is missing; `None` where the table is not written.
    pub(crate) fn part(
        &mut self,
        dialect: Option<Key>,
        medium: &Medium,
        options: &TableOptions,
        context: &Context,
    ) -> Result<Option<&mut OpenPart<T>>, DatasetError> {
        if !self.is_written {
            return Ok(None);
        }
        let dialect = match options.partition {
            Partition::None => None,
            Partition::Dialect => dialect,
        };
        let key = dialect.unwrap_or_default();
        // There are at most as many files as dialects.
        let known = self.open.iter().position(|(known, _)| *known == key);
        let index = known.unwrap_or(self.open.len());
        if known.is_none() {
            let dialect = dialect.map(|dialect| context.keys.text(dialect));
            self.open.push((key, OpenPart::create(medium, options, dialect)?));
        }
        #[expect(clippy::indexing_slicing, reason = "a row without a file would be lost")]
        Ok(Some(&mut self.open[index].1))
    }

    pub(crate) fn push(
        &mut self,
        row: T::Row<'_>,
        medium: &Medium,
        options: &TableOptions,
        context: &mut Context,
    ) -> Result<(), DatasetError> {
        match self.part(T::dialect(&row), medium, options, context)? {
            Some(part) => part.push(row, context),
            None => Ok(()),
        }
    }

    /// Writes the rest of the files, in the order of their names.
    pub(crate) fn close(mut self, context: &mut Context) -> Result<Vec<WrittenPart>, DatasetError> {
        self.open
            .sort_by(|(_, one), (_, other)| one.folder.cmp(&other.folder));
        let parts = self.open.into_iter();
        parts.map(|(_, part)| part.close(context)).collect()
    }

    /// Finishes the files in memory, in the order of their names; a table without rows has no file.
    pub(crate) fn read_back(mut self, context: &mut Context) -> Result<MemoryTable, DatasetError> {
        self.open
            .sort_by(|(_, one), (_, other)| one.folder.cmp(&other.folder));
        let parts = self.open.into_iter();
        let files = parts.map(|(_, part)| part.into_bytes(context));
        Ok(MemoryTable::new(T::NAME, files.collect::<Result<_, _>>()?))
    }
}

/// Writes the file of a table without rows, which has no row groups.
pub(crate) fn write_empty<T: Table>(
    place: &SlicePlace,
    options: &TableOptions,
) -> Result<WrittenPart, DatasetError> {
    let medium = Medium::Staging(place.clone());
    OpenPart::<T>::create(&medium, options, None)?.close(&mut Context::new(options.compression))
}

/// Finishes the files of a slice in parallel, because each waits for the disk several times.
pub(crate) fn finish(parts: Vec<WrittenPart>, place: &SlicePlace) -> Result<Vec<PartFile>, DatasetError> {
    let carry = carried();
    thread::scope(|scope| {
        let mut finishing = Vec::new();
        for part in parts {
            let (path, carry) = (part.path.clone(), &carry);
            let finish = move || {
                carry();
                part.finish(place)
            };
            let thread = thread::Builder::new().spawn_scoped(scope, finish);
            finishing.push(thread.map_err(|source| DatasetError::io("start a thread for", &path, source))?);
        }
        let finished = finishing
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        finished.collect()
    })
}

/// An open file of a table.
pub(crate) struct OpenPart<T> {
    /// Folder of the file below the dataset's root.
    folder: String,
    /// The name of the unfinished file, and its path for messages.
    temp: String,
    path: PathBuf,
    file: RowGroupFile<Sink>,
    columns: T,
    rows: u64,
}

impl<T: Table> OpenPart<T> {
    fn create(medium: &Medium, options: &TableOptions, dialect: Option<&str>) -> Result<Self, DatasetError> {
        let folder = part_file::folder(T::NAME, dialect);
        let schema = table::schema::<T>(&options.encodings);
        let (temp, path, file) = match medium {
            Medium::Staging(place) => {
                let temp = place.temp_name(&folder);
                let file = place.temp.create(&temp, disk::USUAL_FILE)?;
                let path = place.temp.at(&temp);
                (temp, path, Sink::Disk(file))
            }
            Medium::Memory => (folder.clone(), PathBuf::from(&folder), Sink::Memory(Vec::new())),
        };
        let file = RowGroupFile::create(file, schema, options.compression)
            .map_err(|error| DatasetError::parquet("write", &path, error))?;
        let columns = T::open(&mut file.leaves(), &options.encodings);
        let columns = columns.map_err(|error| error.of(T::NAME, &path))?;
        Ok(Self {
            folder,
            temp,
            path,
            file,
            columns,
            rows: 0,
        })
    }

    fn push(&mut self, row: T::Row<'_>, context: &mut Context) -> Result<(), DatasetError> {
        let text = T::text_bytes(&row, &context.keys);
        let pushed = check_row(text)
            .and_then(|()| self.columns.push(row, Nesting::default(), context))
            .and_then(|()| self.columns.leaves(&mut EndRow(context)));
        pushed.map_err(|error| error.of(T::NAME, &self.path))?;
        self.rows += 1;
        if self.file.is_full_with(text) {
            self.end_group(context)?;
        }
        Ok(())
    }

    fn end_group(&mut self, context: &mut Context) -> Result<(), DatasetError> {
        let columns = &mut self.columns;
        let ended = self
            .file
            .end_group(|group| columns.leaves(&mut EndGroup { group, context }));
        ended.map_err(|error| error.of(T::NAME, &self.path))
    }

    /// Writes the rest of the file.
    fn close(mut self, context: &mut Context) -> Result<WrittenPart, DatasetError> {
        self.end_group(context)?;
        self.file
            .finish()
            .map_err(|error| DatasetError::parquet("write", &self.path, error))?;
        Ok(WrittenPart {
            table: T::NAME,
            file: match self.file.inner() {
                Sink::Disk(file) => Some(file.clone()),
                Sink::Memory(_) => None,
            },
            folder: self.folder,
            temp: self.temp,
            path: self.path,
            rows: self.rows,
        })
    }

    /// Closes the file and returns its bytes if it is in memory.
    fn into_bytes(mut self, context: &mut Context) -> Result<Bytes, DatasetError> {
        self.end_group(context)?;
        let path = self.path;
        match self.file.into_inner() {
            Ok(Sink::Memory(bytes)) => Ok(bytes.into()),
            Ok(Sink::Disk(_)) => Err(DatasetError::corrupt(&path, "it was to be in memory")),
            Err(error) => Err(DatasetError::parquet("write", &path, error)),
        }
    }
}

/// A file of a table that is completely written.
pub(crate) struct WrittenPart {
    table: &'static str,
    folder: String,
    temp: String,
    path: PathBuf,
    /// The written file, if it is on disk.
    file: Option<DiskFile>,
    rows: u64,
}

impl WrittenPart {
    /// Reads the file back, syncs it and gives it its name.
    fn finish(self, place: &SlicePlace) -> Result<PartFile, DatasetError> {
        let Some(written) = place.temp.read_file(&self.temp)? else {
            return Err(DatasetError::corrupt(
                &self.path,
                "it disappeared while it was written",
            ));
        };
        let rows = written.footer_rows(&self.path)?;
        if rows != self.rows {
            return Err(DatasetError::corrupt(
                &self.path,
                format!("{} rows were written, its footer names {rows}", self.rows),
            ));
        }
        let measure = written.measure(&self.path)?;
        if let Some(file) = &self.file {
            file.sync()
                .map_err(|source| DatasetError::io("sync", &self.path, source))?;
        }
        let work_dir = place.data.make_below(&self.folder)?;
        place
            .temp
            .rename(&self.temp, &work_dir, part_file::file_name(place.slice))?;
        Ok(PartFile {
            table: self.table.to_owned(),
            path: part_file::part_name(&self.folder, place.slice),
            rows,
            bytes: measure.bytes,
            hash: measure.hash,
        })
    }
}
