//! Telephone numbers, by conservative rules.
//!
//! The rules match: a plus sign and an assigned country code with 8 to 15 digits (11 after +1 and +7); `00` and a country code, in groups;
//! `555-123-4567`, `(555) 123-4567` and `1-800-555-0199`; numbers with a leading zero in groups, 9 to 12 digits; any 7 to 15 digits after a
//! word like `phone` or `tel:`. Bare digits without such a sign are never a telephone number.

use chatmill_diag::cut;

use super::Found;
use super::characters::{after, continues, run, small_before, two_after, two_before};
use crate::kind::PersonalKind;

/// Words after which digits are a telephone number.
const LABELS: [&str; 9] = [
    "phone",
    "tel",
    "telephone",
    "mobile",
    "whatsapp",
    "fax",
    "telefon",
    "phone number",
    "phone_number",
];

/// Groups of digits with their separators.
struct Cluster<'t> {
    groups: Vec<Group<'t>>,
    /// Whether no text that could belong to the number follows.
    is_whole: bool,
}

struct Group<'t> {
    separator: &'t str,
    digits: &'t str,
    end: usize,
}

impl<'t> Cluster<'t> {
    /// Reads at most ten groups and twenty digits from `at` on.
    fn at(text: &'t str, at: usize) -> Self {
        let mut groups: Vec<Group<'t>> = Vec::new();
        let mut end = at;
        let mut total = 0;
        let mut is_whole = true;
        loop {
            let between = run(text, end, |byte| {
                matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')')
            });
            let separator = cut::text(text, end..end + between);
            let fits = if groups.is_empty() {
                matches!(separator, "" | "(")
            } else {
                is_separator(separator)
            };
            if !fits {
                break;
            }
            let start = end + between;
            let length = run(text, start, |byte| byte.is_ascii_digit());
            if length == 0 {
                break;
            }
            if total + length > 20 || groups.len() == 10 {
                is_whole = false;
                break;
            }
            total += length;
            end = start + length;
            groups.push(Group {
                separator,
                digits: cut::text(text, start..end),
                end,
            });
        }
        Self { groups, is_whole }
    }

    fn sizes(&self) -> Vec<usize> {
        self.groups.iter().map(|group| group.digits.len()).collect()
    }

    fn digits(&self, groups: usize) -> String {
        self.groups
            .iter()
            .take(groups)
            .map(|group| group.digits)
            .collect()
    }

    fn end(&self, groups: usize) -> Option<usize> {
        groups
            .checked_sub(1)
            .and_then(|last| self.groups.get(last))
            .map(|group| group.end)
    }
}

fn is_separator(text: &str) -> bool {
    matches!(
        text,
        " " | "-" | "." | "/" | ") " | ")" | " (" | "(" | " - " | " / " | ")-" | "-(" | ") - "
    )
}

/// A number that begins with a plus sign.
pub(super) fn international(text: &str, at: usize) -> Option<Found> {
    if continues(two_before(text, at).0) {
        return None;
    }
    let cluster = Cluster::at(text, at + 1);
    let digits = cluster.digits(cluster.groups.len());
    if !has_country_code(&digits) {
        return None;
    }
    let exact = matches!(digits.as_bytes().first(), Some(b'1' | b'7')).then_some(11);
    longest(text, at, &cluster, &|length| {
        exact.map_or((8..=15).contains(&length), |exact| length == exact)
    })
}

/// A number that begins with a digit or an opening bracket.
pub(super) fn national(text: &str, at: usize) -> Option<Found> {
    if is_inside(text, at) {
        return None;
    }
    let cluster = Cluster::at(text, at);
    let written = exit_code(&cluster)
        .or_else(|| north_american(&cluster))
        .or_else(|| trunk_zero(text, at, &cluster));
    match written {
        Some(groups) => number(text, at, &cluster, groups),
        None if is_labelled(text, at) => longest(text, at, &cluster, &|length| (7..=15).contains(&length)),
        None => None,
    }
}

/// The longest number with an allowed count of digits and an end where a number may end: an address of digits may follow after a slash.
fn longest(text: &str, at: usize, cluster: &Cluster<'_>, fits: &dyn Fn(usize) -> bool) -> Option<Found> {
    let lengths = (1..=cluster.groups.len()).rev();
    lengths
        .filter(|groups| fits(cluster.digits(*groups).len()))
        .find_map(|groups| number(text, at, cluster, groups))
}

fn number(text: &str, at: usize, cluster: &Cluster<'_>, groups: usize) -> Option<Found> {
    let end = cluster.end(groups)?;
    let goes_on = match two_after(text, end) {
        (Some('.' | ',' | ':' | '-'), second) => second.is_some_and(|sign| sign.is_ascii_digit()),
        (first, _) => continues(first) || first == Some('%'),
    };
    (!goes_on).then(|| Found {
        kind: PersonalKind::Phone,
        range: at..end,
        value: cluster.digits(groups),
    })
}

/// Whether a number continues to the left, or is an amount, a fraction or an id.
fn is_inside(text: &str, at: usize) -> bool {
    match two_before(text, at) {
        (Some('$' | '€' | '£' | '#' | '+' | '*'), _) | (Some(' '), Some('$' | '€' | '£')) => true,
        (Some('.' | ',' | '-' | '/' | ':'), second) => second.is_some_and(|sign| sign.is_ascii_digit()),
        (first, _) => continues(first),
    }
}

/// `0049 30 901820`.
fn exit_code(cluster: &Cluster<'_>) -> Option<usize> {
    let groups = cluster.groups.len();
    let digits = cluster.digits(groups);
    let national = digits.strip_prefix("00")?;
    let is_list = cluster.sizes().iter().all(|size| *size < 3);
    let fits = groups > 1 && cluster.is_whole && !is_list && (9..=15).contains(&national.len());
    (fits && has_country_code(national)).then_some(groups)
}

/// `555-123-4567`, `(555) 123-4567`, `1-800-555-0199`; never with spaces as the only separators.
fn north_american(cluster: &Cluster<'_>) -> Option<usize> {
    let sizes = cluster.sizes();
    let skip = usize::from(cluster.groups.first()?.digits == "1");
    if sizes.get(skip..skip + 3)? != [3, 3, 4] {
        return None;
    }
    let area = cluster.groups.get(skip)?;
    let (second, third) = (cluster.groups.get(skip + 1)?, cluster.groups.get(skip + 2)?);
    let is_marked =
        matches!(second.separator, "-" | "." | ")" | ") " | ")-") && matches!(third.separator, "-" | ".");
    (is_marked && area.digits.starts_with(['2', '3', '4', '5', '6', '7', '8', '9'])).then_some(skip + 3)
}

/// `020 7946 0958`, `030/901820`, `06 12 34 56 78`.
fn trunk_zero(text: &str, at: usize, cluster: &Cluster<'_>) -> Option<usize> {
    let groups = cluster.groups.len();
    let first = cluster.groups.first()?;
    let digits = cluster.digits(groups);
    let begins = first.digits.starts_with('0')
        && !first.digits.starts_with("00")
        && (2..=5).contains(&first.digits.len());
    // After another number it is part of a list.
    if matches!(two_before(text, at), (Some(' '), Some(sign)) if sign.is_ascii_digit()) {
        return None;
    }
    let is_bracketed = after(text, at) == Some('(');
    let sizes = cluster.sizes();
    let is_pairs = sizes == [2, 2, 2, 2, 2];
    let is_marked = cluster.groups.iter().skip(1).all(|group| {
        matches!(group.separator, " " | "-" | "/" | " - " | " / ")
            || (group.separator == "." && is_pairs)
            || is_bracketed
    });
    let fits = groups > 1 && cluster.is_whole && (9..=12).contains(&digits.len());
    // Two groups of two, then a year, is a date; many short groups are a list.
    let is_date = matches!(sizes.as_slice(), [2, 2, 4, ..]) && first.digits.len() == 2;
    let is_list = sizes.len() > 3 && !is_pairs && sizes.iter().all(|size| *size < 3);
    (begins && is_marked && fits && !is_date && !is_list).then_some(groups)
}

/// Whether a word before the number marks it as one: `phone: 5551234567`.
fn is_labelled(text: &str, at: usize) -> bool {
    let head = small_before(text, at, 24);
    let is_boundary = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b':' | b'=' | b'.' | b'>');
    let boundary = head.iter().rev().take_while(|byte| is_boundary(byte)).count();
    let Some(head) = head
        .get(..head.len() - boundary)
        .filter(|_| (1..=5).contains(&boundary))
    else {
        return false;
    };
    LABELS.iter().any(|label| {
        head.strip_suffix(label.as_bytes())
            .is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_alphabetic))
    })
}

/// Whether digits begin with an assigned country code: all codes that begin with 99, except 999.
fn has_country_code(digits: &str) -> bool {
    let mut codes = include_str!("country_codes.txt").lines();
    codes.any(|code| digits.starts_with(code)) && !digits.starts_with("999")
}
