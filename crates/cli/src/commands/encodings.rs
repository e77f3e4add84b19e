//! `chatmill encodings`: the token encodings of the registry, or those that a pipeline counts in.

use std::path::PathBuf;

use chatmill_engine::Plan;
use chatmill_token::{ENCODINGS, Encoding, MODEL_FAMILIES, ModelFamily};
use clap::Args;
use serde_json::json;

use crate::args::{ListFormat, Listing};
use crate::exit::{Exit, Outcome};
use crate::{figures, output, terminal};

/// Arguments of `encodings`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill encodings\n  chatmill encodings --pipeline pipelines/demo.toml --format json"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    listing: Listing,
    /// Lists the encodings of this pipeline file, custom ones included
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
}

/// Lists the encodings.
pub(crate) fn execute(arguments: &Arguments) -> Outcome<Exit> {
    let (encodings, families) = match &arguments.pipeline {
        Some(path) => (Plan::load(path, &[], None, &[])?.encodings, &[][..]),
        None => (ENCODINGS.to_vec(), MODEL_FAMILIES),
    };
    match arguments.listing.format {
        ListFormat::Text => output::print(&terminal::prose(&text(&encodings, families), 16))?,
        ListFormat::Json => {
            let entries: Vec<_> = encodings.iter().map(entry).collect();
            output::print_json(&entries)?;
        }
    }
    Ok(Exit::Complete)
}

fn text(encodings: &[Encoding], families: &[ModelFamily]) -> String {
    let mut text = String::new();
    for encoding in encodings {
        let about = encoding.about();
        text += &format!("{}: {}\n", encoding.name(), about.title);
        if !about.models.is_empty() {
            text += &format!("    models      {}\n", about.models);
        }
        text += &format!(
            "    vocabulary  {} tokens\n    source      {}\n    counted     {}\n",
            figures::count(about.vocabulary.into()),
            about.source,
            about.counting.as_str()
        );
    }
    if !families.is_empty() {
        text.push_str(
            "\nOther models, in a pipeline by their file: { name = \"NAME\", tokenizer = \"FILE\" }\n",
        );
    }
    for family in families {
        text += &format!(
            "{}\n    file        {}\n    counted     {}\n",
            family.models,
            family.file,
            family.counting.as_str()
        );
    }
    text
}

fn entry(encoding: &Encoding) -> serde_json::Value {
    let about = encoding.about();
    json!({
        "name": encoding.name(),
        "title": about.title,
        "models": about.models,
        "vocabulary": about.vocabulary,
        "source": about.source,
        "counting": about.counting.as_str(),
    })
}
