//! The training weight of a message, as fine-tuning files write it.
//!
//! `OpenAI` writes `weight`, LLaMA-Factory `loss_weight`, others whether a message is trained on or is masked. A value of another type
//! stays among the extra fields.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{RawJson, Weight};

/// The meaning of a field for the weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// The weight itself, or `true` and `false` for 1 and 0.
    Weight,
    /// Whether the message is trained on.
    Trained,
    /// Whether the message is left out of the training.
    Masked,
}

/// Fields with the weight; the first one present is used.
const FIELDS: [(&str, Means); 8] = [
    ("weight", Means::Weight),
    ("loss_weight", Means::Weight),
    ("train", Means::Trained),
    ("training", Means::Trained),
    ("trainable", Means::Trained),
    ("loss", Means::Trained),
    ("masked", Means::Masked),
    ("mask", Means::Masked),
];

/// Reads the weight of a message and removes it from the extra fields.
pub(crate) fn take(message: Value<'_>, rest: &mut Vec<(String, RawJson)>) -> Option<Weight> {
    // Few messages have one of these fields: one walk over all fields is enough to find that there is none.
    let mut first = None;
    for (key, value) in message.fields() {
        let mut known = FIELDS.iter().enumerate();
        if let Some((place, (field, means))) = known.find(|(_, (field, _))| *field == key)
            && first.is_none_or(|(before, _, _)| place <= before)
        {
            first = weight(value, *means)
                .map(|weight| (place, *field, weight))
                .or(first);
        }
    }
    let (_, key, weight) = first?;
    rest.retain(|(other, _)| other != key);
    Some(weight)
}

fn weight(value: Value<'_>, means: Means) -> Option<Weight> {
    let number = match value.kind() {
        Kind::Bool(is_so) => f64::from(u8::from(is_so)),
        Kind::Number => value.raw().parse().ok()?,
        _ => return None,
    };
    match means {
        Means::Weight => Weight::new(number),
        // Any other number is a measure, such as the loss of a model.
        _ if ![0.0, 1.0].contains(&number) => None,
        Means::Trained => Weight::new(number),
        Means::Masked => Weight::new(1.0 - number),
    }
}
