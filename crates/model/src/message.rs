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
    /// An event, such as joined, typing or status. Only the dialects of its system render it.
    Notice,
}

impl MessageKind {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The kind of a media item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// A video.
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

/// The place of a media item's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MediaSource {
    /// A URL or URI.
    Url(String),
    /// Base64 text inside the record.
    Inline(String),
    /// The text of a document.
    Text(String),
    /// Uploaded elsewhere, with only the name known.
    Upload,
}

/// A reference to a picture, sound, video, file or page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Media {
    /// The kind.
    pub kind: MediaKind,
    /// The place of its bytes.
    pub source: MediaSource,
    /// The MIME type, if the source states it.
    pub media_type: Option<String>,
    /// The file name, if the source states it.
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

/// The form in which the source wrote arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentForm {
    /// As a JSON string that contains the arguments.
    Text,
    /// As a JSON value.
    Embedded,
    /// As text that need not be JSON: the specification of the tool allows any text.
    FreeText,
}

/// The text, unless it is empty.
fn known(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

/// A request to run a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolCall {
    /// The id that the result refers to.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: Option<String>,
    /// Its arguments.
    pub arguments: Arguments,
    /// The form in which the source wrote them.
    pub form: ArgumentForm,
    /// A second id from the source's metadata, if it differs from `id` or is the only one.
    pub metadata_id: Option<String>,
    /// The vendor's item, if it is anything else than a function call.
    pub own: Option<Box<OwnItem>>,
}

impl ToolCall {
    /// Makes a call with these arguments and without metadata.
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

    /// The id by which all code after the source knows the call: `id`, else `metadata_id`.
    pub fn known_id(&self) -> Option<&str> {
        known(self.id.as_ref()).or_else(|| known(self.metadata_id.as_ref()))
    }
}

/// The answer of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: Option<String>,
    /// The name of the tool.
    pub name: Option<String>,
    /// The answer as text.
    pub content: String,
    /// Whether the source marks it as a failure.
    pub is_error: bool,
    /// The id of the call in the source's metadata, if it differs from `call_id` or is the only one.
    pub metadata_id: Option<String>,
    /// The id of the message that made the call, if the source states it.
    pub caller: Option<String>,
    /// The number of media items directly after it in its message that are part of the answer.
    pub media: u32,
    /// Whether the answer is JSON in the source, and not text.
    pub is_json: bool,
    /// The number of texts in the source that the answer joins with line breaks, without the first.
    pub joined: u32,
    /// The vendor's item, if it is anything else than the result of a function.
    pub own: Option<Box<OwnItem>>,
}

impl ToolResult {
    /// The id by which all code after the source knows the call that it answers: `call_id`, else `metadata_id`.
    pub fn known_id(&self) -> Option<&str> {
        known(self.call_id.as_ref()).or_else(|| known(self.metadata_id.as_ref()))
    }
}

/// A vendor, or more exactly one of its APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Vendor {
    /// Anthropic's Messages.
    Anthropic,
    /// Bedrock's Converse.
    Converse,
    /// Google's `generateContent`.
    Gemini,
    /// OpenAI's Responses.
    Responses,
}

impl Vendor {
    /// The word that the `parts` column uses.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A piece of a message that exists only in one vendor's API, as written: for example a step of a tool that the vendor runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VendorItem {
    /// The vendor.
    pub vendor: Vendor,
    /// The piece as JSON.
    pub raw: RawJson,
}

/// The vendor's item for a call or a result, with the fields that a function call lacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OwnItem {
    /// The item of a tool that the API defines and the client runs.
    Client(VendorItem),
    /// A piece of the surrounding answer: the vendor runs the tool.
    Hosted(VendorItem),
    /// Part of the call's piece, for a result that answers it there.
    Inside,
}

impl OwnItem {
    /// The item as written; `None` if it is inside another.
    pub const fn item(&self) -> Option<&VendorItem> {
        match self {
            Self::Client(item) | Self::Hosted(item) => Some(item),
            Self::Inside => None,
        }
    }
}

/// The parts with their indexes, without media items that are part of a tool's answer.
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

/// A part of a message.
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
    /// The reasoning of a model.
    Reasoning(String),
    /// The event of a notice.
    Notice(String),
    /// A prompt-cache mark.
    CacheMark,
    /// A piece that exists only in one vendor's API.
    Item(VendorItem),
}

impl Part {
    /// The word that the `parts` column uses.
    pub fn type_name(&self) -> &'static str {
        self.into()
    }
}

/// The preview of a target that a reference contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Preview {
    /// Quoted text.
    pub content: Option<String>,
    /// Id of the author.
    pub sender: Option<String>,
    /// Name of the author.
    pub sender_name: Option<String>,
    /// Whether the author is a bot, if the source states it.
    pub from_agent: bool,
    /// The time at which the target was written.
    pub timestamp: Option<Timestamp>,
    /// The source's word for the type of the target.
    pub source_type: Option<String>,
}

/// The form in which a source wrote a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReferenceForm {
    /// An id.
    #[default]
    Id,
    /// An object, kept as raw JSON.
    Object(RawJson),
    /// The beginning of the target's text, kept in the preview: linking searches for it.
    Excerpt,
}

/// A reference from one message to another, before linking.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The id of the target; `None` if the source has only a preview.
    pub target: Option<String>,
    /// The preview of the target.
    pub preview: Option<Preview>,
    /// The form in the source.
    pub form: ReferenceForm,
    /// Whether the source added it; nobody replied.
    pub is_pseudo: bool,
    /// The references of the target, if the preview shows them.
    pub nested: Vec<Reference>,
}

/// The place of a message in its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MessageOrigin {
    /// First byte, in the decompressed entry.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// The index in the record's list of messages.
    pub index: u32,
}

/// The facts that are moved from a message to its copy in an earlier conversation of its record, so that they count once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierCopy {
    /// The training weight.
    pub weight: Option<Weight>,
    /// The logged usage of the request that the message answers.
    pub usage: Option<Usage>,
    /// The logged usage as written.
    pub extra: Extra,
    /// Whether the copy is in another record, so that nothing is ever moved back.
    pub elsewhere: bool,
}

/// The training weight of a message, as in OpenAI's fine-tuning files: 0 is context only, 1 is trained on. A source's `train: false` means
/// 0.
///
/// Always a finite number, so that weights can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight(f64);

impl Weight {
    /// Makes a weight; `None` for an infinite number or NaN.
    pub fn new(weight: f64) -> Option<Self> {
        weight.is_finite().then_some(Self(weight))
    }

    /// The number.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl Eq for Weight {}

/// A fact about place or sender that some sources write with each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The chat, which is the conversation's id or the first half of it.
    Chat,
    /// The thread within the chat, which is the other half.
    Thread,
    /// The sender's id.
    SenderId,
    /// The sender's name.
    SenderName,
    /// The sender's second name.
    SenderAlias,
}

/// Facts that a message leaves out although its conversation or roster knows them from other messages.
///
/// For sources that state such facts once for all messages the set is empty: their messages count as complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unstated(u8);

impl Unstated {
    /// Adds a fact.
    pub const fn insert(&mut self, fact: Fact) {
        self.0 |= 1 << fact as u8;
    }

    /// Whether the set contains a fact.
    pub const fn holds(self, fact: Fact) -> bool {
        self.0 & (1 << fact as u8) != 0
    }
}

/// A message or a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The source's id; with a suffix (`msg_0425~2`) if it is not unique.
    pub id: Option<String>,
    /// A second id of the message that references may use, if the source has one.
    pub external_id: Option<String>,
    /// Index in the conversation.
    pub position: u32,
    /// Index of the sender in `Conversation::participants`.
    pub sender: Option<usize>,
    /// The sender's name as the message states it.
    pub sender_name: Option<String>,
    /// The facts about place and sender that are missing here and known from other messages.
    pub unstated: Unstated,
    /// The role.
    pub role: Role,
    /// Turn or event.
    pub kind: MessageKind,
    /// The source's word for the type.
    pub source_type: Option<String>,
    /// The time at which it was written.
    pub timestamp: Option<Timestamp>,
    /// The parts.
    pub parts: Vec<Part>,
    /// The references, as written.
    pub references: Vec<Reference>,
    /// Ids or names of the participants that the message mentions.
    pub mentions: Vec<String>,
    /// The training weight, if the source states one.
    pub weight: Option<Weight>,
    /// The model that wrote the message, if the message or the log of its request names one.
    pub model: Option<Box<str>>,
    /// The id of the model's answer that the message is, or is part of, if the source states one.
    pub answer: Option<Box<str>>,
    /// The logged usage of the request that the message answers; if no answer was logged, of the request that it ends.
    pub usage: Option<Usage>,
    /// The facts that were moved to the message's copy in an earlier conversation of its record, if there is a copy.
    pub earlier_copy: Option<Box<EarlierCopy>>,
    /// Fields that the model has no place for.
    pub extra: Extra,
    /// The place in the record.
    pub origin: MessageOrigin,
}

impl Message {
    /// Makes a message with only role, position and origin.
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

    /// Makes the message pure context: it repeats a message of another record, which is billed and trained on there.
    pub fn leave_elsewhere(&mut self) {
        self.usage = None;
        self.weight = Weight::new(0.0).filter(|_| self.role == Role::Assistant);
        self.earlier_copy = Some(Box::new(EarlierCopy {
            elsewhere: true,
            ..EarlierCopy::default()
        }));
    }

    /// Moves usage and weight back, since no earlier conversation with a copy of the message is accepted.
    pub fn take_from_earlier_copy(&mut self) {
        if let Some(copy) = self.earlier_copy.take_if(|copy| !copy.elsewhere) {
            self.weight = copy.weight;
            self.usage = copy.usage;
            self.extra.0.extend(copy.extra.0);
        }
    }

    /// The parts with their indexes, without media items that are part of a tool's answer.
    pub fn own_parts(&self) -> impl Iterator<Item = (usize, &Part)> {
        own_parts(&self.parts)
    }

    /// The same without tool results, and without the cache marks that follow them and their media directly.
    pub fn parts_without_results(&self) -> impl Iterator<Item = (usize, &Part)> {
        let mut is_result = false;
        self.own_parts().filter(move |(_, part)| {
            is_result = matches!(part, Part::ToolResult(_)) || is_result && matches!(part, Part::CacheMark);
            !is_result
        })
    }

    /// The number of cache marks that follow the result with this index and its media.
    pub fn marks_on(&self, result: usize) -> usize {
        let behind = self.parts.iter().skip(result + 1 + self.media_of(result).count());
        behind.take_while(|part| matches!(part, Part::CacheMark)).count()
    }

    /// The media items that are part of the result with this index.
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

    /// The texts of its text parts, joined by line breaks; borrowed if there is only one.
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
