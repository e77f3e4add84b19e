//! Every count in a dataset is equal to the count of tiktoken-rs for the text in the same row.

use chatmill_testkit::chats::group_chat;
use chatmill_workshop::TestDir;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// The number of tokens by the reference. The control tokens of `ChatML`, which no chat text can contain, are one token
/// each and split the text.
fn judged(judge: &tiktoken_rs::CoreBPE, text: &str) -> u64 {
    const CONTROLS: [&str; 2] = ["<|im_start|>", "<|im_end|>"];
    if !text.starts_with(CONTROLS[0]) {
        return judge.encode_ordinary(text).len() as u64;
    }
    let controls: usize = CONTROLS.iter().map(|control| text.matches(control).count()).sum();
    let stretches = text.split(CONTROLS[0]).flat_map(|turn| turn.split(CONTROLS[1]));
    let ordinary: usize = stretches
        .map(|stretch| judge.encode_ordinary(stretch).len())
        .sum();
    (controls + ordinary) as u64
}

#[test]
fn the_counts_of_a_dataset_are_those_of_its_texts() {
    let test_dir = TestDir::new();
    let mut runner = TestRunner::deterministic();
    for number in 0..40 {
        let mut chat = group_chat().new_tree(&mut runner).unwrap().current();
        chat["conversation_meta"]["conversation_id"] = format!("room-{number}").into();
        test_dir.write(&format!("in/{number:02}.json"), chat.to_string());
    }
    let summary = test_dir
        .run(
            "out",
            "[count]\nencodings = [\"o200k_base\", \"cl100k_base\"]\n",
            2,
        )
        .unwrap();
    assert_eq!(summary.totals.conversations, 40);
    let judges = [
        tiktoken_rs::o200k_base().unwrap(),
        tiktoken_rs::cl100k_base().unwrap(),
    ];
    let mut compared = 0;
    let encodings = ["o200k_base", "cl100k_base"];
    for (text, tokens) in chatmill_workshop::test_dir::renderings(&test_dir.path("out"), &encodings) {
        for (judge, tokens) in judges.iter().zip(tokens) {
            assert_eq!(judged(judge, &text), tokens, "{text}");
            compared += 1;
        }
    }
    assert!(compared > 400, "{compared}");
}
