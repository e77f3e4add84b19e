//! The writer of message lists: one JSON object a turn, results as turns of role `tool`.

use chatmill_model::{Component, Level, Role, Sink, Speaker};

use crate::arguments::{as_object, as_text};
use crate::definitions::{self, Form};
use crate::image_url::picture_address;
use crate::loss::{LossCode, Losses, reasons};
use crate::rendering::Rendering;
use crate::rules::DialectRule;
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
    Object(&'static DialectRule),
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
    pub(crate) fn render<'a>(
        &self,
        view: &View<'a>,
        manner: &DialectProfile,
        sink: &mut Sink<'a>,
    ) -> Rendering {
        self.write(view, TurnPlan::new(view, manner), sink)
    }

    /// Writes turns that are arranged already.
    pub(crate) fn write<'a>(
        &self,
        view: &View<'a>,
        mut script: TurnPlan<'a>,
        sink: &mut Sink<'a>,
    ) -> Rendering {
        sink.framing(match self.ends {
            Ends::Request => "{\"messages\":[",
            Ends::Array => "[",
        });
        for (index, turn) in std::mem::take(&mut script.turns).into_iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            self.turn(sink, view, turn, &mut script);
        }
        sink.framing("]");
        let tools = &view.conversation().tools;
        if self.ends == Ends::Request {
            definitions::write(
                sink,
                [",\"tools\":[", "]"],
                tools,
                Form::Nested,
                &script.tool_names,
                &mut script.losses,
            );
            sink.framing("}");
        } else {
            definitions::lose(tools, &mut script.losses);
        }
        script.finish()
    }

    /// Writes one turn.
    pub(crate) fn turn<'a>(
        &self,
        sink: &mut Sink<'a>,
        view: &View<'a>,
        turn: Turn<'a>,
        script: &mut TurnPlan<'a>,
    ) {
        let id = self.message_id(view, &turn, script);
        sink.framing(match turn.role {
            Role::System => "{\"role\":\"system\"",
            Role::User => "{\"role\":\"user\"",
            Role::Assistant => "{\"role\":\"assistant\"",
            Role::Tool => "{\"role\":\"tool\"",
        });
        if turn.role == Role::Assistant {
            sink.speak(Speaker::Perspective);
        }
        if let Some(alias) = turn.speaker.and_then(|speaker| script.aliases.of(speaker)) {
            sink.framing(",\"name\":");
            sink.json_string(alias.clone(), Component::Names);
        }
        if turn.role == Role::Tool {
            for block in turn.blocks {
                if let BlockContent::Result(result) = block.held {
                    let has_block = self.content == ContentAs::Blocks && !result.content().is_empty();
                    if let Some(position) = block.position.filter(|_| block.is_cached && !has_block) {
                        let reason = reasons::RESULT_HAS_NO_BLOCK;
                        script.losses.at(LossCode::CacheMarkDropped, position, reason);
                    }
                    self.result(sink, result, block.is_cached);
                }
            }
        } else {
            self.content_and_calls(sink, turn, &mut script.losses);
        }
        if let Some(id) = id {
            sink.framing(",\"message_id\":");
            sink.json_string(id, Component::Meta);
        }
        sink.framing("}");
        sink.speak(Speaker::Other);
    }

    fn content_and_calls<'a>(&self, sink: &mut Sink<'a>, turn: Turn<'a>, losses: &mut Losses) {
        let has_media = turn.has_media();
        let (said, called) = Block::apart(turn.blocks);
        if !said.is_empty() || self.always_content {
            sink.framing(",\"content\":");
            let is_list = match self.content {
                ContentAs::String => false,
                ContentAs::StringUnlessMarked => said.iter().any(|block| block.is_cached),
                ContentAs::Blocks => true,
            };
            if has_media || is_list {
                parts(sink, said);
            } else {
                string(sink, joined(said));
            }
        }
        if !turn.thoughts.is_empty() {
            sink.framing(",\"reasoning_content\":");
            string(sink, turn.thoughts);
        }
        let mut separator = ",\"tool_calls\":[";
        for block in called {
            if let (BlockContent::Call(call), Some(position)) = (block.held, block.position) {
                if block.is_cached {
                    losses.at(LossCode::CacheMarkDropped, position, reasons::CALL_BEARS_NO_MARK);
                }
                sink.framing(separator);
                separator = ",";
                self.call(sink, call, position, losses);
            }
        }
        if separator == "," {
            sink.framing("]");
        }
    }

    fn call<'a>(&self, sink: &mut Sink<'a>, said: CallBlock<'a>, position: u32, losses: &mut Losses) {
        sink.framing("{\"id\":");
        sink.json_string(said.id, Component::Meta);
        sink.framing(",\"type\":\"function\",\"function\":{\"name\":");
        sink.json_string(said.name, Component::Tools);
        sink.framing(",\"arguments\":");
        match self.arguments {
            ArgumentsAs::Text => sink.json_string(as_text(said.call, position, losses), Component::Tools),
            ArgumentsAs::Object(rule) => {
                let object = as_object(said.call, position, rule, losses);
                sink.literal(object, Component::Tools);
            }
        }
        sink.framing("}}");
    }

    fn result<'a>(&self, sink: &mut Sink<'a>, result: ResultBlock<'a>, is_cached: bool) {
        let content = result.content();
        sink.framing(",\"tool_call_id\":");
        sink.json_string(result.id, Component::Meta);
        if self.names_results {
            sink.framing(",\"name\":");
            sink.json_string(result.name, Component::Tools);
        }
        sink.framing(",\"content\":");
        match self.content {
            ContentAs::String | ContentAs::StringUnlessMarked => {
                sink.json_string(content, Component::Tools);
            }
            ContentAs::Blocks if content.is_empty() => sink.framing("[]"),
            ContentAs::Blocks => {
                sink.framing("[");
                text_part(sink, vec![TextRun::new(content, Component::Tools)], is_cached);
                sink.framing("]");
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
pub(crate) fn string<'a>(sink: &mut Sink<'a>, words: Vec<TextRun<'a>>) {
    sink.framing("\"");
    for words in words {
        words.write(sink, Level::JsonString);
    }
    sink.framing("\"");
}

fn text_part<'a>(sink: &mut Sink<'a>, words: Vec<TextRun<'a>>, is_cached: bool) {
    sink.framing("{\"type\":\"text\",\"text\":");
    string(sink, words);
    if is_cached {
        sink.framing(",\"cache_control\":{\"type\":\"ephemeral\"}");
    }
    sink.framing("}");
}

fn parts<'a>(sink: &mut Sink<'a>, blocks: Vec<Block<'a>>) {
    let mut separator = "[";
    for block in blocks {
        sink.framing(separator);
        separator = ",";
        match block.held {
            BlockContent::Text(words) => text_part(sink, words, block.is_cached),
            BlockContent::Media(media) => {
                sink.framing("{\"type\":\"image_url\",\"image_url\":{\"url\":");
                picture_address(sink, media);
                sink.framing("}}");
            }
            BlockContent::Call(_) | BlockContent::Result(_) => {}
        }
    }
    sink.framing(if separator == "," { "]" } else { "[]" });
}
