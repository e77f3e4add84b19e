//! Corrupts bytes with a seed: flips, cuts, splices, and changes that follow the syntax of JSON.

use std::ops::Range;

use chatmill_drawn::Random;

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
    "''",
    "');\n",
    "\\.\n",
    "$$",
    "/*",
    "INSERT INTO notes (id, text) VALUES (",
];

/// Changes `seed` one to eight times; parts may come from `others`. Half of the time the result remains JSON, so that
/// the code after the parser is reached.
pub fn mutate(seed: &[u8], others: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    let is_careful = random.once_in(2);
    for _ in 0..=random.below(3) + random.below(6) {
        match random.below(3) {
            0 if is_careful => change_element(&mut bytes, others, random),
            _ if is_careful => change_token(&mut bytes, others, random),
            _ => change(&mut bytes, others, random),
        }
        // The length is limited, so that repeated parts do not turn the campaign into a test of memory.
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

/// Replaces a name by a name, or a value by a value, so that the text usually remains JSON.
fn change_token(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let tokens = tokens(bytes);
    let Some(token) = random.pick(&tokens).cloned() else {
        return;
    };
    let is_name = token.is_name;
    let another = |text: &[u8], tokens: &[Token], random: &mut Random| {
        let alike: Vec<&Token> = tokens.iter().filter(|other| other.is_name == is_name).collect();
        random
            .pick(&alike)
            .map(|other| text[other.place.clone()].to_vec())
    };
    let new = match random.below(6) {
        // From elsewhere in the same text, so that ids repeat and references match.
        0..=2 => another(bytes, &tokens, random),
        3 => {
            let other = random.pick(others).map_or(&[][..], Vec::as_slice);
            another(other, &self::tokens(other), random)
        }
        4 if !is_name => {
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
            random.pick(&values).map(|value| value.as_bytes().to_vec())
        }
        _ => {
            let trick = random.pick(TRICKS).copied().unwrap_or_default();
            let whole = trick.strip_suffix('\\').unwrap_or(trick);
            Some(format!("\"{}\"", whole.replace(['"', '\n', '\r', '\t', '\u{0}'], "")).into_bytes())
        }
    };
    if let Some(new) = new {
        bytes.splice(token.place, new);
    }
}

/// Duplicates, removes or exchanges an object or array.
fn change_element(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let Some(place) = element(bytes, random) else {
        return;
    };
    let own = bytes[place.clone()].to_vec();
    let follows_comma_or_opens = bytes[..place.start]
        .iter()
        .rfind(|byte| !byte.is_ascii_whitespace());
    let is_in_array = matches!(follows_comma_or_opens, Some(b'[' | b',')) && own.first() == Some(&b'{');
    let new = match random.below(4) {
        0 if is_in_array => [own.as_slice(), b",", &own].concat(),
        1 => b"null".to_vec(),
        2 => element(bytes, random).map_or(own, |other| bytes[other].to_vec()),
        _ => {
            let other = random.pick(others).map_or(&[][..], Vec::as_slice);
            element(other, random).map_or(own, |place| other[place].to_vec())
        }
    };
    if new.len() < 64 * 1024 {
        bytes.splice(place, new);
    }
}

/// The range of a random object or array, from its first to its last bracket.
fn element(bytes: &[u8], random: &mut Random) -> Option<Range<usize>> {
    let strings = tokens(bytes);
    let is_inside = |at: usize| {
        let next = strings.partition_point(|token| token.place.end <= at);
        strings.get(next).is_some_and(|token| token.place.contains(&at))
    };
    let brackets: Vec<usize> = (0..bytes.len())
        .filter(|at| b"{}[]".contains(&bytes[*at]) && !is_inside(*at))
        .collect();
    let openings: Vec<usize> = (0..brackets.len())
        .filter(|index| b"{[".contains(&bytes[brackets[*index]]))
        .collect();
    let first = *random.pick(&openings)?;
    let mut depth = 0_u32;
    for at in &brackets[first..] {
        depth = if b"{[".contains(&bytes[*at]) {
            depth + 1
        } else {
            depth.saturating_sub(1)
        };
        if depth == 0 {
            return Some(brackets[first]..at + 1);
        }
    }
    None
}

/// A string or a bare scalar.
#[derive(Clone, Debug)]
struct Token {
    place: Range<usize>,
    /// Whether a colon follows the token.
    is_name: bool,
}

/// The ranges of strings and bare scalars. They are a guess, because the text may be broken.
fn tokens(bytes: &[u8]) -> Vec<Token> {
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
        } else if bytes[start].is_ascii_alphanumeric() || bytes[start] == b'-' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || b"+-.".contains(&bytes[at])) {
                at += 1;
            }
        } else {
            continue;
        }
        let next = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
        tokens.push(Token {
            place: start..at,
            is_name: next == Some(&b':'),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_strings_and_scalars_and_mark_names() {
        let text = br#"{"a\"b" : [1.5e3, null], "c"#;
        let tokens: Vec<(&[u8], bool)> = tokens(text)
            .into_iter()
            .map(|token| (&text[token.place], token.is_name))
            .collect();
        assert_eq!(
            tokens,
            [
                (&br#""a\"b""#[..], true),
                (b"1.5e3", false),
                (b"null", false),
                (b"\"c", false)
            ]
        );
    }

    #[test]
    fn a_drawn_element_is_a_whole_json_value() {
        let text = br#"{"a":[1,{"b":"]}"}],"c":{}}"#;
        let mut random = Random::new(2);
        for _ in 0..50 {
            let found = &text[element(text, &mut random).unwrap()];
            assert!(
                serde_json::from_slice::<serde_json::Value>(found).is_ok(),
                "{found:?}"
            );
        }
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
    fn half_of_the_mutations_are_still_json() {
        let seed = br#"{"id":"m1","content":"hello","refer_list":["m0"],"extra":{"a":[1,2,{"b":null}]}}"#;
        let mut random = Random::new(5);
        let readable = (0..1_000)
            .filter(|_| serde_json::from_slice::<serde_json::Value>(&mutate(seed, &[], &mut random)).is_ok())
            .count();
        assert!(readable > 450, "{readable}");
    }
}
