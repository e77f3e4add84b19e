//! The bounds on format files, each tested on both sides.

use std::collections::BTreeSet;

use chatmill_diag::Limits;
use chatmill_diag::limits::{FORMAT_FLOOR, FORMAT_RATIO};
use chatmill_intake::json;
use chatmill_model::{Part, RawJson};
use serde_json::{Map, Value, json};

use super::check::MOST;
use super::language::Language;
use super::load;
use super::loaded::Loaded;
use crate::frame::{FrameView, Reading};
use crate::source::Source as _;

/// A format file with this message map, and more settings.
fn file(message: &str, more: &str) -> String {
    format!(
        "title = \"t\"\nspecification = \"s\"\ncarries = \"c\"\n[conversation]\nmessages = \"$.m[*]\"\n[message]\nrole = \"$.r\"\n{message}\n{more}\n"
    )
}

fn refused(file: &str) -> String {
    Loaded::parse("own", file).unwrap_err().message
}

fn read(id: &str, file: &str, record: &str) -> Reading {
    let source = load(id, file).unwrap();
    let limits = Limits::default();
    let document = json::scan(record.as_bytes(), limits.depth).unwrap();
    let frame = FrameView::alone(&document, record.as_bytes());
    source.read(&frame, &limits)
}

fn texts(reading: &Reading) -> Vec<&str> {
    let messages = &reading.conversation.as_ref().unwrap().messages;
    let parts = messages.iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// A place of the schema that may have many entries: the names on the way to it, and whether it is a table.
type Many = (Vec<String>, bool);

/// Walks the schema of format files.
struct Walk {
    schema: Value,
}

impl Walk {
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        match schema["$ref"].as_str() {
            Some(name) => self.schema.pointer(name.trim_start_matches('#')).unwrap(),
            None => schema,
        }
    }

    /// The forms that the schema allows for a value.
    fn forms<'s>(&'s self, schema: &'s Value) -> Vec<&'s Value> {
        let schema = self.resolved(schema);
        let forms = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array());
        let Some(forms) = forms else {
            return vec![schema];
        };
        let all = forms.iter().flat_map(|form| self.forms(form));
        all.filter(|form| form["type"] != "null").collect()
    }

    /// Collects the places of many entries below a value; `lines` inside `lines` are visited to the second level.
    fn places(&self, schema: &Value, names: &mut Vec<String>, all: &mut BTreeSet<Many>) {
        for form in self.forms(schema) {
            if let Some(entry) = form.get("items") {
                all.insert((names.clone(), false));
                if names.iter().filter(|name| *name == "lines").count() < 2 {
                    self.places(entry, names, all);
                }
            }
            if form["additionalProperties"].is_object() {
                all.insert((names.clone(), true));
                names.push("$.k0".to_owned());
                self.places(&form["additionalProperties"], names, all);
                names.pop();
            }
            for (name, property) in form["properties"].as_object().into_iter().flatten() {
                names.push(name.clone());
                self.places(property, names, all);
                names.pop();
            }
        }
    }

    /// The smallest value of a form.
    fn least(&self, form: &Value) -> Value {
        if let Some(word) = form.get("const").or_else(|| form["enum"].get(0)) {
            return word.clone();
        }
        match form["type"].as_str().unwrap_or_default() {
            "string" => json!("$.a"),
            "boolean" => json!(true),
            "integer" => json!(1),
            "array" => json!([self.least(self.forms(&form["items"])[0])]),
            _ => {
                let names = form["required"].as_array().into_iter().flatten();
                let fields = names.map(|name| {
                    let name = name.as_str().unwrap();
                    (
                        name.to_owned(),
                        self.least(self.forms(&form["properties"][name])[0]),
                    )
                });
                let fields: Map<String, Value> = fields.collect();
                match form.get("additionalProperties") {
                    Some(entry) if entry.is_object() => json!({"$.k0": self.least(self.forms(entry)[0])}),
                    _ => Value::Object(fields),
                }
            }
        }
    }

    /// A value with so many entries at a place below it.
    fn with(&self, schema: &Value, (names, is_table): (&[String], bool), count: usize) -> Option<Value> {
        self.forms(schema).into_iter().find_map(|form| {
            let entry = if is_table {
                form.get("additionalProperties")
            } else {
                form.get("items")
            };
            if names.is_empty()
                && let Some(entry) = entry.filter(|entry| entry.is_object())
            {
                let one = self.least(self.forms(entry)[0]);
                let keys = (0..count).map(|number| (format!("$.k{number}"), one.clone()));
                let list = || std::iter::repeat_n(one.clone(), count).collect();
                return Some(if is_table {
                    Value::Object(keys.collect())
                } else {
                    list()
                });
            }
            if let Some(entry) = form.get("items") {
                return Some(json!([self.with(entry, (names, is_table), count)?]));
            }
            let (name, rest) = names.split_first()?;
            let property = form["properties"]
                .get(name)
                .or_else(|| form.get("additionalProperties"))?;
            let value = self.with(property, (rest, is_table), count)?;
            let mut whole = self.least(form);
            whole[name] = value;
            Some(whole)
        })
    }
}

#[test]
fn each_list_and_table_of_the_schema_has_64_entries_at_most() {
    let schema = super::schema().to_value();
    let walk = Walk { schema };
    let mut places = BTreeSet::new();
    walk.places(&walk.schema, &mut Vec::new(), &mut places);
    assert!(places.len() > 200, "{} places", places.len());
    for (names, is_table) in &places {
        let file = |count| {
            let value = walk.with(&walk.schema, (names, *is_table), count);
            toml::to_string(&value.unwrap_or_else(|| panic!("{names:?}"))).unwrap()
        };
        let most = file(MOST);
        let read = toml::from_str::<Language>(&most);
        assert!(read.is_ok(), "{names:?}: {}\n{most}", read.unwrap_err());
        let message = Loaded::parse("own", &most).err().map(|error| error.message);
        assert!(!message.unwrap_or_default().contains("entries"), "{names:?}");
        let error = refused(&file(MOST + 1));
        let reason = format!(": {} has 65 entries; the limit is 64", names[names.len() - 1]);
        assert!(
            error.starts_with("line ") && error.ends_with(&reason),
            "{names:?}: {error}"
        );
    }
}

#[test]
fn all_lists_together_have_2048_entries_at_most() {
    let lines = |full: usize, rest: usize| {
        let list = |count: usize| format!("{{ lines = [{}] }}", "\"$.t\",".repeat(count));
        let all = format!("{}{}", format!("{},", list(64)).repeat(full), list(rest));
        file(&format!("say = [{{ text = {{ lines = [{all}] }} }}]"), "")
    };
    // Thirteen entries are those of the file itself; each table in a list counts as two.
    let fits = (1..=64)
        .filter(|rest| Loaded::parse("own", &lines(30, *rest)).is_ok())
        .count();
    let in_all = |rest: usize| 5 + 1 + 2 + 1 + 1 + 1 + 31 * 2 + 30 * 64 + rest;
    assert_eq!(in_all(fits), 2048);
    assert!(refused(&lines(30, fits + 1)).contains("together have more than 2048"));
}

#[test]
fn a_text_has_64_placeholders_at_most() {
    let holes = |count: usize| file(&format!("say = [{{ text = \"{}\" }}]", "{t}".repeat(count)), "");
    assert!(Loaded::parse("own", &holes(64)).is_ok());
    assert_eq!(
        refused(&holes(65)),
        "line 8, column 17: text has 65 placeholders; the limit is 64"
    );
}

#[test]
fn paths_to_messages_inside_a_message_never_lead_to_the_message_itself() {
    let say = "say = [{ text = \"$.t\" }]";
    for (message, more) in [
        (say.to_owned(), "[tree]\nbelow = \"$\""),
        (format!("{say}\nanswers = \"$\""), ""),
        (format!("{say}\nanswers = [\"$.a[*]\", \"$\"]"), ""),
    ] {
        let error = refused(&file(&message, more));
        assert!(
            error.contains("leads to the message itself") && error.contains("column"),
            "{error}"
        );
    }
    for (message, more) in [
        (say.to_owned(), "[tree]\nbelow = \"$[*]\""),
        (format!("{say}\nanswers = [\"$.a[*]\", '$[\"a\"][0]']"), ""),
        // Alternatives and pieces may refer to the message itself.
        (
            format!("{say}\nothers = {{ each = \"$\", say = [{{ each = \"$\", message = \"$\" }}] }}"),
            "",
        ),
    ] {
        assert!(
            Loaded::parse("own", &file(&message, more)).is_ok(),
            "{message}{more}"
        );
    }
}

#[test]
fn an_answer_to_which_several_paths_lead_is_read_once() {
    let message = "say = [{ text = \"$.t\" }]\nanswers = [\"$.a[*]\", \"$.a[0]\", '$[\"a\"][*]']";
    let record = r#"{"m":[{"r":"user","t":"when?","a":[{"r":"user","t":"now"},{"r":"user","t":"later"}]}]}"#;
    let reading = read("answers-once", &file(message, ""), record);
    assert_eq!(texts(&reading), ["when?", "now", "later"]);
}

#[test]
fn a_record_of_which_more_is_made_than_the_budget_is_rejected_at_its_message() {
    let words = "w".repeat(FORMAT_FLOOR / 64);
    let says = |pieces: usize, rest: usize| {
        let piece = |words: &str| format!("{{ text = \"{words}{{t}}\" }},");
        let all = format!("{}{}", piece(&words).repeat(pieces), piece(&"w".repeat(rest)));
        file(&format!("say = [{all}]"), "")
    };
    let record = r#"{"m":[{"r":"user","t":"hi"}]}"#;
    let most = FORMAT_FLOOR + FORMAT_RATIO * record.len();
    let rest = most - 63 * (words.len() + 2) - 2;
    let fits = read("budget-fits", &says(63, rest), record);
    assert_eq!(texts(&fits).iter().map(|text| text.len()).sum::<usize>(), most);
    let beyond = read("budget-beyond", &says(63, rest + 1), record);
    let error = beyond.error.unwrap();
    assert_eq!(error.code.name, "conversation-too-large");
    assert_eq!(error.path, chatmill_diag::Path::Absolute("$.m[0]".to_owned()));
    assert!(
        error.message.contains(&format!("more than {most} bytes")),
        "{}",
        error.message
    );
}

#[test]
fn joins_words_lines_and_kept_fields_count_as_what_is_made_of_a_record() {
    let list = format!("[{}]", vec![r#"{"a":1}"#; 2_000].join(","));
    let long = "w".repeat(2_000);
    let lines = |inner: &str| format!("{{ lines = [{}] }}", format!("{inner},").repeat(25));
    let nested = lines(&lines("\"$.t\""));
    let keeps = "\"$.l\",".repeat(64);
    let record = format!(r#"{{"m":[{{"r":"user","t":"hi","l":{list}}}]}}"#);
    let long_record = format!(r#"{{"m":[{{"r":"user","t":"{}"}}]}}"#, "x".repeat(10_000));
    let answers = format!(
        r#"{{"m":[{{"r":"user","t":"hi","i":"{long}","l":[{}]}}]}}"#,
        vec!["{\"r\":\"user\",\"t\":\"a\"}"; 2_000].join(",")
    );
    let turns = r"\n\nHuman: a\n\nAssistant: b".repeat(500);
    let names = vec!["\"ada\""; 500].join(",");
    let mentions = format!(r#"{{"m":[{{"r":"user","t":"{turns}","l":[{names}]}}]}}"#);
    for (number, (message, record)) in [
        (
            format!("say = [{{ text = {{ each = \"$.l[*]\", lines = [\"$\"], join = \"{long}\" }} }}]"),
            &record,
        ),
        (
            format!("say = [{{ each = \"$.l[*]\", text = \"{long}{{a}}\" }}, {{ text = \"$.t\" }}]"),
            &record,
        ),
        (format!("say = [{{ text = {nested} }}]"), &long_record),
        (format!("say = [{{ reasoning = {nested} }}]"), &long_record),
        (
            format!("say = [{{ text = \"$.t\" }}]\nnotice = {nested}"),
            &long_record,
        ),
        (
            format!("say = [{{ result = {{ content = {nested} }} }}]"),
            &long_record,
        ),
        (format!("say = [{{ text = \"$.t\" }}]\nkeep = [{keeps}]"), &record),
        (format!("say = [{{ text = \"$.t\", keep = [{keeps}] }}]"), &record),
        (
            "id = \"$.i\"\nsay = [{ text = \"$.t\" }]\nanswers = \"$.l[*]\"".to_owned(),
            &answers,
        ),
        (
            "mentions = \"$.l[*]\"\nsay = [{ turns = \"$.t\" }]".to_owned(),
            &mentions,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let reading = read(&format!("grows-{number}"), &file(&message, ""), record);
        let error = reading.error.as_ref().map(|error| error.code.name);
        assert_eq!(error, Some("conversation-too-large"), "{message}");
        assert!(reading.conversation.is_none());
    }
}

#[test]
fn a_message_far_inside_others_has_a_path_that_counts() {
    let key = "k".repeat(250);
    let file = file(
        "say = [{ text = \"$.t\" }]",
        &format!("[tree]\nbelow = \"$.{key}[*]\""),
    );
    let leaves = vec![r#"{"r":"user","t":"a"}"#; 2_000].join(",");
    let record = (0..50).fold(leaves, |below, _| {
        format!(r#"{{"r":"user","t":"a","{key}":[{below}]}}"#)
    });
    let reading = read("far-inside", &file, &format!(r#"{{"m":[{record}]}}"#));
    assert_eq!(reading.error.unwrap().code.name, "conversation-too-large");
    let shallow = format!(
        r#"{{"m":[{{"r":"user","t":"a","{key}":[{{"r":"user","t":"b"}},{{"r":"user","t":"c"}}]}}]}}"#
    );
    let reading = read("far-inside", &file, &shallow);
    assert_eq!(texts(&reading), ["a", "c"]);
}

#[test]
fn roles_of_pieces_inside_pieces_are_their_own() {
    let say = "say = [{ text = \"$.t\" }, { role = \"user\", text = \"$.q\", turns = \"$.p\" }, { role = \"assistant\", text = \"$.a\" }]";
    let turns = r"\n\nHuman: one\n\nAssistant: two";
    let record = format!(r#"{{"m":[{{"r":"system","t":"be","q":"zero","p":"{turns}","a":"three"}}]}}"#);
    let reading = read("roles-inside", &file(say, ""), &record);
    let messages = &reading.conversation.as_ref().unwrap().messages;
    let said: Vec<(&str, usize)> = messages
        .iter()
        .map(|message| (message.role.as_str(), message.parts.len()))
        .collect();
    assert_eq!(said, [("system", 1), ("user", 2), ("assistant", 2)]);
    assert_eq!(texts(&reading), ["be", "zero", "one", "two", "three"]);
}

#[test]
fn a_format_file_names_a_vendor_and_its_own_parts_come_first() {
    let file = file(
        r#"say = [{ parts = "$.c", as = "anthropic" }]"#,
        "[[part]]\nwhen = { \"$.type\" = \"tool_use\" }\ntext = \"$.name\"",
    );
    let record = r#"{"m":[{"r":"user","c":"plain"},{"r":"assistant","c":[
        {"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"a","name":"own"},
        {"type":"image","source":{"type":"url","url":"https://pics.example/a.png"}}]}]}"#;
    let reading = read("own", &file, record);
    let messages = &reading.conversation.as_ref().unwrap().messages;
    assert_eq!(messages[0].parts, [Part::Text("plain".to_owned())]);
    assert_eq!(
        messages[1].parts[..2],
        [Part::Reasoning("hm".to_owned()), Part::Text("own".to_owned())]
    );
    assert!(matches!(messages[1].parts[2], Part::Media(_)));
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
}

#[test]
fn frameworks_are_vendors_of_their_own() {
    let call = |part: &Part| matches!(part, Part::ToolCall(call) if call.name.as_deref() == Some("hours"));
    for (vendor, part, is_read) in [
        (
            "langchain",
            r#"{"type":"tool_use","id":"a","name":"hours","input":{}}"#,
            call as fn(&Part) -> bool,
        ),
        (
            "otel",
            r#"{"type":"tool_call","id":"a","name":"hours","arguments":{}}"#,
            call,
        ),
        (
            "ai-sdk",
            r#"{"type":"tool-call","toolCallId":"a","toolName":"hours","input":{}}"#,
            call,
        ),
        (
            "ai-sdk",
            r#"{"type":"tool-hours","toolCallId":"a","input":{}}"#,
            call,
        ),
        (
            "mistral",
            r#"{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}"#,
            |part| *part == Part::Reasoning("hm".to_owned()),
        ),
        ("otel", r#"{"type":"text","content":"hm"}"#, |part| {
            *part == Part::Text("hm".to_owned())
        }),
    ] {
        let file = file(&format!(r#"say = [{{ parts = "$.c", as = "{vendor}" }}]"#), "");
        let reading = read(
            "own",
            &file,
            &format!(r#"{{"m":[{{"r":"assistant","c":[{part}]}}]}}"#),
        );
        let messages = &reading.conversation.as_ref().unwrap().messages;
        assert!(
            is_read(&messages[0].parts[0]),
            "{vendor}: {:?}",
            messages[0].parts
        );
        assert!(reading.findings.is_empty(), "{vendor}: {:?}", reading.findings);
    }
}

#[test]
fn a_vendors_item_with_definitions_defines_the_tools_of_the_conversation() {
    let file = file(r#"say = [{ message = "$.item", as = "openai-responses" }]"#, "");
    let tool = r#"{"type":"function","name":"hours","parameters":{"type":"object","properties":{}}}"#;
    let record = format!(
        r#"{{"m":[{{"r":"user","item":{{"type":"additional_tools","role":"developer","tools":[{tool}]}}}},
        {{"r":"user","item":{{"role":"user","content":"When?"}}}}]}}"#
    );
    let reading = read("own", &file, &record);
    let tools = &reading.conversation.as_ref().unwrap().tools;
    assert_eq!(tools.as_slice(), [RawJson(tool.to_owned())]);
    assert_eq!(texts(&reading), ["When?"]);
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
}

#[test]
fn an_unknown_vendor_and_one_without_a_list_are_refused_with_their_place() {
    for (say, place, reason) in [
        (
            r#"say = [{ parts = "$.c", as = "antropic" }]"#,
            "line 8, column 30",
            "no vendor is called `antropic`: did you mean `anthropic`?",
        ),
        (
            r#"say = [{ parts = "$.c", as = "langchian" }]"#,
            "line 8, column 30",
            "no vendor is called `langchian`: did you mean `langchain`?",
        ),
        (
            r#"say = [{ text = "$.c", as = "anthropic" }]"#,
            "line 8, column 7",
            "`as` names a vendor: also give the path of its blocks as `parts`, or of its message as `message`",
        ),
    ] {
        let refused = refused(&file(say, ""));
        assert!(refused.contains(place) && refused.contains(reason), "{refused}");
    }
}

#[test]
fn requests_of_gemini_and_whole_messages_of_a_vendor_are_read() {
    let head = "title = \"t\"\nspecification = \"s\"\ncarries = \"c\"\n";
    let request = format!(
        "{head}[request]\nmessages = \"gemini\"\nlist = \"contents\"\nshape = \"g\"\nsystem = \"sys\"\n"
    );
    let record = r#"{"sys":{"parts":[{"text":"be"}]},"contents":[{"role":"user","parts":[{"text":"one"}]},
        {"role":"model","parts":[{"text":"two"}]}]}"#;
    let reading = read("g", &request, record);
    let messages = &reading.conversation.as_ref().unwrap().messages;
    assert_eq!(messages.last().map(|last| last.role.as_str()), Some("assistant"));
    assert_eq!(texts(&reading)[1..], ["one", "two"]);

    let whole = file(r#"say = [{ message = "$", as = "openai-chat" }]"#, "");
    let record =
        r#"{"m":[{"r":"assistant","role":"assistant","reasoning":"hm","content":"three","note":1}]}"#;
    let reading = read("w", &whole, record);
    let message = &reading.conversation.as_ref().unwrap().messages[0];
    assert_eq!(message.parts[0], Part::Reasoning("hm".to_owned()));
    assert_eq!(texts(&reading), ["three"]);
    assert!(message.extra.0.is_empty(), "{:?}", message.extra);
}
