//! Completeness of losses: everything in a conversation is read back from its rendering, or a loss declares it.
//!
//! A conversation is split into elements (`elements`): each text, thought, medium, call, result, cache mark and quote, in order.
//! The rendering is read by the [source that reads the dialect back](reader()), and split in the same way. Then
//!
//! 1. each element of the conversation is found (`search`), in order and in its role; or the losses of its message
//!    allow (`allowed`) that it is missing or elsewhere, or that other words (`wording`) replace it;
//! 2. each element that was read back is found by 1, or is one that a loss adds, such as an invented result;
//! 3. each fact (`facts`) that is not content (id, time, name, mention, reply, further field, weight, title, tool definition) is
//!    read back at a message with an element of its message, or a loss declares it.
//!
//! An example: Ann (`m1`) says “Look!” with a picture, and Ben (`m2`) says “Nice.”, which `hf-messages`
//! renders as
//!
//! ```json
//! {"messages":[{"role":"user","content":"Look!\n[Image: pier.png]"},{"role":"assistant","content":"Nice."}]}
//! ```
//!
//! | Element or fact | Read back as | Allowed by |
//! |---|---|---|
//! | text “Look!” of 0 | the beginning of the first text | |
//! | picture of 0 | the words `[Image: pier.png]` | `media-placeholder` at 0 |
//! | text “Nice.” of 1 | the second text | |
//! | ids `m1` and `m2`, both names | nothing | `message-id-dropped`, `name-dropped` |
//!
//! Without one of these losses, with the two texts exchanged, or with an additional word, the test fails.
//!
//! The test knows loss codes, but neither dialects nor their code: every [known] dialect is tested, in every profile.
//! For a dialect that no source reads back, the parts of its content are compared instead, without the facts. A loss
//! allows the same in *every* dialect. Golden files and the tests of the dialects cover the rest: the words around a
//! quote, the schemas of tools, and the length of a text that is declared as shortened.
//!
//! Why: docs/decisions/2026-11-22-loss-completeness-test.md.

mod allowed;
mod case;
mod declared;
mod elements;
mod facts;
mod markdown;
mod reader;
mod sameness;
mod search;
mod wording;

use std::collections::{BTreeMap, BTreeSet};

use chatmill_diag::Limits;
use chatmill_dialect::policy::ControlTokens;
use chatmill_dialect::{Additions, Coverage, Dialect, Loss, LossCode, Policy, Rendering, View, known};
use chatmill_model::{
    CallStatus, Component, Conversation, Linked, Message, Pairing, Part, ParticipantKind, Sink,
};

use case::Case;
use declared::Declared;
use elements::{Element, Kind, elements, quoted};
use facts::Matched;
pub use reader::reader;
use search::{Search, SearchLimits};

/// The number of times that a code is removed from the declared losses of one dialect before the test counts as blind to it.
const MAX_TRIES: u64 = 150;

/// The results of tests of renderings.
#[derive(Debug, Default)]
pub struct LossCoverage {
    /// The number of renderings that were tested.
    pub checked: u64,
    /// The number of renderings that the policy rejects.
    pub rejected: u64,
    /// The codes that the renderings declared.
    pub codes: BTreeSet<LossCode>,
    /// The codes that the renderings of each dialect and profile declared.
    pub dialects: BTreeMap<String, BTreeSet<LossCode>>,
    /// The codes of which the test detected the absence.
    pub missed: BTreeSet<LossCode>,
    /// The number of times that each code was removed, by dialect.
    tries: BTreeMap<(LossCode, String), u64>,
    /// The breaches of each dialect.
    pub breaches: BTreeMap<String, Vec<String>>,
}

impl LossCoverage {
    /// Tests the renderings of a conversation in every dialect, from every perspective.
    pub fn check_all(&mut self, name: &str, linked: &Linked, policy: &Policy) {
        self.check_added(name, linked, policy, Additions::default());
    }

    /// Tests the renderings with the prompt and the tools of a pipeline added.
    pub fn check_added(&mut self, name: &str, linked: &Linked, policy: &Policy, additions: Additions<'_>) {
        let everybody = (0..linked.conversation.participants.len()).map(Some);
        for perspective in std::iter::once(None).chain(everybody) {
            let view = View {
                additions,
                ..View::whole(linked, perspective, policy)
            };
            self.check_view(name, &view);
        }
    }

    /// Tests the renderings of one view in every dialect.
    pub fn check_view(&mut self, name: &str, view: &View<'_>) {
        for dialect in known() {
            if !(dialect.is_neutral() && view.perspective.is_some()) {
                self.validator(name, view, dialect);
            }
        }
    }

    fn validator(&mut self, name: &str, view: &View<'_>, dialect: &Dialect) {
        let (perspective, policy) = (view.perspective, view.policy);
        for dialect in dialect.about().profiles.iter().copied() {
            let spelled = format!("{dialect:?}");
            let listed = dialect.loses();
            dialect.render_each(view, &mut |sink, rendering| {
                let Some(mut breaches) = self.one(view, dialect, sink, &rendering) else {
                    return;
                };
                let codes = || rendering.losses.iter().map(|loss| loss.code);
                let unlisted = codes().filter(|code| !listed.contains(code));
                breaches.extend(unlisted.map(|code| format!("{} is not on its list", code.as_str())));
                self.dialects.entry(spelled.clone()).or_default().extend(codes());
                if breaches.is_empty() {
                    return;
                }
                let losses: Vec<_> = rendering
                    .losses
                    .iter()
                    .map(|loss| {
                        format!(
                            "{:?} {} {} {}",
                            loss.position,
                            loss.code.as_str(),
                            loss.amount,
                            loss.reason
                        )
                    })
                    .collect();
                self.breaches.entry(spelled.clone()).or_default().push(format!(
                    "{name} {spelled} through {perspective:?} by {policy:?}:\n{}\n{}\n{}",
                    breaches.join("\n"),
                    losses.join("\n"),
                    sink.text().to_owned()
                ));
            });
        }
    }

    fn one(
        &mut self,
        view: &View<'_>,
        dialect: &Dialect,
        sink: &Sink<'_>,
        rendering: &Rendering,
    ) -> Option<Vec<String>> {
        let source = reader(dialect);
        // Turns that are forged in chat text are read as turns, but such a rendering is invalid.
        if view.policy.control_tokens == ControlTokens::Keep
            && !rendering.is_valid()
            && dialect.about().media_type == "text/plain"
        {
            return None;
        }
        // A typed mark is read as the mark of a medium in the list, but such a rendering is invalid.
        if rendering
            .violations
            .iter()
            .any(|violation| violation.rule.starts_with("SGP-06"))
        {
            return None;
        }
        self.checked += 1;
        self.codes.extend(rendering.losses.iter().map(|loss| loss.code));
        let is_orphan_rule = |rule: &String| {
            let words = ["has no result", "has no call", "is answered already"];
            words.iter().any(|word| rule.ends_with(word))
        };
        let rejected = rendering
            .violations
            .iter()
            .filter(|violation| is_orphan_rule(&violation.rule))
            .count();
        if rejected > 0 {
            self.rejected += 1;
            // If there are several agents, some dialects treat them as one.
            let agents = view
                .conversation()
                .participants
                .iter()
                .filter(|person| person.kind == ParticipantKind::Agent);
            let wanted = orphans(view);
            let is_right = rejected == wanted || agents.count() > 1;
            let breach = format!("{rejected} of {wanted} calls and results are rejected");
            return Some((!is_right).then_some(breach).into_iter().collect());
        }
        let found_by = |limits| {
            breaches(
                view,
                dialect,
                sink,
                rendering,
                source,
                (&rendering.losses, limits),
            )
        };
        let mut found = found_by(SearchLimits::FEW);
        if !found.is_empty() {
            found = found_by(SearchLimits::MANY);
        }
        if found.is_empty() {
            self.without_each_code(view, dialect, sink, rendering, source);
        }
        Some(found)
    }

    /// Removes each declared code of the rendering in turn, until the test has detected the absence of each code once.
    fn without_each_code(
        &mut self,
        view: &View<'_>,
        dialect: &Dialect,
        sink: &Sink<'_>,
        rendering: &Rendering,
        source: Option<&'static str>,
    ) {
        let codes: BTreeSet<LossCode> = rendering.losses.iter().map(|loss| loss.code).collect();
        for code in codes {
            let tries = self.tries.entry((code, dialect.id().to_owned())).or_default();
            if self.missed.contains(&code) || *tries > MAX_TRIES {
                continue;
            }
            *tries += 1;
            let others = rendering.losses.iter().filter(|loss| loss.code != code);
            let others: Vec<Loss> = others.cloned().collect();
            if !breaches(
                view,
                dialect,
                sink,
                rendering,
                source,
                (&others, SearchLimits::FEW),
            )
            .is_empty()
            {
                self.missed.insert(code);
            }
        }
    }

    /// The number of breaches of each dialect with the shortest one; `None` if there are none.
    pub fn verdict(&self) -> Option<String> {
        let shortest = |all: &Vec<String>| all.iter().min_by_key(|breach| breach.len()).cloned();
        let shown = self.breaches.iter().map(|(dialect, all)| {
            format!(
                "{dialect}: {} times\n{}",
                all.len(),
                shortest(all).unwrap_or_default()
            )
        });
        let shown: Vec<String> = shown.collect();
        (!shown.is_empty()).then(|| format!("of {} fail\n{}", self.checked, shown.join("\n\n")))
    }
}

/// The breaches of a rendering if it declared these losses.
fn breaches(
    view: &View<'_>,
    dialect: &Dialect,
    sink: &Sink<'_>,
    rendering: &Rendering,
    source: Option<&'static str>,
    (losses, limits): (&[Loss], SearchLimits),
) -> Vec<String> {
    let declared = &Declared::of(losses);
    let conversation = &view.linked.conversation;
    let is_cut = declared.whole(LossCode::Truncated) > 0;
    let range = match (rendering.first_position, rendering.last_position) {
        (Some(first), Some(last)) if is_cut || rendering.coverage == Coverage::SingleTurn => {
            first as usize..last as usize + 1
        }
        _ => 0..conversation.messages.len(),
    };
    let case = Case {
        view: view.clone(),
        declared,
        is_neutral: dialect.is_neutral(),
        is_text: source.is_none(),
        coverage: rendering.coverage,
        has_system: sink
            .span_texts()
            .any(|(text, span)| span.component == Component::Framing && text.contains("system")),
    };
    let mut source_elements = elements(view.linked, &conversation.messages[range]);
    add_quotes(view.linked, declared, &mut source_elements);
    let Some(source) = source else {
        let again = of_text(sink, dialect.about().media_type);
        let read = elements(&again, &again.conversation.messages);
        let search = Search::new(&case, &source_elements, &read);
        let mut found = search.breaches(limits, |_| Vec::new());
        found.extend(
            source_elements
                .iter()
                .filter_map(|element| unanswered(declared, element.message)),
        );
        return found;
    };
    let text = sink.text().to_owned();
    let record = match dialect.about().media_type {
        "text/plain" => serde_json::json!({ "text": text }).to_string(),
        _ => text,
    };
    let nothing = || chatmill_link::link(Conversation::default(), &Limits::default()).0;
    let again = crate::conversations::try_read(source, &record).unwrap_or_else(nothing);
    let mut read = elements(&again, &again.conversation.messages);
    if is_by_time(&again) {
        by_time(&mut source_elements);
        by_time(&mut read);
    }
    let search = Search::new(&case, &source_elements, &read);
    search.breaches(limits, |alignment| {
        let matched = Matched {
            case: &case,
            source: &source_elements,
            again: &again,
            read: &read,
            alignment,
        };
        matched.breaches()
    })
}

/// Whether everything that was read back is in the order of its times.
fn is_by_time(again: &Linked) -> bool {
    let times: Vec<i64> = again.conversation.messages.iter().filter_map(time_of).collect();
    times.is_sorted() && times.len() > 1
}

/// The time of a message; a time without an offset counts as UTC.
fn time_of(message: &Message) -> Option<i64> {
    let time = message.timestamp.as_ref()?;
    let local = || {
        time.raw
            .parse::<jiff::civil::DateTime>()
            .ok()?
            .to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
    };
    time.instant
        .or(time.raw.parse().ok())
        .or_else(|| Some(local()?.timestamp().as_microsecond()))
}

fn by_time(elements: &mut [Element<'_>]) {
    let mut last = i64::MIN;
    let mut times = BTreeMap::new();
    for element in elements.iter() {
        last = time_of(element.message).unwrap_or(last);
        times.insert(element.position(), last);
    }
    elements.sort_by_key(|element| times.get(&element.position()).copied());
}

fn add_quotes<'c>(linked: &'c Linked, declared: &Declared, elements: &mut Vec<Element<'c>>) {
    let mut index = 0;
    while index < elements.len() {
        let message = elements[index].message;
        let is_last = elements
            .get(index + 1)
            .is_none_or(|next| next.position() != message.position);
        if is_last && declared.at(LossCode::ReferenceInlined, message.position) > 0 {
            if elements[index].kind == Kind::Nothing {
                elements.remove(index);
            } else {
                index += 1;
            }
            for words in quoted(linked, message) {
                elements.insert(
                    index,
                    Element {
                        message,
                        kind: Kind::Quote(words),
                        call: None,
                        belongs_to_result: false,
                    },
                );
                index += 1;
            }
        } else {
            index += 1;
        }
    }
}

/// The conversation in a text that no source reads back: its content part by part. For Markdown, folded blocks are
/// included, and the parts are grouped by message.
fn of_text(sink: &Sink<'_>, media_type: &str) -> Linked {
    let contents = || -> Vec<Part> {
        let pushes = sink.pushes();
        let contents = pushes.filter(|(_, span)| span.component == Component::Content);
        contents.map(|(text, _)| Part::Text(text.to_owned())).collect()
    };
    let messages = match media_type {
        "text/markdown" => markdown::messages(sink),
        _ => Some(contents())
            .filter(|parts| !parts.is_empty())
            .into_iter()
            .collect(),
    };
    let mut conversation = Conversation::default();
    for (position, parts) in (0..).zip(messages) {
        conversation.messages.push(Message {
            position,
            parts,
            ..empty()
        });
    }
    chatmill_link::link(conversation, &Limits::default()).0
}

/// Checks that every reply of a message in a transcript is declared, except one that an arrow can show.
fn unanswered(declared: &Declared, message: &Message) -> Option<String> {
    use LossCode::{EmptyDropped, ReferenceDropped, ReferenceInlined, ReferenceUnresolved};
    let codes = [ReferenceDropped, ReferenceUnresolved, ReferenceInlined];
    let lost = declared.any_at(&codes, message.position);
    let count = message.references.len() as u64;
    let is_gone = declared.any_at(
        &[
            EmptyDropped,
            LossCode::SystemDropped,
            LossCode::NoticeDropped,
            LossCode::ToolResultDropped,
        ],
        message.position,
    ) > 0;
    // A quote of one line is not an inlined reply.
    let quoted = declared.at(LossCode::ReferenceShortened, message.position);
    let is_right = lost == count || lost + 1 == count || lost + quoted == count || is_gone;
    (!is_right).then(|| {
        format!(
            "message {}: {lost} of {count} replies are declared",
            message.position
        )
    })
}

fn empty() -> Message {
    static EMPTY: std::sync::LazyLock<Message> = std::sync::LazyLock::new(|| {
        let linked = crate::conversations::read(
            "openai-messages",
            r#"{"messages":[{"role":"user","content":""}]}"#,
        );
        linked.conversation.messages[0].clone()
    });
    EMPTY.clone()
}

/// The number of calls of the perspective without a result, and of results that answer none of its calls or one that
/// already has a result.
fn orphans(view: &View<'_>) -> usize {
    let is_own = |place: &chatmill_model::PartPlace| {
        view.message(place.position)
            .is_some_and(|caller| view.is_own(caller))
    };
    let is_orphan = |pairing: &&Pairing| match pairing.status {
        CallStatus::Unanswered => pairing
            .call
            .as_ref()
            .is_some_and(|call| is_own(call) && !is_label(view, call.position)),
        CallStatus::Orphaned => true,
        CallStatus::Duplicate => pairing.call.as_ref().is_none_or(is_own),
        CallStatus::Paired | CallStatus::Late | CallStatus::Early => false,
    };
    view.linked.pairings.iter().filter(is_orphan).count()
}

/// Whether the conversation ends with the calls of a message: none has a result, and only results of earlier calls follow.
fn is_label(view: &View<'_>, position: u32) -> bool {
    let is_open = |pairing: &&Pairing| pairing.status == CallStatus::Unanswered;
    let pairings = &view.linked.pairings;
    let mut own = pairings
        .iter()
        .filter(|pairing| pairing.call.is_some_and(|call| call.position == position));
    let answers = |place: chatmill_model::PartPlace| {
        let status = pairings
            .iter()
            .find(|pairing| pairing.result == Some(place))
            .map(|pairing| pairing.status);
        matches!(
            status,
            Some(CallStatus::Paired | CallStatus::Late | CallStatus::Early)
        )
    };
    let is_aside = |message: &Message| {
        let is_answer = |(part, content): (usize, &Part)| {
            let place = chatmill_model::PartPlace {
                position: message.position,
                part: part as u32,
            };
            matches!(content, Part::CacheMark) || matches!(content, Part::ToolResult(_)) && answers(place)
        };
        message.kind == chatmill_model::MessageKind::Notice
            || !message.parts.is_empty() && message.parts.iter().enumerate().all(is_answer)
    };
    let messages = &view.conversation().messages;
    own.all(|pairing| is_open(&pairing)) && messages.iter().skip(position as usize + 1).all(is_aside)
}
