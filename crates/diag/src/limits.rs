//! Every limit of the mill, in one table. Each is a key of `[limits]` in the pipeline file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kibibyte, in bytes.
pub const KIB: u64 = 1024;
/// One mebibyte, in bytes.
pub const MIB: u64 = 1024 * KIB;
/// One gibibyte, in bytes.
pub const GIB: u64 = 1024 * MIB;

/// The largest [`Limits::depth`]: records are walked on the stack of a thread, which has room for several times as much.
pub const DEPTH_CEILING: u32 = 1024;

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
    /// Binary logarithm of the largest zstd window; a stream that asks for more is refused before allocation.
    pub zstd_window_log: u32,
    /// Bytes of a database that comes in an archive, a compression or a pipe and is therefore copied to a temporary file.
    pub spool: u64,
    /// Entries of an archive; the rest is rejected as `entry-limit`.
    pub archive_entries: u64,
    /// References of a message; further ones are dropped as `too-many-references`.
    pub references_per_message: u64,
    /// Levels of previews inside previews; deeper ones are dropped as `preview-too-deep`.
    pub preview_depth: u32,
    /// Messages of a conversation; a larger one is rejected as `conversation-too-large`.
    pub messages_per_conversation: u64,
    /// Agents that may answer each other in a row; deeper answers are kept and reported as `loop-depth-exceeded`.
    pub response_depth: u32,
    /// Bytes of rows that are gathered into conversations at a time, in each thread; conversations that are larger alone
    /// are still whole.
    pub partition: u64,
    /// Conversations that are compared with one another where `[dedup]` asks for it, at about 600 bytes each.
    pub compared: u64,
    /// Bytes of a rank file or a tokenizer file; a larger one is refused before the run begins.
    pub vocabulary: u64,
    /// Bytes of one rendering; a larger one keeps its row without content, as `oversize-rendering`.
    pub rendering: u64,
    /// Renderings of a conversation in one dialect and perspective; of more, the oldest are written.
    pub windows: u64,
    /// Rows of the findings table per conversation and code; the rest is one row with a count.
    pub findings_per_code: u64,
    /// Bytes of a rejected record that the rejects table keeps.
    pub reject_head: u64,
    /// Share of records that may be rejected before the run fails with exit code 1.
    pub max_reject_ratio: f64,
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
            zstd_window_log: 27,
            spool: 16 * GIB,
            archive_entries: 1_000_000,
            references_per_message: 10_000,
            preview_depth: 16,
            messages_per_conversation: 1_000_000,
            response_depth: 3,
            partition: 16 * MIB,
            compared: 4_000_000,
            vocabulary: 128 * MIB,
            rendering: 256 * MIB,
            windows: 10_000,
            findings_per_code: 100,
            reject_head: KIB,
            max_reject_ratio: 0.0,
        }
    }
}

impl Limits {
    /// Decompressed bytes allowed for an input of `compressed` bytes.
    pub fn decompressed(&self, compressed: u64) -> u64 {
        compressed
            .saturating_mul(self.decompressed_ratio)
            .max(self.decompressed_floor)
            .min(self.decompressed_ceiling)
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
    fn what_is_not_given_has_its_default() {
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
