//! Limits on cutting an input: records, documents, nesting.

use chatmill_engine::Plan;
use chatmill_workshop::{TestDir, rows};

use super::{chat, lines, message, mill, plain};

#[test]
fn record_bounds_a_line() {
    let long = chat("long", &[message(1, ""), message(2, "")]);
    let file = lines(&[plain("a"), long.clone(), plain("b")]);
    let at = mill(&[("x.jsonl", &file)], &format!("record = {}", long.len()));
    assert_eq!((at.found("record-too-long"), at.rejected()), (0, 0));
    assert_eq!(at.ids(), ["a", "long", "b"]);
    let beyond = mill(&[("x.jsonl", &file)], &format!("record = {}", long.len() - 1));
    assert_eq!((beyond.found("record-too-long"), beyond.rejected()), (1, 1));
    assert_eq!(beyond.ids(), ["a", "b"]);
    let place = |column| rows::numbers(&beyond.shop.path("out"), "rejects", column)[0].unwrap() as usize;
    assert_eq!(&file[place("byte_start")..place("byte_end")], long.as_bytes());
}

#[test]
fn record_bounds_an_element_of_an_array() {
    let long = chat("long", &[message(1, ""), message(2, "")]);
    let file = format!("[{},\n{long},\n{}]", plain("a"), plain("b"));
    let at = mill(
        &[("x.json", file.as_bytes())],
        &format!("record = {}", long.len()),
    );
    assert_eq!((at.found("record-too-long"), at.rejected()), (0, 0));
    let beyond = mill(
        &[("x.json", file.as_bytes())],
        &format!("record = {}", long.len() - 1),
    );
    assert_eq!((beyond.found("record-too-long"), beyond.rejected()), (1, 1));
    assert_eq!(beyond.ids(), ["a", "b"]);
}

#[test]
fn document_bounds_a_file_that_is_one_document() {
    let value: serde_json::Value =
        serde_json::from_str(&chat("long", &[message(1, ""), message(2, "")])).unwrap();
    let long = serde_json::to_string_pretty(&value).unwrap();
    let files = [
        ("a.json", plain("a")),
        ("long.json", long.clone()),
        ("z.json", plain("z")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    let at = mill(&files, &format!("document = {}", long.len()));
    assert_eq!((at.found("document-too-large"), at.rejected()), (0, 0));
    let beyond = mill(&files, &format!("document = {}", long.len() - 1));
    assert_eq!((beyond.found("document-too-large"), beyond.rejected()), (1, 1));
    assert_eq!(beyond.ids(), ["a", "z"]);
}

#[test]
fn document_bounds_a_transcript() {
    let text = "<|im_start|>user\nIs the lamp \"lit\"?<|im_end|>\n";
    let files = [("a.json", plain("a")), ("lamp.txt", text.to_owned())];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    let at = mill(&files, &format!("document = {}", text.len()));
    assert_eq!((at.found("document-too-large"), at.rejected()), (0, 0));
    let beyond = mill(&files, &format!("document = {}", text.len() - 1));
    assert_eq!(beyond.found("document-too-large"), 1);
}

#[test]
fn depth_bounds_nesting() {
    // The record, the list, the message and `extra` are four levels.
    let nested = |levels: usize| {
        let extra = format!(
            r#","extra":{{"x":{}1{}}}"#,
            "[".repeat(levels - 4),
            "]".repeat(levels - 4)
        );
        lines(&[plain("a"), chat("deep", &[message(1, &extra)]), plain("b")])
    };
    for limit in [7, 128] {
        let at = mill(&[("x.jsonl", &nested(limit))], &format!("depth = {limit}"));
        assert_eq!((at.found("depth-exceeded"), at.rejected()), (0, 0), "{limit}");
        let beyond = mill(&[("x.jsonl", &nested(limit + 1))], &format!("depth = {limit}"));
        assert_eq!(
            (beyond.found("depth-exceeded"), beyond.rejected()),
            (1, 1),
            "{limit}"
        );
        assert_eq!(beyond.ids(), ["a", "b"]);
    }
}

#[test]
fn depth_itself_is_bounded_and_its_largest_value_is_safe() {
    let levels = chatmill_diag::limits::DEPTH_CEILING as usize;
    let references = (levels - 6) / 2;
    let more = format!(
        r#","extra":{{"x":{}1{}}},"refer_list":{}{}"#,
        "[".repeat(levels - 4),
        "]".repeat(levels - 4),
        r#"[{"content":"x","refer_list":"#.repeat(references) + "[]",
        "}]".repeat(references),
    );
    let file = lines(&[chat("deep", &[message(1, &more)]), plain("b")]);
    let at = mill(
        &[("x.jsonl", &file)],
        &format!("depth = {levels}\npreview_depth = 1000000"),
    );
    assert_eq!(
        (
            at.found("depth-exceeded"),
            at.found("preview-too-deep"),
            at.rejected()
        ),
        (0, 0, 0)
    );
    let shop = TestDir::new();
    shop.write("in/x.jsonl", &file);
    let pipeline = "name = \"t\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n";
    let path = shop.write("pipeline.toml", pipeline);
    let Err(refused) = Plan::load(&path, &[format!("limits.depth={}", levels + 1)], None, &[]) else {
        panic!("a depth beyond the ceiling is refused");
    };
    assert!(refused.to_string().contains("limits.depth"), "{refused}");
}
