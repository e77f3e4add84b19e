//! A temporary folder with inputs, and the slices cut from them.

use std::fs;
use std::sync::atomic::AtomicBool;

use crate::plan::typed_in_tests;
use crate::slice::records::{Item, ReadRecord, Record};
use crate::slice::{CutTotals, Slice, Slicer};
use crate::{Progress, Silent};
use chatmill_diag::Limits;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder that is removed after the test.
pub(crate) struct TestDir(TempDir);

/// Slices, and the counts taken while they were cut.
pub(crate) struct Cut {
    pub slices: Vec<Slice>,
    pub totals: CutTotals,
}

impl TestDir {
    /// Creates a folder with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Cuts all files into slices of this many bytes; records after the first `limit` are filtered.
    pub(crate) fn cut(&self, slice_bytes: usize, limit: Option<u64>, limits: &Limits) -> Cut {
        self.cut_with(slice_bytes, limit, limits, &Silent)
    }

    /// Does the same and reports progress.
    pub(crate) fn cut_with(
        &self,
        slice_bytes: usize,
        limit: Option<u64>,
        limits: &Limits,
        progress: &dyn Progress,
    ) -> Cut {
        let inputs = typed_in_tests(&[self.path("")]);
        let (stop, spill) = (AtomicBool::new(false), self.0.path().join("spill"));
        let mut cutter = Slicer::new(&inputs, limits, slice_bytes, limit, spill, &stop, progress);
        let slices = std::iter::from_fn(|| cutter.next_slice()).collect();
        assert!(cutter.failure.is_none());
        Cut {
            slices,
            totals: cutter.cut_totals,
        }
    }

    /// Cuts a folder with one file into one slice.
    pub(crate) fn only(name: &str, text: &str) -> Slice {
        let mut cut = Self::new(&[(name, text)]).cut(1 << 20, None, &Limits::default());
        let last = cut.slices.pop().unwrap();
        // If rows are grouped, the slice before them has no records.
        assert!(cut.slices.iter().all(|slice| records(slice).is_empty()));
        last
    }
}

/// Returns the records of a slice.
pub(crate) fn records(slice: &Slice) -> Vec<Record<'_>> {
    let record = |(_, item)| match item {
        Item::Record(record) => Some(record),
        _ => None,
    };
    slice.items().filter_map(record).collect()
}

/// Reads the only record of a slice.
pub(crate) fn read<'s>(slice: &'s Slice, limits: &'s Limits) -> ReadRecord<'s> {
    let [record] = records(slice)[..] else {
        panic!("{} records", records(slice).len())
    };
    record.read(crate::record::Settings::plain(limits)).remove(0)
}

/// Returns a request with one message, as a line.
pub(crate) fn request(text: &str) -> String {
    json!({"messages": [{"role": "user", "content": text}]}).to_string() + "\n"
}

/// Returns a row of a thread, as a line.
pub(crate) fn row(thread: &str, id: &str, text: &str) -> String {
    let row = json!({
        "message_id": id,
        "thread_id": thread,
        "type": "user",
        "is_llm_message": true,
        "content": {"role": "user", "content": text},
        "metadata": {},
        "created_at": "2026-01-01T00:00:00+00:00",
    });
    row.to_string() + "\n"
}

/// Returns a group chat with one message per line, from the third line on.
pub(crate) fn chat(messages: &[Value]) -> String {
    let list: Vec<String> = messages.iter().map(Value::to_string).collect();
    format!(
        "{{\"version\":\"1.0.0\",\"conversation_meta\":{{\"group_id\":\"g\",\"name\":\"N\",\"scene\":\"group_chat\",\"scene_desc\":{{}},\
         \"user_details\":{{\"u\":{{\"full_name\":\"Ann\",\"role\":\"user\"}}}}}},\n\"conversation_list\":[\n{}\n]}}",
        list.join(",\n")
    )
}

/// Returns a message of such a chat.
pub(crate) fn message(id: &str, refers: &[&str]) -> Value {
    json!({
        "message_id": id, "create_time": "2026-01-01T00:00:00Z", "sender": "u", "role": "user", "type": "text",
        "content": id, "refer_list": refers,
    })
}
