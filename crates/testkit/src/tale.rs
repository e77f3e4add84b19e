//! What a conversation tells, in terms that every family of dialects shares: turns, their pieces, definitions of tools.
//!
//! The law of losses compares two tales: the one that the conversation tells once everything is forgotten that a rendering
//! declares as lost, and the one that the rendering tells when it is read back. Every result is a turn of its own here,
//! however many of them a vendor puts into one turn, and empty text says nothing.

mod account;
mod compared;
mod difference;
mod quoted;
mod tools;

use std::ops::Range;

use chatmill_model::{
    ArgumentForm, Arguments, CallStatus, Linked, Media, Message, MessageKind, Part, PartPlace, Participant,
    Role,
};

pub use account::Account;
pub use difference::difference;
pub use quoted::{Quoted, is_heard_or_seen, placeholder, without_controls};
pub use tools::Tool;

use account::account_id;
use quoted::quotes;
use tools::tools;

/// A stretch of text that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bit {
    /// These words.
    Exact(String),
    /// Some words, declared but not known here.
    Any,
}

/// Text that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(pub Vec<Bit>);

impl Words {
    /// Exactly this text.
    pub fn exact(text: impl Into<String>) -> Self {
        Self(vec![Bit::Exact(text.into())])
    }

    /// Whatever text.
    pub fn any() -> Self {
        Self(vec![Bit::Any])
    }

    /// Appends more words.
    pub fn join(&mut self, between: &str, other: Self) {
        self.0.push(Bit::Exact(between.to_owned()));
        self.0.extend(other.0);
    }

    /// The text, where all of it is known.
    pub fn text(&self) -> Option<String> {
        let mut text = String::new();
        for bit in &self.0 {
            match bit {
                Bit::Exact(words) => text.push_str(words),
                Bit::Any => return None,
            }
        }
        Some(text)
    }

    /// Whether a text is what is expected.
    pub fn matches(&self, text: &str) -> bool {
        fn from(bits: &[Bit], text: &str) -> bool {
            match bits {
                [] => text.is_empty(),
                [Bit::Exact(words), rest @ ..] => text
                    .strip_prefix(words.as_str())
                    .is_some_and(|tail| from(rest, tail)),
                [Bit::Any] => true,
                [Bit::Any, rest @ ..] => {
                    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                    ends.any(|at| text.get(at..).is_some_and(|tail| from(rest, tail)))
                }
            }
        }
        from(&self.0, text)
    }
}

/// An id or name that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// This one, or none.
    Exact(Option<String>),
    /// Another one than the conversation's.
    Any,
}

impl Label {
    /// How an id is told as a name.
    pub fn of_id(id: Option<&str>) -> Self {
        Self::Exact(id.filter(|id| !ROLES.contains(id)).map(str::to_owned))
    }

    /// Without an id that is a role and a colon.
    fn without_role(self) -> Self {
        match self {
            Self::Exact(Some(name)) if name.ends_with(':') => Self::Exact(None),
            label => label,
        }
    }

    /// Without the roles that keep apart two people of one name.
    fn kept_apart(self) -> Self {
        let mut name = match self.without_role() {
            Self::Exact(Some(name)) => name,
            other => return other,
        };
        while let Some((role, rest)) = name.split_once(':')
            && ["user", "assistant", "model"].contains(&role)
        {
            name = String::from(rest);
        }
        Self::Exact(Some(name).filter(|name| !name.is_empty() && !ROLES.contains(&name.as_str())))
    }

    fn matches(&self, told: &Self) -> bool {
        *self == Self::Any || self == told
    }
}

/// Arguments of a call: how they are written, and what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// As text or as a value.
    pub form: ArgumentForm,
    /// The text, or the value without white space.
    pub text: String,
    /// Whether they are a JSON object, some other JSON, or none.
    pub kind: &'static str,
}

impl Asked {
    fn of(arguments: &Arguments, form: ArgumentForm) -> Self {
        let kind = match arguments {
            Arguments::Object(_) => "object",
            Arguments::NotObject(_) => "other",
            Arguments::Malformed(_) => "malformed",
        };
        let mut text = arguments.source_text().to_owned();
        if form == ArgumentForm::Embedded {
            text = compact(&text);
        }
        Self { form, text, kind }
    }
}

/// JSON without its insignificant white space.
pub fn compact(text: &str) -> String {
    let mut compact = String::new();
    chatmill_model::json::push_compact(&mut compact, text);
    compact
}

/// A piece of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text; `added` where it is not the message's own.
    Text {
        /// The words.
        words: Words,
        /// Whether a rendering adds it behind the message's own words.
        added: bool,
    },
    /// A medium.
    Medium(Media),
    /// A call.
    Call {
        /// Its number among the calls.
        number: usize,
        /// Its id.
        id: Label,
        /// Its tool.
        name: Label,
        /// What it asks.
        asked: Asked,
    },
    /// A result.
    Answer {
        /// The number of its call.
        call: Option<usize>,
        /// The id that it names.
        id: Label,
        /// The tool that it names, where that is not the call's.
        name: Label,
        /// What the tool said.
        words: Words,
        /// Whether it is a failure.
        is_error: bool,
        /// Whether its call has another answer already.
        is_further: bool,
    },
    /// What the assistant thought.
    Thought(String),
    /// A cache mark.
    Mark,
}

impl Piece {
    /// A text of the message itself.
    pub fn text(words: Words) -> Self {
        Self::Text { words, added: false }
    }
}

/// What a message knows beside what it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its id.
    pub ids: Vec<String>,
    /// Its time.
    pub times: Vec<String>,
    /// Whom it mentions.
    pub mentions: Vec<String>,
    /// Further fields.
    pub extra: Vec<String>,
    /// Replies.
    pub references: usize,
    /// The name that it gives its sender beside the roster's.
    pub other_name: Option<String>,
    /// The name that it gives its sender, where it is compared.
    pub given: Option<String>,
}

/// A turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Position of its message; none where it is made up.
    pub at: Option<u32>,
    /// Who it speaks as.
    pub role: Role,
    /// Whether it is the perspective's.
    pub own: bool,
    /// Whether it is not a turn but an event.
    pub is_notice: bool,
    /// Whether its media stand already where a rendering puts them.
    pub is_settled: bool,
    /// Who speaks, where that is more than the role says.
    pub name: Label,
    /// The id of who speaks, where it is compared.
    pub sender: Option<String>,
    /// Who speaks, as systems know him whose accounts are shared.
    pub account: Account,
    /// Its pieces.
    pub pieces: Vec<Piece>,
    /// What it replies to, as far as that is there.
    pub quotes: Vec<Quoted>,
    /// What it knows beside them.
    pub facts: Facts,
    /// When it was said, where turns are put in order of that.
    pub time: i64,
}

impl Turn {
    /// A turn that the conversation has not.
    pub fn made_up(role: Role, piece: Piece) -> Self {
        Self {
            at: None,
            role,
            own: false,
            is_notice: false,
            is_settled: false,
            name: Label::Exact(None),
            sender: None,
            account: Account::default(),
            pieces: vec![piece],
            quotes: Vec::new(),
            facts: Facts::default(),
            time: i64::MIN,
        }
    }

    /// What is said in it, as far as that is known.
    fn said(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text { words, .. } => words.text(),
            _ => None,
        });
        texts.collect::<Vec<String>>().join("\n")
    }

    /// Whether it is a result.
    pub fn is_answer(&self) -> bool {
        matches!(self.pieces.first(), Some(Piece::Answer { .. }))
    }

    /// Whether it holds a call.
    pub fn calls(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Call { .. }))
    }
}

/// What a conversation tells.
#[derive(Clone, Debug)]
pub struct Tale {
    /// Its turns.
    pub turns: Vec<Turn>,
    /// Its tools; none stands for a definition that is not a function's.
    pub tools: Vec<Option<Tool>>,
    /// Facts about the conversation, by name.
    pub metadata: Vec<String>,
    /// Its id.
    pub id: Option<String>,
    /// People of whom facts are known.
    pub people: usize,
    /// Those among them of whom nothing is known but that they are agents of an account.
    pub agents: usize,
    /// Of each call, by number: whether it is the perspective's, and the name of who made it.
    pub callers: Vec<(bool, Label)>,
    /// Whether the first turn gathers system text.
    pub has_front: bool,
}

impl Tale {
    /// What a conversation tells that was read back. A speaker without a name whose role is taken as an id by somebody else
    /// has the role and a colon as id.
    pub fn told(linked: &Linked) -> Self {
        let mut tale = Self::of(linked, None);
        for turn in &mut tale.turns {
            turn.name = std::mem::replace(&mut turn.name, Label::Any).without_role();
        }
        tale
    }

    /// What a conversation tells through the eyes of a participant.
    pub fn of(linked: &Linked, perspective: Option<usize>) -> Self {
        Self::among(linked, perspective, 0..linked.conversation.messages.len())
    }

    /// What some messages of a conversation tell.
    pub fn among(linked: &Linked, perspective: Option<usize>, messages: Range<usize>) -> Self {
        let conversation = &linked.conversation;
        let mut tale = Self {
            turns: Vec::new(),
            tools: conversation
                .tools
                .iter()
                .flat_map(|raw| tools(raw.as_str()))
                .collect(),
            metadata: Vec::new(),
            id: conversation.source_id.clone(),
            people: 0,
            agents: 0,
            callers: Vec::new(),
            has_front: false,
        };
        let title = conversation.title.iter().map(|_| "title");
        tale.metadata = title
            .chain(conversation.description.iter().map(|_| "description"))
            .chain(conversation.extra.0.iter().map(|(key, _)| key.as_str()))
            .chain(conversation.envelope.0.iter().map(|(key, _)| key.as_str()))
            .map(str::to_owned)
            .collect();
        for person in &conversation.participants {
            let is_known = person.custom_role.is_some()
                || person.department.is_some()
                || person.email.is_some()
                || !person.extra.is_empty();
            tale.people += usize::from(is_known);
            let is_agent = account_id(linked, person) != person.id && person.extra.0.len() == 1;
            tale.agents += usize::from(is_agent);
        }
        let calls: Vec<PartPlace> = places(linked, |part| matches!(part, Part::ToolCall(_)));
        for message in &conversation.messages[messages] {
            let own = perspective.is_some() && message.sender == perspective;
            let name = Label::Exact(shown_name(linked, message));
            let made = message
                .parts
                .iter()
                .filter(|part| matches!(part, Part::ToolCall(_)));
            tale.callers.extend(made.map(|_| (own, name.clone())));
            tale.add(linked, perspective, &calls, message);
        }
        tale
    }

    fn add(&mut self, linked: &Linked, perspective: Option<usize>, calls: &[PartPlace], message: &Message) {
        let own = perspective.is_some() && message.sender == perspective;
        let mut before = Vec::new();
        let mut said = Vec::new();
        let mut behind = Vec::new();
        for (index, part) in (0..).zip(&message.parts) {
            let place = PartPlace {
                position: message.position,
                part: index,
            };
            let piece = match part {
                Part::Text(text) | Part::Reasoning(text) if text.is_empty() => continue,
                Part::Media(media) => Piece::Medium(media.clone()),
                Part::Reasoning(thought) => Piece::Thought(thought.clone()),
                Part::Text(text) | Part::Notice(text) => Piece::text(Words::exact(text.as_str())),
                Part::CacheMark => Piece::Mark,
                Part::ToolCall(call) => Piece::Call {
                    number: calls.iter().position(|known| *known == place).unwrap(),
                    id: Label::Exact(call.known_id().map(str::to_owned)),
                    name: Label::Exact(call.name.clone().filter(|name| !name.is_empty())),
                    asked: Asked::of(&call.arguments, call.form),
                },
                Part::ToolResult(result) => {
                    let pairing = linked
                        .pairings
                        .iter()
                        .find(|pairing| pairing.result == Some(place));
                    let call = pairing.and_then(|pairing| pairing.call);
                    let called = call.and_then(|place| name_of(linked, place));
                    let piece = Piece::Answer {
                        call: call.and_then(|place| calls.iter().position(|known| *known == place)),
                        // Which call it answers says more than the id by which it does.
                        id: Label::Exact(result.known_id().filter(|_| call.is_none()).map(str::to_owned)),
                        name: Label::Exact(result.name.clone().filter(|name| Some(name) != called.as_ref())),
                        words: Words::exact(result.content.as_str()),
                        is_error: result.is_error,
                        is_further: pairing.is_some_and(|pairing| pairing.status == CallStatus::Duplicate),
                    };
                    let list = if said.is_empty() { &mut before } else { &mut behind };
                    list.push(piece);
                    continue;
                }
            };
            match behind.last().or(before.last()) {
                // A mark on a result.
                Some(_) if piece == Piece::Mark && said.is_empty() => before.push(piece),
                _ => said.push(piece),
            }
        }
        let turn = |role, pieces| Turn {
            at: Some(message.position),
            role,
            own,
            is_notice: message.kind == MessageKind::Notice,
            is_settled: false,
            name: Label::Exact(shown_name(linked, message)),
            sender: message
                .sender
                .map(|sender| linked.conversation.participants[sender].id.clone()),
            account: Account::of(linked, message),
            pieces,
            quotes: Vec::new(),
            facts: Facts::default(),
            time: i64::MIN,
        };
        let first = self.turns.len();
        let mut answers = Vec::new();
        for piece in before {
            match piece {
                Piece::Mark => {
                    let last: Option<&mut Turn> = answers.last_mut();
                    last.unwrap().pieces.push(piece);
                }
                answer => answers.push(turn(Role::Tool, vec![answer])),
            }
        }
        let has_said = !said.is_empty() || answers.is_empty() && behind.is_empty();
        self.turns.append(&mut answers);
        if has_said {
            self.turns.push(turn(message.role, said));
        }
        for answer in behind {
            self.turns.push(turn(Role::Tool, vec![answer]));
        }
        if let Some(turn) = self.turns.get_mut(first) {
            turn.facts = Self::facts(linked, message);
            turn.quotes = quotes(linked, message);
        }
    }

    fn facts(linked: &Linked, message: &Message) -> Facts {
        let sender = message
            .sender
            .and_then(|sender| linked.conversation.participants.get(sender));
        let own = sender.and_then(|sender| sender.name.clone().or(sender.alias.clone()));
        let other = message.sender_name.clone();
        Facts {
            ids: message.id.iter().cloned().collect(),
            times: message
                .timestamp
                .iter()
                .map(|time| match time.instant {
                    // However it is written.
                    Some(instant) => instant.to_string(),
                    None => time.raw.clone(),
                })
                .collect(),
            mentions: message.mentions.clone(),
            extra: message.extra.0.iter().map(|(key, _)| key.clone()).collect(),
            references: message.references.len(),
            given: other.clone(),
            other_name: other.filter(|other| own.is_some_and(|own| own != *other)),
        }
    }
}

fn own_name(person: &Participant) -> Option<String> {
    let names = [&person.name, &person.alias];
    names.into_iter().flatten().find(|name| !name.is_empty()).cloned()
}

fn places(linked: &Linked, wanted: impl Fn(&Part) -> bool) -> Vec<PartPlace> {
    let mut places = Vec::new();
    for message in &linked.conversation.messages {
        for (part, found) in (0..).zip(&message.parts) {
            if wanted(found) {
                places.push(PartPlace {
                    position: message.position,
                    part,
                });
            }
        }
    }
    places
}

fn name_of(linked: &Linked, place: PartPlace) -> Option<String> {
    match &linked.conversation.messages[place.position as usize].parts[place.part as usize] {
        Part::ToolCall(call) => call.name.clone(),
        _ => None,
    }
}

/// Words that say no more of a speaker than the role does.
const ROLES: [&str; 7] = [
    "user",
    "assistant",
    "model",
    "system",
    "tool",
    "human",
    "developer",
];

/// The name of the sender; none where it says no more than the role.
fn shown_name(linked: &Linked, message: &Message) -> Option<String> {
    let given = message.sender_name.clone().filter(|name| !name.is_empty());
    let Some(sender) = message
        .sender
        .map(|sender| &linked.conversation.participants[sender])
    else {
        return given;
    };
    let is_nobody = ROLES.contains(&sender.id.as_str()) || sender.role.as_ref() == Some(&sender.id);
    own_name(sender).or((!is_nobody).then(|| sender.id.clone()))
}
