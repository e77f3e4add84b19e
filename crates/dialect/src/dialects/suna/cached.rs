//! The cached block: the history as one text with a cache mark, the newest user turn and what follows as they are.

use chatmill_model::Sink;

use super::{DATED, LIST, LLM, SPECIFICATION, STRINGS};
use crate::about::DialectAbout;
use crate::list::{ContentAs, List};
use crate::loss::{LossCode, reasons};
use crate::passes;
use crate::profile::{DialectProfile, MarksOn, Shape, SystemPlace, Texts};
use crate::transcript::Transcript;
use crate::{Dialect, Emit};

/// The dialect of lists with a cached block.
pub(crate) struct SunaCached;

static ABOUT: DialectAbout = DialectAbout {
    title: "Suna messages with a cached block",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, results of tools, calls and ids of the newest turn, cached blocks as they come, quoted replies",
    profiles: &[&SunaCached],
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

impl Dialect for SunaCached {
    fn id(&self) -> &'static str {
        "suna-cached"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn loses(&self) -> Vec<LossCode> {
        passes::loses(&MANNER)
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let list = List {
            content: ContentAs::StringUnlessMarked,
            ..LIST
        };
        let rendering = list.render(transcript, &MANNER, sink);
        emit(sink, rendering);
    }
}
