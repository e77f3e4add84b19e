//! `chatmill show`: one conversation as people read it, with its findings at their messages.
//!
//! Where text goes through [`TextPage`](page::TextPage), so that nothing of a chat can control the terminal.

mod choice;
mod dataset;
mod page;
mod pager;
mod rendering;
mod shape;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, is_dataset};
use chatmill_diag::Limits;
use chatmill_dialect::Dialect;
use chatmill_engine::again::AgainError;
use chatmill_engine::check::{Checked, Mask, Quoting};
use chatmill_engine::conversation::perspectives;
use chatmill_engine::pipeline::{PerspectiveChoice, PerspectiveRule};
use chatmill_engine::record::Settings;
use chatmill_engine::{Plan, PlannedInput, ReadProblems, Silent, WalkEvent, typed_inputs, walk};
use chatmill_export::{Envelope, Preferences};
use chatmill_model::Linked;
use clap::{Args, ValueEnum};

use self::choice::{Choice, ChoiceArguments};
use self::page::TextPage;
use super::check::finding_text;
use super::export::known_envelope;
use super::inspect::is_export;
use super::render::{Search, named, names, settings, speaker};
use crate::args::Inputs;
use crate::context::Context;
use crate::exit::{self, Exit, Outcome, refuse};
use crate::mask::mask;
use crate::output::Colours;
use crate::{read_problems, terminal};

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/show.txt").trim_end())]
pub(crate) struct Arguments {
    /// File, folder, glob, archive, or `-` for stdin; a finished dataset; a file of an export
    path: String,
    #[command(flatten)]
    choice: ChoiceArguments,
    /// Pipeline file whose settings apply: maps, redaction, perspective, windows, policy and templates
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pipeline: Option<PathBuf>,
    #[command(flatten)]
    reading: Inputs,
    /// Also shows what a model gets in this dialect; `chatmill dialects` lists them
    #[arg(long, value_name = "ID[@PROFILE]", conflicts_with = "envelope")]
    dialect: Option<String>,
    /// Also shows the row that `convert --to` writes for a trainer: an envelope (trl-messages, openai-sft, …)
    #[arg(long = "to", value_name = "ENVELOPE")]
    envelope: Option<String>,
    /// Who is the assistant: id or name of a participant, `auto` or `none`
    #[arg(long = "as", default_value = "auto", value_name = "PARTICIPANT")]
    speaker: String,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ShownAs,
}

/// Form of what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShownAs {
    /// Text for a terminal
    Text,
}

/// A conversation that is shown.
struct ShownConversation {
    id: String,
    /// Where it begins.
    place: String,
    linked: Linked,
    /// Its findings as text, by their messages; those about the conversation as a whole have none.
    findings: BTreeMap<Option<u32>, Vec<String>>,
}

/// Shows a conversation.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let mut choice = Choice::new(&arguments.choice)?;
    let mask = mask(context.global)?;
    let path = Path::new(&arguments.path);
    let dataset = is_dataset(path)?.then(|| Dataset::open(path)).transpose()?;
    if dataset.is_some() && arguments.pipeline.is_some() {
        return refuse(
            "`--pipeline` is for inputs, and the path is a dataset",
            "leave it out: the plan of the dataset's own run applies",
        );
    }
    let inputs = std::slice::from_ref(&arguments.path);
    let plan = arguments.pipeline.as_deref();
    let plan = plan.map(|file| Plan::load(file, &[], None, inputs)).transpose()?;
    let target = Target::of(arguments, plan.as_ref())?;
    let (found, problems) = match &dataset {
        Some(dataset) => (
            dataset::find(dataset, &mut choice, mask.as_ref())?,
            ReadProblems::default(),
        ),
        None => find(arguments, plan.as_ref(), &mut choice, mask.as_ref(), context)?,
    };
    let Some(found) = found else {
        read_problems::report("not searched", &problems);
        return match exit::report_failures(&problems.failures) {
            Exit::Complete => Err(choice.unmet()),
            failed => Ok(failed),
        };
    };
    let mut page = TextPage::new(
        Colours::of_stdout(),
        terminal::columns(),
        terminal::prose_columns(),
    );
    let plan = plan.map_or_else(|| settings(None, &[]), Ok)?;
    let origin = dataset.as_ref().map_or(Origin::Inputs(&plan), Origin::Dataset);
    write(&mut page, &found, &target, origin, arguments, mask.as_ref())?;
    match arguments.format {
        ShownAs::Text => pager::print(&page.into_text())?,
    }
    Ok(exit::report_failures(&problems.failures))
}

/// Where a conversation comes from, and with that how it is rendered.
#[derive(Clone, Copy)]
enum Origin<'o> {
    /// From inputs, by a plan.
    Inputs(&'o Plan),
    /// From a dataset, as its run rendered it.
    Dataset(&'o Dataset),
}

/// The wanted conversation of the inputs, and what of them could not be read on the way.
fn find(
    arguments: &Arguments,
    plan: Option<&Plan>,
    choice: &mut Choice,
    mask: Option<&Mask>,
    context: &Context<'_>,
) -> Outcome<(Option<ShownConversation>, ReadProblems)> {
    let typed;
    let inputs: &[PlannedInput] = if let Some(plan) = plan {
        &plan.inputs
    } else {
        typed = typed_inputs(std::slice::from_ref(&arguments.path), &arguments.reading.source)?;
        &typed
    };
    let limits = Limits::default();
    let mut settings = plan.map_or(Settings::plain(&limits), Plan::reading_redacted);
    if let Some(zone) = &arguments.reading.input_zone {
        settings.options.zone = Some(zone);
    }
    let folder = Path::new(&arguments.path).parent();
    let is_export = folder.map_or(Ok(false), is_export)?;
    let mut problems = ReadProblems::default();
    let mut found = None;
    walk(inputs, settings, &Silent, context.signals.stop(), &mut |event| {
        match event {
            WalkEvent::Conversation {
                id,
                linked,
                codes,
                record,
                ..
            } => {
                let row = is_export.then(|| record.number() + 1);
                if choice.takes(&id, linked, &codes, row) {
                    found = Some(ShownConversation {
                        id,
                        place: record.place(),
                        linked: linked.clone(),
                        findings: by_message(&record.findings(), mask),
                    });
                }
            }
            WalkEvent::ReadProblem(problem) => problems.add(problem),
            WalkEvent::Failed(failure) => problems.failures.push(failure),
            _ => {}
        }
        found.is_none()
    })?;
    Ok((found, problems))
}

/// What is shown beside the conversation.
struct Target {
    dialect: Option<Dialect>,
    envelope: Option<&'static Envelope>,
}

impl Target {
    fn of(arguments: &Arguments, plan: Option<&Plan>) -> Outcome<Self> {
        let envelope = arguments.envelope.as_deref().map(known_envelope).transpose()?;
        let rated = envelope.filter(|envelope| envelope.preferences != Preferences::None);
        if let Some(Envelope { id, .. }) = rated {
            return refuse(
                format!("the rows of `{id}` are made of rated answers, not of one conversation as it is"),
                "leave `--to` out: other answers and how they were rated are shown at their place",
            );
        }
        let dialect = arguments.dialect.as_deref();
        let dialect = dialect.or_else(|| envelope?.dialects.first().copied());
        let templates = plan.map(|plan| plan.templates.clone()).unwrap_or_default();
        let dialect = dialect.map(|dialect| templates.find(dialect)).transpose()?;
        Ok(Self { dialect, envelope })
    }
}

/// Writes the conversation as text, and what a model or a trainer gets of it.
fn write(
    page: &mut TextPage,
    found: &ShownConversation,
    target: &Target,
    origin: Origin<'_>,
    arguments: &Arguments,
    mask: Option<&Mask>,
) -> Outcome<()> {
    let linked = &found.linked;
    let asked = speaker(&arguments.speaker);
    let is_auto = matches!(asked, PerspectiveChoice::Rule(PerspectiveRule::Auto));
    let speaker = match origin {
        Origin::Inputs(plan) if is_auto && arguments.pipeline.is_some() => {
            plan.pipeline.perspective.speaker.clone()
        }
        // As `convert` does.
        Origin::Inputs(_) if is_auto && target.envelope.is_some() => {
            PerspectiveChoice::Rule(PerspectiveRule::EachAgent)
        }
        _ => asked,
    };
    let (assistants, _) = perspectives(linked, &speaker);
    let mut participants = Search::new(named(&speaker));
    participants.note(!assistants.is_empty(), names(linked));
    if let Some(unmet) = participants.unmet("participant") {
        return Err(unmet);
    }
    let assistant = assistants.first().copied().flatten();
    match mask {
        None => text::write(page, found, assistant),
        Some(mask) => shape::write(page, found, assistant, mask),
    }
    let Some(dialect) = &target.dialect else {
        return Ok(());
    };
    let rendered = match origin {
        Origin::Inputs(plan) => rendering::rendered(linked, plan, dialect, &assistants),
        Origin::Dataset(dataset) => match rendering::again(dataset, &found.id, dialect) {
            Ok((mut rendered, uncounted)) => {
                if let Some(encoding) = uncounted {
                    page.note(&format!(
                        "not counted: the vocabulary of `{encoding}` is not in the dataset"
                    ));
                }
                rendered.retain(|rendering| is_auto || rendering.is_for(linked, &assistants));
                if rendered.is_empty() {
                    page.note("by the plan of the dataset there is no such rendering");
                }
                rendered
            }
            Err(error @ AgainError::Refused { .. }) => {
                page.note(&error.to_string());
                Vec::new()
            }
            Err(error) => return Err(error.into()),
        },
    };
    for rendered in rendered {
        rendered.write(page, linked, mask.is_none());
        if let Some(envelope) = target.envelope {
            rendered.write_row(page, envelope, mask.is_none());
        }
    }
    Ok(())
}

/// The text of findings by their messages.
fn by_message(findings: &[Checked], mask: Option<&Mask>) -> BTreeMap<Option<u32>, Vec<String>> {
    let quoting = mask.map_or(Quoting::All, Quoting::Masked);
    let mut by_message: BTreeMap<Option<u32>, Vec<String>> = BTreeMap::new();
    for checked in findings {
        let text = finding_text(checked, quoting, Colours::of_stdout(), terminal::columns());
        let at = checked.located.finding.position;
        by_message.entry(at).or_default().push(text);
    }
    by_message
}

impl ShownConversation {
    /// Writes the findings at a message.
    fn write_findings(&self, page: &mut TextPage, position: Option<u32>) {
        for text in self.findings.get(&position).into_iter().flatten() {
            page.block(text);
        }
    }
}
