//! `cargo xtask links`: every link of a page to a file of the repository finds the file, and the heading where it names one; every
//! page of `docs` that a program file names exists; `docs/SUMMARY.md` lists every page once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, bail};

use crate::sources::{files_below, has_ending, read};

/// Pages outside `docs`.
const PAGES: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
/// Folders with program files that name pages of `docs`; not `xtask`, which names invented ones in its tests.
const PROGRAMS: [&str; 5] = ["crates", "python/src", "python/chatmill", "pipelines", ".ci"];
const SUMMARY: &str = "docs/SUMMARY.md";

pub(crate) fn run(root: &Path) -> Result<String> {
    let [mut docs, mut examples] = [files_below(root, "docs")?, files_below(root, "examples")?];
    docs.retain(|path| has_ending(path, "md"));
    examples.retain(|path| has_ending(path, "md"));
    let mut pages = BTreeMap::new();
    let below = docs.iter().chain(&examples).map(String::as_str);
    for page in PAGES.into_iter().chain(below) {
        pages.insert(root.join(page).canonicalize()?, (page, read(root, page)?));
    }
    let headings: BTreeMap<&Path, _> = pages
        .iter()
        .map(|(path, (_, text))| (path.as_path(), anchors(text)))
        .collect();
    let (mut broken, mut links) = (Vec::new(), 0);
    for (path, (page, text)) in &pages {
        for (line, target) in targets(text) {
            links += 1;
            if let Some(reason) = wrong(path, &target, &headings) {
                broken.push(format!("{page}:{line}: `{target}` {reason}"));
            }
        }
    }
    for folder in PROGRAMS {
        for file in files_below(root, folder)? {
            // Binary files name no page.
            let Ok(text) = read(root, &file) else {
                continue;
            };
            for name in named_pages(&text).filter(|name| !root.join(name).is_file()) {
                broken.push(format!("{file}: there is no `{name}`"));
            }
        }
    }
    let listed = targets(&read(root, SUMMARY)?);
    for page in docs.iter().filter(|page| *page != SUMMARY) {
        let is_listed = |(_, target): &&(usize, String)| page.strip_prefix("docs/") == Some(target);
        let times = listed.iter().filter(is_listed).count();
        if times != 1 {
            broken.push(format!("{SUMMARY}: lists {page} {times} times"));
        }
    }
    if !broken.is_empty() {
        bail!("{}\n{} broken", broken.join("\n"), broken.len());
    }
    Ok(format!("links: {links} in {} pages lead somewhere", pages.len()))
}

/// Returns what is wrong with a link of a page; addresses of other hosts are not checked.
fn wrong(page: &Path, target: &str, headings: &BTreeMap<&Path, BTreeSet<String>>) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => page.to_path_buf(),
        file => match page.with_file_name(file).canonicalize() {
            Ok(path) => path,
            Err(_) => return Some("leads nowhere"),
        },
    };
    let known = headings.get(path.as_path())?;
    (!anchor.is_empty() && !known.contains(anchor)).then_some("names no heading of that page")
}

/// Returns the lines of a page outside of blocks of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number + 1, line))
    })
}

/// Returns the targets of links in a page, each with its line. Links in code are left out.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    for (number, line) in prose(text) {
        // Marks of code come in pairs: every second part is code, and a link's text may be.
        let plain: Vec<&str> = line.split('`').step_by(2).collect();
        for rest in plain.join("`").split("](").skip(1) {
            if let Some((target, _)) = rest.split_once(')') {
                targets.push((number, target.to_owned()));
            }
        }
    }
    targets
}

/// Returns the anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let Some((_, heading)) = line
            .split_once(' ')
            .filter(|(marks, _)| !marks.is_empty() && marks.chars().all(|mark| mark == '#'))
        else {
            continue;
        };
        let anchor = heading.trim().to_lowercase().replace(' ', "-");
        let is_of_anchor = |sign: &char| sign.is_alphanumeric() || matches!(sign, '-' | '_');
        let anchor: String = anchor.chars().filter(is_of_anchor).collect();
        // Of equal headings the second has a number.
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let mut names = std::iter::once(anchor.clone()).chain(numbered);
        anchors.extend(names.find(|name| !anchors.contains(name)));
    }
    anchors
}

/// Returns the pages of `docs` that a text names by their path from the top of the repository.
fn named_pages(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("docs/").filter_map(move |(start, _)| {
        let before = text.get(..start)?.chars().next_back();
        let rest = text.get(start..)?;
        let end =
            rest.find(|character: char| !(character.is_ascii_alphanumeric() || "/-_.".contains(character)));
        let name = rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches('.');
        let is_path = has_ending(name, "md")
            && before.is_none_or(|before| !before.is_alphanumeric() && !"/-_".contains(before));
        is_path.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn repository(page: &str, summary: &str) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in PAGES {
            fs::write(root.join(path), "").unwrap();
        }
        for path in PROGRAMS.iter().chain(&["docs/rules", "examples"]) {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        fs::write(root.join("docs/a.md"), page).unwrap();
        fs::write(
            root.join("docs/rules/b.md"),
            "# B\n\n## `two.words` here!\n\n## Same\n\n## Same\n",
        )
        .unwrap();
        fs::write(root.join(SUMMARY), summary).unwrap();
        fs::write(root.join("crates/lib.rs"), "//! Why: docs/a.md.\n").unwrap();
        run(root)
    }

    const LISTED: &str = "- [A](a.md)\n- [B](rules/b.md)\n";

    #[test]
    fn links_to_files_and_headings_are_followed() {
        let page = "# A\n\n[b](rules/b.md#twowords-here) [up](../README.md) [`code`](#a) [same](rules/b.md#same-1) [web](https://x.org/y#z)\n";
        assert_eq!(
            repository(page, LISTED).unwrap(),
            "links: 7 in 7 pages lead somewhere"
        );
    }

    #[test]
    fn a_missing_file_and_a_missing_heading_are_named_with_their_line() {
        let page = "# A\n\n[b](rules/c.md) [c](rules/b.md#three)\n```\n[d](no.md)\n```\n`[e](no.md)`\n";
        let error = repository(page, LISTED).unwrap_err().to_string();
        assert_eq!(
            error,
            "docs/a.md:3: `rules/c.md` leads nowhere\ndocs/a.md:3: `rules/b.md#three` names no heading of that page\n2 broken"
        );
    }

    #[test]
    fn the_summary_lists_every_page_once() {
        let error = repository("# A\n", "- [A](a.md)\n- [A](a.md)\n")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "docs/SUMMARY.md: lists docs/a.md 2 times\ndocs/SUMMARY.md: lists docs/rules/b.md 0 times\n2 broken"
        );
    }

    #[test]
    fn pages_are_found_in_text_by_their_path() {
        let names: Vec<&str> =
            named_pages("see docs/a-b.md, (docs/c/d.md) and ../docs/e.md; docs/ docs/{}.md. docs/f.md.")
                .collect();
        assert_eq!(names, ["docs/a-b.md", "docs/c/d.md", "docs/f.md"]);
    }
}
