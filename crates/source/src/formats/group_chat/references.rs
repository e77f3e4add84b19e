//! `refer_list`: ids, objects with an id, previews, complete messages, and previews inside previews.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::json::{push_compact, push_string};
use chatmill_model::{ParticipantKind, Preview, RawJson, Reference, ReferenceForm, Timestamp};

use super::roster::Roster;
use crate::base::{FieldText, Site, compact, field_text, id, iso8601, reply_to, text, times::stamp};

/// Reads a message's references. Those that the importer refuses are left out, with an error.
pub(super) fn read(list: Option<Value<'_>>, roster: &Roster<'_>, site: &mut Site<'_>) -> Vec<Reference> {
    let Some(list) = list.filter(|list| !list.is_null()) else {
        return Vec::new();
    };
    match list.kind() {
        Kind::Array => {}
        // The importer reads a string as a list of characters, and accepts it.
        Kind::String => site.warn("refer_list", "refer_list is a string: it is read as one id", list),
        _ => site.error("refer_list", "refer_list is not a list and is left out", list),
    }
    let alone = list.string().and_then(|_| id(list)).map(reply_to);
    let entries = list.items().enumerate();
    let read = entries.filter_map(|(index, entry)| one(entry, index, roster, site));
    alone.into_iter().chain(read).collect()
}

fn one(entry: Value<'_>, index: usize, roster: &Roster<'_>, site: &mut Site<'_>) -> Option<Reference> {
    let suffix = || format!("refer_list[{index}]");
    let text = match entry.kind() {
        Kind::String => return bare(entry),
        Kind::Object => return object(entry, &suffix(), roster, site),
        Kind::Number => "the id of the reference is a number and is read as text",
        _ => "a reference is neither an id nor an object and is left out",
    };
    site.error(&suffix(), text, entry);
    bare(entry)
}

/// A reference that is only an id.
fn bare(entry: Value<'_>) -> Option<Reference> {
    let id = text(Some(entry)).or_else(|| entry.number_text().map(str::to_owned));
    id.map(reply_to)
}

fn object(entry: Value<'_>, suffix: &str, roster: &Roster<'_>, site: &mut Site<'_>) -> Option<Reference> {
    let limits = site.limits;
    let stated = entry.get("message_id");
    let nested = entry.get("refer_list");
    if let Some(sender) = entry.get("sender") {
        check_sender(sender, suffix, roster, site);
    }
    let preview = preview(entry, roster);
    let shows_something = preview.is_some();
    let preview = preview.unwrap_or_default();
    let has_content = shows_words(&preview);
    let target = match field_text(stated) {
        FieldText::Text(id) if !id.is_empty() => Some(id.into_owned()),
        FieldText::Number(number) => {
            let text = "the id of the reference is a number";
            site.warn(&format!("{suffix}.message_id"), text, entry);
            Some(number.to_owned())
        }
        FieldText::Text(_) | FieldText::Absent | FieldText::Null | FieldText::Other => {
            // The importer only checks that the key exists.
            let code = match stated {
                Some(_) => &codes::REFERENCE_INCOMPLETE,
                None => &codes::REFUSED_REFERENCE,
            };
            let text = if has_content {
                "the reference has no message_id and is identified by its quoted text"
            } else {
                "the reference has neither message_id nor content and is left out"
            };
            site.note(code, text, format!(".{suffix}"), entry);
            None
        }
    };
    if target.is_none() && !has_content {
        return None;
    }
    let too_deep = nested.is_some_and(|list| is_deeper_than(list, limits.preview_depth));
    if too_deep {
        let text = format!(
            "previews inside previews beyond level {} are left out",
            limits.preview_depth
        );
        let finding = Finding::new(&codes::PREVIEW_TOO_DEEP, text);
        site.push(finding, format!(".{suffix}"), entry);
    }
    let mut raw = compact(entry);
    if too_deep {
        raw.clear();
        push_to_depth(&mut raw, entry, limits.preview_depth);
    }
    let levels = limits.preview_depth.min(limits.reference_depth.saturating_sub(1));
    Some(Reference {
        target,
        preview: shows_something.then_some(preview),
        form: ReferenceForm::Object(RawJson(raw)),
        nested: inner(nested, roster, levels),
        ..Reference::default()
    })
}

/// The references inside a preview, down to `levels` levels. Anything else in it stays in the source's text
/// of the outermost reference.
fn inner(list: Option<Value<'_>>, roster: &Roster<'_>, levels: u32) -> Vec<Reference> {
    let Some(list) = list.filter(|list| levels > 0 && list.kind() == Kind::Array) else {
        return Vec::new();
    };
    let read = |entry: Value<'_>| {
        if entry.kind() != Kind::Object {
            return bare(entry);
        }
        let preview = preview(entry, roster);
        let target = entry.get("message_id").and_then(id);
        let is_known = target.is_some() || preview.as_ref().is_some_and(shows_words);
        is_known.then(|| Reference {
            target,
            preview,
            form: ReferenceForm::Object(RawJson(compact(entry))),
            nested: inner(entry.get("refer_list"), roster, levels - 1),
            ..Reference::default()
        })
    };
    list.items().filter_map(read).collect()
}

/// The preview of a target; `None` if the object shows neither text nor author.
fn preview(entry: Value<'_>, roster: &Roster<'_>) -> Option<Preview> {
    let mut preview = Preview::default();
    let mut role = None;
    let mut shows_something = false;
    for (key, value) in entry.fields() {
        let text = || text(Some(value));
        match &*key {
            "content" => preview.content = text(),
            "sender" => preview.sender = text(),
            "sender_name" => preview.sender_name = text(),
            "create_time" => preview.timestamp = text().map(time),
            "type" => preview.source_type = text(),
            "role" => role = value.as_str(),
            _ => {}
        }
        shows_something |= matches!(&*key, "content" | "sender" | "sender_name");
    }
    let author = preview.sender.as_deref().and_then(|sender| roster.find(sender));
    preview.from_agent = role.as_deref() == Some("assistant")
        || author.is_some_and(|author| author.kind == ParticipantKind::Agent);
    shows_something.then_some(preview)
}

fn shows_words(preview: &Preview) -> bool {
    let content = preview.content.as_deref();
    content.is_some_and(|content| !content.is_empty())
}

/// The time when the target was written; a time without an offset has no instant.
fn time(raw: String) -> Timestamp {
    let instant = iso8601::parse(&raw).and_then(|moment| moment.instant());
    stamp(raw, instant)
}

/// Reports an author who is not in the roster. The public validator requires it; the importer does not.
fn check_sender(value: Value<'_>, suffix: &str, roster: &Roster<'_>, site: &mut Site<'_>) {
    let sender = value.as_str();
    let found = sender.and_then(|sender| roster.find(&sender));
    if !found.is_some_and(|found| found.listed) {
        let text = "the author of the quoted message is not in the roster";
        site.note(
            &codes::UNKNOWN_QUOTED_SENDER,
            text,
            format!(".{suffix}.sender"),
            value,
        );
    }
}

/// Whether a nested `refer_list` holds previews below this many further levels.
fn is_deeper_than(list: Value<'_>, levels: u32) -> bool {
    let mut previews = list.items().filter(|entry| entry.kind() == Kind::Object);
    let is_deeper = |inner: Value<'_>| is_deeper_than(inner, levels - 1);
    previews.any(|entry| levels == 0 || entry.get("refer_list").is_some_and(is_deeper))
}

/// Writes a preview compactly; the `refer_list` of the level below the last is written empty.
fn push_to_depth(out: &mut String, preview: Value<'_>, levels: u32) {
    out.push('{');
    for (index, (key, value)) in preview.fields().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(out, &key);
        out.push(':');
        if key != "refer_list" || value.kind() != Kind::Array {
            push_compact(out, value.raw());
            continue;
        }
        out.push('[');
        let shown = value
            .items()
            .filter(|entry| levels > 0 || entry.kind() != Kind::Object);
        for (index, entry) in shown.enumerate() {
            if index > 0 {
                out.push(',');
            }
            match entry.kind() {
                Kind::Object => push_to_depth(out, entry, levels - 1),
                _ => push_compact(out, entry.raw()),
            }
        }
        out.push(']');
    }
    out.push('}');
}
