use std::io::Write;

use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;

use crate::event::{Event, Framing};
use crate::reader::Reader;
use crate::reader::testing::{CODECS, Entry, gzip, read, read_all, read_one, small, tar, xz, zstd};

const LINES: &[u8] = b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n";

/// Checks that an entry is the same as without compression.
fn assert_like_plain(entry: &Entry, plain: &[u8], context: &str) {
    assert_eq!(entry, &read_one(plain, &Limits::default()), "{context}");
}

#[test]
fn every_codec_is_recognised_by_its_content() {
    for (name, pack) in CODECS {
        assert_like_plain(&read_one(&pack(LINES), &Limits::default()), LINES, name);
        assert_like_plain(&read_one(&pack(b""), &Limits::default()), b"", name);
    }
}

/// A text with its mark in units of two or four bytes, with the lower byte first or last.
fn wide(text: &str, length: usize, is_upper_first: bool) -> Vec<u8> {
    let marked = format!("\u{FEFF}{text}");
    let units: Vec<u32> = match length {
        2 => marked.encode_utf16().map(u32::from).collect(),
        _ => marked.chars().map(u32::from).collect(),
    };
    let bytes = units.into_iter().flat_map(|unit| {
        let mut bytes = unit.to_be_bytes()[4 - length..].to_vec();
        if !is_upper_first {
            bytes.reverse();
        }
        bytes
    });
    bytes.collect()
}

const FORMS: [(usize, bool, &str); 4] = [
    (2, false, "UTF-16LE"),
    (2, true, "UTF-16BE"),
    (4, false, "UTF-32LE"),
    (4, true, "UTF-32BE"),
];

#[test]
fn text_in_utf16_and_utf32_is_read_as_in_utf8_and_noted() {
    // The text is longer than a buffer, so that pairs and units are cut somewhere.
    let text = "{\"a\":\"x\u{1F600}é\"}\n".repeat(5_000);
    let plain = read_one(text.as_bytes(), &Limits::default());
    assert_eq!(plain.frames.len(), 5_000);
    for (length, is_upper_first, name) in FORMS {
        let bytes = wide(&text, length, is_upper_first);
        for bytes in [gzip(&bytes), tar(&[("a.jsonl", &bytes)]), bytes] {
            let entry = read_one(&bytes, &Limits::default());
            assert_eq!(entry.frames, plain.frames, "{name}");
            assert_eq!(entry.codes(), ["(byte-order-mark)"], "{name}");
        }
    }
}

#[test]
fn half_a_pair_is_a_noted_replacement_character_and_half_a_unit_is_an_error() {
    for (length, is_upper_first, name) in FORMS {
        let wide = |text: &str| wide(text, length, is_upper_first);
        let mut half = 0xD83D_u32.to_be_bytes()[4 - length..].to_vec();
        if !is_upper_first {
            half.reverse();
        }
        let mut lone = wide("{\"a\":1}\n{\"b\":\"");
        lone.extend(half);
        lone.extend(wide("\"}\n{\"c\":3}\n").split_off(length));
        let entry = read_one(&lone, &Limits::default());
        assert_eq!(entry.frames.len(), 3, "{name}");
        assert_eq!(entry.frames[1], "{\"b\":\"\u{FFFD}\"}".as_bytes(), "{name}");
        assert_eq!(entry.codes(), ["(byte-order-mark)", "(lone-surrogate)"], "{name}");
        let mut cut = wide("{\"a\":1}\n");
        cut.push(b'{');
        let entry = read_one(&cut, &Limits::default());
        assert!(
            entry
                .frames
                .iter()
                .any(|frame| std::str::from_utf8(frame).is_err()),
            "{name}: half a unit is told"
        );
    }
}

#[test]
fn compressions_around_one_another_are_taken_off() {
    for (outer, wrap) in CODECS {
        for (inner, pack) in CODECS {
            assert_like_plain(
                &read_one(&wrap(&pack(LINES)), &Limits::default()),
                LINES,
                &format!("{outer} {inner}"),
            );
        }
        let archive = wrap(&tar(&[("a.json", LINES), ("b.json.gz", &gzip(LINES))]));
        let entries = read(&archive, &Limits::default());
        assert_eq!(
            entries
                .iter()
                .map(|entry| entry.name.as_str())
                .collect::<Vec<_>>(),
            ["a.json", "b.json.gz"]
        );
        assert!(
            entries
                .iter()
                .all(|entry| entry.frames.len() == 3 && entry.codes().is_empty()),
            "{outer}"
        );
    }
}

#[test]
fn the_ninth_compression_is_too_much() {
    let mut bytes = LINES.to_vec();
    for layers in 1..=9 {
        bytes = gzip(&bytes);
        let entry = read_one(&bytes, &Limits::default());
        let expected: &[&str] = if layers <= 8 {
            &[]
        } else {
            &["unsupported-container"]
        };
        assert_eq!(entry.codes(), expected, "{layers}");
    }
}

#[test]
fn several_members_are_one_stream() {
    let (first, second) = LINES.split_at(11);
    for (name, pack) in CODECS {
        let members = [pack(b""), pack(first), pack(b""), pack(second), pack(b"")].concat();
        assert_like_plain(&read_one(&members, &Limits::default()), LINES, name);
        let padded = [pack(first), vec![0; 1_024], pack(second), vec![0; 70_000]].concat();
        assert_like_plain(&read_one(&padded, &Limits::default()), LINES, name);
    }
    let skippable = b"\x5A\x2A\x4D\x18\x03\0\0\0abc";
    let frames = [&skippable[..], &zstd(first), skippable, &zstd(second), skippable].concat();
    assert_like_plain(&read_one(&frames, &Limits::default()), LINES, "skippable frames");
}

#[test]
fn garbage_after_the_stream_is_noted() {
    for (name, pack) in CODECS {
        let entry = read_one(
            &[pack(LINES), b"\0\0garbage".to_vec()].concat(),
            &Limits::default(),
        );
        assert_eq!(
            (entry.codes(), entry.frames.len()),
            (vec!["(trailing-garbage)".to_owned()], 3),
            "{name}"
        );
    }
}

#[test]
fn a_stream_cut_anywhere_never_counts_as_complete() {
    let whole = read_one(LINES, &Limits::default());
    for (name, pack) in CODECS {
        let packed = [pack(&LINES[..13]), pack(&LINES[13..])].concat();
        let boundary = pack(&LINES[..13]).len();
        for cut in 1..packed.len() {
            let entry = read_one(&packed[..cut], &Limits::default());
            if cut == boundary {
                // No byte announces the second member; its data ends in an unfinished line.
                continue;
            }
            let codes = entry.codes();
            assert_eq!(codes.len(), 1, "{name} cut at {cut}: {codes:?}");
            let few = cut < 6;
            assert!(
                codes[0] == "truncated-stream" || (few && codes[0] == "invalid-json"),
                "{name} {cut}: {codes:?}"
            );
            assert!(whole.frames.starts_with(&entry.frames), "{name} {cut}");
        }
    }
}

#[test]
fn a_cut_stream_keeps_the_records_before_the_cut() {
    let lines: Vec<String> = (0..20_000)
        .map(|number| format!("{{\"number\":{number},\"text\":\"{:x}\"}}\n", number * 7_919))
        .collect();
    let text = lines.concat();
    for (name, pack) in CODECS {
        let packed = pack(text.as_bytes());
        let entry = read_one(&packed[..packed.len() - 5], &Limits::default());
        assert_eq!(entry.codes(), ["truncated-stream"], "{name}");
        assert!(entry.frames.len() > 1_000, "{name} {}", entry.frames.len());
        let Some(Event::FramingError(error)) = entry.events.last() else {
            panic!("the damage is last")
        };
        assert_eq!(error.end, entry.decoded);
        let line_start = text
            .get(..error.start as usize)
            .unwrap()
            .rfind('\n')
            .map_or(0, |at| at + 1);
        assert_eq!(
            error.start as usize, line_start,
            "{name}: the damage begins with the unfinished record"
        );
    }
}

#[test]
fn a_flipped_bit_is_never_silent() {
    let lines: Vec<String> = (0..200)
        .map(|number| format!("{{\"number\":{number}}}\n"))
        .collect();
    let text = lines.concat();
    let whole = read_one(text.as_bytes(), &Limits::default()).frames;
    for (name, pack) in CODECS {
        let packed = pack(text.as_bytes());
        for at in chatmill_drawn::some_of(0..packed.len(), 200) {
            let mut flipped = packed.clone();
            flipped[at] ^= 1 << (at % 8);
            let entry = read_one(&flipped, &Limits::default());
            // No checksum covers, for example, the time stamp, the flags and the system of gzip.
            assert!(
                !entry.codes().is_empty() || entry.frames == whole,
                "{name}: bit of byte {at}"
            );
        }
    }
}

#[test]
fn a_bomb_stops_at_the_limit_and_the_records_before_it_stay() {
    let mut text = LINES.to_vec();
    text.resize(10 << 20, b' ');
    for (name, pack) in CODECS {
        let entry = read_one(&pack(&text), &small());
        assert_eq!(entry.frames.len(), 3, "{name}");
        assert_eq!(entry.codes(), ["decompression-limit"], "{name}");
        assert_eq!(entry.decoded, MIB, "{name}");
        let zeros = read_one(&pack(&vec![0; 10 << 20]), &small());
        assert_eq!(
            (zeros.codes(), zeros.decoded),
            (vec!["decompression-limit".to_owned()], MIB),
            "{name}"
        );
    }
}

#[test]
fn the_decompression_limit_holds_to_the_byte() {
    for (name, pack) in CODECS {
        for (length, codes) in [(MIB - 1, 0), (MIB, 0), (MIB + 1, 1)] {
            let mut text = LINES.to_vec();
            text.resize(length as usize, b'\n');
            let entry = read_one(&pack(&text), &small());
            assert_eq!(
                (entry.codes().len(), entry.decoded),
                (codes, length.min(MIB)),
                "{name} {length}"
            );
        }
    }
    let limits = Limits {
        decompressed_floor: 0,
        decompressed_ratio: 10,
        ..small()
    };
    let packed = gzip(&[b' '; 10_000]);
    assert_eq!(
        read_one(&packed, &limits).decoded,
        packed.len() as u64 * 10,
        "the ratio counts stored bytes"
    );
    let limits = Limits {
        decompressed_ceiling: 5_000,
        ..small()
    };
    assert_eq!(
        read_one(&packed, &limits).decoded,
        5_000,
        "the ceiling comes last"
    );
}

#[test]
fn plain_text_has_no_decompression_limit() {
    let limits = Limits {
        decompressed_floor: 10,
        decompressed_ratio: 0,
        ..small()
    };
    assert_eq!(read_one(LINES, &limits).frames.len(), 3);
    assert_eq!(read(&tar(&[("a", LINES)]), &limits)[0].frames.len(), 3);
}

#[test]
fn a_window_above_the_limit_is_refused_before_anything_is_decoded() {
    // A zstd frame of unknown length with a window of 2^24 bytes, and xz with a dictionary of 8 MiB.
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(24).unwrap();
    encoder.write_all(LINES).unwrap();
    let packed = encoder.finish().unwrap();
    for (log, refused) in [(23, true), (24, false), (25, false)] {
        let entry = read_one(
            &packed,
            &Limits {
                zstd_window_log: log,
                ..Limits::default()
            },
        );
        let expected: &[&str] = if refused { &["decompression-limit"] } else { &[] };
        assert_eq!(entry.codes(), expected, "{log}");
        assert_eq!(entry.decoded, if refused { 0 } else { LINES.len() as u64 });
    }
    let options = liblzma::stream::LzmaOptions::new_preset(9).unwrap();
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&options);
    let stream =
        liblzma::stream::Stream::new_stream_encoder(&filters, liblzma::stream::Check::Crc64).unwrap();
    let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    encoder.write_all(LINES).unwrap();
    let packed = encoder.finish().unwrap();
    let codes = |log| {
        read_one(
            &packed,
            &Limits {
                zstd_window_log: log,
                ..Limits::default()
            },
        )
        .codes()
    };
    assert_eq!(codes(27), [""; 0], "64 MiB of dictionary are fine");
    assert_eq!(codes(24), ["decompression-limit"]);
}

#[test]
fn unsupported_containers_are_named() {
    for (magic, name) in [
        (&b"7z\xBC\xAF\x27\x1C\0\x04"[..], "7z"),
        (b"Rar!\x1A\x07\x01\0", "RAR"),
        (b"LZIP\x01rest", "lzip"),
        (b"PK\x03\x04rest", "zip"),
    ] {
        for (bytes, place) in [(magic.to_vec(), "plain"), (gzip(magic), "compressed")] {
            let entry = read_one(&bytes, &Limits::default());
            assert_eq!(entry.codes(), ["unsupported-container"], "{name} {place}");
            let Some(Event::FramingError(error)) = entry.events.first() else {
                panic!()
            };
            assert!(error.message.contains(name), "{}", error.message);
            assert_eq!(
                (error.start, error.end, entry.head.framing),
                (0, 0, Framing::Empty)
            );
        }
    }
}

#[test]
fn the_hash_covers_undecoded_bytes() {
    let limits = Limits {
        decompressed_floor: 10,
        decompressed_ratio: 0,
        ..small()
    };
    let noise: Vec<u8> = (0..400_000_u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for bytes in [
        gzip(&noise),
        xz(&noise),
        zstd(&noise),
        [gzip(LINES), noise.clone()].concat(),
    ] {
        let length = bytes.len() as u64;
        let mut reader = Reader::of_stream(
            Box::new(std::io::Cursor::new(bytes.clone())),
            Some(length),
            &limits,
        );
        read_all(&mut reader);
        assert_eq!(
            reader.raw_hash(&mut |_| true).unwrap(),
            Some(blake3::hash(&bytes))
        );
        assert_eq!(reader.raw_bytes_read(), length);
    }
}
