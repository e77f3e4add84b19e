//! Fields of the conversations of an export's rows: columns of the table `conversations`, and fields of the record.
//!
//! Rows come in the order of the table, so one walk along it finds them all.

use chatmill_dataset::{AnyColumn, Batches, Dataset, Texts};

use crate::error::ExportError;
use crate::fields;

/// A field of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConversationField {
    /// A column of the table.
    Column(String),
    /// A field of the record without a column: its name, or a path with dots below a field.
    Extra(String),
}

impl ConversationField {
    /// The column that contains it.
    fn column(&self) -> &str {
        match self {
            Self::Column(name) => name,
            Self::Extra(_) => "extra",
        }
    }
}

/// The JSON of a field of the record: of this name, else below the field that the name begins with; `None` if it is missing.
pub(crate) fn extra_value(extra: &str, name: &str) -> Option<String> {
    let fields = fields::of(extra)?;
    if let Some(field) = fields.iter().find(|field| field.name == name) {
        return Some(field.json.to_string());
    }
    let (first, below) = name.split_once('.')?;
    let field = fields.iter().find(|field| field.name == first)?;
    extra_value(&field.json, below)
}

/// A walk along the conversations of a dataset.
pub(crate) struct ConversationWalk<'d> {
    dataset: &'d Dataset,
    fields: &'d [ConversationField],
    batches: Batches<'d>,
    batch: Option<(Texts, Vec<AnyColumn>)>,
    /// The next row of the batch, and the number of its rows.
    next: usize,
    rows: usize,
    found: Option<String>,
    values: Vec<String>,
}

impl<'d> ConversationWalk<'d> {
    pub(crate) fn new(dataset: &'d Dataset, fields: &'d [ConversationField]) -> Self {
        Self {
            dataset,
            fields,
            batches: Box::new(std::iter::empty()),
            batch: None,
            next: 0,
            rows: 0,
            found: None,
            values: Vec::new(),
        }
    }

    /// The JSON of each field of a conversation.
    pub(crate) fn values(&mut self, conversation: &str) -> Result<&[String], ExportError> {
        if !self.fields.is_empty() && self.found.as_deref() != Some(conversation) {
            // The search first continues from the current row, and then starts over.
            if !self.find(conversation)? {
                self.begin();
                if !self.find(conversation)? {
                    return Err(ExportError::request(
                        format!("the table `conversations` has no row for `{conversation}`"),
                        "run `chatmill certify` on the dataset",
                    ));
                }
            }
            self.found = Some(conversation.to_owned());
        }
        Ok(&self.values)
    }

    fn begin(&mut self) {
        let mut names = vec!["conversation_id"];
        names.extend(self.fields.iter().map(ConversationField::column));
        self.batches = self.dataset.batches("conversations", &names);
        (self.batch, self.next, self.rows) = (None, 0, 0);
    }

    /// Continues to a conversation; `false` at the end of the table.
    fn find(&mut self, conversation: &str) -> Result<bool, ExportError> {
        loop {
            if let Some((ids, cells)) = &self.batch {
                while self.next < self.rows {
                    self.next += 1;
                    let row = self.next - 1;
                    if ids.at(row) == conversation {
                        let cells = self.fields.iter().zip(cells);
                        self.values = cells.map(|(field, cells)| value(field, cells, row)).collect();
                        return Ok(true);
                    }
                }
            }
            let Some(batch) = self.batches.next().transpose()? else {
                return Ok(false);
            };
            let cells = self.fields.iter().map(|field| batch.column(field.column()));
            self.batch = Some((batch.column("conversation_id")?, cells.collect::<Result<_, _>>()?));
            (self.next, self.rows) = (0, batch.rows());
        }
    }
}

fn value(field: &ConversationField, cells: &AnyColumn, row: usize) -> String {
    let json = cells.json(row);
    match field {
        ConversationField::Column(_) => json,
        ConversationField::Extra(key) => extra_value(&json, key).unwrap_or_else(|| "null".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_name_before_its_path() {
        let extra = r#"{"a.b":1,"a":{"b":2,"c":{"d":[3]}},"n":null}"#;
        for (name, json) in [
            ("a.b", Some("1")),
            ("a.c.d", Some("[3]")),
            ("n", Some("null")),
            ("x", None),
            ("n.x", None),
            ("a.b.c", None),
        ] {
            assert_eq!(extra_value(extra, name).as_deref(), json, "{name}");
        }
    }
}
