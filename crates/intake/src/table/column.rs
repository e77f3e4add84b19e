//! A column as declared by the definition of its table.

/// A declared column.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
    /// The name of a type that may be a domain.
    pub(crate) domain: Option<String>,
}

/// The kind of a declared type, if its values are not written as plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    #[default]
    Plain,
    /// The text of a value is JSON.
    Json,
    /// Bytes, which may be text.
    Bytes,
    /// Truth values.
    Truth,
    /// Times that are written in the time zone of the session.
    Instant,
}

impl Column {
    /// A column of this kind.
    pub(crate) fn of(name: String, kind: ColumnKind) -> Self {
        Self {
            name,
            kind,
            domain: None,
        }
    }

    /// A column of which only the name is known.
    pub(crate) fn plain(name: &str) -> Self {
        Self::of(name.to_owned(), ColumnKind::Plain)
    }
}

impl ColumnKind {
    /// This kind, or the other one if this is plain.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Plain { other } else { self }
    }
}

impl std::fmt::Debug for Column {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}", self.name)?;
        match self.kind {
            ColumnKind::Plain => Ok(()),
            kind => write!(out, " {kind:?}"),
        }
    }
}
