//! Writes the output of a template into a sink, in segments with their speakers.
//!
//! The rendered text comes in, with the regions of its pieces and the ranges that the assistant generates, which `answers` finds if the
//! template does not mark them. Pieces, dumped JSON, special tokens and other text of the template go out as segments.

pub(super) mod answers;

use std::collections::BTreeSet;
use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::{Component, Level, Sink, Speaker, json};

use super::context::Piece;
use super::methods::is_space;
use super::regions::Regions;
use super::tokens::Tokens;
use crate::text::run::TextRun;

/// The kind of a segment of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentKind {
    /// A piece of the conversation.
    Piece(usize),
    /// JSON that the template has dumped.
    Json,
    /// Text of the template.
    Glue,
    /// A special token.
    Special,
}

#[derive(Clone, Debug)]
struct Segment {
    range: Range<usize>,
    kind: SegmentKind,
    speaker: Speaker,
}

/// An output and the facts about it.
pub(super) struct Output<'o, 'a> {
    /// The text.
    pub(super) text: &'o str,
    /// The regions of pieces.
    pub(super) regions: &'o Regions,
    /// The ranges of dumped JSON.
    pub(super) json: &'o [Range<usize>],
    /// The ranges that the assistant generates.
    pub(super) generated: &'o [Range<usize>],
    /// The pieces.
    pub(super) pieces: &'o [Piece<'a>],
    /// The speaker of each turn.
    pub(super) speakers: &'o [Speaker],
    /// Special tokens.
    pub(super) tokens: &'o Tokens,
}

impl<'a> Output<'_, 'a> {
    /// Writes the output.
    pub(super) fn write(&self, sink: &mut Sink<'a>) {
        for segment in self.generated_speakers(self.segments()) {
            let text = cut::text(self.text, segment.range);
            let piece = match segment.kind {
                SegmentKind::Piece(number) => Some(cut::at(self.pieces, number)),
                SegmentKind::Json | SegmentKind::Glue | SegmentKind::Special => None,
            };
            sink.answer(segment.speaker, piece.and_then(|piece| piece.position));
            match (segment.kind, piece) {
                (_, Some(piece)) => write_piece(sink, piece, text),
                (SegmentKind::Special, None) => sink.control(text),
                (SegmentKind::Json, None) => sink.literal(text.to_owned(), Component::Tools),
                (_, None) => sink.literal(text.to_owned(), Component::Framing),
            }
        }
        sink.set_speaker(Speaker::Other);
    }

    /// Divides the whole output into segments.
    fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut at = 0;
        let mut json = self.json.iter().peekable();
        for (range, piece) in self.regions.iter() {
            self.between(at..range.start, &mut json, &mut segments);
            at = range.end;
            push(&mut segments, range, SegmentKind::Piece(piece));
        }
        self.between(at..self.text.len(), &mut json, &mut segments);
        segments
    }

    /// Adds the segments between two pieces: dumped JSON and text of the template.
    fn between(
        &self,
        gap: Range<usize>,
        json: &mut std::iter::Peekable<std::slice::Iter<'_, Range<usize>>>,
        segments: &mut Vec<Segment>,
    ) {
        let mut at = gap.start;
        while let Some(dumped) = json.peek() {
            let start = dumped.start.clamp(at, gap.end);
            let end = dumped.end.clamp(at, gap.end);
            self.glue(at..start, segments);
            push(segments, start..end, SegmentKind::Json);
            at = end;
            if dumped.end > gap.end {
                break;
            }
            json.next();
        }
        self.glue(at..gap.end, segments);
    }

    /// Adds text of the template, with special tokens as separate segments.
    fn glue(&self, range: Range<usize>, segments: &mut Vec<Segment>) {
        let mut at = range.start;
        while let Some((before, token, _)) = self.tokens.split_once(cut::text(self.text, at..range.end)) {
            let start = at + before.len();
            push(segments, at..start, SegmentKind::Glue);
            at = start + token.len();
            push(segments, start..at, SegmentKind::Special);
        }
        push(segments, at..range.end, SegmentKind::Glue);
    }

    /// Sets the speakers of segments, and cuts segments where a generated range begins or ends.
    fn generated_speakers(&self, segments: Vec<Segment>) -> Vec<Segment> {
        let edges: BTreeSet<usize> = self
            .generated
            .iter()
            .flat_map(|range| [range.start, range.end])
            .collect();
        let speakers = self.generated_range_speakers();
        let mut out = Vec::with_capacity(segments.len());
        for segment in segments {
            let Range { start, end } = segment.range;
            let mut cuts = vec![start];
            // A special token is never cut: it is one token.
            if segment.kind != SegmentKind::Special {
                cuts.extend(edges.range(start..end).filter(|edge| **edge > start));
            }
            cuts.push(end);
            for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
                let before = self.generated.partition_point(|range| range.end <= *from);
                let generated = self.generated.get(before).zip(speakers.get(before));
                let generated = generated.filter(|(range, _)| range.start <= *from);
                out.push(Segment {
                    range: *from..*to,
                    kind: segment.kind,
                    speaker: generated.map_or(Speaker::Other, |(_, speaker)| *speaker),
                });
            }
        }
        out
    }

    /// Returns the speaker of each generated range: that of the turns in it, otherwise of the turn before.
    fn generated_range_speakers(&self) -> Vec<Speaker> {
        let mut own = self.regions.iter().filter_map(|(range, piece)| {
            let piece = cut::at(self.pieces, piece);
            piece.is_own().then(|| (range, self.speaker(piece.turn)))
        });
        let mut next = own.next();
        let mut latest = Speaker::Perspective;
        let speakers = self.generated.iter().map(|generated| {
            let mut inside = Vec::new();
            while let Some((range, speaker)) = next.take_if(|(range, _)| range.start < generated.end) {
                if range.end > generated.start {
                    inside.push(speaker);
                }
                latest = speaker;
                next = own.next();
            }
            if inside.contains(&Speaker::Context) {
                Speaker::Context
            } else if inside.is_empty() {
                latest
            } else {
                Speaker::Perspective
            }
        });
        speakers.collect()
    }

    /// Returns the speaker of a turn.
    fn speaker(&self, turn: Option<usize>) -> Speaker {
        turn.map_or(Speaker::Perspective, |turn| *cut::at(self.speakers, turn))
    }
}

fn push(segments: &mut Vec<Segment>, range: Range<usize>, kind: SegmentKind) {
    if !range.is_empty() {
        segments.push(Segment {
            range,
            kind,
            speaker: Speaker::Other,
        });
    }
}

/// Writes what a template prints of a piece, in the runs of the piece if they are recognised.
fn write_piece<'a>(sink: &mut Sink<'a>, piece: &Piece<'a>, shown: &str) {
    if let Some(at) = piece.text.find(shown) {
        write_words(sink, piece, at..at + shown.len(), Level::Raw);
        return;
    }
    let inner = piece.text.trim_matches(is_space);
    let mut escaped = String::new();
    if inner.len() <= shown.len() {
        json::push_escaped(&mut escaped, inner);
    }
    if escaped == shown {
        let at = piece.text.len() - piece.text.trim_start_matches(is_space).len();
        write_words(sink, piece, at..at + inner.len(), Level::JsonString);
        return;
    }
    let component = piece
        .words
        .first()
        .map_or(Component::Content, |words| words.component);
    sink.literal(shown.to_owned(), component);
}

/// Writes a range of bytes of a piece's runs.
fn write_words<'a>(sink: &mut Sink<'a>, piece: &Piece<'a>, range: Range<usize>, level: Level) {
    let mut start = 0;
    for words in &piece.words {
        let end = start + words.text.len();
        let inside = range.start.clamp(start, end) - start..range.end.clamp(start, end) - start;
        start = end;
        TextRun::new(cut::text(words.text, inside), words.component).write(sink, level);
    }
}
