//! Masks: replacements of ids in reports that are shared with others.
//!
//! Within one report an id has one mask, so that findings of the same message can be recognised as such. Another report has other masks,
//! unless both use the same key. Leaving ids out would hide that ten findings are about one message, and a hash without a key could be
//! reversed by trying: there are few enough names and telephone numbers.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use crate::pseudonym::{KeyError, PseudonymKey, keyed_hash};

/// Makes masks with one key.
#[derive(Clone)]
pub struct Mask {
    key: [u8; 32],
}

impl fmt::Debug for Mask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Mask")
    }
}

impl Mask {
    /// A mask with a random key, which cannot be reproduced.
    pub fn random() -> Self {
        // The standard library seeds its maps with random numbers of the operating system.
        let state = RandomState::new();
        let mut key = [0; 32];
        for (number, bytes) in (0_u64..).zip(key.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&state.hash_one(number).to_le_bytes());
        }
        Self { key }
    }

    /// A mask with the content of a key file as its key, without the white space at its ends: the same key makes the same masks.
    ///
    /// # Errors
    ///
    /// Fails if the key is too short, or the same byte repeated.
    pub fn new(content: &str) -> Result<Self, KeyError> {
        PseudonymKey::new(content)?;
        let key = blake3::derive_key("chatmill 2026-11 masks of ids", content.trim().as_bytes());
        Ok(Self { key })
    }

    /// The mask of an id: `id-` and ten hexadecimal digits.
    pub fn id(&self, id: &str) -> String {
        format!("id-{}", self.digits("id", id, 10))
    }

    /// The mask of a finding's key, which has the same length as the key.
    pub fn key(&self, key: &str) -> String {
        self.digits("key", key, 16)
    }

    /// The mask of a path: `file-` and ten hexadecimal digits, with the extension if it is a usual one.
    pub fn path(&self, path: &str) -> String {
        const ENDINGS: &[&str] = &[
            "json", "jsonl", "ndjson", "csv", "txt", "sql", "dump", "db", "sqlite", "zip", "tar", "gz",
            "zst", "bz2", "xz", "tgz", "parquet", "html", "log",
        ];
        let ending = path.rsplit_once('.').map(|(_, ending)| ending);
        let ending = ending.filter(|ending| ENDINGS.contains(ending));
        let digits = self.digits("path", path, 10);
        ending.map_or_else(
            || format!("file-{digits}"),
            |ending| format!("file-{digits}.{ending}"),
        )
    }

    /// The mask of a supplier, which a path may name: `supplier-` and ten hexadecimal digits.
    pub fn supplier(&self, name: &str) -> String {
        format!("supplier-{}", self.digits("supplier", name, 10))
    }

    fn digits(&self, kind: &str, text: &str, count: usize) -> String {
        keyed_hash(&self.key, kind, text)
            .to_hex()
            .chars()
            .take(count)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

    #[test]
    fn an_id_has_one_mask_in_a_report_and_another_in_the_next() {
        let (one, other) = (Mask::random(), Mask::random());
        assert_eq!(one.id("ann"), one.id("ann"));
        assert_ne!(one.id("ann"), one.id("ben"));
        assert_ne!(one.id("ann"), other.id("ann"));
    }

    #[test]
    fn a_key_makes_masks_repeatable() {
        let mask = Mask::new(KEY).unwrap();
        assert_eq!(mask.id("ann"), Mask::new(&format!("{KEY}\n")).unwrap().id("ann"));
        assert_ne!(
            mask.id("ann"),
            Mask::new(&KEY.replace('0', "9")).unwrap().id("ann")
        );
        assert_eq!(mask.id("ann").len(), 13);
        assert_eq!(mask.key("0123456789abcdef").len(), 16);
        assert!(!format!("{mask:?}").contains("0f1e"));
    }

    #[test]
    fn a_weak_key_is_refused() {
        assert_eq!(Mask::new(KEY.split_at(1).1).unwrap_err(), KeyError::TooShort);
        assert_eq!(Mask::new(&"a".repeat(40)).unwrap_err(), KeyError::Uniform);
    }

    #[test]
    fn a_masked_path_keeps_a_known_extension() {
        let mask = Mask::new(KEY).unwrap();
        assert!(mask.path("ann/chat.json").contains(".json"));
        assert!(!mask.path("chat.ann").contains("ann"));
        assert_ne!(mask.path("ann/chat.json"), mask.path("ben/chat.json"));
        assert!(mask.supplier("ann").starts_with("supplier-") && !mask.supplier("ann").contains("ann"));
    }
}
