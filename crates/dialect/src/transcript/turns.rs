//! Turns as flat data: the content of a rendering, in an order and in blocks that passes change and a writer writes.
//!
//! Turns, blocks and words stand in one list each; a turn knows where its blocks begin and end, a block the same of its words.
//! All of it is `Copy`, so that what dialects share is copied at once, and two turns that become one need no new allocation.

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

/// A call as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallBlock<'a> {
    /// Where it stands.
    pub(crate) place: PartPlace,
    /// What it asks.
    pub(crate) call: &'a ToolCall,
    /// Its id.
    pub(crate) id: &'a str,
    /// Its tool, in the spelling that the dialect allows.
    pub(crate) name: &'a str,
    /// Its arguments, in the form that the dialect wants.
    pub(crate) arguments: &'a str,
    /// The item of the vendor's that is written in its place.
    pub(crate) item: Option<&'a VendorItem>,
}

impl CallBlock<'_> {
    /// Whether it has free text in the place of arguments.
    pub(crate) fn is_input(&self) -> bool {
        self.call.form == ArgumentForm::FreeText
    }
}

/// A result as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultBlock<'a> {
    /// The call that it answers; none where it stays loose.
    pub(crate) call: Option<PartPlace>,
    /// The tool's result; none where the answer is synthetic.
    pub(crate) result: Option<&'a ToolResult>,
    /// The tool by the name that the source gives it.
    pub(crate) tool: Option<&'a str>,
    /// Id of its call.
    pub(crate) id: &'a str,
    /// Tool of its call.
    pub(crate) name: &'a str,
    /// The answer as text.
    pub(crate) content: &'a str,
    /// Whether that text is written as the JSON object that it is.
    pub(crate) is_object: bool,
    /// The item of the vendor's that is written in its place.
    pub(crate) item: Option<&'a VendorItem>,
}

impl ResultBlock<'_> {
    /// Whether it is a failure.
    pub(crate) fn is_error(&self) -> bool {
        self.result.is_some_and(|result| result.is_error)
    }
}

/// What kind of words a block of text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// A text of the message, or what stands for one.
    Text,
    /// A quoted message; its number among the quotes of the transcript.
    Quote(usize),
    /// What somebody thought.
    Thought,
    /// A call or a result that is written as text.
    ToolUse,
    /// A name only.
    Name,
}

/// What a block holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockContent<'a> {
    /// Words: from where to where among all words.
    Words(Wording, Words),
    /// A media item, and what stands for it where it cannot be carried.
    Media(&'a Media, Words),
    /// A call.
    Call(CallBlock<'a>),
    /// A result.
    Result(ResultBlock<'a>),
    /// What somebody thought, before it is known whether a dialect writes thoughts.
    Reasoning(&'a str),
    /// A notice inside a message.
    Notice,
    /// What only one vendor has.
    Item(&'a VendorItem),
    /// A cache mark on what stands before it.
    CacheMark,
}

/// A range of words.
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

/// How a quote names whom it quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotedName<'a> {
    /// The head with the alias in the place of a name that turns cannot spell, and whose it is: index of the participant.
    pub(crate) aliased: Option<(&'a str, usize)>,
    /// Whether the name lost control characters that nothing else declares.
    pub(crate) is_cleaned: bool,
}

/// What stands before the words of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead<'a> {
    /// Nothing.
    None,
    /// Somebody's name.
    Name(&'a str),
    /// Words of the dialect.
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

/// A piece of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    /// What it holds.
    pub(crate) content: BlockContent<'a>,
    /// What stands before its words.
    pub(crate) lead: Lead<'a>,
    /// Position of its message; none where the block is synthetic.
    pub(crate) position: Option<u32>,
    /// The role in which its message is rendered.
    pub(crate) role: Role,
    /// Whether it is the first of its message in this turn.
    pub(crate) opens: bool,
    /// Whether a cache mark stands on it.
    pub(crate) is_cached: bool,
}

impl<'a> Block<'a> {
    /// A block with nothing before it.
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

    /// Whether it holds a call.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.content, BlockContent::Call(_))
    }

    /// Whether it holds what only one vendor has.
    pub(crate) fn is_item(&self) -> bool {
        matches!(self.content, BlockContent::Item(_))
    }

    /// Whether it holds a media item.
    pub(crate) fn is_media(&self) -> bool {
        matches!(self.content, BlockContent::Media(..))
    }

    /// Whether it is a media item of the answer before it.
    pub(crate) fn is_answers(&self) -> bool {
        self.is_media() && self.role == Role::Tool
    }

    /// Whether it holds what somebody thought.
    pub(crate) fn is_thought(&self) -> bool {
        matches!(self.content, BlockContent::Words(Wording::Thought, _))
    }
}

/// Blocks, each with the media items that are part of it, as those of an answer are.
pub(crate) fn with_media<'b, 'a>(
    blocks: &'b [Block<'a>],
) -> impl Iterator<Item = (&'b Block<'a>, &'b [Block<'a>])> {
    let all = blocks.iter().enumerate().filter(|(_, block)| !block.is_answers());
    all.map(move |(index, block)| {
        if !matches!(block.content, BlockContent::Result(_)) {
            return (block, &[][..]);
        }
        let (_, behind) = blocks.split_at(index + 1);
        let media = behind.iter().take_while(|block| block.is_answers()).count();
        (block, behind.split_at(media).0)
    })
}

/// A turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    /// Whose it is; [`Role::Tool`] where it holds nothing but results.
    pub(crate) role: Role,
    /// Position of its message, or of the first of them; none where the turn is synthetic.
    pub(crate) position: Option<u32>,
    /// The id of that message, where no turn before has it.
    pub(crate) message_id: Option<&'a str>,
    /// Index of the participant who speaks, where somebody else than the perspective does.
    pub(crate) sender: Option<usize>,
    /// The name that it has in a field of its own.
    pub(crate) alias: Option<&'a str>,
    /// Its first block.
    pub(crate) start: usize,
    /// One past its last block.
    pub(crate) end: usize,
}

impl Turn<'_> {
    /// A turn of a message, or a synthetic one, as yet without blocks.
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

    /// Where its blocks stand.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Kinds of blocks that occur, so that a pass has nothing to look for where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const MEDIA: Self = Self(1);
    pub(crate) const CALLS: Self = Self(1 << 1);
    pub(crate) const RESULTS: Self = Self(1 << 2);
    pub(crate) const REASONING: Self = Self(1 << 3);
    pub(crate) const NOTICES: Self = Self(1 << 4);
    pub(crate) const CACHE_MARKS: Self = Self(1 << 5);
    /// Texts of nothing but white space.
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

/// The turns of a rendering, and what it cost to get them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnPlan<'a> {
    /// System text that stands outside the turns.
    pub(crate) system: Vec<Block<'a>>,
    /// The turns in order.
    pub(crate) turns: Vec<Turn<'a>>,
    /// The blocks of the turns.
    pub(crate) blocks: Vec<Block<'a>>,
    /// The words of the blocks.
    pub(crate) words: Vec<TextRun<'a>>,
    /// Which kinds of blocks occur.
    pub(crate) kinds: Kinds,
    /// Definitions of tools.
    pub(crate) definitions: Vec<ToolDefinition<'a>>,
    /// What else is known of quotes, by their numbers.
    pub(crate) quotes: Vec<QuotedName<'a>>,
    /// Losses so far.
    pub(crate) losses: Losses,
    /// Calls and results that policy rejects.
    pub(crate) rejected: Vec<Violation>,
    /// Rules that the rendering breaks.
    pub(crate) violations: Vec<Violation>,
    /// Which messages are rendered, and in which roles.
    pub(crate) progress: Progress,
    /// How much of the conversation it is.
    pub(crate) extent: Extent,
    /// Which of its messages are trained on.
    pub(crate) trained: TrainedMessages,
    /// The text between messages of one turn.
    pub(crate) separator: &'a str,
}

impl<'a> TurnPlan<'a> {
    /// The blocks of a turn.
    pub(crate) fn blocks(&self, turn: &Turn<'a>) -> &[Block<'a>] {
        cut::slice(&self.blocks, turn.range())
    }

    /// The blocks of a turn, to change them.
    pub(crate) fn blocks_mut(&mut self, turn: Turn<'a>) -> &mut [Block<'a>] {
        cut::slice_mut(&mut self.blocks, turn.range())
    }

    /// The turns with their blocks.
    pub(crate) fn turn_blocks(&self) -> impl DoubleEndedIterator<Item = (&Turn<'a>, &[Block<'a>])> {
        self.turns.iter().map(|turn| (turn, self.blocks(turn)))
    }

    /// The speaker of a turn, by its role and its blocks.
    pub(crate) fn speaker(&self, role: Role, blocks: &[Block<'a>]) -> Speaker {
        let positions = blocks.iter().filter_map(|block| block.position);
        self.trained.speaker(role, positions)
    }

    /// Ends a turn that began with the block of a number.
    pub(crate) fn close(&mut self, turn: Turn<'a>, start: usize) {
        let end = self.blocks.len();
        self.turns.push(Turn { start, end, ..turn });
    }

    /// Adds words.
    pub(crate) fn wording(&mut self, words: impl IntoIterator<Item = TextRun<'a>>) -> Words {
        let start = self.words.len();
        self.words.extend(words);
        Words {
            start,
            end: self.words.len(),
        }
    }

    /// The words of a range.
    pub(crate) fn words(&self, words: Words) -> &[TextRun<'a>] {
        cut::slice(&self.words, words.range())
    }

    /// The words of a range, to change them.
    pub(crate) fn words_mut(&mut self, words: Words) -> &mut [TextRun<'a>] {
        cut::slice_mut(&mut self.words, words.range())
    }

    /// The text of a block: its lead, and its words or the mark of a medium that is in a list of the record.
    pub(crate) fn runs(&self, block: &Block<'a>) -> impl Iterator<Item = TextRun<'a>> {
        let (words, mark) = match block.content {
            BlockContent::Words(_, words) => (self.words(words), None),
            BlockContent::Media(media, _) => (&[][..], Some(mark(media.kind))),
            _ => (&[][..], None),
        };
        let mark = mark.map(|mark| TextRun::new(mark, Component::Framing));
        block.lead.runs().chain(words.iter().copied()).chain(mark)
    }

    /// The texts of blocks as one text: a message's on lines of their own, with a separator between messages, mostly a blank line.
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

    /// Writes the texts of blocks as one JSON string, behind what ends with its quote.
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

    /// Writes the text of a block as one JSON string, behind what ends with its quote.
    pub(crate) fn write_string(&self, sink: &mut Sink<'a>, opening: &'static str, block: &Block<'a>) {
        sink.framing(opening);
        self.runs(block)
            .for_each(|words| words.write(sink, Level::JsonString));
        sink.framing("\"");
    }

    /// Builds all turns anew: `change` gets the plan without its blocks, a turn with those that it had, and adds what becomes of
    /// them; a turn without blocks is none.
    pub(crate) fn rebuild(&mut self, mut change: impl FnMut(&mut Self, Turn<'a>, &[Block<'a>])) {
        let turns = std::mem::take(&mut self.turns);
        let blocks = std::mem::take(&mut self.blocks);
        self.turns.reserve(turns.len());
        self.blocks.reserve(blocks.len());
        for turn in turns {
            change(self, turn, cut::slice(&blocks, turn.range()));
        }
    }

    /// Changes the blocks of each turn: `change` returns what becomes of a block, nothing where it is left out.
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

    /// Notes which messages are rendered.
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

    /// Removes the white space at the end of a block's words; returns whether there was any.
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

    /// The rendering that a writer has written.
    pub(crate) fn finish(self) -> Rendering {
        self.progress.finish(self.extent, self.losses, self.violations)
    }
}
