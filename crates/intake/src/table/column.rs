//! A column as the definition of its table declares it.

/// A declared column.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// The kind of a declared type, as far as its values are written in another way than text.
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
    /// Instants that are written in the zone of the session.
    Instant,
}

impl Column {
    /// A column of which no more than the name is known.
    pub(crate) fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: ColumnKind::Plain,
        }
    }
}

impl ColumnKind {
    /// This kind, or where it is plain another.
    pub(super) fn or(self, other: Self) -> Self {
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
