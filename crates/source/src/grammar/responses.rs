//! Items of OpenAI's Responses API: messages, calls, outputs, and steps at the vendor.

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    ArgumentForm, Arguments, MediaKind, OwnItem, Part, RawJson, Role, ToolCall, ToolResult, Vendor,
    VendorItem,
};

use crate::base::{
    Keep as _, Site, Turn, arguments, embedded, items, media, present, roles, text, text_of, word, words,
};
use crate::grammar::blocks::{at_address, vendor_item};
use crate::grammar::{Grammar, Sign, UsageForm, definition, openai::parts};

/// Items that only this API has, by their type.
const ITEMS: [&str; 28] = words!(
    function_call function_call_output custom_tool_call custom_tool_call_output computer_call
    web_search_call file_search_call item_reference function_call_result computer_call_output
    code_interpreter_call image_generation_call local_shell_call local_shell_call_output shell_call
    shell_call_output apply_patch_call apply_patch_call_output mcp_call mcp_list_tools mcp_approval_request
    mcp_approval_response tool_search_call tool_search_output program_output compaction_trigger
    configuration_update additional_tools
);

/// Steps of tools that run at the vendor.
const HOSTED: [&str; 12] = words!(
    web_search_call file_search_call code_interpreter_call image_generation_call mcp_list_tools
    mcp_approval_request mcp_approval_response tool_search_call tool_search_output program program_output
    compaction
);

/// The field of the request that a user approves, or does not.
const APPROVED: &str = "approval_request_id";

/// Items with which the caller sets up the answers after them, each with the fields that the API requires.
const SETTINGS: [(&str, &[&str]); 3] = [
    ("additional_tools", &["role", "tools"]),
    ("configuration_update", &[]),
    ("compaction_trigger", &[]),
];

/// Items with a type that other vendors use as well: only objects without a role are such items.
const LOOSE_ITEMS: [&str; 3] = words!(reasoning compaction program);

/// Whether a value is an item of a kind that only this API has.
pub(crate) fn is_item(value: Value<'_>) -> bool {
    let kind = value.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| {
        ITEMS.contains(&&*kind) || LOOSE_ITEMS.contains(&&*kind) && value.get("role").is_none()
    })
}

/// A tool that the API defines and the client runs.
struct ClientTool {
    /// The type of its calls.
    call: &'static str,
    name: &'static str,
    /// The possible fields for the action of a call.
    actions: &'static [&'static str],
    /// The fields that the API requires of a call and of its output, as paths of keys.
    needs: [&'static [&'static str]; 2],
}

const CLIENT_TOOLS: [ClientTool; 4] = [
    ClientTool {
        call: "local_shell_call",
        name: "local_shell",
        actions: &["action"],
        needs: [
            &[
                "id",
                "call_id",
                "action.type",
                "action.command",
                "action.env",
                "status",
            ],
            &["id", "output"],
        ],
    },
    ClientTool {
        call: "shell_call",
        name: "shell",
        actions: &["action"],
        needs: [&["call_id", "action.commands"], &["call_id", "output"]],
    },
    ClientTool {
        call: "apply_patch_call",
        name: "apply_patch",
        actions: &["operation"],
        needs: [
            &["call_id", "operation.type", "operation.path", "status"],
            &["call_id", "status"],
        ],
    },
    ClientTool {
        call: "computer_call",
        name: "computer",
        actions: &["action", "actions"],
        needs: [
            &["id", "call_id", "pending_safety_checks", "status"],
            &["call_id", "output.type"],
        ],
    },
];

/// The fields that the API requires of its call of a server's tool.
const MCP_NEEDS: [&str; 4] = words!(id server_label name arguments);

/// Whether items of this kind contain the output of a call; the last kind is that of OpenAI's SDK for agents.
pub(crate) fn is_output(kind: &str) -> bool {
    let kinds = words!(
        function_call_output custom_tool_call_output local_shell_call_output shell_call_output
        apply_patch_call_output computer_call_output function_call_result
    );
    kinds.contains(&kind)
}

/// Whether a message of a log is an item: one of those kinds, or a message with parts that only this API has.
fn is_logged_item(message: Value<'_>) -> bool {
    let has_type = |value: Value<'_>, words: &[&str]| {
        let kind = value.get("type").and_then(Value::string);
        kind.is_some_and(|kind| words.contains(&&*kind))
    };
    let is_part = |part| has_type(part, &["output_text", "input_text"]);
    has_type(message, &LOOSE_ITEMS) && message.get("role").is_none()
        || has_type(message, &["message"])
            && message
                .get("content")
                .is_some_and(|list| list.items().any(is_part))
}

/// Items of the Responses API.
pub(crate) static RESPONSES: Grammar = Grammar {
    verified: "openai 3.57, 2026-11",
    signs: &[Sign::Item(&ITEMS), Sign::Own(is_logged_item)],
    joins_texts: true,
    usage: Some(UsageForm {
        input: &["input_tokens"],
        output: &["output_tokens"],
        thoughts: &[
            "output_tokens_details.reasoning_tokens",
            "reasoning_output_tokens",
        ],
        // The names without details are those of Codex.
        cached: &[
            "input_tokens_details.cached_tokens",
            "cached_input_tokens",
            // `DashScope` mixes the names of both APIs.
            "prompt_tokens_details.cached_tokens",
        ],
        written: &[
            "input_tokens_details.cache_write_tokens",
            "cache_write_input_tokens",
            "prompt_tokens_details.cache_creation_input_tokens",
        ],
        total: Some("total_tokens"),
        ..UsageForm::NOTHING
    }),
    ..Grammar::own(
        "openai-responses",
        &words!(type role content call_id name arguments output),
        turn,
    )
};

/// Reads an item, the instructions, or an input that is a string.
fn turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let mut turn = Turn {
        is_item: true,
        ..Turn::default()
    };
    if value.kind() != Kind::Object {
        content(&mut turn, "", value, site);
        return turn;
    }
    match text(value.get("type")).as_deref() {
        None | Some("message") => message(&mut turn, value, site),
        Some("function_call") => call(&mut turn, value, site),
        Some("custom_tool_call") => own_call(&mut turn, value, site),
        Some(kind) if is_output(kind) => output(&mut turn, value, site),
        Some("reasoning") => reasoning(&mut turn, value),
        Some("mcp_call") => mcp_call(&mut turn, value, site),
        Some(kind) if HOSTED.contains(&kind) && is_whole(value) => hosted(&mut turn, value),
        Some(kind) if is_setting(kind, value) => setting(&mut turn, value),
        Some(word) => match CLIENT_TOOLS.iter().find(|tool| tool.call == word) {
            Some(tool) => client_call(&mut turn, value, tool, site),
            None => step(&mut turn, word, value, site),
        },
    }
    turn
}

fn message(turn: &mut Turn, item: Value<'_>, site: &mut Site<'_>) {
    turn.take_role("role", item, site, roles::api_role);
    turn.id = word(item.get("id"), "id", site);
    match present(item, "content") {
        None => site.missing("content"),
        Some(value) => content(turn, "content", value, site),
    }
    turn.keep_rest(item, "", &["type", "role", "id", "content"]);
}

fn content(turn: &mut Turn, field: &str, value: Value<'_>, site: &mut Site<'_>) {
    let is_list = value.kind() == Kind::Array && !field.is_empty();
    if is_list && (parts::is_parts(value) || value.is_empty()) {
        let read = parts::read(value, field, site);
        turn.gaps = read.gaps;
        turn.parts.extend(read.parts);
        // The API requires a level of detail for every picture; this word is the default.
        let is_informative = |path: &str, raw: &str| !path.ends_with(".detail") || raw != "\"auto\"";
        let extra = read.rest.into_iter();
        turn.rest
            .extend(extra.filter(|(path, raw)| is_informative(path, raw.as_str())));
        return;
    }
    if value.kind() == Kind::String {
        turn.parts.push(Part::Text(text_of(value)));
    } else {
        let text = "the content is neither a string nor a list of parts and is read as its JSON text";
        turn.malformed_content(field, text, value, site);
    }
}

fn call(turn: &mut Turn, item: Value<'_>, site: &mut Site<'_>) {
    let given = arguments(present(item, "arguments"), "arguments", site);
    make_call(turn, item, given, site);
    turn.keep_rest(item, "", &["type", "call_id", "callId", "name", "arguments"]);
}

/// A call of a tool with free text as its input.
fn own_call(turn: &mut Turn, item: Value<'_>, site: &mut Site<'_>) {
    let input = text(item.get("input")).unwrap_or_default();
    let given = (Arguments::Malformed(input), ArgumentForm::FreeText);
    make_call(turn, item, given, site);
    turn.keep_rest(item, "", &["type", "call_id", "name", "input"]);
}

fn make_call(turn: &mut Turn, item: Value<'_>, given: (Arguments, ArgumentForm), site: &mut Site<'_>) {
    turn.role = Some(Role::Assistant);
    turn.continues = true;
    let id = call_id(item, site);
    let name = word(item.get("name"), "name", site);
    turn.parts.push(Part::ToolCall(ToolCall::new(id, name, given)));
}

/// Reads a tool's output: text, or a list of parts; their texts are joined by line breaks.
fn output(turn: &mut Turn, item: Value<'_>, site: &mut Site<'_>) {
    turn.role = Some(Role::Tool);
    let status = item.get("status").and_then(Value::as_str);
    let answered = match item.get("output") {
        // A patch has no output; its status is the result.
        None if status.is_none() => {
            site.missing("output");
            Default::default()
        }
        None => Default::default(),
        Some(screen)
            if screen.get("type").and_then(Value::string).as_deref() == Some("computer_screenshot") =>
        {
            let mut shown = turn.inside();
            if !at_address(&mut shown, "output", screen, MediaKind::Image, &["image_url"]) {
                shown.parts.push(media::upload(MediaKind::Image, None));
                shown.keep_rest(screen, "output", &["type"]);
            }
            turn.rest.extend(shown.rest);
            (media::ResultText::default(), shown.parts)
        }
        Some(list) if list.kind() == Kind::Array && !list.is_empty() && parts::is_parts(list) => {
            let read = parts::read(list, "output", site);
            turn.rest.extend(read.rest);
            media::divided(read.parts)
        }
        Some(value) => {
            let own = text(value.get("text"));
            (own.unwrap_or_else(|| text_of(value)).into(), Vec::new())
        }
    };
    let mut result = ToolResult {
        call_id: call_id(item, site),
        is_error: status.as_deref() == Some("failed"),
        ..ToolResult::default()
    };
    let kind = item.get("type").and_then(Value::as_str);
    let tool = kind.and_then(|kind| CLIENT_TOOLS.iter().find(|tool| kind.starts_with(tool.call)));
    if let Some(tool) = tool {
        result.own = own(
            turn,
            item,
            (tool.needs[1], OwnItem::Client),
            &["call_id", "output"],
        );
    } else {
        turn.keep_rest(item, "", &["type", "call_id", "callId", "output"]);
    }
    turn.parts.extend(media::result_of(result, answered));
}

/// The id of a call. OpenAI's SDK for agents spells the key differently, and an item about a local shell may have only the id of the
/// item.
fn call_id(item: Value<'_>, site: &mut Site<'_>) -> Option<String> {
    let kind = item.get("type").and_then(Value::as_str);
    let is_shell = kind.is_some_and(|kind| kind.starts_with("local_shell_call"));
    let keys: &[&str] = if is_shell {
        &["call_id", "id"]
    } else {
        &["call_id", "callId"]
    };
    let (key, id) = keys.iter().find_map(|key| Some((key, present(item, key)?)))?;
    word(Some(id), key, site)
}

/// Reads the visible reasoning of the model: summaries, or the text itself. The output that follows belongs to the same turn.
fn reasoning(turn: &mut Turn, item: Value<'_>) {
    turn.role = Some(Role::Assistant);
    turn.continued_by_next = true;
    for field in ["summary", "content"] {
        let Some(list) = item.get(field) else { continue };
        for (index, part) in list.items().enumerate() {
            match text(part.get("text")) {
                Some(thought) => {
                    turn.parts.push(Part::Reasoning(thought));
                    turn.keep_rest(part, &format!("{field}[{index}]"), &["type", "text"]);
                }
                None => turn.keep(format!("{field}[{index}]"), part),
            }
        }
    }
    turn.keep_rest(item, "", &["type", "summary", "content"]);
}

/// A call of a tool that the API defines.
fn client_call(turn: &mut Turn, item: Value<'_>, tool: &ClientTool, site: &mut Site<'_>) {
    turn.role = Some(Role::Assistant);
    turn.continues = true;
    let call_id = call_id(item, site);
    let mut actions = tool.actions.iter();
    let found = actions.find_map(|key| Some((*key, present(item, key)?)));
    let read = found.map_or("call_id", |(key, _)| key);
    let own = own(turn, item, (tool.needs[0], OwnItem::Client), &["call_id", read]);
    if let Some((_, action)) = found {
        let given = (embedded(action), ArgumentForm::Embedded);
        turn.parts.push(Part::ToolCall(ToolCall {
            own,
            ..ToolCall::new(call_id, Some(tool.name.to_owned()), given)
        }));
    } else if let Some(key) = tool.actions.first() {
        site.missing(key);
    }
}

/// A call that the API made of a server's tool, with its output.
fn mcp_call(turn: &mut Turn, item: Value<'_>, site: &mut Site<'_>) {
    turn.role = Some(Role::Assistant);
    let id = item.get("id").and_then(|id| word(Some(id), "id", site));
    let given = arguments(present(item, "arguments"), "arguments", site);
    let name = word(item.get("name"), "name", site);
    let known = words!(id name arguments output error);
    let own = own(turn, item, (&MCP_NEEDS, OwnItem::Hosted), &known);
    let is_whole = own.is_some();
    turn.parts.push(Part::ToolCall(ToolCall {
        own,
        ..ToolCall::new(id.clone(), name, given)
    }));
    let error = present(item, "error");
    if let Some(answer) = present(item, "output").or(error) {
        let result = ToolResult {
            call_id: id,
            is_error: error.is_some(),
            own: is_whole.then(|| Box::new(OwnItem::Inside)),
            ..ToolResult::default()
        };
        let answered = (media::ResultText::of_value(answer), Vec::new());
        turn.parts.extend(media::result_of(result, answered));
    }
}

/// The raw item of a call or a result, if it has all fields that the API requires; otherwise its unknown fields are kept. The type
/// is kept in any case, because as the call of a function, or as the output of one, it is another item.
fn own(
    turn: &mut Turn,
    item: Value<'_>,
    (needs, of): (&[&str], fn(VendorItem) -> OwnItem),
    known: &[&str],
) -> Option<Box<OwnItem>> {
    turn.keep_text("type", &text(item.get("type")).unwrap_or_default());
    if !has_all(item, needs) {
        turn.keep_rest(item, "", &[known, &["type", "callId"]].concat());
        return None;
    }
    Some(Box::new(of(vendor_item(Vendor::Responses, item.fields()))))
}

/// Whether an item has the values at all of these paths.
fn has_all(item: Value<'_>, needs: &[&str]) -> bool {
    let found = |path: &str| path.split('.').try_fold(item, present);
    needs.iter().all(|path| found(path).is_some())
}

/// Whether a step of a hosted tool has the fields that the API requires: its id, and the type of its action. Logs of clients lack
/// either.
fn is_whole(item: Value<'_>) -> bool {
    let is_id = |key: &&str| item.get(key).and_then(Value::string).is_some();
    let is_typed = |action: Value<'_>| action.get("type").and_then(Value::string).is_some();
    ["id", "call_id", APPROVED].iter().any(is_id) && item.get("action").is_none_or(is_typed)
}

/// Reads a step of a tool that runs at the vendor: a piece of the answer around it. The reply of the user to a request of approval belongs to
/// the user.
fn hosted(turn: &mut Turn, item: Value<'_>) {
    let is_answer = item.get(APPROVED).is_none();
    turn.role = Some(if is_answer { Role::Assistant } else { Role::User });
    turn.continues = is_answer;
    turn.continued_by_next = is_answer;
    turn.tools = found_tools(item);
    let piece = vendor_item(Vendor::Responses, item.fields());
    turn.parts.push(Part::Item(piece));
}

/// Reads such a step among the blocks of a framework, which numbers its blocks.
pub(crate) fn hosted_block(turn: &mut Turn, _: &str, block: Value<'_>, _: &mut Site<'_>) -> bool {
    let kind = block.get("type").and_then(Value::string);
    let is_read = kind.is_some_and(|kind| HOSTED.contains(&&*kind)) && is_whole(block);
    if is_read {
        let fields = block.fields().filter(|(key, _)| key != "index");
        turn.parts
            .push(Part::Item(vendor_item(Vendor::Responses, fields)));
    }
    is_read
}

/// The definitions that the client found in a search for tools. Those that the API found are in the request.
fn found_tools(item: Value<'_>) -> Vec<RawJson> {
    let has = |key: &str, word: &str| item.get(key).and_then(Value::string).as_deref() == Some(word);
    if !has("type", "tool_search_output") || has("execution", "server") {
        return Vec::new();
    }
    items(item, "tools").map(definition).collect()
}

/// Whether an item sets up the answers after it and has the fields that the API requires.
fn is_setting(kind: &str, item: Value<'_>) -> bool {
    let mut settings = SETTINGS.iter();
    settings.any(|(known, needs)| *known == kind && has_all(item, needs))
}

/// Reads an item that sets up the answers after it, and the definitions of tools in it.
fn setting(turn: &mut Turn, item: Value<'_>) {
    turn.role = Some(Role::User);
    turn.tools = items(item, "tools").map(definition).collect();
    turn.parts
        .push(Part::Item(vendor_item(Vendor::Responses, item.fields())));
}

/// Reads an item that is not part of an answer, or is unknown.
fn step(turn: &mut Turn, word: &str, item: Value<'_>, site: &mut Site<'_>) {
    let text = "the item is neither a message nor a call nor an output and is kept as a notice";
    let place = item.get("type").unwrap_or(item);
    site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".type", place);
    turn.role = Some(Role::Assistant);
    turn.word = Some(word.to_owned());
    turn.is_notice = true;
    turn.parts.push(Part::Notice(word.to_owned()));
    turn.keep_rest(item, "", &["type"]);
}
