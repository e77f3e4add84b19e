//! Removes reasoning that a format writes into its texts from the messages of a reading.

use chatmill_diag::Finding;
use chatmill_model::{Message, MessageKind, Part, Role};

use crate::base::texts::thoughts::{divided, fresh, in_parts};
use crate::frame::Reading;
use crate::source::About;

/// Separates reasoning from the texts of a reading, unless the format itself does.
pub(crate) fn reading(about: &About, read: Result<Reading, Box<Finding>>) -> Reading {
    let mut reading = about.stored(read);
    let conversation = reading.conversation.iter_mut();
    conversation
        .flat_map(|conversation| {
            let others = conversation.alternatives.iter_mut();
            let others = others.filter_map(|alternative| alternative.messages.as_mut());
            conversation.messages.iter_mut().chain(others.flatten())
        })
        .for_each(take_out);
    reading
}

/// Turns the thoughts at the beginning of an assistant's first text into reasoning, for any format, unless the message has them already.
fn take_out(message: &mut Message) {
    if message.role != Role::Assistant || message.kind != MessageKind::Message {
        return;
    }
    let is_text = |part: &Part| matches!(part, Part::Text(_));
    let Some(place) = message.parts.iter().position(is_text) else {
        return;
    };
    let Some(Part::Text(text)) = message.parts.get(place) else {
        return;
    };
    let mut thoughts = Vec::new();
    let mut rest = text.as_str();
    while let Some((thought, answer)) = divided(rest) {
        thoughts.push(thought.to_owned());
        rest = answer;
    }
    if thoughts.is_empty() {
        return;
    }
    let rest = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
    let thoughts = fresh(in_parts(&message.parts), thoughts)
        .into_iter()
        .map(Part::Reasoning);
    let parts: Vec<Part> = thoughts.chain(rest.map(Part::Text)).collect();
    message.parts.splice(place..=place, parts);
}
