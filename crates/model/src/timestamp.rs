//! Points in time, with the source's spelling and the origin of the offset.

/// The origin of an instant's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OffsetOrigin {
    /// The time itself has an offset or `Z`.
    Explicit,
    /// The default time zone of the conversation, or the one that a check assumes for it.
    ConversationZone,
    /// There is none: the instant is unknown.
    Missing,
}

/// A time as the source wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// Microseconds since 1970-01-01T00:00:00Z; `None` if the time cannot be read or has no offset.
    pub instant: Option<i64>,
    /// The text in the source.
    pub raw: String,
    /// The origin of the offset.
    pub offset: OffsetOrigin,
}
