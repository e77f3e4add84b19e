//! A CSV file: one record per row. If no table map recognises the header, each row is one framing error.

use super::rows::CellsOf;
use super::{Framer, State};
use crate::stream::StreamError;
use crate::table::csv::{CsvStyle, Ends, Layout};

/// The state of a CSV file between events.
#[derive(Default)]
pub(super) struct Csv {
    /// How cells and rows end, if the entry is a table.
    style: Option<CsvStyle>,
    /// The columns, until the header has been skipped.
    header: Option<Vec<String>>,
    /// Whether no map knows the columns.
    is_unknown: bool,
}

impl Csv {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            style: Some(layout.style),
            header: Some(layout.columns),
            is_unknown: false,
        }
    }

    /// The state for a file that begins with `head` and has unknown columns.
    pub(super) fn unknown(head: &[u8]) -> Self {
        Self {
            style: Some(CsvStyle::likely(head)),
            header: Some(Vec::new()),
            is_unknown: true,
        }
    }
}

impl Framer {
    /// Cuts the next row. Empty lines and the header are separators.
    pub(super) fn next_csv_row(&mut self, buffer: &mut Vec<u8>) {
        let is_unknown = self.csv.is_unknown;
        let Some(style) = self.csv.style else {
            self.state = State::Over;
            return;
        };
        let header = self.csv.header.take();
        if header.is_some() {
            (0..style.before).for_each(|_| self.skip_separator());
        }
        if self
            .skip_separators(|byte| matches!(byte, b'\n' | b'\r'))
            .is_none()
        {
            self.finish(None, buffer);
            return;
        }
        let limit = if header.is_some() {
            u64::MAX
        } else {
            self.record_limit
        };
        let (mut unit, mut raw) = self.row_unit(limit);
        let mut ends = Ends::new(style);
        let mut is_ended = false;
        while !is_ended && self.window.ready() {
            let rest = self.window.rest();
            let end = ends.run(rest);
            // The line break is a separator.
            let count = end.map_or(rest.len(), |end| end.saturating_sub(1));
            self.take(&mut unit, count, &mut raw);
            is_ended = end.is_some();
        }
        if header.is_some() {
            self.separators += unit.length();
            self.rows.raw = raw;
            if !is_unknown {
                self.aim(None, header, None);
                if self
                    .skip_separators(|byte| matches!(byte, b'\n' | b'\r'))
                    .is_some()
                {
                    self.sample(CellsOf::Csv(style), |text| Some(0..Ends::new(style).run(text)?));
                }
            }
            return;
        }
        let cut = (!is_ended).then(|| {
            let cut = || StreamError::incomplete("the file ends inside a row");
            (
                self.window.is_broken(),
                self.window.take_broken().unwrap_or_else(cut),
            )
        });
        match cut {
            Some((is_broken, cut)) if is_broken || ends.is_quoted() => self.reject_row(unit, raw, &cut),
            cut => {
                let cut = cut.filter(|_| !is_unknown).map(|(_, cut)| cut);
                self.end_row(unit, raw, CellsOf::Csv(style), cut);
            }
        }
    }
}
