//! The survey of all conversations before the first is rendered: it finds duplicates, the
//! part of each input in a mix, and the tools that the conversations of an input call.
//!
//! The survey reads and links the same records as the run, and keeps only a few facts
//! about each conversation. Facts and results depend only on the inputs and the plan.
//! They are stored as bytes: little-endian numbers, with a count before each slice.
//!
//! Why: docs/decisions/2026-11-21-deduplication-before-rendering.md.

mod bytes;
mod facts;
mod mixing;

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read, Write};

use chatmill_dataset::SliceId;
use chatmill_dataset::overview::Mix;
use chatmill_diag::cut;
use chatmill_dialect::CalledTools;
use chatmill_link::{ClusterMembership, Duplicate, Likeness, memberships, repeats_of};
use chatmill_model::RawJson;

use crate::error::RunError;
use crate::pipeline::{DedupSection, Treatment};
use crate::plan::Plan;
use bytes::{count, number};
pub(crate) use facts::{SliceFacts, facts, likeness, read_facts, write_facts};

/// The maximum bytes of definitions inferred for a section: those of some hundred tools.
const MAX_DEFINITION_BYTES: usize = 256 << 10;

/// The results of the survey of a run.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The decisions by slice, in the order of the slice's conversations.
    decisions: BTreeMap<SliceId, Vec<SurveyDecision>>,
    /// Definitions of the tools that conversations call, by
    /// the number of their section, if the plan infers them.
    tools: BTreeMap<usize, Vec<RawJson>>,
    /// The result of the mix, if the plan has one.
    mix: Option<Mix>,
}

/// The result of the survey for a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SurveyDecision {
    /// Its cluster.
    pub(crate) membership: ClusterMembership,
    /// The reason why it is left out, if it is.
    pub(crate) left_out: Option<SurveyReason>,
}

/// The reasons for leaving out a conversation because of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurveyReason {
    Exact,
    Near,
    Against,
    Weight,
    Total,
}

impl SurveyReason {
    const ALL: [Self; 5] = [Self::Exact, Self::Near, Self::Against, Self::Weight, Self::Total];

    /// Returns the key of the pipeline file that leaves the conversation out.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "dedup.exact",
            Self::Near => "dedup.near",
            Self::Against => "dedup.against",
            Self::Weight => "input.weight",
            Self::Total => "mix.total",
        }
    }
}

impl Survey {
    /// Compares the conversations of all slices with each other and with those of earlier datasets.
    ///
    /// # Errors
    ///
    /// If the bytes of facts are damaged.
    pub(crate) fn of(
        mut slices: BTreeMap<SliceId, SliceFacts>,
        earlier: &[Likeness],
        plan: &Plan,
    ) -> io::Result<Self> {
        let dedup = &plan.pipeline.dedup;
        let mut decisions = if dedup.is_on() {
            compare(&mut slices, earlier, dedup)
        } else {
            let conversations = slices.values().map(|slice| slice.conversations.len()).sum();
            vec![SurveyDecision::default(); conversations]
        };
        let balance = plan.mix.balance.as_ref();
        let mix = balance.map(|balance| {
            let conversations = slices.values().flat_map(|slice| &slice.conversations);
            mixing::mix(balance, conversations, &mut decisions, plan)
        });
        let tools = tools(&slices, &decisions)?;
        let mut all = decisions.into_iter();
        let by_slice = slices.into_iter();
        let by_slice = by_slice.map(|(slice, facts)| {
            let decisions = all.by_ref().take(facts.conversations.len());
            (slice, decisions.collect())
        });
        Ok(Self {
            decisions: by_slice.collect(),
            tools,
            mix,
        })
    }

    /// Returns the decision about the `index`-th conversation of a slice.
    pub(crate) fn decision(&self, slice: SliceId, index: usize) -> SurveyDecision {
        match self.decisions.get(&slice) {
            Some(decisions) => *cut::at(decisions, index),
            // The plan has no survey.
            None => SurveyDecision::default(),
        }
    }

    /// Returns definitions of the tools that the conversations of a section call.
    pub(crate) fn called_tools(&self, section: usize) -> &[RawJson] {
        self.tools.get(&section).map_or(&[], Vec::as_slice)
    }

    /// Refuses too large definitions, since every rendering contains them.
    pub(crate) fn check_tools(&self, plan: &Plan) -> Result<(), RunError> {
        let limit = MAX_DEFINITION_BYTES;
        for (section, first) in plan.first_inputs().into_iter().enumerate() {
            let tools = self.called_tools(section).iter();
            let bytes = tools.map(|tool| tool.as_str().len()).sum();
            if bytes > limit {
                return Err(RunError::TooManyTools { first, bytes, limit });
            }
        }
        Ok(())
    }

    /// Returns the result of the mix.
    pub(crate) fn into_mix(self) -> Option<Mix> {
        self.mix
    }

    /// Writes the results.
    pub(crate) fn write_to(&self, into: &mut dyn Write) -> io::Result<()> {
        into.write_all(&count(self.decisions.len())?)?;
        for (slice, decisions) in &self.decisions {
            into.write_all(&slice.shard.to_le_bytes())?;
            into.write_all(&slice.slice.to_le_bytes())?;
            into.write_all(&count(decisions.len())?)?;
            for SurveyDecision { membership, left_out } in decisions {
                membership.write_to(into)?;
                into.write_all(&[left_out.map_or(0, |reason| reason as u8 + 1)])?;
            }
        }
        let tools: BTreeMap<usize, Vec<&str>> = self
            .tools
            .iter()
            .map(|(section, tools)| (*section, tools.iter().map(RawJson::as_str).collect()))
            .collect();
        bytes::write_json(&(tools, &self.mix), into)
    }

    /// Reads bytes written by [`write_to`](Self::write_to).
    pub(crate) fn read_from(from: &mut dyn Read) -> io::Result<Self> {
        let mut decisions = BTreeMap::new();
        for _ in 0..number(from)? {
            let slice = SliceId {
                shard: number(from)?,
                slice: number(from)?,
            };
            let of_slice = (0..number(from)?).map(|_| {
                let membership = ClusterMembership::read_from(from)?;
                let [place] = bytes::read(from)?;
                let left_out = match usize::from(place).checked_sub(1) {
                    None => None,
                    Some(place) => Some(*SurveyReason::ALL.get(place).ok_or(io::ErrorKind::InvalidData)?),
                };
                Ok(SurveyDecision { membership, left_out })
            });
            decisions.insert(slice, of_slice.collect::<io::Result<_>>()?);
        }
        let (tools, mix): (BTreeMap<usize, Vec<String>>, _) = bytes::read_json(from)?;
        let tools = tools.into_iter();
        let tools = tools.map(|(section, tools)| (section, tools.into_iter().map(RawJson).collect()));
        Ok(Self {
            decisions,
            tools: tools.collect(),
            mix,
        })
    }
}

/// Compares the conversations of the run; returns the decision
/// of each, including whether an earlier dataset has it.
fn compare(
    slices: &mut BTreeMap<SliceId, SliceFacts>,
    earlier: &[Likeness],
    dedup: &DedupSection,
) -> Vec<SurveyDecision> {
    let threshold = dedup.near_threshold();
    let conversations = slices.values_mut().flat_map(|slice| &mut slice.conversations);
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for facts in conversations {
        read.extend(facts.likeness.take());
        written.extend(facts.written.take());
    }
    // They differ only if personal data is replaced.
    let written = if written.is_empty() { &read } else { &written };
    let of_earlier = if earlier.is_empty() {
        vec![None; read.len()]
    } else {
        repeats_of(earlier, written, threshold)
    };
    let decisions = memberships(&read, threshold).into_iter().zip(of_earlier);
    let decisions = decisions.map(|(membership, of_earlier)| {
        let reason = |duplicate: Option<Duplicate>, exact, near| match duplicate? {
            Duplicate::Exact => (dedup.exact == Treatment::Filter).then_some(exact),
            Duplicate::Near => (dedup.near == Treatment::Filter).then_some(near),
        };
        let left_out = reason(of_earlier, SurveyReason::Against, SurveyReason::Against);
        SurveyDecision {
            left_out: left_out
                .or_else(|| reason(membership.duplicate, SurveyReason::Exact, SurveyReason::Near)),
            membership: ClusterMembership {
                duplicate: of_earlier.or(membership.duplicate),
                ..membership
            },
        }
    });
    decisions.collect()
}

/// Returns definitions of the tools that the remaining conversations call, by section.
fn tools(
    slices: &BTreeMap<SliceId, SliceFacts>,
    decisions: &[SurveyDecision],
) -> io::Result<BTreeMap<usize, Vec<RawJson>>> {
    let mut sections: BTreeMap<usize, CalledTools> = BTreeMap::new();
    // Merging equal tools twice changes nothing.
    let mut seen: HashSet<(usize, &str)> = HashSet::new();
    let conversations = slices.values().flat_map(SliceFacts::with_tools);
    for ((section, tools), decision) in conversations.zip(decisions) {
        if let (Some(tools), None) = (tools, decision.left_out)
            && seen.insert((section, tools))
        {
            let called = serde_json::from_str(tools)?;
            sections.entry(section).or_default().merge(called);
        }
    }
    let sections = sections.into_iter();
    let sections = sections.map(|(section, tools)| (section, tools.definitions()));
    Ok(sections.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_survey_found_round_trips_and_corrupt_bytes_are_refused() {
        let decision = |left_out| SurveyDecision {
            left_out,
            ..SurveyDecision::default()
        };
        let mut decisions = vec![decision(None)];
        decisions.extend(SurveyReason::ALL.map(|reason| decision(Some(reason))));
        let survey = Survey {
            decisions: BTreeMap::from([(SliceId { shard: 2, slice: 1 }, decisions)]),
            tools: BTreeMap::from([(1, vec![RawJson("{\"name\":\"tide\"}".to_owned())])]),
            mix: Some(Mix {
                unit: "bytes".to_owned(),
                total: Some(9),
                sections: Vec::new(),
            }),
        };
        let mut bytes = Vec::new();
        survey.write_to(&mut bytes).unwrap();
        let read = Survey::read_from(&mut bytes.as_slice()).unwrap();
        assert_eq!((&read.decisions, &read.tools), (&survey.decisions, &survey.tools));
        assert_eq!(read.mix, survey.mix);
        for end in 0..bytes.len() {
            assert!(Survey::read_from(&mut &bytes[..end]).is_err(), "{end}");
        }
    }
}
