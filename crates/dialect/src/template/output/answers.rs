//! Finds the bytes of an output that the assistant writes, turn by turn: from the end of the generation prompt to the end of the turn.
//!
//! Trainers find them by comparing outputs of the template: the messages before a turn, rendered with `add_generation_prompt`, end where
//! learning begins, and the messages up to the turn end where it ends. Doing so would render each conversation twice per turn. But a
//! template mostly writes the same text around all turns of a role, so this text is determined beforehand with small conversations, and
//! messages are rendered again only if it is not found.
//!
//! White space at the end of a turn, after a token that ends it, separates turns and is not part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::Role;

use super::super::context::{Kind, Piece};
use super::super::methods::is_space;
use super::super::regions::{Regions, common_start};
use super::super::tokens::Tokens;

/// The id of the calls that are probed.
pub(in super::super) const PROBED_ID: &str = "abcdefghi";

/// Renders only the first messages, with or without the generation prompt; returns `None` if the template does not accept them.
pub(in super::super) type RenderFirst<'r> = dyn FnMut(usize, bool) -> Option<String> + 'r;

/// The texts that a template writes around turns, by the role of the neighbouring turn.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Surroundings {
    /// The text after a turn up to the end of the generation prompt.
    prompts: Vec<(Role, String)>,
    /// The text between the end of an answer and the text of the next turn; `None` if a last answer ends differently.
    heads: Vec<(Role, Option<String>)>,
}

impl Surroundings {
    /// Adds the text after the word of a turn in a rendering that ends with a generation prompt.
    pub(in super::super) fn add_prompt(&mut self, role: Role, prompt: &str, word: &str) {
        if let Some((_, after)) = prompt.rsplit_once(word).filter(|(_, after)| !after.is_empty()) {
            self.prompts.push((role, after.to_owned()));
        }
    }

    /// Adds the text between an answer and the next turn, found by a word in each; `alone` ends with the answer.
    pub(in super::super) fn add_head(&mut self, role: Role, text: &str, alone: &str, words: [&str; 2]) {
        let [answer, next] = words;
        let (Some(at), Some(next)) = (text.find(answer), text.rfind(next)) else {
            return;
        };
        let end = end_within(text, alone, at..at + answer.len()).filter(|end| *end <= next);
        let head = end.map(|end| cut::text(text, end..next).to_owned());
        self.heads.push((role, head));
    }

    fn prompt(&self, role: Role) -> Option<&str> {
        let found = self.prompts.iter().find(|(known, _)| *known == role);
        found.map(|(_, prompt)| prompt.as_str())
    }
}

/// A piece in the output.
struct ShownPiece {
    range: Range<usize>,
    turn: Option<usize>,
    role: Role,
    /// Whether it is a text or thoughts, and printed here for the first time.
    is_new_text: bool,
}

/// An output in which the turns of the assistant are searched.
pub(in super::super) struct Answers<'o> {
    text: &'o str,
    shown: Vec<ShownPiece>,
    json: &'o [Range<usize>],
    tokens: &'o Tokens,
    /// Number of turns; `None` if the output ends with a generation prompt.
    turns: Option<usize>,
    surroundings: Surroundings,
    /// For each text between two turns, the place in it where a generation prompt ended.
    starts: BTreeMap<String, usize>,
}

impl<'o> Answers<'o> {
    /// Prepares the search in an output.
    pub(in super::super) fn new(
        text: &'o str,
        (regions, pieces): (&Regions, &[Piece<'_>]),
        json: &'o [Range<usize>],
        tokens: &'o Tokens,
        turns: Option<usize>,
        surroundings: Surroundings,
    ) -> Self {
        let mut known = BTreeSet::new();
        let shown = regions.iter().filter_map(|(range, number)| {
            let piece = cut::at(pieces, number);
            if piece.kind == Kind::CallId && !regions.has_marked_ids {
                return None;
            }
            let role = match piece.kind {
                Kind::Text(role) => role,
                Kind::ToolName | Kind::ToolText => Role::System,
                Kind::Thoughts | Kind::CallName | Kind::Argument | Kind::CallId => Role::Assistant,
            };
            Some(ShownPiece {
                range,
                turn: piece.turn,
                role,
                is_new_text: matches!(piece.kind, Kind::Text(_) | Kind::Thoughts) && known.insert(number),
            })
        });
        Self {
            text,
            shown: shown.collect(),
            json,
            tokens,
            turns,
            surroundings,
            starts: BTreeMap::new(),
        }
    }

    /// Returns the ranges in order. A turn that is printed twice counts where it is printed first: text of it that a template repeats
    /// before a tool's message is not written by the assistant. Text that a template prints only after the result of a call is.
    pub(in super::super) fn ranges(mut self, render: &mut RenderFirst<'_>) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let shown = std::mem::take(&mut self.shown);
        let (mut before, mut rest) = shown.split_at(0);
        let texts = shown.iter().filter(|shown| shown.is_new_text);
        let texts = texts.filter_map(|shown| Some((shown.turn?, shown.range.start)));
        let last_texts: BTreeMap<usize, usize> = texts.collect();
        let mut latest = None;
        while let Some(first) = rest.first() {
            let is_same = |other: &&ShownPiece| (other.turn, other.role) == (first.turn, first.role);
            let count = rest.iter().take_while(is_same).count();
            let (own, after) = rest.split_at(count);
            if let Some(turn) = first.turn.filter(|_| first.role == Role::Assistant)
                && (latest < Some(turn) || latest == Some(turn) && own.iter().any(|shown| shown.is_new_text))
            {
                let run = OwnRun {
                    turn,
                    before,
                    own,
                    next: after.first(),
                    is_late: latest == Some(turn),
                    is_divided: after.first().is_some_and(|next| {
                        last_texts.get(&turn).is_some_and(|last| next.range.start < *last)
                    }),
                };
                latest = Some(turn);
                let floor = found.last().map_or(0, |range| range.end);
                let range = self.start(&run, render).max(floor)..self.end(&run, render);
                if range.start < range.end {
                    found.push(range);
                }
            }
            (before, rest) = shown.split_at(before.len() + count);
        }
        found
    }

    /// Returns where the generation prompt before a turn ends.
    fn start(&mut self, run: &OwnRun<'_>, render: &mut RenderFirst<'_>) -> usize {
        let own = run.words();
        let from = run.before.last().map_or(0, |before| before.range.end);
        let gap = cut::text(self.text, from..own.start);
        let before = run
            .before
            .last()
            .filter(|before| before.turn.map(|turn| turn + 1) == Some(run.turn));
        if let Some(prompt) = before.and_then(|before| self.surroundings.prompt(before.role)) {
            if let Some(length) = length_with_id(prompt, gap) {
                return from + length;
            }
            let has_id = prompt.contains(PROBED_ID);
            let mut places = gap.match_indices(prompt);
            match (places.next(), places.next()) {
                (Some((at, _)), None) => return from + at + prompt.len(),
                (Some(_), Some(_)) => {}
                (None, _) if has_id => {}
                // The generation prompt may have more text than the template writes before answers, such as `<think>`.
                (None, _) => match matching_length(prompt, cut::text(self.text, from..own.end)) {
                    0 => {}
                    length => return from + length,
                },
            }
        }
        if let Some(length) = self.starts.get(gap) {
            return from + length;
        }
        let Some(length) = render(run.turn, true).and_then(|prompt| self.prompt_length(run, &prompt)) else {
            let json = self.json.iter().find(|json| json.contains(&own.start));
            return json.map_or(own.start, |json| json.start.max(from));
        };
        if length <= gap.len() {
            self.starts.insert(gap.to_owned(), length);
        }
        from + length
    }

    /// Returns how much of the text after the previous turn is part of a prompt that ends there.
    fn prompt_length(&self, run: &OwnRun<'_>, prompt: &str) -> Option<usize> {
        let from = run.before.last().map_or(0, |before| before.range.end);
        let (known, after) = self.text.split_at(from);
        let rest = prompt.strip_prefix(known).or_else(|| {
            // Templates leave out thoughts of earlier turns depending on what follows, so only the neighbouring text is compared.
            let neighbours = run.before.iter().rev().nth(1).map_or(0, |shown| shown.range.end);
            let known = cut::text(self.text, neighbours..from);
            prompt.rsplit_once(known).map(|(_, rest)| rest)
        })?;
        Some(matching_length(rest, cut::text(after, 0..run.words().end - from)))
    }

    /// Returns where a turn ends.
    fn end(&mut self, run: &OwnRun<'_>, render: &mut RenderFirst<'_>) -> usize {
        let own = run.words();
        let Some(end) = self.whole_end(run, render) else {
            return self.next_token(own.end);
        };
        // The last of its pieces may be repeated after its end.
        let inside = run
            .own
            .iter()
            .map(|shown| shown.range.end)
            .filter(|last| *last <= end);
        let last = inside.max().unwrap_or(own.start).min(end);
        match cut::text(self.text, last..end).trim_end_matches(is_space).len() {
            0 => end,
            length => last + length,
        }
    }

    fn whole_end(&mut self, run: &OwnRun<'_>, render: &mut RenderFirst<'_>) -> Option<usize> {
        if run.next.is_none() && (self.turns == Some(run.turn + 1) || run.is_late && self.turns.is_some()) {
            return Some(self.text.len());
        }
        let own = run.words();
        let next = run
            .next
            .filter(|next| next.turn == Some(run.turn + 1) || run.is_late);
        if let Some(next) = next {
            let text = cut::text(self.text, own.start..next.range.start);
            let heads = || {
                self.surroundings
                    .heads
                    .iter()
                    .filter(|(role, _)| *role == next.role)
            };
            let fits =
                heads().filter_map(|(_, head)| head.as_ref().filter(|head| text.ends_with(head.as_str())));
            if let Some(length) = fits.map(String::len).max() {
                return Some(next.range.start - length);
            }
            if heads().any(|(_, head)| head.is_none()) {
                return None;
            }
        }
        let alone = render(run.turn + 1, false)?;
        let end = end_within(self.text, &alone, own.clone());
        if end.is_none() && run.is_divided {
            // Alone, the turn has all of its texts in one place: up to the first of those that are printed elsewhere, it is the same.
            let from = run.before.last().map_or(0, |before| before.range.start);
            let (_, rest) = alone.rsplit_once(cut::text(self.text, from..own.start))?;
            let (_, after) = self.text.split_at(own.start);
            return Some(own.start + matching_length(rest, after));
        }
        let end = end?;
        if let Some(next) = next.filter(|next| end <= next.range.start) {
            let head = cut::text(self.text, end..next.range.start).to_owned();
            self.surroundings.heads.push((next.role, Some(head)));
        }
        Some(end)
    }

    /// Returns the end of the special token that ends a turn. A token after only white space is not part of it: it opens the next turn.
    fn next_token(&self, from: usize) -> usize {
        let json = self.json.iter().find(|json| json.contains(&from));
        let from = json.map_or(from, |json| json.end);
        let rest = cut::text(self.text, from..self.text.len());
        match self.tokens.split_once(rest) {
            Some((before, token, _)) if before.is_empty() || !before.chars().all(is_space) => {
                from + before.len() + token.len()
            }
            _ => from,
        }
    }
}

/// A turn of the assistant in the output.
struct OwnRun<'s> {
    turn: usize,
    before: &'s [ShownPiece],
    own: &'s [ShownPiece],
    next: Option<&'s ShownPiece>,
    /// Whether other turns are printed between earlier pieces of the turn and these.
    is_late: bool,
    /// Whether texts of the turn are printed later, after other turns.
    is_divided: bool,
}

impl OwnRun<'_> {
    /// Returns the range from its first piece to its last.
    fn words(&self) -> Range<usize> {
        let start = self.own.first().map_or(0, |shown| shown.range.start);
        start..self.own.last().map_or(start, |shown| shown.range.end)
    }
}

/// Returns the length of a generation prompt in a text that has another id of a call in place of the probed one.
fn length_with_id(prompt: &str, text: &str) -> Option<usize> {
    let (before, behind) = prompt
        .split_once(PROBED_ID)
        .filter(|(_, behind)| !behind.is_empty())?;
    let rest = text.strip_prefix(before)?;
    Some(before.len() + rest.find(behind)? + behind.len())
}

/// Returns how much of a generation prompt a text begins with.
fn matching_length(prompt: &str, text: &str) -> usize {
    let length = common_start(prompt, text);
    if length == prompt.len() {
        return length;
    }
    // Two tags with the same beginning, such as `<think>` and `<tool_call>`, are different and have nothing in common.
    let common = cut::text(prompt, 0..length);
    let open = common
        .rfind(['<', '['])
        .filter(|at| !cut::text(common, *at..length).contains(['>', ']']));
    open.unwrap_or(length)
}

/// Returns where an answer ends in a text, found by a rendering that ends with the answer; `None` if that rendering ends differently.
fn end_within(text: &str, alone: &str, own: Range<usize>) -> Option<usize> {
    let trimmed = alone.trim_end_matches(is_space);
    if let Some(whole) = [alone, trimmed].into_iter().find(|alone| text.starts_with(alone)) {
        return Some(whole.len());
    }
    let after = cut::text(text, own.end..text.len());
    let (_, end) = alone.rsplit_once(cut::text(text, own.clone()))?;
    let ends = [end, end.trim_end_matches(is_space)];
    let end = ends.into_iter().find(|end| after.starts_with(end))?;
    Some(own.end + end.len())
}
