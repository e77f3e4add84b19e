//! The profile that passes apply: what a dialect allows, as switches and as the rules that demand them.

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

/// Where results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// Each in a separate turn.
    OwnTurns,
    /// All results of a turn's calls in one turn that has nothing else.
    OneTurn,
    /// All results of a turn's calls at the beginning of the user turn that follows.
    UserTurn,
}

/// Where system text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemPlace {
    /// In turns, anywhere.
    Anywhere,
    /// In turns at the start; later text becomes a user turn.
    Start,
    /// Outside the turns; later text becomes a user turn.
    Outside,
}

/// How the texts of a message are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// Joined into one.
    Joined,
    /// Joined into one, unless there is a media item among them.
    JoinedWithoutMedia,
    /// Joined into one between two media items.
    JoinedBetweenMedia,
    /// Joined into one, unless one of them has a cache mark.
    JoinedWithoutMarks,
    /// Each in a separate block, except in turns of the assistant: readers join neighbouring blocks there without a separator.
    BlocksOfOthers,
    /// Each in a separate block.
    Blocks,
}

/// Where the assistant's reasoning is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thoughts {
    /// Nowhere, for this reason.
    Nowhere(LossReason),
    /// In a field of the turn.
    Field,
    /// Before the text, between `<think>` and `</think>`.
    Tagged,
}

/// The blocks that may have a cache mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarksOn {
    /// Every block.
    Everything,
    /// Texts, and results that are not empty.
    TextsAndResults,
    /// Texts.
    Texts,
}

/// How turns are combined, in a way that only one dialect has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Turns are not combined.
    Turns,
    /// Questions and answers alternate, and a turn with calls counts as an answer. The fields are the rules that demand this.
    Rounds {
        /// The order of speakers.
        order: &'static DialectRule,
        /// Calls and results are paired by their order and have no ids.
        calls: &'static DialectRule,
        /// After a text, calls are between tags, which the text must not spell.
        texts: &'static DialectRule,
    },
    /// Calls are items next to the turn that made them, by this rule.
    Items(&'static DialectRule),
    /// Older turns are merged into one text with a cache mark.
    History,
}

impl Shape {
    /// Whether two neighbouring blocks of a turn are written as separate items.
    pub(crate) fn separates(self, one: &Block<'_>, next: &Block<'_>) -> bool {
        matches!(self, Self::Items(_)) && (one.is_call() != next.is_call() || one.is_item() || next.is_item())
    }
}

/// The control tokens around the turns of a dialect, and the rule that no text spells them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlTokenRule {
    /// The token that opens a turn.
    pub(crate) opening: &'static str,
    /// The token that closes a turn.
    pub(crate) closing: &'static str,
    /// The rule that no text spells them.
    pub(crate) rule: &'static DialectRule,
}

/// What a dialect's conversations allow.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct DialectProfile {
    /// The rule that gives speakers a field for their names; `None`: there is no such field.
    pub(crate) name_field: Option<&'static DialectRule>,
    /// Why no names are written, not even before the text; `None`: without a field, names may be written before the text.
    pub(crate) nameless: Option<LossReason>,
    /// Whether all agents are the assistant, not only the perspective.
    pub(crate) agents_are_one: bool,
    /// How turns are ordered and which of them have a place.
    pub(crate) order: Order,
    /// How turns are combined.
    pub(crate) shape: Shape,
    /// Where results are written.
    pub(crate) results: Results,
    /// The rule that merges two turns of one speaker in a row; `None`: they are allowed.
    pub(crate) merging: Option<&'static DialectRule>,
    /// The rule that a user turn comes first; `None`: any turn may come first.
    pub(crate) user_first: Option<&'static DialectRule>,
    /// Where system text is written.
    pub(crate) system: SystemPlace,
    /// How the texts of a message are written.
    pub(crate) texts: Texts,
    /// Whether text that is only white space counts as empty.
    pub(crate) blank_is_empty: bool,
    /// The rule that forbids white space at the end of the last turn.
    pub(crate) trims_end: Option<&'static DialectRule>,
    /// The rule that text and calls of the assistant are separate turns; `None`: a turn may have both.
    pub(crate) splits_calls: Option<&'static DialectRule>,
    /// Returns how many facts about a media item are lost where a user turn carries it, or `None` if it cannot carry this one. Without a
    /// function, user turns carry no media and only name them.
    pub(crate) carries: Option<fn(&Media) -> Option<u64>>,
    /// The same for a media item in the result of a tool; without a function, the text of the result names the media.
    pub(crate) carries_in_results: Option<fn(&Media) -> Option<u64>>,
    /// Whether a message with a file must also have text.
    pub(crate) files_need_text: bool,
    /// Whether a medium must be downloaded before the rendering can be used; `None`: never.
    pub(crate) must_be_fetched: Option<fn(&Media) -> bool>,
    /// Why facts about a carried medium are lost.
    pub(crate) media_rule: LossReason,
    /// Why turns of other roles only name media.
    pub(crate) media_rule_plain: LossReason,
    /// Where the assistant's reasoning is written, if policy keeps it.
    pub(crate) thoughts: Thoughts,
    /// The maximum number of cache marks in a conversation, and the reason of the limit; `None`: there are no cache marks.
    pub(crate) cache_marks: Option<(usize, LossReason)>,
    /// The blocks that may have a cache mark.
    pub(crate) marks_on: MarksOn,
    /// Whether results have a flag for failures.
    pub(crate) marks_errors: bool,
    /// Why results are wrapped in an object under a key; `None`: they are not wrapped.
    pub(crate) wraps_results: Option<LossReason>,
    /// Whether a result that is a JSON object, and is a failure or not, is written as that object; `None`: never.
    pub(crate) object_results: Option<fn(&str, bool) -> bool>,
    /// The replacement for an empty result, and the reason; `None`: a result may be empty.
    pub(crate) empty_result: Option<(&'static str, LossReason)>,
    /// How arguments are written.
    pub(crate) arguments: ArgumentsAs,
    /// Why large numbers in arguments lose digits; `None`: they keep them.
    pub(crate) rounds_numbers: Option<LossReason>,
    /// The rules for ids of calls.
    pub(crate) ids: IdRule,
    /// Why calls are written without ids; `None`: they have ids.
    pub(crate) drops_ids: Option<LossReason>,
    /// The rules for names of tools.
    pub(crate) tool_names: NameRule,
    /// The form of tool definitions; `None`: definitions are not written.
    pub(crate) definitions: Option<Form>,
    /// The schemas that the vendor accepts as parameters of a tool; `None`: any schema.
    pub(crate) schemas: Option<&'static SchemaRules>,
    /// Why definitions are synthesised for tools that are used and not defined; `None`: they are not.
    pub(crate) makes_definitions: Option<LossReason>,
    /// The control tokens that text must not spell; `None`: no text is reserved.
    pub(crate) control_tokens: Option<ControlTokenRule>,
    /// Whether a first text of a turn that begins like gryag's line of ids is escaped.
    pub(crate) escapes_lines: bool,
    /// The rule that pairs calls with results.
    pub(crate) pairing: &'static DialectRule,
    /// The rule that a conversation without turns breaks, and the problem in words.
    pub(crate) empty_conversation: (&'static DialectRule, &'static str),
    /// Whether ids of messages have a place.
    pub(crate) keeps_message_ids: bool,
    /// The vendor whose items are written unchanged.
    pub(crate) items: Option<Vendor>,
}

impl DialectProfile {
    /// The plainest profile: texts, calls and results in turns as they come. Media are named in the text for the reason `media_rule`.
    pub(crate) const fn plain(
        ids: IdRule,
        tool_names: NameRule,
        empty_conversation: (&'static DialectRule, &'static str),
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
            empty_conversation,
            keeps_message_ids: false,
            items: None,
        }
    }
}
