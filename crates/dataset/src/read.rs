//! Reading a finished dataset back: chosen columns of a table, batch by batch, in the order of the manifest.
//!
//! Memory is bounded by a row group (64 MiB of text and one row), whatever the size of the table. Values are handed out
//! as they stand; what they mean together is the reader's business. Damage is not looked for: that is
//! [`certify`](crate::certify).

use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use chatmill_model::{Component, ComponentCounts};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use serde::Deserialize;
use serde_json::Value;

use crate::disk::{Dir, DiskFile};
use crate::error::DatasetError;
use crate::manifest::overview::Overview;
use crate::manifest::{self, AllFiles, MANIFEST, Manifest, TableEntry};
use crate::tables::part_file::{self, PartFile};

/// Bytes of a derived file that is read, at most.
const DERIVED_BYTES: u64 = 1 << 20;

/// Rows of a batch at most.
const BATCH_ROWS: usize = 1024;

/// A finished dataset, open for reading.
#[derive(Debug)]
pub struct Dataset {
    folder: PathBuf,
    /// The folder as it is open: what replaces it meanwhile is another one.
    open: Dir,
    manifest: Manifest,
    encodings: Vec<String>,
}

impl Dataset {
    /// Opens the dataset in a folder: reads its manifest and holds it against its marker.
    pub fn open(folder: &Path) -> Result<Self, DatasetError> {
        let open = manifest::open_folder(folder)?;
        let manifest = manifest::read_from(&open, folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            open,
            encodings: planned_encodings(&manifest),
            manifest,
        })
    }

    /// Where it stands.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it consists of.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The bytes of one of its derived files, such as `run.json`; none where it is gone.
    ///
    /// # Errors
    ///
    /// When the system fails, or when the file is larger than a mebibyte.
    pub fn derived(&self, name: &str) -> Result<Option<Vec<u8>>, DatasetError> {
        self.open.read_small(name, DERIVED_BYTES)
    }

    /// What was summed up of its tables while they were written.
    pub fn overview(&self) -> Result<Overview, DatasetError> {
        let overview = self.manifest.totals.get("overview").unwrap_or(&Value::Null);
        Overview::deserialize(overview).map_err(|error| {
            let fault = format!("its totals have no overview of the tables: {error}");
            DatasetError::corrupt(&self.folder.join(MANIFEST), fault)
        })
    }

    /// The encodings whose counts its tables hold, in the order of the columns.
    pub fn encodings(&self) -> &[String] {
        &self.encodings
    }

    /// Rows of a table, as the manifest says.
    pub fn rows(&self, table: &str) -> u64 {
        self.entry(table).map_or(0, |entry| entry.rows)
    }

    /// Whether a table has a file per dialect, so that its rows come dialect by dialect.
    pub fn is_parted(&self, table: &str) -> bool {
        let mut folders = self.entry(table).into_iter().flat_map(|entry| &entry.folders);
        folders.any(|folder| folder != table)
    }

    /// Whether it has a table: a request may leave some out.
    pub fn has(&self, table: &str) -> bool {
        self.manifest.has(table)
    }

    /// The error of whoever needs a table that the request left out.
    fn absence(&self, table: &str) -> Option<DatasetError> {
        let is_absent = self.manifest.absent_tables.iter().any(|absent| absent == table);
        is_absent.then(|| DatasetError::AbsentTable {
            path: self.folder.clone(),
            table: table.to_owned(),
        })
    }

    /// The columns of a table with their Arrow types, as its first file has them.
    pub fn columns(&self, table: &str) -> Result<Vec<(String, String)>, DatasetError> {
        if let Some(absence) = self.absence(table) {
            return Err(absence);
        }
        let Some(file) = self.files(table).next().transpose()? else {
            return Ok(Vec::new());
        };
        let part = self.open.read_part(&file.path, file.bytes)?;
        let builder = part.batches(&self.folder.join(&file.path))?;
        let columns = builder
            .schema()
            .fields()
            .iter()
            .map(|field| (field.name().clone(), field.data_type().to_string()));
        Ok(columns.collect())
    }

    /// The batches of a table, with these columns only. Of a table that the request left out there is only an error.
    pub fn batches<'d>(&'d self, table: &str, columns: &[&'d str]) -> Batches<'d> {
        Batches {
            dataset: self,
            columns: columns.to_vec(),
            absence: self.absence(table),
            files: self.files(table),
            open: None,
        }
    }

    /// Visits the batches of a table, with these columns only. The first error ends it.
    pub fn scan(
        &self,
        table: &str,
        columns: &[&str],
        visit: &mut dyn FnMut(&Batch) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        self.batches(table, columns).try_for_each(|batch| visit(&batch?))
    }

    fn entry(&self, table: &str) -> Option<&TableEntry> {
        self.manifest.tables.iter().find(|entry| entry.name == table)
    }

    /// The files of a table, folder by folder.
    fn files(&self, table: &str) -> TableFiles<'_> {
        TableFiles {
            dataset: self,
            folders: self.entry(table).map_or(&[][..], |entry| &entry.folders).iter(),
            open: None,
        }
    }
}

/// The encodings as the plan names them: by their name, or by an object that has one. No table need be opened for it.
fn planned_encodings(manifest: &Manifest) -> Vec<String> {
    let planned = manifest.plan.pointer("/count/encodings");
    let planned = planned.and_then(Value::as_array).into_iter().flatten();
    let names = planned.filter_map(|encoding| encoding.get("name").unwrap_or(encoding).as_str());
    names.map(str::to_owned).collect()
}

/// The files of a table, in the order of its folders and of their slices. Each folder is a walk through the manifests of all
/// lots, so that no list of files stands in memory.
struct TableFiles<'d> {
    dataset: &'d Dataset,
    folders: std::slice::Iter<'d, String>,
    open: Option<(&'d str, AllFiles<'d>)>,
}

impl Iterator for TableFiles<'_> {
    type Item = Result<PartFile, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((folder, files)) = &mut self.open {
                let found = files.find(|file| match file {
                    Ok(file) => part_file::folder_of(&file.path) == *folder,
                    Err(_) => true,
                });
                if found.is_some() {
                    return found;
                }
            }
            let folder = self.folders.next()?;
            let files = AllFiles::of(&self.dataset.open, &self.dataset.manifest.lots);
            self.open = Some((folder, files));
        }
    }
}

/// The batches of a table, file after file.
pub struct Batches<'d> {
    dataset: &'d Dataset,
    columns: Vec<&'d str>,
    /// Why there is nothing to read, until it was told.
    absence: Option<DatasetError>,
    files: TableFiles<'d>,
    open: Option<(PathBuf, DiskFile, ParquetRecordBatchReader)>,
}

impl Batches<'_> {
    fn open(
        &self,
        file: &PartFile,
        path: &Path,
    ) -> Result<(DiskFile, ParquetRecordBatchReader), DatasetError> {
        let part = self.dataset.open.read_part(&file.path, file.bytes)?;
        let builder = part.batches(path)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), self.columns.iter().copied());
        let batches = builder
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| part.unreadable(path, error))?;
        Ok((part, batches))
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(absence) = self.absence.take() {
            return Some(Err(absence));
        }
        loop {
            if let Some((path, part, batches)) = &mut self.open
                && let Some(batch) = batches.next()
            {
                let path = path.clone();
                return Some(match batch {
                    Ok(batch) => Ok(Batch { path, batch }),
                    Err(error) => Err(part.unreadable(&path, error.into())),
                });
            }
            let file = match self.files.next()? {
                Ok(file) => file,
                Err(error) => return Some(Err(error)),
            };
            let path = self.dataset.folder.join(&file.path);
            match self.open(&file, &path) {
                Ok((part, batches)) => self.open = Some((path, part, batches)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Some rows of a table, with the columns that were asked for.
#[derive(Clone, Debug)]
pub struct Batch {
    path: PathBuf,
    batch: RecordBatch,
}

impl Batch {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column of texts; it shares the batch's memory.
    pub fn texts(&self, name: &str) -> Result<Texts, DatasetError> {
        self.typed(name, "texts").map(Texts)
    }

    /// A column of lists of texts.
    pub fn text_lists(&self, name: &str) -> Result<TextLists, DatasetError> {
        let lists: ListArray = self.typed(name, "lists of texts")?;
        let elements = lists.values().as_string_opt::<i32>();
        elements.ok_or_else(|| self.other_type(name, "lists of texts"))?;
        Ok(TextLists(lists))
    }

    /// A column of lists of places.
    pub(crate) fn place_lists(&self, name: &str) -> Result<PlaceLists, DatasetError> {
        let lists: ListArray = self.typed(name, "lists of places")?;
        let elements = lists.values().as_primitive_opt::<Int32Type>();
        elements.ok_or_else(|| self.other_type(name, "lists of places"))?;
        Ok(PlaceLists(lists))
    }

    /// A column of numbers.
    pub fn numbers(&self, name: &str) -> Result<Numbers, DatasetError> {
        self.typed(name, "numbers").map(Numbers)
    }

    /// The columns of tokens by component, each of which has the name of its component.
    pub fn components(&self) -> Result<Components, DatasetError> {
        let columns = Component::ALL.into_iter();
        let columns = columns.map(|component| Ok((component, self.numbers(component.as_str())?)));
        columns.collect::<Result<_, _>>().map(Components)
    }

    /// A column of yes or no.
    pub fn flags(&self, name: &str) -> Result<Flags, DatasetError> {
        self.typed(name, "flags").map(Flags)
    }

    /// A column of instants.
    pub fn times(&self, name: &str) -> Result<Times, DatasetError> {
        self.typed(name, "times").map(Times)
    }

    /// A column of ranges of bytes.
    pub fn spans(&self, name: &str) -> Result<Spans, DatasetError> {
        let spans = Spans::of(self.typed(name, "spans")?);
        spans.ok_or_else(|| self.other_type(name, "spans"))
    }

    /// A column of numbers with a fraction.
    pub fn reals(&self, name: &str) -> Result<Reals, DatasetError> {
        self.typed(name, "numbers with a fraction").map(Reals)
    }

    /// The structures in the lists of a column.
    pub fn elements(&self, name: &str) -> Result<Elements, DatasetError> {
        let lists: ListArray = self.typed(name, "structures")?;
        let structures = lists.values().as_struct_opt().cloned();
        let structures = structures.ok_or_else(|| self.other_type(name, "structures"))?;
        Ok(Elements {
            lists,
            batch: Self {
                path: self.path.clone(),
                batch: structures.into(),
            },
        })
    }

    /// A column of this type of arrays.
    fn typed<A: Clone + 'static>(&self, name: &str, wanted: &str) -> Result<A, DatasetError> {
        let column = self.batch.column_by_name(name);
        let column = column.ok_or_else(|| self.fault(format!("it has no column {name}")))?;
        let array = column.as_any().downcast_ref::<A>().cloned();
        array.ok_or_else(|| self.other_type(name, wanted))
    }

    /// Why a row of this batch cannot be used.
    pub fn fault(&self, reason: impl Into<String>) -> DatasetError {
        DatasetError::corrupt(&self.path, reason)
    }

    fn other_type(&self, name: &str, wanted: &str) -> DatasetError {
        DatasetError::corrupt(&self.path, format!("its column {name} does not hold {wanted}"))
    }
}

/// Texts of a batch.
#[derive(Clone, Debug)]
pub struct Texts(StringArray);

impl Texts {
    /// The text in a row; none where it is missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        is_there(&self.0, row).then(|| self.0.value(row))
    }

    /// The text in a row; empty where it is missing.
    pub fn at(&self, row: usize) -> &str {
        self.get(row).unwrap_or_default()
    }
}

/// Lists of texts of a batch.
#[derive(Clone, Debug)]
pub struct TextLists(ListArray);

impl TextLists {
    /// The list in a row; empty where it is missing.
    pub fn at(&self, row: usize) -> Vec<String> {
        if !is_there(&self.0, row) {
            return Vec::new();
        }
        let list = self.0.value(row);
        let texts = list.as_string_opt::<i32>().into_iter().flatten();
        texts.flatten().map(str::to_owned).collect()
    }
}

/// Lists of places of a batch.
#[derive(Clone, Debug)]
pub struct PlaceLists(ListArray);

impl PlaceLists {
    /// The list in a row; empty where it is missing.
    pub fn at(&self, row: usize) -> Vec<u32> {
        if !is_there(&self.0, row) {
            return Vec::new();
        }
        let list = self.0.value(row);
        let places = list.as_primitive_opt::<Int32Type>().into_iter().flatten();
        places
            .flatten()
            .filter_map(|place| u32::try_from(place).ok())
            .collect()
    }
}

/// Structures in lists: their members are the columns of a batch of their own.
#[derive(Debug)]
pub struct Elements {
    lists: ListArray,
    batch: Batch,
}

impl Elements {
    /// Their members.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The rows of that batch which stand in the list of a row.
    pub fn of(&self, row: usize) -> Range<usize> {
        bounds(&self.lists, row)
    }
}

/// The elements of the list in a row.
fn bounds(lists: &ListArray, row: usize) -> Range<usize> {
    let mut bounds = lists.offsets().iter().skip(row);
    let (Some(first), Some(end)) = (bounds.next(), bounds.next()) else {
        return 0..0;
    };
    let [first, end] = [first, end].map(|bound| usize::try_from(*bound).unwrap_or_default());
    first..end
}

/// Numbers with a fraction of a batch.
#[derive(Clone, Debug)]
pub struct Reals(Float64Array);

impl Reals {
    /// The number in a row; none where it is missing.
    pub fn get(&self, row: usize) -> Option<f64> {
        is_there(&self.0, row).then(|| self.0.value(row))
    }
}

/// Ranges of bytes of a batch.
#[derive(Clone, Debug)]
pub struct Spans {
    lists: ListArray,
    starts: Numbers,
    ends: Numbers,
}

impl Spans {
    fn of(lists: ListArray) -> Option<Self> {
        let bound = |name| {
            let column = lists.values().as_struct_opt()?.column_by_name(name)?;
            column.as_primitive_opt::<Int64Type>().cloned().map(Numbers)
        };
        Some(Self {
            starts: bound("start")?,
            ends: bound("end")?,
            lists,
        })
    }

    /// The ranges in a row; empty where they are missing.
    pub fn at(&self, row: usize) -> Vec<Range<u64>> {
        bounds(&self.lists, row)
            .map(|span| self.starts.at(span)..self.ends.at(span))
            .collect()
    }
}

/// Numbers of a batch.
#[derive(Clone, Debug)]
pub struct Numbers(Int64Array);

impl Numbers {
    /// The number in a row; none where it is missing.
    pub fn get(&self, row: usize) -> Option<u64> {
        is_there(&self.0, row)
            .then(|| u64::try_from(self.0.value(row)).ok())
            .flatten()
    }

    /// The number in a row; 0 where it is missing.
    pub fn at(&self, row: usize) -> u64 {
        self.get(row).unwrap_or_default()
    }
}

/// Tokens by component of a batch.
#[derive(Clone, Debug)]
pub struct Components(Vec<(Component, Numbers)>);

impl Components {
    /// The tokens in a row.
    pub fn at(&self, row: usize) -> ComponentCounts {
        let mut counts = ComponentCounts::default();
        for (component, numbers) in &self.0 {
            *counts.get_mut(*component) = numbers.at(row);
        }
        counts
    }
}

/// Yes or no, of a batch.
#[derive(Clone, Debug)]
pub struct Flags(BooleanArray);

impl Flags {
    /// Yes or no in a row; none where it is missing.
    pub fn get(&self, row: usize) -> Option<bool> {
        is_there(&self.0, row).then(|| self.0.value(row))
    }

    /// Whether a row says yes.
    pub fn at(&self, row: usize) -> bool {
        self.get(row) == Some(true)
    }
}

/// Instants of a batch, in microseconds since 1970 in UTC.
#[derive(Clone, Debug)]
pub struct Times(TimestampMicrosecondArray);

impl Times {
    /// The instant in a row; none where it is missing.
    pub fn get(&self, row: usize) -> Option<i64> {
        is_there(&self.0, row).then(|| self.0.value(row))
    }
}

fn is_there(array: &dyn Array, row: usize) -> bool {
    row < array.len() && array.is_valid(row)
}
