//! Messages and their parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::extra::{Extra, RawJson};
use crate::timestamp::Timestamp;
use crate::usage::Usage;

/// A role.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RoleWord")]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// A person.
    User,
    /// The model or bot.
    Assistant,
    /// Instructions.
    System,
    /// A tool's result.
    Tool,
}

impl Role {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Whether a message is a turn of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum MessageKind {
    /// A turn of a participant.
    Message,
    /// An event: joined, typing, status. Rendered only by the dialects of its own system.
    Notice,
}

impl MessageKind {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a media item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// Moving pictures.
    Video,
    /// Any other file.
    File,
    /// A link to a page.
    Link,
}

impl MediaKind {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Where the bytes of a media item are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MediaSource {
    /// A URL or URI.
    Url(String),
    /// Base64 text inside the record.
    Inline(String),
    /// The text of a document, as it is read.
    Text(String),
    /// Uploaded elsewhere: known by name only.
    Upload,
}

/// A reference to a picture, sound, video, file or page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Media {
    /// What it is.
    pub kind: MediaKind,
    /// Where its bytes are.
    pub source: MediaSource,
    /// MIME type, where the source states it.
    pub media_type: Option<String>,
    /// File name, where the source states it.
    pub name: Option<String>,
}

/// The arguments of a tool call, always with their source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arguments {
    /// A JSON object.
    Object(RawJson),
    /// JSON, but not an object.
    NotObject(RawJson),
    /// Not JSON.
    Malformed(String),
}

impl Arguments {
    /// The source text.
    pub fn source_text(&self) -> &str {
        match self {
            Self::Object(raw) | Self::NotObject(raw) => raw.as_str(),
            Self::Malformed(text) => text,
        }
    }
}

/// How the source wrote arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentForm {
    /// As a JSON string that contains the arguments.
    Text,
    /// As a JSON value.
    Embedded,
    /// As text that need not be JSON: the tool takes any text by its specification.
    FreeText,
}

/// A text that is not blank.
fn known(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

/// A request to run a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolCall {
    /// Id that the result refers to.
    pub id: Option<String>,
    /// Name of the tool.
    pub name: Option<String>,
    /// Its arguments.
    pub arguments: Arguments,
    /// How the source wrote them.
    pub form: ArgumentForm,
    /// A second id that the source's metadata gives the call, where that is another or the only one.
    pub metadata_id: Option<String>,
    /// What it is in its vendor's API, where that is not the call of a function.
    pub own: Option<Box<OwnItem>>,
}

impl ToolCall {
    /// A call with these arguments and without metadata.
    pub fn new(
        id: Option<String>,
        name: Option<String>,
        (arguments, form): (Arguments, ArgumentForm),
    ) -> Self {
        Self {
            id,
            name,
            arguments,
            form,
            metadata_id: None,
            own: None,
        }
    }

    /// The id by which everybody behind the source knows the call: its own, else that of the metadata.
    pub fn known_id(&self) -> Option<&str> {
        known(self.id.as_ref()).or_else(|| known(self.metadata_id.as_ref()))
    }
}

/// What a tool answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ToolResult {
    /// Id of the call.
    pub call_id: Option<String>,
    /// Name of the tool.
    pub name: Option<String>,
    /// The answer as text.
    pub content: String,
    /// Whether the source marks it as a failure.
    pub is_error: bool,
    /// Id of the call in the source's metadata, where that is another or the only one.
    pub metadata_id: Option<String>,
    /// Id of the message that made the call, where the source states it.
    pub caller: Option<String>,
    /// How many media items that stand directly behind it in its message are part of the answer.
    pub media: u32,
    /// Whether the source has the answer as JSON rather than as text.
    pub is_json: bool,
    /// How many texts of the source the answer joins by line breaks, beyond the first.
    pub joined: u32,
    /// What it is in its vendor's API, where that is not the result of a function.
    pub own: Option<Box<OwnItem>>,
}

impl ToolResult {
    /// The id by which everybody behind the source knows the call that it answers: its own, else that of the metadata.
    pub fn known_id(&self) -> Option<&str> {
        known(self.call_id.as_ref()).or_else(|| known(self.metadata_id.as_ref()))
    }
}

/// A vendor, by the description of its API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Vendor {
    /// Anthropic's Messages.
    Anthropic,
    /// Bedrock's Converse.
    Converse,
    /// Google's `generateContent`.
    Gemini,
    /// Responses of `OpenAI`.
    Responses,
}

impl Vendor {
    /// The word that the `parts` column uses.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A piece of a message that only one vendor's API has, as it was written: a step of a tool that runs at the vendor's, for example.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VendorItem {
    /// The vendor.
    pub vendor: Vendor,
    /// The JSON of the piece.
    pub raw: RawJson,
}

/// The item of its vendor's API that a call or a result is, with the fields that a call of a function lacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OwnItem {
    /// An item of a tool that the API defines and the client runs.
    Client(VendorItem),
    /// A piece of the answer around it: the tool runs at the vendor's.
    Hosted(VendorItem),
    /// In the piece of the call that the result answers.
    Inside,
}

impl OwnItem {
    /// The item as it was written; none inside another.
    pub const fn item(&self) -> Option<&VendorItem> {
        match self {
            Self::Client(item) | Self::Hosted(item) => Some(item),
            Self::Inside => None,
        }
    }
}

/// Parts and their numbers, without media items that are part of a tool's answer.
pub fn own_parts(parts: &[Part]) -> impl Iterator<Item = (usize, &Part)> {
    let mut answered = 0;
    parts.iter().enumerate().filter(move |(_, part)| match part {
        Part::ToolResult(result) => {
            answered = result.media;
            true
        }
        Part::Media(_) if answered > 0 => {
            answered -= 1;
            false
        }
        _ => {
            answered = 0;
            true
        }
    })
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A media item.
    Media(Media),
    /// A tool call.
    ToolCall(ToolCall),
    /// A tool result.
    ToolResult(ToolResult),
    /// What a model thought.
    Reasoning(String),
    /// What happened, in a notice.
    Notice(String),
    /// A prompt-cache mark.
    CacheMark,
    /// What only one vendor has.
    Item(VendorItem),
}

impl Part {
    /// The word that the `parts` column uses.
    pub fn type_name(&self) -> &'static str {
        self.into()
    }
}

/// What a reference shows of its target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Preview {
    /// Quoted text.
    pub content: Option<String>,
    /// Id of the author.
    pub sender: Option<String>,
    /// Name of the author.
    pub sender_name: Option<String>,
    /// Whether the author is a bot, where the source states it.
    pub from_agent: bool,
    /// When the target was written.
    pub timestamp: Option<Timestamp>,
    /// The source's own type word for the target.
    pub source_type: Option<String>,
}

/// How a source wrote a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReferenceForm {
    /// An id.
    #[default]
    Id,
    /// An object; its text is kept.
    Object(RawJson),
    /// The beginning of the target's text, which the preview holds: linking looks for it.
    Excerpt,
}

/// A reference from one message to another, before linking.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Id of the target; none when the source shows only a preview.
    pub target: Option<String>,
    /// What it shows of the target.
    pub preview: Option<Preview>,
    /// How it was written.
    pub form: ReferenceForm,
    /// Whether the source made it up: nobody replied.
    pub is_pseudo: bool,
    /// What the target refers to in its turn, where the reference shows it.
    pub nested: Vec<Reference>,
}

/// Where a message stood in its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MessageOrigin {
    /// First byte, in the decompressed entry.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Index in the record's own list of messages.
    pub index: u32,
}

/// The facts that a message leaves to its copy in an earlier conversation of its record, so that they count once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierCopy {
    /// The training weight.
    pub weight: Option<Weight>,
    /// The logged usage of the request that the message answers.
    pub usage: Option<Usage>,
    /// The logged usage as it was written.
    pub extra: Extra,
    /// Whether the copy is in another record, so that nothing is ever taken back.
    pub elsewhere: bool,
}

/// The training weight of a message, as in the fine-tuning files of `OpenAI`: 0 is context only, 1 is trained on. A
/// source's `train: false` means 0.
///
/// Always a finite number, so that weights can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight(f64);

impl Weight {
    /// A weight, of any finite number.
    pub fn new(weight: f64) -> Option<Self> {
        weight.is_finite().then_some(Self(weight))
    }

    /// The number.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl Eq for Weight {}

/// A fact of place or sender that some sources write with each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The chat, which is the conversation's id or the first half of it.
    Chat,
    /// The thread in the chat, which is the other half.
    Thread,
    /// The sender's id.
    SenderId,
    /// The sender's name.
    SenderName,
    /// The sender's second name.
    SenderAlias,
}

/// Facts that a message does not state although its conversation or the roster knows them, from other messages.
///
/// Sources that state such facts once for all messages leave the set empty: their messages count as stating everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unstated(u8);

impl Unstated {
    /// Adds a fact.
    pub const fn insert(&mut self, fact: Fact) {
        self.0 |= 1 << fact as u8;
    }

    /// Whether a fact is among them.
    pub const fn holds(self, fact: Fact) -> bool {
        self.0 & (1 << fact as u8) != 0
    }
}

/// A message or a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The source's id, qualified (`msg_0425~2`) where it is not unique.
    pub id: Option<String>,
    /// A second id of the message, which references may name, where the source has one.
    pub external_id: Option<String>,
    /// Index in the conversation.
    pub position: u32,
    /// Index of the sender in `Conversation::participants`.
    pub sender: Option<usize>,
    /// The name that the message itself gives its sender.
    pub sender_name: Option<String>,
    /// The facts about place and sender that only its neighbours state.
    pub unstated: Unstated,
    /// The role.
    pub role: Role,
    /// Turn or event.
    pub kind: MessageKind,
    /// The source's own type word.
    pub source_type: Option<String>,
    /// When it was written.
    pub timestamp: Option<Timestamp>,
    /// Its pieces.
    pub parts: Vec<Part>,
    /// Its references, as written.
    pub references: Vec<Reference>,
    /// Ids or names of the participants that the message mentions.
    pub mentions: Vec<String>,
    /// The training weight, where the source states one.
    pub weight: Option<Weight>,
    /// The model that wrote the message, where the message or the log of its request names one.
    pub model: Option<Box<str>>,
    /// The id of the model's answer that the message is, or is a piece of, where the source states one.
    pub answer: Option<Box<str>>,
    /// The logged usage of the request that the message answers; of the request that it ends, where no answer was logged.
    pub usage: Option<Usage>,
    /// The facts left to the message's copy in an earlier conversation of its record, where there is one.
    pub earlier_copy: Option<Box<EarlierCopy>>,
    /// Fields that have no place above.
    pub extra: Extra,
    /// Where it stood.
    pub origin: MessageOrigin,
}

impl Message {
    /// A message of which only role, position and origin are known.
    pub fn new(role: Role, position: u32, origin: MessageOrigin) -> Self {
        Self {
            id: None,
            external_id: None,
            position,
            sender: None,
            sender_name: None,
            unstated: Unstated::default(),
            role,
            kind: MessageKind::Message,
            source_type: None,
            timestamp: None,
            parts: Vec::new(),
            references: Vec::new(),
            mentions: Vec::new(),
            weight: None,
            model: None,
            answer: None,
            usage: None,
            earlier_copy: None,
            extra: Extra::default(),
            origin,
        }
    }

    /// Moves usage and weight to the copy in an earlier conversation, so that the message is neither billed nor trained on twice.
    pub fn move_to_earlier_copy(&mut self) {
        let fields = std::mem::take(&mut self.extra.0).into_iter();
        let (logged, others) = fields.partition(|(key, _)| key == "usage");
        self.extra = Extra(others);
        self.earlier_copy = Some(Box::new(EarlierCopy {
            weight: self.weight.take(),
            usage: self.usage.take(),
            extra: Extra(logged),
            elsewhere: false,
        }));
        self.weight = Weight::new(0.0).filter(|_| self.role == Role::Assistant);
    }

    /// Makes the message context that was paid and trained on in another record, which it repeats.
    pub fn leave_elsewhere(&mut self) {
        self.usage = None;
        self.weight = Weight::new(0.0).filter(|_| self.role == Role::Assistant);
        self.earlier_copy = Some(Box::new(EarlierCopy {
            elsewhere: true,
            ..EarlierCopy::default()
        }));
    }

    /// Takes usage and weight back: no earlier conversation with a copy of the message is accepted.
    pub fn take_from_earlier_copy(&mut self) {
        if let Some(copy) = self.earlier_copy.take_if(|copy| !copy.elsewhere) {
            self.weight = copy.weight;
            self.usage = copy.usage;
            self.extra.0.extend(copy.extra.0);
        }
    }

    /// Its parts and their numbers, without media items that are part of a tool's answer.
    pub fn own_parts(&self) -> impl Iterator<Item = (usize, &Part)> {
        own_parts(&self.parts)
    }

    /// The same without results and the cache marks that stand on them: directly behind them and their media.
    pub fn parts_without_results(&self) -> impl Iterator<Item = (usize, &Part)> {
        let mut is_result = false;
        self.own_parts().filter(move |(_, part)| {
            is_result = matches!(part, Part::ToolResult(_)) || is_result && matches!(part, Part::CacheMark);
            !is_result
        })
    }

    /// How many cache marks stand on the result with this number.
    pub fn marks_on(&self, result: usize) -> usize {
        let behind = self.parts.iter().skip(result + 1 + self.media_of(result).count());
        behind.take_while(|part| matches!(part, Part::CacheMark)).count()
    }

    /// The media items that are part of the answer with this number.
    pub fn media_of(&self, part: usize) -> impl Iterator<Item = &Media> {
        let media = match self.parts.get(part) {
            Some(Part::ToolResult(result)) => result.media as usize,
            _ => 0,
        };
        let behind = self.parts.iter().skip(part + 1).take(media);
        behind.map_while(|part| match part {
            Part::Media(media) => Some(media),
            _ => None,
        })
    }

    /// The texts of its text parts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Its text parts joined by a line break: borrowed when there is only one.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        let mut texts = self.texts();
        match (texts.next(), texts.next()) {
            (None, _) => std::borrow::Cow::Borrowed(""),
            (Some(only), None) => std::borrow::Cow::Borrowed(only),
            (Some(first), Some(second)) => {
                let mut joined = format!("{first}\n{second}");
                for text in texts {
                    joined.push('\n');
                    joined.push_str(text);
                }
                std::borrow::Cow::Owned(joined)
            }
        }
    }
}
