//! Numbers of shards on the command line, such as `3,7-9`.

/// Reads a list of numbers and ranges; returns it sorted and without duplicates.
///
/// # Errors
///
/// The part that is neither a number nor a range.
pub fn parse(text: &str) -> Result<Vec<u32>, String> {
    let mut numbers = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            (Ok(first), Ok(last)) if first <= last && last - first < MOST => numbers.extend(first..=last),
            _ => return Err(format!("`{part}` is neither a number nor a range such as 7-9")),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The most numbers in a range.
const MOST: u32 = 10_000_000;

/// Writes sorted numbers in the form that [`parse`] reads.
pub fn ranges(numbers: &[u32]) -> String {
    let mut parts = Vec::new();
    for run in numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next)) {
        match run {
            [] => {}
            [only] => parts.push(only.to_string()),
            [first, .., last] => parts.push(format!("{first}-{last}")),
        }
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written_as_ranges() {
        for (text, numbers) in [("3", &[3][..]), ("3,7-9", &[3, 7, 8, 9]), ("0-1", &[0, 1])] {
            assert_eq!(parse(text).unwrap(), numbers);
            assert_eq!(ranges(numbers), text);
        }
        assert_eq!(parse(" 9 - 9, 1,9").unwrap(), [1, 9]);
        for text in ["", "a", "9-7", "1,,2", "-1", "0-4294967295"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(ranges(&[]), "");
    }
}
