//! `README.md` of a dataset: the dataset card, with front matter for loaders.

use chatmill_dataset::{Dataset, TABLES, describe};
use serde::Serialize;

use crate::report::Report;
use crate::templates::{TemplateError, fill};

/// The fields of the card.
#[derive(Serialize)]
struct Card<'d> {
    #[serde(flatten)]
    report: &'d Report,
    tables: Vec<TableLine<'d>>,
}

/// A table of the dataset, as the card lists it.
#[derive(Serialize)]
struct TableLine<'d> {
    name: &'d str,
    /// Whether the name is that of a known table, which needs no quotation marks.
    is_ours: bool,
    /// Whether its files are in separate folders.
    is_parted: bool,
    rows: u64,
    bytes: u64,
    /// A sentence on its rows.
    about: String,
}

impl<'d> TableLine<'d> {
    fn new(name: &'d str, is_parted: bool, rows: u64, bytes: u64) -> Self {
        Self {
            name,
            is_ours: TABLES.contains(&name),
            is_parted,
            rows,
            bytes,
            about: about(name),
        }
    }
}

/// Writes the card.
pub(crate) fn card(dataset: &Dataset, report: &Report) -> Result<String, TemplateError> {
    let tables = dataset.manifest().tables.iter().map(|table| {
        let name = table.name.as_str();
        TableLine::new(name, dataset.is_parted(name), dataset.rows(name), table.bytes)
    });
    write(tables.collect(), report)
}

fn write(tables: Vec<TableLine<'_>>, report: &Report) -> Result<String, TemplateError> {
    Ok(fill("card.md", &Card { report, tables }, [])?.into_string())
}

/// The sentence on rows from the page of a table; empty for a table that this version does not know.
fn about(table: &str) -> String {
    let page = describe(table);
    let about = page.as_deref().and_then(|page| page.lines().nth(2));
    about.map_or_else(String::new, str::to_owned)
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
        let tables = vec![
            TableLine::new("messages", false, 1, 2),
            TableLine::new(&table, true, 1, 2),
        ];
        write(tables, &report).unwrap()
    }

    /// Parses the front matter by those rules of YAML that a card uses: lists of maps, plain words, and strings in double quotes.
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
        assert_eq!(of("config_name"), ["messages", table.as_str()]);
        assert_eq!(
            of("path"),
            ["messages/*.parquet".to_owned(), format!("{table}/*/*.parquet")]
        );
        // With any names, the card has the same lines as with harmless ones.
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

    /// The number of cells in a line of a table.
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
        fn markup_in_names_is_shown_and_never_interpreted(
            texts in proptest::array::uniform6("[-#:|`<>&*_\\[\\]!~$'\"\\\\ \\n\\r\\t\u{0}\u{1b}\u{7f}\u{85}\u{202e}\u{2028}\u{feff}a-c\u{e9}]{0,24}"),
        ) {
            assert_holds(&texts);
        }
    }
}
