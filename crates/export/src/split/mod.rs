//! The division of an export. [`Split`] has the parts with their shares or dates and the rules for related conversations;
//! [`assignment::assign`] reads the conversations of a dataset and returns the part of each. `convert` looks up the part of each row there.

pub(crate) mod assignment;
pub(crate) mod earlier;
mod groups;
mod leaks;
mod shared;
mod strata;
mod texts;
mod units;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use chatmill_diag::Limits;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::error::ExportError;

pub use strata::{PartQuota, StrataSummary};

/// The property of a conversation that decides its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitBy {
    /// A hash of the conversation's id: data that is added later moves nothing.
    Hash,
    /// The time when it began: the first part has the oldest.
    Time,
    /// A hash of its room: no room is in two parts.
    Room,
    /// The time when one of its sessions began, which are divided by the silence of `window.session_gap`: the first part has the oldest.
    Session,
}

impl SplitBy {
    /// Whether a time decides.
    pub(crate) fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::Session)
    }
}

/// A division into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The property that decides.
    pub by: SplitBy,
    /// The parts in their order; the first one is for training.
    pub parts: Vec<SplitPart>,
    /// The folder of an earlier export; conversations keep the parts that it assigned.
    pub like: Option<PathBuf>,
    /// The seed of a division by hash; another seed gives another division.
    pub seed: u64,
    /// Properties that conversations of different parts never share: `prompt`, `input`, `source`, `title`, `extra.KEY`.
    pub group_by: Vec<String>,
    /// The property with values that get their share in each part: `source`, `input`, `title` or `extra.KEY`.
    pub stratify: Option<String>,
    /// The number of consecutive words that two parts must not share.
    pub ngram: NonZeroUsize,
    /// The handling of conversations that share such words.
    pub ngram_leaks: LeakRule,
    /// The most words that are compared, of all parts except the first.
    pub most_words: u64,
    /// The silence that divides a conversation into sessions, in microseconds, if the run had one.
    pub session_gap: Option<i64>,
    /// The time after a part in which no session of a later part may begin, in microseconds.
    pub gap: i64,
    /// The datasets of the earlier export, with prompts and passages to compare; only together with `like`.
    pub against: Vec<PathBuf>,
}

/// The handling of conversations that share words with an earlier part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeakRule {
    /// They are counted.
    Keep,
    /// They go to the earliest part that they share words with, and their groups with them.
    Move,
    /// They are left out.
    Drop,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitPart {
    /// The name of the part and of its file.
    pub name: String,
    /// The fraction or number of conversations that go to the part.
    pub share: Share,
}

/// The fraction or number of conversations that go to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// A share, relative to the sum of the shares of all parts.
    Of(u64),
    /// All conversations that began at this instant (microseconds since 1970 in UTC) or later, up to the beginning of the next part.
    From(i64),
}

/// The word for the beginning of a first part that begins with the data.
const START: &str = "start";
const EXAMPLES: &str =
    "write for example `train=95,test=5`, or with `--split-by time` `train=start,test=2026-10-01`";

impl Split {
    /// Reads `NAME=SHARE,NAME=SHARE`, or `NAME=start,NAME=DATE` for a division by time.
    pub fn parse(text: &str, by: SplitBy) -> Result<Self, ExportError> {
        let wrong = |reason: String| ExportError::request(format!("--split {text}: {reason}"), EXAMPLES);
        let mut parts: Vec<SplitPart> = Vec::new();
        for piece in text.split(',') {
            let named = piece.split_once('=');
            let (name, share) =
                named.ok_or_else(|| wrong(format!("`{piece}` is not of the form NAME=SHARE")))?;
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            if name.is_empty() || !name.bytes().all(allowed) {
                return Err(wrong(format!(
                    "`{name}` is not a name of a part: letters, digits, - and _"
                )));
            }
            if parts.iter().any(|part| part.name.eq_ignore_ascii_case(name)) {
                return Err(wrong(format!("the part `{name}` is given twice")));
            }
            parts.push(SplitPart {
                name: name.to_owned(),
                share: parse_share(share)
                    .ok_or_else(|| wrong(format!("`{share}` is not a share of a part")))?,
            });
        }
        let dated: Vec<i64> = parts.iter().filter_map(|part| part.share.begins()).collect();
        if dated.is_empty() {
            let shares = parts.iter().map(|part| u128::from(part.share.number()));
            if shares.sum::<u128>() > u128::from(u32::MAX) {
                return Err(wrong("the shares are too large".to_owned()));
            }
        } else if !by.is_time() {
            return Err(wrong(
                "only `--split-by time` and `--split-by session` take dates".to_owned(),
            ));
        } else if dated.len() != parts.len()
            || dated.first() != Some(&i64::MIN)
            || !dated.is_sorted_by(|a, b| a < b)
        {
            return Err(wrong(format!(
                "the first part begins at `{START}`, each other one at a later date"
            )));
        }
        Ok(Self {
            by,
            parts,
            like: None,
            seed: 0,
            group_by: Vec::new(),
            stratify: None,
            ngram: NonZeroUsize::MIN.saturating_add(12),
            ngram_leaks: LeakRule::Keep,
            most_words: Limits::default().split_words,
            session_gap: None,
            gap: 0,
            against: Vec::new(),
        })
    }

    fn weights(&self) -> Vec<u64> {
        self.parts.iter().map(|part| part.share.number()).collect()
    }
}

impl SplitPart {
    /// The part in the syntax of `--split`.
    pub(crate) fn text(&self) -> String {
        format!("{}={}", self.name, self.share.text())
    }
}

impl Share {
    fn text(self) -> String {
        match self {
            Self::Of(number) => number.to_string(),
            Self::From(i64::MIN) => START.to_owned(),
            Self::From(begins) => Timestamp::from_microsecond(begins)
                .map_or_else(|_| begins.to_string(), |instant| instant.to_string()),
        }
    }

    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Of(number) => number,
            Self::From(_) => 0,
        }
    }

    pub(crate) fn begins(self) -> Option<i64> {
        match self {
            Self::Of(_) => None,
            Self::From(begins) => Some(begins),
        }
    }
}

fn parse_share(text: &str) -> Option<Share> {
    if text == START {
        return Some(Share::From(i64::MIN));
    }
    if let Ok(number) = text.parse::<u64>() {
        return (number > 0).then_some(Share::Of(number));
    }
    let instant = match text.parse::<Timestamp>() {
        Ok(instant) => instant,
        Err(_) => text
            .parse::<Date>()
            .ok()?
            .to_zoned(TimeZone::UTC)
            .ok()?
            .timestamp(),
    };
    Some(Share::From(instant.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_by_numbers_has_parts_with_names_and_shares() {
        let split = Split::parse("train=95,test=5", SplitBy::Hash).unwrap();
        let read: Vec<_> = split
            .parts
            .iter()
            .map(|part| (part.name.as_str(), part.share))
            .collect();
        assert_eq!(read, [("train", Share::Of(95)), ("test", Share::Of(5))]);
    }

    #[test]
    fn parts_by_time_may_begin_at_dates() {
        let split = Split::parse(
            "train=start,test=2026-10-01,late=2026-10-02T12:00:00Z",
            SplitBy::Time,
        )
        .unwrap();
        let begins: Vec<_> = split
            .parts
            .iter()
            .map(|part| part.share.begins().unwrap())
            .collect();
        assert_eq!(begins, [i64::MIN, 1_790_812_800_000_000, 1_790_942_400_000_000]);
    }

    #[test]
    fn other_divisions_are_refused_with_an_example() {
        let cases = [
            ("", SplitBy::Hash),
            ("train", SplitBy::Hash),
            ("train=0", SplitBy::Hash),
            ("train=-1,test=2", SplitBy::Hash),
            ("train=1,train=2", SplitBy::Hash),
            ("train=1,Train=2", SplitBy::Hash),
            ("../x=1", SplitBy::Hash),
            ("=1", SplitBy::Hash),
            ("train=4294967295,test=1", SplitBy::Hash),
            ("train=start,test=2026-10-01", SplitBy::Hash),
            ("train=start,test=5", SplitBy::Time),
            ("train=2026-10-01,test=start", SplitBy::Time),
            ("train=start,a=2026-10-02,b=2026-10-01", SplitBy::Time),
        ];
        for (text, by) in cases {
            match Split::parse(text, by) {
                Err(ExportError::ExportRequest { step, .. }) => assert!(step.contains("train=95"), "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
