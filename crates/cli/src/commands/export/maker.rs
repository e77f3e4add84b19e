//! Renderings for an export in a dialect that its dataset does not contain; the engine renders them from the tables.

use chatmill_dataset::Dataset;
use chatmill_dialect::LossAmounts;
use chatmill_engine::rerender::{Preference, Rerenderer, Rerendering, Wanted};
use chatmill_export::{ExportError, ExportRequest, Maker, Preferences, RenderingFacts};

use crate::exit::Outcome;

/// Renderings by the engine, for an export.
pub(super) struct AgainMaker<'d> {
    again: Rerenderer<'d>,
    /// The kind of ratings that is wanted; `None` for conversations.
    wanted: Option<Wanted>,
}

impl AgainMaker<'_> {
    /// The envelope that would have rows if this one has none because answers were rated differently or not at all; `None` for
    /// conversations.
    pub(super) fn elsewhere(&self) -> Result<Option<&'static str>, ExportError> {
        let (other, envelope) = match self.wanted {
            None => return Ok(None),
            Some(Wanted::Pairs) => (Wanted::Labels, "trl-kto"),
            Some(Wanted::Labels) => (Wanted::Pairs, "trl-dpo"),
        };
        // One row is enough to know.
        let found = self.again.preferences(other, &mut |preference| match preference {
            Preference::LeftOut { .. } => Ok(()),
            Preference::Pair { .. } | Preference::Labelled { .. } => Err(ExportError::Stopped),
        });
        match found {
            Err(ExportError::Stopped) => Ok(Some(envelope)),
            found => found.map(|()| Some("trl-messages")),
        }
    }
}

/// The engine's renderer, for a dialect that the run did not render, or for rated answers; `None` if the dataset contains the renderings.
pub(super) fn maker<'d>(dataset: &'d Dataset, request: &ExportRequest) -> Outcome<Option<AgainMaker<'d>>> {
    let wanted = match request.envelope.map(|envelope| envelope.preferences) {
        None | Some(Preferences::None) => None,
        Some(Preferences::Pairs) => Some(Wanted::Pairs),
        Some(Preferences::Labels) => Some(Wanted::Labels),
    };
    let is_known = chatmill_dialect::find(&request.dialect).is_some();
    if wanted.is_none() && (!is_known || chatmill_export::holds(dataset, &request.dialect)?) {
        return Ok(None);
    }
    chatmill_export::check_request(request)?;
    let encoding = request.filters.max_tokens.as_ref();
    let again = Rerenderer::new(
        dataset,
        &request.dialect,
        encoding.map(|most| most.encoding.as_str()),
    )?;
    if wanted.is_some() {
        again.refuse_without_alternatives()?;
    }
    Ok(Some(AgainMaker { again, wanted }))
}

/// The number of occurrences of each loss in a rendering; not known for replaced personal data.
fn amounts_of(rendering: &Rerendering<'_>) -> LossAmounts {
    let mut amounts = LossAmounts::new();
    for loss in rendering.losses.iter() {
        *amounts.entry(loss.code).or_default() += loss.amount;
    }
    amounts
}

/// The facts about a rendering by the engine, as an export needs them.
fn facts_of<'r>(rendering: &'r Rerendering<'r>, amounts: &'r LossAmounts) -> RenderingFacts<'r> {
    RenderingFacts {
        conversation: &rendering.conversation,
        perspective: &rendering.perspective,
        ordinal: rendering.ordinal,
        shown: rendering.shown,
        content: rendering.content.as_deref(),
        assistant_spans: &rendering.assistant_spans,
        learned_spans: &rendering.learned_spans,
        last_role: rendering.last_role,
        loss_codes: &rendering.loss_codes,
        amounts: Some(amounts),
        violations: &rendering.violations,
        tokens: rendering.tokens,
        ..RenderingFacts::default()
    }
}

impl Maker for AgainMaker<'_> {
    fn dialect(&self) -> &str {
        self.again.dialect()
    }

    fn profile(&self) -> &str {
        self.again.profile()
    }

    fn is_json(&self) -> bool {
        self.again.is_json()
    }

    fn each(
        &self,
        visit: &mut dyn FnMut(&RenderingFacts<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let Some(wanted) = self.wanted else {
            return self
                .again
                .each(&mut |rendering| visit(&facts_of(rendering, &amounts_of(rendering))));
        };
        self.again
            .preferences(wanted, &mut |preference| match preference {
                Preference::Pair { chosen, rejected } => visit(&RenderingFacts {
                    rejected: Some(rejected),
                    ..facts_of(chosen, &amounts_of(chosen))
                }),
                Preference::Labelled {
                    answer,
                    is_good,
                    basis,
                } => visit(&RenderingFacts {
                    label: Some((*is_good, *basis)),
                    ..facts_of(answer, &amounts_of(answer))
                }),
                Preference::LeftOut {
                    conversation,
                    ordinal,
                    reason,
                } => visit(&RenderingFacts {
                    conversation,
                    ordinal: *ordinal,
                    left_out: Some(reason),
                    ..RenderingFacts::default()
                }),
            })
    }
}
