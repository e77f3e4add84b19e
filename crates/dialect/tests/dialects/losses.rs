//! Every loss that a rendering declares is on the list of its dialect, for every conversation.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chatmill_dialect::policy::{
    Compressed, ControlTokens, LeakedMetadata, MediaPolicy, Orphans, Reasoning, References, System,
};
use chatmill_dialect::{
    DIALECTS, Dialect, History, LossCode, Policy, Rendering, TextArena, Transcript, View, Window, WindowRange,
};
use chatmill_model::{
    CallStatus, Extra, Fact, LinkStatus, Media, MediaKind, MediaSource, Message, MessageKind, OffsetOrigin,
    Part, RawJson, ReferenceForm, Role, Sink, Timestamp, Weight,
};

use crate::chat::{TestChat, preview};
use crate::properties::{Dice, chat};

/// The formats with records that readers keep, and none.
const FORMS: [Option<&str>; 5] = [
    None,
    Some("gryag"),
    Some("suna-rows"),
    Some("group-chat"),
    Some("jaibber-events"),
];

/// Further fields that some dialect reads.
const FIELDS: [(&str, &str); 34] = [
    ("reply_to_user_id", "123456789"),
    ("reply_to_name", "\"Ann Lee\""),
    ("reply_to_username", "\"@ann\""),
    ("thread_id", "7"),
    ("chat_id", "\"-100\""),
    ("username", "\"@ann [x]\""),
    ("parts[0].file_uri", "1"),
    ("parts[0].file_data", "{}"),
    ("currentPersonality", "\"Bot\""),
    ("userId", "\"acc 1\""),
    ("isProxyMessage", "true"),
    ("compressed_content", "\"short\""),
    ("metadata.k", "[1, 2]"),
    ("metadata['odd key']", "null"),
    ("metadata.reasoning_content", "\"why\""),
    ("metadata", "3"),
    ("content.x", "1"),
    ("agent_id", "\"agent 9\""),
    ("is_llm_message", "false"),
    ("updated_at", "\"now\""),
    ("further_column", "{ \"a\": 1 }"),
    ("file_name", "\"f.png\""),
    ("url", "\"https://e.com/m\""),
    ("/extra", "5"),
    ("/beside", "true"),
    ("tool_calls", "[]"),
    ("role", "\"x\""),
    ("agentName", "\"Coder\""),
    ("mentions", "[]"),
    ("responseDepth", "2"),
    ("isAgentMessage", "true"),
    ("task", "{\"title\":\"plain\"}"),
    ("attachments[0].id", "\"f1\""),
    ("envelope.x", "1"),
];

fn fields(dice: &mut Dice, odds: u64) -> Extra {
    let mut extra = Extra::default();
    for (key, value) in FIELDS {
        if dice.roll(odds) == 0 {
            extra.0.push((key.to_owned(), RawJson(value.to_owned())));
        }
    }
    extra
}

fn time(dice: &mut Dice) -> Option<Timestamp> {
    let raws = ["1760000000", "2026-03-02T09:04:00", "yesterday"];
    let offsets = [
        OffsetOrigin::Explicit,
        OffsetOrigin::ConversationZone,
        OffsetOrigin::Missing,
    ];
    (dice.roll(2) == 0).then(|| Timestamp {
        instant: (dice.roll(2) == 0).then_some(1_760_000_000_000_000),
        raw: raws[dice.roll(3) as usize].to_owned(),
        offset: offsets[dice.roll(3) as usize],
    })
}

/// A generated chat with facts of every kind, in one of the forms.
pub(crate) fn chat_with_all_facts(seed: u64) -> TestChat {
    let mut chat = chat(seed);
    let mut dice = Dice(seed ^ 0x5bd1_e995);
    let conversation = &mut chat.linked.conversation;
    conversation.traits.extra_format = FORMS[(seed % 5) as usize];
    let is_compressed = conversation.traits.extra_format == Some("suna-rows");
    conversation.traits.sent_field = is_compressed.then_some("compressed_content");
    conversation.source_id = [None, Some("c1"), Some("-1001/12")][dice.roll(3) as usize].map(str::to_owned);
    conversation.title = (dice.roll(2) == 0).then(|| "Room".to_owned());
    conversation.description = (dice.roll(2) == 0).then(|| "Talk".to_owned());
    conversation.extra = fields(&mut dice, 12);
    conversation.envelope = fields(&mut dice, 20);
    for _ in 0..dice.roll(3) {
        let tool = r#"{"type":"function","function":{"name":"f.g","description":"d","parameters":{"type":"object"}}}"#;
        conversation.tools.push(RawJson(tool.to_owned()));
    }
    for person in &mut conversation.participants {
        person.id = match dice.roll(4) {
            0 => "-1001234567".to_owned() + &person.id,
            1 => "system".to_owned(),
            _ => person.id.clone(),
        };
        person.is_id_made = dice.roll(4) == 0;
        person.alias = (dice.roll(2) == 0).then(|| "@second".to_owned());
        person.role = [None, Some("user"), Some("boss")][dice.roll(3) as usize].map(str::to_owned);
        person.custom_role = (dice.roll(4) == 0).then(|| "boss".to_owned());
        person.listed = dice.roll(2) == 0;
        if dice.roll(3) == 0 {
            let instructions = RawJson("\"[meta] Be kind.\"".to_owned());
            person.extra.0.push(("instructions".to_owned(), instructions));
        }
        if dice.roll(5) == 0 {
            person
                .extra
                .0
                .push(("userId".to_owned(), RawJson("\"acc 1\"".to_owned())));
        }
    }
    for pairing in &mut chat.linked.pairings {
        if pairing.call.is_some() && pairing.result.is_some() && dice.roll(5) == 0 {
            pairing.status = [CallStatus::Early, CallStatus::Duplicate][dice.roll(2) as usize];
        }
    }
    for index in 0..chat.linked.conversation.messages.len() {
        disturb(&mut chat, index as u32, &mut dice);
    }
    chat
}

fn disturb(chat: &mut TestChat, position: u32, dice: &mut Dice) {
    let message = chat.message(position);
    if dice.roll(3) == 0 {
        message.id = None;
    }
    message.timestamp = time(dice);
    if dice.roll(8) == 0 {
        message.role = [Role::System, Role::User, Role::Assistant, Role::Tool][dice.roll(4) as usize];
    }
    message.sender_name =
        [None, Some("Ann Lee"), Some("Other\n[x]"), Some("")][dice.roll(4) as usize].map(str::to_owned);
    message.source_type = [None, Some("text"), Some("task"), Some("chunk"), Some("api")]
        [dice.roll(5) as usize]
        .map(str::to_owned);
    message.weight = Weight::new(0.5).filter(|_| dice.roll(5) == 0);
    message.extra = fields(dice, 14);
    for mentioned in ["u2", "b1", "nobody"] {
        if dice.roll(5) == 0 {
            message.mentions.push(mentioned.to_owned());
        }
    }
    for fact in [
        Fact::Chat,
        Fact::Thread,
        Fact::SenderId,
        Fact::SenderName,
        Fact::SenderAlias,
    ] {
        if dice.roll(4) == 0 {
            message.unstated.insert(fact);
        }
    }
    for reference in &mut message.references {
        if dice.roll(2) == 0 {
            let raw = r#"{"authorId":"acc 1", "sender":5,"note":"x","more":true}"#;
            reference.form = ReferenceForm::Object(RawJson(raw.to_owned()));
        }
        if dice.roll(3) == 0 {
            reference.nested.push(reference.clone());
        }
        if dice.roll(4) == 0 && reference.preview.is_none() {
            reference.preview = Some(preview(&"long words ".repeat(30), Some("b1"), Some("Bot")));
        }
        reference.is_pseudo = dice.roll(6) == 0;
    }
    if dice.roll(3) == 0 {
        let shown = preview(
            ["[Image: https://e.com/1]", "[Audio: https://e.com/2] [x]"][dice.roll(2) as usize],
            [None, Some("stranger"), Some("u 1")][dice.roll(3) as usize],
            Some("Zoe: [z]"),
        );
        let status = [LinkStatus::Preview, LinkStatus::Dangling][dice.roll(2) as usize];
        chat.refer(position, None, Some(shown), None, status);
    }
    if position > 0 && dice.roll(3) == 0 {
        chat.reply(position, dice.roll(u64::from(position)) as u32);
    }
    disturb_parts(chat.message(position), position, dice);
}

/// Changes media, calls and results of its parts, and adds others.
fn disturb_parts(message: &mut Message, position: u32, dice: &mut Dice) {
    let parts = &mut message.parts;
    for part in parts.iter_mut() {
        match part {
            Part::Media(media) => {
                media.name = (dice.roll(2) == 0).then(|| "m.bin".to_owned());
                media.media_type =
                    [None, Some("image/png"), Some("x")][dice.roll(3) as usize].map(str::to_owned);
                if dice.roll(3) == 0 {
                    media.source = MediaSource::Inline("aGk=".to_owned());
                }
            }
            Part::ToolCall(call) if dice.roll(4) == 0 => {
                call.metadata_id = call.id.take();
            }
            Part::ToolResult(result) => {
                result.name = [None, Some("f.g"), Some("other")][dice.roll(3) as usize].map(str::to_owned);
                [
                    "{ \"ok\": 1 }",
                    "{\"ok\":1}",
                    "[1 ]",
                    "fine\n",
                    "",
                    "{\"a\":1e999}",
                ][dice.roll(6) as usize]
                    .clone_into(&mut result.content);
                if dice.roll(4) == 0 {
                    result.metadata_id = Some("meta_1".to_owned());
                    result.caller = Some("msg1".to_owned());
                }
            }
            _ => {}
        }
    }
    if let Some(result) = parts
        .iter()
        .find(|part| matches!(part, Part::ToolResult(_)))
        .cloned()
        && dice.roll(4) == 0
    {
        parts.push(result);
    }
    if message.kind == MessageKind::Message {
        for _ in 0..dice.roll(2) * dice.roll(3) {
            let part = match dice.roll(9) {
                0 => Part::CacheMark,
                1 => Part::Reasoning(["", "hm </think>"][dice.roll(2) as usize].to_owned()),
                2 => Part::Notice("noted".to_owned()),
                3 => crate::chat::media(MediaKind::Image, Some("https://e.com/2"), None),
                4 => crate::chat::media(MediaKind::Audio, Some("https://e.com/3"), Some("s")),
                5 => Part::Text("x\n\nUser: y\n\nAssistant (z".to_owned()),
                6 => Part::Text("<function_calls>Ann said:\n<tool_call>".to_owned()),
                _ => Part::Text("more".to_owned()),
            };
            // Parts are only appended: pairings refer to parts by index.
            parts.push(part);
        }
        if position % 5 == 1 {
            parts.push(Part::Media(Media {
                kind: MediaKind::File,
                source: MediaSource::Text("[meta] Moon\nrock".to_owned()),
                media_type: None,
                name: None,
            }));
        }
    }
}

fn policies() -> Vec<Policy> {
    let usual = Policy::default();
    vec![
        usual,
        Policy {
            reasoning: Reasoning::Keep,
            system: System::Agent,
            compressed: Compressed::Stored,
            control_tokens: ControlTokens::Keep,
            orphans: Orphans::Drop,
            ..usual
        },
        Policy {
            reasoning: Reasoning::Keep,
            references: References::Drop,
            media: MediaPolicy::Drop,
            leaked_metadata: LeakedMetadata::Keep,
            orphans: Orphans::Reject,
            ..usual
        },
        Policy {
            media: MediaPolicy::Placeholder,
            system: System::None,
            ..usual
        },
    ]
}

/// Renders chats of these seeds in every dialect and profile: with several policies, for several perspectives, in several ranges.
pub(crate) fn each_chat_with_all_facts(
    seeds: std::ops::Range<u64>,
    mut check: impl FnMut(u64, &'static Dialect, &Sink<'_>, Rendering),
) {
    for seed in seeds {
        let chat = chat_with_all_facts(seed);
        let all = chat.linked.conversation.messages.len() as u32;
        let arena = TextArena::default();
        for policy in &policies() {
            for (perspective, end) in [
                (None, None),
                (Some(2), None),
                (Some(3), Some(all / 2)),
                (Some(0), None),
                (Some(2), Some(all * 2 / 3)),
            ] {
                let window = end.map(|end| Window {
                    range: WindowRange {
                        session_start: all / 6,
                        session_end: all,
                        start: all / 5,
                        end,
                        trained_from: 0,
                    },
                    shared: Rc::default(),
                });
                for dialect in profiles() {
                    let view = View {
                        window: window.clone(),
                        history: if seed % 3 == 0 {
                            History::Messages(4)
                        } else {
                            History::Document
                        },
                        ..View::whole(
                            &chat.linked,
                            perspective.filter(|_| !dialect.is_neutral()),
                            policy,
                        )
                    };
                    let transcript = Transcript::new(view, &arena);
                    let (mut renderings, mut sink) = (dialect.renderings(&transcript), Sink::default());
                    while let Some(rendering) = renderings.next(&mut sink) {
                        check(seed, dialect, &sink, rendering);
                    }
                }
            }
        }
    }
}

/// Losses that hardly happen in generated chats.
const RARE: [LossCode; 2] = [LossCode::DuplicateResult, LossCode::ResultEarlyMoved];

#[test]
fn declared_losses_are_exactly_those_on_the_dialects_lists() {
    let mut raised: BTreeMap<String, BTreeSet<LossCode>> = BTreeMap::new();
    each_chat_with_all_facts(
        0..u64::from(chatmill_drawn::cases(90)),
        |_, dialect, _, rendering| {
            let codes = rendering.losses.iter().map(|loss| loss.code);
            raised.entry(format!("{dialect:?}")).or_default().extend(codes);
        },
    );
    for dialect in profiles() {
        let listed = dialect.loses();
        assert!(listed.is_sorted_by(|one, next| one < next), "{dialect:?}");
        let raised = raised.remove(&format!("{dialect:?}")).unwrap();
        let unlisted: Vec<_> = raised.iter().filter(|code| !listed.contains(code)).collect();
        assert!(
            unlisted.is_empty(),
            "{dialect:?} declares what is not on its list: {unlisted:?}"
        );
        // These dialects list the losses of their functions, not of a profile, so that all losses on the list can happen.
        if dialect.is_of_one_system() {
            let is_never = |code: &&LossCode| !raised.contains(code) && !RARE.contains(code);
            let never: Vec<_> = listed.iter().filter(is_never).collect();
            assert!(
                never.is_empty(),
                "{dialect:?} cannot lose what is on its list: {never:?}"
            );
        }
    }
}

fn profiles() -> impl Iterator<Item = &'static Dialect> {
    let dialects = DIALECTS.iter().flat_map(|dialect| dialect.about().profiles);
    dialects.copied()
}
