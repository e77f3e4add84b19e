//! Events that repeat an item.
//!
//! Either of the two may come first, with other lines between them. An event and an item with the same text are
//! twins if they are near each other; each has one twin, so that a text written twice stays twice.

use std::collections::{HashMap, HashSet};

use chatmill_intake::json::Value;

use crate::base::{present, text};
use crate::grammar::responses::is_output;

/// The maximum distance of two twins, in lines.
const NEAR: usize = 64;

/// Texts that are recorded twice, as an item and as an event.
#[derive(Default)]
pub(super) struct Twins {
    /// Lines without a twin so far, by speaker and text: the line's number, and whether it is an event.
    unpaired: HashMap<(&'static str, String), Vec<(usize, bool)>>,
    /// Lines of events that an item repeats.
    events: HashSet<usize>,
    /// Ids of calls with an item as their result.
    answered: HashSet<String>,
}

impl Twins {
    /// Records the texts of an item.
    pub(super) fn item(&mut self, line: usize, item: Value<'_>) {
        let kind = text(item.get("type")).unwrap_or_default();
        match kind.as_str() {
            "message" => {
                let speaker = match text(item.get("role")).as_deref() {
                    Some("user") => "user",
                    Some("assistant") => "agent",
                    _ => return,
                };
                if let Some(content) = present(item, "content") {
                    self.content(line, speaker, content);
                }
            }
            "reasoning" => {
                for field in ["summary", "content"] {
                    let parts = item.get(field).into_iter().flat_map(Value::items);
                    for words in parts.filter_map(|part| text(part.get("text"))) {
                        self.pair(line, "thought", &words, false);
                    }
                }
            }
            kind if is_output(kind) => {
                self.answered.extend(text(item.get("call_id")));
            }
            _ => {}
        }
    }

    /// Records the text of an event.
    pub(super) fn event(&mut self, line: usize, event: Value<'_>) {
        let kind = text(event.get("type")).unwrap_or_default();
        if let Some((speaker, field)) = event_text(&kind)
            && let Some(words) = text(event.get(field))
        {
            self.pair(line, speaker, &words, true);
        }
    }

    /// Records the texts of a content, joined and each separately, because an event contains only the text.
    fn content(&mut self, line: usize, speaker: &'static str, content: Value<'_>) {
        if let Some(words) = content.as_str() {
            self.pair(line, speaker, &words, false);
            return;
        }
        let texts: Vec<String> = content
            .items()
            .filter_map(|part| text(part.get("text")))
            .collect();
        self.pair(line, speaker, &texts.join("\n"), false);
        if texts.len() > 1 {
            for words in &texts {
                self.pair(line, speaker, words, false);
            }
        }
    }

    /// Pairs a line with the nearest earlier line that has the same text in the other form.
    fn pair(&mut self, line: usize, speaker: &'static str, words: &str, is_event: bool) {
        let plain = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let unpaired = self.unpaired.entry((speaker, plain)).or_default();
        match unpaired.last() {
            Some((other, other_is_event)) if *other_is_event != is_event && line - other <= NEAR => {
                self.events.insert(if is_event { line } else { *other });
                unpaired.pop();
            }
            _ => unpaired.push((line, is_event)),
        }
    }

    /// Whether an item repeats the event in this line.
    pub(super) fn has(&self, line: usize) -> bool {
        self.events.contains(&line)
    }

    /// Whether the result of the call with this id is an item.
    pub(super) fn answers(&self, call: Option<&str>) -> bool {
        call.is_some_and(|id| self.answered.contains(id))
    }
}

/// The speaker of an event of this kind, and the field of its text.
pub(super) fn event_text(kind: &str) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        "user_message" => ("user", "message"),
        "agent_message" => ("agent", "message"),
        "agent_reasoning" | "agent_reasoning_raw_content" => ("thought", "text"),
        _ => return None,
    })
}
