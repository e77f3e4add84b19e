//! The row that an envelope makes of one rendering, without a dataset and without files: for looking at a single conversation.

use std::ops::Range;

use crate::candidate::{Candidate, RenderingFacts};
use crate::convert::exclusion::{asked, wanted};
use crate::envelope::Envelope;
use crate::fields;
use crate::filter::Filters;
use crate::summary::turn_counts::TurnCounts;

/// A row as an export would write it; its media are unchanged from the rendering.
#[derive(Debug)]
pub struct RowPreview {
    /// The row, an object.
    pub json: String,
    /// The ranges of its bytes that are trained on, as far as the row contains them unchanged from the rendering.
    pub trained: Vec<Range<usize>>,
    /// The turns of the assistant, by their use in training.
    pub turns: TurnCounts,
    /// Turns after the assistant's last one, which are not in the row.
    pub turns_cut: u64,
}

/// Makes the row of a rendering in a JSON dialect that the envelope accepts, with the filters of `convert`, or returns the reason for leaving it out.
pub fn preview(
    envelope: &Envelope,
    dialect: &str,
    rendering: &RenderingFacts<'_>,
) -> Result<RowPreview, String> {
    let filters = Filters {
        valid: true,
        ..Filters::default()
    };
    let candidate = Candidate {
        rendering,
        dialect,
        is_valid: rendering.violations.is_empty(),
        is_json: true,
    };
    if let Some(reason) = wanted::reason(&filters, &candidate) {
        return Err(reason);
    }
    if let Some(reason) = asked::reason(envelope, &filters, &candidate) {
        return Err(reason.to_owned());
    }
    let row = candidate.row();
    let wrapped = (envelope.wrap)(&row)?;
    let json = fields::object(&wrapped.fields);
    Ok(RowPreview {
        trained: trained(&json, rendering),
        json,
        turns: wrapped.turn_counts,
        turns_cut: wrapped.turns_cut,
    })
}

/// The bytes before a text of the assistant, which open its turn, that are searched with it.
const OPENING: usize = 24;

/// The trained ranges of a rendering in a row that has its turns in the same order.
fn trained(json: &str, rendering: &RenderingFacts<'_>) -> Vec<Range<usize>> {
    let content = rendering.content.unwrap_or_default();
    let mut found = Vec::new();
    let mut from = 0;
    for span in rendering.assistant_spans {
        let (start, end) = (span.start as usize, span.end as usize);
        // The first byte may be in the middle of a character.
        let mut openings = (0..=start.min(OPENING)).rev();
        let sought = openings.find_map(|opening| Some((opening, content.get(start - opening..end)?)));
        let (_, rest) = json.split_at(from);
        let at = sought.and_then(|(opening, sought)| Some((opening, sought, rest.find(sought)?)));
        let Some((opening, sought, at)) = at else {
            continue;
        };
        let range = from + at + opening..from + at + sought.len();
        from = range.end;
        let is_trained = |trained: &Range<u64>| trained.start < span.end && span.start < trained.end;
        if rendering.learned_spans.iter().any(is_trained) {
            found.push(range);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::find;

    const TWICE: &str = r#"{"messages":[{"role":"user","content":"ok"},{"role":"assistant","content":"ok"},{"role":"user","content":"And?"},{"role":"assistant","content":"ok"}]}"#;

    /// The row of a rendering; `assistant` has the assistant's texts, and only the last of them is trained on.
    fn row(envelope: &str, content: &str, assistant: &[Range<u64>]) -> Result<RowPreview, String> {
        let last = assistant.last().cloned();
        let facts = RenderingFacts {
            content: Some(content),
            assistant_spans: assistant,
            learned_spans: last.as_slice(),
            last_role: Some("assistant"),
            ..RenderingFacts::default()
        };
        let envelope = find(envelope).unwrap();
        preview(envelope, envelope.dialects[0], &facts)
    }

    #[test]
    fn the_trained_text_is_found_in_the_row_and_no_other_of_the_same_words() {
        let places: Vec<u64> = TWICE.match_indices("ok").map(|(at, _)| at as u64).collect();
        let spans = [places[1]..places[1] + 2, places[2]..places[2] + 2];
        let row = row("openai-sft", TWICE, &spans).unwrap();
        assert_eq!((row.turns.learned, row.turns.context), (1, 1));
        let [trained] = row.trained.as_slice() else {
            panic!("{:?}", row.trained)
        };
        let (before, from) = row.json.split_at(trained.start);
        assert!(before.ends_with(r#"{"role":"assistant","content":""#));
        assert_eq!(from, r#"ok"}]}"#);
    }

    #[test]
    fn a_rendering_that_the_envelope_leaves_out_has_a_reason() {
        let silent = r#"{"messages":[{"role":"user","content":"ok"}]}"#;
        assert_eq!(
            row("trl-messages", silent, &[]).unwrap_err(),
            "TRL-03: the assistant has no turn"
        );
    }
}
