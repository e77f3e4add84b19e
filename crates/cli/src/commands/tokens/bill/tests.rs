//! Bills of a few rows, as tables, JSON and CSV.

use super::*;
use chatmill_report::bill::PricedPart;
use chatmill_report::report::TokenCell;

fn row(group: &str, tokens: u64) -> BillRow {
    BillRow {
        group: group.to_owned(),
        cell: TokenCell {
            dialect: "openai-chat".to_owned(),
            profile: "document".to_owned(),
            encoding: "o200k_base".to_owned(),
            tokens,
            requests: 2,
            tokens_sent: 2 * tokens,
            assistant_content: tokens / 16,
            written: tokens / 16,
            ..TokenCell::default()
        },
        is_spread: true,
        parts: vec![PricedPart {
            tokens,
            sent: 2 * tokens,
            written: tokens / 16,
            requests: 2,
            ..PricedPart::default()
        }],
        ..BillRow::default()
    }
}

static COUNTED: ReadProblems = ReadProblems {
    count: 0,
    first: Vec::new(),
    warnings: Vec::new(),
    notes: Vec::new(),
    failures: Vec::new(),
};

fn lines<'b>(by: &'b [BillBy], rows: &'b [BillRow], prices: &'b PriceList) -> BillLines<'b> {
    BillLines {
        by,
        text: false,
        total: &[],
        columns: usize::MAX,
        rows,
        prices,
        shown_model: &str::to_owned,
        savings: &[],
        not_counted: &COUNTED,
    }
}

#[test]
fn days_come_in_order_and_other_groups_by_price() {
    let rows = [row("2026-02-01", 5), row("2026-01-01", 1), row("2026-03-01", 3)];
    let order = |by: BillBy| -> Vec<u64> {
        let by = [by];
        let none = PriceList::default();
        let lines = lines(&by, &rows, &none);
        lines.sorted().iter().map(|row| row.cell.tokens).collect()
    };
    assert_eq!(order(BillBy::Day), [1, 5, 3]);
    assert_eq!(order(BillBy::Source), [5, 3, 1]);
}

#[test]
fn every_column_of_a_spreadsheet_is_a_field_for_programs() {
    let rows = [row("", 5)];
    let csv = lines(&[], &rows, &PriceList::default()).csv();
    let cells = csv.lines().map(|line| line.split(',').count());
    assert_eq!(cells.collect::<Vec<_>>(), [CSV.len() + 1 + LATER.len(); 2]);
}

#[test]
fn money_is_only_for_tokens_of_its_encoding() {
    let rows = [row("", 2_000_000)];
    let price = |encoding: &str| {
        format!(
            "[[price]]\nmodel = \"m\"\nencoding = \"{encoding}\"\ncurrency = \"USD\"\nper_million = 1.25\n\
             per_million_output = 10\ndate = \"2026-01-31\"\nsource = \"us\"\n"
        )
    };
    let prices = price("o200k_base") + &price("cl100k_base");
    let prices = PriceList::parse(&prices, &[]).unwrap();
    let lines = lines(&[], &rows, &prices);
    assert!(
        lines.csv().ends_with(",2.500000,6.250000,,,0,0,0,0,\n"),
        "{}",
        lines.csv()
    );
    assert_eq!(lines.json()["rows"][0]["money"][0]["amount"], 2.5);
    assert_eq!(lines.json()["rows"][0]["money"][0]["as_served_estimate"], 6.25);
    assert_eq!(lines.json()["rows"][0]["money"].as_array().unwrap().len(), 1);
    let table = lines.table();
    assert!(table.contains("as of 2026-01-31 (us)"), "{table}");
    assert!(table.contains("6.25") && table.contains("an estimate"), "{table}");
}
