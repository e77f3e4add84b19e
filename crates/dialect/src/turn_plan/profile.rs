//! What a dialect's conversations allow, in switches and names of rules: a profile in one value.

use chatmill_model::Media;

use super::ids::IdRule;
use super::tool_names::NameRule;
use crate::filter::Filter;
use crate::loss::LossReason;
use crate::rules::DialectRule;

/// In which order calls, results and everything else are said.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Every result directly after its call; whole turns move.
    Paired,
    /// As in the source, less what a filter leaves out.
    Filtered(&'static Filter),
    /// The dialect has no tools, for this reason: what uses them is left out.
    Toolless(LossReason),
}

/// Where results stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// Each in a turn of its own.
    OwnTurns,
    /// All answers to a turn in one turn that holds nothing else.
    OneTurn,
    /// All answers to a turn at the head of the user turn that follows.
    UserTurn,
}

/// Where system text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemPlace {
    /// In turns, anywhere.
    Anywhere,
    /// In turns at the start; later text becomes a user turn.
    Start,
    /// Outside the turns; later text becomes a user turn.
    Outside,
}

/// How the texts of a message stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// Joined into one.
    Joined,
    /// Joined into one unless a media item stands among them.
    JoinedWithoutMedia,
    /// Joined into one unless a cache mark stands on one of them.
    JoinedWithoutMarks,
    /// Each in a block of its own.
    Blocks,
}

/// Where the assistant's reasoning stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thoughts {
    /// Nowhere, for this reason.
    Nowhere(LossReason),
    /// In a field of the turn.
    Field,
    /// Before the text, between `<think>` and `</think>`.
    Tagged,
}

/// A dialect that carries no media.
pub(crate) fn nothing(_: &Media) -> Option<Carried> {
    None
}

/// What a dialect's conversations allow.
#[derive(Clone, Copy)]
pub(crate) struct DialectProfile {
    /// The rule that gives speakers a field for their names; none: there is no such field.
    pub(crate) name_field: Option<&'static DialectRule>,
    /// Why nobody is named, not even before the text; none: where there is no field, a name may stand there.
    pub(crate) nameless: Option<LossReason>,
    /// In which order turns stand.
    pub(crate) order: Order,
    /// Where results stand.
    pub(crate) results: Results,
    /// The rule that makes one turn of two in a row; none: it is allowed.
    pub(crate) merging: Option<&'static DialectRule>,
    /// The rule that wants a user first; none: it is not wanted.
    pub(crate) user_first: Option<&'static DialectRule>,
    /// Where system text stands.
    pub(crate) system: SystemPlace,
    /// How texts stand.
    pub(crate) texts: Texts,
    /// Whether text that is white space only counts as no text.
    pub(crate) blank_is_empty: bool,
    /// The rule that forbids white space at the end of the last turn.
    pub(crate) trims_end: Option<&'static DialectRule>,
    /// Whether an answering turn keeps calls and text apart: the rule that wants it so.
    pub(crate) splits_calls: Option<&'static DialectRule>,
    /// What a user turn can carry of a media item; none: only its name.
    pub(crate) carries: fn(&Media) -> Option<Carried>,
    /// Why facts about a carried medium are lost.
    pub(crate) media_rule: LossReason,
    /// Why media are only named in turns that are not a user's.
    pub(crate) media_rule_plain: LossReason,
    /// Where the assistant's reasoning stands, if policy keeps it.
    pub(crate) thoughts: Thoughts,
    /// Cache marks that a conversation may hold, and the rule that says so.
    pub(crate) cache_marks: Option<(usize, LossReason)>,
    /// Whether results say that they are failures.
    pub(crate) marks_errors: bool,
    /// Ids of calls.
    pub(crate) ids: IdRule,
    /// Names of tools.
    pub(crate) tool_names: NameRule,
    /// The rule that pairs calls with results.
    pub(crate) pairing: &'static DialectRule,
    /// The rule that a conversation without turns breaks, and what is wrong.
    pub(crate) silent: (&'static DialectRule, &'static str),
    /// Ids of messages have a place.
    pub(crate) keeps_message_ids: bool,
}

/// What becomes of a media item that is carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Facts about it that have no place.
    pub(crate) facts_lost: u64,
    /// Whether somebody has to fetch it first.
    pub(crate) needs_fetch: bool,
}

impl Carried {
    /// A media item of which only these facts are not written.
    pub(crate) fn without(facts: [bool; 2]) -> Self {
        Self {
            facts_lost: facts.into_iter().map(u64::from).sum(),
            needs_fetch: false,
        }
    }
}
