//! Records with several messages: pieces with a different role, and alternatives to the answer that is shown.

use std::cmp::Ordering;

use chatmill_diag::{Path, steps};
use chatmill_intake::json::Value;
use chatmill_model::{AlternativeOrigin, Judgement, Message, Part, Role, Score, Weight};

use super::Reader;
use crate::format::language::path::MapPath;
use crate::format::language::{Others, OthersAre, SenderMap};
use crate::format::piece::{MessageDraft, PieceReader};
use crate::layout::{preference, turns};

impl MessageDraft {
    /// Divides the content into turns: at pieces with a different role, and at the results of an assistant's calls, which are the
    /// tool's.
    pub(in crate::format) fn turns(&mut self, role: Role) -> Vec<(Role, Vec<Part>)> {
        let other_roles = std::mem::take(&mut self.other_roles);
        if other_roles.is_empty() && role != Role::Assistant {
            return vec![(role, std::mem::take(&mut self.parts))];
        }
        let mut roles = vec![role; self.parts.len()];
        // Outer pieces are noted after the pieces inside them; the reversed order lets inner roles overwrite outer ones.
        for (range, own) in other_roles.into_iter().rev() {
            steps::taken(range.len());
            let roles = roles.iter_mut().take(range.end).skip(range.start);
            roles.for_each(|role| *role = own);
        }
        let mut groups: Vec<(Role, Vec<Part>)> = Vec::new();
        for (part, role) in std::mem::take(&mut self.parts).into_iter().zip(roles) {
            match groups.last_mut() {
                Some((last, parts)) if *last == role => parts.push(part),
                _ => groups.push((role, vec![part])),
            }
        }
        if groups.is_empty() {
            groups.push((role, Vec::new()));
        }
        let groups = groups.into_iter().map(|(role, parts)| match role {
            Role::Assistant => turns::divided(role, parts),
            _ => vec![(role, parts)],
        });
        groups.flatten().collect()
    }
}

/// An alternative to a message, with its judgement.
struct Other {
    draft: MessageDraft,
    judgement: Judgement,
    model: Option<Box<str>>,
}

impl Other {
    /// The sort key, worst last: by rank, else by score.
    fn badness(&self) -> (u64, f64) {
        let rank = self.judgement.rank.unwrap_or(u64::MAX);
        (rank, -self.judgement.score.map_or(f64::MIN, Score::value))
    }
}

impl OthersAre {
    /// The origins of the alternatives, and of the answer that became the message.
    fn origins(self, role: Role) -> (AlternativeOrigin, AlternativeOrigin) {
        match self {
            Self::Regenerated if role == Role::User => (AlternativeOrigin::Branch, AlternativeOrigin::Branch),
            Self::Regenerated => (AlternativeOrigin::Regenerated, AlternativeOrigin::Regenerated),
            Self::Choice => (AlternativeOrigin::Choice, AlternativeOrigin::Choice),
            Self::Rejected => (AlternativeOrigin::Rejected, AlternativeOrigin::Chosen),
            Self::Bad => (AlternativeOrigin::Rejected, AlternativeOrigin::Rejected),
        }
    }
}

impl<'d> Reader<'d, '_> {
    /// Adds alternatives to a message, which became the conversation's messages from `start` on. Of rated answers the best one becomes the
    /// message, and the others are its alternatives.
    pub(in crate::format) fn others(
        &mut self,
        others: &Others,
        value: Value<'d>,
        whole: &Message,
        start: usize,
        sender: Option<&SenderMap>,
    ) {
        let mut all = self.all_others(others, value, start);
        let whole = Message {
            id: None,
            usage: None,
            references: Vec::new(),
            ..whole.clone()
        };
        let (origin, own_origin) = others.are.origins(whole.role);
        let label = (others.are == OthersAre::Bad).then_some(false);
        let mut start = start;
        let mut judgement = Judgement {
            label,
            ..Judgement::default()
        };
        if others.rank.is_some() || others.score.is_some() {
            let by_badness = |(_, one): &(usize, &Other), (_, other): &(usize, &Other)| {
                one.badness()
                    .partial_cmp(&other.badness())
                    .unwrap_or(Ordering::Equal)
            };
            let Some((best, _)) = all.iter().enumerate().min_by(by_badness) else {
                return;
            };
            let best = all.remove(best);
            start = self.turns.list.messages.len();
            judgement = best.judgement;
            self.turns.list.rows.rows += 1;
            self.push(value, of_model(&whole, best.model), best.draft, sender, None);
        }
        let mut shown = Some((own_origin, judgement));
        let end = self.turns.list.messages.len();
        if label == Some(false) {
            let answers = self.turns.list.messages.iter_mut().skip(start);
            for answer in answers.filter(|message| message.role == Role::Assistant) {
                answer.weight = Weight::new(0.0);
            }
        }
        for mut other in all {
            other.judgement.label = other.judgement.label.or(label);
            let before = self.turns.list.begin_alternative();
            self.turns.list.rows.rows += 1;
            self.push(value, of_model(&whole, other.model), other.draft, sender, None);
            let mut messages = self.turns.list.end_alternative(before);
            let list = &mut self.turns.list;
            let common = preference::leave_common(list, start, &mut messages);
            let place = start + common..end;
            list.alternatives(place, shown.take(), [(origin, other.judgement, messages)]);
        }
    }

    /// Reads the alternatives to a message, without empty ones and those equal to the message.
    fn all_others(&mut self, others: &Others, value: Value<'d>, start: usize) -> Vec<Other> {
        let own = self.turns.list.messages.iter().skip(start);
        let own: Vec<Part> = own.flat_map(|message| message.parts.iter().cloned()).collect();
        // Reasoning belongs only to the answer that is shown.
        let is_thought = |part: &&Part| matches!(part, Part::Reasoning(_));
        let words: Vec<Part> = own.iter().filter(|part| !is_thought(part)).cloned().collect();
        let mut all = Vec::new();
        for other in others.each.find(value) {
            let before = self.turns.list.begin_alternative();
            let found = self.turns.list.notes.findings.len();
            let pieces = PieceReader {
                format: self.format,
                limits: self.turns.list.limits,
                read: self.read,
                grammar: None,
                is_answer: true,
            };
            let mut draft = MessageDraft::default();
            pieces.read(
                &others.say,
                other,
                &mut draft,
                &mut self.turns.list.site(None, value),
            );
            let number = |path: &Option<MapPath>| path.as_ref()?.first(other)?.number_text();
            let score = |text: &str| text.parse().ok().and_then(Score::new);
            let judgement = Judgement {
                rank: number(&others.rank).and_then(whole),
                score: number(&others.score).and_then(score),
                label: None,
            };
            let model = others.model.id(other).map(Into::into);
            let is_shown = draft.parts == own || draft.parts == words;
            if is_shown {
                // Findings about it were already reported for the message.
                self.turns.list.notes.findings.truncate(found);
            }
            self.places(found);
            self.turns.list.end_alternative(before);
            // The extra fields of an answer without content go to the message.
            if draft.parts.is_empty()
                && let Some(message) = self.turns.list.messages.last_mut()
            {
                message.extra.0.append(&mut draft.extra);
            }
            if !draft.parts.is_empty() && !is_shown {
                all.push(Other {
                    draft,
                    judgement,
                    model,
                });
            }
        }
        all
    }
}

impl Reader<'_, '_> {
    /// Replaces the positions of findings from this one on by paths in the record: their rows are no messages of the
    /// conversation.
    fn places(&mut self, from: usize) {
        let frame = self.turns.list.frame;
        for finding in self.turns.list.notes.findings.iter_mut().skip(from) {
            if let (Path::InMessage(_), Some(span)) = (&finding.path, finding.span) {
                let at = usize::try_from(span.start.saturating_sub(frame.start)).unwrap_or_default();
                finding.position = None;
                finding.path = Path::Absolute(frame.document.path_at(at));
            }
        }
    }
}

/// A copy of a message with the model of an alternative, if it names one.
fn of_model(whole: &Message, model: Option<Box<str>>) -> Message {
    Message {
        model: model.or_else(|| whole.model.clone()),
        ..whole.clone()
    }
}

/// A whole number, which may be written with a decimal point.
fn whole(number: &str) -> Option<u64> {
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let is_whole = rest.bytes().all(|digit| digit == b'0');
    whole.parse().ok().filter(|_| is_whole)
}
