//! What is said, called and answered, before any dialect renders it: each text belongs to one message, and so to one of
//! everything that a message has. Whatever it is billed by, the sum is the same.

use std::borrow::Cow;

use chatmill_diag::Day;
use chatmill_model::ComponentCounts;
use chatmill_token::TokenCounts;
use jiff::tz::TimeZone;

use super::{Bill, BillBy, Booking, TEXT};
use crate::cells::GroupKey;

/// What stands where nobody says.
const UNKNOWN: &str = "(unknown)";

/// The day of an instant in a zone, `YYYY-MM-DD`; `undated` where there is none.
pub fn day(instant: Option<i64>, zone: &TimeZone) -> String {
    instant.map_or_else(
        || "undated".to_owned(),
        |instant| Day::in_zone(instant, zone).to_string(),
    )
}

/// A text of a message, and whose it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// Id of the source.
    pub source: &'a str,
    /// Name of the input.
    pub input: &'a str,
    /// Id of the conversation.
    pub conversation: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// When the message was sent.
    pub instant: Option<i64>,
    /// The model that wrote it, or that the conversation was held with where an agent speaks.
    pub model: Option<&'a str>,
    /// Id of the sender.
    pub sender: Option<&'a str>,
    /// The sender's name.
    pub sender_name: Option<&'a str>,
    /// Role of the message.
    pub role: &'a str,
    /// The tool that is called or answers; none where the text is no part of a call.
    pub tool: Option<&'a str>,
    /// Whether it is a call or a result.
    pub is_call: bool,
    /// Its bytes.
    pub bytes: u64,
    /// Requests, tokens sent, tokens sent from a cache and tokens written, as the provider logged them with the message.
    pub logged: [u64; 4],
}

impl<'a> Said<'a> {
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

/// A bill of what is said.
pub struct SaidBill<'b> {
    /// What is billed apart.
    pub by: &'b [BillBy],
    /// The zone of days.
    pub zone: &'b TimeZone,
    /// The bill.
    pub bill: Bill,
}

impl SaidBill<'_> {
    /// Books what was logged with a notice, which says nothing: an answer that was taken back was paid all the same.
    pub fn book_logged<'t>(&mut self, said: &Said<'_>, encodings: impl Iterator<Item = &'t str>) {
        if said.logged != [0; 4] {
            self.book(said, false, encodings.map(|encoding| (encoding, 0)));
        }
    }

    /// Books a text in each encoding. What an agent says or calls is written by a model; all else is read by it.
    pub fn book<'t>(
        &mut self,
        said: &Said<'_>,
        is_message: bool,
        tokens: impl Iterator<Item = (&'t str, u64)>,
    ) {
        let mut groups = self.by.iter().map(|by| said.group(*by, self.zone));
        let (group, second) = (
            groups.next().unwrap_or_default(),
            groups.next().unwrap_or_default(),
        );
        for (encoding, tokens) in tokens {
            let key = GroupKey {
                group: &*group,
                second: &*second,
                dialect: TEXT,
                profile: "",
                coverage: "whole",
                encoding,
            };
            let (content, tools) = if said.is_call { (0, tokens) } else { (tokens, 0) };
            let is_written = said.role == "assistant";
            let tally = TokenCounts {
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
            self.bill.book(
                key,
                &Booking {
                    renderings: u64::from(is_message),
                    whole: is_message.then_some(tokens),
                    messages: u64::from(is_message),
                    bytes: said.bytes,
                    tally,
                    logged: said.logged,
                    ..Booking::default()
                },
            );
        }
        for (by, group) in self.by.iter().zip([&group, &second]) {
            if let Some(name) = said.name(*by) {
                self.bill.call(group, name);
            }
        }
    }
}
