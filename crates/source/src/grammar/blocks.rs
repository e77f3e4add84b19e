//! Reads messages by a grammar: the object around the content, the content, and each block of it.

use std::borrow::Cow;

use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::json::{push_compact, push_string};
use chatmill_model::{MediaKind, Part, RawJson, ToolCall, Vendor, VendorItem};

use super::{BlockForm, Grammar, MessageForm, Read, When};
use crate::base::media::located;
use crate::base::{Keep as _, Site, Turn, arguments, drop_extra, present, roles, text, text_of, word};

impl Grammar {
    /// Reads a message, or only content, such as a system text.
    pub(crate) fn turn(&self, value: Value<'_>, site: &mut Site<'_>) -> Turn {
        let has_id = match self.message {
            MessageForm::Own(read) => {
                let mut turn = read(value, site);
                turn.joins_texts = self.joins_texts;
                return turn;
            }
            MessageForm::Blocks { has_id, .. } => has_id,
        };
        let mut turn = Turn::default();
        if value.kind() != Kind::Object {
            self.content(&mut turn, "", value, site);
            return turn;
        }
        turn.take_role("role", value, site, roles::api_role);
        if has_id {
            turn.id = word(value.get("id"), "id", site);
        }
        match present(value, "content") {
            None => site.missing("content"),
            Some(value) => self.content(&mut turn, "content", value, site),
        }
        let known: &[&str] = if has_id {
            &["role", "content", "id"]
        } else {
            &["role", "content"]
        };
        turn.keep_rest(value, "", known);
        turn
    }

    /// Reads a message and leaves its unknown fields unread, so that the format's lists of silent keys decide about them.
    /// Parts of unknown form, which a finding reports, are retained.
    pub(crate) fn turn_of_known_fields(&self, value: Value<'_>, site: &mut Site<'_>) -> Turn {
        let mut turn = self.turn(value, site);
        turn.rest.retain(|(path, _)| path.ends_with(']'));
        drop_extra(value);
        turn
    }

    /// Reads the content of a message: a list of blocks, or a text if the vendor allows one. Anything else is read as its JSON
    /// text.
    pub(crate) fn content(&self, turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>) {
        let MessageForm::Blocks {
            may_be_text,
            otherwise,
            ..
        } = self.message
        else {
            return;
        };
        turn.joins_texts = self.joins_texts;
        match value.kind() {
            Kind::Array => {
                for (index, block) in value.items().enumerate() {
                    let path = format!("{path}[{index}]");
                    if !self.block(turn, &path, block, site) {
                        turn.unknown(&path, block, site);
                    }
                }
            }
            Kind::String if may_be_text => turn.parts.push(Part::Text(text_of(value))),
            _ => turn.malformed_content(path, otherwise, value, site),
        }
    }

    /// Reads a block at its path; `false` if it does not belong to this vendor.
    pub(crate) fn block(&self, turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
        let is_read = self.read_as(|_| true, turn, path, block, site);
        self.mark(is_read, turn, path, block)
    }

    /// Reads a block that is a text or a medium, with its cache mark.
    pub(super) fn marked_block(
        &self,
        turn: &mut Turn,
        path: &str,
        block: Value<'_>,
        site: &mut Site<'_>,
    ) -> bool {
        let is_read = self.shown_block(turn, path, block, site);
        self.mark(is_read, turn, path, block)
    }

    /// Reads the cache mark of a block that is read.
    fn mark(&self, is_read: bool, turn: &mut Turn, path: &str, block: Value<'_>) -> bool {
        if is_read && let Some(mark) = self.cache_mark {
            mark(turn, path, block);
        }
        is_read
    }

    /// Reads the blocks inside the result of a call: texts and media.
    pub(crate) fn shown(&self, turn: &Turn, list: Value<'_>, path: &str, site: &mut Site<'_>) -> Turn {
        let mut inner = turn.inside();
        for (index, block) in list.items().enumerate() {
            let path = format!("{path}[{index}]");
            if !self.shown_block(&mut inner, &path, block, site) {
                inner.unknown(&path, block, site);
            }
        }
        inner
    }

    /// Reads a block if it is a text or a medium.
    pub(crate) fn shown_block(
        &self,
        turn: &mut Turn,
        path: &str,
        block: Value<'_>,
        site: &mut Site<'_>,
    ) -> bool {
        self.read_as(BlockForm::is_shown, turn, path, block, site)
    }

    /// Reads a block by the first kind that accepts it; `false` if no kind does.
    fn read_as(
        &self,
        is_wanted: fn(&BlockForm) -> bool,
        turn: &mut Turn,
        path: &str,
        block: Value<'_>,
        site: &mut Site<'_>,
    ) -> bool {
        let kind = block.get("type").and_then(Value::as_str);
        let wanted = self.blocks.iter().filter(|form| is_wanted(form));
        let mut forms = wanted.filter(|form| form.is_of(block, kind.as_deref()));
        forms.any(|form| read(form, turn, path, block, site))
    }
}

impl BlockForm {
    /// Whether a block with this word as its type is of this kind.
    pub(super) fn is_of(&self, block: Value<'_>, kind: Option<&str>) -> bool {
        match self.when {
            When::Type(word) => kind == Some(word),
            When::OneOf(words) => kind.is_some_and(|kind| words.contains(&kind)),
            When::Begins(start) => kind.is_some_and(|kind| kind.starts_with(start)),
            When::Untyped => kind.is_none(),
            When::Has(key) => present(block, key).is_some(),
            When::Key(key) => {
                let mut fields = block.fields().filter(|(_, value)| !value.is_null());
                matches!((fields.next(), fields.next()), (Some((only, _)), None) if only == key)
            }
        }
    }

    /// Whether results of calls may contain such blocks.
    const fn is_shown(&self) -> bool {
        matches!(self.read, Read::Text(_) | Read::Media(..) | Read::Address(..))
    }
}

/// Reads a text under the first of these keys that has one; without keys the block itself is the text.
fn words(turn: &mut Turn, path: &str, block: Value<'_>, keys: &[&str], part: fn(String) -> Part) -> bool {
    if keys.is_empty() {
        let words = text(Some(block));
        let is_text = words.is_some();
        turn.parts.extend(words.map(part));
        return is_text;
    }
    let Some((key, words)) = keys.iter().find_map(|key| Some((key, text(block.get(key))?))) else {
        return false;
    };
    turn.parts.push(part(words));
    turn.keep_rest(block, path, &["type", key, "cache_control"]);
    true
}

/// Reads a call by the keys of its id, its name and its arguments.
pub(super) fn call(
    turn: &mut Turn,
    path: &str,
    block: Value<'_>,
    ([id, name], given): ([&str; 2], &[&str]),
    site: &mut Site<'_>,
) -> bool {
    if block.kind() != Kind::Object {
        return false;
    }
    let key = given.iter().copied().find(|key| present(block, key).is_some());
    let place = key.map_or_else(|| path.to_owned(), |key| format!("{path}.{key}"));
    let input = arguments(key.and_then(|key| block.get(key)), &place, site);
    let call_id = word(block.get(id), &format!("{path}.{id}"), site);
    let tool = word(block.get(name), &format!("{path}.{name}"), site);
    turn.parts
        .push(Part::ToolCall(ToolCall::new(call_id, tool, input)));
    let known = ["type", id, name, key.unwrap_or("type"), "cache_control"];
    turn.keep_rest(block, path, &known);
    true
}

/// Reads a medium by its address under the first of these keys that has one: a string, or an object with `url`.
pub(super) fn at_address(
    turn: &mut Turn,
    path: &str,
    block: Value<'_>,
    kind: MediaKind,
    keys: &[&str],
) -> bool {
    let found = keys.iter().find_map(|key| {
        let field = block.get(key)?;
        let is_object = field.kind() == Kind::Object;
        let url = text(if is_object { field.get("url") } else { Some(field) })?;
        Some((key, field, url))
    });
    let Some((key, field, url)) = found else {
        return false;
    };
    turn.parts.push(Part::Media(located(kind, url, None)));
    turn.keep_rest(block, path, &["type", key, "cache_control"]);
    turn.keep_rest(field, &format!("{path}.{key}"), &["url"]);
    true
}

/// An item that only one vendor has, from its fields.
pub(super) fn vendor_item<'d>(
    vendor: Vendor,
    fields: impl IntoIterator<Item = (Cow<'d, str>, Value<'d>)>,
) -> VendorItem {
    let mut raw = String::from("{");
    for (key, value) in fields {
        if raw.len() > 1 {
            raw.push(',');
        }
        push_string(&mut raw, &key);
        raw.push(':');
        push_compact(&mut raw, value.raw());
        value.mark(Mark::Taken);
    }
    raw.push('}');
    VendorItem {
        vendor,
        raw: RawJson(raw),
    }
}

/// A block without the mark of a cache, which becomes a separate part.
pub(super) fn unmarked(vendor: Vendor, block: Value<'_>) -> VendorItem {
    vendor_item(vendor, block.fields().filter(|(key, _)| key != "cache_control"))
}

/// Reads a block as one of this kind; `false` if it turns out to be another.
fn read(form: &BlockForm, turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    let (path, value) = match form.when {
        When::Type(_) | When::OneOf(_) | When::Begins(_) | When::Untyped | When::Has(_) => {
            (Cow::Borrowed(path), block)
        }
        When::Key(key) => match block.get(key) {
            Some(value) => (Cow::Owned(format!("{path}.{key}")), value),
            None => return false,
        },
    };
    match form.read {
        Read::Text(keys) => words(turn, &path, value, keys, Part::Text),
        Read::Reasoning(keys) => words(turn, &path, value, keys, Part::Reasoning),
        Read::Address(kind, keys) => at_address(turn, &path, value, kind, keys),
        Read::Call(own, given) => call(turn, &path, value, (own, given), site),
        Read::Media(kind, read) => read(turn, &path, value, kind, site),
        Read::Own(read) => read(turn, &path, value, site),
        Read::Extra => {
            turn.keep(&*path, value);
            true
        }
        Read::Item(vendor) => {
            turn.parts.push(Part::Item(unmarked(vendor, block)));
            true
        }
        Read::Unknown => false,
    }
}
