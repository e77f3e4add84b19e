//! Rows that are invalid because they are too large for a case.

use chatmill_model::{CallStatus, Part};

use crate::room::Room;

#[test]
fn too_many_messages_are_a_violation() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    for _ in 0..50_000 {
        room.say(ann, "a");
        room.say(bot, "b");
    }
    assert_eq!(room.only("anthropic-messages").violations, Vec::<String>::new());
    room.say(ann, "c");
    let out = room.only("anthropic-messages");
    assert_eq!(out.violations, ["ANT-13: there are more than 100,000 messages"]);
}

#[test]
fn an_output_beyond_the_limit_is_a_violation() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "x");
    room.call(bot, "", &[("1", "f", "{}")]);
    // Two bytes a letter: the limit is one of letters.
    room.result("1", &"é".repeat(10_485_760));
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    assert_eq!(room.only("openai-responses").violations, Vec::<String>::new());
    if let Part::ToolResult(result) = &mut room.message(2).parts[0] {
        result.content.push('é');
    }
    let out = room.only("openai-responses");
    assert_eq!(
        out.violations,
        ["OAR-03: an output is longer than 10,485,760 characters"]
    );
}
