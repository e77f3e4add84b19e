//! The number of occurrences of each loss of a rendering, from the table `losses`.

use chatmill_dataset::{Batches, Columns, Dataset, Numbers, Texts, columns};
use chatmill_dialect::{LossAmounts, LossCode};

use crate::candidate::{RenderedAs, RenderingFacts};
use crate::error::ExportError;

columns! {
    /// Columns that are read from `losses`.
    struct LossColumns {
        conversation_id: Texts,
        dialect: Texts,
        profile: Texts,
        perspective: Texts,
        ordinal: Numbers,
        code: Texts,
        amount: Numbers,
    }
}

/// A walk along the table `losses`, which is sorted like the table `renderings`.
pub(crate) struct LossWalk<'d> {
    /// `None` if the dataset does not have the table.
    batches: Option<Batches<'d>>,
    rendered: &'d RenderedAs,
    batch: Option<LossColumns>,
    /// The next row of the batch, and the number of its rows.
    next: usize,
    rows: usize,
    amounts: LossAmounts,
}

impl<'d> LossWalk<'d> {
    /// Begins the walk, for a dialect and a profile.
    pub(crate) fn new(dataset: &'d Dataset, rendered: &'d RenderedAs) -> Self {
        let has_table = dataset.has("losses");
        Self {
            batches: has_table.then(|| dataset.batches("losses", &LossColumns::names())),
            rendered,
            batch: None,
            next: 0,
            rows: 0,
            amounts: LossAmounts::new(),
        }
    }

    /// The occurrences of each loss of the next rendering; `None` if they are not known.
    pub(crate) fn amounts<'a>(
        &'a mut self,
        rendering: &RenderingFacts<'a>,
    ) -> Result<Option<&'a LossAmounts>, ExportError> {
        if rendering.amounts.is_some() {
            return Ok(rendering.amounts);
        }
        let Some(batches) = &mut self.batches else {
            return Ok(None);
        };
        self.amounts.clear();
        loop {
            if let Some(cells) = &self.batch {
                while self.next < self.rows {
                    let row = self.next;
                    let is_of_others = cells.dialect.at(row) != self.rendered.dialect
                        || cells.profile.at(row) != self.rendered.profile;
                    if !is_of_others {
                        let is_its = cells.conversation_id.at(row) == rendering.conversation
                            && cells.perspective.at(row) == rendering.perspective
                            && cells.ordinal.at(row) == rendering.ordinal;
                        if !is_its {
                            return Ok(Some(&self.amounts));
                        }
                        if let Some(code) = LossCode::find(cells.code.at(row)) {
                            *self.amounts.entry(code).or_default() += cells.amount.at(row);
                        }
                    }
                    self.next += 1;
                }
            }
            let Some(batch) = batches.next().transpose()? else {
                return Ok(Some(&self.amounts));
            };
            (self.next, self.rows) = (0, batch.rows());
            self.batch = Some(LossColumns::of(&batch)?);
        }
    }
}
