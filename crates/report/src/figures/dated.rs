//! Removes days from names such as `chat-2026-11-22.jsonl` or `20261122/chat.jsonl`, so that files of different days can be matched.

/// The placeholder for a day.
const DAY: &str = "<day>";

/// A name with a placeholder for every day and for a time after it. Days are `YYYY-MM-DD`, with `-`, `_`, `.` or `/` as separator, or
/// `YYYYMMDD`; a time begins with `T`, `t`, `-` or `_` and has two to six digits, which `-`, `_`, `.` or `:` may separate, and an optional
/// `Z`.
pub(crate) fn without_dates(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars();
    let mut was_digit = false;
    loop {
        let text = rest.as_str();
        if !was_digit && let Some(after) = day(text) {
            out.push_str(DAY);
            rest = time(after).unwrap_or(after).chars();
            was_digit = true;
            continue;
        }
        let Some(first) = rest.next() else { break };
        was_digit = first.is_ascii_digit();
        out.push(first);
    }
    out
}

/// The text after a leading day.
fn day(text: &str) -> Option<&str> {
    let (year, rest) = digits(text, 4)?;
    let divider = rest.chars().next().filter(|sign| "-_./".contains(*sign));
    let after_divider = |text| match divider {
        Some(sign) => str::strip_prefix(text, sign),
        None => Some(text),
    };
    let (month, rest) = digits(after_divider(rest)?, 2)?;
    let (day, rest) = digits(after_divider(rest)?, 2)?;
    let is_day = (1970..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let ends = !rest.starts_with(|sign: char| sign.is_ascii_digit());
    (is_day && ends).then_some(rest)
}

/// The text after a leading time.
fn time(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix(['T', 't', '-', '_'])?;
    let mut pairs = 0;
    while pairs < 3
        && let Some((_, after)) = digits(rest, 2)
    {
        pairs += 1;
        rest = after;
        let divided = rest.strip_prefix(['-', '_', '.', ':']);
        match divided.filter(|divided| pairs < 3 && digits(divided, 2).is_some()) {
            Some(divided) => rest = divided,
            None => continue,
        }
    }
    let ends = !rest.starts_with(|sign: char| sign.is_ascii_digit());
    (pairs > 0 && ends).then(|| rest.strip_prefix(['Z', 'z']).unwrap_or(rest))
}

/// The number of the first `count` digits of a text, and the rest.
fn digits(text: &str, count: usize) -> Option<(u32, &str)> {
    let number = text.get(..count)?;
    let are_digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| are_digits)?;
    Some((number, text.get(count..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_days_are_one_name() {
        for (one, other) in [
            ("chat-2026-11-22.jsonl", "chat-2026-11-23.jsonl"),
            ("2026/11/22/chat.jsonl", "2026/12/01/chat.jsonl"),
            ("chat_20261122.json.gz", "chat_20270101.json.gz"),
            ("dump-2026-11-22T021500Z.sql", "dump-2026-11-23T031501Z.sql"),
            ("dump-2026-11-22_02-15.sql", "dump-2026-11-23_02-17.sql"),
            ("dump.2026.11.22-021500.sql", "dump.2026.11.23-020000.sql"),
        ] {
            assert_eq!(without_dates(one), without_dates(other));
            assert_ne!(without_dates(one), one);
        }
        assert_eq!(without_dates("chat-2026-11-22.jsonl"), "chat-<day>.jsonl");
        assert_eq!(without_dates("a-2026-11-22T021500Z.b"), "a-<day>.b");
    }

    #[test]
    fn text_that_is_no_date_is_unchanged() {
        for name in [
            "chat.jsonl",
            "room-1.json",
            "2026-13-01.json",
            "2026-11-32.json",
            "120261122.json",
            "202611221.json",
            "2026-11.json",
            "0001-01-01.json",
            "кіт-12.json",
            "",
        ] {
            assert_eq!(without_dates(name), name);
        }
    }

    #[test]
    fn parts_of_one_day_stay_separate() {
        let parts = ["chat-2026-11-22-part1.jsonl", "chat-2026-11-22-part2.jsonl"].map(without_dates);
        assert_ne!(parts[0], parts[1]);
        assert_ne!(
            without_dates("a-2026-11-22.json"),
            without_dates("b-2026-11-22.json")
        );
    }
}
