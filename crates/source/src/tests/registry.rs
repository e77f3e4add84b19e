//! Compares folders of fixtures and documentation with the registry.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::SOURCES;

#[test]
fn every_source_has_a_folder_of_fixtures_and_every_folder_a_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let entries = fs::read_dir(folder).unwrap();
    let folders: BTreeSet<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let ids: BTreeSet<String> = SOURCES.iter().map(|source| source.id().to_owned()).collect();
    assert_eq!(ids.len(), SOURCES.len(), "ids are unique");
    if let Some(id) = ids.difference(&folders).next() {
        panic!(
            "{id} has no samples: put small files, one for each shape, into data-samples/sources/{id}/, and \
             `just bless` writes what they are read as"
        );
    }
    if let Some(folder) = folders.difference(&ids).next() {
        panic!(
            "data-samples/sources/{folder} belongs to no source: add its line to `sources!` in crates/source/src/lib.rs, or \
             remove the folder"
        );
    }
}

#[test]
fn the_columns_of_rows_stand_in_the_documentation() {
    use crate::layout::columns::{ColumnMeaning, names};

    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sources.md");
    let page = fs::read_to_string(page).unwrap();
    for (holds, row) in [
        (ColumnMeaning::System, "| what the model is told before |"),
        (ColumnMeaning::History, "| the history"),
        (ColumnMeaning::Turns, "| the whole conversation |"),
        (ColumnMeaning::Question, "| the question |"),
        (
            ColumnMeaning::Context,
            "| what it is about: one turn with it, before it |",
        ),
        (
            ColumnMeaning::Input,
            "| what it is about: one turn with it, behind it |",
        ),
        (ColumnMeaning::Answer, "| the answer |"),
        (ColumnMeaning::Better, "| the answer that was preferred |"),
        (ColumnMeaning::Worse, "| the answer that was not |"),
    ] {
        let line = page.lines().find(|line| line.starts_with(row)).unwrap();
        let listed: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, names(holds).collect::<Vec<_>>(), "{row}");
    }
}

#[test]
fn every_source_and_grammar_names_what_it_was_last_compared_with() {
    let sources = SOURCES
        .iter()
        .map(|source| (source.id(), source.about().verified));
    let grammars = crate::grammar::GRAMMARS
        .iter()
        .map(|grammar| (grammar.id, grammar.verified));
    for (id, verified) in sources.chain(grammars) {
        let (named, month) = verified.rsplit_once(", ").unwrap_or(("a 1", verified));
        let is_month = month.len() == 7 && month.starts_with("20") && month.as_bytes()[4] == b'-';
        assert!(is_month && named.split(' ').count() == 2, "{id}: {verified:?}");
    }
}
