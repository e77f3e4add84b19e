//! Canaries: values that must not appear in any output. They are put into every place of every sample and looked for in
//! every file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use arrow_array::Array;
use arrow_array::RecordBatch;
use chatmill_drawn::Random;
use chatmill_source::SOURCES;
use chatmill_testkit::samples::sample_files;
use memchr::memmem;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

/// Words that must not appear in any output, in lower case, with their meaning.
pub(crate) const CANARIES: [(&str, &str); 8] = [
    ("email", "zaphira.quillon@canary-post.example"),
    ("phone", "+49 30 90182077"),
    ("ip", "10.77.88.99"),
    ("ip6", "fe80::77:88ff:fe99:aabb"),
    ("card", "4929 7171 2345 6781"),
    ("iban", "de89370400440532013000"),
    ("key", "ghp_0123456789abcdefghijabcdefghij012345"),
    ("token", "canarytoken7f3a9c"),
];

/// A text that contains a canary.
fn written(random: &mut Random, canary: &str) -> String {
    let plain = match canary {
        "canarytoken7f3a9c" => format!("https://files.example/a?x=1&token={canary}"),
        _ if random.once_in(4) && !canary.starts_with("ghp_") => canary.to_uppercase(),
        _ => canary.to_owned(),
    };
    match random.below(12) {
        0 => format!("{{\"deep\":\"{plain}\"}}"),
        1 => format!("{{\"deep\":\"{{\\\"deeper\\\":\\\"x\\\\n{plain}\\\"}}\"}}"),
        2 => plain.replace('@', "\\u0040"),
        3 => plain.replace('@', "%40"),
        4 => plain.replace('@', "＠").replace('1', "１"),
        5 => insert(&plain, "\u{200b}"),
        6 => insert(&plain, "\u{1}"),
        7 => plain.replace('@', "<b>@</b>").replace("77", "7<i>7</i>"),
        8 => format!("**{plain}**"),
        9 => format!("line\n{plain}\nline"),
        10 => format!("кому: {plain}, 谢谢"),
        _ => format!("see {plain} there"),
    }
}

/// Inserts an invisible character in the middle.
fn insert(text: &str, sign: &str) -> String {
    let (head, tail) = text.split_at(text.len() / 2);
    format!("{head}{sign}{tail}")
}

/// Samples of all sources with canaries in values and keys: name, text, number of canaries. A round has a third of the samples.
pub(crate) fn mutated(round: u64) -> Vec<(String, String, usize)> {
    let mut random = chatmill_drawn::random(round);
    let mut sources: Vec<&str> = SOURCES.iter().map(|source| source.id()).collect();
    sources.sort_unstable();
    let files = sources
        .into_iter()
        .flat_map(|source| sample_files(&format!("sources/{source}")));
    let mut files: Vec<PathBuf> = files.collect();
    files.retain(|file| !file.to_string_lossy().contains(".expected.") && random.once_in(3));
    let mut out = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let folder = file
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let name = format!("{folder}-{}", file.file_name().unwrap().to_string_lossy());
        let mut count = 0;
        let text = match serde_json::from_str::<Value>(&text) {
            Err(_) => {
                let lines = text.lines().map(|line| {
                    if line.starts_with('<') || random.once_in(2) {
                        return line.to_owned();
                    }
                    count += 1;
                    format!("{line} {}", any(&mut random))
                });
                lines.collect::<Vec<_>>().join("\n")
            }
            Ok(mut value) => {
                seed_value(&mut random, &mut value, &mut count);
                let text = value.to_string();
                if random.once_in(2) {
                    text.replace('@', "\\u0040")
                } else {
                    text
                }
            }
        };
        out.push((name, text, count));
    }
    out
}

fn any(random: &mut Random) -> String {
    let (_, canary) = *random.pick(&CANARIES).unwrap();
    written(random, canary)
}

fn seed_value(random: &mut Random, value: &mut Value, count: &mut usize) {
    match value {
        Value::String(text) => {
            // Strings that distinguish formats and kinds are rarely changed: otherwise nearly all records would be rejected.
            let is_prose = text.contains(' ');
            if random.once_in(if is_prose { 2 } else { 14 }) {
                *count += 1;
                *text = if is_prose {
                    // The next chunk of a stream must not continue the number.
                    format!("{text} {};", any(random))
                } else {
                    any(random)
                };
            } else if text.starts_with('{')
                && let Ok(mut inner) = serde_json::from_str::<Value>(text)
            {
                seed_value(random, &mut inner, count);
                *text = inner.to_string();
            }
        }
        Value::Array(values) => {
            for value in values {
                seed_value(random, value, count);
            }
        }
        Value::Object(fields) => {
            for (_, value) in fields.iter_mut() {
                seed_value(random, value, count);
            }
            if random.once_in(5) {
                let mut extra = Map::new();
                extra.insert(any(random), Value::from(any(random)));
                extra.insert("card".to_owned(), Value::from(4_929_717_123_456_781_u64));
                fields.insert(any(random), Value::Object(extra));
                *count += 4;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The canaries in a dataset, each with the file that contains it.
pub(crate) fn canaries_in(dataset: &Path) -> BTreeSet<(&'static str, String)> {
    let mut found = BTreeSet::new();
    for (file, bytes) in contents(dataset) {
        for (kind, canary) in CANARIES {
            let together = canary.replace(' ', "");
            for spelling in [canary, together.as_str()] {
                if memmem::find(&bytes, spelling.as_bytes()).is_some() {
                    found.insert((kind, file.clone()));
                }
            }
        }
    }
    found
}

/// Every file of a dataset as stored, and every column of every table decoded; all in lower case.
fn contents(dataset: &Path) -> Vec<(String, Vec<u8>)> {
    let mut contents = Vec::new();
    let mut folders = vec![dataset.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(dataset).unwrap().to_string_lossy().into_owned();
            let mut bytes = std::fs::read(&path).unwrap();
            if path.extension().is_some_and(|extension| extension == "parquet") {
                let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap());
                for batch in reader.unwrap().build().unwrap() {
                    decode(&batch.unwrap(), &mut bytes);
                }
            }
            bytes.make_ascii_lowercase();
            contents.push((name, bytes));
        }
    }
    assert!(contents.len() > 8, "{} files", contents.len());
    contents
}

fn decode(batch: &RecordBatch, bytes: &mut Vec<u8>) {
    let mut waiting: Vec<_> = batch.columns().iter().map(Array::to_data).collect();
    while let Some(data) = waiting.pop() {
        for buffer in data.buffers() {
            bytes.extend_from_slice(buffer.as_slice());
        }
        waiting.extend(data.child_data().iter().cloned());
    }
}
