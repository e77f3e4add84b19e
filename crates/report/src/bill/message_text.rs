//! The texts of messages, calls and results, before any dialect renders them. Each text belongs to one message, and so to one sender, role,
//! day and model: the sum is the same for any grouping of the bill.

use std::borrow::Cow;

use chatmill_diag::Day;
use chatmill_model::{BilledUsage, ComponentCounts};
use chatmill_token::TokenCounts;
use jiff::tz::TimeZone;

use super::{Bill, BillBy, BillEntry, PriceDivision, TEXT};
use crate::cells::GroupKey;

/// The group of texts of an unknown model, sender or tool.
const UNKNOWN: &str = "(unknown)";

/// The day of an instant in a zone, `YYYY-MM-DD`; `undated` without an instant.
pub fn day(instant: Option<i64>, zone: &TimeZone) -> String {
    instant.map_or_else(
        || "undated".to_owned(),
        |instant| Day::in_zone(instant, zone).to_string(),
    )
}

/// A text of a message, with its groups.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageText<'a> {
    /// Id of the source.
    pub source: &'a str,
    /// Name of the input.
    pub input: &'a str,
    /// Id of the conversation.
    pub conversation: &'a str,
    /// The title.
    pub title: Option<&'a str>,
    /// The time of the message in microseconds since 1970, UTC.
    pub instant: Option<i64>,
    /// The model that wrote the message, or the model of the conversation if the sender is an agent.
    pub model: Option<&'a str>,
    /// Id of the sender.
    pub sender: Option<&'a str>,
    /// The sender's name.
    pub sender_name: Option<&'a str>,
    /// Role of the message.
    pub role: &'a str,
    /// The tool of a call or a result; `None` for other texts.
    pub tool: Option<&'a str>,
    /// Whether the text is a call or a result.
    pub is_call: bool,
    /// Length of the text in bytes.
    pub bytes: u64,
    /// The usage that the provider logged with the message.
    pub logged: BilledUsage,
}

/// The arguments or the result of a call.
#[derive(Clone, Debug)]
pub struct CallText<'a> {
    /// The tool.
    pub tool: Option<Cow<'a, str>>,
    /// Length of the text in bytes.
    pub bytes: u64,
    /// Its tokens in each encoding.
    pub tokens: Vec<u64>,
}

impl<'a> MessageText<'a> {
    fn group(&self, by: BillBy, zone: &TimeZone) -> Cow<'a, str> {
        let known = |text: Option<&'a str>| text.filter(|text| !text.is_empty()).unwrap_or(UNKNOWN);
        Cow::Borrowed(match by {
            BillBy::Source => self.source,
            BillBy::Input => self.input,
            BillBy::Conversation => self.conversation,
            BillBy::Room => self
                .title
                .filter(|title| !title.is_empty())
                .unwrap_or(self.conversation),
            BillBy::Day => return Cow::Owned(day(self.instant, zone)),
            BillBy::Model if self.role != "assistant" => "(not a model)",
            BillBy::Model => known(self.model),
            BillBy::Participant => known(self.sender),
            BillBy::Role => self.role,
            BillBy::Tool if self.is_call => known(self.tool),
            BillBy::Tool => "(no tool)",
        })
    }

    fn name(&self, by: BillBy) -> Option<&'a str> {
        match by {
            BillBy::Participant => self.sender_name,
            BillBy::Conversation => self.title,
            _ => None,
        }
    }
}

/// A bill of the texts of messages, while it is made.
pub struct MessageBill<'b> {
    /// The properties by which the bill is grouped.
    pub by: &'b [BillBy],
    /// The time zone of days.
    pub zone: &'b TimeZone,
    /// The encodings in which texts are counted.
    pub encodings: &'b [&'b str],
    /// The properties on which prices depend; `None` if nothing is priced.
    pub division: Option<&'b PriceDivision>,
    /// The bill.
    pub bill: Bill,
}

impl MessageBill<'_> {
    /// Adds the logged usage of a notice, which has no text: an answer that was deleted later was paid for.
    pub fn add_notice(&mut self, notice: &MessageText<'_>) {
        if !notice.logged.is_none() {
            self.add(notice, false, &vec![0; self.encodings.len()]);
        }
    }

    /// Adds a message with the tokens of its text in each encoding, and with its calls and results.
    pub fn add_message(&mut self, message: &MessageText<'_>, tokens: &[u64], calls: &[CallText<'_>]) {
        let has_text = message.bytes > 0 || calls.is_empty();
        if has_text {
            self.add(message, true, tokens);
        }
        for (number, call) in calls.iter().enumerate() {
            // A message without text is counted with its first call.
            let is_message = !has_text && number == 0;
            let text = MessageText {
                tool: call.tool.as_deref(),
                is_call: true,
                bytes: call.bytes,
                logged: if is_message {
                    message.logged
                } else {
                    BilledUsage::default()
                },
                ..*message
            };
            self.add(&text, is_message, &call.tokens);
        }
    }

    /// Adds a text in each encoding. A model writes the texts and calls of agents, and reads all other texts.
    fn add(&mut self, text: &MessageText<'_>, is_message: bool, tokens: &[u64]) {
        let mut groups = self.by.iter().map(|by| text.group(*by, self.zone));
        let (group, second) = (
            groups.next().unwrap_or_default(),
            groups.next().unwrap_or_default(),
        );
        for (encoding, &tokens) in self.encodings.iter().zip(tokens) {
            let key = GroupKey {
                group: &*group,
                second: &*second,
                dialect: TEXT,
                profile: "",
                coverage: "whole",
                encoding,
            };
            let (content, tools) = if text.is_call { (0, tokens) } else { (tokens, 0) };
            let is_written = text.role == "assistant";
            let token_counts = TokenCounts {
                tokens,
                parts: ComponentCounts {
                    content,
                    tools,
                    ..ComponentCounts::default()
                },
                assistant_content: if is_written { content } else { 0 },
                written: if is_written { tokens } else { 0 },
                ..TokenCounts::default()
            };
            let entry = BillEntry {
                renderings: u64::from(is_message),
                whole: is_message.then_some(tokens),
                messages: u64::from(is_message),
                bytes: text.bytes,
                token_counts,
                logged: text.logged,
                ..BillEntry::default()
            };
            self.bill.add(key, &entry);
            if let Some(division) = self.division {
                // Text that a model reads is not attributed to it.
                let model = text.model.filter(|_| is_written).unwrap_or_default();
                let day = if division.by_day {
                    day(text.instant, self.zone)
                } else {
                    String::new()
                };
                self.bill.add_part(key, &entry, (model, &day), (&[], 0));
            }
        }
        for (by, group) in self.by.iter().zip([&group, &second]) {
            if let Some(name) = text.name(*by) {
                self.bill.set_name(group, name);
            }
        }
    }
}
