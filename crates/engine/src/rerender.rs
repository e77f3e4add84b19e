//! Renders the conversations of a finished dataset in a dialect that its
//! run did not render, with the bytes that the run would have written.
//!
//! The input is a [`Dataset`], its tables and the plan in its manifest; the original files
//! are not read. Each rendering goes to a callback of `chatmill export` or `show`. Dialects
//! that need more than the tables contain are refused by name: those that write the record
//! of one system, vocabularies and templates in files, participants with replaced names.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_diag::{Advice, Class, Classed};
use chatmill_dialect::{Dialect, Loss, LossCode, Rendering, TextArena};
use chatmill_model::{Linked, RawJson, Sink, SinkBuffers};
use chatmill_token::{Encoding, TokenCounter, TokenCounts};
use thiserror::Error;

use crate::plan::{Plan, WindowPlan};
use crate::work::bill::OwnSpans;
use crate::work::budget::BudgetMeter;
use crate::work::render::{self, WindowedRenderer};

mod answers;
mod called;
pub(crate) mod earlier;
mod messages;
mod planned;
mod preferences;
mod ratings;
mod rebuilt;
mod references;
mod replaced;
mod single;
mod stored;

pub use preferences::{Preference, Wanted};
pub use single::{StoredFacts, conversation};

use called::Called;
use rebuilt::{Conversations, StoredConversation};
use replaced::{Replaced, Replacements};

/// The reasons why rated answers are left out.
pub const REASONS: &[chatmill_diag::Reason] = preferences::REASONS;

/// The reason why a dataset cannot be rendered in another dialect.
#[derive(Debug, Error)]
pub enum RerenderError {
    /// The dataset lacks data that the dialect needs.
    #[error("{message}")]
    Refused {
        /// The missing data, in one clause.
        message: String,
        /// The remedy.
        step: String,
    },
    /// The dataset could not be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl Classed for RerenderError {
    fn class(&self) -> Class {
        match self {
            Self::Refused { .. } => Class::Request,
            Self::Dataset(error) => error.class(),
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Self::Refused { step, .. } => Advice::next(step),
            Self::Dataset(error) => error.advice(),
        }
    }
}

impl RerenderError {
    fn refused(message: impl Into<String>, step: impl Into<String>) -> Self {
        Self::Refused {
            message: message.into(),
            step: step.into(),
        }
    }
}

/// A rendering of a stored conversation.
#[derive(Debug)]
pub struct Rerendering<'r> {
    /// Id of the conversation in the dataset.
    pub conversation: Cow<'r, str>,
    /// Id of the participant who is the assistant; empty if there is none.
    pub perspective: Cow<'r, str>,
    /// Number of the rendering among those with the same key.
    pub ordinal: u64,
    /// Positions of the first and the last message that it shows; `None` if it shows none.
    pub shown: Option<(u64, u64)>,
    /// The text; `None` if it is larger than the plan allows.
    pub content: Option<Cow<'r, str>>,
    /// Byte ranges of the perspective's own text.
    pub assistant_spans: Cow<'r, [Range<u64>]>,
    /// The spans that are trained on.
    pub learned_spans: Cow<'r, [Range<u64>]>,
    /// Role of its last turn.
    pub last_role: Option<&'static str>,
    /// The codes of its losses, each once.
    pub loss_codes: Vec<&'static str>,
    /// Its losses, without those by redaction.
    pub losses: Cow<'r, [Loss]>,
    /// Rules of the dialect that it breaks.
    pub violations: Vec<String>,
    /// Tokens in the encoding that is counted; 0 if none is.
    pub tokens: u64,
}

impl Rerendering<'_> {
    /// Returns a copy that does not borrow the buffers of the renderer.
    fn owned_copy(&self) -> Rerendering<'static> {
        Rerendering {
            conversation: self.conversation.to_string().into(),
            perspective: self.perspective.to_string().into(),
            content: self.content.as_ref().map(|text| text.to_string().into()),
            assistant_spans: self.assistant_spans.to_vec().into(),
            learned_spans: self.learned_spans.to_vec().into(),
            loss_codes: self.loss_codes.clone(),
            losses: self.losses.to_vec().into(),
            violations: self.violations.clone(),
            ..*self
        }
    }
}

/// A dataset and the dialect to render it in.
pub struct Rerenderer<'d> {
    dataset: &'d Dataset,
    plan: Plan,
    target: Dialect,
    counted: Option<Encoding>,
    called: Called,
}

impl<'d> Rerenderer<'d> {
    /// Checks that the dataset has all data that the dialect (`ID` or `ID@PROFILE`)
    /// needs; `encoding` names the encoding in which renderings are counted.
    pub fn new(dataset: &'d Dataset, dialect: &str, encoding: Option<&str>) -> Result<Self, RerenderError> {
        let (plan, target, infers_by_input) = planned::plan(dataset, dialect)?;
        let named = |name: &str| {
            let known = plan.encodings.iter().find(|encoding| encoding.name() == name);
            known.cloned().ok_or_else(|| {
                RerenderError::refused(
                    format!("the vocabulary of the encoding `{name}` is not in the dataset"),
                    "omit `--max-tokens`, or add the dialect to `render.dialects` and run the pipeline again",
                )
            })
        };
        Ok(Self {
            called: if infers_by_input {
                Called::of(dataset)?
            } else {
                Called::default()
            },
            counted: encoding.map(named).transpose()?,
            dataset,
            plan,
            target,
        })
    }

    /// Returns the id of the dialect.
    pub fn dialect(&self) -> &str {
        self.target.id()
    }

    /// Returns the profile of the dialect.
    pub fn profile(&self) -> &'static str {
        self.target.profile()
    }

    /// Returns whether the text of the dialect is JSON.
    pub fn is_json(&self) -> bool {
        self.target.about().media_type == "application/json"
    }

    /// Visits the renderings in the order in which the run would have written them. The first error ends it.
    pub fn each<E: From<DatasetError>>(
        &self,
        visit: &mut dyn FnMut(&Rerendering<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let conversations = Conversations::of(self.dataset)?;
        let replacements = Replacements::of(self.dataset)?;
        let visit = &mut |rerendering: &Rerendering<'_>, _: &Sink<'_>, _: &Rendering| visit(rerendering);
        Renderer::new(self).render_all(conversations, replacements, visit)
    }
}

/// The callback for a rendering, with its sink and what the dialect reports about it.
type Visit<'v, E> = dyn FnMut(&Rerendering<'_>, &Sink<'_>, &Rendering) -> Result<(), E> + 'v;

struct Renderer<'a, 'd> {
    rerenderer: &'a Rerenderer<'d>,
    buffers: SinkBuffers,
    meter: Option<BudgetMeter>,
    counter: Option<TokenCounter>,
    counts_by_encoding: Vec<TokenCounts>,
    own: OwnSpans,
    /// The redactions in the current conversation.
    replaced: Replaced,
    /// The tools that the conversations of its input call.
    called: &'a [RawJson],
}

impl<'a, 'd> Renderer<'a, 'd> {
    fn new(rerenderer: &'a Rerenderer<'d>) -> Self {
        Self {
            rerenderer,
            buffers: SinkBuffers::default(),
            meter: rerenderer.plan.windows.budget.as_ref().map(BudgetMeter::new),
            counter: rerenderer
                .counted
                .as_ref()
                .map(|encoding| TokenCounter::new(std::slice::from_ref(encoding))),
            counts_by_encoding: Vec::new(),
            own: OwnSpans::default(),
            replaced: Replaced::default(),
            called: &[],
        }
    }

    /// Renders conversations in their order; `replacements` must be of the same dataset.
    fn render_all<E: From<DatasetError>>(
        &mut self,
        mut conversations: Conversations<'_>,
        mut replacements: Replacements<'_>,
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        while let Some(StoredConversation { id, input, linked }) = conversations.next()? {
            self.replaced = replacements.of_next(&id)?;
            self.render_whole((&id, &input, &linked), visit)?;
        }
        Ok(())
    }

    /// Renders the conversation with this id, from this input, with the windows and perspectives of the plan.
    fn render_whole<E>(
        &mut self,
        (id, input, linked): (&str, &str, &Linked),
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        let Rerenderer { plan, called, .. } = self.rerenderer;
        self.called = called.of_input(input);
        let most = usize::try_from(plan.limits().perspectives).unwrap_or(usize::MAX);
        let (mut perspectives, _) = render::perspectives(linked, &plan.pipeline.perspective.speaker);
        perspectives.truncate(most);
        self.render((id, linked), &plan.windows, &perspectives, visit)
    }

    /// Renders the conversation with this id through windows.
    fn render<E>(
        &mut self,
        (id, linked): (&str, &Linked),
        windows: &WindowPlan,
        perspectives: &[Option<usize>],
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        let Rerenderer { plan, target, .. } = self.rerenderer;
        let arena = TextArena::default();
        let limit = usize::try_from(plan.limits().rendering).unwrap_or(usize::MAX);
        let mut sink = Sink::new(std::mem::take(&mut self.buffers), limit);
        let windowed = WindowedRenderer::new(linked, windows, perspectives, plan.policy(), &arena)
            .with(plan.additions(self.called));
        let mut meter = self.meter.take().filter(|_| windows.budget.is_some());
        let rendered = windowed.render(
            target,
            meter.as_mut(),
            &mut sink,
            &mut |sink, perspective, rendering| {
                let is_replaced = self.replaced.is_in(linked, &rendering);
                self.rendering((id, is_replaced), sink, perspective, &rendering, visit)
            },
        );
        self.meter = meter;
        drop(windowed);
        self.buffers = sink.into_buffers();
        rendered
    }

    fn rendering<E>(
        &mut self,
        (conversation, is_replaced): (&str, bool),
        sink: &mut Sink<'_>,
        perspective: &str,
        rendering: &Rendering,
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        let mut violations: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        let is_oversize = sink.is_oversize();
        if is_oversize {
            sink.begin();
            let limit = self.rerenderer.plan.limits().rendering;
            violations.push(format!("oversize-rendering: more than {limit} bytes"));
        }
        if let Some(counter) = &mut self.counter {
            counter.count_sink(sink, &mut self.counts_by_encoding);
        }
        let spans = if is_oversize { &[] } else { sink.spans() };
        self.own.find(spans, self.rerenderer.target.has_control_tokens());
        let mut codes = rendering.loss_codes();
        // Redaction is not among the losses of the dialect.
        codes.extend(is_replaced.then_some(LossCode::Redacted.as_str()));
        codes.sort_unstable();
        let rerendering = Rerendering {
            conversation: conversation.into(),
            perspective: perspective.into(),
            ordinal: rendering.ordinal.into(),
            shown: rendering
                .first_position
                .map(u64::from)
                .zip(rendering.last_position.map(u64::from)),
            content: Some(sink.text().into()).filter(|_| !is_oversize),
            assistant_spans: (&self.own.assistant).into(),
            learned_spans: (&self.own.trained).into(),
            last_role: rendering.last_role,
            loss_codes: codes,
            losses: (&rendering.losses).into(),
            violations,
            tokens: self
                .counts_by_encoding
                .first()
                .map_or(0, |token_counts| token_counts.tokens),
        };
        visit(&rerendering, sink, rendering)
    }
}
