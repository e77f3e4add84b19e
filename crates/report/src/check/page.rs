//! The page of a check: all files, all codes, and filters by code, file and severity.
//!
//! The filters are in the fragment of the address, after `#`, and every finding has an anchor, its key, which is the same in the next
//! check. Without scripts the page shows everything.

use serde::Serialize;

use super::{CheckedFile, CodeCounts, counts_by_code};
use crate::checked::found::found;
use crate::templates::{TemplateError, fill};

/// The number of files in the table of all files; the rest is counted.
const FILES: usize = 10_000;

#[derive(Serialize)]
struct CheckPage<'f> {
    title: &'f str,
    nonce: &'f str,
    number: usize,
    sound: usize,
    suspicious: usize,
    broken: usize,
    unread: usize,
    errors: u64,
    warnings: u64,
    codes: Vec<CodeCounts>,
    files: Vec<FileLine<'f>>,
}

#[derive(Serialize)]
struct FileLine<'f> {
    path: &'f str,
    verdict: &'static str,
    has_findings: bool,
    conversations: u64,
    errors: u64,
    warnings: u64,
    notes: u64,
    bytes: u64,
}

/// Writes the page of a check. `title` names the checked inputs.
pub fn check_page(title: &str, files: &[CheckedFile]) -> Result<String, TemplateError> {
    // No text in the page can contain its own hash.
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(file.path.as_bytes());
        file.findings.iter().for_each(|finding| {
            hasher.update(finding.message.as_bytes());
        });
    }
    let number = |verdicts: &[&str]| {
        files
            .iter()
            .filter(|file| verdicts.contains(&file.verdict))
            .count()
    };
    let listed = files.iter().take(FILES).map(|file| FileLine {
        path: &file.path,
        verdict: file.verdict,
        has_findings: !file.codes.is_empty(),
        conversations: file.conversations,
        errors: file.errors,
        warnings: file.warnings,
        notes: file.notes,
        bytes: file.bytes.unwrap_or_default(),
    });
    let page = CheckPage {
        title,
        nonce: &hasher.finalize().to_hex(),
        number: files.len(),
        sound: number(&["valid", "known"]),
        suspicious: number(&["warnings"]),
        broken: number(&["errors"]),
        unread: number(&["unreadable", "empty", "skipped"]),
        errors: files.iter().map(|file| file.errors).sum(),
        warnings: files.iter().map(|file| file.warnings).sum(),
        codes: counts_by_code(files.iter()),
        files: listed.collect(),
    };
    Ok(fill("check.html", &page, [("found", found(files)?)])?.into_string())
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
        let page = check_page("in", &files).unwrap();
        for expected in [
            "<title>in – chatmill check</title>",
            "id=\"at-0000000000000071\"",
            "id=\"at-0000000000000071-2\"",
            "data-code=\"IN001\" data-severity=\"error\"",
            "and 2 more of IN001",
            "<option value=\"RF001\">RF001 dangling-reference</option>",
            "href=\"#?code=RF001\"",
            "data-path=\"in/acme/&lt;b&gt;|a.json\"",
            "reference to `m&lt;9&gt;`",
            "<pre class=\"excerpt\">&quot;x&quot;: &lt;1&gt;\n     ^^^</pre>",
        ] {
            assert!(page.contains(expected), "{expected} is not in\n{page}");
        }
        assert!(!page.contains("<b>|a.json"), "{page}");
    }

    #[test]
    fn files_are_listed_up_to_a_limit() {
        let file = CheckedFile {
            verdict: "valid",
            ..CheckedFile::default()
        };
        let page = |number: usize| check_page("x", &vec![file.clone(); number]).unwrap();
        assert!(page(FILES).contains("Nothing was found") && !page(FILES).contains("and 1 more."));
        assert!(page(FILES + 1).contains("and 1 more."));
    }
}
