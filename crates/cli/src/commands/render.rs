//! `chatmill render`: prints conversations in one dialect on stdout.
//!
//! A JSON dialect gives one value per line. A single rendering in a text dialect is printed unchanged; several become JSON lines. Files and
//! pipes get the exact bytes; on a terminal, characters that could control it are written as escapes, in JSON as JSON's own.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use chatmill_diag::Limits;
use chatmill_diag::suggest::nearest;
use chatmill_diag::visible::{visible_json, visible_lines};
use chatmill_dialect::{Dialect, Rendering, TextArena};
use chatmill_engine::conversation::{WindowedRenderer, perspectives};
use chatmill_engine::inspect::conversations;
use chatmill_engine::pipeline::{self, PerspectiveChoice, PerspectiveRule};
use chatmill_engine::{Plan, ReadProblems, Templates};
use chatmill_model::{Linked, Sink};
use clap::Args;
use serde_json::{Value, json};

use crate::args::MappedInputs;
use crate::context::Context;
use crate::exit::{self, CommandError, Exit, Outcome, refuse};
use crate::figures::counted;
use crate::output::{self, Output, harmless};
use crate::read_problems;
use crate::stderr::{Word, line};

/// Arguments of `render`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/render.txt").trim_end())]
pub(crate) struct Arguments {
    /// File, folder, glob, archive, or `-` for stdin
    path: String,
    /// Output format to print; `chatmill dialects` lists them
    #[arg(long, value_name = "ID[@PROFILE]", required_unless_present = "template")]
    dialect: Option<String>,
    /// Chat template to render with: a Jinja file or a `tokenizer_config.json`
    #[arg(long, value_name = "FILE", conflicts_with = "dialect")]
    template: Option<String>,
    #[command(flatten)]
    reading: MappedInputs,
    /// Prints only the conversation with this id
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Who speaks as the assistant: id or name of a participant, `auto` or `none`
    #[arg(long = "as", default_value = "auto", value_name = "PARTICIPANT")]
    speaker: String,
    /// Adds to each rendering what the format could not represent and which rules it breaks
    #[arg(long)]
    losses: bool,
    /// Adds to each rendering its conversation, perspective and ordinal
    #[arg(long)]
    with_ids: bool,
    /// Sets a key of [policy], [prompt] or [tools], or a key of [templates.NAME] as template.KEY=VALUE
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    overrides: Vec<String>,
}

/// Renders the conversations of a path.
pub(crate) fn execute(arguments: Arguments, context: &Context<'_>) -> Outcome<Exit> {
    if context.global.no_content {
        return refuse(
            "`render` prints chat text and cannot leave it out",
            "omit --no-content, or use `chatmill check`",
        );
    }
    let plan = settings(arguments.template.as_deref(), &arguments.overrides)?;
    let target = match &arguments.dialect {
        Some(dialect) => Templates::default().find(dialect)?,
        None => template(&plan)?,
    };
    let speaker = speaker(&arguments.speaker);
    let is_json = target.about().media_type == "application/json";
    let shape = match (arguments.losses, arguments.with_ids) {
        (true, _) => Shape::WithLosses,
        (false, true) => Shape::WithIds,
        (false, false) if is_json => Shape::Json,
        (false, false) => Shape::Text,
    };
    let mut printer = Printer {
        out: output::stdout(),
        shape,
        is_json,
        on_terminal: io::stdout().is_terminal(),
        first: None,
        printed: 0,
        failed: Failed::default(),
    };
    let mut wanted = Search::new(arguments.conversation.as_deref());
    let mut participants = Search::new(named(&speaker));
    let mut failure: Option<io::Error> = None;
    let paths = [arguments.path];
    let mut read = 0;
    let problems = conversations(
        &paths,
        &arguments.reading.reading(context.global)?,
        &Limits::default(),
        context.signals.stop(),
        &mut |id, linked| {
            read += 1;
            if !wanted.meets([id]) {
                return true;
            }
            let (perspectives, _) = perspectives(linked, &speaker);
            participants.note(!perspectives.is_empty(), names(linked));
            let arena = TextArena::default();
            let outcome = WindowedRenderer::new(linked, &plan.windows, &perspectives, plan.policy(), &arena)
                .with(plan.additions(&[]))
                .render(
                    &target,
                    None,
                    &mut Sink::default(),
                    &mut |sink, perspective, rendering| {
                        printer.print(id, perspective, sink.text(), &rendering)
                    },
                );
            failure = outcome.err();
            failure.is_none()
        },
    )?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    printer.end()?;
    wanted.refuse_unmet("conversation")?;
    if !target.is_neutral() {
        participants.refuse_unmet("participant")?;
    }
    Ok(exit_of(&problems, &printer.failed, read, printer.printed))
}

/// Sections with keys that can be set: they change how a conversation is rendered, not what is read, cut, counted or written.
const SECTIONS: [&str; 3] = ["policy.", "prompt.", "tools."];

/// The overrides and the template, parsed as a pipeline file.
pub(super) fn settings(template: Option<&str>, overrides: &[String]) -> Outcome<Plan> {
    let mut assignments = Vec::new();
    if let Some(path) = template {
        let is_config = Path::new(path)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let key = if is_config { "tokenizer_config" } else { "template" };
        // A JSON string is a TOML string, too.
        assignments.push(format!(
            "templates.{TEMPLATE}.{key}={}",
            serde_json::to_string(path)?
        ));
    }
    for assignment in overrides {
        let of_template = assignment.strip_prefix("template.");
        match of_template.filter(|_| template.is_some()) {
            Some(key) => assignments.push(format!("templates.{TEMPLATE}.{key}")),
            None if SECTIONS.iter().any(|section| assignment.starts_with(section)) => {
                assignments.push(assignment.clone());
            }
            None => {
                let message = format!(
                    "--set {assignment}: `render` takes only keys of [policy], [prompt], [tools] or of its template"
                );
                return refuse(message, "write for example --set policy.names=prefix");
            }
        }
    }
    // The keys that a pipeline file must have.
    let least = "name = \"render\"\n[[input]]\npath = \".\"\n[output]\npath = \".\"\n";
    let pipeline = pipeline::parse(least, &assignments, Path::new("--set"))?;
    Ok(Plan::without_inputs(pipeline)?)
}

/// The name of the template of the command line.
const TEMPLATE: &str = "template";

fn template(plan: &Plan) -> Outcome<Dialect> {
    let target = plan.templates.get(TEMPLATE).cloned();
    target.ok_or_else(|| CommandError::request("no template is named"))
}

pub(super) fn speaker(word: &str) -> PerspectiveChoice {
    match word {
        "auto" => PerspectiveChoice::Rule(PerspectiveRule::Auto),
        "none" => PerspectiveChoice::Rule(PerspectiveRule::None),
        "each-agent" => PerspectiveChoice::Rule(PerspectiveRule::EachAgent),
        "each-participant" => PerspectiveChoice::Rule(PerspectiveRule::EachParticipant),
        participant => PerspectiveChoice::Participants(vec![participant.to_owned()]),
    }
}

pub(super) fn named(speaker: &PerspectiveChoice) -> Option<&str> {
    match speaker {
        PerspectiveChoice::Rule(_) => None,
        PerspectiveChoice::Participants(names) => names.first().map(String::as_str),
    }
}

pub(super) fn names(linked: &Linked) -> impl Iterator<Item = &str> {
    let participants = &linked.conversation.participants;
    participants
        .iter()
        .flat_map(|person| std::iter::once(person.id.as_str()).chain(person.name.as_deref()))
}

/// Prints on stderr the records that could not be read and the renderings that a template refused, and returns the exit code: a missing
/// rendering always fails, an unreadable record only if nothing was rendered.
fn exit_of(problems: &ReadProblems, failed: &Failed, conversations: u64, printed: u64) -> Exit {
    read_problems::report("not rendered", problems);
    if printed == 0 && problems.count == 0 && problems.failures.is_empty() {
        let nothing = if conversations == 0 {
            "the input holds no conversation"
        } else {
            "no conversation has a turn that this format can represent"
        };
        let warning = line(Word::Warning, &format!("there is nothing to render: {nothing}"));
        let _ = write!(io::stderr().lock(), "{warning}");
    }
    let mut stderr = io::stderr().lock();
    for problem in &failed.shown {
        let warning = line(Word::Warning, &format!("not rendered: {}", harmless(problem)));
        let _ = write!(stderr, "{warning}");
    }
    let more = failed.count.saturating_sub(failed.shown.len() as u64);
    if more > 0 {
        let more = counted(more, "more conversation");
        let warning = format!("{more} not rendered by the template; `--losses` shows why");
        let _ = write!(stderr, "{}", line(Word::Warning, &warning));
    }
    drop(stderr);
    let exit = exit::report_failures(&problems.failures);
    if failed.count > 0 || printed == 0 && (problems.count > 0 || conversations == 0) {
        Exit::Failed
    } else {
        exit
    }
}

/// The search for a word that must name something in the input; only the nearest name is kept.
pub(super) struct Search<'s> {
    word: Option<&'s str>,
    met: bool,
    nearest: Option<String>,
}

impl<'s> Search<'s> {
    pub(super) fn new(word: Option<&'s str>) -> Self {
        Self {
            word,
            met: word.is_none(),
            nearest: None,
        }
    }

    /// Whether the word is one of these names.
    fn meets<'n>(&mut self, names: impl IntoIterator<Item = &'n str> + Clone) -> bool {
        let Some(word) = self.word else {
            return true;
        };
        let met = names.clone().into_iter().any(|name| name == word);
        self.note(met, names);
        met
    }

    /// Notes whether the word was found, and otherwise the nearest of these names.
    pub(super) fn note<'n>(&mut self, met: bool, names: impl IntoIterator<Item = &'n str>) {
        self.met |= met;
        if let Some(word) = self.word.filter(|_| !self.met) {
            let (known, here) = (self.nearest.take(), nearest(word, names.into_iter()));
            self.nearest = nearest(word, known.as_deref().into_iter().chain(here)).map(str::to_owned);
        }
    }

    fn refuse_unmet(&self, what: &str) -> Outcome<()> {
        let unmet = self.unmet(what);
        let unmet =
            unmet.map(|error| error.then("`--with-ids` prints the ids of conversations and perspectives"));
        unmet.map_or(Ok(()), Err)
    }

    /// The refusal of a word that was not found.
    pub(super) fn unmet(&self, what: &str) -> Option<CommandError> {
        let word = self.word.filter(|_| !self.met)?;
        Some(CommandError::unknown(what, word, self.nearest.as_deref()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The value only.
    Json,
    /// The text only, if there is a single rendering; else JSON lines.
    Text,
    WithIds,
    WithLosses,
}

struct Printer {
    out: Output,
    shape: Shape,
    is_json: bool,
    /// Whether output goes to a terminal, which control characters could affect.
    on_terminal: bool,
    /// The first text, which is held back until it is known whether there is another.
    first: Option<(String, String, String)>,
    printed: u64,
    failed: Failed,
}

/// Renderings that a template refused or did not finish.
#[derive(Default)]
struct Failed {
    count: u64,
    /// The first few, with their reasons.
    shown: Vec<String>,
}

impl Failed {
    fn note(&mut self, id: &str, rendering: &Rendering) {
        const MAX_SHOWN: usize = 5;
        let violations = rendering.violations.iter();
        let mut rules = violations.map(|violation| violation.rule.as_str());
        let reason = |rule: &&str| UNRENDERED.iter().any(|code| rule.starts_with(code));
        if let Some(rule) = rules.find(reason) {
            self.count += 1;
            if self.shown.len() < MAX_SHOWN {
                self.shown.push(format!("conversation {id}: {rule}"));
            }
        }
    }
}

/// The rules of templates that are broken by a rendering that is missing or incomplete.
const UNRENDERED: [&str; 2] = ["TPL-02", "TPL-03"];

impl Printer {
    fn print(&mut self, id: &str, perspective: &str, text: &str, rendering: &Rendering) -> io::Result<()> {
        self.failed.note(id, rendering);
        self.printed += 1;
        match self.shape {
            Shape::Json => self.json(text),
            Shape::Text => self.text(id, perspective, text.to_owned()),
            Shape::WithIds | Shape::WithLosses => {
                let line = self.line(id, perspective, rendering, text)?;
                self.json(&line)
            }
        }
    }

    fn text(&mut self, id: &str, perspective: &str, text: String) -> io::Result<()> {
        if self.printed == 1 {
            self.first = Some((id.to_owned(), perspective.to_owned(), text));
            return Ok(());
        }
        if let Some((id, perspective, text)) = self.first.take() {
            self.json(&text_line(&id, &perspective, &text)?)?;
        }
        self.json(&text_line(id, perspective, &text)?)
    }

    fn json(&mut self, line: &str) -> io::Result<()> {
        if self.on_terminal {
            writeln!(self.out, "{}", visible_json(line))
        } else {
            writeln!(self.out, "{line}")
        }
    }

    fn line(&self, id: &str, perspective: &str, rendering: &Rendering, text: &str) -> io::Result<String> {
        let quoted = if self.is_json {
            text.to_owned()
        } else {
            serde_json::to_string(text)?
        };
        let mut line = format!(
            "{{\"conversation_id\":{},\"perspective\":{},\"ordinal\":{},\"rendering\":{quoted}",
            serde_json::to_string(id)?,
            serde_json::to_string(perspective)?,
            rendering.ordinal
        );
        if self.shape == Shape::WithLosses {
            let losses = rendering.losses.iter().map(|loss| {
                json!({
                    "code": loss.code.as_str(),
                    "position": loss.position,
                    "amount": loss.amount,
                    "reason": loss.reason.words(),
                })
            });
            let losses: Vec<Value> = losses.collect();
            let violations = rendering.violations.iter();
            let violations: Vec<&str> = violations.map(|violation| violation.rule.as_str()).collect();
            line.push_str(&format!(
                ",\"losses\":{},\"violations\":{}",
                serde_json::to_string(&losses)?,
                serde_json::to_string(&violations)?
            ));
        }
        line.push('}');
        Ok(line)
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some((_, _, text)) = self.first.take() {
            if self.on_terminal {
                self.out.write_all(visible_lines(&text).as_bytes())?;
            } else {
                self.out.write_all(text.as_bytes())?;
            }
            let is_missing = text.is_empty() && self.failed.count > 0;
            if !text.ends_with('\n') && !is_missing {
                self.out.write_all(b"\n")?;
            }
        }
        self.out.flush()
    }
}

fn text_line(id: &str, perspective: &str, text: &str) -> io::Result<String> {
    let line = json!({"conversation_id": id, "perspective": perspective, "text": text});
    Ok(serde_json::to_string(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::Failure;

    #[test]
    fn only_keys_of_rendering_can_be_set() {
        let set = |text: &str| settings(None, &[text.to_owned()]).map(|plan| *plan.policy());
        assert_eq!(
            set("policy.names=prefix").unwrap().names,
            chatmill_dialect::policy::Names::Prefix
        );
        assert!(set("output.path=elsewhere").is_err());
        let unknown = set("policy.nmaes=prefix").unwrap_err().to_string();
        assert!(unknown.contains("did you mean `names`"), "{unknown}");
        let field = set("prompt.system=You are {agent.nmae}.")
            .unwrap_err()
            .to_string();
        assert!(field.contains("did you mean `agent.name`"), "{field}");
    }

    #[test]
    fn a_search_suggests_the_nearest_of_all_it_saw() {
        let mut search = Search::new(Some("room-17"));
        assert!(!search.meets(["room-71"]));
        assert!(!search.meets(["kitchen"]));
        let refused = search.refuse_unmet("conversation").unwrap_err().to_string();
        assert_eq!(
            refused,
            "there is no conversation `room-17`; did you mean `room-71`?"
        );
        assert!(search.meets(["room-17"]));
        assert!(search.refuse_unmet("conversation").is_ok());
    }

    #[test]
    fn a_terminal_gets_no_control_character_and_a_file_every_byte() {
        let text = "Ada:\u{1b}[2J\u{9b}2J\u{202e}x\nBen: y";
        for (on_terminal, expected) in [
            (false, format!("{text}\n")),
            (true, "Ada:\\u{1b}[2J\\u{9b}2J\\u{202e}x\nBen: y\n".to_owned()),
        ] {
            let written = SharedBuffer::default();
            let mut printer = Printer {
                out: Box::new(written.clone()),
                shape: Shape::Text,
                is_json: false,
                on_terminal,
                first: None,
                printed: 1,
                failed: Failed::default(),
            };
            printer.text("c", "p", text.to_owned()).unwrap();
            printer.end().unwrap();
            assert_eq!(written.text(), expected);
            printer.json("{\"a\":\"\u{202e}\"}").unwrap();
            let json = written.text().lines().last().unwrap().to_owned();
            assert_eq!(json.contains('\u{202e}'), !on_terminal);
            let value: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(value["a"], "\u{202e}");
        }
    }

    /// A sink with bytes that can be read.
    #[derive(Clone, Default)]
    struct SharedBuffer(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl SharedBuffer {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for SharedBuffer {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(buffer)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn unread_records_fail_only_when_nothing_was_rendered() {
        let broken = ReadProblems {
            count: 1,
            ..ReadProblems::default()
        };
        let fine = Failed::default();
        assert_eq!(exit_of(&broken, &fine, 1, 0), Exit::Failed);
        assert_eq!(exit_of(&broken, &fine, 1, 1), Exit::Complete);
        assert_eq!(exit_of(&ReadProblems::default(), &fine, 1, 0), Exit::Complete);
        assert_eq!(exit_of(&ReadProblems::default(), &fine, 0, 0), Exit::Failed);
        let unreadable = ReadProblems {
            failures: vec![Failure::new("read", Path::new("a.json"), &io::Error::other("no"))],
            ..ReadProblems::default()
        };
        assert_eq!(exit_of(&unreadable, &fine, 1, 1), Exit::Failed);
        let failed = Failed {
            count: 1,
            shown: vec!["TPL-03: too long".to_owned()],
        };
        assert_eq!(exit_of(&ReadProblems::default(), &failed, 3, 3), Exit::Failed);
    }
}
