//! The sink, into which a dialect writes a rendering. Text and token counts both come from the sink, so they cannot disagree.
//!
//! A dialect pushes glue, which are its constant strings, and texts of the conversation. Each push is written at once, escaped as
//! requested, and noted as a [`PieceRun`] with the number of its [`Piece`]. The same text at the same level has the same number in all
//! renderings of a conversation: it is escaped once, and a counter that knows the piece need not read it again. Pieces are identified by
//! their address, which no other text can have, because everything that is pushed as borrowed outlives the sink.
//!
//! Why: docs/decisions/2026-11-22-rendering-sink-and-pieces.md.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::marker::PhantomData;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::json;
use crate::span::{Component, ComponentSpan, Level, Speaker};

/// The most bytes of neighbouring glue that become one piece.
const MAX_GLUE_BYTES: usize = 200;
/// The most pieces of glue that are remembered; more glue is no longer joined with its neighbours.
const MAX_GLUE_PIECES: usize = 1 << 14;
/// Places in the table that finds glue without hashing, by its address and the glue before it.
const RECENT_GLUE: usize = 1 << 8;
/// The most pieces of one conversation that are remembered; further texts are escaped and counted at every push.
const MAX_PIECES: usize = 1 << 20;
/// The length in bytes, as written, of the longest owned text that has a number: quoted beginnings, ids and names that a dialect generates.
const MAX_OWNED_BYTES: usize = 256;
/// The most such texts that are remembered for one conversation.
const MAX_OWNED_PIECES: usize = 1 << 16;
/// The most bytes of escaped text that are remembered for one conversation.
const MAX_ESCAPED_BYTES: usize = 64 << 20;

/// The number of a text that was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A text without a number: a long one that was generated for this rendering only.
    Unknown,
    /// Glue; the number is valid as long as the sink's buffers live.
    Glue(u32),
    /// A text of the conversation; the number is valid for this conversation.
    Text(u32),
}

/// The byte at which the turn of a message begins, and the position of the message: of the first one if the turn has several, and `None` if
/// the text after the byte belongs to no message.
pub type TurnStart = (usize, Option<u32>);

/// The text of one push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceRun {
    /// One past its last byte in the rendering.
    pub end: usize,
    /// The piece that was written.
    pub piece: Piece,
}

/// A place in a rendering, to which it can be cut back.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    bytes: usize,
    runs: usize,
    last_run: Option<PieceRun>,
    spans: usize,
    last_span: Option<ComponentSpan>,
}

/// An identity token: equal to its clones only, as long as one of them exists.
#[derive(Clone, Debug, Default)]
pub struct Identity(Arc<()>);

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The number of the preceding glue, then the address and the length of this one.
type GlueKey = (u32, usize, usize);

/// The buffers of a sink, which later conversations reuse: their capacity, and the glue.
#[derive(Debug, Default)]
pub struct SinkBuffers {
    text: String,
    spans: Vec<ComponentSpan>,
    /// The bytes at which turns of messages begin or, with `None`, end.
    turns: Vec<TurnStart>,
    runs: Vec<PieceRun>,
    glue: FxHashMap<GlueKey, u32>,
    recent_glue: Vec<(GlueKey, u32)>,
    glue_identity: Identity,
    /// The numbers of a text at each level; they are equal if escaping changes nothing.
    pieces: FxHashMap<(usize, usize), Numbers>,
    /// Short owned texts, as written.
    owned: FxHashMap<Box<str>, u32>,
    /// For each piece the range of its escaped text; `None` if escaping changes nothing.
    written: Vec<Option<(usize, usize)>>,
    escaped: String,
}

/// The numbers of a text, by level.
#[derive(Debug, Default)]
struct Numbers {
    raw: Option<u32>,
    string: Option<u32>,
    inner_string: Option<u32>,
}

/// The place where the renderings of one conversation are written, one after the other.
///
/// The compiler proves that an address identifies a text: a dialect gets `&mut Sink<'a>`, which is invariant in `'a`, so it cannot push a
/// text as borrowed that lives shorter than the conversation. An earlier design built a list of segments first and wrote it afterwards.
/// Looking up pieces by address in that design gained only 2 % of a run, because the segments had been built before they were found.
#[derive(Debug)]
pub struct Sink<'a> {
    buffers: SinkBuffers,
    identity: Identity,
    speaker: Speaker,
    /// The position of the message that the perspective answers with.
    answer: Option<u32>,
    limit: usize,
    is_oversize: bool,
    conversation: PhantomData<&'a str>,
}

impl Default for Sink<'_> {
    fn default() -> Self {
        Self::new(SinkBuffers::default(), usize::MAX)
    }
}

impl<'a> Sink<'a> {
    /// Makes a sink for the renderings of a conversation, none of which becomes longer than `limit` bytes.
    pub fn new(mut buffers: SinkBuffers, limit: usize) -> Self {
        buffers.pieces.clear();
        buffers.written.clear();
        buffers.escaped.clear();
        buffers.owned.clear();
        buffers.recent_glue.resize(RECENT_GLUE, Default::default());
        let mut sink = Self {
            buffers,
            identity: Identity::default(),
            speaker: Speaker::default(),
            answer: None,
            limit,
            is_oversize: false,
            conversation: PhantomData,
        };
        sink.begin();
        sink
    }

    /// Returns the buffers, for the next conversation.
    pub fn into_buffers(self) -> SinkBuffers {
        self.buffers
    }

    /// Begins a rendering, and clears the one before.
    pub fn begin(&mut self) {
        self.buffers.text.clear();
        self.buffers.spans.clear();
        self.buffers.runs.clear();
        self.buffers.turns.clear();
        self.set_speaker(Speaker::default());
        self.is_oversize = false;
    }

    /// The text of the rendering so far.
    pub fn text(&self) -> &str {
        &self.buffers.text
    }

    /// The spans of the components. Neighbouring text of one component and speaker shares a span; a control token has a separate one.
    pub fn spans(&self) -> &[ComponentSpan] {
        &self.buffers.spans
    }

    /// The same spans, to set the number of requests that contain each.
    pub fn spans_mut(&mut self) -> &mut [ComponentSpan] {
        &mut self.buffers.spans
    }

    /// The texts of the rendering, span by span, each with its span.
    pub fn span_texts(&self) -> impl Iterator<Item = (&str, &ComponentSpan)> {
        let starts = std::iter::once(0).chain(self.spans().iter().map(|span| span.end));
        let text = |(start, span): (usize, _)| {
            let span: &ComponentSpan = span;
            (self.text().split_at(span.end).0.split_at(start).1, span)
        };
        starts.zip(self.spans()).map(text)
    }

    /// The texts of the rendering, push by push, each with its span.
    pub fn pushes(&self) -> impl Iterator<Item = (&str, &ComponentSpan)> {
        let starts = std::iter::once(0).chain(self.runs().iter().map(|run| run.end));
        let mut spans = self.spans().iter().peekable();
        starts.zip(self.runs()).filter_map(move |(start, run)| {
            while spans.next_if(|span| span.end <= start).is_some() {}
            Some((self.text().get(start..run.end)?, *spans.peek()?))
        })
    }

    /// The pushes, in order. No run crosses the end of a span.
    pub fn runs(&self) -> &[PieceRun] {
        &self.buffers.runs
    }

    /// The identity for which the numbers of glue are valid.
    pub fn glue_identity(&self) -> &Identity {
        &self.buffers.glue_identity
    }

    /// The identity for which the numbers of texts are valid.
    pub fn text_identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether the rendering would be longer than the limit; then it is incomplete.
    pub fn is_oversize(&self) -> bool {
        self.is_oversize
    }

    /// Sets the speaker of the following text.
    pub fn set_speaker(&mut self, speaker: Speaker) {
        self.speaker = speaker;
        self.answer = None;
        self.turn(None);
    }

    /// Sets the speaker of the following text and, if it is the perspective, the position of the message that it answers with.
    pub fn answer(&mut self, speaker: Speaker, position: Option<u32>) {
        self.speaker = speaker;
        self.answer = position.filter(|_| speaker.is_own());
        self.turn(position);
    }

    /// Notes where a turn begins or ends.
    fn turn(&mut self, position: Option<u32>) {
        let before = self.buffers.turns.last().and_then(|(_, before)| *before);
        if before != position {
            self.buffers.turns.push((self.buffers.text.len(), position));
        }
    }

    /// The bytes at which the turns of messages begin and end, as far as the dialect notes them.
    pub fn turn_starts(&self) -> &[TurnStart] {
        &self.buffers.turns
    }

    /// Appends framing, one of the dialect's constants, unescaped.
    pub fn framing(&mut self, text: &'static str) {
        self.glue(text, Component::Framing);
    }

    /// Appends one of the dialect's constants, unescaped, under any component.
    pub fn glue(&mut self, text: &'static str, component: Component) {
        if text.is_empty() || !self.fits(text.len()) {
            return;
        }
        let before = self.glue_before(component, text.len());
        let buffers = &mut self.buffers;
        buffers.text.push_str(text);
        if let Some(number) = before.and_then(|before| buffers.glue_number(before, text))
            && let (Some(run), Some(span)) = (buffers.runs.last_mut(), buffers.spans.last_mut())
        {
            run.piece = Piece::Glue(number);
            run.end = buffers.text.len();
            span.end = run.end;
            return;
        }
        let number = buffers.glue_number(0, text);
        self.run(number.map_or(Piece::Unknown, Piece::Glue), component, false);
    }

    /// The number of the glue at the end of the same span, if `more` bytes may still join it.
    fn glue_before(&self, component: Component, more: usize) -> Option<u32> {
        let runs = self.buffers.runs.as_slice();
        let Piece::Glue(number) = runs.last()?.piece else {
            return None;
        };
        let span = self.buffers.spans.last()?;
        let start = runs.len().checked_sub(2).and_then(|before| runs.get(before));
        let bytes = self.buffers.text.len() - start.map_or(0, |run| run.end) + more;
        let joins = span.component == component
            && (span.speaker, span.answer) == (self.speaker, self.answer)
            && bytes <= MAX_GLUE_BYTES;
        joins.then_some(number)
    }

    /// Appends a text unescaped.
    pub fn literal(&mut self, text: impl Into<Cow<'a, str>>, component: Component) {
        self.content(text, Level::Raw, component);
    }

    /// Appends a text at an escape level. Text that does not change should be borrowed from the conversation.
    pub fn content(&mut self, text: impl Into<Cow<'a, str>>, level: Level, component: Component) {
        let text = text.into();
        if text.is_empty() || !self.fits(text.len()) {
            return;
        }
        let piece = match text {
            Cow::Borrowed(text) => self.buffers.push_borrowed(text, level),
            Cow::Owned(text) => self.buffers.push_owned(&text, level),
        };
        if self.buffers.text.len() > self.limit {
            self.is_oversize = true;
        }
        self.run(piece, component, false);
    }

    /// Appends a JSON string with its quotes (framing) around `text`.
    pub fn json_string(&mut self, text: impl Into<Cow<'a, str>>, component: Component) {
        self.framing("\"");
        self.content(text, Level::JsonString, component);
        self.framing("\"");
    }

    /// Appends raw JSON without its insignificant white space.
    pub fn raw_json(&mut self, raw: &'a str, component: Component) {
        let is_blank = |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        if raw.bytes().any(is_blank) {
            let mut compact = String::with_capacity(raw.len());
            json::push_compact(&mut compact, raw);
            self.literal(compact, component);
        } else {
            self.literal(raw, component);
        }
    }

    /// Appends one control token of a template.
    pub fn control(&mut self, token: &str) {
        debug_assert!(!token.is_empty(), "a control token is never empty");
        if self.fits(token.len()) {
            self.buffers.text.push_str(token);
            self.run(Piece::Unknown, Component::Framing, true);
        }
    }

    /// Begins a copy of another sink's rendering; the conversation of that sink may live shorter.
    pub fn copy(&mut self, other: &Sink<'_>) {
        self.begin();
        let mut start = 0;
        for span in other.spans() {
            let text = other.text().split_at(span.end).0.split_at(start).1;
            start = span.end;
            if self.fits(text.len()) {
                (self.speaker, self.answer) = (span.speaker, span.answer);
                self.buffers.text.push_str(text);
                self.run(Piece::Unknown, span.component, span.control);
            }
        }
        self.is_oversize |= other.is_oversize;
        self.set_speaker(Speaker::default());
        self.buffers.turns.clone_from(&other.buffers.turns);
    }

    /// The current end of the rendering.
    pub fn mark(&self) -> Mark {
        let buffers = &self.buffers;
        Mark {
            bytes: buffers.text.len(),
            runs: buffers.runs.len(),
            last_run: buffers.runs.last().copied(),
            spans: buffers.spans.len(),
            last_span: buffers.spans.last().copied(),
        }
    }

    /// Removes the text that was written after a mark of this rendering.
    pub fn rewind(&mut self, mark: Mark) {
        let buffers = &mut self.buffers;
        buffers.text.truncate(mark.bytes);
        buffers.runs.truncate(mark.runs);
        buffers.spans.truncate(mark.spans);
        let behind = buffers.turns.iter().rev();
        let behind = behind.take_while(|(start, _)| *start > mark.bytes).count();
        buffers.turns.truncate(buffers.turns.len() - behind);
        // Later text may have extended the last run and the last span.
        if let (Some(run), Some(last)) = (buffers.runs.last_mut(), mark.last_run) {
            *run = last;
        }
        if let (Some(span), Some(last)) = (buffers.spans.last_mut(), mark.last_span) {
            *span = last;
        }
    }

    fn fits(&mut self, more: usize) -> bool {
        self.is_oversize |= self.buffers.text.len().saturating_add(more) > self.limit;
        !self.is_oversize
    }

    /// Records the run and the span of the text just written.
    fn run(&mut self, piece: Piece, component: Component, control: bool) {
        let buffers = &mut self.buffers;
        let end = buffers.text.len();
        buffers.runs.push(PieceRun { end, piece });
        match buffers.spans.last_mut() {
            Some(last)
                if last.component == component
                    && (last.speaker, last.answer) == (self.speaker, self.answer)
                    && !(last.control || control) =>
            {
                last.end = end;
            }
            _ => buffers.spans.push(ComponentSpan {
                end,
                component,
                speaker: self.speaker,
                control,
                requests: 0,
                written: false,
                answer: self.answer,
            }),
        }
    }
}

impl SinkBuffers {
    /// The number of glue directly after the glue with number `before`, or after no glue (0); `None` if too many are known.
    fn glue_number(&mut self, before: u32, text: &'static str) -> Option<u32> {
        let key = (before, text.as_ptr() as usize, text.len());
        let place = (before as usize).wrapping_mul(7) ^ key.1;
        let recent = self.recent_glue.get_mut(place % RECENT_GLUE)?;
        if recent.0 == key {
            return Some(recent.1);
        }
        let next = self.glue.len() + 1;
        let number = match self.glue.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) if next <= MAX_GLUE_PIECES => *new.insert(u32::try_from(next).ok()?),
            Entry::Vacant(_) => return None,
        };
        *recent = (key, number);
        Some(number)
    }

    /// Writes a text that does not outlive the call: it is identified by its bytes as written, if they are few.
    fn push_owned(&mut self, text: &str, level: Level) -> Piece {
        let start = self.text.len();
        push(&mut self.text, text, level);
        let written = self.text.split_at(start).1;
        if written.len() > MAX_OWNED_BYTES {
            return Piece::Unknown;
        }
        if let Some(number) = self.owned.get(written) {
            return Piece::Text(*number);
        }
        let number = u32::try_from(self.written.len()).ok();
        let Some(number) = number.filter(|_| self.owned.len() < MAX_OWNED_PIECES) else {
            return Piece::Unknown;
        };
        self.owned.insert(written.into(), number);
        // It is written anew each time, so no range is stored.
        self.written.push(None);
        Piece::Text(number)
    }

    /// Writes a text that keeps its address as long as its number is valid.
    fn push_borrowed(&mut self, text: &str, level: Level) -> Piece {
        let key = (text.as_ptr() as usize, text.len());
        let is_full = self.pieces.len() >= MAX_PIECES;
        let numbers = match self.pieces.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if is_full => {
                push(&mut self.text, text, level);
                return Piece::Unknown;
            }
            Entry::Vacant(new) => new.insert(Numbers::default()),
        };
        let raw = numbers.raw;
        let own = match level {
            Level::Raw => &mut numbers.raw,
            Level::JsonString => &mut numbers.string,
            Level::JsonInJsonString => &mut numbers.inner_string,
        };
        if let Some(number) = *own {
            #[expect(
                clippy::indexing_slicing,
                reason = "a number is given together with its place"
            )]
            match self.written[number as usize] {
                None => self.text.push_str(text),
                Some((start, end)) => self.text.push_str(self.escaped.split_at(end).0.split_at(start).1),
            }
            return Piece::Text(number);
        }
        let start = self.text.len();
        let is_plain = level == Level::Raw || !json::has_escapes(text);
        push(&mut self.text, text, if is_plain { Level::Raw } else { level });
        if let Some(number) = raw.filter(|_| is_plain) {
            *own = Some(number);
            return Piece::Text(number);
        }
        let Ok(number) = u32::try_from(self.written.len()) else {
            return Piece::Unknown;
        };
        let place = if is_plain {
            None
        } else {
            let written = self.text.split_at(start).1;
            let start = self.escaped.len();
            if start + written.len() > MAX_ESCAPED_BYTES {
                return Piece::Unknown;
            }
            self.escaped.push_str(written);
            Some((start, self.escaped.len()))
        };
        self.written.push(place);
        *own = Some(number);
        if is_plain {
            numbers.raw = Some(number);
        }
        Piece::Text(number)
    }
}

fn push(out: &mut String, text: &str, level: Level) {
    match level {
        Level::Raw => out.push_str(text),
        Level::JsonString => json::push_escaped(out, text),
        Level::JsonInJsonString => {
            let mut once = String::new();
            json::push_escaped(&mut once, text);
            json::push_escaped(out, &once);
        }
    }
}

#[cfg(test)]
mod tests;
