//! The row groups of a Parquet file.

use std::io::Read;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, FieldRef, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use super::stored::Stored;
use super::thrift::{Page, Thrift};
use super::{Batches, too_long, unfolded};
use crate::stream::{ReadBudget, StreamError};

/// The last bytes of a file.
const MAGIC: &[u8] = b"PAR1";

/// The last bytes of an encrypted file.
const ENCRYPTED: &[u8] = b"PARE";

/// The maximum nesting of groups in a schema.
const MAX_DEPTH: usize = 64;

/// The maximum length of the header of a page, in bytes.
const HEADER_BYTES: u64 = 1 << 20;

/// The maximum length of the values of a batch in bytes, in the case that a page repeats its longest one.
const BATCH_BYTES: u64 = 256 << 20;

/// The maximum number of rows in a batch.
const MOST_ROWS: u64 = 1024;

/// Reads a file row group by row group.
pub(super) struct Groups {
    stored: Stored,
    metadata: ArrowReaderMetadata,
    next: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// The number of bytes of the row groups before the current one.
    before: u64,
    /// The number of rows of the current group that were returned.
    given: u64,
    gauge: Arc<ReadBudget>,
}

impl Groups {
    pub(super) fn open(stored: Stored, gauge: Arc<ReadBudget>) -> Result<Self, StreamError> {
        let length = stored.length();
        let end = stored.bytes(length.saturating_sub(8), length.min(8))?;
        let (footer, magic) = end.split_at_checked(4).unwrap_or_default();
        if magic == ENCRYPTED {
            let text = "the Parquet file is encrypted";
            return Err(StreamError::unsupported(text));
        }
        if magic != MAGIC || length < 12 {
            let text = "the Parquet file has no footer: it was cut off";
            return Err(StreamError::truncated(text));
        }
        let footer = footer.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let footer = u64::from(footer);
        if footer > length - 12 || footer > gauge.limits.record {
            return Err(StreamError::corrupt("the footer is longer than it can be"));
        }
        let bytes = stored.bytes(length - 8 - footer, footer)?;
        match Thrift::new(&bytes).schema_depth() {
            None => return Err(StreamError::corrupt("the footer makes no sense")),
            Some(depth) if depth > MAX_DEPTH => {
                let text = format!("the schema is {depth} levels deep, the limit is {MAX_DEPTH}");
                return Err(StreamError::corrupt(text));
            }
            Some(_) => {}
        }
        // The Arrow schema in the footer adds nothing that JSON could express.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(&stored, options.clone())
            .map_err(|_| StreamError::corrupt("the footer makes no sense"))?;
        let fields = metadata.schema().fields().iter().map(shared);
        let schema =
            Schema::new(fields.collect::<Vec<_>>()).with_metadata(metadata.schema().metadata().clone());
        let options = options.with_schema(Arc::new(schema));
        let metadata =
            ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata);
        Ok(Self {
            stored,
            metadata,
            next: 0,
            reader: None,
            before: 0,
            given: 0,
            gauge,
        })
    }

    /// Begins a row group after measuring it.
    fn begin(&self, number: usize) -> Result<ParquetRecordBatchReader, StreamError> {
        let group = self.metadata.metadata().row_group(number);
        let mut longest = 1;
        for column in group.columns() {
            longest = longest.max(self.measure(column)?);
        }
        let rows = (BATCH_BYTES / longest).clamp(1, MOST_ROWS);
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.stored.clone(), self.metadata.clone())
            .with_row_groups(vec![number])
            .with_batch_size(usize::try_from(rows).unwrap_or(1))
            .build()
            .map_err(|_| StreamError::corrupt("its columns cannot be read"))
    }

    /// The length of the longest page of a column; an error if the page headers are inconsistent.
    fn measure(&self, column: &ColumnChunkMetaData) -> Result<u64, StreamError> {
        let dictionary = column.dictionary_page_offset().filter(|at| *at > 0);
        let first = dictionary.map_or(column.data_page_offset(), |at| at.min(column.data_page_offset()));
        let start = u64::try_from(first).ok();
        let length = u64::try_from(column.compressed_size()).ok();
        let end = start
            .zip(length)
            .and_then(|(start, length)| start.checked_add(length));
        let (Some(mut at), Some(end)) = (start, end.filter(|end| *end <= self.stored.length())) else {
            return Err(StreamError::truncated(
                "a column reaches beyond the end of the file",
            ));
        };
        // A dictionary stores each value of fixed length once, but decoded values are stored in every row.
        let width = u64::try_from(column.column_descr().type_length()).unwrap_or_default();
        let (mut longest, mut values) = (0, 0_u64);
        while at < end {
            let head = self.stored.bytes_up_to(at, HEADER_BYTES.min(end - at))?;
            let Some(page) = Thrift::new(&head).page() else {
                return Err(StreamError::corrupt("the header of a page cannot be understood"));
            };
            let sizes = u64::try_from(page.plain)
                .ok()
                .zip(u64::try_from(page.stored).ok());
            let Some((plain, stored)) = sizes else {
                return Err(StreamError::corrupt("a page has a negative length"));
            };
            let next = at.checked_add(page.header as u64 + stored);
            let Some(next) = next.filter(|next| *next <= end) else {
                return Err(StreamError::corrupt("a page is longer than its column"));
            };
            let most = self.gauge.limits.document;
            if plain > most {
                let text = format!("a page has {plain} bytes, the limit is {most}");
                return Err(StreamError::unbounded(text));
            }
            // Each value becomes a row or an element of a list, and all of a row are decoded before they can be counted.
            values = values.saturating_add(u64::try_from(page.values).unwrap_or(u64::MAX));
            if values > self.gauge.values_left() {
                return Err(unfolded());
            }
            if values.saturating_mul(width) > self.gauge.left() {
                return Err(too_long());
            }
            self.decompress(at + page.header as u64, page, column.compression())?;
            longest = longest.max(plain);
            at = next;
        }
        Ok(longest)
    }

    /// Checks that a page does not decompress to more than its header states, for codecs with decoders that do not
    /// check it. A compressed page costs its decompression twice because of this, since the decoder takes files and not
    /// pages; trusting the stated sizes would let a single file end a run
    /// (docs/decisions/2026-11-23-parquet-page-check-before-decoding.md).
    fn decompress(&self, start: u64, page: Page, codec: Compression) -> Result<(), StreamError> {
        let skipped = u64::try_from(page.levels).unwrap_or(u64::MAX);
        let stored = u64::try_from(page.stored).unwrap_or_default();
        let plain = u64::try_from(page.plain).unwrap_or_default();
        if page.is_plain || skipped >= stored {
            return Ok(());
        }
        let read = |decoder: &mut dyn Read| {
            // Data that cannot be decompressed is reported by the decoder later.
            std::io::copy(&mut decoder.take(plain + 1), &mut std::io::sink()).unwrap_or_default()
        };
        let bytes = || self.stored.bytes(start + skipped, stored - skipped);
        let became = match codec {
            Compression::ZSTD(_) => {
                let bytes = bytes()?;
                let decoder = zstd::stream::read::Decoder::new(bytes.as_slice());
                decoder.map_or(0, |mut decoder| read(&mut decoder))
            }
            Compression::GZIP(_) => read(&mut flate2::read::MultiGzDecoder::new(bytes()?.as_slice())),
            Compression::LZ4 => read(&mut lz4_flex::frame::FrameDecoder::new(bytes()?.as_slice())),
            _ => 0,
        };
        if became > plain {
            let text = "a page decompresses to more bytes than its header states";
            return Err(StreamError::unbounded(text));
        }
        Ok(())
    }

    /// The number of bytes and rows of a row group, from the footer.
    fn size(&self, number: usize) -> (u64, u64) {
        let group = self.metadata.metadata().row_group(number);
        let sizes = [group.compressed_size(), group.num_rows()];
        let [bytes, rows] = sizes.map(|size| u64::try_from(size).unwrap_or_default());
        (bytes.min(self.stored.length()), rows)
    }

    /// The error for rows of the current row group that cannot be decoded.
    fn undecoded(&self) -> StreamError {
        let groups = self.metadata.metadata().row_groups();
        let columns = groups.iter().flat_map(RowGroupMetaData::columns);
        let mut codecs = columns.map(ColumnChunkMetaData::compression);
        if codecs.any(|codec| matches!(codec, Compression::BROTLI(_) | Compression::LZO)) {
            let text = "its columns are compressed by brotli or LZO, which is not read: write the table again with zstd or snappy";
            return StreamError::unsupported(text);
        }
        StreamError::corrupt("its rows cannot be decoded")
    }

    fn about(&self, broken: StreamError) -> StreamError {
        broken.about(format_args!("row group {}", self.next))
    }
}

impl Batches for Groups {
    fn next(&mut self) -> Option<Result<RecordBatch, StreamError>> {
        loop {
            // After an error or a panic of a decoder it is not called again.
            if let Some(mut reader) = self.reader.take() {
                match reader.next() {
                    Some(Ok(batch)) => {
                        self.given += batch.num_rows() as u64;
                        self.reader = Some(reader);
                        return Some(Ok(batch));
                    }
                    Some(Err(_)) => {
                        return Some(Err(self.about(self.undecoded())));
                    }
                    None => {}
                }
            }
            if self.next >= self.metadata.metadata().num_row_groups() {
                return None;
            }
            self.before = self
                .before
                .saturating_add(self.next.checked_sub(1).map_or(0, |last| self.size(last).0));
            self.given = 0;
            self.next += 1;
            match self.begin(self.next - 1) {
                Ok(reader) => self.reader = Some(reader),
                Err(broken) => return Some(Err(self.about(broken))),
            }
        }
    }

    /// All rows of a row group count as equally long.
    fn taken(&self) -> u64 {
        let (bytes, rows) = self.next.checked_sub(1).map_or((0, 0), |last| self.size(last));
        let given = u128::from(bytes) * u128::from(self.given.min(rows)) / u128::from(rows.max(1));
        let given = u64::try_from(given).unwrap_or_default();
        self.before.saturating_add(given).min(self.stored.length())
    }
}

/// The same column as a dictionary, so that each distinct text is decoded once.
fn shared(field: &FieldRef) -> FieldRef {
    let of = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        DataType::List(item) => DataType::List(shared(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(shared).collect()),
        DataType::Map(entries, is_sorted) => DataType::Map(shared(entries), *is_sorted),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(of))
}
