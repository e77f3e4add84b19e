//! Renders conversations, counts and books them; each thread has a pricer of its own.

use std::collections::BTreeMap;

use chatmill_dataset::Key;
use chatmill_dialect::{Additions, Dialect, MadeTexts, Policy, Rendering};
use chatmill_engine::WindowPlan;
use chatmill_engine::conversation::{
    self, Billed, BillingMode, BudgetMeter, Logged, WindowedRenderer, requests,
};
use chatmill_engine::pipeline::PerspectiveChoice;
use chatmill_model::{Linked, MessageKind, Sink};
use chatmill_report::GroupKey;
use chatmill_report::bill::{Bill, BillBy, Booking, Said, SaidBill, day};
use chatmill_token::{Encoding, TokenCounter, TokenCounts};
use jiff::tz::TimeZone;

/// What is priced, and how.
pub(super) struct Priced<'p> {
    /// What is billed apart.
    pub by: &'p [BillBy],
    /// Whether text is billed, before any dialect renders it.
    pub text: bool,
    /// The zone of days.
    pub zone: &'p TimeZone,
    /// Dialects.
    pub targets: &'p [Dialect],
    /// Encodings.
    pub encodings: &'p [Encoding],
    /// How conversations are said.
    pub policy: &'p Policy,
    /// What is said beside them: a prompt, and definitions of tools.
    pub additions: Additions<'p>,
    /// How much of them a rendering shows.
    pub windows: &'p WindowPlan,
    /// Who speaks as the assistant.
    pub speaker: &'p PerspectiveChoice,
}

/// Renders, counts and books.
pub(super) struct Pricer<'p> {
    priced: &'p Priced<'p>,
    counter: TokenCounter,
    meter: Option<BudgetMeter>,
    tallies: Vec<TokenCounts>,
    bill: Bill,
}

impl<'p> Pricer<'p> {
    pub(super) fn new(priced: &'p Priced<'p>) -> Self {
        Self {
            counter: TokenCounter::new(priced.encodings),
            meter: priced.windows.budget.as_ref().map(BudgetMeter::new),
            tallies: Vec::new(),
            bill: Bill::default(),
            priced,
        }
    }

    /// What was booked since the last time.
    pub(super) fn take(&mut self) -> Bill {
        std::mem::take(&mut self.bill)
    }

    pub(super) fn price(&mut self, id: &str, input: &str, linked: &Linked) {
        if self.priced.text {
            self.price_said(id, input, linked);
        } else {
            self.price_renderings(id, input, linked);
        }
    }

    fn price_renderings(&mut self, id: &str, input: &str, linked: &Linked) {
        let Self {
            priced,
            counter,
            meter,
            tallies,
            bill,
        } = self;
        let conversation = &linked.conversation;
        let (perspectives, _) = conversation::perspectives(linked, priced.speaker);
        let made = MadeTexts::default();
        let windowed = WindowedRenderer::new(linked, priced.windows, &perspectives, priced.policy, &made)
            .with(priced.additions);
        let mut sink = Sink::default();
        // A rendering may belong to several days and models.
        let is_shared = priced.by.contains(&BillBy::Day) || priced.by.contains(&BillBy::Model);
        let title = conversation.title.as_deref().filter(|title| !title.is_empty());
        for target in priced.targets {
            let one_request = conversation.customs.is_one_request();
            let serving = BillingMode::of(target, priced.windows.cuts, one_request);
            let mut emit = |sink: &mut Sink<'_>, perspective: &str, rendering: Rendering| {
                let requests = requests(sink.spans_mut(), serving);
                counter.tally_sink(sink, tallies);
                let billed = Billed {
                    spans: sink.spans(),
                    requests: &requests,
                    last: rendering.last_position,
                    bytes: sink.text().len() as u64,
                    tallies,
                    paid: serving.paid(rendering.paid.clone(), &requests),
                    perspective,
                };
                let shares = billed.shares(linked, priced.zone, || counter.tally_spans(sink));
                for (number, share) in shares.iter().enumerate() {
                    let is_last = number + 1 == shares.len();
                    let of_day = share
                        .day
                        .map_or_else(|| day(None, priced.zone), |day| day.to_string());
                    let group = |by: Option<&BillBy>| match by {
                        Some(BillBy::Source) => conversation.source,
                        Some(BillBy::Input) => input,
                        Some(BillBy::Conversation) => id,
                        Some(BillBy::Room) => title.unwrap_or(id),
                        Some(BillBy::Day) => of_day.as_str(),
                        Some(BillBy::Model) if share.model.is_empty() => "(unknown)",
                        Some(BillBy::Model) => share.model,
                        Some(BillBy::Participant | BillBy::Role | BillBy::Tool) | None => "",
                    };
                    let (group, second) = (group(priced.by.first()), group(priced.by.get(1)));
                    let counted = share.tallies.iter().zip(tallies.iter());
                    for (encoding, (tally, whole)) in priced.encodings.iter().zip(counted) {
                        let key = GroupKey {
                            group,
                            second,
                            dialect: target.id(),
                            profile: target.profile(),
                            coverage: rendering.coverage.as_str(),
                            encoding: encoding.name(),
                        };
                        let mut booking = Booking {
                            bytes: share.bytes,
                            tally: *tally,
                            requests: share.requests,
                            logged: share.logged.counts(),
                            ..Booking::default()
                        };
                        if is_last {
                            booking.renderings = 1;
                            booking.whole = (!is_shared).then_some(whole.tokens);
                            booking.messages = u64::from(rendering.messages_rendered);
                            booking.invalid = u64::from(!rendering.violations.is_empty());
                            booking.losses = rendering.loss_count();
                        }
                        bill.book(key, &booking);
                    }
                }
                Ok::<(), std::convert::Infallible>(())
            };
            let Ok(()) = windowed.render(target, meter.as_mut(), &mut sink, &mut emit);
        }
        if let (true, Some(title)) = (priced.by.contains(&BillBy::Conversation), title) {
            bill.call(id, title);
        }
    }

    fn price_said(&mut self, id: &str, input: &str, linked: &Linked) {
        let priced = self.priced;
        let conversation = &linked.conversation;
        let mut calls: BTreeMap<u64, Vec<(Option<&str>, &str)>> = BTreeMap::new();
        for call in conversation::tool_calls(Key::default(), linked) {
            for (text, position) in [
                (call.arguments, call.call_position),
                (call.result, call.result_position),
            ] {
                if let (Some(text), Some(position)) = (text, position) {
                    calls.entry(position).or_default().push((call.name, text));
                }
            }
        }
        let mut bill = SaidBill {
            by: priced.by,
            zone: priced.zone,
            bill: std::mem::take(&mut self.bill),
        };
        let names = || priced.encodings.iter().map(Encoding::name);
        let messages = conversation.messages.iter();
        for message in messages {
            let sender = message
                .sender
                .and_then(|place| conversation.participants.get(place));
            let text = message.text();
            let said = Said {
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
                logged: Logged::of(message.usage).counts(),
                ..Said::default()
            };
            if message.kind != MessageKind::Message {
                bill.book_logged(&said, names());
                continue;
            }
            let called = calls.get(&u64::from(message.position));
            let called = called.map(Vec::as_slice).unwrap_or_default();
            let has_text = !text.is_empty() || called.is_empty();
            if has_text {
                bill.book(&said, true, names().zip(self.counter.count(&text)));
            }
            for (number, (tool, text)) in called.iter().enumerate() {
                // A message without words of its own is counted with its first call.
                let is_message = !has_text && number == 0;
                let call = Said {
                    tool: *tool,
                    is_call: true,
                    bytes: text.len() as u64,
                    logged: if is_message { said.logged } else { [0; 4] },
                    ..said
                };
                bill.book(&call, is_message, names().zip(self.counter.count(text)));
            }
        }
        self.bill = bill.bill;
    }
}
