//! Divides the bill of a rendering into shares: each request
//! belongs to the day of its answer and to the model that wrote it.
//!
//! A rendering is divided at the ends of answers: the new input of a request, and its
//! answer, belong to the share of the request; text after the last answer belongs to the
//! day of the last message. Most renderings have one share, and are not counted again.
//!
//! An answer with logged usage that no rendering shows (it was undone, interrupted, or has no words)
//! was charged as well: it counts as a request of its day and model, with only the logged usage known.

use std::collections::BTreeMap;
use std::ops::Range;

use chatmill_diag::{Day, cut};
use chatmill_model::span::{ComponentSpan, Speaker};
use chatmill_model::{BilledUsage, Linked, Message, MessageKind, ParticipantKind, ServiceTier, Usage};
use chatmill_token::TokenCounts;
use jiff::tz::TimeZone;

use crate::work::bill::Request;

/// The number of newest shares that are searched before the map.
const NEWEST: usize = 4;

/// The part of a rendering's cost that belongs to one day and model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillShare<'l> {
    /// The day; `None` if the message has no usable time.
    pub day: Option<Day>,
    /// The model; empty if it is unknown.
    pub model: &'l str,
    /// Bytes.
    pub bytes: u64,
    /// Requests.
    pub requests: u64,
    /// Tokens in each encoding.
    pub counts_by_encoding: Vec<TokenCounts>,
    /// The usage that the provider logged for these requests.
    pub logged: BilledUsage,
    /// The logged usage of each request separately: the price of a
    /// request may depend on its length and on how it was served.
    pub each_logged: Vec<(ServiceTier, BilledUsage)>,
}

/// A rendering to divide.
pub struct Billed<'b> {
    /// The components of its bytes, as passed to [`requests`](super::bill::requests).
    pub spans: &'b [ComponentSpan],
    /// The requests of the rendering.
    pub requests: &'b [Request],
    /// Position of the last message that it shows.
    pub last: Option<u32>,
    /// Bytes of its text.
    pub bytes: u64,
    /// The token counts in each encoding.
    pub counts_by_encoding: &'b [TokenCounts],
    /// Positions of messages that are billed only here.
    pub paid: Range<u32>,
    /// The id of the assistant; empty if there is none.
    pub perspective: &'b str,
}

impl Billed<'_> {
    /// Returns the shares by the days of a zone, at least one. `each_span`
    /// counts the spans; it is only called for more than one share.
    pub fn shares<'l>(
        &self,
        linked: &'l Linked,
        zone: &TimeZone,
        each_span: impl FnOnce() -> Vec<Vec<u64>>,
    ) -> Vec<BillShare<'l>> {
        let conversation = &linked.conversation;
        let asked = conversation.model.as_deref().unwrap_or_default();
        // A rendering without messages ends with the last charged message.
        let end = || Some(self.paid(linked).last()?.position);
        let end = self.last.or_else(end);
        let message = |position: Option<u32>| -> Option<&'l Message> {
            conversation.messages.get(position.or(end)? as usize)
        };
        let key = |position: Option<u32>| {
            let message = message(position);
            let instant = message.and_then(|message| message.timestamp.as_ref()?.instant);
            let model = message.and_then(|message| message.model.as_deref());
            (
                instant.map(|instant| Day::in_zone(instant, zone)),
                model.unwrap_or(asked),
            )
        };
        // Without content after its last answer, a rendering ends with that answer.
        let ends_answered = self.requests.last().is_some_and(|request| {
            let behind = self.spans.iter().skip(request.end);
            behind.into_iter().all(|span| !has_content(span))
        });
        let tail = match self.requests.last() {
            Some(last) if ends_answered => key(last.position),
            _ => key(None),
        };
        let mut shares: Vec<BillShare<'l>> = Vec::new();
        let mut known = BTreeMap::new();
        let mut place = |(day, model): (Option<Day>, &'l str)| {
            // Answers are in the order of days, and a few models
            // alternate: the map is only searched if that changes.
            let mut newest = shares.iter().enumerate().rev().take(NEWEST);
            if let Some((number, _)) = newest.find(|(_, share)| (share.day, share.model) == (day, model)) {
                return number;
            }
            *known.entry((day, model)).or_insert_with(|| {
                shares.push(BillShare {
                    day,
                    model,
                    ..BillShare::default()
                });
                shares.len() - 1
            })
        };
        let places: Vec<usize> = self
            .requests
            .iter()
            .map(|request| place(key(request.position)))
            .collect();
        let last = place(tail);
        let mut attributed: Vec<(usize, Option<Usage>)> = places
            .iter()
            .zip(self.requests)
            .map(|(place, request)| {
                let is_last = request.position.is_none();
                let usage = message(None).filter(|_| is_last).and_then(|last| last.usage);
                (*place, usage)
            })
            .collect();
        for paid in self.paid(linked) {
            let begun =
                |request: &Request| request.position.is_some_and(|position| position <= paid.position);
            let answered = self.requests.partition_point(begun).checked_sub(1);
            match answered.and_then(|number| attributed.get_mut(number)) {
                Some((_, usage @ None)) if paid.kind == MessageKind::Message => *usage = paid.usage,
                _ => attributed.push((place(key(Some(paid.position))), paid.usage)),
            }
        }
        // Answers without complete usage, by model: the logged sum of several requests covers them.
        let mut unlogged: BTreeMap<&str, u64> = BTreeMap::new();
        for (place, usage) in &attributed {
            if !usage.is_some_and(Usage::is_whole) {
                *unlogged.entry(cut::at(&shares, *place).model).or_default() += 1;
            }
        }
        for (place, usage) in attributed {
            let billed = cut::at_mut(&mut shares, place);
            let logged = BilledUsage::of(usage);
            billed.requests += if usage.is_some_and(|usage| usage.requests.is_some()) {
                let shown = unlogged.entry(billed.model).or_default();
                let known = logged.requests.min(*shown);
                *shown -= known;
                logged.requests - known
            } else {
                1
            };
            billed.logged += logged;
            let whole = usage.filter(|usage| usage.is_whole());
            billed
                .each_logged
                .extend(whole.map(|usage| (usage.tier.unwrap_or_default(), logged)));
        }
        if let [only] = shares.as_mut_slice() {
            only.bytes = self.bytes;
            only.counts_by_encoding = self.counts_by_encoding.to_vec();
            return shares;
        }
        self.divide(&mut shares, &places, last, &each_span());
        // The share of the last request comes last: the rendering itself is attributed to it.
        let behind = (last + 1) % shares.len().max(1);
        shares.rotate_left(behind);
        shares
    }

    /// Returns the messages with logged usage that belong to the perspective, or to no participant.
    fn paid<'l>(&self, linked: &'l Linked) -> impl Iterator<Item = &'l Message> {
        let conversation = &linked.conversation;
        let messages = conversation.messages.iter();
        let messages = messages
            .take(self.paid.end as usize)
            .skip(self.paid.start as usize);
        // Most renderings of single turns and windows have no logged
        // usage, and the search for the participant is skipped.
        let is_logged = messages.clone().any(|message| message.usage.is_some());
        let participants = conversation.participants.iter();
        let participants = participants.take(if is_logged { usize::MAX } else { 0 });
        let agent = participants
            .clone()
            .position(|one| one.kind == ParticipantKind::Agent);
        let speaker = participants.clone().position(|one| one.id == self.perspective);
        let of_speaker = move |message: &&Message| {
            let sender = message.sender.or(agent);
            message.usage.is_some() && (speaker.is_none() || sender.is_none() || sender == speaker)
        };
        messages.filter(of_speaker)
    }

    fn divide(&self, shares: &mut [BillShare<'_>], places: &[usize], last: usize, tokens: &[Vec<u64>]) {
        let mut ends = self.requests.iter().zip(places).peekable();
        let mut start = 0;
        for share in shares.iter_mut() {
            share.counts_by_encoding = vec![TokenCounts::default(); tokens.len()];
        }
        for (number, span) in self.spans.iter().enumerate() {
            while ends.next_if(|(request, _)| request.end <= number).is_some() {}
            let place = ends.peek().map_or(last, |(_, place)| **place);
            let unsent = ComponentSpan { requests: 0, ..*span };
            let share = cut::at_mut(shares, place);
            share.bytes += (span.end - start) as u64;
            for (token_counts, each) in share.counts_by_encoding.iter_mut().zip(tokens) {
                token_counts.book_many(&unsent, *cut::at(each, number));
            }
            start = span.end;
        }
        for (encoding, each) in tokens.iter().enumerate() {
            let preamble: u64 = (self.spans.iter().zip(each))
                .filter(|(span, _)| span.speaker == Speaker::Preamble)
                .map(|(_, tokens)| tokens)
                .sum();
            let mut before = 0;
            let mut spans = self.spans.iter().zip(each).enumerate().peekable();
            for (request, place) in self.requests.iter().zip(places) {
                while let Some((_, (span, tokens))) = spans.next_if(|(number, _)| *number < request.answer) {
                    before += if span.speaker == Speaker::Preamble {
                        0
                    } else {
                        *tokens
                    };
                }
                let counts_by_encoding = &mut cut::at_mut(shares, *place).counts_by_encoding;
                cut::at_mut(counts_by_encoding, encoding).sent += before + preamble;
            }
        }
    }
}

fn has_content(span: &ComponentSpan) -> bool {
    use chatmill_model::span::Component;
    span.speaker != Speaker::Preamble && !matches!(span.component, Component::Framing | Component::Meta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::{Conversation, MessageOrigin, Role};

    #[test]
    fn answers_of_each_model_are_one_share_and_the_last_sent_comes_last() {
        let answer = |position: u32| Message {
            model: Some(format!("model {}", position % 100).into()),
            ..Message::new(Role::Assistant, position, MessageOrigin::default())
        };
        let linked = Linked {
            conversation: Conversation {
                messages: (0..250).map(answer).collect(),
                ..Conversation::default()
            },
            links: Vec::new(),
            pairings: Vec::new(),
        };
        let requests: Vec<Request> = (0..250)
            .map(|position| Request {
                answer: 0,
                end: 0,
                position: Some(position),
            })
            .collect();
        let billed = Billed {
            spans: &[],
            requests: &requests,
            last: Some(249),
            bytes: 0,
            counts_by_encoding: &[],
            paid: 0..0,
            perspective: "",
        };
        let shares = billed.shares(&linked, &TimeZone::UTC, Vec::new);
        let shares: Vec<(&str, u64)> = shares.iter().map(|share| (share.model, share.requests)).collect();
        assert_eq!(shares.len(), 100);
        assert_eq!(shares[..2], [("model 50", 2), ("model 51", 2)]);
        assert_eq!(shares[98..], [("model 48", 3), ("model 49", 3)]);
    }
}
