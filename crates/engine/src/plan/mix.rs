//! How much of each `[[input]]` section goes into the dataset: a sample of it, and shares that keep sections in proportion.
//!
//! Nothing is read twice to balance a mix: the section that has the fewest bytes for its weight is taken whole, and of each other
//! one as many conversations as keep the bytes of input in the wanted proportion. Which those are, the hash of their id and the
//! seed decide, and they are counted as left out.

use std::collections::BTreeMap;

use super::inputs::PlannedInput;
use super::selection::position;
use crate::error::PlanError;
use crate::pipeline::Pipeline;

/// The shares of the sections of a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Mix {
    seed: u64,
    /// By the number of a section among those of the plan's inputs.
    shares: BTreeMap<usize, Share>,
}

/// What is kept of a section, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    sample: f64,
    weight: f64,
}

impl Mix {
    /// Checks what the sections say, and measures them by the bytes of their inputs as they lie on disk.
    pub(super) fn new(pipeline: &Pipeline, inputs: &[PlannedInput]) -> Result<Self, PlanError> {
        for section in &pipeline.input {
            let is_share = |sample| (0.0..=1.0).contains(&sample);
            if !section.sample.is_none_or(is_share) {
                return Err(PlanError::value("input.sample", "it must lie between 0 and 1"));
            }
            let is_weight = |weight: f64| weight.is_finite() && weight >= 0.0;
            if !section.weight.is_none_or(is_weight) {
                return Err(PlanError::value("input.weight", "it must be a number from 0 on"));
            }
        }
        let is_weighted = pipeline.input.iter().any(|section| section.weight.is_some());
        let mut sections: BTreeMap<usize, (f64, f64, u64)> = BTreeMap::new();
        for planned in inputs {
            let written = &planned.settings.written;
            let shares = (written.sample.unwrap_or(1.0), written.weight.unwrap_or(1.0));
            let known = sections.entry(planned.section).or_insert((shares.0, shares.1, 0));
            known.2 += planned.input.bytes;
        }
        let ratio = |(_, weight, bytes): &(f64, f64, u64)| weight / (*bytes).max(1) as f64;
        let most = sections.values().map(ratio).fold(0.0, f64::max);
        if is_weighted && most <= 0.0 {
            return Err(PlanError::value(
                "input.weight",
                "the weights add up to nothing; give a section of the mix a weight above 0",
            ));
        }
        let shares = sections.iter().map(|(section, known)| {
            let (sample, weight) = (known.0, if is_weighted { ratio(known) / most } else { 1.0 });
            (*section, Share { sample, weight })
        });
        Ok(Self {
            seed: pipeline.select.seed,
            shares: shares.collect(),
        })
    }

    /// The key that leaves a conversation of a section out, if one does.
    pub(super) fn leaves_out(&self, section: usize, id: &str) -> Option<&'static str> {
        let share = self.shares.get(&section)?;
        if share.sample >= 1.0 && share.weight >= 1.0 {
            return None;
        }
        // Not the place in `select.sample`: a sample of a sample would be all of it.
        let place = position(&[b"mix", &self.seed.to_le_bytes(), id.as_bytes()]);
        if place >= share.sample {
            Some("input.sample")
        } else if place >= share.sample * share.weight {
            Some("input.weight")
        } else {
            None
        }
    }
}
