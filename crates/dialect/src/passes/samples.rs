//! Conversations for tests of passes, and turns in a readable form.

use chatmill_diag::Limits;
use chatmill_model::{
    ArgumentForm, Arguments, Conversation, Linked, Media, MediaKind, MediaSource, Message, MessageOrigin,
    Part, Participant, ParticipantKind, RawJson, Role, ToolCall, ToolResult,
};

use super::Pass;
use crate::loss::rule::samples::{ABC_01, ABC_02};
use crate::loss::{LossReason, reasons};
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::profile::DialectProfile;
use crate::text::arena::TextArena;
use crate::transcript::Transcript;
use crate::transcript::turns::{BlockContent, CallBlock, ResultBlock, TurnPlan};
use crate::view::View;
use crate::view::policy::Policy;

/// A reason for the losses of profiles in tests.
pub(super) const REASON: LossReason = reasons::MEDIUM_IS_NAMED;

/// A profile with nothing special about it.
pub(super) const PLAIN: DialectProfile = DialectProfile::plain(
    IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: ABC_01,
        unique: ABC_02,
    },
    NameRule {
        most: Some(64),
        begins_as_identifier: false,
        reason: REASON,
    },
    (ABC_01, "nobody speaks"),
    REASON,
);

/// Indices of Ann and Ben, who are users, and of the bot, the perspective.
pub(super) const ANN: usize = 0;
pub(super) const BEN: usize = 1;
pub(super) const BOT: usize = 2;

/// A text.
pub(super) fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

/// A picture.
pub(super) fn picture() -> Part {
    Part::Media(Media {
        kind: MediaKind::Image,
        source: MediaSource::Url("https://e.com/p.png".to_owned()),
        media_type: None,
        name: Some("p.png".to_owned()),
    })
}

/// A call of `look` with an empty object.
pub(super) fn call(id: &str) -> Part {
    let arguments = Arguments::Object(RawJson("{ }".to_owned()));
    Part::ToolCall(ToolCall {
        id: Some(id.to_owned()),
        name: Some("look".to_owned()),
        arguments,
        form: ArgumentForm::Embedded,
        metadata_id: None,
        own: None,
    })
}

/// A result of `look`.
pub(super) fn result(id: &str, content: &str) -> Part {
    Part::ToolResult(ToolResult {
        call_id: Some(id.to_owned()),
        content: content.to_owned(),
        ..ToolResult::default()
    })
}

/// A conversation under construction.
#[derive(Default)]
pub(super) struct Sample {
    conversation: Conversation,
    pub(super) policy: Policy,
}

impl Sample {
    /// A conversation of three participants without messages.
    pub(super) fn new() -> Self {
        let person = |id: &str, name: &str, kind| Participant {
            id: id.to_owned(),
            name: Some(name.to_owned()),
            kind,
            listed: true,
            ..Participant::default()
        };
        let participants = vec![
            person("u1", "Ann", ParticipantKind::Human),
            person("u2", "Ben", ParticipantKind::Human),
            person("b1", "Bot", ParticipantKind::Agent),
        ];
        Self {
            conversation: Conversation {
                participants,
                ..Conversation::default()
            },
            policy: Policy::default(),
        }
    }

    /// Adds a message of a participant.
    pub(super) fn post(mut self, sender: usize, parts: Vec<Part>) -> Self {
        let role = match (sender, parts.first()) {
            (_, Some(Part::ToolResult(_))) => Role::Tool,
            (BOT, _) => Role::Assistant,
            _ => Role::User,
        };
        self.add(role, Some(sender), parts);
        self
    }

    /// Adds system text.
    pub(super) fn system(mut self, words: &str) -> Self {
        self.add(Role::System, None, vec![text(words)]);
        self
    }

    /// Adds the definition of a tool, as JSON.
    pub(super) fn tool(mut self, definition: &str) -> Self {
        self.conversation.tools.push(RawJson(definition.to_owned()));
        self
    }

    fn add(&mut self, role: Role, sender: Option<usize>, parts: Vec<Part>) {
        let position = self.conversation.messages.len() as u32;
        self.conversation.messages.push(Message {
            id: Some(format!("m{position}")),
            sender,
            parts,
            ..Message::new(role, position, MessageOrigin::default())
        });
    }

    /// Returns the turns after the passes, and the losses that these declared: code, position and amount.
    pub(super) fn after(&self, passes: &[&Pass], profile: &DialectProfile) -> (Vec<String>, Vec<String>) {
        let (linked, _, _): (Linked, _, _) =
            chatmill_link::link(self.conversation.clone(), &Limits::default());
        let arena = TextArena::default();
        let transcript = Transcript::new(View::whole(&linked, Some(BOT), &self.policy), &arena);
        let mut plan = transcript.draft(profile.order);
        plan.losses = crate::loss::Losses::default();
        for pass in passes {
            (pass.run)(&mut plan, &transcript, profile);
        }
        let turns = plan.turn_blocks().map(|(turn, blocks)| {
            let alias = turn.alias.map(|alias| format!("({alias})")).unwrap_or_default();
            let blocks: Vec<String> = blocks.iter().map(|block| shown(&plan, block)).collect();
            format!("{}{alias}: {}", turn.role.as_str(), blocks.join(" | "))
        });
        let turns = turns.collect();
        let losses = plan.losses.finish().into_iter().map(|loss| {
            let position = loss
                .position
                .map_or_else(|| "all".to_owned(), |position| position.to_string());
            let allowed = passes
                .iter()
                .any(|pass| (pass.loses)(profile).contains(&loss.code));
            assert!(allowed, "{} is not on the list of its pass", loss.code.as_str());
            format!("{} {position} {}", loss.code.as_str(), loss.amount)
        });
        (turns, losses.collect())
    }
}

fn shown(plan: &TurnPlan<'_>, block: &crate::transcript::turns::Block<'_>) -> String {
    let words: String = plan.runs(block).map(|run| run.text).collect();
    let shown = match block.content {
        BlockContent::Words(..) => words,
        BlockContent::Media(media, _) => format!("<{}>", media.kind.as_str()),
        BlockContent::Item(item)
        | BlockContent::Call(CallBlock { item: Some(item), .. })
        | BlockContent::Result(ResultBlock { item: Some(item), .. }) => item.raw.as_str().to_owned(),
        BlockContent::Call(call) => format!("<call {} {} {}>", call.id, call.name, call.arguments),
        BlockContent::Result(result) => format!("<result {} {} {}>", result.id, result.name, result.content),
        BlockContent::Reasoning(_) => "<reasoning>".to_owned(),
        BlockContent::Notice => "<notice>".to_owned(),
        BlockContent::CacheMark => "<mark>".to_owned(),
    };
    shown + if block.is_cached { "*" } else { "" }
}
