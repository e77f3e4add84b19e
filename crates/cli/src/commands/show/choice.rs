//! The choice of the conversation that is shown.

use chatmill_diag::Code;
use chatmill_diag::suggest::nearest;
use chatmill_engine::position_in_sample;
use chatmill_model::{Conversation, Linked, Message, Part};
use clap::Args;

use super::text::described;
use crate::exit::{CommandError, Outcome};
use crate::figures::counted;
use crate::selection;

/// The arguments that choose a conversation; the default is the first one.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct ChoiceArguments {
    /// Shows the conversation with this id
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Shows the Nth conversation, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nth: Option<u64>,
    /// Shows the first conversation that contains these words, in any case
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    find: Option<String>,
    /// Shows the first conversation with a finding of this code (RF001), prefix (RF) or name (dangling-reference)
    #[arg(long, value_name = "CODE|PREFIX|NAME")]
    code: Option<String>,
    /// Shows N conversations, those with the smallest hashes of their ids
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    sample: Option<u64>,
}

/// The property of the requested conversation.
pub(super) enum WantedConversation {
    First,
    Id(String),
    Nth(u64),
    /// The words in lower case.
    Words(String),
    Codes(Vec<&'static Code>),
    Sample(u64),
}

/// The search for a conversation.
pub(super) struct Choice {
    pub(super) wanted: WantedConversation,
    /// The words as they were typed.
    typed: String,
    /// The number of conversations so far.
    pub(super) seen: u64,
    /// Ids of other conversations, for a suggestion.
    other_ids: Vec<String>,
}

/// The number of ids that are compared for a suggestion; comparing two takes as long as reading a few hundred bytes.
const COMPARED_IDS: usize = 100_000;

impl Choice {
    /// Checks the arguments.
    pub(super) fn new(arguments: &ChoiceArguments) -> Outcome<Self> {
        let ChoiceArguments {
            conversation,
            nth,
            find,
            code,
            sample,
        } = arguments;
        let typed = conversation.as_ref().or(find.as_ref()).or(code.as_ref());
        Ok(Self {
            wanted: match (conversation, nth, find, code, sample) {
                (Some(id), ..) => WantedConversation::Id(id.clone()),
                (_, Some(nth), ..) => WantedConversation::Nth(*nth),
                (_, _, Some(words), ..) => WantedConversation::Words(words.to_lowercase()),
                (_, _, _, Some(code), _) => WantedConversation::Codes(selection::named(code)?),
                (.., Some(number)) => WantedConversation::Sample(*number),
                _ => WantedConversation::First,
            },
            typed: typed.cloned().unwrap_or_default(),
            seen: 0,
            other_ids: Vec::new(),
        })
    }

    /// Whether the next conversation is the requested one; `row` is its row in an export, where `--nth` counts rows.
    pub(super) fn takes(&mut self, id: &str, linked: &Linked, codes: &[&str], row: Option<u64>) -> bool {
        match &self.wanted {
            WantedConversation::First | WantedConversation::Id(_) | WantedConversation::Sample(_) => {
                self.takes_id(id)
            }
            WantedConversation::Nth(_) => {
                let is_next = self.takes_id(id);
                row.map_or(
                    is_next,
                    |row| matches!(self.wanted, WantedConversation::Nth(nth) if nth == row),
                )
            }
            WantedConversation::Words(words) => {
                self.seen += 1;
                contains(&linked.conversation, words)
            }
            WantedConversation::Codes(wanted) => {
                self.seen += 1;
                wanted.iter().any(|code| codes.contains(&code.code))
            }
        }
    }

    /// Whether the next conversation is the requested one, if that depends only on its id and its number.
    pub(super) fn takes_id(&mut self, id: &str) -> bool {
        self.seen += 1;
        match &self.wanted {
            WantedConversation::First | WantedConversation::Sample(_) => true,
            WantedConversation::Nth(nth) => self.seen == *nth,
            WantedConversation::Id(wanted) if wanted == id => true,
            WantedConversation::Id(_) => {
                if self.other_ids.len() < COMPARED_IDS {
                    self.other_ids.push(id.to_owned());
                }
                false
            }
            WantedConversation::Words(_) | WantedConversation::Codes(_) => false,
        }
    }

    /// The error if no conversation was found.
    pub(super) fn unmet(&self) -> CommandError {
        let (seen, typed) = (counted(self.seen, "conversation"), &self.typed);
        let refused = match &self.wanted {
            _ if self.seen == 0 => CommandError::request("the input holds no conversation"),
            WantedConversation::First | WantedConversation::Nth(_) | WantedConversation::Sample(_) => {
                CommandError::request(format!("the input holds {seen}"))
            }
            WantedConversation::Id(id) => {
                let others = self.other_ids.iter().map(String::as_str);
                CommandError::unknown("conversation", id, nearest(id, others))
            }
            WantedConversation::Words(_) => {
                CommandError::request(format!("none of {seen} contains `{typed}`"))
            }
            WantedConversation::Codes(_) => {
                CommandError::request(format!("none of {seen} has a finding of `{typed}`"))
            }
        };
        refused.then(match self.wanted {
            _ if self.seen == 0 => "`chatmill inspect` shows what an input is",
            WantedConversation::Codes(_) => {
                "`chatmill check` lists the findings of all conversations and files"
            }
            _ => "`--nth 1` shows the first, `--find` finds by words",
        })
    }
}

/// Collects things by id: the first one, or for a sample those with the smallest hashes, in the order of input.
pub(super) struct Sampled<T> {
    /// The size of the sample; `None` if only the first is requested.
    most: Option<u64>,
    all: Vec<(f64, T)>,
}

impl<T> Sampled<T> {
    pub(super) fn new(choice: &Choice) -> Self {
        Self {
            most: match choice.wanted {
                WantedConversation::Sample(number) => Some(number),
                _ => None,
            },
            all: Vec::new(),
        }
    }

    /// Adds a thing; in a full sample it replaces the one with the largest hash, if its hash is smaller.
    pub(super) fn add(&mut self, id: &str, one: impl FnOnce() -> T) {
        let place = position_in_sample(0, id);
        if self.all.len() as u64 >= self.most.unwrap_or(1) {
            let places = self.all.iter().map(|(place, _)| *place).enumerate();
            match places.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
                Some((last, largest)) if place < largest => drop(self.all.remove(last)),
                _ => return,
            }
        }
        self.all.push((place, one()));
    }

    /// Whether no other thing is needed.
    pub(super) fn is_complete(&self) -> bool {
        self.most.is_none() && !self.all.is_empty()
    }

    pub(super) fn finish(self) -> Vec<T> {
        self.all.into_iter().map(|(_, one)| one).collect()
    }
}

/// Whether a conversation contains these words, which are in lower case.
fn contains(conversation: &Conversation, words: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(words);
    let named = conversation
        .participants
        .iter()
        .filter_map(|one| one.name.as_deref());
    let titles = conversation.title.iter().chain(&conversation.description);
    let others = conversation.alternatives.iter();
    let others = others.flat_map(|alternative| alternative.messages.iter().flatten());
    titles.map(String::as_str).chain(named).any(has)
        || conversation
            .messages
            .iter()
            .chain(others)
            .any(|message| has_words(message, &has))
}

fn has_words(message: &Message, has: &impl Fn(&str) -> bool) -> bool {
    message.sender_name.as_deref().is_some_and(has)
        || message.parts.iter().any(|part| match part {
            Part::Media(media) => media.name.as_deref().is_some_and(has),
            Part::Item(item) => has(item.raw.as_str()),
            Part::CacheMark => false,
            part => {
                let (_, name, text) = described(part);
                has(name) || has(&text)
            }
        })
}
