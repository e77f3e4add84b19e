//! Thoughts and calls inside the text of an answer, for pieces with `details`.

use chatmill_intake::json::{self, Value};
use chatmill_model::{ArgumentForm, Part, ToolCall, ToolResult};

use super::{MessageDraft, PieceReader};
use crate::base::Site;
use crate::base::arguments::classify;
use crate::base::texts::details::{self, DetailsPiece};

impl PieceReader<'_> {
    /// Reads the thoughts and calls in the text parts from this index on.
    pub(super) fn details(
        self,
        from: usize,
        value: Value<'_>,
        draft: &mut MessageDraft,
        site: &mut Site<'_>,
    ) {
        for part in draft.parts.split_off(from) {
            let found = match &part {
                Part::Text(text) => details::pieces(text),
                _ => None,
            };
            let Some(found) = found else {
                draft.parts.push(part);
                continue;
            };
            for piece in found {
                match piece {
                    DetailsPiece::Words(words) => draft.parts.push(Part::Text(words)),
                    DetailsPiece::Thought(thought) => draft.parts.push(Part::Reasoning(thought)),
                    DetailsPiece::Call(call) => {
                        let arguments = self.unwrapped(call.arguments);
                        let given = classify(arguments.into(), ".content", value, site);
                        let (id, name) = (call.id, call.name);
                        let tool_call = ToolCall::new(id.clone(), name.clone(), (given, ArgumentForm::Text));
                        draft.parts.push(Part::ToolCall(tool_call));
                        draft.parts.extend(call.result.map(|content| {
                            Part::ToolResult(ToolResult {
                                call_id: id,
                                name,
                                content: self.unwrapped(content),
                                ..ToolResult::default()
                            })
                        }));
                    }
                }
            }
        }
    }

    /// The string inside, if the text is a JSON string; other JSON is unchanged.
    fn unwrapped(self, json: String) -> String {
        let document = json::scan(json.as_bytes(), self.limits.depth).ok();
        let text = document.and_then(|document| Some(document.root().as_str()?.into_owned()));
        text.unwrap_or(json)
    }
}
