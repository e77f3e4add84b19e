//! Writes the lists of loss codes and reasons in `src/loss` as Rust: an enum, and a constant for each reason.
#![expect(clippy::disallowed_methods, reason = "a build script reads the repository")]

use std::fs;
use std::io::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    write("codes", codes)?;
    write("reasons", reasons)
}

/// Writes a list as Rust.
fn write(name: &str, rust: impl Fn(&[(&str, &str)]) -> Vec<String>) -> Result<()> {
    let list = format!("src/loss/{name}.txt");
    println!("cargo::rerun-if-changed={list}");
    let text = fs::read_to_string(&list)?;
    let lines = text
        .lines()
        .filter(|line| !(line.is_empty() || line.starts_with('#')));
    let entry = |line| {
        let parts = str::split_once(line, ": ").or_else(|| str::split_once(line, "] "));
        parts.ok_or_else(|| Error::other(format!("{list}: no name and words in `{line}`")))
    };
    let entries = lines.map(entry).collect::<Result<Vec<_>>>()?;
    let folder = std::env::var("OUT_DIR").map_err(Error::other)?;
    fs::write(
        Path::new(&folder).join(name).with_extension("rs"),
        rust(&entries).concat(),
    )
}

/// Returns the list of codes as the input of its macro.
fn codes(entries: &[(&str, &str)]) -> Vec<String> {
    let one = |(head, meaning): &(&str, &str)| {
        let (word, changed) = match head.split_once(' ') {
            Some((word, "+")) => (word, "Invented"),
            Some((word, _)) => (word, "Words"),
            None => (*head, "Form"),
        };
        format!("#[doc = {meaning:?}] {} = {word:?}, {changed},\n", variant(word))
    };
    let codes = entries.iter().map(one).collect::<Vec<_>>().concat();
    vec![format!("loss_codes! {{\n{codes}}}\n")]
}

/// Returns a constant for each reason, for the codes of each folder, and for the list of all reasons, which tests check.
fn reasons(entries: &[(&str, &str)]) -> Vec<String> {
    let (mut rust, mut all, mut list) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (head, words)) in entries.iter().enumerate().rev() {
        if let Some(name) = head.strip_prefix('[') {
            let codes = std::mem::take(&mut list).join(", ");
            rust.push(format!(
                "#[doc = {words:?}] pub const {name}: &[LossCode] = &[{codes}];\n"
            ));
            continue;
        }
        let reason = format!("LossReason::new({number}, {words:?})");
        let doc = format!("#[doc = \"`{words}`\"]");
        rust.push(match head.split_once(' ') {
            None => format!("{doc} pub const {head}: LossReason = {reason};\n"),
            Some((name, code)) => {
                let code = format!("LossCode::{}", variant(code));
                list.push(code.clone());
                format!(
                    "{doc} pub const {name}: LossCause = LossCause {{ code: {code}, reason: {reason} }};\n"
                )
            }
        });
        all.push(reason);
    }
    rust.push(format!(
        "#[cfg(test)] const ALL: &[LossReason] = &[{}];\n",
        all.join(", ")
    ));
    rust
}

/// Converts `name-dropped` to `NameDropped`.
fn variant(word: &str) -> String {
    let capital = |part: &str| {
        let (first, rest) = part.split_at(1);
        first.to_uppercase() + rest
    };
    word.split('-').map(capital).collect()
}
