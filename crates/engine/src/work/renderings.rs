//! The second half of a worker's way: a conversation said in every dialect, counted in every encoding, and written.

use std::sync::atomic::Ordering;

use chatmill_dataset::rows::{LossRow, RenderingRow, TokenCountRow};
use chatmill_diag::{Finding, codes};
use chatmill_dialect::Rendering;
use chatmill_model::{ComponentSpan, Linked};
use chatmill_token::{Encoding, Tally};

use super::{Work, WorkError};
use crate::locate::Located;
use crate::plan::Target;
use crate::render;
use crate::totals::{Counted, Group};

impl Work<'_, '_> {
    pub(super) fn renderings(&mut self, id: &str, linked: &Linked, record: u64) -> Result<(), WorkError> {
        let plan = self.tools.plan;
        let (perspectives, absent) = render::perspectives(linked, &plan.pipeline.perspective.speaker);
        self.receipt.unrenderable += absent;
        for (rank, target) in plan.targets.iter().enumerate() {
            let mut failure = None;
            let mut groups_seen = Vec::new();
            let mut emit = |perspective: &str, rendering: Rendering<'_>| {
                if failure.is_none() {
                    let spot = Spot {
                        id,
                        record,
                        target: *target,
                        rank,
                        perspective,
                        linked,
                    };
                    failure = self.rendering(&spot, &rendering, &mut groups_seen).err();
                }
            };
            render::render(
                linked,
                *target,
                &perspectives,
                plan.policy(),
                plan.history(),
                &mut emit,
            );
            if let Some(error) = failure {
                return Err(error);
            }
        }
        Ok(())
    }

    fn rendering(
        &mut self,
        spot: &Spot<'_>,
        rendering: &Rendering<'_>,
        groups_seen: &mut Vec<Group>,
    ) -> Result<(), WorkError> {
        if self.tools.stop.load(Ordering::Relaxed) {
            return Err(WorkError::Stopped);
        }
        let plan = self.tools.plan;
        let (dialect, profile) = (spot.target.dialect.id(), spot.target.profile);
        let mut violations = rendering.violations.clone();
        let limit = plan.limits().rendering;
        self.text.clear();
        self.spans.clear();
        let mut oversize = rendering
            .rope
            .segments()
            .iter()
            .map(|segment| segment.text.len() as u64)
            .sum::<u64>()
            > limit;
        if !oversize {
            rendering.rope.write(&mut self.text, &mut self.spans);
            oversize = self.text.len() as u64 > limit;
        }
        if oversize {
            self.text.clear();
            self.spans.clear();
            violations.push(format!("oversize-rendering: more than {limit} bytes"));
            let message = format!("the {dialect} rendering is larger than limits.rendering ({limit} bytes)");
            let finding = Finding::new(&codes::OVERSIZE_RENDERING, message);
            self.finding(&Located::nowhere(finding), Some(spot.record), Some(spot.id))?;
        }
        let tallies = self.tallier.tally(&self.text, &self.spans);
        self.count(spot, rendering, &tallies, violations.is_empty(), groups_seen)?;
        self.receipt.renderings += 1;
        self.verify(spot, &tallies)?;
        let mut loss_codes: Vec<String> = rendering
            .losses
            .iter()
            .map(|loss| loss.code.as_str().to_owned())
            .collect();
        loss_codes.sort_unstable();
        loss_codes.dedup();
        for loss in &rendering.losses {
            let message = loss
                .position
                .and_then(|at| spot.linked.conversation.messages.get(at as usize));
            self.parts.push_loss(LossRow {
                conversation_id: spot.id.to_owned(),
                dialect: dialect.to_owned(),
                profile: profile.to_owned(),
                perspective: spot.perspective.to_owned(),
                ordinal: rendering.ordinal,
                position: loss.position,
                message_id: message.and_then(|message| message.id.clone()),
                code: loss.code.as_str().to_owned(),
                amount: loss.amount,
                reason: loss.reason.clone(),
            })?;
        }
        let keep = !oversize && plan.pipeline.output.content.keeps(dialect);
        self.parts.push_rendering(RenderingRow {
            conversation_id: spot.id.to_owned(),
            dialect: dialect.to_owned(),
            profile: profile.to_owned(),
            perspective: spot.perspective.to_owned(),
            ordinal: rendering.ordinal,
            media_type: spot.target.dialect.about().media_type.to_owned(),
            content: keep.then(|| self.text.clone()),
            bytes: self.text.len() as u64,
            tokens: tallies.iter().map(|tally| tally.tokens).collect(),
            coverage: rendering.coverage.as_str().to_owned(),
            first_position: rendering.first_position,
            last_position: rendering.last_position,
            messages_rendered: rendering.messages_rendered,
            last_role: rendering.last_role.map(str::to_owned),
            assistant_messages: rendering.assistant_messages,
            loss_count: rendering.losses.len() as u64,
            loss_codes,
            valid: violations.is_empty(),
            violations,
        })?;
        Ok(())
    }

    /// Lets the reference count every n-th rendering again.
    fn verify(&self, spot: &Spot<'_>, tallies: &[Tally]) -> Result<(), WorkError> {
        let every = self.tools.verify_every;
        if every == 0 || !self.receipt.renderings.is_multiple_of(every) {
            return Ok(());
        }
        match miscounted(&self.tools.plan.encodings, &self.text, &self.spans, tallies) {
            None => Ok(()),
            Some(encoding) => Err(WorkError::Miscounted {
                dialect: spot.target.dialect.id(),
                conversation: spot.id.to_owned(),
                encoding,
            }),
        }
    }

    /// Books a rendering's tokens in `token_counts` and in the totals.
    fn count(
        &mut self,
        spot: &Spot<'_>,
        rendering: &Rendering<'_>,
        tallies: &[Tally],
        valid: bool,
        groups_seen: &mut Vec<Group>,
    ) -> Result<(), WorkError> {
        let (dialect, profile) = (spot.target.dialect.id(), spot.target.profile);
        let names = self.tools.plan.encodings.iter().map(|encoding| encoding.name());
        for (encoding, tally) in names.zip(tallies) {
            self.parts.push_token_count(TokenCountRow {
                conversation_id: spot.id.to_owned(),
                dialect: dialect.to_owned(),
                profile: profile.to_owned(),
                perspective: spot.perspective.to_owned(),
                ordinal: rendering.ordinal,
                encoding: encoding.to_owned(),
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
        let uncounted = [Tally::default()];
        let tallies = if tallies.is_empty() {
            uncounted.as_slice()
        } else {
            tallies
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
                bytes: self.text.len() as u64,
                tally,
                valid,
                losses: rendering.losses.len() as u64,
            };
            self.receipt.totals.add(&group, &counted);
            if counted.first_of_conversation {
                groups_seen.push(group);
            }
        }
        Ok(())
    }
}

/// Which rendering of which conversation is at hand.
struct Spot<'a> {
    id: &'a str,
    record: u64,
    target: Target,
    rank: usize,
    perspective: &'a str,
    linked: &'a Linked,
}

/// The first encoding whose reference counts another number of tokens.
fn miscounted(
    encodings: &[&'static Encoding],
    text: &str,
    spans: &[ComponentSpan],
    tallies: &[Tally],
) -> Option<&'static str> {
    encodings
        .iter()
        .zip(tallies)
        .find(|(encoding, tally)| {
            encoding
                .judge()
                .tokens(text, spans)
                .is_some_and(|tokens| tokens != tally.tokens)
        })
        .map(|(encoding, _)| encoding.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_count_is_found_and_a_right_one_is_not() {
        let encodings = [chatmill_token::find("o200k_base").unwrap()];
        let right = encodings[0].counter().count("How many tokens are these?");
        let tally = |tokens| {
            [Tally {
                tokens,
                ..Tally::default()
            }]
        };
        let text = "How many tokens are these?";
        assert_eq!(miscounted(&encodings, text, &[], &tally(right)), None);
        assert_eq!(
            miscounted(&encodings, text, &[], &tally(right + 1)),
            Some("o200k_base")
        );
    }
}
