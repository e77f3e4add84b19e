//! Randomly drawn neighbours of samples: a sample changed in two or three places is recognised as its own format, as none, or as a format that loses
//! none of its words: unread words are rejected with the record or, if some words are read, kept among the extra fields.

use std::collections::BTreeSet;

use chatmill_drawn::{Random, cases, random, seed};
use chatmill_source::Source;
use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};

use super::words::{self, Words};
use super::{Sample, alone, samples, verdict};

/// The number of neighbours that an ordinary run of the tests draws.
const DRAWN: u32 = 1_500;

/// The name of an object around a moved record.
const AROUND: &str = "payload_data";

/// A suffix that makes a name unknown to every format.
const HIDDEN: &str = "_hidden";

pub(super) fn trial() -> Trial {
    Trial::test("matrix/drawn_neighbours", || {
        let mut samples = samples()?;
        // No format reads much of a sample that is faulty on purpose.
        samples.retain(|sample| !sample.name.contains("faulty"));
        let mut random = random(35);
        let mut emptied = Vec::new();
        for _ in 0..cases(DRAWN) {
            emptied.extend(draw(&samples, &mut random));
        }
        if emptied.is_empty() {
            return Ok(());
        }
        let count = emptied.len();
        emptied.truncate(20);
        Err(Failed::from(format!(
            "seed {}: {count} neighbours lose words to another format:\n{}",
            seed(),
            emptied.join("\n")
        )))
    })
}

/// Draws a neighbour. The result is a message if another format claims it and does not read its words.
fn draw(samples: &[Sample], random: &mut Random) -> Option<String> {
    let sample = random.pick(samples)?;
    let is_own = |other: &&Sample| other.source.id() == sample.source.id() && other.record.is_object();
    let own: Vec<&Sample> = samples.iter().filter(is_own).collect();
    let mut record = sample.record.clone();
    let mut changes = Vec::new();
    for _ in 0..2 + random.below(2) {
        changes.extend(change(&mut record, &own, random));
    }
    match random.below(8) {
        0 if record.is_object() => {
            changes.push("beside another".to_owned());
            record = json!([record, random.pick(&own)?.record]);
        }
        1 if record.is_object() => {
            changes.push("in an object".to_owned());
            record = json!({ AROUND: record });
        }
        _ => {}
    }
    let head = alone(&record);
    let verdict = verdict(&head);
    let other = chatmill_source::find(&verdict).filter(|other| other.id() != sample.source.id())?;
    let lost = lost(sample, other, &record);
    (!lost.is_empty()).then(|| {
        let lost: Vec<String> = lost.into_iter().collect();
        format!(
            "{}/{}, {}: {verdict} does not read {} of {record}",
            sample.source.id(),
            sample.name,
            changes.join(", "),
            lost.join(" ")
        )
    })
}

/// The words of a neighbour that its own format would read and another format loses: all of them if no message has a word, else those that are
/// neither read nor kept.
fn lost(sample: &Sample, other: &dyn Source, neighbour: &Value) -> BTreeSet<String> {
    let said = words::read(sample.source, &alone(&sample.record)).read;
    let own = words::read(sample.source, &alone(&named_again(neighbour))).read;
    let mut wanted: BTreeSet<String> = said.intersection(&own).cloned().collect();
    let mut left = BTreeSet::new();
    words::written(neighbour, &mut left);
    wanted.retain(|word| left.contains(word));
    let Words {
        mut read,
        rejected,
        kept,
    } = words::read(other, &alone(neighbour));
    read.extend(rejected);
    if !read.is_empty() {
        wanted.retain(|word| !read.contains(word) && !kept.contains(word));
    }
    wanted
}

/// A neighbour in its own format: without its wrapper, and with lists of messages under their usual names, because other formats do not need
/// these names.
fn named_again(neighbour: &Value) -> Value {
    match neighbour {
        Value::Array(items) => items.iter().map(named_again).collect(),
        Value::Object(fields) => match fields.get(AROUND) {
            Some(inside) => named_again(inside),
            None => fields.iter().map(name_again).collect(),
        },
        other => other.clone(),
    }
}

fn name_again((key, value): (&String, &Value)) -> (String, Value) {
    let mut items = value.as_array().into_iter().flatten();
    let key = if items.any(|item| item.get("role").is_some()) {
        key.trim_end_matches(HIDDEN)
    } else {
        key
    };
    (key.to_owned(), value.clone())
}

/// Changes a field somewhere in a record; the result describes the change.
fn change(record: &mut Value, own: &[&Sample], random: &mut Random) -> Option<String> {
    let fields = object(record, random)?;
    let keys: Vec<String> = fields.keys().cloned().collect();
    let key = random.pick(&keys)?.clone();
    match random.below(4) {
        0 => {
            let value = fields.remove(&key)?;
            fields.insert(format!("{key}{HIDDEN}"), value);
            Some(format!("{key} renamed"))
        }
        1 => {
            fields.remove(&key);
            Some(format!("{key} removed"))
        }
        2 => {
            let pool = random.pick(own)?.record.as_object()?;
            let names: Vec<&String> = pool.keys().collect();
            let name = if random.once_in(2) {
                "added_note".to_owned()
            } else {
                (*random.pick(&names)?).clone()
            };
            if fields.contains_key(&name) {
                return None;
            }
            let value = [
                json!("a note"),
                json!(7),
                json!(null),
                json!([]),
                json!({"note": 1}),
            ];
            fields.insert(name.clone(), random.pick(&value)?.clone());
            Some(format!("{name} added"))
        }
        _ => {
            let value = fields.get_mut(&key)?;
            let changed = match value {
                Value::String(_) => [json!(7), json!(null), json!([value]), json!({"note": value})],
                Value::Array(_) | Value::Object(_) => {
                    [json!(7), json!(null), json!([]), json!({"note": value})]
                }
                _ => [json!(null), json!([]), json!({}), json!({"note": value})],
            };
            *value = random.pick(&changed)?.clone();
            Some(format!("{key} of another kind"))
        }
    }
}

/// An object of the record: the record itself half of the time, else one somewhere below.
fn object<'v>(record: &'v mut Value, random: &mut Random) -> Option<&'v mut Map<String, Value>> {
    let mut at = record;
    loop {
        let below = |value: &Value| value.is_object() || value.is_array();
        let stays = at
            .as_object()
            .is_some_and(|fields| random.once_in(2) || fields.is_empty() || !fields.values().any(below));
        if stays {
            return at.as_object_mut();
        }
        let inside: Vec<&mut Value> = match at {
            Value::Object(fields) => fields.values_mut().filter(|value| below(value)).collect(),
            Value::Array(items) => items.iter_mut().filter(|value| below(value)).collect(),
            _ => return None,
        };
        let count = inside.len();
        at = inside.into_iter().nth(random.below(count))?;
    }
}
