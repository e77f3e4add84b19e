//! Chats as lines of text. Such a format is a table of line forms with placeholders in braces.

use std::ops::Range;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::{Framing, Sketch};
use chatmill_model::{Conversation, Extra, Message, Part, Role, Scene};
use jiff::civil::Date;

use crate::base::quoted;
use crate::frame::{FrameView, Reading};
use crate::layout::text::TextReader;
use crate::source::{About, Source};

/// A format of lines.
#[derive(Debug)]
pub struct Lines {
    /// Title, shape and traits of the format.
    pub about: &'static About,
    /// The forms of lines, a table for each shape of `about`. The first form that matches is used, and the shape that matches
    /// most lines.
    ///
    /// A form is a line with letters in braces: `y`, `o`, `d`, `h`, `m`, `s` are numbers (year, month, and so on), `b` the name
    /// of a month, `w` a day of the week, `k` one in English, which must agree with the date, `a` a half of the day, `n` the
    /// speaker, `t` the text, `_` anything.
    pub shapes: &'static [&'static [Form]],
    /// The forms that no other format has; empty if that is true of all.
    pub typical: &'static [&'static str],
    /// Characters before a name that mark a rank, and are not part of the name.
    pub ranks: &'static [char],
    /// Whether a line without a form continues the message before it.
    pub goes_on: bool,
    /// Converts a text to the parts of a message.
    pub parts: fn(String, &mut Extra) -> Vec<Part>,
}

/// A form, and the meaning of a line that matches it.
pub(crate) type Form = (&'static str, LineKind);

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A message.
    Message,
    /// An action of a participant, described in words.
    Action,
    /// An event.
    Notice,
    /// The day of the following lines.
    Day,
    /// The title of the chat; only before the first message.
    Title,
    /// The time of the export; only before the first message.
    Saved,
}

/// Marks of writing direction, which phones put before lines.
const MARKS: [char; 3] = ['\u{feff}', '\u{200e}', '\u{200f}'];

/// The number of lines that decide the shape of a text.
const SAMPLE: usize = 1024;

/// Words for the halves of the day, in the languages of exports: the first, and the second.
const HALVES: [(&str, &str); 5] = [
    ("am", "pm"),
    ("a.m.", "p.m."),
    ("오전", "오후"),
    ("午前", "午後"),
    ("上午", "下午"),
];

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

impl Source for Lines {
    fn about(&self) -> &'static About {
        self.about
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        let mut lines = sketch.records.iter().flat_map(|record| &record.starts);
        let is_ours = |(_, line): &(String, String)| {
            let line = line.trim_end_matches('\r').trim_start_matches(MARKS);
            let is_typical = self.typical.iter().any(|form| Seen::of(form, line).is_some());
            let all = self.shapes.iter().copied().flatten();
            let mut all = all.filter(|(_, kind)| self.typical.is_empty() && *kind != LineKind::Saved);
            is_typical || all.any(|(form, _)| Seen::of(form, line).is_some())
        };
        let is_ours = sketch.framing == Framing::Text && lines.any(is_ours);
        is_ours.then(|| (95, vec![format!("lines are those of {}", self.about.title)]))
    }

    fn lines(&self) -> Option<String> {
        let message = |forms: &&[Form]| {
            let form = forms.iter().find(|(_, kind)| *kind == LineKind::Message);
            form.map(|(form, _)| format!("`{}`", example(form)))
        };
        let lines: Vec<String> = self.shapes.iter().filter_map(message).collect();
        Some(lines.join(", "))
    }

    fn message_path(&self, _index: u32) -> Option<String> {
        Some("$.text".to_owned())
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        self.about.stored(self.read_text(*frame, limits))
    }
}

/// A line that matches a form, with the lines that continue it.
struct LineEntry<'t> {
    kind: LineKind,
    seen: Seen<'t>,
    line: &'t str,
    /// The bytes of the message in the text.
    span: Range<usize>,
    more: Vec<&'t str>,
}

impl Lines {
    fn read_text(&self, frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
        let (mut reader, value, text) = TextReader::open(frame, limits)?;
        let (forms, shape) = self.shape(&text);
        let (entries, unmatched) = self.entries(&text, forms);
        if !entries.iter().any(|entry| {
            matches!(
                entry.kind,
                LineKind::Message | LineKind::Action | LineKind::Notice
            )
        }) {
            let lines = self.lines().unwrap_or_default();
            let text = format!("no line of the text begins as those of this format do: {lines}");
            return Err(frame.error(&codes::WRONG_TYPE, text, "$.text", value));
        }
        frame.bound(("the chat", entries.len(), "messages"), "$.text", value, limits)?;
        let mut conversation = Conversation {
            shape,
            scene: Scene::GroupChat,
            ..Conversation::default()
        };
        let mut day = None;
        let mut unmatched = unmatched.into_iter().peekable();
        for entry in entries {
            while let Some(lines) = unmatched.next_if(|lines| lines.start < entry.span.start) {
                reader.outside(lines, NO_FORM);
            }
            self.entry(&mut reader, entry, &mut day, &mut conversation);
        }
        for lines in unmatched {
            reader.outside(lines, NO_FORM);
        }
        Ok(reader.finish(conversation))
    }

    /// The forms and the name of the shape that matches most lines; of several, the first.
    fn shape(&self, text: &str) -> (&'static [Form], &'static str) {
        let mut best: (usize, &'static [Form], &'static str) = (0, &[], "");
        for (forms, name) in self.shapes.iter().zip(self.about.shapes) {
            let fits = text
                .lines()
                .take(SAMPLE)
                .filter(|line| seen(forms, line.trim_start_matches(MARKS)).is_some());
            let count = fits.count();
            if count > best.0 || best.1.is_empty() {
                best = (count, forms, name);
            }
        }
        (best.1, best.2)
    }

    /// The lines of a text that match a form, and the ranges of those without a speaker.
    fn entries<'t>(&self, text: &'t str, forms: &[Form]) -> (Vec<LineEntry<'t>>, Vec<Range<usize>>) {
        let mut entries: Vec<LineEntry<'t>> = Vec::new();
        let mut unmatched: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        let mut has_begun = false;
        for whole in text.split_inclusive('\n') {
            let start = at;
            at += whole.len();
            let line = whole.trim_end_matches(['\n', '\r']);
            let span = start..start + line.len();
            let plain = line.trim_start_matches(MARKS);
            let is_head = |kind: LineKind| matches!(kind, LineKind::Title | LineKind::Saved);
            let begins = seen(forms, plain).filter(|(kind, _)| !has_begun || !is_head(*kind));
            if let Some((kind, seen)) = begins {
                has_begun |= !is_head(kind) && kind != LineKind::Day;
                let more = Vec::new();
                entries.push(LineEntry {
                    kind,
                    seen,
                    line: plain,
                    span,
                    more,
                });
                continue;
            }
            let last = entries
                .last_mut()
                .filter(|last| self.goes_on && matches!(last.kind, LineKind::Message | LineKind::Notice));
            match last {
                Some(entry) => {
                    entry.more.push(line);
                    // Blank lines at the end are not part of the entry.
                    if !line.trim().is_empty() {
                        entry.span.end = span.end;
                    }
                }
                None if plain.trim().is_empty() => {}
                None => unmatched.push(span),
            }
        }
        (entries, unmatched)
    }

    fn entry(
        &self,
        reader: &mut TextReader<'_, '_>,
        entry: LineEntry<'_>,
        day: &mut Option<Date>,
        conversation: &mut Conversation,
    ) {
        let LineEntry {
            kind,
            seen,
            line,
            span,
            more,
        } = entry;
        let span = reader.written(span);
        let iso = seen.iso(day);
        let raw = line.get(seen.when.clone()).unwrap_or_default();
        match kind {
            LineKind::Title => conversation.title = Some(seen.text.to_owned()),
            LineKind::Saved => conversation.extra.0.push(("saved".to_owned(), quoted(seen.text))),
            LineKind::Day if day.is_none() => _ = reader.time(None, raw, span.clone()),
            _ => {}
        }
        if matches!(kind, LineKind::Title | LineKind::Saved | LineKind::Day) {
            // The line is merged into the times of other lines, or into the conversation.
            reader.turns.list.rows.rows += 1;
            reader.turns.list.rows.merged += 1;
            return;
        }
        // If another line names the day, the time as written would be incomplete.
        let raw = iso
            .as_deref()
            .filter(|iso| !iso.is_empty() && !seen.names_day())
            .unwrap_or(raw);
        let timestamp = seen
            .has_time()
            .then(|| reader.time(iso.as_deref(), raw, span.clone()))
            .flatten();
        let first = if kind == LineKind::Notice && seen.text.is_empty() {
            line
        } else {
            seen.text
        };
        let mut text = first.to_owned();
        for line in more {
            text.push('\n');
            text.push_str(line.trim_start_matches(MARKS));
        }
        let text = text.trim_end().to_owned();
        let message = reader.begin(Role::User, span);
        if kind == LineKind::Notice {
            let parts = vec![Part::Notice(text.trim_start().to_owned())];
            reader.notice(Message {
                timestamp,
                parts,
                ..message
            });
            return;
        }
        let name = seen.name.trim_start_matches(self.ranks).trim_end();
        let sender = Some(reader.turns.roster.named(Role::User, Some(name)));
        let mut extra = Extra::default();
        let parts = if text.is_empty() {
            Vec::new()
        } else {
            (self.parts)(text, &mut extra)
        };
        let source_type = (kind == LineKind::Action).then(|| "action".to_owned());
        let is_notice = matches!(parts.as_slice(), [Part::Notice(_)]);
        let message = Message {
            sender,
            timestamp,
            parts,
            source_type,
            extra,
            ..message
        };
        if is_notice {
            reader.notice(message);
        } else {
            reader.turns.list.push(message);
        }
    }
}

const NO_FORM: &str = "the line has none of the forms that lines of this chat have: it has no speaker";

/// The text of a message as one part, unchanged.
pub(crate) fn plain(text: String, _extra: &mut Extra) -> Vec<Part> {
    vec![Part::Text(text)]
}

/// An example of a line in this form.
fn example(form: &str) -> String {
    let fillings = "2026 01 05 10 00 00 Jan AM Ann Hi …".split(' ');
    let holes = "yodhmsbant_".chars().zip(fillings);
    holes.fold(form.to_owned(), |line, (hole, filling)| {
        line.replace(&format!("{{{hole}}}"), filling)
    })
}

/// The first form of a table that matches a line, with the matched pieces.
fn seen<'t>(forms: &[Form], line: &'t str) -> Option<(LineKind, Seen<'t>)> {
    let mut forms = forms.iter();
    forms.find_map(|(form, kind)| Seen::of(form, line).map(|seen| (*kind, seen)))
}

/// The pieces of a line that matched a form.
#[derive(Clone, Debug, Default)]
struct Seen<'t> {
    /// Year, month, day, hour, minute, second.
    numbers: [Option<i16>; 6],
    /// The day of the week that the line states, from Monday on; the date must agree with it.
    weekday: Option<usize>,
    /// Whether the time is in the afternoon.
    half: Option<bool>,
    name: &'t str,
    text: &'t str,
    /// The range of date and time in the line.
    when: Range<usize>,
}

impl<'t> Seen<'t> {
    /// Matches a line against a form; `None` if it does not match.
    fn of(form: &str, line: &'t str) -> Option<Self> {
        let mut seen = Self::default();
        let mut pieces = form.split('{');
        let mut rest = after(line, pieces.next()?)?;
        for piece in pieces {
            let (place, behind) = piece.split_once('}')?;
            let from = line.len() - rest.len();
            let is_time = seen.fill(place, behind, &mut rest)?;
            if is_time {
                let start = if seen.when.is_empty() {
                    from
                } else {
                    seen.when.start
                };
                seen.when = start..line.len() - rest.len();
            }
            rest = after(rest, behind)?;
        }
        (rest.is_empty() && seen.may_be()).then_some(seen)
    }

    /// Reads a placeholder, up to the text `behind` that follows it; returns whether it is a part of date and time.
    fn fill(&mut self, place: &str, behind: &str, rest: &mut &'t str) -> Option<bool> {
        if let Some(number) = "yodhms".find(place).and_then(|at| self.numbers.get_mut(at)) {
            // Days of one digit may have a blank before them.
            let digits = rest.trim_start_matches(' ');
            let end = digits
                .find(|sign: char| !sign.is_ascii_digit())
                .unwrap_or(digits.len());
            let (value, left) = digits
                .split_at_checked(end)
                .filter(|(value, _)| value.len() <= 4)?;
            *number = Some(value.parse().ok()?);
            *rest = left;
            return Some(true);
        }
        if "abkw".contains(place) {
            let end = rest
                .find(|sign: char| !sign.is_alphabetic() && sign != '.')
                .unwrap_or(rest.len());
            let (word, left) = rest.split_at_checked(end).filter(|(word, _)| !word.is_empty())?;
            let plain = word.to_lowercase();
            match place {
                "a" => self.half = Some(half(&plain)?),
                "b" => {
                    let month = MONTHS.iter().position(|month| plain.starts_with(month))?;
                    *self.numbers.get_mut(1)? = i16::try_from(month + 1).ok();
                }
                "k" => self.weekday = Some(WEEKDAYS.iter().position(|day| plain.starts_with(day))?),
                _ => {}
            }
            *rest = left;
            return Some(true);
        }
        let end = if behind.is_empty() {
            rest.len()
        } else {
            find(rest, behind)?
        };
        let (value, left) = rest.split_at_checked(end)?;
        match place {
            "n" if value.trim().is_empty() => return None,
            "n" => self.name = value,
            "t" => self.text = value,
            _ => {}
        }
        *rest = left;
        Some(false)
    }

    fn names_day(&self) -> bool {
        matches!(self.numbers, [Some(_), ..])
    }

    fn has_time(&self) -> bool {
        matches!(self.numbers, [_, _, _, Some(_), ..])
    }

    fn date(&self) -> Option<Date> {
        let [year, month, day, ..] = self.numbers;
        Date::new(year?, i8::try_from(month?).ok()?, i8::try_from(day?).ok()?).ok()
    }

    /// Whether the date agrees with the stated day of the week.
    fn may_be(&self) -> bool {
        let own = || self.date().map(|date| date.weekday().to_monday_zero_offset());
        self.weekday
            .is_none_or(|wanted| own().is_some_and(|own| usize::try_from(own) == Ok(wanted)))
    }

    /// Date and time by ISO 8601. A line that names no day gets the last day that a line named, and one that names a day sets
    /// it. The text is empty if no line has named a day, and `None` means that date or time is impossible.
    fn iso(&self, day: &mut Option<Date>) -> Option<String> {
        let date = match self.numbers {
            [Some(_), ..] => self.date(),
            // A date without a year has the year of the day before it.
            [None, Some(_), ..] => day.and_then(|before| {
                let mut own = self.clone();
                *own.numbers.first_mut()? = Some(before.year());
                own.date()
            }),
            _ => *day,
        };
        if self.names_day() {
            *day = date;
        }
        let [.., hour, minute, second] = self.numbers;
        let hour = match (hour?, self.half) {
            (hour, None) => hour,
            (hour, Some(_)) if !(0..=12).contains(&hour) => return None,
            (hour, Some(is_second)) => hour % 12 + if is_second { 12 } else { 0 },
        };
        let (minute, second) = (minute?, second.unwrap_or(0));
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        match date {
            Some(date) => Some(format!("{date}T{hour:02}:{minute:02}:{second:02}")),
            None if self.names_day() => None,
            None => Some(String::new()),
        }
    }
}

/// Parses a word for the half of the day; true for the afternoon.
fn half(word: &str) -> Option<bool> {
    HALVES.iter().find_map(|(first, second)| match word {
        _ if word == *first => Some(false),
        _ if word == *second => Some(true),
        _ => None,
    })
}

/// The position of a form's piece. At the end of a line, the trailing blanks of the piece may be missing.
fn find(rest: &str, piece: &str) -> Option<usize> {
    let bare = piece.trim_end();
    let at_end = || rest.ends_with(bare).then(|| rest.len() - bare.len());
    rest.find(piece)
        .or_else(|| if bare.is_empty() { None } else { at_end() })
}

/// The text after a piece of a form.
fn after<'t>(rest: &'t str, piece: &str) -> Option<&'t str> {
    // Newer versions write a narrow blank between a time and its half of the day.
    let narrow = || rest.strip_prefix('\u{202f}').filter(|_| piece == " ");
    let whole = rest.strip_prefix(piece).or_else(narrow);
    whole.or_else(|| (!rest.is_empty() && rest == piece.trim_end()).then_some(""))
}
