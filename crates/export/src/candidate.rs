//! The renderings that an export chooses from: read from the tables of a dataset, or made of them by somebody else.

use std::ops::Range;

use chatmill_dataset::{Columns, Dataset, Flags, Numbers, Spans, TextLists, Texts, columns};

use crate::envelope::ExportRow;
use crate::error::ExportError;

columns! {
    /// What is read of `renderings`.
    struct CandidateColumns {
        conversation_id: Texts,
        dialect: Texts,
        profile: Texts,
        perspective: Texts,
        ordinal: Numbers,
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

/// A dialect and a profile that a dataset holds.
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

/// A rendering with what its row says.
pub(crate) struct Candidate<'a> {
    pub(crate) made: &'a MadeRendering<'a>,
    pub(crate) dialect: &'a str,
    /// Whether it keeps the rules of its dialect.
    pub(crate) is_valid: bool,
    /// Whether the text is JSON.
    pub(crate) is_json: bool,
}

impl<'a> Candidate<'a> {
    /// The rendering as an envelope sees it; one whose text the run did not keep is empty.
    pub(crate) fn row(&self) -> ExportRow<'a> {
        let made = self.made;
        ExportRow {
            conversation: made.conversation,
            dialect: self.dialect,
            perspective: made.perspective,
            ordinal: made.ordinal,
            content: made.content.unwrap_or(""),
            assistant_spans: made.assistant_spans,
            learned_spans: made.learned_spans,
            rejected: made.rejected,
            label: made.label,
        }
    }
}

/// A rendering that the dataset does not hold, and somebody made of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct MadeRendering<'a> {
    /// Id of its conversation.
    pub conversation: &'a str,
    /// Participant who is the assistant, empty for none.
    pub perspective: &'a str,
    /// Its place among the renderings of this key.
    pub ordinal: u64,
    /// Its text; none where it is not kept.
    pub content: Option<&'a str>,
    /// Bytes of it that the assistant says.
    pub assistant_spans: &'a [Range<u64>],
    /// Those that are learned.
    pub learned_spans: &'a [Range<u64>],
    /// Role of its last turn.
    pub last_role: Option<&'a str>,
    /// Codes of what it lost.
    pub loss_codes: &'a [&'a str],
    /// Rules of its dialect that it breaks.
    pub violations: &'a [String],
    /// Tokens in the encoding by which length is judged; 0 without one.
    pub tokens: u64,
    /// The text with a worse answer, of a pair.
    pub rejected: Option<&'a str>,
    /// Whether its answer is good, of labelled ones.
    pub label: Option<bool>,
    /// Why it is left out.
    pub left_out: Option<&'a str>,
}

/// Who makes renderings of a dataset that it does not hold, in the order in which its run would have written them.
pub trait Maker {
    /// Their dialect.
    fn dialect(&self) -> &str;

    /// Its profile.
    fn profile(&self) -> &str;

    /// Whether their text is JSON.
    fn is_json(&self) -> bool;

    /// Visits them; the first error ends it.
    fn each(
        &self,
        visit: &mut dyn FnMut(&MadeRendering<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError>;
}

/// Visits the renderings that somebody makes.
pub(crate) fn each_made(
    maker: &dyn Maker,
    visit: &mut dyn FnMut(&Candidate<'_>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let (dialect, is_json) = (maker.dialect(), maker.is_json());
    maker.each(&mut |made| {
        visit(&Candidate {
            made,
            dialect,
            is_valid: made.violations.is_empty(),
            is_json,
        })
    })
}

/// Visits the renderings of a dialect in the order of the dataset; `tokens` names the column by which length is judged.
pub(crate) fn each(
    dataset: &Dataset,
    rendered: &RenderedAs,
    tokens: Option<&str>,
    visit: &mut dyn FnMut(&Candidate<'_>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut names = CandidateColumns::names();
    names.extend(tokens);
    for batch in dataset.batches("renderings", &names) {
        let batch = batch?;
        let cells = CandidateColumns::of(&batch)?;
        let tokens: Option<Numbers> = tokens.map(|name| batch.column(name)).transpose()?;
        let is_wanted = |row: &usize| {
            cells.dialect.at(*row) == rendered.dialect && cells.profile.at(*row) == rendered.profile
        };
        for row in (0..batch.rows()).filter(is_wanted) {
            let loss_codes = cells.loss_codes.at(row);
            let loss_codes: Vec<&str> = loss_codes.iter().map(String::as_str).collect();
            let made = MadeRendering {
                conversation: cells.conversation_id.at(row),
                perspective: cells.perspective.at(row),
                ordinal: cells.ordinal.at(row),
                content: cells.content.get(row),
                assistant_spans: &cells.assistant_spans.at(row),
                learned_spans: &cells.learned_spans.at(row),
                last_role: cells.last_role.get(row),
                loss_codes: &loss_codes,
                violations: &cells.violations.at(row),
                tokens: tokens.as_ref().map_or(0, |tokens| tokens.at(row)),
                ..MadeRendering::default()
            };
            visit(&Candidate {
                made: &made,
                dialect: cells.dialect.at(row),
                is_valid: cells.valid.at(row),
                is_json: cells.media_type.at(row) == "application/json",
            })?;
        }
    }
    Ok(())
}
