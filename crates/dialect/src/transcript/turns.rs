//! Turns as flat data: the content of a rendering in blocks, which passes change and a writer writes.
//!
//! A [`TurnPlan`] has all turns in one list, all blocks in a second, and the runs of text of all blocks, the *words*, in a third. A turn has
//! the range of its blocks, and a block the range of its words. All elements are `Copy`, so that the draft that dialects share is cheap to
//! clone, and merging two turns only changes the end of a range. An element without a message of the source is *synthetic*: an added
//! prompt, or the result of a call that has none.

use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::{
    ArgumentForm, Component, Level, Media, PartPlace, Role, Sink, Speaker, ToolCall, ToolResult, VendorItem,
};

use crate::loss::Losses;
use crate::loss::violation::Violation;
use crate::text::media::mark;
use crate::text::run::{TextRun, is_blank_character};
use crate::tools::forms::ToolDefinition;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::view::extent::Extent;
use crate::view::trained::TrainedMessages;

/// A call. The draft sets its place and the call; passes set what is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallBlock<'a> {
    /// The position of its message, and its index among the parts.
    pub(crate) place: PartPlace,
    /// The call in the source.
    pub(crate) call: &'a ToolCall,
    /// The id that is written; empty until a pass sets it, like the two fields below.
    pub(crate) id: &'a str,
    /// The name of the tool, in the spelling that the dialect allows.
    pub(crate) name: &'a str,
    /// The arguments, in the form that the dialect wants.
    pub(crate) arguments: &'a str,
    /// The item in the vendor's form that is written instead of the call, if the dialect is that vendor's.
    pub(crate) item: Option<&'a VendorItem>,
}

impl CallBlock<'_> {
    /// Whether the tool takes free text instead of named arguments.
    pub(crate) fn is_input(&self) -> bool {
        self.call.form == ArgumentForm::FreeText
    }
}

/// A result. The draft sets what the source has; passes set the id and the name that are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultBlock<'a> {
    /// The call that it answers; `None` for a result without a call.
    pub(crate) call: Option<PartPlace>,
    /// The result in the source; `None` for a synthetic result.
    pub(crate) result: Option<&'a ToolResult>,
    /// The name of the tool in the source.
    pub(crate) tool: Option<&'a str>,
    /// The id of its call, as it is written; empty until a pass sets it, like the name below.
    pub(crate) id: &'a str,
    /// The name of the tool, as it is written.
    pub(crate) name: &'a str,
    /// The result as text.
    pub(crate) content: &'a str,
    /// Whether the text is a JSON object and is written as one.
    pub(crate) is_object: bool,
    /// The item in the vendor's form that is written instead of the result, if the dialect is that vendor's.
    pub(crate) item: Option<&'a VendorItem>,
}

impl ResultBlock<'_> {
    /// Whether the result is a failure.
    pub(crate) fn is_error(&self) -> bool {
        self.result.is_some_and(|result| result.is_error)
    }
}

/// The kind of words in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// A text of the message, or the placeholder of a part.
    Text,
    /// A quoted message, with the index of its [`QuotedName`] in the plan.
    Quote(usize),
    /// The thoughts of the assistant.
    Thought,
    /// A call or a result that is written as text.
    ToolUse,
    /// Nothing but the name of the speaker, which is the lead of the block: the turn does not begin with a text.
    Name,
}

/// The content of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockContent<'a> {
    /// Words of the plan.
    Words(Wording, Words),
    /// A media item, and the words that replace it if the dialect cannot carry it.
    Media(&'a Media, Words),
    /// A call.
    Call(CallBlock<'a>),
    /// A result.
    Result(ResultBlock<'a>),
    /// Reasoning, until a pass makes words of it or leaves it out.
    Reasoning(&'a str),
    /// A notice inside a message, until a pass leaves it out.
    Notice,
    /// An item that only one vendor has.
    Item(&'a VendorItem),
    /// A cache mark on the block before it, until a pass sets [`Block::is_cached`] there.
    CacheMark,
}

/// A range of the words of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    start: usize,
    end: usize,
}

impl Words {
    fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// How a quote names the author of the quoted message, from which a pass chooses when it is known where turns have names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotedName<'a> {
    /// If a field for names cannot have the author's name: the words before the quote with the alias instead, which dialects with such a
    /// field write, and the index of the author.
    pub(crate) aliased: Option<(&'a str, usize)>,
    /// Whether the name lost control characters, and the quoted message is not in the conversation, where its sender's name would have
    /// declared that loss.
    pub(crate) is_cleaned: bool,
}

/// The text before the words of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead<'a> {
    /// Nothing.
    None,
    /// The name of the speaker, before a colon.
    Name(&'a str),
    /// A fixed label, such as `[system] ` before system text in a user turn.
    Label(&'static str),
}

impl<'a> Lead<'a> {
    fn runs(self) -> impl Iterator<Item = TextRun<'a>> {
        let runs = match self {
            Self::None => [None, None],
            Self::Name(name) => [(name, Component::Names), (": ", Component::Names)].map(Some),
            Self::Label(label) => [Some((label, Component::Framing)), None],
        };
        let runs = runs.into_iter().flatten();
        runs.map(|(text, component)| TextRun::new(text, component))
    }
}

/// A part of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    /// The content.
    pub(crate) content: BlockContent<'a>,
    /// The text before its words.
    pub(crate) lead: Lead<'a>,
    /// Position of its message; `None` if the block is synthetic.
    pub(crate) position: Option<u32>,
    /// The role in which its message is rendered.
    pub(crate) role: Role,
    /// Whether it is the first block of its message in this turn, where a merged text has the separator.
    pub(crate) opens: bool,
    /// Whether it has a cache mark.
    pub(crate) is_cached: bool,
}

impl<'a> Block<'a> {
    /// Creates a block without a text before it.
    pub(crate) fn new(content: BlockContent<'a>, position: Option<u32>, role: Role) -> Self {
        Self {
            content,
            lead: Lead::None,
            position,
            role,
            opens: false,
            is_cached: false,
        }
    }

    /// Whether it is a call.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.content, BlockContent::Call(_))
    }

    /// Whether it is an item that only one vendor has.
    pub(crate) fn is_item(&self) -> bool {
        matches!(self.content, BlockContent::Item(_))
    }

    /// Whether it is a media item.
    pub(crate) fn is_media(&self) -> bool {
        matches!(self.content, BlockContent::Media(..))
    }

    /// Whether it is a media item of a result, the block of which is before it.
    pub(crate) fn is_result_media(&self) -> bool {
        self.is_media() && self.role == Role::Tool
    }

    /// Whether it has the thoughts of the assistant.
    pub(crate) fn is_thought(&self) -> bool {
        matches!(self.content, BlockContent::Words(Wording::Thought, _))
    }
}

/// Returns the blocks except media items of results; each result comes with its media items, any other block with none.
pub(crate) fn with_media<'b, 'a>(
    blocks: &'b [Block<'a>],
) -> impl Iterator<Item = (&'b Block<'a>, &'b [Block<'a>])> {
    let all = blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| !block.is_result_media());
    all.map(move |(index, block)| {
        if !matches!(block.content, BlockContent::Result(_)) {
            return (block, &[][..]);
        }
        let (_, behind) = blocks.split_at(index + 1);
        let media = behind.iter().take_while(|block| block.is_result_media()).count();
        (block, behind.split_at(media).0)
    })
}

/// A turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    /// The role of the speaker; [`Role::Tool`] for a turn with only results.
    pub(crate) role: Role,
    /// Position of its message, or of the first of several; `None` if the turn is synthetic.
    pub(crate) position: Option<u32>,
    /// The id of that message, where the dialect has ids and no earlier turn has this one.
    pub(crate) message_id: Option<&'a str>,
    /// Index of the speaking participant, unless that is the perspective.
    pub(crate) sender: Option<usize>,
    /// The name that is written in the field for names, if any.
    pub(crate) alias: Option<&'a str>,
    /// Index of its first block.
    pub(crate) start: usize,
    /// One past the index of its last block.
    pub(crate) end: usize,
}

impl Turn<'_> {
    /// Creates a turn of a message, or a synthetic one, without blocks.
    pub(crate) fn new(role: Role, position: Option<u32>) -> Self {
        Self {
            role,
            position,
            message_id: None,
            sender: None,
            alias: None,
            start: 0,
            end: 0,
        }
    }

    /// Returns the range of its blocks.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The kinds of blocks that occur, so that a pass can return early if its kind is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const MEDIA: Self = Self(1);
    pub(crate) const CALLS: Self = Self(1 << 1);
    pub(crate) const RESULTS: Self = Self(1 << 2);
    pub(crate) const REASONING: Self = Self(1 << 3);
    pub(crate) const NOTICES: Self = Self(1 << 4);
    pub(crate) const CACHE_MARKS: Self = Self(1 << 5);
    /// Texts that are only white space.
    pub(crate) const BLANK: Self = Self(1 << 6);
    /// Items that only one vendor has.
    pub(crate) const ITEMS: Self = Self(1 << 7);

    /// Adds a kind.
    pub(crate) fn add(&mut self, kind: Self) {
        self.0 |= kind.0;
    }

    /// Whether a kind occurs.
    pub(crate) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }
}

/// The turns of a rendering, with the losses so far: a draft that passes fit to a dialect, until a writer writes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnPlan<'a> {
    /// System text that the dialect writes outside the turns; empty until a pass moves it here.
    pub(crate) system: Vec<Block<'a>>,
    /// The turns in order.
    pub(crate) turns: Vec<Turn<'a>>,
    /// The blocks of the turns.
    pub(crate) blocks: Vec<Block<'a>>,
    /// The words of the blocks.
    pub(crate) words: Vec<TextRun<'a>>,
    /// The kinds of blocks that occur.
    pub(crate) kinds: Kinds,
    /// Definitions of tools that the dialect writes; empty until a pass adds them.
    pub(crate) definitions: Vec<ToolDefinition<'a>>,
    /// How quotes name their authors, by the index in [`Wording::Quote`].
    pub(crate) quotes: Vec<QuotedName<'a>>,
    /// The losses so far.
    pub(crate) losses: Losses,
    /// Calls and results that policy rejects: a pass makes violations of them, in the rule of the dialect.
    pub(crate) rejected: Vec<Violation>,
    /// Rules that the rendering breaks.
    pub(crate) violations: Vec<Violation>,
    /// The messages that are rendered, and their roles.
    pub(crate) progress: Progress,
    /// How much of the conversation is shown.
    pub(crate) extent: Extent,
    /// Which of the perspective's messages a trainer learns from; the others are context.
    pub(crate) trained: TrainedMessages,
    /// The text between messages that were merged into one turn.
    pub(crate) separator: &'a str,
}

impl<'a> TurnPlan<'a> {
    /// Returns the blocks of a turn.
    pub(crate) fn blocks(&self, turn: &Turn<'a>) -> &[Block<'a>] {
        cut::slice(&self.blocks, turn.range())
    }

    /// Returns the blocks of a turn for changes.
    pub(crate) fn blocks_mut(&mut self, turn: Turn<'a>) -> &mut [Block<'a>] {
        cut::slice_mut(&mut self.blocks, turn.range())
    }

    /// Returns the turns with their blocks.
    pub(crate) fn turn_blocks(&self) -> impl DoubleEndedIterator<Item = (&Turn<'a>, &[Block<'a>])> {
        self.turns.iter().map(|turn| (turn, self.blocks(turn)))
    }

    /// Returns the speaker of a turn with this role and these blocks, by which trainers mask text: the perspective, context, or another.
    pub(crate) fn speaker(&self, role: Role, blocks: &[Block<'a>]) -> Speaker {
        let positions = blocks.iter().filter_map(|block| block.position);
        self.trained.speaker(role, positions)
    }

    /// Adds a turn with all blocks from the index `start` to the end of the list.
    pub(crate) fn close(&mut self, turn: Turn<'a>, start: usize) {
        let end = self.blocks.len();
        self.turns.push(Turn { start, end, ..turn });
    }

    /// Adds words and returns their range.
    pub(crate) fn wording(&mut self, words: impl IntoIterator<Item = TextRun<'a>>) -> Words {
        let start = self.words.len();
        self.words.extend(words);
        Words {
            start,
            end: self.words.len(),
        }
    }

    /// Returns the words of a range.
    pub(crate) fn words(&self, words: Words) -> &[TextRun<'a>] {
        cut::slice(&self.words, words.range())
    }

    /// Returns the words of a range for changes.
    pub(crate) fn words_mut(&mut self, words: Words) -> &mut [TextRun<'a>] {
        cut::slice_mut(&mut self.words, words.range())
    }

    /// Returns the text of a block: its lead, then its words. A medium that is carried has a mark such as `<image>` instead of words.
    pub(crate) fn runs(&self, block: &Block<'a>) -> impl Iterator<Item = TextRun<'a>> {
        let (words, mark) = match block.content {
            BlockContent::Words(_, words) => (self.words(words), None),
            BlockContent::Media(media, _) => (&[][..], Some(mark(media.kind))),
            _ => (&[][..], None),
        };
        let mark = mark.map(|mark| TextRun::new(mark, Component::Framing));
        block.lead.runs().chain(words.iter().copied()).chain(mark)
    }

    /// Writes the texts of blocks as one text, with a line break between blocks of one message, and the separator (by default a blank line)
    /// between messages.
    pub(crate) fn joined<'b>(
        &self,
        blocks: impl IntoIterator<Item = &'b Block<'a>>,
        mut write: impl FnMut(TextRun<'a>),
    ) where
        'a: 'b,
    {
        let mut is_first = true;
        for block in blocks {
            let is_quote = match block.content {
                BlockContent::Words(wording, _) => {
                    matches!(wording, Wording::Quote(_)) && block.lead == Lead::None
                }
                BlockContent::Media(..) => false,
                _ => continue,
            };
            if !is_first {
                let component = if is_quote {
                    Component::Replies
                } else {
                    Component::Framing
                };
                write(TextRun::new(
                    if block.opens { self.separator } else { "\n" },
                    component,
                ));
            }
            is_first = false;
            self.runs(block).for_each(&mut write);
        }
    }

    /// Writes the texts of blocks as one JSON string, after `opening`, which ends with the opening quotation mark.
    pub(crate) fn write_joined<'b>(
        &self,
        sink: &mut Sink<'a>,
        opening: &'static str,
        blocks: impl IntoIterator<Item = &'b Block<'a>>,
    ) where
        'a: 'b,
    {
        sink.framing(opening);
        self.joined(blocks, |words| words.write(sink, Level::JsonString));
        sink.framing("\"");
    }

    /// Writes the text of a block as one JSON string, after `opening`, which ends with the opening quotation mark.
    pub(crate) fn write_string(&self, sink: &mut Sink<'a>, opening: &'static str, block: &Block<'a>) {
        sink.framing(opening);
        self.runs(block)
            .for_each(|words| words.write(sink, Level::JsonString));
        sink.framing("\"");
    }

    /// Rebuilds all turns. `change` is called for each turn with the plan, which at first has neither turns nor blocks, and with the turn's
    /// former blocks; it adds the new blocks and turns to the plan.
    pub(crate) fn rebuild(&mut self, mut change: impl FnMut(&mut Self, Turn<'a>, &[Block<'a>])) {
        let turns = std::mem::take(&mut self.turns);
        let blocks = std::mem::take(&mut self.blocks);
        self.turns.reserve(turns.len());
        self.blocks.reserve(blocks.len());
        for turn in turns {
            change(self, turn, cut::slice(&blocks, turn.range()));
        }
    }

    /// Changes the blocks of each turn: `change` returns the new block, or `None` to leave it out.
    pub(crate) fn each_block(
        &mut self,
        mut change: impl FnMut(&mut Self, &Turn<'a>, Block<'a>) -> Option<Block<'a>>,
    ) {
        self.rebuild(|plan, turn, blocks| {
            let start = plan.blocks.len();
            for block in blocks {
                if let Some(block) = change(plan, &turn, *block) {
                    plan.blocks.push(block);
                }
            }
            plan.close(turn, start);
        });
    }

    /// Counts the messages of all blocks in `progress`; a pass calls this when every message has its turn.
    pub(crate) fn note_rendered(&mut self) {
        let mut progress = std::mem::take(&mut self.progress);
        progress.reserve(self.turns.len());
        let turns = self.turn_blocks().flat_map(|(_, blocks)| blocks);
        for block in self.system.iter().chain(turns) {
            match block.position {
                Some(position) => progress.rendered(position, block.role.as_str()),
                None => progress.added(block.role.as_str()),
            }
        }
        self.progress = progress;
    }

    /// Removes the white space at the end of the words of a turn's last block; returns whether there was any.
    pub(crate) fn trim_end(&mut self, turn: Turn<'a>) -> bool {
        let Some(BlockContent::Words(_, words)) = self.blocks(&turn).last().map(|block| block.content) else {
            return false;
        };
        let mut trimmed = false;
        for run in self.words_mut(words).iter_mut().rev() {
            let rest = run.text.trim_end_matches(is_blank_character);
            trimmed |= rest.len() < run.text.len();
            run.text = rest;
            if !rest.is_empty() {
                break;
            }
        }
        trimmed
    }

    /// Returns the facts about the rendering, after a writer has written its text.
    pub(crate) fn finish(self) -> Rendering {
        self.progress.finish(self.extent, self.losses, self.violations)
    }
}
