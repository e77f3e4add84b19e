//! Seeded damage to bytes: flips, cuts, splices, and changes that know what JSON looks like.

use crate::random::Random;

/// Text that has broken parsers and formats before.
const TRICKS: &[&str] = &[
    "\\ud83d",
    "\\udc00\\ud83d",
    "\\u0000",
    "\u{0}",
    "\u{feff}",
    "\u{2028}",
    "null",
    "true",
    "-0",
    "1e999",
    "123456789012345678901234567890",
    "0.1",
    "[]",
    "{}",
    "\"\"",
    "[[[[[[[[",
    "]]]]",
    "{\"a\":",
    "}",
    "\"",
    "\\",
    ",",
    ":",
    "\n",
    "\r\n",
    "\t",
    "user_1",
    "m1",
    "tool",
    "assistant",
    "system",
    "image",
    "https://",
    "data:image/png;base64,AA==",
    "[meta]",
    "[RESPOND]",
    "<|im_start|>",
    "<|endoftext|>",
    "2026-13-40T25:61:61Z",
    "0000-01-01T00:00:00Z",
    "Europe/Nowhere",
    "[Image: x](attachment:1)",
    "{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
    "\u{200b}",
    "👩\u{200d}👩\u{200d}👧",
    "\u{202e}",
];

/// Bytes made of `seed` by one to eight changes; `others` lend parts.
pub fn mutate(seed: &[u8], others: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(3) + random.below(6) {
        change(&mut bytes, others, random);
        // Repeated stretches must not make the campaign a memory test.
        bytes.truncate(1 << 20);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(12) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
        2 if random.once_in(4) => bytes.truncate(at),
        2 | 3 => {
            let end = (at + 1 + random.below(40)).min(bytes.len());
            bytes.drain(at..end.max(at));
        }
        4 => {
            let end = (at + random.below(200)).min(bytes.len());
            let stretch = bytes[at..end].repeat(1 + random.below(4));
            insert(bytes, at, &stretch);
        }
        5 => {
            if let Some(other) = random.pick(others) {
                let start = random.below(other.len() + 1);
                let end = (start + random.below(300)).min(other.len());
                let stretch = other[start..end].to_vec();
                insert(bytes, at, &stretch);
            }
        }
        6 => {
            let trick = random.pick(TRICKS).copied().unwrap_or_default();
            insert(bytes, at, trick.as_bytes());
        }
        _ => change_token(bytes, others, random),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, stretch: &[u8]) {
    bytes.splice(at..at, stretch.iter().copied());
}

/// Replaces a string, name or scalar by another one, so that the text mostly stays JSON.
fn change_token(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let tokens = tokens(bytes);
    let Some(token) = random.pick(&tokens).cloned() else {
        return;
    };
    let new: Vec<u8> = match random.below(6) {
        // A name or value from elsewhere in the same text: ids that repeat, references that meet.
        0 | 1 => random
            .pick(&tokens)
            .map(|other| bytes[other.clone()].to_vec())
            .unwrap_or_default(),
        2 => {
            let other = random.pick(others).map_or(&[][..], Vec::as_slice);
            let tokens = self::tokens(other);
            random
                .pick(&tokens)
                .map(|token| other[token.clone()].to_vec())
                .unwrap_or_default()
        }
        3 => {
            let values = [
                "null",
                "true",
                "0",
                "-1.5e3",
                "[]",
                "{}",
                "\"\"",
                "[null]",
                "{\"a\":1}",
                "\"x\"",
                "1e999",
            ];
            random
                .pick(&values)
                .map(|value| value.as_bytes().to_vec())
                .unwrap_or_default()
        }
        4 => {
            let trick = random.pick(TRICKS).copied().unwrap_or_default();
            format!("\"{}\"", trick.replace(['"', '\n', '\r', '\t', '\u{0}'], "")).into_bytes()
        }
        _ => {
            let old = bytes[token.clone()].to_vec();
            [old.as_slice(), b",", &old].concat()
        }
    };
    bytes.splice(token, new);
}

/// Where strings and bare scalars stand. A guess is enough: the text may be broken.
fn tokens(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        if bytes[start] == b'"' {
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            tokens.push(start..at);
        } else if bytes[start].is_ascii_alphanumeric() || bytes[start] == b'-' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || b"+-.".contains(&bytes[at])) {
                at += 1;
            }
            tokens.push(start..at);
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_strings_and_scalars() {
        let text = br#"{"a\"b": [1.5e3, null], "c"#;
        let tokens: Vec<&[u8]> = tokens(text).into_iter().map(|token| &text[token]).collect();
        assert_eq!(tokens, [&br#""a\"b""#[..], b"1.5e3", b"null", b"\"c"]);
    }

    #[test]
    fn equal_seeds_mutate_alike_and_most_mutations_change_something() {
        let seed = br#"{"id":"m1","content":"hello","refer_list":["m0"]}"#;
        let others = [b"[1,2,3]".to_vec()];
        let mut changed = 0;
        for number in 0..200 {
            let one = mutate(seed, &others, &mut Random::new(number));
            assert_eq!(one, mutate(seed, &others, &mut Random::new(number)));
            changed += u32::from(one != seed);
        }
        assert!(changed > 180, "{changed}");
    }

    #[test]
    fn many_mutations_are_still_json() {
        let seed = br#"{"id":"m1","content":"hello","refer_list":["m0"],"extra":{"a":[1,2,{"b":null}]}}"#;
        let mut random = Random::new(5);
        let readable = (0..1_000)
            .filter(|_| serde_json::from_slice::<serde_json::Value>(&mutate(seed, &[], &mut random)).is_ok())
            .count();
        assert!(readable > 80, "{readable}");
    }
}
