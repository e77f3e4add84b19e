//! What a dialect's conversations allow, in switches and names of rules: a profile in one value, by which passes go.

use chatmill_model::{Media, Vendor};

use crate::loss::rule::DialectRule;
use crate::loss::{LossReason, reasons};
use crate::messages::order::Order;
use crate::naming::calls::IdRule;
use crate::naming::tools::NameRule;
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::Form;
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::transcript::turns::Block;

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
    /// Joined into one from one media item to the next.
    JoinedBetweenMedia,
    /// Joined into one unless a cache mark stands on one of them.
    JoinedWithoutMarks,
    /// Each in a block of its own, but for those of an answer: readers join its neighbouring blocks with nothing between.
    BlocksOfOthers,
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

/// What may bear a cache mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarksOn {
    /// Every block.
    Everything,
    /// Texts, and results that are not empty.
    TextsAndResults,
    /// Texts.
    Texts,
}

/// How turns are put together in a way that only one dialect has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Turns stand as they are.
    Turns,
    /// Questions and answers alternate; a call is an answer of its own, and text beside it follows its result. The rules that
    /// want it so.
    Rounds {
        /// Who speaks after whom.
        order: &'static DialectRule,
        /// Calls follow one another, and have no ids.
        calls: &'static DialectRule,
        /// A call holds no text beside it.
        texts: &'static DialectRule,
    },
    /// Calls stand beside the turn that made them; the rule.
    Items(&'static DialectRule),
    /// Older turns are one text with a cache mark.
    History,
}

impl Shape {
    /// Whether two neighbouring blocks of a turn are in items of their own.
    pub(crate) fn separates(self, one: &Block<'_>, next: &Block<'_>) -> bool {
        matches!(self, Self::Items(_)) && (one.is_call() != next.is_call() || one.is_item() || next.is_item())
    }
}

/// The control tokens around the turns of a dialect, and the rule that nothing else spells them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlTokenRule {
    /// What opens a turn.
    pub(crate) opening: &'static str,
    /// What closes it.
    pub(crate) closing: &'static str,
    /// The rule.
    pub(crate) rule: &'static DialectRule,
}

/// What a dialect's conversations allow.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct DialectProfile {
    /// The rule that gives speakers a field for their names; none: there is no such field.
    pub(crate) name_field: Option<&'static DialectRule>,
    /// Why nobody is named, not even before the text; none: where there is no field, a name may stand there.
    pub(crate) nameless: Option<LossReason>,
    /// Whether all agents are the assistant, and not the perspective alone.
    pub(crate) agents_are_one: bool,
    /// In which order turns stand.
    pub(crate) order: Order,
    /// How they are put together.
    pub(crate) shape: Shape,
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
    /// The rule that wants calls and text of an answering turn separate, if any.
    pub(crate) splits_calls: Option<&'static DialectRule>,
    /// How many facts about a media item have no place where a user turn carries it, if it can carry this one; none: it carries no
    /// media, only their names.
    pub(crate) carries: Option<fn(&Media) -> Option<u64>>,
    /// The same of a media item that is part of a tool's answer; none: its words stand in the answer's text.
    pub(crate) carries_in_results: Option<fn(&Media) -> Option<u64>>,
    /// Whether a file needs text beside it.
    pub(crate) files_need_text: bool,
    /// Whether somebody has to fetch a media item that is carried first; none: nobody has to.
    pub(crate) must_be_fetched: Option<fn(&Media) -> bool>,
    /// Why facts about a carried medium are lost.
    pub(crate) media_rule: LossReason,
    /// Why media are only named in turns that are not a user's.
    pub(crate) media_rule_plain: LossReason,
    /// Where the assistant's reasoning stands, if policy keeps it.
    pub(crate) thoughts: Thoughts,
    /// Cache marks that a conversation may hold, and the rule that limits them.
    pub(crate) cache_marks: Option<(usize, LossReason)>,
    /// What may bear one.
    pub(crate) marks_on: MarksOn,
    /// Whether results have a flag for failures.
    pub(crate) marks_errors: bool,
    /// Why results stand under a key; none: they stand alone.
    pub(crate) wraps_results: Option<LossReason>,
    /// Whether a result that is a JSON object, and a failure or none, stands as that object; none: never.
    pub(crate) object_results: Option<fn(&str, bool) -> bool>,
    /// What stands for a result of nothing, and why; none: it may be empty.
    pub(crate) empty_result: Option<(&'static str, LossReason)>,
    /// How arguments are written.
    pub(crate) arguments: ArgumentsAs,
    /// Why large numbers in arguments lose digits; none: they do not.
    pub(crate) rounds_numbers: Option<LossReason>,
    /// Ids of calls.
    pub(crate) ids: IdRule,
    /// Why calls are written without their ids; none: they have them.
    pub(crate) drops_ids: Option<LossReason>,
    /// Names of tools.
    pub(crate) tool_names: NameRule,
    /// The form of definitions; none: there are none.
    pub(crate) definitions: Option<Form>,
    /// What the vendor takes as the parameters of a tool; none: any schema.
    pub(crate) schemas: Option<&'static SchemaRules>,
    /// Why definitions are synthesised for tools that are used and not defined; none: they are not.
    pub(crate) makes_definitions: Option<LossReason>,
    /// What text must not spell; none: nothing is reserved.
    pub(crate) control_tokens: Option<ControlTokenRule>,
    /// Whether the first text of a turn must not begin like gryag's line of ids.
    pub(crate) escapes_lines: bool,
    /// The rule that pairs calls with results.
    pub(crate) pairing: &'static DialectRule,
    /// The rule that a conversation without turns breaks, and what is wrong.
    pub(crate) silent: (&'static DialectRule, &'static str),
    /// Ids of messages have a place.
    pub(crate) keeps_message_ids: bool,
    /// The vendor whose items are written as they are.
    pub(crate) items: Option<Vendor>,
}

impl DialectProfile {
    /// The plainest profile: text, calls and results in turns as they come; media have no place, for a reason.
    pub(crate) const fn plain(
        ids: IdRule,
        tool_names: NameRule,
        silent: (&'static DialectRule, &'static str),
        media_rule: LossReason,
    ) -> Self {
        Self {
            name_field: None,
            nameless: None,
            agents_are_one: false,
            order: Order::Paired,
            shape: Shape::Turns,
            results: Results::OwnTurns,
            merging: None,
            user_first: None,
            system: SystemPlace::Anywhere,
            texts: Texts::Joined,
            blank_is_empty: false,
            trims_end: None,
            splits_calls: None,
            carries: None,
            carries_in_results: None,
            files_need_text: false,
            must_be_fetched: None,
            media_rule,
            media_rule_plain: media_rule,
            thoughts: Thoughts::Nowhere(reasons::MESSAGES_HAVE_NO_REASONING),
            cache_marks: None,
            marks_on: MarksOn::Everything,
            marks_errors: false,
            wraps_results: None,
            object_results: None,
            empty_result: None,
            arguments: ArgumentsAs::Text,
            rounds_numbers: None,
            pairing: ids.unique,
            ids,
            drops_ids: None,
            tool_names,
            definitions: None,
            schemas: None,
            makes_definitions: None,
            control_tokens: None,
            escapes_lines: false,
            silent,
            keeps_message_ids: false,
            items: None,
        }
    }
}
