//! Whether a user's message precedes the last answer of a rendering.
//!
//! A model that is trained on an answer without a question learns to write unasked, and a model that is trained on an answer to `[start]` learns a
//! question that no user asked. Only the turns decide, in any dialect: system text, calls, their results and turns without text are not
//! questions.

use std::borrow::Cow;

use chatmill_dialect::{LossCode, SYNTHETIC_QUESTION};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::candidate::Candidate;
use crate::envelope::{Envelope, Question};
use crate::fields;
use crate::filter::Filters;
use crate::filter::reasons::{MADE_UP, NOTHING_ASKED};

/// A turn, with the names that the dialects use for its members.
#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow, alias = "from")]
    role: Cow<'a, str>,
    #[serde(borrow, default, alias = "value", alias = "parts")]
    content: Option<&'a RawValue>,
}

/// One of several pieces of a turn; a piece without text is a medium.
#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// The reason for leaving out a rendering with a missing or generated question; `None` if a user asks, or there is no answer.
pub(crate) fn reason(
    envelope: &Envelope,
    filters: &Filters,
    candidate: &Candidate<'_>,
) -> Option<&'static str> {
    let is_filled = candidate
        .rendering
        .loss_codes
        .contains(&LossCode::EmptyFilled.as_str());
    let wants_question = envelope.question == Question::BeforeAnswer && !filters.keep_unasked;
    if !is_filled && !wants_question {
        return None;
    }
    let row = candidate.row();
    let turns = turns(row.content)?;
    let starts_with_placeholder = is_filled
        && turns
            .iter()
            .find(|turn| !turn.is_system())
            .is_some_and(Turn::is_start);
    if wants_question && !is_asked(&turns, starts_with_placeholder) {
        return Some(NOTHING_ASKED.words);
    }
    starts_with_placeholder.then_some(MADE_UP.words)
}

/// Whether a user asks before the last answer; also true without an answer.
fn is_asked(turns: &[Turn<'_>], is_first_placeholder: bool) -> bool {
    let Some(answer) = turns.iter().rposition(Turn::is_answer) else {
        return true;
    };
    let mut asking = turns.iter().take(answer).filter(|turn| turn.asks());
    if is_first_placeholder {
        asking.next();
    }
    asking.next().is_some()
}

/// The turns of a rendering; `None` if it is not a conversation in turns.
fn turns(content: &str) -> Option<Vec<Turn<'_>>> {
    let fields = fields::of(content)?;
    let is_list = |name: &str| ["messages", "conversations", "contents"].contains(&name);
    let list = fields.into_iter().find(|field| is_list(&field.name))?;
    match list.json {
        Cow::Borrowed(json) => serde_json::from_str(json).ok(),
        Cow::Owned(_) => None,
    }
}

impl Turn<'_> {
    fn is_system(&self) -> bool {
        ["system", "developer"].contains(&&*self.role)
    }

    fn is_answer(&self) -> bool {
        ["assistant", "gpt", "function_call", "model"].contains(&&*self.role)
    }

    fn asks(&self) -> bool {
        ["user", "human"].contains(&&*self.role)
            && self.pieces().iter().any(|piece| {
                let text = piece.text.as_deref();
                text.is_none_or(|text| !text.trim().is_empty())
            })
    }

    fn is_start(&self) -> bool {
        matches!(self.pieces().as_slice(), [only] if only.text.as_deref() == Some(SYNTHETIC_QUESTION))
    }

    /// The pieces of the content; a text is one piece.
    fn pieces(&self) -> Vec<Piece<'_>> {
        let Some(json) = self.content.map(RawValue::get) else {
            return Vec::new();
        };
        match serde_json::from_str::<String>(json) {
            Ok(text) => vec![Piece {
                text: Some(text.into()),
            }],
            Err(_) => serde_json::from_str(json).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::RenderingFacts;
    use crate::envelope::find;

    /// The envelopes for trainers that learn the answers of whole conversations.
    const FOUR: [&str; 4] = ["trl-messages", "openai-sft", "axolotl", "llama-factory"];

    /// The reasons for which an envelope leaves a conversation out, in the shape of its dialect, without and with `--keep-unasked`.
    fn reasons(id: &str, turns: &[(&str, &str)]) -> [Option<&'static str>; 2] {
        let envelope = find(id).unwrap();
        let is_sharegpt = envelope.dialects == ["sharegpt"];
        let turn_json = |role: &str, content: &str| {
            if is_sharegpt {
                let from = match role {
                    "user" => "human",
                    "assistant" => "gpt",
                    other => other,
                };
                format!("{{\"from\":\"{from}\",\"value\":{content}}}")
            } else {
                format!("{{\"role\":\"{role}\",\"content\":{content}}}")
            }
        };
        let mut messages: Vec<String> = Vec::new();
        let is_opened = is_sharegpt && turns.iter().find(|turn| turn.0 != "system").unwrap().0 == "assistant";
        if is_opened {
            messages.push(turn_json("user", "\"[start]\""));
        }
        let shown = turns.iter().filter(|(role, _)| !is_sharegpt || *role != "system");
        messages.extend(shown.map(|(role, content)| turn_json(role, content)));
        let key = if is_sharegpt { "conversations" } else { "messages" };
        let content = format!("{{\"{key}\":[{}]}}", messages.join(","));
        let loss_codes: &[&str] = if is_opened { &["empty-filled"] } else { &[] };
        [false, true].map(|keep_unasked| reason_of(envelope, &content, loss_codes, keep_unasked))
    }

    fn reason_of(
        envelope: &Envelope,
        content: &str,
        loss_codes: &[&str],
        keep_unasked: bool,
    ) -> Option<&'static str> {
        let rendering = RenderingFacts {
            conversation: "c",
            perspective: "bot",
            ordinal: 0,
            shown: None,
            content: Some(content),
            assistant_spans: &[],
            learned_spans: &[],
            last_role: None,
            loss_codes,
            amounts: None,
            violations: &[],
            tokens: 0,
            rejected: None,
            label: None,
            left_out: None,
            columns: &[],
        };
        let filters = Filters {
            keep_unasked,
            ..Filters::default()
        };
        reason(
            envelope,
            &filters,
            &Candidate {
                rendering: &rendering,
                dialect: envelope.dialects[0],
                is_valid: true,
                is_json: true,
            },
        )
    }

    #[test]
    fn an_answer_without_a_question_is_left_out_unless_unasked_answers_are_wanted() {
        let talks: &[&[(&str, &str)]] = &[
            &[("system", "\"Be brief.\""), ("assistant", "\"Welcome aboard.\"")],
            &[("assistant", "\"Welcome aboard.\"")],
            &[("assistant", "\"Welcome aboard.\""), ("user", "\"Thanks.\"")],
            &[
                ("assistant", "\"\""),
                ("tool", "\"4\""),
                ("assistant", "\"It is 4.\""),
            ],
        ];
        for id in FOUR {
            // A format that requires a user first needs a generated question before such an answer.
            let with_unasked = (id == "llama-factory").then_some(MADE_UP.words);
            for talk in talks {
                assert_eq!(
                    reasons(id, talk),
                    [Some(NOTHING_ASKED.words), with_unasked],
                    "{id} {talk:?}"
                );
            }
        }
    }

    #[test]
    fn a_turn_without_words_counts_as_no_question() {
        for id in FOUR {
            for nothing in ["\"\"", "\" \\n\"", "null", "[]", r#"[{"type":"text","text":""}]"#] {
                let talk = [("user", nothing), ("assistant", "\"Is somebody there?\"")];
                assert_eq!(
                    reasons(id, &talk),
                    [Some(NOTHING_ASKED.words), None],
                    "{id} {nothing}"
                );
            }
        }
    }

    #[test]
    fn a_turn_of_words_or_media_counts_as_a_question() {
        let picture = r#"[{"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]"#;
        for id in FOUR {
            for asked in ["\"Hi\"", "\"[start]\"", picture] {
                let talk = [("user", asked), ("assistant", "\"Hello\"")];
                assert_eq!(reasons(id, &talk), [None, None], "{id} {asked}");
            }
            // Without an answer, the rules of the envelope decide.
            assert_eq!(reasons(id, &[("user", "\"Hi\"")]), [None, None], "{id}");
        }
    }

    #[test]
    fn a_greeting_before_a_question_stays_unless_the_dialect_adds_a_placeholder() {
        let talk = [
            ("assistant", "\"Good morning.\""),
            ("user", "\"When does the ferry leave?\""),
            ("assistant", "\"At nine.\""),
        ];
        for id in FOUR {
            let left = (id == "llama-factory").then_some(MADE_UP.words);
            assert_eq!(reasons(id, &talk), [left, left], "{id}");
        }
    }

    #[test]
    fn every_envelope_leaves_out_a_placeholder_question() {
        let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"[start]"}]},{"role":"model","parts":[{"text":"Ahoy"}]}]}"#;
        let bedrock = r#"{"messages":[{"role":"user","content":[{"text":"[start]"}]},{"role":"assistant","content":[{"text":"Ahoy"}]}]}"#;
        let ranking =
            r#"{"conversations":[{"from":"human","value":"[start]"},{"from":"gpt","value":"Ahoy"}]}"#;
        for (id, content) in [
            ("vertex-tuning", gemini),
            ("bedrock-conversation-2024", bedrock),
            ("llama-factory-ranking", ranking),
        ] {
            let envelope = find(id).unwrap();
            for keep in [false, true] {
                let found = reason_of(envelope, content, &["empty-filled"], keep);
                assert_eq!(found, Some(MADE_UP.words), "{id}");
                // A user may send this text.
                assert_eq!(reason_of(envelope, content, &[], keep), None, "{id}");
            }
        }
    }
}
