//! Renderings for an export that its dataset does not hold: the engine makes them of the tables.

use chatmill_dataset::Dataset;
use chatmill_engine::again::{Again, AgainError, AgainRendering, Judged, Wanted};
use chatmill_export::{ExportError, ExportRequest, MadeRendering, Maker, Preferences};

use super::refused;
use crate::exit::WrongRequest;

/// The engine's renderings, for an export.
pub(in crate::commands) struct AgainMaker<'d> {
    again: Again<'d>,
    /// Which judgements of answers are wanted; none for conversations.
    wanted: Option<Wanted>,
}

impl AgainMaker<'_> {
    /// An envelope that has rows where this one has none, for answers that were judged otherwise, or by nobody; none where it is not
    /// answers that are wanted.
    pub(in crate::commands) fn elsewhere(&self) -> Result<Option<&'static str>, ExportError> {
        let (other, envelope) = match self.wanted {
            None => return Ok(None),
            Some(Wanted::Pairs) => (Wanted::Labels, "trl-kto"),
            Some(Wanted::Labels) => (Wanted::Pairs, "trl-dpo"),
        };
        // The first row is enough.
        let found = self.again.judged(other, &mut |judged| match judged {
            Judged::LeftOut { .. } => Ok(()),
            Judged::Pair { .. } | Judged::Labelled { .. } => Err(ExportError::Stopped),
        });
        match found {
            Err(ExportError::Stopped) => Ok(Some(envelope)),
            found => found.map(|()| Some("trl-messages")),
        }
    }
}

/// Who says conversations in a dialect that the run did not say them in, or answers that were judged; nobody is needed where
/// the dataset holds what is asked for.
pub(in crate::commands) fn maker<'d>(
    dataset: &'d Dataset,
    request: &ExportRequest,
) -> anyhow::Result<Option<AgainMaker<'d>>> {
    let wanted = match request.envelope.map(|envelope| envelope.preferences) {
        None | Some(Preferences::None) => None,
        Some(Preferences::Pairs) => Some(Wanted::Pairs),
        Some(Preferences::Labels) => Some(Wanted::Labels),
    };
    let is_known = chatmill_dialect::find(&request.dialect).is_some();
    if wanted.is_none()
        && (!is_known || chatmill_export::holds(dataset, &request.dialect).map_err(refused)?)
    {
        return Ok(None);
    }
    chatmill_export::check_request(request).map_err(refused)?;
    let encoding = request.filters.max_tokens.as_ref();
    let again = Again::new(
        dataset,
        &request.dialect,
        encoding.map(|most| most.encoding.as_str()),
    );
    let again = again.and_then(|again| {
        if wanted.is_some() {
            again.refuse_without_alternatives()?;
        }
        Ok(again)
    });
    match again {
        Ok(again) => Ok(Some(AgainMaker { again, wanted })),
        Err(AgainError::Dataset(error)) => Err(error.into()),
        Err(AgainError::Refused { message, step }) => Err(WrongRequest::new(message).then(step).into()),
    }
}

/// A rendering of the engine, for an export.
fn made<'r>(said: &'r AgainRendering<'r>) -> MadeRendering<'r> {
    MadeRendering {
        conversation: &said.conversation,
        perspective: &said.perspective,
        ordinal: said.ordinal,
        content: said.content.as_deref(),
        assistant_spans: &said.assistant_spans,
        learned_spans: &said.learned_spans,
        last_role: said.last_role,
        loss_codes: &said.loss_codes,
        violations: &said.violations,
        tokens: said.tokens,
        ..MadeRendering::default()
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
        visit: &mut dyn FnMut(&MadeRendering<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let Some(wanted) = self.wanted else {
            return self.again.each(&mut |said| visit(&made(said)));
        };
        self.again.judged(wanted, &mut |judged| match judged {
            Judged::Pair { chosen, rejected } => visit(&MadeRendering {
                rejected: Some(rejected),
                ..made(chosen)
            }),
            Judged::Labelled { answer, is_good } => visit(&MadeRendering {
                label: Some(*is_good),
                ..made(answer)
            }),
            Judged::LeftOut {
                conversation,
                ordinal,
                reason,
            } => visit(&MadeRendering {
                conversation,
                ordinal: *ordinal,
                left_out: Some(reason),
                ..MadeRendering::default()
            }),
        })
    }
}
