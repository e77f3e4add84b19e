//! Numbers as text: separators, units, and nouns that agree with their number.

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

/// The whole part of a number; 0 of a negative one.
#[expect(clippy::cast_sign_loss, reason = "what is negative is 0")]
pub(crate) const fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}

/// Bytes in decimal units.
pub(crate) fn bytes(number: u64) -> String {
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

/// A duration in its two largest units.
pub fn duration(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{seconds:.1} s");
    }
    let whole = whole(seconds);
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// A value of any size: whole numbers as they are, small ones with the decimals that they need.
pub(crate) fn value(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 {
        count(whole(value))
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.4}")
    }
}

/// A quotient, rounded so that it looks the same everywhere; 0 when there is nothing to divide by.
pub(crate) fn quotient(dividend: u64, divisor: u64) -> f64 {
    if divisor == 0 {
        0.0
    } else {
        thousandths(dividend as f64 / divisor as f64)
    }
}

/// A number with three decimals.
pub fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
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

    #[test]
    fn values_have_the_decimals_that_they_need() {
        assert_eq!(
            [0.0, 7.0, 12_345.6, 2.25, 0.0123].map(value),
            ["0", "7", "12,345", "2.2", "0.0123"]
        );
    }
}
