//! Bodies in compressions that not every `pg_dump` can write; the tests pack the blocks of a sample again.

use std::io::{Read as _, Write as _};

use super::{codes, read, rows, sample, split};
use crate::reader::testing::{lz4, zstd};

/// An integer of four bytes in a dump.
pub(super) fn int(value: u32) -> Vec<u8> {
    [&[0], &value.to_le_bytes()[..]].concat()
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::ZlibDecoder::new(packed)
        .read_to_end(&mut text)
        .unwrap();
    text
}

pub(super) fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Packs as `pg_dump` does: with blocks that refer to one another, and without checksums.
pub(super) fn linked_lz4(text: &[u8]) -> Vec<u8> {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    let layout = FrameInfo::new()
        .block_mode(BlockMode::Linked)
        .block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(layout, Vec::new());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The blocks of a dump, as ids and texts.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    let take = |bytes: &mut &[u8], count: usize| {
        let (taken, rest) = bytes.split_at(count);
        *bytes = rest;
        taken.to_vec()
    };
    let number = |bytes: &mut &[u8]| u32::from_le_bytes(take(bytes, 5)[1..].try_into().unwrap());
    while !bytes.is_empty() {
        assert_eq!(take(&mut bytes, 1), [1]);
        let id = number(&mut bytes);
        let mut packed = Vec::new();
        loop {
            match number(&mut bytes) {
                0 => break,
                length => packed.extend(take(&mut bytes, length as usize)),
            }
        }
        blocks.push((id, unpack(&packed)));
    }
    blocks
}

/// The dump with bodies that are packed again and cut into chunks.
pub(super) fn packed(method: u8, pack: fn(&[u8]) -> Vec<u8>, chunk: usize) -> Vec<u8> {
    /// The offset at which a header of version 1.16 names the compression.
    const METHOD: usize = 11;
    let (mut dump, rest) = split(&sample("five-rows/pg18-piped.dump"));
    assert_eq!(dump[METHOD], 1);
    dump[METHOD] = method;
    for (id, text) in blocks(&rest) {
        dump.push(1);
        dump.extend(int(id));
        for piece in pack(&text).chunks(chunk) {
            dump.extend(int(u32::try_from(piece.len()).unwrap()));
            dump.extend(piece);
        }
        dump.extend(int(0));
    }
    dump
}

#[test]
fn every_compression_gives_the_same_rows_however_it_is_cut_into_chunks() {
    let sample = read(&sample("five-rows/pg18-piped.dump"));
    for (method, pack) in [
        (0, <[u8]>::to_vec as fn(&[u8]) -> Vec<u8>),
        (1, zlib),
        (2, lz4),
        (2, linked_lz4),
        (3, zstd),
    ] {
        for chunk in [1, 7, 4096] {
            let entries = read(&packed(method, pack, chunk));
            assert_eq!(codes(&entries), [""; 0], "{method} {chunk}");
            assert_eq!(rows(&entries), rows(&sample), "{method} {chunk}");
            assert_eq!(entries[1].events, sample[1].events);
        }
    }
    let unknown = read(&packed(4, zlib, 4096));
    assert_eq!(codes(&unknown), ["unsupported-container"]);
}

#[test]
fn a_body_that_breaks_off_costs_its_own_table_only() {
    fn halved(text: &[u8]) -> Vec<u8> {
        let packed = zlib(text);
        // The length of its text identifies the table: only the larger one is corrupted.
        let length = if text.len() > 500 {
            packed.len() / 2
        } else {
            packed.len()
        };
        packed[..length].to_vec()
    }
    fn spoiled(text: &[u8]) -> Vec<u8> {
        let mut packed = lz4(text);
        if text.len() > 500 {
            let middle = packed.len() / 2;
            packed[middle] ^= 0xFF;
        }
        packed
    }
    let cut = read(&packed(1, halved, 100));
    assert_eq!(codes(&cut[..1]), ["truncated-stream"]);
    assert_eq!(codes(&cut[1..]), [""; 0]);
    assert!(cut[1].script().contains("K1 public.threads "));
    let corrupt = read(&packed(2, spoiled, 100));
    assert!(!codes(&corrupt[..1]).is_empty());
    assert_eq!(codes(&corrupt[1..]), [""; 0]);
}
