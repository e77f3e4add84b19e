//! Role play: characters, the worlds that they live in, and stories. None of them is a conversation.

use super::{Known, known};

const PLAIN: u8 = 50;

pub(super) static FORMATS: &[Known] = &[
    known("character-card", "a character card of role play", PLAIN, |seen| {
        let is_card =
            seen.has(&["spec", "data.first_mes"]) || seen.has(&["name", "first_mes", "mes_example"]);
        is_card.then_some("the record has a first message and examples, and no conversation")
    }),
    known("world-info", "a lore book of role play", PLAIN, |seen| {
        let is_lorebook = |record: &&chatmill_intake::RecordSketch| {
            let keys = record.names.keys();
            let is_entry = |key: &String| key.starts_with("entries") && key.ends_with(".keysecondary");
            keys.into_iter().any(is_entry)
        };
        seen.records
            .iter()
            .find(is_lorebook)
            .map(|_| "the record has entries with keys")
    }),
    known("koboldai", "a story of KoboldAI", PLAIN, |seen| {
        seen.has(&["gamestarted", "prompt", "memory", "actions"])
            .then_some("the record has a prompt, a memory and actions, which nobody is named for")
    }),
];
