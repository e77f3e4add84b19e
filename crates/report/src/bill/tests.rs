//! Sums, ratios and totals of bills.

use super::*;

fn rows_of(entries: &[(&str, &str, u64, u64)]) -> Vec<BillRow> {
    let mut bill = Bill::default();
    for (dialect, coverage, messages, tokens) in entries {
        let key = GroupKey {
            dialect: *dialect,
            coverage: *coverage,
            profile: "document",
            encoding: "o200k_base",
            ..GroupKey::default()
        };
        let entry = BillEntry {
            renderings: 1,
            whole: Some(*tokens),
            messages: *messages,
            token_counts: TokenCounts {
                tokens: *tokens,
                ..TokenCounts::default()
            },
            ..BillEntry::default()
        };
        bill.add(key, &entry);
    }
    bill.rows()
}

#[test]
fn ratios_compare_with_the_cheapest_dialect_of_the_same_coverage() {
    let rows = rows_of(&[
        ("tzurot", "single-turn", 1, 3),
        ("openai-chat", "whole", 10, 400),
        ("gryag-compact", "whole", 10, 100),
        ("openai-chat", "whole", 10, 200),
    ]);
    let found: Vec<(&str, u64, f64, f64)> = rows
        .iter()
        .map(|row| {
            let cell = &row.cell;
            (cell.dialect.as_str(), cell.tokens, cell.per_message, cell.ratio)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("openai-chat", 600, 30.0, 3.0),
            ("gryag-compact", 100, 10.0, 1.0),
            ("tzurot", 3, 3.0, 1.0),
        ]
    );
}

#[test]
fn the_rest_and_the_total_add_up_to_all_tokens() {
    let mut bill = Bill::default();
    for (group, tokens) in [("a", 5), ("b", 50), ("c", 7), ("b", 1)] {
        let key = GroupKey {
            group,
            ..GroupKey::default()
        };
        let token_counts = TokenCounts {
            tokens,
            ..TokenCounts::default()
        };
        bill.add(
            key,
            &BillEntry {
                renderings: 1,
                whole: Some(tokens),
                token_counts,
                ..BillEntry::default()
            },
        );
    }
    let shown = |bill: &Bill| -> Vec<(String, u64, u64)> {
        let rows = bill.rows().into_iter();
        rows.map(|row| (row.group, row.cell.renderings, row.cell.tokens))
            .collect()
    };
    assert_eq!(
        shown(&bill.top(1)),
        [(REST.to_owned(), 2, 12), ("b".to_owned(), 2, 51)]
    );
    assert_eq!(shown(&bill.top(3)), shown(&bill));
    assert_eq!(shown(&bill.total()), [(String::new(), 4, 63)]);
    assert_eq!(shown(&bill.top(0)), [(REST.to_owned(), 4, 63)]);
}

#[test]
fn a_bill_of_no_messages_has_means_and_ratios_of_zero() {
    let rows = rows_of(&[("openai-chat", "whole", 0, 0)]);
    let cell = &rows[0].cell;
    assert_eq!((cell.per_message, cell.ratio, cell.mean), (0.0, 0.0, 0.0));
}
