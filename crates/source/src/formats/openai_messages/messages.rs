//! Messages: role, speaker, content, tool use, ids.
//!
//! A field that is `null` counts as absent, as tables that give every message every key write it. Fields without a place
//! in the model (`audio`, `annotations`, …) go into the message's extra fields.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Part, Role};

use super::cached;
use super::row::RowTurns;
use crate::base::{Turn, present, texts::transcript};
use crate::frame::FrameView;
use crate::grammar::OPENAI;
use crate::layout::{Element, OUTSIDE_LISTS, Turns, exchange::Exchange};

/// Reads the messages of one record, in order.
pub(super) struct Reader<'d, 'r> {
    /// The messages, and the fields beside them.
    pub exchange: Exchange<'d, 'r>,
    /// Whether a message has a `message_id`.
    pub has_message_ids: bool,
    /// Whether the question is a conversation written out as text.
    is_written_out: bool,
    /// The messages that a cached block may repeat.
    earlier: cached::Earlier,
}

impl<'d, 'r> Reader<'d, 'r> {
    /// A reader that has read nothing yet.
    pub(super) fn new(frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            exchange: Exchange::new(Turns::new(frame, limits)),
            has_message_ids: false,
            is_written_out: false,
            earlier: cached::Earlier::default(),
        }
    }

    /// Reads turns that stand together.
    pub(super) fn read_turns(&mut self, turns: RowTurns<'d>) {
        match turns {
            RowTurns::List(list) => (0..)
                .zip(list.items())
                .for_each(|(index, message)| self.read(index, message)),
            RowTurns::Column(list) => list.items().for_each(|message| self.read(OUTSIDE_LISTS, message)),
            RowTurns::Text(role, texts) => self.read_texts(role, &texts),
            RowTurns::Answer(name, value) => self.answer(name, value),
        }
    }

    /// Reads an answer in any form.
    pub(super) fn answer(&mut self, name: &str, value: Value<'d>) {
        if value.kind() == Kind::String {
            self.read_texts(Role::Assistant, &[value]);
        } else {
            self.exchange.answered(value, name);
        }
    }

    /// Reads the message with this index in the list.
    pub(super) fn read(&mut self, index: u32, value: Value<'d>) {
        let list = &mut self.exchange.turns.list;
        let document = list.frame.document;
        let path = || document.path_at(value.span().start);
        if list
            .element(Element::Message, path, value, |value| OPENAI.single(value))
            .is_some()
        {
            self.accept(index, value);
        }
    }

    /// Reads texts: one turn, or several turns written out.
    fn read_texts(&mut self, role: Role, texts: &[Value<'d>]) {
        let Some(value) = texts.first() else { return };
        let words: Vec<_> = texts.iter().filter_map(|text| text.as_str()).collect();
        let text = words.join("\n");
        let mut turns = transcript::turns(&text).unwrap_or_else(|| {
            // The answer to a conversation that is written out continues after the name.
            let text = text.strip_prefix(' ').filter(|_| self.is_written_out);
            vec![(role, text.map_or_else(|| words.join("\n"), str::to_owned))]
        });
        // The name of who answers next asks for an answer.
        let is_asking = |(last, text): &(Role, String)| *last == Role::Assistant && text.trim().is_empty();
        if role == Role::User && turns.last().is_some_and(is_asking) {
            turns.pop();
            self.is_written_out = true;
        }
        for (role, text) in turns {
            let turn = Turn::of(role, Part::Text(text));
            self.exchange.turns.list.rows.rows += 1;
            self.exchange.turns.push(OUTSIDE_LISTS, *value, turn);
        }
    }

    fn accept(&mut self, index: u32, value: Value<'d>) {
        self.has_message_ids |= present(value, "message_id").is_some();
        let known = self.exchange.turns.list.notes.findings.len();
        let turn = self.exchange.turns.read(value, "", |value, site| {
            site.is_strict = true;
            OPENAI.turn(value, site)
        });
        for finding in self.exchange.turns.list.notes.findings.iter_mut().skip(known) {
            finding.message_id.clone_from(&turn.id);
        }
        self.exchange.turns.push(index, value, turn);
        self.find_block(value);
    }

    /// Reports a newest message that is a cached block, and one that repeats the messages before it.
    fn find_block(&mut self, value: Value<'d>) {
        let list = &mut self.exchange.turns.list;
        let Some((newest, earlier)) = list.messages.split_last() else {
            return;
        };
        let Some(block) = cached::block(newest) else {
            return;
        };
        let notes = &mut list.notes;
        let content = value.get("content").unwrap_or(value);
        let place = |finding: Finding| finding.at_message(newest.position, newest.id.as_deref(), ".content");
        let text = "the message is earlier conversation written out for a prompt cache";
        notes.push(place(Finding::new(&codes::CACHED_BLOCK, text)), Some(content));
        let count = self.earlier.repeated(block, earlier);
        if count > 0 {
            let text = format!("the cached block repeats {count} of the messages before it");
            let mut finding = place(Finding::new(&codes::HISTORY_REPEATED, text));
            finding.count = count;
            notes.push(finding, Some(content));
        }
    }
}
