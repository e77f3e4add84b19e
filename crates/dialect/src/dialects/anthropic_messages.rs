//! Anthropic Messages: a request with `system`, `messages` of blocks, and `tools`.
//!
//! ```json
//! {"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},
//!  {"role":"assistant","content":[{"type":"text","text":"Hello"}]}]}
//! ```

use chatmill_model::{Component, Media, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::arguments::as_object;
use crate::definitions::{self, Form};
use crate::image_url::picture;
use crate::list::string;
use crate::loss::{Losses, reasons};
use crate::media::{inline_bytes, picture_type, web_address};
use crate::rules::rules;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{
    Block, BlockContent, DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, TurnPlan,
};
use crate::view::View;
use crate::violation::Violation;
use crate::{Dialect, Emit};

rules! {
    /// roles are user and assistant, and no field stands beside role and content
    ANT_01 = "ANT-01";
    /// system text stands at the top; later text is no system turn
    ANT_02 = "ANT-02";
    /// a user speaks first; there is at least one message (unverified for newer endpoints)
    ANT_03 = "ANT-03";
    /// turns of one role in a row are one
    ANT_04 = "ANT-04";
    /// no text block is empty or white space only, and no content is empty
    ANT_05 = "ANT-05";
    /// ids are `[a-zA-Z0-9_-]+`, names up to 128 of the same characters, input is an object
    ANT_06 = "ANT-06";
    /// all results of a turn open the user turn after it, one for each call
    ANT_07 = "ANT-07";
    /// text stands before calls
    ANT_08 = "ANT-08";
    /// at most four blocks bear a cache mark, system text included
    ANT_09 = "ANT-09";
    /// thinking has to be signed
    ANT_10 = "ANT-10";
    /// the last turn, where it is the assistant's, does not end in white space; such a conversation is not
    /// a request, and valid training data
    ANT_11 = "ANT-11";
    /// pictures stand in user turns only, by address or as jpeg, png, gif, webp; no sound, no video
    ANT_12 = "ANT-12";
    /// there are at most 100,000 messages
    ANT_13 = "ANT-13";
}

/// The dialect of Messages requests.
pub(crate) struct AnthropicMessages;

static ABOUT: DialectAbout = DialectAbout {
    title: "Anthropic Messages",
    family: "anthropic",
    media_type: "application/json",
    specification: "Anthropic API reference, Messages",
    dated: "2026-08-01",
    carries: "text, tools, failures of tools, pictures, four cache marks, quoted replies; names before the text",
    loses: "ids of messages, times, notices, reasoning, other media, facts about people and rooms",
    profiles: &[&AnthropicMessages],
    neutral: false,
    rules: Rules::Judged(RULES),
};

/// Messages that a request holds at most ([`ANT_13`]).
const MOST_MESSAGES: usize = 100_000;

static MANNER: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
    order: Order::Paired,
    results: Results::UserTurn,
    merging: Some(ANT_04),
    user_first: Some(ANT_03),
    system: SystemPlace::Outside,
    texts: Texts::Blocks,
    blank_is_empty: true,
    trims_end: Some(ANT_11),
    splits_calls: None,
    carries: picture,
    media_rule: reasons::PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE.by(ANT_12),
    media_rule_plain: reasons::ROLE_HOLDS_NO_MEDIA.by(ANT_12),
    thoughts: Thoughts::Nowhere(reasons::THINKING_IS_UNSIGNED.by(ANT_10)),
    cache_marks: Some((4, reasons::FOUR_BLOCKS_BEAR_MARKS.by(ANT_09))),
    marks_errors: true,
    ids: IdRule {
        shape: IdShape::Word(256),
        wanted: ANT_06,
        unique: ANT_07,
        shaped: ANT_06,
    },
    tool_names: NameRule {
        most: Some(128),
        reason: reasons::TOOL_NAME_OF_128.by(ANT_06),
    },
    pairing: ANT_07,
    silent: (ANT_03, "no message is left"),
    keeps_message_ids: false,
};

impl Dialect for AnthropicMessages {
    fn id(&self) -> &'static str {
        "anthropic-messages"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let mut script = TurnPlan::new(view, &MANNER);
        sink.framing("{");
        let mut losses = std::mem::take(&mut script.losses);
        if !script.system.is_empty() {
            sink.framing("\"system\":[");
            blocks(sink, std::mem::take(&mut script.system), &mut losses);
            sink.framing("],");
        }
        sink.framing("\"messages\":[");
        if script.turns.len() > MOST_MESSAGES {
            let fault = "there are more than 100,000 messages";
            script.violations.push(Violation::of(ANT_13, None, fault));
        }
        for (index, turn) in std::mem::take(&mut script.turns).into_iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            if turn.role == Role::Assistant {
                sink.framing("{\"role\":\"assistant\"");
                sink.speak(Speaker::Perspective);
            } else {
                sink.framing("{\"role\":\"user\"");
            }
            sink.framing(",\"content\":[");
            blocks(sink, turn.blocks, &mut losses);
            sink.framing("]}");
            sink.speak(Speaker::Other);
        }
        sink.framing("]");
        definitions::write(
            sink,
            [",\"tools\":[", "]"],
            &view.conversation().tools,
            Form::InputSchema,
            &script.tool_names,
            &mut losses,
        );
        sink.framing("}");
        script.losses = losses;
        let rendering = script.finish();
        emit(sink, rendering);
    }
}

fn blocks<'a>(sink: &mut Sink<'a>, blocks: Vec<Block<'a>>, losses: &mut Losses) {
    for (index, block) in blocks.into_iter().enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        match block.held {
            BlockContent::Text(words) => {
                sink.framing("{\"type\":\"text\",\"text\":");
                string(sink, words);
            }
            BlockContent::Media(media) => source(sink, media),
            BlockContent::Call(said) => {
                sink.framing("{\"type\":\"tool_use\",\"id\":");
                sink.json_string(said.id, Component::Meta);
                sink.framing(",\"name\":");
                sink.json_string(said.name, Component::Tools);
                sink.framing(",\"input\":");
                let position = block.position.unwrap_or_default();
                let input = as_object(said.call, position, ANT_06, losses);
                sink.literal(input, Component::Tools);
            }
            BlockContent::Result(result) => {
                let (content, is_error) = (result.content(), result.is_error());
                sink.framing("{\"type\":\"tool_result\",\"tool_use_id\":");
                sink.json_string(result.id, Component::Meta);
                if !content.is_empty() {
                    sink.framing(",\"content\":");
                    sink.json_string(content, Component::Tools);
                }
                if is_error {
                    sink.framing(",\"is_error\":true");
                }
            }
        }
        if block.is_cached {
            sink.framing(",\"cache_control\":{\"type\":\"ephemeral\"}");
        }
        sink.framing("}");
    }
}

/// A picture without its closing brace, after which a cache mark may stand.
fn source<'a>(sink: &mut Sink<'a>, media: &'a Media) {
    sink.framing("{\"type\":\"image\",\"source\":{\"type\":");
    if let Some(address) = web_address(media) {
        sink.framing("\"url\",\"url\":");
        sink.json_string(address, Component::Content);
    } else {
        sink.framing("\"base64\",\"media_type\":");
        sink.json_string(picture_type(media).unwrap_or_default(), Component::Meta);
        sink.framing(",\"data\":");
        sink.json_string(inline_bytes(media).unwrap_or_default(), Component::Content);
    }
    sink.framing("}");
}
