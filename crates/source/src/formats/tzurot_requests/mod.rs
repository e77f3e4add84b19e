//! Captured requests of Tzurot, a Discord bot with personalities (message format 2.0 of 2025-05-22), and its
//! later history.
//!
//! A request is the bot's input to its AI service: one message of a user, and possibly the message that it
//! replies to. There are five shapes:
//!
//! * `v1`: a list of several formatted messages, as version 1 of the format sent them;
//! * `formatted`: the formatter's result, `{"role": "user", "content": …}`, the only element of its array;
//! * `call`: the arguments of the formatter, `content` (text, parts, or a request) and `currentPersonality`;
//! * `request`: `messageContent` (text or parts) with `referencedMessage`, `userName` and `currentPersonality`;
//! * `history`: rows of the table `conversation_history` of version 3, as an account's export or a dump has them.
//!
//! ```json
//! {"messageContent": "And you?", "userName": "Ann", "currentPersonality": "lilith",
//!  "referencedMessage": {"author": "Ben", "isFromBot": false, "content": "Rust."}}
//! ```
//!
//! The formats before version 3 have no history: a request is a conversation of one message, unless requests are
//! linked. Those with the same `conversationId` are one conversation, else those with the same `channelId` and the
//! same personality, because a conversation is addressed to one personality. The message that a request replies to
//! becomes a reference with a preview. Markers like `[Image: https://…]` in a quoted text stay text.
//!
//! A list of several formatted messages looks like any list of messages, and is detected as one; lists of one
//! user message each, one per line, are the formatter's. Personalities that are only quoted do not speak, but
//! can be selected as a perspective.

mod columns;
mod detect;
mod formatted;
mod history;
mod quoted;
mod request;
mod speakers;

use std::collections::HashSet;

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Conversation, Extra, FormatTraits, Message, RawJson, Records, Role};
use request::{Request, RequestError, request_error};
use speakers::Speakers;

use crate::base::{ExtraFields, Notes, Times, quoted};
use crate::frame::{FrameView, Reading, Row, exceeds};
use crate::layout::ListReader;
use crate::rust_format::{Read, RustFormat};
use crate::source::About;

const ID: &str = "tzurot-requests";

/// The id of an agent without a name in any record.
const UNNAMED_AGENT: &str = "assistant";

static ABOUT: About = About {
    id: ID,
    title: "Tzurot requests",
    specification: "Tzurot Message Format Specification, version 2.0 (2025-05-22)",
    verified: "2026-11",
    shapes: &["v1", "formatted", "call", "request", "history"],
    carries: "messages with text, pictures and sound, the messages they reply to, the active personality",
    traits: FormatTraits {
        previews_rename: true,
        records: Records::Requests,
        ..FormatTraits::USUAL
    },
};

/// The source `tzurot-requests`.
pub static TZUROT_REQUESTS: RustFormat = RustFormat {
    tables: Some(history::tables),
    // Grouped are requests that name their conversation, rows of the history, and the messages of a list, which
    // version 1 sent together.
    groups_rows: Some(detect::belongs_together),
    rows: Some(|root| match root.kind() {
        Kind::Array => root.items().map(row).collect(),
        _ => row(root).map(|row| vec![row]),
    }),
    can_merge: true,
    ..RustFormat::of(
        &ABOUT,
        detect::recognise,
        Read::Stored(|frame, limits| {
            let root = frame.root();
            let is_history = history::is_row(root) || root.items().any(history::is_row);
            let read = if is_history { history::read } else { read };
            read(frame, limits).map_err(|request_error| {
                let (finding, path, value) = *request_error;
                let finding = finding.rejecting().at_path(format!("${path}"));
                Box::new(Notes::new(frame.start).spanned(finding, value.span()))
            })
        }),
    )
};

/// A record as a row; `None` if it names no conversation and is not a message of a list.
fn row(record: Value<'_>) -> Option<Row> {
    let key = if history::is_row(record) {
        history::place(record)
    } else {
        let is_message = record.get("role").is_some() && record.get("content").is_some();
        place(record).or_else(|| is_message.then(String::new))
    };
    key.map(|key| Row::of(Some(key), record))
}

/// The conversation that a request names.
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
fn records<'d>(frame: &FrameView<'d>, limits: &Limits) -> Result<Vec<Value<'d>>, RequestError<'d>> {
    let root = frame.root();
    let is_list = root.kind() == Kind::Array;
    let records: Vec<Value<'d>> = if is_list {
        root.items().collect()
    } else {
        vec![root]
    };
    let elements = if records.len() == 1 { "message" } else { "messages" };
    if let Some(text) = exceeds(records.len() as u64, "the conversation", elements, limits) {
        return Err(request_error(&codes::CONVERSATION_TOO_LARGE, text, "", root));
    }
    if is_list && records.iter().all(|record| record.kind() != Kind::Object) {
        return Err(request_error(
            &codes::WRONG_TYPE,
            "the list holds no record",
            "",
            root,
        ));
    }
    Ok(records)
}

/// Reads one request, or those of one conversation.
fn read<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Reading, RequestError<'d>> {
    let in_list = frame.root().kind() == Kind::Array;
    let mut requests: Vec<(u32, Request<'d>)> = Vec::new();
    let mut list = ListReader::new(frame, limits);
    for (index, record) in (0..).zip(records(&frame, limits)?) {
        list.rows.rows += 1;
        match Request::find(record, in_list) {
            Ok(request) => requests.push((index, request)),
            Err(request_error) if !in_list => return Err(request_error),
            Err(request_error) => {
                let (finding, path, _) = *request_error;
                list.reject(record.span(), finding.at_path(format!("$[{index}]{path}")));
            }
        }
    }
    let personality = common_personality(&requests);
    let mut reader = Reader::new(list, &requests);
    let mut extra: ExtraFields = personality.as_deref().map(active).into_iter().collect();
    for (index, request) in &requests {
        let rest = reader.read(*index, request);
        let message = reader.list.messages.last_mut().filter(|_| in_list);
        let fields = message.map_or(&mut extra, |message| &mut message.extra.0);
        fields.extend(rest);
        if in_list && personality.is_none() {
            fields.extend(request.personality().as_deref().map(active));
        }
    }
    reader.add_quoted();
    reader.times.finish(&mut reader.list.notes);
    let key = frame.key.map(str::to_owned);
    Ok(reader.list.finish(Conversation {
        source_id: key.or_else(|| place(frame.root())),
        shape: shape(&requests),
        participants: reader.speakers.participants,
        extra: Extra(extra),
        ..Conversation::default()
    }))
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
    ("currentPersonality".to_owned(), quoted(personality))
}

/// Reads requests into messages.
struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    speakers: Speakers,
    /// Ids of all messages of the frame.
    ids: HashSet<String>,
    times: Times,
}

impl<'d, 'r> Reader<'d, 'r> {
    fn new(list: ListReader<'d, 'r>, requests: &[(u32, Request<'_>)]) -> Self {
        let requests = || requests.iter().map(|(_, request)| request);
        let personalities = requests().filter_map(Request::personality);
        let authors = requests().filter_map(|request| quoted::author(request.quoted()?));
        Self {
            times: Times::new(list.frame.options),
            list,
            speakers: Speakers::new(personalities.collect(), authors.collect()),
            ids: requests().filter_map(|request| request.id("messageId")).collect(),
        }
    }

    /// Adds the personalities that are only quoted, after all other participants: one of them may be the
    /// perspective of the requests.
    fn add_quoted(&mut self) {
        let references = self.list.messages.iter().flat_map(|message| &message.references);
        for preview in references.filter_map(|reference| reference.preview.as_ref()) {
            if let (true, Some(id)) = (preview.from_agent, &preview.sender) {
                self.speakers.quoted_agent(id, preview.sender_name.clone());
            }
        }
    }

    /// Appends a request's message; returns the fields that are not read.
    fn read(&mut self, index: u32, request: &Request<'_>) -> ExtraFields {
        let personality = request.personality();
        let user = (request.role == Role::User)
            .then(|| self.speakers.user(request.text("userName"), request.id("userId")));
        let agent = match (&personality, request.role) {
            (None, Role::Assistant) => Some(self.speakers.agent(UNNAMED_AGENT)),
            (personality, _) => personality.as_deref().map(|id| self.speakers.agent(id)),
        };
        if let (Some(agent), Some(id), Some(quoted)) = (agent, &personality, request.quoted()) {
            self.speakers.call(agent, quoted::display_name_of(quoted, id));
        }
        let id = request.id("messageId");
        let mut site = self.list.site(id.as_deref(), request.root);
        let (speakers, times) = (&self.speakers, &mut self.times);
        let speaker = user.map_or("", |user| speakers.id_of(user));
        let (parts, references, rest) = request.content(speaker, speakers, &self.ids, times, &mut site);
        let timestamp = times.read(request.field_of("timestamp"), "timestamp", &mut site);
        let unread = request.extra(&mut site);
        self.list.push(Message {
            id,
            sender: match request.role {
                Role::Assistant => agent,
                _ => user,
            },
            timestamp,
            parts,
            references,
            extra: Extra(rest),
            ..self.list.message(request.role, request.root.span(), index)
        });
        unread
    }
}
