//! The renderings that an export chooses from: rows of the table `renderings`, or renderings of a [`Maker`].

use std::ops::Range;

use chatmill_dataset::{AnyColumn, Columns, Dataset, Flags, Numbers, Spans, TextLists, Texts, columns};
use chatmill_dialect::LossAmounts;
use chatmill_model::LabelBasis;

use crate::envelope::ExportRow;
use crate::error::ExportError;

columns! {
    /// Columns that are read from `renderings`.
    struct CandidateColumns {
        conversation_id: Texts,
        dialect: Texts,
        profile: Texts,
        perspective: Texts,
        ordinal: Numbers,
        first_position: Numbers,
        last_position: Numbers,
        media_type: Texts,
        content: Texts,
        last_role: Texts,
        assistant_spans: Spans,
        learned_spans: Spans,
        loss_codes: TextLists,
        valid: Flags,
        violations: TextLists,
    }
}

/// A dialect and a profile of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RenderedAs {
    pub(crate) dialect: String,
    pub(crate) profile: String,
}

impl RenderedAs {
    pub(crate) fn spec(&self) -> String {
        format!("{}@{}", self.dialect, self.profile)
    }
}

/// A rendering with its dialect and its validity.
pub(crate) struct Candidate<'a> {
    pub(crate) rendering: &'a RenderingFacts<'a>,
    pub(crate) dialect: &'a str,
    /// Whether the rendering keeps the rules of its dialect.
    pub(crate) is_valid: bool,
    /// Whether the text is JSON.
    pub(crate) is_json: bool,
}

impl<'a> Candidate<'a> {
    /// The rendering as an envelope reads it; empty if the run stored no text.
    pub(crate) fn row(&self) -> ExportRow<'a> {
        let rendering = self.rendering;
        ExportRow {
            conversation: rendering.conversation,
            dialect: self.dialect,
            perspective: rendering.perspective,
            ordinal: rendering.ordinal,
            content: rendering.content.unwrap_or(""),
            assistant_spans: rendering.assistant_spans,
            learned_spans: rendering.learned_spans,
            rejected: rendering.rejected,
            label: rendering.label.map(|(is_good, _)| is_good),
            extra: None,
        }
    }
}

/// A rendering: text, key and the facts that filters read.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderingFacts<'a> {
    /// Id of its conversation.
    pub conversation: &'a str,
    /// Participant who is the assistant, empty for none.
    pub perspective: &'a str,
    /// The number of the rendering among those of this key.
    pub ordinal: u64,
    /// The positions of the first and the last message that it shows, if it shows any.
    pub shown: Option<(u64, u64)>,
    /// The text; `None` if the run stored no text.
    pub content: Option<&'a str>,
    /// Ranges of bytes that are the assistant's text.
    pub assistant_spans: &'a [Range<u64>],
    /// The spans that are trained on.
    pub learned_spans: &'a [Range<u64>],
    /// Role of its last turn.
    pub last_role: Option<&'a str>,
    /// Codes of its losses.
    pub loss_codes: &'a [&'a str],
    /// The number of occurrences of each loss, if a [`Maker`] knows it.
    pub amounts: Option<&'a LossAmounts>,
    /// Rules of its dialect that it breaks.
    pub violations: &'a [String],
    /// Tokens in the encoding of `--max-tokens`; 0 without one.
    pub tokens: u64,
    /// For a pair, the text with the rejected answer.
    pub rejected: Option<&'a str>,
    /// For a labelled answer, whether it is good, and the basis of the label.
    pub label: Option<(bool, LabelBasis)>,
    /// The reason for which it is left out.
    pub left_out: Option<&'a str>,
    /// The JSON of further columns of the table `renderings`, if it has a row there.
    pub columns: &'a [String],
}

/// Renders conversations of a dataset in a dialect that its run did not write, in the order of the dataset.
pub trait Maker {
    /// The dialect of the renderings.
    fn dialect(&self) -> &str;

    /// The profile of the dialect.
    fn profile(&self) -> &str;

    /// Whether the text of the renderings is JSON.
    fn is_json(&self) -> bool;

    /// Visits the renderings; the first error ends the walk.
    fn each(
        &self,
        visit: &mut dyn FnMut(&RenderingFacts<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError>;
}

/// Visits the renderings of a maker.
pub(crate) fn each_of_maker(
    maker: &dyn Maker,
    visit: &mut dyn FnMut(&Candidate<'_>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let (dialect, is_json) = (maker.dialect(), maker.is_json());
    maker.each(&mut |rendering| {
        visit(&Candidate {
            rendering,
            dialect,
            is_valid: rendering.violations.is_empty(),
            is_json,
        })
    })
}

/// Visits the renderings of a dialect in the order of the dataset; `tokens` names the column of their lengths, `more` further columns.
pub(crate) fn each(
    dataset: &Dataset,
    rendered: &RenderedAs,
    tokens: Option<&str>,
    more: &[String],
    visit: &mut dyn FnMut(&Candidate<'_>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut names = CandidateColumns::names();
    names.extend(tokens);
    names.extend(more.iter().map(String::as_str));
    for batch in dataset.batches("renderings", &names) {
        let batch = batch?;
        let cells = CandidateColumns::of(&batch)?;
        let tokens: Option<Numbers> = tokens.map(|name| batch.column(name)).transpose()?;
        let more = more.iter().map(|name| batch.column(name));
        let more: Vec<AnyColumn> = more.collect::<Result<_, _>>()?;
        let is_wanted = |row: &usize| {
            cells.dialect.at(*row) == rendered.dialect && cells.profile.at(*row) == rendered.profile
        };
        for row in (0..batch.rows()).filter(is_wanted) {
            let loss_codes = cells.loss_codes.at(row);
            let loss_codes: Vec<&str> = loss_codes.iter().map(String::as_str).collect();
            let columns: Vec<String> = more.iter().map(|cells| cells.json(row)).collect();
            let rendering = RenderingFacts {
                columns: &columns,
                conversation: cells.conversation_id.at(row),
                perspective: cells.perspective.at(row),
                ordinal: cells.ordinal.at(row),
                shown: cells.first_position.get(row).zip(cells.last_position.get(row)),
                content: cells.content.get(row),
                assistant_spans: &cells.assistant_spans.at(row),
                learned_spans: &cells.learned_spans.at(row),
                last_role: cells.last_role.get(row),
                loss_codes: &loss_codes,
                violations: &cells.violations.at(row),
                tokens: tokens.as_ref().map_or(0, |tokens| tokens.at(row)),
                ..RenderingFacts::default()
            };
            visit(&Candidate {
                rendering: &rendering,
                dialect: cells.dialect.at(row),
                is_valid: cells.valid.at(row),
                is_json: cells.media_type.at(row) == "application/json",
            })?;
        }
    }
    Ok(())
}
