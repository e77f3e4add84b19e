//! Suna's database rows of generated conversations.

use serde_json::Value;

use crate::chat::Out;
use crate::properties::each_of;

fn rows(out: &Out) -> Vec<Value> {
    serde_json::from_str(&out.text).unwrap()
}

fn content(row: &Value) -> Value {
    serde_json::from_str(row["content"].as_str().unwrap()).unwrap()
}

#[test]
fn every_generated_row_reads_as_json_and_no_id_stands_twice() {
    each_of(&["suna-rows"], |_, seed, _, chat, out| {
        let rows = rows(&out);
        let mut ids: Vec<&str> = rows
            .iter()
            .map(|row| row["message_id"].as_str().unwrap())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rows.len(), "{seed}: {}", out.text);
        for row in &rows {
            let body = content(row);
            assert_eq!(body["role"], row["type"], "{seed}");
            assert!(matches!(
                body["content"],
                Value::String(_) | Value::Array(_) | Value::Null
            ));
        }
        assert!(out.messages as usize <= chat.linked.conversation.messages.len());
        assert_eq!(out.violations, Vec::<String>::new());
    });
}
