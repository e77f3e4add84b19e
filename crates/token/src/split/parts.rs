//! Cuts a rendering at its control tokens; the text between two of them is counted as a separate text.

use std::ops::Range;

use chatmill_model::span::ComponentSpan;

use super::part;

/// A part of a rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextOrControl<'t> {
    /// Ordinary text, never empty.
    Text(&'t str),
    /// One control token, with its length in bytes.
    Control(usize),
}

/// Calls `each` with each part of a text and the byte at which it begins, in order; together the parts are the text.
pub(crate) fn each_part<'t>(
    text: &'t str,
    spans: &[ComponentSpan],
    mut each: impl FnMut(usize, TextOrControl<'t>),
) {
    let mut from = 0;
    let mut start = 0;
    for span in spans {
        if span.control && span.end > start {
            ordinary(text, from..start, &mut each);
            each(start, TextOrControl::Control(span.end - start));
            from = span.end;
        }
        start = span.end;
    }
    ordinary(text, from..text.len(), &mut each);
}

fn ordinary<'t>(text: &'t str, range: Range<usize>, each: &mut impl FnMut(usize, TextOrControl<'t>)) {
    if !range.is_empty() {
        each(range.start, TextOrControl::Text(part(text, range)));
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::span::{Component, Speaker};

    use super::*;

    #[test]
    fn a_text_is_cut_at_both_ends_of_a_control_token_and_nowhere_else() {
        let span = |end, control| ComponentSpan {
            end,
            component: Component::Framing,
            speaker: Speaker::Other,
            control,
            requests: 0,
            written: false,
            answer: None,
        };
        let spans = [
            span(2, true),
            span(3, true),
            span(5, false),
            span(6, false),
            span(7, true),
        ];
        let mut seen = Vec::new();
        each_part("aabccdefg", &spans, |_, fragment| seen.push(fragment));
        assert_eq!(
            seen,
            [
                TextOrControl::Control(2),
                TextOrControl::Control(1),
                TextOrControl::Text("ccd"),
                TextOrControl::Control(1),
                TextOrControl::Text("fg"),
            ]
        );
        seen.clear();
        each_part("", &[], |_, fragment| seen.push(fragment));
        assert_eq!(seen, []);
    }
}
