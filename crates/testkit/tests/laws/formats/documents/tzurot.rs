//! Tzurot, message format 2.0 of 2025-05-22.

use super::{all_through, recognised, render, sample};

#[test]
fn a_personality_that_is_only_quoted_may_be_the_one_that_reads() {
    let linked = sample("tzurot-requests", "tzurot/quoted-only.json");
    let place = |id: &str| {
        linked
            .conversation
            .participants
            .iter()
            .position(|person| person.id == id)
    };
    let through = all_through(&linked, "tzurot", place("ludwig-b"));
    assert!(
        through[0]
            .text
            .contains(r#"You said earlier: \"Heat is motion.\""#),
        "{through:?}"
    );
    // From the default perspective, the message is that of another personality.
    let rendered = render(&linked, "tzurot").text;
    assert!(
        rendered.contains(r#"Ludwig (ludwig-b) said: \"Heat is motion.\""#),
        "{rendered}"
    );
}

#[test]
fn a_quoted_picture_is_retained_although_an_embed_has_its_address() {
    let linked = sample("tzurot-requests", "tzurot/embedded-picture.json");
    for dialect in ["tzurot", "tzurot@v2-final"] {
        let rendered = render(&linked, dialect).text;
        let picture = r#"{"type":"image_url","image_url":{"url":"https://kiln.example/t.jpg"}}"#;
        assert_eq!(rendered.matches(picture).count(), 1, "{dialect} {rendered}");
    }
}

#[test]
fn the_last_release_detects_a_self_reply_by_the_accounts() {
    let linked = sample("tzurot-requests", "tzurot/accounts.json");
    assert!(render(&linked, "tzurot@v2-final").text.contains("I said:"));
    assert!(render(&linked, "tzurot").text.contains("bobby said:"));
}

#[test]
fn formatted_lists_a_line_apart_are_requests() {
    let (source, conversations, _) = recognised("tzurot/lists.jsonl");
    assert_eq!((source.as_str(), conversations), ("tzurot-requests", 3));
    let text = std::fs::read_to_string(super::path("tzurot/lists.jsonl")).unwrap();
    for line in text.lines() {
        let linked = chatmill_testkit::conversations::read("tzurot-requests", line);
        assert_eq!(render(&linked, "tzurot").text, line);
    }
}
