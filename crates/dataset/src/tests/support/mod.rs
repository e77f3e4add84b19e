//! A small dataset for tests. Every field of a full row contains the name of its column, so that a column with the
//! value of another field is noticed at once.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::rows::*;
use crate::{
    Compression, DatasetError, FORMAT, InputEntry, Manifest, Opening, PartFile, PartSet, Partition, Receipt,
    Sealed, Staging, TableOptions, absent_tables, claim,
};
use tempfile::TempDir;

pub(crate) use self::listing::*;

mod listing;

pub(crate) const INPUT: &str = "input";

pub(crate) fn options() -> TableOptions {
    TableOptions {
        encodings: vec!["o200k_base".to_owned(), "cl100k_base".to_owned()],
        compression: Compression::parse("zstd(3)").unwrap(),
        partition: Partition::None,
        absent: Vec::new(),
    }
}

/// The options of a run that writes these tables and those that are always written.
pub(crate) fn only(tables: &[&str]) -> TableOptions {
    let wanted: Vec<String> = tables.iter().map(|table| text(table)).collect();
    TableOptions {
        absent: absent_tables(&wanted),
        ..options()
    }
}

pub(crate) fn text(name: &str) -> String {
    name.to_owned()
}

/// A number that identifies the column it belongs to.
pub(crate) fn number(name: &str) -> u32 {
    name.bytes()
        .fold(7, |sum, byte| (sum * 31 + u32::from(byte)) % 1_000_003)
}

fn long(name: &str) -> u64 {
    number(name).into()
}

/// Rows borrow their texts; the texts of tests are leaked.
fn texts(name: &str) -> &'static [String] {
    vec![text(name), format!("{name} again")].leak()
}

fn tokens(prefix: &str) -> &'static [u64] {
    let encodings = ["o200k_base", "cl100k_base"].iter();
    let tokens = encodings.map(|encoding| long(&format!("{prefix}{encoding}")));
    tokens.collect::<Vec<u64>>().leak()
}

pub(crate) fn conversation(parts: &mut PartSet) -> ConversationRow<'static> {
    ConversationRow {
        conversation_id: parts.key("conversation_id"),
        source_conversation_id: Some("source_conversation_id"),
        source: "source",
        format_version: Some("format_version"),
        format_shape: Some("format_shape"),
        input: INPUT,
        entry: "entry",
        record: long("record"),
        title: Some("title"),
        description: Some("description"),
        model: Some("model"),
        scene: "scene",
        message_count: long("message_count"),
        participant_count: long("participant_count"),
        started_at: Some(number("started_at").into()),
        ended_at: Some(number("ended_at").into()),
        participants: vec![participant(), ParticipantCell::default()].leak(),
        tools: Some("tools"),
        extra: Some("extra"),
        content_hash: "content_hash",
        cluster: Some("cluster"),
        duplicate: Some("duplicate"),
    }
}

fn participant() -> ParticipantCell<'static> {
    ParticipantCell {
        id: "id",
        name: Some("name"),
        alias: Some("alias"),
        role: Some("role"),
        kind: "kind",
        listed: true,
        is_id_made: true,
        custom_role: Some("custom_role"),
        department: Some("department"),
        email: Some("email"),
        extra: Some("extra"),
    }
}

pub(crate) fn message(parts: &mut PartSet) -> MessageRow<'static> {
    MessageRow {
        conversation_id: parts.key("conversation_id"),
        position: long("position"),
        message_id: Some("message_id"),
        sender_id: Some("sender_id"),
        sender_name: Some("sender_name"),
        role: "role",
        kind: "kind",
        source_type: Some("source_type"),
        created_at: Some(number("created_at").into()),
        created_at_raw: Some("created_at_raw"),
        text: "text",
        parts: Some("parts"),
        mentions: texts("mentions"),
        weight: Some(number("weight").into()),
        model: Some("model"),
        usage_input: Some(long("usage_input")),
        usage_cached_input: Some(long("usage_cached_input")),
        usage_cache_write: Some(long("usage_cache_write")),
        usage_cache_write_1h: Some(long("usage_cache_write_1h")),
        usage_output: Some(long("usage_output")),
        usage_searches: Some(long("usage_searches")),
        usage_requests: Some(long("usage_requests")),
        usage_tier: Some("usage_tier"),
        logged_cost: Some(number("logged_cost").into()),
        answer_id: Some("answer_id"),
        extra: Some("extra"),
        byte_start: long("byte_start"),
        byte_end: long("byte_end"),
        tokens: tokens("tokens_"),
    }
}

pub(crate) fn alternative(parts: &mut PartSet) -> AlternativeRow<'static> {
    AlternativeRow {
        conversation_id: parts.key("conversation_id"),
        position: long("position"),
        ordinal: long("ordinal"),
        step: long("step"),
        origin: "origin",
        in_conversation: true,
        rank: Some(long("rank")),
        score: Some(number("score").into()),
        label: Some(true),
        message_id: Some("message_id"),
        sender_id: Some("sender_id"),
        sender_name: Some("sender_name"),
        role: "role",
        kind: "kind",
        created_at: Some(number("created_at").into()),
        text: "text",
        parts: Some("parts"),
        model: Some("model"),
        extra: Some("extra"),
        byte_start: long("byte_start"),
        byte_end: long("byte_end"),
    }
}

pub(crate) fn reference(parts: &mut PartSet) -> ReferenceRow<'static> {
    ReferenceRow {
        conversation_id: parts.key("conversation_id"),
        position: long("position"),
        message_id: Some("message_id"),
        ordinal: long("ordinal"),
        path: "path",
        target_id: Some("target_id"),
        target_position: Some(long("target_position")),
        status: "status",
        same_sender: true,
        preview: Some("preview"),
        quoted: Some("quoted"),
    }
}

pub(crate) fn tool_call(parts: &mut PartSet) -> ToolCallRow<'static> {
    ToolCallRow {
        conversation_id: parts.key("conversation_id"),
        call_id: Some("call_id"),
        name: Some("name"),
        arguments: Some("arguments"),
        arguments_valid: Some(true),
        call_position: Some(long("call_position")),
        result_position: Some(long("result_position")),
        result: Some("result"),
        is_error: Some(true),
        status: "status",
        paired_by: Some("paired_by"),
    }
}

pub(crate) fn rendering(parts: &mut PartSet) -> RenderingRow<'static> {
    RenderingRow {
        conversation_id: parts.key("conversation_id"),
        dialect: parts.key("dialect"),
        profile: parts.key("profile"),
        perspective: parts.key("perspective"),
        ordinal: long("ordinal"),
        media_type: parts.key("media_type"),
        content: "content".into(),
        bytes: long("bytes"),
        tokens: tokens("tokens_"),
        requests: long("requests"),
        sent_tokens: tokens("sent_tokens_"),
        coverage: "coverage",
        first_position: Some(long("first_position")),
        last_position: Some(long("last_position")),
        messages_rendered: long("messages_rendered"),
        last_role: Some("last_role"),
        assistant_messages: long("assistant_messages"),
        assistant_spans: vec![long("start")..long("end"), 0..0].leak(),
        learned_spans: vec![long("start")..long("end"), 0..0].leak(),
        loss_count: long("loss_count"),
        loss_codes: [parts.key("loss_codes"), parts.key("loss_codes again")]
            .to_vec()
            .leak(),
        valid: true,
        violations: texts("violations"),
    }
}

pub(crate) fn token_count(parts: &mut PartSet) -> TokenCountRow<'static> {
    TokenCountRow {
        conversation_id: parts.key("conversation_id"),
        dialect: parts.key("dialect"),
        profile: parts.key("profile"),
        perspective: parts.key("perspective"),
        ordinal: long("ordinal"),
        encoding: parts.key("encoding"),
        tokens: long("tokens"),
        content: long("content"),
        names: long("names"),
        framing: long("framing"),
        tools: long("tools"),
        replies: long("replies"),
        meta: long("meta"),
        assistant_content: long("assistant_content"),
        written: long("written"),
    }
}

pub(crate) fn total() -> TotalRow<'static> {
    TotalRow {
        source: "source",
        day: Some("day"),
        model: Some("model"),
        dialect: "dialect",
        profile: "profile",
        encoding: "encoding",
        coverage: "coverage",
        conversations: long("conversations"),
        renderings: long("renderings"),
        messages_rendered: long("messages_rendered"),
        bytes: long("bytes"),
        tokens: long("tokens"),
        content: long("content"),
        names: long("names"),
        framing: long("framing"),
        tools: long("tools"),
        replies: long("replies"),
        meta: long("meta"),
        assistant_content: long("assistant_content"),
        requests: long("requests"),
        tokens_sent: long("tokens_sent"),
        written: long("written"),
        logged_requests: long("logged_requests"),
        logged_input: long("logged_input"),
        logged_cached_input: long("logged_cached_input"),
        logged_cache_write: long("logged_cache_write"),
        logged_cache_write_1h: long("logged_cache_write_1h"),
        logged_output: long("logged_output"),
        logged_searches: long("logged_searches"),
        logged_cost_requests: long("logged_cost_requests"),
        logged_cost: Some(number("logged_cost").into()),
        p50: long("p50"),
        p95: long("p95"),
        p99: long("p99"),
        invalid: long("invalid"),
        losses: long("losses"),
    }
}

pub(crate) fn loss(parts: &mut PartSet) -> LossRow<'static> {
    LossRow {
        conversation_id: parts.key("conversation_id"),
        dialect: parts.key("dialect"),
        profile: parts.key("profile"),
        perspective: parts.key("perspective"),
        ordinal: long("ordinal"),
        code: parts.key("code"),
        reason: parts.key("reason"),
        amount: long("amount"),
        positions: vec![number("positions"), 0].leak(),
    }
}

pub(crate) fn finding() -> FindingRow<'static> {
    FindingRow {
        code: "code",
        name: "name",
        severity: "severity",
        count: long("count"),
        key: "key",
        input: INPUT,
        entry: "entry",
        record: Some(long("record")),
        conversation_id: Some("conversation_id"),
        position: Some(long("position")),
        message_id: Some("message_id"),
        line_number: Some(long("line_number")),
        column_number: Some(long("column_number")),
        byte_start: Some(long("byte_start")),
        byte_end: Some(long("byte_end")),
        json_path: Some("json_path"),
        message: "message",
        help: "help",
    }
}

pub(crate) fn reject() -> RejectRow<'static> {
    RejectRow {
        input: INPUT,
        entry: "entry",
        record: long("record"),
        level: "level",
        byte_start: long("byte_start"),
        byte_end: long("byte_end"),
        frame_hash: "frame_hash",
        code: "code",
        message: "message",
        head: b"head",
    }
}

/// Pushes one full row into every table.
pub(crate) fn push_full(parts: &mut PartSet) {
    let row = conversation(parts);
    parts.push_conversation(row).unwrap();
    let row = message(parts);
    parts.push_message(row).unwrap();
    let row = alternative(parts);
    parts.push_alternative(row).unwrap();
    let row = reference(parts);
    parts.push_reference(row).unwrap();
    let row = tool_call(parts);
    parts.push_tool_call(row).unwrap();
    let row = rendering(parts);
    parts.push_rendering(row).unwrap();
    let row = token_count(parts);
    parts.push_token_count(row).unwrap();
    parts.push_total(total()).unwrap();
    let row = loss(parts);
    parts.push_loss(row).unwrap();
    parts.push_finding(finding()).unwrap();
    parts.push_reject(reject()).unwrap();
}

/// Pushes one row into every table, without values in the nullable columns.
pub(crate) fn push_sparse(parts: &mut PartSet) {
    let zeros = &[0, 0];
    parts.push_conversation(ConversationRow::default()).unwrap();
    parts
        .push_message(MessageRow {
            tokens: zeros,
            ..Default::default()
        })
        .unwrap();
    parts.push_alternative(AlternativeRow::default()).unwrap();
    parts.push_reference(ReferenceRow::default()).unwrap();
    parts.push_tool_call(ToolCallRow::default()).unwrap();
    parts
        .push_rendering(RenderingRow {
            tokens: zeros,
            sent_tokens: zeros,
            ..Default::default()
        })
        .unwrap();
    parts.push_token_count(TokenCountRow::default()).unwrap();
    parts.push_total(TotalRow::default()).unwrap();
    parts.push_loss(LossRow::default()).unwrap();
    parts.push_finding(FindingRow::default()).unwrap();
    parts.push_reject(RejectRow::default()).unwrap();
}

pub(crate) fn work(out: &Path, fingerprint: &str) -> Staging {
    match open(out, fingerprint, false).unwrap() {
        Opening::Work(staging) => staging,
        Opening::Finished(_) => panic!("{} is finished already", out.display()),
    }
}

pub(crate) fn replacing_work(out: &Path, fingerprint: &str) -> Staging {
    match open(out, fingerprint, true).unwrap() {
        Opening::Work(staging) => staging,
        Opening::Finished(_) => panic!("{} is finished already", out.display()),
    }
}

/// Writes a slice with one conversation, its message and one rejected frame.
pub(crate) fn write_slice(staging: &Staging, slice: u32) -> Vec<PartFile> {
    write_slice_with_id(staging, slice, &format!("conversation {slice}"))
}

/// Writes such a slice with another conversation id.
pub(crate) fn write_slice_with_id(staging: &Staging, slice: u32, id: &str) -> Vec<PartFile> {
    let mut parts = staging.parts(slice, &options()).unwrap();
    let conversation_id = parts.key(id);
    let row = ConversationRow {
        conversation_id,
        ..conversation(&mut parts)
    };
    parts.push_conversation(row).unwrap();
    let row = MessageRow {
        conversation_id,
        ..message(&mut parts)
    };
    parts.push_message(row).unwrap();
    parts
        .push_reject(RejectRow {
            level: "frame",
            ..reject()
        })
        .unwrap();
    let files = parts.close().unwrap();
    staging
        .commit(slice, &files, &format!("body of slice {slice}"))
        .unwrap();
    files
}

/// The manifest of slices that [`write_slice`] wrote.
pub(crate) fn manifest(fingerprint: &str, slices: u64) -> Manifest {
    Manifest {
        program: text("chatmill"),
        version: text("0.0.0"),
        format: FORMAT,
        fingerprint: text(fingerprint),
        plan: serde_json::json!({"name": "test", "count": {"encodings": ["o200k_base", "cl100k_base"]}}),
        shards: Vec::new(),
        inputs: std::iter::once(InputEntry {
            path: text(INPUT),
            hash: Some(text("hash")),
            entries: 1,
            framed: 2 * slices,
            accepted: slices,
            rejected: slices,
            conversations: slices,
            decoded_bytes: 30 * slices,
            accepted_bytes: 20 * slices,
            rejected_bytes: 7 * slices,
            separator_bytes: 3 * slices,
            ..InputEntry::default()
        })
        .collect(),
        tables: Vec::new(),
        absent_tables: Vec::new(),
        totals: serde_json::json!({"conversations": slices}),
        ledger_balanced: true,
        verdict: text("complete"),
        derived: vec![text("run.json")],
    }
}

/// The receipts of the finished slices.
pub(crate) fn receipts(staging: &Staging) -> Vec<Receipt<String>> {
    let receipts = staging.receipts().unwrap();
    receipts.collect::<Result<_, _>>().unwrap()
}

/// Processes the slices that are not done, and seals.
pub(crate) fn seal(staging: Staging, fingerprint: &str, slices: u32) -> Sealed {
    let done: Vec<u32> = receipts(&staging)
        .iter()
        .map(|receipt| receipt.slice.slice)
        .collect();
    for slice in (0..slices).filter(|slice| !done.contains(slice)) {
        write_slice(&staging, slice);
    }
    let receipts = receipts(&staging);
    let files: Vec<PartFile> = receipts.into_iter().flat_map(|receipt| receipt.files).collect();
    seal_files(staging, manifest(fingerprint, slices.into()), &files, &options()).unwrap()
}

/// Publishes a dataset.
pub(crate) fn publish(out: &Path, fingerprint: &str, slices: u32) {
    let notices = seal(work(out, fingerprint), fingerprint, slices)
        .publish()
        .unwrap();
    assert_eq!(notices, Vec::<String>::new());
}

/// Every file below a folder with its bytes, sorted by path.
pub(crate) fn snapshot(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// An empty folder and a destination in it.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    (folder, out)
}

/// A path in the staging of `plan-a`.
pub(crate) fn staged(folder: &TempDir, path: &str) -> PathBuf {
    folder.path().join(".out.staging/plan-a").join(path)
}

/// The numbers of the finished slices.
pub(crate) fn done(staging: &Staging) -> Vec<u32> {
    receipts(staging)
        .iter()
        .map(|receipt| receipt.slice.slice)
        .collect()
}

/// Finishes three slices, as a run does that ends before it seals.
pub(crate) fn interrupted(out: &Path) {
    let staging = work(out, "plan-a");
    for slice in 0..3 {
        write_slice(&staging, slice);
    }
}

/// The files that an undisturbed run of three slices publishes.
pub(crate) fn undisturbed() -> Vec<(String, Vec<u8>)> {
    let (_folder, out) = place();
    publish(&out, "plan-a", 3);
    snapshot(&out)
}

/// Checks that a run continues this work and publishes the same files as an undisturbed run.
pub(crate) fn is_finished(staging: Staging, out: &Path) {
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(out), undisturbed());
}

/// Checks that a run replaces the occupant of a destination with the dataset of an undisturbed run.
pub(crate) fn is_replaced(out: &Path) {
    is_finished(replacing_work(out, "plan-a"), out);
}

/// Claims and opens a destination.
pub(crate) fn open(out: &Path, fingerprint: &str, replace: bool) -> Result<Opening, DatasetError> {
    claim(out)?.open(fingerprint, replace)
}

/// The error with which a destination is refused.
pub(crate) fn refusal(out: &Path, replace: bool) -> DatasetError {
    match open(out, "plan-a", replace) {
        Ok(_) => panic!("{} was opened", out.display()),
        Err(error) => error,
    }
}

/// Writes the mark into a staging folder that a test created by hand.
pub(crate) fn mark(folder: &TempDir) {
    fs::write(folder.path().join(".out.staging/.chatmill-staging"), "").unwrap();
}
