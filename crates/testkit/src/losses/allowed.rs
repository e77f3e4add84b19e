//! What declared losses allow in a rendering: elements that are elsewhere, elements that are missing, and text that
//! belongs to no element.

use chatmill_dialect::LossCode;
use chatmill_model::{MediaKind, MediaSource, Role};

use super::declared::is_white;
use super::elements::{Element, Kind, quoted};
use super::search::{Search, State, text_of};

impl Search<'_, '_> {
    /// Whether an element may be at another place than in the conversation.
    pub(super) fn may_move(&self, index: usize) -> bool {
        use LossCode::{
            PartFlattened, PartMoved, ResultEarlyMoved, ResultLateMoved, SystemHoisted, SystemInlined,
            TurnMoved, TurnSplit,
        };
        let element = &self.source[index];
        let moves = |codes: &[LossCode], position| self.declared.any_at(codes, position) > 0;
        let caller = element.call.map(|place| place.position);
        match element.kind {
            _ if element.call.is_some()
                || element.belongs_to_result
                || matches!(element.kind, Kind::Result(_)) =>
            {
                moves(
                    &[ResultLateMoved, ResultEarlyMoved, TurnMoved, PartMoved, TurnSplit],
                    element.position(),
                ) || caller.is_some_and(|caller| moves(&[PartMoved, TurnSplit], caller))
            }
            Kind::Reasoning(_) if moves(&[PartFlattened], element.position()) => true,
            Kind::Media(_)
                if self.is_counted() && moves(&[LossCode::MediaPlaceholder], element.position()) =>
            {
                true
            }
            _ if element.message.role == Role::System => moves(
                &[TurnMoved, SystemHoisted, SystemInlined, PartMoved],
                element.position(),
            ),
            _ => moves(&[TurnMoved, PartMoved, TurnSplit], element.position()),
        }
    }

    /// Whether an element may be missing.
    pub(super) fn may_be_lost(&self, element: &Element<'_>) -> bool {
        let position = element.position();
        let has = |code| self.declared.at(code, position) > 0;
        if self.declared.any_at(&element.dropped_by(), position) > 0 {
            return true;
        }
        match &element.kind {
            Kind::Text(text) => {
                has(LossCode::WhitespaceTrimmed) && text.trim_matches(is_white).is_empty()
                    || has(LossCode::LeakedMetadataRemoved)
                        && !self.declared.ends(text, position, "").is_empty()
                    || has(LossCode::ControlCharacterRemoved) && text.chars().all(char::is_control)
                    || has(LossCode::Truncated)
                    // A reader that looks for a thought before a text skips blanks.
                    || text.trim().is_empty() && self.read.iter().any(|read| matches!(read.kind, Kind::Reasoning(_)))
                    || has(LossCode::SpecialTokenInText) && self.has_replies()
            }
            Kind::Quote(words) => self.has_replies() || words.trim().is_empty() || words.contains("[meta]"),
            // The words that name a medium are adjacent to the text, and a reader takes both for a quote.
            Kind::Media(_)
                if element.belongs_to_result
                    && [
                        LossCode::RoleMapped,
                        LossCode::OrphanResultInlined,
                        LossCode::ResultWrapped,
                    ]
                    .into_iter()
                    .any(has) =>
            {
                // The text is part of the text of the result.
                has(LossCode::MediaPlaceholder) || has(LossCode::PartFlattened)
            }
            Kind::Media(media) => {
                let is_address = |text: &str| matches!(&media.source, MediaSource::Url(url) if text.contains(url.as_str()));
                let stands_there = media.kind == MediaKind::Link && element.message.texts().any(is_address);
                let is_quote = has(LossCode::SpecialTokenInText) && self.has_replies();
                has(LossCode::MediaPlaceholder) && (is_quote || stands_there || self.is_counted())
            }
            _ => false,
        }
    }

    /// Whether replies were read back, which may actually be texts that look like quotes.
    pub(super) fn has_replies(&self) -> bool {
        self.read.iter().any(|read| !read.message.references.is_empty())
    }

    /// Whether a transcript counts media instead of naming them.
    pub(super) fn is_counted(&self) -> bool {
        let is_count = |text: &str| text == "[Media]" || text.ends_with(" media items]");
        self.read.iter().filter_map(text_of).any(is_count)
    }

    /// Whether a loss adds the next element that was read back.
    pub(super) fn is_added(&self, state: &State) -> bool {
        let read = &self.read[state.read];
        match &read.kind {
            Kind::Text("[start]") => self.declared.whole(LossCode::EmptyFilled) > 0,
            Kind::Text(text) => {
                let next = self.source.get(state.source);
                next.is_some_and(|element| {
                    let named = self.prefixes(element, text);
                    named
                        .iter()
                        .any(|(length, _, is_named)| *is_named && text.trim_end().len() + 1 == *length)
                })
            }
            Kind::Result(result) => {
                let missing = self.declared.anywhere(LossCode::MissingResultSynthesised);
                missing && result.content.contains("no result was recorded")
            }
            Kind::CacheMark => {
                self.declared.whole(LossCode::TurnMerged) > 0
                    || self.declared.anywhere(LossCode::MissingResultSynthesised)
            }
            Kind::Media(media) => {
                // A medium of a quoted message is part of the quote.
                let inlines = self.declared.anywhere(LossCode::ReferenceInlined);
                let MediaSource::Url(url) = &media.source else {
                    return false;
                };
                let quoted = self
                    .source
                    .iter()
                    .flat_map(|element| quoted(self.case.view.linked, element.message));
                let media = self
                    .case
                    .view
                    .conversation()
                    .messages
                    .iter()
                    .flat_map(|message| &message.parts);
                let mut known = media.map(|part| format!("{part:?}")).chain(quoted);
                inlines && known.any(|words| words.contains(url.as_str()))
            }
            // The head of a message from which everything else is lost.
            Kind::Nothing => self.case.is_text,
            _ => false,
        }
    }
}
