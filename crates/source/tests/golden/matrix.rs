//! Every sample of every format against every format: exactly one wins, the sample's own. So do its neighbours: the same with one key
//! more, one key less, in an array, as a line, in a wrapper. `matrix.expected.txt` lists each cell that is otherwise, and who wins there:
//! a line that comes anew is looked at before it is blessed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use chatmill_golden::check;
use chatmill_intake::{Framing, Head};
use chatmill_source::SOURCES;
use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};

/// The test, and what it holds the cells against.
pub(crate) fn trial() -> Trial {
    Trial::test("matrix", || {
        let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/matrix.expected.txt");
        check(&expected, &deviations()?)?;
        Ok(())
    })
}

/// Every cell in which not the sample's own format wins alone.
fn deviations() -> Result<String, Failed> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let mut told = String::new();
    for source in SOURCES {
        let folder = samples.join(source.id());
        for name in super::names(&folder) {
            let is_sample = Path::new(&name)
                .extension()
                .is_some_and(|ending| ending == "json")
                && !name.ends_with(".expected.json")
                && name != "vectors.json";
            if !is_sample || name.starts_with("rejected-") {
                continue;
            }
            let record: Value = serde_json::from_str(&fs::read_to_string(folder.join(&name))?)?;
            for (neighbour, framing, text) in neighbours(&record) {
                let head = Head {
                    framing,
                    complete: true,
                    bytes: text.into_bytes(),
                };
                let verdict = verdict(&head);
                if verdict != source.id() {
                    writeln!(told, "{}/{name} {neighbour}: {verdict}", source.id())?;
                }
            }
        }
    }
    Ok(told)
}

/// The neighbours of a sample, each with how it is framed.
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

/// Who wins; with everybody who is as sure.
fn verdict(head: &Head) -> String {
    let sketch = head.sketch();
    let Some(best) = chatmill_source::detect(&sketch) else {
        let look = chatmill_source::look(head, &sketch);
        return look.map_or_else(
            || "nobody".to_owned(),
            |look| format!("nobody; it is named {}", look.name),
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
