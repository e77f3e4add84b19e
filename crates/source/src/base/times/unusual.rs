//! Unusual times: they are read although many readers refuse them, with one finding per conversation and kind.

use std::collections::BTreeMap;

use chatmill_diag::{Code, Finding, codes};

use crate::base::notes::Notes;

/// An anomaly of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimeAnomaly {
    /// `24:00:00`.
    EndOfDay,
    /// The sixty-first second of a minute.
    LeapSecond,
    /// A lower-case `z` as the offset.
    LowerCase,
    /// White space around it.
    Blanks,
    /// More digits than microseconds.
    Digits,
    /// The time does not exist in its zone, because clocks went forward.
    Gap,
    /// The time is ambiguous in its zone, because clocks went back.
    Fold,
    /// The word `UTC` as the offset, as `BigQuery` writes times.
    Utc,
}

impl TimeAnomaly {
    const ALL: [Self; 8] = [
        Self::EndOfDay,
        Self::LeapSecond,
        Self::LowerCase,
        Self::Blanks,
        Self::Digits,
        Self::Gap,
        Self::Fold,
        Self::Utc,
    ];

    const fn text(self) -> &'static str {
        match self {
            Self::EndOfDay => "24:00 is read as the start of the next day",
            Self::LeapSecond => "a leap second is read as the second after it",
            Self::LowerCase => "a lower-case z is read as Z",
            Self::Blanks => "white space around the time is ignored",
            Self::Digits => "digits beyond microseconds are cut; created_at_raw keeps them",
            Self::Gap => "clocks skipped this time going forward: the offset before the change is used",
            Self::Utc => "the word UTC is read as the offset Z",
            Self::Fold => "clocks showed this time twice when they went back: the first one is used",
        }
    }
}

/// The set of anomalies of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeAnomalies([bool; TimeAnomaly::ALL.len()]);

impl TimeAnomalies {
    /// Adds a kind.
    pub(crate) fn add(&mut self, anomaly: TimeAnomaly) {
        if let Some(seen) = self.0.get_mut(anomaly as usize) {
            *seen = true;
        }
    }

    /// The kinds.
    pub(crate) fn kinds(self) -> impl Iterator<Item = TimeAnomaly> {
        TimeAnomaly::ALL
            .into_iter()
            .zip(self.0)
            .filter_map(|(anomaly, seen)| seen.then_some(anomaly))
    }
}

/// Anomalies of the times of a conversation.
#[derive(Debug, Default)]
pub(crate) struct UnusualTimes {
    anomaly: BTreeMap<TimeAnomaly, Finding>,
    naive: Option<Finding>,
}

impl UnusualTimes {
    /// Counts the anomalies of a time; `place` adds a place to a finding.
    pub(crate) fn enter(&mut self, anomalies: TimeAnomalies, place: impl Fn(Finding) -> Finding) {
        for anomaly in anomalies.kinds() {
            if let Some(known) = self.anomaly.get_mut(&anomaly) {
                known.count += 1;
            } else {
                let finding = Finding::new(&codes::TIMESTAMP_UNUSUAL, anomaly.text());
                self.anomaly.insert(anomaly, place(finding));
            }
        }
    }

    /// Counts a time without an offset; `text` is the finding's message for this conversation.
    pub(crate) fn enter_naive(
        &mut self,
        code: &'static Code,
        text: &str,
        place: impl Fn(Finding) -> Finding,
    ) {
        if let Some(known) = &mut self.naive {
            known.count += 1;
        } else {
            let finding = Finding::new(code, text);
            self.naive = Some(place(finding));
        }
    }

    /// Adds one finding for each kind, at its first occurrence.
    pub(crate) fn finish(self, notes: &mut Notes) {
        notes
            .findings
            .extend(self.anomaly.into_values().chain(self.naive));
    }
}
