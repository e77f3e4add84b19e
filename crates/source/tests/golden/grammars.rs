//! Each block of each vendor, in every container that has the vendor's messages: the parts equal those of the vendor's own format.
//! `grammars/<vendor>.json` has the blocks, [`containers`] the files around them, `grammars/<vendor>.expected.txt` the parts of the vendor's own
//! format.
//!
//! All blocks of a vendor are one conversation; before each comes a user's message with its name, the mark. The results are compared as one list of
//! parts, each with its role, because containers divide turns in different ways.
//!
//! `grammars/differs.txt` lists the differences. It only shrinks: a difference that it does not list fails the test, and so does a line without a
//! difference. `BLESS=1` removes such lines and updates the others, and never adds one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use chatmill_golden::{check, is_blessing};
use chatmill_model::Part;
use chatmill_source::find;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use super::containers::{CONTAINERS, Container};
use super::dump;

/// The beginning of the message before a block.
const MARK: &str = "§ ";

/// The number of characters after which a side of a line is cut.
const MAX_SHOWN: usize = 140;

/// The parts of each block, by its name, in order of reading.
type Blocks = BTreeMap<String, Vec<String>>;

/// The tests.
pub(crate) fn trials() -> Vec<Trial> {
    let of_all = [
        Trial::test(
            "grammars/every_container_gives_the_parts_of_the_vendors_own",
            || settle(&differences()?),
        ),
        Trial::test(
            "grammars/the_order_of_messages_decides_nothing",
            order_decides_nothing,
        ),
        Trial::test("grammars/each_block_gives_parts_or_a_finding", each_block_is_told),
        Trial::test(
            "grammars/each_file_of_blocks_has_containers",
            each_file_has_containers,
        ),
    ];
    let own = CONTAINERS
        .iter()
        .map(|(vendor, _)| Trial::test(format!("grammars/{vendor}"), || is_golden(vendor)));
    of_all.into_iter().chain(own).collect()
}

/// The parts of a vendor's own format are the expected ones.
fn is_golden(vendor: &str) -> Result<(), Failed> {
    let grammar = Grammar::of(vendor)?;
    let own = parts(containers_of(vendor).0, &grammar.messages(), false);
    let mut told = String::new();
    for (name, _) in &grammar.blocks {
        writeln!(told, "{name}")?;
        for part in &own[name] {
            writeln!(told, "    {part}")?;
        }
    }
    check(&folder().join(format!("{vendor}.expected.txt")), &told)?;
    Ok(())
}

/// The container of the vendor itself, and the others.
fn containers_of(vendor: &str) -> (&'static Container, &'static [Container]) {
    let (_, containers) = CONTAINERS.iter().find(|(known, _)| *known == vendor).unwrap();
    containers.split_first().unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/grammars")
}

/// A vendor's blocks, each with its messages.
struct Grammar {
    mark: Value,
    blocks: Vec<(String, Vec<Value>)>,
}

impl Grammar {
    fn of(vendor: &str) -> Result<Self, Failed> {
        let text = fs::read_to_string(folder().join(format!("{vendor}.json")))?;
        let file: Value = serde_json::from_str(&text)?;
        let blocks = file["blocks"].as_object().unwrap().iter();
        Ok(Self {
            mark: file["mark"].clone(),
            blocks: blocks
                .map(|(name, messages)| (name.clone(), messages.as_array().unwrap().clone()))
                .collect(),
        })
    }

    /// All blocks as one conversation.
    fn messages(&self) -> Vec<Value> {
        let of_block = |(name, messages): &(String, Vec<Value>)| {
            let mut all = vec![named(&self.mark, name)];
            all.extend(messages.iter().cloned());
            all
        };
        self.blocks.iter().flat_map(of_block).collect()
    }
}

/// The message before the block of this name.
fn named(mark: &Value, name: &str) -> Value {
    let text = mark.to_string().replace(MARK.trim(), &format!("{MARK}{name}"));
    serde_json::from_str(&text).unwrap()
}

/// The parts of a conversation in a container, with the role of each, by block.
fn parts(container: &Container, messages: &[Value], is_reversed: bool) -> Blocks {
    let file = (container.file)(messages).to_string();
    let reading = super::reading(find(container.source).unwrap(), file.as_bytes()).0;
    let conversation = reading.conversation.as_ref();
    let read = conversation.map_or(&[][..], |conversation| &conversation.messages);
    let parts = read.iter().flat_map(|message| {
        let role = message.role.as_str();
        message.parts.iter().map(move |part| (role, part))
    });
    let mut parts: Vec<(&str, &Part)> = parts.collect();
    if is_reversed {
        parts.reverse();
    }
    let mut block = String::new();
    let mut blocks = Blocks::new();
    for (role, part) in parts {
        if let Part::Text(text) = part
            && let Some(name) = text.strip_prefix(MARK)
        {
            name.clone_into(&mut block);
            blocks.entry(block.clone()).or_default();
        } else {
            blocks.entry(block.clone()).or_default().push(brief(role, part));
        }
    }
    blocks
}

/// A part in one line.
fn brief(role: &str, part: &Part) -> String {
    let mut fields = dump::part(part);
    let kind = fields
        .as_object_mut()
        .and_then(|fields| fields.shift_remove("type"));
    format!("{role} {} {fields}", kind.unwrap().as_str().unwrap())
}

/// A difference, by vendor, container and block.
type Key = String;

/// The differences from the vendor's own container, in the order of the vendors, containers and blocks.
fn differences() -> Result<Vec<(Key, String)>, Failed> {
    let mut differ = Vec::new();
    for (vendor, _) in CONTAINERS {
        let grammar = Grammar::of(vendor)?;
        let messages = grammar.messages();
        let (own, others) = containers_of(vendor);
        let expected = parts(own, &messages, false);
        for container in others {
            let given = parts(container, &messages, false);
            // Parts before the first mark have no name.
            let names = std::iter::once("").chain(grammar.blocks.iter().map(|(name, _)| name.as_str()));
            for name in names {
                if expected.get(name) != given.get(name) {
                    let (expected, given) = shown(expected.get(name), given.get(name));
                    let key = format!("{vendor} {} {name}", container.source);
                    differ.push((key, format!("{expected} => {given}")));
                }
            }
        }
    }
    Ok(differ)
}

/// Both sides of a difference, without their common beginning and end.
fn shown(expected: Option<&Vec<String>>, given: Option<&Vec<String>>) -> (String, String) {
    let (Some(expected), Some(given)) = (expected, given) else {
        return ("the block".to_owned(), "its mark is missing".to_owned());
    };
    let [mut expected, mut given] = [expected.as_slice(), given.as_slice()];
    while let ([first, one @ ..], [second, other @ ..]) = (expected, given)
        && first == second
    {
        (expected, given) = (one, other);
    }
    while let ([one @ .., last], [other @ .., second]) = (expected, given)
        && last == second
    {
        (expected, given) = (one, other);
    }
    let side = |parts: &[String]| match parts {
        [] => "nothing".to_owned(),
        parts => {
            let whole = parts.join(", ");
            let mut cut: String = whole.chars().take(MAX_SHOWN).collect();
            if cut.len() < whole.len() {
                cut.push('…');
            }
            cut
        }
    };
    (side(expected), side(given))
}

const HEAD: &str = "\
# Differences of a container from the vendor's own, for each block of `<vendor>.json`:
# vendor, container, block: parts of the vendor's own => parts of this one  # why
# `limit:` names what the container cannot contain. A line without it is a fault. The list only shrinks.
";

/// Compares the differences with those in the file.
fn settle(differ: &[(Key, String)]) -> Result<(), Failed> {
    let path = folder().join("differs.txt");
    let listed = fs::read_to_string(&path)?;
    let lines = listed.lines().filter(|line| !line.starts_with('#'));
    let listed: BTreeMap<&str, (&str, &str)> = lines
        .map(|line| {
            let (key, rest) = line.split_once(": ").unwrap();
            let (sides, reason) = rest.split_once("  # ").unwrap_or((rest, ""));
            (key, (sides, reason))
        })
        .collect();
    let mut wrong = String::new();
    let mut renewed = HEAD.to_owned();
    for (key, sides) in differ {
        let Some((known, reason)) = listed.get(key.as_str()) else {
            writeln!(wrong, "new: {key}: {sides}")?;
            continue;
        };
        if known != sides {
            writeln!(wrong, "other than listed: {key}: {sides}")?;
        }
        let reason = if reason.is_empty() {
            String::new()
        } else {
            format!("  # {reason}")
        };
        writeln!(renewed, "{key}: {sides}{reason}")?;
    }
    let is_gone = |key: &&&str| !differ.iter().any(|(known, _)| known == **key);
    for key in listed.keys().filter(is_gone) {
        writeln!(wrong, "differs no more: {key}")?;
    }
    if is_blessing() {
        fs::write(&path, renewed)?;
        wrong = wrong
            .lines()
            .filter(|line| line.starts_with("new: "))
            .collect::<Vec<_>>()
            .join("\n");
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}: BLESS=1 removes and renews lines, and adds none\n{wrong}",
        path.display()
    )
    .into())
}

/// A conversation with its messages in reversed order gives the same parts: no message affects how the next one is read.
fn order_decides_nothing() -> Result<(), Failed> {
    let mut wrong = String::new();
    for (vendor, containers) in CONTAINERS {
        let messages = Grammar::of(vendor)?.messages();
        // The answer is last in both orders.
        let mut reversed = messages.clone();
        let (_, asked) = reversed.split_last_mut().unwrap();
        asked.reverse();
        for container in *containers {
            let [mut forth, mut back] = [(&messages, false), (&reversed, true)]
                .map(|(messages, is_reversed)| parts(container, messages, is_reversed));
            for blocks in [&mut forth, &mut back] {
                for parts in blocks.values_mut() {
                    parts.sort();
                }
                // In reversed order, the last answer has no mark before it.
                blocks.retain(|name, _| !name.is_empty() && name != "the last answer");
            }
            let names = forth
                .keys()
                .chain(back.keys().filter(|name| !forth.contains_key(*name)));
            for name in names.filter(|name| forth.get(*name) != back.get(*name)) {
                let (forth, back) = shown(forth.get(name), back.get(name));
                writeln!(wrong, "{vendor} {} {name}: {forth} => {back}", container.source)?;
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.into())
    }
}

/// The block that is an id and nothing else, without any text.
const ONLY_AN_ID: &str = "audio by id";

/// A block of a vendor's page that gives no part has a finding, or is among the unread fields.
fn each_block_is_told() -> Result<(), Failed> {
    let mut silent = String::new();
    for (vendor, _) in CONTAINERS {
        let grammar = Grammar::of(vendor)?;
        let (own, _) = containers_of(vendor);
        let (_, last) = grammar.blocks.last().unwrap();
        for (name, messages) in &grammar.blocks {
            let marked = std::iter::once(named(&grammar.mark, name));
            // Neighbouring messages may be one answer.
            let mark = named(&grammar.mark, "");
            let marked = marked.chain(messages.iter().cloned()).chain([mark]);
            let all: Vec<Value> = marked.chain(last.iter().cloned()).collect();
            let told = parts(own, &all, false);
            let has_parts = told.values().flatten().count() > last.len();
            let file = (own.file)(&all).to_string();
            let (reading, unread_report) = super::reading(find(own.source).unwrap(), file.as_bytes());
            let is_told = has_parts || name == ONLY_AN_ID;
            if !is_told && reading.findings.is_empty() && unread_report.fields.is_empty() {
                writeln!(silent, "{vendor}: {name}")?;
            }
        }
    }
    if silent.is_empty() {
        Ok(())
    } else {
        Err(silent.into())
    }
}

fn each_file_has_containers() -> Result<(), Failed> {
    let files = super::names(&folder());
    let files: Vec<&str> = files
        .iter()
        .filter_map(|name| name.strip_suffix(".json"))
        .collect();
    let mut vendors: Vec<&str> = CONTAINERS.iter().map(|(vendor, _)| *vendor).collect();
    vendors.sort_unstable();
    if files == vendors {
        return Ok(());
    }
    Err(format!("files of blocks: {files:?}; vendors with containers: {vendors:?}").into())
}
