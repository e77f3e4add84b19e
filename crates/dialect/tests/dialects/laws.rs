//! What holds for every dialect on every conversation: generated rooms with interlopers, orphans and odd texts.

use chatmill_dialect::policy::{MediaPolicy, Names, Orphans, References};
use chatmill_dialect::{DIALECTS, History, Policy};
use chatmill_model::{CallStatus, LinkStatus, MediaKind, Part};
use serde_json::Value;

use crate::room::{Out, Room, media, preview, text};

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.roll(from.len() as u64) as usize]
    }
}

const TEXTS: [&str; 8] = [
    "plain",
    "",
    "two\nlines\r\n",
    "\u{feff} \"quoted\" \\ \u{1}",
    "see [Image: https://e.com/i.png] and [Audio: https://e.com/a.mp3]",
    "[RESPOND]",
    "Привіт 👩‍👩‍👧 你好",
    "[meta] user_id=1 name=\"x\" leaked",
];

fn room(seed: u64) -> Room {
    let mut dice = Dice(seed);
    let mut room = Room::new();
    let people = [
        room.human("u 1", "Ann Lee"),
        room.human("u2", "小王: [x]"),
        room.agent("b1", "Bot"),
        room.agent("b2", ""),
    ];
    let mut calls: Vec<(u32, u32, String)> = Vec::new();
    let mut results: Vec<(u32, String)> = Vec::new();
    for count in 0..dice.roll(14) {
        let sender = people[dice.roll(4) as usize];
        let position = match dice.roll(9) {
            0 => room.notice("joined"),
            1 => room.system(dice.pick(&TEXTS)),
            2 => {
                let ids = [format!("c{count}"), "same".to_owned(), String::new()];
                let id = &ids[dice.roll(3) as usize];
                let said = dice.pick(&TEXTS);
                let position = room.call(sender, said, &[(id, "f.g", "{ \"a\": [1, 2] }")]);
                calls.push((position, u32::from(!said.is_empty()), id.clone()));
                position
            }
            3 | 4 => {
                let id = match dice.roll(3) {
                    0 => "nobody".to_owned(),
                    _ => format!("c{}", dice.roll(count + 1)),
                };
                let position = room.result(&id, dice.pick(&["{ \"ok\": 1 }", "[1]", "fine\n", ""]));
                results.push((position, id));
                position
            }
            5 => {
                let kind = [
                    MediaKind::Image,
                    MediaKind::Audio,
                    MediaKind::Video,
                    MediaKind::File,
                    MediaKind::Link,
                ][dice.roll(5) as usize];
                let url = (dice.roll(2) == 0).then_some("https://e.com/m");
                let parts = vec![
                    text(dice.pick(&TEXTS)),
                    media(kind, url, None),
                    Part::Reasoning("hm".to_owned()),
                    text(dice.pick(&TEXTS)),
                ];
                room.post(Some(sender), parts)
            }
            6 => room.post((dice.roll(2) == 0).then_some(sender), vec![]),
            _ => room.say(sender, dice.pick(&TEXTS)),
        };
        match dice.roll(5) {
            0 if position > 0 => room.reply(position, dice.roll(u64::from(position)) as u32),
            1 => {
                let shown = preview(dice.pick(&TEXTS), Some("u2"), None);
                room.refer(position, None, Some(shown), None, LinkStatus::Preview);
            }
            2 => {
                let status = [
                    LinkStatus::Dangling,
                    LinkStatus::Pseudo,
                    LinkStatus::Itself,
                    LinkStatus::Cyclic,
                ][dice.roll(4) as usize];
                room.refer(position, Some("x".to_owned()), None, None, status);
            }
            _ => {}
        }
    }
    pair(&mut room, calls, results);
    room
}

/// Pairs by id, as linking does.
fn pair(room: &mut Room, calls: Vec<(u32, u32, String)>, results: Vec<(u32, String)>) {
    let mut answered = vec![false; calls.len()];
    for (result, id) in results {
        let call = calls.iter().position(|(_, _, call)| *call == id);
        let Some(index) = call else {
            room.pair(None, Some((result, 0)), CallStatus::Orphaned);
            continue;
        };
        let place = (calls[index].0, calls[index].1);
        let status = if answered[index] {
            CallStatus::Duplicate
        } else if result < place.0 {
            CallStatus::Early
        } else if result == place.0 + 1 {
            CallStatus::Paired
        } else {
            CallStatus::Late
        };
        answered[index] = true;
        room.pair(Some(place), Some((result, 0)), status);
    }
    for ((position, part, _), answered) in calls.into_iter().zip(answered) {
        if !answered {
            room.pair(Some((position, part)), None, CallStatus::Unanswered);
        }
    }
}

fn policies() -> Vec<Policy> {
    let mut policies = Vec::new();
    for orphans in [Orphans::Repair, Orphans::Drop, Orphans::Reject] {
        for (names, media, references) in [
            (Names::Auto, MediaPolicy::Keep, References::Quote),
            (Names::Prefix, MediaPolicy::Placeholder, References::Drop),
            (Names::Drop, MediaPolicy::Drop, References::Quote),
        ] {
            policies.push(Policy {
                names,
                references,
                media,
                orphans,
                ..Policy::default()
            });
        }
    }
    policies
}

fn each(mut look: impl FnMut(&str, u64, &Policy, &Room, Out)) {
    for seed in 0..100 {
        let room = room(seed);
        for policy in policies() {
            for perspective in [None, Some(0), Some(2), Some(3)] {
                for dialect in DIALECTS {
                    for history in [History::Document, History::Messages(3)] {
                        for out in room.render_as(dialect.id(), &policy, history, perspective) {
                            look(dialect.id(), seed, &policy, &room, out);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn json_dialects_write_compact_json_and_ledgers_are_in_order() {
    each(|dialect, seed, _, room, out| {
        let (found, _) = chatmill_dialect::find(dialect).unwrap();
        if found.about().media_type == "application/json" {
            let value: Value = serde_json::from_str(&out.text)
                .unwrap_or_else(|error| panic!("{dialect} {seed}: {error} in {}", out.text));
            assert_eq!(
                out.text,
                serde_json::to_string(&value).unwrap(),
                "{dialect} {seed}"
            );
        }
        let keys: Vec<_> = out.losses.iter().map(|loss| (loss.position, loss.code)).collect();
        assert!(keys.is_sorted(), "{dialect} {seed}");
        assert!(out.losses.iter().all(|loss| loss.amount > 0));
        let length = room.linked.conversation.messages.len() as u32;
        assert!(out.messages <= length && out.positions.1.is_none_or(|last| last < length));
        assert!(out.assistant <= out.messages);
    });
}

#[test]
fn what_openai_chat_calls_valid_breaks_no_rule() {
    let mut seen = (0, 0);
    each(|dialect, seed, policy, _, out| {
        if dialect == "openai-chat" {
            let fault = judge(&out.text);
            assert_eq!(
                fault.is_none(),
                out.violations.is_empty(),
                "{seed}: {fault:?}, {:?} in {}",
                out.violations,
                out.text
            );
            if policy.orphans != Orphans::Reject && out.messages > 0 {
                assert_eq!(out.violations, Vec::<String>::new(), "{seed}");
            }
            seen.0 += u32::from(fault.is_none());
            seen.1 += u32::from(fault.is_some());
        }
    });
    assert!(seen.0 > 1000 && seen.1 > 100, "{seen:?}");
}

/// The first rule that a request breaks.
fn judge(request: &str) -> Option<String> {
    let value: Value = serde_json::from_str(request).unwrap();
    let messages = value["messages"].as_array().unwrap();
    if messages.is_empty() {
        return Some("no messages".to_owned());
    }
    let is_name = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let Some(index) = open.iter().position(|call| *call == id) else {
                return Some(format!("OAC-06 {id} answers nothing"));
            };
            open.remove(index);
            if !message["content"].is_string() || message.get("name").is_some() {
                return Some("OAC-03/09".to_owned());
            }
            continue;
        }
        if !open.is_empty() {
            return Some("OAC-06 unanswered".to_owned());
        }
        if message.get("name").is_some_and(|name| !is_name(name)) {
            return Some("OAC-08".to_owned());
        }
        let calls = message["tool_calls"].as_array();
        match &message["content"] {
            Value::String(content) if content.is_empty() => return Some("empty".to_owned()),
            Value::String(_) => {}
            Value::Array(parts) if role == "user" && !parts.is_empty() => {}
            Value::Null if calls.is_some() => {}
            _ => return Some("OAC-02/03/04".to_owned()),
        }
        if calls.is_some_and(|calls| calls.is_empty() || role != "assistant") {
            return Some("OAC-05".to_owned());
        }
        for call in calls.into_iter().flatten() {
            if !is_name(&call["function"]["name"]) || !call["function"]["arguments"].is_string() {
                return Some("OAC-05/07".to_owned());
            }
            open.push(call["id"].as_str().filter(|id| !id.is_empty())?);
        }
    }
    (!open.is_empty()).then(|| "OAC-06 unanswered at the end".to_owned())
}

#[test]
fn transcripts_hold_every_text_in_order_or_declare_the_change() {
    each(|dialect, seed, _, room, out| {
        if dialect != "gryag-compact" && dialect != "jaibber-context" {
            return;
        }
        let mut rest = out.text.as_str();
        for message in &room.linked.conversation.messages {
            let is_shown = out.positions.0.is_some_and(|first| message.position >= first);
            let is_changed = out
                .losses
                .iter()
                .any(|loss| loss.position == Some(message.position));
            if !is_shown || is_changed {
                continue;
            }
            for said in message.texts() {
                let (_, after) = rest
                    .split_once(said)
                    .unwrap_or_else(|| panic!("{dialect} {seed}: {said:?} is not in {rest:?}"));
                rest = after;
            }
        }
    });
}

#[test]
fn a_compact_transcript_has_one_line_for_each_message() {
    each(|dialect, seed, _, _, out| {
        if dialect == "gryag-compact" {
            let lines = out.text.lines().count() as u32;
            assert_eq!(lines, out.messages + 1, "{seed}: {}", out.text);
        }
    });
}
