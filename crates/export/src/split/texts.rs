//! The texts of people and agents in the conversations of a dataset: of its messages, and of alternative answers.
//!
//! System text, tools, reasoning and notices are left out.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{Columns, Dataset, Flags, Numbers, Texts, columns};
use serde::Deserialize;

use crate::error::ExportError;
use crate::split::units::Units;

/// A dataset with the numbers of its units.
pub(crate) struct Corpus<'d> {
    pub(crate) dataset: &'d Dataset,
    pub(crate) units: Units,
}

/// The texts of some datasets by the numbers of their units.
pub(crate) struct ConversationTexts<'d> {
    pub(crate) corpora: &'d [Corpus<'d>],
    pub(crate) stop: &'d AtomicBool,
}

columns! {
    struct UtteranceColumns {
        role: Texts,
        kind: Texts,
        text: Texts,
    }

    struct Prompts with message: UtteranceColumns {
        parts: Texts,
    }

    /// Alternative answers.
    struct Alternatives with message: UtteranceColumns {
        in_conversation: Flags,
    }
}

impl UtteranceColumns {
    /// The text of a row, if it is by a person or an agent.
    fn utterance(&self, row: usize) -> Option<&str> {
        let counts = self.kind.at(row) == "message" && matches!(self.role.at(row), "user" | "assistant");
        counts.then(|| self.text.at(row))
    }
}

/// A medium in the column `parts`: its content, or its name.
#[derive(Deserialize)]
struct Medium {
    r#type: String,
    url: Option<String>,
    inline: Option<String>,
    text: Option<String>,
    name: Option<String>,
}

impl Prompts {
    /// The question of a row without differences of case and white space, with its pictures and files.
    fn question(&self, row: usize) -> serde_json::Result<Option<String>> {
        let asked = self.message.utterance(row);
        let Some(asked) = asked.filter(|_| self.message.role.at(row) == "user") else {
            return Ok(None);
        };
        let mut words: Vec<String> = asked.split_whitespace().map(str::to_lowercase).collect();
        if let Some(json) = self.parts.get(row) {
            let parts: Vec<Medium> = serde_json::from_str(json)?;
            let media = parts.into_iter().filter(|part| part.r#type == "media");
            words.extend(media.filter_map(|part| part.url.or(part.inline).or(part.text).or(part.name)));
        }
        Ok((!words.is_empty()).then(|| words.join(" ")))
    }
}

impl ConversationTexts<'_> {
    /// Visits the texts of the wanted units, each with the number of its unit.
    pub(crate) fn each(
        &self,
        is_wanted: &dyn Fn(usize) -> bool,
        visit: &mut dyn FnMut(usize, &str),
    ) -> Result<(), ExportError> {
        for corpus in self.corpora {
            self.rows(
                (corpus, "messages"),
                is_wanted,
                &mut |cells: &UtteranceColumns, row, number| {
                    if let Some(text) = cells.utterance(row) {
                        visit(number, text);
                    }
                    Ok(())
                },
            )?;
            if !corpus.dataset.has("alternatives") {
                continue;
            }
            self.rows(
                (corpus, "alternatives"),
                is_wanted,
                &mut |cells: &Alternatives, row, number| {
                    let text = cells.message.utterance(row);
                    if let Some(text) = text.filter(|_| !cells.in_conversation.at(row)) {
                        visit(number, text);
                    }
                    Ok(())
                },
            )?;
        }
        Ok(())
    }

    /// Visits the first question of each unit.
    pub(crate) fn each_prompt(&self, visit: &mut dyn FnMut(usize, &str)) -> Result<(), ExportError> {
        let mut last = None;
        let mut prompt = |cells: &Prompts, row: usize, number: usize| {
            if last == Some(number) {
                return Ok(());
            }
            let question = cells.question(row).map_err(|error| {
                ExportError::request(
                    format!("the column `parts` of `messages` holds other JSON: {error}"),
                    "run `chatmill certify` on the dataset",
                )
            })?;
            if let Some(question) = question {
                last = Some(number);
                visit(number, &question);
            }
            Ok(())
        };
        let mut corpora = self.corpora.iter();
        corpora.try_for_each(|corpus| self.rows((corpus, "messages"), &|_| true, &mut prompt))
    }

    fn rows<C: Columns>(
        &self,
        (corpus, table): (&Corpus<'_>, &str),
        is_wanted: &dyn Fn(usize) -> bool,
        visit: &mut dyn FnMut(&C, usize, usize) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut names = C::names();
        names.extend(["conversation_id", "position"]);
        for batch in corpus.dataset.batches(table, &names) {
            if self.stop.load(Ordering::Relaxed) {
                return Err(ExportError::Stopped);
            }
            let batch = batch?;
            let cells = C::of(&batch)?;
            let ids: Texts = batch.column("conversation_id")?;
            let positions: Numbers = batch.column("position")?;
            // The messages of a conversation are adjacent.
            let mut current: Option<(&str, Option<Range<usize>>)> = None;
            for row in 0..batch.rows() {
                let id = ids.at(row);
                let units = match current {
                    Some((known, units)) if known == id => units,
                    _ => corpus.units.of(id),
                };
                let number = units
                    .as_ref()
                    .map(|units| corpus.units.at(units, positions.at(row)));
                current = Some((id, units));
                if let Some(number) = number.filter(|number| is_wanted(*number)) {
                    visit(&cells, row, number)?;
                }
            }
        }
        Ok(())
    }
}
