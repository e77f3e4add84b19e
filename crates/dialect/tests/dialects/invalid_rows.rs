//! Rows that are invalid because they are too large for a case.

use chatmill_model::{CallStatus, Part};

use crate::chat::TestChat;

#[test]
fn too_many_messages_are_a_violation() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    for _ in 0..50_000 {
        chat.write(ann, "a");
        chat.write(bot, "b");
    }
    assert_eq!(chat.only("anthropic-messages").violations, Vec::<String>::new());
    chat.write(ann, "c");
    let out = chat.only("anthropic-messages");
    assert_eq!(out.violations, ["ANT-13: there are more than 100,000 messages"]);
}

#[test]
fn an_output_beyond_the_limit_is_a_violation() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "x");
    chat.call(bot, "", &[("1", "f", "{}")]);
    // A letter of two bytes: the limit counts characters.
    chat.result("1", &"é".repeat(10_485_760));
    chat.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    assert_eq!(chat.only("openai-responses").violations, Vec::<String>::new());
    if let Part::ToolResult(result) = &mut chat.message(2).parts[0] {
        result.content.push('é');
    }
    let out = chat.only("openai-responses");
    assert_eq!(
        out.violations,
        ["OAR-03: an output is longer than 10,485,760 characters"]
    );
}
