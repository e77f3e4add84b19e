//! The fields of a request other than its turns: the id, tool definitions, and everything else.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{Conversation, Extra, RawJson};

use crate::base::{Keep, Notes, below, id, present, words};
use crate::frame::FrameView;
use crate::grammar::{tools_of_vendor, usage};

/// Fields that name the conversation; the first one with an id is used.
const IDS: [&str; 4] = ["conversation_id", "thread_id", "conversation_hash", "id"];

/// Fields with what a client was given, or with metadata.
const HOLDERS: [&str; 11] = words!(
    kwargs metadata info extra_info model_parameters optional_params invocation_params params parameters config
    extra_body
);

/// Fields with definitions of tools, in a record or in one of these.
const DEFINITIONS: [&str; 6] = words!(tools functions oai_tools tool_defs tool_definitions available_tools);

/// The names of the fields that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'n> {
    /// Fields with turns. `outer.inner` is a list inside a field; the other fields of `outer` count as fields of the
    /// request.
    pub turns: &'n [&'n str],
    /// The field with the system text.
    pub system: Option<&'n str>,
    /// Fields that define tools.
    pub tools: &'n [&'n str],
}

/// The fields of a request that are not turns.
#[derive(Debug, Default)]
pub(crate) struct RequestFields {
    /// Id of the conversation.
    pub id: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// Definitions of tools.
    pub tools: Vec<RawJson>,
    /// The model of the request.
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
        beside.model = usage::model(root);
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
        beside.find_tools(root, limits);
        let is_single = |key: &str| id_key == Some(key) || names.system == Some(key);
        notes.repeated_keys(root, "$", is_single);
        beside
    }

    /// Looks for definitions of tools in all places that a request or its record may have, unless there are some already.
    pub(crate) fn find_tools(&mut self, root: Value<'_>, limits: &Limits) {
        if self.tools.is_empty() {
            self.tools = tools_inside(root, limits).unwrap_or_default();
        }
    }

    /// Removes a field from the extra fields, because it has a place after all.
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
            if let Some((tools, rest)) = tools_of_vendor(key, value, limits) {
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

/// Definitions of tools under another name, or inside the arguments of a client or in metadata. Each may be a JSON text.
fn tools_inside(root: Value<'_>, limits: &Limits) -> Option<Vec<RawJson>> {
    let inside = HOLDERS.into_iter().filter_map(|key| present(root, key));
    let mut holders = std::iter::once(root).chain(inside);
    holders.find_map(|holder| {
        let Some(text) = holder.string() else {
            return tools_in(holder, limits);
        };
        let is_named = DEFINITIONS.iter().any(|key| text.contains(&format!("\"{key}\"")));
        let document = is_named.then(|| holder.open(&text, limits.depth).ok())??;
        tools_in(document.root(), limits)
    })
}

fn tools_in(holder: Value<'_>, limits: &Limits) -> Option<Vec<RawJson>> {
    let are_tools = |tools: Value<'_>| {
        let is_tool = |tool: Value<'_>| tool.get("function").or_else(|| tool.get("name")).is_some();
        tools.kind() == Kind::Array && !tools.is_empty() && tools.items().all(is_tool)
    };
    DEFINITIONS.into_iter().find_map(|key| {
        let tools = present(holder, key)?;
        let text = tools.string();
        let document = text
            .as_ref()
            .and_then(|text| json::scan(text.as_bytes(), limits.depth).ok());
        let is_list = document.map_or_else(|| are_tools(tools), |document| are_tools(document.root()));
        let (tools, _) = is_list.then(|| tools_of_vendor(key, tools, limits))??;
        Some(tools)
    })
}
