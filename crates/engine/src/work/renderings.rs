//! The second half of a worker's job: renders a conversation in
//! every dialect, counts it in every encoding, and writes the rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

use chatmill_dataset::rows::{LossRow, RenderingRow, TokenCountRow};
use chatmill_dataset::{Key, PartSet};
use chatmill_diag::{Code, Finding, codes};
use chatmill_dialect::policy::Reasoning;
use chatmill_dialect::{Coverage, Dialect, FoldedLosses, LossCode, LossReason, Rendering, TextArena};
use chatmill_model::{ComponentSpan, Sink, SinkBuffers};
use chatmill_token::{Encoding, TokenCounts};
use jiff::tz::TimeZone;

use super::{AcceptedConversation, Work, WorkerContext};
use crate::error::RunError;
use crate::plan::Plan;
use crate::record::locate::Located;
use crate::record::redact;
use crate::work::bill::{self, BillingMode, OwnSpans};
use crate::work::overview::LossAmounts;
use crate::work::render::{self, WindowedRenderer};
use crate::work::shares::{BillShare, Billed};
use crate::work::totals::{AnswerGroup, RenderingGroup};

/// The keys of the names in a plan.
pub(super) struct PlanKeys {
    /// Dialect, profile and media type of each target.
    targets: Vec<[Key; 3]>,
    encodings: Vec<Key>,
    /// Kinds of losses, in the order of their codes.
    codes: Vec<Key>,
    /// Reasons of losses that have occurred.
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

/// Buffers that are reused from one rendering to the next.
#[derive(Default)]
pub(super) struct RenderingBuffers {
    pub sink: SinkBuffers,
    counts_by_encoding: Vec<TokenCounts>,
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

impl<'w, 'p> Work<'w, 'p> {
    pub(super) fn renderings<'a>(
        &mut self,
        accepted: AcceptedConversation<'a>,
        arena: &'a TextArena,
        sink: &mut Sink<'a>,
    ) -> Result<(), RunError>
    where
        'w: 'a,
        'p: 'a,
    {
        let WorkerContext { plan, survey, .. } = self.tools;
        if plan.targets.is_empty() {
            return Ok(());
        }
        let AcceptedConversation { id, linked, read, .. } = accepted;
        let as_read = read.outcome.as_read().unwrap_or(linked);
        let (mut perspectives, absent) = render::perspectives(as_read, &plan.pipeline.perspective.speaker);
        self.receipt.unrenderable += absent;
        if absent > 0 && perspectives.is_empty() && plan.quotes {
            render::add_names(&mut self.receipt.participants, &as_read.conversation);
        }
        let most = plan.limits().perspectives;
        let beyond = (perspectives.len() as u64).saturating_sub(most);
        if beyond > 0 {
            perspectives.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            let message = format!("[perspective] names more participants than limits.perspectives ({most})");
            self.found(accepted, &codes::TOO_MANY_PERSPECTIVES, message, beyond)?;
        }
        let section = plan.section(read.record.entry.input);
        let windowed = WindowedRenderer::new(linked, &plan.windows, &perspectives, plan.policy(), arena)
            .with(plan.additions(survey.called_tools(section)));
        self.receipt.without_turns += windowed.without_turns();
        for (reason, turns) in windowed.skipped_targets().reasons() {
            *self.receipt.skipped_targets.entry(reason.to_owned()).or_default() += turns;
        }
        for field in windowed.unprompted() {
            *self.receipt.unprompted.entry(field.to_owned()).or_default() += 1;
        }
        let left_out: u64 = plan.targets.iter().map(|target| windowed.left_out(target)).sum();
        if left_out > 0 {
            let most = plan.windows.most;
            let message = format!("[window] cuts it into more than limits.windows ({most}) renderings");
            self.found(accepted, &codes::TOO_MANY_WINDOWS, message, left_out)?;
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
                let key = RenderingKey {
                    accepted,
                    target,
                    rank,
                    conversation,
                    dialect,
                    profile,
                    perspective: self.parts.key(perspective),
                    speaker: perspective,
                    media_type,
                };
                self.rendering(&key, sink, &rendering, &mut seen)
            };
            windowed.render(target, meter.as_mut(), sink, &mut emit)?;
        }
        self.meter = meter;
        self.keys.targets = keys;
        Ok(())
    }

    fn rendering(
        &mut self,
        key: &RenderingKey<'_>,
        sink: &mut Sink<'_>,
        rendering: &Rendering,
        seen: &mut CoveragesSeen,
    ) -> Result<(), RunError> {
        if self.tools.stop.load(Ordering::Relaxed) {
            return Err(RunError::Stopped { done: 0 });
        }
        let plan = self.tools.plan;
        let dialect = key.target.id();
        let mut violations: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        let limit = plan.limits().rendering;
        let oversize = sink.is_oversize();
        if oversize {
            sink.begin();
            violations.push(format!("oversize-rendering: more than {limit} bytes"));
            let message = format!("the {dialect} rendering is larger than limits.rendering ({limit} bytes)");
            self.found(key.accepted, &codes::OVERSIZE_RENDERING, message, 1)?;
        }
        let conversation = &key.accepted.linked.conversation;
        let serving = BillingMode::of(key.target, plan.windows.cuts, conversation.is_one_request());
        let requests = bill::requests(sink.spans_mut(), serving, |position| {
            bill::is_copy(conversation, position)
        });
        let mut counts_by_encoding = std::mem::take(&mut self.buffers.counts_by_encoding);
        self.counter.count_sink(sink, &mut counts_by_encoding);
        let billed = Billed {
            spans: sink.spans(),
            requests: &requests,
            last: rendering.last_position,
            bytes: sink.text().len() as u64,
            counts_by_encoding: &counts_by_encoding,
            paid: serving.paid(rendering.paid.clone(), &requests),
            perspective: key.speaker,
        };
        let shares = billed.shares(key.accepted.linked, &TimeZone::UTC, || {
            self.counter.count_spans(sink)
        });
        let (bytes, is_valid) = (billed.bytes, violations.is_empty());
        let requests = self.add_totals(key, rendering, &billed, &shares, seen, is_valid);
        if self.parts.writes_token_counts() {
            self.token_counts(key, rendering, &counts_by_encoding)?;
        }
        self.receipt.renderings += 1;
        self.verify(key, sink, &counts_by_encoding)?;
        self.losses(key, rendering)?;
        if !self.parts.writes_renderings() {
            self.buffers.counts_by_encoding = counts_by_encoding;
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
        tokens.extend(counts_by_encoding.iter().map(|token_counts| token_counts.tokens));
        sent_tokens.clear();
        sent_tokens.extend(counts_by_encoding.iter().map(|token_counts| token_counts.sent));
        let spans = if keep { sink.spans() } else { &[] };
        own.find(spans, key.target.has_control_tokens());
        self.parts.push_rendering(RenderingRow {
            conversation_id: key.conversation,
            dialect: key.dialect,
            profile: key.profile,
            perspective: key.perspective,
            ordinal: rendering.ordinal.into(),
            media_type: key.media_type,
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
            assistant_spans: &own.assistant,
            learned_spans: &own.trained,
            loss_count: rendering.loss_count(),
            loss_codes,
            valid: is_valid,
            violations: &violations,
        })?;
        self.buffers.counts_by_encoding = counts_by_encoding;
        Ok(())
    }

    /// Counts the losses of a rendering, and writes a row for each kind and reason.
    fn losses(&mut self, key: &RenderingKey<'_>, rendering: &Rendering) -> Result<(), RunError> {
        let losses = &mut self.buffers.losses;
        let is_written = self.parts.writes_losses();
        losses.begin();
        for loss in self.buffers.folded.fold(&rendering.losses) {
            losses.add(loss.code, loss.amount);
            if !is_written {
                continue;
            }
            let reason = self.keys.reason(loss.reason, self.parts);
            let code = self.keys.code(loss.code, self.parts);
            self.parts.push_loss(LossRow {
                conversation_id: key.conversation,
                dialect: key.dialect,
                profile: key.profile,
                perspective: key.perspective,
                ordinal: rendering.ordinal.into(),
                code,
                reason,
                amount: loss.amount,
                positions: loss.positions,
            })?;
        }
        losses.finish();
        self.receipt.overview.add_losses(key.rank, losses);
        let drops_thoughts = self.tools.plan.policy().reasoning == Reasoning::Drop
            && losses.codes().any(|code| code == LossCode::ReasoningDropped);
        self.receipt.without_reasoning += u64::from(drops_thoughts);
        Ok(())
    }

    /// Writes a finding about a whole conversation with its count.
    fn found(
        &mut self,
        accepted: AcceptedConversation<'_>,
        code: &'static Code,
        message: String,
        count: u64,
    ) -> Result<(), RunError> {
        let (span, line_column) = accepted.read.record.written();
        let mut located = Located::nowhere(Finding::new(code, message));
        (located.span, located.line_column) = (span, line_column);
        located.finding.count = count;
        self.finding(&located, accepted.at())
    }

    /// Counts every n-th rendering again with the reference tokenizer.
    fn verify(
        &self,
        key: &RenderingKey<'_>,
        sink: &Sink<'_>,
        counts_by_encoding: &[TokenCounts],
    ) -> Result<(), RunError> {
        let every = self.tools.verify_every;
        if every == 0 || !self.receipt.renderings.is_multiple_of(every) {
            return Ok(());
        }
        match miscounted(
            &self.tools.plan.encodings,
            sink.text(),
            sink.spans(),
            counts_by_encoding,
        ) {
            None => Ok(()),
            Some(encoding) => Err(RunError::Miscounted {
                dialect: key.target.id().to_owned(),
                conversation: key.accepted.id.to_owned(),
                encoding,
            }),
        }
    }

    /// Writes the rows of a rendering in `token_counts`.
    fn token_counts(
        &mut self,
        key: &RenderingKey<'_>,
        rendering: &Rendering,
        counts_by_encoding: &[TokenCounts],
    ) -> Result<(), RunError> {
        for (encoding, token_counts) in self.keys.encodings.iter().zip(counts_by_encoding) {
            self.parts.push_token_count(TokenCountRow {
                conversation_id: key.conversation,
                dialect: key.dialect,
                profile: key.profile,
                perspective: key.perspective,
                ordinal: rendering.ordinal.into(),
                encoding: *encoding,
                tokens: token_counts.tokens,
                content: token_counts.parts.content,
                names: token_counts.parts.names,
                framing: token_counts.parts.framing,
                tools: token_counts.parts.tools,
                replies: token_counts.parts.replies,
                meta: token_counts.parts.meta,
                assistant_content: token_counts.assistant_content,
                written: token_counts.written,
            })?;
        }
        Ok(())
    }

    /// Adds the shares of a rendering to the totals, and the rendering itself
    /// with the last share. Returns the number of requests that send it.
    fn add_totals(
        &mut self,
        key: &RenderingKey<'_>,
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
            let answers = AnswerGroup {
                day: share.day,
                model: share.model.to_owned(),
                source: Cow::Borrowed(key.accepted.linked.conversation.source),
            };
            let group = RenderingGroup {
                target: key.rank,
                coverage: Cow::Borrowed(rendering.coverage.as_str()),
            };
            let sums = self.receipt.totals.of(answers, group);
            sums.conversations += with_last(is_first.into());
            sums.messages_rendered += with_last(rendering.messages_rendered.into());
            sums.bytes += share.bytes;
            sums.logged += share.logged;
            sums.requests += share.requests;
            sums.invalid += with_last((!is_valid).into());
            sums.losses += with_last(rendering.loss_count());
            // Without an encoding there is still a row of totals, with 0 tokens.
            let uncounted = [TokenCounts::default()];
            let (counts_by_encoding, whole) = if billed.counts_by_encoding.is_empty() {
                (uncounted.as_slice(), uncounted.as_slice())
            } else {
                (share.counts_by_encoding.as_slice(), billed.counts_by_encoding)
            };
            for ((encoding, token_counts), whole) in counts_by_encoding.iter().enumerate().zip(whole) {
                let sums = sums.encoding(encoding);
                sums.token_counts += *token_counts;
                if is_last {
                    sums.distribution.add(whole.tokens);
                }
            }
        }
        requests
    }
}

/// The coverages of a conversation's renderings in a dialect.
#[derive(Default)]
struct CoveragesSeen(u8);

impl CoveragesSeen {
    /// Returns whether this coverage is new.
    fn is_first(&mut self, coverage: Coverage) -> bool {
        let before = self.0;
        self.0 |= 1 << coverage as u8;
        before != self.0
    }
}

/// The conversation and the keys of the current rendering.
struct RenderingKey<'a> {
    accepted: AcceptedConversation<'a>,
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

/// Returns the first encoding in which the reference counts a different number of tokens.
fn miscounted(
    encodings: &[Encoding],
    text: &str,
    spans: &[ComponentSpan],
    counts_by_encoding: &[TokenCounts],
) -> Option<String> {
    encodings
        .iter()
        .zip(counts_by_encoding)
        .find(|(encoding, token_counts)| {
            encoding
                .reference()
                .tokens(text, spans)
                .is_some_and(|tokens| tokens != token_counts.tokens)
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
        let token_counts = |tokens| {
            [TokenCounts {
                tokens,
                ..TokenCounts::default()
            }]
        };
        let text = "How many tokens are these?";
        assert_eq!(miscounted(&encodings, text, &[], &token_counts(right)), None);
        assert_eq!(
            miscounted(&encodings, text, &[], &token_counts(right + 1)),
            Some("o200k_base".to_owned())
        );
    }
}
