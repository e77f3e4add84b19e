//! LLaMA-Factory's ranking data: a conversation that ends with a person, a chosen and a rejected answer, with
//! `dataset_info.json`, which describes their keys.
//!
//! ```json
//! {"conversations":[{"from":"human","value":"Hi"}],"chosen":{"from":"gpt","value":"Hello"},"rejected":{"from":"gpt","value":"Go"}}
//! ```
//!
//! - LLR-01 keys are `conversations`, `system` and `tools`.
//! - LLR-02 people and assistant alternate, and the last turn is the answer: its converter drops other records with a line in a log.
//! - LLR-03 both answers follow the same conversation, and differ.
//! - LLR-04 a mark of a picture, video or sound is replaced by a file: a text must not contain one.

use chatmill_dataset::FreeKind;

use super::llama_factory::{check, sets};
use super::preference::rejected;
use super::{Envelope, ExportRow, Masking, MediaIn, Preferences, Wrapped};
use crate::fields::Field;

/// The envelope of LLaMA-Factory's ranking data.
pub(super) static LLAMA_FACTORY_RANKING: Envelope = Envelope {
    id: "llama-factory-ranking",
    record: "`conversations`, `chosen`, `rejected`, with `dataset_info.json` next to the files",
    left_out: "answers without a preference; rows that its converter drops; media tokens in text",
    title: "LLaMA-Factory, ranking",
    specification: "LLaMA-Factory 0.9.5, data format",
    reasons: REASONS,
    masking: Masking::InRecord,
    preferences: Preferences::Pairs,
    dialects: &["sharegpt"],
    keys: &[
        ("conversations", FreeKind::Json),
        ("chosen", FreeKind::Json),
        ("rejected", FreeKind::Json),
        ("system", FreeKind::Text),
        ("tools", FreeKind::Text),
        ("images", FreeKind::Json),
        ("videos", FreeKind::Json),
        ("audios", FreeKind::Json),
    ],
    media: MediaIn::Lists,
    companion: |files| Some(("dataset_info.json", sets(files, true))),
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    KEYS = "LLR-01", "the keys are conversations, system, tools, images, videos and audios", "take the dialect in a profile that writes no other keys";
    TURNS = "LLR-02", "people and assistant do not take turns from a person to the answer", "choose windows from a person to an answer: `window.mode = \"consecutive\"`";
    ANSWERS = "LLR-03", "the answers follow different conversations, or are the same", "rate different answers to the same request";
    MARKS = "LLR-04", "the texts have other media tokens than the record has pictures, videos and sounds", "write the token otherwise at the source: LLaMA-Factory would replace it by a file";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let other = rejected(row).ok_or(KEYS.words)?;
    let parted = |row: &ExportRow<'a>| -> Result<_, &'static str> {
        let (fields, turns) = check(row, [KEYS, TURNS, MARKS].map(|rule| rule.words))?;
        let (answer, before) = turns.split_last().ok_or(TURNS.words)?;
        Ok((fields, before.to_vec(), *answer))
    };
    let (fields, before, chosen) = parted(row)?;
    let (_, same, rejected) = parted(&other)?;
    if before != same || chosen == rejected {
        return Err(ANSWERS.words);
    }
    let mut ranked = vec![
        Field::new("conversations", format!("[{}]", before.join(","))),
        Field::new("chosen", chosen),
        Field::new("rejected", rejected),
    ];
    ranked.extend(fields.into_iter().filter(|field| field.name != "conversations"));
    Ok(Wrapped::whole(ranked))
}
