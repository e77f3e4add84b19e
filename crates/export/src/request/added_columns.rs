//! `--columns`: columns of the tables `conversations` and `renderings`, and fields of the record (`extra.KEY`), after the keys of each record.
//!
//! A column has its type in the table. A field of the record is text, a number or a boolean if it has this type in all conversations of the
//! dataset, otherwise JSON.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_dataset::{Dataset, FreeKind, Shape, Texts, columns, table_schema};
use chatmill_diag::suggest::nearest;
use chatmill_model::Extra;

use crate::candidate::{Candidate, RenderedAs};
use crate::error::ExportError;
use crate::fields::of_conversations::{ConversationField, extra_value};
use crate::fields::{self, Field, text};
use crate::format::Format;
use crate::request::ExportRequest;
use crate::writer::nested::NestedAs;
use crate::writer::{KEYS, is_reserved};

/// The most names of fields that a refusal compares a wrong name with.
const COMPARED: usize = 1000;

/// The columns that are added to each record, in the order of the request.
#[derive(Debug, Default)]
pub(crate) struct AddedColumns {
    columns: Vec<AddedColumn>,
    /// The columns of `renderings` among them.
    pub(crate) of_renderings: Vec<String>,
    /// The fields of conversations among them.
    pub(crate) of_conversations: Vec<ConversationField>,
}

#[derive(Debug)]
struct AddedColumn {
    name: String,
    kind: FreeKind,
    origin: Origin,
}

/// The origin of a column's value, with its index there.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Key(usize),
    Conversation(usize),
    Rendering(usize),
}

/// Refuses columns that no dataset has, and those that do not fit the envelope.
pub(crate) fn check(request: &ExportRequest) -> Result<(), ExportError> {
    // Any word in the place of an encoding may be a column.
    let encoding = |word: &String| {
        let word = word.strip_prefix("sent_").unwrap_or(word);
        word.strip_prefix("tokens_").map(str::to_owned)
    };
    let encodings: Vec<String> = request.columns.iter().filter_map(encoding).collect();
    let mut names: Vec<&str> = Vec::new();
    for word in &request.columns {
        let name = if let Some(key) = Extra::selected(word) {
            key
        } else {
            column(word, &encodings)?;
            word
        };
        if names.contains(&name) {
            return Err(ExportError::request(
                format!("`--columns` names `{name}` twice"),
                "name each column once; `extra.KEY` is called `KEY`",
            ));
        }
        names.push(name);
    }
    let Some(envelope) = request.envelope.filter(|_| !names.is_empty()) else {
        return Ok(());
    };
    if envelope.has_fixed_keys {
        return Err(ExportError::request(
            format!(
                "the envelope `{}` takes no columns: its service refuses other keys",
                envelope.id
            ),
            "leave `--columns` out, or take an envelope that a library reads, for example `trl-messages`",
        ));
    }
    match names
        .iter()
        .find(|name| envelope.keys.iter().any(|(key, _)| key == *name))
    {
        None => Ok(()),
        Some(name) => Err(ExportError::taken(
            name,
            &format!("a key of the envelope `{}`", envelope.id),
        )),
    }
}

/// The table of a column and its type.
fn column(word: &str, encodings: &[String]) -> Result<(&'static str, FreeKind), ExportError> {
    let tables = ["conversations", "renderings"];
    let schemas = tables.map(|table| (table, table_schema(table, encodings)));
    let mut known: Vec<&str> = Vec::new();
    for (table, schema) in &schemas {
        for field in schema.iter().flat_map(|schema| schema.fields()) {
            if field.name() == word {
                return Ok((*table, FreeKind::of(field)));
            }
            known.push(field.name());
        }
    }
    Err(unknown("column", word, nearest(word, known.into_iter())))
}

fn unknown(what: &str, word: &str, nearest: Option<&str>) -> ExportError {
    let meant = nearest.map(|nearest| format!("; did you mean `{nearest}`?"));
    ExportError::request(
        format!("there is no {what} `{word}`{}", meant.unwrap_or_default()),
        "`--columns` takes columns of the tables `conversations` and `renderings`, and `extra.KEY` for a field of the record",
    )
}

impl AddedColumns {
    /// Finds the columns of a request in the dataset. `from_maker`: the renderings are not in the dataset.
    pub(crate) fn resolve(
        dataset: &Dataset,
        request: &ExportRequest,
        dialect: &str,
        from_maker: bool,
    ) -> Result<Self, ExportError> {
        let mut added = Self::default();
        for word in &request.columns {
            added.add(word, dataset, dialect, from_maker)?;
        }
        if request.format == Format::Parquet {
            // A table has these columns in front.
            added
                .columns
                .retain(|column| !matches!(column.origin, Origin::Key(_)));
            if let Some(taken) = added.columns.iter().find(|column| is_reserved(&column.name)) {
                return Err(ExportError::taken(&taken.name, "a column of every table"));
            }
        }
        let kinds = extra_kinds(dataset, &added.of_conversations, request.quotes)?;
        for column in &mut added.columns {
            if let Origin::Conversation(place) = column.origin
                && let Some(kind) = kinds.get(&place)
            {
                column.kind = *kind;
            }
            if request.nested == NestedAs::Struct && column.kind == FreeKind::Json {
                column.kind = FreeKind::Nested(Shape::Json);
            }
        }
        Ok(added)
    }

    fn add(
        &mut self,
        word: &str,
        dataset: &Dataset,
        dialect: &str,
        from_maker: bool,
    ) -> Result<(), ExportError> {
        let (name, kind, origin) = if let Some(place) = KEYS.iter().position(|(key, _)| *key == word) {
            (word, FreeKind::Word, Origin::Key(place))
        } else if let Some(key) = Extra::selected(word) {
            let origin = self.conversation(ConversationField::Extra(key.to_owned()));
            (key, FreeKind::Json, origin)
        } else {
            let (table, kind) = column(word, dataset.encodings())?;
            let origin = if table == "conversations" {
                self.conversation(ConversationField::Column(word.to_owned()))
            } else if from_maker {
                return Err(ExportError::request(
                    format!(
                        "the column `{word}` is one of `renderings`, and the dataset holds no such renderings in `{dialect}`"
                    ),
                    "leave it out of `--columns`, or add the dialect to `render.dialects` and run the pipeline again",
                ));
            } else {
                self.of_renderings.push(word.to_owned());
                Origin::Rendering(self.of_renderings.len() - 1)
            };
            (word, kind, origin)
        };
        self.columns.push(AddedColumn {
            name: name.to_owned(),
            kind,
            origin,
        });
        Ok(())
    }

    fn conversation(&mut self, field: ConversationField) -> Origin {
        self.of_conversations.push(field);
        Origin::Conversation(self.of_conversations.len() - 1)
    }

    /// The names and types of the columns.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&str, FreeKind)> {
        self.columns
            .iter()
            .map(|column| (column.name.as_str(), column.kind))
    }

    /// The values for a rendering; `of_conversation` has the fields of its conversation.
    pub(crate) fn values<'a>(
        &'a self,
        candidate: &Candidate<'a>,
        rendered: &'a RenderedAs,
        of_conversation: &'a [String],
    ) -> Vec<Field<'a>> {
        let rendering = candidate.rendering;
        let json = |origin: Origin| match origin {
            Origin::Conversation(place) => of_conversation.get(place).map(|json| json.as_str().into()),
            Origin::Rendering(place) => rendering.columns.get(place).map(|json| json.as_str().into()),
            Origin::Key(place) => Some(
                match place {
                    0 => text(rendering.conversation),
                    1 => text(&rendered.dialect),
                    2 => text(&rendered.profile),
                    3 => text(rendering.perspective),
                    _ => rendering.ordinal.to_string(),
                }
                .into(),
            ),
        };
        let fields = self.columns.iter().map(|column| Field {
            name: column.name.as_str().into(),
            json: json(column.origin).unwrap_or("null".into()),
        });
        fields.collect()
    }
}

columns! {
    /// The column of fields without a separate column.
    struct ExtraColumn {
        extra: Texts,
    }
}

/// The type of each of these fields of the record, by its index. A field that no conversation has is refused.
fn extra_kinds(
    dataset: &Dataset,
    wanted: &[ConversationField],
    quotes: bool,
) -> Result<BTreeMap<usize, FreeKind>, ExportError> {
    let mut kinds: BTreeMap<usize, FreeKind> = BTreeMap::new();
    let extras = wanted
        .iter()
        .enumerate()
        .filter_map(|(place, field)| match field {
            ConversationField::Extra(key) => Some((place, key.as_str())),
            ConversationField::Column(_) => None,
        });
    let keys: Vec<(usize, &str)> = extras.collect();
    if keys.is_empty() {
        return Ok(kinds);
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    dataset.each_row("conversations", &mut |column: &ExtraColumn, row| {
        let Some(extra) = column.extra.get(row) else {
            return;
        };
        for (place, key) in &keys {
            if let Some(found) = extra_value(extra, key).and_then(|json| kind_of(&json)) {
                let kind = kinds.entry(*place).or_insert(found);
                *kind = common(*kind, found);
            }
        }
        if known.len() < COMPARED && quotes && dataset.manifest().quotes() {
            let fields = fields::of(extra).into_iter().flatten();
            known.extend(fields.map(|field| field.name.into_owned()));
        }
    })?;
    let Some((_, key)) = keys.iter().find(|(place, _)| !kinds.contains_key(place)) else {
        return Ok(kinds);
    };
    let nearest = nearest(key, known.iter().map(String::as_str));
    let nearest = nearest.map(|key| format!("extra.{key}"));
    let word = format!("extra.{key}");
    Err(unknown("conversation with the field", &word, nearest.as_deref()))
}

/// The type of a value; `None` for `null`.
fn kind_of(json: &str) -> Option<FreeKind> {
    Some(match json.bytes().next()? {
        b'"' => FreeKind::Word,
        b't' | b'f' => FreeKind::Flag,
        b'n' => return None,
        b'{' | b'[' => FreeKind::Json,
        _ if json
            .parse()
            .is_ok_and(|number: u64| i64::try_from(number).is_ok()) =>
        {
            FreeKind::Number
        }
        _ if json.contains(['.', 'e', 'E']) && json.parse().is_ok_and(f64::is_finite) => FreeKind::Real,
        _ if json
            .parse()
            .is_ok_and(|number: i64| number.unsigned_abs() <= 1 << 53) =>
        {
            FreeKind::Real
        }
        // Numbers outside of the range of doubles are kept as JSON.
        _ => FreeKind::Json,
    })
}

/// The type for values of both types.
fn common(one: FreeKind, other: FreeKind) -> FreeKind {
    match (one, other) {
        (one, other) if one == other => one,
        (FreeKind::Number, FreeKind::Real) | (FreeKind::Real, FreeKind::Number) => FreeKind::Real,
        _ => FreeKind::Json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{ENVELOPES, find};
    use crate::request::tests::request;

    fn refusal(columns: &str, envelope: Option<&str>) -> Option<String> {
        let request = ExportRequest {
            columns: columns.split(',').map(str::to_owned).collect(),
            envelope: envelope.and_then(find),
            ..request("hf-messages")
        };
        check(&request).err().map(|error| error.to_string())
    }

    #[test]
    fn a_wrong_column_is_refused_with_the_nearest_and_a_right_one_passes() {
        assert_eq!(
            refusal(
                "conversation_id,source,input,tokens_o200k_base,extra.language,sent_tokens_x",
                None
            ),
            None
        );
        for (wrong, words) in [
            ("sorce", "there is no column `sorce`; did you mean `source`?"),
            ("extra.", "there is no column `extra.`; did you mean `extra`?"),
            ("source,source", "`--columns` names `source` twice"),
            ("input,extra.input", "`--columns` names `input` twice"),
        ] {
            assert_eq!(refusal(wrong, None).as_deref(), Some(words));
        }
    }

    #[test]
    fn envelopes_of_services_take_no_columns_and_no_envelope_takes_one_of_its_keys() {
        let fixed = [
            "openai-sft",
            "openai-dpo",
            "vertex-tuning",
            "bedrock-conversation-2024",
            "bedrock-conversation-2024@tools",
        ];
        for envelope in ENVELOPES {
            let refused = refusal("source", Some(envelope.id));
            assert_eq!(
                refused.is_some(),
                fixed.contains(&envelope.id),
                "{}: {refused:?}",
                envelope.id
            );
        }
        assert_eq!(
            refusal("source,tools", Some("trl-messages")).unwrap(),
            "the column `tools` has the name of a key of the envelope `trl-messages`"
        );
        assert!(refusal("extra.messages", Some("axolotl")).is_some());
    }

    #[test]
    fn a_field_of_the_record_has_the_type_that_all_its_values_have() {
        let kind = |values: &[&str]| {
            let kinds = values.iter().filter_map(|json| kind_of(json));
            kinds.reduce(common)
        };
        for (values, wanted) in [
            (&["\"a\"", "null", "\"b\""][..], Some(FreeKind::Word)),
            (&["1", "2"], Some(FreeKind::Number)),
            (&["1", "0.5"], Some(FreeKind::Real)),
            (&["-1", "2"], Some(FreeKind::Real)),
            (&["true", "false"], Some(FreeKind::Flag)),
            (&["1", "\"1\""], Some(FreeKind::Json)),
            (&["[1]"], Some(FreeKind::Json)),
            (&["18446744073709551615"], Some(FreeKind::Json)),
            (&["-9223372036854775808"], Some(FreeKind::Json)),
            (&["0.5", "1e999"], Some(FreeKind::Json)),
            (&["null"], None),
        ] {
            assert_eq!(kind(values), wanted, "{values:?}");
        }
    }
}
