//! The training weight of a message, as fine-tuning files write it.
//!
//! `OpenAI` writes `weight`, LLaMA-Factory `loss_weight`, ms-swift `loss_scale`, others whether a message is trained on or is masked: as a number, a
//! truth value, or one of these as a text, as tables have them. A value of another type stays among the extra fields.
//!
//! axolotl marks pieces of a message, too: its parts, or ranges of its text in `train_detail`. A message is no target if none of its pieces is one.
//! Where some are, the marks stay among the extra fields, because a weight is that of a whole message.

use chatmill_intake::json::{Kind, Mark, Value};
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
    /// A list of parts or of ranges, each with a field of this table; text in no range is not trained on.
    Pieces,
}

/// Fields with the weight; the first one present is used.
const FIELDS: [(&str, Means); 14] = [
    ("content", Means::Pieces),
    ("train_detail", Means::Pieces),
    ("weight", Means::Weight),
    ("loss_weight", Means::Weight),
    ("train", Means::Trained),
    ("training", Means::Trained),
    ("trainable", Means::Trained),
    ("loss", Means::Trained),
    ("loss_mask", Means::Trained),
    ("step_loss_mask", Means::Trained),
    ("output_with_loss", Means::Trained),
    ("loss_scale", Means::Weight),
    ("masked", Means::Masked),
    ("mask", Means::Masked),
];

/// A field with a weight: its name, meaning and value, and the weight.
type Found<'d> = (&'static str, Means, Value<'d>, Weight);

/// Reads the weight of a message and removes it from the extra fields. Marks of pieces stay there, because they are also about the pieces.
pub(crate) fn take(message: Value<'_>, rest: &mut Vec<(String, RawJson)>) -> Option<Weight> {
    let (field, means, value, weight) = found(message)?;
    if means == Means::Pieces {
        let marks = value.items().filter_map(found);
        marks.for_each(|(_, _, mark, _)| mark.mark(Mark::Taken));
    } else {
        value.mark(Mark::Taken);
        rest.retain(|(other, _)| other != field);
    }
    Some(weight)
}

/// The first of the fields that a message, or a piece of one, has.
fn found(holder: Value<'_>) -> Option<Found<'_>> {
    // Few messages have one of these fields: one walk over all fields is enough to find that there is none.
    let mut first = None;
    for (key, value) in holder.fields() {
        let mut known = FIELDS.iter().enumerate();
        if let Some((place, (field, means))) = known.find(|(_, (field, _))| *field == key)
            && first.is_none_or(|(before, _)| place <= before)
        {
            first = weight(value, *means)
                .map(|weight| (place, (*field, *means, value, weight)))
                .or(first);
        }
    }
    first.map(|(_, found)| found)
}

fn weight(value: Value<'_>, means: Means) -> Option<Weight> {
    let number = match means {
        Means::Pieces => return of_pieces(value),
        _ => number(value)?,
    };
    match means {
        Means::Weight => Weight::new(number),
        // Any other number is a measure, such as the loss of a model.
        _ if ![0.0, 1.0].contains(&number) => None,
        Means::Masked => Weight::new(1.0 - number),
        _ => Weight::new(number),
    }
}

/// The weight 0 if no piece of a list is trained on.
fn of_pieces(pieces: Value<'_>) -> Option<Weight> {
    let is_context = |piece| found(piece).is_some_and(|(.., weight)| weight.value() == 0.0);
    let is_list = pieces.kind() == Kind::Array && !pieces.is_empty();
    (is_list && pieces.items().all(is_context)).then(|| Weight::new(0.0))?
}

fn number(value: Value<'_>) -> Option<f64> {
    match value.kind() {
        Kind::Bool(is_so) => Some(f64::from(u8::from(is_so))),
        Kind::Number => value.raw().parse().ok(),
        Kind::String => match &*value.string()?.trim().to_ascii_lowercase() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            number => number.parse().ok(),
        },
        _ => None,
    }
}
