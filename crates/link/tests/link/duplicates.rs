//! Clusters of conversations that repeat, nearly repeat, fork or continue others.

use crate::build::{conversation, text_message};
use chatmill_link::{ClusterMembership, Duplicate, Likeness, memberships, repeats_of};
use chatmill_model::{
    Conversation, Media, MediaKind, MediaSource, Message, OffsetOrigin, Part, Role, Timestamp,
};

/// Words `w5 w6 …`.
fn words(numbers: std::ops::Range<usize>) -> String {
    numbers.fold(String::new(), |text, number| text + &format!("w{number} "))
}

/// A conversation of these turns, by people and by a bot, which is recognised by its name.
fn chat(turns: &[(&str, &str)]) -> Conversation {
    let mut names: Vec<&str> = Vec::new();
    let messages = turns.iter().map(|(name, text)| {
        let known = names.iter().position(|known| known == name);
        let sender = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        Message {
            sender: Some(sender),
            role: if *name == "bot" {
                Role::Assistant
            } else {
                Role::User
            },
            ..text_message(text)
        }
    });
    conversation(messages.collect())
}

fn found(chats: &[Conversation], threshold: Option<f64>) -> Vec<ClusterMembership> {
    let likenesses: Vec<Likeness> = chats
        .iter()
        .map(|chat| Likeness::of(chat, threshold.is_some()))
        .collect();
    memberships(&likenesses, threshold)
}

fn duplicates(memberships: &[ClusterMembership]) -> Vec<Option<Duplicate>> {
    memberships.iter().map(|standing| standing.duplicate).collect()
}

#[test]
fn equal_content_with_other_ids_is_an_exact_duplicate() {
    let chats = [
        chat(&[("ann", "Is the tide in?"), ("bot", "Not yet.")]),
        chat(&[("ben", "Is the tide in?"), ("bot", "Not yet.")]),
        chat(&[("ann", "Is the tide in?"), ("bot", "At six.")]),
    ];
    let found = found(&chats, None);
    assert_eq!(duplicates(&found), [None, Some(Duplicate::Exact), None]);
    assert!(found[0].cluster.is_some() && found[0].cluster == found[1].cluster);
    assert_eq!(found[2].cluster, None);
}

#[test]
fn senders_matter_and_their_names_do_not() {
    let one = chat(&[("ann", "Yes."), ("ann", "No.")]);
    let other = chat(&[("ann", "Yes."), ("ben", "No.")]);
    assert_eq!(duplicates(&found(&[one, other], None)), [None, None]);
}

#[test]
fn a_few_changed_words_make_a_near_duplicate_and_many_make_another_conversation() {
    let long = words(0..400);
    let touched = long.replacen("w17 ", "changed ", 1);
    let half = format!("{} {}", words(0..200), words(900..1100));
    let chats = [
        chat(&[("ann", long.as_str())]),
        chat(&[("ann", touched.as_str())]),
        chat(&[("ann", half.as_str())]),
    ];
    let memberships = found(&chats, Some(0.8));
    assert_eq!(duplicates(&memberships), [None, Some(Duplicate::Near), None]);
    assert_eq!(memberships[0].cluster, memberships[1].cluster);
    assert_eq!(duplicates(&found(&chats, None)), [None, None, None]);
}

#[test]
fn forks_and_continuations_are_in_one_cluster_and_not_duplicates() {
    let opening = [("ann", &*words(0..40)), ("bot", &*words(40..80))];
    let go_on = |more: &'static str| {
        let mut turns = opening.to_vec();
        turns.extend([("ann", more)]);
        turns
    };
    let chats = [
        chat(&opening),
        chat(&go_on("And then?")),
        chat(&go_on("Something else, please.")),
        chat(&[("ann", "hi"), ("bot", "hello")]),
        chat(&[("ann", "hi"), ("bot", "hello"), ("ann", "bye")]),
    ];
    let found = found(&chats, None);
    assert!(found[0].cluster.is_some());
    assert_eq!(found[0].cluster, found[1].cluster);
    assert_eq!(found[0].cluster, found[2].cluster);
    assert_eq!(duplicates(&found), [None; 5]);
    assert_eq!(found[3].cluster, None, "a greeting without times tells nothing");
    assert_eq!(found[4].cluster, None);
}

#[test]
fn later_conversations_do_not_change_earlier_clusters() {
    let mut chats: Vec<Conversation> = (0..40)
        .map(|n| {
            let text = words(n % 7 * 50..n % 7 * 50 + 60);
            chat(&[("ann", &*text), ("bot", &*words(n..n + 5))])
        })
        .collect();
    let before = found(&chats, Some(0.7));
    chats.push(chat(&[("zoe", &*words(5000..5100))]));
    let after = found(&chats, Some(0.7));
    assert_eq!(before, after[..40]);
}

#[test]
fn a_thousand_alike_are_clustered_in_reasonable_time() {
    let text = words(0..300);
    let chats: Vec<Conversation> = (0..1000)
        .map(|n| chat(&[("ann", &*format!("{text} {n}"))]))
        .collect();
    let found = found(&chats, Some(0.9));
    assert_eq!(
        found
            .iter()
            .filter(|standing| standing.duplicate.is_none())
            .count(),
        1
    );
}

#[test]
fn times_make_even_a_greeting_an_opening() {
    let timed = |text: &str, time: &str| Message {
        timestamp: Some(Timestamp {
            raw: time.to_owned(),
            instant: None,
            offset: OffsetOrigin::Missing,
        }),
        ..text_message(text)
    };
    let chat = |time: &str, end: &str| {
        conversation(vec![
            timed("hi", time),
            timed("hello", "10:01"),
            text_message(end),
        ])
    };
    let found = found(
        &[chat("10:00", "a"), chat("10:00", "b"), chat("11:00", "c")],
        None,
    );
    assert_eq!(found[0].cluster, found[1].cluster);
    assert!(found[0].cluster.is_some());
    assert_eq!(found[2], ClusterMembership::default());
}

#[test]
fn scripts_without_spaces_are_compared_character_by_character() {
    let long: String = (0..200).filter_map(|n| char::from_u32(0x4e00 + n * 7)).collect();
    let touched = long.replacen('一', "二", 1);
    let found = found(&[chat(&[("ann", &long)]), chat(&[("ann", &touched)])], Some(0.8));
    assert_eq!(duplicates(&found), [None, Some(Duplicate::Near)]);
}

#[test]
fn likenesses_and_standings_round_trip_and_corrupt_bytes_are_refused() {
    let long = words(0..80);
    let chats = [
        chat(&[("ann", &long), ("bot", &long)]),
        chat(&[("ann", &long), ("bot", &long)]),
        chat(&[("ann", &long), ("bot", &words(0..79))]),
        chat(&[("ann", "")]),
    ];
    for near in [true, false] {
        for likeness in chats.iter().map(|chat| Likeness::of(chat, near)) {
            let mut bytes = Vec::new();
            likeness.write_to(&mut bytes).unwrap();
            assert!(bytes.len() <= 545);
            assert_eq!(Likeness::read_from(&mut &*bytes).unwrap(), likeness);
            let cut = Likeness::read_from(&mut &bytes[..bytes.len() - 1]).unwrap_err();
            assert_eq!(cut.kind(), std::io::ErrorKind::UnexpectedEof);
            bytes[0] = 4;
            let unknown = Likeness::read_from(&mut &*bytes).unwrap_err();
            assert_eq!(unknown.kind(), std::io::ErrorKind::InvalidData);
        }
    }
    let standings = found(&chats, Some(0.8));
    let ways: Vec<_> = duplicates(&standings);
    assert_eq!(ways, [None, Some(Duplicate::Exact), Some(Duplicate::Near), None]);
    for standing in standings {
        let mut bytes = Vec::new();
        standing.write_to(&mut bytes).unwrap();
        assert_eq!(ClusterMembership::read_from(&mut &*bytes).unwrap(), standing);
        bytes[0] = 9;
        assert!(ClusterMembership::read_from(&mut &*bytes).is_err());
    }
}

#[test]
fn the_same_question_in_other_letters_and_spaces_is_one_and_another_picture_is_not() {
    let asked = |chat: &Conversation| Likeness::of_question(chat, false).content_hash;
    let said = |text: &str| asked(&chat(&[("bot", "Hello."), ("ann", text), ("ann", "And?")]));
    assert_eq!(said(" Is the  TIDE\nin?"), said("is the tide in?"));
    assert_ne!(said("Is the tide in"), said("Is the tide in?"));
    let pictured = |url: &str| {
        let mut chat = chat(&[("ann", "What is this?")]);
        chat.messages[0].parts.push(Part::Media(Media {
            kind: MediaKind::Image,
            source: MediaSource::Url(url.to_owned()),
            media_type: None,
            name: None,
        }));
        asked(&chat)
    };
    assert_ne!(pictured("https://a.example/1"), pictured("https://a.example/2"));
}

#[test]
fn conversations_of_one_question_are_duplicates_by_question_and_no_answer_changes_that() {
    let long = words(0..40);
    let nearly = format!("{long} please");
    let chats = [
        chat(&[("ann", "Is the tide in?"), ("bot", "Not yet.")]),
        chat(&[("ben", "is the tide IN?"), ("bot", "At six.")]),
        chat(&[("ann", &long), ("bot", "Not yet.")]),
        chat(&[
            ("ann", &nearly),
            ("bot", "At six, as I said before, and no sooner."),
        ]),
        chat(&[("bot", "Not yet.")]),
        chat(&[("bot", "Not now.")]),
    ];
    let likenesses: Vec<Likeness> = chats
        .iter()
        .map(|chat| Likeness::of_question(chat, true))
        .collect();
    assert_eq!(
        duplicates(&memberships(&likenesses, Some(0.8))),
        [
            None,
            Some(Duplicate::Exact),
            None,
            Some(Duplicate::Near),
            None,
            None
        ]
    );
}

#[test]
fn an_earlier_release_wins_whatever_it_repeats_itself() {
    let likenesses = |chats: &[String]| -> Vec<Likeness> {
        let chats = chats.iter().map(|text| chat(&[("ann", text)]));
        chats.map(|chat| Likeness::of(&chat, true)).collect()
    };
    let (long, other) = (words(0..60), words(100..160));
    let earlier = likenesses(&[long.clone(), long.clone(), "Is the tide in?".to_owned()]);
    let own = likenesses(&[other.clone(), format!("{long} more"), long, other]);
    let exact = Some(Duplicate::Exact);
    assert_eq!(
        repeats_of(&earlier, &own, Some(0.8)),
        [None, Some(Duplicate::Near), exact, None]
    );
    assert_eq!(repeats_of(&earlier, &own, None), [None, None, exact, None]);
}
