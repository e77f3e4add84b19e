//! `[select]`: which conversations a run keeps.

use std::collections::BTreeSet;

use chatmill_model::Conversation;

use crate::pipeline::Select;
use crate::plan::PlanError;

/// A resolved `[select]` section.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    since: Option<i64>,
    until: Option<i64>,
    conversations: Option<BTreeSet<String>>,
    sample: Option<f64>,
    /// Records that are read.
    pub limit: Option<u64>,
}

impl Selection {
    /// Checks and resolves the section.
    pub fn new(select: &Select) -> Result<Self, PlanError> {
        if let Some(share) = select.sample
            && !(0.0..=1.0).contains(&share)
        {
            return Err(PlanError::Value {
                key: "select.sample",
                message: "it must lie between 0 and 1".to_owned(),
            });
        }
        if select.conversations.as_ref().is_some_and(Vec::is_empty) {
            return Err(PlanError::Value {
                key: "select.conversations",
                message: "the list is empty; name ids or leave the key out".to_owned(),
            });
        }
        Ok(Self {
            since: instant("select.since", select.since.as_deref())?,
            until: instant("select.until", select.until.as_deref())?,
            conversations: select
                .conversations
                .as_ref()
                .map(|ids| ids.iter().cloned().collect()),
            sample: select.sample,
            limit: select.limit,
        })
    }

    /// Why a conversation is left out, if it is. `id` is its id before it is qualified.
    pub fn leaves_out(&self, id: &str, conversation: &Conversation) -> Option<&'static str> {
        if self.conversations.as_ref().is_some_and(|ids| !ids.contains(id)) {
            return Some("conversations");
        }
        if self.sample.is_some_and(|share| position_in_sample(id) >= share) {
            return Some("sample");
        }
        if self.since.is_none() && self.until.is_none() {
            return None;
        }
        let (first, last) = span(conversation);
        if self
            .since
            .is_some_and(|since| last.is_none_or(|last| last < since))
        {
            return Some("since");
        }
        if self
            .until
            .is_some_and(|until| first.is_none_or(|first| first >= until))
        {
            return Some("until");
        }
        None
    }
}

/// First and last instant of a conversation, in microseconds UTC.
pub fn span(conversation: &Conversation) -> (Option<i64>, Option<i64>) {
    let instants = || {
        conversation
            .messages
            .iter()
            .filter_map(|message| message.timestamp.as_ref()?.instant)
    };
    (instants().min(), instants().max())
}

fn instant(key: &'static str, text: Option<&str>) -> Result<Option<i64>, PlanError> {
    let Some(text) = text else {
        return Ok(None);
    };
    let timestamp = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let date = text.parse::<jiff::civil::Date>().ok()?;
        date.to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
            .map(|zoned| zoned.timestamp())
    });
    timestamp
        .map(|timestamp| Some(timestamp.as_microsecond()))
        .ok_or_else(|| PlanError::Value {
            key,
            message: format!("`{text}` is neither a date nor an RFC 3339 time"),
        })
}

/// Where an id falls between 0 and 1, by its hash.
fn position_in_sample(id: &str) -> f64 {
    let hash = blake3::hash(id.as_bytes());
    let mut first = [0; 4];
    for (place, byte) in first.iter_mut().zip(hash.as_bytes()) {
        *place = *byte;
    }
    f64::from(u32::from_be_bytes(first)) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_keeps_about_its_share_and_grows_with_it() {
        let kept = |share: f64| {
            (0..2000)
                .filter(|n| position_in_sample(&format!("c{n}")) < share)
                .count()
        };
        assert!((150..250).contains(&kept(0.1)), "{}", kept(0.1));
        assert!(kept(0.1) < kept(0.2));
        assert_eq!(kept(1.0), 2000);
    }

    #[test]
    fn dates_and_times_are_understood_and_nonsense_is_named() {
        let day = instant("select.since", Some("2026-01-01")).unwrap();
        assert_eq!(
            day,
            instant("select.since", Some("2026-01-01T00:00:00Z")).unwrap()
        );
        assert!(instant("select.since", Some("yesterday")).is_err());
    }
}
