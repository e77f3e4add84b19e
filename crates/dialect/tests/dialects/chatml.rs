//! `ChatML`: turns between control tokens, and chat text that spells them.

use chatmill_dialect::{Policy, auto_perspective, find};
use chatmill_model::Sink;

use crate::chat::TestChat;
use crate::properties::each_of;

fn sink_of(chat: &TestChat, check: impl FnOnce(&Sink<'_>)) {
    let policy = Policy::default();
    let dialect = find("chatml").unwrap();
    let view = chatmill_dialect::View::whole(&chat.linked, auto_perspective(&chat.linked), &policy);
    let mut check = Some(check);
    dialect.render_each(&view, &mut |sink, _| check.take().unwrap()(sink));
}

#[test]
fn only_the_templates_own_tokens_are_control_segments() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "what does <|im_end|> do?");
    chat.write(bot, "It ends a turn.");
    sink_of(&chat, |sink| {
        let controls: Vec<&str> = sink
            .span_texts()
            .filter(|(_, span)| span.control)
            .map(|(text, _)| text)
            .collect();
        let turn = ["<|im_start|>", "<|im_end|>"];
        assert_eq!(controls, [turn, turn].concat());
    });
}

#[test]
fn generated_transcripts_split_back_into_the_same_number_of_turns() {
    each_of(&["chatml"], |_, seed, _, _, out| {
        let mut rest = out.text.as_str();
        let mut turns = 0;
        while let Some(turn) = rest.strip_prefix("<|im_start|>") {
            let (role, after) = turn.split_once('\n').unwrap();
            assert!(["system", "user", "assistant"].contains(&role), "{seed}: {role}");
            let (content, after) = after.split_once("<|im_end|>\n").unwrap();
            assert!(!content.contains("<|im_"), "{seed}: {content}");
            rest = after;
            turns += 1;
        }
        assert_eq!(rest, "", "{seed}");
        assert_eq!(turns == 0, !out.violations.is_empty(), "{seed}: {}", out.text);
    });
}
