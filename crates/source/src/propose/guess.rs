//! Guesses what the columns of a table contain, from their names and from their values in the first rows: messages, or rows for training.
//!
//! A guess is sure if no other reading would teach other turns: roles are words for roles and every other column is understood, or a row is a
//! question with its answer and no other text. Everything else is only proposed, and most tables are neither. For what is never guessed, see
//! docs/decisions/2026-11-29-guessed-columns.md.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_intake::json::{self, Kind, Value};
use chatmill_intake::table::TableMap;
use chatmill_model::Role;

use super::names;
use super::sample::{SampleCell, TableSample};
use crate::base::conversations::{may_be_id_of_conversation, names_conversation, proposed};
use crate::base::roles::known_role;
use crate::base::texts::transcript;
use crate::base::times;
use crate::layout::columns::{self, ColumnMeaning, question_and_answer};

/// The meaning of the columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The id of the source that reads the rows.
    pub source: &'static str,
    /// The names of columns for the source, each with the name in the table.
    pub columns: Vec<(&'static str, String)>,
    /// Senders that seem to be agents, if rows have no roles.
    pub assistants: Vec<String>,
    /// Whether no other reading would teach other turns.
    pub is_sure: bool,
    /// The name of the table, if there are several.
    pub table: Option<String>,
    /// The columns of another table with the names of senders.
    pub senders: Option<SenderColumns>,
    /// The names of the columns, some with their values if these are few.
    pub described: String,
}

/// The columns of a table with the names of senders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderColumns {
    /// The table.
    pub table: String,
    /// The column of ids.
    pub id: String,
    /// The column of names.
    pub name: String,
    /// The column with whether a sender is an agent.
    pub agent: Option<String>,
}

/// The most values of a column that are shown.
const MAX_SHOWN: usize = 6;

/// A column of a sample.
pub(super) struct SampledColumn<'s> {
    pub(super) name: &'s str,
    /// The name in lower case, with letters and digits only.
    key: String,
    pub(super) texts: Vec<&'s str>,
    lists: Vec<&'s str>,
    rows: usize,
}

impl<'s> SampledColumn<'s> {
    pub(super) fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| plain(name) == self.key)
    }

    /// Whether it is a column of rows for training: by a name that the source reads, or by one of these.
    fn holds(&self, meaning: ColumnMeaning, further: &[&str]) -> bool {
        self.is(further) || columns::names(meaning).any(|name| plain(name) == self.key)
    }

    fn is_text(&self) -> bool {
        self.is(names::TEXTS) || self.is(names::TEXTS_OF_TABLES)
    }

    fn is_speaker(&self) -> bool {
        self.is(names::ROLES) || self.is(names::SENDERS) || self.is(names::SENDERS_OF_TABLES)
    }

    pub(super) fn distinct(&self) -> BTreeSet<&'s str> {
        self.texts.iter().copied().collect()
    }

    /// Whether its values are text that people write: at least so many words, on average.
    fn has_words(&self, least: usize) -> bool {
        let words: usize = self
            .texts
            .iter()
            .map(|text| text.split_whitespace().count())
            .sum();
        !self.texts.is_empty() && words >= least * self.texts.len()
    }

    fn is_time(&self) -> bool {
        !self.texts.is_empty() && self.is(names::TIMES) && self.texts.iter().all(|text| times::is_one(text))
    }

    fn is_order(&self) -> bool {
        let mut numbers = self.texts.iter().map(|text| text.parse::<i64>());
        self.texts.len() == self.rows && self.is(names::ORDERS) && numbers.all(|number| number.is_ok())
    }

    pub(super) fn is_unique(&self) -> bool {
        self.texts.len() == self.rows && self.distinct().len() == self.rows
    }

    /// Whether its values are words for roles, of people and of agents.
    fn has_roles(&self) -> bool {
        let roles: Option<Vec<Role>> = self.texts.iter().map(|text| known_role(text)).collect();
        let has = |roles: &[Role], role| roles.contains(&role);
        self.texts.len() == self.rows
            && roles.is_some_and(|roles| has(&roles, Role::User) && has(&roles, Role::Assistant))
    }

    /// Whether its values are few and short, like the names of people who write more than once.
    fn has_names(&self) -> bool {
        let distinct = self.distinct().len();
        let is_name = |text: &&str| text.len() <= 40 && text.split_whitespace().count() <= 3;
        self.texts.len() == self.rows
            && distinct > 1
            && 2 * distinct <= self.rows.max(4) + 2
            && self.texts.iter().all(is_name)
    }
}

/// A name in lower case, with letters and digits only.
fn plain(name: &str) -> String {
    let signs = name.chars().filter(|sign| sign.is_alphanumeric());
    signs.flat_map(char::to_lowercase).collect()
}

/// The columns of a sample with their values.
pub(super) fn columns_of(sample: &TableSample) -> Vec<SampledColumn<'_>> {
    let column = |(at, name): (usize, &'_ String)| {
        let cells = || sample.rows.iter().filter_map(move |row| row.get(at)?.as_ref());
        SampledColumn {
            name: sample.columns.get(at).map_or("", String::as_str),
            key: plain(name),
            texts: cells()
                .filter_map(|cell| match cell {
                    SampleCell::Text(text) if !text.trim().is_empty() => Some(text.as_str()),
                    _ => None,
                })
                .collect(),
            lists: cells()
                .filter_map(|cell| match cell {
                    SampleCell::Json(text) => Some(text.as_str()),
                    SampleCell::Text(_) => None,
                })
                .collect(),
            rows: sample.rows.len(),
        }
    };
    sample.columns.iter().enumerate().map(column).collect()
}

/// The meaning of a table's columns; `None` if they are neither messages nor rows for training.
pub fn guess(sample: &TableSample) -> Option<Guess> {
    let columns = columns_of(sample);
    // Options to choose from are not answers, and a repeated name is ambiguous.
    let keys: BTreeSet<&str> = columns.iter().map(|column| column.key.as_str()).collect();
    if keys.len() < columns.len() || columns.iter().any(|column| column.is(names::OPTIONS)) {
        return None;
    }
    let found = messages(&columns)
        .or_else(|| list_of_turns(&columns))
        .or_else(|| written_out(&columns))
        .or_else(|| exchange(&columns));
    found.map(|guess| Guess {
        described: described(&columns),
        ..guess
    })
}

fn found<'c, 's>(
    columns: &'c [SampledColumn<'s>],
    fits: impl Fn(&SampledColumn<'s>) -> bool,
) -> Vec<&'c SampledColumn<'s>> {
    columns.iter().filter(|column| fits(column)).collect()
}

/// Rows that are messages, with a speaker and a text.
fn messages(columns: &[SampledColumn<'_>]) -> Option<Guess> {
    let mut texts = names::TEXTS.iter().chain(names::TEXTS_OF_TABLES);
    let content = texts.find_map(|name| {
        columns
            .iter()
            .find(|column| column.key == plain(name) && column.has_words(1))
    })?;
    let others = || columns.iter().filter(|column| column.name != content.name);
    let role = others().find(|column| column.is_speaker() && column.has_roles());
    let is_sender = |column: &SampledColumn<'_>| {
        column.key != "type"
            && column.texts.len() == column.rows
            && !column.has_roles()
            && (column.has_names() || column.rows < 4)
    };
    let sender = others().find(|column| column.is_speaker() && is_sender(column));
    let named = proposed(others().map(|column| column.name));
    let is_named = |column: &&SampledColumn<'_>| match named {
        Some(name) => column.name == name,
        None => may_be_id_of_conversation(column.name) && column.distinct().len() < column.texts.len(),
    };
    let conversation = others().find(is_named);
    let id = others().find(|column| column.is(names::IDS) && column.is_unique());
    let reply = others().find(|column| column.is(names::REPLIES));
    let time = others().find(|column| column.is_time());
    let order = others()
        .find(|column| column.is_order())
        .filter(|_| time.is_none());
    if role.is_none() && sender.is_none() {
        return None;
    }
    let keys = [
        ("id", id),
        ("conversation", conversation),
        ("order", order),
        ("sender", sender),
        ("role", role),
        ("content", Some(content)),
        ("reply_to", reply),
        ("created_at", time),
    ];
    let pairs: Vec<(&'static str, String)> = keys
        .iter()
        .filter_map(|(key, column)| Some((*key, column.as_ref()?.name.to_owned())))
        .collect();
    let is_understood = |column: &&SampledColumn<'_>| {
        let is_mapped = pairs.iter().any(|(_, name)| name == column.name);
        is_mapped || column.is(names::HARMLESS) || column.texts.is_empty() && column.lists.is_empty()
    };
    // For other names than these, a column that names the conversation may contain anything.
    let is_known = conversation.is_none_or(|column| names_conversation(column.name));
    let is_alone = |column: &SampledColumn<'_>| column.name == content.name || !column.is_text();
    let is_sure = role.is_some()
        && is_known
        && content.rows > 1
        && columns
            .iter()
            .all(|column| is_understood(&column) && is_alone(column));
    let agents = sender
        .filter(|_| role.is_none())
        .map(SampledColumn::distinct)
        .unwrap_or_default();
    let agents = agents.into_iter().filter(|name| is_agent(name));
    Some(Guess {
        source: "table-rows",
        columns: pairs,
        assistants: agents.map(str::to_owned).collect(),
        is_sure,
        ..Guess::none()
    })
}

/// Whether a name seems to be that of an agent.
pub(super) fn is_agent(name: &str) -> bool {
    let name = name.to_lowercase();
    known_role(&name) == Some(Role::Assistant)
        || ["bot", "assistant", "gpt"].iter().any(|word| name.contains(word))
}

/// A column of lists: alternating texts, pairs, or questions with their answers.
fn list_of_turns(columns: &[SampledColumn<'_>]) -> Option<Guess> {
    let lists = found(columns, |column| !column.lists.is_empty());
    let [list] = lists.as_slice() else { return None };
    let mut kinds = BTreeSet::new();
    let mut ends_with_answers = true;
    for text in &list.lists {
        let document = json::scan(text.as_bytes(), u32::MAX).ok()?;
        let root = document.root();
        if root.kind() != Kind::Array || root.is_empty() {
            return None;
        }
        ends_with_answers &= root.len().is_multiple_of(2);
        for item in root.items() {
            kinds.insert(kind_of_turn(item)?);
        }
    }
    let [kind] = Vec::from_iter(kinds)[..] else {
        return None;
    };
    // Texts next to a question are its answers.
    let is_question = |column: &SampledColumn<'_>| column.holds(ColumnMeaning::Question, &[]);
    if kind == "texts" && columns.iter().any(is_question) {
        return None;
    }
    let key = if kind == "texts" { "data" } else { "history" };
    let has_other_words = columns.iter().any(|column| column.has_words(4));
    let is_sure = !has_other_words && (kind != "texts" || ends_with_answers && list.is(names::CONVERSATIONS));
    Some(rows_for_training(
        &[(key, list)],
        is_sure && list.lists.len() == list.rows,
    ))
}

/// The kind of an element of a list of turns.
fn kind_of_turn(item: Value<'_>) -> Option<&'static str> {
    let is_text = |value: Value<'_>| value.kind() == Kind::String;
    match item.kind() {
        Kind::String => Some("texts"),
        Kind::Array => (item.len() == 2 && item.items().all(is_text)).then_some("pairs"),
        Kind::Object => question_and_answer(item).map(|_| "pairs"),
        _ => None,
    }
}

/// A column of texts that are whole conversations.
fn written_out(columns: &[SampledColumn<'_>]) -> Option<Guess> {
    let is_one = |column: &SampledColumn<'_>| {
        column.texts.len() == column.rows
            && column
                .texts
                .iter()
                .all(|text| transcript::written_out(text).is_some())
    };
    let found = found(columns, is_one);
    let [column] = found.as_slice() else { return None };
    let has_other_words = columns
        .iter()
        .any(|other| other.name != column.name && other.has_words(4));
    Some(rows_for_training(&[("transcript", column)], !has_other_words))
}

/// A question with its answer, or with a better and a worse one.
fn exchange(columns: &[SampledColumn<'_>]) -> Option<Guess> {
    let only = |meaning: ColumnMeaning, further: &[&str]| {
        let found = found(columns, |column| {
            column.holds(meaning, further) && column.texts.len() == column.rows
        });
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    };
    let question = only(ColumnMeaning::Question, names::QUESTIONS).filter(|column| column.has_words(2));
    let compared = only(ColumnMeaning::Better, names::BETTER).zip(only(ColumnMeaning::Worse, names::WORSE));
    let (pairs, texts) = if let Some((better, worse)) = compared {
        let question = question?;
        (
            [("prompt", question), ("chosen", better), ("rejected", worse)].to_vec(),
            3,
        )
    } else {
        (
            [
                ("prompt", question?),
                ("completion", only(ColumnMeaning::Answer, names::ANSWERS)?),
            ]
            .to_vec(),
            2,
        )
    };
    let is_text = |(_, column): &(&str, &SampledColumn<'_>)| column.has_words(2);
    let words = found(columns, |column| column.has_words(3)).len();
    let answers = pairs.last()?.1;
    // A few repeated words are labels; a problem with a solution may be anything.
    let has_labels = answers.rows > 3 && 2 * answers.distinct().len() <= answers.rows;
    let is_anything = answers.key == "solution";
    let has_lists = columns.iter().any(|column| !column.lists.is_empty());
    let is_sure = pairs.iter().all(is_text) && words <= texts && !has_labels && !is_anything && !has_lists;
    Some(rows_for_training(&pairs, is_sure))
}

fn rows_for_training(pairs: &[(&'static str, &SampledColumn<'_>)], is_sure: bool) -> Guess {
    Guess {
        source: "hf-messages",
        columns: pairs
            .iter()
            .map(|(key, column)| (*key, column.name.to_owned()))
            .collect(),
        is_sure,
        ..Guess::none()
    }
}

/// The names of the columns, with the values of those that may name speakers.
fn described(columns: &[SampledColumn<'_>]) -> String {
    let one = |column: &SampledColumn<'_>| {
        let values = column.distinct();
        let shows = (column.is_speaker() && !values.is_empty() && !column.has_words(3)).then(|| {
            let shown: Vec<&str> = values.iter().take(MAX_SHOWN).copied().collect();
            let more = if values.len() > MAX_SHOWN { ", …" } else { "" };
            format!(" ({} values: {}{more})", values.len(), shown.join(", "))
        });
        format!("{}{}", column.name, shows.as_deref().unwrap_or_default())
    };
    columns.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Guess {
    fn none() -> Self {
        Self {
            source: "",
            columns: Vec::new(),
            assistants: Vec::new(),
            is_sure: false,
            table: None,
            senders: None,
            described: String::new(),
        }
    }

    /// Whether the guess distinguishes agents from people.
    pub fn has_agents(&self) -> bool {
        let in_senders = self
            .senders
            .as_ref()
            .is_some_and(|senders| senders.agent.is_some());
        let has_roles = in_senders || self.columns.iter().any(|(key, _)| *key == "role");
        has_roles || self.source != "table-rows" || !self.assistants.is_empty()
    }

    /// The map of the table, under this name.
    pub fn map(&self, name: &str) -> TableMap {
        TableMap {
            name: name.to_owned(),
            source: self.source.to_owned(),
            table: TableMap::ANY.to_owned(),
            requires: self.columns.iter().map(|(_, theirs)| theirs.clone()).collect(),
            columns: self
                .columns
                .iter()
                .map(|(ours, theirs)| ((*ours).to_owned(), theirs.clone()))
                .collect(),
            is_own: true,
            ..TableMap::default()
        }
    }

    /// The options that read the table; `None` if the options cannot express a name.
    pub fn options(&self) -> Option<String> {
        let source = (self.source != "table-rows").then(|| format!("source={}", self.source));
        let pairs = self
            .columns
            .iter()
            .map(|(ours, theirs)| format!("{ours}={theirs}"));
        let table = self.table.as_ref().map(|table| format!("table={table}"));
        let senders = self.senders.as_ref().map(|senders| {
            let agent = senders.agent.iter().map(|agent| format!(":{agent}"));
            let columns = [&*senders.table, &*senders.id, &*senders.name].join(":");
            format!("sender_from={columns}{}", agent.collect::<String>())
        });
        let pairs: Vec<String> = table
            .into_iter()
            .chain(source)
            .chain(pairs)
            .chain(senders)
            .collect();
        let names = pairs.iter().chain(&self.assistants);
        let may_be = |name: &String| !name.contains([',', '\'', '\n']);
        let is_writable = { names }.all(may_be);
        let agents = match self.assistants.as_slice() {
            [] => String::new(),
            names => format!(" --assistant {}", quoted(&names.join(","))),
        };
        is_writable.then(|| format!("--map {}{agents}", quoted(&pairs.join(","))))
    }

    /// The map as a line of a pipeline file.
    pub fn line(&self, table: &str) -> String {
        let pairs = self
            .section(table)
            .into_iter()
            .map(|(key, value)| format!("{key} = {value}"));
        format!(
            "table_map.{table} = {{ {} }}",
            pairs.collect::<Vec<_>>().join(", ")
        )
    }

    /// The map as keys of a section, with their values as TOML.
    pub fn section(&self, table: &str) -> BTreeMap<String, String> {
        let mut pairs = BTreeMap::new();
        let mut pair =
            |key: &str, value: &str| pairs.insert(key.to_owned(), toml::Value::String(value.to_owned()));
        let further = self.source != "table-rows";
        pair("table", self.table.as_deref().unwrap_or(table));
        if further {
            pair("source", self.source);
        }
        let mut own = toml::Table::new();
        for (ours, theirs) in &self.columns {
            if further {
                own.insert((*ours).to_owned(), theirs.clone().into());
            } else {
                pair(ours, theirs);
            }
        }
        if let Some((_, sender)) = self.columns.iter().find(|(key, _)| *key == "sender")
            && !self.assistants.is_empty()
        {
            pair("role", sender);
            let roles = self
                .assistants
                .iter()
                .map(|name| (name.clone(), "assistant".into()));
            pairs.insert("roles".to_owned(), toml::Value::Table(roles.collect()));
        }
        if let Some(senders) = &self.senders {
            let keys = [
                ("table", Some(&senders.table)),
                ("id", Some(&senders.id)),
                ("name", Some(&senders.name)),
                ("agent", senders.agent.as_ref()),
            ];
            let keys = keys
                .into_iter()
                .filter_map(|(key, name)| Some((key.to_owned(), name?.clone().into())));
            pairs.insert("sender_from".to_owned(), toml::Value::Table(keys.collect()));
        }
        if further {
            pairs.insert("columns".to_owned(), toml::Value::Table(own));
        }
        pairs
            .into_iter()
            .map(|(key, value)| (key, value.to_string()))
            .collect()
    }
}

/// A word, quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || "_-.,=:/".contains(sign);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{word}'")
    }
}
