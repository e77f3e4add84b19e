//! `README.md` of a dataset: a card whose front matter makes every table a configuration that loaders know.

use std::fmt::Write;

use chatmill_dataset::{Dataset, describe};

use crate::html::markup::{bytes, count};
use crate::report::Report;

/// The table that a loader takes when it is told none.
const DEFAULT: &str = "messages";

/// Writes the card.
pub fn card(dataset: &Dataset, report: &Report) -> String {
    let mut card = String::from("---\n");
    // Writing to a String cannot fail.
    let _ = writeln!(card, "pretty_name: {}", quoted(&report.run.name));
    card.push_str("tags:\n- chatmill\nconfigs:\n");
    for table in &dataset.manifest().tables {
        let _ = writeln!(card, "- config_name: {}", table.name);
        if table.name == DEFAULT {
            card.push_str("  default: true\n");
        }
        let _ = write!(
            card,
            "  data_files:\n  - split: train\n    path: {}/{}*.parquet\n",
            table.name,
            if dataset.is_parted(&table.name) { "*/" } else { "" }
        );
    }
    card.push_str("---\n\n");
    body(&mut card, dataset, report);
    card
}

fn body(card: &mut String, dataset: &Dataset, report: &Report) {
    let run = &report.run;
    let _ = write!(
        card,
        "# {}\n\n{} conversations with {} messages, and {} renderings of them in {} dialects, written by chatmill {}. \
         `report.html` shows what is in it, `report.json` has the same figures for programs, and `manifest.json` names \
         every input and every file with its hash.\n\n",
        plain(&run.name),
        count(run.conversations),
        count(run.messages),
        count(run.renderings),
        count(run.dialects.len() as u64),
        plain(&run.version),
    );
    card.push_str(
        "```python\nfrom datasets import load_dataset\n\nmessages = load_dataset(\"path/to/this/folder\", \"messages\", \
         split=\"train\")\n```\n\n```sql\n-- DuckDB, in this folder\nSELECT dialect, content FROM \
         'renderings/**/*.parquet' WHERE valid LIMIT 5;\n```\n\n",
    );
    card.push_str("| Table | Rows | Bytes | A row is |\n|---|---:|---:|---|\n");
    for table in &dataset.manifest().tables {
        let size: u64 = table.files.iter().map(|file| file.bytes).sum();
        let _ = writeln!(
            card,
            "| `{}` | {} | {} | {} |",
            table.name,
            count(dataset.rows(&table.name)),
            bytes(size),
            about(&table.name)
        );
    }
    served(card, report);
    let _ = write!(
        card,
        "\nRecords read: {}; accepted {}, rejected {}, filtered {}. What was rejected stands in `rejects`, and why in \
         `findings`.\n\nFingerprint of the run: `{}`.\n",
        count(report.balance.framed),
        count(report.balance.accepted),
        count(report.balance.rejected),
        count(report.balance.filtered),
        plain(&run.fingerprint),
    );
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
            cell.coverage,
            count(cell.tokens),
            count(cell.requests),
            count(cell.tokens_sent),
        );
    }
    if let Some(encoding) = first.filter(|_| !rows.is_empty()) {
        let _ = write!(
            card,
            "\nTokens in `{encoding}`, and an estimate of what was sent while the chats went on, each answer with everything \
             before it:\n\n| Dialect | Coverage | Tokens | Requests | Tokens sent (estimate) |\n|---|---|---:|---:|---:|\n{rows}"
        );
    }
}

/// What a table's page says a row is.
fn about(table: &str) -> String {
    let page = describe(table).unwrap_or_default();
    page.lines().nth(2).unwrap_or_default().to_owned()
}

/// A text as a YAML scalar: JSON strings are YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text that is no markup in Markdown.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' => {
                safe.push('\\');
                safe.push(character);
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_neither_yaml_nor_markdown() {
        assert_eq!(quoted("a: \"b\"\n- c"), "\"a: \\\"b\\\"\\n- c\"");
        assert_eq!(plain("<b>*x*\n[y](z)"), "&lt;b&gt;\\*x\\* \\[y\\](z)");
    }

    #[test]
    fn every_table_has_a_sentence() {
        for table in chatmill_dataset::TABLES {
            assert!(about(table).starts_with("One row per"), "{table}");
        }
    }
}
