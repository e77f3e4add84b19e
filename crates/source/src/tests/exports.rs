//! Exports of accounts and workspaces: the conversations of one record under the settings of a run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chatmill_diag::Limits;
use chatmill_intake::json;
use chatmill_model::{Media, MediaSource, Message, Part, Role, Weight};

use crate::{Branches, Division, FrameView, ReadOptions, Reading, Source};

/// Reads a sample under these settings.
pub(super) fn read(source: &str, sample: &str, options: ReadOptions<'_>) -> Reading {
    let limits = Limits::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let bytes = fs::read(folder.join(source).join(sample)).unwrap();
    let document = json::scan(&bytes, limits.depth).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: &bytes,
        start: 0,
        key: None,
        options,
    };
    let source: &dyn Source = crate::find(source).unwrap();
    source.read(&frame, &limits)
}

/// The id and the message ids of each conversation; asserts that the rows balance.
fn conversations(reading: &Reading) -> Vec<(String, Vec<String>)> {
    let all = std::iter::once(reading).chain(&reading.also);
    all.map(|reading| {
        assert!(reading.rows.balances(), "{:?}", reading.rows);
        let conversation = reading.conversation.as_ref().unwrap();
        for (position, message) in (0..).zip(&conversation.messages) {
            assert_eq!(message.position, position);
            assert!(
                message
                    .sender
                    .is_none_or(|sender| sender < conversation.participants.len())
            );
        }
        let ids = conversation.messages.iter();
        let ids = ids.map(|message| message.id.clone().unwrap_or_default());
        (conversation.source_id.clone().unwrap_or_default(), ids.collect())
    })
    .collect()
}

fn branches(source: &str, sample: &str, branches: Branches) -> Vec<(String, Vec<String>)> {
    let options = ReadOptions {
        branches,
        ..ReadOptions::default()
    };
    conversations(&read(source, sample, options))
}

fn owned(id: &str, messages: &[&str]) -> (String, Vec<String>) {
    (
        id.to_owned(),
        messages.iter().map(|id| (*id).to_owned()).collect(),
    )
}

#[test]
fn branches_of_chatgpt_follow_the_setting() {
    let of = |wanted| branches("chatgpt-export", "branches.json", wanted);
    let shown = owned("c-bees", &["inst", "q1", "a1b", "q2b", "a2b"]);
    assert_eq!(of(Branches::Visible), std::slice::from_ref(&shown));
    assert_eq!(of(Branches::Longest), std::slice::from_ref(&shown));
    assert_eq!(
        of(Branches::All),
        [
            shown,
            owned("c-bees/a1", &["inst", "q1", "a1"]),
            owned("c-bees/a2", &["inst", "q1", "a1b", "q2", "a2"]),
        ]
    );
}

#[test]
fn each_branch_counts_the_messages_it_shares_with_earlier_ones() {
    let options = ReadOptions {
        branches: Branches::All,
        ..ReadOptions::default()
    };
    let reading = read("chatgpt-export", "branches.json", options);
    let all = std::iter::once(&reading).chain(&reading.also);
    let texts: Vec<(String, String)> = all
        .map(|reading| {
            let extra = &reading.conversation.as_ref().unwrap().extra;
            let of = |key| extra.get(key).unwrap().as_str().to_owned();
            (of("branch.last"), of("branch.shared"))
        })
        .collect();
    let expected = [("\"a2b\"", "0"), ("\"a1\"", "2"), ("\"a2\"", "3")];
    assert_eq!(
        texts,
        expected.map(|(last, shared)| (last.to_owned(), shared.to_owned()))
    );
}

#[test]
fn a_rejected_message_that_branches_share_is_rejected_once() {
    let options = ReadOptions {
        branches: Branches::All,
        ..ReadOptions::default()
    };
    let reading = read("chatgpt-export", "faulty.json", options);
    let all: Vec<&Reading> = std::iter::once(&reading).chain(&reading.also).collect();
    assert_eq!(all.len(), 4);
    let rejects: usize = all.iter().map(|reading| reading.rejects.len()).sum();
    // Three on the path from `a` to `h`, and the number outside of the tree.
    assert_eq!(rejects, 4);
    assert!(all.iter().all(|reading| reading.rows.balances()));
}

#[test]
fn branches_of_claude_follow_the_setting() {
    let of = |wanted| branches("claude-export", "tree.json", wanted);
    assert_eq!(of(Branches::Visible), [owned("cl-2", &["b3", "b4"])]);
    assert_eq!(
        of(Branches::All),
        [owned("cl-2", &["b3", "b4"]), owned("cl-2/b2", &["b1", "b2"])]
    );
}

#[test]
fn branches_of_rows_follow_the_setting() {
    let own = "019e0000-0001-7000-8000-000000000002";
    let named = |leaf: &str, ids: &[&str]| {
        let ids: Vec<String> = ids.iter().map(|id| format!("0000000{id}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        owned(&format!("{own}{leaf}"), &ids)
    };
    assert_eq!(
        branches("pi-agent", "branches.json", Branches::All),
        [
            named("", &["1", "3", "6", "7", "8"]),
            named("/00000002", &["1", "2"]),
            named("/00000005", &["1", "3", "4", "5"]),
        ]
    );
    let session = "6f1d2c3b-0001-4a00-8000-000000000003";
    assert_eq!(
        branches("gemini-cli", "rewound.json", Branches::All),
        [
            owned(session, &["m1", "m2", "m5", "m6"]),
            owned(&format!("{session}/m4"), &["m1", "m2", "m3", "m4"]),
        ]
    );
    // Rows without a place in the tree are counted once, for any choice of branches.
    for (source, sample) in [
        ("qwen-code", "session.json"),
        ("pi-agent", "faulty.json"),
        ("gemini-cli", "faulty.json"),
    ] {
        branches(source, sample, Branches::All);
        branches(source, sample, Branches::Visible);
    }
}

#[test]
fn a_channel_is_divided_into_threads_or_days() {
    let of = |division| {
        let options = ReadOptions {
            division,
            ..ReadOptions::default()
        };
        conversations(&read("slack-export", "channel.json", options))
    };
    let sizes = |division| -> Vec<(String, usize)> {
        let all = of(division).into_iter();
        all.map(|(id, messages)| (id, messages.len())).collect()
    };
    let owned = |list: &[(&str, usize)]| -> Vec<(String, usize)> {
        list.iter()
            .map(|(id, count)| ((*id).to_owned(), *count))
            .collect()
    };
    assert_eq!(sizes(Division::Channel), owned(&[("C1", 11)]));
    // A thread over two days stays together.
    assert_eq!(
        sizes(Division::Thread),
        owned(&[
            ("C1/2026-01-05", 3),
            ("C1/1767600300.000100", 3),
            ("C1/1767688800.000000", 2),
            ("C1/2026-01-06", 3),
        ])
    );
    assert_eq!(
        sizes(Division::Day),
        owned(&[("C1/2026-01-05", 6), ("C1/2026-01-06", 5)])
    );
}

#[test]
fn shared_messages_are_reported_billed_and_trained_once() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let options = ReadOptions {
        branches: Branches::All,
        ..ReadOptions::default()
    };
    let mut shared = BTreeSet::new();
    for source in crate::SOURCES {
        let names = fs::read_dir(samples.join(source.id())).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_record = |name: &String| {
            let stem = name.strip_suffix(".json");
            stem.is_some_and(|stem| !stem.ends_with(".expected"))
        };
        for name in names.filter(is_record) {
            let reading = read(source.id(), &name, options);
            let (mut known, mut once) = (BTreeSet::new(), BTreeSet::new());
            for reading in std::iter::once(&reading).chain(&reading.also) {
                let messages = reading
                    .conversation
                    .iter()
                    .flat_map(|conversation| &conversation.messages);
                let answers = messages.filter(|message| message.role == Role::Assistant);
                let place = |message: &Message| (message.origin.start, message.origin.end);
                if answers.clone().any(|answer| known.contains(&place(answer))) {
                    shared.insert(source.id());
                }
                known.extend(answers.clone().map(place));
                let is_trained = |answer: &&Message| answer.weight != Weight::new(0.0);
                let trained = answers
                    .clone()
                    .filter(is_trained)
                    .map(|answer| ("learned", place(answer)));
                let paid = answers
                    .filter(|answer| answer.usage.is_some())
                    .map(|answer| ("paid", place(answer)));
                let rejects = reading.rejects.iter();
                let rejects = rejects.map(|reject| ("rejected", (reject.span.start, reject.span.end)));
                // The messages of a divided record have the same place, and count as one.
                let charged: BTreeSet<_> = trained.chain(paid).chain(rejects).collect();
                let again: Vec<_> = charged.intersection(&once).collect();
                assert!(again.is_empty(), "{}/{name}: {again:?}", source.id());
                once.extend(charged);
            }
        }
    }
    for source in ["chatgpt-export", "claude-code", "oasst"] {
        assert!(shared.contains(source), "{shared:?}");
    }
}

/// The parts of all messages of a record.
fn parts(source: &str, record: &str) -> Vec<Part> {
    let limits = Limits::default();
    let document = json::scan(record.as_bytes(), limits.depth).unwrap();
    let frame = FrameView::alone(&document, record.as_bytes());
    let reading = crate::find(source).unwrap().read(&frame, &limits);
    let messages = reading.conversation.unwrap().messages;
    messages.into_iter().flat_map(|message| message.parts).collect()
}

#[test]
fn attachments_are_read_in_the_places_that_refer_to_them() {
    let record = r#"{"id":1,"epoch":1,"target":"t","messages":[
        {"role":"user","content":[{"type":"text","text":"See attachment://a1, attachment://a9 and attachment://a1."},{"type":"image","image":"attachment://b2"}]},
        {"role":"assistant","content":"attachment://a1","tool_calls":[{"id":"c","function":"note","arguments":{"words":"attachment://a1"}}]},
        {"role":"tool","tool_call_id":"c","function":"note","content":"attachment://a1"}],
        "attachments":{"a1":"a \"tide\"","b2":"data:image/png;base64,iVBORw0KGgo=","c3":"unused"}}"#;
    let parts = parts("inspect-log", record);
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::ToolResult(result) => Some(result.content.as_str()),
        Part::ToolCall(call) => Some(call.arguments.source_text()),
        Part::Media(Media {
            source: MediaSource::Inline(bytes),
            media_type: Some(media_type),
            ..
        }) => Some(if media_type == "image/png" {
            bytes.as_str()
        } else {
            ""
        }),
        _ => None,
    });
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [
            r#"See a "tide", attachment://a9 and a "tide"."#,
            "iVBORw0KGgo=",
            r#"a "tide""#,
            r#"{"words":"a \"tide\""}"#,
            r#"a "tide""#,
        ]
    );
}

#[test]
fn system_text_is_read_once_where_the_first_message_repeats_it() {
    let record = |told: &str, first: &str| {
        format!(
            r#"{{"agents":[{{"id":"a","system":"{told}","in_context_message_ids":[],"messages":[{first}{{"id":"m","role":"user","content":[{{"type":"text","text":"Water the beds."}}]}}]}}]}}"#
        )
    };
    let told = r#"{"id":"s","role":"system","content":[{"type":"text","text":"Be kind.\nMemory: none."}]},"#;
    let asked = r#"{"id":"q","role":"user","content":[{"type":"text","text":"Be kind. Please."}]},"#;
    let texts = |told: &str, first: &str| {
        let parts = parts("letta", &record(told, first)).into_iter();
        let texts = parts.filter_map(|part| match part {
            Part::Text(text) => Some(text),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    };
    assert_eq!(
        texts("Be kind.", told),
        ["Be kind.\nMemory: none.", "Water the beds."]
    );
    assert_eq!(texts("Be kind.", ""), ["Be kind.", "Water the beds."]);
    assert_eq!(
        texts("Be kind.", asked),
        ["Be kind.", "Be kind. Please.", "Water the beds."]
    );
    assert_eq!(
        texts("Be brief.", told),
        ["Be brief.", "Be kind.\nMemory: none.", "Water the beds."]
    );
    assert_eq!(texts("", told), ["Be kind.\nMemory: none.", "Water the beds."]);
}
