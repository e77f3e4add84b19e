//! Pseudonyms: the same value and key give the same pseudonym, and the value cannot be found without the key.
//!
//! Pseudonyms have the form of the replaced value if a reader of the data may rely on it, and are in reserved ranges: `.invalid` domains,
//! documentation addresses, an unassigned country code. All are ASCII without quotes and backslashes, so that they fit into JSON and URLs
//! without escapes.

use std::fmt::Write as _;

use crate::kind::PersonalKind;

/// The shortest key in bytes.
pub const SHORTEST_KEY: usize = 32;

/// The reason why a key is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The key is shorter than [`SHORTEST_KEY`].
    TooShort,
    /// The key repeats one byte.
    Uniform,
}

/// The key of a run's pseudonyms.
#[derive(Clone)]
pub struct PseudonymKey {
    secret: [u8; 32],
    id: String,
}

impl std::fmt::Debug for PseudonymKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Key")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl PseudonymKey {
    /// Makes a key from the content of a key file, without the white space at its ends.
    pub fn new(content: &str) -> Result<Self, KeyError> {
        let content = content.trim().as_bytes();
        if content.len() < SHORTEST_KEY {
            return Err(KeyError::TooShort);
        }
        if content.iter().all(|byte| Some(byte) == content.first()) {
            return Err(KeyError::Uniform);
        }
        let id = blake3::derive_key("chatmill 2026-11 redaction: id of the key", content);
        Ok(Self {
            secret: blake3::derive_key("chatmill 2026-11 redaction: pseudonyms", content),
            id: blake3::Hash::from(id).to_hex().chars().take(32).collect(),
        })
    }

    /// A fingerprint of the key, which does not reveal it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The pseudonym of a value in its normal form.
    pub(crate) fn pseudonym(&self, kind: PersonalKind, value: &str, form: Form) -> String {
        let digest = Digest(keyed_hash(&self.secret, kind.as_str(), value));
        if form == Form::Number {
            // No issuer and no country has numbers with this beginning.
            return format!("9990{:012}", digest.number() % 1_000_000_000_000);
        }
        match kind {
            PersonalKind::Email => format!("email-{}@example.invalid", digest.short()),
            PersonalKind::Phone => format!("+999{:011}", digest.number() % 100_000_000_000),
            PersonalKind::Ip if value.contains(':') => {
                let mut address = String::from("2001:db8:");
                for group in digest.groups() {
                    let _ = write!(address, ":{group:x}");
                }
                address
            }
            PersonalKind::Ip => {
                let number = digest.number();
                let network = match (number >> 8) % 3 {
                    0 => "192.0.2",
                    1 => "198.51.100",
                    _ => "203.0.113",
                };
                format!("{network}.{}", number & 0xff)
            }
            PersonalKind::Card => format!("[card-{}]", digest.short()),
            PersonalKind::Iban => format!("[iban-{}]", digest.short()),
            PersonalKind::Secret => format!("secret-{}", digest.short()),
            PersonalKind::Name => digest.short(),
        }
    }
}

/// The hash of a value of a kind, which cannot be computed without the key.
pub(crate) fn keyed_hash(key: &[u8; 32], kind: &str, value: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(kind.as_bytes());
    hasher.update(&[0]);
    hasher.update(value.as_bytes());
    hasher.finalize()
}

/// The place of a pseudonym.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// In text.
    Text,
    /// Instead of a number in JSON.
    Number,
}

struct Digest(blake3::Hash);

impl Digest {
    fn short(&self) -> String {
        self.0.to_hex().chars().take(8).collect()
    }

    fn number(&self) -> u64 {
        let first = self.0.as_bytes().iter().take(8);
        first.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Four groups of an address; the first is never zero, so that the address has one spelling.
    fn groups(&self) -> [u16; 4] {
        let number = self.number();
        let group = |shift: u32| u16::try_from((number >> shift) & 0xffff).unwrap_or(0);
        [group(48) | 1, group(32) | 1, group(16) | 1, group(0) | 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "a key of our own making, long enough";

    #[test]
    fn short_and_uniform_keys_are_refused() {
        assert_eq!(
            PseudonymKey::new(&"ab".repeat(15)).unwrap_err(),
            KeyError::TooShort
        );
        assert_eq!(
            PseudonymKey::new(&format!("{}   \n", "ab".repeat(15))).unwrap_err(),
            KeyError::TooShort
        );
        assert_eq!(PseudonymKey::new(&"a".repeat(64)).unwrap_err(), KeyError::Uniform);
        assert!(PseudonymKey::new(&"ab".repeat(16)).is_ok());
    }

    #[test]
    fn the_same_value_and_key_give_the_same_pseudonym_and_others_do_not() {
        let key = PseudonymKey::new(KEY).unwrap();
        let other = PseudonymKey::new(&format!("{KEY}!")).unwrap();
        for kind in PersonalKind::ALL {
            let first = key.pseudonym(kind, "value", Form::Text);
            assert_eq!(first, key.pseudonym(kind, "value", Form::Text));
            assert_ne!(first, other.pseudonym(kind, "value", Form::Text), "{kind:?}");
            assert_ne!(first, key.pseudonym(kind, "other", Form::Text), "{kind:?}");
        }
        assert_ne!(key.id(), other.id());
    }

    #[test]
    fn white_space_around_a_key_is_not_part_of_it() {
        let with_break = PseudonymKey::new(&format!("{KEY}\r\n")).unwrap();
        assert_eq!(with_break.id(), PseudonymKey::new(KEY).unwrap().id());
    }

    #[test]
    fn the_debug_form_of_a_key_shows_only_its_id() {
        let key = PseudonymKey::new(KEY).unwrap();
        assert_eq!(format!("{key:?}"), format!("Key {{ id: {:?}, .. }}", key.id()));
    }

    #[test]
    fn pseudonyms_of_ip_addresses_are_of_the_documentation_ranges() {
        let key = PseudonymKey::new(KEY).unwrap();
        for n in 0..200 {
            let four = key.pseudonym(PersonalKind::Ip, &format!("10.0.0.{n}"), Form::Text);
            assert!(
                four.parse::<std::net::Ipv4Addr>().unwrap().is_documentation(),
                "{four}"
            );
            let six = key.pseudonym(PersonalKind::Ip, &format!("fe80::{n}"), Form::Text);
            let parsed: std::net::Ipv6Addr = six.parse().unwrap();
            assert_eq!(parsed.segments()[..2], [0x2001, 0xdb8], "{six}");
            let number = key.pseudonym(PersonalKind::Card, &n.to_string(), Form::Number);
            assert!(number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_digit()));
        }
    }
}
