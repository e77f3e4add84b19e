//! The card of an export, `README.md`, with a chart of lengths next to it: the facts that loaders, the Hub and readers need about a published folder.
//!
//! It contains no content of a message and no path of the machine, and does not depend on time or host. Its texts are those of `[card]` in
//! the pipeline; they and the figures of the run are in the manifest, which the template reads. `convert` calls [`files`] when the rows are
//! written.

mod command;
pub(crate) mod counts;
mod features;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use chatmill_dataset::{Dataset, Spread};
use chatmill_diag::visible::visible_lines;
use chatmill_diag::{codes, markdown, numbers};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::CARD;
use crate::card::command::command;
use crate::card::counts::CardCounts;
use crate::card::features::features;
use crate::error::ExportError;
use crate::request::ExportRequest;
use crate::summary::{ExportSummary, FileSummary};
use crate::writer::FileLayout;
use crate::writer::nested::NestedAs;
use crate::writer::part_files::WHOLE;

/// Name of the chart.
const LENGTHS: &str = "lengths.svg";

/// A file of a card: its name and its text.
pub(crate) type CardFile = (&'static str, String);

/// A part with all its files.
#[derive(Serialize)]
struct CardPart<'c> {
    /// The name of its split for loaders.
    split: String,
    #[serde(skip)]
    name: &'c str,
    path: String,
    rows: u64,
    conversations: u64,
    bytes: u64,
    lengths: Json,
}

/// The files of a card.
pub(crate) fn files(
    dataset: &Dataset,
    request: &ExportRequest,
    summary: &ExportSummary,
    layout: &FileLayout<'_>,
    counts: &CardCounts,
) -> Result<Vec<CardFile>, ExportError> {
    let manifest = dataset.manifest();
    let mut parts = parts(&summary.files);
    let mut whole = Spread::default();
    for (part, spread) in parts.iter_mut().zip(&counts.lengths) {
        whole.merge(spread);
        part.lengths = json!([spread.percentile(50), spread.percentile(95), spread.max()]);
    }
    let mut keys: Vec<&str> = Vec::new();
    for key in summary.files.iter().flat_map(|file| &file.keys) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let unit = counts.unit();
    let records = parts.iter().map(|part| part.rows).sum();
    let card = json!({
        "plan": manifest.plan,
        "totals": manifest.totals,
        "inputs": manifest.inputs.len(),
        "personal": [codes::PERSONAL_DATA.code, codes::SECRET.code],
        "summary": summary,
        "size": size(records),
        "conversations": parts.iter().map(|part| part.conversations).sum::<u64>(),
        "parts": parts,
        "keys": keys,
        "features": (request.nested == NestedAs::Struct).then(|| features(layout)),
        "tables": counts.tables(by(dataset)),
        "unit": unit,
        "converts": request.convert.is_some(),
        "command": command(request, &format!("{}@{}", summary.dialect, summary.profile)),
    });
    let mut files = vec![(CARD, fill("card.md", card)?)];
    if records > 0 {
        let picture = json!({ "unit": unit, "bins": whole.bins() });
        files.push((LENGTHS, fill("lengths.svg", picture)?));
    }
    Ok(files)
}

/// The field of the record that the card of a dataset counts by.
pub(crate) fn by(dataset: &Dataset) -> Option<&str> {
    dataset.manifest().plan.pointer("/card/by")?.as_str()
}

/// The parts, each with all its files.
fn parts(files: &[FileSummary]) -> Vec<CardPart<'_>> {
    let mut parts: Vec<CardPart<'_>> = Vec::new();
    let is_whole = files.iter().all(|file| file.part == WHOLE);
    for file in files {
        if let Some(part) = parts.last_mut().filter(|part| part.name == file.part) {
            // The numbers of shards have five digits.
            part.path = part.path.replace("-00000-of-", "-?????-of-");
            part.rows += file.rows;
            part.conversations += file.conversations;
            part.bytes += file.bytes;
            continue;
        }
        // Loaders accept names of splits with letters, digits and `_` only.
        let name = if is_whole { "train" } else { &file.part };
        let mut split = name.replace('-', "_");
        // To loaders, `all` means every split.
        while split == "all" || parts.iter().any(|part| part.split == split) {
            split.push('_');
        }
        parts.push(CardPart {
            split,
            name: &file.part,
            path: file.name.clone(),
            rows: file.rows,
            conversations: file.conversations,
            bytes: file.bytes,
            lengths: Json::Null,
        });
    }
    parts
}

/// The word of the Hub for this number of records.
fn size(records: u64) -> &'static str {
    match records {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        10_000_000..100_000_000 => "10M<n<100M",
        100_000_000..1_000_000_000 => "100M<n<1B",
        _ => "1B<n<10B",
    }
}

static ENVIRONMENT: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(environment);

/// Fills in a template; inserted text is escaped for Markdown or for XML.
fn fill(name: &'static str, data: Json) -> Result<String, ExportError> {
    let environment = ENVIRONMENT
        .as_ref()
        .map_err(|error| Error::new(error.kind(), error.to_string()));
    let filled = environment.and_then(|environment| environment.get_template(name)?.render(of_json(data)));
    filled.map_err(|source| ExportError::Card { name, source })
}

fn of_json(json: Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(is_so) => Value::from(is_so),
        Json::Number(number) => match number.as_u64() {
            Some(number) => Value::from(number),
            None => number.as_f64().map_or_else(|| Value::from(()), Value::from),
        },
        Json::String(text) => Value::from(text),
        Json::Array(entries) => entries.into_iter().map(of_json).collect(),
        Json::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, of_json(value)));
            Value::from(fields.collect::<BTreeMap<String, Value>>())
        }
    }
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true);
    environment.set_syntax(syntax.build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|name| match name {
        "card.md" => AutoEscape::Custom("markdown".into()),
        _ => AutoEscape::Html,
    });
    environment.set_formatter(|out, state, value| match state.auto_escape() {
        _ if value.is_none() || value.is_undefined() => {
            Err(Error::new(ErrorKind::InvalidOperation, "nothing is printed"))
        }
        AutoEscape::Custom(_) if value.is_safe() => out.write_str(&value.to_string()).map_err(Error::from),
        AutoEscape::Custom(_) => out
            .write_str(&markdown::plain(&value.to_string()))
            .map_err(Error::from),
        _ => minijinja::escape_formatter(out, state, value),
    });
    let safe = |filter: fn(&str) -> String| move |text: &str| Value::from_safe_string(filter(text));
    environment.add_filter("scalar", safe(markdown::scalar));
    environment.add_filter("code", safe(markdown::code));
    environment.add_filter("lines", safe(|text| visible_lines(text).into_owned()));
    environment.add_filter("bytes", numbers::bytes);
    environment.add_filter("count", numbers::count);
    environment.add_filter("counted", numbers::counted);
    environment.add_filter("fixed", |number: f64| format!("{number:.1}"));
    environment.add_template("card.md", include_str!("../../templates/card.md"))?;
    environment.add_template("lengths.svg", include_str!("../../templates/lengths.svg"))?;
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_get_names_that_loaders_take_each_its_own() {
        let file = |name: &str, part: &str| FileSummary {
            name: name.to_owned(),
            part: part.to_owned(),
            rows: 1,
            ..FileSummary::default()
        };
        let of = |files: &[FileSummary]| -> Vec<(String, String, u64)> {
            let parts = parts(files).into_iter();
            parts.map(|part| (part.split, part.path, part.rows)).collect()
        };
        let named = |split: &str, path: &str, rows| (split.to_owned(), path.to_owned(), rows);
        assert_eq!(
            of(&[file("data.jsonl", "data")]),
            [named("train", "data.jsonl", 1)]
        );
        let files = [
            file("a-b.jsonl", "a-b"),
            file("a_b-00000-of-00002.jsonl", "a_b"),
            file("a_b-00001-of-00002.jsonl", "a_b"),
            file("data.jsonl", "data"),
            file("all.jsonl", "all"),
        ];
        assert_eq!(
            of(&files),
            [
                named("a_b", "a-b.jsonl", 1),
                named("a_b_", "a_b-?????-of-00002.jsonl", 2),
                named("data", "data.jsonl", 1),
                named("all_", "all.jsonl", 1),
            ]
        );
    }
}
