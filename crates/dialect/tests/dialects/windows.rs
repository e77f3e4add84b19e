//! Sessions, answers and cut points, and that every dialect shows the range that it is given.

use chatmill_dialect::window::{CutPoints, Cuts, WindowMode, WindowRange, turn_starts, window_ranges};
use chatmill_dialect::{DIALECTS, History, LossCode, Policy, SkippedTargets, Targets, auto_perspective};
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

/// Cuts at silences of more than an hour, or after answers, or both.
fn cut(chat: &TestChat, session_gap: Option<i64>, per_turn: bool) -> Vec<WindowRange> {
    let cut_points = CutPoints::of(&chat.linked);
    window_ranges(
        &chat.linked,
        &cut_points,
        auto_perspective(&chat.linked),
        cuts(session_gap, per_turn),
    )
    .ranges
}

fn sessions(chat: &TestChat) -> Vec<(u32, u32)> {
    let cut = cut(chat, Some(HOUR), false);
    cut.iter().map(|range| (range.start, range.end)).collect()
}

fn answers(chat: &TestChat) -> Vec<u32> {
    cut(chat, None, true).iter().map(|range| range.end).collect()
}

fn at(chat: &mut TestChat, position: u32, instant: i64) {
    chat.time(position, "then");
    chat.message(position).timestamp.as_mut().unwrap().instant = Some(instant);
}

/// Messages at these hours; none has no usable time.
fn talk(hours: &[Option<i64>]) -> TestChat {
    let mut chat = TestChat::new();
    let senders = [chat.human("u1", "Ann"), chat.agent("b1", "Bot")];
    for (index, hour) in hours.iter().enumerate() {
        let position = chat.write(senders[index % 2], &format!("message {index}"));
        match hour {
            Some(hour) => at(&mut chat, position, hour * HOUR),
            None => chat.time(position, "some day"),
        }
    }
    chat
}

#[test]
fn a_longer_silence_starts_a_session_and_an_equal_one_does_not() {
    assert_eq!(sessions(&talk(&[Some(0), Some(1), Some(2)])), [(0, 3)]);
    assert_eq!(
        sessions(&talk(&[Some(0), Some(1), Some(3), Some(5)])),
        [(0, 2), (2, 3), (3, 4)]
    );
    assert_eq!(sessions(&talk(&[])), [(0, 0)]);
}

#[test]
fn messages_without_usable_time_belong_to_the_running_session() {
    assert_eq!(sessions(&talk(&[Some(0), None, Some(9), None])), [(0, 2), (2, 4)]);
    assert_eq!(sessions(&talk(&[None, Some(7), None])), [(0, 3)]);
    // Time goes backwards: nobody was silent.
    assert_eq!(
        sessions(&talk(&[Some(9), Some(0), Some(9), Some(11)])),
        [(0, 3), (3, 4)]
    );
}

#[test]
fn a_silence_between_a_call_and_its_result_starts_no_session() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "build it");
    chat.call(bot, "", &[("c1", "make", "{}")]);
    chat.result("c1", "built");
    chat.write(bot, "done");
    chat.write(ann, "thanks");
    chat.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    for (position, hour) in [(0, 0), (1, 0), (2, 8), (3, 8), (4, 20)] {
        at(&mut chat, position, hour * HOUR);
    }
    assert_eq!(sessions(&chat), [(0, 4), (4, 5)]);
}

#[test]
fn system_text_behind_a_silence_belongs_to_the_turn_that_follows() {
    let mut chat = TestChat::new();
    let ann = chat.human("u1", "Ann");
    chat.system("Be kind.");
    chat.write(ann, "Hello");
    chat.system("Be brief.");
    chat.notice("Ann is back");
    chat.write(ann, "Again");
    chat.system("Be gone.");
    for (position, hour) in [(0, 0), (1, 5), (2, 9), (4, 9), (5, 20)] {
        at(&mut chat, position, hour * HOUR);
    }
    assert_eq!(sessions(&chat), [(0, 2), (2, 6)]);
}

#[test]
fn a_turn_is_everything_up_to_its_last_words() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(bot, "Welcome");
    chat.write(ann, "What is the weather?");
    chat.call(bot, "Let me look.", &[("c1", "weather", "{}")]);
    chat.result("c1", "rain");
    chat.notice("typing");
    chat.write(bot, "It rains.");
    chat.write(bot, "Take a coat.");
    chat.write(ann, "And tomorrow?");
    chat.call(bot, "", &[("c2", "weather", "{}")]);
    chat.result("c2", "sun");
    chat.pair(Some((2, 1)), Some((3, 0)), CallStatus::Paired);
    chat.pair(Some((8, 0)), Some((9, 0)), CallStatus::Paired);
    // No question precedes the welcome, and the last turn has no text after its call.
    assert_eq!(answers(&chat), [7]);
    let starts = turn_starts(&chat.linked, &CutPoints::of(&chat.linked), Some(bot));
    assert_eq!(starts, [1, 7]);
    chat.write(bot, "Sun.");
    assert_eq!(answers(&chat), [7, 11]);
}

#[test]
fn an_answer_between_a_call_and_its_result_ends_nothing() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "How much?");
    chat.call(bot, "", &[("c1", "slow", "{}")]);
    chat.write(ann, "Still there?");
    chat.write(bot, "A moment.");
    chat.write(ann, "Well?");
    chat.result("c1", "42");
    chat.write(bot, "It is 42.");
    chat.pair(Some((1, 0)), Some((5, 0)), CallStatus::Late);
    assert_eq!(answers(&chat), [7]);
    assert_eq!(
        turn_starts(&chat.linked, &CutPoints::of(&chat.linked), Some(bot)),
        [0]
    );
}

/// The ranges of a mode, and from which position on each is learned.
fn trained_ranges(
    chat: &TestChat,
    mode: WindowMode,
    targets: Targets,
) -> (Vec<(u32, u32, u32)>, SkippedTargets) {
    let cuts = Cuts {
        session_gap: Some(HOUR),
        mode,
        targets,
        ..Cuts::default()
    };
    let cut_points = CutPoints::of(&chat.linked);
    let found = window_ranges(&chat.linked, &cut_points, auto_perspective(&chat.linked), cuts);
    let shown = found.ranges.iter();
    let shown = shown.map(|range| (range.start, range.trained_from, range.end));
    (shown.collect(), found.skipped_targets)
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
fn a_sample_per_turn_begins_with_another_speaker_and_trains_its_turn() {
    let (shown, skipped) = trained_ranges(&agent(), WindowMode::PerTurn, Targets::Answers);
    // The answer after the silence stays with its question.
    assert_eq!(shown, [(1, 2, 5), (1, 9, 10)]);
    let reasons: Vec<_> = skipped.reasons().collect();
    assert_eq!(
        reasons,
        [
            ("nobody speaks before the turn", 1),
            ("the turn ends with a call", 1)
        ]
    );
}

#[test]
fn each_step_is_a_sample_where_steps_are_asked_for() {
    let (shown, skipped) = trained_ranges(&agent(), WindowMode::PerTurn, Targets::Steps);
    assert_eq!(shown, [(1, 2, 3), (1, 4, 5), (1, 6, 7), (1, 9, 10)]);
    let reasons: Vec<_> = skipped.reasons().collect();
    assert_eq!(reasons, [("nobody speaks before the turn", 1)]);
}

#[test]
fn exchanges_follow_one_another_and_a_turn_that_ends_with_a_call_joins_the_next() {
    let (shown, skipped) = trained_ranges(&agent(), WindowMode::Consecutive, Targets::Answers);
    assert_eq!(shown, [(1, 2, 5), (5, 6, 10)]);
    assert_eq!((skipped.without_question, skipped.without_words), (1, 0));
    let (shown, _) = trained_ranges(&agent(), WindowMode::Consecutive, Targets::Steps);
    assert_eq!(shown, [(1, 2, 5), (5, 6, 7), (8, 9, 10)]);
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

#[test]
fn without_a_perspective_there_are_no_windows_and_every_turn_is_a_start() {
    let chat = talk(&[None, None, None]);
    let cut_points = CutPoints::of(&chat.linked);
    assert_eq!(
        window_ranges(&chat.linked, &cut_points, None, cuts(None, true)).ranges,
        []
    );
    assert_eq!(turn_starts(&chat.linked, &cut_points, None), [0, 1, 2]);
}

/// A conversation with sessions, tools, several agents and replies, another one for each seed.
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

/// Renderings of busy chats, as every agent and in every dialect with a history.
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

/// How often results and calls are repaired in a whole conversation, at most: what is broken in the source.
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
        // Where a dialect shows nothing of the range, system text before it is all there is.
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
