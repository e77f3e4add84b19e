//! The compression of the pages of a file, and its names in a pipeline file.

use std::fmt;

use parquet::basic::ZstdLevel;

/// The compression of Parquet pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// Zstandard.
    Zstd(ZstdLevel),
}

impl Compression {
    /// Parses `none` or `zstd(LEVEL)` with a level from 1 to 22.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(Self::None);
        }
        let level = text.strip_prefix("zstd(")?.strip_suffix(')')?;
        let written_plainly = !level.starts_with('0') && level.bytes().all(|byte| byte.is_ascii_digit());
        let level = level.parse().ok().filter(|_| written_plainly)?;
        ZstdLevel::try_new(level).ok().map(Self::Zstd)
    }

    pub(crate) fn of_parquet(self) -> parquet::basic::Compression {
        match self {
            Self::None => parquet::basic::Compression::UNCOMPRESSED,
            Self::Zstd(level) => parquet::basic::Compression::ZSTD(level),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Zstd(level) => write!(formatter, "zstd({})", level.compression_level()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Compression;

    #[test]
    fn compressions_are_read_as_they_are_written() {
        for text in ["none", "zstd(1)", "zstd(3)", "zstd(22)"] {
            assert_eq!(Compression::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_compressions_are_refused() {
        for text in [
            "", "zstd", "zstd()", "zstd(0)", "zstd(23)", "zstd(-1)", "zstd(03)", "zstd(+3)", "snappy",
            "ZSTD(3)",
        ] {
            assert_eq!(Compression::parse(text), None, "{text}");
        }
    }
}
