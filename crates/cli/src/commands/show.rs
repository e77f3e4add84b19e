//! `chatmill show`: one conversation as people read it, with its findings at their messages.
//!
//! Where text goes through [`Page`](page::Page), so that nothing of a chat can control the terminal.

mod choice;
mod page;
mod pager;
mod rendering;
mod shape;
mod text;

use std::collections::BTreeMap;

use chatmill_diag::Limits;
use chatmill_dialect::Dialect;
use chatmill_engine::check::{Checked, Mask, Quoting};
use chatmill_engine::conversation::perspectives;
use chatmill_engine::pipeline::{PerspectiveChoice, PerspectiveRule};
use chatmill_engine::record::Settings;
use chatmill_engine::{ReadProblems, Silent, Templates, WalkEvent, typed_inputs, walk};
use chatmill_export::{Envelope, Preferences};
use chatmill_model::Linked;
use clap::{Args, ValueEnum};

use self::choice::{Choice, ChoiceArguments};
use self::page::Page;
use super::check::finding_text;
use super::export::known_envelope;
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
    /// File, folder, glob, archive, or `-` for stdin
    path: String,
    #[command(flatten)]
    choice: ChoiceArguments,
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
    format: Format,
}

/// Form of what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
}

/// A conversation that is shown.
struct Found {
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
    let target = Target::of(arguments)?;
    let inputs = typed_inputs(std::slice::from_ref(&arguments.path), &arguments.reading.source)?;
    let limits = Limits::default();
    let mut settings = Settings::plain(&limits);
    settings.options.zone = arguments.reading.input_zone.as_deref();
    let mask = mask(context.global)?;
    let mut problems = ReadProblems::default();
    let mut found = None;
    walk(&inputs, settings, &Silent, context.signals.stop(), &mut |event| {
        match event {
            WalkEvent::Conversation {
                id,
                linked,
                codes,
                record,
                ..
            } if choice.takes(&id, linked, &codes) => {
                found = Some(Found {
                    id,
                    place: record.place(),
                    linked: linked.clone(),
                    findings: by_message(&record.findings(), mask.as_ref()),
                });
            }
            WalkEvent::ReadProblem(problem) => problems.add(problem),
            WalkEvent::Failed(failure) => problems.failures.push(failure),
            _ => {}
        }
        found.is_none()
    })?;
    let Some(found) = found else {
        read_problems::report("not searched", &problems);
        return match exit::report_failures(&problems.failures) {
            Exit::Complete => Err(choice.unmet()),
            failed => Ok(failed),
        };
    };
    let mut page = Page::new(
        Colours::of_stdout(),
        terminal::columns(),
        terminal::prose_columns(),
    );
    write(&mut page, &found, &target, arguments, mask.as_ref())?;
    match arguments.format {
        Format::Text => pager::print(&page.into_text())?,
    }
    Ok(exit::report_failures(&problems.failures))
}

/// What is shown beside the conversation.
struct Target {
    dialect: Option<Dialect>,
    envelope: Option<&'static Envelope>,
}

impl Target {
    fn of(arguments: &Arguments) -> Outcome<Self> {
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
        let dialect = dialect.map(|dialect| Templates::default().find(dialect));
        let dialect = dialect.transpose()?;
        Ok(Self { dialect, envelope })
    }
}

/// Writes the conversation as text, and what a model or a trainer gets of it.
fn write(
    page: &mut Page,
    found: &Found,
    target: &Target,
    arguments: &Arguments,
    mask: Option<&Mask>,
) -> Outcome<()> {
    let linked = &found.linked;
    let speaker = match speaker(&arguments.speaker) {
        // As `convert` does.
        PerspectiveChoice::Rule(PerspectiveRule::Auto) if target.envelope.is_some() => {
            PerspectiveChoice::Rule(PerspectiveRule::EachAgent)
        }
        speaker => speaker,
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
    let plan = settings(None, &[])?;
    for rendered in rendering::rendered(linked, &plan, dialect, &assistants) {
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

impl Found {
    /// Writes the findings at a message.
    fn write_findings(&self, page: &mut Page, position: Option<u32>) {
        for text in self.findings.get(&position).into_iter().flatten() {
            page.block(text);
        }
    }
}
