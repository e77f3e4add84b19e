//! The writer of message lists: one JSON object per turn, results as turns of role `tool`.

use chatmill_model::{Component, Role, Sink, Speaker};

use crate::text::media::path;
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::{self, Form};
use crate::transcript::turns::{Block, BlockContent, ResultBlock, Turn, TurnPlan};
use crate::write::picture::{file, picture_address, write_file};

/// The JSON around the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// `{"messages":[…],"tools":[…]}`.
    Request,
    /// `[…]`.
    Array,
}

/// How texts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentAs {
    /// As a string, or as a list of parts if there is a media item.
    String,
    /// As a string, or as a list of texts and pictures if there is a picture; neighbouring texts are joined.
    StringUnlessPictured,
    /// As a string, or as a list of text blocks if one of them has a cache mark.
    StringUnlessMarked,
    /// Always as a list of text blocks.
    Blocks,
}

/// How a message list is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    /// The JSON around the messages.
    pub(crate) ends: Ends,
    /// How texts are written.
    pub(crate) content: ContentAs,
    /// Whether turns without text have empty content instead of no content.
    pub(crate) always_content: bool,
    /// Whether results have the name of their tool.
    pub(crate) names_results: bool,
    /// How arguments of calls are written.
    pub(crate) arguments: ArgumentsAs,
}

impl List {
    /// The plainest list.
    pub(crate) const PLAIN: Self = Self {
        ends: Ends::Request,
        content: ContentAs::String,
        always_content: false,
        names_results: false,
        arguments: ArgumentsAs::Text,
    };

    /// Writes turns.
    pub(crate) fn write<'a>(self, plan: &TurnPlan<'a>, sink: &mut Sink<'a>) {
        sink.framing(match self.ends {
            Ends::Request => "{\"messages\":[",
            Ends::Array => "[",
        });
        for (index, (turn, blocks)) in plan.turn_blocks().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            self.turn(sink, plan, turn, blocks);
        }
        sink.framing("]");
        if self.ends == Ends::Request {
            forms::write(sink, [",\"tools\":[", "]"], &plan.definitions, Form::Nested);
            sink.framing("}");
        }
    }

    /// Writes one turn.
    fn turn<'a>(self, sink: &mut Sink<'a>, plan: &TurnPlan<'a>, turn: &Turn<'a>, blocks: &[Block<'a>]) {
        sink.framing(match turn.role {
            Role::System => "{\"role\":\"system\"",
            Role::User => "{\"role\":\"user\"",
            Role::Assistant => "{\"role\":\"assistant\"",
            Role::Tool => "{\"role\":\"tool\"",
        });
        sink.answer(plan.speaker(turn.role, blocks), turn.position);
        if let Some(alias) = turn.alias {
            sink.framing(",\"name\":");
            sink.json_string(alias, Component::Names);
        }
        if turn.role == Role::Tool {
            for block in blocks {
                if let BlockContent::Result(result) = block.content {
                    self.result(sink, result, block.is_cached);
                }
            }
        } else {
            self.content(sink, plan, blocks);
            calls(sink, blocks, self.arguments);
        }
        if let Some(id) = turn.message_id {
            sink.framing(",\"message_id\":");
            sink.json_string(id, Component::Meta);
        }
        sink.framing("}");
        sink.set_speaker(Speaker::Other);
    }

    fn content<'a>(self, sink: &mut Sink<'a>, plan: &TurnPlan<'a>, blocks: &[Block<'a>]) {
        let shown = || {
            blocks
                .iter()
                .filter(|block| !block.is_call() && !block.is_thought())
        };
        if self.always_content || shown().next().is_some() {
            let is_list = match self.content {
                ContentAs::String | ContentAs::StringUnlessPictured => false,
                ContentAs::StringUnlessMarked => shown().any(|block| block.is_cached),
                ContentAs::Blocks => true,
            };
            let has_media = blocks.iter().any(Block::is_media);
            if has_media && self.content == ContentAs::StringUnlessPictured {
                texts_and_pictures(sink, plan, blocks);
            } else if is_list || has_media {
                sink.framing(",\"content\":");
                parts(sink, plan, shown());
            } else {
                plan.write_joined(sink, ",\"content\":\"", shown());
            }
        }
        if blocks.iter().any(Block::is_thought) {
            plan.write_joined(
                sink,
                ",\"reasoning_content\":\"",
                blocks.iter().filter(|block| block.is_thought()),
            );
        }
    }

    fn result<'a>(self, sink: &mut Sink<'a>, result: ResultBlock<'a>, is_cached: bool) {
        sink.framing(",\"tool_call_id\":");
        sink.json_string(result.id, Component::Meta);
        if self.names_results {
            sink.framing(",\"name\":");
            sink.json_string(result.name, Component::Tools);
        }
        sink.framing(",\"content\":");
        match self.content {
            ContentAs::String | ContentAs::StringUnlessPictured | ContentAs::StringUnlessMarked => {
                sink.json_string(result.content, Component::Tools);
            }
            ContentAs::Blocks if result.content.is_empty() => sink.framing("[]"),
            ContentAs::Blocks => {
                sink.framing("[{\"type\":\"text\",\"text\":");
                sink.json_string(result.content, Component::Tools);
                mark(sink, is_cached);
                sink.framing("}]");
            }
        }
    }
}

/// Writes turns of users and of the assistant with their blocks in a list. The three texts begin a user turn, a turn of the assistant, and
/// the list.
pub(crate) fn write_turns<'a>(
    sink: &mut Sink<'a>,
    plan: &TurnPlan<'a>,
    [user, assistant, list]: [&'static str; 3],
    write_blocks: impl Fn(&mut Sink<'a>, &[Block<'a>]),
) {
    for (index, (turn, blocks)) in plan.turn_blocks().enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        sink.framing(if turn.role == Role::Assistant {
            assistant
        } else {
            user
        });
        sink.answer(plan.speaker(turn.role, blocks), turn.position);
        sink.framing(list);
        write_blocks(sink, blocks);
        sink.framing("]}");
        sink.set_speaker(Speaker::Other);
    }
}

fn calls<'a>(sink: &mut Sink<'a>, blocks: &[Block<'a>], arguments: ArgumentsAs) {
    let mut separator = ",\"tool_calls\":[";
    for block in blocks {
        let BlockContent::Call(call) = block.content else {
            continue;
        };
        sink.framing(separator);
        separator = ",";
        sink.framing("{\"id\":");
        sink.json_string(call.id, Component::Meta);
        let is_input = arguments == ArgumentsAs::TextOrInput && call.is_input();
        sink.framing(if is_input {
            ",\"type\":\"custom\",\"custom\":{\"name\":"
        } else {
            ",\"type\":\"function\",\"function\":{\"name\":"
        });
        sink.json_string(call.name, Component::Tools);
        sink.framing(if is_input {
            ",\"input\":"
        } else {
            ",\"arguments\":"
        });
        match arguments {
            ArgumentsAs::Text | ArgumentsAs::TextOrInput => {
                sink.json_string(call.arguments, Component::Tools);
            }
            ArgumentsAs::Object(_) => sink.literal(call.arguments, Component::Tools),
        }
        sink.framing("}}");
    }
    if separator == "," {
        sink.framing("]");
    }
}

/// Writes the blocks of a user turn: pictures by address or path, and the texts between them joined into one.
fn texts_and_pictures<'a>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, blocks: &[Block<'a>]) {
    let mut separator = ",\"content\":[";
    for run in blocks.chunk_by(|one, next| !one.is_media() && !next.is_media()) {
        sink.framing(separator);
        separator = ",";
        if let [
            Block {
                content: BlockContent::Media(media, _),
                ..
            },
        ] = run
        {
            if let Some(path) = path(media) {
                sink.framing("{\"type\":\"image\",\"path\":");
                sink.json_string(path, Component::Content);
            } else {
                sink.framing("{\"type\":\"image\",\"url\":");
                picture_address(sink, media);
            }
        } else {
            plan.write_joined(sink, "{\"type\":\"text\",\"text\":\"", run);
        }
        sink.framing("}");
    }
    sink.framing("]");
}

fn mark(sink: &mut Sink<'_>, is_cached: bool) {
    if is_cached {
        sink.framing(",\"cache_control\":{\"type\":\"ephemeral\"}");
    }
}

fn parts<'a: 'b, 'b>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, blocks: impl Iterator<Item = &'b Block<'a>>) {
    let mut separator = "[";
    for block in blocks {
        sink.framing(separator);
        separator = ",";
        if let Some(file) = file(block) {
            sink.framing("{\"type\":\"file\",\"file\":{");
            write_file(sink, file);
            sink.framing("}}");
        } else if let BlockContent::Media(media, _) = block.content {
            sink.framing("{\"type\":\"image_url\",\"image_url\":{\"url\":");
            picture_address(sink, media);
            sink.framing("}}");
        } else {
            plan.write_string(sink, "{\"type\":\"text\",\"text\":\"", block);
            mark(sink, block.is_cached);
            sink.framing("}");
        }
    }
    sink.framing(if separator == "," { "]" } else { "[]" });
}
