//! Numbers in reports as text: durations, quotients and values of any size. Functions that all crates use are in `diag`.

pub use chatmill_diag::numbers::{bytes, count, counted};

/// The whole part of a number; 0 for a negative one.
#[expect(clippy::cast_sign_loss, reason = "what is negative is 0")]
pub(crate) const fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
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

/// A value of any size: whole numbers without decimals, small ones with as many as they need.
pub(crate) fn value(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 {
        count(whole(value))
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.4}")
    }
}

/// An amount of money: two decimals; below 1 as many as two significant digits need, at least four.
pub fn money(amount: f64) -> String {
    let size = amount.abs();
    let (mut decimals, mut scaled) = if size >= 1.0 || size == 0.0 {
        (2, f64::MAX)
    } else {
        (4, size * 1e4)
    };
    while scaled < 10.0 && decimals < 15 {
        decimals += 1;
        scaled *= 10.0;
    }
    format!("{amount:.decimals$}")
}

/// A quotient, rounded so that it looks the same everywhere; 0 if the divisor is 0.
pub(crate) fn quotient(dividend: u64, divisor: u64) -> f64 {
    if divisor == 0 {
        0.0
    } else {
        thousandths(dividend as f64 / divisor as f64)
    }
}

/// A number, rounded to three decimals.
pub fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_two_significant_digits_at_least() {
        assert_eq!(
            [0.0, 12.345, 1.0, 0.25, 0.000_042, 0.000_000_126, 1e-30, -0.000_5].map(money),
            [
                "0.00",
                "12.35",
                "1.00",
                "0.2500",
                "0.000042",
                "0.00000013",
                "0.000000000000000",
                "-0.00050"
            ]
        );
    }

    #[test]
    fn values_have_the_decimals_that_they_need() {
        assert_eq!(
            [0.0, 7.0, 12_345.6, 2.25, 0.0123].map(value),
            ["0", "7", "12,345", "2.2", "0.0123"]
        );
    }
}
