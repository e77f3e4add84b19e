//! Cuts frames into rows: pages of the REST API and files of the desktop client contain many messages each.

use chatmill_diag::limits::DEPTH_CEILING;
use chatmill_intake::json::{Kind, Value};

use super::open::{self, Opened, is_attachment, is_event, is_presence};
use crate::base::fields;
use crate::frame::Row;

/// The field under which the desktop client stores its messages.
pub(super) const STORE: &str = "chat_messages";

/// The rows of a frame with the projects that they belong to; `None` if the frame has none of Jaibber's structures.
pub(super) fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    if root.kind() != Kind::Object {
        return None;
    }
    if let Some(list) = root.get("data").filter(|data| data.kind() == Kind::Array) {
        return is_single(root, "data").then(|| page(root, list));
    }
    if let Some(projects) = root.get(STORE).filter(|store| store.kind() == Kind::Object) {
        return is_single(root, STORE).then(|| store(projects));
    }
    if is_row(root) {
        return Some(vec![row(root, "")]);
    }
    is_store(root).then(|| store(root))
}

/// Whether an object has a field once: if it is repeated, only one of its values would be read.
fn is_single(root: Value<'_>, wanted: &str) -> bool {
    root.fields().filter(|(key, _)| key == wanted).count() == 1
}

/// Whether an object is a row of any kind.
pub(super) fn is_row(root: Value<'_>) -> bool {
    let is_known = |opened: Opened<'_>| {
        is_event(opened.body)
            || is_presence(opened.body)
            || is_attachment(opened.body)
            || opened.envelope.is_some()
    };
    // Text that is not JSON is still the data of an envelope.
    open::open(root, DEPTH_CEILING, |opened, _| is_known(opened)).unwrap_or(true)
}

/// The rows of a page: its messages belong to one project, which may be named next to them.
fn page(root: Value<'_>, list: Value<'_>) -> Vec<Row> {
    let named = root.get("projectId").and_then(fields::id);
    let project = named.or_else(|| list.items().find_map(|item| projects(item).0.into_iter().next()));
    let project = project.unwrap_or_default();
    list.items().map(|item| row(item, &project)).collect()
}

/// Messages of the desktop client by project.
fn store(projects: Value<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (key, list) in projects.fields() {
        let keyed = |value: Value<'_>| Row::of(Some(key.clone().into_owned()), value);
        match list.kind() {
            Kind::Array => rows.extend(list.items().map(keyed)),
            Kind::Null => {}
            _ => rows.push(keyed(list)),
        }
    }
    rows
}

/// Whether an object is such a store without the name around it: it contains only lists, and the entries of the first
/// have a sender.
fn is_store(root: Value<'_>) -> bool {
    let mut lists = root.fields().map(|(_, value)| value);
    lists.all(|list| list.kind() == Kind::Array)
        && root.fields().any(|(_, list)| {
            let mut first = list.items().take(1);
            first.any(|entry| entry.get("sender").is_some() && entry.get("text").is_some())
        })
}

/// A row with its project: the one that it names, else that of its page. Presence without a page and without a project
/// belongs to every conversation.
fn row(value: Value<'_>, page: &str) -> Row {
    let (mut keys, is_everywhere) = projects(value);
    if keys.is_empty() && !(page.is_empty() && is_everywhere) {
        keys.push(page.to_owned());
    }
    keys.dedup();
    Row {
        keys,
        ..Row::shared(None, value)
    }
}

/// The projects of a row in order, and whether it is presence that applies to all of them.
fn projects(value: Value<'_>) -> (Vec<String>, bool) {
    let ask = |opened: Opened<'_>| (open::projects(opened), open::is_everywhere(opened));
    let (mut projects, is_everywhere) =
        open::open(value, DEPTH_CEILING, |opened, _| ask(opened)).unwrap_or_default();
    projects.sort();
    (projects, is_everywhere)
}
