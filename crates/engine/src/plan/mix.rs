//! The part of each `[[input]]` section that is kept: a sample of it,
//! weights that keep sections in proportion, and a total for all.
//!
//! All conversations of the section with the least data for its weight are kept, and so many of each other
//! section that the amounts have the proportions of the weights. Which ones depends on the hash of their
//! id and the seed; the others are counted as filtered. A fixed sample is drawn while records are read.
//! Weights and the total need the amount of data first, so a survey reads the inputs once before the run does.

use std::collections::BTreeMap;
use std::sync::Arc;

use chatmill_model::Conversation;
use chatmill_token::{Encoding, SharedTokenCounter};

use super::encodings::required;
use super::inputs::PlannedInput;
use super::selection::{conversation_tokens, position};
use super::{require, require_fraction};
use crate::error::PlanError;
use crate::pipeline::{MixTotal, Pipeline};

/// The resolved mix of a plan's sections.
#[derive(Clone, Default)]
pub(crate) struct Mix {
    seed: u64,
    /// The sample of each section, by the number of the section.
    samples: BTreeMap<usize, f64>,
    /// The balance of sections, if a weight or a total requires it.
    pub(crate) balance: Option<Balance>,
}

/// Weights and total of a mix.
#[derive(Clone)]
pub(crate) struct Balance {
    unit: Unit,
    /// The weight of each section; empty without weights.
    pub(crate) weights: BTreeMap<usize, f64>,
    /// The maximum of all sections together.
    pub(crate) total: Option<u64>,
}

/// The unit of weights and of the total.
#[derive(Clone)]
enum Unit {
    Bytes,
    Conversations,
    Tokens(Arc<SharedTokenCounter>),
}

impl Mix {
    /// Checks the keys of the sections and of `[mix]`; `encodings` are those of the pipeline.
    pub(super) fn new(
        pipeline: &Pipeline,
        inputs: &[PlannedInput],
        encodings: &[Encoding],
    ) -> Result<Self, PlanError> {
        for section in &pipeline.input {
            require_fraction(section.sample, "input.sample")?;
            let is_weight = |weight: f64| weight.is_finite() && weight >= 0.0;
            let problem = "it must be a number from 0 on";
            require(section.weight.is_none_or(is_weight), "input.weight", problem)?;
        }
        let is_weighted = pipeline.input.iter().any(|section| section.weight.is_some());
        let (mut samples, mut weights) = (BTreeMap::new(), BTreeMap::new());
        for planned in inputs {
            let written = &planned.settings.written;
            samples.insert(planned.section, written.sample.unwrap_or(1.0));
            if is_weighted {
                weights.insert(planned.section, written.weight.unwrap_or(1.0));
            }
        }
        let has_some = weights.values().any(|weight| *weight > 0.0);
        let problem = "the weights add up to 0; give a section of the mix a weight above 0";
        require(!is_weighted || has_some, "input.weight", problem)?;
        let unit = unit(pipeline.mix.unit.as_deref(), encodings)?;
        let total = pipeline.mix.total.as_ref().map(total).transpose()?;
        Ok(Self {
            seed: pipeline.select.seed,
            samples,
            balance: (is_weighted || total.is_some()).then_some(Balance { unit, weights, total }),
        })
    }

    /// Returns the key that excludes a conversation of a section while it is read, if any.
    pub(super) fn excluded_by(&self, section: usize, id: &str) -> Option<&'static str> {
        let sample = self.samples.get(&section).filter(|sample| **sample < 1.0)?;
        (self.place(id) >= *sample).then_some("input.sample")
    }

    /// Returns the place of a conversation in its section, between 0 and 1: those with low places are kept.
    pub(crate) fn place(&self, id: &str) -> f64 {
        // The hash differs from the one of `select.sample`. With the same hash, that key would have kept the
        // conversations with low places, and a sample of what it kept would be all of it.
        position(&[b"mix", &self.seed.to_le_bytes(), id.as_bytes()])
    }
}

impl Balance {
    /// Returns the amount of a conversation in the unit; `bytes` is the length of its record.
    pub(crate) fn measure(&self, conversation: &Conversation, bytes: usize) -> u64 {
        match &self.unit {
            Unit::Bytes => bytes as u64,
            Unit::Conversations => 1,
            Unit::Tokens(counter) => counter.with(|count| conversation_tokens(conversation, count)),
        }
    }

    /// Returns the unit as written in the pipeline file.
    pub(crate) fn unit(&self) -> String {
        match &self.unit {
            Unit::Bytes => "bytes".to_owned(),
            Unit::Conversations => "conversations".to_owned(),
            Unit::Tokens(counter) => format!("tokens@{}", counter.name()),
        }
    }
}

fn unit(word: Option<&str>, encodings: &[Encoding]) -> Result<Unit, PlanError> {
    const KEY: &str = "mix.unit";
    match word {
        None | Some("bytes") => Ok(Unit::Bytes),
        Some("conversations") => Ok(Unit::Conversations),
        Some(word) => {
            let Some(encoding) = word.strip_prefix("tokens@") else {
                let known = ["bytes", "conversations", "tokens@o200k_base"];
                return Err(PlanError::unknown(KEY, "unit", word, known.into_iter()));
            };
            let encoding = required(encodings, KEY, encoding)?.clone();
            Ok(Unit::Tokens(Arc::new(SharedTokenCounter::new(encoding))))
        }
    }
}

fn total(written: &MixTotal) -> Result<u64, PlanError> {
    let read = |text: &str| -> Option<u64> {
        let factors = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
        let suffixed = |(suffix, factor): &(&str, u64)| Some((text.strip_suffix(suffix)?, *factor));
        let (number, factor) = factors.iter().find_map(suffixed).unwrap_or((text, 1));
        number.trim_end().parse::<u64>().ok()?.checked_mul(factor)
    };
    let total = match written {
        MixTotal::Number(number) => Some(*number),
        MixTotal::Text(text) => read(text),
    };
    total.filter(|total| *total > 0).ok_or_else(|| {
        let problem = "it must be a whole number above 0, or a text such as \"50M\" (k, M and G are thousands, millions and \
                       thousands of millions)";
        PlanError::value("mix.total", problem)
    })
}
