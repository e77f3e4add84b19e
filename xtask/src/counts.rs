//! `cargo xtask counts --check|--write`: things that a crate should have few of; where there are more, their number only falls.
//!
//! - `blocks`: words of one vendor's blocks in the code of `source` outside its grammars.
//! - `neighbours`: files and folders in one folder; folders that are lists, a file an entry, may be long.
//! - `names`: files that declare a type of the same name. One word is one thing, except for the names that the field has everywhere.
//! - `unnamed`: public items that neither another crate nor a public signature names: they should not be public.
//! - `defaults`: places where a missing value that should exist is replaced silently.
//!
//! Each has a number that is free to all. Whatever has more is listed in `xtask/counts.txt` with the number that it must not exceed;
//! `--write` writes today's numbers. Names are searched as words anywhere in the code, so a public item with a common name always
//! counts as named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::allowances::{Counts, Kind, add, hold};
use crate::generated::Mode;
use crate::sources::{source_files, texts_below};

/// The file with the numbers above what is free to all.
const ALLOWANCES: &str = "xtask/counts.txt";

const KINDS: &[Kind] = &[
    (
        "blocks",
        0,
        "put them into the vendor's grammar, in crates/source/src/grammar",
    ),
    ("defaults", 0, "make them errors, or values that cannot miss"),
    ("names", 3, "name them after what they are"),
    ("neighbours", 12, "make rooms of them"),
    ("unnamed", 0, "do not make public what no other crate names"),
];

/// Folders of entries, where one more is no disorder.
const LISTS: &[&str] = &[
    "crates/cli/src/commands",
    "crates/dialect/src/dialects",
    "crates/dialect/src/passes",
    "crates/export/src/envelope",
    "crates/rule/src",
    "crates/source/src/formats",
    "crates/source/src/looks",
    "crates/token/src/encodings",
    "xtask/src",
];

/// The places of the words of vendors' blocks: the grammars, and formats that are recognised but not read.
const GRAMMARS: &[&str] = &[
    "crates/source/src/grammar/",
    "crates/source/src/unsupported/",
    // Roles in tables of messages, some of which are named like blocks.
    "crates/source/src/base/roles.rs",
];

/// A word of Gemini's parts and of items of Responses that is also a field of OpenAI's messages.
const ALSO_A_FIELD: &str = "function_call";

/// Names of types that the field has everywhere; each command has a type `Arguments`.
const IDIOMS: &[&str] = &["Arguments", "Builder", "Error", "Iter", "Options"];

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let files = source_files(root)?;
    let mut counts = Counts::new();
    neighbours(files.iter().map(|file| file.path.as_str()), &mut counts);
    let mut public: BTreeMap<&str, Public> = BTreeMap::new();
    let own = chatmill_source::own_words().map(|(_, word)| word);
    let own: BTreeSet<&str> = own.filter(|word| *word != ALSO_A_FIELD).collect();
    for file in &files {
        let mut words = Vec::new();
        flatten(file.tokens()?, &mut words);
        let is_grammar = GRAMMARS.iter().any(|folder| file.path.starts_with(folder));
        if file.krate == "source" && !is_grammar {
            let found = blocks(&words, &own).into_iter();
            let found = found.map(|word| format!("{}: {word}", file.path));
            add(&mut counts, "blocks", &file.krate, found);
        }
        let found = defaults(&words).into_iter();
        let found = found.map(|chain| format!("{}: {chain}", file.path));
        add(&mut counts, "defaults", &file.krate, found);
        for name in types(&words) {
            add(&mut counts, "names", name, [file.path.clone()]);
        }
        public.entry(&file.krate).or_default().read(&words, &file.path);
    }
    let known = words_by_crate(root)?;
    for (krate, items) in public {
        let is_named = |name: &str| {
            let mut others = known.iter().filter(|(other, _)| *other != krate);
            others.any(|(_, words)| words.contains(name))
        };
        add(&mut counts, "unnamed", krate, items.unnamed(is_named));
    }
    hold(root, ALLOWANCES, KINDS, &counts, mode)
}

/// Counts the modules of each folder of sources; a file and the folder of its children are one.
fn neighbours<'a>(paths: impl Iterator<Item = &'a str>, counts: &mut Counts) {
    let mut folders: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (krate, below) in paths.filter_map(|path| path.split_once("/src/")) {
        let mut folder = format!("{krate}/src");
        for name in below.trim_end_matches(".rs").split('/') {
            if !matches!(name, "lib" | "main" | "mod") {
                folders.entry(folder.clone()).or_default().insert(name);
            }
            folder = format!("{folder}/{name}");
        }
    }
    for (folder, names) in folders {
        if !LISTS.contains(&folder.as_str()) {
            add(
                counts,
                "neighbours",
                &folder,
                names.into_iter().map(str::to_owned),
            );
        }
    }
}

/// Collects every word of every Rust file, by crate. A crate's folder of tests counts as another crate, because it sees only public items.
fn words_by_crate(root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in texts_below(root, &["crates", "xtask", "python/src", "fuzz/fuzz_targets"])? {
        let below = path.strip_prefix("crates/").unwrap_or(&path);
        let krate = below.split_once("/src/").map_or("beside", |(krate, _)| krate);
        let words = text.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
        let known = known.entry(krate.to_owned()).or_default();
        known.extend(words.map(str::to_owned));
    }
    Ok(known)
}

/// Returns the tokens of a text in order, brackets included.
fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        if let TokenTree::Group(group) = token {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            words.push(open.to_owned());
            flatten(group.stream(), words);
            words.push(close.to_owned());
        } else {
            words.push(token.to_string());
        }
    }
}

/// Returns the words of vendors' blocks, as strings and in lists that `words!` makes.
fn blocks<'w>(words: &'w [String], own: &BTreeSet<&str>) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut is_list = false;
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(2).and_then(|start| words.get(start..at));
        is_list = match word.as_str() {
            "(" | "[" | "{" => before.is_some_and(|before| before == ["words", "!"]),
            ")" | "]" | "}" => false,
            _ => is_list,
        };
        let text = word.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let text = text.or_else(|| is_list.then_some(word.as_str()));
        found.extend(text.filter(|text| own.contains(text)));
    }
    found
}

/// Returns the chains of calls that look something up and end in a default.
fn defaults(words: &[String]) -> Vec<String> {
    let (mut found, mut outside) = (Vec::new(), Vec::new());
    let (mut last, mut looked_up) = ("", None);
    for word in words {
        match word.as_str() {
            "(" => outside.push(looked_up.take()),
            ")" => looked_up = outside.pop().flatten(),
            "." | "?" => {}
            "get" | "get_mut" | "first" | "last" | "nth" if last == "." => looked_up = Some(word),
            "unwrap_or" | "unwrap_or_default" if last == "." => {
                let looked_up = looked_up.take();
                found.extend(looked_up.map(|looked_up| format!(".{looked_up}(…)….{word}(…)")));
            }
            _ if last == "." => {}
            _ => looked_up = None,
        }
        last = word;
    }
    found
}

/// Returns the names of the types that a file declares, each once.
fn types(words: &[String]) -> BTreeSet<&str> {
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [kind, name] if ["struct", "enum", "trait"].contains(&kind.as_str()) => Some(name.as_str()),
        _ => None,
    });
    pairs
        .filter(|name| !IDIOMS.contains(name) && name.starts_with(char::is_alphabetic))
        .collect()
}

/// The public items and signatures of a crate.
#[derive(Debug, Default)]
struct Public {
    /// Items with their file, and whether each is a type.
    items: Vec<(String, String, bool)>,
    /// Words of public signatures: a type in one has to be as public as the signature.
    signatures: BTreeSet<String>,
}

impl Public {
    fn read(&mut self, words: &[String], path: &str) {
        for public in words.split(|word| word == "pub").skip(1) {
            let is_prefix = |word: &&String| matches!(word.as_str(), "const" | "unsafe" | "async" | "fn");
            let prefixes = public.iter().take_while(is_prefix).count();
            let (kind, rest) = match (prefixes, public) {
                (0, [kind, rest @ ..]) => (kind.as_str(), rest),
                (_, words) => ("fn", words.get(prefixes..).unwrap_or_default()),
            };
            let ends: &[&str] = match kind {
                // `pub(crate)` is not public.
                "(" | "use" => continue,
                "enum" | "trait" => &["impl"],
                "struct" => &[";", "{"],
                _ => &[";", "{", "="],
            };
            let is_type = ["enum", "struct", "trait", "type"].contains(&kind);
            let Some((name, signature)) = rest.split_first() else {
                continue;
            };
            if name != "$" && (is_type || ["fn", "mod", "static"].contains(&kind)) {
                self.items.push((name.clone(), path.to_owned(), is_type));
            }
            let is_inside = |word: &&String| !ends.contains(&word.as_str());
            self.signatures
                .extend(signature.iter().take_while(is_inside).cloned());
        }
    }

    /// Returns the items that neither a public signature nor another crate names.
    fn unnamed(&self, is_named: impl Fn(&str) -> bool) -> Vec<String> {
        let unnamed = self
            .items
            .iter()
            .filter(|(name, _, is_type)| !(is_named(name) || *is_type && self.signatures.contains(name)));
        unnamed.map(|(name, path, _)| format!("{path}: {name}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        flatten(text.parse().unwrap(), &mut words);
        words
    }

    #[test]
    fn lookups_that_end_in_a_default_are_counted_and_other_defaults_are_not() {
        let number = |text| defaults(&words(text)).len();
        assert_eq!(number("a.get(1).copied().unwrap_or_default();"), 1);
        assert_eq!(
            number("f(b.x.last().map(|c| c.get(2).unwrap_or(0)).unwrap_or(1))"),
            2
        );
        assert_eq!(number("a.get(1)?.first().unwrap_or(&0)"), 1);
        assert_eq!(
            number("a.parse().unwrap_or_default(); a.get(1); b.unwrap_or(2)"),
            0
        );
    }

    #[test]
    fn words_of_blocks_are_counted_as_texts_and_in_lists_but_not_as_names() {
        let own = BTreeSet::from(["tool_use", "toolUse"]);
        let text = r#"let a = ["tool_use", "text"]; words!(toolUse text); fn tool_use() {} f("a tool_use"); toolUse"#;
        assert_eq!(blocks(&words(text), &own), ["tool_use", "toolUse"]);
    }

    #[test]
    fn types_are_counted_but_for_idioms() {
        let text = words("struct A; mod b { pub enum A {} } struct Error; fn structs(a: A) { trait B {} }");
        assert_eq!(Vec::from_iter(types(&text)), ["A", "B"]);
    }

    #[test]
    fn files_and_folders_beside_each_other_are_counted_but_not_in_lists() {
        let mut counts = Counts::new();
        let paths = [
            "link/src/lib.rs",
            "link/src/a.rs",
            "link/src/a/b.rs",
            "link/src/c/mod.rs",
            "crates/rule/src/x.rs",
        ];
        neighbours(paths.into_iter(), &mut counts);
        let found: Vec<_> = counts
            .into_iter()
            .map(|((_, folder), names)| (folder, names))
            .collect();
        let named = |folder: &str, names: &[&str]| {
            (
                folder.to_owned(),
                names.iter().map(|name| (*name).to_owned()).collect(),
            )
        };
        assert_eq!(
            found,
            [named("link/src", &["a", "c"]), named("link/src/a", &["b"])]
        );
    }

    #[test]
    fn what_is_public_has_to_be_named_elsewhere_or_in_a_signature() {
        let mut public = Public::default();
        let text = "pub struct Shown { pub inside: Field } pub struct Field; pub(crate) struct Own; pub struct Lost;
            impl Shown { pub const fn of(given: Given) -> Self { Lost } fn own() {} } pub struct Given; pub const NOBODYS: u8 = 1;
            pub enum Choice { Of(Payload) } pub struct Payload; pub use other::Passed;";
        public.read(&words(text), "lib.rs");
        let unnamed = public.unnamed(|name| ["Shown", "Choice"].contains(&name));
        assert_eq!(unnamed, ["lib.rs: Lost", "lib.rs: of", "lib.rs: NOBODYS"]);
    }
}
