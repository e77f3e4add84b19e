//! Numbers as text: separators, units, and nouns in the singular or plural.

/// A number with thousands separators.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A number of bytes in decimal units.
pub fn bytes(number: u64) -> String {
    let mut size = number as f64;
    let mut units = ["B", "kB", "MB", "GB", "TB", "PB"].into_iter().peekable();
    while let Some(unit) = units.next() {
        let decimals = usize::from(unit != "B");
        // 999.95 would be printed as 1000.0.
        if size < 999.95 || units.peek().is_none() {
            return format!("{size:.decimals$} {unit}");
        }
        size /= 1000.0;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_204_000), "1,204,000");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_000), "1.0 kB");
        assert_eq!(bytes(31_940), "31.9 kB");
        assert_eq!(bytes(999_999), "1.0 MB");
    }
}
