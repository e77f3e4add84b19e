//! What a rendering could not carry, and which rules it breaks: the vocabulary and the entries of the loss ledger.
//!
//! Here are words and sums. Who loses something declares it with a code and a reason of the list; the rules of a dialect stand in its file.
//!
//! Why: docs/decisions/2026-11-22-losses-table-rows.md.

mod reason;
pub(crate) mod reasons;
pub(crate) mod rule;
pub(crate) mod violation;

use chatmill_diag::cut;
pub(crate) use reason::LossCause;
pub use reason::LossReason;

/// Why personal data and secrets are not in a rendering, one reason for each kind.
pub mod pseudonyms {
    pub use super::reasons::{
        CARD_REPLACED, EMAIL_REPLACED, IBAN_REPLACED, IP_REPLACED, NAME_REPLACED, PHONE_REPLACED,
        SECRET_REPLACED,
    };
}

macro_rules! loss_codes {
    ($(#[doc = $doc:literal] $name:ident = $word:literal,)*) => {
        /// What kind of thing was lost or changed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum LossCode { $(#[doc = $doc] $name,)* }

        impl LossCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word that tables use.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// What happened, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }.trim()
            }
        }
    };
}

loss_codes! {
    /// A name has no place.
    NameDropped = "name-dropped",
    /// A name stands before the text.
    NameInlined = "name-inlined",
    /// A name was made up for somebody who has none.
    NameSynthesised = "name-synthesised",
    /// A name is written in another spelling that the dialect allows.
    NameAliased = "name-aliased",
    /// Signs that the dialect reads as its own were taken out of a name.
    NameCleaned = "name-cleaned",
    /// A message speaks in another role than in the source.
    RoleMapped = "role-mapped",
    /// Turns were merged.
    TurnMerged = "turn-merged",
    /// A turn stands elsewhere than in the source.
    TurnMoved = "turn-moved",
    /// A turn was split.
    TurnSplit = "turn-split",
    /// System text was moved to where the dialect keeps it.
    SystemHoisted = "system-hoisted",
    /// System text became a turn.
    SystemInlined = "system-inlined",
    /// System text has no place, or policy left it out.
    SystemDropped = "system-dropped",
    /// Text was added as system text that is not a message of the source.
    SystemAdded = "system-added",
    /// The id of a call was made up or changed.
    ToolIdRewritten = "tool-id-rewritten",
    /// The name of a tool was made up or changed.
    ToolNameRewritten = "tool-name-rewritten",
    /// The id of a call has no place.
    ToolIdDropped = "tool-id-dropped",
    /// A call has no place, or has no result and was left out.
    ToolCallDropped = "tool-call-dropped",
    /// The result of a call has no place, or its call was left out.
    ToolResultDropped = "tool-result-dropped",
    /// The definition of a tool has no place.
    ToolDefinitionDropped = "tool-definition-dropped",
    /// The definition of a tool was made up.
    ToolDefinitionSynthesised = "tool-definition-synthesised",
    /// The definition of a tool was added that the source does not have.
    ToolDefinitionAdded = "tool-definition-added",
    /// A result without a call was left out.
    OrphanResultDropped = "orphan-result-dropped",
    /// A result without a call became text.
    OrphanResultInlined = "orphan-result-inlined",
    /// A result was made up for a call that has none.
    MissingResultSynthesised = "missing-result-synthesised",
    /// A result was moved up to its call.
    ResultLateMoved = "result-late-moved",
    /// A result was moved down to its call.
    ResultEarlyMoved = "result-early-moved",
    /// A further result for an answered call was left out.
    DuplicateResult = "duplicate-result",
    /// Arguments that are not JSON were replaced or wrapped.
    ArgsMalformed = "args-malformed",
    /// Arguments that are not an object were replaced or wrapped.
    ArgsNotObject = "args-not-object",
    /// Arguments were written in another form than in the source.
    ArgsReserialised = "args-reserialised",
    /// A number lost digits.
    NumberPrecision = "number-precision",
    /// A result was put into an object.
    ResultWrapped = "result-wrapped",
    /// That a result is a failure has no place.
    ErrorFlagDropped = "error-flag-dropped",
    /// A media item was left out.
    MediaDropped = "media-dropped",
    /// A media item is only named in the text.
    MediaPlaceholder = "media-placeholder",
    /// A media item must be fetched before the rendering can be used.
    MediaNeedsFetch = "media-needs-fetch",
    /// Name, type or other description of a carried medium has no place.
    MediaDescriptionDropped = "media-description-dropped",
    /// Parts were joined into one text.
    PartFlattened = "part-flattened",
    /// Parts stand in another order.
    PartMoved = "part-moved",
    /// Text has no place beside the calls with which a conversation ends.
    TextDropped = "text-dropped",
    /// Text was put where the source has none.
    EmptyFilled = "empty-filled",
    /// A message that says nothing was left out.
    EmptyDropped = "empty-dropped",
    /// Reasoning was left out.
    ReasoningDropped = "reasoning-dropped",
    /// A cache mark was left out.
    CacheMarkDropped = "cache-mark-dropped",
    /// Cache marks beyond the dialect's number were left out.
    CacheMarkCapped = "cache-mark-capped",
    /// Times have no place.
    TimestampDropped = "timestamp-dropped",
    /// Message ids have no place.
    MessageIdDropped = "message-id-dropped",
    /// A message id was made up.
    MessageIdSynthesised = "message-id-synthesised",
    /// The id of a conversation was made up.
    ConversationIdSynthesised = "conversation-id-synthesised",
    /// The title of a conversation was made up.
    TitleSynthesised = "title-synthesised",
    /// A place in the roster was made up for somebody of whom nothing is known but that he speaks or is quoted.
    ParticipantSynthesised = "participant-synthesised",
    /// Who sent a message is unknown, and the dialect wants to know.
    SenderMissing = "sender-missing",
    /// How much a message counts in training has no place.
    WeightDropped = "weight-dropped",
    /// Mentions have no place.
    MentionDropped = "mention-dropped",
    /// A notice was left out.
    NoticeDropped = "notice-dropped",
    /// Facts about a participant have no place.
    ParticipantDropped = "participant-dropped",
    /// Facts about the conversation have no place.
    MetadataDropped = "metadata-dropped",
    /// Further fields of a message have no place.
    ExtraDropped = "extra-dropped",
    /// A reply is quoted in the text.
    ReferenceInlined = "reference-inlined",
    /// Of a quoted message that the rendering shows, only the beginning or the author is said.
    ReferenceShortened = "reference-shortened",
    /// A reply has no place, or policy left it out.
    ReferenceDropped = "reference-dropped",
    /// A reply to something that is not there, or that must not be quoted.
    ReferenceUnresolved = "reference-unresolved",
    /// What a quoted message refers to in its turn has no place.
    ReferenceNested = "reference-nested",
    /// Text that the dialect reserves was escaped.
    ReservedTextEscaped = "reserved-text-escaped",
    /// Text holds a control token.
    SpecialTokenInText = "special-token-in-text",
    /// Control characters were removed.
    ControlCharacterRemoved = "control-character-removed",
    /// White space at the ends of a quote was removed.
    WhitespaceTrimmed = "whitespace-trimmed",
    /// Line breaks became spaces.
    NewlineReplaced = "newline-replaced",
    /// Metadata that had leaked into a text was removed.
    LeakedMetadataRemoved = "leaked-metadata-removed",
    /// Text was shortened, or older messages lie outside the window.
    Truncated = "truncated",
    /// Personal data or a secret was replaced by a pseudonym, as the pipeline's `[redact]` asks.
    Redacted = "redacted",
    /// A date was fixed.
    DatePinned = "date-pinned",
}

/// Codes of several lists as one, in order and each once.
pub(crate) fn united(lists: &[&[LossCode]]) -> Vec<LossCode> {
    let mut codes = lists.concat();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// One entry of the loss ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What kind of loss.
    pub code: LossCode,
    /// Position of the message; none when the dialect inflicts it on every message by its nature.
    pub position: Option<u32>,
    /// Occurrences.
    pub amount: u64,
    /// Why.
    pub reason: LossReason,
}

/// All that a rendering lost of one kind for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedLoss<'p> {
    /// What kind of loss.
    pub code: LossCode,
    /// Why.
    pub reason: LossReason,
    /// Occurrences.
    pub amount: u64,
    /// Positions of the messages, ascending; empty when the whole rendering is meant.
    pub positions: &'p [u32],
}

/// The losses of a rendering, one entry for each code and reason; its allocation serves the next rendering again.
#[derive(Debug, Default)]
pub struct FoldedLosses {
    entries: Vec<Fold>,
    /// For each loss the number of its entry.
    numbers: Vec<usize>,
    positions: Vec<u32>,
}

#[derive(Debug)]
struct Fold {
    code: LossCode,
    reason: LossReason,
    amount: u64,
    /// Its newest position.
    last: Option<u32>,
    /// How many positions it has, and later where they begin.
    places: usize,
}

impl FoldedLosses {
    /// Folds losses, which come in order of position; entries stand in order of first appearance.
    pub fn fold(&mut self, losses: &[Loss]) -> impl Iterator<Item = FoldedLoss<'_>> {
        self.entries.clear();
        self.numbers.clear();
        for loss in losses {
            let number = self.add(loss);
            self.numbers.push(number);
        }
        let mut start = 0;
        for entry in &mut self.entries {
            entry.last = None;
            let places = std::mem::replace(&mut entry.places, start);
            start += places;
        }
        self.positions.clear();
        self.positions.resize(start, 0);
        for (loss, number) in losses.iter().zip(&self.numbers) {
            let entry = cut::at_mut(&mut self.entries, *number);
            if let Some(position) = loss.position.filter(|_| entry.last < loss.position) {
                *cut::at_mut(&mut self.positions, entry.places) = position;
                entry.last = loss.position;
                entry.places += 1;
            }
        }
        let (mut start, positions) = (0, self.positions.as_slice());
        self.entries.iter().map(move |entry| FoldedLoss {
            code: entry.code,
            reason: entry.reason,
            amount: entry.amount,
            positions: {
                let from = std::mem::replace(&mut start, entry.places);
                cut::slice(positions, from..entry.places)
            },
        })
    }

    /// Adds a loss to its entry, and gives that one's number.
    fn add(&mut self, loss: &Loss) -> usize {
        // A rendering knows a handful of reasons: looking through them is cheaper than hashing their words.
        let is_known = |entry: &Fold| entry.code == loss.code && entry.reason == loss.reason;
        let mut known = self.entries.iter_mut().enumerate();
        if let Some((number, entry)) = known.find(|(_, entry)| is_known(entry)) {
            entry.amount += loss.amount;
            entry.places += usize::from(entry.last < loss.position);
            entry.last = entry.last.max(loss.position);
            return number;
        }
        self.entries.push(Fold {
            code: loss.code,
            reason: loss.reason,
            amount: loss.amount,
            last: loss.position,
            places: usize::from(loss.position.is_some()),
        });
        self.entries.len() - 1
    }
}

/// Losses while a rendering is being made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses(Vec<Loss>);

impl Losses {
    /// A loss at one message.
    pub(crate) fn at(&mut self, cause: impl Into<LossCause>, position: u32) {
        self.add(cause, Some(position), 1);
    }

    /// Several equal losses at one message; nothing when there are none.
    pub(crate) fn several(&mut self, cause: impl Into<LossCause>, position: u32, amount: u64) {
        self.add(cause, Some(position), amount);
    }

    /// A loss that lies in the dialect's nature; nothing when it touches nothing.
    pub(crate) fn whole_rendering(&mut self, cause: impl Into<LossCause>, amount: u64) {
        self.add(cause, None, amount);
    }

    /// Equal losses at one message, or in the dialect's nature where there is none; nothing when there are none.
    pub(crate) fn add(&mut self, cause: impl Into<LossCause>, position: Option<u32>, amount: u64) {
        let LossCause { code, reason } = cause.into();
        if amount > 0 {
            self.0.push(Loss {
                code,
                position,
                amount,
                reason,
            });
        }
    }

    /// The losses in order of position and code, those without a position first; equal ones are added up.
    pub(crate) fn finish(mut self) -> Vec<Loss> {
        let key = |loss: &Loss| (loss.position, loss.code, loss.reason);
        // Each pass adds its losses in order: a stable sort merges them.
        self.0.sort_by_key(key);
        self.0.dedup_by(|next, first| {
            let is_equal = key(next) == key(first);
            if is_equal {
                first.amount += next.amount;
            }
            is_equal
        });
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_kebab_word_of_its_own() {
        let words: std::collections::BTreeSet<_> = LossCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), LossCode::ALL.len());
        for word in words {
            assert!(
                word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'),
                "{word}"
            );
        }
    }

    #[test]
    fn losses_fold_into_one_entry_for_each_code_and_reason() {
        let mut losses = Losses::default();
        losses.whole_rendering(reasons::NO_PLACE_FOR_TIMES, 4);
        losses.at(reasons::POLICY_DROPS_MEDIA, 1);
        losses.several(reasons::POLICY_DROPS_MEDIA, 3, 2);
        losses.at((LossCode::MediaDropped, reasons::NO_PLACE_FOR_TIMES.reason), 2);
        let losses = losses.finish();
        let mut folded = FoldedLosses::default();
        let seen: Vec<_> = folded
            .fold(&losses)
            .map(|loss| (loss.code, loss.reason, loss.amount, loss.positions.to_vec()))
            .collect();
        assert_eq!(
            seen,
            [
                (
                    LossCode::TimestampDropped,
                    reasons::NO_PLACE_FOR_TIMES.reason,
                    4,
                    vec![]
                ),
                (
                    LossCode::MediaDropped,
                    reasons::POLICY_DROPS_MEDIA.reason,
                    3,
                    vec![1, 3]
                ),
                (
                    LossCode::MediaDropped,
                    reasons::NO_PLACE_FOR_TIMES.reason,
                    1,
                    vec![2]
                ),
            ]
        );
    }

    #[test]
    fn equal_losses_add_up_and_come_out_in_order() {
        let mut losses = Losses::default();
        losses.at(reasons::POLICY_DROPS_MEDIA, 3);
        losses.at(reasons::POLICY_DROPS_MEDIA, 3);
        losses.at(reasons::MESSAGE_IS_EMPTY, 1);
        losses.whole_rendering(reasons::NO_PLACE_FOR_TIMES, 4);
        losses.whole_rendering(reasons::NO_PLACE_FOR_MENTIONS, 0);
        let losses = losses.finish();
        let seen: Vec<_> = losses
            .iter()
            .map(|loss| (loss.position, loss.code, loss.amount))
            .collect();
        assert_eq!(
            seen,
            [
                (None, LossCode::TimestampDropped, 4),
                (Some(1), LossCode::EmptyDropped, 1),
                (Some(3), LossCode::MediaDropped, 2),
            ]
        );
    }
}
