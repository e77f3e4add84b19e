//! Rows that are already JSON objects: renames and filters them like rows of tables.

use super::TableMap;
use super::row::{Cell, push_string, roles};
use crate::event::Head;
use crate::json::{Document, Kind, Value, scan};

impl TableMap {
    /// Inspects the first rows of a file with one row per line: a column in which all values are truth values is treated as such.
    pub fn sample(&mut self, head: &Head) {
        let role = self
            .columns
            .iter()
            .filter(|(ours, _)| ours == roles::ROLE)
            .map(|(_, theirs)| theirs);
        let columns: Vec<&String> = self
            .filters
            .iter()
            .map(|filter| &filter.column)
            .chain(role)
            .collect();
        if columns.is_empty() {
            return;
        }
        let blank = |sign: &u8| b"[], \r".contains(sign);
        let lines = head.bytes.split(|sign| *sign == b'\n');
        let lines = lines.map(|line| {
            let (first, last) = (
                line.iter().position(|sign| !blank(sign)),
                line.iter().rposition(|sign| !blank(sign)),
            );
            first
                .zip(last)
                .and_then(|(first, last)| line.get(first..=last))
                .unwrap_or_default()
        });
        let rows: Vec<Document<'_>> = lines.filter_map(|line| scan(line, u32::MAX).ok()).collect();
        let is_truth = |column: &&String| {
            let values = rows.iter().filter_map(|row| cell(row.root().get(column)?));
            let mut values = values.filter(|cell| *cell != Cell::Null).peekable();
            values.peek().is_some() && values.all(|cell| cell.truth().is_some())
        };
        self.truths = columns.into_iter().filter(is_truth).cloned().collect();
    }

    /// Appends a row to `out` under the names of the map; false if a filter skips it, in which case nothing is written.
    ///
    /// Values remain as written, except text in a column that the map declares as JSON.
    pub fn rewrite(&self, row: Value<'_>, out: &mut Vec<u8>) -> bool {
        let is_wanted = self.filters.iter().all(|filter| {
            let found = row.get(&filter.column);
            let found = found.map_or(Some(Cell::Null), cell);
            found.is_some_and(|cell| cell.is_one_of(&filter.one_of, self.truths.contains(&filter.column)))
        });
        if !is_wanted {
            return false;
        }
        let has = |name: &str| row.get(name).is_some();
        let mut has_role = false;
        let mut mark = b'{';
        for (key, value) in row.fields() {
            for name in self.keys(&key, has) {
                let cell = cell(value);
                let role = cell.as_ref().filter(|_| name == roles::ROLE).and_then(|cell| {
                    roles::of(
                        &self.roles,
                        cell,
                        self.truths.iter().any(|column| *column == *key),
                    )
                });
                let is_of_sender = name == roles::ROLE && self.has_roles_of_senders(&key);
                if role.is_none() && is_of_sender || role.is_some() && has_role {
                    continue;
                }
                out.push(mark);
                mark = b',';
                if let (Some(role), Some(cell)) = (role, &cell) {
                    has_role = true;
                    roles::write(role, cell, out);
                    continue;
                }
                push_string(&name, out);
                out.push(b':');
                match &cell {
                    // A text may be JSON; everything else is written unchanged.
                    Some(cell @ Cell::Text(_)) if self.json.iter().any(|column| *column == *key) => {
                        // The text was a JSON string, so it is UTF-8.
                        let _ = cell.write(true, out);
                    }
                    _ => out.extend_from_slice(value.raw().as_bytes()),
                }
                if let (Some(cell), Some(senders), "sender") = (&cell, self.sender_names(), &*name) {
                    has_role |= senders.write(cell, has_role, out);
                }
            }
        }
        if mark == b'{' {
            out.push(b'{');
        }
        out.push(b'}');
        true
    }
}

/// A value as a cell; `None` for arrays and objects.
fn cell(value: Value<'_>) -> Option<Cell<'_>> {
    Some(match value.kind() {
        Kind::Null => Cell::Null,
        Kind::Bool(is) => Cell::Bool(is),
        Kind::Number => Cell::Number(value.raw().into()),
        Kind::String => Cell::Text(match value.as_str()? {
            std::borrow::Cow::Borrowed(text) => text.as_bytes().into(),
            std::borrow::Cow::Owned(text) => text.into_bytes().into(),
        }),
        Kind::Array | Kind::Object => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::TableFilter;
    use super::*;

    fn map() -> TableMap {
        TableMap {
            columns: [("content", "body"), ("role", "who")]
                .map(|(ours, theirs)| (ours.to_owned(), theirs.to_owned()))
                .to_vec(),
            json: vec!["body".to_owned()],
            filters: vec![TableFilter {
                column: "gone".to_owned(),
                one_of: vec![Some("false".to_owned()), None],
            }],
            roles: [("visitor", "user"), ("true", "assistant")]
                .map(|(word, role)| (word.to_owned(), role.to_owned()))
                .to_vec(),
            ..TableMap::default()
        }
    }

    fn rewritten(row: &str) -> Option<String> {
        let document = scan(row.as_bytes(), 16).unwrap();
        let mut out = Vec::new();
        map()
            .rewrite(document.root(), &mut out)
            .then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn names_roles_and_json_follow_the_table_map() {
        assert_eq!(
            rewritten(r#"{"body":"[1]","who":"visitor","content":"old","n":1.50}"#).unwrap(),
            r#"{"content":[1],"role":"user","source_type":"visitor","content~2":"old","n":1.50}"#
        );
        assert_eq!(
            rewritten(r#"{"who":true,"body":{"a":1}}"#).unwrap(),
            r#"{"role":"assistant","source_type":"true","content":{"a":1}}"#
        );
        assert_eq!(rewritten(r#"{"who":"guest"}"#).unwrap(), r#"{"role":"guest"}"#);
        assert_eq!(rewritten("{}").unwrap(), "{}");
    }

    #[test]
    fn a_filter_skips_rows_of_another_value() {
        assert_eq!(rewritten(r#"{"gone":true}"#), None);
        assert_eq!(rewritten(r#"{"gone":[]}"#), None);
        assert!(rewritten(r#"{"gone":false}"#).is_some());
        assert!(rewritten(r#"{"gone":null}"#).is_some());
    }
}
