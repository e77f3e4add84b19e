//! `README.md` of a dataset: a card whose front matter makes every table with rows a configuration that loaders know. They refuse to
//! load one without.

use std::fmt::Write;

use chatmill_dataset::{Dataset, TABLES, describe};

use crate::html::markup::{bytes, count, counted};
use crate::markdown::{code, plain, scalar};
use crate::report::Report;

/// The table with what the dialects say.
const RENDERINGS: &str = "renderings";
/// The tables that a loader takes when it is told none, the first that is there.
const DEFAULTS: [&str; 3] = ["messages", RENDERINGS, "conversations"];

/// A table of the dataset, as the card names it.
struct TableLine<'d> {
    name: &'d str,
    /// Whether its files stand in folders of their own.
    is_parted: bool,
    rows: u64,
    bytes: u64,
}

/// Writes the card.
pub(crate) fn card(dataset: &Dataset, report: &Report) -> String {
    let tables: Vec<TableLine<'_>> = dataset
        .manifest()
        .tables
        .iter()
        .map(|table| TableLine {
            name: &table.name,
            is_parted: dataset.is_parted(&table.name),
            rows: dataset.rows(&table.name),
            bytes: table.bytes,
        })
        .collect();
    write(&tables, report)
}

fn write(tables: &[TableLine<'_>], report: &Report) -> String {
    let mut card = String::from("---\n");
    // Writing to a String cannot fail.
    let _ = writeln!(card, "pretty_name: {}", scalar(&report.run.name));
    card.push_str("tags:\n- chatmill\n");
    let default = default(tables);
    let mut key = "configs:\n";
    for table in tables.iter().filter(|table| table.rows > 0) {
        card.push_str(std::mem::take(&mut key));
        // Names of ours need no quotation marks.
        let is_ours = TABLES.contains(&table.name);
        let word = |text: &str| if is_ours { text.to_owned() } else { scalar(text) };
        let _ = writeln!(card, "- config_name: {}", word(table.name));
        if table.name == default {
            card.push_str("  default: true\n");
        }
        let folders = if table.is_parted { "*/" } else { "" };
        let path = format!("{}/{folders}*.parquet", table.name);
        let _ = write!(
            card,
            "  data_files:\n  - split: train\n    path: {}\n",
            word(&path)
        );
    }
    card.push_str("---\n\n");
    body(&mut card, tables, report);
    card
}

fn body(card: &mut String, tables: &[TableLine<'_>], report: &Report) {
    let run = &report.run;
    let _ = write!(
        card,
        "# {}\n\n{} with {}, and {} of them in {}, written by chatmill {}. \
         `report.html` shows what is in it, `report.json` has the same figures for programs, and `manifest.json` names \
         every input and every file with its hash.\n\n",
        plain(&run.name),
        counted(run.conversations, "conversation"),
        counted(run.messages, "message"),
        counted(run.renderings, "rendering"),
        counted(run.dialects.len() as u64, "dialect"),
        plain(&run.version),
    );
    examples(card, tables);
    card.push_str("| Table | Rows | Bytes | A row is |\n|---|---:|---:|---|\n");
    for table in tables {
        let _ = writeln!(
            card,
            "| {} | {} | {} | {} |",
            if TABLES.contains(&table.name) {
                code(table.name)
            } else {
                plain(table.name)
            },
            count(table.rows),
            bytes(table.bytes),
            about(table.name)
        );
    }
    if !run.absent_tables.is_empty() {
        let names: Vec<String> = run.absent_tables.iter().map(|table| code(table)).collect();
        let _ = writeln!(card, "\nThe pipeline leaves out {}.", names.join(", "));
    }
    empty(card, tables);
    served(card, report);
    let _ = write!(
        card,
        "\nRecords read: {}; accepted {}, rejected {}, filtered {}. What was rejected stands in `rejects`, and why in \
         `findings`.\n\nFingerprint of the run: {}.\n",
        count(report.balance.framed),
        count(report.balance.accepted),
        count(report.balance.rejected),
        count(report.balance.filtered),
        code(&run.fingerprint),
    );
}

/// Which tables have no rows, and how one is opened all the same.
fn empty(card: &mut String, tables: &[TableLine<'_>]) {
    let empty = tables.iter().filter(|table| table.rows == 0);
    let names: Vec<String> = empty.map(|table| code(table.name)).collect();
    if let Some(first) = tables.iter().find(|table| table.rows == 0) {
        let folders = if first.is_parted { "**/" } else { "" };
        let path = format!("{}/{folders}*.parquet", first.name);
        let _ = writeln!(
            card,
            "\nWithout rows: {}. `load_dataset` takes the files of such a table with `streaming=True`, and {}, {} and {} read their columns.",
            names.join(", "),
            code("pyarrow.dataset.dataset(\"FOLDER\")"),
            code(&format!("polars.scan_parquet(\"{path}\")")),
            code(&format!("SELECT * FROM '{path}'")) + " in DuckDB",
        );
    }
}

/// How the tables are read, by those that are there.
fn examples(card: &mut String, tables: &[TableLine<'_>]) {
    let default = default(tables);
    let _ = write!(
        card,
        "```python\nfrom datasets import load_dataset\n\n{default} = load_dataset(\"path/to/this/folder\", \"{default}\", \
         split=\"train\")\n```\n\n```sql\n-- DuckDB, in this folder\n"
    );
    if tables
        .iter()
        .any(|table| table.name == RENDERINGS && table.rows > 0)
    {
        card.push_str("SELECT dialect, content FROM 'renderings/**/*.parquet' WHERE valid LIMIT 5;\n```\n\n");
    } else {
        let _ = write!(card, "SELECT * FROM '{default}/*.parquet' LIMIT 5;\n```\n\n");
    }
}

/// The table that a loader takes when it is told none: the first that is there of those that people come for.
fn default(tables: &[TableLine<'_>]) -> &'static str {
    let is_there = |name: &&str| tables.iter().any(|table| table.name == *name && table.rows > 0);
    DEFAULTS.into_iter().find(is_there).unwrap_or("totals")
}

/// What the renderings hold, and what sending them would have cost, in the first encoding.
fn served(card: &mut String, report: &Report) {
    let first = report.run.encodings.first();
    let cells = report
        .tokens
        .rows
        .iter()
        .filter(|cell| Some(&cell.encoding) == first && cell.requests > 0);
    let mut rows = String::new();
    for cell in cells {
        let _ = writeln!(
            rows,
            "| {} | {} | {} | {} | {} |",
            plain(&format!("{}@{}", cell.dialect, cell.profile)),
            plain(&cell.coverage),
            count(cell.tokens),
            count(cell.requests),
            count(cell.tokens_sent),
        );
    }
    if let Some(encoding) = first.filter(|_| !rows.is_empty()) {
        let _ = write!(
            card,
            "\nTokens in {}, and an estimate of what was sent while the chats went on, each answer with everything \
             before it:\n\n| Dialect | Coverage | Tokens | Requests | Tokens sent (estimate) |\n|---|---|---:|---:|---:|\n{rows}",
            code(encoding)
        );
    }
}

/// What a table's page says a row is.
fn about(table: &str) -> String {
    let page = describe(table).unwrap_or_default();
    page.lines().nth(2).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use chatmill_diag::visible::is_hidden;
    use proptest::prelude::*;

    use super::*;
    use crate::report::{Run, TokenCell};

    #[test]
    fn every_table_has_a_sentence() {
        for table in TABLES {
            assert!(about(table).starts_with("One row per"), "{table}");
        }
    }

    /// A card in which every text of the manifest is one of these.
    fn card_of(texts: &[String; 6]) -> String {
        let [name, table, dialect, coverage, encoding, version] = texts.clone();
        let report = Report {
            run: Run {
                name,
                version: version.clone(),
                fingerprint: version,
                dialects: vec![dialect.clone()],
                encodings: vec![encoding.clone()],
                ..Run::default()
            },
            tokens: crate::report::Queried::new(
                "",
                vec![TokenCell {
                    dialect,
                    profile: coverage.clone(),
                    coverage,
                    encoding,
                    requests: 1,
                    ..TokenCell::default()
                }],
                usize::MAX,
            ),
            ..Report::default()
        };
        let tables = [
            TableLine {
                name: DEFAULTS[0],
                is_parted: false,
                rows: 1,
                bytes: 2,
            },
            TableLine {
                name: &table,
                is_parted: true,
                rows: 1,
                bytes: 2,
            },
        ];
        write(&tables, &report)
    }

    /// Reads the front matter by the rules of YAML that a card uses: lists of maps, plain words and strings in double quotes.
    fn front_matter(card: &str) -> Vec<(String, String)> {
        let front = card.strip_prefix("---\n").unwrap();
        let (front, _) = front.split_once("\n---\n").unwrap();
        let entries = front.lines().map(|line| {
            let line = line.trim_start_matches([' ', '-']);
            let (key, value) = line.split_once(':').unwrap_or((line, ""));
            let is_word = |text: &str| {
                text.chars()
                    .all(|character| character.is_ascii_alphanumeric() || "_/*.".contains(character))
            };
            assert!(is_word(key), "{line}");
            let value = value.trim_start();
            let read = if value.starts_with('"') {
                serde_json::from_str(value).unwrap()
            } else {
                assert!(is_word(value), "{line}");
                value.to_owned()
            };
            (key.to_owned(), read)
        });
        entries.collect()
    }

    fn assert_holds(texts: &[String; 6]) {
        let [name, table, ..] = texts;
        let card = card_of(texts);
        let hidden = card
            .chars()
            .find(|character| is_hidden(*character) && *character != '\n');
        assert_eq!(hidden, None, "{card:?}");
        let front = front_matter(&card);
        let of = |wanted: &str| -> Vec<&str> {
            let values = front.iter().filter(|(key, _)| key == wanted);
            values.map(|(_, value)| value.as_str()).collect()
        };
        assert_eq!(of("pretty_name"), [name.as_str()]);
        assert_eq!(of("config_name"), [DEFAULTS[0], table.as_str()]);
        assert_eq!(
            of("path"),
            ["messages/*.parquet".to_owned(), format!("{table}/*/*.parquet")]
        );
        // Whatever the names are, the card has the lines that it has with harmless ones.
        let harmless = card_of(&["a"; 6].map(str::to_owned));
        assert_eq!(card.lines().count(), harmless.lines().count(), "{card}");
        for (line, expected) in card.lines().zip(harmless.lines()) {
            let kind = |line: &str| {
                line.chars()
                    .next()
                    .filter(|character| "#|-`".contains(*character))
            };
            assert_eq!(kind(line), kind(expected), "{line}");
            assert_eq!(cells(line), cells(expected), "{line}");
        }
    }

    /// Cells of a line of a table.
    fn cells(line: &str) -> usize {
        let mut count = 0;
        let mut is_escaped = false;
        for character in line.chars() {
            count += usize::from(character == '|' && !is_escaped && line.starts_with('|'));
            is_escaped = character == '\\' && !is_escaped;
        }
        count
    }

    #[test]
    fn names_cannot_break_out_of_the_card() {
        let hostile = [
            "a\n---\n# b",
            "- evil\n  default: true",
            "x\u{1b}]0;t\u{7}\u{202e}|`<img src=x>`|",
            "\u{2028}- a: &b *b",
            "```\n| a | b |",
            "\"\\",
        ]
        .map(str::to_owned);
        for turn in 0..hostile.len() {
            let mut texts = hostile.clone();
            texts.rotate_left(turn);
            assert_holds(&texts);
        }
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(64))]

        #[test]
        fn any_names_are_kept_and_obeyed_nowhere(
            texts in proptest::array::uniform6("[-#:|`<>&*_\\[\\]!~$'\"\\\\ \\n\\r\\t\u{0}\u{1b}\u{7f}\u{85}\u{202e}\u{2028}\u{feff}a-c\u{e9}]{0,24}"),
        ) {
            assert_holds(&texts);
        }
    }
}
