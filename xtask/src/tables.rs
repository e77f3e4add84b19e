//! Tables in pages that are written by hand: each is between a pair of markers, and everything else is kept.

use anyhow::{Context, Result};

/// Returns the text with another block between a pair of markers.
pub(crate) fn replaced(text: &str, name: &str, block: &str) -> Result<String> {
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let (before, rest) = text
        .split_once(&open)
        .with_context(|| format!("there is no {open}"))?;
    let (_, after) = rest
        .split_once(&close)
        .with_context(|| format!("there is no {close}"))?;
    Ok(format!("{before}{open}\n\n{block}\n{close}{after}"))
}

/// Renders a table: its head, and rows of texts that cannot break out of their cells.
pub(crate) fn table<const N: usize>(head: &str, rows: impl IntoIterator<Item = [String; N]>) -> String {
    let row = |cells: [String; N]| format!("| {} |\n", cells.map(|text| cell(&text)).join(" | "));
    let rows: Vec<String> = rows.into_iter().map(row).collect();
    format!("{head}\n{}|\n{}", "|---".repeat(N), rows.concat())
}

/// Lists names in back quotes.
pub(crate) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Escapes a text so that it does not break out of its table cell, and is no HTML.
pub(crate) fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    if text.contains('`') {
        text
    } else {
        text.replace('<', "\\<")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        let text = "a\n<!-- t -->\nold\n<!-- /t -->\nb\n";
        let once = replaced(text, "t", "| new |\n").unwrap();
        assert_eq!(once, "a\n<!-- t -->\n\n| new |\n\n<!-- /t -->\nb\n");
        assert_eq!(replaced(&once, "t", "| new |\n").unwrap(), once);
        assert!(replaced(text, "u", "").is_err());
    }
}
