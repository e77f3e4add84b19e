//! What a model gets of a conversation: its renderings in a dialect, with the trained parts marked and the losses listed, and the rows that
//! a trainer gets.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_dialect::{Dialect, FoldedLosses, Loss, Rendering, TextArena};
use chatmill_engine::Plan;
use chatmill_engine::conversation::{BudgetMeter, OwnSpans, WindowedRenderer};
use chatmill_engine::rerender::{RerenderError, Rerenderer, StoredFacts};
use chatmill_export::{Envelope, RenderingFacts, preview};
use chatmill_model::{Component, ComponentSpan, Linked, Sink, Speaker, TurnStart, target_name};
use chatmill_report::conversation::{RenderingFigures, RenderingTitle};
use chatmill_token::{Encoding, TokenCounter, TokenCounts};

use super::page::{Rendition, TextPage};
use crate::figures::{bytes, count, counted};
use crate::other_codes;

/// The encoding in which renderings are counted.
const ENCODING: &str = "o200k_base";

/// The code, the positions, the amount and the reason of a loss.
type FoldedLoss = (&'static str, Vec<u32>, u64, Cow<'static, str>);

/// A rendering that is shown.
pub(super) struct Rendered {
    pub(super) title: RenderingTitle,
    dialect: String,
    is_json: bool,
    /// The id of the participant that is the assistant; empty without one.
    perspective: String,
    pub(super) content: String,
    own: OwnSpans,
    /// The beginnings of turns.
    pub(super) turn_starts: Vec<TurnStart>,
    /// The ranges of control tokens, for renderings of inputs.
    controls: Vec<Range<usize>>,
    /// The tokens of each component, if they were counted.
    pub(super) components: Vec<(&'static str, u64)>,
    last_role: Option<&'static str>,
    loss_codes: Vec<&'static str>,
    pub(super) losses: Vec<FoldedLoss>,
    pub(super) violations: Vec<String>,
    /// The encoding, and the number of tokens in it.
    tokens: Option<(String, u64)>,
}

/// The counter for renderings of inputs.
pub(super) fn counter() -> Option<TokenCounter> {
    let encoding = chatmill_token::find(ENCODING);
    encoding.map(|encoding| TokenCounter::new(std::slice::from_ref(encoding)))
}

/// Renders a conversation in a dialect for these perspectives.
pub(super) fn rendered(
    linked: &Linked,
    plan: &Plan,
    target: &Dialect,
    perspectives: &[Option<usize>],
    counter: &mut Option<TokenCounter>,
) -> Vec<Rendered> {
    let arena = TextArena::default();
    let mut all = Vec::new();
    let mut meter = plan.windows.budget.as_ref().map(BudgetMeter::new);
    let windowed = WindowedRenderer::new(linked, &plan.windows, perspectives, plan.policy(), &arena)
        .with(plan.additions(&[]));
    let mut sink = Sink::default();
    let rendered: Result<(), std::convert::Infallible> = windowed.render(
        target,
        meter.as_mut(),
        &mut sink,
        &mut |sink, perspective, rendering| {
            all.push(Rendered::new(
                linked,
                target,
                sink,
                perspective,
                &rendering,
                counter.as_mut().map(|counter| (ENCODING, counter)),
            ));
            Ok(())
        },
    );
    let Ok(()) = rendered;
    name_windows(&mut all.iter_mut().map(|rendered| &mut rendered.title));
    all
}

/// Renders a conversation of a dataset as its run did, or would have done. Also returns the first encoding of the run if it cannot be
/// counted in.
pub(super) fn again(
    dataset: &Dataset,
    (facts, linked): (&StoredFacts, &Linked),
    target: &Dialect,
) -> Result<(Vec<Rendered>, Option<String>), RerenderError> {
    let encodings = dataset.encodings();
    let known = encodings.iter().find_map(|name| chatmill_token::find(name));
    let mut counter = known.map(|encoding| TokenCounter::new(std::slice::from_ref(encoding)));
    let spec = format!("{}@{}", target.id(), target.profile());
    let again = Rerenderer::new(dataset, &spec, None)?;
    let mut all = Vec::new();
    again.each_of((facts, linked), &mut |again, sink, rendering| {
        let counting = known.map(Encoding::name).zip(counter.as_mut());
        all.push(Rendered {
            loss_codes: again.loss_codes.clone(),
            violations: again.violations.clone(),
            ..Rendered::new(linked, target, sink, &again.perspective, rendering, counting)
        });
        Ok::<(), DatasetError>(())
    })?;
    name_windows(&mut all.iter_mut().map(|rendered| &mut rendered.title));
    let uncounted = encodings.first().filter(|_| known.is_none());
    Ok((all, uncounted.cloned()))
}

impl Rendered {
    fn new(
        linked: &Linked,
        target: &Dialect,
        sink: &Sink<'_>,
        perspective: &str,
        rendering: &Rendering,
        counting: Option<(&str, &mut TokenCounter)>,
    ) -> Self {
        let mut own = OwnSpans::default();
        own.find(sink.spans(), target.has_control_tokens());
        let mut counts = Vec::new();
        let encoding = counting.map(|(encoding, counter)| {
            counter.count_sink(sink, &mut counts);
            encoding.to_owned()
        });
        let counts = counts.first();
        let controls = sink.span_texts().filter(|(_, span)| span.control);
        let parts = |counts: &TokenCounts| {
            let components = Component::ALL.into_iter();
            components
                .map(|component| (component.as_str(), counts.parts.get(component)))
                .collect()
        };
        Self {
            title: title(
                linked,
                target_name(target.id(), target.profile()),
                perspective,
                rendering
                    .first_position
                    .map(u64::from)
                    .zip(rendering.last_position.map(u64::from)),
            ),
            dialect: target.id().to_owned(),
            is_json: target.about().media_type == "application/json",
            perspective: perspective.to_owned(),
            content: sink.text().to_owned(),
            own,
            turn_starts: sink.turn_starts().to_vec(),
            controls: controls
                .map(|(text, span)| span.end - text.len()..span.end)
                .collect(),
            components: counts.map_or_else(Vec::new, parts),
            last_role: rendering.last_role,
            loss_codes: rendering.loss_codes(),
            losses: folded(&rendering.losses),
            violations: rendering.violations.iter().map(ToString::to_string).collect(),
            tokens: encoding.zip(counts.map(|counts| counts.tokens)),
        }
    }

    /// Whether the assistant of the rendering is one of these participants.
    pub(super) fn is_for(&self, linked: &Linked, perspectives: &[Option<usize>]) -> bool {
        let participants = &linked.conversation.participants;
        perspectives.iter().any(|perspective| {
            let participant = perspective.and_then(|index| participants.get(index));
            participant.map_or("", |participant| &participant.id) == self.perspective
        })
    }

    /// Writes the rendering: its figures, its text with marks around the trained parts, and its losses; without text if content must not be
    /// shown.
    pub(super) fn write(&self, page: &mut TextPage, shows_content: bool) {
        page.end_line();
        let mut title = self.title.clone();
        if !shows_content {
            title.perspective.clear();
        }
        page.words(Rendition::Bold, &title.to_string());
        page.words(Rendition::Dim, &format!("  {}", self.figures()));
        page.end_line();
        if shows_content {
            page.marked(&self.content, self.is_json, &self.trained());
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

    /// The ranges that are trained on.
    pub(super) fn trained(&self) -> Vec<Range<usize>> {
        let at = |at| usize::try_from(at).unwrap_or(usize::MAX);
        let ranges = self.own.trained.iter();
        ranges.map(|range| at(range.start)..at(range.end)).collect()
    }

    /// The offsets of the characters with which tokens begin, and the number of tokens that begin with each; empty if they do not add up to
    /// the count.
    pub(super) fn token_starts(&self) -> Vec<(usize, u64)> {
        let counter = self
            .tokens
            .as_ref()
            .and_then(|(encoding, tokens)| Some((chatmill_token::find(encoding)?.counter(), *tokens)));
        let Some((counter, tokens)) = counter.filter(|_| self.content.len() <= MOST_SPLIT) else {
            return Vec::new();
        };
        let mut spans: Vec<ComponentSpan> = Vec::new();
        let mut starts = Vec::new();
        let mut controls = self.controls.iter().peekable();
        for (at, sign) in self.content.char_indices() {
            let end = at + sign.len_utf8();
            while controls.next_if(|range| range.end <= at).is_some() {}
            let control = controls.peek().filter(|range| range.start <= at);
            match spans.last_mut() {
                Some(last) if control.is_some_and(|range| range.start < at) => last.end = end,
                _ => {
                    starts.push(at);
                    spans.push(ComponentSpan {
                        end,
                        component: Component::Content,
                        speaker: Speaker::Other,
                        control: control.is_some(),
                        requests: 0,
                        written: false,
                        answer: None,
                    });
                }
            }
        }
        let counts = counter.count_spans(&self.content, &spans);
        if counts.iter().sum::<u64>() != tokens {
            return Vec::new();
        }
        starts
            .into_iter()
            .zip(counts)
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// The encoding in which it was counted.
    pub(super) fn encoding(&self) -> Option<&str> {
        self.tokens.as_ref().map(|(encoding, _)| encoding.as_str())
    }

    /// The row in the table of all dialects.
    pub(super) fn row(&self) -> RenderingFigures {
        RenderingFigures {
            title: self.title.clone(),
            bytes: self.content.len() as u64,
            tokens: self.tokens.as_ref().map_or(0, |(_, tokens)| *tokens),
            losses: self.losses.iter().map(|(_, _, amount, _)| amount).sum(),
            is_valid: self.violations.is_empty(),
        }
    }

    pub(super) fn figures(&self) -> String {
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

    /// Writes the row that an envelope makes from the rendering, or the reason why there is none.
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
                    (turns.placeholders, "without words left out"),
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

/// The title of a rendering that shows these messages.
pub(super) fn title(
    linked: &Linked,
    dialect: String,
    perspective: &str,
    window: Option<(u64, u64)>,
) -> RenderingTitle {
    let mut participants = linked.conversation.participants.iter();
    let speaker = participants.find(|one| one.id == perspective);
    RenderingTitle {
        dialect,
        perspective: speaker.map_or_else(String::new, |speaker| speaker.display_name().to_owned()),
        window: window.map_or_else(String::new, |(first, last)| format!("#{first} to #{last}")),
    }
}

/// Removes the windows from titles, unless a dialect and a perspective have several.
pub(super) fn name_windows(titles: &mut dyn Iterator<Item = &mut RenderingTitle>) {
    let mut titles: Vec<&mut RenderingTitle> = titles.collect();
    let has_same = |one: &&mut RenderingTitle, other: &&mut RenderingTitle| {
        (&one.dialect, &one.perspective) == (&other.dialect, &other.perspective)
    };
    for windows in titles.chunk_by_mut(has_same) {
        if let [only] = windows {
            only.window.clear();
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

/// The length of a rendering in bytes up to which the beginnings of tokens are determined.
const MOST_SPLIT: usize = 2 << 20;

/// The number of positions that a line lists for a loss.
const MOST_PLACES: usize = 8;
