//! Message lists in the shape of Chat Completions, which several vendors and trainers adopted.
//!
//! ```json
//! {"messages":[{"role":"user","name":"Alice","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, Texts};
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::Form;
use crate::tools::hosted::Hosts;
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::write::list::List;
use crate::write::picture::picture_or_file;

rules! {
    /// roles are system, user, assistant and tool
    OAC_01 = "OAC-01";
    /// content is a string or a list of parts that is not empty; there is at least one message
    OAC_02 = "OAC-02";
    /// user turns have text, pictures by web address or as jpeg, png, gif, webp in a data URL, and files as data URLs or by id; all other
    /// turns have only text
    OAC_03 = "OAC-03";
    /// an assistant's turn without content has calls
    OAC_04 = "OAC-04";
    /// a call has an id of 1 to 40 characters, a name and arguments as text, or free text as the input of
    /// a custom tool; no list of calls is empty
    OAC_05 = "OAC-05";
    /// every call that another turn follows is answered directly after its turn, once; every result has such
    /// a call
    OAC_06 = "OAC-06";
    /// the name of a function is `[a-zA-Z0-9_-]{1,64}`
    OAC_07 = "OAC-07";
    /// the name of a participant is `[a-zA-Z0-9_-]{1,64}`
    OAC_08 = "OAC-08";
    /// a result has no name
    OAC_09 = "OAC-09";
    /// the parameters of a tool are an object with `properties`, valid in JSON Schema 2020-12, without `anyOf`, `oneOf`, `allOf`, `enum`
    /// and `not` at the root; an array has `items`; a strict tool requires all properties and accepts no others, in at most ten levels and
    /// without keywords that the page does not list
    OAC_10 = "OAC-10";
}

/// Chat Completions requests.
pub(crate) static OPENAI_CHAT: Dialect =
    Dialect::turns(&ABOUT, &PROFILE, |plan, sink| LIST.write(plan, sink));

const LIST: List = List {
    arguments: ArgumentsAs::TextOrInput,
    ..List::PLAIN
};

static ABOUT: DialectAbout = DialectAbout {
    id: "openai-chat",
    title: "OpenAI Chat Completions",
    family: "openai-chat",
    media_type: "application/json",
    specification: "OpenAI API reference, OpenAPI document 2.3.0",
    dated: "2026-08-01",
    carries: "text, names of users, tools, pictures by web address or as bytes, files as bytes, quoted replies",
    profiles: &[&OPENAI_CHAT],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

static PROFILE: DialectProfile = DialectProfile {
    name_field: Some(OAC_08),
    texts: Texts::JoinedWithoutMedia,
    carries: Some(picture_or_file),
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY.by(OAC_03),
    arguments: ArgumentsAs::TextOrInput,
    definitions: Some(Form::Nested),
    schemas: Some(&SchemaRules {
        hosts: Hosts::Chat,
        ..SchemaRules::of_openai(OAC_10)
    }),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(40), OAC_05, OAC_06),
        NameRule::new(Some(64), reasons::FUNCTION_NAME_OF_64.by(OAC_07)),
        (OAC_02, "no message is left"),
        reasons::PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE.by(OAC_03),
    )
};
