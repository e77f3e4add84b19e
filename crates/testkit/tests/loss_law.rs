//! The law of losses: what a rendering tells when it is read back is what the conversation tells, less what is declared.
//!
//! It holds for the families of JSON requests, over generated conversations and the torture cases, through the eyes of
//! every participant.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

use std::collections::BTreeSet;
use std::fs;

use chatmill_diag::Limits;
use chatmill_dialect::{History, LossCode, Policy, View};
use chatmill_intake::json;
use chatmill_model::{ArgumentForm, Linked, Media, MediaKind, MediaSource};
use chatmill_source::FrameView;
use chatmill_testkit::chats::group_chat;
use chatmill_testkit::forget::{ELSEWHERE, FORGET, Family, forget};
use chatmill_testkit::histories::history;
use chatmill_testkit::random::Random;
use chatmill_testkit::tale::{Tale, difference};
use chatmill_testkit::workshop::samples;
use proptest::prelude::*;

const TEXT: ArgumentForm = ArgumentForm::Text;
const EMBEDDED: ArgumentForm = ArgumentForm::Embedded;

fn nothing(_: &Media) -> bool {
    false
}

fn has_address(media: &Media) -> bool {
    matches!(&media.source, MediaSource::Url(url) if url.starts_with("http"))
}

fn addressed(media: &Media) -> bool {
    media.kind == MediaKind::Image && has_address(media)
}

fn addressed_or_filed(media: &Media) -> bool {
    addressed(media) || media.kind == MediaKind::File && has_address(media)
}

fn addressed_or_typed(media: &Media) -> bool {
    let is_inline = matches!(media.source, MediaSource::Inline(_));
    addressed(media) || is_inline && typed(media)
}

fn typed(media: &Media) -> bool {
    let types = ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"];
    media.kind == MediaKind::Image
        && !has_address(media)
        && media
            .media_type
            .as_deref()
            .is_some_and(|word| types.contains(&word))
}

const fn family(names: bool, joins: bool, arguments: ArgumentForm, carries: fn(&Media) -> bool) -> Family {
    Family {
        names,
        joins,
        arguments,
        carries,
        user_first: false,
        merges: false,
        blank_is_empty: false,
        trims_end: false,
        rounds: false,
    }
}

/// Records that know rounds only.
const ROUNDS: Family = Family {
    rounds: true,
    user_first: true,
    ..family(false, true, EMBEDDED, nothing)
};

/// A family in which a user speaks first.
const fn after_a_user(family: Family) -> Family {
    Family {
        user_first: true,
        ..family
    }
}

/// A family in which speakers take turns.
const fn alternating(family: Family, trims_end: bool) -> Family {
    Family {
        trims_end,
        merges: true,
        blank_is_empty: true,
        ..after_a_user(family)
    }
}

/// Each dialect with its profile, the source that reads it, and what decides how changes look.
const FAMILIES: [(&str, &str, Family); 11] = [
    ("sharegpt", "sharegpt", ROUNDS),
    (
        "openai-chat",
        "openai-messages",
        family(true, true, TEXT, addressed),
    ),
    (
        "openai-responses",
        "openai-responses",
        family(false, true, TEXT, addressed_or_filed),
    ),
    (
        "anthropic-messages",
        "anthropic-messages",
        alternating(family(false, false, EMBEDDED, addressed_or_typed), true),
    ),
    (
        "bedrock-converse",
        "bedrock-converse",
        alternating(family(false, false, EMBEDDED, typed), false),
    ),
    (
        "mistral-chat",
        "mistral-chat",
        after_a_user(family(false, true, TEXT, addressed)),
    ),
    (
        "mistral-chat@v3",
        "mistral-chat",
        after_a_user(family(false, true, TEXT, addressed)),
    ),
    (
        "mistral-chat@v7",
        "mistral-chat",
        after_a_user(family(false, true, TEXT, addressed)),
    ),
    (
        "mistral-chat@v13",
        "mistral-chat",
        after_a_user(family(false, true, TEXT, addressed)),
    ),
    (
        "hf-messages",
        "hf-messages",
        family(false, true, EMBEDDED, nothing),
    ),
    (
        "hf-messages@string-arguments",
        "hf-messages",
        family(false, true, TEXT, nothing),
    ),
];

/// Reads and links a record; none where it holds no conversation.
fn try_read(source: &str, text: &str) -> Option<Linked> {
    let limits = Limits::default();
    let document = json::scan(text.as_bytes(), limits.depth).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: 0,
        key: None,
    };
    let reading = chatmill_source::find(source).unwrap().read(&frame, &limits);
    Some(chatmill_link::link(reading.conversation?, &limits).0)
}

fn read(source: &str, text: &str) -> Linked {
    try_read(source, text).unwrap_or_else(|| panic!("{source} does not read {text}"))
}

/// How one conversation breaks the law, in every family; the codes that were declared are added to `codes`.
fn breaches(linked: &Linked, codes: &mut BTreeSet<LossCode>) -> Vec<String> {
    let mut failures = Vec::new();
    let policy = Policy::default();
    let everybody = (0..linked.conversation.participants.len()).map(Some);
    for perspective in std::iter::once(None).chain(everybody) {
        for (spec, source, family) in &FAMILIES {
            let (dialect, profile) = chatmill_dialect::find(spec).unwrap();
            let view = View {
                linked,
                perspective,
                policy: &policy,
                profile,
                history: History::Document,
            };
            dialect.render(&view, &mut |rendering| {
                let text = rendering.rope.text();
                let mut expected = Tale::of(linked, perspective);
                let unknown = forget(&mut expected, &rendering.losses, family);
                codes.extend(rendering.losses.iter().map(|loss| loss.code));
                let told = Tale::told(&read(source, &text));
                let difference = if unknown.is_empty() {
                    difference(&expected, &told)
                } else {
                    Some(format!("no function forgets {unknown:?}"))
                };
                if let Some(difference) = difference {
                    let losses: Vec<_> = rendering
                        .losses
                        .iter()
                        .map(|loss| format!("{:?} {} {}", loss.position, loss.code.as_str(), loss.reason))
                        .collect();
                    failures.push(format!(
                        "{spec} through {perspective:?}: {difference}\n{}\n{text}",
                        losses.join("\n")
                    ));
                }
            });
        }
    }
    failures
}

#[test]
fn every_code_is_forgotten_by_one_function_or_is_no_business_of_these_families() {
    let mut known: Vec<LossCode> = FORGET.iter().map(|(code, _)| *code).collect();
    known.extend(ELSEWHERE.iter().map(|(code, _)| *code));
    known.sort();
    assert_eq!(known, LossCode::ALL);
}

/// The JSON files of a folder of samples, in order.
fn files(folder: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(samples().join(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.into_iter().filter_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let is_case = is_json && !name.contains(".expected.") && name != "vectors.json";
        is_case.then(|| (name, fs::read_to_string(&path).unwrap()))
    });
    texts.collect()
}

#[test]
fn cases_and_samples_read_back_as_what_is_left_of_them() {
    let mut cases: Vec<(String, Linked)> = Vec::new();
    for (name, text) in files("torture") {
        let is_list = text.contains("\"messages\"");
        let source = if is_list { "openai-messages" } else { "group-chat" };
        cases.push((name, try_read(source, &text).unwrap()));
    }
    for source in chatmill_source::SOURCES {
        for (name, text) in files(&format!("sources/{}", source.id())) {
            cases.extend(
                try_read(source.id(), &text).map(|linked| (format!("{}-{name}", source.id()), linked)),
            );
        }
    }
    let mut codes = BTreeSet::new();
    let mut failures = Vec::new();
    for (name, linked) in &cases {
        let found = breaches(linked, &mut codes);
        failures.extend(found.into_iter().map(|failure| format!("{name} {failure}")));
    }
    assert!(
        failures.is_empty(),
        "{} fail\n{}",
        failures.len(),
        failures.join("\n\n")
    );
    let all = FORGET.iter().map(|(code, _)| *code);
    let unused: Vec<LossCode> = all.filter(|code| !codes.contains(code)).collect();
    assert_eq!(unused, [], "codes that no case declares");
    assert!(cases.len() > 90, "{}", cases.len());
}

#[test]
fn generated_lists_read_back_as_what_is_left_of_them() {
    let mut random = Random::new(7);
    let mut failures = Vec::new();
    for number in 0..200 {
        let text = history(&mut random).to_string();
        let found = breaches(&read("openai-messages", &text), &mut BTreeSet::new());
        failures.extend(
            found
                .into_iter()
                .map(|failure| format!("list-{number}.json {failure}")),
        );
    }
    assert!(
        failures.is_empty(),
        "{} fail\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn generated_chats_read_back_as_what_is_left_of_them(chat in group_chat()) {
        let linked = read("group-chat", &chat.to_string());
        let failures = breaches(&linked, &mut BTreeSet::new());
        prop_assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }
}
