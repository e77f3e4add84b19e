//! The beginning of a line: a date in the order of the phone's language, and a time of 12 or 24 hours.

use chatmill_intake::plain_digit;

use super::words::{FIRST_HALF, MARKS, SECOND_HALF};

/// Blanks, which differ from version to version.
const BLANKS: [char; 4] = [' ', '\u{202f}', '\u{a0}', '_'];

/// The beginning of a line that begins a message or a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Begin<'t> {
    /// The three numbers of the date, in the order of the line.
    pub date: [u32; 3],
    /// Whether the year is the first number.
    pub is_year_first: bool,
    /// The separator between the numbers.
    pub separator: char,
    /// Hour, minute and second, in 24 hours; `None` if they are not a valid time.
    pub time: Option<[u32; 3]>,
    /// Whether the time has a half of the day, such as PM.
    pub has_halves: bool,
    /// Date and time as written.
    pub raw: &'t str,
    /// Whether both are in brackets.
    pub is_bracketed: bool,
    /// The rest of the line: name and text, or a notice.
    pub rest: &'t str,
}

/// Reads the beginning of a line; `None` if the line continues the message before it.
pub(super) fn begin(line: &str) -> Option<Begin<'_>> {
    let text = line.trim_start_matches(MARKS);
    let inside = text.strip_prefix('[');
    let text = inside.unwrap_or(text);
    let (numbers, separator, after_date) = date(text)?;
    let [first, _, last] = &numbers;
    let is_year_first = first.chars().count() == 4;
    if !is_year_first && !matches!(last.chars().count(), 2 | 4) {
        return None;
    }
    // The Bulgarian word for year follows it.
    let after = after_date.strip_prefix(" \u{433}.").unwrap_or(after_date);
    let after = after.strip_prefix([',', '\u{60c}']).unwrap_or(after);
    let after = after.trim_start_matches(MARKS).trim_start_matches(BLANKS);
    let (half_before, after) = half(after);
    let after = after.trim_start_matches(BLANKS);
    // A short word such as `um`, `at` or `à` may precede the time.
    let word = after.trim_start_matches(char::is_alphabetic);
    let is_word = after.len() - word.len() <= 4;
    let after = if is_word {
        word.trim_start_matches(BLANKS)
    } else {
        after
    };
    let (clock, has_seconds, behind) = time(after).or_else(|| time_with_words(after))?;
    let (half, behind) = half(behind);
    let half = half_before.or(half);
    let behind = behind.strip_prefix(" \u{447}.").unwrap_or(behind);
    let raw = text.strip_suffix(behind).unwrap_or(text);
    let rest = match inside {
        Some(_) => behind.strip_prefix(']')?.trim_start_matches(BLANKS),
        None => behind
            .trim_start_matches(BLANKS)
            .strip_prefix("- ")
            .or_else(|| {
                behind
                    .strip_prefix(": ")
                    .filter(|rest| has_seconds || rest.contains(": "))
            })
            .or_else(|| (behind.trim_start_matches(BLANKS) == "-").then_some(""))?,
    };
    let number = |text: &str| number(text).unwrap_or(u32::MAX);
    let [one, two, three] = numbers;
    Some(Begin {
        date: [number(one), number(two), number(three)],
        is_year_first,
        separator,
        time: clock_of(clock, half),
        has_halves: half.is_some(),
        raw: raw.trim_end_matches(BLANKS),
        is_bracketed: inside.is_some(),
        rest,
    })
}

/// Three numbers with one separator between them.
fn date(text: &str) -> Option<([&str; 3], char, &str)> {
    let (one, rest) = digits(text, 4)?;
    let rest = rest.trim_start_matches(MARKS);
    let separator = rest.chars().next().filter(|sign| "./-".contains(*sign))?;
    let (two, rest) = digits(skip(rest, separator)?, 2)?;
    let rest = rest.trim_start_matches(MARKS);
    let (three, rest) = digits(skip(rest, separator)?, 4)?;
    // A full stop may end the date, as in Hungarian and Korean.
    Some((
        [one, two, three],
        separator,
        rest.strip_prefix('.').unwrap_or(rest),
    ))
}

fn skip(text: &str, separator: char) -> Option<&str> {
    let blank = |sign: char| sign == ' ' || MARKS.contains(&sign);
    Some(text.strip_prefix(separator)?.trim_start_matches(blank))
}

fn digits(text: &str, most: usize) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches(|sign: char| plain_digit(sign).is_ascii_digit());
    let found = text.strip_suffix(rest)?;
    (1..=most)
        .contains(&found.chars().count())
        .then_some((found, rest))
}

fn number(digits: &str) -> Option<u32> {
    digits.chars().map(plain_digit).collect::<String>().parse().ok()
}

/// Hour, minute and second, whether there are seconds, and what follows.
fn time(text: &str) -> Option<([u32; 3], bool, &str)> {
    let (hour, rest) = digits(text, 2)?;
    let separator = rest.chars().next().filter(|sign| ":.".contains(*sign))?;
    let (minute, rest) = digits(rest.strip_prefix(separator)?, 2)?;
    let seconds = rest.strip_prefix(separator).and_then(|rest| digits(rest, 2));
    let has_seconds = seconds.is_some();
    let (second, rest) = seconds.unwrap_or(("0", rest));
    Some((
        [number(hour)?, number(minute)?, number(second)?],
        has_seconds,
        rest,
    ))
}

/// A time as Canadian phones write it in French: `10 h 05`, `10 h 05 min 30 s`.
fn time_with_words(text: &str) -> Option<([u32; 3], bool, &str)> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, rest) = digits(behind_word(rest, "h")?, 2)?;
    let seconds = behind_word(rest, "min").and_then(|rest| digits(rest, 2));
    let seconds = seconds.and_then(|(second, rest)| Some((second, behind_word(rest, "s")?)));
    let has_seconds = seconds.is_some();
    let (second, rest) = seconds.unwrap_or(("0", rest));
    let clock = [number(hour)?, number(minute)?, number(second)?];
    Some((clock, has_seconds, rest))
}

/// The text after a word and the blanks around it.
fn behind_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.trim_start_matches(BLANKS).strip_prefix(word)?;
    Some(rest.trim_start_matches(BLANKS))
}

/// The half of the day, `true` for the second, and the rest of the text.
fn half(text: &str) -> (Option<bool>, &str) {
    let after = text.trim_start_matches(BLANKS);
    for (words, is_second) in [(&FIRST_HALF, false), (&SECOND_HALF, true)] {
        for word in words.iter() {
            let head: String = after.chars().take(word.chars().count()).collect();
            let is_it = head.to_lowercase().replace(['\u{202f}', '\u{a0}'], " ") == *word;
            if is_it
                && let Some(rest) = after.strip_prefix(head.as_str())
                && !rest.starts_with(|sign: char| sign.is_alphabetic())
            {
                return (Some(is_second), rest);
            }
        }
    }
    (None, text)
}

fn clock_of([hour, minute, second]: [u32; 3], half: Option<bool>) -> Option<[u32; 3]> {
    let hour = match half {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(is_second) => hour % 12 + if is_second { 12 } else { 0 },
    };
    (hour < 24 && minute < 60 && second < 60).then_some([hour, minute, second])
}

/// The order of the numbers of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    DayFirst,
    MonthFirst,
}

/// The evidence for the order of day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// A number that can only be a day.
    Number,
    /// One order has fewer steps back in time than the other.
    Sequence,
    /// Only the usual order for dates with this separator.
    Habit,
    /// Some dates are evidence for one order, some for the other.
    Contradicting,
}

/// The order of all dates of a chat: one phone wrote them all.
pub(super) fn order(begins: &[Begin<'_>]) -> (Order, Evidence) {
    let mut dates = begins.iter().filter(|begin| !begin.is_year_first).peekable();
    let Some(sample) = dates.peek().map(|begin| (begin.separator, begin.has_halves)) else {
        return (Order::DayFirst, Evidence::Number);
    };
    let dates: Vec<[u32; 3]> = dates.map(|begin| begin.date).collect();
    let day_first = dates.iter().filter(|[first, _, _]| *first > 12).count();
    let month_first = dates.iter().filter(|[_, second, _]| *second > 12).count();
    match (day_first, month_first) {
        (0, 0) => {}
        (_, 0) => return (Order::DayFirst, Evidence::Number),
        (0, _) => return (Order::MonthFirst, Evidence::Number),
        (day, month) if day >= month => return (Order::DayFirst, Evidence::Contradicting),
        _ => return (Order::MonthFirst, Evidence::Contradicting),
    }
    let backward = |key: fn(&[u32; 3]) -> [u32; 3]| {
        dates
            .windows(2)
            .filter(|pair| matches!(pair, [one, next] if key(next) < key(one)))
            .count()
    };
    let by_day = backward(|[day, month, year]| [*year, *month, *day]);
    let by_month = backward(|[month, day, year]| [*year, *month, *day]);
    match by_day.cmp(&by_month) {
        std::cmp::Ordering::Less => (Order::DayFirst, Evidence::Sequence),
        std::cmp::Ordering::Greater => (Order::MonthFirst, Evidence::Sequence),
        // Dates with slashes and halves of the day are American.
        std::cmp::Ordering::Equal if sample == ('/', true) => (Order::MonthFirst, Evidence::Habit),
        std::cmp::Ordering::Equal => (Order::DayFirst, Evidence::Habit),
    }
}

impl Begin<'_> {
    /// Whether programs begin the lines of their logs so, too: with the year and hyphens, and neither a comma nor brackets.
    pub(super) fn is_like_log(&self) -> bool {
        self.is_year_first
            && self.separator == '-'
            && !self.is_bracketed
            && !self.raw.contains([',', '\u{60c}'])
    }

    /// The time by ISO 8601, without an offset; `None` if date or time is impossible.
    pub(super) fn iso(&self, order: Order) -> Option<String> {
        let [hour, minute, second] = self.time?;
        let (year, month, day) = match (self.is_year_first, order, self.date) {
            (true, _, [year, month, day]) => (year, month, day),
            (_, Order::DayFirst, [day, month, year]) | (_, Order::MonthFirst, [month, day, year]) => {
                (year, month, day)
            }
        };
        // Thai phones count years from 543 BC.
        let year = match year {
            0..100 => 2000 + year,
            2500..2700 => year - 543,
            year => year,
        };
        // No phone had the app before 2009: a smaller year counts from another one.
        if !(2000..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        Some(format!(
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(line: &str, order: Order) -> Option<String> {
        begin(line)?.iso(order)
    }

    #[test]
    fn lines_of_many_phones_begin_a_message() {
        let day = Order::DayFirst;
        for (line, time, rest) in [
            ("12/9/20, 23:55 - Ann: hi", "2020-09-12T23:55:00", "Ann: hi"),
            ("[09.12.20, 23:55:01] Ann: hi", "2020-12-09T23:55:01", "Ann: hi"),
            (
                "\u{200e}[15/01/25, 22:41:30] Ann: hi",
                "2025-01-15T22:41:30",
                "Ann: hi",
            ),
            (
                "[2/1/24, 9:03:11\u{202f}PM] Ann: hi",
                "2024-01-02T21:03:11",
                "Ann: hi",
            ),
            (
                "2/1/24, 12:00\u{202f}AM - Ann: hi",
                "2024-01-02T00:00:00",
                "Ann: hi",
            ),
            ("2/1/24, 12:00 p. m. - Ann: hi", "2024-01-02T12:00:00", "Ann: hi"),
            ("01.02.24 um 23:58 - Ann: hi", "2024-02-01T23:58:00", "Ann: hi"),
            ("[2023/5/4, 16:13:23] Ann: hi", "2023-05-04T16:13:23", "Ann: hi"),
            ("1/2/2024 9.05 - Ann: hi", "2024-02-01T09:05:00", "Ann: hi"),
            ("12/9/20, 23:55 - ", "2020-09-12T23:55:00", ""),
            ("2024/3/5 下午3:04 - Ann: hi", "2024-03-05T15:04:00", "Ann: hi"),
            (
                "2024. 3. 5. 오후 3:04 - Ann: hi",
                "2024-03-05T15:04:00",
                "Ann: hi",
            ),
            (
                "\u{200f}٥\u{200f}/٣\u{200f}/٢٠٢٤، ٣:٠٤ م - Ann: hi",
                "2024-03-05T15:04:00",
                "Ann: hi",
            ),
            ("5.3.2024 klo 15.04 - Ann: hi", "2024-03-05T15:04:00", "Ann: hi"),
            ("2024. 03. 05. 15:04 - Ann: hi", "2024-03-05T15:04:00", "Ann: hi"),
            (
                "05.03.24 г., 15:04 ч. - Ann: hi",
                "2024-03-05T15:04:00",
                "Ann: hi",
            ),
            ("5/3/2567 15:04 - Ann: hi", "2024-03-05T15:04:00", "Ann: hi"),
            ("09/12/2012 17:03:48: Ann: hi", "2012-12-09T17:03:48", "Ann: hi"),
            (
                "2016-06-27, 8:04:08 AM: Ann: hi",
                "2016-06-27T08:04:08",
                "Ann: hi",
            ),
            ("12.07.2017, 22:35: Ann: hi", "2017-07-12T22:35:00", "Ann: hi"),
            ("1/5/2026 3:04 PM: Ann: hi", "2026-05-01T15:04:00", "Ann: hi"),
            ("2026-01-05 10:00 - Ann: hi", "2026-01-05T10:00:00", "Ann: hi"),
            (
                "2026-01-05, 15\u{a0}h\u{a0}04 - Ann: hi",
                "2026-01-05T15:04:00",
                "Ann: hi",
            ),
            (
                "[2026-01-05 15 h 04 min 05 s] Ann: hi",
                "2026-01-05T15:04:05",
                "Ann: hi",
            ),
            (
                "۵/۱/۲۰۲۶،\u{200f} ۱۵:۰۴ - Ann: hi",
                "2026-01-05T15:04:00",
                "Ann: hi",
            ),
            ("5/1/26, 3:04 अपराह्न - Ann: hi", "2026-01-05T15:04:00", "Ann: hi"),
            ("5/1/26, பிற்பகல் 3:04 - Ann: hi", "2026-01-05T15:04:00", "Ann: hi"),
            (
                "5.1.26, 3:04 e pasdites - Ann: hi",
                "2026-01-05T15:04:00",
                "Ann: hi",
            ),
        ] {
            let begin = begin(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (begin.iso(day).as_deref(), begin.rest),
                (Some(time), rest),
                "{line}"
            );
        }
        for line in [
            "hello",
            "12/9/20 is the day",
            "3 - 4 = -1",
            "[12/9/20] x",
            "1/2/3, 10:00 - x",
            "12.07.2017, 22:35: the train",
        ] {
            assert_eq!(begin(line), None, "{line}");
        }
        assert_eq!(iso("45/45/20, 10:00 - x: y", day), None);
        assert_eq!(iso("1404/10/15, 10:00 - x: y", day), None);
        assert_eq!(iso("1/2/20, 25:00 - x: y", day), None);
        assert_eq!(iso("1/2/20, 13:00 PM - x: y", day), None);
    }

    #[test]
    fn the_whole_chat_decides_the_order_of_dates() {
        let of = |lines: &[&str]| {
            let begins: Vec<Begin<'_>> = lines.iter().filter_map(|line| begin(line)).collect();
            order(&begins)
        };
        let day = "13/2/24, 10:00 - a: b";
        let month = "2/13/24, 10:00 - a: b";
        assert_eq!(
            of(&["1/2/24, 9:00 - a: b", day]),
            (Order::DayFirst, Evidence::Number)
        );
        assert_eq!(
            of(&["1/2/24, 9:00 - a: b", month]),
            (Order::MonthFirst, Evidence::Number)
        );
        assert_eq!(of(&[day, month]), (Order::DayFirst, Evidence::Contradicting));
        let forward = [
            "1/2/24, 9:00 - a: b",
            "1/3/24, 9:00 - a: b",
            "2/1/24, 9:00 - a: b",
        ];
        assert_eq!(of(&forward), (Order::MonthFirst, Evidence::Sequence));
        assert_eq!(
            of(&["1/2/24, 9:00 AM - a: b"]),
            (Order::MonthFirst, Evidence::Habit)
        );
        assert_eq!(of(&["1.2.24, 9:00 - a: b"]), (Order::DayFirst, Evidence::Habit));
    }
}
