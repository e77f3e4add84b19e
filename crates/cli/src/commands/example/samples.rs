//! The files that `chatmill example` prints: those of `data-samples`, built into the program.
//!
//! The broken ones are the samples of the rules. A rule that takes a device, a second file or a lowered limit has none.

/// A valid file of every source.
macro_rules! valid {
    ($($source:literal: $file:literal,)*) => {
        pub(super) static VALID: &[(&str, &[u8])] = &[$((
            $source,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data-samples/examples/", $file)),
        )),*];
    };
}

/// Files that raise a finding: the name of its code, the source that reads them, and their bytes.
macro_rules! broken {
    ($($name:literal in $source:literal: $file:literal,)*) => {
        pub(super) static BROKEN: &[(&str, &str, &[u8])] = &[$((
            $name,
            $source,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data-samples/rules/", $file)),
        )),*];
    };
}

valid! {
    "anthropic-messages": "anthropic-messages.json",
    "bedrock-converse": "bedrock-converse.json",
    "chatml": "chatml.txt",
    "gemini-contents": "gemini-contents.json",
    "group-chat": "group-chat.json",
    "gryag-db": "gryag-db.json",
    "hf-messages": "hf-messages.jsonl",
    "jaibber-events": "jaibber-events.jsonl",
    "mapped": "mapped.json",
    "mistral-chat": "mistral-chat.json",
    "openai-messages": "openai-messages.json",
    "openai-responses": "openai-responses.json",
    "sharegpt": "sharegpt.jsonl",
    "suna-rows": "suna-rows.jsonl",
    "table-rows": "table-rows.json",
    "tzurot-requests": "tzurot-requests.jsonl",
}

broken! {
    "ambiguous-call-id" in "group-chat": "ambiguous-call-id/bad.json",
    "arguments-not-object" in "group-chat": "arguments-not-object/bad.json",
    "arguments-not-string" in "group-chat": "arguments-not-string/bad.json",
    "byte-order-mark" in "group-chat": "byte-order-mark/bad.json",
    "cached-block" in "openai-messages": "cached-block/bad.json",
    "columns-unknown" in "suna-rows": "columns-unknown/bad.sql",
    "compressed-message" in "suna-rows": "compressed-message/bad.jsonl",
    "copy-escaped" in "suna-rows": "copy-escaped/bad.jsonl",
    "corrupt-stream" in "group-chat": "corrupt-stream/bad.jsonl.gz",
    "dangling-reference" in "group-chat": "dangling-reference/bad.json",
    "depth-exceeded" in "group-chat": "depth-exceeded/bad.json",
    "dump-incomplete" in "suna-rows": "dump-incomplete/bad.sql",
    "duplicate-key" in "group-chat": "duplicate-key/bad.json",
    "duplicate-message-id" in "group-chat": "duplicate-message-id/bad.json",
    "duplicate-result" in "group-chat": "duplicate-result/bad.json",
    "empty-conversation" in "group-chat": "empty-conversation/bad.json",
    "empty-input" in "group-chat": "empty-input/bad.json",
    "empty-message" in "group-chat": "empty-message/bad.json",
    "escaped-nul" in "group-chat": "escaped-nul/bad.json",
    "forward-reference" in "group-chat": "forward-reference/bad.json",
    "history-repeated" in "openai-messages": "history-repeated/bad.json",
    "invalid-json" in "group-chat": "invalid-json/bad.jsonl",
    "invalid-media-url" in "group-chat": "invalid-media-url/bad.json",
    "invalid-utf8" in "group-chat": "invalid-utf8/bad.jsonl",
    "labelled-answer" in "hf-messages": "labelled-answer/bad.json",
    "late-chunk" in "jaibber-events": "late-chunk/bad.jsonl",
    "leaked-metadata" in "gemini-contents": "leaked-metadata/bad.json",
    "legacy-role" in "group-chat": "legacy-role/bad.json",
    "link-not-followed" in "group-chat": "link-not-followed/bad.tar",
    "lone-surrogate" in "group-chat": "lone-surrogate/bad.json",
    "loop-depth-exceeded" in "jaibber-events": "loop-depth-exceeded/bad.jsonl",
    "malformed-arguments" in "group-chat": "malformed-arguments/bad.json",
    "malformed-row" in "suna-rows": "malformed-row/bad.csv",
    "missing-call-id" in "group-chat": "missing-call-id/bad.json",
    "missing-field" in "group-chat": "missing-field/bad.json",
    "name-mismatch" in "group-chat": "name-mismatch/bad.json",
    "nested-archive" in "group-chat": "nested-archive/bad.zip",
    "number-out-of-range" in "group-chat": "number-out-of-range/bad.json",
    "orphan-chunk" in "jaibber-events": "orphan-chunk/bad.jsonl",
    "orphaned-result" in "group-chat": "orphaned-result/bad.json",
    "preference-pair" in "hf-messages": "preference-pair/bad.json",
    "preview-mismatch" in "group-chat": "preview-mismatch/bad.json",
    "preview-too-deep" in "group-chat": "preview-too-deep/bad.json",
    "pseudo-reference" in "gryag-db": "pseudo-reference/bad.json",
    "reference-cycle" in "group-chat": "reference-cycle/bad.json",
    "reference-incomplete" in "group-chat": "reference-incomplete/bad.json",
    "reference-to-itself" in "group-chat": "reference-to-itself/bad.json",
    "repeated-entry" in "group-chat": "repeated-entry/bad.zip",
    "repeated-media" in "tzurot-requests": "repeated-media/bad.json",
    "repeated-row" in "group-chat": "repeated-row/bad.json",
    "result-before-call" in "group-chat": "result-before-call/bad.json",
    "role-conflict" in "group-chat": "role-conflict/bad.json",
    "several-references" in "group-chat": "several-references/bad.json",
    "special-token-in-text" in "group-chat": "special-token-in-text/bad.json",
    "split-tool-call" in "openai-messages": "split-tool-call/bad.json",
    "text-outside-turns" in "chatml": "text-outside-turns/bad.txt",
    "time-goes-backwards" in "group-chat": "time-goes-backwards/bad.json",
    "timestamp-naive" in "group-chat": "timestamp-naive/bad.json",
    "timestamp-unusable" in "group-chat": "timestamp-unusable/bad.json",
    "timestamp-unusual" in "group-chat": "timestamp-unusual/bad.json",
    "trailing-garbage" in "group-chat": "trailing-garbage/bad.jsonl.gz",
    "truncated-stream" in "group-chat": "truncated-stream/bad.jsonl.gz",
    "unanswered-call" in "group-chat": "unanswered-call/bad.json",
    "unclosed-turn" in "chatml": "unclosed-turn/bad.txt",
    "unfinished-stream" in "jaibber-events": "unfinished-stream/bad.jsonl",
    "unknown-format" in "group-chat": "unknown-format/bad.json",
    "unknown-message-type" in "group-chat": "unknown-message-type/bad.json",
    "unknown-meta-key" in "gemini-contents": "unknown-meta-key/bad.json",
    "unknown-scene" in "group-chat": "unknown-scene/bad.json",
    "unknown-sender" in "group-chat": "unknown-sender/bad.json",
    "unknown-timezone" in "group-chat": "unknown-timezone/bad.json",
    "unknown-version" in "group-chat": "unknown-version/bad.json",
    "unmentioned-response" in "jaibber-events": "unmentioned-response/bad.jsonl",
    "unplaced-media" in "openai-messages": "unplaced-media/bad.json",
    "unsafe-entry-name" in "group-chat": "unsafe-entry-name/bad.zip",
    "unsupported-container" in "group-chat": "unsupported-container/bad.zip",
    "wrong-type" in "group-chat": "wrong-type/bad.json",
}
