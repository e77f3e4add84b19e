//! The frame of every page: one file that loads nothing, asks nobody and runs no script but its own.

use super::markup::Html;

/// What all pages look like.
const STYLE: &str = include_str!("style.css");

/// What a page has beside its text.
pub(crate) struct Dress {
    /// Style beside that of all pages.
    pub(crate) style: &'static str,
    /// Scripts; none where the page is only read.
    pub(crate) scripts: &'static [&'static str],
}

/// Writes a page. `nonce` is a word that no author of a chat can know; the policy runs only scripts that carry it.
pub(crate) fn document(title: &str, nonce: &str, dress: &Dress, body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ")
        .raw("script-src 'nonce-")
        .text(nonce)
        .raw("'; base-uri 'none'; form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>")
        .text(title)
        .raw("</title>\n<style>\n")
        .raw(STYLE)
        .raw(dress.style)
        .raw("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<div class=\"page\">\n");
    body(&mut html);
    html.raw("</div>\n");
    if !dress.scripts.is_empty() {
        html.raw("<script nonce=\"").text(nonce).raw("\">\n");
        for script in dress.scripts {
            html.raw(script);
        }
        html.raw("</script>\n");
    }
    html.raw("</body>\n</html>\n");
    html.into_string()
}

/// A figure with its name.
pub(crate) fn tile(html: &mut Html, name: &'static str, value: &str, under: &str) {
    html.raw("<div><dt>")
        .raw(name)
        .raw("</dt><dd>")
        .text(value)
        .raw("<small>")
        .text(under)
        .raw("</small></dd></div>");
}
