//! Reads the conversation of a case: JSON of a linked conversation, without values that are the default.
//!
//! A case states references and pairings itself, so that it can have links that no linker would make.

use chatmill_model::{
    ArgumentForm, Arguments, CallStatus, Conversation, Extra, Fact, Link, LinkStatus, Linked, Media,
    MediaKind, MediaSource, Message, MessageKind, MessageOrigin, OffsetOrigin, PairedBy, Pairing, Part,
    PartPlace, Participant, ParticipantKind, Preview, RawJson, Reference, ReferenceForm, Role, Scene,
    Timestamp, ToolCall, ToolResult, Weight,
};
use serde::Deserialize;
use serde_json::Value;

/// Reads the conversation of a text.
pub(crate) fn read(text: &str) -> Result<Linked, String> {
    let written: Written = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(written.linked())
}

/// Fields in the order of the text: names and JSON.
type Fields = Vec<(String, String)>;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    id: Option<String>,
    title: Option<String>,
    description: Option<String>,
    version: Option<String>,
    /// Whether the kind of chat is unknown; otherwise it is a group chat.
    no_scene: bool,
    keeps: Option<String>,
    sends: Option<String>,
    people: Vec<Person>,
    tools: Vec<String>,
    messages: Vec<MessageCase>,
    pairings: Vec<Paired>,
    extra: Fields,
    envelope: Fields,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Person {
    id: String,
    made_id: bool,
    name: Option<String>,
    alias: Option<String>,
    kind: Option<String>,
    role: Option<String>,
    custom_role: Option<String>,
    email: Option<String>,
    unlisted: bool,
    extra: Fields,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MessageCase {
    id: Option<String>,
    /// Id of the sender, or the sender's index if another participant has the same id.
    from: Option<Value>,
    from_name: Option<String>,
    role: Option<Role>,
    notice: bool,
    #[serde(rename = "type")]
    source_type: Option<String>,
    time: Option<String>,
    instant: Option<i64>,
    text: Option<String>,
    parts: Vec<Piece>,
    refers: Vec<Referred>,
    mentions: Vec<String>,
    weight: Option<f64>,
    unstated: Vec<String>,
    extra: Fields,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Piece {
    Text(String),
    Notice(String),
    Reasoning(String),
    CacheMark,
    Media(Shown),
    Call(Called),
    Result(Answered),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Shown {
    kind: String,
    url: Option<String>,
    inline: Option<String>,
    document: Option<String>,
    #[serde(rename = "type")]
    media_type: Option<String>,
    name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Called {
    id: Option<String>,
    name: Option<String>,
    /// A JSON object; `json` is another JSON value, and `malformed` is not JSON.
    arguments: Option<String>,
    json: Option<String>,
    malformed: Option<String>,
    embedded: bool,
    metadata_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Answered {
    call: Option<String>,
    name: Option<String>,
    content: String,
    error: bool,
    metadata_id: Option<String>,
    media: u32,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Referred {
    /// The id of the target that the message states.
    to: Option<String>,
    status: String,
    /// Position of the message that the id resolves to.
    target: Option<u32>,
    same_sender: bool,
    object: Option<String>,
    pseudo: bool,
    preview: Option<Quoted>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Quoted {
    content: Option<String>,
    sender: Option<String>,
    name: Option<String>,
    from_agent: bool,
    time: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paired {
    #[serde(default)]
    call: Option<(u32, u32)>,
    #[serde(default)]
    result: Option<(u32, u32)>,
    status: String,
}

impl Written {
    fn linked(self) -> Linked {
        let links = self.messages.iter().map(MessageCase::links).collect();
        let pairings = self.pairings.iter().map(Paired::pairing).collect();
        let participants: Vec<_> = self.people.into_iter().map(Person::participant).collect();
        let messages = self.messages.into_iter().zip(0..);
        let messages = messages.map(|(message, position)| message.message(position, &participants));
        let mut conversation = Conversation {
            source: "test",
            source_id: self.id,
            format_version: self.version,
            title: self.title,
            description: self.description,
            scene: if self.no_scene {
                Scene::Unknown
            } else {
                Scene::GroupChat
            },
            messages: messages.collect(),
            participants,
            tools: self.tools.into_iter().map(RawJson).collect(),
            extra: extra(self.extra),
            envelope: extra(self.envelope),
            ..Conversation::default()
        };
        conversation.traits.extra_format = self.keeps.map(|form| &*form.leak());
        conversation.traits.sent_field = self.sends.map(|field| &*field.leak());
        Linked {
            conversation,
            links,
            pairings,
        }
    }
}

impl Person {
    fn participant(self) -> Participant {
        Participant {
            id: self.id,
            is_id_made: self.made_id,
            name: self.name,
            alias: self.alias,
            role: self.role,
            kind: match self.kind.as_deref() {
                None => ParticipantKind::Human,
                Some("agent") => ParticipantKind::Agent,
                Some(_) => ParticipantKind::Unknown,
            },
            custom_role: self.custom_role,
            email: self.email,
            listed: !self.unlisted,
            extra: extra(self.extra),
            ..Participant::default()
        }
    }
}

impl MessageCase {
    fn links(&self) -> Vec<Link> {
        self.refers.iter().map(Referred::link).collect()
    }

    /// Converts to a message. A message that states no role has that of a tool for results, otherwise that of its sender.
    fn message(self, position: u32, participants: &[Participant]) -> Message {
        let is_result = self.parts.iter().any(|piece| matches!(piece, Piece::Result(_)));
        let sender = self.from.map(|from| match from.as_u64() {
            Some(number) => number as usize,
            None => {
                let found = participants.iter().position(|person| from == person.id.as_str());
                found.unwrap_or_else(|| panic!("nobody is {from}"))
            }
        });
        let is_agent = sender.is_some_and(|sender| participants[sender].kind == ParticipantKind::Agent);
        let role = self.role.unwrap_or(match (is_result, is_agent) {
            (true, _) => Role::Tool,
            (_, true) => Role::Assistant,
            (_, false) => Role::User,
        });
        let text = self.text.map(Part::Text).into_iter();
        let mut message = Message {
            id: self.id,
            sender,
            sender_name: self.from_name,
            source_type: self.source_type,
            timestamp: self.time.map(|raw| timestamp(raw, self.instant)),
            parts: text.chain(self.parts.into_iter().map(Piece::part)).collect(),
            references: self.refers.into_iter().map(Referred::reference).collect(),
            mentions: self.mentions,
            weight: self.weight.and_then(Weight::new),
            extra: extra(self.extra),
            ..Message::new(role, position, MessageOrigin::default())
        };
        if self.notice {
            message.kind = MessageKind::Notice;
        }
        for fact in self.unstated {
            message.unstated.insert(match fact.as_str() {
                "thread" => Fact::Thread,
                "sender_alias" => Fact::SenderAlias,
                _ => panic!("{fact}"),
            });
        }
        message
    }
}

impl Piece {
    fn part(self) -> Part {
        match self {
            Self::Text(text) => Part::Text(text),
            Self::Notice(text) => Part::Notice(text),
            Self::Reasoning(text) => Part::Reasoning(text),
            Self::CacheMark => Part::CacheMark,
            Self::Media(shown) => Part::Media(shown.media()),
            Self::Call(called) => Part::ToolCall(called.call()),
            Self::Result(answered) => Part::ToolResult(ToolResult {
                call_id: answered.call,
                name: answered.name,
                content: answered.content,
                is_error: answered.error,
                metadata_id: answered.metadata_id,
                media: answered.media,
                ..ToolResult::default()
            }),
        }
    }
}

impl Shown {
    fn media(self) -> Media {
        use MediaKind::{Audio, File, Image, Link, Video};
        Media {
            kind: named(
                &[Image, Audio, Video, File, Link],
                |kind| kind.as_str(),
                &self.kind,
            ),
            source: match (self.url, self.inline, self.document) {
                (Some(url), _, _) => MediaSource::Url(url),
                (_, Some(bytes), _) => MediaSource::Inline(bytes),
                (_, _, Some(text)) => MediaSource::Text(text),
                _ => MediaSource::Upload,
            },
            media_type: self.media_type,
            name: self.name,
        }
    }
}

impl Called {
    fn call(self) -> ToolCall {
        let arguments = match (self.arguments, self.json) {
            (Some(object), _) => Arguments::Object(RawJson(object)),
            (_, Some(json)) => Arguments::NotObject(RawJson(json)),
            _ => Arguments::Malformed(self.malformed.unwrap_or_default()),
        };
        let form = if self.embedded {
            ArgumentForm::Embedded
        } else {
            ArgumentForm::Text
        };
        ToolCall {
            metadata_id: self.metadata_id,
            ..ToolCall::new(self.id, self.name, (arguments, form))
        }
    }
}

impl Referred {
    fn link(&self) -> Link {
        use LinkStatus::{Cyclic, Dangling, Itself, Preview, Pseudo, Resolved};
        let all = [Resolved, Preview, Dangling, Itself, Cyclic, Pseudo];
        Link {
            target: self.target,
            status: named(&all, |status| status.as_str(), &self.status),
            same_sender: self.same_sender,
            nested: Vec::new(),
        }
    }

    fn reference(self) -> Reference {
        Reference {
            target: self.to,
            preview: self.preview.map(|quoted| Preview {
                content: quoted.content,
                sender: quoted.sender,
                sender_name: quoted.name,
                from_agent: quoted.from_agent,
                timestamp: quoted.time.map(|raw| timestamp(raw, None)),
                source_type: None,
            }),
            form: self
                .object
                .map_or(ReferenceForm::Id, |raw| ReferenceForm::Object(RawJson(raw))),
            is_pseudo: self.pseudo,
            nested: Vec::new(),
        }
    }
}

impl Paired {
    fn pairing(&self) -> Pairing {
        use CallStatus::{Duplicate, Early, Late, Orphaned, Paired, Unanswered};
        let all = [Paired, Late, Early, Unanswered, Orphaned, Duplicate];
        let place = |(position, part)| PartPlace { position, part };
        Pairing {
            call: self.call.map(place),
            result: self.result.map(place),
            status: named(&all, |status| status.as_str(), &self.status),
            paired_by: Some(PairedBy::Id),
        }
    }
}

fn extra(fields: Fields) -> Extra {
    let fields = fields.into_iter().map(|(name, raw)| (name, RawJson(raw)));
    Extra(fields.collect())
}

fn timestamp(raw: String, instant: Option<i64>) -> Timestamp {
    Timestamp {
        instant,
        raw,
        offset: match instant {
            Some(_) => OffsetOrigin::Explicit,
            None => OffsetOrigin::Missing,
        },
    }
}

/// Returns the value with this name.
fn named<T: Copy>(all: &[T], name: fn(&T) -> &'static str, wanted: &str) -> T {
    let found = all.iter().find(|one| name(one) == wanted);
    *found.unwrap_or_else(|| panic!("nothing is called {wanted}"))
}
