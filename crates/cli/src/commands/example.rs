//! `chatmill example`: a small file of a format, valid, or broken so that it has the finding of a code.
//!
//! The bytes are written to stdout unchanged, also of archives and compressed files; only to a terminal no binary file is written.

mod samples;

use std::io::{self, IsTerminal, Write};

use chatmill_diag::Code;
use chatmill_diag::suggest::nearest;
use chatmill_source::{SOURCES, Source};
use clap::Args;

use self::samples::{BROKEN, VALID};
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome, refuse};
use crate::{output, selection};

/// Arguments of `example`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/example.txt").trim_end())]
pub(crate) struct Arguments {
    /// Source id; `chatmill sources` lists them
    source: String,
    /// Breaks the file so that `chatmill check` reports this code (RF001) or name (dangling-reference)
    #[arg(long, value_name = "CODE")]
    broken: Option<String>,
}

/// Prints the file.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let source = source(&arguments.source)?;
    let bytes = match &arguments.broken {
        None => valid(source.id())?,
        Some(word) => broken(source.id(), word)?,
    };
    if io::stdout().is_terminal() && is_binary(bytes) {
        return refuse(
            "the file is binary and cannot be shown on a terminal",
            "write it to a file, for example `> example.bin`, and check that",
        );
    }
    if source.needs_map() {
        context.note(&format!(
            "records that need a field map are never detected by content; check the file with `--source {}`",
            source.id()
        ));
    }
    let mut out = output::stdout();
    out.write_all(bytes).and_then(|()| out.flush())?;
    Ok(Exit::Complete)
}

fn source(word: &str) -> Outcome<&'static dyn Source> {
    let known = || SOURCES.iter().map(|source| source.id());
    chatmill_source::find(word).ok_or_else(|| {
        CommandError::unknown("source", word, nearest(word, known())).then("`chatmill sources` lists them")
    })
}

fn valid(source: &str) -> Outcome<&'static [u8]> {
    VALID
        .iter()
        .find(|(id, _)| *id == source)
        .map(|(_, bytes)| *bytes)
        .ok_or_else(|| CommandError::request(format!("there is no example of {source}")))
}

/// The file of a source that has the finding of a code.
fn broken(source: &str, word: &str) -> Outcome<&'static [u8]> {
    let code = code(word)?;
    let of_code: Vec<_> = BROKEN.iter().filter(|(name, _, _)| *name == code.name).collect();
    if let Some((_, _, bytes)) = of_code.iter().find(|(_, id, _)| *id == source) {
        return Ok(bytes);
    }
    let sources: Vec<&str> = of_code.iter().map(|(_, id, _)| *id).collect();
    let name = code.name;
    Err(if sources.is_empty() {
        CommandError::request(format!(
            "{name} cannot be shown by one small file: it needs a lowered limit, a device or several files"
        ))
        .then(format!("`chatmill explain {}` explains its cause", code.code))
    } else {
        CommandError::request(format!(
            "there is no example of {source} that is broken by {name}; there is one of {}",
            sources.join(" and ")
        ))
        .then(format!(
            "`chatmill example {} --broken {name}` prints it",
            sources.join("|")
        ))
    })
}

/// The single code that a word names.
fn code(word: &str) -> Outcome<&'static Code> {
    match selection::named(word)?.as_slice() {
        [code] => Ok(code),
        several => {
            let codes: Vec<&str> = several.iter().map(|code| code.code).collect();
            Err(CommandError::request(format!(
                "`{word}` names {} codes; name one of {}",
                codes.len(),
                codes.join(", ")
            )))
        }
    }
}

/// Whether the bytes are not text.
fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0) || bytes.starts_with(&[0x1f, 0x8b])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_a_valid_example_and_no_other_has() {
        for source in SOURCES {
            let id = source.id();
            assert!(
                valid(id).is_ok(),
                "{id} has no example: put a valid file into data-samples/sources/{id}/example/"
            );
        }
        assert_eq!(VALID.len(), SOURCES.len(), "a source has two examples");
    }

    #[test]
    fn every_bad_file_names_the_source_that_reads_it() {
        for (name, source, _) in BROKEN {
            assert!(
                chatmill_source::find(source).is_some(),
                "data-samples/rules/{name}/bad.{source}.…: {source} is not a source; write `bad.SOURCE.EXTENSION`"
            );
        }
    }

    #[test]
    fn a_code_that_another_source_shows_is_refused_with_that_source() {
        let refusal = broken("openai-messages", "dangling-reference").unwrap_err();
        assert!(
            refusal.to_string().ends_with("there is one of group-chat"),
            "{refusal}"
        );
    }

    #[test]
    fn a_family_is_no_single_code_and_some_codes_have_no_file() {
        let refusal = |word| broken("group-chat", word).unwrap_err().to_string();
        assert!(refusal("RF").contains("name one of RF001"), "{}", refusal("RF"));
        assert!(refusal("not-a-regular-file").contains("a device"));
    }

    #[test]
    fn archives_are_binary_and_chats_are_not() {
        let bytes = |name| broken("group-chat", name).unwrap();
        assert!(is_binary(bytes("nested-archive")) && is_binary(bytes("corrupt-stream")));
        assert!(!is_binary(bytes("dangling-reference")) && !is_binary(bytes("invalid-utf8")));
    }
}
