//! Resolves `[select]` to the filter that decides which conversations a run keeps.
//!
//! [`Selection`] is built with the plan and asked once for each conversation that was
//! read; `earlier` and `evaluations` resolve `dedup.against` and `select.decontaminate`.

mod condition;
mod earlier;
mod evaluations;

use std::collections::BTreeSet;

use chatmill_model::{Conversation, Message, Part, Scene};
use chatmill_token::Encoding;

use self::condition::Condition;
pub(super) use self::condition::conversation_tokens;
pub(crate) use self::earlier::EarlierDataset;
pub(super) use self::earlier::earlier;
pub(super) use self::evaluations::{LoadedEvaluations, load as load_evaluations};
use super::check_settings::named_codes;
use super::{require, require_fraction};
use crate::error::PlanError;
use crate::pipeline::SelectSection;

/// A resolved `[select]` section.
#[derive(Clone, Default)]
pub struct Selection {
    since: Option<i64>,
    until: Option<i64>,
    conversations: Option<BTreeSet<String>>,
    scene: Option<Scene>,
    without_findings: BTreeSet<&'static str>,
    conditions: Vec<Condition>,
    /// The section, for settings that need no resolving.
    select: SelectSection,
}

impl Selection {
    /// Checks and resolves the section; `encodings` are those of the pipeline.
    pub fn new(select: &SelectSection, encodings: &[Encoding]) -> Result<Self, PlanError> {
        require_fraction(select.sample, "select.sample")?;
        let conversations = named("select.conversations", select.conversations.as_ref())?;
        named("select.participants", select.participants.as_ref())?;
        let findings = named("select.without_findings", select.without_findings.as_ref())?;
        let mut without_findings = BTreeSet::new();
        for word in findings.unwrap_or_default() {
            let codes = named_codes(word, "select.without_findings")?;
            without_findings.extend(codes.iter().map(|code| code.code));
        }
        Ok(Self {
            since: instant("select.since", select.since.as_deref())?,
            until: instant("select.until", select.until.as_deref())?,
            conversations: conversations.map(|ids| ids.iter().cloned().collect()),
            scene: select.scene.as_deref().map(scene).transpose()?,
            without_findings,
            conditions: select
                .conditions
                .iter()
                .map(|section| Condition::new(section, encodings))
                .collect::<Result<_, _>>()?,
            select: select.clone(),
        })
    }

    /// Returns the key of `[select]` that excludes a conversation, if any. `id` is its id before equal
    /// ids are made unique (`Plan::base_id`), `found` are the codes of its findings.
    pub fn excluded_by<'f>(
        &self,
        id: &str,
        conversation: &Conversation,
        mut found: impl Iterator<Item = &'f str>,
    ) -> Option<&str> {
        let select = &self.select;
        let (first, last) = match (self.since, self.until) {
            (None, None) => (None, None),
            _ => conversation.span(),
        };
        let is_early = |since: i64| last.is_none_or(|last| last < since);
        let is_late = |until: i64| first.is_none_or(|first| first >= until);
        let is_here = |wanted: &String| {
            let mut participants = conversation.participants.iter();
            participants.any(|person| person.id == *wanted || person.name.as_ref() == Some(wanted))
        };
        if self.conversations.as_ref().is_some_and(|ids| !ids.contains(id)) {
            Some("conversations")
        } else if (select.sample).is_some_and(|fraction| position_in_sample(select.seed, id) >= fraction) {
            Some("sample")
        } else if self.since.is_some_and(is_early) {
            Some("since")
        } else if self.until.is_some_and(is_late) {
            Some("until")
        } else if self.scene.is_some_and(|scene| scene != conversation.scene) {
            Some("scene")
        } else if !select.participants.iter().flatten().all(is_here) {
            Some("participants")
        } else if select
            .min_turns
            .is_some_and(|least| (condition::turns(conversation).count() as u64) < least)
        {
            Some("min_turns")
        } else if select.with_tool_calls && !conversation.messages.iter().any(calls) {
            Some("with_tool_calls")
        } else if !self.without_findings.is_empty() && found.any(|code| self.without_findings.contains(code))
        {
            Some("without_findings")
        } else {
            let mut conditions = self.conditions.iter();
            conditions.find_map(|condition| condition.excluded_by(conversation))
        }
    }
}

/// Returns the list of a key, if it is set; refuses an empty one.
fn named<'s>(key: &'static str, list: Option<&'s Vec<String>>) -> Result<Option<&'s [String]>, PlanError> {
    let problem = "the list is empty; name something or leave the key out";
    require(!list.is_some_and(Vec::is_empty), key, problem)?;
    Ok(list.map(Vec::as_slice))
}

fn scene(word: &str) -> Result<Scene, PlanError> {
    let scenes = [Scene::Assistant, Scene::GroupChat, Scene::Unknown];
    let found = scenes.into_iter().find(|scene| scene.as_str() == word);
    found.ok_or_else(|| {
        PlanError::unknown(
            "select.scene",
            "scene",
            word,
            scenes.into_iter().map(Scene::as_str),
        )
    })
}

fn calls(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)))
}

/// Parses a date or an RFC 3339 time to microseconds; a date is its beginning in UTC.
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
        .ok_or_else(|| PlanError::value(key, format!("`{text}` is neither a date nor an RFC 3339 time")))
}

/// Returns the position of an id among all ids, between 0 and 1: a sample has those below its fraction.
/// It is the hash of the id and of the seed, if that is not 0.
pub fn position_in_sample(seed: u64, id: &str) -> f64 {
    match seed {
        0 => position(&[id.as_bytes()]),
        seed => position(&[&seed.to_le_bytes(), id.as_bytes()]),
    }
}

/// Hashes some bytes to a number from 0 to 1, without 1.
pub(super) fn position(pieces: &[&[u8]]) -> f64 {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    let mut first = [0; 4];
    for (place, byte) in first.iter_mut().zip(hasher.finalize().as_bytes()) {
        *place = *byte;
    }
    f64::from(u32::from_be_bytes(first)) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use chatmill_model::Participant;

    use super::*;

    #[test]
    fn samples_have_about_their_size_and_larger_ones_contain_smaller_ones() {
        let sampled = |fraction: f64| {
            (0..2000)
                .filter(|n| position_in_sample(0, &format!("c{n}")) < fraction)
                .count()
        };
        assert!((150..250).contains(&sampled(0.1)), "{}", sampled(0.1));
        assert!(sampled(0.1) < sampled(0.2));
        assert_eq!(sampled(1.0), 2000);
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

    fn chat() -> Conversation {
        let person = |id: &str, name: Option<&str>| Participant {
            id: id.to_owned(),
            name: name.map(str::to_owned),
            ..Participant::default()
        };
        Conversation {
            scene: Scene::GroupChat,
            participants: vec![person("u1", Some("Ann")), person("b1", None)],
            ..Conversation::default()
        }
    }

    fn left_out(select: &str, found: &[&str]) -> Option<String> {
        let selection = Selection::new(&toml::from_str(select).unwrap(), &[]).unwrap();
        let reason = selection.excluded_by("c", &chat(), found.iter().copied());
        reason.map(str::to_owned)
    }

    #[test]
    fn each_key_filters_and_counts_under_its_own_name() {
        for (key, out, within) in [
            ("scene", "\"assistant\"", "\"group_chat\""),
            ("participants", "[\"Ann\", \"u2\"]", "[\"Ann\", \"b1\"]"),
            ("min_turns", "1", "0"),
            ("without_findings", "[\"RF\"]", "[\"TL\", \"invalid-json\"]"),
        ] {
            assert_eq!(
                left_out(&format!("{key} = {out}"), &["RF001"]).as_deref(),
                Some(key)
            );
            assert_eq!(left_out(&format!("{key} = {within}"), &["RF001"]), None, "{key}");
        }
        assert_eq!(
            left_out("with_tool_calls = true", &[]).as_deref(),
            Some("with_tool_calls")
        );
    }
}
