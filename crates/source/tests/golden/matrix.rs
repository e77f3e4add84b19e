//! Detects every sample of every format: exactly one format wins, the sample's own. The same is true for the neighbours of a sample: with a key
//! added or removed, in an array, as a line, in a wrapper. `matrix.expected.txt` lists each exception, with the winner, and whether the winner
//! reads the same words: review new lines before blessing them. [`no_chats`] are rows that match no format, and [`drawn`] draws more neighbours.

mod drawn;
mod no_chats;
mod words;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use chatmill_diag::Limits;
use chatmill_golden::check;
use chatmill_intake::{Framing, Head};
use chatmill_source::{SOURCES, Source};
use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};

/// The tests.
pub(crate) fn trials() -> Vec<Trial> {
    let matrix = Trial::test("matrix", || {
        let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/matrix.expected.txt");
        check(&expected, &deviations()?)?;
        Ok(())
    });
    vec![matrix, no_chats::trial(), drawn::trial()]
}

/// A record of a format.
struct Sample {
    source: &'static dyn Source,
    name: String,
    record: Value,
}

/// Every JSON sample that is not rejected.
fn samples() -> Result<Vec<Sample>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let mut samples = Vec::new();
    for source in SOURCES.iter().copied() {
        let folder = folder.join(source.id());
        for name in super::names(&folder) {
            let is_sample = Path::new(&name)
                .extension()
                .is_some_and(|ending| ending == "json")
                && !name.ends_with(".expected.json")
                && name != "vectors.json";
            if is_sample && !name.starts_with("rejected-") {
                let record = serde_json::from_str(&fs::read_to_string(folder.join(&name))?)?;
                samples.push(Sample { source, name, record });
            }
        }
    }
    Ok(samples)
}

/// Every neighbour for which the sample's own format is not the only winner.
fn deviations() -> Result<String, Failed> {
    let mut told = String::new();
    for sample in samples()? {
        let own = sample.source.id();
        for (neighbour, framing, text) in neighbours(&sample.record) {
            let head = head(framing, text);
            let verdict = verdict(&head);
            if verdict != own {
                let other = chatmill_source::find(&verdict);
                let lost = other.map(|other| lost(&sample, other, &head));
                let lost = lost.unwrap_or_default();
                writeln!(told, "{own}/{} {neighbour}: {verdict}{lost}", sample.name)?;
            }
        }
    }
    Ok(told)
}

/// The difference in words between a sample read by its own format and by another one.
fn lost(sample: &Sample, other: &dyn Source, neighbour: &Head) -> String {
    let whole = alone(&sample.record);
    let mut left = BTreeSet::new();
    let values = serde_json::Deserializer::from_slice(&neighbour.bytes).into_iter::<Value>();
    for value in values {
        words::written(&value.unwrap(), &mut left);
    }
    let mut said = words::read(sample.source, &whole).read;
    said.retain(|word| left.contains(word));
    let read = words::read(other, neighbour).read;
    let lost: Vec<String> = said.difference(&read).cloned().collect();
    match lost.as_slice() {
        [] => ", which reads all words".to_owned(),
        lost if lost.len() > 9 => format!(", which does not read {} of {} words", lost.len(), said.len()),
        lost => format!(
            ", which does not read, of {} words: {}",
            said.len(),
            lost.join(" ")
        ),
    }
}

/// A record as a separate file.
fn alone(record: &Value) -> Head {
    let framing = if record.is_array() {
        Framing::Array
    } else {
        Framing::Documents
    };
    head(framing, record.to_string())
}

/// A complete file with this framing.
fn head(framing: Framing, text: String) -> Head {
    Head {
        framing,
        complete: true,
        bytes: text.into_bytes(),
    }
}

/// The neighbours of a sample, each with its framing.
fn neighbours(record: &Value) -> Vec<(String, Framing, String)> {
    let mut all = Vec::new();
    match record {
        Value::Object(fields) => {
            all.push(("alone".to_owned(), Framing::Documents, record.to_string()));
            all.push(("as a line".to_owned(), Framing::Lines, format!("{record}\n")));
            all.push((
                "in an array".to_owned(),
                Framing::Array,
                format!("[{record},{record}]"),
            ));
            let mut more = fields.clone();
            more.insert("added_note".to_owned(), json!({"text": "nobody knows this key"}));
            all.push((
                "with a key more".to_owned(),
                Framing::Documents,
                Value::Object(more).to_string(),
            ));
            for key in fields.keys() {
                let less: Map<String, Value> =
                    fields.iter().filter(|(own, _)| *own != key).map(pair).collect();
                let name = format!("without {key}");
                all.push((name, Framing::Documents, Value::Object(less).to_string()));
            }
            all.push((
                "in a wrapper".to_owned(),
                Framing::Documents,
                json!({ "payload_data": record }).to_string(),
            ));
        }
        Value::Array(rows) => {
            let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
            all.push(("as lines".to_owned(), Framing::Lines, lines.join("\n") + "\n"));
            all.push(("as an array".to_owned(), Framing::Array, record.to_string()));
        }
        _ => {}
    }
    all
}

fn pair((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// The winner of detection, with every format of the same confidence.
fn verdict(head: &Head) -> String {
    let sketch = head.sketch();
    let Some(best) = chatmill_source::detect(head, &Limits::default()) else {
        let format = chatmill_source::unsupported_format(head, &sketch);
        return format.map_or_else(
            || "nobody".to_owned(),
            |format| format!("nobody; it is named {}", format.name),
        );
    };
    let evidence = SOURCES.iter().filter_map(|source| source.detect(&sketch));
    let as_sure = evidence.filter(|other| other.confidence == best.confidence && other.source != best.source);
    let others: Vec<&str> = as_sure.map(|other| other.source).collect();
    if others.is_empty() {
        best.source.to_owned()
    } else {
        format!("{}, and as sure {}", best.source, others.join(", "))
    }
}
