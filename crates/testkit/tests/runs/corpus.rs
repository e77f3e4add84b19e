//! The corpus over which runs are killed.

use chatmill_workshop::TestDir;
use chatmill_workshop::corpus::{crc32, write};

#[test]
fn crc32_of_the_check_string_is_that_of_the_standard() {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
}

#[test]
fn both_archives_are_read_whole_and_the_corpus_repeats_itself() {
    let (one, other) = (TestDir::new(), TestDir::new());
    write(&one, 1, 4);
    write(&other, 1, 4);
    let bare = "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n";
    let summary = one.run("out", bare, 2).unwrap();
    other.run("out", bare, 1).unwrap();
    assert_eq!(one.hashes("out"), other.hashes("out"));
    for input in summary.manifest.inputs.iter() {
        assert!(
            input.conversations > 3 && input.rejected < input.conversations / 3,
            "{input:?}"
        );
    }
    let names: Vec<&str> = summary
        .totals
        .findings
        .values()
        .map(|count| count.name.as_str())
        .collect();
    for name in [
        "duplicate-conversation-id",
        "duplicate-message-id",
        "dangling-reference",
        "invalid-json",
        "lone-surrogate",
    ] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    assert!(
        !names.contains(&"corrupt-stream") && !names.contains(&"truncated-stream"),
        "{names:?}"
    );
}
