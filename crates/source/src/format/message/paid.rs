//! Paid requests that a program lists apart from its messages: a ledger, the requests of an evaluation, or the sums of a session for each model.
//! The usage of an entry belongs to the answer that it names; without one the entry becomes a notice with its usage.

use std::collections::HashMap;

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Message, MessageKind, Part, Role, Timestamp, Usage};

use super::Reader;
use crate::base::text;
use crate::format::language::PaidMap;
use crate::format::language::path::MapPath;
use crate::grammar::usage;
use crate::layout::OUTSIDE_LISTS;

/// A paid request: the key of its entry in an object of entries, the entry, and its usage.
type Entry<'d> = (Option<String>, Value<'d>, Usage);

impl<'d> Reader<'d, '_> {
    /// Adds the usage of each paid request that these records list apart from their messages.
    pub(in crate::format) fn add_paid(&mut self, map: &PaidMap, records: &[Value<'d>]) {
        let mut answers: HashMap<String, usize> = HashMap::new();
        let messages = self.turns.list.messages.iter().enumerate();
        for (place, message) in messages.filter(|_| !map.answer.0.is_empty()) {
            let ids = [message.id.as_deref(), message.answer.as_deref()];
            for id in ids.into_iter().flatten() {
                answers.entry(id.to_owned()).or_insert(place);
            }
        }
        for record in records {
            let lists = map.each.0.iter().map(|path| entries(map, path, *record));
            let entries = lists.into_iter().find(|entries| !entries.is_empty());
            for (key, entry, usage) in entries.into_iter().flatten() {
                let answer = map.answer.id(entry).and_then(|id| answers.get(&id).copied());
                if answer.is_some() {
                    let time = self.paid_at(map, *record, entry, answer);
                    if let Some(message) = answer.and_then(|place| self.turns.list.messages.get_mut(place)) {
                        message.usage = Some(message.usage.unwrap_or_default().or(usage));
                        message.timestamp = message.timestamp.take().or(time);
                    }
                } else {
                    let model = map.model.id(entry).or(key);
                    self.add_request(map, (*record, entry), usage, model);
                }
            }
        }
    }

    /// When a request was answered that is or becomes the message at this place.
    fn paid_at(
        &mut self,
        map: &PaidMap,
        record: Value<'d>,
        entry: Value<'d>,
        place: Option<usize>,
    ) -> Option<Timestamp> {
        let (time, name) = map.time.found(entry).or_else(|| map.time.found(record))?;
        let position = place.unwrap_or(self.turns.list.messages.len()) as u32;
        let mut site = self.turns.list.site(None, entry);
        site.position = position;
        self.turns.times.read(Some(time), name, &mut site)
    }

    fn add_request(
        &mut self,
        map: &PaidMap,
        (record, entry): (Value<'d>, Value<'d>),
        usage: Usage,
        model: Option<String>,
    ) {
        let requests = map.requests.as_ref();
        let requests = requests.and_then(|path| path.first(entry)?.number_text().and_then(usage::tokens));
        // An entry that names an answer without an id in the record covers one of the answers, and a cost alone is of a request that
        // the record counts elsewhere.
        let has_tokens = usage.input.is_some() || usage.output.is_some();
        let of_answer = || (!map.answer.0.is_empty()).then_some(1);
        let requests = if has_tokens {
            requests.or_else(of_answer)
        } else {
            Some(0)
        };
        let words = map.kind.first(entry).and_then(|kind| text(Some(kind)));
        let span = self.turns.span(entry);
        let message = self.turns.list.message(Role::Assistant, span, OUTSIDE_LISTS);
        let timestamp = self.paid_at(map, record, entry, None);
        self.turns.list.rows.rows += 1;
        self.turns.list.push(Message {
            kind: MessageKind::Notice,
            source_type: words.clone(),
            parts: vec![Part::Notice(words.unwrap_or_else(|| "request".to_owned()))],
            model: model.map(Into::into),
            usage: Some(Usage {
                requests: requests.and_then(|number| u32::try_from(number).ok()),
                ..usage
            }),
            timestamp,
            ..message
        });
    }
}

/// The entries with a usage that a path leads to.
fn entries<'d>(map: &PaidMap, path: &MapPath, record: Value<'d>) -> Vec<Entry<'d>> {
    let are_selected = path.as_str().ends_with(']');
    let found = path.find(record).into_iter();
    let listed = found.flat_map(|all| match all.kind() {
        _ if are_selected => vec![(None, all)],
        Kind::Object => {
            let fields = all.fields().map(|(key, value)| (Some(key.into_owned()), value));
            fields.collect()
        }
        _ => all.items().map(|value| (None, value)).collect(),
    });
    // What an entry of a message counts is read, too: the message has it.
    let paid = listed.filter_map(|(key, entry)| Some((key, entry, map.usage.of(entry)?)));
    paid.filter(|(_, entry, _)| map.unless.0.is_empty() || !map.unless.hold(*entry))
        .collect()
}
