//! The roster in `user_details`: all participants who speak or are quoted.

use std::collections::BTreeSet;

use chatmill_model::{Message, Participant, Reference};

use super::is_native;
use crate::loss::{Losses, reasons};
use crate::messages::unsupported::has_facts;
use crate::naming::participants::is_nobody;
use crate::naming::unique::free_id;
use crate::transcript::Transcript;

/// The sender of messages without a sender.
const NOBODY: &str = "system";

/// Senders and quoted authors who are not among the participants of the conversation.
pub(super) struct Unlisted<'a> {
    /// Authors of quoted messages, in order of appearance.
    quoted: Vec<&'a str>,
    nobody: &'a str,
    /// Whether a message has no sender, and the id for such messages is not in the roster.
    lacks_nobody: bool,
}

impl<'a> Unlisted<'a> {
    /// Collects those that the shown messages need.
    pub(super) fn new(transcript: &Transcript<'a>, shown: &[&'a Message], losses: &mut Losses) -> Self {
        let view = transcript.view();
        let participants = &view.conversation().participants;
        let mut known: BTreeSet<&str> = participants.iter().map(|person| person.id.as_str()).collect();
        let is_nobodys = participants
            .iter()
            .any(|person| person.id == NOBODY && is_nobody(person));
        let nobody = free_id(NOBODY, |id| !is_nobodys && known.contains(id));
        let nobody = transcript.arena().keep(nobody);
        let mut quoted = Vec::new();
        for message in shown {
            for_authors(&message.references, &mut |author| {
                // Other systems have an empty author for unknown ones, which is not written.
                let is_written = !author.is_empty() || is_native(view.conversation());
                if is_written && known.insert(author) {
                    quoted.push(author);
                }
            });
        }
        let is_nobody_heard = shown.iter().any(|message| view.sender(message).is_none());
        let unlisted = Self {
            quoted,
            lacks_nobody: is_nobody_heard && !known.contains(nobody),
            nobody,
        };
        unlisted.declare(participants, losses);
        unlisted
    }

    fn declare(&self, participants: &[Participant], losses: &mut Losses) {
        let unlisted = |person: &&Participant| !person.listed && person.name.is_none() && !has_facts(person);
        let generated = participants.iter().filter(unlisted).count() + self.ids().count();
        losses.whole_rendering(reasons::ROSTER_NAMES_EVERYBODY, generated as u64);
        // Details that are not an object are written unchanged.
        let persons = participants
            .iter()
            .filter(|person| person.extra.get("/").is_none());
        for person in persons {
            let aliases = u64::from(person.alias.is_some());
            losses.whole_rendering(reasons::FORMAT_HAS_NO_SECOND_NAMES, aliases);
            let role = person.role.as_deref();
            let is_other = role.is_some_and(|role| !matches!(role, "user" | "assistant" | ""));
            let lost = u64::from(is_other && person.role != person.custom_role);
            losses.whole_rendering(reasons::ROLE_IS_USER_OR_ASSISTANT, lost);
        }
    }

    /// Returns the ids of those who are not among the participants.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'a str> {
        let nobody = self.lacks_nobody.then_some(self.nobody);
        self.quoted.iter().copied().chain(nobody)
    }

    /// Returns the sender of messages without a sender.
    pub(super) fn nobody(&self) -> &'a str {
        self.nobody
    }
}

fn for_authors<'a>(references: &'a [Reference], found: &mut impl FnMut(&'a str)) {
    for reference in references.iter().filter(|reference| !reference.is_pseudo) {
        let author = reference
            .preview
            .as_ref()
            .and_then(|preview| preview.sender.as_deref());
        author.into_iter().for_each(&mut *found);
        for_authors(&reference.nested, found);
    }
}
