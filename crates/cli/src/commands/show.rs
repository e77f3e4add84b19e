//! `chatmill show`: a conversation for people, with its findings at their messages. `choice` selects it; it is read from inputs by the code
//! here, or from a dataset by `dataset`. `text`, `html` and `shape` write it, the last one for `--no-content`, and `rendering` adds what a
//! model gets of it.
//!
//! Text goes through [`TextPage`](page::TextPage), so that nothing in a chat can control the terminal.

mod choice;
mod dataset;
mod html;
mod page;
mod pager;
mod rendering;
mod shape;
mod text;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, is_dataset};
use chatmill_diag::Limits;
use chatmill_dialect::policy::Reasoning;
use chatmill_dialect::{Dialect, View};
use chatmill_engine::check::{Checked, Mask, Quoting};
use chatmill_engine::conversation::perspectives;
use chatmill_engine::pipeline::{PerspectiveChoice, PerspectiveRule};
use chatmill_engine::rerender::{RerenderError, StoredFacts};
use chatmill_engine::{Plan, PlannedInput, ReadProblems, Silent, WalkEvent, typed_inputs, walk};
use chatmill_export::{Envelope, Preferences};
use chatmill_intake::discover::Links;
use chatmill_model::Linked;
use chatmill_report::conversation::{ShownChat, ShownFinding, conversation_page};
use chatmill_token::TokenCounter;
use clap::{Args, ValueEnum};

use self::choice::{Choice, ChoiceArguments, Sampled};
use self::page::TextPage;
use self::rendering::Rendered;
use super::check::finding_text;
use super::export::known_envelope;
use super::inspect::is_export;
use super::render::{Search, named, names, settings, speaker};
use super::report;
use crate::args::Inputs;
use crate::context::Context;
use crate::exit::{self, Exit, Outcome, refuse};
use crate::mask::mask;
use crate::output::{self, Colours};
use crate::{read_problems, terminal};

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/show.txt").trim_end())]
pub(crate) struct Arguments {
    /// File, folder, glob, archive, or `-` for stdin; a finished dataset; a file of an export
    path: String,
    #[command(flatten)]
    choice: ChoiceArguments,
    /// Pipeline file with settings to apply: maps, redaction, perspective, windows, policy and templates
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pipeline: Option<PathBuf>,
    #[command(flatten)]
    reading: Inputs,
    /// Also shows what a model gets in these dialects; `chatmill dialects` lists them
    #[arg(
        long = "dialect",
        value_name = "ID[@PROFILE],…",
        value_delimiter = ',',
        conflicts_with = "envelope"
    )]
    dialects: Vec<String>,
    /// Also shows the row that `convert --to` writes for a trainer: an envelope (trl-messages, openai-sft, …)
    #[arg(long = "to", value_name = "ENVELOPE")]
    envelope: Option<String>,
    /// Participant that is the assistant: id or name, `auto` or `none`
    #[arg(long = "as", default_value = "auto", value_name = "PARTICIPANT")]
    speaker: String,
    /// Output format; without it, the ending of --out decides
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ShownAs>,
    /// Writes to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Shows pictures that are in the conversation as data, on an HTML page: 3 MiB of PNG, JPEG, GIF or WebP
    #[arg(long)]
    media: bool,
    /// Opens the file in the default program of the system
    #[arg(long, requires = "out")]
    open: bool,
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShownAs {
    /// Text for a terminal
    Text,
    /// Markdown: the chat alone
    Markdown,
    /// HTML page: the chat, and next to it what a model gets
    Html,
}

/// A conversation that is shown.
struct ShownConversation {
    id: String,
    /// The place where it begins.
    place: String,
    linked: Linked,
    /// Its findings by message; those on the conversation as a whole have no message.
    findings: FindingsByMessage,
    /// The facts that its dataset stores about it.
    stored: Option<StoredFacts>,
}

/// Findings by message.
type FindingsByMessage = BTreeMap<Option<u32>, Vec<ShownFinding>>;

/// The output for which a conversation is written.
#[derive(Clone, Copy)]
struct Medium<'m> {
    format: ShownAs,
    /// The mask of ids, if content must not be shown.
    mask: Option<&'m Mask>,
    colours: Colours,
    columns: usize,
    /// The width to which text is wrapped.
    wrapped_columns: usize,
}

impl<'m> Medium<'m> {
    fn of(arguments: &Arguments, mask: Option<&'m Mask>) -> Outcome<Self> {
        let ending = arguments.out.as_deref().and_then(Path::extension);
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        let format = arguments.format.unwrap_or(match ending.as_deref() {
            Some("html") => ShownAs::Html,
            Some("md") => ShownAs::Markdown,
            _ => ShownAs::Text,
        });
        if format != ShownAs::Text && mask.is_some() {
            return refuse(
                "a page shows the chat and cannot leave it out",
                "omit --no-content, or use --format text, which shows the shape",
            );
        }
        if format != ShownAs::Html && arguments.media {
            return refuse(
                "only an HTML page shows pictures",
                "omit --media, or use --format html",
            );
        }
        let is_rendered = !arguments.dialects.is_empty() || arguments.envelope.is_some();
        if format == ShownAs::Markdown && is_rendered {
            return refuse(
                "Markdown shows the chat alone",
                "omit --dialect and --to, or use --format html, which shows what a model gets as well",
            );
        }
        let is_terminal = format == ShownAs::Text && arguments.out.is_none();
        Ok(Self {
            format,
            mask,
            colours: if is_terminal {
                Colours::of_stdout()
            } else {
                Colours::NONE
            },
            columns: if is_terminal {
                terminal::columns()
            } else {
                terminal::COLUMNS_OF_A_FILE
            },
            wrapped_columns: if is_terminal {
                terminal::prose_columns()
            } else {
                usize::MAX
            },
        })
    }
}

/// Shows a conversation.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let mut choice = Choice::new(&arguments.choice)?;
    let mask = mask(context.global)?;
    let medium = Medium::of(arguments, mask.as_ref())?;
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
    let load = |file| -> Outcome<Plan> {
        let reading = arguments.reading.reading(Some(file), context.global)?;
        Ok(reading.plan_over(inputs, file)?)
    };
    let plan = plan.map(load).transpose()?;
    let target = Target::of(arguments, plan.as_ref())?;
    let file = arguments.out.as_deref();
    let read = plan.as_ref().map(Plan::read_beside).unwrap_or_default();
    let read = read
        .iter()
        .map(PathBuf::as_path)
        .chain(arguments.pipeline.as_deref());
    let read: Vec<&Path> = read.chain([path]).collect();
    let file = file.map(|file| output::file(file, &read)).transpose()?;
    let (found, problems) = match &dataset {
        Some(dataset) => (
            dataset::find(dataset, &mut choice, medium)?,
            ReadProblems::default(),
        ),
        None => find(arguments, plan.as_ref(), &mut choice, medium, context)?,
    };
    if found.is_empty() {
        read_problems::report("not searched", &problems);
        return match exit::report_failures(&problems.failures) {
            Exit::Complete => Err(choice.unmet()),
            failed => Ok(failed),
        };
    }
    let plan = plan.map_or_else(|| settings(None, &[]), Ok)?;
    let origin = dataset.as_ref().map_or(Origin::Inputs(&plan), Origin::Dataset);
    let texts = || {
        let text = |found| text_of(found, &target, origin, arguments, medium);
        found.iter().map(text).collect::<Outcome<Vec<String>>>()
    };
    let pages = || {
        found
            .iter()
            .map(|found| markdown_of(found, &plan, arguments.pipeline.is_some()))
    };
    let text = match medium.format {
        ShownAs::Text => texts()?.join("\n* * *\n\n"),
        ShownAs::Html => page_of(&found, &target, origin, arguments)?,
        ShownAs::Markdown => pages().collect::<Vec<_>>().join("\n---\n\n"),
    };
    match file {
        Some((mut out, file)) => {
            out.write_all(text.as_bytes())?;
            out.flush()?;
            file.finish()?;
        }
        None if medium.format == ShownAs::Text => pager::print(&text)?,
        None => output::print_file(&text)?,
    }
    if let Some(path) = arguments.out.as_deref().filter(|_| arguments.open) {
        report::open(path)?;
    }
    Ok(exit::report_failures(&problems.failures))
}

/// The origin of a conversation, which decides how it is rendered.
#[derive(Clone, Copy)]
enum Origin<'o> {
    /// From inputs, rendered by a plan.
    Inputs(&'o Plan),
    /// From a dataset, rendered as in its run.
    Dataset(&'o Dataset),
}

/// The requested conversations of the inputs, and the problems that occurred while reading.
fn find(
    arguments: &Arguments,
    plan: Option<&Plan>,
    choice: &mut Choice,
    medium: Medium<'_>,
    context: &Context<'_>,
) -> Outcome<(Vec<ShownConversation>, ReadProblems)> {
    let typed;
    let reading = arguments.reading.reading(None, context.global)?;
    let inputs: &[PlannedInput] = if let Some(plan) = plan {
        &plan.inputs
    } else {
        let path = std::slice::from_ref(&arguments.path);
        typed = typed_inputs(path, &reading, Links::Refused, true)?.0;
        &typed
    };
    let limits = Limits::default();
    let settings = plan.map_or_else(|| reading.records(&limits), Plan::reading_redacted);
    let folder = Path::new(&arguments.path).parent();
    let is_export = folder.map_or(Ok(false), is_export)?;
    let mut problems = ReadProblems::default();
    let mut found = Sampled::new(choice);
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
                    found.add(&id, || ShownConversation {
                        id: id.clone(),
                        place: record.place(),
                        linked: linked.clone(),
                        findings: by_message(&record.findings(), medium),
                        stored: None,
                    });
                }
            }
            WalkEvent::ReadProblem(problem) => problems.add(problem),
            WalkEvent::Failed(failure) => problems.failures.push(failure),
            _ => {}
        }
        !found.is_complete()
    })?;
    Ok((found.finish(), problems))
}

/// The renderings that are shown in addition to the conversation.
struct Target {
    dialects: Vec<Dialect>,
    envelope: Option<&'static Envelope>,
}

impl Target {
    fn of(arguments: &Arguments, plan: Option<&Plan>) -> Outcome<Self> {
        let envelope = arguments.envelope.as_deref().map(known_envelope).transpose()?;
        let rated = envelope.filter(|envelope| envelope.preferences != Preferences::None);
        if let Some(Envelope { id, .. }) = rated {
            return refuse(
                format!("the rows of `{id}` are made of rated answers, not of a single conversation"),
                "leave `--to` out: other answers and how they were rated are shown at their place",
            );
        }
        let of_envelope = envelope.and_then(|envelope| envelope.dialects.first().copied());
        let dialects = arguments.dialects.iter().map(String::as_str).chain(of_envelope);
        let templates = plan.map(|plan| plan.templates.clone()).unwrap_or_default();
        let dialects = dialects.map(|dialect| templates.find(dialect));
        Ok(Self {
            dialects: dialects.collect::<Result<_, _>>()?,
            envelope,
        })
    }
}

/// The participants that are the assistant in the renderings; the chat is shown with the first of them.
fn assistants(
    linked: &Linked,
    target: &Target,
    origin: Origin<'_>,
    arguments: &Arguments,
) -> Outcome<Vec<Option<usize>>> {
    let asked = speaker(&arguments.speaker);
    let speaker = match origin {
        Origin::Inputs(plan) if is_auto(&asked) && arguments.pipeline.is_some() => {
            plan.pipeline.perspective.speaker.clone()
        }
        // `convert` does the same.
        Origin::Inputs(_) if is_auto(&asked) && target.envelope.is_some() => {
            PerspectiveChoice::Rule(PerspectiveRule::EachAgent)
        }
        _ => asked,
    };
    let (assistants, _) = perspectives(linked, &speaker);
    let mut participants = Search::new(named(&speaker));
    participants.note(!assistants.is_empty(), names(linked));
    participants.unmet("participant").map_or(Ok(assistants), Err)
}

fn is_auto(speaker: &PerspectiveChoice) -> bool {
    matches!(speaker, PerspectiveChoice::Rule(PerspectiveRule::Auto))
}

/// Renders the conversation in a dialect; notes name what cannot be rendered again from a dataset.
fn renderings(
    found: &ShownConversation,
    dialect: &Dialect,
    (origin, assistants, arguments): (Origin<'_>, &[Option<usize>], &Arguments),
    counter: &mut Option<TokenCounter>,
    notes: &mut Vec<String>,
) -> Outcome<Vec<Rendered>> {
    let linked = &found.linked;
    let (dataset, facts) = match (origin, &found.stored) {
        (Origin::Inputs(plan), _) => {
            return Ok(rendering::rendered(linked, plan, dialect, assistants, counter));
        }
        (Origin::Dataset(_), None) => return Ok(Vec::new()),
        (Origin::Dataset(dataset), Some(facts)) => (dataset, facts),
    };
    match rendering::again(dataset, (facts, linked), dialect) {
        Ok((mut rendered, uncounted)) => {
            notes.extend(
                uncounted
                    .map(|name| format!("not counted: the vocabulary of `{name}` is not in the dataset")),
            );
            let all = is_auto(&speaker(&arguments.speaker));
            rendered.retain(|rendering| all || rendering.is_for(linked, assistants));
            if rendered.is_empty() {
                notes.push("by the plan of the dataset there is no such rendering".to_owned());
            }
            Ok(rendered)
        }
        Err(error @ RerenderError::Refused { .. }) => {
            notes.push(error.to_string());
            Ok(Vec::new())
        }
        Err(error) => Err(error.into()),
    }
}

/// The conversation as text, and below it what a model or a trainer gets.
fn text_of(
    found: &ShownConversation,
    target: &Target,
    origin: Origin<'_>,
    arguments: &Arguments,
    medium: Medium<'_>,
) -> Outcome<String> {
    let assistants = assistants(&found.linked, target, origin, arguments)?;
    let assistant = assistants.first().copied().flatten();
    let mut page = TextPage::new(medium.colours, medium.columns, medium.wrapped_columns);
    match medium.mask {
        None => text::write(&mut page, found, assistant),
        Some(mask) => shape::write(&mut page, found, assistant, mask),
    }
    let by = (origin, assistants.as_slice(), arguments);
    let mut counter = (!target.dialects.is_empty()).then(rendering::counter).flatten();
    for dialect in &target.dialects {
        let mut notes = Vec::new();
        let rendered = renderings(found, dialect, by, &mut counter, &mut notes)?;
        for note in &notes {
            page.note(note);
        }
        let shows_content = medium.mask.is_none();
        for rendered in rendered {
            rendered.write(&mut page, shows_content);
            if let Some(envelope) = target.envelope {
                rendered.write_row(&mut page, envelope, shows_content);
            }
        }
    }
    Ok(page.into_text())
}

/// The conversation as Markdown, including reasoning unless a pipeline decides.
fn markdown_of(found: &ShownConversation, plan: &Plan, is_of_pipeline: bool) -> String {
    let mut policy = *plan.policy();
    if !is_of_pipeline {
        policy.reasoning = Reasoning::Keep;
    }
    let view = View::whole(&found.linked, None, &policy);
    let mut text = String::new();
    if let Some(markdown) = chatmill_dialect::find("markdown") {
        markdown.render_each(&view, &mut |sink, _| text.push_str(sink.text()));
    }
    text
}

/// The dialects of a page in addition to that of the source, if none is requested.
const DIALECTS_OF_A_PAGE: [&str; 2] = ["openai-chat", "anthropic-messages"];

/// The greatest number of messages of a conversation that is rendered in all dialects.
const MOST_COUNTED: usize = 5_000;

/// The page of the conversations.
fn page_of(
    found: &[ShownConversation],
    target: &Target,
    origin: Origin<'_>,
    arguments: &Arguments,
) -> Outcome<String> {
    let mut budget = html::PictureBudget::new(arguments.media);
    let chats = found
        .iter()
        .map(|found| chat_of(found, target, origin, arguments, &mut budget));
    Ok(conversation_page(&chats.collect::<Outcome<Vec<_>>>()?)?)
}

fn chat_of(
    found: &ShownConversation,
    target: &Target,
    origin: Origin<'_>,
    arguments: &Arguments,
    budget: &mut html::PictureBudget,
) -> Outcome<ShownChat> {
    let linked = &found.linked;
    let assistants = assistants(linked, target, origin, arguments)?;
    let by = (origin, assistants.as_slice(), arguments);
    let (mut counter, mut notes) = (rendering::counter(), Vec::new());
    let usual = || {
        let own = [linked.conversation.source].into_iter().chain(DIALECTS_OF_A_PAGE);
        let mut usual: Vec<&Dialect> = own.filter_map(chatmill_dialect::find).collect();
        usual.dedup_by_key(|dialect| dialect.id());
        usual
    };
    let asked: Vec<&Dialect> = target.dialects.iter().collect();
    let dialects = if asked.is_empty() { usual() } else { asked };
    let mut shown = Vec::new();
    for dialect in dialects {
        shown.extend(renderings(found, dialect, by, &mut counter, &mut notes)?);
    }
    let figures = match origin {
        Origin::Dataset(dataset) => {
            dataset::figures(dataset, found, shown.iter().find_map(Rendered::encoding))?
        }
        Origin::Inputs(plan) if linked.conversation.messages.len() <= MOST_COUNTED => {
            let all = chatmill_dialect::DIALECTS.iter();
            let all =
                all.flat_map(|dialect| rendering::rendered(linked, plan, dialect, &assistants, &mut counter));
            all.map(|rendered| rendered.row()).collect()
        }
        Origin::Inputs(_) => shown.iter().map(Rendered::row).collect(),
    };
    let assistant = assistants.first().copied().flatten();
    Ok(html::chat(found, assistant, &shown, figures, notes, budget))
}

/// Findings as text, by message.
fn by_message(findings: &[Checked], medium: Medium<'_>) -> FindingsByMessage {
    let quoting = medium.mask.map_or(Quoting::All, Quoting::Masked);
    let mut by_message = FindingsByMessage::new();
    for checked in findings {
        let finding = &checked.located.finding;
        by_message
            .entry(finding.position)
            .or_default()
            .push(ShownFinding {
                code: finding.code.code.to_owned(),
                text: finding_text(checked, quoting, medium.colours, medium.columns),
            });
    }
    by_message
}

impl ShownConversation {
    /// Writes the findings on a message.
    fn write_findings(&self, page: &mut TextPage, position: Option<u32>) {
        for finding in self.findings.get(&position).into_iter().flatten() {
            page.block(&finding.text);
        }
    }
}
