//! Message lists in the form of Chat Completions, with the fields that envelopes read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fields;

/// The assistant's role.
pub(crate) const ASSISTANT: &str = "assistant";

/// A message with its JSON.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) json: &'a str,
    pub(crate) message: Message<'a>,
}

/// The fields of a message.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) role: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) tool_calls: Vec<Call<'a>>,
    #[serde(borrow, default)]
    pub(crate) tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) reasoning_content: Option<&'a RawValue>,
}

/// A call of a tool.
#[derive(Debug, Deserialize)]
pub(crate) struct Call<'a> {
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) function: Function<'a>,
}

/// The function of a call, with its arguments.
#[derive(Debug, Deserialize)]
pub(crate) struct Function<'a> {
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// JSON: an object, or a string with an object in it.
    #[serde(borrow)]
    pub(crate) arguments: &'a RawValue,
}

/// A part of a message with a list as content.
#[derive(Debug, Deserialize)]
pub(crate) struct SplitPart<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) image_url: Option<Picture<'a>>,
    #[serde(borrow, default, alias = "path")]
    pub(crate) url: Option<Cow<'a, str>>,
}

/// A picture by its address.
#[derive(Debug, Deserialize)]
pub(crate) struct Picture<'a> {
    #[serde(borrow)]
    pub(crate) url: Cow<'a, str>,
}

impl<'a> Message<'a> {
    /// The content, if it is a text.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        fields::string_value(self.content?.get())
    }

    /// The content, if it is a text and the message has no calls.
    pub(crate) fn only_text(&self) -> Option<Cow<'a, str>> {
        self.text().filter(|_| self.tool_calls.is_empty())
    }

    /// The parts, if the content is a list, each with its JSON.
    pub(crate) fn parts(&self) -> Option<Vec<(&'a str, SplitPart<'a>)>> {
        fields::elements(self.content?.get())
    }

    pub(crate) fn is_assistant(&self) -> bool {
        self.role == ASSISTANT
    }
}

impl<'a> Call<'a> {
    /// The arguments, if they are an object; an empty text is an object without fields.
    pub(crate) fn object(&self) -> Option<Cow<'a, str>> {
        let json = self.function.arguments.get();
        let arguments: Cow<'_, str> = match serde_json::from_str::<String>(json) {
            Ok(text) if text.trim().is_empty() => "{}".into(),
            Ok(text) => text.into(),
            Err(_) => json.into(),
        };
        fields::of(&arguments).is_some().then_some(arguments)
    }
}

/// Whether the arguments of all calls are objects.
pub(crate) fn calls_take_objects(turns: &[Turn<'_>]) -> bool {
    let mut calls = turns.iter().flat_map(|turn| &turn.message.tool_calls);
    calls.all(|call| call.object().is_some())
}

/// The messages of a list; `None` if it is not a list of messages.
pub(crate) fn of(json: &str) -> Option<Vec<Turn<'_>>> {
    let turns = fields::elements(json)?.into_iter();
    Some(turns.map(|(json, message)| Turn { json, message }).collect())
}

/// The list of these messages.
pub(crate) fn list(turns: &[Turn<'_>]) -> String {
    let messages: Vec<&str> = turns.iter().map(|turn| turn.json).collect();
    format!("[{}]", messages.join(","))
}

/// A conversation, cut at the assistant's last turn.
#[derive(Debug)]
pub(crate) struct Cut<'t, 'a> {
    /// All turns before it.
    pub(crate) before: &'t [Turn<'a>],
    /// The turn.
    pub(crate) answer: &'t Turn<'a>,
    /// The number of turns after it.
    pub(crate) after: usize,
}

/// Cuts a conversation at the assistant's last turn; `None` if the assistant has no turn, or no turn precedes it.
pub(crate) fn cut<'t, 'a>(turns: &'t [Turn<'a>]) -> Option<Cut<'t, 'a>> {
    let at = turns.iter().rposition(|turn| turn.message.is_assistant())?;
    let (before, rest) = turns.split_at_checked(at)?;
    let (answer, after) = rest.split_first()?;
    let after = after.len();
    (!before.is_empty()).then_some(Cut {
        before,
        answer,
        after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"[{"role":"user","content":"a\nb"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":[{"type":"text","text":"x"}]}]"#;

    #[test]
    fn a_list_of_turns_is_read_back() {
        let turns = of(LIST).unwrap();
        assert_eq!(list(&turns), LIST);
        assert_eq!(turns[0].message.text().unwrap(), "a\nb");
        assert_eq!(turns[1].message.text(), None);
        assert_eq!(turns[2].message.parts().unwrap()[0].1.kind, "text");
    }

    #[test]
    fn a_conversation_is_cut_at_the_last_answer() {
        let turns = of(LIST).unwrap();
        let cut = cut(&turns).unwrap();
        assert_eq!((cut.before.len(), cut.after), (1, 1));
        assert_eq!(cut.answer.message.tool_calls.len(), 1);
        assert!(super::cut(&of(r#"[{"role":"user","content":""}]"#).unwrap()).is_none());
    }

    #[test]
    fn json_that_is_no_list_of_messages_is_none() {
        for json in ["{}", "[1]", r#"[{"content":"x"}]"#, "[", ""] {
            assert!(of(json).is_none(), "{json}");
        }
    }
}
