//! Markup that cannot be broken out of: what is written by us is `&'static str`, everything else is escaped.

use std::fmt::Write;

use chatmill_diag::visible::is_hidden;

/// A growing HTML document.
#[derive(Default)]
pub(crate) struct Html(String);

impl Html {
    /// Adds markup of this program. Text from anywhere else does not have this type.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text, escaped for element content and for quoted attributes alike.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' => self.0.push('\n'),
                hidden if is_hidden(hidden) => self.0.extend(hidden.escape_default()),
                plain => self.0.push(plain),
            }
        }
        self
    }

    /// Adds a number with thousands separators.
    pub(crate) fn count(&mut self, number: u64) -> &mut Self {
        self.text(&count(number))
    }

    /// Adds a number with so many decimals, for coordinates and rates.
    pub(crate) fn fixed(&mut self, number: f64, decimals: usize) -> &mut Self {
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{number:.decimals$}");
        self
    }

    /// Adds text of a code's page with its code spans; nothing else of Markdown is used in the paragraphs that are shown.
    pub(crate) fn prose(&mut self, text: &str) -> &mut Self {
        for (index, piece) in text.split('`').enumerate() {
            // Every second piece stands between backticks.
            if index % 2 == 0 {
                self.text(piece);
            } else {
                self.raw("<code>").text(piece).raw("</code>");
            }
        }
        self
    }

    /// The document so far.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// A number with thousands separators.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The whole part of a number; 0 of a negative one.
#[expect(clippy::cast_sign_loss, reason = "what is negative is 0")]
pub(crate) const fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}

/// Bytes in decimal units.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let mut size = number as f64 / 1000.0;
    let mut unit = 0;
    // 999.95 would be printed as 1000.0.
    while size >= 999.95 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS.get(unit).copied().unwrap_or_default())
}

/// A count with its noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut html = Html::default();
        html.text("</td><script>alert('x')</script>\" onload=\"y & \u{202e}z\0");
        assert_eq!(
            html.into_string(),
            "&lt;/td&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot; onload=&quot;y &amp; \\u{202e}z\\u{0}"
        );
    }

    #[test]
    fn code_spans_of_pages_become_code() {
        let mut html = Html::default();
        html.prose("a `<b>` c");
        assert_eq!(html.into_string(), "a <code>&lt;b&gt;</code> c");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_204_000), "1,204,000");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(31_940), "31.9 kB");
        assert_eq!(bytes(999_999), "1.0 MB");
    }
}
