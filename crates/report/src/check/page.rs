//! The page of a check: all files, all codes, and filters by code, file and severity.
//!
//! What is chosen stands in the address behind `#`, and every finding has an address of its own, made of its key, so that it
//! still leads there after the next check. Without scripts the page shows everything.

use super::{CodeTally, JudgedFile, tallies};
use crate::html::SCRIPT;
use crate::html::document::{Dress, document, tile};
use crate::html::found::{FOUND_SCRIPT, FOUND_STYLE, filters, found};
use crate::html::markup::{Html, count, counted};
use crate::html::table::{numbers, table, words};

/// Files that the table of all files lists; the rest is counted.
const FILES: usize = 10_000;

/// Writes the page of a check. `title` says what was checked.
pub fn check_page(title: &str, files: &[JudgedFile]) -> String {
    // No text in the page can hold a hash of it.
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(file.path.as_bytes());
        file.findings.iter().for_each(|finding| {
            hasher.update(finding.message.as_bytes());
        });
    }
    let dress = Dress {
        style: FOUND_STYLE,
        scripts: &[SCRIPT, FOUND_SCRIPT],
    };
    let nonce = hasher.finalize().to_hex();
    document(&format!("{title} – chatmill check"), &nonce, &dress, |html| {
        body(html, title, files);
    })
}

fn body(html: &mut Html, title: &str, files: &[JudgedFile]) {
    let tallies = tallies(files.iter());
    header(html, title, files);
    html.raw("<main id=\"main\">\n");
    if tallies.is_empty() {
        html.raw("<section><p>Nothing was found.</p></section>\n");
    } else {
        let found_codes: Vec<_> = tallies.iter().map(|tally| tally.code).collect();
        filters(html, &found_codes);
        html.raw("<section id=\"findings\" aria-labelledby=\"findings-title\">\n<h2 id=\"findings-title\">Findings</h2>\n");
        found(html, files);
        html.raw("</section>\n");
        codes(html, &tallies);
    }
    all_files(html, files);
    html.raw(
        "<footer><code>chatmill explain CODE</code> prints the whole page of a code.</footer>\n</main>\n",
    );
}

fn header(html: &mut Html, title: &str, files: &[JudgedFile]) {
    let number = |verdicts: &[&str]| {
        let of = files.iter().filter(|file| verdicts.contains(&file.verdict));
        count(of.count() as u64)
    };
    let sum = |what: fn(&JudgedFile) -> u64| count(files.iter().map(what).sum());
    html.raw("<header>\n<p class=\"overline\">chatmill check</p>\n<h1>")
        .text(title);
    html.raw("</h1>\n<dl class=\"tiles\">");
    tile(html, "Files", &count(files.len() as u64), "");
    tile(html, "Without faults", &number(&["valid", "known"]), "");
    tile(html, "With warnings", &number(&["warnings"]), "");
    tile(html, "With errors", &number(&["errors"]), "");
    tile(
        html,
        "Unread",
        &number(&["unreadable", "empty", "skipped"]),
        "empty, no chat or broken",
    );
    tile(
        html,
        "Errors",
        &sum(|file| file.errors),
        &format!("{} warnings", sum(|file| file.warnings)),
    );
    html.raw("</dl>\n</header>\n");
}

fn codes(html: &mut Html, tallies: &[CodeTally]) {
    html.raw("<section id=\"codes\" aria-labelledby=\"codes-title\">\n<h2 id=\"codes-title\">Codes</h2>\n")
        .raw("<p>What each means, and how to mend it.</p>\n");
    for tally in tallies {
        let code = tally.code;
        html.raw("<details class=\"finding\" id=\"code-")
            .text(code.code)
            .raw("\"><summary><code>");
        html.text(code.code)
            .raw("</code><span>")
            .text(code.name)
            .raw("</span><span class=\"tally\"><span>");
        html.text(&format!(
            "{} in {}",
            count(tally.count),
            counted(tally.files, "file")
        ));
        html.raw("</span></span></summary>\n<div class=\"inside\"><p>")
            .prose(code.page.what);
        html.raw(" ")
            .prose(code.page.why)
            .raw("</p><p>How to mend it: ")
            .prose(code.page.fix);
        html.raw("</p><p><a href=\"#?code=")
            .text(code.code)
            .raw("\">Show its findings</a></p></div></details>\n");
    }
    html.raw("</section>\n");
}

fn all_files(html: &mut Html, files: &[JudgedFile]) {
    html.raw("<section id=\"files\" aria-labelledby=\"files-title\">\n<h2 id=\"files-title\">Files</h2>\n");
    let heads = [
        words("File"),
        words("Verdict"),
        numbers("Conversations"),
        numbers("Errors"),
        numbers("Warnings"),
        numbers("Notes"),
        numbers("Size"),
    ];
    table(html, "All files and what was found in them", &heads, |html| {
        for (file, number) in files.iter().zip(1_u64..).take(FILES) {
            html.raw("<tr data-path=\"")
                .text(&file.path)
                .raw("\"><th scope=\"row\">");
            if file.codes.is_empty() {
                html.text(&file.path);
            } else {
                html.raw("<a href=\"#file-").text(&number.to_string()).raw("\">");
                html.text(&file.path).raw("</a>");
            }
            html.raw("</th>").word(file.verdict).figure(file.conversations);
            html.fault(file.errors, "error")
                .fault(file.warnings, "warning")
                .figure(file.notes);
            html.size(file.bytes.unwrap_or_default()).end_row();
        }
    });
    if let Some(left) = files.len().checked_sub(FILES).filter(|left| *left > 0) {
        html.raw("<p class=\"quiet\">and ")
            .count(left as u64)
            .raw(" more.</p>\n");
    }
    html.raw("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::super::samples::files;
    use super::*;

    #[test]
    fn a_page_shows_every_finding_under_an_address_of_its_own() {
        let mut files = files();
        let again = files[0].findings[1].clone();
        files[0].findings.push(again);
        let page = check_page("in", &files);
        for said in [
            "<title>in – chatmill check</title>",
            "id=\"at-0000000000000071\"",
            "id=\"at-0000000000000071-2\"",
            "data-code=\"IN001\" data-severity=\"error\"",
            "and 2 more of IN001",
            "<option value=\"RF001\">RF001 dangling-reference</option>",
            "href=\"#?code=RF001\"",
            "data-path=\"in/acme/&lt;b&gt;|a.json\"",
            "reference to `m&lt;9&gt;`",
        ] {
            assert!(page.contains(said), "{said} is not in\n{page}");
        }
        assert!(!page.contains("<b>|a.json"), "{page}");
    }

    #[test]
    fn files_are_listed_up_to_a_limit() {
        let file = JudgedFile {
            verdict: "valid",
            ..JudgedFile::default()
        };
        let page = |number: usize| check_page("x", &vec![file.clone(); number]);
        assert!(page(FILES).contains("Nothing was found") && !page(FILES).contains("and 1 more."));
        assert!(page(FILES + 1).contains("and 1 more."));
    }
}
