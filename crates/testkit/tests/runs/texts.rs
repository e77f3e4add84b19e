//! A mark in every text of every file: each mark reaches a table, or a finding covers it. A text that a source drops
//! silently does neither.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use chatmill_testkit::samples::samples;
use chatmill_workshop::{TestDir, rows};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

/// Every branch is read; otherwise a finding about the whole conversation would report the omitted branches.
const BARE: &str = "[sources.chatgpt-export]\nbranches = \"all\"\n[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n";
/// The parts of a mark, which is appended to a text with its number in five digits between them.
const MARK: [&str; 2] = ["canary", " sings"];
/// The codes of findings about bytes that the source does not read, or keeps unchanged.
const REPORTING_CODES: [&str; 11] = [
    "SR001", "SR002", "SR003", "SR006", "SR016", "SR021", "SR026", "SR030", "AS002", "RF005", "TM001",
];

/// Keys of a source with texts that are used and not repeated: ids of answers and parents, other names of a person,
/// placeholders of files, and rows and texts that repeat others.
const USED: [(&str, &str); 13] = [
    ("claude-code", "parentUuid"),
    ("claude-code", "logicalParentUuid"),
    ("claude-code", "message.id"),
    ("claude-code", "summary"),
    ("copilot-cli", "data.attachments.[].path"),
    ("google-chat", "messages.[].creator.name"),
    ("messenger", "bumped_message_metadata.bumped_message"),
    ("qwen-code", "parentUuid"),
    ("qwen-code", "uuid"),
    ("slackdump", "messages.[].bot_profile.name"),
    ("telegram-export", "messages.[].file"),
    ("telegram-export", "messages.[].from"),
    ("telegram-export", "messages.[].photo"),
];

/// The marks of a file, each with the steps of its path: keys, and `[]` for list elements.
#[derive(Default)]
struct Marks {
    first: usize,
    paths: Vec<Vec<String>>,
}

impl Marks {
    fn mark(&mut self, text: &mut String, path: &[String]) {
        let number = self.first + self.paths.len();
        *text = format!("{text} {}{number:05}{}", MARK[0], MARK[1]);
        self.paths.push(path.to_vec());
    }

    /// Marks the texts of at least two words in a value, and in the JSON of a text.
    fn mark_all(&mut self, value: &mut Value, path: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    path.push(key.clone());
                    self.mark_all(field, path);
                    path.pop();
                }
            }
            Value::Array(items) => {
                path.push("[]".to_owned());
                for item in items {
                    self.mark_all(item, path);
                }
                path.pop();
            }
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(mut inside @ (Value::Object(_) | Value::Array(_))) => {
                    self.mark_all(&mut inside, path);
                    *text = inside.to_string();
                }
                _ if are_words(text) => self.mark(text, path),
                _ => {}
            },
            _ => {}
        }
    }

    /// The file with marks: as a document, or line by line.
    fn marked(&mut self, text: &str) -> String {
        let mut path = Vec::new();
        let text = text.trim_start_matches('\u{feff}');
        if let Ok(mut document) = serde_json::from_str::<Value>(text) {
            self.mark_all(&mut document, &mut path);
            return document.to_string();
        }
        let is_json = text.trim_start().starts_with(['{', '[']);
        let lines = text
            .lines()
            .map(|line| match serde_json::from_str::<Value>(line) {
                Ok(mut record) if is_json => {
                    self.mark_all(&mut record, &mut path);
                    record.to_string()
                }
                _ if !is_json && are_words(line) => {
                    let mut line = line.to_owned();
                    self.mark(&mut line, &[]);
                    line
                }
                _ => line.to_owned(),
            });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn are_words(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic));
    words.take(2).count() == 2
}

/// The numbers of the marks in these bytes, and their offsets.
fn marks_in(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    memchr::memmem::find_iter(bytes, MARK[0].as_bytes()).filter_map(|at| {
        let digits = bytes.get(at + MARK[0].len()..at + MARK[0].len() + 5)?;
        Some((std::str::from_utf8(digits).ok()?.parse().ok()?, at))
    })
}

/// The bytes of all columns except those for further fields and excerpts.
fn told_by(dataset: &Path, table: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let folder = dataset.join(table);
    for file in std::fs::read_dir(folder).into_iter().flatten() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "parquet") {
            continue;
        }
        let file = std::fs::File::open(path).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file)
            .unwrap()
            .build()
            .unwrap()
        {
            decode(&batch.unwrap(), &mut bytes);
        }
    }
    bytes
}

fn decode(batch: &RecordBatch, bytes: &mut Vec<u8>) {
    let schema = batch.schema();
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.filter(|(_, field)| !field.name().contains("extra") && field.name() != "input");
    let mut waiting: Vec<_> = columns.map(|(column, _)| column.to_data()).collect();
    while let Some(data) = waiting.pop() {
        for buffer in data.buffers() {
            bytes.extend_from_slice(buffer.as_slice());
        }
        waiting.extend(data.child_data().iter().cloned());
    }
}

/// The steps of a path in the notation of findings.
fn steps(path: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() {
        let quoted = rest.strip_prefix("['").and_then(|rest| rest.split_once("']"));
        if let Some((key, after)) = quoted {
            steps.push(key.replace("\\'", "'"));
            rest = after;
        } else if let Some((_, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            steps.push("[]".to_owned());
            rest = after;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            steps.push(name[..end].to_owned());
            rest = &name[end..];
        }
    }
    steps
}

fn without_places(path: &[String]) -> &[String] {
    let places = path.iter().take_while(|step| *step == "[]").count();
    &path[places..]
}

/// Whether a path of a record leads to a value that contains this one; records are cut out of lists.
fn leads_to(path: &[String], whole: &[String]) -> bool {
    let path = without_places(path);
    let is_at = |whole: &[String]| {
        path.len() <= whole.len()
            && path
                .iter()
                .zip(whole)
                .all(|(one, other)| one == other || one == "*")
    };
    let places = whole.iter().enumerate().filter(|(_, step)| *step == "[]");
    is_at(whole) || places.into_iter().any(|(place, _)| is_at(&whole[place + 1..]))
}

/// Writes the files below a folder with marks; returns their names and their marks.
fn plant(folder: &Path, shop: &TestDir) -> BTreeMap<String, (String, Marks)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    let mut first = 0;
    while let Some(next) = folders.pop() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(&next)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_none = [".expected.", "PROVENANCE", "vectors.json"]
                .iter()
                .any(|no| name.contains(no));
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            if is_none {
                continue;
            }
            let mut marks = Marks {
                first,
                ..Marks::default()
            };
            let text = marks.marked(&text);
            first += marks.paths.len();
            shop.write(&format!("in/{name}"), &text);
            all.insert(name, (text, marks));
        }
    }
    all
}

/// The number of marks below a folder, and the silent ones by file and path, with their numbers.
fn silent(folder: &Path) -> (usize, BTreeMap<(String, String), usize>) {
    let shop = TestDir::new();
    let files = plant(folder, &shop);
    let summary = shop.run("out", BARE, 2).unwrap();
    let inputs = summary.manifest.inputs.iter();
    // Rows that repeat those of another file are dropped with a note.
    let without: BTreeSet<String> = inputs
        .filter(|input| input.conversations == 0 || input.rows.repeated > 0)
        .map(|input| input.path)
        .collect();
    let out = shop.path("out");
    let mut reached = BTreeSet::new();
    let [kinds, extras] = ["kind", "extra"].map(|column| rows::texts(&out, "messages", column));
    // The heads of text exports are kept with the conversation.
    let heads: Vec<u8> = rows::texts(&out, "conversations", "extra")
        .into_iter()
        .flatten()
        .flat_map(String::into_bytes)
        .collect();
    let heads: BTreeSet<usize> = marks_in(&heads).map(|(number, _)| number).collect();
    for (_, extra) in kinds
        .iter()
        .zip(&extras)
        .filter(|(kind, _)| kind.as_deref() == Some("notice"))
    {
        let extra = extra.as_deref().unwrap_or_default();
        reached.extend(marks_in(extra.as_bytes()).map(|(number, _)| number));
    }
    for table in std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
    {
        let bytes = told_by(&out, &table.to_string_lossy());
        reached.extend(marks_in(&bytes).map(|(number, _)| number));
    }
    let [inputs, codes, paths] =
        ["input", "code", "json_path"].map(|column| rows::texts(&out, "findings", column));
    let [starts, ends] = ["byte_start", "byte_end"].map(|column| rows::numbers(&out, "findings", column));
    let (mut count, mut silent) = (0, BTreeMap::new());
    for (name, (text, marks)) in &files {
        let of_file = |row: &usize| inputs[*row].as_deref() == Some(name);
        let reported: Vec<usize> = (0..codes.len()).filter(of_file).collect();
        let unread: Vec<Vec<String>> = reported
            .iter()
            .filter(|row| codes[**row].as_deref() == Some("SR034"))
            .map(|row| steps(paths[*row].as_deref().unwrap_or_default()))
            .collect();
        let is_reported = |row: &usize| {
            codes[*row]
                .as_deref()
                .is_some_and(|code| REPORTING_CODES.contains(&code) || code.starts_with("IN"))
        };
        let reported: Vec<usize> = reported.iter().copied().filter(is_reported).collect();
        // For a file that accompanies conversations, such as a list of channels, or is no chat, the verdict names the file.
        let is_refused = without.contains(name);
        for (number, at) in marks_in(text.as_bytes()) {
            count += 1;
            let path = &marks.paths[number - marks.first];
            let is_covered = |row: &usize| {
                let span = starts[*row].zip(ends[*row]);
                span.is_some_and(|(start, end)| (start..end).contains(&(at as i64)))
                    || paths[*row]
                        .as_deref()
                        .is_some_and(|reported| leads_to(&steps(reported), path))
            };
            let is_reached = is_refused
                || reached.contains(&number)
                || unread.iter().any(|unread| leads_to(unread, path))
                || reported.iter().any(is_covered);
            let key = path.join(".");
            let is_head = path.is_empty() && heads.contains(&number);
            let is_of = |source: &str| {
                let mut folders = Path::new(name).components();
                folders.any(|folder| folder.as_os_str() == source)
            };
            let is_key = |(source, used): &(&str, &str)| key.ends_with(used) && is_of(source);
            let is_used = is_head || USED.iter().any(is_key);
            if !is_reached && !is_used {
                *silent.entry((name.clone(), path.join("."))).or_insert(0) += 1;
            }
        }
    }
    (count, silent)
}

fn report((count, silent): &(usize, BTreeMap<(String, String), usize>)) -> String {
    let lines = silent
        .iter()
        .map(|((file, path), times)| format!("{times} {file} {path}\n"));
    let without: usize = silent.values().sum();
    format!(
        "{without} of {count} texts reach no table and no finding\n{}",
        lines.collect::<String>()
    )
}

#[test]
fn every_text_of_the_samples_reaches_a_table_or_a_finding() {
    let reported = silent(&samples().join("sources"));
    assert!(reported.1.is_empty(), "{}", report(&reported));
}

#[test]
#[ignore = "reads the folders that FOLDERS names, separated by colons"]
fn every_text_of_other_folders_reaches_a_table_or_a_finding() {
    let folders = std::env::var("FOLDERS").unwrap();
    let all = folders.split(':').map(|folder| silent(Path::new(folder)));
    let all: Vec<_> = all.inspect(|reported| println!("{}", report(reported))).collect();
    assert!(all.iter().all(|(_, silent)| silent.is_empty()));
}
