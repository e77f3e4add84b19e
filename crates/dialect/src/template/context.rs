//! What a template is given: the messages and tools of a conversation as `hf-messages` arranges them, each text a piece
//! that is looked for in the output.

use std::borrow::Cow;
use std::cell::Cell;

use chatmill_model::{Component, Role, Sink};

use super::marked_value::{self, MarkedValue, Place};
use super::marks;
use super::tokens::Tokens;
use super::{ArgumentStyle, TPL_01};
use crate::arguments::{as_object, as_text};
use crate::definitions::{self, Form};
use crate::dialects::hf_messages::HFM_04;
use crate::loss::{LossCode, Losses, reasons};
use crate::policy::ControlTokens;
use crate::text_run::TextRun;
use crate::turn_plan::say::joined;
use crate::turn_plan::{Block, BlockContent, CallBlock, Turn, TurnPlan};
use crate::view::View;

/// What a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text of a turn.
    Text(Role),
    /// What the assistant thought.
    Thoughts,
    /// The tool of a call.
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

/// A text that a template is given.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// What it is of.
    pub(super) kind: Kind,
    /// Position of its message.
    pub(super) position: Option<u32>,
    /// Number of its turn; none where it is a tool's definition.
    pub(super) turn: Option<usize>,
    /// What it consists of.
    pub(super) words: Vec<TextRun<'a>>,
    /// All of it.
    pub(super) text: String,
}

impl Piece<'_> {
    /// Whether it is of a turn of the assistant.
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
    /// Every text, in order.
    pub(super) pieces: Vec<Piece<'a>>,
    /// `messages`.
    pub(super) messages: MarkedValue,
    /// `tools`; none where there are no definitions.
    pub(super) tools: Option<MarkedValue>,
    /// Special tokens that chat text spells, where policy keeps them.
    pub(super) forged: u64,
    tokens: &'s Tokens,
    policy: ControlTokens,
}

impl<'a, 's> TemplateContext<'a, 's> {
    /// Sets up what a view says.
    pub(super) fn new(
        view: &View<'a>,
        script: &mut TurnPlan<'a>,
        arguments: ArgumentStyle,
        tokens: &'s Tokens,
    ) -> Self {
        let mut stage = Self {
            pieces: Vec::new(),
            messages: MarkedValue::list(Vec::new()),
            tools: None,
            forged: 0,
            tokens,
            policy: view.policy.control_tokens,
        };
        stage.definitions(view, script);
        let turns = std::mem::take(&mut script.turns);
        let turns = turns.into_iter().enumerate();
        let messages = turns.map(|(number, turn)| stage.turn(number, turn, arguments, &mut script.losses));
        stage.messages = MarkedValue::list(messages.collect());
        stage
    }

    /// Whether marks would be told from what people wrote.
    pub(super) fn can_be_marked(&self) -> bool {
        !self.pieces.iter().any(|piece| marks::occur_in(&piece.text))
    }

    fn definitions(&mut self, view: &View<'a>, script: &mut TurnPlan<'a>) {
        let mut sink = Sink::default();
        let tools = &view.conversation().tools;
        let names = &script.tool_names;
        definitions::write(
            &mut sink,
            ["[", "]"],
            tools,
            Form::Nested,
            names,
            &mut script.losses,
        );
        let json = sink.text().to_owned();
        if json.is_empty() {
            return;
        }
        self.tools = self.json(
            &json,
            None,
            &mut script.losses,
            &|place| match (place.key, place.depth) {
                ("name", 3) => Some(Kind::ToolName),
                ("description", _) => Some(Kind::ToolText),
                _ => None,
            },
        );
    }

    fn turn(
        &mut self,
        number: usize,
        mut turn: Turn<'a>,
        arguments: ArgumentStyle,
        losses: &mut Losses,
    ) -> MarkedValue {
        let position = turn.said.first().and_then(|(position, _)| *position);
        let role = turn.role;
        let mut message = vec![("role".to_owned(), MarkedValue::same(role.as_str()))];
        let thoughts = std::mem::take(&mut turn.thoughts);
        let (said, called) = Block::apart(turn.blocks);
        let content = if role == Role::Tool {
            self.result(&mut message, said, losses)
        } else {
            self.texts(said, losses)
        };
        message.push((
            "content".to_owned(),
            self.piece(Kind::Text(role), position, Some(number), content),
        ));
        if !thoughts.is_empty() {
            let thoughts = self.safe_words(thoughts, position, losses);
            let thoughts = self.piece(Kind::Thoughts, position, Some(number), thoughts);
            message.push(("reasoning_content".to_owned(), thoughts.clone()));
            // Older templates read this name; transformers gives both.
            message.push(("thinking".to_owned(), thoughts));
        }
        let mut calls = Vec::new();
        for block in called {
            if let (BlockContent::Call(call), Some(position)) = (block.held, block.position) {
                calls.push(self.call(number, call, position, arguments, losses));
            }
        }
        if !calls.is_empty() {
            message.push(("tool_calls".to_owned(), MarkedValue::list(calls)));
        }
        MarkedValue::map(message)
    }

    fn texts(&mut self, mut blocks: Vec<Block<'a>>, losses: &mut Losses) -> Vec<TextRun<'a>> {
        for block in &mut blocks {
            if let BlockContent::Text(words) = &mut block.held {
                *words = self.safe_words(std::mem::take(words), block.position, losses);
            }
        }
        joined(blocks)
    }

    /// What a tool answered; the keys that name its call go into the message.
    fn result(
        &mut self,
        message: &mut Vec<(String, MarkedValue)>,
        blocks: Vec<Block<'a>>,
        losses: &mut Losses,
    ) -> Vec<TextRun<'a>> {
        for block in blocks {
            if let BlockContent::Result(result) = block.held {
                let content = self.safe(result.content(), block.position, losses);
                let id = self.safe(result.id, block.position, losses);
                let name = self.safe(result.name, block.position, losses);
                message.push(("tool_call_id".to_owned(), MarkedValue::same(id)));
                message.push(("name".to_owned(), MarkedValue::same(name)));
                return vec![TextRun::new(content, Component::Tools)];
            }
        }
        Vec::new()
    }

    fn call(
        &mut self,
        turn: usize,
        said: CallBlock<'a>,
        position: u32,
        arguments: ArgumentStyle,
        losses: &mut Losses,
    ) -> MarkedValue {
        let (place, turn) = (Some(position), Some(turn));
        let id = vec![TextRun::new(self.safe(said.id, place, losses), Component::Meta)];
        let id = self.piece(Kind::CallId, place, turn, id);
        let name = vec![TextRun::new(
            self.safe(said.name, place, losses),
            Component::Tools,
        )];
        let name = self.piece(Kind::CallName, place, turn, name);
        let arguments = match arguments {
            ArgumentStyle::String => {
                let text = self.safe(as_text(said.call, position, losses), place, losses);
                self.piece(
                    Kind::Argument,
                    place,
                    turn,
                    vec![TextRun::new(text, Component::Tools)],
                )
            }
            ArgumentStyle::Object => {
                let object = as_object(said.call, position, HFM_04, losses);
                let first = self.pieces.len();
                let marked_value = self.json(&object, place, losses, &|_| Some(Kind::Argument));
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

    /// Values of a JSON text; `kind` says which of its strings are pieces.
    fn json(
        &mut self,
        raw: &str,
        position: Option<u32>,
        losses: &mut Losses,
        kind: &dyn Fn(Place<'_>) -> Option<Kind>,
    ) -> Option<MarkedValue> {
        let (tokens, policy) = (self.tokens, self.policy);
        let spelled = Cell::new(0);
        let safe = |text: String| {
            let (text, count) = treated(Cow::Owned(text), tokens, policy);
            spelled.set(spelled.get() + count);
            text.into_owned()
        };
        let mut text = |text: String, place: Place<'_>| {
            let text = safe(text);
            match kind(place) {
                None => MarkedValue::same(text),
                Some(kind) => self.piece(kind, position, None, vec![TextRun::new(text, Component::Tools)]),
            }
        };
        let marked_value = marked_value::read(raw, &mut text, &mut |name| safe(name));
        self.book(spelled.get(), position, losses);
        marked_value
    }

    fn piece(
        &mut self,
        kind: Kind,
        position: Option<u32>,
        turn: Option<usize>,
        words: Vec<TextRun<'a>>,
    ) -> MarkedValue {
        let text: String = words.iter().map(|words| words.text.as_ref()).collect();
        let marked_value = MarkedValue {
            marked: marks::around(&text, self.pieces.len()).into(),
            plain: text.as_str().into(),
        };
        self.pieces.push(Piece {
            kind,
            position,
            turn,
            words,
            text,
        });
        marked_value
    }

    fn safe_words(
        &mut self,
        words: Vec<TextRun<'a>>,
        position: Option<u32>,
        losses: &mut Losses,
    ) -> Vec<TextRun<'a>> {
        let safe = words.into_iter().map(|words| TextRun {
            text: self.safe(words.text, position, losses),
            component: words.component,
        });
        safe.collect()
    }

    /// A text whose special tokens are treated as policy says.
    fn safe(&mut self, text: Cow<'a, str>, position: Option<u32>, losses: &mut Losses) -> Cow<'a, str> {
        let (text, count) = treated(text, self.tokens, self.policy);
        self.book(count, position, losses);
        text
    }

    fn book(&mut self, count: u64, position: Option<u32>, losses: &mut Losses) {
        let (code, reason) = match self.policy {
            ControlTokens::Escape => (
                LossCode::ReservedTextEscaped,
                reasons::SPECIAL_TOKENS_ARE_ESCAPED.by(TPL_01),
            ),
            ControlTokens::Keep => {
                self.forged += count;
                (
                    LossCode::SpecialTokenInText,
                    reasons::POLICY_KEEPS_SPECIAL_TOKENS.by(TPL_01),
                )
            }
        };
        match position {
            Some(position) => losses.several(code, position, count, reason),
            None => losses.whole_rendering(code, count, reason),
        }
    }
}

/// A text whose special tokens are treated as policy says, and how many it spelled.
fn treated<'t>(text: Cow<'t, str>, tokens: &Tokens, policy: ControlTokens) -> (Cow<'t, str>, u64) {
    match policy {
        ControlTokens::Escape => tokens.escape(text),
        ControlTokens::Keep => {
            let count = tokens.count(&text);
            (text, count)
        }
    }
}
