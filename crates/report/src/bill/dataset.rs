//! The bill of a dataset, from its tables.

use std::collections::BTreeMap;

use chatmill_dataset::{Batch, Batches, Dataset, DatasetError, Flags, Numbers, Texts};
use chatmill_token::TokenCounts;
use jiff::Timestamp;

use super::{Bill, BillBy, BillRequest, Booking, TEXT};
use crate::cells::GroupKey;

/// Columns that say which rendering a row is about, in both tables.
const RENDERING: [&str; 11] = [
    "conversation_id",
    "dialect",
    "profile",
    "perspective",
    "ordinal",
    "coverage",
    "messages_rendered",
    "bytes",
    "requests",
    "valid",
    "loss_count",
];
const COUNT: [&str; 13] = [
    "conversation_id",
    "dialect",
    "profile",
    "perspective",
    "ordinal",
    "encoding",
    "content",
    "names",
    "framing",
    "tools",
    "replies",
    "meta",
    "assistant_content",
];

/// Reads what is asked for off a dataset's tables.
pub fn of_dataset(dataset: &Dataset, request: &BillRequest) -> Result<Bill, DatasetError> {
    match request.by {
        BillBy::Participant | BillBy::Role => of_messages(dataset, request),
        BillBy::Tool => of_tools(dataset, request),
        BillBy::Nothing | BillBy::Source | BillBy::Conversation | BillBy::Day => {
            of_renderings(dataset, request)
        }
    }
}

/// Whether an encoding is asked for.
fn wants(request: &BillRequest, encoding: &str) -> bool {
    request.encodings.is_empty() || request.encodings.iter().any(|wanted| wanted == encoding)
}

fn of_renderings(dataset: &Dataset, request: &BillRequest) -> Result<Bill, DatasetError> {
    let groups = groups(dataset, request.by)?;
    let mut counts = Counts::new(dataset);
    let mut bill = Bill::default();
    let sent: Vec<String> = dataset
        .encodings()
        .iter()
        .map(|encoding| format!("sent_tokens_{encoding}"))
        .collect();
    let mut columns = RENDERING.to_vec();
    columns.extend(sent.iter().map(String::as_str));
    dataset.scan("renderings", &columns, &mut |batch| {
        let renderings = Renderings::of(batch)?;
        let sent = sent
            .iter()
            .map(|column| batch.numbers(column))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.rows() {
            let rendering = renderings.keys.at(row);
            let group = match request.by {
                BillBy::Conversation => rendering.conversation,
                _ => groups.get(rendering.conversation).map_or("", String::as_str),
            };
            let is_wanted = request.dialects.is_empty()
                || request
                    .dialects
                    .iter()
                    .any(|(dialect, profile)| dialect == rendering.dialect && profile == rendering.profile);
            let mut book = |encoding: &str, tally: TokenCounts| {
                let key = GroupKey {
                    group,
                    dialect: rendering.dialect,
                    profile: rendering.profile,
                    coverage: renderings.coverage.at(row),
                    encoding,
                };
                let booking = renderings.booking(row, tally);
                if is_wanted && wants(request, encoding) {
                    bill.book(key, &booking);
                }
            };
            if dataset.encodings().is_empty() {
                book("", TokenCounts::default());
            }
            for (encoding, sent) in dataset.encodings().iter().zip(&sent) {
                let counted = counts.next(&rendering, encoding)?;
                match counted {
                    Some(mut tally) => {
                        tally.sent = sent.at(row);
                        book(encoding, tally);
                    }
                    None => return Err(batch.fault("token_counts does not follow its rows")),
                }
            }
        }
        Ok(())
    })?;
    Ok(bill)
}

/// Which rendering a row is about.
#[derive(PartialEq, Eq)]
struct RenderingKey<'b> {
    conversation: &'b str,
    dialect: &'b str,
    profile: &'b str,
    perspective: &'b str,
    ordinal: u64,
}

/// The columns of a batch of `renderings`.
struct Renderings {
    keys: RenderingKeys,
    coverage: Texts,
    messages: Numbers,
    bytes: Numbers,
    requests: Numbers,
    valid: Flags,
    losses: Numbers,
}

impl Renderings {
    fn of(batch: &Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            keys: RenderingKeys::of(batch)?,
            coverage: batch.texts("coverage")?,
            messages: batch.numbers("messages_rendered")?,
            bytes: batch.numbers("bytes")?,
            requests: batch.numbers("requests")?,
            valid: batch.flags("valid")?,
            losses: batch.numbers("loss_count")?,
        })
    }

    fn booking(&self, row: usize, tally: TokenCounts) -> Booking {
        Booking {
            messages: self.messages.at(row),
            bytes: self.bytes.at(row),
            tally,
            requests: self.requests.at(row),
            invalid: !self.valid.at(row),
            losses: self.losses.at(row),
        }
    }
}

/// The columns that say which rendering a row is about.
struct RenderingKeys {
    conversation: Texts,
    dialect: Texts,
    profile: Texts,
    perspective: Texts,
    ordinal: Numbers,
}

impl RenderingKeys {
    fn of(batch: &Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            conversation: batch.texts("conversation_id")?,
            dialect: batch.texts("dialect")?,
            profile: batch.texts("profile")?,
            perspective: batch.texts("perspective")?,
            ordinal: batch.numbers("ordinal")?,
        })
    }

    fn at(&self, row: usize) -> RenderingKey<'_> {
        RenderingKey {
            conversation: self.conversation.at(row),
            dialect: self.dialect.at(row),
            profile: self.profile.at(row),
            perspective: self.perspective.at(row),
            ordinal: self.ordinal.at(row),
        }
    }
}

/// The columns of a batch of `token_counts`.
struct Tallies {
    rows: usize,
    keys: RenderingKeys,
    encoding: Texts,
    /// Content, names, framing, tools, replies, meta, assistant content.
    parts: [Numbers; 7],
}

impl Tallies {
    fn of(batch: &Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            rows: batch.rows(),
            keys: RenderingKeys::of(batch)?,
            encoding: batch.texts("encoding")?,
            parts: [
                batch.numbers("content")?,
                batch.numbers("names")?,
                batch.numbers("framing")?,
                batch.numbers("tools")?,
                batch.numbers("replies")?,
                batch.numbers("meta")?,
                batch.numbers("assistant_content")?,
            ],
        })
    }

    fn tally(&self, row: usize) -> TokenCounts {
        let [content, names, framing, tools, replies, meta, assistant_content] =
            self.parts.each_ref().map(|part| part.at(row));
        let mut tally = TokenCounts {
            tokens: 0,
            // It stands in the table of renderings.
            sent: 0,
            content,
            names,
            framing,
            tools,
            replies,
            meta,
            assistant_content,
        };
        tally.tokens = tally.parts();
        tally
    }
}

/// The rows of `token_counts`, read along with those of `renderings`: a run writes them side by side. Where renderings have a
/// file per dialect, the counts are read once for each.
struct Counts<'d> {
    dataset: &'d Dataset,
    batches: Batches<'d>,
    open: Option<Tallies>,
    row: usize,
    /// The dialect whose renderings are at hand, where each has files of its own.
    dialect: Option<String>,
}

impl<'d> Counts<'d> {
    fn new(dataset: &'d Dataset) -> Self {
        Self {
            dataset,
            batches: dataset.batches("token_counts", &COUNT),
            open: None,
            row: 0,
            dialect: dataset.is_parted("renderings").then(String::new),
        }
    }

    /// The next row, when it is about this rendering and encoding.
    fn next(&mut self, key: &RenderingKey<'_>, encoding: &str) -> Result<Option<TokenCounts>, DatasetError> {
        if let Some(dialect) = self.dialect.as_mut().filter(|dialect| *dialect != key.dialect) {
            key.dialect.clone_into(dialect);
            self.batches = self.dataset.batches("token_counts", &COUNT);
            self.open = None;
        }
        loop {
            while self.open.as_ref().is_none_or(|open| self.row >= open.rows) {
                match self.batches.next() {
                    Some(batch) => self.open = Some(Tallies::of(&batch?)?),
                    None => return Ok(None),
                }
                self.row = 0;
            }
            let row = self.row;
            self.row += 1;
            let Some(open) = &self.open else { continue };
            let found = open.keys.at(row);
            if self.dialect.is_some() && found.dialect != key.dialect {
                continue;
            }
            let is_it = found == *key && open.encoding.at(row) == encoding;
            return Ok(is_it.then(|| open.tally(row)));
        }
    }
}

/// The groups of conversations by their ids; nothing where the id itself or nothing groups them.
fn groups(dataset: &Dataset, by: BillBy) -> Result<BTreeMap<String, String>, DatasetError> {
    let mut groups = BTreeMap::new();
    if !matches!(by, BillBy::Source | BillBy::Day) {
        return Ok(groups);
    }
    let columns = ["conversation_id", "source", "started_at"];
    dataset.scan("conversations", &columns, &mut |batch| {
        let (ids, sources) = (batch.texts("conversation_id")?, batch.texts("source")?);
        let started = batch.times("started_at")?;
        for row in 0..batch.rows() {
            let group = match by {
                BillBy::Day => day(started.get(row)),
                _ => sources.at(row).to_owned(),
            };
            groups.insert(ids.at(row).to_owned(), group);
        }
        Ok(())
    })?;
    Ok(groups)
}

/// The day of an instant in UTC, `YYYY-MM-DD`; `undated` where there is none.
pub fn day(microseconds: Option<i64>) -> String {
    microseconds
        .and_then(|instant| Timestamp::from_microsecond(instant).ok())
        .map_or_else(
            || "undated".to_owned(),
            |instant| instant.strftime("%F").to_string(),
        )
}

/// What participants or roles say: the counts of the table of messages.
fn of_messages(dataset: &Dataset, request: &BillRequest) -> Result<Bill, DatasetError> {
    let wanted: Vec<(&str, String)> = dataset
        .encodings()
        .iter()
        .filter(|encoding| wants(request, encoding))
        .map(|encoding| (encoding.as_str(), format!("tokens_{encoding}")))
        .collect();
    let group = if request.by == BillBy::Role {
        "role"
    } else {
        "sender_id"
    };
    let mut columns = vec![group, "kind", "text"];
    columns.extend(wanted.iter().map(|(_, column)| column.as_str()));
    let mut bill = Bill::default();
    dataset.scan("messages", &columns, &mut |batch| {
        let (groups, kinds) = (batch.texts(group)?, batch.texts("kind")?);
        let texts = batch.texts("text")?;
        for (encoding, column) in &wanted {
            let tokens = batch.numbers(column)?;
            for row in (0..batch.rows()).filter(|row| kinds.at(*row) == "message") {
                let bytes = texts.at(row).len() as u64;
                bill.book_text(groups.get(row), encoding, bytes, tokens.at(row));
            }
        }
        Ok(())
    })?;
    Ok(bill)
}

/// What tools cost: arguments and results, counted now.
fn of_tools(dataset: &Dataset, request: &BillRequest) -> Result<Bill, DatasetError> {
    let counters: Vec<_> = dataset
        .encodings()
        .iter()
        .filter(|encoding| wants(request, encoding))
        .filter_map(|name| {
            let own = request.own.iter().find(|own| own.name() == name);
            own.or_else(|| chatmill_token::find(name))
        })
        .map(|encoding| (encoding.name(), encoding.counter()))
        .collect();
    let mut bill = Bill::default();
    let columns = ["name", "arguments", "result"];
    dataset.scan("tool_calls", &columns, &mut |batch| {
        let (names, arguments) = (batch.texts("name")?, batch.texts("arguments")?);
        let results = batch.texts("result")?;
        for row in 0..batch.rows() {
            let texts = [arguments.at(row), results.at(row)];
            for (encoding, counter) in &counters {
                let tokens = texts.iter().map(|text| counter.count(text)).sum();
                let bytes = texts.iter().map(|text| text.len() as u64).sum();
                bill.book_tool(names.get(row), encoding, bytes, tokens);
            }
        }
        Ok(())
    })?;
    Ok(bill)
}

impl Bill {
    /// Books the text of one message for who or what sent it.
    pub fn book_text(&mut self, group: Option<&str>, encoding: &str, bytes: u64, tokens: u64) {
        let tally = TokenCounts {
            tokens,
            content: tokens,
            ..TokenCounts::default()
        };
        self.book_plain(group, encoding, bytes, tally);
    }

    /// Books arguments and result of one call of a tool.
    pub fn book_tool(&mut self, group: Option<&str>, encoding: &str, bytes: u64, tokens: u64) {
        let tally = TokenCounts {
            tokens,
            tools: tokens,
            ..TokenCounts::default()
        };
        self.book_plain(group, encoding, bytes, tally);
    }

    fn book_plain(&mut self, group: Option<&str>, encoding: &str, bytes: u64, tally: TokenCounts) {
        let key = GroupKey {
            group: group.unwrap_or("(unknown)"),
            dialect: TEXT,
            profile: "",
            coverage: "whole",
            encoding,
        };
        let booking = Booking {
            messages: 1,
            bytes,
            tally,
            ..Booking::default()
        };
        self.book(key, &booking);
    }
}
