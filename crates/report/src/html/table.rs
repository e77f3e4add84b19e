//! Tables: a region that the keyboard can reach and scroll, headers that the page's script makes sortable.

use std::borrow::Cow;

use super::markup::{Html, bytes};

/// A column: its title, and whether it holds numbers.
pub(crate) struct Head {
    title: Cow<'static, str>,
    class: &'static str,
}

/// A column of texts.
pub(crate) const fn words(title: &'static str) -> Head {
    Head {
        title: Cow::Borrowed(title),
        class: "",
    }
}

/// A column of numbers.
pub(crate) const fn numbers(title: &'static str) -> Head {
    Head {
        title: Cow::Borrowed(title),
        class: " class=\"number\"",
    }
}

/// A column of numbers whose title comes from elsewhere.
pub(crate) fn numbers_of(title: String) -> Head {
    Head {
        title: Cow::Owned(title),
        class: " class=\"number long\"",
    }
}

/// A column of bars, which says nothing that its neighbour does not.
pub(crate) const fn bars(title: &'static str) -> Head {
    Head {
        title: Cow::Borrowed(title),
        class: " class=\"bar\" data-unsorted",
    }
}

/// Writes a table; `body` writes its rows. The caption says what a row is.
pub(crate) fn table(html: &mut Html, caption: &str, heads: &[Head], body: impl FnOnce(&mut Html)) {
    html.raw("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"")
        .text(caption)
        .raw("\"><table><caption>")
        .text(caption)
        .raw("</caption><thead><tr>");
    for head in heads {
        html.raw("<th scope=\"col\"")
            .raw(head.class)
            .raw(">")
            .text(&head.title)
            .raw("</th>");
    }
    html.raw("</tr></thead><tbody>");
    body(html);
    html.raw("</tbody></table></div>\n");
}

impl Html {
    /// Begins a row; the first cell names it.
    pub(crate) fn row(&mut self, name: &str) -> &mut Self {
        self.raw("<tr><th scope=\"row\">").text(name).raw("</th>")
    }

    /// A row that says what the rows below it have in common.
    pub(crate) fn group(&mut self, columns: usize, name: &str) -> &mut Self {
        // A body of its own: rows are sorted within one.
        self.raw("</tbody><tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"")
            .text(&columns.to_string())
            .raw("\">")
            .text(name)
            .raw("</th></tr>\n")
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) -> &mut Self {
        self.raw("</tr>\n")
    }

    /// A cell of text.
    pub(crate) fn word(&mut self, text: &str) -> &mut Self {
        self.raw("<td>").text(text).raw("</td>")
    }

    /// A cell with a count; zero is pale, since it is the least interesting number.
    pub(crate) fn figure(&mut self, number: u64) -> &mut Self {
        self.raw(if number == 0 {
            "<td class=\"number zero\">"
        } else {
            "<td class=\"number\">"
        })
        .count(number)
        .raw("</td>")
    }

    /// A cell with a count that should be zero.
    pub(crate) fn fault(&mut self, number: u64, class: &'static str) -> &mut Self {
        if number == 0 {
            return self.figure(0);
        }
        self.raw("<td class=\"number\"><strong class=\"")
            .raw(class)
            .raw("\">")
            .count(number)
            .raw("</strong></td>")
    }

    /// A cell with a rate.
    pub(crate) fn rate(&mut self, number: f64, decimals: usize) -> &mut Self {
        self.raw("<td class=\"number\">")
            .fixed(number, decimals)
            .raw("</td>")
    }

    /// A cell with bytes, sorted by their number.
    pub(crate) fn size(&mut self, number: u64) -> &mut Self {
        self.raw("<td class=\"number\" data-sort=\"")
            .text(&number.to_string())
            .raw("\">")
            .text(&bytes(number))
            .raw("</td>")
    }

    /// A cell with a change, with its sign.
    pub(crate) fn change(&mut self, before: u64, after: u64) -> &mut Self {
        let (sign, class) = match after.cmp(&before) {
            std::cmp::Ordering::Equal => ("", "<td class=\"number zero\" data-sort=\""),
            std::cmp::Ordering::Greater => ("+", "<td class=\"number\" data-sort=\""),
            std::cmp::Ordering::Less => ("−", "<td class=\"number\" data-sort=\""),
        };
        self.raw(class)
            .fixed(after as f64 - before as f64, 0)
            .raw("\">")
            .raw(sign)
            .count(after.abs_diff(before));
        if before > 0 && after != before {
            let percent = 100.0 * after.abs_diff(before) as f64 / before as f64;
            self.raw("<small>").raw(sign).fixed(percent, 1).raw(" %</small>");
        }
        self.raw("</td>")
    }
}
