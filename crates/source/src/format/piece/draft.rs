//! The content of a message while its pieces are read.

use std::ops::Range;

use chatmill_model::{Part, RawJson, Role};

use crate::base::texts::transcript;
use crate::base::{ExtraFields, Keep, only_answers, results_last};

/// The content of a message while its pieces are read.
#[derive(Debug, Default)]
pub(in crate::format) struct MessageDraft {
    /// The pieces.
    pub(in crate::format) parts: Vec<Part>,
    /// The positions among them at which a block was not read.
    pub(in crate::format) gaps: Vec<usize>,
    /// Fields without a place, by path.
    pub(in crate::format) extra: ExtraFields,
    /// Ranges of pieces that have a different role.
    pub(in crate::format) other_roles: Vec<(Range<usize>, Role)>,
    /// The number of finished answers of the model in it, and of their pieces.
    pub(in crate::format) ended: (usize, usize),
    /// The role in a vendor's message inside.
    pub(in crate::format) role: Option<Role>,
    /// The name in a vendor's message inside.
    pub(in crate::format) name: Option<String>,
    /// The id of a vendor's message inside.
    pub(in crate::format) id: Option<String>,
    /// The definitions of tools in a vendor's message inside.
    pub(in crate::format) tools: Vec<RawJson>,
}

impl Keep for MessageDraft {
    fn extra_fields(&mut self) -> &mut ExtraFields {
        &mut self.extra
    }
}

impl MessageDraft {
    /// Adds text, if it is not empty.
    pub(super) fn words(&mut self, words: String) {
        self.parts
            .extend((!words.is_empty()).then_some(Part::Text(words)));
    }

    /// Reads several turns in one text, or plain text.
    pub(super) fn written_out(&mut self, text: &str) {
        let Some(turns) = transcript::turns(text) else {
            self.parts.push(Part::Text(text.to_owned()));
            return;
        };
        for (role, words) in turns.into_iter().filter(|(_, words)| !words.is_empty()) {
            let at = self.parts.len();
            self.other_roles.push((at..at + 1, role));
            self.parts.push(Part::Text(words));
        }
    }

    /// Ends an answer of the model: the results of its calls follow it.
    pub(in crate::format) fn end_answer(&mut self) {
        let (answers, pieces) = self.ended;
        if self.parts.len() > pieces && self.other_roles.is_empty() {
            results_last(&mut self.parts, pieces);
            self.ended = (answers + 1, self.parts.len());
        }
    }

    /// Whether the message contains tool results and nothing else.
    pub(in crate::format) fn only_answers(&self) -> bool {
        only_answers(&self.parts)
    }
}
