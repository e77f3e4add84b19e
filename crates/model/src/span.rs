//! Spans of a rendering's bytes: their component, speaker and escape level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The way in which a text is written into a rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Unchanged.
    Raw,
    /// As the inside of a JSON string.
    JsonString,
    /// As the inside of a JSON string inside a JSON string.
    JsonInJsonString,
}

/// The component to which the tokens of a text are attributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Component {
    /// Content of people and models.
    Content,
    /// Names of speakers.
    Names,
    /// The dialect's constants: brackets, keys, role words.
    Framing,
    /// Tool definitions, calls and results.
    Tools,
    /// Quotes, arrows and other signs of a reply.
    Replies,
    /// Ids, times and other metadata.
    Meta,
}

impl Component {
    /// The number of components.
    pub const COUNT: usize = Self::ALL.len();
    /// All components, in the order in which tables list them.
    pub const ALL: [Self; 6] = [
        Self::Content,
        Self::Names,
        Self::Framing,
        Self::Tools,
        Self::Replies,
        Self::Meta,
    ];

    /// The name in columns and keys.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Tokens by component. Flattened into another structure, it is written as six fields with the names of the components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentCounts {
    /// Tokens of content.
    pub content: u64,
    /// Tokens of names.
    pub names: u64,
    /// Tokens of the dialect's own syntax.
    pub framing: u64,
    /// Tokens of tool definitions, calls and results.
    pub tools: u64,
    /// Tokens of quoted references.
    pub replies: u64,
    /// Tokens of ids, times and other marks.
    pub meta: u64,
}

impl ComponentCounts {
    /// The tokens of a component.
    pub fn get(mut self, component: Component) -> u64 {
        *self.get_mut(component)
    }

    /// The tokens of a component, to be changed.
    pub fn get_mut(&mut self, component: Component) -> &mut u64 {
        match component {
            Component::Content => &mut self.content,
            Component::Names => &mut self.names,
            Component::Framing => &mut self.framing,
            Component::Tools => &mut self.tools,
            Component::Replies => &mut self.replies,
            Component::Meta => &mut self.meta,
        }
    }

    /// The tokens of each component, in the order of [`Component::ALL`].
    pub fn to_array(self) -> [u64; Component::COUNT] {
        Component::ALL.map(|component| self.get(component))
    }

    /// The sum of all components.
    pub fn total(self) -> u64 {
        self.to_array().iter().sum()
    }
}

impl From<[u64; Component::COUNT]> for ComponentCounts {
    /// From the tokens of each component, in the order of [`Component::ALL`].
    fn from(counts: [u64; Component::COUNT]) -> Self {
        let [content, names, framing, tools, replies, meta] = counts;
        Self {
            content,
            names,
            framing,
            tools,
            replies,
            meta,
        }
    }
}

impl std::ops::AddAssign for ComponentCounts {
    fn add_assign(&mut self, other: Self) {
        for component in Component::ALL {
            *self.get_mut(component) += other.get(component);
        }
    }
}

/// The speaker of the turn that contains a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Speaker {
    /// Another participant, or none.
    #[default]
    Other,
    /// The perspective, trained on.
    Perspective,
    /// The perspective as context: a trainer masks its text.
    Context,
    /// Definitions of tools: part of every request at any place, and attributed to no speaker.
    Preamble,
}

impl Speaker {
    /// Whether the speaker is the perspective, trained on or as context.
    pub const fn is_own(self) -> bool {
        matches!(self, Self::Perspective | Self::Context)
    }
}

/// A component of the written bytes, given by its end; spans are adjacent and in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentSpan {
    /// One past the last byte.
    pub end: usize,
    /// Its component.
    pub component: Component,
    /// Its speaker.
    pub speaker: Speaker,
    /// Whether it is one control token of a template: it counts as one token, and no token crosses its ends.
    pub control: bool,
    /// The number of requests that contain the span, once set.
    pub requests: u32,
    /// Whether a request that is billed here generated the span, once set.
    pub written: bool,
    /// The position of the first message in the perspective's turn, if the dialect sets it.
    pub answer: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keep_their_component_in_every_form() {
        let mut counts = ComponentCounts::from([1, 2, 3, 4, 5, 6]);
        let names = Component::ALL.map(|component| (component.as_str(), counts.get(component)));
        assert_eq!(
            names,
            [
                ("content", 1),
                ("names", 2),
                ("framing", 3),
                ("tools", 4),
                ("replies", 5),
                ("meta", 6)
            ]
        );
        counts += counts;
        assert_eq!(counts.to_array(), [2, 4, 6, 8, 10, 12]);
        assert_eq!(counts.total(), 42);
    }
}
