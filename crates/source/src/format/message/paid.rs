//! Paid requests that a program lists apart from its messages: a ledger with the titles that a model wrote, or the sums of a session for each model.
//! Each becomes a notice with its usage, for it was paid.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Message, MessageKind, Part, Role, Usage};

use super::Reader;
use crate::base::text;
use crate::format::language::PaidMap;
use crate::grammar::usage;
use crate::layout::OUTSIDE_LISTS;

impl<'d> Reader<'d, '_> {
    /// Adds a notice for each paid request that these records list apart from their messages.
    pub(in crate::format) fn add_paid(&mut self, map: &PaidMap, records: &[Value<'d>]) {
        for record in records {
            let Some(all) = map.each.first(*record) else {
                continue;
            };
            let entries: Vec<(Option<String>, Value<'d>)> = match all.kind() {
                Kind::Object => all
                    .fields()
                    .map(|(key, value)| (Some(key.into_owned()), value))
                    .collect(),
                _ => all.items().map(|value| (None, value)).collect(),
            };
            for (key, entry) in entries {
                let is_of_message = !map.unless.0.is_empty() && map.unless.hold(entry);
                let usage = map.usage.of(entry).filter(|_| !is_of_message);
                if let Some(usage) = usage {
                    let model = map.model.id(entry).or(key);
                    self.add_request(map, (*record, entry), usage, model);
                }
            }
        }
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
        let words = map.kind.first(entry).and_then(|kind| text(Some(kind)));
        let span = self.turns.span(entry);
        let position = self.turns.list.messages.len() as u32;
        let time = map.time.found(entry).or_else(|| map.time.found(record));
        let message = self.turns.list.message(Role::Assistant, span, OUTSIDE_LISTS);
        let mut site = self.turns.list.site(None, entry);
        site.position = position;
        let timestamp = time.and_then(|(time, name)| self.turns.times.read(Some(time), name, &mut site));
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
