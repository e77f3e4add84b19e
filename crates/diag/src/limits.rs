//! All limits, with their defaults. Each is a key of `[limits]` in the pipeline file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::day::Day;

/// One kibibyte, in bytes.
pub const KIB: u64 = 1024;
/// One mebibyte, in bytes.
pub const MIB: u64 = 1024 * KIB;
/// One gibibyte, in bytes.
pub const GIB: u64 = 1024 * MIB;

/// The largest [`Limits::depth`]: records are walked recursively, on a stack with room for several times as many levels.
pub const DEPTH_CEILING: u32 = 1024;

/// Levels of nested values that a chat template may make: dropping, comparing and printing them recurse once per level, and an overflow of
/// the stack cannot be caught. A thread with a larger stack would only move the place where it overflows.
pub const TEMPLATE_DEPTH: usize = 200;

/// Nested loops, macros and blocks of a chat template; a macro counts as four.
pub const TEMPLATE_RECURSION: usize = 150;

/// Words in one tag of a chat template: its compiler recurses once per link of a chain.
pub const TEMPLATE_WORDS: usize = 1000;

/// Bytes in one tag of a chat template.
pub const TEMPLATE_TAG: usize = 32 * 1024;

/// `elif` branches of a chat template; each is nested in the one before.
pub const TEMPLATE_BRANCHES: usize = 250;

/// Bytes that a format file may make of any record, however short it is: constant text, such as a prompt around each question.
pub const FORMAT_FLOOR: usize = 16 * 1024;

/// Bytes that a format file may make of each byte of a record above [`FORMAT_FLOOR`]. The built-in format files make up to three.
pub const FORMAT_RATIO: usize = 16;

/// The default of [`Limits::evaluation_words`] and [`Limits::split_words`].
const INDEXED_WORDS: u64 = 16_000_000;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn are_default_words(words: &u64) -> bool {
    *words == INDEXED_WORDS
}

/// The limits of a run and their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a line, an array element or a row; a longer one is rejected as `record-too-long`.
    pub record: u64,
    /// Bytes of a file that is one JSON document; a larger one is rejected as `document-too-large`.
    pub document: u64,
    /// Levels of nested arrays and objects, 1,024 at most; a deeper record is rejected as `depth-exceeded`.
    pub depth: u32,
    /// Decompressed bytes of an input that are always allowed.
    pub decompressed_floor: u64,
    /// Decompressed bytes per compressed byte that are allowed above the floor.
    pub decompressed_ratio: u64,
    /// Decompressed bytes of an input that are never exceeded.
    pub decompressed_ceiling: u64,
    /// Values that the columns of an input, Parquet or Arrow, may always unfold to: rows, elements of lists and fields that are not null. A
    /// million equal values take no more bytes than one.
    pub unfolded_floor: u64,
    /// Values per byte of the input that its columns may unfold to above the floor.
    pub unfolded_ratio: u64,
    /// Consecutive streams in a bzip2 file that are always allowed, and one more for each KiB of the input: each allocates megabytes of
    /// memory again.
    pub members: u64,
    /// Binary logarithm of the largest zstd window; a stream that asks for more is refused before allocation.
    pub zstd_window_log: u32,
    /// Bytes of a database that comes from an archive, a compressed file or a pipe and is therefore copied to a temporary file; also of the
    /// files of a dump that come before its table of contents in an archive.
    pub spool: u64,
    /// Entries of an archive; the rest is rejected as `entry-limit`.
    pub archive_entries: u64,
    /// References of a message; further ones are dropped as `too-many-references`.
    pub references_per_message: u64,
    /// Levels of references: those of a message, those that they contain in turn, and so on; deeper ones remain in the source's text of the
    /// outermost one.
    pub reference_depth: u32,
    /// Levels of previews inside previews; deeper ones are dropped as `preview-too-deep`.
    pub preview_depth: u32,
    /// Messages of a conversation; a larger one is rejected as `conversation-too-large`.
    pub messages_per_conversation: u64,
    /// Agents that may answer each other in a row; deeper answers are kept and reported as `loop-depth-exceeded`.
    pub response_depth: u32,
    /// Bytes of rows that are gathered into conversations at a time, in each thread; larger conversations are still kept whole.
    pub partition: u64,
    /// Bytes of gathered rows that belong to every conversation of an input, such as presence without a project, and are read with each of
    /// them; further rows are read as a separate conversation.
    pub shared_rows: u64,
    /// Conversations that are examined before the first is rendered (`[dedup]`, `input.weight`, `mix.total`, `tools.infer = "input"`),
    /// including those of earlier datasets; each takes up to 600 bytes of memory.
    pub compared: u64,
    /// Words in the evaluations of `[select.decontaminate]`, at 14 to 25 bytes of memory each; with more, the run is refused before it
    /// begins.
    #[serde(skip_serializing_if = "are_default_words")]
    pub evaluation_words: u64,
    /// Words in all parts but the first that an export with `--split` compares, at 14 to 25 bytes of memory each. With more, it does not
    /// count the texts that parts have in common, and `split.ngram_leaks = "move"` and `"drop"` are refused.
    #[serde(skip_serializing_if = "are_default_words")]
    pub split_words: u64,
    /// Bytes of a rank file or a tokenizer file; a larger one is refused before the run begins.
    pub vocabulary: u64,
    /// Bytes of a `tokenizer_config.json`, or of a file with a chat template; a larger one is refused before the run begins.
    pub template_file: u64,
    /// Bytes of a chat template; a larger one is refused before the run begins.
    pub template: u64,
    /// Steps that a chat template may take for one rendering, plus two for each byte of its input: a step is an instruction, a value or 64
    /// bytes that it handles. A template that takes more gives an invalid row.
    pub template_steps: u64,
    /// Bytes of texts and lists that a chat template may make for one rendering, kept or not, plus 64 for each byte of its input. A
    /// template that makes more gives an invalid row.
    pub template_memory: u64,
    /// Bytes of one rendering; a larger one keeps its row without content, as `oversize-rendering`.
    pub rendering: u64,
    /// Renderings of a conversation in one dialect and perspective; if there are more, the oldest are written.
    pub windows: u64,
    /// Participants of a conversation who are the assistant in turn if `[perspective]` asks for each; if there are more, the first ones.
    pub perspectives: u64,
    /// Rows of the findings table per conversation and code; the rest is one row with a count.
    pub findings_per_code: u64,
    /// Paths of unread fields in each input; the rest is one row of the findings table with a count.
    pub unread_paths: u64,
    /// Bytes of a rejected record that the rejects table keeps.
    pub reject_head: u64,
    /// Share of records that may be rejected before the run fails with exit code 1.
    pub max_reject_ratio: f64,
    /// Inputs that may be refused whole, because no source reads them or they cannot be opened, before the run fails with exit code 1,
    /// regardless of their share of the records.
    pub refused_inputs: u64,
    /// Error findings in accepted data that a run may have before it fails with exit code 1.
    pub max_error_findings: u64,
    /// The day of the run: later messages are reported as `future-time`. Without it no message is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Day>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            record: 64 * MIB,
            document: 512 * MIB,
            depth: 128,
            decompressed_floor: GIB,
            decompressed_ratio: 200,
            decompressed_ceiling: 1024 * GIB,
            unfolded_floor: 1_000_000,
            unfolded_ratio: 64,
            members: 10_000,
            zstd_window_log: 27,
            spool: 16 * GIB,
            archive_entries: 1_000_000,
            references_per_message: 10_000,
            reference_depth: 4,
            preview_depth: 16,
            messages_per_conversation: 1_000_000,
            response_depth: 3,
            partition: 16 * MIB,
            shared_rows: 64 * KIB,
            compared: 4_000_000,
            evaluation_words: INDEXED_WORDS,
            split_words: INDEXED_WORDS,
            vocabulary: 128 * MIB,
            template_file: 8 * MIB,
            template: 128 * KIB,
            template_steps: 2_000_000,
            template_memory: 32 * MIB,
            rendering: 256 * MIB,
            windows: 10_000,
            perspectives: 1_000,
            findings_per_code: 100,
            unread_paths: 1_000,
            reject_head: KIB,
            max_reject_ratio: 0.0,
            refused_inputs: 0,
            max_error_findings: 0,
            now: None,
        }
    }
}

impl Limits {
    /// The number of consecutive streams allowed for a bzip2 input of `compressed` bytes.
    pub fn members_in(&self, compressed: u64) -> u64 {
        self.members.max(1 + compressed / KIB)
    }

    /// The number of decompressed bytes allowed for an input of `compressed` bytes.
    pub fn decompressed(&self, compressed: u64) -> u64 {
        compressed
            .saturating_mul(self.decompressed_ratio)
            .max(self.decompressed_floor)
            .min(self.decompressed_ceiling)
    }

    /// The number of values that the columns of an input of `stored` bytes may unfold to.
    pub fn unfolded(&self, stored: u64) -> u64 {
        stored
            .saturating_mul(self.unfolded_ratio)
            .max(self.unfolded_floor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_input_may_grow_to_the_floor() {
        let limits = Limits::default();
        assert_eq!(limits.decompressed(0), GIB);
        assert_eq!(limits.decompressed(GIB / 200), GIB);
    }

    #[test]
    fn above_the_floor_the_ratio_decides() {
        assert_eq!(Limits::default().decompressed(10 * MIB), 2000 * MIB);
    }

    #[test]
    fn the_ceiling_is_never_exceeded() {
        let limits = Limits::default();
        assert_eq!(limits.decompressed(u64::MAX), 1024 * GIB);
        let low = Limits {
            decompressed_ceiling: KIB,
            ..limits
        };
        assert_eq!(low.decompressed(1), KIB);
    }

    #[test]
    fn columns_unfold_to_the_floor_and_above_it_by_the_ratio() {
        let limits = Limits::default();
        assert_eq!(
            (limits.unfolded(951), limits.unfolded(MIB)),
            (1_000_000, 64 * MIB)
        );
        assert_eq!(limits.unfolded(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_bzip2_file_may_have_the_limit_of_streams_and_one_more_for_each_kibibyte() {
        let limits = Limits::default();
        assert_eq!(limits.members_in(0), 10_000);
        assert_eq!(limits.members_in(10_000 * KIB), 10_001);
        let none = Limits { members: 0, ..limits };
        assert_eq!((none.members_in(0), none.members_in(KIB)), (1, 2));
    }

    #[test]
    fn limits_survive_a_round_trip() {
        let limits = Limits {
            record: 7,
            max_reject_ratio: 0.25,
            ..Limits::default()
        };
        let text = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<Limits>(&text).unwrap(), limits);
    }

    #[test]
    fn limits_that_json_leaves_out_have_their_defaults() {
        let limits: Limits = serde_json::from_str(r#"{"depth":5}"#).unwrap();
        assert_eq!(
            limits,
            Limits {
                depth: 5,
                ..Limits::default()
            }
        );
    }

    #[test]
    fn an_unknown_limit_is_refused_by_name() {
        let error = serde_json::from_str::<Limits>(r#"{"recrod":5}"#).unwrap_err();
        assert!(error.to_string().contains("recrod"), "{error}");
    }
}
