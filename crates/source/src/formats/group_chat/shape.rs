//! The four structures of the format, all with the version 1.0.0, and the metadata that distinguishes them.

use std::borrow::Cow;
use std::collections::HashSet;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Scene};

use super::wire::Record;
use crate::base::{Keep as _, Notes, id, text};

/// Whether a role word of the roster states the kind of participant.
pub(super) fn states_kind(role: &str) -> bool {
    matches!(role, "user" | "assistant")
}

/// The metadata of a record, split into fields with a place in the model and fields that are kept raw.
#[derive(Default)]
pub(super) struct Meta<'d> {
    /// Path of the object.
    pub path: &'static str,
    /// Whether the object exists. Without one there is a single finding, not one for each missing field.
    pub is_there: bool,
    /// `name`.
    pub name: Option<Value<'d>>,
    /// `scene`.
    pub scene: Option<Value<'d>>,
    /// `scene_desc.description`, else `description`; empty ones are ignored.
    pub description: Option<String>,
    /// `conversation_id`, else `group_id`.
    pub id: Option<String>,
    /// `default_timezone`.
    pub default_timezone: Option<Value<'d>>,
    /// `scene_desc.bot_ids`, if it is a list.
    pub bot_ids: Option<HashSet<Cow<'d, str>>>,
    /// `user_details`.
    pub user_details: Option<Value<'d>>,
    /// Every field but `name`, `scene` and `user_details`, in input order.
    pub extra: Extra,
}

impl<'d> Meta<'d> {
    /// Reads `conversation_meta` or `session_meta`; without either the metadata is empty.
    pub(super) fn read(record: &Record<'d>, notes: &mut Notes) -> Self {
        let (path, value) = match (record.conversation_meta, record.session_meta) {
            (None, Some(session)) => ("$.session_meta", Some(session)),
            (conversation, _) => ("$.conversation_meta", conversation),
        };
        let mut meta = Self {
            path,
            ..Self::default()
        };
        match value {
            None => {
                let finding = Finding::new(&codes::MISSING_FIELD, "conversation_meta is missing");
                notes.push(finding.at_path("$"), None);
            }
            Some(object) if object.kind() == Kind::Object => {
                meta.is_there = true;
                meta.walk(object, notes);
            }
            Some(other) => {
                let finding = Finding::new(&codes::WRONG_TYPE, "the metadata is not an object");
                notes.push(finding.at_path(path).quoting(other.raw()), Some(other));
            }
        }
        meta
    }

    fn walk(&mut self, object: Value<'d>, notes: &mut Notes) {
        let nested = object.get("scene_desc");
        self.name = object.get("name");
        self.scene = object.get("scene");
        self.user_details = object.get("user_details");
        self.default_timezone = object.get("default_timezone");
        self.bot_ids = nested
            .and_then(|nested| nested.get("bot_ids"))
            .filter(|list| list.kind() == Kind::Array)
            .map(|list| list.items().filter_map(Value::as_str).collect());
        let own = nested.and_then(|nested| nested.get("description"));
        let descriptions = [own, object.get("description")];
        let mut descriptions = descriptions.into_iter().filter_map(text);
        self.description = descriptions.find(|text| !text.is_empty());
        let mut ids = ["conversation_id", "group_id"].into_iter();
        self.id = ids.find_map(|key| object.get(key).and_then(id));
        let is_single = |key: &str| matches!(key, "name" | "scene" | "user_details");
        // Fields that have a place and are also kept raw have been read by now.
        for (key, value) in object.fields().filter(|(key, _)| !is_single(key)) {
            self.extra.keep(key, value);
        }
        notes.repeated_keys(object, self.path, is_single);
    }

    /// The structure of this record. `L1` of 2025-10: no scene, and job titles as roles. `L2` of 2025-11: the
    /// scenes `company` and `work`, and the agents in `scene_desc.bot_ids`. `V1` of 2026-01, as documented:
    /// the scenes `assistant` and `group_chat`. `V2` of 2026-04: `session_meta`, and the scenes `solo` and
    /// `team`.
    pub(super) fn shape(&self, record: &Record<'_>) -> &'static str {
        if record.conversation_meta.is_none() && record.session_meta.is_some() {
            return "V2";
        }
        let scene = self.scene.and_then(Value::as_str);
        if matches!(scene.as_deref(), Some("company" | "work")) || self.bot_ids.is_some() {
            return "L2";
        }
        if self.scene.is_none() && self.has_job_titles() {
            "L1"
        } else {
            "V1"
        }
    }

    fn has_job_titles(&self) -> bool {
        let users = self.user_details.into_iter().flat_map(Value::fields);
        let mut roles = users.filter_map(|(_, user)| user.get("role").and_then(Value::as_str));
        roles.any(|role| !states_kind(&role))
    }

    /// The title; a name that is not a string stays in `extra`.
    pub(super) fn title(&mut self, notes: &mut Notes) -> Option<String> {
        let path = format!("{}.name", self.path);
        let Some(value) = self.name else {
            if self.is_there {
                let finding = Finding::new(&codes::MISSING_FIELD, "the metadata has no name");
                notes.push(finding.at_path(path), None);
            }
            return None;
        };
        let title = text(Some(value));
        if title.is_none() {
            // The importer only checks that a name exists.
            notes.warn(path, "the name is not a string", value);
            self.extra.keep("name", value);
        }
        title
    }

    /// The kind of room; a scene that is none of the known words stays in `extra`.
    pub(super) fn scene(&mut self, notes: &mut Notes) -> Scene {
        let Some(value) = self.scene else {
            return Scene::Unknown;
        };
        let path = format!("{}.scene", self.path);
        match value.as_str().as_deref() {
            Some("assistant" | "company" | "solo") => return Scene::Assistant,
            Some("group_chat" | "work" | "team") => return Scene::GroupChat,
            Some(word) => {
                let finding = Finding::new(&codes::UNKNOWN_SCENE, "the scene is none of the known words");
                notes.push(finding.at_path(path).quoting(word), Some(value));
            }
            None if value.is_null() => {}
            None => notes.warn(path, "the scene is not a string", value),
        }
        self.extra.keep("scene", value);
        Scene::Unknown
    }
}
