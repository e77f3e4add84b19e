//! The kinds of personal data and secrets that are detected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// A kind of personal data or secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RedactKind")]
#[derive(IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum PersonalKind {
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// IPv4 and IPv6 addresses.
    Ip,
    /// Numbers of payment cards.
    Card,
    /// International bank account numbers.
    Iban,
    /// Credentials in URLs, keys of well-known shapes, private keys.
    Secret,
    /// Names and second names of the roster.
    Name,
}

impl PersonalKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Email,
        Self::Phone,
        Self::Ip,
        Self::Card,
        Self::Iban,
        Self::Secret,
        Self::Name,
    ];

    /// The word of the pipeline file.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The noun for one match in a sentence, for example `e-mail address`.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Email => "e-mail address",
            Self::Phone => "telephone number",
            Self::Ip => "IP address",
            Self::Card => "card number",
            Self::Iban => "IBAN",
            Self::Secret => "secret",
            Self::Name => "name of the roster",
        }
    }
}
