//! The fraction of each `[[input]]` section that goes into the dataset: a sample of it, and fractions that
//! keep sections in proportion.
//!
//! No input is read twice to balance a mix: the section with the fewest bytes for its weight is taken whole,
//! and each other section is sampled so that the bytes of input are in the wanted proportion. The hash of a
//! conversation's id and the seed decide whether it is in the sample; the others are counted as filtered.

use std::collections::BTreeMap;

use super::inputs::PlannedInput;
use super::selection::position;
use crate::error::PlanError;
use crate::pipeline::Pipeline;

/// The fraction of each section of a plan that is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Mix {
    seed: u64,
    /// By the number of a section among those of the plan's inputs.
    fractions: BTreeMap<usize, Fractions>,
}

/// The part of a section that is read, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fractions {
    sample: f64,
    weight: f64,
}

impl Mix {
    /// Checks the keys of the sections, and measures them by the bytes of their inputs as they lie on disk.
    pub(super) fn new(pipeline: &Pipeline, inputs: &[PlannedInput]) -> Result<Self, PlanError> {
        for section in &pipeline.input {
            let is_fraction = |sample| (0.0..=1.0).contains(&sample);
            if !section.sample.is_none_or(is_fraction) {
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
            let (sample, weight) = (written.sample.unwrap_or(1.0), written.weight.unwrap_or(1.0));
            let known = sections.entry(planned.section).or_insert((sample, weight, 0));
            known.2 += planned.input.bytes;
        }
        let ratio = |(_, weight, bytes): &(f64, f64, u64)| weight / (*bytes).max(1) as f64;
        let most = sections.values().map(ratio).fold(0.0, f64::max);
        if is_weighted && most <= 0.0 {
            return Err(PlanError::value(
                "input.weight",
                "the weights add up to 0; give a section of the mix a weight above 0",
            ));
        }
        let fractions = sections.iter().map(|(section, known)| {
            let (sample, weight) = (known.0, if is_weighted { ratio(known) / most } else { 1.0 });
            (*section, Fractions { sample, weight })
        });
        Ok(Self {
            seed: pipeline.select.seed,
            fractions: fractions.collect(),
        })
    }

    /// The key that leaves a conversation of a section out, if one does.
    pub(super) fn leaves_out(&self, section: usize, id: &str) -> Option<&'static str> {
        let fractions = self.fractions.get(&section)?;
        if fractions.sample >= 1.0 && fractions.weight >= 1.0 {
            return None;
        }
        // Not the place in `select.sample`: a sample of a sample would be all of it.
        let place = position(&[b"mix", &self.seed.to_le_bytes(), id.as_bytes()]);
        if place >= fractions.sample {
            Some("input.sample")
        } else if place >= fractions.sample * fractions.weight {
            Some("input.weight")
        } else {
            None
        }
    }
}
