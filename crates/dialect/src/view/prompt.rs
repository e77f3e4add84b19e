//! System text of a pipeline's own, with fields of the conversation: `You are {agent.name} in {room.title}.`
//!
//! `{agent.name|the assistant}` has words for conversations that do not know the field; without them, no rendering of such a
//! conversation gets the prompt, for half a sentence is no instruction. `{{` and `}}` stand for braces. What is filled in depends on
//! the whole conversation and the perspective, so the prompt is the same in all windows.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What becomes of system text that is there already: the source's, or the agent's instructions, by `policy.system`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Existing {
    /// It is kept, and the prompt stands only where there is none.
    #[default]
    Keep,
    /// The prompt stands in its place.
    Replace,
    /// The prompt stands before it.
    Precede,
}

/// A prompt that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pieces: Vec<Piece>,
    existing: Existing,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    Field(Field, Option<String>),
}

/// Why a text is no prompt, in a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PromptError {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// A brace that opens or closes nothing.
    #[error("a `{0}` has no partner; write `{0}{0}` for the sign itself")]
    Brace(char),
    /// A field that no conversation has.
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
    /// Reads a prompt.
    ///
    /// # Errors
    ///
    /// When it is empty, a brace is not closed, or a field is not one of [`Prompt::fields`].
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

    /// The fields that a prompt may name.
    pub fn fields() -> impl Iterator<Item = &'static str> {
        Field::ALL.iter().map(|field| field.as_str())
    }

    /// What becomes of system text that is there already.
    pub(crate) fn existing(&self) -> Existing {
        self.existing
    }

    /// The prompt with the values of its fields, or the first field that has none.
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
