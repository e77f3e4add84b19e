//! Facts about messages, participants and the conversation that are not content: each fact must be read back at its
//! message, or a loss must declare it.

use std::collections::BTreeSet;

use chatmill_dialect::LossCode;
use chatmill_model::{Fact, Linked, Message, Participant, Timestamp};
use serde_json::Value;

use super::case::Case;
use super::elements::{Element, Kind};
use super::search::Alignment;

/// The elements of both sides, and the places where they were found.
pub(super) struct Matched<'m, 'c> {
    /// The rendering under test.
    pub case: &'m Case<'m>,
    /// The elements of the conversation.
    pub source: &'m [Element<'c>],
    /// The conversation that was read back.
    pub again: &'c Linked,
    /// The elements that were read back.
    pub read: &'m [Element<'c>],
    /// The alignment of the two lists.
    pub alignment: &'m Alignment,
}

impl Matched<'_, '_> {
    /// The breaches of completeness, one sentence each.
    pub(super) fn breaches(&self) -> Vec<String> {
        let mut breaches = Vec::new();
        self.amounts(&mut breaches);
        self.turns(&mut breaches);
        let mut positions: Vec<u32> = self.source.iter().map(Element::position).collect();
        positions.dedup();
        for position in positions {
            let mut at: Vec<&Message> = Vec::new();
            for (element, found) in self.source.iter().zip(&self.alignment.found) {
                if let Some(found) = found
                    .filter(|_| element.position() == position && !matches!(element.kind, Kind::Quote(_)))
                {
                    let message = self.read[found.read].message;
                    at.extend(
                        (!at.iter().any(|known| known.position == message.position)).then_some(message),
                    );
                }
            }
            if !at.is_empty() {
                self.message(&self.case.messages()[position as usize], &at, &mut breaches);
            }
        }
        self.conversation(&mut breaches);
        breaches
    }

    fn has(&self, code: LossCode, position: u32) -> bool {
        self.case.declared.at(code, position) > 0
    }

    /// Checks that no more is missing than declared.
    fn amounts(&self, breaches: &mut Vec<String>) {
        let mut lost: Vec<(u32, Vec<LossCode>, u64)> = Vec::new();
        for (element, found) in self.source.iter().zip(&self.alignment.found) {
            let is_part = matches!(
                element.kind,
                Kind::Reasoning(_) | Kind::Media(_) | Kind::Call(_) | Kind::Result(_) | Kind::CacheMark
            );
            // If nothing of a message is left, its facts cannot be shown.
            if !is_part {
                continue;
            }
            let codes = element.dropped_by();
            let is_lost = found.is_none_or(|found| matches!(self.read[found.read].kind, Kind::Nothing));
            match lost
                .iter_mut()
                .find(|(position, known, _)| (*position, known) == (element.position(), &codes))
            {
                Some((.., count)) => *count += u64::from(is_lost),
                None => lost.push((element.position(), codes, u64::from(is_lost))),
            }
        }
        for (position, codes, count) in lost {
            let declared = self.case.declared.any_at(&codes, position);
            let words = self.case.declared.at(LossCode::MediaPlaceholder, position);
            let is_media = codes.contains(&LossCode::MediaDropped);
            if count > declared + if is_media { words } else { 0 } {
                breaches.push(format!(
                    "message {position}: {count} are lost of {codes:?}, {declared} declared"
                ));
            }
            let is_exact = !is_media
                && !codes.contains(&LossCode::SystemDropped)
                && !codes.contains(&LossCode::ToolResultDropped);
            let is_block = self.case.declared.whole(LossCode::TurnMerged) > 0;
            if is_exact && !is_block && declared > count && codes != [LossCode::ToolCallDropped] {
                breaches.push(format!(
                    "message {position}: {declared} of {codes:?} are declared, {count} lost"
                ));
            }
        }
    }

    /// Checks the speakers, and which messages are one turn.
    fn turns(&self, breaches: &mut Vec<String>) {
        let codes_of_one = [
            LossCode::TurnMerged,
            LossCode::SystemHoisted,
            LossCode::SystemInlined,
        ];
        let mut last: Option<(&Element<'_>, usize)> = None;
        let mut last_shown: Option<(u32, usize)> = None;
        let mut last_role = None;
        for (element, found) in self.source.iter().zip(&self.alignment.found) {
            let (Some(found), false) = (found, matches!(element.kind, Kind::Quote(_))) else {
                continue;
            };
            let read = &self.read[found.read];
            let position = element.position();
            let has_no_role = element.kind == Kind::CacheMark
                || element.belongs_to_result
                || matches!(element.kind, Kind::Result(_)) && !matches!(read.kind, Kind::Text(_));
            if !has_no_role {
                // A word in front of the text of a message names the speaker.
                let goes_on = last_shown == Some((position, found.read));
                last_shown = Some((position, found.read));
                last_role = found.role.or(last_role.filter(|_| goes_on));
                let role = last_role.unwrap_or(read.message.role);
                if !self.case.is_role(element, role, found.is_worded) {
                    breaches.push(format!(
                        "message {position}: {:?} is read back as {role:?}",
                        element.kind
                    ));
                }
                if last_role.is_none() {
                    self.name(element, read.message, found.is_named, found.is_worded, breaches);
                }
                if read.message.kind != element.message.kind && !matches!(read.kind, Kind::Nothing) {
                    breaches.push(format!("message {position} is a {:?}", read.message.kind));
                }
            }
            if let Some((before, place)) = last {
                let is_one_message = self.read[place].position() == read.position();
                let is_answer = |element: &Element<'_>| {
                    element.belongs_to_result || matches!(element.kind, Kind::Result(_))
                };
                let answers = is_answer(element) || is_answer(before);
                let merges = |code: &LossCode| {
                    self.case.declared.covers(*code, position) || self.has(*code, before.position())
                };
                if before.position() != position
                    && is_one_message
                    && !answers
                    && !codes_of_one.iter().any(merges)
                {
                    breaches.push(format!("messages {} and {position} are one", before.position()));
                }
                let splits = [
                    LossCode::TurnSplit,
                    LossCode::TurnMerged,
                    LossCode::PartMoved,
                    LossCode::TurnMoved,
                ];
                let splits = splits
                    .iter()
                    .any(|code| self.case.declared.covers(*code, position));
                if before.position() == position && !is_one_message && !answers && !splits {
                    breaches.push(format!("message {position} is divided"));
                }
                let is_text = |element: &Element<'_>| matches!(element.kind, Kind::Text(_) | Kind::Media(_));
                let is_one_text = place == found.read && before.position() == position;
                if is_one_text
                    && last_role.is_none()
                    && is_text(before)
                    && is_text(element)
                    && self
                        .case
                        .declared
                        .any_at(&[LossCode::PartFlattened, LossCode::SystemInlined], position)
                        == 0
                {
                    breaches.push(format!("message {position}: two texts are one"));
                }
            }
            last = Some((element, found.read));
        }
    }

    fn name(
        &self,
        element: &Element<'_>,
        read: &Message,
        is_named: bool,
        is_worded: bool,
        breaches: &mut Vec<String>,
    ) {
        use LossCode::{
            NameAliased, NameCleaned, NameDropped, NameInlined, NameSynthesised, OrphanResultInlined,
            RoleMapped, SenderMissing, SystemInlined, Truncated,
        };
        let position = element.position();
        let known = shown_name(self.case.view.linked, element.message);
        let reported = shown_name(self.again, read);
        let may_change = [NameCleaned, NameSynthesised, SenderMissing, Truncated];
        let may_miss = [NameDropped, NameInlined, SystemInlined];
        let is_generated = element.message.sender.is_some_and(|sender| {
            let person = &self.case.participants()[sender];
            person.is_id_made && known.as_ref() == Some(&person.id)
        });
        let is_right = known == reported
            || reported.is_none() && matches!(element.kind, Kind::Call(_))
            || reported.is_none() && (is_generated || element.message.unstated.holds(Fact::SenderName))
            || self.case.declared.whole(NameAliased) > 0
            || self.case.declared.any_at(&may_change, position) > 0
            || reported.is_none()
                && (is_named
                    || may_miss
                        .iter()
                        .any(|code| self.case.declared.covers(*code, position)))
            || is_worded && (self.has(RoleMapped, position) || self.has(OrphanResultInlined, position))
            || reported.as_ref().is_some_and(|reported| {
                let is_bare = known.is_none()
                    || known.as_ref().is_some_and(|known| {
                        self.case.participants().iter().any(|person| person.id == *known)
                    });
                (is_bare || self.case.declared.whole(NameDropped) > 0)
                    && self.case.is_name(element.message, reported)
            });
        if !is_right {
            breaches.push(format!("message {position}: {known:?} is called {reported:?}"));
        }
    }

    /// Checks the facts of a message if any of its elements was found.
    fn message(&self, message: &Message, at: &[&Message], breaches: &mut Vec<String>) {
        self.identity(message, at, breaches);
        self.fields(message, at, breaches);
        self.relations(message, at, breaches);
    }

    /// Checks the id and the time of a message.
    fn identity(&self, message: &Message, at: &[&Message], breaches: &mut Vec<String>) {
        let position = message.position;
        let covers = |code| self.case.declared.covers(code, position);
        let mut breach =
            |what: &str, lost: &dyn std::fmt::Debug| breaches.push(breach(position, what, lost, at));
        if let Some(id) = &message.id
            && !at.iter().any(|read| read.id.as_ref() == Some(id))
            && !covers(LossCode::MessageIdDropped)
        {
            breach("the id", id);
        }
        for read in at.iter().filter_map(|read| read.id.as_ref()) {
            let is_generated = covers(LossCode::MessageIdSynthesised);
            let is_further = message
                .id
                .as_ref()
                .is_some_and(|id| read.starts_with(&format!("{id}/")));
            if !is_generated && !is_further && !self.case.is_id_of_another(read) {
                breach("no id", read);
            }
        }
        if let Some(time) = &message.timestamp
            && !at
                .iter()
                .any(|read| read.timestamp.as_ref().is_some_and(|read| is_time(time, read)))
            && !covers(LossCode::TimestampDropped)
        {
            breach("the time", time);
        }
        if message.timestamp.is_none()
            && let Some(time) = at.iter().find_map(|read| read.timestamp.as_ref())
            && self.case.declared.whole(LossCode::TurnMerged)
                + self.case.declared.at(LossCode::TurnMerged, position)
                == 0
        {
            breach("no time", time);
        }
    }

    /// Checks mentions, fields, the name of the sender, and the weight.
    fn fields(&self, message: &Message, at: &[&Message], breaches: &mut Vec<String>) {
        let position = message.position;
        let covers = |code| self.case.declared.covers(code, position);
        let mut breach =
            |what: &str, lost: &dyn std::fmt::Debug| breaches.push(breach(position, what, lost, at));
        for mention in message
            .mentions
            .iter()
            .filter(|_| !covers(LossCode::MentionDropped))
        {
            let names = self.case.names(mention);
            let text = message.text().to_lowercase();
            let is_named_in_text = names
                .iter()
                .any(|name| text.contains(&format!("@{}", name.to_lowercase())));
            let mut reported = at.iter().flat_map(|read| &read.mentions);
            if !is_named_in_text && !reported.any(|reported| names.contains(reported)) {
                breach("the mention", mention);
            }
        }
        let keys: BTreeSet<&String> = at
            .iter()
            .flat_map(|read| &read.extra.0)
            .map(|(key, _)| key)
            .collect();
        for (key, value) in message.extra.0.iter().filter(|_| !covers(LossCode::ExtraDropped)) {
            if !keys.contains(key) && !Case::is_reported(value.as_str(), at) {
                breach("the field", key);
            }
        }
        if let Some(given) = message.sender_name.as_ref().filter(|given| !given.is_empty())
            && self.case.is_neutral
            && !at.iter().any(|read| {
                read.sender_name
                    .as_ref()
                    .or(shown_name(self.again, read).as_ref())
                    == Some(given)
            })
            && !covers(LossCode::NameDropped)
        {
            breach("the name", given);
        }
        if message.weight.is_some()
            && !at.iter().any(|read| read.weight == message.weight)
            && !covers(LossCode::WeightDropped)
            // A request of one message does not contain the weights of the others, and its own does not matter.
            && !self.case.is_single()
        {
            breach("the weight", &message.weight);
        }
    }

    /// Checks replies and the sender.
    fn relations(&self, message: &Message, at: &[&Message], breaches: &mut Vec<String>) {
        let position = message.position;
        let covers = |code| self.case.declared.covers(code, position);
        let mut breach =
            |what: &str, lost: &dyn std::fmt::Debug| breaches.push(breach(position, what, lost, at));
        let reported: u64 = at.iter().map(|read| read.references.len() as u64).sum();
        let lost = self.case.declared.any_at(
            &[
                LossCode::ReferenceDropped,
                LossCode::ReferenceUnresolved,
                LossCode::ReferenceInlined,
            ],
            position,
        );
        let is_alone = at.iter().all(|read| self.is_only(read, position));
        let count = message.references.len() as u64;
        let is_doubtful = self.has(LossCode::SpecialTokenInText, position);
        if is_alone && !is_doubtful && reported + lost != count && !(self.case.is_single() && lost == count) {
            breach("replies", &(count, reported, lost));
        }
        if let (Some(read), Some(sender)) = (at.first(), message.sender)
            && let Some(other) = read
                .sender
                .map(|sender| &self.again.conversation.participants[sender])
            && self.case.is_neutral
            && !other.is_id_made
            && !self.case.is_known_as(sender, &other.id)
            && !covers(LossCode::SenderMissing)
            && !covers(LossCode::NameSynthesised)
        {
            breach("the sender", &other.id);
        }
    }

    /// Whether a message that was read back contains nothing of another message.
    fn is_only(&self, read: &Message, position: u32) -> bool {
        let mut all = self.source.iter().zip(&self.alignment.found);
        all.all(|(element, found)| {
            let is_there = found.is_some_and(|found| self.read[found.read].position() == read.position);
            !is_there || element.position() == position
        })
    }

    /// Checks the facts about the conversation, its participants and its tools.
    fn conversation(&self, breaches: &mut Vec<String>) {
        let declared = &self.case.declared;
        let (one, other) = (self.case.view.conversation(), &self.again.conversation);
        let dropped = declared.whole(LossCode::MetadataDropped);
        let is_lost = |one: &Option<String>, other: &Option<String>| one.is_some() && one != other;
        let keys: Vec<&String> = (other.extra.0.iter().chain(&other.envelope.0))
            .map(|(key, _)| key)
            .collect();
        let fields = one.extra.0.iter().chain(&one.envelope.0);
        let fields = fields
            .filter(|(key, value)| !keys.contains(&key) && !Case::is_of_conversation(value.as_str(), other));
        let lost = u64::from(is_lost(&one.title, &other.title))
            + u64::from(is_lost(&one.description, &other.description))
            + fields.count() as u64;
        if lost > dropped && !self.case.is_single() {
            breaches.push(format!(
                "{lost} facts about the conversation are lost, {dropped} declared"
            ));
        }
        if one.title.is_none() && other.title.is_some() && declared.whole(LossCode::TitleSynthesised) == 0 {
            breaches.push(format!("nobody gave the title {:?}", other.title));
        }
        let is_generated = declared.whole(LossCode::ConversationIdSynthesised) > 0;
        if let (Some(id), false, true) = (&other.source_id, is_generated, self.case.is_neutral)
            && one.source_id.as_ref() != Some(id)
        {
            breaches.push(format!("the conversation's id reads as {id:?}"));
        }
        if self.case.is_neutral
            && one.source_id.is_some()
            && other.source_id.is_none()
            && !self.read.is_empty()
        {
            breaches.push("the conversation's id is lost".to_owned());
        }
        let facts = |participants: &[Participant]| {
            participants.iter().filter(|person| has_facts(person)).count() as u64
        };
        let (known, reported) = (facts(&one.participants), facts(&other.participants));
        if reported + declared.whole(LossCode::ParticipantDropped) < known {
            breaches.push(format!(
                "facts of {known} participants are known, of {reported} reported"
            ));
        }
        self.tools(breaches);
    }

    fn tools(&self, breaches: &mut Vec<String>) {
        let declared = &self.case.declared;
        let of = |tools: &[chatmill_model::RawJson]| -> Vec<Tool> {
            tools.iter().flat_map(|raw| tools_of(raw.as_str())).collect()
        };
        let known = of(&self.case.view.conversation().tools);
        let reported = of(&self.again.conversation.tools);
        let dropped = declared.whole(LossCode::ToolDefinitionDropped);
        let is_renamed = declared.whole(LossCode::ToolNameRewritten) > 0;
        let is_reshaped = declared.whole(LossCode::ExtraDropped) + declared.whole(LossCode::EmptyFilled) > 0;
        let mut lost = 0_usize;
        let mut rest = reported.iter();
        for tool in &known {
            let fits = |other: &Tool| {
                (other.name == tool.name || is_renamed)
                    && other.description == tool.description
                    && (is_reshaped || other.parameters == tool.parameters)
            };
            let mut ahead = rest.clone();
            match ahead.find(|other| fits(other)) {
                Some(_) if tool.name.is_some() => rest = ahead,
                _ => lost += 1,
            }
        }
        if lost as u64 > dropped {
            breaches.push(format!(
                "{lost} tools are lost, {dropped} declared: {known:?} but {reported:?}"
            ));
        }
        let added = declared.whole(LossCode::ToolDefinitionSynthesised)
            + declared.whole(LossCode::ToolDefinitionAdded);
        if (reported.len() + lost) as u64 > known.len() as u64 + added {
            breaches.push(format!("no participant defined all of {reported:?}"));
        }
    }
}

/// The definition of a tool.
#[derive(Clone, Debug, PartialEq)]
struct Tool {
    name: Option<String>,
    description: Option<String>,
    /// The names of its parameters.
    parameters: Vec<String>,
}

/// The definitions in a value, in the form of any vendor.
fn tools_of(raw: &str) -> Vec<Tool> {
    let value: Value = serde_json::from_str(raw).unwrap_or_default();
    for key in ["functionDeclarations", "function_declarations"] {
        if let Some(list) = value[key].as_array() {
            return list.iter().flat_map(|tool| tools_of(&tool.to_string())).collect();
        }
    }
    let mut inner = &value;
    for key in ["function", "toolSpec"] {
        inner = inner.get(key).unwrap_or(inner);
    }
    let text = |key: &str| {
        inner[key]
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let keys = [
        "parameters",
        "parametersJsonSchema",
        "parameters_json_schema",
        "input_schema",
        "inputSchema",
    ];
    let schema = keys.iter().find_map(|key| inner.get(*key));
    let schema = schema.map(|schema| schema.get("json").unwrap_or(schema));
    let properties = schema.and_then(|schema| schema["properties"].as_object());
    vec![Tool {
        name: text("name"),
        description: text("description"),
        parameters: properties
            .map(|all| all.keys().cloned().collect())
            .unwrap_or_default(),
    }]
}

fn has_facts(person: &Participant) -> bool {
    person.custom_role.is_some()
        || person.department.is_some()
        || person.email.is_some()
        || !person.extra.is_empty()
}

/// Whether two times are the same in any notation.
fn is_time(one: &Timestamp, other: &Timestamp) -> bool {
    let digits = |raw: &str| raw.trim_end_matches('0').to_owned();
    one.instant.is_some() && one.instant == other.instant || digits(&one.raw) == digits(&other.raw)
}

/// The words that only repeat the role of a speaker.
const ROLES: [&str; 7] = [
    "user",
    "assistant",
    "model",
    "system",
    "tool",
    "human",
    "developer",
];

/// The name of the sender; `None` if it only repeats the role.
fn shown_name(linked: &Linked, message: &Message) -> Option<String> {
    let given = message.sender_name.clone().filter(|name| !name.is_empty());
    let Some(sender) = message
        .sender
        .map(|sender| &linked.conversation.participants[sender])
    else {
        return given;
    };
    let mut names = [&sender.name, &sender.alias].into_iter().flatten();
    let own = names.find(|name| !name.is_empty()).cloned();
    let is_nobody = ROLES.contains(&sender.id.as_str()) || sender.role.as_ref() == Some(&sender.id);
    let name = own.or((!is_nobody).then(|| sender.id.clone()));
    // Roles and colons distinguish speakers with the same name.
    let mut name = name?;
    while let Some((role, rest)) = name.split_once(':')
        && ROLES.contains(&role)
    {
        name = String::from(rest);
    }
    Some(name).filter(|name| !name.is_empty() && !ROLES.contains(&name.as_str()) && !name.ends_with(':'))
}

/// The breach for a fact that is read back differently.
fn breach(position: u32, what: &str, lost: &dyn std::fmt::Debug, at: &[&Message]) -> String {
    let ids: Vec<_> = at.iter().map(|read| &read.id).collect();
    let times: Vec<_> = at.iter().map(|read| &read.timestamp).collect();
    format!("message {position}: {what} {lost:?} is read back as {ids:?} {times:?}")
}
