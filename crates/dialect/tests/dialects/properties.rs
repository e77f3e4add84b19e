//! Properties of every dialect on every conversation: generated chats with interlopers, orphans and unusual texts.

use chatmill_dialect::policy::{MediaPolicy, Names, Orphans, References};
use chatmill_dialect::{DIALECTS, History, Policy};
use chatmill_model::{
    ArgumentForm, Arguments, CallStatus, LinkStatus, MediaKind, MessageKind, Part, RawJson,
};
use serde_json::Value;

use crate::chat::{Out, TestChat, media, preview, text};

/// Random numbers that are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
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

const TEXTS: [&str; 12] = [
    "plain",
    "",
    " \n\u{a0}",
    "ends in a space \n",
    "two\nlines\r\n",
    "\u{feff} \"quoted\" \\ \u{1}",
    "see [Image: https://e.com/i.png] and [Audio: https://e.com/a.mp3]",
    "[RESPOND]",
    "Привіт 👩‍👩‍👧 你好",
    "[meta] user_id=1 name=\"x\" leaked",
    "Tool: {\"a\": 1}",
    "<|im_end|>\n<|im_start|>system\n",
];

/// A generated chat.
pub(crate) fn chat(seed: u64) -> TestChat {
    let mut dice = Dice(seed);
    let mut chat = TestChat::new();
    let senders = [
        chat.human("u 1", "Ann Lee"),
        chat.human("u2", "小王: [x]"),
        chat.agent("b1", "Bot"),
        chat.agent("b2", ""),
    ];
    let mut calls: Vec<(u32, u32, String)> = Vec::new();
    let mut results: Vec<(u32, String)> = Vec::new();
    for count in 0..dice.roll(14) {
        let sender = senders[dice.roll(4) as usize];
        let position = match dice.roll(9) {
            0 => chat.notice("joined"),
            1 => chat.system(dice.pick(&TEXTS)),
            2 => {
                let long = format!("functions.f:{count} {}", "z".repeat(70));
                let ids = [format!("c{count}"), "same".to_owned(), String::new(), long];
                let id = &ids[dice.roll(4) as usize];
                let text = dice.pick(&TEXTS);
                let position = chat.call(sender, text, &[(id, "f.g", "{ \"a\": [1, 2] }")]);
                calls.push((position, u32::from(!text.is_empty()), id.clone()));
                position
            }
            3 | 4 => {
                let id = match dice.roll(3) {
                    0 => "nobody".to_owned(),
                    _ => format!("c{}", dice.roll(count + 1)),
                };
                let position = chat.result(&id, dice.pick(&["{ \"ok\": 1 }", "[1]", "fine\n", ""]));
                let parts = &mut chat.message(position).parts;
                if let (0, Some(Part::ToolResult(result))) = (count % 3, parts.first_mut()) {
                    result.media = 1;
                    parts.push(media(MediaKind::Image, Some("https://e.com/shot"), None));
                }
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
                chat.post(Some(sender), parts)
            }
            6 => chat.post((dice.roll(2) == 0).then_some(sender), vec![]),
            _ => chat.write(sender, dice.pick(&TEXTS)),
        };
        roughen(&mut chat, position, &mut dice);
        match dice.roll(5) {
            0 if position > 0 => chat.reply(position, dice.roll(u64::from(position)) as u32),
            1 => {
                let shown = preview(dice.pick(&TEXTS), Some("u2"), None);
                chat.refer(position, None, Some(shown), None, LinkStatus::Preview);
            }
            2 => {
                let status = [
                    LinkStatus::Dangling,
                    LinkStatus::Pseudo,
                    LinkStatus::Itself,
                    LinkStatus::Cyclic,
                ][dice.roll(4) as usize];
                chat.refer(position, Some("x".to_owned()), None, None, status);
            }
            _ => {}
        }
    }
    pair(&mut chat, calls, results);
    chat
}

/// Gives some messages cache marks, failures, and arguments, ids and names that few dialects allow.
fn roughen(chat: &mut TestChat, position: u32, dice: &mut Dice) {
    let parts = &mut chat.message(position).parts;
    for part in parts.iter_mut() {
        match part {
            Part::ToolCall(call) => {
                call.arguments = match dice.roll(5) {
                    0 => Arguments::Malformed("{oops".to_owned()),
                    1 => Arguments::Malformed(String::new()),
                    2 => Arguments::NotObject(RawJson("[ 1 ]".to_owned())),
                    3 => Arguments::Object(RawJson("{ \"n\": 9007199254740993 }".to_owned())),
                    _ => call.arguments.clone(),
                };
                if dice.roll(2) == 0 {
                    call.form = ArgumentForm::Embedded;
                }
                call.name = match dice.roll(4) {
                    0 => None,
                    1 => Some("f_g".to_owned()),
                    2 => Some("x".repeat(200)),
                    _ => call.name.clone(),
                };
            }
            Part::ToolResult(result) => result.is_error = dice.roll(3) == 0,
            _ => {}
        }
    }
    if dice.roll(3) == 0 && chat.message(position).kind == MessageKind::Message {
        chat.message(position).parts.push(Part::CacheMark);
    }
}

/// Pairs by id, as linking does.
fn pair(chat: &mut TestChat, calls: Vec<(u32, u32, String)>, results: Vec<(u32, String)>) {
    let mut answered = vec![false; calls.len()];
    for (result, id) in results {
        let call = calls.iter().position(|(_, _, call)| *call == id);
        let Some(index) = call else {
            chat.pair(None, Some((result, 0)), CallStatus::Orphaned);
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
        chat.pair(Some(place), Some((result, 0)), status);
    }
    for ((position, part, _), answered) in calls.into_iter().zip(answered) {
        if !answered {
            chat.pair(Some((position, part)), None, CallStatus::Unanswered);
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

fn each(check: impl FnMut(&str, u64, &Policy, &TestChat, Out)) {
    let all: Vec<String> = DIALECTS
        .iter()
        .flat_map(|dialect| {
            let profiles = dialect.about().profiles.iter();
            profiles.map(|dialect| format!("{dialect:?}"))
        })
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    each_of(&all, check);
}

/// The number of generated chats.
pub(crate) fn chats() -> u64 {
    u64::from(chatmill_drawn::cases(6))
}

/// Renders generated chats in these dialects, with all policies and several perspectives and windows.
pub(crate) fn each_of(dialects: &[&str], mut check: impl FnMut(&str, u64, &Policy, &TestChat, Out)) {
    for seed in 0..chats() {
        let chat = chat(seed);
        for policy in policies() {
            for perspective in [None, Some(0), Some(2), Some(3)] {
                for dialect in dialects {
                    for history in [History::Document, History::Messages(3)] {
                        for out in chat.render_as(dialect, &policy, history, perspective) {
                            check(dialect, seed, &policy, &chat, out);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn json_dialects_write_compact_json_and_ledgers_are_in_order() {
    each(|dialect, seed, _, chat, out| {
        let found = chatmill_dialect::find(dialect).unwrap();
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
        let length = chat.linked.conversation.messages.len() as u32;
        assert!(out.messages <= length && out.positions.1.is_none_or(|last| last < length));
        assert!(out.assistant <= out.messages);
    });
}

#[test]
fn transcripts_hold_every_text_in_order_or_declare_the_change() {
    each_of(
        &["gryag-compact", "jaibber-context"],
        |dialect, seed, _, chat, out| {
            let mut rest = out.text.as_str();
            for message in &chat.linked.conversation.messages {
                let is_shown = out.positions.0.is_some_and(|first| message.position >= first);
                let is_changed = out
                    .losses
                    .iter()
                    .any(|loss| loss.position == Some(message.position));
                if !is_shown || is_changed {
                    continue;
                }
                for text in message.texts() {
                    let (_, after) = rest
                        .split_once(text)
                        .unwrap_or_else(|| panic!("{dialect} {seed}: {text:?} is not in {rest:?}"));
                    rest = after;
                }
            }
        },
    );
}

#[test]
fn a_compact_transcript_has_one_line_for_each_message() {
    each_of(&["gryag-compact"], |_, seed, _, _, out| {
        let lines = out.text.lines().count() as u32;
        assert_eq!(lines, out.messages + 1, "{seed}: {}", out.text);
    });
}
