//! One quantity from night to night, as inline SVG.

use crate::html::charts::column;
use crate::html::markup::{Html, count, whole};

const WIDTH: f64 = 340.0;
/// Where the bars stand.
const FLOOR: f64 = 100.0;
/// Height of the highest bar.
const HEIGHT: f64 = 84.0;
/// Widest bar.
const WIDEST: f64 = 28.0;

/// A quantity.
pub(super) struct Series {
    /// What it is.
    pub title: String,
    /// Of what.
    pub under: String,
    /// Its value in each night.
    pub marks: Vec<Mark>,
}

/// The value of a night.
pub(super) struct Mark {
    /// The night.
    pub night: String,
    /// The value; none where there is no dataset.
    pub value: Option<f64>,
    /// Whether the night is good.
    pub is_good: bool,
}

/// Draws a series.
pub(super) fn chart(html: &mut Html, series: &Series) {
    let values = series.marks.iter().filter_map(|mark| mark.value);
    let most = values.clone().fold(0.0, f64::max);
    html.raw("<figure><figcaption>")
        .text(&series.title)
        .raw("<small>");
    if !series.under.is_empty() {
        html.text(&series.under).raw("; ");
    }
    let last = values.clone().next_back();
    html.raw("last ")
        .text(&last.map_or_else(|| "–".to_owned(), shown))
        .raw(", largest ")
        .text(&shown(most))
        .raw("</small></figcaption>");
    html.raw("<svg class=\"histogram\" viewBox=\"0 0 340 122\" role=\"img\" aria-label=\"")
        .text(&series.title)
        .raw(" from night to night\">");
    // A few nights stand at the left, in bars of a bearable width.
    let step = (WIDTH / series.marks.len().max(1) as f64).min(WIDEST);
    for (index, mark) in series.marks.iter().enumerate() {
        night(html, mark, index as f64 * step, step, most);
    }
    html.raw("<line class=\"axis\" x1=\"0\" x2=\"340\" y1=\"100.5\" y2=\"100.5\"/>");
    let end = (step * series.marks.len() as f64).max(130.0);
    if let (Some(first), Some(last)) = (series.marks.first(), series.marks.last()) {
        html.raw("<text class=\"tick\" x=\"0\" y=\"117\">")
            .text(day(&first.night))
            .raw("</text>");
        if day(&first.night) != day(&last.night) {
            html.raw("<text class=\"tick\" text-anchor=\"end\" x=\"")
                .fixed(end, 1)
                .raw("\" y=\"117\">")
                .text(day(&last.night))
                .raw("</text>");
        }
    }
    html.raw("</svg></figure>\n");
}

fn night(html: &mut Html, mark: &Mark, left: f64, step: f64, most: f64) {
    let gap = (step * 0.14).min(3.0);
    let (said, height) = match mark.value {
        // A value that is there shows, be it ever so small.
        Some(value) if value > 0.0 => (shown(value), (HEIGHT * value / most).max(1.5)),
        Some(value) => (shown(value), 0.0),
        None => ("no dataset".to_owned(), 3.0),
    };
    html.raw("<g><title>").text(&mark.night).raw(": ").text(&said);
    if mark.value.is_some() {
        html.raw(if mark.is_good { ", good" } else { ", not good" });
    }
    html.raw("</title>");
    let class = if mark.is_good { "part-good" } else { "part-bad" };
    column(html, class, (left, step, gap), (FLOOR, height));
    html.raw("</g>");
}

/// The day of a night's name.
fn day(night: &str) -> &str {
    night.split('T').next().unwrap_or_default()
}

/// A value for people: whole numbers as they are, small ones with the decimals that they need.
fn shown(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 {
        count(whole(value))
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_decimals_that_they_need() {
        assert_eq!(
            [0.0, 7.0, 12_345.6, 2.25, 0.0123].map(shown),
            ["0", "7", "12,345", "2.2", "0.0123"]
        );
    }

    #[test]
    fn a_series_of_nothing_is_drawn_without_a_number_that_is_none() {
        let mut html = Html::default();
        let marks = vec![Mark {
            night: "2026-11-01T021500Z".to_owned(),
            value: None,
            is_good: false,
        }];
        chart(
            &mut html,
            &Series {
                title: "Messages".to_owned(),
                under: String::new(),
                marks,
            },
        );
        let drawn = html.into_string();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(
            drawn.contains("no dataset") && drawn.contains("part-bad"),
            "{drawn}"
        );
    }
}
