//! The writer of message lists: one JSON object a turn, results as turns of role `tool`.

use chatmill_model::{Component, Level, Role, Rope, Speaker};

use crate::arguments::{as_object, as_text};
use crate::definitions::{self, Form};
use crate::image_url::picture_address;
use crate::loss::{LossCode, Losses, reasons};
use crate::rendering::Rendering;
use crate::rules::Rule;
use crate::text_run::TextRun;
use crate::turn_plan::say::joined;
use crate::turn_plan::{Block, BlockContent, CallBlock, DialectProfile, ResultBlock, Turn, TurnPlan};
use crate::view::View;

/// What stands around the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// `{"messages":[…],"tools":[…]}`.
    Request,
    /// `[…]`.
    Array,
}

/// How arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentsAs {
    /// As text.
    Text,
    /// As an object; the rule that wants one.
    Object(&'static Rule),
}

/// How texts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentAs {
    /// As a string; as a list of parts where there is a media item.
    String,
    /// As a string; as a list of text blocks where one of them has a cache mark.
    StringUnlessMarked,
    /// As a list of text blocks, always.
    Blocks,
}

/// How a message list looks in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    /// What stands around the messages.
    pub(crate) ends: Ends,
    /// How arguments are written.
    pub(crate) arguments: ArgumentsAs,
    /// How texts are written.
    pub(crate) content: ContentAs,
    /// Whether turns without text have empty content instead of none.
    pub(crate) always_content: bool,
    /// Whether results have the name of their tool.
    pub(crate) names_results: bool,
    /// Whether messages have their ids.
    pub(crate) message_ids: bool,
}

impl List {
    /// The plainest list.
    pub(crate) const PLAIN: Self = Self {
        ends: Ends::Request,
        arguments: ArgumentsAs::Text,
        content: ContentAs::String,
        always_content: false,
        names_results: false,
        message_ids: false,
    };

    /// Renders a view.
    pub(crate) fn render<'a>(&self, view: &View<'a>, manner: &DialectProfile) -> Rendering<'a> {
        self.write(view, TurnPlan::new(view, manner))
    }

    /// Writes turns that are arranged already.
    pub(crate) fn write<'a>(&self, view: &View<'a>, mut script: TurnPlan<'a>) -> Rendering<'a> {
        let mut rope = Rope::for_messages(script.turns.len());
        rope.framing(match self.ends {
            Ends::Request => "{\"messages\":[",
            Ends::Array => "[",
        });
        for (index, turn) in std::mem::take(&mut script.turns).into_iter().enumerate() {
            if index > 0 {
                rope.framing(",");
            }
            self.turn(&mut rope, view, turn, &mut script);
        }
        rope.framing("]");
        let tools = &view.conversation().tools;
        if self.ends == Ends::Request {
            definitions::write(
                &mut rope,
                [",\"tools\":[", "]"],
                tools,
                Form::Nested,
                &script.tool_names,
                &mut script.losses,
            );
            rope.framing("}");
        } else {
            definitions::lose(tools, &mut script.losses);
        }
        script.finish(rope)
    }

    /// Writes one turn.
    pub(crate) fn turn<'a>(
        &self,
        rope: &mut Rope<'a>,
        view: &View<'a>,
        turn: Turn<'a>,
        script: &mut TurnPlan<'a>,
    ) {
        let id = self.message_id(view, &turn, script);
        rope.framing(match turn.role {
            Role::System => "{\"role\":\"system\"",
            Role::User => "{\"role\":\"user\"",
            Role::Assistant => "{\"role\":\"assistant\"",
            Role::Tool => "{\"role\":\"tool\"",
        });
        if turn.role == Role::Assistant {
            rope.speak(Speaker::Perspective);
        }
        if let Some(alias) = turn.speaker.and_then(|speaker| script.aliases.of(speaker)) {
            rope.framing(",\"name\":");
            rope.json_string(alias.clone(), Component::Names);
        }
        if turn.role == Role::Tool {
            for block in turn.blocks {
                if let BlockContent::Result(result) = block.held {
                    let has_block = self.content == ContentAs::Blocks && !result.content().is_empty();
                    if let Some(position) = block.position.filter(|_| block.is_cached && !has_block) {
                        let reason = reasons::RESULT_HAS_NO_BLOCK;
                        script.losses.at(LossCode::CacheMarkDropped, position, reason);
                    }
                    self.result(rope, result, block.is_cached);
                }
            }
        } else {
            self.content_and_calls(rope, turn, &mut script.losses);
        }
        if let Some(id) = id {
            rope.framing(",\"message_id\":");
            rope.json_string(id, Component::Meta);
        }
        rope.framing("}");
        rope.speak(Speaker::Other);
    }

    fn content_and_calls<'a>(&self, rope: &mut Rope<'a>, turn: Turn<'a>, losses: &mut Losses) {
        let has_media = turn.has_media();
        let (said, called) = Block::apart(turn.blocks);
        if !said.is_empty() || self.always_content {
            rope.framing(",\"content\":");
            let is_list = match self.content {
                ContentAs::String => false,
                ContentAs::StringUnlessMarked => said.iter().any(|block| block.is_cached),
                ContentAs::Blocks => true,
            };
            if has_media || is_list {
                parts(rope, said);
            } else {
                string(rope, joined(said));
            }
        }
        if !turn.thoughts.is_empty() {
            rope.framing(",\"reasoning_content\":");
            string(rope, turn.thoughts);
        }
        let mut separator = ",\"tool_calls\":[";
        for block in called {
            if let (BlockContent::Call(call), Some(position)) = (block.held, block.position) {
                if block.is_cached {
                    losses.at(LossCode::CacheMarkDropped, position, reasons::CALL_BEARS_NO_MARK);
                }
                rope.framing(separator);
                separator = ",";
                self.call(rope, call, position, losses);
            }
        }
        if separator == "," {
            rope.framing("]");
        }
    }

    fn call<'a>(&self, rope: &mut Rope<'a>, said: CallBlock<'a>, position: u32, losses: &mut Losses) {
        rope.framing("{\"id\":");
        rope.json_string(said.id, Component::Meta);
        rope.framing(",\"type\":\"function\",\"function\":{\"name\":");
        rope.json_string(said.name, Component::Tools);
        rope.framing(",\"arguments\":");
        match self.arguments {
            ArgumentsAs::Text => rope.json_string(as_text(said.call, position, losses), Component::Tools),
            ArgumentsAs::Object(rule) => {
                let object = as_object(said.call, position, rule, losses);
                rope.literal(object, Component::Tools);
            }
        }
        rope.framing("}}");
    }

    fn result<'a>(&self, rope: &mut Rope<'a>, result: ResultBlock<'a>, is_cached: bool) {
        let content = result.content();
        rope.framing(",\"tool_call_id\":");
        rope.json_string(result.id, Component::Meta);
        if self.names_results {
            rope.framing(",\"name\":");
            rope.json_string(result.name, Component::Tools);
        }
        rope.framing(",\"content\":");
        match self.content {
            ContentAs::String | ContentAs::StringUnlessMarked => {
                rope.json_string(content, Component::Tools);
            }
            ContentAs::Blocks if content.is_empty() => rope.framing("[]"),
            ContentAs::Blocks => {
                rope.framing("[");
                text_part(rope, vec![TextRun::new(content, Component::Tools)], is_cached);
                rope.framing("]");
            }
        }
    }

    /// The id of the message that a turn says, which only the first of its turns has.
    fn message_id<'a>(&self, view: &View<'a>, turn: &Turn<'a>, script: &mut TurnPlan<'a>) -> Option<&'a str> {
        let position = turn.said.first().and_then(|(position, _)| *position)?;
        let id = view.message(position)?.id.as_deref();
        id.filter(|_| self.message_ids && script.identified.insert(position))
    }
}

/// Writes words as one JSON string.
pub(crate) fn string<'a>(rope: &mut Rope<'a>, words: Vec<TextRun<'a>>) {
    rope.framing("\"");
    for words in words {
        words.write(rope, Level::JsonString);
    }
    rope.framing("\"");
}

fn text_part<'a>(rope: &mut Rope<'a>, words: Vec<TextRun<'a>>, is_cached: bool) {
    rope.framing("{\"type\":\"text\",\"text\":");
    string(rope, words);
    if is_cached {
        rope.framing(",\"cache_control\":{\"type\":\"ephemeral\"}");
    }
    rope.framing("}");
}

fn parts<'a>(rope: &mut Rope<'a>, blocks: Vec<Block<'a>>) {
    let mut separator = "[";
    for block in blocks {
        rope.framing(separator);
        separator = ",";
        match block.held {
            BlockContent::Text(words) => text_part(rope, words, block.is_cached),
            BlockContent::Media(media) => {
                rope.framing("{\"type\":\"image_url\",\"image_url\":{\"url\":");
                picture_address(rope, media);
                rope.framing("}}");
            }
            BlockContent::Call(_) | BlockContent::Result(_) => {}
        }
    }
    rope.framing(if separator == "," { "]" } else { "[]" });
}
