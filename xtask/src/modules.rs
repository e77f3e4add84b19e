//! `cargo xtask floors --modules`: inside a crate, too, imports go one way.
//!
//! The files and folders of one folder form no circle of imports, however long. A parent may use its children and they their
//! parent, because a module is split over files in this way. A folder counts as one with everything in it, so two folders that use
//! parts of each other are a circle as well. Names that a module only re-exports (`pub use`) are followed to the module that
//! declares them. Tests are not checked.
//!
//! Why: docs/decisions/2026-11-22-module-import-rules.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::sources::{SourceFile, source_files};

/// Re-exports that are followed one after the other before a path counts as unresolved.
const MAX_REEXPORTS: usize = 16;

/// The path of a module, beginning with the crate's short name.
type ModulePath = Vec<String>;

pub(crate) fn run(root: &Path) -> Result<String> {
    let files = source_files(root)?;
    let modules = modules(&files)?;
    let circles = circles(&imports(&modules));
    if circles.is_empty() {
        return Ok(format!("modules: {} without a circle", modules.len()));
    }
    bail!("{}", circles.join("\n"))
}

/// The names of other modules in a file.
#[derive(Debug, Default)]
struct Module {
    /// Paths that the file names, each with the module that contains the path.
    named: Vec<(ModulePath, ModulePath)>,
    /// Names that the file binds, each with its path.
    bound: BTreeMap<String, ModulePath>,
}

fn modules(files: &[SourceFile]) -> Result<BTreeMap<ModulePath, Module>> {
    let mut modules = BTreeMap::new();
    for file in files {
        let path = module_path(file);
        let mut module = Module::default();
        read(file.tokens()?, &path, &path, &mut module);
        modules.insert(path, module);
    }
    Ok(modules)
}

fn module_path(file: &SourceFile) -> ModulePath {
    let below = file.path.split("/src/").nth(1).unwrap_or(&file.path);
    let below = below.trim_end_matches(".rs");
    let names = below
        .split('/')
        .filter(|name| !matches!(*name, "mod" | "lib" | "main"));
    std::iter::once(file.krate.as_str())
        .chain(names)
        .map(str::to_owned)
        .collect()
}

/// Collects the paths in `tokens`, which are in the module `inside` of the file of the module `file`.
fn read(tokens: TokenStream, inside: &ModulePath, file: &ModulePath, module: &mut Module) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            TokenTree::Ident(word) if word == "use" => {
                let end = rest
                    .iter()
                    .position(|token| is_punctuation(token, ';'))
                    .unwrap_or(rest.len());
                let (tree, after) = rest.split_at(end);
                read_use(tree, &mut Vec::new(), inside, file, module);
                rest = after;
            }
            TokenTree::Ident(word) if word == "mod" => {
                if let [TokenTree::Ident(name), TokenTree::Group(body), after @ ..] = rest {
                    let mut deeper = inside.clone();
                    deeper.push(name.to_string());
                    read(body.stream(), &deeper, file, module);
                    rest = after;
                }
            }
            TokenTree::Ident(word) if word == "crate" || word == "super" => {
                let mut path = vec![word.to_string()];
                while let [one, other, TokenTree::Ident(name), after @ ..] = rest {
                    if !is_punctuation(one, ':') || !is_punctuation(other, ':') {
                        break;
                    }
                    path.push(name.to_string());
                    rest = after;
                }
                module.named.push((inside.clone(), path));
            }
            TokenTree::Group(group) => read(group.stream(), inside, file, module),
            _ => {}
        }
    }
}

/// Reads a tree of imports; `prefix` is the path before it.
fn read_use(
    tree: &[TokenTree],
    prefix: &mut ModulePath,
    inside: &ModulePath,
    file: &ModulePath,
    module: &mut Module,
) {
    let length = prefix.len();
    let mut rest = tree;
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            TokenTree::Ident(word) if word == "as" => {
                if let [TokenTree::Ident(alias), ..] = rest {
                    bind(alias.to_string(), prefix, inside, file, module);
                }
                prefix.truncate(length);
                return;
            }
            TokenTree::Ident(word) => prefix.push(word.to_string()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                for tree in tokens.split(|token| is_punctuation(token, ',')) {
                    if !tree.is_empty() {
                        read_use(tree, prefix, inside, file, module);
                    }
                }
                prefix.truncate(length);
                return;
            }
            _ => {}
        }
    }
    if prefix.last().is_some_and(|name| name == "self") && prefix.len() > 1 {
        prefix.pop();
    }
    if let Some(name) = prefix.last() {
        bind(name.clone(), prefix, inside, file, module);
    }
    prefix.truncate(length);
}

fn bind(name: String, path: &ModulePath, inside: &ModulePath, file: &ModulePath, module: &mut Module) {
    if inside == file {
        module.bound.insert(name, path.clone());
    }
    module.named.push((inside.clone(), path.clone()));
}

fn is_punctuation(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// Returns the imports: pairs of the importing and the imported module.
fn imports(modules: &BTreeMap<ModulePath, Module>) -> BTreeSet<(ModulePath, ModulePath)> {
    let mut imports = BTreeSet::new();
    for (file, module) in modules {
        for (inside, path) in &module.named {
            if let Some(target) = resolve(modules, inside, path, MAX_REEXPORTS) {
                imports.insert((file.clone(), target));
            }
        }
    }
    imports
}

/// Returns the module that declares the item of a path; `None` where the path leads to another crate.
fn resolve(
    modules: &BTreeMap<ModulePath, Module>,
    inside: &[String],
    path: &[String],
    reexports: usize,
) -> Option<ModulePath> {
    let mut at: ModulePath = Vec::new();
    for (place, name) in path.iter().enumerate() {
        match name.as_str() {
            "crate" => at = inside.get(..1)?.to_vec(),
            "self" => at = inside.to_vec(),
            "super" if place == 0 => at = inside.get(..inside.len().checked_sub(1)?)?.to_vec(),
            "super" => {
                at.pop();
            }
            name => {
                if place == 0 {
                    at = inside.to_vec();
                }
                at.push(name.to_owned());
                if modules.contains_key(&at) {
                    continue;
                }
                at.pop();
                // A name that is not bound is declared here, or the path leads to another crate.
                let Some(passed_on) = modules.get(&at).and_then(|module| module.bound.get(name)) else {
                    return (place > 0 && modules.contains_key(&at)).then_some(at);
                };
                if passed_on == path || reexports == 0 {
                    return None;
                }
                let further: Vec<String> = passed_on.iter().chain(path.get(place + 1..)?).cloned().collect();
                return resolve(modules, &at, &further, reexports - 1).or(Some(at));
            }
        }
    }
    modules.contains_key(&at).then_some(at)
}

/// Describes each circle of imports between modules of one folder.
fn circles(imports: &BTreeSet<(ModulePath, ModulePath)>) -> Vec<String> {
    // For each folder: which of its modules uses which, and one import as an example.
    let mut folders: BTreeMap<ModulePath, BTreeMap<String, BTreeMap<String, String>>> = BTreeMap::new();
    for (from, to) in imports {
        let common = from
            .iter()
            .zip(to)
            .take_while(|(one, other)| one == other)
            .count();
        let (Some(one), Some(other)) = (from.get(common), to.get(common)) else {
            continue;
        };
        let folder = from.get(..common).unwrap_or_default().to_vec();
        let shown = format!("{} imports {}", from.join("::"), to.join("::"));
        let uses = folders.entry(folder).or_default().entry(one.clone()).or_default();
        uses.entry(other.clone()).or_insert(shown);
    }
    let mut circles = Vec::new();
    for (folder, uses) in &folders {
        let mut seen = BTreeSet::new();
        for start in uses.keys() {
            let forward = reachable(uses, start);
            let circle: BTreeSet<&String> = forward
                .iter()
                .copied()
                .filter(|other| reachable(uses, other).contains(start))
                .collect();
            if !circle.is_empty() && seen.insert(circle.clone()) {
                circles.push(described(folder, &circle, uses));
            }
        }
    }
    circles
}

fn reachable<'a>(uses: &'a BTreeMap<String, BTreeMap<String, String>>, start: &str) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&String> = uses.get(start).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(name) = waiting.pop() {
        if found.insert(name) {
            waiting.extend(uses.get(name).into_iter().flat_map(BTreeMap::keys));
        }
    }
    found
}

fn described(
    folder: &[String],
    circle: &BTreeSet<&String>,
    uses: &BTreeMap<String, BTreeMap<String, String>>,
) -> String {
    let names: Vec<&str> = circle.iter().map(|name| name.as_str()).collect();
    let mut text = format!("{}: a circle of {}", folder.join("::"), names.join(", "));
    for name in circle {
        for (other, shown) in uses.get(*name).into_iter().flatten() {
            if circle.contains(other) {
                let _ = write!(text, "\n    {shown}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: format!("crates/room/src/{path}"),
            krate: "room".to_owned(),
            text: (*text).to_owned(),
            test_lines: 0,
        };
        let files: Vec<SourceFile> = files.iter().map(file).collect();
        circles(&imports(&modules(&files).unwrap()))
    }

    #[test]
    fn a_module_and_its_parent_may_import_each_other() {
        let files = [
            ("lib.rs", "mod a; pub use a::A; pub struct Root;"),
            ("a.rs", "mod b; use b::B; use crate::Root; pub struct A(B, Root);"),
            ("a/b.rs", "use super::A; use crate::Root; pub struct B;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn modules_that_import_each_other_around_are_a_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "fn f() { crate::c::g() } pub struct B;"),
            ("c.rs", "use super::a::{self as first, A};"),
        ];
        let circles = found(&files);
        assert_eq!(circles.len(), 1, "{circles:?}");
        assert!(
            circles[0].starts_with("room: a circle of a, b, c\n"),
            "{}",
            circles[0]
        );
        assert!(circles[0].contains("room::b imports room::c"), "{}", circles[0]);
    }

    #[test]
    fn folders_count_as_one_with_what_is_in_them() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod x; mod y;"),
            ("a/x.rs", "use crate::b::v::V;"),
            ("a/y.rs", "pub struct Y;"),
            ("b.rs", "pub mod u; pub mod v;"),
            ("b/u.rs", "use crate::a::y::Y;"),
            ("b/v.rs", "pub struct V;"),
        ];
        assert_eq!(found(&files).len(), 1);
    }

    #[test]
    fn names_that_are_passed_on_lead_to_where_they_are_made() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::{A as Renamed};"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::Renamed; pub struct B;"),
        ];
        assert_eq!(found(&files).len(), 1);
    }

    #[test]
    fn other_crates_and_texts_are_no_imports() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "use std::fmt; use serde_json::b; // use crate::b;\nconst T: &str = \"crate::b\";",
            ),
            ("b.rs", "use crate::a;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
