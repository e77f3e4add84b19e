//! One table's file in one slice: rows become batches, batches become row groups, all by the row sequence alone.
//!
//! The cuts decide the bytes of the file, so nothing else (threads, memory, time) may decide them. What the Parquet
//! writer holds in memory is the compressed pages of the open row group, at most one uncompressed page per column,
//! and one batch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::column::{self, Cell, Column};
use crate::disk::{self, DiskFile};
use crate::error::DatasetError;
use crate::options::{Partition, TableOptions};
use crate::parts::{self, PartFile, Place};
use crate::table::{self, Table};

/// Rows after which a batch is cut.
pub(crate) const BATCH_ROWS: usize = 1024;
/// Bytes of text after which a batch is cut: few, because a table may have a file per dialect, and all of them are open at once.
pub(crate) const BATCH_TEXT_BYTES: usize = 1 << 20;
/// Bytes of text after which a row group is cut.
pub(crate) const GROUP_TEXT_BYTES: usize = 64 << 20;
/// Rows after which a row group is cut, for tables with little text.
const GROUP_ROWS: usize = 1 << 20;
/// Bytes of an uncompressed page.
pub(crate) const PAGE_BYTES: usize = 2 << 20;
/// Bytes of text in one row. Offsets of an Arrow batch have 31 bits, and a batch is cut only after its last row.
pub(crate) const ROW_TEXT_BYTES: usize = 1 << 30;

/// The place of a table in a set.
pub(crate) struct Slot<T> {
    /// Its open files, by the dialect of their rows where these are parted; none until its first row.
    open: BTreeMap<String, Part<T>>,
    is_written: bool,
}

impl<T: Table> Slot<T> {
    pub(crate) fn new(options: &TableOptions) -> Self {
        Self {
            open: BTreeMap::new(),
            is_written: !options.absent.contains(&T::NAME),
        }
    }

    /// Whether its rows come into a file.
    pub(crate) fn is_written(&self) -> bool {
        self.is_written
    }

    pub(crate) fn push(&mut self, row: T, place: &Place, options: &TableOptions) -> Result<(), DatasetError> {
        if !self.is_written {
            return Ok(());
        }
        let dialect = match options.partition {
            Partition::None => None,
            Partition::Dialect => T::dialect(&row),
        };
        if let Some(part) = self.open.get_mut(dialect.unwrap_or_default()) {
            return part.push(row);
        }
        let part = Part::create(place, options, dialect)?;
        let dialect = dialect.unwrap_or_default().to_owned();
        self.open.entry(dialect).or_insert(part).push(row)
    }

    pub(crate) fn close(self, place: &Place) -> Result<Vec<PartFile>, DatasetError> {
        self.open.into_values().map(|part| part.finish(place)).collect()
    }
}

/// Writes the file that stands for a table without rows. It has no row groups.
pub(crate) fn write_empty<T: Table>(place: &Place, options: &TableOptions) -> Result<PartFile, DatasetError> {
    Part::<T>::create(place, options, None)?.finish(place)
}

struct Part<T> {
    /// Folder of the file below the dataset's root.
    folder: String,
    /// Its name while it is unfinished, and the path for messages.
    temp: String,
    path: PathBuf,
    writer: ArrowWriter<DiskFile>,
    schema: SchemaRef,
    encodings: Vec<String>,
    /// Rows that wait for the end of their batch.
    waiting: Vec<T>,
    waiting_text: usize,
    group_text: usize,
    rows: u64,
}

impl<T: Table> Part<T> {
    fn create(place: &Place, options: &TableOptions, dialect: Option<&str>) -> Result<Self, DatasetError> {
        let folder = parts::folder(T::NAME, dialect);
        let temp = place.temp_name(&folder);
        let path = place.temp.at(&temp);
        let schema = table::schema::<T>(&options.encodings);
        let file = place.temp.create(&temp, disk::USUAL_FILE)?;
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties::<T>(options)))
            .map_err(|error| DatasetError::parquet("write", &path, error))?;
        Ok(Self {
            folder,
            temp,
            path,
            writer,
            schema,
            encodings: options.encodings.clone(),
            waiting: Vec::new(),
            waiting_text: 0,
            group_text: 0,
            rows: 0,
        })
    }

    fn push(&mut self, row: T) -> Result<(), DatasetError> {
        let text = column::text_bytes(T::COLUMNS, &row);
        if text > ROW_TEXT_BYTES {
            return Err(DatasetError::Row {
                table: T::NAME,
                reason: format!("it holds {text} bytes of text, more than {ROW_TEXT_BYTES}"),
            });
        }
        self.waiting.push(row);
        self.waiting_text += text;
        self.rows += 1;
        if self.waiting.len() == BATCH_ROWS || self.waiting_text >= BATCH_TEXT_BYTES {
            self.write_batch()?;
        }
        Ok(())
    }

    fn write_batch(&mut self) -> Result<(), DatasetError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let rows: Vec<&T> = self.waiting.iter().collect();
        let batch = column::arrays(T::COLUMNS, &self.encodings, &rows)
            .and_then(|arrays| RecordBatch::try_new(self.schema.clone(), arrays))
            .map_err(|error| DatasetError::Row {
                table: T::NAME,
                reason: error.to_string(),
            })?;
        // The batch holds copies; the rows need not stay while it is encoded.
        self.waiting.clear();
        self.group_text += std::mem::take(&mut self.waiting_text);
        self.writer
            .write(&batch)
            .map_err(|error| DatasetError::parquet("write", &self.path, error))?;
        if self.group_text >= GROUP_TEXT_BYTES {
            self.group_text = 0;
            self.writer
                .flush()
                .map_err(|error| DatasetError::parquet("write", &self.path, error))?;
        }
        Ok(())
    }

    /// Closes the file, reads it back, syncs it and gives it its name.
    fn finish(mut self, place: &Place) -> Result<PartFile, DatasetError> {
        self.write_batch()?;
        self.writer
            .finish()
            .map_err(|error| DatasetError::parquet("write", &self.path, error))?;
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
        self.writer
            .inner()
            .sync()
            .map_err(|source| DatasetError::io("sync", &self.path, source))?;
        let home = place.data.make_below(&self.folder)?;
        place
            .temp
            .rename(&self.temp, &home, parts::file_name(place.slice))?;
        Ok(PartFile {
            table: T::NAME.to_owned(),
            path: parts::part_name(&self.folder, place.slice),
            rows,
            bytes: measure.bytes,
            hash: measure.hash,
        })
    }
}

fn properties<T: Table>(options: &TableOptions) -> WriterProperties {
    let plain = WriterProperties::builder()
        .set_created_by(concat!("chatmill version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(options.compression.of_parquet())
        .set_data_page_size_limit(PAGE_BYTES)
        .set_dictionary_page_size_limit(PAGE_BYTES)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None);
    let columns = T::COLUMNS.iter();
    let repeating = columns.flat_map(|column| repeating(column, &options.encodings));
    repeating
        .fold(plain, |properties, path| {
            properties
                .set_column_dictionary_enabled(path.clone(), true)
                .set_column_statistics_enabled(path, EnabledStatistics::Chunk)
        })
        .build()
}

/// Where the file holds values of a column that repeat: they have a dictionary and statistics.
fn repeating<R>(column: &Column<R>, encodings: &[String]) -> Vec<ColumnPath> {
    let path = |names: &[&str]| ColumnPath::new(names.iter().map(|&name| name.to_owned()).collect());
    let element = [column.name, "list", "element"];
    match column.cell {
        Cell::Structs(list) => {
            let fields = list.repeating().into_iter();
            fields
                .map(|field| path(&[&element[..], &[field]].concat()))
                .collect()
        }
        Cell::PerEncoding(prefix, _) => {
            let names = encodings.iter().map(|encoding| format!("{prefix}{encoding}"));
            names.map(|name| path(&[&name])).collect()
        }
        _ if !column.cell.repeats() => Vec::new(),
        Cell::TextList(_) | Cell::Positions(_) => vec![path(&element)],
        _ => vec![path(&[column.name])],
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use std::sync::Arc;

    use super::{BATCH_ROWS, BATCH_TEXT_BYTES, GROUP_TEXT_BYTES, Part};
    use crate::disk::Dir;
    use crate::options::{Compression, Partition, TableOptions};
    use crate::parts::Place;
    use crate::rows::LossRow;

    fn part(folder: &tempfile::TempDir) -> Part<LossRow> {
        let folder = Arc::new(Dir::open(&folder.path().canonicalize().unwrap()).unwrap());
        let place = Place {
            data: Arc::clone(&folder),
            temp: folder,
            slice: 0,
        };
        let options = TableOptions {
            encodings: Vec::new(),
            compression: Compression::None,
            partition: Partition::None,
            absent: Vec::new(),
        };
        Part::create(&place, &options, None).unwrap()
    }

    #[test]
    fn a_batch_ends_at_its_last_row() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = part(&folder);
        for waiting in 1..BATCH_ROWS {
            part.push(LossRow::default()).unwrap();
            assert_eq!(part.waiting.len(), waiting);
        }
        part.push(LossRow::default()).unwrap();
        assert!(part.waiting.is_empty());
    }

    #[test]
    fn a_batch_ends_at_the_row_that_fills_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = part(&folder);
        part.push(LossRow {
            reason: "x".repeat(BATCH_TEXT_BYTES - 1).into(),
            ..Default::default()
        })
        .unwrap();
        assert_eq!(part.waiting.len(), 1);
        part.push(LossRow {
            code: "y".into(),
            ..Default::default()
        })
        .unwrap();
        assert!(part.waiting.is_empty());
        assert_eq!(part.waiting_text, 0);
        assert_eq!(part.group_text, BATCH_TEXT_BYTES);
    }

    #[test]
    fn a_row_group_ends_with_the_batch_that_fills_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = part(&folder);
        for batches in 1..GROUP_TEXT_BYTES / BATCH_TEXT_BYTES {
            part.push(LossRow {
                reason: "x".repeat(BATCH_TEXT_BYTES).into(),
                ..Default::default()
            })
            .unwrap();
            assert_eq!(part.writer.flushed_row_groups().len(), 0);
            assert_eq!(part.writer.in_progress_rows(), batches);
        }
        part.push(LossRow {
            reason: "x".repeat(BATCH_TEXT_BYTES).into(),
            ..Default::default()
        })
        .unwrap();
        assert_eq!(part.writer.flushed_row_groups().len(), 1);
        assert_eq!(part.writer.in_progress_rows(), 0);
        assert_eq!(part.group_text, 0);
    }
}
