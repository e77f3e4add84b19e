//! What a model gets of a conversation: its renderings in a dialect, with what is learned marked and what was lost listed, and the
//! rows that a trainer gets of them.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_dialect::{Dialect, FoldedLosses, Loss, Rendering, TextArena};
use chatmill_engine::Plan;
use chatmill_engine::again::{Again, AgainError, AgainRendering};
use chatmill_engine::conversation::{OwnSpans, WindowedRenderer};
use chatmill_export::{Envelope, RenderingFacts, preview};
use chatmill_model::{Linked, Sink, target_name};
use chatmill_token::TokenCounter;

use super::page::{Rendition, TextPage};
use crate::figures::{bytes, count, counted};
use crate::other_codes;

/// The encoding that renderings are counted in.
const ENCODING: &str = "o200k_base";

/// The code, the positions, the amount and the reason of a loss.
type FoldedLoss = (&'static str, Vec<u32>, u64, Cow<'static, str>);

/// A rendering that is shown.
pub(super) struct Rendered {
    /// The dialect in its profile.
    target: String,
    dialect: String,
    is_json: bool,
    /// The id of the participant who is the assistant; empty for none.
    perspective: String,
    content: String,
    own: OwnSpans,
    last_role: Option<&'static str>,
    loss_codes: Vec<&'static str>,
    losses: Vec<FoldedLoss>,
    violations: Vec<String>,
    /// An encoding and the tokens in it.
    tokens: Option<(String, u64)>,
}

/// Renders a conversation in a dialect for these perspectives.
pub(super) fn rendered(
    linked: &Linked,
    plan: &Plan,
    target: &Dialect,
    perspectives: &[Option<usize>],
) -> Vec<Rendered> {
    let encoding = chatmill_token::find(ENCODING);
    let mut counter = encoding.map(|encoding| TokenCounter::new(std::slice::from_ref(encoding)));
    let arena = TextArena::default();
    let mut all = Vec::new();
    let windowed = WindowedRenderer::new(linked, &plan.windows, perspectives, plan.policy(), &arena)
        .with(plan.additions(&[]));
    let mut sink = Sink::default();
    let rendered: Result<(), std::convert::Infallible> =
        windowed.render(target, None, &mut sink, &mut |sink, perspective, rendering| {
            all.push(Rendered::new(
                target,
                sink,
                perspective,
                &rendering,
                counter.as_mut(),
            ));
            Ok(())
        });
    let Ok(()) = rendered;
    all
}

/// Renders a conversation of a dataset as its run did, or would have done; the encoding that cannot be counted in, where it is the
/// first of the run.
pub(super) fn again(
    dataset: &Dataset,
    id: &str,
    target: &Dialect,
) -> Result<(Vec<Rendered>, Option<String>), AgainError> {
    let encodings = dataset.encodings();
    let known = encodings.iter().find(|name| chatmill_token::find(name).is_some());
    let spec = format!("{}@{}", target.id(), target.profile());
    let again = Again::new(dataset, &spec, known.map(String::as_str))?;
    let mut all = Vec::new();
    again.each_of(id, &mut |rendering| {
        let tokens = known.map(|encoding| (encoding.clone(), rendering.tokens));
        all.push(Rendered::of_dataset(target, rendering, tokens));
        Ok::<(), DatasetError>(())
    })?;
    let uncounted = encodings.first().filter(|_| known.is_none());
    Ok((all, uncounted.cloned()))
}

impl Rendered {
    fn new(
        target: &Dialect,
        sink: &Sink<'_>,
        perspective: &str,
        rendering: &Rendering,
        counter: Option<&mut TokenCounter>,
    ) -> Self {
        let mut own = OwnSpans::default();
        own.find(sink.spans(), target.has_control_tokens());
        let mut counts = Vec::new();
        if let Some(counter) = counter {
            counter.count_sink(sink, &mut counts);
        }
        let mut loss_codes: Vec<&str> = rendering.losses.iter().map(|loss| loss.code.as_str()).collect();
        loss_codes.sort_unstable();
        loss_codes.dedup();
        Self {
            target: target_name(target.id(), target.profile()),
            dialect: target.id().to_owned(),
            is_json: target.about().media_type == "application/json",
            perspective: perspective.to_owned(),
            content: sink.text().to_owned(),
            own,
            last_role: rendering.last_role,
            loss_codes,
            losses: folded(&rendering.losses),
            violations: rendering.violations.iter().map(ToString::to_string).collect(),
            tokens: counts.first().map(|counts| (ENCODING.to_owned(), counts.tokens)),
        }
    }

    fn of_dataset(target: &Dialect, rendering: &AgainRendering<'_>, tokens: Option<(String, u64)>) -> Self {
        Self {
            target: target_name(target.id(), target.profile()),
            dialect: target.id().to_owned(),
            is_json: target.about().media_type == "application/json",
            perspective: rendering.perspective.to_string(),
            content: rendering.content.as_deref().unwrap_or_default().to_owned(),
            own: OwnSpans {
                assistant: rendering.assistant_spans.to_vec(),
                trained: rendering.learned_spans.to_vec(),
            },
            last_role: rendering.last_role,
            loss_codes: rendering.loss_codes.clone(),
            losses: folded(&rendering.losses),
            violations: rendering.violations.clone(),
            tokens,
        }
    }

    /// Whether it is rendered for one of these participants.
    pub(super) fn is_for(&self, linked: &Linked, perspectives: &[Option<usize>]) -> bool {
        let participants = &linked.conversation.participants;
        perspectives.iter().any(|perspective| {
            let participant = perspective.and_then(|index| participants.get(index));
            participant.map_or("", |participant| &participant.id) == self.perspective
        })
    }

    /// Writes the rendering: its figures, its text with marks around what is learned, and what was lost; without words where
    /// content may not be shown.
    pub(super) fn write(&self, page: &mut TextPage, linked: &Linked, shows_content: bool) {
        page.end_line();
        let participants = &linked.conversation.participants;
        let speaker = participants.iter().find(|one| one.id == self.perspective);
        let speaker = speaker.filter(|_| shows_content);
        let speaker = speaker.map(|one| format!(" for {}", one.display_name()));
        page.words(
            Rendition::Bold,
            &format!("{}{}", self.target, speaker.unwrap_or_default()),
        );
        page.words(Rendition::Dim, &format!("  {}", self.figures()));
        page.end_line();
        if shows_content {
            let trained: Vec<Range<usize>> = self.own.trained.iter().map(as_usize).collect();
            page.marked(&self.content, self.is_json, &trained);
        }
        for (code, positions, amount, reason) in &self.losses {
            let places: Vec<String> = positions
                .iter()
                .take(MOST_PLACES)
                .map(|at| format!(" #{at}"))
                .collect();
            let more = if positions.len() > MOST_PLACES { " …" } else { "" };
            let line = format!(
                "loss {code} ({}){}{more}: {reason}",
                count(*amount),
                places.concat()
            );
            page.line(Rendition::Dim, &line, 2);
        }
        for violation in &self.violations {
            let rule = violation.split(':').next().filter(|_| !shows_content);
            let line = format!("not valid: {}", rule.unwrap_or(violation));
            page.line(Rendition::Plain, &line, 2);
        }
    }

    fn figures(&self) -> String {
        let mut figures = vec![bytes(self.content.len() as u64)];
        if let Some((encoding, tokens)) = &self.tokens {
            figures.push(format!("{} of {encoding}", counted(*tokens, "token")));
        }
        figures.push(format!(
            "{} learned",
            counted(self.own.trained.len() as u64, "range")
        ));
        figures.join(", ")
    }

    /// Writes the row that an envelope makes of the rendering, or why there is none.
    pub(super) fn write_row(&self, page: &mut TextPage, envelope: &Envelope, shows_content: bool) {
        let loss_codes = &self.loss_codes;
        let facts = RenderingFacts {
            perspective: &self.perspective,
            content: Some(&self.content),
            assistant_spans: &self.own.assistant,
            learned_spans: &self.own.trained,
            last_role: self.last_role,
            loss_codes,
            violations: &self.violations,
            ..RenderingFacts::default()
        };
        page.end_line();
        page.words(Rendition::Bold, &format!("row of {}", envelope.id));
        match preview(envelope, &self.dialect, &facts) {
            Ok(row) => {
                let turns = row.turns;
                let mut figures = format!("  {} learned", counted(turns.learned, "turn"));
                for (number, what) in [
                    (turns.context, "as context"),
                    (turns.missed, "learned in other formats only"),
                    (turns.wordless, "without words left out"),
                    (row.turns_cut, "after the last answer cut off"),
                ] {
                    if number > 0 {
                        figures += &format!(", {} {what}", count(number));
                    }
                }
                page.words(Rendition::Dim, &figures);
                page.end_line();
                if shows_content {
                    page.marked(&row.json, true, &row.trained);
                }
            }
            Err(reason) => {
                page.words(Rendition::Dim, "  left out");
                page.end_line();
                page.line(Rendition::Plain, &reason, 2);
                let code = reason.split(':').next().unwrap_or(&reason);
                if let Some(rule) = other_codes::named(code).first() {
                    page.line(Rendition::Dim, &format!("help: {}", rule.advice), 2);
                }
            }
        }
    }
}

/// Losses by code and reason, with their positions and amounts.
fn folded(losses: &[Loss]) -> Vec<FoldedLoss> {
    let mut folded = FoldedLosses::default();
    let losses = folded.fold(losses).map(|loss| {
        let (code, reason) = (loss.code.as_str(), loss.reason.words());
        (code, loss.positions.to_vec(), loss.amount, reason)
    });
    losses.collect()
}

/// Positions of a loss that a line names.
const MOST_PLACES: usize = 8;

fn as_usize(range: &Range<u64>) -> Range<usize> {
    let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
    start..end
}
