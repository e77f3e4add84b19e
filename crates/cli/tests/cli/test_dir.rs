//! Common parts of the tests: chats for a test folder, and the command.

use std::path::PathBuf;

use assert_cmd::Command;
use chatmill_workshop::TestDir;
use serde_json::{Value, json};

/// What tests of the command line do in a test folder.
pub(crate) trait RunChatmill {
    /// A pipeline over `in/*` into `out`, with two dialects and one encoding.
    fn pipeline(&self) -> PathBuf;

    /// The command, working in this folder.
    fn chatmill(&self, arguments: &[&str]) -> Command;
}

impl RunChatmill for TestDir {
    fn pipeline(&self) -> PathBuf {
        self.write("pipeline.toml", include_str!("../cases/files/pipeline.toml"))
    }

    fn chatmill(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        // As wide as a file, whatever the width of the terminal in which the tests run.
        command
            .current_dir(self.path(""))
            .env_remove("COLUMNS")
            .args(arguments);
        command
    }
}

pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_chatmill")
}

/// The output of a command, and its exit code.
pub(crate) struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

pub(crate) fn end(mut command: Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

/// A group chat with two people and a bot, and the messages `(id, sender, text)`.
pub(crate) fn chat(id: &str, messages: &[(&str, &str, &str)]) -> Value {
    let list: Vec<Value> = messages
        .iter()
        .enumerate()
        .map(|(index, (message, sender, text))| {
            json!({
                "message_id": message,
                "create_time": format!("2026-01-02T03:04:{:02}Z", index % 60),
                "sender": sender,
                "role": if *sender == "bot_1" { "assistant" } else { "user" },
                "type": "text",
                "content": text,
            })
        })
        .collect();
    json!({
        "version": "1.0.0",
        "conversation_meta": {
            "scene": "group_chat",
            "scene_desc": {},
            "name": "Allotment",
            "default_timezone": "UTC",
            "group_id": id,
            "user_details": {
                "user_1": {"full_name": "Ada", "role": "user"},
                "user_2": {"full_name": "Ben", "role": "user"},
                "bot_1": {"full_name": "Mill", "role": "assistant"},
            },
        },
        "conversation_list": list,
    })
}

/// A small chat without a finding.
pub(crate) fn good_chat(id: &str) -> Value {
    let messages = [
        ("m1", "user_1", "When do we water the beans?"),
        ("m2", "bot_1", "At six."),
        ("m3", "user_2", "I bring the can."),
    ];
    chat(id, &messages)
}

/// A chat with a second message that replies to a missing message.
pub(crate) fn dangling_chat(id: &str) -> Value {
    let mut chat = good_chat(id);
    chat["conversation_list"][2]["refer_list"] = json!(["nowhere"]);
    chat
}
