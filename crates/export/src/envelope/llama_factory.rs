//! LLaMA-Factory: `ShareGPT` records, and `dataset_info.json`, which describes their keys to LLaMA-Factory.
//!
//! ```json
//! {"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]}
//! ```
//!
//! Its converter drops records that break these rules, with a line in a log:
//!
//! - LLF-01 keys are `conversations`, `system`, `tools`, `images`, `videos` and `audios`.
//! - LLF-02 `human` and `observation` are at odd positions, `gpt` and `function_call` at even ones, and their number is even.
//! - LLF-03 a mark of a picture, video or sound is replaced by a file: there are as many of `<image>`, `<video>` and `<audio>` as media in the lists.
//! - LLF-04 if turns of the assistant are context, the last turn is trained on: `mask_history: true` trains on it alone. Turns with nothing but
//!   placeholders for media are left out, and a record ends before other context that follows a trained turn.

use std::borrow::Cow;

use chatmill_dataset::FreeKind;
use serde::Deserialize;

use super::training_role::TrainingRole;
use super::training_role::unmarkable::{RecordTurns, RoleTurn, TurnRole};
use super::{Envelope, ExportRow, Masking, MediaIn, Question, Wrapped, borrowed, known_fields, value};
use crate::fields::{Field, elements, object, text};
use crate::summary::FileSummary;
use crate::summary::turn_counts::TurnCounts;

/// The envelope of LLaMA-Factory.
pub(super) static LLAMA_FACTORY: Envelope = Envelope {
    id: "llama-factory",
    record: "the record, with `dataset_info.json` next to the files",
    left_out: "rows that its converter drops silently; media tokens in text without a medium; a last turn that is context",
    title: "LLaMA-Factory, ShareGPT format",
    specification: "LLaMA-Factory 0.9.5, data format",
    reasons: REASONS,
    masking: Masking::Setting("mask_history: true"),
    dialects: &["sharegpt"],
    keys: &[
        ("conversations", FreeKind::Json),
        ("system", FreeKind::Text),
        ("tools", FreeKind::Text),
        ("images", FreeKind::Json),
        ("videos", FreeKind::Json),
        ("audios", FreeKind::Json),
    ],
    media: MediaIn::Lists,
    question: Question::BeforeAnswer,
    companion: |files| Some(("dataset_info.json", sets(files, false))),
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    KEYS = "LLF-01", "the keys are conversations, system, tools, images, videos and audios", "take the dialect in a profile that writes no other keys";
    TURNS = "LLF-02", "people and assistant do not take turns from a person to the assistant", "choose windows from a person to an answer: `window.mode = \"consecutive\"`";
    MARKED = "LLF-03", "the texts have other media tokens than the record has pictures, videos and sounds", "write the token otherwise at the source: LLaMA-Factory would replace it by a file";
    CONTEXT = "LLF-04", "the last turn is context, or none is trained on", "choose windows that end with a trained turn";
}

/// The lists of media, and the mark of each medium in a text.
const MARKS: [(&str, &str); 3] = [
    ("images", "<image>"),
    ("videos", "<video>"),
    ("audios", "<audio>"),
];

#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    from: Cow<'a, str>,
    #[serde(borrow)]
    value: Cow<'a, str>,
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let rules = [KEYS, TURNS, MARKED].map(|rule| rule.words);
    let (mut fields, all) = check(row, rules)?;
    if row.turn_counts(all.iter().copied()).context == 0 {
        let turn_counts = row.turn_counts(all);
        return Ok(Wrapped::whole(fields).with_turn_counts(turn_counts));
    }
    let mut record = RecordTurns::of(row, &role_turns(&all));
    let missed = record.end_before_context(row).unwrap_or_default();
    let turns = &record.turns;
    let mut turn_counts = TurnCounts {
        missed,
        placeholders: record.placeholders,
        ..row.turn_counts(turns.iter().copied())
    };
    if turn_counts.context > 0 || turn_counts.learned == 0 {
        let is_last_trained = turns.last().map(|turn| row.training_role(turn)) == Some(TrainingRole::Trained);
        if !is_last_trained {
            return Err(CONTEXT.words);
        }
        turn_counts = turn_counts.of_last();
    }
    leave_out_media(&mut fields, &all, turns);
    let conversations = fields.iter_mut().find(|field| field.name == "conversations");
    if let Some(field) = conversations {
        field.json = record.list().into();
    }
    Ok(Wrapped::whole(fields).with_turn_counts(turn_counts))
}

fn role_turns<'t>(turns: &[&'t str]) -> Vec<RoleTurn<'t>> {
    let role_turns = turns.iter().map(|json| {
        let turn = serde_json::from_str::<Turn<'t>>(json);
        let by = match turn.as_ref().map(|turn| &*turn.from) {
            Ok("human") => TurnRole::Person,
            Ok("gpt") => TurnRole::Assistant,
            _ => TurnRole::Other,
        };
        (*json, by, turn.ok().map(|turn| turn.value))
    });
    role_turns.collect()
}

/// The fields of a record, and its turns, if it obeys the rules of LLaMA-Factory's converter: keys, order of turns, and tokens of media.
pub(super) fn check<'a>(
    row: &ExportRow<'a>,
    [keys, order, marks]: [&'static str; 3],
) -> Result<(Vec<Field<'a>>, Vec<&'a str>), &'static str> {
    let fields = known_fields(row, &LLAMA_FACTORY).ok_or(keys)?;
    let turns = borrowed(row, "conversations").and_then(elements);
    let (raw, turns): (Vec<&str>, Vec<Turn<'_>>) = turns.ok_or(keys)?.into_iter().unzip();
    let places = [["human", "observation"], ["gpt", "function_call"]];
    let is_in_place = |(turn, place): (&Turn<'_>, [&str; 2])| place.contains(&&*turn.from);
    if turns.is_empty()
        || !turns.len().is_multiple_of(2)
        || !turns.iter().zip(places.into_iter().cycle()).all(is_in_place)
    {
        return Err(order);
    }
    let has_each = |(list, mark): (&str, &str)| {
        let found: usize = turns.iter().map(|turn| turn.value.matches(mark).count()).sum();
        found == media(&fields, list).len()
    };
    if !MARKS.into_iter().all(has_each) {
        return Err(marks);
    }
    Ok((fields, raw))
}

/// The media of a list of the record, each as JSON text.
fn media<'f>(fields: &'f [Field<'_>], list: &str) -> Vec<&'f str> {
    let media = value(fields, list).and_then(elements::<Cow<'_, str>>);
    media
        .unwrap_or_default()
        .into_iter()
        .map(|(json, _)| json)
        .collect()
}

/// Removes the media of turns that were left out from the lists.
fn leave_out_media(fields: &mut Vec<Field<'_>>, turns: &[&str], remaining: &[&str]) {
    for (list, mark) in MARKS {
        let mut media = media(fields, list).into_iter();
        let mut rest = Vec::new();
        let mut remaining = remaining.iter().peekable();
        for turn in turns {
            let is_there = remaining.next_if(|other| std::ptr::eq(**other, *turn)).is_some();
            let of_turn = media.by_ref().take(turn.matches(mark).count());
            rest.extend(of_turn.filter(|_| is_there));
        }
        let json = format!("[{}]", rest.join(","));
        fields.retain(|field| field.name != list || json != "[]");
        if let Some(field) = fields.iter_mut().find(|field| field.name == list) {
            field.json = json.into();
        }
    }
}

/// `dataset_info.json` for these files, with ranked answers or without. A set has the name of its part, or of its file if the part has several:
/// LLaMA-Factory reads one file for each set, and several sets (`dataset: A,B`).
pub(super) fn sets(files: &[FileSummary], is_ranking: bool) -> String {
    let sets: Vec<String> = files
        .iter()
        .map(|file| {
            let is_alone = files.iter().filter(|other| other.part == file.part).count() == 1;
            let stem = file
                .name
                .rsplit_once('.')
                .map_or(file.name.as_str(), |(stem, _)| stem);
            let name = if is_alone { &file.part } else { stem };
            format!("  {}: {}", text(name), set(file, is_ranking))
        })
        .collect();
    format!("{{\n{}\n}}\n", sets.join(",\n"))
}

/// The entry of a file in `dataset_info.json`. A column that no record has must not be listed.
fn set(file: &FileSummary, is_ranking: bool) -> String {
    let mut columns = vec![Field::new("messages", "\"conversations\"")];
    for column in ["system", "tools", "images", "videos", "audios"] {
        if file.keys.iter().any(|key| key == column) {
            columns.push(Field::new(column, text(column)));
        }
    }
    if is_ranking {
        columns.extend([
            Field::new("chosen", "\"chosen\""),
            Field::new("rejected", "\"rejected\""),
        ]);
    }
    let tags = [
        ("role_tag", "\"from\""),
        ("content_tag", "\"value\""),
        ("user_tag", "\"human\""),
        ("assistant_tag", "\"gpt\""),
        ("observation_tag", "\"observation\""),
        ("function_tag", "\"function_call\""),
    ];
    let mut about = vec![
        Field::new("file_name", text(&file.name)),
        Field::new("formatting", "\"sharegpt\""),
    ];
    about.extend(is_ranking.then(|| Field::new("ranking", "true")));
    about.extend([
        Field::new("columns", object(&columns)),
        Field::new("tags", object(&tags.map(|(tag, json)| Field::new(tag, json)))),
    ]);
    object(&about)
}
