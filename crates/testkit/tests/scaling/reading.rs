//! Searches by readers after parsing: copies of messages, participants and tools by their names, turns and branches
//! with equal beginnings, and texts that look like another structure up to their end.

use serde_json::{Map, Value, json};

use crate::hostile::{lines, read, slack};
use crate::shapes::{Files, Shape, one, request};

/// Like [`read`], with enough elements to reach every limit.
const fn more(name: &'static str, files: fn(usize) -> Files) -> Shape {
    Shape {
        first: 1_000,
        ..read(name, files)
    }
}

/// All shapes.
pub(crate) const SHAPES: &[Shape] = &[
    read("tokens in a text of Slack", |n| slack("t=xox".repeat(n))),
    more("blocks of Slack that say something else", |n| {
        let said = json!([{"type": "rich_text", "elements": texts(n)}]);
        slack_row(json!({"text": "word ".repeat(4 * n), "blocks": said}))
    }),
    more("copies in ChatGPT that say something else", |n| {
        let copies = object(n, |number| json!(format!("other {number}")));
        let said = json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["word ".repeat(4 * n)]},
            "metadata": {"user_context_message_data": copies}});
        chatgpt(
            "b",
            json!({"b": {"parent": null, "children": [], "message": said}}),
        )
    }),
    read("leaves far down a tree", |n| tree(n, |_| n)),
    read("forks of a tree without questions", |n| tree(n, |number| number)),
    read("files of a message of Claude's", |n| {
        let files: Vec<Value> = (0..n)
            .map(|number| json!({"file_name": format!("f{number}")}))
            .collect();
        let said = json!({"uuid": "m", "sender": "human", "text": "when?", "content": [], "files": files});
        one(
            "conversations.json",
            json!([{"uuid": "c", "name": "tides", "chat_messages": [said]}]).to_string(),
        )
    }),
    read("contexts of a session of Codex", |n| {
        let mut session = object(n, |_| json!(1));
        session["id"] = json!("s");
        codex(session, n, |_| ("turn_context", json!({"model": "gpt-5"})))
    }),
    read("counts of a session of Codex", |n| {
        codex(json!({"id": "s"}), 2 * n, |number| {
            (
                "event_msg",
                json!({"type": if number % 2 == 0 { "odd" } else { "token_count" }}),
            )
        })
    }),
    read("generations of a trace that say the same", |n| {
        trace((0..n).map(|number| {
            generation(
                number,
                json!("when?"),
                json!({"role": "assistant", "content": "high"}),
            )
        }))
    }),
    read("generations of a trace and their tools", |n| {
        trace((0..2 * n).map(|number| match number % 2 {
            0 => generation(number, json!(format!("tide {number}?")), calling([number])),
            _ => json!({"id": format!("o{number}"), "type": "TOOL", "name": "tide", "output": "high", "startTime": second(number)}),
        }))
    }),
    read("pieces of a chain of a trace", |n| {
        let silent = (0..n).map(|number| generation(number, json!("when?"), Value::Null));
        let mut last = generation(n, json!("when?"), Value::Null);
        for number in 0..n {
            let said = json!({"role": "user", "content": format!("tide {number}?")});
            last["input"].as_array_mut().unwrap().push(said);
        }
        trace(silent.chain([last]))
    }),
    read("results of a trace from the last call to the first", |n| {
        let mut all = generation(0, json!("when?"), json!({"role": "assistant", "content": "high"}));
        let said = all["input"].as_array_mut().unwrap();
        said.push(calling(0..n));
        said.extend(
            (0..n).rev().map(
                |number| json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": "high"}),
            ),
        );
        trace(std::iter::once(all))
    }),
    read("keys of a message that are there twice", |n| {
        let keys: String = (0..n)
            .map(|number| format!(",\"k{number}\":1,\"k{number}\":2"))
            .collect();
        let said = format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"when?\"{keys}}}]}}\n");
        one("a.jsonl", said)
    }),
    read("elements under a key that is as long", |n| {
        let mut said = json!({"role": "user", "content": "when?"});
        said["k".repeat(100 * n)] = json!(vec![json!({"a": 1}); n]);
        request(std::iter::once(said))
    }),
    more("messages of a tree that are there again", |n| {
        let again = |_| {
            let mut said = object(n, |_| json!(1));
            said.as_object_mut()
                .unwrap()
                .extend(oasst("x").as_object().unwrap().clone());
            said
        };
        lines((0..1).map(again).chain((0..n).map(|_| oasst("y"))))
    }),
    read("calls of a stream", |n| {
        answered((0..n).map(|number| {
            let call = json!({"index": number, "id": format!("c{number}"), "function": {"name": "tide", "arguments": "{}"}});
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        }))
    }),
    read("answers of a stream", |n| {
        answered((0..n).map(|number| json!({"choices": [{"index": number, "delta": {"content": "high"}}]})))
    }),
    read("items of a stream that are whole at its end", |n| {
        let item = |number: usize| json!({"type": "message", "id": format!("i{number}"), "role": "assistant", "content": [{"type": "output_text", "text": "high"}]});
        let items: Vec<Value> = (0..n).map(item).collect();
        let done = (0..n).map(|number| json!({"type": "response.output_item.done", "output_index": number, "item": item(number)}));
        let begun = json!({"type": "response.created", "response": {"id": "r"}});
        let ended = json!({"type": "response.completed", "response": {"id": "r", "output": items}});
        answered([begun].into_iter().chain(done).chain([ended]))
    }),
    read("messages rejected in a text of JSON", |n| {
        let mut said = vec![json!({"role": "user", "content": "when?"})];
        said.extend(std::iter::repeat_n(json!(5), n));
        let asked = json!({"model": "gpt-4o", "messages": said}).to_string();
        lines(std::iter::once(
            json!({"request": asked, "response": {"choices": [{"message": {"role": "assistant", "content": "high"}}]}}),
        ))
    }),
    read("calls that a message of the AI SDK has twice", |n| {
        let calls: Vec<Value> = (0..n)
            .map(|number| json!({"toolCallId": format!("c{number}"), "toolName": "tide", "state": "result", "args": {}, "result": "high"}))
            .collect();
        let parts: Vec<Value> = calls
            .iter()
            .map(|call| json!({"type": "tool-invocation", "toolInvocation": call}))
            .collect();
        request(asked_and(
            json!({"role": "assistant", "content": "", "toolInvocations": calls, "parts": parts}),
        ))
    }),
    more("details of a thought that say something else", |n| {
        let thought = json!({"type": "reasoning", "reasoning": "word ".repeat(4 * n), "details": texts(n)});
        request(asked_and(
            json!({"role": "assistant", "content": "", "parts": [thought, {"type": "text", "text": "high"}]}),
        ))
    }),
    read("pictures of a result", |n| {
        let picture =
            json!({"type": "image", "source": {"type": "url", "url": "https://pier.example/a.png"}});
        let result = json!({"type": "tool_result", "tool_use_id": "c", "content": vec![picture; n]});
        let call = json!({"type": "tool_use", "id": "c", "name": "tide", "input": {}});
        request(asked_and(json!({"role": "assistant", "content": [call, result]})))
    }),
    read("turns written out in a preference", |n| {
        let asked = "\n\nHuman: when?";
        let chosen = asked.repeat(n) + "\n\nAssistant: high";
        lines(std::iter::once(
            json!({"chosen": chosen, "rejected": format!("{asked}\n\nAssistant: low")}),
        ))
    }),
    read("messages that are cached, and those before them", |n| {
        let cached = |number: usize| {
            let text = format!("User: tide {number}?");
            json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]})
        };
        let said = (0..n).map(|number| json!({"role": "user", "content": format!("{number}?")}));
        request(
            said.chain((0..n).map(cached))
                .chain([json!({"role": "assistant", "content": "high"})]),
        )
    }),
    read("labels in an answer of Gemini's", |n| {
        contents("q".to_owned(), "[meta] ".repeat(n))
    }),
    read("quotes in a label of Gemini's", |n| {
        contents("[meta] a=\"".to_owned() + &"\\\" ".repeat(n), "high".to_owned())
    }),
    read("agents of one name", |n| {
        jaibber(
            n,
            |number| json!({"text": "hi", "messageId": format!("m{number}")}),
            1,
        )
    }),
    read("mentions of agents of one name", |n| {
        jaibber(
            n,
            |number| json!({"text": "@Coder hi", "messageId": format!("m{number}")}),
            n,
        )
    }),
    read("signs of a mention", |n| {
        let person =
            json!({"userId": "u0", "username": "@".repeat(n), "isAgent": false, "projectIds": ["p"]});
        lines([person, event(json!({"text": "@".repeat(n), "messageId": "m"}))].into_iter())
    }),
    read("rows of suna-rows that are there again", |n| {
        let row = |said: String| {
            json!({"message_id": "m", "thread_id": "t", "type": "user", "is_llm_message": true, "content": {"role": "user", "content": said},
                "created_at": "2026-01-01T00:00:00Z"})
        };
        let first = row("x".repeat(100 * n));
        lines(
            [first]
                .into_iter()
                .chain((0..n).map(|number| row(number.to_string()))),
        )
    }),
    read("a name that changes all along", |n| {
        let name = "a changed ".repeat(n);
        one(
            "a.txt",
            format!("09.12.20, 23:54 - Ann: hello\n09.12.20, 23:55 - {name}: text\n"),
        )
    }),
];

/// Texts in the form of frameworks.
fn texts(n: usize) -> Value {
    (0..n)
        .map(|number| json!({"type": "text", "text": format!("other {number}")}))
        .collect()
}

fn object(n: usize, value: impl Fn(usize) -> Value) -> Value {
    let fields: Map<String, Value> = (0..n)
        .map(|number| (format!("k{number}"), value(number)))
        .collect();
    Value::Object(fields)
}

fn slack_row(fields: Value) -> Files {
    let mut row = json!({"type": "message", "user": "U1", "ts": "1767600300.000100"});
    row.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    one("pier/2026-01-05.json", json!([row]).to_string())
}

fn chatgpt(current: &str, mapping: Value) -> Files {
    let conversation = json!({"title": "Tides", "create_time": 1_767_225_600.5, "update_time": 1_767_225_690.25, "mapping": mapping,
        "current_node": current, "conversation_id": "c", "id": "c"});
    one("conversations.json", json!([conversation]).to_string())
}

/// A chain of answers with `n` alternatives, each below the answer with the number that `parent` returns.
fn tree(n: usize, parent: impl Fn(usize) -> usize) -> Files {
    let node = |parent: Value, role: &str, text: String| {
        json!({"parent": parent, "children": [],
            "message": {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}})
    };
    let mut mapping = json!({"c0": node(Value::Null, "user", "when?".to_owned())});
    for number in 0..n {
        let below = |at: usize| json!(format!("c{at}"));
        mapping[format!("c{}", number + 1)] = node(below(number), "assistant", format!("high {number}"));
        mapping[format!("l{number}")] =
            node(below(parent(number).min(n)), "assistant", format!("low {number}"));
    }
    chatgpt("c0", mapping)
}

fn codex(session: Value, n: usize, then: impl Fn(usize) -> (&'static str, Value)) -> Files {
    let line = |kind: &str, payload: Value| json!({"timestamp": "2026-05-01T10:00:00Z", "type": kind, "payload": payload});
    let rest = (0..n).map(|number| {
        let (kind, payload) = then(number);
        line(kind, payload)
    });
    lines([line("session_meta", session)].into_iter().chain(rest))
}

fn second(number: usize) -> String {
    format!(
        "2026-02-{:02}T{:02}:{:02}:{:02}.000Z",
        1 + number / 86_400,
        number / 3_600 % 24,
        number / 60 % 60,
        number % 60
    )
}

fn generation(number: usize, asked: Value, output: Value) -> Value {
    json!({"id": format!("o{number}"), "traceId": "t", "type": "GENERATION", "startTime": second(number),
        "input": [{"role": "user", "content": asked}], "output": output, "model": "gpt-4o"})
}

fn calling(numbers: impl IntoIterator<Item = usize>) -> Value {
    let calls: Vec<Value> = numbers
        .into_iter()
        .map(|number| json!({"id": format!("c{number}"), "type": "function", "function": {"name": "tide", "arguments": "{}"}}))
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn trace(observations: impl Iterator<Item = Value>) -> Files {
    let observations: Vec<Value> = observations.collect();
    one(
        "a.json",
        json!({"trace": {"id": "t", "name": "tides"}, "observations": observations}).to_string(),
    )
}

fn oasst(text: &str) -> Value {
    json!({"message_id": "m", "parent_id": null, "message_tree_id": "m", "role": "prompter", "text": text, "k1": 2})
}

/// A request that is answered by a stream of events.
fn answered(events: impl Iterator<Item = Value>) -> Files {
    let events: Vec<Value> = events.collect();
    lines(std::iter::once(
        json!({"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "when?"}]}, "response": events}),
    ))
}

fn asked_and(then: Value) -> impl Iterator<Item = Value> {
    [json!({"role": "user", "content": "when?"}), then].into_iter()
}

fn contents(asked: String, answer: String) -> Files {
    lines(std::iter::once(
        json!({"contents": [{"role": "user", "parts": [{"text": asked}]}, {"role": "model", "parts": [{"text": answer}]}]}),
    ))
}

fn event(fields: Value) -> Value {
    let mut event = json!({"from": "u0", "fromUsername": "ann", "projectId": "p", "type": "message"});
    event
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    event
}

/// `n` agents with one name, and further messages.
fn jaibber(n: usize, said: fn(usize) -> Value, times: usize) -> Files {
    let agent = |number: usize| {
        json!({"userId": format!("u{number}"), "username": format!("x{number}"), "isAgent": true, "projectIds": ["p"],
            "agents": [{"agentName": "Coder"}]})
    };
    lines(
        (0..n)
            .map(agent)
            .chain((0..times).map(|number| event(said(number)))),
    )
}
