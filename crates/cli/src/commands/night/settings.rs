//! The settings of nights in the pipeline file.

use std::path::PathBuf;

use chatmill_diag::limits::MIB;
use chatmill_engine::pipeline::{self, NightSection};
use chatmill_report::Condition;
use chatmill_report::bill::PriceList;
use chatmill_token::Encoding;

use super::NightRequest;
use crate::context::Context;
use crate::exit::{self, CommandError, Outcome, refuse};
use crate::prices::prices_of_nights;

/// The settings of nights in the pipeline file.
pub(super) struct NightSettings {
    /// The pipeline file.
    pub path: PathBuf,
    /// Folder of the nights.
    pub store: PathBuf,
    /// Name of the pipeline.
    pub name: String,
    /// The section `[night]`.
    pub section: NightSection,
    /// Conditions that make a night fail.
    pub fail_if: Vec<Condition>,
    /// Conditions that only warn.
    pub warn_if: Vec<Condition>,
    /// The keys that `--set` overrides.
    pub overrides: Vec<String>,
}

impl NightSettings {
    /// Reads the settings before anything else is done, so that a malformed condition is not noticed after hours of work.
    pub(super) fn read(request: &NightRequest, is_silent: bool) -> Outcome<Self> {
        let (Some(path), Some(store)) = (request.pipeline.clone(), request.store.clone()) else {
            return Err(CommandError::request(
                "`chatmill night` needs a pipeline file and --store",
            ));
        };
        let mut overrides = request.overrides.clone();
        if is_silent {
            overrides.push("output.quote=false".to_owned());
        }
        let text = exit::small_file(&path, MIB, |error| {
            CommandError::request(format!(
                "cannot read the pipeline file {}: {error}",
                path.display()
            ))
            .then("give the path of a pipeline file, for example pipelines/demo.toml")
        })?;
        let pipeline = pipeline::parse(&text, &overrides, &path)?;
        let section = pipeline.night.unwrap_or_default();
        let fail_if = conditions("night.fail_if", &section.fail_if)?;
        let warn_if = conditions("night.warn_if", &section.warn_if)?;
        let needs_prices = fail_if
            .iter()
            .chain(&warn_if)
            .find(|condition| condition.is_of_money());
        if let (Some(condition), None) = (needs_prices, &section.prices) {
            let message = format!(
                "the condition `{}` is about money, but there are no prices",
                condition.text()
            );
            return refuse(message, "name a price file: prices = \"prices.toml\" in [night]");
        }
        Ok(Self {
            path,
            store,
            name: pipeline.name,
            section,
            fail_if,
            warn_if,
            overrides,
        })
    }

    /// The prices, for the encodings of the registry and of the pipeline.
    pub(super) fn prices(&self, own: &[Encoding], context: &Context<'_>) -> Outcome<PriceList> {
        prices_of_nights(&self.path, &self.section, own, context)
    }
}

fn conditions(key: &str, texts: &[String]) -> Outcome<Vec<Condition>> {
    let conditions = texts.iter().map(|text| text.parse::<Condition>());
    conditions.collect::<Result<Vec<_>, _>>().map_err(|error| {
        CommandError::request(format!("{key}: {error}"))
            .then("write for example fail_if = [\"rejects > 0\", \"tokens_common > 2%\"]")
    })
}
