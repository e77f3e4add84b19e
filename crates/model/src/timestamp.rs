//! Points in time, with the source's spelling and the origin of the offset.

/// Where the offset of an instant came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OffsetOrigin {
    /// The time itself carries an offset or `Z`.
    Explicit,
    /// The conversation's default time zone, or the one that a check takes for it.
    ConversationZone,
    /// There is none: the instant is unknown.
    Missing,
}

/// A time as the source wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// Microseconds since 1970-01-01T00:00:00Z, unless the time cannot be read or has no offset.
    pub instant: Option<i64>,
    /// The source's text.
    pub raw: String,
    /// Where the offset came from.
    pub offset: OffsetOrigin,
}
