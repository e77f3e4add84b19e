//! Media: what a dialect carries stays, everything else is named in the text.

use chatmill_model::{Media, MediaKind, MediaSource, Message, Part, Role};

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::media::{document_text, loss_of_words, with_line};
use crate::placeholders::Placeholders;
use crate::policy::MediaPolicy;
use crate::profile::DialectProfile;
use crate::text_run::is_blank_character;
use crate::transcript::Transcript;
use crate::turns::{Block, BlockContent, Kinds, Turn, TurnPlan, Wording, Words};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.carries, profile.must_be_fetched) {
        (None, _) => &[
            LossCode::MediaDropped,
            LossCode::MediaPlaceholder,
            LossCode::PartFlattened,
        ],
        (Some(_), None) => &[
            LossCode::MediaDropped,
            LossCode::MediaPlaceholder,
            LossCode::PartFlattened,
            LossCode::MediaDescriptionDropped,
        ],
        (Some(_), Some(_)) => &[
            LossCode::MediaDropped,
            LossCode::MediaPlaceholder,
            LossCode::PartFlattened,
            LossCode::MediaDescriptionDropped,
            LossCode::MediaNeedsFetch,
        ],
    },
    run: |plan, transcript, profile| {
        if plan.kinds.has(Kinds::MEDIA) {
            plan.each_block(|plan, turn, block| match block.held {
                BlockContent::Media(media, name) => {
                    said(plan, transcript, profile, turn, block, (media, name))
                }
                _ => Some(block),
            });
        }
    },
};

fn said<'a>(
    plan: &mut TurnPlan<'a>,
    transcript: &Transcript<'a>,
    profile: &DialectProfile,
    turn: &Turn<'a>,
    block: Block<'a>,
    (media, name): (&'a Media, Words),
) -> Option<Block<'a>> {
    let (position, losses) = (block.position?, &mut plan.losses);
    let policy = transcript.view().policy.media;
    // The words of a document are no medium that policy could leave out.
    let is_document = document_text(media).is_some();
    if policy == MediaPolicy::Drop && !is_document {
        losses.at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
        return None;
    }
    let is_users = turn.role == Role::User;
    let message = transcript.view().message(position);
    let texts = || message.into_iter().flat_map(Message::texts);
    if let (MediaSource::Url(url), MediaKind::Link) = (&media.source, media.kind)
        && texts().any(|text| text.contains(url.as_str()))
    {
        losses.at(LossCode::MediaPlaceholder, position, reasons::MEDIUM_IS_NAMED);
        return None;
    }
    let has_text = || texts().any(|text| !text.chars().all(is_blank_character));
    let has_words = || {
        let calls = |message: &Message| message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        has_text() || message.is_some_and(calls)
    };
    let is_sample = transcript.view().placeholders == Placeholders::Alone;
    if is_sample && turn.role == Role::Assistant && media.kind != MediaKind::Link && has_words() {
        let reason = reasons::ASSISTANT_WOULD_PRINT_PLACEHOLDERS;
        losses.at(LossCode::MediaDropped, position, reason);
        return None;
    }
    let carries = match turn.role {
        Role::User => profile.carries,
        Role::Tool => profile.carries_in_results,
        Role::System | Role::Assistant => None,
    };
    let is_alone = |media: &Media| profile.files_need_text && media.kind == MediaKind::File && !has_text();
    let carries = carries.filter(|_| policy == MediaPolicy::Keep && !is_alone(media));
    if let Some(facts_lost) = carries.and_then(|carries| carries(media)) {
        losses.several(
            LossCode::MediaDescriptionDropped,
            position,
            facts_lost,
            profile.media_rule,
        );
        let must_be_fetched = profile.must_be_fetched.is_some_and(|is_so| is_so(media));
        losses.several(
            LossCode::MediaNeedsFetch,
            position,
            u64::from(must_be_fetched),
            reasons::ADDRESS_HAS_TO_BE_FETCHED,
        );
        return Some(block);
    }
    let reason = if is_document {
        reasons::DOCUMENT_IS_TEXT
    } else if is_users {
        reasons::MEDIUM_IS_NAMED
    } else {
        profile.media_rule_plain
    };
    losses.at(loss_of_words(media), position, reason);
    if turn.role == Role::Tool {
        answered(plan, transcript, name);
        return None;
    }
    Some(Block {
        held: BlockContent::Words(Wording::Text, name),
        ..block
    })
}

/// What stands for a medium of a tool's answer is a line of the answer.
fn answered<'a>(plan: &mut TurnPlan<'a>, transcript: &Transcript<'a>, name: Words) {
    let words: String = plan.words(name).iter().map(|run| run.text).collect();
    let mut before = plan.blocks.iter_mut().rev();
    if let Some(BlockContent::Result(result)) = before.find_map(|block| match &mut block.held {
        held @ BlockContent::Result(_) => Some(held),
        _ => None,
    }) {
        result.content = transcript.made().keep(with_line(result.content, &words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{ANN, BOT, PLAIN, Sample, picture, text};

    #[test]
    fn what_is_carried_stays_and_everything_else_is_named() {
        let sample = Sample::new().say(ANN, vec![text("a"), picture()]);
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: a | [Image: p.png]"]);
        assert_eq!(losses, ["media-placeholder 0 1"]);
        let carrying = DialectProfile {
            carries: Some(|_| Some(1)),
            must_be_fetched: Some(|_| true),
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &carrying);
        assert_eq!(turns, ["user: a | <image>"]);
        assert_eq!(losses, ["media-needs-fetch 0 1", "media-description-dropped 0 1"]);
    }

    #[test]
    fn only_users_have_media_and_policy_may_drop_them() {
        let mut sample = Sample::new().say(BOT, vec![picture()]);
        let carrying = DialectProfile {
            carries: Some(|_| Some(0)),
            ..PLAIN
        };
        assert_eq!(sample.after(&[&PASS], &carrying).0, ["assistant: [Image: p.png]"]);
        sample.policy.media = MediaPolicy::Drop;
        let (turns, losses) = sample.after(&[&PASS], &carrying);
        assert_eq!((turns.len(), losses), (1, vec!["media-dropped 0 1".to_owned()]));
    }
}
