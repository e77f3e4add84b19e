//! The list with the history as one text with a cache mark; the newest user turn and what follows it are unchanged.

use super::{LLM, MARKED_LIST, STRINGS};
use crate::loss::reasons;
use crate::passes::dialect::{Dialect, DialectAbout, Shows};
use crate::passes::profile::{DialectProfile, MarksOn, Shape, SystemPlace, Texts};

/// Lists with a cached block.
pub(crate) static SUNA_CACHED: Dialect =
    Dialect::turns(&ABOUT, &PROFILE, |plan, sink| MARKED_LIST.write(plan, sink));

static ABOUT: DialectAbout = DialectAbout {
    id: "suna-cached",
    title: "Suna messages with a cached block",
    carries: "text, results of tools, calls and ids of the newest turn, cached blocks as they come, quoted replies",
    profiles: &[&SUNA_CACHED],
    shows: Shows::Flattened,
    ..LLM
};

static PROFILE: DialectProfile = DialectProfile {
    shape: Shape::History,
    system: SystemPlace::Start,
    texts: Texts::JoinedWithoutMarks,
    cache_marks: Some((4, reasons::FOUR_CACHE_MARKS)),
    marks_on: MarksOn::Texts,
    ..STRINGS
};
