//! The context of a template: the messages and tools of a conversation as `hf-messages` arranges them. Each text is a piece, which is
//! looked for in the output.

use std::borrow::Cow;
use std::cell::Cell;

use chatmill_model::{Component, Role, Sink, Speaker};

use super::marked_value::{self, MarkedValue, TextPlace};
use super::marks;
use super::tokens::Tokens;
use super::{ArgumentStyle, TPL_01};
use crate::loss::{Losses, reasons};
use crate::text::arena::TextArena;
use crate::text::run::TextRun;
use crate::tools::forms::{self, Form};
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, CallBlock, Turn, TurnPlan};
use crate::view::policy::ControlTokens;

/// What a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text of a turn.
    Text(Role),
    /// The thoughts of the assistant.
    Thoughts,
    /// The tool name of a call.
    CallName,
    /// Arguments of a call, or a text in them.
    Argument,
    /// The id of a call.
    CallId,
    /// The name of a tool that is defined.
    ToolName,
    /// Another text of a definition.
    ToolText,
}

/// A text in the context of a template.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// What it belongs to.
    pub(super) kind: Kind,
    /// Position of its message.
    pub(super) position: Option<u32>,
    /// Number of its turn; `None` for definitions of tools.
    pub(super) turn: Option<usize>,
    /// The runs that it consists of.
    pub(super) words: Vec<TextRun<'a>>,
    /// The whole text.
    pub(super) text: String,
}

impl Piece<'_> {
    /// Whether it belongs to a turn of the assistant.
    pub(super) fn is_own(&self) -> bool {
        match self.kind {
            Kind::Text(role) => role == Role::Assistant,
            Kind::Thoughts | Kind::CallName | Kind::Argument | Kind::CallId => true,
            Kind::ToolName | Kind::ToolText => false,
        }
    }
}

/// The values of a template's context, and the pieces in them.
pub(super) struct TemplateContext<'a, 's> {
    /// All texts, in order.
    pub(super) pieces: Vec<Piece<'a>>,
    /// The variable `messages`.
    pub(super) messages: MarkedValue,
    /// The variable `tools`; `None` without definitions.
    pub(super) tools: Option<MarkedValue>,
    /// The speaker of each turn.
    pub(super) speakers: Vec<Speaker>,
    /// Number of special tokens that chat text spells, if policy keeps them.
    pub(super) forged: u64,
    marks_ids: bool,
    tokens: &'s Tokens,
    arena: &'a TextArena,
    policy: ControlTokens,
    losses: Losses,
}

impl<'a, 's> TemplateContext<'a, 's> {
    /// Builds the values of turns and tools, and declares special tokens in their texts. `calls` is the form of arguments, and whether the
    /// content of a turn with only calls is null. `marks_ids` is whether ids of calls are marked: some templates count the letters of ids,
    /// or compare the id of a result with those of calls.
    pub(super) fn new(
        transcript: &Transcript<'a>,
        plan: &mut TurnPlan<'a>,
        calls: (ArgumentStyle, bool),
        marks_ids: bool,
        tokens: &'s Tokens,
    ) -> Self {
        let mut stage = Self {
            pieces: Vec::new(),
            messages: MarkedValue::list(Vec::new()),
            tools: None,
            speakers: plan
                .turn_blocks()
                .map(|(turn, blocks)| plan.speaker(turn.role, blocks))
                .collect(),
            forged: 0,
            marks_ids,
            tokens,
            arena: transcript.arena(),
            policy: transcript.view().policy.control_tokens,
            losses: std::mem::take(&mut plan.losses),
        };
        stage.definitions(plan);
        let turns = plan.turn_blocks().enumerate();
        let messages = turns.map(|(number, (turn, blocks))| stage.turn(plan, number, turn, blocks, calls));
        stage.messages = MarkedValue::list(messages.collect());
        plan.losses = std::mem::take(&mut stage.losses);
        stage
    }

    /// Whether a call has an id.
    pub(super) fn has_ids(&self) -> bool {
        self.pieces.iter().any(|piece| piece.kind == Kind::CallId)
    }

    /// Whether no text contains characters of marks.
    pub(super) fn can_be_marked(&self) -> bool {
        !self.pieces.iter().any(|piece| marks::occur_in(&piece.text))
    }

    fn definitions(&mut self, plan: &TurnPlan<'a>) {
        if plan.definitions.is_empty() {
            return;
        }
        let mut sink = Sink::default();
        forms::write(&mut sink, ["[", "]"], &plan.definitions, Form::Nested);
        let json = sink.text().to_owned();
        self.tools = self.json(&json, None, &|place| match (place.key, place.depth) {
            ("name", 3) => Some(Kind::ToolName),
            ("description", _) => Some(Kind::ToolText),
            _ => None,
        });
    }

    fn turn(
        &mut self,
        plan: &TurnPlan<'a>,
        number: usize,
        turn: &Turn<'a>,
        blocks: &[Block<'a>],
        (arguments, wants_null): (ArgumentStyle, bool),
    ) -> MarkedValue {
        let (position, role) = (turn.position, turn.role);
        let mut message = vec![("role".to_owned(), MarkedValue::same(role.as_str()))];
        let content = if role == Role::Tool {
            self.result(&mut message, blocks)
        } else {
            let shown = blocks.iter().filter(|block| !block.is_thought());
            self.texts(plan, shown)
        };
        let is_null = wants_null && content.is_empty() && blocks.iter().any(Block::is_call);
        let content = if is_null {
            MarkedValue::same(())
        } else {
            self.piece(Kind::Text(role), position, Some(number), content)
        };
        message.push(("content".to_owned(), content));
        let thoughts = blocks.iter().filter(|block| block.is_thought());
        let thoughts = self.texts(plan, thoughts);
        if !thoughts.is_empty() {
            let thoughts = self.piece(Kind::Thoughts, position, Some(number), thoughts);
            message.push(("reasoning_content".to_owned(), thoughts.clone()));
            // Older templates read this name; transformers sets both.
            message.push(("thinking".to_owned(), thoughts));
        }
        let mut calls = Vec::new();
        for block in blocks {
            if let BlockContent::Call(call) = block.content {
                calls.push(self.call(number, call, arguments));
            }
        }
        if !calls.is_empty() {
            message.push(("tool_calls".to_owned(), MarkedValue::list(calls)));
        }
        MarkedValue::map(message)
    }

    /// Returns texts as one, with special tokens treated by policy.
    fn texts<'b>(
        &mut self,
        plan: &TurnPlan<'a>,
        blocks: impl Iterator<Item = &'b Block<'a>> + Clone,
    ) -> Vec<TextRun<'a>>
    where
        'a: 'b,
    {
        let position = blocks.clone().next().and_then(|block| block.position);
        let mut words = Vec::new();
        plan.joined(blocks, |run| words.push(run));
        for run in &mut words {
            run.text = self.safe(run.text, position);
        }
        words
    }

    /// Returns the content of a result, and adds the keys for its call to the message.
    fn result(&mut self, message: &mut Vec<(String, MarkedValue)>, blocks: &[Block<'a>]) -> Vec<TextRun<'a>> {
        for block in blocks {
            if let BlockContent::Result(result) = block.content {
                let [content, id, name] =
                    [result.content, result.id, result.name].map(|text| self.safe(text, block.position));
                message.push(("tool_call_id".to_owned(), MarkedValue::same(id)));
                message.push(("name".to_owned(), MarkedValue::same(name)));
                return vec![TextRun::new(content, Component::Tools)];
            }
        }
        Vec::new()
    }

    fn call(&mut self, turn: usize, call: CallBlock<'a>, style: ArgumentStyle) -> MarkedValue {
        let (place, turn) = (Some(call.place.position), Some(turn));
        let mut piece = |kind, text, component| {
            let text = self.safe(text, place);
            self.piece(kind, place, turn, vec![TextRun::new(text, component)])
        };
        let id = piece(Kind::CallId, call.id, Component::Meta);
        let name = piece(Kind::CallName, call.name, Component::Tools);
        let arguments = match style {
            ArgumentStyle::String => piece(Kind::Argument, call.arguments, Component::Tools),
            ArgumentStyle::Object => {
                let first = self.pieces.len();
                let marked_value = self.json(call.arguments, place, &|_| Some(Kind::Argument));
                for piece in self.pieces.iter_mut().skip(first) {
                    piece.turn = turn;
                }
                marked_value.unwrap_or_else(|| MarkedValue::map(Vec::new()))
            }
        };
        let function = MarkedValue::map(vec![
            ("name".to_owned(), name),
            ("arguments".to_owned(), arguments),
        ]);
        MarkedValue::map(vec![
            ("id".to_owned(), id),
            ("type".to_owned(), MarkedValue::same("function")),
            ("function".to_owned(), function),
        ])
    }

    /// Reads the values of a JSON text; `kind` decides which of its strings are pieces.
    fn json(
        &mut self,
        raw: &str,
        position: Option<u32>,
        kind: &dyn Fn(TextPlace<'_>) -> Option<Kind>,
    ) -> Option<MarkedValue> {
        let (tokens, policy, arena) = (self.tokens, self.policy, self.arena);
        let spelled = Cell::new(0);
        let safe = |text: String| {
            let (text, count) = treated(Cow::Owned(text), tokens, policy);
            spelled.set(spelled.get() + count);
            text.into_owned()
        };
        let mut text = |text: String, place: TextPlace<'_>| {
            let text = safe(text);
            match kind(place) {
                None => MarkedValue::same(text),
                Some(kind) => {
                    let words = vec![TextRun::new(arena.keep(text), Component::Tools)];
                    self.piece(kind, position, None, words)
                }
            }
        };
        let marked_value = marked_value::read(raw, &mut text, &mut |name| safe(name));
        self.count_forged(spelled.get(), position);
        marked_value
    }

    fn piece(
        &mut self,
        kind: Kind,
        position: Option<u32>,
        turn: Option<usize>,
        words: Vec<TextRun<'a>>,
    ) -> MarkedValue {
        let text: String = words.iter().map(|words| words.text).collect();
        let mut marked_value = MarkedValue::same(text.as_str());
        if kind != Kind::CallId || self.marks_ids {
            marked_value.marked = marks::around(&text, self.pieces.len()).into();
        }
        self.pieces.push(Piece {
            kind,
            position,
            turn,
            words,
            text,
        });
        marked_value
    }

    /// Returns a text with special tokens treated by policy, and declares them.
    fn safe(&mut self, text: &'a str, position: Option<u32>) -> &'a str {
        let (text, count) = treated(Cow::Borrowed(text), self.tokens, self.policy);
        self.count_forged(count, position);
        self.arena.keep(text)
    }

    fn count_forged(&mut self, count: u64, position: Option<u32>) {
        let cause = match self.policy {
            ControlTokens::Escape => reasons::SPECIAL_TOKENS_ARE_ESCAPED.by(TPL_01),
            ControlTokens::Keep => {
                self.forged += count;
                reasons::POLICY_KEEPS_SPECIAL_TOKENS.by(TPL_01)
            }
        };
        self.losses.add(cause, position, count);
    }
}

/// Returns a text with special tokens treated by policy, and the number of tokens.
fn treated<'t>(text: Cow<'t, str>, tokens: &Tokens, policy: ControlTokens) -> (Cow<'t, str>, u64) {
    match policy {
        ControlTokens::Escape => tokens.escape(text),
        ControlTokens::Keep => {
            let count = tokens.count(&text);
            (text, count)
        }
    }
}
