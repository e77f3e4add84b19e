//! A chat template as a dialect: Jinja of a model's tokenizer, from a file of the user.
//!
//! ```text
//! {% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}
//! ```
//!
//! The messages and tools are those of `hf-messages`, so its rules, losses and repairs apply here, too. The template runs as in
//! transformers: with Python's printing and methods, `tojson`, `raise_exception`, a pinned `strftime_now` and loop controls. It has no
//! access to files or a clock, and it always ends.
//!
//! A special token in chat text is escaped (U+200B after its first character); with `control_tokens = "keep"` it stays, and the row is
//! invalid. The message of `raise_exception` is a violation.
//!
//! Content that a template leaves out is a loss. To find losses in the output, the template is rendered a second time with marks around the
//! content, and a third time without marks around the ids of calls if the template inspects those; the output of a template that inspects
//! its other texts is searched instead.
//!
//! Why: docs/decisions/2026-11-21-chat-template-token-attribution.md.

mod attributes;
mod context;
mod costs;
mod engine;
mod guards;
mod losses;
mod marked_value;
mod marks;
mod measured;
mod meter;
mod methods;
mod output;
mod probe;
mod program;
mod python;
mod regions;
mod source;
mod tags;
mod tokenizer;
mod tokens;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chatmill_diag::Limits;
use chatmill_model::{Component, Sink};
use jiff::civil::{Date, DateTime};
use minijinja::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::loss::rule::{DialectRule, rules};
use crate::loss::violation::Violation;
use crate::loss::{LossCode, Losses, reasons, united};
use crate::passes;
use crate::passes::dialect::{Dialect, DialectAbout, Renderer, Rules, Shows, Template};
use crate::passes::messages_profile;
use crate::passes::profile::DialectProfile;
use crate::text::json::is_object;
use crate::tools::arguments::ArgumentsAs;
use crate::transcript::Transcript;
use crate::transcript::rendering::Rendering;
use context::TemplateContext;
use engine::{Engine, Stop};
use losses::Trims;
use marked_value::MarkedValue;
use marks::Unmarked;
use meter::Allowance;
use output::Output;
use output::answers::{Answers, Surroundings};
use regions::Regions;
pub use tokenizer::TokenizerConfig;
use tokens::Tokens;

rules! {
    /// special tokens are written only by the template, and no chat text spells them
    TPL_01 = "TPL-01";
    /// the template accepts the conversation
    TPL_02 = "TPL-02";
    /// the template can be rendered, within the limits
    TPL_03 = "TPL-03";
}

static ABOUT: DialectAbout = DialectAbout {
    id: "template",
    title: "Chat template",
    family: "template",
    media_type: "text/plain",
    specification: "the template itself, rendered as transformers 5.23 does",
    dated: "2026-08-01",
    carries: "what the template prints of messages and tools",
    profiles: &[],
    shows: Shows::Conversation,
    rules: Rules::None("a template is a file of the user, with its own rules"),
};

/// The only profile of a template: its variants are set in its section of the pipeline file.
pub const PROFILE: &str = "template";

/// The variable that asks a template for a generation prompt.
const ASKS: &str = "add_generation_prompt";

/// Maximum number of characters of a template's message that are shown.
const LONGEST_MESSAGE: usize = 500;

/// Maximum number of marks in an output, in addition to sixteen for each piece; an output with more is searched instead.
const MOST_MARKS: usize = 100_000;

/// How a template wants the arguments of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentStyle {
    /// As an object.
    Object,
    /// As JSON text.
    String,
}

/// Why a template cannot be used.
#[derive(Debug, Error)]
pub enum TemplateError {
    /// The template is not Jinja, or names a file.
    #[error("{0}")]
    Syntax(String),
    /// `now` is not a date.
    #[error("`now` must be a date or a time without zone, such as \"2024-07-26\", and not `{0}`")]
    Now(String),
    /// The template prints the date, and none is given.
    #[error("the template calls strftime_now: set `now` to a date, such as \"2024-07-26\"")]
    NowMissing,
    /// A tokenizer configuration without a chat template.
    #[error("{0}")]
    Tokenizer(String),
    /// A value that cannot be passed to a template.
    #[error("{0}")]
    Value(String),
}

/// The source and the settings of a template.
#[derive(Clone, Debug, Default)]
pub struct Blueprint {
    /// The name of the dialect.
    pub id: String,
    /// The template.
    pub source: String,
    /// The template for conversations with definitions of tools, if it is another one.
    pub tool_source: Option<String>,
    /// How the template gets the arguments of calls; `None`: in the form that it prints as JSON.
    pub arguments: Option<ArgumentStyle>,
    /// Whether it is asked for a generation prompt.
    pub add_generation_prompt: bool,
    /// The value of `strftime_now`: a date, or a time without zone.
    pub now: Option<String>,
    /// Further variables. Strings with names that end in `_token` are special tokens.
    pub variables: BTreeMap<String, serde_json::Value>,
    /// Special tokens; `None`: those that the template spells as `<|word|>`.
    pub special_tokens: Option<Vec<String>>,
    /// The limits of templates and of a rendering's length.
    pub limits: Limits,
}

/// The output of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// The ranges of bytes that the template marks as generated by the assistant.
    pub generated: Vec<Range<usize>>,
}

/// A chat template.
pub struct TemplateDialect {
    id: String,
    engine: Engine,
    tool_engine: Option<Engine>,
    variables: Vec<(String, Value)>,
    tokens: Tokens,
    arguments: ArgumentStyle,
    /// Whether the content of a turn with calls and without text is null.
    wants_null: bool,
    trims: Trims,
    surroundings: Surroundings,
    tool_surroundings: Surroundings,
    asks_for_an_answer: bool,
    pins_date: bool,
    limits: Limits,
}

impl TemplateDialect {
    /// Returns the rules of every template, in addition to those of `hf-messages`.
    pub const fn rules() -> &'static [&'static DialectRule] {
        RULES
    }

    /// Returns the losses that any template may declare, in addition to those of `hf-messages`.
    pub fn losses() -> Vec<LossCode> {
        united(&[reasons::TEMPLATE])
    }

    /// Compiles a template, and determines how it wants its input.
    pub fn new(blueprint: Blueprint) -> Result<Self, TemplateError> {
        let now = blueprint.now.as_deref().map(moment).transpose()?;
        let sources = || {
            [Some(blueprint.source.as_str()), blueprint.tool_source.as_deref()]
                .into_iter()
                .flatten()
        };
        if sources().any(is_object) {
            // Jinja would print the JSON around every conversation.
            let message = "it is JSON and no template: give a tokenizer configuration as `tokenizer_config`, or under a name that ends in `.json`";
            return Err(TemplateError::Syntax(message.to_owned()));
        }
        let prints_date = sources().any(|source| source.contains("strftime_now"));
        if prints_date && now.is_none() {
            return Err(TemplateError::NowMissing);
        }
        let compile =
            |source: &str| Engine::new(source, now, &blueprint.limits).map_err(TemplateError::Syntax);
        let mut spellings: Vec<String> = match &blueprint.special_tokens {
            Some(tokens) => tokens.clone(),
            None => sources().flat_map(Tokens::spelled_in).collect(),
        };
        let mut variables = vec![
            (ASKS.to_owned(), Value::from(blueprint.add_generation_prompt)),
            ("documents".to_owned(), Value::from(())),
        ];
        for (name, value) in &blueprint.variables {
            if let Some(token) = value.as_str().filter(|_| name.ends_with("_token")) {
                spellings.push(token.to_owned());
            }
            variables.push((name.clone(), plain(&value.to_string())?));
        }
        let mut dialect = Self {
            id: blueprint.id,
            engine: compile(&blueprint.source)?,
            tool_engine: blueprint.tool_source.as_deref().map(compile).transpose()?,
            variables,
            tokens: Tokens::new(spellings),
            arguments: ArgumentStyle::Object,
            wants_null: false,
            trims: Trims::default(),
            surroundings: Surroundings::default(),
            tool_surroundings: Surroundings::default(),
            asks_for_an_answer: blueprint.add_generation_prompt,
            pins_date: prints_date,
            limits: blueprint.limits,
        };
        // All probes together may take as much as one rendering.
        let mut allowance = Allowance::new(&dialect.limits, 0);
        dialect.arguments = match blueprint.arguments {
            Some(arguments) => arguments,
            None => probe::arguments(&dialect, &mut allowance),
        };
        dialect.wants_null = probe::wants_null(&dialect, &mut allowance);
        dialect.trims = probe::trims(&dialect, &mut allowance);
        dialect.surroundings = probe::surroundings(&dialect, &dialect.engine, &mut allowance);
        if let Some(engine) = &dialect.tool_engine {
            dialect.tool_surroundings = probe::surroundings(&dialect, engine, &mut allowance);
        }
        Ok(dialect)
    }

    /// Returns how the template gets the arguments of calls.
    pub fn arguments(&self) -> ArgumentStyle {
        self.arguments
    }

    /// Renders messages and tools, given as JSON, without a policy, losses or escapes. The error is the message with which the template
    /// refuses them, or an error of the template.
    pub fn print(&self, messages: &str, tools: Option<&str>) -> Result<Printed, String> {
        let read = |json| plain(json).map_err(|error| error.to_string());
        let tools = tools.map(read).transpose()?;
        let engine = self.engine_for(tools.is_some());
        let context = self.context(read(messages)?, tools);
        let explain = |stop| self.explain(stop);
        let allowance = engine.allowance(&context);
        let text = engine.render(context.clone(), &mut allowance.clone());
        let text = text.map_err(explain)?;
        let marked = engine
            .render_marked(context, &mut allowance.clone())
            .map_err(explain)?;
        let unmarked = marks::read(&marked, MOST_MARKS).filter(|unmarked| unmarked.text == text);
        let generated = unmarked.map(|unmarked| unmarked.generated).unwrap_or_default();
        Ok(Printed { text, generated })
    }

    /// Whether the template accepts messages and tools, given as JSON. The error is the message with which the template refuses them, or an
    /// error of the template.
    pub fn accepts(&self, messages: &str, tools: Option<&str>) -> Result<(), String> {
        let read = |json| plain(json).map_err(|error| error.to_string());
        let tools = tools.map(read).transpose()?;
        let engine = self.engine_for(tools.is_some());
        let context = self.context(read(messages)?, tools);
        let mut allowance = engine.allowance(&context);
        let printed = engine.render(context, &mut allowance);
        printed.map(drop).map_err(|stop| self.explain(stop))
    }

    fn explain(&self, stop: Stop) -> String {
        match stop {
            Stop::Refused(message) | Stop::Failed(message) => message,
            Stop::TooLong(_) => format!("more than {} bytes", self.limits.rendering),
        }
    }

    /// Returns the output of the template for a small conversation; empty if the template does not accept it.
    fn probe(&self, messages: &str, allowance: &mut Allowance) -> String {
        let messages = plain(messages).unwrap_or_default();
        let context = self.context(messages, None);
        self.engine.render(context, allowance).unwrap_or_default()
    }

    fn fit(&self) -> DialectProfile {
        match self.arguments {
            ArgumentStyle::Object => messages_profile::PROFILE,
            ArgumentStyle::String => DialectProfile {
                arguments: ArgumentsAs::Text,
                ..messages_profile::PROFILE
            },
        }
    }

    fn engine_for(&self, has_tools: bool) -> &Engine {
        self.tool_engine
            .as_ref()
            .filter(|_| has_tools)
            .unwrap_or(&self.engine)
    }

    /// Returns the output for a conversation with or without a generation prompt; `None` if the template does not accept it.
    fn asked(
        &self,
        engine: &Engine,
        (messages, tools): (Value, Option<Value>),
        asks: bool,
        allowance: &mut Allowance,
    ) -> Option<String> {
        let context = self.context_with(messages, tools, Some(asks));
        engine.render(context, allowance).ok()
    }

    fn context(&self, messages: Value, tools: Option<Value>) -> Value {
        self.context_with(messages, tools, None)
    }

    fn context_with(&self, messages: Value, tools: Option<Value>, asks: Option<bool>) -> Value {
        let given = [
            ("messages", messages),
            ("tools", tools.unwrap_or_else(|| Value::from(()))),
        ];
        let asks = asks.map(|asks| (ASKS, Value::from(asks)));
        let given = given.into_iter().chain(asks);
        let given = given.map(|(name, value)| (name.to_owned(), value));
        Value::from_pairs(self.variables.iter().cloned().chain(given))
    }

    /// Renders the template with its context and writes the output.
    fn write<'a, 's>(
        &self,
        given: &TemplateContext<'a, 's>,
        without_marked_ids: impl FnOnce() -> TemplateContext<'a, 's>,
        losses: &mut Losses,
        sink: &mut Sink<'a>,
    ) -> Result<(), Stop> {
        let engine = self.engine_for(given.tools.is_some());
        let tools = given.tools.as_ref().map(|tools| tools.plain.clone());
        let plain = self.context(given.messages.plain.clone(), tools);
        let mut allowance = engine.allowance(&plain);
        let text = engine.render(plain, &mut allowance)?;
        let mut unmarked = self.unmarked(engine, given, &text);
        let marks_ids = unmarked.is_some();
        if !marks_ids && given.has_ids() {
            unmarked = self.unmarked(engine, &without_marked_ids(), &text);
        }
        let regions = match &unmarked {
            Some(unmarked) if marks_ids => Regions::of_marks(unmarked, &given.pieces),
            Some(unmarked) => Regions::of_marks_without_ids(unmarked, &given.pieces),
            None => Regions::of_search(&text, &given.pieces),
        };
        losses::declare(&text, &regions, &given.pieces, &self.trims, losses);
        let mut unmarked = unmarked.unwrap_or_default();
        if unmarked.generated.is_empty() {
            unmarked.generated = self.answers(given, &text, &regions, &unmarked.json, &mut allowance);
        }
        let output = Output {
            text: &text,
            regions: &regions,
            json: &unmarked.json,
            generated: &unmarked.generated,
            pieces: &given.pieces,
            speakers: &given.speakers,
            tokens: &self.tokens,
        };
        output.write(sink);
        Ok(())
    }

    /// Renders a marked context and takes out the marks; `None` if the output is another one with marks.
    fn unmarked(&self, engine: &Engine, given: &TemplateContext<'_, '_>, text: &str) -> Option<Unmarked> {
        if !given.can_be_marked() {
            return None;
        }
        let tools = given.tools.as_ref().map(|tools| tools.marked.clone());
        let marked = self.context(given.messages.marked.clone(), tools);
        let mut allowance = engine.allowance(&marked);
        let marked = engine.render_marked(marked, &mut allowance).ok()?;
        let most = MOST_MARKS.saturating_add(given.pieces.len().saturating_mul(16));
        marks::read(&marked, most).filter(|unmarked| unmarked.text == text)
    }

    /// Returns the ranges of bytes in an output that the assistant writes. Further renderings for this may use what is left of the
    /// allowance.
    fn answers(
        &self,
        given: &TemplateContext<'_, '_>,
        text: &str,
        regions: &Regions,
        json: &[Range<usize>],
        allowance: &mut Allowance,
    ) -> Vec<Range<usize>> {
        let tools = given.tools.as_ref().map(|tools| &tools.plain);
        let engine = self.engine_for(tools.is_some());
        let surroundings = match (&self.tool_engine, tools) {
            (Some(_), Some(_)) => &self.tool_surroundings,
            _ => &self.surroundings,
        };
        let turns = Some(given.speakers.len()).filter(|_| !self.asks_for_an_answer);
        let pieces = (regions, given.pieces.as_slice());
        let answers = Answers::new(text, pieces, json, &self.tokens, turns, surroundings.clone());
        answers.ranges(&mut |turns, asks| {
            let messages = given.messages.plain.try_iter().ok()?.take(turns);
            let messages = measured::list(messages.collect());
            self.asked(engine, (messages, tools.cloned()), asks, allowance)
        })
    }
}

impl From<TemplateDialect> for Dialect {
    fn from(template: TemplateDialect) -> Self {
        Self {
            profile: PROFILE,
            about: &ABOUT,
            renderer: Renderer::Template(Arc::new(template)),
        }
    }
}

impl Template for TemplateDialect {
    fn id(&self) -> &str {
        &self.id
    }

    fn loses(&self) -> Vec<LossCode> {
        united(&[&passes::loses(&self.fit()), reasons::TEMPLATE])
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
        let mut plan = passes::arrange(transcript, &self.fit());
        let calls = (self.arguments, self.wants_null);
        let given = TemplateContext::new(transcript, &mut plan, calls, true, &self.tokens);
        if given.forged > 0 {
            let problem = format!("chat text spells {} special tokens", given.forged);
            plan.violations.push(Violation::of(TPL_01, None, problem));
        }
        let mut losses = std::mem::take(&mut plan.losses);
        let without_marked_ids = || TemplateContext::new(transcript, &mut plan, calls, false, &self.tokens);
        let written = self.write(&given, without_marked_ids, &mut losses, sink);
        plan.losses = losses;
        if let Err(stop) = written {
            let (rule, problem, text) = match stop {
                Stop::Refused(message) => (TPL_02, shortened(&message), String::new()),
                Stop::Failed(message) => (TPL_03, shortened(&message), String::new()),
                // One byte more than allowed shows the caller that the rendering is too large.
                Stop::TooLong(text) => (TPL_03, format!("more than {} bytes", self.limits.rendering), text),
            };
            plan.violations.push(Violation::of(rule, None, problem));
            sink.literal(text, Component::Framing);
        }
        if self.pins_date {
            plan.losses
                .whole_rendering(reasons::TEMPLATE_PRINTS_A_SET_DATE, 1);
        }
        plan.finish()
    }
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((at, _)) => message.split_at(at).0.to_owned() + "…",
        None => message.to_owned(),
    }
}

fn moment(now: &str) -> Result<DateTime, TemplateError> {
    let day = now.parse::<Date>().map(|day| day.at(0, 0, 0, 0));
    now.parse::<DateTime>()
        .or(day)
        .map_err(|_| TemplateError::Now(now.to_owned()))
}

fn plain(json: &str) -> Result<Value, TemplateError> {
    let marked_value = marked_value::read(json, &mut |text, _| MarkedValue::same(text), &mut |name| name);
    marked_value
        .map(|marked_value| marked_value.plain)
        .ok_or_else(|| TemplateError::Value("a value is not JSON, or nested too deeply".to_owned()))
}
