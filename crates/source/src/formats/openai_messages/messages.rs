//! Messages: role, speaker, content, tool use, ids.
//!
//! A field that is `null` counts as absent, as tables that give every message every key write it. Fields without a place
//! in the model (`audio`, `annotations`, …) go into the message's extra fields.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Part, Role};

use super::cached;
use super::row::RowTurns;
use crate::base::{
    ExtraFields, Keep as _, Site, Turn, Wire as _, id, media, raw, roles, text, texts::transcript, wire, word,
};
use crate::frame::FrameView;
use crate::grammar::openai::{calls, parts};
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

wire! {
    /// The known fields of a message.
    Row {
        role: "role",
        content: "content",
        name: "name",
        tool_calls: "tool_calls",
        tool_call_id: "tool_call_id",
        function_call: "function_call",
        refusal: "refusal",
        reasoning: "reasoning",
        reasoning_content: "reasoning_content",
        message_id: "message_id",
        id: "id",
    }
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
        if let Some(row) = list.element(Element::Message, path, value, Row::read) {
            self.accept(index, value, &row.without_nulls());
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

    fn accept(&mut self, index: u32, value: Value<'d>, row: &Row<'d>) {
        let list = &mut self.exchange.turns.list;
        let mut rest = ExtraFields::new();
        self.has_message_ids |= row.message_id.is_some();
        let (id, spare_id) = match (row.message_id.and_then(id), row.id.and_then(id)) {
            (Some(id), other) => (Some(id), other.and(row.id)),
            (None, other) => (other, None),
        };
        let mut site = list.site(id.as_deref(), value);
        let word_of_role = row.role.and_then(Value::as_str);
        let stated = role(row, &mut site);
        let call_id = word(row.tool_call_id, "tool_call_id", &mut site);
        let role = if stated != Role::Tool && call_id.is_some() {
            let text = "the message answers a call but has another role than tool: it is read as the result";
            let of_call = (".tool_call_id", row.tool_call_id.unwrap_or(value));
            let (path, place) = row.role.map_or(of_call, |role| (".role", role));
            site.note(&codes::ROLE_CONFLICT, text, path, place);
            Role::Tool
        } else {
            stated
        };
        let name = word(row.name, "name", &mut site);

        let mut parts = Vec::new();
        let thoughts = [
            ("reasoning_content", row.reasoning_content),
            ("reasoning", row.reasoning),
        ];
        for (key, thought) in thoughts {
            let Some(thought) = thought else { continue };
            match thought.as_str().map(|text| Part::Reasoning(text.into_owned())) {
                // Some gateways write one thought under both names.
                Some(thought) if parts.contains(&thought) => {}
                Some(thought) => parts.push(thought),
                None => rest.keep(key, thought),
            }
        }
        let content = content(row, role, &mut rest, &mut site);
        if role == Role::Tool {
            parts.extend(media::answer(content, call_id, name.clone()));
        } else {
            parts.extend(content);
        }
        if let Some(refusal) = row.refusal {
            parts.extend(text(Some(refusal)).map(Part::Text));
            rest.push(("refusal".to_owned(), raw(refusal)));
        }
        if let Some(list) = row.tool_calls {
            match calls::calls(list, &mut rest, &mut site) {
                Some(calls) => calls::add(&mut parts, calls),
                None => rest.keep("tool_calls", list),
            }
        }
        if let Some(call) = row.function_call {
            match calls::function_call(call, &mut rest, &mut site) {
                Some(call) => parts.push(Part::ToolCall(call)),
                None => rest.keep("function_call", call),
            }
        }
        if row.content.is_none() && parts.is_empty() && !row.others.iter().any(|(key, _)| key == "audio") {
            site.missing("content");
        }
        rest.keep_some("id", spare_id);
        extra(row, &mut rest, &mut site);
        let word = word_of_role.filter(|word| word != role.as_str());
        let turn = Turn {
            role: Some(role),
            word: word.map(Cow::into_owned),
            id,
            name,
            parts,
            rest,
            ..Turn::default()
        };
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

fn role(row: &Row<'_>, site: &mut Site<'_>) -> Role {
    let Some(value) = row.role else {
        site.missing("role");
        return Role::User;
    };
    value
        .as_str()
        .and_then(|word| roles::api_role(&word))
        .unwrap_or_else(|| {
            let text = "the role is none of the known words: the message is read as a user's";
            site.error("role", text, value);
            Role::User
        })
}

/// The content as pieces.
fn content(row: &Row<'_>, role: Role, rest: &mut ExtraFields, site: &mut Site<'_>) -> Vec<Part> {
    let Some(value) = row.content else {
        return Vec::new();
    };
    if let Some(text) = value.as_str() {
        return vec![Part::Text(text.into_owned())];
    }
    if value.kind() == Kind::Array && parts::is_parts(value) {
        let read = parts::read(value, "content", site);
        rest.extend(read.rest);
        return read.parts;
    }
    let text = "the content is neither a string nor a list of parts and is read as its JSON text";
    if role == Role::Tool {
        site.warn("content", text, value);
    } else {
        site.error("content", text, value);
    }
    vec![Part::Text(value.raw().to_owned())]
}

fn extra(row: &Row<'_>, rest: &mut ExtraFields, site: &mut Site<'_>) {
    for (key, value) in row.others.iter().filter(|(_, value)| !value.is_null()) {
        rest.keep(&**key, *value);
    }
    if row.others.len() > 1 {
        // Known fields occur once here, so a name that repeats is an unknown one.
        site.repeated_keys(site.message, |_| false);
    }
}
