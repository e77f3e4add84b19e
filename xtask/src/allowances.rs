//! Numbers that may only fall: a file of allowances has the most of each, and what is counted today is held to it.
//!
//! `counts` and `words` count; a file has a line for each folder, crate or word that has more than is free to all.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::generated::Mode;
use crate::sources::read;

/// The name of a count, the number that is free to all, and the advice for more.
pub(crate) type Kind = (&'static str, usize, &'static str);

/// The places of each thing that is counted, by the kind of count and by what has it: a crate, a folder, a word.
pub(crate) type Counts = BTreeMap<(&'static str, String), Vec<String>>;

/// Adds places to a count.
pub(crate) fn add(
    counts: &mut Counts,
    kind: &'static str,
    whose: &str,
    places: impl IntoIterator<Item = String>,
) {
    let known = counts.entry((kind, whose.to_owned())).or_default();
    known.extend(places);
}

/// Reads the numbers of a file of allowances: a line `WHOSE NUMBER` for each; `#` begins a comment.
pub(crate) fn numbers(text: &str) -> Result<BTreeMap<&str, usize>> {
    let mut numbers = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (whose, number) = line
            .rsplit_once(' ')
            .context("a line of allowances is `WHOSE NUMBER`")?;
        numbers.insert(whose, number.parse()?);
    }
    Ok(numbers)
}

/// Writes the numbers of today into a file of allowances, or fails where one is above the number in the file.
pub(crate) fn hold(root: &Path, file: &str, kinds: &[Kind], counts: &Counts, mode: Mode) -> Result<String> {
    if mode == Mode::Write {
        fs::write(root.join(file), written(kinds, counts)).with_context(|| format!("cannot write {file}"))?;
        return Ok(format!("{file} is written"));
    }
    check(file, kinds, counts, &read(root, file)?)
}

/// Returns the counts above what is free to all, with their places and the advice.
fn more_than_free<'c>(
    kinds: &'c [Kind],
    counts: &'c Counts,
) -> impl Iterator<Item = (String, &'c Vec<String>, &'static str)> {
    kinds.iter().flat_map(move |(kind, free, advice)| {
        let own = counts.iter().filter(move |((of, _), _)| of == kind);
        let more = own.filter(|(_, places)| places.len() > *free);
        more.map(move |((_, whose), places)| (format!("{kind} {whose}"), places, *advice))
    })
}

fn written(kinds: &[Kind], counts: &Counts) -> String {
    let why = "# What is counted more often than is free to all, and how often at most. Numbers only fall.\n";
    let lines = more_than_free(kinds, counts).map(|(key, places, _)| format!("{key} {}\n", places.len()));
    std::iter::once(why.to_owned()).chain(lines).collect()
}

/// Fails with every count that is above its number, place by place.
fn check(file: &str, kinds: &[Kind], counts: &Counts, allowances: &str) -> Result<String> {
    let allowed = numbers(allowances)?;
    let mut violations = Vec::new();
    for (key, places, advice) in more_than_free(kinds, counts) {
        let most = allowed.get(key.as_str());
        if most.is_none_or(|most| places.len() > *most) {
            let most = most.map_or_else(|| "none".to_owned(), usize::to_string);
            let mut violation = format!("{key}: {}, {file} allows {most}; {advice}", places.len());
            for same in places.chunk_by(|one, other| one == other) {
                violation.extend(
                    same.first()
                        .map(|place| format!("\n    {place} × {}", same.len())),
                );
            }
            violations.push(violation);
        }
    }
    if violations.is_empty() {
        return Ok(format!("within {file}"));
    }
    bail!("{}", violations.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_above_its_allowance_is_a_violation() {
        let kinds = [("names", 3, "name them otherwise")];
        let places = |number| vec!["somewhere".to_owned(); number];
        let counts = Counts::from([
            (("names", "Key".to_owned()), places(4)),
            (("names", "Row".to_owned()), places(3)),
        ]);
        assert!(written(&kinds, &counts).ends_with("\nnames Key 4\n"));
        let check = |allowances| check("counts.txt", &kinds, &counts, allowances);
        assert!(check("# why\nnames Key 4").is_ok());
        assert!(check("names Key 5\nnames Old 7").is_ok());
        let complaint = |allowances| check(allowances).unwrap_err().to_string();
        assert_eq!(
            complaint(""),
            "names Key: 4, counts.txt allows none; name them otherwise\n    somewhere × 4"
        );
        assert!(complaint("names Key 3").starts_with("names Key: 4, counts.txt allows 3; "));
        assert!(complaint("names").contains("`WHOSE NUMBER`"));
    }
}
