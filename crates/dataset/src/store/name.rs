//! The name of a night: its first second in UTC, in a form in which names sort by time.

use std::fmt;

/// The pattern of a night's name; `0` is any digit.
const FORM: &[u8; 18] = b"0000-00-00T000000Z";

/// The name of a night, for example `2026-11-22T021500Z`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NightName(String);

impl NightName {
    /// Parses a name; `None` where it does not have the form of one.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |(byte, form): (u8, &u8)| match form {
            b'0' => byte.is_ascii_digit(),
            sign => byte == *sign,
        };
        let is_name = text.len() == FORM.len() && text.bytes().zip(FORM).all(fits);
        is_name.then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Year and month, for example `2026-11`.
    pub fn month(&self) -> &str {
        self.0.split_at(7).0
    }
}

impl fmt::Display for NightName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_instant_and_nothing_else() {
        let name = NightName::parse("2026-11-22T021500Z").unwrap();
        assert_eq!((name.as_str(), name.month()), ("2026-11-22T021500Z", "2026-11"));
        for other in [
            "",
            "2026-11-22",
            "2026-11-22T021500",
            "2026-11-22T021500Zz",
            "2026-11-22t021500Z",
            "../6-11-22T021500Z",
            "٢026-11-22T02150Z",
        ] {
            assert_eq!(NightName::parse(other), None, "{other}");
        }
    }
}
