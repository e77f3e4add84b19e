//! Makes the bill of a dataset from its tables.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use chatmill_dataset::{
    Batch, Batches, Columns, Components, Dataset, DatasetError, Flags, Numbers, Texts, Times, columns,
};
use chatmill_model::BilledUsage;
use chatmill_token::{Encoding, TokenCounts};
use jiff::tz::TimeZone;
use rayon::prelude::*;

use super::answers::{PaidAnswers, UsageColumns};
use super::message_text::{CallText, MessageBill, MessageText};
use super::prices::SEVERAL;
use super::shared::{self, Counting, Repeated};
use super::totals::{self, TotalsPart};
use super::{Bill, BillBy, BillEntry, BillRequest, TEXT};
use crate::cells::GroupKey;

/// The number of datasets that are open at a time.
const OPEN: usize = 64;

/// The bill of several datasets, which are read in parallel; `check` may refuse a dataset before it is read. Datasets that are given twice,
/// and conversations in several datasets, are counted once and returned with the bill. The bill does not depend on the number of threads:
/// each dataset is billed separately, and the bills are added in the order of `folders`.
pub fn of_datasets<E: From<DatasetError> + Send>(
    folders: &[&Path],
    request: &BillRequest,
    check: &(dyn Fn(&Dataset) -> Result<(), E> + Sync),
) -> Result<(Bill, Repeated), E> {
    let numbered: Vec<(usize, &Path)> = folders.iter().copied().enumerate().collect();
    let mut scans = Vec::new();
    for some in numbered.chunks(OPEN) {
        let scanned = some.par_iter().map(|(place, folder)| {
            let dataset = Dataset::open(folder)?;
            check(&dataset)?;
            Ok(shared::scan(&dataset, *place, request, folders.len() < 2)?)
        });
        for scan in scanned.collect::<Vec<Result<_, E>>>() {
            scans.push(scan?);
        }
    }
    let (counted, repeated) = shared::divide(folders, scans, request)?;
    let mut sum = Bill::default();
    if repeated.undivided.is_some() {
        return Ok((sum, repeated));
    }
    for some in counted.chunks(OPEN) {
        let bills = some.par_iter().map(|(place, counted)| {
            let Some(folder) = folders.get(*place) else {
                return Ok(Bill::default());
            };
            let request = BillRequest {
                counted: counted.clone(),
                ..request.clone()
            };
            Ok(of_dataset(&Dataset::open(folder)?, &request, Bill::default())?)
        });
        for bill in bills.collect::<Vec<Result<Bill, E>>>() {
            sum.merge(&bill?);
        }
    }
    Ok((sum, repeated))
}

/// Adds the requested rows of a dataset's tables to a bill.
pub fn of_dataset(dataset: &Dataset, request: &BillRequest, bill: Bill) -> Result<Bill, DatasetError> {
    let is_by = |by: BillBy| request.by.contains(&by);
    if request.is_of_text() {
        of_message_texts(dataset, request, bill)
    } else if is_by(BillBy::Day) || is_by(BillBy::Model) {
        let mut bill = bill;
        totals::add(dataset, request, TotalsPart::All, &mut bill)?;
        Ok(bill)
    } else {
        of_renderings(dataset, request, bill)
    }
}

impl BillRequest {
    /// Whether text is billed, before any dialect renders it.
    pub fn is_of_text(&self) -> bool {
        self.text || self.by.iter().any(|by| by.is_of_text())
    }

    /// Whether the table of totals has these groups. It divides renderings by day and model only in UTC, and only together with the source.
    pub fn is_in_totals(&self) -> bool {
        let is_by = |by: BillBy| self.by.contains(&by);
        let is_utc = self.zone.as_ref().is_none_or(|zone| *zone == TimeZone::UTC);
        self.is_of_text()
            || !(is_by(BillBy::Day) || is_by(BillBy::Model))
            || totals::answer(&self.by) && (is_utc || !is_by(BillBy::Day))
    }

    pub(super) fn wants_encoding(&self, encoding: &str) -> bool {
        self.encodings.is_empty() || self.encodings.iter().any(|wanted| wanted == encoding)
    }

    /// Whether a dialect is requested in an encoding, and counted in this dataset rather than in another one.
    pub(super) fn wants(&self, dialect: &str, profile: &str, encoding: &str) -> bool {
        let is_it = |(wanted, of): &(String, String)| wanted == dialect && of == profile;
        let is_counted = |of: &BTreeSet<Counting>| {
            let mut known = of.iter();
            known.any(|known| *known == [dialect, profile, encoding])
        };
        (self.dialects.is_empty() || self.dialects.iter().any(is_it))
            && self.wants_encoding(encoding)
            && self.counted.of.as_ref().is_none_or(is_counted)
    }

    /// Whether a conversation is counted in another dataset.
    fn leaves_out(&self, conversation: &str) -> bool {
        self.counted.left_out.contains(conversation)
    }
}

fn of_renderings(dataset: &Dataset, request: &BillRequest, mut bill: Bill) -> Result<Bill, DatasetError> {
    let mut groups = groups(dataset, request)?;
    // Renderings are divided by model in `totals`, but not here.
    let division = request.division.as_ref().filter(|_| !totals::answer(&request.by));
    if division.is_some() && totals::has_messages(dataset) {
        add_models(dataset, &mut groups)?;
    }
    let mut counts = Counts::new(dataset);
    let sent: Vec<String> = dataset
        .encodings()
        .iter()
        .map(|encoding| format!("sent_tokens_{encoding}"))
        .collect();
    dataset.each_row_with("renderings", &sent, &mut |renderings: &Renderings, sent, row| {
        let rendering = renderings.keys.at(row);
        let place = groups.get(rendering.conversation);
        let group = |by: Option<&BillBy>| match by {
            Some(BillBy::Conversation) => rendering.conversation,
            Some(by) => place.map_or("", |place| place.group(*by, rendering.conversation)),
            None => "",
        };
        let (group, second) = (group(request.by.first()), group(request.by.get(1)));
        let is_left_out = request.leaves_out(rendering.conversation);
        let mut add = |encoding: &str, token_counts: TokenCounts| {
            let key = GroupKey {
                group,
                second,
                dialect: rendering.dialect,
                profile: rendering.profile,
                coverage: renderings.coverage.at(row),
                encoding,
            };
            let entry = renderings.entry(row, token_counts);
            if !is_left_out && request.wants(rendering.dialect, rendering.profile, encoding) {
                bill.add(key, &entry);
                if division.is_some() {
                    let model = place.and_then(|place| place.model.as_deref());
                    bill.add_part(key, &entry, (model.unwrap_or_default(), ""), (&[], 0));
                }
            }
        };
        if dataset.encodings().is_empty() {
            add("", TokenCounts::default());
        }
        for (encoding, sent) in dataset.encodings().iter().zip(sent) {
            let astray = || renderings.batch.corrupt("token_counts does not follow its rows");
            let mut token_counts = counts.next(&rendering, encoding)?.ok_or_else(astray)?;
            token_counts.sent = sent.at(row);
            add(encoding, token_counts);
        }
        Ok(())
    })?;
    if totals::answer(&request.by) {
        totals::add(dataset, request, TotalsPart::Logged, &mut bill)?;
    }
    if request.by.contains(&BillBy::Conversation) {
        for (id, place) in &groups {
            bill.set_name(id, &place.title);
        }
    }
    Ok(bill)
}

/// The key of a rendering.
#[derive(PartialEq, Eq)]
struct RenderingKey<'b> {
    conversation: &'b str,
    dialect: &'b str,
    profile: &'b str,
    perspective: &'b str,
    ordinal: u64,
}

columns! {
    /// The columns of the key of a rendering.
    struct RenderingKeys {
        conversation_id: Texts,
        dialect: Texts,
        profile: Texts,
        perspective: Texts,
        ordinal: Numbers,
    }

    /// The columns of `renderings`.
    struct Renderings with batch: Batch with keys: RenderingKeys {
        coverage: Texts,
        messages_rendered: Numbers,
        bytes: Numbers,
        requests: Numbers,
        valid: Flags,
        loss_count: Numbers,
    }

    /// The columns of `token_counts`.
    struct TokenCountRows with batch: Batch with keys: RenderingKeys with parts: Components {
        encoding: Texts,
        assistant_content: Numbers,
        written: Numbers,
    }

    /// The columns of `conversations`.
    struct ConversationColumns {
        conversation_id: Texts,
        source: Texts,
        input: Texts,
        title: Texts,
        model: Texts,
    }

    /// The columns of `messages`.
    struct Messages with batch: Batch with usage: UsageColumns {
        conversation_id: Texts,
        position: Numbers,
        sender_id: Texts,
        sender_name: Texts,
        role: Texts,
        kind: Texts,
        created_at: Times,
        text: Texts,
        model: Texts,
    }

    /// The columns of `tool_calls`.
    struct ToolCalls {
        conversation_id: Texts,
        name: Texts,
        arguments: Texts,
        call_position: Numbers,
        result: Texts,
        result_position: Numbers,
    }
}

impl Renderings {
    fn entry(&self, row: usize, token_counts: TokenCounts) -> BillEntry {
        BillEntry {
            messages: self.messages_rendered.at(row),
            bytes: self.bytes.at(row),
            renderings: 1,
            whole: Some(token_counts.tokens),
            token_counts,
            requests: self.requests.at(row),
            logged: BilledUsage::default(),
            invalid: u64::from(!self.valid.at(row)),
            losses: self.loss_count.at(row),
        }
    }
}

impl RenderingKeys {
    fn at(&self, row: usize) -> RenderingKey<'_> {
        RenderingKey {
            conversation: self.conversation_id.at(row),
            dialect: self.dialect.at(row),
            profile: self.profile.at(row),
            perspective: self.perspective.at(row),
            ordinal: self.ordinal.at(row),
        }
    }
}

impl TokenCountRows {
    fn token_counts(&self, row: usize) -> TokenCounts {
        let parts = self.parts.at(row);
        TokenCounts {
            tokens: parts.total(),
            parts,
            assistant_content: self.assistant_content.at(row),
            // The column is in the table of renderings.
            sent: 0,
            written: self.written.at(row),
        }
    }
}

/// The rows of `token_counts`, which are read in step with `renderings`: a run writes both in the same order. If renderings have a file per
/// dialect, the counts are read once for each dialect.
struct Counts<'d> {
    dataset: &'d Dataset,
    batches: Batches<'d>,
    open: Option<TokenCountRows>,
    row: usize,
    /// The dialect of the current renderings, if each dialect has separate files.
    dialect: Option<String>,
}

impl<'d> Counts<'d> {
    fn new(dataset: &'d Dataset) -> Self {
        Self {
            dataset,
            batches: dataset.batches("token_counts", &TokenCountRows::names()),
            open: None,
            row: 0,
            dialect: dataset.is_parted("renderings").then(String::new),
        }
    }

    /// The counts of a rendering in an encoding, if they are the next row.
    fn next(&mut self, key: &RenderingKey<'_>, encoding: &str) -> Result<Option<TokenCounts>, DatasetError> {
        if let Some(dialect) = self.dialect.as_mut().filter(|dialect| *dialect != key.dialect) {
            key.dialect.clone_into(dialect);
            self.batches = self.dataset.batches("token_counts", &TokenCountRows::names());
            self.open = None;
        }
        loop {
            while self
                .open
                .as_ref()
                .is_none_or(|open| self.row >= open.batch.rows())
            {
                match self.batches.next() {
                    Some(batch) => self.open = Some(TokenCountRows::of(&batch?)?),
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
            return Ok(is_it.then(|| open.token_counts(row)));
        }
    }
}

/// The groups of a conversation by properties other than its id.
struct Group {
    source: String,
    input: String,
    title: String,
    model: Option<String>,
}

impl Group {
    fn group<'g>(&'g self, by: BillBy, id: &'g str) -> &'g str {
        match by {
            BillBy::Source => &self.source,
            BillBy::Input => &self.input,
            BillBy::Room if !self.title.is_empty() => &self.title,
            BillBy::Room | BillBy::Conversation => id,
            _ => "",
        }
    }
}

/// Groups by the id of the conversation; empty if the bill needs none.
fn groups(dataset: &Dataset, request: &BillRequest) -> Result<BTreeMap<String, Group>, DatasetError> {
    let mut groups = BTreeMap::new();
    if request.by.is_empty() && !request.is_of_text() {
        return Ok(groups);
    }
    dataset.each_row("conversations", &mut |columns: &ConversationColumns, row| {
        let group = Group {
            source: columns.source.at(row).to_owned(),
            input: columns.input.at(row).to_owned(),
            title: columns.title.at(row).to_owned(),
            model: columns.model.get(row).map(str::to_owned),
        };
        groups.insert(columns.conversation_id.at(row).to_owned(), group);
    })?;
    Ok(groups)
}

columns! {
    struct MessageModels {
        conversation_id: Texts,
        model: Texts,
    }
}

/// Sets the model of conversations from their messages, if these have one.
fn add_models(dataset: &Dataset, groups: &mut BTreeMap<String, Group>) -> Result<(), DatasetError> {
    dataset.each_row("messages", &mut |messages: &MessageModels, row| {
        let (Some(model), Some(group)) = (
            messages.model.get(row),
            groups.get_mut(messages.conversation_id.at(row)),
        ) else {
            return;
        };
        match group.model.as_deref() {
            Some(known) if known != model => group.model = Some(SEVERAL.to_owned()),
            Some(_) => {}
            None => group.model = Some(model.to_owned()),
        }
    })
}

/// Calls and results by conversation and by the position of their message.
type Calls = HashMap<(String, u64), Vec<CallText<'static>>>;

/// The bill of the texts of messages, calls and results: the tokens of texts are in the table; arguments and results are counted now.
fn of_message_texts(dataset: &Dataset, request: &BillRequest, bill: Bill) -> Result<Bill, DatasetError> {
    let encodings = dataset.encodings().iter().map(String::as_str);
    let encodings: Vec<&str> = encodings
        .filter(|encoding| request.wants(TEXT, "", encoding))
        .collect();
    let calls = calls(dataset, request, &encodings)?;
    let groups = groups(dataset, request)?;
    let zone = request.zone.clone().unwrap_or(TimeZone::UTC);
    let mut message_bill = MessageBill {
        by: &request.by,
        zone: &zone,
        encodings: &encodings,
        division: request.division.as_ref(),
        bill,
    };
    let tokens: Vec<String> = encodings
        .iter()
        .map(|encoding| format!("tokens_{encoding}"))
        .collect();
    let mut answers = PaidAnswers::default();
    dataset.each_row_with("messages", &tokens, &mut |messages: &Messages, tokens, row| {
        let id = messages.conversation_id.at(row);
        if request.leaves_out(id) {
            return Ok(());
        }
        let astray = || {
            messages
                .batch
                .corrupt(format!("{id} is in no row of conversations"))
        };
        let group = groups.get(id).ok_or_else(astray)?;
        let usage = messages.usage.at(row);
        let model = messages.model.get(row).or(group.model.as_deref());
        let is_repeated = messages
            .usage
            .answer(row)
            .is_some_and(|id| answers.is_repeated(id, model.unwrap_or_default(), &usage));
        let message = MessageText {
            logged: if is_repeated {
                BilledUsage::default()
            } else {
                BilledUsage::of(Some(usage))
            },
            source: &group.source,
            input: &group.input,
            conversation: id,
            title: Some(&group.title),
            instant: messages.created_at.get(row),
            model,
            sender: messages.sender_id.get(row),
            sender_name: messages.sender_name.get(row),
            role: messages.role.at(row),
            bytes: messages.text.at(row).len() as u64,
            ..MessageText::default()
        };
        if messages.kind.at(row) != "message" {
            message_bill.add_notice(&message);
            return Ok(());
        }
        let called = calls.get(&(id.to_owned(), messages.position.at(row)));
        let counted: Vec<u64> = tokens.iter().map(|column| column.at(row)).collect();
        message_bill.add_message(&message, &counted, called.map(Vec::as_slice).unwrap_or_default());
        Ok(())
    })?;
    Ok(message_bill.bill)
}

/// Arguments and results by the message that contains them.
fn calls(dataset: &Dataset, request: &BillRequest, encodings: &[&str]) -> Result<Calls, DatasetError> {
    let counters: Vec<_> = encodings
        .iter()
        .filter_map(|name| {
            let own = request.own.iter().find(|own| own.name() == *name);
            own.or_else(|| chatmill_token::find(name))
        })
        .map(Encoding::counter)
        .collect();
    let mut calls = Calls::new();
    dataset.each_row("tool_calls", &mut |columns: &ToolCalls, row| {
        let sides = [
            (&columns.arguments, &columns.call_position),
            (&columns.result, &columns.result_position),
        ];
        for (texts, places) in sides {
            let (Some(text), Some(position)) = (texts.get(row), places.get(row)) else {
                continue;
            };
            let place = (columns.conversation_id.at(row).to_owned(), position);
            calls.entry(place).or_default().push(CallText {
                tool: columns.name.get(row).map(|name| name.to_owned().into()),
                bytes: text.len() as u64,
                tokens: counters.iter().map(|counter| counter.count(text)).collect(),
            });
        }
    })?;
    Ok(calls)
}
