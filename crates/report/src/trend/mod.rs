//! The nights of a store on one page: how each stands, and how the figures go from night to night.
//!
//! It is made of the records, which outlive the datasets. It loads nothing, and says nothing of what a chat holds.

mod chart;

use chart::{Mark, Series, chart};

use crate::html::document::{Dress, document, tile};
use crate::html::markup::{Html, count, counted};
use crate::html::table::{numbers, numbers_of, table, words};
use crate::html::{SCRIPT, duration};
use crate::night::{NightRecord, NightState};

/// Nights that are drawn: the last ones.
const DRAWN: usize = 120;
/// Nights that are listed: the last ones.
const LISTED: usize = 400;
/// Pictures of tokens, and of money.
const PICTURES: usize = 4;
/// Objections that are listed of a night.
const REASONS: usize = 3;

const STYLE: &str = include_str!("trend.css");

/// Writes the page of a store. The records are in the order of their nights.
pub fn trend_page(records: &[NightRecord]) -> String {
    let ended: Vec<&NightRecord> = records
        .iter()
        .filter(|record| record.state != NightState::Begun)
        .collect();
    let mut hasher = blake3::Hasher::new();
    for record in &ended {
        hasher.update(record.night.as_bytes());
        record.objections.iter().for_each(|text| {
            hasher.update(text.as_bytes());
        });
    }
    let nonce = hasher.finalize().to_hex();
    let name = ended.last().map_or("", |record| record.pipeline.as_str());
    let dress = Dress {
        style: STYLE,
        scripts: &[SCRIPT],
    };
    document(&format!("{name} – nights"), &nonce, &dress, |html| {
        header(html, name, &ended);
        html.raw("<main id=\"main\">\n");
        pictures(html, &ended);
        listing(html, &ended);
        html.raw("<footer>Made of the store’s records. <code>history.parquet</code> has the same figures for queries, and every ")
            .raw("night’s <code>night.md</code> says what changed in it.</footer>\n</main>\n");
    })
}

fn header(html: &mut Html, name: &str, ended: &[&NightRecord]) {
    html.raw("<header>\n<p class=\"overline\">chatmill nights</p>\n<h1>")
        .text(name);
    let Some(last) = ended.last() else {
        html.raw("</h1>\n<p>No night has ended yet.</p>\n</header>\n");
        return;
    };
    html.raw(if last.state.is_good() {
        "<span class=\"verdict good\">"
    } else {
        "<span class=\"verdict error\">"
    });
    html.text(last.state.word()).raw("</span></h1>\n<p>");
    html.text(&counted(ended.len() as u64, "night"))
        .raw(" that ended, the last one ")
        .text(&last.night);
    html.raw(".</p>\n<dl class=\"tiles\">");
    let good = ended.iter().filter(|record| record.state.is_good());
    let share = format!("of {}", counted(ended.len() as u64, "night"));
    tile(html, "Good nights", &count(good.clone().count() as u64), &share);
    let in_row = ended.iter().rev().take_while(|record| record.state.is_good());
    match good.clone().next_back() {
        Some(good) if good.night == last.night => {
            let nights = counted(in_row.count() as u64, "night");
            tile(html, "Good without a break", &nights, "");
        }
        Some(good) => {
            let day = good.night.split('T').next().unwrap_or_default();
            tile(html, "Last good night", day, &good.night);
        }
        None => tile(html, "Last good night", "none", ""),
    }
    if let Some(figures) = &last.figures {
        tile(html, "Conversations", &count(figures.conversations), &last.night);
        tile(html, "Rejects", &count(figures.rejects), &last.night);
    }
    if let Some(seconds) = last.seconds {
        tile(html, "Duration", &duration(seconds), &last.night);
    }
    html.raw("</dl>\n</header>\n");
}

fn pictures(html: &mut Html, ended: &[&NightRecord]) {
    let drawn = ended.get(ended.len().saturating_sub(DRAWN)..).unwrap_or_default();
    html.raw("<section id=\"trend\" aria-labelledby=\"trend-title\">\n<h2 id=\"trend-title\">From night to night</h2>\n<p>A bar for each ")
        .raw("night; one that something objects to is red, and one without a dataset is a red stroke.</p><div class=\"pictures\">");
    for series in all_series(drawn) {
        chart(html, &series);
    }
    html.raw("</div>\n</section>\n");
}

/// What is drawn: what the last night with figures has.
fn all_series(nights: &[&NightRecord]) -> Vec<Series> {
    let figures = |value: fn(&crate::figures::RunFigures) -> u64| {
        move |record: &NightRecord| record.figures.as_ref().map(|figures| value(figures) as f64)
    };
    let mut all = vec![
        series(
            nights,
            "Conversations",
            "",
            &figures(|figures| figures.conversations),
        ),
        series(nights, "Messages", "", &figures(|figures| figures.messages)),
        series(nights, "Rejects", "", &figures(|figures| figures.rejects)),
        series(nights, "Errors", "findings", &figures(|figures| figures.errors)),
        series(
            nights,
            "Warnings",
            "findings",
            &figures(|figures| figures.warnings),
        ),
    ];
    let last = nights.iter().rev().find_map(|record| record.figures.as_ref());
    let tokens = last.map(|figures| figures.tokens.as_slice()).unwrap_or_default();
    let first = tokens.first().map_or("", |figure| figure.encoding.as_str());
    for shown in tokens
        .iter()
        .filter(|figure| figure.encoding == first)
        .take(PICTURES)
    {
        let name = chatmill_model::target_name(&shown.dialect, &shown.profile);
        let value = |record: &NightRecord| {
            let figures = record.figures.as_ref()?;
            let mut all = figures.tokens.iter();
            let same = all.find(|figure| {
                (
                    &figure.dialect,
                    &figure.profile,
                    &figure.coverage,
                    &figure.encoding,
                ) == (&shown.dialect, &shown.profile, &shown.coverage, &shown.encoding)
            });
            same.map(|figure| figure.tokens as f64)
        };
        all.push(series(nights, "Tokens", &format!("{name} in {first}"), &value));
    }
    let money = last.map(|figures| figures.money.as_slice()).unwrap_or_default();
    let model = money.first().map(|figure| &figure.model);
    for shown in money
        .iter()
        .filter(|figure| Some(&figure.model) == model)
        .take(PICTURES)
    {
        let name = chatmill_model::target_name(&shown.dialect, &shown.profile);
        let value = |record: &NightRecord| {
            let figures = record.figures.as_ref()?;
            let mut all = figures.money.iter();
            let same = all.find(|figure| {
                (&figure.dialect, &figure.profile, &figure.coverage, &figure.model)
                    == (&shown.dialect, &shown.profile, &shown.coverage, &shown.model)
            });
            same.map(|figure| figure.amount)
        };
        let title = format!("Money in {}", shown.currency);
        all.push(series(
            nights,
            &title,
            &format!("{name} for {}", shown.model),
            &value,
        ));
    }
    all.push(series(nights, "Duration in seconds", "", &|record| {
        record.seconds
    }));
    // A picture of zeros says nothing.
    all.retain(|series| {
        series
            .marks
            .iter()
            .any(|mark| mark.value.is_some_and(|value| value > 0.0))
    });
    all
}

fn series(
    nights: &[&NightRecord],
    title: &str,
    under: &str,
    value: &dyn Fn(&NightRecord) -> Option<f64>,
) -> Series {
    let marks = nights.iter().map(|record| Mark {
        night: record.night.clone(),
        value: value(record),
        is_good: record.state.is_good(),
    });
    Series {
        title: title.to_owned(),
        under: under.to_owned(),
        marks: marks.collect(),
    }
}

fn listing(html: &mut Html, ended: &[&NightRecord]) {
    html.raw(
        "<section id=\"nights\" aria-labelledby=\"nights-title\">\n<h2 id=\"nights-title\">Nights</h2>\n",
    );
    let last = ended.iter().rev().find_map(|record| record.figures.as_ref());
    let token = last.and_then(|figures| figures.tokens.first());
    let mut heads = vec![
        words("Night"),
        words("State"),
        numbers("Conversations"),
        numbers("Rejects"),
        numbers("Errors"),
        numbers("Warnings"),
    ];
    if let Some(token) = token {
        heads.push(numbers_of(format!("Tokens of {}", token.dialect)));
    }
    heads.push(numbers("Duration"));
    heads.push(words("What objects"));
    table(html, "Nights, the last one first", &heads, |html| {
        for record in ended.iter().rev().take(LISTED) {
            row(html, record, token.is_some());
        }
    });
    if let Some(left) = ended.len().checked_sub(LISTED).filter(|left| *left > 0) {
        html.raw("<p class=\"quiet\">and ")
            .count(left as u64)
            .raw(" before; <code>history.parquet</code> has them.</p>\n");
    }
    html.raw("</section>\n");
}

fn row(html: &mut Html, record: &NightRecord, has_tokens: bool) {
    html.raw("<tr><th scope=\"row\">");
    let has_dataset = record.figures.is_some() && !record.is_removed;
    if has_dataset {
        html.raw("<a href=\"")
            .text(&record.night)
            .raw("/dataset/report.html\">")
            .text(&record.night)
            .raw("</a>");
    } else {
        html.text(&record.night);
    }
    html.raw("</th><td class=\"")
        .raw(if record.state.is_good() { "good" } else { "error" })
        .raw("\">")
        .text(record.state.word())
        .raw("</td>");
    match &record.figures {
        Some(figures) => {
            html.figure(figures.conversations)
                .fault(figures.rejects, "warning")
                .fault(figures.errors, "error")
                .figure(figures.warnings);
            if has_tokens {
                html.figure(figures.tokens.first().map_or(0, |figure| figure.tokens));
            }
        }
        None => {
            for _ in 0..4 + usize::from(has_tokens) {
                html.raw("<td class=\"number zero\">–</td>");
            }
        }
    }
    html.raw("<td class=\"number\" data-sort=\"");
    match record.seconds {
        Some(seconds) => html.fixed(seconds, 3).raw("\">").text(&duration(seconds)),
        None => html.raw("0\">–"),
    };
    html.raw("</td><td class=\"why\">");
    for (place, objection) in record.objections.iter().take(REASONS).enumerate() {
        if place > 0 {
            html.raw("<br>");
        }
        html.text(objection);
    }
    if record.objections.len() > REASONS {
        html.raw("<br>and ")
            .count((record.objections.len() - REASONS) as u64)
            .raw(" more");
    }
    html.raw("</td>").end_row();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{MoneyFigure, RunFigures, TokenFigure};

    fn night(day: u32, state: NightState, conversations: u64) -> NightRecord {
        let figures = RunFigures {
            conversations,
            tokens: vec![TokenFigure {
                dialect: "openai-chat".to_owned(),
                encoding: "o200k_base".to_owned(),
                tokens: 100 * conversations,
                ..TokenFigure::default()
            }],
            money: vec![MoneyFigure {
                model: "large".to_owned(),
                currency: "USD".to_owned(),
                amount: 0.5,
                ..MoneyFigure::default()
            }],
            ..RunFigures::default()
        };
        NightRecord {
            night: format!("2026-11-{day:02}T021500Z"),
            state,
            pipeline: "<b>".to_owned(),
            seconds: Some(65.25),
            figures: (state != NightState::Failed).then_some(figures),
            ..NightRecord::default()
        }
    }

    #[test]
    fn a_page_shows_every_night_with_its_figures() {
        let mut bad = night(3, NightState::Objected, 2);
        bad.objections = vec!["conversations < -10%: <fell>".to_owned(); 5];
        let records = [
            night(1, NightState::Good, 7),
            night(2, NightState::Failed, 0),
            bad,
            NightRecord::default(),
        ];
        let page = trend_page(&records);
        for said in [
            "<title>&lt;b&gt; – nights</title>",
            "href=\"2026-11-03T021500Z/dataset/report.html\"",
            "2026-11-01T021500Z: 7, good",
            "2026-11-02T021500Z: no dataset",
            "Tokens",
            "Money in USD",
            "1 min 5 s",
            "conversations &lt; -10%: &lt;fell&gt;",
            "<br>and 2 more",
            "class=\"verdict error\">objected",
        ] {
            assert!(page.contains(said), "{said} is not in\n{page}");
        }
        assert!(
            !page.contains("<b>") && !page.contains("Rejects</figcaption>"),
            "{page}"
        );
        assert!(!page.contains("2026-11-02T021500Z/dataset"), "{page}");
    }

    #[test]
    fn a_store_without_a_night_has_a_page() {
        assert!(trend_page(&[]).contains("No night has ended yet"));
    }

    #[test]
    fn only_the_last_nights_are_drawn_and_listed() {
        let records: Vec<NightRecord> = (0..=LISTED).map(|_| night(1, NightState::Good, 7)).collect();
        let page = trend_page(&records);
        assert!(page.contains("and 1 before;"), "one is left out");
        assert_eq!(page.matches("2026-11-01T021500Z: 7, good").count(), DRAWN);
        assert!(!trend_page(&records[1..]).contains("before;"));
    }
}
