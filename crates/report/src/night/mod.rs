//! Scheduled runs ("nights"): their records, the choice of datasets that are kept, and the notes, metrics and pages about them.
//!
//! The record of a night outlives its dataset. Files are read and written by `cli`, not here.

mod history;
mod metrics;
mod note;
pub mod trend;

use chatmill_dataset::NightName;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::figures::{MissingInputs, RunFigures};
use crate::report::{ConversationChanges, Grown};

pub use history::History;
pub use metrics::open_metrics;
pub use note::{NewCode, NightNote, new_codes};

/// The version of the format of a record.
pub const NIGHT_FORMAT: u32 = 1;

/// The state of a night.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum NightState {
    /// The night has begun and not ended: the next call of the command resumes it.
    #[default]
    Begun,
    /// Complete and certified, and no condition failed.
    Good,
    /// A condition failed, but a user accepted the night; later nights are compared with it as with a good one.
    Accepted,
    /// Complete, but a condition failed, or the verdict is not `complete`.
    Objected,
    /// Complete, but the dataset does not match its manifest.
    Broken,
    /// Not complete, and not resumed.
    Failed,
}

impl NightState {
    /// Whether later nights are compared with it.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Good | Self::Accepted)
    }

    /// The state as a word.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The record of a night.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NightRecord {
    /// The [`NIGHT_FORMAT`] of the program that wrote it.
    pub format: u32,
    /// The name of the night.
    pub night: String,
    /// The state.
    pub state: NightState,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Version of the program.
    pub version: String,
    /// The beginning of the night, in UTC.
    pub began_at: String,
    /// The number of attempts.
    #[serde(default)]
    pub attempts: u32,
    /// The end of the night, in UTC.
    #[serde(default)]
    pub ended_at: Option<String>,
    /// The duration of the last attempt in seconds.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// The exit code of the night.
    #[serde(default)]
    pub exit_code: Option<u8>,
    /// The verdict of its dataset.
    #[serde(default)]
    pub verdict: Option<String>,
    /// The night with which this one was compared.
    #[serde(default)]
    pub against: Option<String>,
    /// Notes, each a clause.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The failed conditions, and other reasons why the night is not good.
    #[serde(default)]
    pub objections: Vec<String>,
    /// The conditions that were true and only warn.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The figures of the night.
    #[serde(default)]
    pub figures: Option<RunFigures>,
    /// The figures of the night with which it was compared.
    #[serde(default)]
    pub before: Option<RunFigures>,
    /// The changes of conversations since that night.
    #[serde(default)]
    pub conversations: Option<ConversationChanges>,
    /// Inputs of that night that this one does not have.
    #[serde(default)]
    pub missing: MissingInputs,
    /// Codes of findings that that night did not have.
    #[serde(default)]
    pub new_codes: Vec<NewCode>,
    /// The conversations that grew most since that night.
    #[serde(default)]
    pub grown: Vec<Grown>,
    /// Whether its dataset was removed, or is about to be.
    #[serde(default)]
    pub is_removed: bool,
    /// Whether the steps after the run are done: link, history, removal of old nights, notice.
    #[serde(default)]
    pub is_settled: bool,
}

impl NightRecord {
    /// Whether no earlier attempt at the night was recorded.
    pub fn is_new(&self) -> bool {
        self.attempts == 0
    }

    /// Replaces every id of a conversation.
    pub fn mask_ids(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        for grown in &mut self.grown {
            grown.conversation_id = mask(&grown.conversation_id);
        }
        if let Some(conversations) = &mut self.conversations {
            conversations.mask_ids(mask);
        }
    }
}

/// For each night, whether it keeps its dataset (the earliest first): the last `keep` good nights, the first good night of each month, at
/// most `keep` others since the earliest of the first group, and every night that has not ended.
pub fn retained(nights: &[(NightName, NightState)], keep: usize) -> Vec<bool> {
    let keep = keep.max(1);
    let last = |first: usize, is_one: &dyn Fn(NightState) -> bool| -> Vec<usize> {
        let nights = nights.iter().enumerate().skip(first).rev();
        let nights = nights.filter(|(_, (_, state))| is_one(*state));
        nights.map(|(at, _)| at).take(keep).collect()
    };
    let last_good = last(0, &NightState::is_good);
    // Without a good night, all nights count.
    let since = last_good.last().map_or(0, |earliest| *earliest);
    let others = last(since, &|state| !state.is_good() && state != NightState::Begun);
    let mut month = "";
    let retained = nights.iter().enumerate().map(|(at, (name, state))| {
        let is_first = state.is_good() && name.month() != month;
        if is_first {
            month = name.month();
        }
        is_first || last_good.contains(&at) || others.contains(&at) || *state == NightState::Begun
    });
    retained.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use NightState::{Begun, Failed, Good, Objected};

    fn nights(states: &[(&str, NightState)]) -> Vec<(NightName, NightState)> {
        let night = |(day, state): &(&str, NightState)| {
            let name = NightName::parse(&format!("2026-{day}T021500Z")).unwrap();
            (name, *state)
        };
        states.iter().map(night).collect()
    }

    #[test]
    fn the_last_good_nights_and_the_first_of_each_month_are_retained() {
        let nights = nights(&[
            ("10-30", Good),
            ("10-31", Good),
            ("11-01", Objected),
            ("11-02", Good),
            ("11-03", Good),
            ("11-04", Good),
            ("11-05", Good),
        ]);
        assert_eq!(
            retained(&nights, 2),
            [true, false, false, true, false, true, true],
            "firsts are the first good ones"
        );
        assert_eq!(retained(&nights, 7), [true; 7]);
    }

    #[test]
    fn the_last_good_night_stays_however_many_bad_ones_follow() {
        let mut states = vec![("11-01", Good), ("11-02", Good)];
        states.extend(["11-03", "11-04", "11-05", "11-06", "11-07", "11-08"].map(|day| (day, Failed)));
        let mut expected = vec![true, true, false, false, false, false, true, true];
        assert_eq!(retained(&nights(&states), 2), expected);
        states.push(("11-09", Begun));
        expected.push(true);
        assert_eq!(retained(&nights(&states), 2), expected);
    }

    #[test]
    fn a_store_without_a_good_night_keeps_the_last_of_the_others() {
        let nights = nights(&[("11-01", Failed), ("11-02", Objected), ("11-03", Objected)]);
        assert_eq!(retained(&nights, 0), [false, false, true]);
        assert_eq!(retained(&nights, 2), [false, true, true]);
    }

    #[test]
    fn a_record_survives_serialisation_and_missing_fields_have_defaults() {
        let record = NightRecord {
            format: NIGHT_FORMAT,
            night: "2026-11-22T021500Z".to_owned(),
            state: Good,
            figures: Some(RunFigures::default()),
            ..NightRecord::default()
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<NightRecord>(&text).unwrap(), record);
        let less = "{\"format\":1,\"night\":\"n\",\"state\":\"begun\",\"pipeline\":\"p\",\"version\":\"0\",\"began_at\":\"t\"}";
        let less: NightRecord = serde_json::from_str(less).unwrap();
        assert_eq!((less.state, less.is_settled), (Begun, false));
    }
}
