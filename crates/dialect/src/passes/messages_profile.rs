//! The profile of message lists as chat templates read them: `hf-messages` writes them, and every template gets them.

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::profile::{DialectProfile, Thoughts};
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::Form;

rules! {
    /// one set of columns: `messages`, with `tools` where there are some, and roles that templates know
    HFM_01 = "HFM-01";
    /// no key is null: a template that looks at a null list of calls fails
    HFM_02 = "HFM-02";
    /// content is a string, because templates drop or garble lists; a user's content with pictures is a list of texts and of pictures, each
    /// by address or path
    HFM_03 = "HFM-03";
    /// arguments are an object, or text in profile `string-arguments`, which some templates want
    HFM_04 = "HFM-04";
    /// results follow their calls directly, in the order of the calls
    HFM_05 = "HFM-05";
    /// there is at least one message
    HFM_06 = "HFM-06";
    /// reasoning is the field `reasoning_content` of the assistant, which templates of reasoning models
    /// read
    HFM_07 = "HFM-07";
}

/// The profile of the messages that a template gets.
pub(crate) const PROFILE: DialectProfile = DialectProfile {
    thoughts: Thoughts::Field,
    arguments: ArgumentsAs::Object(HFM_04),
    definitions: Some(Form::Nested),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(usize::MAX), HFM_05, HFM_05),
        NameRule::new(None, reasons::CALL_HAS_A_NAME.by(HFM_05)),
        (HFM_06, "no message is left"),
        reasons::CONTENT_IS_TEXT.by(HFM_03),
    )
};
