//! The fields of a request beside its turns: the id, tool definitions, and everything else.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{Conversation, Extra, RawJson};

use crate::frame::FrameView;
use crate::reader::extra::{ExtraFields, Keep, below};
use crate::reader::fields::id;
use crate::reader::logged;
use crate::reader::notes::Notes;
use crate::reader::tool_calls::definitions::definition;

/// Fields that name the conversation; the first that holds an id does.
const IDS: [&str; 4] = ["conversation_id", "thread_id", "conversation_hash", "id"];

/// The names of the fields that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'n> {
    /// Fields that hold turns. `outer.inner` is a list inside a field, whose other fields count as fields of the request.
    pub turns: &'n [&'n str],
    /// The field that holds system text.
    pub system: Option<&'n str>,
    /// Fields that define tools.
    pub tools: &'n [&'n str],
    /// Reads definitions; none where the value has another form.
    pub define: fn(key: &str, Value<'_>, &Limits) -> Option<Tools>,
}

/// Tool definitions, and the fields beside them.
pub(crate) type Tools = (Vec<RawJson>, ExtraFields);

/// The fields of a request that are not turns.
#[derive(Debug, Default)]
pub(crate) struct RequestFields {
    /// Id of the conversation.
    pub id: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// Definitions of tools.
    pub tools: Vec<RawJson>,
    /// The model that is asked.
    pub model: Option<Box<str>>,
    /// Fields without a place.
    pub extra: Extra,
}

impl RequestFields {
    /// A conversation of this source and structure with these fields.
    pub(crate) fn conversation(self, shape: &'static str, frame: FrameView<'_>) -> Conversation {
        Conversation {
            source_id: self.id.or_else(|| frame.key.map(str::to_owned)),
            shape,
            title: self.title,
            tools: self.tools,
            model: self.model,
            extra: self.extra,
            ..Conversation::default()
        }
    }

    /// Reads the fields around the turns.
    pub(crate) fn read(names: Names<'_>, root: Value<'_>, limits: &Limits, notes: &mut Notes) -> Self {
        let mut beside = Self::default();
        let mut ids = IDS.into_iter();
        let (id_key, id) = ids
            .find_map(|key| Some((key, root.get(key).and_then(id)?)))
            .unzip();
        beside.id = id;
        beside.model = logged::model(root);
        let mut inner = names.turns.iter().filter_map(|name| name.split_once('.'));
        let inner = inner.next();
        for (key, value) in root.fields() {
            let is_read =
                names.turns.contains(&&*key) || names.system == Some(&*key) || id_key == Some(&*key);
            match inner {
                _ if is_read => {}
                Some((outer, list)) if *key == *outer => {
                    for (inner, field) in value.fields().filter(|(inner, _)| *inner != *list) {
                        beside.add(names, &inner, below(outer, &inner), field, limits, notes);
                    }
                }
                _ => beside.add(names, &key, key.clone().into_owned(), value, limits, notes),
            }
        }
        let is_single = |key: &str| id_key == Some(key) || names.system == Some(key);
        notes.repeated_keys(root, "$", is_single);
        beside
    }

    /// Takes a field out that has a place after all.
    pub(crate) fn take(&mut self, field: &str) {
        self.extra.0.retain(|(key, _)| key != field);
    }

    /// Adds a field: definitions of tools, or one without a place.
    fn add(
        &mut self,
        names: Names<'_>,
        key: &str,
        path: String,
        value: Value<'_>,
        limits: &Limits,
        notes: &mut Notes,
    ) {
        if names.tools.contains(&key) {
            if let Some((tools, rest)) = (names.define)(key, value, limits) {
                self.tools.extend(tools);
                self.extra.0.extend(rest);
                return;
            }
            let text = "the tool definitions are not a list and are kept as they are";
            let finding = Finding::new(&codes::WRONG_TYPE, text);
            notes.push(finding.at_path(format!("$.{path}")), Some(value));
        }
        self.extra.keep(path, value);
    }
}

/// Definitions of tools as a list, or as a string that holds one; none for anything else.
pub(crate) fn list_of_tools(value: Value<'_>, limits: &Limits) -> Option<Vec<RawJson>> {
    match value.kind() {
        Kind::Null => Some(Vec::new()),
        Kind::Array => Some(value.items().map(definition).collect()),
        Kind::String => {
            let text = value.as_str()?;
            if text.trim().is_empty() {
                return Some(Vec::new());
            }
            let document = json::scan(text.as_bytes(), limits.depth).ok()?;
            let list = document.root();
            (list.kind() == Kind::Array).then(|| list.items().map(definition).collect())
        }
        Kind::Bool(_) | Kind::Number | Kind::Object => None,
    }
}

/// Tool definitions in the forms of vendors: such a list, or an object whose `tools` are one.
pub(crate) fn tools_of_vendor(key: &str, value: Value<'_>, limits: &Limits) -> Option<Tools> {
    let mut rest = ExtraFields::new();
    let tools = if value.kind() == Kind::Object {
        let tools = value.get("tools").filter(|tools| tools.kind() == Kind::Array)?;
        for (inner, field) in value.fields().filter(|(inner, _)| inner != "tools") {
            rest.keep(below(key, &inner), field);
        }
        tools.items().map(definition).collect()
    } else {
        list_of_tools(value, limits)?
    };
    Some((tools, rest))
}
