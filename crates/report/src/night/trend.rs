//! The page of a store: the state of each night, and figures over time.
//!
//! The page is rendered from the records, which outlive the datasets. It loads nothing and shows no content of chats.

use chatmill_model::target_name;
use serde::Serialize;

use crate::figures::RunFigures;
use crate::night::{NightRecord, NightState};
use crate::templates::{TemplateError, fill};

/// The number of nights in the charts, which are the last ones.
const DRAWN: usize = 120;
/// The number of nights in the table, which are the last ones.
const LISTED: usize = 400;
/// The number of charts of tokens, and of money.
const PICTURES: usize = 4;
/// The number of failed conditions that are listed for a night.
const REASONS: usize = 3;

#[derive(Serialize)]
struct NightsPage<'r> {
    name: &'r str,
    nonce: &'r str,
    /// The number of nights that ended, and of good ones among them.
    number: usize,
    good: usize,
    last: Option<NightLine<'r>>,
    last_good: Option<&'r str>,
    /// The number of consecutive good nights at the end.
    in_row: usize,
    series: Vec<Series<'r>>,
    /// The dialect of the tokens in the table.
    tokens_of: Option<&'r str>,
    nights: Vec<NightLine<'r>>,
}

#[derive(Serialize)]
struct NightLine<'r> {
    night: &'r str,
    state: &'static str,
    is_good: bool,
    is_removed: bool,
    seconds: Option<f64>,
    figures: Option<&'r RunFigures>,
    objections: &'r [String],
    /// The number of failed conditions that are not listed.
    more: usize,
}

/// A quantity over time.
#[derive(Serialize)]
struct Series<'r> {
    title: String,
    /// The subtitle; empty if the title is sufficient.
    under: String,
    marks: Vec<Mark<'r>>,
}

/// The value of a night; `None` if there is no dataset.
#[derive(Serialize)]
struct Mark<'r> {
    night: &'r str,
    value: Option<f64>,
    is_good: bool,
}

impl<'r> NightLine<'r> {
    fn new(record: &'r NightRecord) -> Self {
        let (objections, more) = record.objections.split_at(record.objections.len().min(REASONS));
        Self {
            night: &record.night,
            state: record.state.word(),
            is_good: record.state.is_good(),
            is_removed: record.is_removed,
            seconds: record.seconds,
            figures: record.figures.as_ref(),
            objections,
            more: more.len(),
        }
    }
}

/// Writes the page of a store. The records are in the order of their nights.
pub fn trend_page(records: &[NightRecord]) -> Result<String, TemplateError> {
    let ended = records.iter().filter(|record| record.state != NightState::Begun);
    let ended: Vec<&NightRecord> = ended.collect();
    let mut hasher = blake3::Hasher::new();
    for record in &ended {
        hasher.update(record.night.as_bytes());
        record.objections.iter().for_each(|text| {
            hasher.update(text.as_bytes());
        });
    }
    let is_good = |record: &&&NightRecord| record.state.is_good();
    let last = ended.last();
    let figures = ended.iter().rev().find_map(|record| record.figures.as_ref());
    let tokens_of = figures.and_then(|figures| figures.tokens.first());
    let page = NightsPage {
        name: last.map_or("", |record| &record.pipeline),
        nonce: &hasher.finalize().to_hex(),
        number: ended.len(),
        good: ended.iter().filter(is_good).count(),
        last: last.map(|record| NightLine::new(record)),
        last_good: ended.iter().rfind(is_good).map(|record| record.night.as_str()),
        in_row: ended.iter().rev().take_while(is_good).count(),
        series: all_series(ended.split_at(ended.len().saturating_sub(DRAWN)).1),
        tokens_of: tokens_of.map(|figure| figure.dialect.as_str()),
        nights: ended
            .iter()
            .rev()
            .take(LISTED)
            .map(|record| NightLine::new(record))
            .collect(),
    };
    Ok(fill("nights.html", &page, [])?.into_string())
}

/// The charts of the page, for the quantities of the last night with figures.
fn all_series<'r>(nights: &[&'r NightRecord]) -> Vec<Series<'r>> {
    let series = |title: &str, under: String, value: &dyn Fn(&NightRecord) -> Option<f64>| Series {
        title: title.to_owned(),
        under,
        marks: nights
            .iter()
            .map(|record| Mark {
                night: &record.night,
                value: value(record),
                is_good: record.state.is_good(),
            })
            .collect(),
    };
    let count = |title: &str, under: &str, count: fn(&RunFigures) -> u64| {
        series(title, under.to_owned(), &|record| {
            Some(count(record.figures.as_ref()?) as f64)
        })
    };
    let mut all = vec![
        count("Conversations", "", |figures| figures.conversations),
        count("Messages", "", |figures| figures.messages),
        count("Rejects", "", |figures| figures.rejects),
        count("Errors", "findings", |figures| figures.errors),
        count("Warnings", "findings", |figures| figures.warnings),
    ];
    let last = nights.iter().rev().find_map(|record| record.figures.as_ref());
    if let Some(last) = last {
        let first = last.tokens.first().map(|figure| &figure.encoding);
        let shown = last
            .tokens
            .iter()
            .filter(|figure| Some(&figure.encoding) == first);
        all.extend(shown.take(PICTURES).map(|shown| {
            let name = target_name(&shown.dialect, &shown.profile);
            series("Tokens", format!("{name} in {}", shown.encoding), &|record| {
                let figures = record.figures.as_ref()?;
                let same = figures.tokens.iter().find(|figure| figure.key() == shown.key());
                same.map(|figure| figure.tokens as f64)
            })
        }));
        let model = last.money.first().map(|figure| &figure.model);
        let shown = last.money.iter().filter(|figure| Some(&figure.model) == model);
        all.extend(shown.take(PICTURES).map(|shown| {
            let name = target_name(&shown.dialect, &shown.profile);
            let title = format!("Money in {}", shown.currency);
            series(&title, format!("{name} for {}", shown.model), &|record| {
                let figures = record.figures.as_ref()?;
                let same = figures.money.iter().find(|figure| figure.is_of(shown));
                same.map(|figure| figure.amount)
            })
        }));
    }
    all.push(series("Duration in seconds", String::new(), &|record| {
        record.seconds
    }));
    // A chart that has only zeros is left out.
    all.retain(|series| series.marks.iter().any(|mark| mark.value > Some(0.0)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::RunFigures;
    use crate::figures::TokenFigure;
    use crate::report::MoneyFigure;

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
        let page = trend_page(&records).unwrap();
        for expected in [
            "<title>&lt;b&gt; – scheduled runs</title>",
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
            assert!(page.contains(expected), "{expected} is not in\n{page}");
        }
        assert!(
            !page.contains("<b>") && !page.contains("Rejects</figcaption>"),
            "{page}"
        );
        assert!(!page.contains("2026-11-02T021500Z/dataset"), "{page}");
    }

    #[test]
    fn a_night_without_a_dataset_is_drawn_without_a_number_that_is_none() {
        let records = [night(1, NightState::Good, 7), night(2, NightState::Failed, 0)];
        let page = trend_page(&records).unwrap();
        let (drawn, _) = page.split_once("<script").unwrap();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(
            drawn.contains("no dataset") && drawn.contains("part-bad"),
            "{drawn}"
        );
    }

    #[test]
    fn a_store_without_a_night_has_a_page() {
        assert!(trend_page(&[]).unwrap().contains("No run has ended yet"));
    }

    #[test]
    fn only_the_last_nights_are_drawn_and_listed() {
        let records: Vec<NightRecord> = (0..=LISTED).map(|_| night(1, NightState::Good, 7)).collect();
        let page = trend_page(&records).unwrap();
        assert!(page.contains("and 1 earlier runs;"), "one is left out");
        assert_eq!(page.matches("2026-11-01T021500Z: 7, good").count(), DRAWN);
        assert!(!trend_page(&records[1..]).unwrap().contains("earlier runs;"));
    }
}
