//! The training weight of a message, as fine-tuning files write it.
//!
//! `OpenAI` writes `weight`, LLaMA-Factory `loss_weight`, others `train: false`. A value of another kind stays where it is.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{RawJson, Weight};

/// Reads the weight of a message and removes it from the fields without a place.
pub(crate) fn take(message: Value<'_>, rest: &mut Vec<(String, RawJson)>) -> Option<Weight> {
    let (key, weight) = ["weight", "loss_weight", "train"]
        .into_iter()
        .find_map(|key| Some((key, weight(message.get(key)?)?)))?;
    rest.retain(|(other, _)| other != key);
    Some(weight)
}

fn weight(value: Value<'_>) -> Option<Weight> {
    match value.kind() {
        Kind::Bool(is_trained) => Weight::new(f64::from(u8::from(is_trained))),
        Kind::Number => Weight::new(value.raw().parse().ok()?),
        _ => None,
    }
}
