//! Answers that were judged, each said with all that stood before it: what trainers learn preferences from.
//!
//! The table `alternatives` says which answers stood at a place and how they were judged. Nobody's judgement is made up: an
//! answer that was only asked for again is left out with its reason.

use std::cmp::Ordering;

use chatmill_dataset::{DatasetError, Flags, Numbers, Reals, Texts, columns};
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{AlternativeOrigin, Linked, Message, Role};

use super::messages::Told;
use super::rebuilt::Conversations;
use super::replaced::Replacements;
use super::stored::Rows;
use super::{Again, AgainError, AgainRendering, Sayer};
use crate::plan::WindowPlan;

/// The table that it is read from.
const TABLE: &str = "alternatives";

chatmill_diag::reasons! {
    NO_PREFERENCE = "no-preference", "nobody said which answer is better", "`trl-kto` takes single answers that were judged, `trl-messages` and the other envelopes of conversations take any";
    NO_LABEL = "no-label", "nobody said whether the answer is good", "`trl-dpo` takes answers of which one is better, `trl-messages` and the other envelopes of conversations take any";
    TOO_LARGE = "too-large", "beyond limits.rendering", "allow longer renderings: `limits.rendering`";
    SILENT = "not-an-answer", "the assistant says nothing in it", "look at the answer in the table `alternatives`: it is somebody else's, or empty";
    NOTHING_LEFT = "not-an-answer", "nothing of it is left in this dialect", "take a dialect that carries what the answer consists of";
}

/// What is known of answers at a place.
#[derive(Debug)]
pub enum Judged<'r> {
    /// Of two answers to the same, one is the better.
    Pair {
        /// With it.
        chosen: &'r AgainRendering<'r>,
        /// The text with the other one.
        rejected: &'r str,
    },
    /// An answer is good, or it is not.
    Labelled {
        /// With it.
        answer: &'r AgainRendering<'r>,
        /// Whether it is good.
        is_good: bool,
    },
    /// It cannot be learned from.
    LeftOut {
        /// Id of the conversation.
        conversation: &'r str,
        /// Its number among what is told of the conversation.
        ordinal: u64,
        /// Why.
        reason: &'static str,
    },
}

/// Which judgements are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Pairs.
    Pairs,
    /// Single answers.
    Labels,
}

impl Again<'_> {
    /// Visits the answers of a dataset that were judged, in the order of its conversations. The first error ends it.
    pub fn judged<E: From<DatasetError>>(
        &self,
        wanted: Wanted,
        visit: &mut dyn FnMut(&Judged<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sayer = Sayer::new(self);
        let mut conversations = Conversations::of(self.dataset)?;
        let mut replacements = Replacements::of(self.dataset)?;
        let mut alternatives = Rows::<Cells>::of(self.dataset, TABLE)?;
        while let Some((id, linked)) = conversations.next()? {
            sayer.replaced = replacements.of_next(&id)?;
            let mut teller = Teller {
                sayer: &mut sayer,
                id: &id,
                linked: &linked,
                ordinal: 0,
            };
            let mut place: Vec<Answer> = Vec::new();
            while let Some((cells, row)) = alternatives.current()
                && cells.told.conversation_id.at(row) == id
            {
                if place
                    .last()
                    .is_some_and(|answer| answer.position != cells.position.at(row))
                {
                    teller.tell(wanted, &std::mem::take(&mut place), visit)?;
                }
                cells.add(row, &linked, &mut place)?;
                alternatives.advance()?;
            }
            teller.tell(wanted, &place, visit)?;
        }
        match alternatives.current() {
            None => Ok(()),
            Some((cells, _)) => Err(cells.told.batch.fault("it has answers of no conversation").into()),
        }
    }

    /// Refuses a dataset without the table.
    pub fn refuse_without_alternatives(&self) -> Result<(), AgainError> {
        if self.dataset.has(TABLE) {
            return Ok(());
        }
        Err(AgainError::refused(
            format!("the dataset has no table `{TABLE}`: `output.tables` left it out"),
            "name it in `output.tables` and run the pipeline again",
        ))
    }
}

/// An answer at a place.
struct Answer {
    position: u64,
    ordinal: u64,
    origin: String,
    rank: Option<u64>,
    score: Option<f64>,
    label: Option<bool>,
    messages: Vec<Message>,
}

impl Answer {
    /// Whether it is good in itself.
    fn is_good(&self) -> Option<bool> {
        let is = |origin: AlternativeOrigin| self.origin == origin.as_str();
        let judged = is(AlternativeOrigin::Chosen) || is(AlternativeOrigin::Rejected);
        self.label.or(judged.then(|| is(AlternativeOrigin::Chosen)))
    }

    /// Whether it is better than another, as far as somebody said so: by the rank, else the score, else because one is good and the
    /// other is not.
    fn against(&self, other: &Self) -> Option<Ordering> {
        if let (Some(own), Some(other)) = (self.rank, other.rank) {
            return Some(other.cmp(&own));
        }
        if let (Some(own), Some(other)) = (self.score, other.score) {
            return own.partial_cmp(&other);
        }
        Some(self.is_good()?.cmp(&other.is_good()?))
    }
}

columns! {
    /// Cells of `alternatives`.
    struct Cells with told: Told {
        position: Numbers,
        ordinal: Numbers,
        origin: Texts,
        rank: Numbers,
        score: Reals,
        label: Flags,
    }
}

impl Cells {
    /// Adds a row to the answers of its place: a further message of the last one, or the first of the next.
    fn add(&self, row: usize, linked: &Linked, place: &mut Vec<Answer>) -> Result<(), DatasetError> {
        let ordinal = self.ordinal.at(row);
        if place.last().is_none_or(|answer| answer.ordinal != ordinal) {
            place.push(Answer {
                position: self.position.at(row),
                ordinal,
                origin: self.origin.at(row).to_owned(),
                rank: self.rank.get(row),
                score: self.score.get(row),
                label: self.label.get(row),
                messages: Vec::new(),
            });
        }
        let people = &linked.conversation.participants;
        let find = |id: &str| people.iter().position(|person| person.id == id);
        let message = self.told.message(row, people, &find, Limits::default().depth)?;
        if let Some(answer) = place.last_mut() {
            answer.messages.push(message);
        }
        Ok(())
    }
}

/// Tells the answers of one conversation.
struct Teller<'t, 'a, 'd> {
    sayer: &'t mut Sayer<'a, 'd>,
    id: &'t str,
    linked: &'t Linked,
    ordinal: u64,
}

type Visit<'v, E> = dyn FnMut(&Judged<'_>) -> Result<(), E> + 'v;

impl Teller<'_, '_, '_> {
    fn tell<E: From<DatasetError>>(
        &mut self,
        wanted: Wanted,
        place: &[Answer],
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        if place.is_empty() {
            return Ok(());
        }
        match wanted {
            Wanted::Pairs => self.pairs(place, visit),
            Wanted::Labels => place.iter().try_for_each(|answer| self.labelled(answer, visit)),
        }
    }

    /// The best answer beside each one that is worse.
    fn pairs<E: From<DatasetError>>(&mut self, place: &[Answer], visit: &mut Visit<'_, E>) -> Result<(), E> {
        let is_best = |answer: &&Answer| {
            let mut others = place.iter().map(|other| answer.against(other));
            others.all(|against| against.is_none_or(Ordering::is_ge))
                && place
                    .iter()
                    .any(|other| answer.against(other) == Some(Ordering::Greater))
        };
        let Some(best) = place.iter().find(is_best) else {
            return self.left_out(NO_PREFERENCE.words, visit);
        };
        let mut chosen = match self.kept(best) {
            Ok(kept) => kept,
            Err(reason) => return self.left_out(reason, visit),
        };
        for worse in place {
            if best.against(worse) != Some(Ordering::Greater) {
                continue;
            }
            let rejected = self.kept(worse);
            match rejected {
                Err(reason) => self.left_out(reason, visit)?,
                Ok(AgainRendering { content: None, .. }) => {
                    self.left_out(TOO_LARGE.words, visit)?;
                }
                Ok(AgainRendering {
                    content: Some(rejected),
                    violations,
                    ..
                }) => {
                    let own = chosen.violations.len();
                    chosen.violations.extend(violations);
                    chosen.ordinal = self.next_ordinal();
                    visit(&Judged::Pair {
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
        answer: &Answer,
        visit: &mut Visit<'_, E>,
    ) -> Result<(), E> {
        let Some(is_good) = answer.is_good() else {
            return self.left_out(NO_LABEL.words, visit);
        };
        match self.kept(answer) {
            Err(reason) => self.left_out(reason, visit),
            Ok(mut answer) => {
                answer.ordinal = self.next_ordinal();
                visit(&Judged::Labelled {
                    answer: &answer,
                    is_good,
                })
            }
        }
    }

    fn left_out<E>(&mut self, reason: &'static str, visit: &mut Visit<'_, E>) -> Result<(), E> {
        let ordinal = self.next_ordinal();
        visit(&Judged::LeftOut {
            conversation: self.id,
            ordinal,
            reason,
        })
    }

    fn next_ordinal(&mut self) -> u64 {
        self.ordinal += 1;
        self.ordinal - 1
    }

    /// The conversation up to the place, and the answer after it.
    fn kept(&mut self, answer: &Answer) -> Result<AgainRendering<'static>, &'static str> {
        let speaker = answer
            .messages
            .iter()
            .find(|message| message.role == Role::Assistant);
        let speaker = speaker.ok_or(SILENT.words)?;
        let mut conversation = self.linked.conversation.clone();
        conversation
            .messages
            .truncate(usize::try_from(answer.position).unwrap_or(usize::MAX));
        let before = conversation.messages.len();
        conversation.messages.extend(answer.messages.iter().cloned());
        for (position, message) in (0..).zip(&mut conversation.messages) {
            message.position = position;
        }
        let (linked, _, repeats) = link(conversation, &Limits::default());
        let mut links = self.linked.links.clone();
        links.truncate(before);
        links.resize(linked.conversation.messages.len(), Vec::new());
        // Messages that an id repeats were dropped; then links are found anew.
        let is_whole = repeats.dropped + repeats.dropped_notices == 0;
        let links = if is_whole { links } else { linked.links };
        let linked = Linked {
            conversation: linked.conversation,
            links,
            pairings: linked.pairings,
        };
        let mut kept = None;
        let said: Result<(), std::convert::Infallible> = self.sayer.say(
            (self.id, &linked),
            &WindowPlan::default(),
            &[speaker.sender],
            &mut |said| {
                kept = Some(said.kept());
                Ok(())
            },
        );
        let Ok(()) = said;
        kept.ok_or(NOTHING_LEFT.words)
    }
}
