//! An output as a sink: who said which stretch, what is glue, which tokens are special.

use std::collections::BTreeSet;
use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::{Component, Level, Sink, Speaker, json};

use super::context::Piece;
use super::methods::is_space;
use super::regions::Regions;
use super::tokens::Tokens;
use crate::text::run::TextRun;

/// What a stretch of an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A piece of the conversation.
    Piece(usize),
    /// JSON that the template has dumped.
    Json,
    /// The template's own text.
    Glue,
    /// A special token.
    Special,
}

#[derive(Clone, Debug)]
struct Stretch {
    range: Range<usize>,
    what: What,
    speaker: Speaker,
}

/// An output and what is known about it.
pub(super) struct Output<'o, 'a> {
    /// The text.
    pub(super) text: &'o str,
    /// Where pieces stand.
    pub(super) regions: &'o Regions,
    /// Dumped JSON.
    pub(super) json: &'o [Range<usize>],
    /// What the template marks as generated.
    pub(super) generated: &'o [Range<usize>],
    /// The pieces.
    pub(super) pieces: &'o [Piece<'a>],
    /// For each turn, whose words its are.
    pub(super) voices: &'o [Speaker],
    /// Special tokens.
    pub(super) tokens: &'o Tokens,
}

impl<'a> Output<'_, 'a> {
    /// Writes the output.
    pub(super) fn write(&self, sink: &mut Sink<'a>) {
        let mut stretches = self.stretches();
        if self.generated.is_empty() {
            self.assign_speakers(&mut stretches);
        } else {
            stretches = self.generated_speakers(stretches);
        }
        for stretch in stretches {
            let text = cut::text(self.text, stretch.range);
            let piece = match stretch.what {
                What::Piece(number) => Some(cut::at(self.pieces, number)),
                What::Json | What::Glue | What::Special => None,
            };
            sink.answer(stretch.speaker, piece.and_then(|piece| piece.position));
            match (stretch.what, piece) {
                (_, Some(piece)) => say(sink, piece, text),
                (What::Special, None) => sink.control(text),
                (What::Json, None) => sink.literal(text.to_owned(), Component::Tools),
                (_, None) => sink.literal(text.to_owned(), Component::Framing),
            }
        }
        sink.speak(Speaker::Other);
    }

    /// The whole output in stretches.
    fn stretches(&self) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        let mut at = 0;
        let mut json = self.json.iter().peekable();
        for (range, piece) in self.regions.iter() {
            self.between(at..range.start, &mut json, &mut stretches);
            at = range.end;
            push(&mut stretches, range, What::Piece(piece));
        }
        self.between(at..self.text.len(), &mut json, &mut stretches);
        stretches
    }

    /// What stands between two pieces: dumped JSON and glue.
    fn between(
        &self,
        gap: Range<usize>,
        json: &mut std::iter::Peekable<std::slice::Iter<'_, Range<usize>>>,
        stretches: &mut Vec<Stretch>,
    ) {
        let mut at = gap.start;
        while let Some(dumped) = json.peek() {
            let start = dumped.start.clamp(at, gap.end);
            let end = dumped.end.clamp(at, gap.end);
            self.glue(at..start, stretches);
            push(stretches, start..end, What::Json);
            at = end;
            if dumped.end > gap.end {
                break;
            }
            json.next();
        }
        self.glue(at..gap.end, stretches);
    }

    /// The template's own text, its special tokens apart.
    fn glue(&self, range: Range<usize>, stretches: &mut Vec<Stretch>) {
        let mut at = range.start;
        while let Some((before, token, _)) = self.tokens.split_once(cut::text(self.text, at..range.end)) {
            let start = at + before.len();
            push(stretches, at..start, What::Glue);
            at = start + token.len();
            push(stretches, start..at, What::Special);
        }
        push(stretches, at..range.end, What::Glue);
    }

    /// Gives the assistant what the template marks as generated.
    fn generated_speakers(&self, stretches: Vec<Stretch>) -> Vec<Stretch> {
        let edges: BTreeSet<usize> = self
            .generated
            .iter()
            .flat_map(|range| [range.start, range.end])
            .collect();
        let voices = self.generated_voices();
        let mut out = Vec::with_capacity(stretches.len());
        for stretch in stretches {
            let Range { start, end } = stretch.range;
            let mut cuts = vec![start];
            // A special token is one token, whatever the template cuts.
            if stretch.what != What::Special {
                cuts.extend(edges.range(start..end).filter(|edge| **edge > start));
            }
            cuts.push(end);
            for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
                let before = self.generated.partition_point(|range| range.end <= *from);
                let generated = self.generated.get(before).zip(voices.get(before));
                let generated = generated.filter(|(range, _)| range.start <= *from);
                out.push(Stretch {
                    range: *from..*to,
                    what: stretch.what,
                    speaker: generated.map_or(Speaker::Other, |(_, voice)| *voice),
                });
            }
        }
        out
    }

    /// Whose words each stretch is that the template marks as generated: those of the turns that it shows, else of the one before.
    fn generated_voices(&self) -> Vec<Speaker> {
        let mut own = self.regions.iter().filter_map(|(range, piece)| {
            let piece = cut::at(self.pieces, piece);
            piece.is_own().then(|| (range, self.voice(piece.turn)))
        });
        let mut next = own.next();
        let mut latest = Speaker::Perspective;
        let voices = self.generated.iter().map(|generated| {
            let mut inside = Vec::new();
            while let Some((range, voice)) = next.take_if(|(range, _)| range.start < generated.end) {
                if range.end > generated.start {
                    inside.push(voice);
                }
                latest = voice;
                next = own.next();
            }
            if inside.contains(&Speaker::Recalled) {
                Speaker::Recalled
            } else if inside.is_empty() {
                latest
            } else {
                Speaker::Perspective
            }
        });
        voices.collect()
    }

    /// Whose words those of a turn are.
    fn voice(&self, turn: Option<usize>) -> Speaker {
        turn.map_or(Speaker::Perspective, |turn| *cut::at(self.voices, turn))
    }

    /// Gives the assistant its pieces, what stands between pieces of one turn, and the special token that ends it.
    fn assign_speakers(&self, stretches: &mut [Stretch]) {
        let mut own: Vec<(Range<usize>, Speaker)> = Vec::new();
        let mut last: Option<(usize, usize)> = None;
        for (index, stretch) in stretches.iter().enumerate() {
            let What::Piece(number) = stretch.what else {
                continue;
            };
            let piece = cut::at(self.pieces, number);
            let Some(turn) = piece.turn.filter(|_| piece.is_own()) else {
                last = None;
                continue;
            };
            let from = match last {
                Some((known, before)) if known == turn => before,
                _ => {
                    let before = stretches.iter().take(index).rev();
                    index - before.take_while(|before| before.what == What::Json).count()
                }
            };
            last = Some((turn, index));
            let (_, after) = stretches.split_at(index + 1);
            own.push((from..index + 1 + self.ending(after), self.voice(Some(turn))));
        }
        for (range, voice) in own {
            for stretch in cut::slice_mut(stretches, range) {
                stretch.speaker = voice;
            }
        }
    }

    /// How many of the stretches after a piece end its turn: up to a special token, unless nothing but white space
    /// stands before that; then it opens the next turn.
    fn ending(&self, after: &[Stretch]) -> usize {
        let is_between = |stretch: &&Stretch| matches!(stretch.what, What::Glue | What::Json);
        let between = after.iter().take_while(is_between).count();
        let gap = after.iter().take(between);
        let gap: String = gap
            .map(|stretch| cut::text(self.text, stretch.range.clone()))
            .collect();
        let is_apart = !gap.is_empty() && gap.chars().all(is_space);
        match after.get(between) {
            Some(next) if next.what == What::Special && !is_apart => between + 1,
            _ => 0,
        }
    }
}

fn push(stretches: &mut Vec<Stretch>, range: Range<usize>, what: What) {
    if !range.is_empty() {
        stretches.push(Stretch {
            range,
            what,
            speaker: Speaker::Other,
        });
    }
}

/// Writes what a template shows of a piece, in the piece's own words where they are recognised.
fn say<'a>(sink: &mut Sink<'a>, piece: &Piece<'a>, shown: &str) {
    if let Some(at) = piece.text.find(shown) {
        say_words(sink, piece, at..at + shown.len(), Level::Raw);
        return;
    }
    let inner = piece.text.trim_matches(is_space);
    let mut escaped = String::new();
    if inner.len() <= shown.len() {
        json::push_escaped(&mut escaped, inner);
    }
    if escaped == shown {
        let at = piece.text.len() - piece.text.trim_start_matches(is_space).len();
        say_words(sink, piece, at..at + inner.len(), Level::JsonString);
        return;
    }
    let component = piece
        .words
        .first()
        .map_or(Component::Content, |words| words.component);
    sink.literal(shown.to_owned(), component);
}

/// Writes some bytes of a piece's words.
fn say_words<'a>(sink: &mut Sink<'a>, piece: &Piece<'a>, range: Range<usize>, level: Level) {
    let mut start = 0;
    for words in &piece.words {
        let end = start + words.text.len();
        let inside = range.start.clamp(start, end) - start..range.end.clamp(start, end) - start;
        start = end;
        TextRun::new(cut::text(words.text, inside), words.component).write(sink, level);
    }
}
