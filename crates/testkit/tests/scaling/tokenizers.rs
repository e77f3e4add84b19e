//! Tokenizer files: those of all families, enlarged at every place of their steps and their model, and files that only
//! an attacker writes. The cost of reading is in proportion to the file, or the file is refused; the cost of counting
//! with the largest accepted one is in proportion to the text.

use std::path::Path;

use chatmill_token::Encoding;
use serde_json::{Value, json};

use crate::measured::{Counted, Effort, Growth, Taken, alone};
use crate::{FLOOR, MORE, MOST, MOST_COUNTED};

/// The largest allowed growth of memory during counting, in a few buffers that double. Quadratic growth is 4.
const MOST_DOUBLED: f64 = 2.0;

/// The largest allowed growth of time during merges: n log n, in more memory than a cache has. Quadratic growth is 16.
const MOST_MERGED: f64 = 1.3 * MOST;

/// Ways to enlarge a file.
enum Enlarged {
    /// At a list or a text, given by its JSON pointer.
    Place(String),
    /// In a special way.
    Hostile(Enlarge),
}

/// A file, and the way in which it is enlarged.
struct LargeFile {
    name: String,
    file: Value,
    enlarged: Enlarged,
}

/// Enlarges a file by a number of elements.
type Enlarge = fn(&mut Value, usize);

/// Files that only an attacker writes.
const HOSTILE: &[(&str, Enlarge)] = &[
    ("digits that are cut again", |file, n| {
        cut(
            file,
            vec![json!({"type": "Digits", "individual_digits": true}); n],
        );
    }),
    ("splits that differ", |file, n| {
        let splits = (1..=n).map(|length| split(&format!("\\p{{L}}{{{length}}}")));
        cut(file, splits.collect());
    }),
    ("bytes of bytes", |file, n| cut(file, vec![bytes(); n])),
    ("alternatives", |file, n| {
        cut(file, vec![split(&format!("{}b", "a|".repeat(n)))]);
    }),
    ("openings", |file, n| cut(file, vec![split(&"[".repeat(n))])),
    ("groups", |file, n| {
        cut(file, vec![split(&format!("{}a{}", "(".repeat(n), ")".repeat(n)))]);
    }),
    ("words", |file, n| cut(file, vec![split(&r"\w".repeat(n))])),
    ("quantifiers", |file, n| {
        cut(file, vec![split(&"a{2}+".repeat(n))]);
    }),
    ("a pattern of nothing", |file, _| {
        cut(file, vec![split(r"[^\s\S]*")]);
    }),
    ("texts that double", |file, n| {
        normalise(file, vec![replace(&json!({"String": "a"}), "aa"); n]);
    }),
    ("forms", |file, n| {
        normalise(file, vec![json!({"type": "NFKC"}); n]);
    }),
    ("a long replacement", |file, n| {
        normalise(file, vec![replace(&json!({"Regex": "."}), &"x".repeat(n))]);
    }),
    ("a long text in front", |file, n| {
        normalise(file, vec![json!({"type": "Prepend", "prepend": "x".repeat(n)})]);
    }),
    ("sequences in sequences", |file, n| {
        // More than a hundred would be deeper than JSON may be.
        let wrapped = |inner: Value, _| json!({"type": "Sequence", "normalizers": [inner]});
        file["normalizer"] = (0..n.min(100)).fold(json!({"type": "NFC"}), wrapped);
    }),
    ("tokens of one id", |file, n| {
        (0..n).for_each(|number| file["model"]["vocab"][format!("new{number}")] = json!(7));
    }),
    ("a long token", |file, n| {
        file["model"]["vocab"]["a".repeat(n)] = json!(1_000_000);
    }),
    ("tokens of more and more letters", |file, n| {
        // The vocabulary has this many letters in all.
        for letters in 2..(2 * n).isqrt() {
            file["model"]["vocab"]["a".repeat(letters)] = json!(1_000_000 + letters);
            let merge = json!(["a".repeat(letters - 1), "a"]);
            file["model"]["merges"].as_array_mut().unwrap().push(merge);
        }
    }),
];

fn split(pattern: &str) -> Value {
    json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false})
}

fn bytes() -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})
}

fn replace(pattern: &Value, content: &str) -> Value {
    json!({"type": "Replace", "pattern": pattern, "content": content})
}

fn cut(file: &mut Value, mut steps: Vec<Value>) {
    steps.push(bytes());
    file["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": steps});
}

fn normalise(file: &mut Value, steps: Vec<Value>) {
    file["normalizer"] = json!({"type": "Sequence", "normalizers": steps});
}

/// Every way to enlarge every sample.
fn all() -> Vec<LargeFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/tokenizers");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let family = path.file_stem().unwrap().to_string_lossy().into_owned();
        let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let mut places = vec!["/model/merges".to_owned()];
        for steps in ["/normalizer", "/pre_tokenizer"] {
            add_places(file.pointer(steps).unwrap(), steps, &mut places);
        }
        all.extend(places.into_iter().map(|place| LargeFile {
            name: format!("{family} {place}"),
            file: file.clone(),
            enlarged: Enlarged::Place(place),
        }));
        if family == "qwen.tokenizer" {
            all.extend(HOSTILE.iter().map(|(name, enlarge)| LargeFile {
                name: (*name).to_owned(),
                file: file.clone(),
                enlarged: Enlarged::Hostile(*enlarge),
            }));
        }
    }
    all
}

/// Adds the lists and texts in a value.
fn add_places(value: &Value, pointer: &str, places: &mut Vec<String>) {
    match value {
        Value::String(_) => places.push(pointer.to_owned()),
        Value::Array(elements) => {
            places.push(pointer.to_owned());
            for (number, element) in elements.iter().enumerate() {
                add_places(element, &format!("{pointer}/{number}"), places);
            }
        }
        Value::Object(entries) => {
            for (key, element) in entries {
                add_places(element, &format!("{pointer}/{key}"), places);
            }
        }
        _ => {}
    }
}

impl LargeFile {
    /// The file, enlarged to `n` elements.
    fn file(&self, n: usize) -> String {
        let mut file = self.file.clone();
        match &self.enlarged {
            Enlarged::Hostile(enlarge) => enlarge(&mut file, n),
            Enlarged::Place(place) => match file.pointer_mut(place).unwrap() {
                Value::Array(elements) => {
                    *elements = elements
                        .iter()
                        .cycle()
                        .take(elements.len() * n)
                        .cloned()
                        .collect();
                }
                Value::String(text) => *text = text.repeat(n),
                other => panic!("{place} is {other}"),
            },
        }
        file.to_string()
    }

    /// The cost of reading or refusing the file.
    fn read(&self, n: usize) -> Taken {
        let file = self.file(n);
        Taken::by(|| drop(Encoding::from_tokenizer("own", &file)))
    }

    /// The largest file that is accepted.
    fn largest(&self) -> Option<Encoding> {
        let sizes = [1000, 300, 100, 64, 60, 30, 16, 8, 5, 2, 1];
        sizes
            .iter()
            .find_map(|n| Encoding::from_tokenizer("own", self.file(*n)).ok())
    }
}

/// Makes a text of a number of letters.
type MakeText = fn(usize) -> String;

/// Texts of a number of letters.
const TEXTS: &[(&str, MakeText)] = &[
    ("one letter", |n| "a".repeat(n)),
    ("spaces", |n| " ".repeat(n)),
    ("words", |n| "the ferry, 12 o'clock. ".repeat(n.div_ceil(23))),
    ("compatibility characters", |n| {
        "\u{fdfa}\u{1d160}".repeat(n.div_ceil(7))
    }),
];

fn count(encoding: &Encoding, text: &str) -> Taken {
    let counter = encoding.counter();
    Taken::by(|| {
        std::hint::black_box(counter.count(text));
    })
}

#[test]
fn large_tokenizer_files_take_as_much_memory_for_one_more() {
    let _alone = alone();
    let all = all();
    let mut faults = Vec::new();
    for drawn in chatmill_drawn::some_of(0..all.len(), 12) {
        let large = &all[drawn];
        // The smallest file may be accepted, which costs more than refusing a larger one.
        let [few, many] = [1_000, 4_000].map(|n| large.read(n));
        let most = |few: usize| 4.0 * MOST_COUNTED * few as f64;
        if many.bytes as f64 > most(few.bytes) || many.pieces as f64 > most(few.pieces) {
            faults.push(format!("{}, read: {few:?}, {many:?}", large.name));
        }
        if let Some(encoding) = large.largest() {
            for (text, of) in TEXTS {
                let counted = Counted::of(4_000, &|n| count(&encoding, &of(n)));
                if counted.growth() > MOST_DOUBLED {
                    faults.push(format!("{}, {text}: {counted}", large.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Tests the time of the files with names that contain `SAMPLE`.
#[test]
#[ignore = "takes minutes; `just amplify` runs it"]
fn samples_made_large_take_time_in_proportion_for_tokenizer_files() {
    let _alone = alone();
    let part = std::env::var("SAMPLE").unwrap_or_default();
    let mut all = all();
    all.retain(|large| large.name.contains(&part));
    println!("{} places of tokenizer files", all.len());
    let mut found = 0;
    let mut judge = |name: &str, what: &str, most: f64, take: &dyn Fn(usize) -> Taken| {
        let many = take(4 * MORE).time;
        if many < FLOOR || many.as_secs_f64() <= most * take(MORE).time.as_secs_f64() {
            return;
        }
        let growth = Growth::of([MORE, 4 * MORE], Effort::LONG, most, take);
        if growth.times_as_long() > most {
            println!("{growth}  {name}, {what}");
            found += 1;
        }
    };
    for large in &all {
        judge(&large.name, "read", MOST, &|n| large.read(n));
        if let Some(encoding) = large.largest() {
            for (text, of) in TEXTS {
                judge(&large.name, text, MOST_MERGED, &|n| count(&encoding, &of(4 * n)));
            }
        }
    }
    assert_eq!(
        found, 0,
        "places that take too much longer for four times as many"
    );
}
