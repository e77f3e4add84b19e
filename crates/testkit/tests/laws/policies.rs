//! Every value of every policy, in whole runs over the formats of several systems; and the perspectives of a run.
//!
//! The inputs are small conversations in the forms of Group Chat Format, a captured prompt of gryag, Suna's list of
//! messages and its rows, and events of a Jaibber workspace. The tests of the dialects cover the output of each dialect
//! by policy.

use std::fs;

use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;
use chatmill_workshop::rows::{flags, texts};

const ROOM: &str = r#"{"version":"1.0.0","conversation_meta":{"scene":"group_chat","name":"Ferry","group_id":"ferry","user_details":{
"p1":{"full_name":"Nadia Rahal","role":"user"},"p2":{"full_name":"Björn","role":"user"},
"b1":{"full_name":"Scout","role":"assistant","instructions":"Scout is brief."}}},
"conversation_list":[
{"message_id":"m1","create_time":"2026-06-01T00:01:00Z","sender":"p1","type":"text","content":"When? <|im_end|>","refer_list":[]},
{"message_id":"m2","create_time":"2026-06-01T00:02:00Z","sender":"p2","type":"image","content":"https://example.org/pier.png","refer_list":[]},
{"message_id":"m3","create_time":"2026-06-01T00:03:00Z","sender":"b1","type":"text","content":"At nine. [meta] user_id=1 name=\"x\" done","refer_list":[],
 "extra":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"timetable","arguments":"{}"}}]}},
{"message_id":"m4","create_time":"2026-06-01T00:04:00Z","sender":"p2","type":"text","content":"Why so late?","refer_list":["m3"]},
{"message_id":"m5","create_time":"2026-06-01T00:05:00Z","sender":"b1","role":"tool","type":"text","content":"lost and found","refer_list":[],
 "extra":{"tool_call_id":"c9","name":"timetable"}},
{"message_id":"m6","create_time":"2026-06-01T00:06:00Z","sender":"b1","type":"text","content":"The tide.","refer_list":[]}]}"#;

const PROMPT: &str = r#"{"system_instruction":"You keep the timetable.","contents":[
{"role":"user","parts":[{"text":"[meta] chat_id=-100700 message_id=1 user_id=70010011 name=\"Nadia Rahal\""},{"text":"When? <|im_end|>"}]},
{"role":"user","parts":[{"text":"[meta] chat_id=-100700 message_id=2 user_id=70020022 name=\"Björn\""},{"text":"See"},
 {"inline_data":{"mime_type":"image/png","data":"aGkh"}}]},
{"role":"model","parts":[{"text":"[meta] chat_id=-100700 message_id=3 name=\"Scout\" username=\"scout_bot\""},{"text":"At nine. [meta] user_id=1 name=\"x\" done"}]},
{"role":"user","parts":[{"text":"[meta] chat_id=-100700 message_id=4 user_id=70020022 name=\"Björn\" reply_to_message_id=3 reply_to_name=\"Scout\" reply_excerpt=\"At nine.\""},{"text":"Why so late?"}]},
{"role":"model","parts":[{"text":"[meta] chat_id=-100700 message_id=5 name=\"Scout\" username=\"scout_bot\""},{"text":"The tide."}]}]}"#;

const LIST: &str = r#"[{"role":"system","content":"You keep the timetable.","message_id":"a0"},
{"role":"user","content":"When?","message_id":"a1"},
{"role":"assistant","content":"One moment.","reasoning_content":"The tide decides.","message_id":"a2",
 "tool_calls":[{"id":"c1","type":"function","function":{"name":"timetable","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c9","name":"timetable","content":"lost and found","message_id":"a3"},
{"role":"assistant","content":"At nine.","message_id":"a4"}]"#;

const REQUEST: &str = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"When?"}]},
{"role":"assistant","content":[{"type":"thinking","thinking":"The tide decides.","signature":"c2ln"},{"type":"text","text":"At nine."}]}]}"#;

/// A run over one conversation in one dialect: contents, verdicts, codes of losses.
struct Run {
    contents: Vec<String>,
    valid: Vec<bool>,
    codes: Vec<String>,
    perspectives: Vec<String>,
}

impl Run {
    fn of(conversation: &str, dialect: &str, settings: &str) -> Self {
        let test_dir = TestDir::new();
        test_dir.write("in/story.json", conversation);
        let more = format!("[count]\nencodings = []\n[render]\ndialects = [{dialect:?}]\n{settings}\n");
        let summary = test_dir.run("out", &more, 1).unwrap();
        assert_eq!(summary.totals.conversations, 1, "{conversation}");
        let out = test_dir.path("out");
        let column = |table: &str, name: &str| texts(&out, table, name).into_iter().flatten().collect();
        Self {
            contents: column("renderings", "content"),
            valid: flags(&out, "renderings", "valid").into_iter().flatten().collect(),
            codes: column("losses", "code"),
            perspectives: column("renderings", "perspective"),
        }
    }

    fn policy(conversation: &str, dialect: &str, policy: &str) -> Self {
        let run = Self::of(conversation, dialect, &format!("[policy]\n{policy}"));
        assert_eq!(run.contents.len(), 1);
        run
    }

    fn has(&self, part: &str) -> bool {
        self.contents[0].contains(part)
    }

    fn lost(&self, code: &str) -> bool {
        self.codes.iter().any(|found| found == code)
    }
}

#[test]
fn policy_names_puts_names_into_the_field_the_text_or_nowhere() {
    for story in [ROOM, PROMPT] {
        for (value, field, prefix) in [
            ("auto", true, false),
            ("field", true, false),
            ("prefix", false, true),
            ("drop", false, false),
        ] {
            let run = Run::policy(story, "openai-chat", &format!("names = {value:?}"));
            assert_eq!(run.has(r#""name":"Nadia_Rahal""#), field, "{value}");
            assert_eq!(run.has("Nadia Rahal: When?"), prefix, "{value}");
            assert_eq!(run.lost("name-aliased"), field, "{value}");
            assert_eq!(run.lost("name-inlined"), prefix, "{value}");
            let run = Run::policy(story, "anthropic-messages", &format!("names = {value:?}"));
            let prefix = matches!(value, "auto" | "prefix");
            assert_eq!(run.has("Nadia Rahal: When?"), prefix, "{value}");
        }
    }
}

#[test]
fn policy_references_quotes_marks_or_drops_replies() {
    for story in [ROOM, PROMPT] {
        for (value, quoted, code) in [
            ("quote", true, "reference-inlined"),
            ("excerpt", true, "reference-inlined"),
            ("mark", false, "reference-inlined"),
            ("drop", false, "reference-dropped"),
        ] {
            let run = Run::policy(story, "openai-chat", &format!("references = {value:?}"));
            assert_eq!(run.has(r#"You said earlier: \"At nine."#), quoted, "{value}");
            assert!(run.lost(code), "{value}");
        }
    }
}

#[test]
fn policy_media_keeps_replaces_or_drops_media() {
    for (story, dialect, carried) in [
        (ROOM, "openai-chat", r#""url":"https://example.org/pier.png""#),
        (PROMPT, "gemini-contents", r#""data":"aGkh""#),
    ] {
        for (value, is_carried, named, code) in [
            ("keep", true, false, None),
            ("placeholder", false, true, Some("media-placeholder")),
            ("drop", false, false, Some("media-dropped")),
        ] {
            let run = Run::policy(story, dialect, &format!("media = {value:?}"));
            assert_eq!(run.has(carried), is_carried, "{dialect} {value}");
            assert_eq!(run.has("[Image"), named, "{dialect} {value}");
            assert!(code.is_none_or(|code| run.lost(code)), "{dialect} {value}");
        }
    }
}

#[test]
fn policy_reasoning_keeps_or_drops_thoughts() {
    for story in [LIST, REQUEST] {
        for dialect in ["hf-messages", "chatml", "sharegpt"] {
            for (value, kept) in [("keep", true), ("drop", false)] {
                let run = Run::policy(story, dialect, &format!("reasoning = {value:?}"));
                assert_eq!(run.has("The tide decides."), kept, "{dialect} {value}");
                assert_eq!(run.lost("reasoning-dropped"), !kept, "{dialect} {value}");
            }
        }
    }
}

#[test]
fn policy_orphans_repairs_keeps_or_drops_unpaired_calls() {
    for story in [ROOM, LIST] {
        for dialect in ["openai-chat", "anthropic-messages", "gemini-contents"] {
            for (value, calls, results, valid, codes) in [
                (
                    "repair",
                    true,
                    true,
                    true,
                    ["missing-result-synthesised", "orphan-result-inlined"],
                ),
                (
                    "drop",
                    false,
                    false,
                    true,
                    ["tool-call-dropped", "orphan-result-dropped"],
                ),
                ("reject", true, true, false, ["", ""]),
            ] {
                let run = Run::policy(story, dialect, &format!("orphans = {value:?}"));
                assert_eq!(run.has(r#""timetable""#), calls, "{dialect} {value}");
                assert_eq!(run.has("lost and found"), results, "{dialect} {value}");
                assert_eq!(run.has("no result was recorded"), value == "repair", "{dialect}");
                assert_eq!(run.valid, [valid], "{dialect} {value}");
                for code in codes.into_iter().filter(|code| !code.is_empty()) {
                    assert!(run.lost(code), "{dialect} {value} {code}");
                }
            }
        }
    }
}

#[test]
fn policy_system_takes_system_text_from_source_agent_or_nowhere() {
    for story in [PROMPT, LIST] {
        for (value, kept) in [("source", true), ("agent", false), ("none", false)] {
            let run = Run::policy(story, "openai-chat", &format!("system = {value:?}"));
            assert_eq!(run.has("You keep the timetable."), kept, "{value}");
            assert_eq!(run.lost("system-dropped"), !kept, "{value}");
        }
    }
    // Instructions are in the rosters of Group Chat and Jaibber.
    let live = fs::read_to_string(samples().join("sources/jaibber-events/live.json")).unwrap();
    for (story, instructions) in [(ROOM, "Scout is brief."), (live.as_str(), "")] {
        for (value, said) in [("source", false), ("agent", true), ("none", false)] {
            let run = Run::of(
                story,
                "openai-chat",
                &format!("[policy]\nsystem = {value:?}\n[perspective]\nas = \"each-agent\""),
            );
            assert_eq!(run.lost("system-added"), said, "{value}");
            assert!(!said || run.has(instructions), "{value}");
        }
    }
}

#[test]
fn policy_control_tokens_escapes_or_keeps_special_tokens() {
    for story in [ROOM, PROMPT] {
        for (value, written, valid, code) in [
            (
                "escape",
                "When? <\u{200b}|im_end|>",
                true,
                "reserved-text-escaped",
            ),
            ("keep", "When? <|im_end|>", false, "special-token-in-text"),
        ] {
            let run = Run::policy(story, "chatml", &format!("control_tokens = {value:?}"));
            assert!(run.has(written), "{value}: {}", run.contents[0]);
            assert_eq!(run.valid, [valid], "{value}");
            assert!(run.lost(code), "{value}");
        }
    }
}

#[test]
fn policy_leaked_metadata_removes_or_keeps_ids_in_text() {
    for story in [ROOM, PROMPT] {
        for (value, kept) in [("clean", false), ("keep", true)] {
            let run = Run::policy(story, "openai-chat", &format!("leaked_metadata = {value:?}"));
            assert_eq!(run.has("user_id=1"), kept, "{value}");
            assert_eq!(run.lost("leaked-metadata-removed"), !kept, "{value}");
        }
    }
}

#[test]
fn policy_compressed_shows_messages_as_sent_or_as_stored() {
    let rows = fs::read_to_string(samples().join("sources/suna-rows/compressed.json")).unwrap();
    let page = format!(r#"{{"messages":{rows},"pagination":{{"total":9}}}}"#);
    for story in [&rows, &page] {
        for dialect in ["suna-llm", "anthropic-messages"] {
            let sent = Run::policy(story, dialect, "compressed = \"as-sent\"");
            let stored = Run::policy(story, dialect, "compressed = \"stored\"");
            assert!(sent.has("A long question (truncated)..."), "{}", sent.contents[0]);
            assert!(stored.has("A long question about glazes (truncated)..."));
            assert!(sent.lost("truncated") && !stored.lost("truncated"), "{dialect}");
        }
    }
}

#[test]
fn each_agent_speaks_as_the_assistant_once() {
    for case in ["two-bots-take-turns", "two-bots-call-at-once", "only-bots"] {
        let room = fs::read_to_string(samples().join(format!("torture/{case}.json"))).unwrap();
        for dialect in [
            "openai-chat",
            "anthropic-messages",
            "gemini-contents",
            "gryag-compact",
            "chatml",
        ] {
            let run = Run::of(&room, dialect, "[perspective]\nas = \"each-agent\"");
            assert_eq!(run.perspectives, ["b1", "b2"], "{case} {dialect}");
            assert_ne!(run.contents[0], run.contents[1], "{case} {dialect}");
            assert_eq!(run.valid, [true, true], "{case} {dialect}");
        }
        // A dialect without perspectives has one rendering.
        let run = Run::of(&room, "group-chat", "[perspective]\nas = \"each-agent\"");
        assert_eq!(run.perspectives, [""], "{case}");
    }
    let room = fs::read_to_string(samples().join("torture/two-bots-take-turns.json")).unwrap();
    let run = Run::of(&room, "openai-chat", "[perspective]\nas = \"each-agent\"");
    for (content, own, other) in [
        (&run.contents[0], "And I never forget.", r#""name":"Ledger""#),
        (&run.contents[1], "You do.", r#""name":"Scout""#),
    ] {
        assert!(
            content.contains(&format!(r#"{{"role":"assistant","content":"{own}""#)),
            "{content}"
        );
        assert!(content.contains(other), "{content}");
    }
}

#[test]
fn perspectives_are_all_agents_none_or_named_participants() {
    for story in [ROOM, PROMPT] {
        let everybody = Run::of(story, "openai-chat", "[perspective]\nas = \"each-participant\"");
        assert!(everybody.perspectives.len() >= 3, "{:?}", everybody.perspectives);
        let nobody = Run::of(story, "openai-chat", "[perspective]\nas = \"none\"");
        assert_eq!(nobody.perspectives, [""]);
        assert!(!nobody.has(r#""role":"assistant""#));
        let named = Run::of(
            story,
            "openai-chat",
            "[perspective]\nas = [\"Nadia Rahal\", \"nobody\"]",
        );
        assert_eq!(named.perspectives.len(), 1);
        assert!(named.has(r#"{"role":"assistant","content":"When? "#));
    }
}
