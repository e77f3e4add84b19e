//! Charts as inline SVG: bars that stand in table rows, bars of parts, histograms. Colours are the style sheet's.

use super::markup::{Html, count};
use crate::report::{Distribution, TokenCell};

/// Width of a bar that fills its cell, in units of its own drawing.
const FULL: f64 = 1000.0;

/// The parts of a price, with the class of their colour.
pub(super) const PARTS: [(&str, &str); 6] = [
    ("content", "part-content"),
    ("names", "part-names"),
    ("framing", "part-framing"),
    ("tools", "part-tools"),
    ("replies", "part-replies"),
    ("meta", "part-meta"),
];

/// The sizes of the parts, in the order of [`PARTS`].
pub(super) fn parts(cell: &TokenCell) -> [u64; 6] {
    [
        cell.content,
        cell.names,
        cell.framing,
        cell.tools,
        cell.replies,
        cell.meta,
    ]
}

/// A cell with one bar of stacked parts; `share` of the cell is filled by all of them together.
pub(super) fn stacked(html: &mut Html, share: f64, sizes: &[(u64, &'static str)]) {
    html.raw("<td class=\"bar\">");
    bar(html, share, sizes);
    html.raw("</td>");
}

/// A bar of stacked parts. It repeats what numbers beside it say, so it is hidden from readers of the text.
pub(super) fn bar(html: &mut Html, share: f64, sizes: &[(u64, &'static str)]) {
    let whole: u64 = sizes.iter().map(|(size, _)| size).sum();
    html.raw("<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let mut left = 0.0;
    for (size, class) in sizes.iter().filter(|(size, _)| *size > 0) {
        let width = FULL * share.clamp(0.0, 1.0) * *size as f64 / whole as f64;
        html.raw("<rect class=\"")
            .raw(class)
            .raw("\" x=\"")
            .fixed(left, 1)
            .raw("\" y=\"0\" height=\"10\" width=\"")
            // A part that is there shows, be it ever so small.
            .fixed(width.max(2.0), 1)
            .raw("\"/>");
        left += width;
    }
    html.raw("</svg>");
}

/// A legend: names with the colours of their parts.
pub(super) fn legend(html: &mut Html, entries: &[(&'static str, &'static str)]) {
    html.raw("<ul class=\"legend\">");
    for (name, class) in entries {
        html.raw("<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"")
            .raw(class)
            .raw("\" width=\"10\" height=\"10\" rx=\"2\"/></svg>")
            .raw(name)
            .raw("</li>");
    }
    html.raw("</ul>\n");
}

/// A column of a chart, which stands on the floor in its step of the axis with a gap beside it; all above the step answers the
/// pointer.
pub(crate) fn column(
    html: &mut Html,
    class: &'static str,
    (left, step, gap): (f64, f64, f64),
    (floor, height): (f64, f64),
) {
    html.raw("<rect class=\"hit\" x=\"")
        .fixed(left, 1)
        .raw("\" y=\"0\" height=\"")
        .fixed(floor, 0)
        .raw("\" width=\"")
        .fixed(step, 1)
        .raw("\"/><rect class=\"")
        .raw(class)
        .raw("\" x=\"")
        .fixed(left + gap / 2.0, 1)
        .raw("\" y=\"")
        .fixed(floor - height, 1)
        .raw("\" height=\"")
        .fixed(height, 1)
        .raw("\" width=\"")
        .fixed((step - gap).max(0.5), 1)
        .raw("\"/>");
}

/// A histogram whose bins double in width.
pub(super) fn histogram(html: &mut Html, distribution: &Distribution) {
    const WIDTH: f64 = 340.0;
    const FLOOR: f64 = 118.0;
    const HEIGHT: f64 = 96.0;
    let bins = &distribution.bins;
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or_default();
    if most == 0 {
        html.raw("<p class=\"quiet\">There is nothing to show.</p>");
        return;
    }
    let step = WIDTH / bins.len() as f64;
    // Narrow bins share labels, so that these do not run into each other.
    let every = (bins.len() * 34).div_ceil(340).max(1);
    html.raw("<svg class=\"histogram\" viewBox=\"0 0 340 138\" role=\"img\" aria-label=\"Histogram of ")
        .text(&distribution.name)
        .raw("\">");
    for (index, bin) in bins.iter().enumerate() {
        let left = index as f64 * step;
        let height = HEIGHT * bin.count as f64 / most as f64;
        let height = if bin.count > 0 { height.max(1.5) } else { 0.0 };
        let gap = (step * 0.12).min(3.0);
        html.raw("<g><title>")
            .text(&bounds(bin.from))
            .raw(": ")
            .count(bin.count)
            .raw("</title>");
        column(html, "part-content", (left, step, gap), (FLOOR, height));
        if bin.count == most {
            html.raw("<text class=\"value\" text-anchor=\"middle\" x=\"")
                .fixed((left + step / 2.0).clamp(20.0, WIDTH - 20.0), 1)
                .raw("\" y=\"")
                .fixed(FLOOR - height - 5.0, 1)
                .raw("\">")
                .count(bin.count)
                .raw("</text>");
        }
        html.raw("</g>");
        if index.is_multiple_of(every) {
            html.raw("<text class=\"tick\" text-anchor=\"start\" x=\"")
                .fixed(left + gap / 2.0, 1)
                .raw("\" y=\"133\">")
                .text(&short(bin.from))
                .raw("</text>");
        }
    }
    html.raw("<line class=\"axis\" x1=\"0\" x2=\"340\" y1=\"118.5\" y2=\"118.5\"/></svg>");
}

/// The values of a bin, for people.
fn bounds(from: u64) -> String {
    let to = from.saturating_mul(2).saturating_sub(1);
    if to > from {
        format!("{} to {}", count(from), count(to))
    } else {
        count(from)
    }
}

/// A bound that fits under its bar: powers of two are near enough to thousands and millions.
fn short(from: u64) -> String {
    match from {
        0..1024 => from.to_string(),
        1024..1_048_576 => format!("{}k", from / 1024),
        1_048_576..1_073_741_824 => format!("{}M", from / 1_048_576),
        _ => format!("{}G", from / 1_073_741_824),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Bin;

    #[test]
    fn bounds_are_inclusive() {
        assert_eq!(bounds(0), "0");
        assert_eq!(bounds(1), "1");
        assert_eq!(bounds(1024), "1,024 to 2,047");
        assert_eq!(short(65_536), "64k");
    }

    #[test]
    fn an_empty_distribution_draws_nothing() {
        let mut html = Html::default();
        histogram(&mut html, &Distribution::default());
        assert!(!html.into_string().contains("<svg"));
    }

    #[test]
    fn every_bin_has_a_bar_and_a_title() {
        let bins = (0..40)
            .map(|exponent| Bin {
                from: 1 << exponent,
                count: exponent + 1,
            })
            .collect();
        let mut html = Html::default();
        let distribution = Distribution {
            bins,
            ..Distribution::default()
        };
        histogram(&mut html, &distribution);
        let drawn = html.into_string();
        assert_eq!(drawn.matches("<title>").count(), 40);
        assert!(!drawn.contains("NaN"), "{drawn}");
    }
}
