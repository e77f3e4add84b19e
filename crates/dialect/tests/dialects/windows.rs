//! Checks that every dialect shows the range of its view; the ranges themselves are tested by cases in `../cases/windows`.

use chatmill_dialect::window::{CutPoints, Cuts, WindowMode, WindowRange, turn_starts, window_ranges};
use chatmill_dialect::{DIALECTS, History, LossCode, Policy, Targets};
use chatmill_model::{CallStatus, LinkStatus, MessageKind, Role};

use crate::chat::{Out, TestChat, text};

const HOUR: i64 = 3_600_000_000;

fn cuts(session_gap: Option<i64>, per_turn: bool) -> Cuts {
    Cuts {
        session_gap,
        mode: if per_turn {
            WindowMode::PerTurn
        } else {
            WindowMode::Document
        },
        ..Cuts::default()
    }
}

fn at(chat: &mut TestChat, position: u32, instant: i64) {
    chat.time(position, "then");
    chat.message(position).timestamp.as_mut().unwrap().instant = Some(instant);
}

/// A greeting, an answer with a call, a turn that ends with a call, an answer that comes late.
fn agent() -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(bot, "Welcome");
    chat.write(ann, "What is the weather?");
    chat.call(bot, "Let me look.", &[("c1", "weather", "{}")]);
    chat.result("c1", "rain");
    chat.write(bot, "It rains.");
    chat.write(ann, "Warn the others.");
    chat.call(bot, "", &[("c2", "warn", "{}")]);
    chat.result("c2", "done");
    chat.write(ann, "And tomorrow?");
    chat.write(bot, "Sun.");
    chat.pair(Some((2, 1)), Some((3, 0)), CallStatus::Paired);
    chat.pair(Some((6, 0)), Some((7, 0)), CallStatus::Paired);
    for position in 0..10 {
        at(&mut chat, position, if position == 9 { 9 * HOUR } else { 0 });
    }
    chat
}

#[test]
fn a_step_ends_with_its_call_and_no_synthetic_result() {
    let chat = agent();
    let cuts = Cuts {
        mode: WindowMode::PerTurn,
        targets: Targets::Steps,
        ..Cuts::default()
    };
    let cut_points = CutPoints::of(&chat.linked);
    let found = window_ranges(&chat.linked, &cut_points, Some(1), cuts);
    let policy = Policy::default();
    for dialect in ["openai-chat", "hf-messages", "sharegpt", "anthropic-messages"] {
        let range = Some(found.ranges[2]);
        let outs = chat.render_window(dialect, &policy, History::All, Some(1), range);
        assert_eq!(outs[0].lost(LossCode::MissingResultSynthesised), [], "{dialect}");
        assert!(!outs[0].text.contains("done"), "{dialect}: {}", outs[0].text);
        assert!(outs[0].text.contains("warn"), "{dialect}: {}", outs[0].text);
    }
}

/// A conversation with sessions, tools, several agents and replies, a different one for each seed.
fn busy(seed: u64) -> TestChat {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = move |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % sides
    };
    let mut chat = TestChat::new();
    let senders = [
        chat.human("u1", "Ann"),
        chat.human("u2", "Ben"),
        chat.agent("b1", "Bot"),
        chat.agent("b2", "Aid"),
    ];
    let mut open: Vec<(u32, u32, String)> = Vec::new();
    let mut hour = 0;
    for count in 0..roll(24) {
        let sender = senders[roll(4) as usize];
        let words = format!("word{count}");
        let position = match roll(8) {
            0 => chat.notice(&words),
            1 => chat.system(&words),
            2 | 3 => {
                let id = format!("c{count}");
                let text = if roll(2) == 0 { "" } else { words.as_str() };
                let position = chat.call(sender, text, &[(id.as_str(), "look", "{}")]);
                open.push((position, u32::from(!text.is_empty()), id));
                position
            }
            4 | 5 if !open.is_empty() => {
                let (call, part, id) = open.remove(roll(open.len() as u64) as usize);
                let position = chat.result(&id, &words);
                let status = if call + 1 == position {
                    CallStatus::Paired
                } else {
                    CallStatus::Late
                };
                chat.pair(Some((call, part)), Some((position, 0)), status);
                position
            }
            6 => chat.post(Some(sender), vec![text(&words), text("more")]),
            _ => chat.write(sender, &words),
        };
        if position > 0 && roll(4) == 0 {
            let target = roll(u64::from(position)) as u32;
            if chat.message(target).kind == MessageKind::Message
                && chat.message(position).kind == MessageKind::Message
            {
                chat.refer(
                    position,
                    Some(format!("msg{target}")),
                    None,
                    Some(target),
                    LinkStatus::Resolved,
                );
            }
        }
        hour += [0, 0, 0, 2][roll(4) as usize];
        if roll(5) > 0 {
            at(&mut chat, position, hour * HOUR);
        }
    }
    chat
}

/// Renders busy chats for every agent and in every dialect with a history.
fn each(
    session_gap: Option<i64>,
    per_turn: bool,
    history: History,
    mut check: impl FnMut(&str, &TestChat, WindowRange, Out),
) {
    for seed in 0..60 {
        let chat = busy(seed);
        let cut_points = CutPoints::of(&chat.linked);
        for perspective in [2, 3] {
            let cuts = cuts(session_gap, per_turn);
            for range in window_ranges(&chat.linked, &cut_points, Some(perspective), cuts).ranges {
                for dialect in DIALECTS.iter().filter(|dialect| !dialect.is_single_turn()) {
                    let policy = Policy::default();
                    let outs =
                        chat.render_window(dialect.id(), &policy, history, Some(perspective), Some(range));
                    assert_eq!(outs.len(), 1, "{}", dialect.id());
                    for out in outs {
                        check(dialect.id(), &chat, range, out);
                    }
                }
            }
        }
    }
}

/// Returns the maximum number of repairs in a whole conversation: the calls without a result in the source.
fn broken(chat: &TestChat) -> usize {
    let answered = chat.linked.pairings.len();
    let messages = chat.linked.conversation.messages.iter();
    let parts = messages.flat_map(|message| &message.parts);
    let calls = parts.filter(|part| matches!(part, chatmill_model::Part::ToolCall(_)));
    calls.count() - answered
}

#[test]
fn sessions_cover_every_message_once_and_split_no_call() {
    let mut covered = std::collections::BTreeMap::new();
    each(Some(HOUR), false, History::All, |dialect, chat, range, out| {
        assert_eq!(out.coverage, "window");
        assert_eq!(out.lost(LossCode::OrphanResultInlined), [], "{dialect}");
        assert!(
            out.lost(LossCode::MissingResultSynthesised).len() <= broken(chat),
            "{dialect}"
        );
        let (first, last) = out.positions;
        // If a dialect shows nothing of the range, the rendering has only system text before it.
        if last >= Some(range.start) {
            assert!(first >= Some(range.start), "{dialect} {range:?} {first:?}");
        }
        assert!(
            last.is_none_or(|last| last < range.end),
            "{dialect} {range:?} {last:?}"
        );
        if dialect == "group-chat" {
            let all = chat.linked.conversation.messages.len() as u64;
            let outside: u64 = out
                .lost(LossCode::Truncated)
                .iter()
                .map(|(_, amount)| amount)
                .sum();
            let ahead = chat
                .linked
                .conversation
                .messages
                .iter()
                .take(range.start as usize);
            let ahead =
                ahead.filter(|message| message.kind == MessageKind::Message && message.role == Role::System);
            assert_eq!(
                outside + u64::from(range.end - range.start) + ahead.count() as u64,
                all
            );
            *covered.entry(format!("{chat:p}")).or_insert(0) += 1;
        }
    });
    assert!(!covered.is_empty());
}

#[test]
fn a_rendering_per_turn_ends_with_the_assistant_in_every_dialect_that_has_one() {
    let mut seen = 0;
    each(None, true, History::Document, |dialect, chat, range, out| {
        assert_eq!(out.lost(LossCode::OrphanResultInlined), [], "{dialect}");
        let found = chatmill_dialect::find(dialect).unwrap();
        if found.is_neutral() {
            return;
        }
        seen += 1;
        assert_eq!(
            out.last_role,
            Some("assistant"),
            "{dialect} {range:?}: {}",
            out.text
        );
        let answer = &chat.linked.conversation.messages[range.end as usize - 1];
        let text = answer.texts().next().unwrap();
        assert!(out.own.contains(text), "{dialect}: {text} in {}", out.own);
    });
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn a_later_start_shows_the_end_of_the_same_rendering() {
    for seed in 0..60 {
        let chat = busy(seed);
        let cut_points = CutPoints::of(&chat.linked);
        let length = chat.linked.conversation.messages.len() as u32;
        for start in turn_starts(&chat.linked, &cut_points, Some(2)) {
            let range = WindowRange {
                session_start: 0,
                session_end: length,
                start,
                end: length,
                trained_from: 0,
            };
            let policy = Policy::default();
            let out = chat
                .render_window("suna-llm", &policy, History::All, Some(2), Some(range))
                .remove(0);
            assert_eq!(out.lost(LossCode::OrphanResultInlined), []);
            let front = &chat.linked.conversation.messages[..start as usize];
            let shown = |role: Role| {
                front
                    .iter()
                    .filter(move |message| message.kind == MessageKind::Message && message.role == role)
            };
            for message in shown(Role::System) {
                assert!(out.text.contains(&*message.text()));
            }
            let cut = front
                .iter()
                .filter(|message| message.kind == MessageKind::Message)
                .count()
                - shown(Role::System).count();
            let lost: u64 = out
                .lost(LossCode::Truncated)
                .iter()
                .map(|(_, amount)| amount)
                .sum();
            assert_eq!(lost, cut as u64);
        }
    }
}
