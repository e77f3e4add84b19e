//! Divides a channel into conversations: the whole channel, its threads, or its days.

use std::collections::BTreeMap;

use chatmill_diag::Finding;
use chatmill_model::{Conversation, Message, Participant};
use jiff::tz::Offset;

use crate::base::those_of;
use crate::frame::Reading;
use crate::layout::ListReader;
use crate::options::Division;

/// A message with its id and its thread.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) ts: String,
    pub(super) thread: Option<String>,
    pub(super) message: Message,
}

/// Sorts the messages and divides them into conversations. The first conversation also gets everything else that was found.
pub(super) fn divide(
    mut list: ListReader<'_, '_>,
    conversation: &Conversation,
    participants: &[Participant],
    mut posts: Vec<Post>,
) -> Reading {
    // The sort is stable: messages without a time come first, in input order.
    posts.sort_by_key(|post| instant(&post.message));
    let division = list.frame.options.division;
    let mut parts: Vec<(String, Vec<Message>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for post in posts {
        let name = name(division, &post);
        let next = parts.len();
        let place = *places.entry(name.clone()).or_insert(next);
        if place == next {
            parts.push((name, Vec::new()));
        }
        if let Some((_, messages)) = parts.get_mut(place) {
            messages.push(post.message);
        }
    }
    if parts.is_empty() {
        return Reading {
            findings: list.notes.findings,
            rejects: list.rejects,
            rows: list.rows,
            ..Reading::default()
        };
    }
    let found = std::mem::take(&mut list.notes.findings);
    let (mut found, mut left) = divided(found, parts.iter().map(|(_, messages)| messages.as_slice()));
    let is_whole = division == Division::Channel;
    let mut readings = (0..).zip(parts).map(|(number, (name, messages))| {
        let mut own = ListReader::new(list.frame, list.limits);
        for (position, mut message) in (0..).zip(messages) {
            message.position = position;
            own.rows.rows += 1;
            own.push(message);
        }
        own.notes.findings = found.remove(&number).unwrap_or_default();
        let mut conversation = conversation.clone();
        conversation.participants = if is_whole {
            participants.to_vec()
        } else {
            those_of(&mut own.messages, participants)
        };
        if !is_whole {
            let id = conversation.source_id.take();
            conversation.source_id = Some(id.map_or_else(|| name.clone(), |id| format!("{id}/{name}")));
        }
        own.finish(conversation)
    });
    let mut first = readings.next().unwrap_or_default();
    first.also = readings.collect();
    // The conversations have counted their messages; only the other rows are left.
    let counted = list.rows;
    first.rows.rows += counted.merged + counted.rejected;
    first.rows.merged += counted.merged;
    first.rows.rejected += counted.rejected;
    first.rejects = list.rejects;
    first.findings.append(&mut left);
    first
}

/// Distributes the findings about messages to their conversations, by number and with the positions there; returns the others
/// separately.
fn divided<'m>(
    found: Vec<Finding>,
    parts: impl Iterator<Item = &'m [Message]>,
) -> (BTreeMap<usize, Vec<Finding>>, Vec<Finding>) {
    let places = (0..).zip(parts).flat_map(|(number, messages)| {
        let places = (0..).zip(messages);
        places.map(move |(position, message)| (message.origin.index, (number, position)))
    });
    let places: BTreeMap<u32, (usize, u32)> = places.collect();
    let mut own: BTreeMap<usize, Vec<Finding>> = BTreeMap::new();
    let mut left = Vec::new();
    for mut finding in found {
        match finding.position.and_then(|index| places.get(&index)) {
            Some((number, position)) => {
                finding.position = Some(*position);
                own.entry(*number).or_default().push(finding);
            }
            None => left.push(finding),
        }
    }
    (own, left)
}

/// The part of a conversation's id that distinguishes it within its channel.
fn name(division: Division, post: &Post) -> String {
    match (division, &post.thread) {
        (Division::Channel, _) => String::new(),
        (Division::Thread, Some(thread)) => thread.clone(),
        (Division::Day, Some(thread)) => {
            day(seconds(thread).map(|seconds| seconds.saturating_mul(1_000_000)))
        }
        _ => day(instant(&post.message)),
    }
}

fn instant(message: &Message) -> Option<i64> {
    message.timestamp.as_ref().and_then(|time| time.instant)
}

fn seconds(ts: &str) -> Option<i64> {
    ts.split('.').next()?.parse().ok()
}

/// A day in UTC, as a word.
fn day(instant: Option<i64>) -> String {
    let Some(instant) = instant else {
        return "undated".to_owned();
    };
    match jiff::Timestamp::from_microsecond(instant) {
        Ok(instant) => Offset::UTC.to_datetime(instant).date().to_string(),
        Err(_) => "undated".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use chatmill_diag::codes;
    use chatmill_model::{MessageOrigin, Role};

    use super::*;

    #[test]
    fn findings_of_a_message_move_with_it() {
        let message = |index| {
            let origin = MessageOrigin {
                index,
                ..MessageOrigin::default()
            };
            Message::new(Role::User, 0, origin)
        };
        let parts = [vec![message(5), message(2)], vec![message(7)]];
        let mut found: Vec<Finding> = [2, 7, 9, 2]
            .map(|index| Finding::new(&codes::WRONG_TYPE, "").at_message(index, None, ""))
            .into();
        found.push(Finding::new(&codes::INCOMPLETE_EXPORT, ""));
        let (own, left) = divided(found, parts.iter().map(Vec::as_slice));
        let positions = |found: &[Finding]| found.iter().map(|finding| finding.position).collect::<Vec<_>>();
        assert_eq!(positions(&own[&0]), [Some(1), Some(1)]);
        assert_eq!(positions(&own[&1]), [Some(0)]);
        assert_eq!(positions(&left), [Some(9), None]);
    }
}
