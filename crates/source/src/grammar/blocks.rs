//! Reading messages by a grammar: the object around the content, the content, and each block of it.

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Part, ToolCall};

use super::{BlockForm, Grammar, MessageForm, Read, When};
use crate::base::{Keep as _, Site, Turn, arguments, present, roles, text, text_of, word};

impl Grammar {
    /// Reads a message, or content alone, as a system text is.
    pub(crate) fn turn(&self, value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
        let has_id = match self.message {
            MessageForm::Own(read) => return read(value, site, limits),
            MessageForm::Blocks { has_id, .. } => has_id,
        };
        let mut turn = Turn::default();
        if value.kind() != Kind::Object {
            self.content(&mut turn, "", value, site, limits);
            return turn;
        }
        turn.take_role("role", value, site, roles::api_role);
        if has_id {
            turn.id = word(value.get("id"), "id", site);
        }
        match present(value, "content") {
            None => site.missing("content"),
            Some(value) => self.content(&mut turn, "content", value, site, limits),
        }
        let known: &[&str] = if has_id {
            &["role", "content", "id"]
        } else {
            &["role", "content"]
        };
        turn.keep_rest(value, "", known);
        turn
    }

    /// Reads the content of a message: a list of blocks, or a text where the vendor allows one. Anything else is read as its
    /// JSON text.
    pub(crate) fn content(
        &self,
        turn: &mut Turn,
        path: &str,
        value: Value<'_>,
        site: &mut Site<'_>,
        limits: &Limits,
    ) {
        let MessageForm::Blocks {
            may_be_text,
            otherwise,
            ..
        } = self.message
        else {
            return;
        };
        match value.kind() {
            Kind::Array => {
                for (index, block) in value.items().enumerate() {
                    let path = format!("{path}[{index}]");
                    if !self.block(turn, &path, block, site, limits) {
                        turn.unknown(&path, block, site);
                    }
                }
            }
            Kind::String if may_be_text => turn.parts.push(Part::Text(text_of(value))),
            _ => turn.malformed_content(path, otherwise, value, site),
        }
    }

    /// Reads a block at its path; false when it is none of this vendor's.
    pub(crate) fn block(
        &self,
        turn: &mut Turn,
        path: &str,
        block: Value<'_>,
        site: &mut Site<'_>,
        limits: &Limits,
    ) -> bool {
        let kind = block.get("type").and_then(Value::as_str);
        let form = self.blocks.iter().find(|form| form.is_of(block, kind.as_deref()));
        let is_read = form.is_some_and(|form| self.read(form, turn, path, block, site, limits));
        if is_read && let Some(mark) = self.cache_mark {
            mark(turn, path, block);
        }
        is_read
    }

    /// Reads the blocks that the result of a call shows: texts and media.
    pub(crate) fn shown(&self, list: Value<'_>, path: &str, site: &mut Site<'_>, limits: &Limits) -> Turn {
        let mut inner = Turn::default();
        for (index, block) in list.items().enumerate() {
            let path = format!("{path}[{index}]");
            if !self.is_shown(&mut inner, &path, block, site, limits) {
                inner.unknown(&path, block, site);
            }
        }
        inner
    }

    /// Reads a block where it is a text or a medium.
    pub(crate) fn is_shown(
        &self,
        turn: &mut Turn,
        path: &str,
        block: Value<'_>,
        site: &mut Site<'_>,
        limits: &Limits,
    ) -> bool {
        let kind = block.get("type").and_then(Value::as_str);
        let mut forms = self.blocks.iter();
        let form = forms.find(|form| form.is_shown() && form.is_of(block, kind.as_deref()));
        form.is_some_and(|form| self.read(form, turn, path, block, site, limits))
    }

    fn read(
        &self,
        form: &BlockForm,
        turn: &mut Turn,
        path: &str,
        block: Value<'_>,
        site: &mut Site<'_>,
        limits: &Limits,
    ) -> bool {
        let (path, value) = match form.when {
            When::Type(_) => (path.to_owned(), block),
            When::Key(key) => match block.get(key) {
                Some(value) => (format!("{path}.{key}"), value),
                None => return false,
            },
        };
        match form.read {
            Read::Text(key) => self.words(turn, &path, value, key, Part::Text),
            Read::Reasoning(key) => self.words(turn, &path, value, key, Part::Reasoning),
            Read::Call(keys) => self.call(turn, &path, value, keys, site, limits),
            Read::Media(kind, read) => read(turn, &path, value, kind, site, limits),
            Read::Own(read) => read(turn, &path, value, site, limits),
        }
    }

    fn words(
        &self,
        turn: &mut Turn,
        path: &str,
        value: Value<'_>,
        key: &str,
        part: fn(String) -> Part,
    ) -> bool {
        let holder = if key.is_empty() {
            Some(value)
        } else {
            value.get(key)
        };
        let Some(words) = text(holder) else {
            return false;
        };
        turn.parts.push(part(words));
        if !key.is_empty() {
            turn.keep_rest(value, path, &["type", key, "cache_control"]);
        }
        true
    }

    fn call(
        &self,
        turn: &mut Turn,
        path: &str,
        block: Value<'_>,
        [id, name, given]: [&str; 3],
        site: &mut Site<'_>,
        limits: &Limits,
    ) -> bool {
        if block.kind() != Kind::Object {
            return false;
        }
        let input = arguments(present(block, given), &format!("{path}.{given}"), site, limits);
        let call_id = word(block.get(id), &format!("{path}.{id}"), site);
        let tool = word(block.get(name), &format!("{path}.{name}"), site);
        turn.parts
            .push(Part::ToolCall(ToolCall::new(call_id, tool, input)));
        turn.keep_rest(block, path, &["type", id, name, given, "cache_control"]);
        true
    }
}

impl BlockForm {
    /// Whether a block with this word as its type is of this kind.
    fn is_of(&self, block: Value<'_>, kind: Option<&str>) -> bool {
        match self.when {
            When::Type(word) => kind == Some(word),
            When::Key(key) => {
                let mut fields = block.fields().filter(|(_, value)| !value.is_null());
                matches!((fields.next(), fields.next()), (Some((only, _)), None) if only == key)
            }
        }
    }

    /// Whether results of calls show such blocks.
    const fn is_shown(&self) -> bool {
        matches!(self.read, Read::Text(_) | Read::Media(..))
    }
}
