//! Inputs that grow in only one way: each shape is a function of a number.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use serde_json::{Value, json};

/// Files of an input: name and bytes.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// A way in which an input grows.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The element that grows in number.
    pub name: &'static str,
    /// The first number that is measured.
    pub first: usize,
    /// The largest number that is measured; beyond it, the shape is too cheap to show growth.
    pub most: usize,
    /// The files for a number.
    pub files: fn(usize) -> Files,
    /// Sections of the pipeline file.
    pub pipeline: &'static str,
}

pub(crate) const fn shape(name: &'static str, first: usize, files: fn(usize) -> Files) -> Shape {
    Shape {
        name,
        first,
        most: first * 64,
        files,
        pipeline: "",
    }
}

pub(crate) const fn planned(shape: Shape, pipeline: &'static str) -> Shape {
    Shape { pipeline, ..shape }
}

/// All shapes.
pub(crate) const SHAPES: &[Shape] = &[
    shape("conversations", 100, conversations),
    shape("messages of two people", 400, messages),
    shape("system messages in a row", 400, |n| turns(n, "system")),
    shape("user messages in a row", 400, |n| turns(n, "user")),
    shape("assistant messages in a row", 400, |n| turns(n, "assistant")),
    shape("messages of as many people", 200, people),
    shape("text parts of a system message", 400, |n| parts(n, "system")),
    shape("text parts of a user's message", 400, |n| parts(n, "user")),
    shape("text parts of an assistant's message", 400, |n| {
        parts(n, "assistant")
    }),
    shape("pictures of a message", 200, pictures),
    shape("mentions of a message", 400, mentions),
    shape("references of one message", 200, references),
    shape("references to nothing", 200, |n| {
        referring(n, |_, _| "gone".to_owned())
    }),
    shape("references in a chain", 200, |n| {
        referring(n, |message, _| format!("m{}", message.max(1) - 1))
    }),
    shape("references to one message", 200, |n| {
        referring(n, |_, _| "m0".to_owned())
    }),
    shape("references in a circle", 200, |n| {
        referring(n, |message, all| format!("m{}", (message + 1) % all))
    }),
    shape("parallel calls, results in order", 200, |n| calls(n, false)),
    shape("parallel calls, results reversed", 200, |n| calls(n, true)),
    shape("parallel calls, results in one message", 200, answered_at_once),
    shape("calls that wait for a late result", 200, late_results),
    shape("calls and results without ids", 200, nameless_calls),
    shape("calls of one id", 200, equal_calls),
    shape("calls whose ids are spelled alike", 200, respelled_calls),
    shape("results without calls", 200, orphans),
    shape("definitions of tools", 200, definitions),
    shape("messages of one id", 200, |n| numbered(n, |_| "same".to_owned())),
    // In one dialect, so that only the work on the ids counts.
    planned(
        shape("conversations of one id", 800, |n| equal_ids(n, "same")),
        "[render]\ndialects = [\"openai-chat\"]\n",
    ),
    planned(
        shape("equal lines", 800, |n| equal_ids(n, "")),
        "[render]\ndialects = [\"openai-chat\"]\n",
    ),
    shape("lines that are not JSON", 200, broken_lines),
    shape("findings of one conversation", 200, findings),
    planned(
        shape("sessions", 100, days),
        "[window]\nsession_gap = \"1h\"\nhistory = 4\n",
    ),
    planned(
        shape("answers with short histories", 100, messages),
        "[window]\nper_turn = true\nhistory = 4\n",
    ),
    planned(
        shape("answers under a budget", 50, messages),
        "[window]\nper_turn = true\nmax_tokens = { tokens = 60, encoding = \"o200k_base\" }\n",
    ),
    planned(
        shape("participants beyond the limit", 100, |n| roster(n, 4)),
        "[perspective]\nas = \"each-participant\"\n[limits]\nperspectives = 20\n",
    ),
    planned(
        shape("names to redact", 100, people),
        "[redact]\nmode = \"replace\"\nkey_file = \"key\"\n",
    ),
    planned(
        shape("conversations to compare", 100, conversations),
        "[dedup]\nexact = \"mark\"\nnear = \"mark\"\n[render]\ndialects = [\"openai-chat\"]\n",
    ),
    shape("small files", 60, small_files),
    shape("entries of a zip archive", 60, zipped),
    shape("entries of a tar archive", 60, tarred),
    shape("gzip members", 400, |n| members(n, gzip)),
    shape("zstd frames", 400, |n| {
        members(n, |line| zstd::encode_all(line, 1).unwrap())
    }),
    shape("zstd frames to skip", 2_000, |n| {
        tail(n, b"\x5A\x2A\x4D\x18\0\0\0\0", "zst")
    }),
    shape("bzip2 streams", 100, |n| {
        tail(n, b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0", "bz2")
    }),
    shape("xz streams", 1_000, |n| {
        let empty =
            b"\xFD7zXZ\0\0\x04\xE6\xD6\xB4\x46\0\0\0\0\x1C\xDF\x44\x21\x1F\xB6\xF3\x7D\x01\0\0\0\0\x04YZ";
        tail(n, empty, "xz")
    }),
    shape("lz4 frames", 1_000, |n| {
        tail(n, b"\x04\x22\x4D\x18\x60\x40\x82\0\0\0\0", "lz4")
    }),
    shape("rows of one thread", 200, |n| rows(n, 1)),
    shape("threads of two rows", 200, |n| rows(n, n / 2 + 1)),
    shape("rows of a dump", 200, dump),
];

pub(crate) fn one(name: &str, bytes: impl Into<Vec<u8>>) -> Files {
    vec![(name.to_owned(), bytes.into())]
}

/// A group chat in one line. Messages have an id, a sender, a minute, and further fields.
fn room(id: &str, people: usize, messages: impl Iterator<Item = Value>) -> String {
    let details: serde_json::Map<String, Value> = (0..people)
        .map(|person| {
            let role = if person == 1 { "assistant" } else { "user" };
            let detail = json!({"full_name": format!("Person {person}"), "role": role, "department": "Pier"});
            (format!("u{person}"), detail)
        })
        .collect();
    let mut meta = json!({"name": "n", "scene": "group_chat", "scene_desc": {}, "user_details": details});
    if !id.is_empty() {
        meta["conversation_id"] = json!(id);
    }
    let list: Vec<Value> = messages.collect();
    json!({"version": "1.0.0", "conversation_meta": meta, "conversation_list": list}).to_string() + "\n"
}

fn message(number: usize, sender: usize) -> Value {
    json!({
        "message_id": format!("m{number}"),
        "create_time": format!("2026-01-01T{:02}:{:02}:00Z", number / 60 % 24, number % 60),
        "sender": format!("u{sender}"),
        "role": if sender == 1 { "assistant" } else { "user" },
        "type": "text",
        "content": format!("tide {number}"),
    })
}

pub(crate) fn conversations(n: usize) -> Files {
    let mut lines = String::new();
    for number in 0..n {
        lines += &room(&format!("room-{number}"), 2, (0..4).map(|at| message(at, at % 2)));
    }
    one("a.jsonl", lines)
}

fn messages(n: usize) -> Files {
    one(
        "a.jsonl",
        room("r", 2, (0..n).map(|number| message(number, number % 2))),
    )
}

fn people(n: usize) -> Files {
    roster(n, n)
}

fn roster(people: usize, messages: usize) -> Files {
    let said = (0..messages).map(|number| message(number, number % people.max(1)));
    one("a.jsonl", room("r", people, said))
}

fn numbered(n: usize, id: fn(usize) -> String) -> Files {
    let said = (0..n).map(|number| {
        let mut message = message(number, number % 2);
        message["message_id"] = json!(id(number));
        message
    });
    one("a.jsonl", room("r", 2, said))
}

fn mentions(n: usize) -> Files {
    let mut first = message(0, 0);
    first["mentions"] = (0..n).map(|person| json!(format!("u{person}"))).collect();
    one("a.jsonl", room("r", n, std::iter::once(first)))
}

fn references(n: usize) -> Files {
    let mut last = message(n, 0);
    last["refer_list"] = (0..n).map(|number| json!(format!("m{number}"))).collect();
    let said = (0..n).map(|number| message(number, number % 2));
    one("a.jsonl", room("r", 2, said.chain(std::iter::once(last))))
}

fn referring(n: usize, target: fn(usize, usize) -> String) -> Files {
    let said = (0..n).map(|number| {
        let mut message = message(number, number % 2);
        message["refer_list"] = json!([target(number, n)]);
        message
    });
    one("a.jsonl", room("r", 2, said))
}

fn findings(n: usize) -> Files {
    let said = (0..n).map(|number| {
        let mut message = message(number, number % 2);
        message["create_time"] = json!("yesterday");
        message["sender"] = json!(format!("nobody{number}"));
        message
    });
    one("a.jsonl", room("r", 2, said))
}

/// One message per day.
fn days(n: usize) -> Files {
    let said = (0..n).map(|number| {
        let mut message = message(number, number % 2);
        let (year, month, day) = (2000 + number / 336, number / 28 % 12 + 1, number % 28 + 1);
        message["create_time"] = json!(format!("{year}-{month:02}-{day:02}T00:00:00Z"));
        message
    });
    one("a.jsonl", room("r", 2, said))
}

fn equal_ids(n: usize, id: &str) -> Files {
    one("a.jsonl", room(id, 2, (0..2).map(|at| message(at, at))).repeat(n))
}

fn broken_lines(n: usize) -> Files {
    one(
        "a.jsonl",
        conversations(1)
            .remove(0)
            .1
            .into_iter()
            .chain(b"{broken\n".repeat(n))
            .collect::<Vec<u8>>(),
    )
}

/// A request in OpenAI's form.
pub(crate) fn request(messages: impl Iterator<Item = Value>) -> Files {
    let messages: Vec<Value> = messages.collect();
    one("a.jsonl", json!({"messages": messages}).to_string() + "\n")
}

fn turns(n: usize, role: &str) -> Files {
    let first = json!({"role": "user", "content": "and?"});
    let many = (0..n).map(|number| json!({"role": role, "content": format!("tide {number}")}));
    let last = json!({"role": "assistant", "content": "yes"});
    request(many.chain([first, last]))
}

fn parts(n: usize, role: &str) -> Files {
    let texts: Vec<Value> = (0..n)
        .map(|number| json!({"type": "text", "text": format!("tide {number}")}))
        .collect();
    let many = json!({"role": role, "content": texts});
    request([many, json!({"role": "user", "content": "and?"})].into_iter())
}

fn pictures(n: usize) -> Files {
    let pictures: Vec<Value> = (0..n)
        .map(|number| {
            json!({"type": "image_url", "image_url": {"url": format!("https://pier.example/{number}.png")}})
        })
        .collect();
    request(std::iter::once(json!({"role": "user", "content": pictures})))
}

fn call(id: &str, number: usize) -> Value {
    let arguments = format!("{{\"day\":{number}}}");
    json!({"id": id, "type": "function", "function": {"name": "tide", "arguments": arguments}})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "high"})
}

fn asking(calls: impl Iterator<Item = Value>) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<Value>>()})
}

fn calls(n: usize, reversed: bool) -> Files {
    let ids: Vec<String> = (0..n).map(|number| format!("call_{number}")).collect();
    let asked = asking(ids.iter().zip(0..).map(|(id, number)| call(id, number)));
    let mut results: Vec<Value> = ids.iter().map(|id| result(id)).collect();
    if reversed {
        results.reverse();
    }
    let first = json!({"role": "user", "content": "when?"});
    request([first, asked].into_iter().chain(results))
}

/// The form of Anthropic's requests, in which the results of a turn are one message.
fn answered_at_once(n: usize) -> Files {
    let calls: Vec<Value> = (0..n)
        .map(|number| {
            json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "tide", "input": {"day": number}})
        })
        .collect();
    let results: Vec<Value> = (0..n)
        .map(|number| {
            json!({"type": "tool_result", "tool_use_id": format!("toolu_{number}"), "content": "high"})
        })
        .collect();
    let request = json!({"system": "You know the sea.", "messages": [
        {"role": "user", "content": "when?"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]});
    one("a.jsonl", request.to_string() + "\n")
}

/// All calls come first, one by one, and all results last, with talk between them.
fn late_results(n: usize) -> Files {
    let first = json!({"role": "user", "content": "when?"});
    let asked = (0..n).map(|number| asking(std::iter::once(call(&format!("call_{number}"), number))));
    let talk = (0..n).map(|number| json!({"role": "user", "content": format!("well, {number}")}));
    let results = (0..n).map(|number| result(&format!("call_{number}")));
    request(std::iter::once(first).chain(asked).chain(talk).chain(results))
}

fn nameless_calls(n: usize) -> Files {
    let asked = (0..n).map(|number| {
        let mut call = call("", number);
        call.as_object_mut().unwrap().remove("id");
        call
    });
    let results = (0..n).map(|_| json!({"role": "tool", "content": "high"}));
    let first = json!({"role": "user", "content": "when?"});
    request([first, asking(asked)].into_iter().chain(results))
}

fn equal_calls(n: usize) -> Files {
    let pairs = (0..n).flat_map(|number| [asking(std::iter::once(call("same", number))), result("same")]);
    request(std::iter::once(json!({"role": "user", "content": "when?"})).chain(pairs))
}

/// Ids and tools that vendors do not allow, and that become equal when they are respelled for them.
fn respelled_calls(n: usize) -> Files {
    let letters = ["а", "б", "в", "г", "д", "е", "ж", "з"];
    let spelled =
        |number: usize| -> String { (0..6).map(|place| letters[number >> (3 * place) & 7]).collect() };
    let asked = (0..n).map(|number| {
        let mut call = call(&format!("call {}", spelled(number)), number);
        call["function"]["name"] = json!(spelled(number));
        call
    });
    let results = (0..n).map(|number| result(&format!("call {}", spelled(number))));
    let first = json!({"role": "user", "content": "when?"});
    request([first, asking(asked)].into_iter().chain(results))
}

fn orphans(n: usize) -> Files {
    let first = json!({"role": "user", "content": "when?"});
    let results = (0..n).map(|number| result(&format!("gone {number}")));
    request(std::iter::once(first).chain(results))
}

fn definitions(n: usize) -> Files {
    let tools: Vec<Value> = (0..n)
        .map(|number| {
            let parameters = json!({"type": "object", "properties": {"day": {"type": "string"}}});
            json!({"type": "function", "function": {"name": format!("tide_{number}"), "parameters": parameters}})
        })
        .collect();
    let messages = json!([{"role": "user", "content": "when?"}, {"role": "assistant", "content": "now"}]);
    one(
        "a.jsonl",
        json!({"messages": messages, "tools": tools}).to_string() + "\n",
    )
}

fn line() -> Vec<u8> {
    room("r", 2, (0..2).map(|at| message(at, at))).into_bytes()
}

fn small_files(n: usize) -> Files {
    (0..n)
        .map(|number| (format!("{}/{number}.json", number % 10), line()))
        .collect()
}

fn zipped(n: usize) -> Files {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..n {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{number}.json"), options).unwrap();
        archive.write_all(&line()).unwrap();
    }
    one("a.zip", archive.finish().unwrap().into_inner())
}

fn tarred(n: usize) -> Files {
    let mut archive = tar::Builder::new(Vec::new());
    for number in 0..n {
        let line = line();
        let mut header = tar::Header::new_gnu();
        header.set_size(line.len() as u64);
        archive
            .append_data(&mut header, format!("{number}.json"), line.as_slice())
            .unwrap();
    }
    one("a.tar", archive.into_inner().unwrap())
}

fn gzip(line: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(line).unwrap();
    encoder.finish().unwrap()
}

/// Each line is a separate member.
fn members(n: usize, pack: fn(&[u8]) -> Vec<u8>) -> Files {
    one("a.jsonl.packed", pack(&line()).repeat(n))
}

/// A file of the same few bytes, repeated.
fn tail(n: usize, bytes: &[u8], ending: &str) -> Files {
    one(&format!("a.{ending}"), bytes.repeat(n))
}

fn rows(n: usize, threads: usize) -> Files {
    let mut lines = String::new();
    for number in 0..n {
        let content = json!({"role": "user", "content": format!("tide {number}")}).to_string();
        let row = json!({
            "message_id": format!("m{number}"), "thread_id": format!("t{}", number % threads), "type": "user",
            "is_llm_message": true, "content": content,
            "created_at": format!("2026-01-01T{:02}:{:02}:00Z", number / 60 % 24, number % 60),
        });
        writeln!(lines, "{row}").unwrap();
    }
    one("a.jsonl", lines)
}

fn dump(n: usize) -> Files {
    let mut text =
        "-- PostgreSQL database dump\n\nCOPY public.messages (message_id, thread_id, type, is_llm_message, \
                    content, created_at) FROM stdin;\n"
            .to_owned();
    for number in 0..n {
        let thread = number % 7;
        writeln!(
            text,
            "m{number}\tt{thread}\tuser\tt\t{{\"role\":\"user\",\"content\":\"tide {number}\"}}\t2026-01-01 00:00:00+00"
        )
        .unwrap();
    }
    text += "\\.\n\n-- PostgreSQL database dump complete\n";
    one("a.sql", text)
}
