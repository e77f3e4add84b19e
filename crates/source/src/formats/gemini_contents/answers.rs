//! The captured answer of a request: `candidates`, below `response` or next to `contents`.
//!
//! The first candidate is the answer; the others are alternatives to it. A candidate without content, such as
//! a blocked one, stays among the extra fields.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{AlternativeOrigin, Extra, Judgement};

use super::turns::Reader;
use super::{ANSWER, ANSWER_BESIDE};
use crate::base::{Keep as _, present};

/// The answers of a record.
pub(super) struct Candidates<'d> {
    /// The field of the record that holds them.
    pub field: &'static str,
    /// The object around the list.
    holder: Value<'d>,
    /// The path of the list, and the index that leads to its first content.
    place: (&'static str, u32),
    list: Value<'d>,
}

impl<'d> Candidates<'d> {
    /// The candidates of a record, if it has any.
    pub(super) fn of(root: Value<'d>) -> Option<Self> {
        let response = present(root, "response");
        let below = response.map(|response| ("response", response, ("response.candidates", ANSWER)));
        let beside = ("candidates", root, ("candidates", ANSWER_BESIDE));
        let mut holders = below.into_iter().chain([beside]);
        holders.find_map(|(field, holder, place)| {
            let list = present(holder, "candidates").filter(|list| list.kind() == Kind::Array)?;
            Some(Self {
                field,
                holder,
                place,
                list,
            })
        })
    }

    /// Reads the answers after the turns; their other fields are kept.
    pub(super) fn read(&self, reader: &mut Reader<'d, '_>, extra: &mut Extra) {
        // The first message of an answer is never a system text, and continues no turn of the request.
        reader.begins_with_system_text = false;
        reader.joins_answers = false;
        let (path, index) = self.place;
        let start = reader.list.messages.len();
        let mut others = Vec::new();
        for (number, candidate) in self.list.items().enumerate() {
            let own = format!("{path}[{number}]");
            let Some(content) = present(candidate, "content") else {
                extra.keep(own, candidate);
                continue;
            };
            extra.keep_rest(candidate, &own, &["content", "index"]);
            if number == 0 {
                reader.read(index, content);
                continue;
            }
            let before = reader.list.begin_alternative();
            reader.read(index, content);
            let messages = reader.list.end_alternative(before);
            if !messages.is_empty() {
                others.push((AlternativeOrigin::Choice, Judgement::default(), messages));
            }
        }
        if self.field == "response" {
            extra.keep_rest(self.holder, "response", &["candidates"]);
        }
        if !others.is_empty() {
            let first = start..reader.list.messages.len();
            let own = Some((AlternativeOrigin::Choice, Judgement::default()));
            reader.list.alternatives(first, own, others);
        }
    }
}
