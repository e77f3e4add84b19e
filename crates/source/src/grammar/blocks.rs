//! Messages whose content is a list of blocks, as Anthropic and Bedrock write them.

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Value};

use crate::base::{Keep as _, Site, Turn, present, roles, word};

/// Reads what stands at a path into a turn.
type Reads<R> = fn(&mut Turn, &str, Value<'_>, &mut Site<'_>, &Limits) -> R;

/// Reads a message of these fields, or content alone, as a system text is.
pub(crate) fn message(
    value: Value<'_>,
    fields: &[&str],
    content: Reads<()>,
    site: &mut Site<'_>,
    limits: &Limits,
) -> Turn {
    let mut turn = Turn::default();
    if value.kind() != Kind::Object {
        content(&mut turn, "", value, site, limits);
        return turn;
    }
    turn.take_role("role", value, site, roles::api_role);
    if fields.contains(&"id") {
        turn.id = word(value.get("id"), "id", site);
    }
    match present(value, "content") {
        None => site.missing("content"),
        Some(value) => content(&mut turn, "content", value, site, limits),
    }
    turn.keep_rest(value, "", fields);
    turn
}

/// Reads each block of a list; `block` says whether it could.
pub(crate) fn each(
    turn: &mut Turn,
    path: &str,
    list: Value<'_>,
    block: Reads<bool>,
    site: &mut Site<'_>,
    limits: &Limits,
) {
    for (index, value) in list.items().enumerate() {
        let path = format!("{path}[{index}]");
        if !block(turn, &path, value, site, limits) {
            turn.unknown(&path, value, site);
        }
    }
}
