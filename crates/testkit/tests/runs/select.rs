//! What `[select]` leaves out is counted under its key, in frames and in gathered rows, and nothing else changes.

use chatmill_engine::RunSummary;
use chatmill_testkit::samples::samples;
use chatmill_workshop::{Workshop, rows};

const BARE: &str =
    "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\n";

/// The samples of the demo, most of them frames of their own, some of them rows that are gathered.
fn demo() -> Workshop {
    let shop = Workshop::new();
    for entry in std::fs::read_dir(samples().join("demo")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        shop.write(&format!("in/{name}"), std::fs::read(&path).unwrap());
    }
    shop
}

/// Runs with these keys and proves that the books are right.
fn run(shop: &Workshop, out: &str, select: &str) -> RunSummary {
    let summary = shop.run(out, &format!("[select]\n{select}\n{BARE}"), 2).unwrap();
    let certificate = chatmill_dataset::certify(&shop.path(out)).unwrap();
    assert!(certificate.holds(), "{select}: {:?}", certificate.faults);
    assert!(summary.manifest.ledger_balanced, "{select}");
    for input in summary.manifest.inputs.iter() {
        assert_eq!(
            input.framed,
            input.accepted + input.rejected + input.filtered,
            "{select}: {}",
            input.path
        );
        assert_eq!(
            input.filtered_by.values().sum::<u64>(),
            input.filtered,
            "{select}: {}",
            input.path
        );
    }
    summary
}

fn ids(shop: &Workshop, out: &str) -> Vec<String> {
    let ids = rows::texts(&shop.path(out), "conversations", "conversation_id");
    ids.into_iter().flatten().collect()
}

#[test]
fn every_key_balances_the_books_of_frames_and_of_rows() {
    let shop = demo();
    let whole = run(&shop, "whole", "");
    assert_eq!((whole.totals.filtered, whole.totals.filtered_by.len()), (0, 0));
    let all = ids(&shop, "whole");
    let cases = [
        ("scene", "scene = \"assistant\""),
        ("participants", "participants = [\"user\"]"),
        ("min_turns", "min_turns = 6"),
        ("with_tool_calls", "with_tool_calls = true"),
        ("without_findings", "without_findings = [\"TL\", \"TM\", \"RF\"]"),
        ("sample", "sample = 0.5"),
        ("since", "since = \"2026-01-01\""),
    ];
    for (number, (key, select)) in cases.into_iter().enumerate() {
        let out = format!("out-{number}");
        let summary = run(&shop, &out, select);
        assert_eq!(summary.totals.filtered_by.keys().collect::<Vec<_>>(), [key]);
        assert_eq!(summary.totals.framed, whole.totals.framed, "{key}");
        let kept = ids(&shop, &out);
        assert!(
            !kept.is_empty() && kept.len() < all.len(),
            "{key} keeps {} of {}",
            kept.len(),
            all.len()
        );
        assert!(kept.iter().all(|id| all.contains(id)), "{key}");
    }
}

#[test]
fn what_is_kept_is_what_was_asked_for() {
    let shop = demo();
    run(&shop, "tools", "with_tool_calls = true\nmin_turns = 2");
    let calling: std::collections::BTreeSet<String> =
        rows::texts(&shop.path("tools"), "tool_calls", "conversation_id")
            .into_iter()
            .flatten()
            .collect();
    assert_eq!(calling.into_iter().collect::<Vec<_>>(), {
        let mut ids = ids(&shop, "tools");
        ids.sort();
        ids
    });
    run(&shop, "scene", "scene = \"group_chat\"");
    let scenes = rows::texts(&shop.path("scene"), "conversations", "scene");
    assert!(scenes.iter().flatten().all(|scene| scene == "group_chat"));
    run(
        &shop,
        "clean",
        "without_findings = [\"dangling-reference\", \"TL\"]",
    );
    let codes = rows::texts(&shop.path("clean"), "findings", "code");
    let ids = rows::texts(&shop.path("clean"), "findings", "conversation_id");
    for (code, id) in codes.into_iter().flatten().zip(ids) {
        assert!(
            id.is_none() || code != "RF001" && !code.starts_with("TL"),
            "{code} in {id:?}"
        );
    }
}

#[test]
fn rows_of_a_database_are_filtered_row_by_row() {
    let shop = Workshop::new();
    let dump = std::fs::read(samples().join("demo/agent-workspace.sql")).unwrap();
    shop.write("in/dump.sql", dump);
    let whole = run(&shop, "whole", "");
    let none = run(&shop, "none", "min_turns = 1000");
    assert!(whole.totals.accepted > whole.totals.conversations);
    assert_eq!(none.totals.conversations, 0);
    assert_eq!(
        none.manifest.inputs.get(0).unwrap().filtered_by["min_turns"],
        whole.totals.accepted
    );
}

#[test]
fn keys_only_take_away_and_the_first_that_does_is_the_reason() {
    let shop = demo();
    let summary = run(
        &shop,
        "out",
        "scene = \"group_chat\"\nmin_turns = 6\nwith_tool_calls = true\nlimit = 12",
    );
    let keys: Vec<&str> = summary.totals.filtered_by.keys().map(String::as_str).collect();
    assert!(keys.contains(&"limit") && keys.contains(&"scene"), "{keys:?}");
    assert!(
        keys.iter()
            .all(|key| ["limit", "scene", "min_turns", "with_tool_calls"].contains(key)),
        "{keys:?}"
    );
}
