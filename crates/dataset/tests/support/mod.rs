//! A small dataset for tests: every field of a full row holds its own column's name, so that a column that shows
//! another field is seen at once.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};

use chatmill_dataset::rows::*;
use chatmill_dataset::{
    Compression, DatasetError, FORMAT, InputEntry, Manifest, Opening, PartFile, PartSet, Partition, Receipt,
    Sealed, Staging, TableOptions, absent_tables, open, table_entries,
};
use tempfile::TempDir;

pub(crate) const INPUT: &str = "input";

pub(crate) fn options() -> TableOptions {
    TableOptions {
        encodings: vec!["o200k_base".to_owned(), "cl100k_base".to_owned()],
        compression: Compression::parse("zstd(3)").unwrap(),
        partition: Partition::None,
        absent: Vec::new(),
    }
}

/// The options of a run that writes these tables, beside those that are always written.
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

#[expect(clippy::unnecessary_wraps, reason = "it fills fields that may be missing")]
pub(crate) fn some(name: &str) -> Option<String> {
    Some(text(name))
}

/// A number that tells the column it belongs to.
pub(crate) fn number(name: &str) -> u32 {
    name.bytes()
        .fold(7, |sum, byte| (sum * 31 + u32::from(byte)) % 1_000_003)
}

fn long(name: &str) -> u64 {
    number(name).into()
}

fn texts(name: &str) -> Vec<String> {
    vec![text(name), format!("{name} again")]
}

fn tokens(prefix: &str) -> Vec<u64> {
    let encodings = ["o200k_base", "cl100k_base"].iter();
    encodings
        .map(|encoding| long(&format!("{prefix}{encoding}")))
        .collect()
}

pub(crate) fn conversation() -> ConversationRow {
    ConversationRow {
        conversation_id: text("conversation_id"),
        source_conversation_id: some("source_conversation_id"),
        source: text("source"),
        format_version: some("format_version"),
        format_shape: some("format_shape"),
        input: text(INPUT),
        entry: text("entry"),
        record: long("record"),
        title: some("title"),
        description: some("description"),
        scene: text("scene"),
        message_count: number("message_count"),
        participant_count: number("participant_count"),
        started_at: Some(number("started_at").into()),
        ended_at: Some(number("ended_at").into()),
        participants: vec![participant(), ParticipantCell::default()],
        tools: some("tools"),
        extra: some("extra"),
        content_hash: text("content_hash"),
        cluster: some("cluster"),
        duplicate: some("duplicate"),
    }
}

fn participant() -> ParticipantCell {
    ParticipantCell {
        id: text("id"),
        name: some("name"),
        alias: some("alias"),
        role: some("role"),
        kind: text("kind"),
        custom_role: some("custom_role"),
        department: some("department"),
        email: some("email"),
        extra: some("extra"),
    }
}

pub(crate) fn message() -> MessageRow {
    MessageRow {
        conversation_id: text("conversation_id"),
        position: number("position"),
        message_id: some("message_id"),
        sender_id: some("sender_id"),
        sender_name: some("sender_name"),
        role: text("role"),
        kind: text("kind"),
        source_type: some("source_type"),
        created_at: Some(number("created_at").into()),
        created_at_raw: some("created_at_raw"),
        text: text("text"),
        parts: some("parts"),
        mentions: texts("mentions"),
        weight: Some(number("weight").into()),
        extra: some("extra"),
        byte_start: long("byte_start"),
        byte_end: long("byte_end"),
        tokens: tokens("tokens_"),
    }
}

pub(crate) fn reference() -> ReferenceRow {
    ReferenceRow {
        conversation_id: text("conversation_id"),
        position: number("position"),
        message_id: some("message_id"),
        ordinal: number("ordinal"),
        path: text("path"),
        target_id: some("target_id"),
        target_position: Some(number("target_position")),
        status: text("status"),
        same_sender: true,
        preview: some("preview"),
    }
}

pub(crate) fn tool_call() -> ToolCallRow {
    ToolCallRow {
        conversation_id: text("conversation_id"),
        call_id: some("call_id"),
        name: some("name"),
        arguments: some("arguments"),
        arguments_valid: Some(true),
        call_position: Some(number("call_position")),
        result_position: Some(number("result_position")),
        result: some("result"),
        is_error: Some(true),
        status: text("status"),
        paired_by: some("paired_by"),
    }
}

pub(crate) fn rendering() -> RenderingRow {
    RenderingRow {
        conversation_id: text("conversation_id").into(),
        dialect: text("dialect").into(),
        profile: text("profile").into(),
        perspective: text("perspective").into(),
        ordinal: number("ordinal"),
        media_type: text("media_type").leak(),
        content: some("content"),
        bytes: long("bytes"),
        tokens: tokens("tokens_"),
        requests: long("requests"),
        sent_tokens: tokens("sent_tokens_"),
        coverage: text("coverage").leak(),
        first_position: Some(number("first_position")),
        last_position: Some(number("last_position")),
        messages_rendered: number("messages_rendered"),
        last_role: Some(text("last_role").leak()),
        assistant_messages: number("assistant_messages"),
        assistant_spans: vec![long("start")..long("end"), 0..0],
        loss_count: long("loss_count"),
        loss_codes: texts("loss_codes"),
        valid: true,
        violations: texts("violations"),
    }
}

pub(crate) fn token_count() -> TokenCountRow {
    TokenCountRow {
        conversation_id: text("conversation_id").into(),
        dialect: text("dialect").into(),
        profile: text("profile").into(),
        perspective: text("perspective").into(),
        ordinal: number("ordinal"),
        encoding: text("encoding").into(),
        tokens: long("tokens"),
        content: long("content"),
        names: long("names"),
        framing: long("framing"),
        tools: long("tools"),
        replies: long("replies"),
        meta: long("meta"),
        assistant_content: long("assistant_content"),
    }
}

pub(crate) fn total() -> TotalRow {
    TotalRow {
        source: text("source"),
        dialect: text("dialect"),
        profile: text("profile"),
        encoding: text("encoding"),
        coverage: text("coverage"),
        conversations: long("conversations"),
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
        p50: long("p50"),
        p95: long("p95"),
        p99: long("p99"),
        invalid: long("invalid"),
        losses: long("losses"),
    }
}

pub(crate) fn loss() -> LossRow {
    LossRow {
        conversation_id: text("conversation_id").into(),
        dialect: text("dialect").into(),
        profile: text("profile").into(),
        perspective: text("perspective").into(),
        ordinal: number("ordinal"),
        code: text("code").into(),
        reason: text("reason").into(),
        amount: long("amount"),
        positions: vec![number("positions"), 0],
    }
}

pub(crate) fn finding() -> FindingRow {
    FindingRow {
        code: text("code"),
        name: text("name"),
        severity: text("severity"),
        count: long("count"),
        key: text("key"),
        input: text(INPUT),
        entry: text("entry"),
        record: Some(long("record")),
        conversation_id: some("conversation_id"),
        position: Some(number("position")),
        message_id: some("message_id"),
        line_number: Some(long("line_number")),
        column_number: Some(long("column_number")),
        byte_start: Some(long("byte_start")),
        byte_end: Some(long("byte_end")),
        json_path: some("json_path"),
        message: text("message"),
        help: text("help"),
    }
}

pub(crate) fn reject() -> RejectRow {
    RejectRow {
        input: text(INPUT),
        entry: text("entry"),
        record: long("record"),
        level: text("level"),
        byte_start: long("byte_start"),
        byte_end: long("byte_end"),
        frame_hash: text("frame_hash"),
        code: text("code"),
        message: text("message"),
        head: b"head".to_vec(),
    }
}

/// One full row for every table.
pub(crate) fn push_full(parts: &mut PartSet) {
    parts.push_conversation(conversation()).unwrap();
    parts.push_message(message()).unwrap();
    parts.push_reference(reference()).unwrap();
    parts.push_tool_call(tool_call()).unwrap();
    parts.push_rendering(rendering()).unwrap();
    parts.push_token_count(token_count()).unwrap();
    parts.push_total(total()).unwrap();
    parts.push_loss(loss()).unwrap();
    parts.push_finding(finding()).unwrap();
    parts.push_reject(reject()).unwrap();
}

/// One row for every table in which everything that may be missing is missing.
pub(crate) fn push_sparse(parts: &mut PartSet) {
    let zeros = vec![0, 0];
    parts.push_conversation(ConversationRow::default()).unwrap();
    parts
        .push_message(MessageRow {
            tokens: zeros.clone(),
            ..Default::default()
        })
        .unwrap();
    parts.push_reference(ReferenceRow::default()).unwrap();
    parts.push_tool_call(ToolCallRow::default()).unwrap();
    parts
        .push_rendering(RenderingRow {
            tokens: zeros.clone(),
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

/// A slice that holds one conversation with its message, and one rejected frame.
pub(crate) fn grind(staging: &Staging, slice: u32) -> Vec<PartFile> {
    let mut parts = staging.parts(slice, &options()).unwrap();
    let conversation_id = format!("conversation {slice}");
    parts
        .push_conversation(ConversationRow {
            conversation_id: conversation_id.clone(),
            ..conversation()
        })
        .unwrap();
    parts
        .push_message(MessageRow {
            conversation_id,
            ..message()
        })
        .unwrap();
    parts
        .push_reject(RejectRow {
            level: text("frame"),
            ..reject()
        })
        .unwrap();
    let files = parts.close().unwrap();
    staging
        .commit(slice, &files, &format!("body of slice {slice}"))
        .unwrap();
    files
}

/// The manifest of slices made by [`grind`].
pub(crate) fn manifest(fingerprint: &str, slices: u64, files: Vec<PartFile>) -> Manifest {
    Manifest {
        program: text("chatmill"),
        version: text("0.0.0"),
        format: FORMAT,
        fingerprint: text(fingerprint),
        plan: serde_json::json!({"name": "test"}),
        slices: u32::try_from(slices).unwrap(),
        inputs: std::iter::once(InputEntry {
            path: text(INPUT),
            hash: some("hash"),
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
        tables: table_entries(files),
        absent_tables: Vec::new(),
        totals: serde_json::json!({"conversations": slices}),
        ledger_balanced: true,
        verdict: text("complete"),
        derived: vec![text("run.json")],
    }
}

/// The receipts of what is done.
pub(crate) fn receipts(staging: &Staging) -> Vec<Receipt<String>> {
    let receipts = staging.receipts().unwrap();
    receipts.collect::<Result<_, _>>().unwrap()
}

/// Grinds the slices that are not done and seals.
pub(crate) fn seal(staging: Staging, fingerprint: &str, slices: u32) -> Sealed {
    let done: Vec<u32> = receipts(&staging).iter().map(|receipt| receipt.slice).collect();
    for slice in (0..slices).filter(|slice| !done.contains(slice)) {
        grind(&staging, slice);
    }
    let receipts = receipts(&staging);
    let files = receipts.into_iter().flat_map(|receipt| receipt.files).collect();
    staging
        .seal(manifest(fingerprint, slices.into(), files), &options())
        .unwrap()
}

/// A published dataset.
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

/// An empty place and a destination in it.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    (folder, out)
}

/// A path in the staging of `plan-a`.
pub(crate) fn staged(folder: &TempDir, path: &str) -> PathBuf {
    folder.path().join(".out.staging/plan-a").join(path)
}

/// The slices that are done.
pub(crate) fn done(staging: &Staging) -> Vec<u32> {
    receipts(staging).iter().map(|receipt| receipt.slice).collect()
}

/// Three finished slices whose run ended before it could seal.
pub(crate) fn interrupted(out: &Path) {
    let staging = work(out, "plan-a");
    for slice in 0..3 {
        grind(&staging, slice);
    }
}

/// What an undisturbed run of three slices publishes.
pub(crate) fn undisturbed() -> Vec<(String, Vec<u8>)> {
    let (_folder, out) = place();
    publish(&out, "plan-a", 3);
    snapshot(&out)
}

/// Why a destination is refused.
pub(crate) fn refusal(out: &Path, replace: bool) -> DatasetError {
    match open(out, "plan-a", replace) {
        Ok(_) => panic!("{} was opened", out.display()),
        Err(error) => error,
    }
}

/// Marks the staging as one of ours, where a test made it by hand.
pub(crate) fn mark(folder: &TempDir) {
    fs::write(folder.path().join(".out.staging/.chatmill-staging"), "").unwrap();
}
