//! The rope: what a dialect writes. Text and token counts both come from it, so they cannot disagree.
//!
//! A rope is a list of segments. Content segments borrow from the conversation wherever they can, so that a counter can
//! recognise the same content in another rendering; literals are the dialect's own glue.

use std::borrow::Cow;

use crate::json;

/// How a content segment is written into the rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// As it is.
    Raw,
    /// As the inside of a JSON string.
    JsonString,
    /// As the inside of a JSON string inside a JSON string.
    JsonInJsonString,
}

/// What a segment's tokens are booked under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// What people and models said.
    Content,
    /// Who said it.
    Names,
    /// The dialect's own glue: brackets, keys, role words.
    Framing,
    /// Tool definitions, calls and results.
    Tools,
    /// Quotes, arrows and other signs of a reply.
    Replies,
    /// Ids, times and other metadata.
    Meta,
}

/// Whose turn a segment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Speaker {
    /// Anybody else's, or nobody's.
    #[default]
    Other,
    /// The perspective's own: what a trainer would not mask.
    Perspective,
    /// Definitions of tools: part of every request wherever they stand, and attributed to no speaker.
    Preamble,
}

/// A piece of a rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Source text, before escaping.
    pub text: Cow<'a, str>,
    /// How it is written.
    pub level: Level,
    /// What it is booked under.
    pub component: Component,
    /// Whose turn it belongs to.
    pub voice: Speaker,
    /// Whether it is one control token of a template (a hard boundary for counting).
    pub control: bool,
}

/// A rendering before it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rope<'a> {
    segments: Vec<Segment<'a>>,
    voice: Speaker,
}

/// Where a component ends in the written bytes; spans are adjacent and in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentSpan {
    /// One past the last byte.
    pub end: usize,
    /// What it is booked under.
    pub component: Component,
    /// Whose turn it belongs to.
    pub voice: Speaker,
    /// Whether it is one control token of a template: counted as one, and no token reaches over its ends.
    pub control: bool,
    /// How many requests carry it, where somebody has said so.
    pub requests: u32,
}

impl<'a> Rope<'a> {
    /// An empty rope.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty rope with room for the segments of that many messages, as most dialects write them.
    pub fn for_messages(count: usize) -> Self {
        const SEGMENTS: usize = 8;
        Self {
            segments: Vec::with_capacity(count.saturating_mul(SEGMENTS)),
            voice: Speaker::default(),
        }
    }

    /// Says whose turn the segments that follow belong to.
    pub fn speak(&mut self, voice: Speaker) {
        self.voice = voice;
    }

    /// Appends glue, written as it is.
    pub fn literal(&mut self, text: impl Into<Cow<'a, str>>, component: Component) {
        self.push(text.into(), Level::Raw, component);
    }

    /// Appends the dialect's own framing, written as it is.
    pub fn framing(&mut self, text: &'static str) {
        self.push(Cow::Borrowed(text), Level::Raw, Component::Framing);
    }

    /// Appends content at an escape level. Borrow from the conversation where nothing has to change.
    pub fn content(&mut self, text: impl Into<Cow<'a, str>>, level: Level, component: Component) {
        self.push(text.into(), level, component);
    }

    /// Appends a JSON string with its quotes (framing) around `text`.
    pub fn json_string(&mut self, text: impl Into<Cow<'a, str>>, component: Component) {
        self.framing("\"");
        self.push(text.into(), Level::JsonString, component);
        self.framing("\"");
    }

    /// Appends raw JSON without its insignificant white space.
    pub fn raw_json(&mut self, raw: &'a str, component: Component) {
        if raw
            .bytes()
            .any(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        {
            let mut compact = String::with_capacity(raw.len());
            json::push_compact(&mut compact, raw);
            self.push(Cow::Owned(compact), Level::Raw, component);
        } else {
            self.push(Cow::Borrowed(raw), Level::Raw, component);
        }
    }

    /// Appends one control token of a template.
    pub fn control(&mut self, token: impl Into<Cow<'a, str>>) {
        let text = token.into();
        debug_assert!(!text.is_empty(), "a control token has a spelling");
        self.segments.push(Segment {
            text,
            level: Level::Raw,
            component: Component::Framing,
            voice: self.voice,
            control: true,
        });
    }

    fn push(&mut self, text: Cow<'a, str>, level: Level, component: Component) {
        if !text.is_empty() {
            self.segments.push(Segment {
                text,
                level,
                component,
                voice: self.voice,
                control: false,
            });
        }
    }

    /// Appends the segments of another rope, in the voices in which they were written.
    pub fn append(&mut self, other: Self) {
        self.segments.extend(other.segments);
    }

    /// The segments in order, by value.
    pub fn into_segments(self) -> Vec<Segment<'a>> {
        self.segments
    }

    /// The segments in order.
    pub fn segments(&self) -> &[Segment<'a>] {
        &self.segments
    }

    /// Appends the rendering to `out` and its component spans to `spans`; span ends count from `out`'s first byte.
    /// Neighbours that are booked alike share a span, but a control token has one of its own.
    pub fn write(&self, out: &mut String, spans: &mut Vec<ComponentSpan>) {
        let mut scratch = String::new();
        for segment in &self.segments {
            match segment.level {
                Level::Raw => out.push_str(&segment.text),
                Level::JsonString => json::push_escaped(out, &segment.text),
                Level::JsonInJsonString => {
                    scratch.clear();
                    json::push_escaped(&mut scratch, &segment.text);
                    json::push_escaped(out, &scratch);
                }
            }
            match spans.last_mut() {
                Some(last)
                    if last.component == segment.component
                        && last.voice == segment.voice
                        && !(last.control || segment.control) =>
                {
                    last.end = out.len();
                }
                _ => spans.push(ComponentSpan {
                    end: out.len(),
                    component: segment.component,
                    voice: segment.voice,
                    control: segment.control,
                    requests: 0,
                }),
            }
        }
    }

    /// The rendering as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, &mut Vec::new());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rope_writes_its_segments_and_says_where_components_end() {
        let mut rope = Rope::new();
        rope.framing("{\"a\":");
        rope.json_string("x\ny", Component::Content);
        rope.framing(",\"b\":\"");
        rope.content("{\"k\":\"\n\"}", Level::JsonInJsonString, Component::Tools);
        rope.framing("\"}");
        let mut text = String::new();
        let mut spans = Vec::new();
        rope.write(&mut text, &mut spans);
        assert_eq!(text, r#"{"a":"x\ny","b":"{\\\"k\\\":\\\"\\n\\\"}"}"#);
        assert_eq!(spans.last().map(|span| span.end), Some(text.len()));
        assert_eq!(spans.len(), 5);
    }

    #[test]
    fn control_tokens_never_share_a_span() {
        let mut rope = Rope::new();
        rope.framing("a");
        rope.control("<|x|>");
        rope.control("<|x|>");
        rope.framing("b");
        rope.framing("c");
        let (mut text, mut spans) = (String::new(), Vec::new());
        rope.write(&mut text, &mut spans);
        assert_eq!(text, "a<|x|><|x|>bc");
        let seen: Vec<_> = spans.iter().map(|span| (span.end, span.control)).collect();
        assert_eq!(seen, [(1, false), (6, true), (11, true), (13, false)]);
    }
}
