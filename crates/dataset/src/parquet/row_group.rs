//! A Parquet file as a sequence of row groups, each assembled from its finished columns.
//!
//! Only the sequence of rows decides where a row group is cut, so equal rows give equal bytes. Memory holds the
//! compressed pages of the open row group and the current page of each column.

use std::io::Write;

use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use crate::parquet::column::{ColumnError, Leaves};
use crate::parquet::compression::Compression;

/// Bytes of text after which a row group is cut.
const GROUP_TEXT_BYTES: usize = 64 << 20;
/// Rows after which a row group is cut, for tables with little text.
const GROUP_ROWS: usize = 1 << 20;
/// The maximum number of bytes of text in one row: a reader's offsets in memory have 31 bits, and a page is cut only
/// after its last row.
const ROW_TEXT_BYTES: usize = 1 << 30;

/// A file that is written one row group at a time.
pub(crate) struct RowGroupFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    /// The bytes of text in the open row group.
    text: usize,
    rows: usize,
}

impl<W: Write + Send> RowGroupFile<W> {
    pub(crate) fn create(sink: W, schema: SchemaRef, compression: Compression) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("chatmill version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(compression.of_parquet())
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        // The Arrow writer is needed only for its translation of the schema.
        let (writer, _) = ArrowWriter::try_new(sink, schema, Some(properties))?.into_serialized_writer()?;
        Ok(Self {
            writer,
            text: 0,
            rows: 0,
        })
    }

    /// The leaves in the schema of the file.
    pub(crate) fn leaves(&self) -> Leaves<'_> {
        Leaves(self.writer.schema_descr().columns().iter())
    }

    /// Counts a row with `text` bytes of text; true where the row group ends with it.
    pub(crate) fn is_full_with(&mut self, text: usize) -> bool {
        self.text += text;
        self.rows += 1;
        self.text >= GROUP_TEXT_BYTES || self.rows >= GROUP_ROWS
    }

    /// The bytes of text in the open row group.
    pub(crate) fn pending_text(&self) -> usize {
        self.text
    }

    /// Ends the row group unless it is empty; `append` adds its columns.
    pub(crate) fn end_group(
        &mut self,
        append: impl FnOnce(&mut SerializedRowGroupWriter<'_, W>) -> std::result::Result<(), ColumnError>,
    ) -> std::result::Result<(), ColumnError> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.text, self.rows) = (0, 0);
        let mut group = self.writer.next_row_group()?;
        append(&mut group)?;
        group.close()?;
        Ok(())
    }

    /// Writes the footer.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.writer.finish().map(|_| ())
    }

    /// The underlying writer.
    pub(crate) fn inner(&self) -> &W {
        self.writer.inner()
    }

    /// Writes the footer and returns the underlying writer.
    pub(crate) fn into_inner(self) -> Result<W> {
        self.writer.into_inner()
    }
}

/// Refuses a row with too many bytes of text.
pub(crate) fn check_row(text: usize) -> std::result::Result<(), ColumnError> {
    if text > ROW_TEXT_BYTES {
        return Err(ColumnError::Value(format!(
            "it holds {text} bytes of text, more than {ROW_TEXT_BYTES}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::Schema;

    use super::*;

    fn file() -> RowGroupFile<Vec<u8>> {
        RowGroupFile::create(Vec::new(), Arc::new(Schema::empty()), Compression::None).unwrap()
    }

    #[test]
    fn a_row_group_ends_with_the_row_that_fills_its_text() {
        let mut file = file();
        assert!(!file.is_full_with(GROUP_TEXT_BYTES - 1));
        assert!(file.is_full_with(1));
        file.end_group(|_| Ok(())).unwrap();
        assert!(!file.is_full_with(GROUP_TEXT_BYTES - 1));
        assert!(file.is_full_with(ROW_TEXT_BYTES));
    }

    #[test]
    fn a_row_group_ends_with_its_last_row() {
        let mut file = file();
        for _ in 1..GROUP_ROWS {
            assert!(!file.is_full_with(0));
        }
        assert!(file.is_full_with(0));
    }

    #[test]
    fn a_row_may_hold_a_gibibyte_of_text_and_no_more() {
        assert!(check_row(ROW_TEXT_BYTES).is_ok());
        assert!(matches!(
            check_row(ROW_TEXT_BYTES + 1),
            Err(ColumnError::Value(_))
        ));
    }
}
