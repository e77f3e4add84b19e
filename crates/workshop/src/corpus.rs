//! A corpus for campaigns: group chats with every irregularity, deterministic, in several files and two kinds of archive.
//!
//! The archives are written here, uncompressed: only intake unpacks, and nothing else needs a packer.

use std::fmt::Write;

use crate::test_dir::TestDir;
use chatmill_drawn::Random;

const WORDS: &[&str] = &[
    "tide",
    "ledger",
    "кава",
    "harbour",
    "早安",
    "lantern",
    "ticket",
    "été",
    "rope",
    "\\\"quoted\\\"",
    "line\\nbreak",
    "🦀",
    "deploy",
    "beans",
    "https://example.org/a?b=c",
    "meeting",
];

/// Writes `megabytes` of chats into `in/`: lines in three files, one gzip and one zip.
pub fn write(test_dir: &TestDir, megabytes: usize, seed: u64) {
    let mut random = Random::new(seed);
    let part_bytes = megabytes * 1_000_000 / 5;
    let mut next = 0;
    let mut lines = || lines(part_bytes, &mut next, &mut random);
    test_dir.write("in/a.jsonl", lines());
    test_dir.write("in/b.jsonl", lines());
    test_dir.write("in/deeper/c.jsonl", lines());
    test_dir.write("in/d.jsonl.gz", gzip(lines().as_bytes()));
    let inside = lines();
    let (first, second) = inside.split_at(inside.find('\n').map_or(0, |at| at + 1));
    test_dir.write(
        "in/e.zip",
        zip(&[
            ("first.json", first.as_bytes()),
            ("rest/second.jsonl", second.as_bytes()),
        ]),
    );
}

/// The lines of one file. Occasionally a line is broken, or has the id of an earlier one.
fn lines(bytes: usize, next: &mut u32, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes + 8_192);
    while text.len() < bytes {
        *next += 1;
        // The first line is never broken: it decides how the file is cut.
        if next.is_multiple_of(23) && !text.is_empty() {
            text.push_str("{\"conversation_list\": [1, 2\n");
        }
        let id = if next.is_multiple_of(37) { *next - 1 } else { *next };
        conversation(&mut text, id, random);
    }
    text
}

fn conversation(text: &mut String, id: u32, random: &mut Random) {
    let _ = write!(
        text,
        r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"room-{id}","name":"Room {id}","scene":"group_chat","scene_desc":{{}},"default_timezone":"Europe/Kyiv","user_details":{{"u0":{{"full_name":"Ann","role":"user"}},"u1":{{"full_name":"Тарас","role":"user"}},"bot_1":{{"full_name":"Helper","role":"assistant"}}}}}},"conversation_list":["#
    );
    let messages = 2 + random.below(40);
    for message in 0..messages {
        if message > 0 {
            text.push(',');
        }
        let sender =
            ["u0", "u1", "bot_1", "stranger"][random.below(40) % 4 * usize::from(random.below(9) > 0)];
        let kind = if random.once_in(12) { "image" } else { "text" };
        let _ = write!(
            text,
            r#"{{"message_id":"m{}","create_time":"2026-01-02T03:{:02}:{:02}Z","sender":"{sender}","type":"{kind}","content":""#,
            if random.once_in(60) { 0 } else { message },
            message / 60 % 60,
            message % 60
        );
        for _ in 0..4 + random.below(60) {
            text.push_str(WORDS[random.below(WORDS.len())]);
            text.push(' ');
        }
        if random.once_in(50) {
            text.push_str("\\ud83d");
        }
        text.push_str("\",\"refer_list\":[");
        if random.once_in(4) {
            let _ = write!(text, r#""m{}""#, random.below(messages + 2));
        }
        text.push_str("]}");
    }
    text.push_str("]}\n");
}

/// A gzip of stored blocks.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks = bytes.chunks(0xffff);
    let last = blocks.len().saturating_sub(1);
    for (number, block) in blocks.enumerate() {
        packed.push(u8::from(number == last));
        packed.extend((block.len() as u16).to_le_bytes());
        packed.extend((!(block.len() as u16)).to_le_bytes());
        packed.extend(block);
    }
    packed.extend(crc32(bytes).to_le_bytes());
    packed.extend((bytes.len() as u32).to_le_bytes());
    packed
}

/// A zip of stored entries.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut packed, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let offset = packed.len() as u32;
        // Version, flags, method, time, date (1980-01-01), then checksum and lengths.
        let mut shared = Vec::new();
        for field in [20_u16, 0x0800, 0, 0, 0x21] {
            shared.extend(field.to_le_bytes());
        }
        for field in [crc32(bytes), bytes.len() as u32, bytes.len() as u32] {
            shared.extend(field.to_le_bytes());
        }
        shared.extend((name.len() as u16).to_le_bytes());
        shared.extend(0_u16.to_le_bytes());
        packed.extend(b"PK\x03\x04");
        packed.extend(&shared);
        packed.extend(name.as_bytes());
        packed.extend(*bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&shared);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, length) = (packed.len() as u32, directory.len() as u32);
    packed.extend(directory);
    packed.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        packed.extend((entries.len() as u16).to_le_bytes());
    }
    packed.extend(length.to_le_bytes());
    packed.extend(start.to_le_bytes());
    packed.extend([0; 2]);
    packed
}

/// The checksum of zip and gzip (CRC-32 of IEEE 802.3).
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (index, entry) in table.iter_mut().enumerate() {
        let mut value = index as u32;
        for _ in 0..8 {
            value = if value & 1 == 1 {
                0xEDB8_8320 ^ (value >> 1)
            } else {
                value >> 1
            };
        }
        *entry = value;
    }
    !bytes.iter().fold(!0, |crc, byte| {
        table[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8)
    })
}
