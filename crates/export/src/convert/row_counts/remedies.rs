//! Settings that would keep rows that are left out because the assistant is not the last speaker, with figures: the turns of these rows are counted
//! during the export, so no second run is needed. The remedies for other reasons are listed with them.

use serde_json::Value;

use crate::envelope::ExportRow;
use crate::envelope::turns::{self, ASSISTANT, Turn};
use crate::fields;
use crate::filter::Filters;

/// The rule of an envelope that requires the assistant's turn at the end.
const LAST_TURN: &str = "SFT-02";
/// The filter that may require it.
const LAST_ROLE: &str = "last-role";

/// The clauses of an advice that do not propose what the plan of the dataset already has: a setting is between backquotes, as `key = value`. `None`
/// if no clause remains.
pub fn not_set_yet(plan: &Value, advice: &str) -> Option<String> {
    let is_set = |code: &str| {
        let setting = code.rsplit_once("--set ").map_or(code, |(_, setting)| setting);
        let Some((key, value)) = setting.split_once('=') else {
            return false;
        };
        let value = value.trim().trim_matches('"');
        let planned = plan.pointer(&format!("/{}", key.trim().replace('.', "/")));
        let planned = planned.map(|planned| {
            planned
                .as_str()
                .map_or_else(|| planned.to_string(), str::to_owned)
        });
        planned.is_some_and(|planned| planned == value)
    };
    let clauses = advice.split("; ");
    let clauses: Vec<&str> = clauses
        .filter(|clause| !clause.split('`').skip(1).step_by(2).any(is_set))
        .collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Rows that are left out because of their last turn.
#[derive(Debug, Default)]
pub(crate) struct LastTurns {
    /// Whether the filter requires the assistant.
    is_filtered: bool,
    /// The rows with a text of the assistant after a message of another speaker.
    answering: u64,
    /// The rows with a text or a call of the assistant after such a message.
    acting: u64,
    /// The assistant's messages in them.
    steps: u64,
}

impl LastTurns {
    /// Counts only if the dataset's plan has whole conversations: otherwise the figures for other windows are not known.
    pub(crate) fn of(plan: &Value, filters: &Filters) -> Option<Self> {
        let key = |name: &str| plan.pointer(&format!("/window/{name}"));
        let is_document = key("mode").is_none_or(|mode| mode.is_null() || mode == "document");
        let is_whole = ["per_turn", "session_gap", "max_tokens"]
            .into_iter()
            .all(|name| key(name).is_none_or(|value| value.is_null() || value == false || value == "none"));
        (is_document && is_whole).then(|| Self {
            is_filtered: filters.last_role.as_deref() == Some(ASSISTANT),
            ..Self::default()
        })
    }

    /// Counts a row that is left out.
    pub(crate) fn add(&mut self, reason: &str, row: &ExportRow<'_>) {
        let code = reason.split_once(':').map_or(reason, |(code, _)| code);
        if code != LAST_TURN && !(code == LAST_ROLE && self.is_filtered) {
            return;
        }
        let Some(fields) = fields::of(row.content) else {
            return;
        };
        let messages = fields.iter().find(|field| field.name == "messages");
        let Some(turns) = messages.and_then(|field| turns::of(&field.json)) else {
            return;
        };
        let is_others = |turn: &Turn<'_>| {
            !turn.message.is_assistant() && !["system", "tool"].contains(&&*turn.message.role)
        };
        let own = turns.iter().skip_while(|turn| !is_others(turn));
        let own: Vec<&Turn<'_>> = own.filter(|turn| turn.message.is_assistant()).collect();
        let has_text = |turn: &&Turn<'_>| {
            turn.message
                .content
                .is_some_and(|content| !matches!(content.get(), "null" | "\"\""))
        };
        self.answering += u64::from(own.iter().any(has_text));
        self.acting += u64::from(!own.is_empty());
        self.steps += own.len() as u64;
    }

    /// The settings that would keep most of the rows, if fewer than half are kept; `trained` is the number of trained turns in these.
    pub(crate) fn note(&self, read: u64, written: u64, trained: Option<u64>) -> Option<String> {
        if written * 2 >= read || self.acting == 0 {
            return None;
        }
        let answers = format!(
            "{} of {read} with `window.mode = \"consecutive\"`",
            written + self.answering
        );
        let calls = (self.acting > self.answering).then(|| {
            format!(
                "{} with `window.targets = \"steps\"` as well (a call may be last)",
                written + self.acting
            )
        });
        let steps = trained.or((written == 0).then_some(0)).map(|trained| {
            format!(
                "{} with `window.mode = \"per_turn\"` and `window.targets = \"steps\"`",
                trained + self.steps
            )
        });
        let ways: Vec<String> = [Some(answers), calls, steps].into_iter().flatten().collect();
        Some(format!("rows that end with the assistant: {}", ways.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = r#"{"role":"user","content":"Tide in Porto?"}"#;
    const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"tide","arguments":"{}"}}]}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"c","content":"3.1"}"#;
    const ANSWER: &str = r#"{"role":"assistant","content":"3.1 m"}"#;

    fn counted(reason: &str, rows: &[&[&str]]) -> LastTurns {
        let mut counts = LastTurns::default();
        for turns in rows {
            let content = format!(r#"{{"messages":[{}]}}"#, turns.join(","));
            let row = ExportRow {
                conversation: "c",
                dialect: "openai-chat",
                perspective: "bot",
                ordinal: 0,
                content: &content,
                assistant_spans: &[],
                learned_spans: &[],
                rejected: None,
                label: None,
                extra: None,
            };
            counts.add(reason, &row);
        }
        counts
    }

    #[test]
    fn rows_with_an_answer_or_a_call_would_be_kept_by_other_windows() {
        let rows: [&[&str]; 4] = [
            &[ASKED, CALL, RESULT, ANSWER, ASKED],
            &[ASKED, CALL, RESULT],
            // There is no question, or no answer.
            &[ANSWER, ASKED],
            &[ASKED],
        ];
        let counts = counted("SFT-02: the last turn is not the assistant's", &rows);
        assert_eq!((counts.answering, counts.acting, counts.steps), (1, 2, 3));
        assert_eq!(
            counts.note(5, 1, Some(2)).unwrap(),
            "rows that end with the assistant: 2 of 5 with `window.mode = \"consecutive\"`, 3 with `window.targets = \"steps\"` as well (a \
             call may be last), 5 with `window.mode = \"per_turn\"` and `window.targets = \"steps\"`"
        );
        assert!(counts.note(5, 1, None).unwrap().ends_with("(a call may be last)"));
    }

    #[test]
    fn nothing_is_said_where_half_is_kept_or_another_reason_leaves_rows_out() {
        let counts = counted("SFT-02: x", &[&[ASKED, ANSWER, ASKED]]);
        assert!(counts.note(2, 1, None).is_none() && counts.note(2, 0, None).is_some());
        assert!(
            counted("last-role: user", &[&[ASKED, ANSWER, ASKED]])
                .note(2, 0, None)
                .is_none()
        );
        assert!(
            counted("SFT-03: x", &[&[ASKED, ANSWER, ASKED]])
                .note(2, 0, None)
                .is_none()
        );
    }

    #[test]
    fn an_advice_loses_the_clauses_that_propose_what_the_plan_has() {
        let plan = serde_json::json!({"window": {"mode": "consecutive", "overlap": 2}, "perspective": {"as": "each-participant"}});
        for (advice, left) in [
            ("choose windows: `window.mode = \"consecutive\"`", None),
            (
                "choose windows: `window.mode = \"per_turn\"`",
                Some("choose windows: `window.mode = \"per_turn\"`"),
            ),
            (
                "convert with `--set perspective.as=each-participant`; take `trl-kto`",
                Some("take `trl-kto`"),
            ),
            (
                "`window.overlap = 2` shows more; `a.b = c` less",
                Some("`a.b = c` less"),
            ),
            ("leave it out at the source", Some("leave it out at the source")),
        ] {
            assert_eq!(not_set_yet(&plan, advice).as_deref(), left, "{advice}");
        }
    }

    #[test]
    fn windows_of_a_plan_leave_no_figures() {
        let plan = |window: &str| serde_json::from_str(&format!(r#"{{"window":{window}}}"#)).unwrap();
        assert!(
            LastTurns::of(
                &plan(r#"{"mode":"document","session_gap":"none"}"#),
                &Filters::default()
            )
            .is_some()
        );
        assert!(LastTurns::of(&plan("{}"), &Filters::default()).is_some());
        for window in [
            r#"{"mode":"per_turn"}"#,
            r#"{"session_gap":"6h"}"#,
            r#"{"max_tokens":{}}"#,
            r#"{"per_turn":true}"#,
        ] {
            assert!(
                LastTurns::of(&plan(window), &Filters::default()).is_none(),
                "{window}"
            );
        }
    }
}
