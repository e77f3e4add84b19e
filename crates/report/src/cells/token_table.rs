//! Tokens as a table: the dialects of each coverage in rows, and a column per encoding. It contains data only; the layout is up to the
//! writers.

use chatmill_model::target_name;
use serde::Serialize;

use crate::cells::GroupKey;

/// The coverages in the order of tables: the id, the heading of its rows, and the text next to the name of a dialect.
const COVERAGES: [(&str, &str, &str); 3] = [
    ("whole", "Whole histories", "all messages"),
    ("window", "Windows of histories", "windows"),
    ("single-turn", "Single turns", "single turns"),
];

/// The rank of a coverage in tables: whole histories first, coverages that this version does not know last.
pub(crate) fn coverage_rank(id: &str) -> usize {
    let place = COVERAGES.iter().position(|coverage| coverage.0 == id);
    place.unwrap_or(usize::MAX)
}

/// The heading of the rows of a coverage; the id if this version does not know it.
pub(crate) fn heading(id: &str) -> &str {
    COVERAGES.get(coverage_rank(id)).map_or(id, |coverage| coverage.1)
}

/// A description of a coverage for newcomers; the id if this version does not know it.
pub fn shows(id: &str) -> &str {
    COVERAGES.get(coverage_rank(id)).map_or(id, |coverage| coverage.2)
}

/// A row: a dialect in one coverage.
#[derive(Serialize)]
pub struct TokenRow<C> {
    /// The dialect, with its profile if that is not the default.
    pub target: String,
    /// The value in each encoding of the table; `None` if the dialect was not counted in it.
    pub cells: Vec<Option<C>>,
}

impl<C> TokenRow<C> {
    /// The value in an encoding, given by its column.
    pub fn cell(&self, encoding: usize) -> Option<&C> {
        self.cells.get(encoding)?.as_ref()
    }
}

/// The dialects of one coverage; prices can be compared only within one.
#[derive(Serialize)]
pub struct CoverageRows<C> {
    /// Id of the coverage.
    pub coverage: String,
    /// The dialects, in the order in which they first came.
    pub rows: Vec<TokenRow<C>>,
}

impl<C> CoverageRows<C> {
    /// The rows, the cheapest first; rows with the same price keep their order.
    pub fn by_price(&self, price: impl Fn(&TokenRow<C>) -> f64) -> Vec<&TokenRow<C>> {
        let mut rows: Vec<&TokenRow<C>> = self.rows.iter().collect();
        rows.sort_by(|one, other| price(one).total_cmp(&price(other)));
        rows
    }
}

/// Prices by coverage, dialect and encoding, each in the order in which it first came.
#[derive(Serialize)]
pub struct TokenTable<C> {
    /// The encodings, which are the columns.
    pub encodings: Vec<String>,
    /// The coverages, which are groups of rows.
    pub coverages: Vec<CoverageRows<C>>,
}

impl<C> TokenTable<C> {
    /// A table without rows, which begins with these columns.
    pub fn new(encodings: &[String]) -> Self {
        Self {
            encodings: encodings.to_vec(),
            coverages: Vec::new(),
        }
    }

    /// The cell of a key, which is empty if the key is new. The `group` of the key is ignored.
    pub fn cell(&mut self, key: GroupKey<&str>) -> &mut Option<C> {
        let column = place(
            &mut self.encodings,
            |name| name == key.encoding,
            || key.encoding.to_owned(),
        )
        .0;
        let (_, coverage) = place(
            &mut self.coverages,
            |group| group.coverage == key.coverage,
            || CoverageRows {
                coverage: key.coverage.to_owned(),
                rows: Vec::new(),
            },
        );
        let target = target_name(key.dialect, key.profile);
        let (_, row) = place(
            &mut coverage.rows,
            |row| row.target == target,
            || TokenRow {
                target: target.clone(),
                cells: Vec::new(),
            },
        );
        if row.cells.len() <= column {
            row.cells.resize_with(column + 1, || None);
        }
        #[expect(clippy::indexing_slicing, reason = "the row was made long enough just now")]
        &mut row.cells[column]
    }
}

/// The entry that `is_it` selects, and its index; a new one is added at the end.
fn place<T>(list: &mut Vec<T>, is_it: impl FnMut(&T) -> bool, new: impl FnOnce() -> T) -> (usize, &mut T) {
    let index = list.iter().position(is_it).unwrap_or(list.len());
    if index == list.len() {
        list.push(new());
    }
    #[expect(
        clippy::indexing_slicing,
        reason = "it was found there, or put there just now"
    )]
    (index, &mut list[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(cells: &[(&'static str, &'static str, &'static str, f64)]) -> TokenTable<f64> {
        let mut table = TokenTable::new(&[]);
        for (dialect, coverage, encoding, price) in cells {
            let key = GroupKey {
                dialect: *dialect,
                profile: if *dialect == "tzurot" {
                    "v2-final"
                } else {
                    "document"
                },
                coverage,
                encoding,
                ..GroupKey::default()
            };
            *table.cell(key).get_or_insert_default() += price;
        }
        table
    }

    fn names(group: &CoverageRows<f64>) -> Vec<&str> {
        group.rows.iter().map(|row| row.target.as_str()).collect()
    }

    #[test]
    fn rows_of_one_coverage_stand_together_in_the_order_in_which_they_came() {
        let table = table(&[
            ("openai-chat", "whole", "a", 1.0),
            ("tzurot", "single-turn", "a", 1.0),
            ("openai-chat", "window", "a", 1.0),
            ("chatml", "whole", "a", 1.0),
        ]);
        let groups: Vec<(&str, Vec<&str>)> = table
            .coverages
            .iter()
            .map(|group| (group.coverage.as_str(), names(group)))
            .collect();
        assert_eq!(
            groups,
            [
                ("whole", vec!["openai-chat", "chatml"]),
                ("single-turn", vec!["tzurot@v2-final"]),
                ("window", vec!["openai-chat"]),
            ]
        );
    }

    #[test]
    fn encodings_are_columns_and_a_missing_one_leaves_its_cell_empty() {
        let table = table(&[
            ("chatml", "whole", "a", 1.0),
            ("chatml", "whole", "b", 2.0),
            ("chatml", "whole", "a", 4.0),
            ("suna-rows", "whole", "b", 8.0),
        ]);
        assert_eq!(table.encodings, ["a", "b"]);
        let rows = &table.coverages[0].rows;
        assert_eq!(rows[0].cells, [Some(5.0), Some(2.0)]);
        assert_eq!(
            (rows[1].cell(0), rows[1].cell(1), rows[1].cell(2)),
            (None, Some(&8.0), None)
        );
    }

    #[test]
    fn the_cheapest_comes_first_and_equal_prices_stay_in_their_order() {
        let table = table(&[
            ("d", "whole", "a", 3.0),
            ("c", "whole", "a", 1.0),
            ("b", "whole", "a", 3.0),
            ("a", "whole", "a", 2.0),
        ]);
        let sorted = table.coverages[0].by_price(|row| row.cell(0).copied().unwrap_or(f64::INFINITY));
        let names: Vec<&str> = sorted.iter().map(|row| row.target.as_str()).collect();
        assert_eq!(names, ["c", "a", "d", "b"]);
    }

    #[test]
    fn whole_histories_come_first_and_coverages_of_other_versions_last() {
        let mut ids = ["of-tomorrow", "single-turn", "window", "whole"];
        ids.sort_by_key(|id| coverage_rank(id));
        assert_eq!(ids, ["whole", "window", "single-turn", "of-tomorrow"]);
        assert_eq!(
            (heading("window"), shows("window")),
            ("Windows of histories", "windows")
        );
        assert_eq!(
            (heading("of-tomorrow"), shows("of-tomorrow")),
            ("of-tomorrow", "of-tomorrow")
        );
    }
}
