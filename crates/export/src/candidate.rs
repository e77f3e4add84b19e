//! The renderings that an export chooses from, read from the tables of a dataset.

use std::ops::Range;

use chatmill_dataset::{Batch, Dataset, DatasetError, Flags, Numbers, Spans, TextLists, Texts};

use crate::envelope::ExportRow;
use crate::filter::Facts;
use crate::request::RenderedAs;

const COLUMNS: [&str; 13] = [
    "conversation_id",
    "dialect",
    "profile",
    "perspective",
    "ordinal",
    "media_type",
    "content",
    "last_role",
    "assistant_spans",
    "learned_spans",
    "loss_codes",
    "valid",
    "violations",
];

/// A rendering with what its row says.
pub(crate) struct Candidate<'a> {
    key: ExportRow<'a>,
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

impl Candidate<'_> {
    /// The rendering as an envelope sees it.
    pub(crate) fn row(&self) -> ExportRow<'_> {
        ExportRow {
            assistant_spans: &self.spans,
            learned_spans: &self.learned,
            ..self.key
        }
    }
}

/// Visits the renderings of a dialect in the order of the dataset; `tokens` names the column by which length is judged.
pub(crate) fn each(
    dataset: &Dataset,
    rendered: &RenderedAs,
    tokens: Option<&str>,
    visit: &mut dyn FnMut(&Candidate<'_>) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let mut names = COLUMNS.to_vec();
    names.extend(tokens);
    for batch in dataset.batches("renderings", &names) {
        let batch = batch?;
        let cells = Cells::of(&batch, tokens)?;
        for row in 0..batch.rows() {
            if cells.dialect.at(row) == rendered.dialect && cells.profile.at(row) == rendered.profile {
                visit(&cells.candidate(row))?;
            }
        }
    }
    Ok(())
}

/// The columns of a batch.
struct Cells {
    conversation: Texts,
    dialect: Texts,
    profile: Texts,
    perspective: Texts,
    ordinal: Numbers,
    media_type: Texts,
    content: Texts,
    last_role: Texts,
    spans: Spans,
    learned: Spans,
    losses: TextLists,
    valid: Flags,
    violations: TextLists,
    tokens: Option<Numbers>,
}

impl Cells {
    fn of(batch: &Batch, tokens: Option<&str>) -> Result<Self, DatasetError> {
        Ok(Self {
            conversation: batch.texts("conversation_id")?,
            dialect: batch.texts("dialect")?,
            profile: batch.texts("profile")?,
            perspective: batch.texts("perspective")?,
            ordinal: batch.numbers("ordinal")?,
            media_type: batch.texts("media_type")?,
            content: batch.texts("content")?,
            last_role: batch.texts("last_role")?,
            spans: batch.spans("assistant_spans")?,
            learned: batch.spans("learned_spans")?,
            losses: batch.text_lists("loss_codes")?,
            valid: batch.flags("valid")?,
            violations: batch.text_lists("violations")?,
            tokens: tokens.map(|name| batch.numbers(name)).transpose()?,
        })
    }

    fn candidate(&self, row: usize) -> Candidate<'_> {
        let content = self.content.get(row);
        Candidate {
            key: ExportRow {
                conversation: self.conversation.at(row),
                dialect: self.dialect.at(row),
                perspective: self.perspective.at(row),
                ordinal: self.ordinal.at(row),
                content: content.unwrap_or_default(),
                assistant_spans: &[],
                learned_spans: &[],
            },
            facts: Facts {
                is_valid: self.valid.at(row),
                violations: self.violations.at(row),
                last_role: self.last_role.get(row),
                tokens: self.tokens.as_ref().map_or(0, |tokens| tokens.at(row)),
                loss_codes: self.losses.at(row),
            },
            spans: self.spans.at(row),
            learned: self.learned.at(row),
            has_content: content.is_some(),
            is_json: self.media_type.at(row) == "application/json",
        }
    }
}
