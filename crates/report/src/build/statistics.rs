//! Statistics on the conversations of a dataset, from narrow columns of its tables. Texts, and the trained parts of each rendering, are
//! read only for `chatmill inspect` and for the report of a small dataset.

use std::collections::BTreeMap;

use chatmill_dataset::statistics::{CHARACTERS, CountedMessage, Statistics, StatisticsSums, TrainedPart};
use chatmill_dataset::{Batch, Dataset, DatasetError, Numbers, Rows, Spans, Texts, columns};

/// The number of characters in all messages up to which a report reads texts, which takes a tenth of a second.
const READ_CHARACTERS: u64 = 32_000_000;

/// The number of renderings up to which a report reads the trained parts of each.
const READ_RENDERINGS: u64 = 100_000;

/// All statistics on a dataset; first and last turns are included if the pipeline allows quoting content.
pub fn statistics(dataset: &Dataset) -> Result<Statistics, DatasetError> {
    let overview = dataset.overview()?;
    let mut units = dataset.encodings().to_vec();
    if units.is_empty() {
        units.push(CHARACTERS.to_owned());
    }
    Ok(Statistics {
        roles: overview.roles,
        tools: overview.tools,
        tools_left_out: overview.tools_left_out,
        trained: trained(dataset)?,
        ..sums(dataset, units, shows_turns(dataset))?.statistics()
    })
}

/// The statistics for the report on a dataset with this number of characters, in its first encoding. Trained parts, and first and last
/// turns, are included if there are few renderings and little text to read.
pub(super) fn of_report(dataset: &Dataset, characters: u64) -> Result<Statistics, DatasetError> {
    let units = dataset.encodings().iter().take(1).cloned().collect();
    let quotes = shows_turns(dataset) && characters <= READ_CHARACTERS;
    let mut found = sums(dataset, units, quotes)?.statistics();
    if dataset.rows("renderings") <= READ_RENDERINGS {
        found.trained = trained(dataset)?;
    }
    Ok(found)
}

/// Whether turns may be shown: the pipeline keeps content, and allows quoting it.
fn shows_turns(dataset: &Dataset) -> bool {
    let content = dataset.manifest().plan.pointer("/output/content");
    dataset.manifest().quotes() && content.and_then(|content| content.as_str()) != Some("none")
}

columns! {
    struct Heads {
        conversation_id: Texts,
        source: Texts,
    }
}

/// Reads messages and conversations in step, since both have the same order.
fn sums(dataset: &Dataset, units: Vec<String>, quotes: bool) -> Result<StatisticsSums, DatasetError> {
    let encodings = units.iter().filter(|unit| *unit != CHARACTERS);
    let tokens: Vec<String> = encodings.map(|name| format!("tokens_{name}")).collect();
    let reads_texts = quotes || tokens.len() < units.len();
    let mut sums = StatisticsSums::new(units, quotes);
    if !dataset.has("messages") || !dataset.has("conversations") {
        return Ok(sums);
    }
    let mut names = vec!["conversation_id", "role", "kind"];
    names.extend(tokens.iter().map(String::as_str));
    names.extend(reads_texts.then_some("text"));
    let mut heads = Rows::of(dataset, "conversations")?;
    dataset.scan("messages", &names, &mut |batch| {
        let texts = reads_texts.then(|| batch.column("text")).transpose()?;
        let tokens = tokens.iter().map(|name| batch.column(name));
        add(
            batch,
            (texts.as_ref(), &tokens.collect::<Result<Vec<_>, _>>()?),
            &mut heads,
            &mut sums,
        )
    })?;
    while let Some((columns, row)) = heads.current() {
        sums.finish(columns.source.at(row));
        heads.advance()?;
    }
    Ok(sums)
}

/// Adds a batch of messages, with their texts, if these are read, and their lengths in tokens.
fn add(
    batch: &Batch,
    (texts, tokens): (Option<&Texts>, &[Numbers]),
    heads: &mut Rows<'_, Heads>,
    sums: &mut StatisticsSums,
) -> Result<(), DatasetError> {
    let column = |name: &str| batch.column::<Texts>(name);
    let (ids, roles, kinds) = (column("conversation_id")?, column("role")?, column("kind")?);
    let mut lengths = Vec::new();
    for row in 0..batch.rows() {
        loop {
            let Some((columns, place)) = heads.current() else {
                return Err(batch.corrupt("it has messages without a conversation"));
            };
            if columns.conversation_id.at(place) == ids.at(row) {
                break;
            }
            sums.finish(columns.source.at(place));
            heads.advance()?;
        }
        if kinds.at(row) != "message" {
            continue;
        }
        let text = texts.map(|texts| texts.at(row));
        lengths.clear();
        lengths.extend(tokens.iter().map(|column| column.at(row)));
        if tokens.is_empty() {
            lengths.extend(text.map(|text| text.chars().count() as u64));
        }
        let role = roles.at(row);
        sums.add(CountedMessage {
            is_answer: role == "assistant",
            turn: text.filter(|_| matches!(role, "user" | "assistant")),
            lengths: &lengths,
        });
    }
    Ok(())
}

/// The trained parts of the renderings of each dialect. Renderings without text of the assistant, and those without stored text, have no
/// row.
fn trained(dataset: &Dataset) -> Result<Vec<TrainedPart>, DatasetError> {
    let mut parts: BTreeMap<(String, String), TrainedPart> = BTreeMap::new();
    let names = ["dialect", "profile", "bytes", "assistant_spans", "learned_spans"];
    let mut add = |batch: &Batch| {
        let [dialect, profile, bytes, assistant, trained] = names;
        let (dialect, profile) = (batch.column::<Texts>(dialect)?, batch.column::<Texts>(profile)?);
        let (assistant, trained) = (batch.column(assistant)?, batch.column(trained)?);
        let bytes: Numbers = batch.column(bytes)?;
        for row in 0..batch.rows() {
            let length = |spans: &Spans| -> u64 {
                let spans = spans.at(row).into_iter();
                spans.map(|span| span.end.saturating_sub(span.start)).sum()
            };
            let target = || (dialect.at(row).to_owned(), profile.at(row).to_owned());
            let assistant = length(&assistant);
            if assistant > 0 {
                let part = parts.entry(target()).or_default();
                part.whole += bytes.at(row);
                part.assistant += assistant;
                part.trained += length(&trained);
            }
        }
        Ok(())
    };
    if dataset.has("renderings") {
        dataset.scan("renderings", &names, &mut add)?;
    }
    let parts = parts.into_iter().map(|((dialect, profile), part)| TrainedPart {
        dialect,
        profile,
        unit: "bytes".to_owned(),
        ..part
    });
    Ok(parts.collect())
}
