//! Sessions, answers and borders, and that every dialect shows the stretch that it is given.

use chatmill_dialect::window::{CutPoints, Cuts, WindowMode, WindowRange, stretches, turn_starts};
use chatmill_dialect::{DIALECTS, History, LossCode, Policy, Targets, Untaught, auto_perspective};
use chatmill_model::{CallStatus, LinkStatus, MessageKind, Role};

use crate::room::{Out, Room, text};

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
fn cut(room: &Room, session_gap: Option<i64>, per_turn: bool) -> Vec<WindowRange> {
    let borders = CutPoints::of(&room.linked);
    stretches(
        &room.linked,
        &borders,
        auto_perspective(&room.linked),
        cuts(session_gap, per_turn),
    )
    .ranges
}

fn sessions(room: &Room) -> Vec<(u32, u32)> {
    let cut = cut(room, Some(HOUR), false);
    cut.iter().map(|stretch| (stretch.start, stretch.end)).collect()
}

fn answers(room: &Room) -> Vec<u32> {
    cut(room, None, true).iter().map(|stretch| stretch.end).collect()
}

fn at(room: &mut Room, position: u32, instant: i64) {
    room.time(position, "then");
    room.message(position).timestamp.as_mut().unwrap().instant = Some(instant);
}

/// Messages at these hours; none has no usable time.
fn talk(hours: &[Option<i64>]) -> Room {
    let mut room = Room::new();
    let people = [room.human("u1", "Ann"), room.agent("b1", "Bot")];
    for (index, hour) in hours.iter().enumerate() {
        let position = room.say(people[index % 2], &format!("message {index}"));
        match hour {
            Some(hour) => at(&mut room, position, hour * HOUR),
            None => room.time(position, "some day"),
        }
    }
    room
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
fn a_silence_between_a_call_and_its_result_is_no_border() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "build it");
    room.call(bot, "", &[("c1", "make", "{}")]);
    room.result("c1", "built");
    room.say(bot, "done");
    room.say(ann, "thanks");
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    for (position, hour) in [(0, 0), (1, 0), (2, 8), (3, 8), (4, 20)] {
        at(&mut room, position, hour * HOUR);
    }
    assert_eq!(sessions(&room), [(0, 4), (4, 5)]);
}

#[test]
fn system_text_behind_a_silence_belongs_to_the_turn_that_follows() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.system("Be kind.");
    room.say(ann, "Hello");
    room.system("Be brief.");
    room.notice("Ann is back");
    room.say(ann, "Again");
    room.system("Be gone.");
    for (position, hour) in [(0, 0), (1, 5), (2, 9), (4, 9), (5, 20)] {
        at(&mut room, position, hour * HOUR);
    }
    assert_eq!(sessions(&room), [(0, 2), (2, 6)]);
}

#[test]
fn a_turn_is_everything_up_to_its_last_words() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(bot, "Welcome");
    room.say(ann, "What is the weather?");
    room.call(bot, "Let me look.", &[("c1", "weather", "{}")]);
    room.result("c1", "rain");
    room.notice("typing");
    room.say(bot, "It rains.");
    room.say(bot, "Take a coat.");
    room.say(ann, "And tomorrow?");
    room.call(bot, "", &[("c2", "weather", "{}")]);
    room.result("c2", "sun");
    room.pair(Some((2, 1)), Some((3, 0)), CallStatus::Paired);
    room.pair(Some((8, 0)), Some((9, 0)), CallStatus::Paired);
    // Nobody has asked for the welcome, and the last turn says nothing after its call.
    assert_eq!(answers(&room), [7]);
    let starts = turn_starts(&room.linked, &CutPoints::of(&room.linked), Some(bot));
    assert_eq!(starts, [1, 7]);
    room.say(bot, "Sun.");
    assert_eq!(answers(&room), [7, 11]);
}

#[test]
fn an_answer_between_a_call_and_its_result_ends_nothing() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "How much?");
    room.call(bot, "", &[("c1", "slow", "{}")]);
    room.say(ann, "Still there?");
    room.say(bot, "A moment.");
    room.say(ann, "Well?");
    room.result("c1", "42");
    room.say(bot, "It is 42.");
    room.pair(Some((1, 0)), Some((5, 0)), CallStatus::Late);
    assert_eq!(answers(&room), [7]);
    assert_eq!(
        turn_starts(&room.linked, &CutPoints::of(&room.linked), Some(bot)),
        [0]
    );
}

/// What the stretches of a mode show, and from where on they are learned.
fn learned(room: &Room, mode: WindowMode, targets: Targets) -> (Vec<(u32, u32, u32)>, Untaught) {
    let cuts = Cuts {
        session_gap: Some(HOUR),
        mode,
        targets,
        ..Cuts::default()
    };
    let borders = CutPoints::of(&room.linked);
    let found = stretches(&room.linked, &borders, auto_perspective(&room.linked), cuts);
    let shown = found.ranges.iter();
    let shown = shown.map(|stretch| (stretch.start, stretch.learned, stretch.end));
    (shown.collect(), found.untaught)
}

/// A greeting, an answer with a call, a turn that ends with a call, an answer that comes late.
fn agent() -> Room {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(bot, "Welcome");
    room.say(ann, "What is the weather?");
    room.call(bot, "Let me look.", &[("c1", "weather", "{}")]);
    room.result("c1", "rain");
    room.say(bot, "It rains.");
    room.say(ann, "Warn the others.");
    room.call(bot, "", &[("c2", "warn", "{}")]);
    room.result("c2", "done");
    room.say(ann, "And tomorrow?");
    room.say(bot, "Sun.");
    room.pair(Some((2, 1)), Some((3, 0)), CallStatus::Paired);
    room.pair(Some((6, 0)), Some((7, 0)), CallStatus::Paired);
    for position in 0..10 {
        at(&mut room, position, if position == 9 { 9 * HOUR } else { 0 });
    }
    room
}

#[test]
fn a_sample_per_turn_begins_with_somebody_and_learns_its_turn() {
    let (shown, untaught) = learned(&agent(), WindowMode::PerTurn, Targets::Answers);
    // The answer after the silence stays with its question.
    assert_eq!(shown, [(1, 2, 5), (1, 9, 10)]);
    let reasons: Vec<_> = untaught.reasons().collect();
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
    let (shown, untaught) = learned(&agent(), WindowMode::PerTurn, Targets::Steps);
    assert_eq!(shown, [(1, 2, 3), (1, 4, 5), (1, 6, 7), (1, 9, 10)]);
    let reasons: Vec<_> = untaught.reasons().collect();
    assert_eq!(reasons, [("nobody speaks before the turn", 1)]);
}

#[test]
fn exchanges_follow_one_another_and_a_turn_that_ends_with_a_call_joins_the_next() {
    let (shown, untaught) = learned(&agent(), WindowMode::Consecutive, Targets::Answers);
    assert_eq!(shown, [(1, 2, 5), (5, 6, 10)]);
    assert_eq!((untaught.without_question, untaught.without_words), (1, 0));
    let (shown, _) = learned(&agent(), WindowMode::Consecutive, Targets::Steps);
    assert_eq!(shown, [(1, 2, 5), (5, 6, 7), (8, 9, 10)]);
}

#[test]
fn a_step_ends_with_its_call_and_no_result_is_made_up() {
    let room = agent();
    let cuts = Cuts {
        mode: WindowMode::PerTurn,
        targets: Targets::Steps,
        ..Cuts::default()
    };
    let borders = CutPoints::of(&room.linked);
    let found = stretches(&room.linked, &borders, Some(1), cuts);
    let policy = Policy::default();
    for dialect in ["openai-chat", "hf-messages", "sharegpt", "anthropic-messages"] {
        let stretch = Some(found.ranges[2]);
        let outs = room.render_stretch(dialect, &policy, History::All, Some(1), stretch);
        assert_eq!(outs[0].lost(LossCode::MissingResultSynthesised), [], "{dialect}");
        assert!(!outs[0].text.contains("done"), "{dialect}: {}", outs[0].text);
        assert!(outs[0].text.contains("warn"), "{dialect}: {}", outs[0].text);
    }
}

#[test]
fn without_a_perspective_there_are_no_windows_and_every_turn_is_a_start() {
    let room = talk(&[None, None, None]);
    let borders = CutPoints::of(&room.linked);
    assert_eq!(
        stretches(&room.linked, &borders, None, cuts(None, true)).ranges,
        []
    );
    assert_eq!(turn_starts(&room.linked, &borders, None), [0, 1, 2]);
}

/// A conversation with sessions, tools, several agents and replies, another one for each seed.
fn busy(seed: u64) -> Room {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = move |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % sides
    };
    let mut room = Room::new();
    let people = [
        room.human("u1", "Ann"),
        room.human("u2", "Ben"),
        room.agent("b1", "Bot"),
        room.agent("b2", "Aid"),
    ];
    let mut open: Vec<(u32, u32, String)> = Vec::new();
    let mut hour = 0;
    for count in 0..roll(24) {
        let sender = people[roll(4) as usize];
        let words = format!("word{count}");
        let position = match roll(8) {
            0 => room.notice(&words),
            1 => room.system(&words),
            2 | 3 => {
                let id = format!("c{count}");
                let said = if roll(2) == 0 { "" } else { words.as_str() };
                let position = room.call(sender, said, &[(id.as_str(), "look", "{}")]);
                open.push((position, u32::from(!said.is_empty()), id));
                position
            }
            4 | 5 if !open.is_empty() => {
                let (call, part, id) = open.remove(roll(open.len() as u64) as usize);
                let position = room.result(&id, &words);
                let status = if call + 1 == position {
                    CallStatus::Paired
                } else {
                    CallStatus::Late
                };
                room.pair(Some((call, part)), Some((position, 0)), status);
                position
            }
            6 => room.post(Some(sender), vec![text(&words), text("more")]),
            _ => room.say(sender, &words),
        };
        if position > 0 && roll(4) == 0 {
            let target = roll(u64::from(position)) as u32;
            if room.message(target).kind == MessageKind::Message
                && room.message(position).kind == MessageKind::Message
            {
                room.refer(
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
            at(&mut room, position, hour * HOUR);
        }
    }
    room
}

/// Renderings of busy rooms, as every agent and in every dialect with a history.
fn each(
    session_gap: Option<i64>,
    per_turn: bool,
    history: History,
    mut look: impl FnMut(&str, &Room, WindowRange, Out),
) {
    for seed in 0..60 {
        let room = busy(seed);
        let borders = CutPoints::of(&room.linked);
        for perspective in [2, 3] {
            let cuts = cuts(session_gap, per_turn);
            for stretch in stretches(&room.linked, &borders, Some(perspective), cuts).ranges {
                for dialect in DIALECTS.iter().filter(|dialect| !dialect.is_single_turn()) {
                    let policy = Policy::default();
                    let outs =
                        room.render_stretch(dialect.id(), &policy, history, Some(perspective), Some(stretch));
                    assert_eq!(outs.len(), 1, "{}", dialect.id());
                    for out in outs {
                        look(dialect.id(), &room, stretch, out);
                    }
                }
            }
        }
    }
}

/// How often results and calls are repaired in a whole conversation, at most: what is broken in the source.
fn broken(room: &Room) -> usize {
    let answered = room.linked.pairings.len();
    let messages = room.linked.conversation.messages.iter();
    let parts = messages.flat_map(|message| &message.parts);
    let calls = parts.filter(|part| matches!(part, chatmill_model::Part::ToolCall(_)));
    calls.count() - answered
}

#[test]
fn sessions_hold_every_message_once_and_part_nothing() {
    let mut held = std::collections::BTreeMap::new();
    each(Some(HOUR), false, History::All, |dialect, room, stretch, out| {
        assert_eq!(out.coverage, "window");
        assert_eq!(out.lost(LossCode::OrphanResultInlined), [], "{dialect}");
        assert!(
            out.lost(LossCode::MissingResultSynthesised).len() <= broken(room),
            "{dialect}"
        );
        let (first, last) = out.positions;
        // Where a dialect shows nothing of the stretch, system text before it is all there is.
        if last >= Some(stretch.start) {
            assert!(first >= Some(stretch.start), "{dialect} {stretch:?} {first:?}");
        }
        assert!(
            last.is_none_or(|last| last < stretch.end),
            "{dialect} {stretch:?} {last:?}"
        );
        if dialect == "group-chat" {
            let all = room.linked.conversation.messages.len() as u64;
            let outside: u64 = out
                .lost(LossCode::Truncated)
                .iter()
                .map(|(_, amount)| amount)
                .sum();
            let ahead = room
                .linked
                .conversation
                .messages
                .iter()
                .take(stretch.start as usize);
            let ahead =
                ahead.filter(|message| message.kind == MessageKind::Message && message.role == Role::System);
            assert_eq!(
                outside + u64::from(stretch.end - stretch.start) + ahead.count() as u64,
                all
            );
            *held.entry(format!("{room:p}")).or_insert(0) += 1;
        }
    });
    assert!(!held.is_empty());
}

#[test]
fn a_rendering_per_turn_ends_with_the_assistant_in_every_dialect_that_has_one() {
    let mut seen = 0;
    each(None, true, History::Document, |dialect, room, stretch, out| {
        assert_eq!(out.lost(LossCode::OrphanResultInlined), [], "{dialect}");
        let found = chatmill_dialect::find(dialect).unwrap();
        if found.is_neutral() {
            return;
        }
        seen += 1;
        assert_eq!(
            out.last_role,
            Some("assistant"),
            "{dialect} {stretch:?}: {}",
            out.text
        );
        let answer = &room.linked.conversation.messages[stretch.end as usize - 1];
        let said = answer.texts().next().unwrap();
        assert!(out.own.contains(said), "{dialect}: {said} in {}", out.own);
    });
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn a_later_start_shows_the_end_of_the_same_rendering() {
    for seed in 0..60 {
        let room = busy(seed);
        let borders = CutPoints::of(&room.linked);
        let length = room.linked.conversation.messages.len() as u32;
        for start in turn_starts(&room.linked, &borders, Some(2)) {
            let stretch = WindowRange {
                session_start: 0,
                session_end: length,
                start,
                end: length,
                learned: 0,
            };
            let policy = Policy::default();
            let out = room
                .render_stretch("suna-llm", &policy, History::All, Some(2), Some(stretch))
                .remove(0);
            assert_eq!(out.lost(LossCode::OrphanResultInlined), []);
            let front = &room.linked.conversation.messages[..start as usize];
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
