//! The samples of all sources, enlarged at every place: each list repeated, each object with many keys, each text full
//! of characters that have a meaning in some format.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use chatmill_testkit::samples::samples;
use serde_json::{Map, Value, json};

use crate::shapes::Files;

/// Texts to repeat inside a text: beginnings without an end, and search patterns.
const PATTERNS: &[&str] = &[
    "a",
    "\n",
    "\n\n",
    " ",
    "\t",
    "\"",
    "\\",
    "\\n",
    "'",
    "<",
    "<@",
    "<@U1> ",
    "<#C1|x> ",
    "<https://a.example|",
    "<!here> ",
    "&amp;",
    "&",
    "@",
    "@ada ",
    ":a:",
    "[",
    "]",
    "[[",
    "[Image:",
    "[Image: a](",
    "![",
    "![a](https://a.example/a.png)",
    "(",
    "{",
    "{\"a\":",
    "[meta]",
    "[RESPOND]",
    "<|im_start|>",
    "<|im_start|>user\n",
    "<|im_end|>\n",
    "<|endoftext|>",
    "<think>",
    "</think>",
    "<a>",
    "```",
    "`",
    "*",
    "_",
    "~",
    "> ",
    "https://",
    "https://a.example/ ",
    "data:image/png;base64,",
    "data:",
    "1/2/26, 10:00 - Ada: a\n",
    "ada@a.example ",
    "+1 555 0100 ",
    "4111 1111 1111 1111 ",
    "sk-",
    "\u{200b}",
    "\u{202e}",
    "\u{fffd}",
    "\u{0}",
    "é",
    "👩\u{200d}",
    "User: a\nAssistant: ",
    "\n\nHuman: a\n\nAssistant: b",
    "<|im_start|>user\na<|im_end|>\n",
    "<tool_call>{}</tool_call>",
    "<think>a</think>",
    "[INST] a [/INST] b ",
    "#### a  \n",
    "> a  \n",
    "Human: ",
    "call_1 ",
    "【1†a】",
    "\u{e200}cite\u{e202}",
    "Europe/Nowhere ",
    "2026-01-01T00:00:00Z ",
];

/// Beginnings that decide how a whole text is read; the enlarged text has nothing else.
const WHOLE: &[&str] = &[
    "\n\nHuman: a\n\nAssistant: b",
    "<|im_start|>user\na<|im_end|>\n",
    "[{\"a\":",
    "<think>a</think>",
    "> a\n",
];

/// Elements that are useless in any list.
const JUNK: &[&str] = &["5", "null", "\"a\"", "{}", "[]", "{\"a\":1}"];

/// The change at a place.
#[derive(Clone, Copy, Debug)]
enum How {
    /// The list is repeated.
    Again,
    /// The list, or the values of an object, are repeated, each time with different ids.
    Numbered,
    /// The list is repeated, each time with different ids, names and addresses.
    Named,
    /// One element is repeated with different ids.
    Element(usize),
    /// Useless elements at the end of the list.
    Junk(usize),
    /// Unknown keys, with the value of an existing one.
    Keys,
    /// A pattern inside a text.
    Pattern(usize),
    /// A pattern instead of a text.
    Whole(usize),
}

/// A step into a value.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
    /// Into the JSON in a text.
    Inside,
}

/// A sample that is enlarged at one place.
#[derive(Clone, Debug)]
pub(crate) struct Amplified {
    sample: PathBuf,
    place: Vec<Step>,
    how: How,
}

/// A sample as a value: a text is the list of its lines, and JSON lines are the list of theirs.
fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    match ending(path) {
        "json" => serde_json::from_str(&text).unwrap(),
        "jsonl" => text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .collect(),
        _ => text.lines().map(Value::from).collect(),
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap()
}

/// The valid sample of a source, enlarged in its longest list.
pub(crate) fn longest_list(source: &str) -> Option<Amplified> {
    let example = samples().join("sources").join(source).join("example");
    let sample = example.is_dir().then(|| folders(&example).remove(0))?;
    let value = read(&sample);
    let mut lists: Vec<Vec<Step>> = Vec::new();
    places(&value, &mut Vec::new(), &mut |place, how| {
        if let How::Numbered = how {
            lists.push(place.to_vec());
        }
    });
    let bytes = |place: &Vec<Step>| {
        let here = place.iter().try_fold(&value, |here, step| match step {
            Step::Key(key) => here.get(key),
            Step::Index(index) => here.get(index),
            Step::Inside => None,
        });
        here.map_or(0, |here| here.to_string().len())
    };
    // The list of all records is not part of a record.
    let place = lists
        .into_iter()
        .filter(|place| place.len() > 1)
        .max_by_key(bytes)?;
    let how = How::Numbered;
    Some(Amplified { sample, place, how })
}

/// Every way to enlarge every sample.
pub(crate) fn all() -> Vec<Amplified> {
    let mut files = Vec::new();
    for source in folders(&samples().join("sources")) {
        files.extend(folders(&source.join("example")));
        files.extend(folders(&source).into_iter().filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            path.is_file() && !name.ends_with(".expected.json") && name != "vectors.json"
        }));
    }
    let mut all = Vec::new();
    for sample in files {
        places(&read(&sample), &mut Vec::new(), &mut |place, how| {
            let (sample, place) = (sample.clone(), place.to_vec());
            all.push(Amplified { sample, place, how });
        });
    }
    all
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The valid sample of a source with `n` useless elements in every list, and in every object that has only lists or objects.
pub(crate) fn junk_of(source: &str, n: usize) -> Files {
    let sample = folders(&samples().join("sources").join(source).join("example")).remove(0);
    let mut value = read(&sample);
    add_junk(&mut value, n);
    written(&sample, &value)
}

fn add_junk(value: &mut Value, n: usize) {
    match value {
        Value::Array(list) => {
            for item in list.iter_mut() {
                add_junk(item, n);
            }
            list.extend(std::iter::repeat_n(json!(5), n));
        }
        Value::Object(object) => {
            let is_map = is_map(object);
            object.values_mut().for_each(|value| add_junk(value, n));
            if is_map {
                object.extend((0..n).map(|number| (format!("junk{number}"), json!(5))));
            }
        }
        _ => {}
    }
}

/// Whether the keys may be ids of the values.
fn is_map(object: &Map<String, Value>) -> bool {
    object.values().all(|value| value.is_object() || value.is_array())
}

/// A file in the format of the sample, with the enlarged value.
fn written(sample: &Path, value: &Value) -> Files {
    let bytes = match ending(sample) {
        "json" => value.to_string(),
        "jsonl" => lines(value, Value::to_string),
        _ => lines(value, |line| {
            line.as_str().map_or_else(|| line.to_string(), str::to_owned)
        }),
    };
    vec![(format!("a.{}", ending(sample)), bytes.into_bytes())]
}

/// Collects all changes that can be made to a value and below it.
fn places(value: &Value, place: &mut Vec<Step>, add: &mut dyn FnMut(&[Step], How)) {
    match value {
        Value::Array(list) => {
            for how in [How::Again, How::Numbered, How::Named] {
                add(place, how);
            }
            (0..list.len()).for_each(|index| add(place, How::Element(index)));
            (0..JUNK.len()).for_each(|junk| add(place, How::Junk(junk)));
            for (index, item) in list.iter().enumerate() {
                place.push(Step::Index(index));
                places(item, place, add);
                place.pop();
            }
        }
        Value::Object(object) => {
            add(place, How::Keys);
            if is_map(object) {
                add(place, How::Numbered);
            }
            for (key, value) in object {
                place.push(Step::Key(key.clone()));
                places(value, place, add);
                place.pop();
            }
        }
        Value::String(text) => {
            (0..PATTERNS.len()).for_each(|pattern| add(place, How::Pattern(pattern)));
            (0..WHOLE.len()).for_each(|pattern| add(place, How::Whole(pattern)));
            if let Some(value) = inside(text) {
                place.push(Step::Inside);
                places(&value, place, add);
                place.pop();
            }
        }
        _ => {}
    }
}

/// The list or object that a text contains as JSON.
fn inside(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

impl Amplified {
    /// The name in tables.
    pub(crate) fn name(&self) -> String {
        let sample = self.sample.strip_prefix(samples().join("sources")).unwrap();
        let place: String = self
            .place
            .iter()
            .map(|step| match step {
                Step::Key(key) => format!(".{key}"),
                Step::Index(index) => format!("[{index}]"),
                Step::Inside => "|".to_owned(),
            })
            .collect();
        let how = match self.how {
            How::Junk(junk) => format!("junk {}", JUNK[junk]),
            How::Pattern(pattern) => format!("{:?}", PATTERNS[pattern]),
            How::Whole(pattern) => format!("{:?} alone", WHOLE[pattern]),
            how => format!("{how:?}").to_lowercase(),
        };
        format!("{} ${place} {how}", sample.display())
    }

    /// The source of the sample; samples that a map reads are detected.
    pub(crate) fn source(&self) -> &str {
        let folder = self.sample.strip_prefix(samples().join("sources")).unwrap();
        let source = folder.iter().next().unwrap().to_str().unwrap();
        if source == "mapped" { "auto" } else { source }
    }

    /// The sample, enlarged by about `n` elements.
    pub(crate) fn files(&self, n: usize) -> Files {
        let mut value = read(&self.sample);
        let mut ids = HashSet::new();
        ids_of(&value, "", &mut ids);
        self.grow_at(&self.place, &mut value, n, &mut ids);
        written(&self.sample, &value)
    }

    fn grow_at(&self, place: &[Step], here: &mut Value, n: usize, ids: &mut HashSet<String>) {
        match place.split_first() {
            Some((Step::Key(key), place)) => self.grow_at(place, &mut here[key.as_str()], n, ids),
            Some((Step::Index(index), place)) => self.grow_at(place, &mut here[*index], n, ids),
            Some((Step::Inside, place)) => {
                let mut value = inside(here.as_str().unwrap()).unwrap();
                ids_of(&value, "", ids);
                self.grow_at(place, &mut value, n, ids);
                *here = Value::from(value.to_string());
            }
            None => {
                if let (Value::Object(object), How::Numbered) = (&*here, self.how) {
                    ids.extend(object.keys().cloned());
                }
                self.grow(here, n, ids);
            }
        }
    }

    fn grow(&self, here: &mut Value, n: usize, ids: &HashSet<String>) {
        let again = |value: &Value, time: usize| match self.how {
            How::Again => value.clone(),
            how => renamed(value, "", time, ids, matches!(how, How::Named)),
        };
        match (here, self.how) {
            (Value::Array(list), How::Junk(junk)) => {
                let junk: Value = serde_json::from_str(JUNK[junk]).unwrap();
                list.extend(std::iter::repeat_n(junk, n));
            }
            (Value::Array(list), How::Element(index)) => {
                let more: Vec<Value> = (1..=n).map(|time| again(&list[index], time)).collect();
                list.splice(index..index, more);
            }
            (Value::Array(list), _) => {
                let own = list.clone();
                let times = 1..=n / own.len().max(1);
                list.extend(
                    times
                        .flat_map(|time| own.iter().map(move |item| (time, item)))
                        .map(|(time, item)| again(item, time)),
                );
            }
            (Value::Object(object), How::Keys) => {
                let value = object.values().next().cloned().unwrap_or(Value::Null);
                let value = if value.to_string().len() > 200 {
                    json!("a")
                } else {
                    value
                };
                object.extend((0..n).map(|number| (format!("key{number}"), value.clone())));
            }
            (Value::Object(object), _) => {
                let own = Value::Object(object.clone());
                for time in 1..=n / object.len().max(1) {
                    object.append(again(&own, time).as_object_mut().unwrap());
                }
            }
            (Value::String(text), How::Pattern(pattern)) => *text += &PATTERNS[pattern].repeat(n),
            (Value::String(text), How::Whole(pattern)) => *text = WHOLE[pattern].repeat(n),
            _ => unreachable!("places are told by what stands there"),
        }
    }
}

fn lines(list: &Value, line: fn(&Value) -> String) -> String {
    list.as_array()
        .unwrap()
        .iter()
        .map(|item| line(item) + "\n")
        .collect()
}

/// Whether texts under this key are ids.
fn is_id(key: &str) -> bool {
    let key = key.to_lowercase();
    ["id", "parent", "ts", "uuid"]
        .iter()
        .any(|end| key.ends_with(end))
}

fn is_name(key: &str) -> bool {
    let key = key.to_lowercase();
    [
        "name", "model", "title", "url", "path", "author", "sender", "user",
    ]
    .iter()
    .any(|word| key.contains(word))
}

fn ids_of(value: &Value, key: &str, ids: &mut HashSet<String>) {
    match value {
        Value::String(text) if is_id(key) => {
            ids.insert(text.clone());
        }
        Value::Array(list) => list.iter().for_each(|item| ids_of(item, key, ids)),
        Value::Object(object) => object.iter().for_each(|(key, value)| ids_of(value, key, ids)),
        _ => {}
    }
}

/// A copy with different ids, and possibly names; references within it remain valid.
fn renamed(value: &Value, key: &str, time: usize, ids: &HashSet<String>, has_names: bool) -> Value {
    let renamed_text = |text: &str| {
        let is_other = ids.contains(text) || has_names && is_name(key);
        if is_other {
            format!("{text}-{time}")
        } else {
            text.to_owned()
        }
    };
    match value {
        Value::String(text) => Value::from(renamed_text(text)),
        Value::Number(number) if is_id(key) => match number.as_i64() {
            Some(number) => json!(number.wrapping_add_unsigned(time as u64 * 1_000)),
            None => value.clone(),
        },
        Value::Array(list) => list
            .iter()
            .map(|item| renamed(item, key, time, ids, has_names))
            .collect(),
        Value::Object(object) => {
            let fields = object.iter().map(|(name, value)| {
                let own = if ids.contains(name) {
                    format!("{name}-{time}")
                } else {
                    name.clone()
                };
                (own, renamed(value, name, time, ids, has_names))
            });
            Value::Object(fields.collect::<Map<String, Value>>())
        }
        _ => value.clone(),
    }
}
