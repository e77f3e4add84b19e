//! Compares the savings that the documentation of a dialect claims with the counted tokens.

use std::collections::BTreeMap;

use super::BillRow;

/// A saving that the documentation of a dialect claims over another dialect.
#[derive(Debug)]
pub struct Claim {
    /// The dialect that saves.
    pub dialect: &'static str,
    /// The dialect that it is compared with.
    pub against: &'static str,
    /// The claimed saving in percent.
    pub percent: f64,
    /// The document, and how its figure was computed.
    pub origin: &'static str,
}

/// The known claims.
const CLAIMS: &[Claim] = &[Claim {
    dialect: "gryag-compact",
    against: "gryag-gemini",
    percent: 73.7,
    origin: "the gryag document, words × 1.3 on one example of three messages",
}];

/// A claim, and the counted saving.
#[derive(Debug)]
pub struct Saving {
    /// The claim.
    pub claim: &'static Claim,
    /// The group; empty if the bill has no groups.
    pub group: String,
    /// The encoding.
    pub encoding: String,
    /// The counted saving per message in percent; negative if the dialect needs more.
    pub percent: f64,
}

/// Compares the rows of a bill with the claims; empty if the bill lacks one of the dialects.
pub fn savings(rows: &[BillRow]) -> Vec<Saving> {
    let mut savings = Vec::new();
    let key = |row: &'_ BillRow| {
        let BillRow {
            group, second, cell, ..
        } = row;
        [group, second, &cell.coverage, &cell.encoding].map(String::clone)
    };
    for claim in CLAIMS {
        let of = |dialect| rows.iter().filter(move |row| row.cell.dialect == dialect);
        // If the other dialect has several profiles, the first is used.
        let others: BTreeMap<_, _> = of(claim.against).rev().map(|other| (key(other), other)).collect();
        for row in of(claim.dialect) {
            let other = others.get(&key(row));
            if let Some(other) = other.filter(|other| other.cell.per_message > 0.0) {
                savings.push(Saving {
                    claim,
                    group: row.group.clone(),
                    encoding: row.cell.encoding.clone(),
                    percent: (1.0 - row.cell.per_message / other.cell.per_message) * 100.0,
                });
            }
        }
    }
    savings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TokenCell;

    fn row(dialect: &str, encoding: &str, per_message: f64) -> BillRow {
        BillRow {
            cell: TokenCell {
                dialect: dialect.to_owned(),
                encoding: encoding.to_owned(),
                coverage: "whole".to_owned(),
                per_message,
                ..TokenCell::default()
            },
            ..BillRow::default()
        }
    }

    #[test]
    fn a_claim_is_compared_within_one_encoding() {
        let rows = [
            row("gryag-gemini", "cl100k_base", 50.0),
            row("gryag-gemini", "o200k_base", 40.0),
            row("gryag-compact", "o200k_base", 30.0),
        ];
        let found = savings(&rows);
        assert_eq!(found.len(), 1);
        assert!((found[0].percent - 25.0).abs() < 1e-9);
        assert!(savings(&rows[..2]).is_empty());
    }
}
