//! The second half of a worker's way: a conversation said in every dialect, counted in every encoding, and written.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chatmill_dataset::rows::{LossRow, RenderingRow, TokenCountRow};
use chatmill_diag::{Finding, codes};
use chatmill_dialect::policy::Reasoning;
use chatmill_dialect::{LossCode, Rendering, folded};
use chatmill_model::{ComponentSpan, Linked, Sink};
use chatmill_token::{Encoding, TokenCounts};

use super::Work;
use crate::error::WorkError;
use crate::plan::Target;
use crate::record::redact;
use crate::work::bill::{self, BillingMode};
use crate::work::render::{self, WindowedRenderer};
use crate::work::totals::{Counted, Group};

impl Work<'_, '_> {
    pub(super) fn renderings(&mut self, id: &str, linked: &Linked, record: u64) -> Result<(), WorkError> {
        let plan = self.tools.plan;
        let (mut perspectives, absent) =
            render::perspectives(self.as_read(linked), &plan.pipeline.perspective.speaker);
        self.receipt.unrenderable += absent;
        let most = plan.limits().perspectives;
        let beyond = (perspectives.len() as u64).saturating_sub(most);
        if beyond > 0 {
            perspectives.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            let message = format!("[perspective] names more participants than limits.perspectives ({most})");
            let mut finding = Finding::new(&codes::TOO_MANY_PERSPECTIVES, message);
            finding.count = beyond;
            self.finding(&self.at_record(finding), Some(record), Some(id))?;
        }
        let windowed = WindowedRenderer::new(linked, &plan.windows, &perspectives);
        self.receipt.without_turns += windowed.without_turns();
        let left_out: u64 = plan.targets.iter().map(|target| windowed.left_out(target)).sum();
        if left_out > 0 {
            let most = plan.windows.most;
            let message = format!("[window] cuts it into more than limits.windows ({most}) renderings");
            let mut finding = Finding::new(&codes::TOO_MANY_WINDOWS, message);
            finding.count = left_out;
            self.finding(&self.at_record(finding), Some(record), Some(id))?;
        }
        let mut meter = self.meter.take();
        let limit = usize::try_from(plan.limits().rendering).unwrap_or(usize::MAX);
        let mut sink = Sink::new(std::mem::take(&mut self.buffers), limit);
        for (rank, target) in plan.targets.iter().enumerate() {
            let mut groups_seen = Vec::new();
            let mut emit = |sink: &mut Sink<'_>, perspective: &str, mut rendering: Rendering| {
                if let Some(redaction) = &self.redaction {
                    redact::declare(redaction, &mut rendering);
                }
                let spot = RenderingKey {
                    id,
                    record,
                    target,
                    rank,
                    perspective,
                    linked,
                };
                self.rendering(&spot, sink, &rendering, &mut groups_seen)
            };
            windowed.render(target, plan.policy(), meter.as_mut(), &mut sink, &mut emit)?;
        }
        self.meter = meter;
        self.buffers = sink.into_buffers();
        Ok(())
    }

    fn rendering(
        &mut self,
        spot: &RenderingKey<'_>,
        sink: &mut Sink<'_>,
        rendering: &Rendering,
        groups_seen: &mut Vec<Group>,
    ) -> Result<(), WorkError> {
        if self.tools.stop.load(Ordering::Relaxed) {
            return Err(WorkError::Stopped);
        }
        let plan = self.tools.plan;
        let (dialect, profile) = (spot.target.dialect.id(), spot.target.profile);
        let mut violations: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        let limit = plan.limits().rendering;
        let oversize = sink.is_oversize();
        if oversize {
            sink.begin();
            violations.push(format!("oversize-rendering: more than {limit} bytes"));
            let message = format!("the {dialect} rendering is larger than limits.rendering ({limit} bytes)");
            let finding = Finding::new(&codes::OVERSIZE_RENDERING, message);
            self.finding(&self.at_record(finding), Some(spot.record), Some(spot.id))?;
        }
        let serving = BillingMode::of(&*spot.target.dialect, plan.windows.cuts.per_turn);
        let requests = u64::from(bill::requests(sink.spans_mut(), serving));
        let mut tallies = Vec::new();
        self.counter.tally_sink(sink, &mut tallies);
        let served = RequestCost {
            tallies: &tallies,
            requests,
            valid: violations.is_empty(),
        };
        let keys = [spot.id, dialect, profile, spot.perspective].map(Arc::<str>::from);
        self.count(spot, &keys, sink, rendering, &served, groups_seen)?;
        self.receipt.renderings += 1;
        self.verify(spot, sink, &tallies)?;
        // Most losses are of few codes: sorting the words of all of them takes longer than all else that is done with them.
        let codes = self.receipt.overview.add_losses(spot.rank, &rendering.losses);
        let drops_thoughts =
            plan.policy().reasoning == Reasoning::Drop && codes.contains(&LossCode::ReasoningDropped);
        self.receipt.without_reasoning += u64::from(drops_thoughts);
        if self.parts.writes_losses() {
            self.losses(&keys, rendering)?;
        }
        if !self.parts.writes_renderings() {
            return Ok(());
        }
        let mut loss_codes: Vec<String> = codes.iter().map(|code| code.as_str().to_owned()).collect();
        loss_codes.sort_unstable();
        let [conversation_id, dialect_id, profile_id, perspective_id] = keys;
        let keep = !oversize && plan.pipeline.output.content.keeps(dialect);
        self.parts.push_rendering(RenderingRow {
            conversation_id,
            dialect: dialect_id,
            profile: profile_id,
            perspective: perspective_id,
            ordinal: rendering.ordinal,
            media_type: spot.target.dialect.about().media_type,
            content: keep.then(|| sink.text().to_owned()),
            bytes: sink.text().len() as u64,
            tokens: tallies.iter().map(|tally| tally.tokens).collect(),
            requests,
            sent_tokens: tallies.iter().map(|tally| tally.sent).collect(),
            coverage: rendering.coverage.as_str(),
            first_position: rendering.first_position,
            last_position: rendering.last_position,
            messages_rendered: rendering.messages_rendered,
            last_role: rendering.last_role,
            assistant_messages: rendering.assistant_messages,
            assistant_spans: if keep {
                bill::assistant_spans(sink.spans())
            } else {
                Vec::new()
            },
            loss_count: rendering.loss_count(),
            loss_codes,
            valid: violations.is_empty(),
            violations,
        })?;
        Ok(())
    }

    /// Writes what a rendering lost, a row for each kind and reason.
    fn losses(&mut self, keys: &[Arc<str>; 4], rendering: &Rendering) -> Result<(), WorkError> {
        let [conversation_id, dialect, profile, perspective] = keys;
        for loss in folded(&rendering.losses) {
            self.parts.push_loss(LossRow {
                conversation_id: Arc::clone(conversation_id),
                dialect: Arc::clone(dialect),
                profile: Arc::clone(profile),
                perspective: Arc::clone(perspective),
                ordinal: rendering.ordinal,
                code: loss.code.as_str().into(),
                reason: loss.reason.words(),
                amount: loss.amount,
                positions: loss.positions,
            })?;
        }
        Ok(())
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
            Some(encoding) => Err(WorkError::Miscounted {
                dialect: spot.target.dialect.id().to_owned(),
                conversation: spot.id.to_owned(),
                encoding,
            }),
        }
    }

    /// Books a rendering's tokens in `token_counts` and in the totals.
    fn count(
        &mut self,
        spot: &RenderingKey<'_>,
        [conversation_id, dialect_id, profile_id, perspective_id]: &[Arc<str>; 4],
        sink: &Sink<'_>,
        rendering: &Rendering,
        served: &RequestCost<'_>,
        groups_seen: &mut Vec<Group>,
    ) -> Result<(), WorkError> {
        let (dialect, profile) = (spot.target.dialect.id(), spot.target.profile);
        let names = self.tools.plan.encodings.iter().map(Encoding::name);
        let is_written = self.parts.writes_token_counts();
        for (encoding, tally) in names.zip(served.tallies).filter(|_| is_written) {
            self.parts.push_token_count(TokenCountRow {
                conversation_id: Arc::clone(conversation_id),
                dialect: Arc::clone(dialect_id),
                profile: Arc::clone(profile_id),
                perspective: Arc::clone(perspective_id),
                ordinal: rendering.ordinal,
                encoding: encoding.into(),
                tokens: tally.tokens,
                content: tally.content,
                names: tally.names,
                framing: tally.framing,
                tools: tally.tools,
                replies: tally.replies,
                meta: tally.meta,
                assistant_content: tally.assistant_content,
            })?;
        }
        // Without an encoding there is still a row of totals, with no tokens in it.
        let uncounted = [TokenCounts::default()];
        let tallies = if served.tallies.is_empty() {
            uncounted.as_slice()
        } else {
            served.tallies
        };
        for (at, tally) in tallies.iter().enumerate() {
            let encoding = self
                .tools
                .plan
                .encodings
                .get(at)
                .map_or("", |encoding| encoding.name());
            let group = Group {
                source: spot.linked.conversation.source.to_owned(),
                rank: spot.rank,
                dialect: dialect.to_owned(),
                profile: profile.to_owned(),
                encoding: encoding.to_owned(),
                coverage: rendering.coverage.as_str().to_owned(),
            };
            let counted = Counted {
                first_of_conversation: !groups_seen.contains(&group),
                messages_rendered: u64::from(rendering.messages_rendered),
                bytes: sink.text().len() as u64,
                tally,
                requests: served.requests,
                valid: served.valid,
                losses: rendering.loss_count(),
            };
            self.receipt.totals.add(&group, &counted);
            if counted.first_of_conversation {
                groups_seen.push(group);
            }
        }
        Ok(())
    }
}

/// What a rendering costs.
struct RequestCost<'t> {
    /// One per encoding.
    tallies: &'t [TokenCounts],
    /// How often it is sent.
    requests: u64,
    /// Whether the dialect's rules hold.
    valid: bool,
}

/// Which rendering of which conversation is at hand.
struct RenderingKey<'a> {
    id: &'a str,
    record: u64,
    target: &'a Target,
    rank: usize,
    perspective: &'a str,
    linked: &'a Linked,
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
