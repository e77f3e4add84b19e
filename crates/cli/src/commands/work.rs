//! `chatmill work`: processes some of the shards that `chatmill plan` planned.

use std::path::PathBuf;

use chatmill_engine::shards::{self, ShardSelection, Stage, ranges};
use chatmill_engine::{Progress as _, RunOptions};
use clap::Args;
use serde_json::json;

use super::run::resumable;
use crate::args::ListFormat;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome, refuse};
use crate::figures::counted;
use crate::output::{self, harmless};

/// Arguments of `work`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/work.txt").trim_end())]
pub(crate) struct Arguments {
    /// Folder of the dataset, as given to `chatmill plan`
    #[arg(value_name = "DIR")]
    out: PathBuf,
    /// Processes the I-th of N parts of the shards, I from 1
    #[arg(long, value_name = "I/N", conflicts_with = "shards")]
    part: Option<String>,
    /// Processes these shards, by number: `3,7-9`
    #[arg(long, value_name = "SHARDS")]
    shards: Option<String>,
    /// The older name of `--part`
    #[arg(long, value_name = "I/N", hide = true, conflicts_with_all = ["part", "shards", "older_shards"])]
    shard: Option<String>,
    /// The older name of `--shards`
    #[arg(long = "lots", value_name = "SHARDS", hide = true, conflicts_with_all = ["part", "shards"])]
    older_shards: Option<String>,
    /// Worker threads; 0 uses all cores
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Processes shards, and prints which are done.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    for (is_older, older, name) in [
        (arguments.shard.is_some(), "--shard", "--part"),
        (arguments.older_shards.is_some(), "--lots", "--shards"),
    ] {
        if is_older {
            let note = format!("{older} is called {name} now, and the next version refuses the old name");
            context.meter.note(&note);
        }
    }
    let part = arguments.part.as_deref().or(arguments.shard.as_deref());
    let list = arguments.shards.as_deref().or(arguments.older_shards.as_deref());
    let selection = selection(part, list, &|name| std::env::var(name).ok())?;
    let options = RunOptions {
        threads: arguments.threads,
        ..RunOptions::default()
    };
    let worked = shards::work(
        &arguments.out,
        &selection,
        options,
        context.meter,
        context.signals.stop(),
    )
    .map_err(resumable)?;
    context.meter.finish();
    let exit = if worked.failed.is_empty() {
        Exit::Complete
    } else {
        Exit::Incomplete
    };
    match arguments.format {
        ListFormat::Json => output::print_json(&json!({
            "stage": worked.stage,
            "compared": worked.compared,
            "missing": worked.missing,
            "done": worked.done,
            "before": worked.before,
            "failed": worked.failed,
        }))?,
        ListFormat::Text => {
            let mut text = String::new();
            if !worked.compared.is_empty() {
                text += &format!("{} compared\n", counted(worked.compared.len() as u64, "shard"));
            }
            if worked.stage == Stage::Compare {
                text += &waiting(&worked.missing, &arguments.out.display().to_string());
            } else {
                text += &format!("{} done", counted(worked.done.len() as u64, "shard"));
                if !worked.before.is_empty() {
                    text += &format!(", {} done before", worked.before.len());
                }
                text.push('\n');
            }
            for (shard, reason) in &worked.failed {
                text += &format!("shard {shard} failed: {}\n", harmless(reason));
            }
            output::print(&text)?;
        }
    }
    Ok(exit)
}

/// The message about shards that are not compared yet, so that no shard can be rendered.
fn waiting(missing: &[u32], out: &str) -> String {
    format!(
        "{} not compared yet ({}), so no shard is rendered; repeat this command once `chatmill status {}` reports the stage render\n",
        counted(missing.len() as u64, "shard"),
        ranges(missing),
        harmless(out),
    )
}

/// The shards to process, from the command line or from the variables of a job array.
fn selection(
    part: Option<&str>,
    list: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Outcome<ShardSelection> {
    if let Some(list) = list {
        let numbers =
            shards::parse(list).map_err(|error| CommandError::request(format!("--shards: {error}")))?;
        return Ok(ShardSelection::Numbers(numbers));
    }
    if let Some(part) = part {
        let parts = part.split_once('/');
        let parts = parts.and_then(|(index, of)| Some((index.parse::<u32>().ok()?, of.parse::<u32>().ok()?)));
        return match parts {
            Some((index, of)) if (1..=of).contains(&index) => {
                Ok(ShardSelection::Part { index: index - 1, of })
            }
            Some((index, of)) => Err(CommandError::request(format!(
                "--part: there is no part {index} of {of}; parts are numbered from 1"
            ))),
            None => Err(CommandError::request(format!(
                "--part: `{part}` is not of the form I/N, for example 3/8"
            ))),
        };
    }
    let number = |name: &str| -> Outcome<Option<u32>> {
        let Some(text) = variable(name) else {
            return Ok(None);
        };
        let number = text.trim().parse();
        number
            .map(Some)
            .map_err(|_| CommandError::request(format!("{name} is `{text}`, which is not a number")))
    };
    let needed = |name: &str, given: &str| {
        number(name)?.ok_or_else(|| CommandError::request(format!("{given} is set, but {name} is not")))
    };
    let (index, of) = if let Some(id) = number("SLURM_ARRAY_TASK_ID")? {
        let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
        let of = needed("SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_ID")?;
        (id.checked_sub(first).unwrap_or(u32::MAX), of)
    } else if let Some(index) = number("JOB_COMPLETION_INDEX")? {
        (index, needed("JOB_COMPLETIONS", "JOB_COMPLETION_INDEX")?)
    } else {
        return refuse(
            "the shards to process are not specified",
            "give --part 1/8 or --shards 3,7-9, or start the command from a job array",
        );
    };
    if index >= of {
        return Err(CommandError::request(format!(
            "the job array gives this task the index {index} of {of}, counted from 0; number the tasks without gaps"
        )));
    }
    Ok(ShardSelection::Part { index, of })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_array(set: &[(&str, &str)]) -> Result<ShardSelection, String> {
        let variable = |name: &str| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        selection(None, None, &variable).map_err(|error| error.to_string())
    }

    #[test]
    fn shards_are_selected_by_arguments_or_the_job_array() {
        let none = |_: &str| None;
        assert_eq!(
            selection(Some("3/8"), None, &none).unwrap(),
            ShardSelection::Part { index: 2, of: 8 }
        );
        assert_eq!(
            selection(None, Some("3,7-9"), &none).unwrap(),
            ShardSelection::Numbers(vec![3, 7, 8, 9])
        );
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "5"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_COUNT", "8"),
        ];
        assert_eq!(from_array(&slurm), Ok(ShardSelection::Part { index: 4, of: 8 }));
        let kubernetes = [("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "3")];
        assert_eq!(
            from_array(&kubernetes),
            Ok(ShardSelection::Part { index: 0, of: 3 })
        );
    }

    #[test]
    fn an_impossible_selection_is_refused() {
        let none = |_: &str| None;
        for shard in ["0/3", "4/3", "3", "a/b", "1/0", "-1/3"] {
            assert!(selection(Some(shard), None, &none).is_err(), "{shard}");
        }
        for set in [
            &[][..],
            &[("SLURM_ARRAY_TASK_ID", "5")],
            &[("SLURM_ARRAY_TASK_ID", "8"), ("SLURM_ARRAY_TASK_COUNT", "8")],
            &[("SLURM_ARRAY_TASK_ID", "x"), ("SLURM_ARRAY_TASK_COUNT", "8")],
            &[("JOB_COMPLETION_INDEX", "1")],
        ] {
            assert!(from_array(set).is_err(), "{set:?}");
        }
    }
}
