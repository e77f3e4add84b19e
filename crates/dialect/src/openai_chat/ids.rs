//! Ids of calls: the source's where they are there and unique, made up where not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{Message, Part, PartPlace};

use crate::loss::{LossCode, Losses};
use crate::view::View;

/// An id for each call of the perspective.
pub(crate) struct CallIds<'a>(BTreeMap<PartPlace, Cow<'a, str>>);

impl<'a> CallIds<'a> {
    /// Ids for the calls in the messages that are shown. What the source lacks or repeats is `call_<n>`.
    pub(crate) fn new(view: &View<'a>, shown: &[&'a Message], losses: &mut Losses) -> Self {
        let mut calls = Vec::new();
        for message in shown.iter().filter(|message| view.is_own(message)) {
            for (index, part) in message.parts.iter().enumerate() {
                if let Part::ToolCall(call) = part {
                    let place = PartPlace {
                        position: message.position,
                        part: index as u32,
                    };
                    calls.push((place, call.id.as_deref().filter(|id| !id.is_empty())));
                }
            }
        }
        let known: BTreeSet<&str> = calls.iter().filter_map(|(_, id)| *id).collect();
        let mut used = BTreeSet::new();
        let mut next = 0_u64;
        let mut ids = BTreeMap::new();
        for (place, id) in calls {
            let id = match id {
                Some(id) if used.insert(id) => Cow::Borrowed(id),
                other => {
                    let reason = match other {
                        Some(_) => "OAC-06: the id occurs on an earlier call",
                        None => "OAC-05: the call has no id",
                    };
                    losses.at(LossCode::ToolIdRewritten, place.position, reason);
                    Cow::Owned(unused(&known, &mut next))
                }
            };
            ids.insert(place, id);
        }
        Self(ids)
    }

    /// The id of a call.
    pub(crate) fn of(&self, place: PartPlace) -> Cow<'a, str> {
        self.0.get(&place).cloned().unwrap_or_default()
    }
}

fn unused(known: &BTreeSet<&str>, next: &mut u64) -> String {
    loop {
        let id = format!("call_{next}");
        *next += 1;
        if !known.contains(id.as_str()) {
            return id;
        }
    }
}
