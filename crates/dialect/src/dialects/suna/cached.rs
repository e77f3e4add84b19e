//! The cached block: the history as one text with a cache mark, the newest user turn and what follows as they are.

use chatmill_model::DEFAULT_PROFILE;

use super::{DATED, LLM, SPECIFICATION, STRINGS, SunaMessages};
use crate::about::DialectAbout;
use crate::list::ContentAs;
use crate::loss::reasons;
use crate::profile::{DialectProfile, MarksOn, Shape, SystemPlace, Texts};

/// Lists with a cached block.
pub(crate) static SUNA_CACHED: SunaMessages = SunaMessages {
    id: "suna-cached",
    profile: DEFAULT_PROFILE,
    about: &ABOUT,
    manner: &MANNER,
    content: ContentAs::StringUnlessMarked,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "Suna messages with a cached block",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, results of tools, calls and ids of the newest turn, cached blocks as they come, quoted replies",
    profiles: &[&SUNA_CACHED],
    ..LLM
};

static MANNER: DialectProfile = DialectProfile {
    shape: Shape::History,
    system: SystemPlace::Start,
    texts: Texts::JoinedWithoutMarks,
    cache_marks: Some((4, reasons::FOUR_CACHE_MARKS)),
    marks_on: MarksOn::Texts,
    ..STRINGS
};
