//! Maps for files that no source and no map reads, guessed from their first records. `propose` makes a field map or table map for a person
//! to review. `guess` and `guess_tables` give the meaning of the columns of tables; a run uses such a guess without a review only if it is
//! sure.
mod guess;
mod names;
mod sample;
mod tables;

use std::collections::BTreeSet;

use chatmill_intake::{Head, RecordSketch, Sketch};

use crate::base::conversations::proposed;
use crate::grammar::signs;
use names::{CALL_IDS, CALLS, IDS, NAMES, REPLIES, ROLES, SENDERS, TEXTS, TIMES, TITLES};

pub use guess::{Guess, guess};
pub use sample::{SampleCell, TableSample};
pub use tables::guess_tables;

/// A proposed section of a pipeline file that would read a given file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// A `[field_map]`: keys and paths. For a list of blocks, the key `as` has the vendor, which only format files name.
    Fields(Vec<(&'static str, String)>),
    /// A `[table_map]`.
    Columns(Guess),
    /// No map yet: several lists could be the messages, at these paths, and only a person can decide.
    Rivals(Vec<String>),
}

/// The proposed map for a file; `None` if nothing in the file looks like messages.
pub fn propose(head: &Head, sketch: &Sketch) -> Option<Proposal> {
    if let Some(guess) = TableSample::of(head).as_ref().and_then(guess) {
        return Some(Proposal::Columns(guess));
    }
    let record = sketch.records.iter().find(|record| !record.names.is_empty())?;
    match lists_of(record).as_slice() {
        [] => None,
        [list] => Some(Proposal::Fields(fields_of(record, list))),
        rivals => Some(Proposal::Rivals(
            rivals.iter().map(|list| path_of(list)).collect(),
        )),
    }
}

/// The outermost lists with elements that have a text and a speaker.
fn lists_of(record: &RecordSketch) -> Vec<&str> {
    let lists = record
        .names
        .keys()
        .filter_map(|name| name.rfind("[].").map(|at| name.get(..at).unwrap_or_default()));
    let mut lists: Vec<&str> = lists.collect();
    lists.sort_by_key(|list| list.len());
    lists.dedup();
    let mut found: Vec<&str> = Vec::new();
    for list in lists {
        // A list inside a message does not compete with the list of messages.
        let is_inside = |outer: &&str| {
            list.strip_prefix(*outer)
                .is_some_and(|rest| rest.starts_with("[]"))
        };
        if !found.iter().any(is_inside) && words_of(record, list).is_some() {
            found.push(list);
        }
    }
    // Many kinds of lists have a type: a list with another name for the speaker takes precedence.
    let names_speakers = |list: &&str| {
        ROLES
            .iter()
            .any(|role| *role != "type" && record.names(&format!("{list}[].{role}")))
    };
    let sure: Vec<&str> = found.iter().copied().filter(names_speakers).collect();
    if sure.len() == 1 { sure } else { found }
}

/// The name of the text field in a list's elements, if they have a speaker.
fn words_of(record: &RecordSketch, list: &str) -> Option<&'static str> {
    let has = |name: &str| record.names(&format!("{list}[].{name}"));
    let text = TEXTS.iter().copied().find(|text| has(text))?;
    ROLES
        .iter()
        .any(|role| *role != text && has(role))
        .then_some(text)
}

/// The path of a list.
fn path_of(list: &str) -> String {
    if list.is_empty() {
        return "$".to_owned();
    }
    format!("$.{}", list.replace("[]", "[*]"))
}

/// Paths that a field map needs for a list.
fn fields_of(record: &RecordSketch, list: &str) -> Vec<(&'static str, String)> {
    let content = words_of(record, list).unwrap_or_default();
    let has = |list: &str, name: &str| record.names(&format!("{list}[].{name}"));
    let pick = |names: &[&'static str]| {
        let mut names = names.iter().filter(|name| **name != content && has(list, name));
        names.next().map(|name| format!("$.{name}"))
    };
    let outer = |names: &[&'static str]| {
        names
            .iter()
            .find(|name| record.names(name))
            .map(|name| format!("$.{name}"))
    };
    let role = pick(ROLES);
    let mut found = vec![("messages", path_of(list))];
    let mut add = |key, path: Option<String>| found.extend(path.map(|path| (key, path)));
    let objects: BTreeSet<&str> = record.nested.iter().map(|(outer, _)| outer.as_str()).collect();
    let is_plain = |name: &str| name.chars().all(|sign| sign.is_alphanumeric() || sign == '_');
    let keys = record.keys.iter().map(String::as_str);
    let keys = keys.filter(|name| is_plain(name) && !objects.contains(name));
    let named = proposed(keys).map(|name| format!("$.{name}"));
    add("conversation", named.or_else(|| outer(IDS)));
    add("title", outer(TITLES));
    // An object that contains the role is not an id.
    let is_inside = |sender: &String| {
        role.as_ref()
            .is_some_and(|role| role.starts_with(sender.as_str()))
    };
    add("sender", pick(SENDERS).filter(|sender| !is_inside(sender)));
    add("sender_name", pick(NAMES));
    add("role", role);
    add("text", Some(format!("$.{content}")));
    add("time", pick(TIMES));
    add("reply_to", pick(REPLIES));
    add("tool_calls", pick(CALLS));
    add("tool_call_id", pick(CALL_IDS));
    add("message_id", pick(IDS));
    let blocks = signs::of_blocks(record, &format!("{list}[]"), content);
    found.extend(blocks.map(|vendor| ("as", vendor.id.to_owned())));
    found
}

#[cfg(test)]
mod tests {
    use chatmill_intake::Framing;

    use super::*;

    fn proposed(framing: Framing, text: &str) -> Option<Proposal> {
        let head = Head {
            framing,
            complete: true,
            bytes: text.as_bytes().to_vec(),
        };
        propose(&head, &head.sketch())
    }

    fn owned(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        pairs
            .iter()
            .map(|(key, path)| (*key, (*path).to_owned()))
            .collect()
    }

    #[test]
    fn a_list_of_objects_with_words_and_speakers_becomes_a_field_map() {
        let text = r#"{"id":"7","data":{"turns":[{"author":{"role":"guest"},"body":"x","at":1,"ts":2}]}}"#;
        assert_eq!(
            proposed(Framing::Documents, text),
            Some(Proposal::Fields(owned(&[
                ("messages", "$.data.turns"),
                ("conversation", "$.id"),
                ("role", "$.author.role"),
                ("text", "$.body"),
                ("time", "$.ts"),
            ])))
        );
        assert_eq!(proposed(Framing::Documents, r#"{"temperature":21.5}"#), None);
    }

    #[test]
    fn the_vendor_of_blocks_is_proposed() {
        for (blocks, vendor) in [
            (
                r#"{"type":"tool_use","id":"c","name":"f","input":{}}"#,
                Some("anthropic"),
            ),
            (
                r#"{"type":"image_url","image_url":{"url":"https://a.example"}}"#,
                Some("openai-chat"),
            ),
            (
                r#"{"toolUse":{"toolUseId":"c","name":"f","input":{}}}"#,
                Some("converse"),
            ),
            (r#"{"functionCall":{"name":"f","args":{}}}"#, Some("gemini")),
            (r#"{"type":"tool-f","toolCallId":"c"}"#, Some("ai-sdk")),
            (r#"{"type":"text","text":"x"}"#, None),
        ] {
            let text =
                format!(r#"{{"said":[{{"who":"bot","body":[{{"type":"text","text":"x"}},{blocks}]}}]}}"#);
            let Some(Proposal::Fields(found)) = proposed(Framing::Documents, &text) else {
                panic!("{text}");
            };
            let named = found.iter().find(|(key, _)| *key == "as");
            assert_eq!(named.map(|(_, vendor)| vendor.as_str()), vendor, "{text}");
        }
    }

    #[test]
    fn every_key_of_the_map_that_a_list_has_is_proposed() {
        let text = r#"{"task":0,"subject":"x","runs":{"log":[
            {"id":"m","from":"guest","name":"Ann","text":"x","sender_id":"a","sent_at":1,"reply_to":"b"},
            {"from":"bot","text":null,"tool_calls":[{"id":"c","function":{"name":"f"}}]},
            {"from":"tool","tool_call_id":"c","text":"y"}]}}"#;
        let expected = owned(&[
            ("messages", "$.runs.log"),
            ("title", "$.subject"),
            ("sender", "$.sender_id"),
            ("sender_name", "$.name"),
            ("role", "$.from"),
            ("text", "$.text"),
            ("time", "$.sent_at"),
            ("reply_to", "$.reply_to"),
            ("tool_calls", "$.tool_calls"),
            ("tool_call_id", "$.tool_call_id"),
            ("message_id", "$.id"),
        ]);
        assert_eq!(
            proposed(Framing::Documents, text),
            Some(Proposal::Fields(expected))
        );
    }

    #[test]
    fn two_rival_lists_give_no_proposal() {
        let text = r#"{"winner":"b","one":[{"role":"user","content":"x"}],"two":{"said":[{"role":"user","content":"x"}]}}"#;
        let rivals = ["$.one", "$.two.said"].map(str::to_owned).to_vec();
        assert_eq!(proposed(Framing::Documents, text), Some(Proposal::Rivals(rivals)));
    }

    #[test]
    fn a_header_and_the_names_of_rows_become_a_table_map() {
        let pairs = owned(&[("conversation", "room"), ("sender", "who"), ("content", "body")]);
        for (framing, text) in [
            (Framing::Documents, "room;who;body\nr1;guest;hello\n"),
            (
                Framing::Lines,
                "{\"room\":\"r1\",\"who\":\"guest\",\"body\":\"hello\"}\n",
            ),
        ] {
            let Some(Proposal::Columns(guess)) = proposed(framing, text) else {
                panic!("{text}");
            };
            assert_eq!((guess.columns, guess.is_sure), (pairs.clone(), false), "{text}");
        }
    }
}
