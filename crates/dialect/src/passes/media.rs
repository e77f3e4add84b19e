//! Media: those that the dialect carries stay, all others are named in the text.

use std::collections::BTreeSet;

use chatmill_diag::cut;
use chatmill_model::{Media, MediaKind, MediaSource, Message, Part, Role};

use super::Pass;
use super::merge::wordless_beside_words;
use crate::loss::{LossCode, reasons};
use crate::messages::text::loss_of_words;
use crate::passes::profile::DialectProfile;
use crate::text::media::{add_line, document_text};
use crate::text::placeholders::Placeholders;
use crate::text::run::is_blank_character;
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, Kinds, Turn, TurnPlan, Wording, Words};
use crate::view::policy::MediaPolicy;

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
            let mut beside = MediaContext {
                merged: wordless_beside_words(plan, transcript, profile),
                ..MediaContext::default()
            };
            plan.each_block(|plan, turn, block| match block.content {
                BlockContent::Media(media, name) => shown(
                    plan,
                    transcript,
                    profile,
                    &mut beside,
                    (turn, block),
                    (media, name),
                ),
                content => {
                    if let BlockContent::Result(result) = content {
                        beside.last = Some((plan.blocks.len(), result.content));
                    }
                    Some(block)
                }
            });
            for (number, content) in beside.answers {
                if let BlockContent::Result(result) = &mut cut::at_mut(&mut plan.blocks, number).content {
                    result.content = transcript.arena().keep(content);
                }
            }
        }
    },
};

/// The context of media, determined once for all media of a message or an answer.
#[derive(Default)]
struct MediaContext<'a> {
    /// Positions of messages that have only media, and are merged into a turn with words of other messages.
    merged: BTreeSet<u32>,
    /// The position of the last message, whether it has a text, and whether it has a text or calls.
    words: Option<(u32, bool, bool)>,
    /// The block number and the content of the last answer.
    last: Option<(usize, &'a str)>,
    /// Answers with added lines for media, by their block numbers.
    answers: Vec<(usize, String)>,
}

impl<'a> MediaContext<'a> {
    fn words(&mut self, message: &Message) -> (bool, bool) {
        let known = self.words.filter(|(position, ..)| *position == message.position);
        let (_, has_text, has_words) = *self.words.insert(known.unwrap_or_else(|| {
            let has_text = message.texts().any(|text| !text.chars().all(is_blank_character));
            let calls = |part: &Part| matches!(part, Part::ToolCall(_));
            let has_words = has_text || message.parts.iter().any(calls);
            (message.position, has_text, has_words)
        }));
        (has_text, has_words)
    }

    /// Adds a line that names a medium to the answer of the tool that returned it.
    fn answered(&mut self, plan: &TurnPlan<'a>, name: Words) {
        let Some((number, content)) = self.last else {
            return;
        };
        if self.answers.last().is_none_or(|(last, _)| *last != number) {
            self.answers.push((number, content.to_owned()));
        }
        let words: String = plan.words(name).iter().map(|run| run.text).collect();
        if let Some((_, content)) = self.answers.last_mut() {
            add_line(content, &words);
        }
    }
}

fn shown<'a>(
    plan: &mut TurnPlan<'a>,
    transcript: &Transcript<'a>,
    profile: &DialectProfile,
    beside: &mut MediaContext<'a>,
    (turn, block): (&Turn<'a>, Block<'a>),
    (media, name): (&'a Media, Words),
) -> Option<Block<'a>> {
    let (position, losses) = (block.position?, &mut plan.losses);
    let policy = transcript.view().policy.media;
    // A document of plain text is content and not a medium, so policy cannot drop it.
    let is_document = document_text(media).is_some();
    if policy == MediaPolicy::Drop && !is_document {
        losses.at(reasons::POLICY_DROPS_MEDIA, position);
        return None;
    }
    let is_users = turn.role == Role::User;
    let message = transcript.view().message(position);
    if let (MediaSource::Url(url), MediaKind::Link) = (&media.source, media.kind)
        && message.is_some_and(|message| message.texts().any(|text| text.contains(url.as_str())))
    {
        losses.at((LossCode::MediaPlaceholder, reasons::MEDIUM_IS_NAMED), position);
        return None;
    }
    let (has_text, has_words) = message.map_or((false, false), |message| beside.words(message));
    let is_sample = transcript.view().placeholders == Placeholders::Alone;
    let is_beside_words = is_sample && media.kind != MediaKind::Link && has_words;
    if turn.role == Role::Assistant && (is_beside_words || beside.merged.contains(&position)) {
        losses.at(reasons::ASSISTANT_WOULD_PRINT_PLACEHOLDERS, position);
        return None;
    }
    let carries = match turn.role {
        Role::User => profile.carries,
        Role::Tool => profile.carries_in_results,
        Role::System | Role::Assistant => None,
    };
    let is_alone = |media: &Media| profile.files_need_text && media.kind == MediaKind::File && !has_text;
    let carries = carries.filter(|_| policy == MediaPolicy::Keep && !is_alone(media));
    if let Some(facts_lost) = carries.and_then(|carries| carries(media)) {
        losses.several(
            (LossCode::MediaDescriptionDropped, profile.media_rule),
            position,
            facts_lost,
        );
        let must_be_fetched = profile.must_be_fetched.is_some_and(|is_so| is_so(media));
        losses.several(
            reasons::ADDRESS_HAS_TO_BE_FETCHED,
            position,
            u64::from(must_be_fetched),
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
    losses.at((loss_of_words(media), reason), position);
    if turn.role == Role::Tool {
        beside.answered(plan, name);
        return None;
    }
    Some(Block {
        content: BlockContent::Words(Wording::Text, name),
        ..block
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{ANN, BOT, PLAIN, Sample, call, picture, result, text};

    #[test]
    fn supported_parts_stay_and_all_others_are_declared() {
        let sample = Sample::new().post(ANN, vec![text("a"), picture()]);
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
    fn media_of_an_answer_are_lines_of_it_however_many_there_are() {
        let answered = |media: u32, content: &str| {
            let mut parts = vec![result("c", content)];
            if let Some(Part::ToolResult(result)) = parts.first_mut() {
                result.media = media;
            }
            parts.extend((0..media).map(|_| picture()));
            Sample::new()
                .post(BOT, vec![call("c")])
                .post(BOT, parts)
                .after(&[&PASS], &PLAIN)
                .0
        };
        let lines = "[Image: p.png]\n[Image: p.png]";
        assert_eq!(answered(2, "x")[1], format!("tool: <result   x\n{lines}>"));
        assert_eq!(answered(2, "")[1], format!("tool: <result   {lines}>"));
    }

    #[test]
    fn only_users_have_media_and_policy_may_drop_them() {
        let mut sample = Sample::new().post(BOT, vec![picture()]);
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
