//! Text for a terminal, built line by line: the words of a chat are wrapped, escaped and then coloured, so that none of them can control
//! the terminal.

use std::ops::Range;

use chatmill_diag::cut;
use chatmill_diag::visible::{visible, visible_json};
use unicode_width::UnicodeWidthStr;

use crate::output::Colours;
use crate::terminal::{beginning, wrapped};

/// The rendition of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rendition {
    Plain,
    Bold,
    Dim,
    Marked,
    /// The colour of the speaker with this number.
    Speaker(usize),
}

/// The renditions of speakers, which repeat.
const SPEAKERS: [&str; 6] = ["1;36", "1;33", "1;32", "1;35", "1;34", "1;31"];

impl Rendition {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Marked => "4;32",
            Self::Speaker(number) => {
                let code: &&str = cut::at(&SPEAKERS, number % SPEAKERS.len());
                code
            }
        }
    }
}

/// A text that is being built.
pub(super) struct TextPage {
    text: String,
    colours: Colours,
    /// The width of folded lines.
    columns: usize,
    /// The width of wrapped text.
    wrapped_columns: usize,
}

impl TextPage {
    /// An empty page.
    pub(super) fn new(colours: Colours, columns: usize, wrapped_columns: usize) -> Self {
        Self {
            text: String::new(),
            colours,
            columns,
            wrapped_columns,
        }
    }

    /// Adds words to the line.
    pub(super) fn words(&mut self, rendition: Rendition, words: &str) {
        let painted = self.colours.paint_as(rendition.code(), &visible(words));
        self.text.push_str(&painted);
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self) {
        self.text.push('\n');
    }

    /// Adds a note of the program after an empty line.
    pub(super) fn note(&mut self, text: &str) {
        self.end_line();
        self.line(Rendition::Plain, &format!("note: {text}"), 0);
    }

    /// Adds a text as one paragraph, indented and wrapped.
    pub(super) fn line(&mut self, rendition: Rendition, text: &str, indentation: usize) {
        self.lines(rendition, &visible(text), indentation);
    }

    /// Adds a text with its own lines, each indented and wrapped.
    pub(super) fn lines(&mut self, rendition: Rendition, text: &str, indentation: usize) {
        let blanks = " ".repeat(indentation);
        for line in text.lines() {
            let line = visible(&line.replace('\t', "    ")).into_owned();
            let available = self.wrapped_columns.saturating_sub(indentation);
            for line in wrapped(&line, available, 0).lines() {
                let painted = self.colours.paint_as(rendition.code(), line);
                self.text.push_str(&format!("{blanks}{painted}\n"));
            }
            if line.is_empty() {
                self.end_line();
            }
        }
    }

    /// Adds a line that begins with words of the program, followed by as much of the texts as fits.
    pub(super) fn folded<'t>(
        &mut self,
        rendition: Rendition,
        lead: &str,
        texts: impl IntoIterator<Item = &'t str>,
    ) {
        let available = self.columns.saturating_sub(lead.width());
        let line = format!("{lead}{}", folded(texts, available));
        self.words(rendition, &line);
        self.end_line();
    }

    /// Adds a rendering, indented, with marks around these ranges of bytes, which are in order. In JSON, each value down to the turns
    /// begins a new line.
    pub(super) fn marked(&mut self, text: &str, is_json: bool, ranges: &[Range<usize>]) {
        let ends = if is_json {
            json_lines(text)
        } else {
            text_lines(text)
        };
        let mut ranges = ranges.iter().peekable();
        let mut at = 0;
        for end in ends {
            self.text.push_str("  ");
            while at < end {
                while ranges.next_if(|range| range.end <= at).is_some() {}
                let (next, is_marked) = match ranges.peek() {
                    Some(range) if range.start <= at => (range.end, true),
                    Some(range) => (range.start, false),
                    None => (end, false),
                };
                let next = next.min(end);
                let (_, piece) = text.split_at(next).0.split_at(at);
                let piece = piece.trim_end_matches('\n');
                let piece = if is_json {
                    visible_json(piece)
                } else {
                    visible(piece)
                };
                let piece = match (is_marked, self.colours == Colours::NONE) {
                    (false, _) => piece,
                    (true, true) => format!("⟦{piece}⟧").into(),
                    (true, false) => self.colours.paint_as(Rendition::Marked.code(), &piece).into(),
                };
                self.text.push_str(&piece);
                at = next;
            }
            self.end_line();
        }
    }

    /// Adds a text that is already escaped and coloured, indented.
    pub(super) fn block(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push_str(&format!("  {line}\n"));
        }
    }

    /// The finished text.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The ends of the lines of a text.
fn text_lines(text: &str) -> Vec<usize> {
    let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
    let last = (!text.ends_with('\n')).then_some(text.len());
    breaks.chain(last).collect()
}

/// The ends of the lines into which a JSON value is cut: after commas of the value itself and of lists in it, and inside the brackets of
/// these lists.
fn json_lines(json: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut around = Vec::new();
    let (mut is_string, mut is_escaped) = (false, false);
    for (at, byte) in json.bytes().enumerate() {
        if is_string {
            is_string = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        let is_list = around.len() == 1 || around.len() == 2 && around.last() == Some(&b'[');
        match byte {
            b'"' => is_string = true,
            b'{' | b'[' => {
                around.push(byte);
                ends.extend((byte == b'[' && around.len() <= 2).then_some(at + 1));
            }
            b'}' | b']' => {
                ends.extend((byte == b']' && is_list).then_some(at));
                around.pop();
            }
            b',' if is_list => ends.push(at + 1),
            _ => {}
        }
    }
    ends.push(json.len());
    ends
}

/// The beginning of some texts on one line, as much as fits in `columns`.
pub(super) fn folded<'t>(texts: impl IntoIterator<Item = &'t str>, columns: usize) -> String {
    let mut line = String::new();
    for word in texts.into_iter().flat_map(str::split_whitespace) {
        if !line.is_empty() {
            line.push(' ');
        }
        // A word may be as long as the whole text.
        line.push_str(&visible(beginning(word, columns + 1)));
        if line.width() > columns {
            return format!("{}…", beginning(&line, columns.saturating_sub(1)));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}abc\u{7}\u{8}\r\n\tx\u{0}\u{2028}y\n\n</script><b>";

    /// A page with this text in every place for text.
    fn page_of(text: &str, colours: Colours) -> String {
        let mut page = TextPage::new(colours, 40, 40);
        page.words(Rendition::Speaker(8), text);
        page.end_line();
        page.lines(Rendition::Dim, text, 2);
        page.line(Rendition::Dim, text, 2);
        page.folded(Rendition::Plain, "→ ", [text]);
        page.into_text()
    }

    #[test]
    fn no_control_character_of_a_text_reaches_the_page() {
        let page = page_of(HOSTILE, Colours::NONE);
        let hidden = |character: char| character != '\n' && chatmill_diag::visible::is_hidden(character);
        assert!(!page.contains(hidden), "{page:?}");
        assert!(page.contains("</script><b>"), "{page}");
        let emoji = "👩‍🚀".repeat(10_000);
        assert!(page_of(&emoji, Colours::NONE).contains(&emoji), "nothing is lost");
        let word = "x".repeat(100_000);
        assert!(page_of(&word, Colours::NONE).contains(&word));
    }

    #[test]
    fn a_text_is_folded_to_a_line_that_fits() {
        assert_eq!(folded(["a\n b\t c"], 40), "a b c");
        assert_eq!(folded(["one two three"], 8), "one two…");
        assert_eq!(folded([&*"名".repeat(50)], 7), "名名名…");
        assert_eq!(folded(["a\u{1b}b"], 40), "a\\u{1b}b");
        assert_eq!(folded([""], 40), "");
    }

    #[test]
    fn a_rendering_is_shown_turn_by_turn_with_marks_around_what_is_learned() {
        let json = r#"{"messages":[{"role":"user","content":"a, [b"},{"role":"assistant","content":"c\"]"}],"tools":[]}"#;
        let at = json.find("c\\\"]").unwrap();
        let mut page = TextPage::new(Colours::NONE, 40, 40);
        page.marked(json, true, std::slice::from_ref(&(at..at + 4)));
        let shown = page.into_text();
        let expected = [
            "  {\"messages\":[",
            "  {\"role\":\"user\",\"content\":\"a, [b\"},",
            "  {\"role\":\"assistant\",\"content\":\"⟦c\\\"]⟧\"}",
            "  ],",
            "  \"tools\":[",
            "  ",
            "  ]}",
        ];
        assert_eq!(shown.lines().collect::<Vec<_>>(), expected, "{shown}");
        let mut page = TextPage::new(Colours::NONE, 40, 40);
        page.marked("a\nbc\n", false, std::slice::from_ref(&(0..3)));
        assert_eq!(page.into_text(), "  ⟦a⟧\n  ⟦b⟧c\n");
    }

    #[test]
    fn lines_are_wrapped_and_stay_lines() {
        let mut page = TextPage::new(Colours::NONE, 12, 12);
        page.lines(Rendition::Plain, "one two three\n\nfour\n", 2);
        assert_eq!(page.into_text(), "  one two\n  three\n\n  four\n");
    }
}
