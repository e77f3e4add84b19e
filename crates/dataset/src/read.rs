//! Reading a finished dataset back: chosen columns of a table, batch by batch, in the order of the manifest.
//!
//! Memory is bounded by a row group (64 MiB of text and one row), whatever the size of the table. Values are
//! returned as stored; their interpretation is left to the caller. Corruption is not searched for: that is
//! the task of [`certify`](crate::certify).

use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use chatmill_model::{Component, ComponentCounts};
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;
use serde::Deserialize;
use serde_json::Value;

use crate::disk::Dir;
use crate::error::{DatasetError, each_or_error};
use crate::manifest::overview::{Mix, Overview};
use crate::manifest::{self, MANIFEST, Manifest, TableEntry, all_files};
use crate::tables::part_file::{self, PartFile};

mod any_column;
mod columns;
mod one_conversation;
pub mod statistics;

pub use any_column::AnyColumn;
pub use columns::{Columns, RowVisit, Rows};
use one_conversation::{CONVERSATION_ID, chosen, rows_of};

/// Bytes of a derived file that is read, at most.
const DERIVED_BYTES: u64 = 1 << 20;

/// Rows of a batch at most.
const BATCH_ROWS: usize = 1024;

/// A finished dataset, open for reading.
#[derive(Debug)]
pub struct Dataset {
    folder: PathBuf,
    /// The open folder: a dataset that replaces it meanwhile is another one.
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

    /// The folder of the dataset.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The manifest of the dataset.
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

    /// The totals of its tables, summed up while they were written.
    pub fn overview(&self) -> Result<Overview, DatasetError> {
        self.total("overview")
    }

    /// What came of the mix of its inputs, from the manifest; none where the run had no mix.
    pub fn mix(&self) -> Result<Option<Mix>, DatasetError> {
        self.total("mix")
    }

    fn total<'m, T: Deserialize<'m>>(&'m self, name: &str) -> Result<T, DatasetError> {
        T::deserialize(self.manifest.totals.get(name).unwrap_or(&Value::Null)).map_err(|error| {
            let problem = format!("its totals have no {name} that can be read: {error}");
            DatasetError::corrupt(&self.folder.join(MANIFEST), problem)
        })
    }

    /// The encodings in which its tables have counts, in the order of the columns.
    pub fn encodings(&self) -> &[String] {
        &self.encodings
    }

    /// The number of rows of a table, from the manifest.
    pub fn rows(&self, table: &str) -> u64 {
        self.entry(table).map_or(0, |entry| entry.rows)
    }

    /// Whether a table has a file per dialect, so that its rows come dialect by dialect.
    pub fn is_parted(&self, table: &str) -> bool {
        let mut folders = self.entry(table).into_iter().flat_map(|entry| &entry.folders);
        folders.any(|folder| folder != table)
    }

    /// Whether the dataset has a table: a request may leave some out.
    pub fn has(&self, table: &str) -> bool {
        self.manifest.has(table)
    }

    /// The error of a reader that needs a table which the request left out.
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

    /// The batches of a table, with only these columns. For a table that was left out, the iterator gives an
    /// error.
    pub fn batches<'d>(&'d self, table: &str, columns: &[&'d str]) -> Batches<'d> {
        self.chosen_batches(table, columns, None)
    }

    /// The same with only the rows of one conversation: of each part the column of their ids is read, and then the pages that hold these rows.
    pub fn batches_of<'d>(&'d self, table: &str, columns: &[&'d str], conversation: &'d str) -> Batches<'d> {
        self.chosen_batches(table, columns, Some(conversation))
    }

    fn chosen_batches<'d>(
        &'d self,
        table: &str,
        columns: &[&'d str],
        conversation: Option<&'d str>,
    ) -> Batches<'d> {
        let columns = columns.to_vec();
        let files = self.files(table);
        let batches = files.flat_map(move |file| {
            each_or_error(file.and_then(|file| self.part(&file, &columns, conversation)))
        });
        // A table that was left out has no files.
        Box::new(self.absence(table).map(Err).into_iter().chain(batches))
    }

    /// The batches of a file, of all its rows or of those of one conversation.
    fn part(
        &self,
        file: &PartFile,
        columns: &[&str],
        conversation: Option<&str>,
    ) -> Result<impl Iterator<Item = Result<Batch, DatasetError>> + use<>, DatasetError> {
        let path = self.folder.join(&file.path);
        let part = self.open.read_part(&file.path, file.bytes)?;
        let open = |columns: &[&str]| {
            let builder = part.batches(&path)?;
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
            Ok::<_, DatasetError>(builder.with_projection(mask).with_batch_size(BATCH_ROWS))
        };
        let unreadable = |error: ParquetError| part.unreadable(&path, error);
        let mut builder = open(columns)?;
        if let Some(conversation) = conversation {
            let ids = open(&[CONVERSATION_ID])?.build().map_err(unreadable)?;
            let ids = ids.map(|batch| batch.map_err(|error| unreadable(error.into())));
            let rows = rows_of(&path, ids, conversation)?;
            let counts = builder.metadata().row_groups().iter();
            let counts = counts.map(|group| usize::try_from(group.num_rows()).unwrap_or_default());
            let (groups, selection) = chosen(&counts.collect::<Vec<_>>(), &rows);
            builder = builder.with_row_groups(groups).with_row_selection(selection);
        }
        let batches = builder.build().map_err(unreadable)?;
        Ok(batches.map(move |batch| match batch {
            Ok(batch) => Ok(Batch {
                path: path.clone(),
                batch,
            }),
            Err(error) => Err(part.unreadable(&path, error.into())),
        }))
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

    /// The files of a table, in the order of its folders and of their slices. Each folder is a walk through the manifests of all
    /// shards, so that no list of files stands in memory.
    fn files(&self, table: &str) -> impl Iterator<Item = Result<PartFile, DatasetError>> + use<'_> {
        let folders = self.entry(table).into_iter().flat_map(|entry| &entry.folders);
        folders.flat_map(|folder| {
            let files = all_files(&self.open, &self.manifest.shards);
            files.filter(move |file| match file {
                Ok(file) => part_file::folder_of(&file.path) == folder,
                Err(_) => true,
            })
        })
    }
}

/// The encodings as the plan names them: by their name, or by an object that has one. No table need be opened for it.
fn planned_encodings(manifest: &Manifest) -> Vec<String> {
    let planned = manifest.plan.pointer("/count/encodings");
    let planned = planned.and_then(Value::as_array).into_iter().flatten();
    // A name alone has no field `name`.
    let names = planned.filter_map(|encoding| encoding.get("name").unwrap_or(encoding).as_str());
    names.map(str::to_owned).collect()
}

/// The batches of a table, file after file.
pub type Batches<'d> = Box<dyn Iterator<Item = Result<Batch, DatasetError>> + 'd>;

/// Some rows of a table, with the columns that were asked for.
#[derive(Clone, Debug)]
pub struct Batch {
    path: PathBuf,
    batch: RecordBatch,
}

impl Batch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column of the kind that the caller expects; it shares the batch's memory.
    pub fn column<K: ColumnKind>(&self, name: &str) -> Result<K, DatasetError> {
        K::of(self, name)
    }

    /// A column of this type of arrays.
    fn typed<A: Clone + 'static>(&self, name: &str, wanted: &str) -> Result<A, DatasetError> {
        let column = self.batch.column_by_name(name);
        let column = column.ok_or_else(|| self.corrupt(format!("it has no column {name}")))?;
        let array = column.as_any().downcast_ref::<A>().cloned();
        array.ok_or_else(|| self.other_type(name, wanted))
    }

    /// A column of lists, whose elements `elements` reads.
    fn lists<E>(
        &self,
        name: &str,
        wanted: &str,
        elements: impl FnOnce(&ArrayRef) -> Option<E>,
    ) -> Result<Lists<E>, DatasetError> {
        let lists: ListArray = self.typed(name, wanted)?;
        let elements = elements(lists.values()).ok_or_else(|| self.other_type(name, wanted))?;
        Ok(Lists { lists, elements })
    }

    /// Why a row of this batch cannot be used.
    pub fn corrupt(&self, reason: impl Into<String>) -> DatasetError {
        DatasetError::corrupt(&self.path, reason)
    }

    fn other_type(&self, name: &str, wanted: &str) -> DatasetError {
        DatasetError::corrupt(&self.path, format!("its column {name} does not hold {wanted}"))
    }
}

/// The type of values that a column can hold.
pub trait ColumnKind: Sized {
    /// The column of this name.
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError>;
}

/// A column that datasets of the same format number may lack, because it was added later.
impl<K: ColumnKind> ColumnKind for Option<K> {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        let has_column = batch.batch.column_by_name(name).is_some();
        has_column.then(|| K::of(batch, name)).transpose()
    }
}

/// The values of a column in the rows of a batch.
#[derive(Clone, Debug)]
pub struct Values<A>(A);

/// Texts of a batch.
pub type Texts = Values<StringArray>;
/// Yes or no, of a batch.
pub type Flags = Values<BooleanArray>;
/// Numbers with a fraction of a batch.
pub type Reals = Values<Float64Array>;
/// Instants of a batch, in microseconds since 1970 in UTC.
pub type Times = Values<TimestampMicrosecondArray>;

macro_rules! arrays {
    ($($array:ty: $wanted:literal,)*) => {
        $(impl ColumnKind for Values<$array> {
            fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
                batch.typed(name, $wanted).map(Self)
            }
        })*
    };
}

arrays! {
    StringArray: "texts",
    BooleanArray: "flags",
    Float64Array: "numbers with a fraction",
    TimestampMicrosecondArray: "times",
    Int64Array: "numbers",
}

impl<A: Array> Values<A> {
    /// The value in a row; none where it is missing.
    pub fn get<'v>(&'v self, row: usize) -> Option<<&'v A as ArrayAccessor>::Item>
    where
        &'v A: ArrayAccessor,
    {
        let is_there = row < self.0.len() && self.0.is_valid(row);
        is_there.then(|| (&self.0).value(row))
    }
}

impl Texts {
    /// The text in a row; empty where it is missing.
    pub fn at(&self, row: usize) -> &str {
        self.get(row).unwrap_or("")
    }
}

impl Flags {
    /// The value of a row.
    pub fn at(&self, row: usize) -> bool {
        self.get(row) == Some(true)
    }
}

/// Numbers of a batch.
#[derive(Clone, Debug)]
pub struct Numbers(Values<Int64Array>);

impl ColumnKind for Numbers {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        batch.column(name).map(Self)
    }
}

impl Numbers {
    /// The number in a row; none where it is missing.
    pub fn get(&self, row: usize) -> Option<u64> {
        self.0.get(row).and_then(|number| u64::try_from(number).ok())
    }

    /// The number in a row; 0 where it is missing.
    pub fn at(&self, row: usize) -> u64 {
        self.get(row).unwrap_or(0)
    }
}

/// Lists in the rows of a batch.
#[derive(Clone, Debug)]
pub struct Lists<E> {
    lists: ListArray,
    elements: E,
}

/// Lists of texts of a batch.
pub type TextLists = Lists<Texts>;
/// Lists of places of a batch.
pub type PlaceLists = Lists<Values<Int32Array>>;
/// Ranges of bytes of a batch.
pub type Spans = Lists<[Numbers; 2]>;
/// Structures in lists: their members are the columns of a batch of their own.
pub type Elements = Lists<Batch>;

impl<E> Lists<E> {
    /// The range of elements in the list of a row.
    pub fn of(&self, row: usize) -> Range<usize> {
        let mut bounds = self.lists.offsets().iter().skip(row);
        let (Some(first), Some(end)) = (bounds.next(), bounds.next()) else {
            return 0..0;
        };
        // Arrow's offsets are never negative.
        let [first, end] = [first, end].map(|bound| bound.unsigned_abs() as usize);
        first..end
    }
}

impl ColumnKind for TextLists {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        batch.lists(name, "lists of texts", |texts| {
            texts.as_string_opt().cloned().map(Values)
        })
    }
}

impl TextLists {
    /// The list in a row; empty where it is missing.
    pub fn at(&self, row: usize) -> Vec<String> {
        let texts = self.of(row).filter_map(|text| self.elements.get(text));
        texts.map(str::to_owned).collect()
    }
}

impl ColumnKind for PlaceLists {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        batch.lists(name, "lists of places", |places| {
            places.as_primitive_opt().cloned().map(Values)
        })
    }
}

impl PlaceLists {
    /// The list in a row; empty where it is missing.
    pub fn at(&self, row: usize) -> Vec<u32> {
        let places = self.of(row).filter_map(|place| self.elements.get(place));
        places.filter_map(|place| u32::try_from(place).ok()).collect()
    }
}

impl ColumnKind for Spans {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        batch.lists(name, "spans", |spans| {
            let bound = |name| {
                let column = spans.as_struct_opt()?.column_by_name(name)?;
                Some(Numbers(Values(column.as_primitive_opt().cloned()?)))
            };
            Some([bound("start")?, bound("end")?])
        })
    }
}

impl Spans {
    /// The ranges in a row; empty where they are missing.
    pub fn at(&self, row: usize) -> Vec<Range<u64>> {
        let [starts, ends] = &self.elements;
        self.of(row).map(|span| starts.at(span)..ends.at(span)).collect()
    }
}

impl ColumnKind for Elements {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        batch.lists(name, "structures", |structures| {
            let structures = structures.as_struct_opt().cloned()?;
            Some(Batch {
                path: batch.path.clone(),
                batch: structures.into(),
            })
        })
    }
}

impl Elements {
    /// The members of these structs, as a batch.
    pub fn batch(&self) -> &Batch {
        &self.elements
    }
}

/// Tokens by component of a batch.
#[derive(Clone, Debug)]
pub struct Components(pub(crate) Vec<(Component, Numbers)>);

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
