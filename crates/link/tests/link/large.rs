//! Conversations of many messages: linking takes linear time and no stack.

use crate::build::{conversation, excerpt, text_message};
use crate::cases::message;
use chatmill_diag::Limits;
use chatmill_link::{Repeats, link};
use chatmill_model::{CallStatus, LinkStatus, Linked, Message, PairedBy};

fn linked(lines: impl IntoIterator<Item = String>) -> (Linked, Repeats) {
    let messages = lines.into_iter().map(|line| message(&line)).collect();
    let (linked, _, repeats) = link(conversation(messages), &Limits::default());
    (linked, repeats)
}

/// Parts of one message, each with its number.
fn parts(numbers: impl Iterator<Item = u32>, part: impl Fn(u32) -> String) -> String {
    numbers.map(part).collect::<Vec<_>>().join("; ")
}

#[test]
fn forty_thousand_calls_of_one_id_are_answered_in_linear_time() {
    let count = 20_000;
    let all = |part: &str| parts(0..count, |_| format!("{part} x:f"));
    let round = ["say hm", "call x:f", "result x:f"].map(str::to_owned);
    let rounds = (0..count).flat_map(|_| round.clone());
    let first = [all("call"), "result x:f".to_owned()];
    let (linked, _) = linked(first.into_iter().chain(rounds).chain([all("result")]));
    assert_eq!(linked.pairings.len(), 2 * count as usize + 1);
    assert!(linked.pairings.iter().all(|pairing| pairing.result.is_some()));
}

#[test]
fn a_hundred_thousand_calls_of_one_message_are_answered_in_linear_time() {
    let count = 50_000;
    let (linked, _) = linked([
        format!("id one; {}", parts(0..count, |number| format!("call :a{number}"))),
        format!("id two; {}", parts(0..count, |number| format!("call #m{number}"))),
        parts((0..count).rev(), |number| format!("result :a{number}@one")),
        parts(0..count, |number| format!("result #m{number}")),
    ]);
    assert_eq!(linked.pairings.len(), 2 * count as usize);
    let mut pairings = linked.pairings.iter();
    assert!(pairings.all(|pairing| pairing.paired_by == Some(PairedBy::Metadata)));
}

#[test]
fn a_hundred_thousand_open_calls_are_searched_in_linear_time() {
    let count = 50_000;
    let calls = (0..count).flat_map(|number| [format!("call :a{number}"), "say hm".to_owned()]);
    let results = (0..count).map(|number| format!("result :a{number}"));
    let unknown = (0..count).map(|_| "result :unknown".to_owned());
    let (linked, _) = linked(calls.chain(results).chain(unknown));
    let pairings = linked.pairings.iter();
    let late = pairings.filter(|pairing| pairing.status == CallStatus::Late);
    assert_eq!((linked.pairings.len(), late.count()), (2 * count, count));
}

#[test]
fn thousands_of_excerpts_in_a_long_conversation_are_found_in_linear_time() {
    let opening = "the same opening words of every message ".repeat(20);
    let texts = (0..2_000).map(|number| format!("{opening}{number}."));
    let messages = texts.flat_map(|text| {
        let shown = [&text, &format!("{opening}…"), "none"];
        let references = shown.map(excerpt).to_vec();
        let reply = Message {
            references,
            ..text_message("a reply")
        };
        [text_message(&text), reply]
    });
    let (linked, _, _) = link(conversation(messages.collect()), &Limits::default());
    for (number, links) in (0..).zip(&linked.links).skip(1).step_by(2) {
        let targets: Vec<_> = links.iter().map(|link| link.target).collect();
        assert_eq!(targets, [Some(number - 1), Some(number - 1), None]);
    }
}

#[test]
fn a_cycle_of_a_hundred_thousand_messages_costs_no_stack() {
    let count = 100_000;
    let refers = |number| format!("id {number}; to {}; to 0", (number + 1) % count);
    let (linked, _) = linked((0..count).map(refers));
    let mut links = linked.links[1..].iter().flatten();
    assert!(links.all(|link| link.status == LinkStatus::Cyclic));
    assert_eq!(linked.links[0][1].status, LinkStatus::Itself);
}

#[test]
fn a_chain_of_a_hundred_thousand_forward_references_is_no_cycle() {
    let (linked, _) = linked((0..100_000).map(|number| format!("id {number}; to {}", number + 1)));
    let mut links = linked.links[..99_999].iter().flatten();
    assert!(links.all(|link| link.status == LinkStatus::Resolved));
    assert_eq!(linked.links[99_999][0].status, LinkStatus::Dangling);
}

#[test]
fn a_hundred_thousand_messages_under_one_id_are_settled_in_linear_time() {
    let twice = (0..100_000).chain(0..100_000);
    let (linked, repeats) = linked(twice.map(|number| format!("id a; say {number}")));
    assert_eq!(repeats.dropped, 100_000);
    let last = linked.conversation.messages.last().unwrap();
    assert_eq!(last.id.as_deref(), Some("a~100000"));
}
