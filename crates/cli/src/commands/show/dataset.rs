//! A conversation of a finished dataset, which the engine puts together from its rows; the findings are those of the run.

use std::path::Path;

use chatmill_dataset::{Columns, Dataset, DatasetError, Flags, Numbers, Rows, Texts, columns};
use chatmill_engine::rerender;
use chatmill_model::target_name;
use chatmill_report::conversation::{RenderingFigures, ShownFinding};

use super::choice::{Choice, Sampled, WantedConversation};
use super::rendering::{name_windows, title};
use super::{FindingsByMessage, Medium, ShownConversation};
use crate::commands::check::style_of;
use crate::exit::Outcome;
use crate::output::{harmless, shown};

columns! {
    struct Ids {
        conversation_id: Texts,
    }

    /// The texts of messages.
    struct MessageCells {
        conversation_id: Texts,
        sender_name: Texts,
        text: Texts,
        parts: Texts,
    }

    /// The codes of findings.
    struct Codes {
        conversation_id: Texts,
        code: Texts,
    }

    /// The figures of renderings.
    struct RenderingCells {
        dialect: Texts,
        profile: Texts,
        perspective: Texts,
        first_position: Numbers,
        last_position: Numbers,
        bytes: Numbers,
        loss_count: Numbers,
        valid: Flags,
    }

    /// The findings.
    struct Findings {
        code: Texts,
        name: Texts,
        severity: Texts,
        count: Numbers,
        position: Numbers,
        input: Texts,
        entry: Texts,
        line_number: Numbers,
        column_number: Numbers,
        message: Texts,
    }
}

/// The requested conversations; empty if the dataset does not have them.
pub(super) fn find(
    dataset: &Dataset,
    choice: &mut Choice,
    medium: Medium<'_>,
) -> Outcome<Vec<ShownConversation>> {
    let mut found = Vec::new();
    for id in ids(dataset, choice)? {
        found.extend(conversation(dataset, id, medium)?);
    }
    Ok(found)
}

fn conversation(dataset: &Dataset, id: String, medium: Medium<'_>) -> Outcome<Option<ShownConversation>> {
    let Some((facts, linked)) = rerender::conversation(dataset, &id)? else {
        return Ok(None);
    };
    let input = Path::new(&facts.input);
    Ok(Some(ShownConversation {
        place: format!("{}, from {}", shown(dataset.folder()), shown(input)),
        linked,
        findings: findings(dataset, &id, medium)?,
        id,
        stored: Some(facts),
    }))
}

/// The ids of the requested conversations.
fn ids(dataset: &Dataset, choice: &mut Choice) -> Result<Vec<String>, DatasetError> {
    let mut found = Sampled::new(choice);
    let mut add = |id: &str, is_it: bool| {
        if is_it {
            found.add(id, || id.to_owned());
        }
        found.is_complete()
    };
    match &choice.wanted {
        WantedConversation::Words(words) => {
            find_rows(dataset, "messages", &mut |cells: &MessageCells, row| {
                let texts = [&cells.sender_name, &cells.text, &cells.parts];
                let has = |text: &&Texts| text.at(row).to_lowercase().contains(words);
                add(cells.conversation_id.at(row), texts.iter().any(has))
            })?;
        }
        WantedConversation::Codes(codes) => {
            find_rows(dataset, "findings", &mut |cells: &Codes, row| {
                let is_it = codes.iter().any(|code| code.code == cells.code.at(row));
                let is_of_one = cells.conversation_id.get(row).is_some();
                add(cells.conversation_id.at(row), is_it && is_of_one)
            })?;
        }
        _ => {
            find_rows(dataset, "conversations", &mut |ids: &Ids, row| {
                let id = ids.conversation_id.at(row);
                add(id, choice.takes_id(id))
            })?;
        }
    }
    choice.seen = dataset.rows("conversations");
    Ok(found.finish())
}

/// Visits the rows of a table until one is the last that is needed.
fn find_rows<C: Columns>(
    dataset: &Dataset,
    table: &str,
    is_last: &mut dyn FnMut(&C, usize) -> bool,
) -> Result<(), DatasetError> {
    for batch in dataset.batches(table, &C::names()) {
        let batch = batch?;
        let cells = C::of(&batch)?;
        if (0..batch.rows()).any(|row| is_last(&cells, row)) {
            return Ok(());
        }
    }
    Ok(())
}

/// The figures of a conversation's renderings, as the run wrote them, with tokens in one encoding.
pub(super) fn figures(
    dataset: &Dataset,
    found: &ShownConversation,
    encoding: Option<&str>,
) -> Result<Vec<RenderingFigures>, DatasetError> {
    let mut figures = Vec::new();
    if !dataset.has("renderings") {
        return Ok(figures);
    }
    let tokens = encoding.map(|encoding| format!("tokens_{encoding}"));
    let mut names = RenderingCells::names();
    names.extend(tokens.as_deref());
    for batch in dataset.batches_of("renderings", &names, &found.id) {
        let batch = batch?;
        let cells = RenderingCells::of(&batch)?;
        let counts: Option<Numbers> = tokens.as_deref().map(|name| batch.column(name)).transpose()?;
        figures.extend((0..batch.rows()).map(|row| {
            let target = target_name(cells.dialect.at(row), cells.profile.at(row));
            let window = cells.first_position.get(row).zip(cells.last_position.get(row));
            RenderingFigures {
                title: title(&found.linked, target, cells.perspective.at(row), window),
                bytes: cells.bytes.at(row),
                tokens: counts.as_ref().map_or(0, |counts| counts.at(row)),
                losses: cells.loss_count.at(row),
                is_valid: cells.valid.at(row),
            }
        }));
    }
    name_windows(&mut figures.iter_mut().map(|row| &mut row.title));
    Ok(figures)
}

/// The findings of a conversation by message; without their messages if there is a mask, since these contain ids.
fn findings(dataset: &Dataset, id: &str, medium: Medium<'_>) -> Result<FindingsByMessage, DatasetError> {
    let mut by_message = FindingsByMessage::new();
    let mut rows: Rows<'_, Findings> = Rows::of_conversation(dataset, "findings", id)?;
    while let Some((cells, row)) = rows.current() {
        let severity = cells.severity.at(row);
        let style = style_of(severity);
        let mut text = format!(
            "{}[{} {}]",
            medium.colours.paint(style, &harmless(severity)),
            harmless(cells.code.at(row)),
            harmless(cells.name.at(row))
        );
        if medium.mask.is_none() {
            text += &format!(": {}", harmless(cells.message.at(row)));
        }
        match cells.count.at(row) {
            0 | 1 => {}
            count => text += &format!(" ({} times)", crate::figures::count(count)),
        }
        let mut place = cells.input.at(row).to_owned();
        if !cells.entry.at(row).is_empty() {
            place += &format!("!{}", cells.entry.at(row));
        }
        if let (Some(line), Some(column)) = (cells.line_number.get(row), cells.column_number.get(row)) {
            place += &format!(":{line}:{column}");
        }
        text += &format!("\n --> {}", harmless(&place));
        let position = cells.position.get(row);
        let position = position.and_then(|position| u32::try_from(position).ok());
        by_message.entry(position).or_default().push(ShownFinding {
            code: cells.code.at(row).to_owned(),
            text,
        });
        rows.advance()?;
    }
    Ok(by_message)
}
