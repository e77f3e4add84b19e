//! The counts of a card over the written rows: sources, a property that the pipeline names, and lengths.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, Spread, overview};
use chatmill_diag::cut;
use chatmill_model::Extra;
use serde_json::{Value as Json, json};

use crate::card::by;
use crate::fields;
use crate::fields::of_conversations::ConversationField;

/// The most values that are counted one by one.
const COUNTED: usize = 10_000;
/// The most values that a card lists.
const LISTED: usize = 20;

/// Records and conversations of each value of a property, and of all values beyond [`COUNTED`] together.
type Values = (BTreeMap<String, [u64; 2]>, [u64; 2]);

/// The counts of a card.
#[derive(Debug)]
pub(crate) struct CardCounts {
    properties: Vec<Values>,
    /// The lengths of renderings in each part.
    pub(super) lengths: Vec<Spread>,
    encoding: Option<String>,
}

/// The fields of conversations that a card counts; empty if the dataset has no table of conversations.
pub(crate) fn fields_of(dataset: &Dataset) -> Vec<ConversationField> {
    if !dataset.has("conversations") {
        return Vec::new();
    }
    let mut fields = vec![ConversationField::Column("source".to_owned())];
    let by = by(dataset).and_then(Extra::selected);
    fields.extend(by.map(|key| ConversationField::Extra(key.to_owned())));
    fields
}

impl CardCounts {
    /// Empty counts for so many properties and parts; lengths are tokens in an encoding, or characters.
    pub(crate) fn new(properties: usize, parts: usize, encoding: Option<String>) -> Self {
        Self {
            properties: vec![Values::default(); properties],
            lengths: vec![Spread::default(); parts],
            encoding,
        }
    }

    /// Counts a row: its part, the JSON of its properties, its tokens and its text, and whether it is the first of its conversation.
    pub(crate) fn add(
        &mut self,
        part: usize,
        properties: &[String],
        (tokens, text): (u64, &str),
        is_first: bool,
    ) {
        let length = match self.encoding {
            Some(_) => tokens,
            None => text.chars().count() as u64,
        };
        cut::at_mut(&mut self.lengths, part).add(length);
        for ((known, others), json) in self.properties.iter_mut().zip(properties) {
            let is_counted = known.len() < COUNTED || known.contains_key(json);
            let counts = if is_counted {
                known.entry(json.clone()).or_default()
            } else {
                others
            };
            let [rows, conversations] = counts;
            *rows += 1;
            *conversations += u64::from(is_first);
        }
    }

    /// The unit of lengths.
    pub(super) fn unit(&self) -> String {
        match &self.encoding {
            Some(encoding) => format!("tokens ({encoding})"),
            None => "characters".to_owned(),
        }
    }

    /// The counts as tables, the most frequent values first; `by` names the field of the record.
    pub(super) fn tables(&self, by: Option<&str>) -> Json {
        let names = ["Source"].into_iter().chain(by);
        let tables = names.zip(&self.properties).map(|(name, (known, others))| {
            let mut values: Vec<(&String, &[u64; 2])> = known.iter().collect();
            values.sort_by_key(|(_, [rows, _])| Reverse(*rows));
            let rest = values.split_off(values.len().min(LISTED)).into_iter();
            let rest = rest.fold(*others, |[rows, conversations], (_, more)| {
                let [more_rows, more] = more;
                [rows + more_rows, conversations + more]
            });
            let mut lines: Vec<Json> = values
                .into_iter()
                .map(|(json, counts)| json!([shown(json), counts]))
                .collect();
            lines.extend((rest != [0, 0]).then(|| json!(["other values", rest])));
            json!({ "name": name, "lines": lines })
        });
        tables.collect()
    }
}

/// A value as a card shows it.
fn shown(json: &str) -> String {
    if json == "null" {
        return "not stated".to_owned();
    }
    let text = fields::string_value(json).map_or_else(|| json.to_owned(), std::borrow::Cow::into_owned);
    overview::cut(&text)
}
