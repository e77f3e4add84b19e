//! Rows for preference training: rated answers, each rendered after the messages before it.
//!
//! The table `alternatives` lists the answers at a position with their ranks, scores and labels.
//! No rating is invented: an answer that was only regenerated is left out, with the reason.

use std::cmp::Ordering;

use chatmill_dataset::DatasetError;
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{LabelBasis, Linked, Role};

use super::answers::{Answers, StoredAnswer, TABLE};
use super::ratings::{Rating, labels};
use super::rebuilt::{Conversations, StoredConversation};
use super::replaced::Replacements;
use super::{Renderer, RerenderError, Rerenderer, Rerendering};
use crate::plan::WindowPlan;

chatmill_diag::reasons! {
    NO_PREFERENCE = "no-preference", "the data does not record which answer is better", "`trl-kto` takes single rated answers, `trl-messages` and the other envelopes of conversations take any";
    NO_LABEL = "no-label", "the data does not record whether the answer is good", "`trl-dpo` takes pairs of answers of which one is better, `trl-messages` and the other envelopes of conversations take any";
    TOO_LARGE = "too-large", "beyond limits.rendering", "allow longer renderings: `limits.rendering`";
    SILENT = "not-an-answer", "the assistant has no turn in the answer", "look at the answer in the table `alternatives`: another participant wrote it, or it is empty";
    NOTHING_LEFT = "not-an-answer", "no part of the answer can be rendered in this dialect", "choose a dialect that can represent the content of the answer";
}

/// A preference between answers at one position of a conversation, or the reason why there is none.
#[derive(Debug)]
pub enum Preference<'r> {
    /// Two answers to the same question, one of them better.
    Pair {
        /// The conversation with the better answer.
        chosen: &'r Rerendering<'r>,
        /// The text of the conversation with the other answer.
        rejected: &'r str,
    },
    /// An answer is good, or it is not.
    Labelled {
        /// The conversation with the answer.
        answer: &'r Rerendering<'r>,
        /// Whether the answer is good.
        is_good: bool,
        /// The source of the label: the record, ranks or scores.
        basis: LabelBasis,
    },
    /// The answer cannot be used for training.
    LeftOut {
        /// Id of the conversation.
        conversation: &'r str,
        /// The number of the row among the rows of the conversation.
        ordinal: u64,
        /// The reason.
        reason: &'static str,
    },
}

/// The kind of rows to produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Pairs.
    Pairs,
    /// Single answers.
    Labels,
}

impl Rerenderer<'_> {
    /// Visits the rated answers of a dataset in the order of its conversations. The first error ends the visit.
    pub fn preferences<E: From<DatasetError>>(
        &self,
        wanted: Wanted,
        visit: &mut dyn FnMut(&Preference<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut renderer = Renderer::new(self);
        let mut conversations = Conversations::of(self.dataset)?;
        let mut replacements = Replacements::of(self.dataset)?;
        let mut alternatives = Answers::of(self.dataset)?;
        while let Some(StoredConversation { id, input, linked }) = conversations.next()? {
            renderer.called = self.called.of_input(&input);
            renderer.replaced = replacements.of_next(&id)?;
            let mut answers = AnswerRenderer {
                renderer: &mut renderer,
                id: &id,
                linked: &linked,
                ordinal: 0,
            };
            let stored = alternatives.of_next(&id, &linked.conversation)?;
            for place in stored.chunk_by(|one, next| one.position == next.position) {
                answers.visit_answers(wanted, place, visit)?;
            }
        }
        Ok(alternatives.end()?)
    }

    /// Fails if the dataset has no table of alternatives.
    pub fn refuse_without_alternatives(&self) -> Result<(), RerenderError> {
        if self.dataset.has(TABLE) {
            return Ok(());
        }
        Err(RerenderError::refused(
            format!("the dataset has no table `{TABLE}`: `output.tables` left it out"),
            "name it in `output.tables` and run the pipeline again",
        ))
    }
}

/// Renders the answers of one conversation.
struct AnswerRenderer<'t, 'a, 'd> {
    renderer: &'t mut Renderer<'a, 'd>,
    id: &'t str,
    linked: &'t Linked,
    ordinal: u64,
}

type Visit<'v, E> = dyn FnMut(&Preference<'_>) -> Result<(), E> + 'v;

impl AnswerRenderer<'_, '_, '_> {
    fn visit_answers<E: From<DatasetError>>(
        &mut self,
        wanted: Wanted,
        place: &[StoredAnswer],
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        match wanted {
            Wanted::Pairs => self.pairs(place, visit),
            Wanted::Labels => {
                let ratings: Vec<Rating> = place.iter().map(Rating::of).collect();
                let mut labelled = place.iter().zip(labels(&ratings));
                labelled.try_for_each(|(answer, label)| self.labelled(answer, label, visit))
            }
        }
    }

    /// Pairs the best answer with each worse one.
    fn pairs<E: From<DatasetError>>(
        &mut self,
        place: &[StoredAnswer],
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        let is_best = |answer: &&StoredAnswer| {
            let against = |other| Rating::of(answer).against(&Rating::of(other));
            let mut others = place.iter().map(against);
            others.all(|against| against.is_none_or(Ordering::is_ge))
                && place
                    .iter()
                    .any(|other| against(other) == Some(Ordering::Greater))
        };
        let Some(best) = place.iter().find(is_best) else {
            return self.left_out(NO_PREFERENCE.words, visit);
        };
        let mut chosen = match self.render_answer(best) {
            Ok(rendering) => rendering,
            Err(reason) => return self.left_out(reason, visit),
        };
        for worse in place {
            if Rating::of(best).against(&Rating::of(worse)) != Some(Ordering::Greater) {
                continue;
            }
            let rejected = self.render_answer(worse);
            match rejected {
                Err(reason) => self.left_out(reason, visit)?,
                Ok(Rerendering { content: None, .. }) => {
                    self.left_out(TOO_LARGE.words, visit)?;
                }
                Ok(Rerendering {
                    content: Some(rejected),
                    violations,
                    ..
                }) => {
                    let own = chosen.violations.len();
                    chosen.violations.extend(violations);
                    chosen.ordinal = self.next_ordinal();
                    visit(&Preference::Pair {
                        chosen: &chosen,
                        rejected: &rejected,
                    })?;
                    chosen.violations.truncate(own);
                }
            }
        }
        Ok(())
    }

    fn labelled<E: From<DatasetError>>(
        &mut self,
        answer: &StoredAnswer,
        label: Option<(bool, LabelBasis)>,
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        let Some((is_good, basis)) = label else {
            return self.left_out(NO_LABEL.words, visit);
        };
        match self.render_answer(answer) {
            Err(reason) => self.left_out(reason, visit),
            Ok(mut answer) => {
                answer.ordinal = self.next_ordinal();
                visit(&Preference::Labelled {
                    answer: &answer,
                    is_good,
                    basis,
                })
            }
        }
    }

    fn left_out<E>(&mut self, reason: &'static str, visit: &mut Visit<'_, E>) -> Result<(), E> {
        let ordinal = self.next_ordinal();
        visit(&Preference::LeftOut {
            conversation: self.id,
            ordinal,
            reason,
        })
    }

    fn next_ordinal(&mut self) -> u64 {
        self.ordinal += 1;
        self.ordinal - 1
    }

    /// Renders the conversation up to the position, followed by the answer.
    fn render_answer(&mut self, answer: &StoredAnswer) -> Result<Rerendering<'static>, &'static str> {
        let speaker = answer
            .messages
            .iter()
            .find(|message| message.role == Role::Assistant);
        let speaker = speaker.ok_or(SILENT.words)?;
        let mut conversation = self.linked.conversation.clone();
        conversation.messages.truncate(answer.position as usize);
        let before = conversation.messages.len();
        conversation.messages.extend(answer.messages.iter().cloned());
        for (position, message) in (0..).zip(&mut conversation.messages) {
            message.position = position;
        }
        let (linked, _, repeats) = link(conversation, &Limits::default());
        let mut links = self.linked.links.clone();
        links.truncate(before);
        links.resize(linked.conversation.messages.len(), Vec::new());
        // If messages were dropped because an id repeats, positions have changed and links are computed anew.
        let is_whole = repeats.dropped + repeats.dropped_notices == 0;
        let links = if is_whole { links } else { linked.links };
        let linked = Linked {
            conversation: linked.conversation,
            links,
            pairings: linked.pairings,
        };
        let mut rendered = None;
        let outcome: Result<(), std::convert::Infallible> = self.renderer.render(
            (self.id, &linked),
            &WindowPlan::default(),
            &[speaker.sender],
            &mut |rendering, _, _| {
                rendered = Some(rendering.owned_copy());
                Ok(())
            },
        );
        let Ok(()) = outcome;
        rendered.ok_or(NOTHING_LEFT.words)
    }
}
