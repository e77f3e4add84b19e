//! Captured requests of Tzurot, a Discord bot with personalities (message format 2.0 of 2025-05-22), and its later history.
//!
//! A request is what the bot was about to say to its AI service: one thing that somebody said, and maybe the message that
//! it replies to. Five shapes are told apart:
//!
//! * `v1`: a list of several formatted messages, as version 1 of the format sent them;
//! * `formatted`: what the formatter made, `{"role": "user", "content": …}`, the only element of its array;
//! * `call`: the arguments of the formatter, `content` (text, parts, or a request) beside `currentPersonality`;
//! * `request`: `messageContent` (text or parts) with `referencedMessage`, `userName` and `currentPersonality`;
//! * `history`: rows of the table `conversation_history` of version 3, as an account's export or a dump has them.
//!
//! ```json
//! {"messageContent": "And you?", "userName": "Ann", "currentPersonality": "lilith",
//!  "referencedMessage": {"author": "Ben", "isFromBot": false, "content": "Rust."}}
//! ```
//!
//! The formats before version 3 know no history: a request is a conversation of one message, unless requests say that they
//! belong together. Those with the same `conversationId` are one conversation, else those with the same `channelId` and
//! the same personality, because a conversation has one personality that it is addressed to. The message that a request
//! replies to becomes a reference with a preview. Markers like `[Image: https://…]` in a quoted text stay text.
//!
//! A list of several formatted messages looks like anybody's list of messages, and is detected as one; lists of one user message
//! each, a line apart, are the formatter's. Personalities that are only quoted take no part, but may be asked for.

mod columns;
mod detect;
mod formatted;
mod history;
mod people;
mod quoted;
mod request;

use std::collections::HashSet;

use chatmill_diag::{Finding, Limits, Reject, Severity, codes};
use chatmill_intake::Sketch;
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_model::json::push_string;
use chatmill_model::{
    Conversation, Customs, Extra, Message, MessageKind, MessageOrigin, RawJson, Role, Scene, Unstated,
};

use crate::notes::{Notes, Site};
use crate::reject::reject_message;
use crate::times::Times;
use crate::{About, Evidence, FrameView, Reading, Row, RowLedger, Source, TableMap};
use people::People;
use request::{Fault, Request, Said};

const ID: &str = "tzurot-requests";

/// Id of an agent whom no record names.
const UNNAMED_AGENT: &str = "assistant";

/// The source `tzurot-requests`.
#[derive(Debug)]
pub struct TzurotRequests;

static ABOUT: About = About {
    title: "Tzurot requests",
    specification: "Tzurot Message Format Specification, version 2.0 (2025-05-22)",
    shapes: &["v1", "formatted", "call", "request", "history"],
    carries: "messages with text, pictures and sound, the messages they reply to, the active personality",
    customs: Customs {
        previews_rename: true,
        ..Customs::USUAL
    },
};

impl Source for TzurotRequests {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        detect::recognise(sketch).map(|(confidence, why)| Evidence {
            source: ID,
            confidence,
            why,
        })
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let root = frame.document.root();
        let is_history = history::is_row(root) || root.items().any(history::is_row);
        let reading = if is_history {
            history::read(*frame, limits)
        } else {
            read(*frame, limits)
        };
        let mut reading = reading.unwrap_or_else(|fault| {
            let (finding, path, value) = *fault;
            let mut notes = Notes::new(frame.start);
            let finding = finding.with_severity(Severity::Error).at_path(format!("${path}"));
            notes.push(finding, Some(value));
            Reading {
                fault: notes.findings.pop(),
                ..Reading::default()
            }
        });
        if let Some(conversation) = &mut reading.conversation {
            conversation.customs = ABOUT.customs;
        }
        reading
    }

    /// A record that is an object is one message, whatever its shape.
    fn message_path(&self, _index: u32) -> String {
        "$".to_owned()
    }

    fn tables(&self) -> Vec<TableMap> {
        vec![history::table()]
    }

    /// Requests that say which conversation they belong to are gathered, rows of the history too, and the messages of a
    /// list, which version 1 sent together.
    fn gathers(&self, sketch: &Sketch) -> bool {
        detect::belongs_together(sketch)
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        if root.kind() != Kind::Array {
            return row(root).map(|row| vec![row]);
        }
        root.items().map(row).collect()
    }
}

/// A record as a row; none when it names no conversation and is no message of a list either.
fn row(record: Value<'_>) -> Option<Row> {
    let key = if history::is_row(record) {
        history::place(record)
    } else {
        let is_message = record.get("role").is_some() && record.get("content").is_some();
        place(record).or_else(|| is_message.then(String::new))
    };
    key.map(|key| Row {
        keys: vec![key],
        span: record.span(),
    })
}

/// The conversation that a request says it belongs to.
fn place(record: Value<'_>) -> Option<String> {
    let request = Request::find(record, true).ok()?;
    let id = |camel, snake| request.id(camel).or_else(|| request.id(snake));
    id("conversationId", "conversation_id").or_else(|| {
        let channel = id("channelId", "channel_id")?;
        Some(match request.personality() {
            Some(personality) => format!("{channel}/{personality}"),
            None => channel,
        })
    })
}

/// The records of a frame: the frame itself, or the elements of a list.
fn records<'d>(frame: &FrameView<'d>, limits: &Limits) -> Result<Vec<Value<'d>>, Fault<'d>> {
    let root = frame.document.root();
    let records: Vec<Value<'d>> = match root.kind() {
        Kind::Array => root.items().collect(),
        _ => vec![root],
    };
    let limit = limits.messages_per_conversation;
    if records.len() as u64 > limit {
        let count = match records.len() {
            1 => "1 message".to_owned(),
            count => format!("{count} messages"),
        };
        let text = format!("the conversation has {count}, the limit is {limit}");
        return Err(Box::new((
            Finding::new(&codes::CONVERSATION_TOO_LARGE, text),
            "",
            root,
        )));
    }
    if root.kind() == Kind::Array && records.iter().all(|record| record.kind() != Kind::Object) {
        let finding = Finding::new(&codes::WRONG_TYPE, "the list holds no record");
        return Err(Box::new((finding, "", root)));
    }
    Ok(records)
}

/// Reads one request, or those of one conversation.
fn read<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Reading, Fault<'d>> {
    let in_list = frame.document.root().kind() == Kind::Array;
    let mut requests: Vec<(u32, Request<'d>)> = Vec::new();
    let mut notes = Notes::new(frame.start);
    let mut rejects: Vec<Reject> = Vec::new();
    for (index, record) in (0..).zip(records(&frame, limits)?) {
        match Request::find(record, in_list) {
            Ok(request) => requests.push((index, request)),
            Err(fault) if !in_list => return Err(fault),
            Err(fault) => {
                let (finding, path, _) = *fault;
                let finding = finding.at_path(format!("$[{index}]{path}"));
                rejects.push(reject_message(frame, &notes, record, finding, limits));
            }
        }
    }
    let personality = common_personality(&requests);
    let mut reader = Reader::new(&requests);
    let mut extra: Vec<(String, RawJson)> = Vec::new();
    extra.extend(personality.as_deref().map(active));
    for (index, request) in &requests {
        let rest = reader.read(*index, request, frame.start, &mut notes);
        let Some(message) = reader.messages.last_mut() else {
            continue;
        };
        if in_list {
            message.extra.0.extend(rest);
            if personality.is_none() {
                message
                    .extra
                    .0
                    .extend(request.personality().as_deref().map(active));
            }
        } else {
            extra.extend(rest);
        }
    }
    reader.add_quoted();
    reader.times.finish(&mut notes);
    let count = reader.messages.len() as u64;
    let key = frame.key.map(str::to_owned);
    Ok(Reading {
        conversation: Some(Conversation {
            source: ID,
            source_id: key.or_else(|| place(frame.document.root())),
            shape: shape(&requests),
            scene: Scene::Unknown,
            participants: reader.people.participants,
            messages: reader.messages,
            extra: Extra(extra),
            ..Conversation::default()
        }),
        fault: None,
        findings: notes.findings,
        rows: RowLedger {
            rows: count + rejects.len() as u64,
            messages: count,
            rejected: rejects.len() as u64,
            ..RowLedger::default()
        },
        rejects,
    })
}

fn shape(requests: &[(u32, Request<'_>)]) -> &'static str {
    match requests {
        [(_, first), _, ..] if first.shape == "formatted" => "v1",
        [(_, first), ..] => first.shape,
        [] => "request",
    }
}

/// The personality that all requests are addressed to.
fn common_personality(requests: &[(u32, Request<'_>)]) -> Option<String> {
    let first = requests.first()?.1.personality()?;
    let is_common = |(_, request): &(u32, Request<'_>)| request.personality().as_ref() == Some(&first);
    requests.iter().all(is_common).then_some(first)
}

/// The extra field that names the active personality.
fn active(personality: &str) -> (String, RawJson) {
    let mut raw = String::new();
    push_string(&mut raw, personality);
    ("currentPersonality".to_owned(), RawJson(raw))
}

/// Reads requests into messages.
struct Reader {
    people: People,
    /// Ids of all messages that are here.
    ids: HashSet<String>,
    times: Times,
    messages: Vec<Message>,
}

impl Reader {
    fn new(requests: &[(u32, Request<'_>)]) -> Self {
        let requests = || requests.iter().map(|(_, request)| request);
        let authors = requests().filter_map(|request| quoted::author(request.quoted()?));
        Self {
            people: People::new(
                requests().filter_map(Request::personality).collect(),
                authors.collect(),
            ),
            ids: requests().filter_map(|request| request.id("messageId")).collect(),
            times: Times::default(),
            messages: Vec::new(),
        }
    }

    /// Adds the personalities that are only quoted, behind everybody else: one of them may be whom the requests are meant for.
    fn add_quoted(&mut self) {
        let references = self.messages.iter().flat_map(|message| &message.references);
        for preview in references.filter_map(|reference| reference.preview.as_ref()) {
            if let (true, Some(id)) = (preview.from_agent, &preview.sender) {
                self.people.quoted_agent(id, preview.sender_name.clone());
            }
        }
    }

    /// Appends a request's message; gives the fields that are not read.
    fn read(
        &mut self,
        index: u32,
        request: &Request<'_>,
        start: u64,
        notes: &mut Notes,
    ) -> Vec<(String, RawJson)> {
        let personality = request.personality();
        let user = (request.role == Role::User)
            .then(|| self.people.user(request.text("userName"), request.id("userId")));
        let agent = match (&personality, request.role) {
            (None, Role::Assistant) => Some(self.people.agent(UNNAMED_AGENT)),
            (personality, _) => personality.as_deref().map(|id| self.people.agent(id)),
        };
        if let (Some(agent), Some(id), Some(quoted)) = (agent, &personality, request.quoted()) {
            self.people.call(agent, quoted::display_name_of(quoted, id));
        }
        let id = request.id("messageId");
        let mut site = Site {
            notes,
            position: self.messages.len() as u32,
            id: id.as_deref(),
            message: request.root,
        };
        let speaker = user
            .map(|user| self.people.id_of(user).to_owned())
            .unwrap_or_default();
        let Said {
            parts,
            references,
            rest,
        } = request.said(&speaker, &self.people, &self.ids, &mut self.times, &mut site);
        let timestamp = self
            .times
            .read(request.field_of("timestamp"), "timestamp", &mut site);
        let unread = request.extra(&mut site);
        let span = request.root.span();
        self.messages.push(Message {
            position: self.messages.len() as u32,
            sender: match request.role {
                Role::Assistant => agent,
                _ => user,
            },
            sender_name: None,
            role: request.role,
            kind: MessageKind::Message,
            source_type: None,
            timestamp,
            parts,
            references,
            mentions: Vec::new(),
            weight: None,
            extra: Extra(rest),
            unstated: Unstated::default(),
            external_id: None,
            origin: MessageOrigin {
                start: start + span.start as u64,
                end: start + span.end as u64,
                index,
            },
            id,
        });
        unread
    }
}
