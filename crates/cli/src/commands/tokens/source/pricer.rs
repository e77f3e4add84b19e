//! Renders conversations, counts them and adds them to a bill; each thread has a separate pricer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_dataset::Key;
use chatmill_dialect::{Additions, Dialect, Policy, Rendering, TextArena};
use chatmill_engine::WindowPlan;
use chatmill_engine::conversation::{
    self, Billed, BillingMode, BudgetMeter, WindowedRenderer, is_copy, requests,
};
use chatmill_engine::pipeline::PerspectiveChoice;
use chatmill_model::{BilledUsage, Linked, MessageKind, Sink};
use chatmill_report::GroupKey;
use chatmill_report::bill::{
    Bill, BillBy, BillEntry, CallText, MessageBill, MessageText, PriceDivision, day,
};
use chatmill_token::{Encoding, TokenCounter, TokenCounts};
use jiff::tz::TimeZone;

/// What is priced, and the settings for it.
pub(super) struct Priced<'p> {
    /// The fields by which the bill is grouped.
    pub by: &'p [BillBy],
    /// Whether text is billed, before any dialect renders it.
    pub text: bool,
    /// The time zone of days.
    pub zone: &'p TimeZone,
    /// The dialects.
    pub targets: &'p [Dialect],
    /// The encodings.
    pub encodings: &'p [Encoding],
    /// The policy for rendering.
    pub policy: &'p Policy,
    /// Additions to the conversations: a prompt, and definitions of tools.
    pub additions: Additions<'p>,
    /// The windows of history that renderings show.
    pub windows: &'p WindowPlan,
    /// The choice of the participant that speaks as the assistant.
    pub speaker: &'p PerspectiveChoice,
    /// The properties on which prices depend; `None` if nothing is priced.
    pub division: Option<&'p PriceDivision>,
}

/// Renders and counts conversations, and adds them to a bill.
pub(super) struct Pricer<'p> {
    priced: &'p Priced<'p>,
    counter: TokenCounter,
    meter: Option<BudgetMeter>,
    counts_by_encoding: Vec<TokenCounts>,
    bill: Bill,
}

impl<'p> Pricer<'p> {
    pub(super) fn new(priced: &'p Priced<'p>) -> Self {
        Self {
            counter: TokenCounter::new(priced.encodings),
            meter: priced.windows.budget.as_ref().map(BudgetMeter::new),
            counts_by_encoding: Vec::new(),
            bill: Bill::default(),
            priced,
        }
    }

    /// Takes the bill of the conversations since the last call.
    pub(super) fn take(&mut self) -> Bill {
        std::mem::take(&mut self.bill)
    }

    pub(super) fn price(&mut self, id: &str, input: &str, linked: &Linked) {
        if self.priced.text {
            self.add_message_texts(id, input, linked);
        } else {
            self.price_renderings(id, input, linked);
        }
    }

    fn price_renderings(&mut self, id: &str, input: &str, linked: &Linked) {
        let Self {
            priced,
            counter,
            meter,
            counts_by_encoding,
            bill,
        } = self;
        let conversation = &linked.conversation;
        let (perspectives, _) = conversation::perspectives(linked, priced.speaker);
        let arena = TextArena::default();
        let windowed = WindowedRenderer::new(linked, priced.windows, &perspectives, priced.policy, &arena)
            .with(priced.additions);
        let mut sink = Sink::default();
        // The counts of a rendering may belong to several days and models.
        let is_shared = priced.by.contains(&BillBy::Day) || priced.by.contains(&BillBy::Model);
        let title = conversation.title.as_deref().filter(|title| !title.is_empty());
        for target in priced.targets {
            let serving = BillingMode::of(target, priced.windows.cuts, conversation.is_one_request());
            let mut emit = |sink: &mut Sink<'_>, perspective: &str, rendering: Rendering| {
                let requests = requests(sink.spans_mut(), serving, |position| {
                    is_copy(conversation, position)
                });
                counter.count_sink(sink, counts_by_encoding);
                let billed = Billed {
                    spans: sink.spans(),
                    requests: &requests,
                    last: rendering.last_position,
                    bytes: sink.text().len() as u64,
                    counts_by_encoding,
                    paid: serving.paid(rendering.paid.clone(), &requests),
                    perspective,
                };
                let parts = billed.shares(linked, priced.zone, || counter.count_spans(sink));
                for (number, part) in parts.iter().enumerate() {
                    let is_last = number + 1 == parts.len();
                    let of_day = part
                        .day
                        .map_or_else(|| day(None, priced.zone), |day| day.to_string());
                    let group = |by: Option<&BillBy>| match by {
                        Some(BillBy::Source) => conversation.source,
                        Some(BillBy::Input) => input,
                        Some(BillBy::Conversation) => id,
                        Some(BillBy::Room) => title.unwrap_or(id),
                        Some(BillBy::Day) => of_day.as_str(),
                        Some(BillBy::Model) if part.model.is_empty() => "(unknown)",
                        Some(BillBy::Model) => part.model,
                        Some(BillBy::Participant | BillBy::Role | BillBy::Tool) | None => "",
                    };
                    let (group, second) = (group(priced.by.first()), group(priced.by.get(1)));
                    let usages = priced.division.map(|division| {
                        let logged = part.each_logged.iter();
                        let usages = logged.map(|(tier, usage)| division.single(*tier, *usage));
                        let day = if division.by_day { of_day.as_str() } else { "" };
                        (usages.collect::<Vec<_>>(), day)
                    });
                    let counted = part.counts_by_encoding.iter().zip(counts_by_encoding.iter());
                    for (encoding, (token_counts, whole)) in priced.encodings.iter().zip(counted) {
                        let key = GroupKey {
                            group,
                            second,
                            dialect: target.id(),
                            profile: target.profile(),
                            coverage: rendering.coverage.as_str(),
                            encoding: encoding.name(),
                        };
                        let mut entry = BillEntry {
                            bytes: part.bytes,
                            token_counts: *token_counts,
                            requests: part.requests,
                            logged: part.logged,
                            ..BillEntry::default()
                        };
                        if is_last {
                            entry.renderings = 1;
                            entry.whole = (!is_shared).then_some(whole.tokens);
                            entry.messages = u64::from(rendering.messages_rendered);
                            entry.invalid = u64::from(!rendering.violations.is_empty());
                            entry.losses = rendering.loss_count();
                        }
                        bill.add(key, &entry);
                        if let Some((usages, day)) = &usages {
                            bill.add_part(key, &entry, (part.model, *day), (usages.as_slice(), 0));
                        }
                    }
                }
                Ok::<(), std::convert::Infallible>(())
            };
            let Ok(()) = windowed.render(target, meter.as_mut(), &mut sink, &mut emit);
        }
        if let (true, Some(title)) = (priced.by.contains(&BillBy::Conversation), title) {
            bill.set_name(id, title);
        }
    }

    fn add_message_texts(&mut self, id: &str, input: &str, linked: &Linked) {
        let priced = self.priced;
        let conversation = &linked.conversation;
        let mut calls: BTreeMap<u64, Vec<CallText<'_>>> = BTreeMap::new();
        for call in conversation::tool_calls(Key::default(), linked) {
            for (text, position) in [
                (call.arguments, call.call_position),
                (call.result, call.result_position),
            ] {
                if let (Some(text), Some(position)) = (text, position) {
                    calls.entry(position).or_default().push(CallText {
                        tool: call.name.map(Cow::Borrowed),
                        bytes: text.len() as u64,
                        tokens: self.counter.count(text),
                    });
                }
            }
        }
        let encodings: Vec<&str> = priced.encodings.iter().map(Encoding::name).collect();
        let mut bill = MessageBill {
            by: priced.by,
            zone: priced.zone,
            encodings: &encodings,
            division: priced.division,
            bill: std::mem::take(&mut self.bill),
        };
        let messages = conversation.messages.iter();
        for message in messages {
            let sender = message
                .sender
                .and_then(|place| conversation.participants.get(place));
            let text = message.text();
            let message_text = MessageText {
                source: conversation.source,
                input,
                conversation: id,
                title: conversation.title.as_deref(),
                instant: message.timestamp.as_ref().and_then(|time| time.instant),
                model: message.model.as_deref().or(conversation.model.as_deref()),
                sender: sender.map(|sender| sender.id.as_str()),
                sender_name: message
                    .sender_name
                    .as_deref()
                    .or_else(|| sender.and_then(|sender| sender.name.as_deref())),
                role: message.role.as_str(),
                bytes: text.len() as u64,
                logged: BilledUsage::of(message.usage),
                ..MessageText::default()
            };
            if message.kind != MessageKind::Message {
                bill.add_notice(&message_text);
                continue;
            }
            let called = calls.get(&u64::from(message.position));
            let called = called.map(Vec::as_slice).unwrap_or_default();
            bill.add_message(&message_text, &self.counter.count(&text), called);
        }
        self.bill = bill.bill;
    }
}
