//! The law of losses for parts in places where hardly any source has them: cache marks after every kind of part, calls and results of
//! users, pictures next to calls, results that come late, twice or never, several parts of a kind in one message.

use chatmill_diag::Limits;
use chatmill_dialect::{Policy, View};
use chatmill_drawn::Random;
use chatmill_model::{
    ArgumentForm, Arguments, Conversation, Linked, Media, MediaKind, MediaSource, Message, MessageOrigin,
    Part, Participant, ParticipantKind, RawJson, Role, ToolCall, ToolResult,
};
use chatmill_testkit::conversations::policy;
use chatmill_testkit::losses::LossCoverage;

use crate::chat::text;

/// The participants; the first two are users, the others agents.
const PARTICIPANTS: [(&str, &str); 4] = [("u1", "Ann"), ("u2", "Ben"), ("b1", "Bot"), ("b2", "Scout")];

fn person(index: usize) -> Participant {
    let (id, name) = PARTICIPANTS[index];
    let is_human = index < 2;
    Participant {
        id: id.to_owned(),
        name: Some(name.to_owned()),
        kind: if is_human {
            ParticipantKind::Human
        } else {
            ParticipantKind::Agent
        },
        listed: true,
        ..Participant::default()
    }
}

/// A message of a participant, or of a tool without a sender.
fn message(position: u32, sender: Option<usize>, parts: Vec<Part>) -> Message {
    let role = match sender {
        Some(0 | 1) => Role::User,
        Some(_) => Role::Assistant,
        None => Role::Tool,
    };
    Message {
        sender,
        parts,
        ..Message::new(role, position, MessageOrigin::default())
    }
}

fn linked(messages: impl IntoIterator<Item = (Option<usize>, Vec<Part>)>) -> Linked {
    let messages = (0..).zip(messages);
    let conversation = Conversation {
        source: "test",
        participants: (0..PARTICIPANTS.len()).map(person).collect(),
        messages: messages
            .map(|(position, (sender, parts))| message(position, sender, parts))
            .collect(),
        ..Conversation::default()
    };
    chatmill_link::link(conversation, &Limits::default()).0
}

fn picture(name: &str) -> Part {
    Part::Media(Media {
        kind: MediaKind::Image,
        source: MediaSource::Url(format!("https://example.org/{name}.png")),
        media_type: None,
        name: None,
    })
}

/// A picture with a unique name and unique bytes.
fn shot(name: &str) -> Part {
    let bytes: String = name.chars().filter(char::is_ascii_digit).collect();
    Part::Media(Media {
        kind: MediaKind::Image,
        source: MediaSource::Inline(format!("{bytes:A<8}")),
        media_type: Some("image/png".to_owned()),
        name: Some(name.to_owned()),
    })
}

fn call(id: &str, port: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: (!id.is_empty()).then(|| id.to_owned()),
        name: Some("tide".to_owned()),
        arguments: Arguments::Object(RawJson(format!("{{\"port\":\"{port}\"}}"))),
        form: ArgumentForm::Embedded,
        metadata_id: None,
        own: None,
    })
}

/// A result, and as many pictures.
fn result(id: &str, content: &str, pictures: u32) -> Vec<Part> {
    let result = Part::ToolResult(ToolResult {
        media: pictures,
        call_id: (!id.is_empty()).then(|| id.to_owned()),
        content: content.to_owned(),
        ..ToolResult::default()
    });
    std::iter::once(result)
        .chain((0..pictures).map(|picture| shot(&format!("{content} {picture}"))))
        .collect()
}

/// Returns the id of an earlier call, or rarely of a call that does not exist.
fn called(random: &mut Random, calls: usize) -> String {
    if calls == 0 || random.once_in(8) {
        "nobody's".to_owned()
    } else {
        format!("c{}", random.below(calls))
    }
}

/// A conversation of some messages with some parts; results come first, as every vendor demands.
fn drawn(random: &mut Random) -> Linked {
    let mut calls = 0;
    let messages = (0..=random.below(6)).map(|number| {
        let sender = random.below(6).checked_sub(2);
        let mut parts = Vec::new();
        let answers = match sender {
            Some(0 | 1) if random.once_in(3) => 1 + random.below(2),
            Some(_) => 0,
            None => 1 + random.below(3),
        };
        for part in 0..answers {
            let content = format!("low {number}.{part}");
            let id = called(random, calls);
            parts.extend(result(&id, &content, u32::from(random.once_in(4))));
            mark(random, &mut parts);
        }
        let others = sender.map_or(0, |_| usize::from(answers == 0) + random.below(3));
        for part in answers..answers + others {
            match random.below(8) {
                0..=2 => parts.push(text(&format!("word {number}.{part}"))),
                3 => parts.push(picture(&format!("{number}.{part}"))),
                4 => parts.push(shot(&format!("shot {number}.{part}"))),
                5 => parts.push(Part::Reasoning(format!("thought {number}.{part}"))),
                _ => {
                    let id = if random.once_in(6) {
                        String::new()
                    } else {
                        format!("c{calls}")
                    };
                    calls += 1;
                    parts.push(call(&id, &format!("{number}.{part}")));
                }
            }
            mark(random, &mut parts);
        }
        (sender, parts)
    });
    linked(messages.collect::<Vec<_>>())
}

/// Adds a cache mark now and then.
fn mark(random: &mut Random, parts: &mut Vec<Part>) {
    if random.once_in(3) {
        parts.push(Part::CacheMark);
    }
}

#[test]
fn parts_anywhere_are_read_back_or_declared() {
    let mut coverage = LossCoverage::default();
    let mut random = chatmill_drawn::random(5);
    for number in 0..chatmill_drawn::cases(120) {
        let linked = drawn(&mut random);
        let policy = if random.once_in(2) {
            Policy::default()
        } else {
            policy(&mut random)
        };
        let perspective = random.below(PARTICIPANTS.len() + 1).checked_sub(1);
        coverage.check_view(
            &format!("drawn-{number}"),
            &View::whole(&linked, perspective, &policy),
        );
    }
    assert!(coverage.breaches.is_empty(), "{}", coverage.verdict().unwrap());
    assert!(coverage.checked > 2_000, "{}", coverage.checked);
}

#[test]
fn marks_calls_and_pictures_in_unusual_places_are_read_back_or_declared() {
    let mark = || Part::CacheMark;
    let marked = |id: &str| [result(id, "low", 0), vec![mark()]].concat();
    let all = [
        (
            "a mark behind the result of somebody else's call",
            vec![
                (Some(2), vec![call("c0", "Faro")]),
                (None, marked("c0")),
                (Some(3), vec![text("a")]),
            ],
        ),
        (
            "a mark behind a result without a call",
            vec![
                (Some(0), vec![text("a")]),
                (None, marked("c9")),
                (Some(2), vec![text("b")]),
            ],
        ),
        (
            "a mark behind a further result",
            vec![
                (Some(2), vec![call("c0", "Faro")]),
                (None, marked("c0")),
                (None, marked("c0")),
                (Some(2), vec![text("b")]),
            ],
        ),
        (
            "a picture beside a call",
            vec![
                (Some(0), vec![text("a")]),
                (Some(2), vec![picture("pier"), call("c0", "Faro")]),
                (None, result("c0", "low", 0)),
                (Some(2), vec![text("b")]),
            ],
        ),
        (
            "a picture behind a call",
            vec![
                (Some(0), vec![text("a")]),
                (Some(2), vec![call("c0", "Faro"), picture("pier")]),
                (None, result("c0", "low", 0)),
                (Some(2), vec![text("b")]),
            ],
        ),
        (
            "a call of a person",
            vec![
                (Some(0), vec![call("c0", "Faro")]),
                (None, result("c0", "low", 0)),
                (Some(2), vec![text("b")]),
            ],
        ),
    ];
    let verdicts = all.into_iter().filter_map(|(name, messages)| {
        let mut coverage = LossCoverage::default();
        coverage.check_all(name, &linked(messages), &Policy::default());
        coverage.verdict()
    });
    let verdicts: Vec<String> = verdicts.collect();
    assert!(verdicts.is_empty(), "{}", verdicts.join("\n\n"));
}
