//! Bad input costs only the bad part: never a panic, never a silent loss, never the records around it.

use chatmill_engine::RunSummary;
use chatmill_workshop::TestDir;

const BARE: &str = "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n";

fn conversation(id: &str, content: &str) -> String {
    format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","scene":"group_chat","scene_desc":{{}},"user_details":{{"u1":{{"full_name":"Ann","role":"user"}}}}}},"conversation_list":[{{"message_id":"m1","create_time":"2026-01-01T00:00:00Z","sender":"u1","role":"user","type":"text","content":"{content}","refer_list":[]}}]}}"#
    )
}

fn mill(files: &[(&str, Vec<u8>)], more: &str) -> RunSummary {
    let test_dir = TestDir::new();
    for (name, bytes) in files {
        test_dir.write(&format!("in/{name}"), bytes);
    }
    let summary = test_dir.run("out", &format!("{BARE}{more}"), 2).unwrap();
    let certificate = chatmill_dataset::certify(&test_dir.path("out")).unwrap();
    assert!(certificate.problems.is_empty(), "{:?}", certificate.problems);
    summary
}

/// Checks a file of `count` lines with one broken line.
fn one_broken_of(count: usize, position: usize) {
    let broken = [
        "{\"a\": [1, 2",
        "not json at all",
        "\"",
        "{\"conversation_list\": }",
        "\u{0}",
    ];
    let mut lines: Vec<String> = (0..count).map(|n| conversation(&format!("c{n}"), "hi")).collect();
    broken[position % broken.len()].clone_into(&mut lines[position]);
    let test_dir = TestDir::new();
    let path = test_dir.write("lines.jsonl", lines.join("\n"));
    let (findings, verdict) = TestDir::check(&path);
    let errors = findings
        .iter()
        .filter(|checked| checked.located.finding.code.name == "invalid-json");
    assert_eq!(errors.count(), 1, "broken line {position} of {count}");
    assert_eq!(
        (verdict.records, verdict.conversations),
        (count as u64, count as u64 - 1),
        "broken line {position} of {count}"
    );
}

/// In a short file the broken line is tried at each position; in a file that is read in pieces, at some positions.
#[test]
fn one_broken_line_at_each_position_costs_one_reject() {
    for position in 0..40 {
        one_broken_of(40, position);
    }
    let mut random = chatmill_drawn::random(2);
    for _ in 0..chatmill_drawn::cases(6) {
        one_broken_of(1_000, random.below(1_000));
    }
}

#[test]
fn a_broken_line_is_one_reject_row_and_the_rest_is_accepted() {
    let mut lines: Vec<String> = (0..50).map(|n| conversation(&format!("c{n}"), "hi")).collect();
    lines[17] = "{\"conversation_list\": [".to_owned();
    let summary = mill(&[("a.jsonl", lines.join("\n").into_bytes())], "");
    assert_eq!(
        (
            summary.totals.framed,
            summary.totals.accepted,
            summary.totals.rejected
        ),
        (50, 49, 1)
    );
    assert!(!summary.is_within_threshold());
    let allowed = mill(
        &[("a.jsonl", lines.join("\n").into_bytes())],
        "[limits]\nmax_reject_ratio = 0.02\n",
    );
    assert!(allowed.is_within_threshold());
}

#[test]
fn every_kind_of_corruption_is_a_finding_with_its_place() {
    let deep = format!(
        "{{\"version\": {}1{}}}",
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("deep.jsonl", deep.into_bytes(), "depth-exceeded"),
        (
            "utf8.jsonl",
            [
                conversation("x", "a").into_bytes(),
                b"\n{\"a\":\"\xff\"}\n".to_vec(),
            ]
            .concat(),
            "invalid-utf8",
        ),
        (
            "surrogate.json",
            conversation("x", "cut \\ud83d")
                .replace("\\\\", "\\")
                .into_bytes(),
            "lone-surrogate",
        ),
        ("empty.json", Vec::new(), "empty-input"),
        ("blank.json", b" \n\t\n".to_vec(), "empty-input"),
        (
            "prose.json",
            b"Dear diary, today I chatted.".to_vec(),
            "unknown-format",
        ),
    ];
    for (name, bytes, code) in cases {
        let summary = mill(
            &[(name, bytes), ("good.json", conversation("g", "hi").into_bytes())],
            "",
        );
        let names: Vec<&str> = summary
            .totals
            .findings
            .values()
            .map(|count| count.name.as_str())
            .collect();
        assert!(
            names.contains(&code) || code == "unknown-format" && names.contains(&"invalid-json"),
            "{name}: {names:?}"
        );
        assert!(
            summary.totals.conversations >= 1,
            "{name} must not cost its neighbour"
        );
    }
}

#[test]
fn a_truncated_gzip_keeps_the_records_before_the_cut() {
    use std::io::Write;
    let lines: Vec<String> = (0..200)
        .map(|n| conversation(&format!("c{n}"), &format!("{n} ").repeat(40)))
        .collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(lines.join("\n").as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let whole = mill(&[("a.jsonl.gz", packed.clone())], "");
    assert_eq!((whole.totals.accepted, whole.totals.rejected), (200, 0));
    let cut = mill(&[("a.jsonl.gz", packed[..packed.len() * 2 / 3].to_vec())], "");
    assert!(
        cut.totals.accepted > 50 && cut.totals.accepted < 200,
        "{}",
        cut.totals.accepted
    );
    assert_eq!(cut.totals.rejected, 1);
}

#[cfg(unix)]
#[test]
fn streams_and_unreadable_things_are_findings() {
    let test_dir = TestDir::new();
    test_dir.write("in/good.json", conversation("g", "hi"));
    let pipe = test_dir.path("in/pipe.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let summary = test_dir.run("out", BARE, 1).unwrap();
    assert_eq!(summary.totals.conversations, 1);
    assert_eq!(summary.totals.findings["IN013"].total(), 1);
}

#[test]
fn a_file_of_which_nothing_at_the_head_can_be_read_costs_its_records_and_no_run() {
    for text in ["[R]", "x\n[R]", "[R, {\"a\": 1}, 17]", "nothing here"] {
        let summary = mill(
            &[
                ("a.txt", text.as_bytes().to_vec()),
                ("good.json", conversation("g", "hi").into_bytes()),
            ],
            "",
        );
        assert_eq!(summary.totals.conversations, 1, "{text}");
        assert!(summary.totals.rejected >= 1, "{text}");
        assert_eq!(
            summary.totals.framed,
            summary.totals.accepted + summary.totals.rejected,
            "{text}"
        );
    }
}
