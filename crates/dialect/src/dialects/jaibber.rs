//! Declares what no format of Jaibber has a place for: system text, tools, thoughts, cache marks.

use chatmill_model::{Message, Part, Role};

use crate::loss::{LossCode, Losses, reasons};
use crate::messages::unsupported::NoPlace;
use crate::tools::forms;
use crate::view::View;

/// The losses that [`declare_no_place`] may declare.
pub(crate) const LOSES: &[LossCode] = &[
    LossCode::SystemDropped,
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::ToolDefinitionDropped,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
    LossCode::NoticeDropped,
    LossCode::MediaDropped,
];

const NO_PLACE: NoPlace = NoPlace {
    notices: Some(reasons::MESSAGE_HAS_NO_NOTICES),
    ..NoPlace::FORMAT
};

/// Declares parts of the covered messages that have no place.
pub(crate) fn declare_no_place(view: &View<'_>, covered: &[&Message], losses: &mut Losses) {
    for message in covered.iter().filter(|message| View::is_turn(message)) {
        let position = message.position;
        if message.role == Role::System {
            losses.at(reasons::FORMAT_HAS_NO_SYSTEM_TEXT, position);
        }
        for part in &message.parts {
            let code = match part {
                Part::Text(_) if message.role == Role::Tool => LossCode::ToolResultDropped,
                Part::Media(_) if message.role == Role::Tool => LossCode::MediaDropped,
                _ => {
                    NO_PLACE.declare(part, position, losses);
                    continue;
                }
            };
            losses.at((code, reasons::FORMAT_HAS_NO_TOOLS), position);
        }
    }
    let definitions = forms::given(view);
    let reason = reasons::FORMAT_HAS_NO_TOOLS;
    losses.whole_rendering((LossCode::ToolDefinitionDropped, reason), definitions);
}
