//! Redacts a record, and declares the redactions as losses of its renderings.

use chatmill_diag::{Finding, Path as Place, cut};
use chatmill_dialect::{Coverage, Loss, LossCode, LossReason, Rendering, pseudonyms};
use chatmill_model::{Linked, Role};
use chatmill_redact::{Account, Counts, PersonalKind, Redactor, Roster};

use super::RecordOutcome;
use super::locate::Located;

/// The redactions in a conversation.
pub struct Redaction {
    /// The conversation before redaction: for selection by the pipeline file, never for output.
    pub original: Linked,
    /// The counts of replacements.
    pub account: Account,
    roster: Roster,
}

/// Searches a linked conversation for personal data and secrets;
/// adds findings, and replaces the data if the redactor does.
pub(crate) fn redact(
    redactor: &Redactor,
    linked: &mut Linked,
    findings: &mut Vec<Finding>,
) -> Option<Redaction> {
    let roster = redactor.roster(&linked.conversation);
    let original = redactor.replaces().then(|| linked.clone());
    let account = redactor.redact(&mut linked.conversation, &roster);
    let read = original.as_ref().unwrap_or(linked);
    findings.extend(account.findings(&read.conversation, redactor.replaces()));
    original.map(|original| Redaction {
        original,
        account,
        roster,
    })
}

/// Removes replaced data from the findings and rejects of a record: ids and
/// paths get the pseudonyms of the conversation, quotations are removed.
pub(crate) fn clean(redactor: &Redactor, outcome: &mut RecordOutcome) {
    let nobody = Roster::default();
    let roster = outcome
        .redaction
        .as_ref()
        .map_or(&nobody, |redaction| &redaction.roster);
    for located in &mut outcome.findings {
        clean_finding(redactor, roster, &mut located.finding);
        clean_path(redactor, roster, located);
    }
    for (reject, located) in &mut outcome.rejects {
        reject.head.clear();
        clean_finding(redactor, roster, &mut reject.finding);
        clean_finding(redactor, roster, &mut located.finding);
        clean_path(redactor, roster, located);
    }
}

fn clean_path(redactor: &Redactor, roster: &Roster, located: &mut Located) {
    let path = located.json_path.as_deref().unwrap_or_default();
    if let Some(replaced) = redactor.text(path, roster, &mut Counts::default()) {
        located.json_path = Some(replaced);
    }
}

fn clean_finding(redactor: &Redactor, roster: &Roster, finding: &mut Finding) {
    let replace = |text: &mut String| {
        if let Some(replaced) = redactor.text(text, roster, &mut Counts::default()) {
            *text = replaced;
        }
    };
    finding.detail = None;
    replace(&mut finding.message);
    finding.message_id.as_mut().map(replace);
    match &mut finding.path {
        Place::Record => {}
        Place::Absolute(path) | Place::InMessage(path) => replace(path),
    }
}

/// Adds the redactions to the losses of a rendering: those in messages that it shows or
/// may quote, in system text before its window, and in facts about the conversation.
pub(crate) fn declare(redaction: &Redaction, rendering: &mut Rendering) {
    let account = &redaction.account;
    let before = rendering.losses.len();
    push(&account.conversation, None, &mut rendering.losses);
    for position in shown(&redaction.original, rendering) {
        let counts = cut::at(&account.messages, position as usize);
        push(counts, Some(position), &mut rendering.losses);
    }
    if rendering.losses.len() > before {
        rendering.losses.sort_by_key(|loss| (loss.position, loss.code));
    }
}

/// Returns the positions of the messages that a rendering shows, may
/// quote, or takes from system text before its window; ascending.
pub(crate) fn shown(linked: &Linked, rendering: &Rendering) -> Vec<u32> {
    let Some(last) = rendering.last_position else {
        return Vec::new();
    };
    let first = rendering.first_position.unwrap_or(last + 1);
    // Single turns have nothing before them, and there may be as many as
    // messages, so the search would be quadratic; windows are limited in number.
    let ahead = match rendering.coverage {
        Coverage::Window => first as usize,
        Coverage::Whole | Coverage::SingleTurn => 0,
    };
    let ahead = linked.conversation.messages.iter().take(ahead);
    let ahead = ahead.filter(|message| message.role == Role::System);
    let links = cut::slice(&linked.links, first as usize..last as usize + 1);
    let quoted = links.iter().flatten().filter_map(|link| link.target);
    let mut positions: Vec<u32> = ahead
        .map(|message| message.position)
        .chain(quoted)
        .chain(first..=last)
        .collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

fn push(counts: &Counts, position: Option<u32>, losses: &mut Vec<Loss>) {
    losses.extend(counts.kinds().map(|(kind, amount)| Loss {
        code: LossCode::Redacted,
        position,
        amount,
        reason: reason(kind),
    }));
}

const fn reason(kind: PersonalKind) -> LossReason {
    match kind {
        PersonalKind::Email => pseudonyms::EMAIL_REPLACED,
        PersonalKind::Phone => pseudonyms::PHONE_REPLACED,
        PersonalKind::Ip => pseudonyms::IP_REPLACED,
        PersonalKind::Card => pseudonyms::CARD_REPLACED,
        PersonalKind::Iban => pseudonyms::IBAN_REPLACED,
        PersonalKind::Secret => pseudonyms::SECRET_REPLACED,
        PersonalKind::Name => pseudonyms::NAME_REPLACED,
    }
}
