//! Reads a finished dataset: chosen columns of a table, batch by batch, in the order of the manifest. Exports, reports,
//! bills and comparisons of datasets use it.
//!
//! Memory is bounded by one row group (64 MiB of text and one row), whatever the size of the table. Values are returned
//! as stored; the caller interprets them. Corruption is not looked for: that is the task of
//! [`certify`](crate::certify).

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

/// The maximum length of a derived file that is read, in bytes.
const DERIVED_BYTES: u64 = 1 << 20;

/// The maximum number of rows in a batch.
const BATCH_ROWS: usize = 1024;

/// A finished dataset, open for reading.
#[derive(Debug)]
pub struct Dataset {
    folder: PathBuf,
    /// The open folder; a dataset that replaces this one in the meantime has another.
    open: Dir,
    manifest: Manifest,
    encodings: Vec<String>,
}

impl Dataset {
    /// Opens the dataset in a folder: reads its manifest and checks it against its marker.
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

    /// The bytes of a derived file, such as `run.json`; `None` where it does not exist.
    ///
    /// # Errors
    ///
    /// When the system fails, or when the file is larger than a mebibyte.
    pub fn derived(&self, name: &str) -> Result<Option<Vec<u8>>, DatasetError> {
        self.open.read_small(name, DERIVED_BYTES)
    }

    /// The figures of its tables, summed up while they were written.
    pub fn overview(&self) -> Result<Overview, DatasetError> {
        self.total("overview")
    }

    /// The mix of its inputs, from the manifest; `None` where the run had none.
    pub fn mix(&self) -> Result<Option<Mix>, DatasetError> {
        self.total("mix")
    }

    fn total<'m, T: Deserialize<'m>>(&'m self, name: &str) -> Result<T, DatasetError> {
        T::deserialize(self.manifest.totals.get(name).unwrap_or(&Value::Null)).map_err(|error| {
            let problem = format!("its totals have no {name} that can be read: {error}");
            DatasetError::corrupt(&self.folder.join(MANIFEST), problem)
        })
    }

    /// The encodings for which its tables have counts, in the order of the columns.
    pub fn encodings(&self) -> &[String] {
        &self.encodings
    }

    /// The number of rows of a table, from the manifest.
    pub fn rows(&self, table: &str) -> u64 {
        self.entry(table).map_or(0, |entry| entry.rows)
    }

    /// Whether a table has one file per dialect, so that its rows are grouped by dialect.
    pub fn is_parted(&self, table: &str) -> bool {
        let mut folders = self.entry(table).into_iter().flat_map(|entry| &entry.folders);
        folders.any(|folder| folder != table)
    }

    /// Whether the dataset has a table: the pipeline file may leave some out.
    pub fn has(&self, table: &str) -> bool {
        self.manifest.has(table)
    }

    /// The error for a reader that needs a table which was left out.
    fn absence(&self, table: &str) -> Option<DatasetError> {
        let is_absent = self.manifest.absent_tables.iter().any(|absent| absent == table);
        is_absent.then(|| DatasetError::AbsentTable {
            path: self.folder.clone(),
            table: table.to_owned(),
        })
    }

    /// The columns of a table with their Arrow types, from its first file.
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

    /// The batches of a table, with only these columns. For a table that was left out, the iterator returns an error.
    pub fn batches<'d>(&'d self, table: &str, columns: &[&'d str]) -> Batches<'d> {
        self.chosen_batches(table, columns, None)
    }

    /// The batches of a table with only the rows of one conversation: of each part, the id column is read first and
    /// then only the pages with these rows.
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

    /// The batches of a file, with all its rows or with those of one conversation.
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

    /// Visits the batches of a table, with only these columns. The first error ends the visit.
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

    /// The files of a table, in the order of its folders and slices. For each folder the manifests of all shards are
    /// read again, so that no list of files is in memory.
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

/// The encodings of the plan: each is a name, or an object with a name. No table has to be opened for this.
fn planned_encodings(manifest: &Manifest) -> Vec<String> {
    let planned = manifest.plan.pointer("/count/encodings");
    let planned = planned.and_then(Value::as_array).into_iter().flatten();
    // A bare name has no field `name`.
    let names = planned.filter_map(|encoding| encoding.get("name").unwrap_or(encoding).as_str());
    names.map(str::to_owned).collect()
}

/// The batches of a table, file by file.
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

    /// A column with values of the kind that the caller expects; it shares the memory of the batch.
    pub fn column<K: ColumnKind>(&self, name: &str) -> Result<K, DatasetError> {
        K::of(self, name)
    }

    /// A column with arrays of this type.
    fn typed<A: Clone + 'static>(&self, name: &str, wanted: &str) -> Result<A, DatasetError> {
        let column = self.batch.column_by_name(name);
        let column = column.ok_or_else(|| self.corrupt(format!("it has no column {name}")))?;
        let array = column.as_any().downcast_ref::<A>().cloned();
        array.ok_or_else(|| self.other_type(name, wanted))
    }

    /// A column of lists; `elements` reads their elements.
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

    /// The error for a row of this batch that cannot be used.
    pub fn corrupt(&self, reason: impl Into<String>) -> DatasetError {
        DatasetError::corrupt(&self.path, reason)
    }

    fn other_type(&self, name: &str, wanted: &str) -> DatasetError {
        DatasetError::corrupt(&self.path, format!("its column {name} does not hold {wanted}"))
    }
}

/// The kind of values that a column holds.
pub trait ColumnKind: Sized {
    /// The column of this name.
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError>;
}

/// A column that is missing in older datasets of the same format number, because it was added later.
impl<K: ColumnKind> ColumnKind for Option<K> {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        let has_column = batch.batch.column_by_name(name).is_some();
        has_column.then(|| K::of(batch, name)).transpose()
    }
}

/// The values of a column in the rows of a batch.
#[derive(Clone, Debug)]
pub struct Values<A>(A);

/// The texts of a column.
pub type Texts = Values<StringArray>;
/// The Booleans of a column.
pub type Flags = Values<BooleanArray>;
/// The floating-point numbers of a column.
pub type Reals = Values<Float64Array>;
/// The times of a column, in microseconds since 1970 in UTC.
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
    /// The value in a row; `None` where it is missing.
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
    /// The value in a row; false where it is missing.
    pub fn at(&self, row: usize) -> bool {
        self.get(row) == Some(true)
    }
}

/// The numbers of a column.
#[derive(Clone, Debug)]
pub struct Numbers(Values<Int64Array>);

impl ColumnKind for Numbers {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        batch.column(name).map(Self)
    }
}

impl Numbers {
    /// The number in a row; `None` where it is missing.
    pub fn get(&self, row: usize) -> Option<u64> {
        self.0.get(row).and_then(|number| u64::try_from(number).ok())
    }

    /// The number in a row; 0 where it is missing.
    pub fn at(&self, row: usize) -> u64 {
        self.get(row).unwrap_or(0)
    }
}

/// The lists of a column.
#[derive(Clone, Debug)]
pub struct Lists<E> {
    lists: ListArray,
    elements: E,
}

/// Lists of texts.
pub type TextLists = Lists<Texts>;
/// Lists of positions.
pub type PlaceLists = Lists<Values<Int32Array>>;
/// Lists of byte ranges.
pub type Spans = Lists<[Numbers; 2]>;
/// Lists of structures; the members of all structures are the columns of a batch.
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
    /// The members of the structures, as a batch.
    pub fn batch(&self) -> &Batch {
        &self.elements
    }
}

/// Token counts by component.
#[derive(Clone, Debug)]
pub struct Components(pub(crate) Vec<(Component, Numbers)>);

impl Components {
    /// The token counts in a row.
    pub fn at(&self, row: usize) -> ComponentCounts {
        let mut counts = ComponentCounts::default();
        for (component, numbers) in &self.0 {
            *counts.get_mut(*component) = numbers.at(row);
        }
        counts
    }
}
