//! Renders a conversation in the dialects of the plan, through the windows of the plan.
//!
//! A linked conversation comes in; each rendering goes to a callback, with its text in a sink. The workers of
//! a run, rendering of stored datasets and commands that render without a dataset call [`WindowedRenderer`].

use std::cell::OnceCell;
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

use chatmill_diag::cut;
use chatmill_dialect::{
    Additions, CutPoints, Cuts, Dialect, Policy, Rendering, Shared, SkippedTargets, TextArena, Transcript,
    View, Violation, Window, WindowMode, WindowRange, WindowRanges, window,
};
use chatmill_model::{Linked, Part, Role, Sink, Speaker};

use super::budget::BudgetMeter;
pub(crate) use super::perspectives::add_names;
pub use super::perspectives::perspectives;
use crate::plan::WindowPlan;
use crate::work::fit;

/// Renders a whole conversation in one dialect for every perspective. Made-up texts are kept in
/// `arena`. `emit` gets the sink with the text, and the perspective's participant id (`""` for none).
pub fn render<'a>(
    linked: &'a Linked,
    target: &Dialect,
    perspectives: &[Option<usize>],
    policy: &'a Policy,
    arena: &'a TextArena,
    sink: &mut Sink<'a>,
    emit: &mut dyn FnMut(&mut Sink<'a>, &str, Rendering),
) {
    let windows = WindowPlan::default();
    let windowed = WindowedRenderer::new(linked, &windows, perspectives, policy, arena);
    let mut always = |sink: &mut Sink<'a>, id: &str, rendering: Rendering| {
        emit(sink, id, rendering);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = windowed.render(target, None, sink, &mut always);
}

/// A conversation that is cut by the windows of the plan.
///
/// Sessions are cut first, then the turns of the perspective; the dialect cuts the history. A rendering that
/// is still too long starts later, before a message of another participant, until it fits. Omitted messages
/// are declared as losses. A rendering that still does not fit is kept as invalid, with the reason.
pub struct WindowedRenderer<'a, 'p> {
    linked: &'a Linked,
    policy: &'a Policy,
    additions: Additions<'a>,
    arena: &'a TextArena,
    windows: &'p WindowPlan,
    perspectives: Vec<PerspectiveWindows<'a>>,
    /// The windows without a perspective, for neutral dialects.
    neutral: PerspectiveWindows<'a>,
    /// The bytes of text before each position; one more for the end.
    bytes: Vec<u64>,
}

/// A perspective and the windows of its renderings; by default the whole conversation.
#[derive(Default)]
struct PerspectiveWindows<'a> {
    perspective: Option<usize>,
    /// The whole conversation, for dialects that render it uncut.
    whole: OnceCell<Transcript<'a>>,
    /// The windows shared by all dialects, if they are shared, and whether each fits.
    planned: OnceCell<Vec<(WindowRange, bool)>>,
    ranges: Vec<WindowRange>,
    /// The number of ranges beyond the limit.
    left_out: u64,
    /// Turns that are trained in no range.
    skipped_targets: SkippedTargets,
    /// The later positions at which ranges may start.
    starts: Vec<u32>,
}

impl PerspectiveWindows<'_> {
    fn new(
        linked: &Linked,
        windows: &WindowPlan,
        cut_points: &CutPoints,
        perspective: Option<usize>,
        cuts: Cuts,
    ) -> Self {
        let WindowRanges {
            mut ranges,
            skipped_targets,
        } = window::window_ranges(linked, cut_points, perspective, cuts);
        let most = usize::try_from(windows.most).unwrap_or(usize::MAX);
        let left_out = ranges.len().saturating_sub(most) as u64;
        ranges.truncate(most);
        Self {
            perspective,
            ranges,
            left_out,
            skipped_targets,
            starts: if windows.budget.is_some() || windows.overlap > 0 {
                window::turn_starts(linked, cut_points, perspective)
            } else {
                Vec::new()
            },
            ..Self::default()
        }
    }
}

impl<'a, 'p> WindowedRenderer<'a, 'p> {
    /// Cuts a conversation; made-up texts of its renderings are kept in `arena`.
    pub fn new(
        linked: &'a Linked,
        windows: &'p WindowPlan,
        perspectives: &[Option<usize>],
        policy: &'a Policy,
        arena: &'a TextArena,
    ) -> Self {
        let perspectives = perspectives.iter().copied();
        let cuts = Cuts {
            turns: policy.turns,
            ..windows.cuts
        };
        let (perspectives, neutral) = if windows.cut() {
            let cut_points = CutPoints::of(linked);
            let sessions = Cuts {
                session_gap: windows.cuts.session_gap,
                ..Cuts::default()
            };
            let windowed =
                |perspective, cuts| PerspectiveWindows::new(linked, windows, &cut_points, perspective, cuts);
            let perspectives = perspectives.map(|perspective| windowed(perspective, cuts));
            (perspectives.collect(), windowed(None, sessions))
        } else {
            let whole = |perspective| PerspectiveWindows {
                perspective,
                ..PerspectiveWindows::default()
            };
            let trained = |perspective| PerspectiveWindows {
                skipped_targets: window::skipped_in_whole(linked, perspective, cuts),
                ..whole(perspective)
            };
            (perspectives.map(trained).collect(), whole(None))
        };
        let mut sum = 0;
        let mut bytes = vec![0];
        let messages = linked.conversation.messages.iter();
        for message in messages.filter(|_| windows.budget.is_some()) {
            sum += message.parts.iter().map(length).sum::<u64>();
            bytes.push(sum);
        }
        Self {
            linked,
            policy,
            additions: Additions::default(),
            arena,
            windows,
            perspectives,
            neutral,
            bytes,
        }
    }

    /// Adds the pipeline's prompt and tools.
    #[must_use]
    pub fn with(self, additions: Additions<'a>) -> Self {
        Self { additions, ..self }
    }

    /// Returns the perspectives of a dialect's renderings.
    fn perspectives(&self, target: &Dialect) -> &[PerspectiveWindows<'a>] {
        if target.is_neutral() {
            std::slice::from_ref(&self.neutral)
        } else {
            &self.perspectives
        }
    }

    /// Returns the number of renderings in a dialect beyond the limit.
    pub fn left_out(&self, target: &Dialect) -> u64 {
        let perspectives = self.perspectives(target).iter();
        perspectives
            .filter(|_| !target.is_single_turn())
            .map(|perspective| perspective.left_out)
            .sum()
    }

    /// Returns the number of perspectives without a turn to render.
    pub fn without_turns(&self) -> u64 {
        let is_silent = |perspective: &&PerspectiveWindows<'_>| {
            perspective.ranges.is_empty() && perspective.left_out == 0
        };
        let silent = self.perspectives.iter().filter(is_silent);
        if self.windows.cuts.mode == WindowMode::Document {
            0
        } else {
            silent.count() as u64
        }
    }

    /// Returns the turns that no rendering trains.
    pub fn skipped_targets(&self) -> SkippedTargets {
        let mut sum = SkippedTargets::default();
        for perspective in &self.perspectives {
            sum.add(perspective.skipped_targets);
        }
        sum
    }

    /// Makes the renderings in one dialect, perspective by perspective. `emit` gets the perspective's
    /// participant id (`""` for none) and ends the work if it fails. `meter` is required if there is a budget.
    pub fn render<E>(
        &self,
        target: &Dialect,
        mut meter: Option<&mut BudgetMeter>,
        sink: &mut Sink<'a>,
        emit: &mut Emit<'_, 'a, E>,
    ) -> Result<(), E> {
        let is_neutral = target.is_neutral();
        for perspective in self.perspectives(target) {
            let participants = &self.linked.conversation.participants;
            let participant = perspective.perspective.and_then(|index| participants.get(index));
            let id = participant.map_or("", |participant| participant.id.as_str());
            let shared: Rc<Shared> = Rc::default();
            let is_own_planner = is_neutral || self.windows.planners.is_empty();
            let renderer = PerspectiveRenderer {
                windowed: self,
                id,
                planner_shared: is_own_planner.then(|| Rc::clone(&shared)).into_iter().collect(),
                shared,
                perspective,
                target,
                whole: View {
                    // An archive contains the record and nothing else.
                    additions: if is_neutral {
                        Additions::default()
                    } else {
                        self.additions
                    },
                    ..self.whole(perspective.perspective)
                },
                meter: meter.as_deref_mut(),
                ordinal: 0,
                paid_to: 0,
                mode: if is_neutral {
                    WindowMode::Document
                } else {
                    self.windows.cuts.mode
                },
            };
            renderer.render(sink, emit)?;
        }
        Ok(())
    }

    /// Returns the whole conversation from a perspective.
    fn whole(&self, perspective: Option<usize>) -> View<'a> {
        View {
            history: self.windows.history,
            additions: self.additions,
            placeholders: self.windows.cuts.placeholders,
            ..View::whole(self.linked, perspective, self.policy)
        }
    }

    /// Returns the missing field of the conversation for each perspective without a prompt.
    pub fn unprompted(&self) -> impl Iterator<Item = &'static str> {
        let perspectives = self.perspectives.iter();
        perspectives.filter_map(|perspective| self.whole(perspective.perspective).missing_field())
    }

    /// Returns the bytes of text between two positions.
    fn bytes(&self, start: u32, end: u32) -> u64 {
        let before = |position: u32| *cut::at(&self.bytes, position as usize);
        before(end).saturating_sub(before(start))
    }
}

/// Estimates the length of a part's text, in bytes.
fn length(part: &Part) -> u64 {
    let text = match part {
        Part::Text(text) => text,
        Part::ToolCall(call) => call.arguments.source_text(),
        Part::ToolResult(result) => &result.content,
        _ => "",
    };
    text.len() as u64
}

/// The renderings of one perspective in one dialect.
struct PerspectiveRenderer<'w, 'a, 'p, 's> {
    windowed: &'w WindowedRenderer<'a, 'p>,
    /// Id of the participant.
    id: &'w str,
    shared: Rc<Shared>,
    /// The shared state for each dialect that must fit as well.
    planner_shared: Vec<Rc<Shared>>,
    perspective: &'w PerspectiveWindows<'a>,
    target: &'w Dialect,
    /// The whole conversation.
    whole: View<'a>,
    meter: Option<&'s mut BudgetMeter>,
    ordinal: u32,
    /// Requests before this position are billed with earlier renderings.
    paid_to: u32,
    /// The part of a session that each rendering shows.
    mode: WindowMode,
}

/// Returns the view through a window.
fn through<'a>(whole: &View<'a>, shared: &Rc<Shared>, range: WindowRange) -> View<'a> {
    View {
        window: Some(Window {
            range,
            shared: Rc::clone(shared),
        }),
        ..whole.clone()
    }
}

/// Returns the reason why a rendering that should end with an answer is not trained on.
fn skipped_target(rendering: &Rendering, sink: &Sink<'_>) -> Option<Violation> {
    let reason = if rendering.last_role != Some(Role::Assistant.as_str()) {
        "window.mode: nothing of the turn is left in this dialect"
    } else if rendering.first_role != Some(Role::User.as_str()) {
        "window.mode: nobody speaks before the turn in this dialect"
    } else if sink
        .spans()
        .iter()
        .all(|span| span.speaker != Speaker::Perspective)
    {
        "window.mode: the turn is context, or one with context in this dialect"
    } else {
        return None;
    };
    Some(Violation::whole(reason))
}

/// The callback for a rendering: the sink has its text; the second
/// argument is the perspective's participant id (`""` for none).
type Emit<'e, 'a, E> = dyn FnMut(&mut Sink<'a>, &str, Rendering) -> Result<(), E> + 'e;

impl<'a> PerspectiveRenderer<'_, 'a, '_, '_> {
    fn render<E>(mut self, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a, E>) -> Result<(), E> {
        if !self.windowed.windows.cut() || self.target.is_single_turn() {
            return self.rendered(None, None, 0..self.end(), sink, emit);
        }
        if self.has_common_windows() {
            let known = &self.perspective.planned;
            let planned = if let Some(planned) = known.get() {
                planned
            } else {
                let planned = self.plan(sink);
                known.get_or_init(|| planned)
            };
            for (number, (window, fits)) in planned.iter().enumerate() {
                let paid = self.paid(*window, number + 1 == planned.len());
                self.rendered(Some(*window), Some(*fits), paid, sink, emit)?;
            }
            return Ok(());
        }
        let mut from = 0;
        while let Some((window, next)) = self.window(from, sink) {
            let paid = self.paid(window, next >= self.perspective.ranges.len());
            self.rendered(Some(window), None, paid, sink, emit)?;
            from = next;
        }
        Ok(())
    }

    /// Returns the end of the conversation.
    fn end(&self) -> u32 {
        u32::try_from(self.windowed.linked.conversation.messages.len()).unwrap_or(u32::MAX)
    }

    /// Returns the positions with requests that are billed with a window: those
    /// after the end of every earlier window. The last window gets the positions
    /// that no window shows; those that a budget cut off a session are not billed.
    fn paid(&mut self, window: WindowRange, is_last: bool) -> Range<u32> {
        let end = if is_last && self.perspective.left_out == 0 {
            self.end()
        } else {
            window.end
        };
        let start = std::mem::replace(&mut self.paid_to, end);
        if self.mode == WindowMode::Document && window.start > window.session_start {
            return start.max(window.start)..end;
        }
        start..end
    }

    /// Returns whether the windows are shared by all dialects.
    fn has_common_windows(&self) -> bool {
        let is_neutral = self.target.is_neutral();
        self.meter.is_some() && !is_neutral && !self.windowed.windows.planners.is_empty()
    }

    /// Returns all windows, and whether each fits.
    fn plan(&mut self, sink: &mut Sink<'a>) -> Vec<(WindowRange, bool)> {
        let mut planned = Vec::new();
        let mut from = 0;
        while let Some((window, next)) = self.window(from, sink) {
            let fits = self.fits(window, sink);
            planned.push((window, fits));
            from = next;
        }
        planned
    }

    /// Returns the window that starts with a range, and the index of the next range.
    fn window(&mut self, from: usize, sink: &mut Sink<'a>) -> Option<(WindowRange, usize)> {
        let first = *self.perspective.ranges.get(from)?;
        Some(if self.mode == WindowMode::Consecutive {
            self.chunk(from, first, sink)
        } else {
            (self.fitted(first, sink), from + 1)
        })
    }

    /// Returns the longest run of exchanges of a session that fits,
    /// starting with one, and the index of the next exchange.
    fn chunk(&mut self, from: usize, first: WindowRange, sink: &mut Sink<'a>) -> (WindowRange, usize) {
        let in_session = |range: &WindowRange| range.session_start <= first.session_start;
        let ranges = &self.perspective.ranges;
        let run = cut::slice(ranges, from..ranges.partition_point(in_session));
        let start = self.context(from, first);
        let joined = |last: WindowRange| WindowRange {
            start,
            trained_from: first.trained_from,
            ..last
        };
        let mut latest = run.len() - 1;
        if let Some(budget) = &self.windowed.windows.budget {
            let is_short = |last: &WindowRange| {
                self.windowed.bytes(start, last.end) <= budget.tokens.saturating_mul(fit::BYTES_PER_TOKEN)
            };
            let guess = run.len() - run.partition_point(is_short).max(1);
            let least = fit::least(run.len(), guess, |place| {
                self.fits(joined(*cut::at(run, run.len() - 1 - place)), sink)
            });
            let Some(least) = least else {
                let alone = joined(first);
                return (self.fitted(alone, sink), from + 1);
            };
            latest -= least;
        }
        (joined(*cut::at(run, latest)), from + latest + 1)
    }

    /// Returns the position at which an exchange starts, with the context that it repeats of the session.
    fn context(&self, from: usize, first: WindowRange) -> u32 {
        let before = cut::slice(&self.perspective.ranges, 0..from);
        let is_earlier = |range: &WindowRange| range.session_start < first.session_start;
        let Some(opening) = before.get(before.partition_point(is_earlier)) else {
            return first.start;
        };
        let earliest = first.start.saturating_sub(self.windowed.windows.overlap);
        let starts = &self.perspective.starts;
        let next = starts.partition_point(|start| *start < earliest.max(opening.start));
        starts
            .get(next)
            .map_or(first.start, |start| first.start.min(*start))
    }

    /// Returns whether a range fits the budget.
    fn fits(&mut self, range: WindowRange, sink: &mut Sink<'a>) -> bool {
        let Some(meter) = self.meter.as_deref_mut() else {
            return true;
        };
        let planners = match self.windowed.windows.planners.as_slice() {
            planners if !planners.is_empty() && !self.target.is_neutral() => planners,
            _ => std::slice::from_ref(self.target),
        };
        // The shared state of windows belongs to one dialect.
        self.planner_shared.resize_with(planners.len(), Rc::default);
        planners
            .iter()
            .zip(&self.planner_shared)
            .all(|(planner, shared)| {
                let view = through(&self.whole, shared, range);
                let transcript = Transcript::new(view, self.windowed.arena);
                let mut renderings = planner.renderings(&transcript);
                let mut fits = true;
                while let Some(rendering) = renderings.next(sink) {
                    // A rendering that a template refuses has no text, and would always be short enough.
                    let is_refused =
                        planner.has_control_tokens() && sink.text().is_empty() && !rendering.is_valid();
                    fits &= !is_refused && meter.fits(sink);
                }
                fits
            })
    }

    /// Returns the longest part of a range that fits; if none fits, the shortest.
    fn fitted(&mut self, range: WindowRange, sink: &mut Sink<'a>) -> WindowRange {
        let Some(budget) = self
            .windowed
            .windows
            .budget
            .as_ref()
            .filter(|_| self.meter.is_some())
        else {
            return range;
        };
        let starts = &self.perspective.starts;
        let from = starts.partition_point(|start| *start <= range.start);
        // Trained turns are never cut off.
        let before = if self.mode == WindowMode::Document {
            range.end
        } else {
            range.trained_from
        };
        let to = starts.partition_point(|start| *start < before);
        let later = starts.iter().copied().take(to).skip(from);
        let beginnings: Vec<u32> = std::iter::once(range.start).chain(later).collect();
        let beginning = |place: usize| WindowRange {
            start: *cut::at(&beginnings, place),
            ..range
        };
        let guess = fit::guess(&beginnings, budget.tokens, |start| {
            self.windowed.bytes(start, range.end)
        });
        let least = fit::least(beginnings.len(), guess, |place| self.fits(beginning(place), sink));
        beginning(least.unwrap_or(beginnings.len() - 1))
    }

    fn rendered<E>(
        &mut self,
        range: Option<WindowRange>,
        fits: Option<bool>,
        mut paid: Range<u32>,
        sink: &mut Sink<'a>,
        emit: &mut Emit<'_, 'a, E>,
    ) -> Result<(), E> {
        let arena = self.windowed.arena;
        let windowed;
        let transcript = match range {
            Some(range) => {
                windowed = Transcript::new(through(&self.whole, &self.shared, range), arena);
                &windowed
            }
            None => self
                .perspective
                .whole
                .get_or_init(|| Transcript::new(self.whole.clone(), arena)),
        };
        let mut renderings = self.target.renderings(transcript);
        while let Some(mut rendering) = renderings.next(sink) {
            rendering.ordinal = self.ordinal;
            self.ordinal += 1;
            rendering.paid = std::mem::take(&mut paid);
            if range.is_some() && self.mode != WindowMode::Document {
                rendering.violations.extend(skipped_target(&rendering, sink));
            }
            if let Some(meter) = self.meter.as_deref_mut()
                && !fits.unwrap_or_else(|| meter.fits(sink))
            {
                let last = rendering.last_position;
                rendering
                    .violations
                    .push(Violation::at(last, meter.refusal(last)));
            }
            emit(sink, self.id, rendering)?;
        }
        Ok(())
    }
}
