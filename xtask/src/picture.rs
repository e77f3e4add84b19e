//! The picture in README.md: how the files of `pipelines/demo.toml` become tables, with the numbers of a run of it.
//!
//! `cargo xtask readme` draws it twice, for light and for dark pages, by the template `flow.svg.jinja`.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use chatmill_dialect::is_house;
use chatmill_engine::{Plan, RunOptions, Silent};
use chatmill_report::numbers::{count, counted};
use chatmill_source::SOURCES;
use minijinja::{Environment, UndefinedBehavior, Value, context};

/// Each file of the picture with its text.
pub(crate) fn files(root: &Path) -> Result<Vec<(String, String)>> {
    let flow = of_demo(root)?;
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.add_filter("count", count);
    templates.add_filter("counted", counted);
    let template = templates.template_from_str(include_str!("flow.svg.jinja"))?;
    let drawn = ["light", "dark"].into_iter().map(|theme| {
        let text = template.render(context! { theme, ..flow.clone() })?;
        Ok((format!("docs/images/flow-{theme}.svg"), text + "\n"))
    });
    drawn.collect()
}

/// Runs the demo, and returns the values of the picture's template.
fn of_demo(root: &Path) -> Result<Value> {
    let out = root.join("target/picture");
    let plan = Plan::load(&root.join("pipelines/demo.toml"), &[], Some(&out), &[])?;
    // Otherwise the picture would show a dataset of an earlier build.
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    let run = chatmill_engine::run(plan, RunOptions::default(), &Silent, &AtomicBool::new(false))?;
    // Source, files and conversations, most conversations first.
    let mut sources: Vec<(String, u64, u64)> = Vec::new();
    for input in run.manifest.inputs.iter() {
        let name = input
            .source
            .clone()
            .context("an input of the demo has no source")?;
        match sources.iter_mut().find(|(source, _, _)| *source == name) {
            Some((_, files, conversations)) => {
                *files += 1;
                *conversations += input.conversations;
            }
            None => sources.push((name, 1, input.conversations)),
        }
    }
    sources.sort_by_key(|(_, _, conversations)| std::cmp::Reverse(*conversations));
    let tables = run.manifest.tables.iter();
    let encodings = run.totals.overview.renderings.iter();
    let first = encodings.clone().next().map(|total| total.encoding.clone());
    let mut dialects: Vec<_> = encodings
        .clone()
        .filter(|total| Some(&total.encoding) == first.as_ref())
        .collect();
    dialects.sort_by_key(|total| (is_house(&total.dialect), total.tokens));
    Ok(context! {
        files => sources.iter().map(|(_, files, _)| files).sum::<u64>(),
        conversations => sources.iter().map(|(_, _, of)| of).sum::<u64>(),
        sources,
        readable => SOURCES.len(),
        framed => run.totals.framed,
        accepted => run.totals.accepted,
        rejected => run.totals.rejected,
        messages => run.totals.messages,
        dialects => dialects.iter().map(|total| total.dialect.clone()).collect::<Vec<_>>(),
        encodings => encodings.map(|total| total.encoding.clone()).collect::<Vec<_>>(),
        tables => Value::from_pairs(tables.map(|table| (table.name.clone(), table.rows))),
    })
}
