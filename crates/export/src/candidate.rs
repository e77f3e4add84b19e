//! The renderings that an export chooses from: read from the tables of a dataset, or made of them by somebody else.

use std::ops::Range;

use chatmill_dataset::{Columns, Dataset, Flags, Numbers, Spans, TextLists, Texts, columns};

use crate::envelope::ExportRow;
use crate::error::ExportError;
use crate::filter::Facts;
use crate::request::RenderedAs;

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

/// A rendering with what its row says.
pub(crate) struct Candidate<'a> {
    key: ExportRow<'a>,
    /// Why it is left out, where whoever made it says so.
    pub(crate) left_out: Option<&'a str>,
    pub(crate) facts: Facts<'a>,
    /// Bytes of its text that the perspective says.
    pub(crate) spans: Vec<Range<u64>>,
    /// Those of them that are learned.
    pub(crate) learned: Vec<Range<u64>>,
    /// Whether the run kept its text.
    pub(crate) has_content: bool,
    /// Whether the text is JSON.
    pub(crate) is_json: bool,
}

impl<'a> Candidate<'a> {
    /// A rendering that somebody made.
    pub(crate) fn made(dialect: &'a str, is_json: bool, made: &MadeRendering<'a>) -> Self {
        Self {
            key: ExportRow {
                conversation: made.conversation,
                dialect,
                perspective: made.perspective,
                ordinal: made.ordinal,
                content: made.content.unwrap_or_default(),
                assistant_spans: &[],
                learned_spans: &[],
                rejected: made.rejected,
                label: made.label,
            },
            left_out: made.left_out,
            facts: Facts {
                is_valid: made.violations.is_empty(),
                violations: made.violations.to_vec(),
                last_role: made.last_role,
                tokens: made.tokens,
                loss_codes: made.loss_codes.iter().map(|code| (*code).to_owned()).collect(),
            },
            spans: made.assistant_spans.to_vec(),
            learned: made.learned_spans.to_vec(),
            has_content: made.content.is_some(),
            is_json,
        }
    }

    /// The rendering as an envelope sees it.
    pub(crate) fn row(&self) -> ExportRow<'_> {
        ExportRow {
            assistant_spans: &self.spans,
            learned_spans: &self.learned,
            ..self.key
        }
    }
}

/// A rendering that the dataset does not hold, and somebody made of it.
#[derive(Debug, Default)]
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
    maker.each(&mut |made| visit(&Candidate::made(dialect, is_json, made)))
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
        let tokens = tokens.map(|name| batch.numbers(name)).transpose()?;
        let is_wanted = |row: &usize| {
            cells.dialect.at(*row) == rendered.dialect && cells.profile.at(*row) == rendered.profile
        };
        for row in (0..batch.rows()).filter(is_wanted) {
            visit(&Candidate {
                key: ExportRow {
                    conversation: cells.conversation_id.at(row),
                    dialect: cells.dialect.at(row),
                    perspective: cells.perspective.at(row),
                    ordinal: cells.ordinal.at(row),
                    content: cells.content.at(row),
                    assistant_spans: &[],
                    learned_spans: &[],
                    rejected: None,
                    label: None,
                },
                left_out: None,
                facts: Facts {
                    is_valid: cells.valid.at(row),
                    violations: cells.violations.at(row),
                    last_role: cells.last_role.get(row),
                    tokens: tokens.as_ref().map_or(0, |tokens| tokens.at(row)),
                    loss_codes: cells.loss_codes.at(row),
                },
                spans: cells.assistant_spans.at(row),
                learned: cells.learned_spans.at(row),
                has_content: cells.content.get(row).is_some(),
                is_json: cells.media_type.at(row) == "application/json",
            })?;
        }
    }
    Ok(())
}
