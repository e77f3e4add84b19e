//! The metadata of a row: additions to the content, and fields that are kept.

use std::collections::{HashMap, VecDeque};

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{self, Kind, Mark, Value};
use chatmill_model::{ArgumentForm, Arguments, ToolCall};

use crate::base::{ExtraFields, Keep as _, Site, below, embedded, present, word};

/// The metadata of a row. Fields that become part of the message are marked as taken; the others are kept with it.
#[derive(Debug)]
pub(super) struct Metadata<'m> {
    value: Option<Value<'m>>,
    taken: Vec<&'static str>,
}

impl<'m> Metadata<'m> {
    /// Takes the column's value, parsed if it is a string. Anything but an object is kept unchanged, and empty text is
    /// ignored.
    pub(super) fn new(value: Option<Value<'m>>) -> Self {
        Self {
            value: value.filter(|value| !value.is_null() && value.as_str().as_deref() != Some("")),
            taken: Vec::new(),
        }
    }

    /// The value of a field, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<Value<'m>> {
        present(self.value?, key)
    }

    /// Takes a text field into the message.
    pub(super) fn take_word(&mut self, key: &'static str) -> Option<String> {
        let text = self.get(key)?.as_str().filter(|text| !text.is_empty())?;
        self.taken.push(key);
        Some(text.into_owned())
    }

    /// Marks a field as part of the message.
    pub(super) fn take(&mut self, key: &'static str) {
        self.get(key).inspect(|field| field.mark(Mark::Taken));
        self.taken.push(key);
    }

    /// Whether the row was compressed, so that its text differs from the original.
    pub(super) fn is_compressed(&self) -> bool {
        self.get("compressed").is_some_and(|value| {
            value.as_bool() == Some(true)
                || value
                    .as_str()
                    .is_some_and(|word| word.eq_ignore_ascii_case("true"))
        })
    }

    /// Whether the tool succeeded, if `result` states it.
    pub(super) fn success(&self) -> Option<bool> {
        self.get("result")?.get("success")?.as_bool()
    }

    /// The answer in `result`: the output, or the error if there is no output.
    pub(super) fn output(&self) -> Option<Value<'m>> {
        let result = self.get("result")?;
        if result.kind() != Kind::Object {
            return Some(result);
        }
        let field = |key: &str| present(result, key);
        field("output").or_else(|| field("error"))
    }

    /// Marks `result` as part of the message if it contains only this answer.
    pub(super) fn take_result(&mut self, answer: &str) {
        let Some(result) = self.get("result") else { return };
        let known = ["success", "output", "error"];
        let is_carried = self.output().is_none_or(|output| match output.string() {
            Some(text) => text == answer,
            None => is_same_json(output, answer),
        });
        let has_both = ["output", "error"]
            .iter()
            .all(|key| present(result, key).is_some());
        if is_carried && !has_both && result.fields().all(|(key, _)| known.contains(&&*key)) {
            self.take("result");
        }
    }

    /// Reads `tool_calls`: copies of known calls give them their ids, other calls are returned.
    pub(super) fn add_calls(
        &mut self,
        list: Value<'m>,
        calls: &mut [&mut ToolCall],
        site: &mut Site<'_>,
    ) -> Vec<ToolCall> {
        if list.kind() != Kind::Array || list.items().any(|call| call.kind() != Kind::Object) {
            let text = "tool_calls in the metadata is not a list of objects and is kept as it is";
            site.warn("tool_calls", text, list);
            return Vec::new();
        }
        let mut more = Vec::new();
        let mut own = Own::new(calls);
        let mut is_carried = true;
        for (index, entry) in list.items().enumerate() {
            let suffix = format!("tool_calls[{index}]");
            let mut own_word = |key: &str| word(entry.get(key), &format!("{suffix}.{key}"), site);
            let (id, name) = (own_word("tool_call_id"), own_word("function_name"));
            let given = present(entry, "arguments");
            let known = ["tool_call_id", "function_name", "arguments", "source"];
            is_carried &= entry.fields().all(|(key, _)| known.contains(&&*key));
            let copy = own.take(id.as_deref(), name.as_deref());
            if let Some(call) = copy.and_then(|place| calls.get_mut(place)) {
                if call.id.is_none() && id.is_some() {
                    call.metadata_id = id;
                }
                is_carried &= given.is_none_or(|given| is_same_json(given, call.arguments.source_text()));
                continue;
            }
            more.push(ToolCall {
                id: None,
                name,
                arguments: given.map_or_else(|| Arguments::Malformed(String::new()), embedded),
                form: ArgumentForm::Embedded,
                metadata_id: id,
                own: None,
            });
        }
        if is_carried {
            self.take("tool_calls");
        }
        more
    }

    /// Reports metadata that is not an object.
    pub(super) fn check(&self, site: &mut Site<'_>) {
        if self.value.is_some_and(|value| value.kind() != Kind::Object) {
            let row = site.message;
            let text = "the metadata is not an object and is kept as it is";
            site.warn("metadata", text, row.get("metadata").unwrap_or(row));
        }
    }

    /// Keeps the fields that are not taken.
    pub(super) fn rest(&self, rest: &mut ExtraFields) {
        let Some(value) = self.value else { return };
        if value.kind() != Kind::Object {
            rest.keep("metadata", value);
            return;
        }
        for (key, field) in value.fields() {
            if !self.taken.contains(&&*key) && !field.is_null() {
                rest.keep(below("metadata", &key), field);
            }
        }
    }
}

/// The calls of the content that are not matched with a copy in the metadata yet.
struct Own {
    by_id: HashMap<String, usize>,
    without_id: HashMap<Option<String>, VecDeque<usize>>,
    is_taken: Vec<bool>,
}

impl Own {
    fn new(calls: &[&mut ToolCall]) -> Self {
        let mut own = Self {
            by_id: HashMap::new(),
            without_id: HashMap::new(),
            is_taken: vec![false; calls.len()],
        };
        for (place, call) in calls.iter().enumerate() {
            for id in [&call.id, &call.metadata_id].into_iter().flatten() {
                own.by_id.entry(id.clone()).or_insert(place);
            }
            if call.id.is_none() {
                own.without_id
                    .entry(call.name.clone())
                    .or_default()
                    .push_back(place);
            }
        }
        own
    }

    /// The call with this id. Ids of calls in a text may be counted differently: then it is the next call with this name
    /// that has no id.
    fn take(&mut self, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let by_id = id.and_then(|id| self.by_id.remove(id));
        let place = by_id.filter(|place| self.is_free(*place)).or_else(|| {
            let mut places = self.without_id.remove(&name.map(str::to_owned))?;
            let next = std::iter::from_fn(|| places.pop_front()).find(|place| self.is_free(*place));
            self.without_id.insert(name.map(str::to_owned), places);
            next
        })?;
        *self.is_taken.get_mut(place)? = true;
        Some(place)
    }

    fn is_free(&self, place: usize) -> bool {
        self.is_taken.get(place) == Some(&false)
    }
}

/// The widest object that is compared with another, in fields.
const MAX_COMPARED_FIELDS: usize = 256;

/// Whether a value and a text are the same JSON, apart from white space and the order of keys. Very wide objects are not
/// compared and count as different.
fn is_same_json(value: Value<'_>, text: &str) -> bool {
    let scanned = json::scan(text.as_bytes(), Limits::default().depth);
    scanned.is_ok_and(|document| is_same(value, document.root()))
}

fn is_same(left: Value<'_>, right: Value<'_>) -> bool {
    match (left.kind(), right.kind()) {
        (Kind::Object, Kind::Object) => {
            let has_same = |key: &str, value| right.get(key).is_some_and(|other| is_same(value, other));
            left.len() == right.len()
                && left.len() <= MAX_COMPARED_FIELDS
                && left.fields().all(|(key, value)| has_same(&key, value))
        }
        (Kind::Array, Kind::Array) => {
            let mut pairs = left.items().zip(right.items());
            left.len() == right.len() && pairs.all(|(left, right)| is_same(left, right))
        }
        (Kind::String, Kind::String) => left.as_str() == right.as_str(),
        (left_kind, right_kind) => left_kind == right_kind && left.written() == right.written(),
    }
}

/// Notes that a row is compressed and keeps the text that the model was sent.
pub(super) fn compressed(metadata: &mut Metadata<'_>, rest: &mut ExtraFields, site: &mut Site<'_>) {
    if !metadata.is_compressed() {
        return;
    }
    let sent = metadata.get("compressed_content");
    let sent = sent.filter(|sent| sent.as_str().is_some_and(|text| !text.is_empty()));
    let message = if sent.is_some() {
        "the row was compressed: the model was sent the shortened text in compressed_content"
    } else {
        "the row was compressed, and no shortened text is kept: the row's own text was sent"
    };
    let row = site.message;
    let value = row.get("metadata").unwrap_or(row);
    site.note(&codes::COMPRESSED_MESSAGE, message, ".metadata", value);
    if let Some(sent) = sent {
        metadata.take("compressed");
        metadata.take("compressed_content");
        rest.keep_reported(COMPRESSED, sent);
    }
}

/// Name of the extra field with the text that the model was sent, as a JSON string.
pub(super) const COMPRESSED: &str = "compressed_content";
