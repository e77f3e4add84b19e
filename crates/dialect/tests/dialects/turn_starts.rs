//! The places of turns in a rendering.

use chatmill_dialect::{Policy, View, auto_perspective, known};

use crate::chat::TestChat;

#[test]
fn a_text_is_inside_the_turn_of_its_message_or_of_the_first_message_of_the_turn() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    let texts = ["first words", "second words", "third words", "fourth words"];
    for (text, sender) in texts.into_iter().zip([ann, bot, ann, bot]) {
        chat.write(sender, text);
    }
    let policy = Policy::default();
    let view = View::whole(&chat.linked, auto_perspective(&chat.linked), &policy);
    let mut knowing = Vec::new();
    for dialect in known().filter(|dialect| !dialect.is_single_turn()) {
        dialect.render_each(&view, &mut |sink, _| {
            let starts = sink.turn_starts();
            let positions: Vec<u32> = starts.iter().filter_map(|(_, position)| *position).collect();
            if positions != [0, 1, 2, 3] {
                return;
            }
            knowing.push(dialect.id());
            for (number, (start, position)) in starts.iter().enumerate() {
                let Some(position) = position else { continue };
                let end = starts.get(number + 1).map_or(sink.text().len(), |(end, _)| *end);
                let turn = sink.text().get(*start..end).unwrap();
                let (text, id) = (texts[*position as usize], dialect.id());
                assert!(turn.contains(text), "{id}: {position}: {turn}");
            }
        });
    }
    for id in [
        "group-chat",
        "openai-chat",
        "anthropic-messages",
        "gemini-contents",
        "bedrock-converse",
        "mistral-chat",
        "hf-messages",
        "sharegpt",
        "chatml",
        "openai-responses",
        "markdown",
    ] {
        assert!(knowing.contains(&id), "{id} of {knowing:?}");
    }
}
