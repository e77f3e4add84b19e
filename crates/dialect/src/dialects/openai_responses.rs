//! OpenAI Responses: a request whose `input` is a list of items.
//!
//! ```json
//! {"input":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},
//!  {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
//!  {"type":"function_call_output","call_id":"c1","output":"3"}]}
//! ```

use chatmill_model::{Component, Media, MediaKind, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::arguments::as_text;
use crate::definitions::{self, Form};
use crate::image_url::{picture, picture_address};
use crate::list::string;
use crate::loss::{LossCode, Losses, reasons};
use crate::media::web_address;
use crate::rules::rules;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::say::joined;
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{
    Block, BlockContent, Carried, DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, Turn,
    TurnPlan,
};
use crate::view::View;
use crate::violation::Violation;
use crate::{Dialect, Emit};

rules! {
    /// an item is a message, a call or an output; there is at least one
    OAR_01 = "OAR-01";
    /// parts of a user's message are `input_text`, `input_image`, `input_file`; an assistant's content is a
    /// string
    OAR_02 = "OAR-02";
    /// a call has an id of 1 to 64 characters, a name, and arguments as text; an output is text of at most
    /// 10,485,760 characters
    OAR_03 = "OAR-03";
    /// first the calls of a turn, then all their outputs, then other messages; each call is answered once
    OAR_04 = "OAR-04";
    /// nobody has a name
    OAR_05 = "OAR-05";
    /// reasoning needs an id of the vendor's
    OAR_06 = "OAR-06";
}

/// The dialect of Responses requests.
pub(crate) struct OpenaiResponses;

static ABOUT: DialectAbout = DialectAbout {
    title: "OpenAI Responses",
    family: "openai-responses",
    media_type: "application/json",
    specification: "OpenAI API reference, OpenAPI document 2.3.0",
    dated: "2026-08-01",
    carries: "text, tools, pictures by web address or as bytes, files with a web address, quoted replies; names before the text",
    loses: "ids of messages, times, notices, reasoning, other media, failures of tools, facts about people and rooms",
    profiles: &[&OpenaiResponses],
    neutral: false,
    rules: Rules::Judged(RULES),
};

/// Characters of an output ([`OAR_03`]).
const MOST_OUTPUT: usize = 10_485_760;

static MANNER: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
    order: Order::Paired,
    results: Results::OwnTurns,
    merging: None,
    user_first: None,
    system: SystemPlace::Anywhere,
    texts: Texts::JoinedWithoutMedia,
    blank_is_empty: false,
    trims_end: None,
    splits_calls: None,
    carries,
    media_rule: reasons::PICTURE_OR_FILE_HAS_NO_NAME.by(OAR_02),
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY.by(OAR_02),
    thoughts: Thoughts::Nowhere(reasons::REASONING_NEEDS_AN_ID.by(OAR_06)),
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(64),
        wanted: OAR_03,
        unique: OAR_04,
        shaped: OAR_03,
    },
    tool_names: NameRule {
        most: Some(64),
        reason: reasons::FUNCTION_NAME_OF_64.by(OAR_03),
    },
    pairing: OAR_04,
    silent: (OAR_01, "no item is left"),
    keeps_message_ids: false,
};

impl Dialect for OpenaiResponses {
    fn id(&self) -> &'static str {
        "openai-responses"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let mut script = TurnPlan::new(view, &MANNER);
        let mut losses = std::mem::take(&mut script.losses);
        let mut items = Items {
            separator: "{\"input\":[",
            sink: &mut *sink,
            losses: &mut losses,
        };
        let mut last = Role::System;
        for turn in std::mem::take(&mut script.turns) {
            items.declare_continued(&turn, last);
            last = turn.role;
            if let Some(violation) = items.turn(turn) {
                script.violations.push(violation);
            }
        }
        let is_empty = items.separator != ",";
        sink.framing(if is_empty { "{\"input\":[]" } else { "]" });
        definitions::write(
            sink,
            [",\"tools\":[", "]"],
            &view.conversation().tools,
            Form::Flat,
            &script.tool_names,
            &mut losses,
        );
        sink.framing("}");
        script.losses = losses;
        let rendering = script.finish();
        emit(sink, rendering);
    }
}

fn carries(media: &Media) -> Option<Carried> {
    if media.kind == MediaKind::File && web_address(media).is_some() {
        Some(Carried::without([
            media.name.is_some(),
            media.media_type.is_some(),
        ]))
    } else {
        picture(media)
    }
}

struct Items<'r, 'a> {
    separator: &'static str,
    sink: &'r mut Sink<'a>,
    losses: &'r mut Losses,
}

impl<'a> Items<'_, 'a> {
    fn open(&mut self, start: &'static str) {
        self.sink.framing(self.separator);
        self.separator = ",";
        self.sink.framing(start);
    }

    /// Calls without words belong to what the assistant said before them: nothing tells the two turns apart.
    fn declare_continued(&mut self, turn: &Turn<'a>, last: Role) {
        let only_calls = turn
            .blocks
            .iter()
            .all(|block| matches!(block.held, BlockContent::Call(_)));
        let is_continued = turn.role == Role::Assistant && last == Role::Assistant && only_calls;
        if let Some((Some(position), _)) = turn.said.first().filter(|_| is_continued) {
            let reason = reasons::CALLS_ARE_THE_TURNS_BEFORE.by(OAR_01);
            self.losses.at(LossCode::TurnMerged, *position, reason);
        }
    }

    /// Writes the items of a turn; gives the rule that it breaks.
    fn turn(&mut self, turn: Turn<'a>) -> Option<Violation> {
        let mut violation = None;
        let has_media = turn.has_media();
        let mut said = Vec::new();
        let mut rest = Vec::new();
        for block in turn.blocks {
            match block.held {
                BlockContent::Text(_) | BlockContent::Media(_) => said.push(block),
                BlockContent::Call(_) | BlockContent::Result(_) => rest.push(block),
            }
        }
        if !said.is_empty() {
            self.open(match turn.role {
                Role::System => "{\"role\":\"system\",\"content\":",
                Role::Assistant => "{\"role\":\"assistant\",\"content\":",
                Role::User | Role::Tool => "{\"role\":\"user\",\"content\":",
            });
            if turn.role == Role::Assistant {
                self.sink.speak(Speaker::Perspective);
            }
            if has_media {
                self.parts(said);
            } else {
                string(self.sink, joined(said));
            }
            self.sink.speak(Speaker::Other);
            self.sink.framing("}");
        }
        for block in rest {
            match block.held {
                BlockContent::Call(call) => {
                    self.open("{\"type\":\"function_call\",\"call_id\":");
                    self.sink.speak(Speaker::Perspective);
                    self.sink.json_string(call.id, Component::Meta);
                    self.sink.framing(",\"name\":");
                    self.sink.json_string(call.name, Component::Tools);
                    self.sink.framing(",\"arguments\":");
                    let position = block.position.unwrap_or_default();
                    let arguments = as_text(call.call, position, self.losses);
                    self.sink.json_string(arguments, Component::Tools);
                    self.sink.speak(Speaker::Other);
                }
                BlockContent::Result(result) => {
                    let output = result.content();
                    if output.len() > MOST_OUTPUT && output.chars().count() > MOST_OUTPUT {
                        let fault = "an output is longer than 10,485,760 characters";
                        violation = Some(Violation::of(OAR_03, block.position, fault));
                    }
                    self.open("{\"type\":\"function_call_output\",\"call_id\":");
                    self.sink.json_string(result.id, Component::Meta);
                    self.sink.framing(",\"output\":");
                    self.sink.json_string(output, Component::Tools);
                }
                BlockContent::Text(_) | BlockContent::Media(_) => continue,
            }
            self.sink.framing("}");
        }
        violation
    }

    fn parts(&mut self, blocks: Vec<Block<'a>>) {
        let mut separator = "[";
        for block in blocks {
            self.sink.framing(separator);
            separator = ",";
            match block.held {
                BlockContent::Text(words) => {
                    self.sink.framing("{\"type\":\"input_text\",\"text\":");
                    string(self.sink, words);
                }
                BlockContent::Media(media) => {
                    self.sink.framing(if media.kind == MediaKind::Image {
                        "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":"
                    } else {
                        "{\"type\":\"input_file\",\"file_url\":"
                    });
                    picture_address(self.sink, media);
                }
                BlockContent::Call(_) | BlockContent::Result(_) => {}
            }
            self.sink.framing("}");
        }
        self.sink.framing("]");
    }
}
