//! What is looked for.

/// A kind of personal data or secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PersonalKind {
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// An IPv4 or IPv6 address.
    Ip,
    /// The number of a payment card.
    Card,
    /// An international bank account number.
    Iban,
    /// A credential: in a URL, or of a well-known shape.
    Secret,
    /// A name of the roster.
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
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Ip => "ip",
            Self::Card => "card",
            Self::Iban => "iban",
            Self::Secret => "secret",
            Self::Name => "name",
        }
    }

    /// What one of them is called in a sentence, for example `e-mail address`.
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

    /// Its place in [`PersonalKind::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}
