//! The registry, its ids and its folders.

use std::collections::BTreeSet;
use std::path::Path;

use chatmill_dialect::{Policy, auto_perspective, find, known};

use crate::chat::TestChat;

#[test]
fn every_id_is_a_kebab_case_name_of_its_own() {
    let ids: BTreeSet<&str> = known().map(chatmill_dialect::Dialect::id).collect();
    assert_eq!(ids.len(), known().count(), "two dialects have one id");
    for id in ids {
        let is_kebab = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(id.bytes().all(is_kebab), "{id}");
    }
}

#[test]
fn every_dialect_has_a_folder_and_every_folder_a_dialect() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/dialects");
    let folders: BTreeSet<String> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let ids: BTreeSet<String> = known().map(|dialect| dialect.id().to_owned()).collect();
    if let Some(id) = ids.difference(&folders).next() {
        panic!(
            "{id} has no golden files: make the folder data-samples/dialects/{id}/, and `just bless` writes what becomes of the \
             canonical conversations and of its own group chats there (`NAME.input.json`)"
        );
    }
    if let Some(folder) = folders.difference(&ids).next() {
        panic!(
            "data-samples/dialects/{folder} belongs to no dialect: add its line to `dialects!` in \
             crates/dialect/src/dialects.rs, or remove the folder"
        );
    }
}

#[test]
fn a_dialect_is_found_by_id_and_profile() {
    for dialect in known() {
        let id = dialect.id();
        let names: Vec<&str> = dialect.about().profile_names().collect();
        assert_eq!(names.first(), Some(&"document"), "{id}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{id}");
        let found = find(id).unwrap();
        assert_eq!((found.id(), found.profile()), (id, "document"));
        for name in names {
            let found = find(&format!("{id}@{name}")).unwrap();
            assert_eq!((found.id(), found.profile()), (id, name));
        }
    }
    assert!(find("tzurot@v9").is_none());
    assert!(find("tzuro").is_none());
}

#[test]
fn the_busiest_agent_is_the_perspective_and_the_roster_breaks_ties() {
    let mut chat = TestChat::new();
    let ann = chat.human("u1", "Ann");
    assert_eq!(auto_perspective(&chat.linked), None);
    let (first, second) = (chat.agent("b1", "One"), chat.agent("b2", "Two"));
    chat.write(ann, "x");
    chat.write(ann, "y");
    assert_eq!(auto_perspective(&chat.linked), Some(first));
    chat.write(second, "z");
    assert_eq!(auto_perspective(&chat.linked), Some(second));
    chat.write(first, "z");
    assert_eq!(auto_perspective(&chat.linked), Some(first));
}

#[test]
fn the_policy_section_reads_the_words_of_the_contract() {
    let written = r#"{"names":"auto","references":"excerpt","media":"keep","reasoning":"drop","orphans":"repair",
        "control_tokens":"escape","system":"source","compressed":"as-sent","leaked_metadata":"clean"}"#;
    let policy: Policy = serde_json::from_str(written).unwrap();
    assert_eq!(policy, Policy::default());
    let unnamed: Policy = serde_json::from_str(r#"{"names":"none"}"#).unwrap();
    assert_eq!(unnamed.names, chatmill_dialect::policy::Names::Drop);
    assert!(serde_json::from_str::<Policy>(r#"{"nmaes":"auto"}"#).is_err());
    assert!(serde_json::from_str::<Policy>(r#"{"compressed":"stored","orphans":"reject"}"#).is_ok());
}
