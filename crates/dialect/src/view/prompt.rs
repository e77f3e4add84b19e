//! System text that a pipeline adds, with fields of the conversation: `You are {agent.name} in {room.title}.`
//!
//! `{agent.name|the assistant}` has words for conversations without the field. Without such words, renderings of these conversations do not
//! get the prompt, because an incomplete sentence is not an instruction. `{{` and `}}` are braces. Fields are filled from the whole
//! conversation and the perspective, so the prompt is the same in all windows.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The treatment of existing system text: the source's, or the agent's instructions, by `policy.system`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Existing {
    /// It is kept, and the prompt is added only if there is none.
    #[default]
    Keep,
    /// The prompt replaces it.
    Replace,
    /// The prompt is added before it.
    Precede,
}

/// A parsed prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pieces: Vec<Piece>,
    existing: Existing,
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    Field(Field, Option<String>),
}

/// Why a text is not a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PromptError {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// A brace without a partner.
    #[error("a `{0}` has no partner; write `{0}{0}` for the sign itself")]
    Brace(char),
    /// A field that does not exist.
    #[error("there is no field `{0}`")]
    UnknownField(String),
}

macro_rules! fields {
    ($($name:ident = $word:literal,)*) => {
        /// A fact that a prompt may name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Field { $($name,)* }

        impl Field {
            const ALL: &'static [Self] = &[$(Self::$name,)*];

            const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

fields! {
    AgentName = "agent.name",
    AgentId = "agent.id",
    AgentAlias = "agent.alias",
    AgentCustomRole = "agent.custom_role",
    AgentDepartment = "agent.department",
    AgentInstructions = "agent.instructions",
    ChatTitle = "room.title",
    ChatDescription = "room.description",
    ChatId = "room.id",
    ChatParticipants = "room.people",
}

impl Prompt {
    /// Parses a prompt.
    ///
    /// # Errors
    ///
    /// Fails if it is empty, a brace has no partner, or a field is not one of [`Prompt::fields`].
    pub fn parse(text: &str, existing: Existing) -> Result<Self, PromptError> {
        let mut pieces = Vec::new();
        let mut words = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(at);
            words.push_str(before);
            if let Some(after) = after.strip_prefix("{{") {
                words.push('{');
                rest = after;
            } else if let Some(after) = after.strip_prefix("}}") {
                words.push('}');
                rest = after;
            } else {
                let field = after.strip_prefix('{').ok_or(PromptError::Brace('}'))?;
                let (field, after) = field.split_once('}').ok_or(PromptError::Brace('{'))?;
                if !words.is_empty() {
                    pieces.push(Piece::Words(std::mem::take(&mut words)));
                }
                pieces.push(Piece::field(field)?);
                rest = after;
            }
        }
        words.push_str(rest);
        if text.trim().is_empty() {
            return Err(PromptError::Empty);
        }
        if !words.is_empty() {
            pieces.push(Piece::Words(words));
        }
        Ok(Self { pieces, existing })
    }

    /// Returns the fields that a prompt may name.
    pub fn fields() -> impl Iterator<Item = &'static str> {
        Field::ALL.iter().map(|field| field.as_str())
    }

    /// Returns the treatment of existing system text.
    pub(crate) fn existing(&self) -> Existing {
        self.existing
    }

    /// Returns the prompt with the values of its fields, or the first field without a value as the error.
    pub(crate) fn fill<'a>(
        &self,
        mut value: impl FnMut(Field) -> Option<Cow<'a, str>>,
    ) -> Result<String, &'static str> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Words(words) => filled.push_str(words),
                Piece::Field(field, otherwise) => match (value(*field), otherwise) {
                    (Some(value), _) => filled.push_str(&value),
                    (None, Some(words)) => filled.push_str(words),
                    (None, None) => return Err(field.as_str()),
                },
            }
        }
        Ok(filled)
    }
}

impl Piece {
    fn field(text: &str) -> Result<Self, PromptError> {
        let (name, otherwise) = match text.split_once('|') {
            Some((name, otherwise)) => (name, Some(otherwise.to_owned())),
            None => (text, None),
        };
        let known = Field::ALL.iter().find(|field| field.as_str() == name.trim());
        let known = known.ok_or_else(|| PromptError::UnknownField(name.trim().to_owned()))?;
        Ok(Self::Field(*known, otherwise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_prompt_has_an_error() {
        let error = |text: &str| Prompt::parse(text, Existing::default()).unwrap_err().to_string();
        assert_eq!(error(" \n"), "it is empty");
        assert_eq!(error("{agent.nmae}"), "there is no field `agent.nmae`");
        assert_eq!(error("{}"), "there is no field ``");
        assert!(error("a { b").starts_with("a `{` has no partner"));
        assert!(error("a } b").starts_with("a `}` has no partner"));
    }
}
