//! `user_details`: everybody who speaks or is quoted.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_model::{Component, Message, Participant, ParticipantKind, Reference, Sink};

use super::is_native;
use crate::json_object::{Object, key};
use crate::loss::{LossCode, Losses, reasons};
use crate::names::is_nobody;
use crate::view::View;

/// The sender of what nobody sent.
const NOBODY: &str = "system";

/// Those whom the conversation's participants lack.
pub(super) struct People<'a> {
    /// Authors of quoted messages, in order of appearance.
    quoted: Vec<&'a str>,
    nobody: Cow<'a, str>,
    /// Whether nobody sent one of the messages, and has no place.
    lacks_nobody: bool,
}

impl<'a> People<'a> {
    /// Those who are needed for the messages that are shown.
    pub(super) fn new(view: &View<'a>, shown: &[&'a Message]) -> Self {
        let participants = &view.conversation().participants;
        let mut known: BTreeSet<&str> = participants.iter().map(|person| person.id.as_str()).collect();
        let is_nobodys = participants
            .iter()
            .any(|person| person.id == NOBODY && is_nobody(person));
        let mut nobody = Cow::Borrowed(NOBODY);
        let mut count = 2_u64;
        while !is_nobodys && known.contains(&*nobody) {
            nobody = Cow::Owned(format!("{NOBODY}~{count}"));
            count += 1;
        }
        let mut quoted = Vec::new();
        for message in shown {
            for_authors(&message.references, &mut |author| {
                // Other systems have an empty text for nobody, and it is not written.
                let is_written = !author.is_empty() || is_native(view.conversation());
                if is_written && known.insert(author) {
                    quoted.push(author);
                }
            });
        }
        let is_nobody_heard = shown.iter().any(|message| view.sender(message).is_none());
        Self {
            quoted,
            lacks_nobody: is_nobody_heard && !known.contains(&*nobody),
            nobody,
        }
    }

    /// The id under which stands what nobody sent.
    pub(super) fn nobody(&self) -> Cow<'a, str> {
        self.nobody.clone()
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

/// Writes the roster: the participants, then whom they lack.
pub(super) fn write<'a>(
    sink: &mut Sink<'a>,
    participants: &'a [Participant],
    people: &People<'a>,
    losses: &mut Losses,
) {
    sink.framing("{");
    let mut has_one = false;
    let mut separate = |sink: &mut Sink<'a>| {
        if std::mem::replace(&mut has_one, true) {
            sink.framing(",");
        }
    };
    for participant in participants {
        separate(sink);
        sink.json_string(&participant.id, Component::Meta);
        sink.framing(":");
        user(sink, participant, losses);
    }
    let nobody = people.lacks_nobody.then(|| people.nobody());
    for id in people.quoted.iter().copied().map(Cow::Borrowed).chain(nobody) {
        separate(sink);
        sink.json_string(id, Component::Meta);
        sink.framing(":{}");
    }
    sink.framing("}");
    let unlisted = participants
        .iter()
        .filter(|participant| !participant.listed && !has_facts(participant));
    losses.whole_rendering(
        LossCode::ParticipantSynthesised,
        (unlisted.count() + people.quoted.len() + usize::from(people.lacks_nobody)) as u64,
        reasons::ROSTER_NAMES_EVERYBODY,
    );
}

fn has_facts(participant: &Participant) -> bool {
    participant.name.is_some()
        || participant.custom_role.is_some()
        || participant.department.is_some()
        || participant.email.is_some()
        || !participant.extra.is_empty()
}

fn user<'a>(sink: &mut Sink<'a>, participant: &'a Participant, losses: &mut Losses) {
    // Details that are not an object are kept whole under this name.
    if let Some(whole) = participant.extra.get("/") {
        sink.raw_json(whole.as_str(), Component::Meta);
        return;
    }
    losses.whole_rendering(
        LossCode::NameDropped,
        u64::from(participant.alias.is_some()),
        reasons::FORMAT_HAS_NO_SECOND_NAMES,
    );
    let has_other_role = participant
        .role
        .as_deref()
        .is_some_and(|role| !matches!(role, "user" | "assistant" | ""))
        && participant.role != participant.custom_role;
    losses.whole_rendering(
        LossCode::ParticipantDropped,
        u64::from(has_other_role),
        reasons::ROLE_IS_USER_OR_ASSISTANT,
    );
    let mut user = Object::open(sink);
    user.string(key!("full_name"), participant.name.as_deref(), Component::Names);
    if participant.extra.get("role").is_none() {
        match participant.kind {
            ParticipantKind::Human => user.word(key!("role"), "\"user\""),
            ParticipantKind::Agent => user.word(key!("role"), "\"assistant\""),
            ParticipantKind::Unknown => {}
        }
    }
    user.string(
        key!("custom_role"),
        participant.custom_role.as_deref(),
        Component::Meta,
    );
    user.string(
        key!("department"),
        participant.department.as_deref(),
        Component::Meta,
    );
    user.string(key!("email"), participant.email.as_deref(), Component::Meta);
    user.fields(&participant.extra);
    user.close();
}
