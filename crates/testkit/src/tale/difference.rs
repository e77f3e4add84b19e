//! The difference between what is expected and what is told.

use super::{Piece, Tale};

/// The first difference between what is expected and what is told, in words; none where there is none.
pub fn difference(expected: &Tale, told: &Tale) -> Option<String> {
    if (&expected.id, &expected.metadata, expected.people) != (&told.id, &told.metadata, told.people) {
        return Some(format!(
            "facts about the conversation or its people: {:?} {:?} {} but {:?} {:?} {}",
            expected.id, expected.metadata, expected.people, told.id, told.metadata, told.people
        ));
    }
    let tools_fit = expected.tools.len() == told.tools.len()
        && expected.tools.iter().zip(&told.tools).all(|pair| match pair {
            (Some(one), Some(other)) => {
                one.name.matches(&other.name)
                    && one.description == other.description
                    && (one.is_reshaped || one.parameters == other.parameters)
            }
            _ => false,
        });
    if !tools_fit {
        return Some(format!("tools: {:?} but {:?}", expected.tools, told.tools));
    }
    let (mut one_numbers, mut other_numbers) = (Vec::new(), Vec::new());
    for (index, (one, other)) in expected.turns.iter().zip(&told.turns).enumerate() {
        let fits = one.role == other.role
            && one.name.matches(&other.name)
            && one.sender == other.sender
            && one.facts == other.facts
            && one.is_notice == other.is_notice
            && one.pieces.len() == other.pieces.len()
            && one
                .pieces
                .iter()
                .zip(&other.pieces)
                .all(|(one, other)| piece_fits(one, other, &mut one_numbers, &mut other_numbers));
        if !fits {
            return Some(format!("turn {index}:\n  expected {one:?}\n  told     {other:?}"));
        }
    }
    let counts = (expected.turns.len(), told.turns.len());
    (counts.0 != counts.1).then(|| {
        let more = expected.turns.get(counts.1).or(told.turns.get(counts.0));
        format!("{} turns expected, {} told; {more:?}", counts.0, counts.1)
    })
}

/// Whether a piece is what is expected. Calls are numbered anew, in the order in which they are met.
fn piece_fits(one: &Piece, other: &Piece, ones: &mut Vec<usize>, others: &mut Vec<usize>) -> bool {
    match (one, other) {
        (Piece::Text { words, .. }, Piece::Text { words: told, .. }) => words.matches(&told.text().unwrap()),
        (
            Piece::Call {
                number,
                id,
                name,
                asked,
            },
            Piece::Call {
                number: other_number,
                id: other_id,
                name: other_name,
                asked: other_asked,
            },
        ) => {
            ones.push(*number);
            others.push(*other_number);
            id.matches(other_id)
                && name.matches(other_name)
                && (asked.form, &asked.text) == (other_asked.form, &other_asked.text)
        }
        (
            Piece::Answer {
                call,
                id,
                name,
                words,
                is_error,
                ..
            },
            Piece::Answer {
                call: other_call,
                id: other_id,
                name: other_name,
                words: told,
                is_error: other_error,
                ..
            },
        ) => {
            let place = |call: &Option<usize>, numbers: &[usize]| {
                call.map(|call| numbers.iter().position(|number| *number == call))
            };
            place(call, ones) == place(other_call, others)
                && id.matches(other_id)
                && name.matches(other_name)
                && is_error == other_error
                && words.matches(&told.text().unwrap())
        }
        (one, other) => one == other,
    }
}
