//! `chatmill encodings`: the token encodings of the registry, or those of a pipeline.

use std::path::PathBuf;

use chatmill_diag::suggest::nearest;
use chatmill_engine::Plan;
use chatmill_token::{ENCODINGS, Encoding, MODEL_FAMILIES, of_model};
use clap::Args;
use serde_json::json;

use super::listing::{ListedThing, NamedListing};
use crate::exit::{CommandError, Exit, Outcome};
use crate::{figures, output, terminal};

/// Arguments of `encodings`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill encodings o200k_base\n  chatmill encodings --pipeline pipelines/demo.toml --format json"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    listing: NamedListing,
    /// Lists the encodings of this pipeline file, custom ones included
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
}

/// Lists the encodings.
pub(crate) fn execute(arguments: &Arguments) -> Outcome<Exit> {
    let encodings = match &arguments.pipeline {
        Some(path) => Plan::load(path, &[], None, &[])?.encodings,
        None => ENCODINGS.to_vec(),
    };
    let entries = encodings.iter().map(entry).collect();
    arguments.listing.print("encoding", entries)?;
    if arguments.listing.is_of_lines() && arguments.pipeline.is_none() {
        output::print(&families())?;
    }
    Ok(Exit::Complete)
}

/// The families of models that need a tokenizer file.
fn families() -> String {
    let widest = MODEL_FAMILIES.iter().map(|family| family.models.len()).max();
    let widest = widest.unwrap_or(0);
    let lines = MODEL_FAMILIES.iter().map(|family| {
        let line = format!("{:widest$}  {}", family.models, family.file);
        terminal::clipped(&line) + "\n"
    });
    let lines: String = lines.collect();
    format!(
        "\nOther models need a tokenizer file in the pipeline: {{ name = \"NAME\", tokenizer = \"FILE\" }}\n{lines}"
    )
}

fn entry(encoding: &Encoding) -> ListedThing<'_> {
    let about = encoding.about();
    let title = match about.models {
        "" => about.title.to_owned(),
        models => format!("{} ({models})", about.title),
    };
    ListedThing {
        name: encoding.name(),
        title,
        topics: vec![
            (
                "vocabulary",
                format!("{} tokens", figures::count(about.vocabulary.into())),
            ),
            ("source", about.source.to_owned()),
            ("counted", about.counting.as_str().to_owned()),
        ],
        json: json!({
            "name": encoding.name(),
            "title": about.title,
            "models": about.models,
            "vocabulary": about.vocabulary,
            "source": about.source,
            "counting": about.counting.as_str(),
        }),
    }
}

/// The error for an unknown encoding; `own` are the encodings of a pipeline.
pub(super) fn unknown<'n>(name: &'n str, own: impl Iterator<Item = &'n str>) -> CommandError {
    if let Some(encoding) = of_model(name) {
        return CommandError::request(format!("`{}` is the name of a model", output::harmless(name)))
            .then(format!("its encoding is `{}`", encoding.name()));
    }
    let registered = ENCODINGS.iter().map(Encoding::name);
    CommandError::unknown("encoding", name, nearest(name, registered.chain(own))).then(
        "`chatmill encodings` lists them; `count.encodings` of a pipeline takes a tokenizer file, and `--pipeline` counts with it",
    )
}
