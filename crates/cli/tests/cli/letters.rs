//! What goes back to suppliers, and the page over all files.

use std::fs;

use crate::desk::{Desk, dangling_chat, end, good_chat};

/// Deliveries of two suppliers: one with a broken file, one without faults.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("in/acme/good.json", &good_chat("good").to_string());
    desk.write(
        "in/acme/broken.jsonl",
        &format!("{}\n{{\"broken\n", good_chat("b")),
    );
    desk.write("in/acme/dangling.json", &dangling_chat("dangling").to_string());
    desk.write("in/bird/deep/fine.json", &good_chat("fine").to_string());
    desk
}

#[test]
fn every_supplier_gets_a_letter_in_both_forms() {
    let desk = desk();
    let check = end(desk.chatmill(&["check", "in", "--write", "letters=to/send", "-q"]));
    assert_eq!(check.code, 1, "{}", check.stderr);
    let folder = desk.path("to/send");
    let names = fs::read_dir(&folder).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["acme.html", "acme.md", "bird.html", "bird.md"]);
    let acme = fs::read_to_string(folder.join("acme.md")).unwrap();
    let hash = blake3_of(&desk, "in/acme/good.json");
    for said in [
        "# Your delivery: acme",
        "You sent 3 files",
        "Of these: 2 accepted; 1 to be corrected.",
        "Invalid JSON: 1 place in 1 file (IN001)",
        "in/acme/broken.jsonl:2:",
        "Dangling reference",
        hash.as_str(),
    ] {
        assert!(acme.contains(said), "{said} is not in\n{acme}");
    }
    assert!(!acme.contains("bird"), "{acme}");
    let bird = fs::read_to_string(folder.join("bird.md")).unwrap();
    assert!(bird.contains("Nothing has to be corrected"), "{bird}");
    let page = fs::read_to_string(folder.join("acme.html")).unwrap();
    assert!(
        page.contains("in/acme/broken.jsonl:2:") && page.contains(&hash),
        "{page}"
    );
}

/// The hash of a file as the receipt has it.
fn blake3_of(desk: &Desk, path: &str) -> String {
    let receipt = end(desk.chatmill(&["check", path, "--format", "manifest"])).stdout;
    let line: serde_json::Value = serde_json::from_str(receipt.lines().next().unwrap()).unwrap();
    line["blake3"].as_str().unwrap().to_owned()
}

#[test]
fn settings_say_who_sent_what() {
    let desk = desk();
    desk.write(
        "chatmill.toml",
        "[check.suppliers]\n\"Bird & Sons\" = [\"bird/**\", \"*.jsonl\"]\n",
    );
    let check = end(desk.chatmill(&["check", "in", "--write", "letters=send", "-q"]));
    assert_eq!(check.code, 1, "{}", check.stderr);
    let bird = fs::read_to_string(desk.path("send/Bird---Sons.md")).unwrap();
    assert!(
        bird.contains("You sent 2 files") && bird.contains("in/acme/broken.jsonl"),
        "{bird}"
    );
    assert!(desk.path("send/acme.md").is_file());
}

#[test]
fn letters_overwrite_nothing_and_do_not_lie_in_what_is_checked() {
    let desk = desk();
    desk.write("kept/acme.md", "mine");
    for (place, said) in [
        ("letters=kept", "it is not empty"),
        ("letters=in/letters", "lies in what is checked"),
        ("letters=in/acme", "lies in what is checked"),
        ("letters=in", "lies in what is checked"),
    ] {
        let refused = end(desk.chatmill(&["check", "in", "--write", place]));
        assert_eq!(refused.code, 2, "{place}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{place}: {}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(desk.path("kept/acme.md")).unwrap(), "mine");
    assert_eq!(fs::read_dir(desk.path("in")).unwrap().count(), 2);
    // A glob names files, and no folder around them.
    let check = end(desk.chatmill(&["check", "in/acme/*.json", "--write", "letters=in/letters"]));
    assert_eq!(check.code, 0, "{}", check.stderr);
}

#[test]
fn a_page_has_an_address_for_every_finding() {
    let desk = desk();
    let lines = end(desk.chatmill(&["check", "in", "--write", "html=page.html", "--format", "jsonl"]));
    assert_eq!(lines.code, 1, "{}", lines.stderr);
    let page = fs::read_to_string(desk.path("page.html")).unwrap();
    let mut findings = 0;
    for line in lines.stdout.lines() {
        let finding: serde_json::Value = serde_json::from_str(line).unwrap();
        let address = format!("id=\"at-{}\"", finding["key"].as_str().unwrap());
        assert!(page.contains(&address), "{address} is not in\n{page}");
        findings += 1;
    }
    assert!(findings > 1, "{}", lines.stdout);
    assert!(page.contains("<form class=\"filters\"") && !page.contains("src="));
    let shown = end(desk.chatmill(&["check", "in", "--format", "html", "--max-findings", "1"]));
    assert!(shown.stdout.starts_with("<!doctype html>"), "{}", shown.stdout);
}

#[test]
fn a_page_takes_the_place_of_no_input() {
    let desk = desk();
    let before = fs::read_to_string(desk.path("in/acme/good.json")).unwrap();
    let refused = end(desk.chatmill(&["check", "in", "--write", "html=in/acme/good.json"]));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert_eq!(
        fs::read_to_string(desk.path("in/acme/good.json")).unwrap(),
        before
    );
}
