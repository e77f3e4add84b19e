//! The finished pages of a column in a row group, compressed and kept until the row group is written.

use std::collections::VecDeque;
use std::io::{self, Read};

use bytes::{Buf, Bytes};
use parquet::basic::Encoding;
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk;

use super::empty;
use crate::parquet::compression::Compression;

/// The approximate maximum length of a page header, in bytes; only the reserved memory depends on it.
const HEADER: usize = 128;

/// Compresses the pages of all columns of a set of files.
pub(crate) struct Compressor {
    compression: Compression,
    /// Created for the first page.
    zstd: Option<bulk::Compressor<'static>>,
    out: Vec<u8>,
}

impl Compressor {
    pub(crate) fn new(compression: Compression) -> Self {
        Self {
            compression,
            zstd: None,
            out: Vec::new(),
        }
    }

    fn compress(&mut self, page: &[u8]) -> io::Result<Bytes> {
        let Compression::Zstd(level) = self.compression else {
            return Ok(Bytes::copy_from_slice(page));
        };
        let zstd = match &mut self.zstd {
            Some(zstd) => zstd,
            none => none.insert(bulk::Compressor::new(level.compression_level())?),
        };
        self.out.reserve(zstd::zstd_safe::compress_bound(page.len()));
        zstd.compress_to_buffer(page, &mut self.out)?;
        let packed = Bytes::copy_from_slice(&self.out);
        empty(&mut self.out);
        Ok(packed)
    }
}

/// The counts of a page, which are kept outside its bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct PageCounts {
    /// Rows that begin in the page.
    pub(crate) rows: u32,
    /// Values, including missing ones.
    pub(crate) values: u32,
    /// Missing values.
    pub(crate) nulls: u32,
}

/// The finished pages of a column in a row group, with their statistics for the footer.
#[derive(Default)]
pub(crate) struct Pages {
    finished: VecDeque<Bytes>,
    index: Option<OffsetIndexBuilder>,
    encodings: Vec<Encoding>,
    compressed: usize,
    uncompressed: usize,
    rows: u64,
    values: u64,
    nulls: u64,
}

impl Pages {
    /// Adds a page, given its levels and values.
    pub(crate) fn add(
        &mut self,
        page: &[u8],
        encoding: Encoding,
        counts: PageCounts,
        compressor: &mut Compressor,
    ) -> Result<()> {
        let data = Page::DataPage {
            buf: compressor.compress(page)?,
            num_values: counts.values,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let offset = self.compressed;
        let written = self.written(data, page.len(), encoding)?;
        let index = self.index.get_or_insert_with(OffsetIndexBuilder::new);
        let size = i32::try_from(written.len());
        let size = size.map_err(|_| ParquetError::General("a page has more than 2 GiB".to_owned()))?;
        index.append_offset_and_size(signed(offset), size);
        index.append_row_count(counts.rows.into());
        self.finished.push_back(written);
        self.rows += u64::from(counts.rows);
        self.values += u64::from(counts.values);
        self.nulls += u64::from(counts.nulls);
        Ok(())
    }

    fn written(&mut self, page: Page, bytes: usize, encoding: Encoding) -> Result<Bytes> {
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
        let mut out = TrackedWrite::new(Vec::with_capacity(page.buffer().len() + HEADER));
        let written = SerializedPageWriter::new(&mut out).write_page(CompressedPage::new(page, bytes))?;
        self.compressed += written.compressed_size;
        self.uncompressed += written.uncompressed_size;
        Ok(out.into_inner()?.into())
    }

    /// The number of missing values so far.
    pub(crate) fn nulls(&self) -> u64 {
        self.nulls
    }

    /// The entry of the column in the footer, once all its pages are written. A dictionary page, if any, is before the others.
    pub(crate) fn close(
        &mut self,
        of: &ColumnDescPtr,
        dictionary: Option<(Vec<u8>, u32)>,
        statistics: Option<Statistics>,
        compressor: &mut Compressor,
    ) -> Result<ColumnCloseResult> {
        let mut before = 0;
        if let Some((values, count)) = dictionary {
            let page = Page::DictionaryPage {
                buf: compressor.compress(&values)?,
                num_values: count,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written = self.written(page, values.len(), Encoding::PLAIN)?;
            before = written.len();
            self.finished.push_front(written);
        }
        let mut encodings = vec![Encoding::RLE];
        encodings.extend(
            self.encodings
                .iter()
                .copied()
                .filter(|known| *known != Encoding::RLE),
        );
        let mut metadata = ColumnChunkMetaData::builder(of.clone())
            .set_compression(compressor.compression.of_parquet())
            .set_encodings(encodings)
            .set_total_compressed_size(signed(self.compressed))
            .set_total_uncompressed_size(signed(self.uncompressed))
            .set_num_values(self.values.cast_signed())
            .set_data_page_offset(0);
        if let Some(statistics) = statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: self.compressed as u64,
            rows_written: self.rows,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: self.index.take().map(OffsetIndexBuilder::build),
        };
        close.update_dictionary_location(before)
    }
}

/// A length as the footer stores it; no row group has 8 EiB.
fn signed(bytes: usize) -> i64 {
    (bytes as u64).cast_signed()
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.compressed as u64
    }
}

impl ChunkReader for Pages {
    type T = PageBytes;

    fn get_read(&self, start: u64) -> Result<PageBytes> {
        let mut rest = PageBytes(self.finished.clone());
        io::copy(&mut rest.by_ref().take(start), &mut io::sink())?;
        Ok(rest)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = Vec::new();
        self.get_read(start)?
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads pages one after the other.
pub(crate) struct PageBytes(VecDeque<Bytes>);

impl Read for PageBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(page) = self.0.front_mut() {
            if page.is_empty() {
                self.0.pop_front();
                continue;
            }
            let count = page.len().min(buffer.len());
            page.copy_to_slice(buffer.split_at_mut(count).0);
            return Ok(count);
        }
        Ok(0)
    }
}
