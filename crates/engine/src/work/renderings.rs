//! The second half of a worker's way: a conversation said in every dialect, counted in every encoding, and written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

use chatmill_dataset::rows::{LossRow, RenderingRow, TokenCountRow};
use chatmill_dataset::{Key, PartSet};
use chatmill_diag::{Code, Finding, codes};
use chatmill_dialect::policy::Reasoning;
use chatmill_dialect::{Coverage, Dialect, FoldedLosses, LossCode, LossReason, MadeTexts, Rendering};
use chatmill_model::{ComponentSpan, Sink, SinkBuffers};
use chatmill_token::{Encoding, TokenCounts};
use jiff::tz::TimeZone;

use super::{Kept, Work};
use crate::error::{RunError, WorkError};
use crate::plan::Plan;
use crate::record::locate::Located;
use crate::record::redact;
use crate::work::bill::{self, BillingMode, OwnSpans};
use crate::work::overview::LossAmounts;
use crate::work::render::{self, WindowedRenderer};
use crate::work::shares::{BillShare, Billed};
use crate::work::totals::{Group, Sums};

/// The keys of what a plan names.
pub(super) struct PlanKeys {
    /// Dialect, profile and media type of each target.
    targets: Vec<[Key; 3]>,
    encodings: Vec<Key>,
    /// Kinds of losses, in their order.
    codes: Vec<Key>,
    /// Reasons of losses that were met.
    reasons: HashMap<LossReason, Key>,
}

impl PlanKeys {
    pub(super) fn new(plan: &Plan, parts: &mut PartSet) -> Self {
        let mut of_target = |target: &Dialect| {
            let media_type = target.about().media_type;
            [target.id(), target.profile(), media_type].map(|text| parts.key(text))
        };
        Self {
            targets: plan.targets.iter().map(&mut of_target).collect(),
            encodings: plan
                .encodings
                .iter()
                .map(|known| parts.key(known.name()))
                .collect(),
            codes: LossCode::ALL
                .iter()
                .map(|code| parts.key(code.as_str()))
                .collect(),
            reasons: HashMap::new(),
        }
    }

    fn reason(&mut self, reason: LossReason, parts: &mut PartSet) -> Key {
        let met = self.reasons.entry(reason);
        *met.or_insert_with(|| parts.key(&reason.words()))
    }

    fn code(&self, code: LossCode, parts: &mut PartSet) -> Key {
        let known = self.codes.get(code as usize);
        known.copied().unwrap_or_else(|| parts.key(code.as_str()))
    }
}

/// What is needed for one rendering after the other.
#[derive(Default)]
pub(super) struct RenderingBuffers {
    pub sink: SinkBuffers,
    tallies: Vec<TokenCounts>,
    losses: LossAmounts,
    folded: FoldedLosses,
    loss_codes: Vec<Key>,
    tokens: Vec<u64>,
    sent_tokens: Vec<u64>,
    own: OwnSpans,
}

impl RenderingBuffers {
    pub(super) fn new(sink: SinkBuffers) -> Self {
        Self {
            sink,
            ..Self::default()
        }
    }
}

impl<'p> Work<'_, 'p> {
    pub(super) fn renderings<'a>(
        &mut self,
        kept: Kept<'a>,
        made: &'a MadeTexts,
        sink: &mut Sink<'a>,
    ) -> Result<(), WorkError>
    where
        'p: 'a,
    {
        let plan = self.tools.plan;
        if plan.targets.is_empty() {
            return Ok(());
        }
        let Kept { id, linked, read, .. } = kept;
        let as_read = read.outcome.as_read().unwrap_or(linked);
        let (mut perspectives, absent) = render::perspectives(as_read, &plan.pipeline.perspective.speaker);
        self.receipt.unrenderable += absent;
        let most = plan.limits().perspectives;
        let beyond = (perspectives.len() as u64).saturating_sub(most);
        if beyond > 0 {
            perspectives.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            let message = format!("[perspective] names more participants than limits.perspectives ({most})");
            self.found(kept, &codes::TOO_MANY_PERSPECTIVES, message, beyond)?;
        }
        let windowed = WindowedRenderer::new(linked, &plan.windows, &perspectives, plan.policy(), made)
            .with(plan.additions());
        self.receipt.without_turns += windowed.without_turns();
        for (reason, turns) in windowed.untaught().reasons() {
            *self.receipt.untaught.entry(reason.to_owned()).or_default() += turns;
        }
        for field in windowed.unprompted() {
            *self.receipt.unprompted.entry(field.to_owned()).or_default() += 1;
        }
        let left_out: u64 = plan.targets.iter().map(|target| windowed.left_out(target)).sum();
        if left_out > 0 {
            let most = plan.windows.most;
            let message = format!("[window] cuts it into more than limits.windows ({most}) renderings");
            self.found(kept, &codes::TOO_MANY_WINDOWS, message, left_out)?;
        }
        let mut meter = self.meter.take();
        let conversation = self.parts.key(id);
        let keys = std::mem::take(&mut self.keys.targets);
        for (rank, (target, keys)) in plan.targets.iter().zip(&keys).enumerate() {
            let [dialect, profile, media_type] = *keys;
            let mut seen = CoveragesSeen::default();
            let mut emit = |sink: &mut Sink<'_>, perspective: &str, mut rendering: Rendering| {
                if let Some(redaction) = &read.outcome.redaction {
                    redact::declare(redaction, &mut rendering);
                }
                let spot = RenderingKey {
                    kept,
                    target,
                    rank,
                    conversation,
                    dialect,
                    profile,
                    perspective: self.parts.key(perspective),
                    speaker: perspective,
                    media_type,
                };
                self.rendering(&spot, sink, &rendering, &mut seen)
            };
            windowed.render(target, meter.as_mut(), sink, &mut emit)?;
        }
        self.meter = meter;
        self.keys.targets = keys;
        Ok(())
    }

    fn rendering(
        &mut self,
        spot: &RenderingKey<'_>,
        sink: &mut Sink<'_>,
        rendering: &Rendering,
        seen: &mut CoveragesSeen,
    ) -> Result<(), WorkError> {
        if self.tools.stop.load(Ordering::Relaxed) {
            return Err(WorkError::Stopped);
        }
        let plan = self.tools.plan;
        let dialect = spot.target.id();
        let mut violations: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        let limit = plan.limits().rendering;
        let oversize = sink.is_oversize();
        if oversize {
            sink.begin();
            violations.push(format!("oversize-rendering: more than {limit} bytes"));
            let message = format!("the {dialect} rendering is larger than limits.rendering ({limit} bytes)");
            self.found(spot.kept, &codes::OVERSIZE_RENDERING, message, 1)?;
        }
        let one_request = spot.kept.linked.conversation.customs.is_one_request();
        let serving = BillingMode::of(spot.target, plan.windows.cuts, one_request);
        let requests = bill::requests(sink.spans_mut(), serving);
        let mut tallies = std::mem::take(&mut self.buffers.tallies);
        self.counter.tally_sink(sink, &mut tallies);
        let billed = Billed {
            spans: sink.spans(),
            requests: &requests,
            last: rendering.last_position,
            bytes: sink.text().len() as u64,
            tallies: &tallies,
            paid: serving.paid(rendering.paid.clone(), &requests),
            perspective: spot.speaker,
        };
        let shares = billed.shares(spot.kept.linked, &TimeZone::UTC, || {
            self.counter.tally_spans(sink)
        });
        let (bytes, is_valid) = (billed.bytes, violations.is_empty());
        let requests = self.book(spot, rendering, &billed, &shares, seen, is_valid);
        if self.parts.writes_token_counts() {
            self.token_counts(spot, rendering, &tallies)?;
        }
        self.receipt.renderings += 1;
        self.verify(spot, sink, &tallies)?;
        // Most losses are of few codes: sorting the words of all of them takes longer than all else that is done with them.
        let losses = &mut self.buffers.losses;
        losses.count(&rendering.losses);
        self.receipt.overview.add_losses(spot.rank, losses);
        let drops_thoughts = plan.policy().reasoning == Reasoning::Drop
            && losses.codes().any(|code| code == LossCode::ReasoningDropped);
        self.receipt.without_reasoning += u64::from(drops_thoughts);
        if self.parts.writes_losses() {
            self.losses(spot, rendering)?;
        }
        if !self.parts.writes_renderings() {
            self.buffers.tallies = tallies;
            return Ok(());
        }
        let keep = !oversize && plan.pipeline.output.content.keeps(dialect);
        let RenderingBuffers {
            losses,
            loss_codes,
            tokens,
            sent_tokens,
            own,
            ..
        } = &mut self.buffers;
        loss_codes.clear();
        loss_codes.extend(losses.codes().map(|code| self.keys.code(code, self.parts)));
        tokens.clear();
        tokens.extend(tallies.iter().map(|tally| tally.tokens));
        sent_tokens.clear();
        sent_tokens.extend(tallies.iter().map(|tally| tally.sent));
        let spans = if keep { sink.spans() } else { &[] };
        own.find(spans, spot.target.has_control_tokens());
        self.parts.push_rendering(RenderingRow {
            conversation_id: spot.conversation,
            dialect: spot.dialect,
            profile: spot.profile,
            perspective: spot.perspective,
            ordinal: rendering.ordinal.into(),
            media_type: spot.media_type,
            bytes,
            content: Some(sink.text()).filter(|_| keep),
            tokens,
            requests,
            sent_tokens,
            coverage: rendering.coverage.as_str(),
            first_position: rendering.first_position.map(u64::from),
            last_position: rendering.last_position.map(u64::from),
            messages_rendered: rendering.messages_rendered.into(),
            last_role: rendering.last_role,
            assistant_messages: rendering.assistant_messages.into(),
            assistant_spans: &own.said,
            learned_spans: &own.learned,
            loss_count: rendering.loss_count(),
            loss_codes,
            valid: is_valid,
            violations: &violations,
        })?;
        self.buffers.tallies = tallies;
        Ok(())
    }

    /// Writes what a rendering lost, a row for each kind and reason.
    fn losses(&mut self, spot: &RenderingKey<'_>, rendering: &Rendering) -> Result<(), WorkError> {
        for loss in self.buffers.folded.fold(&rendering.losses) {
            let reason = self.keys.reason(loss.reason, self.parts);
            let code = self.keys.code(loss.code, self.parts);
            self.parts.push_loss(LossRow {
                conversation_id: spot.conversation,
                dialect: spot.dialect,
                profile: spot.profile,
                perspective: spot.perspective,
                ordinal: rendering.ordinal.into(),
                code,
                reason,
                amount: loss.amount,
                positions: loss.positions,
            })?;
        }
        Ok(())
    }

    /// Books what was found so often in a whole conversation.
    fn found(
        &mut self,
        kept: Kept<'_>,
        code: &'static Code,
        message: String,
        count: u64,
    ) -> Result<(), WorkError> {
        let (span, line_column) = kept.read.record.written();
        let mut located = Located::nowhere(Finding::new(code, message));
        (located.span, located.line_column) = (span, line_column);
        located.finding.count = count;
        self.finding(&located, kept.at())
    }

    /// Lets the reference count every n-th rendering again.
    fn verify(
        &self,
        spot: &RenderingKey<'_>,
        sink: &Sink<'_>,
        tallies: &[TokenCounts],
    ) -> Result<(), WorkError> {
        let every = self.tools.verify_every;
        if every == 0 || !self.receipt.renderings.is_multiple_of(every) {
            return Ok(());
        }
        match miscounted(&self.tools.plan.encodings, sink.text(), sink.spans(), tallies) {
            None => Ok(()),
            Some(encoding) => Err(WorkError::Failed(RunError::Miscounted {
                dialect: spot.target.id().to_owned(),
                conversation: spot.kept.id.to_owned(),
                encoding,
            })),
        }
    }

    /// Writes the rows of a rendering in `token_counts`.
    fn token_counts(
        &mut self,
        spot: &RenderingKey<'_>,
        rendering: &Rendering,
        tallies: &[TokenCounts],
    ) -> Result<(), WorkError> {
        for (encoding, tally) in self.keys.encodings.iter().zip(tallies) {
            self.parts.push_token_count(TokenCountRow {
                conversation_id: spot.conversation,
                dialect: spot.dialect,
                profile: spot.profile,
                perspective: spot.perspective,
                ordinal: rendering.ordinal.into(),
                encoding: *encoding,
                tokens: tally.tokens,
                content: tally.parts.content,
                names: tally.parts.names,
                framing: tally.parts.framing,
                tools: tally.parts.tools,
                replies: tally.parts.replies,
                meta: tally.parts.meta,
                assistant_content: tally.assistant_content,
                written: tally.written,
            })?;
        }
        Ok(())
    }

    /// Books the shares of a rendering in the totals, and the rendering itself with the last of them. Says in how many
    /// requests it is sent.
    fn book(
        &mut self,
        spot: &RenderingKey<'_>,
        rendering: &Rendering,
        billed: &Billed<'_>,
        shares: &[BillShare<'_>],
        seen: &mut CoveragesSeen,
        is_valid: bool,
    ) -> u64 {
        let is_first = seen.is_first(rendering.coverage);
        let mut requests = 0;
        for (number, share) in shares.iter().enumerate() {
            requests += share.requests;
            let is_last = number + 1 == shares.len();
            let with_last = |number: u64| if is_last { number } else { 0 };
            // Without an encoding there is still a row of totals, with no tokens in it.
            let uncounted = [TokenCounts::default()];
            let (tallies, whole) = if billed.tallies.is_empty() {
                (uncounted.as_slice(), uncounted.as_slice())
            } else {
                (share.tallies.as_slice(), billed.tallies)
            };
            for ((encoding, tally), whole) in tallies.iter().enumerate().zip(whole) {
                let group = Group {
                    source: Cow::Borrowed(spot.kept.linked.conversation.source),
                    day: share.day.map(|day| day.to_string()).unwrap_or_default(),
                    model: share.model.to_owned(),
                    target: spot.rank,
                    encoding,
                    coverage: Cow::Borrowed(rendering.coverage.as_str()),
                };
                let sums = Sums {
                    conversations: with_last(is_first.into()),
                    messages_rendered: with_last(rendering.messages_rendered.into()),
                    bytes: share.bytes,
                    tally: *tally,
                    logged: share.logged,
                    requests: share.requests,
                    invalid: with_last((!is_valid).into()),
                    losses: with_last(rendering.loss_count()),
                    ..Sums::default()
                };
                let tokens = is_last.then_some(whole.tokens);
                self.receipt.totals.add(&group, &sums, tokens);
            }
        }
        requests
    }
}

/// Which coverages the renderings of a conversation in a dialect have had.
#[derive(Default)]
struct CoveragesSeen(u8);

impl CoveragesSeen {
    /// Whether none had this one.
    fn is_first(&mut self, coverage: Coverage) -> bool {
        let before = self.0;
        self.0 |= 1 << coverage as u8;
        before != self.0
    }
}

/// Which rendering of which conversation is at hand.
struct RenderingKey<'a> {
    kept: Kept<'a>,
    target: &'a Dialect,
    rank: usize,
    conversation: Key,
    dialect: Key,
    profile: Key,
    perspective: Key,
    /// Id of the perspective.
    speaker: &'a str,
    media_type: Key,
}

/// The first encoding whose reference counts another number of tokens.
fn miscounted(
    encodings: &[Encoding],
    text: &str,
    spans: &[ComponentSpan],
    tallies: &[TokenCounts],
) -> Option<String> {
    encodings
        .iter()
        .zip(tallies)
        .find(|(encoding, tally)| {
            encoding
                .reference()
                .tokens(text, spans)
                .is_some_and(|tokens| tokens != tally.tokens)
        })
        .map(|(encoding, _)| encoding.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_count_is_found_and_a_right_one_is_not() {
        let encodings = [chatmill_token::find("o200k_base").unwrap().clone()];
        let right = encodings[0].counter().count("How many tokens are these?");
        let tally = |tokens| {
            [TokenCounts {
                tokens,
                ..TokenCounts::default()
            }]
        };
        let text = "How many tokens are these?";
        assert_eq!(miscounted(&encodings, text, &[], &tally(right)), None);
        assert_eq!(
            miscounted(&encodings, text, &[], &tally(right + 1)),
            Some("o200k_base".to_owned())
        );
    }
}
