//! Statistics on the conversations of a dataset, from narrow columns of its tables. Texts, and what is trained on of each rendering, are read
//! for `chatmill inspect` only, and for the report of a small dataset.

use chatmill_dataset::statistics::{CountedMessage, LearnedShare, Statistics, StatisticsSums};
use chatmill_dataset::{Batch, Batches, Columns as _, Dataset, DatasetError, Numbers, Spans, Texts, columns};
use chatmill_diag::cut;

use crate::build::quotes;

/// Characters of all messages up to which a report reads their texts: a tenth of a second.
const READ_CHARACTERS: u64 = 32_000_000;

/// Renderings up to which a report reads what is trained on of each.
const READ_RENDERINGS: u64 = 100_000;

/// The unit where nothing was counted.
const CHARACTERS: &str = "characters";

/// All statistics on a dataset; first and last turns are among them where the pipeline lets content be quoted.
pub fn statistics(dataset: &Dataset) -> Result<Statistics, DatasetError> {
    let overview = dataset.overview()?;
    let asked = Asked {
        encodings: dataset.encodings(),
        reads_texts: true,
        reads_spans: true,
        quotes: shows_turns(dataset),
    };
    Ok(Statistics {
        roles: overview.roles,
        tools: overview.tools,
        tools_left_out: overview.tools_left_out,
        ..asked.statistics(dataset)?
    })
}

/// The statistics of a report on a dataset with so many characters: in the first encoding. What is trained on, and first and last turns,
/// are among them where few renderings and little text have to be read for it.
pub(super) fn of_report(dataset: &Dataset, characters: u64) -> Result<Statistics, DatasetError> {
    let quotes = shows_turns(dataset) && characters <= READ_CHARACTERS;
    let encodings = dataset.encodings();
    let (first, _) = encodings.split_at(encodings.len().min(1));
    let asked = Asked {
        encodings: first,
        reads_texts: quotes,
        reads_spans: dataset.rows("renderings") <= READ_RENDERINGS,
        quotes,
    };
    asked.statistics(dataset)
}

/// Whether the pipeline lets turns be shown: it keeps content, and lets it be quoted.
fn shows_turns(dataset: &Dataset) -> bool {
    let content = dataset.manifest().plan.pointer("/output/content");
    quotes(dataset.manifest()) && content.and_then(|content| content.as_str()) != Some("none")
}

/// What is asked of a dataset.
struct Asked<'a> {
    encodings: &'a [String],
    reads_texts: bool,
    reads_spans: bool,
    quotes: bool,
}

columns! {
    struct SpanColumns {
        dialect: Texts,
        profile: Texts,
        bytes: Numbers,
        assistant_spans: Spans,
        learned_spans: Spans,
    }

    struct Heads {
        conversation_id: Texts,
        source: Texts,
    }
}

impl Asked<'_> {
    fn statistics(&self, dataset: &Dataset) -> Result<Statistics, DatasetError> {
        let mut found = if dataset.has("messages") && dataset.has("conversations") {
            self.sums(dataset)?.statistics()
        } else {
            Statistics::default()
        };
        if self.reads_spans && dataset.has("renderings") {
            found.learned = learned(dataset)?;
        }
        Ok(found)
    }

    /// Walks through messages and conversations side by side: both have the same order.
    fn sums(&self, dataset: &Dataset) -> Result<StatisticsSums, DatasetError> {
        let mut units = self.encodings.to_vec();
        if self.reads_texts && units.is_empty() {
            units.push(CHARACTERS.to_owned());
        }
        let mut sums = StatisticsSums::new(units, self.quotes);
        let tokens: Vec<String> = self
            .encodings
            .iter()
            .map(|name| format!("tokens_{name}"))
            .collect();
        let mut names = vec!["conversation_id", "role", "kind"];
        names.extend(tokens.iter().map(String::as_str));
        names.extend(self.reads_texts.then_some("text"));
        let mut heads = Cursor::of(dataset)?;
        for batch in dataset.batches("messages", &names) {
            let batch = batch?;
            self.batch(&batch, &tokens, &mut heads, &mut sums)?;
        }
        while let Some(source) = heads.source() {
            sums.finish(source);
            heads.advance()?;
        }
        Ok(sums)
    }

    fn batch(
        &self,
        batch: &Batch,
        tokens: &[String],
        heads: &mut Cursor<'_>,
        sums: &mut StatisticsSums,
    ) -> Result<(), DatasetError> {
        let column = |name: &str| batch.column::<Texts>(name);
        let (ids, roles, kinds) = (column("conversation_id")?, column("role")?, column("kind")?);
        let texts = self.reads_texts.then(|| column("text")).transpose()?;
        let tokens: Vec<Numbers> = tokens
            .iter()
            .map(|name| batch.column(name))
            .collect::<Result<_, _>>()?;
        let mut lengths = Vec::new();
        for row in 0..batch.rows() {
            while heads.id() != Some(ids.at(row)) {
                let source = heads.source();
                sums.finish(source.ok_or_else(|| batch.corrupt("it has messages of no conversation"))?);
                heads.advance()?;
            }
            if kinds.at(row) != "message" {
                continue;
            }
            let text = texts.as_ref().map(|texts| texts.at(row));
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
}

/// The conversations of a dataset, one after the other.
struct Cursor<'d> {
    batches: Batches<'d>,
    heads: Option<Heads>,
    row: usize,
    rows: usize,
}

impl<'d> Cursor<'d> {
    fn of(dataset: &'d Dataset) -> Result<Self, DatasetError> {
        let mut cursor = Self {
            batches: dataset.batches("conversations", &Heads::names()),
            heads: None,
            row: 0,
            rows: 0,
        };
        cursor.fill()?;
        Ok(cursor)
    }

    fn id(&self) -> Option<&str> {
        self.heads
            .as_ref()
            .map(|heads| heads.conversation_id.at(self.row))
    }

    fn source(&self) -> Option<&str> {
        self.heads.as_ref().map(|heads| heads.source.at(self.row))
    }

    fn advance(&mut self) -> Result<(), DatasetError> {
        self.row += 1;
        self.fill()
    }

    fn fill(&mut self) -> Result<(), DatasetError> {
        while self.row >= self.rows {
            let Some(batch) = self.batches.next().transpose()? else {
                self.heads = None;
                return Ok(());
            };
            (self.row, self.rows) = (0, batch.rows());
            self.heads = Some(Heads::of(&batch)?);
        }
        Ok(())
    }
}

/// What is trained on of the renderings of each dialect; those without text of the assistant, or whose text was not kept, have no row.
fn learned(dataset: &Dataset) -> Result<Vec<LearnedShare>, DatasetError> {
    let mut shares: Vec<LearnedShare> = Vec::new();
    let length = |spans: &Spans, row| -> u64 {
        let spans = spans.at(row).into_iter();
        spans.map(|span| span.end.saturating_sub(span.start)).sum()
    };
    dataset.each_row("renderings", &mut |columns: &SpanColumns, row| {
        let assistant = length(&columns.assistant_spans, row);
        if assistant == 0 {
            return;
        }
        let (dialect, profile) = (columns.dialect.at(row), columns.profile.at(row));
        let is_its = |share: &LearnedShare| share.dialect == dialect && share.profile == profile;
        let place = shares.iter().position(is_its).unwrap_or(shares.len());
        if place == shares.len() {
            shares.push(LearnedShare {
                dialect: dialect.to_owned(),
                profile: profile.to_owned(),
                unit: "bytes".to_owned(),
                ..LearnedShare::default()
            });
        }
        let share = cut::at_mut(&mut shares, place);
        share.whole += columns.bytes.at(row);
        share.assistant += assistant;
        share.learned += length(&columns.learned_spans, row);
    })?;
    shares.sort_by(|one, other| (&one.dialect, &one.profile).cmp(&(&other.dialect, &other.profile)));
    Ok(shares)
}
