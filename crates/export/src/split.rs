//! How an export is divided: parts with their shares or beginnings, and the part that each conversation goes to.

use std::collections::HashMap;
use std::path::PathBuf;

use chatmill_dataset::Dataset;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::earlier;
use crate::error::ExportError;
use crate::groups::{Group, Groups, groups};

/// What decides where a conversation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A hash of the conversation's id: adding data later moves nothing.
    Hash,
    /// When it began: the first part has the oldest.
    Time,
    /// A hash of its room: no room stands in two parts.
    Room,
}

/// A division into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// What decides.
    pub by: By,
    /// The parts in their order; the first one is for training.
    pub parts: Vec<Part>,
    /// The folder of an earlier export: what it assigned stays there.
    pub like: Option<PathBuf>,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name, which is that of its file.
    pub name: String,
    /// How much goes to it.
    pub share: Share,
}

/// How much goes to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// So many of the sum of all numbers.
    Of(u64),
    /// All that began at this instant (microseconds since 1970 in UTC) or later, up to the next part.
    From(i64),
}

/// The word of a first part that begins where the data begin.
const START: &str = "start";
const EXAMPLES: &str =
    "write for example `train=95,test=5`, or with `--split-by time` `train=start,test=2026-10-01`";

impl Split {
    /// Reads `NAME=SHARE,NAME=SHARE`, or `NAME=start,NAME=DATE` for a division by time.
    pub fn parse(text: &str, by: By) -> Result<Self, ExportError> {
        let wrong = |reason: String| ExportError::request(format!("--split {text}: {reason}"), EXAMPLES);
        let mut parts: Vec<Part> = Vec::new();
        for piece in text.split(',') {
            let Some((name, share)) = piece.split_once('=') else {
                return Err(wrong(format!("`{piece}` is not NAME=SHARE")));
            };
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            if name.is_empty() || !name.bytes().all(allowed) {
                return Err(wrong(format!(
                    "`{name}` is no name of a part: letters, digits, - and _"
                )));
            }
            if parts.iter().any(|part| part.name.eq_ignore_ascii_case(name)) {
                return Err(wrong(format!("the part `{name}` stands twice")));
            }
            let share =
                parse_share(share).ok_or_else(|| wrong(format!("`{share}` is no share of a part")))?;
            parts.push(Part {
                name: name.to_owned(),
                share,
            });
        }
        let dated: Vec<i64> = parts.iter().filter_map(|part| part.share.begins()).collect();
        if dated.is_empty() {
            if parts
                .iter()
                .map(|part| u128::from(part.share.number()))
                .sum::<u128>()
                > u128::from(u32::MAX)
            {
                return Err(wrong("the shares are too large".to_owned()));
            }
            return Ok(Self {
                by,
                parts,
                like: None,
            });
        }
        if by != By::Time {
            return Err(wrong("only a division by time has dates".to_owned()));
        }
        if dated.len() != parts.len() || dated.first() != Some(&i64::MIN) || !dated.is_sorted_by(|a, b| a < b)
        {
            return Err(wrong(format!(
                "the first part begins at `{START}`, each other one at a later date"
            )));
        }
        Ok(Self {
            by,
            parts,
            like: None,
        })
    }
}

impl Share {
    fn number(self) -> u64 {
        match self {
            Self::Of(number) => number,
            Self::From(_) => 0,
        }
    }

    fn begins(self) -> Option<i64> {
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

/// Where each conversation goes.
#[derive(Debug, Default)]
pub(crate) struct Assignment {
    /// The conversations in the order of the dataset.
    order: Vec<String>,
    places: HashMap<String, Option<usize>>,
    /// For a division by time: the instant at which each part begins.
    pub(crate) begins: Vec<Option<i64>>,
}

impl Assignment {
    /// What a later export is told: conversations in their order, and their parts.
    pub(crate) fn remembered(&self, parts: &[Part]) -> String {
        let named = self.order.iter().filter_map(|id| {
            let part = parts.get(self.part(id)?)?;
            Some((id.as_str(), part.name.as_str()))
        });
        earlier::text(named)
    }

    /// The number of a conversation's part; none where nothing decides, for it has no time.
    pub(crate) fn part(&self, conversation: &str) -> Option<usize> {
        self.places.get(conversation).copied().flatten()
    }
}

/// Divides the conversations of a dataset.
pub(crate) fn assign(dataset: &Dataset, split: &Split) -> Result<Assignment, ExportError> {
    let grouped = groups(dataset, split.by)?;
    let shares: Vec<u64> = split.parts.iter().map(|part| part.share.number()).collect();
    let begins: Vec<Option<i64>> = match split.by {
        By::Hash | By::Room => vec![None; shares.len()],
        By::Time => {
            let dated: Option<Vec<i64>> = split.parts.iter().map(|part| part.share.begins()).collect();
            dated
                .unwrap_or_else(|| {
                    borders(
                        grouped.members().filter_map(|group| group.began).collect(),
                        &shares,
                    )
                })
                .into_iter()
                .map(Some)
                .collect()
        }
    };
    let place = |group: &Group| match split.by {
        By::Hash | By::Room => by_hash(group.hash, &shares),
        By::Time => {
            let began = group.began?;
            begins
                .iter()
                .rposition(|border| border.is_some_and(|border| border <= began))
        }
    };
    let mut places: HashMap<String, Option<usize>> = grouped
        .ids
        .iter()
        .zip(grouped.members())
        .map(|(id, group)| (id.clone(), place(group)))
        .collect();
    if let Some(folder) = &split.like {
        keep(&mut places, &grouped, &earlier::read(folder, &split.parts)?);
    }
    let order = grouped.ids;
    Ok(Assignment {
        order,
        places,
        begins,
    })
}

/// Puts every conversation where it was, and what is new beside the first of its group that was there.
fn keep(places: &mut HashMap<String, Option<usize>>, grouped: &Groups, earlier: &HashMap<String, usize>) {
    let mut firsts: HashMap<usize, usize> = HashMap::new();
    for (id, group) in grouped.ids.iter().zip(grouped.numbers()) {
        if let Some(part) = earlier.get(id) {
            firsts.entry(group).or_insert(*part);
        }
    }
    for (id, group) in grouped.ids.iter().zip(grouped.numbers()) {
        if let Some(part) = earlier.get(id).or_else(|| firsts.get(&group)) {
            places.insert(id.clone(), Some(*part));
        }
    }
}

/// The part whose stretch of the shares a hash falls into.
fn by_hash(hash: u64, shares: &[u64]) -> Option<usize> {
    let total: u128 = shares.iter().copied().map(u128::from).sum();
    let point = (u128::from(hash) * total) >> 64;
    let mut end = 0;
    shares.iter().position(|share| {
        end += u128::from(*share);
        point < end
    })
}

/// The instants at which the parts begin, so that each has its share of the beginnings; equal ones are never parted.
fn borders(mut began: Vec<i64>, shares: &[u64]) -> Vec<i64> {
    began.sort_unstable();
    let total: u128 = shares.iter().copied().map(u128::from).sum();
    let mut before: u128 = 0;
    shares
        .iter()
        .map(|share| {
            let at = began.len() as u128 * before / total.max(1);
            before += u128::from(*share);
            if at == 0 && before == u128::from(*share) {
                return i64::MIN;
            }
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            began.get(at).copied().unwrap_or(i64::MAX)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names_and_shares() {
        let split = Split::parse("train=95,test=5", By::Hash).unwrap();
        let read: Vec<_> = split
            .parts
            .iter()
            .map(|part| (part.name.as_str(), part.share))
            .collect();
        assert_eq!(read, [("train", Share::Of(95)), ("test", Share::Of(5))]);
    }

    #[test]
    fn parts_by_time_may_begin_at_dates() {
        let split = Split::parse("train=start,test=2026-10-01,late=2026-10-02T12:00:00Z", By::Time).unwrap();
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
            ("", By::Hash),
            ("train", By::Hash),
            ("train=0", By::Hash),
            ("train=-1,test=2", By::Hash),
            ("train=1,train=2", By::Hash),
            ("train=1,Train=2", By::Hash),
            ("../x=1", By::Hash),
            ("=1", By::Hash),
            ("train=4294967295,test=1", By::Hash),
            ("train=start,test=2026-10-01", By::Hash),
            ("train=start,test=5", By::Time),
            ("train=2026-10-01,test=start", By::Time),
            ("train=start,a=2026-10-02,b=2026-10-01", By::Time),
        ];
        for (text, by) in cases {
            match Split::parse(text, by) {
                Err(ExportError::Request { step, .. }) => assert!(step.contains("train=95"), "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn hashes_fall_into_parts_by_their_share() {
        assert_eq!(by_hash(0, &[95, 5]), Some(0));
        assert_eq!(by_hash(u64::MAX, &[95, 5]), Some(1));
        let step = u64::MAX / 1000;
        let first = (0..1000)
            .filter(|n| by_hash(n * step + step / 2, &[3, 1]) == Some(0))
            .count();
        assert_eq!(first, 750);
    }

    #[test]
    fn borders_give_each_part_its_share_and_part_no_equal_times() {
        assert_eq!(borders((0..100).collect(), &[9, 1]), [i64::MIN, 90]);
        assert_eq!(borders(vec![1, 1, 1, 2], &[1, 1]), [i64::MIN, 1]);
        assert_eq!(borders(Vec::new(), &[1, 1]), [i64::MIN, i64::MAX]);
    }
}
