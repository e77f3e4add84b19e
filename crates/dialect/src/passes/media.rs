//! Media: what a dialect carries stays, everything else is named in the text.

use chatmill_model::{Component, Media, Role};

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::media::placeholder;
use crate::policy::MediaPolicy;
use crate::profile::{Carried, DialectProfile};
use crate::text_run::TextRun;
use crate::transcript::Transcript;
use crate::turns::{Block, BlockContent, Kinds, Turn, TurnPlan, Wording};

pub(super) const PASS: Pass = Pass {
    loses: |_| {
        &[
            LossCode::MediaDropped,
            LossCode::MediaPlaceholder,
            LossCode::MediaDescriptionDropped,
            LossCode::MediaNeedsFetch,
        ]
    },
    run: |plan, transcript, profile| {
        if plan.kinds.has(Kinds::MEDIA) {
            plan.each_block(|plan, turn, block| match block.held {
                BlockContent::Media(media) => said(plan, transcript, profile, turn, block, media),
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
    media: &'a Media,
) -> Option<Block<'a>> {
    let (position, losses) = (block.position?, &mut plan.losses);
    let policy = transcript.view().policy.media;
    if policy == MediaPolicy::Drop {
        losses.at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
        return None;
    }
    let is_users = turn.role == Role::User;
    let carries = is_users && policy == MediaPolicy::Keep;
    if let Some(carried) = carries.then(|| (profile.carries)(media)).flatten() {
        let Carried {
            facts_lost,
            needs_fetch,
        } = carried;
        losses.several(
            LossCode::MediaDescriptionDropped,
            position,
            facts_lost,
            profile.media_rule,
        );
        losses.several(
            LossCode::MediaNeedsFetch,
            position,
            u64::from(needs_fetch),
            reasons::ADDRESS_HAS_TO_BE_FETCHED,
        );
        return Some(block);
    }
    let reason = if is_users {
        reasons::MEDIUM_IS_NAMED
    } else {
        profile.media_rule_plain
    };
    losses.at(LossCode::MediaPlaceholder, position, reason);
    let name = transcript.made().keep(placeholder(media));
    let words = plan.wording([TextRun::new(name, Component::Content)]);
    Some(Block {
        held: BlockContent::Words(Wording::Text, words),
        ..block
    })
}
