//! Every limit on both sides, through the whole mill with the key in the pipeline file: at the limit there is no finding;
//! one beyond it there is, and the neighbours are untouched.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_sign_loss,
    clippy::string_slice,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

use std::fmt::Write as _;
use std::io::{Cursor, Write};
use std::sync::atomic::AtomicBool;

use chatmill_diag::Limits;
use chatmill_engine::check::{CheckOptions, Checked, check};
use chatmill_engine::plan::Target;
use chatmill_engine::{Plan, PlanError, RunError, Silent, Summary};
use chatmill_testkit::{Workshop, rows};

/// A run over a few files with a `[limits]` section.
struct Milled {
    shop: Workshop,
    summary: Summary,
}

fn mill(files: &[(&str, &[u8])], limits: &str) -> Milled {
    let shop = Workshop::new();
    for (name, bytes) in files {
        shop.write(&format!("in/{name}"), bytes);
    }
    let more = format!(
        "[render]\ndialects = [\"group-chat\", \"openai-chat\"]\n[count]\nencodings = []\n[limits]\n{limits}\n"
    );
    let summary = shop.run("out", &more, 2).unwrap();
    let certificate = chatmill_dataset::certify(&shop.path("out")).unwrap();
    assert!(certificate.holds(), "{:?}", certificate.faults);
    Milled { shop, summary }
}

impl Milled {
    /// How often a code was found.
    fn found(&self, name: &str) -> u64 {
        let counts = self.summary.totals.findings.values();
        counts
            .filter(|count| count.name == name)
            .map(chatmill_engine::receipt::FindingCount::total)
            .sum()
    }

    fn rejected(&self) -> u64 {
        self.summary.totals.rejected
    }

    fn texts(&self, table: &str, column: &str) -> Vec<String> {
        rows::texts(&self.shop.path("out"), table, column)
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }

    fn ids(&self) -> Vec<String> {
        self.texts("conversations", "conversation_id")
    }
}

/// A message with more fields at its end.
fn message(number: usize, more: &str) -> String {
    format!(
        r#"{{"message_id":"m{number}","create_time":"2026-01-01T00:00:00Z","sender":"u1","role":"user","type":"text","content":"hi"{more}}}"#
    )
}

fn chat(id: &str, messages: &[String]) -> String {
    format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","scene":"group_chat","scene_desc":{{}},"user_details":{{"u1":{{"full_name":"Ann","role":"user"}}}}}},"conversation_list":[{}]}}"#,
        messages.join(",")
    )
}

fn plain(id: &str) -> String {
    chat(id, &[message(1, "")])
}

fn lines(records: &[String]) -> Vec<u8> {
    (records.join("\n") + "\n").into_bytes()
}

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
    let shop = Workshop::new();
    shop.write("in/x.jsonl", &file);
    let pipeline = "name = \"t\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n";
    let path = shop.write("pipeline.toml", pipeline);
    let Err(refused) = Plan::load(&path, &[format!("limits.depth={}", levels + 1)], None) else {
        panic!("a depth beyond the ceiling is refused");
    };
    assert!(refused.to_string().contains("limits.depth"), "{refused}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Runs a gzip of 40 records at and beyond a limit, and expects the records before the end to stay.
fn decompression(at: &str, beyond: &str, unpacked: &[u8], packed: &[u8]) {
    let files: [(&str, &[u8]); 2] = [("x.jsonl.gz", packed), ("z.json", &plain("z").into_bytes())];
    let allowed = mill(&files, at);
    assert_eq!(
        (allowed.found("decompression-limit"), allowed.rejected()),
        (0, 0),
        "{at}"
    );
    assert_eq!(allowed.ids().len(), 41);
    let cut = mill(&files, beyond);
    assert_eq!(
        (cut.found("decompression-limit"), cut.rejected()),
        (1, 1),
        "{beyond}"
    );
    let ids = cut.ids();
    assert!(
        ids.len() > 1 && ids.len() < 41 && ids.contains(&"z".to_owned()),
        "{ids:?}"
    );
    let end = rows::numbers(&cut.shop.path("out"), "rejects", "byte_end")[0].unwrap() as usize;
    assert!(end < unpacked.len(), "{end} of {}", unpacked.len());
}

#[test]
fn three_limits_bound_what_an_input_unpacks_to() {
    let unpacked = lines(
        &(0..40)
            .map(|number| plain(&format!("c{number}")))
            .collect::<Vec<_>>(),
    );
    let packed = gzip(&unpacked);
    let (long, short) = (unpacked.len(), packed.len());
    assert!(long > 4 * short, "the sample must be worth packing");
    // The floor decides while the ratio allows less.
    let floor = |bytes| format!("decompressed_floor = {bytes}\ndecompressed_ratio = 1");
    decompression(&floor(long), &floor(long - 1), &unpacked, &packed);
    // The ratio decides above the floor.
    let ratio = |times| format!("decompressed_floor = 1\ndecompressed_ratio = {times}");
    decompression(
        &ratio(long.div_ceil(short)),
        &ratio((long - 1) / short),
        &unpacked,
        &packed,
    );
    // The ceiling decides over both.
    let ceiling = |bytes| format!("decompressed_ceiling = {bytes}");
    decompression(&ceiling(long), &ceiling(long - 1), &unpacked, &packed);
}

#[test]
fn zstd_window_log_bounds_the_window_of_a_stream() {
    let text = lines(
        &(0..4_000)
            .map(|number| plain(&format!("c{number}")))
            .collect::<Vec<_>>(),
    );
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(20).unwrap();
    encoder.write_all(&text).unwrap();
    let packed = encoder.finish().unwrap();
    let files: [(&str, &[u8]); 2] = [("x.jsonl.zst", &packed), ("z.json", &plain("z").into_bytes())];
    let at = mill(&files, "zstd_window_log = 20");
    assert_eq!((at.found("decompression-limit"), at.rejected()), (0, 0));
    assert_eq!(at.ids().len(), 4_001);
    let beyond = mill(&files, "zstd_window_log = 19");
    assert_eq!((beyond.found("decompression-limit"), beyond.rejected()), (1, 1));
    assert_eq!(beyond.ids(), ["z"]);
}

#[test]
fn archive_entries_bounds_the_entries_of_zip_and_tar() {
    let names = ["a.json", "b.json", "c.json"];
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut tar = tar::Builder::new(Vec::new());
    for name in names {
        let text = plain(name);
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    let zip = zip.finish().unwrap().into_inner();
    let tar = tar.into_inner().unwrap();
    for (archive, bytes) in [("x.zip", zip), ("x.tar", tar)] {
        let files: [(&str, &[u8]); 2] = [(archive, &bytes), ("z.json", &plain("z").into_bytes())];
        let at = mill(&files, "archive_entries = 3");
        assert_eq!((at.found("entry-limit"), at.rejected()), (0, 0), "{archive}");
        let beyond = mill(&files, "archive_entries = 2");
        assert_eq!(
            (beyond.found("entry-limit"), beyond.rejected()),
            (1, 1),
            "{archive}"
        );
        assert_eq!(beyond.ids(), ["a.json", "b.json", "z"], "{archive}");
    }
}

#[test]
fn members_bounds_the_streams_of_a_bzip2_file() {
    // A stream without content, as `bzip2 -c /dev/null` writes it.
    let empty = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0";
    let neighbour = plain("z").into_bytes();
    let found = |streams: usize, members: usize| {
        let files: [(&str, &[u8]); 2] = [("x.bz2", &empty.repeat(streams)), ("z.json", &neighbour)];
        let milled = mill(&files, &format!("members = {members}"));
        assert_eq!(milled.ids(), ["z"]);
        (milled.found("decompression-limit"), milled.rejected())
    };
    assert_eq!(found(40, 40), (0, 0));
    assert_eq!(found(41, 40), (1, 1));
    assert_eq!(found(1, 0), (0, 0));
    assert_eq!(found(2, 0), (1, 1), "28 bytes do not pay for another one");
}

#[test]
fn spool_bounds_the_copy_of_a_database() {
    let database = std::fs::read(chatmill_testkit::workshop::samples().join("dumps/chat.db")).unwrap();
    let files: [(&str, &[u8]); 2] = [
        ("x.db.gz", &gzip(&database)),
        ("z.json", &plain("z").into_bytes()),
    ];
    let at = mill(&files, &format!("spool = {}", database.len()));
    assert_eq!(at.found("decompression-limit"), 0);
    let beyond = mill(&files, &format!("spool = {}", database.len() - 1));
    assert_eq!((beyond.found("decompression-limit"), beyond.rejected()), (1, 1));
    assert_eq!(beyond.ids(), ["z"]);
}

#[test]
fn references_per_message_bounds_the_references_of_a_message() {
    let referring = |count: usize| {
        let list: Vec<String> = (0..count).map(|_| "\"m1\"".to_owned()).collect();
        let more = format!(r#","refer_list":[{}]"#, list.join(","));
        lines(&[chat(
            "x",
            &[
                message(1, ""),
                message(2, &more),
                message(3, r#","refer_list":["m2"]"#),
            ],
        )])
    };
    let at = mill(&[("x.jsonl", &referring(5))], "references_per_message = 5");
    assert_eq!(at.found("too-many-references"), 0);
    assert_eq!(at.texts("message_references", "conversation_id").len(), 6);
    let beyond = mill(&[("x.jsonl", &referring(7))], "references_per_message = 5");
    assert_eq!((beyond.found("too-many-references"), beyond.rejected()), (2, 0));
    assert_eq!(
        beyond.texts("message_references", "conversation_id").len(),
        6,
        "the first five and the neighbour's"
    );
}

#[test]
fn preview_depth_bounds_previews_inside_previews() {
    let previews = |levels: usize| {
        let mut list = "[]".to_owned();
        for level in 0..levels {
            let mut outer = String::new();
            write!(
                outer,
                r#"[{{"message_id":"p{level}","sender":"u1","type":"text","content":"old","create_time":"2025-01-01T00:00:00Z","refer_list":{list}}}]"#
            )
            .unwrap();
            list = outer;
        }
        lines(&[chat(
            "x",
            &[
                message(1, &format!(r#","refer_list":{list}"#)),
                message(2, r#","refer_list":["m1"]"#),
            ],
        )])
    };
    // The outermost preview is none inside another.
    for limit in [0, 2, 16] {
        let at = mill(
            &[("x.jsonl", &previews(limit + 1))],
            &format!("preview_depth = {limit}"),
        );
        assert_eq!((at.found("preview-too-deep"), at.rejected()), (0, 0), "{limit}");
        let beyond = mill(
            &[("x.jsonl", &previews(limit + 2))],
            &format!("preview_depth = {limit}"),
        );
        assert_eq!(
            (beyond.found("preview-too-deep"), beyond.rejected()),
            (1, 0),
            "{limit}"
        );
        let outer = beyond.texts("message_references", "path");
        let outer = outer.iter().filter(|path| !path.contains('.'));
        assert_eq!(outer.count(), 2);
    }
}

#[test]
fn reference_depth_bounds_how_deep_references_are_resolved() {
    let deep = (0..6).fold("[]".to_owned(), |list, level| {
        format!(
            r#"[{{"message_id":"p{level}","sender":"u1","type":"text","content":"old","refer_list":{list}}}]"#
        )
    });
    let chat = lines(&[chat("x", &[message(1, &format!(r#","refer_list":{deep}"#))])]);
    for limit in [1, 2, 4] {
        let at = mill(&[("x.jsonl", &chat)], &format!("reference_depth = {limit}"));
        let paths = at.texts("message_references", "path");
        let levels = paths.iter().map(|path| path.split('.').count());
        assert_eq!(levels.max(), Some(limit), "{paths:?}");
    }
}

#[test]
fn messages_per_conversation_bounds_a_conversation() {
    let of = |count: usize| {
        chat(
            "many",
            &(0..count).map(|number| message(number, "")).collect::<Vec<_>>(),
        )
    };
    let file = |count| lines(&[plain("a"), of(count), plain("b")]);
    let at = mill(&[("x.jsonl", &file(9))], "messages_per_conversation = 9");
    assert_eq!((at.found("conversation-too-large"), at.rejected()), (0, 0));
    assert_eq!(at.ids(), ["a", "many", "b"]);
    let beyond = mill(&[("x.jsonl", &file(10))], "messages_per_conversation = 9");
    assert_eq!(
        (beyond.found("conversation-too-large"), beyond.rejected()),
        (1, 1)
    );
    assert_eq!(beyond.ids(), ["a", "b"]);
}

#[test]
fn windows_bounds_the_renderings_of_a_conversation() {
    // Each message stands a day after the one before it.
    let days: Vec<String> = (1..=5)
        .map(|day| message(day, "").replace("2026-01-01", &format!("2026-01-0{day}")))
        .collect();
    let file = lines(&[plain("a"), chat("long", &days), plain("b")]);
    let cut = |most: u64| {
        mill(
            &[("x.jsonl", &file)],
            &format!("windows = {most}\n[window]\nsession_gap = \"1h\""),
        )
    };
    let at = cut(5);
    assert_eq!(at.found("too-many-windows"), 0);
    assert_eq!(at.texts("renderings", "dialect").len(), 2 * 7);
    let beyond = cut(4);
    assert_eq!((beyond.found("too-many-windows"), beyond.rejected()), (2, 0));
    let out = beyond.shop.path("out");
    let last = rows::numbers(&out, "renderings", "last_position");
    let shown = |days: i64| (0..days).map(Some);
    let expected: Vec<_> = shown(1)
        .chain(shown(1))
        .chain(shown(4))
        .chain(shown(4))
        .chain(shown(1))
        .chain(shown(1))
        .collect();
    assert_eq!(last, expected, "the oldest windows stay");
    assert_eq!(beyond.texts("messages", "text").len(), 7);
}

#[test]
fn perspectives_bounds_the_participants_who_are_the_assistant_in_turn() {
    let people = |count: usize| {
        let details: Vec<String> = (0..count)
            .map(|person| format!(r#""u{person}":{{"full_name":"P{person}","role":"user"}}"#))
            .collect();
        let one = r#""u1":{"full_name":"Ann","role":"user"}"#;
        chat("many", &[message(1, "")]).replace(one, &details.join(","))
    };
    let file = |count| lines(&[plain("a"), people(count), plain("b")]);
    let cut = |count: usize| {
        mill(
            &[("x.jsonl", &file(count))],
            "perspectives = 3\n[perspective]\nas = \"each-participant\"",
        )
    };
    let seen = |milled: &Milled| {
        let out = milled.shop.path("out");
        let dialects = rows::texts(&out, "renderings", "dialect");
        let perspectives = rows::texts(&out, "renderings", "perspective");
        let rows = dialects.into_iter().zip(perspectives);
        let own = rows.filter(|(dialect, _)| dialect.as_deref() == Some("openai-chat"));
        own.map(|(_, perspective)| perspective.unwrap())
            .collect::<Vec<_>>()
    };
    let at = cut(3);
    assert_eq!(at.found("too-many-perspectives"), 0);
    assert_eq!(seen(&at), ["u1", "u0", "u1", "u2", "u1"]);
    let beyond = cut(5);
    assert_eq!((beyond.found("too-many-perspectives"), beyond.rejected()), (2, 0));
    assert_eq!(
        seen(&beyond),
        ["u1", "u0", "u1", "u2", "u1"],
        "the first of the roster"
    );
    assert_eq!(beyond.ids(), ["a", "many", "b"]);
}

#[test]
fn rendering_bounds_what_a_dialect_takes_when_check_asks_it() {
    let workshop = Workshop::new();
    let path = workshop.write("in/x.jsonl", lines(&[plain("a")]));
    let plan = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n";
    workshop.run("out", plan, 1).unwrap();
    let size = rows::numbers(&workshop.path("out"), "renderings", "bytes")[0].unwrap();
    let found = |rendering: i64| {
        let options = CheckOptions {
            paths: vec![path.to_string_lossy().into_owned()],
            source: "auto".to_owned(),
            limits: Limits {
                rendering: u64::try_from(rendering).unwrap(),
                ..Limits::default()
            },
            threads: 1,
            targets: vec![Target::find("openai-chat").unwrap()],
            ..CheckOptions::default()
        };
        let mut names = Vec::new();
        let emit = &mut |checked: Checked| names.push(checked.located.finding.code.name);
        let files = check(&options, &Silent, &AtomicBool::new(false), emit)
            .unwrap()
            .files;
        (names, files[0].judgements[0].refused)
    };
    assert_eq!(found(size), (vec![], 0));
    assert_eq!(found(size - 1), (vec!["oversize-rendering"], 1));
}

#[test]
fn rendering_bounds_a_rendering_and_keeps_its_row() {
    let file = lines(&[
        plain("a"),
        chat(
            "long",
            &(0..9).map(|number| message(number, "")).collect::<Vec<_>>(),
        ),
        plain("b"),
    ]);
    let whole = mill(&[("x.jsonl", &file)], "");
    let sizes = rows::numbers(&whole.shop.path("out"), "renderings", "bytes");
    let largest = sizes.iter().flatten().max().unwrap();
    let at = mill(&[("x.jsonl", &file)], &format!("rendering = {largest}"));
    assert_eq!(at.found("oversize-rendering"), 0);
    let beyond = mill(&[("x.jsonl", &file)], &format!("rendering = {}", largest - 1));
    assert_eq!((beyond.found("oversize-rendering"), beyond.rejected()), (1, 0));
    let out = beyond.shop.path("out");
    let contents = rows::texts(&out, "renderings", "content");
    let valid = rows::flags(&out, "renderings", "valid");
    assert_eq!(contents.len(), 6, "the row stays");
    let over = contents.iter().position(Option::is_none).unwrap();
    assert_eq!(sizes[over], Some(*largest));
    assert_eq!(valid[over], Some(false));
    let place = |column: &str| rows::texts(&out, "findings", column);
    let at = place("name")
        .iter()
        .position(|name| name.as_deref() == Some("oversize-rendering"))
        .unwrap();
    assert_eq!(
        place("conversation_id")[at],
        rows::texts(&out, "renderings", "conversation_id")[over]
    );
    assert_eq!(rows::numbers(&out, "findings", "line_number")[at], Some(2));
    let others = rows::texts(&whole.shop.path("out"), "renderings", "content");
    for row in (0..6).filter(|row| *row != over) {
        assert_eq!(
            (&contents[row], valid[row]),
            (&others[row], Some(true)),
            "row {row}"
        );
    }
}

#[test]
fn findings_per_code_folds_the_rest_into_one_row() {
    let dangling = |count: usize| {
        let messages: Vec<String> = (0..count)
            .map(|number| message(number, r#","refer_list":["gone"]"#))
            .collect();
        lines(&[chat("x", &messages)])
    };
    let rows_of = |milled: &Milled| {
        let out = milled.shop.path("out");
        let names = rows::texts(&out, "findings", "name");
        let counts = rows::numbers(&out, "findings", "count");
        let own = names
            .iter()
            .zip(counts)
            .filter(|(name, _)| name.as_deref() == Some("dangling-reference"));
        own.map(|(_, count)| count.unwrap()).collect::<Vec<_>>()
    };
    let at = mill(&[("x.jsonl", &dangling(3))], "findings_per_code = 3");
    assert_eq!((rows_of(&at), at.found("dangling-reference")), (vec![1, 1, 1], 3));
    let beyond = mill(&[("x.jsonl", &dangling(5))], "findings_per_code = 3");
    let mut counts = rows_of(&beyond);
    counts.sort_unstable();
    assert_eq!(
        (counts, beyond.found("dangling-reference")),
        (vec![1, 1, 1, 2], 5)
    );
}

#[test]
fn reject_head_bounds_what_the_rejects_table_keeps() {
    let broken = "{\"conversation_list\": [1, 2, 3";
    let file = lines(&[plain("a"), broken.to_owned()]);
    for (limit, kept) in [
        (broken.len(), broken),
        (broken.len() - 1, &broken[..broken.len() - 1]),
        (0, ""),
    ] {
        let milled = mill(&[("x.jsonl", &file)], &format!("reject_head = {limit}"));
        let heads = rows::bytes(&milled.shop.path("out"), "rejects", "head");
        assert_eq!(heads, [Some(kept.as_bytes().to_vec())], "{limit}");
    }
}

#[test]
fn response_depth_bounds_a_chain_of_agents() {
    let answer = |depth: usize| {
        format!(
            r#"{{"from":"u1","fromUsername":"A{depth}","projectId":"p","text":"on, @A{}","messageId":"r{depth}","type":"response","isAgentMessage":true,"responseDepth":{depth},"respondingChain":["a{depth}"]}}"#,
            depth + 1
        )
    };
    let question = r#"{"from":"u1","fromUsername":"ines","projectId":"p","text":"@A1 begin","messageId":"m1","type":"message"}"#;
    let file = lines(&[question.to_owned(), answer(1), answer(2)]);
    let at = mill(&[("x.jsonl", &file)], "response_depth = 2");
    assert_eq!((at.found("loop-depth-exceeded"), at.rejected()), (0, 0));
    let beyond = mill(&[("x.jsonl", &file)], "response_depth = 1");
    assert_eq!((beyond.found("loop-depth-exceeded"), beyond.rejected()), (1, 0));
}

#[test]
fn partition_bounds_what_is_gathered_at_a_time() {
    let row = |thread: usize, number: usize| {
        format!(
            r#"{{"message_id":"m{number}","thread_id":"t{thread}","type":"user","is_llm_message":true,"content":{{"role":"user","content":"{}"}},"created_at":"2026-01-01T00:00:{number:02}Z"}}"#,
            "word ".repeat(40)
        )
    };
    let file = lines(&(0..60).map(|number| row(number % 20, number)).collect::<Vec<_>>());
    let parts = |milled: &Milled| milled.summary.manifest.tables[0].files.len();
    let one = mill(&[("x.jsonl", &file)], "partition = 1_000_000");
    let many = mill(&[("x.jsonl", &file)], "partition = 4_000");
    assert_eq!((parts(&one), one.ids().len(), many.ids().len()), (1, 20, 20));
    assert!(parts(&many) > 3, "{}", parts(&many));
}

#[test]
fn shared_rows_bound_what_is_read_with_every_conversation() {
    let present = r#"{"userId":"u2","username":"bob","isAgent":true,"agentName":"Coder"}"#.to_owned();
    let said = r#"{"from":"u1","fromUsername":"ines","projectId":"p","text":"hi","messageId":"m1","type":"message"}"#;
    let bytes = present.len();
    let file = lines(&[present, said.to_owned()]);
    let at = mill(&[("x.jsonl", &file)], &format!("shared_rows = {bytes}"));
    assert_eq!((at.found("empty-conversation"), at.rejected()), (0, 0));
    let beyond = mill(&[("x.jsonl", &file)], &format!("shared_rows = {}", bytes - 1));
    assert_eq!((beyond.found("empty-conversation"), beyond.rejected()), (1, 0));
    assert_eq!((at.ids().len(), beyond.ids().len()), (1, 1));
}

#[test]
fn vocabulary_bounds_the_file_of_an_encoding() {
    let ranks = include_bytes!("../../../data-samples/patterns/small.tiktoken");
    let load = |bytes: usize| {
        let shop = Workshop::new();
        shop.write("in/a.jsonl", plain("a"));
        shop.write("small.tiktoken", ranks);
        let text = format!(
            "name = \"test\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n[count]\n\
             encodings = [{{ name = \"small\", ranks = \"small.tiktoken\", pattern = \"gpt2\" }}]\n\
             [limits]\nvocabulary = {bytes}\n"
        );
        Plan::load(&shop.write("pipeline.toml", text), &[], None)
    };
    assert!(load(ranks.len()).is_ok());
    let refused = load(ranks.len() - 1).err().unwrap();
    assert!(refused.to_string().contains("small.tiktoken"), "{refused}");
    assert!(matches!(refused, PlanError::UnreadableVocabulary { .. }));
}

#[test]
fn max_reject_ratio_decides_between_complete_and_too_many() {
    let file = lines(&[plain("a"), plain("b"), "{broken".to_owned(), plain("c")]);
    for (ratio, is_within) in [("0.25", true), ("0.2499", false), ("0.0", false), ("1.0", true)] {
        let milled = mill(&[("x.jsonl", &file)], &format!("max_reject_ratio = {ratio}"));
        assert_eq!(
            (milled.summary.is_within_threshold(), milled.rejected()),
            (is_within, 1),
            "{ratio}"
        );
        assert_eq!(
            milled.ids(),
            ["a", "b", "c"],
            "the dataset is published either way"
        );
    }
}

#[test]
fn max_error_findings_decides_between_complete_and_too_many_errors() {
    // The sender of one message is in nobody's list, which is an error; the broken line is a reject and no error beside.
    let stranger = plain("b").replace("\"sender\":\"u1\"", "\"sender\":\"u9\"");
    assert_ne!(stranger, plain("b"));
    let file = lines(&[plain("a"), stranger, "{broken".to_owned()]);
    for (allowed, verdict) in [(0, "too-many-errors"), (1, "complete")] {
        let limits = format!("max_reject_ratio = 1.0\nmax_error_findings = {allowed}");
        let milled = mill(&[("x.jsonl", &file)], &limits);
        assert_eq!(milled.found("unknown-sender"), 1);
        assert_eq!(milled.summary.totals.error_findings(), 1);
        assert_eq!(milled.summary.manifest.verdict, verdict);
        assert_eq!(milled.ids(), ["a", "b"], "the dataset is published either way");
    }
}

#[test]
fn conversations_are_compared_up_to_the_limit_and_none_is_beyond_it() {
    let shop = Workshop::new();
    let line = |id: &str| {
        format!(
            r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","user_details":{{}}}},"conversation_list":[]}}"#
        ) + "\n"
    };
    shop.write("in/a.jsonl", ["a", "b", "c"].map(line).concat());
    let more = |limit: u64| {
        format!(
            "[render]\ndialects = [\"group-chat\"]\n[dedup]\nexact = \"mark\"\n[limits]\ncompared = {limit}\n"
        )
    };
    assert_eq!(shop.run("enough", &more(3), 1).unwrap().totals.conversations, 3);
    let error = shop.run("short", &more(2), 1).err().unwrap();
    assert!(
        matches!(error, RunError::TooManyToCompare { found: 3, limit: 2 }),
        "{error}"
    );
    assert!(!shop.path("short").exists());
}

#[test]
fn template_file_bounds_the_file_of_a_template() {
    let shop = Workshop::new();
    shop.write("in/a.json", chat("a", &[message(1, "")]));
    let template = "{{ messages[0]['content'] }}";
    shop.write("turns.jinja", template);
    let load = |limit: usize| {
        let more =
            format!("[templates.mine]\ntemplate = \"turns.jinja\"\n[limits]\ntemplate_file = {limit}\n");
        let pipeline = format!("name = \"t\"\n[[input]]\npath = \"in/*\"\n[output]\npath = \"out\"\n{more}");
        let path = shop.write("pipeline.toml", pipeline);
        Plan::load(&path, &[], None).map(|_| ())
    };
    assert!(load(template.len()).is_ok(), "{:?}", load(template.len()));
    let error = load(template.len() - 1).err().unwrap();
    assert!(error.to_string().contains("turns.jinja"), "{error}");
}

/// A run with one template and one limit: whether its rendering is valid, or why there is no run.
fn templated(template: &str, limit: &str) -> Result<bool, String> {
    let shop = Workshop::new();
    shop.write("in/a.json", chat("a", &[message(1, "")]));
    shop.write("turns.jinja", template);
    let more = format!(
        "[render]\ndialects = [\"mine\"]\n[templates.mine]\ntemplate = \"turns.jinja\"\n[limits]\n{limit}\n"
    );
    let pipeline = format!("name = \"t\"\n[[input]]\npath = \"in/*\"\n[output]\npath = \"out\"\n{more}");
    let path = shop.write("pipeline.toml", pipeline);
    let plan = Plan::load(&path, &[], None).map_err(|error| error.to_string())?;
    let options = chatmill_engine::RunOptions::default();
    let summary = chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false));
    let invalid = |totals: chatmill_engine::summary::RunTotals| {
        totals.tokens.iter().map(|total| total.invalid).sum::<u64>()
    };
    summary
        .map(|summary| invalid(summary.totals) == 0)
        .map_err(|error| error.to_string())
}

#[test]
fn template_bounds_a_template() {
    let text = "{{ messages[0]['content'] }}";
    let at = |limit: usize| templated(text, &format!("template = {limit}"));
    assert_eq!(at(text.len()), Ok(true));
    assert!(at(text.len() - 1).is_err());
}

#[test]
fn template_steps_and_memory_bound_a_rendering() {
    let loops = "{% for i in range(3000) %}{% endfor %}{{ messages[0]['content'] }}";
    assert_eq!(templated(loops, "template_steps = 100000"), Ok(true));
    assert_ne!(templated(loops, "template_steps = 1000"), Ok(true));
    let long = "{% set x = 'a' * 100000 %}{{ messages[0]['content'] }}";
    assert_eq!(templated(long, "template_memory = 1000000"), Ok(true));
    assert_ne!(templated(long, "template_memory = 50000"), Ok(true));
}

#[test]
fn every_limit_has_its_test_here() {
    let keys = serde_json::to_value(Limits::default()).unwrap();
    let own = include_str!("limits.rs");
    for key in keys.as_object().unwrap().keys() {
        assert!(own.contains(&format!("{key} = ")), "no test sets {key}");
    }
}
