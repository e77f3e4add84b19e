//! Whether somebody asks before the assistant answers.
//!
//! A trainer that learns an answer to nothing learns to speak unasked, and one that learns an answer to `[start]` learns a
//! question that nobody put. Both are told from the turns alone, whatever shape a dialect gives them: system text, calls and
//! their results ask nothing, and neither does a turn without words.

use std::borrow::Cow;

use chatmill_dialect::{LossCode, MADE_QUESTION};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::candidate::Candidate;
use crate::envelope::Envelope;
use crate::fields;
use crate::filter::Filters;
use crate::filter::reasons::{MADE_UP, NOTHING_ASKED};

/// A turn, by the names that the dialects have for its members.
#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow, alias = "from")]
    role: Cow<'a, str>,
    #[serde(borrow, default, alias = "value", alias = "parts")]
    content: Option<&'a RawValue>,
}

/// A piece of a turn that has several; one without text is a medium.
#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// Why a rendering is left out for what is asked in it; none where that is in order, or nothing is answered.
pub(crate) fn objection(
    envelope: &Envelope,
    filters: &Filters,
    candidate: &Candidate<'_>,
) -> Option<&'static str> {
    let is_filled = candidate
        .made
        .loss_codes
        .contains(&LossCode::EmptyFilled.as_str());
    let wants_question = envelope.wants_question && !filters.keep_unasked;
    if !is_filled && !wants_question {
        return None;
    }
    let row = candidate.row();
    let turns = turns(row.content)?;
    let is_made_up = is_filled
        && turns
            .iter()
            .find(|turn| !turn.is_system())
            .is_some_and(Turn::is_start);
    if wants_question && !is_asked(&turns, is_made_up) {
        return Some(NOTHING_ASKED.words);
    }
    is_made_up.then_some(MADE_UP.words)
}

/// Whether somebody speaks before the last answer; so it is where there is none, for then nobody answers unasked.
fn is_asked(turns: &[Turn<'_>], is_first_made_up: bool) -> bool {
    let Some(answer) = turns.iter().rposition(Turn::is_answer) else {
        return true;
    };
    let mut asking = turns.iter().take(answer).filter(|turn| turn.asks());
    if is_first_made_up {
        asking.next();
    }
    asking.next().is_some()
}

/// The turns of a rendering; none where it is not a conversation in turns.
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
        matches!(self.pieces().as_slice(), [only] if only.text.as_deref() == Some(MADE_QUESTION))
    }

    /// What it holds; a text is one piece.
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
    use crate::candidate::MadeRendering;
    use crate::envelope::find;

    /// The envelopes whose reader learns answers of whole conversations.
    const FOUR: [&str; 4] = ["trl-messages", "openai-sft", "axolotl", "llama-factory"];

    /// Why an envelope leaves a conversation out, in the shape of its dialect, with and without `--keep-unasked`.
    fn reasons(id: &str, turns: &[(&str, &str)]) -> [Option<&'static str>; 2] {
        let envelope = find(id).unwrap();
        let is_sharegpt = envelope.dialects == ["sharegpt"];
        let say = |role: &str, content: &str| {
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
        let mut said: Vec<String> = Vec::new();
        let is_opened = is_sharegpt && turns.iter().find(|turn| turn.0 != "system").unwrap().0 == "assistant";
        if is_opened {
            said.push(say("user", "\"[start]\""));
        }
        let shown = turns.iter().filter(|(role, _)| !is_sharegpt || *role != "system");
        said.extend(shown.map(|(role, content)| say(role, content)));
        let key = if is_sharegpt { "conversations" } else { "messages" };
        let content = format!("{{\"{key}\":[{}]}}", said.join(","));
        let loss_codes: &[&str] = if is_opened { &["empty-filled"] } else { &[] };
        [false, true].map(|keep_unasked| judged(envelope, &content, loss_codes, keep_unasked))
    }

    fn judged(
        envelope: &Envelope,
        content: &str,
        loss_codes: &[&str],
        keep_unasked: bool,
    ) -> Option<&'static str> {
        let made = MadeRendering {
            conversation: "c",
            perspective: "bot",
            ordinal: 0,
            content: Some(content),
            assistant_spans: &[],
            learned_spans: &[],
            last_role: None,
            loss_codes,
            violations: &[],
            tokens: 0,
            rejected: None,
            label: None,
            left_out: None,
        };
        let filters = Filters {
            keep_unasked,
            ..Filters::default()
        };
        objection(
            envelope,
            &filters,
            &Candidate {
                made: &made,
                dialect: envelope.dialects[0],
                is_valid: true,
                is_json: true,
            },
        )
    }

    #[test]
    fn an_answer_that_nobody_asked_for_is_left_out_unless_it_is_kept() {
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
            // A form in which a user comes first cannot hold such an answer without a question that nobody put.
            let kept = (id == "llama-factory").then_some(MADE_UP.words);
            for talk in talks {
                assert_eq!(
                    reasons(id, talk),
                    [Some(NOTHING_ASKED.words), kept],
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
            // Nobody answers: the envelope's own rules say so.
            assert_eq!(reasons(id, &[("user", "\"Hi\"")]), [None, None], "{id}");
        }
    }

    #[test]
    fn a_greeting_before_a_question_stays_where_no_question_is_made_up_for_it() {
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
    fn no_envelope_takes_a_question_that_is_made_up() {
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
                let said = judged(envelope, content, &["empty-filled"], keep);
                assert_eq!(said, Some(MADE_UP.words), "{id}");
                // A person may say that word.
                assert_eq!(judged(envelope, content, &[], keep), None, "{id}");
            }
        }
    }
}
